/* SPDX-License-Identifier: Apache-2.0 */
/* mpimessages: messages from thread to thread in time. */
#include "analysis/kinds/mpi_messages.h"
#include "base/array.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"
#include "print/commands/command_timeline.h"

#include <inttypes.h>

enum { MESSAGES_USUAL = 1000 };

struct asked {
	struct result *result;
	const struct timeline_request *request;
};

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void add_message(struct result *result, struct part *list, const struct mpi_message *message,
			const char *name)
{
	struct part *row = result_line(result, "", "");

	part_cell(result, list, value_integer(message->from));
	part_cell(result, list, value_integer(message->to));
	part_cell(result, list, value_real(seconds(message->begin_ns), 6));
	part_cell(result, list, value_real(seconds(message->end_ns), 6));
	part_cell(result, list, value_count(message->count));
	part_cell(result, list, value_count(message->bytes));
	part_set(result, row, "world", value_count(message->world));
	part_set(result, row, "from", value_integer(message->from));
	part_set(result, row, "to", value_integer(message->to));
	part_set(result, row, "from_process", value_count(message->from_process));
	part_set(result, row, "from_thread", value_count(message->from_thread));
	part_set(result, row, "to_process", value_count(message->to_process));
	part_set(result, row, "to_thread", value_count(message->to_thread));
	part_set(result, row, "begin_s", value_real(seconds(message->begin_ns), 9));
	part_set(result, row, "end_s", value_real(seconds(message->end_ns), 9));
	part_set(result, row, "messages", value_count(message->count));
	part_set(result, row, "bytes", value_count(message->bytes));
	if (name)
		part_set(result, row, "experiment", value_text(result, name));
}

static void add_counts(struct result *result, const struct mpi_messages *messages)
{
	struct part *facts;

	result_gap(result);
	facts = result_facts(result, -22);
	facts->facts.of_all = true;
	part_add(result, facts, "messages", "Messages", value_count(messages->count));
	part_add(result, facts, "left_out", "Of them without a row",
		 value_count(messages->left_out));
}

static void ask_messages(struct print *print, const char *name, void *data)
{
	const struct list_column columns[] = {{.title = "From rank", .right = true},
					      {.title = "To rank", .right = true},
					      {.title = "Send begins, s", .right = true},
					      {.title = "Receive ends, s", .right = true},
					      {.title = "Messages", .right = true},
					      {.title = "Bytes", .right = true}};
	const struct asked *asked = data;
	const struct timeline_request *request = asked->request;
	struct result *result = asked->result;
	struct mpi_messages messages;

	view_mpi_messages(print->session, &print->query, request->range.begin_ns,
			  request->range.end_ns, request->count, &messages);
	command_group_heading(print, result, name);
	result_heading(result, "Messages in time");

	struct part *list = result_list(result, columns, COUNT(columns));

	list->audience = FOR_PEOPLE;
	list->list.ruled = true;
	for (size_t i = 0; i < messages.list.count; i++)
		add_message(result, list, &messages.list.items[i], name);
	add_counts(result, &messages);
	if (name)
		result_gap(result);
	mpi_messages_fini(&messages);
}

static bool command_mpimessages(struct print *print, char **arguments, size_t count)
{
	struct timeline_request request = {.command = "mpimessages"};
	struct result result;

	if (!command_read_timeline(print, arguments, count, &request))
		return false;
	if (!request.has_count)
		request.count = MESSAGES_USUAL;
	if (!request.count)
		request.count = UINT32_MAX;
	result_init(&result, "mpimessages", print->session);
	command_each_group(print, ask_messages,
			   &(struct asked){.result = &result, .request = &request});
	return print_answer(print, &result);
}

const struct command command_rows_mpi_messages[] = {
	{.name = "mpimessages",
	 .max_arguments = 5,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_TRACES,
	 .arguments = "[-from S] [-to S] [N]",
	 .data = DATA_MPI,
	 .help = "messages from rank to rank in time, where there are more as sums in N rows",
	 .run = command_mpimessages,
	 .options = "from= to="},
	{0},
};
