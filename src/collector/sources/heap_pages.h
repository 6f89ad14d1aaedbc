/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of private anonymous memory have ever been written to, by /proc/self/pagemap: those
 * that were not hold nothing, and reading them makes the kernel give them page tables.  Runtimes
 * with heaps of their own reserve gigabytes of them.
 */
#ifndef HELIO_COLLECTOR_HEAP_PAGES_H
#define HELIO_COLLECTOR_HEAP_PAGES_H

#include <stdint.h>

enum { HEAP_PAGES = 512 }; /* whose entries are read at once */

struct heap_pages {
	int fd;		       /* -1: it cannot be read */
	uint64_t first, count; /* page numbers whose entries are here */
	uint64_t entries[HEAP_PAGES];
};

void heap_pages_open(struct heap_pages *pages);
void heap_pages_close(struct heap_pages *pages);
/*
 * The first address in [from, to) that is on a page with content, or `to`; `from` where that cannot
 * be told.
 */
uint64_t heap_pages_skip(struct heap_pages *pages, uint64_t from, uint64_t to);

#endif
