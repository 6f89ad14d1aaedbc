/* SPDX-License-Identifier: Apache-2.0 */
/* Experiment groups (NAME.erg): text files that name experiments, one a line. */
#ifndef HELIO_LAUNCH_GROUP_H
#define HELIO_LAUNCH_GROUP_H

#include "base/status.h"

/* Whether `path` is a group or can become one; creates nothing. STATUS_INVALID: an error says why
 * not. */
enum status group_check(const char *path, struct diag_list *diags);

/*
 * Adds an experiment (an absolute path) to a group, which is made if it is not there.  Several
 * may do so at once.  Whatever goes wrong is a warning: the experiment is there without.
 */
void group_add(const char *path, const char *experiment, struct diag_list *diags);

#endif
