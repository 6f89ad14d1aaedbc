/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that our signals interrupt.
 *
 * No call is wrapped.  Our handler finds in its context that the thread stands
 * behind a system call that was ended with EINTR, and puts the thread back on
 * the instruction: the call begins again, as the kernel itself does it when a
 * signal has no handler, wherever in the program the call is made.
 *
 * What if a signal of the program comes too?  The kernel lets a second handler
 * start where ours has put the thread.  So the program's handlers are entered
 * through a wrapper (handler_entry.c), which looks at the context: a call put back by us
 * that has not begun yet is ended with EINTR after all, as if the program's
 * signal had come first.  The other way round, when a handler of the program has
 * interrupted a call and ours comes before the next instruction, the wrapper has left
 * word.  Word is left in r11 and rcx, which no program uses behind `syscall`: the
 * kernel has just overwritten them.  A call that takes a mask of signals for its
 * duration finds a signal that is still pending when it begins again.
 *
 * Calls that the kernel would continue with the time that remains (nanosleep,
 * poll, futex) are continued by restart_syscall(2) in our handler (wait_restart.c).  So are
 * transfers that ended early: only what is left is transferred, meanwhile with the program's own
 * mask, but ours blocked.
 *
 * Relative timeouts of the other calls begin anew.  Signals that the monitor sends
 * meet a call some microseconds after its begin, so that is what they add.
 */
#include "collector/wrap/wait.h"

#include "collector/arch/call.h"
#include "collector/arch/context.h"
#include "collector/arch/put_back.h"
#include "collector/arch/sys.h"
#include "collector/core/signals.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"
#include "collector/unwind/unwind.h"
#include "collector/wrap/partial_transfer.h"
#include "collector/wrap/wait_handlers.h"
#include "collector/wrap/wait_restart.h"

#include <time.h>
#include <ucontext.h>

/* In r11: the call that the thread stands before was put back, and a handler of the program… */
#define MARK_ANY	0x48454c494f0001 /* … ends it */
#define MARK_NO_RESTART 0x48454c494f0002 /* … ends it if it lacks SA_RESTART */

enum kind {
	KIND_OTHER,
	KIND_RESTARTED, /* by the kernel after a handler with SA_RESTART */
	KIND_TIMED,	/* likewise, unless the socket has a timeout */
	KIND_ANEW,	/* ended by every handler; without one the kernel begins it again */
	KIND_ENDED,	/* ended even by a signal that has no handler (a stop) */
	KIND_CONTINUED, /* ended by every handler; without one the kernel continues it */
};

/* Calls that are not here are left as they are: close(), for one, must not begin again. */
static const uint8_t kinds[] = {
	[SYS_read] = KIND_TIMED,
	[SYS_readv] = KIND_TIMED,
	[SYS_write] = KIND_TIMED,
	[SYS_writev] = KIND_TIMED,
	[SYS_recvfrom] = KIND_TIMED,
	[SYS_recvmsg] = KIND_TIMED,
	[SYS_recvmmsg] = KIND_TIMED,
	[SYS_sendto] = KIND_TIMED,
	[SYS_sendmsg] = KIND_TIMED,
	[SYS_sendmmsg] = KIND_TIMED,
	[SYS_accept] = KIND_TIMED,
	[SYS_accept4] = KIND_TIMED,
	[SYS_connect] = KIND_TIMED,
	[SYS_wait4] = KIND_RESTARTED,
	[SYS_waitid] = KIND_RESTARTED,
	[SYS_flock] = KIND_RESTARTED,
	[SYS_fcntl] = KIND_RESTARTED,
	[SYS_openat] = KIND_RESTARTED,
	[SYS_ioctl] = KIND_RESTARTED,
	[SYS_getrandom] = KIND_RESTARTED,
	[SYS_splice] = KIND_RESTARTED,
	[SYS_sendfile] = KIND_RESTARTED,
	[SYS_mq_timedreceive] = KIND_RESTARTED,
	[SYS_mq_timedsend] = KIND_RESTARTED,
	[SYS_rt_sigsuspend] = KIND_ANEW,
	[SYS_pselect6] = KIND_ANEW,
	[SYS_ppoll] = KIND_ANEW,
	[SYS_msgrcv] = KIND_ANEW,
	[SYS_msgsnd] = KIND_ANEW,
	[SYS_io_pgetevents] = KIND_ANEW,
	/* It lets perf's signals meet it, and a stop, which ends it, cannot be told from them. */
	[SYS_io_uring_enter] = KIND_ANEW,
	[SYS_epoll_pwait] = KIND_ENDED,
	[SYS_epoll_pwait2] = KIND_ENDED,
	[SYS_rt_sigtimedwait] = KIND_ENDED,
	[SYS_semop] = KIND_ENDED,
	[SYS_semtimedop] = KIND_ENDED,
	[SYS_io_getevents] = KIND_ENDED,
	[SYS_nanosleep] = KIND_CONTINUED,
	[SYS_clock_nanosleep] = KIND_CONTINUED,
	[SYS_futex] = KIND_CONTINUED,
#if defined(SYS_open) /* the calls of before, which newer processors do not have */
	[SYS_open] = KIND_RESTARTED,
	[SYS_pause] = KIND_ANEW,
	[SYS_select] = KIND_ANEW,
	[SYS_epoll_wait] = KIND_ENDED,
	[SYS_poll] = KIND_CONTINUED,
#endif
};

static enum kind kind_of(long call, const ucontext_t *context)
{
	if (call == SYS_clock_nanosleep && arch_argument(context, 1) & TIMER_ABSTIME)
		return KIND_ANEW;
	if (call == SYS_futex &&
	    !arch_argument(context, 3)) /* no timeout that would have to be continued */
		return KIND_RESTARTED;
	/* Ended without its handler run, a signal that only the call's mask let in waits for it. */
	if ((call == SYS_epoll_pwait || call == SYS_epoll_pwait2) && arch_argument(context, 4))
		return KIND_ANEW;
	return call >= 0 && call < (long)sizeof(kinds) ? kinds[call] : KIND_OTHER;
}

/* Before this call the kernel has put the thread: only because the handler has SA_RESTART. */
static bool is_restarted(const ucontext_t *context)
{
	enum kind kind = kind_of(arch_number(context), context);

	return kind == KIND_RESTARTED || kind == KIND_TIMED;
}

/* ---- the program's handlers ---- */

/* A call that was to begin again is ended, if so decided; one that has ended is no longer ours. */
static void meet(ucontext_t *context, uint64_t site, bool ends)
{
	if (arch_pc(context) == site) {
		if (!ends)
			return;
		arch_leave_call(context);
		arch_set_result(context, -EINTR);
	}
	arch_disown_call(context);
}

/* The thread stands before its call once more. */
static void put_back(ucontext_t *context, uint64_t site, long call)
{
	arch_put_back(context, site, call);
	arch_set_mark(context, MARK_ANY);
}

/*
 * Has a handler without a wrapper ended the call, and run before ours?  There is no telling, so:
 * perhaps, if there is one, unless a signal waits that only the call's own mask lets in.
 */
static bool may_be_ended(void)
{
	enum { LIBCS = 3u }; /* SIGCANCEL, SIGSETXID: every program with threads handles them */

	return !wait_pending_signals() &&
	       wait_handled_signals(~signal_numbers() & ~((uint64_t)LIBCS << (32 - 1)), false);
}

static void continue_call(ucontext_t *context, long call)
{

	arch_set_result(context, wait_restart(context, call));
	if (arch_result(context) == -EINTR)
		arch_disown_call(context);
}

static void go_on_after_eintr(ucontext_t *context, uint64_t site, long call, bool sent)
{
	enum kind kind = kind_of(call, context);

	if (kind == KIND_CONTINUED) {
		continue_call(context, call);
	} else if (sent ? kind >= KIND_TIMED : kind == KIND_ANEW && !may_be_ended()) {
		put_back(context, site, call);
	}
}

/*
 * A handler without a wrapper is about to run in the thread: what it does to the call has
 * to be done now.
 */
static bool meets_unwrapped(ucontext_t *context, uint64_t site)
{
	uint64_t pending = wait_pending_handlers(context, false);
	bool ends = false;

	if (!pending)
		return false;
	for (; pending; pending &= pending - 1)
		ends |= !(wait_action_of(__builtin_ctzll(pending) + 1).flags & SA_RESTART);
	meet(context, site, ends && is_restarted(context));
	return true;
}

/* The kernel has put the thread back, since our handler has SA_RESTART. */
static void mark_restarted(ucontext_t *context)
{
	if (arch_mark(context) != MARK_ANY && is_restarted(context))
		arch_set_mark(context, MARK_NO_RESTART);
}

void wait_go_on(void *context, bool sent)
{
	struct unwind_regs all;
	uint64_t site = arch_call_site(context);
	bool put_back = arch_pc(context) == site;
	bool ended = !put_back && arch_result(context) == -EINTR;

	if (wait_goes_on_again(context) || !site ||
	    atomic_load_explicit(&collector.silent, memory_order_relaxed))
		return;
	if ((put_back || ended || (sent && arch_result(context) > 0)) &&
	    signal_forward_pending(context))
		return;
	if ((put_back || ended) && meets_unwrapped(context, site))
		return;
	/* While it is blocked (signal.c) a clock's, too, comes where a call's mask lets it in. */
	sent |= *(const uint64_t *)&((ucontext_t *)context)->uc_sigmask & signal_numbers();
	unwind_regs_from_context(&all, context);
	long call = call_number(site, all.reg);

	if (put_back && arch_number(context) == SYS_restart_syscall) {
		/* After a stop: the thread was about to continue its call when our signal came. */
		arch_leave_call(context);
		continue_call(context, call);
	} else if (put_back) {
		mark_restarted(context);
	} else if (ended)
		go_on_after_eintr(context, site, call, sent);
	else if (arch_result(context) > 0 && sent)
		transfer_finish(context, call);
}

void wait_meets_handler(int signal, void *context)
{
	uint64_t site = arch_call_site(context);

	if (site)
		meet(context, site,
		     arch_mark(context) == MARK_ANY ||
			     (arch_mark(context) == MARK_NO_RESTART &&
			      !(wait_action_of(signal).flags & SA_RESTART)));
}

void wait_meets_forwarded(const struct sigaction *program, void *context)
{
	uint64_t site = arch_call_site(context);

	if (site)
		meet(context, site,
		     arch_mark(context) == MARK_ANY ||
			     (!(program->sa_flags & SA_RESTART) && is_restarted(context)));
}

/* Where the mask of a call lies, or NULL: it has none. */
static const uint64_t *mask_of(long call, const ucontext_t *context)
{
	switch (call) {
	case SYS_rt_sigsuspend:
		return (const uint64_t *)arch_argument(context, 0);
	case SYS_ppoll:
		return (const uint64_t *)arch_argument(context, 3);
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return (const uint64_t *)arch_argument(context, 4);
	case SYS_pselect6:
	case SYS_io_pgetevents: /* with its size */
		return arch_argument(context, 5)
			       ? *(const uint64_t *const *)arch_argument(context, 5)
			       : NULL;
	default:
		return NULL;
	}
}

bool wait_lets_in(const void *context, int signal)
{
	struct unwind_regs all;
	uint64_t site = arch_call_site(context);

	if (!site || arch_pc(context) == site || arch_result(context) != -EINTR)
		return false;
	unwind_regs_from_context(&all, context);
	long call = call_number(site, all.reg);
	const uint64_t *mask = mask_of(call, context);

	return call < 0 || (mask && !(*mask >> (signal - 1) & 1));
}
