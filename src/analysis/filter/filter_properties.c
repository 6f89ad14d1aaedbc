/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of events.  Names and meanings are those of the old tools; what no kind of our
 * data has is there too, so that an old filter means what it meant there without such data.
 */
#include "analysis/data/data_map.h"
#include "analysis/filter/filter_program.h"
#include "analysis/kinds/counter.h"
#include "analysis/kinds/io_places.h"
#include "analysis/kinds/io_rows.h"
#include "base/array.h"
#include "base/strbuf.h"

#include <string.h>

#define X(NAME, name) NAME = 1u << (EVENTS_TRACE + TRACE_##NAME),
enum {
	CLOCK = 1u << EVENTS_CLOCK,
	FORMAT_KINDS(X) ALL = (1u << EVENTS_KINDS) - 1,
};
#undef X

#define EACH_ROW for (size_t i = 0; i < rows->run->count; i++)

static void fill(struct filter_slot *slot, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count; i++)
		slot->value[i] = value;
}

/* Marks rows without a value; of no use before all values are there. */
static void forget(struct filter_slot *slot, size_t count, uint64_t none)
{
	slot->any_unknown = true;
	for (size_t i = 0; i < count; i++) {
		slot->unknown[i] = slot->value[i] == none;
		slot->value[i] = slot->unknown[i] ? 0 : slot->value[i];
	}
}

static void load(const struct filter_rows *rows, struct filter_slot *slot, unsigned column)
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
	load(rows, slot, ROW_TIME);
}

static void load_begin(const struct filter_rows *rows, struct filter_slot *slot)
{
	EACH_ROW slot->value[i] = begin_ns(rows->run, i);
}

static void load_duration(const struct filter_rows *rows, struct filter_slot *slot)
{
	EACH_ROW slot->value[i] = event_duration(rows->run, i);
}

/* By the clock of the first experiment. */
static void load_absolute(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct process_info *all = rows->session->processes.items;
	uint64_t shift =
		(uint64_t)(all[rows->process->id - 1].wall_start_ns - all[0].wall_start_ns);

	load(rows, slot, ROW_TIME);
	EACH_ROW slot->value[i] += shift;
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
	forget(slot, rows->run->count, 0);
}

/* ---- place ---- */

static void load_thread(const struct filter_rows *rows, struct filter_slot *slot)
{
	fill(slot, rows->run->count, rows->run->thread);
}

static void load_lwp(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct experiment_profile *profile = &rows->process->process->profile;
	uint32_t thread = hash_map_get(&profile->thread_ids, rows->run->thread);

	fill(slot, rows->run->count, thread == HASH_NONE ? 0 : profile->threads.items[thread].tid);
	forget(slot, rows->run->count, 0);
}

static void load_cpu(const struct filter_rows *rows, struct filter_slot *slot)
{
	load(rows, slot, ROW_CPU);
	forget(slot, rows->run->count, PROFILE_NO_CPU);
}

static void load_experiment(const struct filter_rows *rows, struct filter_slot *slot)
{
	fill(slot, rows->run->count, rows->process->id);
}

/* What index objects are made of: rows of experiments that are compared have it in common. */
static uint32_t comparable(const struct filter_rows *rows)
{
	return rows->united ? rows->process->like : rows->process->id;
}

static void load_comparable(const struct filter_rows *rows, struct filter_slot *slot)
{
	fill(slot, rows->run->count, comparable(rows));
}

static void load_sample_map(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_sample(rows, slot);
	EACH_ROW slot->value[i] |= slot->unknown[i] ? 0 : (uint64_t)comparable(rows) << 32;
}

static void load_group(const struct filter_rows *rows, struct filter_slot *slot)
{
	fill(slot, rows->run->count, rows->process->group);
}

static void load_pid(const struct filter_rows *rows, struct filter_slot *slot)
{
	fill(slot, rows->run->count, (uint64_t)rows->process->process->log.pid);
	forget(slot, rows->run->count, 0);
}

static void load_frequency(const struct filter_rows *rows, struct filter_slot *slot)
{
	fill(slot, rows->run->count,
	     rows->session->processes.items[rows->process->id - 1].clock_mhz);
	forget(slot, rows->run->count, 0);
}

static void load_stack_id(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint32_t *stacks = event_stacks(rows->run);

	EACH_ROW slot->value[i] = rows->nodes[stacks[i]];
}

/* ---- clock ---- */

static void load_state(const struct filter_rows *rows, struct filter_slot *slot)
{
	load(rows, slot, ROW_TYPE);
}

static void load_weight(const struct filter_rows *rows, struct filter_slot *slot)
{
	load(rows, slot, ROW_FIELD + PROFILE_WEIGHT);
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

/* ---- fields of traces ---- */

static void load_field(const struct filter_rows *rows, struct filter_slot *slot, unsigned field)
{
	load(rows, slot, ROW_FIELD + field);
}

static void load_object(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, SYNC_OBJECT);
}

static void load_owner(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, SYNC_OWNER);
	forget(slot, rows->run->count, 0);
}

static void load_result(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot,
		   rows->run->kind == EVENTS_TRACE + TRACE_SYNC ? SYNC_RESULT : IO_RESULT);
}

/* The session's number: counters of one name are one in all experiments. */
static void load_counter(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *numbers = event_field(rows->run, COUNTER_NUMBER);

	EACH_ROW
	{
		uint64_t number = numbers[i];

		slot->value[i] =
			number < COUNTERS_MAX ? rows->process->counters[number] : COUNTER_NONE;
	}
	forget(slot, rows->run->count, COUNTER_NONE);
}

static void load_counter_value(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, COUNTER_VALUE);
}

static void load_data_address(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, COUNTER_ADDRESS);
	forget(slot, rows->run->count, 0);
}

/* Where there is but one node, the data is there. */
static void load_data_node(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct process_info *info = &rows->session->processes.items[rows->process->id - 1];
	const uint64_t *node = event_field(rows->run, COUNTER_NODE);
	const uint64_t *address = event_field(rows->run, COUNTER_ADDRESS);
	uint64_t only = info->node_count == 1 ? info->nodes[0].number + 1 : 0;

	EACH_ROW slot->value[i] = (node[i] ? node[i] : address[i] ? only : 0) - UINT64_C(1);
	forget(slot, rows->run->count, UINT64_MAX);
}

static void load_heap_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	static const uint8_t number[HEAP_TYPES] = {
		[HEAP_MALLOC] = 0,  [HEAP_CALLOC] = 0, [HEAP_ALIGNED] = 0,  [HEAP_FREE] = 1,
		[HEAP_REALLOC] = 2, [HEAP_MMAP] = 3,   [HEAP_MUNMAP] = 4,   [HEAP_MREMAP] = 5,
		[HEAP_BRK] = 6,	    [HEAP_LOST] = 7,   [HEAP_SEARCHED] = 8,
	};

	const uint64_t *types = event_column(rows->run, ROW_TYPE);

	EACH_ROW slot->value[i] = number[types[i]];
}

static void load_bytes(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, rows->run->kind == EVENTS_TRACE + TRACE_HEAP ? HEAP_SIZE : IO_BYTES);
}

/* The size of a block that was never released, or that was; 0 for the others. */
static void load_fate(const struct filter_rows *rows, struct filter_slot *slot, bool left)
{
	const struct event_run *run = rows->run;
	const uint8_t *fate = rows->process->process->heap.fate + run->first;
	const uint64_t *sizes = event_field(run, HEAP_SIZE);

	EACH_ROW
	{
		bool fits = left ? fate[i] >= HEAP_FATE_LEFT
				 : fate[i] == HEAP_FATE_RELEASED || fate[i] == HEAP_FATE_TEMPORARY;

		slot->value[i] = fits ? sizes[i] : 0;
	}
}

static void load_leaked(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_fate(rows, slot, true);
}

static void load_freed(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_fate(rows, slot, false);
}

static void load_heap_address(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, HEAP_ADDRESS);
}

static void load_old_address(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, HEAP_OLD);
}

/* ---- what is computed from whole columns ---- */

static void prepare_course(struct session *session)
{
	for (size_t i = 0; i < session->scanned.count; i++) {
		struct session_process *process = &session->scanned.items[i];

		if (!process->heap_course.live)
			experiment_heap_course(&process->process->heap,
					       &process->process->traces[TRACE_HEAP],
					       &process->heap_course);
	}
}

static void load_column(const struct filter_rows *rows, struct filter_slot *slot,
			const uint64_t *column)
{
	memcpy(slot->value, column + rows->run->first, rows->run->count * sizeof(*slot->value));
}

static void load_live(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_column(rows, slot, rows->process->heap_course.live);
}

static void load_change(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_column(rows, slot, rows->process->heap_course.change);
}

static void load_left(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_column(rows, slot, rows->process->heap_course.left);
}

static void prepare_files(struct session *session)
{
	io_rows_of(session, IO_ROWS_FILES);
}

static void prepare_openings(struct session *session)
{
	io_rows_of(session, IO_ROWS_OPENINGS);
}

static void load_io_row(const struct filter_rows *rows, struct filter_slot *slot,
			enum io_row_kind kind)
{
	const uint32_t *of = rows->session->io_rows[kind]->of[rows->process->id - 1];

	EACH_ROW slot->value[i] = of[rows->run->first + i];
}

static void load_file(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_io_row(rows, slot, IO_ROWS_FILES);
}

static void load_opening(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_io_row(rows, slot, IO_ROWS_OPENINGS);
}

static void prepare_places(struct session *session)
{
	io_places_of(session);
}

static void load_place_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct process *process = rows->process->process;
	const uint64_t *names = event_field(rows->run, IO_NAME);
	const uint32_t *of = rows->session->io_places->of[rows->process->id - 1];
	size_t count = process->traces[TRACE_IO].texts.count;

	EACH_ROW slot->value[i] = of[names[i] < count ? names[i] : count];
	forget(slot, rows->run->count, IO_PLACE_UNKNOWN);
}

/* The stand-ins for call stacks that are not there have no address. */
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
	forget(slot, rows->run->count, 0);
}

static void prepare_data(struct session *session)
{
	data_map_of(session);
}

/* Objects with all that they lie in: data_place's numbers. */
static void load_data_object(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint32_t *places = rows->session->data->processes.items[rows->process->id - 1];

	EACH_ROW slot->value[i] = places[rows->run->first + i];
	forget(slot, rows->run->count, DATA_NONE);
}

/* 5 to 9 are 0 to 4 for calls that failed. */
static void load_io_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *types = event_column(rows->run, ROW_TYPE);
	const uint64_t *results = event_field(rows->run, IO_RESULT);

	EACH_ROW
	{
		uint64_t type = types[i];

		slot->value[i] = (type > IO_OTHER ? IO_OTHER : type) + (results[i] ? 5u : 0u);
	}
}

/* Recorded as one more, so that 0 is none. */
static void load_descriptor(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_field(rows, slot, IO_DESCRIPTOR);
	EACH_ROW slot->value[i]--;
	forget(slot, rows->run->count, UINT64_MAX);
}

/* What an opening is a copy of stands in the place of an offset. */
static void load_place(const struct filter_rows *rows, struct filter_slot *slot, bool of_opening)
{
	const uint64_t *types = event_column(rows->run, ROW_TYPE);
	const uint64_t *offsets = event_field(rows->run, IO_OFFSET);

	EACH_ROW
	{
		bool opening = types[i] == IO_OPEN;
		bool has_place = opening == of_opening && !io_requests(rows->run, i);

		slot->value[i] = (has_place ? offsets[i] : 0) - 1;
	}
	forget(slot, rows->run->count, UINT64_MAX);
}

static void load_original(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_place(rows, slot, true);
}

static void load_offset(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_place(rows, slot, false);
}

#define PROPERTY(name_, description_, data_, kinds_, ...)                                          \
	{                                                                                          \
		.info = {name_, description_, data_}, .kinds = (kinds_), .load = __VA_ARGS__       \
	}
/* What is not recorded, why, and what to ask instead. */
#define NOWHERE(name_, description_, reason_)                                                      \
	{                                                                                          \
		.info = {name_, description_, ""}, .reason = (reason_)                             \
	}

#define NO_JAVA	       "Java is recorded as native code; THRID is the thread"
#define NO_COLLECTIONS "they are not recorded; the threads that do them are threads as others"
#define NO_OPENMP      "OpenMP's regions and tasks are not recorded; their bodies are functions: FNAME"
#define NO_RACES       "data races are not recorded; compilers find them (-fsanitize=thread)"
#define NO_DEADLOCKS   "deadlocks are not recorded; `locks' lists the waits (helio collect -s on)"
#define NO_HOMES       "Linux gives no thread a home; CPUID is where the event was, EA_LGRP its data"
#define NO_ACCESS      "helio collect -h does not record it; EA_LGRP is the NUMA node of the data"
#define NO_PHYSICAL    "Linux tells physical addresses to root only, and they are not recorded; "
#define NO_PAGES       "the sizes of pages are not recorded; "

static const struct filter_property properties[] = {
	PROPERTY("TSTAMP", "the event's end, ns since the experiment's start", "all", ALL,
		 load_end),
	PROPERTY("ETSTAMP", "the same", "all", ALL, load_end),
	PROPERTY("TSTAMP_HI", "the same", "all", ALL, load_end),
	PROPERTY("TSTAMP2", "the same", "all", ALL, load_end),
	PROPERTY("TSTAMP_LO", "the event's beginning: TSTAMP - EVT_TIME", "all", ALL, load_begin),
	PROPERTY("ATSTAMP", "the event's end, ns since the first experiment's start", "all", ALL,
		 load_absolute),
	PROPERTY("EVT_TIME", "how long it took, ns; 0 where it took no time", "all", ALL,
		 load_duration),
	PROPERTY("THRID", "number of the thread", "all", ALL, load_thread),
	PROPERTY("LWPID", "the kernel's id of the thread", "all", ALL, load_lwp),
	PROPERTY("CPUID", "number of the processor", "all", ALL, load_cpu),
	PROPERTY("EXPID", "number of the process, as in experiment_list", "all", ALL,
		 load_experiment),
	PROPERTY("EXPID_CMP",
		 "the same; while experiments are compared, that of its like in the first of them",
		 "all", ALL, load_comparable),
	PROPERTY("EXPGRID",
		 "number of the experiment or group of them, as they were named; descendants: "
		 "their founder's",
		 "all", ALL, load_group),
	PROPERTY("PID", "process id", "all", ALL, load_pid),
	PROPERTY("FREQ_MHZ", "clock rate of the processors", "all", ALL, load_frequency),
	PROPERTY("SAMPLE", "number of the sample, as in sample_detail", "all", ALL, load_sample),
	PROPERTY("SAMPLE_MAP", "EXPID_CMP << 32 | SAMPLE", "all", ALL, load_sample_map),
	PROPERTY("VIRTPC", "address of the innermost instruction", "all", ALL, load_pc),
	PROPERTY("STACKID", "number of the call stack", "all", ALL, load_stack_id),
	PROPERTY("MSTATE",
		 "0 user, 1 system, 2 trap, 3 text, 4 data, 5 kernel page fault, 6 user lock, "
		 "7 sleep, 8 wait CPU, 9 stopped",
		 "clock", CLOCK, load_state),
	PROPERTY("NTICK", "intervals of the clock that the event stands for", "clock", CLOCK,
		 load_ticks),
	PROPERTY("NTICK_USEC", "microseconds that the event stands for", "clock", CLOCK,
		 load_weight),
	PROPERTY("HTYPE",
		 "0 allocation, 1 free, 2 realloc, 3 mmap, 4 munmap, 5 mremap, 6 brk; 7, 8: leak "
		 "search",
		 "heap", HEAP, load_heap_type),
	PROPERTY("HSIZE", "bytes", "heap", HEAP, load_bytes),
	PROPERTY("HVADDR", "address of the block", "heap", HEAP, load_heap_address),
	PROPERTY("HOVADDR", "address of the block that it was before", "heap", HEAP,
		 load_old_address),
	PROPERTY("HLEAKED", "bytes, if the block was never released, else 0", "heap", HEAP,
		 load_leaked),
	PROPERTY("HFREED", "bytes, if the block was released, else 0", "heap", HEAP, load_freed),
	PROPERTY("HMEM_USAGE", "bytes that the process had in use after the event", "heap", HEAP,
		 load_live, .prepare = prepare_course),
	PROPERTY("HCUR_ALLOCS", "the same", "heap", HEAP, load_live, .prepare = prepare_course),
	PROPERTY("HCUR_NET_ALLOC",
		 "by how much the event changed them; below 0: 0 - what was freed", "heap", HEAP,
		 load_change, .prepare = prepare_course),
	PROPERTY("HCUR_LEAKS", "bytes allocated up to then that were never released", "heap", HEAP,
		 load_left, .prepare = prepare_course),
	PROPERTY("STYPE",
		 "0 mutex, 1 condition, 2 read lock, 3 write lock, 4 semaphore, 5 barrier, 6 join, "
		 "7 spin lock, 8 futex",
		 "sync", SYNC, load_state),
	PROPERTY("SOBJ", "address of what was waited for", "sync", SYNC, load_object),
	PROPERTY("SOWNER", "kernel's id of the thread that had it then", "sync", SYNC, load_owner),
	PROPERTY("SRQST", "when it was asked for, ns", "sync", SYNC, load_begin),
	PROPERTY("RESULT", "errno of a call that failed, or 0", "sync, io", SYNC | IO, load_result),
	PROPERTY("IOTYPE", "0 read, 1 write, 2 open, 3 close, 4 other; 5 to 9: the same, failed",
		 "io", IO, load_io_type),
	PROPERTY("IOFD", "file descriptor", "io", IO, load_descriptor),
	PROPERTY("IOOFD", "the descriptor that dup, dup2, dup3 or fcntl made the event's a copy of",
		 "io", IO, load_original),
	PROPERTY("IOOFFSET", "the place in the file that the call named, as pread does", "io", IO,
		 load_offset),
	PROPERTY("IOVFD", "number of the descriptor's opening, as in iodetail", "io", IO,
		 load_opening, .prepare = prepare_openings),
	PROPERTY("IOFNAME", "number of the file's name", "io", IO, load_file,
		 .prepare = prepare_files),
	PROPERTY("IONBYTE", "bytes", "io", IO, load_bytes),
	PROPERTY("IORQST", "when the call began, ns", "io", IO, load_begin),
	PROPERTY("IOHEAPBYTES", "bytes", "heap, io", HEAP | IO, load_bytes),
	PROPERTY("HWCTAG", "number of the counter", "counters", COUNTER, load_counter),
	PROPERTY("HWCINT", "events counted", "counters", COUNTER, load_counter_value),
	PROPERTY("VADDR", "data address", "counters", COUNTER, load_data_address),
	NOWHERE("PADDR", "physical data address", NO_PHYSICAL "VADDR is the virtual one"),
	NOWHERE("PHYSPC", "physical address of the instruction",
		NO_PHYSICAL "VIRTPC is the virtual one"),
	NOWHERE("EA_PAGESIZE", "size of the data's page",
		NO_PAGES "memory objects take any: Memory_page_4K, Memory_page_2M"),
	PROPERTY("EA_LGRP", "NUMA node of the data", "counters", COUNTER, load_data_node),
	NOWHERE("PC_PAGESIZE", "size of the instruction's page", NO_PAGES "VIRTPC is the address"),
	NOWHERE("PC_LGRP", "locality group of the instruction", NO_HOMES),
	NOWHERE("LWP_LGRP_HOME", "home of the thread", NO_HOMES),
	NOWHERE("PS_LGRP_HOME", "home of the process", NO_HOMES),
	NOWHERE("MEM_LAT", "latency of the access", NO_ACCESS),
	NOWHERE("MEM_SRC", "where the data came from", NO_ACCESS),
	PROPERTY("DOBJ", "number of the data object: DOBJ IN DNAME(...)", "counters", COUNTER,
		 load_data_object, .prepare = prepare_data),
	PROPERTY("IOFSTYPE", "type of the file system: IOFSTYPE IN FSTYPE(...)", "io", IO,
		 load_place_type, .prepare = prepare_places),
	NOWHERE("JTHREAD", "Java thread", NO_JAVA),
	NOWHERE("GCEVENT", "garbage collection", NO_COLLECTIONS),
	NOWHERE("GCEVENT_MAP", "garbage collection", NO_COLLECTIONS),
	NOWHERE("OMPSTATE", "OpenMP state", NO_OPENMP),
	NOWHERE("CPRID", "OpenMP parallel region", NO_OPENMP),
	NOWHERE("PPRID", "OpenMP parent parallel region", NO_OPENMP),
	NOWHERE("TSKID", "OpenMP task", NO_OPENMP),
	NOWHERE("PTSKID", "OpenMP parent task", NO_OPENMP),
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
	{"HAS_PROP(NAME)", "whether the event has the property", "all"},
	{"DNAME(\"RE\")", "the data objects whose whole name fits, and what they contain",
	 "counters"},
	{"JGROUP(\"RE\")", "Java thread group", ""},
	{"JPARENT(\"RE\")", "parent of the Java thread group", ""},
	{"FSTYPE(\"RE\")", "the types of file systems whose whole name fits", "io"},
	{"FILEIOVFD(\"RE\")", "the IOVFD of files whose whole name fits", "io"},
};

const struct filter_property *filter_property_find(const char *name)
{
	for (size_t i = 0; i < COUNT(properties); i++)
		if (!strcmp(properties[i].info.name, name))
			return &properties[i];
	return NULL;
}

static bool has_kind(const struct session *session, enum event_kind kind)
{
	if (kind == EVENTS_CLOCK)
		return session->has_clock_data;
	return session_has_trace(session, (enum trace_kind)(kind - EVENTS_TRACE));
}

char *filter_property_lack(const struct session *session, const struct filter_property *property)
{
	const struct filter_property_info *info = &property->info;
	struct strbuf text = {0};

	if (!property->kinds)
		return xasprintf("%s (%s): %s", info->name, info->description, property->reason);
	if ((property->load == load_data_address || property->load == load_data_node) &&
	    !session_has_addresses(session))
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
	if (index >= COUNT(properties))
		return false;
	*info = properties[index].info;
	return true;
}

bool filter_function_at(size_t index, struct filter_property_info *info)
{
	if (index >= COUNT(others))
		return false;
	*info = others[index];
	return true;
}
