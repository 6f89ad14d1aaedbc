/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, messages and strings for the tools: small, boring, never failing. */
#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_CHUNK_SIZE = 64 * 1024 };

struct arena_chunk {
	struct arena_chunk *older;
	_Alignas(16) char data[];
};

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "helio: out of memory (%zu bytes wanted)\n", size);
	exit(1);
}

void *xmalloc(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (!memory)
		out_of_memory(size);
	return memory;
}

void *xcalloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		out_of_memory(count * size);
	return memory;
}

void *xrealloc(void *old, size_t size)
{
	void *memory = realloc(old, size ? size : 1);

	if (!memory)
		out_of_memory(size);
	return memory;
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void memory_give_back(void)
{
	malloc_trim(0);
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xvasprintf(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		out_of_memory(0);
	return text;
}

char *xasprintf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	return text;
}

void *vec_grow(void **items, size_t *count, size_t *capacity, size_t size)
{
	if (*count == *capacity) {
		*capacity = *capacity ? *capacity * 2 : 8;
		*items = xrealloc(*items, *capacity * size);
	}
	return memset((char *)*items + (*count)++ * size, 0, size);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size = size ? (size + 15) & ~(size_t)15 : 16; /* of size 0 too: a place of its own */
	if (size > arena->left) {
		size_t room = size > ARENA_CHUNK_SIZE / 4 ? size : ARENA_CHUNK_SIZE;
		struct arena_chunk *chunk = xcalloc(1, sizeof(*chunk) + room);

		chunk->older = arena->chunks;
		arena->chunks = chunk;
		arena->size += sizeof(*chunk) + room;
		if (room == size) /* a large piece gets its own chunk; keep filling the last one */
			return chunk->data;
		arena->next = chunk->data;
		arena->left = room;
	}
	void *memory = arena->next;

	arena->next += size;
	arena->left -= size;
	return memory;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	char *copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

void arena_fini(struct arena *arena)
{
	for (struct arena_chunk *chunk = arena->chunks, *older; chunk; chunk = older) {
		older = chunk->older;
		free(chunk);
	}
	*arena = (struct arena){0};
}

const char *diag_level_name(enum diag_level level)
{
	static const char *const names[] = {
		[DIAG_NOTE] = "note", [DIAG_WARNING] = "warning", [DIAG_ERROR] = "error"};

	return names[level];
}

static void diag_push(struct diag_list *list, enum diag_level level, char *text)
{
	struct diag *diag = vec_push(list);

	diag->level = level;
	diag->text = text;
	diag->about = list->about;
}

void diag_add(struct diag_list *list, enum diag_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	diag_push(list, level, text);
}

/* Of so many a look at each is faster than an index, and smaller: there are lists by the thousand.
 */
enum { INDEXED_FROM = 8 };

/* Whether the text is new: then it will be the one of that number. */
static bool index_text(struct diag_list *list, const char *text, uint32_t about, size_t number)
{
	uint64_t key = hash_text(text, strlen(text));

	for (;; key++) {
		uint32_t id = hash_map_put(&list->by_text, key, (uint32_t)number);

		if (id == number ||
		    (list->items[id].about == about && !strcmp(list->items[id].text, text)))
			return id == number;
	}
}

static bool is_new(struct diag_list *list, const char *text)
{
	if (list->count < INDEXED_FROM) {
		for (size_t i = 0; i < list->count; i++)
			if (list->items[i].about == list->about &&
			    !strcmp(list->items[i].text, text))
				return false;
		return true;
	}
	for (; list->indexed < list->count; list->indexed++) /* those of diag_add, and the first */
		index_text(list, list->items[list->indexed].text, list->items[list->indexed].about,
			   list->indexed);
	return index_text(list, text, list->about, list->count);
}

void diag_add_once(struct diag_list *list, enum diag_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	if (is_new(list, text))
		diag_push(list, level, text);
	else
		free(text);
}

void diag_fini(struct diag_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].text);
	vec_fini(list);
	hash_map_fini(&list->by_text);
	list->indexed = 0;
}

void strbuf_add(struct strbuf *buf, const void *data, size_t length)
{
	if (buf->length + length + 1 > buf->capacity) {
		buf->capacity = (buf->length + length + 1) * 2;
		buf->text = xrealloc(buf->text, buf->capacity);
	}
	if (length) /* then `data` may be NULL */
		memcpy(buf->text + buf->length, data, length);
	buf->length += length;
	buf->text[buf->length] = '\0';
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void strbuf_putc(struct strbuf *buf, char c)
{
	strbuf_add(buf, &c, 1);
}

void strbuf_put_in_line(struct strbuf *buf, const char *text)
{
	for (size_t length; length = strcspn(text, "\n"), text[length]; text += length + 1) {
		strbuf_add(buf, text, length);
		strbuf_puts(buf, "\\x0a");
	}
	strbuf_puts(buf, text);
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	strbuf_puts(buf, text);
	free(text);
}

void strbuf_clear(struct strbuf *buf)
{
	buf->length = 0;
	if (buf->text)
		buf->text[0] = '\0';
}

char *strbuf_steal(struct strbuf *buf)
{
	char *text = buf->text ? buf->text : xstrdup("");

	*buf = (struct strbuf){0};
	return text;
}

void strbuf_fini(struct strbuf *buf)
{
	free(buf->text);
	*buf = (struct strbuf){0};
}
