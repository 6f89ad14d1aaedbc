/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept file is a header, what tells that it still holds, and the sums:
 *
 *   struct cache_header
 *   text      the experiments: every file's path, inode, size, times, and a hash of its ends
 *   text      the load objects: size and time of each and of its debug file
 *   payload   processes, load objects, functions, tree, weights, counters, warnings
 *
 * Both texts are made again and compared before anything is believed.  Only experiments whose
 * processes have all ended are kept: mapped files change without a sign.  A file is written
 * beside its place and moved there whole; one that is torn all the same has a wrong checksum.
 * Integers are the machine's: the program that wrote it is part of the first text.
 */
#include "analysis/cache.h"

#include "analysis/counter.h"
#include "analysis/session.h"
#include "base/strbuf.h"
#include "experiment/group.h"
#include "format/checksum.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CACHE_LEAST_EVENTS = 200000, /* fewer are read faster than they are worth a file */
	CACHE_FILES = 64,
	ENDS = 4096, /* bytes of a file's begin and end that are hashed */
	DEPTH = 4,   /* of directories in an experiment */
};

static const uint64_t cache_limit = 512u << 20; /* bytes that all files may take */
static const char cache_magic[8] = "HELIOSUM";
static const char cache_ending[] = ".sums";

struct cache_header {
	char magic[8];
	uint64_t size;	   /* of all that follows */
	uint64_t checksum; /* of it */
};

/* ---- where ---- */

static bool is_off(void)
{
	const char *word = getenv("HELIO_CACHE");

	return word && !strcmp(word, "off");
}

static bool keeps_all(void)
{
	const char *word = getenv("HELIO_CACHE");

	return word && !strcmp(word, "all");
}

/* The directory, made where it is not there; the caller's to free. NULL: there is no place. */
static char *cache_directory(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path;

	if (cache && *cache == '/')
		path = xasprintf("%s/heliometer", cache);
	else if (home && *home == '/')
		path = xasprintf("%s/.cache/heliometer", home);
	else
		return NULL;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
	return path;
}

/* One file for each list of paths, as they are and as they were given. */
static char *cache_path(const char *directory, char *const *paths, size_t count)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < count; i++) {
		char *real = realpath(paths[i], NULL);

		strbuf_printf(&text, "%s\n%s\n", paths[i], real ? real : "");
		free(real);
	}
	char *path =
		xasprintf("%s/%016llx%s", directory,
			  (unsigned long long)hash_bytes(text.text, text.length), cache_ending);

	strbuf_fini(&text);
	return path;
}

/* ---- what tells that the sums still hold ---- */

static void describe_stat(struct strbuf *text, const char *path, const struct stat *status)
{
	strbuf_printf(text, "%s %llu:%llu %lld %lld.%09ld %lld.%09ld", path,
		      (unsigned long long)status->st_dev, (unsigned long long)status->st_ino,
		      (long long)status->st_size, (long long)status->st_mtim.tv_sec,
		      status->st_mtim.tv_nsec, (long long)status->st_ctim.tv_sec,
		      status->st_ctim.tv_nsec);
}

/* Times can be set, and a file system may not have them: a file's ends are looked at too. */
static void describe_file(struct strbuf *text, const char *path, const struct stat *status)
{
	char ends[2 * ENDS];
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	off_t last = status->st_size > ENDS ? status->st_size - ENDS : 0;
	ssize_t begin = file < 0 ? -1 : pread(file, ends, ENDS, 0);
	ssize_t end = begin < 0 ? -1 : pread(file, ends + begin, ENDS, last);

	describe_stat(text, path, status);
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

static void describe_directory(struct strbuf *text, const char *path, unsigned depth)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, by_name);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *inner = xasprintf("%s/%s", path, name);
		struct stat status;

		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !lstat(inner, &status)) {
			if (S_ISREG(status.st_mode))
				describe_file(text, inner, &status);
			else if (S_ISDIR(status.st_mode) && depth)
				describe_directory(text, inner, depth - 1);
		}
		free(inner);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* The paths as given are part of what is printed; variables say where names come from. */
static char *describe_experiments(char *const *paths, size_t count)
{
	static const char *const variables[] = {"HELIO_DEBUG_ROOT", "DEBUGINFOD_URLS"};
	struct strbuf text = {0};
	struct stat status;

	if (!stat("/proc/self/exe", &status))
		describe_stat(&text, "helio " HELIO_VERSION, &status);
	strbuf_putc(&text, '\n');
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		strbuf_printf(&text, "%s\n", value ? value : "");
	}
	for (size_t i = 0; i < count; i++) {
		char *real = realpath(paths[i], NULL);

		strbuf_printf(&text, "%s\n", paths[i]);
		if (real)
			describe_directory(&text, real, DEPTH);
		free(real);
	}
	return strbuf_steal(&text);
}

/* key: as in session's object_keys, path and build-id. */
static void describe_object(struct strbuf *text, const char *key)
{
	size_t length = strcspn(key, "\n");
	char *path = xstrndup(key, length), *debug = NULL;
	const char *build_id = key[length] ? key + length + 1 : "";
	struct stat status;

	if (!stat(path, &status))
		describe_stat(text, path, &status);
	if (strlen(build_id) > 2 && build_id[0] != '\n')
		debug = xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	if (debug && !stat(debug, &status))
		describe_stat(text, " debug", &status);
	strbuf_putc(text, '\n');
	free(debug);
	free(path);
}

static char *describe_objects(const struct string_table *keys)
{
	struct strbuf text = {0};

	for (uint32_t i = 1; i < keys->count; i++)
		describe_object(&text, string_table_text(keys, i));
	return strbuf_steal(&text);
}

/* ---- writing ---- */

static void put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_add(out, &value, sizeof(value));
}

/* NULL is kept as such. */
static void put_text(struct strbuf *out, const char *text)
{
	put_u64(out, text ? strlen(text) : UINT64_MAX);
	if (text)
		strbuf_add(out, text, strlen(text));
}

static void put_processes(struct strbuf *out, const struct session *session)
{
	put_u64(out, session->processes.count);
	for (size_t i = 0; i < session->processes.count; i++) {
		const struct process_info *process = &session->processes.items[i];

		put_u64(out, process->founder);
		put_text(out, process->path);
		put_text(out, process->name);
		put_text(out, process->target);
	}
}

static void put_functions(struct strbuf *out, struct session *session)
{
	put_u64(out, session->objects.count);
	for (uint32_t i = 0; i < session->objects.count; i++) {
		put_text(out, string_table_text(&session->object_keys, i));
		put_text(out, session->objects.items[i].path);
		put_text(out, session->objects.items[i].name);
	}
	put_u64(out, session->functions.count);
	for (size_t i = 0; i < session->functions.count; i++) {
		const struct function *function = &session->functions.items[i];

		put_u64(out, function->object);
		put_u64(out, function->address);
		put_u64(out, function->size);
		put_text(out, function->mangled);
		put_text(out, function->aliases);
		put_text(out, function->source);
		for (unsigned style = 0; style < NAME_STYLES; style++)
			put_text(out, symbols_name(session, (uint32_t)i, (enum name_style)style));
	}
}

static void put_counters(struct strbuf *out, const struct session *session)
{
	put_u64(out, session->counters.count);
	for (size_t i = 0; i < session->counters.count; i++) {
		const struct metric *metric = &session->counters.items[i];

		put_text(out, metric->command);
		put_text(out, metric->title);
		put_text(out, metric->description);
		put_u64(out, metric->unit);
		put_u64(out, metric->has_address);
		put_u64(out, (uint64_t)metric->hz);
		put_u64(out, metric->measure);
		put_u64(out, metric->divisor);
		put_u64(out, metric->scale);
	}
}

static void put_sums(struct strbuf *out, const struct session *session)
{
	size_t count = session->tree.nodes.count;

	put_u64(out, count);
	strbuf_add(out, session->tree.nodes.items, count * sizeof(*session->tree.nodes.items));
	for (uint64_t i = 0; i < MEASURE_COUNT; i++) {
		if (!session->weights.of[i])
			continue;
		put_u64(out, i);
		strbuf_add(out, session->weights.of[i], count * sizeof(uint64_t));
	}
	put_u64(out, MEASURE_COUNT);
}

static void put_warnings(struct strbuf *out, const struct diag_list *warnings)
{
	put_u64(out, warnings->count);
	for (size_t i = 0; i < warnings->count; i++) {
		put_u64(out, warnings->items[i].level);
		put_text(out, warnings->items[i].text);
	}
}

static bool write_whole(const char *path, const struct strbuf *body)
{
	struct cache_header header = {.size = body->length,
				      .checksum = checksum_add(0, body->text, body->length)};
	char *fresh = xasprintf("%s.%ld", path, (long)getpid());
	FILE *file = fopen(fresh, "wxe");
	bool ok = file;

	memcpy(header.magic, cache_magic, sizeof(header.magic));
	if (file) {
		ok = fwrite(&header, sizeof(header), 1, file) == 1 &&
		     fwrite(body->text, 1, body->length, file) == body->length;
		ok = !fclose(file) && ok;
		ok = ok && !rename(fresh, path);
		if (!ok)
			unlink(fresh);
	}
	free(fresh);
	return ok;
}

/* ---- all files of the directory ---- */

struct kept_file {
	char *path;
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

/* Keeps the newest of them, so many and as much as is allowed; how many it removed. */
static size_t evict(const char *directory, size_t files, uint64_t bytes)
{
	VEC(struct kept_file) kept = {0};
	struct dirent *entry;
	DIR *dir = opendir(directory);
	uint64_t size = 0;
	size_t removed = 0;

	while (dir && (entry = readdir(dir))) {
		char *path = xasprintf("%s/%s", directory, entry->d_name);
		struct stat status;

		/* with what a writer that was killed has left */
		if (strstr(entry->d_name, cache_ending) && !lstat(path, &status) &&
		    S_ISREG(status.st_mode))
			*vec_push(&kept) =
				(struct kept_file){path, status.st_mtim, (uint64_t)status.st_size};
		else
			free(path);
	}
	if (dir)
		closedir(dir);
	if (kept.count)
		qsort(kept.items, kept.count, sizeof(*kept.items), by_time);
	for (size_t i = 0; i < kept.count; i++) {
		size += kept.items[i].size;
		if (i >= files || size > bytes)
			removed += !unlink(kept.items[i].path);
		free(kept.items[i].path);
	}
	vec_fini(&kept);
	return removed;
}

size_t cache_clear(void)
{
	char *directory = cache_directory();
	size_t removed = directory ? evict(directory, 0, 0) : 0;

	free(directory);
	return removed;
}

/* Whether the files can no more change, and are worth it. */
static bool may_keep(const struct session *session, size_t count)
{
	uint64_t events = 0;

	if (session->experiments.count != count)
		return false;
	for (size_t i = 0; i < session->processes.count; i++) {
		if (!session->processes.items[i].ended)
			return false;
		events += session->processes.items[i].event_count;
	}
	return events >= CACHE_LEAST_EVENTS || keeps_all();
}

/* Keeps what cache_open needs of a session that nothing has been chosen in. */
static void keep(struct session *session, char *const *paths, size_t count)
{
	char *directory = !is_off() && may_keep(session, count) ? cache_directory() : NULL;
	struct strbuf body = {0};

	if (!directory)
		return;
	char *experiments = describe_experiments(paths, count);
	char *objects = describe_objects(&session->object_keys);
	char *path = cache_path(directory, paths, count);

	put_text(&body, experiments);
	put_functions(&body, session);
	put_text(&body, objects);
	put_processes(&body, session);
	put_counters(&body, session);
	put_sums(&body, session);
	put_warnings(&body, &session->warnings);
	put_u64(&body, session->has_clock_data);
	if (write_whole(path, &body))
		evict(directory, CACHE_FILES, cache_limit);
	strbuf_fini(&body);
	free(path);
	free(objects);
	free(experiments);
	free(directory);
}

/* ---- reading ---- */

struct cache_reader {
	const char *at, *end;
	bool bad;
};

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

static uint64_t take_u64(struct cache_reader *reader)
{
	const void *bytes = take_bytes(reader, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* A count of things of at least `size` bytes each. */
static size_t take_count(struct cache_reader *reader, size_t size)
{
	uint64_t count = take_u64(reader);

	if (reader->bad || count > (uint64_t)(reader->end - reader->at) / size) {
		reader->bad = true;
		return 0;
	}
	return count;
}

/* NULL for NULL, and where nothing is left. */
static const char *take_text(struct cache_reader *reader, struct arena *arena)
{
	uint64_t length = take_u64(reader);
	const char *bytes = length == UINT64_MAX ? NULL : take_bytes(reader, length);

	return bytes ? arena_strndup(arena, bytes, length) : NULL;
}

static bool same_text(struct cache_reader *reader, const char *expected)
{
	uint64_t length = take_u64(reader);
	const char *bytes = take_bytes(reader, length);

	return bytes && length == strlen(expected) && !memcmp(bytes, expected, length);
}

static void take_function(struct cache_reader *reader, struct session *session)
{
	struct function *function = vec_push(&session->functions);

	function->object = (uint32_t)take_u64(reader);
	function->address = take_u64(reader);
	function->size = take_u64(reader);
	function->mangled = take_text(reader, &session->arena);
	function->aliases = take_text(reader, &session->arena);
	function->source = take_text(reader, &session->arena);
	reader->bad |= !function->mangled || function->object >= session->objects.count;
	for (size_t style = 0; style < NAME_STYLES; style++) {
		const char *name = take_text(reader, &session->arena);

		reader->bad |= !name;
		function->names[style] = name ? xstrdup(name) : NULL;
	}
}

static bool take_functions(struct cache_reader *reader, struct session *session)
{
	size_t count = take_count(reader, 3 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct load_object *object = vec_push(&session->objects);
		const char *key = take_text(reader, &session->arena);

		object->path = take_text(reader, &session->arena);
		reader->bad |=
			!key || !object->path || string_table_add(&session->object_keys, key) != i;
		object->name = take_text(reader, &session->arena);
		reader->bad |= !object->name;
		object->rest_function = NODE_NONE;
	}
	count = take_count(reader, 9 * sizeof(uint64_t));
	for (size_t i = 0; i < count && !reader->bad; i++)
		take_function(reader, session);
	return !reader->bad && session->functions.count >= FUNCTION_FIRST_REAL;
}

static void take_processes(struct cache_reader *reader, struct session *session)
{
	size_t count = take_count(reader, 4 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct process_info *process = vec_push(&session->processes);

		process->id = (uint32_t)i + 1;
		process->founder = (uint32_t)take_u64(reader);
		process->path = take_text(reader, &session->arena);
		process->name = take_text(reader, &session->arena);
		process->target = take_text(reader, &session->arena);
		process->lineage = "";
		reader->bad |= !process->path || !process->name || !process->target;
	}
	reader->bad |= !count;
}

static void take_counters(struct cache_reader *reader, struct session *session)
{
	size_t count = take_count(reader, 4 * sizeof(uint64_t));

	reader->bad |= count > MEASURE_COUNTERS_MAX + COUNTER_QUOTIENTS;
	for (size_t i = 0; i < count && !reader->bad; i++) {
		struct metric *metric = vec_push(&session->counters);

		metric->command = take_text(reader, &session->arena);
		metric->title = take_text(reader, &session->arena);
		metric->description = take_text(reader, &session->arena);
		metric->unit = (enum metric_unit)take_u64(reader);
		metric->has_address = take_u64(reader);
		metric->hz = (double)take_u64(reader);
		metric->measure = (unsigned)take_u64(reader);
		metric->divisor = (unsigned)take_u64(reader);
		metric->scale = (unsigned)take_u64(reader);
		metric->if_data = true;
		reader->bad |= !metric->command || !metric->title || metric->unit > UNIT_TEXT ||
			       metric->measure >= MEASURE_COUNT ||
			       metric->divisor >= MEASURE_COUNT || metric->scale > 63;
	}
}

static void take_sums(struct cache_reader *reader, struct session *session)
{
	size_t count = take_count(reader, sizeof(struct tree_node));
	const void *bytes = take_bytes(reader, count * sizeof(struct tree_node));
	struct tree_node *nodes = xcalloc(count + 1, sizeof(*nodes));
	uint64_t measure;

	if (bytes)
		memcpy(nodes, bytes, count * sizeof(*nodes));
	session->tree.nodes.items = nodes;
	session->tree.nodes.count = count;
	session->tree.nodes.capacity = count + 1;
	session->weights.nodes = count;
	reader->bad |= !count;
	for (size_t i = 0; i < count; i++)
		reader->bad |= nodes[i].function >= session->functions.count ||
			       (i ? nodes[i].parent >= i : nodes[i].parent != NODE_ROOT);
	while (!reader->bad && (measure = take_u64(reader)) < MEASURE_COUNT) {
		bytes = take_bytes(reader, count * sizeof(uint64_t));
		if (bytes)
			memcpy(measure_array(&session->weights, (enum measure)measure), bytes,
			       count * sizeof(uint64_t));
	}
}

static void take_warnings(struct cache_reader *reader, struct session *session)
{
	size_t count = take_count(reader, 2 * sizeof(uint64_t));

	for (size_t i = 0; i < count && !reader->bad; i++) {
		enum diag_level level = take_u64(reader) ? DIAG_WARNING : DIAG_NOTE;
		const char *text = take_text(reader, &session->arena);

		reader->bad |= !text;
		if (text)
			diag_add(&session->warnings, level, "%s", text);
	}
}

static bool take_session(struct cache_reader *reader, struct session *session)
{
	if (!take_functions(reader, session))
		return false;
	char *objects = describe_objects(&session->object_keys);
	bool same = same_text(reader, objects);

	free(objects);
	if (!same)
		return false;
	take_processes(reader, session);
	take_counters(reader, session);
	take_sums(reader, session);
	take_warnings(reader, session);
	session->has_clock_data = take_u64(reader);
	return !reader->bad && reader->at == reader->end;
}

/* The body of a file that is whole; the caller's to free. NULL: it is not, or there is none. */
static char *read_whole(const char *path, size_t *size)
{
	struct cache_header header;
	FILE *file = fopen(path, "re");
	struct stat status;
	char *body = NULL;

	if (!file)
		return NULL;
	if (!fstat(fileno(file), &status) && fread(&header, sizeof(header), 1, file) == 1 &&
	    !memcmp(header.magic, cache_magic, sizeof(header.magic)) &&
	    header.size == (uint64_t)status.st_size - sizeof(header)) {
		body = xmalloc(header.size);
		*size = header.size;
		if (fread(body, 1, header.size, file) != header.size ||
		    checksum_add(0, body, header.size) != header.checksum) {
			free(body);
			body = NULL;
		}
	}
	fclose(file);
	return body;
}

static struct session *load(const char *path, const char *experiments)
{
	struct cache_reader reader = {0};
	size_t size;
	char *body = read_whole(path, &size);

	if (!body)
		return NULL;
	struct session *session = xcalloc(1, sizeof(*session));

	reader.at = body;
	reader.end = body + size;
	if (!same_text(&reader, experiments) || !take_session(&reader, session)) {
		session_free(session);
		session = NULL;
	} else {
		utimensat(AT_FDCWD, path, NULL, 0);
	}
	free(body);
	return session;
}

enum status cache_open(char *const *paths, size_t count, struct session **out,
		       struct diag_list *diags)
{
	char *directory = is_off() ? NULL : cache_directory();
	struct experiment_paths all = {0};

	for (size_t i = 0; i < count; i++)
		experiment_paths_add(&all, paths[i]);

	char *experiments = directory ? describe_experiments(all.items, all.count) : NULL;
	char *path = directory ? cache_path(directory, all.items, all.count) : NULL;
	enum status status = STATUS_OK;

	*out = path ? load(path, experiments) : NULL;
	if (!*out) {
		status = session_open(paths, count, out, diags);
		if (status == STATUS_OK)
			keep(*out, all.items, all.count);
	}
	experiment_paths_fini(&all);
	free(path);
	free(experiments);
	free(directory);
	return status;
}
