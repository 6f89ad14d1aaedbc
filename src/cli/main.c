/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One binary, `helio SUBCOMMAND`.  Called by a name of the old tools (through
 * a link named collect or er_print) it is that subcommand, and takes the
 * command line unchanged.
 */
#include "base/array.h"
#include "base/file_map.h"
#include "base/memory.h"
#include "base/option.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/collect.h"
#include "cli/index.h"
#include "cli/view.h"
#include "launch/control.h"
#include "launch/doctor.h"
#include "manage/manage.h"
#include "print/commands/diff.h"
#include "print/print.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { EXIT_USAGE = 2 };

struct subcommand {
	const char *name;
	const char *old_name; /* as argv[0], or NULL */
	const char *help;
	int (*run)(int argc, char **argv);
	int (*run_old)(int argc, char **argv); /* under the old name; NULL: as `run` */
	bool has_no_help;		       /* help of it is that of all */
};

static int run_help(int argc, char **argv);
static int run_version(int argc, char **argv);

static const struct subcommand subcommands[] = {
	{"collect", "collect", "run a program and record where its time goes", .run = collect_main,
	 .run_old = collect_main_old},
	{"attach", NULL, "record a program that runs already", .run = attach_main},
	{"ctl", NULL, "pause, resume, sample or end a recording in progress", .run = control_main},
	{"print", "er_print", "print what was recorded", .run = print_main},
	{"view", "analyzer", "show what was recorded in a browser", .run = view_main},
	{"html", NULL, "write a page with what was recorded, a file that needs nothing else",
	 .run = html_main},
	{"diff", NULL, "print what differs between two experiments", .run = diff_main},
	{"src", "er_src", "print source and instructions of a program, without a recording",
	 .run = src_main},
	{"ls", NULL, "list experiments", .run = manage_list_main},
	{"info", NULL, "say what an experiment is", .run = manage_info_main},
	{"check", NULL, "check that an experiment is whole", .run = manage_check_main},
	{"index", NULL, "keep the sums of experiments, made by all ranks of an MPI job at once",
	 .run = index_main},
	{"archive", "er_archive", "keep the files that an experiment refers to",
	 .run = manage_archive_main},
	{"cp", "er_cp", "copy experiments", .run = manage_copy_main},
	{"mv", "er_mv", "move experiments", .run = manage_move_main},
	{"rm", "er_rm", "remove experiments", .run = manage_remove_main},
	{"doctor", NULL, "say what this machine and this user can record", .run = doctor_main},
	{"help", NULL, "show help, of a subcommand where one is named", .run = run_help,
	 .has_no_help = true},
	{"version", NULL, "show the version", .run = run_version, .has_no_help = true},
};

enum { SUBCOMMAND_COUNT = COUNT(subcommands) };

static const struct subcommand *find_subcommand(const char *word)
{
	for (int i = 0; i < SUBCOMMAND_COUNT; i++)
		if (!strcmp(subcommands[i].name, word))
			return &subcommands[i];
	return NULL;
}

static void put_help(FILE *file)
{
	fprintf(file, "Usage: helio SUBCOMMAND [ARGUMENT]...\n"
		      "Find out where a program's time goes.\n\n");
	for (int i = 0; i < SUBCOMMAND_COUNT; i++)
		terminal_printf(file, "  %-10s%s\n", subcommands[i].name, subcommands[i].help);
	fprintf(file, "\n"
		      "  helio collect PROGRAM [ARGUMENT]...      makes test.1.er\n"
		      "  helio print -functions test.1.er         prints its function list\n"
		      "  helio help SUBCOMMAND                    says more\n");
}

/* What does here what a word of other profilers' command lines does there; NULL: it is none. */
static const char *word_here(const char *word)
{
	static const struct {
		const char *theirs, *ours;
	} words[] = {
		{"record", "helio collect PROGRAM"},
		{"run", "helio collect PROGRAM"},
		{"start", "helio collect PROGRAM"},
		{"report", "helio print -report EXPERIMENT"},
		{"display", "helio print -report EXPERIMENT"},
		{"stat", "helio collect PROGRAM, then helio print -statistics EXPERIMENT"},
		{"top", "helio attach PID, then helio print -functions EXPERIMENT"},
		{"annotate", "helio print -source FUNCTION -disasm FUNCTION EXPERIMENT"},
		{"script", "helio print -printmode json -calltree EXPERIMENT"},
		{"flamegraph", "helio print -flamegraph FILE EXPERIMENT"},
		{"list", "helio collect -h"},
		{"trace", "helio collect -i on PROGRAM, then helio print -ioactivity EXPERIMENT"},
		{"lock", "helio collect -s on PROGRAM, then helio print -locks EXPERIMENT"},
		{"mem", "helio collect -H on PROGRAM, then helio print -leaks EXPERIMENT"},
		{"stop", "helio ctl"},
		{"kill", "helio ctl"},
		{"test", "helio doctor"},
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcmp(word, words[i].theirs))
			return words[i].ours;
	return NULL;
}

static int unknown(const char *word)
{
	const char *names[SUBCOMMAND_COUNT], *here = word_here(word);

	for (int i = 0; i < SUBCOMMAND_COUNT; i++)
		names[i] = subcommands[i].name;
	const char *closest = suggest_closest(word, names, SUBCOMMAND_COUNT);

	terminal_printf(stderr, "helio: there is no subcommand `%s'", word);
	if (here)
		terminal_printf(stderr, "; what does that here is: %s", here);
	else if (closest)
		terminal_printf(stderr, "; did you mean `%s'?", closest);
	fprintf(stderr, "\nTry `helio help'.\n");
	return EXIT_USAGE;
}

static int run_version(int argc, char **argv)
{
	printf("heliometer %s\n", HELIO_VERSION);
	return 0;
}

static int run_help(int argc, char **argv)
{
	if (argc < 2) {
		put_help(stdout);
		return 0;
	}
	const struct subcommand *subcommand = find_subcommand(argv[1]);

	if (!subcommand)
		return unknown(argv[1]);
	if (subcommand->has_no_help) {
		put_help(stdout);
		return 0;
	}
	char option[] = "--help";
	char *arguments[] = {argv[1], option, NULL};

	return subcommand->run(2, arguments);
}

/* Of helio itself: all others follow the subcommand, which help may, too. */
static int run_option(int argc, char **argv)
{
	static const struct option_table tables[] = {OPTION_COMMON};
	static const struct option_syntax syntax = {
		.tables = tables, .count = COUNT(tables), .whole_words = true};
	const struct option *option = option_find(&syntax, argv[1]);
	const char *near = option_guess(&syntax, argv[1]);

	if (option)
		return option->take == option_ask_help ? run_help(argc - 1, argv + 1)
						       : run_version(1, argv);
	terminal_printf(stderr, "helio: unrecognized argument '%s'", argv[1]);
	if (near)
		terminal_printf(stderr, ": did you mean --%s?", near);
	fprintf(stderr, "%sTry `helio help'.\n", near ? "\n" : ": options follow the subcommand\n");
	return EXIT_USAGE;
}

/* A full stdout must not pass for success, nor what was read of a shrinking file for all. */
static int finish(int status)
{
	if ((fflush(stdout) || ferror(stdout)) && !status) {
		perror("helio: standard output");
		return 1;
	}
	if (file_map_was_cut())
		fputs("helio: a file was cut off while it was read: some results may be missing or "
		      "wrong; run the command again\n",
		      stderr);
	return status;
}

static int run(int argc, char **argv)
{
	terminal_init();
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc ? argv[0] : "helio";

	for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
		const struct subcommand *old = &subcommands[i];

		if (old->old_name && !strcmp(name, old->old_name))
			return finish((old->run_old ? old->run_old : old->run)(argc, argv));
	}
	if (argc < 2)
		return finish(run_help(1, argv));
	if (argv[1][0] == '-')
		return finish(run_option(argc, argv));
	const struct subcommand *subcommand = find_subcommand(argv[1]);

	return finish(subcommand ? subcommand->run(argc - 1, argv + 1) : unknown(argv[1]));
}

/* What the tools need of a stack may be more than the limit that is meant for the program. */
static struct {
	ucontext_t before, inside;
	int argc, status;
	char **argv;
} call;

static void run_inside(void)
{
	call.status = run(call.argc, call.argv);
}

int main(int argc, char **argv)
{
	enum { ENOUGH = 1 << 20, ROOM = 8 << 20 };
	struct rlimit limit;
	void *stack;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= ENOUGH)
		return run(argc, argv);
	stack = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || getcontext(&call.inside))
		return run(argc, argv);
	call.argc = argc;
	call.argv = argv;
	call.inside.uc_stack = (stack_t){.ss_sp = stack, .ss_size = ROOM};
	call.inside.uc_link = &call.before;
	makecontext(&call.inside, run_inside, 0);
	swapcontext(&call.before, &call.inside);
	return call.status;
}
