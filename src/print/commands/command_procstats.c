/* SPDX-License-Identifier: Apache-2.0 */
/* procstats: what this program itself has used. */
#include "print/commands/command.h"

#include <sys/resource.h>

enum { LABEL_WIDTH = 25 };

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static bool command_procstats(struct print *print, char **arguments, size_t count)
{
	struct result result;
	struct rusage usage;
	struct part *facts;

	getrusage(RUSAGE_SELF, &usage);
	result_init(&result, "procstats", print->session);
	result_heading(&result, "Statistics of %s itself", print->program);
	result_gap(&result);
	facts = result_facts(&result, LABEL_WIDTH);
	part_add(&result, facts, "user_s", "User CPU (sec.)",
		 value_real(seconds(usage.ru_utime), 3));
	part_add(&result, facts, "system_s", "System CPU (sec.)",
		 value_real(seconds(usage.ru_stime), 3));
	part_add(&result, facts, "max_rss_bytes", "Most resident bytes",
		 value_integer(usage.ru_maxrss * 1024));
	part_add(&result, facts, "minor_faults", "Minor Page Faults",
		 value_integer(usage.ru_minflt));
	part_add(&result, facts, "major_faults", "Major Page Faults",
		 value_integer(usage.ru_majflt));
	return print_answer(print, &result);
}

const struct command command_rows_procstats[] = {
	{.name = "procstats",
	 .group = GROUP_OTHER,
	 .help = "what this program itself has used",
	 .run = command_procstats,
	 .no_session = true,
	 .sums_only = true},
	{0},
};
