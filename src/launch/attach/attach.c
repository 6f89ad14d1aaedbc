/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each named process gets an experiment, each of its living descendants (--tree) one
 * in there, as if it had been forked under our eyes.  Then we wait: for a signal, for the
 * end of --for, or for the last process to end.  What still runs by then is
 * detached from, children that were born meanwhile included.
 *
 * Signals are taken from a descriptor and blocked all the time: helio must not die
 * while a thread of a program is in our hands.
 */
#include "launch/attach/attach.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/command_line.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "format/files.h"
#include "format/params.h"
#include "launch/attach/attach_check.h"
#include "launch/attach/attach_process.h"
#include "launch/options_private.h"
#include "launch/proc.h"
#include "launch/run/environment.h"
#include "launch/run/exit.h"
#include "launch/run/finish.h"
#include "launch/run/new_experiment.h"
#include "launch/run/run.h"
#include "launch/run/samples.h"
#include "launch/run/show.h"
#include "launch/run/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const char program_name[] = "helio attach";

/* One of the named processes. */
struct session {
	pid_t pid;
	char *name; /* of the experiment */
	char *path;
	char **argv; /* the program's */
	uint64_t mono_ns;
	bool recorded;
	bool is_go;
	struct family family;
	int folder; /* the experiment's directory, until the family has it */
	bool family_open;
};

struct attach {
	struct options options; /* the first: options of `helio collect` fill it */
	struct arena arena;
	struct new_experiment_system system;
	struct diag_list diags;
	char **words;	 /* the command line */
	uint64_t for_ms; /* 0: until the end */
	bool tree;
	launch_ending *ending;
	launch_replace *replace;
	const char *library;
	VEC(struct session) sessions;
	int signal_fd;
};

/* ---- the command line ---- */

static bool take_for(struct option_parser *parser, const char *argument)
{
	struct attach *attach = parser->target;
	uint64_t start_ms;

	if (options_read_window(argument, &start_ms, &attach->for_ms) == OPTIONS_WINDOW_OK &&
	    !start_ms && attach->for_ms)
		return true;
	return option_refuse(parser, "--for needs a time, as in --for 10s, not", argument);
}

static bool take_follow(struct option_parser *parser, const char *argument)
{
	diag_add(parser->diags, DIAG_ERROR,
		 "Children that are born meanwhile cannot be followed (-F); --tree records those "
		 "that live");
	return false;
}

/* Which Java runs is decided already. */
static bool take_java(struct option_parser *parser, const char *argument)
{
	struct attach *attach = parser->target;

	attach->options.java_off = !strcmp(argument, "off");
	return attach->options.java_off || !strcmp(argument, "on") ||
	       option_refuse(parser, "-j needs on or off, not", argument);
}

static const struct option own[] = {
	{0, "for", "TIME", 0, take_for, 0, "end after so many seconds; or with ms, m for minutes"},
	{0, "tree", NULL, 0, option_set_flag, offsetof(struct attach, tree),
	 "the processes' living descendants too"},
	{'j', "java", "on|off", OPTION_ONCE, take_java, 0,
	 "Java: methods and their call stacks, or native code only"},
	{'F', "follow", "WHICH", OPTION_HIDDEN | OPTION_ALONE, take_follow, 0, NULL},
};
_Static_assert(!offsetof(struct attach, options), "rows of `helio collect` write there");
static const struct option_table tables[] = {OPTION_TABLE(own)};
const struct option_syntax attach_syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.more = &options_syntax,
	.hides = OPTION_STARTS,
	.whole_words = true,
	.usage = "Usage: %s [OPTIONS] PID...\n"
		 "   or: %s PID... OPTIONS, or between them\n"
		 "\n"
		 "Records programs that run already, with all their threads, until they end, for\n"
		 "the time of --for, or until Ctrl-C; the programs go on.\n"
		 "\n",
	.notes = "\nExample: %s --for 10s -o server.er $(pidof server)\n",
};

static bool read_pids(struct attach *attach)
{
	for (char **word = attach->options.target; *word; word++) {
		uint32_t pid;

		if (!options_read_count(*word, 1u << 22, &pid)) {
			diag_add(&attach->diags, DIAG_ERROR,
				 "'%s' is no process id; pidof or pgrep finds that of a program",
				 *word);
			return false;
		}
		*vec_push(&attach->sessions) = (struct session){.pid = (pid_t)pid, .folder = -1};
	}
	return true;
}

/* ---- the experiments ---- */

/* Several processes, one name: each gets its process id into it. */
static void name_for(struct attach *attach, const struct session *session, struct options *options)
{
	size_t length = options->output ? strlen(options->output) : 0;

	if (attach->sessions.count < 2 || length < 3)
		return;
	options->output = arena_printf(&attach->arena, "%.*s.%d.er", (int)length - 3,
				       options->output, (int)session->pid);
}

/* The program writes into the experiment: it must be able to, whoever we are. */
static void give_to_owner(const struct session *session)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)session->pid);
	if (geteuid() || stat(path, &st) || !st.st_uid)
		return;
	for (int i = 0; i < FORMAT_FILES; i++) {
		if (!(format_files[i].is & FILE_AT_BIRTH))
			continue;
		int fd = folder_open_file(session->folder, format_files[i].name, O_RDONLY, 0);

		if (fd >= 0) {
			(void)!fchown(fd, st.st_uid, st.st_gid);
			close(fd);
		}
	}
	if (fchown(session->folder, st.st_uid, st.st_gid))
		terminal_printf(stderr, "%s: %s: %s\n", program_name, session->name,
				strerror(errno));
}

static uint64_t age_ns(pid_t pid)
{
	struct proc_stat stat;
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;

	return proc_read_stat(pid, &stat) && stat.start_ns < now_ns ? now_ns - stat.start_ns : 0;
}

static enum status create(struct attach *attach, struct session *session)
{
	struct options options = attach->options;
	struct timespec wall;

	name_for(attach, session, &options);
	if (new_experiment_name(&options, &session->name, &attach->diags) != STATUS_OK ||
	    new_experiment_create(&options, attach->replace, &session->name, &session->folder,
				  &attach->diags) != STATUS_OK)
		return STATUS_IO;
	session->mono_ns = run_now_ns();
	session->argv = attach_arguments(&attach->arena, session->pid);
	clock_gettime(CLOCK_REALTIME, &wall);
	struct new_experiment_log log = {
		.options = &options,
		.system = &attach->system,
		.engine_reason = "",
		.words = attach->words,
		.argv = session->argv,
		.mono_ns = session->mono_ns,
		.wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec,
		.attached_after_ns = age_ns(session->pid),
		.attached = true,
	};

	if (new_experiment_write(session->folder, session->name, &log, &attach->diags) != STATUS_OK)
		return STATUS_IO;
	give_to_owner(session);
	session->path = new_experiment_path(session->folder, session->name, &attach->diags);
	return session->path ? STATUS_OK : STATUS_IO;
}

/* ---- bringing the collector in ---- */

static enum status enter(struct attach *attach, const struct session *session, pid_t pid,
			 const char *lineage)
{
	const char *engine = attach->options.engine == OPTIONS_ENGINE_MONITOR ? "monitor" : "perf";
	char *params =
		environment_params(&attach->arena, &attach->options, engine, session->mono_ns);
	char *words[] = {
		arena_printf(&attach->arena, PARAMS_ENV "=%s%s", params,
			     environment_place(&attach->arena, session->folder)),
		arena_printf(&attach->arena, PARAMS_ENV_EXPERIMENT "=%s", session->path),
		arena_printf(&attach->arena, PARAMS_ENV_LINEAGE "=%s", lineage),
		arena_printf(&attach->arena, PARAMS_ENV_LIBRARY "=%s", attach->library),
		NULL,
	};
	struct attach_request request = {.library = attach->library, .words = words};

	return attach_process_begin(pid, &request, &attach->diags);
}

/* Attaches to the living children of a process, and theirs; one that refuses is left out. */
static void enter_children(struct attach *attach, const struct session *session, pid_t parent,
			   const char *lineage)
{
	DIR *dir = opendir("/proc");
	unsigned number = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid() || proc_parent(pid) != parent)
			continue;
		char *name = arena_printf(&attach->arena, "%s_f%u", lineage, ++number);

		if (attach_check(pid, &attach->diags) == STATUS_OK)
			enter(attach, session, pid, name);
		enter_children(attach, session, pid, name);
	}
	if (dir)
		closedir(dir);
}

static bool is_go(pid_t pid)
{
	char exe[64];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	return target_is_go(exe);
}

static enum status begin_session(struct attach *attach, struct session *session)
{
	enum status status = create(attach, session);

	if (status == STATUS_OK)
		status = enter(attach, session, session->pid, "");
	if (status != STATUS_OK) {
		if (session->folder >= 0) { /* it was made */
			new_experiment_remove(session->folder, session->name);
			close(session->folder);
		}
		return status;
	}
	session->is_go = is_go(session->pid);
	session->recorded = true;
	family_open(&session->family, session->folder, 0, session->mono_ns);
	session->family_open = true;
	if (attach->tree)
		enter_children(attach, session, session->pid, "");
	if (!attach->options.quiet)
		terminal_printf(stderr, "%s: %s: recording %s (pid %d), %g ms; Ctrl-C ends it\n",
				program_name, session->name, session->argv[0], (int)session->pid,
				attach->options.clock_us / 1000.0);
	return STATUS_OK;
}

/* ---- waiting ---- */

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&set, SIGPIPE);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_timer(uint64_t first_ms, uint64_t period_ms)
{
	struct itimerspec times = {
		.it_value = {.tv_sec = (time_t)(first_ms / 1000),
			     .tv_nsec = (long)(first_ms % 1000) * 1000000},
		.it_interval = {.tv_sec = (time_t)(period_ms / 1000)},
	};
	int fd = first_ms ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) : -1;

	if (fd >= 0)
		timerfd_settime(fd, 0, &times, NULL);
	return fd;
}

static void take_samples(struct attach *attach, int timer)
{
	uint64_t ticks;

	if (read(timer, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	for (size_t i = 0; i < attach->sessions.count; i++) {
		struct session *session = &attach->sessions.items[i];

		if (session->recorded && session->family_open)
			samples_take(&session->family, run_now_ns() - session->mono_ns);
	}
}

enum { FD_SIGNAL, FD_LIMIT, FD_SAMPLE, FD_PROCESS };

/* Until a signal, the end of the time, or the end of the last process. */
static void wait_for_end(struct attach *attach)
{
	size_t count = FD_PROCESS, left = 0;
	struct pollfd *fds = xcalloc(FD_PROCESS + attach->sessions.count, sizeof(*fds));
	uint64_t sample_ms = attach->options.sample_s * 1000u;

	fds[FD_SIGNAL].fd = attach->signal_fd;
	fds[FD_LIMIT].fd = open_timer(attach->for_ms, 0);
	fds[FD_SAMPLE].fd = open_timer(sample_ms, sample_ms);
	for (size_t i = 0; i < attach->sessions.count; i++)
		if (attach->sessions.items[i].recorded) {
			fds[count].fd =
				(int)syscall(SYS_pidfd_open, attach->sessions.items[i].pid, 0);
			left += fds[count++].fd >= 0 || errno != ESRCH; /* else it has ended */
		}
	for (size_t i = 0; i < count; i++)
		fds[i].events = POLLIN;
	while (left && (poll(fds, count, -1) >= 0 || errno == EINTR)) {
		if (fds[FD_SIGNAL].revents || fds[FD_LIMIT].revents)
			break;
		if (fds[FD_SAMPLE].revents)
			take_samples(attach, fds[FD_SAMPLE].fd);
		for (size_t i = FD_PROCESS; i < count; i++)
			if (fds[i].fd >= 0 && fds[i].revents) {
				close(fds[i].fd);
				fds[i].fd = -1;
				left--;
			}
	}
	for (size_t i = FD_LIMIT; i < count; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	free(fds);
}

/* ---- the end ---- */

/*
 * A stopped process cannot be left: the collector's own threads are stopped too.  False
 * when another signal says not to wait for it.
 */
static bool wait_until_it_runs(struct attach *attach, pid_t pid)
{
	struct pollfd fd = {.fd = attach->signal_fd, .events = POLLIN};
	struct signalfd_siginfo info;
	struct proc_stat stat;
	bool said = false;

	while (read(attach->signal_fd, &info, sizeof(info)) > 0)
		;
	while (proc_read_stat(pid, &stat) && stat.state == 'T') {
		if (!said)
			terminal_printf(
				stderr,
				"%s: process %d is stopped; waiting until it goes on (Ctrl-C: do "
				"not wait)\n",
				program_name, (int)pid);
		said = true;
		if (poll(&fd, 1, 100) > 0)
			return false;
	}
	return true;
}

static bool leave_process(struct attach *attach, pid_t pid)
{
	if (wait_until_it_runs(attach, pid))
		return attach_process_end(pid, &attach->diags) != STATUS_IO;
	diag_add(&attach->diags, DIAG_WARNING,
		 "Process %d was not left; its recording ends by itself when it goes on", (int)pid);
	return false;
}

/* Every process that is recorded in the experiment and lives, whoever made it.  False: not all. */
static bool leave(struct attach *attach, struct session *session)
{
	bool ok = true;

	family_scan(&session->family);
	for (size_t i = 0; i < session->family.members.count; i++) {
		struct member *member = &session->family.members.items[i];

		if (member->ended || !member->pid)
			continue;
		member->ended = leave_process(attach, member->pid);
		ok &= member->ended;
	}
	return ok;
}

/* Events of a program that was killed, or that is Go's, are in its files alone. */
static void sum_up(const struct attach *attach, const struct session *session, int folder,
		   const struct finish_summary *summary, uint64_t duration_ns)
{
	struct launch_call call = {.program = program_name,
				   .experiment = session->path,
				   .folder = folder,
				   .name = xstrdup(session->name),
				   .quiet = attach->options.quiet,
				   .limit = show_limit_of(&attach->options),
				   .summary = *summary,
				   .seconds = (double)duration_ns / 1e9};

	attach->ending(&call);
}

/* False: a process was not left. */
static bool end_session(struct attach *attach, struct session *session)
{
	struct finish_summary summary;

	if (!session->family_open)
		return true;
	bool ok = leave(attach, session);
	uint64_t duration_ns = run_now_ns() - session->mono_ns;

	finish_find_again(&session->family, session->path, session->name, &attach->diags);
	finish_log(&session->family, NULL, duration_ns, &attach->diags);
	finish_pack(&session->family, &summary, &attach->diags);
	if (session->is_go && attach->options.clock_us && !attach->options.quiet)
		diag_add(&attach->diags, DIAG_NOTE, TARGET_GO_STACKS);
	command_line_say(stderr, program_name, &attach->diags);
	sum_up(attach, session, session->family.folder, &summary, duration_ns);
	family_close(&session->family);
	return ok;
}

static int record(struct attach *attach)
{
	size_t recorded = 0, left = 0;

	attach->signal_fd = open_signals();
	for (size_t i = 0; i < attach->sessions.count; i++)
		recorded += begin_session(attach, &attach->sessions.items[i]) == STATUS_OK;
	command_line_say(stderr, program_name, &attach->diags);
	if (recorded)
		wait_for_end(attach);
	for (size_t i = 0; i < attach->sessions.count; i++)
		if (attach->sessions.items[i].recorded)
			left += end_session(attach, &attach->sessions.items[i]);
	close(attach->signal_fd);
	return left == attach->sessions.count ? 0 : LAUNCH_EXIT_NOT_RUNNABLE;
}

/* Everything that can be known before anything is created; 0 or an exit code. */
static int prepare(struct attach *attach)
{
	enum status worst = STATUS_OK;

	if (!read_pids(attach))
		return LAUNCH_EXIT_USAGE;
	for (size_t i = 0; i < attach->sessions.count; i++) {
		enum status status = attach_check(attach->sessions.items[i].pid, &attach->diags);

		if (status != STATUS_OK)
			worst = status;
	}
	if (worst != STATUS_OK)
		return worst == STATUS_NOTFOUND ? LAUNCH_EXIT_NOT_FOUND : LAUNCH_EXIT_NOT_RUNNABLE;
	attach->library =
		environment_find_library(&attach->arena, PARAMS_LIBRARY_NAME, &attach->diags);
	new_experiment_read_system(&attach->system);
	return attach->library ? 0 : LAUNCH_EXIT_FAILED;
}

static void attach_fini(struct attach *attach)
{
	for (size_t i = 0; i < attach->sessions.count; i++) {
		free(attach->sessions.items[i].name);
		free(attach->sessions.items[i].path);
	}
	vec_fini(&attach->sessions);
	diag_fini(&attach->diags);
	arena_fini(&attach->arena);
}

/* Nothing is kept by itself; "on" is also what stands there unasked. */
static bool keeps_more(const struct options *options)
{
	return strcmp(options->archive, "on") && strcmp(options->archive, "off");
}

/* What needs our wrappers, or a program that is ours. */
static bool know_options(struct attach *attach)
{
	const struct options *options = &attach->options;
	const char *unknown = options->sample_signal	? "-l"
			      : options->pause_signal	? "-y"
			      : options->group		? "-g"
			      : options->dry_run	? "-n"
			      : options->archive_newer	? "-a"
			      : keeps_more(options)	? "-A"
			      : options->follow_regex	? "-F"
			      : options->counters.count ? "-h"
							: NULL;
	size_t length = strlen("-x");

	for (int kind = 0; kind < TRACE_KINDS && !unknown; kind++)
		if (*options->trace[kind] && kind != TRACE_JHEAP) /* it has no wrappers */
			unknown = format_kinds[kind].option;

	if (unknown)
		diag_add(&attach->diags, DIAG_ERROR,
			 "%.*s is for programs that helio collect starts, not for one that runs",
			 (int)length, unknown);
	return !unknown;
}

static int attach_all(struct attach *attach)
{
	int code = LAUNCH_EXIT_USAGE;

	if (!know_options(attach))
		return code;
	/* It has run for a while, and may have more threads than events can be had for twice. */
	attach->options.clock_first_us = 0;
	attach->options.follow = false;
	attach->options.archive = "off";
	code = prepare(attach);
	return code ? code : record(attach);
}

int launch_attach_to(const struct options *options, char **words, launch_ending *ending,
		     launch_replace *replace)
{
	char *pids[] = {(char *)(uintptr_t)options->attach, NULL};
	struct attach attach = {
		.words = words, .options = *options, .ending = ending, .replace = replace};

	attach.options.target = pids;
	int code = attach_all(&attach);

	command_line_say(stderr, program_name, &attach.diags);
	attach_fini(&attach);
	return code;
}

/* False: the command line is wrong, or help was asked for, and *code is the exit status. */
static bool read_command_line(struct attach *attach, int argc, char **argv, int *code)
{
	struct option_parser parser = {
		.syntax = &attach_syntax, .target = attach, .diags = &attach->diags};
	/* What is kept of the command line is as it was written. */
	char **words = arena_array(&attach->arena, char *, (size_t)argc + 1);

	memcpy(words, argv + 1, (size_t)argc * sizeof(*words));
	options_init(&attach->options);
	bool valid = option_parse(&parser, words, &attach->options.target) == STATUS_OK;

	if (argc == 1 || attach->options.action == OPTIONS_COUNTERS) /* -h alone is for help here */
		parser.asked = OPTION_ASKED_HELP;
	if (valid && !parser.asked && !*attach->options.target) {
		diag_add(&attach->diags, DIAG_ERROR,
			 "no process given: name it by its id, which pidof or pgrep finds");
		valid = false;
	}
	if (valid && !parser.asked)
		valid = options_finish(&attach->options, &attach->diags) == STATUS_OK;
	enum command_line read = command_line_answer(&parser, valid, program_name);

	*code = read == COMMAND_LINE_WRONG ? LAUNCH_EXIT_USAGE : 0;
	return read == COMMAND_LINE_OK;
}

int launch_attach(int argc, char **argv, launch_ending *ending, launch_replace *replace)
{
	struct attach attach = {.words = argv, .ending = ending, .replace = replace};
	int code;

	if (read_command_line(&attach, argc, argv, &code))
		code = attach_all(&attach);
	command_line_say(stderr, program_name, &attach.diags);
	attach_fini(&attach);
	return code;
}
