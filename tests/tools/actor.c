/*-
 * actor: the child that a test needs and that a shell cannot play.
 *
 *     actor VERB [ARG]...
 *
 * Verbs that prepare and then run CMD in their place:
 *     fresh CMD...          every signal at its default, none blocked
 *     ignoring SIG CMD...   SIG ignored
 *     blocking CMD...       every signal blocked
 *     pending SIG CMD...    every signal blocked, and SIG pending
 *     reaper CMD...         orphans of what descends from it come to it
 *     as UID CMD...         as another user, with that group and no other
 *     from KIND[:WHAT] CMD...
 *                           standard input is of that KIND: a socket (stream:
 *                           the bytes of the file WHAT come, and the end, or
 *                           without WHAT nothing; dgram, listen, unconnected),
 *                           or eventfd
 * Those that run CMD and wait for it:
 *     how CMD...            say how it ended: "exited 3", "killed TERM"
 *     terminal [STEP]... -- CMD...
 *                           CMD leads a session on a terminal of its own; do
 *                           what the person there does, and then print all that
 *                           came and exit as a shell would:
 *         see:TEXT          wait until TEXT has come after what was seen last
 *         next:TEXT         the same, before what was seen last comes again
 *         type:TEXT         type it; ^C ^Z ^\ ^D and ^M stand for those keys
 *         size:ROWSxCOLUMNS make the window that large
 *         exists:FILE       wait until there is such a file
 *         more:SECONDS      let what is on its way come, at least that long
 *         hangup            close the line
 *                           A step that takes 20 s is given up: CMD is killed,
 *                           and the status is 99.
 * And those that act:
 *     listen N STATUS       name each signal that comes; end after N of them,
 *                           with 300 ms for more
 *     answer SIG            send SIG to the parent and say if it comes back
 *     mask                  name the signals that are ignored, blocked, pending
 *     flags                 the status flags of descriptors 0 to 2
 *     receive N             take at most N bytes from the socket at descriptor
 *                           0; exit with 7
 *     unread FD N           wait until the pipe FD has N bytes or more
 *     sip                   copy standard input, slowly
 *     stubborn              ignore TERM
 *     hidden                the same, and where /proc is mounted with hidepid
 *                           nobody but root sees it there
 *     own SECONDS           be the owner of this file alone (it is set-user-ID)
 *     dead N                N dead children that nobody reaps, and a stubborn one
 *     chain N               a child that leaves a child that leaves a child...
 *     crowd N               a child that has two, each of which has two...;
 *                           those that TERM reaches have one more
 *     audience N            N children, and say how many signals TERM was to
 *                           it and to them, unless one comes before all are there
 *     thread                a stubborn child that is not the main thread's
 *     headless              a stubborn process whose main thread has ended
 *     hold PID FILE         keep PID from being gone, KILL or not; then make
 *                           FILE
 *
 * With REPLAY in the environment it does what a tool did, under any name and
 * with any words. It prints REPLAY/err and REPLAY/out,
 * copies REPLAY/head to the file behind --dump-header, adds a line to
 * REPLAY/runs, and exits with STATUS.
 *
 * With NUMBERS in the environment signals are named by number.
 *
 * No process outlives LIFE seconds, and none of them starts more than MANY.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIFE = 60, MANY = 3000, STORM = 300 };

/* SIGRTMIN of the kernel but for what glibc keeps to itself; musl keeps one more. */
enum { FIRST_RT = 34 };

static const struct {
	const char *name;
	int number;
} signals[] = { { "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "ILL", SIGILL },
	{ "TRAP", SIGTRAP }, { "ABRT", SIGABRT }, { "BUS", SIGBUS }, { "FPE", SIGFPE },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM }, { "CHLD", SIGCHLD },
	{ "CONT", SIGCONT }, { "WINCH", SIGWINCH }, { "SYS", SIGSYS }, { "XFSZ", SIGXFSZ },
	{ "STOP", SIGSTOP }, { "TSTP", SIGTSTP }, { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU } };

enum { SIGNALS = sizeof signals / sizeof *signals };

static void fail(const char *what) {
	perror(what);
	exit(99);
}

static int number(const char *text) { return (int)strtol(text, NULL, 10); }

static int signal_number(const char *name) {
	for (int i = 0; i < SIGNALS; i++)
		if (strcmp(signals[i].name, name) == 0)
			return signals[i].number;
	return number(name);
}

static void say_signal(const char *before, int which) {
	if (getenv("NUMBERS") != NULL) {
		printf("%s%d\n", before, which);
		return;
	}
	for (int i = 0; i < SIGNALS; i++)
		if (signals[i].number == which) {
			printf("%s%s\n", before, signals[i].name);
			return;
		}
	if (which >= FIRST_RT && which <= SIGRTMAX)
		printf("%sRTMIN+%d\n", before, which - FIRST_RT);
	else
		printf("%s%d\n", before, which);
}

/*
 * The kernel is asked for what libc does with masks and dispositions, because libcs
 * leave some signals out of them.
 */
struct action {
	void (*handler)(int);
	unsigned long rest[5];
};

static void handle(int which, void (*how)(int)) {
	if (sigaction(which, &(struct sigaction){ .sa_handler = how }, NULL) == -1)
		syscall(SYS_rt_sigaction, which, &(struct action){ .handler = how }, NULL,
		    (size_t)_NSIG / 8);
}

static bool ignored(int which) {
	struct action action = { .handler = SIG_DFL };

	syscall(SYS_rt_sigaction, which, NULL, &action, (size_t)_NSIG / 8);
	return action.handler == SIG_IGN;
}

static void change_mask(int how, const sigset_t *change, sigset_t *before) {
	syscall(SYS_rt_sigprocmask, how, change, before, (size_t)_NSIG / 8);
}

static bool within(const sigset_t *set, int which) {
	const unsigned bits = 8 * sizeof(unsigned long);
	unsigned bit = (unsigned)which - 1;

	return (((const unsigned long *)set)[bit / bits] >> bit % bits & 1) != 0;
}

static void linger(long milliseconds) {
	struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	while (nanosleep(&left, &left) == -1 && errno == EINTR) continue;
}

/* The rest of a life, or of a thread's. */
static void *stay(void *unused) {
	(void)unused;
	linger(LIFE * 1000L);
	_exit(98);
}

static pid_t spawn(void) {
	pid_t child = fork();

	if (child == -1)
		fail("fork");
	return child;
}

static void run(char **command) {
	execvp(command[0], command);
	fail(command[0]);
}

static void fresh(char **args) {
	sigset_t none;

	for (int i = 1; i <= SIGRTMAX; i++) handle(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	run(args);
}

static void ignoring(char **args) {
	handle(signal_number(args[0]), SIG_IGN);
	run(args + 1);
}

static void block_all(sigset_t *all) {
	memset(all, 0xff, sizeof *all);
	change_mask(SIG_SETMASK, all, NULL);
}

static void blocking(char **args) {
	sigset_t all;

	block_all(&all);
	run(args);
}

static void pending(char **args) {
	union sigval value = { .sival_int = 4711 };
	sigset_t all;

	block_all(&all);
	sigqueue(getpid(), signal_number(args[0]), value);
	run(args + 1);
}

static void reaper(char **args) {
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	run(args);
}

static void as(char **args) {
	unsigned id = (unsigned)number(args[0]);

	if (setgroups(0, NULL) == -1 || setresgid(id, id, id) == -1 || setresuid(id, id, id) == -1)
		fail(args[0]);
	run(args + 1);
}

static void how(char **args) {
	pid_t child = spawn();
	int status;

	if (child == 0)
		run(args);
	while (waitpid(child, &status, 0) == -1)
		if (errno != EINTR)
			fail("waitpid");
	if (WIFEXITED(status))
		printf("exited %d\n", WEXITSTATUS(status));
	else
		say_signal("killed ", WTERMSIG(status));
}

/* What has come from a terminal, how far it was seen, and what was seen last.
 */
static struct {
	int line; /* -1 once it has been closed */
	pid_t pid; /* 0 once it has ended, with status */
	int status;
	char *came;
	size_t length, seen;
	const char *last;
} terminal;

static bool ended(void) {
	if (terminal.pid > 0 && waitpid(terminal.pid, &terminal.status, WNOHANG) > 0)
		terminal.pid = 0;
	return terminal.pid == 0;
}

/* Takes what comes within 10 ms; whether there is any hope of more. */
static bool take(void) {
	struct pollfd one = { .fd = terminal.line, .events = POLLIN };
	enum { CHUNK = 65536 };
	ssize_t some;

	if (poll(&one, 1, 10) != 1)
		return terminal.line != -1;
	terminal.came = realloc(terminal.came, terminal.length + CHUNK);
	if (terminal.came == NULL)
		fail("realloc");
	some = read(terminal.line, terminal.came + terminal.length, CHUNK);
	if (some <= 0) /* nobody holds the other side any more */
		return false;
	terminal.length += (size_t)some;
	return true;
}

static long milliseconds(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

static void print_came(void) {
	for (size_t i = 0; i < terminal.length; i++)
		if (terminal.came[i] != '\r' || i + 1 == terminal.length ||
		    terminal.came[i + 1] != '\n')
			putchar(terminal.came[i]);
}

static char *find(const char *text) {
	return terminal.came == NULL ? NULL
				     : memmem(terminal.came + terminal.seen,
					   terminal.length - terminal.seen, text, strlen(text));
}

/* Takes what comes until done, which is given text, says that it is done. */
static void wait_until(bool (*done)(const char *), const char *text) {
	const long end = milliseconds() + 20000;

	while (!done(text)) {
		bool gone = ended(), hope = take();

		if (done(text))
			return;
		if ((!hope && gone) || milliseconds() > end) {
			fprintf(stderr, "terminal: never came: %s\n", text);
			print_came();
			close(terminal.line);
			if (terminal.pid > 0)
				kill(terminal.pid, SIGKILL);
			exit(99);
		}
		if (!hope)
			linger(10);
	}
}

static bool seen(const char *text) {
	const char *at = find(text);

	if (at == NULL)
		return false;
	terminal.seen = (size_t)(at - terminal.came) + strlen(text);
	terminal.last = text;
	return true;
}

static bool seen_next(const char *text) {
	const char *last = find(terminal.last), *at = find(text);

	if (last != NULL && (at == NULL || last < at)) {
		fprintf(stderr, "terminal: came too late: %s\n", text);
		print_came();
		exit(99);
	}
	return seen(text);
}

static bool exists(const char *name) { return access(name, F_OK) == 0; }

static bool over(const char *unused) {
	(void)unused;
	return ended();
}

static void let_come(double seconds) {
	const long end = milliseconds() + (long)(seconds * 1000);

	while (take() && milliseconds() < end) continue;
}

static void type(const char *text) {
	char keys[4096];
	size_t length = 0;

	for (; *text != '\0' && length < sizeof keys; text++)
		if (*text == '^' && text[1] >= 'A' && text[1] <= '\\')
			keys[length++] = *++text & 31;
		else
			keys[length++] = *text;
	/* A moment, as a person takes: a shell that takes its terminal back has
	 * been seen to lose what was typed ahead. */
	let_come(0.05);
	if (write(terminal.line, keys, length) != (ssize_t)length)
		fail("write");
}

static void at_terminal(char **args) {
	char **command = args;
	struct winsize size = { 0 };

	while (*command != NULL && strcmp(*command, "--") != 0) command++;
	if (*command == NULL)
		fail("terminal: no --");
	terminal.line = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (grantpt(terminal.line) == -1 || unlockpt(terminal.line) == -1)
		fail("posix_openpt");
	terminal.pid = spawn();
	if (terminal.pid == 0) {
		int other;

		setsid(); /* without a terminal, so that it gets this one */
		other = open(ptsname(terminal.line), O_RDWR | O_CLOEXEC);
		if (other == -1)
			fail("ptsname");
		for (int fd = 0; fd <= 2; fd++) dup2(other, fd);
		run(command + 1);
	}
	for (; args < command; args++) {
		char *what = strchr(*args, ':');

		if (what != NULL)
			*what++ = '\0';
		if (strcmp(*args, "see") == 0)
			wait_until(seen, what);
		else if (strcmp(*args, "next") == 0)
			wait_until(terminal.last ? seen_next : seen, what);
		else if (strcmp(*args, "type") == 0)
			type(what);
		else if (strcmp(*args, "exists") == 0)
			wait_until(exists, what);
		else if (strcmp(*args, "more") == 0)
			let_come(strtod(what, NULL));
		else if (strcmp(*args, "size") == 0 &&
		    sscanf(what, "%hux%hu", &size.ws_row, &size.ws_col) == 2)
			ioctl(terminal.line, TIOCSWINSZ, &size);
		else if (strcmp(*args, "hangup") == 0) {
			close(terminal.line);
			terminal.line = -1;
		} else
			fail(*args);
	}
	wait_until(over, "the end");
	let_come(0.5); /* less if nobody holds the terminal any more */
	print_came();
	exit(WIFEXITED(terminal.status) ? WEXITSTATUS(terminal.status)
					: 128 + WTERMSIG(terminal.status));
}

static int special(const char *kind) {
	int fd = -1;

	if (strcmp(kind, "listen") == 0) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		listen(fd, 1);
	} else if (strcmp(kind, "unconnected") == 0)
		fd = socket(AF_INET, SOCK_STREAM, 0);
	else if (strcmp(kind, "dgram") == 0)
		fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	else if (strcmp(kind, "eventfd") == 0)
		fd = eventfd(1, 0);
	if (fd == -1)
		fail(kind);
	return fd;
}

static void read_from(char **args) {
	char *what = strchr(args[0], ':'), bytes[65536];
	int pair[2], file = -1, status;
	ssize_t length;
	pid_t child;

	if (what != NULL)
		*what++ = '\0';
	if (strcmp(args[0], "stream") != 0) {
		dup2(special(args[0]), 0);
		run(args + 1);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		fail(args[0]);
	/* What fits is there before the command looks. */
	handle(SIGPIPE, SIG_IGN);
	if (what != NULL) {
		if ((file = open(what, O_RDONLY)) == -1)
			fail(what);
		length = read(file, bytes, sizeof bytes);
		send(pair[1], bytes, (size_t)length, 0);
	}
	if ((child = spawn()) == 0) {
		dup2(pair[0], 0);
		close(pair[0]);
		close(pair[1]);
		handle(SIGPIPE, SIG_DFL);
		run(args + 1);
	}
	close(pair[0]);
	alarm(LIFE); /* then the command has the end of its input */
	if (what != NULL) {
		while ((length = read(file, bytes, sizeof bytes)) > 0 &&
		    send(pair[1], bytes, (size_t)length, 0) == length)
			continue;
		shutdown(pair[1], SHUT_WR);
	}
	if (waitpid(child, &status, 0) != child)
		fail("waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void receive(char **args) {
	char bytes[256];

	exit(recv(0, bytes, (size_t)number(args[0]), 0) > 0 ? 7 : 9);
}

static void unread(char **args) {
	int left = 0;

	for (int i = 0; i < LIFE * 50; i++) {
		if (ioctl(number(args[0]), FIONREAD, &left) == 0 && left >= number(args[1]))
			exit(0);
		linger(20);
	}
	exit(98);
}

/* Copies what comes from a descriptor to another, with pauses in milliseconds.
 */
static void copy(int from, int to, long pause) {
	char bytes[65536];
	ssize_t length;

	while ((length = read(from, bytes, sizeof bytes)) > 0) {
		for (ssize_t at = 0, some; at < length; at += some)
			if ((some = write(to, bytes + at, (size_t)(length - at))) < 0)
				fail("write");
		linger(pause);
	}
}

static void sip(char **unused) {
	(void)unused;
	copy(0, 1, 1);
}

static void hear(char **args) {
	struct timespec patience = { LIFE, 0 };
	int left = number(args[0]), which;
	sigset_t all;

	block_all(&all);
	puts("ready");
	while ((which = sigtimedwait(&all, NULL, &patience)) > 0) {
		say_signal("", which);
		if (--left <= 0)
			patience = (struct timespec){ 0, 300000000 };
	}
	exit(left > 0 ? 98 : number(args[1]));
}

static void answer(char **args) {
	struct timespec more = { 0, 300000000 };
	int which = signal_number(args[0]);
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, which);
	change_mask(SIG_BLOCK, &one, NULL);
	kill(getppid(), which);
	puts(sigtimedwait(&one, NULL, &more) > 0 ? "came back" : "kept");
	exit(3);
}

static void mask(char **unused) {
	sigset_t blocked, waiting;

	(void)unused;
	change_mask(SIG_SETMASK, NULL, &blocked);
	sigpending(&waiting);
	for (int i = 1; i <= SIGRTMAX; i++) {
		if (ignored(i))
			say_signal("ignored ", i);
		if (within(&blocked, i))
			say_signal("blocked ", i);
		if (within(&waiting, i))
			say_signal("pending ", i);
	}
}

static void flags(char **unused) {
	(void)unused;
	for (int fd = 0; fd <= 2; fd++)
		printf("flags of %d: %o\n", fd, (unsigned)fcntl(fd, F_GETFL));
}

static void stubborn(char **unused) {
	(void)unused;
	handle(SIGTERM, SIG_IGN);
	puts("ready");
	stay(NULL);
}

static void hidden(char **unused) {
	prctl(PR_SET_DUMPABLE, 0);
	stubborn(unused);
}

static void own(char **args) {
	if (geteuid() == getuid() || setresuid(geteuid(), geteuid(), geteuid()) == -1)
		fail("setresuid");
	printf("pid %d\n", (int)getpid());
	linger(number(args[0]) * 1000L);
}

static void dead(char **args) {
	int count = number(args[0]);

	for (int i = 0; i < count && i < MANY; i++)
		if (spawn() == 0)
			_exit(0);
	if (spawn() == 0)
		stubborn(NULL);
	stay(NULL);
}

static void chain(char **args) {
	int left = number(args[0]);

	handle(SIGTERM, SIG_IGN);
	if (spawn() != 0)
		stay(NULL);
	puts("ready");
	for (; left > 0 && left < STORM; left--) {
		linger(5);
		if (spawn() != 0)
			_exit(0);
	}
	stay(NULL);
}

/* How many of a crowd there are: one word that all of them share. */
static _Atomic int *crowded;

static void multiply(int unused) {
	(void)unused;
	if (++*crowded < STORM)
		(void)fork();
}

static void crowd(char **args) {
	int most = number(args[0]);

	handle(SIGTERM, multiply);
	for (int children = 0; children < 2; children++)
		if (++*crowded < most && *crowded < STORM && spawn() == 0)
			children = -1;
	if (*crowded >= most)
		puts("ready");
	stay(NULL);
}

static void heed(int unused) {
	(void)unused;
	++*crowded;
}

static void audience(char **args) {
	sigset_t none, term;

	handle(SIGTERM, heed);
	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	for (int left = number(args[0]); left > 0 && left < MANY; left--)
		if (spawn() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sigsuspend(&none);
			sigprocmask(SIG_UNBLOCK, &term, NULL);
			linger(500); /* for a second one */
			_exit(0);
		}
	sigpending(&none);
	if (sigismember(&none, SIGTERM)) /* before all were there */
		exit(98);
	puts("ready");
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	while (wait(NULL) > 0 || errno == EINTR) continue;
	printf("heard %d\n", *crowded);
}

static void *beget(void *unused) {
	if (spawn() == 0)
		stubborn(NULL);
	return stay(unused);
}

static void thread(char **unused) {
	pthread_t other;

	(void)unused;
	if (pthread_create(&other, NULL, beget, NULL) != 0)
		fail("pthread_create");
	stay(NULL);
}

static void *carry_on(void *unused) {
	puts("ready");
	return stay(unused);
}

static void headless(char **unused) {
	pthread_t other;

	(void)unused;
	handle(SIGTERM, SIG_IGN);
	if (pthread_create(&other, NULL, carry_on, NULL) != 0)
		fail("pthread_create");
	pthread_exit(NULL);
}

/*
 * Who is traced stops once more on its way out, even if it was KILL that sent
 * it there, and stays until its tracer lets go or ends.
 */
static void hold(char **args) {
	if (ptrace(PTRACE_SEIZE, number(args[0]), NULL, (void *)PTRACE_O_TRACEEXIT) == -1)
		fail("ptrace");
	if (creat(args[1], 0600) == -1)
		fail(args[1]);
	stay(NULL);
}

static const struct {
	const char *name;
	int args; /* that it must have */
	void (*act)(char **args);
} verbs[] = {
	{ "fresh", 1, fresh },
	{ "ignoring", 2, ignoring },
	{ "blocking", 1, blocking },
	{ "pending", 2, pending },
	{ "reaper", 1, reaper },
	{ "as", 2, as },
	{ "from", 2, read_from },
	{ "how", 1, how },
	{ "terminal", 2, at_terminal },
	{ "listen", 2, hear },
	{ "answer", 1, answer },
	{ "mask", 0, mask },
	{ "flags", 0, flags },
	{ "receive", 1, receive },
	{ "unread", 2, unread },
	{ "sip", 0, sip },
	{ "stubborn", 0, stubborn },
	{ "hidden", 0, hidden },
	{ "own", 1, own },
	{ "dead", 1, dead },
	{ "chain", 1, chain },
	{ "crowd", 1, crowd },
	{ "audience", 1, audience },
	{ "thread", 0, thread },
	{ "headless", 0, headless },
	{ "hold", 2, hold },
};

/* Opens a file in the directory REPLAY. */
static int replayed(const char *name, int flags) {
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", getenv("REPLAY"), name);
	fd = open(path, flags, 0600);
	if (fd == -1)
		fail(path);
	return fd;
}

static int replay(char **argv) {
	if (write(replayed("runs", O_WRONLY | O_CREAT | O_APPEND), "\n", 1) != 1)
		fail("runs");
	for (; argv[0] != NULL && argv[1] != NULL; argv++)
		if (strcmp(argv[0], "--dump-header") == 0) {
			int to = creat(argv[1], 0600);

			if (to == -1)
				fail(argv[1]);
			copy(replayed("head", O_RDONLY), to, 0);
		}
	copy(replayed("err", O_RDONLY), STDERR_FILENO, 0);
	copy(replayed("out", O_RDONLY), STDOUT_FILENO, 0);
	return number(getenv("STATUS"));
}

int main(int argc, char **argv) {
	if (getenv("REPLAY") != NULL)
		return replay(argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	crowded =
	    mmap(NULL, sizeof *crowded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crowded == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (argc > 1 && strcmp(verbs[i].name, argv[1]) == 0 && argc - 2 >= verbs[i].args) {
			verbs[i].act(argv + 2);
			return 0;
		}
	fprintf(stderr, "actor: what is to be played?\n");
	return 99;
}
