/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/ending.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "experiment/experiment.h"
#include "experiment/lives.h"
#include "experiment/unrecorded.h"
#include "manage/tree.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED = 3 };

/* Programs of one name. */
struct program {
	const char *name;
	double seconds;
	size_t processes; /* whose CPU time is known */
	size_t untold;	  /* … and is not */
};

static int compare_programs(const void *a, const void *b)
{
	const struct program *first = a, *second = b;

	return (first->seconds < second->seconds) - (first->seconds > second->seconds);
}

static void describe_program(struct strbuf *text, const struct program *program)
{
	if (!program->processes) {
		strbuf_printf(text, "%s, whose CPU time is not known", program->name);
		return;
	}
	strbuf_printf(text, "%s %.3f s of CPU time", program->name, program->seconds);
	/* each may have started others that were not recorded either */
	if (program->processes > 1)
		strbuf_printf(text, " in at least %zu processes", program->processes);
	if (program->untold)
		strbuf_printf(text, ", and %zu whose CPU time is not known", program->untold);
}

static char *describe(const struct unrecorded_list *list)
{
	VEC(struct program) programs = {0};
	struct string_table names = {0};
	struct strbuf text = {0};

	for (size_t i = 0; i < list->items.count; i++) {
		const struct unrecorded *item = &list->items.items[i];
		uint32_t number = string_table_add(&names, item->name);

		if (number == programs.count)
			vec_push(&programs)->name = item->name;
		programs.items[number].seconds += (double)(item->user_us + item->system_us) / 1e6;
		programs.items[number].processes += !item->is_untold;
		programs.items[number].untold += item->is_untold;
	}
	if (programs.count)
		qsort(programs.items, programs.count, sizeof(*programs.items), compare_programs);
	for (size_t i = 0; i < programs.count && i < NAMED; i++) {
		strbuf_puts(&text, i ? ", " : "");
		describe_program(&text, &programs.items[i]);
	}
	if (programs.count > NAMED)
		strbuf_printf(&text, " and %zu other programs", programs.count - NAMED);
	vec_fini(&programs);
	string_table_fini(&names);
	return strbuf_steal(&text);
}

/* Whether it tells of a loss; that the founder could not be begun is the launcher's to tell. */
static bool tells_failure(const struct log_event *event, bool founder)
{
	bool error = log_event_attribute(event, "errno");

	if (!log_event_attribute(event, "text"))
		return false;
	return strcmp(event->kind, "error") ? !strcmp(event->kind, "warning") && error
					    : !founder || !error;
}

static const struct log_event *failure_of(const struct experiment_log *log, bool founder)
{
	for (size_t i = 0; i < log->events.count; i++)
		if (tells_failure(&log->events.items[i], founder))
			return &log->events.items[i];
	return NULL;
}

/* What a process could not do in the recording, and why; the first one stands for all. */
static char *describe_failures(const struct experiment *experiment)
{
	const struct log_event *first = NULL;
	struct strbuf text = {0};
	size_t failed = 0;

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];
		const struct log_event *event = experiment_is_guest(experiment, process)
							? NULL
							: failure_of(&process->log, !i);

		failed += event != NULL;
		first = first ? first : event;
	}
	if (!first)
		return NULL;
	const char *error = log_event_attribute(first, "errno");

	strbuf_puts(&text, log_event_attribute(first, "text"));
	if (error)
		strbuf_printf(&text, ": %s", strerror((int)strtol(error, NULL, 10)));
	if (failed > 1)
		strbuf_printf(&text, " (and in %zu other processes: see helio check)", failed - 1);
	return strbuf_steal(&text);
}

/* What the launcher has not found in its log. */
static void count_traced(const struct process *process, struct manage_ending *ending)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		ending->uncounted_traced[kind] += process_traced(process, (enum trace_kind)kind) -
						  process->log.counters.traced[kind];
}

/* A process that leaves by a raw system call, as Go does, or is killed, writes no numbers. */
static void count_events(const struct experiment *experiment, struct manage_ending *ending)
{
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];

		count_traced(process, ending);
		if (process->log.counters.present || !process->log.has_process)
			continue;
		struct image_use use = lives_read_use(process);

		ending->uncounted += use.events;
		ending->uncounted_us += use.cpu_us;
		ending->uncounted_own_us += process->log.left.collector_us;
	}
}

void manage_ending_read(int folder, const char *path, struct manage_ending *ending)
{
	struct diag_list errors = {0}, warnings = {0};
	struct unrecorded_list list;
	struct experiment *experiment;

	*ending = (struct manage_ending){.archive_bytes =
						 tree_bytes_below(folder, FORMAT_DIR_ARCHIVES)};
	if (!experiment_open_logs_in(folder, path, &experiment, &errors, &warnings)) {
		unrecorded_find(experiment, &list);
		if (list.items.count)
			ending->unrecorded = describe(&list);
		ending->failed = describe_failures(experiment);
		count_events(experiment, ending);
		vec_fini(&list.items);
		experiment_free(experiment);
	}
	diag_fini(&errors);
	diag_fini(&warnings);
}

void manage_ending_fini(struct manage_ending *ending)
{
	free(ending->unrecorded);
	free(ending->failed);
}
