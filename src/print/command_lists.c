/* SPDX-License-Identifier: Apache-2.0 */
/* The list of experiments. */
#include "analysis/filter.h"
#include "print/command.h"
#include "print/json.h"

#include <inttypes.h>
#include <stdio.h>
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

static void json_experiment_list(struct print *print)
{
	struct json_report report;

	json_report_begin(&report, print, "experiment_list", NULL, NULL);
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		json_report_row(
			&report,
			json_pack("{s:i, s:b, s:I, s:o, s:o, s:o, s:i, s:o}", "id",
				  (int)process->id, "selected",
				  session_process_selected(print->session, process->id), "pid",
				  (json_int_t)process->pid, "name", json_text(process->name),
				  "path", json_text(process->path), "lineage",
				  json_text(process->lineage ? process->lineage : ""), "founder",
				  (int)process->founder, "target", json_text(process->target)));
	}
	json_report_end(&report);
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
	fprintf(file, "%*s Sel %*s Experiment\n", id_width, "ID", pid_width, "PID");
	rule(file, id_width, ' ');
	rule(file, 3, ' ');
	rule(file, pid_width, ' ');
	rule(file, name_width, '\n');
	for (size_t i = 0; i < total; i++) {
		const struct process_info *process = session_process(print->session, i);

		fprintf(file, "%*" PRIu32 " %-3s %*" PRId64 " %s\n", id_width, process->id,
			session_process_selected(print->session, process->id) ? "yes" : "no",
			pid_width, process->pid, process->name);
	}
	return true;
}
