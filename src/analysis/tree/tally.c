/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tallies: made when a query first needs one, kept for the next, the least recently used ones
 * dropped first where all together are too large.
 */
#include "analysis/tree/tally.h"

#include "analysis/tree/shape.h"
#include "analysis/tree/tree.h"
#include "base/array.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { TALLIES_MOST = 64 };

static const size_t tally_limit = 64u << 20; /* bytes of the sums that are kept */

struct tally_cache {
	VEC(struct tally *) tallies;
	VEC(struct shape *) shapes; /* those that the tallies have */
	uint64_t requests;
};

/* ---- keys: the same for queries that select the same ---- */

/* How the call tree looks: view mode, inlined calls, functions united, load objects that are not
 * shown. */
static char *shape_key(struct session *session, const struct query *query, bool united)
{
	struct strbuf key = {0};

	const struct whole_tree *whole = session_tree(session, query->mode, query->inlines);

	strbuf_printf(&key, "%d %d %d", (int)whole->mode, whole->inlines, united);
	for (uint32_t i = 0; i < session->objects.count; i++)
		if (query_object_showing(query, i) != OBJECT_SHOWN)
			strbuf_printf(&key, " %u:%d", i, (int)query_object_showing(query, i));
	return strbuf_steal(&key);
}

static char *tally_key(const char *shape, const struct query *query, uint32_t group, bool squares)
{
	struct strbuf key = {0};

	strbuf_printf(&key, "%s\n%u %d", shape, group, squares);
	for (size_t i = 0; i < QUERY_FILTERS; i++) {
		const char *text = query_filter_expression(query, i);

		strbuf_printf(&key, "\n%zu:%s", text ? strlen(text) : 0, text ? text : "");
	}
	return strbuf_steal(&key);
}

/* ---- making one ---- */

static const uint32_t *tree_nodes(const struct tally *tally, size_t process, uint32_t **owned)
{
	return shape_nodes(tally->shape, process, owned);
}

/* What is wrong with an expression has been said when it was set. */
static void compile_filters(struct tally *tally, const struct query *query)
{
	struct diag_list said = {0};

	for (size_t i = 0; i < QUERY_FILTERS; i++) {
		const char *text = query_filter_expression(query, i);

		if (text)
			filter_compile(tally->session, tally->shape->whole, text,
				       &tally->filters[i], &said);
	}
	diag_fini(&said);
}

static struct tally *tally_make(struct session *session, const struct query *query,
				struct shape *shape)
{
	struct tally *tally = xcalloc(1, sizeof(*tally));

	tally->session = session;
	tally->shape = shape;
	shape->references++;
	compile_filters(tally, query);
	return tally;
}

static void tally_free(struct tally *tally)
{
	for (size_t i = 0; i < QUERY_FILTERS; i++)
		filter_program_free(tally->filters[i]);
	finished_fini(&tally->weights);
	finished_fini(&tally->code_weights);
	finished_fini(&tally->compiled);
	vec_fini(&tally->sums);
	arena_fini(&tally->arena);
	for (size_t i = 0; i < COUNT(tally->timelines); i++)
		if (tally->timelines[i])
			tally->free_timeline(tally->timelines[i]);
	if (tally->lock_holds)
		tally->free_lock_holds(tally->lock_holds);
	free(tally->key);
	free(tally);
}

/* ---- keeping them ---- */

static size_t tally_size(const struct tally *tally)
{
	size_t size = finished_size(&tally->weights) + finished_size(&tally->code_weights) +
		      finished_size(&tally->compiled) + tally->arena.size + tally->timeline_size +
		      tally->lock_holds_size;

	for (size_t i = 0; i < QUERY_FILTERS; i++)
		size += filter_program_size(tally->filters[i]);
	return size;
}

static size_t cache_size(const struct tally_cache *cache)
{
	size_t size = 0;

	for (size_t i = 0; i < cache->tallies.count; i++)
		size += tally_size(cache->tallies.items[i]);
	for (size_t i = 0; i < cache->shapes.count; i++)
		size += shape_size(cache->shapes.items[i]);
	return size;
}

static void drop_shape(struct tally_cache *cache, struct shape *shape)
{
	for (size_t i = 0; shape->references == 1 && i < cache->shapes.count; i++)
		if (cache->shapes.items[i] == shape) {
			cache->shapes.items[i] = cache->shapes.items[--cache->shapes.count];
			break;
		}
	shape_put(shape);
}

static void drop_tally(struct tally_cache *cache, size_t index)
{
	struct tally *tally = cache->tallies.items[index];

	cache->tallies.items[index] = cache->tallies.items[--cache->tallies.count];
	drop_shape(cache, tally->shape);
	tally_free(tally);
}

/* The one that has not been asked for the longest, and that nobody has; or SIZE_MAX. */
static size_t oldest(const struct tally_cache *cache)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < cache->tallies.count; i++) {
		const struct tally *tally = cache->tallies.items[i];

		if (!tally->references &&
		    (found == SIZE_MAX || tally->used_at < cache->tallies.items[found]->used_at))
			found = i;
	}
	return found;
}

/* … with so many bytes that are about to be added. */
static void keep_within_limit(struct tally_cache *cache, size_t more)
{
	while (cache->tallies.count > TALLIES_MOST ||
	       (cache->tallies.count + !!more > 1 && cache_size(cache) + more > tally_limit)) {
		size_t index = oldest(cache);

		if (index == SIZE_MAX)
			return;
		drop_tally(cache, index);
	}
}

/* What another one will take at most: as much as the largest while it was counted. */
static size_t expected_size(const struct tally_cache *cache)
{
	size_t largest = 0;

	for (size_t i = 0; i < cache->tallies.count; i++) {
		const struct tally *tally = cache->tallies.items[i];
		size_t size = tally_size(tally), counting = finished_counting_size(&tally->weights);

		size = counting > size ? counting : size;
		largest = size > largest ? size : largest;
	}
	return largest;
}

static struct tally_cache *cache_of(struct session *session)
{
	if (!session->tallies)
		session->tallies = xcalloc(1, sizeof(*session->tallies));
	return session->tallies;
}

static struct shape *find_shape(struct session *session, const struct query *query, bool united)
{
	struct tally_cache *cache = cache_of(session);
	char *key = shape_key(session, query, united);

	for (size_t i = 0; i < cache->shapes.count; i++)
		if (!strcmp(cache->shapes.items[i]->key, key)) {
			free(key);
			return cache->shapes.items[i];
		}
	struct shape *shape = shape_get(session, query, united);

	shape->key = key;
	*vec_push(&cache->shapes) = shape;
	return shape;
}

static struct tally *find_tally(struct session *session, const struct query *query, uint32_t group,
				bool squares)
{
	struct tally_cache *cache = cache_of(session);
	bool united = query->compare != COMPARE_OFF && session->groups.count > 1;
	/* A second whole tree takes about as much as sums do, while it is made. */
	if (query->inlines && !session->trees[query->mode][true].is_made)
		keep_within_limit(cache, 2 * expected_size(cache));
	struct shape *shape = find_shape(session, query, united);
	char *key = tally_key(shape->key, query, group, squares);

	for (size_t i = 0; i < cache->tallies.count; i++)
		if (!strcmp(cache->tallies.items[i]->key, key)) {
			free(key);
			return cache->tallies.items[i];
		}
	struct tally *tally = tally_make(session, query, shape);

	keep_within_limit(cache, expected_size(cache));
	tally->key = key;
	tally->group = group;
	tally->squares = squares;
	tally->weights.nodes = shape->tree->nodes.count;
	if (!session->has_no_events)
		tally_count(tally, shape->tree->nodes.count, &tally->weights, tree_nodes);
	*vec_push(&cache->tallies) = tally;
	return tally;
}

struct tally *tally_part(struct session *session, const struct query *query, uint32_t group,
			 bool squares)
{
	session_enter(session);

	/* What an answer asks for itself on its way has no watch of its own. */
	if (!session->tallies_held++)
		session->watch = query->watch;
	struct tally *tally = find_tally(session, query, group, squares);

	tally->references++;
	tally->used_at = ++session->tallies->requests;
	return tally;
}

struct tally *tally_of(struct session *session, const struct query *query)
{
	return tally_part(session, query, query->group, false);
}

/* One that was cancelled may lack events. */
static void forget(struct tally_cache *cache, struct tally *tally)
{
	for (size_t i = 0; !tally->references && i < cache->tallies.count; i++)
		if (cache->tallies.items[i] == tally) {
			drop_tally(cache, i);
			return; /* it is gone */
		}
}

void tally_release(struct tally *tally)
{
	struct session *session = tally->session;

	tally->references--;
	if (session->watch && session->watch->cancelled)
		forget(session->tallies, tally);
	keep_within_limit(session->tallies, 0);
	if (!--session->tallies_held)
		session->watch = NULL;
	session_leave(session);
}

void tallies_fini(struct session *session)
{
	struct tally_cache *cache = session->tallies;

	if (!cache)
		return;
	while (cache->tallies.count)
		drop_tally(cache, cache->tallies.count - 1);
	vec_fini(&cache->tallies);
	vec_fini(&cache->shapes);
	free(cache);
}
