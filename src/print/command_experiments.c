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

/* Metrics and their order in the words of the new session; none where it does not know them. */
static bool carry_list(struct print *print, const struct session *to, struct metric_list *metrics,
		       struct metric_choice *sort)
{
	char *text = metric_list_text(metrics);
	char *sort_text = sort->metric ? metric_choice_text(sort) : NULL;
	struct metric_list fresh = {0};
	struct metric_choice choice = {0};
	struct diag_list diags = {0};
	bool reverse, known;

	known = (!metrics->count || !metric_list_parse(to, text, &fresh, &diags)) &&
		(!sort_text || !metric_sort_parse(to, sort_text, &choice, &reverse, &diags));
	if (!known) {
		say_warning(print, "The metrics are the usual ones again: %s", diags.items[0].text);
		vec_fini(&fresh);
		choice.metric = NULL;
	}
	vec_fini(metrics);
	*metrics = fresh;
	*sort = choice;
	diag_fini(&diags);
	free(sort_text);
	free(text);
	return known;
}

static void carry_metrics(struct print *print, const struct session *to)
{
	struct query *query = &print->query, fresh;

	if (!carry_list(print, to, &query->metrics, &query->sort)) {
		query_init(&fresh, to);
		query->metrics = fresh.metrics;
		query->sort = fresh.sort;
	}
	carry_list(print, to, &print->index_metrics, &print->index_sort);
}

static void carry_objects(const struct session *from, struct session *to, struct diag_list *diags)
{
	struct index_info info;

	for (int family = 0; family < INDEX_FAMILIES; family++)
		for (size_t i = 0; index_at(from, family, i, &info); i++)
			if (info.by_model)
				index_define_for_model(to, info.name, info.expression, diags);
			else if (!info.predefined)
				index_define(to, family, info.name, info.expression, info.title,
					     diags);
}

static void carry_filters(struct print *print, const struct session *from, struct session *to)
{
	struct diag_list diags = {0};

	if (session_filter_text(from))
		session_filter(to, session_filter_text(from), &diags);
	for (int i = 0; i < SELECTIONS; i++)
		if (strcmp(session_selected(from, (enum selection)i), "all") != 0)
			session_select(to, (enum selection)i,
				       session_selected(from, (enum selection)i), &diags);
	carry_objects(from, to, &diags);
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
