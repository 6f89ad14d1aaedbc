/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/rawthread.h"

#include "collector/arch/sys.h"
#include "collector/arch/thread.h"
#include "collector/core/child_io.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "format/attach.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>

enum { RAWTHREADS_MAX = 8, GONE_AFTER_NS = 1000 * 1000 * 1000 };

static _Atomic uint64_t ended_cpu_ns, ended_count;
static _Atomic int32_t forbidden;
static _Atomic int last_status; /* the process ends with that of its last thread, which is ours */

static struct slot {
	_Atomic bool taken;
	_Atomic int32_t tid;	   /* written by the kernel; 0: not yet begun */
	_Atomic uint64_t ended_ns; /* it is about to end, and may then be another's number */
	struct own_use_span noted; /* the thread's own: what it has said of its use so far */
} slots[RAWTHREADS_MAX];

static bool is_gone(const struct slot *slot)
{
	int tid = atomic_load(&slot->tid);

	return !tid || (atomic_load(&slot->ended_ns) &&
			sys_call(SYS_tgkill, sys_getpid(), tid, 0, 0) == -ESRCH);
}

/* After a time a slot claims its number no more: the program's next thread may get it. */
static bool is_ended(const struct slot *slot)
{
	uint64_t ended_ns = atomic_load(&slot->ended_ns);

	return ended_ns && clock_now_ns() - ended_ns > GONE_AFTER_NS;
}

static void release(struct slot *slot)
{
	slot->noted = (struct own_use_span){0};
	atomic_store(&slot->tid, 0);
	atomic_store(&slot->taken, false);
}

/* Of two who find it gone, one gives it back. */
static void release_if_gone(struct slot *slot)
{
	uint64_t ended_ns = atomic_load(&slot->ended_ns);

	if (ended_ns && (is_gone(slot) || is_ended(slot)) &&
	    atomic_compare_exchange_strong(&slot->ended_ns, &ended_ns, 0))
		release(slot);
}

static struct slot *take_slot(void)
{
	for (int i = 0; i < RAWTHREADS_MAX; i++)
		if (!atomic_exchange(&slots[i].taken, true))
			return &slots[i];
	return NULL;
}

/* A free one; those whose threads are gone are free only now. */
static struct slot *free_slot(void)
{
	struct slot *slot = take_slot();

	for (int i = 0; i < RAWTHREADS_MAX && !slot; i++)
		release_if_gone(&slots[i]);
	return slot ? slot : take_slot();
}

bool rawthread_may_stay(void)
{
	enum { FEW_PROCESSES = 256 }; /* who sets so low a limit reckons with each */
	struct rlimit limit;

	return !sys_call(SYS_getuid, 0, 0, 0, 0) || /* whom the kernel does not limit */
	       sys_call(SYS_prlimit64, 0, RLIMIT_NPROC, 0, &limit) ||
	       limit.rlim_cur > FEW_PROCESSES;
}

void rawthread_forbid(bool on)
{
	atomic_fetch_add(&forbidden, on ? 1 : -1);
}

bool rawthread_any(void)
{
	for (int i = 0; i < RAWTHREADS_MAX; i++)
		if (atomic_load(&slots[i].tid) && !is_ended(&slots[i]))
			return true;
	return false;
}

bool rawthread_is(int tid)
{
	for (int i = 0; tid && i < RAWTHREADS_MAX; i++)
		if (atomic_load_explicit(&slots[i].tid, memory_order_relaxed) == tid &&
		    !is_ended(&slots[i]))
			return true;
	return false;
}

void rawthread_wait_gone(void)
{
	for (int i = 0; i < RAWTHREADS_MAX; i++) {
		if (!atomic_load(&slots[i].ended_ns))
			continue;
		while (!is_gone(&slots[i]) && !is_ended(&slots[i]))
			sys_call(SYS_sched_yield, 0, 0, 0, 0);
	}
}

void rawthread_forget_all(void)
{
	atomic_store(&forbidden, 0);
	for (int i = 0; i < RAWTHREADS_MAX; i++) {
		atomic_store(&slots[i].ended_ns, 0);
		release(&slots[i]);
	}
}

/* The first thread, too: it stays in the list until the process has ended. */
static void find_living(int tid, void *found)
{
	int status = 0;

	if (*(bool *)found || rawthread_is(tid))
		return;
	*(bool *)found = !task_has_ended(tid, &status);
	atomic_store(&last_status, status);
}

/* It is a zombie then, and has no memory. */
static bool first_thread_has_ended(void)
{
	char byte = 0, copy;
	const struct iovec from = {&byte, 1}, to = {&copy, 1};

	return sys_call6(SYS_process_vm_readv, sys_getpid(), SYS_ARG(&to), 1, SYS_ARG(&from), 1,
			 0) == -ESRCH;
}

/* Where no list of threads can be had: those that we know of. */
static void find_known(struct thread *thread, void *found)
{
	int tid = atomic_load(&thread->tid), pid = sys_getpid();

	if (tid && !sys_call(SYS_tgkill, pid, tid, 0, 0))
		*(bool *)found |= tid != pid || !first_thread_has_ended();
}

bool rawthread_only_ours_are_left(int dir)
{
	bool found = false;

	if (!tasks_for_each(dir, find_living, &found))
		thread_for_each(find_known, &found);
	return !found;
}

int rawthread_start(void (*run)(void), void *stack, size_t size, bool own_files)
{
	uint64_t all = ~FORMAT_SIGNAL_BIT(SIGBUS), before;
	long flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		     CLONE_PARENT_SETTID | (own_files ? 0 : CLONE_FILES);
	struct slot *slot = atomic_load(&forbidden) ? NULL : free_slot();

	if (!slot)
		return -EAGAIN;
	uint64_t top = ((uint64_t)stack + size) & ~(uint64_t)15;

	/* The thread inherits the mask: it must never take one of the program's signals
	 * (wrap/signal_bus.c sends that one on). */
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	/* The kernel puts its number where it is wanted before that, or anybody, can look. */
	long result = arch_clone_onto(flags, (void *)top, &slot->tid, run);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	if (result < 0)
		release(slot);
	return (int)result;
}

static struct slot *own_slot(void)
{
	int own = sys_gettid();

	for (int i = 0; i < RAWTHREADS_MAX; i++)
		if (atomic_load(&slots[i].tid) == own && !atomic_load(&slots[i].ended_ns))
			return &slots[i];
	return NULL;
}

_Noreturn void rawthread_exit(_Atomic unsigned *flag)
{
	struct slot *slot = own_slot();
	int status;

	if (first_thread_has_ended() && task_has_ended(sys_getpid(), &status))
		atomic_store(&last_status, status);

	if (slot) {
		own_use_thread(&slot->noted);
		child_io_thread_end();
		atomic_store(&slot->ended_ns, clock_now_ns());
	}
	atomic_fetch_add(&ended_count, 1);
	atomic_fetch_add(&ended_cpu_ns, clock_own_cpu_ns()); /* last: the rest is nobody's */
	arch_exit_thread(flag, atomic_load(&last_status));
}

/*
 * Not read from its files in /proc at the end: what was looked up there last is still being
 * discarded when the process is reaped (clock_look.c).
 */
void rawthread_note_use(void)
{
	struct slot *slot = own_slot();

	/* Where nothing is recorded a filter may forbid the call. */
	if (slot && atomic_load(&collector.recording))
		own_use_thread(&slot->noted);
}

uint64_t rawthread_ended_cpu_ns(void)
{
	return atomic_load(&ended_cpu_ns);
}

uint64_t rawthread_ended_count(void)
{
	return atomic_load(&ended_count);
}
