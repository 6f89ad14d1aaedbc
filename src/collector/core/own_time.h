/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector itself takes of the process's CPU time when a recording begins and when it
 * ends, which is not the program's.
 */
#ifndef HELIO_COLLECTOR_OWN_TIME_H
#define HELIO_COLLECTOR_OWN_TIME_H

#include "collector/storage/text.h"

/* From here on the only thread there is works for the collector: a begin. */
void own_time_enter(void);

/* The recording begins here; what the process has used so far came before it. */
void own_time_note_before(void);

/* The program goes on, after a begin: it did not use what the thread took since. */
void own_time_begun(void);

/* At the end: up to here the calling thread worked for the program. */
void own_time_program_ends(void);
/* … its accounts are settled; what it has used meanwhile is not the program's. */
void own_time_settled(void);
/* … and the program goes on, as its exec failed: what it has waited meanwhile is its own. */
void own_time_exec_failed(void);

/* What was used before, and what of that was the collector's own. */
void own_time_put_before(struct text *line);

#endif
