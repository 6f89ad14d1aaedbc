/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables with a fixed address.  No unit says which data is its own, so they are found by one
 * walk over everything that may hold a variable: 100 ns per DIE, with the contents of types left
 * out.  The same walk notes where types are defined that other units only declare (clang leaves
 * classes out that it expects elsewhere).
 */
#include "object/types/variables_private.h"

#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { BACK_MAX = 64 };

void variables_report_damage(struct variables *variables)
{
	diag_add_once(variables->diags, DIAG_WARNING,
		      "%s: its debug information is damaged; some data objects are <Unknown>",
		      variables->path);
}

static void read_thread_block(struct variables *variables)
{
	GElf_Phdr header;
	size_t count = 0;

	if (elf_getphdrnum(variables->file.elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(variables->file.elf, (int)i, &header) || header.p_type != PT_TLS)
			continue;
		uint64_t align = header.p_align ? header.p_align : 1;

		variables->thread_block = (header.p_memsz + align - 1) / align * align;
	}
}

struct variables *variables_new(struct lines *lines, const struct elf_file *file, const char *path,
				struct diag_list *diags)
{
	struct variables *variables = xcalloc(1, sizeof(*variables));

	variables->lines = lines;
	variables->diags = diags;
	variables->path = path;
	lines_open(lines);
	variables->units = xcalloc(lines->units.count + 1, sizeof(*variables->units));
	if (!file)
		return variables;
	variables->file = *file;
	variables->cfi = dwarf_getcfi_elf(file->elf);
	read_thread_block(variables);
	return variables;
}

void variables_free(struct variables *variables)
{
	if (!variables)
		return;
	for (size_t i = 0; i < variables->lines->units.count; i++)
		vec_fini(&variables->units[i].ranges);
	free(variables->units);
	dwarf_cfi_end(variables->cfi);
	for (size_t i = 0; i < variables->types.count; i++)
		vec_fini(&variables->types.items[i]->members);
	vec_fini(&variables->types);
	for (size_t i = 0; i < variables->functions.count; i++) {
		vec_fini(&variables->functions.items[i]->ranges);
		vec_fini(&variables->functions.items[i]->places);
		vec_fini(&variables->functions.items[i]->results);
	}
	vec_fini(&variables->functions);
	vec_fini(&variables->globals);
	vec_fini(&variables->of_threads);
	vec_fini(&variables->definitions);
	vec_fini(&variables->slots);
	hash_map_fini(&variables->definition_by_name);
	hash_map_fini(&variables->type_by_die);
	if (variables->file.elf)
		elf_file_close(&variables->file); /* the frames go with it */
	arena_fini(&variables->arena);
	free(variables);
}

bool variables_present(struct variables *variables)
{
	return variables->lines->units.count > 0;
}

struct split_unit *variables_unit(struct variables *variables, uint32_t unit)
{
	struct variables_unit *known = &variables->units[unit];

	if (!known->is_sought)
		known->is_found = split_unit_find(
			variables->lines, &variables->lines->units.items[unit], &known->split);
	known->is_sought = true;
	return known->is_found ? &known->split : NULL;
}

/* ---- the walk ---- */

struct global_walk {
	struct die_walk walk;
	struct variables *variables;
	const char *unit;
	VEC(const char *) prefixes;  /* of the namespaces that are open */
	VEC(const char *) functions; /* that are */
};

static const char *innermost(const char *const *items, size_t count, const char *none)
{
	return count ? items[count - 1] : none;
}

#define PREFIX(walk)   innermost((walk)->prefixes.items, (walk)->prefixes.count, "")
#define FUNCTION(walk) innermost((walk)->functions.items, (walk)->functions.count, NULL)

/* The constant of an operation that takes an address, which units may keep in a table. */
static bool address_of(Dwarf_Attribute *location, const Dwarf_Op *op, uint64_t *address)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr found;
	Dwarf_Word number;

	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
		*address = op->number;
		return true;
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		if (dwarf_getlocation_attr(location, op, &attribute))
			return false;
		if (!dwarf_formaddr(&attribute, &found))
			*address = found;
		else if (!dwarf_formudata(&attribute, &number))
			*address = number;
		else
			return false;
		return true;
	default:
		return false;
	}
}

static void add_global(struct global_walk *walk, Dwarf_Die *die)
{
	struct variables *variables = walk->variables;
	struct global global = {.die = *die,
				.prefix = PREFIX(walk),
				.function = FUNCTION(walk),
				.unit = walk->unit};
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || !count ||
	    !address_of(&attribute, ops, &global.address))
		return;
	if (count == 2 &&
	    (ops[1].atom == DW_OP_form_tls_address || ops[1].atom == DW_OP_GNU_push_tls_address)) {
		global.is_of_thread = true;
		*vec_push(&variables->of_threads) = global;
		return;
	}
	if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
		global.address += ops[1].number;
	else if (count != 1)
		return;
	if (global.address) /* else the linker left it out */
		*vec_push(&variables->globals) = global;
}

static void add_definition(struct variables *variables, Dwarf_Die *die, const char *prefix)
{
	const char *name = dwarf_diename(die);

	if (!name || !*name || dwarf_hasattr(die, DW_AT_declaration))
		return;
	char *full = types_aggregate_name(die, prefix);
	uint32_t fresh = (uint32_t)variables->definitions.count;

	if (hash_map_put(&variables->definition_by_name, hash_text(full, strlen(full)), fresh) ==
	    fresh)
		*vec_push(&variables->definitions) = *die;
	free(full);
}

/* Types that have units of their own. */
static void read_type_units(struct variables *variables)
{
	Dwarf *dwarf = variables->lines->debug.own.dwarf;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, type;
	uint8_t kind;

	while (dwarf && !dwarf_get_units(dwarf, cu, &cu, NULL, &kind, &die, NULL)) {
		/* asked of a skeleton, libdw would open a file */
		bool has_type = kind == DW_UT_type &&
				!dwarf_cu_info(cu, NULL, NULL, NULL, &type, NULL, NULL, NULL);
		int tag = has_type ? dwarf_tag(&type) : DW_TAG_compile_unit;

		if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type &&
		    tag != DW_TAG_union_type)
			continue;
		char *prefix = types_prefix(&type);

		add_definition(variables, &type, prefix);
		free(prefix);
	}
}

static const char *name_in(struct global_walk *walk, Dwarf_Die *die, const char *none)
{
	const char *name = dwarf_diename(die);

	return arena_printf(&walk->variables->arena, "%s%s", PREFIX(walk),
			    name && *name ? name : none);
}

static bool enter_die(struct die_walk *base, Dwarf_Die *die, unsigned at)
{
	struct global_walk *walk = (struct global_walk *)base;
	int tag = dwarf_tag(die);

	switch (tag) {
	case DW_TAG_variable:
		add_global(walk, die);
		return false;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (at == walk->prefixes.count + walk->functions.count)
			add_definition(walk->variables, die, PREFIX(walk));
		return false;
	case DW_TAG_namespace:
	case DW_TAG_module:
		*vec_push(&walk->prefixes) = arena_printf(
			&walk->variables->arena, "%s::", name_in(walk, die, "(anonymous)"));
		return true;
	case DW_TAG_subprogram:
		*vec_push(&walk->functions) = name_in(walk, die, "");
		return true;
	default:
		return die_is_scope(tag) || tag == DW_TAG_common_block;
	}
}

static void leave_die(struct die_walk *base, Dwarf_Die *die, unsigned at)
{
	struct global_walk *walk = (struct global_walk *)base;
	int tag = dwarf_tag(die);

	(void)at;
	if (tag == DW_TAG_namespace || tag == DW_TAG_module)
		walk->prefixes.count--;
	else if (tag == DW_TAG_subprogram)
		walk->functions.count--;
}

static int compare_globals(const void *a, const void *b)
{
	const struct global *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void sort_globals(struct global_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_globals);
}

void variables_read_globals(struct variables *variables)
{
	struct lines *lines = variables->lines;

	if (variables->has_globals)
		return;
	variables->has_globals = true;
	for (uint32_t i = 0; i < lines->units.count; i++) {
		struct split_unit *unit = variables_unit(variables, i);
		struct global_walk walk = {.walk = {.enter = enter_die, .leave = leave_die},
					   .variables = variables};

		if (!unit)
			continue;
		walk.unit = dwarf_diename(&unit->die);
		die_walk_run(&walk.walk, &unit->die);
		vec_fini(&walk.prefixes);
		vec_fini(&walk.functions);
		if (walk.walk.is_damaged)
			variables_report_damage(variables);
	}
	read_type_units(variables);
	sort_globals(&variables->globals);
	sort_globals(&variables->of_threads);
}

/* ---- the answers ---- */

struct variable *variables_make(struct variables *variables, Dwarf_Die *die, const char *prefix)
{
	struct variable *variable = arena_new(&variables->arena, struct variable);
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attribute;
	bool is_external = false;

	dwarf_formflag(dwarf_attr_integrate(die, DW_AT_external, &attribute), &is_external);
	*variable = (struct variable){
		.name = *prefix ? arena_printf(&variables->arena, "%s%s", prefix, name ? name : "")
				: (name ? name : ""),
		.type = types_of(variables, die),
		.scope = is_external ? SCOPE_OBJECT : SCOPE_UNIT,
		.where = "",
	};
	return variable;
}

/* Its namespaces, or those of its declaration, where that is what lies in them. */
static const char *prefix_of(struct variables *variables, const struct global *global)
{
	Dwarf_Die die = global->die, declaration;
	Dwarf_Attribute attribute;

	if (!dwarf_formref_die(dwarf_attr(&die, DW_AT_specification, &attribute), &declaration))
		return global->prefix;

	char *prefix = types_prefix(&declaration);
	const char *copy = arena_strdup(&variables->arena, prefix);

	free(prefix);
	return copy;
}

static const struct variable *variable_of(struct variables *variables, struct global *global)
{
	if (global->variable)
		return global->variable;
	global->variable = variables_make(variables, &global->die, prefix_of(variables, global));
	global->variable->address = global->address;
	global->variable->is_of_thread = global->is_of_thread;
	if (global->function) {
		global->variable->scope = SCOPE_FUNCTION;
		global->variable->where = global->function;
	} else if (global->variable->scope == SCOPE_UNIT && global->unit) {
		global->variable->where = global->unit;
	}
	return global->variable;
}

static bool holds(struct variables *variables, const struct variable *variable, uint64_t address)
{
	uint64_t size =
		variable->type == TYPE_NONE ? 0 : variables_type(variables, variable->type)->size;

	return address - variable->address < (size ? size : 1);
}

/* Of two at one address, which a linker or a C compiler may make, any that holds it. */
static const struct variable *find(struct variables *variables, struct global_list *list,
				   uint64_t address)
{
	size_t low = VEC_UP_TO(list, address, address);

	for (size_t i = 0; i < BACK_MAX && low; i++) {
		const struct variable *variable = variable_of(variables, &list->items[--low]);

		if (holds(variables, variable, address))
			return variable;
	}
	return NULL;
}

const struct variable *variables_at(struct variables *variables, uint64_t address)
{
	variables_read_globals(variables);
	return find(variables, &variables->globals, address);
}

const struct variable *variables_of_thread_at(struct variables *variables, int64_t displacement)
{
	uint64_t offset = variables->thread_block + (uint64_t)displacement;

	variables_read_globals(variables);
	return offset < variables->thread_block ? find(variables, &variables->of_threads, offset)
						: NULL;
}

uint64_t variables_thread_block(const struct variables *variables)
{
	return variables->thread_block;
}
