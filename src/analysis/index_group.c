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

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* All values that any thread has found, in order. */
static void unite_values(struct index_groups *groups, const struct grouping *found, size_t threads)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < threads; i++)
		all += found[i].values.count;
	groups->values = xmalloc(all * sizeof(*groups->values));
	for (size_t i = 0; i < threads; i++) {
		if (found[i].values.count)
			memcpy(groups->values + groups->count, found[i].values.items,
			       found[i].values.count * sizeof(*groups->values));
		groups->count += found[i].values.count;
	}
	if (groups->count)
		qsort(groups->values, groups->count, sizeof(*groups->values), by_value);
	for (size_t i = 0; i < groups->count; i++)
		if (!kept || groups->values[i] != groups->values[kept - 1])
			groups->values[kept++] = groups->values[i];
	groups->count = kept;
}

/* Adds what a thread has found to the groups in their order. */
static void add_found(struct index_groups *groups, const struct grouping *found)
{
	for (size_t i = 0; i < groups->count; i++) {
		uint32_t id = hash_map_get(&found->ids, groups->values[i]);

		if (id == HASH_NONE)
			continue;
		for (size_t k = 0; k < MEASURE_COUNT; k++)
			if (found->sums.of[k])
				measure_array(&groups->sums, (enum measure)k)[i] +=
					found->sums.of[k][id];
	}
}

void index_group(const struct session *session, const struct filter_program *program,
		 struct index_groups *groups)
{
	size_t threads = scan_threads();
	struct grouping *found = xcalloc(threads, sizeof(*found));
	void **states = xcalloc(threads, sizeof(*states));

	*groups = (struct index_groups){0};
	for (size_t i = 0; i < threads; i++) {
		found[i].program = program;
		found[i].slots = filter_slots(program);
		states[i] = &found[i];
	}
	for (size_t i = 0; i < session->scanned.count; i++)
		scan_process(session, &session->scanned.items[i], group_piece, states);
	unite_values(groups, found, threads);
	groups->sums.nodes = groups->count;
	for (size_t i = 0; i < threads; i++) {
		add_found(groups, &found[i]);
		free(found[i].slots);
		hash_map_fini(&found[i].ids);
		vec_fini(&found[i].values);
		measure_fini(&found[i].sums);
	}
	free(states);
	free(found);
}

void index_groups_fini(struct index_groups *groups)
{
	free(groups->values);
	measure_fini(&groups->sums);
}
