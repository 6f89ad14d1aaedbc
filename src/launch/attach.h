/* SPDX-License-Identifier: Apache-2.0 */
/* `helio attach`: records programs that run already. */
#ifndef HELIO_LAUNCH_ATTACH_H
#define HELIO_LAUNCH_ATTACH_H

/* argv[0] is the subcommand's name. Returns the exit status for main(): enum launch_exit. */
int launch_attach(int argc, char **argv);

struct options;
/* The same for `helio collect -P PID`; words: the whole command line. */
int launch_attach_to(const struct options *options, char **words);

#endif
