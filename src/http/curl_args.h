/*
 * curl_args: walks over the options of a curl command line as curl itself does
 * (tool_getparam.c of 7.88, 8.14 and 8.21; curl's manual, "OPTIONS").
 */
#ifndef CURL_ARGS_H
#define CURL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/* What an option does, as far as retry has to know. */
enum curl_args_role {
	CURL_ARGS_OTHER,
	CURL_ARGS_UNKNOWN, /* to every curl that is known here */
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
	const char *argument; /* NULL: takes none, or lacks it */
};

/* Where the next option is looked for. */
struct curl_args_place {
	char *const *argv; /* ends in NULL */
	size_t at; /* the word */
	size_t letter; /* within a word of several letters, else 0 */
	bool ended; /* "--" is past: what follows are URLs */
};

/*
 * Takes the next option, and its argument, from place on; or the next URL,
 * which may stand between options. False at the end of argv.
 *
 * "-X PUT", "-XPUT", "-sSX PUT", "--request PUT", "--request=PUT" (since curl
 * 8.16), "--expand-request" (since 8.3). In older curls, 7.88 among them, a
 * long name is in any case of letters and may be cut short to where it is the
 * only one of that curl's names that starts so.
 */
bool curl_args_next(struct curl_args_place *place, struct curl_args *option);

#endif
