/* SPDX-License-Identifier: Apache-2.0 */
/* heapstat: the peak, and which blocks there were by size, life and fate. */
#include "analysis/session/session.h"
#include "analysis/views/heaps.h"
#include "base/array.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"
#include "print/commands/command_heap.h"

#include <inttypes.h>
#include <string.h>

enum { BAR = 40, LABEL_WIDTH = 33 };

static void add_heading(struct result *result, const char *heading)
{
	result_gap(result);
	result_heading(result, "%s", heading)->heading.ruled = true;
}

static struct part *add_facts(struct result *result)
{
	struct part *facts = result_facts(result, -LABEL_WIDTH);

	facts->facts.layout.assign = " ";
	return facts;
}

static void add_number(struct result *result, struct part *facts, const char *label,
		       uint64_t number)
{
	part_add(result, facts, NULL, label, value_count(number));
}

static void add_bytes(struct result *result, struct part *facts, const char *label,
		      struct heap_amount amount)
{
	part_add(result, facts, NULL, label, value_count(amount.bytes))->suffix =
		command_heap_error(result, amount);
}

/* Blocks and bytes by what they have in common; titles NULL: none are needed. */
static struct part *add_classes(struct result *result, const char *range, const char *what)
{
	const struct list_column columns[] = {{.title = range, .width = LABEL_WIDTH},
					      {.title = what, .width = 15},
					      {.title = range ? "Bytes" : NULL}};
	struct part *list = result_list(result, columns, COUNT(columns));

	list->audience = FOR_PEOPLE;
	return list;
}

static void add_class(struct result *result, struct part *list, const char *label,
		      struct heap_amount amount)
{
	const char *error = command_heap_error(result, amount);

	if (!amount.blocks)
		return;
	part_cell(result, list, value_printf(result, "  %s", label));
	part_cell(result, list, value_count(amount.blocks));
	part_cell(result, list,
		  value_printf(result, "%" PRIu64 "%s", amount.bytes, error ? error : ""));
}

/* ---- the sections ---- */

static void add_peak(struct result *result, const struct heap_statistics *statistics)
{
	const struct process_info *process = statistics->peak_process;
	struct part *facts;

	add_heading(result, "Process With Highest Peak Memory Usage");
	facts = add_facts(result);
	add_bytes(result, facts, "Heap size bytes", statistics->peak_amount);
	add_number(result, facts, "Blocks", statistics->peak_amount.blocks);
	add_number(result, facts, "Experiment Id", process->id);
	add_number(result, facts, "Process Id", (uint64_t)process->pid);
	part_add(result, facts, NULL, "Time of peak",
		 value_real((double)statistics->peak_ns / 1e9, 3))
		->suffix = " (secs.)";
}

/* How the blocks of one kind are called. */
struct size_words {
	const char *heading, *range, *what, *smallest, *largest, *total;
};

static void add_sizes(struct result *result, const struct size_words *words,
		      const struct heap_sizes *sizes)
{
	struct part *part;

	if (!sizes->total.blocks)
		return;
	add_heading(result, words->heading);
	part = add_classes(result, words->range, words->what);
	for (size_t i = 0; i < HEAP_SIZE_CLASSES; i++)
		add_class(result, part, heap_size_names[i], sizes->classes[i]);
	result_gap(result);
	part = add_facts(result);
	add_number(result, part, words->smallest, sizes->smallest);
	add_number(result, part, words->largest, sizes->largest);
	add_number(result, part, words->total, sizes->total.blocks);
	add_bytes(result, part, "Total bytes", sizes->total);
}

static void add_lives(struct result *result, const struct heap_statistics *statistics)
{
	struct heap_amount temporary = statistics->fates[HEAP_FATE_TEMPORARY];
	struct part *part;

	add_heading(result, "Lifetimes");
	part = add_classes(result, "From allocation to release", "Blocks");
	for (size_t i = 0; i < HEAP_LIFE_CLASSES; i++)
		add_class(result, part, heap_life_names[i], statistics->lives[i]);
	add_class(result, part, "never released", statistics->never_released);
	for (int fate = HEAP_FATES - 1; fate >= HEAP_FATE_REACHABLE; fate--) {
		char label[64];

		if (!*heap_fate_text((enum heap_fate)fate))
			continue;
		snprintf(label, sizeof(label), "  %s", heap_fate_text((enum heap_fate)fate));
		add_class(result, part, label, statistics->fates[fate]);
	}
	result_gap(result);
	part = add_classes(result, NULL, NULL);
	part_cell(result, part, value_text(result, "Temporary (released next)"));
	part_cell(result, part, value_count(temporary.blocks));
	part_cell(result, part, value_count(temporary.bytes));
	if (statistics->unmatched)
		add_number(result, add_facts(result), "Releases of unknown blocks",
			   statistics->unmatched);
}

static void add_mapped(struct result *result, const struct heap_statistics *statistics)
{
#define X(name, text) text,
	static const char *const names[HEAP_TYPES] = {FORMAT_HEAP_TYPES(X)};
#undef X
	struct part *list;

	if (!heap_has_mapped(statistics))
		return;
	add_heading(result, "Mappings");
	list = add_classes(result, "Call", "Calls");
	for (int type = HEAP_MMAP; type <= HEAP_BRK; type++)
		add_class(result, list, names[type], statistics->mapped[type]);
}

static void add_course(struct result *result, const struct heap_statistics *statistics)
{
	static const struct list_column columns[] = {
		{.right = true, .width = 12}, {.right = true, .width = 15}, {.title = NULL}};
	static const char bar[BAR + 1] = "########################################";
	struct part *list;
	uint64_t most = heap_most(statistics);
	add_heading(result, "Live Bytes Over Time (of that process; the most in each stretch)");
	list = result_list(result, columns, COUNT(columns));
	list->audience = FOR_PEOPLE;
	for (size_t i = 0; i < HEAP_RANGES; i++) {
		int length = (int)((double)statistics->most[i] * BAR / (double)(most ? most : 1));

		part_cell(result, list, value_real(heap_range_begin(statistics, i), 6));
		part_cell(result, list, value_count(statistics->most[i]));
		part_cell(result, list, value_printf(result, "%.*s", length, bar));
	}
}

static void add_peak_stacks(const struct print *print, struct result *result,
			    const struct heap_statistics *statistics)
{
	size_t shown = heap_peak_shown(statistics, &print->query);

	add_heading(result, "Blocks At The Peak");
	for (size_t i = 0; i < shown; i++) {
		const struct heap_stack *stack = &statistics->peak.stacks[i];
		struct heap_amount amount = heap_allocated(&stack->amounts);
		struct part *line = result_line(result, "", "  ");

		add_number(result, line, "Instances", amount.blocks);
		add_bytes(result, line, "Bytes", amount);
		result_frames(result, stack->frames, stack->depth);
		result_gap(result);
	}
}

static void add_statistics(const struct print *print, struct result *result,
			   const struct heap_statistics *statistics)
{
	static const struct size_words allocated = {
		"Memory Allocations Statistics", "Allocation Size Range",    "Allocations",
		"Smallest allocation bytes",	 "Largest allocation bytes", "Total allocations"};
	static const struct size_words leaked = {
		"Memory Leaks Statistics", "Leak Size Range",	   "Leaks",
		"Smallest leaked bytes",   "Largest leaked bytes", "Total leaked"};

	if (!statistics->peak_process && !statistics->allocated.total.blocks)
		result_note(result, "No allocation was recorded.");
	if (statistics->sampled) {
		result_note(result, "Of a sample of the allocations: numbers are estimates, +- two "
				    "standard errors.");
		result_note(result, "The peak is less than the highest moment of the sample, which "
				    "chance favours.");
	}
	if (statistics->peak_process)
		add_peak(result, statistics);
	add_sizes(result, &allocated, &statistics->allocated);
	add_sizes(result, &leaked, &statistics->leaked);
	if (statistics->allocated.total.blocks)
		add_lives(result, statistics);
	add_mapped(result, statistics);
	if (!statistics->peak_process)
		return;
	add_course(result, statistics);
	add_peak_stacks(print, result, statistics);
}

/* ---- the same for programs ---- */

/* {"blocks", "bytes"} */
static struct record *amount_of(struct result *result, struct heap_amount amount)
{
	struct record *record = result_record(result);

	record_set(result, record, "blocks", value_count(amount.blocks));
	record_set(result, record, "bytes", value_count(amount.bytes));
	command_heap_set_error(result, record, "bytes", amount);
	return record;
}

static struct value classes_of(struct result *result, const char *const *names,
			       const struct heap_amount *classes, size_t count)
{
	struct value_list *list = result_values(result);

	for (size_t i = 0; i < count; i++) {
		struct record *class = amount_of(result, classes[i]);

		record_set(result, class, "range", value_text(result, names[i]));
		values_add(result, list, value_record(class));
	}
	return value_list(list);
}

static struct value sizes_of(struct result *result, const struct heap_sizes *sizes)
{
	struct record *record = result_record(result);

	record_set(result, record, "classes",
		   classes_of(result, heap_size_names, sizes->classes, HEAP_SIZE_CLASSES));
	record_set(result, record, "total", value_record(amount_of(result, sizes->total)));
	record_set(result, record, "smallest", value_count(sizes->smallest));
	record_set(result, record, "largest", value_count(sizes->largest));
	return value_record(record);
}

static struct value course_of(struct result *result, const struct heap_statistics *statistics)
{
	struct value_list *course = result_values(result);

	for (size_t i = 0; i < HEAP_RANGES; i++) {
		struct record *range = result_record(result);

		record_set(result, range, "seconds",
			   value_real(heap_range_begin(statistics, i), 6));
		record_set(result, range, "bytes", value_count(statistics->most[i]));
		values_add(result, course, value_record(range));
	}
	return value_list(course);
}

/* Of the stacks as many as `limit` lets through: a peak may have one for each of its blocks. */
static struct value peak_of(const struct print *print, struct result *result,
			    const struct heap_statistics *statistics)
{
	size_t limit = print->query.limit;
	const struct process_info *process = statistics->peak_process;
	struct value_list *stacks = result_values(result);
	struct record *peak;

	if (!process)
		return (struct value){.kind = VALUE_NONE};
	for (size_t i = 0; i < statistics->peak.count && (!limit || i < limit); i++) {
		const struct heap_stack *stack = &statistics->peak.stacks[i];
		struct record *row = amount_of(result, heap_allocated(&stack->amounts));

		record_set(result, row, "stack", value_texts(result, stack->frames, stack->depth));
		values_add(result, stacks, value_record(row));
	}
	peak = amount_of(result, statistics->peak_amount);
	record_set(result, peak, "seconds", value_real((double)statistics->peak_ns / 1e9, 3));
	record_set(result, peak, "experiment", value_count(process->id));
	record_set(result, peak, "pid", value_integer(process->pid));
	record_set(result, peak, "course", course_of(result, statistics));
	record_set(result, peak, "stack_count", value_count(statistics->peak.count));
	record_set(result, peak, "stacks", value_list(stacks));
	return value_record(peak);
}

static struct value fates_of(struct result *result, const struct heap_statistics *statistics)
{
	struct record *fates = result_record(result);

	for (int fate = HEAP_FATE_REACHABLE; fate < HEAP_FATES; fate++)
		if (*heap_fate_text((enum heap_fate)fate))
			record_set(result, fates, heap_fate_text((enum heap_fate)fate),
				   value_record(amount_of(result, statistics->fates[fate])));
	return value_record(fates);
}

static struct value mapped_of(struct result *result, const struct heap_statistics *statistics)
{
	struct record *mapped = result_record(result);

#define X(name, text)                                                                              \
	if (HEAP_##name >= HEAP_MMAP && HEAP_##name <= HEAP_BRK)                                   \
		record_set(result, mapped, text,                                                   \
			   value_record(amount_of(result, statistics->mapped[HEAP_##name])));
	FORMAT_HEAP_TYPES(X)
#undef X
	return value_record(mapped);
}

static void set_statistics(const struct print *print, struct result *result, struct record *row,
			   const struct heap_statistics *statistics)
{
	struct heap_amount temporary = statistics->fates[HEAP_FATE_TEMPORARY];

	record_set(result, row, "peak", peak_of(print, result, statistics));
	record_set(result, row, "allocated", sizes_of(result, &statistics->allocated));
	record_set(result, row, "leaked", sizes_of(result, &statistics->leaked));
	record_set(result, row, "fates", fates_of(result, statistics));
	record_set(result, row, "lifetimes",
		   classes_of(result, heap_life_names, statistics->lives, HEAP_LIFE_CLASSES));
	record_set(result, row, "temporary", value_record(amount_of(result, temporary)));
	record_set(result, row, "mappings", mapped_of(result, statistics));
	record_set(result, row, "unmatched_releases", value_count(statistics->unmatched));
	record_set(result, row, "searched", value_flag(statistics->searched));
	record_set(result, row, "sampled", value_flag(statistics->sampled));
}

static void ask(struct print *print, const char *name, void *data)
{
	struct heap_statistics statistics;
	struct result *result = data;
	struct part *row;

	view_heap_statistics(print->session, &print->query, &statistics);
	command_group_heading(print, result, name);
	add_statistics(print, result, &statistics);
	row = result_line(result, "", "");
	row->audience = FOR_PROGRAMS;
	set_statistics(print, result, &row->facts.record, &statistics);
	if (name)
		part_set(result, row, "experiment", value_text(result, name));
	heap_statistics_fini(&statistics);
}

static bool command_heapstat(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "heapstat", print->session);
	command_each_group(print, ask, &result);
	return print_answer(print, &result);
}

const struct command command_rows_heapstat[] = {
	{.name = "heapstat",
	 .group = GROUP_TRACES,
	 .help = "peak of memory, sizes and lifetimes of its blocks",
	 .run = command_heapstat,
	 .data = DATA_HEAP},
	{0},
};
