/* SPDX-License-Identifier: Apache-2.0 */
/* The wrapper through which the program's handlers are entered (handler_entry.c). */
#ifndef HELIO_COLLECTOR_HANDLER_WRAPPER_H
#define HELIO_COLLECTOR_HANDLER_WRAPPER_H

#include <signal.h>

struct handler_wrapper {
	void (*enter)(int signal, siginfo_t *info, void *context);
};
extern const struct handler_wrapper handler_wrapper;

#endif
