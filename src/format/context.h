/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a runtime in the program says of an event beside its call stack: OpenMP its state, region
 * and task.  It belongs to the event, whatever its kind, and changes far less often than events
 * come, so it is a record of its own, in `profile` and in all traces:
 *
 *   FORMAT_TAG_CONTEXT  runtime varint, count varint, then as many varints: the fields; those that
 *                       are not there are 0
 *
 * It is in force for the events of the block that follow, until the next one of that runtime or a
 * FORMAT_TAG_THREAD; at the beginning of a block all fields of all runtimes are 0.
 */
#ifndef HELIO_FORMAT_CONTEXT_H
#define HELIO_FORMAT_CONTEXT_H

enum format_runtime {
	RUNTIME_OPENMP = 1,
	RUNTIME_JAVA = 2,
	RUNTIME_MPI = 3,
	FORMAT_RUNTIMES,
};

enum { CONTEXT_FIELDS_MAX = 4 };

/*
 * RUNTIME_OPENMP: the thread's state; the construct that it works in (the number of a record of
 * type OMP_CONSTRUCT, format/kind_omp.h): a parallel region, or an explicit task; 0: none.
 */
enum { OMP_CONTEXT_STATE, OMP_CONTEXT_REGION, OMP_CONTEXT_TASK, OMP_CONTEXT_FIELDS };

/*
 * RUNTIME_JAVA, of a thread that runs Java: its Java stack, an id in `stacks`; or 0, and why that
 * is not known (enum format_java_reason).
 */
enum { JAVA_CONTEXT_STACK, JAVA_CONTEXT_REASON, JAVA_CONTEXT_FIELDS };

#define FORMAT_OMP_STATES(X)                                                                       \
	X(NONE, "none")                                                                            \
	X(SERIAL, "serial")                                                                        \
	X(WORK, "work")                                                                            \
	X(REDUCTION, "reduction")                                                                  \
	X(OVERHEAD, "overhead")                                                                    \
	X(IDLE, "idle")                                                                            \
	X(IMPLICIT_BARRIER, "implicit barrier")                                                    \
	X(EXPLICIT_BARRIER, "explicit barrier")                                                    \
	/* the implicit barrier at the end of a region: its function has returned */               \
	X(REGION_BARRIER, "barrier at the end of the region")                                      \
	X(LOCK_WAIT, "lock wait")                                                                  \
	X(CRITICAL_WAIT, "critical section wait")                                                  \
	X(ORDERED_WAIT, "ordered section wait")                                                    \
	X(ATOMIC_WAIT, "atomic section wait")                                                      \
	X(TASK_WAIT, "task wait")

#define X(name, text) OMP_STATE_##name,
enum format_omp_state { FORMAT_OMP_STATES(X) OMP_STATES };
#undef X

#endif
