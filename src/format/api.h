/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libcollectorAPI, inside a program, finds the collector: by this one
 * table, which it knows as a weak symbol.  The functions of collectorAPI.h
 * themselves would not do: a program that has them linked in statically hides
 * the collector's.  A table of another layout gets another name.
 */
#ifndef HELIO_FORMAT_API_H
#define HELIO_FORMAT_API_H

#include <heliometer/collectorAPI.h>

/* name, parameters, arguments */
#define FORMAT_API_FUNCTIONS(X)                                                                    \
	X(sample, (const char *name), (name))                                                      \
	X(pause, (void), ())                                                                       \
	X(resume, (void), ())                                                                      \
	X(terminate_expt, (void), ())                                                              \
	X(thread_pause, (pthread_t thread), (thread))                                              \
	X(thread_resume, (pthread_t thread), (thread))                                             \
	X(func_load,                                                                               \
	  (const char *name, const char *alias, const char *sourcename, void *vaddr, int size,     \
	   int lntsize, Lineno *lntable),                                                          \
	  (name, alias, sourcename, vaddr, size, lntsize, lntable))                                \
	X(func_unload, (void *vaddr), (vaddr))

struct format_api {
#define X(name, parameters, arguments) void(*name) parameters;
	FORMAT_API_FUNCTIONS(X)
#undef X
};

extern const struct format_api helio_collector_api_1;

#endif
