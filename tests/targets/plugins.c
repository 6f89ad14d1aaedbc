/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and unloads objects without end while it computes in them.
 *
 *   plugins churn ROUNDS FILE...     four threads; each has a file of its own
 *   plugins shared ROUNDS FILE...    four threads; all have the first file
 *   plugins space ROUNDS FILE...     dlmopen: each time a new namespace
 *   plugins replaced ROUNDS A B      now one, now the other, mostly at the same address
 */
#include "target.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, CALLS = 20, STEPS = 5000 };

static char **files;
static long rounds;
static _Atomic long calls;
static int one_for_all;

static void run(void *handle)
{
	void (*plugin_run)(long, long);
	size_t (*plugin_bind)(void);

	*(void **)&plugin_run = dlsym(handle, "plugin_run");
	*(void **)&plugin_bind = dlsym(handle, "plugin_bind");
	plugin_run(CALLS, STEPS);
	atomic_fetch_add(&calls, (long)plugin_bind() / 2);
}

static void once(char *file, int space)
{
	void *handle = space ? dlmopen(LM_ID_NEWLM, file, RTLD_LAZY | RTLD_LOCAL)
			     : dlopen(file, RTLD_LAZY | RTLD_LOCAL);

	if (!handle) {
		printf("%s\n", dlerror());
		exit(1);
	}
	run(handle);
	dlclose(handle);
}

static void *churn_in_thread(void *number)
{
	for (long i = 0; i < rounds; i++)
		once(files[one_for_all ? 0 : (long)number], 0);
	return NULL;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, churn_in_thread, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	rounds = strtol(argv[2], NULL, 10);
	files = argv + 3;
	one_for_all = !strcmp(argv[1], "shared");
	if (!strcmp(argv[1], "churn") || one_for_all)
		in_threads();
	for (long i = 0; i < rounds && !strcmp(argv[1], "space"); i++)
		once(files[0], 1);
	for (long i = 0; i < rounds && !strcmp(argv[1], "replaced"); i++)
		once(files[i % 2], 0);
	printf("calls %ld\n", calls);
	return 0;
}
