/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the children have read and written:
 *
 *	children = whole process - living threads - threads that have ended
 *
 * since the kernel adds to the process's account what threads that end and children that are
 * awaited had.  To look at a thread's end costs as much as the thread, so that is done only from
 * the first wait on; up to then there are no children in it, and what is not of the living is of
 * those that have ended.
 *
 * After so many ends (ENDS_MOST) nothing is told apart any more: each costs 30 us, and what was
 * looked up in /proc delays who awaits the process at its end (rawthread.c).
 *
 * All that may be misjudged (a thread that ends meanwhile, what is read in between) makes the
 * children's part too small, which only grows: the largest that was found is right.
 */
#include "collector/core/child_io.h"

#include "collector/arch/sys.h"
#include "collector/core/tasks.h"
#include "collector/storage/file.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <string.h>
#include <sys/resource.h>

enum { IO_TEXT = 128 }; /* the first lines of seven */
enum { ENDS_MOST = 256 };

static _Atomic uint32_t ends;

static struct format_io children; /* the largest part of theirs that was found */

/* "rchar: N\nwchar: N\nsyscr: N\nsyscw: N\n…" */
static bool parse(const char *at, struct format_io *io)
{
	if (!*at)
		return false;
	for (int i = 0; i < FORMAT_IO_COUNTS; i++) {
		while (*at && (*at < '0' || *at > '9'))
			at++;
		io->count[i] = text_number(at, &at);
	}
	return true;
}

static bool read_whole(struct format_io *io)
{
	char room[IO_TEXT] = "";
	int fd = file_open_proc("/proc/self/io", O_RDONLY);

	if (fd < 0)
		return false;
	long got = sys_read(fd, room, sizeof(room) - 1);

	sys_close(fd);
	room[got > 0 ? got : 0] = '\0';
	return parse(room, io);
}

static bool read_thread(int tid, struct format_io *io)
{
	char room[IO_TEXT];

	tasks_read(tid, "io", room, sizeof(room));
	return parse(room, io);
}

/* What we read ourselves. */
static struct format_io own_reads(void)
{
	struct format_own_use own;

	own_use_get(&own);
	return (struct format_io){
		{own.read_bytes, own.write_bytes, own.read_calls, own.write_calls}};
}

struct living {
	int self;
	bool has_self;
	struct format_io before; /* own reads, when the whole was read */
	struct format_io sum;
};

static void add_living(int tid, void *arg)
{
	struct living *living = arg;
	struct format_io now = own_reads(), io;

	if (!read_thread(tid, &io))
		return; /* it has ended */
	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		living->sum.count[i] += io.count[i];
	if (tid != living->self)
		return;
	living->has_self = true;
	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		living->sum.count[i] -= now.count[i] - living->before.count[i];
}

/* What is not of living threads: of those that have ended, and of children. False: not known. */
static bool read_unaccounted(struct format_io *whole, struct format_io *unaccounted)
{
	struct living living = {.before = own_reads(), .self = tasks_own_number()};

	if (!read_whole(whole))
		return false;
	int dir = tasks_open();

	if (tasks_are_open(dir))
		tasks_for_each(dir, add_living, &living);
	if (dir >= 0)
		sys_close(dir);
	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		unaccounted->count[i] = whole->count[i] > living.sum.count[i]
						? whole->count[i] - living.sum.count[i]
						: 0;
	return living.has_self;
}

/* Whether some child was awaited: one that ran has had page faults. */
static bool has_children(void)
{
	struct rusage usage = {0};

	sys_call(SYS_getrusage, RUSAGE_CHILDREN, &usage, 0, 0);
	return usage.ru_minflt || usage.ru_majflt;
}

void child_io_before_wait(void)
{
	struct format_io whole, unaccounted;
	struct own_use_span span;

	if (!atomic_load(&collector.recording) || !collector_is_ours() ||
	    !own_use_io_changes(FORMAT_IO_OWN, FORMAT_IO_APART))
		return;
	own_use_begin(&span);
	if (!has_children() && read_unaccounted(&whole, &unaccounted))
		own_use_add_ended(&unaccounted);
	own_use_end(&span);
}

void child_io_thread_end(void)
{
	struct format_io io, before;

	if (own_use_io_state() != FORMAT_IO_APART || !atomic_load(&collector.recording))
		return;
	if (atomic_fetch_add(&ends, 1) >= ENDS_MOST) {
		own_use_io_changes(FORMAT_IO_APART, FORMAT_IO_TOGETHER);
		return;
	}
	before = own_reads();
	if (!read_thread(tasks_own_number(), &io))
		return;
	struct format_io now = own_reads(); /* its last read is not in what it has read */

	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		io.count[i] += now.count[i] - before.count[i];
	own_use_add_ended(&io);
}

void child_io_read(struct format_sample *sample)
{
	uint64_t *fields[] = {&sample->read_bytes, &sample->write_bytes, &sample->read_calls,
			      &sample->write_calls};
	struct format_io whole, unaccounted, ended;

	if (own_use_io_state() == FORMAT_IO_OWN && has_children()) /* an image before has */
		own_use_io_changes(FORMAT_IO_OWN, FORMAT_IO_APART);
	if (own_use_io_state() != FORMAT_IO_APART) {
		if (!read_whole(&whole))
			return;
	} else if (read_unaccounted(&whole, &unaccounted)) {
		own_use_get_ended(&ended);
		for (int i = 0; i < FORMAT_IO_COUNTS; i++)
			format_io_leave_out(&whole.count[i], unaccounted.count[i], ended.count[i],
					    &children.count[i]);
	} else {
		return;
	}
	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		*fields[i] = whole.count[i];
}

void child_io_forget(void)
{
	children = (struct format_io){0};
	atomic_store(&ends, 0);
}
