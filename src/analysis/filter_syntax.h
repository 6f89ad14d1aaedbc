/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of an expression to its tree. Private to this room. */
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

/* One error about a place in the text, which is shown under it. */
void filter_complain(struct diag_list *diags, const char *text, size_t at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
