/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than 2^31 bytes at once, of which a megabyte is there: a collective function of one rank, a
 * message of so many elements of an extent of 0, and one of one element that is so large.
 */
#include <mpi.h>
#include <stdio.h>

enum { MEGABYTE = 1 << 20, MEGABYTES = 2049 };

static char from[MEGABYTE], to[MEGABYTE];

int main(int count, char **arguments)
{
	const MPI_Count bytes = (MPI_Count)3 << 30;
	MPI_Datatype megabyte, one_place, large;
	MPI_Request request;

	MPI_Init(&count, &arguments);
	MPI_Bcast_c(from, bytes, MPI_BYTE, 0, MPI_COMM_SELF);
	MPI_Type_contiguous(MEGABYTE, MPI_BYTE, &megabyte);
	MPI_Type_create_resized(megabyte, 0, 0, &one_place);
	MPI_Type_commit(&one_place);
	MPI_Type_create_hvector(MEGABYTES, 1, 0, megabyte, &large);
	MPI_Type_commit(&large);
	MPI_Irecv_c(to, MEGABYTES, one_place, 0, 1, MPI_COMM_SELF, &request);
	MPI_Send_c(from, MEGABYTES, one_place, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(to, 1, large, 0, 2, MPI_COMM_SELF, &request);
	MPI_Send(from, 1, large, 0, 2, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	printf("done\n");
	MPI_Finalize();
	return 0;
}
