/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors that we must keep in the program's table. */
#ifndef HELIO_COLLECTOR_DESCRIPTOR_H
#define HELIO_COLLECTOR_DESCRIPTOR_H

#include <stdatomic.h>
#include <stdbool.h>

/* For an owner that holds nothing. */
enum { DESCRIPTOR_NONE = -1 };

/*
 * Keeps `fd` out of the program's sight from now on: it is moved to a high number, and *owner
 * holds that number, whatever the program closes or replaces.  False: there is no place for
 * it that a program would not miss; it is closed.
 */
bool descriptor_hold(int fd, _Atomic int *owner);
/*
 * Where it is in the calling thread's table, which may be another than that of the thread that last
 * moved it; DESCRIPTOR_NONE: not known to be there.
 */
int descriptor_number(_Atomic int *owner);
/* Closes it. */
void descriptor_drop(_Atomic int *owner);
/* Whether the program may not know of `fd`. */
bool descriptor_is_hidden(int fd);
/* The lowest number of ours in [first, last], or DESCRIPTOR_NONE. */
int descriptor_lowest(unsigned first, unsigned last);
/* The program is about to put something at this number: what is ours there is moved away.  0, or a
 * negative errno: there was no place for it, and it is closed. */
int descriptor_make_way(int fd);

#endif
