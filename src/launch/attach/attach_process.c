/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library comes in by the program's own dlopen, so its wrappers stand in for
 * nothing: the program's calls are bound already.  One of them must not be
 * missed.  An event that fires inside execve reaches the new image, which does not
 * expect the signal and dies of it.  So the first instruction of the C library's
 * execve and execveat becomes a jump to a function of ours that stops the events
 * first, and gets its old bytes back at the end.  The same for pthread_sigmask, by which all of the
 * C library changes masks: where that is so, threads that block our signals only believe it.  And
 * for pthread_create, so that threads which begin meanwhile have their first tick when it is due.
 */
#include "launch/attach/attach_process.h"
#include "launch/arch/arch.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "format/attach.h"
#include "format/params.h"
#include "launch/attach/attach_check.h"
#include "launch/attach/attach_inject.h"
#include "launch/attach/attach_safe_point.h"
#include "launch/proc.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LIBC "libc.so.6"

enum { TURN_WAIT_MS = 60000, TURN_NAP_MS = 10 };

struct visit {
	pid_t pid;
	struct remote remote;
	struct safe_point *calm;
	struct remote_symbols libc;
	struct format_attach table;
	struct inject inject;
	bool masks;		 /* are seen by the collector */
	bool hooked[ARCH_HOOKS]; /* by this visit */
};

/* ---- coming and going ---- */

/*
 * One visit at a time.  The kernel keeps tracers apart by threads only: two visits would each hold
 * another thread, and both load the library and begin.  The lock is one of the process's memory,
 * which only those can open who may trace it; it goes with us, however we end.
 */
static bool wait_for_turn(const struct visit *visit, struct diag_list *diags)
{
	const struct timespec nap = {.tv_nsec = TURN_NAP_MS * 1000000L};

	for (int waited = 0; flock(visit->remote.memory, LOCK_EX | LOCK_NB);
	     waited += TURN_NAP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return true; /* a kernel that has no such locks there */
		if (waited >= TURN_WAIT_MS) {
			diag_add(
				diags, DIAG_ERROR,
				"Process %d is held by another helio attach, which does not let it "
				"go: end that one, and try again",
				(int)visit->pid);
			return false;
		}
		nanosleep(&nap, NULL);
	}
	return true;
}

static enum status visit_begin(struct visit *visit, pid_t pid, struct diag_list *diags)
{
	*visit = (struct visit){.pid = pid};
	if (!remote_open(&visit->remote, pid)) {
		int error = errno;

		attach_explain(pid, error, diags);
		return error == ENOENT || error == ESRCH ? STATUS_NOTFOUND : STATUS_IO;
	}
	if (!wait_for_turn(visit, diags))
		return STATUS_IO;
	/* what another visit has loaded meanwhile */
	const struct remote_object *libc =
		remote_look(&visit->remote) ? remote_object(&visit->remote, LIBC) : NULL;

	if (libc && remote_symbols_read(&visit->remote, libc, &visit->libc))
		visit->calm = safe_point_new(&visit->remote);
	if (visit->calm)
		return STATUS_OK;
	if (attach_has_ended(pid)) {
		attach_explain(pid, ESRCH, diags);
		return STATUS_NOTFOUND;
	}
	diag_add(diags, DIAG_ERROR, "Process %d %s", (int)pid,
		 libc ? "cannot be read: start it with helio collect"
		      : "does not use the GNU C library, which the collector needs: build it "
			"against glibc, or watch it with perf record -p");
	return STATUS_INVALID;
}

static void visit_end(struct visit *visit)
{
	inject_let_go(&visit->inject);
	safe_point_free(visit->calm);
	remote_symbols_free(&visit->libc);
	remote_close(&visit->remote);
}

static enum status take(struct visit *visit, struct diag_list *diags)
{
	const struct remote_object *libc = remote_object(&visit->remote, LIBC);
	const struct inject_library library = {
		.mmap = remote_symbol(&visit->libc, "mmap"),
		.munmap = remote_symbol(&visit->libc, "munmap"),
		.sigreturn = remote_find_code(&visit->remote, libc, arch_sigreturn, ARCH_SIGRETURN),
	};

	if (library.mmap && library.munmap && library.sigreturn)
		return inject_take(&visit->inject, &visit->remote, visit->calm, &library, diags);
	if (attach_has_ended(visit->pid)) {
		attach_explain(visit->pid, ESRCH, diags);
		return STATUS_NOTFOUND;
	}
	if (!remote_read(&visit->remote, libc->start, &(uint8_t){0},
			 1)) { /* it is another's memory */
		attach_becomes_another(visit->pid, diags);
		return STATUS_INVALID;
	}
	diag_add(diags, DIAG_ERROR,
		 "Process %d has a C library that helio does not know: start it with helio collect",
		 (int)visit->pid);
	return STATUS_INVALID;
}

/* ---- the library ---- */

static const struct remote_object *find_collector(const struct visit *visit)
{
	const struct remote_object *library = remote_object(&visit->remote, PARAMS_LIBRARY_NAME);

	return library ? library : remote_object(&visit->remote, PARAMS_LIBRARY_NAME_TRACE);
}

/* The table of the collector in the process; false: it is not loaded. */
static bool find_table(struct visit *visit)
{
	const struct remote_object *library = find_collector(visit);
	struct remote_symbols symbols;

	if (!library || !remote_symbols_read(&visit->remote, library, &symbols))
		return false;
	uint64_t at = remote_symbol(&symbols, FORMAT_ATTACH_NAME);

	remote_symbols_free(&symbols);
	return at && remote_read(&visit->remote, at, &visit->table, sizeof(visit->table));
}

/* What helps where a call in the process has failed so. */
static const char *remedy_of(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case EROFS:
		return "is the directory one in which its user may write?";
	case ENOSPC:
	case EDQUOT:
		return "make room there, or name another directory with -d";
	case EFBIG:
		return "raise its limit of file sizes (prlimit --pid PID --fsize=unlimited)";
	case EMFILE:
		return "raise its limit of descriptors (prlimit --pid PID --nofile=1024)";
	case ENOMEM:
	case EAGAIN:
		return "raise its limits of memory and threads (prlimit --pid PID --as=unlimited "
		       "--data=unlimited --nproc=unlimited)";
	default:
		return "start it with helio collect";
	}
}

/* The dynamic linker tells in words only. */
static int error_of(const char *why)
{
	static const int known[] = {EACCES, EMFILE, ENFILE, ENOMEM};

	if (strstr(why, "failed to map") || strstr(why, "cannot allocate"))
		return ENOMEM;
	for (size_t i = 0; i < COUNT(known); i++)
		if (strstr(why, strerrordesc_np(known[i])))
			return known[i];
	return 0;
}

/* What the program's dynamic linker has to say. */
static void explain_dlopen(struct visit *visit, const char *library, struct diag_list *diags)
{
	char why[512] = "";
	uint64_t dlerror = remote_symbol(&visit->libc, "dlerror");
	uint64_t text = 0;

	if (dlerror && inject_call(&visit->inject, dlerror, 0, 0, &text) && text)
		remote_read_string(&visit->remote, text, why, sizeof(why));
	int error = error_of(why);

	diag_add(diags, DIAG_ERROR, "Process %d could not load %s%s%s; %s", (int)visit->pid,
		 library, *why ? ": " : "", why,
		 error == EACCES ? "put helio where the program's user may read it"
				 : remedy_of(error));
}

static enum status load(struct visit *visit, const char *library, struct diag_list *diags)
{
	uint64_t dlopen = remote_symbol(&visit->libc, "dlopen");
	uint64_t path = inject_put(&visit->inject, library, strlen(library) + 1);
	uint64_t handle = 0;

	if (!dlopen) {
		diag_add(diags, DIAG_ERROR,
			 "Process %d has a C library older than glibc 2.34: start it with helio "
			 "collect",
			 (int)visit->pid);
		return STATUS_INVALID;
	}
	inject_call(&visit->inject, dlopen, path, RTLD_NOW, &handle);
	if (handle && remote_look(&visit->remote) && find_table(visit))
		return STATUS_OK;
	explain_dlopen(visit, library, diags);
	return STATUS_IO;
}

/* ---- exec ---- */

enum { HOOK_MASKS = 2 };

/* Where format_attach has what takes the place of each function of arch_hooks. */
static const size_t hook_targets[ARCH_HOOKS] = {
	offsetof(struct format_attach, execve),
	offsetof(struct format_attach, execveat),
	offsetof(struct format_attach, sigmask),
	offsetof(struct format_attach, create),
};

static uint64_t hook_target(const struct visit *visit, int index)
{
	uint64_t target;

	memcpy(&target, (const char *)&visit->table + hook_targets[index], sizeof(target));
	return target;
}

/* The function, behind the marker for indirect branches, which some C libraries begin them with. */
static uint64_t hook_function(const struct visit *visit, int index)
{
	uint8_t code[ARCH_MARKER];
	uint64_t at = remote_symbol(&visit->libc, arch_hooks[index].name);

	if (at && remote_read(&visit->remote, at, code, sizeof(code)) &&
	    !memcmp(code, arch_marker, sizeof(code)))
		at += sizeof(code);
	return at;
}

static uint64_t hook_place(const struct visit *visit, int index)
{
	uint64_t at = hook_function(visit, index);

	return at ? at + arch_hooks[index].skipped : 0;
}

enum { WORD = sizeof(uint64_t) };

static bool is_in_one_word(uint64_t at)
{
	return at % WORD + ARCH_JUMP <= WORD;
}

/*
 * The program's threads may be at this place just now: they see the old instruction or the new one
 * where all changes in one word, which is written at once.
 */
static bool write_code(const struct visit *visit, uint64_t at, const uint8_t code[ARCH_JUMP])
{
	uint8_t word[WORD];

	if (!is_in_one_word(at))
		return remote_write(&visit->remote, at, code, ARCH_JUMP);
	if (!remote_read(&visit->remote, at - at % WORD, word, WORD))
		return false;
	memcpy(word + at % WORD, code, ARCH_JUMP);
	return remote_write(&visit->remote, at - at % WORD, word, WORD);
}

/* Whether the code at `at` is a jump of ours to `to`, at once or by way of the relay. */
static bool leads_to(const struct visit *visit, uint64_t at, uint64_t to)
{
	uint8_t code[ARCH_JUMP], far[ARCH_FAR_JUMP], expected[ARCH_FAR_JUMP];

	if (!remote_read(&visit->remote, at, code, ARCH_JUMP) || !arch_jump_target(code, &at))
		return false;
	arch_make_far_jump(expected, to);
	return at == to || (remote_read(&visit->remote, at, far, sizeof(far)) &&
			    !memcmp(far, expected, sizeof(far)));
}

/* A free page within reach of a jump from `from`; 0: none. */
static uint64_t find_gap(const struct visit *visit, uint64_t from)
{
	enum { PAGE = 4096, APART = 16 * PAGE };
	uint64_t best = 0;

	for (size_t i = 1; i < visit->remote.mappings.count; i++) {
		const struct remote_mapping *above = &visit->remote.mappings.items[i];
		uint64_t at = above->start - APART;

		/* Close to other mappings, but not to a stack that may grow. */
		if (above->start - above[-1].end > 2 * APART && !above->is_stack &&
		    arch_is_near(from, at) && arch_is_near(from, at + PAGE))
			best = at;
	}
	return best;
}

/*
 * The library may lie farther from libc than a jump reaches: Java reserves gigabytes between
 * them.  Then a page of far jumps near libc leads there.  It stays when recording ends, since
 * a thread may be on its way through it; the next attacher finds it again.
 */
static uint64_t make_relay(struct visit *visit, uint64_t from)
{
	uint8_t code[ARCH_HOOKS * ARCH_FAR_JUMP], found[sizeof(code)];

	if (!remote_look(&visit->remote))
		return 0;
	for (int i = 0; i < ARCH_HOOKS; i++)
		arch_make_far_jump(code + (size_t)i * ARCH_FAR_JUMP, hook_target(visit, i));
	for (size_t i = 0; i < visit->remote.mappings.count; i++) {
		const struct remote_mapping *mapping = &visit->remote.mappings.items[i];

		if (mapping->anonymous && mapping->executable &&
		    arch_is_near(from, mapping->start) &&
		    remote_read(&visit->remote, mapping->start, found, sizeof(found)) &&
		    !memcmp(found, code, sizeof(code)))
			return mapping->start;
	}
	uint64_t gap = find_gap(visit, from);

	if (!gap || inject_map_code(&visit->inject, gap) != gap ||
	    !remote_write(&visit->remote, gap, code, sizeof(code)))
		return 0;
	return gap;
}

/*
 * What is told of the instruction that becomes a jump stays for who is on the way through it, and
 * for who puts it back.
 */
static bool tell_rest(const struct visit *visit, uint64_t function, size_t size)
{
	struct format_attach_create rest;
	uint32_t room;

	rest.go_on = function + size + sizeof(room);
	if (!remote_read(&visit->remote, function + size, &room, sizeof(room)))
		return false;
	rest.room = room;
	return remote_write(&visit->remote, (uint64_t)visit->table.created, &rest, sizeof(rest));
}

/* The bytes that are replaced by the jump. */
static bool old_code(const struct visit *visit, int index, uint8_t code[ARCH_JUMP])
{
	const struct arch_hook *hook = &arch_hooks[index];
	size_t known = hook->size - hook->skipped;
	struct format_attach_create rest;

	memcpy(code, hook->code + hook->skipped, ARCH_JUMP < known ? ARCH_JUMP : known);
	if (!hook->skipped)
		return true;
	if (!remote_read(&visit->remote, (uint64_t)visit->table.created, &rest, sizeof(rest)))
		return false;
	memcpy(code + known, &rest.room, ARCH_JUMP - known);
	return true;
}

static const char *hook_one(struct visit *visit, int index, uint64_t *relay)
{
	const struct arch_hook *hook = &arch_hooks[index];
	uint64_t function = hook_function(visit, index);
	uint64_t at = hook_place(visit, index);
	uint64_t to = hook_target(visit, index);
	uint8_t code[ARCH_PATTERN_MAX], jump[ARCH_JUMP];

	if (at &&
	    leads_to(visit, at, to)) { /* left by an attacher that was killed, or a parent's */
		visit->inject.hooks[index] = hook->skipped ? 0 : at;
		return NULL;
	}
	if (!at || !remote_read(&visit->remote, function, code, hook->size) ||
	    memcmp(code, hook->code, hook->size) ||
	    (hook->skipped && (!is_in_one_word(at) || !tell_rest(visit, function, hook->size))))
		return "that is not known to helio";
	if (!arch_is_near(at, to)) {
		*relay = *relay ? *relay : make_relay(visit, at);
		to = *relay ? *relay + (uint64_t)index * ARCH_FAR_JUMP : to;
	}
	arch_make_jump(jump, at, to);
	visit->hooked[index] = arch_is_near(at, to) && write_code(visit, at, jump);
	/* Where the jump is one instruction's, no thread can be within. */
	visit->inject.hooks[index] = visit->hooked[index] && !hook->skipped ? at : 0;
	return visit->hooked[index] ? NULL : "in whose neighbourhood no memory is free";
}

static void unhook_one(struct visit *visit, int index)
{
	uint64_t at = hook_place(visit, index);
	uint8_t code[ARCH_JUMP];

	visit->inject.hooks[index] = 0;
	if (at && leads_to(visit, at, hook_target(visit, index)) && old_code(visit, index, code))
		write_code(visit, at, code);
}

static void unhook(struct visit *visit)
{
	for (int i = 0; i < ARCH_HOOKS; i++)
		unhook_one(visit, i);
}

/* What was there before this visit may be a recording's, without which an exec is deadly. */
static void unhook_own(struct visit *visit)
{
	for (int i = 0; i < ARCH_HOOKS; i++)
		if (visit->hooked[i])
			unhook_one(visit, i);
}

static enum status hook(struct visit *visit, struct diag_list *diags)
{
	uint64_t relay = 0;

	for (int i = 0; i < ARCH_HOOKS; i++) {
		const char *why = hook_one(visit, i, &relay);

		visit->masks |= !why && i == HOOK_MASKS;
		if (!why || arch_hooks[i].optional)
			continue;
		unhook_own(visit);
		diag_add(diags, DIAG_ERROR,
			 "Process %d has a C library with an %s %s, and an exec while events are "
			 "open could kill the program: start it with helio collect",
			 (int)visit->pid, arch_hooks[i].name, why);
		return STATUS_INVALID;
	}
	return STATUS_OK;
}

/* ---- begin and end ---- */

static uint64_t put_words(struct visit *visit, char **words)
{
	struct strbuf text = {0};

	for (; *words; words++)
		strbuf_add(&text, *words, strlen(*words) + 1);
	strbuf_putc(&text, '\0');
	uint64_t at = inject_put(&visit->inject, text.text, text.length);

	strbuf_fini(&text);
	return at;
}

static enum status refuse_recorded(const struct visit *visit, struct diag_list *diags)
{
	diag_add(diags, DIAG_ERROR,
		 "Process %d is being recorded already, or was started by helio collect",
		 (int)visit->pid);
	return STATUS_INVALID;
}

/*
 * Asked before the program is touched: a recorded program's events would end the held thread's
 * system call.
 */
static bool is_recording(const struct visit *visit)
{
	uint8_t recording = 0;

	return remote_read(&visit->remote, (uint64_t)visit->table.recording, &recording, 1) &&
	       recording;
}

static enum status start(struct visit *visit, char **words, struct diag_list *diags)
{
	uint64_t at = put_words(visit, words);
	uint64_t result = (uint64_t)-E2BIG;

	if (at && !inject_call(&visit->inject, (uint64_t)visit->table.begin, at, (uint64_t)getpid(),
			       &result))
		result = (uint64_t)-EFAULT;
	if (!result)
		return STATUS_OK;
	if ((int64_t)result == -EBUSY)
		return refuse_recorded(visit, diags);
	diag_add(diags, DIAG_ERROR, "Process %d could not begin the experiment: %s; %s",
		 (int)visit->pid, strerror((int)-(int64_t)result),
		 remedy_of((int)-(int64_t)result));
	return STATUS_IO;
}

/* Where masks cannot be followed, the log says that threads block them. */
static void open_signals(struct visit *visit)
{
	uint64_t believe = (uint64_t)visit->table.believe, result;
	const struct remote_object *collector = find_collector(visit);

	if (collector)
		safe_point_note_collector(visit->calm, collector);
	if (visit->masks)
		inject_open_signals(&visit->inject, visit->calm, believe);
	else if (inject_has_blocked(&visit->inject))
		inject_call(&visit->inject, believe, 0, 0, &result);
}

/* The collector's answer when it is another than `later`, which a runtime's thread may need. */
static int64_t call_until_done(struct visit *visit, uint64_t function, int later)
{
	enum { TRIES = 200, NAP_NS = 1000 * 1000 };
	const struct user_regs_struct *registers = &visit->inject.held.registers;
	const struct timespec nap = {.tv_nsec = NAP_NS};
	uint64_t result = (uint64_t)-later;

	for (int i = 0; i < TRIES && (int64_t)result == -later; i++) {
		if (i)
			nanosleep(&nap, NULL);
		if (!inject_call(&visit->inject, function, arch_pc(registers), arch_sp(registers),
				 &result))
			return -EFAULT;
	}
	return (int64_t)result;
}

/*
 * No event is open yet: the collector's holder waits until the thread is let go.  A recording that
 * has not ended does so by itself when we are gone, and needs the hooks until then.
 */
static enum status take_back(struct visit *visit, struct diag_list *diags)
{
	if (!call_until_done(visit, (uint64_t)visit->table.end, EAGAIN) &&
	    !call_until_done(visit, (uint64_t)visit->table.release, EBUSY))
		unhook_own(visit);
	attach_becomes_another(visit->pid, diags);
	return STATUS_INVALID;
}

/*
 * A thread that was in execve before the hooks, or before the recording, would take its events into
 * the new program.
 */
static enum status begin_events(struct visit *visit, struct diag_list *diags)
{
	if (!inject_await_execs(&visit->inject))
		return take_back(visit, diags);
	open_signals(visit);
	return STATUS_OK;
}

static enum status begin(pid_t pid, const struct attach_request *request, struct diag_list *diags)
{
	struct visit visit;
	enum status status = visit_begin(&visit, pid, diags);
	bool loaded = status == STATUS_OK && find_table(&visit);

	if (loaded && is_recording(&visit))
		status = refuse_recorded(&visit, diags);
	if (status == STATUS_OK)
		status = take(&visit, diags);
	if (status == STATUS_OK && loaded && is_recording(&visit)) /* begun by itself meanwhile */
		status = refuse_recorded(&visit, diags);
	if (status == STATUS_OK && !loaded)
		status = load(&visit, request->library, diags);
	if (status == STATUS_OK)
		status = hook(&visit, diags);
	if (status == STATUS_OK) {
		status = start(&visit, request->words, diags);
		if (status != STATUS_OK)
			unhook_own(&visit);
		else
			status = begin_events(&visit, diags);
	}
	visit_end(&visit);
	return status;
}

static void complain_end(pid_t pid, struct diag_list *diags)
{
	diag_add(diags, DIAG_ERROR,
		 "Process %d: the recording could not be ended; it goes on with the "
		 "collector in it",
		 (int)pid);
}

/*
 * As long as an event may fire, nothing is taken from the program that catches its signal.
 * again: it has not ended, or a thread of the collector's is still on its way out.
 */
static enum status stop(struct visit *visit, bool *again)
{
	const struct user_regs_struct *registers = &visit->inject.held.registers;
	uint64_t ended, released;

	if (!inject_call(&visit->inject, (uint64_t)visit->table.end, arch_pc(registers),
			 arch_sp(registers), &ended))
		return STATUS_IO;
	*again = (int64_t)ended == -EAGAIN;
	if (*again)
		return STATUS_IO;
	visit->inject.disbelieve = (uint64_t)visit->table.disbelieve;
	inject_sweep_signals(&visit->inject, visit->pid);
	*again = inject_call(&visit->inject, (uint64_t)visit->table.release, 0, 0, &released) &&
		 (int64_t)released == -EBUSY;
	unhook(visit);
	return ended ? STATUS_NOTFOUND : STATUS_OK;
}

/* again: as of stop; among the reasons, a thread is in execve that may still fail. */
static enum status try_end(pid_t pid, struct diag_list *diags, bool *again)
{
	struct visit visit;
	enum status status = visit_begin(&visit, pid, diags);

	if (status == STATUS_OK && !find_table(&visit))
		status = STATUS_NOTFOUND; /* it has become another program */
	if (status == STATUS_OK)
		status = take(&visit, diags);
	if (status == STATUS_OK) {
		status = stop(&visit, again);
		if (status == STATUS_IO && !*again)
			complain_end(pid, diags);
	}
	visit_end(&visit);
	return status;
}

static enum status end(pid_t pid, struct diag_list *diags)
{
	enum { TRIES = 200, NAP_MS = 10 };
	const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
	struct diag_list unsaid = {0};
	bool again = false;
	enum status status = try_end(pid, diags, &again);

	for (int i = 0; again && i < TRIES; i++) {
		nanosleep(&nap, NULL);
		again = false;
		if (status == STATUS_OK) /* what comes of this one is not the user's concern */
			try_end(pid, &unsaid, &again);
		else
			status = try_end(pid, diags, &again);
	}
	diag_fini(&unsaid);
	if (again && status == STATUS_IO)
		complain_end(pid, diags);
	return status;
}

/* ---- a thread for it ---- */

struct job {
	pid_t pid;
	const struct attach_request *request; /* NULL: the end */
	struct diag_list *diags;
	enum status status;
};

static void *work(void *arg)
{
	struct job *job = arg;

	job->status = job->request ? begin(job->pid, job->request, job->diags)
				   : end(job->pid, job->diags);
	return NULL;
}

/*
 * A thread of a program that could not be stopped, as one that waits for its vfork, is let go
 * only when ours ends.  SIGCHLD, which tells of stops, must come to ours.
 */
static enum status run(struct job *job)
{
	sigset_t child, before;
	pthread_t thread;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	int error = pthread_create(&thread, NULL, work, job);

	if (!error)
		pthread_join(thread, NULL);
	else
		diag_add(job->diags, DIAG_ERROR, "No thread could be made: %s", strerror(error));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error ? STATUS_IO : job->status;
}

enum status attach_process_begin(pid_t pid, const struct attach_request *request,
				 struct diag_list *diags)
{
	return run(&(struct job){.pid = pid, .request = request, .diags = diags});
}

enum status attach_process_end(pid_t pid, struct diag_list *diags)
{
	return run(&(struct job){.pid = pid, .diags = diags});
}
