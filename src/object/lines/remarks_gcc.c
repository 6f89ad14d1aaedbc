/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCC's records are an array of three: the format, the passes with the groups that they belong
 * to, and the remarks.  Of these the successes and failures are for people; notes are what the
 * compiler thought on the way.  Their texts are pieces, some of them with a place.
 *
 * In memory a value of JSON takes up to a hundred times its text.  So the text is gone through
 * once, and only the fields that we look at are parsed, each by itself.
 */
#include "object/lines/remarks.h"

#include "base/array.h"
#include "base/strbuf.h"

#include <jansson.h>
#include <string.h>

enum {
	PIECE_LIMIT = 1 << 16, /* bytes of a field; a message has some hundred */
	DEPTH_LIMIT = 256,     /* of children; a tenth of that is much */
};

/* What the groups of passes are about; ids are words such as "0x2e8". */
struct passes {
	struct string_table ids;
	VEC(enum remark_class) kinds;
};

static enum remark_class kind_of_group(const char *name)
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

	for (size_t i = 0; name && i < COUNT(groups); i++)
		if (!strcmp(groups[i].group, name))
			return groups[i].kind;
	return REMARK_CODE;
}

/* Of passes of one id the first counts. */
static void add_pass(struct passes *passes, const json_t *pass)
{
	const char *id = json_string_value(json_object_get(pass, "id"));
	const json_t *groups = json_object_get(pass, "optgroups");

	if (id && string_table_add(&passes->ids, id) == passes->kinds.count)
		*vec_push(&passes->kinds) =
			kind_of_group(json_string_value(json_array_get(groups, 0)));
}

static enum remark_class kind_of_pass(const struct passes *passes, const char *id)
{
	uint32_t number = id ? string_table_find(&passes->ids, id) : HASH_NONE;

	return number == HASH_NONE ? REMARK_CODE : passes->kinds.items[number];
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

static void add_remark(struct remarks *remarks, const struct passes *passes, const json_t *record,
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

/* ---- objects, one after the other ---- */

struct reader {
	struct remarks_text *text;
	struct strbuf piece; /* the value that was read last */
	unsigned depth;
	struct remarks *remarks;
	const char *source;
	struct passes passes;
};
typedef void visit_object(struct reader *reader, const json_t *fields);

static void visit_pass(struct reader *reader, const json_t *fields)
{
	add_pass(&reader->passes, fields);
}

static void visit_remark(struct reader *reader, const json_t *fields)
{
	add_remark(reader->remarks, &reader->passes, fields, reader->source);
}

static bool is_separator(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':';
}

/* The next byte that something begins or ends with. */
static int next_mark(struct reader *reader)
{
	int c;

	do
		c = remarks_next(reader->text);
	while (is_separator(c));
	return c;
}

/* How far a text, an array or an object has come. */
struct value {
	unsigned depth;
	bool in_text, escaped;
};

/* Whether it goes on behind that byte of it. */
static bool goes_on(struct value *value, int c)
{
	bool escaped = value->escaped;

	value->escaped = value->in_text && !escaped && c == '\\';
	if (c == '"' && !escaped)
		value->in_text = !value->in_text;
	else if (!value->in_text && (c == '[' || c == '{'))
		value->depth++;
	else if (!value->in_text && (c == ']' || c == '}') && value->depth)
		value->depth--;
	return value->depth || value->in_text;
}

/* Takes a value that begins with that byte: what is too long is cut, and cannot be parsed then. */
static void take_value(struct reader *reader, int c)
{
	bool is_word = c != '"' && c != '[' && c != '{';
	struct value value = {0};

	strbuf_clear(&reader->piece);
	while (c != REMARKS_END) {
		if (reader->piece.length < PIECE_LIMIT)
			strbuf_putc(&reader->piece, (char)c);
		if (!is_word && !goes_on(&value, c))
			return;
		c = remarks_next(reader->text);
		if (is_word && (is_separator(c) || c == ']' || c == '}')) {
			remarks_put_back(reader->text);
			return;
		}
	}
}

/* The name of the field that was read; NULL: none that we look at. */
static const char *known_field(const struct strbuf *piece)
{
	static const char *const names[] = {"children", "id",	"kind",	    "location",
					    "message",	"pass", "optgroups"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (piece->length == strlen(names[i]) + 2 && piece->text[0] == '"' &&
		    !memcmp(piece->text + 1, names[i], strlen(names[i])))
			return names[i];
	return NULL;
}

static void read_objects(struct reader *reader, visit_object *visit);

/* An object behind its first byte: its children by themselves, then its fields. */
static void read_object(struct reader *reader, visit_object *visit)
{
	json_t *fields = json_object();
	int c;

	while ((c = next_mark(reader)) != REMARKS_END && c != '}') {
		take_value(reader, c);
		const char *name = known_field(&reader->piece);

		c = next_mark(reader);
		if (name == NULL || strcmp(name, "children") != 0 || c != '[') {
			take_value(reader, c);
			if (name)
				json_object_set_new(fields, name,
						    json_loadb(reader->piece.text,
							       reader->piece.length,
							       JSON_DECODE_ANY, NULL));
		} else {
			read_objects(reader, visit);
		}
	}
	visit(reader, fields);
	json_decref(fields);
}

/* An array behind its first byte. */
static void read_objects(struct reader *reader, visit_object *visit)
{
	int c;

	reader->depth++;
	while ((c = next_mark(reader)) != REMARKS_END && c != ']')
		if (c == '{' && reader->depth < DEPTH_LIMIT)
			read_object(reader, visit);
		else
			take_value(reader, c);
	reader->depth--;
}

void remarks_parse_gcc(struct remarks *remarks, struct remarks_text *text, const char *source)
{
	struct reader reader = {.text = text, .remarks = remarks, .source = source};

	if (next_mark(&reader) == '[') {
		take_value(&reader, next_mark(&reader)); /* the format */
		if (next_mark(&reader) == '[')
			read_objects(&reader, visit_pass);
		if (next_mark(&reader) == '[')
			read_objects(&reader, visit_remark);
	}
	string_table_fini(&reader.passes.ids);
	vec_fini(&reader.passes.kinds);
	strbuf_fini(&reader.piece);
}
