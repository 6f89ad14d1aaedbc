/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/overview.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The process and the launcher write, each when it comes to it, with the time that it had read. */
#define LATE_MAX_NS (10ull * 1000 * 1000 * 1000)

enum { SAMPLES_MAX = 1 << 22 }; /* 48 days of one per second; more is damage */

static void add_sample(struct experiment_overview *overview, const struct format_sample *sample)
{
	struct usage *usage = vec_push(overview);

	usage->time_ns = sample->time_ns;
	usage->kind = sample->kind;
	memcpy(usage->label, sample->label, sizeof(sample->label));
#define X(name) usage->name = sample->name;
	FORMAT_USAGE_FIELDS(X)
#undef X
}

/* Counts only grow in the order of the records: one that was late keeps its place. */
static bool settle_time(const struct experiment_overview *overview, struct format_sample *sample)
{
	uint64_t last = overview->count ? overview->items[overview->count - 1].time_ns : 0;

	if (sample->time_ns < last && last - sample->time_ns < LATE_MAX_NS)
		sample->time_ns = last;
	return sample->time_ns >= last;
}

void experiment_overview_read(struct experiment_overview *overview,
			      const struct read_context *context)
{
	static const struct format_sample zero;
	struct block_file file;
	struct format_sample sample;
	size_t bad = 0, available;
	enum file_state state = block_file_open(&file, context, FORMAT_FILE_OVERVIEW, 0);

	*overview = (struct experiment_overview){.present = state != FILE_MISSING,
						 .damaged = state == FILE_UNUSABLE};
	if (state != FILE_USABLE)
		return;
	for (size_t i = 0; file.offset < file.size && i < SAMPLES_MAX; i++) {
		const uint8_t *data =
			block_file_fetch(&file, file.offset, sizeof(sample), &available);

		if (available < sizeof(sample)) {
			bad++;
			break;
		}
		memcpy(&sample, data, sizeof(sample));
		file.offset += sizeof(sample);
		if (!memcmp(&sample, &zero, sizeof(sample)))
			continue;
		if (sample.kind <= FORMAT_SAMPLE_MANUAL && settle_time(overview, &sample))
			add_sample(overview, &sample);
		else
			bad++;
	}
	overview->damaged = bad;
	if (bad)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: overview is damaged: %zu sample points could not be read; usage "
			 "figures may be incomplete",
			 context->name, bad);
	block_file_close(&file);
}

void experiment_overview_fini(struct experiment_overview *overview)
{
	vec_fini(overview);
}
