/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for what never comes, each in its own way, when the program ends (or becomes
 * another one, with an argument "exec"; or tries to, "fail", and ends a while later).  Prints for
 * each how long it has waited by then.  One has left such a wait by a jump and sleeps.
 */
#include "target.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>

/* The call before is none that takes the caller's place. */
#define STAY() __asm__ volatile("")

pthread_mutex_t the_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t the_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t the_condition = PTHREAD_COND_INITIALIZER;
sem_t the_semaphore;
pthread_spinlock_t the_spin;
static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t word;
static int silent[2], mute;
static sigjmp_buf back;
static volatile sig_atomic_t may_jump;

static NOINLINE void wait_mutex(void)
{
	pthread_mutex_lock(&the_mutex);
	STAY();
}

static NOINLINE void wait_lock(void)
{
	pthread_rwlock_rdlock(&the_lock);
	STAY();
}

static NOINLINE void wait_condition(void)
{
	pthread_mutex_lock(&own_mutex);
	pthread_cond_wait(&the_condition, &own_mutex);
	STAY();
}

static NOINLINE void wait_semaphore(void)
{
	sem_wait(&the_semaphore);
	STAY();
}

static NOINLINE void wait_futex(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	STAY();
}

static NOINLINE void wait_read(void)
{
	char byte;

	if (read(silent[0], &byte, 1) > 0)
		abort();
}

static NOINLINE void wait_stream(void)
{
	FILE *file = fdopen(silent[0], "r");

	if (fgetc(file) != EOF)
		abort();
}

static NOINLINE void wait_poll(void)
{
	struct pollfd fd = {.fd = silent[0], .events = POLLIN};

	poll(&fd, 1, -1);
	STAY();
}

static NOINLINE void wait_accept(void)
{
	accept(mute, NULL, NULL);
	STAY();
}

static NOINLINE void wait_spinning(void)
{
	pthread_spin_lock(&the_spin);
	STAY();
}

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Its wait has ended, without a word. */
static NOINLINE void wait_nowhere(void)
{
	if (!sigsetjmp(back, 1)) {
		may_jump = 1;
		sem_wait(&the_semaphore);
	}
	for (;;)
		pause();
}

static const struct {
	const char *name;
	void (*wait)(void);
} waits[] = {{"mutex", wait_mutex},	    {"lock", wait_lock},      {"condition", wait_condition},
	     {"semaphore", wait_semaphore}, {"futex", wait_futex},    {"read", wait_read},
	     {"stream", wait_stream},	    {"poll", wait_poll},      {"accept", wait_accept},
	     {"spinning", wait_spinning},   {"nowhere", wait_nowhere}};

enum { WAITS = sizeof(waits) / sizeof(waits[0]) };

static double begun[WAITS];

static void *run(void *number)
{
	begun[(intptr_t)number] = wall_now();
	waits[(intptr_t)number].wait();
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec while_waiting = {.tv_nsec = 200000000};
	const char *how = argc > 1 ? argv[1] : "exit";
	pthread_t thread;

	signal(SIGUSR1, jump);
	pthread_mutex_lock(&the_mutex);
	pthread_rwlock_wrlock(&the_lock);
	sem_init(&the_semaphore, 0, 0);
	pthread_spin_init(&the_spin, 0);
	pthread_spin_lock(&the_spin);
	mute = socket(AF_UNIX, SOCK_STREAM, 0);
	if (pipe(silent) || bind(mute, (struct sockaddr *)&(struct sockaddr){AF_UNIX, ""}, 2) ||
	    listen(mute, 1))
		return 1;
	for (intptr_t i = 0; i < WAITS; i++) {
		pthread_create(&thread, NULL, run, (void *)i);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	while (!may_jump)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	pthread_kill(thread, SIGUSR1);
	nanosleep(&while_waiting, NULL);
	for (int i = 0; i < WAITS; i++)
		printf("%s %.6f\n", waits[i].name, wall_now() - begun[i]);
	fflush(stdout);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(how, "fail") && execl("/", "nowhere", NULL) < 0)
		nanosleep(&while_waiting, NULL);
	exit(0);
}
