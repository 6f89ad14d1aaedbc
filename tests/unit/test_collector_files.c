/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block files, the stack table and the record writer, used directly: what many
 * threads put in at once must be what a plain scan of the files finds.
 */
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/writer.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "format/format.h"
#include "format/varint.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 4, STACKS = 100000, DEPTH = 6 };

static char directory[] = "/tmp/helio-collector-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/helio-collector-XXXXXX");
	assert_non_null(mkdtemp(directory));
	strcpy(collector.directory, directory);
	collector.depth = 64;
	return 0;
}

static int drop_directory(void **state)
{
	char command[256];

	(void)state;
	stacktable_abandon(false);
	blockfile_abandon(&collector.profile, false);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* The whole file, mapped copies do not matter: shared mappings are the page cache. */
static uint8_t *read_file(const char *name, size_t *size)
{
	char path[512];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	uint8_t *data = malloc((size_t)status.st_size);
	*size = fread(data, 1, (size_t)status.st_size, file);
	fclose(file);
	return data;
}

/* Calls visit for each block, skipping to the next boundary where there is none. */
static void for_each_block(const uint8_t *data, size_t size,
			   void (*visit)(const struct format_block_header *, const uint8_t *,
					 void *),
			   void *arg)
{
	struct format_file_header header;

	memcpy(&header, data, sizeof(header));
	assert_memory_equal(header.magic, FORMAT_FILE_MAGIC, 8);
	for (size_t at = header.header_size; at + sizeof(struct format_block_header) <= size;) {
		struct format_block_header block;

		memcpy(&block, data + at, sizeof(block));
		if (block.magic != FORMAT_BLOCK_MAGIC) {
			at = (at / FORMAT_BLOCK_ALIGN + 1) * FORMAT_BLOCK_ALIGN;
			continue;
		}
		visit(&block, data + at + sizeof(block), arg);
		at += block.size;
	}
}

/* ---- stacks ---- */

struct nodes {
	uint32_t parent[1 << 21];
	uint64_t pc[1 << 21];
	uint32_t count;
};

static void collect_nodes(const struct format_block_header *block, const uint8_t *payload,
			  void *arg)
{
	struct nodes *nodes = arg;

	for (uint32_t i = 0; i < block->used / sizeof(struct format_node); i++) {
		struct format_node node;

		memcpy(&node, payload + i * sizeof(node), sizeof(node));
		if (!node.pc)
			continue;
		assert_true(node.parent < block->first + i);
		nodes->parent[block->first + i] = node.parent;
		nodes->pc[block->first + i] = node.pc;
		nodes->count++;
	}
}

/* A stack made of a number: the same for equal numbers, sharing prefixes with its neighbours. */
static uint64_t pc_at(uint32_t number, int level)
{
	return 0x400000 + ((uint64_t)level << 32) + (number >> (2 * (DEPTH - 1 - level)));
}

static uint32_t ids[THREADS][STACKS];

static void *intern_all(void *arg)
{
	uint32_t *mine = arg;

	for (uint32_t number = 0; number < STACKS; number++) {
		uint32_t node = 0;

		for (int level = 0; level < DEPTH; level++)
			node = stacktable_intern(node, pc_at(number, level), NULL);
		mine[number] = node;
	}
	return NULL;
}

static uint32_t count_nodes(void)
{
	struct nodes *nodes = calloc(1, sizeof(*nodes));
	size_t size;
	uint8_t *data = read_file(FORMAT_FILE_STACKS, &size);

	for_each_block(data, size, collect_nodes, nodes);
	uint32_t count = nodes->count;

	free(data);
	free(nodes);
	return count;
}

static void every_stack_is_found_again_whoever_interned_it(void **state)
{
	pthread_t threads[THREADS];
	struct nodes *nodes = calloc(1, sizeof(*nodes));
	size_t size;

	(void)state;
	stacktable_open();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, intern_all, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	uint8_t *data = read_file(FORMAT_FILE_STACKS, &size);
	for_each_block(data, size, collect_nodes, nodes);
	for (int i = 0; i < THREADS; i++) {
		for (uint32_t number = 0; number < STACKS; number++) {
			uint32_t node = ids[i][number];

			for (int level = DEPTH - 1; level >= 0; level--) {
				assert_int_equal(nodes->pc[node], pc_at(number, level));
				node = nodes->parent[node];
			}
			assert_int_equal(node, 0);
		}
	}
	free(data);
	free(nodes);
	/* Races leave twins, as many as the scheduler likes; who asks later finds one of each. */
	intern_all(ids[0]);
	uint32_t known = count_nodes();

	intern_all(ids[1]);
	assert_int_equal(count_nodes(), known);
	assert_memory_equal(ids[0], ids[1], sizeof(ids[0]));
}

static void a_stack_interned_twice_is_one_node(void **state)
{
	(void)state;
	stacktable_open();
	uint32_t a = stacktable_intern(0, 0x1000, NULL);
	uint32_t b = stacktable_intern(a, 0x2000, NULL);

	assert_int_equal(stacktable_intern(0, 0x1000, NULL), a);
	assert_int_equal(stacktable_intern(a, 0x2000, NULL), b);
	assert_true(b > a);
	stacktable_next_epoch();
	assert_int_not_equal(stacktable_intern(0, 0x1000, NULL), a);
}

/* ---- records ---- */

struct totals {
	uint64_t weight[FORMAT_STATE_COUNT];
	uint64_t begin_us, end_us;
	uint32_t events, thread, tid;
};

static void decode(const struct format_block_header *block, const uint8_t *at, void *arg)
{
	struct totals *totals = arg;
	const uint8_t *end = at + block->used;
	uint64_t time = block->base_time, dt = 0, weight, value = 0, stack = 0;

	while (at < end) {
		uint8_t tag = *at++;

		if (tag == FORMAT_TAG_THREAD) {
			at = varint_get(at, end, &value);
			totals->thread = (uint32_t)value;
			at = varint_get(at, end, &value);
			totals->tid = (uint32_t)value;
			at = varint_get(at, end, &time);
			totals->begin_us = time;
		} else if (tag == FORMAT_TAG_THREAD_END) {
			at = varint_get(at, end, &dt);
			totals->end_us = time + dt;
		} else if (tag == FORMAT_TAG_CPU) {
			at = varint_get(at, end, &value);
		} else {
			dt = 0;
			if (!(tag & FORMAT_TAG_SAME_TIME))
				at = varint_get(at, end, &dt);
			time += dt;
			weight = dt;
			if (!(tag & FORMAT_TAG_WEIGHT_IS_DT))
				at = varint_get(at, end, &weight);
			if (!(tag & FORMAT_TAG_SAME_STACK)) {
				at = varint_get(at, end, &value);
				stack += (uint64_t)zigzag_decode(value);
			}
			assert_int_equal(stack, 7 + weight % 3);
			totals->weight[tag & FORMAT_TAG_STATE_MASK] += weight;
			totals->events++;
		}
		assert_non_null(at);
	}
}

static void records_say_what_was_written(void **state)
{
	enum { EVENTS = 20000 }; /* several blocks */
	struct totals totals = {0};
	uint64_t expected[FORMAT_STATE_COUNT] = {0}, now = 5000000;
	size_t size;

	(void)state;
	collector.start_ns = 0;
	assert_int_equal(writer_open(), 0);
	struct thread *thread = thread_new();
	assert_non_null(thread);
	thread_adopt(thread, now);
	for (uint32_t i = 0; i < EVENTS; i++) {
		enum format_state in = i % 3 ? FORMAT_STATE_USER : FORMAT_STATE_SLEEP;
		uint64_t weight = 1 + i * 7919u % 20000;

		now += (i % 5 ? weight : 0) * 1000;
		writer_event(thread, now, in, weight, (uint32_t)(7 + weight % 3));
		expected[in] += weight;
	}
	writer_thread_end(thread, now + 1000000);
	uint8_t *data = read_file(FORMAT_FILE_PROFILE, &size);
	for_each_block(data, size, decode, &totals);
	assert_int_equal(totals.events, EVENTS);
	assert_int_equal(totals.weight[FORMAT_STATE_USER], expected[FORMAT_STATE_USER]);
	assert_int_equal(totals.weight[FORMAT_STATE_SLEEP], expected[FORMAT_STATE_SLEEP]);
	assert_int_equal(totals.begin_us, 5000);
	assert_int_equal(totals.end_us, now / 1000 + 1000);
	assert_int_equal(totals.tid, gettid());
	assert_int_equal(collector.dropped, 0);
	free(data);
}

static uint8_t *take(size_t size)
{
	return blockfile_take(&collector.profile, size, &(uint32_t){0});
}

static void first_record_waits_for_room(void **state)
{
	struct rlimit before, none;
	struct totals totals = {0};
	size_t size;

	(void)state;
	collector.start_ns = 0;
	assert_int_equal(writer_open(), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	while (take(FORMAT_BLOCK_ALIGN))
		;
	struct thread *thread = thread_new();
	thread_adopt(thread, 5000000);
	assert_false(writer_event(thread, 6000000, FORMAT_STATE_USER, 1000, 8));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(writer_event(thread, 7000000, FORMAT_STATE_USER, 2000, 9));
	uint8_t *data = read_file(FORMAT_FILE_PROFILE, &size);
	for_each_block(data, size, decode, &totals);
	assert_int_equal(totals.tid, gettid());
	assert_int_equal(totals.begin_us, 5000);
	assert_int_equal(totals.weight[FORMAT_STATE_USER], 2000);
	free(data);
}

/* ---- limits ---- */

static void a_file_size_limit_is_an_error_and_not_a_signal(void **state)
{
	struct rlimit before, small = {.rlim_cur = 70000, .rlim_max = RLIM_INFINITY};
	size_t taken = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(blockfile_create(&collector.profile, directory, "profile", "x"), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	while (taken < 1000 && take(FORMAT_BLOCK_ALIGN))
		taken++;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(taken > 0 && taken < 1000);
	assert_int_equal(collector.profile.failed, EFBIG);
}

static void blocks_do_not_overlap_and_are_zero(void **state)
{
	enum { BLOCKS = 3000, SIZE = 2 * FORMAT_BLOCK_ALIGN };
	static uint8_t *blocks[BLOCKS];

	(void)state;
	assert_int_equal(blockfile_create(&collector.profile, directory, "profile", "x"), 0);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = take(SIZE);
		assert_non_null(blocks[i]);
		for (int j = 0; j < SIZE; j += 512)
			assert_int_equal(blocks[i][j], 0);
		memset(blocks[i], i & 0xff, SIZE);
	}
	for (int i = 0; i < BLOCKS; i++)
		for (int j = 0; j < SIZE; j += 512)
			assert_int_equal(blocks[i][j], i & 0xff);
}

static void *make_ready_later(void *arenas_claimed)
{
	const struct timespec nap = {.tv_nsec = 20000000};

	nanosleep(&nap, NULL);
	for (int i = 1; i <= *(int *)arenas_claimed; i++)
		atomic_store(&collector.profile.arena[i].state, ARENA_EMPTY);
	return NULL;
}

/* As many threads make arenas on a slow disk as there are arenas within reach. */
static void blocks_that_are_being_made_are_waited_for(void **state)
{
	int claimed = 64;
	pthread_t others;

	(void)state;
	assert_int_equal(blockfile_create(&collector.profile, directory, "profile", "x"), 0);
	for (int i = 1; i <= claimed; i++)
		atomic_store(&collector.profile.arena[i].state, ARENA_CLAIMED);
	assert_int_equal(pthread_create(&others, NULL, make_ready_later, &claimed), 0);
	for (int i = 0; i < 10; i++)
		assert_non_null(take(2 * FORMAT_BLOCK_ALIGN));
	pthread_join(others, NULL);
}

/* Whoever went past an arena that was being made does not come back to it when it is ready. */
static void blocks_of_one_taker_ascend(void **state)
{
	enum { BLOCK = 4 * FORMAT_BLOCK_ALIGN };
	uint32_t arena = 0;

	(void)state;
	assert_int_equal(blockfile_create(&collector.profile, directory, "profile", "x"), 0);
	while (!arena) {
		atomic_store(&collector.profile.arena[1].state, ARENA_CLAIMED);
		assert_non_null(blockfile_take(&collector.profile, BLOCK, &arena));
	}
	assert_int_equal(arena, 2);
	atomic_store(&collector.profile.arena[1].state, ARENA_EMPTY);
	assert_non_null(blockfile_take(&collector.profile, BLOCK, &arena));
	assert_int_equal(arena, 2);
	assert_non_null(take(BLOCK));
	assert_int_equal(atomic_load(&collector.profile.arena[1].state), ARENA_READY);
}

int main(void)
{
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, drop_directory)
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(a_stack_interned_twice_is_one_node),
		IN_DIRECTORY(every_stack_is_found_again_whoever_interned_it),
		IN_DIRECTORY(records_say_what_was_written),
		IN_DIRECTORY(first_record_waits_for_room),
		IN_DIRECTORY(a_file_size_limit_is_an_error_and_not_a_signal),
		IN_DIRECTORY(blocks_do_not_overlap_and_are_zero),
		IN_DIRECTORY(blocks_that_are_being_made_are_waited_for),
		IN_DIRECTORY(blocks_of_one_taker_ascend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
