#include "usage.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "clock.h"

/* The fields of /proc/stat that are idle, and how many there are before those
 * that are counted in others. */
enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 };

static nanos
spent_by(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) == -1)
		err(1, "getrusage");
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NANOS_SECOND +
	    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static nanos
spent(void)
{
	return spent_by(RUSAGE_SELF) + spent_by(RUSAGE_CHILDREN);
}

/* Changes nothing where there is no /proc. */
static void
read_ticks(long long *busy, long long *all)
{
	char line[256], *at = line;
	FILE *file = fopen("/proc/stat", "re");

	if (file == NULL)
		return;
	if (fgets(line, sizeof line, file) != NULL &&
	    strncmp(line, "cpu ", 4) == 0) {
		*busy = *all = 0;
		at += 4;
		for (int i = 0; i < FIELDS; i++) {
			long long ticks = strtoll(at, &at, 10);

			*all += ticks;
			if (i != IDLE && i != IOWAIT)
				*busy += ticks;
		}
	}
	fclose(file);
}

void
usage_start(struct usage *usage)
{
	*usage = (struct usage){ .began = clock_now(), .spent = spent() };
	usage->looked = usage->began;
	read_ticks(&usage->busy, &usage->all);
	usage->busy_before = usage->busy;
	usage->all_before = usage->all;
}

void
usage_look(struct usage *usage)
{
	long long busy = usage->busy, all = usage->all;
	nanos now = clock_now();
	double part;

	if (now - usage->looked < NANOS_SECOND)
		return;
	read_ticks(&busy, &all);
	if (all > usage->all) {
		part =
		    (double)(busy - usage->busy) / (double)(all - usage->all);
		if (part > usage->busiest)
			usage->busiest = part;
	}
	usage->looked = now;
	usage->busy = busy;
	usage->all = all;
}

/* In percent of all CPU time; 0 if that is unknown. */
static int64_t
part_of_others(const struct usage *usage)
{
	nanos tick = NANOS_SECOND / sysconf(_SC_CLK_TCK);
	long long busy = usage->busy, all = usage->all;
	nanos others;

	read_ticks(&busy, &all);
	all -= usage->all_before;
	others = (busy - usage->busy_before) * tick - usage->cpu;
	return all <= 0 || others <= 0 ? 0 : 100 * others / (all * tick);
}

void
usage_end(struct usage *usage)
{
	usage->elapsed = clock_now() - usage->began;
	usage->cpu = spent() - usage->spent;
	usage->others = part_of_others(usage);
}

long
usage_cores(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 0 ? cores : 1;
}
