/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with an allocator of its own, as Chromium has: the executable's functions come before
 * those of any library, and each call of the program's libraries gets there too.  To begin and to
 * grow it maps memory, takes a lock, reads a file and blocks signals; called from within itself it
 * says so and ends.  Prints what it has seen.
 */
#include "target.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

enum { CHUNK = 1 << 20, ALIGNMENT = 64, THREADS = 4, ROUNDS = 5000, BLOCKS = 16, REENTERED = 70 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *at, *end;
static unsigned long chunks, calls;
static int main_begun, early;
static pthread_barrier_t together; /* no thread gets the stack of one that is gone */
static __thread int inside __attribute__((tls_model("local-exec")));

static void enter(void)
{
	static const char message[] = "malloc called from within malloc\n";

	if (inside++) {
		syscall(SYS_write, 2, message, sizeof(message) - 1);
		syscall(SYS_exit_group, REENTERED);
	}
	pthread_mutex_lock(&lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
	inside--;
}

static void grow(size_t size)
{
	sigset_t all, before;
	char byte;
	int file;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	size = (size + CHUNK - 1) & ~(size_t)(CHUNK - 1);
	file = open("/proc/sys/vm/overcommit_memory", O_RDONLY);
	if (file >= 0) {
		if (read(file, &byte, 1) != 1)
			chunks--;
		close(file);
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		_exit(1);
	end = at + size;
	chunks++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Zeroed, as nothing is used twice; the size lies in front. */
static void *take(size_t alignment, size_t size)
{
	char *block;

	if (alignment < ALIGNMENT)
		alignment = ALIGNMENT;
	enter();
	early += !main_begun;
	calls += main_begun;
	if (!at || size + 2 * alignment > (size_t)(end - at))
		grow(size + 2 * alignment);
	block = (char *)(((uintptr_t)at + 2 * alignment - 1) & ~(alignment - 1));
	((size_t *)block)[-1] = size;
	at = block + size;
	leave();
	return block;
}

void *malloc(size_t size)
{
	return take(0, size);
}

void *calloc(size_t count, size_t size)
{
	return take(0, count * size);
}

void free(void *block)
{
	if (!block)
		return;
	enter();
	calls += main_begun;
	leave();
}

void *realloc(void *block, size_t size)
{
	void *moved = take(0, size);
	size_t old = block ? ((size_t *)block)[-1] : 0;

	if (old)
		memcpy(moved, block, old < size ? old : size);
	return moved;
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = take(alignment, size);
	return 0;
}

static void *work(void *argument)
{
	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		char *block[BLOCKS];

		for (int j = 0; j < BLOCKS; j++) {
			block[j] = malloc((size_t)(j + 1) * ALIGNMENT);
			block[j][0] = (char)j;
		}
		for (int j = 0; j < BLOCKS; j++)
			free(block[j]);
	}
	return argument;
}

/* Before the constructors of any library, as the dynamic linker and those may be. */
static void begin_early(void)
{
	static char *volatile kept;

	kept = malloc(1);
	*kept = 0;
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = begin_early;

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&together, NULL, THREADS);
	main_begun = 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	main_begun = 0;
	printf("early %d\n", early);
	printf("calls %lu\n", calls);
	printf("chunks %lu\n", chunks);
	printf("error %s\n", dlerror() ? "some" : "none");
	return 0;
}
