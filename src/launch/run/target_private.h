/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that find the target share. */
#ifndef HELIO_LAUNCH_TARGET_PRIVATE_H
#define HELIO_LAUNCH_TARGET_PRIVATE_H

#include "launch/run/target.h"

bool target_is_runnable(const char *path);
bool target_is_there(const char *path);
/* The file that execvp would take, or NULL. */
char *target_search_path(struct arena *arena, const char *name);
/* Puts words before the program's own arguments; the first `skip` of those are left out. */
void target_put_in_front(struct target *target, char **front, size_t count, size_t skip);

#endif
