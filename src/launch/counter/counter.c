/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of -h, and what goes from it to the collector and into the log. */
#include "launch/counter/counter.h"

#include "base/array.h"
#include "base/memory.h"
#include "launch/run/xml.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- intervals ---- */

static bool is_one_of(const char *text, const char *first, const char *second)
{
	return !strcasecmp(text, first) || !strcasecmp(text, second);
}

static bool read_count(const char *text, uint64_t *value)
{
	static const char suffixes[] = "kmg";
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	const char *suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;

	for (const char *at = suffix; at && at >= suffixes; at--)
		*value *= 1000;
	return !errno && (suffix ? !end[1] : !*end) && *value && *value < INT64_MAX / 1000;
}

/* False: it is no interval; then it may be the next counter's name. */
static bool read_interval(struct counter *counter, const char *text)
{
	uint64_t *period = &counter->event.period;

	if (is_one_of(text, "", "on"))
		*period = counter->paces[COUNTER_ON];
	else if (is_one_of(text, "hi", "high") || is_one_of(text, "h", "h"))
		*period = counter->paces[COUNTER_HIGH];
	else if (is_one_of(text, "lo", "low") || is_one_of(text, "l", "l"))
		*period = counter->paces[COUNTER_LOW];
	else
		return read_count(text, period);
	return true;
}

/* ---- definitions ---- */

/* Takes /REGISTER off: which one counts what is the kernel's choice. */
static void drop_register(char *name, struct diag_list *diags)
{
	char *slash = strchr(name, '/');

	if (!slash)
		return;
	diag_add(diags, DIAG_WARNING,
		 "The kernel assigns registers to counters itself: %s of '%s' is ignored", slash,
		 name);
	*slash = '\0';
}

/* Characters that mean something in a list of metrics. */
static void make_metric_name(char *name)
{
	for (; *name; name++)
		if (strchr(": \t", *name))
			*name = '~';
}

static bool read_name(struct counter *counter, char *name, struct diag_list *diags)
{
	bool known;

	counter->backtrack = *name == '+';
	counter->no_address = *name == '-';
	name += counter->backtrack || counter->no_address;
	if (!strncmp(name, "mem:", 4)) {
		known = counter_watch(counter, name + 4, diags);
	} else {
		drop_register(name, diags);
		known = counter_find(counter, name, diags);
	}
	make_metric_name(counter->name);
	if (counter->no_address)
		counter->event.flags &= ~(uint64_t)COUNTER_HAS_ADDRESS;
	counter->event.period = counter->paces[COUNTER_ON];
	return known;
}

static bool is_there(const struct counter_list *list, const struct counter *counter)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, counter->name))
			return true;
	return false;
}

/* The words that stand for a set of counters, and the interval of all of them. */
static const char *const sets[][2] = {{"on", "on"},   {"auto", "on"}, {"hi", "hi"},
				      {"high", "hi"}, {"lo", "lo"},   {"low", "lo"}};

static const char *pace_of_set(const char *word)
{
	for (size_t i = 0; i < COUNT(sets); i++)
		if (!strcmp(word, sets[i][0]))
			return sets[i][1];
	return NULL;
}

/* A word where a name is expected: false for an interval, or what means all counters. */
static bool may_be_name(const struct counter_list *list, const char *word, struct diag_list *diags)
{
	bool is_number = isdigit((unsigned char)word[*word == '-' || *word == '+']);

	if (!is_number && !pace_of_set(word) && strcmp(word, "off") != 0)
		return true;
	if (list->count)
		diag_add(diags, DIAG_ERROR,
			 "'%s' is no name of a HW counter: one interval (on, hi, lo or a number "
			 "above 0) may follow each name, NAME,INTERVAL,NAME,INTERVAL",
			 word);
	else
		diag_add(diags, DIAG_ERROR,
			 is_number ? "'%s' is no name of a HW counter: write NAME,INTERVAL"
				   : "'%s' of -h must stand alone, without names of HW counters",
			 word);
	return false;
}

static bool add(struct counter_list *list, char *name, const char *interval, bool *has_interval,
		struct diag_list *diags)
{
	struct counter counter = {0};

	if (!may_be_name(list, name, diags) || !read_name(&counter, name, diags))
		return false;
	*has_interval = interval && read_interval(&counter, interval);
	if (interval && !*has_interval && isdigit((unsigned char)*interval)) {
		diag_add(diags, DIAG_ERROR,
			 "Invalid interval '%s' of HW counter '%s': write on, hi, lo or a number "
			 "above 0",
			 interval, name);
		return false;
	}
	if (is_there(list, &counter)) {
		diag_add(diags, DIAG_ERROR, "HW counter '%s' is named twice", name);
		return false;
	}
	if (list->count == COUNTERS_MAX) {
		diag_add(diags, DIAG_ERROR, "No more than %d counters can be recorded at once",
			 COUNTERS_MAX);
		return false;
	}
	list->items[list->count++] = counter;
	return true;
}

static bool add_all(struct counter_list *list, char *rest, struct diag_list *diags)
{
	while (rest) {
		char *name = strsep(&rest, ","), *after = rest;
		bool has_interval = false;

		if (!*name) {
			diag_add(diags, DIAG_ERROR,
				 "A HW counter's name is missing; helio collect -h lists what this "
				 "machine has");
			return false;
		}
		char *interval = strsep(&after, ",");

		/* What is no interval is the next name: put its comma back. */
		char *copy = interval ? xstrdup(interval) : NULL;
		bool good = add(list, name, copy, &has_interval, diags);

		free(copy);
		if (!good)
			return false;
		if (has_interval)
			rest = after;
		else if (after)
			after[-1] = ',';
	}
	return true;
}

/* The default set of a processor that counts. */
static bool add_defaults(struct counter_list *list, const char *pace, struct diag_list *diags)
{
	struct counter cycles = {0};
	char text[64];

	if (!counter_find(&cycles, "cycles", diags))
		return false;
	cycles.event.period = cycles.paces[COUNTER_ON];
	if (!counter_can_open(&cycles.event)) {
		diag_add(diags, DIAG_ERROR,
			 "No default HW counter set is defined for CPU: it has no hardware "
			 "counters, as is usual for virtual machines; helio collect -h lists what "
			 "can be counted");
		return false;
	}
	snprintf(text, sizeof(text), "cycles,%s,insts,%s", pace, pace);
	return add_all(list, text, diags);
}

bool counter_read(struct counter_list *list, const char *text, struct diag_list *diags)
{
	if (list->off || (!strcmp(text, "off") && list->count)) {
		diag_add(diags, DIAG_ERROR, "-h off must be the only -h");
		return false;
	}
	list->off = !strcmp(text, "off");
	if (list->off)
		return true;
	if (pace_of_set(text))
		return add_defaults(list, pace_of_set(text), diags);
	char *copy = xstrdup(text);
	bool good = add_all(list, copy, diags);

	free(copy);
	return good;
}

/* ---- results ---- */

enum status counter_param(const struct counter_list *list, char param[COUNTER_PARAM_ROOM],
			  struct diag_list *diags)
{
	int used = 0;

	param[0] = '\0';
	for (unsigned i = 0; i < list->count && used < COUNTER_PARAM_ROOM; i++) {
		const struct format_counter *event = &list->items[i].event;

		used += snprintf(param + used, (size_t)(COUNTER_PARAM_ROOM - used),
				 "%s%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64
				 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64,
				 i ? "," : "", event->type, event->config, event->config1,
				 event->config2, event->bp_type, event->period, event->flags,
				 event->program);
	}
	if (used < COUNTER_PARAM_ROOM)
		return STATUS_OK;
	diag_add(diags, DIAG_ERROR, "So many counters of this kind cannot be recorded at once");
	return STATUS_INVALID;
}

void counter_add_log(struct strbuf *out, const struct counter_list *list)
{
	for (unsigned i = 0; i < list->count; i++) {
		const struct counter *counter = &list->items[i];

		strbuf_puts(out, "<counter");
		xml_add_number(out, "number", i);
		xml_add_attribute(out, "name", counter->name);
		xml_add_attribute(out, "title", counter->title);
		xml_add_attribute(out, "unit", counter->unit);
		xml_add_number(out, "interval", counter->event.period);
		xml_add_attribute(out, "address",
				  counter->event.flags & COUNTER_HAS_ADDRESS ? "yes" : "no");
		strbuf_puts(out, "/>\n");
	}
}
