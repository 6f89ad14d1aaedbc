/* SPDX-License-Identifier: Apache-2.0 */
/* Names in line tables. Which file a function comes from is known by construction, its address from
 * nm. */
#include "object/lines/sources.h"
#include "test_object_support.h"

/* Whether DIRECTORY/name is in the table, where DIRECTORY is the test's. */
static bool has(const struct string_table *table, const char *name)
{
	char *here = realpath(".", NULL);
	char *path = xasprintf("%s/%s", here, name);
	bool found = string_table_find(table, path) != HASH_NONE;

	free(path);
	free(here);
	return found;
}

static void build(const char *option)
{
	run("mkdir -p sub/build && printf 'int near(int x) { return x * 2; }\\n' > sub/near.h");
	write_file("sub/main.c", "#include \"near.h\"\n"
				 "int far_away(int);\n"
				 "int main(void) { return far_away(1) + near(2); }\n");
	write_file("far.c", "int far_away(int x) { return x + 1; }\n");
	/* seen from the directory in which it is compiled, with detours */
	run("cd sub/build && gcc -g %s -O0 -o ../../prog ../main.c ../.././sub/../far.c", option);
}

static void check(const char *option)
{
	struct string_table all = {0}, used = {0};
	uint64_t addresses[2];

	build(option);
	object_sources("prog", NULL, 0, &all);
	assert_true(has(&all, "sub/main.c") && has(&all, "sub/near.h") && has(&all, "far.c"));

	addresses[0] = address_of("prog", "far_away") + 4;
	object_sources("prog", addresses, 1, &used);
	assert_int_equal(used.count, 1);
	assert_true(has(&used, "far.c"));

	addresses[0] = address_of("prog", "near") + 4;
	addresses[1] = address_of("prog", "main") + 4;
	object_sources("prog", addresses, 2, &used);
	assert_int_equal(used.count, 3);
	assert_true(has(&used, "sub/near.h") && has(&used, "sub/main.c"));
	string_table_fini(&all);
	string_table_fini(&used);
}

static void test_dwarf_5(void **state)
{
	(void)state;
	check("-gdwarf-5");
}

static void test_dwarf_4(void **state)
{
	(void)state;
	check("-gdwarf-4");
}

static void test_compressed(void **state)
{
	(void)state;
	check("-gz=zlib");
}

static void test_nothing_there(void **state)
{
	struct string_table table = {0};

	(void)state;
	build("-g0");
	object_sources("prog", NULL, 0, &table);
	object_sources("missing", NULL, 0, &table);
	run("head -c 2000 /dev/urandom > noise");
	object_sources("noise", NULL, 0, &table);
	assert_int_equal(table.count, 0);
	string_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_5),
		cmocka_unit_test(test_dwarf_4),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_nothing_there),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
