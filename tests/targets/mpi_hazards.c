/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs of MPI do that profilers do not expect, one after the other, a barrier and a
 * message around each: a handler of errors that jumps, a timer's signal, a library opened and
 * closed, a child that is forked and one that is executed, an environment that is emptied, a deep
 * stack, and a stack of its own for handlers of signals.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
static jmp_buf place;
static volatile sig_atomic_t ticks;

static void failed(MPI_Comm *comm, int *error, ...)
{
	(void)comm;
	(void)error;
	longjmp(place, 1);
}

static void error_that_jumps(void)
{
	MPI_Errhandler handler;
	int value = 0;

	MPI_Comm_create_errhandler(failed, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	if (!setjmp(place))
		MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
	else
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&handler);
}

static void on_tick(int number)
{
	(void)number;
	ticks++;
}

static void timer(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
	static char stack[1 << 16];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&own, NULL);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	while (ticks < 20)
		;
	MPI_Barrier(MPI_COMM_WORLD);
	setitimer(ITIMER_PROF, &never, NULL);
}

static void library(void)
{
	for (int i = 0; i < 20; i++) {
		void *opened = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);

		if (opened)
			dlclose(opened);
	}
}

static void children(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(7);
	waitpid(child, &status, 0);
	if (WEXITSTATUS(status) != 7 || system("exit 3") != 3 << 8)
		printf("rank %d: children\n", rank);
}

static void environment(void)
{
	clearenv();
	children();
}

static __attribute__((noinline)) int deep(int depth)
{
	volatile int here = depth;

	if (depth)
		return deep(depth - 1) + here - depth;
	MPI_Barrier(MPI_COMM_WORLD);
	return here;
}

static void stack(void)
{
	deep(5000);
}

int main(int count, char **arguments)
{
	void (*const parts[])(void) = {error_that_jumps, timer, library,
				       children,	 stack, environment};
	int from = 0, to = 0;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		parts[i]();
		MPI_Sendrecv(&from, 1, MPI_INT, (rank + 1) % size, 1, &to, 1, MPI_INT,
			     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		from = to + 1;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("rank %d: %d\n", rank, from);
	MPI_Finalize();
	return 0;
}
