/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks, each once, with what events at it count for. */
#include "analysis/views/view_stacks.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/stack_paths.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>

struct making {
	const struct query *query;
	struct tally *tally;
	struct stack_paths paths;
	uint32_t *stack_of; /* by node of the tree of pcs; of those with events */
};

/* ---- the stacks ---- */

static void find_stacks(struct making *making)
{
	const struct session *session = making->tally->session;
	const struct code_tree *tree = &session->code->tree;
	uint64_t *any = values_of_sums(code_weights(making->tally), &values_any);

	making->stack_of = xcalloc(tree->count + 1, sizeof(*making->stack_of));
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct stack_tree *stacks = &session->scanned.items[i].process->stacks;

		for (uint32_t node = 0; node < stacks->nodes.count; node++) {
			uint32_t place = tree->places.items[i][node];

			if (any[place])
				making->stack_of[place] = stack_paths_find(&making->paths, i, node);
		}
	}
	free(any);
}

/* ---- their values ---- */

/* By stack, in units of the metric's measure; the caller's to free. */
static uint64_t *stack_values(const struct making *making, const struct metric *metric)
{
	const struct finished_sums *weights = code_weights(making->tally);
	uint64_t *by_node = values_of_sums(weights, metric);
	uint64_t *values = xcalloc(making->paths.stacks.nodes.count, sizeof(*values));

	for (size_t i = 0; i < weights->nodes; i++)
		values[making->stack_of[i]] += by_node[i];
	free(by_node);
	return values;
}

/* Those of all stacks with events that are shown, in the order of the query; how many all are. */
static size_t order_stacks(const struct making *making, struct first_keys *first)
{
	const struct metric *sort = making->query->sort.metric;
	uint64_t *any = stack_values(making, &values_any);
	uint64_t *values = sort->is_static ? NULL : stack_values(making, sort);
	size_t count = 0;

	for (uint32_t i = 0; i < making->paths.stacks.nodes.count; i++) {
		uint32_t leaf = stack_paths_leaf(&making->paths, i);

		if (!any[i])
			continue;
		count++;
		first_keys_add(first, sort_key_of(making->query,
						  values ? values_convert(sort, values[i])
							 : values_static(making->tally->session,
									 leaf, sort),
						  symbols_name(making->tally->session, leaf,
							       making->query->name_style),
						  i));
	}
	first_keys_end(first);
	free(any);
	free(values);
	return count;
}

static void fill_column(const struct making *making, struct stack_list *list, size_t column,
			const struct sort_key *keys)
{
	struct table *table = &list->table;
	const struct metric *metric = table->columns[column].choice.metric;
	uint64_t *values = stack_values(making, metric), total = 0, rest = 0;

	for (size_t i = 0; i < making->paths.stacks.nodes.count; i++)
		total += values[i];
	rest = total;
	for (size_t row = 1; row < table->row_count; row++) {
		uint64_t value = values[keys[row - 1].index];

		table->values[row * table->column_count + column] = values_convert(metric, value);
		rest -= value;
	}
	table->values[column] = table->base[column] = values_convert(metric, total);
	list->rest[column] = values_convert(metric, rest);
	free(values);
}

static void fill_rows(struct making *making, struct stack_list *list, const struct sort_key *keys)
{
	struct table *table = &list->table;
	uint32_t *shown = xcalloc(table->row_count, sizeof(*shown)); /* <Total>: no frames */

	table->rows[0].name = "<Total>";
	for (size_t row = 1; row < table->row_count; row++) {
		struct row *of = &table->rows[row];

		shown[row] = keys[row - 1].index;
		of->id = (uint32_t)row;
		of->name = symbols_name(making->tally->session,
					stack_paths_leaf(&making->paths, shown[row]),
					making->query->name_style);
	}
	stack_paths_list(&making->paths, shown, table->row_count, &list->frames);
	free(shown);
}

static void fill_list(struct making *making, struct stack_list *list)
{
	struct table *table = &list->table;
	struct first_keys first = {.query = making->query, .most = making->query->limit};
	size_t count = order_stacks(making, &first), shown;

	shown = making->query->limit && count + 1 > making->query->limit ? making->query->limit - 1
									 : count;
	table_init(table, making->query, COLUMNS_EXCLUSIVE);
	table->title = "Call Stacks";
	table_set_rows(table, shown + 1);
	list->callers_first = making->query->callers_first;
	list->rest_count = count - shown;
	list->rest = arena_array(&table->arena, double, table->column_count + 1);
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			fill_column(making, list, i, first.keys.items);
	fill_rows(making, list, first.keys.items);
	vec_fini(&first.keys);
}

void view_stacks(struct session *session, const struct query *query, struct stack_list *list)
{
	struct query together = *query;
	struct making making = {.query = &together};

	together.compare = COMPARE_OFF;
	*list = (struct stack_list){0};
	making.tally = tally_of(session, &together);
	stack_paths_init(&making.paths, making.tally, &together);
	find_stacks(&making);
	fill_list(&making, list);
	stack_paths_fini(&making.paths);
	free(making.stack_of);
	tally_release(making.tally);
}

void stack_list_fini(struct stack_list *list)
{
	table_fini(&list->table);
	frame_list_fini(&list->frames);
	*list = (struct stack_list){0};
}
