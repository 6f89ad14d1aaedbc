/* SPDX-License-Identifier: Apache-2.0 */
/* stacks: raw and packed nodes, merging, and what is impossible. */
#include "experiment/stacks.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	char *path;
	struct bytes file;
	struct diag_list diags;
	struct stack_tree tree;
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){.path = make_experiment("s.er")};
	put_file_header(&fixture->file, "stacks");
}

static void read_stacks(struct fixture *fixture)
{
	struct read_context context = {root_folder(), fixture->path, "s.er", &fixture->diags, NULL};

	write_file(fixture->path, "stacks", fixture->file.data, fixture->file.size);
	experiment_stacks_read(&fixture->tree, &context);
}

static void end(struct fixture *fixture)
{
	experiment_stacks_fini(&fixture->tree);
	diag_fini(&fixture->diags);
	bytes_free(&fixture->file);
	remove_experiment(fixture->path);
	free(fixture->path);
}

/* The pcs of a stack, innermost first, ended by 0; compared with those of a file's id. */
static void assert_stack(const struct stack_tree *tree, uint32_t id, const uint64_t *pcs)
{
	assert_true(id < tree->id_count);

	uint32_t node = tree->by_id[id];

	for (; *pcs; pcs++) {
		assert_true(node != STACK_ROOT && node < tree->nodes.count);

		const struct stack_node *entry = &tree->nodes.items[node];

		assert_true(entry->parent < node);
		assert_int_equal(tree->locations.items[entry->location].pc, *pcs);
		node = entry->parent;
	}
	assert_int_equal(node, STACK_ROOT);
}

static void test_raw(void **state)
{
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put_raw_node(&payload, 0, 0, 0x1000); /* 5 */
	put_raw_node(&payload, 5, 0, 0x2000); /* 6 */
	put_raw_node(&payload, 0, 0, 0);      /* 7: not in use */
	put_raw_node(&payload, 5, 0, 0x2000); /* 8: as 6 */
	put_raw_node(&payload, 8, 0, 0x3000); /* 9 */
	put_raw_node(&payload, 6, 0, 0x3000); /* 10: as 9 */
	put_raw_node(&payload, 6, 1, 0x3000); /* 11: another epoch */
	put_raw_node(&payload, 6, 1, 2);      /* 12: a stand-in has no epoch */
	put_raw_node(&payload, 6, 2, 2);      /* 13 */
	put_block(&fixture.file, (struct format_block_header){.first = 5, .encoding = 2}, &payload);
	read_stacks(&fixture);

	const struct stack_tree *tree = &fixture.tree;

	assert_stack(tree, 5, (const uint64_t[]){0x1000, 0});
	assert_stack(tree, 9, (const uint64_t[]){0x3000, 0x2000, 0x1000, 0});
	assert_int_equal(tree->by_id[7], STACK_NO_NODE);
	assert_int_equal(tree->by_id[6], tree->by_id[8]);
	assert_int_equal(tree->by_id[9], tree->by_id[10]);
	assert_int_not_equal(tree->by_id[9], tree->by_id[11]);
	assert_int_equal(tree->by_id[12], tree->by_id[13]);
	assert_stack(tree, 11, (const uint64_t[]){0x3000, 0x2000, 0x1000, 0});
	assert_int_equal(tree->nodes.count, 2 + 5);
	assert_int_equal(fixture.diags.count, 0);
	bytes_free(&payload);
	end(&fixture);
}

static void test_packed(void **state)
{
	static const uint8_t bytes[] = {
		0x0a, 0x00, 0x80, 0x40, /* id 10: parent 0, new pc +4096 */
		0x01, 0x00, 0x20,	/* 11: parent 10, new pc +16 */
		0x00,			/* 12: not in use */
		0x02, 0x02,		/* 13: parent 11, the second latest pc */
		0x01, 0x01,		/* 14: parent 13, the latest pc */
		0x0f, 0x00, 0x1f,	/* 15: parent 0, new pc -16 */
		0x01, 0x03,		/* 16: parent 15, the third latest */
	};
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	bytes_put(&payload, bytes, sizeof(bytes));
	put_block(&fixture.file,
		  (struct format_block_header){.first = 10, .encoding = 3, .epoch = 4, .count = 7},
		  &payload);
	read_stacks(&fixture);
	assert_stack(&fixture.tree, 11, (const uint64_t[]){0x1010, 0x1000, 0});
	assert_stack(&fixture.tree, 13, (const uint64_t[]){0x1000, 0x1010, 0x1000, 0});
	assert_stack(&fixture.tree, 14, (const uint64_t[]){0x1010, 0x1000, 0x1010, 0x1000, 0});
	/* 15 says a pc that was new before: the same location, and the same stack as 10 */
	assert_int_equal(fixture.tree.by_id[15], fixture.tree.by_id[10]);
	assert_stack(&fixture.tree, 16, (const uint64_t[]){0x1000, 0x1000, 0});
	assert_int_equal(fixture.tree.by_id[12], STACK_NO_NODE);
	assert_int_equal(fixture.tree.locations.items[fixture.tree.nodes.items[2].location].epoch,
			 4);
	assert_int_equal(fixture.diags.count, 0);
	bytes_free(&payload);
	end(&fixture);
}

static void test_blocks_in_any_order(void **state)
{
	struct bytes child = {0}, parent = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put_raw_node(&child, 3, 0, 0x2000);
	put_raw_node(&parent, 0, 0, 0x1000);
	put_block(&fixture.file, (struct format_block_header){.first = 100, .encoding = 2}, &child);
	put_block(&fixture.file, (struct format_block_header){.first = 3, .encoding = 2}, &parent);
	read_stacks(&fixture);
	assert_stack(&fixture.tree, 100, (const uint64_t[]){0x2000, 0x1000, 0});
	assert_int_equal(fixture.diags.count, 0);
	bytes_free(&child);
	bytes_free(&parent);
	end(&fixture);
}

static void test_impossible_parents(void **state)
{
	static const uint32_t parents[] = {2, 7, 0xffffffff, 5};
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put_raw_node(&payload, 0, 0, 0x1000); /* 1 */
	for (unsigned i = 0; i < 4; i++)      /* itself, a later one, no such, again itself */
		put_raw_node(&payload, parents[i], 0, 0x2000);
	put_block(&fixture.file, (struct format_block_header){.first = 1, .encoding = 2}, &payload);
	read_stacks(&fixture);
	/* what remains of the stack hangs on <Unknown> */
	for (uint32_t id = 2; id <= 5; id++)
		assert_stack(&fixture.tree, id, (const uint64_t[]){0x2000, FORMAT_PC_UNKNOWN, 0});
	assert_stack(&fixture.tree, 1, (const uint64_t[]){0x1000, 0});
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "callers of 4"));
	bytes_free(&payload);
	end(&fixture);
}

static void test_impossible_ids(void **state)
{
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put_raw_node(&payload, 0, 0, 0x1000);
	put_raw_node(&payload, 0, 0, 0x2000);
	put_block(&fixture.file, (struct format_block_header){.first = 0, .encoding = 2}, &payload);
	put_block(&fixture.file, (struct format_block_header){.first = 0xfffffffe, .encoding = 2},
		  &payload);
	put_block(&fixture.file, (struct format_block_header){.first = 1, .encoding = 2}, &payload);
	read_stacks(&fixture);
	/* id 0 is the root's; ids of 4 billion in a file of some bytes; 1 was another node already
	 */
	assert_stack(&fixture.tree, 1, (const uint64_t[]){0x2000, 0});
	assert_stack(&fixture.tree, 2, (const uint64_t[]){0x2000, 0});
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "4 call stack nodes"));
	bytes_free(&payload);
	end(&fixture);
}

static void test_packed_damage(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
		{"\x01\x02", 2},	 /* the second latest pc of none */
		{"\x01\x00\x80", 3},	 /* half a pc */
		{"\x01", 1},		 /* no pc at all */
		{"\x01\x00\x80\x40", 4}, /* fewer nodes than announced */
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct bytes payload = {0};
		struct fixture fixture;

		begin(&fixture);
		bytes_put(&payload, cases[i].bytes, cases[i].size);
		put_block(&fixture.file,
			  (struct format_block_header){.first = 1, .encoding = 3, .count = 2},
			  &payload);
		read_stacks(&fixture);
		assert_int_equal(fixture.diags.count, 1);
		assert_non_null(strstr(fixture.diags.items[0].text,
				       i == 3 ? "1 call stack nodes" : "2 call stack nodes"));
		bytes_free(&payload);
		end(&fixture);
	}
}

static void test_missing_file(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);

	struct read_context context = {root_folder(), "/nowhere", "s.er", &fixture.diags, NULL};

	experiment_stacks_read(&fixture.tree, &context);
	assert_false(fixture.tree.present);
	assert_int_equal(fixture.tree.nodes.count, 2);
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_blocks_in_any_order),
		cmocka_unit_test(test_impossible_parents),
		cmocka_unit_test(test_impossible_ids),
		cmocka_unit_test(test_packed_damage),
		cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
