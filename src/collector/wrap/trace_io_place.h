/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program takes from a stream's buffer, or puts into it, in place: getc_unlocked,
 * putc_unlocked and their kin are expanded by the compiler.  It shows in where the stream stands:
 * between two traced calls nothing else moves it.  So each call looks before and remembers behind.
 *
 * In a program of several threads another one may stand between a call and what we remember of
 * it; nothing is counted there.
 */
#ifndef HELIO_COLLECTOR_TRACE_IO_PLACE_H
#define HELIO_COLLECTOR_TRACE_IO_PLACE_H

#include "collector/wrap/trace_io.h"

#include <stdio.h>

/* The descriptor; errno stays. */
int stream_fd(FILE *stream);

/* Bytes in place since the stream was last remembered, which the caller counts. */
struct in_place {
	uint64_t taken, put;
};
struct in_place stream_take(FILE *stream);
/*
 * Behind a call, since stream_begin: what it took, if that was less than the buffer holds; `some`:
 * it took something.  0 where threads or wide characters make it unknown.
 */
uint64_t stream_scanned(FILE *stream, bool some);
/* Behind a call on it; NULL: on all. */
void stream_remember(FILE *stream);
/* Of bytes that were taken those that had not been before, and pushed back. */
uint64_t stream_fresh(FILE *stream, uint64_t bytes);
/*
 * Before ungetc; true: stream_pushed_back is to be called behind it, if it worked.  Of a character
 * that was taken in place the stream's place tells.
 */
bool stream_push_back(FILE *stream, int c);
void stream_pushed_back(FILE *stream);
/* Behind a call that forgets what was pushed back. */
void stream_seek(FILE *stream);
/* Before it is closed. */
void stream_forget(FILE *stream);

/* Counts bytes in place so far, as calls of getc_unlocked and putc_unlocked; NULL: of all. */
void stream_settle(FILE *stream);

/*
 * As io_begin, of a call on a stream, or NULL: on all.  In the wrapper's own frame, by which a call
 * that is under way is known.
 */
static inline __attribute__((always_inline)) uint64_t stream_begin(FILE *stream)
{
	uint64_t begin_ns = io_begin();

	if (begin_ns)
		stream_settle(stream);
	return begin_ns;
}

/* What stands for calls that are expanded in place. */
extern struct io_function stream_getc, stream_putc;

#endif
