/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_back MS: a reduction whose operation is the program's, and an attribute whose end is told to
 * it: MPI calls functions of the program's, one of which calls MPI in turn.  Each uses MS ms of CPU
 * in each rank.  Rank 0 prints what they used there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double ms;
static double used_combine, used_release;
static volatile unsigned long sink;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static __attribute__((noinline)) double burn(void)
{
	double begin = cpu_ms();

	while (cpu_ms() < begin + ms)
		for (int i = 0; i < 1000; i++)
			sink += i;
	return cpu_ms() - begin;
}

static __attribute__((noinline)) void combine(void *in, void *inout, int *length,
					      MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *length; i++)
		((long *)inout)[i] += ((long *)in)[i];
	used_combine += burn();
}

static __attribute__((noinline)) int release(MPI_Comm world, int key, void *value, void *extra)
{
	int initialized;

	(void)world;
	(void)key;
	(void)value;
	(void)extra;
	MPI_Initialized(&initialized);
	used_release += burn();
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	long own = 1, all = 0;
	int key, rank;
	MPI_Op op;

	ms = argc > 1 ? atof(argv[1]) : 100;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Op_create(combine, 1, &op);
	MPI_Reduce_local(&own, &all, 1, MPI_LONG, op);
	MPI_Op_free(&op);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &own);
	MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
	if (!rank)
		printf("combine %f\nrelease %f\n", used_combine / 1e3, used_release / 1e3);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
