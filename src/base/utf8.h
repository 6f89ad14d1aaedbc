/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files and arguments of programs are bytes; most readers want UTF-8. */
#ifndef HELIO_BASE_UTF8_H
#define HELIO_BASE_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 character that text begins with, or 0 when it is none. */
size_t utf8_length(const char *text);
/* A copy with U+FFFD for each byte that is no UTF-8; the caller's to free. */
char *utf8_clean(const char *text);

#endif
