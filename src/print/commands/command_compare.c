/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments beside each other. */
#include "print/commands/command_compare.h"

#include "analysis/session/session.h"
#include "base/array.h"
#include "print/commands/command.h"

#include <string.h>
#include <strings.h>

void command_each_group(struct print *print,
			void (*put)(struct print *print, const char *name, void *data), void *data)
{
	size_t groups = session_group_count(print->session);

	if (print->query.compare == COMPARE_OFF || groups < 2) {
		put(print, NULL, data);
		return;
	}
	for (size_t i = 0; i < groups; i++) {
		print->query.group = (uint32_t)i + 1;
		put(print, session_group_name(print->session, i), data);
	}
	print->query.group = 0;
}

void command_group_heading(const struct print *print, struct result *result, const char *name)
{
	if (name && print->query.group > 1)
		result_gap(result);
	if (name)
		result_heading(result, "Experiment: %s", name);
}

static bool command_compare(struct print *print, char **arguments, size_t count)
{
	static const struct {
		const char *word;
		enum compare_mode mode;
	} modes[] = {{"off", COMPARE_OFF},     {"on", COMPARE_ON}, {"delta", COMPARE_DELTA},
		     {"ratio", COMPARE_RATIO}, {"0", COMPARE_OFF}, {"1", COMPARE_ON}};
	enum { MODES = COUNT(modes) };
	size_t i = 0;

	if (count) {
		while (i < MODES && strcasecmp(arguments[0], modes[i].word) != 0)
			i++;
		if (i == MODES)
			return say_error(print,
					 "Invalid argument to command: %s (compare takes off, on, "
					 "delta or ratio)",
					 arguments[0]);
		print->query.compare = modes[i].mode;
	}
	if (print->query.compare != COMPARE_OFF && !print->starting && print->session &&
	    session_group_count(print->session) < 2)
		say_warning(print, "one experiment is open, which is compared with nothing: name "
				   "another one, or add_exp");
	say_note(print, "Compare set to %s", modes[print->query.compare].word);
	return true;
}

const struct command command_rows_compare[] = {
	{.name = "compare",
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "[off|on|delta|ratio]",
	 .help = "a column for each experiment; or how much more, or how many times as much",
	 .run = command_compare,
	 .setting = SETS_GROUPS,
	 .no_session = true},
	{0},
};
