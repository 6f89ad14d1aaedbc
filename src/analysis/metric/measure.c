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

static void fold(struct measure_sums *to, struct measure_sums *from, enum measure measure,
		 const uint32_t *map)
{
	uint64_t *sums = from->of[measure], *of = sums ? measure_array(to, measure) : NULL;

	/* What is not written takes no memory: most of many measures is 0. */
	for (size_t node = 0; sums && node < from->nodes; node++)
		if (sums[node])
			of[map ? map[node] : node] += sums[node];
	free(sums);
	from->of[measure] = NULL;
}

void measure_fold(struct measure_sums *to, struct measure_sums *from, const uint32_t *map)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		fold(to, from, (enum measure)i, map);
	measure_fini(from);
}

void measure_fini(struct measure_sums *sums)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		free(sums->of[i]);
	*sums = (struct measure_sums){0};
}

/* Marks the nodes that have a sum, and counts them; all bits of the sums. */
static uint64_t mark_sums(const uint64_t *sums, size_t nodes, struct finished_sum *of)
{
	size_t words = nodes / 64 + 1;
	uint64_t bits = 0;

	of->marks = xcalloc(words, sizeof(*of->marks));
	of->before = xmalloc(words * sizeof(*of->before));
	for (size_t word = 0; word < words; word++) {
		size_t left = nodes - word * 64, count = left < 64 ? left : 64;
		uint64_t marks = 0;

		for (size_t i = 0; i < count; i++) {
			bits |= sums[word * 64 + i];
			marks |= (uint64_t)(sums[word * 64 + i] != 0) << i;
		}
		of->marks[word] = marks;
		of->before[word] = (uint32_t)of->count;
		of->count += (size_t)__builtin_popcountll(marks);
	}
	return bits;
}

static struct finished_sum finish(uint64_t *sums, size_t nodes)
{
	struct finished_sum of = {0};
	bool is_wide = mark_sums(sums, nodes, &of) > UINT32_MAX;
	size_t next = 0;

	if (!is_wide)
		of.narrow = xmalloc((of.count + 1) * sizeof(*of.narrow));
	for (size_t i = 0; next < of.count; i++) {
		if (!sums[i])
			continue;
		if (is_wide)
			sums[next++] = sums[i];
		else
			of.narrow[next++] = (uint32_t)sums[i];
	}
	if (is_wide)
		of.wide = xrealloc(sums, of.count * sizeof(*sums));
	else
		free(sums);
	return of;
}

static void drop(struct finished_sum *of)
{
	free(of->marks);
	free(of->before);
	free(of->narrow);
	free(of->wide);
}

void measure_finish(struct finished_sums *to, struct measure_sums *from)
{
	*to = (struct finished_sums){.nodes = from->nodes};
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (from->of[i])
			to->of[i] = finish(from->of[i], from->nodes);
	*from = (struct measure_sums){0};
}

void measure_fold_last(struct finished_sums *out, struct measure_sums *to,
		       struct measure_sums *from, size_t count, const uint32_t *map)
{
	*out = (struct finished_sums){.nodes = to->nodes};
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		for (size_t k = 0; k < count; k++)
			fold(to, &from[k], (enum measure)i, map);
		if (to->of[i])
			out->of[i] = finish(to->of[i], to->nodes);
	}
	for (size_t k = 0; k < count; k++)
		measure_fini(&from[k]);
	*to = (struct measure_sums){0};
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
	drop(of);
	*of = finish(sums, to->nodes);
}

void finished_fini(struct finished_sums *sums)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		drop(&sums->of[i]);
	*sums = (struct finished_sums){0};
}

size_t finished_size(const struct finished_sums *sums)
{
	size_t words = sums->nodes / 64 + 1, size = 0;

	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		const struct finished_sum *of = &sums->of[i];

		if (of->marks)
			size += words * (sizeof(*of->marks) + sizeof(*of->before)) +
				of->count * (of->wide ? sizeof(*of->wide) : sizeof(*of->narrow));
	}
	return size;
}

size_t finished_counting_size(const struct finished_sums *sums)
{
	size_t size = 0;

	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (sums->of[i].marks)
			size += sums->nodes * sizeof(uint64_t);
	return size;
}

uint64_t finished_at(const struct finished_sums *sums, enum measure measure, size_t node)
{
	const struct finished_sum *of = &sums->of[measure];
	uint64_t marks = of->marks[node / 64], mark = UINT64_C(1) << node % 64;
	size_t at = of->before[node / 64] + (size_t)__builtin_popcountll(marks & (mark - 1));

	if (!(marks & mark))
		return 0;
	return of->narrow ? of->narrow[at] : of->wide[at];
}

bool finished_read(const struct finished_sums *sums, enum measure measure, uint64_t *out)
{
	struct finished_walk walk = finished_begin(sums, measure);

	if (!finished_has(sums, measure))
		return false;
	memset(out, 0, sums->nodes * sizeof(*out));
	while (finished_next(&walk))
		out[walk.node] = walk.sum;
	return true;
}
