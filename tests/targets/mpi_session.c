/* SPDX-License-Identifier: Apache-2.0 */
/* A program without MPI_Init: a session of MPI 4, and communicators that are made of groups. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
	long value = 1, sum = 0;
	int rank, size;
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Sendrecv(&value, 1, MPI_LONG, (rank + 1) % size, 7, &sum, 1, MPI_LONG,
		     (rank + size - 1) % size, 7, comm, MPI_STATUS_IGNORE);
	MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, comm);
	if (!rank)
		printf("%ld of %d\n", sum, size);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	MPI_Session_finalize(&session);
	return 0;
}
