/* SPDX-License-Identifier: Apache-2.0 */
/* The option of MPI tracing. */
#include "launch/options_private.h"

#include <stdio.h>
#include <string.h>

static bool take(struct option_parser *parser, const char *argument)
{
	if (strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0)
		return option_refuse(parser, "Unrecognized MPI tracing parameter", argument);
	options_of(parser)->traces_mpi = true;
	snprintf(options_of(parser)->trace[TRACE_MPI], OPTIONS_TRACE_ROOM, "%s",
		 argument[1] == 'n' ? "on" : "");
	return true;
}

const struct option mpi_option = {
	.letter = 'm',
	.name = "mpi",
	.argument = "on|off",
	.flags = OPTION_ONCE | OPTION_STARTS,
	.take = take,
	.help = "MPI tracing: every call of a function of MPI that communicates, waits, reads, "
		"writes or makes communicators",
};
