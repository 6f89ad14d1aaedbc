/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's signals of our numbers that it takes by signalfd(2).
 *
 * A signalfd tells what is pending, and ours would be among it: one that the monitor has just sent
 * makes it readable, and a program that reads it then waits for something that never comes.  So the
 * kernel knows of our numbers there only while one of the program's is pending: signal.c says so
 * when it has blocked one that came, and whoever has read it takes the number out again.  What has
 * come of ours meanwhile is left out of what is read.
 *
 * Descriptors are known by the number that signalfd returned: of one that has been duplicated
 * what is read is not looked at.
 */
#include "collector/wrap/signal_fd.h"

#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_signals.h"
#include "collector/storage/recording.h"

#include <string.h>
#include <sys/signalfd.h>

enum { DESCRIPTORS = 16 };

static struct told {
	_Atomic int number;		 /* of the descriptor + 1; 0: free */
	_Atomic uint64_t others, wanted; /* of what it tells: others' numbers, and ours */
} told[DESCRIPTORS];

static _Atomic bool any, telling;

static struct told *find(int fd)
{
	for (int i = 0; i < DESCRIPTORS; i++)
		if (atomic_load_explicit(&told[i].number, memory_order_relaxed) == fd + 1)
			return &told[i];
	return NULL;
}

static struct told *take_free(int fd)
{
	for (int i = 0; i < DESCRIPTORS; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&told[i].number, &none, fd + 1))
			return &told[i];
	}
	return NULL;
}

static void remember(int fd, uint64_t others, uint64_t wanted)
{
	struct told *known = find(fd);

	if (!known && wanted)
		known = take_free(fd);
	if (!known)
		return;
	atomic_store(&known->others, others);
	atomic_store(&known->wanted, wanted);
	if (wanted)
		atomic_store(&any, true);
	else
		atomic_store(&known->number, 0);
}

static void change(const struct told *known, uint64_t ours)
{
	uint64_t set = atomic_load(&known->others) | ours;

	/* -EINVAL: the number is another file's by now. */
	sys_call(SYS_signalfd4, atomic_load(&known->number) - 1, &set, sizeof(set), 0);
}

int signal_fd_make(int fd, const sigset_t *set, int flags, int (*next)(int, const sigset_t *, int))
{
	uint64_t all, wanted;
	sigset_t others = *set;

	memcpy(&all, set, sizeof(all));
	wanted = collector_is_ours() ? all & signal_numbers() : 0;
	all &= ~wanted;
	memcpy(&others, &all, sizeof(all));
	int result = next(fd, &others, flags);

	if (result >= 0)
		remember(result, all, wanted);
	if (wanted)
		signal_open_again(); /* what is pending already comes by, and is told */
	return result;
}

void signal_fd_close(int fd)
{
	struct told *known = atomic_load_explicit(&any, memory_order_relaxed) ? find(fd) : NULL;

	if (known)
		atomic_store(&known->number, 0);
}

void signal_fd_tell(int number)
{
	uint64_t pending = FORMAT_SIGNAL_BIT(number);

	if (!atomic_load_explicit(&any, memory_order_relaxed))
		return;
	for (int i = 0; i < DESCRIPTORS; i++)
		if (atomic_load(&told[i].number) && atomic_load(&told[i].wanted) & pending)
			change(&told[i], atomic_load(&told[i].wanted));
	atomic_store(&telling, true);
}

void signal_fd_tell_no_more(void)
{
	if (!atomic_exchange(&telling, false))
		return;
	for (int i = 0; i < DESCRIPTORS; i++)
		if (atomic_load(&told[i].number))
			change(&told[i], 0);
}

/* One of the monitor's comes again, when it is open; of an event the time stays pending. */
static bool leave_out(const struct signalfd_siginfo *record)
{
	siginfo_t info = {.si_signo = (int)record->ssi_signo, .si_code = record->ssi_code};

	info.si_value.sival_ptr = (void *)record->ssi_ptr; /* NOLINT: a number of ours */
	if (info.si_signo == CLOCK_SIGNAL_PERF && info.si_code == TRAP_PERF_CODE)
		return true;
	if (!monitor_signal_is_ours(&info))
		return false;
	sys_call6(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), info.si_signo, SYS_ARG(&info),
		  0, 0);
	return true;
}

/* Without ours; the number of bytes that are left. */
static size_t filter(struct signalfd_siginfo *records, size_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < size / sizeof(*records); i++)
		if (!leave_out(&records[i]))
			records[kept++] = records[i];
	return kept * sizeof(*records);
}

ssize_t signal_fd_read(signal_fd_reader *next, int fd, void *to, size_t size)
{
	if (!atomic_load_explicit(&any, memory_order_relaxed))
		return next(fd, to, size);
	ssize_t got;

	if (!find(fd))
		return next(fd, to, size);
	do {
		got = next(fd, to, size);
		if (got <= 0)
			return got;
		got = (ssize_t)filter(to, (size_t)got);
	} while (!got);
	signal_open_again(); /* if another one is pending it comes by once more */
	return got;
}

COLLECTOR_EXPORT ssize_t wrapped_read(int fd, void *to, size_t size) __asm__("read")
	__attribute__((weak));

ssize_t wrapped_read(int fd, void *to, size_t size)
{
	return signal_fd_read(NEXT(read), fd, to, size);
}

COLLECTOR_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	return signal_fd_make(fd, set, flags, NEXT(signalfd));
}
