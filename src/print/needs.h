/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands, and the start-up files before them, need of the session that is opened for them:
 * one rule for the command line and for requests.
 */
#ifndef HELIO_PRINT_NEEDS_H
#define HELIO_PRINT_NEEDS_H

#include "print/startup_files.h"

struct needs {
	enum command_need need; /* the most that any needs */
	enum inlines inlines;	/* the setting, as far as the commands are known */
	bool inlined_calls;	/* some command shows them */
	bool compares;		/* groups are compared at some time: one of them may stand twice */
};

struct needs needs_of_startup(const struct startup *startup);
void needs_add(struct needs *needs, const struct command *command, char *const *arguments,
	       size_t count);

#endif
