/* SPDX-License-Identifier: Apache-2.0 */
/* Object files (.o) whose debug sections are compressed. */
#ifndef HELIO_OBJECT_INFLATE_H
#define HELIO_OBJECT_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A copy of an object file's image, from malloc, in which sections that were compressed by zlib
 * (-gz=zlib, -gz=zlib-gnu) are not; *out_size: its size.  NULL: none is, or they are damaged.
 */
uint8_t *inflate_sections(const uint8_t *image, size_t size, size_t *out_size);

#endif
