/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of -h.  What the numbers must be is in linux/perf_event.h, and for processors'
 * events in Intel's manuals; libpfm4 is told which processor it is to take this one for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "launch/counter/counter.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static struct counter_list list;
static struct diag_list diags;

static bool read_all(const char *text)
{
	list = (struct counter_list){0};
	diag_fini(&diags);
	return counter_read(&list, text, &diags);
}

static void assert_event(unsigned i, const char *name, uint64_t type, uint64_t config,
			 uint64_t period)
{
	assert_true(i < list.count);
	assert_string_equal(list.items[i].name, name);
	assert_int_equal(list.items[i].event.type, type);
	assert_int_equal(list.items[i].event.config, config);
	assert_int_equal(list.items[i].event.period, period);
}

static void test_names(void **state)
{
	static const struct {
		const char *text, *name;
		uint64_t type, config;
	} names[] = {
		{"page-faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"CS", "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", "insts", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
		{"dtlbm", "dtlbm", PERF_TYPE_HW_CACHE,
		 PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
		{"llc-load-misses", "l3m", PERF_TYPE_HW_CACHE,
		 PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
		{"r1a8", "r1a8", PERF_TYPE_RAW, 0x1a8},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(read_all(names[i].text));
		assert_int_equal(list.count, 1);
		assert_string_equal(list.items[0].name, names[i].name);
		assert_int_equal(list.items[0].event.type, names[i].type);
		assert_int_equal(list.items[0].event.config, names[i].config);
	}
}

static void test_names_of_a_processor(void **state)
{
	assert_true(read_all("skl::INST_RETIRED:ANY_P,1000003"));
	assert_event(0, "skl~~INST_RETIRED~ANY_P", PERF_TYPE_RAW, 0x00c0, 1000003);
	assert_true(read_all("skl::MEM_LOAD_RETIRED~L3_MISS"));
	assert_int_equal(list.items[0].event.config & 0xffff, 0x20d1);
}

/*
 * Codes that libpfm4's own tests expect (validate_x86.c), less what the kernel sets itself: user,
 * kernel, interrupt and enable bits.  A second code is the event's further register.
 */
static void test_encodings(void **state)
{
	static const struct {
		const char *name;
		uint64_t code, further, flags;
	} events[] = {
		{"ivb::INST_RETIRED:ALL", 0x5301c0, 0, 0},
		{"ivb::INST_RETIRED~ALL~k", 0x5201c0, 0, COUNTER_EXCLUDE_USER},
		{"ivb::INST_RETIRED~ALL~u", 0x5101c0, 0, COUNTER_EXCLUDE_KERNEL},
		{"ivb::UOPS_EXECUTED~THREAD~e~c=1", 0x15701b1, 0, 0},
		{"ivb::UOPS_EXECUTED~THREAD~c=1~i", 0x1d301b1, 0, 0},
		{"ivb::RESOURCE_STALLS:SB:RS", 0x530ca2, 0, 0},
		{"ivb::offcore_response_0~LLC_MISS_LOCAL", 0x5301b7, 0x3f80408fff, 0},
		{"snb::l2_lines_in~e~e=1~c=10", 0xa5704f1, 0, 0},
		{"amd64_fam11h_turion::RETIRED_UOPS~c=1~i", 0x1d300c1, 0, 0},
	};
	enum { USER = 1 << 16, KERNEL = 1 << 17, INTERRUPT = 1 << 20, ENABLE = 1 << 22 };
	const uint64_t flags = COUNTER_EXCLUDE_USER | COUNTER_EXCLUDE_KERNEL;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const struct format_counter *event = &list.items[0].event;

		if (!read_all(events[i].name))
			fail_msg("%s: %s", events[i].name, diags.items[0].text);
		assert_int_equal(event->type, PERF_TYPE_RAW);
		assert_int_equal(event->config,
				 events[i].code & ~(uint64_t)(USER | KERNEL | INTERRUPT | ENABLE));
		assert_int_equal(event->config1, events[i].further);
		assert_int_equal(event->flags & flags, events[i].flags);
	}
	/* an edge needs a threshold */
	assert_false(read_all("ivb::UOPS_EXECUTED~THREAD~e"));
	assert_false(read_all("snb::l2_lines_in~e~e=1"));
}

/* What the kernel is asked for in the end, and what its answer means. */
static void test_event_of_kernel(void **state)
{
	assert_true(read_all("ivb::INST_RETIRED~ALL~u,5000"));
	list.items[0].event.flags |= 2 | COUNTER_HAS_ADDRESS;
	const struct perf_event_attr attr = format_counter_attr(&list.items[0].event);

	assert_int_equal(attr.config, 0x1c0);
	assert_int_equal(attr.sample_period, 5000);
	assert_int_equal(attr.precise_ip, 2);
	assert_true(attr.exclude_kernel && !attr.exclude_user && attr.sigtrap && attr.inherit);
	assert_int_equal(attr.read_format, /* the order of struct format_counter_reading */
			 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
}

static void test_readings(void **state)
{
	static const struct {
		struct format_counter_reading reading;
		uint64_t counted, missed;
	} readings[] = {
		{{1000, 5000000, 5000000}, 1000, 0},
		{{1000, 4000000, 1000000}, 1000, 3000},
		{{1000, 4000000, 1000000}, 600, 1800}, /* the rest in a pause */
		{{1000, 5000000, 4999999}, 1000, 0},   /* a moment is no matter */
		{{0, 5000000, 0}, 0, 0},
		{{1000, 0, 0}, 1000, 0},
		/* more than 64 bits in between */
		{{1ull << 50, 1ull << 50, 1ull << 49}, 1ull << 50, 1ull << 50},
	};

	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
		assert_int_equal(counter_missed(&readings[i].reading, readings[i].counted),
				 readings[i].missed);
	assert_true(counter_stood_still(&readings[4].reading));
	assert_int_equal(sizeof(struct format_counter_reading), 3 * 8); /* as the kernel has it */
}

static void test_intervals(void **state)
{
	assert_true(read_all("page-faults,hi,cs,lo,major-faults,,cycles,0x10000,insts,2k"));
	assert_int_equal(list.count, 5);
	assert_event(0, "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	assert_event(1, "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
		     101);
	assert_event(2, "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1);
	assert_event(3, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0x10000);
	assert_event(4, "insts", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 2000);
	/* the next name in the place of an interval */
	assert_true(read_all("page-faults,cs,5"));
	assert_int_equal(list.count, 2);
	assert_event(0, "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 11);
	assert_event(1, "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 5);
}

static void test_several_options(void **state)
{
	assert_true(read_all("page-faults,1"));
	assert_true(counter_read(&list, "cs,2", &diags));
	assert_int_equal(list.count, 2);
	assert_false(counter_read(&list, "faults", &diags));
	assert_false(counter_read(&list, "off", &diags));
	assert_true(read_all("off"));
	assert_int_equal(list.count, 0);
	assert_false(counter_read(&list, "cs", &diags));
}

static void test_prefixes_and_attributes(void **state)
{
	assert_true(read_all("-page-faults,1,+cycles~system=0/1,on"));
	assert_false(list.items[0].event.flags & COUNTER_HAS_ADDRESS);
	assert_true(list.items[1].backtrack);
	assert_int_equal(list.items[1].event.flags, COUNTER_EXCLUDE_KERNEL);
	assert_int_equal(diags.count, 1); /* the register is the kernel's choice */
	assert_int_equal(diags.items[0].level, DIAG_WARNING);
	assert_true(read_all("cycles~user=0"));
	assert_int_equal(list.items[0].event.flags, COUNTER_EXCLUDE_USER);
	assert_string_equal(list.items[0].title, "CPU Cycles (Kernel)");
	/* two counters */
	assert_true(read_all("cycles~user=0,,cycles~system=0,1000,cycles"));
	assert_string_equal(list.items[1].name, "cycles~system=0");
	assert_false(read_all("cycles~nonsense=3"));
}

static void test_watch_points(void **state)
{
	assert_true(read_all("mem:0x1008/8:w,mem:table+16:rw,7,mem:f:x"));
	assert_event(0, "mem~0x1008/8~w", PERF_TYPE_BREAKPOINT, 0, 1);
	assert_int_equal(list.items[0].event.config1, 0x1008);
	assert_int_equal(list.items[0].event.config2, 8);
	assert_int_equal(list.items[0].event.bp_type, HW_BREAKPOINT_W);
	assert_string_equal(list.items[1].symbol, "table");
	assert_int_equal(list.items[1].event.config1, 16);
	assert_int_equal(list.items[1].event.bp_type, HW_BREAKPOINT_RW);
	assert_int_equal(list.items[1].event.period, 7);
	assert_int_equal(list.items[2].event.bp_type, HW_BREAKPOINT_X);
}

static void test_mistakes(void **state)
{
	static const char *const wrong[] = {
		"",	     "page-fualts,1",  "page-faults,0", "page-faults,5q",
		",1",	     "page-faults,,,", "mem:",		"mem:x:r",
		"mem:x/3:w", "mem:0xzz:w",     "mem:x+y:w",	"page-faults,1,page-faults,2",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(read_all(wrong[i]));
		assert_true(diags.count);
	}
}

static void test_parameter(void **state)
{
	char param[COUNTER_PARAM_ROOM];

	assert_true(read_all("page-faults,1,mem:0x1000/4:w,10"));
	assert_int_equal(counter_param(&list, param, &diags), STATUS_OK);
	/* type.config.config1.config2.bp_type.period.flags.program */
	assert_string_equal(param, "1.2.0.0.0.1.32.0,5.0.4096.4.2.10.32.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_of_a_processor),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_event_of_kernel),
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_several_options),
		cmocka_unit_test(test_prefixes_and_attributes),
		cmocka_unit_test(test_watch_points),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_parameter),
	};

	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	diag_fini(&diags);
	return failed;
}
