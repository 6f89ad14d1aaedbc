/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of processes in an experiment: docs/format.md, "Lineage".
 *
 * After a step of 'x' a process goes on as another image: the own_pid of both is one.  Where it is
 * not, another process stands between that was not recorded and passed on the name which it found.
 */
#ifndef HELIO_FORMAT_LINEAGE_H
#define HELIO_FORMAT_LINEAGE_H

#include <stddef.h>
#include <string.h>

/* The name of a rank of an MPI program begins so, whatever started it. */
#define FORMAT_LINEAGE_RANK "_r"

/* The last step: 'f', 'x', 'c' or a rank's 'r'; 0: a founder's has none.  *length: of the lineage
 * before it. */
static inline char lineage_step(const char *lineage, size_t *length)
{
	const char *last = strrchr(lineage, '_');

	*length = last ? (size_t)(last - lineage) : 0;
	return last ? last[1] : '\0';
}

#endif
