/* SPDX-License-Identifier: Apache-2.0 */
/* What start-up files set: the default metrics and order, and which descendants are looked at. */
#include "print/commands/command_defaults.h"

#include "analysis/filter/filter.h"
#include "analysis/session/session.h"
#include "base/memory.h"
#include "base/pattern.h"
#include "base/strbuf.h"
#include "print/commands/command.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool only_at_start(struct print *print, const char *command)
{
	return print->starting ||
	       say_error(print, "%s sets a default: it may only stand in a start-up file, .er.rc",
			 command);
}

/* The file that is read last is the nearest: what it says comes first, in its own order. */
static void add_default(const struct print *print, struct default_text *defaults, const char *fresh)
{
	bool same = defaults->file && !strcmp(defaults->file, print->script_name);
	int first = same ? (int)defaults->nearest : 0;
	const char *rest = defaults->text ? defaults->text + first : "";
	char *whole =
		xasprintf("%.*s%s:%s", first, defaults->text ? defaults->text : "", fresh, rest);

	free(defaults->text);
	*defaults = (struct default_text){.text = whole,
					  .nearest = (size_t)first + strlen(fresh) + 1,
					  .file = print->script_name};
}

static bool command_dmetrics(struct print *print, char **arguments, size_t count)
{
	if (!only_at_start(print, "dmetrics"))
		return false;
	add_default(print, &print->default_metrics, arguments[0]);
	return true;
}

static bool command_dsort(struct print *print, char **arguments, size_t count)
{
	if (!only_at_start(print, "dsort"))
		return false;
	add_default(print, &print->default_sort, arguments[0]);
	return true;
}

/* Views of the web analyzer, and warnings that are never given here. */
static bool command_other_default(struct print *print, char **arguments, size_t count)
{
	return only_at_start(print, "this command");
}

void command_use_defaults(struct print *print)
{
	struct diag_list diags = {0};

	if (print->default_metrics.text) {
		print->query.default_metrics = print->default_metrics.text;
		query_set_default_metrics(&print->query, print->session);
	}
	if (print->default_sort.text &&
	    metric_sort_parse(print->session, print->default_sort.text, &print->query.sort,
			      &print->query.sort_reverse, &diags) == STATUS_OK)
		print->query.sort_chosen = true;
	/* a default of data that this experiment has not is no fault */
	diag_fini(&diags);
}

/* ---- en_desc ---- */

static bool is_wanted(const struct process_info *process, const regex_t *pattern)
{
	const char *names[] = {process->lineage, process->target};

	if (process->founder == process->id)
		return true;
	for (size_t i = 0; pattern && i < 2; i++) {
		regmatch_t match;

		if (names[i] && !regexec(pattern, names[i], 1, &match, 0) && !match.rm_so &&
		    !names[i][match.rm_eo])
			return true;
	}
	return false;
}

/* The founders, and those descendants that a pattern is for; NULL: none. */
static bool select_processes(struct print *print, const regex_t *pattern)
{
	struct strbuf list = {0};
	struct diag_list diags = {0};

	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		if (is_wanted(process, pattern))
			strbuf_printf(&list, "%s%u", list.length ? "," : "", process->id);
	}
	query_select(&print->query, print->session, SELECT_PROCESSES, list.text, &diags);
	strbuf_fini(&list);
	return say_diags(print, &diags);
}

static bool command_en_desc(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};
	const char *word = arguments[0];
	regex_t pattern;

	if (!strcasecmp(word, "on")) {
		query_select(&print->query, print->session, SELECT_PROCESSES, "all", &diags);
		return say_diags(print, &diags);
	}
	if (!strcasecmp(word, "off"))
		return select_processes(print, NULL);
	if (word[0] != '=' || pattern_compile(&pattern, word + 1, 0))
		return say_error(print,
				 "en_desc takes on, off, or = and a regular expression, not "
				 "`%s'",
				 word);
	bool ok = select_processes(print, &pattern);

	regfree(&pattern);
	return ok;
}

/* Something that start-up files say to the web analyzer. */
#define VIEWER_DEFAULT(name_, help_)                                                               \
	{                                                                                          \
		.name = (name_), .min_arguments = 1, .max_arguments = 20, .group = GROUP_DEFAULTS, \
		.arguments = "WORD...", .help = (help_), .run = command_other_default,             \
		.sums_only = true                                                                  \
	}

const struct command command_rows_defaults[] = {
	{.name = "en_desc",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "on|off|=REGEX",
	 .help = "count descendants or not, or those of a lineage or program",
	 .run = command_en_desc},
	{.name = "dmetrics",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_DEFAULTS,
	 .arguments = "SPEC",
	 .help = "the metrics to begin with",
	 .run = command_dmetrics,
	 .sums_only = true},
	{.name = "dsort",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_DEFAULTS,
	 .arguments = "METRIC[:METRIC...]",
	 .help = "the metric to sort by to begin with: the first that has data",
	 .run = command_dsort,
	 .sums_only = true},
	VIEWER_DEFAULT("tabs", "the views that the web analyzer begins with"),
	VIEWER_DEFAULT("rtabs", "the same for data races"),
	VIEWER_DEFAULT("tlmode", "what the timeline shows a row for"),
	VIEWER_DEFAULT("tldata", "the data in the timeline"),
	VIEWER_DEFAULT("ignore_no_xhwcprof", "taken and without effect"),
	VIEWER_DEFAULT("preload_libdirs", "taken and without effect"),
	VIEWER_DEFAULT("ignore_fs_warn", "taken and without effect"),
	{0},
};
