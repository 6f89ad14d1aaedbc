/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a list of experiments, one file:
 *
 *   text      the experiments: every file's path, inode, size, times, and a hash of its ends
 *   payload   load objects, functions
 *   text      the load objects: size and time of each and of its debug file
 *   payload   processes, counters, tree, weights; tree and weights with inlined calls, or nothing;
 *             warnings
 *
 * Both texts are made again and compared before anything is believed.  Only experiments whose
 * processes have all ended are kept: mapped files change without a sign.  cache_code.c keeps
 * what belongs to it of the code, in a file of its own.
 */
#include "analysis/cache/cache.h"

#include "analysis/cache/cache_code.h"
#include "analysis/cache/cache_file.h"
#include "analysis/cache/cache_source.h"
#include "analysis/cache/cache_sums.h"
#include "analysis/kinds/counter.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/tally.h"
#include "experiment/group.h"
#include "object/elf/debuginfod.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CACHE_LEAST_EVENTS = 200000, /* fewer are read faster than they are worth a file */
	CACHE_FILES = 64,
};

static const uint64_t cache_limit = 512u << 20; /* bytes that all files may take */
static const char cache_ending[] = CACHE_SUMS_ENDING;

/* ---- what tells that the sums still hold ---- */

/* What the paths are, and what they lead to: one file for each list of both. */
char *cache_sums_key(char *const *paths, size_t count)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < count; i++) {
		char *real = realpath(paths[i], NULL);

		strbuf_printf(&text, "%s\n%s\n", paths[i], real ? real : "");
		free(real);
	}
	return strbuf_steal(&text);
}

/* The paths as given are part of what is printed. */
struct cache_sign cache_sums_sign(char *const *paths, size_t count, enum cache_scope scope)
{
	struct strbuf text = {0};

	cache_describe_program(&text, scope);
	for (size_t i = 0; i < count; i++) {
		char *real = realpath(paths[i], NULL);

		strbuf_printf(&text, "%s\n", paths[i]);
		if (real)
			cache_describe_directory(&text, real, scope);
		free(real);
	}
	return (struct cache_sign){strbuf_steal(&text), scope};
}

static char *describe_objects(const struct string_table *keys, enum cache_scope scope)
{
	struct strbuf text = {0};

	for (uint32_t i = 1; i < keys->count; i++)
		cache_describe_object(&text, string_table_text(keys, i), scope);
	return strbuf_steal(&text);
}

/* ---- writing ---- */

static void put_processes(struct strbuf *out, const struct session *session)
{
	cache_put_u64(out, session->processes.count);
	for (size_t i = 0; i < session->processes.count; i++) {
		const struct process_info *process = &session->processes.items[i];

		cache_put_u64(out, process->founder);
		cache_put_text(out, process->path);
		cache_put_text(out, process->name);
		cache_put_text(out, process->target);
	}
}

/* What was recorded, be there events or not. */
static void put_recorded(struct strbuf *out, const struct session *session)
{
	cache_put_u64(out, session->has_clock_data);
	cache_put_u64(out, session->only_gprofng);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		cache_put_u64(out, session->has_trace[kind]);
}

/* With what opens its file again. */
static void put_object(struct strbuf *out, const struct load_object *object)
{
	cache_put_text(out, object->path);
	cache_put_text(out, object->name);
	cache_put_text(out, object->archive);
	cache_put_text(out, object->build_id);
	cache_put_number(out, object->mtime);
	cache_put_number(out, object->file_size);
	cache_put_number(out, (object->object || object->is_unsought) && object->used);
}

static void put_functions(struct strbuf *out, struct session *session)
{
	cache_put_u64(out, session->objects.count);
	for (uint32_t i = 0; i < session->objects.count; i++) {
		cache_put_text(out, string_table_text(&session->object_keys, i));
		put_object(out, &session->objects.items[i]);
	}
	cache_put_u64(out, session->functions.count);
	for (size_t i = 0; i < session->functions.count; i++) {
		const struct function *function = &session->functions.items[i];

		cache_put_number(out, function->origin);
		cache_put_number(out, function->object);
		cache_put_number(out, function->address);
		cache_put_number(out, function->size);
		cache_put_number(out, function->symbol != OBJECT_NO_FUNCTION);
		cache_put_text(out, function->mangled);
		cache_put_text(out, function->aliases);
		cache_put_text(out, symbols_source(session, (uint32_t)i));
		for (unsigned style = 0; style < NAME_STYLES; style++)
			cache_put_text(out,
				       symbols_name(session, (uint32_t)i, (enum name_style)style));
	}
}

/* Where experiments keep copies of load objects and sources. */
static void put_places(struct strbuf *out, const struct session *session)
{
	cache_put_u64(out, session->places.count);
	for (size_t i = 0; i < session->places.count; i++) {
		cache_put_text(out, session->places.items[i].path);
		cache_put_text(out, session->places.items[i].archives);
	}
}

static void put_counters(struct strbuf *out, const struct session *session)
{
	cache_put_u64(out, session->counters.count);
	for (size_t i = 0; i < session->counters.count; i++) {
		const struct metric *metric = &session->counters.items[i];

		cache_put_text(out, metric->command);
		cache_put_text(out, metric->title);
		cache_put_text(out, metric->description);
		cache_put_u64(out, metric->unit);
		cache_put_u64(out, metric->has_address);
		cache_put_u64(out, (uint64_t)metric->hz);
		cache_put_u64(out, metric->measure);
		cache_put_u64(out, metric->divisor);
		cache_put_u64(out, metric->scale);
	}
}

void cache_sums_put_tree(struct strbuf *out, const struct call_tree *tree,
			 const struct finished_sums *weights)
{
	size_t count = tree->nodes.count;

	cache_put_u64(out, count);
	for (size_t i = 0; i < count; i++) {
		cache_put_number(out, i - tree->nodes.items[i].parent);
		cache_put_number(out, tree->nodes.items[i].function);
	}
	cache_put_sums(out, weights);
}

static void put_sums(struct strbuf *out, struct session *session, bool inlines)
{
	const struct query all = {.inlines = inlines};
	struct tally *tally = tally_of(session, &all);

	cache_sums_put_tree(out, tally->shape->tree, &tally->weights);
	tally_release(tally);
}

static void put_warnings(struct strbuf *out, const struct diag_list *warnings)
{
	cache_put_u64(out, warnings->count);
	for (size_t i = 0; i < warnings->count; i++) {
		cache_put_u64(out, warnings->items[i].level);
		cache_put_u64(out, warnings->items[i].about);
		cache_put_text(out, warnings->items[i].text);
	}
}

/* Which methods belong to which mode is told by what the program announced, which is not kept. */
bool cache_sums_may_keep(const struct session *session)
{
	return !session->has_java;
}

/* Whether the files can no more change, and are worth it. */
static bool may_keep(const struct session *session, size_t count)
{
	uint64_t events = 0;

	if (session->experiments.count != count || !cache_sums_may_keep(session))
		return false;
	for (size_t i = 0; i < session->processes.count; i++) {
		if (!session->processes.items[i].ended)
			return false;
		events += session->processes.items[i].event_count;
	}
	return events >= CACHE_LEAST_EVENTS || cache_keeps_all();
}

void cache_sums_compose(struct strbuf *body, struct session *session, const struct cache_sign *sign,
			const struct strbuf *sums, const struct strbuf *inlined)
{
	char *objects = describe_objects(&session->object_keys, sign->scope);

	cache_put_text(body, sign->experiments);
	put_functions(body, session);
	cache_put_text(body, objects);
	put_places(body, session);
	put_processes(body, session);
	put_counters(body, session);
	strbuf_add(body, sums->text, sums->length);
	cache_put_u64(body, inlined->length > 0);
	if (inlined->length)
		strbuf_add(body, inlined->text, inlined->length);
	put_warnings(body, &session->warnings);
	put_recorded(body, session);
	free(objects);
}

void cache_sums_put(struct strbuf *body, struct session *session, const struct cache_sign *sign,
		    bool with_inlines)
{
	struct strbuf sums = {0}, inlined = {0};

	if (with_inlines) /* there are more functions from now on */
		put_sums(&inlined, session, true);
	put_sums(&sums, session, false);
	cache_sums_compose(body, session, sign, &sums, &inlined);
	strbuf_fini(&sums);
	strbuf_fini(&inlined);
}

/*
 * Keeps what cache_open needs of a session that nothing has been chosen in.  Not where names were
 * put off, since they come from a debug file that is not there yet.
 */
static void keep(struct session *session, const char *name, const struct cache_sign *sign,
		 bool with_inlines, uint64_t put_off)
{
	struct strbuf body = {0};

	cache_sums_put(&body, session, sign, with_inlines);
	if (debuginfod_awaited().put_off == put_off &&
	    cache_write(name, &body, &session->sums_checksum)) {
		cache_evict(cache_ending, CACHE_FILES, cache_limit);
		session->code_name = xasprintf("%s" CACHE_CODE_ENDING, name);
		session->kept_functions = session->functions.count;
	}
	strbuf_fini(&body);
}

size_t cache_clear(void)
{
	size_t removed = cache_evict(cache_ending, 0, 0);

	cache_evict(CACHE_SOURCE_ENDING, 0, 0);
	cache_evict(CACHE_SHARE_ENDING, 0, 0);
	return removed;
}

/* ---- reading ---- */

static void take_function(struct cache_reader *reader, struct session *session)
{
	struct function *function = vec_push(&session->functions);

	function->origin = (enum function_origin)cache_take_below(reader, ORIGIN_LISTED + 1);
	function->object = cache_take_below(reader, session->objects.count);
	function->address = cache_take_number(reader);
	function->size = cache_take_number(reader);
	function->symbol = cache_take_number(reader) ? SYMBOL_UNSOUGHT : OBJECT_NO_FUNCTION;
	function->inlined = LINES_NONE;
	function->mangled = cache_take_text(reader);
	function->aliases = cache_take_text(reader);
	function->source = cache_take_text(reader);
	reader->bad |= !function->mangled;
	for (size_t style = 0; style < NAME_STYLES; style++) {
		function->names[style] = cache_take_text(reader);
		reader->bad |= !function->names[style];
	}
}

static void take_object(struct cache_reader *reader, struct load_object *object)
{
	object->path = cache_take_text(reader);
	object->name = cache_take_text(reader);
	object->archive = cache_take_text(reader);
	object->build_id = cache_take_text(reader);
	object->mtime = cache_take_number(reader);
	object->file_size = cache_take_number(reader);
	object->used = object->is_file = cache_take_number(reader);
	object->is_unsought = true;
	object->rest_function = NODE_NONE;
	reader->bad |= !object->path || !object->name;
}

static bool take_functions(struct cache_reader *reader, struct session *session)
{
	size_t count = cache_take_count(reader, 5 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct load_object *object = vec_push(&session->objects);
		const char *key = cache_take_text(reader);

		take_object(reader, object);
		reader->bad |=
			!key || reader->bad || string_table_add(&session->object_keys, key) != i;
	}
	count = cache_take_count(reader, 6 * sizeof(uint64_t));
	for (size_t i = 0; i < count && !reader->bad; i++)
		take_function(reader, session);
	return !reader->bad && session->functions.count >= FUNCTION_FIRST_REAL;
}

static void take_processes(struct cache_reader *reader, struct session *session)
{
	size_t count = cache_take_count(reader, 4 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct process_info *process = vec_push(&session->processes);

		process->id = (uint32_t)i + 1;
		process->founder = (uint32_t)cache_take_u64(reader);
		process->path = cache_take_text(reader);
		process->name = cache_take_text(reader);
		process->target = cache_take_text(reader);
		process->lineage = "";
		reader->bad |= !process->path || !process->name || !process->target;
	}
	reader->bad |= !count;
}

static void take_recorded(struct cache_reader *reader, struct session *session)
{
	session->has_clock_data = cache_take_u64(reader);
	session->only_gprofng = cache_take_u64(reader);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		session->has_trace[kind] = cache_take_u64(reader);
}

static void take_counters(struct cache_reader *reader, struct session *session)
{
	size_t count = cache_take_count(reader, 4 * sizeof(uint64_t));

	reader->bad |= count > MEASURE_COUNTERS_MAX + COUNTER_QUOTIENTS;
	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct metric *metric = vec_push(&session->counters);

		metric->command = cache_take_text(reader);
		metric->title = cache_take_text(reader);
		metric->description = cache_take_text(reader);
		metric->unit = (enum metric_unit)cache_take_u64(reader);
		metric->has_address = cache_take_u64(reader);
		metric->hz = (double)cache_take_u64(reader);
		metric->measure = (unsigned)cache_take_u64(reader);
		metric->divisor = (unsigned)cache_take_u64(reader);
		metric->scale = (unsigned)cache_take_u64(reader);
		metric->if_data = true;
		reader->bad |= !metric->command || !metric->title || metric->unit > UNIT_TEXT ||
			       metric->measure >= MEASURE_COUNT ||
			       metric->divisor >= MEASURE_COUNT || metric->scale > 63;
	}
}

static void take_places(struct cache_reader *reader, struct session *session)
{
	size_t count = cache_take_count(reader, 2 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct session_place *place = vec_push(&session->places);

		place->path = cache_take_text(reader);
		place->archives = cache_take_text(reader);
		reader->bad |= !place->path || !place->archives;
	}
}

static void take_sums(struct cache_reader *reader, struct session *session, bool inlines)
{
	struct whole_tree *whole = &session->trees[VIEW_USER][inlines];
	struct call_tree *tree = &whole->tree;
	size_t count = cache_take_count(reader, 2);
	struct tree_node *nodes = xcalloc(count + 1, sizeof(*nodes));

	tree->nodes.items = nodes;
	tree->nodes.count = count;
	tree->nodes.capacity = count + 1;
	reader->bad |= !count;
	for (size_t i = 0; i < count && !reader->bad; i++) {
		nodes[i].parent = (uint32_t)(i - cache_take_below(reader, i + 1));
		nodes[i].function = cache_take_below(reader, session->functions.count);
		reader->bad |= i && nodes[i].parent == i;
	}
	cache_take_sums(reader, count, &whole->kept);
	whole->inlines = inlines;
	whole->is_made = true;
}

static void take_warnings(struct cache_reader *reader, struct session *session)
{
	size_t count = cache_take_count(reader, 3 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		enum diag_level level = cache_take_u64(reader) ? DIAG_WARNING : DIAG_NOTE;
		uint32_t about = (uint32_t)cache_take_u64(reader);
		const char *text = cache_take_text(reader);

		reader->bad |= !text;
		session->warnings.about = about;
		if (text)
			diag_add(&session->warnings, level, "%s", text);
	}
	session->warnings.about = 0;
}

static bool take_session(struct cache_reader *reader, struct session *session,
			 enum cache_scope scope)
{
	if (!take_functions(reader, session))
		return false;
	char *objects = describe_objects(&session->object_keys, scope);
	bool same = cache_take_same(reader, objects);

	free(objects);
	if (!same)
		return false;
	take_places(reader, session);
	take_processes(reader, session);
	take_counters(reader, session);
	take_sums(reader, session, false);
	if (cache_take_u64(reader))
		take_sums(reader, session, true);
	for (size_t k = 0; k < MEASURE_COUNT; k++)
		session->present[k] = session->trees[VIEW_USER][false].kept.of[k];
	take_warnings(reader, session);
	take_recorded(reader, session);
	return !reader->bad && reader->at == reader->end;
}

struct session *cache_sums_load(const char *name, const struct cache_sign *sign, bool with_inlines)
{
	struct cache_reader reader;

	if (!cache_read(name, &reader))
		return NULL;
	struct session *session = session_new();

	session->has_no_events = session->is_settled = true;
	session->kept = reader.body;
	session->sums_checksum = reader.checksum;
	if (!cache_take_same(&reader, sign->experiments) ||
	    !take_session(&reader, session, sign->scope) ||
	    (with_inlines && !session->trees[VIEW_USER][true].is_made)) {
		session_free(session);
		return NULL;
	}
	session->kept_functions = session->functions.count;
	return session;
}

/* The same with what is kept of its code. */
static struct session *load_with_code(const char *name, const struct cache_sign *sign,
				      bool with_inlines)
{
	struct session *session = cache_sums_load(name, sign, with_inlines);

	if (session) {
		session->code_name = xasprintf("%s" CACHE_CODE_ENDING, name);
		if (cache_load_code(session))
			return session;
	}
	session_free(session);
	return NULL;
}

bool cache_is_sums(const struct session *session)
{
	return session->has_no_events;
}

bool cache_has_inlines(const struct session *session)
{
	return !session->has_no_events || session->trees[VIEW_USER][true].is_made;
}

enum status cache_open(char *const *paths, size_t count, bool with_code, bool with_inlines,
		       struct watch *watch, struct session **out, struct diag_list *diags)
{
	int folder = cache_open_folder();
	struct experiment_paths all = {0};
	struct diag_list twins = {0};
	struct cache_sign sign = {0};
	char *name = NULL;
	enum status status = STATUS_OK;
	uint64_t put_off = debuginfod_awaited().put_off;

	*out = NULL;
	if (folder >= 0) {
		close(folder);
		for (size_t i = 0; i < count; i++)
			experiment_paths_add(&all, paths[i]);
		experiment_paths_drop_twins(&all, &twins); /* as session_open() has them */
		char *key = cache_sums_key(all.items, all.count);

		sign = cache_sums_sign(all.items, all.count, CACHE_HERE);
		name = cache_name(key, cache_ending);
		*out = with_code ? load_with_code(name, &sign, with_inlines)
				 : cache_sums_load(name, &sign, with_inlines);
		free(key);
	}
	for (size_t i = 0; *out && i < twins.count; i++)
		diag_add(diags, twins.items[i].level, "%s", twins.items[i].text);
	if (!*out) {
		status = session_open(paths, count, watch, out, diags);
		if (status == STATUS_OK && name && may_keep(*out, all.count))
			keep(*out, name, &sign, with_inlines, put_off);
	}
	experiment_paths_fini(&all);
	diag_fini(&twins);
	free(name);
	free(sign.experiments);
	return status;
}
