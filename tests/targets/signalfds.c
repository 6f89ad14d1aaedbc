/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that another process sends, of numbers that a profiler may use, taken without a handler:
 * by signalfd, read, polled or in an epoll set, and by sigtimedwait, also by number.  The sender
 * waits until the taker is asleep, so each signal ends one wait; between them there is nothing to
 * take.
 *
 * Argument "threads": while another thread computes.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

enum { ROUNDS = 30 };

static struct {
	_Atomic int asking; /* the number of a signal to send, when the taker sleeps */
	_Atomic int done;
} * shared;

static volatile uint64_t sink;
static volatile int stop;
static int numbers[3], blocking, polled, epoll;
static pid_t sender;
static sigset_t set;

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

static void serve(pid_t parent)
{
	const struct timespec some = {0, 20000};

	while (!shared->done) {
		if (!shared->asking || !asleep(parent)) {
			nanosleep(&some, NULL);
			continue;
		}
		kill(parent, atomic_exchange(&shared->asking, 0));
	}
	_exit(0);
}

static NOINLINE void work(double seconds)
{
	double end = cpu_now() + seconds;

	while (cpu_now() < end)
		sink += churn(sink | 1, 1000);
}

static void *compute(void *unused)
{
	while (!stop)
		work(0.001);
	return unused;
}

/* The number of the one record that is there; 0: none, or not what was sent. */
static int record(int fd)
{
	struct signalfd_siginfo info[4];
	ssize_t got = read(fd, info, sizeof(info));

	return got == sizeof(info[0]) && info[0].ssi_code == SI_USER &&
			       info[0].ssi_pid == (uint32_t)sender
		       ? (int)info[0].ssi_signo
		       : 0;
}

static int take_read(void)
{
	return record(blocking);
}

static int take_poll(void)
{
	struct pollfd one = {.fd = polled, .events = POLLIN};

	return poll(&one, 1, -1) == 1 ? record(polled) : 0;
}

static int take_poll_timed(void)
{
	struct pollfd one = {.fd = polled, .events = POLLIN};

	return poll(&one, 1, 60 * 1000) == 1 ? record(polled) : 0;
}

static int take_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, -1) == 1 ? record(polled) : 0;
}

static int take_wait(void)
{
	const struct timespec limit = {60, 0};
	siginfo_t info;
	int number = sigtimedwait(&set, &info, &limit);

	return info.si_code == SI_USER && info.si_pid == sender ? number : 0;
}

static int take_by_number(void)
{
	const struct timespec limit = {60, 0};
	siginfo_t info;
	int number = (int)syscall(SYS_rt_sigtimedwait, &set, &info, &limit, 8);

	return info.si_code == SI_USER && info.si_pid == sender ? number : 0;
}

/* A wait that nothing ends, for all signals: each that comes is foreign. */
static int wait_for_all(int by_number)
{
	const struct timespec some = {0, 3000000};
	sigset_t all;

	sigfillset(&all);
	if (by_number)
		return syscall(SYS_rt_sigtimedwait, &all, NULL, &some, 8) != -1;
	return sigtimedwait(&all, NULL, &some) != -1;
}

/* True if there is something to take that nobody has sent. */
static int something(void)
{
	struct pollfd both[2] = {{.fd = polled, .events = POLLIN},
				 {.fd = blocking, .events = POLLIN}};
	struct signalfd_siginfo info;
	struct epoll_event event;
	sigset_t pending, by_number;

	sigpending(&pending);
	sigemptyset(&by_number);
	syscall(SYS_rt_sigpending, &by_number, 8);
	return poll(both, 2, 0) || epoll_wait(epoll, &event, 1, 0) ||
	       read(polled, &info, sizeof(info)) != -1 || errno != EAGAIN ||
	       sigismember(&pending, SIGTRAP) || sigismember(&pending, SIGRTMAX - 1) ||
	       sigismember(&by_number, SIGTRAP) || sigismember(&by_number, SIGRTMAX - 1);
}

static const struct {
	const char *name;
	int (*take)(void);
} ways[] = {{"read", take_read},
	    {"poll", take_poll},
	    {"poll_timed", take_poll_timed},
	    {"epoll_wait", take_epoll},
	    {"sigtimedwait", take_wait},
	    {"rt_sigtimedwait", take_by_number}};

static void try_way(const char *name, int (*take)(void))
{
	int wrong = 0, foreign = 0;

	for (int i = 0; i < ROUNDS; i++) {
		foreign += something();
		work(0.001);
		foreign += something();
		shared->asking = numbers[i % 3];
		wrong += take() != numbers[i % 3];
		work(0.001);
		foreign += wait_for_all(i % 2);
	}
	printf("%s: %d signals, wrong %d, foreign %d\n", name, ROUNDS, wrong, foreign);
}

static void make_descriptors(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	blocking = signalfd(-1, &set, SFD_CLOEXEC);
	polled = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, polled, &event);
}

int main(int argc, char **argv)
{
	pid_t parent = getpid();
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	numbers[0] = SIGTRAP;
	numbers[1] = SIGRTMAX - 1;
	numbers[2] = SIGUSR1;
	sigemptyset(&set);
	for (int i = 0; i < 3; i++)
		sigaddset(&set, numbers[i]);
	sender = fork();
	if (sender == 0)
		serve(parent);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	make_descriptors();
	if (argc > 1)
		pthread_create(&thread, NULL, compute, NULL);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		try_way(ways[i].name, ways[i].take);
	stop = 1;
	shared->done = 1;
	waitpid(sender, NULL, 0);
	if (argc > 1)
		pthread_join(thread, NULL);
	return 0;
}
