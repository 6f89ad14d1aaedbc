/* SPDX-License-Identifier: Apache-2.0 */
/* log.xml, and how files of the experiment are made. */
#ifndef HELIO_COLLECTOR_LOG_H
#define HELIO_COLLECTOR_LOG_H

#include <stddef.h>
#include <stdint.h>

struct text;
/* Of this process image: the command, for a descendant's log, and the name that its exec was given
 * (a script's, not its interpreter's) or NULL. */
void log_note_image(char *const *words, const char *executed);
int log_open(void);
/* Creates a binary file of the experiment with its header. 0 or negative errno. */
enum { LOG_HEADER = 1024 };
int log_create(const char *file, const char *description);
/* The same with the file's first `size` bytes, at most LOG_HEADER, in the same write. */
int log_create_with(const char *file, const char *description, const void *first, size_t size);
/* Names the files below; after each change of collector.directory. */
void log_name_files(void);
/* Opens a file of the experiment to read and append to; a descriptor or negative errno. */
int log_open_file(const char *file, int flags);
/* Appends whole lines. 0 or negative errno. */
int log_append(const char *file, struct text *line);
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
