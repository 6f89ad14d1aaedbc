/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of `helio collect` (base/option.h), those included that belong to the family of collect
 * commands but are not here yet.  A short option is a word of its own, as in collect(1): `-pon` is
 * no option.
 */
#include "launch/options_private.h"

#include "base/array.h"
#include "base/pattern.h"
#include "format/params.h"
#include "launch/run/ranks.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool take_clock(struct option_parser *parser, const char *argument)
{
	if (*argument == '+') {
		diag_add(parser->diags, DIAG_WARNING,
			 "clock-based memoryspace and dataspace profiling is no longer supported");
		argument++;
	}
	options_of(parser)->clock_first_us = strcmp(argument, "on") ? 0 : OPTIONS_CLOCK_FIRST_US;
	return options_read_clock(argument, &options_of(parser)->clock_us, parser->diags) ||
	       option_refuse(parser, "Unrecognized clock-profiling interval", argument);
}

static bool take_sample(struct option_parser *parser, const char *argument)
{
	uint32_t *period = &options_of(parser)->sample_s;

	if (!strcmp(argument, "on"))
		*period = 1;
	else if (!strcmp(argument, "off"))
		*period = 0;
	else if (!options_read_count(argument, 86400 * 365, period))
		return option_refuse(parser, "Unrecognized sample period", argument);
	return true;
}

static bool take_follow(struct option_parser *parser, const char *argument)
{
	struct options *options = options_of(parser);

	if (*argument == '=') {
		regex_t regex;

		if (pattern_compile(&regex, argument + 1, REG_NOSUB))
			return option_refuse(parser, "Unrecognized follow-mode parameter",
					     argument);
		regfree(&regex);
		options->follow_regex = argument + 1;
		options->follow = true;
	} else if (!*argument || !strcmp(argument, "on") || !strcmp(argument, "all")) {
		options->follow = true;
	} else if (!strcmp(argument, "off")) {
		options->follow = false;
	} else {
		return option_refuse(parser, "Unrecognized follow-mode parameter", argument);
	}
	return true;
}

static bool take_launcher(struct option_parser *parser, const char *argument)
{
	struct options *options = options_of(parser);

	options->launcher = argument;
	if (!strcmp(argument, "off") || ranks_is_implementation(argument))
		return true;
	diag_add(parser->diags, DIAG_ERROR,
		 "Unrecognized MPI version '%s': one of " RANKS_IMPLEMENTATIONS ", or off",
		 argument);
	return false;
}

static bool take_name(struct option_parser *parser, const char *argument, bool overwrite)
{
	size_t length = strlen(argument);

	if (options_of(parser)->output) {
		diag_add(parser->diags, DIAG_ERROR, "Only one -o or -O argument may be used");
		return false;
	}
	while (length > 1 && argument[length - 1] == '/')
		length--;
	if (length < 4 || strncmp(argument + length - 3, ".er", 3) || argument[length - 4] == '/') {
		diag_add(parser->diags, DIAG_ERROR, "Experiment name '%s' must end in '.er'",
			 argument);
		return false;
	}
	options_of(parser)->output = argument;
	options_of(parser)->overwrite = overwrite;
	return true;
}

static bool take_output(struct option_parser *parser, const char *argument)
{
	return take_name(parser, argument, false);
}

static bool take_overwrite(struct option_parser *parser, const char *argument)
{
	return take_name(parser, argument, true);
}

static bool take_comment(struct option_parser *parser, const char *argument)
{
	struct options *options = options_of(parser);

	if (options->comment_count == OPTIONS_COMMENTS_MAX) {
		diag_add(parser->diags, DIAG_ERROR, "No more than %d comments may be specified",
			 OPTIONS_COMMENTS_MAX);
		return false;
	}
	options->comments[options->comment_count++] = argument;
	return true;
}

static bool take_window(struct option_parser *parser, const char *argument)
{
	struct options *options = options_of(parser);

	switch (options_read_window(argument, &options->window_start_ms, &options->window_end_ms)) {
	case OPTIONS_WINDOW_OK:
		options->window = options->window_start_ms || options->window_end_ms;
		return true;
	case OPTIONS_WINDOW_BACKWARDS:
		diag_add(parser->diags, DIAG_ERROR,
			 "Invalid time parameter '%s': start time must be earlier than end time",
			 argument);
		return false;
	default:
		return option_refuse(parser, "Unrecognized time parameter", argument);
	}
}

static bool take_sample_signal(struct option_parser *parser, const char *argument)
{
	return options_read_signal(argument, strlen(argument),
				   &options_of(parser)->sample_signal) ||
	       option_refuse(parser, "Invalid sample signal", argument);
}

/* SIGNAL[,r]: without r the recording begins paused. */
static bool take_pause_signal(struct option_parser *parser, const char *argument)
{
	size_t length = strcspn(argument, ",");
	const char *rest = argument + length;

	if ((*rest && strcmp(rest, ",r") != 0) ||
	    !options_read_signal(argument, length, &options_of(parser)->pause_signal))
		return option_refuse(parser, "Invalid delay signal", argument);
	options_of(parser)->begin_paused = !*rest;
	return true;
}

static bool take_size_limit(struct option_parser *parser, const char *argument)
{
	if (!strcmp(argument, "unlimited") || !strcmp(argument, "none"))
		return true;
	return options_read_count(argument, 1u << 30, &options_of(parser)->size_limit_mb) ||
	       option_refuse(parser, "Unrecognized experiment size limit", argument);
}

static bool take_directory(struct option_parser *parser, const char *argument)
{
	struct stat st;

	if (!stat(argument, &st) && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (!access(argument, W_OK | X_OK)) {
		options_of(parser)->directory = argument;
		return true;
	}
	diag_add(parser->diags, DIAG_ERROR,
		 "Can't set directory '%s': %s; it must be there and writable", argument,
		 strerror(errno));
	return false;
}

static bool take_group(struct option_parser *parser, const char *argument)
{
	size_t length = strlen(argument);

	if (length < 5 || strcmp(argument + length - 4, ".erg") != 0 || argument[length - 5] == '/')
		return option_refuse(parser, "An experiment group's name must end in '.erg', not",
				     argument);
	options_of(parser)->group = argument;
	return true;
}

/* The words of the older tool, and of the newer one (-a), which are told apart later. */
static bool take_archive_word(struct option_parser *parser, const char *argument, bool newer)
{
	static const char *const words[2][8] = {
		{"on", "off", "copy", "src"},
		{"on", "off", "ldobjects", "src", "usedldobjects", "usedsrc", "all"},
	};
	struct options *options = options_of(parser);

	if (options->archive) {
		diag_add(parser->diags, DIAG_ERROR, "Only one -A or -a argument may be used");
		return false;
	}
	for (const char *const *word = words[newer]; *word; word++) {
		if (!strcasecmp(*word, argument)) {
			options->archive = *word;
			options->archive_newer = newer;
			return true;
		}
	}
	return option_refuse(parser, "Unrecognized archive-mode parameter", argument);
}

static bool take_archive(struct option_parser *parser, const char *argument)
{
	return take_archive_word(parser, argument, false);
}

static bool take_archive_newer(struct option_parser *parser, const char *argument)
{
	return take_archive_word(parser, argument, true);
}

static bool take_engine(struct option_parser *parser, const char *argument)
{
	for (int engine = OPTIONS_ENGINE_AUTO; engine <= OPTIONS_ENGINE_MONITOR; engine++) {
		if (!strcmp(argument, options_engine_name(engine))) {
			options_of(parser)->engine = engine;
			return true;
		}
	}
	return option_refuse(parser, "The engine must be auto, perf or monitor, not", argument);
}

static bool take_depth(struct option_parser *parser, const char *argument)
{
	return options_read_count(argument, 1u << 20, &options_of(parser)->depth) ||
	       option_refuse(parser, "Unrecognized call stack depth", argument);
}

static bool take_overhead(struct option_parser *parser, const char *argument)
{
	return options_read_overhead(argument, &options_of(parser)->max_overhead) ||
	       option_refuse(parser, "--max-overhead takes a percentage from 1 to 90 or off, not",
			     argument);
}

/* A directory is the Java that is to run. */
static bool take_java(struct option_parser *parser, const char *argument)
{
	struct options *options = options_of(parser);
	struct stat st;

	if (!strcmp(argument, "on"))
		return true;
	if (!strcmp(argument, "off")) {
		options->java_off = true;
		return true;
	}
	if (stat(argument, &st) || !S_ISDIR(st.st_mode))
		return option_refuse(parser, "-j takes on, off or the directory of a JDK, not",
				     argument);
	options->java.jdk = argument;
	return true;
}

static bool take_java_arguments(struct option_parser *parser, const char *argument)
{
	options_of(parser)->java.arguments = argument;
	return true;
}

/* An option of the family that asks for nothing which is not there anyway is taken. */
static bool take_later(struct option_parser *parser, const char *argument)
{
	if (argument && !strcmp(argument, "off"))
		return true;
	diag_add(parser->diags, DIAG_ERROR,
		 "-%c (%s) is known but not available yet in this version; leave it out to "
		 "collect clock profiles",
		 parser->option->letter, parser->option->help);
	return false;
}

static const struct option clock_option = {
	.letter = 'p',
	.name = "clock",
	.argument = "off|lo|hi|on|N[m|u]",
	.flags = OPTION_ONCE,
	.take = take_clock,
	.help = "clock profiling: hi is every 0.997 ms of a thread's time, lo 100.003, on 0.997 at "
		"first and 10.007 later; N counts ms, or with u µs (default: on)",
};

enum { LATER = OPTION_HIDDEN | OPTION_ALONE };
#define AT(member) offsetof(struct options, member)
static const struct option others[] = {
	{'S', "sample", "off|on|N", OPTION_ONCE, take_sample, 0,
	 "process-wide usage every N seconds (default: on, 1)"},
	{'F', "follow", "on|off|=REGEX", OPTION_ONCE | OPTION_STARTS, take_follow, 0,
	 "follow descendant processes, or those whose program's name matches (default: on)"},
	{'M', "mpi-launcher", "MPI-NAME|off", OPTION_ONCE | OPTION_STARTS, take_launcher, 0,
	 "the program is a launcher of MPI (OPENMPI, MPICH, ...): its ranks are recorded, and with "
	 "-m on; mpirun, mpiexec, orterun and srun are known by their names"},
	{'o', "output", "NAME.er", 0, take_output, 0,
	 "the experiment to make; a name with a number that is in use is counted up"},
	{'O', "overwrite", "NAME.er", 0, take_overwrite, 0, "as -o, and remove what is there"},
	{'C', "comment", "TEXT", 0, take_comment, 0, "a line of notes in the experiment; up to 10"},
	{'t', "duration", "TIME|START-END", OPTION_ONCE, take_window, 0,
	 "record only in this time, in s, or with m minutes; the program goes on"},
	{'l', "sample-signal", "SIGNAL", OPTION_ONCE | OPTION_STARTS, take_sample_signal, 0,
	 "a sample point whenever the program gets this signal"},
	{'y', "pause-signal", "SIGNAL[,r]", OPTION_ONCE | OPTION_STARTS, take_pause_signal, 0,
	 "begin paused, resume and pause whenever the program gets this signal; with ,r begin "
	 "recording"},
	{'L', "size-limit", "MB|unlimited", OPTION_ONCE, take_size_limit, 0,
	 "record no more than this for each process (default: unlimited)"},
	{'d', "directory", "DIR", OPTION_ONCE, take_directory, 0, "where to make the experiment"},
	{'g', "group", "NAME.erg", OPTION_ONCE | OPTION_STARTS, take_group, 0,
	 "add the experiment to this group, whose name it gets (NAME.1.er)"},
	{'A', "archive", "on|off|copy|src", OPTION_STARTS, take_archive, 0,
	 "keep in the experiment the program's own files, none, all load objects, or sources too "
	 "(default: on)"},
	{'a', NULL, "MODE", OPTION_STARTS, take_archive_newer, 0, NULL},
	{0, "engine", "auto|perf|monitor", OPTION_ONCE, take_engine, 0,
	 "how to measure (default: auto, perf where the kernel allows it)"},
	{0, "depth", "FRAMES", OPTION_ONCE, take_depth, 0, "the deepest call stack to keep"},
	{0, "max-overhead", "PERCENT|off", OPTION_ONCE, take_overhead, 0,
	 "what measuring may take of a thread's time (default: 20): where it takes more, intervals "
	 "get longer"},
	{'j', "java", "on|off|JDK", OPTION_ONCE | OPTION_STARTS, take_java, 0,
	 "Java: methods and their call stacks, or native code only, or on, and the Java to run "
	 "(default: on)"},
	{'J', "java-options", "ARGUMENTS", OPTION_ONCE | OPTION_STARTS, take_java_arguments, 0,
	 "put these in front of the arguments of java, blanks between them"},
	{'P', "attach", "PID", OPTION_ONCE | OPTION_STARTS, option_set_text, AT(attach),
	 "attach to this process, as helio attach does, in place of running a program"},
	{0, "view", NULL, OPTION_STARTS, option_set_flag, AT(view),
	 "show the experiment in a browser afterwards, as helio view does"},
	{'n', "dry-run", NULL, OPTION_STARTS, option_set_flag, AT(dry_run),
	 "show what would be done; run and create nothing"},
	{'v', "verbose", NULL, OPTION_STARTS, option_set_flag, AT(verbose),
	 "show the version and the parameters"},
	{'q', "quiet", NULL, 0, option_set_flag, AT(quiet), "only errors and warnings"},
	{'V', "version", NULL, 0, option_ask_version, 0, "show the version"},
	{0, "help", NULL, 0, option_ask_help, 0, "show this text"},
	/* In the family's other members; an old command line that switches one off still works. */
	{'c', NULL, "on|static|off", LATER, take_later, 0, "instruction counts"},
	{'I', NULL, "DIR", LATER, take_later, 0, "instruction counts"},
	{'N', NULL, "LIBRARY", LATER, take_later, 0, "instruction counts"},
	{'r', NULL, "on|off", LATER, take_later, 0, "data race and deadlock detection"},
	{'x', NULL, NULL, LATER, take_later, 0, "stopping the program for a debugger"},
	{'R', NULL, NULL, LATER, take_later, 0, "the release notes"},
};
#undef AT

#define X(NAME, name) {&name##_option, 1},
static const struct option_table tables[] = {{&clock_option, 1},
					     FORMAT_KINDS(X) OPTION_TABLE(others)};
#undef X

const struct option_syntax options_syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.whole_words = true,
	.operand_ends = true,
	.usage = "Usage: %s [OPTIONS] PROGRAM [ARGUMENTS]\n"
		 "\n"
		 "Runs the program and records where its time goes, in an experiment directory\n"
		 "(test.1.er, test.2.er, ...) to be read with `helio print`.\n"
		 "\n"
		 "Options (each short one is a word of its own; -- ends them):\n",
	.notes = "\nClock profiling intervals from 0.010 to 1000 millisec. are possible here.\n"
		 "\nThe exit status is the program's own (128 + signal if one killed it); 1: the\n"
		 "command line is wrong; 125, 126, 127: the program could not be started.\n"
		 "\nExample: %s -p hi -o sort.1.er sort big.txt\n",
};
_Static_assert(OPTIONS_CLOCK_MIN_US == 10 && OPTIONS_CLOCK_MAX_US == 1000000, "as in the notes");

const char *options_engine_name(enum options_engine engine)
{
	static const char *const names[] = {"auto", "perf", "monitor"};

	return names[engine];
}

bool options_wrap(const struct options *options)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (format_kinds[kind].is_wrapped && *options->trace[kind])
			return true;
	return false;
}

bool options_need_mounts(const struct options *options)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (format_kinds[kind].needs_mounts && *options->trace[kind])
			return true;
	return false;
}

bool options_trace(const struct options *options)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (*options->trace[kind])
			return true;
	return false;
}

void options_follow_text(const struct options *options, struct strbuf *out)
{
	if (options->follow_regex)
		strbuf_printf(out, "=%s", options->follow_regex);
	else
		strbuf_puts(out, options->follow ? "on" : "off");
}

/* The collect commands' environment variables for the stack depth; an option wins. */
static void depth_from_environment(struct options *options)
{
	static const char *const names[] = {"GPROFNG_MAX_CALL_STACK_DEPTH",
					    "SP_COLLECTOR_STACKBUFSZ"};

	for (size_t i = 0; i < COUNT(names) && !options->depth; i++) {
		const char *text = getenv(names[i]);

		if (text && !options_read_count(text, 1u << 20, &options->depth))
			options->depth = 0;
	}
}

void options_init(struct options *options)
{
	*options = (struct options){.clock_us = OPTIONS_CLOCK_ON_US,
				    .clock_first_us = OPTIONS_CLOCK_FIRST_US,
				    .sample_s = 1,
				    .follow = true,
				    .max_overhead = PARAMS_OVERHEAD_DEFAULT};
}

/* The older tools want -- between the launcher's words and the program's, which not all know. */
static void drop_dashes(char **words)
{
	while (*words && strcmp(*words, "--") != 0)
		words++;
	for (; *words; words++)
		*words = words[1];
}

static void find_ranks(struct options *options)
{
	bool is_told = options->launcher && strcmp(options->launcher, "off") != 0;
	char *param = options->trace[TRACE_MPI];

	if (!*options->target || (options->launcher && !is_told))
		return;
	options->ranks = options->follow && (is_told || ranks_is_launcher(*options->target));
	if (!is_told)
		return;
	drop_dashes(options->target);
	if (!options->traces_mpi)
		snprintf(param, OPTIONS_TRACE_ROOM, "on");
}

enum status options_finish(struct options *options, struct diag_list *diags)
{
	find_ranks(options);
	depth_from_environment(options);
	if (!options->archive)
		options->archive = "on";
	if (options->pause_signal && options->pause_signal == options->sample_signal) {
		char name[OPTIONS_SIGNAL_ROOM];

		options_signal_name(options->pause_signal, name);
		diag_add(diags, DIAG_ERROR,
			 "Invalid delay signal '%s': it is the sample signal (-l) as well", name);
		return STATUS_INVALID;
	}
	if (options->attach && *options->target) {
		diag_add(diags, DIAG_ERROR, "-P takes no target: '%s' would not be run",
			 *options->target);
		return STATUS_INVALID;
	}
	return STATUS_OK;
}

enum status options_parse(struct options *options, char **argv, struct diag_list *diags)
{
	struct option_parser parser = {
		.syntax = &options_syntax, .target = options, .diags = diags};

	options_init(options);
	if (option_parse(&parser, argv + 1, &options->target) != STATUS_OK)
		return STATUS_INVALID;
	if (parser.asked == OPTION_ASKED_HELP || !argv[1])
		options->action = OPTIONS_HELP;
	else if (parser.asked == OPTION_ASKED_VERSION)
		options->action = OPTIONS_VERSION;
	if (options->action != OPTIONS_RUN)
		return STATUS_OK;
	if (options_finish(options, diags) != STATUS_OK)
		return STATUS_INVALID;
	if (!*options->target && !options->attach) {
		diag_add(diags, DIAG_ERROR,
			 "no target given: name the program to measure after the options");
		return STATUS_INVALID;
	}
	return STATUS_OK;
}
