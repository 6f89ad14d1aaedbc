/* SPDX-License-Identifier: Apache-2.0 */
/* `helio doctor`: what this machine and this user can record, and what would help. */
#ifndef HELIO_LAUNCH_DOCTOR_H
#define HELIO_LAUNCH_DOCTOR_H

enum doctor_exit {
	DOCTOR_EXIT_OK,	   /* clock profiling by perf events works */
	DOCTOR_EXIT_POOR,  /* it does not: the monitor engine is what is left */
	DOCTOR_EXIT_USAGE, /* the command line makes no sense */
};

/* argv[0] is the subcommand's name. Prints to stdout; the exit status for main(). */
int doctor_main(int argc, char **argv);

#endif
