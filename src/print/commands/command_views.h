/* SPDX-License-Identifier: Apache-2.0 */
/* What commands share that show a table. */
#ifndef HELIO_PRINT_COMMAND_VIEWS_H
#define HELIO_PRINT_COMMAND_VIEWS_H

#include "analysis/views/result.h"
#include "print/context.h"

/* A table is all of the answer: takes over the table and the heading. Returns true. */
bool command_show_table(struct print *print, const char *command, enum table_shape shape,
			struct table *table, char *heading);
/* "Functions sorted by metric: Exclusive Total CPU Time"; the caller's to free. */
char *command_table_heading(const char *what, const struct table *table, bool reverse);
/* The same by the query's metric, for what is no single list. */
char *command_sort_heading(const struct print *print, const char *what);
/* The attributed form of the sort metric, by which call lists are sorted; the caller's to free. */
char *command_attributed_title(const struct print *print);

#endif
