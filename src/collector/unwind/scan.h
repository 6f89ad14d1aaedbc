/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for code without CFI, from its instructions: whatever a function has
 * pushed it takes away again before it returns.
 */
#ifndef HELIO_COLLECTOR_UNWIND_SCAN_H
#define HELIO_COLLECTOR_UNWIND_SCAN_H

#include "collector/unwind/unwind.h"

enum { SCAN_PATHS = 16 };

enum scan_base { SCAN_UNKNOWN, SCAN_SP, SCAN_BP };

/* A place or value: the sp or bp of now, and an offset. */
struct scan_place {
	int32_t offset;
	enum scan_base base;
};

/* A point that execution may reach, and what sp and bp are there. */
struct scan_path {
	uint64_t pc;
	struct scan_place sp;
	struct scan_place bp; /* its value, or if `loaded` where it was read */
	bool loaded;
};

/*
 * The rule for the code at `pc`, an instruction's first byte; 0: none found.
 * `paths` is working room of SCAN_PATHS.
 */
uint64_t scan_rule(const struct unwind_module *module, uint64_t pc, struct scan_path *paths);

#endif
