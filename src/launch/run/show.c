/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/show.h"

#include "base/command_line.h"
#include "base/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program_name[] = "helio collect";

static void show_clock(FILE *file, const struct show_run *run)
{
	if (!run->options->clock_us) {
		fputs("\tclock profiling disabled\n", file);
		return;
	}
	terminal_printf(file, "\tclock profiling enabled, %.3f millisec.",
			run->options->clock_us / 1000.0);
	if (run->options->clock_first_us)
		terminal_printf(file, ", at first %.3f", run->options->clock_first_us / 1000.0);
	putc('\n', file);
	terminal_printf(file, "\tengine: %s", run->engine);
	if (*run->engine_reason)
		terminal_printf(file, " (no perf events: %s)", run->engine_reason);
	putc('\n', file);
}

static void show_traces(FILE *file, const struct options *options)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (format_kinds[kind].is_wrapped && *options->trace[kind])
			terminal_printf(file, "\t%s tracing enabled, %s\n",
					format_kinds[kind].subject, options->trace[kind]);
	for (unsigned i = 0; i < options->counters.count; i++)
		terminal_printf(file, "\tcounter profiling enabled, %s, interval %" PRIu64 "\n",
				options->counters.items[i].name,
				options->counters.items[i].event.period);
}

static void show_follow(FILE *file, const struct options *options)
{
	if (options->ranks)
		terminal_printf(file, "\tonly the ranks that the MPI launcher starts, and their "
				      "descendants, will be recorded\n");
	if (options->follow_regex)
		terminal_printf(
			file,
			"\texperiments will be recorded for descendant processes that match "
			"pattern '=%s'\n",
			options->follow_regex);
	else
		terminal_printf(file, "\tdescendant processes will %sbe followed\n",
				options->follow ? "" : "not ");
}

static void show_control(FILE *file, const struct options *options)
{
	char name[OPTIONS_SIGNAL_ROOM];

	if (options->sample_signal) {
		options_signal_name(options->sample_signal, name);
		terminal_printf(file, "\tsample signal = %s (%d)\n", name, options->sample_signal);
	}
	if (options->pause_signal) {
		options_signal_name(options->pause_signal, name);
		terminal_printf(file, "\tpause-resume signal = %s (%d), recording begins %s\n",
				name, options->pause_signal,
				options->begin_paused ? "paused" : "at once");
	}
	if (options->size_limit_mb)
		terminal_printf(file, "\texperiment size limit set to %" PRIu32 " MB\n",
				options->size_limit_mb);
	else
		fputs("\tno experiment size limit set\n", file);
	terminal_printf(file, "\texperiment archiving: -%c %s\n",
			options->archive_newer ? 'a' : 'A', options->archive);
}

void show_parameters(FILE *file, const struct show_run *run)
{
	const struct options *options = run->options;
	const struct new_experiment_system *system = run->system;

	terminal_printf(file,
			"Collection parameters:\n"
			"    experiment enabled\n"
			"\ttarget = %s\n"
			"\texpt_name = %s\n",
			run->argv[0], run->name);
	show_clock(file, run);
	show_traces(file, options);
	show_follow(file, options);
	if (options->sample_s)
		terminal_printf(file, "\tperiodic sampling, %" PRIu32 " secs.\n",
				options->sample_s);
	else
		fputs("\tno periodic sampling\n", file);
	if (options->window && options->window_end_ms)
		terminal_printf(file, "\trecording from %.3f to %.3f secs.\n",
				(double)options->window_start_ms / 1000,
				(double)options->window_end_ms / 1000);
	else if (options->window)
		terminal_printf(file, "\trecording from %.3f secs.\n",
				(double)options->window_start_ms / 1000);
	show_control(file, options);
	terminal_printf(file,
			"\tdata descriptor: \"%s\"\n"
			"\t\thost: `%s', ncpus = %u, clock frequency %u MHz.\n"
			"\t\tmemory:  %" PRIu64 " pages @ %" PRIu64 " bytes = %" PRIu64 " MB.\n",
			run->params, system->hostname, system->cpus, system->clock_mhz,
			system->pages, system->page_size, system->pages * system->page_size >> 20);
}

static void show_start_clock(FILE *file, const struct show_run *run, pid_t pid, const char *program)
{
	const struct options *options = run->options;
	char first[32] = "";

	if (options->clock_first_us)
		snprintf(first, sizeof(first), "%g ms at first, then ",
			 options->clock_first_us / 1000.0);
	terminal_printf(file, "%s: %s: recording %s (pid %d), engine %s, %s%g ms\n", program_name,
			run->name, program, (int)pid, run->engine, first,
			options->clock_us / 1000.0);
}

void show_start(FILE *file, const struct show_run *run, pid_t pid, bool old_name)
{
	const char *slash = strrchr(run->argv[0], '/');
	const char *program = slash ? slash + 1 : run->argv[0];

	if (old_name)
		terminal_printf(file, "Creating experiment directory %s (Process ID: %d) ...\n",
				run->name, (int)pid);
	else if (!run->options->clock_us)
		terminal_printf(file, "%s: %s: recording %s (pid %d), %s\n", program_name,
				run->name, program, (int)pid,
				options_trace(run->options) ? "tracing" : "statistics only");
	else
		show_start_clock(file, run, pid, program);
}

void show_dry_end(FILE *file, const struct show_run *run)
{
	struct strbuf words = {0};

	new_experiment_add_words(&words, run->argv);
	terminal_printf(file,
			"Creating experiment directory %s (Process ID: %d) ...\n"
			"Exec argv[] = %s\n",
			run->name, (int)getpid(), words.text);
	strbuf_fini(&words);
}

void show_version(FILE *file)
{
	fputs("helio collect (Heliometer) " HELIO_VERSION "\n", file);
}

static void show_size(FILE *file, uint64_t bytes)
{
	if (bytes < 10000)
		terminal_printf(file, "%" PRIu64 " bytes", bytes);
	else if (bytes < 10000000)
		terminal_printf(file, "%.1f KB", (double)bytes / 1e3);
	else
		terminal_printf(file, "%.1f MB", (double)bytes / 1e6);
}

/* Nothing bounds this: a traced call that is left out would make the counts wrong. */
static void show_traced(FILE *file, const char *program, const char *name, uint32_t percent,
			const struct finish_summary *summary)
{
	if (!percent || summary->traced_ns / percent <= summary->traced_of_ns / 100)
		return;
	terminal_printf(
		file,
		"%s: %s: to record the calls that are traced took some %.3f s of %.3f s of CPU "
		"time, which --max-overhead does not bound%s\n",
		program, name, (double)summary->traced_ns / 1e9,
		(double)summary->traced_of_ns / 1e9,
		summary->traced[TRACE_HEAP] ? "; -H sample costs less" : "");
}

/* At the end of processes, when the program has done its work; but who awaits them waits longer. */
static void show_leak_search(FILE *file, const char *program, const char *name,
			     const struct finish_summary *summary)
{
	enum { WORTH_TELLING_NS = 100000000 };

	if (summary->leak_search_ns >= WORTH_TELLING_NS)
		terminal_printf(
			file,
			"%s: %s: the search for lost memory took %.3f s; -H on,noscan leaves it "
			"out\n",
			program, name, (double)summary->leak_search_ns / 1e9);
}

struct show_limit show_limit_of(const struct options *options)
{
	return (struct show_limit){.max_overhead = options->max_overhead,
				   .clock_us = options->clock_us,
				   .clock_first_us = options->clock_first_us};
}

/* A process that is killed says nothing of what measuring took in it. */
void show_overhead(FILE *file, const char *program, const char *name,
		   const struct show_limit *limit, const struct finish_summary *summary,
		   const struct show_more *more)
{
	uint64_t cpu_ns = summary->cpu_ns + summary->before_ns + more->uncounted_us * 1000;
	uint64_t overhead_ns = summary->overhead_ns + more->uncounted_own_us * 1000;

	show_traced(file, program, name, limit->max_overhead, summary);
	show_leak_search(file, program, name, summary);
	if (!summary->limited)
		return;
	terminal_printf(file, "%s: %s: measuring took %s%.3f s", program, name,
			more->uncounted ? "at least " : "", (double)overhead_ns / 1e9);
	if (limit->clock_us)
		terminal_printf(file, " of %.3f s of CPU time", (double)cpu_ns / 1e9);
	if (limit->clock_us && summary->ticks)
		terminal_printf(file, "; a clock tick came every %.3g ms",
				(double)summary->cpu_ns / 1e6 / (double)summary->ticks);
	if (limit->clock_us && summary->ticks && !limit->clock_first_us)
		terminal_printf(file, ", not %g", limit->clock_us / 1e3);
	fputs(": where it takes more than --max-overhead, intervals get longer\n", file);
}

/* Of the default, which changes. */
static void show_intervals(FILE *file, const struct finish_summary *summary)
{
	terminal_printf(file, "a tick every %g ms", (double)summary->first_interval_us / 1e3);
	if (summary->widened)
		terminal_printf(file, " and from %.3f s on %g", (double)summary->widened_ns / 1e9,
				OPTIONS_CLOCK_ON_US / 1e3);
	fputs(", ", file);
}

/* Commands that show something of what was recorded. */
static void show_next(FILE *file, const char *name, const struct show_limit *limit,
		      const uint64_t traced[TRACE_KINDS])
{
	static const char *const commands[TRACE_KINDS] = {
		[TRACE_HEAP] = " -leaks",
		[TRACE_SYNC] = " -locks",
		[TRACE_IO] = " -iostat",
	};
	bool has_functions = limit->clock_us;

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		has_functions |= traced[kind] > 0;
	terminal_printf(file, "; next: helio print%s",
			has_functions ? " -functions -calltree" : " -statistics");
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (traced[kind] && commands[kind])
			terminal_printf(file, "%s", commands[kind]);
	terminal_printf(file, " %s\n", name);
}

void show_summary(FILE *file, const char *program, const char *name, double seconds,
		  const struct show_limit *limit, const struct finish_summary *summary,
		  const struct show_more *more)
{
	uint64_t traced[TRACE_KINDS];

	if (more->failed)
		terminal_printf(file, "%s: Warning: %s: %s\n", program, name, more->failed);
	terminal_printf(file, "%s: %s: %.3f s, ", program, name, seconds);
	if (summary->counted || more->uncounted)
		terminal_printf(file, "%" PRIu64 " events, ", summary->events + more->uncounted);
	if (summary->first_interval_us)
		show_intervals(file, summary);
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		traced[kind] = summary->traced[kind] + more->uncounted_traced[kind];
		if (traced[kind])
			terminal_printf(file, "%" PRIu64 " of %s, ", traced[kind],
					format_kinds[kind].name);
	}
	if (summary->dropped)
		terminal_printf(file, "%" PRIu64 " dropped, ", summary->dropped);
	if (summary->processes > 1)
		terminal_printf(file, "%u processes, ", summary->processes);
	show_size(file, summary->bytes);
	if (more->archive_bytes) {
		fputs(" and ", file);
		show_size(file, more->archive_bytes);
		fputs(" of copies in archives", file);
	}
	if (summary->running)
		terminal_printf(file, ", %u still running", summary->running);
	if (summary->unbegun)
		terminal_printf(file,
				"; the recording of %u %s could not be begun: no room on the disk, "
				"or a limit on the size of files (ulimit -f)",
				summary->unbegun, summary->unbegun == 1 ? "program" : "programs");
	if (more->unrecorded)
		terminal_printf(file, "; not recorded: %s", more->unrecorded);
	show_next(file, name, limit, traced);
}

void show_diags(FILE *file, struct diag_list *diags)
{
	command_line_say(file, program_name, diags);
}
