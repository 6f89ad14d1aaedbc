/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's two conventions for compilers at run time.  The map is a text with a line "START SIZE
 * name" for each function, numbers hexadecimal; the dump is binary: a header, then records, of
 * which those of kind 0 are functions, with their code, and those of kind 2 the lines of the
 * function that comes next.  Both may end in the middle of something,
 * as the process did.  They become events of map.xml here, so that no reader needs to know them and
 * the experiment is whole by itself.
 */
#include "launch/run/jit.h"

#include "base/file_map.h"
#include "base/folder.h"
#include "base/memory.h"
#include "launch/run/jit_text.h"
#include "launch/run/xml.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
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
	DUMP_LOAD = 0,	  /* kinds of records: a function */
	DUMP_LINES = 2,	  /* lines of one that follows */
	V8_FUNCTIONS = 4, /* with lines, before a dump is taken for V8's */
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

struct dump_lines {
	uint64_t address, count;
};

/* A function whose name and code lie in the file. */
struct jit_function {
	uint64_t address, size;
	const char *name;
	size_t name_length;
	struct jit_code code;
	size_t order;
	uint64_t text; /* of its record in dyntext; 0: none */
	char *source;  /* or NULL */
};
struct jit {
	const char *text;
	size_t size;
	VEC(struct jit_function) functions;
	bool is_cut; /* there are more */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether the file is of root or of the user whose process recorded `profile`. */
static bool is_of_process(int profile, const struct stat *st)
{
	struct stat info;

	return !st->st_uid || (!fstat(profile, &info) && st->st_uid == info.st_uid);
}

/* Whether a file is as young as the recording, and nobody's trick. */
static bool is_of_recording(const struct family *family, const struct member *member, int profile,
			    const struct stat *st)
{
	uint64_t written =
		(uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
	uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);

	return S_ISREG(st->st_mode) && st->st_size && st->st_nlink == 1 && !file_is_hollow(st) &&
	       is_of_process(profile, st) && written >= boot + family->mono_ns + member->tstamp_ns;
}

/* Most processes have none: to see that takes no right of another's. */
static bool is_missing(const char *path)
{
	return access(path, F_OK) && errno == ENOENT;
}

static bool open_file(const struct family *family, const struct member *member, const char *path,
		      struct jit *jit)
{
	if (is_missing(path))
		return false;
	int profile = family_open_file(family, member, FORMAT_FILE_PROFILE, O_RDONLY);
	struct file_map map = {0};
	struct stat st;

	if (profile < 0)
		return false;
	folder_be_owner(profile); /* who may have written any process id into the log */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	folder_be_owner(family->folder);
	if (fd >= 0 && !fstat(fd, &st) && is_of_recording(family, member, profile, &st))
		map = file_map(fd, &st);
	if (fd >= 0)
		close(fd);
	close(profile);
	*jit = (struct jit){.text = (const char *)map.data, .size = map.size};
	return map.data;
}

static void add_function(struct jit *jit, uint64_t address, uint64_t size, const char *name,
			 size_t length, const struct jit_code *code)
{
	if (!size || !length || size > FORMAT_SEGMENT_SIZE_MAX || address + size < address)
		return;
	jit->is_cut |= jit->functions.count >= FUNCTION_LIMIT;
	if (jit->is_cut)
		return;
	*vec_push(&jit->functions) = (struct jit_function){
		.address = address,
		.size = size,
		.name = name,
		.name_length = length < NAME_LIMIT ? length : NAME_LIMIT,
		.code = code ? *code : (struct jit_code){0},
		.order = jit->functions.count,
	};
}

/* A hexadecimal number, with 0x or (as most write it) without, and the blanks behind it, before
 * `end`. */
static bool read_hex(const char **at, const char *end, uint64_t *value)
{
	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;

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

	for (const char *at = jit->text; at < end; at = line_end < end ? line_end + 1 : end) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (!line_end)
			line_end = end; /* the last line, whole or as far as it came */
		uint64_t address, size;

		if (read_hex(&at, line_end, &address) && read_hex(&at, line_end, &size))
			add_function(jit, address, size, at, (size_t)(line_end - at), NULL);
	}
}

/* A record's contents: the lines are kept for the function that they are of. */
static void read_lines(const char *contents, size_t size, struct dump_lines *lines,
		       struct jit_code *code)
{
	if (size < sizeof(*lines))
		return;
	memcpy(lines, contents, sizeof(*lines));
	*code = (struct jit_code){.lines = contents + sizeof(*lines),
				  .lines_size = size - sizeof(*lines),
				  .lines_count = lines->count};
}

static void read_load(struct jit *jit, const char *contents, size_t size,
		      const struct dump_lines *lines, struct jit_code code)
{
	struct dump_function function;

	if (size < sizeof(function))
		return;
	memcpy(&function, contents, sizeof(function));

	const char *name = contents + sizeof(function);
	size_t room = size - sizeof(function), length = strnlen(name, room);

	if (lines->address != function.address)
		code = (struct jit_code){0};
	if (length < room && function.size <= room - length - 1)
		code.bytes = name + length + 1;
	add_function(jit, function.address, function.size, name, length, &code);
}

/*
 * V8 adds the size of the ELF header that perf puts in front of the code to all addresses of
 * lines: a dump in which no function has a line before that is its.
 */
static void correct_lines(struct jit *jit)
{
	uint64_t first = UINT64_MAX, offset;
	size_t known = 0;

	for (size_t i = 0; i < jit->functions.count; i++)
		if (jit_code_first_line(&jit->functions.items[i].code,
					jit->functions.items[i].address, &offset)) {
			first = offset < first ? offset : first;
			known++;
		}
	for (size_t i = 0; i < jit->functions.count; i++)
		if (known >= V8_FUNCTIONS && first == sizeof(Elf64_Ehdr))
			jit->functions.items[i].code.lines_ahead = first;
}

static void read_dump(struct jit *jit)
{
	uint32_t head[3]; /* magic, version, size of the header */
	struct dump_record record;
	struct dump_lines lines = {0};
	struct jit_code code = {0};

	if (jit->size < sizeof(head))
		return;
	memcpy(head, jit->text, sizeof(head));
	if (head[0] != DUMP_MAGIC)
		return;
	for (size_t at = head[2]; at <= jit->size && jit->size - at >= sizeof(record);
	     at += record.size) {
		memcpy(&record, jit->text + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > jit->size - at)
			break;
		const char *contents = jit->text + at + sizeof(record);
		size_t size = record.size - sizeof(record);

		if (record.kind == DUMP_LINES)
			read_lines(contents, size, &lines, &code);
		else if (record.kind == DUMP_LOAD)
			read_load(jit, contents, size, &lines, code);
	}
	correct_lines(jit);
}

static int compare_functions(const void *a, const void *b)
{
	const struct jit_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* By address; of functions that begin at one address only the last. */
static void sort_functions(struct jit *jit)
{
	struct jit_function *items = jit->functions.items;
	size_t count = 0;

	qsort(items, jit->functions.count, sizeof(*items), compare_functions);
	for (size_t i = 0; i < jit->functions.count; i++) {
		if (count && items[count - 1].address == items[i].address)
			count--;
		items[count++] = items[i];
	}
	jit->functions.count = count;
}

/* Keeps their code and lines, as far as there are any. */
static void write_text(struct jit *jit, const struct family *family, const struct member *member,
		       struct diag_list *diags)
{
	struct jit_text text;
	bool has_code = false;

	for (size_t i = 0; i < jit->functions.count; i++)
		has_code |= jit->functions.items[i].code.bytes != NULL;
	if (!has_code)
		return;
	jit_text_open(&text, family, member);
	for (size_t i = 0; i < jit->functions.count; i++) {
		struct jit_function *function = &jit->functions.items[i];

		function->text = jit_text_add(&text, function->address, function->size,
					      &function->code, &function->source);
	}
	if (jit_text_close(&text))
		return;
	diag_add_once(diags, DIAG_WARNING,
		      "The code of functions that a compiler made at run time is not kept: %s",
		      strerror(errno));
	for (size_t i = 0; i < jit->functions.count; i++)
		jit->functions.items[i].text = 0;
}

/* False: there are too many. */
static bool write_events(struct jit *jit, uint64_t time_ns, struct strbuf *out)
{
	struct jit_function *items = jit->functions.items;

	for (size_t i = 0; i < jit->functions.count; i++) {
		if (out->length > TEXT_LIMIT)
			return false;
		char *name = xstrndup(items[i].name, items[i].name_length);

		strbuf_printf(out,
			      "<event kind=\"load\" tstamp=\"%" PRIu64
			      "\" epoch=\"0\" vaddr=\"0x%" PRIx64 "\" size=\"0x%" PRIx64 "\"",
			      time_ns, items[i].address, items[i].size);
		xml_add_attribute(out, "name", name);
		if (items[i].text && items[i].source)
			xml_add_attribute(out, "source", items[i].source);
		if (items[i].text)
			strbuf_printf(out, " text=\"%" PRIu64 "\"", items[i].text);
		strbuf_puts(out, "/>\n");
		free(name);
	}
	return !jit->is_cut;
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
	sort_functions(jit);
	write_text(jit, family, member, diags);
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
static char *directory_of(const char *log)
{
	const char *line = log ? strstr(log, "\n<process ") : NULL;
	const char *begin = line ? strstr(line, " cwd=\"") : NULL, *end;
	char *directory = NULL;

	if (begin && (end = strchr(begin += strlen(" cwd=\""), '"')) &&
	    !memchr(begin, '&', (size_t)(end - begin)))
		directory = xstrndup(begin, (size_t)(end - begin));
	return directory;
}

/* What a file told, if it is the program's. Returns whether it was. */
static bool add_file(const struct family *family, const struct member *member, const char *path,
		     void (*read)(struct jit *), struct diag_list *diags)
{
	struct jit jit;

	if (!open_file(family, member, path, &jit))
		return false;
	read(&jit);
	if (jit.functions.count)
		add_events(family, member, &jit, diags);
	munmap((void *)jit.text, jit.size);
	for (size_t i = 0; i < jit.functions.count; i++)
		free(jit.functions.items[i].source);
	vec_fini(&jit.functions);
	return true;
}

/* Whether perf's agent ever ran here: a family may have many processes. */
static bool has_agents(const char *home)
{
	char *path = xasprintf("%s/.debug/jit", home ? home : "");
	bool there = !access(path, X_OK);

	free(path);
	return there;
}

/*
 * The dump lies where the program began (V8), in /tmp (.NET, PHP), or, of what follows perf's own
 * agent (Java, LLVM), below .debug of JITDUMPDIR or of the home directory.
 */
static void add_dump(const struct family *family, const struct member *member, const char *log,
		     struct diag_list *diags)
{
	const char *base = getenv("JITDUMPDIR"), *home = base && *base ? base : getenv("HOME");
	char *directory = directory_of(log);
	char *name = xasprintf("jit-%d.dump", (int)member->pid);
	char *places[] = {directory ? xasprintf("%s/%s", directory, name) : NULL,
			  xasprintf("/tmp/%s", name)};
	char *pattern = xasprintf("%s/.debug/jit/*/%s", home ? home : "", name);
	bool found = false;
	glob_t agents = {0};

	for (size_t i = 0; i < 2 && !found; i++)
		found = places[i] && add_file(family, member, places[i], read_dump, diags);
	if (!found && has_agents(home) && !glob(pattern, GLOB_NOSORT, NULL, &agents))
		for (size_t i = 0; i < agents.gl_pathc && !found; i++)
			found = add_file(family, member, agents.gl_pathv[i], read_dump, diags);
	globfree(&agents);
	for (size_t i = 0; i < 2; i++)
		free(places[i]);
	free(pattern);
	free(name);
	free(directory);
}

void jit_add_functions(const struct family *family, const struct member *member, const char *log,
		       struct diag_list *diags)
{
	char *map;

	if (!member->pid)
		return;
	map = xasprintf("/tmp/perf-%d.map", (int)member->pid);
	add_file(family, member, map, read_map, diags);
	free(map);
	add_dump(family, member, log, diags);
}
