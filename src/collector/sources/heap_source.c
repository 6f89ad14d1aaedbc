/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be recorded of memory, and the search for lost blocks at the end. */
#include "collector/core/stamp.h"
#include "collector/sources/heap.h"
#include "collector/sources/heap_sample.h"
#include "collector/sources/heap_search.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/text.h"

static uint64_t sample_mean; /* bytes */
static bool searches;	     /* for lost blocks, at the end */
static bool begun_before;    /* a recording began in this process image, or in its parent */

static bool read_param(const char *value)
{
	heap_traces_all = text_starts(value, "all");
	sample_mean = heap_traces_all ? 0 : text_number(value, NULL);
	searches = heap_traces_all && !text_starts(value, "all,noscan");
	return heap_traces_all || sample_mean;
}

/* The child of a fork has blocks of its parent that it knows nothing of. */
static void begin(void)
{
	stamp_begin();
	heap_samples = sample_mean && heap_sample_begin(sample_mean);
	searches &= !begun_before;
	begun_before = true;
}

static void finish(void)
{
	bool whole = recording_clock_always_ran() && !collector.partial &&
		     !collector.window_end_ns && !collector.window_start_ns &&
		     !atomic_load(&collector.dropped);

	if (searches && whole)
		heap_search();
}

static void put_log(struct text *line)
{
	if (heap_search_ns())
		text_attribute_decimal(line, "leak_search_ns", (int64_t)heap_search_ns());
}

const struct trace_source heap_source = {.kind = TRACE_HEAP,
					 .read_param = read_param,
					 .begin = begin,
					 .finish = finish,
					 .log = put_log};
