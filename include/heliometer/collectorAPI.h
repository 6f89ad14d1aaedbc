/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program may tell the collector that records it.
 *
 * Nothing has to be linked: the functions are weak, and the macros do nothing
 * where the program runs by itself.
 */
#ifndef HELIOMETER_COLLECTOR_API_H
#define HELIOMETER_COLLECTOR_API_H

#ifdef __cplusplus
extern "C" {
#endif

/* Records a sample point with this label (at most 31 bytes of it). */
extern void collector_sample(const char *name) __attribute__((weak));
/* Stops recording events until collector_resume(); the experiment stays open. */
extern void collector_pause(void) __attribute__((weak));
extern void collector_resume(void) __attribute__((weak));
/* Stops recording for the rest of this process's life. */
extern void collector_terminate_expt(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#ifndef HELIOMETER_COLLECTOR_API_PLAIN
#define collector_sample(name) ((collector_sample) ? (collector_sample)(name) : (void)0)
#define collector_pause()      ((collector_pause) ? (collector_pause)() : (void)0)
#define collector_resume()     ((collector_resume) ? (collector_resume)() : (void)0)
#define collector_terminate_expt()                                                                 \
	((collector_terminate_expt) ? (collector_terminate_expt)() : (void)0)
#endif

#endif
