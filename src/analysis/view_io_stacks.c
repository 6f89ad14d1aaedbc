/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of I/O.  Stacks of different processes are one where all their frames read the
 * same: they are put together in a tree of (parent, place).
 */
#include "analysis/io.h"
#include "analysis/io_metrics.h"
#include "analysis/place.h"
#include "analysis/scan.h"

#include <stdlib.h>

/* A frame under its caller; 0 is the stack without frames. */
struct frame {
	uint32_t caller, place;
};

struct stacks {
	struct session *session;
	enum name_style style;
	struct string_table places;
	VEC(struct frame) frames;
	struct hash_map known;	  /* caller << 32 | place → frame */
	struct measure_sums sums; /* by frame that is a leaf */
};

static uint32_t add_frame(struct stacks *stacks, uint32_t caller, uint32_t place)
{
	uint32_t fresh = (uint32_t)stacks->frames.count;
	uint32_t frame = hash_map_put(&stacks->known, (uint64_t)caller << 32 | place, fresh);

	if (frame == fresh)
		*vec_push(&stacks->frames) = (struct frame){caller, place};
	return frame;
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct measuring measuring = piece->measuring;

	measuring.sums = state;
	if (piece->run->kind == (enum event_kind)(EVENTS_TRACE + TRACE_IO))
		measure_run(piece->run, &measuring);
}

/* By node of the process's stacks. */
static void count_process(const struct session *session, const struct session_process *process,
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
	scan_process(session, process, count_piece, states);
	for (size_t i = 0; i < threads; i++)
		measure_fold(sums, &parts[i], NULL);
	free(states);
	free(parts);
}

/* Whether a node or one that it called was counted. */
static bool *used_nodes(const struct stack_tree *tree, const struct measure_sums *sums)
{
	bool *used = xcalloc(tree->nodes.count, sizeof(*used));

	for (size_t i = tree->nodes.count; i--;) {
		for (size_t k = 0; k < MEASURE_COUNT && !used[i]; k++)
			used[i] = sums->of[k] && sums->of[k][i];
		if (used[i] && i != STACK_ROOT)
			used[tree->nodes.items[i].parent] = true;
	}
	return used;
}

static void add_process(struct stacks *stacks, const struct experiment *experiment,
			const struct session_process *process)
{
	const struct stack_tree *tree = &process->process->stacks;
	struct measure_sums sums;

	count_process(stacks->session, process, &sums);
	bool *used = used_nodes(tree, &sums);
	uint32_t *frames = xcalloc(tree->nodes.count, sizeof(*frames));

	for (size_t i = STACK_ROOT + 1; i < tree->nodes.count; i++) {
		const struct stack_node *node = &tree->nodes.items[i];

		if (!used[i])
			continue;
		const char *place = place_of_code(stacks->session, experiment, process->process,
						  node->location, stacks->style);
		frames[i] = add_frame(stacks, frames[node->parent],
				      string_table_add(&stacks->places, place));
	}
	measure_grow(&stacks->sums, stacks->frames.count);
	measure_fold(&stacks->sums, &sums, frames);
	free(frames);
	free(used);
}

/* ---- the list ---- */

static uint64_t time_of(const struct measure_sums *sums, uint32_t frame)
{
	static const enum measure times[] = {MEASURE_IO_READ_NS, MEASURE_IO_WRITE_NS,
					     MEASURE_IO_WAIT_NS, MEASURE_IO_OTHER_NS,
					     MEASURE_IO_ERROR_NS};
	uint64_t time = 0;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		time += sums->of[times[i]] ? sums->of[times[i]][frame] : 0;
	return time;
}

static bool is_leaf(const struct measure_sums *sums, uint32_t frame)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (sums->of[i] && sums->of[i][frame])
			return true;
	return false;
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

static void take_values(const struct stacks *stacks, const struct io_stack_list *list,
			uint32_t frame, struct io_stack *stack)
{
	for (size_t i = 0; i < list->metric_count; i++) {
		const uint64_t *of = stacks->sums.of[list->metrics[i]->measure];

		stack->values[i] += of ? values_convert(list->metrics[i], of[frame]) : 0;
	}
	stack->time += (double)time_of(&stacks->sums, frame) / 1e9;
}

static void take_frames(const struct stacks *stacks, struct io_stack_list *list, uint32_t frame,
			struct io_stack *stack)
{
	for (uint32_t at = frame; at; at = stacks->frames.items[at].caller)
		stack->depth++;
	stack->frames = arena_array(&list->arena, const char *, stack->depth + 1);
	for (size_t i = 0; frame; frame = stacks->frames.items[frame].caller)
		stack->frames[i++] = arena_strdup(
			&list->arena, stacks->places.items[stacks->frames.items[frame].place]);
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
	struct sort_key *keys = xmalloc(stacks->frames.count * sizeof(*keys));
	struct query by_time = {.sort.metric = metric_find(stacks->session, "ioreadtime")};
	size_t count = 0;

	for (uint32_t i = 0; i < stacks->frames.count; i++)
		if (is_leaf(&stacks->sums, i))
			keys[count++] =
				sort_key_of(&by_time, (double)time_of(&stacks->sums, i), NULL, i);
	table_sort(keys, count, &by_time);
	list->stacks = arena_array(&list->arena, struct io_stack, count + 1);
	struct io_stack *total = add_stack(list);

	for (size_t i = 0; i < count; i++)
		take_values(stacks, list, keys[i].index, total);
	for (size_t i = 0; i < count && (!query->limit || list->count < query->limit); i++) {
		struct io_stack *stack = add_stack(list);

		take_values(stacks, list, keys[i].index, stack);
		take_frames(stacks, list, keys[i].index, stack);
	}
	free(keys);
}

void view_io_stacks(struct session *session, const struct query *query, struct io_stack_list *list)
{
	struct stacks stacks = {.session = session, .style = query->name_style};
	size_t number = 0;

	*list = (struct io_stack_list){0};
	*vec_push(&stacks.frames) = (struct frame){0};
	for (size_t i = 0; i < session->experiments.count; i++)
		for (size_t k = 0; k < session->experiments.items[i]->processes.count; k++)
			add_process(&stacks, session->experiments.items[i],
				    &session->scanned.items[number++]);
	list_metrics(session, list);
	fill_list(&stacks, query, list);
	measure_fini(&stacks.sums);
	hash_map_fini(&stacks.known);
	string_table_fini(&stacks.places);
	vec_fini(&stacks.frames);
}

void io_stack_list_fini(struct io_stack_list *list)
{
	struct arena arena = list->arena;

	*list = (struct io_stack_list){0};
	arena_fini(&arena);
}
