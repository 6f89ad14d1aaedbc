/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of counters: a table of those that every kernel knows, software events and the generic
 * hardware ones with the old tools' names for them, and libpfm4 for those of a processor.
 *
 * Intervals aim at an event each 1, 10 and 100 ms of a busy program, and are odd so as not to beat
 * with its loops.  What is rare is recorded each time.
 */
#include "launch/counter/counter.h"

#include "base/array.h"
#include "base/late_library.h"
#include "base/memory.h"
#include "base/suggest.h"

#include <linux/perf_event.h>
#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CACHE(level, operation, result)                                                            \
	(PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                   \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct entry {
	const char *name;
	const char *aliases; /* space-separated, or NULL */
	const char *title;
	uint32_t type;
	uint64_t config;
	uint64_t paces[COUNTER_PACES];
	const char *unit; /* NULL: events */
	bool has_address; /* always, not only where the hardware is precise */
} entries[] = {
#define SOFTWARE(name, aliases, title, config, high, on, low, ...)                                 \
	{                                                                                          \
		name, aliases, title, PERF_TYPE_SOFTWARE, config, {high, on, low}, __VA_ARGS__     \
	}
#define HARDWARE(name, aliases, title, config, high, on, low, ...)                                 \
	{                                                                                          \
		name, aliases, title, PERF_TYPE_HARDWARE, config, {high, on, low}, __VA_ARGS__     \
	}
#define HW_CACHE(name, aliases, title, ...)                                                        \
	{                                                                                          \
		name, aliases, title, PERF_TYPE_HW_CACHE, CACHE(__VA_ARGS__),                      \
			{10007, 100003, 1000003}, NULL, false                                      \
	}
	SOFTWARE("page-faults", "faults", "Page Faults", PERF_COUNT_SW_PAGE_FAULTS, 1, 11, 101,
		 NULL, true),
	SOFTWARE("minor-faults", NULL, "Minor Page Faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, 11,
		 101, NULL, true),
	SOFTWARE("major-faults", NULL, "Major Page Faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, 1, 1,
		 NULL, true),
	SOFTWARE("context-switches", "cs", "Context Switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 1,
		 11, 101, NULL, false),
	SOFTWARE("cpu-migrations", "migrations", "CPU Migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1,
		 1, 11, NULL, false),
	SOFTWARE("alignment-faults", NULL, "Alignment Faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1,
		 11, 101, NULL, true),
	SOFTWARE("task-clock", NULL, "Task Clock", PERF_COUNT_SW_TASK_CLOCK, 997 * 1000,
		 10007 * 1000, 100003 * 1000, FORMAT_COUNTER_NS, false),
	SOFTWARE("cpu-clock", NULL, "CPU Clock", PERF_COUNT_SW_CPU_CLOCK, 997 * 1000, 10007 * 1000,
		 100003 * 1000, FORMAT_COUNTER_NS, false),
	HARDWARE("cycles", "cpu-cycles", "CPU Cycles", PERF_COUNT_HW_CPU_CYCLES, 2000003, 20000003,
		 200000033, FORMAT_COUNTER_CYCLES, false),
	HARDWARE("insts", "instructions", "Instructions Executed", PERF_COUNT_HW_INSTRUCTIONS,
		 2000003, 20000003, 200000033, NULL, false),
	HARDWARE("ref-cycles", NULL, "Reference Cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 2000003,
		 20000003, 200000033, NULL, false),
	HARDWARE("bus-cycles", NULL, "Bus Cycles", PERF_COUNT_HW_BUS_CYCLES, 100003, 1000003,
		 10000019, NULL, false),
	HARDWARE("stalls-frontend", "stalled-cycles-frontend idle-cycles-frontend",
		 "Cycles Stalled in the Front End", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 2000003,
		 20000003, 200000033, FORMAT_COUNTER_CYCLES, false),
	HARDWARE("stalls-backend", "stalled-cycles-backend idle-cycles-backend",
		 "Cycles Stalled in the Back End", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 2000003,
		 20000003, 200000033, FORMAT_COUNTER_CYCLES, false),
	HARDWARE("br_ins", "branches branch-instructions", "Branches",
		 PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 400009, 4000037, 40000003, NULL, false),
	HARDWARE("br_msp", "branch-misses", "Branches Mispredicted", PERF_COUNT_HW_BRANCH_MISSES,
		 10007, 100003, 1000003, NULL, false),
	HARDWARE("cache-references", NULL, "Cache References", PERF_COUNT_HW_CACHE_REFERENCES,
		 20011, 200003, 2000003, NULL, false),
	HARDWARE("cache-misses", NULL, "Cache Misses", PERF_COUNT_HW_CACHE_MISSES, 10007, 100003,
		 1000003, NULL, false),
	HW_CACHE("dc_rd", "l1-dcache-loads", "L1 D-cache Reads", L1D, READ, ACCESS),
	HW_CACHE("dcm", "dc_rd_miss l1-dcache-load-misses", "L1 D-cache Read Misses", L1D, READ,
		 MISS),
	HW_CACHE("icm", "l1-icache-load-misses", "L1 I-cache Misses", L1I, READ, MISS),
	HW_CACHE("l3_rd", "llc-loads", "Last-level Cache Reads", LL, READ, ACCESS),
	HW_CACHE("l3m", "l3_rd_miss llc-load-misses", "Last-level Cache Read Misses", LL, READ,
		 MISS),
	HW_CACHE("dtlbm", "dtlb-load-misses", "Data TLB Misses", DTLB, READ, MISS),
	HW_CACHE("itlbm", "itlb-load-misses", "Instruction TLB Misses", ITLB, READ, MISS),
	HW_CACHE("node-loads", NULL, "Reads of a NUMA Node", NODE, READ, ACCESS),
	HW_CACHE("node-load-misses", NULL, "Reads of Another NUMA Node", NODE, READ, MISS),
};

static bool is_named(const struct entry *entry, const char *name)
{
	size_t length = strlen(name);

	if (!strcasecmp(entry->name, name))
		return true;
	for (const char *alias = entry->aliases; alias && *alias;) {
		size_t piece = strcspn(alias, " ");

		if (piece == length && !strncasecmp(alias, name, length))
			return true;
		alias += piece + (alias[piece] == ' ');
	}
	return false;
}

static void fill(struct counter *counter, const struct entry *entry)
{
	snprintf(counter->name, sizeof(counter->name), "%s", entry->name);
	snprintf(counter->title, sizeof(counter->title), "%s", entry->title);
	counter->unit = entry->unit ? entry->unit : FORMAT_COUNTER_EVENTS;
	memcpy(counter->paces, entry->paces, sizeof(counter->paces));
	counter->event.type = entry->type;
	counter->event.config = entry->config;
	if (entry->has_address)
		counter->event.flags |= COUNTER_HAS_ADDRESS;
}

/* An event of the processor that is neither in the table nor a watch point. */
static void fill_raw(struct counter *counter, const char *name, uint64_t type, uint64_t config)
{
	static const uint64_t paces[COUNTER_PACES] = {100003, 1000003, 10000019};

	snprintf(counter->name, sizeof(counter->name), "%s", name);
	snprintf(counter->title, sizeof(counter->title), "%s Events", name);
	counter->unit = FORMAT_COUNTER_EVENTS;
	memcpy(counter->paces, paces, sizeof(counter->paces));
	counter->event.type = type;
	counter->event.config = config;
}

/* rHEX, as perf(1) writes it. */
static bool find_code(struct counter *counter, const char *name)
{
	char *end;

	if (name[0] != 'r' || !name[1] ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1))
		return false;
	fill_raw(counter, name, PERF_TYPE_RAW, strtoull(name + 1, &end, 16));
	return true;
}

#ifdef HAVE_LIBPFM
#define LIBRARY	     "libpfm.so.4"
#define FUNCTIONS(X) X(pfm_get_os_event_encoding) X(pfm_initialize) X(pfm_strerror)

static struct {
	FUNCTIONS(LATE_POINTER)
} their;

#define ENTRY(name) {#name, &their.name},
static const struct late_function functions[] = {FUNCTIONS(ENTRY)};

/* What the seeds' ~ is, libpfm4 writes with a colon. */
static bool find_in_library(struct counter *counter, const char *name, const char **reason)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t answer = {.attr = &attr, .size = sizeof(answer)};
	char *theirs;
	int result;

	*reason = late_library_load(LIBRARY, functions, COUNT(functions));
	if (*reason)
		return false;
	theirs = xstrdup(name);
	result = their.pfm_initialize();

	for (char *at = theirs; *at; at++)
		if (*at == '~')
			*at = ':';
	if (result == PFM_SUCCESS)
		result = their.pfm_get_os_event_encoding(theirs, PFM_PLM0 | PFM_PLM3,
							 PFM_OS_PERF_EVENT_EXT, &answer);
	free(theirs);
	*reason = their.pfm_strerror(result);
	if (result != PFM_SUCCESS)
		return false;
	fill_raw(counter, name, attr.type, attr.config);
	counter->event.config1 = attr.config1;
	counter->event.config2 = attr.config2;
	counter->event.flags = attr.precise_ip | (attr.exclude_user ? COUNTER_EXCLUDE_USER : 0) |
			       (attr.exclude_kernel ? COUNTER_EXCLUDE_KERNEL : 0) |
			       (attr.exclude_hv ? COUNTER_EXCLUDE_HV : 0);
	return true;
}
#else
static bool find_in_library(struct counter *counter, const char *name, const char **reason)
{
	*reason = "names of the processor's own events need helio built with libpfm4";
	return false;
}
#endif

static void unknown(const char *name, const char *reason, struct diag_list *diags)
{
	const char *names[COUNT(entries)];

	for (size_t i = 0; i < COUNT(entries); i++)
		names[i] = entries[i].name;
	const char *near = suggest_closest(name, names, COUNT(entries));

	if (near)
		diag_add(diags, DIAG_ERROR, "Unrecognized HW counter '%s': did you mean %s?", name,
			 near);
	else
		diag_add(diags, DIAG_ERROR,
			 "Unrecognized HW counter '%s' (%s); helio collect -h lists what this "
			 "machine has",
			 name, reason);
}

static void add_to_title(struct counter *counter)
{
	bool user = !(counter->event.flags & COUNTER_EXCLUDE_USER),
	     kernel = !(counter->event.flags & COUNTER_EXCLUDE_KERNEL);
	size_t used = strlen(counter->title);

	if (user != kernel)
		snprintf(counter->title + used, sizeof(counter->title) - used, " (%s)",
			 user ? "Program" : "Kernel");
}

/*
 * ~user=0 and ~system=0, or :u and :k as perf(1) writes them, of counters that the table has;
 * false: another attribute.
 */
static bool read_attributes(struct counter *counter, const char *attributes)
{
	size_t used = strlen(counter->name);
	static const struct {
		const char *text;
		uint64_t flag;
	} known[] = {
		{"~user=0", COUNTER_EXCLUDE_USER},
		{"~user=1", 0},
		{"~user", 0},
		{"~system=0", COUNTER_EXCLUDE_KERNEL},
		{"~system=1", 0},
		{"~system", 0},
		{":u", COUNTER_EXCLUDE_KERNEL},
		{"~u", COUNTER_EXCLUDE_KERNEL},
		{":k", COUNTER_EXCLUDE_USER},
		{"~k", COUNTER_EXCLUDE_USER},
	};

	snprintf(counter->name + used, sizeof(counter->name) - used, "%s", attributes);
	while (*attributes) {
		size_t length = 1 + strcspn(attributes + 1, "~:"), i = 0;

		while (i < COUNT(known) && (strlen(known[i].text) != length ||
					    strncmp(known[i].text, attributes, length) != 0))
			i++;
		if (i == COUNT(known))
			return false;
		counter->event.flags |= known[i].flag;
		attributes += length;
	}
	add_to_title(counter);
	return true;
}

/* What only the kernel does is not there without the kernel's part. */
bool counter_is_of_kernel(const struct counter *counter)
{
	return counter->event.type == PERF_TYPE_SOFTWARE &&
	       (counter->event.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		counter->event.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static bool counts_anything(const struct counter *counter, struct diag_list *diags)
{
	bool program = !(counter->event.flags & COUNTER_EXCLUDE_USER),
	     kernel = !(counter->event.flags & COUNTER_EXCLUDE_KERNEL);

	if (kernel || (program && !counter_is_of_kernel(counter)))
		return true;
	diag_add(diags, DIAG_ERROR, "HW counter '%s' would count nothing: %s", counter->name,
		 program ? "what it counts happens in the kernel only"
			 : "both the program's and the kernel's part are left out");
	return false;
}

bool counter_find(struct counter *counter, const char *name, struct diag_list *diags)
{
	char *base = xstrndup(name, strcspn(name, "~:"));
	const char *attributes = name + strlen(base);
	bool found = false;

	for (size_t i = 0; i < COUNT(entries) && !found; i++) {
		found = is_named(&entries[i], base);
		if (found)
			fill(counter, &entries[i]);
	}
	if (!found)
		found = find_code(counter, base);
	found = found && read_attributes(counter, attributes);
	free(base);
	if (found)
		return counts_anything(counter, diags);
	const char *reason;

	if (find_in_library(counter, name, &reason))
		return true;
	unknown(name, reason, diags);
	return false;
}

void counter_each(void (*visit)(const struct counter *counter, void *arg), void *arg)
{
	for (size_t i = 0; i < COUNT(entries); i++) {
		struct counter counter = {0};

		fill(&counter, &entries[i]);
		visit(&counter, arg);
	}
}
