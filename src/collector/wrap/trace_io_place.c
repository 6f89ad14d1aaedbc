/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wrap/trace_io_place.h"

#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"

#include <sys/single_threaded.h>

enum { PLACES = 1024 }; /* descriptors beyond are not looked at */

/* Bits of _flags, which glibc keeps for old programs' sake. */
enum { UNBUFFERED = 0x2, LINE_BUFFERED = 0x200 };

/* Where a stream stood, by its descriptor. */
static struct place {
	FILE *stream;
	const char *read, *read_end, *write;
} places[PLACES];
static int places_end; /* those from here on are empty */

/* Bytes that were pushed back, by the stream's descriptor: whoever takes them has had them. */
static _Atomic uint64_t pushed_back[PLACES];

struct io_function stream_getc __attribute__((section("helio_io"), used)) = {"getc_unlocked", NULL};
struct io_function stream_putc __attribute__((section("helio_io"), used)) = {"putc_unlocked", NULL};

int stream_fd(FILE *stream)
{
	int error = errno;
	int fd = stream ? fileno(stream) : IO_NO_FD;

	errno = error;
	return fd;
}

static struct place *place_of(FILE *stream)
{
	int fd = stream_fd(stream);

	return fd >= 0 && fd < PLACES ? &places[fd] : NULL;
}

static uint64_t moved(const char *from, const char *to, const char *begin, const char *end)
{
	return from && from >= begin && from < to && to <= end ? (uint64_t)(to - from) : 0;
}

static struct in_place look(FILE *stream)
{
	const struct place *place = place_of(stream);

	if (!place || place->stream != stream || !__libc_single_threaded)
		return (struct in_place){0};
	return (struct in_place){
		.taken = moved(place->read, stream->_IO_read_ptr, stream->_IO_read_base,
			       stream->_IO_read_end),
		.put = moved(place->write, stream->_IO_write_ptr, stream->_IO_write_base,
			     stream->_IO_buf_end),
	};
}

uint64_t stream_fresh(FILE *stream, uint64_t bytes)
{
	int fd = stream_fd(stream);
	uint64_t back = fd >= 0 && fd < PLACES
				? atomic_load_explicit(&pushed_back[fd], memory_order_relaxed)
				: 0;

	if (back > bytes)
		back = bytes;
	if (back)
		atomic_fetch_sub_explicit(&pushed_back[fd], back, memory_order_relaxed);
	return bytes - back;
}

static void count(FILE *stream, const struct io_function *function, enum format_io_type type,
		  uint64_t bytes)
{
	if (bytes)
		io_end(IO_NO_TIME, function->next,
		       &(struct io_event){.type = type, .fd = stream_fd(stream), .bytes = bytes});
}

static void remember(FILE *stream)
{
	struct place *place = place_of(stream);

	if (!place || !__libc_single_threaded)
		return;
	*place = (struct place){stream, stream->_IO_read_ptr, stream->_IO_read_end,
				stream->_IO_write_ptr};
	if (place - places >= places_end)
		places_end = (int)(place - places) + 1;
}

static void settle(FILE *stream)
{
	struct in_place bytes = look(stream);

	remember(stream);
	count(stream, &stream_getc, IO_READ, stream_fresh(stream, bytes.taken));
	count(stream, &stream_putc, IO_WRITE, bytes.put);
}

/* The library may have closed it itself, as endmntent does. */
static bool is_there(FILE *stream, int fd)
{
	FILE copy;

	return sys_read_memory((uint64_t)stream, &copy, sizeof(copy)) == sizeof(copy) &&
	       copy._fileno == fd;
}

static void for_all(void (*visit)(FILE *))
{
	for (int fd = 0; fd < places_end && __libc_single_threaded; fd++)
		if (places[fd].stream && is_there(places[fd].stream, fd))
			visit(places[fd].stream);
}

/* The library flushes stdout before it reads for a stream of this kind. */
static bool flushes_stdout(FILE *stream)
{
	return stream != stdout && stream->_flags & (UNBUFFERED | LINE_BUFFERED);
}

struct in_place stream_take(FILE *stream)
{
	if (flushes_stdout(stream))
		settle(stdout);
	return look(stream);
}

/*
 * The buffer was filled again if it ends elsewhere, or the stream stands before where it stood; or
 * there, having taken something.
 */
uint64_t stream_scanned(FILE *stream, bool some)
{
	const struct place *place = place_of(stream);

	if (!place || place->stream != stream || !__libc_single_threaded || stream->_mode > 0)
		return 0;
	const char *now = stream->_IO_read_ptr;

	if (stream->_IO_read_end == place->read_end && now >= place->read &&
	    (now > place->read || !some))
		return (uint64_t)(now - place->read);
	return (uint64_t)(place->read_end - place->read) + (uint64_t)(now - stream->_IO_read_base);
}

void stream_remember(FILE *stream)
{
	if (!stream) {
		for_all(remember);
		return;
	}
	remember(stream);
	if (flushes_stdout(stream))
		remember(stdout);
}

bool stream_push_back(FILE *stream, int c)
{
	bool in_place = trace_is_on(TRACE_IO) && look(stream).taken;

	if (in_place && stream->_IO_read_ptr[-1] == (char)c)
		return false;
	if (in_place)
		settle(stream);
	return trace_is_on(TRACE_IO);
}

void stream_pushed_back(FILE *stream)
{
	int fd = stream_fd(stream);

	if (fd >= 0 && fd < PLACES)
		atomic_fetch_add_explicit(&pushed_back[fd], 1, memory_order_relaxed);
	remember(stream);
}

void stream_seek(FILE *stream)
{
	int fd = stream_fd(stream);

	if (fd >= 0 && fd < PLACES)
		atomic_store_explicit(&pushed_back[fd], 0, memory_order_relaxed);
}

void stream_forget(FILE *stream)
{
	struct place *place = place_of(stream);

	if (place)
		place->stream = NULL;
	stream_seek(stream);
}

void stream_settle(FILE *stream)
{
	if (!stream)
		for_all(settle);
	else if (flushes_stdout(stream))
		settle(stdout);
	if (stream)
		settle(stream);
}

/* What the parent has put into a buffer before a fork is not its child's. */
static void begin(void)
{
	for_all(remember);
}

static void finish(void)
{
	for_all(settle);
}

NEXT_CONSTRUCTOR static void install(void)
{
	io_streams_begin = begin;
	io_streams_finish = finish;
}
