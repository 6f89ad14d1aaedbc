/* SPDX-License-Identifier: Apache-2.0 */
/* Events grouped by a value: the engine of index objects. Private to this module. */
#ifndef HELIO_ANALYSIS_INDEX_GROUP_H
#define HELIO_ANALYSIS_INDEX_GROUP_H

#include "analysis/index/index.h"
#include "analysis/index/index_cells.h"
#include "analysis/tree/tally.h"

#define INDEX_UNKNOWN UINT64_MAX

/* Groups are numbered in the order of their values; each has an amount of at least one measure,
 * which is 0 where no event is. */
struct index_groups {
	VEC(uint64_t) values;			 /* ascending: INDEX_UNKNOWN is the last */
	struct index_cells cells[MEASURE_COUNT]; /* value: the group's number */
};

/* collections: each of the processes' garbage collections is a group, if one without an event. */
void index_group(const struct tally *tally, const struct filter_program *program, bool collections,
		 struct index_groups *groups);
/* The metric's value of every group, in units of its measure; the caller frees the array. */
uint64_t *index_group_values(const struct index_groups *groups, const struct metric *metric);
void index_groups_fini(struct index_groups *groups);

/* How a value is written as the name of a row. */
enum index_label {
	LABEL_NUMBER,	   /* "TITLE 17" */
	LABEL_THREAD,	   /* process and thread */
	LABEL_JAVA_THREAD, /* the same with its group; 0: none of Java */
	LABEL_CPU,
	LABEL_SAMPLE, /* process and sample */
	LABEL_SECOND,
	LABEL_PROCESS,
	LABEL_EXPERIMENT, /* its id in the middle of the value */
	LABEL_SIZE,
	LABEL_DURATION,
	LABEL_ADDRESS,
	LABEL_ADDRESS_BY_MODEL, /* the same, of an object that a machine model brought */
	LABEL_NODE,
	LABEL_OMP,	  /* process and construct */
	LABEL_JAVA_CLASS, /* of sampled objects */
	LABEL_COLLECTION, /* process and garbage collection; 0: none */
	LABEL_MPI_RANK,
	LABEL_MPI_COMM, /* its number in mpicomms */
	LABEL_MPI_TAG,
	LABEL_MPI_FUNCTION,
};

const struct index_object *index_object_at(const struct session *session, enum index_family family,
					   size_t index);
/* As view_index. */
void index_table(struct session *session, const struct index_object *object,
		 const struct query *query, struct table *table, struct diag_list *diags);

/* "Process 1, Thread 2 (tid 123)", in MPI "(rank 0, tid 123)", of process id << 32 | number. */
const char *index_thread_label(const struct session *session, struct arena *arena, uint64_t value);

#endif
