#include "tally.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The totals in their text, which is the order of the keys. */
static const struct key {
	const char *name;
	size_t at;
} keys[] = {
	{ "clients", offsetof(struct totals, clients) },
	{ "lost", offsetof(struct totals, lost) },
	{ "served", offsetof(struct totals, served) },
	{ "wasted", offsetof(struct totals, wasted) },
	{ "retries", offsetof(struct totals, retries) },
	{ "width", offsetof(struct totals, width) },
	{ "peak", offsetof(struct totals, peak) },
	{ "peak_served", offsetof(struct totals, peak_served) },
	{ "stable", offsetof(struct totals, stable) },
	{ "p50", offsetof(struct totals, p50) },
	{ "p99", offsetof(struct totals, p99) },
	{ "max", offsetof(struct totals, max) },
	{ "cores", offsetof(struct totals, cores) },
	{ "cpu", offsetof(struct totals, cpu) },
	{ "others", offsetof(struct totals, others) },
};

/* Makes room for one more than count elements, in steps that double. */
static void *
grow(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room == 0 ? 256 : 2 * *room;
	array = realloc(array, *room * size);
	if (array == NULL)
		err(1, "tally");
	return array;
}

void
tally_start(struct tally *tally, nanos width)
{
	*tally = (struct tally){ .width = width };
}

void
tally_end(struct tally *tally)
{
	free(tally->bins);
	free(tally->latencies);
	*tally = (struct tally){ .width = tally->width };
}

void
tally_request(struct tally *tally, nanos at, bool served)
{
	size_t i = (size_t)(at / tally->width);

	if (i >= TALLY_BINS)
		i = TALLY_BINS - 1;
	while (tally->count <= i) {
		tally->bins = grow(tally->bins, tally->count, &tally->room,
		    sizeof *tally->bins);
		tally->bins[tally->count++] = (struct bin){ 0, 0 };
	}
	if (served)
		tally->bins[i].served++;
	else
		tally->bins[i].rejected++;
}

void
tally_client(struct tally *tally, nanos latency)
{
	tally->latencies = grow(tally->latencies, tally->clients,
	    &tally->places, sizeof *tally->latencies);
	tally->latencies[tally->clients++] = latency;
}

void
tally_lost(struct tally *tally)
{
	tally->lost++;
}

static int
ascending(const void *a, const void *b)
{
	nanos x = *(const nanos *)a, y = *(const nanos *)b;

	return (x > y) - (x < y);
}

/* The least latency that so many percent of all clients do not exceed. A client
 * that was never served exceeds every latency. */
static nanos
percentile(const struct tally *tally, size_t percent)
{
	size_t all = tally->clients + (size_t)tally->lost;
	size_t rank = (all * percent + 99) / 100;

	if (rank == 0)
		return 0;
	return rank <= tally->clients ? tally->latencies[rank - 1] : NANOS_MAX;
}

static void
sum_bins(const struct tally *tally, nanos recovery, struct totals *totals)
{
	for (size_t i = 0; i < tally->count; i++) {
		const struct bin *bin = &tally->bins[i];
		int64_t arrived = bin->served + bin->rejected;
		nanos began = (nanos)i * tally->width;

		totals->served += bin->served;
		totals->wasted += bin->rejected;
		if (began >= recovery && arrived > totals->peak)
			totals->peak = arrived;
		if (bin->served > totals->peak_served)
			totals->peak_served = bin->served;
		if (bin->rejected > 0)
			totals->stable = began + tally->width;
	}
}

struct totals
tally_sum(struct tally *tally, nanos recovery, nanos end)
{
	size_t count = tally->clients;
	struct totals totals = { .clients = (int64_t)count + tally->lost,
		.lost = tally->lost,
		.width = tally->width };

	sum_bins(tally, recovery, &totals);
	totals.retries = totals.wasted - tally->firsts;
	if (totals.stable >= end)
		totals.stable = NANOS_MAX;
	if (count > 0)
		qsort(tally->latencies, count, sizeof *tally->latencies,
		    ascending);
	totals.p50 = percentile(tally, 50);
	totals.p99 = percentile(tally, 99);
	totals.max = percentile(tally, 100);
	return totals;
}

static int64_t
value_of(const struct totals *totals, const struct key *key)
{
	int64_t value;

	memcpy(&value, (const char *)totals + key->at, sizeof value);
	return value;
}

/* Room for a line of totals, and for the names in front of it. */
enum { LINE = 1024, NAME = 128 };

static void
put_name(char room[NAME], const char *scenario, const char *variant)
{
	snprintf(room, NAME, "%s/%s", scenario, variant);
	for (char *at = room; *at != '\0'; at++)
		if (*at == ' ')
			*at = '-';
}

void
tally_put(FILE *file, const char *scenario, const char *variant,
    const struct totals *totals)
{
	char name[NAME];

	put_name(name, scenario, variant);
	fputs(name, file);
	for (size_t i = 0; i < COUNT(keys); i++)
		fprintf(file, " %s=%" PRId64, keys[i].name,
		    value_of(totals, &keys[i]));
	fputc('\n', file);
}

/* Reads "key=value" words in the order in which they are written. */
static bool
read_keys(const char *at, struct totals *totals)
{
	for (size_t i = 0; i < COUNT(keys); i++) {
		size_t length = strlen(keys[i].name);
		int64_t value;
		char *end;

		if (*at != ' ' || strncmp(at + 1, keys[i].name, length) != 0 ||
		    at[1 + length] != '=')
			return false;
		value = strtoll(&at[length + 2], &end, 10);
		if (end == &at[length + 2])
			return false;
		memcpy((char *)totals + keys[i].at, &value, sizeof value);
		at = end;
	}
	return *at == '\n';
}

bool
tally_find(FILE *file, const char *scenario, const char *variant,
    struct totals *totals)
{
	char line[LINE], name[NAME];
	bool found = false;
	size_t length;

	put_name(name, scenario, variant);
	length = strlen(name);
	rewind(file);
	while (fgets(line, sizeof line, file) != NULL) {
		struct totals read;

		if (strncmp(line, name, length) != 0 ||
		    !read_keys(&line[length], &read))
			continue;
		*totals = read;
		found = true;
	}
	return found;
}
