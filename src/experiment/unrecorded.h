/* SPDX-License-Identifier: Apache-2.0 */
/* Descendants that could not be recorded, and the CPU time that others know they used. */
#ifndef HELIO_EXPERIMENT_UNRECORDED_H
#define HELIO_EXPERIMENT_UNRECORDED_H

#include "experiment/process.h"

/* A process, or what became of one, of which nothing was recorded. Strings live in the arena. */
struct unrecorded {
	const char *name;    /* of its program: "static"; or "started by go" */
	const char *program; /* its path, as it was executed; or NULL */
	const char *reason;  /* as it follows "because"; NULL: nobody said */
	const char *lineage; /* of the process that it would have been */
	int64_t ppid;	     /* of the process whose log tells of it */
	int64_t pid;	     /* 0: not known, or several processes */
	uint64_t begin_ns, end_ns;
	uint64_t user_us, system_us;
	bool is_untold; /* nobody knows its CPU time: it was not awaited */
	bool has_status;
	int exit_status, exit_signal;
};

/* What its function's name begins with. */
#define UNRECORDED_PREFIX "<not recorded: "

struct unrecorded_list {
	VEC(struct unrecorded) items;
};

/*
 * What the logs tell.  Empty where descendants were not followed, or not all of them.  To be
 * freed with vec_fini.  Once for an experiment.
 */
void unrecorded_find(struct experiment *experiment, struct unrecorded_list *list);

/*
 * Each becomes a process of the experiment, with its time at <not recorded: NAME>; of more than a
 * thousand those that used least become one, with a function for each name.
 */
void unrecorded_add(struct experiment *experiment);

#endif
