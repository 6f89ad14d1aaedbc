/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the clock profile.  The caller holds the thread's lock. */
#ifndef HELIO_COLLECTOR_WRITER_H
#define HELIO_COLLECTOR_WRITER_H

#include "collector/storage/stacktable.h"
#include "format/format.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_buffer;
struct thread;

/* Of a closed thread only room is made: its life is said to begin when it is not any more. */
void writer_thread_begin(struct thread *thread, uint64_t time_ns);
void writer_thread_end(struct thread *thread, uint64_t time_ns);
/* tag: FORMAT_TAG_NAME, or of its group or the group's parent. */
void writer_thread_name(struct thread *thread, enum format_tag tag, const char *name,
			size_t length);
/* The thread has done a garbage collection. */
struct writer_collection {
	uint64_t begin_ns, duration_ns; /* CLOCK_MONOTONIC */
	uint64_t before, after;		/* bytes of the heap in use; UINT64_MAX: not known */
	const char *cause, *collector;	/* "": not known */
};
void writer_collection(struct thread *thread, const struct writer_collection *collection);
/* The thread has linked a class of Java. */
void writer_class(struct thread *thread, uint64_t time_ns);
/* Recording stops or goes on for the thread, by the window of -t. */
void writer_thread_pause(struct thread *thread, uint64_t time_ns);
void writer_thread_resume(struct thread *thread, uint64_t time_ns);
/* `weight_us` in a state, up to now. False: there is no room; the drop has been counted. */
bool writer_event(struct thread *thread, uint64_t time_ns, enum format_state state,
		  uint64_t weight_us, uint32_t stack);
int writer_open(void);
uint8_t *writer_put_pair_of(struct record_buffer *lane, uint8_t *out, uint32_t *stack);
/* Of a pair its stack, in *stack, and what runtimes say of the event (RUNTIME_JAVA). */
static inline uint8_t *writer_put_pair(struct record_buffer *lane, uint8_t *out, uint32_t *stack)
{
	if (!atomic_load_explicit(&stacktable_pairs, memory_order_relaxed))
		return out;
	return writer_put_pair_of(lane, out, stack);
}

#endif
