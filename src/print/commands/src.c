/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio src`: listings of a load object without an experiment, by the
 * commands of `helio print`, in which they have no metrics.  Options are carried out in their
 * order; the last word is the object.
 */
#include "analysis/session/session.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_usage(FILE *file, const char *program)
{
	terminal_printf(
		file,
		"Usage: %s [OPTION]... OBJECT\n"
		"Print source and instructions of a program, library or object file.\n"
		"\n"
		"  -func               the functions, with address and size\n"
		"  -source ITEM [TAG]  the source of a function, a file, or FUNCTION'FILE' (also "
		"-src)\n"
		"  -disasm ITEM [TAG]  the instructions (also -dis)\n"
		"                      TAG picks one of several, -1 means all of them; ITEM all: "
		"everything\n"
		"  -scc -dcc -cc LIST  what remarks of the compiler are shown, and how: see "
		"helio-print(1)\n"
		"  -outfile FILE       print to a file from here on; - for standard output\n"
		"  -h, --help          this help\n"
		"  -V, --version       the version\n"
		"\n"
		"Without options: -source all -1.\n",
		program);
}

static int compare_names(const void *a, const void *b)
{
	const struct function_match *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

static bool print_functions(struct print *print, char **arguments, size_t count)
{
	struct function_match *functions;
	size_t found = session_functions(print->session, &functions);
	FILE *file = print->output.file;

	if (found)
		qsort(functions, found, sizeof(*functions), compare_names);
	terminal_printf(file, "Functions sorted in lexicographic order\n\n");
	for (size_t i = 0; i < found; i++) {
		if (!i)
			terminal_printf(file, "Load Object: %s\n\n%-18s  %8s  Name\n",
					functions[i].object, "Address", "Size");
		terminal_printf(file, "0x%016" PRIx64 "  %8" PRIu64 "  %s\n", functions[i].address,
				functions[i].size, functions[i].name);
	}
	fputc('\n', file);
	free(functions);
	return true;
}

typedef bool print_code(struct print *print, const struct function_match *what);

/* Of one item, or of everything, whatever of it can be shown. */
static bool print_each(struct print *print, const char *item, print_code *show)
{
	bool all = !strcmp(item, "all"), shown = false;
	struct function_match *found;
	size_t count = !all ? view_find_code(print->session, &print->query, item, &found)
		       : show == code_print_source ? session_files(print->session, &found)
						   : session_functions(print->session, &found);

	for (size_t i = 0; i < count; i++)
		shown |= show(print, &found[i]);
	free(found);
	if (!count && all)
		return say_error(print, "No source lines are known: compile with -g");
	return shown ||
	       say_error(print,
			 count ? "Nothing of `%s' can be shown" : "Nothing has the name `%s'",
			 item);
}

static bool print_item(struct print *print, char **arguments, size_t count, const char *command,
		       print_code *show)
{
	struct function_match what;

	if (!strcmp(arguments[0], "all") || (count > 1 && !strcmp(arguments[1], "-1")))
		return print_each(print, arguments[0], show);
	return command_choose_code(print, command, arguments, count, &what) && show(print, &what);
}

static bool print_source(struct print *print, char **arguments, size_t count)
{
	return print_item(print, arguments, count, "source", code_print_source);
}

static bool print_disasm(struct print *print, char **arguments, size_t count)
{
	return print_item(print, arguments, count, "disasm", code_print_disasm);
}

static const struct option {
	const char *name;
	unsigned arguments; /* at least */
	bool with_tag;
	bool (*run)(struct print *print, char **arguments, size_t count);
} options[] = {
	{"func", 0, false, print_functions},	{"source", 1, true, print_source},
	{"src", 1, true, print_source},		{"disasm", 1, true, print_disasm},
	{"dis", 1, true, print_disasm},		{"scc", 1, false, command_scc},
	{"dcc", 1, false, command_dcc},		{"cc", 1, false, command_cc},
	{"outfile", 1, false, command_outfile},
};

static const struct option *find_option(const char *word)
{
	const char *name = word + strspn(word, "-");

	for (size_t i = 0; name != word && i < COUNT(options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

static bool is_tag(const char *word)
{
	const char *digits = word + (*word == '-');

	return *digits && !digits[strspn(digits, "0123456789")];
}

/* How many words an option takes; SIZE_MAX: one is missing. */
static size_t words_of(const struct option *option, char **words, size_t left)
{
	size_t count = option->arguments;

	if (count > left)
		return SIZE_MAX;
	return count + (option->with_tag && count < left && is_tag(words[count]));
}

/* Carries the options out, or, without a session, only checks them. */
static bool run_options(struct print *print, char **words, size_t count)
{
	bool printed = false;

	for (size_t i = 0; i < count;) {
		const struct option *option = find_option(words[i]);
		size_t taken = option ? words_of(option, words + i + 1, count - i - 1) : 0;

		if (!option)
			return say_error(print, "unknown option `%s'", words[i]);
		if (taken == SIZE_MAX)
			return say_error(print, "%s needs an argument", words[i]);
		if (print->session)
			option->run(print, words + i + 1, taken);
		printed |= option->run == print_functions || option->with_tag;
		i += 1 + taken;
	}
	if (print->session && !printed)
		print_each(print, "all", code_print_source);
	return true;
}

static bool open_object(struct print *print, const char *path)
{
	struct diag_list diags = {0};
	struct metric_list list = {0};

	session_open_object(path, &print->session, &diags);
	if (!say_diags(print, &diags) || !print->session)
		return false;
	metric_list_parse(print->session, NULL, "name", &list, &diags);
	print->query.metrics = list;
	print->query.sort = list.items[0];
	say_lasting(print, 0);
	return true;
}

static int run(struct print *print, char **words, size_t count, const char *object)
{
	if (!run_options(print, words, count)) {
		terminal_printf(stderr, "Try `%s --help'.\n", print->program);
		return PRINT_EXIT_USAGE;
	}
	if (!open_object(print, object))
		return PRINT_EXIT_FAILED;
	size_t known = session_warnings(print->session)->count;

	run_options(print, words, count);
	/* lines are read when somebody asks for them */
	symbols_report(print->session);
	say_lasting(print, known);
	if (!output_fini(&print->output))
		say_error(print, "Cannot write the output: %s", strerror(errno));
	query_fini(&print->query);
	session_free(print->session);
	return print->failed ? PRINT_EXIT_FAILED : PRINT_EXIT_OK;
}

int src_main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	struct print print;
	const char *last = argc > 1 ? argv[argc - 1] : "";
	int status = PRINT_EXIT_USAGE;

	print_init(&print,
		   argc && !strcmp(slash ? slash + 1 : argv[0], "er_src") ? "er_src" : "helio src");
	code_settings_init(&print.code);
	if (!strcmp(last, "--help") || !strcmp(last, "-h")) {
		put_usage(stdout, print.program);
		status = PRINT_EXIT_OK;
	} else if (!strcmp(last, "--version") || !strcmp(last, "-V")) {
		status = command_version(&print, NULL, 0) ? PRINT_EXIT_OK : PRINT_EXIT_FAILED;
	} else if (!*last || *last == '-') {
		say_error(&print, "the last word must be a program, library or object file");
		terminal_printf(stderr, "Try `%s --help'.\n", print.program);
	} else {
		status = run(&print, argv + 1, (size_t)argc - 2, last);
	}
	code_settings_fini(&print.code);
	diag_fini(&print.warnings);
	return status;
}
