/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row per command.  Commands of the old tools that need data which is not
 * recorded yet are in the table too: they are not listed by `help`, but they
 * say what is missing, and they take part in the abbreviations, so that a
 * script does not change its meaning when they arrive.
 */
#include "print/command.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NOT_YET(name_, aliases_, missing)                                                          \
	{                                                                                          \
		.name = (name_), .aliases = (aliases_), .max_arguments = 20, .help = (missing),    \
		.no_session = true                                                                 \
	}

static const struct command commands[] = {
	{"functions", NULL, 0, 0, ARGUMENT_ANY, GROUP_FUNCTIONS, "",
	 "the functions with the current metrics", command_functions, false},
	{"fsummary", NULL, 0, 0, ARGUMENT_ANY, GROUP_FUNCTIONS, "", "all metrics of every function",
	 command_fsummary, false},
	{"fsingle", NULL, 1, 2, ARGUMENT_NUMBER, GROUP_FUNCTIONS, "FUNCTION [N]",
	 "all metrics of one function; N picks one of several", command_fsingle, false},
	{"callers-callees", "gprof", 0, 0, ARGUMENT_ANY, GROUP_CALLS, "",
	 "who calls whom, one block per function", command_callers_callees, false},
	{"csingle", NULL, 1, 2, ARGUMENT_NUMBER, GROUP_CALLS, "FUNCTION [N]",
	 "callers and callees of one function", command_csingle, false},
	{"calltree", "ctree", 0, 0, ARGUMENT_ANY, GROUP_CALLS, "", "the tree of calls from <Total>",
	 command_calltree, false},
	{"experiment_list", "exp_list", 0, 0, ARGUMENT_ANY, GROUP_LISTS, "",
	 "the experiments, with the ids that other commands take", command_experiment_list, false},
	{"thread_list", NULL, 0, 0, ARGUMENT_ANY, GROUP_LISTS, "", "how many threads there were",
	 command_thread_list, false},
	{"threads", NULL, 0, 0, ARGUMENT_ANY, GROUP_LISTS, "",
	 "the threads with the current metrics", command_threads, false},
	{"objects", NULL, 0, 0, ARGUMENT_ANY, GROUP_LISTS, "",
	 "the load objects, and where their names come from", command_objects, false},
	{"header", NULL, 0, 1, ARGUMENT_NUMBER, GROUP_LISTS, "[ID|all]",
	 "what was recorded, where and how", command_header, false},
	{"overview", NULL, 0, 0, ARGUMENT_ANY, GROUP_LISTS, "",
	 "the experiments and the total of every metric", command_overview, false},
	{"statistics", NULL, 0, 1, ARGUMENT_NUMBER, GROUP_LISTS, "[ID|all]",
	 "resources used by the whole process", command_statistics, false},
	{"sample_detail", NULL, 0, 1, ARGUMENT_NUMBER, GROUP_LISTS, "[ID|all]",
	 "the same between each two sample points", command_sample_detail, false},
	{"metrics", NULL, 0, 1, ARGUMENT_ANY, GROUP_METRICS, "[SPEC]",
	 "set the metrics to show, for example e.%totalcpu:i.totalcpu:name", command_metrics,
	 false},
	{"sort", NULL, 1, 1, ARGUMENT_ANY, GROUP_METRICS, "METRIC",
	 "set the metric to sort by; -METRIC reverses", command_sort, false},
	{"metric_list", NULL, 0, 0, ARGUMENT_ANY, GROUP_METRICS, "",
	 "the current and all available metrics", command_metric_list, false},
	{"cmetric_list", "gmetric_list", 0, 0, ARGUMENT_ANY, GROUP_METRICS, "",
	 "the metrics of callers-callees and calltree", command_cmetric_list, false},
	{"limit", NULL, 0, 1, ARGUMENT_ANY, GROUP_OUTPUT, "[N]",
	 "print at most N rows, <Total> included; 0 for all", command_limit, true},
	{"name", NULL, 0, 1, ARGUMENT_ANY, GROUP_OUTPUT, "[long|short|mangled[:soname|:nosoname]]",
	 "how to write function names", command_name, true},
	{"viewmode", NULL, 0, 1, ARGUMENT_ANY, GROUP_OUTPUT, "[user|expert|machine]",
	 "which call stacks to show; all the same for native programs", command_viewmode, true},
	{"printmode", NULL, 0, 1, ARGUMENT_ANY, GROUP_OUTPUT, "[text|json|CHARACTER]",
	 "print text, JSON, or fields separated by a character", command_printmode, true},
	{"outfile", NULL, 1, 1, ARGUMENT_ANY, GROUP_OUTPUT, "FILE",
	 "print to a file from now on; - for standard output", command_outfile, true},
	{"appendfile", NULL, 1, 1, ARGUMENT_ANY, GROUP_OUTPUT, "FILE",
	 "the same, at the end of what the file holds", command_appendfile, true},
	{"script", NULL, 1, 1, ARGUMENT_ANY, GROUP_OTHER, "FILE", "run the commands in a file",
	 command_script, false},
	{"version", NULL, 0, 0, ARGUMENT_ANY, GROUP_OTHER, "", "the version of this program",
	 command_version, true},
	{"help", "xhelp", 0, 1, ARGUMENT_ANY, GROUP_OTHER, "[COMMAND]", "this list, or one command",
	 command_help, true},
	{"quit", "exit", 0, 0, ARGUMENT_ANY, GROUP_OTHER, "", "end the session", command_quit,
	 true},
	NOT_YET("leaks", NULL, "heap tracing data"),
	NOT_YET("allocs", NULL, "heap tracing data"),
	NOT_YET("heap", NULL, "heap tracing data"),
	NOT_YET("heapstat", NULL, "heap tracing data"),
	NOT_YET("ioactivity", NULL, "I/O tracing data"),
	NOT_YET("iodetail", NULL, "I/O tracing data"),
	NOT_YET("iocallstack", NULL, "I/O tracing data"),
	NOT_YET("iostat", NULL, "I/O tracing data"),
	NOT_YET("pcs", NULL, "metrics by instruction"),
	NOT_YET("psummary", NULL, "metrics by instruction"),
	NOT_YET("lines", NULL, "metrics by source line"),
	NOT_YET("lsummary", NULL, "metrics by source line"),
	NOT_YET("source", "src", "annotated source"),
	NOT_YET("disasm", "dis", "annotated disassembly"),
	NOT_YET("scc", NULL, "annotated source"),
	NOT_YET("dcc", NULL, "annotated disassembly"),
	NOT_YET("cc", NULL, "annotated source"),
	NOT_YET("sthresh", NULL, "annotated source"),
	NOT_YET("dthresh", NULL, "annotated disassembly"),
	NOT_YET("setpath", NULL, "annotated source"),
	NOT_YET("addpath", NULL, "annotated source"),
	NOT_YET("pathmap", NULL, "annotated source"),
	NOT_YET("preload_libdirs", NULL, "annotated source"),
	NOT_YET("cprepend", NULL, "call stack fragments"),
	NOT_YET("cappend", NULL, "call stack fragments"),
	NOT_YET("crmfirst", NULL, "call stack fragments"),
	NOT_YET("crmlast", NULL, "call stack fragments"),
	NOT_YET("indxobj", NULL, "index objects (`threads` is there)"),
	NOT_YET("indxobj_list", NULL, "index objects"),
	NOT_YET("indxobj_define", NULL, "index objects"),
	NOT_YET("indx_metric_list", NULL, "index objects"),
	NOT_YET("memobj", NULL, "memory objects"),
	NOT_YET("mobj_list", NULL, "memory objects"),
	NOT_YET("mobj_define", NULL, "memory objects"),
	NOT_YET("machinemodel", NULL, "memory objects"),
	NOT_YET("data_objects", NULL, "data objects"),
	NOT_YET("data_single", NULL, "data objects"),
	NOT_YET("data_layout", NULL, "data objects"),
	NOT_YET("OMP_preg", NULL, "OpenMP data"),
	NOT_YET("OMP_task", NULL, "OpenMP data"),
	NOT_YET("races", NULL, "data race detection"),
	NOT_YET("rdetail", NULL, "data race detection"),
	NOT_YET("deadlocks", NULL, "deadlock detection"),
	NOT_YET("ddetail", NULL, "deadlock detection"),
	NOT_YET("dsummary", NULL, "deadlock detection"),
	NOT_YET("sample_list", NULL, "selection of samples"),
	NOT_YET("lwp_list", NULL, "selection of threads"),
	NOT_YET("cpu_list", NULL, "selection of processors"),
	NOT_YET("filters", NULL, "filters"),
	NOT_YET("describe", NULL, "filters"),
	NOT_YET("sample_select", NULL, "filters"),
	NOT_YET("lwp_select", NULL, "filters"),
	NOT_YET("thread_select", NULL, "filters"),
	NOT_YET("cpu_select", NULL, "filters"),
	NOT_YET("object_list", NULL, "hiding of load objects"),
	NOT_YET("object_show", NULL, "hiding of load objects"),
	NOT_YET("object_hide", NULL, "hiding of load objects"),
	NOT_YET("object_api", NULL, "hiding of load objects"),
	NOT_YET("objects_default", NULL, "hiding of load objects"),
	NOT_YET("object_select", NULL, "hiding of load objects"),
	NOT_YET("compare", NULL, "comparison of experiments"),
	NOT_YET("ifreq", NULL, "instruction counts"),
	NOT_YET("procstats", NULL, "statistics of this program itself"),
	NOT_YET("open_exp", NULL, "opening experiments from a script"),
	NOT_YET("add_exp", NULL, "opening experiments from a script"),
	NOT_YET("drop_exp", NULL, "opening experiments from a script"),
	NOT_YET("dmetrics", NULL, "start-up files"),
	NOT_YET("dsort", NULL, "start-up files"),
	NOT_YET("en_desc", NULL, "selection of descendants"),
	NOT_YET("tlmode", NULL, "the timeline"),
	NOT_YET("tldata", NULL, "the timeline"),
	NOT_YET("tabs", NULL, "the web analyzer"),
	NOT_YET("rtabs", NULL, "the web analyzer"),
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

const struct command *command_at(size_t index)
{
	return index < COMMAND_COUNT ? &commands[index] : NULL;
}

const char *command_group_title(enum command_group group)
{
	static const char *const titles[] = {
		[GROUP_FUNCTIONS] = "Functions",
		[GROUP_CALLS] = "Callers, callees and the call tree",
		[GROUP_LISTS] = "Experiments",
		[GROUP_METRICS] = "Metrics",
		[GROUP_OUTPUT] = "Output",
		[GROUP_OTHER] = "Other",
	};

	return titles[group];
}

enum fit { FIT_NONE, FIT_PREFIX, FIT_EXACT };

static enum fit name_fits(const char *name, size_t name_length, const char *word, size_t length)
{
	if (length > name_length || strncasecmp(name, word, length) != 0)
		return FIT_NONE;
	return length == name_length ? FIT_EXACT : FIT_PREFIX;
}

static enum fit command_fits(const struct command *command, const char *word)
{
	size_t length = strlen(word);
	enum fit best = name_fits(command->name, strlen(command->name), word, length);

	for (const char *alias = command->aliases; alias && *alias;) {
		size_t alias_length = strcspn(alias, " ");
		enum fit fit = name_fits(alias, alias_length, word, length);

		best = fit > best ? fit : best;
		alias += alias_length + strspn(alias + alias_length, " ");
	}
	return best;
}

static void suggest(const char *word, const char *shown, struct diag_list *diags)
{
	const char *names[COMMAND_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].run)
			names[count++] = commands[i].name;
	const char *closest = suggest_closest(word, names, count);

	if (closest)
		diag_add(diags, DIAG_ERROR, "Invalid command: %s (did you mean %s?)", shown,
			 closest);
	else
		diag_add(diags, DIAG_ERROR, "Invalid command: %s (`help` lists the commands)",
			 shown);
}

enum status command_find(const char *word, const char *shown, const struct command **out,
			 struct diag_list *diags)
{
	struct strbuf candidates = {0};
	size_t count = 0;

	for (size_t i = 0; *word && i < COMMAND_COUNT; i++) {
		enum fit fit = command_fits(&commands[i], word);

		if (fit == FIT_NONE)
			continue;
		*out = &commands[i];
		if (fit == FIT_EXACT) {
			strbuf_fini(&candidates);
			return STATUS_OK;
		}
		strbuf_printf(&candidates, "%s%s", count++ ? ", " : "", commands[i].name);
	}
	if (count > 1)
		diag_add(diags, DIAG_ERROR, "Ambiguous command: %s (%s)", shown, candidates.text);
	else if (!count)
		suggest(word, shown, diags);
	strbuf_fini(&candidates);
	return count == 1 ? STATUS_OK : count ? STATUS_AMBIGUOUS : STATUS_NOTFOUND;
}

bool command_run(struct print *print, const struct command *command, char **arguments, size_t count)
{
	if (!command->run)
		return say_error(print, "%s is not available yet: this version has no %s",
				 command->name, command->help);
	if (count < command->min_arguments)
		return say_error(print, "%s needs an argument: %s %s", command->name, command->name,
				 command->arguments);
	if (count > command->max_arguments) {
		say_warning(print, "extra arguments to the %s command are ignored", command->name);
		count = command->max_arguments;
	}
	if (!print->session && !command->no_session)
		return say_error(print, "%s: no experiment is open", command->name);
	return command->run(print, arguments, count);
}

bool command_select_processes(struct print *print, char **arguments, size_t count, size_t *first,
			      size_t *end)
{
	size_t total = session_process_count(print->session);
	char *rest;

	*first = 0;
	*end = total;
	if (!count || !strcasecmp(arguments[0], "all"))
		return true;
	unsigned long id = strtoul(arguments[0], &rest, 10);

	if (*rest || id < 1 || id > total)
		return say_error(print,
				 "No experiment has the id %s: ids go from 1 to %zu, see "
				 "experiment_list",
				 arguments[0], total);
	*first = id - 1;
	*end = id;
	return true;
}
