/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that show a tree. */
#ifndef HELIO_PRINT_COMMAND_TREE_H
#define HELIO_PRINT_COMMAND_TREE_H

#include "analysis/views/view_call_tree.h"
#include "print/context.h"

/*
 * Reads the options of the commands that show a tree and moves the other arguments to the
 * front; *count: how many those are. False after say_error().
 */
bool command_tree_part(struct print *print, const char *command, char **arguments, size_t *count,
		       struct tree_part *part);

#endif
