/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ends HOW` works for a while, in work() and where its end passes, and then ends in that way.
 * Prints "lived SECONDS" and "worked SECONDS" of CPU as late as it can.  The last moments of
 * `killed_...` are timed by the process that kills.
 */
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

enum { WORK_MS = 100, KILL_AFTER_MS = 300 };

static volatile uint64_t sink;
static double start;

static NOINLINE void work(void)
{
	double end = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + WORK_MS / 1e3;

	while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		sink += churn(sink | 1, 10000);
}

static void say(double now)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "lived %.6f\nworked %.6f\n", now - start,
			      clock_seconds(CLOCK_PROCESS_CPUTIME_ID));

	if (write(1, line, (size_t)length) < 0)
		_exit(99);
}

/* Something in a handler of the end: its time is the program's too. */
static void work_last(void)
{
	work();
	say(wall_now());
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void by_abort(void)
{
	work_last();
	abort();
}

static void by_segv(void)
{
	work_last();
	*(volatile int *)0 = 0;
}

static void by__exit(void)
{
	work_last();
	_exit(21);
}

static void by__Exit(void)
{
	work_last();
	_Exit(22);
}

static void by_number(void)
{
	work_last();
	syscall(SYS_exit_group, 23);
}

static void by_quick_exit(void)
{
	at_quick_exit(work_last);
	quick_exit(24);
}

static void exit_again(void)
{
	work_last();
	exit(25);
}

static void by_exit_in_exit(void)
{
	atexit(exit_again);
	exit(1);
}

static void *exit_here(void *unused)
{
	(void)unused;
	work_last();
	exit(26);
}

static void by_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_here, NULL);
	for (;;)
		pause();
}

static void *work_here(void *unused)
{
	(void)unused;
	pause_ms(KILL_AFTER_MS);
	work_last();
	return NULL;
}

static void by_last_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work_here, NULL);
	pthread_exit(NULL);
}

/* Its handlers run on the thread that ends last, when its own end has begun. */
static void by_first_alone(void)
{
	atexit(work_last);
	pthread_exit(NULL);
}

static void *wait_here(void *unused)
{
	pause_ms(KILL_AFTER_MS);
	return unused;
}

static void by_last_at_exit(void)
{
	pthread_t thread;

	atexit(work_last);
	pthread_create(&thread, NULL, wait_here, NULL);
	pthread_exit(NULL);
}

/* When all handlers and destructors have run. */
static ssize_t write_last(void *unused, const char *text, size_t size)
{
	(void)unused;
	(void)text;
	work_last();
	return (ssize_t)size;
}

static void by_written_out(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_last});

	fputs("text", stream);
	exit(29);
}

/* The C library does not hear of it. */
static void end_by_number(int status)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(status) : "rcx", "r11", "memory");
}

static void by_raw_exit(void)
{
	work_last();
	end_by_number(27);
}

/* The thread that ends last did not begin first. */
static void *end_here(void *unused)
{
	work_here(unused);
	end_by_number(28);
	return NULL;
}

static void by_raw_exits(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_here, NULL);
	end_by_number(28);
}

/* For who comes meanwhile. */
static void raw_exit_later(void)
{
	if (puts("ready") < 0 || fflush(stdout) || getchar() < 0)
		_exit(99);
	by_raw_exit();
}

/* A child that kills its parent after a while, and says when. */
static void start_killer(void)
{
	pid_t victim = getpid();

	if (fork())
		return;
	pause_ms(KILL_AFTER_MS);
	clockid_t cpu;
	struct timespec worked = {0};
	if (!clock_getcpuclockid(victim, &cpu))
		clock_gettime(cpu, &worked);
	double now = wall_now();
	kill(victim, SIGKILL);
	while (!kill(victim, 0) && getppid() == victim)
		;
	printf("lived %.6f\nworked %.6f\n", now - start, worked.tv_sec + worked.tv_nsec / 1e9);
	fflush(stdout);
	_exit(0);
}

static void killed_waiting(void)
{
	start_killer();
	work();
	for (;;)
		pause();
}

static void killed_working(void)
{
	start_killer();
	for (;;)
		work();
}

static void child_killed(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		work();
		for (;;)
			pause();
	}
	double born = wall_now();

	pause_ms(KILL_AFTER_MS);
	kill(child, SIGKILL);
	double now = wall_now();

	waitpid(child, &status, 0);
	printf("child %d\nlived %.6f\n", (int)child, now - born);
	fflush(stdout);
	_exit(WTERMSIG(status));
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"abort", by_abort},
	{"segv", by_segv},
	{"_exit", by__exit},
	{"_Exit", by__Exit},
	{"exit_group", by_number},
	{"quick_exit", by_quick_exit},
	{"exit_in_exit", by_exit_in_exit},
	{"thread", by_thread},
	{"last_thread", by_last_thread},
	{"first_alone", by_first_alone},
	{"last_at_exit", by_last_at_exit},
	{"written_out", by_written_out},
	{"raw_exit", by_raw_exit},
	{"raw_exits", by_raw_exits},
	{"raw_exit_later", raw_exit_later},
	{"killed_waiting", killed_waiting},
	{"killed_working", killed_working},
	{"child_killed", child_killed},
};

int main(int argc, char **argv)
{
	start = wall_now();
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].run();
	return 1;
}
