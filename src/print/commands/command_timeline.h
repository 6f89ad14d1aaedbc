/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of commands that show a range of time. */
#ifndef HELIO_PRINT_COMMAND_TIMELINE_H
#define HELIO_PRINT_COMMAND_TIMELINE_H

#include "analysis/views/timeline.h"
#include "print/context.h"

struct timeline_request {
	const char *command;
	bool has_events; /* -events and -cpus are options of the command */
	struct timeline_range range;
	bool events;	/* those themselves … */
	uint32_t first; /* … from this number on */
	bool cpus;	/* a row for each processor */
	bool has_count;
	uint32_t count; /* of cells, events or rows; 0: all there may be */
};

/* [-from S] [-to S] [-events FIRST] [-cpus] [N]. False after say_error(). */
bool command_read_timeline(struct print *print, char **arguments, size_t count,
			   struct timeline_request *request);

#endif
