/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of this process's data files, which count for the limit on the experiment's size (-L). */
#ifndef HELIO_COLLECTOR_BLOCKS_H
#define HELIO_COLLECTOR_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct blockfile;

/* `bytes` 0: there is no limit.  The block beyond it calls `reached`, maybe in a handler, as each
 * one after it does. */
void blocks_set_limit(uint64_t bytes, void (*reached)(void));
/* In the child of a fork: its files begin anew. */
void blocks_forget(void);
/* A block of a data file, as blockfile_take.  In a handler, too. */
void *blocks_take(struct blockfile *file, size_t size, uint32_t *arena);

#endif
