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
	CURL_ARGS_UNKNOWN, /* in none of the versions above */
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
	CURL_ARGS_FAIL,
	CURL_ARGS_URL /* a URL, with --url before it or without */
};

struct curl_args {
	enum curl_args_role role;
	bool off; /* typed as --no-name */
	const char *argument; /* NULL: there is none */
};

/* Where the next option begins. */
struct curl_args_place {
	char *const *argv; /* ends in NULL */
	size_t at; /* the index of the word */
	size_t letter; /* in "-sSX", how many letters have been read */
	bool ended; /* "--" has been read: only URLs follow */
};

/*
 * Reads the next option and its argument, or the next URL, which may stand
 * between options, and moves place to the one after. False at the end of argv.
 *
 * All these forms are read: "-X PUT", "-XPUT", "-sSX PUT", "--request PUT",
 * "--request=PUT" (since curl 8.16), "--expand-request" (since 8.3). Older
 * versions of curl, such as 7.88, ignore the case of long names, and accept an
 * abbreviation that fits only one name.
 */
bool curl_args_next(struct curl_args_place *place, struct curl_args *option);

#endif
