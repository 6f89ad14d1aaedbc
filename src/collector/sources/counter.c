/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflow profiling of counters: hardware counters, software events of the kernel and watch
 * points are all events of perf with `sigtrap`, as the clock's are (clock_perf.c, whose handler
 * gets their signals too): opened in the first thread, inherited by all others.
 *
 * Two events of a thread that overflow in one system call, fault or interrupt raise one signal:
 * the other is lost, and with it, for a counter, a period.  The kernel's account of each thread
 * tells faults, switches and CPU time exactly, so for these each signal, whoever's it is,
 * finds out what is due, and the value recorded is what has been counted.  For
 * all others it is the period.
 *
 * What no overflow tells is told at the end: what was left over after the last overflow, and,
 * where it is more than that can be, what was lost.  What the collector itself did, within
 * its handlers and wrapped functions, is kept apart.  More hardware counters than the processor
 * has registers take turns: the kernel tells for how long each stood still.
 */
#include "collector/sources/counter.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_window.h"
#include "collector/core/log.h"
#include "collector/core/process_cpu.h"
#include "collector/core/signals.h"
#include "collector/core/stack.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/core/trace.h"
#include "collector/sources/clock_signals.h"
#include "collector/sources/overhead.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "collector/unwind/rule.h"
#include "format/counter.h"

#include <link.h>
#include <linux/perf_event.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { REG_PC = 16 }; /* DWARF number of x86-64 */

/* Where the kernel's account of the calling thread has a counter's exact value. */
enum exact { EXACT_NONE, EXACT_FAULTS, EXACT_MINOR, EXACT_MAJOR, EXACT_SWITCHES, EXACT_CPU };

struct counter {
	struct format_counter asked;
	enum exact exact;
	enum exact near; /* the same of one that leaves the kernel's part out */
	_Atomic int fd;
	_Atomic uint64_t settled;  /* counts that were recorded, or are not to be */
	_Atomic uint64_t own;	   /* counts of the collector itself, not yet recorded */
	_Atomic uint64_t left_out; /* of `settled`: in pauses */
	_Atomic uint64_t own_near; /* what handlers had by the thread's account */
};

static struct counter counters[COUNTERS_MAX];
static unsigned counter_count;
static bool counts_faults; /* exactly */
static bool has_nodes;	   /* of memory, several */

static bool is_of_faults(enum exact account)
{
	return account >= EXACT_FAULTS && account <= EXACT_MAJOR;
}

static bool is_fault(uint64_t number)
{
	return number < counter_count && is_of_faults(counters[number].exact);
}

static bool is_fault_near(uint64_t number)
{
	return is_of_faults(counters[number].near);
}

/* ---- parameters ---- */

/* The next counter; false: there is none. */
static bool read_counter(const char **at, struct format_counter *counter)
{
	uint64_t numbers[COUNTER_NUMBERS];

	for (int i = 0; i < COUNTER_NUMBERS; i++) {
		numbers[i] = text_number(*at, at);
		if (**at != (i < COUNTER_NUMBERS - 1 ? '.' : ',') && **at != ';' && **at)
			return false;
		if (**at == '.' || **at == ',')
			++*at;
		else if (i < COUNTER_NUMBERS - 1)
			return false;
	}
	*counter = (struct format_counter){
		.type = numbers[0],
		.config = numbers[1],
		.config1 = numbers[2],
		.config2 = numbers[3],
		.bp_type = numbers[4],
		.period = numbers[5],
		.flags = numbers[6],
		.program = numbers[7],
	};
	return counter->period;
}

static enum exact account_of(const struct format_counter *asked, uint64_t flags)
{
	static const enum exact software[] = {
		[PERF_COUNT_SW_PAGE_FAULTS] = EXACT_FAULTS,
		[PERF_COUNT_SW_PAGE_FAULTS_MIN] = EXACT_MINOR,
		[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = EXACT_MAJOR,
		[PERF_COUNT_SW_CONTEXT_SWITCHES] = EXACT_SWITCHES,
		[PERF_COUNT_SW_TASK_CLOCK] = EXACT_CPU,
		[PERF_COUNT_SW_CPU_CLOCK] = EXACT_CPU,
	};
	const uint64_t parts = COUNTER_EXCLUDE_USER | COUNTER_EXCLUDE_KERNEL;

	if (asked->type != PERF_TYPE_SOFTWARE || (asked->flags & parts) != flags ||
	    asked->config >= sizeof(software) / sizeof(software[0]))
		return EXACT_NONE;
	return software[asked->config];
}

static void make_present(const void *memory, size_t size);

static bool read_param(const char *value)
{
	counter_count = 0;
	counts_faults = false;
	while (counter_count < COUNTERS_MAX &&
	       read_counter(&value, &counters[counter_count].asked)) {
		struct counter *counter = &counters[counter_count++];

		atomic_store(&counter->fd, DESCRIPTOR_NONE);
		counter->exact = account_of(&counter->asked, 0);
		counter->near = account_of(&counter->asked, COUNTER_EXCLUDE_KERNEL);
		counts_faults |= is_fault(counter_count - 1);
	}
	own_use_set_present(counts_faults ? make_present : NULL);
	return counter_count;
}

/* ---- exact counts ---- */

/* Of the calling thread, since it began. */
static uint64_t exact_count(enum exact exact)
{
	struct rusage usage = {0};

	if (exact == EXACT_CPU)
		return clock_own_cpu_ns();
	sys_call(SYS_getrusage, RUSAGE_THREAD, &usage, 0, 0);
	if (exact == EXACT_SWITCHES)
		return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	return (exact == EXACT_MAJOR ? 0 : (uint64_t)usage.ru_minflt) +
	       (exact == EXACT_MINOR ? 0 : (uint64_t)usage.ru_majflt);
}

/* What the thread has counted and nothing was said of, which at least `least` is; or 0. */
static uint64_t take_due(struct thread *thread, unsigned number, uint64_t least)
{
	uint64_t count = exact_count(counters[number].exact);
	uint64_t due = count - thread->counted[number];

	thread->looked_at[number] = count;
	if (due < least)
		return 0;
	thread->counted[number] = count;
	return due;
}

/* ---- events ---- */

/* Where the program's file is loaded: what its own addresses have to be moved by. */
static uint64_t program_bias(void)
{
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	uint64_t count = getauxval(AT_PHNUM);

	for (uint64_t i = 0; segment && i < count; i++)
		if (segment[i].p_type == PT_PHDR)
			return (uint64_t)segment - segment[i].p_vaddr;
	return 0;
}

static bool is_program(uint64_t inode)
{
	struct stat st;

	return !sys_call(SYS_newfstatat, AT_FDCWD, "/proc/self/exe", &st, 0) && st.st_ino == inode;
}

static int open_event(unsigned number)
{
	const struct format_counter *asked = &counters[number].asked;
	struct perf_event_attr attr = format_counter_attr(asked);

	if (asked->program)
		attr.config1 += program_bias();
	attr.sig_data = PERF_COOKIE | (PERF_EVENT_COUNTER + number);
	attr.disabled = 1; /* what comes too often must be known to whom switches it off */
	return (int)sys_call6(SYS_perf_event_open, SYS_ARG(&attr), 0, -1, -1, PERF_FLAG_FD_CLOEXEC,
			      0);
}

static void warn(unsigned number, const char *why, int error)
{
	char room[160];
	struct text line = TEXT_ON(room);

	text_puts(&line, "counter ");
	text_decimal(&line, number);
	text_puts(&line, why);
	log_warning(room, error);
}

static void open_counter(unsigned number)
{
	struct counter *counter = &counters[number];

	atomic_store(&counter->settled, 0);
	atomic_store(&counter->own, 0);
	atomic_store(&counter->left_out, 0);
	atomic_store(&counter->own_near, 0);
	if (counter->asked.program && !is_program(counter->asked.program))
		return; /* the variable is another program's */
	/* Each signal stops the thread for the tracer, which is a switch, which raises the next. */
	if (counter->exact == EXACT_SWITCHES && task_is_traced(sys_gettid())) {
		warn(number, " is not recorded under a tracer", 0);
		return;
	}
	struct thread *thread = thread_current_if_known();
	int fd = open_event(number);

	if (thread && counter->exact)
		take_due(thread, number, 0); /* what was counted before */

	if (fd < 0)
		warn(number, " is not recorded in this process", -fd);
	else if (!descriptor_hold(fd, &counter->fd))
		warn(number,
		     " is not recorded in this process: its limit on open files leaves no room for "
		     "another",
		     EMFILE);
	else
		sys_ioctl(counter->fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Whether the list of the kernel has more than one node: "0", "0-1", "0,2". */
static bool machine_has_nodes(void)
{
	char list[64];
	int fd = sys_open("/sys/devices/system/node/online", O_RDONLY | O_CLOEXEC, 0);
	long size = fd < 0 ? 0 : sys_read(fd, list, sizeof(list));

	if (fd >= 0)
		sys_close(fd);
	for (long i = 0; i < size; i++)
		if (list[i] == '-' || list[i] == ',')
			return true;
	return false;
}

static void begin(void)
{
	has_nodes = machine_has_nodes();
	own_use_make_present(rule_cache, sizeof(rule_cache));
	if (!signal_take(CLOCK_SIGNAL_PERF, clock_handlers.perf)) {
		log_warning("SIGTRAP cannot be handled: counters are not recorded", 0);
		return;
	}
	for (unsigned i = 0; i < counter_count; i++)
		open_counter(i);
}

static void control_all(unsigned long request)
{
	for (unsigned i = 0; i < counter_count; i++)
		sys_ioctl(descriptor_number(&counters[i].fd), request, 0);
}

void counter_pause(void)
{
	control_all(PERF_EVENT_IOC_DISABLE);
}

void counter_resume(void)
{
	control_all(PERF_EVENT_IOC_ENABLE);
}

void counter_forget(void)
{
	for (unsigned i = 0; i < counter_count; i++)
		descriptor_drop(&counters[i].fd);
}

/* ---- records ---- */

static bool is_ours(const struct unwind_regs *regs)
{
	uint64_t pc = regs->reg[REG_PC];

	return pc >= collector.text_low && pc < collector.text_high;
}

static void add(_Atomic uint64_t *to, uint64_t value)
{
	atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

/* With the node that the page is on at this moment. */
static uint64_t with_node(uint64_t address)
{
	void *page = (void *)(address & ~UINT64_C(0xfff));
	int node = -1;

	if (!has_nodes || !address || address >> COUNTER_NODE_SHIFT ||
	    sys_call6(SYS_move_pages, 0, 1, SYS_ARG(&page), 0, SYS_ARG(&node), 0) || node < 0 ||
	    node >= COUNTER_NODES_MAX)
		return address;
	return address | (uint64_t)(node + 1) << COUNTER_NODE_SHIFT;
}

static void record(struct thread *thread, unsigned number, uint64_t value, uint64_t address,
		   const struct unwind_regs *regs)
{
	struct counter *counter = &counters[number];
	uint64_t now_ns = clock_now_ns();

	add(&counter->settled, value);
	if (!clock_is_recording(thread, now_ns)) {
		add(&counter->left_out, value);
		return;
	}
	const uint64_t fields[COUNTER_FIELDS] = {
		[COUNTER_NUMBER] = number,
		[COUNTER_VALUE] = value,
		[COUNTER_ADDRESS] =
			counter->asked.flags & COUNTER_HAS_ADDRESS ? with_node(address) : 0,
	};

	trace_event_locked(thread, TRACE_COUNTER, COUNTER_OVERFLOW, now_ns,
			   stack_of_context(thread, regs), fields);
}

/* What a signal says of a counter: of its own events at least one, of others' whole periods. */
static uint64_t due_by(struct thread *thread, unsigned number, const struct counter_signal *signal)
{
	uint64_t period = counters[number].asked.period;
	bool own = number == signal->number;

	if (thread && counters[number].exact)
		return take_due(thread, number, own ? 1 : period);
	return own ? period : 0;
}

/*
 * A signal within the collector tells of one period of its own.  Where events have rested, what is
 * due besides is the program's, of the rest, and stays due: the next signal has a place for it.
 */
static void take_own(struct thread *thread, unsigned number, uint64_t due, bool told)
{
	uint64_t most = told ? counters[number].asked.period : 0;

	if (thread && counters[number].exact && overhead_has_rested() && due > most) {
		thread->counted[number] -= due - most;
		due = most;
	}
	add(&counters[number].own, due);
}

void counter_signal(struct thread *thread, const struct counter_signal *signal,
		    const struct unwind_regs *regs)
{
	bool ours = !signal->locked || signal->waited || is_ours(regs);
	uint64_t due[COUNTERS_MAX];

	/* Before anything of our own can count. */
	for (unsigned i = 0; i < counter_count; i++) {
		due[i] = due_by(thread, i, signal);
		if (thread && is_fault_near(i))
			thread->looked_at[i] = exact_count(counters[i].near);
	}
	for (unsigned i = 0; i < counter_count; i++) {
		bool same = i == signal->number || (is_fault(i) && is_fault(signal->number));

		if (due[i] && ours)
			take_own(thread, i, due[i], same);
		else if (due[i])
			record(thread, i, due[i], same ? signal->address : 0, regs);
	}
}

static void leave_out(struct thread *thread, unsigned number, uint64_t count)
{
	thread->counted[number] += count;
	thread->looked_at[number] += count;
}

void counter_own_faults(struct thread *thread)
{
	for (unsigned i = 0; i < counter_count; i++) {
		if (is_fault_near(i))
			add(&counters[i].own_near,
			    exact_count(counters[i].near) - thread->looked_at[i]);
		if (!is_fault(i))
			continue;
		uint64_t own = exact_count(counters[i].exact) - thread->looked_at[i];

		leave_out(thread, i, own);
		add(&counters[i].own, own);
	}
}

void counter_thread_begin(struct thread *thread)
{
	for (unsigned i = 0; i < counter_count; i++)
		if (is_fault(i))
			leave_out(thread, i, exact_count(counters[i].exact));
}

void counter_own_begin(struct own_faults *own)
{
	for (unsigned i = 0; i < counter_count && counts_faults; i++)
		own->faults[i] = is_fault(i) ? exact_count(counters[i].exact) : 0;
}

void counter_own_end(struct thread *thread, const struct own_faults *own)
{
	for (unsigned i = 0; i < counter_count && counts_faults; i++)
		if (is_fault(i))
			leave_out(thread, i, exact_count(counters[i].exact) - own->faults[i]);
}

/* The kernel's events do not count these pages as faults, but the thread's account does. */
static void make_present(const void *memory, size_t size)
{
	enum { PAGE = 4096 };
	uint64_t start = (uint64_t)memory & -(uint64_t)PAGE;
	struct own_faults own;

	struct thread *thread = thread_current_if_known();
	uint64_t mask = sys_block_signals(); /* one of ours would look at the account in between */

	counter_own_begin(&own);
	sys_call(SYS_madvise, start, ((uint64_t)memory + size - start + PAGE - 1) & -(uint64_t)PAGE,
		 MADV_POPULATE_WRITE, 0);
	if (thread && thread->tid == sys_gettid()) /* else a raw one, on its maker's variables */
		counter_own_end(thread, &own);
	sys_restore_signals(mask);
}

bool counter_is_any(void)
{
	return counter_count;
}

bool counter_is_switch(uint64_t number)
{
	return number < counter_count && counters[number].exact == EXACT_SWITCHES;
}

bool counter_is_timer(uint64_t number)
{
	return number < counter_count && counters[number].exact == EXACT_CPU;
}

static void write_rest(struct thread *thread, unsigned number, unsigned type, uint64_t value)
{
	static const uint64_t stand_ins[COUNTER_TYPES] = {
		[COUNTER_RECORDING] = FORMAT_PC_RECORD_COUNTS,
		[COUNTER_FINAL] = FORMAT_PC_FINAL_COUNTS,
		[COUNTER_LOST] = FORMAT_PC_LOST_COUNTS,
		[COUNTER_FROZEN] = FORMAT_PC_FROZEN_COUNTS,
	};
	const uint64_t fields[COUNTER_FIELDS] = {
		[COUNTER_NUMBER] = number, [COUNTER_VALUE] = value};

	if (!value)
		return;
	thread_lock(thread);
	trace_event_locked(thread, TRACE_COUNTER, type, clock_now_ns(),
			   stacktable_intern(0, stand_ins[type], NULL), fields);
	thread_unlock(thread);
}

void counter_thread_end(struct thread *thread)
{
	for (unsigned i = 0; i < counter_count; i++) {
		struct counter *counter = &counters[i];
		uint64_t due = counter->exact ? take_due(thread, i, 0) : 0;

		add(&counter->settled, due);
		write_rest(thread, i, COUNTER_FINAL, due);
	}
}

/* What it would have counted besides at the rate of the time in which it had a register. */
static uint64_t frozen_counts(unsigned number, const struct format_counter_reading *reading,
			      uint64_t recorded)
{
	struct format_counter_reading whole = *reading;
	bool took_turns = counter_stood_still(reading);

	if (overhead_has_rested() && whole.enabled_ns < collector_cpu_ns())
		whole.enabled_ns = collector_cpu_ns();
	if (counters[number].exact || !counter_stood_still(&whole))
		return 0;
	if (!reading->running_ns) {
		warn(number, " never had a register: nothing was counted", 0);
		return 0;
	}
	warn(number,
	     took_turns ? " took turns with others: what it missed is estimated"
			: " rested where measuring took too much: what it missed is estimated",
	     0);
	return counter_missed(&whole, recorded);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * What of the rest was counted in pauses: as much as of what signals told.  The kernel counts
 * there, too, and two events in one leave one signal.
 */
static uint64_t rest_left_out(const struct thread *thread, const struct counter *counter,
			      uint64_t told, uint64_t rest)
{
	uint64_t out = atomic_load(&counter->left_out);

	if (!told)
		return clock_is_recording(thread, clock_now_ns()) ? 0 : rest;
	if (out >= told)
		return rest;
	for (; told >> 32; told /= 2) /* so that no product exceeds 64 bits */
		out /= 2;
	return rest / told * out + rest % told * out / told;
}

static void write_rests(struct thread *thread, unsigned number)
{
	struct counter *counter = &counters[number];
	uint64_t own = atomic_exchange(&counter->own, 0);
	uint64_t told = atomic_fetch_add(&counter->settled, own), settled = told + own;
	uint64_t left_over_max = (counter->asked.period - 1) * atomic_load(&collector.threads);
	struct format_counter_reading reading = {0};

	if (sys_read(descriptor_number(&counter->fd), &reading, sizeof(reading)) != sizeof(reading))
		reading = (struct format_counter_reading){0};
	uint64_t rest = reading.value > settled ? reading.value - settled : 0;

	atomic_fetch_add(&counter->settled, rest);
	rest -= rest_left_out(thread, counter, told, rest);
	uint64_t final = smaller(rest, left_over_max);
	uint64_t near = atomic_load(&counter->own_near);
	/* events in a handler, which it blocks, leave one signal */
	uint64_t own_unseen = smaller(rest - final, near > own ? near - own : 0);
	uint64_t recorded = settled + rest - atomic_load(&counter->left_out);

	write_rest(thread, number, COUNTER_RECORDING, own + own_unseen);
	write_rest(thread, number, COUNTER_FINAL, final);
	write_rest(thread, number, COUNTER_LOST, rest - final - own_unseen);
	write_rest(thread, number, COUNTER_FROZEN, frozen_counts(number, &reading, recorded));
}

void counter_finish(void)
{
	struct thread *thread = trace_is_on(TRACE_COUNTER) ? thread_current() : NULL;

	if (!thread)
		return;
	counter_thread_end(thread);
	for (unsigned i = 0; i < counter_count; i++)
		write_rests(thread, i);
}

const struct trace_source counter_source = {
	.kind = TRACE_COUNTER, .read_param = read_param, .begin = begin};
