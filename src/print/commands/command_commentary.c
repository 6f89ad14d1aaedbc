/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scc, dcc and cc: a list of classes of compilers' remarks, joined by colons,
 * each a word or a unique beginning of one; other words of the list say how code is listed.
 * The first class of a list replaces those that were shown, the next ones are added.
 */
#include "base/array.h"
#include "base/memory.h"
#include "object/lines/remarks.h"
#include "print/commands/command.h"
#include "print/commands/command_source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FOR_SOURCE = 1, FOR_CODE = 2 };

enum flag { FLAG_NONE, FLAG_HEX, FLAG_SOURCE, FLAG_METRICS, FLAG_INTEL, FLAG_NOTHING };

static const struct word {
	const char *text;
	unsigned classes;
	enum flag flag; /* of the disassembly */
	bool value;
} words[] = {
	{.text = "basic", .classes = REMARK_BASIC},
	{.text = "version", .classes = REMARK_VERSION},
	{.text = "warn", .classes = REMARK_WARNING},
	{.text = "parallel", .classes = REMARK_PARALLEL},
	{.text = "query", .classes = REMARK_QUERY},
	{.text = "loop", .classes = REMARK_LOOP},
	{.text = "pipe", .classes = REMARK_PIPE},
	{.text = "inline", .classes = REMARK_INLINE},
	{.text = "memops", .classes = REMARK_MEMORY},
	{.text = "fe", .classes = REMARK_FRONT_END},
	{.text = "codegen", .classes = REMARK_CODE},
	{.text = "cg", .classes = REMARK_CODE},
	{.text = "cf", .classes = REMARK_VERSION},
	{.text = "all", .classes = REMARK_ALL},
	{.text = "none", .flag = FLAG_NOTHING},
	{.text = "hex", .flag = FLAG_HEX, .value = true},
	{.text = "nohex", .flag = FLAG_HEX},
	{.text = "src", .flag = FLAG_SOURCE, .value = true},
	{.text = "nosrc", .flag = FLAG_SOURCE},
	{.text = "asrc", .flag = FLAG_METRICS, .value = true},
	{.text = "intel", .flag = FLAG_INTEL, .value = true},
	{.text = "att", .flag = FLAG_INTEL},
};

/* NULL after say_error(). */
static const struct word *find_word(struct print *print, const char *command, const char *text)
{
	const struct word *found = NULL;
	size_t length = strlen(text);

	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strcasecmp(words[i].text, text))
			return &words[i];
		if (strncasecmp(words[i].text, text, length) != 0)
			continue;
		if (found) {
			say_error(print, "%s: `%s' may be %s or %s", command, text, found->text,
				  words[i].text);
			return NULL;
		}
		found = &words[i];
	}
	if (!found)
		say_error(print,
			  "%s: there is no class `%s': basic, version, warn, parallel, query, "
			  "loop, pipe, inline, memops, fe, codegen, all, none",
			  command, text);
	return found;
}

struct classes {
	unsigned shown;
	bool begun; /* one was named */
};

/* src is without metrics again. */
static void set_source(struct code_settings *settings, const struct word *word)
{
	settings->no_source = !word->value;
	settings->source_metrics = word->flag == FLAG_METRICS;
}

static bool set_word(struct print *print, const char *command, char *text, unsigned what,
		     struct classes *classes)
{
	static const char threshold[] = "threshold=";
	struct code_settings *settings = &print->code;

	if (!strncasecmp(text, threshold, strlen(threshold))) {
		char *value = text + strlen(threshold);

		return (!(what & FOR_SOURCE) || command_sthresh(print, &value, 1)) &&
		       (!(what & FOR_CODE) || command_dthresh(print, &value, 1));
	}
	const struct word *word = find_word(print, command, text);

	if (!word)
		return false;
	if (word->flag == FLAG_HEX)
		settings->hex = word->value;
	else if (word->flag == FLAG_INTEL)
		settings->intel = word->value;
	else if (word->flag == FLAG_SOURCE || word->flag == FLAG_METRICS)
		set_source(settings, word);
	else
		classes->shown = (classes->begun ? classes->shown : 0) | word->classes;
	classes->begun |= word->classes || word->flag == FLAG_NOTHING;
	return true;
}

static bool set_classes(struct print *print, const char *command, const char *list, unsigned what)
{
	struct code_settings *settings = &print->code;
	struct classes classes = {0};
	char *copy = xstrdup(list), *rest = copy, *text;
	bool ok = true;

	while (ok && (text = strsep(&rest, ":")))
		ok = set_word(print, command, text, what, &classes);
	free(copy);
	if (ok && classes.begun && what & FOR_SOURCE)
		settings->source_remarks = classes.shown;
	if (ok && classes.begun && what & FOR_CODE)
		settings->code_remarks = classes.shown;
	return ok;
}

bool command_scc(struct print *print, char **arguments, size_t count)
{
	return set_classes(print, "scc", arguments[0], FOR_SOURCE);
}

bool command_dcc(struct print *print, char **arguments, size_t count)
{
	return set_classes(print, "dcc", arguments[0], FOR_CODE);
}

bool command_cc(struct print *print, char **arguments, size_t count)
{
	return set_classes(print, "cc", arguments[0], FOR_SOURCE | FOR_CODE);
}

const struct command command_rows_commentary[] = {
	{.name = "scc",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "CLASS[:CLASS...]",
	 .help = "which remarks of compilers source shows: loop, inline, ...; all, none",
	 .run = command_scc,
	 .sums_only = true,
	 .no_session = true},
	{.name = "dcc",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "CLASS[:CLASS...]",
	 .help = "the same for disasm; also hex, src, intel and their opposites",
	 .run = command_dcc,
	 .sums_only = true,
	 .no_session = true},
	{.name = "cc",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_CODE,
	 .arguments = "CLASS[:CLASS...]",
	 .help = "scc and dcc at once",
	 .run = command_cc,
	 .sums_only = true,
	 .no_session = true},
	{0},
};
