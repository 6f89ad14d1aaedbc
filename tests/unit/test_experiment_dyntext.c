/* SPDX-License-Identifier: Apache-2.0 */
/* Functions made at run time: which one is at an address when, and what dyntext keeps of it. */
#include "experiment/dyntext.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	char *path;
	struct arena arena;
	struct diag_list diags;
	struct experiment_map map;
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){.path = make_experiment("d.er")};
}

static void read_map(struct fixture *fixture, const char *directory)
{
	struct read_context context = {root_folder(), directory, "d.er", &fixture->diags, NULL};

	experiment_map_fini(&fixture->map);
	experiment_map_read(&fixture->map, &fixture->arena, &context);
}

static void end(struct fixture *fixture)
{
	experiment_map_fini(&fixture->map);
	arena_fini(&fixture->arena);
	diag_fini(&fixture->diags);
	remove_experiment(fixture->path);
	free(fixture->path);
}

/* The name of the function at an address, "" for a load object, NULL for nothing. */
static const char *name_at(const struct fixture *fixture, uint64_t pc, uint32_t epoch)
{
	const struct experiment_map *map = &fixture->map;
	uint32_t found = experiment_map_find(map, pc, epoch);

	if (found == MAP_NONE)
		return NULL;
	if (map->segments.items[found].function == MAP_NONE)
		return "";
	return map->functions.items[map->segments.items[found].function].name;
}

#define LOAD(epoch, address, name)                                                                 \
	"<event kind=\"load\" tstamp=\"1\" epoch=\"" #epoch "\" vaddr=\"" #address                 \
	"\" size=\"0x10\" name=\"" name "\"/>\n"
#define UNLOAD(epoch, address)                                                                     \
	"<event kind=\"unload\" tstamp=\"2\" epoch=\"" #epoch "\" vaddr=\"" #address "\"/>\n"
#define MAP(epoch, address)                                                                        \
	"<event kind=\"map\" tstamp=\"0\" epoch=\"" #epoch "\" vaddr=\"" #address                  \
	"\" size=\"0x1000\" foffset=\"0\" bias=\"0\" modes=\"r-x\" name=\"/lib\"/>\n"

static void test_places(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	write_text(fixture.path, "map.xml",
		   MAP_START MAP(0, 0x9000) LOAD(0, 0x1000, "a") LOAD(0, 0x1010, "b")
			   UNLOAD(0, 0x1000) LOAD(1, 0x1008, "c") LOAD(2, 0x9000, "d") MAP_END);
	read_map(&fixture, fixture.path);
	assert_string_equal(name_at(&fixture, 0x1000, 0), "a");
	assert_string_equal(name_at(&fixture, 0x100f, 0), "a");
	assert_string_equal(name_at(&fixture, 0x1010, 0), "b");
	assert_null(name_at(&fixture, 0x1020, 0));
	/* the place of a half and of b half is c's; what is left of a is gone, b was not withdrawn
	 */
	assert_null(name_at(&fixture, 0x1000, 1));
	assert_string_equal(name_at(&fixture, 0x1008, 1), "c");
	assert_string_equal(name_at(&fixture, 0x1017, 5), "c");
	assert_string_equal(name_at(&fixture, 0x1018, 1), "b");
	/* code of a load object, and code where that has been */
	assert_string_equal(name_at(&fixture, 0x9000, 1), "");
	assert_string_equal(name_at(&fixture, 0x9000, 2), "d");
	assert_string_equal(name_at(&fixture, 0x9010, 2), "");
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

/* Withdrawn before a stack was recorded: no node shows it, nor what was there before it. */
static void test_never_seen(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	write_text(fixture.path, "map.xml",
		   MAP_START LOAD(0, 0x1000, "a") UNLOAD(0, 0x1000) LOAD(1, 0x1000, "b")
			   UNLOAD(0, 0x1000) LOAD(1, 0x1000, "c") UNLOAD(1, 0x1000) MAP_END);
	read_map(&fixture, fixture.path);
	assert_string_equal(name_at(&fixture, 0x1000, 0), "a");
	assert_string_equal(name_at(&fixture, 0x1000, 1), "c");
	assert_null(name_at(&fixture, 0x1000, 2));
	experiment_map_fini(&fixture.map);
	write_text(fixture.path, "map.xml",
		   MAP_START LOAD(1, 0x1000, "b") UNLOAD(0, 0x1000) MAP_END);
	read_map(&fixture, fixture.path);
	assert_null(name_at(&fixture, 0x1000, 1));
	assert_int_equal(fixture.diags.count, 0);
	end(&fixture);
}

/* Where segments are recorded late (gprofng): not across a withdrawal. */
static void test_later(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	write_text(fixture.path, "map.xml",
		   MAP_START LOAD(2, 0x1000, "a") UNLOAD(3, 0x1000) LOAD(6, 0x1000, "b") MAP_END);
	read_map(&fixture, fixture.path);
	uint32_t first = experiment_map_find_later(&fixture.map, 0x1000, 0);

	assert_int_not_equal(first, MAP_NONE);
	assert_int_equal(fixture.map.segments.items[first].first_epoch, 2);
	assert_int_equal(experiment_map_find_later(&fixture.map, 0x1000, 4), MAP_NONE);
	end(&fixture);
}

#define INHERIT(count) "<event kind=\"inherit\" tstamp=\"3\" epoch=\"1\" events=\"" #count "\"/>\n"

static void test_inherited(void **state)
{
	uint64_t all[] = {0x1000, 0x2000, 0x3000}, one[] = {0x2000};
	struct map_pcs pcs = {.items = all, .count = 3};
	struct fixture fixture;
	struct experiment_map founder;
	char *child;

	(void)state;
	begin(&fixture);
	child = make_descendant(fixture.path, "_f1");
	write_text(fixture.path, "map.xml",
		   MAP_START MAP(0, 0x9000) LOAD(0, 0x1000, "a") LOAD(0, 0x2000, "b")
			   LOAD(0, 0x3000, "gone") UNLOAD(0, 0x3000) UNLOAD(0, 0x1000)
				   LOAD(1, 0x1000, "late") MAP_END);
	/* b's place is taken twice */
	write_text(child, "map.xml",
		   MAP_START INHERIT(4) LOAD(1, 0x4000, "c") UNLOAD(1, 0x2000) LOAD(2, 0x2000, "d")
			   UNLOAD(2, 0x2000) LOAD(3, 0x2000, "e") MAP_END);
	read_map(&fixture, fixture.path);
	founder = fixture.map;
	fixture.map = (struct experiment_map){0};
	read_map(&fixture, child);
	assert_true(fixture.map.inherits);
	experiment_map_inherit(&fixture.map, &founder, &pcs);
	assert_string_equal(name_at(&fixture, 0x1000, 1), "a");
	assert_string_equal(name_at(&fixture, 0x1000, 9), "a");
	assert_string_equal(name_at(&fixture, 0x2000, 1), "b");
	assert_string_equal(name_at(&fixture, 0x2000, 2), "d");
	assert_string_equal(name_at(&fixture, 0x2000, 3), "e");
	assert_null(name_at(&fixture, 0x3000, 1));
	assert_string_equal(name_at(&fixture, 0x4000, 1), "c");
	assert_null(name_at(&fixture, 0x9000, 1)); /* load objects say so themselves */
	experiment_map_fini(&fixture.map);
	read_map(&fixture, child);
	pcs = (struct map_pcs){.items = one, .count = 1};
	experiment_map_inherit(&fixture.map, &founder, &pcs);
	assert_string_equal(name_at(&fixture, 0x2000, 1), "b");
	assert_null(name_at(&fixture, 0x1000, 1)); /* no stack goes through it */
	assert_int_equal(fixture.diags.count, 0);
	experiment_map_fini(&founder);
	free(child);
	end(&fixture);
}

/* A record as docs/format.md has it: two lines, five bytes of code, three of padding. */
static void put_record(struct bytes *file, uint32_t magic, uint64_t size)
{
	const uint32_t head[] = {magic, 2};
	const uint64_t numbers[] = {size, 0x1000, 5};
	const uint32_t lines[] = {0, 10, 3, 11};

	bytes_put(file, head, sizeof(head));
	bytes_put(file, numbers, sizeof(numbers));
	bytes_put(file, lines, sizeof(lines));
	bytes_put(file, "\x01\x02\x03\x04\x05\0\0", 8);
}

enum { RECORD = 32 + 16 + 8, FILE_HEADER = 64 };

static size_t missing(struct fixture *fixture)
{
	struct read_context context = {root_folder(), fixture->path, "d.er", &fixture->diags, NULL};

	return experiment_dyntext_missing(&fixture->map, &context);
}

static void test_text(void **state)
{
	struct fixture fixture;
	struct bytes file = {0};
	struct dyntext text;

	(void)state;
	begin(&fixture);
	write_text(fixture.path, "map.xml",
		   MAP_START
		   "<event kind=\"load\" tstamp=\"1\" epoch=\"0\" vaddr=\"0x1000\" "
		   "size=\"5\" name=\"f\" alias=\"g\" source=\"f.c\" text=\"64\"/>\n" LOAD(
			   0, 0x2000, "bare") MAP_END);
	read_map(&fixture, fixture.path);
	assert_string_equal(fixture.map.functions.items[0].alias, "g");
	assert_string_equal(fixture.map.functions.items[0].source, "f.c");
	assert_int_equal(missing(&fixture), 1);
	put_file_header(&file, "dyntext");
	put_record(&file, 0x54584448, RECORD);
	write_file(fixture.path, "dyntext", file.data, file.size);
	assert_int_equal(missing(&fixture), 0);

	const struct map_function *function = fixture.map.functions.items;

	assert_int_equal(experiment_dyntext_read(function, &fixture.arena, &text), STATUS_OK);
	assert_int_equal(text.code_size, 5);
	assert_memory_equal(text.code, "\x01\x02\x03\x04\x05", 5);
	assert_int_equal(text.line_count, 2);
	assert_int_equal(text.lines[1].offset, 3);
	assert_int_equal(text.lines[1].line, 11);
	assert_int_equal(experiment_dyntext_read(function + 1, &fixture.arena, &text),
			 STATUS_NOTFOUND);
	assert_null(text.code);
	bytes_free(&file);
	end(&fixture);
}

static void test_damaged_text(void **state)
{
	/* magic, size of the record, bytes cut off the file */
	static const struct {
		uint32_t magic;
		uint64_t size;
		size_t cut;
	} cases[] = {
		{0x54584449, RECORD, 0},	   {0x54584448, RECORD, 1},
		{0x54584448, RECORD, RECORD - 8},  {0x54584448, RECORD, RECORD},
		{0x54584448, RECORD, RECORD + 60}, {0x54584448, 0, 0},
		{0x54584448, 32 + 16, 0},	   {0x54584448, RECORD + 8, 0},
		{0x54584448, UINT64_MAX - 7, 0},
	};
	struct fixture fixture;
	struct dyntext text;

	(void)state;
	begin(&fixture);
	write_text(fixture.path, "map.xml",
		   MAP_START "<event kind=\"load\" tstamp=\"1\" epoch=\"0\" vaddr=\"0x1000\" "
			     "size=\"5\" name=\"f\" text=\"64\"/>\n" MAP_END);
	read_map(&fixture, fixture.path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes file = {0};

		put_file_header(&file, "dyntext");
		put_record(&file, cases[i].magic, cases[i].size);
		write_file(fixture.path, "dyntext", file.data, file.size - cases[i].cut);
		assert_int_equal(missing(&fixture), 1);
		assert_int_equal(
			experiment_dyntext_read(fixture.map.functions.items, &fixture.arena, &text),
			STATUS_DAMAGED);
		bytes_free(&file);
	}
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places), cmocka_unit_test(test_never_seen),
		cmocka_unit_test(test_later),  cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_text),   cmocka_unit_test(test_damaged_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
