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

#include "launch/counter.h"

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
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_several_options),
		cmocka_unit_test(test_prefixes_and_attributes),
		cmocka_unit_test(test_watch_points),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_parameter),
	};

	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	diag_fini(&diags);
	return failed;
}
