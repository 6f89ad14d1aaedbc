/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rooms for the snapshots of the program's code that handlers unwind by.
 *
 * A thread is unwound under its lock (core.h), and writes nothing to say which snapshot it reads:
 * every event goes that way.  So a snapshot that was in force may be read by whoever held a
 * lock when the next one had taken its place, until that lock has been seen free.
 *
 * All of it is called by who may change the list of modules: one at a time.
 */
#ifndef HELIO_COLLECTOR_SNAPSHOTS_H
#define HELIO_COLLECTOR_SNAPSHOTS_H

#include "collector/unwind/unwind.h"

/* Room for so many modules that nobody reads, or NULL: all are read, or there is no memory. */
struct unwind_modules *snapshots_room(uint32_t count);

/* Puts the room of the last call in force; NULL: nothing is known from now on. */
void snapshots_publish(struct unwind_modules *modules);

/* In the child of a fork, where a recording goes on that may read any of them: they are left to it.
 */
void snapshots_forget(void);

#endif
