/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread is stopped and made to call a function.  Only faults are unblocked meanwhile, so
 * no handler of the program runs in the middle.
 *
 * We may be killed at any moment, and then the thread runs on with whatever it has.  So
 * nothing is ever left in a state that does not lead back by itself:
 *   - a function returns into a signal frame (attach_thread.h), in memory that is free: at first
 *     of the thread's own stack, later above the stack that was mapped for the calls;
 *   - the frame is written before the registers are set, the registers before the mask;
 *   - we see that a function has returned at a system call on the way into that frame, where
 *     without us the thread would just go on.
 */
#include "launch/attach/attach_inject.h"

#include "launch/arch/arch.h"
#include "launch/attach/attach_check.h"
#include "launch/proc.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	STOP_WAIT_MS = 2000,
	CALL_WAIT_MS = 20000,
	TRIES = 300,
	STRINGS = 64 * 1024, /* of INJECT_STACK: at its upper end */
	CODE = 4096,
};

/* Faults must stay open: the kernel would take a blocked one's handler away for good. */
#define FAULTS                                                                                     \
	(FORMAT_SIGNAL_BIT(SIGSEGV) | FORMAT_SIGNAL_BIT(SIGBUS) | FORMAT_SIGNAL_BIT(SIGILL) |      \
	 FORMAT_SIGNAL_BIT(SIGFPE))

static void pause_ms(unsigned ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

/* ---- calls ---- */

/*
 * Stops the thread, which is at a stop of a system call, before it comes to its next instruction,
 * and where the kernel would let an interrupted call go on.
 */
static bool settle(struct held *held)
{
	int status;

	if (held_trace(PTRACE_INTERRUPT, held->tid, 0, 0) ||
	    held_trace(PTRACE_CONT, held->tid, 0, 0))
		return false;
	while (held_wait_stop(held->tid, &status, STOP_WAIT_MS)) {
		if (held_is_event_stop(status))
			return true;
		held->stop_owed |= WSTOPSIG(status) == SIGSTOP;
		held_trace(PTRACE_CONT, held->tid, 0, 0);
	}
	return false;
}

/* What a run ends with: the end of a system call, or the one that tells of a function's return. */
struct goal {
	uint64_t call;	   /* its number, … */
	uint64_t returned; /* … or 0, and where that call returns to */
};

static bool is_reached(const struct held *held, const struct goal *goal, uint64_t *result)
{
	struct user_regs_struct registers;

	if (!arch_read_registers(held->tid, &registers))
		return false;
	*result = goal->returned ? arch_first_argument(&registers)
				 : (uint64_t)arch_result(&registers);
	if (goal->returned)
		return arch_pc(&registers) == goal->returned;
	return arch_call(&registers) == (long)goal->call && !arch_call_begins(&registers);
}

/* Lets the thread run to there; other stops on the way are none of the call's. */
static bool run_to(struct held *held, const struct goal *goal, uint64_t *result)
{
	int status;

	for (;;) {
		if (held_trace(PTRACE_SYSCALL, held->tid, 0, 0) ||
		    !held_wait_stop(held->tid, &status, CALL_WAIT_MS))
			break;
		if (held_is_event_stop(status))
			continue;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (is_reached(held, goal, result))
				return settle(held);
			continue;
		}
		if (FAULTS & FORMAT_SIGNAL_BIT(WSTOPSIG(status)))
			return false;
		held->stop_owed |= WSTOPSIG(status) == SIGSTOP;
	}
	/* It may still run, waiting for something: then it must be stopped to get its state back.
	 */
	if (!held_trace(PTRACE_INTERRUPT, held->tid, 0, 0))
		held_wait_stop(held->tid, &status, STOP_WAIT_MS);
	return false;
}

/* `frame`: where its return address is, and below which there is room. */
static bool call(struct inject *inject, uint64_t frame, uint64_t function,
		 const uint64_t arguments[6], const struct goal *goal, uint64_t *result)
{
	struct held *held = &inject->held;
	struct user_regs_struct registers = held->registers;
	uint64_t mask = ~FAULTS;

	arch_set_call(&registers, frame, function, arguments);
	return frame && arch_write_registers(held->tid, &registers) &&
	       !held_trace(PTRACE_SETSIGMASK, held->tid, sizeof(mask), (uint64_t)&mask) &&
	       run_to(held, goal, result);
}

/* mmap or munmap, with a frame below `top`. */
static bool call_map(struct inject *inject, uint64_t top, bool map, const uint64_t arguments[6],
		     uint64_t *result)
{
	const struct goal goal = {.call = map ? SYS_mmap : SYS_munmap};
	uint64_t frame =
		held_put_frame(&inject->held, inject->remote, top, inject->library.sigreturn);

	return call(inject, frame, map ? inject->library.mmap : inject->library.munmap, arguments,
		    &goal, result) &&
	       *result < (uint64_t)-4096;
}

static uint64_t stack_top(const struct inject *inject)
{
	return inject->stack + INJECT_STACK - STRINGS;
}

bool inject_call(struct inject *inject, uint64_t function, uint64_t a, uint64_t b, uint64_t *result)
{
	const uint64_t arguments[6] = {a, b};
	const struct goal goal = {.returned = inject->code + ARCH_RETURNED};
	uint64_t frame =
		held_put_frame(&inject->held, inject->remote, stack_top(inject), inject->code);

	return call(inject, frame, function, arguments, &goal, result);
}

uint64_t inject_put(struct inject *inject, const void *from, size_t size)
{
	uint64_t at = inject->strings_at;

	if (at + size > inject->stack + INJECT_STACK ||
	    !remote_write(inject->remote, at, from, size))
		return 0;
	inject->strings_at = (at + size + 15) & ~(uint64_t)15;
	return at;
}

uint64_t inject_map_code(struct inject *inject, uint64_t at)
{
	const uint64_t arguments[6] = {at,
				       CODE,
				       PROT_READ | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0),
				       (uint64_t)-1,
				       0};
	uint64_t result;

	return call_map(inject, stack_top(inject), true, arguments, &result) ? result : 0;
}

/* The memory for the calls: a stack, and the code that functions return to. */
static bool make_room(struct inject *inject)
{
	const uint64_t arguments[6] = {
		0, INJECT_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
		0};
	uint64_t result;

	if (!call_map(inject, inject->held.spare_end, true, arguments, &result))
		return false;
	inject->stack = result;
	inject->strings_at = stack_top(inject);
	inject->code = inject_map_code(inject, 0);
	return inject->code &&
	       remote_write(inject->remote, inject->code, arch_way_back, ARCH_WAY_BACK);
}

/* ---- taking and letting go ---- */

/* What came of the tries to find a thread at a good moment. */
struct search {
	VEC(pid_t) tids;
	VEC(pid_t) useless; /* cannot be had */
	bool uninterruptible;
	bool denied;
	bool no_stack;
};

static bool is_useless(const struct search *search, pid_t tid)
{
	for (size_t i = 0; i < search->useless.count; i++)
		if (search->useless.items[i] == tid)
			return true;
	return false;
}

static void list_tids(struct search *search, pid_t pid)
{
	char path[64];

	search->tids.count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !is_useless(search, tid))
			*vec_push(&search->tids) = tid;
	}
	if (dir)
		closedir(dir);
}

static void search_fini(struct search *search)
{
	vec_fini(&search->tids);
	vec_fini(&search->useless);
}

/* Stops the thread and keeps it if it stands well. */
static bool try_thread(struct inject *inject, struct search *search, struct safe_point *calm,
		       pid_t tid)
{
	struct held *held = &inject->held;
	enum held_why why = held_take(held, inject->remote->pid, tid);

	search->denied |= why == HELD_DENIED;
	search->uninterruptible |= why == HELD_UNINTERRUPTIBLE;
	if (why == HELD_DENIED || why == HELD_UNINTERRUPTIBLE)
		*vec_push(&search->useless) = tid;
	if (why != HELD_OK)
		return false;
	if (!held_is_collectors(held) && safe_point_at(calm, tid, held_in_call(held))) {
		if (held_find_spare(held, inject->remote))
			return true;
		search->no_stack = true;
	}
	held_let_go(held, inject->remote);
	return false;
}

/* The first thread most of the time, the others in turn: it may never be at rest. */
static bool find_moment(struct inject *inject, struct search *search, struct safe_point *calm)
{
	bool found = false;

	for (unsigned i = 0; i < TRIES && !found; i++) {
		list_tids(search, inject->remote->pid);
		if (!search->tids.count)
			break;
		size_t index = i % 4 < 2 || i < 8 ? 0 : i / 4 % search->tids.count;

		found = try_thread(inject, search, calm, search->tids.items[index]);
		if (!found)
			pause_ms(1 + i % 8);
	}
	return found;
}

static enum status explain_search(const struct search *search, pid_t pid, struct diag_list *diags)
{
	if (kill(pid, 0) && errno == ESRCH) {
		attach_explain(pid, errno, diags);
		return STATUS_NOTFOUND;
	}
	if (search->uninterruptible)
		diag_add(diags, DIAG_ERROR,
			 "Process %d cannot be stopped: it waits for a child of vfork, or for a "
			 "device; try again when it goes on",
			 (int)pid);
	else if (search->no_stack)
		diag_add(diags, DIAG_ERROR,
			 "Process %d: each of its threads runs on a stack of the program's own "
			 "making or on one that is full; try again, or start the program with "
			 "helio collect",
			 (int)pid);
	else if (search->denied && !search->tids.count)
		attach_explain(pid, EPERM, diags);
	else
		diag_add(diags, DIAG_ERROR,
			 "Process %d: no thread could be stopped where it is safe to load a "
			 "library; try again, or start the program with helio collect",
			 (int)pid);
	return STATUS_IO;
}

enum status inject_take(struct inject *inject, struct remote *remote, struct safe_point *calm,
			const struct inject_library *library, struct diag_list *diags)
{
	struct search search = {0};
	enum status status = STATUS_OK;

	*inject = (struct inject){.remote = remote, .library = *library};
	if (!find_moment(inject, &search, calm))
		status = explain_search(&search, remote->pid, diags);
	search_fini(&search);
	if (status != STATUS_OK || make_room(inject))
		return status;
	inject_let_go(inject);
	if (!remote_read(remote, library->sigreturn, &(uint8_t){0}, 1)) {
		attach_becomes_another(remote->pid, diags);
		return STATUS_IO;
	}
	diag_add(diags, DIAG_ERROR,
		 "Process %d: no memory could be mapped in it; raise its limits of memory "
		 "(prlimit --pid %d --as=unlimited --data=unlimited)",
		 (int)remote->pid, (int)remote->pid);
	return STATUS_IO;
}

static void unmap(struct inject *inject, uint64_t top, uint64_t at, uint64_t size)
{
	const uint64_t arguments[6] = {at, size};
	uint64_t result;

	call_map(inject, top, false, arguments, &result);
}

/* A thread that has passed the begin of a hooked function before there was a hook. */
static void let_go(const struct inject *inject, struct held *held)
{
	for (int i = 0; i < ARCH_HOOKS && held->tid; i++)
		if (inject->hooks[i])
			arch_enter_hook(&held->registers, inject->hooks[i], &arch_hooks[i]);
	held_let_go(held, inject->remote);
}

void inject_let_go(struct inject *inject)
{
	if (!inject->held.tid)
		return;
	if (inject->code)
		unmap(inject, stack_top(inject), inject->code, CODE);
	if (inject->stack)
		unmap(inject, inject->held.spare_end, inject->stack, INJECT_STACK);
	let_go(inject, &inject->held);
}

/* ---- threads that block the collector's signals ---- */

/* What a thread blocks; false: it is the collector's own, not to be stopped in vain. */
static bool look_at_mask(pid_t pid, pid_t tid, uint64_t *mask)
{
	char text[PROC_TEXT];
	struct held held = {.tid = tid};

	proc_read_text(pid, tid, "status", text);
	held.mask = proc_number(text, "SigBlk", 16);
	*mask = held.mask;
	return !held_is_collectors(&held);
}

bool inject_has_blocked(struct inject *inject)
{
	struct search search = {0};
	uint64_t mask = inject->held.mask;
	bool found = mask & FORMAT_ENGINE_SIGNALS;

	list_tids(&search, inject->remote->pid);
	for (size_t i = 0; i < search.tids.count; i++)
		if (search.tids.items[i] != inject->held.tid &&
		    look_at_mask(inject->remote->pid, search.tids.items[i], &mask))
			found |= mask & FORMAT_ENGINE_SIGNALS;
	search_fini(&search);
	return found;
}

static void open_signals(struct inject *inject, struct safe_point *calm, uint64_t believe,
			 struct held *held)
{
	uint64_t set = held->mask & FORMAT_ENGINE_SIGNALS, result = 0;

	if (set && !held_is_collectors(held) && !safe_point_in_handler(calm, held->tid) &&
	    inject_call(inject, believe, (uint64_t)held->tid, set, &result) && !result)
		held->mask &= ~set;
}

/* False: it was about to create another thread, which would have the mask and not the belief. */
static bool open_in(struct inject *inject, struct safe_point *calm, uint64_t believe, pid_t tid)
{
	pid_t pid = inject->remote->pid;
	struct held held;
	uint64_t mask;

	if (!look_at_mask(pid, tid, &mask) || held_take(&held, pid, tid) != HELD_OK)
		return true;
	bool creates = safe_point_creates_thread(calm, tid);

	if (!creates)
		open_signals(inject, calm, believe, &held);
	let_go(inject, &held);
	return !creates;
}

void inject_open_signals(struct inject *inject, struct safe_point *calm, uint64_t believe)
{
	struct search search = {0};

	list_tids(&search, inject->remote->pid);
	for (size_t i = 0; i < search.tids.count; i++) {
		pid_t tid = search.tids.items[i];

		if (tid == inject->held.tid) {
			open_signals(inject, calm, believe, &inject->held);
			continue;
		}
		for (int tries = 0; tries < TRIES && !open_in(inject, calm, believe, tid); tries++)
			pause_ms(1);
	}
	search_fini(&search);
}

/* ---- threads that are about to become another program ---- */

enum where { WHERE_RUNNING, WHERE_EXEC, WHERE_ELSEWHERE };

static enum where where_is(pid_t pid, pid_t tid)
{
	char text[PROC_TEXT], *end;

	if (!proc_read_text(pid, tid, "syscall", text)) /* it is gone */
		return WHERE_ELSEWHERE;
	long call = strtol(text, &end, 10);

	if (end == text)
		return WHERE_RUNNING;
	return call == SYS_execve || call == SYS_execveat ? WHERE_EXEC : WHERE_ELSEWHERE;
}

/* False: it is in execve, or does not stop. */
static bool await_exec(struct inject *inject, pid_t tid)
{
	enum { NAP_MS = 10, EXEC_TRIES = 100 };
	pid_t pid = inject->remote->pid;
	enum where where;
	struct held held;

	for (int i = 0; (where = where_is(pid, tid)) == WHERE_EXEC && i < EXEC_TRIES; i++)
		pause_ms(NAP_MS);
	if (where != WHERE_RUNNING)
		return where == WHERE_ELSEWHERE;
	if (held_take(&held, pid, tid) != HELD_OK)
		return where_is(pid, tid) == WHERE_ELSEWHERE;
	let_go(inject, &held);
	return true;
}

bool inject_await_execs(struct inject *inject)
{
	struct search search = {0};
	bool all = true;
	uint64_t mask;

	list_tids(&search, inject->remote->pid);
	for (size_t i = 0; i < search.tids.count && all; i++) {
		pid_t tid = search.tids.items[i];

		if (tid != inject->held.tid && look_at_mask(inject->remote->pid, tid, &mask))
			all = await_exec(inject, tid);
	}
	search_fini(&search);
	return all;
}

/* ---- pending signals of the collector ---- */

/* At the begin of a system call: the thread stops before the instruction instead. */
static bool take_back_call(struct held *held)
{
	struct user_regs_struct registers;

	if (!arch_read_registers(held->tid, &registers))
		return false;
	arch_begin_again(&registers);
	return arch_write_registers(held->tid, &registers) && settle(held);
}

/*
 * Only our signals are opened in the stopped thread, so each of them shows as a stop on
 * the way to its handler, where it can be taken away.  Meanwhile its registers lead to a frame
 * that gives it its own mask.  The signal of a timer that was deleted is pending and never comes
 * (Linux 6.13): then the thread gets as far as the system call that would use the frame.
 */
static void sweep_stopped(struct held *held)
{
	uint64_t ours = ~FORMAT_ENGINE_SIGNALS;
	int status;

	if (held_trace(PTRACE_SETSIGMASK, held->tid, sizeof(ours), (uint64_t)&ours))
		return;
	while (held_pending(held->pid, held->tid, ours) & FORMAT_ENGINE_SIGNALS)
		if (held_trace(PTRACE_SYSCALL, held->tid, 0, 0) ||
		    !held_wait_stop(held->tid, &status, STOP_WAIT_MS) ||
		    (WSTOPSIG(status) == (SIGTRAP | 0x80) && !take_back_call(held)))
			return;
}

/* What the thread believes blocked is so when it is let go. */
static void close_signals(struct inject *inject, struct held *held)
{
	uint64_t set;

	if (inject->disbelieve &&
	    inject_call(inject, inject->disbelieve, (uint64_t)held->tid, 0, &set))
		held->mask |= set & (FORMAT_ENGINE_SIGNALS | FORMAT_SIGNAL_BIT(SIGBUS));
}

static bool lead_to_frame(struct held *held, const struct inject *inject)
{
	struct user_regs_struct registers = held->registers;
	uint64_t frame = held_find_spare(held, inject->remote)
				 ? held_put_frame(held, inject->remote, held->spare_end, 0)
				 : 0;

	arch_set_return(&registers, frame, inject->library.sigreturn);
	return frame && arch_write_registers(held->tid, &registers);
}

/* False: a handler of the collector is at work. */
static bool sweep_thread(struct inject *inject, pid_t pid, pid_t tid)
{
	struct held held;

	if (held_take(&held, pid, tid) != HELD_OK)
		return true;
	bool at_work = held_is_collectors(&held);

	if (!at_work && held_pending(pid, tid, ~FORMAT_ENGINE_SIGNALS)) {
		lead_to_frame(&held, inject);
		sweep_stopped(&held);
	}
	if (!at_work)
		close_signals(inject, &held);
	held_let_go(&held, inject->remote);
	return !at_work;
}

static void sweep_one(struct inject *inject, pid_t pid, pid_t tid)
{
	if (tid == inject->held.tid) {
		sweep_stopped(&inject->held);
		close_signals(inject, &inject->held);
		return;
	}
	for (int tries = 0; tries < TRIES && !sweep_thread(inject, pid, tid); tries++)
		pause_ms(1);
}

/*
 * A thread that ends while the kernel lists it takes the rest of the list with it: listed until
 * nobody comes who was not there.  In a program that always begins threads that may be never.
 */
void inject_sweep_signals(struct inject *inject, pid_t pid)
{
	enum { ROUNDS = 8 };
	struct search search = {0};

	for (int round = 0; round < ROUNDS; round++) {
		list_tids(&search, pid);
		for (size_t i = 0; i < search.tids.count; i++) {
			sweep_one(inject, pid, search.tids.items[i]);
			*vec_push(&search.useless) = search.tids.items[i];
		}
		if (!search.tids.count)
			break;
	}
	search_fini(&search);
}
