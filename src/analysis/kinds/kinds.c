/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/kinds.h"

#define X(NAME, name) [TRACE_##NAME] = &name##_kind,
static const struct kind *const kinds[TRACE_KINDS] = {FORMAT_KINDS(X)};
#undef X

const struct kind *kind_of(enum trace_kind kind)
{
	return kinds[kind];
}

/* One turn for those that stand first, one for the others. */
const struct metric *kinds_metric(size_t index)
{
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < TRACE_KINDS; i++) {
			const struct kind *kind = kinds[i];

			if (kind->metrics_first != !turn)
				continue;
			if (index < kind->metric_count)
				return &kind->metrics[index];
			index -= kind->metric_count;
		}
	return NULL;
}

size_t kinds_metric_count(void)
{
	size_t count = 0;

	for (int i = 0; i < TRACE_KINDS; i++)
		count += kinds[i]->metric_count;
	return count;
}

enum trace_kind measure_trace(unsigned measure)
{
	int found = TRACE_KINDS;
#define X(NAME, name) MEASURE_TO_##NAME,
	static const int before[TRACE_KINDS] = {FORMAT_KINDS(X)};
#undef X

	if (measure >= MEASURE_COUNTER)
		return TRACE_COUNTER;
	for (int kind = 0; kind < TRACE_KINDS && (int)measure > before[kind]; kind++)
		found = kind;
	return (enum trace_kind)found;
}
