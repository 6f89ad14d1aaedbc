/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks of four threads each, every thread with its tag: receives that are begun, sends, waits.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 200, AT_ONCE = 8 };

static int rank;
static pthread_barrier_t together; /* all threads meet MPI_COMM_WORLD at once */

static void *exchange(void *number)
{
	int tag = (int)(long)number, to[AT_ONCE], from = tag;
	MPI_Request requests[2 * AT_ONCE];

	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < AT_ONCE; k++)
			MPI_Irecv(&to[k], 1, MPI_INT, !rank, tag, MPI_COMM_WORLD, &requests[k]);
		for (int k = 0; k < AT_ONCE; k++)
			MPI_Isend(&from, 1, MPI_INT, !rank, tag, MPI_COMM_WORLD,
				  &requests[AT_ONCE + k]);
		MPI_Waitall(2 * AT_ONCE, requests, MPI_STATUSES_IGNORE);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	int provided;

	MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_barrier_init(&together, NULL, THREADS);
	for (long i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++)
		pthread_create(&threads[i], NULL, exchange, (void *)i);
	for (long i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MPI_Finalize();
	if (!rank)
		printf("%s\n", provided == MPI_THREAD_MULTIPLE ? "done" : "no threads");
	return 0;
}
