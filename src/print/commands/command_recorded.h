/* SPDX-License-Identifier: Apache-2.0 */
/* How experiments that are compared were recorded: what is not the same of all. */
#ifndef HELIO_PRINT_COMMAND_RECORDED_H
#define HELIO_PRINT_COMMAND_RECORDED_H

#include "analysis/views/result.h"
#include "print/context.h"

/* A list of it, beside each other, where experiments are compared. */
void recorded_compare(struct print *print, struct result *result);

#endif
