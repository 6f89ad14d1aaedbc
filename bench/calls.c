/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls of I/O cost, each at a call stack 10 deep: "name tenths-of-ns" per kind.  They do
 * next to nothing, so that what tracing adds shows.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 10 };

static int zero, null;
static FILE *stream;
static char block[16];
static volatile long sink;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void do_read(void)
{
	sink += read(zero, block, 1);
}

static void do_write(void)
{
	sink += write(null, block, 1);
}

static void do_fwrite(void)
{
	sink += (long)fwrite(block, 1, sizeof(block), stream);
}

static void do_open(void)
{
	close(open("/dev/null", O_RDONLY));
}

static __attribute__((noinline)) long descend(int depth, void (*call)(void), long count)
{
	if (depth)
		return descend(depth - 1, call, count) + 1;

	long begin = now_ns();

	for (long i = 0; i < count; i++)
		call();
	return (now_ns() - begin) * 10 / count - DEPTH;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(void);
		long part; /* of the count */
	} kinds[] = {{"read", do_read, 1},
		     {"write", do_write, 1},
		     {"fwrite", do_fwrite, 1},
		     {"open+close", do_open, 4}};
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;

	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	stream = fopen("/dev/null", "w");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		printf("%s %ld\n", kinds[i].name,
		       descend(DEPTH, kinds[i].call, count / kinds[i].part));
	return 0;
}
