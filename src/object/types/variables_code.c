/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a function, with those of the functions inlined into it: their locations become
 * places, of which there are four kinds.  What compilers say in other ways (values put
 * together from pieces or computed) is left out.
 */
#include "object/types/variables_private.h"

#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
	REGISTERS = 32,
	PLACES_MAX = 1 << 20, /* of one function */
	OFFSET_MAX = 1 << 30, /* of a stack frame; more is damage */
};

/* ---- which functions there are ---- */

struct function_walk {
	struct die_walk walk;
	struct variables *variables;
	struct split_unit *split;
	struct variables_unit *unit;
	uint32_t number;
	struct function_entry *entry; /* that ranges are added to */
	uint32_t entry_id;
};

static bool add_function_range(const uint64_t range[2], void *arg)
{
	struct function_walk *walk = arg;

	if (lines_code_at(walk->variables->lines, range[0], range[1])) {
		*vec_push(&walk->unit->ranges) =
			(struct function_range){range[0], range[1], walk->entry_id};
		*vec_push(&walk->entry->ranges) = (struct code_range){range[0], range[1]};
	}
	return walk->entry->ranges.count < PLACES_MAX && lines_spend(walk->variables->lines, 1);
}

static void add_function(struct function_walk *walk, Dwarf_Die *die)
{
	struct variables *variables = walk->variables;
	struct function_entry *entry = arena_new(&variables->arena, struct function_entry);
	Dwarf_Addr address;

	*entry = (struct function_entry){.unit = walk->number, .die = *die};
	walk->entry = entry;
	walk->entry_id = (uint32_t)variables->functions.count;
	split_unit_each_range(walk->split, die, add_function_range, walk);
	if (!entry->ranges.count)
		return;
	entry->function.entry = entry->ranges.items[0].start;
	if (!dwarf_entrypc(die, &address) && address)
		entry->function.entry = address;
	*vec_push(&variables->functions) = entry;
}

static bool enter_for_functions(struct die_walk *base, Dwarf_Die *die, unsigned at)
{
	struct function_walk *walk = (struct function_walk *)base;
	int tag = dwarf_tag(die);

	(void)at;
	if (tag == DW_TAG_subprogram)
		add_function(walk, die);
	return tag == DW_TAG_subprogram || die_is_scope(tag);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct variables_unit *read_functions(struct variables *variables, uint32_t number)
{
	struct variables_unit *unit = &variables->units[number];
	struct function_walk walk = {.walk = {.enter = enter_for_functions},
				     .variables = variables,
				     .unit = unit,
				     .number = number};

	if (unit->has_functions)
		return unit;
	unit->has_functions = true;
	walk.split = variables_unit(variables, number);
	if (!walk.split)
		return unit;
	die_walk_run(&walk.walk, &walk.split->die);
	if (walk.walk.is_damaged)
		variables_report_damage(variables);
	if (unit->ranges.count)
		qsort(unit->ranges.items, unit->ranges.count, sizeof(*unit->ranges.items),
		      compare_ranges);
	return unit;
}

/* The function of a unit with the range that begins last and holds the address, or LINES_NONE. */
static uint32_t function_in(const struct variables_unit *unit, uint64_t address)
{
	size_t low = VEC_UP_TO(&unit->ranges, start, address);

	return low && address < unit->ranges.items[low - 1].end
		       ? unit->ranges.items[low - 1].function
		       : LINES_NONE;
}

/* ---- where its variables are ---- */

/* What offsets from the frame's base are from: nothing known, a register, the canonical address. */
struct frame_base {
	enum { BASE_NONE, BASE_REGISTER, BASE_CANONICAL } kind;
	uint8_t reg;
	int64_t offset;
};

struct place_walk {
	struct die_walk walk;
	struct variables *variables;
	const struct split_unit *split;
	struct function_entry *entry;
	struct frame_base base;
	VEC(struct code_range) scope; /* the ranges of all open blocks, one after the other */
	VEC(size_t) scope_begins;
};

static bool register_of(const Dwarf_Op *op, unsigned first, unsigned indexed, uint8_t *reg)
{
	if (op->atom >= first && op->atom < first + REGISTERS)
		*reg = (uint8_t)(op->atom - first);
	else if (op->atom == indexed && op->number < REGISTERS)
		*reg = (uint8_t)op->number;
	else
		return false;
	return true;
}

/* The offset of DW_OP_breg0… and DW_OP_bregx. */
static int64_t offset_of(const Dwarf_Op *op)
{
	return (int64_t)(op->atom == DW_OP_bregx ? op->number2 : op->number);
}

static struct frame_base read_base(Dwarf_Die *function)
{
	struct frame_base base = {0};
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return base;
	if (ops->atom == DW_OP_call_frame_cfa) {
		base.kind = BASE_CANONICAL;
	} else if (register_of(ops, DW_OP_reg0, DW_OP_regx, &base.reg)) {
		base.kind = BASE_REGISTER;
	} else if (register_of(ops, DW_OP_breg0, DW_OP_bregx, &base.reg)) {
		base.kind = BASE_REGISTER;
		base.offset = offset_of(ops);
	}
	return base;
}

/* An expression of one operation, and what makes its result a value or an address of one. */
static bool place_of(const struct frame_base *base, const Dwarf_Op *ops, size_t count,
		     struct variable_place *place)
{
	bool is_value = count == 2 && ops[1].atom == DW_OP_stack_value;

	place->is_reference = count == 2 && ops[1].atom == DW_OP_deref;
	if (count != 1 && !is_value && !place->is_reference)
		return false;
	if (register_of(ops, DW_OP_reg0, DW_OP_regx, &place->reg)) {
		place->kind = PLACE_VALUE;
		return count == 1;
	}
	if (register_of(ops, DW_OP_breg0, DW_OP_bregx, &place->reg)) {
		place->kind = is_value ? PLACE_VALUE : PLACE_MEMORY;
		place->offset = offset_of(ops);
		return true;
	}
	place->kind = base->kind == BASE_REGISTER ? PLACE_MEMORY : PLACE_FRAME;
	place->offset = (int64_t)(ops->number + (uint64_t)base->offset);
	place->reg = base->reg;
	return ops->atom == DW_OP_fbreg && !is_value && base->kind != BASE_NONE;
}

static void add_place(struct place_walk *walk, struct variable_place place, uint64_t start,
		      uint64_t end)
{
	place.start = start;
	place.end = end;
	if (start < end && walk->entry->places.count < PLACES_MAX && place.offset > -OFFSET_MAX &&
	    place.offset < OFFSET_MAX)
		*vec_push(&walk->entry->places) = place;
}

/* One that holds as long as the innermost block runs. */
static void add_everywhere(struct place_walk *walk, const struct variable_place *place)
{
	size_t first = walk->scope_begins.items[walk->scope_begins.count - 1];

	for (size_t i = first; i < walk->scope.count; i++)
		add_place(walk, *place, walk->scope.items[i].start, walk->scope.items[i].end);
}

/* As libdw reads them, those operations that place_of() knows; 0: others. */
static size_t read_operations(struct bytes expression, Dwarf_Op ops[2])
{
	struct cursor at = cursor_at(expression, 0);
	size_t count = 0;

	for (; cursor_left(&at); count++) {
		Dwarf_Op op = {.atom = cursor_byte(&at)};

		if (op.atom == DW_OP_regx || op.atom == DW_OP_bregx)
			op.number = cursor_uleb(&at);
		if (op.atom == DW_OP_bregx)
			op.number2 = (Dwarf_Word)cursor_sleb(&at);
		else if ((op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) ||
			 op.atom == DW_OP_fbreg)
			op.number = (Dwarf_Word)cursor_sleb(&at);
		else if (!(op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) &&
			 op.atom != DW_OP_regx && op.atom != DW_OP_stack_value &&
			 op.atom != DW_OP_deref)
			return 0;
		if (count == 2 || at.failed)
			return 0;
		ops[count] = op;
	}
	return count;
}

static void add_packed(struct place_walk *walk, Dwarf_Attribute *attribute,
		       const struct variable *variable)
{
	struct split_cursor cursor;
	struct bytes expression;
	uint64_t start, end;

	if (!split_unit_locations(walk->split, attribute, &cursor))
		return;
	while (split_locations_next(&cursor, &start, &end, &expression) &&
	       lines_spend(walk->variables->lines, 1)) {
		struct variable_place place = {.variable = variable};
		Dwarf_Op ops[2];
		size_t count = read_operations(expression, ops);

		if (count && place_of(&walk->base, ops, count, &place))
			add_place(walk, place, start, end);
	}
}

static void add_variable(struct place_walk *walk, Dwarf_Die *die)
{
	struct variable_place place = {0};
	Dwarf_Attribute attribute;
	Dwarf_Addr base, start, end;
	Dwarf_Op *ops;
	size_t count;
	ptrdiff_t next = 0;
	struct variable *variable;

	if (!dwarf_attr(die, DW_AT_location, &attribute))
		return;
	variable = variables_make(walk->variables, die, "");
	variable->scope = SCOPE_FUNCTION;
	variable->where = walk->entry->name;
	if (!dwarf_getlocation(&attribute, &ops, &count)) {
		place.variable = variable;
		if (count && place_of(&walk->base, ops, count, &place))
			add_everywhere(walk, &place);
		return;
	}
	if (walk->split->is_packed) { /* libdw does not know what its lists are relative to */
		add_packed(walk, &attribute, variable);
		return;
	}
	/* -1 is no damage: libdw refuses what it does not know (gcc's DW_OP_GNU_uninit) */
	while ((next = dwarf_getlocations(&attribute, next, &base, &start, &end, &ops, &count)) >
		       0 &&
	       lines_spend(walk->variables->lines, 1)) {
		place = (struct variable_place){.variable = variable};
		if (count && place_of(&walk->base, ops, count, &place))
			add_place(walk, place, start, end);
	}
}

/* A call in code that was optimised: what function was called tells what came back. */
static void add_call(struct place_walk *walk, Dwarf_Die *die)
{
	static const unsigned addresses[] = {DW_AT_call_return_pc, DW_AT_low_pc};
	static const unsigned origins[] = {DW_AT_call_origin, DW_AT_abstract_origin};
	struct call_result result;
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	for (size_t i = 0; i < 2; i++) {
		Dwarf_Addr address;

		if (dwarf_formaddr(dwarf_attr(die, addresses[i], &attribute), &address) ||
		    !dwarf_formref_die(dwarf_attr(die, origins[i], &attribute), &origin))
			continue;
		result.return_address = address;
		result.type = types_of(walk->variables, &origin);
		if (result.type != TYPE_NONE)
			*vec_push(&walk->entry->results) = result;
		return;
	}
}

static bool add_scope(const uint64_t range[2], void *arg)
{
	struct place_walk *walk = arg;

	*vec_push(&walk->scope) = (struct code_range){range[0], range[1]};
	return walk->scope.count < PLACES_MAX && lines_spend(walk->variables->lines, 1);
}

static void open_scope(struct place_walk *walk, Dwarf_Die *die)
{
	size_t begin = walk->scope.count;

	split_unit_each_range(walk->split, die, add_scope, walk);
	if (walk->scope.count == begin && walk->scope_begins.count) /* as the one around it */
		begin = walk->scope_begins.items[walk->scope_begins.count - 1];
	*vec_push(&walk->scope_begins) = begin;
}

static bool enter_for_places(struct die_walk *base, Dwarf_Die *die, unsigned at)
{
	struct place_walk *walk = (struct place_walk *)base;

	(void)at;
	switch (dwarf_tag(die)) {
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
		add_variable(walk, die);
		return false;
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		add_call(walk, die);
		return false;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_inlined_subroutine:
		open_scope(walk, die);
		return true;
	default:
		return false;
	}
}

static void leave_for_places(struct die_walk *base, Dwarf_Die *die, unsigned at)
{
	struct place_walk *walk = (struct place_walk *)base;
	size_t begin = walk->scope_begins.items[--walk->scope_begins.count];

	(void)die;
	(void)at;
	if (!walk->scope_begins.count ||
	    begin != walk->scope_begins.items[walk->scope_begins.count - 1])
		walk->scope.count = begin;
}

static int compare_places(const void *a, const void *b)
{
	const struct variable_place *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_results(const void *a, const void *b)
{
	const struct call_result *x = a, *y = b;

	return x->return_address < y->return_address ? -1 : x->return_address > y->return_address;
}

static void publish(struct function_entry *entry)
{
	struct data_function *function = &entry->function;

	if (entry->places.count)
		qsort(entry->places.items, entry->places.count, sizeof(*entry->places.items),
		      compare_places);
	if (entry->results.count)
		qsort(entry->results.items, entry->results.count, sizeof(*entry->results.items),
		      compare_results);
	function->ranges.items = entry->ranges.items;
	function->ranges.count = entry->ranges.count;
	function->places.items = entry->places.items;
	function->places.count = entry->places.count;
	function->results.items = entry->results.items;
	function->results.count = entry->results.count;
}

static void read_places(struct variables *variables, struct function_entry *entry)
{
	const char *name = dwarf_diename(&entry->die);
	struct place_walk walk = {.walk = {.enter = enter_for_places, .leave = leave_for_places},
				  .variables = variables,
				  .split = variables_unit(variables, entry->unit),
				  .entry = entry,
				  .base = read_base(&entry->die)};

	entry->is_read = true;
	entry->name = name ? name : "";
	entry->function.result = types_of(variables, &entry->die);
	open_scope(&walk, &entry->die);
	die_walk_run(&walk.walk, &entry->die);
	if (walk.walk.is_damaged)
		variables_report_damage(variables);
	vec_fini(&walk.scope);
	vec_fini(&walk.scope_begins);
	publish(entry);
}

const struct data_function *variables_function_at(struct variables *variables, uint64_t address)
{
	struct unit_search search = lines_units_of(variables->lines, address);
	uint32_t unit;

	while ((unit = lines_next_unit(variables->lines, address, &search)) != LINES_NONE) {
		uint32_t found = function_in(read_functions(variables, unit), address);

		if (found == LINES_NONE)
			continue;
		struct function_entry *entry = variables->functions.items[found];

		if (!entry->is_read)
			read_places(variables, entry);
		return &entry->function;
	}
	return NULL;
}

bool variables_frame_at(struct variables *variables, uint64_t address, uint8_t *reg,
			int64_t *offset)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	bool found = false;

	if (!variables->cfi || dwarf_cfi_addrframe(variables->cfi, address, &frame))
		return false;
	if (!dwarf_frame_cfa(frame, &ops, &count) && count == 1 &&
	    register_of(ops, DW_OP_breg0, DW_OP_bregx, reg)) {
		*offset = offset_of(ops);
		found = *offset > -OFFSET_MAX && *offset < OFFSET_MAX;
	}
	free(frame);
	return found;
}
