/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher said is to be recorded, and how. */
#ifndef HELIO_COLLECTOR_PARAMS_H
#define HELIO_COLLECTOR_PARAMS_H

/* KEY:VALUE;… (format/params.h), into `collector` and to those that a key is for; `s` before `t`.
 */
void params_read(const char *params);

#endif
