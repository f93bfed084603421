#include "policy/conditions.h"

#include <ctype.h>
#include <string.h>
#include "exit_status.h"
#include "text/number.h"
#include "text/signame.h"
#include "text/strview.h"

#define MALFORMED "not an exit status, signal or condition"
#define NO_HTTP "not an HTTP status"

/* Before an item that does not count at the first attempt. */
#define AGAIN "again:"

/* Cuts prefix off, if item begins with it. */
static bool
skip(struct strview *item, const char *prefix)
{
	size_t length = strlen(prefix);

	if (item->length < length || memcmp(item->at, prefix, length) != 0)
		return false;
	*item = strview_after(*item, length);
	return true;
}

/* Reads "7" or "64-78". */
static bool
read_range(struct strview item, int64_t *low, int64_t *high)
{
	struct strview first = strview_part(&item, '-');
	bool single = item.at == first.at + first.length;

	if (!number_whole(first.at, first.length, low))
		return false;
	*high = *low;
	return single || number_whole(item.at, item.length, high);
}

/* Adds the bits from low to high; returns why they are refused, or NULL. */
static const char *
add_range(uint64_t *bits, int64_t low, int64_t high)
{
	if (low > high)
		return "a range that runs backwards";
	for (; low <= high; low++)
		bits[low / 64] |= UINT64_C(1) << (low % 64);
	return NULL;
}

/* Adds what follows "http:"; returns why it is refused, or NULL. */
static const char *
add_http(struct condition_set *set, struct strview item)
{
	int64_t low, high;

	if (item.length == 3 && isdigit((unsigned char)item.at[0]) &&
	    memcmp(item.at + 1, "xx", 2) == 0) {
		low = INT64_C(100) * (item.at[0] - '0');
		high = low + 99;
	} else if (!read_range(item, &low, &high)) {
		return NO_HTTP;
	}
	if (low < CONDITIONS_HTTP_FIRST || low > CONDITIONS_HTTP_LAST ||
	    high < CONDITIONS_HTTP_FIRST || high > CONDITIONS_HTTP_LAST)
		return NO_HTTP;
	return add_range(set->http, low - CONDITIONS_HTTP_FIRST,
	    high - CONDITIONS_HTTP_FIRST);
}

/* Adds an item that is no pattern; returns why it is refused, or NULL. */
static const char *
add_item(struct condition_set *set, struct strview item)
{
	const struct {
		const char *word;
		bool *flag;
	} words[] = {
		{ "signal", &set->any_signal },
		{ "timeout", &set->timeout },
		{ "idle", &set->idle },
		{ "fail", &set->fail },
	};
	struct strview rest = item;
	bool over = skip(&rest, "over:");
	int64_t low, high;
	nanos span;
	int number;

	if (item.length == 0)
		return "empty item";
	if (isblank((unsigned char)item.at[0]) ||
	    isblank((unsigned char)item.at[item.length - 1]))
		return "blanks around an item are not allowed";
	if (skip(&item, "http:"))
		return add_http(set, item);
	if (over || skip(&rest, "under:")) {
		if (!duration_parse(rest.at, rest.length, &span) || span == 0)
			return "not a time above 0";
		/* Of several times the one counts that more attempts meet. */
		if (!over)
			set->under = number_greater(set->under, span);
		else if (set->over == 0 || span < set->over)
			set->over = span;
		return NULL;
	}
	if (isdigit((unsigned char)item.at[0])) {
		if (!read_range(item, &low, &high))
			return MALFORMED;
		if (low > 255 || high > 255)
			return "above 255 (an HTTP status is http:500)";
		return add_range(set->exits, low, high);
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (item.length == strlen(words[i].word) &&
		    memcmp(item.at, words[i].word, item.length) == 0) {
			*words[i].flag = true;
			return NULL;
		}
	number = signame_number(item.at, item.length);
	if (number == 0)
		return MALFORMED;
	set->signals |= UINT64_C(1) << (number - 1);
	return NULL;
}

/* As conditions_watch(), but again adds it for later attempts only. */
static struct watch *
add_watch(struct conditions *set, struct watches *watches, int fd,
    const char *text, bool again)
{
	struct watch *watch = watches->list;
	int i = set == NULL ? watches->count : 0;

	while (i < watches->count &&
	    (watch[i].fd != fd || watch[i].hint != NULL ||
		strcmp(watch[i].text, text) != 0))
		i++;
	if (i == CONDITIONS_WATCHES)
		return NULL;
	if (i == watches->count)
		watch[watches->count++] =
		    (struct watch){ .text = text, .fd = fd };
	if (set != NULL)
		set->later.watches |= UINT64_C(1) << i;
	if (set != NULL && !again)
		set->first.watches |= UINT64_C(1) << i;
	return &watch[i];
}

struct watch *
conditions_watch(
    struct conditions *set, struct watches *watches, int fd, const char *text)
{
	return add_watch(set, watches, fd, text, false);
}

const char *
conditions_bare(const char *list)
{
	size_t length = sizeof AGAIN - 1;

	return list + (strncmp(list, AGAIN, length) == 0 ? length : 0);
}

int
conditions_stream(const char *list)
{
	if (strncmp(list, "stdout:", CONDITIONS_STREAM) == 0)
		return 1;
	return strncmp(list, "stderr:", CONDITIONS_STREAM) == 0 ? 2 : 0;
}

size_t
conditions_item(const char *list)
{
	return conditions_stream(conditions_bare(list)) == 0
	    ? strcspn(list, ",")
	    : strlen(list);
}

const char *
conditions_swallowed(const char *list)
{
	size_t length = conditions_item(list);

	for (; list[length] != '\0'; length = conditions_item(list))
		list += length + 1;
	if (conditions_stream(conditions_bare(list)) == 0)
		return NULL;
	for (list = strchr(list, ','); list != NULL; list = strchr(list, ',')) {
		struct conditions set = { .first = { .fail = false } };
		struct watch watch;
		struct watches watches = { .list = &watch };
		struct conditions_error error;

		if (conditions_parse(&set, &watches, ++list, &error))
			return list - 1;
	}
	return NULL;
}

bool
conditions_parse(struct conditions *set, struct watches *watches,
    const char *list, struct conditions_error *error)
{
	struct conditions sum = *set;

	for (;; list++) {
		size_t length = conditions_item(list);
		const char *bare = conditions_bare(list), *why = NULL;
		struct strview item = { bare, length - (size_t)(bare - list) };
		int fd = conditions_stream(bare);
		bool again = bare != list;

		if (fd == 0)
			why = add_item(&sum.later, item);
		if (fd == 0 && why == NULL && !again)
			why = add_item(&sum.first, item);
		if (fd != 0 &&
		    add_watch(&sum, watches, fd, bare + CONDITIONS_STREAM,
			again) == NULL)
			why = "more than 64 patterns";
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
conditions_said(const struct conditions *set)
{
	const struct condition_set *all = &set->later;

	return all->signals == 0 && all->over == 0 && all->under == 0 &&
	    !all->any_signal && !all->timeout && !all->idle && !all->fail;
}

bool
conditions_empty(const struct conditions *set)
{
	static const struct condition_set none;
	const struct condition_set *all = &set->later;

	return !all->any_signal && !all->timeout && !all->idle && !all->fail &&
	    memcmp(all, &none, offsetof(struct condition_set, any_signal)) == 0;
}

const struct condition_set *
conditions_at(const struct conditions *set, bool again)
{
	return again ? &set->later : &set->first;
}

bool
conditions_has_time(const struct condition_set *set, nanos elapsed)
{
	return (set->over != 0 && elapsed > set->over) || elapsed < set->under;
}

bool
conditions_has_exit(const struct condition_set *set, int code)
{
	return code >= 0 && code <= 255 &&
	    (set->exits[code / 64] >> (code % 64) & 1) != 0;
}

bool
conditions_has_http(const struct condition_set *set, int code)
{
	uint64_t any = 0;

	for (size_t i = 0; i < sizeof set->http / sizeof *set->http; i++)
		any |= set->http[i];
	if (code == 0)
		return any != 0;
	code -= CONDITIONS_HTTP_FIRST;
	return code >= 0 &&
	    code <= CONDITIONS_HTTP_LAST - CONDITIONS_HTTP_FIRST &&
	    (set->http[code / 64] >> (code % 64) & 1) != 0;
}

bool
conditions_names_signal(const struct condition_set *set, int number)
{
	if (number < 1 || number > 127)
		return false;
	return (number <= SIGNAME_LAST &&
		   (set->signals >> (number - 1) & 1) != 0) ||
	    conditions_has_exit(set, EXIT_STATUS_SIGNAL + number);
}
