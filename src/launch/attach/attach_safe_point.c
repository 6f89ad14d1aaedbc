/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen takes the loader's lock and allocates memory.  In a thread that is
 * inside malloc or the loader already it would wait for itself for ever.  So the
 * thread's call stack is unwound first, with elfutils, and no frame may lie in
 *   - the dynamic linker,
 *   - an allocator's library,
 *   - a function of the C library that takes one of the locks in question, or
 *     that is inside such a function for all we know.
 * Of libc we know the exported functions only; what is called by one of them is
 * found with it.  A function without a name that was entered from outside, by a
 * tail call, may be any, and so may one that is interrupted at work.  Where the unwinder gives up
 * (code without CFI) the rest is taken for harmless, unless a signal handler is below it: that one
 * may have interrupted malloc.
 */
#include "launch/attach/attach_safe_point.h"

#include "base/array.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint64_t start, end;
	bool busy;
	bool creates; /* a thread; or code of the collector, which may be about to */
};

struct safe_point {
	Dwfl *dwfl;
	uint64_t libc_start, libc_end;
	VEC(struct range) ranges; /* libc's functions, and everything that is busy */
};

/* With a * at the end: all names that begin so. */
static const char *const busy_names[] = {
	/* allocators, also those that a program has linked in */
	"malloc*", "calloc", "realloc*", "free", "cfree", "memalign", "aligned_alloc",
	"posix_memalign", "valloc", "pvalloc", "mallinfo*", "mallopt", "__libc_malloc*",
	"__libc_calloc", "__libc_realloc", "__libc_free*", "__libc_memalign", "_Znw*", "_Zna*",
	"_Zdl*", "_Zda*", "tc_*", "mi_*", "sdallocx", "mallocx", "rallocx", "xallocx",
	/* the loader */
	"dl*", "__libc_dl*", "_dl_*", "__tls_get_addr",
	/* what holds the locks of the above, or of threads' attributes and fork handlers */
	"fork", "_Fork", "vfork", "__libc_fork", "clone", "__clone", "daemon", "forkpty",
	"pthread_create*", "pthread_exit", "pthread_attr_*", "pthread_getattr*", "pthread_setattr*",
	"pthread_key_*", "pthread_atfork", "__register_atfork", "thrd_create", "thrd_exit",
	"tss_create", "__cxa_atexit", "__cxa_finalize", "atexit", "on_exit", "exit", "quick_exit"};

static bool is_busy_name(const char *name)
{
	for (size_t i = 0; i < COUNT(busy_names); i++) {
		size_t length = strlen(busy_names[i]);
		bool open = busy_names[i][length - 1] == '*';

		if (open ? !strncmp(name, busy_names[i], length - 1) : !strcmp(name, busy_names[i]))
			return true;
	}
	return false;
}

struct note {
	struct safe_point *calm;
	bool libc;
};

static void note_function(const char *name, uint64_t start, uint64_t size, void *arg)
{
	struct note *note = arg;
	bool busy = is_busy_name(name);
	bool creates = note->libc && !strncmp(name, "pthread_create", strlen("pthread_create"));

	if (busy || note->libc)
		*vec_push(&note->calm->ranges) = (struct range){
			.start = start, .end = start + size, .busy = busy, .creates = creates};
}

/* A library whose business is memory: what it calls inside need not be exported. */
static bool is_allocator(const char *base, const struct remote_symbols *symbols)
{
	return !strncmp(base, "lib", 3) && remote_symbol(symbols, "malloc");
}

static void note_object(struct safe_point *calm, const struct remote *remote,
			const struct remote_object *object)
{
	const char *base = remote_base_name(object);
	struct remote_symbols symbols;
	struct note note = {.calm = calm, .libc = !strncmp(base, "libc.so", strlen("libc.so"))};
	bool whole = !strncmp(base, "ld-", 3) || !strncmp(base, "ld.so", strlen("ld.so"));

	if (note.libc) {
		calm->libc_start = object->start;
		calm->libc_end = object->end;
	}
	if (!whole && remote_symbols_read(remote, object, &symbols)) {
		whole = !note.libc && is_allocator(base, &symbols);
		remote_symbols_each(&symbols, note_function, &note);
		remote_symbols_free(&symbols);
	}
	if (whole)
		*vec_push(&calm->ranges) =
			(struct range){.start = object->start, .end = object->end, .busy = true};
}

/* CFI is in the program itself. */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **result)
{
	(void)module, (void)data, (void)name, (void)base;
	(void)file, (void)link, (void)crc, (void)result;
	return -1;
}

static Dwfl *open_unwinder(pid_t pid)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
						 .find_debuginfo = find_no_debuginfo,
						 .debuginfo_path = &no_path};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (dwfl && !dwfl_linux_proc_report(dwfl, pid) && !dwfl_report_end(dwfl, NULL, NULL) &&
	    !dwfl_linux_proc_attach(dwfl, pid, true))
		return dwfl;
	if (dwfl)
		dwfl_end(dwfl);
	return NULL;
}

struct safe_point *safe_point_new(const struct remote *remote)
{
	Dwfl *dwfl = open_unwinder(remote->pid);

	if (!dwfl)
		return NULL;
	struct safe_point *calm = xcalloc(1, sizeof(*calm));

	calm->dwfl = dwfl;
	for (size_t i = 0; i < remote->objects.count; i++)
		note_object(calm, remote, &remote->objects.items[i]);
	return calm;
}

void safe_point_free(struct safe_point *calm)
{
	if (!calm)
		return;
	dwfl_end(calm->dwfl);
	vec_fini(&calm->ranges);
	free(calm);
}

struct walk {
	const struct safe_point *calm;
	unsigned frames;
	bool in_call;
	bool nameless; /* the frame before is in libc, in a function that it does not export */
	bool busy;
	bool handler; /* a signal handler is on the stack */
	bool creates;
};

enum { FRAMES_MAX = 4096 };

static void look_at_pc(struct walk *walk, uint64_t pc)
{
	const struct safe_point *calm = walk->calm;
	bool in_libc = pc >= calm->libc_start && pc < calm->libc_end;
	bool named = false;

	for (size_t i = 0; i < calm->ranges.count; i++) {
		const struct range *range = &calm->ranges.items[i];

		if (pc < range->start || pc >= range->end)
			continue;
		named = true;
		walk->busy |= range->busy;
	}
	walk->busy |= walk->nameless && !in_libc;
	walk->nameless = in_libc && !named;
}

static int look_at_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	Dwarf_Addr pc;
	bool interrupted;

	if (!dwfl_frame_pc(frame, &pc, &interrupted) || walk->frames == FRAMES_MAX)
		return DWARF_CB_ABORT;
	look_at_pc(walk, interrupted ? pc : pc - 1); /* the call, not where it returns to */
	if (!walk->frames)
		walk->busy |= walk->nameless && !walk->in_call;
	else
		walk->handler |= interrupted;
	walk->frames++;
	return walk->busy ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int look_for_handler(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	Dwarf_Addr pc;
	bool interrupted;

	if (!dwfl_frame_pc(frame, &pc, &interrupted) || walk->frames == FRAMES_MAX)
		return DWARF_CB_ABORT;
	walk->handler |= walk->frames++ && interrupted;
	return walk->handler ? DWARF_CB_ABORT : DWARF_CB_OK;
}

bool safe_point_in_handler(struct safe_point *calm, pid_t tid)
{
	struct walk walk = {0};

	dwfl_getthread_frames(calm->dwfl, tid, look_for_handler, &walk);
	return walk.handler;
}

void safe_point_note_collector(struct safe_point *calm, const struct remote_object *object)
{
	*vec_push(&calm->ranges) =
		(struct range){.start = object->start, .end = object->end, .creates = true};
}

static int look_for_creation(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || walk->frames++ == FRAMES_MAX)
		return DWARF_CB_ABORT;
	for (size_t i = 0; i < walk->calm->ranges.count; i++) {
		const struct range *range = &walk->calm->ranges.items[i];

		walk->creates |= range->creates && pc >= range->start && pc < range->end;
	}
	return walk->creates ? DWARF_CB_ABORT : DWARF_CB_OK;
}

bool safe_point_creates_thread(struct safe_point *calm, pid_t tid)
{
	struct walk walk = {.calm = calm};

	dwfl_getthread_frames(calm->dwfl, tid, look_for_creation, &walk);
	return walk.creates;
}

bool safe_point_at(struct safe_point *calm, pid_t tid, bool in_call)
{
	struct walk walk = {.calm = calm, .in_call = in_call};
	int result = dwfl_getthread_frames(calm->dwfl, tid, look_at_frame, &walk);

	return walk.frames && !walk.busy && (!result || !walk.handler);
}
