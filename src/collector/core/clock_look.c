/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of a thread: its clocks, and by /proc the call that it is blocked in. */
#include "collector/core/clock_look.h"

#include "collector/arch/call.h"
#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/tasks.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <errno.h>
#include <time.h>

/* "CPU_NS DELAY_NS SLICES" */
static bool parse_schedstat(const char *text, struct clock_remote *remote)
{
	const char *end;

	remote->cpu_ns = text_number(text, &end);
	if (*end != ' ')
		return false;
	remote->delay_ns = text_number(end + 1, &end);
	if (*end != ' ')
		return false;
	remote->slices = text_number(end + 1, &end);
	return true;
}

static bool read_again(int fd, char *to, size_t size)
{
	long got = fd >= 0 ? sys_pread(fd, to, size - 1, 0) : 0;

	to[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static uint64_t parse_hex(const char *text, const char **end)
{
	uint64_t value = 0;

	if (text[0] == '0' && text[1] == 'x')
		text += 2;
	for (;; text++) {
		int digit = *text >= '0' && *text <= '9'   ? *text - '0'
			    : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
							   : -1;
		if (digit < 0)
			break;
		value = value << 4 | (uint64_t)digit;
	}
	*end = text;
	return value;
}

/* "running", "-1 SP PC" or "NR A0 … A5 SP PC" (proc(5)) */
static void parse_syscall(const char *text, struct clock_remote *remote)
{
	bool outside = text[0] == '-';
	const char *end = text;

	remote->blocked = false;
	remote->call = -1;
	if (!outside && (text[0] < '0' || text[0] > '9'))
		return;
	if (outside)
		end += 2;
	else
		remote->call = (long)text_number(text, &end);
	for (int i = 0; !outside && i < 6; i++) {
		if (*end != ' ')
			return;
		remote->argument[i] = parse_hex(end + 1, &end);
	}
	if (*end != ' ')
		return;
	remote->sp = parse_hex(end + 1, &end);
	if (*end != ' ')
		return;
	remote->pc = parse_hex(end + 1, &end);
	remote->blocked = true;
	/* A tracer, a stop or `helio attach` has met the wait, which goes on. */
	if (remote->call != SYS_restart_syscall)
		return;
	long first = call_restarted(remote->pc, remote->argument);

	if (first >= 0)
		remote->call = first;
}

void clock_files_open(struct clock_files *files, int dir, const struct thread *thread)
{
	int tid = thread->proc_tid;

	*files = (struct clock_files){.tid = atomic_load(&thread->tid), .status = -1, .wchan = -1};
	files->schedstat = tasks_open_file(dir, tid, "schedstat");
	files->syscall = tasks_open_file(dir, tid, "syscall");
	if (files->syscall >= 0)
		return;
	files->status = tasks_open_file(dir, tid, "status");
	files->wchan = tasks_open_file(dir, tid, "wchan");
}

void clock_files_close(struct clock_files *files)
{
	if (!files->tid)
		return;
	if (files->schedstat >= 0)
		sys_close(files->schedstat);
	if (files->syscall >= 0)
		sys_close(files->syscall);
	if (files->status >= 0)
		sys_close(files->status);
	if (files->wchan >= 0)
		sys_close(files->wchan);
	files->tid = 0;
}

bool clock_look_sums(const struct clock_files *files, struct clock_remote *remote)
{
	char line[96];

	remote->files = files;
	remote->blocked = remote->hidden = remote->stopped = false;
	remote->preempted = 0;
	remote->call = -1;
	return read_again(files->schedstat, line, sizeof(line)) && parse_schedstat(line, remote);
}

void clock_each_line(int fd, void (*take)(const char *line, void *arg), void *arg)
{
	char piece[512], line[96] = "";
	size_t length = 0;
	long got, at = 0;

	for (; (got = sys_pread(fd, piece, sizeof(piece), at)) > 0; at += got) {
		for (long i = 0; i < got; i++) {
			if (piece[i] != '\n') {
				if (length < sizeof(line) - 1)
					line[length++] = piece[i];
				continue;
			}
			line[length] = '\0';
			length = 0;
			take(line, arg);
		}
	}
}

static void take_status(const char *line, void *arg)
{
	static const char state[] = "State:\t", preempted[] = "nonvoluntary_ctxt_switches:\t";
	struct clock_remote *remote = arg;
	const char *end;

	if (text_starts(line, state))
		remote->state = line[sizeof(state) - 1];
	else if (text_starts(line, preempted))
		remote->preempted = text_number(line + sizeof(preempted) - 1, &end);
}

static void read_status(int fd, struct clock_remote *remote)
{
	remote->state = 0;
	remote->preempted = 0;
	if (fd >= 0)
		clock_each_line(fd, take_status, remote);
	remote->stopped = remote->state == 'T' || remote->state == 't';
}

/* ---- what is blocked in a call that the kernel does not tell us of ---- */

/* Whether the log has to say that there are such waits. */
enum { WARNING_NONE, WARNING_DUE, WARNING_SAID };
static _Atomic uint32_t hidden_warning;

/* By the function of the kernel's that it waits in; a futex's are named so. */
static void look_hidden(const struct clock_files *files, struct clock_remote *remote)
{
	char name[64];
	uint32_t expected = WARNING_NONE;

	read_status(files->status, remote);
	remote->hidden = remote->state == 'S' || remote->state == 'D' || remote->stopped;
	if (!remote->hidden)
		return;
	if (read_again(files->wchan, name, sizeof(name)) && text_starts(name, "futex"))
		remote->call = SYS_futex;
	atomic_compare_exchange_strong(&hidden_warning, &expected, WARNING_DUE);
}

void clock_warn_hidden(void)
{
	uint32_t expected = WARNING_DUE;

	if (atomic_compare_exchange_strong(&hidden_warning, &expected, WARNING_SAID))
		log_warning(
			"the kernel does not show where threads of this process wait (it is not "
			"dumpable: its user has changed, or it asked for that): such waits "
			"have no call stack",
			0);
}

void clock_forget_hidden(void)
{
	atomic_store(&hidden_warning, WARNING_NONE);
}

void clock_look_call(const struct clock_files *files, struct clock_remote *remote)
{
	char line[256];

	if (files->syscall < 0)
		look_hidden(files, remote);
	else if (read_again(files->syscall, line, sizeof(line)))
		parse_syscall(line, remote);
}

bool clock_look(const struct clock_files *files, struct clock_remote *remote)
{
	if (!clock_look_sums(files, remote))
		return false;
	clock_look_call(files, remote);
	return true;
}

bool clock_look_at(const struct thread *thread, struct clock_remote *remote)
{
	struct clock_files files;
	int dir = tasks_open();

	clock_files_open(&files, dir, thread);
	bool seen = clock_look(&files, remote);

	clock_files_close(&files);
	if (dir >= 0)
		sys_close(dir);
	return seen;
}

void clock_look_status(struct clock_files *files, int dir, const struct thread *thread,
		       struct clock_remote *remote)
{
	if (files->status < 0)
		files->status = tasks_open_file(dir, thread->proc_tid, "status");
	read_status(files->status, remote);
	/* It stays open where the launcher may have to be asked for it, or where it tells most. */
	if (files->status >= 0 && dir != TASKS_BY_PATH && files->syscall >= 0) {
		sys_close(files->status);
		files->status = -1;
	}
}

static void put_own_path(struct text *path, const char *name)
{
	if (tasks_have_own_place()) {
		text_puts(path, "/proc/");
		text_decimal(path, sys_gettid());
		text_putc(path, '/');
	} else {
		text_puts(path, "/proc/thread-self/");
	}
	text_puts(path, name);
}

/*
 * Nobody is asked for it, where this root has no /proc: a handler that waits for an answer makes a
 * switch, which raises the next event, and so on.
 */
int clock_open_own(const char *name)
{
	char path_room[48];
	struct text path = TEXT_ON(path_room);

	put_own_path(&path, name);
	return sys_open(path_room, O_RDONLY, 0);
}

int clock_open_delay(void)
{
	char path_room[48];
	struct text path = TEXT_ON(path_room);

	put_own_path(&path, "schedstat");
	return file_open_proc(path_room, O_RDONLY);
}

bool clock_read_delay(int fd, uint64_t *delay_ns)
{
	char line[96];
	struct clock_remote remote = {0};
	bool got = read_again(fd, line, sizeof(line)) && parse_schedstat(line, &remote);

	if (got)
		*delay_ns = remote.delay_ns;
	return got;
}

uint64_t clock_own_delay_ns(void)
{
	uint64_t delay_ns = 0;
	int fd = clock_open_own("schedstat");

	if (fd < 0)
		return 0;
	clock_read_delay(fd, &delay_ns);
	sys_close(fd);
	return delay_ns;
}

bool clock_still_waits(const struct clock_remote *remote)
{
	char line[96];
	struct clock_remote now;

	return read_again(remote->files->schedstat, line, sizeof(line)) &&
	       parse_schedstat(line, &now) && now.slices == remote->slices;
}

enum format_state clock_call_state(long call)
{
	switch (call) {
	case SYS_futex:
		return FORMAT_STATE_USER_LOCK;
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_clock_gettime:
	case SYS_getrusage:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_getppid:
	case SYS_rt_sigprocmask:
		return FORMAT_STATE_STOPPED;
	default:
		return FORMAT_STATE_SLEEP;
	}
}

/* The kernel's encoding of a thread's CPU clock. */
long clock_cpu_id(int tid)
{
	return ((long)~tid << 3) | 6;
}

uint64_t clock_other_cpu_ns(int tid)
{
	struct timespec cpu = {0};

	sys_call(SYS_clock_gettime, clock_cpu_id(tid), &cpu, 0, 0);
	return time_spec_ns(&cpu);
}
