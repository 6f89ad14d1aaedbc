/* SPDX-License-Identifier: Apache-2.0 */
/* log.xml: what happens to this process, and what is to be said of its recording. */
#ifndef HELIO_COLLECTOR_LOG_H
#define HELIO_COLLECTOR_LOG_H

#include <stdint.h>

struct text;
/* Of this process image: the command, for a descendant's log, and the name that its exec was given
 * (a script's, not its interpreter's) or NULL. */
void log_note_image(char *const *words, const char *executed);
int log_open(void);
/* Begins `<event kind="…" tstamp="…"`; log_event_end closes and appends it. */
void log_event_begin(struct text *line, const char *kind);
void log_event_begin_at(struct text *line, const char *kind, uint64_t time_ns);
void log_event_end(struct text *line);
void log_warning(const char *message, int error);
/* From now on the clock profile is this engine's. */
void log_engine(const char *name);
/* The same, for what ended the recording. */
void log_error(const char *message, int error);

#endif
