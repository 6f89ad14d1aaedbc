/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the Java heap; the machine's callbacks are in runtimes/java_objects.c.  The machine
 * chooses the objects: as if points were strewn over all bytes that a thread allocates
 * (heap_sample.h).
 */
#ifndef HELIO_COLLECTOR_JHEAP_H
#define HELIO_COLLECTOR_JHEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes between sampled objects; 0: none is to be recorded. */
extern uint64_t jheap_interval;

/* The calling thread has allocated an object of the sample; class: the number of a text.  False:
 * that is not recorded. */
bool jheap_allocated(uint64_t number, uint64_t size, uint64_t class);
/* An object that was recorded is no more. */
void jheap_collected(uint64_t number);

#endif
