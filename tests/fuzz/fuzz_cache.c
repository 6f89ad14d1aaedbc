/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the cache with bytes changed, its checksum right again: what is shown then may be
 * wrong, but nothing may be read beyond what is there.  An input is a byte that chooses the file
 * and then edits of five bytes: the place in 24 bits, the kind of edit, a value.  Two of the files
 * are what processes of `helio index` hand to each other, which are merged then.
 */
#include "analysis/cache/cache_index.h"
#include "analysis/cache/cache_sums.h"
#include "base/strbuf.h"
#include "print_golden.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const endings[] = {".sums", ".sums.code"};
enum { KEPT = sizeof(endings) / sizeof(*endings), PARTS = 2, FILES = KEPT + PARTS, EDIT = 5 };

/* As they were written by a run over the experiment; parts: over experiments, one a process. */
static struct file {
	char name[64];
	struct strbuf body;
	size_t fixed; /* bytes that are not edited: what they are sums of, compared as a whole */
} files[FILES];

enum { EXPERIMENTS = 2 * PARTS };
static char *experiments[] = {"part.1.er", "part.2.er", "part.3.er", "part.4.er"};
static char *merged; /* the name of their file */
static struct cache_sign here, anywhere;

static bool ends_so(const char *name, const char *ending)
{
	size_t length = strlen(name), rest = strlen(ending);

	return length > rest && !strcmp(name + length - rest, ending);
}

static void read_file(struct file *file)
{
	struct cache_reader reader = {0};

	if (!cache_read(file->name, &reader))
		abort();
	strbuf_add(&file->body, reader.body, (size_t)(reader.end - reader.body));
	if (anywhere.experiments && cache_take_same(&reader, anywhere.experiments))
		file->fixed = (size_t)(reader.at - reader.body);
	free(reader.body);
}

/* The file of that ending, not the one by the name `but`. */
static void find(struct file *file, const char *ending, const char *but)
{
	DIR *directory = opendir("heliometer");
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (ends_so(entry->d_name, ending) && strlen(entry->d_name) < sizeof(file->name) &&
		    strcmp(entry->d_name, but) != 0)
			strcpy(file->name, entry->d_name);
	if (!directory || !*file->name)
		abort();
	closedir(directory);
	read_file(file);
}

static void not_waiting(unsigned share)
{
	(void)share;
	abort();
}

/* Numbers 1 and 3 of four processes hand over what they have; the others never begin. */
static void make_parts(void)
{
	struct diag_list diags = {0};

	for (int i = 0; i < EXPERIMENTS; i++)
		golden_copy_experiment(experiments[i]);
	here = cache_sums_sign(experiments, EXPERIMENTS, CACHE_HERE);
	anywhere = cache_sums_sign(experiments, EXPERIMENTS, CACHE_ANYWHERE);
	for (unsigned number = 1; number < EXPERIMENTS; number += 2) {
		const struct session_share share = {number, EXPERIMENTS};

		if (cache_index(experiments, EXPERIMENTS, &share, not_waiting, &diags))
			abort();
	}
	char *key = cache_sums_key(experiments, EXPERIMENTS);

	merged = cache_name(key, CACHE_SUMS_ENDING);
	free(key);
	diag_fini(&diags);
	find(&files[KEPT], CACHE_SHARE_ENDING, "");
	find(&files[KEPT + 1], CACHE_SHARE_ENDING, files[KEPT].name);
}

static void edit(struct strbuf *body, size_t fixed, const uint8_t *how)
{
	size_t at = how[0] | (size_t)how[1] << 8 | (size_t)how[2] << 16;

	if (body->length < fixed)
		return;
	at = fixed + at % (body->length - fixed + 1);
	size_t rest = body->length - at;

	switch (how[3] % 4) {
	case 0: /* change */
		if (rest)
			body->text[at] = (char)how[4];
		break;
	case 1: /* cut */
		body->length = at;
		break;
	case 2: /* insert */
		strbuf_putc(body, 0);
		memmove(body->text + at + 1, body->text + at, rest);
		body->text[at] = (char)how[4];
		break;
	default: /* remove */
		if (rest) {
			memmove(body->text + at, body->text + at + 1, rest - 1);
			body->length--;
		}
	}
}

static void write_file(const char *name, const struct strbuf *body)
{
	uint64_t checksum;

	if (!cache_write(name, body, &checksum))
		abort();
}

/* With the edits, if they are for it. */
static void write_edited(int number, const uint8_t *data, size_t size)
{
	const struct file *file = &files[number];
	struct strbuf body = {0};

	strbuf_add(&body, file->body.text, file->body.length);
	if (data[0] % FILES == number)
		for (size_t at = 1; at + EDIT <= size; at += EDIT)
			edit(&body, file->fixed, data + at);
	write_file(file->name, &body);
	strbuf_fini(&body);
}

/* As the process does that gets both.  False: one does not hold. */
static bool merge_parts(void)
{
	static const char *const words[] = {
		"print",     "-outfile",  "/dev/null", "-functions", "-callers-callees",
		"-calltree", "-inlines",  "on",	       "-calltree",  "part.1.er",
		"part.2.er", "part.3.er", "part.4.er", NULL};
	struct session *first = cache_sums_load(files[KEPT].name, &anywhere, true);
	struct session *second = cache_sums_load(files[KEPT + 1].name, &anywhere, true);
	struct strbuf body = {0};

	if (first && second) {
		cache_index_merge(&body, first, second, &here);
		write_file(merged, &body);
		golden_print_words(words);
	}
	bool hold = first && second;

	strbuf_fini(&body);
	session_free(first);
	session_free(second);
	return hold;
}

static void begin(void)
{
	golden_begin();
	golden_print();
	for (int i = 0; i < KEPT; i++)
		find(&files[i], endings[i], "");
	make_parts();
	if (!merge_parts())
		abort(); /* as they were written they do hold */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*files[0].name)
		begin();
	if (!size)
		return 0;

	bool is_part = data[0] % FILES >= KEPT;

	for (int i = is_part ? KEPT : 0; i < (is_part ? FILES : KEPT); i++)
		write_edited(i, data, size);
	if (is_part)
		merge_parts();
	else
		golden_print_sums();
	return 0;
}
