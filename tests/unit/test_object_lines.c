/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines and inlined calls. Marks in the assembly tell at which address, and the
 * text of the program in which file, at which line and in which chain of calls
 * they are; llvm-symbolizer says the same of this test's own code.
 */
#include "object/elf/symbols.h"
#include "object/lines/line_program.h"
#include "object/lines/lines.h"
#include "test_object_support.h"

#include <elf.h>

/* Line numbers matter: mark_inner is at inner.h:3, called at main.c:4, that at main.c:11. */
static const char inner_h[] = "static inline __attribute__((always_inline)) int inner(int x)\n"
			      "{\n"
			      "	__asm__ volatile(\"mark_inner: nop\");\n"
			      "	return x * 3;\n"
			      "}\n";
static const char main_c[] = "#include \"inner.h\"\n"
			     "static inline __attribute__((always_inline)) int middle(int x)\n"
			     "{\n"
			     "	return inner(x) + 1;\n"
			     "}\n"
			     "int far_away(int);\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "	(void)argv;\n"
			     "	__asm__ volatile(\"mark_main: nop\");\n"
			     "	return middle(argc) +\n"
			     "	       far_away(argc);\n"
			     "}\n";
static const char far_c[] = "__attribute__((noinline)) int far_away(int x)\n"
			    "{\n"
			    "	__asm__ volatile(\"mark_far: nop\");\n"
			    "	return x + 1;\n"
			    "}\n"
			    "#line 70 \"generated.y\"\n"
			    "__attribute__((used)) int grammar(int x)\n"
			    "{\n"
			    "	__asm__ volatile(\"mark_grammar: nop\");\n"
			    "	return x + 2;\n"
			    "}\n";

/* Builds the program in sub/ with a command that is given the compiler's options and the sources.
 */
static void build(const char *compiler, const char *options)
{
	run("rm -rf sub prog* *.dwp && mkdir -p sub");
	write_file("sub/inner.h", inner_h);
	write_file("sub/main.c", main_c);
	write_file("sub/far.c", far_c);
	run("cd sub && %s -O1 %s -c main.c && %s -O1 %s -c far.c && %s -O1 %s -o ../prog main.o "
	    "far.o",
	    compiler, options, compiler, options, compiler, options);
}

static const char *file_of(struct lines *lines, uint32_t file)
{
	return file == LINES_NONE ? "none" : lines_file(lines, file)->path;
}

static void expect_file(struct lines *lines, uint32_t file, const char *name)
{
	char *here = realpath(".", NULL);
	char *path = xasprintf("%s/sub/%s", here, name);

	assert_string_equal(file_of(lines, file), path);
	free(path);
	free(here);
}

static void expect_line(struct lines *lines, const char *mark, const char *name, unsigned line)
{
	uint64_t address = address_of("prog", mark);
	struct line_row row;

	lines_find(lines, &address, 1, &row);
	expect_file(lines, row.file, name);
	assert_int_equal(row.line, line);
	assert_true(row.start <= address && address < row.end);
}

static const char *function_of(struct lines *lines, uint32_t node)
{
	return lines_function(lines, lines_inline_node(lines, node).function)->mangled;
}

/* main -> middle, at main.c:11 -> inner, at main.c:4 */
static void expect_chain(struct lines *lines)
{
	uint64_t address = address_of("prog", "mark_inner");
	uint32_t id;

	lines_find_inlined(lines, &address, 1, &id);
	assert_int_not_equal(id, LINES_NONE);

	struct inline_node node = lines_inline_node(lines, id);

	assert_string_equal(function_of(lines, id), "inner");
	expect_file(lines, lines_function(lines, node.function)->file, "inner.h");
	assert_int_equal(lines_function(lines, node.function)->line, 1);
	expect_file(lines, node.call_file, "main.c");
	assert_int_equal(node.call_line, 4);
	assert_int_equal(node.depth, 2);
	assert_string_equal(function_of(lines, node.parent), "middle");
	assert_true(node.parent < id);

	node = lines_inline_node(lines, node.parent);
	expect_file(lines, node.call_file, "main.c");
	assert_int_equal(node.call_line, 11);
	assert_string_equal(function_of(lines, node.parent), "main");
	node = lines_inline_node(lines, node.parent);
	assert_int_equal(node.parent, LINES_NONE);
	assert_int_equal(node.depth, 0);
}

static void expect_no_calls(struct lines *lines)
{
	uint64_t address = address_of("prog", "mark_inner");
	uint32_t id;

	lines_find_inlined(lines, &address, 1, &id);
	assert_int_equal(id, LINES_NONE);
}

static void expect_diags(struct object *object, const char *part)
{
	struct diag_list diags = {0};

	object_take_diags(object, &diags);
	assert_int_equal(diags.count, part ? 1 : 0);
	if (part)
		assert_non_null(strstr(diags.items[0].text, part));
	diag_fini(&diags);
}

static void expect_lines(struct lines *lines)
{
	expect_line(lines, "mark_inner", "inner.h", 3);
	expect_line(lines, "mark_main", "main.c", 10);
	expect_line(lines, "mark_far", "far.c", 3);
	expect_line(lines, "mark_grammar", "generated.y", 72);
}

/* All that is to be known of the program, and no message. */
static void expect_all(void)
{
	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);

	expect_lines(lines);
	expect_chain(lines);
	expect_diags(object, NULL);
	object_free(object);
}

static const char *const compilers[] = {"gcc", "clang"};

static void test_versions(void **state)
{
	static const char *const options[] = {"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
					      "-gdwarf64 -gdwarf-5"};

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options) * 2; i++) {
		if (i == 9)
			break; /* clang 14 has no -gdwarf64 for this machine's assembler */
		build(compilers[i / 5], options[i % 5]);
		expect_all();
	}
}

static void test_compressed(void **state)
{
	static const char *const options[] = {"-g -gz=zlib", "-g -gdwarf-4 -gz=zlib-gnu"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		build("gcc", options[i]);
		expect_all();
	}
}

/* Compresses the debug sections of files as newer compilers do, and looks whether that was done. */
static void compress(const char *way, const char *files)
{
	run("for f in %s; do objcopy --compress-debug-sections=%s $f && "
	    "readelf -SW $f | grep -Eq ' \\.debug_info.* C ' || exit 1; done",
	    files, way);
}

static void test_compressed_by_zstd(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		build(compilers[i / 2], i % 2 ? "-g -gdwarf-5" : "-g -gdwarf-4");
		compress("zstd", "prog");
		expect_all();
		/* apart from the program, and what two programs share */
		run("cp prog prog2 && objcopy --only-keep-debug prog prog.debug && strip -g prog "
		    "&& "
		    "objcopy --add-gnu-debuglink=prog.debug prog");
		run("readelf -t prog.debug 2>&1 | grep -q ZSTD");
		expect_all();
	}
	build("gcc", "-g -gdwarf-4");
	run("cp prog prog2 && dwz -m sub/common prog prog2");
	compress("zstd", "prog sub/common");
	expect_all();
}

static void test_split(void **state)
{
	static const char *const options[] = {"-g -gdwarf-4 -gsplit-dwarf",
					      "-g -gdwarf-5 -gsplit-dwarf"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		build(compilers[i / 2], options[i % 2]);
		expect_all();

		/* Without the split files: all lines, but no calls, which is said once. */
		run("mkdir -p sub/away && mv sub/*.dwo sub/away/");
		struct object *object = open_object("prog");
		struct lines *lines = object_lines(object);

		expect_lines(lines);
		expect_no_calls(lines);
		expect_no_calls(lines);
		expect_diags(object, "main.dwo");
		object_free(object);
	}
}

/* What libdw reads and what it does not: the program, its split files, both; beside it, too. */
static void test_split_and_compressed(void **state)
{
	static const char *const files[] = {"sub/main.dwo", "prog sub/main.dwo", "prog"};

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		build(compilers[i / 6], i % 2 ? "-g -gdwarf-4 -gsplit-dwarf" : "-g -gsplit-dwarf");
		run("objcopy --compress-debug-sections=zstd prog");
		run("for f in %s; do objcopy --compress-debug-sections=zstd $f; done",
		    files[i / 2 % 3]);
		run("readelf -t %s 2>&1 | grep -q ZSTD", i / 2 % 3 < 2 ? "sub/main.dwo" : "prog");
		expect_all();
		run("mv sub/*.dwo .");
		expect_all();
	}
	/* a file of that name that is another's */
	build("gcc", "-g -gsplit-dwarf");
	run("cp sub/far.dwo sub/main.dwo && objcopy --compress-debug-sections=zstd sub/main.dwo");
	struct object *object = open_object("prog");

	expect_lines(object_lines(object));
	expect_no_calls(object_lines(object));
	expect_diags(object, "main.dwo");
	object_free(object);
}

static void test_package(void **state)
{
	static const char *const options[] = {"-g -gdwarf-4 -gsplit-dwarf",
					      "-g -gdwarf-5 -gsplit-dwarf"};

	(void)state;
	/* The dwp of binutils makes empty packages of DWARF 5. */
	for (size_t i = 0; i < 4; i++) {
		build(compilers[i / 2], options[i % 2]);
		run("cd sub && %s -o ../prog.dwp main.dwo far.dwo && rm *.dwo",
		    i % 2 ? "llvm-dwp" : "dwp");
		expect_all();
		for (size_t way = 0; way < 2; way++) {
			run("objcopy --decompress-debug-sections prog.dwp");
			run("objcopy --compress-debug-sections=%s prog.dwp && "
			    "readelf -SW prog.dwp | grep -Eq 'dwo .* EC? |dwo .*C '",
			    way ? "zstd" : "zlib");
			expect_all();
		}
	}
}

/* An abbreviation with more attributes than a compiler gives it: the unit is not read. */
static void test_damage_in_a_package(void **state)
{
	(void)state;
	build("gcc", "-g -gdwarf-4 -gsplit-dwarf");
	run("cd sub && objcopy --dump-section .debug_abbrev.dwo=table main.dwo");
	run("cd sub && { head -c -1 table; printf '\\176\\056\\000'; "
	    "for i in $(seq 300); do printf '\\003\\010'; done; printf '\\0\\0\\0'; } >wide");
	run("cd sub && objcopy --update-section .debug_abbrev.dwo=wide main.dwo");
	run("cd sub && dwp -o ../prog.dwp main.dwo far.dwo && rm *.dwo");
	struct object *object = open_object("prog");

	expect_lines(object_lines(object));
	expect_no_calls(object_lines(object));
	expect_diags(object, "the debug information of main.dwo is damaged");
	object_free(object);
}

static void test_alternate(void **state)
{
	(void)state;
	build("gcc", "-g -gdwarf-4");
	/* Two programs share what both say. */
	run("cp prog prog2 && dwz -m sub/common prog prog2");
	run("readelf -S prog | grep -q gnu_debugaltlink");
	expect_all();
}

static void test_separate(void **state)
{
	(void)state;
	build("gcc", "-g");
	run("objcopy --only-keep-debug prog prog.debug && cp prog full && strip -g prog && "
	    "objcopy --add-gnu-debuglink=prog.debug prog");

	char *expected = realpath("prog.debug", NULL);
	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);

	assert_string_equal(lines_debug_file(lines), expected);
	expect_lines(lines);
	expect_chain(lines);
	expect_diags(object, NULL);
	object_free(object);
	free(expected);
}

static void test_link_time_optimization(void **state)
{
	(void)state;
	build("gcc", "-g -flto");
	expect_all();
}

static void test_no_aranges(void **state)
{
	(void)state;
	build("gcc", "-g");
	run("objcopy --remove-section=.debug_aranges prog");
	expect_all();
}

/* "No line" is an answer. */
static void test_no_lines(void **state)
{
	uint64_t address;
	struct line_rows rows = {0};
	struct line_row row;

	(void)state;
	build("gcc", "-g0");
	address = address_of("prog", "mark_main");

	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);

	assert_null(lines_debug_file(lines));
	lines_find(lines, &address, 1, &row);
	assert_int_equal(row.file, LINES_NONE);
	assert_int_equal(row.line, 0);
	lines_in_range(lines, address, address + 5, &rows);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.items[0].file, LINES_NONE);
	assert_int_equal(rows.items[0].end, address + 5);
	assert_int_equal(lines_first(lines, address, address + 5).file, LINES_NONE);
	assert_null(lines_unit_at(lines, address));
	expect_no_calls(lines);
	vec_fini(&rows);
	object_free(object);
}

/* Rows of a range have no holes; code without lines beside code with them. */
static void test_range(void **state)
{
	struct line_rows rows = {0};
	bool has_inner = false, has_none = false;

	(void)state;
	build("gcc", "-g");
	run("cd sub && gcc -g0 -O1 -c far.c && gcc -o ../prog main.o far.o");

	uint64_t start = address_of("prog", "main"), end = address_of("prog", "mark_far") + 1;
	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);

	lines_in_range(lines, start, end, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		assert_int_equal(rows.items[i].start, i ? rows.items[i - 1].end : start);
		assert_true(rows.items[i].start < rows.items[i].end);
		if (rows.items[i].file == LINES_NONE)
			has_none = true;
		else if (rows.items[i].line == 3)
			has_inner = true;
	}
	assert_int_equal(rows.items[rows.count - 1].end, end);
	assert_true(has_inner && has_none);
	expect_file(lines, lines_first(lines, start, end).file, "main.c");
	vec_fini(&rows);
	object_free(object);
}

/* What a linker throws away leaves its lines at address 0: they are those of no code. */
static void test_discarded(void **state)
{
	(void)state;
	run("rm -rf sub && mkdir -p sub");
	write_file("sub/big.c",
		   "__attribute__((noinline)) int used(int x)\n{\n	__asm__ "
		   "volatile(\"mark_used: nop\");\n"
		   "	return x;\n}\n"
		   "int unused(int x)\n{\n"
		   "	__asm__ volatile(\".skip 0x8000, 0x90\");\n	return x;\n}\n"
		   "int main(int c, char **v) { (void)v; return used(c); }\n");
	run("cd sub && gcc -g -O1 -ffunction-sections -Wl,--gc-sections -o ../prog big.c");

	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);
	uint64_t start = address_of("prog", "_start");
	struct line_row row;

	expect_line(lines, "mark_used", "big.c", 3);
	lines_find(lines, &start, 1, &row);
	assert_int_equal(row.file, LINES_NONE);
	object_free(object);
}

static void test_file_and_unit(void **state)
{
	struct line_rows rows = {0};
	uint64_t address, inner;
	struct line_row row;
	uint32_t lines_with_code = 0;

	(void)state;
	build("gcc", "-g");
	address = address_of("prog", "mark_main");
	inner = address_of("prog", "mark_inner");

	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);
	const struct line_unit *unit = lines_unit_at(lines, address);

	assert_string_equal(unit->name, "main.c");
	assert_non_null(strstr(unit->producer, "GNU C"));
	expect_file(lines, unit->file, "main.c");
	lines_find(lines, &address, 1, &row);
	assert_string_equal(lines_file(lines, row.file)->recorded, "main.c");

	/* Of the header, lines 3 and 4 have code, the declaration in line 1 has none. */
	lines_find(lines, &inner, 1, &row);
	lines_of_file(lines, row.file, &rows);
	assert_true(rows.count >= 1);
	for (size_t i = 0; i < rows.count; i++) {
		assert_int_equal(rows.items[i].file, row.file);
		assert_true(!i || rows.items[i - 1].start < rows.items[i].start);
		lines_with_code |= 1u << rows.items[i].line;
	}
	assert_true(lines_with_code & 1u << 3);
	assert_false(lines_with_code & 1u << 1);
	assert_true(lines_file_count(lines, true) >= 4);
	vec_fini(&rows);
	object_free(object);
}

static struct object_function function_named(struct object *object, const char *name)
{
	uint32_t count = object_function_count(object);

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(object_function(object, i)->mangled, name))
			return *object_function(object, i);
	fail_msg("no %s", name);
	return (struct object_function){0};
}

/* The address of a mark in a function of an object file: nm counts both from their section. */
static uint64_t mark_in(struct object *object, const char *path, const char *name, const char *mark)
{
	return function_named(object, name).address + address_of(path, mark) -
	       address_of(path, name);
}

static void expect_line_in(struct object *object, uint64_t address, const char *name, unsigned line)
{
	struct line_row row;

	lines_find(object_lines(object), &address, 1, &row);
	expect_file(object_lines(object), row.file, name);
	assert_int_equal(row.line, line);
}

/*
 * Object files: symbols, lines and branches refer to sections that have no address yet.  Functions
 * are told from each other, also where all begin at 0 of a section of their own.
 */
static void test_object_files(void **state)
{
	static const char *const commands[] = {
		"gcc -gdwarf-5", "gcc -gdwarf-4 -ffunction-sections",
		"clang -gdwarf-5 -ffunction-sections", "clang -gdwarf-4",
		"clang --target=aarch64-linux-gnu -g -ffunction-sections"};

	(void)state;
	build("gcc", "-g");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		run("cd sub && %s -O1 -c far.c && %s -O1 -c main.c", commands[i], commands[i]);

		struct object *far = open_object("sub/far.o"), *main = open_object("sub/main.o");
		uint64_t address = mark_in(far, "sub/far.o", "far_away", "mark_far");
		uint32_t node;

		expect_line_in(far, address, "far.c", 3);
		assert_string_equal(name_at(far, address), "far_away");
		assert_string_equal(lines_unit_at(object_lines(far), address)->name, "far.c");
		address = mark_in(far, "sub/far.o", "grammar", "mark_grammar");
		expect_line_in(far, address, "generated.y", 72);
		assert_string_equal(name_at(far, address), "grammar");

		address = mark_in(main, "sub/main.o", "main", "mark_inner");
		expect_line_in(main, address, "inner.h", 3);
		lines_find_inlined(object_lines(main), &address, 1, &node);
		assert_string_equal(function_of(object_lines(main), node), "inner");
		assert_int_equal(lines_inline_node(object_lines(main), node).depth, 2);
		object_free(far);
		object_free(main);
	}
}

/* Unsorted, repeated and absurd addresses. */
static void test_any_addresses(void **state)
{
	uint64_t addresses[] = {UINT64_MAX, 0, 0, 1, 0};
	struct line_row rows[5];
	uint32_t nodes[5];

	(void)state;
	build("gcc", "-g");
	addresses[1] = addresses[4] = address_of("prog", "mark_main");

	struct object *object = open_object("prog");
	struct lines *lines = object_lines(object);

	lines_find(lines, addresses, 5, rows);
	lines_find_inlined(lines, addresses, 5, nodes);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(rows[i].line, i % 3 == 1 ? 10 : 0);
		assert_int_equal(nodes[i] != LINES_NONE, i % 3 == 1);
	}
	object_free(object);
}

/* The chain at an address as llvm-symbolizer writes it, paths without directories. */
static char *chain_text(struct lines *lines, uint64_t address)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct line_row row;
	uint32_t id;

	lines_find(lines, &address, 1, &row);
	lines_find_inlined(lines, &address, 1, &id);
	for (uint32_t file = row.file, line = row.line; id != LINES_NONE;) {
		struct inline_node node = lines_inline_node(lines, id);
		const char *path = file == LINES_NONE ? "??" : lines_file(lines, file)->path;
		const char *slash = strrchr(path, '/');

		/* The outermost name is that of the symbol there, which may be a clone's. */
		fprintf(out, "%s %s:%u\n", node.depth ? function_of(lines, id) : "-",
			slash ? slash + 1 : path, line);
		file = node.call_file;
		line = node.call_line;
		id = node.parent;
	}
	fclose(out);
	return text;
}

/* The next chain that llvm-symbolizer wrote: names and places in turns, then an empty line. */
static char *read_chain(FILE *in)
{
	char *text = NULL, name[4096], place[4096];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	while (fgets(name, sizeof(name), in) && name[0] != '\n') {
		const char *slash;
		long next;

		assert_non_null(fgets(place, sizeof(place), in));
		name[strcspn(name, "\n")] = '\0';
		*strrchr(place, ':') = '\0'; /* the column */
		slash = strrchr(place, '/');
		next = ftell(in);
		bool is_last = getc(in) == '\n';

		fseek(in, next, SEEK_SET);
		fprintf(out, "%s %s\n", is_last ? "-" : name, slash ? slash + 1 : place);
	}
	fclose(out);
	return text;
}

/* The beginning and the middle of every function of this very program. */
static void test_own_code(void **state)
{
	char *self = realpath("/proc/self/exe", NULL);
	struct object *object = open_object(self);
	struct lines *lines = object_lines(object);
	uint32_t count = object_function_count(object), compared = 0;
	FILE *out = fopen("addresses", "w");

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		const struct object_function *function = object_function(object, i);

		fprintf(out, "0x%lx\n0x%lx\n", function->address,
			function->address + function->size / 2);
	}
	fclose(out);
	run("llvm-symbolizer --obj=%s --functions=linkage --no-demangle <addresses >chains", self);

	FILE *in = fopen("chains", "r");

	for (uint32_t i = 0; i < count * 2; i++) {
		const struct object_function *function = object_function(object, i / 2);
		uint64_t address = function->address + (i % 2 ? function->size / 2 : 0);
		char *mine = chain_text(lines, address), *expected = read_chain(in);

		/* Where DWARF knows no function or line, as in what a sanitizer adds, there is
		 * nothing to compare. */
		bool known = *mine && strcmp(mine, "- ??:0\n") != 0;

		if (known && strcmp(mine, expected) != 0)
			fail_msg("0x%lx:\n%snot\n%s", address, mine, expected);
		compared += known;
		free(mine);
		free(expected);
	}
	fclose(in);
	assert_in_range(compared, 50, UINT32_MAX);
	object_free(object);
	free(self);
}

/* A table of DWARF 4 with one file; of opcodes there are the extended and those up to 3. */
static const uint8_t going_back[] = {
	67,  0, 0, 0,	 4,    0, 16, 0, 0, 0, 1, 1, 1, 0, 1, 4, 0, 1, 1, 0, /* no directory */
	'f', 0, 0, 0,	 0,    0,					     /* the files */
	0,   9, 2, 0x10, 0x10, 0, 0,  0, 0, 0, 0, 1,			     /* 0x1010: line 1 */
	0,   9, 2, 0x08, 0x10, 0, 0,  0, 0, 0, 0, 1,			     /* back at 0x1008 */
	0,   1, 1,							     /* the end, there */
	0,   9, 2, 0x20, 0x10, 0, 0,  0, 0, 0, 0, 1,			     /* 0x1020: line 1 */
	2,   4, 0, 1,	 1, /* the end, at 0x1024 */
	0,
};

/* What is left of a table has rows at greater and greater addresses. */
static void test_sequences_that_go_back(void **state)
{
	(void)state;
	const struct line_sections sections = {.line = {going_back, sizeof(going_back)}};
	struct code_range range = {0x1000, 0x2000};
	const struct code_ranges ranges = {&range, 1, 1};
	struct line_program program;
	struct program_rows rows = {0};

	assert_true(line_program_open(&sections, 0, &program));
	line_program_run(&program, &ranges, &rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.items[0].offset, 0x20);
	assert_int_equal(rows.items[0].line, 1);
	assert_int_equal(rows.items[1].offset, 0x24);
	assert_int_equal(rows.items[1].file, PROGRAM_NO_FILE);
	line_program_free(&rows);
	line_program_close(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences_that_go_back),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_compressed_by_zstd),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_and_compressed),
		cmocka_unit_test(test_package),
		cmocka_unit_test(test_damage_in_a_package),
		cmocka_unit_test(test_alternate),
		cmocka_unit_test(test_separate),
		cmocka_unit_test(test_link_time_optimization),
		cmocka_unit_test(test_no_aranges),
		cmocka_unit_test(test_no_lines),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_discarded),
		cmocka_unit_test(test_file_and_unit),
		cmocka_unit_test(test_object_files),
		cmocka_unit_test(test_any_addresses),
		cmocka_unit_test(test_own_code),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
