/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clang's records: documents of one form, "--- !Passed", fields at the beginning of lines, then
 * the arguments, of which each is "  - Key: value" and is a piece of the text.  Nothing else of
 * YAML is written there but 'quotes', in which '' is a quote.
 */
#include "base/array.h"
#include "base/strbuf.h"
#include "object/lines/remarks.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_LIMIT = 1 << 16 };

struct document {
	bool is_missed, is_other; /* other than done or missed */
	bool is_of_source;
	enum remark_class kind;
	uint32_t line;
	struct strbuf text;
};

static enum remark_class kind_of_pass(const char *pass)
{
	static const struct {
		const char *word;
		enum remark_class kind;
	} words[] = {
		{"inline", REMARK_INLINE},   {"loop", REMARK_LOOP},   {"slp", REMARK_LOOP},
		{"unroll", REMARK_LOOP},     {"licm", REMARK_MEMORY}, {"gvn", REMARK_MEMORY},
		{"openmp", REMARK_PARALLEL},
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strstr(pass, words[i].word))
			return words[i].kind;
	return REMARK_CODE;
}

/* The value of "Key:   value", without its quotes, in place. */
static char *value_of(char *line)
{
	char *value = strchr(line, ':'), *to;

	if (!value)
		return line + strlen(line);
	value += 1 + strspn(value + 1, " ");
	if (*value != '\'')
		return value;
	to = value;
	for (char *from = value + 1; *from && (*from != '\'' || from[1] == '\''); from++) {
		from += *from == '\'';
		*to++ = *from;
	}
	*to = '\0';
	return value;
}

/* "{ File: o.c, Line: 24, Column: 2 }" */
static void take_place(struct document *document, char *value, const char *source)
{
	char *line = strstr(value, ", Line: "), *file = strstr(value, "File: ");

	if (!line || !file)
		return;
	document->line = (uint32_t)strtoul(line + strlen(", Line: "), NULL, 10);
	*line = '\0';
	file += strlen("File: ");
	if (*file == '\'') {
		file++;
		file[strcspn(file, "'")] = '\0';
	}
	document->is_of_source = remarks_is_file(file, source);
}

static void take_line(struct document *document, char *line, const char *source)
{
	if (!strncmp(line, "  - ", 4)) {
		if (document->text.length < REMARKS_TEXT_LIMIT)
			strbuf_puts(&document->text, value_of(line + 4));
	} else if (!strncmp(line, "Pass:", 5)) {
		document->kind = kind_of_pass(value_of(line));
	} else if (!strncmp(line, "DebugLoc:", 9)) {
		take_place(document, value_of(line), source);
	}
}

static void begin(struct document *document, const char *line)
{
	strbuf_fini(&document->text);
	*document =
		(struct document){.kind = REMARK_CODE, .is_missed = !strcmp(line, "--- !Missed")};
	document->is_other = !document->is_missed && strcmp(line, "--- !Passed") != 0;
}

static void finish(struct remarks *remarks, const struct document *document)
{
	if (!document->is_other && document->text.length && document->is_of_source)
		remarks_add(remarks, document->line,
			    document->is_missed ? REMARK_QUERY : document->kind,
			    document->text.text);
}

/* False: there is none. */
static bool read_line(struct remarks_text *text, struct strbuf *line)
{
	int c = remarks_next(text);
	bool found = c != REMARKS_END;

	strbuf_clear(line);
	for (; c != REMARKS_END && c != '\n'; c = remarks_next(text))
		if (line->length < LINE_LIMIT)
			strbuf_putc(line, (char)c);
	return found;
}

void remarks_parse_yaml(struct remarks *remarks, struct remarks_text *text, const char *source)
{
	struct document document = {.is_other = true};
	struct strbuf line = {0};

	while (read_line(text, &line)) {
		if (!line.length)
			continue;
		if (!strncmp(line.text, "--- ", 4)) {
			finish(remarks, &document);
			begin(&document, line.text);
		} else {
			take_line(&document, line.text, source);
		}
	}
	finish(remarks, &document);
	strbuf_fini(&document.text);
	strbuf_fini(&line);
}
