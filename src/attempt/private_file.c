#include "attempt/private_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "streams/tempfile.h"
#include "sys/sys.h"
#include "text/number.h"

static char *
append(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length + 1);
	return at + length;
}

/*
 * Whether path leads to the file behind fd, and can be opened. Where /proc
 * shows other processes than ours, our number is somebody else's there: to
 * open what it has could do anything.
 */
static bool
leads_to(const char *path, int fd)
{
	struct stat there, here;
	int try;

	if (stat(path, &there) == -1 || fstat(fd, &here) == -1 ||
	    there.st_dev != here.st_dev || there.st_ino != here.st_ino)
		return false;
	try = open(path, O_WRONLY | O_CLOEXEC);
	if (try == -1)
		return false;
	close(try);
	return true;
}

/* By our number, for in the command "self" is another. */
static bool
make_in_memory(struct private_file *handout)
{
	char digits[NUMBER_ROOM], *at = handout->own;

	handout->fd = sys_move_up(memfd_create("retry", MFD_CLOEXEC));
	if (handout->fd == -1)
		return false;
	at = append(append(at, "/proc/"), number_put(digits, getpid()));
	append(append(at, "/fd/"), number_put(digits, handout->fd));
	if (leads_to(handout->own, handout->fd))
		return true;
	close(handout->fd);
	handout->fd = -1;
	return false;
}

static bool
make_temporary(struct private_file *handout)
{
	bool chosen;
	const char *directory = tempfile_directory(&chosen);

	if (directory[0] != '/' ||
	    strlen(directory) + TEMPFILE_NAME > sizeof handout->own)
		directory = "/tmp";
	handout->fd =
	    tempfile_create(directory, handout->own, sizeof handout->own);
	handout->temporary = handout->fd != -1;
	return handout->temporary;
}

bool
private_file_make(struct private_file *handout)
{
	handout->temporary = false;
	handout->path = NULL;
	if (!make_in_memory(handout) && !make_temporary(handout))
		return false;
	handout->path = handout->own;
	return true;
}

void
private_file_close(const struct private_file *handout)
{
	if (handout->path != NULL && handout->temporary)
		unlink(handout->path);
}
