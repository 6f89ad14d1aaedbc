/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of experiments made by many processes at once, such as the ranks of an MPI job, and kept
 * as cache_open() would keep them: the same file, to the last byte, for any number of processes
 * but for the order of what is equal.
 */
#ifndef HELIO_ANALYSIS_CACHE_INDEX_H
#define HELIO_ANALYSIS_CACHE_INDEX_H

#include "analysis/session/session.h"

/*
 * Makes the sums of one share, and merges those of others with them: number 0 returns when the file
 * is there, the others when theirs are handed over.  They meet in the user's cache, which all of
 * them have to see.  waiting() is told once of a share that does not come.  Errors are in diags.
 */
enum status cache_index(char *const *paths, size_t count, const struct session_share *share,
			void (*waiting)(unsigned share), struct diag_list *diags);

#endif
