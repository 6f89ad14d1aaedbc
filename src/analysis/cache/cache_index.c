/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each process makes the sums of its share of the experiments, then they are merged in pairs, in
 * log2(n) rounds: what a file has is the sums of the shares [first, first + length).  They lie in
 * order, so whatever is met first in the merged one, functions and nodes of the tree, is what one
 * process would have met first; and sums are whole numbers.
 *
 * The files are those of the cache, with what tells that they still hold.  A process that fails
 * leaves a file that says why, so that nobody waits for it.
 */
#include "analysis/cache/cache_index.h"

#include "analysis/cache/cache_file.h"
#include "analysis/cache/cache_sums.h"
#include "analysis/kinds/counter.h"
#include "analysis/session/session_state.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/tree.h"
#include "base/folder.h"
#include "experiment/group.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Stands where the text of the experiments would. */
static const char failure_mark[] = "no sums";

enum { PARTS_KEPT = 4096 }; /* of jobs that were ended */

struct index_job {
	const struct session_share *share;
	char *key;
	/* parts are read on other machines too, what they become on this one alone */
	struct cache_sign here, anywhere;
	void (*waiting)(unsigned share);
	struct diag_list *diags;
	bool is_told; /* why it fails is another process's reason */
};

/* ---- merging ---- */

struct merging {
	struct session *from[2], *to;
	uint32_t *objects[2], *functions[2]; /* of from: their numbers in `to` */
	struct string_table keys;	     /* of functions → number */
	struct strbuf sums[2];		     /* without and with inlined calls */
};

static void merge_objects(struct merging *merging, int side)
{
	struct session *from = merging->from[side], *to = merging->to;

	merging->objects[side] = xcalloc(from->objects.count + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < from->objects.count; i++) {
		const struct load_object *object = &from->objects.items[i];
		uint32_t id = string_table_add(&to->object_keys,
					       string_table_text(&from->object_keys, i));

		if (id == to->objects.count)
			*vec_push(&to->objects) = *object;
		to->objects.items[id].used |= object->used;
		to->objects.items[id].is_file |= object->is_file;
		merging->objects[side][i] = id;
	}
}

/*
 * What one function is: its place in a load object, or else name and source; of several that agree
 * the first is the other's first.
 */
static uint32_t key_of(struct merging *merging, struct string_table *own,
		       const struct function *function, uint32_t object)
{
	bool has_code = function->symbol != OBJECT_NO_FUNCTION;
	char *key = NULL;

	for (unsigned n = 0; !key; n++) {
		size_t before = own->count;

		key = xasprintf("%u %d %u %llx %s\n%s", object, (int)function->origin, n,
				has_code ? (unsigned long long)function->address : 0,
				function->mangled, function->source ? function->source : "");
		if (string_table_add(own, key) < before) {
			free(key);
			key = NULL;
		}
	}

	uint32_t id = string_table_add(&merging->keys, key);

	free(key);
	return id;
}

/* Those that only trees with inlined calls have come behind all others, as in one session. */
static void merge_functions(struct merging *merging, int side, bool inlined)
{
	struct session *from = merging->from[side], *to = merging->to;
	struct string_table own = {0};

	for (uint32_t i = 0; i < from->functions.count; i++) {
		struct function function = from->functions.items[i];
		uint32_t object = merging->objects[side][function.object], id;

		if ((function.origin == ORIGIN_INLINED) != inlined)
			continue;
		id = key_of(merging, &own, &function, object);
		function.object = object;
		if (id == to->functions.count)
			*vec_push(&to->functions) = function;
		merging->functions[side][i] = id;
	}
	string_table_fini(&own);
}

static void add_weights(struct measure_sums *sums, const struct kept_sums *kept,
			const uint32_t *nodes)
{
	uint64_t *values = xcalloc(kept->nodes + 1, sizeof(*values));

	for (unsigned k = 0; k < MEASURE_COUNT; k++) {
		if (!cache_values(kept, (enum measure)k, values))
			continue;
		for (size_t i = 0; i < kept->nodes; i++)
			measure_add(sums, (enum measure)k, nodes[i], values[i]);
	}
	free(values);
}

/* The nodes of a tree in the merged one; the caller frees the array. */
static uint32_t *merge_nodes(struct call_tree *to, const struct call_tree *from,
			     const uint32_t *functions)
{
	uint32_t *nodes = xcalloc(from->nodes.count + 1, sizeof(*nodes));

	for (size_t i = 1; i < from->nodes.count; i++) {
		const struct tree_node *node = &from->nodes.items[i];

		nodes[i] = tree_add_node(to, nodes[node->parent], functions[node->function]);
	}
	return nodes;
}

static void merge_sums(struct merging *merging, bool inlines)
{
	struct measure_sums sums = {0};
	struct finished_sums finished = {0};
	struct call_tree tree = {0};
	uint32_t *nodes[2];

	tree_init(&tree);
	for (int side = 0; side < 2; side++)
		nodes[side] =
			merge_nodes(&tree, &merging->from[side]->trees[VIEW_USER][inlines].tree,
				    merging->functions[side]);
	measure_grow(&sums, tree.nodes.count);
	for (int side = 0; side < 2; side++) {
		add_weights(&sums, &merging->from[side]->trees[VIEW_USER][inlines].kept,
			    nodes[side]);
		free(nodes[side]);
	}
	measure_finish(&finished, &sums);
	if (!inlines)
		counters_add_quotients(merging->to, &finished);
	cache_sums_put_tree(&merging->sums[inlines], &tree, &finished);
	finished_fini(&finished);
	call_tree_fini(&tree);
}

/* Quotients are made anew: they depend on the size of all sums together. */
static void merge_counters(struct session *to, const struct session *from)
{
	for (size_t i = 0; i < from->counters.count; i++) {
		bool is_known = from->counters.items[i].unit == UNIT_RATIO;

		for (size_t k = 0; k < to->counters.count; k++)
			is_known |= !strcmp(to->counters.items[k].command,
					    from->counters.items[i].command);
		if (!is_known)
			*vec_push(&to->counters) = from->counters.items[i];
	}
}

/* What both have of all processes, and what each has of its own. */
static void merge_facts(struct session *to, const struct session *from, bool first)
{
	for (size_t i = 0; first && i < from->processes.count; i++)
		*vec_push(&to->processes) = from->processes.items[i];
	for (size_t i = 0; first && i < from->places.count; i++)
		*vec_push(&to->places) = from->places.items[i];
	merge_counters(to, from);
	for (size_t i = 0; i < from->warnings.count; i++) {
		const struct diag *warning = &from->warnings.items[i];

		to->warnings.about = warning->about;
		diag_add_once(&to->warnings, warning->level, "%s", warning->text);
	}
	to->has_clock_data |= from->has_clock_data;
	to->only_gprofng = from->only_gprofng;
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		to->has_trace[kind] |= from->has_trace[kind];
}

static void merge(struct merging *merging)
{
	for (int side = 0; side < 2; side++) {
		size_t count = merging->from[side]->functions.count;

		merge_objects(merging, side);
		merging->functions[side] = xcalloc(count + 1, sizeof(uint32_t));
		merge_facts(merging->to, merging->from[side], side == 0);
	}
	for (int step = 0; step < 4; step++)
		merge_functions(merging, step % 2, step / 2);
	for (int inlines = 0; inlines < 2; inlines++)
		merge_sums(merging, inlines);
}

void cache_index_merge(struct strbuf *body, struct session *first, struct session *second,
		       const struct cache_sign *sign)
{
	struct merging merging = {.from = {first, second}, .to = session_new()};

	merge(&merging);
	cache_sums_compose(body, merging.to, sign, &merging.sums[false], &merging.sums[true]);
	for (int side = 0; side < 2; side++) {
		free(merging.objects[side]);
		free(merging.functions[side]);
		strbuf_fini(&merging.sums[side]);
	}
	string_table_fini(&merging.keys);
	/* the load objects are the others' */
	vec_fini(&merging.to->objects);
	session_free(merging.to);
}

/* ---- files ---- */

static bool is_last(const struct index_job *job, unsigned first, unsigned length)
{
	return !first && length >= job->share->count;
}

static const struct cache_sign *sign_of(const struct index_job *job, unsigned first,
					unsigned length)
{
	return is_last(job, first, length) ? &job->here : &job->anywhere;
}

/* The last one has the name by which cache_open() looks for it. */
static char *part_name(const struct index_job *job, unsigned first, unsigned length)
{
	unsigned rest = job->share->count - first, real = length < rest ? length : rest;
	char *key = xasprintf("%s%u %u %u\n", job->key, first, real, job->share->count);
	char *name = is_last(job, first, length) ? cache_name(job->key, CACHE_SUMS_ENDING)
						 : cache_name(key, CACHE_SHARE_ENDING);

	free(key);
	return name;
}

static enum status write_part(const struct index_job *job, unsigned length,
			      const struct strbuf *body)
{
	char *name = part_name(job, job->share->number, length);
	uint64_t checksum;
	bool ok = cache_write(name, body, &checksum);

	if (!ok)
		diag_add(job->diags, DIAG_ERROR, "the sums cannot be written to the user's cache");
	free(name);
	return ok ? STATUS_OK : STATUS_IO;
}

static void remove_part(const struct index_job *job, unsigned first, unsigned length)
{
	char *name = part_name(job, first, length);
	int folder = cache_open_folder();

	if (folder >= 0) {
		unlinkat(folder, name, 0);
		close(folder);
	}
	free(name);
}

/* The length of what the process hands to another one; of number 0 that of all. */
static unsigned last_length(const struct session_share *share)
{
	unsigned length = 1;

	while (length < share->count && share->number % (2 * length) == 0)
		length *= 2;
	return length;
}

/* In place of sums: why there are none. */
static void write_failure(const struct index_job *job)
{
	const char *why = "";
	struct strbuf body = {0};
	uint64_t checksum;
	char *name = part_name(job, job->share->number, last_length(job->share)), *text;

	for (size_t i = 0; i < job->diags->count; i++)
		if (job->diags->items[i].level == DIAG_ERROR)
			why = job->diags->items[i].text;
	text = job->is_told ? xstrdup(why) : xasprintf("process %u: %s", job->share->number, why);
	cache_put_text(&body, failure_mark);
	cache_put_text(&body, text);
	cache_write(name, &body, &checksum);
	strbuf_fini(&body);
	free(text);
	free(name);
}

/*
 * What there is of a part that is not to be had: nothing; sums that do not hold on this machine; or
 * the reason why there are none, in *why, the caller's to free.
 */
enum lack { LACK_ALL, LACK_VALID, LACK_SUMS };

static enum lack find_lack(const char *name, char **why)
{
	struct cache_reader reader;
	const char *text = NULL;
	enum lack lack = LACK_ALL;

	*why = NULL;
	if (!cache_read(name, &reader))
		return lack;
	lack = cache_take_same(&reader, failure_mark) ? LACK_SUMS : LACK_VALID;
	if (lack == LACK_SUMS)
		text = cache_take_text(&reader);
	*why = text ? xstrdup(text) : NULL;
	free(reader.body);
	return lack;
}

/* That nobody makes it any more. */
static void give_up(struct index_job *job, unsigned first, unsigned length, const char *why)
{
	job->is_told = true;
	if (why)
		diag_add(job->diags, DIAG_ERROR, "%s", why);
	else
		diag_add(job->diags, DIAG_ERROR,
			 "the sums of process %u do not hold for process %u: they see different "
			 "experiments or load objects, or these have changed meanwhile",
			 first, job->share->number);
	remove_part(job, first, length);
}

/*
 * Another process makes it: sooner or later it is there.  What an earlier job has left in its place
 * is removed by the process when it begins, for which it has some time.
 */
static struct session *await_part(struct index_job *job, unsigned first, unsigned length)
{
	enum { NAP_NS = 5000000, NAPS_TOLD = 2000, NAPS_FAILED = 1000, LONG_NAPS_INVALID = 300 };
	const struct timespec nap = {.tv_nsec = NAP_NS}, long_nap = {.tv_nsec = 20 * NAP_NS};
	char *name = part_name(job, first, length), *why;
	unsigned bad = 0, most;
	struct session *session;

	for (int naps = 0;; naps++) {
		session = cache_sums_load(name, sign_of(job, first, length), true);
		if (session)
			break;
		enum lack lack = find_lack(name, &why);

		bad = lack == LACK_ALL ? 0 : bad + 1;
		most = lack == LACK_SUMS ? NAPS_FAILED : LONG_NAPS_INVALID;
		if (bad > most)
			give_up(job, first, length, why);
		free(why);
		if (bad > most)
			break;
		if (naps == NAPS_TOLD)
			job->waiting(first);
		nanosleep(lack == LACK_VALID ? &long_nap : &nap, NULL); /* it may be large */
	}
	free(name);
	return session;
}

/* What this process has written: where it is no more, nobody makes it again. */
static struct session *own_part(const struct index_job *job, unsigned length)
{
	unsigned own = job->share->number;
	char *name = part_name(job, own, length);
	struct session *session = cache_sums_load(name, sign_of(job, own, length), true);

	if (!session)
		diag_add(
			job->diags, DIAG_ERROR,
			"the sums that were written to the user's cache are gone from there, or do "
			"not hold any more");
	free(name);
	return session;
}

/* ---- the shares ---- */

/* Whether what was opened can be kept. */
static enum status check_share(const struct index_job *job, const struct session *session,
			       size_t count)
{
	if (session->experiments.count != count) /* diags says why */
		return STATUS_INVALID;
	for (size_t i = 0; i < session->processes.count; i++)
		if (!session->processes.items[i].ended) {
			diag_add(job->diags, DIAG_ERROR,
				 "%s has not ended in order, and is not kept",
				 session->processes.items[i].name);
			return STATUS_INVALID;
		}
	if (cache_sums_may_keep(session))
		return STATUS_OK;
	diag_add(job->diags, DIAG_ERROR,
		 "the sums of Java programs are not kept: which functions are shown depends on the "
		 "view mode");
	return STATUS_INVALID;
}

static enum status make_share(const struct index_job *job, char *const *paths, size_t count)
{
	struct session *session;
	struct strbuf body = {0};
	enum status status = session_open_share(paths, count, job->share, &session, job->diags);

	if (status)
		return status;
	status = check_share(job, session, count);
	if (status == STATUS_OK) {
		cache_sums_put(&body, session, sign_of(job, job->share->number, 1), true);
		status = write_part(job, 1, &body);
	}
	strbuf_fini(&body);
	session_free(session);
	return status;
}

/* Ours are [number, number + length), the neighbour's follow. */
static enum status join(struct index_job *job, unsigned length)
{
	unsigned own = job->share->number;
	struct session *first = own_part(job, length);
	struct session *second = first ? await_part(job, own + length, length) : NULL;
	struct strbuf body = {0};
	enum status status = STATUS_INVALID;

	if (second) {
		cache_index_merge(&body, first, second, sign_of(job, own, 2 * length));
		status = write_part(job, 2 * length, &body);
	}
	strbuf_fini(&body);
	session_free(first);
	session_free(second);
	if (status)
		return status;
	remove_part(job, own, length);
	remove_part(job, own + length, length);
	return STATUS_OK;
}

static enum status run(struct index_job *job, char *const *paths, size_t count)
{
	unsigned own = job->share->number, all = job->share->count;
	enum status status;

	if (own)
		remove_part(job, own, last_length(job->share)); /* of an earlier job */
	status = make_share(job, paths, count);
	for (unsigned length = 1; status == STATUS_OK && length < all; length *= 2) {
		if (own % (2 * length))
			break;
		if (own + length < all) /* else nobody follows in this round */
			status = join(job, length);
	}
	if (status && own)
		write_failure(job);
	if (!own)
		cache_evict(CACHE_SHARE_ENDING, PARTS_KEPT, SIZE_MAX);
	return status;
}

enum status cache_index(char *const *paths, size_t count, const struct session_share *share,
			void (*waiting)(unsigned share), struct diag_list *diags)
{
	struct experiment_paths all = {0};
	struct diag_list unheard = {0};
	int folder = cache_open_folder();
	enum status status;

	if (folder < 0) {
		cache_add_refusal(diags);
		return STATUS_INVALID;
	}
	close(folder);
	for (size_t i = 0; i < count; i++)
		experiment_paths_add(&all, paths[i]);
	experiment_paths_drop_twins(&all, share->number ? &unheard : diags); /* said by one */

	struct index_job job = {.share = share,
				.key = cache_sums_key(all.items, all.count),
				.here = cache_sums_sign(all.items, all.count, CACHE_HERE),
				.anywhere = cache_sums_sign(all.items, all.count, CACHE_ANYWHERE),
				.waiting = waiting,
				.diags = diags};

	status = run(&job, all.items, all.count);
	free(job.key);
	free(job.here.experiments);
	free(job.anywhere.experiments);
	diag_fini(&unheard);
	experiment_paths_fini(&all);
	return status;
}
