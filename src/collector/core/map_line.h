/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_MAP_LINE_H
#define HELIO_COLLECTOR_MAP_LINE_H

#include <stdint.h>

/* A line of /proc/self/maps. */
struct map_line {
	uint64_t start, end;
	uint64_t offset;   /* in the file */
	const char *modes; /* "r-xp" and what follows in the line */
	const char *path;  /* "" where there is none, "[heap]" */
};

#endif
