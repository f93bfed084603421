#include "policy/conditions.h"

#include <string.h>
#include "exit_status.h"
#include "text/number.h"
#include "text/signame.h"

/* The length of "stderr:" and of "stdout:". */
#define WATCH_PREFIX 7

#define MALFORMED "not an exit status, signal or condition"

/* By hand: isdigit() depends on the locale. */
static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
same(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && strncmp(text, word, length) == 0;
}

static void
add_exit(struct conditions *set, unsigned code)
{
	set->exits[code / 64] |= UINT64_C(1) << (code % 64);
}

/* Adds a condition that has a name; returns why it is refused, or NULL. */
static const char *
add_word(struct conditions *set, const char *item, size_t length)
{
	int number = signame_number(item, length);

	if (same(item, length, "signal"))
		set->any_signal = true;
	else if (same(item, length, "timeout"))
		set->timeout = true;
	else if (same(item, length, "idle"))
		set->idle = true;
	else if (same(item, length, "fail"))
		set->fail = true;
	else if (number > 0)
		set->signals |= UINT64_C(1) << (number - 1);
	else
		return MALFORMED;
	return NULL;
}

/* Adds "7" or "64-78"; returns why it is refused, or NULL. */
static const char *
add_range(struct conditions *set, const char *item, size_t length)
{
	const char *dash = memchr(item, '-', length);
	size_t split = dash == NULL ? length : (size_t)(dash - item);
	int64_t low, high;

	if (!number_whole(item, split, &low))
		return MALFORMED;
	high = low;
	if (dash != NULL && !number_whole(dash + 1, length - split - 1, &high))
		return MALFORMED;
	if (low > 255 || high > 255)
		return "above 255 (an HTTP status is http:500)";
	if (low > high)
		return "a range that runs backwards";
	for (; low <= high; low++)
		add_exit(set, (unsigned)low);
	return NULL;
}

/* Whether item is of the form "5xx". */
static bool
http_class(const char *item, size_t length)
{
	return length == 3 && digit(item[0]) && item[1] == 'x' &&
	    item[2] == 'x';
}

static bool
http_status(const char *item, size_t length, int64_t *code)
{
	return number_whole(item, length, code) &&
	    *code >= CONDITIONS_HTTP_FIRST && *code <= CONDITIONS_HTTP_LAST;
}

/* Parses "503", "500-504" or "5xx" as a range of statuses. */
static bool
http_range(const char *item, size_t length, int64_t *low, int64_t *high)
{
	const char *dash = memchr(item, '-', length);
	size_t split = dash == NULL ? length : (size_t)(dash - item);

	if (http_class(item, length)) {
		*low = INT64_C(100) * (item[0] - '0');
		*high = *low + 99;
		return *low >= CONDITIONS_HTTP_FIRST &&
		    *high <= CONDITIONS_HTTP_LAST;
	}
	if (!http_status(item, split, low))
		return false;
	*high = *low;
	return dash == NULL || http_status(dash + 1, length - split - 1, high);
}

/* Adds what follows "http:"; returns why it is refused, or NULL. */
static const char *
add_http(struct conditions *set, const char *item, size_t length)
{
	int64_t low, high;

	if (!http_range(item, length, &low, &high))
		return "not an HTTP status";
	if (low > high)
		return "a range that runs backwards";
	for (low -= CONDITIONS_HTTP_FIRST; low <= high - CONDITIONS_HTTP_FIRST;
	     low++)
		set->http[low / 64] |= UINT64_C(1) << (low % 64);
	return NULL;
}

/*
 * Adds what follows "over:" or "under:"; returns why it is refused, or NULL. Of
 * several times the one counts that more attempts meet.
 */
static const char *
add_time(struct conditions *set, const char *item, size_t length, bool over)
{
	nanos span;

	if (!duration_parse(item, length, &span) || span == 0)
		return "not a time above 0";
	if (!over)
		set->under = number_greater(set->under, span);
	else if (set->over == 0 || span < set->over)
		set->over = span;
	return NULL;
}

/* The length of prefix, if item begins with it; else 0. */
static size_t
begins(const char *item, size_t length, const char *prefix)
{
	size_t size = strlen(prefix);

	return length >= size && strncmp(item, prefix, size) == 0 ? size : 0;
}

static const char *
add_item(struct conditions *set, const char *item, size_t length)
{
	size_t skip;

	if (length == 0)
		return "empty item";
	if ((skip = begins(item, length, "http:")) != 0)
		return add_http(set, item + skip, length - skip);
	if ((skip = begins(item, length, "over:")) != 0)
		return add_time(set, item + skip, length - skip, true);
	if ((skip = begins(item, length, "under:")) != 0)
		return add_time(set, item + skip, length - skip, false);
	if (digit(item[0]))
		return add_range(set, item, length);
	return add_word(set, item, length);
}

struct watch *
conditions_new_watch(struct watches *watches, int fd, const char *text)
{
	struct watch *watch = &watches->list[watches->count];

	if (watches->count == CONDITIONS_WATCHES)
		return NULL;
	*watch = (struct watch){ .text = text, .fd = fd };
	watches->count++;
	return watch;
}

bool
conditions_watch(
    struct conditions *set, struct watches *watches, int fd, const char *text)
{
	int i = 0;

	while (i < watches->count &&
	    (watches->list[i].fd != fd || watches->list[i].hint != NULL ||
		strcmp(watches->list[i].text, text) != 0))
		i++;
	if (i == watches->count &&
	    conditions_new_watch(watches, fd, text) == NULL)
		return false;
	set->watches |= UINT64_C(1) << i;
	return true;
}

/* The descriptor, if item begins with "stdout:" or "stderr:"; else 0. */
static int
watched(const char *item)
{
	if (strncmp(item, "stdout:", WATCH_PREFIX) == 0)
		return 1;
	return strncmp(item, "stderr:", WATCH_PREFIX) == 0 ? 2 : 0;
}

bool
conditions_parse(struct conditions *set, struct watches *watches,
    const char *list, struct conditions_error *error)
{
	struct conditions sum = *set;

	for (;; list++) {
		size_t length = strcspn(list, ",");
		int fd = watched(list);
		const char *why;

		if (fd != 0) {
			length = strlen(list);
			why = conditions_watch(
				  &sum, watches, fd, list + WATCH_PREFIX)
			    ? NULL
			    : "more than 64 patterns";
		} else {
			why = add_item(&sum, list, length);
		}
		if (why != NULL) {
			*error = (struct conditions_error){ why, list, length };
			return false;
		}
		list += length;
		if (*list == '\0')
			break;
	}
	*set = sum;
	return true;
}

bool
conditions_empty(const struct conditions *set)
{
	uint64_t any = set->signals | set->watches;

	for (size_t i = 0; i < sizeof set->exits / sizeof set->exits[0]; i++)
		any |= set->exits[i];
	return any == 0 && !conditions_has_http(set, 0) && !set->any_signal &&
	    !set->timeout && !set->idle && !set->fail && set->over == 0 &&
	    set->under == 0;
}

bool
conditions_has_time(const struct conditions *set, nanos elapsed)
{
	return (set->over != 0 && elapsed > set->over) || elapsed < set->under;
}

bool
conditions_has_exit(const struct conditions *set, int code)
{
	if (code < 0 || code > 255)
		return false;
	return (set->exits[code / 64] >> (code % 64) & 1) != 0;
}

bool
conditions_has_http(const struct conditions *set, int code)
{
	uint64_t any = 0;

	for (size_t i = 0; i < sizeof set->http / sizeof set->http[0]; i++)
		any |= set->http[i];
	if (code == 0)
		return any != 0;
	code -= CONDITIONS_HTTP_FIRST;
	return code >= 0 &&
	    code <= CONDITIONS_HTTP_LAST - CONDITIONS_HTTP_FIRST &&
	    (set->http[code / 64] >> (code % 64) & 1) != 0;
}

bool
conditions_names_signal(const struct conditions *set, int number)
{
	if (number < 1 || number > 127)
		return false;
	if (number <= SIGNAME_LAST && (set->signals >> (number - 1) & 1) != 0)
		return true;
	return conditions_has_exit(set, EXIT_STATUS_SIGNAL + number);
}
