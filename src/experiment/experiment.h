/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment in memory: the founder's process and all its descendants, each
 * with its files as tables.  Nothing here knows metrics or function names.
 */
#ifndef HELIO_EXPERIMENT_EXPERIMENT_H
#define HELIO_EXPERIMENT_EXPERIMENT_H

#include "experiment/heap.h"
#include "experiment/log.h"
#include "experiment/map.h"
#include "experiment/overview.h"
#include "experiment/profile.h"
#include "experiment/stacks.h"
#include "experiment/trace.h"

#include <limits.h>

/* One process image. Strings live in the experiment's arena. */
struct process {
	const char *path;      /* for messages; files are reached by folder and directory */
	int folder;	       /* the experiment's */
	const char *directory; /* below it; "" for the process that was opened */
	const char *name;      /* "test.1.er", "test.1.er/_f1.er" */
	const char *lineage;   /* "" for the founder */
	bool is_unrecorded;    /* it has no files: see unrecorded.h */
	uint32_t number;       /* what a diag about it says, from 1; 0: it is unrecorded */
	struct experiment_log log;
	struct experiment_map map;
	struct experiment_overview overview;
	struct experiment_profile profile;
	struct experiment_trace traces[TRACE_KINDS];
	struct experiment_heap heap;
	struct stack_tree stacks;
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

/*
 * Opens PATH with all descendants.  What can be read is read; doubts about the
 * result go to `warnings`.  On failure the reason is in `errors`:
 * STATUS_NOTFOUND (no such directory), STATUS_INVALID (no experiment, or one of
 * another tool or a newer version).  A doubt is about the process of that number.
 */
enum status experiment_open(const char *path, struct experiment **out, struct diag_list *errors,
			    struct diag_list *warnings);
/*
 * As experiment_open, but only log.xml of each process is read: who they are
 * and what became of them.  The callers that need more read it themselves into
 * the fields of struct process.  An experiment of gprofng is read as a whole.
 */
enum status experiment_open_logs(const char *path, struct experiment **out,
				 struct diag_list *errors, struct diag_list *warnings);
/* The same of a directory that is open, a folder of base/folder.h; -1: of `path`. */
enum status experiment_open_logs_in(int folder, const char *path, struct experiment **out,
				    struct diag_list *errors, struct diag_list *warnings);
void experiment_free(struct experiment *experiment);

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
/* The processes that were recorded, each once, however many images it has. */
size_t experiment_process_count(const struct experiment *experiment);

/* Where a process's files are. */
struct read_context process_context(const struct process *process, struct diag_list *diags);
/* The name of a load object's copy in archives/, or of a link to it, that can be read; false: none.
 */
bool experiment_find_copy(const struct experiment *experiment, const struct map_file *file,
			  char name[NAME_MAX + 1]);

/*
 * Ends that others than the process itself know of; the last waits of its threads reach to them.
 * What cannot be so is told of, and left out.
 */
void experiment_settle_ends(struct experiment *experiment, struct diag_list *warnings);

/*
 * Events of all kinds that were not recorded.  Blocks tell what found no room; the log, of a
 * process that closed it, also what came too early.
 */
uint64_t process_dropped(const struct process *process);

/*
 * How many events of a kind it has traced: as it counted them at its end, which the log has.  One
 * that was killed, or still runs, has not: then those in its file.
 */
uint64_t process_traced(const struct process *process, enum trace_kind kind);

/* Doubts that need several files at once: counters against events, lives against weights, ends. */
void experiment_check(const struct experiment *experiment, struct diag_list *warnings);
/* Traces that are not there, or have fewer events than the process counted. */
void experiment_check_traces(const struct process *process, struct diag_list *diags);

#endif
