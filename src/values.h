/*
 * values: what options are given that stands for itself: a number, a time, a
 * signal, a name.
 */
#ifndef VALUES_H
#define VALUES_H

#include "words.h"

/*
 * For the table of options; field is what the value is stored in. A number of
 * attempts, int64_t, "inf" being POLICY_UNLIMITED; or of retries...
 */
void values_attempts(const struct row *row, const char *text, void *field);
void values_retries(const struct row *row, const char *text, void *field);

/* ...a time, nanos... */
void values_span(const struct row *row, const char *text, void *field);

/* ...a signal's number, int... */
void values_signal(const struct row *row, const char *text, void *field);

/* ...bool: it was given... */
void values_flag(const struct row *row, const char *text, void *field);

/* ...or a text: of a file's name, a method of HTTP, or a header's value. */
void values_path(const struct row *row, const char *text, void *field);
void values_method(const struct row *row, const char *text, void *field);
void values_header(const struct row *row, const char *text, void *field);

#endif
