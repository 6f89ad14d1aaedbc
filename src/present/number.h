/* SPDX-License-Identifier: Apache-2.0 */
/* How numbers look. */
#ifndef HELIO_PRESENT_NUMBER_H
#define HELIO_PRESENT_NUMBER_H

#include "analysis/metric/metric.h"

#include <stddef.h>

enum { NUMBER_SIZE = 48 }; /* room for every text below */

/* "1.234", "0.   " for seconds; "1234" for counts and bytes. Returns the length. */
size_t number_value(char text[NUMBER_SIZE], enum metric_unit unit, double value);
/* "12.34", "0.  " in tables: part of a whole in percent; a whole of 0 has only parts of 0. */
size_t number_percent(char text[NUMBER_SIZE], double value, double whole);
/* How many times as much: "x 1.250"; "new" where there was nothing before. */
size_t number_ratio(char text[NUMBER_SIZE], double value);
/* "2:0x00001129": a load object's number and an address in it. */
size_t number_address(char text[NUMBER_SIZE], uint32_t segment, double address);
/* "0.320 (100.0%)", "0.    (  0. %)": the form of summaries. */
size_t number_summary(char text[NUMBER_SIZE], enum metric_unit unit, double value, double whole);
/* "s", "count", "bytes", "address", "text": the unit's name in JSON. */
const char *number_unit_name(enum metric_unit unit);
/* value as a percentage of whole; 0 where whole is 0. */
double number_share(double value, double whole);

#endif
