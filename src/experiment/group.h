/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of experiments as people give them: directories, and group files
 * (NAME.erg), whose first line is "#analyzer experiment group", then one name per
 * line, relative to the file; other lines with # are comments.
 */
#ifndef HELIO_EXPERIMENT_GROUP_H
#define HELIO_EXPERIMENT_GROUP_H

#include "base/hash.h"
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
/* Whether it is one by its name too: what changes experiments takes nothing else for a group. */
bool experiment_is_named_group(const char *path);
/* Adds an experiment, or all experiments of a group file. */
void experiment_paths_add(struct experiment_paths *paths, const char *path);
/*
 * The same for what changes experiments.  A group is known by its name too, and must be a file that
 * only this user or root can write, and no link: another user's could name what is not theirs.
 * False: it is refused, and an error says why.
 */
bool experiment_paths_add_own(struct experiment_paths *paths, const char *path,
			      struct diag_list *diags);
/* Leaves out, with a warning each, what is the same directory or file as one before. */
void experiment_paths_drop_twins(struct experiment_paths *paths, struct diag_list *diags);
/* The same where `before` has what others had before, and has these too from then on. */
void experiment_paths_drop_known(struct experiment_paths *paths, struct hash_map *before,
				 struct diag_list *diags);
void experiment_paths_fini(struct experiment_paths *paths);

#endif
