/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of heap tracing: leaks, allocs, heap, heapstat. */
#include "print/commands/command_heap.h"

#include "analysis/session/session.h"
#include "analysis/views/heaps.h"
#include "base/memory.h"
#include "print/commands/command.h"

#include <inttypes.h>
#include <stdlib.h>

const char *command_heap_error(struct result *result, struct heap_amount amount)
{
	uint64_t error = heap_error(amount);

	return error ? value_printf(result, " +- %" PRIu64, error).text : NULL;
}

void command_heap_set_error(struct result *result, struct record *record, const char *bytes,
			    struct heap_amount amount)
{
	char *key = xasprintf("%s_error", bytes);

	if (heap_error(amount))
		record_set(result, record, key, value_count(heap_error(amount)));
	free(key);
}

/* How many of them `limit` lets through. */
static size_t limited(const struct print *print, size_t count)
{
	return print->query.limit && count > print->query.limit ? print->query.limit : count;
}

static void set_amount(struct result *result, struct record *record, const char *blocks,
		       const char *bytes, struct heap_amount amount)
{
	record_set(result, record, blocks, value_count(amount.blocks));
	record_set(result, record, bytes, value_count(amount.bytes));
	command_heap_set_error(result, record, bytes, amount);
}

/* For people. */
static void add_amount(struct result *result, struct part *line, const char *blocks,
		       const char *bytes, struct heap_amount amount)
{
	part_add(result, line, NULL, blocks, value_count(amount.blocks));
	part_add(result, line, NULL, bytes, value_count(amount.bytes))->suffix =
		command_heap_error(result, amount);
}

static struct value frames_of(struct result *result, const struct heap_stack *stack)
{
	return value_texts(result, stack->frames, stack->depth);
}

static void add_frames(struct result *result, const struct heap_stack *stack)
{
	result_frames(result, stack->frames, stack->depth);
	result_gap(result);
}

/* Members of a row of their own, for programs. */
static struct record *add_row(struct result *result)
{
	struct part *row = result_line(result, "", "");

	row->audience = FOR_PROGRAMS;
	return &row->facts.record;
}

/* Members of the answer itself. */
static struct record *add_members(struct result *result, size_t distinct)
{
	struct part *members = result_line(result, "", "");

	members->audience = FOR_PROGRAMS;
	members->facts.of_all = true;
	part_set(result, members, "distinct", value_count(distinct));
	return &members->facts.record;
}

/* ---- comparison ---- */

/* Which of a stack's amounts: one fate's (never HEAP_FATE_NONE), or … */
enum { AMOUNT_ALLOCATED = HEAP_FATE_NONE, AMOUNT_LEAKED = HEAP_FATES };

static struct heap_amount amount_of(const struct heap_amounts *amounts, int which)
{
	if (which == AMOUNT_LEAKED)
		return heap_leaked(amounts);
	return which == AMOUNT_ALLOCATED ? heap_allocated(amounts) : amounts->of[which];
}

/* "x 1.250", as tables have it. */
static struct value quotient(struct result *result, uint64_t value, uint64_t base)
{
	if (value && !base)
		return value_text(result, "new");
	return value_printf(result, "x %.3f", value == base ? 1 : (double)value / (double)base);
}

static bool has_heap(const struct print *print, size_t group)
{
	return metric_available_in(print->session, metric_find(print->session, "heapalloccnt"),
				   group);
}

/* A line for each group: the first is the base. parts NULL: nothing is compared. */
static void add_parts(const struct print *print, struct result *result,
		      const struct heap_amounts *parts, int which, const char *bytes)
{
	struct heap_amount base, amount;

	for (size_t i = 0; parts && i < session_group_count(print->session); i++) {
		const char *name = session_group_name(print->session, i);
		struct value blocks_shown, bytes_shown;
		struct part *line =
			result_line(result, value_printf(result, "  %s: ", name).text, ", ");

		if (!has_heap(print, i) ||
		    !has_heap(print, print->query.compare == COMPARE_ON ? i : 0)) {
			line->facts.layout.assign = " ";
			part_add(
				result, line, NULL, "not",
				value_text(result, has_heap(print, i) ? "comparable" : "recorded"));
			continue;
		}
		amount = amount_of(&parts[i], which);
		if (!i)
			base = amount;
		blocks_shown = value_count(amount.blocks);
		bytes_shown = value_count(amount.bytes);
		if (i && print->query.compare == COMPARE_DELTA) {
			blocks_shown = value_printf(result, "%+" PRId64,
						    (int64_t)(amount.blocks - base.blocks));
			bytes_shown = value_printf(result, "%+" PRId64,
						   (int64_t)(amount.bytes - base.bytes));
		} else if (i && print->query.compare != COMPARE_ON) {
			line->facts.layout.assign = " ";
			blocks_shown = quotient(result, amount.blocks, base.blocks);
			bytes_shown = quotient(result, amount.bytes, base.bytes);
		}
		part_add(result, line, NULL, "Instances", blocks_shown);
		part_add(result, line, NULL, bytes, bytes_shown);
	}
}

/* Ends what stands above a list. */
static void add_order(struct result *result, const struct heap_stacks *stacks, const char *bytes)
{
	if (stacks->by_change)
		result_note(result, "Sorted by change of %s", bytes);
	result_gap(result);
}

/* [{"experiment", "instances", "bytes"}] */
static void set_parts(const struct print *print, struct result *result, struct record *record,
		      const struct heap_amounts *parts, int which, const char *key)
{
	struct value_list *list = result_values(result);

	for (size_t i = 0; parts && i < session_group_count(print->session); i++) {
		struct record *part = result_record(result);
		const char *name = session_group_name(print->session, i);

		record_set(result, part, "experiment", value_text(result, name));
		if (has_heap(print, i))
			set_amount(result, part, "instances", "bytes", amount_of(&parts[i], which));
		else
			record_set(result, part, "recorded", value_flag(false));
		values_add(result, list, value_record(part));
	}
	if (parts)
		record_set(result, record, key, value_list(list));
}

/* ---- leaks ---- */

/* Those of them that are leaks: where the process could tell, not what is still reachable. */
static size_t count_lost(const struct heap_leak *leaks, size_t count)
{
	size_t lost = 0;

	for (size_t i = 0; i < count; i++)
		lost += leaks[i].fate != HEAP_FATE_REACHABLE;
	return lost;
}

/* What the elements of a list are made of. */
struct heap_list {
	const struct print *print;
	const struct heap_stacks *stacks;
	const struct heap_leak *leaks; /* of leaks, else NULL */
};

static void add_fates(struct result *result, const struct heap_stacks *stacks)
{
	for (int fate = HEAP_FATES - 1; fate >= HEAP_FATE_REACHABLE; fate--) {
		const char *text = heap_fate_text((enum heap_fate)fate);

		if (!stacks->total.of[fate].blocks || !*text)
			continue;
		const char *before =
			value_printf(result, "  %s%s: ", text,
				     fate == HEAP_FATE_REACHABLE ? ", not counted" : "")
				.text;

		add_amount(result, result_line(result, before, ", "), "Instances", "Bytes",
			   stacks->total.of[fate]);
	}
	if (stacks->total.of[HEAP_FATE_LEFT].blocks)
		add_amount(result,
			   result_line(result,
				       "  not released by processes that did not search their "
				       "memory, and so counted: ",
				       ", "),
			   "Instances", "Bytes", stacks->total.of[HEAP_FATE_LEFT]);
}

static void add_leaks_total(const struct heap_list *of, struct result *result, size_t count)
{
	const struct heap_stacks *stacks = of->stacks;
	struct heap_amount leaked = heap_leaked(&stacks->total);
	struct record *members = add_members(result, count_lost(of->leaks, count)), *total;
	struct part *line = result_line(result, "Summary Results: ", ", ");

	total = result_record(result);
	set_amount(result, total, "instances", "bytes", leaked);
	set_parts(of->print, result, total, stacks->parts, AMOUNT_LEAKED, "compared");
	record_set(result, members, "total", value_record(total));
	part_add(result, line, NULL, "Distinct Leaks", value_count(count_lost(of->leaks, count)));
	add_amount(result, line, "Total Instances", "Total Bytes Leaked", leaked);
	add_fates(result, stacks);
	add_parts(of->print, result, stacks->parts, AMOUNT_LEAKED, "Bytes Leaked");
	add_order(result, stacks, "Bytes Leaked");
}

static void make_leak(struct result *into, size_t index, const void *data)
{
	const struct heap_list *of = data;
	const struct heap_leak *leak = &of->leaks[index];
	const struct heap_amounts *parts = leak->stack->parts;
	const char *fate = heap_fate_text(leak->fate);
	bool lost = leak->fate != HEAP_FATE_REACHABLE;
	struct part *line = result_line(into, "", ", ");
	struct record *row = add_row(into);

	set_amount(into, row, "instances", "bytes", leak->amount);
	set_parts(of->print, into, row, parts, (int)leak->fate, "compared");
	record_set(into, row, "fate", value_text(into, *fate ? fate : NULL));
	record_set(into, row, "stack", frames_of(into, leak->stack));
	part_add(into, line, NULL, NULL,
		 value_printf(into, "%s #%zu", lost ? "Leak" : "Reachable", index + 1));
	add_amount(into, line, "Instances", lost ? "Bytes Leaked" : "Bytes", leak->amount);
	if (*fate)
		part_add(into, line, NULL, NULL, value_text(into, fate));
	add_parts(of->print, into, parts, (int)leak->fate, "Bytes Leaked");
	add_frames(into, leak->stack);
}

static bool command_leaks(struct print *print, char **arguments, size_t count)
{
	struct heap_stacks stacks;
	struct result result;
	size_t leak_count;

	view_heap_stacks(print->session, &print->query, &stacks);
	struct heap_leak *leaks = heap_leaks(&stacks, &leak_count);
	const struct heap_list of = {.print = print, .stacks = &stacks, .leaks = leaks};

	result_init(&result, "leaks", print->session);
	add_leaks_total(&of, &result, leak_count);
	result_series(&result, limited(print, leak_count), make_leak, &of);
	print_answer(print, &result);
	free(leaks);
	heap_stacks_fini(&stacks);
	return true;
}

/* ---- allocs and heap ---- */

static void set_both(const struct print *print, struct result *result, struct record *record,
		     const struct heap_amounts *amounts, const struct heap_amounts *parts)
{
	set_amount(result, record, "instances", "bytes", heap_allocated(amounts));
	set_amount(result, record, "leaked_instances", "leaked_bytes", heap_leaked(amounts));
	set_parts(print, result, record, parts, AMOUNT_ALLOCATED, "compared");
	set_parts(print, result, record, parts, AMOUNT_LEAKED, "leaked_compared");
}

static void add_both(const struct print *print, struct result *result,
		     const struct heap_amounts *amounts, const struct heap_amounts *parts)
{
	struct heap_amount leaked = heap_leaked(amounts);

	add_amount(result, result_line(result, "", "  "), "Instances", "Bytes Allocated",
		   heap_allocated(amounts));
	add_parts(print, result, parts, AMOUNT_ALLOCATED, "Bytes Allocated");
	if (!leaked.blocks)
		return;
	add_amount(result, result_line(result, "", "  "), "Instances", "Bytes Leaked", leaked);
	add_parts(print, result, parts, AMOUNT_LEAKED, "Bytes Leaked");
}

static void set_stack(const struct heap_list *of, struct result *into,
		      const struct heap_stack *stack)
{
	struct record *row = add_row(into);

	set_both(of->print, into, row, &stack->amounts, stack->parts);
	record_set(into, row, "stack", frames_of(into, stack));
}

static void make_alloc(struct result *into, size_t index, const void *data)
{
	const struct heap_list *of = data;
	const struct heap_stack *stack = &of->stacks->stacks[index];
	struct part *line = result_line(into, "", ", ");

	part_add(into, line, NULL, NULL, value_printf(into, "Allocation #%zu", index + 1));
	add_amount(into, line, "Instances", "Bytes Allocated", heap_allocated(&stack->amounts));
	add_parts(of->print, into, stack->parts, AMOUNT_ALLOCATED, "Bytes Allocated");
	add_frames(into, stack);
	set_stack(of, into, stack);
}

static void add_allocs_total(const struct heap_list *of, struct result *result)
{
	struct part *line = result_line(result, "Summary Results: ", ", ");

	part_add(result, line, NULL, "Distinct Allocations", value_count(of->stacks->count));
	add_amount(result, line, "Total Instances", "Total Bytes Allocated",
		   heap_allocated(&of->stacks->total));
	add_parts(of->print, result, of->stacks->parts, AMOUNT_ALLOCATED, "Bytes Allocated");
}

static void make_stack(struct result *into, size_t index, const void *data)
{
	const struct heap_list *of = data;
	const struct heap_stack *stack = &of->stacks->stacks[index];

	result_heading(into, "Stack %zu", index + 1);
	add_both(of->print, into, &stack->amounts, stack->parts);
	add_frames(into, stack);
	set_stack(of, into, stack);
}

static void add_heap_total(const struct heap_list *of, struct result *result)
{
	result_heading(result, "<Total>");
	add_both(of->print, result, &of->stacks->total, of->stacks->parts);
}

static bool print_stacks(struct print *print, const char *command,
			 void (*add_total)(const struct heap_list *of, struct result *result),
			 void (*make)(struct result *into, size_t index, const void *data))
{
	struct heap_stacks stacks;
	const struct heap_list of = {.print = print, .stacks = &stacks};
	struct record *members, *total;
	struct result result;

	view_heap_stacks(print->session, &print->query, &stacks);
	result_init(&result, command, print->session);
	members = add_members(&result, stacks.count);
	total = result_record(&result);
	set_both(print, &result, total, &stacks.total, stacks.parts);
	record_set(&result, members, "total", value_record(total));
	add_total(&of, &result);
	add_order(&result, &stacks, "Bytes Allocated");
	result_series(&result, limited(print, stacks.count), make, &of);
	print_answer(print, &result);
	heap_stacks_fini(&stacks);
	return true;
}

static bool command_allocs(struct print *print, char **arguments, size_t count)
{
	return print_stacks(print, "allocs", add_allocs_total, make_alloc);
}

static bool command_heap(struct print *print, char **arguments, size_t count)
{
	return print_stacks(print, "heap", add_heap_total, make_stack);
}

const struct command command_rows_heap[] = {
	{.name = "leaks",
	 .group = GROUP_TRACES,
	 .help = "memory that was never freed, by call stack",
	 .run = command_leaks,
	 .data = DATA_HEAP,
	 .comes_next = true},
	{.name = "allocs",
	 .group = GROUP_TRACES,
	 .help = "allocations of memory, by call stack",
	 .run = command_allocs,
	 .data = DATA_HEAP},
	{.name = "heap",
	 .group = GROUP_TRACES,
	 .help = "allocations and leaks together, by call stack",
	 .run = command_heap,
	 .data = DATA_HEAP},
	{0},
};
