/* SPDX-License-Identifier: Apache-2.0 */
/* overview: process-wide usage at sample points. */
#ifndef HELIO_EXPERIMENT_OVERVIEW_H
#define HELIO_EXPERIMENT_OVERVIEW_H

#include "experiment/block.h"

struct usage {
	uint64_t time_ns;
	uint32_t kind; /* enum format_sample_kind */
	char label[33];
	uint64_t user_ns, system_ns, minor_faults, major_faults, voluntary_switches,
		involuntary_switches, input_blocks, output_blocks, read_bytes, write_bytes,
		read_calls, write_calls, rss_bytes, max_rss_bytes, threads, run_delay_ns;
};

struct experiment_overview {
	bool present, damaged;
	struct usage *items;
	size_t count, capacity;
};

/* Reads overview; a missing file leaves `present` false and is not reported. */
void experiment_overview_read(struct experiment_overview *overview,
			      const struct read_context *context);
void experiment_overview_fini(struct experiment_overview *overview);

#endif
