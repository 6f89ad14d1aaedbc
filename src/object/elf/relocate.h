/* SPDX-License-Identifier: Apache-2.0 */
/* Object files (.o): every section gets an address of its own, and references to them are filled
 * in. */
#ifndef HELIO_OBJECT_RELOCATE_H
#define HELIO_OBJECT_RELOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether an image is an object file of x86-64 or AArch64. */
bool relocate_wanted(const uint8_t *image, size_t size);

/*
 * Does for such an image what a linker would: gives addresses to the sections that a program
 * would have in memory, code first, from 0; moves symbols there; applies the relocations whose
 * symbol is defined in the file, of code and of debug information, so that these can be read
 * like those of a program.  What is damaged, or compressed, stays as it is.
 */
void relocate(uint8_t *image, size_t size);

#endif
