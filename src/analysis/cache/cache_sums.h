/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a list of experiments, as a file keeps them (cache.c).  Private to this module. */
#ifndef HELIO_ANALYSIS_CACHE_SUMS_H
#define HELIO_ANALYSIS_CACHE_SUMS_H

#include "analysis/metric/measure.h"
#include "analysis/tree/call_tree.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct session;

#define CACHE_SUMS_ENDING ".sums"

/* What names the file of a list of experiments (cache_name()), and what tells that it still holds.
 */
char *cache_sums_key(char *const *paths, size_t count);
char *cache_sums_describe(char *const *paths, size_t count);
/* The body of the file, of a session that nothing has been chosen in. */
void cache_sums_put(struct strbuf *body, struct session *session, const char *experiments,
		    bool with_inlines);
/* The same of a session whose sums are there already: without inlined calls, and with; or empty. */
void cache_sums_compose(struct strbuf *body, struct session *session, const char *experiments,
			const struct strbuf *sums, const struct strbuf *inlined);
void cache_sums_put_tree(struct strbuf *out, const struct call_tree *tree,
			 const struct finished_sums *weights);
/* A session of what a file has; NULL: there is none, or it does not hold. */
struct session *cache_sums_load(const char *name, const char *experiments, bool with_inlines);

#endif
