/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines and what they mean; the expected texts are those of the collect commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/params.h"
#include "launch/options.h"
#include "launch/run/environment.h"
#include "launch/run/ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct options options;
static char said[4096];

/* Splits the line at spaces, parses it, and keeps the messages in `said`. */
static enum status parse(const char *line)
{
	static char copy[1024];
	static char *argv[64];
	struct diag_list diags = {0};
	char *rest = copy;
	size_t count = 1;

	strncpy(copy, line, sizeof(copy) - 1);
	argv[0] = (char *)"collect";
	for (char *word; (word = strsep(&rest, " ")) && *line;)
		argv[count++] = strcmp(word, "''") ? word : word + 2;
	argv[count] = NULL;
	enum status status = options_parse(&options, argv, &diags);

	said[0] = '\0';
	for (size_t i = 0; i < diags.count; i++) {
		strncat(said, diags.items[i].text, sizeof(said) - strlen(said) - 2);
		strncat(said, "\n", 2);
	}
	diag_fini(&diags);
	return status;
}

static void accept(const char *line)
{
	if (parse(line) != STATUS_OK)
		fail_msg("'%s' is refused: %s", line, said);
}

static void refuse(const char *line, const char *text)
{
	if (parse(line) == STATUS_OK)
		fail_msg("'%s' is accepted", line);
	if (strncmp(said, text, strlen(text)))
		fail_msg("'%s' says '%s', not '%s'", line, said, text);
}

static void test_defaults(void **state)
{
	accept("prog -p off");
	assert_int_equal(options.action, OPTIONS_RUN);
	assert_int_equal(options.clock_us, 10007);
	assert_int_equal(options.clock_first_us, 997);
	assert_int_equal(options.sample_s, 1);
	assert_true(options.follow);
	assert_null(options.follow_regex);
	assert_null(options.output);
	assert_false(options.window);
	assert_int_equal(options.engine, OPTIONS_ENGINE_AUTO);
	assert_string_equal(options.target[0], "prog");
	assert_string_equal(options.target[1], "-p");
	assert_string_equal(options.target[2], "off");
	assert_null(options.target[3]);
}

static void test_clock(void **state)
{
	static const struct {
		const char *line;
		uint32_t us;
		const char *said;
	} cases[] = {
		{"-p on x", 10007, ""},
		{"-p off x", 0, ""},
		{"-p lo x", 100003, ""},
		{"-p low x", 100003, ""},
		{"-p hi x", 997, ""},
		{"-p high x", 997, ""},
		{"-p h x", 997, ""},
		{"-p 20 x", 20000, ""},
		{"-p 1.5m x", 1500, ""},
		{"-p 0.997 x", 997, ""},
		{"-p 500u x", 500, ""},
		{"-p 100u x", 100, ""},
		{"-p 1000 x", 1000000, ""},
		{"--clock 1ms x", 1000, ""},
		{"--clock=500us x", 500, ""},
		{"--clock 1s x", 1000000, ""},
		{"-p 10u x", 10, ""},
		{"-p 9u x", 10,
		 "Clock profiling at 0.009 millisec. interval is not supported on this system; "
		 "minimum 0.010 millisec. used\n"},
		{"-p 5000 x", 1000000,
		 "Clock profiling at 5000 millisec. interval is not supported on this system; "
		 "maximum 1000.000 millisec. used\n"},
		{"-p 150.5u x", 150,
		 "Clock profiling at 0.1505 millisec. interval is not supported on this system; "
		 "rounded down to 0.150 millisec. used\n"},
		{"-p +on x", 10007,
		 "clock-based memoryspace and dataspace profiling is no longer supported\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		accept(cases[i].line);
		assert_int_equal(options.clock_us, cases[i].us);
		/* Only the word for the default means that the interval grows. */
		assert_int_equal(options.clock_first_us, cases[i].us == 10007 ? 997 : 0);
		assert_string_equal(said, cases[i].said);
	}
	static const char *const junk[] = {"-p foo x", "-p 0 x",   "-p -1 x",	 "-p 0x10 x",
					   "-p inf x", "-p nan x", "-p 5k x",	 "-p 1e3 x",
					   "-p '' x",  "-p . x",   "-p 1.5.2 x", "-p High x"};

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		refuse(junk[i], "Unrecognized clock-profiling interval '");
}

static void test_sample(void **state)
{
	accept("-S on x");
	assert_int_equal(options.sample_s, 1);
	accept("-S off x");
	assert_int_equal(options.sample_s, 0);
	accept("--sample 30 x");
	assert_int_equal(options.sample_s, 30);
	refuse("-S 0 x", "Unrecognized sample period '0'\n");
	refuse("-S 1.5 x", "Unrecognized sample period '1.5'\n");
	refuse("-S -1 x", "Unrecognized sample period '-1'\n");
	refuse("-S foo x", "Unrecognized sample period 'foo'\n");
}

static void test_follow(void **state)
{
	accept("-F off x");
	assert_false(options.follow);
	accept("-F all x");
	assert_true(options.follow);
	accept("-F '' x");
	assert_true(options.follow);
	accept("--follow =(cc1|as) x");
	assert_true(options.follow);
	assert_string_equal(options.follow_regex, "(cc1|as)");
	refuse("-F =( x", "Unrecognized follow-mode parameter '=('\n");
	refuse("-F foo x", "Unrecognized follow-mode parameter 'foo'\n");
}

static void test_window(void **state)
{
	static const struct {
		const char *line;
		uint64_t start;
		uint64_t end;
	} cases[] = {
		{"-t 10 x", 0, 10000},	      {"-t 10s x", 0, 10000},	     {"-t 5m x", 0, 300000},
		{"-t 2-3 x", 2000, 3000},     {"-t 1m-90s x", 60000, 90000}, {"-t -7 x", 0, 7000},
		{"--duration 7- x", 7000, 0}, {"--duration 0.25 x", 0, 250}, {"-t 300ms x", 0, 300},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		accept(cases[i].line);
		assert_true(options.window);
		assert_int_equal(options.window_start_ms, cases[i].start);
		assert_int_equal(options.window_end_ms, cases[i].end);
	}
	accept("-t 0 x");
	assert_false(options.window);
	refuse("-t 5-3 x",
	       "Invalid time parameter '5-3': start time must be earlier than end time\n");
	refuse("-t 5-5 x",
	       "Invalid time parameter '5-5': start time must be earlier than end time\n");
	refuse("-t foo x", "Unrecognized time parameter 'foo'\n");
	refuse("-t 5-8x x", "Unrecognized time parameter '5-8x'\n");
	refuse("-t - x", "Unrecognized time parameter '-'\n");
	refuse("-t '' x", "Unrecognized time parameter ''\n");
}

static void test_signals(void **state)
{
	static const struct {
		const char *line;
		int sample, pause;
		bool paused;
	} cases[] = {
		{"-l USR1 x", SIGUSR1, 0, false},
		{"-l SIGUSR1 x", SIGUSR1, 0, false},
		{"-l sigusr2 x", SIGUSR2, 0, false},
		{"-l 12 x", SIGUSR2, 0, false},
		{"-y USR2 x", 0, SIGUSR2, true},
		{"-y USR2,r x", 0, SIGUSR2, false},
		{"-l INT -y 10 x", SIGINT, SIGUSR1, true},
		{"--sample-signal RTMIN+0 x", 34, 0, false},
		{"--pause-signal=SIGRTMIN+5,r x", 0, 39, false},
	};
	static const char *const junk[] = {"KILL", "SIGKILL", "9",  "STOP",   "SEGV", "TRAP",
					   "PROF", "0",	      "65", "-1",     "32",   "63",
					   "foo",  "SIG",     "''", "USR1,r", "10x"};
	char line[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		accept(cases[i].line);
		assert_int_equal(options.sample_signal, cases[i].sample);
		assert_int_equal(options.pause_signal, cases[i].pause);
		assert_int_equal(options.begin_paused, cases[i].paused);
	}
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		snprintf(line, sizeof(line), "-l %s x", junk[i]);
		refuse(line, "Invalid sample signal '");
	}
	refuse("-y KILL x", "Invalid delay signal 'KILL'\n");
	refuse("-y USR1, x", "Invalid delay signal 'USR1,'\n");
	refuse("-y USR1,p x", "Invalid delay signal 'USR1,p'\n");
	refuse("-l USR1 -y 10 x",
	       "Invalid delay signal 'USR1': it is the sample signal (-l) as well\n");
	refuse("-l USR1 -l USR2 x", "Only one -l argument may be used\n");
}

static void test_size_limit(void **state)
{
	accept("-L 20 x");
	assert_int_equal(options.size_limit_mb, 20);
	accept("--size-limit unlimited x");
	assert_int_equal(options.size_limit_mb, 0);
	accept("-L none x");
	refuse("-L 0 x", "Unrecognized experiment size limit '0'\n");
	refuse("-L -5 x", "Unrecognized experiment size limit '-5'\n");
	refuse("-L 1.5 x", "Unrecognized experiment size limit '1.5'\n");
}

static void test_places(void **state)
{
	accept("-d /tmp -g runs.erg x");
	assert_string_equal(options.directory, "/tmp");
	assert_string_equal(options.group, "runs.erg");
	refuse("-d /nosuch x", "Can't set directory '/nosuch': No such file or directory");
	refuse("-d /dev/null x", "Can't set directory '/dev/null': Not a directory");
	refuse("-g runs.er x", "An experiment group's name must end in '.erg', not 'runs.er'\n");
	refuse("-g .erg x", "An experiment group's name must end in '.erg', not '.erg'\n");
	refuse("-g d/.erg x", "An experiment group's name must end in '.erg', not 'd/.erg'\n");
}

static void test_archive(void **state)
{
	accept("x");
	assert_string_equal(options.archive, "on");
	assert_false(options.archive_newer);
	accept("-A copy x");
	assert_string_equal(options.archive, "copy");
	accept("-a USEDsrc x");
	assert_string_equal(options.archive, "usedsrc");
	assert_true(options.archive_newer);
	refuse("-A ldobjects x", "Unrecognized archive-mode parameter 'ldobjects'\n");
	refuse("-a copy x", "Unrecognized archive-mode parameter 'copy'\n");
	refuse("-A on -a on x", "Only one -A or -a argument may be used\n");
}

static void test_output(void **state)
{
	accept("-o dir/a.er x");
	assert_string_equal(options.output, "dir/a.er");
	assert_false(options.overwrite);
	accept("--overwrite a.er/ x");
	assert_true(options.overwrite);
	refuse("-o foo x", "Experiment name 'foo' must end in '.er'\n");
	refuse("-O foo.erg x", "Experiment name 'foo.erg' must end in '.er'\n");
	refuse("-o .er x", "Experiment name '.er' must end in '.er'\n");
	refuse("-o d/.er x", "Experiment name 'd/.er' must end in '.er'\n");
	refuse("-o a.er -O b.er x", "Only one -o or -O argument may be used\n");
	refuse("-o a.er -o b.er x", "Only one -o or -O argument may be used\n");
}

static void test_comments(void **state)
{
	accept("-C a --comment b x");
	assert_int_equal(options.comment_count, 2);
	assert_string_equal(options.comments[1], "b");
	accept("-C 1 -C 2 -C 3 -C 4 -C 5 -C 6 -C 7 -C 8 -C 9 -C 10 x");
	refuse("-C 1 -C 2 -C 3 -C 4 -C 5 -C 6 -C 7 -C 8 -C 9 -C 10 -C 11 x",
	       "No more than 10 comments may be specified\n");
}

static void test_only_one(void **state)
{
	refuse("-p on -p on x", "Only one -p argument may be used\n");
	refuse("-p on --clock on x", "Only one -p argument may be used\n");
	refuse("-S on -S on x", "Only one -S argument may be used\n");
	refuse("-F on -F on x", "Only one -F argument may be used\n");
	refuse("-t 1 -t 1 x", "Only one -t argument may be used\n");
	refuse("--engine perf --engine perf x", "Only one --engine argument may be used\n");
	accept("-n -n -v -v -q -q x");
	assert_true(options.dry_run && options.verbose && options.quiet);
}

static void test_words(void **state)
{
	refuse("-pon x", "unrecognized argument '-pon': an option's argument is a word of its own, "
			 "'-p on'\n");
	refuse("-z x", "unrecognized argument '-z'\n");
	refuse("- x", "unrecognized argument '-'\n");
	refuse("--clok 1ms x", "unrecognized argument '--clok': did you mean --clock?\n");
	refuse("--oupput=a.er x",
	       "unrecognized argument '--oupput=a.er': did you mean --output?\n");
	refuse("--xyz x", "unrecognized argument '--xyz'\n");
	refuse("--p on x", "unrecognized argument '--p': did you mean --pause-signal?\n");
	refuse("-p", "-p requires an argument: off|lo|hi|on|N[m|u]\n");
	refuse("--output", "--output requires an argument: NAME.er\n");
	refuse("--verbose=on x", "--verbose takes no argument\n");
	refuse("-n", "no target given");
	refuse("-p on --", "no target given");
	accept("-p on -- -n x");
	assert_string_equal(options.target[0], "-n");
	accept("--engine monitor --depth 64 x");
	assert_int_equal(options.engine, OPTIONS_ENGINE_MONITOR);
	assert_int_equal(options.depth, 64);
	refuse("--engine fast x", "The engine must be auto, perf or monitor, not 'fast'\n");
	refuse("--depth 0 x", "Unrecognized call stack depth '0'\n");
}

static void test_max_overhead(void **state)
{
	static const char *const junk[] = {"0", "91", "-1", "5.5", "%", "20%%", "on", "4294967301"};

	accept("x");
	assert_int_equal(options.max_overhead, 20);
	accept("--max-overhead 5 x");
	assert_int_equal(options.max_overhead, 5);
	accept("--max-overhead=90% x");
	assert_int_equal(options.max_overhead, 90);
	accept("--max-overhead off x");
	assert_int_equal(options.max_overhead, 0);
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		char command[64], expected[128];

		snprintf(command, sizeof(command), "--max-overhead %s x", junk[i]);
		snprintf(expected, sizeof(expected),
			 "--max-overhead takes a percentage from 1 to 90 or off, not '%s'\n",
			 junk[i]);
		refuse(command, expected);
	}
	refuse("--max-overhead 5 --max-overhead 6 x",
	       "Only one --max-overhead argument may be used\n");
}

static void test_actions(void **state)
{
	accept("");
	assert_int_equal(options.action, OPTIONS_HELP);
	accept("--help");
	assert_int_equal(options.action, OPTIONS_HELP);
	accept("-V");
	assert_int_equal(options.action, OPTIONS_VERSION);
	accept("--version -z");
	assert_int_equal(options.action, OPTIONS_VERSION);
}

static void test_heap(void **state)
{
	accept("-H on x");
	assert_string_equal(options.trace[TRACE_HEAP], "all");
	assert_true(options_trace(&options) && options_wrap(&options));
	accept("-H on,noscan x");
	assert_string_equal(options.trace[TRACE_HEAP], "all,noscan");
	accept("--heap=sample=512k x");
	assert_string_equal(options.trace[TRACE_HEAP], "524288");
	accept("-H sample=1 x");
	assert_string_equal(options.trace[TRACE_HEAP], "1");
	accept("-H off x");
	assert_false(options_trace(&options));
	refuse("-H 512k x", "Unrecognized heap tracing parameter '512k'");
	refuse("-H sample=0 x", "Unrecognized heap tracing parameter 'sample=0'");
	refuse("-H sample=5q x", "Unrecognized heap tracing parameter 'sample=5q'");
}

static void test_io(void **state)
{
	accept("-i on x");
	assert_string_equal(options.trace[TRACE_IO], "on");
	assert_true(options_wrap(&options));
	accept("--io=off x");
	assert_false(options_trace(&options));
	refuse("-i 1 x", "Unrecognized I/O tracing parameter '1'");
}

static void test_mpi(void **state)
{
	accept("-m on x");
	assert_string_equal(options.trace[TRACE_MPI], "on");
	assert_false(options.ranks);
	refuse("-m perhaps x", "Unrecognized MPI tracing parameter");
	static const char *const launchers[] = {"mpirun", "/usr/bin/mpirun.openmpi",
						"mpiexec.hydra", "orterun", "srun"};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		char line[64];

		snprintf(line, sizeof(line), "%s -np 4 x", launchers[i]);
		accept(line);
		assert_true(options.ranks);
		assert_string_equal(options.trace[TRACE_MPI], "");
	}
	accept("mpirunner x");
	assert_false(options.ranks);
	accept("-F off mpirun x");
	assert_false(options.ranks);
	accept("-M off mpirun x");
	assert_false(options.ranks);
	accept("-M MPICH2 start -np 4 -- x -- y");
	assert_true(options.ranks);
	assert_string_equal(options.trace[TRACE_MPI], "on");
	assert_string_equal(options.target[3], "x");
	assert_string_equal(options.target[4], "--");
	accept("-m off -M ct8.2 start x");
	assert_string_equal(options.trace[TRACE_MPI], "");
	refuse("-M on x", "Unrecognized MPI version 'on'");
}

static void test_later_options(void **state)
{
	static const char letters[] = "cINrxR";
	char line[] = "-? on x";

	for (const char *letter = letters; *letter; letter++) {
		line[1] = *letter;
		char text[] = "-? (";

		text[1] = *letter;
		refuse(line, text);
		assert_non_null(strstr(said, "is known but not available yet in this version"));
	}
	accept("-p 10007u x");
	assert_int_equal(options.clock_us, 10007);
	assert_int_equal(options.clock_first_us, 0);
	/* An old command line that switches off what is not there. */
	accept("-h off -H off -s off -j off -p hi x");
	assert_int_equal(options.clock_us, 997);
}

static void test_java(void **state)
{
	accept("java");
	assert_false(options.java_off);
	assert_null(options.java.jdk);
	accept("-j on java");
	assert_false(options.java_off);
	accept("-j off java");
	assert_true(options.java_off);
	accept("-j /tmp -J -Xint java");
	assert_false(options.java_off);
	assert_string_equal(options.java.jdk, "/tmp");
	assert_string_equal(options.java.arguments, "-Xint");
	refuse("-j maybe java", "-j takes on, off or the directory of a JDK, not 'maybe'");
}

static void test_usage_names_all(void **state)
{
	static const char *const names[] = {"-p, --clock",     "-S, --sample",
					    "-F, --follow",    "-o, --output",
					    "-O, --overwrite", "-C, --comment",
					    "-t, --duration",  "--engine",
					    "-P, --attach",    "-n, --dry-run",
					    "-v, --verbose",   "-V, --version",
					    "--help",	       "from 0.010 to 1000 millisec."};
	struct strbuf text = {0};

	option_help(&options_syntax, "helio collect", &text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(strstr(text.text, names[i]));
	assert_null(strstr(text.text, "(null)"));
	strbuf_fini(&text);
}

static void test_depth_from_environment(void **state)
{
	setenv("SP_COLLECTOR_STACKBUFSZ", "77", 1);
	accept("x");
	assert_int_equal(options.depth, 77);
	accept("--depth 5 x");
	assert_int_equal(options.depth, 5);
	setenv("SP_COLLECTOR_STACKBUFSZ", "many", 1);
	accept("x");
	assert_int_equal(options.depth, 0);
	unsetenv("SP_COLLECTOR_STACKBUFSZ");
}

static void test_params(void **state)
{
	struct arena arena = {0};

	accept("-p 1 -F off -t 2-3 --depth 9 x");
	assert_string_equal(environment_params(&arena, &options, "perf", 123),
			    "p:1000;e:perf;F:off;s:123;t:2000-3000;n:9;");
	accept("-l USR1 -y USR2 -L 7 x");
	assert_string_equal(environment_params(&arena, &options, "perf", 0),
			    "p:997-10007;e:perf;F:on;g:10;d:12p;L:7;");
	accept("-p off x");
	assert_string_equal(environment_params(&arena, &options, "monitor", 0),
			    "p:0;e:monitor;F:on;");
	arena_fini(&arena);
}

static void test_environment(void **state)
{
	struct arena arena = {0};
	char *old[] = {(char *)"A=1",
		       (char *)"LD_PRELOAD=/x.so /lib/c.so:/y.so",
		       (char *)"HELIO_COLLECTOR_FOLLOW=old",
		       (char *)"HELIO_COLLECTOR_PARAMS=old",
		       (char *)"B=",
		       NULL};
	struct environment_request request = {
		.library = "/lib/c.so", .experiment = "/e/test.1.er", .params = "p:1;"};
	static const char *const expected[] = {"A=1",
					       "B=",
					       "LD_PRELOAD=/lib/c.so:/x.so:/y.so",
					       "HELIO_COLLECTOR_PARAMS=p:1;",
					       "HELIO_COLLECTOR_EXPERIMENT=/e/test.1.er",
					       "HELIO_COLLECTOR_LINEAGE=",
					       "HELIO_COLLECTOR_LIBRARY=/lib/c.so"};
	const size_t count = sizeof(expected) / sizeof(expected[0]);
	char **list = environment_build(&arena, old, &request);

	for (size_t i = 0; i < count; i++) {
		if (strstr(expected[i],
			   "LINEAGE=")) /* padded: the collector writes over the blanks */
			assert_int_equal(strlen(list[i]),
					 strlen(expected[i]) + PARAMS_LINEAGE_ROOM);
		assert_memory_equal(list[i], expected[i], strlen(expected[i]));
	}
	assert_null(list[count]);
	request.follow_regex = "a|b";
	assert_string_equal(environment_build(&arena, old, &request)[count],
			    "HELIO_COLLECTOR_FOLLOW=^(a|b)$");
	arena_fini(&arena);
}

static void test_handed_on(void **state)
{
	char *plain[] = {(char *)"mpirun", (char *)"-np", (char *)"2", (char *)"./a", NULL};
	char *told[] = {(char *)"mpirun", (char *)"-x", (char *)"A", (char *)"./a", NULL};
	char *nothing[] = {(char *)"A=1", NULL};
	char *own[] = {(char *)"OMPI_MCA_mca_base_env_list=A", NULL};
	char *delimiter[] = {(char *)"OMPI_MCA_mca_base_env_list_delimiter=,", NULL};
	char *others[][2] = {{(char *)"/usr/bin/mpirun.mpich", NULL},
			     {(char *)"mpiexec.hydra", NULL},
			     {(char *)"srun", NULL},
			     {(char *)"./run-it", NULL}};
	char *in_file[] = {(char *)"/usr/bin/mpirun.openmpi", (char *)"--app", (char *)"file",
			   NULL};
	const char *entry = ranks_handed_on(plain, nothing);

	assert_non_null(strstr(entry, "OMPI_MCA_mca_base_env_list=LD_PRELOAD;HELIO_COLLECTOR_"));
	assert_non_null(strstr(entry, PARAMS_ENV_LINEAGE));
	assert_null(ranks_handed_on(told, nothing));
	assert_null(ranks_handed_on(plain, own));
	assert_null(ranks_handed_on(plain, delimiter));
	assert_null(ranks_handed_on(in_file, nothing));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_null(ranks_handed_on(others[i], nothing));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_archive),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_only_one),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_mpi),
		cmocka_unit_test(test_later_options),
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_usage_names_all),
		cmocka_unit_test(test_depth_from_environment),
		cmocka_unit_test(test_max_overhead),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_handed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
