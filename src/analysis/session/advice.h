/* SPDX-License-Identifier: Apache-2.0 */
/* What warnings advise, by the language of what was recorded. */
#ifndef HELIO_ANALYSIS_ADVICE_H
#define HELIO_ANALYSIS_ADVICE_H

struct session;

/* The end of a sentence on code that has no name, "" where nothing can be advised; the session's.
 */
const char *advice_for_unknown(struct session *session);

#endif
