/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up files: `.er.rc` of the system, of the user and of the current directory.  Of what
 * only one can hold the nearest file's wins; dmetrics and dsort are put together, the nearest
 * file's first.
 */
#ifndef HELIO_PRINT_STARTUP_FILES_H
#define HELIO_PRINT_STARTUP_FILES_H

#include "print/commands/command.h"
#include "print/script.h"

struct startup_line {
	const struct command *command;
	struct words words;
	char *file;
	unsigned number;
};

struct startup {
	VEC(struct startup_line) lines;
};

/* Reads the files and says what in them cannot be used; nothing is run. */
void startup_read(struct print *print, struct startup *startup);
/* Whether no line needs more than the sums that may have been kept. */
bool startup_sums_only(const struct startup *startup);
/* Whether a command may stand there. */
bool startup_may_have(const char *command);
/* Which of the lines: the session keeps what some set, for all that ask it. */
enum startup_part { STARTUP_ALL, STARTUP_ALTERING, STARTUP_REST };
/* Runs the lines; the session is open. What fails is a warning. */
void startup_run(struct print *print, const struct startup *startup, enum startup_part part);
void startup_fini(struct startup *startup);

#endif
