/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves blocks behind in every relation to the rest of its memory.  Each kind is allocated by a
 * function of its own, site_…; what memcheck says of the same program is what must be said of them.
 * "exit": ends by exit() in a function; else main returns.
 */
#include "target.h"

#include <pthread.h>
#include <sys/mman.h>

struct node {
	struct node *next;
	void *data;
	char text[24];
};

static struct node *volatile root;
static void *volatile inner;
static void *volatile array;
static __thread void *volatile own;
static void **volatile place;
static _Atomic int waiting;

/* Keeps the compiler from knowing what becomes of a block, and from leaving by a jump. */
static inline void *seen(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static NOINLINE void *site_lost(size_t size)
{
	return seen(malloc(size));
}

static NOINLINE void *site_lost_data(size_t size)
{
	return seen(calloc(1, size));
}

static NOINLINE void *site_list(void)
{
	return seen(calloc(1, sizeof(struct node)));
}

static NOINLINE void *site_list_data(void)
{
	return seen(realloc(NULL, 300));
}

static NOINLINE void *site_ring(void)
{
	return seen(calloc(2, sizeof(struct node)));
}

static NOINLINE void *site_inner(void)
{
	return seen(calloc(4, 100));
}

static NOINLINE void *site_below_inner(void)
{
	return seen(malloc(77));
}

static NOINLINE void *site_array(void)
{
	return seen(malloc(8 + 12 * 10));
}

static NOINLINE void *site_thread_local(void)
{
	return seen(malloc(555));
}

static NOINLINE void *site_mapping(void)
{
	return seen(malloc(444));
}

static NOINLINE void *site_waiting_stack(void)
{
	return seen(malloc(333));
}

static NOINLINE void *site_ended_list(void)
{
	return seen(malloc(sizeof(struct node)));
}

static NOINLINE void *site_ended_local(void)
{
	return seen(malloc(321));
}

static NOINLINE void *site_ended_thread_local(void)
{
	return seen(malloc(432));
}

static NOINLINE void *site_result_taken(void)
{
	return seen(malloc(543));
}

static NOINLINE void *site_result_left(void)
{
	return seen(malloc(654));
}

static NOINLINE void *site_given_stack(void)
{
	return seen(malloc(765));
}

static NOINLINE void *site_argument(void)
{
	return seen(malloc(876));
}

static NOINLINE void *site_local(void)
{
	return seen(malloc(222));
}

static NOINLINE void *site_large(void)
{
	return seen(malloc(200000)); /* with a mapping of its own */
}

static NOINLINE void *site_moved(size_t size)
{
	return seen(realloc(realloc(malloc(10), size / 2), size));
}

static NOINLINE void *site_other(size_t size)
{
	return seen(malloc(size + 1));
}

/* Writes over what calls left on the stack, and frees what lay between the others. */
static NOINLINE void forget(void)
{
	volatile char room[16384];

	memset((char *)room, 0, sizeof(room));
}

static NOINLINE void lose(void)
{
	for (int i = 0; i < 10; i++) {
		struct node *node = site_lost(sizeof(*node));

		node->next = NULL;
		node->data = site_lost_data(100);
	}
	site_lost(5000);
	site_moved(2000);
	site_large();
}

static NOINLINE void lose_ring(void)
{
	struct node *first = site_ring(), *second = site_ring();

	first->next = second;
	second->next = first;
	seen(first);
}

static NOINLINE void keep(void)
{
	for (int i = 0; i < 20; i++) {
		struct node *node = site_list();

		node->data = site_list_data();
		node->next = root;
		root = node;
	}
	void **block = site_inner();

	block[2] = site_below_inner();
	inner = (char *)block + 56;
	uint64_t *counted = site_array();

	counted[0] = 10;
	array = counted + 1;
	own = site_thread_local();
	place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place[100] = site_mapping();
}

/* Blocks come and go in between, so that free memory has old pointers in it. */
static NOINLINE void stir(void)
{
	void *blocks[50];

	for (int i = 0; i < 50; i++) {
		blocks[i] = site_other(40 + 8 * (size_t)i);
		memset(blocks[i], 0, 8);
		*(void **)blocks[i] = root;
	}
	for (int i = 0; i < 50; i++)
		free(blocks[i]);
}

static void *wait_for_ever(void *unused)
{
	void *volatile block = site_waiting_stack();

	waiting = 1;
	for (;;)
		pause();
	return block;
}

/* Loses all of it when it ends. */
static void *build_and_end(void *unused)
{
	struct node *first = NULL;
	void *volatile block = site_ended_local();

	for (int i = 0; i < 1000; i++) {
		struct node *node = site_ended_list();

		node->next = first;
		node->data = NULL;
		first = node;
	}
	own = site_ended_thread_local();
	seen(first);
	return block == NULL ? unused : site_result_taken();
}

static void *leave_result(void *unused)
{
	(void)unused;
	return site_result_left();
}

static void *keep_on_given(void *unused)
{
	own = site_given_stack();
	return unused;
}

/* Their stacks stay: two are the C library's again, one may still be asked for, one is ours. */
static NOINLINE void let_threads_end(void)
{
	enum { GIVEN = 256 * 1024 };
	pthread_attr_t given;
	pthread_t ids[3];

	pthread_attr_init(&given);
	pthread_attr_setstack(
		&given,
		mmap(NULL, GIVEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		GIVEN);
	pthread_create(&ids[0], NULL, build_and_end, NULL);
	pthread_create(&ids[1], NULL, leave_result, NULL);
	pthread_create(&ids[2], &given, keep_on_given, NULL);
	pthread_join(ids[0], NULL);
	pthread_join(ids[2], NULL);
	pthread_attr_destroy(&given);
	usleep(20000);
}

static NOINLINE void leave(void)
{
	void *volatile block = site_local();

	exit(block == NULL);
}

int main(int argc, char **argv)
{
	pthread_t id;

	pthread_create(&id, NULL, wait_for_ever, site_argument());
	while (!waiting)
		usleep(1000);
	usleep(20000);
	stir();
	lose();
	lose_ring();
	keep();
	let_threads_end();
	stir();
	forget();
	if (argc > 1 && !strcmp(argv[1], "exit"))
		leave();
	return 0;
}
