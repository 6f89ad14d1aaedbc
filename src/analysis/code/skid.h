/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction's access of memory made an event that was recorded behind it.  Private to this
 * room. */
#ifndef HELIO_ANALYSIS_SKID_H
#define HELIO_ANALYSIS_SKID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct isa;
struct skid_code;

enum skid_result {
	TRIGGER_UNKNOWN, /* no access in reach, or not for this machine */
	TRIGGER_FOUND,	 /* *address is the instruction */
	TRIGGER_TARGET,	 /* *address is the first instruction, going back, that branches lead to */
};

/* Decodes a function of `size` bytes, size > 0, at an address; never NULL. */
struct skid_code *skid_code_new(struct isa *isa, const uint8_t *bytes, size_t size,
				uint64_t address);
void skid_code_free(struct skid_code *code);
/*
 * Goes back from the instruction at *address, which was not executed yet.  is_exact: the event was
 * recorded directly behind the access.
 */
enum skid_result skid_find(const struct skid_code *code, bool is_exact, uint64_t *address);

#endif
