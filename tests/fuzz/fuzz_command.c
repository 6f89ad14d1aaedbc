/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as lines of a script or an .er.rc: split into words, the first looked up
 * as a command, the others read as metrics, and completed at every place.  Nothing
 * is run.
 */
#include "analysis/session/session_state.h"
#include "print/commands/command.h"
#include "print/script.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct words *words)
{
	const struct command *command = NULL;
	struct diag_list diags = {0};

	if (!words->count)
		return;
	/* Who is not found or not unique says so. */
	if (command_find(words->items[0], words->items[0], &command, &diags) != STATUS_OK) {
		if (!diags.count)
			abort();
	} else if (!command) {
		abort();
	}
	diag_fini(&diags);
}

/* What is understood means the same when it is read again as it is shown. */
static void read_metrics(const char *word)
{
	const struct session session = {.has_clock_data = true};
	struct metric_list list = {0};
	struct metric_choice choice;
	struct diag_list diags = {0};
	bool reverse;

	if (metric_list_parse(&session, NULL, word, &list, &diags) == STATUS_OK) {
		char *shown = metric_list_text(&list), *again;

		if (metric_list_parse(&session, NULL, shown, &list, &diags) != STATUS_OK)
			abort();
		again = metric_list_text(&list);
		if (strcmp(shown, again))
			abort();
		free(shown);
		free(again);
	} else if (!diags.count) {
		abort();
	}
	if (metric_sort_parse(&session, word, &choice, &reverse, &diags) == STATUS_OK)
		free(metric_choice_title(&choice));
	vec_fini(&list);
	diag_fini(&diags);
}

static void take_line(const char *line)
{
	struct words words = {0};

	if (words_split(line, &words) == STATUS_OK) {
		if (words.count > SCRIPT_WORDS)
			abort();
		look_up(&words);
		for (size_t i = 1; i < words.count; i++)
			read_metrics(words.items[i]);
	}
	words_fini(&words);
	for (size_t cursor = 0; cursor <= strlen(line); cursor++)
		if (complete_word_start(line, cursor) > cursor)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	char *rest = text;

	for (char *line; (line = strsep(&rest, "\n"));)
		take_line(line);
	free(text);
	return 0;
}
