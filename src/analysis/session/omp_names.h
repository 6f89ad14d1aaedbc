/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenMP constructs are called. */
#ifndef HELIO_ANALYSIS_OMP_NAMES_H
#define HELIO_ANALYSIS_OMP_NAMES_H

#include "analysis/session/session_state.h"

/* What is known of a construct of a process, by its number; NULL: nothing. */
const struct omp_construct *omp_construct_of(const struct session_process *process,
					     uint64_t number);

/*
 * By its function, and where that has no name by the first one that has around it, or else by where
 * the program encounters the construct.  Lives as long as the session.
 */
const char *omp_construct_name(struct session *session, const struct session_process *process,
			       uint64_t number, enum name_style style);

#endif
