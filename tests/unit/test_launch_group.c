/* SPDX-License-Identifier: Apache-2.0 */
/* What is added to a group whose name leads elsewhere by then: it was looked at before. */
#include "launch/run/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GROUP "#analyzer experiment group\n"

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) >= 0 && !fclose(file), 1);
}

static void expect(const char *name, const char *text)
{
	char found[200] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file), strlen(text));
	fclose(file);
	assert_string_equal(found, text);
}

/* Adds to run.erg; with `problem` that is said, else nothing. */
static void add(const char *problem)
{
	struct diag_list diags = {0};

	group_add("run.erg", "/elsewhere/it.er", &diags);
	assert_int_equal(diags.count, problem ? 1 : 0);
	if (problem && !strstr(diags.items[0].text, problem))
		fail_msg("says: %s", diags.items[0].text);
	diag_fini(&diags);
}

static void test_a_group(void **state)
{
	(void)state;
	add(NULL);
	expect("run.erg", GROUP "/elsewhere/it.er\n");
	unlink("run.erg");
}

static void test_links(void **state)
{
	static const char *const contents[] = {"", GROUP};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		put("theirs", contents[i]);
		assert_int_equal(symlink("theirs", "run.erg"), 0);
		add("it may not be a link");
		unlink("run.erg");
		assert_int_equal(link("theirs", "run.erg"), 0);
		add("it has another name elsewhere");
		unlink("run.erg");
		expect("theirs", contents[i]);
	}
	unlink("theirs");
	assert_int_equal(symlink("theirs", "run.erg"), 0);
	add("it may not be a link");
	assert_int_not_equal(access("theirs", F_OK), 0);
	unlink("run.erg");
}

static void test_what_is_no_group(void **state)
{
	(void)state;
	put("run.erg", "some text\n");
	add("it is no experiment group any more");
	expect("run.erg", "some text\n");
	unlink("run.erg");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_group),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_what_is_no_group),
	};
	char directory[] = "/tmp/helio-group-XXXXXX";

	if (!mkdtemp(directory) || chdir(directory))
		return 1;
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	rmdir(directory);
	return result;
}
