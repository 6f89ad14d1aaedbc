/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's counters of its collections, which jstat reads from other processes: why the one
 * under way is done, and how often each collector has worked.  They lie at one place from the
 * machine's begin to its end, and are there without a file, too (-XX:+PerfDisableSharedMem);
 * -XX:-UsePerfData leaves them out.
 */
#include "collector/runtimes/java_private.h"

#define COLLECTOR_PREFIX "sun.gc.collector."

enum { COLLECTORS = 3, COUNTERS_MAX = 1 << 16 };

/* As the machine lays them out (hsperfdata 2.0). */
struct prologue {
	uint32_t magic;
	uint8_t byte_order, major, minor, accessible;
	int32_t used, overflow;
	int64_t modified;
	int32_t entry_offset, entries;
};
struct entry {
	int32_t length, name_offset, vector_length;
	uint8_t type, flags, units, variability;
	int32_t data_offset;
};

static struct counters {
	const char *now, *last; /* causes */
	struct {
		const char *name;
		const uint64_t *calls;
		uint64_t before;
	} collectors[COLLECTORS];
} counters;

/* What only stops the program for moments of a collection beside it. */
enum { COLLECTOR_CONCURRENT = 2 };

static void take(const char *name, const void *data)
{
	if (text_equal(name, "sun.gc.cause"))
		counters.now = data;
	else if (text_equal(name, "sun.gc.lastCause"))
		counters.last = data;
	if (!text_starts(name, COLLECTOR_PREFIX))
		return;

	const size_t number = (size_t)(name[sizeof(COLLECTOR_PREFIX) - 1] - '0');
	const char *what = name + sizeof(COLLECTOR_PREFIX);

	if (number < COLLECTORS && text_equal(what, ".name"))
		counters.collectors[number].name = data;
	else if (number < COLLECTORS && text_equal(what, ".invocations"))
		counters.collectors[number].calls = data;
}

void java_counters_begin(void)
{
	const struct java_field *start = java_field_find("PerfMemory", "_start");
	const char *memory = start ? *(const char *const *)start->address : NULL;
	const struct prologue *prologue = (const void *)memory;

	counters = (struct counters){0};
	if (!memory || prologue->major != 2)
		return;

	const char *at = memory + prologue->entry_offset;

	for (int32_t i = 0; i < prologue->entries && i < COUNTERS_MAX; i++) {
		const struct entry *entry = (const void *)at;

		if (entry->length <= 0)
			break;
		take(at + entry->name_offset, at + entry->data_offset);
		at += entry->length;
	}
}

void java_counters_note(void)
{
	for (size_t i = 0; i < COLLECTORS; i++)
		if (counters.collectors[i].calls)
			counters.collectors[i].before = *counters.collectors[i].calls;
}

/* The last that has worked since the begin: one of all objects comes behind that of young ones. */
static size_t worked(void)
{
	for (size_t i = COLLECTORS; i-- > 0;)
		if (counters.collectors[i].calls &&
		    *counters.collectors[i].calls != counters.collectors[i].before)
			return i;
	return COLLECTORS;
}

/* The cause is set before the machine tells of the begin and until after the end, or the other way
 * round: then it is the last one.  G1's stops for what it does beside the program have none, and no
 * collector that counts them in some versions. */
const char *java_counters_cause(void)
{
	const char *cause = counters.now;

	if (cause && text_equal(cause, "No GC") && worked() < COLLECTOR_CONCURRENT)
		cause = counters.last;
	return cause && !text_equal(cause, "No GC") ? cause : "";
}

const char *java_counters_collector(void)
{
	const size_t number = worked();

	return number < COLLECTORS && counters.collectors[number].name
		       ? counters.collectors[number].name
		       : "";
}
