/* SPDX-License-Identifier: Apache-2.0 */
/* What the program finds of us in its own /proc. */
#ifndef HELIO_COLLECTOR_OWN_PROC_H
#define HELIO_COLLECTOR_OWN_PROC_H

#include "collector/core/wrappers.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether what stat(2), or statx(2), said is the number of our threads too. */
bool own_proc_has_threads(const void *stat);
bool own_proc_has_threads_x(const void *statx);
/* Whether `name` in this directory is a thread or a descriptor of ours. */
bool own_proc_hides(int directory, const char *name);

/* getdents64(2), made by `next`, without what is hidden. */
typedef ssize_t getdents_function(int fd, void *to, size_t size);
ssize_t own_proc_entries(int fd, void *to, size_t size, getdents_function *next);

/*
 * A call that looks a file up: where its answer counts our threads, they step aside and it is
 * made again.  `has` is one of the two above.
 */
#define OWN_PROC_LOOK(value, call, has, to)                                                        \
	do {                                                                                       \
		(value) = (call);                                                                  \
		if (!(value) && has(to)) {                                                         \
			bool aside_ = namespace_step_aside();                                      \
                                                                                                   \
			(value) = (call);                                                          \
			namespace_come_back(aside_);                                               \
		}                                                                                  \
	} while (0)

#endif
