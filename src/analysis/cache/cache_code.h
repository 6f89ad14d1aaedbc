/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of the code below functions, beside the sums. */
#ifndef HELIO_ANALYSIS_CACHE_CODE_H
#define HELIO_ANALYSIS_CACHE_CODE_H

#include "analysis/session/session_state.h"

/* Added to the path of the sums, so that both go together. */
#define CACHE_CODE_ENDING ".code"

/*
 * Gives a session whose sums come from the cache its load objects' files, and its code from
 * session->code_name.  False: that is not of these sums, or there is none.
 */
bool cache_load_code(struct session *session);
/*
 * Keeps what a session of cache_open() with code has learned of it.  Nothing may have been chosen
 * in the session.
 */
void cache_keep_code(struct session *session);

#endif
