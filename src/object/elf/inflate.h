/* SPDX-License-Identifier: Apache-2.0 */
/* Debug sections that are compressed. */
#ifndef HELIO_OBJECT_INFLATE_H
#define HELIO_OBJECT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ELF image, a mapping of a file or from malloc, in which sections that zlib (-gz=zlib,
 * -gz=zlib-gnu) or zstd (-gz=zstd) compressed are not: a mapping of *out_size bytes, to be
 * unmapped; the image that was given is gone.  NULL: none is compressed, or they are damaged; the
 * image is as it was.
 */
uint8_t *inflate_sections(uint8_t *image, size_t size, bool is_mapped, size_t *out_size);

#endif
