/*
 * option_values: turns the argument of an option into the value of a field.
 */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include "cli/optparse.h"

/*
 * Stores text, as the option's type has it, in the field at option->field from
 * policy, a struct policy; refuses text that is not of that type or not within
 * the bounds.
 */
void option_values_store(
    const struct option *option, const char *text, void *policy);

/*
 * For options of the type OPTION_SPECIAL. These two store a list of times, as
 * delays in a struct backoff or as limits in a struct timeouts. A list that is
 * too long gets the option's refusal.
 */
void option_values_delays(
    const struct option *option, const char *text, void *policy);
void option_values_timeouts(
    const struct option *option, const char *text, void *policy);

/* Stores the seed, a number below 2^64, and that there is a seed. */
void
option_values_seed(const struct option *option, const char *text, void *policy);

/* These store a method of HTTP, and the value of a header field. */
void option_values_method(
    const struct option *option, const char *text, void *policy);
void option_values_header(
    const struct option *option, const char *text, void *policy);

/* Stores a text of one line that can be shown as it is; NULL where it is empty.
 */
void option_values_label(
    const struct option *option, const char *text, void *policy);

/* Stores "on" or N,DUR[,MAX] as a struct breaker_config. */
void option_values_breaker(
    const struct option *option, const char *text, void *policy);

/* Stores the URL of a fleet's server in a struct fleet_policy; an empty text
 * means no fleet. */
void option_values_fleet(
    const struct option *option, const char *text, void *policy);

#endif
