/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCC's records are an array of three: the format, the passes with the groups that they belong
 * to, and the remarks.  Of these the successes and failures are for people; notes are what the
 * compiler thought on the way.  Their texts are pieces, some of them with a place.
 */
#include "object/lines/remarks.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/path.h"
#include "object/lines/path.h"

#include "base/strbuf.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/*
 * What is read of a record: JSON takes ten times its size in memory, and a file of zeros packs a
 * thousandfold.  gcc's own pack 10- to 30-fold.
 */
enum {
	RECORD_LIMIT = 256 << 20,
	UNPACKED_LEAST = 8 << 20,
	UNPACKED_RATIO = 40,
	TEXT_LIMIT = 1 << 12,
};

bool remarks_is_file(const char *recorded, const char *source)
{
	return recorded && !strcmp(path_name(recorded), path_name(source));
}

/* Newlines and runs of blanks become one blank; none at the ends. */
void remarks_add(struct remarks *remarks, uint32_t line, enum remark_class kind, const char *text)
{
	char *copy = arena_strdup(&remarks->arena, text), *to = copy;
	size_t length = strnlen(copy, TEXT_LIMIT);

	for (size_t i = 0; i < length; i++) {
		bool blank = (unsigned char)copy[i] <= ' ';

		if (!blank)
			*to++ = copy[i];
		else if (to > copy && to[-1] != ' ')
			*to++ = ' ';
	}
	while (to > copy && strchr(" .;", to[-1]))
		to--;
	*to = '\0';
	if (*copy && line)
		*vec_push(&remarks->items) = (struct remark){line, kind, copy};
}

/* ---- GCC ---- */

/* 0: no such pass is among them. */
static enum remark_class find_pass(const json_t *passes, const char *id)
{
	static const struct {
		const char *group;
		enum remark_class kind;
	} groups[] = {
		{"inline", REMARK_INLINE},
		{"omp", REMARK_PARALLEL},
		{"vec", REMARK_LOOP},
		{"loop", REMARK_LOOP},
	};
	size_t index;
	json_t *pass;

	json_array_foreach(passes, index, pass)
	{
		const char *own = json_string_value(json_object_get(pass, "id"));
		const json_t *names = json_object_get(pass, "optgroups");

		if (own && id && !strcmp(own, id)) {
			const char *name = json_string_value(json_array_get(names, 0));

			for (size_t i = 0; name && i < COUNT(groups); i++)
				if (!strcmp(groups[i].group, name))
					return groups[i].kind;
			return REMARK_CODE;
		}
		enum remark_class inner = find_pass(json_object_get(pass, "children"), id);

		if (inner)
			return inner;
	}
	return (enum remark_class)0;
}

static enum remark_class kind_of_pass(const json_t *passes, const char *id)
{
	enum remark_class kind = find_pass(passes, id);

	return kind ? kind : REMARK_CODE;
}

static void put_symbol(struct strbuf *text, const char *symbol)
{
	strbuf_add(text, symbol, strcspn(symbol, "/")); /* "helper/0": a number follows */
}

/* Pieces of text with expressions and functions between them. */
static void put_message(struct strbuf *text, const json_t *message)
{
	size_t index;
	json_t *piece;

	json_array_foreach(message, index, piece)
	{
		const char *symbol = json_string_value(json_object_get(piece, "symtab_node"));
		const char *expression = json_string_value(json_object_get(piece, "expr"));
		const char *statement = json_string_value(json_object_get(piece, "stmt"));

		if (json_is_string(piece))
			strbuf_puts(text, json_string_value(piece));
		else if (symbol)
			put_symbol(text, symbol);
		else if (expression || statement)
			strbuf_puts(text, expression ? expression : statement);
	}
}

/*
 * What is for people is the first line of a message, and of an inlined call what comes before the
 * estimates of its caller; then follow the pass's own accounts ("Unit growth for small function
 * inlining: 53->46").
 */
static void cut_accounts(struct strbuf *text)
{
	size_t begin = strspn(text->text, " \n");
	size_t length = begin + strcspn(text->text + begin, "\n");
	const char *estimates = strstr(text->text, " which now has time ");

	if (estimates && (size_t)(estimates - text->text) < length)
		length = (size_t)(estimates - text->text);
	text->text[length] = '\0';
	text->length = length;
}

static void add_gcc_remark(struct remarks *remarks, const json_t *passes, const json_t *record,
			   const char *source)
{
	const char *kind = json_string_value(json_object_get(record, "kind"));
	const char *pass = json_string_value(json_object_get(record, "pass"));
	const json_t *place = json_object_get(record, "location");
	bool is_missed = kind && !strcmp(kind, "failure");
	bool is_done = kind && !strcmp(kind, "success");
	struct strbuf text = {0};

	if ((!is_done && !is_missed) ||
	    !remarks_is_file(json_string_value(json_object_get(place, "file")), source))
		return;
	put_message(&text, json_object_get(record, "message"));
	if (text.length) {
		cut_accounts(&text);
		remarks_add(remarks, (uint32_t)json_integer_value(json_object_get(place, "line")),
			    is_missed ? REMARK_QUERY : kind_of_pass(passes, pass), text.text);
	}
	strbuf_fini(&text);
}

static void add_gcc_remarks(struct remarks *remarks, const json_t *passes, const json_t *records,
			    const char *source)
{
	size_t index;
	json_t *record;

	json_array_foreach(records, index, record)
	{
		add_gcc_remark(remarks, passes, record, source);
		add_gcc_remarks(remarks, passes, json_object_get(record, "children"), source);
	}
}

static void parse_gcc(struct remarks *remarks, const char *text, const char *source)
{
	json_t *root = json_loads(text, 0, NULL);

	if (json_is_array(root))
		add_gcc_remarks(remarks, json_array_get(root, 1), json_array_get(root, 2), source);
	json_decref(root);
}

/* ---- files ---- */

/* The record's file, packed or not, and how much of it is to be read; a pipe is not waited for. */
static gzFile open_record(const char *path, size_t *limit)
{
	struct stat info;
	int fd = folder_open_named(path, &info);
	gzFile file = NULL;

	if (fd >= 0 && info.st_size < RECORD_LIMIT) {
		*limit = UNPACKED_LEAST + UNPACKED_RATIO * (size_t)info.st_size;
		*limit = *limit < RECORD_LIMIT ? *limit : RECORD_LIMIT;
		file = gzdopen(fd, "rb");
	}
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* A whole file; NULL: it cannot be read, or is too large. */
static char *read_whole(const char *path)
{
	size_t limit = 0;
	gzFile file = open_record(path, &limit);
	struct strbuf text = {0};
	char buffer[1 << 16];
	int got = -1;

	while (file && text.length < limit && (got = gzread(file, buffer, sizeof(buffer))) > 0)
		strbuf_add(&text, buffer, (size_t)got);
	if (file)
		gzclose(file);
	if (got == 0 && text.length)
		return text.text;
	strbuf_fini(&text);
	return NULL;
}

static bool is_gcc_record(const char *name)
{
	return path_ends_with(name, ".opt-record.json.gz");
}

static bool is_record(const char *name)
{
	return is_gcc_record(name) || path_ends_with(name, ".opt.yaml");
}

static void read_record(struct remarks *remarks, const char *path, const char *source)
{
	char *text = read_whole(path);

	if (text && is_gcc_record(path))
		parse_gcc(remarks, text, source);
	else if (text)
		remarks_parse_yaml(remarks, text, source);
	free(text);
}

char *remarks_stem(const char *source)
{
	const char *base = path_name(source);

	return xstrndup(base, strcspn(base, "."));
}

/* "prog-unit.c.opt-record.json.gz" is a record of unit.c, "subunit.c.opt-…" is not. */
static bool names_unit(const char *name, const struct string_table *stems)
{
	bool found = false;

	for (const char *start = name; start && !found; start = strchr(start, '-')) {
		start += start != name;

		char *stem = remarks_stem(start);

		found = *stem && string_table_find(stems, stem) != HASH_NONE;
		free(stem);
	}
	return found;
}

void remarks_find(const char *directory, const struct string_table *stems,
		  struct string_table *paths)
{
	int fd = folder_open(directory, 0);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (is_record(entry->d_name) && names_unit(entry->d_name, stems)) {
			char *path = xasprintf("%s/%s", directory, entry->d_name);

			string_table_add(paths, path);
			free(path);
		}
	if (folder)
		closedir(folder);
}

/* Whether a record may be of what this compiler has made. */
static bool may_be_of(const char *path, const char *producer)
{
	if (!producer)
		return true;
	return is_gcc_record(path) ? !strncmp(producer, "GNU ", strlen("GNU "))
				   : strstr(producer, "clang") || strstr(producer, "LLVM") ||
					     strstr(producer, "rustc");
}

void remarks_read(struct remarks *remarks, const char *directory, const char *source,
		  const char *producer)
{
	struct string_table stems = {0}, paths = {0};
	char *stem = remarks_stem(source);

	string_table_add(&stems, stem);
	remarks_find(directory, &stems, &paths);
	for (uint32_t i = 0; i < paths.count; i++)
		if (may_be_of(string_table_text(&paths, i), producer))
			read_record(remarks, string_table_text(&paths, i), source);
	string_table_fini(&stems);
	string_table_fini(&paths);
	free(stem);
}

static int compare_remarks(const void *a, const void *b)
{
	const struct remark *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->text, y->text);
}

void remarks_sort(struct remarks *remarks)
{
	size_t kept = 0;

	if (!remarks->items.count)
		return;
	qsort(remarks->items.items, remarks->items.count, sizeof(struct remark), compare_remarks);
	for (size_t i = 0; i < remarks->items.count; i++)
		if (!kept ||
		    compare_remarks(&remarks->items.items[kept - 1], &remarks->items.items[i]) != 0)
			remarks->items.items[kept++] = remarks->items.items[i];
	remarks->items.count = kept;
}

void remarks_fini(struct remarks *remarks)
{
	vec_fini(&remarks->items);
	arena_fini(&remarks->arena);
}
