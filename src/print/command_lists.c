/* SPDX-License-Identifier: Apache-2.0 */
/* The list of experiments. */
#include "analysis/filter.h"
#include "base/terminal.h"
#include "print/command.h"
#include "print/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digits(uint64_t number)
{
	return snprintf(NULL, 0, "%" PRIu64, number);
}

static void rule(FILE *file, int width, char after)
{
	for (int i = 0; i < width; i++)
		fputc('=', file);
	fputc(after, file);
}

static json_t *json_command(const struct process_info *process)
{
	char *command = command_words(process->arguments);
	json_t *text = process->arguments ? json_text(command) : json_null();

	free(command);
	return text;
}

static void json_experiment_list(struct print *print)
{
	struct json_report report;

	json_report_begin(&report, print, "experiment_list", NULL, NULL);
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		json_report_row(
			&report,
			json_pack("{s:i, s:b, s:I, s:o, s:o, s:o, s:i, s:o, s:o}", "id",
				  (int)process->id, "selected",
				  query_process_selected(&print->query, process->id), "pid",
				  (json_int_t)process->pid, "name", json_text(process->name),
				  "path", json_text(process->path), "lineage",
				  json_text(process->lineage ? process->lineage : ""), "founder",
				  (int)process->founder, "target", json_text(process->target),
				  "command", json_command(process)));
	}
	json_report_end(&report);
}

/* Whether the commands of several processes are recorded. */
static bool knows_commands(const struct print *print)
{
	size_t known = 0;

	for (size_t i = 0; i < session_process_count(print->session); i++)
		known += session_process(print->session, i)->arguments != NULL;
	return known > 1;
}

/* The name and the beginning of the command. */
static void put_command(FILE *file, const struct process_info *process, int name_width)
{
	enum { MOST = 100 };
	char *command = command_words(process->arguments);

	terminal_printf(file, "%-*s %.*s%s\n", name_width, process->name, MOST, command,
			strlen(command) > MOST ? "..." : "");
	free(command);
}

bool command_experiment_list(struct print *print, char **arguments, size_t count)
{
	FILE *file = print->output.file;
	size_t total = session_process_count(print->session);
	int id_width = 2, pid_width = 3, name_width = (int)strlen("Experiment");

	if (print->mode == MODE_JSON) {
		json_experiment_list(print);
		return true;
	}
	for (size_t i = 0; i < total; i++) {
		const struct process_info *process = session_process(print->session, i);
		int pid = digits((uint64_t)process->pid), id = digits(process->id);
		int name = (int)strlen(process->name);

		id_width = id > id_width ? id : id_width;
		pid_width = pid > pid_width ? pid : pid_width;
		name_width = name > name_width ? name : name_width;
	}
	const bool commands = knows_commands(print);

	terminal_printf(file, "%*s Sel %*s ", id_width, "ID", pid_width, "PID");
	terminal_printf(file, commands ? "%-*s Command\n" : "%.*s\n", name_width, "Experiment");
	rule(file, id_width, ' ');
	rule(file, 3, ' ');
	rule(file, pid_width, ' ');
	rule(file, name_width, commands ? ' ' : '\n');
	if (commands)
		rule(file, (int)strlen("Command"), '\n');
	for (size_t i = 0; i < total; i++) {
		const struct process_info *process = session_process(print->session, i);

		terminal_printf(file, "%*" PRIu32 " %-3s %*" PRId64 " ", id_width, process->id,
				query_process_selected(&print->query, process->id) ? "yes" : "no",
				pid_width, process->pid);
		if (commands)
			put_command(file, process, name_width);
		else
			terminal_printf(file, "%s\n", process->name);
	}
	return true;
}
