/* SPDX-License-Identifier: Apache-2.0 */
/* `helio ctl`: pauses, resumes, samples and ends a recording in progress. */
#ifndef HELIO_LAUNCH_CONTROL_H
#define HELIO_LAUNCH_CONTROL_H

enum control_exit {
	CONTROL_EXIT_OK,
	CONTROL_EXIT_FAILED, /* no such experiment, no right to write it, or it has ended */
	CONTROL_EXIT_USAGE,
};

/* argv[0] is the subcommand's name. Prints to stdout and stderr; the exit status for main(). */
int control_main(int argc, char **argv);

#endif
