/* SPDX-License-Identifier: Apache-2.0 */
/* The exit status of `helio collect` and `helio attach`. */
#ifndef HELIO_LAUNCH_EXIT_H
#define HELIO_LAUNCH_EXIT_H

/* Exit codes besides the program's own; those above 1 as env(1) has them. */
enum launch_exit {
	LAUNCH_EXIT_USAGE = 1,		/* the command line makes no sense */
	LAUNCH_EXIT_FAILED = 125,	/* helio itself failed before the program ran */
	LAUNCH_EXIT_NOT_RUNNABLE = 126, /* the program is there, but cannot be run or measured */
	LAUNCH_EXIT_NOT_FOUND = 127,	/* no such program */
	LAUNCH_EXIT_SIGNAL = 128,	/* + the signal that killed the program */
};

#endif
