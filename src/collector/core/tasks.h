/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of this process as the kernel lists them. */
#ifndef HELIO_COLLECTOR_TASKS_H
#define HELIO_COLLECTOR_TASKS_H

#include <stdbool.h>

/* Calls visit for the id of each. `dir` is an open /proc/self/task. */
void tasks_for_each(int dir, void (*visit)(int tid, void *arg), void *arg);

/* Whether a debugger or tracer is attached to the thread. */
bool task_is_traced(int tid);

#endif
