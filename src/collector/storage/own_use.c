/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/own_use.h"

#include "collector/arch/sys.h"
#include "collector/storage/recording.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define NOT_LOOKED_AT UINT64_MAX

static struct format_own_use elsewhere; /* of a process without files */
static struct format_own_use *use = &elsewhere;
static struct format_left nowhere;
static struct format_left *left = &nowhere;
static int use_pid; /* whose they are: a child of vfork has the same memory */

/* This thread is in a span: what comes on top of it, a handler's, is in that. */
static __thread bool in_span __attribute__((tls_model("initial-exec")));

static struct own_use_span work;
static _Atomic int worker; /* the thread between work_begin and work_end; 0: none */

enum { FIRST = 8 };

/* Of handlers, in a process's first events: not on the program's stack. */
static struct {
	_Atomic unsigned looks;
	struct own_use_span spans[FIRST];
} first;

static void add(uint64_t *count, uint64_t value)
{
	__atomic_fetch_add(count, value, __ATOMIC_RELAXED);
}

static bool is_counted(long result)
{
	return result != -EBADF && (!use_pid || use_pid == sys_getpid());
}

void sys_note_read(long result)
{
	if (!is_counted(result))
		return;
	add(&use->read_calls, 1);
	if (result > 0)
		add(&use->read_bytes, (uint64_t)result);
}

void sys_note_write(long result)
{
	if (!is_counted(result))
		return;
	add(&use->write_calls, 1);
	if (result > 0)
		add(&use->write_bytes, (uint64_t)result);
}

static void read_span(struct own_use_span *span)
{
	struct rusage usage = {0};

	sys_call(SYS_getrusage, RUSAGE_THREAD, &usage, 0, 0);
	span->minor = (uint64_t)usage.ru_minflt;
	span->major = (uint64_t)usage.ru_majflt;
	span->input = (uint64_t)usage.ru_inblock;
	span->output = (uint64_t)usage.ru_oublock;
	span->voluntary = (uint64_t)usage.ru_nvcsw;
	span->involuntary = (uint64_t)usage.ru_nivcsw;
}

static void add_more(uint64_t *count, uint64_t before, uint64_t now)
{
	if (now > before)
		add(count, now - before);
}

static void add_since(const struct own_use_span *before, const struct own_use_span *now)
{
	add_more(&use->minor_faults, before->minor, now->minor);
	add_more(&use->major_faults, before->major, now->major);
	add_more(&use->input_blocks, before->input, now->input);
	add_more(&use->output_blocks, before->output, now->output);
	add_more(&use->voluntary_switches, before->voluntary, now->voluntary);
	add_more(&use->involuntary_switches, before->involuntary, now->involuntary);
}

static bool is_working(void)
{
	int tid = atomic_load_explicit(&worker, memory_order_relaxed);

	return tid && tid == sys_gettid();
}

void own_use_begin(struct own_use_span *span)
{
	*span = (struct own_use_span){.minor = NOT_LOOKED_AT};
	/* Where nothing is recorded any more a filter may forbid the call. */
	if (!atomic_load(&collector.recording) || in_span || is_working())
		return;
	in_span = true;
	read_span(span);
}

void own_use_end(const struct own_use_span *span)
{
	struct own_use_span now;

	if (span->minor == NOT_LOOKED_AT)
		return;
	in_span = false;
	if (!atomic_load(&collector.recording))
		return;
	read_span(&now);
	add_since(span, &now);
}

const struct own_use_span *own_use_first_begin(void)
{
	unsigned look = atomic_load_explicit(&first.looks, memory_order_relaxed);

	if (look < FIRST)
		look = atomic_fetch_add_explicit(&first.looks, 1, memory_order_relaxed);
	if (look >= FIRST)
		return NULL;
	own_use_begin(&first.spans[look]);
	return &first.spans[look];
}

void own_use_first_end(const struct own_use_span *span)
{
	if (span)
		own_use_end(span);
}

void own_use_prefault(void *memory, size_t size)
{
	struct own_use_span span;

	own_use_begin(&span);
	sys_call(SYS_madvise, memory, size, MADV_POPULATE_WRITE, 0);
	own_use_end(&span);
}

static void (*set_present)(const void *memory, size_t size);

void own_use_set_present(void (*make_present)(const void *memory, size_t size))
{
	set_present = make_present;
}

void own_use_make_present(const void *memory, size_t size)
{
	if (set_present)
		set_present(memory, size);
}

void own_use_work_begin(void)
{
	read_span(&work);
	atomic_store(&worker, sys_gettid());
}

void own_use_work_settle(void)
{
	struct own_use_span now;

	if (!is_working())
		return;
	read_span(&now);
	add_since(&work, &now);
	work = now;
}

void own_use_work_end(void)
{
	own_use_work_settle();
	atomic_store(&worker, 0);
}

void own_use_thread(struct own_use_span *noted)
{
	struct own_use_span now;

	read_span(&now);
	add_since(noted, &now);
	*noted = now;
}

enum format_io_state own_use_io_state(void)
{
	return (enum format_io_state)__atomic_load_n(&use->io_state, __ATOMIC_RELAXED);
}

bool own_use_io_changes(enum format_io_state from, enum format_io_state to)
{
	uint64_t before = from;

	return own_use_io_state() == from &&
	       __atomic_compare_exchange_n(&use->io_state, &before, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

void own_use_add_ended(const struct format_io *io)
{
	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		add(&use->ended.count[i], io->count[i]);
}

void own_use_get_ended(struct format_io *io)
{
	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		io->count[i] = __atomic_load_n(&use->ended.count[i], __ATOMIC_RELAXED);
}

static void set(uint64_t *value, uint64_t to)
{
	__atomic_store_n(value, to, __ATOMIC_RELAXED);
}

void own_use_note_before(uint64_t user_us, uint64_t system_us, uint64_t own_us)
{
	set(&left->before_user_us, user_us);
	set(&left->before_system_us, system_us);
	set(&left->before_own_us, own_us);
}

void own_use_note_look(uint64_t cpu_ns)
{
	struct rusage usage = {0};

	if (sys_call(SYS_getrusage, RUSAGE_CHILDREN, &usage, 0, 0))
		return;
	set(&left->collector_us, cpu_ns / 1000);
	set(&left->children_user_us, format_us_of(&usage.ru_utime));
	set(&left->children_system_us, format_us_of(&usage.ru_stime));
	set(&left->looked, 1);
}

void own_use_open(struct format_own_use *shared, struct format_left *shared_left)
{
	*shared = *use;
	use = shared;
	left = shared_left;
	use_pid = sys_getpid();
	/* Written here: a fault in a handler would be one of the program's. */
	for (unsigned i = 0; i < FIRST; i++)
		first.spans[i] = (struct own_use_span){.minor = NOT_LOOKED_AT};
	atomic_store(&first.looks, 0);
}

void own_use_forget(void)
{
	use = &elsewhere;
	left = &nowhere;
	elsewhere = (struct format_own_use){0};
	use_pid = sys_getpid();
}

void own_use_get(struct format_own_use *to)
{
#define X(name) to->name = __atomic_load_n(&use->name, __ATOMIC_RELAXED);
	FORMAT_OWN_USE_FIELDS(X)
#undef X
}
