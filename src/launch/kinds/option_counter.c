/* SPDX-License-Identifier: Apache-2.0 */
/* The option of counters. */
#include "launch/options_private.h"

/* Alone it asks for the list. */
static bool take(struct option_parser *parser, const char *argument)
{
	if (argument)
		return counter_read(&options_of(parser)->counters, argument, parser->diags);
	options_of(parser)->action = OPTIONS_COUNTERS;
	return parser->is_done = true;
}

const struct option counter_option = {
	.letter = 'h',
	.name = "hwc",
	.argument = "COUNTER[,INTERVAL],...",
	.flags = OPTION_ALONE | OPTION_STARTS,
	.take = take,
	.help = "profiles of hardware counters, page faults, context switches and the like, and "
		"watch points; alone, lists what this machine has",
};
