/* SPDX-License-Identifier: Apache-2.0 */
/* The option of heap tracing. */
#include "base/array.h"
#include "launch/options_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_param(const char *text, char param[OPTIONS_TRACE_ROOM])
{
	static const struct {
		const char *word, *param;
	} words[] = {{"off", ""}, {"on", "all"}, {"on,noscan", "all,noscan"}};

	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcmp(text, words[i].word)) {
			snprintf(param, OPTIONS_TRACE_ROOM, "%s", words[i].param);
			return true;
		}
	return !strncmp(text, "sample=", strlen("sample=")) &&
	       option_read_bytes(text + strlen("sample="), param);
}

/* Java's objects by the same measure, unless something else was said of them. */
static void take_java(struct options *options)
{
	const char *param = options->trace[TRACE_HEAP];
	char *java = options->trace[TRACE_JHEAP];
	double bytes = strtod(param, NULL);

	if (!*param || *java)
		return;
	if (bytes < 1)
		snprintf(java, OPTIONS_TRACE_ROOM, "%s", OPTIONS_JAVA_HEAP_ON);
	else
		snprintf(java, OPTIONS_TRACE_ROOM, "%.0f", bytes < INT32_MAX ? bytes : INT32_MAX);
}

static bool take(struct option_parser *parser, const char *argument)
{
	if (!read_param(argument, options_of(parser)->trace[TRACE_HEAP]))
		return option_refuse(parser, "Unrecognized heap tracing parameter", argument);
	take_java(options_of(parser));
	return true;
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
