/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what its arguments say, one after the other, for tests of the control of a recording:
 *
 *   seen:S, hidden:S   S seconds of CPU time in the function of that name
 *   deep:S             the same in recursions that are different each time
 *   sleep:S            one nanosleep
 *   sleepers:N         N threads that sleep from now to the end
 *   kill:N             signal N to itself
 *   handle:N           count signal N from here on
 *   block:N, wait:N    block signal N; sigwait for it
 *   meet:NAME          make the file NAME.here and wait for NAME.go
 *   fork               the steps after this one are done by a child too, which has "child:"
 *                      before each line that it prints
 *   system:COMMAND     system(3)
 *
 * At the end it prints how many signals it handled, and how many of its sleeps were interrupted.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static volatile uint64_t sink;
static volatile sig_atomic_t handled;
static int interrupted;
static const char *who = "";

#define BURN(name, factor)                                                                         \
	static NOINLINE void name(double seconds)                                                  \
	{                                                                                          \
		for (double end = cpu_now() + seconds; cpu_now() < end;)                           \
			for (int i = 0; i < 20000; i++)                                            \
				sink = sink * (factor) + 1;                                        \
	}
BURN(seen, 3)
BURN(hidden, 5)

/* Two ways to each level: a stack that was never there before, nearly always. */
static NOINLINE uint64_t dig(uint64_t path, int level)
{
	uint64_t below;

	if (!level)
		return churn(path | 1, 20000);
	if (path >> level % 64 & 1)
		below = dig(path * 3, level - 1) + 1;
	else
		below = dig(path * 5, level - 1) + 2;
	__asm__ volatile("" : "+r"(below)); /* keeps the recursion a recursion */
	return below;
}

static NOINLINE void deep(double seconds)
{
	enum { LEVELS = 300 };
	double end = cpu_now() + seconds;

	while (cpu_now() < end)
		sink = dig(churn(sink | 1, 10), LEVELS);
}

static void sleep_for(double seconds)
{
	struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};

	while (nanosleep(&time, &time))
		interrupted++;
}

static void *sleep_on(void *unused)
{
	while (1)
		sleep(1000);
	return unused;
}

static void make_sleepers(int count)
{
	pthread_t thread;

	while (count--)
		if (pthread_create(&thread, NULL, sleep_on, NULL))
			exit(1);
}

static void on_signal(int number)
{
	handled++;
}

static void meet(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s.here", name, *who ? ".child" : "");
	close(open(path, O_CREAT | O_WRONLY, 0644));
	snprintf(path, sizeof(path), "%s.go", name);
	for (int tries = 0; tries < 6000 && access(path, F_OK); tries++)
		sleep_for(0.005);
}

static sigset_t set_of(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	return set;
}

static void block(int number)
{
	sigset_t set = set_of(number);

	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void await(int number)
{
	sigset_t set = set_of(number);
	int got = 0;

	sigwait(&set, &got);
	printf("%swaited %d\n", who, got);
}

static void do_signal_step(const char *name, int number)
{
	if (!strcmp(name, "kill"))
		kill(getpid(), number);
	else if (!strcmp(name, "handle"))
		signal(number, on_signal);
	else if (!strcmp(name, "block"))
		block(number);
	else if (!strcmp(name, "wait"))
		await(number);
}

static void do_step(const char *name, const char *argument)
{
	if (!strcmp(name, "seen"))
		seen(strtod(argument, NULL));
	else if (!strcmp(name, "hidden"))
		hidden(strtod(argument, NULL));
	else if (!strcmp(name, "deep"))
		deep(strtod(argument, NULL));
	else if (!strcmp(name, "sleep"))
		sleep_for(strtod(argument, NULL));
	else if (!strcmp(name, "sleepers"))
		make_sleepers((int)strtol(argument, NULL, 10));
	else if (!strcmp(name, "meet"))
		meet(argument);
	else if (!strcmp(name, "system"))
		printf("%sstatus %d\n", who, system(argument));
	else if (!strcmp(name, "fork") && !fflush(stdout))
		who = fork() ? who : "child:";
	else
		do_signal_step(name, (int)strtol(argument, NULL, 10));
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *argument = strchr(argv[i], ':');

		if (argument)
			*argument++ = '\0';
		do_step(argv[i], argument ? argument : "");
	}
	printf("%shandled %d\n%sinterrupted %d\n%scpu %.6f\n", who, (int)handled, who, interrupted,
	       who, cpu_now());
	fflush(stdout);
	if (!*who)
		while (wait(NULL) > 0)
			;
	return 0;
}
