/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grouping.  The expression is evaluated by columns, each value becomes the number of its group
 * by a hash (values mostly come in runs, so the last one is tried first), and from there on
 * events are counted by group as they otherwise are by call stack.  Every thread has groups of
 * its own, which are put together in the order of the values.
 */
#include "analysis/index_group.h"

#include "analysis/scan.h"

#include <stdlib.h>
#include <string.h>

/* What one thread has found. */
struct grouping {
	const struct filter_program *program;
	struct filter_slot *slots;
	struct hash_map ids; /* value → group */
	VEC(uint64_t) values;
	struct measure_sums sums; /* of as many groups as there is room for */
	uint64_t last_value;
	uint32_t last_id;
};

static uint32_t id_of(struct grouping *grouping, uint64_t value)
{
	uint32_t fresh = (uint32_t)grouping->values.count;

	if (fresh && value == grouping->last_value)
		return grouping->last_id;
	grouping->last_value = value;
	grouping->last_id = hash_map_put(&grouping->ids, value, fresh);
	if (grouping->last_id == fresh)
		*vec_push(&grouping->values) = value;
	return grouping->last_id;
}

static void group_chunk(struct grouping *grouping, const struct scan_piece *piece,
			const struct event_run *run, const uint8_t *chosen)
{
	struct filter_rows rows = {piece->session, piece->process, run};
	const struct filter_slot *slot = filter_evaluate(grouping->program, grouping->slots, &rows);
	struct measuring measuring = piece->measuring;
	struct event_run by_group = *run;
	uint32_t ids[FILTER_ROWS];

	for (size_t i = 0; i < run->count; i++) {
		bool unknown = slot->any_unknown && slot->unknown[i];

		if (!chosen || chosen[i])
			ids[i] = id_of(grouping, unknown ? INDEX_UNKNOWN : slot->value[i]);
	}
	if (grouping->values.count > grouping->sums.nodes)
		measure_grow(&grouping->sums, 2 * grouping->values.count);
	by_group.stack = ids;
	measuring.chosen = chosen;
	measuring.sums = &grouping->sums;
	measure_run(&by_group, &measuring);
}

static void group_piece(const struct scan_piece *piece, void *state)
{
	for (size_t row = 0; row < piece->run->count; row += FILTER_ROWS) {
		size_t left = piece->run->count - row;
		struct event_run chunk =
			event_run_part(piece->run, row, left < FILTER_ROWS ? left : FILTER_ROWS);

		group_chunk(state, piece, &chunk,
			    piece->measuring.chosen ? piece->measuring.chosen + row : NULL);
	}
}

/* A value that a thread has found, and its group there. */
struct found_value {
	uint64_t value;
	uint32_t id;
};

static int by_value(const void *a, const void *b)
{
	const struct found_value *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/* The thread's values in order; the caller frees them. Times mostly come in order. */
static struct found_value *sorted_values(const struct grouping *found)
{
	size_t count = found->values.count;
	struct found_value *sorted = xmalloc((count + 1) * sizeof(*sorted));
	bool in_order = true;

	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = (struct found_value){found->values.items[i], i};
		in_order &= !i || sorted[i - 1].value < sorted[i].value;
	}
	if (!in_order)
		qsort(sorted, count, sizeof(*sorted), by_value);
	return sorted;
}

/* Merges values into those of the groups, which are in order as well. */
static void unite_values(struct index_groups *groups, const struct found_value *sorted,
			 size_t count)
{
	uint64_t *all = xmalloc((groups->count + count + 1) * sizeof(*all));
	size_t from = 0, next = 0, kept = 0;

	while (from < groups->count || next < count) {
		bool mine = next == count ||
			    (from < groups->count && groups->values[from] <= sorted[next].value);
		uint64_t value = mine ? groups->values[from++] : sorted[next++].value;

		if (!kept || all[kept - 1] != value)
			all[kept++] = value;
	}
	free(groups->values);
	groups->values = all;
	groups->count = kept;
}

/* Adds what a thread has found to the groups in their order. */
static void add_found(struct index_groups *groups, const struct grouping *found,
		      const struct found_value *sorted)
{
	for (size_t k = 0; k < MEASURE_COUNT; k++) {
		const uint64_t *from = found->sums.of[k];
		uint64_t *to = from ? measure_array(&groups->sums, (enum measure)k) : NULL;

		for (size_t i = 0, at = 0; from && i < found->values.count; i++) {
			while (groups->values[at] != sorted[i].value)
				at++;
			to[at] += from[sorted[i].id];
		}
	}
}

void index_group(const struct session *session, const struct filter_program *program,
		 struct index_groups *groups)
{
	size_t threads = scan_threads();
	struct grouping *found = xcalloc(threads, sizeof(*found));
	void **states = xcalloc(threads, sizeof(*states));
	struct found_value **sorted = xcalloc(threads, sizeof(*sorted));

	*groups = (struct index_groups){0};
	for (size_t i = 0; i < threads; i++) {
		found[i].program = program;
		found[i].slots = filter_slots(program);
		states[i] = &found[i];
	}
	for (size_t i = 0; i < session->scanned.count; i++)
		scan_process(session, &session->scanned.items[i], group_piece, states);
	for (size_t i = 0; i < threads; i++) {
		sorted[i] = sorted_values(&found[i]);
		unite_values(groups, sorted[i], found[i].values.count);
	}
	groups->sums.nodes = groups->count;
	for (size_t i = 0; i < threads; i++) {
		add_found(groups, &found[i], sorted[i]);
		free(sorted[i]);
		free(found[i].slots);
		hash_map_fini(&found[i].ids);
		vec_fini(&found[i].values);
		measure_fini(&found[i].sums);
	}
	free(sorted);
	free(states);
	free(found);
}

void index_groups_fini(struct index_groups *groups)
{
	free(groups->values);
	measure_fini(&groups->sums);
}
