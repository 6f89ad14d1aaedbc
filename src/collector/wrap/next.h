/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions behind our wrappers: the next definition in the program's
 * search order, so that other preloaded libraries keep working.
 */
#ifndef HELIO_COLLECTOR_NEXT_H
#define HELIO_COLLECTOR_NEXT_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <threads.h>

typedef int clone_function(void *argument);

#define NEXT_FUNCTIONS(X)                                                                          \
	X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                     \
	X(__sighandler_t, signal, (int, __sighandler_t))                                           \
	X(__sighandler_t, bsd_signal, (int, __sighandler_t))                                       \
	X(__sighandler_t, sysv_signal, (int, __sighandler_t))                                      \
	X(__sighandler_t, sigset, (int, __sighandler_t))                                           \
	X(int, siginterrupt, (int, int))                                                           \
	X(int, signalfd, (int, const sigset_t *, int))                                             \
	X(int, sigprocmask, (int, const sigset_t *, sigset_t *))                                   \
	X(int, pthread_sigmask, (int, const sigset_t *, sigset_t *))                               \
	X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))   \
	X(int, thrd_create, (thrd_t *, thrd_start_t, void *))                                      \
	X(int, dlclose, (void *))                                                                  \
	X(int, prctl, (int, long, long, long, long))                                               \
	X(long, syscall, (long, long, long, long, long, long, long))                               \
	X(int, close, (int))                                                                       \
	X(void, closefrom, (int))                                                                  \
	X(int, dup2, (int, int))                                                                   \
	X(int, dup3, (int, int, int))                                                              \
	X(int, daemon, (int, int))                                                                 \
	X(pid_t, _Fork, (void))                                                                    \
	X(int, clone, (clone_function *, void *, int, void *, void *, void *, void *))             \
	X(int, unshare, (int))                                                                     \
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

#define NEXT(name) (*(next_functions.name ? 0 : (next_resolve(), 0), &next_functions.name))

/*
 * The definition that code at `caller` would have found without ours: the next one in the program's
 * search order or, of an object that was loaded apart from the program (dlopen with RTLD_LOCAL),
 * the first in that object's own scope, which then stays loaded.  NULL: there is none.
 * Takes the loader's lock.
 */
void *next_of_caller(const char *name, const void *caller);
/* What is to be called from now on must stay where it is. */
void next_keep_loaded(const void *symbol);

/* signal.c */
typedef void signal_handler(int signal, siginfo_t *info, void *context);

/* Takes a signal for us. What the program does to it from now on only seems to happen. */
bool signal_take(int signal, signal_handler *handler);
/* A signal that was not ours: does what the program's own action says. Called in our handler. */
void signal_forward(int signal, siginfo_t *info, void *context);
/* Before exec: the next image inherits what the program set, and afterwards ours again. */
void signal_show_real(void);
void signal_hide_again(void);

/* seccomp.c: a call that may restrict the program. */
void seccomp_before_syscall(long number, long a, long b, long c);

/* The program has its signals back; where it has changed an action itself, that one stays. */
void signal_give_back(void);

/* thread.c: the calling thread says when it ends, however it does. */
struct thread;
void thread_watch_end(struct thread *thread);

/* fork.c: once */
void process_install(void);
/* Whether a child that clone(2) makes with these flags has memory and descriptors of its own. */
bool fork_has_own_memory(unsigned long flags);
/* The system call of that number, which makes such a child. */
long fork_by_number(long number, long a, long b, long c, long d, long e, long f);

/* namespace.c: the experiment's paths are about to mean something else. */
void namespace_keep_place(void);
/* No thread of ours runs from here on; true: one did, and must come back. errno is kept. */
bool namespace_step_aside(void);
void namespace_come_back(bool aside);

/* end.c */
void end_install(void);
/* The process ends now, where no destructor runs. */
void end_before(void);

#endif
