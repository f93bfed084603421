/*
 * ere: parses the text of a pattern into nodes of an automaton (nfa.h).
 *
 * The syntax is that of POSIX extended regular expressions over bytes, ASCII
 * only, the same in every locale, plus \d \D \w \W \s \S \b \B \< \> \t \r and
 * a leading (?i). Lines end at \n, ^ and $ are the ends of a line, and nothing
 * matches \n. A character of UTF-8 outside of [] counts as one for * + ? {}; a
 * dot is a byte. An escaped byte that is neither a letter nor a digit stands
 * for itself. Where POSIX leaves a meaning open, the meaning is glibc's: an
 * empty alternative matches the empty string, a** is (a*)*, {,3} is {0,3}.
 *
 * Refused, because programs disagree on the meaning: back-references, (?:,
 * an unmatched ) or {, a repetition of nothing or of an anchor, other escaped
 * letters, a single backslash in [] (there \\ is one), bytes outside of ASCII
 * in [], [.x.], [=x=].
 */
#ifndef ERE_H
#define ERE_H

#include <stdbool.h>
#include <stddef.h>
#include "match/byteset.h"
#include "match/search.h"
#include "match/nfa.h"

#define ERE_NESTING 250
#define ERE_COUNT 1000 /* in {} */

/*
 * Makes text a member of the program, and adds a set of strings to strings:
 * each match of text contains one of them (literals.h). False, with error
 * filled, if text is malformed or the program has no room for it; then the
 * program cannot be used any more.
 */
bool ere_add(struct nfa *nfa, struct search_union *strings, const char *text,
    size_t length, struct pattern_error *error);

#endif
