/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/process.h"

#include "format/lineage.h"

#include <stdlib.h>
#include <string.h>

static int compare_with(const void *lineage, const void *process)
{
	return strverscmp(lineage, ((const struct process *)process)->lineage);
}

const struct process *experiment_find_lineage(const struct experiment *experiment,
					      const char *lineage, size_t length)
{
	char *name = xstrndup(lineage, length);
	const struct process *found =
		bsearch(name, experiment->processes.items, experiment->processes.count,
			sizeof(*experiment->processes.items), compare_with);

	free(name);
	return found;
}

const struct process *experiment_image_before(const struct experiment *experiment,
					      const struct process *process)
{
	size_t length;
	const struct process *before =
		lineage_step(process->lineage, &length) == 'x'
			? experiment_find_lineage(experiment, process->lineage, length)
			: NULL;

	return before && before->log.own_pid == process->log.own_pid ? before : NULL;
}

size_t experiment_process_count(const struct experiment *experiment)
{
	size_t count = 0;

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];

		count += !process->is_unrecorded && !experiment_image_before(experiment, process);
	}
	return count;
}

bool experiment_is_guest(const struct experiment *experiment, const struct process *process)
{
	size_t length;

	if (lineage_step(process->lineage, &length) != 'c')
		return false;
	const struct process *host = experiment_find_lineage(experiment, process->lineage, length);

	return host && host->log.pid == process->log.pid && host->log.counters.events;
}

struct read_context process_context(const struct process *process, struct diag_list *diags)
{
	return (struct read_context){process->folder, process->directory, process->name, diags,
				     NULL};
}

bool experiment_is_launcher(const struct process *process)
{
	const char *ranks = experiment_log_setting(&process->log, "ranks");

	return !process->lineage[0] && ranks && !strcmp(ranks, "on");
}

/* From the log, which has it once MPI_Init is over; before that from the lineage. */
int32_t experiment_rank(const struct process *process)
{
	const char *name = process->lineage;
	size_t prefix = strlen(FORMAT_LINEAGE_RANK);
	uint64_t rank;

	for (size_t i = 0; i < process->log.events.count; i++) {
		const struct log_event *event = &process->log.events.items[i];

		if (log_event_is(event, "mpi") && log_event_number(event, "rank", &rank))
			return rank <= INT32_MAX ? (int32_t)rank : -1;
	}
	if (strncmp(name, FORMAT_LINEAGE_RANK, prefix) != 0 || !name[prefix] ||
	    name[prefix + strspn(name + prefix, "0123456789")])
		return -1;
	rank = strtoull(name + prefix, NULL, 10);
	return rank <= INT32_MAX ? (int32_t)rank : -1;
}
