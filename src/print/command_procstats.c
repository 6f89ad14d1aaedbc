/* SPDX-License-Identifier: Apache-2.0 */
/* procstats: what this program itself has used. */
#include "base/terminal.h"
#include "print/command.h"
#include "print/json.h"

#include <sys/resource.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

bool command_procstats(struct print *print, char **arguments, size_t count)
{
	FILE *file = print->output.file;
	struct rusage usage;
	struct json_report report;

	getrusage(RUSAGE_SELF, &usage);
	if (print->mode == MODE_JSON) {
		json_report_begin(&report, print, "procstats", NULL, NULL);
		json_report_row(&report, json_pack("{s:f, s:f, s:I, s:I, s:I}", "user_s",
						   seconds(usage.ru_utime), "system_s",
						   seconds(usage.ru_stime), "max_rss_bytes",
						   (json_int_t)usage.ru_maxrss * 1024,
						   "minor_faults", (json_int_t)usage.ru_minflt,
						   "major_faults", (json_int_t)usage.ru_majflt));
		json_report_end(&report);
		return true;
	}
	terminal_printf(file, "Statistics of %s itself\n\n", print->program);
	fprintf(file, "%25s: %.3f\n", "User CPU (sec.)", seconds(usage.ru_utime));
	fprintf(file, "%25s: %.3f\n", "System CPU (sec.)", seconds(usage.ru_stime));
	fprintf(file, "%25s: %ld\n", "Most resident bytes", usage.ru_maxrss * 1024);
	fprintf(file, "%25s: %ld\n", "Minor Page Faults", usage.ru_minflt);
	fprintf(file, "%25s: %ld\n", "Major Page Faults", usage.ru_majflt);
	return true;
}
