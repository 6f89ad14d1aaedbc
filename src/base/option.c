/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row's index counts through all tables of a syntax, in their order.
 */
#include "base/option.h"

#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what rows do ---- */

bool option_refuse(struct option_parser *parser, const char *what, const char *argument)
{
	diag_add(parser->diags, DIAG_ERROR, "%s '%s'", what, argument);
	return false;
}

bool option_set_flag(struct option_parser *parser, const char *argument)
{
	*(bool *)((char *)parser->target + parser->option->at) = true;
	return true;
}

bool option_set_text(struct option_parser *parser, const char *argument)
{
	const char **text = (const char **)(void *)((char *)parser->target + parser->option->at);

	*text = argument;
	return true;
}

bool option_ask_help(struct option_parser *parser, const char *argument)
{
	parser->asked = OPTION_ASKED_HELP;
	return parser->is_done = true;
}

bool option_ask_version(struct option_parser *parser, const char *argument)
{
	parser->asked = OPTION_ASKED_VERSION;
	return parser->is_done = true;
}

const struct option option_common_rows[OPTION_COMMON_ROWS] = {
	{'V', "version", NULL, 0, option_ask_version, 0, "show the version"},
	{'h', "help", NULL, 0, option_ask_help, 0, "show this text"},
};

/* ---- finding them ---- */

const struct option *option_at(const struct option_syntax *syntax, size_t index)
{
	for (size_t i = 0; i < syntax->count; i++) {
		if (index < syntax->tables[i].count)
			return &syntax->tables[i].rows[index];
		index -= syntax->tables[i].count;
	}
	return syntax->more ? option_at(syntax->more, index) : NULL;
}

enum { NONE = OPTION_MOST, SEVERAL };

static size_t find_letter(const struct option_syntax *syntax, char letter)
{
	const struct option *option;

	for (size_t i = 0; (option = option_at(syntax, i)); i++)
		if (option->letter == letter)
			return i;
	return NONE;
}

/* A name with its argument, if any: "limit=5".  NONE, or, of several names' beginning, SEVERAL. */
static size_t find_name(const struct option_syntax *syntax, const char *name)
{
	size_t length = strcspn(name, "="), found = NONE;
	const struct option *option;

	for (size_t i = 0; length && (option = option_at(syntax, i)); i++) {
		if (!option->name || strncmp(option->name, name, length) != 0)
			continue;
		if (!option->name[length])
			return i;
		if (!syntax->whole_words && !(option->flags & OPTION_HIDDEN))
			found = found == NONE ? i : SEVERAL;
	}
	return found;
}

const struct option *option_find(const struct option_syntax *syntax, const char *word)
{
	size_t found = NONE;

	if (word[0] == '-' && word[1] == '-')
		found = find_name(syntax, word + 2);
	else if (word[0] == '-' && word[1] && !word[2])
		found = find_letter(syntax, word[1]);
	return found < OPTION_MOST ? option_at(syntax, found) : NULL;
}

bool option_is_hidden(const struct option_syntax *syntax, const struct option *option)
{
	return !option->help || option->flags & (OPTION_HIDDEN | syntax->hides);
}

/* ---- what is said of words that are none ---- */

const char *option_guess(const struct option_syntax *syntax, const char *word)
{
	const struct option *option;
	const char *names[OPTION_MOST];
	char name[64];
	size_t count = 0;

	if (word[0] != '-' || word[1] != '-')
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (size_t i = 0; count < OPTION_MOST && (option = option_at(syntax, i)); i++)
		if (option->name && !option_is_hidden(syntax, option))
			names[count++] = option->name;
	return suggest_closest(name, names, count);
}

/* The first letter of -qaMODE that is no option; 0: each is one. */
static char unknown_letter(const struct option_syntax *syntax, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		size_t found = find_letter(syntax, *letter);

		if (found == NONE)
			return *letter;
		if (option_at(syntax, found)->argument)
			return 0;
	}
	return 0;
}

/* -json, -pon, -qz.  True: something helpful was said. */
static bool explain_letters(struct option_parser *parser, const char *word)
{
	const struct option_syntax *syntax = parser->syntax;
	size_t named = find_name(syntax, word + 1), first = find_letter(syntax, word[1]);
	const struct option *option = first < OPTION_MOST ? option_at(syntax, first) : NULL;

	if (named < OPTION_MOST)
		diag_add(parser->diags, DIAG_ERROR,
			 "unrecognized argument '%s': did you mean --%s?", word,
			 option_at(syntax, named)->name);
	else if (!syntax->whole_words)
		diag_add(parser->diags, DIAG_ERROR,
			 "unrecognized argument '%s': there is no option -%c", word,
			 unknown_letter(syntax, word));
	else if (option && option->argument)
		diag_add(parser->diags, DIAG_ERROR,
			 "unrecognized argument '%s': an option's argument is a word of its own, "
			 "'-%c %s'",
			 word, word[1], word + 2);
	else
		return false;
	return true;
}

static void refuse_unknown(struct option_parser *parser, const char *word)
{
	const char *near = option_guess(parser->syntax, word);

	if (near)
		diag_add(parser->diags, DIAG_ERROR,
			 "unrecognized argument '%s': did you mean --%s?", word, near);
	else if (!word[1] || word[1] == '-' || !word[2] || !explain_letters(parser, word))
		diag_add(parser->diags, DIAG_ERROR, "unrecognized argument '%s'", word);
}

static void refuse_ambiguous(struct option_parser *parser, const char *word)
{
	size_t length = strcspn(word + 2, "=");
	const struct option *option;
	struct strbuf names = {0};

	for (size_t i = 0; (option = option_at(parser->syntax, i)); i++)
		if (option->name && !(option->flags & OPTION_HIDDEN) &&
		    !strncmp(option->name, word + 2, length))
			strbuf_printf(&names, "%s--%s", names.length ? " or " : "", option->name);
	diag_add(parser->diags, DIAG_ERROR, "'%s' may be %s", word, names.text);
	strbuf_fini(&names);
}

/* ---- taking them ---- */

/* `shown`: as it was written, but for its argument. */
static enum status take(struct option_parser *parser, size_t index, const char *shown,
			const char *argument)
{
	const struct option *option = option_at(parser->syntax, index);

	if (option->argument && !argument && !(option->flags & OPTION_ALONE)) {
		diag_add(parser->diags, DIAG_ERROR, "%s requires an argument: %s", shown,
			 option->argument);
		return STATUS_INVALID;
	}
	if (option->flags & OPTION_ONCE && parser->seen[index]) {
		char letter[] = {option->letter, '\0'};

		diag_add(parser->diags, DIAG_ERROR, "Only one %s%s argument may be used",
			 *letter ? "-" : "--", *letter ? letter : option->name);
		return STATUS_INVALID;
	}
	parser->seen[index] = true;
	parser->option = option;
	return option->take(parser, argument) ? STATUS_OK : STATUS_INVALID;
}

/* The word behind *word, which is then that; NULL: there is none. */
static const char *next_word(char ***word)
{
	return (*word)[1] ? *++*word : NULL;
}

static enum status take_name(struct option_parser *parser, char ***word)
{
	const char *text = **word, *sign = strchr(text, '=');
	size_t index = find_name(parser->syntax, text + 2);
	char shown[64];

	if (index == NONE)
		return STATUS_NOTFOUND;
	if (index == SEVERAL) {
		refuse_ambiguous(parser, text);
		return STATUS_INVALID;
	}
	const struct option *option = option_at(parser->syntax, index);

	snprintf(shown, sizeof(shown), "--%s", option->name);
	if (option->argument)
		return take(parser, index, shown, sign ? sign + 1 : next_word(word));
	if (!sign)
		return take(parser, index, shown, NULL);
	diag_add(parser->diags, DIAG_ERROR, "%s takes no argument", shown);
	return STATUS_INVALID;
}

static enum status take_letters(struct option_parser *parser, char ***word)
{
	const char *text = **word;
	enum status status = STATUS_OK;

	if ((parser->syntax->whole_words && text[2]) || unknown_letter(parser->syntax, text))
		return STATUS_NOTFOUND;
	for (const char *letter = text + 1; *letter && status == STATUS_OK && !parser->is_done;
	     letter++) {
		size_t index = find_letter(parser->syntax, *letter);
		const char shown[] = {'-', *letter, '\0'};

		if (option_at(parser->syntax, index)->argument)
			return take(parser, index, shown, letter[1] ? letter + 1 : next_word(word));
		status = take(parser, index, shown, NULL);
	}
	return status;
}

enum status option_parse_word(struct option_parser *parser, char ***word)
{
	const char *text = **word;

	if (text[0] != '-' || !text[1])
		return STATUS_NOTFOUND;
	return text[1] == '-' ? take_name(parser, word) : take_letters(parser, word);
}

/* Of words that are not behind a --. */
static bool is_operand(const struct option_syntax *syntax, const char *word)
{
	return *word != '-' || (!word[1] && !syntax->whole_words);
}

/* Takes the option at *word; an error says what is wrong with it. */
static bool take_word(struct option_parser *parser, char ***word)
{
	const char *text = **word;
	enum status status = option_parse_word(parser, word);

	if (status == STATUS_NOTFOUND)
		refuse_unknown(parser, text);
	return status == STATUS_OK;
}

enum status option_parse(struct option_parser *parser, char **words, char ***operands)
{
	char **end = words; /* of the operands so far */
	char **word = words;

	for (; *word && strcmp(*word, "--") != 0; word++) {
		if (!is_operand(parser->syntax, *word)) {
			if (!take_word(parser, &word))
				return STATUS_INVALID;
			if (parser->is_done)
				return STATUS_OK;
		} else if (parser->syntax->operand_ends) {
			break;
		} else {
			*end++ = *word;
		}
	}
	word += *word && !strcmp(*word, "--");
	*operands = end == words ? word : words;
	if (end == words)
		return STATUS_OK;
	while ((*end++ = *word++))
		;
	return STATUS_OK;
}

/* ---- the help ---- */

enum { MARGIN = 30, WIDTH = 100 };

static char *left_side(const struct option *option)
{
	struct strbuf left = {0};

	if (option->letter)
		strbuf_printf(&left, "  -%c%s", option->letter, option->name ? ", " : "");
	else
		strbuf_puts(&left, "      ");
	if (option->name)
		strbuf_printf(&left, "--%s", option->name);
	if (option->argument)
		strbuf_printf(&left, " %s", option->argument);
	return strbuf_steal(&left);
}

/* Where the explanations begin: what is longer on the left has a line of its own. */
static size_t margin_of(const struct option_syntax *syntax)
{
	const struct option *option;
	size_t margin = 0;

	for (size_t i = 0; (option = option_at(syntax, i)); i++) {
		if (option_is_hidden(syntax, option))
			continue;
		char *left = left_side(option);
		size_t length = strlen(left) + 2;

		if (length > margin)
			margin = length < MARGIN ? length : MARGIN;
		free(left);
	}
	return margin;
}

/* Breaks the text at spaces so that it fills the columns from the margin on. */
static void add_wrapped(struct strbuf *out, const char *text, size_t margin)
{
	size_t width = WIDTH - margin;

	while (strlen(text) > width) {
		size_t length = width;

		while (length > 1 && text[length] != ' ')
			length--;
		strbuf_add(out, text, length);
		strbuf_printf(out, "\n%*s", (int)margin, "");
		text += length + 1;
	}
	strbuf_puts(out, text);
	strbuf_putc(out, '\n');
}

static void add_rows(struct strbuf *out, const struct option_syntax *syntax)
{
	size_t margin = margin_of(syntax);
	const struct option *option;

	for (size_t i = 0; (option = option_at(syntax, i)); i++) {
		if (option_is_hidden(syntax, option))
			continue;
		char *left = left_side(option);

		if (strlen(left) + 1 < margin)
			strbuf_printf(out, "%-*s", (int)margin, left);
		else
			strbuf_printf(out, "%s\n%*s", left, (int)margin, "");
		add_wrapped(out, option->help, margin);
		free(left);
	}
}

static void add_named(struct strbuf *out, const char *text, const char *program)
{
	for (const char *here; (here = strstr(text, "%s")); text = here + 2) {
		strbuf_add(out, text, (size_t)(here - text));
		strbuf_puts(out, program);
	}
	strbuf_puts(out, text);
}

void option_help(const struct option_syntax *syntax, const char *program, struct strbuf *out)
{
	add_named(out, syntax->usage ? syntax->usage : "", program);
	add_rows(out, syntax);
	add_named(out, syntax->notes ? syntax->notes : "", program);
}
