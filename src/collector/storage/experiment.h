/* SPDX-License-Identifier: Apache-2.0 */
/* The files of this process's experiment that are no data files, by their names. */
#ifndef HELIO_COLLECTOR_EXPERIMENT_H
#define HELIO_COLLECTOR_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>

struct text;
/* Creates a binary file of the experiment with its header. 0 or negative errno. */
enum { EXPERIMENT_HEADER = 1024 };
int experiment_create(const char *file, const char *description);
/* The same with the file's first `size` bytes, at most EXPERIMENT_HEADER, in the same write. */
int experiment_create_with(const char *file, const char *description, const void *first,
			   size_t size);
/* Names the files below; after each change of collector.directory. */
void experiment_name_files(void);
/* Opens a file of the experiment to read and append to; a descriptor or negative errno. */
int experiment_open_file(const char *file, int flags);
/* Appends whole lines. 0 or negative errno. */
int experiment_append(const char *file, struct text *line);

#endif
