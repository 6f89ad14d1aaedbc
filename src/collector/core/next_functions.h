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
/*
 * The one that begins the recording, in whatever order files are linked: what it is to find is set
 * by those before, what goes by whether it has begun is a constructor without a number.
 */
#define START_CONSTRUCTOR __attribute__((constructor(102)))
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

#endif
