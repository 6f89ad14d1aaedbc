/* SPDX-License-Identifier: Apache-2.0 */
/* Periodic sample points, taken from outside, so that the program is not woken for them. */
#ifndef HELIO_LAUNCH_SAMPLES_H
#define HELIO_LAUNCH_SAMPLES_H

#include "format/own_use.h"
#include "launch/run/family.h"

/*
 * Appends one periodic sample to the overview of every member that runs.
 * time_ns counts from the founder's start.
 */
void samples_take(struct family *family, uint64_t time_ns);

/* Appends one sample to the overview of one member; label "": none. False: there is no such process
 * or file. */
bool samples_take_one(struct family *family, struct member *member, uint64_t time_ns,
		      enum format_sample_kind kind, const char *label);

/* What lies in the header of the member's `profile` while that is not packed. */
bool samples_read_page(const struct family *family, const struct member *member, void *to,
		       size_t size, off_t offset);

#endif
