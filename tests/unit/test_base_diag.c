/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of messages: what is said once, and that many cost no more each than a few. */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the headers that it needs */
#include <cmocka.h>

static void the_same_text_once(void **state)
{
	struct diag_list list = {0};

	diag_add_once(&list, DIAG_WARNING, "a %d", 1);
	diag_add_once(&list, DIAG_ERROR, "a 1");
	diag_add_once(&list, DIAG_WARNING, "a %d", 2);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].level, DIAG_WARNING);
	assert_string_equal(list.items[0].text, "a 1");
	assert_string_equal(list.items[1].text, "a 2");
	diag_fini(&list);
	assert_int_equal(list.count, 0);
}

static void what_was_added_as_often_as_asked_counts_too(void **state)
{
	struct diag_list list = {0};

	diag_add(&list, DIAG_NOTE, "a");
	diag_add(&list, DIAG_NOTE, "a");
	diag_add_once(&list, DIAG_NOTE, "a");
	assert_int_equal(list.count, 2);
	diag_add_once(&list, DIAG_NOTE, "b");
	diag_add(&list, DIAG_NOTE, "c");
	diag_add_once(&list, DIAG_NOTE, "c");
	diag_add_once(&list, DIAG_NOTE, "b");
	assert_int_equal(list.count, 4);
	diag_fini(&list);
}

static void a_list_that_is_used_again(void **state)
{
	struct diag_list list = {0};

	diag_add_once(&list, DIAG_NOTE, "a");
	diag_fini(&list);
	diag_add_once(&list, DIAG_NOTE, "a");
	assert_int_equal(list.count, 1);
	diag_fini(&list);
}

/* Each compared with all before it would be 10^11 comparisons: the test would not end in time. */
static void many(void **state)
{
	enum { MANY = 500000 };
	struct diag_list list = {0};

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < MANY; i++)
			diag_add_once(&list, DIAG_NOTE, "test.1.er/_f%d.er: a doubt", i);
	assert_int_equal(list.count, MANY);
	assert_string_equal(list.items[MANY - 1].text, "test.1.er/_f499999.er: a doubt");
	diag_fini(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_once),
		cmocka_unit_test(what_was_added_as_often_as_asked_counts_too),
		cmocka_unit_test(a_list_that_is_used_again),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
