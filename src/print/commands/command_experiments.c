/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments that come and go.  All that are wanted then are opened afresh, and what was
 * set before is set again, as far as the new ones know it.
 */
#include "analysis/filter/filter.h"
#include "analysis/index/index.h"
#include "analysis/session/session.h"
#include "base/memory.h"
#include "experiment/group.h"
#include "print/commands/command.h"

#include <stdlib.h>
#include <string.h>

static void carry_metrics(struct print *print, struct session *to)
{
	struct diag_list diags = {0};

	query_carry_metrics(&print->query, to, &diags);
	metric_list_carry(&print->index_metrics, &print->index_sort, to, &diags);
	say_diags(print, &diags);
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

	query_carry(&print->query, to, &diags);
	carry_objects(from, to, &diags);
	say_diags(print, &diags);
}

/* On failure the old ones stay open. */
static bool reopen(struct print *print, const struct experiment_paths *paths)
{
	struct diag_list diags = {0};
	struct session *fresh;
	bool compares = print->query.compare != COMPARE_OFF;

	if ((compares ? session_open_apart : session_open)(
		    paths->items, paths->count, &print->watch, &fresh, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_diags(print, &diags);
	if (print->session) {
		carry_metrics(print, fresh);
		carry_filters(print, print->session, fresh);
		session_free(print->session);
	} else {
		query_init(&print->query, fresh);
		print->query.default_metrics = print->default_metrics.text;
		query_set_default_metrics(&print->query, fresh);
	}
	print->session = fresh;
	print->fragment.count = 0;
	session_warn_unknown(fresh, &print->query.metrics);
	say_lasting(print, 0);
	return true;
}

/* How often an id, a path or a name means an experiment of the group, from 0. */
static size_t mentions(const struct session *session, size_t group, const char *word,
		       size_t *members)
{
	size_t found = 0;

	*members = 0;
	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);
		char *id = xasprintf("%u", process->id);

		if (process->founder == process->id && process->group == group + 1) {
			++*members;
			found += !strcmp(word, id) || !strcmp(word, process->path) ||
				 !strcmp(word, process->name);
		}
		free(id);
	}
	return found;
}

/* What is open by the names that it was opened by, but not group `without`. */
static void add_open(const struct print *print, size_t without, struct experiment_paths *paths)
{
	for (size_t i = 0; print->session && i < session_group_count(print->session); i++)
		if (i != without)
			*vec_push(paths) = xstrdup(session_group_path(print->session, i));
}

static bool open_these(struct print *print, bool keep, char **arguments, size_t count)
{
	struct experiment_paths paths = {0};
	bool opened;

	if (keep)
		add_open(print, SIZE_MAX, &paths);
	for (size_t i = 0; i < count; i++)
		*vec_push(&paths) = xstrdup(arguments[i]);
	opened = reopen(print, &paths);
	experiment_paths_fini(&paths);
	return opened;
}

static bool command_add_exp(struct print *print, char **arguments, size_t count)
{
	return open_these(print, true, arguments, count);
}

static bool command_open_exp(struct print *print, char **arguments, size_t count)
{
	return open_these(print, false, arguments, count);
}

/* The group that an argument means. False after say_error(). */
static bool find_open(struct print *print, const char *word, size_t *group)
{
	size_t groups = session_group_count(print->session), members;

	for (*group = 0; *group < groups; ++*group) {
		const char *name = session_group_name(print->session, *group);

		if (!strcmp(word, name) ||
		    !strcmp(word, session_group_path(print->session, *group)))
			return true;
		if (!mentions(print->session, *group, word, &members))
			continue;
		return members == 1 ||
		       say_error(print,
				 "%s is one of the group %s: drop_exp %s leaves all of it out",
				 word, name, name);
	}
	return say_error(print, "No experiment %s is open: see experiment_list", word);
}

static bool command_drop_exp(struct print *print, char **arguments, size_t count)
{
	struct experiment_paths paths = {0};
	size_t group;
	bool done;

	if (!find_open(print, arguments[0], &group))
		return false;
	add_open(print, group, &paths);
	done = paths.count
		       ? reopen(print, &paths)
		       : say_error(print, "%s is the only experiment that is open", arguments[0]);
	experiment_paths_fini(&paths);
	return done;
}

const struct command command_rows_experiments[] = {
	{.name = "open_exp",
	 .min_arguments = 1,
	 .max_arguments = 20,
	 .group = GROUP_LISTS,
	 .arguments = "EXPERIMENT...",
	 .help = "look at other experiments instead",
	 .run = command_open_exp,
	 .no_session = true,
	 .not_asked = true},
	{.name = "add_exp",
	 .min_arguments = 1,
	 .max_arguments = 20,
	 .group = GROUP_LISTS,
	 .arguments = "EXPERIMENT...",
	 .help = "look at other experiments too",
	 .run = command_add_exp,
	 .not_asked = true},
	{.name = "drop_exp",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_LISTS,
	 .arguments = "EXPERIMENT|ID",
	 .help = "leave an experiment out",
	 .run = command_drop_exp,
	 .not_asked = true},
	{0},
};
