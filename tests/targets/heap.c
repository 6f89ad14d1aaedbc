/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates in every way there is, known numbers of blocks of known sizes, each in a function of
 * its own.  Argument: what to do.
 */
#include "target.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { ROUNDS = 100 };

static void *volatile kept[10 * ROUNDS];
static void *volatile other;
static int portable; /* leave out what not every allocator has */

static NOINLINE void by_malloc(size_t size)
{
	for (int i = 0; i < ROUNDS; i++)
		kept[i] = malloc(size);
}

static NOINLINE void by_calloc(size_t size)
{
	for (int i = 0; i < ROUNDS; i++)
		kept[ROUNDS + i] = calloc(3, size);
}

/* Each grows twice, most of them to another place. */
static NOINLINE void by_realloc(size_t size)
{
	for (int i = 0; i < ROUNDS; i++) {
		kept[2 * ROUNDS + i] = realloc(NULL, size);
		other = malloc(16);
		kept[2 * ROUNDS + i] = realloc(kept[2 * ROUNDS + i], 100 * size);
		kept[2 * ROUNDS + i] = reallocarray(kept[2 * ROUNDS + i], 10, 20 * size);
		free(other);
	}
}

static NOINLINE void by_alignment(size_t size)
{
	void *block = NULL;

	for (int i = 0; i < ROUNDS; i++) {
		kept[3 * ROUNDS + i] = memalign(64, size);
		kept[4 * ROUNDS + i] = aligned_alloc(64, size);
		if (!posix_memalign(&block, 4096, size))
			kept[5 * ROUNDS + i] = block;
		kept[6 * ROUNDS + i] = valloc(size);
		if (!portable)
			kept[7 * ROUNDS + i] = pvalloc(size);
	}
}

static NOINLINE void temporary(size_t size)
{
	for (int i = 0; i < ROUNDS; i++) {
		other = malloc(size);
		free(other);
	}
}

static NOINLINE void failing(void)
{
	volatile size_t huge = SIZE_MAX / 2;

	for (int i = 0; i < ROUNDS; i++) {
		free(malloc(huge));
		free(calloc(huge, huge));
		free(realloc(NULL, huge));
		free(reallocarray(NULL, huge, huge));
		if (!realloc(kept[0], huge) && *(char *)kept[0] != 'k')
			abort();
	}
}

static NOINLINE void by_mmap(size_t size)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

		place = mremap(place, size, 2 * size, MREMAP_MAYMOVE);
		munmap(place, 2 * size);
	}
	sbrk(4096);
}

static NOINLINE void release_all(void)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

static void everything(void)
{
	by_malloc(1000);
	*(char *)kept[0] = 'k';
	failing();
	by_calloc(100);
	by_realloc(10);
	by_alignment(50);
	temporary(77);
	by_mmap(65536);
	release_all();
}

/* Blocks that one thread allocates and another frees. */
enum { THREADS = 4, EACH = 20000, RING = 64 };

static _Atomic(void *) ring[RING];

static NOINLINE void *pass_on(void *argument)
{
	uint64_t seed = (uint64_t)argument + 1;

	for (int i = 0; i < EACH; i++) {
		seed = churn(seed, 1);
		void *block = malloc(32 + seed % 64);

		free(atomic_exchange(&ring[seed / 64 % RING], block));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t ids[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, pass_on, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (size_t i = 0; i < RING; i++)
		free(ring[i]);
}

/* The child frees what it inherited, and leaves one block of its own. */
static NOINLINE void in_child(void)
{
	release_all();
	kept[0] = malloc(12345);
	_exit(0);
}

static void forks(void)
{
	by_malloc(1000);
	pid_t child = fork();

	if (!child)
		in_child();
	waitpid(child, NULL, 0);
	child = vfork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	release_all();
}

/* A peak of known height in the middle: three quarters of it by one stack. */
static NOINLINE void hill(size_t size)
{
	for (int i = 0; i < 3 * ROUNDS; i++)
		kept[i] = malloc(size);
}

static NOINLINE void rest(size_t size)
{
	for (int i = 3 * ROUNDS; i < 4 * ROUNDS; i++)
		kept[i] = malloc(size);
}

static void peak(void)
{
	hill(10000);
	rest(10000);
	release_all();
	rest(9000);
	release_all();
}

/* Nobody looks at it; the compiler must not know. */
static inline void pass(size_t size)
{
	void *volatile block = malloc(size);

	free(block);
}

/* What a sample is compared with. */
static NOINLINE void small_ones(long count)
{
	for (long i = 0; i < count; i++)
		pass(48);
}

static NOINLINE void large_ones(long count)
{
	for (long i = 0; i < count; i++)
		pass(30000);
}

static NOINLINE void small_ones_kept(long count)
{
	for (long i = 0; i < count; i++)
		*(void *volatile *)malloc(240) = NULL;
}

static void many(void)
{
	small_ones(2000000);
	large_ones(20000);
	small_ones_kept(20000);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "everything";

	portable = !strcmp(what, "portable");
	if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "forks"))
		forks();
	else if (!strcmp(what, "peak"))
		peak();
	else if (!strcmp(what, "many"))
		many();
	else
		everything();
	return 0;
}
