/* SPDX-License-Identifier: Apache-2.0 */
/* Where Java programs had their classes, beside which sources may be. Private to this module. */
#ifndef HELIO_ANALYSIS_CLASS_PATH_H
#define HELIO_ANALYSIS_CLASS_PATH_H

#include "analysis/session/session_state.h"

struct class_path {
	const char **items;
	size_t count, capacity;
};

/*
 * Directories and archives: the class path of each process, by its command line, in its order, then
 * the sources of the JDK itself.  The texts are the arena's; the list is freed with vec_fini().
 */
void class_path_find(const struct session *session, struct arena *arena, struct class_path *out);

#endif
