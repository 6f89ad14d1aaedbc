/* SPDX-License-Identifier: Apache-2.0 */
/* `helio view` and `helio html`: their command lines; the server is serve's. */
#include "cli/view.h"

#include "base/array.h"
#include "base/command_line.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "launch/attach/attach.h"
#include "launch/options.h"
#include "serve/html.h"
#include "serve/serve.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static bool take_port(struct option_parser *parser, const char *argument)
{
	struct serve_config *config = parser->target;
	char *rest;
	unsigned long port = strtoul(argument, &rest, 10);

	if (*argument < '0' || *argument > '9' || *rest || port > 65535)
		return option_refuse(parser, "--port takes a number up to 65535, not", argument);
	config->port = (unsigned)port;
	return true;
}

/* "30", "30s", "15m", "2h" */
static bool take_idle(struct option_parser *parser, const char *argument)
{
	struct serve_config *config = parser->target;
	char *unit;
	double time = strtod(argument, &unit);
	double scale = !strcmp(unit, "h") ? 3600 : !strcmp(unit, "m") ? 60 : 1;

	if (*argument < '0' || *argument > '9' || (*unit && strcmp(unit, "s") != 0 && scale == 1))
		return option_refuse(parser, "--idle takes a time, as 30m or 2h, not", argument);
	config->idle_s = time * scale;
	return true;
}

#define AT(member) offsetof(struct serve_config, member)
static const struct option rows[] = {
	{0, "port", "N", OPTION_ONCE, take_port, 0,
	 "the port to serve on (default: one that is free)"},
	{0, "no-open", NULL, 0, option_set_flag, AT(no_open),
	 "open no browser; print the address, and a key for other programs"},
	{0, "unix", "PATH", OPTION_ONCE, option_set_text, AT(socket),
	 "serve on a socket of this user's in place of a port, to be forwarded by ssh"},
	{0, "idle", "TIME", OPTION_ONCE, take_idle, 0,
	 "end after so long without a request, in s, or with m or h (default: never)"},
};
#undef AT
static const struct option_table tables[] = {OPTION_TABLE(rows), OPTION_COMMON};

static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [OPTION]... [EXPERIMENT]...\n"
		 "Show experiments in a browser: every view of `helio print`, with pictures. "
		 "Without\n"
		 "EXPERIMENT: those of this directory, and a page to record programs.\n"
		 "\n",
	.notes =
		"\n"
		"The page is served to this machine only, to who has the address that is printed.\n"
		"From another machine, forward the port by ssh. Ctrl-C ends it.\n",
};

static int run(struct serve_config *config, char **experiments)
{
	const struct serve_recorder recorders[] = {{"collect", &options_syntax},
						   {"attach", &attach_syntax}};

	config->experiments = experiments;
	config->experiment_count = command_line_count(experiments);
	config->recorders = recorders;
	config->recorder_count = COUNT(recorders);
	return serve_run(config);
}

int view_main(int argc, char **argv)
{
	struct serve_config config = {.program = "helio view"};
	char **experiments = NULL;

	switch (command_line_read(&syntax, config.program, &config, argv + 1, &experiments)) {
	case COMMAND_LINE_ANSWERED:
		return 0;
	case COMMAND_LINE_WRONG:
		return EXIT_USAGE;
	case COMMAND_LINE_OK:
		break;
	}
	if (config.socket && config.port) {
		command_line_refuse(config.program, "--port and --unix exclude each other");
		return EXIT_USAGE;
	}
	return run(&config, experiments);
}

int view_experiment(const char *path)
{
	struct serve_config config = {.program = "helio view"};
	char *experiments[] = {(char *)path, NULL};

	return run(&config, experiments);
}

/* ---- html ---- */

static const struct option html_rows[] = {
	{'o', "output", "FILE", OPTION_ONCE, option_set_text, 0,
	 "the file to write (default: the experiment's name with .html)"},
};
static const struct option_table html_tables[] = {OPTION_TABLE(html_rows), OPTION_COMMON};

static const struct option_syntax html_syntax = {
	.tables = html_tables,
	.count = COUNT(html_tables),
	.usage = "Usage: %s [OPTION]... EXPERIMENT...\n"
		 "Write the page of `helio view` with what it shows into one file of at most 2 MB, "
		 "for\n"
		 "a report of a bug or a machine without a network.\n"
		 "\n",
};

/* Beside the experiment, also where its name ends in a slash, as a shell completes it. */
static char *default_file(const char *experiment)
{
	size_t length = strlen(experiment);

	while (length > 1 && experiment[length - 1] == '/')
		length--;
	return xasprintf("%.*s.html", (int)length, experiment);
}

int html_main(int argc, char **argv)
{
	static const char program[] = "helio html";
	const char *output = NULL;
	char **experiments = NULL, *file;
	int status;

	switch (command_line_read(&html_syntax, program, &output, argv + 1, &experiments)) {
	case COMMAND_LINE_ANSWERED:
		return 0;
	case COMMAND_LINE_WRONG:
		return EXIT_USAGE;
	case COMMAND_LINE_OK:
		break;
	}
	if (!*experiments) {
		command_line_refuse(program, "name an experiment");
		return EXIT_USAGE;
	}
	file = output ? xstrdup(output) : default_file(*experiments);
	status = serve_html(program, experiments, command_line_count(experiments), file);
	if (!status)
		terminal_printf(stdout, "%s: %s\n", program, file);
	free(file);
	return status;
}
