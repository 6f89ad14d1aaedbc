/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `helio archive`; options as er_archive has them. */
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "manage/manage.h"
#include "manage/report.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

struct arguments {
	struct manage_archive_request request;
	bool help, version;
};

static void put_usage(const char *program)
{
	terminal_printf(
		stdout,
		"Usage: %s [OPTION]... EXPERIMENT...\n"
		"Keep what an experiment refers to in its directory archives, so that it can be "
		"read\n"
		"where its programs are not, or not any more the same.\n"
		"\n"
		"  -a, --archive MODE   off, own (no system files), usedldobjects (default), "
		"ldobjects,\n"
		"                       usedsrc, src (load objects, the last two with their "
		"sources)\n"
		"  -A                   the same as -a ldobjects\n"
		"  -s, --source WHICH   sources: no (default), used, all\n"
		"  -m, --match REGEX    only sources whose path matches\n"
		"  -d, --directory DIR  keep the copies in DIR, and links to them in the "
		"experiment\n"
		"  -r, --relative DIR   the same with relative links: both can be moved together\n"
		"  -n, --founder        leave out what only descendant processes used\n"
		"  -F, --force          copy anew what is there already\n"
		"  -q, --quiet          write warnings into archive.log only\n"
		"  -V, --version        the version\n"
		"  -h, --help           this help\n"
		"\n"
		"Example: %s -s used test.1.er\n",
		program, program);
}

static bool set_sources(const char *word, struct manage_archive_request *request)
{
	if (!strcmp(word, "no"))
		request->sources = MANAGE_SOURCES_NONE;
	else if (!strcmp(word, "used") || !strcmp(word, "usedsrc"))
		request->sources = MANAGE_SOURCES_USED;
	else if (!strcmp(word, "all"))
		request->sources = MANAGE_SOURCES_ALL;
	else
		return false;
	return true;
}

static bool refuse(const char *program, const char *what, const char *word)
{
	terminal_printf(stderr, "%s: %s `%s'\n", program, what, word);
	return false;
}

static bool take(struct arguments *arguments, const char *program, int letter)
{
	struct manage_archive_request *request = &arguments->request;

	switch (letter) {
	case 'a':
		return manage_archive_mode(optarg, request) ||
		       refuse(program, "Unrecognized archive-mode parameter", optarg);
	case 's':
		return set_sources(optarg, request) ||
		       refuse(program, "Sources are no, used or all, not", optarg);
	case 'A':
		request->objects = MANAGE_OBJECTS_ALL;
		request->size_limit = request->total_limit = 0;
		return true;
	case 'm':
		request->source_regex = optarg;
		return true;
	case 'd':
	case 'r':
		request->directory = optarg;
		request->relative = letter == 'r';
		return true;
	case 'n':
		return request->founder_only = true;
	case 'F':
		return request->rewrite = true;
	case 'q':
		return request->quiet = true;
	case 'h':
		return arguments->help = true;
	case 'V':
		return arguments->version = true;
	default:
		return false;
	}
}

static bool parse(struct arguments *arguments, const char *program, int argc, char **argv)
{
	static const struct option options[] = {
		{"archive", required_argument, NULL, 'a'},
		{"source", required_argument, NULL, 's'},
		{"match", required_argument, NULL, 'm'},
		{"directory", required_argument, NULL, 'd'},
		{"relative", required_argument, NULL, 'r'},
		{"founder", no_argument, NULL, 'n'},
		{"force", no_argument, NULL, 'F'},
		{"quiet", no_argument, NULL, 'q'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "a:As:m:d:r:nFqVh", options, NULL)) >= 0)
		if (!take(arguments, program, letter))
			return false;
	return true;
}

bool manage_archive_options(const char *source, char *words, struct manage_archive_request *request)
{
	enum { WORDS = 64 };
	struct arguments arguments = {.request = *request};
	char *argv[WORDS + 1] = {(char *)(uintptr_t)source}, *rest = words;
	int argc = 1;

	while (argc < WORDS && (argv[argc] = strtok_r(rest, " \t\n", &rest)))
		argc++;
	optind = 0;
	if (!parse(&arguments, source, argc, argv))
		return false;
	if (optind < argc || arguments.help || arguments.version)
		return refuse(source, "holds options of helio archive only, not", argv[argc - 1]);
	*request = arguments.request;
	return true;
}

static size_t archive_all(const struct arguments *arguments, const char *program,
			  const struct experiment_paths *paths)
{
	size_t failed = 0;

	for (size_t i = 0; i < paths->count; i++) {
		struct diag_list diags = {0};

		manage_archive(paths->items[i], &arguments->request, &diags);
		failed += report_diags(program, &diags) > 0;
	}
	return failed;
}

int manage_archive_main(int argc, char **argv)
{
	const char *program = report_program(argv);
	struct arguments arguments = {.request.objects = MANAGE_OBJECTS_USED};
	struct experiment_paths paths = {0};
	struct strbuf command = {0};
	struct diag_list refusals = {0};

	strbuf_puts(&command, program);
	for (int i = 1; i < argc; i++)
		strbuf_printf(&command, " %s", argv[i]);
	arguments.request.command = command.text;
	if (!parse(&arguments, program, argc, argv)) {
		strbuf_fini(&command);
		return report_usage_error(program, NULL);
	}
	for (int i = optind; i < argc; i++)
		experiment_paths_add_own(&paths, argv[i], &refusals);
	if (arguments.help)
		put_usage(program);
	else if (arguments.version)
		report_version(program);
	bool idle = !paths.count && !refusals.count && !arguments.help && !arguments.version;

	size_t failed = report_diags(program, &refusals);

	failed += archive_all(&arguments, program, &paths);
	experiment_paths_fini(&paths);
	strbuf_fini(&command);
	if (idle)
		return report_usage_error(program, "name an experiment to archive");
	return failed ? MANAGE_EXIT_FAILED : MANAGE_EXIT_OK;
}
