/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of libraries as LD_PRELOAD has them: a space or a colon separates them.  The collector
 * reads them, too, where it calls no function of the C library.
 */
#ifndef HELIO_FORMAT_PRELOAD_H
#define HELIO_FORMAT_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the entry at the begin of a list, up to what separates it from the next. */
static inline size_t preload_length(const char *list)
{
	size_t length = 0;

	while (list[length] && list[length] != ' ' && list[length] != ':')
		length++;
	return length;
}

/* Whether the entry at the begin of a list is the library: no other whose path ends or begins so.
 */
static inline bool preload_is(const char *list, const char *library)
{
	size_t length = preload_length(list), same = 0;

	while (same < length && list[same] == library[same])
		same++;
	return length && same == length && !library[same];
}

/* Where the list has the library; NULL: nowhere. */
static inline const char *preload_find(const char *list, const char *library)
{
	for (;;) {
		if (preload_is(list, library))
			return list;
		list += preload_length(list);
		if (!*list++)
			return NULL;
	}
}

#endif
