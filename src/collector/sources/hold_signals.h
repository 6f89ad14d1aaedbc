/* SPDX-License-Identifier: Apache-2.0 */
/* A time in which no signal of ours reaches the program. */
#ifndef HELIO_COLLECTOR_HOLD_SIGNALS_H
#define HELIO_COLLECTOR_HOLD_SIGNALS_H

/* Time stays pending until the end. */
void hold_signals_begin(void);
void hold_signals_end(void);

#endif
