/* SPDX-License-Identifier: Apache-2.0 */
/* Where only the ranks of an MPI program are recorded, which have their numbers for names. */
#ifndef HELIO_COLLECTOR_RANK_H
#define HELIO_COLLECTOR_RANK_H

#include <stdbool.h>

/* collector.lineage becomes the rank's name.  False: this process is none, nor a rank's descendant.
 */
bool rank_take_name(void);
/* That name is another's: the one that this process was given instead.  False: it has it already.
 */
bool rank_give_name_back(void);

#endif
