/* SPDX-License-Identifier: Apache-2.0 */
/* The gate through which the program's handlers are entered (handler_entry.c). */
#ifndef HELIO_COLLECTOR_HANDLER_GATE_H
#define HELIO_COLLECTOR_HANDLER_GATE_H

#include <signal.h>

struct handler_gate {
	void (*enter)(int signal, siginfo_t *info, void *context);
};
extern const struct handler_gate handler_gate;

#endif
