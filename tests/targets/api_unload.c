/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions made at run time that are withdrawn while their code stays, and goes on running.
 *
 *   api_unload stays        `stays` runs, is withdrawn, and runs again; `interrupted` is withdrawn
 *                           by another thread while it runs.  Prints the CPU time before and
 *                           after, and `another` runs in between, which is never withdrawn.
 *   api_unload again        code runs before it is announced, and between its withdrawal and the
 *                           next announcement there, of another function or the same
 *   api_unload batches      50 times: 200 functions are announced, and withdrawn, then work is done
 *   api_unload singly       10,000 times: a function is announced, memory allocated, the function
 *                           withdrawn and the memory freed
 */
#include "target.h"

#include <heliometer/collectorAPI.h>

#include <pthread.h>
#include <sys/mman.h>

enum { CODE_ROOM = 16384, SLOT = 64, UNIT = 60000000 };

typedef uint64_t work_fn(uint64_t steps);

static uint8_t *code;

/* A chain of dependent multiplications: push, move, imul, inc, dec, jne, pop, ret. */
static const uint8_t loop_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x6b, 0xc0, 0x03, 0x48,
				    0xff, 0xc0, 0x48, 0xff, 0xcf, 0x75, 0xf4, 0x5d, 0xc3};

static void *place(int slot)
{
	return code + slot * SLOT;
}

static void make_all(void)
{
	code = mmap(NULL, CODE_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < CODE_ROOM / SLOT; i++)
		memcpy(place(i), loop_code, sizeof(loop_code));
	mprotect(code, CODE_ROOM, PROT_READ | PROT_EXEC);
}

static void announce(int slot, const char *name)
{
	collector_func_load(name, NULL, NULL, place(slot), sizeof(loop_code), 0, NULL);
}

static void run(int slot, const char *name)
{
	double before = cpu_now();

	((work_fn *)place(slot))(UNIT);
	printf("%s %.6f\n", name, cpu_now() - before);
}

static void *run_interrupted(void *unused)
{
	((work_fn *)place(2))(4ull * UNIT);
	return unused;
}

static NOINLINE void be_interrupted(void)
{
	pthread_t thread;
	clockid_t clock;
	void *end = NULL;
	double before = 0, all;

	announce(2, "interrupted");
	pthread_create(&thread, NULL, run_interrupted, NULL);
	pthread_getcpuclockid(thread, &clock);
	while (before < 0.1) {
		usleep(1000);
		before = clock_seconds(clock);
	}
	collector_func_unload(place(2));
	before = clock_seconds(clock);
	do {
		usleep(200);
		all = clock_seconds(clock);
	} while (pthread_tryjoin_np(thread, &end));
	printf("interrupted.before %.6f\ninterrupted.after %.6f\n", before, all - before);
}

static void stay(void)
{
	announce(0, "stays");
	announce(1, "another");
	run(0, "stays.before");
	collector_func_unload(place(0));
	run(1, "another");
	run(0, "stays.after");
	be_interrupted();
}

static void again(void)
{
	run(3, "late.before");
	announce(3, "late");
	run(3, "late.after");

	announce(4, "old");
	run(4, "old");
	collector_func_unload(place(4));
	run(4, "old.after");
	announce(4, "new");
	run(4, "new");

	announce(5, "twice");
	run(5, "twice.first");
	collector_func_unload(place(5));
	run(5, "twice.between");
	announce(5, "twice");
	run(5, "twice.second");
}

static void batches(void)
{
	enum { BATCHES = 50, FUNCTIONS = 200 };

	for (int batch = 0; batch < BATCHES; batch++) {
		for (int i = 0; i < FUNCTIONS; i++)
			announce(i, "short");
		for (int i = 0; i < FUNCTIONS; i++)
			collector_func_unload(place(i));
		churn(1, 1000000);
	}
	printf("unloads %d\n", BATCHES * FUNCTIONS);
}

static void singly(void)
{
	enum { TURNS = 10000 };

	for (int i = 0; i < TURNS; i++) {
		void *volatile memory;

		announce(i % 200, "short");
		memory = malloc(100);
		collector_func_unload(place(i % 200));
		free(memory);
	}
	printf("unloads %d\n", TURNS);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "stays";

	make_all();
	if (!strcmp(mode, "stays"))
		stay();
	else if (!strcmp(mode, "again"))
		again();
	else if (!strcmp(mode, "batches"))
		batches();
	else
		singly();
	return 0;
}
