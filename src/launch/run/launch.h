/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio collect`: runs a program with the collector inside, and does what there
 * is to do around it.  The collector itself is a library that the program loads; the
 * two talk through the environment (format/params.h) and the files of the
 * experiment (docs/format.md) and in no other way.
 */
#ifndef HELIO_LAUNCH_LAUNCH_H
#define HELIO_LAUNCH_LAUNCH_H

#include "launch/run/sum_up.h"

/*
 * argv[0] is the subcommand's name; options begin at argv[1].  Prints its
 * messages to stderr and returns the exit status for main(): enum launch_exit.
 */
int launch_collect(char **argv, struct launch_call *call);

#endif
