/* SPDX-License-Identifier: Apache-2.0 */
/* Text made without libc: lines for log.xml and map.xml, paths, environment strings. */
#ifndef HELIO_COLLECTOR_TEXT_H
#define HELIO_COLLECTOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer of the caller's. What does not fit is left out and `full` is set; always NUL-terminated.
 */
struct text {
	char *buffer;
	size_t size;
	size_t length;
	bool full;
};

#define TEXT_ON(array) ((struct text){.buffer = (array), .size = sizeof(array)})

void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char c);
void text_decimal(struct text *text, int64_t value);
void text_hex(struct text *text, uint64_t value); /* with 0x */
void text_bytes_hex(struct text *text, const uint8_t *bytes, size_t count);
/* Ends what did not fit: no half a character, and who reads it sees the cut. */
void text_end_cut(struct text *text);
/*
 * ` name="value"` with XML escapes.  Of a value that does not fit there is as much as leaves room
 * for short attributes behind it, then "...": the line stays a line.
 */
void text_attribute(struct text *text, const char *name, const char *value);
void text_attribute_decimal(struct text *text, const char *name, int64_t value);
void text_attribute_hex(struct text *text, const char *name, uint64_t value);

size_t text_length(const char *string);
/* FNV-1a, begun with TEXT_HASH_START. */
#define TEXT_HASH_START 0xcbf29ce484222325u
uint64_t text_hash(uint64_t hash, const void *bytes, size_t size);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *string, const char *prefix);
/* Reads a decimal number; *end is the first character after it. */
uint64_t text_number(const char *string, const char **end);
/* As text_number, in small hexadecimal digits. */
uint64_t text_hex_number(const char *string, const char **end);

#endif
