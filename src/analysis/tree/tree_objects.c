/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tree/tree_objects.h"

#include "analysis/metric/metric.h"
#include "analysis/session/query.h"
#include "analysis/views/table.h"
#include "analysis/views/view_call_tree.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void view_graph_tree(struct session *session, const struct query *query,
		     const struct tree_part *part, struct table *table)
{
	struct metric_choice width = {tree_part_metric(query), FLAVOR_INCLUSIVE, VISIBLE_TIME};
	struct query of = query_of_choices(query, &width, 1, 0);

	view_call_tree(session, &of, part, table);
}

const char *tree_object_name(const struct row *row)
{
	const char *slash = row_object(row) ? strrchr(row_object(row), '/') : NULL;

	return slash ? slash + 1 : row_object(row) ? row_object(row) : "";
}

/* Takes from each frame what its children have: what is left is its own. */
static void take_children(const struct table *table, struct tree_objects *objects)
{
	VEC(uint32_t) path = {0}; /* objects of the rows above, by depth */

	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];

		path.count = row_depth(row);
		if (row_depth(row))
			objects->own[path.items[row_depth(row) - 1]] -=
				table->values[i * table->column_count];
		*vec_push(&path) = string_table_find(&objects->names, tree_object_name(row));
	}
	vec_fini(&path);
}

/* From the leaves up, the children of <Total> have their own; all below is of the same events. */
void tree_objects_sum(const struct table *table, bool inverted, struct tree_objects *objects)
{
	*objects = (struct tree_objects){0};
	for (size_t i = 0; i < table->row_count; i++)
		string_table_add(&objects->names, tree_object_name(&table->rows[i]));
	objects->own = xcalloc(objects->names.count + 1, sizeof(*objects->own));
	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];
		uint32_t object = string_table_find(&objects->names, tree_object_name(row));

		if (!inverted || row_depth(row) == 1)
			objects->own[object] += table->values[i * table->column_count];
		if (row_depth(row) >= objects->levels)
			objects->levels = row_depth(row) + 1;
	}
	if (!inverted)
		take_children(table, objects);
}

size_t *tree_objects_ordered(const struct tree_objects *objects, double least, size_t *count)
{
	size_t *order = xcalloc(objects->names.count + 1, sizeof(*order));

	*count = 0;
	for (size_t i = 0; i < objects->names.count; i++) {
		size_t place = *count;

		if (objects->own[i] <= least)
			continue;
		for (; place && objects->own[order[place - 1]] < objects->own[i]; place--)
			order[place] = order[place - 1];
		order[place] = i;
		++*count;
	}
	return order;
}

void tree_objects_fini(struct tree_objects *objects)
{
	string_table_fini(&objects->names);
	free(objects->own);
}
