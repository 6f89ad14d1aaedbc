/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is a header and a body:
 *
 *   struct cache_header
 *   body      texts: u64 length, the bytes, NUL; numbers: u64 or LEB128
 */
#include "analysis/cache/cache_file.h"

#include "base/array.h"
#include "base/file_map.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/path.h"
#include "format/checksum.h"
#include "format/varint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	ENDS = 4096, /* bytes of a file's begin and end that are hashed */
	DEPTH = 4,   /* of directories in an experiment */
};

static const char cache_magic[8] = "HELIOSUM";

struct cache_header {
	char magic[8];
	uint64_t size;	   /* of all that follows */
	uint64_t checksum; /* of it */
};

/* ---- where ---- */

bool cache_is_on(void)
{
	const char *word = getenv("HELIO_CACHE");

	return !word || strcmp(word, "off") != 0;
}

bool cache_keeps_all(void)
{
	const char *word = getenv("HELIO_CACHE");

	return word && !strcmp(word, "all");
}

/* The path that the environment names; NULL: it names none. */
static char *name_directory(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return xasprintf("%s/heliometer", cache);
	if (home && *home == '/')
		return xasprintf("%s/.cache/heliometer", home);
	return NULL;
}

/*
 * What another user can change is no cache: its sums would be shown for ours.  Nor is what a link
 * of another user's leads to, though it is ours: files would be made and removed there.
 */
int cache_open_folder(void)
{
	char *path = cache_is_on() ? name_directory() : NULL;
	int folder = path ? folder_make_named(path, 0700) : -1;
	struct stat status;

	free(path);
	if (folder >= 0 && (fstat(folder, &status) || !file_is_trusted(&status))) {
		close(folder);
		folder = -1;
		errno = EPERM;
	}
	return folder;
}

void cache_add_refusal(struct diag_list *diags)
{
	int error = errno;
	char *path = name_directory();

	if (!cache_is_on())
		diag_add(diags, DIAG_ERROR,
			 "there is no cache to keep the sums in: HELIO_CACHE is off");
	else if (!path)
		diag_add(diags, DIAG_ERROR,
			 "there is no cache to keep the sums in: neither "
			 "XDG_CACHE_HOME nor HOME is an absolute path");
	else if (error == EPERM)
		diag_add(diags, DIAG_ERROR,
			 "%s keeps no sums: it has to be yours, and nobody else may write to it, "
			 "nor may a link of another user's lead to it",
			 path);
	else
		diag_add(diags, DIAG_ERROR, "%s, which keeps the sums, cannot be opened: %s", path,
			 strerror(error));
	free(path);
}

char *cache_name(const char *key, const char *ending)
{
	return xasprintf("%016llx%s", (unsigned long long)hash_bytes(key, strlen(key)), ending);
}

/* ---- what tells that the sums still hold ---- */

/* Devices have other numbers on other machines, as have local files, whose times of change differ.
 */
static void describe_stat(struct strbuf *text, const char *path, const struct stat *status,
			  enum cache_scope scope)
{
	strbuf_printf(text, "%s %lld %lld.%09ld", path, (long long)status->st_size,
		      (long long)status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
	if (scope == CACHE_HERE)
		strbuf_printf(text, " %llu:%llu %lld.%09ld", (unsigned long long)status->st_dev,
			      (unsigned long long)status->st_ino, (long long)status->st_ctim.tv_sec,
			      status->st_ctim.tv_nsec);
}

/* Times can be set, and a file system may not have them: a file's ends are looked at too. */
static void describe_file(struct strbuf *text, int folder, const char *name,
			  const struct stat *status, enum cache_scope scope)
{
	char ends[2 * ENDS];
	int file = folder_open_file(folder, name, O_RDONLY, 0);
	off_t last = status->st_size > ENDS ? status->st_size - ENDS : 0;
	ssize_t begin = file < 0 ? -1 : pread(file, ends, ENDS, 0);
	ssize_t end = begin < 0 ? -1 : pread(file, ends + begin, ENDS, last);

	describe_stat(text, name, status, scope);
	if (end >= 0)
		strbuf_printf(text, " %016llx",
			      (unsigned long long)hash_bytes(ends, (size_t)(begin + end)));
	strbuf_putc(text, '\n');
	if (file >= 0)
		close(file);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void describe_directory(struct strbuf *text, int folder, unsigned depth,
			       enum cache_scope scope);

/* A file, or what a link means: a common archive has links to its files. */
static void describe_entry(struct strbuf *text, int folder, const char *name, unsigned depth,
			   enum cache_scope scope)
{
	struct stat status;

	if (!folder_stat(folder, name, &status))
		return;
	if (S_ISREG(status.st_mode)) {
		describe_file(text, folder, name, &status, scope);
	} else if (S_ISDIR(status.st_mode) && depth) {
		strbuf_printf(text, "%s/\n", name);
		describe_directory(text, folder_open_below(folder, name), depth - 1, scope);
		strbuf_puts(text, "/\n");
	} else if (S_ISLNK(status.st_mode) && !fstatat(folder, name, &status, 0)) {
		describe_stat(text, name, &status, scope);
		strbuf_putc(text, '\n');
	}
}

/* Closes the folder. */
static void describe_directory(struct strbuf *text, int folder, unsigned depth,
			       enum cache_scope scope)
{
	struct dirent **entries;
	int count = folder < 0 ? -1 : scandirat(folder, ".", &entries, NULL, by_name);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (!path_is_dots(name))
			describe_entry(text, folder, name, depth, scope);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (folder >= 0)
		close(folder);
}

void cache_describe_directory(struct strbuf *text, const char *path, enum cache_scope scope)
{
	strbuf_printf(text, "%s\n", path);
	describe_directory(text, folder_open(path, 0), DEPTH, scope);
}

void cache_describe_program(struct strbuf *text, enum cache_scope scope)
{
	static const char *const variables[] = {"HELIO_DEBUG_ROOT", "DEBUGINFOD_URLS"};
	struct stat status;

	if (!stat("/proc/self/exe", &status))
		describe_stat(text, "helio " HELIO_VERSION, &status, scope);
	strbuf_putc(text, '\n');
	for (size_t i = 0; i < COUNT(variables); i++) {
		const char *value = getenv(variables[i]);

		strbuf_printf(text, "%s\n", value ? value : "");
	}
}

void cache_describe_file(struct strbuf *text, const char *path)
{
	struct stat status;

	if (path && !stat(path, &status))
		describe_stat(text, path, &status, CACHE_HERE);
	strbuf_putc(text, '\n');
}

void cache_describe_object(struct strbuf *text, const char *key, enum cache_scope scope)
{
	size_t length = strcspn(key, "\n");
	char *path = xstrndup(key, length), *debug = NULL;
	const char *build_id = key[length] ? key + length + 1 : "";
	struct stat status;

	if (!stat(path, &status))
		describe_stat(text, path, &status, scope);
	if (strlen(build_id) > 2 && build_id[0] != '\n')
		debug = xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	if (debug && !stat(debug, &status))
		describe_stat(text, " debug", &status, scope);
	strbuf_putc(text, '\n');
	free(debug);
	free(path);
}

/* ---- all files of the directory ---- */

struct kept_file {
	char *name;
	struct timespec time;
	uint64_t size;
};

static int by_time(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	if (x->time.tv_sec != y->time.tv_sec)
		return x->time.tv_sec > y->time.tv_sec ? -1 : 1;
	return x->time.tv_nsec > y->time.tv_nsec ? -1 : x->time.tv_nsec < y->time.tv_nsec;
}

size_t cache_evict(const char *ending, size_t files, uint64_t bytes)
{
	VEC(struct kept_file) kept = {0};
	struct dirent *entry;
	int folder = cache_open_folder();
	DIR *directory = folder < 0 ? NULL : fdopendir(folder);
	uint64_t size = 0;
	size_t removed = 0;

	while (directory && (entry = readdir(directory))) {
		struct stat status;

		/* with what a writer that was killed has left */
		if (strstr(entry->d_name, ending) && folder_stat(folder, entry->d_name, &status) &&
		    S_ISREG(status.st_mode))
			*vec_push(&kept) = (struct kept_file){
				xstrdup(entry->d_name), status.st_mtim, (uint64_t)status.st_size};
	}
	if (kept.count)
		qsort(kept.items, kept.count, sizeof(*kept.items), by_time);
	for (size_t i = 0; i < kept.count; i++) {
		size += kept.items[i].size;
		if (i >= files || size > bytes)
			removed += !unlinkat(folder, kept.items[i].name, 0);
		free(kept.items[i].name);
	}
	if (directory)
		closedir(directory);
	vec_fini(&kept);
	return removed;
}

/* ---- writing ---- */

void cache_put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_add(out, &value, sizeof(value));
}

void cache_put_number(struct strbuf *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	strbuf_add(out, bytes, (size_t)(varint_put(bytes, value) - bytes));
}

void cache_put_signed(struct strbuf *out, int64_t value)
{
	cache_put_number(out, zigzag_encode(value));
}

void cache_put_text(struct strbuf *out, const char *text)
{
	cache_put_u64(out, text ? strlen(text) : UINT64_MAX);
	if (text)
		strbuf_add(out, text, strlen(text) + 1);
}

/* A 0 is followed by how many more there are. */
static void put_values(struct strbuf *out, const uint64_t *values, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		next = i + 1;
		cache_put_number(out, values[i]);
		if (values[i])
			continue;
		while (next < count && !values[next])
			next++;
		cache_put_number(out, next - i - 1);
	}
}

void cache_put_sums(struct strbuf *out, const struct finished_sums *sums)
{
	uint64_t *of = xmalloc((sums->nodes + 1) * sizeof(*of));

	for (uint64_t i = 0; i < MEASURE_COUNT; i++) {
		struct strbuf values = {0};

		if (!finished_read(sums, (enum measure)i, of))
			continue;
		put_values(&values, of, sums->nodes);
		cache_put_number(out, i);
		cache_put_u64(out, values.length);
		if (values.length)
			strbuf_add(out, values.text, values.length);
		strbuf_fini(&values);
	}
	cache_put_number(out, MEASURE_COUNT);
	free(of);
}

bool cache_write(const char *name, const struct strbuf *body, uint64_t *checksum)
{
	struct cache_header header = {.size = body->length,
				      .checksum = checksum_add(0, body->text, body->length)};
	char *fresh = folder_half_name(name);
	int folder = cache_open_folder();
	int fd = folder_open_half(folder, fresh, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok = file;

	memcpy(header.magic, cache_magic, sizeof(header.magic));
	*checksum = header.checksum;
	if (file) {
		ok = fwrite(&header, sizeof(header), 1, file) == 1 &&
		     fwrite(body->text, 1, body->length, file) == body->length;
		ok = !fclose(file) && ok;
		ok = ok && !renameat(folder, fresh, folder, name);
		if (!ok)
			unlinkat(folder, fresh, 0);
	}
	if (folder >= 0)
		close(folder);
	free(fresh);
	return ok;
}

/* ---- reading ---- */

static const void *take_bytes(struct cache_reader *reader, uint64_t size)
{
	const char *bytes = reader->at;

	if (reader->bad || size > (uint64_t)(reader->end - reader->at)) {
		reader->bad = true;
		return NULL;
	}
	reader->at += size;
	return bytes;
}

uint64_t cache_take_u64(struct cache_reader *reader)
{
	const void *bytes = take_bytes(reader, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

uint64_t cache_take_number(struct cache_reader *reader)
{
	uint64_t value = 0;
	const uint8_t *next = reader->bad ? NULL
					  : varint_get((const uint8_t *)reader->at,
						       (const uint8_t *)reader->end, &value);

	if (next)
		reader->at = (const char *)next;
	else
		reader->bad = true;
	return value;
}

int64_t cache_take_signed(struct cache_reader *reader)
{
	return zigzag_decode(cache_take_number(reader));
}

uint32_t cache_take_below(struct cache_reader *reader, uint64_t limit)
{
	uint64_t value = cache_take_number(reader);

	if (value < limit && value <= UINT32_MAX)
		return (uint32_t)value;
	reader->bad = true;
	return 0;
}

size_t cache_take_count(struct cache_reader *reader, size_t size)
{
	uint64_t count = cache_take_u64(reader);

	if (reader->bad || count > (uint64_t)(reader->end - reader->at) / size) {
		reader->bad = true;
		return 0;
	}
	return count;
}

const char *cache_take_text(struct cache_reader *reader)
{
	uint64_t length = cache_take_u64(reader);

	if (length == UINT64_MAX)
		return NULL;

	const char *text = take_bytes(reader, length);
	const char *end = take_bytes(reader, 1);

	if (!end || *end) {
		reader->bad = true;
		return NULL;
	}
	return text;
}

static void take_values(struct cache_reader *reader, uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		values[i] = cache_take_number(reader);
		if (values[i] || reader->bad)
			continue;
		for (size_t more = cache_take_below(reader, count - i); more; more--)
			values[++i] = 0;
	}
}

void cache_take_sums(struct cache_reader *reader, size_t nodes, struct kept_sums *out)
{
	uint32_t measure;

	out->nodes = nodes;
	while ((measure = cache_take_below(reader, MEASURE_COUNT + 1)) < MEASURE_COUNT &&
	       !reader->bad)
		out->of[measure] = take_bytes(reader, cache_take_u64(reader));
	out->end = reader->at;
}

bool cache_values(const struct kept_sums *sums, enum measure measure, uint64_t *values)
{
	struct cache_reader reader = {.at = sums->of[measure], .end = sums->end};

	if (!reader.at)
		return false;
	take_values(&reader, values, sums->nodes);
	return true;
}

bool cache_take_same(struct cache_reader *reader, const char *expected)
{
	const char *text = cache_take_text(reader);

	return text && !strcmp(text, expected);
}

bool cache_read(const char *name, struct cache_reader *out)
{
	struct cache_header header;
	int folder = cache_open_folder();
	int fd = folder_open_file(folder, name, O_RDONLY, 0);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat status;

	*out = (struct cache_reader){0};
	if (folder >= 0)
		close(folder);
	if (!file)
		return false;
	if (!fstat(fd, &status) && file_is_trusted(&status) &&
	    fread(&header, sizeof(header), 1, file) == 1 &&
	    !memcmp(header.magic, cache_magic, sizeof(header.magic)) &&
	    header.size == (uint64_t)status.st_size - sizeof(header)) {
		out->body = xmalloc(header.size + 1);
		if (fread(out->body, 1, header.size, file) != header.size ||
		    checksum_add(0, out->body, header.size) != header.checksum) {
			free(out->body);
			out->body = NULL;
		}
	}
	if (out->body)
		futimens(fd, NULL); /* the newest are kept */
	fclose(file);
	if (!out->body)
		return false;
	out->at = out->body;
	out->end = out->body + header.size;
	out->checksum = header.checksum;
	return true;
}
