/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of real files and of a hand-made one.  Ground truth: what readelf and
 * objdump print, searched by a simple scan, and offsets known by construction.
 */
#include "test_object_support.h"

struct line_symbol {
	uint64_t address, size;
	char *name;
};
struct line_symbols {
	struct line_symbol *items;
	size_t count, capacity;
};

/* Function symbols as readelf lists them, names without versions. */
static void read_with_readelf(const char *path, struct line_symbols *symbols)
{
	char *command = xasprintf("readelf -sW %s 2>/dev/null", path);
	FILE *pipe = popen(command, "r");
	char line[16384], size_text[32], type[16], section[16], name[8192];
	uint64_t address;

	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (sscanf(line, " %*d: %lx %31s %15s %*s %*s %15s %8191s", &address, size_text,
			   type, section, name) != 5)
			continue;
		if ((strcmp(type, "FUNC") != 0 && strcmp(type, "IFUNC") != 0) ||
		    !strcmp(section, "UND"))
			continue;
		name[strcspn(name, "@")] = '\0';
		*vec_push(symbols) =
			(struct line_symbol){address, strtoull(size_text, NULL, 0), xstrdup(name)};
	}
	pclose(pipe);
	free(command);
}

static void free_symbols(struct line_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		free(symbols->items[i].name);
	vec_fini(symbols);
}

/*
 * Of all functions that hold the address, the one that begins last; of its
 * names the last.  A function without a size makes the answer NULL ("cannot
 * say") when nothing with a size begins after it.
 */
static const char *scan(const struct line_symbols *symbols, uint64_t address, bool *can_say)
{
	const struct line_symbol *best = NULL;
	uint64_t sizeless = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct line_symbol *symbol = &symbols->items[i];

		if (symbol->address > address)
			continue;
		if (!symbol->size && symbol->address > sizeless)
			sizeless = symbol->address;
		if (symbol->size <= address - symbol->address)
			continue;
		if (!best || symbol->address > best->address ||
		    (symbol->address == best->address && strcmp(symbol->name, best->name) > 0))
			best = symbol;
	}
	*can_say = !sizeless || (best && best->address >= sizeless);
	return best ? best->name : NULL;
}

static void text_section(const char *path, uint64_t *start, uint64_t *size)
{
	char *command = xasprintf("readelf -SW %s | sed 's/^ *\\[ *[0-9]*\\]//' | "
				  "awk '$1 == \".text\" {print $3, $5}'",
				  path);
	char *line = output_of(command);

	assert_int_equal(sscanf(line, "%lx %lx", start, size), 2);
	free(line);
	free(command);
}

/* Random addresses in .text: the object agrees with the scan over readelf's list. */
static void check_against_readelf(const char *path, unsigned count)
{
	struct line_symbols symbols = {0};
	uint64_t start, size, random = 1;
	unsigned checked = 0, named = 0;

	if (!exists(path)) {
		print_message("no %s here\n", path);
		return;
	}
	struct object *object = open_object(path);
	char *id = build_id_of(path);
	char *debug = xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);

	read_with_readelf(path, &symbols);
	if (exists(debug)) {
		read_with_readelf(debug, &symbols);
		assert_string_equal(object_debug_file(object), debug);
	} else {
		assert_null(object_debug_file(object));
	}
	text_section(path, &start, &size);
	for (unsigned i = 0; i < count; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;

		bool can_say;
		uint64_t address = start + (random >> 20) % size;
		const char *expected = scan(&symbols, address, &can_say);
		const char *name = name_at(object, address);

		if (!can_say)
			continue;
		checked++;
		if (!expected) {
			if (strncmp(name, "<static>@0x", 11) != 0)
				fail_msg("%s 0x%lx: %s, expected <static>", path, address, name);
			continue;
		}
		named++;
		if (strcmp(name, expected) != 0)
			fail_msg("%s 0x%lx: %s, expected %s", path, address, name, expected);
	}
	assert_true(checked > count / 2);
	assert_true(named > count / 10);
	free(id);
	free(debug);
	free_symbols(&symbols);
	object_free(object);
}

static void test_libc(void **state)
{
	(void)state;
	check_against_readelf("/lib/x86_64-linux-gnu/libc.so.6", 4000);
}

static void test_python(void **state)
{
	(void)state;
	check_against_readelf("/usr/bin/python3", 4000);
}

static void test_cc1(void **state)
{
	(void)state;
	check_against_readelf("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", 2000);
}

static void test_libstdcxx(void **state)
{
	(void)state;
	check_against_readelf("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 2000);
}

/*
 * Every NAME@plt that objdump prints.  It writes *ABS*+0xADDRESS for what an
 * indirect function resolves to; there the name is that of the function at
 * this address.
 */
static unsigned check_plt(const char *objdump, const char *path)
{
	char *command =
		xasprintf("%s -d -j .plt -j .plt.got -j .plt.sec %s 2>/dev/null", objdump, path);
	struct object *object = open_object(path);
	FILE *pipe = popen(command, "r");
	char line[8192], name[4096];
	unsigned checked = 0;
	uint64_t address, resolver;

	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (sscanf(line, "%lx <%4095[^>]>", &address, name) != 2 ||
		    !ends_with(name, "@plt"))
			continue;
		if (sscanf(name, "*ABS*+0x%lx@plt", &resolver) == 1)
			snprintf(name, sizeof(name), "%.4000s@plt", name_at(object, resolver));
		assert_string_equal(name_at(object, address), name);
		assert_string_equal(name_at(object, address + 6), name);
		checked++;
	}
	pclose(pipe);
	free(command);
	object_free(object);
	return checked;
}

static void test_plt(void **state)
{
	(void)state;
	assert_true(check_plt("objdump", "/lib/x86_64-linux-gnu/libc.so.6") > 20);
	assert_true(check_plt("objdump", "/usr/bin/python3") > 100);
	if (exists("/usr/bin/sqlite3"))
		assert_true(check_plt("objdump", "/usr/bin/sqlite3") > 100);
}

static void test_plt_flavours(void **state)
{
	static const char *const flags[] = {"-Wl,-z,lazy", "-Wl,-z,now",
					    "-Wl,-z,lazy,-z,ibtplt -fcf-protection",
					    "-Wl,-z,now,-z,ibtplt -fcf-protection"};

	(void)state;
	write_file("plt.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
			    "int main(void) { puts(getenv(\"HOME\")); return atoi(\"0\"); }\n");
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		run("gcc -O0 %s -o plt plt.c", flags[i]);
		assert_true(check_plt("objdump", "./plt") >= 3);
	}
	/* With CET and lazy binding the first call of a function goes through .plt, too. */
	run("gcc -O0 %s -o plt plt.c", flags[2]);

	struct object *object = open_object("./plt");
	char *line = output_of("readelf -SW ./plt | sed 's/^ *\\[ *[0-9]*\\]//' | "
			       "awk '$1 == \".plt\" {print $3}'");
	uint64_t plt = strtoull(line, NULL, 16);

	assert_string_equal(name_at(object, plt + 4), "@plt");
	assert_true(ends_with(name_at(object, plt + 16), "@plt"));
	assert_string_not_equal(name_at(object, plt + 16), "@plt");
	free(line);
	object_free(object);
}

/* Slots of AArch64 differ in size; the linker puts a hint before the first instruction of each. */
static void test_plt_aarch64(void **state)
{
	static const char *const flags[] = {"-z lazy", "-z now", "-z force-bti", "-z pac-plt",
					    "-z force-bti -z pac-plt"};

	(void)state;
	write_file("arm.c",
		   "int one(void), two(void), three(void);\n"
		   "static int chosen(void) { return 4; }\n"
		   "static int (*choose(void))(void) { return chosen; }\n"
		   "__attribute__((ifunc(\"choose\"), visibility(\"hidden\"))) int four(void);\n"
		   "int all(void) { return one() + two() + three() + four(); }\n");
	run("clang --target=aarch64-linux-gnu -Wno-unused -O1 -fPIC -c arm.c");
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		run("aarch64-linux-gnu-ld --no-warnings -shared %s -o arm.so arm.o 2>/dev/null",
		    flags[i]);
		assert_int_equal(check_plt("aarch64-linux-gnu-objdump", "./arm.so"), 4);

		struct object *object = open_object("./arm.so");
		char *line = output_of("readelf -SW ./arm.so | sed 's/^ *\\[ *[0-9]*\\]//' | "
				       "awk '$1 == \".plt\" {print $3}'");

		assert_string_equal(name_at(object, strtoull(line, NULL, 16) + 8), "@plt");
		free(line);
		object_free(object);
	}
}

/* Every offset below is counted from `outer`; the assembler is told all sizes. */
static const char assembly[] =
	".macro code count\n.skip \\count, 0x90\n.endm\n"
	".macro function name\n.type \\name, @function\n\\name:\n.endm\n"
	".text\n.globl outer\n"
	"function outer\ncode 16\n"
	"function inner\ncode 8\n.size inner, . - inner\n"				   /* 16 */
	"inside_label:\ncode 8\n"							   /* 24 */
	"function inside_function\ncode 8\n"						   /* 32 */
	"function inside_next\ncode 24\n.size inside_next, 8\n"				   /* 40 */
	".size outer, . - outer\n"							   /* 64 */
	"first_label:\ncode 16\n"							   /* 64 */
	"function second\ncode 20\n"							   /* 80 */
	".Llocal:\n.type \"$x\", @function\n\"$x\":\n\"$d.7\":\n.annobin_mark:\ncode 12\n" /* 100 */
	"zz_label:\nfunction beta\nfunction alpha\n.globl gamma\nfunction gamma\ncode 16\n" /* 112
											     */
	".size beta, 16\n.size alpha, 16\n.size gamma, 16\n"
	"code 48\n"			    /* 128: no symbol */
	"function left\ncode 16\n"	    /* 176 */
	"function right\ncode 32\n"	    /* 192 */
	".size left, 32\n.size right, 32\n" /* 224 */
	".globl chosen\n.type chosen, @gnu_indirect_function\nchosen:\ncode 16\n.size chosen, 16\n"
	".globl versioned_1\nfunction versioned_1\ncode 16\n.size versioned_1, 16\n" /* 240 */
	".symver versioned_1, versioned@@VERS_1, remove\n"
	"function last\ncode 16\n" /* 256 */
	".section .other, \"ax\", @progbits\n"
	"code 32\n"
	".data\n.globl thing\n.type thing, @object\nthing:\n.quad 0\n.size thing, 8\n";

static const struct {
	unsigned offset;
	const char *name; /* NULL: made up */
	unsigned start;
	unsigned size;
	const char *aliases;
} expected_functions[] = {
	{0, "outer", 0, 64, NULL},
	{15, "outer", 0, 64, NULL},
	{16, "inner", 16, 8, NULL},
	{23, "inner", 16, 8, NULL},
	{24, "outer", 0, 64, NULL}, /* a label in a function names nothing */
	{33, "inside_function", 32, 8, NULL},
	{40, "inside_next", 40, 8, NULL},
	{48, "outer", 0, 64, NULL}, /* goes on after what it holds */
	{63, "outer", 0, 64, NULL},
	{64, "first_label", 64, 16, NULL},
	{79, "first_label", 64, 16, NULL},
	{80, "second", 80, 32, NULL},
	{111, "second", 80, 32, NULL}, /* beyond .L, $x, $d and .annobin */
	{112, "gamma", 112, 16, "alpha beta gamma zz_label"},
	{128, NULL, 128, 48, NULL},
	{175, NULL, 128, 48, NULL},
	{191, "left", 176, 32, NULL},
	{192, "right", 192, 32, NULL}, /* the later of two that overlap */
	{223, "right", 192, 32, NULL},
	{224, "chosen", 224, 16, NULL},
	{240, "versioned", 240, 16, NULL},
	{271, "last", 256, 16, NULL},
};

static void test_construction(void **state)
{
	(void)state;
	write_file("made.s", assembly);
	write_file("made.map",
		   "VERS_1 { global: outer; chosen; gamma; thing; versioned; local: *; };");
	run("gcc -nostdlib -shared -Wa,--keep-locals -Wl,--version-script=made.map "
	    "-Wl,--discard-none -o made.so made.s");

	struct object *object = open_object("made.so");
	uint64_t base = address_of("made.so", "outer");

	for (size_t i = 0; i < sizeof(expected_functions) / sizeof(*expected_functions); i++) {
		const struct object_function *function =
			function_at(object, base + expected_functions[i].offset);
		char *made_up =
			xasprintf("<static>@0x%lx (<made.so>)", base + expected_functions[i].start);

		assert_string_equal(function->mangled, expected_functions[i].name
							       ? expected_functions[i].name
							       : made_up);
		assert_int_equal(function->address, base + expected_functions[i].start);
		assert_int_equal(function->size, expected_functions[i].size);
		if (expected_functions[i].aliases)
			assert_string_equal(function->alias_list, expected_functions[i].aliases);
		else
			assert_null(function->alias_list);
		free(made_up);
	}
	/* Sections are separate ranges; data and headers are no code. */
	assert_true(ends_with(name_at(object, base + 272), "(<made.so>)"));
	assert_string_equal(name_at(object, address_of("made.so", "thing")), "none");
	assert_string_equal(name_at(object, 0), "none");
	assert_string_equal(name_at(object, UINT64_MAX), "none");
	object_free(object);
}

/* Functions listed in address order, each found at its own address. */
static void test_listing(void **state)
{
	struct object *object = open_object("/lib/x86_64-linux-gnu/libc.so.6");
	uint32_t count = object_function_count(object);

	(void)state;
	assert_true(count > 1000);
	for (uint32_t i = 0; i < count; i++) {
		const struct object_function *function = object_function(object, i);

		assert_int_equal(object_function_at(object, function->address), i);
		if (i)
			assert_true(object_function(object, i - 1)->address < function->address);
	}
	object_free(object);
}

static const char statics[] =
	"#include <stdlib.h>\n"
	"static __attribute__((noinline)) int one(int x) { return x * atoi(\"7\"); }\n"
	"static __attribute__((noinline)) int two(int x) { return one(x) + atoi(\"3\"); }\n"
	"static __attribute__((noinline)) int three(int x) { return two(x) - atoi(\"1\"); }\n"
	"int main(int argc, char **argv) { (void)argv; return three(argc); }\n";

/* Stripped code: a made-up function for each real one, as .eh_frame_hdr tells them apart. */
static void test_stripped_with_entries(void **state)
{
	static const char *const names[] = {"one", "two", "three", "main"};

	(void)state;
	write_file("statics.c", statics);
	run("gcc -O1 -fno-ipa-cp -fno-optimize-sibling-calls -o statics statics.c");
	run("strip -o statics.bare statics");

	struct object *object = open_object("./statics.bare");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t address = address_of("statics", names[i]);
		char *expected = xasprintf("<static>@0x%lx (<statics.bare>)", address);

		assert_string_equal(name_at(object, address), expected);
		assert_string_equal(name_at(object, address + 5), expected);
		assert_int_equal(object_function_at(object, address),
				 object_function_at(object, address + 5));
		free(expected);
	}
	object_free(object);
}

/*
 * Labels without a size, as assembly files have them, in a stripped file: the code behind them is
 * not theirs.  `described` has a frame description of 48 bytes, `bare` none.
 */
static const char sizeless[] =
	".text\n.globl described, bare, after\n.p2align 4\n"
	"described:\n.cfi_startproc\n.skip 40, 0x90\nhidden_1:\n.skip 8, 0x90\n.cfi_endproc\n"
	".skip 64, 0x90\n"			 /* 48: nobody's */
	"bare:\n.skip 30, 0x50\nret\n.nops 17\n" /* 112 */
	"hidden_2:\n.skip 200, 0x50\n"		 /* 160 */
	"after:\nret\n"				 /* 360 */
	".globl sized\n.type sized, @function\nsized:\n.cfi_startproc\nret\n.cfi_endproc\n"
	".size sized, . - sized\n";

static void test_labels_without_size(void **state)
{
	static const struct {
		unsigned offset, size;
		const char *name;
	} expected[] = {{0, 48, "described"}, {47, 48, "described"}, {48, 64, NULL},
			{112, 48, "bare"},    {159, 48, "bare"},     {160, 200, NULL},
			{359, 200, NULL},     {360, 1, "after"},     {361, 1, "sized"}};

	(void)state;
	write_file("sizeless.s", sizeless);
	run("gcc -nostdlib -shared -Wl,--no-ld-generated-unwind-info -o sizeless.so sizeless.s");

	uint64_t base = address_of("sizeless.so", "described");

	assert_int_equal(address_of("sizeless.so", "bare") - base, 112);
	assert_int_equal(address_of("sizeless.so", "hidden_2") - base, 160);
	run("strip sizeless.so");

	struct object *object = open_object("./sizeless.so");

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const struct object_function *function =
			function_at(object, base + expected[i].offset);

		if (expected[i].name)
			assert_string_equal(function->mangled, expected[i].name);
		else
			assert_true(ends_with(function->mangled, "(<sizeless.so>)"));
		assert_int_equal(function->size, expected[i].size);
	}
	object_free(object);
}

/* Without unwind tables: one made-up function from the last symbol to the section's end. */
static void test_stripped_without_entries(void **state)
{
	uint64_t start, size;

	(void)state;
	write_file("statics.c", statics);
	write_file("local.map", "{ local: *; };");
	run("gcc -fPIC -O1 -fno-asynchronous-unwind-tables -nostdlib -shared "
	    "-Wl,--no-ld-generated-unwind-info -Wl,--version-script=local.map "
	    "-o plain.so statics.c");
	run("strip plain.so");
	text_section("plain.so", &start, &size);

	struct object *object = open_object("plain.so");
	const struct object_function *function = function_at(object, start + size - 1);
	char *expected = xasprintf("<static>@0x%lx (<plain.so>)", start);

	assert_string_equal(function->mangled, expected);
	assert_int_equal(function->address, start);
	assert_int_equal(function->size, size);
	free(expected);
	object_free(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_construction),
		cmocka_unit_test(test_stripped_with_entries),
		cmocka_unit_test(test_stripped_without_entries),
		cmocka_unit_test(test_labels_without_size),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_plt_flavours),
		cmocka_unit_test(test_plt_aarch64),
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_cc1),
		cmocka_unit_test(test_libstdcxx),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
