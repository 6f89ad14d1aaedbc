/* SPDX-License-Identifier: Apache-2.0 */
/* What parts of an expression are: numbers, call stacks, sets of what these are made of. */
#include "analysis/filter/filter_syntax.h"

#include "base/array.h"

#include <string.h>

const char *const filter_set_names[STACK_ITEMS] = {
	[ITEM_FUNCTION] = "FNAME", [ITEM_LINE] = "LNAME", [ITEM_INSTRUCTION] = "INAME"};

static const char *const stack_names[STACK_ITEMS] = {
	[ITEM_FUNCTION] = "STACK", [ITEM_LINE] = "STACKL", [ITEM_INSTRUCTION] = "STACKI"};

bool filter_is_stack(const char *name, enum stack_item *kind)
{
	name += name[0] && strchr("UMXH", name[0]);
	for (*kind = 0; *kind < STACK_ITEMS; ++*kind)
		if (!strcmp(name, stack_names[*kind]))
			return true;
	return false;
}

enum stack_item filter_set_kind(const struct filter_node *node)
{
	enum stack_item kind = STACK_ITEMS - 1;

	while (kind > ITEM_FUNCTION && strcmp(node->name, filter_set_names[kind]) != 0)
		kind--;
	return kind;
}

bool filter_is_number_set(const struct filter_node *node)
{
	static const char *const names[] = {"TNAME",  "FILEIOVFD", "FSTYPE",   "DNAME",
					    "JGROUP", "JPARENT",   "LOCKNAME", "JCLASS"};

	for (size_t i = 0; node->kind == FILTER_CALL && i < COUNT(names); i++)
		if (!strcmp(node->name, names[i]))
			return true;
	return false;
}

/* In a list a number and a set of them are alike. */
static enum sort item_sort(const struct filter_node *node)
{
	enum sort sort = filter_sort(node);

	return sort == SORT_NUMBER ? SORT_NUMBERS : sort;
}

enum sort filter_sort(const struct filter_node *node)
{
	enum stack_item kind;
	enum sort sort;

	if (node->kind == FILTER_NAME)
		return filter_is_stack(node->name, &kind) ? SORT_STACK + kind
		       : !strcmp(node->name, "LEAF")	  ? SORT_LEAF
							  : SORT_NUMBER;
	if (node->kind == FILTER_CALL)
		return filter_is_number_set(node) ? SORT_NUMBERS : SORT_SET + filter_set_kind(node);
	if (node->kind != FILTER_LIST)
		return SORT_NUMBER;
	sort = item_sort(node->items.items[0]);
	for (size_t i = 1; i < node->items.count; i++)
		if (item_sort(node->items.items[i]) != sort)
			return SORT_MIXED;
	return sort == SORT_NUMBERS || sort_is_set(sort) ? sort : SORT_MIXED;
}

size_t filter_items(struct filter_node **node, struct filter_node ***items)
{
	if ((*node)->kind != FILTER_LIST) {
		*items = node;
		return 1;
	}
	*items = (*node)->items.items;
	return (*node)->items.count;
}
