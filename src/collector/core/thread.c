/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of threads.
 *
 * A thread finds its state through eight bytes of static TLS.  pthread_create
 * is wrapped, so most threads get their state before they run; any other (a
 * raw clone) gets it with its first event, in the handler.  Where the recording
 * began later than the program, threads find the state that was announced for them by their id.
 * States are mapped one by one, listed in a table that only grows, and taken over by later threads.
 */
#include "collector/core/thread.h"

#include "collector/arch/sys.h"
#include "collector/core/profile_source.h"
#include "collector/core/tasks.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/core/writer.h"
#include "collector/storage/own_use.h"
#include "collector/storage/record_buffer.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/unwind/unwind.h"
#include "format/kinds.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS_MAX = 1 << 16 };

enum { REG_SP = 7 }; /* DWARF number of x86-64 */

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

struct thread thread_gone;

static _Atomic(struct thread *) registry[THREADS_MAX];
static _Atomic uint32_t registry_count;
/* Head of the free list: index in the registry + 1, and a tag against ABA in the upper half. */
static _Atomic uint64_t free_head;

static bool try_lock_as(struct thread *thread, enum thread_lock how)
{
	uint32_t expected = LOCK_FREE;

	/* The lock is also what tells that the thread's stack is being unwound (snapshots.c). */
	return atomic_compare_exchange_strong_explicit(&thread->busy, &expected, how,
						       memory_order_seq_cst, memory_order_relaxed);
}

bool thread_try_lock(struct thread *thread)
{
	return try_lock_as(thread, LOCK_TAKEN);
}

static bool is_held_by_call(const struct thread *thread)
{
	return atomic_load_explicit(&thread->busy, memory_order_relaxed) == LOCK_BY_CALL;
}

void thread_lock(struct thread *thread)
{
	while (!thread_try_lock(thread)) {
		if (thread == thread_self && is_held_by_call(thread))
			return;
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
}

void thread_lock_by_call(struct thread *thread)
{
	while (!try_lock_as(thread, LOCK_BY_CALL))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

bool thread_lock_other(struct thread *thread)
{
	enum { YIELDS = 1000, NAPS = 100, NAP_NS = 100 * 1000 };

	for (int i = 0; !thread_try_lock(thread); i++) {
		if (i >= YIELDS + NAPS && is_held_by_call(thread))
			return false;
		if (i < YIELDS)
			sys_call(SYS_sched_yield, 0, 0, 0, 0);
		else
			sys_nap(NAP_NS);
	}
	return true;
}

void thread_unlock(struct thread *thread)
{
	atomic_store_explicit(&thread->busy, LOCK_FREE, memory_order_release);
}

static struct thread *take_free(void)
{
	uint64_t head = atomic_load_explicit(&free_head, memory_order_acquire);

	while ((uint32_t)head) {
		struct thread *thread = registry[(uint32_t)head - 1];
		uint64_t next = (uint64_t)((head >> 32) + 1) << 32 | thread->next_free;

		if (atomic_compare_exchange_weak(&free_head, &head, next))
			return thread;
	}
	return NULL;
}

static struct thread *map_new(void)
{
	uint32_t index = atomic_fetch_add(&registry_count, 1);

	if (index >= THREADS_MAX) {
		atomic_store(&registry_count, THREADS_MAX);
		return NULL;
	}
	struct thread *thread =
		sys_mmap(sizeof(*thread) + unwind_memory_size(collector.depth),
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thread) {
		own_use_make_present(thread, sizeof(*thread) + unwind_memory_size(collector.depth));
		thread->index = index;
		thread->unwind = (struct unwind_memory *)(thread + 1);
		unwind_memory_init(thread->unwind, collector.depth);
		atomic_store_explicit(&registry[index], thread, memory_order_release);
	}
	return thread;
}

/* The lanes and files go on with the next thread; the unwinder only forgets its last stack. */
static void reset(struct thread *thread)
{
	size_t first = offsetof(struct thread, proc_tid);

	memset((char *)thread + first, 0, sizeof(*thread) - first);
	atomic_store_explicit(&thread->guard_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&thread->signalled_ns, 0, memory_order_relaxed);
	unwind_memory_reset(thread->unwind);
}

struct thread *thread_new(void)
{
	struct thread *thread = take_free();

	if (!thread)
		thread = map_new();
	if (!thread)
		return NULL;
	reset(thread);
	thread->number = atomic_fetch_add(&collector.threads, 1) + 1;
	return thread;
}

void thread_release(struct thread *thread)
{
	uint64_t head = atomic_load(&free_head);

	atomic_store(&thread->tid, 0);
	do
		thread->next_free = (uint32_t)head;
	while (!atomic_compare_exchange_weak(
		&free_head, &head, (uint64_t)((head >> 32) + 1) << 32 | (thread->index + 1)));
}

/* The state is the calling thread's from now on. */
static void begin_state(struct thread *thread, uint64_t begin_ns)
{
	bool same = collector.proc_pid == atomic_load(&collector.pid);

	thread->proc_tid = same ? sys_gettid() : tasks_own_number();
	atomic_store(&thread->tid, sys_gettid());
	thread->clock.last.now_ns = begin_ns;
	thread->clock.recorded_ns = recording_clock_ns(begin_ns, &(bool){0});
	writer_thread_begin(thread, begin_ns);
}

void thread_adopt(struct thread *thread, uint64_t begin_ns)
{
	struct own_faults own;

	profile_source.own_begin(&own);
	begin_state(thread, begin_ns);
	profile_source.own_end(thread, &own);
	/* A handler sees the state only when it is whole. */
	atomic_signal_fence(memory_order_release);
	thread_self = thread;
	profile_source.thread_begun(thread);
}

struct search {
	int tid;
	struct thread *found;
};

static void match_tid(struct thread *thread, void *arg)
{
	struct search *search = arg;

	if (atomic_load(&thread->tid) == search->tid)
		search->found = thread;
}

struct thread *thread_find(int tid)
{
	struct search search = {.tid = tid};

	thread_for_each(match_tid, &search);
	return search.found;
}

struct thread *thread_own_state(void)
{
	struct thread *thread = thread_current_if_known();

	return thread || !collector.late ? thread : thread_find(sys_gettid());
}

/* The state that was announced for the calling thread; or it is left of another thread. */
static struct thread *join_announced(struct thread *thread)
{
	int tid = sys_gettid();

	if (!thread_try_lock(thread))
		return NULL;
	bool joined = atomic_load(&thread->tid) == tid && profile_source.join(thread);

	if (joined)
		thread_self = thread;
	thread_unlock(thread);
	if (!joined)
		thread_drop_ended(thread, tid);
	return joined ? thread : NULL;
}

struct thread *thread_make_current(void)
{
	/* A thread that pthread_create makes gets the state prepared for it in a moment. */
	if (atomic_load(&collector.threads_to_begin))
		return NULL;
	struct thread *thread = thread_find(sys_gettid());

	if (thread)
		return join_announced(thread);
	thread = thread_new();

	if (thread) {
		atomic_fetch_add_explicit(&collector.met, 1, memory_order_relaxed);
		thread_adopt(thread, clock_now_ns() - clock_own_cpu_ns());
	}
	return thread;
}

struct thread *thread_interrupted(const struct unwind_regs *regs)
{
	struct thread *thread = thread_current();
	uint64_t sp = regs->reg[REG_SP];

	if (!thread || thread_has_stack_at(thread, sp))
		return thread;
	int tid = sys_gettid();
	if (atomic_load(&thread->tid) == tid)
		return thread;
	thread = thread_find(tid);
	if (thread)
		return thread;
	thread = thread_new();
	if (thread)
		begin_state(thread, clock_now_ns() - clock_own_cpu_ns());
	return thread;
}

void thread_end(void)
{
	struct thread *thread = thread_current_if_known();

	if (!thread)
		return;
	thread_self = &thread_gone;
	/* A handler that interrupts us now sees `gone`; the monitor must be done with it. */
	thread_lock(thread);
	profile_source.thread_ended(thread);
	thread_release(thread);
	thread_unlock(thread);
}

/* Which nobody waits for here. */
static bool lock_living(struct thread *thread, int tid)
{
	if (!thread_try_lock(thread))
		return false;
	if (atomic_load(&thread->tid) == tid)
		return true;
	thread_unlock(thread);
	return false;
}

void thread_announce(int tid, int dir)
{
	struct thread *known = thread_find(tid), *thread = known;

	if (known && !lock_living(known, tid)) /* its end is under way */
		return;
	if (known) {
		uint32_t blocked = thread->blocked; /* of an attacher that was killed */

		reset(thread);
		thread->blocked = blocked;
		thread->number = atomic_fetch_add(&collector.threads, 1) + 1;
	} else {
		thread = thread_new();
	}
	if (!thread)
		return;
	thread->proc_tid = tid;
	atomic_store(&thread->tid, tid);
	profile_source.begin_other(thread, dir);
	thread->clock.recorded_ns = recording_clock_ns(thread->clock.last.now_ns, &(bool){0});
	if (tid == atomic_load(&collector.pid)) {
		thread->stack_low = collector.main_stack_low;
		thread->stack_high = collector.main_stack_high;
	}
	writer_thread_begin(thread, thread->clock.last.now_ns);
	if (known)
		thread_unlock(known);
}

void thread_drop_ended(struct thread *thread, int tid)
{
	if (!thread_try_lock(thread))
		return;
	if (atomic_load(&thread->tid) == tid) {
		writer_thread_end(thread, thread->clock.last.now_ns);
		profile_source.thread_ended(thread);
		thread_release(thread);
	}
	thread_unlock(thread);
}

void thread_for_each(void (*visit)(struct thread *thread, void *arg), void *arg)
{
	uint32_t count = atomic_load(&registry_count);

	for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
		struct thread *thread = atomic_load_explicit(&registry[i], memory_order_acquire);

		if (thread && atomic_load(&thread->tid))
			visit(thread, arg);
	}
}

void thread_for_each_state(void (*visit)(struct thread *thread, void *arg), void *arg)
{
	uint32_t count = atomic_load(&registry_count);

	for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
		struct thread *thread = atomic_load_explicit(&registry[i], memory_order_acquire);

		if (thread)
			visit(thread, arg);
	}
}

struct thread *thread_state_at(uint32_t index)
{
	return atomic_load_explicit(&registry[index], memory_order_acquire);
}

static void count_one(struct thread *thread, void *count)
{
	(void)thread;
	++*(uint32_t *)count;
}

uint32_t thread_count(void)
{
	uint32_t count = 0;

	thread_for_each(count_one, &count);
	return count;
}

bool thread_is_alone(const struct thread *own)
{
	/* One that is not born yet has no id: it gets that before it is counted off. */
	if (atomic_load(&collector.threads_to_begin))
		return false;
	uint32_t count = atomic_load(&registry_count);

	for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
		const struct thread *thread = thread_state_at(i);

		if (thread && thread != own && atomic_load(&thread->tid))
			return false;
	}
	return true;
}

static void empty_lanes(struct thread *thread)
{
	thread->lane = (struct record_buffer){0};
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		thread->traces[kind] = (struct record_buffer){0};
}

void thread_forget_all(const struct thread *in_use)
{
	uint32_t count = atomic_load(&registry_count);

	thread_self = NULL;
	atomic_store(&free_head, 0);
	atomic_store(&collector.threads, 0);
	for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
		struct thread *thread = registry[i];

		if (!thread)
			continue;
		thread->inside = 0;
		if (thread == in_use) {
			registry[i] = NULL;
			continue;
		}
		empty_lanes(thread);
		thread->calls = 0;
		atomic_store(&thread->busy, LOCK_FREE);
		thread_release(thread);
	}
}

void thread_empty_lanes(void)
{
	uint32_t count = atomic_load(&registry_count);

	atomic_store(&collector.threads, 0);
	for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
		struct thread *thread = registry[i];

		if (!thread)
			continue;
		thread_lock(thread);
		empty_lanes(thread);
		int tid = atomic_load(&thread->tid);
		if (tid && sys_call(SYS_tgkill, sys_getpid(), tid, 0, 0) == -ESRCH)
			thread_release(thread);
		thread_unlock(thread);
	}
}

void thread_inherit_masks(const struct thread *from)
{
	if (!thread_self || thread_self == &thread_gone)
		return;
	thread_self->blocked = from->blocked;
}
