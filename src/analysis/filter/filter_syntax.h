/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of an expression to its tree. Private to this module. */
#ifndef HELIO_ANALYSIS_FILTER_SYNTAX_H
#define HELIO_ANALYSIS_FILTER_SYNTAX_H

#include "base/arena.h"
#include "base/memory.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum filter_operator {
	/* leaves */
	FILTER_NUMBER,
	FILTER_NAME,
	FILTER_CALL, /* name("text") */
	FILTER_HAS,  /* HAS_PROP(name) */
	FILTER_LIST, /* a, b: items */
	/* one operand */
	FILTER_NEGATE,
	FILTER_NOT,
	FILTER_INVERT,
	/* two */
	FILTER_OR,
	FILTER_AND,
	FILTER_BIT_OR,
	FILTER_BIT_XOR,
	FILTER_BIT_AND,
	FILTER_EQUAL,
	FILTER_UNEQUAL,
	FILTER_LESS,
	FILTER_GREATER,
	FILTER_LESS_EQUAL,
	FILTER_GREATER_EQUAL,
	FILTER_IN,
	FILTER_SOME_IN,
	FILTER_ORDERED_IN,
	FILTER_SHIFT_LEFT,
	FILTER_SHIFT_RIGHT,
	FILTER_ADD,
	FILTER_SUBTRACT,
	FILTER_MULTIPLY,
	FILTER_DIVIDE,
	FILTER_REMAINDER,
	/* three */
	FILTER_CHOOSE,
};

struct filter_node {
	enum filter_operator kind;
	bool enclosed; /* in parentheses of its own */
	size_t at;     /* where it stands in the text */
	struct filter_node *operand[3];
	uint64_t number;
	const char *name; /* upper case */
	const char *text;
	VEC(struct filter_node *) items;
};

struct filter_tree {
	struct arena arena;
	const char *text; /* the caller's */
	struct filter_node *root;
	VEC(struct filter_node *) lists; /* whose items are to be freed */
};

/* STATUS_INVALID: diags has said why. filter_tree_fini() in any case. */
enum status filter_parse(const char *text, struct filter_tree *tree, struct diag_list *diags);
void filter_tree_fini(struct filter_tree *tree);

/* ---- filter_sort.c ---- */

/* What call stacks are made of. */
enum stack_item { ITEM_FUNCTION, ITEM_LINE, ITEM_INSTRUCTION, STACK_ITEMS };

enum sort {
	SORT_NUMBER,  /* one number */
	SORT_NUMBERS, /* a list of them */
	SORT_SET,     /* FNAME, LNAME, INAME, or a list of one of these: + enum stack_item */
	SORT_LEAF = SORT_SET + STACK_ITEMS,
	SORT_STACK,			       /* STACK, STACKL, STACKI: + enum stack_item */
	SORT_MIXED = SORT_STACK + STACK_ITEMS, /* a list of several sorts */
};

static inline bool sort_is_set(enum sort sort)
{
	return sort >= SORT_SET && sort < SORT_LEAF;
}

static inline bool sort_is_stack(enum sort sort)
{
	return sort >= SORT_STACK && sort < SORT_MIXED;
}

enum sort filter_sort(const struct filter_node *node);
/*
 * Whether it is STACK, STACKL, STACKI or one of these with U, M, X or H in front: a view mode,
 * which are all the same for programs that are compiled to machine code.
 */
bool filter_is_stack(const char *name, enum stack_item *kind);
/* FNAME and the functions like it: the name of each. */
extern const char *const filter_set_names[STACK_ITEMS];
/* Which of them a call is; what is none of them is taken for the first. */
enum stack_item filter_set_kind(const struct filter_node *node);
/* Whether it is TNAME, FILEIOVFD, FSTYPE, LOCKNAME, JCLASS or DNAME, or one of the sets that our
 * data leaves empty.
 */
bool filter_is_number_set(const struct filter_node *node);
/* Of a list its items, of anything else itself: *items then is `node`. */
size_t filter_items(struct filter_node **node, struct filter_node ***items);

/* One error about a place in the text, which is shown under it. */
void filter_complain(struct diag_list *diags, const char *text, size_t at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
