/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_CLI_INDEX_H
#define HELIO_CLI_INDEX_H

int index_main(int argc, char **argv);

#endif
