/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of experiments made by many processes at once, such as the ranks of an MPI job, and kept
 * where cache_open() would keep them.  The numbers, and the order of functions and call trees, are
 * the same for any number of processes; warnings, and load objects without events, may come in
 * another order.
 */
#ifndef HELIO_ANALYSIS_CACHE_INDEX_H
#define HELIO_ANALYSIS_CACHE_INDEX_H

#include "analysis/session/session.h"
#include "base/strbuf.h"

struct cache_sign;

/*
 * Makes the sums of one share, and merges those of others with them: number 0 returns when the file
 * is there, the others when theirs are handed over.  They meet in the user's cache, which all of
 * them have to see.  waiting() is told once of a share that does not come.  Errors are in diags;
 * that of a share is the error of all that wait for it.
 */
enum status cache_index(char *const *paths, size_t count, const struct session_share *share,
			void (*waiting)(unsigned share), struct diag_list *diags);
/* The body of a file of two sessions that were loaded from files, the first one's shares first. */
void cache_index_merge(struct strbuf *body, struct session *first, struct session *second,
		       const struct cache_sign *sign);

#endif
