/* SPDX-License-Identifier: Apache-2.0 */
/* Control of the recording from outside the program: signals, the size limit, `helio ctl`. */
#ifndef HELIO_COLLECTOR_CONTROL_H
#define HELIO_COLLECTOR_CONTROL_H

#include <stdbool.h>

/* Values of PARAMS_SAMPLE_SIGNAL and so on (format/params.h). */
void control_read_sample_signal(const char *value);
void control_read_pause_signal(const char *value);
void control_read_size_limit(const char *value);
void control_forget_params(void);
/* Once the file `profile` is there: the recording clock lies in it from now on. */
void control_open(void);
/* In the child of a fork, before its parent's files are unmapped. */
void control_forget(void);
/* Makes the signals of -l and -y ours. */
void control_take_signals(void);
/* Writes what handlers have noted and nobody has written. Not in a handler. */
void control_write_notes(void);

/* The rest may be called in a handler. */

/* Stop the clock and let it go on. False: it does already, or is stopped for good. */
bool control_pause(void);
bool control_resume(void);

#endif
