/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads that compute, while the main thread waits for them. */
#include "target.h"

#include <pthread.h>

#define THREADS 8

static struct budget budget;

struct worker {
	pthread_t thread;
	int tid;
	double cpu;
	double life;
	uint64_t result;
};

static NOINLINE uint64_t crunch(uint64_t seed)
{
	return churn(seed, 100000);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	double start = wall_now();
	uint64_t seed = 1;

	worker->tid = thread_id();
	for (long rounds = 0; budget_left(&budget, rounds); rounds++)
		seed = crunch(seed);
	worker->result = seed;
	worker->cpu = cpu_now();
	worker->life = wall_now() - start;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS];
	double start = wall_now();

	budget = budget_parse(argc, argv, "0.5s");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("thread.%d.cpu %.6f\nthread.%d.life %.6f\n", workers[i].tid, workers[i].cpu,
		       workers[i].tid, workers[i].life);
	}
	print_usage(start);
	return 0;
}
