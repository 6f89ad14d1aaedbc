/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program and our signals.
 *
 * The engines' signals belong to us.  The program may still set an action for
 * one or block it: we remember what it set, show it when asked, and forward
 * foreign signals to it; in the kernel our handler stays and the signals stay
 * open.  So the kernel may choose a thread for a signal of the program's that the thread has
 * blocked: there it is blocked indeed from then on, and sent again.  Once the thread changes its
 * mask or has waited for it (signal_wait.c) it is open for us again.
 *
 * The signals of `helio collect -l` and -y are taken in the same way, but they are the
 * program's too: what it blocks is blocked, and its own handler runs after ours.  Without
 * one nothing happens, where by default they would kill.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_signals.h"
#include "collector/storage/recording.h"
#include "collector/wrap/handler_entry.h"
#include "collector/wrap/handler_wrapper.h"
#include "collector/wrap/signal_fd.h"
#include "collector/wrap/signal_stack.h"
#include "collector/wrap/wait.h"
#include "format/attach.h"

#include <string.h>
#include <ucontext.h>

enum { MONITOR = 1, FAULT = 2, ENGINE_SIGNALS = 3, SIGNALS = 5 };

static struct ours {
	int number; /* 0: this entry is free */
	bool taken;
	struct sigaction program; /* what the program set */
	struct sigaction action;  /* ours */
} signals[SIGNALS] = {{.number = CLOCK_SIGNAL_PERF},
		      [MONITOR] = {.number = CLOCK_SIGNAL_MONITOR},
		      [FAULT] = {.number = SIGBUS}};

/* The entry of a signal, or a free one. The user's choice leaves room for two. */
static struct ours *signal_entry(int number)
{
	int i = 0;

	while (i < SIGNALS - 1 && signals[i].number && signals[i].number != number)
		i++;
	return &signals[i];
}

static bool is_engine_signal(const struct ours *ours)
{
	return ours < signals + ENGINE_SIGNALS;
}

/* The entry of a signal that we handle in this process, or NULL. */
static struct ours *taken_signal(int number)
{
	for (int i = 0; i < SIGNALS; i++)
		if (signals[i].number == number && signals[i].taken && collector_is_ours())
			return &signals[i];
	return NULL;
}

/* What the image was born with, blocked, until its first thread has a state. */
static uint32_t inherited;

/* Which of our signals the calling thread believes it blocks; a child of vfork has a mask of its
 * own. */
static uint32_t *believed(struct thread *thread)
{
	if (!thread)
		return &inherited;
	return collector_is_ours() ? &thread->blocked : &thread->vfork_blocked;
}

/* By the program. */
static bool is_handled(const struct ours *ours)
{
	return ours->program.sa_handler != SIG_DFL && ours->program.sa_handler != SIG_IGN;
}

static bool is_believed(struct thread *thread, const struct ours *ours)
{
	return *believed(thread) & 1u << (ours - signals);
}

/*
 * A signal that was blocked stays so in the program's eyes, and in those of what it starts.  That
 * is known before it is open: one may be pending.
 */
static void open_mask(const struct ours *ours)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, ours->number);
	NEXT(pthread_sigmask)(SIG_BLOCK, NULL, &before);
	if (sigismember(&before, ours->number) != 1)
		return;
	*believed(thread_current_if_known()) |= 1u << (ours - signals);
	NEXT(pthread_sigmask)(SIG_UNBLOCK, &set, NULL);
}

void signal_inherit(void)
{
	struct thread *thread = thread_current_if_known();

	if (!thread)
		return;
	thread->blocked |= inherited;
	inherited = 0;
}

/*
 * The handlers that the program has, once: from then on they come by here, and ours must not be
 * taken for the program's.  Later the program would see the wrappers.
 */
static void look_at_present(void)
{
	static bool done;

	if (done)
		return;
	uint64_t handled = signal_stack_look();

	if (!collector.late)
		handler_entry_all(handled);
	done = true;
}

/*
 * Our handlers run on the stack that signal_stack.h tells.  A fault of the program's own must find
 * its handler on the stack that it would have without us, and one in a file of ours, wherever that
 * is, nothing of another stack that is in use.
 */
static void follow_stack(struct ours *ours)
{
	int flags = ours->action.sa_flags & ~SA_ONSTACK;

	if (ours->number == SIGBUS) {
		flags |= is_handled(ours) ? ours->program.sa_flags & SA_ONSTACK : 0;
		collector.faults_here = flags & SA_ONSTACK ? 0 : FORMAT_SIGNAL_BIT(SIGBUS);
	} else if (signal_stack_is_alternate()) {
		flags |= SA_ONSTACK;
	}
	if (flags == ours->action.sa_flags)
		return;
	ours->action.sa_flags = flags;
	NEXT(sigaction)(ours->number, &ours->action, NULL);
}

void signal_follow_stacks(void)
{
	for (int i = 0; i < SIGNALS; i++)
		if (signals[i].taken && signals[i].number != SIGBUS)
			follow_stack(&signals[i]);
}

bool signal_take(int number, signal_handler *handler)
{
	struct ours *ours = signal_entry(number);

	if (ours->taken)
		return true;
	look_at_present();
	ours->action = (struct sigaction){.sa_flags = SA_SIGINFO | SA_RESTART};
	if (number != SIGBUS && signal_stack_is_alternate())
		ours->action.sa_flags |= SA_ONSTACK;
	ours->action.sa_sigaction = handler;
	/* No handler of the program may run on top of ours; files that are cut must not end it, nor
	 * faults of what tells Java stacks. */
	memset(&ours->action.sa_mask, 0xff, sizeof(ours->action.sa_mask));
	sigdelset(&ours->action.sa_mask, SIGBUS);
	sigdelset(&ours->action.sa_mask, SIGSEGV);
	if (NEXT(sigaction)(number, &ours->action, &ours->program))
		return false;
	if (ours->program.sa_sigaction == handler_wrapper.enter)
		ours->program.sa_sigaction =
			(signal_handler *)(uintptr_t)handler_entry_handler(number);
	ours->number = number;
	ours->taken = true;
	follow_stack(ours);
	if (is_engine_signal(ours) && !is_handled(ours))
		handler_entry_follow(number, true);
	/* In a program that runs already this thread is not the program's, or held
	 * (format/attach.h). */
	if (is_engine_signal(ours) && !collector.late)
		open_mask(ours);
	return true;
}

/* The mask that the kernel would set for the program's handler, with the engines' signals open. */
static void mask_for_handler(int number, const struct sigaction *program, const ucontext_t *context)
{
	sigset_t mask;

	sigorset(&mask, &context->uc_sigmask, &program->sa_mask);
	if (!(program->sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	for (int i = 0; i < FAULT; i++)
		if (signals[i].taken)
			sigdelset(&mask, signals[i].number);
	NEXT(pthread_sigmask)(SIG_SETMASK, &mask, NULL);
}

bool signal_send_again(int number, siginfo_t *info, void *context)
{
	int tid = sys_gettid();
	long failure;

	if (info->si_code == SI_TKILL)
		failure = sys_call(SYS_tgkill, sys_getpid(), tid, number, 0);
	else
		failure = sys_call(SYS_rt_sigqueueinfo, tid, number, info, 0);
	if (failure)
		return false;
	sigaddset(&((ucontext_t *)context)->uc_sigmask, number);
	signal_fd_tell(number);
	return true;
}

/*
 * A signal of the program's came to a thread that believes it blocks it.  Blocked and sent again
 * it goes to a thread that has it open, or waits, as without us.  The kernel takes the number of
 * any thread for the process, and the sender's word as it is where the number is the caller's.
 * A trap is the thread's own doing, and cannot wait.
 */
static bool is_sent_again(const struct ours *ours, siginfo_t *info, ucontext_t *context)
{
	int number = ours->number;
	bool trap = number == SIGTRAP && info->si_code > 0;

	if (!is_engine_signal(ours) || !is_believed(thread_own_state(), ours) || trap ||
	    signal_is_fault(info) || atomic_load(&collector.silent) ||
	    wait_lets_in(context, number))
		return false;
	return signal_send_again(number, info, context);
}

/* A fault that the program blocks or ignores ends it. */
static bool is_forced(const struct ours *ours, const siginfo_t *info)
{
	bool blocked = is_believed(thread_own_state(), ours);

	return signal_is_fault(info) && (blocked || ours->program.sa_handler == SIG_IGN);
}

void signal_forward(int number, siginfo_t *info, void *context)
{
	struct ours *ours = signal_entry(number);
	struct sigaction program = ours->program;

	if (is_sent_again(ours, info, context)) {
		wait_go_on(context, true);
		return;
	}
	if (is_forced(ours, info)) {
		program.sa_handler = SIG_DFL;
	} else if (program.sa_handler == SIG_IGN ||
		   (program.sa_handler == SIG_DFL && !is_engine_signal(ours))) {
		wait_go_on(context, true);
		return;
	}
	if (program.sa_handler == SIG_DFL) {
		/* As if we were not here: all of them kill by default, a fault when it comes again.
		 */
		NEXT(sigaction)(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
		if (!signal_is_fault(info))
			sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), number, 0);
		return;
	}
	if ((uint32_t)program.sa_flags & SA_RESETHAND)
		ours->program.sa_handler = SIG_DFL;
	wait_meets_forwarded(&program, context);
	mask_for_handler(number, &program, context);
	if (program.sa_flags & SA_SIGINFO)
		program.sa_sigaction(number, info, context);
	else
		program.sa_handler(number);
}

bool signal_is_our_own(const siginfo_t *info)
{
	return perf_signal_is_ours(info) || monitor_signal_is_ours(info);
}

/* Takes a signal that is pending, which is blocked in our handlers; the thread's own first. */
static bool take_pending(int number, siginfo_t *info)
{
	static const struct timespec at_once;
	uint64_t set = FORMAT_SIGNAL_BIT(number);

	return sys_call(SYS_rt_sigtimedwait, &set, info, &at_once, sizeof(set)) == number;
}

/*
 * Ours of the same number come back to wait: an event, and one that was sent or a timer's.  Apart,
 * for the program's handler runs on top of its caller.
 */
static __attribute__((noinline)) bool take_theirs(const struct ours *ours, siginfo_t *info)
{
	siginfo_t own = {0};
	bool found = false;

	while (!found && take_pending(ours->number, info)) {
		if (!signal_is_our_own(info))
			found = ours->program.sa_handler != SIG_IGN;
		else if (own.si_code != SI_TIMER)
			own = *info;
	}
	if (own.si_signo)
		sys_call6(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), ours->number,
			  SYS_ARG(&own), 0, 0);
	return found;
}

static bool forward_pending(const struct ours *ours, void *context)
{
	siginfo_t info;
	bool found = take_theirs(ours, &info);

	if (found)
		signal_forward(ours->number, &info, context);
	return found;
}

bool signal_forward_pending(void *context)
{
	uint64_t blocked = *(const uint64_t *)&((const ucontext_t *)context)->uc_sigmask;
	uint64_t pending = 0;

	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0);
	pending &= signal_numbers() & ~blocked;
	for (int i = 0; i < ENGINE_SIGNALS; i++)
		if (pending & FORMAT_SIGNAL_BIT(signals[i].number) &&
		    forward_pending(&signals[i], context))
			return true;
	return false;
}

uint64_t signal_numbers(void)
{
	uint64_t numbers = 0;

	for (int i = 0; i < ENGINE_SIGNALS; i++)
		if (signals[i].taken)
			numbers |= FORMAT_SIGNAL_BIT(signals[i].number);
	return numbers;
}

uint64_t signal_numbers_unhandled(void)
{
	uint64_t numbers = 0;

	for (int i = 0; i < ENGINE_SIGNALS; i++)
		if (signals[i].taken && !is_handled(&signals[i]))
			numbers |= FORMAT_SIGNAL_BIT(signals[i].number);
	return numbers;
}

bool signal_is_taken(int number)
{
	return taken_signal(number);
}

void signal_choose_monitor(int number)
{
	for (int i = 0; i < SIGNALS; i++)
		if (signals[i].taken && (i == MONITOR || signals[i].number == number))
			return;
	signals[MONITOR].number = number;
	collector.monitor_signal = number;
}

static void change_mask(int how, uint64_t set)
{
	if (set)
		sys_call(SYS_rt_sigprocmask, how, &set, 0, sizeof(set));
}

/*
 * One of ours that is pending in a thread unseen would find the program's action, and end it.  To
 * ignore a signal discards it in all threads.
 */
static void give_back(struct ours *ours)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	if (is_engine_signal(ours) && !is_handled(ours))
		NEXT(sigaction)(ours->number, &ignore, NULL);
	NEXT(sigaction)(ours->number, &ours->program, NULL);
}

void signal_give_back(void)
{
	for (int i = 0; i < SIGNALS; i++) {
		struct ours *ours = &signals[i];
		struct sigaction now;

		if (ours->taken && !NEXT(sigaction)(ours->number, NULL, &now) &&
		    now.sa_sigaction == ours->action.sa_sigaction)
			give_back(ours);
		ours->taken = false;
	}
	if (inherited & 1u << FAULT) /* no thread has begun */
		change_mask(SIG_BLOCK, FORMAT_SIGNAL_BIT(SIGBUS));
	inherited = 0;
}

/* What the calling thread believes it blocks, of those whose entries are in [first, end). */
static uint64_t believed_set(int first, int end)
{
	struct thread *thread = thread_own_state();
	uint64_t set = 0;

	for (int i = first; thread && i < end; i++)
		if (signals[i].taken && *believed(thread) & 1u << i)
			set |= FORMAT_SIGNAL_BIT(signals[i].number);
	return set;
}

/* Files of ours may be cut meanwhile: that signal stays open, and who sends it finds it closed. */
void signal_close(void)
{
	uint64_t set = believed_set(0, FAULT);

	if (believed_set(FAULT, ENGINE_SIGNALS))
		set |= FORMAT_SIGNAL_BIT(SIGNAL_MARK);
	change_mask(SIG_BLOCK, set);
}

void signal_open_again(void)
{
	uint64_t fault = believed_set(FAULT, ENGINE_SIGNALS);

	signal_fd_tell_no_more();
	change_mask(SIG_UNBLOCK,
		    believed_set(0, FAULT) | fault | (fault ? FORMAT_SIGNAL_BIT(SIGNAL_MARK) : 0));
}

bool signal_believe(struct thread *thread, uint64_t set)
{
	uint32_t bits = 0;

	for (int i = 0; i < FAULT; i++) {
		if (!(set & FORMAT_SIGNAL_BIT(signals[i].number)))
			continue;
		if (!signals[i].taken)
			return false;
		bits |= 1u << i;
	}
	thread->blocked |= bits;
	return true;
}

uint64_t signal_disbelieve(struct thread *thread)
{
	uint64_t set = 0;

	for (int i = 0; i < ENGINE_SIGNALS; i++)
		if (thread->blocked & 1u << i)
			set |= FORMAT_SIGNAL_BIT(signals[i].number);
	thread->blocked = 0;
	return set;
}

void signal_make_real(void)
{
	struct thread *thread = collector_is_ours() ? thread_own_state() : NULL;

	if (thread && thread->blocked)
		change_mask(SIG_BLOCK, signal_disbelieve(thread));
}

void signal_show_real(void)
{
	struct thread *thread = thread_own_state();
	sigset_t blocked;

	sigemptyset(&blocked);
	for (int i = 0; i < SIGNALS; i++) {
		const struct ours *ours = &signals[i];
		bool ignored = ours->program.sa_handler == SIG_IGN;

		if (ours->taken && ignored)
			NEXT(sigaction)(ours->number, &ours->program, NULL);
		if (is_believed(thread, ours))
			sigaddset(&blocked, ours->number);
	}
	NEXT(pthread_sigmask)(SIG_BLOCK, &blocked, NULL);
}

void signal_hide_again(void)
{
	for (int i = 0; i < SIGNALS; i++) {
		if (signals[i].taken)
			NEXT(sigaction)(signals[i].number, &signals[i].action, NULL);
		if (signals[i].taken && is_engine_signal(&signals[i]))
			open_mask(&signals[i]);
	}
}

/* SIGBUS stays open: nobody survives a fault that is blocked. */
uint64_t signal_hold(void)
{
	uint64_t set = 0, before = 0;

	for (int i = 0; i < SIGNALS; i++)
		if (signals[i].taken && i != FAULT)
			set |= FORMAT_SIGNAL_BIT(signals[i].number);
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &set, &before, sizeof(set));
	return before;
}

uint64_t signal_hold_all(void)
{
	uint64_t set = ~(FORMAT_SIGNAL_BIT(SIGBUS) | FORMAT_SIGNAL_BIT(SIGSEGV)), before = 0;

	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &set, &before, sizeof(set));
	return before;
}

void signal_release(uint64_t mask)
{
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof(mask));
}

/* What the program ignores stays ignored, as the kernel has it. */
void signal_handle_again(void)
{
	for (int i = 0; i < SIGNALS; i++) {
		struct ours *ours = &signals[i];

		if (!ours->taken)
			continue;
		if (is_handled(ours))
			ours->program = (struct sigaction){.sa_handler = SIG_DFL};
		follow_stack(ours);
		NEXT(sigaction)(ours->number, &ours->action, NULL);
	}
}

/* The program has set an action for a signal of ours. */
static void follow_program(struct ours *ours)
{
	follow_stack(ours);
	if (is_engine_signal(ours) && is_handled(ours))
		handler_entry_follow(ours->number, false);
}

COLLECTOR_EXPORT int sigaction(int number, const struct sigaction *new_action,
			       struct sigaction *old)
{
	struct ours *ours = taken_signal(number);

	if (!ours)
		return handler_entry_sigaction(number, new_action, old);
	struct sigaction before = ours->program;

	if (new_action) {
		ours->program = *new_action;
		follow_program(ours);
		signal_stack_note(number, new_action);
	}
	if (old)
		*old = before;
	return 0;
}

static __sighandler_t set_handler(int number, __sighandler_t handler, int flags,
				  __sighandler_t (*next)(int, __sighandler_t))
{
	struct ours *ours = taken_signal(number);

	if (!ours)
		return handler_entry_signal(number, handler, next);
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	__sighandler_t before = ours->program.sa_handler;

	ours->program = (struct sigaction){.sa_handler = handler, .sa_flags = flags};
	follow_program(ours);
	signal_stack_note(number, &ours->program);
	return before;
}

COLLECTOR_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, SA_RESTART, NEXT(signal));
}

/* Old, and no longer in the headers. */
__sighandler_t bsd_signal(int number, __sighandler_t handler);

COLLECTOR_EXPORT __sighandler_t bsd_signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, SA_RESTART, NEXT(bsd_signal));
}

COLLECTOR_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, (int)SA_RESETHAND, NEXT(sysv_signal));
}

/* Takes our signals out of a set that is about to be blocked; what the program believes is kept. */
static void believe(uint32_t *blocked, int how, const sigset_t *set)
{
	for (int i = 0; i < ENGINE_SIGNALS; i++) {
		bool named = sigismember(set, signals[i].number) == 1;

		if (how == SIG_SETMASK ? !named : named && how == SIG_UNBLOCK)
			*blocked &= ~(1u << i);
		else if (named && signals[i].taken)
			*blocked |= 1u << i;
	}
}

int signal_change_mask(int how, const sigset_t *set, sigset_t *old,
		       int (*next)(int, const sigset_t *, sigset_t *))
{
	struct thread *thread = NULL;
	sigset_t real;

	if (atomic_load(&collector.recording))
		thread = collector_is_ours() ? thread_current() : thread_current_if_known();
	if (!thread)
		return next(how, set, old);
	uint32_t *blocked = believed(thread);
	uint32_t before = *blocked;

	if (set) {
		real = *set;
		for (int i = 0; i < ENGINE_SIGNALS && how != SIG_UNBLOCK; i++)
			if (signals[i].taken)
				sigdelset(&real, signals[i].number);
		believe(blocked, how, set);
		set = &real;
	}
	int result = next(how, set, old);
	if (result)
		*blocked = before;
	for (int i = 0; !result && old && i < ENGINE_SIGNALS; i++)
		if (before & 1u << i)
			sigaddset(old, signals[i].number);
	return result;
}

COLLECTOR_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return signal_change_mask(how, set, old, NEXT(sigprocmask));
}

COLLECTOR_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return signal_change_mask(how, set, old, NEXT(pthread_sigmask));
}

/* ---- older calls, which libc makes of the ones above out of our sight ---- */

static int change_one(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, number) ? -1 : sigprocmask(how, &set, NULL);
}

/* Blocks the signal (SIG_HOLD), or sets its handler and opens it. */
COLLECTOR_EXPORT __sighandler_t sigset(int number, __sighandler_t handler)
{
	struct ours *ours = taken_signal(number);
	bool hold = handler == SIG_HOLD;
	sigset_t set, old;

	if (!ours)
		return handler_entry_signal(number, handler, NEXT(sigset));
	__sighandler_t before =
		hold ? ours->program.sa_handler : set_handler(number, handler, 0, NULL);

	if (before == SIG_ERR)
		return SIG_ERR;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, &old);
	return sigismember(&old, number) == 1 ? SIG_HOLD : before;
}

COLLECTOR_EXPORT int sighold(int number)
{
	return change_one(SIG_BLOCK, number);
}

COLLECTOR_EXPORT int sigrelse(int number)
{
	return change_one(SIG_UNBLOCK, number);
}

COLLECTOR_EXPORT int sigignore(int number)
{
	return sigaction(number, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}

COLLECTOR_EXPORT int siginterrupt(int number, int interrupt)
{
	struct ours *ours = taken_signal(number);

	if (!ours)
		return NEXT(siginterrupt)(number, interrupt);
	ours->program.sa_flags &= ~SA_RESTART;
	if (!interrupt)
		ours->program.sa_flags |= SA_RESTART;
	return 0;
}

/* The 32 lower signals as a word. */
static int change_low(int how, int mask)
{
	sigset_t set, old;
	int before = 0;

	sigemptyset(&set);
	for (int number = 1; number <= 32; number++)
		if ((unsigned int)mask >> (number - 1) & 1)
			sigaddset(&set, number);
	sigprocmask(how, &set, &old);
	for (int number = 1; number <= 32; number++)
		before |= (int)((unsigned int)(sigismember(&old, number) == 1) << (number - 1));
	return before;
}

/* No longer in the headers, or with a warning. */
int sigblock(int mask);
int sigsetmask(int mask);

COLLECTOR_EXPORT int sigblock(int mask)
{
	return change_low(SIG_BLOCK, mask);
}

COLLECTOR_EXPORT int sigsetmask(int mask)
{
	return change_low(SIG_SETMASK, mask);
}
