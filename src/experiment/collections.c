/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/collections.h"

#include "format/format.h"
#include "format/varint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS (1ull << 62) /* 146 years; later is damage */

const uint8_t *collections_read(struct collections *collections, uint64_t thread, const uint8_t *in,
				const uint8_t *end)
{
	uint64_t begin, duration;

	in = varint_get(in, end, &begin);
	in = in ? varint_get(in, end, &duration) : NULL;
	if (!in || begin > TIME_MAX_NS || duration > TIME_MAX_NS)
		return NULL;
	*vec_push(&collections->list) = (struct collection){
		.begin_ns = begin, .end_ns = begin + duration, .thread = (uint32_t)thread};
	collections->sum_ns += duration;
	return in;
}

static const uint8_t *read_words(struct collections *collections, uint32_t *words,
				 const uint8_t *in, const uint8_t *end)
{
	char text[FORMAT_NAME_ROOM];
	uint64_t length;

	in = varint_get(in, end, &length);
	if (!in || length >= sizeof(text) || length > (size_t)(end - in))
		return NULL;
	memcpy(text, in, length);
	text[length] = 0;
	*words = *text ? string_table_add(&collections->words, text) + 1 : 0;
	return in + length;
}

const uint8_t *collections_read_more(struct collections *collections, uint64_t thread,
				     const uint8_t *in, const uint8_t *end)
{
	struct collection *last = collections->list.count
					  ? &collections->list.items[collections->list.count - 1]
					  : NULL;

	struct collection_more more = {0};

	if (!last || last->thread != thread)
		return NULL;
	in = varint_get(in, end, &more.before);
	in = in ? varint_get(in, end, &more.after) : NULL;
	in = in ? read_words(collections, &more.cause, in, end) : NULL;
	in = in ? read_words(collections, &more.collector, in, end) : NULL;
	if (!in)
		return NULL;
	if (!last->more) {
		vec_push(&collections->more);
		last->more = (uint32_t)collections->more.count;
	}
	collections->more.items[last->more - 1] = more;
	return in;
}

const struct collection_more *collections_more(const struct collections *collections,
					       const struct collection *one)
{
	static const struct collection_more none;

	return one->more ? &collections->more.items[one->more - 1] : &none;
}

const char *collections_words(const struct collections *collections, uint32_t words)
{
	return words ? string_table_text(&collections->words, words - 1) : "";
}

static int by_begin(const void *left, const void *right)
{
	const struct collection *a = left, *b = right;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

void collections_sort(struct collections *collections)
{
	if (collections->list.count)
		qsort(collections->list.items, collections->list.count,
		      sizeof(*collections->list.items), by_begin);
}

static bool holds(const struct collections *collections, size_t number, uint64_t time_ns)
{
	const struct collection *one = &collections->list.items[number - 1];

	return one->begin_ns <= time_ns && time_ns <= one->end_ns;
}

size_t collections_at(const struct collections *collections, uint64_t time_ns, size_t guess)
{
	size_t low = 0, high = collections->list.count; /* that begin by then, and do not */

	if (guess && holds(collections, guess, time_ns))
		return guess;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (collections->list.items[middle].begin_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && holds(collections, low, time_ns) ? low : 0;
}

void collections_fini(struct collections *collections)
{
	vec_fini(&collections->list);
	vec_fini(&collections->more);
	string_table_fini(&collections->words);
	*collections = (struct collections){0};
}
