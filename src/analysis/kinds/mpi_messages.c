/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/mpi_messages.h"

#include "analysis/kinds/mpi_match.h"
#include "base/compare.h"

#include <stdlib.h>

static int same_pair(const struct mpi_message *x, const struct mpi_message *y)
{
	COMPARE(x->from_process, y->from_process);
	COMPARE(x->to_process, y->to_process);
	COMPARE(x->from_thread, y->from_thread);
	COMPARE(x->to_thread, y->to_thread);
	return 0;
}

static int by_pair(const void *a, const void *b)
{
	const struct mpi_message *x = a, *y = b;
	int pair = same_pair(x, y);

	if (pair)
		return pair;
	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->end_ns, y->end_ns);
	COMPARE(x->bytes, y->bytes);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct mpi_message *x = a, *y = b;

	COMPARE(x->begin_ns, y->begin_ns);
	return by_pair(a, b);
}

static int by_count(const void *a, const void *b)
{
	const struct mpi_message *x = a, *y = b;

	COMPARE(y->count, x->count);
	COMPARE(y->bytes, x->bytes);
	return by_begin(a, b);
}

static void sort(struct mpi_messages *messages, int (*order)(const void *, const void *))
{
	if (messages->list.count)
		qsort(messages->list.items, messages->list.count, sizeof(*messages->list.items),
		      order);
}

static void keep_range(struct mpi_messages *messages, uint64_t begin_ns, uint64_t end_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < messages->list.count; i++) {
		const struct mpi_message *message = &messages->list.items[i];

		if (message->end_ns >= begin_ns && (!end_ns || message->begin_ns < end_ns))
			messages->list.items[kept++] = *message;
	}
	messages->list.count = kept;
	messages->count = kept;
}

/* Ranges of time into which all begins are divided, so that all pairs have room. */
struct time_ranges {
	uint64_t begin_ns, length_ns;
};

static struct time_ranges time_ranges_for(const struct mpi_messages *messages, size_t most)
{
	const struct mpi_message *items = messages->list.items;
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < messages->list.count; i++) {
		pairs += !i || same_pair(&items[i], &items[i - 1]) != 0;
		first_ns = items[i].begin_ns < first_ns ? items[i].begin_ns : first_ns;
		last_ns = items[i].begin_ns > last_ns ? items[i].begin_ns : last_ns;
	}
	size_t count = most > pairs ? most / pairs : 1;

	return (struct time_ranges){first_ns, (last_ns - first_ns) / count + 1};
}

/* Of messages sorted by pair and begin: those of a pair and a range become one row. */
static void add_up(struct mpi_messages *messages, size_t most)
{
	struct time_ranges in = time_ranges_for(messages, most);
	struct mpi_message *items = messages->list.items, *sum = NULL;
	uint64_t of_sum = 0;

	for (size_t i = 0; i < messages->list.count; i++) {
		uint64_t range = (items[i].begin_ns - in.begin_ns) / in.length_ns;

		if (!sum || range != of_sum || same_pair(sum, &items[i])) {
			sum = sum ? sum + 1 : items;
			*sum = items[i];
			of_sum = range;
			continue;
		}
		sum->end_ns = items[i].end_ns > sum->end_ns ? items[i].end_ns : sum->end_ns;
		sum->count += items[i].count;
		sum->bytes += items[i].bytes;
	}
	messages->list.count = (size_t)(sum - items) + 1;
}

static void leave_out(struct mpi_messages *messages, size_t most)
{
	sort(messages, by_count);
	for (size_t i = most; i < messages->list.count; i++)
		messages->left_out += messages->list.items[i].count;
	messages->list.count = most;
}

void view_mpi_messages(struct session *session, const struct query *query, uint64_t begin_ns,
		       uint64_t end_ns, size_t most, struct mpi_messages *messages)
{
	*messages = (struct mpi_messages){0};
	mpi_match_messages(session, query, messages);
	keep_range(messages, begin_ns, end_ns);
	if (messages->list.count > most) {
		sort(messages, by_pair);
		add_up(messages, most);
	}
	if (messages->list.count > most)
		leave_out(messages, most);
	sort(messages, by_begin);
}

void mpi_messages_fini(struct mpi_messages *messages)
{
	vec_fini(&messages->list);
}
