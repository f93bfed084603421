/*
 * curl_args: splits a curl command line into options, as curl itself does.
 *
 * Sources: tool_getparam.c of 7.88, 8.14 and 8.21; curl's manual, "OPTIONS".
 */
#ifndef CURL_ARGS_H
#define CURL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/* What an option does, as far as it matters to retry. */
enum curl_args_role {
	CURL_ARGS_OTHER,
	CURL_ARGS_UNKNOWN, /* in none of these versions */
	CURL_ARGS_NEXT,
	CURL_ARGS_DUMP,
	CURL_ARGS_RETRY,
	CURL_ARGS_HEADER,
	CURL_ARGS_CONFIG,
	CURL_ARGS_REQUEST,
	CURL_ARGS_DATA,
	CURL_ARGS_FORM,
	CURL_ARGS_GET,
	CURL_ARGS_HEAD,
	CURL_ARGS_UPLOAD,
	CURL_ARGS_URL /* a URL, with --url before it or without */
};

struct curl_args {
	enum curl_args_role role;
	bool off; /* typed as --no-name */
	const char *argument; /* NULL: it takes none, or none is there */
};

/* Where the next option begins. */
struct curl_args_place {
	char *const *argv; /* ends in NULL */
	size_t at; /* the word */
	size_t letter; /* within a word of several letters, else 0 */
	bool ended; /* "--" has come: only URLs follow */
};

/*
 * Reads the next option and its argument, or the next URL, which may stand
 * between options, and moves place behind it. False at the end of argv.
 *
 * All these forms are read: "-X PUT", "-XPUT", "-sSX PUT", "--request PUT",
 * "--request=PUT" (since curl 8.16), "--expand-request" (since 8.3). Older
 * curls, such as 7.88, ignore the case of long names, and take the start of a
 * name if no other name has it.
 */
bool curl_args_next(struct curl_args_place *place, struct curl_args *option);

#endif
