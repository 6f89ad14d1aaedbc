/* SPDX-License-Identifier: Apache-2.0 */
/* What a process leaves of its interval, as a word; 0: nothing. */
#ifndef HELIO_COLLECTOR_CLOCK_LINE_H
#define HELIO_COLLECTOR_CLOCK_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct format_family;
/* without_wall: so many processes more have no timer of the wall clock. */
uint64_t line_word(uint64_t left_ns, uint64_t interval_ns, uint32_t without_wall);
/* False: nothing, or nothing that line_word makes. */
bool line_read(uint64_t word, uint64_t interval_ns, uint64_t *left_ns, uint32_t *without_wall);
uint64_t line_take(struct format_family *family);
void line_give(struct format_family *family, uint64_t word);

#endif
