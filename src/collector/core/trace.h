/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace data: events at single moments, with a call stack and fields (format/kinds.h).
 *
 * A source of such data (sources/heap.c, …) is switched on by its letter in the parameters.
 * Its wrapped functions (wrap/) are exported only by libhelio-collector-trace.so, which is loaded
 * instead of the plain library when one of them is asked for: a program that is not traced calls
 * its own malloc.  A wrapped function does
 *
 *   thread = trace_enter(kind)      NULL: nothing is to be recorded of this call
 *   … the call …
 *   trace_event(thread, …)          none, one, or several
 *   trace_leave(thread)
 *
 * Between enter and leave nothing of the program's is called.  A signal handler of the program may
 * come there, and make traced calls; or never come back, by a jump or a fork.
 */
#ifndef HELIO_COLLECTOR_TRACE_H
#define HELIO_COLLECTOR_TRACE_H

#include "collector/core/thread_state.h"
#include "format/kinds.h"

struct blockfile;
struct text;

struct clock_remote;

struct trace_source {
	enum trace_kind kind;
	bool made_late;	    /* on unless a parameter says no; its file is made by trace_make() */
	bool needs_param;   /* … and only if one says yes */
	const char *unmade; /* a message: that file could not be made */
	/* Of its key in the parameters. False: not to be recorded. The value ends at ';' or the
	 * end of the string. */
	bool (*read_param)(const char *value);
	/* Where a recording begins, before the program runs or in the child of a fork; or NULL. */
	void (*begin)(void);
	/* Before the recording is closed: all threads are accounted for, none is stopped; or NULL.
	 */
	void (*finish)(void);
	/* Attributes for the event `counters` in the log; or NULL. */
	void (*log)(struct text *line);
	/*
	 * Of a call that has begun and not ended (pending_call.h), of the thread that is blocked as
	 * `remote` says: its type, and all fields.  False: it is not to be recorded.  NULL: the
	 * kind notes no calls.
	 */
	bool (*under_way)(struct thread *thread, const struct pending_call *call,
			  const struct clock_remote *remote, uint64_t now_ns, unsigned *type,
			  uint64_t *fields);
};

/* heap_source, … */
#define X(NAME, name) extern const struct trace_source name##_source;
FORMAT_KINDS(X)
#undef X

/* Reads one parameter; false: the key is none of a source's. */
bool trace_read_param(char key, const char *value);
/* Makes the files of the kinds that are on.  0, or a negative errno. */
int trace_open(void);
/* Whether one is to be recorded, be there something to record or not. */
bool trace_is_wanted(enum trace_kind kind);
/* The file of a kind that is made late, unless it is there.  Not in a handler.  False: nothing is
 * to be recorded. */
bool trace_make(enum trace_kind kind);
void trace_begin(void);
void trace_finish(void);
/* What the kinds that are on have to say in the event `counters`. */
void trace_log(struct text *line);
/* In the child of a fork: the files are the parent's. */
void trace_abandon(bool in_use);
bool trace_is_on(enum trace_kind kind);
const struct trace_source *trace_source(enum trace_kind kind);

/*
 * The calling thread's state, to be left again; NULL when this call is not to be recorded:
 * the kind is off, or the recording is paused or over.  Not in a handler of ours; one of the
 * program's that comes in between enter and leave finds its calls dropped, and counted.
 */
struct thread *trace_enter(enum trace_kind kind);
/* Whether the kind, which is on, is recorded now of the calling thread: nothing is entered. */
bool trace_is_recording(const struct thread *thread, enum trace_kind kind);
/* What the calls between enter and leave take is measured by some of them. */
void trace_measured(struct thread *thread);
static inline void trace_leave(struct thread *thread)
{
	if (thread->measured_ticks)
		trace_measured(thread);
	thread->inside = 0;
}

/* The call stack of the wrapped function's caller.  frame: that function's
 * __builtin_frame_address(0).  The calling thread's. */
uint32_t trace_stack_above(struct thread *thread, const void *frame);

/*
 * Writes one event of the calling thread; fields as the kind has them.  time_ns: its end, on
 * CLOCK_MONOTONIC.  False: there was no room, which has been counted.
 */
bool trace_event(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		 uint32_t stack, const uint64_t *fields);
/* The same, with the call stack of the wrapped function's caller. */
bool trace_event_here(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		      const uint64_t *fields);
/* The same, with `function`, which that one has called, as the leaf. */
bool trace_event_in(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		    const void *function, const uint64_t *fields);
/* The same as trace_event_here, where the wrapped function knows its __builtin_frame_address(0). */
bool trace_event_above(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		       const void *frame, const uint64_t *fields);
/* As trace_event, in a handler, which holds the thread's lock already. */
bool trace_event_locked(struct thread *thread, enum trace_kind kind, unsigned type,
			uint64_t time_ns, uint32_t stack, const uint64_t *fields);
/* The same of an event that was kept: with the context of its moment (context_keep). */
bool trace_event_kept(struct thread *thread, enum trace_kind kind, unsigned type, uint64_t time_ns,
		      uint32_t stack, const struct runtime_context *context,
		      const uint64_t *fields);
/* The thread's lock for the latter, in a call.  False: nothing is to be written. */
bool trace_lock(struct thread *thread);
void trace_unlock(struct thread *thread);

/* The calling thread's: it let go of a lock that others wait for, at time_ns of CLOCK_MONOTONIC. */
void trace_release(struct thread *thread, uint64_t time_ns, uint64_t object);

/* Calls visit for each block of a kind's file (struct format_block_header, then its records). */
void trace_for_each_block(enum trace_kind kind, void (*visit)(const void *block, void *arg),
			  void *arg);

/* The file of a kind that is recorded; NULL: it is not. */
struct blockfile *trace_file(enum trace_kind kind);
/* How many recordings have been given up in this process: after a fork another one than before. */
uint32_t trace_generation(void);
/* The events of a kind so far, of all threads. */
uint64_t trace_count(enum trace_kind kind);

/* A number for a text (at most 1,000 bytes are kept), for fields of FIELD_TEXT; 0: no room. */
uint32_t trace_text(struct thread *thread, enum trace_kind kind, const char *text);

#endif
