/* SPDX-License-Identifier: Apache-2.0 */
/* A result made by hand, with each kind of part, in each format. */
#include "base/memory.h"
#include "present/present.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>

static const struct diag_list no_warnings;

static char *render(const struct result *result, const char *format, bool color)
{
	char *text;
	size_t length;
	struct output output = {.file = open_memstream(&text, &length), .color = color};
	struct presenter presenter = {
		.program = "<test>", .output = &output, .warnings = &no_warnings};

	assert_true(present_set_format(&presenter, format));
	present(&presenter, result);
	fclose(output.file);
	return text;
}

static void expect(struct result *result, const char *format, const char *expected)
{
	char *text = render(result, format, false);

	assert_string_equal(text, expected);
	free(text);
}

#define JSON_BEGIN "{\"command\":\"test\",\"experiments\":[],"
#define JSON_END   ",\"warnings\":[]}\n"

static void facts(void **state)
{
	struct result result;
	struct part *part;

	result_init(&result, "test", NULL);
	result_heading(&result, "Of %s", "all");
	part = result_facts(&result, 8);
	part_add(&result, part, "user", "User", value_part(UNIT_SECONDS, 1.5, 3))->width = 7;
	part_add(&result, part, "calls", "Calls", value_count(12))->suffix = " times";
	part_add(&result, part, "file", "File", value_text(&result, NULL));
	part_set(&result, part, "ids", value_texts(&result, (const char *[]){"a", "b"}, 2));
	expect(&result, "text",
	       "Of all\n"
	       "    User:   1.500 ( 50.0%)\n"
	       "   Calls: 12 times\n"
	       "    File:\n");
	expect(&result, "json",
	       JSON_BEGIN "\"metrics\":[],\"rows\":[{\"user\":1.5,\"calls\":12,\"file\":null,"
			  "\"ids\":[\"a\",\"b\"]}]" JSON_END);
	part->facts.of_all = true;
	expect(&result, "json",
	       JSON_BEGIN "\"user\":1.5,\"calls\":12,\"file\":null,\"ids\":[\"a\",\"b\"],"
			  "\"metrics\":[],\"rows\":[]" JSON_END);
	result_fini(&result);
}

/* What is not of an audience is not shown to it, and a name ends no line. */
static void audiences(void **state)
{
	struct record *record;
	struct result result;
	struct part *line;

	result_init(&result, "test", NULL);
	line = result_line(&result, "- ", ", ");
	part_set(&result, line, "known", value_flag(false));
	part_add(&result, line, NULL, "name", value_text(&result, "a\nb"));
	part_add(&result, line, "cost", NULL, value_measure(UNIT_SECONDS, 0));
	record = result_record(&result);
	record_set(&result, record, "x", value_real(0.5, 1));
	part_set(&result, line, "deep", value_record(record));
	result_note(&result, "for colours")->audience = FOR_TERMINALS;
	expect(&result, "text", "- name = a\\x0ab, 0.\n");
	expect(&result, ",", "- name = a\\x0ab, 0.\n");
	expect(&result, "json",
	       JSON_BEGIN "\"metrics\":[],\"rows\":[{\"known\":false,\"cost\":0.0,"
			  "\"deep\":{\"x\":0.5}}]" JSON_END);
	char *text = render(&result, "text", true);

	assert_non_null(strstr(text, "for colours\n"));
	free(text);
	result.audience = FOR_PEOPLE;
	expect(&result, "json", "");
	result_fini(&result);
}

static void list(void **state)
{
	static const struct list_column columns[] = {
		{.key = "id", .title = "ID", .right = true},
		{.key = "path", .audience = FOR_PROGRAMS},
		{.title = "Name", .width = 6},
		{.key = "rest", .title = "Rest"},
	};
	struct result result;
	struct part *part;

	result_init(&result, "test", NULL);
	part = result_list(&result, columns, 4);
	part->list.rule = '=';
	for (uint64_t i = 1; i <= 1000; i *= 1000) {
		part_cell(&result, part, value_integer((int64_t)i));
		part_cell(&result, part, value_printf(&result, "/p/%d", (int)i));
		part_cell(&result, part, value_text(&result, "ab<"));
		part_cell(&result, part, value_text(&result, "long one"));
	}
	expect(&result, "text",
	       "  ID Name   Rest\n"
	       "==== ====== ========\n"
	       "   1 ab<    long one\n"
	       "1000 ab<    long one\n");
	expect(&result, "json",
	       JSON_BEGIN
	       "\"metrics\":[],\"rows\":[{\"id\":1,\"path\":\"/p/1\",\"rest\":\"long "
	       "one\"},{\"id\":1000,\"path\":\"/p/1000\",\"rest\":\"long one\"}]" JSON_END);
	char *text = render(&result, "html", false);

	assert_non_null(strstr(text, "<title>&lt;test&gt;</title>"));
	assert_non_null(strstr(text, "<pre>  ID Name   Rest\n"));
	assert_non_null(strstr(text, "ab&lt;    long one\n</pre>\n"));
	free(text);
	result_fini(&result);
}

static void make(struct result *into, size_t index, const void *data)
{
	static const char *const frames[] = {"leaf", "main"};
	const char *const *names = data;

	part_add(into, result_line(into, "", ""), "name", NULL, value_text(into, names[index]));
	result_frames(into, frames, index);
}

static void series(void **state)
{
	static const char *const names[] = {"one", "two", "three"};
	struct result result;

	result_init(&result, "test", NULL);
	result_series(&result, 3, make, names);
	expect(&result, "text", "one\ntwo\n  leaf\nthree\n  leaf\n  main\n");
	expect(&result, "json",
	       JSON_BEGIN "\"metrics\":[],\"rows\":[{\"name\":\"one\"},{\"name\":\"two\"},"
			  "{\"name\":\"three\"}]" JSON_END);
	result_fini(&result);
}

static void expect_json(struct value value, const char *expected)
{
	struct result result;

	result_init(&result, "test", NULL);
	if (value.kind == VALUE_TEXT)
		value = value_text(&result, value.text);
	part_set(&result, result_line(&result, "", ""), "x", value);
	char *text = render(&result, "json", false);
	char *begin = strstr(text, "{\"x\":") + strlen("{\"x\":");

	*strstr(begin, "}]") = '\0';
	assert_string_equal(begin, expected);
	free(text);
	result_fini(&result);
}

static void expect_text(const char *text, const char *expected)
{
	expect_json((struct value){.kind = VALUE_TEXT, .text = text}, expected);
}

/* Symbols are bytes; JSON is UTF-8. Overlong forms and surrogates are no UTF-8 (RFC 3629). */
static void json_values(void **state)
{
	expect_text("main", "\"main\"");
	expect_text("na\xc3\xafve", "\"na\xc3\xafve\"");
	expect_text("a\xff"
		    "b",
		    "\"a\xef\xbf\xbd"
		    "b\"");
	expect_text("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_text("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_text("x\xe2\x82", "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_json((struct value){.kind = VALUE_NONE}, "null");
	expect_json(value_measure(UNIT_SECONDS, 0.0 / 0.0), "null");
	expect_json(value_measure(UNIT_BYTES, 12), "12");
}

static void formats(void **state)
{
	struct presenter presenter = {.program = "test"};

	assert_false(present_set_format(&presenter, "csv"));
	assert_string_equal(present_format_name(&presenter), "text");
	assert_true(present_set_format(&presenter, ";"));
	assert_null(present_format_name(&presenter));
	assert_int_equal(presenter.delimiter, ';');
	assert_true(present_set_format(&presenter, "JSON"));
	assert_string_equal(present_format_name(&presenter), "json");
	assert_true(present_has_warnings(&presenter));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),   cmocka_unit_test(audiences),
		cmocka_unit_test(list),	   cmocka_unit_test(series),
		cmocka_unit_test(formats), cmocka_unit_test(json_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
