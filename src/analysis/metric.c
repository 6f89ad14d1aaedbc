/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of metrics, and how a choice among them is written. */
#include "analysis/metric.h"

#include "analysis/session.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "format/format.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STATE(name) (1u << FORMAT_STATE_##name)
#define ALL_STATES  ((1u << PROFILE_STATES) - 1)
#define CPU_STATES  (STATE(USER) | STATE(SYSTEM) | STATE(TRAP) | 1u << PROFILE_STATE_CPU)

static const struct metric catalogue[] = {
	{.command = "total",
	 .title = "Total Thread Time",
	 .states = ALL_STATES,
	 .description = "time of all threads in all states: the sum of their lives"},
	{.command = "totalcpu",
	 .title = "Total CPU Time",
	 .states = CPU_STATES,
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
	{.command = "sync",
	 .title = "Sync Wait Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_SYNC_NS,
	 .description =
		 "time from the request to the grant of locks and other means of synchronization",
	 .if_data = true},
	{.command = "syncn",
	 .title = "Sync Wait Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_SYNC_COUNT,
	 .description = "waits for locks and other means of synchronization",
	 .if_data = true},
	{.command = "heapalloccnt",
	 .title = "Allocations",
	 .aliases = "alloc",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_HEAP_ALLOCS,
	 .description = "blocks of memory allocated",
	 .if_data = true},
	{.command = "heapallocbytes",
	 .title = "Bytes Allocated",
	 .aliases = "balloc",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_HEAP_BYTES,
	 .description = "bytes of memory allocated",
	 .if_data = true},
	{.command = "heapleakcnt",
	 .title = "Leaks",
	 .aliases = "leak",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_HEAP_LEAKS,
	 .description = "blocks of memory allocated and never freed",
	 .if_data = true},
	{.command = "heapleakbytes",
	 .title = "Bytes Leaked",
	 .aliases = "bleak",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_HEAP_LEAK_BYTES,
	 .description = "bytes of memory allocated and never freed",
	 .if_data = true},
	{.command = "ioreadcnt",
	 .title = "Read Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_READS,
	 .description = "calls that read",
	 .if_data = true},
	{.command = "ioreadbytes",
	 .title = "Read Bytes",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_IO_READ_BYTES,
	 .description = "bytes that were read",
	 .if_data = true},
	{.command = "ioreadtime",
	 .title = "Read Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_READ_NS,
	 .description = "time in calls that read",
	 .if_data = true},
	{.command = "iowritecnt",
	 .title = "Write Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_WRITES,
	 .description = "calls that write",
	 .if_data = true},
	{.command = "iowritebytes",
	 .title = "Write Bytes",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_IO_WRITE_BYTES,
	 .description = "bytes that were written",
	 .if_data = true},
	{.command = "iowritetime",
	 .title = "Write Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_WRITE_NS,
	 .description = "time in calls that write",
	 .if_data = true},
	{.command = "iowaitcnt",
	 .title = "I/O Wait Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_WAITS,
	 .description =
		 "calls that wait for files or sockets to be ready: poll, select, epoll_wait",
	 .if_data = true},
	{.command = "iowaittime",
	 .title = "I/O Wait Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_WAIT_NS,
	 .description = "time in calls that wait for files or sockets to be ready: poll, select, "
			"epoll_wait",
	 .if_data = true},
	{.command = "iorequestcnt",
	 .title = "Submitted Requests",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_REQUESTS,
	 .description = "requests that were handed to an io_uring",
	 .if_data = true},
	{.command = "ioothercnt",
	 .title = "Other I/O Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_OTHERS,
	 .description =
		 "calls that open, close or control files and sockets, or hand over requests",
	 .if_data = true},
	{.command = "ioothertime",
	 .title = "Other I/O Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_OTHER_NS,
	 .description = "time in calls that open, close or control files and sockets, or hand over "
			"requests",
	 .if_data = true},
	{.command = "ioerrorcnt",
	 .title = "I/O Error Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_IO_ERRORS,
	 .description = "I/O calls that failed",
	 .if_data = true},
	{.command = "ioerrortime",
	 .title = "I/O Error Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_IO_ERROR_NS,
	 .description = "time in I/O calls that failed",
	 .if_data = true},
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

/* The counters stand before the static metrics. */
const struct metric *metric_catalogue(const struct session *session, size_t index)
{
	enum { ALL = COUNT(catalogue), FIRST_STATIC = ALL - 3 };
	size_t counters = session ? session->counters.count : 0;

	if (index < FIRST_STATIC)
		return &catalogue[index];
	if (index < FIRST_STATIC + counters)
		return &session->counters.items[index - FIRST_STATIC];
	return index - counters < ALL ? &catalogue[index - counters] : NULL;
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

/* The kind of trace that a measure is of, or TRACE_KINDS: of the clock. */
static enum trace_kind trace_of(unsigned measure)
{
	if (measure >= MEASURE_COUNTER)
		return TRACE_COUNTER;
	if (measure >= MEASURE_IO_READS)
		return TRACE_IO;
	if (measure >= MEASURE_SYNC_NS)
		return TRACE_SYNC;
	return measure >= MEASURE_HEAP_ALLOCS ? TRACE_HEAP : TRACE_KINDS;
}

enum trace_kind metric_trace(const struct metric *metric)
{
	return metric->is_static || metric->states ? TRACE_KINDS : trace_of(metric->measure);
}

/* Whether the clocks recorded what a metric of theirs is made of: gprofng's, time on a processor.
 */
static bool has_clock(const struct session *session, const struct metric *metric)
{
	return session->has_clock_data && (!session->only_gprofng || metric->states == CPU_STATES);
}

/* Calls that wait for files are not traced by gprofng. */
static bool has_traced(const struct session *session, unsigned measure)
{
	bool waits = measure >= MEASURE_IO_WAITS && measure <= MEASURE_IO_REQUESTS;

	return !(session->only_gprofng && waits) && session_has_trace(session, trace_of(measure));
}

bool metric_available(const struct session *session, const struct metric *metric)
{
	bool clock = metric->states || metric->measure == MEASURE_FIRST_THREAD;

	if (metric->is_static)
		return true;
	if (clock && (!has_clock(session, metric) || !metric->if_data))
		return has_clock(session, metric);
	if (!metric->states)
		return session->present[metric->measure] || has_traced(session, metric->measure);
	for (size_t state = 0; state < PROFILE_STATES; state++)
		if (metric->states >> state & 1 && session->present[state])
			return true;
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
