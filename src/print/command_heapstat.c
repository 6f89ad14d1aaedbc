/* SPDX-License-Identifier: Apache-2.0 */
/* heapstat: the peak, and which blocks there were by size, life and fate. */
#include "analysis/heaps.h"
#include "base/terminal.h"
#include "present/json.h"
#include "print/command.h"

#include <inttypes.h>
#include <string.h>

enum { PEAK_STACKS = 10, BAR = 40 };

static const char rule[] = "-------------------------------------------------------";

static void put_heading(FILE *file, const char *heading)
{
	terminal_printf(file, "\n%s\n%s\n", heading, rule);
}

static void put_number(FILE *file, const char *label, uint64_t number)
{
	terminal_printf(file, "%-33s %" PRIu64 "\n", label, number);
}

static void put_bytes(FILE *file, struct heap_amount amount)
{
	char text[HEAP_TEXT_SIZE];

	terminal_printf(file, "%s\n", command_heap_bytes(text, amount));
}

static void put_amount(FILE *file, const char *label, struct heap_amount amount)
{
	if (!amount.blocks)
		return;
	terminal_printf(file, "  %-31s %-15" PRIu64 " ", label, amount.blocks);
	put_bytes(file, amount);
}

/* ---- the sections ---- */

static void put_peak(FILE *file, const struct heap_statistics *statistics)
{
	const struct process_info *process = statistics->peak_process;

	put_heading(file, "Process With Highest Peak Memory Usage");
	terminal_printf(file, "%-33s ", "Heap size bytes");
	put_bytes(file, statistics->peak_amount);
	put_number(file, "Blocks", statistics->peak_amount.blocks);
	put_number(file, "Experiment Id", process->id);
	put_number(file, "Process Id", (uint64_t)process->pid);
	terminal_printf(file, "%-33s %.3f (secs.)\n", "Time of peak",
			(double)statistics->peak_ns / 1e9);
}

static void put_sizes(FILE *file, const char *heading, const char *range, const char *what,
		      const struct heap_sizes *sizes, const char *adjective, const char *total)
{
	if (!sizes->total.blocks)
		return;
	put_heading(file, heading);
	terminal_printf(file, "%-33s %-15s Bytes\n", range, what);
	for (size_t i = 0; i < HEAP_SIZE_CLASSES; i++)
		put_amount(file, heap_size_names[i], sizes->classes[i]);
	terminal_printf(file, "\nSmallest %s bytes%*s %" PRIu64 "\n", adjective,
			(int)(33 - sizeof("Smallest  bytes") + 1) - (int)strlen(adjective), "",
			sizes->smallest);
	terminal_printf(file, "Largest %s bytes%*s %" PRIu64 "\n", adjective,
			(int)(33 - sizeof("Largest  bytes") + 1) - (int)strlen(adjective), "",
			sizes->largest);
	put_number(file, total, sizes->total.blocks);
	terminal_printf(file, "%-33s ", "Total bytes");
	put_bytes(file, sizes->total);
}

static void put_lives(FILE *file, const struct heap_statistics *statistics)
{
	struct heap_amount temporary = statistics->fates[HEAP_FATE_TEMPORARY];

	put_heading(file, "Lifetimes");
	terminal_printf(file, "%-33s %-15s Bytes\n", "From allocation to release", "Blocks");
	for (size_t i = 0; i < HEAP_LIFE_CLASSES; i++)
		put_amount(file, heap_life_names[i], statistics->lives[i]);
	put_amount(file, "never released", statistics->never_released);
	for (int fate = HEAP_FATES - 1; fate >= HEAP_FATE_REACHABLE; fate--) {
		char label[64];

		if (!*heap_fate_text((enum heap_fate)fate))
			continue;
		snprintf(label, sizeof(label), "  %s", heap_fate_text((enum heap_fate)fate));
		put_amount(file, label, statistics->fates[fate]);
	}
	terminal_printf(file, "\n%-33s %-15" PRIu64 " %" PRIu64 "\n", "Temporary (released next)",
			temporary.blocks, temporary.bytes);
	if (statistics->unmatched)
		put_number(file, "Releases of unknown blocks", statistics->unmatched);
}

static void put_mapped(FILE *file, const struct heap_statistics *statistics)
{
#define X(name, text) text,
	static const char *const names[HEAP_TYPES] = {FORMAT_HEAP_TYPES(X)};
#undef X
	bool any = false;

	for (int type = HEAP_MMAP; type <= HEAP_BRK; type++)
		any |= statistics->mapped[type].blocks > 0;
	if (!any)
		return;
	put_heading(file, "Mappings");
	terminal_printf(file, "%-33s %-15s Bytes\n", "Call", "Calls");
	for (int type = HEAP_MMAP; type <= HEAP_BRK; type++)
		put_amount(file, names[type], statistics->mapped[type]);
}

static void put_course(FILE *file, const struct heap_statistics *statistics)
{
	double length = (double)(statistics->last_ns - statistics->first_ns) / HEAP_STRETCHES / 1e9;
	uint64_t most = 1;

	for (size_t i = 0; i < HEAP_STRETCHES; i++)
		most = statistics->most[i] > most ? statistics->most[i] : most;
	put_heading(file, "Live Bytes Over Time (of that process; the most in each stretch)");
	for (size_t i = 0; i < HEAP_STRETCHES; i++) {
		int bar = (int)((double)statistics->most[i] * BAR / (double)most);

		terminal_printf(file, "%12.6f %15" PRIu64 " ",
				(double)statistics->first_ns / 1e9 + length * (double)i,
				statistics->most[i]);
		for (int column = 0; column < bar; column++)
			putc('#', file);
		putc('\n', file);
	}
}

static void put_peak_stacks(struct print *print, const struct heap_statistics *statistics)
{
	FILE *file = print->output.file;
	size_t most = print->query.limit ? print->query.limit : PEAK_STACKS;

	put_heading(file, "Blocks At The Peak");
	for (size_t i = 0; i < statistics->peak.count && i < most; i++) {
		const struct heap_stack *stack = &statistics->peak.stacks[i];
		struct heap_amount amount = heap_allocated(&stack->amounts);

		terminal_printf(file, "Instances = %" PRIu64 "  Bytes = ", amount.blocks);
		put_bytes(file, amount);
		for (size_t frame = 0; frame < stack->depth; frame++)
			terminal_printf(file, "  %s\n", stack->frames[frame]);
		putc('\n', file);
	}
}

static void text_statistics(struct print *print, const struct heap_statistics *statistics)
{
	FILE *file = print->output.file;

	if (statistics->sampled)
		terminal_printf(
			file,
			"Of a sample of the allocations: numbers are estimates, +- two standard "
			"errors.\nThe peak is less than the highest moment of the sample, which "
			"chance favours.\n");
	if (statistics->peak_process)
		put_peak(file, statistics);
	put_sizes(file, "Memory Allocations Statistics", "Allocation Size Range", "Allocations",
		  &statistics->allocated, "allocation", "Total allocations");
	put_sizes(file, "Memory Leaks Statistics", "Leak Size Range", "Leaks", &statistics->leaked,
		  "leaked", "Total leaked");
	if (statistics->allocated.total.blocks)
		put_lives(file, statistics);
	put_mapped(file, statistics);
	if (!statistics->peak_process)
		return;
	put_course(file, statistics);
	put_peak_stacks(print, statistics);
}

/* ---- JSON ---- */

static json_t *json_amount(struct heap_amount amount)
{
	json_t *row = json_pack("{s:I, s:I}", "blocks", (json_int_t)amount.blocks, "bytes",
				(json_int_t)amount.bytes);

	command_heap_json_error(row, "bytes", amount);
	return row;
}

static json_t *json_classes(const char *const *names, const struct heap_amount *classes,
			    size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *row = json_amount(classes[i]);

		json_object_set_new(row, "range", json_text(names[i]));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *json_sizes(const struct heap_sizes *sizes)
{
	return json_pack("{s:o, s:o, s:I, s:I}", "classes",
			 json_classes(heap_size_names, sizes->classes, HEAP_SIZE_CLASSES), "total",
			 json_amount(sizes->total), "smallest", (json_int_t)sizes->smallest,
			 "largest", (json_int_t)sizes->largest);
}

static json_t *json_peak(const struct heap_statistics *statistics)
{
	const struct process_info *process = statistics->peak_process;
	double stretch = (double)(statistics->last_ns - statistics->first_ns) / HEAP_STRETCHES;
	json_t *course = json_array(), *stacks = json_array();

	if (!process)
		return json_null();
	for (size_t i = 0; i < HEAP_STRETCHES; i++)
		json_array_append_new(
			course,
			json_pack("{s:f, s:I}", "seconds",
				  ((double)statistics->first_ns + stretch * (double)i) / 1e9,
				  "bytes", (json_int_t)statistics->most[i]));
	for (size_t i = 0; i < statistics->peak.count; i++) {
		const struct heap_stack *stack = &statistics->peak.stacks[i];
		json_t *row = json_amount(heap_allocated(&stack->amounts)), *frames = json_array();

		for (size_t frame = 0; frame < stack->depth; frame++)
			json_array_append_new(frames, json_text(stack->frames[frame]));
		json_object_set_new(row, "stack", frames);
		json_array_append_new(stacks, row);
	}
	json_t *peak = json_amount(statistics->peak_amount);

	json_object_set_new(peak, "seconds", json_real((double)statistics->peak_ns / 1e9));
	json_object_set_new(peak, "experiment", json_integer(process->id));
	json_object_set_new(peak, "pid", json_integer(process->pid));
	json_object_set_new(peak, "course", course);
	json_object_set_new(peak, "stacks", stacks);
	return peak;
}

static json_t *json_fates(const struct heap_statistics *statistics)
{
	json_t *fates = json_object();

	for (int fate = HEAP_FATE_REACHABLE; fate < HEAP_FATES; fate++)
		if (*heap_fate_text((enum heap_fate)fate))
			json_object_set_new(fates, heap_fate_text((enum heap_fate)fate),
					    json_amount(statistics->fates[fate]));
	return fates;
}

static json_t *json_mapped(const struct heap_statistics *statistics)
{
	json_t *mapped = json_object();

#define X(name, text)                                                                              \
	if (HEAP_##name >= HEAP_MMAP && HEAP_##name <= HEAP_BRK)                                   \
		json_object_set_new(mapped, text, json_amount(statistics->mapped[HEAP_##name]));
	FORMAT_HEAP_TYPES(X)
#undef X
	return mapped;
}

static json_t *json_statistics(const struct heap_statistics *statistics)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:b, s:b}", "peak", json_peak(statistics),
		"allocated", json_sizes(&statistics->allocated), "leaked",
		json_sizes(&statistics->leaked), "fates", json_fates(statistics), "lifetimes",
		json_classes(heap_life_names, statistics->lives, HEAP_LIFE_CLASSES), "temporary",
		json_amount(statistics->fates[HEAP_FATE_TEMPORARY]), "mappings",
		json_mapped(statistics), "unmatched_releases", (json_int_t)statistics->unmatched,
		"searched", (int)statistics->searched, "sampled", (int)statistics->sampled);
}

/* data: the report, in JSON mode. */
static void put_group(struct print *print, const char *name, void *data)
{
	struct heap_statistics statistics;

	view_heap_statistics(print->session, &print->query, &statistics);
	if (print->presenter.format == PRESENT_JSON) {
		json_t *row = json_statistics(&statistics);

		if (name)
			json_object_set_new(row, "experiment", json_text(name));
		json_report_row(data, row);
	} else {
		text_statistics(print, &statistics);
	}
	heap_statistics_fini(&statistics);
}

bool command_heapstat(struct print *print, char **arguments, size_t count)
{
	struct json_report report;

	if (print->presenter.format == PRESENT_JSON)
		json_report_begin(&report, &print->presenter, print->session, "heapstat", NULL,
				  NULL);
	command_each_group(print, put_group, &report);
	if (print->presenter.format == PRESENT_JSON)
		json_report_end(&report);
	return true;
}
