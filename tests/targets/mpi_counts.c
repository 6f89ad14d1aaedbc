/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages and collective functions in numbers and sizes that are known: prints them for rank 0 as
 * "NAME VALUE".  To be run with four ranks, compiled by the mpicc of whichever implementation.
 */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 10, RING = 5, INTS = 1000, ROOM = 5000 };

static int rank, size;
static char buffer[1 << 20];

/* Rank 0 sends to 1, which does not know from whom, and has more room than it needs. */
static __attribute__((noinline)) void pairs(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 0)
			MPI_Send(buffer, INTS, MPI_INT, 1, 7, MPI_COMM_WORLD);
		if (rank == 1)
			MPI_Recv(buffer, ROOM, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
}

static __attribute__((noinline)) void ring(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request request[2];

	for (int i = 0; i < RING; i++) {
		MPI_Irecv(buffer, 2000, MPI_BYTE, before, 3, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(buffer + 4000, 1500, MPI_BYTE, next, 3, MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
	MPI_Sendrecv(buffer, 10, MPI_INT, next, 1, buffer + 5000, 20, MPI_INT, before, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) void together(void)
{
	MPI_Comm half;
	double from = rank, to;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_set_name(half, "half");
	MPI_Allreduce(&from, &to, 1, MPI_DOUBLE, MPI_SUM, half);
	MPI_Comm_free(&half);
	MPI_Bcast(buffer, 100, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Gather(buffer, 3, MPI_INT, buffer + 1000, 3, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **arguments)
{
	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pairs();
	ring();
	together();
	MPI_Finalize();
	return 0;
}
