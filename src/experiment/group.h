/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of experiments as people give them: directories, and group files
 * (NAME.erg), whose first line is "#analyzer experiment group", then one name per
 * line, relative to the file; other lines with # are comments.
 */
#ifndef HELIO_EXPERIMENT_GROUP_H
#define HELIO_EXPERIMENT_GROUP_H

#include "base/status.h"
#include "format/format.h"

#include <stdbool.h>
#include <stddef.h>

#define GROUP_MAGIC FORMAT_GROUP_MAGIC

/* Zero-initialised is empty. */
struct experiment_paths {
	char **items;
	size_t count;
	size_t capacity;
};

bool experiment_is_group(const char *path);
/* Adds an experiment, or all experiments of a group file. */
void experiment_paths_add(struct experiment_paths *paths, const char *path);
/* Leaves out, with a warning each, what is the same directory or file as one before. */
void experiment_paths_drop_twins(struct experiment_paths *paths, struct diag_list *diags);
void experiment_paths_fini(struct experiment_paths *paths);

#endif
