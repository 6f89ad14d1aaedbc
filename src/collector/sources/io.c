/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/io.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/pending_call.h"
#include "collector/core/stamp.h"
#include "collector/core/thread.h"
#include "collector/storage/recording.h"

#include <errno.h>

static bool read_param(const char *value)
{
	bool on = *value && *value != ';';

	while (*value && *value != ';' && *value != ',')
		value++;
	if (*value == ',')
		io_mounts_of_family(value + 1);
	return on;
}

void (*io_streams_begin)(void), (*io_streams_finish)(void);

static void begin(void)
{
	stamp_begin();
	if (io_streams_begin)
		io_streams_begin();
	io_names_begin();
	io_mounts_note();
}

static void finish(void)
{
	if (io_streams_finish)
		io_streams_finish();
	io_mounts_note();
}

static bool is_traced(void)
{
	return trace_is_on(TRACE_IO) &&
	       atomic_load_explicit(&collector.recording, memory_order_relaxed);
}

__attribute__((noinline)) uint64_t io_begin(void)
{
	if (!is_traced())
		return 0;
	struct pending_call call = {.kind = TRACE_IO,
				    .since_ns = stamp_now_outside(thread_current_if_known()),
				    .sp = (uint64_t)__builtin_dwarf_cfa()};

	pending_call_begin(&call);
	return call.since_ns;
}

/* The function that was called is not known, but the system call that it makes. */
static bool under_way(struct thread *thread, const struct pending_call *call,
		      const struct clock_remote *remote, uint64_t now_ns, unsigned *type,
		      uint64_t *fields)
{
	struct thread *own = trace_enter(TRACE_IO);
	int fd;

	(void)thread;
	io_number_under_way(remote->call, remote->argument, type, &fd);
	fields[IO_DESCRIPTOR] = fd >= 0 ? (uint64_t)fd + 1 : 0;
	fields[IO_WAITED] = now_ns > call->since_ns ? now_ns - call->since_ns : 0;
	if (own) {
		fields[IO_NAME] = io_name_of_fd(own, fd);
		trace_leave(own);
	}
	return true;
}

const struct trace_source io_source = {.kind = TRACE_IO,
				       .read_param = read_param,
				       .begin = begin,
				       .finish = finish,
				       .under_way = under_way};

/* A path can be read again if the kernel has read it: only then did it find fault with it. */
static bool path_was_read(int error)
{
	switch (error) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case EEXIST:
	case EISDIR:
	case ELOOP:
	case EROFS:
	case ENOTEMPTY:
	case ETXTBSY:
	case EXDEV:
	case ENXIO:
		return true;
	default:
		return false;
	}
}

/* Likewise the address of a peer. */
static bool address_was_read(int error)
{
	switch (error) {
	case 0:
	case EINPROGRESS:
	case ECONNREFUSED:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENOENT:
		return true;
	default:
		return false;
	}
}

static uint32_t name_of(struct thread *thread, const struct io_event *event, int error)
{
	const char *path = event->path && path_was_read(error) ? event->path : NULL;
	bool opens = event->type == IO_OPEN && !error;

	if (event->name)
		return event->name;
	if (event->address && address_was_read(error))
		return io_name_of_address(thread, event->fd, event->address, event->address_size);
	if (path && *path && (!opens || *path == '/')) {
		uint32_t name = io_name_of_path(thread, path);

		if (opens)
			io_names_set(event->fd, name);
		return name;
	}
	return io_name_of_fd(thread, event->fd);
}

static void write_event(struct thread *thread, uint64_t begin_ns, const void *function,
			const struct io_event *event, int error)
{
	uint64_t end_ns = stamp_now(thread);
	bool opened = event->type != IO_OPEN || !error;
	uint64_t fields[IO_FIELDS] = {
		[IO_DESCRIPTOR] = event->fd >= 0 && opened ? (uint64_t)event->fd + 1 : 0,
		[IO_BYTES] = error ? 0 : event->bytes,
		[IO_WAITED] = end_ns > begin_ns ? end_ns - begin_ns : 0,
		[IO_RESULT] = (uint64_t)error,
		[IO_NAME] = name_of(thread, event, error),
		[IO_OFFSET] = event->has_offset ? event->offset + 1 : event->requests,
	};

	trace_event_in(thread, TRACE_IO, event->type, end_ns, function, fields);
}

void io_end(uint64_t begin_ns, const void *function, const struct io_event *event)
{
	int error = event->failed ? errno ? errno : EIO : event->error;
	bool renamed = event->renames || (event->type == IO_OPEN && !error);

	if (renamed && event->fd >= 0 && collector_is_ours())
		io_names_set(event->fd, 0);
	pending_call_end(begin_ns);
	struct thread *thread = trace_enter(TRACE_IO);
	if (!thread)
		return;
	if (!pending_call_was_written(thread, begin_ns))
		write_event(thread, begin_ns, function, event, error);
	trace_leave(thread);
}

uint32_t io_release(int fd)
{
	if (fd < 0 || !is_traced() || !collector_is_ours())
		return 0;
	struct thread *thread = trace_enter(TRACE_IO);
	uint32_t name = 0;

	if (thread) {
		name = io_name_of_fd(thread, fd);
		trace_leave(thread);
	}
	io_names_set(fd, 0);
	return name;
}

void io_release_range(unsigned first, unsigned last)
{
	if (is_traced() && collector_is_ours())
		io_names_forget(first, last);
}
