/* SPDX-License-Identifier: Apache-2.0 */
/* The option of counters. */
#include "launch/options_private.h"

/* Alone it asks for the list. */
static bool take(struct option_parser *parser, const char *argument)
{
	if (!argument)
		parser->options->action = OPTIONS_COUNTERS;
	return !argument || counter_read(&parser->options->counters, argument, parser->diags);
}

const struct option counter_option = {
	.letter = 'h',
	.name = "hwc",
	.argument = "COUNTER[,INTERVAL],...",
	.flags = OPTION_ALONE,
	.take = take,
	.help = "profiles of hardware counters, page faults, context switches and the like, and "
		"watch points; alone, lists what this machine has",
};
