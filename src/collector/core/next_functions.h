/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions behind our wrappers: the next definition in the program's
 * search order, so that other preloaded libraries keep working.
 */
#ifndef HELIO_COLLECTOR_NEXT_FUNCTIONS_H
#define HELIO_COLLECTOR_NEXT_FUNCTIONS_H

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <threads.h>

typedef int clone_function(void *argument);
typedef int scandir_filter(const struct dirent *entry);
typedef int scandir_order(const struct dirent **a, const struct dirent **b);

#define NEXT_FUNCTIONS(X)                                                                          \
	X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                     \
	X(__sighandler_t, signal, (int, __sighandler_t))                                           \
	X(__sighandler_t, bsd_signal, (int, __sighandler_t))                                       \
	X(__sighandler_t, sysv_signal, (int, __sighandler_t))                                      \
	X(__sighandler_t, sigset, (int, __sighandler_t))                                           \
	X(int, siginterrupt, (int, int))                                                           \
	X(int, signalfd, (int, const sigset_t *, int))                                             \
	X(ssize_t, read, (int, void *, size_t))                                                    \
	X(int, sigprocmask, (int, const sigset_t *, sigset_t *))                                   \
	X(int, pthread_sigmask, (int, const sigset_t *, sigset_t *))                               \
	X(int, sigwait, (const sigset_t *, int *))                                                 \
	X(int, sigwaitinfo, (const sigset_t *, siginfo_t *))                                       \
	X(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *))             \
	X(int, sigpending, (sigset_t *))                                                           \
	X(int, sigaltstack, (const stack_t *, stack_t *))                                          \
	X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))   \
	X(int, thrd_create, (thrd_t *, thrd_start_t, void *))                                      \
	X(void *, mmap, (void *, size_t, int, int, int, off_t))                                    \
	X(int, dlclose, (void *))                                                                  \
	X(int, prctl, (int, long, long, long, long))                                               \
	X(long, syscall, (long, long, long, long, long, long, long))                               \
	X(int, close, (int))                                                                       \
	X(void, closefrom, (int))                                                                  \
	X(int, dup2, (int, int))                                                                   \
	X(int, dup3, (int, int, int))                                                              \
	X(int, daemon, (int, int))                                                                 \
	X(pid_t, fork, (void))                                                                     \
	X(pid_t, _Fork, (void))                                                                    \
	X(int, clone, (clone_function *, void *, int, void *, void *, void *, void *))             \
	X(int, unshare, (int))                                                                     \
	X(long, ptrace, (long, long, long, long))                                                  \
	X(int, setns, (int, int))                                                                  \
	X(int, chroot, (const char *))                                                             \
	X(int, setuid, (uid_t))                                                                    \
	X(int, seteuid, (uid_t))                                                                   \
	X(int, setreuid, (uid_t, uid_t))                                                           \
	X(int, setresuid, (uid_t, uid_t, uid_t))                                                   \
	X(int, vfork, (void))                                                                      \
	X(int, execve, (const char *, char *const[], char *const[]))                               \
	X(int, execvpe, (const char *, char *const[], char *const[]))                              \
	X(int, fexecve, (int, char *const[], char *const[]))                                       \
	X(int, execveat, (int, const char *, char *const[], char *const[], int))                   \
	X(int, posix_spawn,                                                                        \
	  (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,   \
	   char *const[], char *const[]))                                                          \
	X(int, posix_spawnp,                                                                       \
	  (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,   \
	   char *const[], char *const[]))                                                          \
	X(pid_t, wait, (int *))                                                                    \
	X(pid_t, waitpid, (pid_t, int *, int))                                                     \
	X(pid_t, wait3, (int *, int, struct rusage *))                                             \
	X(pid_t, wait4, (pid_t, int *, int, struct rusage *))                                      \
	X(int, waitid, (idtype_t, id_t, siginfo_t *, int))                                         \
	X(int, system, (const char *))                                                             \
	X(FILE *, popen, (const char *, const char *))                                             \
	X(int, fcloseall, (void))                                                                  \
	X(int, stat, (const char *, void *))                                                       \
	X(int, stat64, (const char *, void *))                                                     \
	X(int, lstat, (const char *, void *))                                                      \
	X(int, lstat64, (const char *, void *))                                                    \
	X(int, fstat, (int, void *))                                                               \
	X(int, fstat64, (int, void *))                                                             \
	X(int, fstatat, (int, const char *, void *, int))                                          \
	X(int, fstatat64, (int, const char *, void *, int))                                        \
	X(int, statx, (int, const char *, int, unsigned, void *))                                  \
	X(int, __xstat, (int, const char *, void *))                                               \
	X(int, __xstat64, (int, const char *, void *))                                             \
	X(int, __lxstat, (int, const char *, void *))                                              \
	X(int, __lxstat64, (int, const char *, void *))                                            \
	X(int, __fxstat, (int, int, void *))                                                       \
	X(int, __fxstat64, (int, int, void *))                                                     \
	X(int, __fxstatat, (int, int, const char *, void *, int))                                  \
	X(int, __fxstatat64, (int, int, const char *, void *, int))                                \
	X(struct dirent *, readdir, (DIR *))                                                       \
	X(struct dirent *, readdir64, (DIR *))                                                     \
	X(int, scandir, (const char *, struct dirent ***, scandir_filter *, scandir_order *))      \
	X(int, scandir64, (const char *, struct dirent ***, scandir_filter *, scandir_order *))    \
	X(ssize_t, getdents64, (int, void *, size_t))                                              \
	X(void, _exit, (int))                                                                      \
	X(void, _Exit, (int))

struct next_functions {
#define X(result, name, arguments) result(*name) arguments;
	NEXT_FUNCTIONS(X)
#undef X
};

extern struct next_functions next_functions;

/* Looks all of them up. Done by the constructor; a wrapper that is called earlier does it itself.
 */
void next_resolve(void);

/*
 * dlsym and dlvsym with RTLD_NEXT that allocate nothing for a name that is not there.  NULL: there
 * is none.  Takes the loader's lock.
 */
void *next_symbol(const char *name);
void *next_symbol_version(const char *name, const char *version);

/* Whether the program itself, not one of its libraries, exports the name. Takes the loader's lock.
 */
bool next_program_exports(const char *name);

/*
 * A constructor that looks names up: before the one that begins the recording, so that the memory
 * which dlsym may allocate is not the program's.
 */
#define NEXT_CONSTRUCTOR __attribute__((constructor(101)))
/* Has dlerror say nothing of names that are not there, and free what it had to say. */
void next_forget_failures(void);

#define NEXT(name) (*(next_functions.name ? 0 : (next_resolve(), 0), &next_functions.name))

/*
 * The definition that code at `caller` would have found without ours: the next one in the program's
 * search order or, of an object that was loaded apart from the program (dlopen with RTLD_LOCAL),
 * the first in that object's own scope, which then stays loaded.  NULL: there is none.
 * Takes the loader's lock.
 */
void *next_of_caller(const char *name, const void *caller);
/* The first in the scope of the object that holds an address, with what it depends on; or NULL. */
void *next_in_scope(const char *name, const void *address);
/* What is to be called from now on must stay where it is. */
void next_keep_loaded(const void *symbol);

/* signal.c */
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

struct thread;
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

/* tracer.c: whether this program traces others. */
bool tracer_is_one(void);

/* seccomp.c: a call that may restrict the program. */
void seccomp_before_syscall(long number, long a, long b, long c);

/* The program has its signals back; where it has changed an action itself, that one stays. */
void signal_give_back(void);

/* thread.c: the calling thread says when it ends, however it does. */
struct thread;
void thread_watch_end(struct thread *thread);

/* fork.c: once */
void process_install(void);
/* To be called before any clone(2) with these flags. */
void fork_before_clone(unsigned long flags);
/* Whether a child that clone(2) makes with these flags has memory and descriptors of its own. */
bool fork_has_own_memory(unsigned long flags);
/* The system call of that number, which makes such a child. */
long fork_by_number(long number, long a, long b, long c, long d, long e, long f);

/*
 * namespace.c: the experiment's paths are about to mean something else: from here on no directory
 * is held. As namespace_step_aside otherwise.
 */
bool namespace_before_move(void);
/* Of that what needs no thread to step aside: the launcher can be asked for files from then on. */
void namespace_prepare_to_move(void);
/* No thread of ours runs from here on; true: one did, and must come back. errno is kept. */
bool namespace_step_aside(void);
void namespace_come_back(bool aside);
/* In the child of a fork. */
void namespace_forget(void);

/* end.c */
void end_install(void);
/* The process ends now, where no destructor runs. */
void end_before(void);

#endif
