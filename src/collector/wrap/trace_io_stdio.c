/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traced calls of stdio.  Each is an event with the bytes that the program gave or got; the
 * reading and writing of whole buffers happens inside the C library, out of sight.
 * Streams that are not of a descriptor (in memory, the program's own) do no I/O.
 *
 * What compilers expand in place (getc_unlocked, putc_unlocked) is counted in sums: see
 * trace_io_place.h.
 *
 * Of wide characters the bytes that they are in the file are counted, in the program's locale;
 * only of formatted ones, which nobody sees but the stream, each counts as one.
 */
#include "collector/wrap/trace_io_place.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static void end(uint64_t begin_ns, const struct io_function *function, FILE *stream,
		enum format_io_type type, bool failed, uint64_t bytes)
{
	int fd = stream_fd(stream);

	if (type == IO_READ && bytes)
		bytes = stream_fresh(stream, bytes);
	stream_remember(stream);
	if (fd >= 0)
		io_end(begin_ns, function->next,
		       &(struct io_event){
			       .type = type, .failed = failed, .fd = fd, .bytes = bytes});
}

/* `failure` and `bytes` may use the arguments and `value`. */
#define STREAM_CALL(result, name, parameters, arguments, stream, type, failure, bytes)             \
	IO_FUNCTION(result, name, parameters)                                                      \
	{                                                                                          \
		uint64_t begin_ns = stream_begin(stream);                                          \
		result value = IO_NEXT(result, name, parameters) arguments;                        \
                                                                                                   \
		if (begin_ns)                                                                      \
			end(begin_ns, &io_##name, stream, type, failure, (uint64_t)(bytes));       \
		return value;                                                                      \
	}

/* ---- opening and closing ---- */

#define STREAM_OPEN_CALL(name, parameters, arguments, path_)                                       \
	IO_CALL(FILE *, name, parameters, arguments, !value, .type = IO_OPEN,                      \
		.fd = value ? stream_fd(value) : IO_NO_FD, .path = path_)

STREAM_OPEN_CALL(fopen, (const char *path, const char *mode), (path, mode), path)
STREAM_OPEN_CALL(fopen64, (const char *path, const char *mode), (path, mode), path)
STREAM_OPEN_CALL(tmpfile, (void), (), NULL)
STREAM_OPEN_CALL(tmpfile64, (void), (), NULL)
/* The descriptor was there before. */
IO_CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), !value, .type = IO_OTHER, .fd = fd)

/* What leaves a descriptor behind: its name must be asked before. */
#define STREAM_LEAVE_CALL(result, name, parameters, arguments, failure, ...)                       \
	IO_FUNCTION(result, name, parameters)                                                      \
	{                                                                                          \
		uint64_t begin_ns = stream_begin(stream);                                          \
		int fd = begin_ns ? stream_fd(stream) : IO_NO_FD;                                  \
		uint32_t name_before = io_release(fd);                                             \
                                                                                                   \
		stream_forget(stream);                                                             \
		result value = IO_NEXT(result, name, parameters) arguments;                        \
                                                                                                   \
		if (begin_ns && fd >= 0)                                                           \
			io_end(begin_ns, io_##name.next,                                           \
			       &(struct io_event){.failed = (failure), __VA_ARGS__});              \
		return value;                                                                      \
	}

STREAM_LEAVE_CALL(int, fclose, (FILE * stream), (stream), value == EOF, .type = IO_CLOSE, .fd = fd,
		  .name = name_before)
STREAM_LEAVE_CALL(int, pclose, (FILE * stream), (stream), value < 0, .type = IO_CLOSE, .fd = fd,
		  .name = name_before)
STREAM_LEAVE_CALL(FILE *, freopen, (const char *path, const char *mode, FILE *stream),
		  (path, mode, stream), ((void)name_before, !value), .type = IO_OPEN,
		  .fd = value ? stream_fd(value) : IO_NO_FD, .path = path)
STREAM_LEAVE_CALL(FILE *, freopen64, (const char *path, const char *mode, FILE *stream),
		  (path, mode, stream), ((void)name_before, !value), .type = IO_OPEN,
		  .fd = value ? stream_fd(value) : IO_NO_FD, .path = path)

/* ---- blocks ---- */

/* Less than was asked for is an end of the file, unless the stream says otherwise. */
static bool has_failed(FILE *stream, bool is_short)
{
	return is_short && ferror_unlocked(stream);
}

#define STREAM_BLOCK_CALL(name, parameters, arguments, type)                                       \
	STREAM_CALL(size_t, name, parameters, arguments, stream, type,                             \
		    has_failed(stream, value < count), size *value)

STREAM_BLOCK_CALL(fread, (void *to, size_t size, size_t count, FILE *stream),
		  (to, size, count, stream), IO_READ)
STREAM_BLOCK_CALL(fread_unlocked, (void *to, size_t size, size_t count, FILE *stream),
		  (to, size, count, stream), IO_READ)
STREAM_BLOCK_CALL(__fread_chk, (void *to, size_t room, size_t size, size_t count, FILE *stream),
		  (to, room, size, count, stream), IO_READ)
STREAM_BLOCK_CALL(__fread_unlocked_chk,
		  (void *to, size_t room, size_t size, size_t count, FILE *stream),
		  (to, room, size, count, stream), IO_READ)
STREAM_BLOCK_CALL(fwrite, (const void *from, size_t size, size_t count, FILE *stream),
		  (from, size, count, stream), IO_WRITE)
STREAM_BLOCK_CALL(fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *stream),
		  (from, size, count, stream), IO_WRITE)

/* ---- lines and characters ---- */

#define STREAM_LINE_CALL(name, parameters, arguments)                                              \
	STREAM_CALL(char *, name, parameters, arguments, stream, IO_READ,                          \
		    has_failed(stream, !value), value ? strlen(value) : 0)

STREAM_LINE_CALL(fgets, (char *to, int size, FILE *stream), (to, size, stream))
STREAM_LINE_CALL(fgets_unlocked, (char *to, int size, FILE *stream), (to, size, stream))
STREAM_LINE_CALL(__fgets_chk, (char *to, size_t room, int size, FILE *stream),
		 (to, room, size, stream))
STREAM_LINE_CALL(__fgets_unlocked_chk, (char *to, size_t room, int size, FILE *stream),
		 (to, room, size, stream))

STREAM_CALL(char *, gets, (char *to), (to), stdin, IO_READ, has_failed(stdin, !value),
	    value ? strlen(value) + 1 : 0)
STREAM_CALL(char *, __gets_chk, (char *to, size_t room), (to, room), stdin, IO_READ,
	    has_failed(stdin, !value), value ? strlen(value) + 1 : 0)
STREAM_CALL(int, getw, (FILE * stream), (stream), stream, IO_READ, has_failed(stream, value == EOF),
	    feof_unlocked(stream) ? 0 : sizeof(int))
STREAM_CALL(int, putw, (int word, FILE *stream), (word, stream), stream, IO_WRITE, value == EOF,
	    sizeof(int))

#define STREAM_RECORD_CALL(name, parameters, arguments)                                            \
	STREAM_CALL(ssize_t, name, parameters, arguments, stream, IO_READ,                         \
		    has_failed(stream, value < 0), value < 0 ? 0 : value)

STREAM_RECORD_CALL(getline, (char **to, size_t *size, FILE *stream), (to, size, stream))
STREAM_RECORD_CALL(getdelim, (char **to, size_t *size, int end_, FILE *stream),
		   (to, size, end_, stream))
STREAM_RECORD_CALL(__getdelim, (char **to, size_t *size, int end_, FILE *stream),
		   (to, size, end_, stream))

#define STREAM_GET_CALL(name, parameters, arguments, stream)                                       \
	STREAM_CALL(int, name, parameters, arguments, stream, IO_READ,                             \
		    has_failed(stream, value == EOF), value != EOF)

STREAM_GET_CALL(fgetc, (FILE * stream), (stream), stream)
STREAM_GET_CALL(getc, (FILE * stream), (stream), stream)
STREAM_GET_CALL(_IO_getc, (FILE * stream), (stream), stream)
STREAM_GET_CALL(fgetc_unlocked, (FILE * stream), (stream), stream)
STREAM_GET_CALL(getc_unlocked, (FILE * stream), (stream), stream)
STREAM_GET_CALL(getchar, (void), (), stdin)
STREAM_GET_CALL(getchar_unlocked, (void), (), stdin)

/*
 * Where the buffer is empty, or full, for a character that is taken or put in place.  Those before
 * it are counted with it.
 */
IO_FUNCTION(int, __uflow, (FILE * stream))
{
	uint64_t begin_ns = io_begin();
	uint64_t before = begin_ns ? stream_take(stream).taken : 0;
	int value = IO_NEXT(int, __uflow, (FILE *))(stream);

	if (begin_ns)
		end(begin_ns, &stream_getc, stream, IO_READ, has_failed(stream, value == EOF),
		    before + (value != EOF));
	return value;
}

IO_FUNCTION(int, __overflow, (FILE * stream, int c))
{
	uint64_t begin_ns = io_begin();
	uint64_t before = begin_ns ? stream_take(stream).put : 0;
	int value = IO_NEXT(int, __overflow, (FILE *, int))(stream, c);

	if (begin_ns)
		end(begin_ns, &stream_putc, stream, IO_WRITE, value == EOF, before + 1);
	return value;
}

/* No event: what it gives back is taken once more. */
IO_FUNCTION(int, ungetc, (int c, FILE *stream))
{
	bool counts = stream_push_back(stream, c);
	int value = IO_NEXT(int, ungetc, (int, FILE *))(c, stream);

	if (counts && value != EOF)
		stream_pushed_back(stream);
	return value;
}

#define STREAM_PUT_CALL(name, parameters, arguments, stream, bytes)                                \
	STREAM_CALL(int, name, parameters, arguments, stream, IO_WRITE, value == EOF, bytes)

STREAM_PUT_CALL(fputc, (int c, FILE *stream), (c, stream), stream, 1)
STREAM_PUT_CALL(putc, (int c, FILE *stream), (c, stream), stream, 1)
STREAM_PUT_CALL(_IO_putc, (int c, FILE *stream), (c, stream), stream, 1)
STREAM_PUT_CALL(fputc_unlocked, (int c, FILE *stream), (c, stream), stream, 1)
STREAM_PUT_CALL(putc_unlocked, (int c, FILE *stream), (c, stream), stream, 1)
STREAM_PUT_CALL(putchar, (int c), (c), stdout, 1)
STREAM_PUT_CALL(putchar_unlocked, (int c), (c), stdout, 1)
STREAM_PUT_CALL(fputs, (const char *from, FILE *stream), (from, stream), stream, strlen(from))
STREAM_PUT_CALL(fputs_unlocked, (const char *from, FILE *stream), (from, stream), stream,
		strlen(from))
STREAM_PUT_CALL(puts, (const char *from), (from), stdout, strlen(from) + 1)

/* ---- formatted ---- */

#define STREAM_FORMAT_CALL(name, parameters, arguments, stream)                                    \
	STREAM_CALL(int, name, parameters, arguments, stream, IO_WRITE, value < 0,                 \
		    value < 0 ? 0 : value)

STREAM_FORMAT_CALL(vfprintf, (FILE * stream, const char *format, va_list list),
		   (stream, format, list), stream)
STREAM_FORMAT_CALL(__vfprintf_chk, (FILE * stream, int flag, const char *format, va_list list),
		   (stream, flag, format, list), stream)
STREAM_FORMAT_CALL(vprintf, (const char *format, va_list list), (format, list), stdout)
STREAM_FORMAT_CALL(__vprintf_chk, (int flag, const char *format, va_list list),
		   (flag, format, list), stdout)

IO_WRITE_CALL(vdprintf, (int fd, const char *format, va_list list), (fd, format, list))
IO_WRITE_CALL(__vdprintf_chk, (int fd, int flag, const char *format, va_list list),
	      (fd, flag, format, list))

/* With arguments to follow: made by the function that takes a list of them. */
#define FORMAT_CALL_BY(begin_, end_, name, parameters, by, list_parameters, list_arguments)        \
	IO_FUNCTION(int, name, parameters)                                                         \
	{                                                                                          \
		uint64_t begin_ns = begin_;                                                        \
		va_list list;                                                                      \
                                                                                                   \
		io_next(&io_##name);                                                               \
		va_start(list, format);                                                            \
		int value = IO_NEXT(int, by, list_parameters) list_arguments;                      \
		va_end(list);                                                                      \
		if (begin_ns)                                                                      \
			end_;                                                                      \
		return value;                                                                      \
	}

static void formatted(uint64_t begin_ns, const struct io_function *function,
		      enum format_io_type type, FILE *stream, int value)
{
	bool wrote = type == IO_WRITE;

	end(begin_ns, function, stream, type, wrote && value < 0,
	    wrote ? (uint64_t)value : stream_scanned(stream, value > 0));
}

#define FORMAT_CALL(type, name, parameters, by, list_parameters, list_arguments, stream_)          \
	FORMAT_CALL_BY(stream_begin(stream_),                                                      \
		       formatted(begin_ns, &io_##name, type, stream_, value), name, parameters,    \
		       by, list_parameters, list_arguments)

FORMAT_CALL(IO_WRITE, fprintf, (FILE * stream, const char *format, ...), vfprintf,
	    (FILE *, const char *, va_list), (stream, format, list), stream)
FORMAT_CALL(IO_WRITE, __fprintf_chk, (FILE * stream, int flag, const char *format, ...),
	    __vfprintf_chk, (FILE *, int, const char *, va_list), (stream, flag, format, list),
	    stream)
FORMAT_CALL(IO_WRITE, printf, (const char *format, ...), vprintf, (const char *, va_list),
	    (format, list), stdout)
FORMAT_CALL(IO_WRITE, __printf_chk, (int flag, const char *format, ...), __vprintf_chk,
	    (int, const char *, va_list), (flag, format, list), stdout)
static void end_descriptor(uint64_t begin_ns, const struct io_function *function, int fd, int value)
{
	io_end(begin_ns, function->next,
	       &(struct io_event){
		       .type = IO_WRITE, .failed = value < 0, .fd = fd, .bytes = (uint64_t)value});
}

FORMAT_CALL_BY(io_begin(), end_descriptor(begin_ns, &io_dprintf, fd, value), dprintf,
	       (int fd, const char *format, ...), vdprintf, (int, const char *, va_list),
	       (fd, format, list))
FORMAT_CALL_BY(io_begin(), end_descriptor(begin_ns, &io___dprintf_chk, fd, value), __dprintf_chk,
	       (int fd, int flag, const char *format, ...), __vdprintf_chk,
	       (int, int, const char *, va_list), (fd, flag, format, list))

#define STREAM_SCAN_CALL(name, parameters, arguments, stream)                                      \
	STREAM_CALL(int, name, parameters, arguments, stream, IO_READ,                             \
		    has_failed(stream, value == EOF), stream_scanned(stream, value > 0))

STREAM_SCAN_CALL(vfscanf, (FILE * stream, const char *format, va_list list), (stream, format, list),
		 stream)
STREAM_SCAN_CALL(__isoc99_vfscanf, (FILE * stream, const char *format, va_list list),
		 (stream, format, list), stream)
STREAM_SCAN_CALL(vscanf, (const char *format, va_list list), (format, list), stdin)
STREAM_SCAN_CALL(__isoc99_vscanf, (const char *format, va_list list), (format, list), stdin)

FORMAT_CALL(IO_READ, fscanf, (FILE * stream, const char *format, ...), vfscanf,
	    (FILE *, const char *, va_list), (stream, format, list), stream)
FORMAT_CALL(IO_READ, __isoc99_fscanf, (FILE * stream, const char *format, ...), __isoc99_vfscanf,
	    (FILE *, const char *, va_list), (stream, format, list), stream)
FORMAT_CALL(IO_READ, scanf, (const char *format, ...), vscanf, (const char *, va_list),
	    (format, list), stdin)
FORMAT_CALL(IO_READ, __isoc99_scanf, (const char *format, ...), __isoc99_vscanf,
	    (const char *, va_list), (format, list), stdin)

/* ---- wide characters ---- */

static size_t bytes_of_wide(wint_t character)
{
	char room[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t bytes = wcrtomb(room, (wchar_t)character, &state);

	return bytes == (size_t)-1 ? 0 : bytes;
}

static size_t bytes_of_wide_text(const wchar_t *text)
{
	mbstate_t state = {0};
	size_t bytes = wcsrtombs(NULL, &text, 0, &state);

	return bytes == (size_t)-1 ? 0 : bytes;
}

#define STREAM_GET_WIDE_CALL(name, parameters, arguments, stream)                                  \
	STREAM_CALL(wint_t, name, parameters, arguments, stream, IO_READ,                          \
		    has_failed(stream, value == WEOF), value == WEOF ? 0 : bytes_of_wide(value))

STREAM_GET_WIDE_CALL(fgetwc, (FILE * stream), (stream), stream)
STREAM_GET_WIDE_CALL(getwc, (FILE * stream), (stream), stream)
STREAM_GET_WIDE_CALL(fgetwc_unlocked, (FILE * stream), (stream), stream)
STREAM_GET_WIDE_CALL(getwc_unlocked, (FILE * stream), (stream), stream)
STREAM_GET_WIDE_CALL(getwchar, (void), (), stdin)
STREAM_GET_WIDE_CALL(getwchar_unlocked, (void), (), stdin)

#define STREAM_PUT_WIDE_CALL(name, parameters, arguments, stream)                                  \
	STREAM_CALL(wint_t, name, parameters, arguments, stream, IO_WRITE, value == WEOF,          \
		    value == WEOF ? 0 : bytes_of_wide(value))

STREAM_PUT_WIDE_CALL(fputwc, (wchar_t c, FILE *stream), (c, stream), stream)
STREAM_PUT_WIDE_CALL(putwc, (wchar_t c, FILE *stream), (c, stream), stream)
STREAM_PUT_WIDE_CALL(fputwc_unlocked, (wchar_t c, FILE *stream), (c, stream), stream)
STREAM_PUT_WIDE_CALL(putwc_unlocked, (wchar_t c, FILE *stream), (c, stream), stream)
STREAM_PUT_WIDE_CALL(putwchar, (wchar_t c), (c), stdout)
STREAM_PUT_WIDE_CALL(putwchar_unlocked, (wchar_t c), (c), stdout)

#define STREAM_WIDE_LINE_CALL(name, parameters, arguments)                                         \
	STREAM_CALL(wchar_t *, name, parameters, arguments, stream, IO_READ,                       \
		    has_failed(stream, !value), value ? bytes_of_wide_text(value) : 0)

STREAM_WIDE_LINE_CALL(fgetws, (wchar_t * to, int size, FILE *stream), (to, size, stream))
STREAM_WIDE_LINE_CALL(fgetws_unlocked, (wchar_t * to, int size, FILE *stream), (to, size, stream))
STREAM_WIDE_LINE_CALL(__fgetws_chk, (wchar_t * to, size_t room, int size, FILE *stream),
		      (to, room, size, stream))
STREAM_WIDE_LINE_CALL(__fgetws_unlocked_chk, (wchar_t * to, size_t room, int size, FILE *stream),
		      (to, room, size, stream))

#define STREAM_PUT_WIDE_TEXT_CALL(name)                                                            \
	STREAM_CALL(int, name, (const wchar_t *from, FILE *stream), (from, stream), stream,        \
		    IO_WRITE, value < 0, value < 0 ? 0 : bytes_of_wide_text(from))

STREAM_PUT_WIDE_TEXT_CALL(fputws)
STREAM_PUT_WIDE_TEXT_CALL(fputws_unlocked)

STREAM_FORMAT_CALL(vfwprintf, (FILE * stream, const wchar_t *format, va_list list),
		   (stream, format, list), stream)
STREAM_FORMAT_CALL(__vfwprintf_chk, (FILE * stream, int flag, const wchar_t *format, va_list list),
		   (stream, flag, format, list), stream)
STREAM_FORMAT_CALL(vwprintf, (const wchar_t *format, va_list list), (format, list), stdout)
STREAM_FORMAT_CALL(__vwprintf_chk, (int flag, const wchar_t *format, va_list list),
		   (flag, format, list), stdout)

FORMAT_CALL(IO_WRITE, fwprintf, (FILE * stream, const wchar_t *format, ...), vfwprintf,
	    (FILE *, const wchar_t *, va_list), (stream, format, list), stream)
FORMAT_CALL(IO_WRITE, __fwprintf_chk, (FILE * stream, int flag, const wchar_t *format, ...),
	    __vfwprintf_chk, (FILE *, int, const wchar_t *, va_list), (stream, flag, format, list),
	    stream)
FORMAT_CALL(IO_WRITE, wprintf, (const wchar_t *format, ...), vwprintf, (const wchar_t *, va_list),
	    (format, list), stdout)
FORMAT_CALL(IO_WRITE, __wprintf_chk, (int flag, const wchar_t *format, ...), __vwprintf_chk,
	    (int, const wchar_t *, va_list), (flag, format, list), stdout)

STREAM_SCAN_CALL(vfwscanf, (FILE * stream, const wchar_t *format, va_list list),
		 (stream, format, list), stream)
STREAM_SCAN_CALL(__isoc99_vfwscanf, (FILE * stream, const wchar_t *format, va_list list),
		 (stream, format, list), stream)
STREAM_SCAN_CALL(vwscanf, (const wchar_t *format, va_list list), (format, list), stdin)
STREAM_SCAN_CALL(__isoc99_vwscanf, (const wchar_t *format, va_list list), (format, list), stdin)

FORMAT_CALL(IO_READ, fwscanf, (FILE * stream, const wchar_t *format, ...), vfwscanf,
	    (FILE *, const wchar_t *, va_list), (stream, format, list), stream)
FORMAT_CALL(IO_READ, __isoc99_fwscanf, (FILE * stream, const wchar_t *format, ...),
	    __isoc99_vfwscanf, (FILE *, const wchar_t *, va_list), (stream, format, list), stream)
FORMAT_CALL(IO_READ, wscanf, (const wchar_t *format, ...), vwscanf, (const wchar_t *, va_list),
	    (format, list), stdin)
FORMAT_CALL(IO_READ, __isoc99_wscanf, (const wchar_t *format, ...), __isoc99_vwscanf,
	    (const wchar_t *, va_list), (format, list), stdin)

/* ---- all else ---- */

#define STREAM_OTHER_CALL(result, name, parameters, arguments, failure)                            \
	STREAM_CALL(result, name, parameters, arguments, stream, IO_OTHER, failure, 0)
/* What was pushed back is forgotten. */
#define STREAM_SEEK_CALL(name, parameters, arguments)                                              \
	STREAM_OTHER_CALL(int, name, parameters, arguments, (stream_seek(stream), value != 0))

STREAM_SEEK_CALL(fseek, (FILE * stream, long to, int from), (stream, to, from))
STREAM_SEEK_CALL(fseeko, (FILE * stream, off_t to, int from), (stream, to, from))
STREAM_SEEK_CALL(fseeko64, (FILE * stream, off_t to, int from), (stream, to, from))
STREAM_OTHER_CALL(long, ftell, (FILE * stream), (stream), value < 0)
STREAM_OTHER_CALL(off_t, ftello, (FILE * stream), (stream), value < 0)
STREAM_OTHER_CALL(off_t, ftello64, (FILE * stream), (stream), value < 0)
STREAM_OTHER_CALL(int, fgetpos, (FILE * stream, fpos_t *place), (stream, place), value != 0)
STREAM_OTHER_CALL(int, fgetpos64, (FILE * stream, fpos_t *place), (stream, place), value != 0)
STREAM_SEEK_CALL(fsetpos, (FILE * stream, const fpos_t *place), (stream, place))
STREAM_SEEK_CALL(fsetpos64, (FILE * stream, const fpos_t *place), (stream, place))
STREAM_SEEK_CALL(fflush, (FILE * stream), (stream))
STREAM_SEEK_CALL(fflush_unlocked, (FILE * stream), (stream))

IO_FUNCTION(void, rewind, (FILE * stream))
{
	uint64_t begin_ns = stream_begin(stream);

	IO_NEXT(void, rewind, (FILE *))(stream);
	stream_seek(stream);
	if (begin_ns)
		end(begin_ns, &io_rewind, stream, IO_OTHER, false, 0);
}
