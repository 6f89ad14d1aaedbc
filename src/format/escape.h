/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that XML 1.0 cannot hold, in the attributes of log.xml and map.xml: a byte is the private
 * character U+EE00 plus its value, and such a character itself has U+EE00 in front.  In UTF-8 all
 * of them have three bytes, of which the first two tell.
 */
#ifndef HELIO_FORMAT_ESCAPE_H
#define HELIO_FORMAT_ESCAPE_H

#include <stdbool.h>

enum { ESCAPE_SIZE = 3 };

/* Whether one of these characters begins here. */
static inline bool escape_is_at(const char *text)
{
	return (unsigned char)text[0] == 0xee && ((unsigned char)text[1] & 0xfc) == 0xb8 &&
	       ((unsigned char)text[2] & 0xc0) == 0x80;
}

/* The character of a byte; of 0: what stands in front of one that means itself. */
static inline void escape_put(char out[ESCAPE_SIZE], unsigned char byte)
{
	out[0] = (char)0xee;
	out[1] = (char)(0xb8 | byte >> 6);
	out[2] = (char)(0x80 | (byte & 0x3f));
}

/* The byte of the character. */
static inline char escape_byte(const char *text)
{
	return (char)((unsigned char)text[1] << 6 | ((unsigned char)text[2] & 0x3f));
}

#endif
