/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that a signal ends early even where the handler has SA_RESTART
 * (signal(7)), in a loop with a short computation before it, so that a profiler often finds
 * the thread running just as the call begins.  Nobody sends this program a signal but
 * itself: each count of what went wrong must be 0.
 *
 * Arguments: seconds per call; the name of the only call to make.
 */
#include "target.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>

static volatile uint64_t sink;
static volatile sig_atomic_t handled;

static const struct timespec nap = {0, 50 * 1000};
static int queue, semaphores, epoll, pair[2], listener;
static sem_t semaphore;
static sigset_t usr1;

static struct timespec after_nap(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += nap.tv_nsec;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

static void setup(void)
{
	const struct timeval limit = {0, 1000};
	const struct sockaddr any = {.sa_family = AF_UNIX}; /* a name of the kernel's choice */

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	epoll = epoll_create1(0);
	sem_init(&semaphore, 0, 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    bind(listener, &any, sizeof(any.sa_family)) || listen(listener, 1) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		exit(1);
}

/* Each returns 0 when the call ended by its timeout, else errno (or -1: it ended otherwise). */

static int ended(long result, int timeout)
{
	return result >= 0 ? -1 : errno == timeout ? 0 : errno;
}

static int expired(long result)
{
	return result < 0 ? errno : result > 0 ? -1 : 0;
}

static int call_nanosleep(void)
{
	return expired(nanosleep(&nap, NULL));
}

static int call_nanosleep_rest(void)
{
	struct timespec rest;

	return expired(nanosleep(&nap, &rest));
}

static int call_clock_nanosleep(void)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static int call_clock_nanosleep_until(void)
{
	struct timespec until = after_nap(CLOCK_REALTIME);

	return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
}

static int call_usleep(void)
{
	return expired(usleep(50));
}

static int call_poll(void)
{
	return expired(poll(NULL, 0, 1));
}

static int call_ppoll(void)
{
	return expired(ppoll(NULL, 0, &nap, &usr1));
}

static int call_select(void)
{
	struct timeval time = {0, 50};

	return expired(select(0, NULL, NULL, NULL, &time));
}

static int call_pselect(void)
{
	return expired(pselect(0, NULL, NULL, NULL, &nap, &usr1));
}

static int call_epoll_wait(void)
{
	struct epoll_event event;

	return expired(epoll_wait(epoll, &event, 1, 1));
}

static int call_epoll_pwait(void)
{
	struct epoll_event event;

	return expired(epoll_pwait(epoll, &event, 1, 1, &usr1));
}

static int call_epoll_pwait2(void)
{
	struct epoll_event event;

	return expired(epoll_pwait2(epoll, &event, 1, &nap, NULL));
}

static int call_sem_timedwait(void)
{
	struct timespec until = after_nap(CLOCK_REALTIME);

	return ended(sem_timedwait(&semaphore, &until), ETIMEDOUT);
}

static int call_sem_clockwait(void)
{
	struct timespec until = after_nap(CLOCK_MONOTONIC);

	return ended(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), ETIMEDOUT);
}

static int call_sigtimedwait(void)
{
	return ended(sigtimedwait(&usr1, NULL, &nap), EAGAIN);
}

static int call_futex(void)
{
	static int word;

	return ended(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0), ETIMEDOUT);
}

static int call_semtimedop(void)
{
	struct sembuf take = {0, -1, 0};

	return ended(semtimedop(semaphores, &take, 1, &nap), EAGAIN);
}

static int call_recv(void)
{
	char byte;

	return ended(recv(pair[0], &byte, 1, 0), EAGAIN);
}

static int call_accept(void)
{
	return ended(accept(listener, NULL, NULL), EAGAIN);
}

static void on_alarm(int signal)
{
	handled++;
}

static void alarms(int signal, long usec)
{
	const struct itimerval every = {{0, usec}, {0, usec}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(signal, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* The calls without a timeout: they end by our own alarm, and by nothing else. */
static int call_pause(void)
{
	int before = handled;

	alarms(SIGALRM, 300);
	int result = ended(pause(), EINTR);
	alarms(SIGALRM, 0);
	return handled == before ? -1 : result;
}

/* The alarm is let in by the call alone: each call lets in exactly one. */
static int call_sigsuspend(void)
{
	sigset_t alarm, before;
	int count = handled;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &before);
	alarms(SIGALRM, 300);
	int result = ended(sigsuspend(&before), EINTR);
	alarms(SIGALRM, 0);
	result = handled == count + 1 ? result : -1;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}

static int call_sigwait(void)
{
	sigset_t alarm, before;
	int number = 0, count = handled;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &before);
	alarms(SIGALRM, 300);
	int result = sigwait(&alarm, &number);
	alarms(SIGALRM, 0);
	result = number == SIGALRM && handled == count ? result : -1;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}

static int call_msgrcv(void)
{
	struct {
		long type;
		char text[1];
	} message;
	int count = handled;

	alarms(SIGALRM, 300);
	int result = ended(msgrcv(queue, &message, 1, 0, 0), EINTR);
	alarms(SIGALRM, 0);
	return handled == count ? -1 : result;
}

static const struct {
	const char *name;
	int (*make)(void);
} calls[] = {
#define X(name)                                                                                    \
	{                                                                                          \
#name, call_##name                                                                 \
	}
	X(nanosleep),	  X(nanosleep_rest), X(clock_nanosleep), X(clock_nanosleep_until),
	X(usleep),	  X(poll),	     X(ppoll),		 X(select),
	X(pselect),	  X(epoll_wait),     X(epoll_pwait),	 X(epoll_pwait2),
	X(sem_timedwait), X(sem_clockwait),  X(sigtimedwait),	 X(futex),
	X(semtimedop),	  X(recv),	     X(accept),		 X(pause),
	X(sigsuspend),	  X(sigwait),	     X(msgrcv),
#undef X
};

/* Seconds are wall time: most of it is spent waiting. */
static void repeat(const char *name, int (*make)(void), double seconds)
{
	double end = wall_now() + seconds;
	long interrupted = 0, wrong = 0, rounds = 0;

	do {
		sink += churn(sink | 1, 1000 + rounds++ * 37 % 4000);
		errno = 77;
		int result = make();

		interrupted += result == EINTR;
		wrong += result && result != EINTR;
	} while (wall_now() < end);
	printf("%s interrupted %ld wrong %ld\n", name, interrupted, wrong);
	fprintf(stderr, "%s %ld rounds\n", name, rounds);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.1;

	setup();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (argc < 3 || !strcmp(argv[2], calls[i].name))
			repeat(calls[i].name, calls[i].make, seconds);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	return 0;
}
