/* SPDX-License-Identifier: Apache-2.0 */
/* What gets through to a terminal, written at once and cut at every byte. */
#include "base/terminal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>

/* Writes text in two parts, and compares what lies below then. */
static void check_cut(const char *text, size_t first, const char *expected)
{
	char *memory = NULL;
	size_t size = 0;
	FILE *below = open_memstream(&memory, &size);
	FILE *stream = terminal_open(below);

	assert_non_null(stream);
	assert_ptr_equal(terminal_below(stream), below);
	fwrite(text, 1, first, stream);
	fflush(stream);
	fputs(text + first, stream);
	assert_int_equal(fclose(stream), 0);
	fclose(below);
	assert_string_equal(memory, expected);
	free(memory);
}

static void check(const char *text, const char *expected)
{
	for (size_t first = 0; first <= strlen(text); first++)
		check_cut(text, first, expected);
}

static void text_stays(void **state)
{
	check("plain\n\ttext\n", "plain\n\ttext\n");
	check("Gr\u00fc\u00dfe, \u65e5\u672c, \U0001f600, e\u0301\n",
	      "Gr\u00fc\u00dfe, \u65e5\u672c, \U0001f600, e\u0301\n");
	check("Latin-1: \xe9t\xe9", "Latin-1: \xe9t\xe9");
	check("", "");
}

static void controls_are_shown(void **state)
{
	check("a\033]52;c;eA==\007b", "a\\x1b]52;c;eA==\\x07b");
	check("over\rwritten\b\x7f\v", "over\\x0dwritten\\x08\\u007f\\x0b");
	check("8 bits: \x9b"
	      "31m",
	      "8 bits: \\x9b31m");
	check("U+9B: \xc2\x9b.", "U+9B: \\u009b.");
}

static void marks_of_direction_are_shown(void **state)
{
	check("\u202egpj.exe\u202c", "\\u202egpj.exe\\u202c");
	check("\u2066\u2069\u200e\u200f\u061c\u2028", "\\u2066\\u2069\\u200e\\u200f\\u061c\\u2028");
	check("\u2067\u2010\u2070", "\\u2067\u2010\u2070");
}

/* Overlong forms of ESC, halves of pairs, and characters that never end. */
static void what_is_no_utf8(void **state)
{
	check("\xc0\x9b\xe0\x80\x9b", "\xc0\\x9b\xe0\\x80\\x9b");
	check("\xed\xa0\x80 \xf5\x80", "\xed\xa0\\x80 \xf5\\x80");
	check("\xe2\x80", "\xe2\\x80");
	check("\xf0\x9f\033", "\xf0\\x9f\\x1b");
}

static void control_of_our_own(void **state)
{
	char *memory = NULL;
	size_t size = 0;
	FILE *below = open_memstream(&memory, &size), *stream = terminal_open(below);

	fputs("a", stream);
	terminal_control(stream, "\033[1m");
	fputs("b\033[2m", stream);
	terminal_control(stream, "\033[0m");
	fclose(stream);
	terminal_control(below, "\033[3m");
	fclose(below);
	assert_string_equal(memory, "a\033[1mb\\x1b[2m\033[0m\033[3m");
	free(memory);
}

static void a_full_disk(void **state)
{
	FILE *below = fopen("/dev/full", "w"), *stream = terminal_open(below);

	fputs("text", stream);
	assert_int_not_equal(fflush(stream), 0);
	assert_true(ferror(stream));
	fclose(stream);
	fclose(below);
}

/* Only the format ends lines, whatever marks a text has itself. */
static void lines_of_formats(void **state)
{
	char *memory = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&memory, &size);

	(void)state;
	terminal_printf(stream, "%d: %s\n%-6s|\n", 1, "a\nb", "c\n");
	terminal_printf(stream, "%s\n", "\001\002\n");
	terminal_printf(stream, "none");
	terminal_printf(stream, "%s\n.\n", "\1\2\3\4\5\6\7\10\n");
	fclose(stream);
	assert_string_equal(memory, "1: a\\x0ab\nc\\x0a    |\n\001\002\\x0a\nnone"
				    "\1\2\3\4\5\6\7\10\\x0a\10.\10");
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_stays),
		cmocka_unit_test(controls_are_shown),
		cmocka_unit_test(marks_of_direction_are_shown),
		cmocka_unit_test(what_is_no_utf8),
		cmocka_unit_test(control_of_our_own),
		cmocka_unit_test(a_full_disk),
		cmocka_unit_test(lines_of_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
