/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times its calls of MPI itself, as careful programs do: rank 0 comes to each of them a fifth later
 * than the others.  Each rank prints at once "FUNCTION SECONDS" of all its calls of a function.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 40, WORK_US = 10000 };

static double in_allreduce, in_sendrecv, in_barrier;

#define TIMED(sum, call)                                                                           \
	do {                                                                                       \
		double begin = MPI_Wtime();                                                        \
                                                                                                   \
		call;                                                                              \
		(sum) += MPI_Wtime() - begin;                                                      \
	} while (0)

int main(int count, char **arguments)
{
	int rank, size, from = 1, to;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_SELF); /* the first call of a function finds it */
	MPI_Allreduce(&from, &to, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	MPI_Sendrecv(&from, 1, MPI_INT, 0, 1, &to, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
		     MPI_STATUS_IGNORE);
	for (int i = 0; i < ROUNDS; i++) {
		usleep(rank ? WORK_US * 4 / 5 : WORK_US);
		TIMED(in_allreduce, MPI_Allreduce(&from, &to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		usleep(rank ? WORK_US * 4 / 5 : WORK_US);
		TIMED(in_sendrecv,
		      MPI_Sendrecv(&from, 1, MPI_INT, (rank + 1) % size, 2, &to, 1, MPI_INT,
				   (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		usleep(rank ? WORK_US * 4 / 5 : WORK_US);
		TIMED(in_barrier, MPI_Barrier(MPI_COMM_WORLD));
	}
	printf("rank %d\nMPI_Allreduce %.9f\nMPI_Sendrecv %.9f\nMPI_Barrier %.9f\n", rank,
	       in_allreduce, in_sendrecv, in_barrier);
	MPI_Finalize();
	return 0;
}
