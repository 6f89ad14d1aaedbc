/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenMP constructs are called. */
#ifndef HELIO_ANALYSIS_OMP_NAMES_H
#define HELIO_ANALYSIS_OMP_NAMES_H

#include "analysis/session/session_state.h"

/* What is known of a construct of a process, by its number; NULL: nothing. */
const struct omp_construct *omp_construct_of(const struct session_process *process,
					     uint64_t number);

/* The region, or explicit task, that threads in a construct are in: itself, or one around it; 0:
 * none. */
uint64_t omp_nearest(const struct session_process *process, uint64_t number, bool task);

/* The session's number of a process's construct, which is made: while the process is opened. */
uint32_t omp_number_make(struct session *session, size_t process, uint32_t construct,
			 const struct omp_construct *as);
/* … that it has, by its number in the process; one that was not recorded has one behind all. */
uint64_t omp_number(const struct session *session, const struct session_process *process,
		    uint64_t construct);
/* A construct that has the session's number. */
struct omp_numbered omp_numbered(const struct session *session, uint64_t number);
void omp_numbers_fini(struct omp_numbers *numbers);

/*
 * By its function, and where that has no name by the first one that has around it, or else by where
 * the program encounters the construct.  Lives as long as the session.
 */
const char *omp_construct_name(struct session *session, const struct session_process *process,
			       uint64_t number, enum name_style style);

#endif
