/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of checks, each of which looks at one thing and says in one line what it means
 * for a recording; where it is not at its best, what to type.  What can be tried is tried:
 * settings of the kernel explain a failure, but do not prove that something works.
 */
#include "launch/doctor.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/command_line.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "format/params.h"
#include "launch/counter/counter.h"
#include "launch/probe.h"
#include "launch/proc.h"
#include "launch/run/environment.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum state { STATE_NO, STATE_LIMITED, STATE_YES };

static const char *const state_names[] = {"no", "limited", "yes"};

struct doctor {
	struct arena arena;
	struct strbuf perf_reason;
	bool perf;
};

struct finding {
	enum state state;
	const char *meaning;
	const char *remedy; /* NULL: nothing is to be done, or nothing can be */
};

struct check {
	const char *name;
	struct finding (*look)(struct doctor *doctor);
};

/* ---- looking ---- */

/* The number in a small file of the kernel, or `otherwise`. */
static long kernel_number(const char *path, long otherwise)
{
	FILE *file = fopen(path, "re");
	long value = otherwise;

	if (file && fscanf(file, "%ld", &value) != 1)
		value = otherwise;
	if (file)
		fclose(file);
	return value;
}

/* The value of a line of /proc/self/status, base 16 for masks; 0: there is none. */
static uint64_t own_status(const char *name, int base)
{
	char text[PROC_TEXT];

	proc_read_text(getpid(), 0, "status", text);
	return proc_number(text, name, base);
}

static bool capable(int capability)
{
	return own_status("CapEff", 16) >> capability & 1;
}

/* 0, or why the kernel does not count processor cycles of this process. */
static int try_hardware(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static double clock_cost_ns(void)
{
	enum { CALLS = 1000 };
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < CALLS; i++)
		clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       CALLS;
}

/* ---- the checks ---- */

static struct finding check_collector(struct doctor *doctor)
{
	struct diag_list diags = {0};
	const char *library = environment_find_library(&doctor->arena, PARAMS_LIBRARY_NAME, &diags);
	struct finding finding = {.state = library ? STATE_YES : STATE_NO};

	if (library)
		finding.meaning =
			arena_printf(&doctor->arena, "programs can be recorded by %s", library);
	else
		finding.meaning = arena_strdup(&doctor->arena, diags.items[0].text);
	diag_fini(&diags);
	return finding;
}

static struct finding check_perf(struct doctor *doctor)
{
	doctor->perf = probe_perf(&doctor->perf_reason);
	if (doctor->perf)
		return (struct finding){
			STATE_YES, "clock profiling by events of the kernel: no call is disturbed",
			NULL};
	return (struct finding){STATE_LIMITED,
				arena_printf(&doctor->arena,
					     "clock profiling by a monitor thread: %s",
					     doctor->perf_reason.text),
				NULL};
}

static struct finding check_paranoid(struct doctor *doctor)
{
	long level = kernel_number("/proc/sys/kernel/perf_event_paranoid", -2);
	bool privileged = capable(CAP_PERFMON) || capable(CAP_SYS_ADMIN);

	if (level == -2)
		return (struct finding){STATE_NO, "the kernel has no perf events", NULL};
	if (level <= 1)
		return (struct finding){STATE_YES,
					arena_printf(&doctor->arena,
						     "perf_event_paranoid is %ld: everyone may",
						     level),
					NULL};
	return (struct finding){privileged ? STATE_YES : STATE_NO,
				arena_printf(&doctor->arena, "perf_event_paranoid is %ld: %s",
					     level,
					     privileged ? "you may all the same, others may not"
							: "you may not see kernel time"),
				privileged ? NULL : "sudo sysctl kernel.perf_event_paranoid=1"};
}

static struct finding check_seccomp(struct doctor *doctor)
{
	if (own_status("Seccomp", 10) != 2)
		return (struct finding){STATE_YES, "no seccomp filter is in the way", NULL};
	if (doctor->perf)
		return (struct finding){STATE_YES,
					"there is a seccomp filter; it lets perf events be", NULL};
	return (struct finding){
		STATE_LIMITED, "there is a seccomp filter (a container's?)",
		"docker run --security-opt seccomp=unconfined --cap-add PERFMON ..."};
}

static struct finding check_hardware(struct doctor *doctor)
{
	int error = try_hardware();

	if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
		return (struct finding){
			STATE_NO,
			"the processor's counters are not to be seen here, as in most virtual "
			"machines",
			"give the virtual machine its counters: qemu -cpu host,pmu=on"};
	if (error)
		return (struct finding){STATE_NO,
					arena_printf(&doctor->arena,
						     "the processor's counters are denied: %s",
						     strerror(error)),
					"sudo sysctl kernel.perf_event_paranoid=1"};
	if (kernel_number("/proc/sys/kernel/nmi_watchdog", 0) == 1)
		return (struct finding){STATE_LIMITED,
					"the NMI watchdog keeps one counter for itself",
					"sudo sysctl kernel.nmi_watchdog=0"};
	return (struct finding){STATE_YES, "the processor's counters can be used", NULL};
}

static struct finding check_watch_points(struct doctor *doctor)
{
	static const struct finding findings[] = {
		[COUNTER_WATCH_DENIED] = {STATE_NO, "watch points are denied",
					  "sudo sysctl kernel.perf_event_paranoid=1"},
		[COUNTER_WATCH_SILENT] = {STATE_NO, COUNTER_WATCH_SILENT_TEXT, NULL},
		[COUNTER_WATCH_WORKS] = {STATE_YES, "accesses to variables can be counted", NULL},
	};

	return findings[counter_watching()];
}

static struct finding check_rate(struct doctor *doctor)
{
	enum { ENOUGH = 20000 };
	long rate = kernel_number("/proc/sys/kernel/perf_event_max_sample_rate", ENOUGH);

	if (rate >= ENOUGH)
		return (struct finding){STATE_YES, "intervals down to 0.1 ms can be kept", NULL};
	return (struct finding){
		STATE_LIMITED,
		arena_printf(&doctor->arena, "the kernel allows %ld events a second", rate),
		"sudo sysctl kernel.perf_event_max_sample_rate=100000"};
}

static struct finding check_proc(struct doctor *doctor)
{
	char text[PROC_TEXT];

	if (!proc_read_text(getpid(), 0, "schedstat", text))
		return (struct finding){STATE_LIMITED,
					"/proc/PID/schedstat is missing: waiting for a processor "
					"looks like sleeping",
					"a kernel with CONFIG_SCHED_INFO"};
	if (!proc_read_text(getpid(), 0, "syscall", text))
		return (struct finding){
			STATE_LIMITED,
			"/proc/PID/syscall is not readable: the monitor engine cannot "
			"see what threads wait for",
			NULL};
	return (struct finding){STATE_YES, "waits can be told apart", NULL};
}

static struct finding check_attach(struct doctor *doctor)
{
	static const char *const meanings[] = {
		"your processes can be attached to",
		"only children of the one who attaches can be attached to",
		"only root can attach",
		"nobody can attach until the next start of the machine",
	};
	long scope = kernel_number("/proc/sys/kernel/yama/ptrace_scope", 0);
	bool privileged = capable(CAP_SYS_PTRACE) && scope < 3;

	if (scope < 0 || scope > 3)
		scope = 3;
	return (struct finding){scope == 0 || privileged ? STATE_YES
				: scope == 3		 ? STATE_NO
							 : STATE_LIMITED,
				privileged ? "all processes can be attached to" : meanings[scope],
				scope == 0 || privileged || scope == 3
					? NULL
					: "sudo sysctl kernel.yama.ptrace_scope=0"};
}

static struct finding check_descriptors(struct doctor *doctor)
{
	enum { ENOUGH = 64 };
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= ENOUGH)
		return (struct finding){
			STATE_YES,
			arena_printf(&doctor->arena,
				     "programs may open %llu files, of which recording takes two",
				     (unsigned long long)limit.rlim_cur),
			NULL};
	return (struct finding){STATE_LIMITED,
				"programs may open so few files that two less matter",
				"ulimit -n 1024"};
}

static struct finding check_clock(struct doctor *doctor)
{
	enum { SLOW_NS = 300 };
	double cost_ns = clock_cost_ns();

	if (cost_ns < SLOW_NS)
		return (struct finding){
			STATE_YES,
			arena_printf(&doctor->arena, "reading the time takes %.0f ns", cost_ns),
			NULL};
	return (struct finding){
		STATE_LIMITED,
		arena_printf(&doctor->arena,
			     "reading the time takes %.0f ns: short intervals cost more", cost_ns),
		"cat /sys/devices/system/clocksource/clocksource0/available_clocksource, and boot "
		"with "
		"clocksource=tsc"};
}

static struct finding check_disk(struct doctor *doctor)
{
	enum { ENOUGH_MB = 200 };
	struct statvfs disk;
	unsigned long long free_mb;

	if (access(".", W_OK | X_OK) || statvfs(".", &disk))
		return (struct finding){STATE_NO,
					arena_printf(&doctor->arena,
						     "no experiment can be made in this folder: %s",
						     strerror(errno)),
					"helio collect -d DIR ..."};
	free_mb = (unsigned long long)disk.f_bavail * disk.f_frsize >> 20;
	return (struct finding){
		free_mb >= ENOUGH_MB ? STATE_YES : STATE_LIMITED,
		arena_printf(&doctor->arena, "%llu MB are free in this folder", free_mb),
		free_mb >= ENOUGH_MB ? NULL : "helio collect -d DIR ..., or -L MB"};
}

static struct finding check_debug_files(struct doctor *doctor)
{
	if (!access("/usr/lib/debug/.build-id", R_OK))
		return (struct finding){
			STATE_YES,
			"debug files are installed; they name functions of stripped libraries",
			NULL};
	return (struct finding){
		STATE_LIMITED,
		getenv("DEBUGINFOD_URLS")
			? "no debug files are installed, and none are fetched by this version"
			: "no debug files are installed: functions of stripped libraries have no "
			  "names",
		"sudo apt-get install libc6-dbg, and LIBRARY-dbgsym of what is of interest"};
}

static const struct check checks[] = {
	{"collector", check_collector},
	{"perf engine", check_perf},
	{"perf rights", check_paranoid},
	{"seccomp", check_seccomp},
	{"short intervals", check_rate},
	{"hardware counters", check_hardware},
	{"watch points", check_watch_points},
	{"waits", check_proc},
	{"attach", check_attach},
	{"descriptors", check_descriptors},
	{"clock", check_clock},
	{"disk", check_disk},
	{"debug files", check_debug_files},
};

enum { CHECKS = COUNT(checks) };

/* ---- showing ---- */

static void show_text(const struct finding *findings, const struct utsname *system)
{
	terminal_printf(stdout, "%s %s, %s, user %u\n\n", system->sysname, system->release,
			system->machine, (unsigned)geteuid());
	for (size_t i = 0; i < CHECKS; i++) {
		terminal_printf(stdout, "%-8s %-18s %s\n", state_names[findings[i].state],
				checks[i].name, findings[i].meaning);
		if (findings[i].remedy)
			terminal_printf(stdout, "%-8s %-18s -> %s\n", "", "", findings[i].remedy);
	}
}

static json_t *json_of(const struct finding *finding, const char *name)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "name", name, "state", state_names[finding->state],
			 "meaning", json_text(finding->meaning), "remedy",
			 json_text(finding->remedy));
}

static void show_json(const struct finding *findings, const struct utsname *system, bool perf)
{
	json_t *list = json_array();
	json_t *report =
		json_pack("{s:s, s:s, s:i, s:b, s:o}", "kernel", system->release, "machine",
			  system->machine, "user", (int)geteuid(), "perf", perf, "checks", list);

	for (size_t i = 0; i < CHECKS; i++)
		json_array_append_new(list, json_of(&findings[i], checks[i].name));
	json_dumpf(report, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(report);
}

struct arguments {
	bool json;
};

static const struct option options[] = {
	{0, "json", NULL, 0, option_set_flag, offsetof(struct arguments, json), "print JSON"},
};
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [--json]\n"
		 "\n"
		 "Says what this machine and this user can record, and what to do about the rest.\n"
		 "The exit status is 0 where clock profiling by perf events works, otherwise 1.\n"
		 "\n",
};

static int look(const struct arguments *arguments)
{
	struct doctor doctor = {0};
	struct finding findings[CHECKS];
	struct utsname system = {0};

	uname(&system);
	for (size_t i = 0; i < CHECKS; i++)
		findings[i] = checks[i].look(&doctor);
	if (arguments->json)
		show_json(findings, &system, doctor.perf);
	else
		show_text(findings, &system);
	strbuf_fini(&doctor.perf_reason);
	arena_fini(&doctor.arena);
	return doctor.perf ? DOCTOR_EXIT_OK : DOCTOR_EXIT_POOR;
}

int doctor_main(int argc, char **argv)
{
	static const char program_name[] = "helio doctor";
	struct arguments arguments = {0};
	char **operands;
	enum command_line read =
		command_line_read(&syntax, program_name, &arguments, argv + 1, &operands);

	if (read == COMMAND_LINE_ANSWERED)
		return DOCTOR_EXIT_OK;
	if (read == COMMAND_LINE_OK && !*operands)
		return look(&arguments);
	if (read == COMMAND_LINE_OK)
		command_line_refuse(program_name, "takes options only, not `%s'", *operands);
	return DOCTOR_EXIT_USAGE;
}
