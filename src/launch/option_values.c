/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How numbers, times and windows are written on the command line.
 */
#include "launch/options_private.h"

#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool option_read_number(const char **text, double *value)
{
	const char *at = *text;
	bool digits = false;

	for (; isdigit((unsigned char)*at); at++)
		digits = true;
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at); at++)
			digits = true;
	if (!digits || at - *text > 20)
		return false;
	*value = strtod(*text, NULL);
	*text = at;
	return true;
}

bool option_read_unit(const char *text, const char *end, const struct option_unit *units,
		      double *value)
{
	for (; units->suffix; units++) {
		if (strlen(units->suffix) == (size_t)(end - text) &&
		    !strncmp(units->suffix, text, (size_t)(end - text))) {
			*value *= units->scale;
			return true;
		}
	}
	return false;
}

static bool clock_word(const char *text, uint32_t *us)
{
	static const struct {
		const char *word;
		uint32_t us;
	} words[] = {
		{"off", 0},
		{"on", OPTIONS_CLOCK_ON_US},
		{"lo", OPTIONS_CLOCK_LOW_US},
		{"low", OPTIONS_CLOCK_LOW_US},
		{"hi", OPTIONS_CLOCK_HIGH_US},
		{"high", OPTIONS_CLOCK_HIGH_US},
		{"h", OPTIONS_CLOCK_HIGH_US},
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strcmp(text, words[i].word)) {
			*us = words[i].us;
			return true;
		}
	}
	return false;
}

static void warn_clock(struct diag_list *diags, double asked_us, const char *what, uint32_t us)
{
	diag_add(diags, DIAG_WARNING,
		 "Clock profiling at %.4g millisec. interval is not supported on this system; "
		 "%s %.3f millisec. used",
		 asked_us / 1000, what, us / 1000.0);
}

bool options_read_clock(const char *text, uint32_t *us, struct diag_list *diags)
{
	static const struct option_unit units[] = {{"", 1e3}, {"m", 1e3}, {"ms", 1e3}, {"u", 1},
						   {"us", 1}, {"s", 1e6}, {NULL, 0}};
	double value;

	if (clock_word(text, us))
		return true;
	if (!option_read_number(&text, &value) ||
	    !option_read_unit(text, text + strlen(text), units, &value) || !(value > 0))
		return false;
	if (value < OPTIONS_CLOCK_MIN_US) {
		*us = OPTIONS_CLOCK_MIN_US;
		warn_clock(diags, value, "minimum", *us);
	} else if (value > OPTIONS_CLOCK_MAX_US) {
		*us = OPTIONS_CLOCK_MAX_US;
		warn_clock(diags, value, "maximum", *us);
	} else {
		/* The small term keeps 0.997 ms, which no double is exactly, at 997 µs. */
		*us = (uint32_t)(value + 1e-6);
		if (value - *us > 1e-6)
			warn_clock(diags, value, "rounded down to", *us);
	}
	return true;
}

/* Reads a time that ends at `end`, in ms; nothing at all is 0. */
static bool read_window_time(const char *text, const char *end, uint64_t *ms)
{
	static const struct option_unit units[] = {
		{"", 1e3}, {"s", 1e3}, {"m", 60e3}, {"ms", 1}, {NULL, 0}};
	double value = 0;

	if (text < end) {
		const char *at = text;

		if (!option_read_number(&at, &value) || !option_read_unit(at, end, units, &value) ||
		    value > 1e15)
			return false;
	}
	*ms = (uint64_t)(value + 0.5);
	return true;
}

enum options_window_result options_read_window(const char *text, uint64_t *start_ms,
					       uint64_t *end_ms)
{
	const char *end = text + strlen(text);
	const char *dash = strchr(text, '-');

	*start_ms = 0;
	if (!*text || !strcmp(text, "-"))
		return OPTIONS_WINDOW_JUNK;
	if (dash && !read_window_time(text, dash, start_ms))
		return OPTIONS_WINDOW_JUNK;
	if (!read_window_time(dash ? dash + 1 : text, end, end_ms))
		return OPTIONS_WINDOW_JUNK;
	if (*end_ms && *start_ms >= *end_ms)
		return OPTIONS_WINDOW_BACKWARDS;
	return OPTIONS_WINDOW_OK;
}

bool options_read_overhead(const char *text, uint32_t *percent)
{
	char digits[8];
	size_t length = strlen(text);

	*percent = 0;
	if (!strcmp(text, "off"))
		return true;
	if (length && text[length - 1] == '%')
		length--;
	if (length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return options_read_count(digits, OPTIONS_OVERHEAD_MAX, percent);
}

bool options_read_count(const char *text, uint32_t max, uint32_t *value)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
		if (number > max)
			return false;
	}
	*value = (uint32_t)number;
	return number > 0;
}

/* Signals that cannot be handled, that say what a program just did wrong, or that are ours. */
static bool is_usable(int number)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGILL, SIGFPE, SIGSEGV,
				     SIGBUS,  SIGTRAP, SIGSYS, SIGPROF};

	for (size_t i = 0; i < COUNT(others); i++)
		if (number == others[i])
			return false;
	/* Below SIGRTMIN are two of libc's; the second from above is the collector's. */
	return number > 0 && number <= SIGRTMAX && number != SIGRTMAX - 1 &&
	       (number < __SIGRTMIN || number >= SIGRTMIN);
}

void options_signal_name(int number, char name[OPTIONS_SIGNAL_ROOM])
{
	const char *known = sigabbrev_np(number);

	if (known)
		snprintf(name, OPTIONS_SIGNAL_ROOM, "%s", known);
	else
		snprintf(name, OPTIONS_SIGNAL_ROOM, "RTMIN+%d", number - SIGRTMIN);
}

bool options_read_signal(const char *text, size_t length, int *number)
{
	char name[OPTIONS_SIGNAL_ROOM];
	char asked[OPTIONS_SIGNAL_ROOM] = "";

	if (length > 3 && !strncasecmp(text, "SIG", 3)) {
		text += 3;
		length -= 3;
	}
	uint32_t value = 0;

	if (length < sizeof(asked))
		memcpy(asked, text, length);
	if (!options_read_count(asked, (uint32_t)SIGRTMAX, &value))
		value = 0;
	for (int i = 1; i <= SIGRTMAX; i++) {
		options_signal_name(i, name);
		if (is_usable(i) && (!strcasecmp(name, asked) || value == (uint32_t)i)) {
			*number = i;
			return true;
		}
	}
	return false;
}
