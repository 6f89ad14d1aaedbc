/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of instructions (pcs) and of source lines. */
#include "analysis/views/view_code.h"

#include "analysis/code/code.h"
#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>

/* The groups of a list: rows are those that any event touched. */
struct groups {
	uint32_t *of_pc;
	uint32_t *first; /* a pc of each group */
	uint32_t count;
};

static void groups_init(struct groups *groups, const struct code *code)
{
	*groups = (struct groups){
		.of_pc = xmalloc((code->pcs.count + 1) * sizeof(uint32_t)),
		.first = xmalloc((code->pcs.count + 1) * sizeof(uint32_t)),
	};
}

static void groups_fini(struct groups *groups)
{
	free(groups->of_pc);
	free(groups->first);
}

/* ---- by instruction: pcs in one are neighbours in the order of function and address ---- */

static bool same_instruction(const struct code *code, uint32_t a, uint32_t b)
{
	return code->instructions[a] == code->instructions[b] &&
	       code->pcs.items[a].function == code->pcs.items[b].function;
}

/* The least pc of each one's instruction.  Of a damaged cache the order may lack some. */
static void find_least(const struct code *code, uint32_t *of_pc)
{
	uint32_t least[2]; /* of what is a target of branches, or is not */

	for (uint32_t pc = 0; pc < code->pcs.count; pc++)
		of_pc[pc] = pc;
	for (size_t first = 0, next; first < code->pcs.count; first = next) {
		least[0] = least[1] = NODE_NONE;
		for (next = first; next < code->pcs.count &&
				   same_instruction(code, code->order[first], code->order[next]);
		     next++) {
			uint32_t pc = code->order[next];
			uint32_t *of = &least[code->pcs.items[pc].is_target];

			*of = pc < *of ? pc : *of;
		}
		for (size_t i = first; i < next; i++)
			of_pc[code->order[i]] = least[code->pcs.items[code->order[i]].is_target];
	}
}

/* Groups are numbered as they are first met among the pcs. */
static void group_instructions(struct groups *groups, struct session *session)
{
	const struct code *code = session->code;

	code_instructions(session);
	find_least(code, groups->of_pc);
	for (uint32_t pc = 0; pc < code->pcs.count; pc++) {
		uint32_t least = groups->of_pc[pc];

		if (least == pc)
			groups->first[groups->count] = pc;
		groups->of_pc[pc] = least == pc ? groups->count++ : groups->of_pc[least];
	}
}

/* ---- by line of a function: the same line in two is two rows ---- */

static bool same_line(const struct session *session, uint32_t a, uint32_t b)
{
	const struct code_pc *x = &session->code->pcs.items[a], *y = &session->code->pcs.items[b];

	return x->function == y->function && x->file == y->file && x->line == y->line;
}

static uint64_t hash_line(const struct session *session, uint32_t pc)
{
	const struct code_pc *place = &session->code->pcs.items[pc];

	return hash_pair((uint64_t)place->function << 32 | place->line, place->file);
}

static void group_lines(struct groups *groups, struct session *session)
{
	struct hash_map known = {0};

	code_need_lines(session, CODE_EVERY_OBJECT);
	for (uint32_t pc = 0; pc < session->code->pcs.count; pc++) {
		uint32_t group;

		/* two lines of one hash take neighbours */
		for (uint64_t hash = hash_line(session, pc);; hash++) {
			group = hash_map_put(&known, hash, groups->count);
			if (group == groups->count)
				groups->first[groups->count++] = pc;
			if (same_line(session, groups->first[group], pc))
				break;
		}
		groups->of_pc[pc] = group;
	}
	hash_map_fini(&known);
}

/* ---- rows ---- */

static const char *name_pc(struct session *session, const struct query *query, uint32_t pc,
			   struct arena *arena)
{
	const struct code_pc *place = &session->code->pcs.items[pc];
	const struct function *function = &session->functions.items[place->function];
	uint64_t base = function->size ? function->address : 0;

	if (place->function < FUNCTION_FIRST_REAL && place->address < FORMAT_PC_LIMIT)
		return symbols_name(session, place->function, query->name_style);
	return arena_printf(arena, "%s + 0x%08llx%s",
			    symbols_name(session, place->function, query->name_style),
			    (unsigned long long)(session->code->instructions[pc] - base),
			    place->is_target ? " <branch target>" : "");
}

static const char *name_line(struct session *session, const struct query *query, uint32_t pc,
			     struct arena *arena)
{
	const struct code_pc *place = &session->code->pcs.items[pc];
	const char *name = symbols_name(session, place->function, query->name_style);

	if (place->function < FUNCTION_FIRST_REAL)
		return name;
	if (place->file == LINES_NONE)
		return arena_printf(arena, "<Function: %s, instructions without line numbers>",
				    name);
	return arena_printf(arena,
			    code_source_of(session, place->function) == place->file
				    ? "%s, line %u in \"%s\""
				    : "%s, line %u in alternate source context \"%s\"",
			    name, place->line, code_file_name(session, place->object, place->file));
}

struct list {
	struct session *session;
	const struct query *query;
	struct table *table;
	const struct groups *groups;
	struct code_sums sums;
	const char *(*name)(struct session *, const struct query *, uint32_t, struct arena *);
};

static void fill_row(struct list *list, size_t row, uint32_t group)
{
	struct table *table = list->table;
	uint32_t pc = list->groups->first[group];
	uint32_t object = list->session->code->pcs.items[pc].object;

	table->rows[row].name = list->name(list->session, list->query, pc, &table->arena);
	if (object != OBJECT_UNKNOWN)
		table_set_object(table, &table->rows[row],
				 list->session->objects.items[object].path);
	table->rows[row].id = group;
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			table->values[row * table->column_count + i] =
				code_value(&list->sums, group, &table->columns[i].choice);
}

static void order_groups(struct list *list, struct first_keys *first)
{
	const struct metric_choice any = {.metric = &values_any, .flavor = FLAVOR_INCLUSIVE};
	struct metric_choice sort = list->table->sort;

	for (uint32_t i = 0; i < list->groups->count; i++) {
		struct sort_key key = {.index = i};

		if (code_value(&list->sums, i, &any) == 0)
			continue;
		if (sort.metric->unit == UNIT_TEXT)
			key.text = list->name(list->session, list->query, list->groups->first[i],
					      &list->table->arena);
		else if (sort.metric->is_static)
			key.value = (double)list->session->code->pcs.items[list->groups->first[i]]
					    .address;
		else
			key.value = code_value(&list->sums, i, &sort);
		first_keys_add(first, key);
	}
	first_keys_end(first);
}

static void fill_list(struct list *list)
{
	struct table *table = list->table;
	struct first_keys first = {.query = list->query, .most = list->query->limit};
	size_t count;

	order_groups(list, &first);
	count = first.keys.count + 1;
	if (list->query->limit && count > list->query->limit)
		count = list->query->limit;
	table_set_rows(table, count);
	table->rows[0].name = "<Total>";
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			table->values[i] = table->base[i] =
				code_total(&list->sums, &table->columns[i].choice);
	for (size_t row = 1; row < count; row++)
		fill_row(list, row, first.keys.items[row - 1].index);
	vec_fini(&first.keys);
}

/* What a list has a row for. */
struct rows_of {
	const char *title;
	const char *(*name)(struct session *, const struct query *, uint32_t, struct arena *);
	void (*group)(struct groups *groups, struct session *session);
};

static const struct rows_of instructions = {"PCs", name_pc, group_instructions};
static const struct rows_of source_lines = {"Lines", name_line, group_lines};

/* All that counts for a process's first thread counts for a state of it, too. */
static enum measure not_asked_for(const struct query *query)
{
	bool asked = query->sort.metric->measure == MEASURE_FIRST_THREAD;

	for (size_t i = 0; i < query->metrics.count; i++)
		asked |= query->metrics.items[i].metric->measure == MEASURE_FIRST_THREAD;
	return asked ? MEASURE_NONE : MEASURE_FIRST_THREAD;
}

static void fill(struct tally *tally, const struct query *query, const void *arg,
		 struct table *table)
{
	struct session *session = tally->session;
	const struct rows_of *rows = arg;
	const struct code *code = code_of(session);
	struct groups groups;
	struct list list = {session, query, table, &groups, .name = rows->name};

	groups_init(&groups, code);
	rows->group(&groups, session);
	table_init(table, query, COLUMNS_NO_STATIC);
	table->title = rows->title;
	code_count_but(tally, groups.of_pc, groups.count, not_asked_for(query), &list.sums);
	fill_list(&list);
	code_sums_fini(&list.sums);
	groups_fini(&groups);
}

void view_pcs(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query,
		 &(struct view){.fill = fill,
				.arg = &instructions,
				.whole = &instructions,
				.identity = ROWS_BY_NAME,
				.order = ORDER_LIST},
		 table);
}

void view_lines(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query,
		 &(struct view){.fill = fill,
				.arg = &source_lines,
				.whole = &source_lines,
				.identity = ROWS_BY_NAME,
				.order = ORDER_LIST},
		 table);
}
