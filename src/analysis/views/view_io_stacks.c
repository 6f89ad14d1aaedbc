/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of I/O: sums by node of each process, then by row of all that read the same. */
#include "analysis/kinds/io_metrics.h"
#include "analysis/metric/metric_values.h"
#include "analysis/session/scan.h"
#include "analysis/tree/stack_set.h"
#include "analysis/views/io.h"
#include "analysis/views/table_rows.h"
#include "base/array.h"

#include <stdlib.h>

struct stacks {
	struct tally *tally;
	struct session *session;
	struct stack_set set;
	struct measure_sums sums; /* by row of the set */
};

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct measuring measuring = piece->measuring;

	measuring.sums = state;
	if (piece->run->kind == (enum event_kind)(EVENTS_TRACE + TRACE_IO))
		measure_run(piece->run, &measuring);
}

/* By node of the process's stacks. */
static void count_process(const struct tally *tally, const struct session_process *process,
			  struct measure_sums *sums)
{
	size_t threads = scan_threads(), nodes = process->process->stacks.nodes.count;
	struct measure_sums *parts = xcalloc(threads, sizeof(*parts));
	void **states = xcalloc(threads, sizeof(*states));

	*sums = (struct measure_sums){.nodes = nodes};
	for (size_t i = 0; i < threads; i++) {
		parts[i].nodes = nodes;
		states[i] = &parts[i];
	}
	scan_process(tally, process, count_piece, states);
	for (size_t i = 0; i < threads; i++)
		measure_fold(sums, &parts[i], NULL);
	free(states);
	free(parts);
}

static bool is_counted(const struct measure_sums *sums, size_t place)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (sums->of[i] && sums->of[i][place])
			return true;
	return false;
}

static void add_process(struct stacks *stacks, const struct experiment *experiment,
			const struct session_process *process)
{
	const struct stack_tree *tree = &process->process->stacks;
	struct measure_sums sums;

	count_process(stacks->tally, process, &sums);
	uint32_t *rows = xcalloc(tree->nodes.count, sizeof(*rows));

	for (uint32_t i = 0; i < tree->nodes.count; i++)
		if (is_counted(&sums, i))
			rows[i] = stack_set_add(&stacks->set, experiment, process->process, i);
	measure_grow(&stacks->sums, stacks->set.rows.count + 1); /* rows may be none */
	measure_fold(&stacks->sums, &sums, rows);
	free(rows);
}

/* ---- the list ---- */

static uint64_t time_of(const struct measure_sums *sums, uint32_t row)
{
	static const enum measure times[] = {MEASURE_IO_READ_NS, MEASURE_IO_WRITE_NS,
					     MEASURE_IO_WAIT_NS, MEASURE_IO_OTHER_NS,
					     MEASURE_IO_ERROR_NS};
	uint64_t time = 0;

	for (size_t i = 0; i < COUNT(times); i++)
		time += sums->of[times[i]] ? sums->of[times[i]][row] : 0;
	return time;
}

static void list_metrics(const struct session *session, struct io_stack_list *list)
{
	const struct metric *metric;

	for (int pass = 0; pass < 2; pass++) {
		list->metric_count = 0;
		for (size_t i = 0; (metric = metric_catalogue(session, i)); i++) {
			if (!io_metric(session, metric))
				continue;
			if (pass)
				list->metrics[list->metric_count] = metric;
			list->metric_count++;
		}
		if (!pass)
			list->metrics = arena_array(&list->arena, const struct metric *,
						    list->metric_count);
	}
}

static void take_values(const struct stacks *stacks, const struct io_stack_list *list, uint32_t row,
			struct io_stack *stack)
{
	for (size_t i = 0; i < list->metric_count; i++) {
		const uint64_t *of = stacks->sums.of[list->metrics[i]->measure];

		stack->values[i] += of ? values_convert(list->metrics[i], of[row]) : 0;
	}
	stack->time += (double)time_of(&stacks->sums, row) / 1e9;
}

static struct io_stack *add_stack(struct io_stack_list *list)
{
	struct io_stack *stack = &list->stacks[list->count++];

	stack->values = arena_array(&list->arena, double, list->metric_count);
	return stack;
}

static void fill_list(const struct stacks *stacks, const struct query *query,
		      struct io_stack_list *list)
{
	struct sort_key *keys = xmalloc((stacks->set.rows.count + 1) * sizeof(*keys));
	struct query by_time = {.sort.metric = metric_find(stacks->session, "ioreadtime")};
	size_t count = 0;

	for (uint32_t i = 0; i < stacks->set.rows.count; i++)
		keys[count++] = sort_key_of(&by_time, (double)time_of(&stacks->sums, i), NULL, i);
	table_sort(keys, count, &by_time);
	list->stacks = arena_array(&list->arena, struct io_stack, count + 1);
	struct io_stack *total = add_stack(list);

	for (size_t i = 0; i < count; i++)
		take_values(stacks, list, keys[i].index, total);
	for (size_t i = 0; i < count && (!query->limit || list->count < query->limit); i++) {
		struct io_stack *stack = add_stack(list);

		take_values(stacks, list, keys[i].index, stack);
		stack->frames =
			stack_set_frames(&stacks->set, keys[i].index, &list->arena, &stack->depth);
	}
	free(keys);
}

void view_io_stacks(struct session *session, const struct query *query, struct io_stack_list *list)
{
	struct stacks stacks = {
		.tally = tally_of(session, query),
		.session = session,
		.set = {.session = session, .style = query->name_style, .mode = query->mode}};
	size_t number = 0;

	*list = (struct io_stack_list){0};
	for (size_t i = 0; i < session->experiments.count; i++)
		for (size_t k = 0; k < session->experiments.items[i]->processes.count; k++)
			add_process(&stacks, session->experiments.items[i],
				    &session->scanned.items[number++]);
	list_metrics(session, list);
	fill_list(&stacks, query, list);
	measure_fini(&stacks.sums);
	stack_set_fini(&stacks.set);
	tally_release(stacks.tally);
}

void io_stack_list_fini(struct io_stack_list *list)
{
	struct arena arena = list->arena;

	*list = (struct io_stack_list){0};
	arena_fini(&arena);
}
