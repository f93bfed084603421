/*
 * script: reads the rows of tables that are texts, word by word.
 *
 * A word ends at a blank, and a comma behind it is the next word. What cannot
 * be read is a mistake in the table, and ends the program.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "policy/policy.h"

#define MS(n) ((nanos)(NANOS_MS * (n)))
#define SECONDS(n) ((nanos)(NANOS_SECOND * (n)))

struct script {
	const char *row; /* the whole text, which names the row */
	const char *rest;
	char word[64]; /* the last word that was read */
};

struct script script_of(const char *row);

/*
 * A row of steps with commas between: perhaps a time, which holds until the next one ("+20ms": so
 * much later), and words; "x5" behind some of them does them five times.
 */
struct scene {
	struct script script, step; /* step: from where on words are repeated */
	nanos now;
	int left;
	bool goes_on; /* within a step */
};

/* Reads the next word that is neither time, comma nor "x5", as script_next. */
bool scene_next(struct scene *scene);

/* Reads the next word; at the end it is "", and the result false. */
bool script_next(struct script *script);

/* Whether the last word that was read is this one. */
bool script_is(const struct script *script, const char *word);

/* The next word as a whole number, and as a length of time: "1.5s", "-7ns", or
 * "ever" for NANOS_MAX. */
int64_t script_number(struct script *script);
nanos script_span(struct script *script);

/*
 * What a user asks for by the next words, such as "attempts=4 delay=0,1s", up to one that is no
 * option. The names are those of options, "retry", "stop", "fail" and "success" without "-on",
 * and "transient" and "fatal" are LISTs of a preset, and
 * "known" is a wait that a preset knows, DUR:LIST. Nothing: nine attempts, after 1s, 2s, 4s and
 * so on up to 30s, without jitter. The next call overwrites what the policy points to.
 */
struct policy script_policy(struct script *script);
struct policy script_policy_of(const char *options);

/* What a field of a struct is: a word behind its name tells, or for a bool its name alone. */
enum script_type { SCRIPT_NUMBER, SCRIPT_SPAN, SCRIPT_BOOL };

struct script_field {
	char name[16];
	size_t offset;
	enum script_type type;
};

/* Reads the field that the last word names; false if it names none. */
bool script_read(struct script *script, const struct script_field *fields, size_t count,
    void *object);

/* What is true, by its name; several facts may have the same. */
struct script_fact {
	char name[16];
	int64_t value;
	const char *names; /* of its values, from 0 on; NULL: none */
};

/* A fact without names. */
#define FACT(name, value) ((struct script_fact){ name, value, NULL })

/*
 * Checks the last word, "NAME=VALUE", a number, length of time or name; or
 * "NAME" for a fact that is not 0, or "!NAME"; false if there is none.
 */
bool script_check(const struct script *script, const struct script_fact *facts, size_t count);

/* The last word as one of so many names, each in a field of size bytes. */
int script_name(const struct script *script, const void *names, size_t size, size_t count);
#define SCRIPT_NAME(script, names) \
	script_name(script, names, sizeof(names)[0], sizeof(names) / sizeof(names)[0])

/* The last word means nothing here. */
_Noreturn void script_refuse(const struct script *script);

#endif
