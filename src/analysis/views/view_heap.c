/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts by stack node of each process first, then stacks that read the same together. */
#include "analysis/views/heap_stacks.h"

#include "analysis/session/scan.h"
#include "analysis/tree/stack_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct heap_amount heap_allocated(const struct heap_amounts *amounts)
{
	struct heap_amount all = {0};

	for (int fate = HEAP_FATE_RELEASED; fate < HEAP_FATES; fate++) {
		all.blocks += amounts->of[fate].blocks;
		all.bytes += amounts->of[fate].bytes;
		all.variance += amounts->of[fate].variance;
	}
	return all;
}

uint64_t heap_error(struct heap_amount amount)
{
	return (uint64_t)(2 * sqrt((double)amount.variance));
}

struct heap_amount heap_leaked(const struct heap_amounts *amounts)
{
	struct heap_amounts leaked = {0};

	for (int fate = HEAP_FATE_LEFT; fate < HEAP_FATES; fate++)
		leaked.of[fate] = amounts->of[fate];
	return heap_allocated(&leaked);
}

const char *heap_fate_text(enum heap_fate fate)
{
	static const char *const texts[HEAP_FATES] = {
		[HEAP_FATE_REACHABLE] = "still reachable",
		[HEAP_FATE_POSSIBLY_LOST] = "possibly lost",
		[HEAP_FATE_INDIRECTLY_LOST] = "indirectly lost",
		[HEAP_FATE_LOST] = "definitely lost",
	};

	return texts[fate] ? texts[fate] : "";
}

/* ---- by node ---- */

struct by_node {
	const struct experiment_heap *heap;
	uint64_t moment_ns; /* only blocks that were live at this moment; 0: all */
	struct heap_amounts *amounts;
};

static bool was_live(const struct by_node *by, const struct process *process, size_t row)
{
	const struct experiment_trace *trace = &process->traces[TRACE_HEAP];
	uint32_t until = by->heap->until[row];

	return trace_time(trace, row) <= by->moment_ns &&
	       (until == HEAP_NEVER || trace_time(trace, until) > by->moment_ns);
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	const struct by_node *by = state;
	const struct event_run *run = piece->run;

	if (run->kind != EVENTS_TRACE + TRACE_HEAP)
		return;

	const uint64_t *sizes = event_field(run, HEAP_SIZE),
		       *weights = event_field(run, HEAP_WEIGHT);
	const uint32_t *stacks = event_stacks(run);

	for (size_t i = 0; i < run->count; i++) {
		uint8_t fate = by->heap->fate[run->first + i];
		struct heap_amount *amount = &by->amounts[stacks[i]].of[fate];

		if (fate == HEAP_FATE_NONE ||
		    (piece->measuring.chosen && !piece->measuring.chosen[i]) ||
		    (by->moment_ns && !was_live(by, run->process, run->first + i)))
			continue;
		uint64_t blocks = heap_blocks(weights[i]), bytes = heap_bytes(sizes[i], weights[i]);

		amount->blocks += blocks;
		amount->bytes += bytes;
		amount->variance += (float)heap_variance(bytes, blocks);
	}
}

static void add_amounts(struct heap_amounts *to, const struct heap_amounts *amounts)
{
	for (int fate = 0; fate < HEAP_FATES; fate++) {
		to->of[fate].blocks += amounts->of[fate].blocks;
		to->of[fate].bytes += amounts->of[fate].bytes;
		to->of[fate].variance += amounts->of[fate].variance;
	}
}

/* Of all nodes of a process; the caller frees the array. */
static struct heap_amounts *count_process(const struct tally *tally,
					  const struct session_process *process, uint64_t moment_ns)
{
	size_t nodes = process->process->stacks.nodes.count, threads = scan_threads();
	struct by_node *by = xcalloc(threads, sizeof(*by));
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t i = 0; i < threads; i++) {
		by[i] = (struct by_node){.heap = &process->process->heap,
					 .moment_ns = moment_ns,
					 .amounts = xcalloc(nodes, sizeof(*by[i].amounts))};
		states[i] = &by[i];
	}
	scan_process(tally, process, count_piece, states);
	for (size_t i = 1; i < threads; i++) {
		for (size_t node = 0; node < nodes; node++)
			add_amounts(&by[0].amounts[node], &by[i].amounts[node]);
		free(by[i].amounts);
	}
	struct heap_amounts *amounts = by[0].amounts;

	free(states);
	free(by);
	return amounts;
}

/* ---- by stack ---- */

struct collecting {
	struct tally *tally;
	struct session *session;
	const struct query *query;
	struct heap_stacks *out;
	struct stack_set set;
	VEC(struct heap_stack) stacks; /* by row of the set */
};

/* NULL: nothing is compared. */
static struct heap_amounts *new_parts(struct collecting *collecting)
{
	size_t groups = session_group_count(collecting->session);

	if (collecting->query->compare == COMPARE_OFF || groups == 1)
		return NULL;
	return arena_array(&collecting->out->arena, struct heap_amounts, groups);
}

static void add_stack(struct collecting *collecting, const struct session_process *process,
		      uint32_t node, const struct heap_amounts *amounts)
{
	const struct session *session = collecting->session;
	uint32_t row =
		stack_set_add(&collecting->set, session->experiments.items[process->experiment],
			      process->process, node);

	if (row == collecting->stacks.count)
		*vec_push(&collecting->stacks) =
			(struct heap_stack){.parts = new_parts(collecting)};
	add_amounts(&collecting->stacks.items[row].amounts, amounts);
	add_amounts(&collecting->out->total, amounts);
	if (collecting->out->parts) {
		add_amounts(&collecting->stacks.items[row].parts[process->group - 1], amounts);
		add_amounts(&collecting->out->parts[process->group - 1], amounts);
	}
}

static int compare_amounts(const struct heap_amount *a, const struct heap_amount *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->blocks < b->blocks) - (a->blocks > b->blocks);
}

/* By how much the last group has more than the first, the largest first. */
static int compare_changes(struct heap_amount x_first, struct heap_amount x_last,
			   struct heap_amount y_first, struct heap_amount y_last)
{
	int64_t x = (int64_t)(x_last.bytes - x_first.bytes);
	int64_t y = (int64_t)(y_last.bytes - y_first.bytes);

	if (x == y) {
		x = (int64_t)(x_last.blocks - x_first.blocks);
		y = (int64_t)(y_last.blocks - y_first.blocks);
	}
	return (x < y) - (x > y);
}

static int by_allocated(const void *a, const void *b, void *arg)
{
	const struct heap_stack *x = a, *y = b;
	size_t groups = *(const size_t *)arg;
	struct heap_amount of_x = heap_allocated(&x->amounts), of_y = heap_allocated(&y->amounts);
	int order = 0;

	if (groups)
		order = compare_changes(
			heap_allocated(&x->parts[0]), heap_allocated(&x->parts[groups - 1]),
			heap_allocated(&y->parts[0]), heap_allocated(&y->parts[groups - 1]));
	if (!order)
		order = compare_amounts(&of_x, &of_y);

	for (size_t i = 0; !order && i < x->depth && i < y->depth; i++)
		order = strcmp(x->frames[i], y->frames[i]);
	return order;
}

static void collect(struct collecting *collecting, const struct session_process *process,
		    uint64_t moment_ns)
{
	if (!process->process->heap.fate)
		return;
	struct heap_amounts *amounts = count_process(collecting->tally, process, moment_ns);

	for (size_t node = 0; node < process->process->stacks.nodes.count; node++)
		if (heap_allocated(&amounts[node]).blocks)
			add_stack(collecting, process, (uint32_t)node, &amounts[node]);
	free(amounts);
}

static void finish(struct collecting *collecting)
{
	struct heap_stacks *out = collecting->out;

	if (out->parts && collecting->query->compare >= COMPARE_DELTA)
		out->by_change = session_group_count(collecting->session);
	out->count = collecting->stacks.count;
	for (uint32_t i = 0; i < out->count; i++)
		collecting->stacks.items[i].frames = stack_set_frames(
			&collecting->set, i, &out->arena, &collecting->stacks.items[i].depth);
	out->stacks = arena_array(&out->arena, struct heap_stack, out->count + 1);
	if (out->count) {
		memcpy(out->stacks, collecting->stacks.items, out->count * sizeof(*out->stacks));
		qsort_r(out->stacks, out->count, sizeof(*out->stacks), by_allocated,
			&out->by_change);
	}
	vec_fini(&collecting->stacks);
	stack_set_fini(&collecting->set);
}

void view_heap_stacks(struct session *session, const struct query *query,
		      struct heap_stacks *stacks)
{
	struct collecting collecting = {
		.tally = tally_of(session, query),
		.session = session,
		.query = query,
		.out = stacks,
		.set = {.session = session, .style = query->name_style, .mode = query->mode}};

	*stacks = (struct heap_stacks){0};
	stacks->parts = new_parts(&collecting);
	for (size_t i = 0; i < session->scanned.count; i++)
		collect(&collecting, &session->scanned.items[i], 0);
	finish(&collecting);
	tally_release(collecting.tally);
}

void heap_stacks_at(struct tally *tally, const struct query *query,
		    const struct session_process *process, uint64_t moment_ns,
		    struct heap_stacks *stacks)
{
	struct query alone = *query;
	struct collecting collecting = {.tally = tally,
					.session = tally->session,
					.query = &alone,
					.out = stacks,
					.set = {.session = tally->session,
						.style = query->name_style,
						.mode = query->mode}};

	alone.compare = COMPARE_OFF; /* it is one process */
	*stacks = (struct heap_stacks){0};
	collect(&collecting, process, moment_ns);
	finish(&collecting);
}

void heap_stacks_fini(struct heap_stacks *stacks)
{
	arena_fini(&stacks->arena);
	*stacks = (struct heap_stacks){0};
}

/* ---- leaks ---- */

static int by_fate(const void *a, const void *b, void *arg)
{
	const struct heap_leak *x = a, *y = b;
	size_t groups = *(const size_t *)arg;
	int order = 0;

	if (groups)
		order = compare_changes(
			x->stack->parts[0].of[x->fate], x->stack->parts[groups - 1].of[x->fate],
			y->stack->parts[0].of[y->fate], y->stack->parts[groups - 1].of[y->fate]);
	if (!order)
		order = (int)y->fate - (int)x->fate;
	if (!order)
		order = compare_amounts(&x->amount, &y->amount);
	return order ? order : (x->stack > y->stack) - (x->stack < y->stack);
}

struct heap_leak *heap_leaks(const struct heap_stacks *stacks, size_t *count)
{
	VEC(struct heap_leak) leaks = {0};
	size_t by_change = stacks->by_change;

	for (size_t i = 0; i < stacks->count; i++)
		for (int fate = HEAP_FATE_REACHABLE; fate < HEAP_FATES; fate++)
			if (stacks->stacks[i].amounts.of[fate].blocks)
				*vec_push(&leaks) = (struct heap_leak){
					.stack = &stacks->stacks[i],
					.fate = fate,
					.amount = stacks->stacks[i].amounts.of[fate]};
	if (leaks.count)
		qsort_r(leaks.items, leaks.count, sizeof(*leaks.items), by_fate, &by_change);
	*count = leaks.count;
	return leaks.items;
}
