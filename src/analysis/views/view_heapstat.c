/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers about all blocks together, and the peak of the process that had the highest. */
#include "analysis/session/scan.h"
#include "analysis/views/heap_stacks.h"
#include "analysis/views/heaps.h"

#include <stdlib.h>

const char *const heap_size_names[HEAP_SIZE_CLASSES] = {
	"0KB - 1KB",	 "1KB - 8KB",	"8KB - 32KB", "32KB - 128KB", "128KB - 256KB",
	"256KB - 512KB", "512KB - 1MB", "1MB - 10MB", "10MB - 100MB", "> 100MB"};

const char *const heap_life_names[HEAP_LIFE_CLASSES] = {
	"0us - 1us",	"1us - 10us", "10us - 100us", "100us - 1ms", "1ms - 10ms",
	"10ms - 100ms", "100ms - 1s", "1s - 10s",     "10s - 100s",  "> 100s"};

static size_t size_class(uint64_t bytes)
{
	static const uint64_t ends[HEAP_SIZE_CLASSES - 1] = {
		1 << 10,   8 << 10,    32 << 10, 128 << 10,	     256 << 10,
		512 << 10, 1024 << 10, 10 << 20, UINT64_C(100) << 20};
	size_t class = 0;

	while (class < HEAP_SIZE_CLASSES - 1 && bytes > ends[class])
		class ++;
	return class;
}

static size_t life_class(uint64_t ns)
{
	size_t class = 0;

	for (uint64_t end = 1000; class < HEAP_LIFE_CLASSES - 1 && ns >= end; end *= 10)
		class ++;
	return class;
}

/* What one allocation stands for. */
static void add(struct heap_amount *amount, uint64_t blocks, uint64_t bytes)
{
	amount->blocks += blocks;
	amount->bytes += bytes;
	amount->variance += (float)heap_variance(bytes, blocks);
}

static void add_size(struct heap_sizes *sizes, uint64_t size, uint64_t blocks, uint64_t bytes)
{
	if (!sizes->total.blocks || size < sizes->smallest)
		sizes->smallest = size;
	if (size > sizes->largest)
		sizes->largest = size;
	add(&sizes->classes[size_class(size)], blocks, bytes);
	add(&sizes->total, blocks, bytes);
}

static void count_block(struct heap_statistics *statistics, const struct event_run *run, size_t i)
{
	const struct experiment_heap *heap = &run->process->heap;
	uint32_t until = heap->until[run->first + i];
	uint8_t fate = heap->fate[run->first + i];
	uint64_t size = event_field(run, HEAP_SIZE)[i], weight = event_field(run, HEAP_WEIGHT)[i];
	uint64_t blocks = heap_blocks(weight), bytes = heap_bytes(size, weight);

	add(&statistics->fates[fate], blocks, bytes);
	add_size(&statistics->allocated, size, blocks, bytes);
	if (fate >= HEAP_FATE_LEFT)
		add_size(&statistics->leaked, size, blocks, bytes);
	if (fate >= HEAP_FATE_REACHABLE)
		add(&statistics->never_released, blocks, bytes);
	if (until != HEAP_NEVER)
		add(&statistics->lives[life_class(
			    trace_time(&run->process->traces[TRACE_HEAP], until) -
			    event_times(run)[i])],
		    blocks, bytes);
	statistics->sampled |= weight != 0;
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	struct heap_statistics *statistics = state;

	if (run->kind != EVENTS_TRACE + TRACE_HEAP)
		return;

	const uint64_t *types = event_column(run, ROW_TYPE);

	for (size_t i = 0; i < run->count; i++) {
		if (piece->measuring.chosen && !piece->measuring.chosen[i])
			continue;
		if (run->process->heap.fate[run->first + i] != HEAP_FATE_NONE)
			count_block(statistics, run, i);
		else if (types[i] > HEAP_FREE && types[i] <= HEAP_BRK)
			add(&statistics->mapped[types[i]], 1, event_field(run, HEAP_SIZE)[i]);
	}
}

static void add_amounts(struct heap_amount *to, const struct heap_amount *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i].blocks += from[i].blocks;
		to[i].bytes += from[i].bytes;
		to[i].variance += from[i].variance;
	}
}

static void add_sizes(struct heap_sizes *to, const struct heap_sizes *from)
{
	if (!from->total.blocks)
		return;
	if (!to->total.blocks || from->smallest < to->smallest)
		to->smallest = from->smallest;
	if (from->largest > to->largest)
		to->largest = from->largest;
	add_amounts(to->classes, from->classes, HEAP_SIZE_CLASSES);
	add_amounts(&to->total, &from->total, 1);
}

static void add_statistics(struct heap_statistics *to, const struct heap_statistics *from)
{
	add_sizes(&to->allocated, &from->allocated);
	add_sizes(&to->leaked, &from->leaked);
	add_amounts(&to->never_released, &from->never_released, 1);
	add_amounts(to->fates, from->fates, HEAP_FATES);
	add_amounts(to->lives, from->lives, HEAP_LIFE_CLASSES);
	add_amounts(to->mapped, from->mapped, HEAP_TYPES);
	to->sampled |= from->sampled;
}

static void count_process(struct heap_statistics *statistics, const struct tally *tally,
			  const struct session_process *process)
{
	size_t threads = scan_threads();
	struct heap_statistics *parts = xcalloc(threads, sizeof(*parts));
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t i = 0; i < threads; i++)
		states[i] = &parts[i];
	scan_process(tally, process, count_piece, states);
	for (size_t i = 0; i < threads; i++)
		add_statistics(statistics, &parts[i]);
	free(states);
	free(parts);
}

static void take_peak(struct heap_statistics *statistics, const struct session *session,
		      size_t index)
{
	const struct experiment_heap *heap = &session->scanned.items[index].process->heap;

	statistics->peak_process = session_process(session, index);
	statistics->peak_amount = (struct heap_amount){.bytes = heap->likely_bytes,
						       .blocks = heap->likely_blocks,
						       .variance = (float)heap->peak_variance};
	statistics->peak_ns = heap->peak_ns;
	statistics->first_ns = heap->first_ns;
	statistics->last_ns = heap->last_ns;
	for (size_t i = 0; i < HEAP_RANGES; i++)
		statistics->most[i] = heap->most[i];
}

void view_heap_statistics(struct session *session, const struct query *query,
			  struct heap_statistics *statistics)
{
	struct tally *tally = tally_of(session, query);
	uint64_t peak_bytes = 0;
	size_t highest = 0;

	*statistics = (struct heap_statistics){0};
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct experiment_heap *heap = &session->scanned.items[i].process->heap;

		if (!heap->fate || !tally_looks_at(tally, &session->scanned.items[i]))
			continue;
		count_process(statistics, tally, &session->scanned.items[i]);
		statistics->unmatched += heap->unmatched;
		statistics->searched |= heap->searched;
		if (heap->peak_bytes > peak_bytes) {
			peak_bytes = heap->peak_bytes;
			highest = i;
			take_peak(statistics, session, i);
		}
	}
	if (statistics->peak_process)
		heap_stacks_at(tally, query, &session->scanned.items[highest], statistics->peak_ns,
			       &statistics->peak);
	tally_release(tally);
}

double heap_range_begin(const struct heap_statistics *statistics, size_t range)
{
	double length = (double)(statistics->last_ns - statistics->first_ns) / HEAP_RANGES;

	return ((double)statistics->first_ns + length * (double)range) / 1e9;
}

uint64_t heap_most(const struct heap_statistics *statistics)
{
	uint64_t most = 0;

	for (size_t i = 0; i < HEAP_RANGES; i++)
		most = statistics->most[i] > most ? statistics->most[i] : most;
	return most;
}

bool heap_has_mapped(const struct heap_statistics *statistics)
{
	for (int type = HEAP_MMAP; type <= HEAP_BRK; type++)
		if (statistics->mapped[type].blocks)
			return true;
	return false;
}

size_t heap_peak_shown(const struct heap_statistics *statistics, const struct query *query)
{
	enum { USUAL = 10 };
	size_t most = query->limit ? query->limit : USUAL;

	return statistics->peak.count < most ? statistics->peak.count : most;
}

void heap_statistics_fini(struct heap_statistics *statistics)
{
	heap_stacks_fini(&statistics->peak);
}
