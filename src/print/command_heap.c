/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of heap tracing: leaks, allocs, heap, heapstat. */
#include "analysis/heaps.h"
#include "base/terminal.h"
#include "present/json.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdlib.h>

const char *command_heap_bytes(char *text, struct heap_amount amount)
{
	uint64_t error = heap_error(amount);
	int length = snprintf(text, HEAP_TEXT_SIZE, "%" PRIu64, amount.bytes);

	if (error)
		snprintf(text + length, HEAP_TEXT_SIZE - (size_t)length, " +- %" PRIu64, error);
	return text;
}

void command_heap_json_error(json_t *row, const char *bytes, struct heap_amount amount)
{
	char key[HEAP_TEXT_SIZE];

	snprintf(key, sizeof(key), "%s_error", bytes);
	if (heap_error(amount))
		json_object_set_new(row, key, json_integer((json_int_t)heap_error(amount)));
}

/* How many of them `limit` lets through. */
static size_t limited(const struct print *print, size_t count)
{
	return print->query.limit && count > print->query.limit ? print->query.limit : count;
}

static void put_frames(FILE *file, const struct heap_stack *stack)
{
	for (size_t i = 0; i < stack->depth; i++)
		terminal_printf(file, "  %s\n", stack->frames[i]);
	putc('\n', file);
}

static json_t *json_frames(const struct heap_stack *stack)
{
	json_t *frames = json_array();

	for (size_t i = 0; i < stack->depth; i++)
		json_array_append_new(frames, json_text(stack->frames[i]));
	return frames;
}

static void json_set_amount(json_t *row, const char *blocks, const char *bytes,
			    struct heap_amount amount)
{
	json_object_set_new(row, blocks, json_integer((json_int_t)amount.blocks));
	json_object_set_new(row, bytes, json_integer((json_int_t)amount.bytes));
	command_heap_json_error(row, bytes, amount);
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
static void put_quotient(FILE *file, uint64_t value, uint64_t base)
{
	if (value && !base)
		fputs("new", file);
	else
		terminal_printf(file, "x %.3f", value == base ? 1 : (double)value / (double)base);
}

/* A line for each group: the first is the base. parts NULL: nothing is compared. */
static void put_parts(struct print *print, const struct heap_amounts *parts, int which,
		      const char *bytes)
{
	FILE *file = print->output.file;
	struct heap_amount base, amount;

	for (size_t i = 0; parts && i < session_group_count(print->session); i++) {
		amount = amount_of(&parts[i], which);
		if (!i)
			base = amount;
		terminal_printf(file, "  %s: ", session_group_name(print->session, i));
		if (!i || print->query.compare == COMPARE_ON) {
			terminal_printf(file, "Instances = %" PRIu64 ", %s = %" PRIu64 "\n",
					amount.blocks, bytes, amount.bytes);
		} else if (print->query.compare == COMPARE_DELTA) {
			terminal_printf(file, "Instances = %+" PRId64 ", %s = %+" PRId64 "\n",
					(int64_t)(amount.blocks - base.blocks), bytes,
					(int64_t)(amount.bytes - base.bytes));
		} else {
			fputs("Instances ", file);
			put_quotient(file, amount.blocks, base.blocks);
			terminal_printf(file, ", %s ", bytes);
			put_quotient(file, amount.bytes, base.bytes);
			fputc('\n', file);
		}
	}
}

/* Ends what stands above a list. */
static void put_order(FILE *file, const struct heap_stacks *stacks, const char *bytes)
{
	if (stacks->by_change)
		terminal_printf(file, "Sorted by change of %s\n", bytes);
	putc('\n', file);
}

/* [{"experiment", "instances", "bytes"}] */
static void json_set_parts(struct print *print, json_t *row, const struct heap_amounts *parts,
			   int which, const char *key)
{
	json_t *list = json_array();

	for (size_t i = 0; parts && i < session_group_count(print->session); i++) {
		json_t *part = json_object();

		json_object_set_new(part, "experiment",
				    json_text(session_group_name(print->session, i)));
		json_set_amount(part, "instances", "bytes", amount_of(&parts[i], which));
		json_array_append_new(list, part);
	}
	if (parts)
		json_object_set(row, key, list);
	json_decref(list);
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

static void text_leaks(struct print *print, const struct heap_stacks *stacks,
		       const struct heap_leak *leaks, size_t count)
{
	FILE *file = print->output.file;
	struct heap_amount total = heap_leaked(&stacks->total);
	char text[HEAP_TEXT_SIZE];

	terminal_printf(file,
			"Summary Results: Distinct Leaks = %zu, Total Instances = %" PRIu64
			", Total Bytes Leaked = %s\n",
			count_lost(leaks, count), total.blocks, command_heap_bytes(text, total));
	for (int fate = HEAP_FATES - 1; fate >= HEAP_FATE_REACHABLE; fate--)
		if (stacks->total.of[fate].blocks && *heap_fate_text(fate))
			terminal_printf(file, "  %s%s: Instances = %" PRIu64 ", Bytes = %s\n",
					heap_fate_text(fate),
					fate == HEAP_FATE_REACHABLE ? ", not counted" : "",
					stacks->total.of[fate].blocks,
					command_heap_bytes(text, stacks->total.of[fate]));
	if (stacks->total.of[HEAP_FATE_LEFT].blocks)
		terminal_printf(file,
				"  not released by processes that did not search their memory, and "
				"so counted: Instances = %" PRIu64 ", Bytes = %s\n",
				stacks->total.of[HEAP_FATE_LEFT].blocks,
				command_heap_bytes(text, stacks->total.of[HEAP_FATE_LEFT]));
	put_parts(print, stacks->parts, AMOUNT_LEAKED, "Bytes Leaked");
	put_order(file, stacks, "Bytes Leaked");
	for (size_t i = 0; i < limited(print, count); i++) {
		const char *fate = heap_fate_text(leaks[i].fate);
		bool lost = leaks[i].fate != HEAP_FATE_REACHABLE;

		terminal_printf(file, "%s #%zu, Instances = %" PRIu64 ", Bytes%s = %s%s%s\n",
				lost ? "Leak" : "Reachable", i + 1, leaks[i].amount.blocks,
				lost ? " Leaked" : "", command_heap_bytes(text, leaks[i].amount),
				*fate ? ", " : "", fate);
		put_parts(print, leaks[i].stack->parts, (int)leaks[i].fate, "Bytes Leaked");
		put_frames(file, leaks[i].stack);
	}
}

static void json_leaks(struct print *print, const struct heap_stacks *stacks,
		       const struct heap_leak *leaks, size_t count)
{
	struct json_report report;
	json_t *total = json_object();

	json_set_amount(total, "instances", "bytes", heap_leaked(&stacks->total));
	json_set_parts(print, total, stacks->parts, AMOUNT_LEAKED, "compared");
	json_report_begin(&report, &print->presenter, print->session, "leaks", NULL,
			  json_pack("{s:I, s:o}", "distinct", (json_int_t)count_lost(leaks, count),
				    "total", total));
	for (size_t i = 0; i < limited(print, count); i++) {
		const char *fate = heap_fate_text(leaks[i].fate);
		json_t *row = json_object();

		json_set_amount(row, "instances", "bytes", leaks[i].amount);
		json_set_parts(print, row, leaks[i].stack->parts, (int)leaks[i].fate, "compared");
		json_object_set_new(row, "fate", *fate ? json_text(fate) : json_null());
		json_object_set_new(row, "stack", json_frames(leaks[i].stack));
		json_report_row(&report, row);
	}
	json_report_end(&report);
}

bool command_leaks(struct print *print, char **arguments, size_t count)
{
	struct heap_stacks stacks;
	size_t leak_count;

	view_heap_stacks(print->session, &print->query, &stacks);
	struct heap_leak *leaks = heap_leaks(&stacks, &leak_count);

	if (print->presenter.format == PRESENT_JSON)
		json_leaks(print, &stacks, leaks, leak_count);
	else
		text_leaks(print, &stacks, leaks, leak_count);
	free(leaks);
	heap_stacks_fini(&stacks);
	return true;
}

/* ---- allocs and heap ---- */

static void text_allocs(struct print *print, const struct heap_stacks *stacks)
{
	FILE *file = print->output.file;
	struct heap_amount all = heap_allocated(&stacks->total);
	char text[HEAP_TEXT_SIZE];

	terminal_printf(file,
			"Summary Results: Distinct Allocations = %zu, Total Instances = %" PRIu64
			", Total Bytes Allocated = %s\n",
			stacks->count, all.blocks, command_heap_bytes(text, all));
	put_parts(print, stacks->parts, AMOUNT_ALLOCATED, "Bytes Allocated");
	put_order(file, stacks, "Bytes Allocated");
	for (size_t i = 0; i < limited(print, stacks->count); i++) {
		struct heap_amount amount = heap_allocated(&stacks->stacks[i].amounts);

		terminal_printf(file,
				"Allocation #%zu, Instances = %" PRIu64 ", Bytes Allocated = %s\n",
				i + 1, amount.blocks, command_heap_bytes(text, amount));
		put_parts(print, stacks->stacks[i].parts, AMOUNT_ALLOCATED, "Bytes Allocated");
		put_frames(file, &stacks->stacks[i]);
	}
}

static void put_both(struct print *print, const struct heap_amounts *amounts,
		     const struct heap_amounts *parts)
{
	struct heap_amount all = heap_allocated(amounts), leaked = heap_leaked(amounts);
	FILE *file = print->output.file;
	char text[HEAP_TEXT_SIZE];

	terminal_printf(file, "Instances = %" PRIu64 "  Bytes Allocated = %s\n", all.blocks,
			command_heap_bytes(text, all));
	put_parts(print, parts, AMOUNT_ALLOCATED, "Bytes Allocated");
	if (!leaked.blocks)
		return;
	terminal_printf(file, "Instances = %" PRIu64 "  Bytes Leaked = %s\n", leaked.blocks,
			command_heap_bytes(text, leaked));
	put_parts(print, parts, AMOUNT_LEAKED, "Bytes Leaked");
}

static void text_heap(struct print *print, const struct heap_stacks *stacks)
{
	FILE *file = print->output.file;

	terminal_printf(file, "<Total>\n");
	put_both(print, &stacks->total, stacks->parts);
	put_order(file, stacks, "Bytes Allocated");
	for (size_t i = 0; i < limited(print, stacks->count); i++) {
		terminal_printf(file, "Stack %zu\n", i + 1);
		put_both(print, &stacks->stacks[i].amounts, stacks->stacks[i].parts);
		put_frames(file, &stacks->stacks[i]);
	}
}

static json_t *json_both(struct print *print, const struct heap_amounts *amounts,
			 const struct heap_amounts *parts)
{
	json_t *row = json_object();

	json_set_amount(row, "instances", "bytes", heap_allocated(amounts));
	json_set_amount(row, "leaked_instances", "leaked_bytes", heap_leaked(amounts));
	json_set_parts(print, row, parts, AMOUNT_ALLOCATED, "compared");
	json_set_parts(print, row, parts, AMOUNT_LEAKED, "leaked_compared");
	return row;
}

static void json_stacks(struct print *print, const char *command, const struct heap_stacks *stacks)
{
	struct json_report report;

	json_report_begin(&report, &print->presenter, print->session, command, NULL,
			  json_pack("{s:I, s:o}", "distinct", (json_int_t)stacks->count, "total",
				    json_both(print, &stacks->total, stacks->parts)));
	for (size_t i = 0; i < limited(print, stacks->count); i++) {
		json_t *row = json_both(print, &stacks->stacks[i].amounts, stacks->stacks[i].parts);

		json_object_set_new(row, "stack", json_frames(&stacks->stacks[i]));
		json_report_row(&report, row);
	}
	json_report_end(&report);
}

static bool print_stacks(struct print *print, const char *command,
			 void (*put)(struct print *print, const struct heap_stacks *stacks))
{
	struct heap_stacks stacks;

	view_heap_stacks(print->session, &print->query, &stacks);
	if (print->presenter.format == PRESENT_JSON)
		json_stacks(print, command, &stacks);
	else
		put(print, &stacks);
	heap_stacks_fini(&stacks);
	return true;
}

bool command_allocs(struct print *print, char **arguments, size_t count)
{
	return print_stacks(print, "allocs", text_allocs);
}

bool command_heap(struct print *print, char **arguments, size_t count)
{
	return print_stacks(print, "heap", text_heap);
}
