// SPDX-License-Identifier: Apache-2.0
/*
 * Tasks that reduce, loops whose iterations wait for others of as many loops as there may be, and
 * tasks that nobody executes before the end of the region.  Prints the results, and what CPU time
 * the last ones took; "teams" alone: regions of one thread and of four in turn.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

static double cpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double burn(double seconds)
{
	double begin = cpu_now();

	while (cpu_now() - begin < seconds)
		;
	return cpu_now() - begin;
}

static void reduce(void)
{
	long sum = 0, of_loop = 0;

#pragma omp parallel num_threads(2) reduction(task, + : sum)
	{
#pragma omp single
		for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
			sum += i;
		}
	}
#pragma omp parallel num_threads(2)
#pragma omp for reduction(task, + : of_loop)
	for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : of_loop)
		of_loop += i;
	}
	printf("reduced %ld %ld\n", sum, of_loop);
}

/* Each iteration of the outermost loop reads what the one before it has written. */
static void wait_for_iterations(void)
{
	static long chain[41];

	chain[0] = 1;
#pragma omp parallel for ordered(14) num_threads(2) schedule(static, 1)
	for (int a = 0; a < 40; a++)
		for (int b = 0; b < 1; b++)
			for (int c = 0; c < 1; c++)
				for (int d = 0; d < 1; d++)
					for (int e = 0; e < 1; e++)
						for (int f = 0; f < 1; f++)
							for (int g = 0; g < 1; g++)
								for (int h = 0; h < 1; h++)
									for (int i = 0; i < 1; i++)
										for (int j = 0;
										     j < 1; j++)
											for (int k = 0;
											     k < 1;
											     k++)
												for (int l = 0;
												     l <
												     1;
												     l++)
													for (int m = 0;
													     m <
													     1;
													     m++)
														for (int n = 0;
														     n <
														     2;
														     n++) {
#pragma omp ordered depend(sink : a - 1, b, c, d, e, f, g, h, i, j, k, l, m, n)
															if (n)
																chain[a +
																      1] =
																	chain[a] +
																	a;
#pragma omp ordered depend(source)
														}
	printf("chain %ld\n", chain[40]);
}

static void leave_tasks(void)
{
	double took = 0;

#pragma omp parallel num_threads(2)
#pragma omp single nowait
	for (int i = 0; i < 16; i++) {
#pragma omp task
		{
			double own = burn(0.01);

#pragma omp atomic
			took += own;
		}
	}
	printf("tasks %.6f\n", took);
}

/* Two threads more wait than in the region before. */
static void change_teams(void)
{
	for (int i = 0; i < 200; i++) {
#pragma omp parallel num_threads(i % 2 ? 4 : 1)
		__asm__ volatile("");
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "teams")) {
		change_teams();
		return 0;
	}
	reduce();
	wait_for_iterations();
	leave_tasks();
	return 0;
}
