/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the launcher for what this process cannot reach any more (format/broker.h). */
#ifndef HELIO_COLLECTOR_ASK_H
#define HELIO_COLLECTOR_ASK_H

#include "format/broker.h"

#include <stddef.h>

/*
 * A socket that leads to the launcher's, which lies in `place`, a descriptor; or a negative errno.
 * directory: its path, for where there is no /proc; NULL: that may lead elsewhere.
 */
int ask_connect(int place, const char *directory);
/*
 * Asks by that socket. What comes with the answer is put into `data`, `size` bytes at most. Returns
 * the descriptor that was asked for, else 0, or a negative errno.  Waits a second at most for the
 * answer, and before it for room in the socket, up to eight times where others take that room;
 * after four seconds in which nothing came it waits for nothing any more.
 */
int ask_launcher(int socket, const struct broker_request *request, const char *path,
		 struct broker_answer *answer, void *data, size_t size);

#endif
