/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a list of experiments, as a file keeps them (cache.c).  Private to this module. */
#ifndef HELIO_ANALYSIS_CACHE_SUMS_H
#define HELIO_ANALYSIS_CACHE_SUMS_H

#include "analysis/cache/cache_file.h"
#include "analysis/metric/measure.h"
#include "analysis/tree/call_tree.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct session;

#define CACHE_SUMS_ENDING  ".sums"
#define CACHE_SHARE_ENDING ".share" /* of a process that makes them together with others */

/* What tells that the sums still hold: of the experiments, and how load objects are looked at. */
struct cache_sign {
	char *experiments; /* the caller's to free */
	enum cache_scope scope;
};

/* What names the file of a list of experiments (cache_name()). */
char *cache_sums_key(char *const *paths, size_t count);
struct cache_sign cache_sums_sign(char *const *paths, size_t count, enum cache_scope scope);
/* Whether the sums of user mode are all that is needed of them; others are made of events. */
bool cache_sums_may_keep(const struct session *session);
/* The body of the file, of a session that nothing has been chosen in. */
void cache_sums_put(struct strbuf *body, struct session *session, const struct cache_sign *sign,
		    bool with_inlines);
/* The same of a session whose sums are there already: without inlined calls, and with; or empty. */
void cache_sums_compose(struct strbuf *body, struct session *session, const struct cache_sign *sign,
			const struct strbuf *sums, const struct strbuf *inlined);
void cache_sums_put_tree(struct strbuf *out, const struct call_tree *tree,
			 const struct finished_sums *weights);
/* A session of what a file has; NULL: there is none, or it does not hold. */
struct session *cache_sums_load(const char *name, const struct cache_sign *sign, bool with_inlines);

#endif
