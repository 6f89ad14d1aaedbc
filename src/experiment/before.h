/* SPDX-License-Identifier: Apache-2.0 */
/* What processes used before their recording began. */
#ifndef HELIO_EXPERIMENT_BEFORE_H
#define HELIO_EXPERIMENT_BEFORE_H

#include "experiment/process.h"

/* Adds it to the first thread of each process, at <before recording>. */
void before_add(struct experiment *experiment);

#endif
