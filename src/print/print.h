/* SPDX-License-Identifier: Apache-2.0 */
/* `helio print`: the command language of er_print over the views of the engine. */
#ifndef HELIO_PRINT_PRINT_H
#define HELIO_PRINT_PRINT_H

enum print_exit {
	PRINT_EXIT_OK = 0,
	PRINT_EXIT_FAILED = 1, /* a command failed, or no experiment could be read */
	PRINT_EXIT_USAGE = 2,  /* the command line makes no sense */
	PRINT_EXIT_SCRIPT = 3, /* the script could not be read */
};

/* argv[0] is "print", or "er_print" when called by the old name. Returns an exit status. */
int print_main(int argc, char **argv);
/* `helio src`, or "er_src": listings of code without an experiment. */
int src_main(int argc, char **argv);

#endif
