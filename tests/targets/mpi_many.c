/* SPDX-License-Identifier: Apache-2.0 */
/* More communicators at once than the collector describes, and many calls with the last of them. */
#include <mpi.h>

enum { COMMUNICATORS = 4500, CALLS = 1000 };

int main(int count, char **arguments)
{
	MPI_Comm last = MPI_COMM_WORLD;

	MPI_Init(&count, &arguments);
	for (int i = 0; i < COMMUNICATORS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &last);
	for (int i = 0; i < CALLS; i++)
		MPI_Barrier(last);
	MPI_Finalize();
	return 0;
}
