/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler that never rests: four threads make, announce, run and withdraw
 * functions in places that are used again and again, and fork in between.
 * Some announcements are nonsense.
 */
#include "target.h"

#include <heliometer/collectorAPI.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { THREADS = 4, ROUNDS = 1000, PLACES = 256, PLACE = 32, CHILD_EVERY = 250 };

/* dec %rdi; jne; ret */
static const uint8_t loop_code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};

static uint8_t *code;

static void *compile(void *argument)
{
	uint8_t *own = code + (uintptr_t)argument * PLACES * PLACE;
	uint64_t random = (uintptr_t)argument + 1;
	char name[32];

	for (int i = 0; i < ROUNDS; i++) {
		random = churn(random, 1);
		uint8_t *place = own + random % PLACES * PLACE;

		memcpy(place, loop_code, sizeof(loop_code));
		snprintf(name, sizeof(name), "made_%d", i % 100);
		collector_func_load(name, NULL, i & 1 ? "storm.src" : NULL, place,
				    sizeof(loop_code), 0, NULL);
		((void (*)(long))(void *)place)(20000);
		if (i & 1)
			collector_func_unload(place);
		if (i % CHILD_EVERY)
			continue;
		pid_t child = fork();
		if (!child) {
			((void (*)(long))(void *)place)(200000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return NULL;
}

static void announce_nonsense(void)
{
	collector_func_load(NULL, NULL, NULL, code, 16, 0, NULL);
	collector_func_load("nowhere", "<&\"", "\xff\xfe", (void *)16, 16, 1, (Lineno *)16);
	collector_func_load("at the end", NULL, NULL, (void *)-16, 4096, 0, NULL);
	collector_func_load("negative", NULL, NULL, code, -1, -1, NULL);
	collector_func_unload(NULL);
	collector_func_unload(code + 1);
	collector_sample(NULL);
}

int main(void)
{
	pthread_t threads[THREADS];

	code = mmap(NULL, THREADS * PLACES * PLACE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, compile, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	announce_nonsense();
	puts("done");
	return 0;
}
