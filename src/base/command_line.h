/* SPDX-License-Identifier: Apache-2.0 */
/* What all subcommands say in the same way about their command lines. */
#ifndef HELIO_BASE_COMMAND_LINE_H
#define HELIO_BASE_COMMAND_LINE_H

#include "base/option.h"
#include "base/status.h"

#include <stdio.h>

enum command_line {
	COMMAND_LINE_OK,
	COMMAND_LINE_ANSWERED, /* the help or the version was asked for and printed */
	COMMAND_LINE_WRONG,    /* stderr says why */
};

/* option_parse for the program of that name, and what follows from it. */
enum command_line command_line_read(const struct option_syntax *syntax, const char *program,
				    void *target, char **words, char ***operands);
/* The same where the options have been parsed: `valid`, or errors are in the parser's list. */
enum command_line command_line_answer(const struct option_parser *parser, bool valid,
				      const char *program);
/* "PROGRAM: MESSAGE" and "Try `PROGRAM --help'." on stderr. */
void command_line_refuse(const char *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void command_line_advise(const char *program);
/* On stdout. */
void command_line_help(const struct option_syntax *syntax, const char *program);
size_t command_line_count(char **operands);

/* Prints and empties the list, each line with the program's name; returns how many were errors. */
size_t command_line_say(FILE *file, const char *program, struct diag_list *diags);

#endif
