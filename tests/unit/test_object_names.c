/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers make of one function.  The programs are compiled here, so that
 * it is known which construct stands in which line and what was cloned.
 */
#include "object/names/name.h"
#include "test_object_support.h"

#include <fnmatch.h>

struct parsed {
	const char *symbol, *parent;
	enum function_kind kind;
};

static void test_parse(void **state)
{
	static const struct parsed all[] = {
		{"main", NULL, FUNCTION_PLAIN},
		{"foo.constprop.0", "foo", FUNCTION_CLONE},
		{"foo.isra.0.cold", "foo", FUNCTION_PART},
		{"_Z3foov.part.12", "_Z3foov", FUNCTION_PART},
		{"foo.cold", "foo", FUNCTION_PART},
		{"foo.cold.1", "foo", FUNCTION_PART},
		{"foo.lto_priv.0", NULL, FUNCTION_PLAIN},
		{"foo.llvm.123456", NULL, FUNCTION_PLAIN},
		{"foo.constprop.0.lto_priv.3", "foo", FUNCTION_CLONE},
		{"foo._omp_fn.3", "foo", FUNCTION_OMP_REGION},
		{"foo._omp_cpyfn.1", "foo", FUNCTION_OMP_HELPER},
		{"foo._loopfn.0", "foo", FUNCTION_OMP_LOOP},
		{"foo.omp_outlined", "foo", FUNCTION_OMP_REGION},
		{".omp_outlined..2", NULL, FUNCTION_OMP_REGION},
		{".omp_task_entry.", NULL, FUNCTION_OMP_TASK},
		{".omp_task_privates_map.", NULL, FUNCTION_OMP_HELPER},
		{"__omp_offloading_10302_1a2b_foo_l12", "foo", FUNCTION_OMP_TARGET},
		{"mv.avx2.0", "mv", FUNCTION_CLONE},
		{"mv.resolver", "mv", FUNCTION_RESOLVER},
		{"puts@plt", NULL, FUNCTION_PLT},
		{"master.0.first_", "first_", FUNCTION_ENTRIES},
		/* names of other languages, and what only looks like a suffix */
		{"main.main", NULL, FUNCTION_PLAIN},
		{"inner.2", NULL, FUNCTION_PLAIN},
		{"isra.0", NULL, FUNCTION_PLAIN},
		{"foo.part", NULL, FUNCTION_PLAIN},
		{".cold", NULL, FUNCTION_PLAIN},
		{"", NULL, FUNCTION_PLAIN},
		{"master.x", NULL, FUNCTION_PLAIN},
		{"__omp_offloading_", NULL, FUNCTION_OMP_TARGET},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char *parent;

		assert_int_equal(function_name_parse(all[i].symbol, &parent), all[i].kind);
		if (all[i].parent)
			assert_string_equal(parent, all[i].parent);
		else
			assert_null(parent);
		free(parent);
	}
}

/* The function with a display name that fits the pattern; there must be one. */
static uint32_t find(struct object *object, const char *pattern)
{
	uint32_t count = object_function_count(object), found = OBJECT_NO_FUNCTION;

	for (uint32_t i = 0; i < count; i++) {
		char *name = function_display_name(object, i, NAME_LONG);

		if (!fnmatch(pattern, name, 0)) {
			assert_int_equal(found, OBJECT_NO_FUNCTION);
			found = i;
		}
		free(name);
	}
	if (found == OBJECT_NO_FUNCTION)
		fail_msg("no %s", pattern);
	return found;
}

/* A function with such a name, kind and parent; parent NULL: none. */
static void expect(struct object *object, const char *pattern, enum function_kind kind,
		   const char *parent)
{
	uint32_t function = find(object, pattern);
	uint32_t made_from = function_parent(object, function);

	assert_int_equal(function_kind_of(object, function), kind);
	if (parent)
		assert_string_equal(object_function(object, made_from)->mangled, parent);
	else
		assert_int_equal(made_from, OBJECT_NO_FUNCTION);
}

/* Constructs in lines 5, 9, 13, 17, 21, 24, 26, 28 and 35. */
static const char openmp[] = "double a[1000];\n"
			     "extern int g(int), omp_get_num_threads(void);\n"
			     "int __attribute__((noinline)) work(int n)\n"
			     "{\n"
			     "#pragma omp parallel\n"
			     "	{\n"
			     "		a[omp_get_num_threads()] += g(n);\n"
			     "	}\n"
			     "#pragma omp parallel for schedule(guided)\n"
			     "	for (int i = 0; i < 1000; i++)\n"
			     "		a[i] += i * n;\n"
			     "\n"
			     "#pragma omp parallel sections\n"
			     "	{ a[1] = g(n);\n"
			     "#pragma omp section\n"
			     "	  a[2] = g(n + 1); }\n"
			     "#pragma omp task firstprivate(n)\n"
			     "	{\n"
			     "		a[3] = g(n);\n"
			     "	}\n"
			     "#pragma omp parallel for\n"
			     "	for (int i = 0; i < 1000; i++)\n"
			     "		a[i] += i;\n"
			     "#pragma omp parallel\n"
			     "	a[4] = g(n);\n"
			     "#pragma omp parallel\n"
			     "	a[5] = g(n);\n"
			     "#pragma omp parallel\n"
			     "	{ a[6]++;\n"
			     "#pragma omp sections\n"
			     "	{ a[7] = g(n);\n"
			     "#pragma omp section\n"
			     "	  a[8] = g(n + 1); } }\n"
			     "	for (int i = 0; i < n; i++) {\n"
			     "#pragma omp task firstprivate(i)\n"
			     "		a[i] = g(i);\n"
			     "	}\n"
			     "	return n;\n"
			     "}\n"
			     "int g(int x) { __asm__ volatile(\"\"); return x; }\n"
			     "int main(int c, char **v) { (void)v; return work(c); }\n";

/* Constructs in lines 6, 15, 27, 31, 34 and 37. */
static const char openmp_inner[] = "extern void work(int);\n"
				   "static void spin(void) { work(3); }\n"
				   "\n"
				   "void __attribute__((noinline)) first(void)\n"
				   "{\n"
				   "#pragma omp parallel\n"
				   "	{ spin(); }\n"
				   "}\n"
				   "\n"
				   "void __attribute__((noinline)) second(int *p)\n"
				   "{\n"
				   "	*p = 3;\n"
				   "\n"
				   "\n"
				   "#pragma omp parallel\n"
				   "	{\n"
				   "		spin();\n"
				   "#pragma omp for\n"
				   "		for (int i = 0; i < 4; i++)\n"
				   "			spin();\n"
				   "	}\n"
				   "	*p = 4;\n"
				   "}\n"
				   "\n"
				   "void __attribute__((noinline)) tasks(void)\n"
				   "{\n"
				   "#pragma omp parallel\n"
				   "#pragma omp single\n"
				   "	{\n"
				   "		spin();\n"
				   "#pragma omp task\n"
				   "		spin();\n"
				   "\n"
				   "#pragma omp task\n"
				   "		{ spin(); spin(); }\n"
				   "		for (int i = 0; i < 2; i++) {\n"
				   "#pragma omp task\n"
				   "			spin();\n"
				   "		}\n"
				   "	}\n"
				   "}\n"
				   "void __attribute__((noinline)) work(int n)\n"
				   "{ __asm__ volatile(\"\" : : \"r\"(n)); }\n"
				   "int main(void)\n"
				   "{ int x; first(); second(&x); tasks(); return x; }\n";

static void test_openmp_gcc(void **state)
{
	static const char *const options[] = {"-O1 -fPIE -pie", "-O1 -fno-pie -no-pie", "-O0",
					      "-O2"};

	(void)state;
	write_file("omp.c", openmp);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		run("gcc -g -fopenmp %s -o prog omp.c", options[i]);

		struct object *object = open_object("prog");

		expect(object, "work -- OMP parallel region from line 5 [[]work._omp_fn.?]",
		       FUNCTION_OMP_REGION, "work");
		expect(object, "work -- OMP parallel loop from line 9 [[]work._omp_fn.?]",
		       FUNCTION_OMP_LOOP, "work");
		expect(object, "work -- OMP parallel loop from line 21 [[]work._omp_fn.?]",
		       FUNCTION_OMP_LOOP, "work");
		expect(object, "work -- OMP parallel region from line 24 [[]work._omp_fn.?]",
		       FUNCTION_OMP_REGION, "work");
		expect(object, "work -- OMP parallel region from line 26 [[]work._omp_fn.?]",
		       FUNCTION_OMP_REGION, "work");
		expect(object, "work -- OMP sections from line 13 [[]work._omp_fn.?]",
		       FUNCTION_OMP_SECTIONS, "work");
		expect(object, "work -- OMP task from line 17 [[]work._omp_fn.?]",
		       FUNCTION_OMP_TASK, "work");
		expect(object, "work -- OMP parallel region from line 28 [[]work._omp_fn.?]",
		       FUNCTION_OMP_REGION, "work");
		expect(object, "work -- OMP task from line 35 [[]work._omp_fn.?]",
		       FUNCTION_OMP_TASK, "work");
		object_free(object);
	}

	/* Without lines the construct is still known. */
	run("gcc -O1 -fopenmp -o prog omp.c");
	struct object *object = open_object("prog");

	expect(object, "work -- OMP sections [[]work._omp_fn.?]", FUNCTION_OMP_SECTIONS, "work");
	object_free(object);
}

static void test_openmp_gcc_inner(void **state)
{
	static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3"};

	(void)state;
	/* Constructs behind other code, around it, in loops, and with inlined calls at once. */
	write_file("inner.c", openmp_inner);
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		run("gcc -g -fopenmp %s -o prog inner.c", levels[i]);

		struct object *object = open_object("prog");

		expect(object, "first -- OMP parallel region from line 6 [[]first._omp_fn.0]",
		       FUNCTION_OMP_REGION, "first");
		expect(object, "second -- OMP parallel region from line 15 [[]second._omp_fn.0]",
		       FUNCTION_OMP_REGION, "second");
		expect(object, "tasks -- OMP parallel region from line 27 [[]tasks._omp_fn.0]",
		       FUNCTION_OMP_REGION, "tasks");
		expect(object, "tasks -- OMP task from line 31 [[]tasks._omp_fn.1]",
		       FUNCTION_OMP_TASK, "tasks");
		expect(object, "tasks -- OMP task from line 34 [[]tasks._omp_fn.2]",
		       FUNCTION_OMP_TASK, "tasks");
		expect(object, "tasks -- OMP task from line 37 [[]tasks._omp_fn.3]",
		       FUNCTION_OMP_TASK, "tasks");
		object_free(object);
	}
}

/* A loop that gcc has made parallel by itself. */
static void test_openmp_gcc_loop(void **state)
{
	(void)state;
	write_file("loop.c", "int a[100000], b[100000];\n"
			     "void __attribute__((noinline)) fill(int n)\n"
			     "{\n"
			     "\n"
			     "	for (int i = 0; i < 100000; i++)\n"
			     "		a[i] = b[i] * n + 3;\n"
			     "}\n"
			     "int main(int c, char **v) { (void)v; fill(c); return a[c]; }\n");
	run("gcc -g -O2 -ftree-parallelize-loops=2 -o prog loop.c");

	struct object *object = open_object("prog");

	expect(object, "fill -- OMP parallel loop from line 5 [[]fill._loopfn.0]",
	       FUNCTION_OMP_LOOP, "fill");
	object_free(object);
}

/* Clang says neither what it is nor whose; without declarations the code does. */
static void test_openmp_clang(void **state)
{
	static const char *const options[] = {"-O0", "-O1", "-O2", "-O1 -gdwarf-4"};

	(void)state;
	write_file("omp.c", openmp);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		run("clang -g %s -fopenmp -o prog omp.c", options[i]);

		struct object *object = open_object("prog");

		expect(object, "work -- OMP parallel region from line 5 [[].omp_outlined.]",
		       FUNCTION_OMP_REGION, "work");
		expect(object, "work -- OMP parallel loop from line 9 [[].omp_outlined..[0-9]*]",
		       FUNCTION_OMP_LOOP, "work");
		expect(object, "work -- OMP sections from line 13 [[].omp_outlined..[0-9]*]",
		       FUNCTION_OMP_SECTIONS, "work");
		expect(object, "work -- OMP parallel loop from line 21 [[].omp_outlined..[0-9]*]",
		       FUNCTION_OMP_LOOP, "work");
		expect(object, "work -- OMP parallel region from line 28 [[].omp_outlined..[0-9]*]",
		       FUNCTION_OMP_REGION, "work");
		expect(object, "work -- OMP task from line 17 [[].omp_task_entry.]",
		       FUNCTION_OMP_TASK, "work");
		expect(object, "work -- OMP task from line 35 [[].omp_task_entry..[0-9]*]",
		       FUNCTION_OMP_TASK, "work");
		object_free(object);
	}
	run("clang -gline-tables-only -O1 -fopenmp -o prog omp.c");

	struct object *object = open_object("prog");

	expect(object, "work -- OMP sections from line 13 [[].omp_outlined..[0-9]*]",
	       FUNCTION_OMP_SECTIONS, "work");
	object_free(object);
	for (size_t i = 0; i < 3; i++) {
		run("clang %s -fopenmp -o prog omp.c", options[i]);
		object = open_object("prog");
		expect(object, "work -- OMP sections [[].omp_outlined..[0-9]*]",
		       FUNCTION_OMP_SECTIONS, "work");
		object_free(object);
	}
	/* Without optimisation a body has two functions, of one construct. */
	run("clang -g -O0 -fopenmp -o prog omp.c");
	object = open_object("prog");
	expect(object, "work -- OMP parallel loop from line 9 [[].omp_outlined._debug__*]",
	       FUNCTION_OMP_LOOP, "work");
	expect(object, "work -- OMP sections from line 13 [[].omp_outlined._debug__*]",
	       FUNCTION_OMP_SECTIONS, "work");
	object_free(object);
}

/* A C++ function's body; a long name and a short one. */
static void test_openmp_cxx(void **state)
{
	(void)state;
	write_file("omp.cc", "namespace app { double sum;\n"
			     "void run(int n)\n"
			     "{\n"
			     "#pragma omp parallel\n"
			     "	sum += n;\n"
			     "} }\n"
			     "int main() { app::run(1); }\n");
	run("g++ -g -O0 -fopenmp -o prog omp.cc");

	struct object *object = open_object("prog");
	uint32_t function = find(object, "app::run(int) -- OMP parallel region from line 4 *");
	char *name = function_display_name(object, function, NAME_SHORT);

	assert_string_equal(name, "app::run -- OMP parallel region from line 4 "
				  "[_ZN3app3runEi._omp_fn.0]");
	free(name);
	name = function_display_name(object, function, NAME_MANGLED);
	assert_string_equal(name, "_ZN3app3runEi._omp_fn.0");
	free(name);
	object_free(object);
}

/* Constructs in lines 3, 6, 9, 15, 18, 21 and 24: of templates, whose code lies elsewhere, of what
 * is inlined, and behind other functions that are declared in between. */
static const char openmp_cxx[] =
	"void work(int);\n"
	"template <int N> struct T { __attribute__((noinline)) void go() {\n"
	"#pragma omp parallel\n"
	"	work(N); } };\n"
	"template <class F> __attribute__((noinline)) void run(F f) {\n"
	"#pragma omp parallel\n"
	"	f(); }\n"
	"static void inlined() {\n"
	"#pragma omp parallel\n"
	"	work(1); }\n"
	"int main() {\n"
	"	T<10>().go(); T<15>().go(); inlined();\n"
	"	run([] { work(2); });\n"
	"	auto lambda = [](int n) {\n"
	"#pragma omp parallel\n"
	"	work(n); };\n"
	"	lambda(3);\n"
	"#pragma omp parallel\n"
	"	work(4);\n"
	"	int sum = 0;\n"
	"#pragma omp parallel\n"
	"#pragma omp single\n"
	"#pragma omp taskgroup task_reduction(+ : sum)\n"
	"#pragma omp task in_reduction(+ : sum)\n"
	"	sum += 1;\n"
	"	return sum; }\n"
	"__attribute__((noinline)) void work(int n) { __asm__ volatile(\"\" : : \"r\"(n)); }\n";

static void test_openmp_clang_cxx(void **state)
{
	static const struct {
		const char *option, *symbol;
	} built[] = {{"-O0", ".omp_outlined._debug__*"},
		     {"-O1", ".omp_outlined.*"},
		     {"-O2", ".omp_outlined.*"}};
	static const char *const expected[] = {
		"T<10>::go() -- OMP parallel region from line 3",
		"T<15>::go() -- OMP parallel region from line 3",
		"void run<main::$_0>(main::$_0) -- OMP parallel region from line 6",
		"inlined() -- OMP parallel region from line 9",
		"main::$_1::operator()(int) const -- OMP parallel region from line 15",
		"main -- OMP parallel region from line 18",
		"main -- OMP parallel region from line 21",
	};

	(void)state;
	write_file("omp.cc", openmp_cxx);
	for (size_t i = 0; i < sizeof(built) / sizeof(*built); i++) {
		run("clang++ -g %s -fopenmp -o prog omp.cc", built[i].option);

		struct object *object = open_object("prog");

		for (size_t k = 0; k < sizeof(expected) / sizeof(*expected); k++) {
			char pattern[200];

			snprintf(pattern, sizeof(pattern), "%s [[]%s]", expected[k],
				 built[i].symbol);
			find(object, pattern);
		}
		find(object, "main -- OMP task from line 24 [[].omp_task_entry.]");
		object_free(object);
	}
}

static void expect_name(struct object *object, uint32_t function, enum name_style style,
			uint32_t line, const char *expected)
{
	char *name = function_entry_name(object, function, style, line);

	assert_string_equal(name, expected);
	free(name);
}

/* A part is named after its function in all styles but that of symbols. */
static void test_names_of_parts(void **state)
{
	(void)state;
	write_file("part.c", "__asm__(\".text\\n.type _ZN2ns1fEi.part.0.cold, @function\\n\"\n"
			     "	\"_ZN2ns1fEi.part.0.cold: nop\\n\"\n"
			     "	\".size _ZN2ns1fEi.part.0.cold, 1\\n\");\n"
			     "int main(void) { return 0; }\n");
	run("gcc -o prog part.c");

	struct object *object = open_object("prog");
	uint32_t part = find(object, "ns::f(int) -- *");

	expect_name(object, part, NAME_LONG, 0,
		    "ns::f(int) -- outline code [_ZN2ns1fEi.part.0.cold]");
	expect_name(object, part, NAME_SHORT, 0, "ns::f -- outline code [_ZN2ns1fEi.part.0.cold]");
	expect_name(object, part, NAME_SHORT, 12,
		    "ns::f -- outline code from line 12 [_ZN2ns1fEi.part.0.cold]");
	expect_name(object, part, NAME_MANGLED, 12, "_ZN2ns1fEi.part.0.cold");

	char *name = function_part_name("_ZN2ns1fEi.part.0.cold", NAME_SHORT);

	assert_string_equal(name, "ns::f [clone .part.0] [clone .cold]");
	free(name);
	assert_null(function_part_name("_ZN2ns1fEi.constprop.0", NAME_LONG));
	assert_null(function_part_name("ns", NAME_LONG));
	object_free(object);
}

static void test_clones(void **state)
{
	(void)state;
	write_file("a.c",
		   "static int __attribute__((noinline)) f(int x, int *p)\n"
		   "{ if (__builtin_expect(*p == 77, 0)) __builtin_abort(); return x * *p; }\n"
		   "int other(int *);\n"
		   "int main(int c, char **v) { (void)v; return f(3, &c) + other(&c); }\n");
	/* another static function of the name in another unit */
	write_file("b.c", "static int __attribute__((noinline)) f(int x, int *p) "
			  "{ return x + *p; }\n"
			  "int other(int *p) { return f(5, p) + f(*p, p); }\n");
	run("gcc -g -O2 -fno-ipa-icf -o prog a.c b.c && nm prog | grep -q 'f\\.constprop'");

	struct object *object = open_object("prog");
	uint32_t count = object_function_count(object);
	int clones = 0, parts = 0;

	for (uint32_t i = 0; i < count; i++) {
		char *parent, *name = function_display_name(object, i, NAME_LONG);
		const char *symbol = object_function(object, i)->mangled;
		enum function_kind kind = function_name_parse(symbol, &parent);

		assert_int_equal(function_kind_of(object, i), kind);
		if (parent && !strcmp(parent, "f") && kind == FUNCTION_CLONE)
			assert_string_equal(name, symbol);
		if (parent && !strcmp(parent, "f") && kind == FUNCTION_PART)
			assert_non_null(strstr(name, "f -- outline code [f."));
		clones += kind == FUNCTION_CLONE;
		parts += kind == FUNCTION_PART && !strcmp(parent, "f");
		free(parent);
		free(name);
	}
	assert_true(clones >= 1);
	assert_true(parts >= 1);
	object_free(object);
}

/* Of several functions with the name the parent is the one in the same unit. */
static void test_parent_in_unit(void **state)
{
	static const char text[] = "int UNIT(int x);\n"
				   "__asm__(\".text\\n.type f.cold, @function\\n\"\n"
				   "	\"f.cold: nop\\n.size f.cold, 1\\n\");\n"
				   "static int __attribute__((noinline)) f(int x)\n"
				   "{ __asm__ volatile(\"\"); return x; }\n"
				   "int UNIT(int x) { return f(x); }\n";

	(void)state;
	write_file("unit.c", text);
	write_file("main.c", "int one(int), two(int);\n"
			     "int main(int c, char **v) { (void)v; return one(c) + two(c); }\n");
	run("gcc -g -O1 -DUNIT=one -c -o one.o unit.c && gcc -g -O1 -DUNIT=two -c -o two.o unit.c "
	    "&& "
	    "gcc -g -O1 -fno-toplevel-reorder -o prog main.c one.o two.o");

	struct object *object = open_object("prog");
	uint32_t count = object_function_count(object);
	uint64_t last = 0;
	int parts = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct object_function *function = object_function(object, i);

		if (strcmp(function->mangled, "f.cold") != 0)
			continue;
		uint32_t parent = function_parent(object, i);
		uint64_t address = object_function(object, parent)->address;

		assert_string_equal(object_function(object, parent)->mangled, "f");
		assert_int_not_equal(address, last);
		last = address;
		parts++;
	}
	assert_int_equal(parts, 2);
	object_free(object);
}

static void test_resolver(void **state)
{
	static const char *const compilers[] = {"gcc", "clang"};

	(void)state;
	write_file("mv.c", "__attribute__((target_clones(\"avx2\", \"default\")))\n"
			   "int mv(int x) { return x * 3; }\n"
			   "int main(int c, char **v) { (void)v; return mv(c); }\n");
	for (size_t i = 0; i < 2; i++) {
		run("%s -g -O1 -o prog mv.c", compilers[i]);

		struct object *object = open_object("prog");

		expect(object, "mv -- IFUNC resolver [[]mv.resolver]", FUNCTION_RESOLVER, NULL);
		expect(object, "mv.avx2*", FUNCTION_CLONE, "mv.resolver");
		expect(object, "mv.default*", FUNCTION_CLONE, "mv.resolver");
		object_free(object);
	}
}

static void test_fortran(void **state)
{
	(void)state;
	write_file("f.f90", "module geo\ncontains\n"
			    "subroutine area(x)\n real :: x\n x = x * 2\nend subroutine\n"
			    "end module\n"
			    "subroutine first(x)\n real :: x\n x = 1\n return\n"
			    "entry second(x)\n x = x + 2\nend subroutine\n"
			    "program mini\n use geo\n real :: y\n call first(y)\n"
			    " call second(y)\n call area(y)\nend program\n");
	run("gfortran -g -O0 -o prog f.f90");

	struct object *object = open_object("prog");

	expect(object, "geo::area", FUNCTION_PLAIN, NULL);
	expect(object, "first_ -- all entries [[]master.0.first_]", FUNCTION_ENTRIES, "first_");
	expect(object, "second_", FUNCTION_PLAIN, NULL);
	object_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_openmp_gcc),
		cmocka_unit_test(test_openmp_gcc_inner),
		cmocka_unit_test(test_openmp_gcc_loop),
		cmocka_unit_test(test_openmp_clang),
		cmocka_unit_test(test_openmp_cxx),
		cmocka_unit_test(test_openmp_clang_cxx),
		cmocka_unit_test(test_names_of_parts),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_parent_in_unit),
		cmocka_unit_test(test_resolver),
		cmocka_unit_test(test_fortran),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
