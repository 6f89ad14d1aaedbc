/* SPDX-License-Identifier: Apache-2.0 */
/* The option of OpenMP: it is recorded unless it says no. */
#include "launch/options_private.h"

#include <stdio.h>
#include <string.h>

static bool take(struct option_parser *parser, const char *argument)
{
	if (strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0 &&
	    strcmp(argument, "trace") != 0)
		return option_refuse(parser, "Unrecognized OpenMP parameter", argument);
	snprintf(options_of(parser)->trace[TRACE_OMP], OPTIONS_TRACE_ROOM, "%s",
		 argument[1] == 'n' ? "" : argument);
	return true;
}

const struct option omp_option = {
	.name = "openmp",
	.argument = "on|off|trace",
	.flags = OPTION_ONCE | OPTION_STARTS,
	.take = take,
	.help = "regions, tasks and states of programs that use OpenMP (default: on); trace: each "
		"execution by itself",
};
