/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a run: understand the command line; look at the program, the
 * library and the kernel; only when nothing stands against it make the
 * experiment and start the program; wait; close and pack.  Everything that a
 * refusal could be about comes before anything is created.
 */
#include "launch/run/launch.h"

#include "base/command_line.h"
#include "base/folder.h"
#include "format/params.h"
#include "launch/attach/attach.h"
#include "launch/probe.h"
#include "launch/run/broker.h"
#include "launch/run/environment.h"
#include "launch/run/exit.h"
#include "launch/run/group.h"
#include "launch/run/ranks.h"
#include "launch/run/run.h"
#include "launch/run/samples.h"
#include "launch/run/scarcity.h"
#include "launch/run/show.h"
#include "launch/run/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct launch {
	struct arena arena;
	struct options options;
	struct target target;
	struct diag_list diags;
	struct new_experiment_system system;
	char **words;
	const char *library;
	const char *engine;
	struct strbuf engine_reason;
	char *name;  /* the experiment's */
	char *path;  /* its absolute path, once it exists */
	char *group; /* NULL: none */
	const char *params;
	bool old_name;
	launch_replace *replace;
	bool recorded; /* the program ran, and the experiment is whole */
	bool ran;      /* there is a summary of it */
	struct finish_summary summary;
	uint64_t mono_ns;
	struct run_result result;
	struct family family;
	int folder; /* the experiment's directory, or -1; the family closes it where it is open */
	struct broker *broker;
	bool family_open;
};

/* auto takes perf where it works, and otherwise remembers why not. */
static enum status choose_engine(struct launch *launch)
{
	enum options_engine asked = launch->options.engine;

	launch->engine = "monitor";
	if (!launch->options.clock_us || asked == OPTIONS_ENGINE_MONITOR)
		return STATUS_OK;
	if (probe_perf(&launch->engine_reason)) {
		launch->engine = "perf";
		return STATUS_OK;
	}
	if (asked == OPTIONS_ENGINE_AUTO)
		return STATUS_OK;
	diag_add(&launch->diags, DIAG_ERROR,
		 "The perf engine cannot be used: %s; --engine monitor works without it",
		 launch->engine_reason.text);
	return STATUS_INVALID;
}

static const char *engine_reason(const struct launch *launch)
{
	return launch->engine_reason.length ? launch->engine_reason.text : "";
}

static enum status find_target(struct launch *launch)
{
	return target_java_find(&launch->target, launch->options.target, &launch->options.java,
				&launch->arena, &launch->diags);
}

/* Everything that can be known before anything is created; 0 or an exit code. */
static int prepare(struct launch *launch)
{
	if (find_target(launch) != STATUS_OK)
		return launch->target.exit_code;
	launch->library = environment_find_library(
		&launch->arena,
		options_wrap(&launch->options) ? PARAMS_LIBRARY_NAME_TRACE : PARAMS_LIBRARY_NAME,
		&launch->diags);
	if (!launch->library || choose_engine(launch) != STATUS_OK)
		return LAUNCH_EXIT_FAILED;
	new_experiment_read_system(&launch->system);
	if (new_experiment_name(&launch->options, &launch->name, &launch->diags) != STATUS_OK)
		return LAUNCH_EXIT_USAGE;
	if (launch->options.group) {
		launch->group = new_experiment_place(&launch->options, launch->options.group);
		if (group_check(launch->group, &launch->diags) != STATUS_OK)
			return LAUNCH_EXIT_USAGE;
	}
	if (counter_prepare(&launch->options.counters, launch->target.path, &launch->diags) ||
	    counter_param(&launch->options.counters, launch->options.trace[TRACE_COUNTER],
			  &launch->diags))
		return LAUNCH_EXIT_USAGE;
	if (!launch->options.clock_us && !options_trace(&launch->options))
		diag_add(&launch->diags, DIAG_WARNING,
			 "No function level data requested; only statistics will be collected");
	return 0;
}

static struct show_run shown(const struct launch *launch)
{
	return (struct show_run){
		.options = &launch->options,
		.system = &launch->system,
		.name = launch->name,
		.engine = launch->engine,
		.engine_reason = engine_reason(launch),
		.params = launch->params,
		.argv = launch->target.argv,
	};
}

static void show_run(FILE *file, const struct launch *launch)
{
	struct show_run run = shown(launch);

	show_parameters(file, &run);
	if (launch->options.dry_run)
		show_dry_end(file, &run);
}

/* Makes the experiment with all that the launcher writes into it. */
static enum status create(struct launch *launch)
{
	struct timespec wall;

	enum status status = new_experiment_create(&launch->options, launch->replace, &launch->name,
						   &launch->folder, &launch->diags);

	if (status != STATUS_OK)
		return status;
	launch->mono_ns = run_now_ns();
	clock_gettime(CLOCK_REALTIME, &wall);
	struct new_experiment_log log = {
		.options = &launch->options,
		.system = &launch->system,
		.engine_reason = engine_reason(launch),
		.words = launch->words,
		.argv = launch->target.argv,
		.mono_ns = launch->mono_ns,
		.wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec,
	};

	status = new_experiment_write(launch->folder, launch->name, &log, &launch->diags);
	if (status == STATUS_OK)
		launch->path = new_experiment_path(launch->folder, launch->name, &launch->diags);
	if (launch->path)
		return STATUS_OK;
	new_experiment_remove(launch->folder, launch->name);
	return STATUS_IO;
}

static bool in_window(const struct options *options, uint64_t time_ns)
{
	uint64_t ms = time_ns / 1000000;

	return !options->window || (ms >= options->window_start_ms &&
				    (!options->window_end_ms || ms < options->window_end_ms));
}

static void announce(void *context, pid_t pid)
{
	const struct launch *launch = context;
	struct show_run run = shown(launch);

	if (!launch->options.quiet)
		show_start(stderr, &run, pid, launch->old_name);
}

static void on_start(void *context, pid_t pid)
{
	struct launch *launch = context;

	if (launch->group)
		group_add(launch->group, launch->path, &launch->diags);
}

/* pid: the program's process. */
static void open_family(struct launch *launch, pid_t pid)
{
	if (!launch->family_open)
		family_open(&launch->family, launch->folder, pid, launch->mono_ns);
	launch->family_open = true;
}

static void on_tick(void *context, pid_t pid)
{
	struct launch *launch = context;
	uint64_t time_ns = run_now_ns() - launch->mono_ns;

	open_family(launch, pid);
	if (in_window(&launch->options, time_ns))
		samples_take(&launch->family, time_ns);
}

static int exec_failed(struct launch *launch, int error)
{
	diag_add(&launch->diags, DIAG_ERROR, "exec of %s failed: %s", launch->target.path,
		 strerror(error));
	return error == ENOENT || error == ENOTDIR ? LAUNCH_EXIT_NOT_FOUND
						   : LAUNCH_EXIT_NOT_RUNNABLE;
}

/* Runs the program; 0, or an exit code if it did not run. */
static int run(struct launch *launch, char **environment)
{
	launch->broker = broker_open(launch->folder);
	const uint64_t *key = broker_key(launch->broker);
	char *params = arena_printf(&launch->arena, "%s%s",
				    environment_params(&launch->arena, &launch->options,
						       launch->engine, launch->mono_ns),
				    environment_place(&launch->arena, launch->folder));

	environment_add_param(&launch->arena, &params, PARAMS_LAUNCHER,
			      arena_printf(&launch->arena, "%" PRIu64 ",%" PRIu64, key[0], key[1]));

	struct environment_request variables = {
		.library = launch->library,
		.experiment = launch->path,
		.params = params,
		.follow_regex = launch->options.follow_regex,
		.more = launch->options.ranks && !launch->target.is_script
				? ranks_handed_on(launch->target.argv, environment)
				: NULL,
	};
	struct run_request request = {
		.path = launch->target.path,
		.argv = launch->target.argv,
		.environment = scarce_memory()
				       ? environment
				       : environment_build(&launch->arena, environment, &variables),
		.announce = announce,
		.started = on_start,
		.tick_s = launch->options.sample_s,
		.tick = on_tick,
		.context = launch,
		.broker = launch->broker,
	};
	int error = 0;

	bool ran = run_program(&request, &launch->result, &launch->diags) == STATUS_OK;

	broker_hide(launch->broker);
	if (!ran)
		return LAUNCH_EXIT_FAILED;
	error = launch->result.exec_errno;
	return error ? exec_failed(launch, error) : 0;
}

static int exit_code(int wait_status)
{
	return WIFSIGNALED(wait_status) ? LAUNCH_EXIT_SIGNAL + WTERMSIG(wait_status)
					: WEXITSTATUS(wait_status);
}

/* Nothing was recorded: why. */
static void explain_silence(struct launch *launch, int error)
{
	if (error)
		diag_add(&launch->diags, DIAG_WARNING,
			 "The experiment could not be begun in the program, which ran unrecorded: "
			 "%s (-d DIR makes it elsewhere)",
			 strerror(error));
	else if (scarce_memory())
		diag_add(&launch->diags, DIAG_WARNING,
			 "A limit of memory (ulimit -d, -v, -s) leaves no room for the collector: "
			 "the "
			 "program ran unrecorded");
	else
		diag_add(&launch->diags, DIAG_WARNING,
			 "The collector did not start inside the program: nothing was recorded for "
			 "it (%s)",
			 getenv(PARAMS_ENV_EXPERIMENT)
				 ? "this command is being collected itself, and the program with it"
				 : "does something take LD_PRELOAD out of its environment?");
}

/* Whoever was not recorded for that cannot say so: its log would be what it asked for. */
static void warn_of_broker(struct launch *launch)
{
	static const char text[] =
		"helio was asked for files by questions that do not end, and does not answer any "
		"more: processes that moved their root or gave up root since are not recorded";

	if (!broker_gave_up(launch->broker))
		return;
	launch->result.warning = text;
	diag_add(&launch->diags, DIAG_WARNING, "%s", text);
}

/* Closes and packs the experiment of a program that ran. */
static void finish(struct launch *launch)
{
	struct finish_summary summary;
	uint64_t duration_ns = launch->result.end_ns - launch->mono_ns;

	struct stat st;

	open_family(launch, launch->result.pid);
	if (fstat(launch->family.folder, &st) || !st.st_nlink) {
		diag_add(&launch->diags, DIAG_WARNING, "Experiment %s is not there any more: %s",
			 launch->name, strerror(ENOENT));
		return;
	}
	finish_find_again(&launch->family, launch->path, launch->name, &launch->diags);
	launch->family.founder_reaped = true;
	family_await_apart(&launch->family);
	warn_of_broker(launch);
	finish_log(&launch->family, &launch->result, duration_ns, &launch->diags);
	finish_pack(&launch->family, &summary, &launch->diags);
	if (target_is_go(launch->target.path) && launch->options.clock_us && !launch->options.quiet)
		diag_add(&launch->diags, DIAG_NOTE, TARGET_GO_STACKS);
	if (launch->options.ranks && summary.processes > 1) {
		summary.recorded = true;
		summary.processes--; /* the launcher */
	}
	if (!summary.recorded && launch->options.ranks)
		diag_add(&launch->diags, DIAG_WARNING,
			 "No rank of an MPI program was recorded: where %s starts none on this "
			 "machine, -M off records the program itself",
			 launch->options.target[0]);
	else if (!summary.recorded)
		explain_silence(launch, summary.error);
	launch->recorded = summary.recorded;
	launch->summary = summary;
	launch->ran = true;
}

/* The program takes this process's place; returns an exit code if it cannot. */
static int run_unrecorded(struct launch *launch, const char *reason, char **environment)
{
	if (find_target(launch) != STATUS_OK)
		return launch->target.exit_code;
	diag_add(&launch->diags, DIAG_WARNING, "%s: the program runs unrecorded", reason);
	show_diags(stderr, &launch->diags);
	run_restore_file_limit();
	execve(launch->target.path, launch->target.argv, environment);
	return exec_failed(launch, errno);
}

static int collect(struct launch *launch, char **environment)
{
	const char *scarce = launch->options.dry_run ? NULL : scarce_room();

	if (scarce)
		return run_unrecorded(launch, scarce, environment);
	int code = prepare(launch);

	if (code)
		return code;
	launch->params = environment_params(&launch->arena, &launch->options, launch->engine, 0);
	show_diags(stderr, &launch->diags);
	if (launch->options.dry_run) {
		if (launch->options.verbose)
			show_version(stdout);
		show_run(stdout, launch);
		return fflush(stdout) ? LAUNCH_EXIT_FAILED : 0;
	}
	if (launch->options.verbose) {
		show_version(stderr);
		show_run(stderr, launch);
	}
	if (create(launch) != STATUS_OK)
		return LAUNCH_EXIT_FAILED;
	code = run(launch, environment);
	if (code) {
		new_experiment_remove(launch->folder, launch->path);
		return code;
	}
	finish(launch);
	return exit_code(launch->result.wait_status);
}

static void launch_fini(struct launch *launch)
{
	/* So late: descendants that end with the founder have something to say, too. */
	broker_close(launch->broker);
	if (launch->family_open)
		family_close(&launch->family);
	else if (launch->folder >= 0)
		close(launch->folder);
	free(launch->name);
	free(launch->path);
	free(launch->group);
	strbuf_fini(&launch->engine_reason);
	target_fini(&launch->target);
	diag_fini(&launch->diags);
	arena_fini(&launch->arena);
}

int launch_collect(char **argv, struct launch_call *call)
{
	struct launch launch = {
		.folder = -1, .words = argv, .old_name = call->old_name, .replace = call->replace};
	int code = LAUNCH_EXIT_USAGE;

	run_ignore_file_limit(); /* messages may go to a file, too */
	if (options_parse(&launch.options, argv, &launch.diags) != STATUS_OK) {
		show_diags(stderr, &launch.diags);
		command_line_advise("helio collect");
	} else if (launch.options.action == OPTIONS_HELP) {
		command_line_help(&options_syntax, "helio collect");
		code = 0;
	} else if (launch.options.action == OPTIONS_VERSION) {
		show_version(stdout);
		code = 0;
	} else if (launch.options.action == OPTIONS_COUNTERS) {
		counter_show_all(stdout);
		code = 0;
	} else if (launch.options.attach) {
		code = launch_attach_to(&launch.options, argv, call->attached, call->replace);
	} else {
		code = collect(&launch, environ);
	}
	show_diags(stderr, &launch.diags);
	call->folder = launch.recorded ? folder_open_below(launch.folder, "") : -1;
	call->experiment = call->folder >= 0 ? launch.path : NULL;
	if (call->experiment)
		launch.path = NULL;
	call->archive = launch.options.archive;
	call->archive_newer = launch.options.archive_newer;
	call->quiet = launch.options.quiet;
	call->view = launch.options.view;
	call->program = "helio collect";
	if (launch.ran) {
		call->name = xstrdup(launch.name);
		call->summary = launch.summary;
		call->limit = show_limit_of(&launch.options);
		call->seconds = (double)(launch.result.end_ns - launch.mono_ns) / 1e9;
	}
	launch_fini(&launch);
	return code;
}
