/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines and their events, as text and in JSON. */
#ifndef HELIO_PRESENT_TIMELINE_H
#define HELIO_PRESENT_TIMELINE_H

#include "analysis/views/timeline.h"
#include "base/json.h"
#include "present/output.h"

/*
 * A line of letters for each thread: the state that most of each cell was; and one for the garbage
 * collections of each process of Java.
 */
void timeline_text(const struct output *output, const struct timeline *timeline);
/*
 * Adds "begin_s", "end_s", "cell_s", "cells", "lanes", "functions", of Java "collections", and
 * where there are clocks of several hosts "hosts".
 */
void timeline_add_members(json_t *object, const struct timeline *timeline);
/* Of a cell; NULL: nothing was in it. */
json_t *timeline_row(const struct timeline *timeline, size_t cell);

/* A line for each event. */
void events_text(const struct output *output, const struct timeline_page *page);
/* Adds "begin_s", "end_s", "first", "total_events", "lanes", "frames", "stacks" and "hosts". */
void events_add_members(json_t *object, const struct timeline_page *page);
json_t *events_row(const struct timeline_page *page, size_t event);

#endif
