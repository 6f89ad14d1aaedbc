/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments in a browser. */
#ifndef HELIO_CLI_VIEW_H
#define HELIO_CLI_VIEW_H

/* `helio view`, or "analyzer". Returns an exit status. */
int view_main(int argc, char **argv);
/* One experiment, for `helio collect --view`. */
int view_experiment(const char *path);

/* `helio html`: the same page with its answers in it, a file. */
int html_main(int argc, char **argv);

#endif
