/* SPDX-License-Identifier: Apache-2.0 */
/* Which entry of LD_PRELOAD is a library, and which only looks like it. */
#include "format/preload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>

#define OURS "/x/libours.so"

static void whole_entries(void **state)
{
	static const char alone[] = OURS, first[] = OURS ":/a.so", last[] = "/a.so " OURS,
			  between[] = "/a.so::" OURS " /b.so";

	assert_ptr_equal(preload_find(alone, OURS), alone);
	assert_ptr_equal(preload_find(first, OURS), first);
	assert_ptr_equal(preload_find(last, OURS), last + strlen("/a.so "));
	assert_ptr_equal(preload_find(between, OURS), between + strlen("/a.so::"));
}

static void others_that_look_like_it(void **state)
{
	static const char list[] = "/old" OURS ":" OURS ".1:" OURS;

	assert_null(preload_find("/old" OURS, OURS));
	assert_null(preload_find(OURS ".1", OURS));
	assert_null(preload_find("/a.so", OURS));
	assert_null(preload_find("", OURS));
	assert_null(preload_find(":", OURS));
	assert_null(preload_find("/a.so", ""));
	assert_ptr_equal(preload_find(list, OURS), list + strlen(list) - strlen(OURS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_entries),
		cmocka_unit_test(others_that_look_like_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
