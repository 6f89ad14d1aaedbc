/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on the terminal that says how far long work is; and Ctrl-C, which in a session of commands
 * ends one of them, not the session.
 */
#ifndef HELIO_PRINT_PROGRESS_H
#define HELIO_PRINT_PROGRESS_H

#include "print/context.h"

/* To be called once, before an experiment is opened. */
void progress_init(struct print *print);
/* A command begins: the work that follows is its. */
void progress_begin(struct print *print);
/* It has ended: the line goes. False: it was cancelled, and what it printed since was thrown away.
 */
bool progress_end(struct print *print);

/* From now on, or no more, Ctrl-C cancels the command that runs. */
void progress_catch_interrupts(bool on);

#endif
