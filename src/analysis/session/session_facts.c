/* SPDX-License-Identifier: Apache-2.0 */
/* What a session says of its experiments. */
#include "analysis/metric/metric_values.h"
#include "analysis/session/advice.h"
#include "analysis/session/functions.h"
#include "analysis/session/session_state.h"
#include "analysis/tree/tally.h"

#include <stdlib.h>

/* In percent, without those that it calls: what the sums of all functions take is not needed. */
static double share_of(struct tally *tally, const struct metric *metric, uint32_t function)
{
	const struct call_tree *tree = tally->shape->tree;
	uint64_t *values = values_self(tally, metric);
	uint64_t own = 0, total = 0;

	for (size_t i = 0; i < tree->nodes.count; i++) {
		total += values[i];
		if (tree->nodes.items[i].function == function)
			own += values[i];
	}
	free(values);
	return total ? 100.0 * (double)own / (double)total : 0;
}

/* Time without a load object is normal for code made at run time; that map.xml lacks lines looks
 * the same. */
void session_warn_unknown(struct session *session, const struct metric_list *shown)
{
	const struct query all = {0};
	const struct metric *metric = NULL;

	for (size_t i = 0; i < shown->count && !metric; i++)
		if (!shown->items[i].metric->is_static)
			metric = shown->items[i].metric;
	if (!metric)
		return;

	session_enter(session);
	struct tally *tally = tally_of(session, &all);
	double share = share_of(tally, metric, FUNCTION_UNKNOWN);

	if (share >= 1)
		diag_add_once(&session->warnings, DIAG_WARNING,
			      "%.1f %% of the %s is at addresses outside all recorded load "
			      "objects: code made at run time, or call stacks or load objects that "
			      "are missing; it shows as <Unknown>%s",
			      share, metric->title, advice_for_unknown(session));
	tally_release(tally);
	session_leave(session);
}

size_t session_process_count(const struct session *session)
{
	return session->processes.count;
}

const struct process_info *session_process(const struct session *session, size_t index)
{
	return &session->processes.items[index];
}

bool session_has_trace(const struct session *session, enum trace_kind kind)
{
	return session->has_trace[kind];
}

bool session_has_addresses(const struct session *session)
{
	for (size_t i = 0; i < session->counters.count; i++)
		if (session->counters.items[i].has_address)
			return true;
	return false;
}

const struct diag_list *session_warnings(const struct session *session)
{
	struct session *own = (struct session *)session;

	session_enter(own);
	if (!own->told || own->told->count != own->warnings.count) {
		size_t count = own->warnings.count;
		struct diag_list *told = arena_new(&own->arena, struct diag_list);

		told->items = arena_array(&own->arena, struct diag, count);
		told->count = count;
		for (size_t i = 0; i < count; i++)
			told->items[i] = own->warnings.items[i];
		own->told = told;
	}
	const struct diag_list *told = own->told;

	session_leave(own);
	return told;
}

size_t session_group_count(const struct session *session)
{
	return session->groups.count;
}

const char *session_group_name(const struct session *session, size_t group)
{
	return session->groups.items[group].name;
}

const char *session_group_path(const struct session *session, size_t group)
{
	return session->groups.items[group].path;
}

struct cpu_set {
	bool seen[PROFILE_NO_CPU];
	size_t count;
};

static void add_cpus(const struct event_run *run, void *arg)
{
	struct cpu_set *set = arg;

	const uint64_t *cpus = event_column(run, ROW_CPU);

	for (size_t i = 0; i < run->count; i++) {
		uint64_t cpu = cpus[i];

		if (cpu == PROFILE_NO_CPU || set->seen[cpu])
			continue;
		set->seen[cpu] = true;
		set->count++;
	}
}

size_t session_cpu_count(struct session *session, size_t process)
{
	struct cpu_set set = {0};

	session_enter(session);
	for (int kind = 0; kind < EVENTS_KINDS; kind++)
		events_for_each_piece(session->scanned.items[process].process,
				      (enum event_kind)kind, add_cpus, &set);
	session_leave(session);
	return set.count;
}
