/* SPDX-License-Identifier: Apache-2.0 */
/* Load objects: what there is, and how their functions are shown. */
#include "base/terminal.h"
#include "print/command.h"
#include "print/json.h"

#include <string.h>

bool command_objects(struct print *print, char **arguments, size_t count)
{
	size_t total = session_load_object_count(print->session);
	struct json_report report;

	if (print->mode == MODE_JSON)
		json_report_begin(&report, print, "objects", NULL, NULL);
	for (size_t i = 0; i < total; i++) {
		struct load_object_info info;

		session_load_object(print->session, i, &info);

		const char *provenance = session_provenance(print->session, i);
		bool is_doubtful = strcmp(provenance, "found") != 0;

		if (print->mode == MODE_JSON) {
			json_report_row(&report,
					json_pack("{s:i, s:o, s:o, s:o}", "number",
						  (int)info.number, "name", json_text(info.name),
						  "path", json_text(info.path), "provenance",
						  json_text(provenance)));
			continue;
		}
		/* Pseudo objects carry their brackets in their names. */
		bool bracketed = info.name[0] == '<';

		terminal_printf(print->output.file, " %s%s%s (%s)%s%s%s\n", bracketed ? "" : "<",
				info.name, bracketed ? "" : ">", info.path ? info.path : info.name,
				is_doubtful ? " (" : "", is_doubtful ? provenance : "",
				is_doubtful ? ")" : "");
	}
	if (print->mode == MODE_JSON)
		json_report_end(&report);
	return true;
}

static const char *const showings[] = {
	[OBJECT_SHOWN] = "show", [OBJECT_HIDDEN] = "hide", [OBJECT_ENTRY] = "api"};

bool command_object_list(struct print *print, char **arguments, size_t count)
{
	struct json_report report;

	if (print->mode == MODE_JSON)
		json_report_begin(&report, print, "object_list", NULL, NULL);
	else
		terminal_printf(print->output.file, "Sel  Load Object\n==== ===========\n");
	for (size_t i = 0; i < session_load_object_count(print->session); i++) {
		const char *showing =
			showings[query_object_showing(&print->query, (uint32_t)i + 1)];
		struct load_object_info info;

		session_load_object(print->session, i, &info);
		if (print->mode == MODE_JSON)
			json_report_row(&report,
					json_pack("{s:o, s:o, s:s}", "name", json_text(info.name),
						  "path", json_text(info.path), "shown", showing));
		else
			terminal_printf(print->output.file, "%-4s %s (%s)\n", showing, info.name,
					info.path);
	}
	if (print->mode == MODE_JSON)
		json_report_end(&report);
	return true;
}

static bool show(struct print *print, const char *list, enum object_showing showing)
{
	struct diag_list diags = {0};

	query_show_objects(&print->query, print->session, list, showing, &diags);
	return say_diags(print, &diags);
}

bool command_object_show(struct print *print, char **arguments, size_t count)
{
	return show(print, arguments[0], OBJECT_SHOWN);
}

bool command_object_hide(struct print *print, char **arguments, size_t count)
{
	return show(print, arguments[0], OBJECT_HIDDEN);
}

bool command_object_api(struct print *print, char **arguments, size_t count)
{
	return show(print, arguments[0], OBJECT_ENTRY);
}

bool command_objects_default(struct print *print, char **arguments, size_t count)
{
	return show(print, "all", OBJECT_SHOWN);
}

/* These and no others. */
bool command_object_select(struct print *print, char **arguments, size_t count)
{
	return show(print, "all", OBJECT_HIDDEN) && show(print, arguments[0], OBJECT_SHOWN);
}
