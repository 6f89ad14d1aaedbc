/* SPDX-License-Identifier: Apache-2.0 */
/* The option of I/O tracing. */
#include "launch/options_private.h"

#include <stdio.h>
#include <string.h>

static bool take(struct option_parser *parser, const char *argument)
{
	char *param = options_of(parser)->trace[TRACE_IO];

	if (strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0)
		return option_refuse(parser, "Unrecognized I/O tracing parameter", argument);
	snprintf(param, OPTIONS_TRACE_ROOM, "%s", argument[1] == 'n' ? "on" : "");
	return true;
}

const struct option io_option = {
	.letter = 'i',
	.name = "io",
	.argument = "on|off",
	.flags = OPTION_ONCE | OPTION_STARTS,
	.take = take,
	.help = "I/O tracing: every call that opens, reads, writes, waits for or closes a file or "
		"socket; a call of stdio is one, whatever it reads or writes below",
};
