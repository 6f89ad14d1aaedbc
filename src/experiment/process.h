/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment in memory: the founder's process and all its descendants, each
 * with its files as tables; and processes by their lineages, which they are sorted by.
 */
#ifndef HELIO_EXPERIMENT_PROCESS_H
#define HELIO_EXPERIMENT_PROCESS_H

#include "experiment/contexts.h"
#include "experiment/heap.h"
#include "experiment/log.h"
#include "experiment/map.h"
#include "experiment/objects.h"
#include "experiment/overview.h"
#include "experiment/profile.h"
#include "experiment/stacks.h"
#include "experiment/trace.h"

/* One process image. Strings live in the experiment's arena. */
struct process {
	const char *path;      /* for messages; files are reached by folder and directory */
	int folder;	       /* the experiment's */
	const char *directory; /* below it; "" for the process that was opened */
	const char *name;      /* "test.1.er", "test.1.er/_f1.er" */
	const char *lineage;   /* "" for the founder */
	bool is_unrecorded;    /* it has no files: see unrecorded.h */
	bool is_untold;	       /* … and nobody knows its CPU time */
	bool is_elsewhere;     /* another share has its data: experiment_open_share() */
	uint32_t number;       /* what a diag about it says, from 1; 0: it is unrecorded */
	struct experiment_log log;
	struct experiment_map map;
	struct experiment_overview overview;
	struct experiment_profile profile;
	struct experiment_trace traces[TRACE_KINDS];
	struct experiment_heap heap;
	struct experiment_objects objects;
	struct stack_tree stacks;
	struct context_table contexts; /* what ROW_CONTEXT of events means */
};

struct experiment {
	struct arena arena;
	const char *path;
	const char *name;
	int folder;	      /* what `path` led to when it was opened (base/folder.h) */
	int family;	      /* the founder's: the same, or around it if a descendant was opened */
	const char *archives; /* directory of kept load objects, whether it exists or not */
	const char *notes;    /* or NULL */
	uint32_t numbers;     /* of processes, given so far */
	VEC(struct process) processes; /* the founder, then by lineage: _f1, _f1_x1, _f2, _f10 */
	struct lives *lives;	       /* lives.h; NULL once processes were added */
};

/* The process of a lineage's first `length` characters, or NULL. */
const struct process *experiment_find_lineage(const struct experiment *experiment,
					      const char *lineage, size_t length);
/* The image that a process was before its last exec, or NULL: that, or the exec, was not recorded.
 */
const struct process *experiment_image_before(const struct experiment *experiment,
					      const struct process *process);
/*
 * Whether it is a program that another process executes as an emulator: that one has its time, and
 * what could not be recorded here is recorded there.
 */
bool experiment_is_guest(const struct experiment *experiment, const struct process *process);
/* The rank of an MPI program's process in MPI_COMM_WORLD; -1: it is none, or not known to be. */
int32_t experiment_rank(const struct process *process);
/* Whether it is a founder of which only the ranks that it starts were to be recorded. */
bool experiment_is_launcher(const struct process *process);
/* The processes that were recorded, each once, however many images it has. */
size_t experiment_process_count(const struct experiment *experiment);
/* Where a process's files are. */
struct read_context process_context(const struct process *process, struct diag_list *diags);

#endif
