/*
 * first: what the first byte of stderr costs under a preset, whose patterns are
 * compiled only then. glibc's regcomp(3) compiles the same patterns.
 *
 * Prints both for the preset that takes longest: name, median time in
 * microseconds, and that divided by the first's. Each time in fresh memory, as
 * in a program that has just started.
 */
#include <err.h>
#include <regex.h>
#include <stdio.h>
#include <sys/mman.h>
#include "bench.h"
#include "match/pattern.h"
#include "preset/preset.h"

enum { TIMES = 51, TEXTS = 2 };

static double
time_ours(const char *const *texts)
{
	double began = now();
	size_t size = TEXTS * sizeof(struct pattern);
	struct pattern *patterns = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pattern *last = patterns;

	if (patterns == MAP_FAILED)
		err(1, "mmap");
	pattern_gather(last);
	for (int i = 0; i < TEXTS; i++)
		if (texts[i] != NULL && !pattern_add(last, texts[i])) {
			pattern_gather(++last);
			pattern_add(last, texts[i]);
		}
	for (; last >= patterns; last--)
		pattern_feed(last, "e", 1);
	began = now() - began;
	munmap(patterns, size);
	return began;
}

static double
time_glibc(const char *const *texts)
{
	double took = 0;

	for (int i = 0; i < TEXTS; i++) {
		double began = now();
		regex_t regex;

		if (texts[i] == NULL)
			continue;
		if (regcomp(&regex, texts[i], REG_EXTENDED | REG_NOSUB) != 0)
			errx(1, "not a pattern: %s", texts[i]);
		took += now() - began;
		regfree(&regex);
	}
	return took;
}

static double
measure(double (*run)(const char *const *), const char *const *texts)
{
	double times[TIMES];

	for (int i = 0; i < TIMES; i++)
		times[i] = run(texts);
	return median(times, TIMES);
}

int
main(void)
{
	double ours = 0, glibc = 0;
	struct preset preset;

	for (size_t i = 0; preset_at(i, &preset); i++) {
		const char *const texts[TEXTS] = { preset.err.fatal,
			preset.err.transient };
		double took;

		if (texts[0] == NULL && texts[1] == NULL)
			continue;
		took = measure(time_ours, texts);
		if (took < ours)
			continue;
		ours = took;
		glibc = measure(time_glibc, texts);
	}
	printf("regcomp\t%.0f\t1.000\n", glibc);
	printf("preset\t%.1f\t%.6f\n", ours, ours / glibc);
	return 0;
}
