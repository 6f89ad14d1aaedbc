/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a subcommand are rows of tables.  The rows drive parsing, the help text and what
 * is said of a misspelt option.  Nothing is printed: messages are added to a list.
 */
#ifndef HELIO_BASE_OPTION_H
#define HELIO_BASE_OPTION_H

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct option_parser;

enum {
	OPTION_ONCE = 1,   /* a second one is an error */
	OPTION_ALONE = 2,  /* may stand without its argument at the end of the line */
	OPTION_HIDDEN = 4, /* not in the help, and not suggested */
	OPTION_OWN = 256,  /* this bit and those above it mean what a subcommand wants */
};

struct option {
	char letter;	      /* 0: none */
	const char *name;     /* the long form; NULL: none */
	const char *argument; /* what follows, for people; NULL: nothing follows */
	unsigned flags;
	/* Gets the argument or NULL.  False: an error in parser->diags says why. */
	bool (*take)(struct option_parser *parser, const char *argument);
	size_t at; /* for take: where in the parser's target it belongs */
	const char *help;
};

struct option_table {
	const struct option *rows;
	size_t count;
};

/* From an array of rows. */
#define OPTION_TABLE(array)                                                                        \
	{                                                                                          \
		array, sizeof(array) / sizeof((array)[0])                                          \
	}

/* Of rows with the same letter or name in several tables the first counts. */
struct option_syntax {
	const struct option_table *tables;
	size_t count;
	const struct option_syntax *more; /* whose rows follow, or NULL */
	/*
	 * As in collect(1): a short option is a word of its own and long ones are written in full.
	 * Otherwise `-qa MODE`, `-aMODE` and unique beginnings of names work, too.
	 */
	bool whole_words;
	/* What follows the first operand are operands, whatever they look like. */
	bool operand_ends;
	unsigned hides; /* flags of rows that are hidden in this subcommand */
	/* What help says before the rows and behind them; %s is the program's name. */
	const char *usage, *notes;
};

enum option_asked { OPTION_ASKED_NOTHING, OPTION_ASKED_HELP, OPTION_ASKED_VERSION };

enum { OPTION_MOST = 128 };

/* Zero but for the first three. */
struct option_parser {
	const struct option_syntax *syntax;
	void *target; /* what the options fill */
	struct diag_list *diags;
	const struct option *option; /* the one that is being taken */
	enum option_asked asked;
	bool is_done; /* what follows is not read: help is asked for, for example */
	bool seen[OPTION_MOST];
};

/*
 * Reads the words up to NULL; `--` ends the options.  *operands is where the operands begin, with
 * a NULL behind them; they are gathered at the front of words if options stand between them.  It is
 * not set if the parser is done.  STATUS_INVALID: an error says why.
 */
enum status option_parse(struct option_parser *parser, char **words, char ***operands);
/*
 * Takes the option at **word, and leaves *word at its last word.  STATUS_NOTFOUND: it is none of
 * the syntax's, and nothing is said of that.
 */
enum status option_parse_word(struct option_parser *parser, char ***word);
/* The row that a whole word like -q, --quiet or --limit=5 stands for, or NULL. */
const struct option *option_find(const struct option_syntax *syntax, const char *word);
/* The long option that was probably meant by --clok, without its dashes; NULL: none is near. */
const char *option_guess(const struct option_syntax *syntax, const char *word);

/* The rows of all tables in order; NULL behind the last. */
const struct option *option_at(const struct option_syntax *syntax, size_t index);
/* Whether help is silent about a row. */
bool option_is_hidden(const struct option_syntax *syntax, const struct option *option);

/* Adds the error "what 'argument'".  Returns false. */
bool option_refuse(struct option_parser *parser, const char *what, const char *argument);

/* For `take`: a bool at `at` becomes true, a const char * the argument. */
bool option_set_flag(struct option_parser *parser, const char *argument);
bool option_set_text(struct option_parser *parser, const char *argument);
bool option_ask_help(struct option_parser *parser, const char *argument);
bool option_ask_version(struct option_parser *parser, const char *argument);

/* -V, --version and -h, --help */
enum { OPTION_COMMON_ROWS = 2 };
extern const struct option option_common_rows[OPTION_COMMON_ROWS];
/* … as a table */
#define OPTION_COMMON                                                                              \
	{                                                                                          \
		option_common_rows, OPTION_COMMON_ROWS                                             \
	}

/* Appends the usage, a line or more for each option that is not hidden, and the notes. */
void option_help(const struct option_syntax *syntax, const char *program, struct strbuf *out);

#endif
