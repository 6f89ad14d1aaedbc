/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printmode html: what commands print becomes one page.  Tables are tables; what a command
 * prints as text is kept back and put into the page as it is.
 */
#ifndef HELIO_PRINT_PAGE_H
#define HELIO_PRINT_PAGE_H

#include "print/table.h"

/* A command is about to print: its text goes to memory. */
void page_capture(struct print *print);
/* It has printed. */
void page_release(struct print *print);
/* The end of the page, where one has begun: the output is about to change. */
void page_end(struct print *print);
/* Between page_capture and page_release. */
void page_put_table(struct print *print, const struct table *table, enum table_shape shape,
		    const char *heading, const struct segment_map *segments);

#endif
