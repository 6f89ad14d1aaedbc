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
	argv[0] = name;
	return name;
}

int report_usage_error(const char *program, const char *message)
{
	if (message)
		terminal_printf(stderr, "%s: %s\n", program, message);
	terminal_printf(stderr, "Try `%s --help'.\n", program);
	return MANAGE_EXIT_USAGE;
}

int report_version(const char *program)
{
	terminal_printf(stdout, "%s (Heliometer) " HELIO_VERSION "\n", program);
	return MANAGE_EXIT_OK;
}

size_t report_diags(const char *program, struct diag_list *diags)
{
	static const char *const levels[] = {
		[DIAG_NOTE] = "", [DIAG_WARNING] = "Warning: ", [DIAG_ERROR] = ""};
	size_t errors = 0;

	for (size_t i = 0; i < diags->count; i++) {
		terminal_printf(stderr, "%s: %s%s\n", program, levels[diags->items[i].level],
				diags->items[i].text);
		errors += diags->items[i].level == DIAG_ERROR;
	}
	diag_fini(diags);
	return errors;
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
