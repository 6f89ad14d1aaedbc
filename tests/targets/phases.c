/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per way to spend time, each for about 0.3 s (or the first
 * argument, in seconds): computing, sleeping, waiting for descriptors, locks
 * and disks, faulting pages in, working in the kernel.  Prints what each took.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>

static double duration = 0.3;
static volatile uint64_t sink;
static int interrupted; /* calls that came back with EINTR */

static void note(int result)
{
	if (result < 0 && errno == EINTR)
		interrupted++;
}

static struct timespec timespec_of(double seconds)
{
	struct timespec time = {(time_t)seconds, 0};

	time.tv_nsec = (long)((seconds - time.tv_sec) * 1e9);
	return time;
}

static NOINLINE void phase_spin(void)
{
	double end = cpu_now() + duration;

	while (cpu_now() < end)
		sink += churn(sink | 1, 200000);
}

static NOINLINE void phase_nanosleep(void)
{
	struct timespec time = timespec_of(duration);

	note(nanosleep(&time, NULL));
}

static NOINLINE void phase_poll(void)
{
	note(poll(NULL, 0, (int)(duration * 1000)));
}

static NOINLINE void phase_select(void)
{
	struct timeval time = {(time_t)duration,
			       (suseconds_t)((duration - (time_t)duration) * 1e6)};

	note(select(0, NULL, NULL, NULL, &time));
}

static NOINLINE void phase_epoll(void)
{
	int epoll = epoll_create1(0);
	struct epoll_event event;

	note(epoll_wait(epoll, &event, 1, (int)(duration * 1000)));
	close(epoll);
}

static struct timespec deadline(void)
{
	return timespec_of(clock_seconds(CLOCK_REALTIME) + duration);
}

static NOINLINE void phase_cond(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec end = deadline();

	pthread_mutex_lock(&mutex);
	while (pthread_cond_timedwait(&cond, &mutex, &end) != ETIMEDOUT)
		continue;
	pthread_mutex_unlock(&mutex);
}

static NOINLINE void phase_sem(void)
{
	struct timespec end = deadline();
	sem_t sem;

	sem_init(&sem, 0, 0);
	note(sem_timedwait(&sem, &end));
	sem_destroy(&sem);
}

static void *write_later(void *argument)
{
	struct timespec time = timespec_of(duration);

	nanosleep(&time, NULL);
	if (write(*(int *)argument, "x", 1) != 1)
		abort();
	return NULL;
}

static NOINLINE void phase_pipe(void)
{
	pthread_t writer;
	int ends[2];
	char byte;

	if (pipe(ends) || pthread_create(&writer, NULL, write_later, &ends[1]))
		abort();
	note((int)read(ends[0], &byte, 1));
	pthread_join(writer, NULL);
	close(ends[0]);
	close(ends[1]);
}

static NOINLINE void phase_fsync(void)
{
	char name[] = "phases.XXXXXX";
	static char block[65536];
	double end = wall_now() + duration;
	int file = mkstemp(name);

	unlink(name);
	while (wall_now() < end) {
		if (pwrite(file, block, sizeof(block), 0) < 0)
			abort();
		note(fsync(file));
	}
	close(file);
}

static NOINLINE void phase_pagefault(void)
{
	double end = cpu_now() + duration;
	size_t size = 16 << 20;

	while (cpu_now() < end) {
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		madvise(memory, size, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < size; at += 4096)
			memory[at] = 1;
		munmap(memory, size);
	}
}

static NOINLINE void phase_readzero(void)
{
	static char buffer[1 << 20];
	double end = cpu_now() + duration;
	int file = open("/dev/zero", O_RDONLY);
	long partial = 0;

	while (cpu_now() < end)
		partial += read(file, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer);
	printf("readzero.partial %ld\n", partial);
	close(file);
}

static void run(const char *name, void (*phase)(void))
{
	struct rusage before, after;
	double wall = wall_now();
	double cpu = cpu_now();

	getrusage(RUSAGE_THREAD, &before);
	phase();
	cpu = cpu_now() - cpu;
	wall = wall_now() - wall;
	getrusage(RUSAGE_THREAD, &after);
	printf("%s.wall %.6f\n%s.cpu %.6f\n", name, wall, name, cpu);
	printf("%s.user %.6f\n", name,
	       timeval_seconds(after.ru_utime) - timeval_seconds(before.ru_utime));
	printf("%s.system %.6f\n", name,
	       timeval_seconds(after.ru_stime) - timeval_seconds(before.ru_stime));
}

int main(int argc, char **argv)
{
	double start = wall_now();

	if (argc > 1)
		duration = strtod(argv[1], NULL);
	run("spin", phase_spin);
	run("nanosleep", phase_nanosleep);
	run("poll", phase_poll);
	run("select", phase_select);
	run("epoll", phase_epoll);
	run("cond", phase_cond);
	run("sem", phase_sem);
	run("pipe", phase_pipe);
	run("fsync", phase_fsync);
	run("pagefault", phase_pagefault);
	run("readzero", phase_readzero);
	printf("interrupted %d\n", interrupted);
	print_usage(start);
	return 0;
}
