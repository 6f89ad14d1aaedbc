/* SPDX-License-Identifier: Apache-2.0 */
/* Distances worked out by hand; the classic pairs of the literature among them. */
#include "base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* after the headers that it needs */
#include <cmocka.h>

static void distances(void **state)
{
	assert_int_equal(suggest_distance("", ""), 0);
	assert_int_equal(suggest_distance("same", "same"), 0);
	assert_int_equal(suggest_distance("", "abc"), 3);
	assert_int_equal(suggest_distance("abc", ""), 3);
	assert_int_equal(suggest_distance("kitten", "sitting"), 3);
	assert_int_equal(suggest_distance("Print", "pRINT"), 0);
}

static void swapped_neighbours_are_one_edit(void **state)
{
	assert_int_equal(suggest_distance("colelct", "collect"), 1);
	assert_int_equal(suggest_distance("ca", "ac"), 1);
	/* Restricted: a swap and then an insertion into it is not one edit more. */
	assert_int_equal(suggest_distance("ca", "abc"), 3);
}

static void closest(void **state)
{
	static const char *const names[] = {"collect", "print", "help", "version"};

	assert_string_equal(suggest_closest("colect", names, 4), "collect");
	assert_string_equal(suggest_closest("pirnt", names, 4), "print");
	assert_string_equal(suggest_closest("HLEP", names, 4), "help");
	assert_string_equal(suggest_closest("vers", names, 4), "version");
	assert_null(suggest_closest("banana", names, 4));
	assert_null(suggest_closest("", names, 4));
	assert_null(suggest_closest("print", NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(swapped_neighbours_are_one_edit),
		cmocka_unit_test(closest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
