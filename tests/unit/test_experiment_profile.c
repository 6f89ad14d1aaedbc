/* SPDX-License-Identifier: Apache-2.0 */
/* profile: hand-made bytes, and what they mean by docs/format.md. */
#include "experiment/contexts.h"
#include "experiment/profile.h"
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
	struct experiment_profile profile;
	struct context_table contexts;
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){.path = make_experiment("p.er")};
	put_file_header(&fixture->file, "profile");
}

static void read_profile(struct fixture *fixture)
{
	struct read_context context = {root_folder(), fixture->path, "p.er", &fixture->diags,
				       &fixture->contexts};

	write_file(fixture->path, "profile", fixture->file.data, fixture->file.size);
	experiment_profile_read(&fixture->profile, &context);
}

static void end(struct fixture *fixture)
{
	experiment_profile_fini(&fixture->profile);
	context_table_fini(&fixture->contexts);
	diag_fini(&fixture->diags);
	bytes_free(&fixture->file);
	remove_experiment(fixture->path);
	free(fixture->path);
}

static void add_block(struct fixture *fixture, uint32_t thread, uint64_t time,
		      const struct bytes *payload)
{
	put_block(&fixture->file,
		  (struct format_block_header){
			  .first = thread, .base_time = time, .encoding = FORMAT_EVENTS},
		  payload);
}

static void assert_row(const struct experiment_profile *profile, size_t segment, uint32_t row,
		       uint64_t time, unsigned state, uint32_t weight, uint32_t stack, unsigned cpu)
{
	const struct profile_segment *entry = &profile->segments.items[segment];
	const struct rows *rows = &profile->rows;

	assert_in_range(row, 0, entry->count - 1);
	assert_int_equal(rows_get(rows, ROW_TIME, entry->first + row), time);
	assert_int_equal(rows_get(rows, ROW_TYPE, entry->first + row), state);
	assert_int_equal(rows_get(rows, ROW_FIELD + PROFILE_WEIGHT, entry->first + row), weight);
	assert_int_equal(rows_get(rows, ROW_STACK, entry->first + row), stack);
	assert_int_equal(rows_get(rows, ROW_CPU, entry->first + row), cpu);
}

static void test_every_kind_of_record(void **state)
{
	static const uint8_t bytes[] = {
		0x80, 0x01, 0xe4, 0x00, 0x0a, /* thread 1, tid 100 (in two bytes), time 10 */
		0x40, 0x05, 0x06,	      /* user, dt = weight = 5, stack 0 + 3 */
		0x84, 0x07,		      /* cpu 7 */
		0x51, 0x80, 0x01,	      /* system, same stack, dt = weight = 128 */
		0x37, 0x02,		      /* sleep, same stack, same time, weight 2 */
		0x08, 0x10, 0x03, 0x03,	      /* wait, dt 16, weight 3, stack 3 - 2 */
		0x82, 0x04,		      /* pause after 4 */
		0x83, 0x64,		      /* resume after 100 */
		0x50, 0x01,		      /* user, same stack, dt = weight = 1 */
		0x81, 0x02,		      /* end after 2 */
	};
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	bytes_put(&payload, bytes, sizeof(bytes));
	add_block(&fixture, 1, 10, &payload);
	read_profile(&fixture);

	const struct experiment_profile *profile = &fixture.profile;

	assert_int_equal(profile->event_count, 5);
	assert_int_equal(profile->segments.count, 1);
	assert_row(profile, 0, 0, 15, FORMAT_STATE_USER, 5, 3, PROFILE_NO_CPU);
	assert_row(profile, 0, 1, 143, FORMAT_STATE_SYSTEM, 128, 3, 7);
	assert_row(profile, 0, 2, 143, FORMAT_STATE_SLEEP, 2, 3, 7);
	assert_row(profile, 0, 3, 159, FORMAT_STATE_WAIT_CPU, 3, 1, 7);
	assert_row(profile, 0, 4, 264, FORMAT_STATE_USER, 1, 1, 7);

	const struct profile_thread *thread = &profile->threads.items[0];

	assert_int_equal(profile->threads.count, 1);
	assert_int_equal(thread->number, 1);
	assert_int_equal(thread->tid, 100);
	assert_int_equal(thread->begin_us, 10);
	assert_int_equal(thread->end_us, 266);
	assert_int_equal(profile_more(profile, thread)->paused_us, 100);
	assert_true(thread->began && thread->ended && !thread->paused);
	assert_int_equal(thread->recorded_us, 6 + 128 + 2 + 3);
	assert_int_equal(profile->state_us[FORMAT_STATE_USER], 6);
	assert_int_equal(profile->state_us[FORMAT_STATE_SYSTEM], 128);
	assert_int_equal(profile->state_us[FORMAT_STATE_SLEEP], 2);
	assert_int_equal(profile->state_us[FORMAT_STATE_WAIT_CPU], 3);
	assert_int_equal(fixture.diags.count, 0);
	bytes_free(&payload);
	end(&fixture);
}

static void test_threads_change_within_and_between_blocks(void **state)
{
	struct bytes first = {0}, second = {0};
	struct fixture fixture;
	uint32_t stack = 0;

	(void)state;
	begin(&fixture);
	put_thread(&first, 1, 11, 100);
	put_event(&first, FORMAT_STATE_USER, 10, 10, &stack, 5);
	put_thread(&first, 2, 12, 105);
	put_event(&first, FORMAT_STATE_SLEEP, 20, 20, &stack, 6);
	add_block(&fixture, 1, 100, &first);
	stack = 0; /* the previous stack is the block's */
	put_event(&second, FORMAT_STATE_USER, 3, 3, &stack, 9);
	add_block(&fixture, 1, 110, &second);
	read_profile(&fixture);

	const struct experiment_profile *profile = &fixture.profile;

	assert_int_equal(profile->threads.count, 2);
	assert_int_equal(profile->threads.items[0].recorded_us, 13);
	assert_int_equal(profile->threads.items[1].recorded_us, 20);
	assert_int_equal(profile->threads.items[1].begin_us, 105);
	assert_int_equal(profile->threads.items[1].end_us, 125);
	assert_int_equal(profile->segments.count, 3);
	assert_row(profile, 2, 0, 113, FORMAT_STATE_USER, 3, 9, PROFILE_NO_CPU);
	assert_int_equal(profile->last_us, 125);
	assert_int_equal(fixture.diags.count, 0);
	bytes_free(&first);
	bytes_free(&second);
	end(&fixture);
}

static void test_hours_of_sleep_keep_their_weight(void **state)
{
	const uint64_t hours = 3ull * 3600 * 1000000; /* more than 32 bits of µs */
	struct bytes payload = {0};
	struct fixture fixture;
	uint32_t stack = 0;

	(void)state;
	begin(&fixture);
	put_thread(&payload, 1, 11, 0);
	put_event(&payload, FORMAT_STATE_SLEEP, hours, hours, &stack, 5);
	put_event(&payload, FORMAT_STATE_USER, 1, 1, &stack, 5);
	add_block(&fixture, 1, 0, &payload);
	read_profile(&fixture);

	const struct experiment_profile *profile = &fixture.profile;
	uint64_t sum = 0;

	assert_int_equal(profile->event_count, 2);
	assert_int_equal(profile->threads.items[0].recorded_us, hours + 1);
	assert_int_equal(profile->state_us[FORMAT_STATE_SLEEP], hours);
	for (size_t row = 0; row < profile->rows.count; row++)
		sum += rows_get(&profile->rows, ROW_FIELD + PROFILE_WEIGHT, row);
	assert_int_equal(sum, hours + 1);
	assert_int_equal(profile->last_us, hours + 1);
	assert_int_equal(fixture.diags.count, 0);
	bytes_free(&payload);
	end(&fixture);
}

static void test_more_rows_than_a_page(void **state)
{
	enum { BLOCKS = 40, EVENTS = 10000 };
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	for (uint64_t block = 0; block < BLOCKS; block++) {
		struct bytes payload = {0};
		uint32_t stack = 0;

		if (!block)
			put_thread(&payload, 1, 11, 0);
		for (unsigned i = 0; i < EVENTS; i++)
			put_event(&payload, i % 3, 1, 1, &stack, i % 5);
		add_block(&fixture, 1, block * EVENTS, &payload);
		bytes_free(&payload);
	}
	read_profile(&fixture);

	const struct experiment_profile *profile = &fixture.profile;
	uint64_t rows = 0;

	assert_int_equal(profile->event_count, BLOCKS * EVENTS);
	assert_true(profile->rows.count > ROWS_PAGE);
	for (size_t i = 0; i < profile->segments.count; i++) {
		const struct profile_segment *segment = &profile->segments.items[i];

		rows += segment->count;
		assert_true(segment->first + segment->count <= profile->rows.count);
		for (size_t row = segment->first; row < segment->first + segment->count; row++) {
			assert_int_equal(rows_get(&profile->rows, ROW_TIME, row), row + 1);
			assert_int_equal(rows_get(&profile->rows, ROW_STACK, row),
					 row % EVENTS % 5);
			assert_int_equal(rows_get(&profile->rows, ROW_FIELD + PROFILE_WEIGHT, row),
					 1);
		}
	}
	assert_int_equal(rows, BLOCKS * EVENTS);
	assert_int_equal(profile->threads.items[0].end_us, BLOCKS * EVENTS);
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

/* A file as it is while the program runs: long blocks at multiples of 4096, zeros between. */
static void test_growing_file(void **state)
{
	struct fixture fixture;
	uint8_t *image;

	(void)state;
	begin(&fixture);
	image = calloc(1, 65536);
	memcpy(image, fixture.file.data, fixture.file.size);
	for (unsigned i = 0; i < 3; i++) {
		struct format_block_header header = {.magic = FORMAT_BLOCK_MAGIC,
						     .size = 8192,
						     .first = i + 1,
						     .base_time = 1000,
						     .encoding = FORMAT_EVENTS};
		struct bytes payload = {0};
		uint32_t stack = 0;

		put_thread(&payload, i + 1, 10 + i, 1000);
		put_event(&payload, FORMAT_STATE_USER, 10 + i, 10 + i, &stack, 1);
		header.used = (uint32_t)payload.size;
		/* what lies after the used bytes is not yet part of the block */
		bytes_u8(&payload, 0xff);
		memcpy(image + 4096 + i * 16384, &header, sizeof(header));
		memcpy(image + 4096 + i * 16384 + sizeof(header), payload.data, payload.size);
		bytes_free(&payload);
	}
	bytes_free(&fixture.file);
	bytes_put(&fixture.file, image, 65536);
	free(image);
	read_profile(&fixture);
	assert_int_equal(fixture.profile.event_count, 3);
	assert_int_equal(fixture.profile.threads.items[2].recorded_us, 12);
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

/* One event, then bytes that are no record. Exactly one warning has to contain `text`. */
static void check_damage(const void *bad, size_t size, const char *text)
{
	struct bytes payload = {0};
	struct fixture fixture;
	uint32_t stack = 0;

	begin(&fixture);
	put_thread(&payload, 1, 11, 0);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 5);
	bytes_put(&payload, bad, size);
	add_block(&fixture, 1, 0, &payload);
	read_profile(&fixture);
	assert_int_equal(fixture.profile.state_us[FORMAT_STATE_USER], 10);
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, text));
	bytes_free(&payload);
	end(&fixture);
}

static void test_bad_records(void **state)
{
	(void)state;
	check_damage("\x85\x01", 2, "2 of its bytes");	   /* no such control record */
	check_damage("\x4a\x01\x00", 3, "3 of its bytes"); /* no such state */
	check_damage("\x40\x80", 2, "2 of its bytes");	   /* a number without end */
	check_damage("\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00", 12, "12 of its bytes");
	check_damage("\x8b\x01", 2, "2 of its bytes");			    /* half a collection */
	check_damage("\x8c\x01\x01\x00\x00", 5, "5 of its bytes");	    /* more of none */
	check_damage("\x8b\x01\x01\x8c\x01\x01\x02A", 8, "5 of its bytes"); /* half a cause */
	check_damage("\x8b\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01", 11,
		     "11 of its bytes");				 /* too late */
	check_damage("\x80\x02", 2, "2 of its bytes");			 /* half a thread record */
	check_damage("\x27\xc0\x84\x3d\x00", 5, "longer than the life"); /* 1 s within 10 µs */
	check_damage("\x80\x01\x0b\x02", 4, "backwards"); /* thread 1 again, at 2 µs */
}

static void test_bad_headers(void **state)
{
	struct bytes payload = {0};
	struct fixture fixture;
	uint32_t stack = 0;

	(void)state;
	begin(&fixture);
	put_thread(&payload, 1, 11, 0);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 5);
	add_block(&fixture, 1, 0, &payload);

	size_t second = fixture.file.size;

	payload.size = 0;
	put_thread(&payload, 2, 12, 0);
	put_event(&payload, FORMAT_STATE_USER, 7, 7, &stack, 5);
	for (unsigned i = 0; i < 4; i++)
		add_block(&fixture, 2, 0, &payload);
	/* size 0, size beyond the file with used beyond the block, a strange encoding */
	size_t length = (fixture.file.size - second) / 4;
	struct format_block_header *header = (void *)(fixture.file.data + second);

	memset(&header->size, 0, 4);
	header = (void *)(fixture.file.data + second + length);
	memset(&header->used, 0xff, 4);
	header = (void *)(fixture.file.data + second + 2 * length);
	header->encoding = 9;
	read_profile(&fixture);
	assert_int_equal(fixture.profile.threads.items[0].recorded_us, 10);
	assert_int_equal(fixture.profile.threads.items[1].recorded_us, 7);
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "could not be read"));
	bytes_free(&payload);
	end(&fixture);
}

static void test_unusable_files(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
		{"", 0, "holds nothing"},
		{"HELIO\r\n\032", 8, "cut off"},
		{"something else, but long enough for a header", 44, "does not begin"},
		{"HELIO\r\n\032\2\0\0\0\x40\0\0\0profile\0\0\0\0\0\0\0\0\0", 32, "version 2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;

		begin(&fixture);
		fixture.file.size = 0;
		bytes_put(&fixture.file, cases[i].bytes, cases[i].size);
		read_profile(&fixture);
		assert_true(fixture.profile.present);
		assert_int_equal(fixture.profile.event_count, 0);
		assert_int_equal(fixture.diags.count, 1);
		assert_non_null(strstr(fixture.diags.items[0].text, cases[i].text));
		end(&fixture);
	}
}

static void test_stacks_that_are_missing(void **state)
{
	uint32_t by_id[4] = {STACK_NO_NODE, 7, STACK_NO_NODE, 8}, stack = 0;
	struct stack_node nodes[9] = {0};
	struct stack_location location = {0};
	struct stack_tree tree = {.present = true, .by_id = by_id, .id_count = 4};
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put_thread(&payload, 1, 11, 0);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 0);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 1);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 2);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 3);
	put_event(&payload, FORMAT_STATE_USER, 10, 10, &stack, 4000000000u);
	bytes_u8(&payload, 0x40); /* one more, to an id below 0 */
	bytes_varint(&payload, 10);
	bytes_signed(&payload, -4000000001ll);
	add_block(&fixture, 1, 0, &payload);
	read_profile(&fixture);

	struct read_context context = {root_folder(), fixture.path, "p.er", &fixture.diags, NULL};
	static const uint32_t expected[] = {9, 7, STACK_UNKNOWN, 8, STACK_UNKNOWN, STACK_UNKNOWN};

	assert_int_equal(fixture.diags.count, 0);
	for (size_t i = 0; i < 9; i++)
		*vec_push(&tree.nodes) = nodes[i];
	*vec_push(&tree.locations) = location;
	experiment_profile_bind(&fixture.profile, &tree, &context);
	for (size_t row = 0; row < 6; row++)
		assert_int_equal(rows_get(&fixture.profile.rows, ROW_STACK, row), expected[row]);
	assert_int_equal(fixture.diags.count, 1);
	assert_non_null(strstr(fixture.diags.items[0].text, "3 of 6 events"));
	/* The first is one whose stack was not recorded, which is no damage. */
	assert_int_equal(tree.nodes.count, 10);
	assert_int_equal(tree.locations.items[tree.nodes.items[9].location].pc, FORMAT_PC_NO_STACK);
	vec_fini(&tree.nodes);
	vec_fini(&tree.locations);
	bytes_free(&payload);
	end(&fixture);
}

static void test_dropped_events_are_added_up(void **state)
{
	struct bytes payload = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put_thread(&payload, 1, 11, 0);
	for (uint32_t i = 1; i <= 3; i++)
		put_block(&fixture.file,
			  (struct format_block_header){
				  .first = 1, .dropped = i, .encoding = FORMAT_EVENTS},
			  &payload);
	read_profile(&fixture);
	assert_int_equal(fixture.profile.dropped, 6);
	bytes_free(&payload);
	end(&fixture);
}

/* The number of a row's context, and a field of OpenMP in it. */
static uint64_t said(const struct fixture *fixture, size_t row, unsigned field)
{
	uint64_t number = rows_get(&fixture->profile.rows, ROW_CONTEXT, row);

	assert_in_range(number, 0, fixture->contexts.items.count - 1);
	return context_table_get(&fixture->contexts, number).field[RUNTIME_OPENMP][field];
}

static void test_contexts(void **state)
{
	static const uint8_t bytes[] = {
		0x40, 0x01, 0x02,		    /* nothing was said */
		0x87, 0x01, 0x03, 0x02, 0xac, 0x02, /* OpenMP: work, region 300, … */
		0x07,				    /* … task 7 */
		0x50, 0x01,			    /* an event in it */
		0x87, 0x01, 0x01, 0x05,		    /* idle: the others are 0 */
		0x50, 0x01,			    /* an event */
		0x87, 0x7f, 0x02, 0x01, 0x02,	    /* a runtime that nobody knows: passed over */
		0x50, 0x01,			    /* an event, as before */
		0x87, 0x01, 0x03, 0x02, 0xac, 0x02, 0x07, /* as the second */
		0x50, 0x01,				  /* an event */
		0x80, 0x02, 0x09, 0x10,			  /* another thread: nothing */
		0x50, 0x01,				  /* an event */
	};
	static const uint8_t next[] = {0x40, 0x01, 0x02}; /* a block begins with nothing */
	static const uint8_t bad[] = {0x40, 0x01, 0x02, 0x87, 0x01, 0x05, 1, 2, 3, 4, 5, 0x50, 1};
	struct bytes payload = {0}, second = {0}, third = {0};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	bytes_put(&payload, bytes, sizeof(bytes));
	add_block(&fixture, 1, 10, &payload);
	bytes_put(&second, next, sizeof(next));
	add_block(&fixture, 1, 100, &second);
	read_profile(&fixture);
	assert_int_equal(fixture.diags.count, 0);
	assert_int_equal(fixture.profile.event_count, 7);
	assert_int_equal(fixture.contexts.items.count, 3);
	assert_true(fixture.contexts.said[RUNTIME_OPENMP] && !fixture.contexts.said[RUNTIME_JAVA]);
	assert_int_equal(said(&fixture, 0, OMP_CONTEXT_STATE), OMP_STATE_NONE);
	assert_int_equal(said(&fixture, 1, OMP_CONTEXT_STATE), OMP_STATE_WORK);
	assert_int_equal(said(&fixture, 1, OMP_CONTEXT_REGION), 300);
	assert_int_equal(said(&fixture, 1, OMP_CONTEXT_TASK), 7);
	assert_int_equal(said(&fixture, 2, OMP_CONTEXT_STATE), OMP_STATE_IDLE);
	assert_int_equal(said(&fixture, 2, OMP_CONTEXT_REGION), 0);
	assert_int_equal(said(&fixture, 3, OMP_CONTEXT_STATE), OMP_STATE_IDLE);
	assert_int_equal(rows_get(&fixture.profile.rows, ROW_CONTEXT, 4),
			 rows_get(&fixture.profile.rows, ROW_CONTEXT, 1));
	assert_int_equal(rows_get(&fixture.profile.rows, ROW_CONTEXT, 5), 0);
	assert_int_equal(rows_get(&fixture.profile.rows, ROW_CONTEXT, 6), 0);
	end(&fixture);

	begin(&fixture); /* more fields than there may be: the rest of the block is lost */
	bytes_put(&third, bad, sizeof(bad));
	add_block(&fixture, 1, 10, &third);
	read_profile(&fixture);
	assert_int_equal(fixture.profile.event_count, 1);
	assert_true(fixture.profile.damaged);
	end(&fixture);
	bytes_free(&payload);
	bytes_free(&second);
	bytes_free(&third);
}

static void test_collections(void **state)
{
	static const uint8_t bytes[] = {
		0x8b, 0xe8, 0x07, 0x0a,	     /* from 1000 ns on, for 10 */
		0x8c, 0xe9, 0x07, 0x0b,	     /* of 1000 bytes 10 stay, */
		0x01, 'F',  0x02, 'O',	'C', /* the cause is F, it was done by OC */
		0x40, 0x05, 0x06,	     /* an event, whose time they leave as it is */
		0x8b, 0x64, 0x05, /* the one before, which another block could have had */
	};
	static const struct {
		uint64_t time_ns;
		size_t number;
	} moments[] = {{0, 0},	  {99, 0},   {100, 1},	{105, 1},  {106, 0},
		       {1000, 2}, {1010, 2}, {1011, 0}, {9999, 0}, {103, 1}};
	struct bytes payload = {0};
	struct fixture fixture;
	size_t guess = 0;

	(void)state;
	begin(&fixture);
	bytes_put(&payload, bytes, sizeof(bytes));
	add_block(&fixture, 3, 10, &payload);
	read_profile(&fixture);

	const struct collections *all = &fixture.profile.collections;
	const struct collection_more *first, *second;

	assert_int_equal(fixture.diags.count, 0);
	assert_row(&fixture.profile, 0, 0, 15, FORMAT_STATE_USER, 5, 3, PROFILE_NO_CPU);
	assert_int_equal(all->list.count, 2);
	assert_int_equal(all->list.items[0].thread, 3);
	assert_int_equal(all->sum_ns, 15);
	first = collections_more(all, &all->list.items[0]);
	second = collections_more(all, &all->list.items[1]);
	assert_int_equal(first->before, 0);
	assert_string_equal(collections_words(all, first->cause), "");
	assert_int_equal(second->before, 1001);
	assert_int_equal(second->after, 11);
	assert_string_equal(collections_words(all, second->cause), "F");
	assert_string_equal(collections_words(all, second->collector), "OC");
	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		guess = collections_at(all, moments[i].time_ns, guess);
		assert_int_equal(guess, moments[i].number);
	}
	bytes_free(&payload);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_of_record),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_collections),
		cmocka_unit_test(test_threads_change_within_and_between_blocks),
		cmocka_unit_test(test_hours_of_sleep_keep_their_weight),
		cmocka_unit_test(test_more_rows_than_a_page),
		cmocka_unit_test(test_growing_file),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_unusable_files),
		cmocka_unit_test(test_stacks_that_are_missing),
		cmocka_unit_test(test_dropped_events_are_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
