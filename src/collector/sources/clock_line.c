/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process leaves of its clock interval at its end, for the next one of the family to begin
 * with: words in the page that they share (format/family.h), each changed by one atomic operation.
 *
 * A word is a part of an interval, so that it fits whatever the next one's length is.  A page can
 * hold anything: what no process writes counts as nothing, and the phase is random then.
 */
#include "collector/sources/clock_line.h"

#include "collector/sources/clock_jitter.h"
#include "format/family.h"

enum { WITHOUT_WALL_SHIFT = 32, WITHOUT_WALL_MOST = 255 };

#define LEFT ((uint64_t)1 << 63) /* else there is nothing */
#define ONE  ((uint64_t)1 << 24) /* a whole interval, of minutes at most */

uint64_t line_word(uint64_t left_ns, uint64_t interval_ns, uint32_t without_wall)
{
	uint64_t longest_ns = jitter_longest_ns(interval_ns);

	if (left_ns > longest_ns)
		left_ns = longest_ns;
	if (without_wall > WITHOUT_WALL_MOST)
		without_wall = WITHOUT_WALL_MOST;
	return LEFT | (uint64_t)without_wall << WITHOUT_WALL_SHIFT | left_ns * ONE / interval_ns;
}

bool line_read(uint64_t word, uint64_t interval_ns, uint64_t *left_ns, uint32_t *without_wall)
{
	uint64_t part = word & UINT32_MAX, rest = (word & ~LEFT) >> WITHOUT_WALL_SHIFT;

	if (!(word & LEFT) || part > jitter_longest_ns(ONE) || rest > WITHOUT_WALL_MOST)
		return false;
	*left_ns = part * interval_ns / ONE;
	*without_wall = (uint32_t)rest;
	return true;
}

uint64_t line_take(struct format_family *family)
{
	for (int i = 0; i < FAMILY_LINES; i++) {
		uint64_t *line = &family->lines[i];

		if (!__atomic_load_n(line, __ATOMIC_RELAXED))
			continue;
		uint64_t word = __atomic_exchange_n(line, 0, __ATOMIC_RELAXED);

		if (word) /* else another process was faster */
			return word;
	}
	return 0;
}

void line_give(struct format_family *family, uint64_t word)
{
	for (int i = 0; i < FAMILY_LINES; i++) {
		uint64_t empty = 0;

		if (__atomic_compare_exchange_n(&family->lines[i], &empty, word, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	/* More processes at once than lines: one of them is lost. */
	__atomic_store_n(&family->lines[word % FAMILY_LINES], word, __ATOMIC_RELAXED);
}
