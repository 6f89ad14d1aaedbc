/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of the events that a tally chooses. */
#include "analysis/session/scan.h"
#include "analysis/tree/tally.h"

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct measuring measuring = piece->measuring;

	measuring.sums = state;
	measure_run(piece->run, &measuring);
}

void tally_count(const struct tally *tally, size_t nodes, struct finished_sums *out,
		 const uint32_t *(*nodes_of)(const struct tally *tally, size_t process,
					     uint32_t **owned))
{
	const struct session *session = tally->session;
	size_t threads = scan_threads();
	struct measure_sums all = {.nodes = nodes}, *sums = xcalloc(threads, sizeof(*sums));
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct session_process *process = &session->scanned.items[i];
		uint32_t *owned;
		const uint32_t *map = nodes_of(tally, i, &owned);

		for (size_t k = 0; k < threads; k++) {
			sums[k].nodes = process->process->stacks.nodes.count;
			states[k] = &sums[k];
		}
		scan_process(tally, process, count_piece, states);
		if (i + 1 == session->scanned.count)
			measure_fold_last(out, &all, sums, threads, map);
		for (size_t k = 0; k < threads; k++)
			measure_fold(&all, &sums[k], map);
		free(owned);
	}
	if (!session->scanned.count)
		measure_finish(out, &all);
	free(states);
	free(sums);
}

static void find_chosen(const struct scan_piece *piece, void *state)
{
	const uint8_t *chosen = piece->measuring.chosen;
	bool *found = state;

	for (size_t i = 0; i < piece->run->count && !*found; i++)
		*found = !chosen || chosen[i];
}

/* Some events count for no metric, such as waits of OpenMP: they are looked for where no other is.
 */
static bool chooses_an_event(const struct tally *tally)
{
	const struct session *session = tally->session;
	size_t threads = scan_threads();
	bool *found = xcalloc(threads, sizeof(*found)), any = false;
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t k = 0; k < threads; k++)
		states[k] = &found[k];
	for (size_t i = 0; i < session->scanned.count && !any; i++) {
		scan_process(tally, &session->scanned.items[i], find_chosen, states);
		for (size_t k = 0; k < threads; k++)
			any |= found[k];
	}
	free(states);
	free(found);
	return any;
}

bool query_chooses_any(const struct query *query, struct session *session)
{
	struct tally *tally = tally_of(session, query);
	bool found = false;

	for (size_t k = 0; k < MEASURE_COUNT && !found; k++)
		found = tally->weights.of[k].count;
	found = found || chooses_an_event(tally);
	tally_release(tally);
	return found;
}
