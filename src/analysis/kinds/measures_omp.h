/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP: its measures, MEASURE_OMP_…: a row of analysis/kinds/kinds.h.  Those but the last are of
 * clock events, in ns.  Private to this module. */
#ifndef HELIO_ANALYSIS_MEASURES_OMP_H
#define HELIO_ANALYSIS_MEASURES_OMP_H

/* The first three add up to all time; the others are parts of them, in the order of omp_class. */
#define MEASURES_OMP(X)                                                                            \
	X(OMP_WORK)                                                                                \
	X(OMP_WAIT)                                                                                \
	X(OMP_OVERHEAD)                                                                            \
	X(OMP_SERIAL)                                                                              \
	X(OMP_IN_REGION)                                                                           \
	X(OMP_REDUCTION)                                                                           \
	X(OMP_IN_RUNTIME)                                                                          \
	X(OMP_IDLE)                                                                                \
	X(OMP_IMPLICIT_BARRIER)                                                                    \
	X(OMP_EXPLICIT_BARRIER)                                                                    \
	X(OMP_LOCK)                                                                                \
	X(OMP_CRITICAL)                                                                            \
	X(OMP_ORDERED)                                                                             \
	X(OMP_ATOMIC)                                                                              \
	X(OMP_TASK)                                                                                \
	X(OMP_REGIONS)

/* What a thread did, by its state and its call stack. */
enum omp_class {
	OMP_CLASS_SERIAL, /* its own code, in no region */
	OMP_CLASS_WORK,	  /* … in its share of one */
	OMP_CLASS_REDUCTION,
	OMP_CLASS_OVERHEAD, /* in the runtime, but waiting for nothing */
	OMP_CLASS_IDLE,
	OMP_CLASS_IMPLICIT_BARRIER,
	OMP_CLASS_EXPLICIT_BARRIER,
	OMP_CLASS_LOCK,
	OMP_CLASS_CRITICAL,
	OMP_CLASS_ORDERED,
	OMP_CLASS_ATOMIC,
	OMP_CLASS_TASK,
	OMP_CLASSES,
};

struct event_run;
struct measuring;

/* kind_omp.c: what clock events count for beside their states. */
void omp_measure_clock(const struct event_run *run, const struct measuring *measuring);

#endif
