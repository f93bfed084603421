/*
 * option_values: what options are given that stands for itself: a number, a
 * time, a signal, a name.
 */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include "cli/optparse.h"

/*
 * For the table of options; field is what the value is stored in. A number of
 * attempts, int64_t, "inf" being POLICY_UNLIMITED; or of retries...
 */
void
option_values_attempts(const struct row *row, const char *text, void *field);
void
option_values_retries(const struct row *row, const char *text, void *field);

/* ...a time, nanos... */
void option_values_span(const struct row *row, const char *text, void *field);

/* ...a size in bytes, int64_t, 1 or more, with k, M, G or T for 2^10... */
void option_values_size(const struct row *row, const char *text, void *field);

/* ...a signal's number, int... */
void option_values_signal(const struct row *row, const char *text, void *field);

/* ...bool: it was given... */
void option_values_flag(const struct row *row, const char *text, void *field);

/* ...one of some words, enum log_format or enum showing... */
void
option_values_log_format(const struct row *row, const char *text, void *field);
void
option_values_progress(const struct row *row, const char *text, void *field);

/*
 * ...or a text: a line for the shell, which becomes NULL where it is empty; the
 * name of a file; a method of HTTP; the value of a header.
 */
void option_values_line(const struct row *row, const char *text, void *field);
void option_values_path(const struct row *row, const char *text, void *field);
void option_values_method(const struct row *row, const char *text, void *field);
void option_values_header(const struct row *row, const char *text, void *field);

#endif
