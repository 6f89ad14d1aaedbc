/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio index`: the sums of experiments, which any command takes that needs no more.  As the ranks
 * of an MPI job it deals the experiments out: the launcher tells each its number and how many there
 * are; MPI itself is not called, so that one program serves all implementations.
 */
#include "cli/index.h"

#include "analysis/cache/cache_index.h"
#include "base/array.h"
#include "base/command_line.h"
#include "base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

struct arguments {
	const char *share; /* "2/16", or NULL */
};

static const char *program;

static const struct option options[] = {
	{0, "share", "I/N", 0, option_set_text, offsetof(struct arguments, share),
	 "do what process I of N does, from 0, where no launcher says it"},
};
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage =
		"Usage: %s EXPERIMENT...\n"
		"       mpirun -n N %s EXPERIMENT...\n"
		"Keep the sums of experiments, so that functions, callers and call trees are there "
		"at once.\n"
		"\n",
	.notes = "\n"
		 "Exit status: 0 done; 1 not kept, a message says why; 2 a wrong command line.\n",
};

/*
 * The launchers' words for a process's number, as ranks are known by them, and for how many: those
 * of a step of Slurm, as a batch script has the job's numbers too, and is alone.
 */
static bool read_launcher(struct session_share *share)
{
	static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
					      "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
	static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					     "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};

	for (size_t i = 0; i < COUNT(numbers); i++) {
		const char *number = getenv(numbers[i]), *count = getenv(counts[i]);

		if (!number || !count)
			continue;
		share->number = (unsigned)strtoul(number, NULL, 10);
		share->count = (unsigned)strtoul(count, NULL, 10);
		return true;
	}
	return false;
}

/* False: the option says something else than a share. */
static bool read_share(const char *text, struct session_share *share)
{
	char *end;

	*share = (struct session_share){0, 1};
	if (!text) {
		read_launcher(share);
	} else {
		share->number = (unsigned)strtoul(text, &end, 10);
		if (end == text || *end != '/')
			return false;
		share->count = (unsigned)strtoul(end + 1, &end, 10);
		if (*end)
			return false;
	}
	return share->count && share->number < share->count;
}

static void say_waiting(unsigned share)
{
	terminal_printf(stderr,
			"%s: waiting for the sums of process %u; all have to see the same cache "
			"(XDG_CACHE_HOME, or ~/.cache)\n",
			program, share);
}

int index_main(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct session_share share;
	struct diag_list diags = {0};
	char **operands;
	size_t count = 0;

	(void)argc;
	program = "helio index";

	enum command_line read =
		command_line_read(&syntax, program, &arguments, argv + 1, &operands);

	if (read != COMMAND_LINE_OK)
		return read == COMMAND_LINE_WRONG ? EXIT_USAGE : EXIT_SUCCESS;
	if (!*operands) {
		command_line_refuse(program, "name an experiment to index");
		return EXIT_USAGE;
	}
	if (!read_share(arguments.share, &share)) {
		command_line_refuse(program, "--share is I/N, with I from 0 and less than N");
		return EXIT_USAGE;
	}
	while (operands[count])
		count++;

	enum status status = cache_index(operands, count, &share, say_waiting, &diags);

	command_line_say(stderr, program, &diags);
	diag_fini(&diags);
	return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
