/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What TAB offers.  Function names are taken from the function list itself,
 * so that what is offered is what the commands will find.
 */
#include "analysis/filter/filter.h"
#include "analysis/index/index.h"
#include "analysis/views/view_data.h"
#include "analysis/views/view_functions.h"
#include "base/memory.h"
#include "print/commands/command.h"
#include "print/script.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t complete_word_start(const char *line, size_t cursor)
{
	size_t start = 0;
	char quote = '\0';

	for (size_t i = 0; i < cursor; i++) {
		if (quote) {
			quote = line[i] == quote ? '\0' : quote;
		} else if (line[i] == '"' || line[i] == '\'') {
			quote = line[i];
		} else if (line[i] == ' ' || line[i] == '\t') {
			start = i + 1;
		}
	}
	return start;
}

/* Names with blanks go in quotes, and match what is typed with or without one. */
static void offer(struct completions *completions, const char *word, const char *name)
{
	bool quoted = name[strcspn(name, " \t'\"")];
	size_t skip = word[0] == '"' || word[0] == '\'';

	if (strncasecmp(name, word + skip, strlen(word + skip)) != 0 || !*name)
		return;
	char *item = quoted || skip ? xasprintf("\"%s\"", name) : xstrdup(name);

	for (size_t i = 0; i < completions->count; i++) {
		if (!strcmp(completions->items[i], item)) {
			free(item);
			return;
		}
	}
	*vec_push(completions) = item;
}

static void offer_commands(struct completions *completions, const char *word)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++)
		if (command->run)
			offer(completions, word, command->name);
}

static void offer_functions(struct print *print, struct completions *completions, const char *word)
{
	struct query query = print->query;
	struct table table;

	if (!print->session)
		return;
	query.limit = 0;
	view_functions(print->session, &query, &table);
	for (size_t i = 0; i < table.row_count; i++)
		offer(completions, word, table.rows[i].name);
	table_fini(&table);
}

static void offer_data(struct print *print, struct completions *completions, const char *word)
{
	struct query query = print->query;
	struct diag_list diags = {0};
	struct table table;

	query.limit = 0;
	query.compare = COMPARE_OFF;
	if (print->session &&
	    view_data_objects(print->session, &query, &table, &diags) == STATUS_OK) {
		for (size_t i = 0; i < table.row_count; i++)
			offer(completions, word, table.rows[i].name);
		table_fini(&table);
	}
	diag_fini(&diags);
}

/* Completes the last metric of "e.user:i.tot". */
static void offer_metrics(const struct print *print, struct completions *completions,
			  const char *word)
{
	const char *colon = strrchr(word, ':');
	size_t head = colon ? (size_t)(colon - word) + 1 : 0;
	const char *name = word + head + strcspn(word + head, ".%+!");
	const struct metric *metric;

	if (*name)
		name += strspn(name, ".%+!");
	else
		name = word + head;
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		char *text = xasprintf("%.*s%s", (int)(name - word), word, metric->command);

		offer(completions, word, text);
		free(text);
	}
}

/* Completes the last name of "'TSTAMP > 1 && THR", in whose quotes the rest may follow. */
static void offer_properties(struct completions *completions, const char *word)
{
	struct filter_property_info info;
	size_t head = strlen(word);

	while (head && (isalnum((unsigned char)word[head - 1]) || word[head - 1] == '_'))
		head--;
	for (size_t i = 0; word[head] && filter_property_at(i, &info); i++)
		if (!strncasecmp(word + head, info.name, strlen(word + head)))
			*vec_push(completions) = xasprintf("%.*s%s", (int)head, word, info.name);
}

static void offer_index_objects(const struct print *print, struct completions *completions,
				enum index_family family, const char *word)
{
	struct index_info info;

	for (size_t i = 0; index_at(print->session, family, i, &info); i++)
		offer(completions, word, info.name);
}

static void offer_files(struct completions *completions, const char *word)
{
	const char *slash = strrchr(word, '/');
	size_t head = slash ? (size_t)(slash - word) + 1 : 0;
	char *place = head ? xstrndup(word, head) : xstrdup(".");
	DIR *directory = opendir(place);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path = xasprintf("%.*s%s%s", (int)head, word, entry->d_name,
				       entry->d_type == DT_DIR ? "/" : "");

		if (entry->d_name[0] != '.' || word[head] == '.')
			offer(completions, word, path);
		free(path);
	}
	if (directory)
		closedir(directory);
	free(place);
}

static void offer_options(const struct command *command, struct completions *completions,
			  const char *word)
{
	for (const char *option = command->options; option && *option;) {
		size_t length = strcspn(option, "= ");
		char *text = xasprintf("-%.*s", (int)length, option);

		offer(completions, word, text);
		free(text);
		option += strcspn(option, " ");
		option += strspn(option, " ");
	}
}

/* One word of a command's usage: "FUNCTION" stands for something, "text" for itself. */
static void offer_meaning(struct print *print, struct completions *completions, const char *word,
			  const char *meaning)
{
	if (!strcmp(meaning, "FUNCTION"))
		offer_functions(print, completions, word);
	else if (!strcmp(meaning, "DATA"))
		offer_data(print, completions, word);
	else if (!strcmp(meaning, "SPEC") || !strcmp(meaning, "METRIC"))
		offer_metrics(print, completions, word);
	else if (!strcmp(meaning, "EXPRESSION"))
		offer_properties(completions, word);
	else if (!strcmp(meaning, "COMMAND"))
		offer_commands(completions, word);
	else if (!strcmp(meaning, "FILE") || !strcmp(meaning, "EXPERIMENT") ||
		 !strcmp(meaning, "DIRECTORY"))
		offer_files(completions, word);
	else if (!meaning[strspn(meaning, "abcdefghijklmnopqrstuvwxyz")])
		offer(completions, word, meaning);
}

/* What help says of a command's arguments: "[long|short[:soname]]", "[FILE] [-depth N]". */
static void offer_arguments(struct print *print, struct completions *completions,
			    const char *command_word, const char *word)
{
	static const char between[] = "[]|. ";
	struct diag_list diags = {0};
	const struct command *command;

	if (command_find(command_word, command_word, &command, &diags) == STATUS_OK) {
		offer_options(command, completions, word);
		if (command->objects == OBJECTS_INDEX && !command->defines)
			offer_index_objects(print, completions, INDEX_OBJECTS, word);
		if (command->objects == OBJECTS_MEMORY && !command->defines)
			offer_index_objects(print, completions, MEMORY_OBJECTS, word);
		for (const char *at = command->run ? command->arguments : NULL; at && *at;) {
			at += strspn(at, between);

			size_t length = strcspn(at, between);
			char *meaning = xstrndup(at, length);

			if (length)
				offer_meaning(print, completions, word, meaning);
			free(meaning);
			at += length;
		}
	}
	diag_fini(&diags);
}

void complete_line(struct print *print, const char *line, size_t cursor,
		   struct completions *completions)
{
	size_t start = complete_word_start(line, cursor);
	size_t indent = strspn(line, " \t");
	char *word = xstrndup(line + start, cursor - start);

	if (start <= indent) {
		offer_commands(completions, word);
	} else {
		char *command = xstrndup(line + indent, strcspn(line + indent, " \t"));

		offer_arguments(print, completions, command, word);
		free(command);
	}
	free(word);
}

void completions_fini(struct completions *completions)
{
	for (size_t i = 0; i < completions->count; i++)
		free(completions->items[i]);
	vec_fini(completions);
}
