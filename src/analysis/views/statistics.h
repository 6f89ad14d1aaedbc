/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a whole process, or several, used between two sample points.
 *
 * CPU times and counts come from the kernel's accounting at the sample points.  The other
 * microstates come from the clock profile and are known for the whole run only.
 */
#ifndef HELIO_ANALYSIS_STATISTICS_H
#define HELIO_ANALYSIS_STATISTICS_H

#include "experiment/overview.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_info;
struct session;

enum { STATISTICS_STATES = 10 };

struct statistics {
	const char *start_label, *end_label;
	uint64_t start_ns, end_ns;
	const struct usage *from, *to; /* NULL: no sample points */
	const double *state_seconds;   /* all 0: not known for this interval */
	double user_seconds, system_seconds;
	uint64_t recorded_ns;  /* of its duration */
	double before_seconds; /* CPU time before the recording, which is in no other number */
	uint64_t collections;  /* Java's, of garbage; of a whole process */
	double collection_seconds;
	uint64_t classes;		   /* of Java, linked; likewise */
	uint64_t compiled, compiled_bytes; /* Java's methods, each compilation; likewise */
	bool is_sum; /* of several processes: begins and ends at no one moment */
};

/* What several processes have in sum. */
struct statistics_sum {
	struct statistics whole;
	struct usage from, to; /* the rest is what `whole` points to */
	double state_seconds[STATISTICS_STATES];
};

/* The counts of struct usage: the label and the member. */
#define FILE_COUNTS(X)                                                                             \
	X("Read calls", read_calls)                                                                \
	X("Write calls", write_calls)                                                              \
	X("Bytes read", read_bytes)                                                                \
	X("Bytes written", write_bytes)

#define USAGE_COUNTS(X)                                                                            \
	X("Minor Page Faults", minor_faults)                                                       \
	X("Major Page Faults", major_faults)                                                       \
	X("Input blocks", input_blocks)                                                            \
	X("Output blocks", output_blocks)                                                          \
	X("Voluntary context switches", voluntary_switches)                                        \
	X("Involuntary context switches", involuntary_switches)

/* Counters only grow; one that does not is damaged and counts as nothing. */
static inline uint64_t statistics_gained(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

struct statistics statistics_of_process(const struct process_info *process);
/* Between the sample point of the index and the next. */
struct statistics statistics_of_sample(const struct process_info *process, size_t index);
/* Of the session's processes first ... end - 1. */
void statistics_of_several(struct statistics_sum *sum, const struct session *session, size_t first,
			   size_t end);

double statistics_seconds(const struct statistics *of); /* its duration */
/* Of all threads, as the clock saw them; 0: not known. */
double statistics_thread_seconds(const struct statistics *of);
/* Whether less than its duration was recorded. */
bool statistics_is_partial(const struct statistics *of);
/* Whether the kernel's files of the process were looked into: FILE_COUNTS, threads, memory. */
bool statistics_has_files(const struct statistics *of);
/* The most resident bytes that there ever were. */
uint64_t statistics_most_resident(const struct statistics *of);

#endif
