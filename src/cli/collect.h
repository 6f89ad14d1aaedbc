/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_CLI_COLLECT_H
#define HELIO_CLI_COLLECT_H

int attach_main(int argc, char **argv);
int collect_main(int argc, char **argv);
/* … under the name of the old tool: what it says on its way is what that says. */
int collect_main_old(int argc, char **argv);

#endif
