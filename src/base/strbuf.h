/* SPDX-License-Identifier: Apache-2.0 */
/* A string under construction. Zero-initialised is empty; text is NULL until something is added. */
#ifndef HELIO_BASE_STRBUF_H
#define HELIO_BASE_STRBUF_H

#include <stddef.h>

struct strbuf {
	char *text; /* NUL-terminated */
	size_t length;
	size_t capacity;
};

void strbuf_add(struct strbuf *buf, const void *data, size_t length);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_putc(struct strbuf *buf, char c);
/* Text of somebody else's as part of a line: an end of line in it is seen as `\x0a'. */
void strbuf_put_in_line(struct strbuf *buf, const char *text);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_clear(struct strbuf *buf);
/* The text as the caller's to free; the buffer is empty afterwards. Never NULL. */
char *strbuf_steal(struct strbuf *buf);
void strbuf_fini(struct strbuf *buf);

#endif
