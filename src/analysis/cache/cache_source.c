/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file per load object, source file and style of names:
 *
 *   text      the program, the load object and its debug file by size and time, the source file
 *   payload   the lines with code, the functions with code from the file
 */
#include "analysis/cache/cache_source.h"

#include "analysis/cache/cache_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LEAST_BYTES = 16 << 20, /* of a file with debug information: less is read in no time */
	FILES = 256,
};

static const uint64_t limit = 64u << 20; /* bytes that all files may take */

/* Which source file of which load object it is, and how its names are written. */
static char *key_of(const struct listing *listing)
{
	const struct session *session = listing->session;
	const char *archive = session->objects.items[listing->object].archive;

	return xasprintf(
		"%s\n%s\n%s\n%u\n", string_table_text(&session->object_keys, listing->object),
		archive ? archive : "", code_file(listing->session, listing->object, listing->file),
		(unsigned)listing->query->name_style);
}

/* What tells that it still holds. */
static char *describe(const struct listing *listing, const char *key)
{
	const struct session *session = listing->session;
	const char *archive = session->objects.items[listing->object].archive;
	struct strbuf text = {0};

	cache_describe_program(&text, CACHE_HERE);
	cache_describe_object(&text, string_table_text(&session->object_keys, listing->object),
			      CACHE_HERE);
	if (archive) {
		char *debug = xasprintf("%s" OBJECT_ARCHIVED_DEBUG, archive);

		cache_describe_file(&text, archive);
		cache_describe_file(&text, debug);
		free(debug);
	}
	strbuf_puts(&text, key);
	return strbuf_steal(&text);
}

void source_code_fini(struct source_code *code)
{
	vec_fini(&code->lines);
	vec_fini(&code->entries);
	free(code->kept);
	code->kept = NULL;
}

static bool take_source(struct cache_reader *reader, const char *description,
			struct source_code *out)
{
	uint64_t line = 0;

	if (!cache_take_same(reader, description))
		return false;
	for (size_t left = cache_take_count(reader, 1); left && !reader->bad; left--) {
		line += cache_take_number(reader);
		reader->bad |= line > UINT32_MAX;
		*vec_push(&out->lines) = (uint32_t)line;
	}
	line = 0;
	for (size_t left = cache_take_count(reader, 1); left && !reader->bad; left--) {
		struct source_entry *entry = vec_push(&out->entries);

		line += cache_take_number(reader);
		entry->line = (uint32_t)line;
		entry->name = cache_take_text(reader);
		entry->symbol = cache_take_text(reader);
		reader->bad |= !entry->name;
	}
	return !reader->bad && reader->at == reader->end;
}

bool cache_load_source(const struct listing *listing, struct source_code *out)
{
	if (!cache_is_on())
		return false;
	char *key = key_of(listing), *description = describe(listing, key);
	char *name = cache_name(key, CACHE_SOURCE_ENDING);
	struct cache_reader reader;
	bool found = cache_read(name, &reader) && take_source(&reader, description, out);

	out->kept = reader.body;
	if (!found)
		source_code_fini(out);
	free(name);
	free(description);
	free(key);
	return found;
}

/* Small files are read faster than the cache; HELIO_CACHE=all keeps them too. */
static bool is_worth_it(const struct listing *listing)
{
	struct lines *lines = code_lines(listing->session, listing->object);
	const char *path = lines ? lines_debug_file(lines) : NULL;
	struct stat status;

	return path &&
	       (cache_keeps_all() || (!stat(path, &status) && status.st_size >= LEAST_BYTES));
}

void cache_keep_source(const struct listing *listing, const struct source_code *code)
{
	struct strbuf body = {0};
	uint32_t line = 0;
	uint64_t checksum;

	if (!cache_is_on() || !is_worth_it(listing))
		return;
	char *key = key_of(listing), *description = describe(listing, key);
	char *name = cache_name(key, CACHE_SOURCE_ENDING);

	cache_put_text(&body, description);
	cache_put_u64(&body, code->lines.count);
	for (size_t i = 0; i < code->lines.count; line = code->lines.items[i++])
		cache_put_number(&body, code->lines.items[i] - line);
	line = 0;
	cache_put_u64(&body, code->entries.count);
	for (size_t i = 0; i < code->entries.count; line = code->entries.items[i++].line) {
		cache_put_number(&body, code->entries.items[i].line - line);
		cache_put_text(&body, code->entries.items[i].name);
		cache_put_text(&body, code->entries.items[i].symbol);
	}
	if (cache_write(name, &body, &checksum))
		cache_evict(CACHE_SOURCE_ENDING, FILES, limit);
	strbuf_fini(&body);
	free(name);
	free(description);
	free(key);
}
