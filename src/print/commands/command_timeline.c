/* SPDX-License-Identifier: Apache-2.0 */
/* timeline: what threads did over time, as cells or event by event. */
#include "print/commands/command_timeline.h"

#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/commands/command_stacks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CELLS_USUAL = 80, EVENTS_USUAL = 100 };

static bool read_seconds(struct print *print, const char *command, const char *word, uint64_t *ns)
{
	char *rest;
	double value = strtod(word, &rest);

	if (*rest || rest == word || !(value >= 0 && value < 1e9))
		return say_error(print, "%s: takes seconds, not `%s'", command, word);
	*ns = (uint64_t)llround(value * 1e9);
	return true;
}

/* An option and the word behind it. */
static bool read_option(struct print *print, const char *option, const char *value,
			struct timeline_request *request)
{
	if (!strcasecmp(option, "from"))
		return read_seconds(print, request->command, value, &request->range.begin_ns);
	if (!strcasecmp(option, "to"))
		return read_seconds(print, request->command, value, &request->range.end_ns);
	if (!request->has_events || strcasecmp(option, "events") != 0)
		return say_error(print, "%s: there is no option -%s; it takes -from S%s",
				 request->command, option,
				 request->has_events ? ", -to S, -events FIRST and -cpus"
						     : " and -to S");
	request->events = true;
	return command_read_count(print, "timeline -events", value, &request->first);
}

static bool check_range(struct print *print, const struct timeline_request *request)
{
	uint64_t begin_ns = request->range.begin_ns, end_ns = request->range.end_ns;

	return !end_ns || end_ns >= begin_ns ||
	       say_error(print, "%s: -to %.9g is before -from %.9g", request->command,
			 (double)end_ns / 1e9, (double)begin_ns / 1e9);
}

bool command_read_timeline(struct print *print, char **arguments, size_t count,
			   struct timeline_request *request)
{
	for (size_t i = 0; i < count; i++) {
		const char *option = arguments[i] + strspn(arguments[i], "-");

		if (option != arguments[i] && request->has_events && !strcasecmp(option, "cpus")) {
			request->cpus = true;
			continue;
		}
		if (option != arguments[i]) {
			const char *value = i + 1 < count ? arguments[i + 1] : "";

			if (!read_option(print, option, value, request))
				return false;
			i++;
			continue;
		}
		if (!command_read_count(print, request->command, arguments[i], &request->count))
			return false;
		request->has_count = true;
	}
	return check_range(print, request);
}

static void add_cells(struct print *print, struct result *result,
		      const struct timeline_request *request)
{
	size_t cells = request->has_count ? request->count : CELLS_USUAL;
	struct timeline timeline;

	(request->cpus ? view_timeline_cpus : view_timeline)(print->session, &print->query,
							     request->range, cells, &timeline);
	result_timeline(result, &timeline);
}

/* Events are numbered from 1 for people. */
static void add_events(struct print *print, struct result *result,
		       const struct timeline_request *request)
{
	struct timeline_page page;

	view_timeline_events(print->session, &print->query, request->range,
			     request->first ? request->first - 1 : 0,
			     request->has_count ? request->count : EVENTS_USUAL, &page);
	result_events(result, &page);
}

static bool command_timeline(struct print *print, char **arguments, size_t count)
{
	struct timeline_request request = {.command = "timeline", .has_events = true};
	struct result result;

	if (!command_read_timeline(print, arguments, count, &request))
		return false;
	if (request.cpus && request.events)
		return say_error(print, "timeline: -events lists those of threads, not of -cpus");
	result_init(&result, "timeline", print->session);
	result_heading(&result, "Timeline")->heading.is_title = true;
	if (request.events)
		add_events(print, &result, &request);
	else
		add_cells(print, &result, &request);
	return print_answer(print, &result);
}

const struct command command_rows_timeline[] = {
	{.name = "timeline",
	 .max_arguments = 8,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CALLS,
	 .arguments = "[-from S] [-to S] [-events FIRST] [-cpus] [N]",
	 .help = "what threads or processors did over time, in N cells; or N events",
	 .run = command_timeline,
	 .options = "from= to= events= cpus"},
	{0},
};
