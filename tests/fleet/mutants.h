/*
 * mutants: the script with an error in one of its rules.
 */
#ifndef MUTANTS_H
#define MUTANTS_H

#include <stddef.h>

struct mutant {
	const char *error; /* NULL: the end of the table */
	const char *right, *wrong; /* texts of the script: the first once */
};

/* They grant more than is promised. */
extern const struct mutant mutants_greedy[];

/* These do not, or only by chance, but answer or write something else. */
extern const struct mutant mutants_other[];

#endif
