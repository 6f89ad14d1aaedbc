/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel and the processor let us count, found out by trying: all events of a run are
 * open at once, since there are only so many registers of a kind.
 */
#include "launch/counter/counter.h"

#include "base/terminal.h"
#include "launch/probe.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int counter_open(const struct format_counter *event)
{
	struct perf_event_attr attr = format_counter_attr(event);

	attr.disabled = 1;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool counter_can_open(const struct format_counter *event)
{
	int fd = counter_open(event);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_watch(const struct counter *counter)
{
	return counter->event.type == PERF_TYPE_BREAKPOINT;
}

static bool is_hardware(const struct counter *counter)
{
	return counter->event.type != PERF_TYPE_SOFTWARE && !is_watch(counter);
}

/* The most precise way that there is, which tells the data's address; false: there is none. */
static bool make_precise(struct counter *counter)
{
	struct format_counter event = counter->event;

	for (uint64_t precise = COUNTER_PRECISE; is_hardware(counter) && precise; precise--) {
		event.flags = (counter->event.flags & ~(uint64_t)COUNTER_PRECISE) | precise |
			      COUNTER_HAS_ADDRESS;
		if (counter_can_open(&event)) {
			counter->event = event;
			return true;
		}
	}
	return false;
}

/* What + asks for. */
static void add_address(struct counter *counter, struct diag_list *diags)
{
	if (!counter->backtrack || counter->event.flags & COUNTER_HAS_ADDRESS ||
	    make_precise(counter))
		return;
	diag_add(diags, DIAG_WARNING,
		 "HW counter '%s' tells no data address here: its + is ignored", counter->name);
}

static void explain(const struct counter *counter, int error, struct diag_list *diags)
{
	struct strbuf reason = {0};

	if (error == ENOSPC || (error == EINVAL && is_watch(counter)))
		strbuf_puts(&reason, error == ENOSPC
					     ? "the processor has no register left for it (it "
					       "watches 4 places at most)"
					     : "the processor cannot watch this address");
	else if (error == EBUSY)
		strbuf_puts(&reason, "a debugger or tracer is attached, and its stops are context "
				     "switches: count them without it");
	else if (is_hardware(counter) &&
		 (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL))
		strbuf_puts(&reason,
			    "this processor has no such counter, or the virtual machine shows "
			    "none; software events as page-faults work, and helio collect -h "
			    "lists what there is");
	else
		probe_explain(error, &reason);
	diag_add(diags, DIAG_ERROR, "HW counter profiling is not supported on this system: %s: %s",
		 counter->name, reason.text);
	strbuf_fini(&reason);
}

static bool is_switches(const struct counter *counter)
{
	return counter->event.type == PERF_TYPE_SOFTWARE &&
	       counter->event.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/* The event open, perhaps less than all of it; or a negative errno. */
static int open_what_is_allowed(struct counter *counter, struct diag_list *diags)
{
	if (is_switches(counter) && probe_is_traced())
		return -EBUSY;
	int fd = counter_open(&counter->event);

	if ((fd != -EACCES && fd != -EPERM) || counter_is_of_kernel(counter) ||
	    counter->event.flags & COUNTER_EXCLUDE_KERNEL)
		return fd;
	struct format_counter without = counter->event;

	without.flags |= COUNTER_EXCLUDE_KERNEL;
	int part = counter_open(&without);

	if (part < 0)
		return fd;
	counter->event = without;
	diag_add(diags, DIAG_WARNING,
		 "HW counter '%s' counts only what happens outside the kernel: all of it as root, "
		 "with CAP_PERFMON, or after sysctl kernel.perf_event_paranoid=1",
		 counter->name);
	return part;
}

/* The same event, which only counts: it needs the same registers. */
static int open_to_count(const struct counter *counter)
{
	struct perf_event_attr attr = format_counter_attr(&counter->event);

	attr.sample_period = 0;
	attr.precise_ip = 0;
	attr.sigtrap = attr.remove_on_exec = attr.inherit = attr.inherit_thread = 0;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool stands_still(int fd)
{
	struct format_counter_reading reading;

	return fd >= 0 && read(fd, &reading, sizeof(reading)) == sizeof(reading) &&
	       counter_stood_still(&reading);
}

/* More counters than registers: the kernel opens them all, and lets them take turns. */
static void warn_of_turns(const struct counter_list *list, struct diag_list *diags)
{
	int counting[COUNTERS_MAX];
	unsigned still = 0, hardware = 0;

	for (unsigned i = 0; i < list->count; i++)
		counting[i] = is_hardware(&list->items[i]) ? open_to_count(&list->items[i]) : -1;
	for (unsigned i = 0; i < list->count; i++) {
		hardware += counting[i] >= 0;
		still += stands_still(counting[i]);
	}
	for (unsigned i = 0; i < list->count; i++)
		if (counting[i] >= 0)
			close(counting[i]);
	if (still)
		diag_add(diags, DIAG_WARNING,
			 "The processor has no registers for %u hardware counters at once: they "
			 "take turns, and what each misses is estimated (collector_hwcs_frozen); "
			 "record fewer at a time for exact counts",
			 hardware);
}

enum status counter_prepare(struct counter_list *list, const char *program, struct diag_list *diags)
{
	int open[COUNTERS_MAX];
	unsigned done = 0;
	enum status status = STATUS_OK;

	for (; done < list->count && !status; done++) {
		struct counter *counter = &list->items[done];

		open[done] = -1;
		if (!counter_resolve(counter, program, diags)) {
			status = STATUS_INVALID;
			continue;
		}
		add_address(counter, diags);
		if (is_watch(counter) && !counter_watch_works(counter->event.bp_type)) {
			diag_add(diags, DIAG_ERROR, "%s: " COUNTER_WATCH_SILENT_TEXT,
				 counter->name);
			status = STATUS_INVALID;
			continue;
		}
		open[done] = open_what_is_allowed(counter, diags);
		if (open[done] >= 0)
			continue;
		explain(counter, -open[done], diags);
		status = STATUS_INVALID;
	}
	while (done--)
		if (open[done] >= 0)
			close(open[done]);
	if (!status)
		warn_of_turns(list, diags);
	return status;
}

/* ---- the list ---- */

struct listing {
	FILE *file;
	bool hardware; /* which half of the table */
	unsigned shown;
};

static void show(const struct counter *counter, void *arg)
{
	struct listing *listing = arg;
	struct counter tried = *counter;

	tried.event.period = counter->paces[COUNTER_ON];
	if (is_hardware(counter) != listing->hardware)
		return;
	if (!counter_can_open(&tried.event)) {
		if (counter_is_of_kernel(counter))
			return;
		tried.event.flags |= COUNTER_EXCLUDE_KERNEL;
		if (!counter_can_open(&tried.event))
			return;
	}
	listing->shown++;
	bool always = tried.event.flags & COUNTER_HAS_ADDRESS;

	terminal_printf(listing->file, "    %-20s %9llu  (%s, %s%s%s)\n", counter->name,
			(unsigned long long)tried.event.period, counter->title, counter->unit,
			always		       ? ", data addresses"
			: make_precise(&tried) ? ", data addresses with +"
					       : "",
			tried.event.flags & COUNTER_EXCLUDE_KERNEL ? ", not in the kernel" : "");
}

static void show_half(FILE *file, const char *title, bool hardware, const char *none)
{
	struct listing listing = {.file = file, .hardware = hardware};

	terminal_printf(file, "\n%s\n", title);
	counter_each(show, &listing);
	if (!listing.shown)
		terminal_printf(file, "    %s\n", none);
}

enum counter_watching counter_watching(void)
{
	struct format_counter event = {.type = PERF_TYPE_BREAKPOINT,
				       .bp_type = HW_BREAKPOINT_W,
				       .config1 = (uint64_t)&event & ~(uint64_t)7,
				       .config2 = 8,
				       .period = 1,
				       .flags = COUNTER_EXCLUDE_KERNEL};

	if (!counter_can_open(&event))
		return COUNTER_WATCH_DENIED;
	return counter_watch_works(HW_BREAKPOINT_W) ? COUNTER_WATCH_WORKS : COUNTER_WATCH_SILENT;
}

static void show_watch_points(FILE *file)
{
	static const char *const texts[] = {
		[COUNTER_WATCH_DENIED] = "none: the kernel allows none here",
		[COUNTER_WATCH_SILENT] = "none: " COUNTER_WATCH_SILENT_TEXT,
		[COUNTER_WATCH_WORKS] = "mem:SYMBOL[+OFFSET][/LENGTH][:w|rw|x]",
	};
	enum counter_watching watching = counter_watching();

	terminal_printf(file, "\nWatch points (the processor has 4):\n    %s\n", texts[watching]);
	if (watching == COUNTER_WATCH_WORKS)
		fputs("    mem:0xADDRESS[/LENGTH][:w|rw|x]       1  (events, data addresses)\n",
		      file);
}

void counter_show_all(FILE *file)
{
	fputs("Counters of this machine, for helio collect -h NAME[,INTERVAL][,NAME...]; an "
	      "interval is\non, hi, lo or a number. Shown is what on means.\n",
	      file);
	show_half(file, "Software events of the kernel:", false,
		  "none: the kernel does not let this user count; helio doctor tells why");
	show_watch_points(file);
	show_half(file, "Hardware counters (and those of libpfm4, and rHEX):", true,
		  "HW counter profiling is not supported on this system: the processor shows "
		  "none");
}
