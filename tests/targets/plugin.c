/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins.c loads, under many names: code with a frame, and calls to bind lazily. */
#include "target.h"

static volatile uint64_t sink;

static NOINLINE void plugin_leaf(long steps)
{
	sink += churn(sink | 1, steps);
}

void plugin_run(long rounds, long steps);
size_t plugin_bind(void);

void plugin_run(long rounds, long steps)
{
	char line[32];

	for (long i = 0; i < rounds; i++)
		plugin_leaf(steps);
	snprintf(line, sizeof(line), "%ld", steps);
	sink += strtoul(line, NULL, 10);
}

size_t plugin_bind(void)
{
	return strlen(getenv("PATH") ? "yes" : "no");
}
