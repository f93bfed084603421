#include "attempt/private_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "streams/tempfile.h"
#include "sys/sys.h"
#include "text/number.h"

/*
 * Whether path leads to the file behind fd, and can be opened. If /proc belongs
 * to another PID namespace, the number of retry means another process there. To
 * open a file of that process might have any effect, so the files are compared
 * first.
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

/* The path has the number of retry, not "self", which would mean the command.
 */
static bool
make_in_memory(struct private_file *file)
{
	char digits[NUMBER_ROOM], *at = file->room;

	file->fd = sys_move_up(memfd_create("retry", MFD_CLOEXEC));
	if (file->fd == -1)
		return false;
	at = stpcpy(stpcpy(at, "/proc/"), number_put(digits, getpid()));
	stpcpy(stpcpy(at, "/fd/"), number_put(digits, file->fd));
	if (leads_to(file->room, file->fd))
		return true;
	close(file->fd);
	file->fd = -1;
	return false;
}

static bool
make_temporary(struct private_file *file)
{
	bool chosen;
	const char *directory = tempfile_directory(&chosen);

	/* The command may have changed its directory when it opens the path. */
	if (directory[0] != '/' ||
	    strlen(directory) + TEMPFILE_NAME > sizeof file->room)
		directory = "/tmp";
	file->fd = tempfile_create(directory, file->room, sizeof file->room);
	file->temporary = file->fd != -1;
	return file->temporary;
}

bool
private_file_make(struct private_file *file)
{
	file->temporary = false;
	file->path = NULL;
	if (!make_in_memory(file) && !make_temporary(file))
		return false;
	file->path = file->room;
	return true;
}

void
private_file_close(const struct private_file *file)
{
	if (file->path != NULL && file->temporary)
		unlink(file->path);
}
