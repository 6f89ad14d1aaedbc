/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the tree of an expression to its program: what is a number, what a set of functions,
 * what a call stack, and which of them may stand beside which.
 *
 * A set that FNAME names is known now; so is every call stack.  What an expression asks of
 * them becomes one array over the nodes of the call tree, so that no set is left at run time.
 * Lines and instructions are the same, over the stacks of each process.
 */
#include "analysis/filter/filter_program.h"

#include "base/array.h"
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 20 };

/* A set of functions, lines or instructions, and which call of FNAME or a function like it they
 * came from. */
struct item_set {
	const struct filter_node *node;
	uint8_t *members; /* by item */
	size_t count;
};

/* What the filter language calls the items of a stack, and how those that a name means are found.
 */
static const struct {
	const char *what;
	uint8_t *(*find)(struct session *session, const struct filter_code *code,
			 const char *expression, size_t *count, char **error);
} stack_items[STACK_ITEMS] = {
	[ITEM_FUNCTION] = {"no function of the experiments has such a name", NULL},
	[ITEM_LINE] = {"no call stack goes through such a line, written FILE:LINE", filter_lines},
	[ITEM_INSTRUCTION] = {"no call stack goes through such an instruction, written as in `pcs'",
			      filter_instructions},
};

struct compiler {
	struct session *session;
	const struct whole_tree *tree;
	const char *text;
	struct diag_list *diags;
	struct filter_program *program;
	size_t depth;
	bool failed;
	VEC(struct item_set) sets;
	struct filter_code *code[STACK_ITEMS]; /* of lines and instructions; NULL: not asked for */
};

#define COMPLAIN(compiler_, node_, ...)                                                            \
	((compiler_)->failed ? (void)0                                                             \
			     : filter_complain((compiler_)->diags, (compiler_)->text, (node_)->at, \
					       __VA_ARGS__),                                       \
	 (compiler_)->failed = true)

/* ---- steps ---- */

static struct filter_step *add_step(struct compiler *compiler, enum filter_step_kind kind, int gain)
{
	struct filter_step *step = vec_push(&compiler->program->steps);

	step->kind = kind;
	compiler->depth += (size_t)gain;
	if (compiler->depth > compiler->program->depth)
		compiler->program->depth = compiler->depth;
	if (compiler->program->steps.count > STEPS_MAX && !compiler->failed) {
		diag_add(compiler->diags, DIAG_ERROR,
			 "Invalid filter specification: it is too long to be evaluated");
		compiler->failed = true;
	}
	return step;
}

static void add_number(struct compiler *compiler, uint64_t number)
{
	add_step(compiler, STEP_NUMBER, 1)->number = number;
}

static void add_binary(struct compiler *compiler, enum filter_operator verb)
{
	add_step(compiler, STEP_BINARY, -1)->verb = verb;
}

static void add_unary(struct compiler *compiler, enum filter_operator verb)
{
	add_step(compiler, STEP_UNARY, 0)->verb = verb;
}

static void add_copy(struct compiler *compiler, size_t below)
{
	add_step(compiler, STEP_COPY, 1)->number = below;
}

/* ---- names ---- */

static void complain_name(struct compiler *compiler, const struct filter_node *node)
{
	static const char *const words[] = {
		"STACK",   "STACKL",	 "STACKI", "LEAF",	"FNAME",    "LNAME",
		"INAME",   "DNAME",	 "TNAME",  "FILEIOVFD", "FSTYPE",   "HAS_PROP",
		"SOME IN", "ORDERED IN", "TRUE",   "FALSE",	"LOCKNAME", "JCLASS"};
	enum { WORDS = COUNT(words), NAMES_MAX = 256 };
	const char *names[NAMES_MAX];
	struct filter_property_info info;
	size_t count = 0;

	while (count < NAMES_MAX - WORDS && filter_property_at(count, &info))
		names[count++] = info.name;
	for (size_t i = 0; i < WORDS; i++)
		names[count++] = words[i];

	const char *closest = suggest_closest(node->name, names, count);

	if (closest)
		COMPLAIN(compiler, node, "%s is no property: did you mean %s?", node->name,
			 closest);
	else
		COMPLAIN(compiler, node, "%s is no property: `describe' lists them", node->name);
}

/* Once for each property. */
static void warn_of_lack(struct compiler *compiler, const struct filter_property *property)
{
	char *lack = filter_property_lack(compiler->session, property);

	for (size_t i = 0; lack && i < compiler->program->steps.count; i++)
		if (compiler->program->steps.items[i].property == property) {
			free(lack);
			return;
		}
	if (lack)
		diag_add(compiler->diags, DIAG_WARNING, "%s; no event has it", lack);
	free(lack);
}

static const struct filter_property *find_property(struct compiler *compiler,
						   const struct filter_node *node)
{
	const struct filter_property *property = filter_property_find(node->name);

	if (!property)
		complain_name(compiler, node);
	else if (node->kind == FILTER_NAME)
		warn_of_lack(compiler, property);
	if (property && property->prepare)
		property->prepare(compiler->session);
	return property;
}

/* ---- functions and stacks ---- */

/* Frees the reason. */
static void complain_pattern(struct compiler *compiler, const struct filter_node *node,
			     char *reason)
{
	COMPLAIN(compiler, node, "\"%s\" is no regular expression: %s", node->text, reason);
	free(reason);
}

static const struct filter_code *code_for(struct compiler *compiler, enum stack_item kind)
{
	if (kind != ITEM_FUNCTION && !compiler->code[kind])
		compiler->code[kind] = filter_code_make(compiler->session, kind);
	return compiler->code[kind];
}

static uint8_t *find_set(struct compiler *compiler, const struct filter_node *node,
			 enum stack_item kind, size_t *count)
{
	struct session *session = compiler->session;
	char *error;
	uint8_t *members =
		kind == ITEM_FUNCTION
			? filter_functions(session, compiler->tree, node->text, count, &error)
			: stack_items[kind].find(session, code_for(compiler, kind), node->text,
						 count, &error);

	if (!members)
		complain_pattern(compiler, node, error);
	else if (!*count)
		diag_add(compiler->diags, DIAG_WARNING, "%s(\"%s\"): %s (it must fit as a whole)",
			 node->name, node->text, stack_items[kind].what);
	return members;
}

/* The set of one call of FNAME or a function like it; equal for equal calls. */
static const struct item_set *set_of(struct compiler *compiler, const struct filter_node *node)
{
	struct item_set set = {.node = node};
	enum stack_item kind = filter_set_kind(node);

	if (strcmp(node->name, filter_set_names[kind]) != 0) {
		complain_name(compiler, node);
		return NULL;
	}
	if (compiler->failed)
		return NULL;
	for (size_t i = 0; i < compiler->sets.count; i++) {
		const struct filter_node *known = compiler->sets.items[i].node;

		if (known->name && !strcmp(known->name, node->name) &&
		    !strcmp(known->text, node->text))
			return &compiler->sets.items[i];
	}
	set.members = find_set(compiler, node, kind, &set.count);
	if (!set.members)
		return NULL;
	*vec_push(&compiler->sets) = set;
	return &compiler->sets.items[compiler->sets.count - 1];
}

static bool constant_of(const struct filter_node *node, uint64_t *value);

/* The instructions at an address, which is a constant. */
static const struct item_set *set_at(struct compiler *compiler, const struct filter_node *node)
{
	struct item_set set = {.node = node};
	uint64_t address;

	if (!constant_of(node, &address)) {
		COMPLAIN(compiler, node,
			 "beside STACKI stand INAME(\"...\") and addresses, as 0x401136");
		return NULL;
	}
	if (compiler->failed)
		return NULL;
	set.members = filter_code_at(compiler->session, code_for(compiler, ITEM_INSTRUCTION),
				     address, &set.count);
	if (!set.count)
		diag_add(compiler->diags, DIAG_WARNING,
			 "0x%llx IN STACKI: no call stack goes through an instruction at this "
			 "address of a load object (`disasm' shows them)",
			 (unsigned long long)address);
	*vec_push(&compiler->sets) = set;
	return &compiler->sets.items[compiler->sets.count - 1];
}

/* The items are calls of FNAME or functions like it, or addresses of instructions. */
static void add_match(struct compiler *compiler, enum stack_question question, enum stack_item kind,
		      struct filter_node **items, size_t count)
{
	struct arena *arena = &compiler->program->arena;
	uint8_t **sets = xcalloc(count, sizeof(*sets));

	for (size_t i = 0; i < count; i++) {
		const struct item_set *set = items[i]->kind == FILTER_CALL
						     ? set_of(compiler, items[i])
						     : set_at(compiler, items[i]);

		sets[i] = set ? set->members : NULL;
	}
	struct filter_step *step =
		add_step(compiler, kind == ITEM_FUNCTION ? STEP_MATCH : STEP_MATCH_CODE, 1);

	if (compiler->failed)
		;
	else if (kind == ITEM_FUNCTION)
		step->match = filter_function_match(compiler->session, compiler->tree, question,
						    sets, count, arena);
	else
		step->code_match =
			filter_code_match(compiler->code[kind], question, sets, count, arena);
	free(sets);
}

static void emit_membership(struct compiler *compiler, const struct filter_node *node,
			    enum filter_operator kind, struct filter_node *left,
			    struct filter_node *right);

/* Items of several sorts on the left: all of them, or one. */
static void emit_mixed(struct compiler *compiler, const struct filter_node *node,
		       enum filter_operator kind, struct filter_node *left,
		       struct filter_node *right)
{
	if (kind == FILTER_ORDERED_IN)
		COMPLAIN(compiler, left,
			 "before ORDERED IN a list holds numbers, or FNAME(...), or LNAME(...), or "
			 "INAME(...)");
	for (size_t i = 0; !compiler->failed && i < left->items.count; i++) {
		emit_membership(compiler, node, kind, left->items.items[i], right);
		if (i)
			add_binary(compiler, kind == FILTER_IN ? FILTER_AND : FILTER_OR);
	}
}

/* FNAME(...) IN LEAF: of more than one function at most one is the leaf. */
static void emit_leaf(struct compiler *compiler, enum filter_operator kind,
		      enum stack_item item_kind, struct filter_node *node)
{
	struct filter_node **items;
	size_t count = filter_items(&node, &items);
	const struct item_set *set = count == 1 ? set_of(compiler, items[0]) : NULL;

	if (kind == FILTER_SOME_IN || (set && (kind == FILTER_ORDERED_IN || set->count == 1)))
		add_match(compiler, LEAF_IN, item_kind, items, count);
	else
		add_number(compiler, 0);
}

/* A set, or a list of them, against the stacks. */
static void emit_match(struct compiler *compiler, enum stack_question question,
		       enum stack_item item_kind, struct filter_node *node)
{
	struct filter_node **items;
	size_t count = filter_items(&node, &items);

	add_match(compiler, question, item_kind, items, count);
}

/* What FNAME(...) IN STACK, with another such operator, asks. */
static enum stack_question on_stack(enum filter_operator kind)
{
	return kind == FILTER_IN ? STACK_HAS : kind == FILTER_SOME_IN ? STACK_SOME : STACK_ORDERED;
}

/* 0x401136 IN STACKI: an address may be that of instructions in several load objects. */
static void emit_addresses(struct compiler *compiler, enum filter_operator kind,
			   struct filter_node *node)
{
	struct filter_node **items;
	size_t count = filter_items(&node, &items);

	if (kind != FILTER_IN) {
		emit_match(compiler, on_stack(kind), ITEM_INSTRUCTION, node);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		add_match(compiler, STACK_SOME, ITEM_INSTRUCTION, &items[i], 1);
		if (i)
			add_binary(compiler, FILTER_AND);
	}
}

static void complain_beside(struct compiler *compiler, const struct filter_node *node,
			    enum sort from, enum sort to)
{
	if (from == to || (from == SORT_LEAF && sort_is_stack(to)) ||
	    (sort_is_stack(from) && sort_is_stack(to)))
		COMPLAIN(compiler, node, "this does not depend on the event");
	else if (from <= SORT_NUMBERS && to == SORT_STACK + ITEM_LINE)
		COMPLAIN(compiler, node, "a line is written LNAME(\"FILE:LINE\")");
	else
		COMPLAIN(compiler, node,
			 "these have nothing in common: FNAME(\"...\") stands beside STACK, "
			 "LNAME(\"...\") beside STACKL, INAME(\"...\") beside STACKI, and all of "
			 "them beside LEAF");
}

static void emit_stack_membership(struct compiler *compiler, const struct filter_node *node,
				  enum filter_operator kind, struct filter_node *left,
				  struct filter_node *right)
{
	enum sort from = filter_sort(left), to = filter_sort(right);
	enum sort instructions = SORT_STACK + ITEM_INSTRUCTION;

	if (from == SORT_MIXED)
		emit_mixed(compiler, node, kind, left, right);
	else if (from == SORT_LEAF && sort_is_set(to))
		emit_match(compiler, LEAF_IN, to - SORT_SET, right);
	else if (sort_is_set(from) && to == SORT_LEAF)
		emit_leaf(compiler, kind, from - SORT_SET, left);
	else if (sort_is_set(from) && to == SORT_STACK + (from - SORT_SET))
		emit_match(compiler, on_stack(kind), from - SORT_SET, left);
	else if (from <= SORT_NUMBERS && to == instructions)
		emit_addresses(compiler, kind, left);
	else if (sort_is_stack(from) && kind != FILTER_ORDERED_IN &&
		 (to == SORT_SET + (from - SORT_STACK) ||
		  (from == instructions && to <= SORT_NUMBERS)))
		emit_match(compiler, kind == FILTER_IN ? STACK_IN : STACK_SOME, from - SORT_STACK,
			   right);
	else
		complain_beside(compiler, node, from, to);
}

/* ---- numbers ---- */

static void emit(struct compiler *compiler, const struct filter_node *node);

/* Whether a number is the same for all events. */
static bool constant_of(const struct filter_node *node, uint64_t *value)
{
	if (node->kind == FILTER_NUMBER) {
		*value = node->number;
		return true;
	}
	if ((node->kind != FILTER_NEGATE && node->kind != FILTER_INVERT) ||
	    node->operand[0]->kind != FILTER_NUMBER)
		return false;
	*value = node->kind == FILTER_NEGATE ? 0 - node->operand[0]->number
					     : ~node->operand[0]->number;
	return true;
}

static bool is_call_of(const struct filter_node *node, const char *name)
{
	return node->kind == FILTER_CALL && !strcmp(node->name, name);
}

struct number_list {
	uint64_t *items;
	size_t count, capacity;
};

/* The numbers that FILEIOVFD or another such call stands for. */
static void add_set(struct compiler *compiler, const struct filter_node *node,
		    struct number_list *list)
{
	const char *what = "file", *lister = "ioactivity";
	uint64_t *numbers;
	size_t count;
	char *error;

	if (is_call_of(node, "TNAME")) {
		numbers =
			filter_threads(compiler->session, THREAD_NAME, node->text, &count, &error);
		what = "thread";
		lister = "threads";
	} else if (is_call_of(node, "JGROUP") || is_call_of(node, "JPARENT")) {
		numbers = filter_threads(compiler->session,
					 is_call_of(node, "JGROUP") ? THREAD_GROUP : THREAD_PARENT,
					 node->text, &count, &error);
		what = "group of Java's threads";
		lister = "jthreads";
	} else if (is_call_of(node, "FILEIOVFD")) {
		numbers = filter_openings(compiler->session, node->text, &count, &error);
	} else if (is_call_of(node, "FSTYPE")) {
		numbers = filter_places(compiler->session, node->text, &count, &error);
		what = "file system";
	} else if (is_call_of(node, "LOCKNAME")) {
		numbers = filter_locks(compiler->session, node->text, &count, &error);
		what = "lock";
		lister = "locks";
	} else if (is_call_of(node, "JCLASS")) {
		numbers = filter_classes(compiler->session, node->text, &count, &error);
		what = "class of Java";
		lister = "jclasses";
	} else if (is_call_of(node, "DNAME")) {
		numbers = filter_data(compiler->session, node->text, &count, &error);
		what = "data object";
		lister = "data_objects";
	} else {
		diag_add(compiler->diags, DIAG_WARNING, "%s: nothing records what it asks for",
			 node->name);
		return;
	}
	if (!numbers) {
		complain_pattern(compiler, node, error);
		return;
	}
	if (!count)
		diag_add(compiler->diags, DIAG_WARNING,
			 "%s(\"%s\"): no %s of the experiments has such a name (it must fit as a "
			 "whole; `%s' lists %s)",
			 node->name, node->text, what, lister,
			 is_call_of(node, "FSTYPE") ? "files" : "them");
	for (size_t i = 0; i < count; i++)
		*vec_push(list) = numbers[i];
	free(numbers);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The constants among items as a set, and the other items; returns how many these are. */
static size_t split_items(struct compiler *compiler, struct filter_node **items, size_t count,
			  struct filter_step *member, struct filter_node **others)
{
	struct number_list set = {0};
	size_t left = 0;
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		if (filter_is_number_set(items[i]))
			add_set(compiler, items[i], &set);
		else if (constant_of(items[i], &value))
			*vec_push(&set) = value;
		else
			others[left++] = items[i];
	}
	member->number = set.count;
	member->set = arena_array(&compiler->program->arena, uint64_t, set.count + 1);
	if (set.count) {
		qsort(set.items, set.count, sizeof(*set.items), by_value);
		memcpy((void *)member->set, set.items, set.count * sizeof(*set.items));
	}
	vec_fini(&set);
	return left;
}

/* On top a number: replaced by whether it is one of the items. */
static void emit_one_in(struct compiler *compiler, struct filter_node **items, size_t count)
{
	struct filter_node **others = xcalloc(count, sizeof(struct filter_node *));
	struct filter_step member;
	size_t left = split_items(compiler, items, count, &member, others);

	if (left)
		add_copy(compiler, 0);

	struct filter_step *step = add_step(compiler, STEP_MEMBER, 0);

	step->number = member.number;
	step->set = member.set;
	for (size_t i = 0; i < left; i++) {
		add_copy(compiler, 1);
		emit(compiler, others[i]);
		add_binary(compiler, FILTER_EQUAL);
		add_binary(compiler, FILTER_OR);
	}
	if (left)
		add_step(compiler, STEP_DROP_NEXT, -1);
	free(others);
}

/* items[0] == others[0] && items[1] == others[1] … */
static void emit_equal_run(struct compiler *compiler, struct filter_node **items,
			   struct filter_node **others, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		emit(compiler, items[i]);
		emit(compiler, others[i]);
		add_binary(compiler, FILTER_EQUAL);
		if (i)
			add_binary(compiler, FILTER_AND);
	}
}

static void emit_ordered(struct compiler *compiler, struct filter_node **left, size_t left_count,
			 struct filter_node **right, size_t right_count)
{
	add_number(compiler, 0);
	for (size_t i = 0; !compiler->failed && i + left_count <= right_count; i++) {
		emit_equal_run(compiler, left, right + i, left_count);
		add_binary(compiler, FILTER_OR);
	}
}

/* DNAME(...) IN DOBJ: an event is in many data objects, in one of those named is enough. */
static void emit_data_membership(struct compiler *compiler, struct filter_node *data,
				 struct filter_node **to, size_t to_count)
{
	for (size_t i = 0; !compiler->failed && i < to_count; i++) {
		emit(compiler, to[i]);
		emit_one_in(compiler, &data, 1);
		if (i)
			add_binary(compiler, FILTER_OR);
	}
}

/* FILEIOVFD(...) IN what is not constant: all of its numbers, and there must be one; or any. */
static void emit_set_membership(struct compiler *compiler, enum filter_operator kind,
				const struct filter_node *left, struct filter_node **to,
				size_t to_count)
{
	struct number_list set = {0};

	add_set(compiler, left, &set);
	add_number(compiler, kind == FILTER_IN && set.count);
	for (size_t i = 0; !compiler->failed && i < set.count; i++) {
		add_number(compiler, set.items[i]);
		emit_one_in(compiler, to, to_count);
		add_binary(compiler, kind == FILTER_IN ? FILTER_AND : FILTER_OR);
	}
	vec_fini(&set);
}

static void emit_number_membership(struct compiler *compiler, enum filter_operator kind,
				   struct filter_node *left, struct filter_node *right)
{
	struct filter_node **from, **to;
	size_t from_count = filter_items(&left, &from), to_count = filter_items(&right, &to);

	if (kind == FILTER_ORDERED_IN &&
	    (filter_is_number_set(left) || filter_is_number_set(right))) {
		add_number(compiler, 0);
		return;
	}
	if (kind == FILTER_ORDERED_IN) {
		emit_ordered(compiler, from, from_count, to, to_count);
		return;
	}
	for (size_t i = 0; !compiler->failed && i < from_count; i++) {
		if (is_call_of(from[i], "DNAME")) {
			emit_data_membership(compiler, from[i], to, to_count);
		} else if (filter_is_number_set(from[i])) {
			emit_set_membership(compiler, kind, from[i], to, to_count);
		} else {
			emit(compiler, from[i]);
			emit_one_in(compiler, to, to_count);
		}
		if (i)
			add_binary(compiler, kind == FILTER_IN ? FILTER_AND : FILTER_OR);
	}
}

static void emit_membership(struct compiler *compiler, const struct filter_node *node,
			    enum filter_operator kind, struct filter_node *left,
			    struct filter_node *right)
{
	if (filter_sort(left) <= SORT_NUMBERS && filter_sort(right) <= SORT_NUMBERS)
		emit_number_membership(compiler, kind, left, right);
	else
		emit_stack_membership(compiler, node, kind, left, right);
}

/* LEAF == FNAME("f") and the like, which mean IN. */
static void emit_set_equality(struct compiler *compiler, const struct filter_node *node)
{
	struct filter_node *left = node->operand[0], *right = node->operand[1];

	if (sort_is_set(filter_sort(left)) || filter_is_number_set(left))
		emit_membership(compiler, node, FILTER_IN, right, left);
	else
		emit_membership(compiler, node, FILTER_IN, left, right);
	if (node->kind == FILTER_UNEQUAL)
		add_unary(compiler, FILTER_NOT);
}

static bool is_membership(const struct filter_node *node)
{
	return node->kind == FILTER_IN || node->kind == FILTER_SOME_IN ||
	       node->kind == FILTER_ORDERED_IN;
}

static bool is_set_equality(const struct filter_node *node)
{
	return (node->kind == FILTER_EQUAL || node->kind == FILTER_UNEQUAL) &&
	       (filter_sort(node->operand[0]) != SORT_NUMBER ||
		filter_sort(node->operand[1]) != SORT_NUMBER);
}

/* An operator on two numbers. */
static bool is_plain(const struct filter_node *node)
{
	return node->kind >= FILTER_OR && node->kind <= FILTER_REMAINDER && !is_membership(node) &&
	       !is_set_equality(node);
}

static void emit_leafward(struct compiler *compiler, const struct filter_node *node)
{
	const struct filter_property *property;
	enum stack_item stack;

	switch (node->kind) {
	case FILTER_NUMBER:
		add_number(compiler, node->number);
		break;
	case FILTER_NAME:
	case FILTER_HAS:
		if (node->kind == FILTER_HAS &&
		    (filter_is_stack(node->name, &stack) || !strcmp(node->name, "LEAF"))) {
			add_number(compiler, 1);
			break;
		}
		property = find_property(compiler, node);
		add_step(compiler, node->kind == FILTER_HAS ? STEP_HAS : STEP_PROPERTY, 1)
			->property = property;
		break;
	case FILTER_NEGATE:
	case FILTER_NOT:
	case FILTER_INVERT:
		emit(compiler, node->operand[0]);
		add_unary(compiler, node->kind);
		break;
	case FILTER_CHOOSE:
		for (int i = 0; i < 3; i++)
			emit(compiler, node->operand[i]);
		add_step(compiler, STEP_CHOOSE, -2);
		break;
	default:
		if (is_set_equality(node))
			emit_set_equality(compiler, node);
		else
			emit_membership(compiler, node, node->kind, node->operand[0],
					node->operand[1]);
		break;
	}
}

/* Most are meant as a question that is missing. */
static void complain_no_number(struct compiler *compiler, const struct filter_node *node)
{
	enum sort sort = filter_sort(node);

	if (node->kind == FILTER_CALL && sort_is_set(sort))
		COMPLAIN(compiler, node,
			 "%s(...) is a set, no number: ask whether it is on the stack, as in "
			 "%s(\"%s\") IN STACK%s",
			 node->name, node->name, node->text,
			 sort == SORT_SET + ITEM_LINE	       ? "L"
			 : sort == SORT_SET + ITEM_INSTRUCTION ? "I"
							       : "");
	else
		COMPLAIN(compiler, node, "%s is no number",
			 node->kind == FILTER_LIST ? "a list" : node->name);
}

/* Long chains of operators lean to the left: that side is gone down without recursion. */
static void emit(struct compiler *compiler, const struct filter_node *node)
{
	VEC(const struct filter_node *) chain = {0};

	for (; is_plain(node); node = node->operand[0])
		*vec_push(&chain) = node;
	if (filter_sort(node) != SORT_NUMBER)
		complain_no_number(compiler, node);
	else if (!compiler->failed)
		emit_leafward(compiler, node);
	for (size_t i = chain.count; !compiler->failed && i--;) {
		emit(compiler, chain.items[i]->operand[1]);
		add_binary(compiler, chain.items[i]->kind);
	}
	vec_fini(&chain);
}

enum status filter_compile(struct session *session, const struct whole_tree *whole,
			   const char *text, struct filter_program **program,
			   struct diag_list *diags)
{
	struct compiler compiler = {
		.session = session, .tree = whole, .text = text, .diags = diags};
	struct filter_tree tree;

	compiler.program = *program = xcalloc(1, sizeof(**program));
	compiler.failed = filter_parse(text, &tree, diags) != STATUS_OK;
	if (!compiler.failed)
		emit(&compiler, tree.root);
	for (size_t i = 0; i < compiler.sets.count; i++)
		free(compiler.sets.items[i].members);
	vec_fini(&compiler.sets);
	for (int i = 0; i < STACK_ITEMS; i++)
		filter_code_free(compiler.code[i]);
	filter_tree_fini(&tree);
	if (!compiler.failed)
		return STATUS_OK;
	filter_program_free(*program);
	*program = NULL;
	return STATUS_INVALID;
}

size_t filter_program_size(const struct filter_program *program)
{
	return program ? program->arena.size +
				 program->steps.capacity * sizeof(*program->steps.items)
		       : 0;
}

void filter_program_free(struct filter_program *program)
{
	if (!program)
		return;
	vec_fini(&program->steps);
	arena_fini(&program->arena);
	free(program);
}
