/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exact zero is written "0." and blanks, so that nothing and almost nothing
 * ("0.000") can be told apart, and the decimal points stay in line.
 */
#include "present/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

double number_share(double value, double whole)
{
	return whole != 0 ? 100 * value / whole : 0;
}

size_t number_value(char text[NUMBER_SIZE], enum metric_unit unit, double value)
{
	if (unit != UNIT_SECONDS && unit != UNIT_RATIO)
		return (size_t)snprintf(text, NUMBER_SIZE, "%.0f", value);
	if (value == 0)
		return (size_t)snprintf(text, NUMBER_SIZE, "0.   ");
	return (size_t)snprintf(text, NUMBER_SIZE, "%.3f", value);
}

size_t number_percent(char text[NUMBER_SIZE], double value, double whole)
{
	double share = number_share(value, whole);

	if (share == 0)
		return (size_t)snprintf(text, NUMBER_SIZE, "0.  ");
	return (size_t)snprintf(text, NUMBER_SIZE, "%.2f", share);
}

size_t number_ratio(char text[NUMBER_SIZE], double value)
{
	if (isinf(value))
		return (size_t)snprintf(text, NUMBER_SIZE, "new");
	return (size_t)snprintf(text, NUMBER_SIZE, "x %.3f", value);
}

size_t number_address(char text[NUMBER_SIZE], uint32_t segment, double address)
{
	return (size_t)snprintf(text, NUMBER_SIZE, "%" PRIu32 ":0x%08" PRIx64, segment,
				(uint64_t)address);
}

size_t number_summary(char text[NUMBER_SIZE], enum metric_unit unit, double value, double whole)
{
	char number[NUMBER_SIZE];
	double share = number_share(value, whole);

	number_value(number, unit, value);
	if (unit == UNIT_RATIO)
		return (size_t)snprintf(text, NUMBER_SIZE, "%s", number);
	if (share == 0)
		return (size_t)snprintf(text, NUMBER_SIZE, "%s (  0. %%)", number);
	return (size_t)snprintf(text, NUMBER_SIZE, "%s (%5.1f%%)", number, share);
}

const char *number_unit_name(enum metric_unit unit)
{
	static const char *const names[] = {
		[UNIT_SECONDS] = "s",	[UNIT_COUNT] = "count",	    [UNIT_BYTES] = "bytes",
		[UNIT_RATIO] = "ratio", [UNIT_ADDRESS] = "address", [UNIT_TEXT] = "text",
	};

	return names[unit];
}
