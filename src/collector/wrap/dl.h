/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_DL_H
#define HELIO_COLLECTOR_DL_H

#include <stdint.h>

/* How often the program has closed something: since then load objects may be other ones. */
uint32_t dl_close_count(void);

#endif
