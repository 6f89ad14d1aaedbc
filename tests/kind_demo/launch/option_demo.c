/* SPDX-License-Identifier: Apache-2.0 */
/* The option of the demo kind. */
#include "launch/options_private.h"

#include <stdio.h>
#include <string.h>

static bool take(struct option_parser *parser, const char *argument)
{
	if (strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0)
		return option_refuse(parser, "Unrecognized demo tracing parameter", argument);
	snprintf(options_of(parser)->trace[TRACE_DEMO], OPTIONS_TRACE_ROOM, "%s",
		 argument[1] == 'n' ? "on" : "");
	return true;
}

const struct option demo_option = {
	.name = "demo",
	.argument = "on|off",
	.flags = OPTION_ONCE | OPTION_STARTS,
	.take = take,
	.help = "demo tracing: every call of demo_call",
};
