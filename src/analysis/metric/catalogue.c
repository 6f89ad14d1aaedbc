/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of metrics, and how a choice among them is written. */
#include "analysis/metric/metric.h"

#include "analysis/kinds/kinds.h"
#include "analysis/session/session_state.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "format/format.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STATE(name) (1u << FORMAT_STATE_##name)
#define ALL_STATES  ((1u << PROFILE_STATES) - 1)

static const struct metric of_clock[] = {
	{.command = "total",
	 .title = "Total Thread Time",
	 .states = ALL_STATES,
	 .description = "time of all threads in all states: the sum of their lives"},
	{.command = "totalcpu",
	 .title = "Total CPU Time",
	 .states = CLOCK_CPU_STATES,
	 .description = "time on a processor: user, system and trap"},
	{.command = "user",
	 .title = "User CPU Time",
	 .states = STATE(USER),
	 .description = "time on a processor in the program's own code"},
	{.command = "system",
	 .title = "System CPU Time",
	 .states = STATE(SYSTEM),
	 .description = "time on a processor in the kernel on behalf of the program"},
	{.command = "trap",
	 .title = "Trap CPU Time",
	 .states = STATE(TRAP),
	 .description = "time on a processor in traps",
	 .if_data = true},
	{.command = "masterthread",
	 .title = "Master Thread Time",
	 .aliases = "wall",
	 .measure = MEASURE_FIRST_THREAD,
	 .description = "time of the first thread of each process in all states"},
	{.command = "wait",
	 .title = "Wait CPU Time",
	 .states = STATE(WAIT_CPU),
	 .description = "time ready to run while no processor was free"},
	{.command = "lock",
	 .title = "User Lock Time",
	 .aliases = "ulock",
	 .states = STATE(USER_LOCK),
	 .description = "time blocked on a lock or condition of the program (futex)"},
	{.command = "textpfault",
	 .title = "Text Page Fault Time",
	 .aliases = "text",
	 .states = STATE(TEXT_FAULT),
	 .description = "time in page faults on code"},
	{.command = "datapfault",
	 .title = "Data Page Fault Time",
	 .aliases = "data",
	 .states = STATE(DATA_FAULT),
	 .description =
		 "time blocked in page faults, on data or code: Linux does not tell them apart"},
	{.command = "kernelpfault",
	 .title = "Kernel Page Fault Time",
	 .states = STATE(KERNEL_FAULT),
	 .description = "time in page faults inside the kernel"},
	{.command = "sleep",
	 .title = "Sleep Time",
	 .states = STATE(SLEEP),
	 .description =
		 "time in every wait that is not a lock: sleep, I/O, poll, wait for a child"},
	{.command = "stop",
	 .title = "Stopped Time",
	 .states = STATE(STOPPED),
	 .description = "time stopped by a signal or a debugger"},
	{.command = "owait",
	 .title = "Other Wait Time",
	 .states = STATE(KERNEL_FAULT) | STATE(SLEEP) | STATE(STOPPED),
	 .description = "kernel page faults, sleep and stopped time together"},
};

static const struct metric of_code[] = {
	{.command = "size",
	 .title = "Size",
	 .unit = UNIT_BYTES,
	 .is_static = true,
	 .description = "bytes of code of the function"},
	{.command = "address",
	 .title = "PC Address",
	 .unit = UNIT_ADDRESS,
	 .is_static = true,
	 .description = "load object and address of the function"},
	{.command = "name",
	 .title = "Name",
	 .unit = UNIT_TEXT,
	 .is_static = true,
	 .description = "name of the function"},
};

/* The clock's, those of the traced kinds, the session's counters, the static ones. */
const struct metric *metric_catalogue(const struct session *session, size_t index)
{
	size_t traced = kinds_metric_count(), counters = session ? session->counters.count : 0;

	if (index < COUNT(of_clock))
		return &of_clock[index];
	index -= COUNT(of_clock);
	if (index < traced)
		return kinds_metric(index);
	index -= traced;
	if (index < counters)
		return &session->counters.items[index];
	index -= counters;
	return index < COUNT(of_code) ? &of_code[index] : NULL;
}

/* Whether `word` is one of a space-separated list. */
static bool word_in(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (list && *list) {
		size_t piece = strcspn(list, " ");

		if (piece == length && !strncasecmp(list, word, length))
			return true;
		list += piece + (list[piece] == ' ');
	}
	return false;
}

const struct metric *metric_find(const struct session *session, const char *name)
{
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(session, i)); i++)
		if (!strcasecmp(metric->command, name) || word_in(metric->aliases, name))
			return metric;
	return NULL;
}

enum trace_kind metric_trace(const struct metric *metric)
{
	return metric->is_static || metric->states ? TRACE_KINDS : measure_trace(metric->measure);
}

static bool is_of_clock(const struct metric *metric)
{
	return metric->states || metric->measure == MEASURE_FIRST_THREAD;
}

/* Whether the clocks recorded what a metric of theirs is made of: gprofng's, time on a processor.
 */
static bool has_clock(const struct session *session, const struct metric *metric)
{
	return session->has_clock_data &&
	       (!session->only_gprofng || metric->states == CLOCK_CPU_STATES);
}

/* Calls that wait for files are not traced by gprofng. */
static bool has_traced(const struct session *session, unsigned measure)
{
	bool waits = measure >= MEASURE_IO_WAITS && measure <= MEASURE_IO_REQUESTS;

	return !(session->only_gprofng && waits) &&
	       session_has_trace(session, measure_trace(measure));
}

bool metric_available(const struct session *session, const struct metric *metric)
{
	if (metric->is_static)
		return true;
	if (is_of_clock(metric) && (!has_clock(session, metric) || !metric->if_data))
		return has_clock(session, metric);
	if (!metric->states)
		return session->present[metric->measure] || has_traced(session, metric->measure);
	for (size_t state = 0; state < PROFILE_STATES; state++)
		if (metric->states >> state & 1 && session->present[state])
			return true;
	return false;
}

static bool has_counter(const struct session *session, const struct process_info *process,
			unsigned measure)
{
	const char *name = session->counters.items[measure - MEASURE_COUNTER].command;

	for (size_t i = 0; i < process->counter_count; i++)
		if (!strcmp(process->counters[i].name, name))
			return true;
	return false;
}

static bool is_recorded_by(const struct session *session, const struct process_info *process,
			   const struct metric *metric)
{
	enum trace_kind kind = metric_trace(metric);

	if (kind == TRACE_COUNTER)
		return has_counter(session, process, metric->measure) &&
		       (metric->unit != UNIT_RATIO ||
			has_counter(session, process, metric->divisor));
	if (kind != TRACE_KINDS)
		return process->has_trace[kind];
	if (!is_of_clock(metric)) /* static, or of one view alone */
		return true;
	return process->event_count || process->is_unrecorded ||
	       (process->engine && strcmp(process->engine, "none") != 0);
}

bool metric_available_in(const struct session *session, const struct metric *metric, size_t group)
{
	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		if (process->group == group + 1 && is_recorded_by(session, process, metric))
			return true;
	}
	return false;
}

char *metric_choice_text(const struct metric_choice *choice)
{
	static const char flavours[] = {'\0', 'e', 'i', 'a'};
	struct strbuf text = {0};

	if (choice->flavor != FLAVOR_STATIC)
		strbuf_putc(&text, flavours[choice->flavor]);
	if (choice->visibility & VISIBLE_HIDDEN)
		strbuf_putc(&text, '!');
	if (choice->flavor != FLAVOR_STATIC) {
		if (choice->visibility & VISIBLE_TIME)
			strbuf_putc(&text, '.');
		if (choice->visibility & VISIBLE_VALUE)
			strbuf_putc(&text, '+');
		if (choice->visibility & VISIBLE_PERCENT)
			strbuf_putc(&text, '%');
		if (choice->visibility & VISIBLE_ERROR)
			strbuf_putc(&text, '~');
	}
	strbuf_puts(&text, choice->metric->command);
	return strbuf_steal(&text);
}

char *metric_list_text(const struct metric_list *list)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < list->count; i++) {
		char *choice = metric_choice_text(&list->items[i]);

		if (i)
			strbuf_putc(&text, ':');
		strbuf_puts(&text, choice);
		free(choice);
	}
	return strbuf_steal(&text);
}

char *metric_choice_title(const struct metric_choice *choice)
{
	static const char *const flavours[] = {"", "Exclusive ", "Inclusive ", "Attributed "};

	return xasprintf("%s%s", flavours[choice->flavor], choice->metric->title);
}
