/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of filters, by recursive descent with a table of precedences.
 *
 *   list    = choice {"," choice}
 *   choice  = binary ["?" list ":" choice]
 *   binary  = unary {operator unary}        as in C, without "a < b < c"
 *   unary   = {"-" | "!" | "~"} primary
 *   primary = number | TRUE | FALSE | name | name "(" string ")" | HAS_PROP "(" name ")" | "(" list
 * ")"
 *
 * After IN a list needs no parentheses, as in the old tools; before it neither: "1,2 SOME IN
 * HSIZE" means "(1,2) SOME IN HSIZE".
 */
#include "analysis/filter/filter_syntax.h"

#include "base/array.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 1000, SHOWN_MAX = 70 };

enum token { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_STRING, TOKEN_MARK };

struct parser {
	struct filter_tree *tree;
	struct diag_list *diags;
	const char *text;
	bool failed;
	unsigned nesting;
	/* the token ahead */
	enum token token;
	size_t at, end;
	uint64_t number;
};

/* ---- errors ---- */

/* Where the character begins that the byte belongs to: one is not shown in part. */
static size_t begin_of_character(const char *text, size_t at)
{
	while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static size_t length_of_character(const char *text)
{
	size_t length = 1;

	while (((unsigned char)text[length] & 0xc0) == 0x80)
		length++;
	return length;
}

void filter_complain(struct diag_list *diags, const char *text, size_t at, const char *format, ...)
{
	size_t length = strlen(text);
	size_t from = at > SHOWN_MAX / 2 && length > SHOWN_MAX ? at - SHOWN_MAX / 2 : 0;
	va_list args;
	char *reason;

	from = begin_of_character(text, from);
	size_t shown = length - from > SHOWN_MAX ? begin_of_character(text, from + SHOWN_MAX) - from
						 : length - from;

	va_start(args, format);
	if (vasprintf(&reason, format, args) < 0)
		reason = NULL;
	va_end(args);
	diag_add(diags, DIAG_ERROR,
		 "Invalid filter specification: %s (column %zu)\n  %s%.*s%s\n  %*s^",
		 reason ? reason : "?", at + 1, from ? "..." : "", (int)shown, text + from,
		 from + shown < length ? "..." : "", (int)(at - from) + (from ? 3 : 0), "");
	free(reason);
}

#define COMPLAIN(parser_, at_, ...)                                                                \
	((parser_)->failed                                                                         \
		 ? (void)0                                                                         \
		 : filter_complain((parser_)->diags, (parser_)->text, (at_), __VA_ARGS__),         \
	 (parser_)->failed = true)

/* ---- tokens ---- */

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return isalpha((unsigned char)c) ? (unsigned)(tolower((unsigned char)c) - 'a') + 10 : 99;
}

static void scan_number(struct parser *parser)
{
	const char *text = parser->text;
	size_t at = parser->at;
	unsigned base = text[at] != '0' ? 10 : tolower((unsigned char)text[at + 1]) == 'x' ? 16 : 8;

	parser->number = 0;
	at += base == 16 ? 2 : 0;
	if (digit_of(text[at]) >= base)
		COMPLAIN(parser, parser->at, "digits are missing after 0x");
	for (; digit_of(text[at]) != 99; at++) {
		unsigned digit = digit_of(text[at]);

		if (digit >= base)
			COMPLAIN(parser, at, "'%c' is no digit of %s number", text[at],
				 base == 8    ? "an octal"
				 : base == 16 ? "a hexadecimal"
					      : "a decimal");
		if (__builtin_mul_overflow(parser->number, base, &parser->number) ||
		    __builtin_add_overflow(parser->number, digit, &parser->number))
			COMPLAIN(parser, parser->at, "this number does not fit in 64 bits");
	}
	parser->token = TOKEN_NUMBER;
	parser->end = at;
}

/* How many characters the operator or bracket at a place has; 0: none begins there. */
static size_t mark_length(const char *text)
{
	static const char *const two[] = {"&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};

	for (size_t i = 0; i < COUNT(two); i++)
		if (!strncmp(text, two[i], 2))
			return 2;
	return strchr("()?:,|&^<>+-*/%!~", *text) != NULL;
}

static void scan_string(struct parser *parser)
{
	const char *end = strchr(parser->text + parser->at + 1, '"');

	if (!end) {
		COMPLAIN(parser, parser->at, "this string has no closing \"");
		parser->end = strlen(parser->text); /* nothing is left to be read */
		return;
	}
	parser->token = TOKEN_STRING;
	parser->end = (size_t)(end - parser->text) + 1;
}

static void next_token(struct parser *parser)
{
	const char *text = parser->text;
	size_t at = parser->end + strspn(text + parser->end, " \t\r\n");
	unsigned char first = (unsigned char)text[at];

	parser->at = parser->end = at;
	parser->token = TOKEN_END;
	if (isdigit(first)) {
		scan_number(parser);
	} else if (isalpha(first) || first == '_') {
		while (isalnum((unsigned char)text[parser->end]) || text[parser->end] == '_')
			parser->end++;
		parser->token = TOKEN_NAME;
	} else if (first == '"') {
		scan_string(parser);
	} else if (first) {
		parser->token = TOKEN_MARK;
		parser->end = at + mark_length(text + at);
		if (parser->end > at)
			return;
		parser->end = at + 1;
		if (first == '=')
			COMPLAIN(parser, at, "a comparison is written ==");
		else
			COMPLAIN(parser, at, "'%.*s' means nothing here",
				 (int)length_of_character(parser->text + at), parser->text + at);
	}
}

static bool at_mark(const struct parser *parser, const char *mark)
{
	size_t length = strlen(mark);

	return parser->token == TOKEN_MARK && parser->end - parser->at == length &&
	       !strncmp(parser->text + parser->at, mark, length);
}

static bool at_name(const struct parser *parser, const char *name)
{
	size_t length = strlen(name);

	return parser->token == TOKEN_NAME && parser->end - parser->at == length &&
	       !strncasecmp(parser->text + parser->at, name, length);
}

static bool take_mark(struct parser *parser, const char *mark)
{
	if (!at_mark(parser, mark))
		return false;
	next_token(parser);
	return true;
}

/* The text ahead, for a message. */
static void complain_ahead(struct parser *parser, const char *wanted)
{
	if (parser->token == TOKEN_END)
		COMPLAIN(parser, parser->at, "%s is missing at the end", wanted);
	else
		COMPLAIN(parser, parser->at, "%s is missing before '%.*s'", wanted,
			 (int)(parser->end - parser->at), parser->text + parser->at);
}

static void need_mark(struct parser *parser, const char *mark)
{
	char wanted[8];

	if (take_mark(parser, mark))
		return;
	snprintf(wanted, sizeof(wanted), "'%s'", mark);
	complain_ahead(parser, wanted);
}

/* ---- nodes ---- */

static struct filter_node *make_node(struct parser *parser, enum filter_operator kind, size_t at)
{
	struct filter_node *node = arena_new(&parser->tree->arena, struct filter_node);

	node->kind = kind;
	node->at = at;
	return node;
}

static struct filter_node *make_binary(struct parser *parser, enum filter_operator kind, size_t at,
				       struct filter_node *left, struct filter_node *right)
{
	struct filter_node *node = make_node(parser, kind, at);

	node->operand[0] = left;
	node->operand[1] = right;
	return node;
}

static void list_add(struct parser *parser, struct filter_node **list, struct filter_node *item)
{
	if (!*list) {
		*list = make_node(parser, FILTER_LIST, item->at);
		*vec_push(&parser->tree->lists) = *list;
	}
	*vec_push(&(*list)->items) = item;
}

/* The name ahead in upper case. */
static const char *take_name(struct parser *parser)
{
	char *name = arena_strndup(&parser->tree->arena, parser->text + parser->at,
				   parser->end - parser->at);

	for (char *c = name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	next_token(parser);
	return name;
}

/* ---- the grammar ---- */

static struct filter_node *parse_list(struct parser *parser);

static struct filter_node *parse_name(struct parser *parser)
{
	struct filter_node *node = make_node(parser, FILTER_NAME, parser->at);

	node->name = take_name(parser);
	if (!strcmp(node->name, "TRUE") || !strcmp(node->name, "FALSE")) {
		node->kind = FILTER_NUMBER;
		node->number = node->name[0] == 'T';
		return node;
	}
	if (!take_mark(parser, "("))
		return node;
	if (!strcmp(node->name, "HAS_PROP")) {
		node->kind = FILTER_HAS;
		node->at = parser->at;
		if (parser->token == TOKEN_NAME)
			node->name = take_name(parser);
		else
			complain_ahead(parser, "the name of a property");
	} else {
		node->kind = FILTER_CALL;
		if (parser->token == TOKEN_STRING) {
			node->text =
				arena_strndup(&parser->tree->arena, parser->text + parser->at + 1,
					      parser->end - parser->at - 2);
			next_token(parser);
		} else {
			complain_ahead(parser, "a \"string\"");
		}
	}
	need_mark(parser, ")");
	return node;
}

static struct filter_node *parse_primary(struct parser *parser)
{
	struct filter_node *node;

	if (parser->token == TOKEN_NUMBER) {
		node = make_node(parser, FILTER_NUMBER, parser->at);
		node->number = parser->number;
		next_token(parser);
		return node;
	}
	if (parser->token == TOKEN_NAME && !at_name(parser, "IN") && !at_name(parser, "SOME") &&
	    !at_name(parser, "ORDERED"))
		return parse_name(parser);
	if (take_mark(parser, "(")) {
		node = parse_list(parser);
		node->enclosed = true;
		need_mark(parser, ")");
		return node;
	}
	complain_ahead(parser, "a number or a name");
	return make_node(parser, FILTER_NUMBER, parser->at);
}

static struct filter_node *parse_unary(struct parser *parser)
{
	static const struct {
		const char *mark;
		enum filter_operator kind;
	} unary[] = {{"-", FILTER_NEGATE}, {"!", FILTER_NOT}, {"~", FILTER_INVERT}};
	struct filter_node *node;

	if (++parser->nesting > NESTING_MAX)
		COMPLAIN(parser, parser->at, "this is nested too deeply");
	for (size_t i = 0; !parser->failed && i < COUNT(unary); i++) {
		size_t at = parser->at;

		if (!take_mark(parser, unary[i].mark))
			continue;
		node = make_binary(parser, unary[i].kind, at, parse_unary(parser), NULL);
		parser->nesting--;
		return node;
	}
	node = parser->failed ? make_node(parser, FILTER_NUMBER, parser->at)
			      : parse_primary(parser);
	parser->nesting--;
	return node;
}

enum { LEVEL_EQUALITY = 6, LEVEL_ORDER = 7, LEVEL_ITEM = 8 };

static const struct {
	const char *mark;
	enum filter_operator kind;
	unsigned level; /* how tightly it binds */
} binary[] = {
	{"||", FILTER_OR, 1},
	{"&&", FILTER_AND, 2},
	{"|", FILTER_BIT_OR, 3},
	{"^", FILTER_BIT_XOR, 4},
	{"&", FILTER_BIT_AND, 5},
	{"==", FILTER_EQUAL, LEVEL_EQUALITY},
	{"!=", FILTER_UNEQUAL, LEVEL_EQUALITY},
	{"<", FILTER_LESS, LEVEL_ORDER},
	{">", FILTER_GREATER, LEVEL_ORDER},
	{"<=", FILTER_LESS_EQUAL, LEVEL_ORDER},
	{">=", FILTER_GREATER_EQUAL, LEVEL_ORDER},
	{"<<", FILTER_SHIFT_LEFT, 8},
	{">>", FILTER_SHIFT_RIGHT, 8},
	{"+", FILTER_ADD, 9},
	{"-", FILTER_SUBTRACT, 9},
	{"*", FILTER_MULTIPLY, 10},
	{"/", FILTER_DIVIDE, 10},
	{"%", FILTER_REMAINDER, 10},
};

/* The binary operator ahead and its level; 0: none. */
static unsigned level_ahead(const struct parser *parser, enum filter_operator *kind)
{
	if (at_name(parser, "IN") || at_name(parser, "SOME") || at_name(parser, "ORDERED")) {
		*kind = at_name(parser, "IN")	  ? FILTER_IN
			: at_name(parser, "SOME") ? FILTER_SOME_IN
						  : FILTER_ORDERED_IN;
		return LEVEL_ORDER;
	}
	for (size_t i = 0; i < COUNT(binary); i++)
		if (at_mark(parser, binary[i].mark)) {
			*kind = binary[i].kind;
			return binary[i].level;
		}
	return 0;
}

static struct filter_node *parse_binary(struct parser *parser, unsigned level);

/* What stands after IN: one thing, or several with commas. */
static struct filter_node *parse_members(struct parser *parser)
{
	struct filter_node *first = parse_binary(parser, LEVEL_ITEM), *list = NULL;

	while (!parser->failed && take_mark(parser, ",")) {
		if (!list)
			list_add(parser, &list, first);
		list_add(parser, &list, parse_binary(parser, LEVEL_ITEM));
	}
	return list ? list : first;
}

static void take_operator(struct parser *parser, enum filter_operator kind)
{
	next_token(parser);
	if (kind != FILTER_SOME_IN && kind != FILTER_ORDERED_IN)
		return;
	if (at_name(parser, "IN"))
		next_token(parser);
	else
		complain_ahead(parser, "IN");
}

static bool is_membership(enum filter_operator kind)
{
	return kind >= FILTER_IN && kind <= FILTER_ORDERED_IN;
}

/* Operators that bind at least as tightly as `level`. */
static struct filter_node *parse_binary(struct parser *parser, unsigned level)
{
	struct filter_node *left = parse_unary(parser);
	unsigned compared = 0; /* the level of a comparison that must not go on */

	while (!parser->failed) {
		enum filter_operator kind;
		unsigned ahead = level_ahead(parser, &kind);
		size_t at = parser->at;

		if (!ahead || ahead < level)
			break;
		if (ahead == compared) {
			COMPLAIN(parser, at, "comparisons do not chain: write a < b && b < c");
			break;
		}
		take_operator(parser, kind);

		struct filter_node *right = is_membership(kind) ? parse_members(parser)
								: parse_binary(parser, ahead + 1);

		left = make_binary(parser, kind, at, left, right);
		compared = ahead == LEVEL_EQUALITY || ahead == LEVEL_ORDER ? ahead : 0;
	}
	return left;
}

static struct filter_node *parse_choice(struct parser *parser)
{
	struct filter_node *condition = parse_binary(parser, 1), *node;
	size_t at = parser->at;

	if (parser->failed || !take_mark(parser, "?"))
		return condition;
	if (++parser->nesting > NESTING_MAX)
		COMPLAIN(parser, at, "this is nested too deeply");
	node = make_node(parser, FILTER_CHOOSE, at);
	node->operand[0] = condition;
	node->operand[1] = parse_list(parser);
	need_mark(parser, ":");
	node->operand[2] = parser->failed ? condition : parse_choice(parser);
	parser->nesting--;
	return node;
}

static struct filter_node *parse_list(struct parser *parser)
{
	struct filter_node *first = parse_choice(parser), *last = first, *list = NULL;

	while (!parser->failed && take_mark(parser, ",")) {
		if (!list)
			list_add(parser, &list, first);
		last = parse_choice(parser);
		list_add(parser, &list, last);
	}
	if (!list || !is_membership(last->kind) || last->enclosed)
		return list ? list : first;
	/* a, (b IN c) is (a, b) IN c */
	list->items.items[list->items.count - 1] = last->operand[0];
	last->operand[0] = list;
	return last;
}

enum status filter_parse(const char *text, struct filter_tree *tree, struct diag_list *diags)
{
	struct parser parser = {.tree = tree, .diags = diags, .text = text};

	*tree = (struct filter_tree){.text = text};
	next_token(&parser);
	tree->root = parse_list(&parser);
	if (parser.token != TOKEN_END)
		complain_ahead(&parser, "an operator");
	return parser.failed ? STATUS_INVALID : STATUS_OK;
}

void filter_tree_fini(struct filter_tree *tree)
{
	for (size_t i = 0; i < tree->lists.count; i++)
		vec_fini(&tree->lists.items[i]->items);
	vec_fini(&tree->lists);
	arena_fini(&tree->arena);
}
