/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's two conventions for compilers at run time.  The map is a text with a line "START SIZE
 * name" for each function, numbers hexadecimal; the dump is binary: a header, then records, of
 * which those of kind 0 are functions, with their code.  Both may end in the middle of something,
 * as the process did.  They become events of map.xml here, so that no reader needs to know them and
 * the experiment is whole by itself.
 */
#include "launch/jit.h"

#include "base/memory.h"
#include "launch/xml.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	FUNCTION_LIMIT = 1 << 20, /* of one process; V8 makes some ten thousand */
	NAME_LIMIT = 4096,
	TEXT_LIMIT = 64 << 20, /* bytes of events: readers take map.xml of up to 256 MB */
	DUMP_MAGIC = 0x4a695444,
	DUMP_LOAD = 0, /* kind of a record: a function */
};

/* A record of the dump; those of functions go on with the name, then the code. */
struct dump_record {
	uint32_t kind, size;
	uint64_t time;
};
struct dump_function {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

/* A function whose name lies in the file. */
struct jit_function {
	uint64_t address, size;
	const char *name;
	size_t name_length;
	size_t order;
};
struct jit {
	const char *text;
	size_t size;
	VEC(struct jit_function) functions;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether a file is as young as the recording, and nobody's trick. */
static bool is_ours(const struct family *family, const struct member *member, const struct stat *st)
{
	uint64_t written =
		(uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
	uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);

	return S_ISREG(st->st_mode) && st->st_size && st->st_nlink == 1 &&
	       written >= boot + family->mono_ns + member->tstamp_ns;
}

static bool open_file(const struct family *family, const struct member *member, const char *path,
		      struct jit *jit)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	void *text = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && is_ours(family, member, &st))
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return false;
	*jit = (struct jit){.text = text, .size = (size_t)st.st_size};
	return true;
}

static void add_function(struct jit *jit, uint64_t address, uint64_t size, const char *name,
			 size_t length)
{
	if (!size || !length || address + size < address || jit->functions.count >= FUNCTION_LIMIT)
		return;
	*vec_push(&jit->functions) = (struct jit_function){
		address, size, name, length < NAME_LIMIT ? length : NAME_LIMIT,
		jit->functions.count};
}

/* A hexadecimal number and the blanks behind it, before `end`. */
static bool read_hex(const char **at, const char *end, uint64_t *value)
{
	const char *begin = *at;

	*value = 0;
	for (; *at < end; ++*at) {
		char c = *(*at) | 0x20;
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			break;
		*value = *value << 4 | (unsigned)digit;
	}
	bool any = *at > begin;

	while (*at < end && **at == ' ')
		++*at;
	return any;
}

static void read_map(struct jit *jit)
{
	const char *end = jit->text + jit->size, *line_end;

	for (const char *at = jit->text; (line_end = memchr(at, '\n', (size_t)(end - at)));
	     at = line_end + 1) {
		uint64_t address, size;

		if (read_hex(&at, line_end, &address) && read_hex(&at, line_end, &size))
			add_function(jit, address, size, at, (size_t)(line_end - at));
	}
}

static void read_dump(struct jit *jit)
{
	uint32_t head[3]; /* magic, version, size of the header */
	struct dump_record record;
	struct dump_function function;

	if (jit->size < sizeof(head))
		return;
	memcpy(head, jit->text, sizeof(head));
	if (head[0] != DUMP_MAGIC)
		return;
	for (size_t at = head[2]; at <= jit->size && jit->size - at >= sizeof(record);
	     at += record.size) {
		memcpy(&record, jit->text + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > jit->size - at)
			return;
		size_t room = record.size - sizeof(record);

		if (record.kind != DUMP_LOAD || room < sizeof(function))
			continue;
		memcpy(&function, jit->text + at + sizeof(record), sizeof(function));
		const char *name = jit->text + at + sizeof(record) + sizeof(function);

		add_function(jit, function.address, function.size, name,
			     strnlen(name, room - sizeof(function)));
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct jit_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Of functions that begin at one address the last. False: there are too many. */
static bool write_events(struct jit *jit, uint64_t time_ns, struct strbuf *out)
{
	struct jit_function *items = jit->functions.items;

	qsort(items, jit->functions.count, sizeof(*items), compare_functions);
	for (size_t i = 0; i < jit->functions.count; i++) {
		if (out->length > TEXT_LIMIT)
			return false;
		if (i + 1 < jit->functions.count && items[i + 1].address == items[i].address)
			continue;
		char *name = xstrndup(items[i].name, items[i].name_length);

		strbuf_printf(out,
			      "<event kind=\"load\" tstamp=\"%" PRIu64
			      "\" epoch=\"0\" vaddr=\"0x%" PRIx64 "\" size=\"0x%" PRIx64 "\"",
			      time_ns, items[i].address, items[i].size);
		xml_add_attribute(out, "name", name);
		strbuf_puts(out, "/>\n");
		free(name);
	}
	return jit->functions.count < FUNCTION_LIMIT;
}

/* Behind the last whole line, in place of the closing tag if there is one. */
static off_t end_of_events(int fd, off_t size)
{
	static const char closing[] = "</maps>\n";
	char tail[4096];
	size_t wanted = size < (off_t)sizeof(tail) ? (size_t)size : sizeof(tail);
	ssize_t got = pread(fd, tail, wanted, size - (off_t)wanted);
	const char *line = got > 0 ? memrchr(tail, '\n', (size_t)got) : NULL;

	if (!line)
		return size;
	size_t length = (size_t)(line + 1 - tail), end = sizeof(closing) - 1;

	if (length >= end && !memcmp(line + 1 - end, closing, end))
		length -= end;
	return size - got + (off_t)length;
}

static void add_events(const struct family *family, const struct member *member, struct jit *jit,
		       struct diag_list *diags)
{
	int fd = family_open_file(family, member, FORMAT_FILE_MAP, O_RDWR);
	struct strbuf text = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		goto out;
	if (!write_events(jit, clock_ns(CLOCK_MONOTONIC) - family->mono_ns, &text))
		diag_add_once(diags, DIAG_WARNING,
			      "A compiler at run time made more functions than are kept; the rest "
			      "show as <Unknown>");
	off_t end = end_of_events(fd, st.st_size);

	if (pwrite(fd, text.text, text.length, end) != (ssize_t)text.length)
		diag_add_once(diags, DIAG_WARNING,
			      "Functions that a compiler made at run time show as <Unknown>: %s",
			      strerror(errno));
out:
	if (fd >= 0)
		close(fd);
	strbuf_fini(&text);
}

/* The directory in which the program began, to be freed; NULL: unknown, or not in plain letters. */
static char *directory_of(const struct family *family, const struct member *member)
{
	char *log = family_read_log(family, member);
	const char *line = log ? strstr(log, "\n<process ") : NULL;
	const char *begin = line ? strstr(line, " cwd=\"") : NULL, *end;
	char *directory = NULL;

	if (begin && (end = strchr(begin += strlen(" cwd=\""), '"')) &&
	    !memchr(begin, '&', (size_t)(end - begin)))
		directory = xstrndup(begin, (size_t)(end - begin));
	free(log);
	return directory;
}

void jit_add_functions(const struct family *family, const struct member *member,
		       struct diag_list *diags)
{
	char *directory = member->pid ? directory_of(family, member) : NULL;
	char *paths[] = {member->pid ? xasprintf("/tmp/perf-%d.map", (int)member->pid) : NULL,
			 directory ? xasprintf("%s/jit-%d.dump", directory, (int)member->pid)
				   : NULL};
	void (*const read[])(struct jit *) = {read_map, read_dump};

	for (size_t i = 0; i < 2; i++) {
		struct jit jit;

		if (paths[i] && open_file(family, member, paths[i], &jit)) {
			read[i](&jit);
			if (jit.functions.count)
				add_events(family, member, &jit, diags);
			munmap((void *)jit.text, jit.size);
			vec_fini(&jit.functions);
		}
		free(paths[i]);
	}
	free(directory);
}
