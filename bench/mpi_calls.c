/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls of MPI take, each kind so often: prints "NAME NS" for a call.  A rank that sends to
 * itself waits for nobody, so that nothing but the calls is measured; with two ranks, there and
 * back.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char out[64], in[64];

/* Where nobody is waited for, the process's own time: a busy machine makes no difference. */
static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void itself(long calls)
{
	double begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	MPI_Request request;

	for (long i = 0; i < calls; i++) {
		MPI_Irecv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
		MPI_Send(out, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	printf("itself %.0f\n", (now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)calls / 3);
}

static void reduction(long calls)
{
	double begin = now_ns(CLOCK_PROCESS_CPUTIME_ID), from = 1, to;

	for (long i = 0; i < calls; i++)
		MPI_Allreduce(&from, &to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	printf("reduction %.0f\n", (now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)calls);
}

static void pair(long calls, int rank)
{
	double begin = now_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < calls; i++) {
		if (rank)
			MPI_Recv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(out, 8, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
		if (!rank)
			MPI_Recv(in, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (!rank)
		printf("latency %.0f\n", (now_ns(CLOCK_MONOTONIC) - begin) / (double)calls / 2);
}

int main(int count, char **arguments)
{
	long calls = count > 1 ? strtol(arguments[1], NULL, 10) : 100000;
	int rank, size;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > 1) {
		pair(calls, rank);
	} else {
		itself(calls);
		reduction(calls);
	}
	MPI_Finalize();
	return 0;
}
