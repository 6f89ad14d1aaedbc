/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that we share with the program, and what the program sees of that.  All of it is
 * done by the wrappers of the calls on signals (wrap/signal*.c); it is declared here as the layers
 * below them begin and end it, and none includes a header of one above it.
 */
#ifndef HELIO_COLLECTOR_SIGNALS_H
#define HELIO_COLLECTOR_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct thread;

typedef void signal_handler(int signal, siginfo_t *info, void *context);

/* Takes a signal for us. What the program does to it from now on only seems to happen. */
bool signal_take(int signal, signal_handler *handler);
/* The calling thread is the image's first: it believes blocked what its image was born with. */
void signal_inherit(void);
/* From now on the monitor's signal is this one, unless either is taken. */
void signal_choose_monitor(int signal);
/* A signal that was not ours: does what the program's own action says. Called in our handler. */
void signal_forward(int signal, siginfo_t *info, void *context);
/*
 * At the end of our handler: a signal of the program's that has one of our numbers and has come as
 * well.  Where there is one it is forwarded, as if it had come first: the call that it has ended
 * is not ours to go on with.
 */
bool signal_forward_pending(void *context);
/* What an engine has sent; else it is the program's. */
bool signal_is_our_own(const siginfo_t *info);
/* The same signal comes to the thread, or to another one, again; until then it is blocked in this
 * one, to which the handler returns.  False: it cannot be sent. */
bool signal_send_again(int signal, siginfo_t *info, void *context);

/*
 * libc's own signal, which no program can block: where it is blocked, all others are, or the
 * program takes them for it, and SIGBUS only seems to be open.
 */
enum { SIGNAL_MARK = 33 };

/* signal_bus.c: files of ours that somebody cuts while they are mapped. */
void signal_take_faults(void);
/* In a handler of ours: they do no harm here, whatever the thread blocks. */
void signal_open_faults(const void *context);
/* An instruction of the thread has raised this SIGBUS: it cannot wait. */
bool signal_is_fault(const siginfo_t *info);

/* Our handlers move to the stack that signal_stack.h tells, where it is another one by now. */
void signal_follow_stacks(void);

/* Before exec: the next image inherits what the program set, and afterwards ours again. */
void signal_show_real(void);
void signal_hide_again(void);

/*
 * Around a call whose child has no handlers (CLONE_CLEAR_SIGHAND): in the thread none of ours comes
 * until signal_release, with what signal_hold has returned, and the child has ours again.
 */
uint64_t signal_hold(void);
void signal_release(uint64_t mask);
/* The same for all signals but those of faults, as in our handlers. */
uint64_t signal_hold_all(void);
void signal_handle_again(void);

/*
 * What the calling thread believes it blocks is blocked indeed, so that a thread that it makes
 * gets no signal of the program's before it has a state, and is ours again.
 */
void signal_close(void);
void signal_open_again(void);

/*
 * In a program that ran already: a thread that blocks signals of ours, `set`, only believes so from
 * now on; what it believes so, which ends here; and the same for the calling thread, whose mask it
 * becomes, where nothing is recorded any more.
 */
bool signal_believe(struct thread *thread, uint64_t set);
uint64_t signal_disbelieve(struct thread *thread);
void signal_make_real(void);

/* Whether it is one of ours in this process. */
bool signal_is_taken(int signal);
/* The engines' signals that are, as bits. Safe in a handler. */
uint64_t signal_numbers(void);
/* Those of them that the program has no handler for. */
uint64_t signal_numbers_unhandled(void);
/* sigprocmask, as the program sees it; `next` is the call itself. */
int signal_change_mask(int how, const sigset_t *set, sigset_t *old,
		       int (*next)(int, const sigset_t *, sigset_t *));
/* signal_wait.c: sigtimedwait, as the program sees it; `next` is the call itself. */
typedef int signal_wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
int signal_wait_by(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
		   signal_wait *next);
/* signal_number.c: the calls on signals by number, as syscall(3) has them. */
bool signal_is_number(long number);
long signal_by_number(long number, long a, long b, long c, long d);

/* The program has its signals back; where it has changed an action itself, that one stays. */
void signal_give_back(void);

#endif
