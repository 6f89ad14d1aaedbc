/* SPDX-License-Identifier: Apache-2.0 */
/* What start-up files set: the default metrics and order, and which descendants are looked at. */
#include "analysis/filter/filter.h"
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

bool command_dmetrics(struct print *print, char **arguments, size_t count)
{
	if (!only_at_start(print, "dmetrics"))
		return false;
	add_default(print, &print->default_metrics, arguments[0]);
	return true;
}

bool command_dsort(struct print *print, char **arguments, size_t count)
{
	if (!only_at_start(print, "dsort"))
		return false;
	add_default(print, &print->default_sort, arguments[0]);
	return true;
}

/* Views of the web analyzer, and warnings that are never given here. */
bool command_other_default(struct print *print, char **arguments, size_t count)
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

bool command_en_desc(struct print *print, char **arguments, size_t count)
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
