/* SPDX-License-Identifier: Apache-2.0 */
/* The option of synchronization tracing. */
#include "base/array.h"
#include "launch/options_private.h"

#include <stdio.h>
#include <string.h>

/* n: native code, j: Java's monitors; both of them unless one stands alone. */
static bool is_scope(const char *text)
{
	return !strcmp(text, ",n") || !strcmp(text, ",j") || !strcmp(text, ",nj") ||
	       !strcmp(text, ",jn");
}

static void add_scope(const char *scope, char param[OPTIONS_TRACE_ROOM])
{
	size_t length = strlen(param);

	if (length && strlen(scope) == 2)
		snprintf(param + length, OPTIONS_TRACE_ROOM - length, "%s", scope);
}

static bool sync_word(const char *text, size_t length, char param[OPTIONS_TRACE_ROOM])
{
	static const struct {
		const char *word, *param;
	} words[] = {{"on", "calibrate"},
		     {"calibrate", "calibrate"},
		     {"", "calibrate"},
		     {"all", "all"},
		     {"off", ""}};

	for (size_t i = 0; i < COUNT(words); i++) {
		if (strlen(words[i].word) == length && !strncmp(text, words[i].word, length)) {
			snprintf(param, OPTIONS_TRACE_ROOM, "%s", words[i].param);
			return true;
		}
	}
	return false;
}

static bool read_threshold(const char *text, const char *scope, char param[OPTIONS_TRACE_ROOM])
{
	static const struct option_unit units[] = {{"", 1e3},	{"u", 1e3}, {"us", 1e3}, {"ns", 1},
						   {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
	double ns;

	if (sync_word(text, (size_t)(scope - text), param))
		return true;
	if (!option_read_number(&text, &ns) || !option_read_unit(text, scope, units, &ns) ||
	    ns > 1e15)
		return false;
	if (ns < 1)
		snprintf(param, OPTIONS_TRACE_ROOM, "all");
	else
		snprintf(param, OPTIONS_TRACE_ROOM, "%.0f", ns);
	return true;
}

static bool read_param(const char *text, char param[OPTIONS_TRACE_ROOM])
{
	const char *scope = text + strcspn(text, ",");

	if ((*scope && !is_scope(scope)) || !read_threshold(text, scope, param))
		return false;
	add_scope(scope, param);
	return true;
}

static bool take(struct option_parser *parser, const char *argument)
{
	return read_param(argument, options_of(parser)->trace[TRACE_SYNC]) ||
	       option_refuse(parser, "Unrecognized synchronization tracing threshold", argument);
}

const struct option sync_option = {
	.letter = 's',
	.name = "sync",
	.argument = "on|all|MICROSECONDS|off",
	.flags = OPTION_ONCE | OPTION_STARTS,
	.take = take,
	.help = "synchronization tracing: every wait for a lock and the like that is longer than "
		"so many µs, than what is found at the start (on), or every call (all)",
};
