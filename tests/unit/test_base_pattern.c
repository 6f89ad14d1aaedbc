/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
/* after the headers that it needs */
#include <cmocka.h>

static int compile(const char *text)
{
	regex_t pattern;
	int status = pattern_compile(&pattern, text, REG_NOSUB);

	if (!status)
		regfree(&pattern);
	return status;
}

static void test_usual(void **state)
{
	static const char *const texts[] = {
		"",
		"^(main|work_[a-z]+)$",
		"a*b?c+",
		"x{3}",
		"x{2,100}",
		"(ab{1,9})+",
		"[]+]",
		"[^]{9}]+",
		"[[:alpha:]]+",
		"[a[.].]]*",
		"std::vector<.*>::operator\\[\\]",
		"a\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+",
		"[++++++++++++++++++++++++++++++++++++++++]",
		"\\(((((a)))))",
		"_Z.*{0}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(compile(texts[i]), 0);
}

static void test_wrong(void **state)
{
	(void)state;
	assert_int_equal(compile("a("), REG_EPAREN);
	assert_int_equal(compile("[a"), REG_EBRACK);
	assert_int_not_equal(compile("a{70000}"), 0);
	assert_int_not_equal(compile("a\\"), 0);
	assert_int_not_equal(compile("a{1"), 0);
}

/* What they would take is told by regcomp itself: at half of these lengths 20 MB, with each more
 * twice as much. */
static void test_too_large(void **state)
{
	struct rusage before, after;
	char nested[512] = "";

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(compile("((x{999}){999}){999}"), REG_ESPACE);
	assert_int_equal(compile("^(((a*b*)*c+)*.*)$"), 0);
	assert_int_equal(
		compile("(((((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+"),
		REG_ESPACE);
	assert_int_equal(compile("=a{1,32767}"), REG_ESPACE);
	assert_int_equal(compile("a{1,8000}"), REG_ESPACE);
	assert_int_equal(compile("(a|){1,200}{1,100}"), REG_ESPACE);
	memset(nested, '(', 400);
	assert_int_equal(compile(nested), REG_ESPACE);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 64 * 1024);
}

/* Whether the whole text fits. */
static bool fits(const char *text, const char *subject)
{
	regex_t pattern;
	regmatch_t match = {0};

	assert_int_equal(pattern_compile(&pattern, text, 0), 0);

	bool found = !regexec(&pattern, subject, 1, &match, 0) && !match.rm_so &&
		     subject[match.rm_eo] == '\0';

	regfree(&pattern);
	return found;
}

/* What is repeated again and again costs nothing, and means what it did. */
static void test_repeated_again(void **state)
{
	struct rusage before, after;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	assert_true(fits("a++++++++++++++++++++++++++++++++++++++++b", "aaab"));
	assert_false(fits("a++++++++++++++++++++++++++++++++++++++++b", "b"));
	assert_true(fits("(r************+************A)", "rrrA"));
	assert_true(fits(".******&**********~****A*********~****&*A", "xyz&&~~A"));
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
	assert_true(fits("a??b", "ab") && fits("a??b", "b") && !fits("a??b", "aab"));
	assert_true(fits("a+?b", "aab") && fits("a+?b", "b"));
	assert_true(fits("a?+b", "aab") && fits("a?+b", "b"));
	assert_true(fits("\\+++", "++") && !fits("\\+++", ""));
	assert_true(fits("[*+?]+++\\*", "*+?*") && !fits("[]++]x", "++x"));
	assert_true(fits("\\\\**x", "\\\\x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_repeated_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
