/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectorAPI.h for programs that do not link with -lcollectorAPI.
 *
 * The functions are weak, and the macros call them only where a collector is
 * there.  Compile position-independent (-fPIE, -fPIC): in other programs the
 * linker decides that it will never be.
 */
#ifndef HELIOMETER_LIBCOLLECTOR_H
#define HELIOMETER_LIBCOLLECTOR_H

#include "collectorAPI.h"

#pragma weak collector_sample
#pragma weak collector_pause
#pragma weak collector_resume
#pragma weak collector_thread_pause
#pragma weak collector_thread_resume
#pragma weak collector_terminate_expt
#pragma weak collector_func_load
#pragma weak collector_func_unload

#define HELIOMETER_IF_THERE(function, arguments) ((function) ? (function)arguments : (void)0)

#define collector_sample(name)		HELIOMETER_IF_THERE(collector_sample, (name))
#define collector_pause()		HELIOMETER_IF_THERE(collector_pause, ())
#define collector_resume()		HELIOMETER_IF_THERE(collector_resume, ())
#define collector_thread_pause(thread)	HELIOMETER_IF_THERE(collector_thread_pause, (thread))
#define collector_thread_resume(thread) HELIOMETER_IF_THERE(collector_thread_resume, (thread))
#define collector_terminate_expt()	HELIOMETER_IF_THERE(collector_terminate_expt, ())
#define collector_func_load(name, alias, sourcename, vaddr, size, lntsize, lntable)                \
	HELIOMETER_IF_THERE(collector_func_load,                                                   \
			    (name, alias, sourcename, vaddr, size, lntsize, lntable))
#define collector_func_unload(vaddr) HELIOMETER_IF_THERE(collector_func_unload, (vaddr))

#endif
