/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grouping.  The expression is evaluated by columns; each value becomes a number by a hash (values
 * mostly come in runs, so the last one is tried first), and from there on events are counted by
 * number as they otherwise are by call stack.
 *
 * A hash of all values would be slow and large where each event has its own.  So it is emptied when
 * it has as many as the cache holds, into lists of (value, amount), one for each measure, which are
 * ordered in the end.  Every thread has all of these of its own; sums are integers, so it does not
 * matter which one counted what.
 */
#include "analysis/index/index_group.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/scan.h"

#include <stdlib.h>

enum { HASHED_VALUES = 1 << 15 };

/* What one thread has found. */
struct grouping {
	const struct filter_program *program;
	struct filter_slot *slots;
	struct hash_map ids; /* value → number, of those not yet in cells */
	VEC(uint64_t) values;
	struct measure_sums
		sums; /* by number; of a few events there are few, at most HASHED_VALUES */
	struct index_cells cells[MEASURE_COUNT];
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

/* Empties the hash. */
static void spill(struct grouping *grouping)
{
	for (size_t k = 0; k < MEASURE_COUNT; k++) {
		uint64_t *amounts = grouping->sums.of[k];

		for (size_t i = 0; amounts && i < grouping->values.count; i++) {
			if (amounts[i])
				index_cells_add(&grouping->cells[k], grouping->values.items[i],
						amounts[i]);
			amounts[i] = 0;
		}
	}
	grouping->values.count = 0;
	hash_map_clear(&grouping->ids);
}

static void group_piece(const struct scan_piece *piece, void *state)
{
	struct grouping *grouping = state;
	const struct event_run *run = piece->run;
	const uint8_t *chosen = piece->measuring.chosen;
	struct filter_rows rows = filter_rows_of(piece->tally->shape, piece->process, run);
	const struct filter_slot *slot = filter_evaluate(grouping->program, grouping->slots, &rows);
	struct measuring measuring = piece->measuring;
	uint32_t ids[FILTER_ROWS];

	if (grouping->values.count + run->count > HASHED_VALUES)
		spill(grouping);
	for (size_t i = 0; i < run->count; i++) {
		bool unknown = slot->any_unknown && slot->unknown[i];

		if (!chosen || chosen[i])
			ids[i] = id_of(grouping, unknown ? INDEX_UNKNOWN : slot->value[i]);
	}
	measuring.places = ids;
	measuring.sums = &grouping->sums;
	measure_run(run, &measuring);
}

/* The rest of a list that is in order. */
struct rest {
	struct index_cell *next, *end;
};

/* The smallest value at the beginning of the rests; false: all are empty. */
static bool next_value(const struct rest *rests, size_t count, uint64_t *value)
{
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		if (rests[i].next == rests[i].end)
			continue;
		if (!found || rests[i].next->value < *value)
			*value = rests[i].next->value;
		found = true;
	}
	return found;
}

/* Numbers the values of all lists, which are in order, from the smallest on. */
static void number_values(struct index_groups *groups)
{
	struct rest rests[MEASURE_COUNT];
	size_t count = 0;
	uint64_t value = 0;

	for (size_t k = 0; k < MEASURE_COUNT; k++) {
		struct index_cells *cells = &groups->cells[k];

		if (cells->list.count)
			rests[count++] = (struct rest){cells->list.items,
						       cells->list.items + cells->list.count};
	}
	while (next_value(rests, count, &value)) {
		for (size_t i = 0; i < count; i++)
			if (rests[i].next < rests[i].end && rests[i].next->value == value)
				rests[i].next++->value = groups->values.count;
		*vec_push(&groups->values) = value;
	}
}

static void grouping_fini(struct grouping *grouping)
{
	free(grouping->slots);
	hash_map_fini(&grouping->ids);
	vec_fini(&grouping->values);
	measure_fini(&grouping->sums);
}

/* Values as GCEVENT_MAP has them. */
static void add_collections(const struct tally *tally, struct index_cells *cells)
{
	const struct session *session = tally->session;

	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct session_process *process = &session->scanned.items[i];
		uint64_t id = tally->shape->united ? process->like : process->id;
		size_t count = process->process->profile.collections.list.count;

		for (size_t k = 0; tally_looks_at(tally, process) && k < count; k++)
			index_cells_add(cells, id << 32 | (k + 1), 0);
	}
}

/* No more than there are events: small experiments are asked often, and clearing is not free. */
static size_t hashed_values(const struct session *session)
{
	return session->row_count < HASHED_VALUES ? session->row_count + 1 : HASHED_VALUES;
}

void index_group(const struct tally *tally, const struct filter_program *program, bool collections,
		 struct index_groups *groups)
{
	const struct session *session = tally->session;
	size_t threads = scan_threads(), hashed = hashed_values(session);
	struct grouping *found = xcalloc(threads, sizeof(*found));
	void **states = xcalloc(threads, sizeof(*states));

	*groups = (struct index_groups){0};
	for (size_t i = 0; i < threads; i++) {
		found[i].program = program;
		found[i].slots = filter_slots(program);
		found[i].sums.nodes = hashed;
		states[i] = &found[i];
	}
	for (size_t i = 0; i < session->scanned.count; i++)
		scan_process(tally, &session->scanned.items[i], group_piece, states);
	if (collections)
		add_collections(tally, &found[0].cells[0]);
	for (size_t i = 0; i < threads; i++) {
		spill(&found[i]);
		grouping_fini(&found[i]);
	}
	for (size_t k = 0; k < MEASURE_COUNT; k++) {
		groups->cells[k] = found[0].cells[k];
		for (size_t i = 1; i < threads; i++)
			index_cells_append(&groups->cells[k], &found[i].cells[k]);
		index_cells_unite(&groups->cells[k]);
	}
	number_values(groups);
	free(states);
	free(found);
}

uint64_t *index_group_values(const struct index_groups *groups, const struct metric *metric)
{
	uint64_t *values = xcalloc(groups->values.count + 1, sizeof(*values));

	for (size_t k = 0; k < MEASURE_COUNT; k++) {
		const struct index_cells *cells = &groups->cells[k];

		for (size_t i = 0; values_has(metric, k) && i < cells->list.count; i++)
			values[cells->list.items[i].value] +=
				values_part(metric, k, cells->list.items[i].amount);
	}
	return values;
}

void index_groups_fini(struct index_groups *groups)
{
	vec_fini(&groups->values);
	for (size_t k = 0; k < MEASURE_COUNT; k++)
		index_cells_fini(&groups->cells[k]);
}
