/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library comes in by the program's own dlopen, so its wrappers stand in for
 * nothing: the program's calls are bound already.  One of them must not be
 * missed.  An event that fires inside execve reaches the new image, which does not
 * expect the signal and dies of it.  So the first instruction of the C library's
 * execve and execveat becomes a jump to a function of ours that stops the events
 * first, and gets its old bytes back at the end.
 */
#include "launch/attach_process.h"

#include "base/strbuf.h"
#include "format/attach.h"
#include "format/params.h"
#include "launch/attach_calm.h"
#include "launch/attach_check.h"
#include "launch/attach_inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct visit {
	pid_t pid;
	struct remote remote;
	struct calm *calm;
	struct remote_symbols libc;
	struct format_attach table;
	struct inject inject;
};

/* ---- coming and going ---- */

static enum status visit_begin(struct visit *visit, pid_t pid, struct diag_list *diags)
{
	*visit = (struct visit){.pid = pid};
	if (!remote_open(&visit->remote, pid)) {
		attach_explain(pid, errno, diags);
		return errno == ENOENT || errno == ESRCH ? STATUS_NOTFOUND : STATUS_IO;
	}
	const struct remote_object *libc = remote_object(&visit->remote, "libc.so.6");

	if (libc && remote_symbols_read(&visit->remote, libc, &visit->libc))
		visit->calm = calm_new(&visit->remote);
	if (visit->calm)
		return STATUS_OK;
	diag_add(diags, DIAG_ERROR, "Process %d %s", (int)pid,
		 libc ? "cannot be read, or has just ended"
		      : "does not use the GNU C library, which the collector needs");
	return STATUS_INVALID;
}

static void visit_end(struct visit *visit)
{
	inject_let_go(&visit->inject);
	calm_free(visit->calm);
	remote_symbols_free(&visit->libc);
	remote_close(&visit->remote);
}

static enum status take(struct visit *visit, struct diag_list *diags)
{
	return inject_take(&visit->inject, &visit->remote, visit->calm,
			   remote_symbol(&visit->libc, "mmap"),
			   remote_symbol(&visit->libc, "munmap"), diags);
}

/* ---- the library ---- */

/* The table of the collector in the process; false: it is not loaded. */
static bool find_table(struct visit *visit)
{
	const struct remote_object *library = remote_object(&visit->remote, PARAMS_LIBRARY_NAME);
	struct remote_symbols symbols;

	if (!library)
		library = remote_object(&visit->remote, PARAMS_LIBRARY_NAME_TRACE);
	if (!library || !remote_symbols_read(&visit->remote, library, &symbols))
		return false;
	uint64_t at = remote_symbol(&symbols, FORMAT_ATTACH_NAME);

	remote_symbols_free(&symbols);
	return at && remote_read(&visit->remote, at, &visit->table, sizeof(visit->table));
}

/* What the program's dynamic linker has to say. */
static void explain_dlopen(struct visit *visit, const char *library, struct diag_list *diags)
{
	char why[512] = "";
	uint64_t dlerror = remote_symbol(&visit->libc, "dlerror");
	uint64_t text = 0;

	if (dlerror && inject_call(&visit->inject, dlerror, 0, 0, &text) && text)
		remote_read_string(&visit->remote, text, why, sizeof(why));
	diag_add(diags, DIAG_ERROR, "Process %d could not load %s%s%s", (int)visit->pid, library,
		 *why ? ": " : "", why);
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

enum { JUMP = 5, PATTERN_MAX = 10 };

struct hook {
	const char *name;
	size_t size;
	uint8_t code[PATTERN_MAX]; /* how the function begins, up to the system call */
};

static const struct hook hooks[] = {
	{"execve", 7, {0xb8, 0x3b, 0, 0, 0, 0x0f, 0x05}},
	{"execveat", 10, {0x49, 0x89, 0xca, 0xb8, 0x42, 0x01, 0, 0, 0x0f, 0x05}},
};

enum { HOOKS = sizeof(hooks) / sizeof(hooks[0]) };

static uint64_t hook_target(const struct visit *visit, int index)
{
	return index ? (uint64_t)visit->table.execveat : (uint64_t)visit->table.execve;
}

/* Behind the marker for indirect branches, which some C libraries begin functions with. */
static uint64_t hook_place(const struct visit *visit, int index)
{
	static const uint8_t marker[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[sizeof(marker)];
	uint64_t at = remote_symbol(&visit->libc, hooks[index].name);

	if (at && remote_read(&visit->remote, at, code, sizeof(code)) &&
	    !memcmp(code, marker, sizeof(marker)))
		at += sizeof(marker);
	return at;
}

static void make_jump(uint8_t code[JUMP], uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - from - JUMP);

	code[0] = 0xe9;
	memcpy(code + 1, &distance, sizeof(distance));
}

static bool hook_one(const struct visit *visit, int index)
{
	uint64_t at = hook_place(visit, index);
	uint64_t to = hook_target(visit, index);
	uint8_t code[PATTERN_MAX], jump[JUMP];
	int64_t distance = (int64_t)(to - at - JUMP);

	if (!at || distance != (int32_t)distance ||
	    !remote_read(&visit->remote, at, code, hooks[index].size))
		return false;
	make_jump(jump, at, to);
	if (!memcmp(code, jump, JUMP)) /* left by an attacher that was killed, or by a parent's */
		return true;
	return !memcmp(code, hooks[index].code, hooks[index].size) &&
	       remote_write(&visit->remote, at, jump, JUMP);
}

static void unhook(const struct visit *visit)
{
	for (int i = 0; i < HOOKS; i++) {
		uint64_t at = hook_place(visit, i);
		uint8_t code[JUMP], jump[JUMP];

		make_jump(jump, at, hook_target(visit, i));
		if (at && remote_read(&visit->remote, at, code, JUMP) && !memcmp(code, jump, JUMP))
			remote_write(&visit->remote, at, hooks[i].code, JUMP);
	}
}

static enum status hook(const struct visit *visit, struct diag_list *diags)
{
	for (int i = 0; i < HOOKS; i++) {
		if (hook_one(visit, i))
			continue;
		unhook(visit);
		diag_add(diags, DIAG_ERROR,
			 "Process %d has a C library whose %s is not known to helio, and an exec "
			 "while events are open could kill the program: start it with helio "
			 "collect",
			 (int)visit->pid, hooks[i].name);
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

/* Before the program is touched: its events would end the call that a thread is held in. */
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
	diag_add(diags, DIAG_ERROR,
		 "Process %d could not begin the experiment: %s; is the directory one in "
		 "which its user may write?",
		 (int)visit->pid, strerror((int)-(int64_t)result));
	return STATUS_IO;
}

enum status attach_process_begin(pid_t pid, const struct attach_request *request,
				 struct diag_list *diags)
{
	struct visit visit;
	enum status status = visit_begin(&visit, pid, diags);
	bool loaded = status == STATUS_OK && find_table(&visit);

	if (loaded && is_recording(&visit))
		status = refuse_recorded(&visit, diags);
	if (status == STATUS_OK)
		status = take(&visit, diags);
	if (status == STATUS_OK && !loaded)
		status = load(&visit, request->library, diags);
	if (status == STATUS_OK)
		status = hook(&visit, diags);
	if (status == STATUS_OK) {
		status = start(&visit, request->words, diags);
		if (status != STATUS_OK)
			unhook(&visit);
	}
	visit_end(&visit);
	return status;
}

/* As long as an event may fire, nothing is taken from the program that catches its signal. */
static enum status stop(struct visit *visit, struct diag_list *diags)
{
	const struct user_regs_struct *registers = &visit->inject.registers;
	uint64_t ended, released;

	if (!inject_call(&visit->inject, (uint64_t)visit->table.end, registers->rip, registers->rsp,
			 &ended)) {
		diag_add(diags, DIAG_ERROR,
			 "Process %d: the recording could not be ended; it goes on with the "
			 "collector in it",
			 (int)visit->pid);
		return STATUS_IO;
	}
	inject_sweep_signals(&visit->inject, visit->pid);
	inject_call(&visit->inject, (uint64_t)visit->table.release, 0, 0, &released);
	unhook(visit);
	return ended ? STATUS_NOTFOUND : STATUS_OK;
}

enum status attach_process_end(pid_t pid, struct diag_list *diags)
{
	struct visit visit;
	enum status status = visit_begin(&visit, pid, diags);

	if (status == STATUS_OK && !find_table(&visit))
		status = STATUS_NOTFOUND; /* it has become another program */
	if (status == STATUS_OK)
		status = take(&visit, diags);
	if (status == STATUS_OK)
		status = stop(&visit, diags);
	visit_end(&visit);
	return status;
}
