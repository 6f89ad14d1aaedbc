/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of the program's threads, that of ours taken out. */
#ifndef HELIO_COLLECTOR_PROCESS_CPU_H
#define HELIO_COLLECTOR_PROCESS_CPU_H

#include <stdatomic.h>
#include <stdint.h>

/* Threads of ours that live long. */
enum process_cpu_own {
	PROCESS_CPU_MONITOR,
	PROCESS_CPU_RESTS, /* overhead.c */
	PROCESS_CPU_OWN,
};

/* That one has this number; 0: there is none.  It lives while *alive is not 0, or with NULL until
 * this is called again. */
void process_cpu_note(enum process_cpu_own own, int tid, const _Atomic unsigned *alive);
/* Its CPU time; after its end that is in rawthread_ended_cpu_ns. */
uint64_t process_cpu_own_ns(enum process_cpu_own own);
/* All of the process; a monitor that still runs is not taken out. */
uint64_t process_cpu_ns(void);
/* … since the recording began, the monitor's taken out. */
uint64_t collector_cpu_ns(void);
/* The recording begins. */
void process_cpu_begin(void);
/*
 * Of `left_ns` of that, which is in no event, the part that the kernel took to end threads of ours:
 * no clock can be read that late.  Each thread that has ended since the recording began, the
 * program's or ours, is taken to have cost the same; but ours no more than they are known to have
 * used, as else they would hide what is missing.
 */
uint64_t process_cpu_of_own_ends_ns(uint64_t left_ns);

#endif
