/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits whose length is known: rank 0 sends late, receives late and comes late to a barrier, each
 * time by so many ms as the argument says.  Prints as "NAME SECONDS" how long the others were in
 * those calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static int rank, buffer;
static useconds_t late_us;

static void be_late(void)
{
	if (!rank)
		usleep(late_us);
}

static double late_sender(void)
{
	double waited = 0, begin;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		be_late();
		begin = MPI_Wtime();
		if (rank == 0)
			MPI_Send(&buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		if (rank == 1)
			MPI_Recv(&buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		waited += MPI_Wtime() - begin;
	}
	return waited;
}

static double late_in_wait(void)
{
	double waited = 0, begin;
	MPI_Request request;

	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 2)
			MPI_Irecv(&buffer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
		MPI_Barrier(MPI_COMM_WORLD);
		be_late();
		begin = MPI_Wtime();
		if (rank == 0)
			MPI_Send(&buffer, 1, MPI_INT, 2, 2, MPI_COMM_WORLD);
		if (rank == 2)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		waited += MPI_Wtime() - begin;
	}
	return waited;
}

static double late_receiver(void)
{
	double waited = 0, begin;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		be_late();
		begin = MPI_Wtime();
		if (rank == 0)
			MPI_Recv(&buffer, 1, MPI_INT, 3, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 3)
			MPI_Ssend(&buffer, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
		waited += MPI_Wtime() - begin;
	}
	return waited;
}

static double late_at_reduction(void)
{
	double waited = 0, begin, one = 1, sum;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		be_late();
		begin = MPI_Wtime();
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		waited += MPI_Wtime() - begin;
	}
	return waited;
}

int main(int count, char **arguments)
{
	double mine[4], all[4 * 4];

	late_us = count > 1 ? (useconds_t)atoi(arguments[1]) * 1000 : 20000;
	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	mine[0] = late_sender();
	mine[1] = late_in_wait();
	mine[2] = late_receiver();
	mine[3] = late_at_reduction();
	MPI_Gather(mine, 4, MPI_DOUBLE, all, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("sender %.9f\nwait %.9f\nreceiver %.9f\nreduction %.9f\n", all[4 * 1 + 0],
		       all[4 * 2 + 1], all[4 * 3 + 2], all[4 * 1 + 3]);
	MPI_Finalize();
	return 0;
}
