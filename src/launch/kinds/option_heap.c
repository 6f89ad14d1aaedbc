/* SPDX-License-Identifier: Apache-2.0 */
/* The option of heap tracing. */
#include "base/array.h"
#include "launch/options_private.h"

#include <stdio.h>
#include <string.h>

static bool read_param(const char *text, char param[OPTIONS_TRACE_ROOM])
{
	static const struct {
		const char *word, *param;
	} words[] = {{"off", ""}, {"on", "all"}, {"on,noscan", "all,noscan"}};
	static const struct option_unit units[] = {
		{"", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {NULL, 0}};
	double bytes;

	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcmp(text, words[i].word)) {
			snprintf(param, OPTIONS_TRACE_ROOM, "%s", words[i].param);
			return true;
		}
	if (strncmp(text, "sample=", strlen("sample=")) != 0)
		return false;
	text += strlen("sample=");
	if (!option_read_number(&text, &bytes) ||
	    !option_read_unit(text, text + strlen(text), units, &bytes) || bytes < 1 ||
	    bytes > 1e12)
		return false;
	snprintf(param, OPTIONS_TRACE_ROOM, "%.0f", bytes);
	return true;
}

static bool take(struct option_parser *parser, const char *argument)
{
	return read_param(argument, options_of(parser)->trace[TRACE_HEAP]) ||
	       option_refuse(parser, "Unrecognized heap tracing parameter", argument);
}

const struct option heap_option = {
	.letter = 'H',
	.name = "heap",
	.argument = "on[,noscan]|off|sample=BYTES",
	.flags = OPTION_ONCE | OPTION_STARTS,
	.take = take,
	.help = "heap tracing: every allocation and release of memory, or a sample of one in so "
		"many bytes (512k)",
};
