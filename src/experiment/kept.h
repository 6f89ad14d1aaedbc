/* SPDX-License-Identifier: Apache-2.0 */
/* What archive.log tells of files that could not be kept in archives/. */
#ifndef HELIO_EXPERIMENT_KEPT_H
#define HELIO_EXPERIMENT_KEPT_H

#include "base/hash.h"
#include "base/memory.h"
#include "experiment/experiment.h"

#include <stdbool.h>
#include <stddef.h>

/* Files that could not be copied, and were not copied later. */
struct not_kept {
	struct string_table paths;
	VEC(char *) reasons; /* by number in `paths`; NULL: it was copied later */
	size_t count;	     /* of those that are not NULL */
	bool is_empty;	     /* the log has nothing in it: it could not be written either */
};

/* Reads the log in the founder's folder (base/folder.h); without one nothing was asked for. */
void not_kept_read(int folder, struct not_kept *out);
void not_kept_fini(struct not_kept *list);
/* Warns of them. */
void experiment_check_kept(const struct experiment *experiment, struct diag_list *warnings);

#endif
