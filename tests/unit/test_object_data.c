/* SPDX-License-Identifier: Apache-2.0 */
/* Data of this very program, whose addresses the compiler knows. */
#include "object/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

extern char __executable_start;

int known_data[4] = {1, 2, 3, 4};
const char known_constants[100] = "text";
static long known_bss[10];

static struct object *open_self(void)
{
	const struct object_request request = {.path = "/proc/self/exe"};
	struct diag_list diags = {0};
	struct object *object;

	object_open(&request, &object, &diags);
	assert_int_equal(diags.count, 0);
	diag_fini(&diags);
	return object;
}

/* A position-independent program is linked at 0. */
static uint64_t linked_at(const void *address)
{
	return (uint64_t)((const char *)address - &__executable_start);
}

static void check(struct object *object, const char *name, const void *begin, size_t size)
{
	struct object_data data;

	for (size_t offset = 0; offset < size; offset += size - 1) {
		assert_true(object_data_at(object, linked_at(begin) + offset, &data));
		assert_non_null(data.mangled);
		assert_string_equal(data.mangled, name);
		assert_int_equal(data.address, linked_at(begin));
		assert_int_equal(data.size, size);
	}
}

static void test_variables(void **state)
{
	struct object *object = open_self();

	known_bss[3] = known_data[2];
	check(object, "known_data", known_data, sizeof(known_data));
	check(object, "known_constants", known_constants, sizeof(known_constants));
	check(object, "known_bss", known_bss, sizeof(known_bss));
	object_free(object);
}

static void test_what_is_no_data(void **state)
{
	struct object *object = open_self();
	struct object_data data;

	assert_false(object_data_at(object, linked_at((const void *)test_variables), &data));
	assert_false(object_data_at(object, UINT64_MAX, &data));
	assert_false(object_data_at(object, UINT64_C(1) << 46, &data));
	object_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_what_is_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
