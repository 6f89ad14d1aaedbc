/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged and hostile files: whatever is in them, opening and asking ends, and
 * a function that is answered holds the address asked for.
 */
#include "base/file_map.h"
#include "object/elf/debug_info.h"
#include "object/elf/elf_file.h"
#include "object/elf/inflate.h"
#include "object/lines/lines.h"
#include "object/lines/remarks.h"
#include "object/names/name.h"
#include "test_object_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct changer {
	volatile uint64_t *size;
	uint64_t truth;
	atomic_bool stop;
};

struct image {
	unsigned char *data;
	size_t size;
};

static struct image load(const char *path)
{
	struct stat info;
	FILE *file = fopen(path, "rb");
	struct image image;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &info), 0);
	image.size = (size_t)info.st_size;
	image.data = xmalloc(image.size);
	assert_int_equal(fread(image.data, 1, image.size, file), image.size);
	fclose(file);
	return image;
}

static void save(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Asks everything that can be asked; true if the file was accepted. */
static bool exercise(const char *path)
{
	struct object_request request = {.path = path};
	struct diag_list diags = {0};
	struct object *object;

	object_open(&request, &object, &diags);
	bool found = !strcmp(object_provenance(object), "found");

	assert_int_equal(found, diags.count == 0);
	for (uint64_t address = 0; address < 0x5000; address += 0x7b)
		name_at(object, address);
	for (uint32_t i = 0; i < object_function_count(object) && i < 1000; i++)
		assert_non_null(object_function(object, i)->mangled);
	object_take_diags(object, &diags);
	diag_fini(&diags);
	object_free(object);
	return found;
}

/* A small shared object with everything in it that is read. */
static void build_target(void)
{
	write_file("t.c", "#include <stdlib.h>\n"
			  "static __attribute__((noinline)) int hidden(int x)\n"
			  "{ return x * atoi(\"7\"); }\n"
			  "int shown(int x) { return hidden(x) + abs(atoi(\"1\")); }\n"
			  "int alias(int) __attribute__((alias(\"shown\")));\n");
	run("gcc -g -O1 -fPIC -shared -Wl,--build-id=sha1 -o t.so t.c");
	run("objcopy --only-keep-debug t.so t.debug && strip -g t.so -o mini && xz -k -f mini");
	run("objcopy --add-gnu-debuglink=t.debug --add-section .gnu_debugdata=mini.xz t.so");
}

static void test_truncated(void **state)
{
	static const char *const paths[] = {"t.so", "/usr/bin/sqlite3"};

	(void)state;
	build_target();
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!exists(paths[i]))
			continue;
		struct image image = load(paths[i]);

		for (size_t size = 0; size < image.size; size += 512) {
			save("cut", image.data, size);
			assert_false(exercise("cut"));
		}
		save("cut", image.data, image.size);
		assert_true(exercise("cut"));
		free(image.data);
	}
}

/* Bytes changed at random, mostly in headers and tables. */
static void test_changed_bytes(void **state)
{
	uint64_t random = 42;

	(void)state;
	build_target();
	struct image image = load("t.so");
	unsigned char *copy = xmalloc(image.size);

	for (unsigned round = 0; round < 1500; round++) {
		memcpy(copy, image.data, image.size);
		for (unsigned i = 0; i < 1 + round % 8; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;

			/* The section headers are at the end, the ELF header at the beginning. */
			size_t window = round % 3 ? 3000 : image.size;
			size_t at = (random >> 33) % window;
			size_t place = round % 3 == 1 ? image.size - 1 - at : at;

			copy[place] = random >> 62 ? (unsigned char)(random >> 24) : 0xff;
		}
		save("changed", copy, image.size);
		exercise("changed");
	}
	free(copy);
	free(image.data);
}

/* Asks for all lines, calls and names. */
static void exercise_lines(const char *path)
{
	enum { ASKED = 4096 }; /* addresses of a function: a damaged one may have any size */
	struct object_request request = {.path = path};
	struct diag_list diags = {0};
	struct object *object;

	object_open(&request, &object, &diags);
	struct lines *lines = object_lines(object);

	for (uint32_t i = 0; i < object_function_count(object); i++) {
		const struct object_function *function = object_function(object, i);
		uint64_t end = function->address + function->size;
		struct line_rows rows = {0};

		lines_in_range(lines, function->address, end, &rows);
		assert_true(!rows.count || rows.items[rows.count - 1].end == end);
		for (uint64_t address = function->address;
		     address < end && address - function->address < ASKED; address++) {
			uint32_t node;

			lines_find_inlined(lines, &address, 1, &node);
			while (node != LINES_NONE)
				node = lines_inline_node(lines, node).parent;
		}
		free(function_display_name(object, i, NAME_LONG));
		vec_fini(&rows);
	}
	lines_file_count(lines, true);
	object_take_diags(object, &diags);
	diag_fini(&diags);
	object_free(object);
}

/* Where the debug information is in the file: all sections of the name are side by side. */
static void find_debug_info(const char *path, size_t *start, size_t *end)
{
	char *command = xasprintf("readelf -SW %s | sed 's/^ *\\[[ 0-9]*\\]//' | "
				  "awk '/^ *\\.debug_/ {if (!s) s = $4; e = $4; n = $5} "
				  "END {print s, e, n}'",
				  path);
	char *line = output_of(command);
	size_t last, size;

	assert_int_equal(sscanf(line, "%zx %zx %zx", start, &last, &size), 3);
	*end = last + size;
	free(line);
	free(command);
}

static const char small_source[] =
	"#include <stdlib.h>\n"
	"static __attribute__((noinline)) int hidden(int x) { return x * atoi(\"7\"); }\n"
	"int shown(int x) { return hidden(x) + hidden(x + 1); }\n";

static void change_object_file(const char *options, const char *command)
{
	uint64_t random = 11;

	run("gcc -g -O1 -ffunction-sections %s -c o.c && %s", options, command);
	struct image image = load("o.o");
	unsigned char *copy = xmalloc(image.size);

	for (unsigned round = 0; round < 1000; round++) {
		memcpy(copy, image.data, image.size);
		for (unsigned i = 0; i < 1 + round % 4; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;

			size_t window = round % 2 ? 3000 : image.size;

			copy[image.size - 1 - (random >> 33) % window] =
				(unsigned char)(random >> 24);
		}
		save("changed.o", copy, image.size);
		exercise_lines("changed.o");
	}
	for (size_t size = 0; size < image.size; size += 8) {
		save("changed.o", image.data, size);
		exercise_lines("changed.o");
	}
	free(copy);
	free(image.data);
}

/* Object files with bytes changed at random, half of them in the section headers and what is before
 * them; compressed ones, too. */
static void test_changed_object_file(void **state)
{
	(void)state;
	write_file("o.c", small_source);
	change_object_file("", "true");
	change_object_file("-gz=zlib", "true");
	change_object_file("-gz=zlib-gnu", "true");
	change_object_file("", "objcopy --compress-debug-sections=zstd o.o");
	change_object_file("-fPIC", "gcc -shared -nostdlib -o o.so o.o && mv o.so o.o && "
				    "objcopy --compress-debug-sections=zstd o.o");
}

/* Debug information with bytes changed at random, each version of DWARF. */
static void test_changed_debug_info(void **state)
{
	uint64_t random = 7;

	(void)state;
	write_file("d.c", "#include <stdlib.h>\n"
			  "static inline int inner(int x) { return x * atoi(\"7\"); }\n"
			  "int shown(int x) { return inner(x) + inner(x + 1); }\n"
			  "int more(int x) { return x ? shown(x) : inner(2); }\n");
	for (int version = 2; version <= 5; version++) {
		size_t start, end;

		run("gcc -gdwarf-%d -O2 -fPIC -shared -nostdlib -o d.so d.c", version);
		find_debug_info("d.so", &start, &end);

		struct image image = load("d.so");

		assert_true(start < end && end <= image.size);
		unsigned char *copy = xmalloc(image.size);

		for (unsigned round = 0; round < 300; round++) {
			memcpy(copy, image.data, image.size);
			for (unsigned i = 0; i < 1 + round % 8; i++) {
				random = random * 6364136223846793005u + 1442695040888963407u;
				copy[start + (random >> 33) % (end - start)] =
					random >> 62 ? (unsigned char)(random >> 24) : 0xff;
			}
			save("changed", copy, image.size);
			exercise_lines("changed");
		}
		free(copy);
		free(image.data);
	}
}

/* A file that is cut while it is open reads as zeros from there on. */
static void test_cut_while_open(void **state)
{
	static const char *const options[] = {"", "-gz=zlib"};

	(void)state;
	write_file("o.c", small_source);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		run("gcc -g -O1 %s -fPIC -shared -o whole.so o.c", options[i]);
		struct object_request request = {.path = "cut.so"};
		struct image image = load("whole.so");

		for (size_t size = 0; size < image.size; size += 1024) {
			struct diag_list diags = {0};
			struct object *object;
			struct line_rows rows = {0};

			save("cut.so", image.data, image.size);
			object_open(&request, &object, &diags);
			assert_non_null(lines_debug_file(object_lines(object)));
			assert_int_equal(truncate("cut.so", (off_t)size), 0);
			lines_in_range(object_lines(object), 0, UINT32_MAX, &rows);
			lines_file_count(object_lines(object), true);
			object_take_diags(object, &diags);
			vec_fini(&rows);
			diag_fini(&diags);
			object_free(object);
		}
		free(image.data);
	}
	assert_true(file_map_was_cut());
}

/* A copy that an experiment keeps is read once: what its owner writes there afterwards is unseen.
 */
static void test_rewritten_in_an_experiment(void **state)
{
	static const char *const paths[] = {"t.er/archives/o.so", "t.er/archives/store/o.so"};

	(void)state;
	write_file("o.c", small_source);
	run("gcc -g -O1 -fPIC -shared -o whole.so o.c && mkdir -p t.er/archives store && "
	    "ln -sfn ../../store t.er/archives/store");
	struct image image = load("whole.so");
	uint8_t *zeros = xcalloc(1, image.size);

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct debug_request request = {.file = paths[i]};
		struct debug_info info;
		struct diag_list diags = {0};
		struct elf_file file;

		save(paths[i], image.data, image.size);
		assert_int_equal(elf_file_open(paths[i], &file), STATUS_OK);
		assert_true(debug_info_find(&request, &info, &diags));
		save(paths[i], zeros, image.size);
		assert_memory_equal(file.image, image.data, image.size);
		assert_memory_equal(elf_rawfile(info.own.elf, NULL), image.data, image.size);
		debug_info_close(&info);
		elf_file_close(&file);
		diag_fini(&diags);
	}
	free(zeros);
	free(image.data);
}

/* So many sections that the size of their headers, as a number, is small again. */
static void test_sections_without_number(void **state)
{
	(void)state;
	write_file("o.c", small_source);
	run("gcc -g -fPIC -shared -o whole.so o.c");
	struct image image = load("whole.so");
	Elf64_Ehdr *header = (Elf64_Ehdr *)image.data;
	Elf64_Shdr *first = (Elf64_Shdr *)(image.data + header->e_shoff);
	size_t size;

	header->e_shnum = 0;
	first->sh_size = 1ull << 58;
	assert_null(inflate_sections(image.data, image.size, false, &size));
	free(image.data);
}

/* An object file with one MiB of zeros, compressed to a kilobyte. */
static void pack_zeros(const char *path)
{
	run("head -c 1048576 /dev/zero > zeros && echo | gcc -xc - -c -o %s && "
	    "objcopy --add-section .debug_x=zeros %s && "
	    "objcopy --compress-debug-sections=zlib %s",
	    path, path, path);
}

/* Rewrites the size that a compressed section says it has, to and fro. */
static void *change_size(void *data)
{
	struct changer *changer = data;

	for (uint64_t turn = 0; !atomic_load(&changer->stop); turn++)
		*changer->size = turn % 2 ? changer->truth : 1;
	return NULL;
}

/* What is unpacked has the size that was checked, whatever the file says by then. */
static void test_changed_while_inflated(void **state)
{
	struct changer changer = {0};
	pthread_t thread;
	char *line;
	size_t at;

	(void)state;
	pack_zeros("packed.o");
	line = output_of("readelf -SW packed.o | sed 's/^ *\\[[ 0-9]*\\]//' | "
			 "awk '$1 == \".debug_x\" {print $4}'");
	assert_int_equal(sscanf(line, "%zx", &at), 1);
	free(line);

	struct stat info;
	int fd = open("packed.o", O_RDWR);

	assert_int_equal(fstat(fd, &info), 0);
	uint8_t *shared =
		mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(shared != MAP_FAILED);
	changer.size = (volatile uint64_t *)(shared + at + offsetof(Elf64_Chdr, ch_size));
	changer.truth = *changer.size;
	assert_int_equal(pthread_create(&thread, NULL, change_size, &changer), 0);
	for (int round = 0; round < 2000; round++) {
		uint8_t *image = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		size_t size;
		uint8_t *out = inflate_sections(image, (size_t)info.st_size, true, &size);

		munmap(out ? out : image, out ? size : (size_t)info.st_size);
	}
	atomic_store(&changer.stop, true);
	pthread_join(thread, NULL);
	munmap(shared, (size_t)info.st_size);
	close(fd);
}

/* 2,000 sections that are the same compressed bytes: two gigabytes. */
static void test_inflated_again_and_again(void **state)
{
	struct rusage before, after;
	struct elf_file file;

	(void)state;
	pack_zeros("bomb.o");
	run("/usr/bin/python3 -c \""
	    "import struct\n"
	    "d = bytearray(open('bomb.o', 'rb').read())\n"
	    "off, = struct.unpack_from('<Q', d, 40); n, = struct.unpack_from('<H', d, 60)\n"
	    "rows = [bytes(d[off + 64 * i:off + 64 * i + 64]) for i in range(n)]\n"
	    "big = next(r for r in rows if struct.unpack_from('<Q', r, 8)[0] & 0x800)\n"
	    "struct.pack_into('<Q', d, 40, (len(d) + 7) & ~7); struct.pack_into('<H', d, 60, n + "
	    "2000)\n"
	    "d += bytes(-len(d) %% 8) + b''.join(rows) + big * 2000\n"
	    "open('bomb.o', 'wb').write(d)\"");
	getrusage(RUSAGE_SELF, &before);
	if (elf_file_open("bomb.o", &file) == STATUS_OK) {
		elf_file_inflate(&file);
		assert_true(file.size < ((size_t)64 << 20) + 16 * (size_t)file.file_size);
		elf_file_close(&file);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10); /* KiB */
}

static const char abbreviations[] = ".section .debug_abbrev,\"\",@progbits\n"
				    ".uleb128 1,0x11; .byte 1\n" /* a unit: code, lines */
				    ".uleb128 0x11,1, 0x12,7, 0x10,0x17, 0,0\n"
				    ".uleb128 2,0x11; .byte 1\n" /* a unit: ranges */
				    ".uleb128 0x55,0x17, 0,0\n"
				    ".uleb128 3,0x2e; .byte 1\n" /* a function: ranges, name */
				    ".uleb128 0x55,0x17, 0x03,0x08, 0,0\n"
				    ".uleb128 4,0x1d; .byte 0\n" /* a call: ranges */
				    ".uleb128 0x55,0x17, 0,0\n"
				    ".byte 0\n";
static const char code[] = ".text\nstart:\n.globl f\n.type f,@function\nf: .skip 64000,0x90\n"
			   "end:\n.size f,64000\n";

static void put_unit(FILE *file, const char *content)
{
	fprintf(file,
		".section .debug_info,\"\",@progbits\n.long 2f-1f\n1: .short 4\n"
		".long .debug_abbrev\n.byte 8\n%s\n.byte 0\n2:\n",
		content);
}

/* Many units, or many calls in one, of which each has all of a list of ranges. */
static void put_shared_ranges(FILE *file, bool are_units)
{
	fputs(".section .debug_ranges,\"\",@progbits\n.set n,0\n.rept 6000\n"
	      ".quad start+n,start+n+1\n.set n,n+1\n.endr\n.quad 0,0\n"
	      ".section .debug_line,\"\",@progbits\n.byte 0\n",
	      file);
	if (are_units) {
		fputs(".rept 6000\n", file);
		put_unit(file, ".uleb128 2\n.long 0\n");
		fputs(".endr\n", file);
	} else {
		put_unit(file, ".uleb128 2\n.long 0\n.uleb128 3\n.long 0\n.asciz \"f\"\n"
			       ".rept 20000\n.uleb128 4\n.long 0\n.endr\n.byte 0\n");
	}
}

/* Line tables of which each goes on to the end of the last. */
static void put_nested_tables(FILE *file)
{
	enum { TABLES = 4000 };
	char unit[100];

	fputs(".section .debug_line,\"\",@progbits\n", file);
	for (int i = 0; i < TABLES; i++)
		fprintf(file,
			"t%d: .long tables_end-t%d-4\n.short 2\n.long h%d-.-4\n"
			".byte 1,1,0xff,4,1,0\n.asciz \"a.c\"\n.byte 0,0,0,0\n"
			"h%d: .byte 0,9,2\n.quad start\n",
			i, i, i, i);
	fputs(".rept 20000\n.byte 6\n.endr\n.byte 0,1,1\ntables_end:\n", file);
	for (int i = 0; i < TABLES; i++) {
		snprintf(unit, sizeof(unit), ".uleb128 1\n.quad start\n.quad end-start\n.long t%d",
			 i);
		put_unit(file, unit);
	}
}

/* A file of some 300 KB that would be gigabytes if all was read; what is asked for comes back. */
static void test_shared_debug_information(void **state)
{
	struct object_request request = {.path = "shared.so"};
	struct diag_list diags = {0};
	struct object *object;

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		FILE *file = fopen("shared.s", "w");

		fprintf(file, "%s%s", code, abbreviations);
		if (kind < 2)
			put_shared_ranges(file, kind);
		else
			put_nested_tables(file);
		fclose(file);
		run("gcc -shared -nostdlib -o shared.so shared.s");
		exercise_lines("shared.so");
		object_open(&request, &object, &diags);

		uint64_t address = address_of("shared.so", "f");
		uint32_t node;

		lines_find_inlined(object_lines(object), &address, 1, &node);
		lines_file_count(object_lines(object), true);
		object_take_diags(object, &diags);
		assert_int_equal(diags.count, 1);
		assert_non_null(strstr(diags.items[0].text, "again and again"));
		diag_fini(&diags);
		object_free(object);
	}
}

/* Units that lie in one another, none with a line: the first ones found are enough. */
static void test_nested_units(void **state)
{
	FILE *file = fopen("nested.s", "w");

	(void)state;
	fprintf(file, "%s%s.section .debug_line,\"\",@progbits\n.byte 0\n.set n,0\n.rept 6000\n",
		code, abbreviations);
	put_unit(file, ".uleb128 1\n.quad start+n\n.quad 64000-2*n\n.long 0");
	fputs(".set n,n+1\n.endr\n", file);
	fclose(file);
	run("gcc -shared -nostdlib -o nested.so nested.s");
	exercise_lines("nested.so");
}

/* Bodies of OpenMP constructs that are all of the code, and each other's. */
static void test_bodies_without_end(void **state)
{
	static const char *const names[] = {"foo._omp_fn.", ".omp_outlined.."};
	enum { BODIES = 1000, STEP = 200 };

	(void)state;
	for (size_t kind = 0; kind < 2; kind++) {
		FILE *file = fopen("bodies.s", "w");

		fputs(".text\n", file);
		for (int i = 0; i < BODIES; i++) {
			char *name = xasprintf("%s%d", names[kind], i);

			fprintf(file,
				".type \"%s\",@function\n\"%s\": .skip %d,0x90\n.size \"%s\",%d\n",
				name, name, STEP, name, STEP * (BODIES - i));
			free(name);
		}
		fclose(file);
		run("gcc -shared -nostdlib -o bodies.so bodies.s");

		struct object *object = open_object("bodies.so");

		for (uint32_t i = 0; i < object_function_count(object); i++) {
			char *name = function_display_name(object, i, NAME_LONG);

			assert_non_null(strstr(name, "OMP parallel region"));
			free(name);
			assert_int_equal(function_parent(object, i), OBJECT_NO_FUNCTION);
		}
		object_free(object);
	}
}

static void test_no_elf(void **state)
{
	(void)state;
	write_file("text", "#!/bin/sh\necho this is a script, long enough to hold an ELF header\n");
	assert_false(exercise("text"));
	write_file("empty", "");
	assert_false(exercise("empty"));
	assert_false(exercise("/"));
	assert_false(exercise("/dev/zero"));
	assert_false(exercise(""));
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_false(exercise("pipe"));
	run("ar rc archive.a text");
	assert_false(exercise("archive.a"));
}

/* Symbols with absurd addresses and sizes beside one that is right. */
static void test_absurd_symbols(void **state)
{
	(void)state;
	write_file("absurd.s",
		   ".text\n.globl good\n.type good, @function\ngood: .skip 32\n.size good, 32\n"
		   ".globl huge\n.type huge, @function\nhuge: .skip 16\n"
		   ".size huge, 0x7fffffffffffffff\n"
		   ".globl negative\n.type negative, @function\nnegative: .skip 16\n"
		   ".size negative, -1\n"
		   ".globl far\n.type far, @function\n.set far, 0x7ffffffffffffff0\n");
	run("gcc -nostdlib -shared -o absurd.so absurd.s");

	struct object *object = open_object("absurd.so");
	uint64_t good = address_of("absurd.so", "good");

	assert_string_equal(name_at(object, good + 31), "good");
	assert_string_equal(name_at(object, good + 32), "huge");
	assert_string_equal(name_at(object, good + 48), "negative");
	assert_string_equal(name_at(object, good + 63), "negative");
	assert_string_equal(name_at(object, good + 64), "none");
	assert_string_equal(name_at(object, 0x7ffffffffffffff0), "none");
	object_free(object);
}

/* 100,000 symbols at one address: listed as far as is useful, in no time. */
static void test_many_aliases(void **state)
{
	(void)state;
	write_file("many.s", ".text\n.globl f0\n.type f0, @function\nf0: .skip 16\n.size f0, 16\n"
			     ".altmacro\n.macro alias n\n.globl f\\n\n.type f\\n, @function\n"
			     ".set f\\n, f0\n.endm\n"
			     ".set i, 1\n.rept 100000\nalias %i\n.set i, i + 1\n.endr\n");
	run("gcc -nostdlib -shared -o many.so many.s");

	struct object *object = open_object("many.so");
	const struct object_function *function = function_at(object, address_of("many.so", "f0"));

	assert_string_equal(function->mangled, "f99999");
	assert_non_null(function->alias_list);
	object_free(object);
}

/* An array of 100 million numbers: 200 KB as a file. */
static void write_bomb(const char *path)
{
	static char numbers[1 << 20];
	gzFile file = gzopen(path, "wb");

	memset(numbers, '1', sizeof(numbers));
	for (size_t i = 1; i < sizeof(numbers); i += 2)
		numbers[i] = ',';
	assert_int_equal(gzputs(file, "["), 1);
	for (int i = 0; i < 200; i++)
		assert_int_equal(gzwrite(file, numbers, sizeof(numbers)), sizeof(numbers));
	assert_int_equal(gzclose(file), 0);
}

/* An optimisation record that unpacks a thousandfold, and one that is a pipe. */
static void test_optimisation_records(void **state)
{
	enum { LEAST_KB = 64 * 1024 };
	struct remarks remarks = {0};
	struct rusage before, after;
	struct stat info;

	assert_int_equal(mkdir("records", 0755), 0);
	write_bomb("records/unit.c.opt-record.json.gz");
	assert_int_equal(stat("records/unit.c.opt-record.json.gz", &info), 0);
	assert_int_equal(mkfifo("records/unit.opt.yaml", 0644), 0);
	getrusage(RUSAGE_SELF, &before);
	alarm(60);
	remarks_read(&remarks, "records", "unit.c", NULL);
	alarm(0);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(remarks.items.count, 0);
	assert_true(after.ru_maxrss - before.ru_maxrss <= LEAST_KB + 8 * info.st_size / 1024);
	remarks_fini(&remarks);
	unlink("records/unit.c.opt-record.json.gz");
	unlink("records/unit.opt.yaml");
	rmdir("records");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_changed_object_file),
		cmocka_unit_test(test_cut_while_open),
		cmocka_unit_test(test_sections_without_number),
		cmocka_unit_test(test_rewritten_in_an_experiment),
		cmocka_unit_test(test_changed_while_inflated),
		cmocka_unit_test(test_inflated_again_and_again),
		cmocka_unit_test(test_changed_debug_info),
		cmocka_unit_test(test_changed_bytes),
		cmocka_unit_test(test_shared_debug_information),
		cmocka_unit_test(test_nested_units),
		cmocka_unit_test(test_bodies_without_end),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_absurd_symbols),
		cmocka_unit_test(test_many_aliases),
		cmocka_unit_test(test_optimisation_records),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
