/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing, against bytes worked out by hand from docs/format.md and against a
 * plain decoder written from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/checksum.h"
#include "format/format.h"
#include "launch/run/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "file"

struct bytes {
	uint8_t data[1 << 20];
	size_t size;
};

static int folder = -1;
static char folder_name[] = "/tmp/helio-pack-XXXXXX";
static struct bytes in, out;

static int set_up(void **state)
{
	if (!mkdtemp(folder_name))
		return -1;
	folder = open(folder_name, O_RDONLY | O_DIRECTORY);
	return folder < 0;
}

static int tear_down(void **state)
{
	unlinkat(folder, NAME, 0);
	close(folder);
	return rmdir(folder_name); /* fails if a temporary file stayed */
}

static void begin(const char *kind, uint32_t header_size)
{
	struct format_file_header header = {.version = 1, .header_size = header_size};

	memset(&in, 0, sizeof(in));
	memcpy(header.magic, "HELIO\r\n\x1a", 8);
	memcpy(header.kind, kind, strlen(kind));
	memcpy(in.data, &header, sizeof(header));
	memcpy(in.data + 32, "text", 4);
	in.size = header_size;
}

static struct format_block_header *add_block(uint32_t size, uint32_t used, uint16_t encoding,
					     uint32_t first)
{
	struct format_block_header *block = (void *)(in.data + in.size);

	*block = (struct format_block_header){.magic = FORMAT_BLOCK_MAGIC,
					      .size = size,
					      .used = used,
					      .first = first,
					      .encoding = encoding};
	in.size += size;
	return block;
}

static void write_in(void)
{
	int fd = openat(folder, NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, in.data, in.size), in.size);
	close(fd);
}

static void read_out(void)
{
	int fd = openat(folder, NAME, O_RDONLY);

	assert_true(fd >= 0);
	out.size = (size_t)read(fd, out.data, sizeof(out.data));
	close(fd);
}

static enum pack_result pack(enum pack_result (*work)(int, const char *, uint64_t *, uint64_t *))
{
	uint64_t before = 0;
	uint64_t after = 0;

	write_in();
	enum pack_result result = work(folder, NAME, &before, &after);

	read_out();
	assert_int_equal(before, in.size);
	assert_int_equal(after, out.size);
	return result;
}

static void assert_untouched(void)
{
	assert_int_equal(out.size, in.size);
	assert_memory_equal(out.data, in.data, in.size);
}

static void test_profile_loses_gaps(void **state)
{
	begin("profile", 4096);
	memcpy(add_block(4096, 5, FORMAT_EVENTS, 3) + 1, "\x80\x01\x4d\x00\x40", 5);
	in.size += 4096;				    /* set aside, not begun */
	add_block(4096, 0, FORMAT_EVENTS, 9);		    /* begun, empty */
	add_block(4096, 0, FORMAT_EVENTS, 4)->dropped = 12; /* only losses: must not be lost */
	memcpy(add_block(4096, 8, FORMAT_EVENTS, 5) + 1, "12345678", 8);
	assert_int_equal(pack(pack_blocks), PACK_DONE);

	/* 40 bytes of file header: "text" and its padding; 48 + 40 + 48 of blocks */
	assert_int_equal(out.size, 40 + 48 + 40 + 48);
	const struct format_file_header *header = (void *)out.data;
	const struct format_block_header *block = (void *)(out.data + 40);

	assert_int_equal(header->header_size, 40);
	assert_memory_equal(out.data + 32, "text\0\0\0\0", 8);
	assert_int_equal(block->size, 48);
	assert_int_equal(block->used, 5);
	assert_int_equal(block->first, 3);
	assert_memory_equal(block + 1, "\x80\x01\x4d\x00\x40\0\0\0", 8);
	block = (void *)(out.data + 88);
	assert_int_equal(block->dropped, 12);
	block = (void *)(out.data + 128);
	assert_int_equal(block->first, 5);
	assert_memory_equal(block + 1, "12345678", 8);
}

static void test_packing_twice_changes_nothing(void **state)
{
	begin("profile", 4096);
	memcpy(add_block(8192, 6, FORMAT_EVENTS, 1) + 1, "abcdef", 6);
	assert_int_equal(pack(pack_blocks), PACK_DONE);
	memcpy(&in, &out, sizeof(in));
	assert_int_equal(pack(pack_blocks), PACK_DONE);
	assert_untouched();
}

static void test_packed_damage_is_seen(void **state)
{
	begin("profile", 4096);
	memcpy(add_block(8192, 6, FORMAT_EVENTS, 1) + 1, "abcdef", 6);
	assert_int_equal(pack(pack_blocks), PACK_DONE);
	memcpy(&in, &out, sizeof(in));
	in.data[40 + 40 + 2] ^= 4; /* in the payload: c becomes g */
	assert_int_equal(pack(pack_blocks), PACK_DAMAGED);
	assert_untouched();
}

enum { FULL_BLOCK = 64 * 1024 };

/* Two blocks of a trace with one byte of gap each, and room behind them. */
static void fill_trace(void)
{
	enum { USED = FULL_BLOCK - 40 - 1 };

	begin("heaptrace", 4096);
	for (int i = 0; i < 2; i++)
		memset(add_block(FULL_BLOCK, USED, FORMAT_TRACE, 1) + 1, 'a' + i, USED);
	add_block(4096, 0, FORMAT_TRACE, 2); /* begun, empty */
	in.size += 4096;		     /* set aside */
}

static void test_full_trace_stays(void **state)
{
	enum { SECOND = 4096 + FULL_BLOCK, KEPT = SECOND + FULL_BLOCK };
	const struct format_block_header *first = (void *)(out.data + 4096);
	const struct format_block_header *second = (void *)(out.data + SECOND);

	fill_trace();
	assert_int_equal(pack(pack_traces), PACK_DONE);
	assert_int_equal(out.size, KEPT);
	assert_int_equal(first->checksum, format_checksum(first, first + 1));
	assert_int_equal(second->checksum, format_checksum(second, second + 1));
	assert_int_not_equal(first->checksum, second->checksum);

	/* All else is as it was; and the second time nothing changes. */
	for (size_t at = 4096; at < KEPT; at += FULL_BLOCK)
		memcpy(in.data + at + 36, out.data + at + 36, 4);
	in.size = KEPT;
	assert_untouched();
	assert_int_equal(pack(pack_traces), PACK_DONE);
	assert_untouched();
	in.data[5000] ^= 1;
	assert_int_equal(pack(pack_traces), PACK_DAMAGED);
	assert_untouched();
}

static void test_trace_with_gaps_is_written_anew(void **state)
{
	fill_trace();
	add_block(FULL_BLOCK, 8, FORMAT_TRACE, 3);
	assert_int_equal(pack(pack_traces), PACK_DONE);
	assert_int_equal(out.size, 40 + 2 * FULL_BLOCK + 48); /* each rounded up to 8 */
}

static void test_stacks_bytes(void **state)
{
	static const struct format_node nodes[] = {
		{0, 0, 0x1000}, /* id 1: id - parent 1, new pc: zigzag(0x1000) = 0x2000 */
		{1, 0, 0x1010}, /* id 2: 1, new: zigzag(16) = 32 */
		{0, 0, 0},	/* id 3 is not in use: 0 */
		{1, 0, 0x1000}, /* id 4: 3, the second latest: 2 */
		{4, 0, 0x1010}, /* id 5: 1, the latest: 1 */
		{5, 0, 0x100c}, /* id 6: 1, new: zigzag(-4) = 7 */
	};
	static const uint8_t expected[] = {1, 0, 0x80, 0x40, 1, 0, 32, 0, 3, 2, 1, 1, 1, 0, 7};

	begin("stacks", 4096);
	memcpy(add_block(4096, sizeof(nodes), FORMAT_NODES_RAW, 1) + 1, nodes, sizeof(nodes));
	assert_int_equal(pack(pack_stacks), PACK_DONE);
	assert_int_equal(out.size, 40 + 40 + 16);
	const struct format_block_header *block = (void *)(out.data + 40);

	assert_int_equal(block->encoding, FORMAT_NODES_PACKED);
	assert_int_equal(block->first, 1);
	assert_int_equal(block->count, 6);
	assert_int_equal(block->epoch, 0);
	assert_int_equal(block->used, sizeof(expected));
	assert_memory_equal(block + 1, expected, sizeof(expected));
}

static uint64_t get(const uint8_t **at)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		value |= (uint64_t)(**at & 127) << shift;
		if (!(*(*at)++ & 128))
			return value;
	}
}

enum { IDS = 40000 };
static struct format_node wanted[IDS];
static struct format_node found[IDS];

/* Decodes `out` into `found`; returns how many blocks there were. */
static int decode(void)
{
	static uint64_t news[IDS];
	const struct format_file_header *header = (void *)out.data;
	int blocks = 0;

	memset(found, 0, sizeof(found));
	for (size_t at = header->header_size; at < out.size; blocks++) {
		const struct format_block_header *block = (void *)(out.data + at);
		const uint8_t *byte = (void *)(block + 1);
		uint64_t last = 0;
		size_t count = 0;

		assert_int_equal(block->magic, FORMAT_BLOCK_MAGIC);
		assert_int_equal(block->encoding, FORMAT_NODES_PACKED);
		assert_true(block->used <= 65536);
		for (uint32_t id = block->first; id < block->first + block->count; id++) {
			uint64_t up = get(&byte);
			uint64_t r = up ? get(&byte) : 0;

			if (!up)
				continue;
			if (!r) {
				uint64_t z = get(&byte);

				last += z >> 1 ^ -(z & 1);
				news[count++] = last;
			}
			found[id] = (struct format_node){.parent = id - (uint32_t)up,
							 .epoch = block->epoch,
							 .pc = r ? news[count - r] : last};
		}
		assert_ptr_equal(byte, (const uint8_t *)(block + 1) + block->used);
		at += block->size;
	}
	return blocks;
}

/* Blocks out of order, gaps long and short, epochs, far addresses, more than one block of output.
 */
static void test_stacks_survive(void **state)
{
	uint64_t seed = 42;
	const uint32_t per_block = 4000;

	memset(wanted, 0, sizeof(wanted));
	for (uint32_t id = 1; id < IDS; id++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t random = (uint32_t)(seed >> 33);

		if (random % 16 == 0 || (id > 9000 && id < 9500))
			continue;
		wanted[id] = (struct format_node){.parent = random % 7 ? random % id : id - 1,
						  .epoch = id < 20000 ? 0 : id % 1000 < 500,
						  .pc = (random % 5 ? 0x7f0000000000 : 0x400000) +
							random / 7 % 30000 * 3};
	}
	begin("stacks", 4096);
	for (uint32_t block = IDS / per_block; block-- > 0;)
		memcpy(add_block(65536, per_block * 16, FORMAT_NODES_RAW, block * per_block) + 1,
		       wanted + block * per_block, per_block * 16);
	assert_int_equal(pack(pack_stacks), PACK_DONE);
	assert_in_range(decode(), 40, 60);
	for (uint32_t id = 1; id < IDS; id++)
		if (memcmp(&found[id], &wanted[id], sizeof(found[id])))
			fail_msg("node %u: %u %u %#lx, not %u %u %#lx", id, found[id].parent,
				 found[id].epoch, (unsigned long)found[id].pc, wanted[id].parent,
				 wanted[id].epoch, (unsigned long)wanted[id].pc);
}

static void test_joins_blocks_of_one_epoch(void **state)
{
	begin("stacks", 4096);
	for (uint32_t block = 0; block < 3; block++) {
		struct format_node *nodes =
			(void *)(add_block(4096, 100 * 16, FORMAT_NODES_RAW, 1 + 100 * block) + 1);

		for (uint32_t i = 0; i < 100; i++)
			nodes[i] = (struct format_node){.parent = block * 100 + i, .pc = 64};
	}
	assert_int_equal(pack(pack_stacks), PACK_DONE);
	assert_int_equal(decode(), 1);
	/* 4 bytes for the first node, 2 for each other */
	assert_int_equal(out.size, 40 + 40 + 608);
}

static void test_keeps_damaged(void **state)
{
	begin("stacks", 4096);
	struct format_block_header *block = add_block(4096, 32, FORMAT_NODES_RAW, 1);
	struct format_node *nodes = (void *)(block + 1);

	nodes[0] = (struct format_node){.parent = 1, .pc = 16}; /* its own parent */
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	assert_untouched();
	nodes[0].parent = 0;
	nodes[0].epoch = 65536; /* more than a packed block can say */
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	nodes[0].epoch = 65535;
	assert_int_equal(pack(pack_stacks), PACK_DONE);
	block->encoding = 77;
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	block->encoding = FORMAT_NODES_RAW;
	block->used = 4096 - 39;
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	block->used = 32;
	block->size = 8192;
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	block->size = 4096;
	in.data[in.size] = 1; /* something where nothing should be */
	in.size += 4096;
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	assert_untouched();
	in.size = 30;
	assert_int_equal(pack(pack_stacks), PACK_DAMAGED);
	assert_untouched();
}

static void test_absent_and_empty(void **state)
{
	uint64_t size = 0;

	unlinkat(folder, NAME, 0);
	assert_int_equal(pack_blocks(folder, NAME, &size, &size), PACK_ABSENT);
	in.size = 0;
	assert_int_equal(pack(pack_blocks), PACK_ABSENT);
}

/* What a process leaves that is killed between setting room aside and writing the header. */
static void test_blank(void **state)
{
	memset(in.data, 0, 65536);
	in.size = 65536;
	assert_int_equal(pack(pack_blocks), PACK_ABSENT);
	assert_untouched();
	assert_int_equal(pack(pack_stacks), PACK_ABSENT);
	assert_int_equal(pack(pack_traces), PACK_ABSENT);
	in.data[65528] = 1;
	assert_int_equal(pack(pack_blocks), PACK_DAMAGED);
	assert_untouched();
}

/* A disk that is full: the file stays, nothing is left behind (see tear_down). */
static void test_no_room(void **state)
{
	struct rlimit old;
	uint64_t size = 0;

	begin("profile", 4096);
	memset(add_block(65536, 60000, FORMAT_EVENTS, 1) + 1, 7, 60000);
	write_in();
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 100, .rlim_max = old.rlim_max});
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(pack_blocks(folder, NAME, &size, &size), PACK_FAILED);
	assert_int_equal(errno, EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	read_out();
	assert_untouched();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_loses_gaps),
		cmocka_unit_test(test_packing_twice_changes_nothing),
		cmocka_unit_test(test_packed_damage_is_seen),
		cmocka_unit_test(test_full_trace_stays),
		cmocka_unit_test(test_trace_with_gaps_is_written_anew),
		cmocka_unit_test(test_stacks_bytes),
		cmocka_unit_test(test_stacks_survive),
		cmocka_unit_test(test_joins_blocks_of_one_epoch),
		cmocka_unit_test(test_keeps_damaged),
		cmocka_unit_test(test_absent_and_empty),
		cmocka_unit_test(test_blank),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
