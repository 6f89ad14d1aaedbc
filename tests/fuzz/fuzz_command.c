/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as lines of a script or an .er.rc: split into words, the first looked up
 * as a command, and completed at every place.  Nothing is run.
 */
#include "print/command.h"
#include "print/script.h"

#include "base/memory.h"

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

static void take_line(const char *line)
{
	struct words words = {0};

	if (words_split(line, &words) == STATUS_OK) {
		if (words.count > SCRIPT_WORDS)
			abort();
		look_up(&words);
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
