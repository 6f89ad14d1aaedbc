/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins.c loads, under many names: code with a frame, allocations, and calls to bind lazily.
 */
#include "target.h"

static volatile uint64_t sink;

static NOINLINE void plugin_leaf(long steps)
{
	sink += churn(sink | 1, steps);
}

/* Its instructions do not tell where it returns to: each way ends in a jump through a register. */
static NOINLINE void *plugin_allocate(long number)
{
	static const void *const ways[] = {&&short_way, &&long_way};
	void *block = malloc((size_t)number + 40);

	goto *ways[number & 1];
long_way:
	sink += churn(sink | 1, 3);
	goto *ways[sink & 0];
short_way:
	sink++;
	return block;
}

void plugin_run(long rounds, long steps);
size_t plugin_bind(void);

void plugin_run(long rounds, long steps)
{
	char line[32];

	for (long i = 0; i < rounds; i++) {
		free(plugin_allocate(i));
		plugin_leaf(steps);
	}
	snprintf(line, sizeof(line), "%ld", steps);
	sink += strtoul(line, NULL, 10);
}

size_t plugin_bind(void)
{
	return strlen(getenv("PATH") ? "yes" : "no");
}
