/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans.  The runs of a process are divided into ranges of equal numbers of rows, one per
 * thread; small processes are not worth a thread.  Each thread goes through all runs, and leaves
 * out what is not its own: a list of them would take more memory than runs of one event.
 */
#include "analysis/session/scan.h"

#include "analysis/filter/filter_program.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS_PER_THREAD = 200000,
	ROWS_PER_SUM = 16,
	ROWS_BETWEEN = 1 << 16, /* two looks at the clock */
	THREADS_MAX = 64,
};

/* One thread's part: rows [first, end) of the process, its kinds one after the other. */
struct part {
	const struct tally *tally;
	const struct session_process *process;
	size_t first, end;
	size_t at;    /* the first row of the next run */
	bool is_over; /* it is not wanted any more */
	void (*visit)(const struct scan_piece *piece, void *state);
	void *state;
	struct filter_slot *slots[QUERY_FILTERS];
	struct event_columns *columns;
	struct scan_watching *watching; /* that all parts have */
	size_t rows;			/* visited so far */
};

/* Parts are of one size: the first, in the thread that asked, tells for all. */
struct scan_watching {
	struct watch *watch; /* or NULL */
	size_t parts;
	double before, all; /* rows of the work before this scan, of all of it */
	atomic_bool cancelled;
};

/* What the user says, 1 to THREADS_MAX; 0: nothing. */
static size_t asked_threads(void)
{
	const char *text = getenv("HELIO_THREADS");
	unsigned long count = text ? strtoul(text, NULL, 10) : 0;

	return count < THREADS_MAX ? count : THREADS_MAX;
}

size_t scan_threads(void)
{
	cpu_set_t allowed;
	int count = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);

	if (asked_threads())
		return asked_threads();
	return count < THREADS_MAX ? (size_t)count : THREADS_MAX;
}

size_t scan_threads_for(size_t rows)
{
	size_t threads = scan_threads(), worth = rows / ROWS_PER_THREAD + 1;

	return asked_threads() || threads < worth ? threads : worth;
}

static size_t count_rows(const struct process *process)
{
	size_t count = process->profile.rows.count;

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		count += process->traces[kind].rows.count;
	return count;
}

/* Chooses rows of a piece. */
static void visit_chosen(const struct part *part, struct scan_piece *piece)
{
	struct filter_rows rows = filter_rows_of(part->tally->shape, part->process, piece->run);
	uint8_t chosen[FILTER_ROWS];

	memset(chosen, 1, piece->run->count);
	for (size_t i = 0; i < QUERY_FILTERS; i++)
		if (part->slots[i])
			filter_choose(part->tally->filters[i], part->slots[i], &rows, chosen);
	piece->measuring.chosen = chosen;
	part->visit(piece, part->state);
}

static bool is_wanted(const struct part *part)
{
	struct scan_watching *watching = part->watching;

	if (!part->first && part->rows % ROWS_BETWEEN < FILTER_ROWS &&
	    !watch_tell(watching->watch,
			(watching->before + (double)(part->rows * watching->parts)) /
				watching->all))
		atomic_store_explicit(&watching->cancelled, true, memory_order_relaxed);
	return !atomic_load_explicit(&watching->cancelled, memory_order_relaxed);
}

/* What became of what the events of a kind allocated. */
static const uint8_t *fates_of(const struct process *process, enum event_kind kind)
{
	return kind == EVENTS_TRACE + TRACE_HEAP    ? process->heap.fate
	       : kind == EVENTS_TRACE + TRACE_JHEAP ? process->objects.fate
						    : NULL;
}

/* False: it is not wanted any more. */
static bool visit_run(struct part *part, const struct event_run *run)
{
	struct scan_piece piece = {
		.tally = part->tally,
		.process = part->process,
		.measuring = {.squares = part->tally->squares,
			      .first_thread = run->thread == part->process->first_thread,
			      .counter = part->process->counters,
			      .omp_class = part->process->omp_class,
			      .in_mpi = part->process->in_mpi,
			      .fate = fates_of(part->process->process, run->kind)},
	};

	bool filtered = tally_is_filtered(part->tally);

	for (size_t row = 0; row < run->count;) {
		if (!is_wanted(part))
			return false;
		struct event_run rows = event_run_piece(run, row, part->columns);

		piece.run = &rows;
		if (filtered)
			visit_chosen(part, &piece);
		else
			part->visit(&piece, part->state);
		row += rows.count;
		part->rows += rows.count;
	}
	return true;
}

/* As much of a run as is in the part. */
static void visit_own(const struct event_run *run, void *arg)
{
	struct part *part = arg;
	size_t at = part->at, first = part->first > at ? part->first - at : 0, end;

	part->at += run->count;
	if (part->is_over || part->at <= part->first || at >= part->end)
		return;
	end = part->end - at < run->count ? part->end - at : run->count;

	struct event_run own = event_run_part(run, first, end - first);

	part->is_over = !visit_run(part, &own);
}

static void *run_part(void *arg)
{
	struct part *part = arg;

	part->columns = xmalloc(sizeof(*part->columns));
	for (size_t i = 0; i < QUERY_FILTERS; i++)
		if (part->tally->filters[i])
			part->slots[i] = filter_slots(part->tally->filters[i]);
	for (int kind = 0; kind < EVENTS_KINDS; kind++)
		events_for_each_run(part->process->process, (enum event_kind)kind, visit_own, part);
	for (size_t i = 0; i < QUERY_FILTERS; i++)
		free(part->slots[i]);
	free(part->columns);
	return NULL;
}

/*
 * So many rows are worth one more thread.  It mostly brings sums of its own, by call stack, which
 * have to be made and added up.
 */
static size_t least_rows(const struct process *process)
{
	size_t for_sums = process->stacks.nodes.count * ROWS_PER_SUM;

	return for_sums > ROWS_PER_THREAD ? for_sums : ROWS_PER_THREAD;
}

static void scan(const struct tally *tally, const struct session_process *process,
		 void (*visit)(const struct scan_piece *piece, void *state), void *const *states,
		 size_t count)
{
	size_t rows = count_rows(process->process);
	struct part parts[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	size_t started = 1;
	struct session *session = tally->session;
	struct scan_watching watching = {.watch = session->watch,
					 .before = (double)session->rows_before,
					 .all = (double)session->row_count};

	session->rows_before += process->row_count;
	if (session->rows_before >= session->row_count)
		session->rows_before = 0; /* the next pass over all */
	if (!tally_looks_at(tally, process) || (session->watch && session->watch->cancelled))
		return;
	if (!asked_threads() && count > rows / least_rows(process->process) + 1)
		count = rows / least_rows(process->process) + 1;
	watching.parts = count;
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct part){
			.tally = tally,
			.process = process,
			.first = rows / count * i,
			.end = i + 1 < count ? rows / count * (i + 1) : rows,
			.visit = visit,
			.state = states[i],
			.watching = &watching,
		};
	while (started < count &&
	       !pthread_create(&threads[started], NULL, run_part, &parts[started]))
		started++;
	run_part(&parts[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = started; i < count; i++) /* no thread was to be had */
		run_part(&parts[i]);
}

void scan_process(const struct tally *tally, const struct session_process *process,
		  void (*visit)(const struct scan_piece *piece, void *state), void *const *states)
{
	scan(tally, process, visit, states, scan_threads());
}

void scan_in_order(const struct tally *tally, const struct session_process *process,
		   void (*visit)(const struct scan_piece *piece, void *state), void *state)
{
	scan(tally, process, visit, &state, 1);
}
