/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time of a process before its recording began: of its exec and of the loading of its
 * libraries, the collector's among them.  The recorded rest and this are all that the program
 * used: what the collector took for its own begin and end is in neither.  A process that was
 * recorded before it became another program by exec has used some of that there; its log has how
 * much.  Of an exec that no log tells of, what the process did before was left out on purpose: its
 * recording was terminated, or the program was not selected.  Nothing of that counts.
 *
 * A program that cannot be recorded may execute one that can be, in the same process.  The first
 * exec is in the log of the image before; the second one nobody saw, but the image that it began
 * knows by what name it was executed.  If that is not the name which the first exec was given,
 * there was a program between, and has the time.  Where both may be one exec nothing is claimed:
 * - a name without a slash is looked for in PATH, one in a directory by its descriptor has that in
 *   front of it, and a library that makes programs believe in another root puts that there;
 * - libc's execvp has the shell run a file that is neither a program nor begins with #!;
 * - a name was too long for the log.
 * A link or a script is executed by its own name.
 */
#include "experiment/before.h"

#include "base/hash.h"
#include "experiment/lives.h"
#include "format/lineage.h"

#include <paths.h>
#include <stdlib.h>
#include <string.h>

/* ---- the execs that logs tell of ---- */

/* One that gave its lineage to what it executed. */
struct told_exec {
	const struct process *teller;
	const struct log_event *event; /* exec, child_exec or spawn */
	const struct process *image; /* the first of that process that was recorded then, or NULL */
};

struct execs {
	const struct experiment *experiment;
	struct string_table lineages;
	VEC(struct told_exec) items; /* by number in `lineages`: the last one that gave it */
};

static void add_exec(struct execs *execs, const struct process *teller,
		     const struct log_event *event)
{
	const char *lineage = log_event_attribute(event, "lineage");

	if (!lineage || (!log_event_is(event, "exec") && !log_event_is(event, "child_exec") &&
			 !log_event_is(event, "spawn")))
		return;
	uint32_t number = string_table_add(&execs->lineages, lineage);

	if (number == execs->items.count)
		vec_push(&execs->items);
	execs->items.items[number] = (struct told_exec){.teller = teller, .event = event};
}

/* Whether the exec was the process's own: a program between may have passed the name to a child. */
static bool is_same_process(const struct execs *execs, const struct told_exec *exec,
			    const struct process *process)
{
	uint64_t pid;

	if (log_event_is(exec->event, "exec"))
		return experiment_image_before(execs->experiment, process) == exec->teller;
	return log_event_number(exec->event, "pid", &pid) && (int64_t)pid == process->log.own_pid;
}

static struct told_exec *find_exec(const struct execs *execs, const struct process *process)
{
	char *name = lives_given_name(process);
	uint32_t number = string_table_find(&execs->lineages, name);

	free(name);
	return number == HASH_NONE ? NULL : &execs->items.items[number];
}

/* By their names, so that of those which found one name the first to take it comes first. */
static void find_images(struct execs *execs)
{
	for (size_t i = 0; i < execs->experiment->processes.count; i++) {
		const struct process *process = &execs->experiment->processes.items[i];
		struct told_exec *exec = find_exec(execs, process);

		if (exec && !exec->image && is_same_process(execs, exec, process))
			exec->image = process;
	}
}

static void read_execs(struct execs *execs, const struct experiment *experiment)
{
	*execs = (struct execs){.experiment = experiment};
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];

		for (size_t k = 0; k < process->log.events.count; k++)
			add_exec(execs, process, &process->log.events.items[k]);
	}
	find_images(execs);
}

static void free_execs(struct execs *execs)
{
	string_table_fini(&execs->lineages);
	vec_fini(&execs->items);
}

/* Whether the name is the other one, maybe with more directories before it. */
static bool ends_with(const char *name, const char *other)
{
	size_t length = strlen(name), end = strlen(other);

	return length == end ? !strcmp(name, other)
			     : length > end && !strcmp(name + length - end, other) &&
				       (*other == '/' || name[length - end - 1] == '/');
}

static bool is_cut(const char *name)
{
	size_t length = strlen(name);

	return length >= 3 && !strcmp(name + length - 3, "...");
}

static bool may_be_one(const char *asked, const struct experiment_log *log)
{
	const char *executed = log->executed_name;

	if (ends_with(executed, asked) || is_cut(executed) || is_cut(asked))
		return true;
	return !strcmp(executed, _PATH_BSHELL) && log->arguments.count > 1 &&
	       ends_with(log->arguments.items[1], asked);
}

static const struct told_exec *find_between(const struct execs *execs,
					    const struct process *process)
{
	const struct told_exec *exec = find_exec(execs, process);
	const char *asked = exec ? log_event_attribute(exec->event, "name") : NULL;

	return asked && *asked && exec->image == process && process->log.executed_name &&
			       !may_be_one(asked, &process->log)
		       ? exec
		       : NULL;
}

/* ---- the time ---- */

/* Without what the collector's begin took, and the image before had used.  False: nobody knows. */
static bool read_before(const struct experiment *experiment, const struct process *process,
			uint64_t *user_us, uint64_t *system_us)
{
	const struct log_counters *own = &process->log.counters;
	const struct process *before = experiment_image_before(experiment, process);
	uint64_t all_us = own->before_user_us + own->before_system_us;
	uint64_t left_out_us = own->before_own_us;

	if (!own->has_before || all_us > own->process_cpu_ns / 1000 ||
	    (before && !before->log.counters.has_process_cpu))
		return false;
	if (before)
		left_out_us += before->log.counters.process_cpu_ns / 1000;
	all_us -= left_out_us < all_us ? left_out_us : all_us;
	*user_us = profile_user_part(all_us, own->before_user_us, own->before_system_us);
	*system_us = all_us - *user_us;
	return true;
}

static bool is_told(const struct execs *execs, const struct process *process)
{
	size_t length;

	return lineage_step(process->lineage, &length) != 'x' || find_exec(execs, process);
}

void before_add(struct experiment *experiment)
{
	struct execs execs;
	uint64_t user_us, system_us;

	read_execs(&execs, experiment);
	for (size_t i = 0; i < experiment->processes.count; i++) {
		struct process *process = &experiment->processes.items[i];

		if (is_told(&execs, process) && !find_between(&execs, process) &&
		    read_before(experiment, process, &user_us, &system_us))
			experiment_profile_add_before(
				&process->profile, user_us, system_us,
				experiment_stacks_stand_in(&process->stacks, FORMAT_PC_BEFORE));
	}
	free_execs(&execs);
}

void before_find_between(const struct experiment *experiment, struct between_list *list)
{
	struct execs execs;
	uint64_t user_us, system_us;

	*list = (struct between_list){0};
	read_execs(&execs, experiment);
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *next = &experiment->processes.items[i];
		const struct told_exec *exec = find_between(&execs, next);

		if (exec && read_before(experiment, next, &user_us, &system_us))
			*vec_push(&list->items) = (struct between){exec->teller, exec->event, next,
								   user_us, system_us};
	}
	free_execs(&execs);
}
