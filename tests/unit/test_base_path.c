/* SPDX-License-Identifier: Apache-2.0 */
/* Names and endings of paths, the odd ones first of all. */
#include "base/array.h"
#include "base/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the headers that it needs */
#include <cmocka.h>

static void names(void **state)
{
	assert_string_equal(path_name("/a/b"), "b");
	assert_string_equal(path_name("a/.er"), ".er");
	assert_string_equal(path_name("b"), "b");
	assert_string_equal(path_name(""), "");
}

static void no_name_is_empty(void **state)
{
	assert_string_equal(path_name("/"), "/");
	assert_string_equal(path_name("a/"), "a/");
	assert_string_equal(path_name("/a/b//"), "/a/b//");
}

static void endings(void **state)
{
	assert_true(path_ends_with("a.er", ".er"));
	assert_true(path_ends_with("b/a.er", ".er"));
	assert_true(path_ends_with("a.er.er", ".er"));
	assert_false(path_ends_with("a.erg", ".er"));
	assert_false(path_ends_with("aer", ".er"));
	assert_false(path_ends_with("er", ".er"));
	assert_false(path_ends_with("", ".er"));
}

static void an_ending_alone_is_no_name(void **state)
{
	assert_false(path_ends_with(".er", ".er"));
	assert_false(path_ends_with("b/.er", ".er"));
	assert_false(path_ends_with("/.er/", ".er"));
	assert_true(path_ends_with("..er", ".er"));
}

static void slashes_at_the_end_do_not_count(void **state)
{
	assert_true(path_ends_with("a.er/", ".er"));
	assert_true(path_ends_with("b/a.er//", ".er"));
	assert_false(path_ends_with("/", ".er"));
	assert_false(path_ends_with("//", ".er"));
}

static void dots(void **state)
{
	assert_true(path_is_dots("."));
	assert_true(path_is_dots(".."));
	assert_false(path_is_dots(""));
	assert_false(path_is_dots("..."));
	assert_false(path_is_dots(".a"));
	assert_false(path_is_dots("./"));
}

static void counts(void **state)
{
	static const char *const three[] = {"a", "b", "c"};
	const struct {
		char bytes[24];
	} one[1] = {{{0}}};

	assert_int_equal(COUNT(three), 3);
	assert_int_equal(COUNT(one), 1);
	assert_int_equal(COUNT(one[0].bytes), 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(no_name_is_empty),
		cmocka_unit_test(endings),
		cmocka_unit_test(an_ending_alone_is_no_name),
		cmocka_unit_test(slashes_at_the_end_do_not_count),
		cmocka_unit_test(dots),
		cmocka_unit_test(counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
