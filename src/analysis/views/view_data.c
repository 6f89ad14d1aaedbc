/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of data objects.  Events are counted by the place that they belong to, in the place
 * of stacks; each place then adds to all objects that contain it.
 */
#include "analysis/views/view_data.h"
#include "analysis/data/data_map.h"
#include "analysis/data/memory_object.h"
#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/scan.h"
#include "analysis/tree/compare.h"
#include "analysis/tree/stack_set.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 32, CACHE_LINE = 64, LAYOUT_DEPTH_MAX = 8, LAYOUT_ROWS_MAX = 20000 };

/* What a thread of the scan works on. */
struct counting {
	const uint32_t *places; /* by row of the process's trace */
	uint32_t none;		/* stands for DATA_NONE */
	struct measure_sums sums;
};

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct counting *counting = state;
	struct measuring measuring = piece->measuring;
	const struct event_run *run = piece->run;
	uint32_t places[ROWS_PAGE];

	if (run->kind != (enum event_kind)(EVENTS_TRACE + TRACE_COUNTER))
		return;
	for (size_t i = 0; i < run->count; i++) {
		uint32_t place = counting->places[run->first + i];

		places[i] = place == DATA_NONE ? counting->none : place;
	}
	measuring.places = places;
	measuring.sums = &counting->sums;
	measure_run(run, &measuring);
}

static void count_process(const struct tally *tally, size_t index, struct measure_sums *out)
{
	const struct session *session = tally->session;
	struct data_map *map = session->data;
	size_t threads = scan_threads();
	struct counting *states = xcalloc(threads, sizeof(*states));
	void **pointers = xcalloc(threads, sizeof(*pointers));

	for (size_t i = 0; i < threads; i++) {
		states[i] = (struct counting){.places = map->processes.items[index],
					      .none = (uint32_t)map->places.count,
					      .sums = {.nodes = out->nodes}};
		pointers[i] = &states[i];
	}
	scan_process(tally, &session->scanned.items[index], count_piece, pointers);
	for (size_t i = 0; i < threads; i++)
		measure_fold(out, &states[i].sums, NULL);
	free(pointers);
	free(states);
}

struct adding {
	uint64_t *to;
	uint64_t value;
};

static void add_value(uint32_t object, void *arg)
{
	const struct adding *adding = arg;

	adding->to[object] += adding->value;
}

/* The sums of all objects, from those of places. */
static void sum_objects(const struct data_map *map, const struct measure_sums *places,
			struct measure_sums *out)
{
	*out = (struct measure_sums){.nodes = map->objects.count};
	for (size_t measure = 0; measure < MEASURE_COUNT; measure++) {
		struct adding adding;

		if (!places->of[measure])
			continue;
		adding.to = measure_array(out, (enum measure)measure);
		for (uint32_t i = 0; i < map->places.count; i++) {
			adding.value = places->of[measure][i];
			if (adding.value)
				data_place_each(map, i, add_value, &adding);
		}
	}
}

static void count_objects(const struct tally *tally, struct measure_sums *out)
{
	struct session *session = tally->session;
	struct data_map *map = data_map_of(session);
	struct measure_sums places = {.nodes = map->places.count + 1};

	for (size_t i = 0; i < session->scanned.count; i++)
		count_process(tally, i, &places);
	sum_objects(map, &places, out);
	measure_fini(&places);
}

/* ---- tables ---- */

static double value_of(const struct measure_sums *sums, uint32_t object,
		       const struct metric *metric)
{
	return metric->is_static ? 0 : values_convert(metric, values_at(sums, object, metric));
}

static bool is_touched(const struct measure_sums *sums, uint32_t object)
{
	return values_at(sums, object, &values_any) > 0;
}

static void fill_values(const struct measure_sums *sums, struct table *table, size_t row,
			uint32_t object)
{
	for (size_t i = 0; i < table->column_count; i++)
		table->values[row * table->column_count + i] =
			value_of(sums, object, table->columns[i].choice.metric);
}

static void fill_row(const struct data_map *map, const struct measure_sums *sums,
		     struct table *table, size_t row, uint32_t object)
{
	const struct data_object *of = &map->objects.items[object];

	table->rows[row].name = arena_strdup(&table->arena, of->name);
	table->rows[row].id = object;
	if (of->object != OBJECT_UNKNOWN)
		table_set_object(table, &table->rows[row],
				 map->session->objects.items[of->object].path);
	fill_values(sums, table, row, object);
}

/* Those touched, without <Total>, in the order of the query; the caller frees them. */
static struct sort_key *ordered(const struct data_map *map, const struct measure_sums *sums,
				const struct query *query, bool aggregates_only, size_t *count)
{
	struct sort_key *keys = xmalloc((map->objects.count + 1) * sizeof(*keys));

	*count = 0;
	for (uint32_t i = DATA_TOTAL + 1; i < map->objects.count; i++) {
		const struct data_object *object = &map->objects.items[i];

		if (!is_touched(sums, i) ||
		    (aggregates_only && object->kind != DATA_OBJECT_AGGREGATE))
			continue;
		keys[(*count)++] =
			sort_key_of(query, value_of(sums, i, query->sort.metric), object->name, i);
	}
	table_sort(keys, *count, query);
	return keys;
}

static void fill_objects(struct tally *tally, const struct query *query, const void *arg,
			 struct table *table)
{
	struct measure_sums sums;
	struct sort_key *keys;
	size_t rows;

	(void)arg;
	count_objects(tally, &sums);
	table_init(table, query, COLUMNS_EXCLUSIVE);
	table->title = "Data Objects";
	keys = ordered(tally->session->data, &sums, query, false, &rows);
	rows++;
	table_set_rows(table, query->limit && rows > query->limit ? query->limit : rows);
	for (size_t i = 0; i < table->row_count; i++)
		fill_row(tally->session->data, &sums, table, i, i ? keys[i - 1].index : DATA_TOTAL);
	memcpy(table->base, table->values, table->column_count * sizeof(double));
	free(keys);
	measure_fini(&sums);
}

static void fill_object(struct tally *tally, const struct query *query, const void *arg,
			struct table *table)
{
	const uint32_t *object = arg;
	struct measure_sums sums;

	count_objects(tally, &sums);
	table_init(table, query, COLUMNS_EXCLUSIVE);
	table->title = "Data Object";
	table_set_rows(table, 1);
	fill_row(tally->session->data, &sums, table, 0, *object);
	for (size_t i = 0; i < table->column_count; i++)
		table->base[i] = value_of(&sums, DATA_TOTAL, table->columns[i].choice.metric);
	measure_fini(&sums);
}

/* ---- layout ---- */

/* The lines of one aggregate, with numbers of their objects. */
struct layout_row {
	const char *name;
	uint32_t object; /* DATA_NONE: where a line of the cache begins */
	struct row_extent extent;
};
struct layout {
	struct data_map *map;
	struct arena *arena;
	VEC(struct layout_row) rows;
	uint64_t line; /* of the cache, that the next element is behind */
};

/* How an element lies in blocks of 32 bytes. */
static char marker(uint64_t offset, uint64_t size)
{
	uint64_t first = offset % BLOCK_SIZE;

	if (!size)
		return '?';
	if (size > BLOCK_SIZE)
		return '#';
	if (first + size > BLOCK_SIZE)
		return 'X';
	if (size == BLOCK_SIZE)
		return '<';
	if (!first)
		return '/';
	return first + size == BLOCK_SIZE ? '\\' : '|';
}

static void add_lines(struct layout *layout, uint64_t offset)
{
	for (; layout->line + CACHE_LINE <= offset; layout->line += CACHE_LINE)
		if (layout->line + 2 * CACHE_LINE > offset)
			*vec_push(&layout->rows) = (struct layout_row){
				arena_printf(layout->arena, "  ---- +%llu: next line of the cache",
					     (unsigned long long)layout->line + CACHE_LINE),
				DATA_NONE,
				{.offset = layout->line + CACHE_LINE}};
}

static void add_element(struct layout *layout, uint32_t object, unsigned depth);

static int by_offset(const void *a, const void *b)
{
	const struct data_member *x = *(const struct data_member *const *)a;
	const struct data_member *y = *(const struct data_member *const *)b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void add_elements(struct layout *layout, uint32_t parent, struct variables *variables,
			 uint32_t type, unsigned depth)
{
	const struct data_member *members;
	size_t count = variables_members(variables, type, &members);
	const struct data_member **sorted = xmalloc((count + 1) * sizeof(struct data_member *));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &members[i];
	qsort(sorted, count, sizeof(struct data_member *), by_offset);
	for (size_t i = 0; i < count && layout->rows.count < LAYOUT_ROWS_MAX; i++)
		add_element(layout, data_of_member(layout->map, parent, sorted[i]), depth);
	free(sorted);
}

static void add_element(struct layout *layout, uint32_t object, unsigned depth)
{
	struct data_object element = layout->map->objects.items[object];
	const char *name = element.plain + strlen(layout->map->objects.items[element.parent].plain);
	uint32_t type = element.type;

	add_lines(layout, element.offset);
	*vec_push(&layout->rows) = (struct layout_row){
		arena_printf(layout->arena, "  %+5lld %5llu %c %*s%s", (long long)element.offset,
			     (unsigned long long)element.size, marker(element.offset, element.size),
			     (int)(2 * (depth - 1)), "", name),
		object,
		{name + (*name == '.'), element.offset, element.size, depth}};
	while (type != TYPE_NONE && variables_type(element.variables, type)->kind == DATA_ARRAY)
		type = variables_type(element.variables, type)->target;
	if (type != TYPE_NONE && depth < LAYOUT_DEPTH_MAX &&
	    variables_type(element.variables, type)->kind == DATA_AGGREGATE)
		add_elements(layout, object, element.variables, type, depth + 1);
}

static const struct row_detail *keep_extent(struct layout *layout, const struct row_extent *extent)
{
	struct row_detail *detail = arena_new(layout->arena, struct row_detail);
	struct row_extent *kept = arena_new(layout->arena, struct row_extent);

	*kept = *extent;
	detail->extent = kept;
	return detail;
}

static void fill_layout(struct tally *tally, const struct query *query, const void *arg,
			struct table *table)
{
	struct measure_sums sums;
	struct layout layout = {.arena = &table->arena};
	struct sort_key *keys;
	size_t count;

	(void)arg;
	count_objects(tally, &sums);
	table_init(table, query, COLUMNS_EXCLUSIVE);
	table->title = "Data Layout";
	table->has_extents = true;
	layout.map = tally->session->data;
	keys = ordered(layout.map, &sums, query, true, &count);
	*vec_push(&layout.rows) = (struct layout_row){"<Total>", DATA_TOTAL, {0}};
	for (size_t i = 0; i < count && layout.rows.count < LAYOUT_ROWS_MAX; i++) {
		struct data_object object = layout.map->objects.items[keys[i].index];

		*vec_push(&layout.rows) = (struct layout_row){
			arena_printf(layout.arena, "%s, %llu bytes", object.name,
				     (unsigned long long)object.size),
			keys[i].index,
			{object.name, 0, object.size, 0}};
		layout.line = 0;
		add_elements(&layout, keys[i].index, object.variables, object.type, 1);
	}
	count = layout.rows.count;
	table_set_rows(table, query->limit && count > query->limit ? query->limit : count);
	for (size_t i = 0; i < table->row_count; i++) {
		uint32_t object = layout.rows.items[i].object;

		table->rows[i].name = layout.rows.items[i].name;
		table->rows[i].id = object;
		table->rows[i].no_values = object == DATA_NONE;
		if (object != DATA_TOTAL)
			row_set_detail(&table->rows[i],
				       keep_extent(&layout, &layout.rows.items[i].extent));
		if (object < sums.nodes)
			fill_values(&sums, table, i, object);
	}
	memcpy(table->base, table->values, table->column_count * sizeof(double));
	vec_fini(&layout.rows);
	free(keys);
	measure_fini(&sums);
}

/* ---- the views ---- */

static void find_shares(struct tally *tally, const struct query *query, struct table *table)
{
	const struct metric *metric = query->sort.metric;
	struct measure_sums sums;
	double total, known, without;

	for (size_t i = 0; metric->is_static && i < query->metrics.count; i++)
		metric = query->metrics.items[i].metric;
	count_objects(tally, &sums);
	total = value_of(&sums, DATA_TOTAL, metric);
	known = total - value_of(&sums, DATA_UNKNOWN, metric);
	without = value_of(&sums, data_of_reason(DATA_NO_ADDRESS), metric);
	measure_fini(&sums);
	table->has_resolved = true;
	table->resolved = total > 0 ? known / total : 0;
	table->resolved_of_addresses = total > without ? known / (total - without) : 0;
}

static enum status view_any(struct session *session, const struct query *query,
			    const struct view *view, struct table *table, struct diag_list *diags)
{
	struct query mine;
	enum status status = memory_query(session, query, &mine, diags);

	if (status != STATUS_OK)
		return status;
	view_run(session, &mine, view, table);

	struct tally *tally = tally_of(session, &mine);

	find_shares(tally, &mine, table);
	tally_release(tally);
	vec_fini(&mine.metrics);
	return STATUS_OK;
}

enum status view_data_objects(struct session *session, const struct query *query,
			      struct table *table, struct diag_list *diags)
{
	return view_any(
		session, query,
		&(struct view){.fill = fill_objects, .identity = ROWS_BY_ID, .order = ORDER_LIST},
		table, diags);
}

enum status view_data_layout(struct session *session, const struct query *query,
			     struct table *table, struct diag_list *diags)
{
	return view_any(session, query, &(struct view){.fill = fill_layout, .identity = ROWS_BY_ID},
			table, diags);
}

enum status view_data_object(struct session *session, const struct query *query, uint32_t object,
			     struct table *table, struct diag_list *diags)
{
	return view_any(session, query,
			&(struct view){.fill = fill_object,
				       .arg = &object,
				       .whole = &object,
				       .identity = ROWS_BY_ID},
			table, diags);
}

/* ---- one of them ---- */

static void add_match(const struct data_map *map, uint32_t object, struct function_match **out,
		      size_t *count)
{
	const struct data_object *of = &map->objects.items[object];

	*out = xrealloc(*out, (*count + 1) * sizeof(**out));
	(*out)[(*count)++] = (struct function_match){
		.function = object,
		.name = of->name,
		.object = of->object == OBJECT_UNKNOWN
				  ? NULL
				  : map->session->objects.items[of->object].path,
		.address = of->address,
	};
}

/* "foo_t" and "structure:foo_t" for "{structure:foo_t}", "int i" for "{int i}". */
static bool is_without_braces(const char *descriptor, const char *name)
{
	size_t length = strlen(descriptor), own = strlen(name);
	const char *colon = strchr(descriptor, ':');

	if (!own || length < own + 2 || descriptor[0] != '{' || descriptor[length - 1] != '}' ||
	    strncmp(descriptor + length - 1 - own, name, own) != 0)
		return false;
	descriptor += length - 1 - own; /* where the name begins */
	return descriptor[-1] == '{' || (colon && descriptor == colon + 1);
}

/* "i" for "{int i}" and "{structure:foo_t}.{int i}". */
static bool ends_with_name(const char *descriptor, const char *name)
{
	size_t length = strlen(descriptor), own = strlen(name);

	return own && length > own + 2 && descriptor[length - 1] == '}' &&
	       !strncmp(descriptor + length - 1 - own, name, own) &&
	       descriptor[length - 2 - own] == ' ';
}

static bool is_named(const struct data_object *object, const char *name)
{
	return !strcmp(object->name, name) || !strcmp(object->plain, name);
}

size_t session_find_data(struct session *session, const char *name, struct function_match **out)
{
	session_enter(session);

	const struct data_map *map = data_map_of(session);
	size_t count = 0;

	*out = NULL;
	for (uint32_t i = 0; i < map->objects.count; i++)
		if (is_named(&map->objects.items[i], name))
			add_match(map, i, out, &count);
	for (uint32_t i = 0, exact = count > 0; !exact && i < map->objects.count; i++)
		if (ends_with_name(map->objects.items[i].plain, name) ||
		    is_without_braces(map->objects.items[i].plain, name))
			add_match(map, i, out, &count);
	session_leave(session);
	return count;
}

static void find_frames(struct data_map *map, const struct data_object *object,
			struct data_object_info *info)
{
	struct session *session = map->session;
	struct stack_set set = {.session = session, .style = NAME_SHORT};
	uint32_t row = stack_set_add(&set, session->experiments.items[object->maker->experiment],
				     object->maker->process, object->node);

	info->frames = stack_set_frames(&set, row, &session->arena, &info->depth);
	stack_set_fini(&set);
}

void session_data_object(struct session *session, uint32_t object, struct data_object_info *info)
{
#define X(name, parent, text, description) description,
	static const char *const reasons[] = {DATA_REASONS_LIST(X)};
#undef X
	session_enter(session);

	struct data_map *map = data_map_of(session);
	const struct data_object *of = &map->objects.items[object];

	*info = (struct data_object_info){
		.name = of->name,
		.kind = of->kind,
		.scope = of->scope,
		.address = of->address,
		.size = of->size,
	};
	if (of->object != OBJECT_UNKNOWN)
		info->load_object = session->objects.items[of->object].path;
	if (of->kind == DATA_OBJECT_REASON)
		info->description = reasons[object - DATA_FIRST_REASON];
	if (of->kind == DATA_OBJECT_BLOCK)
		find_frames(map, of, info);
	session_leave(session);
}
