#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "budget/breaker.h"
#include "text/number.h"

/*
 * The descriptor of the first file. The real kernel has no such descriptor: to
 * the few calls that are not replaced it answers EBADF, which retry ignores.
 */
#define FIRST 100000

/* The most blocks of memory. */
#define HEAP 16

/* How many bytes standard input has. */
#define INPUT_BYTES 5

/* The second parameter of ioctl. */
#ifdef __GLIBC__
#define REQUEST unsigned long
#else
#define REQUEST int
#endif

/* As in signals.c. */
#ifdef SYS_ppoll_time64
#define PPOLL SYS_ppoll_time64
#else
#define PPOLL SYS_ppoll
#endif

/* Files */

int file_open(enum file_kind kind, int64_t of, int flags) {
	for (int i = 0; i < KERNEL_FILES; i++) {
		if (kernel.files[i].kind != FILE_NONE)
			continue;
		kernel.files[i] = (struct file){ .kind = kind, .of = of, .flags = flags };
		if (i == kernel.opened)
			kernel.opened++;
		return FIRST + i;
	}
	kernel_break("leaves more and more files open");
}

struct file *file_at(int fd) {
	static struct file standard[] = { { .kind = FILE_READ_END },
		{ .kind = FILE_OUTPUT, .of = OUTPUT_STDOUT },
		{ .kind = FILE_OUTPUT, .of = OUTPUT_STDERR } };

	if (fd >= STDIN_FILENO && fd <= STDERR_FILENO)
		return &standard[fd];
	if (fd < FIRST || fd >= FIRST + KERNEL_FILES || kernel.files[fd - FIRST].kind == FILE_NONE)
		kernel_break("uses a descriptor that is closed");
	return &kernel.files[fd - FIRST];
}

int file_count(enum file_kind first, enum file_kind last) {
	int count = 0;

	for (int i = 0; i < kernel.opened; i++)
		count += kernel.files[i].kind >= first && kernel.files[i].kind <= last;
	return count;
}

nanos file_ready(int fd) {
	const struct file *file;

	if (fd == -1)
		return NANOS_MAX;
	if (fd == STDIN_FILENO)
		return kernel.input;
	file = file_at(fd);
	if (file->kind == FILE_OUTPUT)
		return kernel.room[file->of];
	if (file->kind == FILE_SIGNALS && kernel.count > 0)
		return 0;
	if (file->kind != FILE_READ_END)
		return NANOS_MAX;
	if (file->size > 0)
		return 0;
	for (int i = 0; i < kernel.opened; i++)
		if (kernel.files[i].kind == FILE_WRITE_END &&
		    &kernel.files[kernel.files[i].of] == file)
			return NANOS_MAX;
	return kernel.clings && kernel_alive(kernel.command) ? NANOS_MAX : file->closes;
}

bool file_awaits(int output) {
	for (size_t i = 0; i < kernel.polled_count; i++) {
		int fd = kernel.polled[i].fd;

		if (fd != -1 && file_at(fd)->kind == FILE_OUTPUT && file_at(fd)->of == output)
			return true;
	}
	return false;
}

int file_pipes(bool ended) {
	int count = 0;

	for (int i = 0; i < kernel.opened; i++)
		count += kernel.files[i].kind == FILE_READ_END &&
		    (ended ? kernel.files[i].over : kernel.files[i].size > 0);
	return count;
}

/* The command writes to its standard output at once, if retry holds that. */
void file_inherit(void) {
	for (int i = 0; i < kernel.opened; i++) {
		struct file *file = &kernel.files[i];

		if (file->kind == FILE_WRITE_END)
			kernel.files[file->of].closes = NANOS_MAX;
		if (file->kind == FILE_PLAIN && file->size == 0)
			file->size = 1;
	}
}

void file_leave(bool bytes, nanos closes) {
	for (int i = 0; i < kernel.opened; i++) {
		struct file *file = &kernel.files[i];

		if (file->kind != FILE_READ_END || file->closes != NANOS_MAX)
			continue;
		file->closes = closes;
		file->size = bytes ? 1 : 0;
	}
}

/*
 * Memory: retry leaves some of it to its end, so that the next run uses the
 * blocks again, in the same order.
 */

FAKE(void *, malloc, size_t size) {
	static struct {
		void *bytes;
		size_t size;
	} heap[HEAP], *block;

	if (kernel.blocks == HEAP)
		kernel_break("allocates more and more");
	block = &heap[kernel.blocks++];
	if (block->size < size)
		block->bytes = realloc(block->bytes, block->size = size);
	return block->bytes;
}

FAKE(void, free, void *memory) {}

/* The budget */

void file_start(const char *key, nanos window) {
	struct terms terms = { .ratio = -1, .min = -1, .window = window };
	struct origin origin = { .base = kernel_boottime() };

	segment_make(&kernel.segment, key, &terms, &origin);
}

void file_exhaust(void) {
	bool differs;
	struct terms limits = segment_agree(&kernel.segment, &kernel.segment.header,
	    &(struct terms){ -1, -1, -1 }, &differs);
	struct window_sums sums;
	int64_t epoch = window_epoch(kernel.segment.header.slice,
	    segment_age(&kernel.segment.header, kernel_boottime()));

	enum window_answer answer;

	do answer = window_withdraw(&kernel.segment.window, &limits, epoch, &sums);
	while (answer == WINDOW_GRANTED);
}

void file_trip(nanos pause) {
	struct breaker_config config = { 1, pause, pause };
	nanos age = segment_age(&kernel.segment.header, kernel_boottime());

	kernel.segment.breaker = (struct breaker){ 0 };
	breaker_tell(&kernel.segment.breaker, &config, RESULT_FAILURE, age, age);
}

/* Opening and closing */

FAKE(int, open, const char *path, int flags, ...) {
	static const char again[] = "/proc/self/fd/";

	errno = ENOENT;
	/* The file of a descriptor once more. */
	if (strncmp(path, again, sizeof again - 1) == 0 && kernel.visible) {
		struct file file = *file_at((int)strtol(path + sizeof again - 1, NULL, 10));
		int fd = file_open(file.kind, file.of, flags & O_ACCMODE);

		file_at(fd)->size = file.size;
		return fd;
	}
	if (strncmp(path, SEGMENT_DIRECTORY, sizeof SEGMENT_DIRECTORY - 1) == 0)
		return file_open(FILE_SEGMENT, 0, O_RDWR);
	if (strcmp(path, "/dev/tty") == 0)
		return file_open(FILE_TERMINAL, 0, O_RDONLY);
	if (strcmp(path, "report") == 0)
		return file_open(FILE_OUTPUT, OUTPUT_REPORT, O_WRONLY);
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return file_open(FILE_PLAIN, 0, O_RDWR);
	return -1;
}

FAKE_RESULT(int, memfd_create, file_open(FILE_PLAIN, 0, O_RDWR), const char *name, unsigned flags)

FAKE_RESULT(int, signalfd, file_open(FILE_SIGNALS, 0, O_RDONLY), int fd, const sigset_t *set,
    int flags)

FAKE(int, eventfd, unsigned value, int flags) { return file_open(FILE_ERROR, 0, O_RDWR); }

FAKE(int, pipe2, int ends[2], int flags) {
	errno = EMFILE;
	if (kernel.pipeless)
		return -1;
	ends[0] = file_open(FILE_READ_END, 0, O_RDONLY);
	ends[1] = file_open(FILE_WRITE_END, ends[0] - FIRST, O_WRONLY);
	return 0;
}

FAKE_RESULT(int, inotify_init1, file_open(FILE_WATCH, -1, O_RDONLY), int flags)

/* The watch reports only reads from now on. */
FAKE(int, inotify_add_watch, int fd, const char *path, uint32_t mask) {
	errno = ENOENT;
	if (!kernel.visible)
		return -1;
	file_at(fd)->of = strtol(strrchr(path, '/') + 1, NULL, 10);
	file_at(fd)->over = kernel.consumed;
	return 1;
}

FAKE(int, close, int fd) {
	file_at(fd)->kind = FILE_NONE;
	return 0;
}

/* Reading */

FAKE(ssize_t, read, int fd, void *bytes, size_t size) {
	struct file *file = file_at(fd);
	int *error = &kernel.last.temper.error;
	struct sent sent;

	errno = EAGAIN;
	switch (file->kind) {
	case FILE_SIGNALS:
		if (kernel.count == 0)
			return -1;
		sent = invocation_hear();
		*(struct signalfd_siginfo *)bytes =
		    (struct signalfd_siginfo){ .ssi_signo = (uint32_t)sent.number,
			    .ssi_code = sent.code,
			    .ssi_pid = (uint32_t)sent.sender,
			    .ssi_int = sent.value };
		return sizeof(struct signalfd_siginfo);
	case FILE_ERROR:
		/* The error that the child has written when exec failed, once. */
		if (*error == 0)
			return -1;
		*(uint64_t *)bytes = (uint64_t)*error;
		*error = 0;
		return sizeof(uint64_t);
	case FILE_READ_END:
		if (file->size == 0 && file_ready(fd) > kernel.now)
			return -1;
		size = (size_t)file->size;
		memset(bytes, 'x', size);
		file->size = 0;
		file->over = size == 0;
		return (ssize_t)size;
	case FILE_WATCH:
		/* Once: standard input was read. */
		if (file->over || !kernel.consumed)
			return -1;
		file->over = true;
		*(struct inotify_event *)bytes = (struct inotify_event){ .mask = IN_ACCESS };
		return sizeof(struct inotify_event);
	default: kernel_break("reads what cannot be read");
	}
}

/* All that is in a temporary file, from an offset on. */
static ssize_t rest_of(const struct file *file, off_t offset, size_t most) {
	off_t left = file->size > offset ? file->size - offset : 0;

	return left < (off_t)most ? (ssize_t)left : (ssize_t)most;
}

FAKE(ssize_t, pread, int fd, void *bytes, size_t size, off_t offset) {
	return rest_of(file_at(fd), offset, size);
}

FAKE(void *, mmap, void *address, size_t size, int protection, int flags, int fd, off_t offset) {
	static char document[1 << 16], processes[1 << 21];

	if (fd == -1)
		return processes;
	return file_at(fd)->kind == FILE_SEGMENT ? (void *)&kernel.segment : document;
}

FAKE_RESULT(int, munmap, 0, void *address, size_t size)

/* Writing and copying */

FAKE(ssize_t, write, int fd, const void *bytes, size_t size) {
	struct file *file = file_at(fd);

	if (file->kind == FILE_WRITE_END)
		file = &kernel.files[file->of];
	if (file->kind == FILE_READ_END || file->kind == FILE_PLAIN)
		file->size += (off_t)size;
	if (file->kind != FILE_OUTPUT)
		return (ssize_t)size;
	errno = EAGAIN;
	if (kernel.room[file->of] > kernel.now)
		return -1;
	kernel.taken_by[file->of] += (int64_t)size;
	return (ssize_t)size;
}

/* The whole input comes at once, and is at its end then. */
FAKE(ssize_t, splice, int from, off_t *in, int to, off_t *out, size_t most, unsigned flags) {
	bool first = *out == 0;

	errno = EAGAIN;
	if (kernel.now < kernel.input)
		return -1;
	file_at(to)->size = INPUT_BYTES;
	return first ? INPUT_BYTES : 0;
}

FAKE(off_t, lseek, int fd, off_t offset, int whence) {
	return whence == SEEK_SET ? offset : file_at(fd)->size;
}

/* What is known of files */

FAKE(int, fcntl, int fd, int command, ...) {
	if (command == F_GETFL && fd >= FIRST)
		return file_at(fd)->flags;
	if (command == F_GETFL)
		return fd == STDIN_FILENO ? O_RDONLY : O_WRONLY;
	errno = EAGAIN;
	return command == F_SETLEASE && kernel.now < kernel.written ? -1 : 0;
}

FAKE(int, fstat, int fd, struct stat *stat) {
	const struct file *file = file_at(fd);

	*stat = (struct stat){ .st_ino = (ino_t)fd,
		.st_mode = S_IFIFO,
		.st_nlink = 1,
		.st_uid = geteuid(),
		.st_size = file->size };
	if (file->kind == FILE_PLAIN || file->kind == FILE_SEGMENT)
		stat->st_mode = S_IFREG | S_IRUSR | S_IWUSR;
	if (file->kind == FILE_SEGMENT)
		stat->st_size = sizeof kernel.segment;
	return 0;
}

FAKE(int, lstat, const char *path, struct stat *stat) {
	*stat = (struct stat){ .st_mode = S_IFIFO };
	errno = ENOENT;
	return strcmp(path, "report") == 0 ? 0 : -1;
}

FAKE_RESULT(int, stat, -1, const char *path, struct stat *stat)

/* FIONREAD: how much can be read. */
FAKE(int, ioctl, int fd, REQUEST request, ...) {
	bool input = fd == STDIN_FILENO && !kernel.consumed;
	va_list rest;

	va_start(rest, request);
	*va_arg(rest, int *) = input ? INPUT_BYTES : (int)file_at(fd)->size;
	va_end(rest);
	return 0;
}

/*
 * Only asks, and does not wait. Volatile, because glibc's header says that poll
 * reads nothing from fds.
 */
FAKE(int, poll, struct pollfd *fds, nfds_t count, int time) {
	struct pollfd *volatile one = fds;
	bool ready = file_ready(one->fd) <= kernel.now;

	one->revents = ready ? one->events : 0;
	return ready;
}

FAKE_RESULT(pid_t, tcgetpgrp, kernel.group, int fd)

/* Calls by number */

static int open_pidfd(pid_t pid) {
	const struct process *process = kernel_find(pid);

	if (kernel.unsettled != NULL)
		kernel_settle(kernel.unsettled, true);
	kernel.unsettled = NULL;
	errno = ENOSYS;
	if (!kernel.pidfds)
		return -1;
	if (pid == kernel.self)
		return file_open(FILE_PIDFD, KERNEL_OURSELVES, 0);
	errno = ESRCH;
	if (process != NULL)
		return file_open(FILE_PIDFD, process->start, 0);
	return kernel.taken[pid] ? file_open(FILE_PIDFD, KERNEL_STRANGER, 0) : -1;
}

static int signal_pidfd(int fd, int number) {
	int64_t start = file_at(fd)->of;

	if (start == KERNEL_OURSELVES && number == 0)
		return 0;
	for (int i = 0; i < kernel.places; i++)
		if (kernel.list[i].life != LIFE_NONE && kernel.list[i].start == start)
			return kernel_signal(&kernel.list[i], number);
	if (start == KERNEL_STRANGER)
		kernel_break("signals a stranger");
	errno = ESRCH;
	return -1;
}

FAKE(long, syscall, long number, ...) {
	long result = 0;
	va_list rest;

	va_start(rest, number);
	if (number == PPOLL) {
		struct pollfd *fds = va_arg(rest, struct pollfd *);
		nfds_t count = va_arg(rest, nfds_t);

		kernel.polled = fds;
		kernel.polled_count = count;
		invocation_poll(va_arg(rest, struct rest *));
		kernel.polled_count = 0;
		for (nfds_t i = 0; i < count; i++)
			fds[i].revents = file_ready(fds[i].fd) <= kernel.now ? fds[i].events : 0;
		if (kernel.count == 0)
			invocation_hear();
	} else if (number == SYS_rt_sigprocmask) {
		(void)va_arg(rest, int);
		const sigset_t *mask = va_arg(rest, const sigset_t *);

		invocation_mask(mask, va_arg(rest, sigset_t *));
	} else if (number == SYS_rt_sigaction) {
		void *before;

		(void)va_arg(rest, int);
		(void)va_arg(rest, const void *);
		before = va_arg(rest, void *);
		/* No signal is ignored. */
		if (before != NULL)
			memset(before, 0, sizeof(void (*)(int)));
	} else {
		int first = va_arg(rest, int);

		kernel_call();
		if (number == SYS_pidfd_open)
			result = open_pidfd(first);
		else if (number == SYS_pidfd_send_signal)
			result = signal_pidfd(first, va_arg(rest, int));
		else
			abort();
	}
	va_end(rest);
	return result;
}
