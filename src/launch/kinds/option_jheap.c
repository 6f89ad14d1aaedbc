/* SPDX-License-Identifier: Apache-2.0 */
/* The option of the Java heap, which that of heap tracing switches on, too. */
#include "launch/options_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_read_bytes(const char *text, char param[OPTIONS_TRACE_ROOM])
{
	static const struct option_unit units[] = {
		{"", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {NULL, 0}};
	double bytes;

	if (!option_read_number(&text, &bytes) ||
	    !option_read_unit(text, text + strlen(text), units, &bytes) || bytes < 1 ||
	    bytes > 1e12)
		return false;
	snprintf(param, OPTIONS_TRACE_ROOM, "%.0f", bytes);
	return true;
}

static bool take(struct option_parser *parser, const char *argument)
{
	enum { INT_LIMIT = INT32_MAX }; /* of the machine's own parameter */
	char *param = options_of(parser)->trace[TRACE_JHEAP];

	if (!strcmp(argument, "on") || !strcmp(argument, "off")) {
		snprintf(param, OPTIONS_TRACE_ROOM, "%s",
			 argument[1] == 'n' ? OPTIONS_JAVA_HEAP_ON : argument);
		return true;
	}
	return (option_read_bytes(argument, param) && strtod(param, NULL) <= INT_LIMIT) ||
	       option_refuse(parser, "Unrecognized Java heap parameter", argument);
}

const struct option jheap_option = {
	.name = "java-heap",
	.argument = "on|off|BYTES",
	.flags = OPTION_ONCE,
	.take = take,
	.help = "allocations of Java objects: a sample of one in so many bytes (on: 512k); -H on "
		"and -H sample=BYTES do that, too",
};
