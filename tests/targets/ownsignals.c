/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses signals in all the ways that a profiler could spoil, and prints what it
 * saw.  Every number is known by construction.
 *
 *   raised       raise(), pthread_kill, kill and sigqueue, with a bit of work between
 *   timers       interval and POSIX timers: at least so many expirations, and none of anybody else
 *   handlers     what a handler finds: the mask, the alternate stack, SA_RESETHAND, a longjmp out
 */
#include "target.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

enum { ROUNDS = 2000 };

static const int numbers[] = {SIGPROF, SIGTRAP, SIGALRM, SIGVTALRM, SIGUSR1};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static volatile uint64_t sink;
static volatile sig_atomic_t seen[65], foreign;
static volatile sig_atomic_t value_sum;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	errno = ENOTBLK;
	if (info->si_code > 0 && info->si_code != SI_KERNEL)
		foreign++;
	if (info->si_code == SI_QUEUE)
		value_sum += info->si_value.sival_int;
	seen[number]++;
}

static void handle(int number, int flags)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

	action.sa_sigaction = on_signal;
	sigaction(number, &action, NULL);
}

static NOINLINE void work(void)
{
	sink += churn(sink | 1, 300);
}

static void print_seen(const char *what)
{
	for (int i = 0; i < NUMBERS; i++) {
		printf("%s.%d %d\n", what, numbers[i], (int)seen[numbers[i]]);
		seen[numbers[i]] = 0;
	}
	printf("%s.foreign %d\n", what, (int)foreign);
	foreign = 0;
}

static volatile int stop;

static void *victim(void *unused)
{
	(void)unused;
	while (!stop)
		work();
	return NULL;
}

static void wait_for(int number, int count)
{
	for (unsigned rounds = 1; seen[number] < count; rounds++) {
		work();
		if (rounds % 64 == 0)
			sched_yield(); /* where there is one processor the other may have it */
	}
}

static void raised(void)
{
	union sigval value = {.sival_int = 3};
	pthread_t thread;

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < NUMBERS; i++) {
			raise(numbers[i]);
			work();
		}
	print_seen("raise");
	pthread_create(&thread, NULL, victim, NULL);
	for (int round = 0; round < ROUNDS / 4; round++)
		for (int i = 0; i < NUMBERS; i++) {
			/* A signal sent to a thread may merge with one of the same number that it
			 * has: the perf engine's SIGTRAP. */
			if (numbers[i] == SIGTRAP)
				kill(getpid(), SIGTRAP);
			else
				pthread_kill(thread, numbers[i]);
			wait_for(numbers[i], round + 1);
		}
	stop = 1;
	pthread_join(thread, NULL);
	print_seen("kill");
	for (int round = 0; round < ROUNDS / 4; round++) {
		sigqueue(getpid(), SIGPROF, value);
		wait_for(SIGPROF, round + 1);
	}
	printf("values %d\n", (int)value_sum);
	print_seen("queue");
}

static volatile sig_atomic_t notified;

static void on_notify(union sigval value)
{
	notified += value.sival_int;
}

static int enough(int number, int least)
{
	int count = seen[number];

	seen[number] = 0;
	return count >= least;
}

static void compute(double seconds)
{
	double end = wall_now() + seconds;

	while (wall_now() < end)
		work();
}

static void interval_timer(int which, int number)
{
	struct itimerval every = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};
	double most = cpu_now() + 2;

	setitimer(which, &every, NULL);
	while (seen[number] < 5 && cpu_now() < most)
		work();
	setitimer(which, &off, NULL);
	printf("itimer.%d %d\n", number, enough(number, 5));
}

static void posix_timer(int notify, int number)
{
	struct sigevent event = {.sigev_notify = notify, .sigev_signo = number};
	struct itimerspec every = {{0, 5000000}, {0, 5000000}};
	volatile sig_atomic_t *count = notify == SIGEV_THREAD ? &notified : &seen[number];
	double most = cpu_now() + 2;
	timer_t timer;

	event.sigev_value.sival_int = 1;
	if (notify == SIGEV_THREAD)
		event.sigev_notify_function = on_notify;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		printf("timer_create failed: %d\n", errno);
	timer_settime(timer, 0, &every, NULL);
	while (*count < 5 && cpu_now() < most)
		work();
	timer_delete(timer);
	compute(0.02);
	printf("timer.%d.%d %d\n", notify, number,
	       notify == SIGEV_THREAD ? notified >= 5 : enough(number, 5));
}

static char alternate[64 * 1024];
static volatile sig_atomic_t on_alternate, masked, deliveries;
static sigjmp_buf back;

static void look(int number)
{
	char here;
	sigset_t mask;

	on_alternate = &here >= alternate && &here < alternate + sizeof(alternate);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	masked = sigismember(&mask, SIGUSR1) + 2 * sigismember(&mask, SIGUSR2) +
		 4 * (sigismember(&mask, number) && number != SIGTRAP);
	deliveries++;
}

static void jump_out(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void try_handler(int number, int flags)
{
	/* Two things that a profiler cannot hide: SIGTRAP comes on the alternate stack, unmasked.
	 */
	struct sigaction action = {.sa_flags = flags | (number == SIGTRAP ? SA_ONSTACK : 0),
				   .sa_handler = look};
	struct sigaction after;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(number, &action, NULL);
	deliveries = 0;
	raise(number);
	sigaction(number, NULL, &after);
	printf("handler.%d.%x stack %d mask %d count %d reset %d\n", number, (unsigned int)flags,
	       (int)on_alternate, (int)masked, (int)deliveries, after.sa_handler == SIG_DFL);
}

static void handlers(void)
{
	static const int flags[] = {0, (int)SA_RESETHAND, SA_NODEFER, SA_ONSTACK,
				    SA_ONSTACK | (int)SA_RESETHAND};
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)}, now;
	volatile int jumps = 0;
	sigset_t mask;

	sigaltstack(&stack, NULL);
	for (int i = 0; i < NUMBERS; i++)
		for (int k = 0; k < 5; k++)
			try_handler(numbers[i], flags[k]);
	signal(SIGPROF, jump_out);
	for (int i = 0; i < 100; i++) {
		if (!sigsetjmp(back, 1))
			raise(SIGPROF);
		jumps++;
	}
	sigaltstack(NULL, &now);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	printf("jumps %d stack_size %zu masked %d\n", jumps, now.ss_size,
	       sigismember(&mask, SIGPROF));
}

/* Blocked, sent, looked at, taken by hand. */
static void taken_by_hand(void)
{
	sigset_t set, pending;
	int number = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 200; i++) {
		raise(SIGPROF);
		work();
		sigpending(&pending);
		if (!sigismember(&pending, SIGPROF) || sigwait(&set, &number) || number != SIGPROF)
			printf("lost in round %d\n", i);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	printf("by_hand %d\n", number);
}

int main(void)
{
	for (int i = 0; i < NUMBERS; i++)
		handle(numbers[i], SA_RESTART);
	raised();
	interval_timer(ITIMER_PROF, SIGPROF);
	interval_timer(ITIMER_VIRTUAL, SIGVTALRM);
	interval_timer(ITIMER_REAL, SIGALRM);
	posix_timer(SIGEV_SIGNAL, SIGPROF);
	posix_timer(SIGEV_SIGNAL, SIGTRAP);
	posix_timer(SIGEV_THREAD, 0);
	handlers();
	taken_by_hand();
	return 0;
}
