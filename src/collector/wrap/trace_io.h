/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How functions that do I/O are wrapped: one line each says which argument is what.
 *
 *   IO_CALL(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at),
 *           value < 0, .type = IO_READ, .fd = fd, .bytes = (uint64_t)value)
 *
 * defines the function under a C name of its own, since headers declare some of them in other
 * words (variadic, or inline), with its arguments in the same places.  The functions behind
 * them lie together in a section, so that no list of them is needed.
 */
#ifndef HELIO_COLLECTOR_TRACE_IO_H
#define HELIO_COLLECTOR_TRACE_IO_H

#include "collector/sources/io.h"
#include "collector/storage/recording.h"

#include <errno.h>

struct io_function {
	const char *name;
	void *next; /* the next definition in the program's search order */
};

/* Looks it up where it has not been: for calls before the constructor. */
void *io_next(struct io_function *function);

#define IO_FUNCTION(result, name, parameters)                                                      \
	static struct io_function io_##name                                                        \
		__attribute__((section("helio_io"), used)) = {#name, NULL};                        \
	COLLECTOR_EXPORT result wrapped_##name parameters __asm__(#name);                          \
	result wrapped_##name parameters

#define IO_NEXT(result, name, parameters) ((result(*) parameters)io_next(&io_##name))

/* `failure` and what follows, fields of struct io_event, may use the arguments and `value`. */
#define IO_CALL(result, name, parameters, arguments, failure, ...)                                 \
	IO_FUNCTION(result, name, parameters)                                                      \
	{                                                                                          \
		uint64_t begin_ns = io_begin();                                                    \
		result value = IO_NEXT(result, name, parameters) arguments;                        \
                                                                                                   \
		if (begin_ns)                                                                      \
			io_end(begin_ns, io_##name.next,                                           \
			       &(struct io_event){.failed = (failure), __VA_ARGS__});              \
		return value;                                                                      \
	}

/* The usual kinds, on the argument `fd`. */
#define IO_READ_CALL(name, parameters, arguments, ...)                                             \
	IO_CALL(ssize_t, name, parameters, arguments, value < 0, .type = IO_READ, .fd = fd,        \
		.bytes = (uint64_t)value, __VA_ARGS__)
#define IO_WRITE_CALL(name, parameters, arguments, ...)                                            \
	IO_CALL(ssize_t, name, parameters, arguments, value < 0, .type = IO_WRITE, .fd = fd,       \
		.bytes = (uint64_t)value, __VA_ARGS__)
#define IO_OTHER_CALL(name, parameters, arguments, ...)                                            \
	IO_CALL(int, name, parameters, arguments, value < 0, .type = IO_OTHER, .fd = fd,           \
		__VA_ARGS__)
/* One that returns a new descriptor. */
#define IO_OPEN_CALL(name, parameters, arguments, ...)                                             \
	IO_CALL(int, name, parameters, arguments, value < 0, .type = IO_OPEN, .fd = value,         \
		__VA_ARGS__)
/* One on a name in the file system, of no descriptor. */
#define IO_PATH_CALL(name, parameters, arguments, ...)                                             \
	IO_CALL(int, name, parameters, arguments, value < 0, .type = IO_OTHER, .fd = IO_NO_FD,     \
		__VA_ARGS__)

#define IO_AT(place) .has_offset = true, .offset = (uint64_t)(place)

#endif
