/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of every kind, each in a function of its own, which a second thread or a child ends: for
 * locks of all kinds, for a pipe, a child and the clock, for a page (userfaultfd: no device's
 * speed matters), and stopped by SIGSTOP while it computes.  Before and behind each wait it
 * computes for a moment.  Prints how long each wait was at most, as the waiter saw it, and at
 * least: until that moved which ended it.  Between the two lies the time until the waiter got a
 * processor.
 *
 * Arguments: seconds per wait; the names of the only waits to make.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096 };

static double duration = 0.1;
static volatile uint64_t sink;
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static _Atomic uint32_t word;
static atomic_bool ready;
static bool signalled;
static int ends[2], faults;
static pid_t child;
static char *missing;
static pthread_t second;
static double *released; /* shared with children: when a wait was ended */

static void sleep_for(double seconds)
{
	struct timespec time = {(time_t)seconds, 0};

	time.tv_nsec = (long)((seconds - time.tv_sec) * 1e9);
	nanosleep(&time, NULL);
}

static void nap(void)
{
	sleep_for(duration);
	*released = wall_now();
}

/* ---- what the second thread does ---- */

static void end_barrier(void)
{
	nap();
	pthread_barrier_wait(&barrier);
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
	ready = true;
	nap();
	pthread_mutex_unlock(&mutex);
}

static void hold_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	ready = true;
	nap();
	pthread_rwlock_unlock(&rwlock);
}

static void end_condition(void)
{
	nap();
	pthread_mutex_lock(&condition_mutex);
	signalled = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&condition_mutex);
}

static void slow_routine(void)
{
	ready = true;
	nap();
}

static void run_once(void)
{
	pthread_once(&once, slow_routine);
}

static void end_semaphore(void)
{
	nap();
	sem_post(&semaphore);
}

static void end_futex(void)
{
	nap();
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void end_pipe(void)
{
	nap();
	if (write(ends[1], "x", 1) != 1)
		abort();
}

/* Puts the page there for which the first thread waits. */
static void end_fault(void)
{
	static char page[PAGE];
	struct uffd_msg message;
	struct uffdio_copy copy = {.dst = (uintptr_t)missing, .src = (uintptr_t)page, .len = PAGE};

	if (read(faults, &message, sizeof(message)) != sizeof(message))
		abort();
	nap();
	if (ioctl(faults, UFFDIO_COPY, &copy))
		abort();
}

/* ---- the waits ---- */

static NOINLINE void wait_barrier(void)
{
	pthread_barrier_wait(&barrier);
	sink++;
}

static NOINLINE void wait_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static NOINLINE void wait_rwlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void wait_condition(void)
{
	pthread_mutex_lock(&condition_mutex);
	while (!signalled)
		pthread_cond_wait(&condition, &condition_mutex);
	pthread_mutex_unlock(&condition_mutex);
}

static NOINLINE void wait_once(void)
{
	pthread_once(&once, slow_routine);
	sink++;
}

static NOINLINE void wait_semaphore(void)
{
	while (sem_wait(&semaphore))
		;
}

static NOINLINE void wait_futex(void)
{
	while (!word)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static NOINLINE void wait_join(void)
{
	pthread_join(second, NULL);
	second = 0;
}

static NOINLINE void wait_pipe(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
}

static NOINLINE void wait_poll(void)
{
	*released = wall_now() + duration;
	poll(NULL, 0, (int)(duration * 1e3));
	sink++;
}

static NOINLINE void wait_sleep(void)
{
	*released = wall_now() + duration;
	sleep_for(duration);
	sink++;
}

static NOINLINE void wait_child(void)
{
	waitpid(child, NULL, 0);
	sink++;
}

static NOINLINE void wait_fault(void)
{
	sink += (uint64_t) * (volatile char *)missing;
}

/* Until the kernel says that a process is stopped. */
static void await_stop(pid_t process)
{
	char path[64], line[512];
	const char *state = NULL;

	snprintf(path, sizeof(path), "/proc/%d/stat", process);
	while (!state || state[2] != 'T') {
		FILE *file = fopen(path, "r");

		if (!file || !fgets(line, sizeof(line), file))
			_exit(1);
		fclose(file);
		state = strrchr(line, ')');
	}
}

static double *stopped; /* shared with the child: when it knew that we were */

/* A child stops us while we compute; then we go on for a while, as a program does. */
static NOINLINE void compute_stopped(void)
{
	double end = 0;

	while (!end || cpu_now() < end) {
		sink += churn(sink | 1, 500);
		if (!end && *(volatile double *)released > 0)
			end = cpu_now() + 0.03;
	}
}

static void run_stop(void)
{
	pid_t parent = getpid();

	*released = 0;
	child = fork();
	if (child == 0) {
		sleep_for(0.02);
		kill(parent, SIGSTOP);
		await_stop(parent);
		*stopped = wall_now();
		nap();
		kill(parent, SIGCONT);
		_exit(0);
	}
	compute_stopped();
	printf("stop.least %.6f\n", *released - *stopped);
	waitpid(child, NULL, 0);
}

/* ---- one after the other ---- */

static void *run_helper(void *helper)
{
	((void (*)(void))helper)();
	return NULL;
}

static void compute(void)
{
	double end = cpu_now() + 0.01;

	while (cpu_now() < end)
		sink += churn(sink | 1, 10000);
}

static bool prepare_fault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	missing = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)missing;
	range.range.len = PAGE;
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	return missing != MAP_FAILED && faults >= 0 && !ioctl(faults, UFFDIO_API, &api) &&
	       !ioctl(faults, UFFDIO_REGISTER, &range);
}

static void run_in_child(void)
{
	child = fork();
	if (child == 0) {
		nap();
		_exit(0);
	}
}

static void run(const char *name, void (*wait)(void), void (*helper)(void), bool holds)
{
	ready = false;
	compute();
	if (wait == wait_child)
		run_in_child();
	if (helper)
		pthread_create(&second, NULL, run_helper, (void *)helper);
	while (holds && !ready)
		sched_yield();
	double begin = wall_now();

	wait();
	printf("%s %.6f\n", name, wall_now() - begin);
	printf("%s.least %.6f\n", name, *released > begin ? *released - begin : 0);
	compute();
	if (helper && second)
		pthread_join(second, NULL);
}

static const struct {
	const char *name;
	void (*wait)(void);
	void (*helper)(void);
	bool holds; /* begins when the helper has what is waited for */
} waits[] = {
	{"barrier", wait_barrier, end_barrier, false},
	{"mutex", wait_mutex, hold_mutex, true},
	{"rwlock", wait_rwlock, hold_rwlock, true},
	{"condition", wait_condition, end_condition, false},
	{"once", wait_once, run_once, true},
	{"semaphore", wait_semaphore, end_semaphore, false},
	{"futex", wait_futex, end_futex, false},
	{"join", wait_join, nap, false},
	{"pipe", wait_pipe, end_pipe, false},
	{"poll", wait_poll, NULL, false},
	{"sleep", wait_sleep, NULL, false},
	{"child", wait_child, NULL, false},
};

static bool wanted(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 3;
}

int main(int argc, char **argv)
{
	released = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	stopped = released + 1;
	duration = argc > 1 ? strtod(argv[1], NULL) : duration;
	if (pipe(ends) || pthread_barrier_init(&barrier, NULL, 2) || sem_init(&semaphore, 0, 0))
		return 1;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (wanted(argc, argv, waits[i].name))
			run(waits[i].name, waits[i].wait, waits[i].helper, waits[i].holds);
	if (wanted(argc, argv, "fault") && prepare_fault())
		run("fault", wait_fault, end_fault, false);
	if (wanted(argc, argv, "stop"))
		run_stop();
	return 0;
}
