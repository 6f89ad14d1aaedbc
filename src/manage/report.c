/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/report.h"

#include "base/terminal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *report_program(char **argv)
{
	static char name[REPORT_TEXT_SIZE];
	const char *slash = strrchr(argv[0], '/');
	const char *base = slash ? slash + 1 : argv[0];

	snprintf(name, sizeof(name), "%s%s", strncmp(base, "er_", 3) ? "helio " : "", base);
	return name;
}

bool report_may_run(const struct option_syntax *syntax, const char *program, void *target,
		    char **argv, char ***operands, int *status)
{
	enum command_line read = command_line_read(syntax, program, target, argv + 1, operands);

	*status = read == COMMAND_LINE_WRONG ? MANAGE_EXIT_USAGE : MANAGE_EXIT_OK;
	return read == COMMAND_LINE_OK;
}

int report_usage_error(const char *program, const char *message)
{
	command_line_refuse(program, "%s", message);
	return MANAGE_EXIT_USAGE;
}

size_t report_diags(const char *program, struct diag_list *diags)
{
	return command_line_say(stderr, program, diags);
}

void report_bytes(char text[REPORT_TEXT_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB"};
	double value = (double)bytes / 1e3;
	size_t unit = 0;

	if (bytes < 1000) {
		snprintf(text, REPORT_TEXT_SIZE, "%d bytes", (int)bytes);
		return;
	}
	for (; value >= 999.95 && unit < 3; unit++)
		value /= 1e3;
	snprintf(text, REPORT_TEXT_SIZE, "%.1f %s", value, units[unit]);
}

void report_date(char text[REPORT_TEXT_SIZE], uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm broken;

	snprintf(text, REPORT_TEXT_SIZE, "-");
	if (wall_ns && localtime_r(&seconds, &broken))
		strftime(text, REPORT_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", &broken);
}

json_t *report_json_date(uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	char text[REPORT_TEXT_SIZE];
	struct tm broken;

	if (!wall_ns || !gmtime_r(&seconds, &broken))
		return json_null();
	size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &broken);

	snprintf(text + length, sizeof(text) - length, ".%03dZ", (int)(wall_ns / 1000000 % 1000));
	return json_string(text);
}

void report_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(value);
}
