#include "sys/zoneinfo.h"

#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "text/number.h"
#include "text/zone.h"

#define DIRECTORY "/usr/share/zoneinfo/"

/* The largest file of a zone has some 4 kB. */
#define ROOM 16384

static bool
ahead_here(const void *unused, int64_t moment, int64_t *ahead)
{
	time_t seconds = moment;
	struct tm parts;

	(void)unused;
	if (localtime_r(&seconds, &parts) == NULL)
		return false;
	*ahead = parts.tm_gmtoff;
	return true;
}

static bool
ahead_in_utc(const void *unused, int64_t moment, int64_t *ahead)
{
	(void)unused;
	(void)moment;
	*ahead = 0;
	return true;
}

static bool
ahead_there(const void *file, int64_t moment, int64_t *ahead)
{
	const struct strview *bytes = (const struct strview *)file;

	return zone_ahead(*bytes, moment, ahead);
}

/* Reads the file of a zone. The name may be that of something else. */
static bool
read_zone(const char *zone, char room[ROOM], struct strview *file)
{
	char path[sizeof DIRECTORY + CLOCK_ZONE];
	struct stat stat;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, DIRECTORY "%s", zone);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return false;
	got = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode)
	    ? read(fd, room, ROOM)
	    : -1;
	close(fd);
	*file = (struct strview){ room, (size_t)got };
	return got > 0 && got < ROOM;
}

bool
zoneinfo_until(const struct clock *clock, nanos now, nanos *wait)
{
	int64_t seconds = now / NANOS_SECOND;
	static char room[ROOM];
	struct strview file;
	bool known;

	if (*clock->zone == '\0') {
		tzset();
		known = clock_until(clock, seconds, ahead_here, NULL, wait);
	} else if (strcasecmp(clock->zone, "UTC") == 0 ||
	    strcasecmp(clock->zone, "GMT") == 0) {
		known = clock_until(clock, seconds, ahead_in_utc, NULL, wait);
	} else {
		known = read_zone(clock->zone, room, &file) &&
		    clock_until(clock, seconds, ahead_there, &file, wait);
	}
	if (known)
		*wait = number_multiply(*wait, NANOS_SECOND);
	return known;
}
