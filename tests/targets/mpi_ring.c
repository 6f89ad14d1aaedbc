/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_ring: two messages from each rank to the next one, and a barrier; any number of ranks. */
#include <mpi.h>

enum { ROUNDS = 2, TAG = 5 };

int main(int count, char **arguments)
{
	int rank, size, token = 0;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < ROUNDS; i++) {
		if (rank)
			MPI_Recv(&token, 1, MPI_INT, rank - 1, TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD);
		if (!rank)
			MPI_Recv(&token, 1, MPI_INT, size - 1, TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
