/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of synchronization tracing. */
#include "analysis/views/locks.h"
#include "base/memory.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"
#include "print/commands/command_views.h"

#include <inttypes.h>
#include <stdlib.h>

static bool command_locks(struct print *print, char **arguments, size_t count)
{
	struct table table;

	view_locks(print->session, &print->query, &table);
	char *heading = command_table_heading("Locks", &table, false);

	return command_show_table(print, "locks", SHAPE_LIST, &table, heading);
}

/* "LABEL: 3 waits, 0.030 sec., longest 0.010 sec., 1 failed" */
static struct part *add_waits(struct result *result, const char *before, const char *label,
			      const struct lock_waits *waits)
{
	struct part *line = result_line(result, before, ", ");

	line->facts.layout.assign = ": ";
	part_set(result, line, "sync", value_real(waits->seconds, 3));
	part_set(result, line, "syncn", value_count(waits->count));
	part_set(result, line, "longest", value_real(waits->longest, 3));
	part_set(result, line, "failed", value_count(waits->failed));
	part_add(result, line, NULL, label,
		 value_printf(result, "%" PRIu64 " wait%s", waits->count,
			      waits->count == 1 ? "" : "s"));
	part_add(result, line, NULL, NULL, value_printf(result, "%.3f sec.", waits->seconds));
	part_add(result, line, NULL, NULL,
		 value_printf(result, "longest %.3f sec.", waits->longest));
	if (waits->failed)
		part_add(result, line, NULL, NULL,
			 value_printf(result, "%" PRIu64 " failed", waits->failed));
	return line;
}

static void add_frames(struct result *result, const struct lock_stack *stack)
{
	result_frames(result, stack->frames, stack->depth)->frames.indent = "\t";
}

static struct value frames_of(struct result *result, const struct lock_stack *stack)
{
	return value_texts(result, stack->frames, stack->depth);
}

static void add_lock(struct result *result, const struct lock_detail *detail, const char *name)
{
	struct part *line;

	result_heading(result, "%s", detail->name);
	if (detail->object)
		result_note(result, "of %s", detail->object);
	if (detail->maker.depth)
		result_note(result, "allocated by");
	add_frames(result, &detail->maker);
	result_gap(result);
	line = add_waits(result, "", "All", &detail->waits);
	if (name)
		part_set(result, line, "experiment", value_text(result, name));
	part_set(result, line, "name", value_text(result, detail->name));
	part_set(result, line, "object", value_text(result, detail->object));
	if (detail->maker.depth)
		part_set(result, line, "allocated_by", frames_of(result, &detail->maker));
	for (size_t i = 0; i < detail->types.count; i++) {
		const char *type = detail->types.items[i].name;

		line = add_waits(result, "\t", type, &detail->types.items[i].waits);
		part_set(result, line, "type", value_text(result, type));
		if (detail->types.count == 1) /* it is all */
			line->audience = FOR_PROGRAMS;
	}
}

static void add_pairs(struct result *result, const struct lock_detail *detail)
{
	result_gap(result);
	result_heading(result, "Who waited for whom");
	for (size_t i = 0; i < detail->pairs.count; i++) {
		const struct lock_pair *pair = &detail->pairs.items[i];
		char *label = xasprintf("%s for %s", pair->waiter,
					pair->holder ? pair->holder : "(not known)");
		struct part *line = add_waits(result, "\t", label, &pair->waits);

		part_set(result, line, "waiter", value_text(result, pair->waiter));
		part_set(result, line, "holder", value_text(result, pair->holder));
		free(label);
	}
}

static void add_stacks(struct result *result, const struct lock_detail *detail)
{
	for (size_t i = 0; i < detail->stacks.count; i++) {
		const struct lock_stack *stack = &detail->stacks.items[i];
		char *label = xasprintf("Call stack #%zu", i + 1);

		result_gap(result);
		part_set(result, add_waits(result, "", label, &stack->waits), "frames",
			 frames_of(result, stack));
		add_frames(result, stack);
		free(label);
	}
}

static void add_holders(struct result *result, const struct lock_detail *detail)
{
	static const char heading[] = "What its holders did while it was waited for";
	bool unknown = detail->unknown_seconds > 0.01 * detail->waits.seconds;
	struct part *line;

	for (size_t i = 0; i < detail->holders.count; i++) {
		const struct lock_stack *stack = &detail->holders.items[i];

		result_gap(result);
		if (!i)
			result_heading(result, "%s", heading);
		result_note(result, "Holder's call stack #%zu: %.3f sec.", i + 1,
			    stack->waits.seconds);
		line = result_line(result, "", "");
		part_set(result, line, "held", value_real(stack->waits.seconds, 3));
		part_set(result, line, "frames", frames_of(result, stack));
		add_frames(result, stack);
	}
	if (unknown)
		result_gap(result);
	if (unknown && !detail->holders.count)
		result_heading(result, "%s", heading);
	if (unknown)
		result_note(result, "Not known: %.3f sec.", detail->unknown_seconds);
	if (detail->unknown_seconds > 0)
		part_set(result, result_line(result, "", ""), "unknown",
			 value_real(detail->unknown_seconds, 3));
	result_gap(result);
}

struct lock_question {
	const char *which;
	bool found;
};

/* An answer for each experiment, of which only those who know the lock tell programs something. */
static void answer(struct print *print, const char *name, void *data)
{
	struct lock_question *question = data;
	struct lock_detail detail;
	struct result result;
	bool found = view_lock(print->session, &print->query, question->which, &detail);

	result_init(&result, "lock", print->session);
	command_group_heading(print, &result, name);
	if (found) {
		add_lock(&result, &detail, name);
		add_pairs(&result, &detail);
		add_stacks(&result, &detail);
		add_holders(&result, &detail);
	} else {
		result.audience = FOR_PEOPLE;
		if (name)
			result_note(&result, "Nobody waited for %s", question->which);
	}
	print_answer(print, &result);
	question->found |= found;
	lock_detail_fini(&detail);
}

static bool command_lock(struct print *print, char **arguments, size_t count)
{
	struct lock_question question = {.which = arguments[0]};

	command_each_group(print, answer, &question);
	return question.found ||
	       say_error(print, "No lock `%s' (`locks` lists them)", arguments[0]);
}

const struct command command_rows_locks[] = {
	{.name = "locks",
	 .group = GROUP_TRACES,
	 .help = "what was waited for: locks and the like, with their wait times",
	 .run = command_locks,
	 .data = DATA_SYNC,
	 .or_data = DATA_OMP,
	 .comes_next = true},
	{.name = "lock",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_TRACES,
	 .arguments = "LOCK|N",
	 .help = "one of them, by name or place in the list: who waited for whom, and where",
	 .run = command_lock,
	 .data = DATA_SYNC,
	 .or_data = DATA_OMP},
	{0},
};
