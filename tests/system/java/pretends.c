/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library with a Java machine's name and functions, that is none.  What it does when a thread is
 * to join it is the first letter of PRETENDS: n never returns, r refuses, l leads nowhere, and
 * with e there is no machine.  Built with PROGRAM: what loads it, and unloads it when it reads u.
 */
#include <stdio.h>
#include <stdlib.h>

#if !defined(PROGRAM)

#include <unistd.h>

struct table {
	void *reserved[3];
	int (*destroy)(void *), (*join)(void *, void **, void *), (*leave)(void *);
	int (*environment)(void *, void **, int), (*join_as_daemon)(void *, void **, void *);
};

static int join(void *machine, void **environment, void *arguments)
{
	(void)machine, (void)environment, (void)arguments;
	while (*getenv("PRETENDS") == 'n')
		pause();
	return -1;
}

static const struct table table = {.join = join, .join_as_daemon = join}, nowhere;
static const struct table *machine = &table;

int JNI_GetCreatedJavaVMs(void **machines, int room, int *count);
int JNI_GetCreatedJavaVMs(void **machines, int room, int *count)
{
	if (*getenv("PRETENDS") == 'l')
		machine = &nowhere;
	*count = *getenv("PRETENDS") != 'e' && room > 0;
	*machines = &machine;
	return 0;
}

__attribute__((destructor)) static void end(void)
{
	puts("unloaded");
	fflush(stdout);
}

#else

#include <dlfcn.h>

int main(int count, char **words)
{
	void *library = dlopen(words[count - 1], RTLD_NOW);
	int letter;

	puts(library ? "ready" : dlerror());
	fflush(stdout);
	while ((letter = getchar()) != 'q')
		if (letter == 'u')
			dlclose(library);
	puts("done");
	return 0;
}

#endif
