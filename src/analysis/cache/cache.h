/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums that are kept from one run to the next, beside nothing that was recorded: in the user's
 * cache, $XDG_CACHE_HOME/heliometer or ~/.cache/heliometer, one file for each list of
 * experiments.  The environment variable HELIO_CACHE: `off` neither reads nor writes it, `all`
 * keeps the sums of experiments of any size.
 */
#ifndef HELIO_ANALYSIS_CACHE_H
#define HELIO_ANALYSIS_CACHE_H

#include "analysis/session/watch.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct session;

/*
 * A session for functions, their callers and callees, call trees and what is made of those; with
 * code, for lines, instructions and listings too; with inlines, for queries that have inlined
 * calls; and for nothing else: it may have no events.  Kept sums are used where they are of the
 * same files; else this is session_open, after which they are kept.
 */
enum status cache_open(char *const *paths, size_t count, bool with_code, bool with_inlines,
		       struct watch *watch, struct session **out, struct diag_list *diags);
/* Whether a session has no events: it comes from sums that were kept. */
bool cache_is_sums(const struct session *session);
/* Whether it can answer queries that have inlined calls. */
bool cache_has_inlines(const struct session *session);
/* Removes all that is kept; how many files that was. */
size_t cache_clear(void);

#endif
