/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf engine needs software events with sigtrap (Linux 5.13), kernel
 * time included.  Whether they are there depends on the kernel's version and
 * configuration, perf_event_paranoid, capabilities, a container's seccomp
 * filter and the hypervisor's idea of signals; a try answers for all of them.
 */
#include "launch/probe.h"

#include "launch/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROBE_TRAP_PERF = 6, /* si_code; not in every libc's headers */
	PROBE_PERIOD_NS = 100000,
	PROBE_LIMIT_MS = 20, /* of CPU, which a busy machine may give late; 0.1 is usual */
	PROBE_LOOK_MS = 1,
};

/* The child's answer. */
struct answer {
	int error; /* errno of perf_event_open, or 0 */
	bool clock_signal;
	bool switch_signal;
};

static volatile sig_atomic_t signals_seen;

static void on_trap(int signal_number, siginfo_t *info, void *context)
{
	if (info->si_code == PROBE_TRAP_PERF) {
		/* One is enough, and each signal may bring the context switch that raises the next.
		 */
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
		signals_seen++;
	}
}

static int open_event(unsigned config, unsigned long long period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.inherit = 1,
		.inherit_thread = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Does once what raises the event. */
static void raise_event(unsigned config)
{
	if (config == PERF_COUNT_SW_CONTEXT_SWITCHES)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

/*
 * Opens the event and does what raises it until a signal comes or the limit is over.  A machine's
 * first event has the kernel change its own code, which takes tens of milliseconds on a slow one:
 * that is not counted.  Nor is more than 1 ms from one look to the next, in which a hypervisor may
 * have taken the processor away.
 */
static bool try_event(unsigned config, unsigned long long period, int *error)
{
	sig_atomic_t before = signals_seen;
	int fd = open_event(config, period);

	if (fd < 0) {
		*error = errno;
		return false;
	}
	double last = cpu_ms();

	for (double used = 0; signals_seen == before && used < PROBE_LIMIT_MS;) {
		raise_event(config);
		double now = cpu_ms();

		used += now - last < PROBE_LOOK_MS ? now - last : PROBE_LOOK_MS;
		last = now;
	}
	close(fd);
	return signals_seen != before;
}

static struct answer try_all(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct answer answer = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaction(SIGTRAP, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	answer.clock_signal = try_event(PERF_COUNT_SW_TASK_CLOCK, PROBE_PERIOD_NS, &answer.error);
	if (answer.clock_signal)
		answer.switch_signal = try_event(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, &answer.error);
	return answer;
}

/* False if no child could be asked. */
static bool ask_child(struct answer *answer)
{
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC))
		return false;
	pid_t child = fork();

	if (!child) {
		struct answer mine = try_all();

		_exit(write(pipe_fds[1], &mine, sizeof(mine)) != sizeof(mine));
	}
	close(pipe_fds[1]);
	bool told = child > 0 && read(pipe_fds[0], answer, sizeof(*answer)) == sizeof(*answer);

	close(pipe_fds[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return told;
}

bool probe_is_traced(void)
{
	char text[PROC_TEXT];

	proc_read_text(getpid(), 0, "status", text);
	return proc_number(text, "TracerPid", 10);
}

static int paranoid_level(void)
{
	int level = -2;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (file) {
		if (fscanf(file, "%d", &level) != 1)
			level = -2;
		fclose(file);
	}
	return level;
}

void probe_explain(int error, struct strbuf *reason)
{
	int level = paranoid_level();
	struct utsname name = {0};

	uname(&name);
	switch (error) {
	case EACCES:
	case EPERM:
		if (level > 1 && geteuid())
			strbuf_printf(reason,
				      "perf_event_paranoid is %d: perf works as root, with "
				      "CAP_PERFMON, or after sysctl kernel.perf_event_paranoid=1",
				      level);
		else
			strbuf_printf(
				reason,
				"perf_event_open is denied (%s): perf works outside this "
				"container, or in one whose seccomp profile allows the call and "
				"which has CAP_PERFMON",
				strerror(error));
		break;
	case ENOSYS:
		strbuf_puts(reason,
			    "the kernel has no perf_event_open, or a seccomp filter hides it");
		break;
	case EINVAL:
	case E2BIG:
	case EOPNOTSUPP:
		strbuf_printf(
			reason,
			"Linux %s does not know perf events with sigtrap: Linux 5.13 or newer "
			"does",
			name.release);
		break;
	default:
		strbuf_printf(reason, "perf_event_open fails: %s", strerror(error));
	}
}

bool probe_perf(struct strbuf *reason)
{
	struct answer answer = {0};

	if (probe_is_traced()) {
		strbuf_puts(reason, "a debugger or tracer is attached, which each perf event would "
				    "stop: perf works without it");
		return false;
	}
	if (!ask_child(&answer)) {
		strbuf_printf(reason, "no process could be made to try perf events: %s",
			      strerror(errno));
		return false;
	}
	if (answer.error)
		probe_explain(answer.error, reason);
	else if (!answer.clock_signal || !answer.switch_signal)
		strbuf_printf(reason, "%s events raise no signal here (a sandboxed kernel?)",
			      answer.clock_signal ? "context switch" : "clock");
	return !answer.error && answer.clock_signal && answer.switch_signal;
}
