/* SPDX-License-Identifier: Apache-2.0 */
/* lockholds: who held which lock in time, while others waited for it. */
#include "analysis/views/lock_holds.h"
#include "base/array.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"
#include "print/commands/command_timeline.h"

enum { HOLDS_USUAL = 1000 };

struct asked {
	struct result *result;
	const struct timeline_request *request;
};

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* "the_lock: Process 1, Thread 2 (tid 12) for Process 1, Thread 3 (tid 13)" */
static struct value who(struct result *result, const struct lock_held *held)
{
	return value_printf(result, "%s: %s for %s%s", held->lock, held->holder, held->waiters[0],
			    held->waiters[1] ? " and others" : "");
}

static void add_hold(struct result *result, struct part *list, const struct lock_held *held,
		     const char *name)
{
	struct part *row = result_line(result, "", "");
	size_t waiters = 0;

	while (waiters < HOLD_WAITERS && held->waiters[waiters])
		waiters++;
	part_cell(result, list, value_real(seconds(held->begin_ns), 6));
	part_cell(result, list, value_real(seconds(held->end_ns), 6));
	part_cell(result, list, value_count(held->holds));
	part_cell(result, list, value_count(held->waits));
	part_cell(result, list, value_real(seconds(held->waited_ns), 6));
	part_cell(result, list, who(result, held));
	part_set(result, row, "process", value_count(held->process));
	part_set(result, row, "thread", value_count(held->thread));
	part_set(result, row, "holder", value_text(result, held->holder));
	part_set(result, row, "lock", value_text(result, held->lock));
	part_set(result, row, "begin_s", value_real(seconds(held->begin_ns), 9));
	part_set(result, row, "end_s", value_real(seconds(held->end_ns), 9));
	part_set(result, row, "holds", value_count(held->holds));
	part_set(result, row, "waits", value_count(held->waits));
	part_set(result, row, "waited_s", value_real(seconds(held->waited_ns), 9));
	part_set(result, row, "waiters", value_texts(result, held->waiters, waiters));
	if (name)
		part_set(result, row, "experiment", value_text(result, name));
}

static void add_sums(struct result *result, const struct lock_holds *holds)
{
	struct part *facts;

	result_gap(result);
	facts = result_facts(result, -22);
	facts->facts.of_all = true;
	part_add(result, facts, "holds", "Holds", value_count(holds->count));
	part_add(result, facts, "left_out", "Of them without a row", value_count(holds->left_out));
	part_add(result, facts, "waited_s", "Waited meanwhile, s",
		 value_real(seconds(holds->waited_ns), 6));
	part_add(result, facts, "unknown_s", "For whom not known, s",
		 value_real(seconds(holds->unknown_ns), 6));
}

static void ask_holds(struct print *print, const char *name, void *data)
{
	const struct list_column columns[] = {
		{.title = "From, s", .right = true},   {.title = "To, s", .right = true},
		{.title = "Holds", .right = true},     {.title = "Waits", .right = true},
		{.title = "Waited, s", .right = true}, {.title = "Lock: holder for waiter"}};
	const struct asked *asked = data;
	const struct timeline_request *request = asked->request;
	struct result *result = asked->result;
	struct lock_holds holds;

	view_lock_holds(print->session, &print->query, request->range.begin_ns,
			request->range.end_ns, request->count, &holds);
	command_group_heading(print, result, name);
	result_heading(result, "Locks held while others waited for them");

	struct part *list = result_list(result, columns, COUNT(columns));

	list->audience = FOR_PEOPLE;
	list->list.ruled = true;
	for (size_t i = 0; i < holds.list.count; i++)
		add_hold(result, list, &holds.list.items[i], name);
	add_sums(result, &holds);
	if (name)
		result_gap(result);
	lock_holds_fini(&holds);
}

static bool command_lockholds(struct print *print, char **arguments, size_t count)
{
	struct timeline_request request = {.command = "lockholds"};
	struct result result;

	if (!command_read_timeline(print, arguments, count, &request))
		return false;
	if (!request.has_count)
		request.count = HOLDS_USUAL;
	if (!request.count)
		request.count = UINT32_MAX;
	result_init(&result, "lockholds", print->session);
	command_each_group(print, ask_holds,
			   &(struct asked){.result = &result, .request = &request});
	return print_answer(print, &result);
}

const struct command command_rows_lock_holds[] = {
	{.name = "lockholds",
	 .max_arguments = 5,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_TRACES,
	 .arguments = "[-from S] [-to S] [N]",
	 .help = "who held which lock in time while others waited; more than N as sums",
	 .run = command_lockholds,
	 .data = DATA_SYNC,
	 .or_data = DATA_OMP,
	 .options = "from= to="},
	{0},
};
