/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New processes.  A child with memory of its own begins a recording of its own: pthread_atfork
 * sees fork, and the C library's own ones (daemon, forkpty); _Fork and clone are wrapped, and so
 * are their system calls by number.
 *
 * A child on our memory (vfork, clone with CLONE_VM) is not recorded before it executes a
 * program.  One on our descriptor table (CLONE_FILES) is not recorded either: closing its copies
 * of our events would close ours.
 */
#include "collector/arch/sys.h"
#include "collector/arch/vfork.h"
#include "collector/core/lineage.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/start.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/wrappers.h"
#include "collector/runtimes/java.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"

#include <linux/sched.h>
#include <sched.h>
#include <unistd.h>

static __thread uint32_t fork_index __attribute__((tls_model("initial-exec")));

/* This thread is in daemon(), whose parent ends at once, by a call that we do not see. */
static __thread bool becoming_daemon __attribute__((tls_model("initial-exec")));

/* This thread makes a child with mounts of its own, which may soon cover the experiment. */
static __thread bool child_moves __attribute__((tls_model("initial-exec")));

/*
 * How deep in forks this thread is: programs that fork by clone run the handlers of pthread_atfork
 * themselves (Firefox), around a call that we see, too.
 */
static __thread uint8_t forking __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	if (!collector_is_ours() || !collector.tracking || forking++)
		return;
	fork_index = atomic_fetch_add(&collector.forks, 1) + 1;
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_pause(); /* a fast tick could keep a large fork from ever completing
					 */
}

static void after_fork_in_parent(void)
{
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	if (!collector_is_ours() || !collector.tracking || !forking || --forking)
		return;
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_resume();
	lineage_of(&name, 'f', fork_index);
	lineage_log(lineage_log_time_ns(), "fork", name_room, NULL);
	if (becoming_daemon)
		end_before();
}

static void after_fork_in_child(void)
{
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);
	struct text lineage = TEXT_ON(collector.lineage);

	becoming_daemon = false;
	if (!collector.tracking || !forking)
		return;
	forking = 0;
	lineage_of(&name, 'f', fork_index);
	text_puts(&lineage, name_room);
	java_after_fork();
	collector_restart_after_fork();
	if (child_moves && atomic_load(&collector.recording))
		namespace_prepare_to_move();
	child_moves = false;
	lineage_announce_combo(1);
}

COLLECTOR_EXPORT int daemon(int stay, int open)
{
	becoming_daemon = true;
	int result = NEXT(daemon)(stay, open);

	becoming_daemon = false;
	return result;
}

/* The two ends of a fork that runs no pthread_atfork handlers. */
static long forked(long child)
{
	if (!child)
		after_fork_in_child();
	else
		after_fork_in_parent();
	child_moves = false;
	return child;
}

/*
 * Firefox keeps what is given to pthread_atfork to itself: fork does not run our handlers there, so
 * we do.
 */
COLLECTOR_EXPORT pid_t fork(void)
{
	before_fork();
	return (pid_t)forked(NEXT(fork)());
}

COLLECTOR_EXPORT pid_t _Fork(void)
{
	before_fork();
	return (pid_t)forked(NEXT(_Fork)());
}

bool fork_has_own_memory(unsigned long flags)
{
	return !(flags & (CLONE_VM | CLONE_THREAD | CLONE_FILES));
}

void fork_before_clone(unsigned long flags)
{
	/* What shares our root may move it: our threads, which are back then, hold no directory. */
	if (flags & CLONE_FS && !(flags & CLONE_THREAD) && !file_has_moved())
		namespace_come_back(namespace_before_move());
	child_moves = flags & CLONE_NEWNS && fork_has_own_memory(flags);
}

static bool clears_handlers(long number, long a)
{
	return number == SYS_clone3 && ((const struct clone_args *)a)->flags & CLONE_CLEAR_SIGHAND;
}

long fork_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	bool clears = clears_handlers(number, a);
	uint64_t mask = 0;

	before_fork();
	if (clears)
		mask = signal_hold();
	long child = NEXT(syscall)(number, a, b, c, d, e, f);

	if (clears && !child)
		signal_handle_again();
	if (clears)
		signal_release(mask);
	return forked(child);
}

/* Called by the vfork wrapper, which must leave the stack as it found it. */
__attribute__((used)) static void before_vfork(void)
{
	struct thread *thread;
	char name_room[LINEAGE_ROOM];
	struct text name = TEXT_ON(name_room);

	thread = thread_current_if_known();
	if (thread)
		thread->lends_memory = true;
	if (!lineage_following() || !collector_is_ours())
		return;
	thread = atomic_load(&collector.recording) ? thread_current() : NULL;
	uint32_t index = atomic_fetch_add(&collector.forks, 1) + 1;
	if (thread) {
		thread->vfork_index = index;
		thread->vfork_blocked = thread->blocked;
	}
	lineage_of(&name, 'f', index);
	lineage_log(lineage_log_time_ns(), "fork", name_room, NULL);
}

__attribute__((used)) static int (*next_vfork(void))(void)
{
	return NEXT(vfork);
}

ARCH_DEFINE_VFORK(before_vfork, next_vfork)

/* What a clone with memory of its own is to run; lies on the creator's stack, and its copy. */
struct clone_start {
	clone_function *run;
	void *argument;
};

static int run_clone(void *argument)
{
	const struct clone_start start = *(struct clone_start *)argument;

	after_fork_in_child();
	return start.run(start.argument);
}

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT int wrapped_clone(clone_function *run, void *stack, int flags, void *argument,
				   void *parent_tid, void *tls, void *child_tid) __asm__("clone");

int wrapped_clone(clone_function *run, void *stack, int flags, void *argument, void *parent_tid,
		  void *tls, void *child_tid)
{
	struct clone_start start = {.run = run, .argument = argument};

	fork_before_clone((unsigned)flags);
	if (!fork_has_own_memory((unsigned)flags)) {
		if (flags & CLONE_THREAD)
			perf_engine_before_thread();
		else if (flags & CLONE_VM)
			before_vfork();
		return NEXT(clone)(run, stack, flags, argument, parent_tid, tls, child_tid);
	}
	before_fork();
	int child = NEXT(clone)(run_clone, stack, flags, &start, parent_tid, tls, child_tid);
	int error = errno;

	after_fork_in_parent();
	child_moves = false;
	errno = error;
	return child;
}

void process_install(void)
{
	static bool installed;

	lineage_install();
	if (!installed) {
		end_install();
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	}
	installed = true;
	lineage_announce_combo(1);
}
