/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `helio archive`; options as er_archive has them. */
#include "base/array.h"
#include "base/strbuf.h"
#include "experiment/group.h"
#include "manage/manage.h"
#include "manage/report.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool take_mode(struct option_parser *parser, const char *argument)
{
	return manage_archive_mode(argument, parser->target) ||
	       option_refuse(parser, "Unrecognized archive-mode parameter", argument);
}

static bool take_all(struct option_parser *parser, const char *argument)
{
	struct manage_archive_request *request = parser->target;

	request->objects = MANAGE_OBJECTS_ALL;
	request->size_limit = request->total_limit = 0;
	return true;
}

static bool take_sources(struct option_parser *parser, const char *argument)
{
	struct manage_archive_request *request = parser->target;

	if (!strcmp(argument, "no"))
		request->sources = MANAGE_SOURCES_NONE;
	else if (!strcmp(argument, "used") || !strcmp(argument, "usedsrc"))
		request->sources = MANAGE_SOURCES_USED;
	else if (!strcmp(argument, "all"))
		request->sources = MANAGE_SOURCES_ALL;
	else
		return option_refuse(parser, "Sources are no, used or all, not", argument);
	return true;
}

/* Of -d and -r the last one counts. */
static bool take_directory(struct option_parser *parser, const char *argument)
{
	struct manage_archive_request *request = parser->target;

	request->directory = argument;
	request->relative = parser->option->letter == 'r';
	return true;
}

#define AT(member) offsetof(struct manage_archive_request, member)
static const struct option options[] = {
	{'a', "archive", "MODE", 0, take_mode, 0,
	 "off, own (no system files), usedldobjects (default), ldobjects, usedsrc, src (load "
	 "objects, the last two with their sources)"},
	{'A', NULL, NULL, 0, take_all, 0, "the same as -a ldobjects"},
	{'s', "source", "WHICH", 0, take_sources, 0, "sources: no (default), used, all"},
	{'m', "match", "REGEX", 0, option_set_text, AT(source_regex),
	 "only sources whose path matches"},
	{'d', "directory", "DIR", 0, take_directory, 0,
	 "keep the copies in DIR, and links to them in the experiment"},
	{'r', "relative", "DIR", 0, take_directory, 0,
	 "the same with relative links: both can be moved together"},
	{'n', "founder", NULL, 0, option_set_flag, AT(founder_only),
	 "leave out what only descendant processes used"},
	{'F', "force", NULL, 0, option_set_flag, AT(rewrite), "copy anew what is there already"},
	{'q', "quiet", NULL, 0, option_set_flag, AT(quiet), "write warnings into archive.log only"},
};
#undef AT
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [OPTION]... EXPERIMENT...\n"
		 "Keep what an experiment refers to in its directory archives, so that it can be "
		 "read\n"
		 "where its programs are not, or not any more the same.\n"
		 "\n",
	.notes = "\n"
		 "Example: %s -s used test.1.er\n",
};

bool manage_archive_options(const char *source, char *words, struct manage_archive_request *request)
{
	enum { WORDS = 64 };
	struct manage_archive_request wanted = *request;
	struct diag_list diags = {0};
	struct option_parser parser = {.syntax = &syntax, .target = &wanted, .diags = &diags};
	char *argv[WORDS + 1] = {NULL}, *rest = words, **operands;
	size_t count = 0;

	while (count < WORDS && (argv[count] = strtok_r(rest, " \t\n", &rest)))
		count++;
	bool ok = option_parse(&parser, argv, &operands) == STATUS_OK;

	if (ok && (parser.asked || *operands))
		ok = option_refuse(&parser, "holds options of helio archive only, not",
				   parser.asked ? argv[count - 1] : *operands);
	command_line_say(stderr, source, &diags);
	if (ok)
		*request = wanted;
	return ok;
}

static size_t archive_all(const struct manage_archive_request *request, const char *program,
			  const struct experiment_paths *paths)
{
	size_t failed = 0;

	for (size_t i = 0; i < paths->count; i++) {
		struct diag_list diags = {0};

		manage_archive(paths->items[i], request, &diags);
		failed += report_diags(program, &diags) > 0;
	}
	return failed;
}

static int archive_operands(const struct manage_archive_request *request, const char *program,
			    char **operands)
{
	struct experiment_paths paths = {0};
	struct diag_list refusals = {0};

	if (!*operands)
		return report_usage_error(program, "name an experiment to archive");
	for (char **path = operands; *path; path++)
		experiment_paths_add_own(&paths, *path, &refusals);
	size_t failed = report_diags(program, &refusals);

	failed += archive_all(request, program, &paths);
	experiment_paths_fini(&paths);
	return failed ? MANAGE_EXIT_FAILED : MANAGE_EXIT_OK;
}

int manage_archive_main(int argc, char **argv)
{
	const char *program = report_program(argv);
	struct manage_archive_request request = {.objects = MANAGE_OBJECTS_USED};
	struct strbuf command = {0};
	char **operands;
	int status;

	signal(SIGXFSZ, SIG_IGN); /* what a limit keeps from being copied is told */
	strbuf_puts(&command, program);
	for (int i = 1; i < argc; i++)
		strbuf_printf(&command, " %s", argv[i]);
	request.command = command.text;
	if (report_may_run(&syntax, program, &request, argv, &operands, &status))
		status = archive_operands(&request, program, operands);
	strbuf_fini(&command);
	return status;
}
