/* SPDX-License-Identifier: Apache-2.0 */
/* Sample points. */
#ifndef HELIO_COLLECTOR_SAMPLE_H
#define HELIO_COLLECTOR_SAMPLE_H

#include "format/format.h"

void sample_write(enum format_sample_kind kind, const char *label);
/* Makes the file, with the sample of the recording's begin. */
int sample_open(const char *label);

#endif
