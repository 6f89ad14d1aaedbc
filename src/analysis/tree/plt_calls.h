/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The procedure linkage table in call stacks.  What a slot takes is its caller's, and what the
 * dynamic linker does to bind a slot is the time of the function @plt of the caller's load
 * object, called from there: the old tool's rules.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_PLT_CALLS_H
#define HELIO_ANALYSIS_PLT_CALLS_H

#include "analysis/session/session_state.h"

/* NAME@plt. */
bool plt_calls_is_slot(const struct session *session, uint32_t function);
/* The dynamic linker's function that slots jump to at their first call. */
bool plt_calls_is_binding(const struct session *session, uint32_t function);

#endif
