/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments read into memory (process.h).  Nothing here knows metrics or function names.
 */
#ifndef HELIO_EXPERIMENT_EXPERIMENT_H
#define HELIO_EXPERIMENT_EXPERIMENT_H

#include "experiment/process.h"

#include <limits.h>

/*
 * Opens PATH with all descendants.  What can be read is read; doubts about the
 * result go to `warnings`.  On failure the reason is in `errors`:
 * STATUS_NOTFOUND (no such directory), STATUS_INVALID (no experiment, or one of
 * another tool or a newer version).  A doubt is about the process of that number.
 */
enum status experiment_open(const char *path, struct experiment **out, struct diag_list *errors,
			    struct diag_list *warnings);
/*
 * The ranks of an MPI program, in their order with their descendants each, are the units of an
 * experiment; all else belongs to the first, and an experiment without ranks is one unit.
 */
size_t experiment_count_units(const char *path);
/*
 * As experiment_open, but only units [from, to) are read: of the other processes there is the log,
 * and no doubt about them is told.
 */
enum status experiment_open_share(const char *path, size_t from, size_t to, struct experiment **out,
				  struct diag_list *errors, struct diag_list *warnings);
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
