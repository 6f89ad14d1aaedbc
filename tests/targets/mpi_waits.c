/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank 0 sends late, receives late and comes late to a reduction, each time by so many ms as the
 * argument says.  Prints as "NAME SECONDS" how long the one that waits had been there when rank 0
 * came, as they measure it themselves by the machine's clock.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, KINDS = 7, RANKS = 4 };

static int rank, buffer;
static useconds_t late_us;
static double begins[KINDS][ROUNDS];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time); /* the same in all namespaces of times */
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* All begin together, and rank 0 is late. */
static void begin(int kind, int round)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		usleep(late_us);
	begins[kind][round] = now();
}

static void late_sender(int round)
{
	begin(0, round);
	if (rank == 0)
		MPI_Send(&buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(&buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_in_wait(int round)
{
	MPI_Request request;

	if (rank == 2)
		MPI_Irecv(&buffer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
	begin(1, round);
	if (rank == 0)
		MPI_Send(&buffer, 1, MPI_INT, 2, 2, MPI_COMM_WORLD);
	if (rank == 2)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void late_receiver(int round)
{
	begin(2, round);
	if (rank == 0)
		MPI_Recv(&buffer, 1, MPI_INT, 3, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 3)
		MPI_Ssend(&buffer, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
}

static void late_begin(int round)
{
	MPI_Request request;

	begin(3, round);
	if (rank == 0) {
		MPI_Irecv(&buffer, 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (rank == 2)
		MPI_Ssend(&buffer, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
}

/* Each waits for the other one's message, and that its own is taken: both at once. */
static void late_exchange(int round)
{
	int own = 1;

	begin(4, round);
	if (rank < 2)
		MPI_Sendrecv(&own, 1, MPI_INT, 1 - rank, 5, &buffer, 1, MPI_INT, 1 - rank, 5,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_for_all(int round)
{
	static int rooms[2];
	MPI_Request requests[2];

	for (int i = 0; i < 2 && rank == 3; i++)
		MPI_Irecv(&rooms[i], 1, MPI_INT, 0, 6 + i, MPI_COMM_WORLD, &requests[i]);
	begin(5, round);
	for (int i = 0; i < 2 && rank == 0; i++)
		MPI_Send(&buffer, 1, MPI_INT, 3, 6 + i, MPI_COMM_WORLD);
	if (rank == 3)
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void late_at_reduction(int round)
{
	double one = 1, sum;

	begin(6, round);
	MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Of the reduction whoever came last is waited for. */
static double waited(const double all[RANKS][KINDS][ROUNDS], int kind, int waiter)
{
	double sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double came = all[0][kind][round], since = all[waiter][kind][round];
		bool is_last = true;

		for (int other = 1; other < RANKS; other++)
			is_last &= kind < KINDS - 1 || all[other][kind][round] <= came;
		if (is_last && came > since)
			sum += came - since;
	}
	return sum;
}

int main(int count, char **arguments)
{
	static double all[RANKS][KINDS][ROUNDS];

	late_us = count > 1 ? (useconds_t)atoi(arguments[1]) * 1000 : 20000;
	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int round = 0; round < ROUNDS; round++) {
		late_sender(round);
		late_in_wait(round);
		late_receiver(round);
		late_begin(round);
		late_exchange(round);
		late_for_all(round);
		late_at_reduction(round);
	}
	MPI_Gather(begins, KINDS * ROUNDS, MPI_DOUBLE, all, KINDS * ROUNDS, MPI_DOUBLE, 0,
		   MPI_COMM_WORLD);
	if (!rank)
		printf("sender %.9f\nwait %.9f\nreceiver %.9f\nbegin %.9f\nexchange %.9f\nall "
		       "%.9f\nreduction %.9f\n",
		       waited(all, 0, 1), waited(all, 1, 2), waited(all, 2, 3), waited(all, 3, 2),
		       waited(all, 4, 1), waited(all, 5, 3), waited(all, 6, 1));
	MPI_Finalize();
	return 0;
}
