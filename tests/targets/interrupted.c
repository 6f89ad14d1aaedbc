/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the program's own signals interrupt.  A second process waits until
 * the first is asleep in its call and only then sends the signal, so each signal ends
 * exactly one call, or none where the kernel begins the call again.
 *
 * Argument "unseen": handlers are installed by a function that nobody interposes; "trap" and
 * "real": the signal is SIGTRAP or SIGRTMAX - 1; then "stopped": each call is first stopped and
 * goes on. Argument "stop": the signals are SIGSTOP and SIGCONT, which nobody handles; calls go on
 * with the time that remains. "storm": so many of them that many meet a call that is about to go
 * on.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { ROUNDS = 30 };

/* What the two processes tell each other. */
static struct {
	_Atomic int asking;  /* a call is about to be made that is to be interrupted */
	_Atomic int signals; /* sent */
	_Atomic int done;
} * shared;

int __sigaction(int signal, const struct sigaction *action, struct sigaction *old); /* libc's */
static int (*install)(int, const struct sigaction *, struct sigaction *) = sigaction;

static int number = SIGUSR1, stops_first;
static volatile sig_atomic_t handled;
static int pipe_ends[2], epoll, locked_fd;
static sigset_t none;

static void on_signal(int signal)
{
	handled++;
}

/* True when the parent's main thread sleeps: the state follows the last ')'. */
static int asleep(pid_t pid)
{
	char path[64], line[512];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(line, 1, sizeof(line) - 1, file) : 0;

	if (file)
		fclose(file);
	line[got] = '\0';
	const char *end = strrchr(line, ')');
	return end && end[2] == 'S';
}

static void snooze(long usec)
{
	const struct timespec time = {0, usec * 1000};

	nanosleep(&time, NULL);
}

/* For each call announced: one signal, when it sleeps. */
static void serve(pid_t parent, int signal)
{
	while (!shared->done) {
		if (!shared->asking || !asleep(parent)) {
			snooze(20);
			continue;
		}
		shared->asking = 0;
		if (stops_first) {
			kill(parent, SIGSTOP);
			snooze(500);
			kill(parent, SIGCONT);
			do
				snooze(500);
			while (!asleep(parent));
		}
		shared->signals++;
		kill(parent, signal);
	}
	_exit(0);
}

static long call_poll(void)
{
	return poll(NULL, 0, -1);
}

static long call_ppoll(void)
{
	return ppoll(NULL, 0, NULL, &none);
}

static long call_select(void)
{
	return select(0, NULL, NULL, NULL, NULL);
}

static long call_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, -1);
}

static long call_epoll_pwait(void)
{
	struct epoll_event event;

	return epoll_pwait(epoll, &event, 1, -1, &none);
}

static long call_nanosleep(void)
{
	const struct timespec long_time = {1000, 0};

	return nanosleep(&long_time, NULL);
}

static long call_pause(void)
{
	return pause();
}

static long call_sigsuspend(void)
{
	return sigsuspend(&none);
}

static long call_read(void)
{
	char byte;

	return read(pipe_ends[0], &byte, 1);
}

static long call_flock(void)
{
	return flock(locked_fd, LOCK_EX);
}

static long call_wait(void)
{
	return waitpid(-1, NULL, 0);
}

static const struct {
	const char *name;
	long (*make)(void);
	int with_mask; /* the signal is blocked outside of the call */
} calls[] = {
	{"poll", call_poll, 0},
	{"ppoll", call_ppoll, 1},
	{"select", call_select, 0},
	{"epoll_wait", call_epoll_wait, 0},
	{"epoll_pwait", call_epoll_pwait, 1},
	{"nanosleep", call_nanosleep, 0},
	{"pause", call_pause, 0},
	{"sigsuspend", call_sigsuspend, 1},
	{"read", call_read, 0},
	{"flock", call_flock, 0},
	{"wait", call_wait, 0},
};

static void block(int how, int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(how, &set, NULL);
}

/* Each round one call and one signal: the call ends with EINTR after its handler, always. */
static void interrupt(const char *name, long (*make)(void), int with_mask)
{
	int ended = 0, wrong = 0;

	shared->signals = 0;
	handled = 0;
	if (with_mask)
		block(SIG_BLOCK, number);
	for (int round = 1; round <= ROUNDS; round++) {
		shared->asking = 1;
		errno = 0;
		long result = make();

		ended += result < 0 && errno == EINTR;
		wrong += handled != round;
	}
	if (with_mask)
		block(SIG_UNBLOCK, number);
	printf("%s: %d signals, %d handled, %d ended, %d too early\n", name, shared->signals,
	       (int)handled, ended, wrong);
}

static void handle_with(int flags, int block_all)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	if (block_all)
		sigfillset(&action.sa_mask);
	install(number, &action, NULL);
}

/* A handler with SA_RESTART: read goes on; a byte from the other process ends it. */
static void restart(void)
{
	char byte;
	int result;
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0) {
		for (int i = 0; i < ROUNDS; i++) {
			while (!asleep(parent))
				snooze(20);
			kill(parent, number);
			snooze(300);
		}
		if (write(pipe_ends[1], "x", 1) != 1)
			abort();
		_exit(0);
	}
	result = (int)read(pipe_ends[0], &byte, 1);
	printf("restarted read: %d, handled some: %d\n", result, handled > 0);
	while (waitpid(child, NULL, 0) < 0)
		continue;
}

static void handlers(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0)
		serve(parent, number);
	for (int full_mask = 0; full_mask < 2; full_mask++) {
		handle_with(0, full_mask);
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			if (!stops_first || !strstr(calls[i].name, "epoll")) /* a stop ends these */
				interrupt(calls[i].name, calls[i].make, calls[i].with_mask);
	}
	shared->done = 1;
	handle_with(SA_RESTART, 0);
	waitpid(child, NULL, 0);
	handled = 0;
	restart();
}

/* Stopped and continued many times, a call ends in its time and as if nothing had been. */
static void stopped(const char *name, long (*make)(void), long expected)
{
	double start = wall_now();

	errno = 0;
	long result = make();
	int error = errno;
	double took = wall_now() - start;

	printf("%s: %ld errno %d, too short %d, too long %d\n", name, result,
	       result == expected ? 0 : error, took<0.1, took> 0.6);
}

static long sleep_some(void)
{
	const struct timespec time = {0, 100 * 1000 * 1000};
	struct timespec rest;

	return nanosleep(&time, &rest);
}

static long poll_some(void)
{
	return poll(NULL, 0, 100);
}

static long select_some(void)
{
	struct timeval time = {0, 100 * 1000};

	return select(0, NULL, NULL, NULL, &time);
}

static long ppoll_some(void)
{
	const struct timespec time = {0, 100 * 1000 * 1000};

	return ppoll(NULL, 0, &time, &none);
}

static long usleep_some(void)
{
	return usleep(100 * 1000);
}

static void stops(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0) {
		while (!shared->done) {
			kill(parent, SIGSTOP);
			snooze(3000);
			kill(parent, SIGCONT);
			snooze(7000);
		}
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		stopped("nanosleep", sleep_some, 0);
		stopped("usleep", usleep_some, 0);
		stopped("poll", poll_some, 0);
		stopped("select", select_some, 0);
		stopped("ppoll", ppoll_some, 0);
	}
	shared->done = 1;
	waitpid(child, NULL, 0);
}

/* Stops and goes on all the time; says how many calls failed. */
static void storm(void)
{
	enum { CALLS = 150 };
	const struct timespec some = {0, 7000000};
	pid_t parent = getpid(), child = fork();
	int polls = 0, sleeps = 0;

	if (child == 0) {
		while (!shared->done) {
			kill(parent, SIGSTOP);
			snooze(150);
			kill(parent, SIGCONT);
			snooze(150);
		}
		_exit(0);
	}
	for (int i = 0; i < CALLS; i++) {
		polls += poll(NULL, 0, 7) != 0;
		sleeps += nanosleep(&some, NULL) != 0;
	}
	shared->done = 1;
	waitpid(child, NULL, 0);
	printf("failed: %d polls, %d sleeps\n", polls, sleeps);
}

int main(int argc, char **argv)
{
	char name[] = "interrupted.XXXXXX";
	int other;

	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	sigemptyset(&none);
	epoll = epoll_create1(0);
	other = mkstemp(name);
	locked_fd = open(name, O_RDWR);
	unlink(name);
	if (pipe(pipe_ends) || flock(other, LOCK_EX))
		return 1;
	if (argc > 1 && !strcmp(argv[1], "unseen"))
		install = __sigaction;
	if (argc > 1 && !strcmp(argv[1], "trap"))
		number = SIGTRAP;
	if (argc > 1 && !strcmp(argv[1], "real"))
		number = SIGRTMAX - 1;
	stops_first = argc > 2;
	if (argc > 1 && !strcmp(argv[1], "stop"))
		stops();
	else if (argc > 1 && !strcmp(argv[1], "storm"))
		storm();
	else
		handlers();
	return 0;
}
