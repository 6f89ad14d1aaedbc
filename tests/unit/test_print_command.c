/* SPDX-License-Identifier: Apache-2.0 */
/* How words become commands, on the command line and in scripts. */
#include "print/arguments.h"
#include "print/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>

static const char *find(const char *word)
{
	struct diag_list diags = {0};
	const struct command *command = NULL;
	enum status status = command_find(word, word, &command, &diags);

	diag_fini(&diags);
	return status == STATUS_OK	    ? command->name
	       : status == STATUS_AMBIGUOUS ? "ambiguous"
					    : "none";
}

static void words_find_commands(void **state)
{
	assert_string_equal(find("functions"), "functions");
	assert_string_equal(find("func"), "functions");
	assert_string_equal(find("FUNC"), "functions");
	assert_string_equal(find("gprof"), "callers-callees");
	assert_string_equal(find("ctr"), "calltree");
	assert_string_equal(find("exp_list"), "experiment_list");
	assert_string_equal(find("exp"), "experiment_list"); /* both spellings are one command */
	assert_string_equal(find("exit"), "quit");
	/* A whole word wins over longer ones. */
	assert_string_equal(find("objects"), "objects");
	assert_string_equal(find("heap"), "heap");
	assert_string_equal(find("f"), "ambiguous");
	assert_string_equal(find("metric"), "ambiguous");
	assert_string_equal(find("functionsx"), "none");
	assert_string_equal(find(""), "none");
}

static void assert_reaches(const char *word, const struct command *command)
{
	struct diag_list diags = {0};
	const struct command *found = NULL;

	if (!*word || strpbrk(word, " \t,;=\"'"))
		fail_msg("the name `%s' is not one word", word);
	if (command_find(word, word, &found, &diags) != STATUS_OK || found != command)
		fail_msg("`%s' does not lead to the command %s", word, command->name);
	diag_fini(&diags);
}

/* A name that became a sentence would still be found by its beginning. */
static void names_are_words_that_lead_there(void **state)
{
	const struct command *command;
	size_t count = 0;

	for (; (command = command_at(count)); count++) {
		char aliases[256], *rest = aliases;

		assert_reaches(command->name, command);
		assert_true(!command->run || (command->help && *command->help));
		snprintf(aliases, sizeof(aliases), "%s", command->aliases ? command->aliases : "");
		for (char *alias; (alias = strtok_r(rest, " ", &rest));)
			assert_reaches(alias, command);
		assert_true(command->max_arguments >= command->min_arguments);
		/* What must be given is in its help. */
		assert_true(!command->min_arguments || command->arguments);
		assert_true(!command->arguments || command->max_arguments || command->options);
	}
	assert_true(count > 90);
}

static void messages(void **state)
{
	struct diag_list diags = {0};
	const struct command *command;

	command_find("functoins", "-functoins", &command, &diags);
	command_find("fs", "-fs", &command, &diags);
	assert_int_equal(diags.count, 2);
	assert_string_equal(diags.items[0].text,
			    "Invalid command: -functoins (did you mean functions?)");
	assert_string_equal(diags.items[1].text, "Ambiguous command: -fs (fsummary, fsingle)");
	diag_fini(&diags);
}

static const char *const issue_commands[] = {
	"functions", "fsummary", "fsingle",	"callers-callees", "csingle",	  "calltree",
	"metrics",   "sort",	 "metric_list", "limit",	   "name",	  "header",
	"objects",   "overview", "statistics",	"experiment_list", "thread_list", "printmode",
	"outfile",   "version",	 "help",
};

static void promised_commands_run(void **state)
{
	for (size_t i = 0; i < sizeof(issue_commands) / sizeof(*issue_commands); i++) {
		struct diag_list diags = {0};
		const struct command *command = NULL;

		assert_int_equal(command_find(issue_commands[i], "", &command, &diags), STATUS_OK);
		assert_non_null(command->run);
		assert_true(*command->help);
		diag_fini(&diags);
	}
}

static void split(const char *line, size_t count, const char *const *expected)
{
	struct words words;

	assert_int_equal(words_split(line, &words), STATUS_OK);
	assert_int_equal(words.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(words.items[i], expected[i]);
	words_fini(&words);
}

static void lines_are_split(void **state)
{
	struct words words;

	split("", 0, NULL);
	split(" \t\r\n", 0, NULL);
	split("functions\n", 1, (const char *[]){"functions"});
	split(" fsingle \"f(int, char)\" 2", 3, (const char *[]){"fsingle", "f(int, char)", "2"});
	split("a 'b \"c\"' \"d\\\"e\"", 3, (const char *[]){"a", "b \"c\"", "d\"e"});
	split("x \"\"", 2, (const char *[]){"x", ""});
	split("a\"b c\"d", 1, (const char *[]){"ab cd"});
	assert_int_equal(words_split("fsingle \"f", &words), STATUS_INVALID);
	words_fini(&words);
	assert_int_equal(
		words_split("c 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", &words),
		STATUS_OK);
	assert_int_equal(words.count, 21);
	assert_true(words.cut);
	words_fini(&words);
}

/* "command:arguments command:arguments | experiments", or "error" */
static void parsed(const char *expected, int argc, char **argv)
{
	struct arguments arguments;
	struct diag_list diags = {0};
	char text[512] = "";
	size_t used = 0;

	if (arguments_parse(argc, argv, NULL, &arguments, &diags) != STATUS_OK) {
		assert_true(diags.count > 0);
		snprintf(text, sizeof(text), "error");
	} else {
		for (size_t i = 0; i < arguments.plan.count; i++) {
			const struct planned *planned = &arguments.plan.items[i];

			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
						 planned->command ? planned->command->name : "-");
			for (size_t k = 0; k < planned->count; k++)
				used += (size_t)snprintf(text + used, sizeof(text) - used, ":%s",
							 planned->arguments[k]);
			used += (size_t)snprintf(text + used, sizeof(text) - used, " ");
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, "|");
		for (size_t i = 0; i < arguments.experiments.count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %s",
						 arguments.experiments.items[i]);
	}
	assert_string_equal(text, expected);
	arguments_fini(&arguments);
	diag_fini(&diags);
}

#define PARSED(expected, ...)                                                                      \
	parsed(expected, (int)(sizeof((char *[]){"print", __VA_ARGS__}) / sizeof(char *)),         \
	       (char *[]){"print", __VA_ARGS__, NULL})

static void lines_of_commands(void **state)
{
	PARSED("functions calltree | a.er", "-functions", "-calltree", "a.er");
	PARSED("functions | a.er b.er", "a.er", "--functions", "b.er");
	PARSED("limit:10 functions | a.er", "-limit", "10", "-func", "a.er");
	PARSED("fsingle:main | a.er", "-fsingle", "main", "a.er");
	PARSED("fsingle:main:2 | a.er", "-fsingle", "main", "2", "a.er");
	PARSED("header | a.er", "-header", "a.er");
	PARSED("header:all | a.er", "-header", "all", "a.er");
	PARSED("metrics functions | a.er", "-metrics", "-functions", "a.er");
	PARSED("metrics | a.er", "-metrics", "a.er");
	PARSED("metrics:e.user:name | a.er", "-metrics", "e.user:name", "a.er");
	PARSED("sort:-e.user functions | a.er", "-sort", "-e.user", "-functions", "a.er");
	PARSED("outfile:- functions | a.er", "-outfile", "-", "-functions", "a.er");
	PARSED("printmode:, functions | a.er", "-printmode", ",", "-functions", "a.er");
	PARSED("- | a.er", "-", "a.er");
	PARSED("| -odd.er", "--", "-odd.er");
	PARSED("error", "-f", "a.er");
	PARSED("error", "-nonsense", "a.er");
	PARSED("leaks | a.er", "-leaks", "a.er");
	PARSED("error", "-fsingle", "-functions", "a.er");
	PARSED("error", "-sort");
	PARSED("error", "--color=blue", "a.er");
}

static void word_starts(void **state)
{
	assert_int_equal(complete_word_start("", 0), 0);
	assert_int_equal(complete_word_start("func", 4), 0);
	assert_int_equal(complete_word_start("fsingle ma", 10), 8);
	assert_int_equal(complete_word_start("fsingle \"f(int, c", 17), 8);
}

static void completion(void **state)
{
	struct print print = {.program = "helio print"};
	struct completions completions = {0};

	complete_line(&print, "calle", 5, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "callers-callees");
	completions_fini(&completions);
	complete_line(&print, "printmode ", 10, &completions);
	assert_int_equal(completions.count, 3);
	completions_fini(&completions);
	complete_line(&print, "metrics e.user:i.totalc", 23, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "e.user:i.totalcpu");
	completions_fini(&completions);
	complete_line(&print, "calltree -depth 3 -i", 20, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "-inverted");
	completions_fini(&completions);
	complete_line(&print, "outfile /proc/self/statu", 24, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "/proc/self/status");
	completions_fini(&completions);
	complete_line(&print, "name short", 6, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "short");
	completions_fini(&completions);
	complete_line(&print, "indxobj thr", 11, &completions);
	assert_int_equal(completions.count, 1);
	completions_fini(&completions);
	complete_line(&print, "memobj memory_page_6", 20, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "Memory_page_64K");
	completions_fini(&completions);
	complete_line(&print, "filters 'TSTAMP > 1 && iov", 26, &completions);
	assert_int_equal(completions.count, 1);
	assert_string_equal(completions.items[0], "'TSTAMP > 1 && IOVFD");
	completions_fini(&completions);
	/* What is not available is not offered. */
	complete_line(&print, "rac", 3, &completions);
	assert_int_equal(completions.count, 0);
	completions_fini(&completions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_find_commands),
		cmocka_unit_test(names_are_words_that_lead_there),
		cmocka_unit_test(messages),
		cmocka_unit_test(promised_commands_run),
		cmocka_unit_test(lines_are_split),
		cmocka_unit_test(lines_of_commands),
		cmocka_unit_test(word_starts),
		cmocka_unit_test(completion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
