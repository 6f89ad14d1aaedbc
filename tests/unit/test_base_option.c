/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines as getopt_long reads them (what it does was looked up in its manual), and as
 * collect(1) does. */
#include "base/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>

struct wanted {
	const char *mode, *limit;
	bool quiet, force, counters;
	unsigned calls;
};

static bool take_counters(struct option_parser *parser, const char *argument)
{
	struct wanted *wanted = parser->target;

	wanted->counters = true;
	wanted->calls++;
	parser->is_done = !argument;
	return !argument || strcmp(argument, "junk") != 0 ||
	       option_refuse(parser, "No counter is called", argument);
}

static const struct option own[] = {
	{'m', "mode", "MODE", 0, option_set_text, offsetof(struct wanted, mode), "what to do"},
	{'q', "quiet", NULL, 0, option_set_flag, offsetof(struct wanted, quiet), "say nothing"},
	{'f', "force", NULL, 0, option_set_flag, offsetof(struct wanted, force),
	 "do it all the same, whatever others may say about it, of whom there are many who have an "
	 "opinion on that"},
	{0, "limit", "A-RATHER-LONG-DESCRIPTION", OPTION_ONCE, option_set_text,
	 offsetof(struct wanted, limit), "how much"},
	{'A', NULL, NULL, 0, option_set_flag, offsetof(struct wanted, force), "no name"},
	{'c', "counters", "LIST", OPTION_ALONE | OPTION_ONCE, take_counters, 0, "count"},
	{0, "most", NULL, OPTION_OWN, option_set_flag, offsetof(struct wanted, force),
	 "hidden here"},
	{0, "relative", NULL, OPTION_HIDDEN, option_set_flag, offsetof(struct wanted, force),
	 "hidden everywhere"},
};
static const struct option_table tables[] = {OPTION_TABLE(own), OPTION_COMMON};
static const struct option_syntax short_forms = {.tables = tables, .count = 2};
static const struct option_syntax whole_words = {.tables = tables,
						 .count = 2,
						 .whole_words = true,
						 .operand_ends = true,
						 .hides = OPTION_OWN};

static struct wanted wanted;
static struct option_parser parser;
static char *words[32], **operands, *said;

static enum status parse(const struct option_syntax *syntax, const char *line)
{
	static char copy[256];
	struct diag_list diags = {0};
	char *rest = strncpy(copy, line, sizeof(copy) - 1);
	size_t count = 0;

	for (char *word; (word = strsep(&rest, " ")) && *line;)
		words[count++] = word;
	words[count] = NULL;
	wanted = (struct wanted){0};
	parser = (struct option_parser){.syntax = syntax, .target = &wanted, .diags = &diags};
	operands = NULL;
	enum status status = option_parse(&parser, words, &operands);

	assert_int_equal(diags.count, status != STATUS_OK);
	free(said);
	said = strdup(diags.count ? diags.items[0].text : "");
	diag_fini(&diags);
	return status;
}

/* `left`: the operands, joined by blanks. */
static void accept(const struct option_syntax *syntax, const char *line, const char *left)
{
	struct strbuf text = {0};

	if (parse(syntax, line) != STATUS_OK)
		fail_msg("'%s' is refused: %s", line, said);
	strbuf_puts(&text, "");
	for (char **word = operands; *word; word++)
		strbuf_printf(&text, "%s%s", text.length ? " " : "", *word);
	assert_string_equal(text.text, left);
	strbuf_fini(&text);
}

static void refuse(const struct option_syntax *syntax, const char *line, const char *why)
{
	if (parse(syntax, line) != STATUS_INVALID)
		fail_msg("'%s' is accepted", line);
	assert_string_equal(said, why);
}

static void forms_of_getopt(void **state)
{
	static const char *const lines[] = {
		"-qm x",       "-qmx",	    "-q -mx", "--quiet --mode x", "--quiet --mode=x",
		"--q --mod=x", "-m y -qm x"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		accept(&short_forms, lines[i], "");
		assert_true(wanted.quiet);
		assert_string_equal(wanted.mode, "x");
	}
	accept(&short_forms, "-m -q", "");
	assert_string_equal(wanted.mode, "-q");
	assert_false(wanted.quiet);
	accept(&short_forms, "--mode=", "");
	assert_string_equal(wanted.mode, "");
	accept(&short_forms, "--relative", "");
	assert_true(wanted.force);
}

static void operands_between_options(void **state)
{
	accept(&short_forms, "", "");
	accept(&short_forms, "a -q b - c -m x d", "a b - c d");
	assert_true(wanted.quiet);
	assert_string_equal(wanted.mode, "x");
	accept(&short_forms, "a -q b -- -m x", "a b -m x");
	assert_null(wanted.mode);
	accept(&short_forms, "-q -- -f --", "-f --");
	assert_false(wanted.force);
	accept(&short_forms, "--", "");
}

static void operand_ends(void **state)
{
	accept(&whole_words, "-q prog -f -- x", "prog -f -- x");
	assert_false(wanted.force);
	assert_ptr_equal(operands, words + 1); /* the line itself stays as it is */
	assert_string_equal(words[0], "-q");
	accept(&whole_words, "-q -- -f x", "-f x");
	assert_ptr_equal(operands, words + 2);
}

static void whole_words_only(void **state)
{
	accept(&whole_words, "-q -m x --limit=3 --force", "");
	assert_string_equal(wanted.limit, "3");
	refuse(&whole_words, "-mx",
	       "unrecognized argument '-mx': an option's argument is a word of its own, '-m x'");
	refuse(&whole_words, "-qf", "unrecognized argument '-qf'");
	refuse(&whole_words, "-", "unrecognized argument '-'");
	refuse(&whole_words, "--mod x", "unrecognized argument '--mod': did you mean --mode?");
	refuse(&whole_words, "-mode x", "unrecognized argument '-mode': did you mean --mode?");
}

static void errors(void **state)
{
	refuse(&short_forms, "-x", "unrecognized argument '-x'");
	refuse(&short_forms, "-qx", "unrecognized argument '-qx': there is no option -x");
	assert_false(wanted.quiet);
	refuse(&short_forms, "-quiet", "unrecognized argument '-quiet': did you mean --quiet?");
	refuse(&short_forms, "--qiet", "unrecognized argument '--qiet': did you mean --quiet?");
	refuse(&short_forms, "--xyz=1", "unrecognized argument '--xyz=1'");
	refuse(&short_forms, "--=1", "unrecognized argument '--=1'");
	refuse(&short_forms, "--mo", "'--mo' may be --mode or --most");
	refuse(&short_forms, "-m", "-m requires an argument: MODE");
	refuse(&short_forms, "a -qm", "-m requires an argument: MODE");
	refuse(&short_forms, "--mod", "--mode requires an argument: MODE");
	refuse(&short_forms, "--qui=1", "--quiet takes no argument");
	refuse(&short_forms, "--limit 1 --limit 2", "Only one --limit argument may be used");
	refuse(&short_forms, "-c a -c b", "Only one -c argument may be used");
	refuse(&short_forms, "-c junk", "No counter is called 'junk'");
	/* What is hidden is not suggested: anywhere, or in this syntax. */
	refuse(&short_forms, "--relativ", "unrecognized argument '--relativ'");
	refuse(&short_forms, "--mots", "unrecognized argument '--mots': did you mean --most?");
	refuse(&whole_words, "--mostly", "unrecognized argument '--mostly'");
}

static void done(void **state)
{
	assert_int_equal(parse(&short_forms, "a --help --nonsense"), STATUS_OK);
	assert_int_equal(parser.asked, OPTION_ASKED_HELP);
	assert_int_equal(parse(&short_forms, "-qVx"), STATUS_INVALID);
	assert_int_equal(parse(&short_forms, "-qVh"), STATUS_OK);
	assert_int_equal(parser.asked, OPTION_ASKED_VERSION);
	assert_int_equal(parse(&whole_words, "-c"), STATUS_OK);
	assert_true(parser.is_done && wanted.counters);
	accept(&whole_words, "-c cycles x", "x");
}

static void one_word(void **state)
{
	char *line[] = {(char *)"-m", (char *)"x", (char *)"--calltree", (char *)"y", NULL};
	char **word = line;
	struct diag_list diags = {0};

	parser = (struct option_parser){.syntax = &whole_words, .target = &wanted, .diags = &diags};
	assert_int_equal(option_parse_word(&parser, &word), STATUS_OK);
	assert_ptr_equal(word, line + 1);
	assert_int_equal(option_parse_word(&parser, &word), STATUS_NOTFOUND);
	word++;
	assert_int_equal(option_parse_word(&parser, &word), STATUS_NOTFOUND);
	assert_ptr_equal(word, line + 2);
	assert_int_equal(diags.count, 0);
	assert_ptr_equal(option_find(&whole_words, "--limit=3"), &own[3]);
	assert_ptr_equal(option_find(&whole_words, "-q"), &own[1]);
	assert_null(option_find(&whole_words, "-qf"));
	assert_null(option_find(&whole_words, "q"));
	assert_null(option_find(&whole_words, "--"));
}

static void help_text(void **state)
{
	struct strbuf text = {0};

	option_help(&whole_words, "helio x", &text);
	assert_string_equal(text.text,
			    "  -m, --mode MODE             what to do\n"
			    "  -q, --quiet                 say nothing\n"
			    "  -f, --force                 do it all the same, whatever others may "
			    "say about it, of "
			    "whom there\n"
			    "                              are many who have an opinion on that\n"
			    "      --limit A-RATHER-LONG-DESCRIPTION\n"
			    "                              how much\n"
			    "  -A                          no name\n"
			    "  -c, --counters LIST         count\n"
			    "  -V, --version               show the version\n"
			    "  -h, --help                  show this text\n");
	strbuf_fini(&text);

	static const struct option few[] = {{'j', "json", NULL, 0, option_set_flag, 0, "as JSON"}};
	static const struct option_table of_few = OPTION_TABLE(few);

	option_help(&(struct option_syntax){.tables = &of_few,
					    .count = 1,
					    .usage = "Usage: %s [--json]\n       %s\n",
					    .notes = "100 %\n"},
		    "helio x", &text);
	assert_string_equal(text.text, "Usage: helio x [--json]\n       helio x\n"
				       "  -j, --json  as JSON\n100 %\n");
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_of_getopt), cmocka_unit_test(operands_between_options),
		cmocka_unit_test(operand_ends),	   cmocka_unit_test(whole_words_only),
		cmocka_unit_test(errors),	   cmocka_unit_test(done),
		cmocka_unit_test(one_word),	   cmocka_unit_test(help_text),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(said);
	return failed;
}
