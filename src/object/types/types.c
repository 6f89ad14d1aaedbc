/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types, one for each DIE that says something of its own.  A typedef of an aggregate with a name is
 * that aggregate; of one without, it is the name.  Other typedefs are what people declare
 * things as, and stay.  Members are read when somebody asks for them.
 */
#include "object/types/variables_private.h"

#include "base/strbuf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_DEPTH_MAX = 64, MEMBERS_MAX = 100000, EMPTY_MAX = 1000, DIMENSIONS_MAX = 16 };

static uint32_t add_type(struct variables *variables, Dwarf_Die *die, unsigned depth);

static const char *name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name ? name : "";
}

/* Blanks in names of types are underscores: "unsigned_int". */
static void add_name(struct strbuf *text, const char *name)
{
	for (; *name; name++)
		strbuf_putc(text, *name == ' ' ? '_' : *name);
}

static bool target_of(Dwarf_Die *die, Dwarf_Die *target)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), target);
}

static uint32_t add_target(struct variables *variables, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die target;

	return target_of(die, &target) ? add_type(variables, &target, depth + 1) : TYPE_NONE;
}

static const char *text_of(const struct variables *variables, uint32_t type)
{
	return type == TYPE_NONE ? "void" : variables->types.items[type]->type.text;
}

static uint32_t new_type(struct variables *variables, Dwarf_Die *die, enum data_kind kind,
			 const char *text)
{
	struct type_entry *entry = arena_new(&variables->arena, struct type_entry);
	uint32_t id = (uint32_t)variables->types.count;
	Dwarf_Word size = 0;

	if (dwarf_aggregate_size(die, &size))
		size = 0;
	*entry = (struct type_entry){
		.die = *die,
		.type = {.kind = kind,
			 .text = text,
			 .size = size,
			 .plain = id,
			 .target = TYPE_NONE},
	};
	*vec_push(&variables->types) = entry;
	return id;
}

/* ---- aggregates ---- */

static const char *tag_word(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "structure:";
	case DW_TAG_class_type:
		return "class:";
	case DW_TAG_union_type:
		return "union:";
	case DW_TAG_enumeration_type:
		return "enum:";
	default:
		return NULL;
	}
}

char *types_aggregate_name(Dwarf_Die *die, const char *prefix)
{
	struct strbuf text = {0};

	strbuf_puts(&text, tag_word(dwarf_tag(die)));
	add_name(&text, prefix);
	add_name(&text, name_of(die));
	return strbuf_steal(&text);
}

/* Whether names of a unit's language lie in namespaces. */
static bool has_namespaces(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

/* libdw seeks it from the top of the unit. */
char *types_prefix(Dwarf_Die *die)
{
	struct strbuf text = {0};
	Dwarf_Die *scopes = NULL;
	int count = has_namespaces(die) ? dwarf_getscopes_die(die, &scopes) : 0;

	for (int i = count - 1; i > 0; i--) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_namespace && tag != DW_TAG_module && !tag_word(tag))
			continue;
		strbuf_puts(&text, *name_of(&scopes[i]) ? name_of(&scopes[i]) : "(anonymous)");
		strbuf_puts(&text, "::");
	}
	free(scopes);
	return strbuf_steal(&text);
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag = false;

	return !dwarf_formflag(dwarf_attr(die, name, &attribute), &flag) && flag;
}

/* Where something is defined that this DIE only declares. */
static bool find_definition(struct variables *variables, const char *name, Dwarf_Die *die)
{
	variables_read_globals(variables);

	uint32_t found =
		hash_map_get(&variables->definition_by_name, hash_text(name, strlen(name)));

	if (found == HASH_NONE)
		return false;
	*die = variables->definitions.items[found];
	return true;
}

static void note_place(struct variables *variables, Dwarf_Die *die, struct data_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line = 0;
	uint32_t id = LINES_NONE;

	dwarf_formudata(dwarf_attr(die, DW_AT_decl_line, &attribute), &line);
	type->line = (uint32_t)line;
	if (dwarf_attr(die, DW_AT_decl_file, &attribute) && !dwarf_formudata(&attribute, &file))
		id = lines_table_file(variables->lines,
				      lines_table_of(variables->lines, attribute.cu), file);
	if (id != LINES_NONE)
		type->file = lines_file(variables->lines, id)->path;
}

/* outer: the name of a typedef that is all the name it has, or NULL. */
static uint32_t add_aggregate(struct variables *variables, Dwarf_Die *die, const char *outer)
{
	char *prefix = types_prefix(die);
	char *full = types_aggregate_name(die, prefix);
	const char *text = arena_strdup(&variables->arena, full);
	enum data_kind kind = DATA_AGGREGATE;
	Dwarf_Die whole = *die;

	if (!*name_of(die))
		text = arena_printf(&variables->arena, "%s%s", tag_word(dwarf_tag(die)),
				    outer ? outer : "-");
	if (flag_of(die, DW_AT_declaration) && !find_definition(variables, full, &whole))
		kind = DATA_INCOMPLETE;
	free(prefix);
	free(full);

	uint32_t id = new_type(variables, &whole, kind, text);

	variables->types.items[id]->type.is_union = dwarf_tag(die) == DW_TAG_union_type;
	note_place(variables, &whole, &variables->types.items[id]->type);
	return id;
}

/* ---- what is made of other types ---- */

static uint32_t add_pointer(struct variables *variables, Dwarf_Die *die, const char *word,
			    unsigned depth)
{
	uint32_t target = add_target(variables, die, depth);
	uint32_t id = new_type(
		variables, die, DATA_POINTER,
		arena_printf(&variables->arena, "%s+%s", word, text_of(variables, target)));

	variables->types.items[id]->type.target = target;
	return id;
}

/* A type with another text: const, typedef. */
static uint32_t add_variant(struct variables *variables, uint32_t of, const char *text)
{
	struct type_entry *entry = arena_new(&variables->arena, struct type_entry);

	*entry = (struct type_entry){.type = variables->types.items[of]->type};
	entry->type.text = text;
	if (entry->type.kind != DATA_AGGREGATE && entry->type.kind != DATA_INCOMPLETE)
		entry->type.plain = (uint32_t)variables->types.count;
	*vec_push(&variables->types) = entry;
	return (uint32_t)variables->types.count - 1;
}

static uint32_t add_qualified(struct variables *variables, Dwarf_Die *die, const char *word,
			      unsigned depth)
{
	uint32_t of = add_target(variables, die, depth);

	if (of == TYPE_NONE)
		return TYPE_NONE;
	return add_variant(variables, of,
			   arena_printf(&variables->arena, "%s+%s", word, text_of(variables, of)));
}

static uint32_t add_typedef(struct variables *variables, Dwarf_Die *die, unsigned depth)
{
	struct strbuf text = {0};
	Dwarf_Die target;
	uint32_t of;

	if (!target_of(die, &target))
		return TYPE_NONE;
	add_name(&text, name_of(die));
	if (tag_word(dwarf_tag(&target)) && dwarf_tag(&target) != DW_TAG_enumeration_type &&
	    !dwarf_hasattr(&target, DW_AT_signature)) {
		of = *name_of(&target) ? add_type(variables, &target, depth + 1)
				       : add_aggregate(variables, &target, text.text);
	} else {
		of = add_type(variables, &target, depth + 1);
		if (of != TYPE_NONE && variables->types.items[of]->type.kind != DATA_AGGREGATE &&
		    text.length)
			of = add_variant(variables, of, arena_strdup(&variables->arena, text.text));
	}
	strbuf_fini(&text);
	return of;
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, number);
}

/* The elements of a dimension; 0: not known. */
static uint64_t count_of(Dwarf_Die *dimension)
{
	Dwarf_Word count, first, last;
	Dwarf_Sword usual = 0;
	Dwarf_Die unit;

	if (number_of(dimension, DW_AT_count, &count))
		return count;
	if (!number_of(dimension, DW_AT_upper_bound, &last))
		return 0;
	if (!number_of(dimension, DW_AT_lower_bound, &first)) {
		if (!dwarf_diecu(dimension, &unit, NULL, NULL) ||
		    dwarf_default_lower_bound(dwarf_srclang(&unit), &usual))
			usual = 0;
		first = (Dwarf_Word)usual;
	}
	return (Dwarf_Sword)last < (Dwarf_Sword)first ? 0 : last - first + 1;
}

/* "[3]" for each dimension, "[]" where its length is not known.  How many there are. */
static unsigned add_dimensions(Dwarf_Die *array, struct strbuf *text)
{
	Dwarf_Die die, next;

	if (dwarf_child(array, &die))
		return 0;
	for (unsigned i = 1; i <= DIMENSIONS_MAX; i++, die = next) {
		uint64_t count = count_of(&die);

		if (count)
			strbuf_printf(text, "[%llu]", (unsigned long long)count);
		else
			strbuf_puts(text, "[]");
		if (dwarf_siblingof(&die, &next))
			return i;
	}
	return DIMENSIONS_MAX;
}

/* Whether what is declared as an array begins with a pointer to the elements. */
static bool has_descriptor(Dwarf_Die *array)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	return dwarf_attr(array, DW_AT_data_location, &attribute) &&
	       !dwarf_getlocation(&attribute, &ops, &count) && count == 2 &&
	       ops[0].atom == DW_OP_push_object_address && ops[1].atom == DW_OP_deref;
}

/* gfortran's: five words, and three for each dimension. */
static uint32_t add_descriptor(struct variables *variables, Dwarf_Die *array, uint32_t elements,
			       unsigned dimensions)
{
	enum { WORD = 8, FIXED = 5, EACH = 3 };
	uint32_t id = new_type(variables, array, DATA_POINTER,
			       variables->types.items[elements]->type.text);
	struct data_type *type = &variables->types.items[id]->type;

	type->size = (FIXED + EACH * dimensions) * WORD;
	type->target = elements;
	type->is_descriptor = true;
	return id;
}

static uint32_t add_array(struct variables *variables, Dwarf_Die *die, unsigned depth)
{
	struct strbuf text = {0};
	uint32_t target = add_target(variables, die, depth);
	unsigned dimensions;

	strbuf_puts(&text, "array");
	dimensions = add_dimensions(die, &text);
	strbuf_printf(&text, "+%s", text_of(variables, target));

	uint32_t id =
		new_type(variables, die, DATA_ARRAY, arena_strdup(&variables->arena, text.text));

	variables->types.items[id]->type.target = target;
	strbuf_fini(&text);
	return has_descriptor(die) ? add_descriptor(variables, die, id, dimensions) : id;
}

static uint32_t add_scalar(struct variables *variables, Dwarf_Die *die)
{
	const char *word = tag_word(dwarf_tag(die));
	struct strbuf text = {0};

	strbuf_puts(&text, word ? word : "");
	add_name(&text, *name_of(die) ? name_of(die) : "-");

	uint32_t id =
		new_type(variables, die, DATA_SCALAR, arena_strdup(&variables->arena, text.text));

	strbuf_fini(&text);
	return id;
}

static uint32_t make_type(struct variables *variables, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die whole;

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
		return add_scalar(variables, die);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		/* in a unit of its own, of which only the number is here */
		if (dwarf_formref_die(dwarf_attr(die, DW_AT_signature, &attribute), &whole))
			return add_type(variables, &whole, depth + 1);
		return add_aggregate(variables, die, NULL);
	case DW_TAG_array_type:
		return add_array(variables, die, depth);
	case DW_TAG_pointer_type:
		return add_pointer(variables, die, "pointer", depth);
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return add_pointer(variables, die, "reference", depth);
	case DW_TAG_ptr_to_member_type:
		return new_type(variables, die, DATA_SCALAR, "pointer_to_member");
	case DW_TAG_const_type:
		return add_qualified(variables, die, "const", depth);
	case DW_TAG_volatile_type:
		return add_qualified(variables, die, "volatile", depth);
	case DW_TAG_restrict_type:
		return add_qualified(variables, die, "restrict", depth);
	case DW_TAG_atomic_type:
		return add_qualified(variables, die, "atomic", depth);
	case DW_TAG_typedef:
		return add_typedef(variables, die, depth);
	default: /* functions, void */
		return TYPE_NONE;
	}
}

static uint32_t add_type(struct variables *variables, Dwarf_Die *die, unsigned depth)
{
	uint64_t key = (uint64_t)(uintptr_t)die->addr;
	uint32_t known = hash_map_get(&variables->type_by_die, key);

	if (known != HASH_NONE)
		return known - 1;
	if (depth > TYPE_DEPTH_MAX) {
		variables_report_damage(variables);
		return TYPE_NONE;
	}
	known = make_type(variables, die, depth);
	/* HASH_NONE is no value of a table: they are kept as one more */
	hash_map_put(&variables->type_by_die, key, known + 1);
	return known;
}

uint32_t types_of(struct variables *variables, Dwarf_Die *die)
{
	return add_target(variables, die, 0);
}

const struct data_type *variables_type(struct variables *variables, uint32_t type)
{
	return &variables->types.items[type]->type;
}

/* ---- members ---- */

/* The bytes that bits are in: from the member's, or, before DWARF 4, from the end of the storage.
 */
static void find_bits(Dwarf_Die *die, Dwarf_Word size, struct data_member *member)
{
	Dwarf_Word first, storage;

	if (number_of(die, DW_AT_data_bit_offset, &first))
		member->offset = 0;
	else if (number_of(die, DW_AT_bit_offset, &first) &&
		 number_of(die, DW_AT_byte_size, &storage) && 8 * storage >= first + size)
		first = 8 * storage - first - size;
	else
		return;
	member->offset += first / 8;
	member->size = (first + size + 7) / 8 - first / 8;
}

/* False: where it lies is known only when the program runs. */
static bool find_offset(Dwarf_Die *die, struct data_member *member)
{
	Dwarf_Attribute attribute;
	Dwarf_Word bits;
	Dwarf_Op *ops;
	size_t count;

	/* a union's have none */
	if (dwarf_attr(die, DW_AT_data_member_location, &attribute) &&
	    dwarf_formudata(&attribute, &member->offset)) {
		if (dwarf_getlocation(&attribute, &ops, &count) || count != 1 ||
		    ops[0].atom != DW_OP_plus_uconst)
			return false;
		member->offset = ops[0].number;
	}
	if (number_of(die, DW_AT_bit_size, &bits) && bits <= 8 * sizeof(bits))
		find_bits(die, bits, member);
	return true;
}

static bool is_static(Dwarf_Die *member)
{
	return flag_of(member, DW_AT_external) || flag_of(member, DW_AT_declaration);
}

static bool is_empty(Dwarf_Die *class, unsigned *budget);

/* A member or base of such a class, or one that takes no place in an object. */
static bool has_no_data(Dwarf_Die *member, unsigned *budget)
{
	int tag = dwarf_tag(member);
	Dwarf_Die class;

	return (tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_static(member) ||
	       (target_of(member, &class) && is_empty(&class, budget));
}

/* A class without data: another one that is made of it may have its own at the same place. */
static bool is_empty(Dwarf_Die *class, unsigned *budget)
{
	Dwarf_Die die, next;

	if ((dwarf_tag(class) != DW_TAG_structure_type && dwarf_tag(class) != DW_TAG_class_type) ||
	    flag_of(class, DW_AT_declaration))
		return false;
	if (dwarf_child(class, &die))
		return true;
	for (;; die = next) {
		if (!*budget || !--*budget || !has_no_data(&die, budget))
			return false;
		if (dwarf_siblingof(&die, &next) || next.addr <= die.addr)
			break;
	}
	return true;
}

static bool is_empty_base(struct variables *variables, Dwarf_Die *die, uint32_t type)
{
	unsigned budget = EMPTY_MAX; /* damage may lead in circles */

	return dwarf_tag(die) == DW_TAG_inheritance && type != TYPE_NONE &&
	       is_empty(&variables->types.items[type]->die, &budget);
}

static void add_member(struct variables *variables, struct type_entry *entry, Dwarf_Die *die)
{
	struct data_member member = {.name = name_of(die)};

	if (is_static(die))
		return;
	member.type = types_of(variables, die);
	if (is_empty_base(variables, die, member.type))
		return;
	if (!find_offset(die, &member)) {
		entry->type.is_open = true;
		return;
	}
	if (!member.size && member.type != TYPE_NONE)
		member.size = variables_type(variables, member.type)->size;
	*vec_push(&entry->members) = member;
}

static void read_members(struct variables *variables, struct type_entry *entry)
{
	Dwarf_Die die, next;

	if (dwarf_child(&entry->die, &die))
		return;
	for (size_t i = 0; i < MEMBERS_MAX; i++, die = next) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			add_member(variables, entry, &die);
		entry->type.is_open |= tag == DW_TAG_variant_part;
		if (dwarf_siblingof(&die, &next) || next.addr <= die.addr)
			return;
	}
}

size_t variables_members(struct variables *variables, uint32_t type,
			 const struct data_member **members)
{
	struct type_entry *entry = variables->types.items[variables->types.items[type]->type.plain];

	if (!entry->has_members && entry->type.kind == DATA_AGGREGATE) {
		entry->has_members = true;
		read_members(variables, entry);
	}
	*members = entry->members.items;
	return entry->members.count;
}
