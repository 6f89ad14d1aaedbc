/* SPDX-License-Identifier: Apache-2.0 */
/* Reports whose parts cannot stand beside each other. */
#ifndef HELIO_PRINT_COMMAND_COMPARE_H
#define HELIO_PRINT_COMMAND_COMPARE_H

#include "analysis/views/result.h"
#include "print/context.h"

/*
 * Calls put for all events, or, where experiments are compared, once for those of each; name NULL:
 * of all.  For reports whose parts cannot stand beside each other.
 */
void command_each_group(struct print *print,
			void (*put)(struct print *print, const char *name, void *data), void *data);
/* Above what is of one of several experiments; name NULL: of all, which needs none. */
void command_group_heading(const struct print *print, struct result *result, const char *name);

#endif
