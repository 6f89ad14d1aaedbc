/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One list drives parsing, the usage text and the answers to options that
 * belong to the family of collect commands but are not here yet.  A short
 * option is a word of its own, as in collect(1): `-pon` is no option.
 */
#include "launch/options_private.h"

#include "base/array.h"
#include "base/pattern.h"
#include "base/suggest.h"
#include "format/params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool options_refuse(struct option_parser *parser, const char *what, const char *argument)
{
	diag_add(parser->diags, DIAG_ERROR, "%s '%s'", what, argument);
	return false;
}

static bool take_clock(struct option_parser *parser, const char *argument)
{
	if (*argument == '+') {
		diag_add(parser->diags, DIAG_WARNING,
			 "clock-based memoryspace and dataspace profiling is no longer supported");
		argument++;
	}
	parser->options->clock_first_us = strcmp(argument, "on") ? 0 : OPTIONS_CLOCK_FIRST_US;
	return options_read_clock(argument, &parser->options->clock_us, parser->diags) ||
	       options_refuse(parser, "Unrecognized clock-profiling interval", argument);
}

static bool take_sample(struct option_parser *parser, const char *argument)
{
	uint32_t *period = &parser->options->sample_s;

	if (!strcmp(argument, "on"))
		*period = 1;
	else if (!strcmp(argument, "off"))
		*period = 0;
	else if (!options_read_count(argument, 86400 * 365, period))
		return options_refuse(parser, "Unrecognized sample period", argument);
	return true;
}

static bool take_follow(struct option_parser *parser, const char *argument)
{
	struct options *options = parser->options;

	if (*argument == '=') {
		regex_t regex;

		if (pattern_compile(&regex, argument + 1, REG_NOSUB))
			return options_refuse(parser, "Unrecognized follow-mode parameter",
					     argument);
		regfree(&regex);
		options->follow_regex = argument + 1;
		options->follow = true;
	} else if (!*argument || !strcmp(argument, "on") || !strcmp(argument, "all")) {
		options->follow = true;
	} else if (!strcmp(argument, "off")) {
		options->follow = false;
	} else {
		return options_refuse(parser, "Unrecognized follow-mode parameter", argument);
	}
	return true;
}

static bool take_name(struct option_parser *parser, const char *argument, bool overwrite)
{
	size_t length = strlen(argument);

	if (parser->options->output) {
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
	parser->options->output = argument;
	parser->options->overwrite = overwrite;
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
	struct options *options = parser->options;

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
	struct options *options = parser->options;

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
		return options_refuse(parser, "Unrecognized time parameter", argument);
	}
}

static bool take_sample_signal(struct option_parser *parser, const char *argument)
{
	return options_read_signal(argument, strlen(argument), &parser->options->sample_signal) ||
	       options_refuse(parser, "Invalid sample signal", argument);
}

/* SIGNAL[,r]: without r the recording begins paused. */
static bool take_pause_signal(struct option_parser *parser, const char *argument)
{
	size_t length = strcspn(argument, ",");
	const char *rest = argument + length;

	if ((*rest && strcmp(rest, ",r") != 0) ||
	    !options_read_signal(argument, length, &parser->options->pause_signal))
		return options_refuse(parser, "Invalid delay signal", argument);
	parser->options->begin_paused = !*rest;
	return true;
}

static bool take_size_limit(struct option_parser *parser, const char *argument)
{
	if (!strcmp(argument, "unlimited") || !strcmp(argument, "none"))
		return true;
	return options_read_count(argument, 1u << 30, &parser->options->size_limit_mb) ||
	       options_refuse(parser, "Unrecognized experiment size limit", argument);
}

static bool take_directory(struct option_parser *parser, const char *argument)
{
	struct stat st;

	if (!stat(argument, &st) && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (!access(argument, W_OK | X_OK)) {
		parser->options->directory = argument;
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
		return options_refuse(parser, "An experiment group's name must end in '.erg', not",
				     argument);
	parser->options->group = argument;
	return true;
}

/* The words of the older tool, and of the newer one (-a), which are told apart later. */
static bool take_archive_word(struct option_parser *parser, const char *argument, bool newer)
{
	static const char *const words[2][8] = {
		{"on", "off", "copy", "src"},
		{"on", "off", "ldobjects", "src", "usedldobjects", "usedsrc", "all"},
	};
	struct options *options = parser->options;

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
	return options_refuse(parser, "Unrecognized archive-mode parameter", argument);
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
			parser->options->engine = engine;
			return true;
		}
	}
	return options_refuse(parser, "The engine must be auto, perf or monitor, not", argument);
}

static bool take_depth(struct option_parser *parser, const char *argument)
{
	return options_read_count(argument, 1u << 20, &parser->options->depth) ||
	       options_refuse(parser, "Unrecognized call stack depth", argument);
}

static bool take_overhead(struct option_parser *parser, const char *argument)
{
	return options_read_overhead(argument, &parser->options->max_overhead) ||
	       options_refuse(parser, "--max-overhead takes a percentage from 1 to 90 or off, not",
			     argument);
}

static bool take_attach(struct option_parser *parser, const char *argument)
{
	parser->options->attach = argument;
	return true;
}

static bool take_dry_run(struct option_parser *parser, const char *argument)
{
	parser->options->dry_run = true;
	return true;
}

static bool take_verbose(struct option_parser *parser, const char *argument)
{
	parser->options->verbose = true;
	return true;
}

static bool take_quiet(struct option_parser *parser, const char *argument)
{
	parser->options->quiet = true;
	return true;
}

static bool take_version(struct option_parser *parser, const char *argument)
{
	parser->options->action = OPTIONS_VERSION;
	return true;
}

static bool take_help(struct option_parser *parser, const char *argument)
{
	parser->options->action = OPTIONS_HELP;
	return true;
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

#define X(NAME, name) &name##_option,
static const struct option *const kinds[] = {&clock_option, FORMAT_KINDS(X)};
#undef X

static const struct option others[] = {
	{'S', "sample", "off|on|N", OPTION_ONCE, take_sample,
	 "process-wide usage every N seconds (default: on, 1)"},
	{'F', "follow", "on|off|=REGEX", OPTION_ONCE, take_follow,
	 "follow descendant processes, or those whose program's name matches (default: on)"},
	{'o', "output", "NAME.er", 0, take_output,
	 "the experiment to make; a name with a number that is in use is counted up"},
	{'O', "overwrite", "NAME.er", 0, take_overwrite, "as -o, and remove what is there"},
	{'C', "comment", "TEXT", 0, take_comment, "a line of notes in the experiment; up to 10"},
	{'t', "duration", "TIME|START-END", OPTION_ONCE, take_window,
	 "record only in this time, in s, or with m minutes; the program goes on"},
	{'l', "sample-signal", "SIGNAL", OPTION_ONCE, take_sample_signal,
	 "a sample point whenever the program gets this signal"},
	{'y', "pause-signal", "SIGNAL[,r]", OPTION_ONCE, take_pause_signal,
	 "begin paused, resume and pause whenever the program gets this signal; with ,r begin "
	 "recording"},
	{'L', "size-limit", "MB|unlimited", OPTION_ONCE, take_size_limit,
	 "record no more than this for each process (default: unlimited)"},
	{'d', "directory", "DIR", OPTION_ONCE, take_directory, "where to make the experiment"},
	{'g', "group", "NAME.erg", OPTION_ONCE, take_group,
	 "add the experiment to this group, whose name it gets (NAME.1.er)"},
	{'A', "archive", "on|off|copy|src", 0, take_archive,
	 "keep in the experiment the program's own files, none, all load objects, or sources too "
	 "(default: on)"},
	{'a', NULL, "MODE", 0, take_archive_newer, NULL},
	{0, "engine", "auto|perf|monitor", OPTION_ONCE, take_engine,
	 "how to measure (default: auto, perf where the kernel allows it)"},
	{0, "depth", "FRAMES", OPTION_ONCE, take_depth, "the deepest call stack to keep"},
	{0, "max-overhead", "PERCENT|off", OPTION_ONCE, take_overhead,
	 "what measuring may take of a thread's time (default: 20): where it takes more, intervals "
	 "get longer"},
	{'P', "attach", "PID", OPTION_ONCE, take_attach,
	 "attach to this process, as helio attach does, in place of running a program"},
	{'n', "dry-run", NULL, 0, take_dry_run, "show what would be done; run and create nothing"},
	{'v', "verbose", NULL, 0, take_verbose, "show the version and the parameters"},
	{'q', "quiet", NULL, 0, take_quiet, "only errors and warnings"},
	{'V', "version", NULL, 0, take_version, "show the version"},
	{0, "help", NULL, 0, take_help, "show this text"},
	/* In the family's other members; an old command line that switches one off still works. */
	{'M', NULL, "VERSION", 0, NULL, "MPI programs"},
	{'m', NULL, "on|off", 0, NULL, "MPI tracing"},
	{'c', NULL, "on|static|off", 0, NULL, "instruction counts"},
	{'I', NULL, "DIR", 0, NULL, "instruction counts"},
	{'N', NULL, "LIBRARY", 0, NULL, "instruction counts"},
	{'r', NULL, "on|off", 0, NULL, "data race and deadlock detection"},
	{'j', NULL, "on|off|JDK", 0, NULL, "Java profiling"},
	{'J', NULL, "ARGUMENTS", 0, NULL, "Java profiling"},
	{'x', NULL, NULL, 0, NULL, "stopping the program for a debugger"},
	{'R', NULL, NULL, 0, NULL, "the release notes"},
};

enum { OPTION_COUNT = COUNT(kinds) + COUNT(others) };

/* In the order of the usage text. */
static const struct option *option_at(size_t index)
{
	return index < COUNT(kinds) ? kinds[index] : &others[index - COUNT(kinds)];
}

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

static size_t find_letter(char letter)
{
	size_t i = 0;

	while (i < OPTION_COUNT && option_at(i)->letter != letter)
		i++;
	return i;
}

static size_t find_name(const char *name, size_t length)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const char *known = option_at(i)->name;

		if (known && strlen(known) == length && !strncmp(known, name, length))
			return i;
	}
	return OPTION_COUNT;
}

/*
 * The option's index; OPTION_COUNT: it is none.  `*inline_argument`: what follows the sign in
 * --name=argument, or NULL.
 */
static size_t find(const char *word, const char **inline_argument)
{
	*inline_argument = NULL;
	if (!word[1])
		return OPTION_COUNT;
	if (word[1] != '-')
		return word[2] ? OPTION_COUNT : find_letter(word[1]);
	size_t length = strcspn(word + 2, "="), found = find_name(word + 2, length);

	if (found < OPTION_COUNT && word[2 + length])
		*inline_argument = word + 2 + length + 1;
	return found;
}

size_t options_length(char **word)
{
	const char *argument;
	size_t index = find(*word, &argument);

	return index < OPTION_COUNT && option_at(index)->argument && !argument && word[1] ? 2 : 1;
}

/* The long option that was probably meant by a word like --clok; NULL: none is near. */
static const char *guess(const char *word)
{
	const char *names[OPTION_COUNT];
	char name[64];
	size_t count = 0;

	if (word[1] != '-')
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_at(i)->name)
			names[count++] = option_at(i)->name;
	return suggest_closest(name, names, count);
}

static void unknown(struct option_parser *parser, const char *word)
{
	const char *near = guess(word);

	if (near)
		diag_add(parser->diags, DIAG_ERROR,
			 "unrecognized argument '%s': did you mean --%s?", word, near);
	else if (word[1] && word[1] != '-' && word[2])
		diag_add(parser->diags, DIAG_ERROR,
			 "unrecognized argument '%s': an option's argument is a word of its own, "
			 "'-%c %s'",
			 word, word[1], word + 2);
	else
		diag_add(parser->diags, DIAG_ERROR, "unrecognized argument '%s'", word);
}

/* An option of the family that asks for nothing which is not there anyway. */
static bool asks_nothing(const struct option *option, const char *argument)
{
	return !strcmp(argument, "off");
}

static bool take_later(struct option_parser *parser, const struct option *option,
		       const char *argument)
{
	if (argument && asks_nothing(option, argument))
		return true;
	diag_add(parser->diags, DIAG_ERROR,
		 "-%c (%s) is known but not available yet in this version; leave it out to "
		 "collect clock profiles",
		 option->letter, option->help);
	return false;
}

static bool take(struct option_parser *parser, size_t index, const char *word, const char *argument)
{
	const struct option *option = option_at(index);
	uint64_t bit = 1ull << index;

	if (!option->take)
		return take_later(parser, option, argument);
	if (option->argument && !argument && !(option->flags & OPTION_ALONE)) {
		diag_add(parser->diags, DIAG_ERROR, "%s requires an argument: %s", word,
			 option->argument);
		return false;
	}
	if (!option->argument && argument) {
		diag_add(parser->diags, DIAG_ERROR, "--%s takes no argument", option->name);
		return false;
	}
	if (option->flags & OPTION_ONCE && parser->seen & bit) {
		if (option->letter)
			diag_add(parser->diags, DIAG_ERROR, "Only one -%c argument may be used",
				 option->letter);
		else
			diag_add(parser->diags, DIAG_ERROR, "Only one --%s argument may be used",
				 option->name);
		return false;
	}
	parser->seen |= bit;
	return option->take(parser, argument);
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

enum status options_parse(struct options *options, char **argv, struct diag_list *diags)
{
	struct option_parser parser = {.options = options, .diags = diags};
	char **word = argv + 1;

	_Static_assert(OPTION_COUNT <= 64, "a bit for each in parser.seen");
	*options = (struct options){.clock_us = OPTIONS_CLOCK_ON_US,
				    .clock_first_us = OPTIONS_CLOCK_FIRST_US,
				    .sample_s = 1,
				    .follow = true,
				    .max_overhead = PARAMS_OVERHEAD_DEFAULT};
	if (!*word)
		options->action = OPTIONS_HELP;
	for (; *word && **word == '-'; word++) {
		const char *argument;

		if (!strcmp(*word, "--")) {
			word++;
			break;
		}
		size_t index = find(*word, &argument);

		if (index == OPTION_COUNT) {
			unknown(&parser, *word);
			return STATUS_INVALID;
		}
		const char *name = *word;

		if (option_at(index)->argument && !argument && word[1])
			argument = *++word;
		if (!take(&parser, index, name, argument))
			return STATUS_INVALID;
		if (options->action != OPTIONS_RUN)
			return STATUS_OK;
	}
	options->target = word;
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
	if (options->attach && *word) {
		diag_add(diags, DIAG_ERROR, "-P takes no target: '%s' would not be run", *word);
		return STATUS_INVALID;
	}
	if (options->action == OPTIONS_RUN && !*word && !options->attach) {
		diag_add(diags, DIAG_ERROR,
			 "no target given: name the program to measure after the options");
		return STATUS_INVALID;
	}
	return STATUS_OK;
}

/* Breaks the text at spaces so that it fills columns 30 to 100. */
static void add_wrapped(struct strbuf *out, const char *text)
{
	enum { INDENT = 30, WIDTH = 70 };

	while (strlen(text) > WIDTH) {
		size_t length = WIDTH;

		while (length > 1 && text[length] != ' ')
			length--;
		strbuf_add(out, text, length);
		strbuf_printf(out, "\n%*s", INDENT, "");
		text += length + 1;
	}
	strbuf_puts(out, text);
	strbuf_putc(out, '\n');
}

static void usage_row(const struct option *option, struct strbuf *out)
{
	struct strbuf left = {0};

	if (option->letter)
		strbuf_printf(&left, "  -%c, --%s", option->letter, option->name);
	else
		strbuf_printf(&left, "      --%s", option->name);
	if (option->argument)
		strbuf_printf(&left, " %s", option->argument);
	if (left.length < 29)
		strbuf_printf(out, "%-30s", left.text);
	else
		strbuf_printf(out, "%s\n%30s", left.text, "");
	add_wrapped(out, option->help);
	strbuf_fini(&left);
}

void options_usage(struct strbuf *out)
{
	strbuf_puts(out,
		    "Usage: helio collect [OPTIONS] PROGRAM [ARGUMENTS]\n"
		    "\n"
		    "Runs the program and records where its time goes, in an experiment directory\n"
		    "(test.1.er, test.2.er, ...) to be read with `helio print`.\n"
		    "\n"
		    "Options (each short one is a word of its own; -- ends them):\n");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_at(i)->take && option_at(i)->help)
			usage_row(option_at(i), out);
	strbuf_printf(
		out, "\nClock profiling intervals from %.3f to %.0f millisec. are possible here.\n",
		OPTIONS_CLOCK_MIN_US / 1000.0, OPTIONS_CLOCK_MAX_US / 1000.0);
	strbuf_puts(
		out,
		"\nThe exit status is the program's own (128 + signal if one killed it); 1: the\n"
		"command line is wrong; 125, 126, 127: the program could not be started.\n"
		"\nExample: helio collect -p hi -o sort.1.er sort big.txt\n");
}
