/* SPDX-License-Identifier: Apache-2.0 */
/* Text without libc, against what printf says. */
#include "collector/storage/text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void numbers_equal_printf(void **state)
{
	static const int64_t values[] = {0, 1, -1, 9, 10, 4711, INT64_MAX, INT64_MIN};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char room[64], expected[64];
		struct text text = TEXT_ON(room);

		text_decimal(&text, values[i]);
		text_putc(&text, ' ');
		text_hex(&text, (uint64_t)values[i]);
		snprintf(expected, sizeof(expected), "%" PRId64 " 0x%" PRIx64, values[i],
			 (uint64_t)values[i]);
		assert_string_equal(room, expected);
		assert_false(text.full);
	}
}

static void attributes_escape_what_xml_needs(void **state)
{
	char room[128];
	struct text text = TEXT_ON(room);

	(void)state;
	text_attribute(&text, "name", "a<b&\"c\"\n\001");
	assert_string_equal(room, " name=\"a&lt;b&amp;&quot;c&quot;&#10;\xee\xb8\x81\"");

	struct text other = TEXT_ON(room);

	text_attribute(&other, "n", "\t\r\xee\xb9\x81\xef\xbf\xbe\xff\xee");
	assert_string_equal(room, " n=\"&#9;&#13;\xee\xb8\x80\xee\xb9\x81"
				  "\xee\xbb\xaf\xee\xba\xbf\xee\xba\xbe\xff\xee\"");
}

static void a_full_buffer_is_cut_and_says_so(void **state)
{
	char room[8] = "xxxxxxx";
	struct text text = TEXT_ON(room);

	(void)state;
	text_puts(&text, "0123456789");
	assert_true(text.full);
	assert_string_equal(room, "0123456");
}

static void numbers_are_read_up_to_the_first_other_character(void **state)
{
	const char *end;

	(void)state;
	assert_int_equal(text_number("10007;p", &end), 10007);
	assert_string_equal(end, ";p");
	assert_int_equal(text_number("x", &end), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_equal_printf),
		cmocka_unit_test(attributes_escape_what_xml_needs),
		cmocka_unit_test(a_full_buffer_is_cut_and_says_so),
		cmocka_unit_test(numbers_are_read_up_to_the_first_other_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
