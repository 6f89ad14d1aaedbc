/* SPDX-License-Identifier: Apache-2.0 */
/* How a word becomes a command, and what is checked before it runs. */
#include "print/commands/command.h"

#include "analysis/session/session.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "print/commands/command_inlines.h"
#include "print/progress.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum fit { FIT_NONE, FIT_PREFIX, FIT_EXACT };

static enum fit name_fits(const char *name, size_t name_length, const char *word, size_t length)
{
	if (length > name_length || strncasecmp(name, word, length) != 0)
		return FIT_NONE;
	return length == name_length ? FIT_EXACT : FIT_PREFIX;
}

static enum fit command_fits(const struct command *command, const char *word)
{
	size_t length = strlen(word);
	enum fit best = name_fits(command->name, strlen(command->name), word, length);

	for (const char *alias = command->aliases; alias && *alias;) {
		size_t alias_length = strcspn(alias, " ");
		enum fit fit = name_fits(alias, alias_length, word, length);

		best = fit > best ? fit : best;
		alias += alias_length + strspn(alias + alias_length, " ");
	}
	return best;
}

static void suggest(const char *word, const char *shown, struct diag_list *diags)
{
	VEC(const char *) names = {0};
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++)
		if (command->run)
			*vec_push(&names) = command->name;
	const char *closest = suggest_closest(word, names.items, names.count);

	vec_fini(&names);

	if (closest)
		diag_add(diags, DIAG_ERROR, "Invalid command: %s (did you mean %s?)", shown,
			 closest);
	else
		diag_add(diags, DIAG_ERROR, "Invalid command: %s (`help` lists the commands)",
			 shown);
}

enum status command_find(const char *word, const char *shown, const struct command **out,
			 struct diag_list *diags)
{
	struct strbuf candidates = {0};
	size_t count = 0;

	const struct command *command;

	for (size_t i = 0; *word && (command = command_at(i)); i++) {
		enum fit fit = command_fits(command, word);

		if (fit == FIT_NONE)
			continue;
		*out = command;
		if (fit == FIT_EXACT) {
			strbuf_fini(&candidates);
			return STATUS_OK;
		}
		strbuf_printf(&candidates, "%s%s", count++ ? ", " : "", command->name);
	}
	if (count > 1)
		diag_add(diags, DIAG_ERROR, "Ambiguous command: %s (%s)", shown, candidates.text);
	else if (!count)
		suggest(word, shown, diags);
	strbuf_fini(&candidates);
	return count == 1 ? STATUS_OK : count ? STATUS_AMBIGUOUS : STATUS_NOTFOUND;
}

bool command_option(const struct command *command, const char *word, bool *with_value)
{
	size_t dashes = strspn(word, "-"), length = strlen(word + dashes);

	for (const char *option = command->options; dashes && option && *option;) {
		size_t name = strcspn(option, "= ");

		if (name == length && !strncasecmp(option, word + dashes, length)) {
			*with_value = option[name] == '=';
			return true;
		}
		option += strcspn(option, " ");
		option += strspn(option, " ");
	}
	return false;
}

/* Standard errors come from single events. */
static bool asks_for_errors(const struct command *command, char *const *arguments, size_t count)
{
	return command->setting == SETS_METRICS && count && strchr(arguments[0], '~');
}

/* Sums are kept of user mode alone. */
static bool asks_for_mode(const struct command *command, char *const *arguments, size_t count)
{
	return !strcmp(command->name, "viewmode") && count && strcasecmp(arguments[0], "user") != 0;
}

enum command_need command_needs(const struct command *command, char *const *arguments, size_t count)
{
	if (!(command->sums_only || command->code_only) ||
	    asks_for_errors(command, arguments, count) || asks_for_mode(command, arguments, count))
		return NEED_ALL;
	return command->code_only ? NEED_CODE : NEED_SUMS;
}

/* Settings print nothing, and what runs other commands leaves it to them. */
static bool is_answered(const struct command *command)
{
	return command->group != GROUP_OUTPUT && !command->writes_itself;
}

static bool run(struct print *print, const struct command *command, char **arguments, size_t count)
{
	if (print->session && !command->no_session && !command_show_inlines(print, command))
		return false;
	if (!is_answered(command))
		return command->run(print, arguments, count);
	present_begin(&print->presenter);
	bool ok = command->run(print, arguments, count);

	present_end(&print->presenter, print->session);
	return ok;
}

bool command_run(struct print *print, const struct command *command, char **arguments, size_t count)
{
	if (!command_check_data(print, command))
		return false;
	if (!print->session && !command->no_session)
		return say_error(print, "%s: no experiment is open", command->name);
	if (count < command->min_arguments)
		return say_error(print, "%s needs an argument: %s %s", command->name, command->name,
				 command->arguments);
	if (count > command->max_arguments) {
		say_warning(print, "extra arguments to the %s command are ignored", command->name);
		count = command->max_arguments;
	}
	progress_begin(print);
	bool ok = run(print, command, arguments, count);

	if (progress_end(print))
		return ok;
	return say_error(print, "%s: interrupted", command->name);
}

bool command_select_processes(struct print *print, char **arguments, size_t count, size_t *first,
			      size_t *end)
{
	size_t total = session_process_count(print->session);
	char *rest;

	*first = 0;
	*end = total;
	if (!count || !strcasecmp(arguments[0], "all"))
		return true;
	unsigned long id = strtoul(arguments[0], &rest, 10);

	if (*rest || id < 1 || id > total)
		return say_error(print,
				 "No experiment has the id %s: ids go from 1 to %zu, see "
				 "experiment_list",
				 arguments[0], total);
	*first = id - 1;
	*end = id;
	return true;
}
