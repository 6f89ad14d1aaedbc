/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that a run-time's compiler made, and told other tools of. */
#ifndef HELIO_LAUNCH_JIT_H
#define HELIO_LAUNCH_JIT_H

#include "base/status.h"
#include "launch/run/family.h"

/*
 * After the end of a member's process: what it wrote for perf, /tmp/perf-PID.map or jit-PID.dump in
 * the directory where it began, goes into its map.xml as functions made at run time, their code
 * and lines into its dyntext.  Files that
 * are older than the recording are another process's and are left alone.  These files do not tell
 * the end of a function: of two at one address the last one is taken to have been there always.
 * log: the member's, or NULL.
 */
void jit_add_functions(const struct family *family, const struct member *member, const char *log,
		       struct diag_list *diags);

#endif
