/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 1 ends as the argument says, after four barriers: kill, exit or abort.  The others wait for
 * it. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments)
{
	const char *how = count > 1 ? arguments[1] : "";
	int rank;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 4; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1 && !strcmp(how, "kill"))
		raise(SIGKILL);
	if (rank == 1 && !strcmp(how, "exit"))
		_Exit(3);
	if (rank == 1 && !strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
