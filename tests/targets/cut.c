/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: cut SECONDS [WORDS]: allocates, locks, writes and computes in two threads of a process and
 * of its child for so long, whatever happens to files that belong to who watches it.  WORDS: b all
 * signals are blocked, h a handler for SIGBUS, s the threads sleep, d it ends by a fault.  Faults
 * and signals of its own are what they are without anybody.  Prints what it saw.
 */
#include "target.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const char *words = "";
static double seconds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf back;
static volatile char *own; /* a page of a file that the program has cut itself */
static char alternate[64 * 1024];
static int faults, sent, strange;

static bool on_alternate(void)
{
	const char *here = __builtin_frame_address(0);

	return here >= alternate && here < alternate + sizeof(alternate);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)context;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	strange += on_alternate() || !sigismember(&mask, number) || !sigismember(&mask, SIGUSR2) ||
		   sigismember(&mask, SIGTERM);
	if (info->si_code <= 0) {
		sent++;
		return;
	}
	faults++;
	strange += info->si_addr != own || info->si_code != BUS_ADRERR;
	siglongjmp(back, 1);
}

/* On the program's own stack: it has not asked for the other one. */
static void handle(void)
{
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, seen;
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

	sigaltstack(&stack, NULL);
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGBUS, NULL, &seen);
	strange += seen.sa_sigaction != on_bus || seen.sa_flags & SA_ONSTACK;
}

static void fault(void)
{
	if (!sigsetjmp(back, 1))
		*own = 1;
	raise(SIGBUS);
}

static void open_own(void)
{
	FILE *file = tmpfile();

	own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
}

static void *work(void *unused)
{
	double end = wall_now() + seconds;
	FILE *null = fopen("/dev/null", "w");

	(void)unused;
	while (wall_now() < end) {
		if (strchr(words, 's')) {
			usleep(50 * 1000);
			continue;
		}
		for (int i = 0; i < 200; i++) {
			char *block = malloc((size_t)i * 8 + 1);

			pthread_mutex_lock(&lock);
			block[0] = (char)i;
			pthread_mutex_unlock(&lock);
			free(block);
		}
		fputc('x', null);
		fflush(null);
	}
	fclose(null);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	sigset_t all, mask;
	int status;

	seconds = count > 1 ? atof(arguments[1]) : 1;
	words = count > 2 ? arguments[2] : "";
	sigfillset(&all);
	if (strchr(words, 'b'))
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (strchr(words, 'h'))
		handle();
	open_own();
	pid_t child = fork();
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3 && strchr(words, 'h'); i++)
		fault();
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	strange += sigismember(&mask, SIGBUS) != !!strchr(words, 'b');
	if (!child)
		_exit(strange);
	waitpid(child, &status, 0);
	printf("child %x faults %d sent %d strange %d\n", (unsigned)status, faults, sent, strange);
	if (strchr(words, 'd'))
		*own = 1;
	return 0;
}
