/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls, made directly.
 *
 * The collector may run in a signal handler, in a child of vfork, or before
 * the C library is ready.  Going around libc means: errno is untouched, no
 * cancellation point, no lock, and none of our own wrappers is entered.
 * Results are the kernel's: negative errno on failure.
 */
#ifndef HELIO_COLLECTOR_SYS_H
#define HELIO_COLLECTOR_SYS_H

#include "collector/arch/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define SYS_ARG(x) ((long)(x))
#define sys_call(number, a, b, c, d)                                                               \
	sys_call6((number), SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), 0, 0)

/*
 * own_use.c provides these: it counts the calls of ours that the kernel counts, by their results.
 * Safe in a handler.
 */
void sys_note_read(long result);
void sys_note_write(long result);

static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)sys_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline int sys_openat(int dir, const char *path, int flags)
{
	return (int)sys_call(SYS_openat, dir, path, flags | O_CLOEXEC, 0);
}

static inline int sys_close(int fd)
{
	return (int)sys_call(SYS_close, fd, 0, 0, 0);
}

static inline int sys_prctl(int option, unsigned long argument)
{
	return (int)sys_call(SYS_prctl, option, argument, 0, 0);
}

static inline long sys_read(int fd, void *to, size_t size)
{
	long result = sys_call(SYS_read, fd, to, size, 0);

	sys_note_read(result);
	return result;
}

static inline long sys_pread(int fd, void *to, size_t size, uint64_t offset)
{
	long result = sys_call(SYS_pread64, fd, to, size, offset);

	sys_note_read(result);
	return result;
}

static inline long sys_write(int fd, const void *from, size_t size)
{
	long result = sys_call(SYS_write, fd, from, size, 0);

	sys_note_write(result);
	return result;
}

static inline long sys_pwrite(int fd, const void *from, size_t size, uint64_t offset)
{
	long result = sys_call(SYS_pwrite64, fd, from, size, offset);

	sys_note_write(result);
	return result;
}

static inline long sys_readlink(const char *path, char *to, size_t size)
{
	return sys_call(SYS_readlinkat, AT_FDCWD, path, to, size);
}

static inline int sys_fallocate(int fd, uint64_t offset, uint64_t size)
{
	return (int)sys_call(SYS_fallocate, fd, 0, offset, size);
}

static inline int sys_truncate(const char *path, uint64_t size)
{
	return (int)sys_call(SYS_truncate, path, size, 0, 0);
}

static inline void *sys_mmap(size_t size, int protection, int flags, int fd, uint64_t offset)
{
	long result = sys_call6(SYS_mmap, 0, SYS_ARG(size), protection, flags, fd, SYS_ARG(offset));

	return result < 0 && result > -4096 ? NULL : (void *)result;
}

static inline int sys_munmap(void *start, size_t size)
{
	return (int)sys_call(SYS_munmap, start, size, 0, 0);
}

/* Memory of nobody's in the place of what is mapped there; false: there is none. */
static inline bool sys_map_over(void *start, size_t size)
{
	return sys_call6(SYS_mmap, SYS_ARG(start), SYS_ARG(size), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == SYS_ARG(start);
}

static inline int sys_ioctl(int fd, unsigned long request, unsigned long argument)
{
	return (int)sys_call(SYS_ioctl, fd, request, argument, 0);
}

/*
 * Sleeps, 1 s at most.  Not by nanosleep, which forgets already when it begins what a call of
 * the program, interrupted below us, is to be continued with (its restart block).
 */
static inline void sys_nap(long ns)
{
	const struct timespec time = {.tv_nsec = ns};
	uint32_t word = 0;

	sys_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time);
}

/* Whether an operation of futex(2) waits. */
static inline bool sys_futex_waits(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

static inline int sys_getpid(void)
{
	return (int)sys_call(SYS_getpid, 0, 0, 0, 0);
}

static inline int sys_gettid(void)
{
	return (int)sys_call(SYS_gettid, 0, 0, 0, 0);
}

/* Keeps all signals away from the calling thread; returns its mask, to be restored. */
static inline uint64_t sys_block_signals(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t mask = 0;

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof(mask));
	return mask;
}

/* The same, but for some, which are open afterwards. */
static inline uint64_t sys_block_signals_but(uint64_t open)
{
	const uint64_t blocked = ~open;
	uint64_t mask = 0;

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, &mask, sizeof(mask));
	return mask;
}

static inline void sys_restore_signals(uint64_t mask)
{
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof(mask));
}

/* Copies memory of this process which may be gone; returns how many bytes there were. */
static inline size_t sys_read_memory(uint64_t address, void *to, size_t size)
{
	struct {
		void *base;
		size_t size;
	} local = {to, size}, remote = {(void *)address, size};
	long got = sys_call6(SYS_process_vm_readv, sys_getpid(), SYS_ARG(&local), 1,
			     SYS_ARG(&remote), 1, 0);

	return got > 0 ? (size_t)got : 0;
}

#endif
