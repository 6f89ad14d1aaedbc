/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without liburing.
 *
 *   uring_host ask              whether it seems to have it
 *   uring_host load ROUNDS FILE...  loads uring.c as a library of its own scope, runs and unloads
 * it uring_host jump FILE            has it submit 3 requests by a jump from our call
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int io_uring_submit(void *ring) __attribute__((weak));

static void *find(void *plugin, const char *name)
{
	void *symbol = plugin ? dlsym(plugin, name) : NULL;

	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return symbol;
}

static void run(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*uring_run)(int, char **);

	*(void **)&uring_run = find(plugin, "uring_run");
	if (uring_run(1, NULL) || dlclose(plugin))
		exit(1);
}

static void jump(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL), *ring;
	void *(*uring_ready)(void);
	int (*uring_submit)(void *);

	*(void **)&uring_ready = find(plugin, "uring_ready");
	*(void **)&uring_submit = find(plugin, "uring_submit");
	ring = uring_ready();
	printf("ring %d\n", ring != NULL);
	if (ring)
		printf("submitted %d\n", uring_submit(ring));
}

int main(int argc, char **argv)
{
	printf("error %d\n", dlerror() != NULL);
	printf("weak %d\n", io_uring_submit != NULL);
	printf("by_name %d\n", dlsym(RTLD_DEFAULT, "io_uring_submit") != NULL);
	dlerror();
	if (argc > 2 && !strcmp(argv[1], "jump"))
		jump(argv[2]);
	for (int i = 0; argc > 3 && i < atoi(argv[2]); i++)
		for (int k = 3; k < argc; k++)
			run(argv[k]);
	return 0;
}
