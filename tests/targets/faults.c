/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: lets the Nth call of a kind fail, once.
 *
 *   FAULTS=memory:N   malloc, calloc, realloc: no memory
 *   FAULTS=io:N       open, openat, fopen, opendir, stat, read, pread, mmap: EIO
 *
 * FAULTS_COUNT=FILE writes the number of calls there at the end: N = 0 only counts.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* glibc's own names of what is replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

enum kind { MEMORY, IO };

static atomic_long calls;
static long failing;
static enum kind failing_kind;
static bool armed;

static bool fails(enum kind kind)
{
	if (!armed || kind != failing_kind || atomic_fetch_add(&calls, 1) + 1 != failing)
		return false;
	errno = kind == MEMORY ? ENOMEM : EIO;
	return true;
}

__attribute__((constructor)) static void arm(void)
{
	const char *words = getenv("FAULTS");

	if (!words)
		return;
	failing_kind = words[0] == 'm' ? MEMORY : IO;
	failing = atol(strchr(words, ':') + 1);
	armed = true;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("FAULTS_COUNT");

	armed = false;
	if (path) {
		FILE *file = fopen(path, "w");

		if (file) {
			fprintf(file, "%ld\n", (long)calls);
			fclose(file);
		}
	}
}

void *malloc(size_t size)
{
	return fails(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(MEMORY) ? NULL : __libc_realloc(old, size);
}

/* With 64-bit offsets these define open64 and so on, as the tools call them. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
	va_list rest;

	va_start(rest, flags);
	mode_t mode = va_arg(rest, mode_t);

	va_end(rest);
	return fails(IO) ? -1 : NEXT(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list rest;

	va_start(rest, flags);
	mode_t mode = va_arg(rest, mode_t);

	va_end(rest);
	return fails(IO) ? -1 : NEXT(openat)(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fails(IO) ? NULL : NEXT(fopen)(path, mode);
}

DIR *opendir(const char *path)
{
	return fails(IO) ? NULL : NEXT(opendir)(path);
}

int stat(const char *path, struct stat *status)
{
	return fails(IO) ? -1 : NEXT(stat)(path, status);
}

int fstat(int fd, struct stat *status)
{
	return fails(IO) ? -1 : NEXT(fstat)(fd, status);
}

ssize_t read(int fd, void *to, size_t size)
{
	return fails(IO) ? -1 : NEXT(read)(fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	return fails(IO) ? -1 : NEXT(pread)(fd, to, size, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return fails(IO) ? MAP_FAILED : NEXT(mmap)(address, size, protection, flags, fd, offset);
}
