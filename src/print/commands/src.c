/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio src`: listings of a load object without an experiment, by the
 * commands of `helio print`, in which they have no metrics.  Options are carried out in their
 * order; the last word is the object.
 */
#include "analysis/code/code_find.h"
#include "analysis/session/functions.h"
#include "analysis/session/session_state.h"
#include "base/array.h"
#include "base/command_line.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/commands/command_help.h"
#include "print/commands/command_settings.h"
#include "print/commands/command_source.h"
#include "print/commands/command_summary.h"
#include "print/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Those that are no commands; each stands at either end of the line. */
static const struct option_table tables[] = {OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.whole_words = true,
	.usage = "Usage: %s [OPTION]... OBJECT\n"
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
		 "\n",
	.notes = "\n"
		 "Without options: -source all -1.\n",
};

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

static const struct listing {
	const char *name;
	unsigned arguments; /* at least */
	bool with_tag;
	bool prints;
	bool (*run)(struct print *print, char **arguments, size_t count);
} listings[] = {
	{"func", 0, false, true, print_functions},     {"source", 1, true, true, print_source},
	{"src", 1, true, true, print_source},	       {"disasm", 1, true, true, print_disasm},
	{"dis", 1, true, true, print_disasm},	       {"scc", 1, false, false, command_scc},
	{"dcc", 1, false, false, command_dcc},	       {"cc", 1, false, false, command_cc},
	{"outfile", 1, false, false, command_outfile},
};

static const struct listing *find_named(const char *name)
{
	for (size_t i = 0; i < COUNT(listings); i++)
		if (!strcmp(listings[i].name, name))
			return &listings[i];
	return NULL;
}

static const struct listing *find_listing(const char *word)
{
	return *word == '-' ? find_named(word + strspn(word, "-")) : NULL;
}

static bool refuse_word(struct print *print, const char *word)
{
	const char *names[COUNT(listings)], *near, *own = option_guess(&syntax, word);

	for (size_t i = 0; i < COUNT(listings); i++)
		names[i] = listings[i].name;
	near = *word == '-'	  ? suggest_closest(word + strspn(word, "-"), names, COUNT(names))
	       : find_named(word) ? word
				  : NULL;
	if (near)
		return say_error(print, "unrecognized argument '%s': did you mean -%s?", word,
				 near);
	if (own)
		return say_error(print, "unrecognized argument '%s': did you mean --%s?", word,
				 own);
	if (*word != '-')
		return say_error(print,
				 "unrecognized argument '%s': -source %s shows the source of it, "
				 "-disasm %s its instructions",
				 word, word, word);
	return say_error(print, "unrecognized argument '%s'", word);
}

static bool is_tag(const char *word)
{
	const char *digits = word + (*word == '-');

	return *digits && !digits[strspn(digits, "0123456789")];
}

/* How many words it takes; SIZE_MAX: one is missing. */
static size_t words_of(const struct listing *listing, char **words, size_t left)
{
	size_t count = listing->arguments;

	if (count > left)
		return SIZE_MAX;
	return count + (listing->with_tag && count < left && is_tag(words[count]));
}

/* Carries the words out, or, without a session, only checks them. */
static bool run_words(struct print *print, char **words, size_t count)
{
	bool printed = false;

	for (size_t i = 0; i < count;) {
		const struct listing *listing = find_listing(words[i]);
		size_t taken = listing ? words_of(listing, words + i + 1, count - i - 1) : 0;

		if (!listing)
			return refuse_word(print, words[i]);
		if (taken == SIZE_MAX)
			return say_error(print, "%s requires an argument", words[i]);
		if (print->session)
			listing->run(print, words + i + 1, taken);
		printed |= listing->prints;
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
	if (!run_words(print, words, count)) {
		command_line_advise(print->program);
		return PRINT_EXIT_USAGE;
	}
	if (!open_object(print, object))
		return PRINT_EXIT_FAILED;
	size_t known = session_warnings(print->session)->count;

	run_words(print, words, count);
	/* lines are read when somebody asks for them */
	session_note_doubts(print->session);
	say_lasting(print, known);
	if (!output_fini(&print->output))
		say_error(print, "Cannot write the output: %s", strerror(errno));
	query_fini(&print->query);
	session_free(print->session);
	return print->failed ? PRINT_EXIT_FAILED : PRINT_EXIT_OK;
}

static enum option_asked asked_by(const char *word)
{
	const struct option *option = option_find(&syntax, word);

	return !option				 ? OPTION_ASKED_NOTHING
	       : option->take == option_ask_help ? OPTION_ASKED_HELP
						 : OPTION_ASKED_VERSION;
}

int src_main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	struct print print;
	const char *last = argc > 1 ? argv[argc - 1] : "";
	enum option_asked asked = argc > 1 ? asked_by(argv[1]) : OPTION_ASKED_NOTHING;
	int status = PRINT_EXIT_USAGE;

	print_init(&print,
		   argc && !strcmp(slash ? slash + 1 : argv[0], "er_src") ? "er_src" : "helio src");
	code_settings_init(&print.code);
	asked = asked ? asked : asked_by(last);
	if (asked == OPTION_ASKED_HELP) {
		command_line_help(&syntax, print.program);
		status = PRINT_EXIT_OK;
	} else if (asked == OPTION_ASKED_VERSION) {
		status = command_version(&print, NULL, 0) ? PRINT_EXIT_OK : PRINT_EXIT_FAILED;
	} else if (!*last || *last == '-') {
		say_error(&print, "the last word must be a program, library or object file");
		command_line_advise(print.program);
	} else {
		status = run(&print, argv + 1, (size_t)argc - 2, last);
	}
	code_settings_fini(&print.code);
	diag_fini(&print.warnings);
	return status;
}
