/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments that come and go.  All that are wanted then are opened afresh, and what was
 * set before is set again, as far as the new ones know it.
 */
#include "analysis/filter.h"
#include "analysis/index.h"
#include "base/memory.h"
#include "experiment/group.h"
#include "print/command.h"

#include <stdlib.h>
#include <string.h>

/* The metrics, and what they are sorted by, in the words of the new session. */
static void carry_metrics(struct print *print, struct session *to)
{
	struct diag_list diags = {0};
	struct query *query = &print->query, fresh;
	char *metrics = metric_list_text(&query->metrics), *sort = metric_choice_text(&query->sort);

	query_init(&fresh, to);
	if (metric_list_parse(to, metrics, &fresh.metrics, &diags) != STATUS_OK ||
	    metric_sort_parse(to, sort, &fresh.sort, &fresh.sort_reverse, &diags) != STATUS_OK) {
		say_warning(print, "The metrics are the usual ones again: %s", diags.items[0].text);
		query_fini(&fresh);
		query_init(&fresh, to);
	}
	vec_fini(&query->metrics);
	query->metrics = fresh.metrics;
	query->sort = fresh.sort;
	diag_fini(&diags);
	free(metrics);
	free(sort);
}

static void carry_filters(struct print *print, const struct session *from, struct session *to)
{
	struct diag_list diags = {0};
	struct index_info info;

	if (session_filter_text(from))
		session_filter(to, session_filter_text(from), &diags);
	for (int i = 0; i < SELECTIONS; i++)
		if (strcmp(session_selected(from, (enum selection)i), "all") != 0)
			session_select(to, (enum selection)i,
				       session_selected(from, (enum selection)i), &diags);
	for (size_t i = 0; index_at(from, i, &info); i++)
		if (!info.predefined)
			index_define(to, info.name, info.expression, info.title, &diags);
	say_diags(print, &diags);
}

/* On failure the old ones stay open. */
static bool reopen(struct print *print, const struct experiment_paths *paths)
{
	struct diag_list diags = {0};
	struct session *fresh;

	if (session_open(paths->items, paths->count, &fresh, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_diags(print, &diags);
	if (print->default_metrics)
		session_set_default_metrics(fresh, print->default_metrics);
	if (print->session) {
		carry_metrics(print, fresh);
		carry_filters(print, print->session, fresh);
		session_free(print->session);
	} else {
		query_init(&print->query, fresh);
	}
	print->session = fresh;
	print->fragment.count = 0;
	for (size_t i = 0; i < session_warnings(fresh)->count; i++)
		say_warning(print, "%s", session_warnings(fresh)->items[i].text);
	return true;
}

/* The experiments that are open, but not the one of an id or name. True: there was such. */
static bool add_open(const struct print *print, const char *without, struct experiment_paths *paths)
{
	bool found = false;

	for (size_t i = 0; print->session && i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);
		char *id = xasprintf("%u", process->id);

		if (process->founder != process->id)
			;
		else if (without && (!strcmp(without, id) || !strcmp(without, process->path) ||
				     !strcmp(without, process->name)))
			found = true;
		else
			experiment_paths_add(paths, process->path);
		free(id);
	}
	return found;
}

static bool open_these(struct print *print, bool keep, char **arguments, size_t count)
{
	struct experiment_paths paths = {0};
	bool opened;

	if (keep)
		add_open(print, NULL, &paths);
	for (size_t i = 0; i < count; i++)
		experiment_paths_add(&paths, arguments[i]);
	opened = reopen(print, &paths);
	experiment_paths_fini(&paths);
	return opened;
}

bool command_add_exp(struct print *print, char **arguments, size_t count)
{
	return open_these(print, true, arguments, count);
}

bool command_open_exp(struct print *print, char **arguments, size_t count)
{
	return open_these(print, false, arguments, count);
}

bool command_drop_exp(struct print *print, char **arguments, size_t count)
{
	struct experiment_paths paths = {0};
	bool done = add_open(print, arguments[0], &paths);

	if (!done)
		say_error(print, "No experiment %s is open: see experiment_list", arguments[0]);
	else if (!paths.count)
		done = say_error(print, "%s is the only experiment that is open", arguments[0]);
	else
		done = reopen(print, &paths);
	experiment_paths_fini(&paths);
	return done;
}
