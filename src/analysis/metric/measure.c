/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/metric/measure.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

uint64_t *measure_array(struct measure_sums *sums, enum measure measure)
{
	if (!sums->of[measure])
		sums->of[measure] = xcalloc(sums->nodes, sizeof(uint64_t));
	return sums->of[measure];
}

void measure_grow(struct measure_sums *sums, size_t nodes)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		uint64_t *of = sums->of[i];

		if (!of)
			continue;
		sums->of[i] = of = xrealloc(of, nodes * sizeof(*of));
		memset(of + sums->nodes, 0, (nodes - sums->nodes) * sizeof(*of));
	}
	sums->nodes = nodes;
}

void measure_fold(struct measure_sums *to, struct measure_sums *from, const uint32_t *map)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		if (!from->of[i])
			continue;

		uint64_t *of = measure_array(to, (enum measure)i);

		/* What is not written takes no memory: most of many measures is 0. */
		for (size_t node = 0; node < from->nodes; node++)
			if (from->of[i][node])
				of[map ? map[node] : node] += from->of[i][node];
		free(from->of[i]);
		from->of[i] = NULL;
	}
	measure_fini(from);
}

void measure_fini(struct measure_sums *sums)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		free(sums->of[i]);
	*sums = (struct measure_sums){0};
}

static struct finished_sum finish(uint64_t *sums, size_t nodes)
{
	uint64_t bits = 0;
	uint32_t *narrow;

	for (size_t i = 0; i < nodes; i++)
		bits |= sums[i];
	if (bits > UINT32_MAX)
		return (struct finished_sum){.wide = sums};
	narrow = xcalloc(nodes + 1, sizeof(*narrow));
	for (size_t i = 0; i < nodes; i++)
		if (sums[i])
			narrow[i] = (uint32_t)sums[i];
	free(sums);
	return (struct finished_sum){.narrow = narrow};
}

void measure_finish(struct finished_sums *to, struct measure_sums *from)
{
	*to = (struct finished_sums){.nodes = from->nodes};
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (from->of[i])
			to->of[i] = finish(from->of[i], from->nodes);
	*from = (struct measure_sums){0};
}

void finished_take(struct finished_sums *to, enum measure measure, uint64_t *sums)
{
	to->of[measure] = finish(sums, to->nodes);
}

void finished_add(struct finished_sums *to, enum measure measure, size_t node, uint64_t value)
{
	struct finished_sum *of = &to->of[measure];
	uint64_t *sums = xcalloc(to->nodes + 1, sizeof(*sums));

	finished_read(to, measure, sums);
	sums[node] += value;
	free(of->narrow);
	free(of->wide);
	*of = finish(sums, to->nodes);
}

void finished_fini(struct finished_sums *sums)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		free(sums->of[i].narrow);
		free(sums->of[i].wide);
	}
	*sums = (struct finished_sums){0};
}

size_t finished_size(const struct finished_sums *sums)
{
	size_t size = 0;

	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		if (sums->of[i].narrow)
			size += sums->nodes * sizeof(uint32_t);
		if (sums->of[i].wide)
			size += sums->nodes * sizeof(uint64_t);
	}
	return size;
}

bool finished_read(const struct finished_sums *sums, enum measure measure, uint64_t *out)
{
	if (!finished_has(sums, measure))
		return false;
	for (size_t i = 0; i < sums->nodes; i++)
		out[i] = finished_at(sums, measure, i);
	return true;
}
