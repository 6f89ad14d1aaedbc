/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log names the lineage of each descendant that it began.  Not every one
 * gets a directory: a vfork child that only executes a program has its
 * program's, and one whose exec fails, or whose program cannot be recorded
 * (static, setuid), has none.  So a fork without one is worth a note, and an
 * exec that was not reported as failed a warning.
 */
#include "manage/check.h"

#include <string.h>

/* Whether the lineage, or one that goes on from it, has a directory. */
static bool is_there(const struct experiment *experiment, const char *lineage)
{
	size_t length = strlen(lineage);

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const char *other = experiment->processes.items[i].lineage;

		if (!experiment->processes.items[i].is_unrecorded &&
		    !strncmp(other, lineage, length) && (!other[length] || other[length] == '_'))
			return true;
	}
	return false;
}

static const char *attribute(const struct log_event *event, const char *name)
{
	for (size_t i = 0; i < event->attribute_count; i++)
		if (!strcmp(event->attributes[i].name, name))
			return event->attributes[i].value;
	return NULL;
}

/* Whether the event behind this one says that the exec did not happen. */
static bool has_failed(const struct experiment_log *log, size_t index)
{
	for (size_t i = index + 1; i < log->events.count; i++) {
		const char *kind = log->events.items[i].kind;

		if (!strcmp(kind, "exec_failed"))
			return true;
		if (!strcmp(kind, "exec"))
			return false;
	}
	return false;
}

static void check_event(struct check *check, const struct process *process, size_t index,
			size_t *forks)
{
	const struct log_event *event = &process->log.events.items[index];
	const char *lineage = attribute(event, "lineage");
	const char *name = attribute(event, "name");

	if (!lineage || is_there(check->experiment, lineage))
		return;
	if (!strcmp(event->kind, "exec") && !has_failed(&process->log, index))
		diag_add(&check->warnings, DIAG_WARNING,
			 "%s became %s, which left no experiment %s.er: it could not be recorded, "
			 "or "
			 "its directory was removed",
			 process->name, name ? name : "another program", lineage);
	else if (strcmp(event->kind, "exec") != 0)
		++*forks;
}

void check_descendants(struct check *check)
{
	const struct experiment *experiment = check->experiment;
	const char *follow = experiment_log_setting(&experiment->processes.items[0].log, "follow");
	size_t forks = 0;

	if (experiment->processes.items[0].lineage[0] || (follow && strcmp(follow, "on") != 0))
		return;
	for (size_t i = 0; i < experiment->processes.count; i++)
		for (size_t k = 0; k < experiment->processes.items[i].log.events.count; k++)
			check_event(check, &experiment->processes.items[i], k, &forks);
	if (forks)
		diag_add(&check->notes, DIAG_NOTE,
			 "%zu child processes left no experiment: they ended before they began to "
			 "record, or could not be recorded",
			 forks);
}
