/* SPDX-License-Identifier: Apache-2.0 */
/* `helio diff`: what one experiment spends more or less than another, and what of that is chance.
 */
#ifndef HELIO_PRINT_DIFF_H
#define HELIO_PRINT_DIFF_H

enum { DIFF_EXIT_WORSE = 6 }; /* the limit of --fail-on was passed */

int diff_main(int argc, char **argv);

#endif
