/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All commands: each file of commands ends with its rows.
 *
 * Commands of the old tools for data that nothing records are rows too, here: they are not listed
 * by `help`, but they say what is missing, and they take part in the abbreviations, so that a
 * script does not change its meaning when they arrive.
 */
#include "print/commands/command.h"

#include "analysis/session/session.h"
#include "base/array.h"

/* A command for a kind of data that nothing records. */
#define WITHOUT(name_, aliases_, data_)                                                            \
	{                                                                                          \
		.name = (name_), .aliases = (aliases_), .max_arguments = 20, .data = (data_)       \
	}

static const struct command unavailable[] = {
	WITHOUT("races", NULL, DATA_RACES),
	WITHOUT("rdetail", NULL, DATA_RACES),
	WITHOUT("deadlocks", NULL, DATA_DEADLOCKS),
	WITHOUT("ddetail", NULL, DATA_DEADLOCKS),
	WITHOUT("dsummary", NULL, DATA_DEADLOCKS),
	WITHOUT("ifreq", NULL, DATA_COUNTS),
	{0},
};

#ifdef HELIO_KIND_DEMO
#define COMMAND_FILE_OF_TESTS(X) X(demo)
#else
#define COMMAND_FILE_OF_TESTS(X)
#endif

/* The files that have commands: command_NAME.c, and script.c.  In the order of `help`. */
#define COMMAND_FILES(X)                                                                           \
	X(views)                                                                                   \
	X(summary)                                                                                 \
	X(fragment)                                                                                \
	X(tree)                                                                                    \
	X(stacks)                                                                                  \
	X(timeline)                                                                                \
	X(flamegraph)                                                                              \
	X(heap)                                                                                    \
	X(heapstat)                                                                                \
	X(locks)                                                                                   \
	X(lock_holds)                                                                              \
	X(io)                                                                                      \
	X(mpi)                                                                                     \
	X(mpi_messages)                                                                            \
	X(omp)                                                                                     \
	X(report)                                                                                  \
	X(lists)                                                                                   \
	X(experiments)                                                                             \
	X(objects)                                                                                 \
	X(header)                                                                                  \
	X(overview)                                                                                \
	X(statistics)                                                                              \
	X(filter)                                                                                  \
	X(compare)                                                                                 \
	X(defaults)                                                                                \
	X(index)                                                                                   \
	X(data)                                                                                    \
	X(model)                                                                                   \
	X(metrics)                                                                                 \
	X(settings)                                                                                \
	X(source)                                                                                  \
	X(commentary)                                                                              \
	X(procstats)                                                                               \
	X(script)                                                                                  \
	X(help)                                                                                    \
	COMMAND_FILE_OF_TESTS(X)

#define X(name) extern const struct command command_rows_##name[];
COMMAND_FILES(X)
#undef X

#define X(name) command_rows_##name,
static const struct command *const files[] = {COMMAND_FILES(X) unavailable};
#undef X

const struct command *command_at(size_t index)
{
	for (size_t i = 0; i < COUNT(files); i++)
		for (const struct command *row = files[i]; row->name; row++)
			if (!index--)
				return row;
	return NULL;
}

/* What nothing records, and what to do instead. */
static const char *const unrecorded[] = {
	[DATA_COUNTS] =
		"Instruction counts are not recorded: helio collect -h instructions samples them",
	[DATA_RACES] = "Data races are not recorded: compilers find them (-fsanitize=thread)",
	[DATA_DEADLOCKS] =
		"Deadlocks are not recorded: locks lists the waits (helio collect -s on)",
};

enum trace_kind command_data_kind(enum command_data data)
{
	return data != DATA_ANY && data < DATA_COUNTS ? (enum trace_kind)(data - 1) : TRACE_KINDS;
}

static bool check_trace(struct print *print, enum trace_kind kind)
{
	if (print->session && !session_has_trace(print->session, kind))
		return say_error(print, "No %s data: record it with helio collect %s",
				 format_kinds[kind].subject, format_kinds[kind].option);
	return true;
}

bool command_check_data(struct print *print, const struct command *command)
{
	enum command_data data = command->data;

	if (data == DATA_ANY)
		return true;
	if (command->or_data && print->session &&
	    session_has_trace(print->session, command_data_kind(command->or_data)))
		return true;
	if (data < DATA_COUNTS)
		return check_trace(print, command_data_kind(data));
	return say_error(print, "%s", unrecorded[data]);
}

const char *command_group_title(enum command_group group)
{
	static const char *const titles[] = {
		[GROUP_FUNCTIONS] = "Functions",
		[GROUP_CALLS] = "Callers, callees and the call tree",
		[GROUP_CODE] = "Lines and instructions",
		[GROUP_TRACES] = "Memory, input and output, locks, counters",
		[GROUP_INDEX] = "Index objects",
		[GROUP_LISTS] = "Experiments",
		[GROUP_FILTERS] = "Filters and comparison",
		[GROUP_METRICS] = "Metrics",
		[GROUP_OUTPUT] = "Output",
		[GROUP_DEFAULTS] = "Start-up files",
		[GROUP_OTHER] = "Other",
	};

	return titles[group];
}
