/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that nothing is touched in. */
#ifndef HELIO_COLLECTOR_LEFT_ALONE_H
#define HELIO_COLLECTOR_LEFT_ALONE_H

/* Why nothing may be touched in this program, or NULL. */
const char *program_left_alone(void);

#endif
