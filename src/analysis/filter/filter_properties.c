/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of events.  Names and meanings are those of the old tools; what no kind of our
 * data has is there too, so that an old filter means what it meant there without such data.
 */
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/mpi_clocks.h"
#include "analysis/kinds/mpi_match.h"
#include "analysis/kinds/mpi_world.h"
#include "base/strbuf.h"

#include <string.h>

void filter_fill(struct filter_slot *slot, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count; i++)
		slot->value[i] = value;
}

void filter_forget(struct filter_slot *slot, size_t count, uint64_t none)
{
	slot->any_unknown = true;
	for (size_t i = 0; i < count; i++) {
		slot->unknown[i] = slot->value[i] == none;
		slot->value[i] = slot->unknown[i] ? 0 : slot->value[i];
	}
}

void filter_load(const struct filter_rows *rows, struct filter_slot *slot, unsigned column)
{
	memcpy(slot->value, event_column(rows->run, column),
	       rows->run->count * sizeof(*slot->value));
}

/* ---- time ---- */

static uint64_t begin_ns(const struct event_run *run, size_t row)
{
	uint64_t end = event_times(run)[row], duration = event_duration(run, row);

	return end > duration ? end - duration : 0;
}

static void load_end(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load(rows, slot, ROW_TIME);
}

void filter_load_begin(const struct filter_rows *rows, struct filter_slot *slot)
{
	EACH_ROW slot->value[i] = begin_ns(rows->run, i);
}

static void load_duration(const struct filter_rows *rows, struct filter_slot *slot)
{
	EACH_ROW slot->value[i] = event_duration(rows->run, i);
}

static void find_clocks(struct session *session)
{
	mpi_clocks_of(session);
}

static void load_on_line(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct mpi_clocks *clocks = rows->session->mpi_worlds->clocks;
	const uint64_t *times = event_times(rows->run);

	EACH_ROW slot->value[i] = mpi_clocks_time(clocks, rows->process->id - 1, times[i]);
}

/* The number of the first sample point that is not before a time; times mostly go up. */
static size_t sample_at(const struct experiment_overview *overview, uint64_t time, size_t guess)
{
	size_t low = 0, high = overview->count;

	if (guess && guess < high && overview->items[guess - 1].time_ns < time &&
	    time <= overview->items[guess].time_ns)
		return guess;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (overview->items[middle].time_ns < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Sample N lies between the points N and N + 1, counted from 1; the second belongs to it. */
static void load_sample(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct experiment_overview *overview = &rows->process->process->overview;
	const uint64_t *times = event_times(rows->run);
	size_t sample = 0;

	EACH_ROW
	{
		sample = sample_at(overview, times[i], sample);
		slot->value[i] = sample < overview->count ? sample : 0;
	}
	filter_forget(slot, rows->run->count, 0);
}

/* ---- place ---- */

static void load_thread(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count, rows->run->thread);
}

static void load_thread_of_all(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count,
		    (uint64_t)rows->process->id << 32 | (uint32_t)rows->run->thread);
}

/* NULL: nothing is known of it. */
static const struct profile_thread *thread_of(const struct filter_rows *rows)
{
	return profile_find_thread(&rows->process->process->profile, rows->run->thread);
}

static void load_java_thread(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct profile_thread *thread = thread_of(rows);

	load_thread_of_all(rows, slot);
	if (!thread || !profile_more(&rows->process->process->profile, thread)->group)
		filter_fill(slot, rows->run->count, 0);
}

static void load_lwp(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct profile_thread *thread = thread_of(rows);

	filter_fill(slot, rows->run->count, thread ? thread->tid : 0);
	filter_forget(slot, rows->run->count, 0);
}

static void load_cpu(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load(rows, slot, ROW_CPU);
	filter_forget(slot, rows->run->count, PROFILE_NO_CPU);
}

static void load_experiment(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count, rows->process->id);
}

/* What index objects are made of: rows of experiments that are compared have it in common. */
static uint32_t comparable(const struct filter_rows *rows)
{
	return rows->united ? rows->process->like : rows->process->id;
}

static void load_comparable(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count, comparable(rows));
}

static void load_sample_map(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_sample(rows, slot);
	EACH_ROW slot->value[i] |= slot->unknown[i] ? 0 : (uint64_t)comparable(rows) << 32;
}

/* That under way at the event's end; 0: none. */
static void load_collection(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct collections *all = &rows->process->process->profile.collections;
	const uint64_t *times = event_times(rows->run);
	size_t number = 0;

	EACH_ROW
	{
		number = collections_at(all, times[i], number);
		slot->value[i] = number;
	}
}

static void load_collection_map(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_collection(rows, slot);
	EACH_ROW slot->value[i] |= slot->value[i] ? (uint64_t)comparable(rows) << 32 : 0;
}

static void load_group(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count, rows->process->group);
}

static void load_pid(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count, (uint64_t)rows->process->process->log.pid);
	filter_forget(slot, rows->run->count, 0);
}

static void load_frequency(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count,
		    rows->session->processes.items[rows->process->id - 1].clock_mhz);
	filter_forget(slot, rows->run->count, 0);
}

static void load_stack_id(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint32_t *stacks = event_stacks(rows->run);

	EACH_ROW slot->value[i] = rows->nodes[stacks[i]];
}

/* ---- clock ---- */

void filter_load_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load(rows, slot, ROW_TYPE);
}

static void load_weight(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load(rows, slot, ROW_FIELD + PROFILE_WEIGHT);
}

/* Whole intervals of the clock, at least one. */
static void load_ticks(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *weights = event_field(rows->run, PROFILE_WEIGHT);
	uint64_t interval = rows->process->interval_us;

	EACH_ROW
	{
		uint64_t ticks = interval ? (weights[i] + interval / 2) / interval : 1;

		slot->value[i] = ticks ? ticks : 1;
	}
}

void filter_load_field(const struct filter_rows *rows, struct filter_slot *slot, unsigned field)
{
	filter_load(rows, slot, ROW_FIELD + field);
}

/* Pseudo-functions have no address. */
static void load_pc(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct stack_tree *stacks = &rows->process->process->stacks;
	const uint32_t *of = event_stacks(rows->run);

	EACH_ROW
	{
		uint32_t node = of[i];
		uint64_t pc =
			node == STACK_ROOT
				? 0
				: stacks->locations.items[stacks->nodes.items[node].location].pc;

		slot->value[i] = pc < FORMAT_PC_LIMIT ? 0 : pc;
	}
	filter_forget(slot, rows->run->count, 0);
}

/* What is not recorded, why, and what to ask instead. */
#define NOWHERE(name_, description_, reason_)                                                      \
	{                                                                                          \
		.info = {name_, description_, ""}, .reason = (reason_)                             \
	}

#define NO_OPENMP    "it is not recorded; CPRID is the region, FNAME its code"
#define NO_RACES     "data races are not recorded; compilers find them (-fsanitize=thread)"
#define NO_DEADLOCKS "deadlocks are not recorded; `locks' lists the waits (helio collect -s on)"
#define NO_HOMES     "Linux gives no thread a home; CPUID is where the event was, EA_LGRP its data"
#define NO_ACCESS    "helio collect -h does not record it; EA_LGRP is the NUMA node of the data"
#define NO_PHYSICAL  "Linux tells physical addresses to root only, and they are not recorded; "
#define NO_PAGES     "the sizes of pages are not recorded; "

static const struct filter_property common[] = {
	FILTER_PROPERTY("TSTAMP", "the event's end, ns since the experiment's start", "all",
			FILTER_ALL, load_end),
	FILTER_PROPERTY("ETSTAMP", "the same", "all", FILTER_ALL, load_end),
	FILTER_PROPERTY("TSTAMP_HI", "the same", "all", FILTER_ALL, load_end),
	FILTER_PROPERTY("TSTAMP2", "the same", "all", FILTER_ALL, load_end),
	FILTER_PROPERTY("TSTAMP_LO", "the event's beginning: TSTAMP - EVT_TIME", "all", FILTER_ALL,
			filter_load_begin),
	FILTER_PROPERTY(
		"ATSTAMP",
		"the event's end on the timeline, whose experiments may begin at other times",
		"all", FILTER_ALL, load_on_line, .prepare = find_clocks),
	FILTER_PROPERTY("EVT_TIME", "how long it took, ns; 0 where it took no time", "all",
			FILTER_ALL, load_duration),
	FILTER_PROPERTY("THRID", "number of the thread", "all", FILTER_ALL, load_thread),
	FILTER_PROPERTY("THREAD", "the thread among those of all processes, for TNAME", "all",
			FILTER_ALL, load_thread_of_all),
	FILTER_PROPERTY("JTHREAD",
			"the same of threads of Java, for JGROUP and JPARENT too; 0: none", "java",
			FILTER_ALL, load_java_thread, .needs_java = true),
	FILTER_PROPERTY("LWPID", "the kernel's id of the thread", "all", FILTER_ALL, load_lwp),
	FILTER_PROPERTY("CPUID", "number of the processor", "all", FILTER_ALL, load_cpu),
	FILTER_PROPERTY("EXPID", "number of the process, as in experiment_list", "all", FILTER_ALL,
			load_experiment),
	FILTER_PROPERTY(
		"EXPID_CMP",
		"the same; while experiments are compared, that of its like in the first of them",
		"all", FILTER_ALL, load_comparable),
	FILTER_PROPERTY(
		"EXPGRID",
		"number of the experiment or group of them, as they were named; descendants: "
		"their founder's",
		"all", FILTER_ALL, load_group),
	FILTER_PROPERTY("PID", "process id", "all", FILTER_ALL, load_pid),
	FILTER_PROPERTY("FREQ_MHZ", "clock rate of the processors", "all", FILTER_ALL,
			load_frequency),
	FILTER_PROPERTY("SAMPLE", "number of the sample, as in sample_detail", "all", FILTER_ALL,
			load_sample),
	FILTER_PROPERTY("SAMPLE_MAP", "EXPID_CMP << 32 | SAMPLE", "all", FILTER_ALL,
			load_sample_map),
	FILTER_PROPERTY("GCEVENT",
			"number of Java's garbage collection under way at the event's end; 0: none",
			"java", FILTER_ALL, load_collection, .needs_collections = true),
	FILTER_PROPERTY("GCEVENT_MAP", "EXPID_CMP << 32 | GCEVENT; 0: none", "java", FILTER_ALL,
			load_collection_map, .needs_collections = true),
	FILTER_PROPERTY("VIRTPC", "address of the innermost instruction", "all", FILTER_ALL,
			load_pc),
	FILTER_PROPERTY("STACKID", "number of the call stack", "all", FILTER_ALL, load_stack_id),
	FILTER_PROPERTY(
		"MSTATE",
		"0 user, 1 system, 2 trap, 3 text, 4 data, 5 kernel page fault, 6 user lock, "
		"7 sleep, 8 wait CPU, 9 stopped",
		"clock", FILTER_CLOCK, filter_load_type),
	FILTER_PROPERTY("NTICK", "intervals of the clock that the event stands for", "clock",
			FILTER_CLOCK, load_ticks),
	FILTER_PROPERTY("NTICK_USEC", "microseconds that the event stands for", "clock",
			FILTER_CLOCK, load_weight),
};

static const struct filter_property nowhere[] = {
	NOWHERE("PADDR", "physical data address", NO_PHYSICAL "VADDR is the virtual one"),
	NOWHERE("PHYSPC", "physical address of the instruction",
		NO_PHYSICAL "VIRTPC is the virtual one"),
	NOWHERE("EA_PAGESIZE", "size of the data's page",
		NO_PAGES "memory objects take any: Memory_page_4K, Memory_page_2M"),
	NOWHERE("PC_PAGESIZE", "size of the instruction's page", NO_PAGES "VIRTPC is the address"),
	NOWHERE("PC_LGRP", "locality group of the instruction", NO_HOMES),
	NOWHERE("LWP_LGRP_HOME", "home of the thread", NO_HOMES),
	NOWHERE("PS_LGRP_HOME", "home of the process", NO_HOMES),
	NOWHERE("MEM_LAT", "latency of the access", NO_ACCESS),
	NOWHERE("MEM_SRC", "where the data came from", NO_ACCESS),
	NOWHERE("PRPC", "OpenMP parallel region's place", NO_OPENMP),
	NOWHERE("PARREG", "OpenMP parallel region", NO_OPENMP),
	NOWHERE("RID", "data race", NO_RACES),
	NOWHERE("RTYPE", "type of a race's access", NO_RACES),
	NOWHERE("RVADDR", "address of a race", NO_RACES),
	NOWHERE("RCNT", "accesses in a race", NO_RACES),
	NOWHERE("LEAFPC", "instruction of a race's access", NO_RACES),
	NOWHERE("DID", "deadlock", NO_DEADLOCKS),
	NOWHERE("DTYPE", "type of a deadlock", NO_DEADLOCKS),
	NOWHERE("DLTYPE", "type of a deadlock's lock", NO_DEADLOCKS),
	NOWHERE("DVADDR", "address of a deadlock's lock", NO_DEADLOCKS),
};

static const struct filter_properties common_properties = FILTER_PROPERTIES(common);
static const struct filter_properties nowhere_properties = FILTER_PROPERTIES(nowhere);

#define X(NAME, name) [1 + TRACE_##NAME] = &name##_properties,
static const struct filter_properties *const catalogue[] = {
	[0] = &common_properties, [1 + TRACE_KINDS] = &nowhere_properties, FORMAT_KINDS(X)};
#undef X

static const struct filter_property *property_at(size_t index)
{
	for (size_t i = 0; i < COUNT(catalogue); i++) {
		if (index < catalogue[i]->count)
			return &catalogue[i]->items[index];
		index -= catalogue[i]->count;
	}
	return NULL;
}

/* Not numbers: what they may be asked is a matter of the language. */
static const struct filter_property_info others[] = {
	{"STACK", "the functions of the call stack; USTACK, MSTACK, XSTACK, HSTACK: the same",
	 "all"},
	{"STACKL", "its source lines; USTACKL and so on: the same", "all"},
	{"STACKI", "its instructions; USTACKI and so on: the same", "all"},
	{"LEAF", "the innermost function, line or instruction, by what stands beside it", "all"},
	{"FNAME(\"RE\")", "the functions whose whole name fits", "all"},
	{"LNAME(\"RE\")", "the lines that FILE:LINE or PATH:LINE fits as a whole", "all"},
	{"INAME(\"RE\")", "the instructions, as `pcs' has them: FUNCTION + 0x1c", "all"},
	{"TNAME(\"RE\")", "the THREAD of threads whose whole name fits", "all"},
	{"HAS_PROP(NAME)", "whether the event has the property", "all"},
	{"DNAME(\"RE\")", "the data objects whose whole name fits, and what they contain",
	 "counters"},
	{"JGROUP(\"RE\")", "the JTHREAD of threads whose group's whole name fits", "java"},
	{"JPARENT(\"RE\")", "the same, by the group around that group", "java"},
	{"FSTYPE(\"RE\")", "the types of file systems whose whole name fits", "io"},
	{"LOCKNAME(\"RE\")", "the SLOCK of locks whose whole name fits", "sync"},
	{"JCLASS(\"RE\")", "the JHCLASS of classes whose whole name fits", "java heap"},
	{"FILEIOVFD(\"RE\")", "the IOVFD of files whose whole name fits", "io"},
};

const struct filter_property *filter_property_find(const char *name)
{
	const struct filter_property *property;

	for (size_t i = 0; (property = property_at(i)); i++)
		if (!strcmp(property->info.name, name))
			return property;
	return NULL;
}

static bool has_kind(const struct session *session, enum event_kind kind)
{
	if (kind == EVENTS_CLOCK)
		return session->has_clock_data;
	return session_has_trace(session, (enum trace_kind)(kind - EVENTS_TRACE));
}

static bool has_java_threads(const struct session *session)
{
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct experiment_profile *profile =
			&session->scanned.items[i].process->profile;

		for (size_t k = 0; k < profile->more.count; k++)
			if (profile->more.items[k].group)
				return true;
	}
	return false;
}

static bool has_collections(const struct session *session)
{
	for (size_t i = 0; i < session->processes.count; i++)
		if (session->processes.items[i].collection_count)
			return true;
	return false;
}

char *filter_property_lack(const struct session *session, const struct filter_property *property)
{
	const struct filter_property_info *info = &property->info;
	struct strbuf text = {0};

	if (!property->kinds)
		return xasprintf("%s (%s): %s", info->name, info->description, property->reason);
	if (property->needs_openmp && !session_has_trace(session, TRACE_OMP))
		return xasprintf("%s: no OpenMP data (helio collect --openmp on)", info->name);
	if (property->needs_java && !has_java_threads(session))
		return xasprintf("%s: no threads of Java (helio collect --java on)", info->name);
	if (property->needs_collections && !has_collections(session))
		return xasprintf("%s: no garbage collections of Java (helio collect --java on)",
				 info->name);
	if (property->needs_addresses && !session_has_addresses(session))
		return xasprintf("%s: " NO_ADDRESSES, info->name);
	for (unsigned kind = 0; kind < EVENTS_KINDS; kind++) {
		if (!(property->kinds >> kind & 1))
			continue;
		if (has_kind(session, kind)) {
			strbuf_fini(&text);
			return NULL;
		}
		if (kind < EVENTS_TRACE)
			strbuf_printf(&text, "%s: no clock data (helio collect -p on)", info->name);
		else
			strbuf_printf(&text, "%s%s no %s data (helio collect %s)",
				      text.length ? "," : info->name, text.length ? "" : ":",
				      format_kinds[kind - EVENTS_TRACE].subject,
				      format_kinds[kind - EVENTS_TRACE].option);
	}
	return strbuf_steal(&text);
}

bool filter_property_at(size_t index, struct filter_property_info *info)
{
	const struct filter_property *property = property_at(index);

	if (property)
		*info = property->info;
	return property;
}

bool filter_function_at(size_t index, struct filter_property_info *info)
{
	if (index >= COUNT(others))
		return false;
	*info = others[index];
	return true;
}
