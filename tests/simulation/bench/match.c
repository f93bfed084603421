/*
 * match: what patterns cost, beside regexec(3) and regcomp(3) of libc. Prints
 * name, median time in microseconds, and that divided by libc's:
 *
 *     pattern  a line of 64 kB without a match on which a backtracking matcher,
 *              or one that starts anew at each byte, takes forever:
 *              "[a-z]+: error" on letters; libc's takes seconds, and is run
 * once preset   the first byte of stderr under a preset, whose patterns are
 *              compiled only then: that which takes longest. Each time in fresh
 *              memory, as in a program that has just started
 */
#include <err.h>
#include <regex.h>
#include <stdio.h>
#include <sys/mman.h>
#include "bench.h"
#include "match/pattern.h"
#include "preset/preset.h"

enum { TIMES = 51, TEXTS = 2 };

static void
match_line(void)
{
	enum { LENGTH = 65536 };
	static const char text[] = "[a-z]+: error";
	static char line[LENGTH + 1];
	static struct pattern pattern;
	struct pattern_error error;
	double times[TIMES], ours, libc;
	regex_t regex;

	memset(line, 'a', LENGTH);
	if (!pattern_compile(&pattern, text, strlen(text), &error) ||
	    regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
		errx(1, "not a pattern: %s", text);
	for (size_t i = 0; i < TIMES; i++) {
		times[i] = now();
		pattern_start(&pattern);
		if (pattern_feed(&pattern, line, LENGTH) ||
		    pattern_end(&pattern))
			errx(1, "ours finds what is not there");
		times[i] = now() - times[i];
	}
	ours = median(times, TIMES);
	libc = now();
	if (regexec(&regex, line, 0, NULL, 0) != REG_NOMATCH)
		errx(1, "libc finds what is not there");
	libc = now() - libc;
	printf("regexec\t%.0f\t1.000\n", libc);
	printf("pattern\t%.1f\t%.6f\n", ours, ours / libc);
	regfree(&regex);
}

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
time_libc(const char *const *texts)
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
	double ours = 0, libc = 0;
	struct preset preset;

	match_line();
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
		libc = measure(time_libc, texts);
	}
	printf("regcomp\t%.0f\t1.000\n", libc);
	printf("preset\t%.1f\t%.6f\n", ours, ours / libc);
	return 0;
}
