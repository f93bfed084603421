#include "tally.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "text/number.h"

/* The totals in their text and in their struct. */
static const char *const keys[] = { "clients", "lost", "served", "wasted",
	"after", "retries", "peak", "p50", "p99", "max" };

enum { KEYS = sizeof keys / sizeof keys[0] };

_Static_assert(
    sizeof(struct totals) == KEYS * sizeof(int64_t), "a key for each");

void
tally_start(struct tally *tally, nanos width)
{
	*tally = (struct tally){ .width = width };
	tally->bins = calloc(TALLY_BINS, sizeof *tally->bins);
	if (tally->bins == NULL)
		err(1, "tally");
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
	size_t i = (size_t)number_lesser(at / tally->width, TALLY_BINS - 1);

	if (tally->count <= i)
		tally->count = i + 1;
	if (served)
		tally->bins[i].served++;
	else
		tally->bins[i].rejected++;
}

void
tally_client(struct tally *tally, nanos latency)
{
	if (tally->clients == tally->room) {
		tally->room = tally->room == 0 ? 256 : 2 * tally->room;
		tally->latencies = realloc(
		    tally->latencies, tally->room * sizeof *tally->latencies);
		if (tally->latencies == NULL)
			err(1, "tally");
	}
	tally->latencies[tally->clients++] = latency;
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

struct totals
tally_sum(struct tally *tally, nanos recovery)
{
	size_t count = tally->clients;
	struct totals totals = { .clients = (int64_t)count + tally->lost,
		.lost = tally->lost };

	for (size_t i = 0; i < tally->count; i++) {
		const struct bin *bin = &tally->bins[i];

		totals.served += bin->served;
		totals.wasted += bin->rejected;
		if ((nanos)i * tally->width >= recovery)
			totals.after += bin->rejected;
		totals.peak =
		    number_greater(totals.peak, bin->served + bin->rejected);
	}
	totals.retries = totals.wasted - tally->firsts;
	if (count > 0)
		qsort(tally->latencies, count, sizeof *tally->latencies,
		    ascending);
	totals.p50 = percentile(tally, 50);
	totals.p99 = percentile(tally, 99);
	totals.max = percentile(tally, 100);
	return totals;
}

struct totals
tally_mean(const struct totals *all, size_t count)
{
	int64_t sums[KEYS] = { 0 }, values[KEYS];
	struct totals mean;

	for (size_t i = 0; i < count; i++) {
		memcpy(values, &all[i], sizeof values);
		for (size_t k = 0; k < KEYS; k++)
			sums[k] = number_add(sums[k], values[k]);
	}
	for (size_t k = 0; k < KEYS; k++)
		if (sums[k] < NANOS_MAX)
			sums[k] /= (int64_t)count;
	memcpy(&mean, sums, sizeof mean);
	return mean;
}

/* Room for a line of totals, and for the names in front of it. */
enum { LINE = 1024, NAME = 128 };

static void
put_name(char room[NAME], const char *scenario, const char *variant)
{
	snprintf(room, NAME, "%s/%s ", scenario, variant);
	for (char *at = room; at[1] != '\0'; at++)
		if (*at == ' ')
			*at = '-';
}

void
tally_put(FILE *file, const char *scenario, const char *variant,
    const struct totals *totals)
{
	int64_t values[KEYS];
	char name[NAME];

	memcpy(values, totals, sizeof values);
	put_name(name, scenario, variant);
	fputs(name, file);
	for (size_t i = 0; i < KEYS; i++)
		fprintf(file, "%s=%" PRId64 "%c", keys[i], values[i],
		    i + 1 < KEYS ? ' ' : '\n');
}

bool
tally_find(FILE *file, const char *scenario, const char *variant,
    struct totals *totals)
{
	char line[LINE], name[NAME];
	bool found = false;

	put_name(name, scenario, variant);
	rewind(file);
	while (fgets(line, sizeof line, file) != NULL) {
		int64_t values[KEYS];
		char *at = line;
		size_t count = 0;

		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		while (count < KEYS && (at = strchr(at, '=')) != NULL)
			values[count++] = strtoll(at + 1, &at, 10);
		if (count < KEYS || *at != '\n')
			continue;
		memcpy(totals, values, sizeof values);
		found = true;
	}
	return found;
}
