#include "child.h"

#include <err.h>
#include <sys/prctl.h>
#include <unistd.h>

pid_t
child_fork(int signal)
{
	pid_t parent = getpid(), child = fork();

	if (child == -1)
		err(1, "fork");
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(1);
	return 0;
}
