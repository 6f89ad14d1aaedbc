/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program may tell the collector that records it.
 *
 * Link with -lcollectorAPI, whose functions do nothing while nobody records.
 * libcollector.h is for programs that cannot link anything.  All functions may
 * be called by several threads at once; in a signal handler that interrupted
 * another one of them they do nothing.
 */
#ifndef HELIOMETER_COLLECTOR_API_H
#define HELIOMETER_COLLECTOR_API_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records a sample point with this label (at most 31 bytes of it). */
extern void collector_sample(const char *name);

/* Stops recording events until collector_resume(); the experiment stays open. */
extern void collector_pause(void);
extern void collector_resume(void);

/* The same for one thread of this process that lives. */
extern void collector_thread_pause(pthread_t thread);
extern void collector_thread_resume(pthread_t thread);

/* Closes the experiment of this process: nothing is recorded any more. */
extern void collector_terminate_expt(void);

/* From this byte of a function on, its code comes from this source line. */
typedef struct {
	unsigned int offset;
	unsigned int lineno;
} Lineno;

/*
 * Announces a function made at run time: `size` bytes of code at `vaddr`, ready
 * to run.  `name` is shown; `alias`, `sourcename` and the `lntsize` entries of
 * `lntable`, in order of their offsets, may be missing (NULL, 0).  What was
 * announced there before is withdrawn.
 */
extern void collector_func_load(const char *name, const char *alias, const char *sourcename,
				void *vaddr, int size, int lntsize, Lineno *lntable);

/* Withdraws the function that begins at `vaddr`. */
extern void collector_func_unload(void *vaddr);

#ifdef __cplusplus
}
#endif

#endif
