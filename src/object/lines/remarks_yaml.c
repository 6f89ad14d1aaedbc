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

struct document {
	bool is_missed, is_other; /* other than done or missed */
	const char *pass, *file;
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

	for (size_t i = 0; pass && i < COUNT(words); i++)
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
static void take_place(struct document *document, char *value)
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
	document->file = file;
}

static void take_line(struct document *document, char *line)
{
	if (!strncmp(line, "  - ", 4)) {
		strbuf_puts(&document->text, value_of(line + 4));
	} else if (!strncmp(line, "Pass:", 5)) {
		document->pass = value_of(line);
	} else if (!strncmp(line, "DebugLoc:", 9)) {
		take_place(document, value_of(line));
	}
}

static void finish(struct remarks *remarks, struct document *document, const char *source)
{
	if (!document->is_other && document->text.length && remarks_is_file(document->file, source))
		remarks_add(remarks, document->line,
			    document->is_missed ? REMARK_QUERY : kind_of_pass(document->pass),
			    document->text.text);
	strbuf_fini(&document->text);
	*document = (struct document){0};
}

void remarks_parse_yaml(struct remarks *remarks, char *text, const char *source)
{
	struct document document = {0};
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "--- ", 4)) {
			finish(remarks, &document, source);
			document.is_missed = !strcmp(line, "--- !Missed");
			document.is_other = !document.is_missed && strcmp(line, "--- !Passed") != 0;
		} else {
			take_line(&document, line);
		}
	}
	finish(remarks, &document, source);
}
