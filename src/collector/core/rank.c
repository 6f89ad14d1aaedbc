/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launcher of MPI tells each rank its number in the environment.  A rank's descendants inherit
 * that, but their names begin with the rank's.  What a launcher starts beside ranks has no number;
 * the launcher itself may have one, if it is a part of another program.
 */
#include "collector/core/rank.h"

#include "collector/core/other_clock.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/lineage.h"

#include <stdlib.h>

static char given[PARAMS_LINEAGE_ROOM]; /* by the parent; "": the name is that */

static void copy(char *to, size_t size, const char *from)
{
	struct text text = {.buffer = to, .size = size};

	to[0] = '\0';
	text_puts(&text, from);
}

bool rank_take_name(void)
{
	static const char *const variables[] = {PARAMS_RANK_VARIABLES};
	const char *rank = NULL;

	if (text_starts(collector.lineage, FORMAT_LINEAGE_RANK))
		return true;
	/* The launcher has handed its own name on: it is on another machine, and none of its
	 * family. */
	if (!collector.lineage[0] && other_clock_is_so())
		copy(collector.lineage, sizeof(collector.lineage), "_f1");
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && !rank; i++)
		rank = getenv(variables[i]);
	if (!collector.lineage[0] || !rank || rank[0] < '0' || rank[0] > '9')
		return false;
	struct text name = TEXT_ON(collector.lineage);

	copy(given, sizeof(given), collector.lineage);
	text_puts(&name, FORMAT_LINEAGE_RANK);
	text_decimal(&name, (int64_t)text_number(rank, NULL));
	return true;
}

bool rank_give_name_back(void)
{
	if (!given[0])
		return false;
	copy(collector.lineage, sizeof(collector.lineage), given);
	given[0] = '\0';
	return true;
}
