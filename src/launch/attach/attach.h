/* SPDX-License-Identifier: Apache-2.0 */
/* `helio attach`: records programs that run already. */
#ifndef HELIO_LAUNCH_ATTACH_H
#define HELIO_LAUNCH_ATTACH_H

#include "base/option.h"
#include "launch/run/sum_up.h"

/*
 * argv[0] is the subcommand's name; `ending` is called for each process that was recorded,
 * `replace` for what -O finds in the place of an experiment.  Returns the exit status for main():
 * enum launch_exit.
 */
int launch_attach(int argc, char **argv, launch_ending *ending, launch_replace *replace);

/* The rows of its options, then those of `helio collect`. */
extern const struct option_syntax attach_syntax;

struct options;
/* The same for `helio collect -P PID`; words: the whole command line. */
int launch_attach_to(const struct options *options, char **words, launch_ending *ending,
		     launch_replace *replace);

#endif
