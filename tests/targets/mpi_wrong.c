// SPDX-License-Identifier: Apache-2.0
/* Calls of MPI with no array or handle where there must be one: prints what the library says of
 * each. */
#include <mpi.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
	do {                                                                                       \
		int error = call, class = -1;                                                      \
                                                                                                   \
		if (error)                                                                         \
			MPI_Error_class(error, &class);                                            \
		printf("%s %d\n", #call, class);                                                   \
		fflush(stdout);                                                                    \
	} while (0)

int main(int argc, char **argv)
{
	MPI_Status status;
	int index, flag, count, indices[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	TRY(MPI_Wait(NULL, &status));
	TRY(MPI_Test(NULL, &flag, &status));
	TRY(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
	TRY(MPI_Waitany(2, NULL, &index, &status));
	TRY(MPI_Waitsome(2, NULL, &count, indices, MPI_STATUSES_IGNORE));
	TRY(MPI_Start(NULL));
	TRY(MPI_Startall(2, NULL));
	TRY(MPI_Request_free(NULL));
#ifdef MPICH /* the other one looks at it */
	TRY(MPI_Comm_free(NULL));
#endif
	TRY(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
	TRY(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_NULL));
	MPI_Finalize();
	return 0;
}
