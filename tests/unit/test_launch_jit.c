/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps of compilers at run time that somebody has made to cost much: this process is taken for
 * the one that wrote them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/folder.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "launch/run/family.h"
#include "launch/run/jit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOAD = 0, LINES = 2, HEAD = 16 }; /* kinds of records; bytes of a record's head */

static char folder[] = "/tmp/helio-jit-XXXXXX";
static char dump[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(dump, sizeof(dump), "/tmp/jit-%d.dump", (int)getpid());
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(dump);
	unlink(FORMAT_FILE_PROFILE);
	unlink(FORMAT_FILE_MAP);
	unlink(FORMAT_FILE_DYNTEXT);
	return chdir("/") || rmdir(folder);
}

static void put(struct strbuf *text, const void *data, size_t size)
{
	strbuf_add(text, data, size);
}

static void put_record(struct strbuf *text, uint32_t kind, const struct strbuf *contents)
{
	uint32_t head[4] = {kind, (uint32_t)(HEAD + contents->length)};

	put(text, head, sizeof(head));
	put(text, contents->text, contents->length);
}

static void begin_dump(struct strbuf *text)
{
	uint32_t head[10] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};

	put(text, head, sizeof(head));
}

/* What comes before a function's code. */
static void put_function(struct strbuf *contents, uint64_t address, uint64_t size, const char *name)
{
	struct {
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
	} function = {(uint32_t)getpid(), (uint32_t)getpid(), address, address, size, 1};

	put(contents, &function, sizeof(function));
	put(contents, name, strlen(name) + 1);
}

static void write_file(const char *path, const void *data, size_t size)
{
	unlink(path);
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, data, size), size);
	close(file);
}

/* What the experiment says of the dump; s of CPU time. */
static double read_dump(struct strbuf *map)
{
	static const char begin[] = "<?xml version=\"1.0\"?>\n<maps>\n</maps>\n";
	struct timespec from, to;
	struct diag_list diags = {0};
	struct family family;
	char buffer[1 << 16];
	ssize_t got;

	write_file(FORMAT_FILE_PROFILE, "", 0);
	write_file(FORMAT_FILE_MAP, begin, strlen(begin));
	write_file(FORMAT_FILE_DYNTEXT, "", 0);
	family_open(&family, folder_open(".", 0), getpid(), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	jit_add_functions(&family, &family.members.items[0], NULL, &diags);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	family_close(&family);
	diag_fini(&diags);

	int file = open(FORMAT_FILE_MAP, O_RDONLY);

	while ((got = read(file, buffer, sizeof(buffer))) > 0)
		strbuf_add(map, buffer, (size_t)got);
	close(file);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* One function with so many lines of one file, whose name is so long. */
static double spent_on(unsigned lines, size_t length, bool *has_lines)
{
	uint64_t head[2] = {0x1000, lines};
	struct strbuf text = {0}, contents = {0}, map = {0};
	char *name = xmalloc(length + 1);

	memset(name, 'n', length);
	name[length] = '\0';
	begin_dump(&text);
	put(&contents, head, sizeof(head));
	for (unsigned i = 0; i < lines; i++) {
		struct {
			uint64_t address;
			uint32_t line, discriminator;
		} entry = {0x1000 + i, i + 1, 0};

		put(&contents, &entry, sizeof(entry));
		put(&contents, i ? "\xff" : name, (i ? 1 : length) + 1);
	}
	put_record(&text, LINES, &contents);
	strbuf_clear(&contents);
	put_function(&contents, 0x1000, lines, "function");
	memset(name, 'c', length);
	for (size_t left = lines; left;) {
		size_t size = left < length ? left : length;

		put(&contents, name, size);
		left -= size;
	}
	put_record(&text, LOAD, &contents);
	write_file(dump, text.text, text.length);
	double spent = read_dump(&map);

	assert_non_null(strstr(map.text, "name=\"function\""));
	*has_lines = strstr(map.text, " source=\"nnn");
	strbuf_fini(&map);
	strbuf_fini(&contents);
	strbuf_fini(&text);
	free(name);
	return spent;
}

/* Lines that share the name of a file do not each cost what its length does. */
static void test_long_names(void **state)
{
	enum { LINES_EACH = 30000, LONG = 4000, TOO_LONG = 100000 };
	bool has_lines;
	double usual = spent_on(LINES_EACH, 40, &has_lines);

	(void)state;
	assert_true(has_lines);
	double with_long = spent_on(LINES_EACH, LONG, &has_lines);

	assert_true(has_lines);
	/* for each line, it was 100 times the usual */
	assert_true(with_long <= 10 * usual);
	double with_too_long = spent_on(LINES_EACH, TOO_LONG, &has_lines);

	assert_false(has_lines); /* that is no file's name */
	assert_true(with_too_long <= 10 * usual);
}

/* Code beyond 64 MB of a process is not kept, also where the limit was passed by one function. */
static void test_much_code(void **state)
{
	enum { LIMIT = 64 << 20, PART = 4 << 20, SMALL = 64 };
	struct strbuf text = {0}, contents = {0}, map = {0};
	char *part = xcalloc(PART, 1);
	struct stat info;

	(void)state;
	begin_dump(&text);
	put_function(&contents, 1 << 30, LIMIT, "large");
	for (size_t size = 0; size < LIMIT; size += PART)
		put(&contents, part, PART);
	put_record(&text, LOAD, &contents);
	for (int i = 0; i < 2; i++) {
		strbuf_clear(&contents);
		put_function(&contents, (2ull << 30) + (uint64_t)i * SMALL, SMALL, "small");
		put(&contents, part, SMALL);
		put_record(&text, LOAD, &contents);
	}
	write_file(dump, text.text, text.length);
	read_dump(&map);
	assert_non_null(strstr(map.text, "name=\"large\" text="));
	assert_non_null(strstr(map.text, "name=\"small\"/>"));
	assert_null(strstr(map.text, "name=\"small\" text="));
	assert_int_equal(stat(FORMAT_FILE_DYNTEXT, &info), 0);
	assert_true(info.st_size >= LIMIT && info.st_size < LIMIT + 4096);
	strbuf_fini(&map);
	strbuf_fini(&contents);
	strbuf_fini(&text);
	free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_much_code),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
