/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflow profiling of counters: hardware counters, software events of the kernel and watch
 * points are all events of perf with `sigtrap`, as the clock's are (clock_perf.c, whose handler
 * gets their signals too): opened in the first thread, inherited by all others.  Their values
 * are periods.
 *
 * What no overflow tells is told at the end.  The kernel's own total, less what was recorded, is
 * what every thread had left over after its last overflow, and, where it is more than that can
 * be, overflows whose signals were lost because another one was pending.  What the collector
 * itself did, within its handlers and wrapped functions, is kept apart.
 */
#include "collector/sources/counter.h"

#include "collector/core/sys.h"
#include "collector/core/text.h"
#include "collector/core/trace.h"
#include "collector/sources/clock.h"
#include "collector/wrap/descriptor.h"
#include "format/counter.h"

#include <link.h>
#include <linux/perf_event.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum { REG_PC = 16 }; /* DWARF number of x86-64 */

struct counter {
	struct format_counter asked;
	_Atomic int fd;
	_Atomic uint64_t settled; /* counts that were recorded, or are not to be */
	_Atomic uint64_t own;	  /* counts of the collector itself, not yet recorded */
};

static struct counter counters[COUNTERS_MAX];
static unsigned counter_count;

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

static bool read_param(const char *value)
{
	counter_count = 0;
	while (counter_count < COUNTERS_MAX && read_counter(&value, &counters[counter_count].asked))
		atomic_store(&counters[counter_count++].fd, DESCRIPTOR_NONE);
	return counter_count;
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
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)asked->type,
		.config = asked->config,
		.config1 = asked->config1 + (asked->program ? program_bias() : 0),
		.config2 = asked->config2,
		.bp_type = (uint32_t)asked->bp_type,
		.sample_period = asked->period,
		.sample_type = PERF_SAMPLE_ADDR,
		.precise_ip = asked->flags & COUNTER_PRECISE,
		.exclude_user = !!(asked->flags & COUNTER_EXCLUDE_USER),
		.exclude_kernel = !!(asked->flags & COUNTER_EXCLUDE_KERNEL),
		.exclude_hv = !!(asked->flags & COUNTER_EXCLUDE_HV),
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.sig_data = PERF_COOKIE | (PERF_EVENT_COUNTER + number),
	};

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
	if (counter->asked.program && !is_program(counter->asked.program))
		return; /* the variable is another program's */
	int fd = open_event(number);

	if (fd >= 0 && !descriptor_hold(fd, &counter->fd))
		fd = -EMFILE;
	if (fd < 0)
		warn(number, " is not recorded in this process", -fd);
}

static void begin(void)
{
	if (!perf_signal_take()) {
		log_warning("SIGTRAP cannot be handled: counters are not recorded", 0);
		return;
	}
	for (unsigned i = 0; i < counter_count; i++)
		open_counter(i);
}

static void control_all(unsigned long request)
{
	for (unsigned i = 0; i < counter_count; i++)
		sys_ioctl(counters[i].fd, request, 0);
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

void counter_overflow(struct thread *thread, uint64_t number, uint64_t address, bool waited,
		      const struct unwind_regs *regs)
{
	uint64_t now_ns = clock_now_ns();

	if (number >= counter_count)
		return;
	struct counter *counter = &counters[number];
	uint64_t value = counter->asked.period;

	if (!thread || waited || is_ours(regs)) {
		atomic_fetch_add_explicit(&counter->own, value, memory_order_relaxed);
		return;
	}
	atomic_fetch_add_explicit(&counter->settled, value, memory_order_relaxed);
	if (!clock_is_recording(thread, now_ns))
		return;
	const uint64_t fields[COUNTER_FIELDS] = {

		[COUNTER_NUMBER] = number,
		[COUNTER_VALUE] = value,
		[COUNTER_ADDRESS] = counter->asked.flags & COUNTER_HAS_ADDRESS ? address : 0,
	};

	trace_event_locked(thread, TRACE_COUNTER, COUNTER_OVERFLOW, now_ns,
			   stack_of_context(thread, regs), fields);
}

static void write_rest(struct thread *thread, unsigned number, unsigned type, uint64_t value)
{
	static const uint64_t stand_ins[COUNTER_TYPES] = {
		[COUNTER_RECORDING] = FORMAT_PC_RECORD_COUNTS,
		[COUNTER_FINAL] = FORMAT_PC_FINAL_COUNTS,
		[COUNTER_LOST] = FORMAT_PC_LOST_COUNTS,
	};
	const uint64_t fields[COUNTER_FIELDS] = {
		[COUNTER_NUMBER] = number, [COUNTER_VALUE] = value};

	if (value)
		trace_event(thread, TRACE_COUNTER, type, clock_now_ns(),
			    stacktable_intern(0, stand_ins[type], NULL), fields);
}

static void write_rests(struct thread *thread, unsigned number)
{
	struct counter *counter = &counters[number];
	uint64_t own = atomic_exchange(&counter->own, 0);
	uint64_t settled = atomic_fetch_add(&counter->settled, own) + own;
	uint64_t left_over_max = (counter->asked.period - 1) * atomic_load(&collector.threads);
	uint64_t total = settled;

	if (sys_read(counter->fd, &total, sizeof(total)) < 0 || total < settled)
		total = settled;
	uint64_t rest = total - settled;
	uint64_t final = rest < left_over_max ? rest : left_over_max;

	atomic_fetch_add(&counter->settled, rest);
	write_rest(thread, number, COUNTER_RECORDING, own);
	write_rest(thread, number, COUNTER_FINAL, final);
	write_rest(thread, number, COUNTER_LOST, rest - final);
}

static void finish(void)
{
	struct thread *thread = thread_current();

	for (unsigned i = 0; thread && i < counter_count; i++)
		write_rests(thread, i);
}

const struct trace_source counter_source = {.kind = TRACE_COUNTER,

					    .read_param = read_param,
					    .begin = begin,
					    .finish = finish};
