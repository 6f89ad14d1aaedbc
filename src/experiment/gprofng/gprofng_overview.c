/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview of gprofng: the process's usage at sample points, as Solaris's
 * struct prusage of 64-bit programs has it.  The labels are in log.xml.
 */
#include "experiment/gprofng/gprofng.h"

#include <string.h>

/* A time in two words. */
struct usage_time {
	int64_t s, ns;
};

struct usage_record {
	uint32_t thread, threads;
	struct usage_time now, created, ended, real, user, system, trap, text_fault, data_fault,
		kernel_fault, lock, sleep, wait, stopped, reserved_times[6];
	uint64_t minor_faults, major_faults, swaps, input_blocks, output_blocks, messages_sent,
		messages_received, signals, voluntary_switches, involuntary_switches, calls,
		characters, reserved[10];
};

_Static_assert(sizeof(struct usage_record) == 504, "on disk");

static uint64_t ns_of(struct usage_time time)
{
	return (uint64_t)time.s * 1000000000u + (uint64_t)time.ns;
}

static void add_sample(struct experiment_overview *overview, const struct usage_record *record,
		       const struct gprofng_log *log)
{
	size_t number = overview->count;
	struct usage *usage = vec_push(overview);
	const char *label = number < log->labels.count ? log->labels.items[number] : "";

	usage->time_ns = ns_of(record->now) - log->base_ns;
	usage->kind = !number			   ? FORMAT_SAMPLE_START
		      : !strcmp(label, "periodic") ? FORMAT_SAMPLE_PERIODIC
						   : FORMAT_SAMPLE_MANUAL;
	strncpy(usage->label, label, sizeof(usage->label) - 1);
	usage->user_ns = ns_of(record->user);
	usage->system_ns = ns_of(record->system);
	usage->minor_faults = record->minor_faults;
	usage->major_faults = record->major_faults;
	usage->voluntary_switches = record->voluntary_switches;
	usage->involuntary_switches = record->involuntary_switches;
	usage->input_blocks = record->input_blocks;
	usage->output_blocks = record->output_blocks;
}

void gprofng_overview_read(struct process *process, const struct gprofng_log *log,
			   const struct read_context *context)
{
	struct experiment_overview *overview = &process->overview;
	struct block_file file;
	struct usage_record record;
	enum file_state state = block_file_open_plain(&file, context, FORMAT_FILE_OVERVIEW);
	uint64_t last_ns = log->base_ns;

	*overview = (struct experiment_overview){.present = state != FILE_MISSING,
						 .damaged = state == FILE_UNUSABLE};
	if (state != FILE_USABLE)
		return;
	for (; file.offset < file.size && !overview->damaged; file.offset += sizeof(record)) {
		size_t available;
		const uint8_t *data =
			block_file_fetch(&file, file.offset, sizeof(record), &available);

		memset(&record, 0, sizeof(record));
		memcpy(&record, data, available);
		overview->damaged = available < sizeof(record) || ns_of(record.now) < last_ns;
		if (overview->damaged)
			break;
		last_ns = ns_of(record.now);
		add_sample(overview, &record, log);
	}
	if (overview->count > 1)
		overview->items[overview->count - 1].kind = FORMAT_SAMPLE_END;
	if (overview->damaged)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: overview is damaged: only its first %zu sample points could be read",
			 context->name, overview->count);
	block_file_close(&file);
}
