#include "link/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"

/* No helper needs the password: /proc/PID/environ would show it. */
static void
forget_password(void)
{
	char *password = getenv("RETRY_FLEET_AUTH");

	if (password == NULL)
		return;
	explicit_bzero(password, strlen(password));
	unsetenv("RETRY_FLEET_AUTH");
}

pid_t
helper_fork(int *fd)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	ends[0] = sys_move_up(ends[0]);
	ends[1] = sys_move_up(ends[1]);
	pid = fork();
	if (pid == 0) {
		if (setsid() == -1)
			_exit(EXIT_STATUS_FAILED);
		forget_password();
		close(ends[0]);
		*fd = ends[1];
		return 0;
	}
	close(ends[1]);
	*fd = ends[0];
	if (pid == -1 || fcntl(*fd, F_SETFL, O_NONBLOCK) == -1) {
		int error = errno;

		if (pid != -1)
			helper_end(pid);
		close(*fd);
		errno = error;
		return -1;
	}
	return pid;
}

void
helper_close_from(int first)
{
	long limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
		return;
#endif
	limit = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < limit; fd++)
		close(fd);
}

void
helper_isolate(int fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int stream = 0; stream < HELPER_SOCKET; stream++)
		if (null == -1)
			close(stream);
		else if (null != stream)
			dup2(null, stream);
	if (fd != HELPER_SOCKET)
		dup2(fd, HELPER_SOCKET);
	helper_close_from(HELPER_SOCKET + 1);
}

void
helper_end(pid_t pid)
{
	/* Right after the fork it may not lead its session yet. */
	if (kill(-pid, SIGKILL) == -1)
		kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOHANG);
}
