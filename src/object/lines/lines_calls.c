/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over the DIEs of a unit makes spans that do not overlap, each with
 * the innermost call; asking libdw for the scopes of an address costs 20 to
 * 1,700 us, the walk about 100 ns per DIE.
 */
#include "object/elf/split_unit.h"
#include "object/lines/lines_private.h"
#include "object/types/die_walk.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 500 }; /* of nested DIEs */

/* Where the code of a node is; later ones of a walk lie deeper. */
struct node_range {
	uint64_t start, end;
	uint32_t node;
};
struct walk {
	struct lines *lines;
	struct split_unit unit;
	uint32_t table;
	const void *reached; /* the last DIE so far: none is visited twice */
	VEC(struct node_range) ranges;
};

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value);
	return value;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* The file in which a DIE, or the one it goes back to, is declared. */
static uint32_t declared_in(struct lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word index;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
	    dwarf_formudata(&attribute, &index))
		return LINES_NONE;
	return lines_table_file(lines, lines_table_of(lines, attribute.cu), index);
}

static uint32_t add_function(struct lines *lines, Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_name);
	const char *mangled = text_of(die, DW_AT_linkage_name);
	uint32_t file = declared_in(lines, die);
	uint32_t line = (uint32_t)number_of(die, DW_AT_decl_line);

	if (!mangled)
		mangled = text_of(die, DW_AT_MIPS_linkage_name);
	name = name ? name : "";
	mangled = mangled ? mangled : name;

	/* Names may be long, and in damaged files the same long one for all. */
	char *key = xasprintf("%" PRIx64 "|%" PRIx64 "|%u|%u", hash_bytes(mangled, strlen(mangled)),
			      hash_bytes(name, strlen(name)), file, line);
	uint32_t id = string_table_add(&lines->function_keys, key);

	free(key);
	if (id == lines->functions.count) {
		struct line_function *function = arena_new(&lines->arena, struct line_function);

		*function = (struct line_function){mangled, name, file, line};
		*vec_push(&lines->functions) = function;
	}
	return id;
}

/* The function that a DIE with code is an instance of. */
static uint32_t function_of(struct lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin = *die;

	/* Of a constructor there are several, each with a symbol of its own. */
	if (!dwarf_hasattr(die, DW_AT_linkage_name))
		dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin);

	uint64_t key = (uint64_t)(uintptr_t)origin.addr;
	uint32_t known = hash_map_get(&lines->function_by_die, key);

	if (known != HASH_NONE)
		return known;
	return hash_map_put(&lines->function_by_die, key, add_function(lines, die));
}

static uint32_t add_node(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
	struct lines *lines = walk->lines;
	struct inline_node node = {.parent = parent, .call_file = LINES_NONE};

	node.function = function_of(lines, die);
	if (parent != LINES_NONE) {
		node.call_line = (uint32_t)number_of(die, DW_AT_call_line);
		node.call_file =
			lines_table_file(lines, walk->table, number_of(die, DW_AT_call_file));
		node.depth = lines->nodes.items[parent].depth + 1;
	}
	*vec_push(&lines->nodes) = node;
	return (uint32_t)lines->nodes.count - 1;
}

/* A DIE whose ranges are being noted; its node, from the first with code on. */
struct entering {
	struct walk *walk;
	Dwarf_Die *die;
	uint32_t parent, node;
};

/* Notes a range. False: enough. */
static bool add_range(const uint64_t range[2], void *arg)
{
	struct entering *entering = arg;
	struct walk *walk = entering->walk;

	if (!lines_spend(walk->lines, LINES_RANGE_WORK))
		return false;
	if (!lines_code_at(walk->lines, range[0], range[1]))
		return true;
	if (entering->node == LINES_NONE)
		entering->node = add_node(walk, entering->die, entering->parent);
	*vec_push(&walk->ranges) = (struct node_range){range[0], range[1], entering->node};
	return true;
}

/* The node of a DIE that has code, or the one around it. */
static uint32_t enter(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
	struct entering entering = {walk, die, parent, LINES_NONE};

	split_unit_each_range(&walk->unit, die, add_range, &entering);
	return entering.node == LINES_NONE ? parent : entering.node;
}

static void walk_children(struct walk *walk, Dwarf_Die *parent, uint32_t around, unsigned depth)
{
	Dwarf_Die die, next;

	if (depth > DEPTH_LIMIT || dwarf_child(parent, &die))
		return;
	for (;; die = next) {
		int tag = dwarf_tag(&die);
		uint32_t node = around;

		walk->reached = die.addr;
		if (tag == DW_TAG_subprogram)
			node = enter(walk, &die, LINES_NONE);
		else if (tag == DW_TAG_inlined_subroutine && around != LINES_NONE)
			node = enter(walk, &die, around);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
		    die_is_scope(tag))
			walk_children(walk, &die, node, depth + 1);
		/* A damaged unit may name an earlier DIE, or a child, as sibling. */
		if (dwarf_siblingof(&die, &next) || next.addr <= walk->reached)
			return;
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct node_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node; /* what lies deeper has a greater id */
}

/* Begins a span; of several that begin at one address the last counts. */
static void begin_span(struct unit *unit, uint64_t start, uint32_t node)
{
	struct call_span *last =
		unit->calls.count ? &unit->calls.items[unit->calls.count - 1] : NULL;

	if (last && last->start == start)
		last->node = node;
	else if (!last || last->node != node)
		*vec_push(&unit->calls) = (struct call_span){start, node};
}

/* Cuts nested ranges into spans: at each address the one that begins last. */
static void flatten(const struct walk *walk, struct unit *unit)
{
	VEC(const struct node_range *) open = {0};

	for (size_t i = 0; i <= walk->ranges.count; i++) {
		const struct node_range *next =
			i < walk->ranges.count ? &walk->ranges.items[i] : NULL;

		while (open.count) {
			uint64_t end = open.items[open.count - 1]->end;

			if (next && end > next->start)
				break;
			while (open.count && open.items[open.count - 1]->end <= end)
				open.count--;
			begin_span(unit, end,
				   open.count ? open.items[open.count - 1]->node : LINES_NONE);
		}
		if (next) {
			*vec_push(&open) = next;
			begin_span(unit, next->start, next->node);
		}
	}
	vec_fini(&open);
}

void lines_read_calls(struct lines *lines, struct unit *unit)
{
	struct walk walk = {.lines = lines};

	if (unit->has_calls)
		return;
	unit->has_calls = true;
	if (!split_unit_find(lines, unit, &walk.unit))
		return;
	walk.table = lines_table_of(lines, walk.unit.die.cu);
	walk_children(&walk, &walk.unit.die, LINES_NONE, 0);
	if (walk.ranges.count)
		qsort(walk.ranges.items, walk.ranges.count, sizeof(*walk.ranges.items),
		      compare_ranges);
	flatten(&walk, unit);
	vec_fini(&walk.ranges);
}
