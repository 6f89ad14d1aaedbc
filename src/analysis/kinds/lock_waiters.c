/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/lock_waiters.h"

#include "base/compare.h"
#include "base/search.h"

#include <stdlib.h>

/* Once in a row is enough: of the others, those that are equal go when it is ready. */
void lock_waiters_know(struct lock_waiters *waiters, uint64_t waiter)
{
	size_t count = waiters->all.count;

	if (!count || waiters->all.items[count - 1] != waiter)
		*vec_push(&waiters->all) = waiter;
}

static int by_number(const void *a, const void *b)
{
	COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
	return 0;
}

void lock_waiters_ready(struct lock_waiters *waiters)
{
	uint64_t *all = waiters->all.items;
	size_t kept = 0;

	if (waiters->all.count)
		qsort(all, waiters->all.count, sizeof(*all), by_number);
	for (size_t i = 0; i < waiters->all.count; i++)
		if (!i || all[i] != all[kept - 1])
			all[kept++] = all[i];
	waiters->all.count = kept;
	waiters->waits = xcalloc(kept + 1, sizeof(*waiters->waits));
	waiters->tree = xcalloc(kept + 1, sizeof(*waiters->tree));
}

static size_t place_of(const struct lock_waiters *waiters, uint64_t waiter)
{
	size_t low = 0, high = waiters->all.count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (waiters->all.items[middle] <= waiter)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void count(struct lock_waiters *waiters, size_t place, uint32_t more)
{
	waiters->count += (size_t)(int32_t)more;
	for (size_t i = place + 1; i <= waiters->all.count; i += i & -i)
		waiters->tree[i] += more;
}

void lock_waiters_add(struct lock_waiters *waiters, uint64_t waiter)
{
	size_t place = place_of(waiters, waiter);

	if (!waiters->waits[place]++)
		count(waiters, place, 1);
}

void lock_waiters_remove(struct lock_waiters *waiters, uint64_t waiter)
{
	size_t place = place_of(waiters, waiter);

	if (!--waiters->waits[place])
		count(waiters, place, UINT32_MAX);
}

/* The place of the one before which so many wait. */
static size_t place_behind(const struct lock_waiters *waiters, size_t before)
{
	size_t place = 0, step = 1;

	while (step * 2 <= waiters->all.count)
		step *= 2;
	for (; step; step /= 2)
		if (place + step <= waiters->all.count && waiters->tree[place + step] <= before) {
			place += step;
			before -= waiters->tree[place];
		}
	return place;
}

void lock_waiters_first(const struct lock_waiters *waiters, uint64_t *first, size_t most)
{
	for (size_t i = 0; i < most; i++)
		first[i] = i < waiters->count ? waiters->all.items[place_behind(waiters, i)] : 0;
}

void lock_waiters_fini(struct lock_waiters *waiters)
{
	vec_fini(&waiters->all);
	free(waiters->waits);
	free(waiters->tree);
}
