/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank 0 computes for half a second, while rank 1 waits for its message.  Each prints
 * "PID IN_MPI RECEIVING COMPUTING": how long its thread was in calls of MPI, in MPI_Recv alone, and
 * what it computed in CPU time, by its own clocks.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double in_mpi;

/* What a call takes, which is added to the time in MPI. */
#define CALL(call)                                                                                 \
	({                                                                                         \
		double begin = now(CLOCK_MONOTONIC);                                               \
                                                                                                   \
		call;                                                                              \
		begin = now(CLOCK_MONOTONIC) - begin;                                              \
		in_mpi += begin;                                                                   \
		begin;                                                                             \
	})

__attribute__((noinline)) static double compute(void)
{
	double begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin + 0.5;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return now(CLOCK_THREAD_CPUTIME_ID) - begin;
}

int main(int count, char **arguments)
{
	double receiving = 0, computed = 0;
	int rank, buffer = 0;

	CALL(MPI_Init(&count, &arguments));
	CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	CALL(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0) {
		computed = compute();
		CALL(MPI_Send(&buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
	} else {
		receiving = CALL(
			MPI_Recv(&buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	CALL(MPI_Finalize());
	printf("%d %.6f %.6f %.6f\n", (int)getpid(), in_mpi, receiving, computed);
	return 0;
}
