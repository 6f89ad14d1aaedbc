/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimisation records written by hand: what is read of them, and that neither memory nor time
 * grows beyond their size where somebody has made them for that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "object/lines/remarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define GCC_RECORD   "unit.c.opt-record.json.gz"
#define CLANG_RECORD "unit.opt.yaml"

/* AddressSanitizer keeps back 256 MB of what is freed: memory is to be that of the code under test.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1";
}

static char folder[] = "/tmp/helio-remarks-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder);
}

static gzFile begin(const char *name)
{
	gzFile file = gzopen(name, "wb1");

	assert_non_null(file);
	return file;
}

static void put(gzFile file, const char *text)
{
	assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
}

static void write_record(const char *name, const char *text)
{
	gzFile file = begin(name);

	put(file, text);
	assert_int_equal(gzclose(file), Z_OK);
}

/* Reads what lies in the folder, and removes the file. */
static struct remarks read_and_remove(const char *name)
{
	struct remarks remarks = {0};

	remarks_read(&remarks, ".", "unit.c", NULL);
	remarks_sort(&remarks);
	unlink(name);
	return remarks;
}

static void expect(const struct remarks *remarks, size_t at, uint32_t line, enum remark_class kind,
		   const char *text)
{
	assert_true(at < remarks->items.count);
	assert_int_equal(remarks->items.items[at].line, line);
	assert_int_equal(remarks->items.items[at].kind, kind);
	assert_string_equal(remarks->items.items[at].text, text);
}

#define PLACE(line) "\"location\": {\"file\": \"/src/unit.c\", \"line\": " line ", \"column\": 3}"

/* Passes within passes, children before and behind what they belong to, fields that nobody asks
 * for, words and brackets in texts. */
static void test_gcc(void **state)
{
	(void)state;
	write_record(
		GCC_RECORD,
		"[{\"format\": \"1\", \"generator\": {\"name\": \"GNU C17\"}},\n"
		" [{\"id\": \"0x1\", \"name\": \"all\", \"optgroups\": [], \"children\": [\n"
		"   {\"num\": -1, \"id\": \"0x2\", \"optgroups\": [\"vec\", \"loop\"]},\n"
		"   {\"id\": \"0x3\", \"optgroups\": [\"inline\"], \"children\": []}]},\n"
		"  {\"id\": \"0x2\", \"optgroups\": [\"omp\"]}],\n"
		" [{\"kind\": \"scope\", " PLACE(
			"1") ", \"children\": [\n"
			     "    {\"kind\": \"success\", \"pass\": \"0x2\", \"count\": "
			     "12.5, " PLACE(
				     "7") ",\n"
					  "     \"message\": [\"loop \", {\"expr\": "
					  "\"a[\\\"]}\\\\\"}, {\"stmt\": \" x = 1;\"}]},\n"
					  "    {\"children\": [{\"kind\": \"success\", \"pass\": "
					  "\"0x3\", " PLACE(
						  "9") ", "
						       "\"message\": [{\"symtab_node\": "
						       "\"helper/5\"}, \" inlined\"]}],\n"
						       "     \"kind\": \"failure\", \"pass\": "
						       "\"0x2\", " PLACE(
							       "8") ", \"message\": [\"not\"]}]},\n"
								    "  null, 5, \"text\", [[]],\n"
								    "  {\"kind\": \"success\", "
								    "\"pass\": \"0x4\", " PLACE(
									    "5") ", \"message\": "
										 "[\"other\"]},\n"
										 "  {\"kind\": "
										 "\"success\", "
										 "\"pass\": "
										 "\"0x1\", "
										 "\"location\": "
										 "{\"file\": "
										 "\"b.c\", "
										 "\"line\": 2}, "
										 "\"message\": "
										 "[\"of another "
										 "file\"]}]]\n");
	struct remarks remarks = read_and_remove(GCC_RECORD);

	assert_int_equal(remarks.items.count, 4);
	expect(&remarks, 0, 5, REMARK_CODE, "other");
	expect(&remarks, 1, 7, REMARK_LOOP, "loop a[\"]}\\ x = 1");
	expect(&remarks, 2, 8, REMARK_QUERY, "not");
	expect(&remarks, 3, 9, REMARK_INLINE, "helper inlined");
	remarks_fini(&remarks);
}

static void test_clang(void **state)
{
	(void)state;
	write_record(CLANG_RECORD, "--- !Passed\n"
				   "Pass:            inline\n"
				   "Name:            Inlined\n"
				   "DebugLoc:        { File: unit.c, Line: 24, Column: 2 }\n"
				   "Args:\n"
				   "  - Callee:          helper\n"
				   "    DebugLoc:        { File: b.c, Line: 1, Column: 0 }\n"
				   "  - String:          ' it''s inlined'\n"
				   "...\n"
				   "--- !Analysis\n"
				   "DebugLoc:        { File: unit.c, Line: 25, Column: 2 }\n"
				   "  - String:          'of another kind'\n"
				   "--- !Missed\n"
				   "Pass:            loop-vectorize\n"
				   "DebugLoc:        { File: 'unit.c', Line: 9, Column: 2 }\n"
				   "  - String:          not vectorized\n");
	struct remarks remarks = read_and_remove(CLANG_RECORD);

	assert_int_equal(remarks.items.count, 2);
	expect(&remarks, 0, 9, REMARK_QUERY, "not vectorized");
	expect(&remarks, 1, 24, REMARK_INLINE, "helper it's inlined");
	remarks_fini(&remarks);
}

/* As much as is unpacked of any file. */
enum { UNPACKED = 8 << 20 };

/* A record of some values of some bytes, or of blanks, with one remark at its end. */
static void write_dense(const char *name, const char *before, const char *values)
{
	gzFile file = begin(name);
	size_t length = strlen(values);

	put(file, before);
	for (size_t size = 0; size < UNPACKED - 4096; size += length)
		assert_int_equal(gzwrite(file, values, (unsigned)length), length);
	put(file, "0], \"kind\": \"success\", \"message\": [\"end\"], " PLACE("3") "}]]");
	assert_int_equal(gzclose(file), Z_OK);
}

/* Values of two or three bytes, which take a hundred times that where all are kept. */
static void test_memory(void **state)
{
	enum { BESIDE_KB = 64 << 10 };
	static const char *const values[] = {"{},", "[],", "1,", "\"\","};
	static const char *const before[] = {"[{}, [], [{\"message\": [",
					     "[{}, [], [{\"unknown\": [",
					     "[{}, [], [{\"children\": ["};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4; k++) {
			struct rusage usage, after;
			struct stat info;

			write_dense(GCC_RECORD, before[i], values[k]);
			assert_int_equal(stat(GCC_RECORD, &info), 0);
			getrusage(RUSAGE_SELF, &usage);
			struct remarks remarks = read_and_remove(GCC_RECORD);

			getrusage(RUSAGE_SELF, &after);
			assert_true(after.ru_maxrss - usage.ru_maxrss <=
				    BESIDE_KB + 8 * info.st_size / 1024);
			assert_int_equal(remarks.items.count, 1);
			expect(&remarks, 0, 3, REMARK_CODE, "end");
			remarks_fini(&remarks);
		}
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* So many passes, and as many remarks of none of them. */
static double spent_on(unsigned count)
{
	gzFile file = begin(GCC_RECORD);
	char text[256];

	put(file, "[{}, [{}");
	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), ",{\"id\": \"0x%x\"}", i);
		put(file, text);
	}
	put(file, "], [{}");
	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text),
			 ",{\"kind\": \"success\", \"pass\": \"none\", \"location\": {\"file\": "
			 "\"unit.c\", \"line\": %u}, \"message\": [\"x\"]}",
			 i + 1);
		put(file, text);
	}
	put(file, "]]");
	assert_int_equal(gzclose(file), Z_OK);
	double start = cpu_s();
	struct remarks remarks = read_and_remove(GCC_RECORD);
	double spent = cpu_s() - start;

	assert_int_equal(remarks.items.count, count);
	remarks_fini(&remarks);
	return spent;
}

/* Each remark says of which pass it is: to find that costs the same whatever their number. */
static void test_time(void **state)
{
	enum { COUNT = 5000, GROWTH = 4 };
	double few = spent_on(COUNT), many = spent_on(GROWTH * COUNT);

	(void)state;
	/* twice what is linear is half of what is quadratic */
	assert_true(many <= 2 * GROWTH * few);
}

/* One record under many names: the more there are the less is read of them, not the more. */
static void test_many_names(void **state)
{
	enum { NAMES = 40, READ = 32 }; /* 8 MB each, of 256 */
	struct remarks remarks = {0};
	char name[64];

	(void)state;
	write_dense("0-" GCC_RECORD, "[{}, [], [{\"message\": [0, ", "          ");
	for (int i = 1; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%d-" GCC_RECORD, i);
		assert_int_equal(link("0-" GCC_RECORD, name), 0);
	}
	remarks_read(&remarks, ".", "unit.c", NULL);
	assert_true(remarks.items.count > 0 && remarks.items.count <= READ + 1);
	remarks_fini(&remarks);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%d-" GCC_RECORD, i);
		unlink(name);
	}
}

/* Remarks of which none is like another: what is kept of them has a bound. */
static void test_what_is_kept(void **state)
{
	enum { KEPT = 32 << 20, REMARKS = 1 << 18, TEXT = 200 };
	gzFile file = begin(CLANG_RECORD);
	char text[512];
	size_t bytes = 0;

	(void)state;
	for (int i = 0; i < REMARKS; i++) {
		snprintf(text, sizeof(text),
			 "--- !Passed\nDebugLoc: { File: unit.c, Line: 1 }\n  - A: %0*d\n", TEXT,
			 i);
		put(file, text);
	}
	assert_int_equal(gzclose(file), Z_OK);
	struct remarks remarks = read_and_remove(CLANG_RECORD);

	for (size_t i = 0; i < remarks.items.count; i++)
		bytes += strlen(remarks.items.items[i].text);
	assert_true(bytes > KEPT / 2 && bytes <= KEPT);
	remarks_fini(&remarks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),	   cmocka_unit_test(test_clang),
		cmocka_unit_test(test_memory),	   cmocka_unit_test(test_time),
		cmocka_unit_test(test_many_names), cmocka_unit_test(test_what_is_kept),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
