/* SPDX-License-Identifier: Apache-2.0 */
/* print: commands over a session, and their answers as one JSON object, as text or as arrays. */
#include "base/json.h"
#include "serve/server.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MOST = 1000, /* commands of a request, and words of one of them */
	/* bytes: a source of a million lines, which a browser just holds */
	ANSWER_MOST = 128 << 20,
};

const char *body_text(json_t *body, const char *name)
{
	return json_string_value(json_object_get(body, name));
}

bool body_words(json_t *array, struct answer_words *words)
{
	size_t count = json_array_size(array);

	*words = (struct answer_words){0};
	if (!json_is_array(array) || count > WORDS_MOST)
		return false;
	words->items = xcalloc(count + 1, sizeof(*words->items));
	for (; words->count < count; words->count++) {
		json_t *word = json_array_get(array, words->count);

		/* a text of JSON may hold a NUL, which no word can */
		if (!json_is_string(word) ||
		    strlen(json_string_value(word)) != json_string_length(word)) {
			words_free(words);
			return false;
		}
		words->items[words->count] = xstrdup(json_string_value(word));
	}
	return true;
}

void words_free(struct answer_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct answer_words){0};
}

struct word_lists {
	struct answer_words *items;
	size_t count;
};

static void lists_free(struct word_lists *lists)
{
	for (size_t i = 0; i < lists->count; i++)
		words_free(&lists->items[i]);
	free(lists->items);
	*lists = (struct word_lists){0};
}

/* NULL is none. */
static bool read_lists(json_t *array, struct word_lists *lists)
{
	size_t count = json_array_size(array);

	*lists = (struct word_lists){0};
	if ((array && !json_is_array(array)) || count > WORDS_MOST)
		return false;
	lists->items = xcalloc(count + 1, sizeof(*lists->items));
	for (size_t i = 0; i < count; i++) {
		lists->count++;
		if (!body_words(json_array_get(array, i), &lists->items[i]) ||
		    !lists->items[i].count) {
			lists_free(lists);
			return false;
		}
	}
	return true;
}

/* ---- the answer as a reply ---- */

/* What a setting says of itself is plain text in every format. */
static void put_plain(struct strbuf *out, const char *text, size_t size)
{
	char *copy = xstrndup(text, size);
	json_t *value = json_text(copy);
	char *quoted = json_dumps(value, JSON_ENCODE_ANY);

	strbuf_puts(out, quoted ? quoted : "null");
	free(quoted);
	json_decref(value);
	free(copy);
}

/* An object as it was printed; several as an array: a comparison may print one for each. */
static void put_part(struct strbuf *out, const struct answer *answer,
		     const struct answer_part *part)
{
	const char *text = answer->text + part->begin;
	size_t size = part->size;
	bool several;

	while (size && text[size - 1] == '\n')
		size--;
	if (part->failed || !size) {
		strbuf_puts(out, "null");
		return;
	}
	if (*text != '{') {
		put_plain(out, text, size);
		return;
	}
	several = memchr(text, '\n', size);
	if (several)
		strbuf_putc(out, '[');
	for (size_t begin = 0; begin < size;) {
		const char *end = memchr(text + begin, '\n', size - begin);
		size_t length = end ? (size_t)(end - text) - begin : size - begin;

		strbuf_add(out, text + begin, length);
		begin += length + 1;
		if (end)
			strbuf_putc(out, ',');
	}
	if (several)
		strbuf_putc(out, ']');
}

static json_t *messages_of(const struct answer *answer)
{
	json_t *list = json_array();

	for (size_t i = 0; i < answer->message_count; i++) {
		const struct answer_message *message = &answer->messages[i];
		json_t *command = message->command == ANSWER_OF_SETTINGS
					  ? json_null()
					  : json_integer(message->command);

		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o}", "level", diag_level_name(message->level),
					"text", json_text(message->text), "command", command));
	}
	return list;
}

static void reply_results(struct reply *reply, const struct answer *answer, size_t commands)
{
	json_t *messages = messages_of(answer);
	char *text = json_dumps(messages, JSON_COMPACT);
	const struct answer_names names = answer_names();

	strbuf_puts(&reply->body, "{\"results\":[");
	for (size_t i = 0; i < commands; i++) {
		if (i)
			strbuf_putc(&reply->body, ',');
		if (i < answer->part_count)
			put_part(&reply->body, answer, &answer->parts[i]);
		else
			strbuf_puts(&reply->body, "null");
	}
	strbuf_printf(&reply->body, "],\"messages\":%s,\"names_waiting\":%zu,\"names_found\":%zu}",
		      text, names.waiting, names.found);
	reply->status = HTTP_OK;
	reply->type = "application/json; charset=utf-8";
	free(text);
	json_decref(messages);
}

/* Text, CSV and arrays have no messages in them. */
static void reply_failure(struct reply *reply, const struct answer *answer)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < answer->message_count; i++)
		if (answer->messages[i].level == DIAG_ERROR)
			strbuf_printf(&text, "%s%s", text.length ? "\n" : "",
				      answer->messages[i].text);
	reply_error(reply, HTTP_UNPROCESSABLE, "%s",
		    text.text ? text.text : "The commands failed and did not say why");
	strbuf_fini(&text);
}

static void reply_text(struct reply *reply, const struct answer *answer, const char *type)
{
	if (answer->failed) {
		reply_failure(reply, answer);
		return;
	}
	for (size_t i = 0; i < answer->part_count; i++)
		strbuf_add(&reply->body, answer->text + answer->parts[i].begin,
			   answer->parts[i].size);
	reply->status = HTTP_OK;
	reply->type = type;
}

/* ---- the request ---- */

static const struct format {
	const char *name, *printmode, *type;
} formats[] = {
	{"json", "json", NULL},
	{"slab", "slab", "application/octet-stream"},
	{"text", "text", "text/plain; charset=utf-8"},
	{"csv", ",", "text/csv; charset=utf-8"},
};

static const struct format *find_format(const char *name)
{
	if (!name)
		return &formats[0];
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static void reply_answer(struct reply *reply, const struct format *format,
			 const struct answer *answer, const struct word_lists *commands)
{
	if (answer->cancelled)
		reply_error(reply, HTTP_CONFLICT, "Cancelled");
	else if (answer->too_large)
		reply_error(
			reply, HTTP_UNPROCESSABLE,
			"The answer to `%s' has more than %d MB, the most that is sent at once: "
			"ask for fewer rows (limit), events (filters, a range of time) or "
			"cells, or use helio print",
			commands->items[answer->too_large - 1].items[0], ANSWER_MOST >> 20);
	else if (format->type)
		reply_text(reply, answer, format->type);
	else
		reply_results(reply, answer, commands->count);
}

static void run(struct server *server, const struct request *request, json_t *body,
		const struct word_lists *settings, const struct word_lists *commands,
		struct reply *reply)
{
	const struct format *format = find_format(body_text(body, "format"));
	uint32_t session = (uint32_t)json_integer_value(json_object_get(body, "session"));
	struct running *running = running_begin(server, request, body_text(body, "id"));
	struct view_session *view = sessions_get(server, session, running, reply);
	const struct answer_request asked = {
		.settings = settings->items,
		.setting_count = settings->count,
		.commands = commands->items,
		.command_count = commands->count,
		.format = format->printmode,
		.most = ANSWER_MOST,
		.tell = running_tell,
		.data = running,
	};
	struct answer out;

	if (view) {
		answer(view->answerer, &asked, &out);
		sessions_put(server, view);
		reply_answer(reply, format, &out, commands);
		answer_fini(&out);
	}
	running_end(running);
}

void serve_print(struct server *server, const struct request *request, json_t *body,
		 struct reply *reply)
{
	const char *id = body_text(body, "id");
	struct word_lists settings, commands = {0};
	bool read = read_lists(json_object_get(body, "settings"), &settings) &&
		    read_lists(json_object_get(body, "commands"), &commands);

	if (!read)
		reply_error(reply, HTTP_BAD_REQUEST,
			    "\"settings\" and \"commands\" are lists of lists of words, as in "
			    "[[\"limit\", \"20\"]]");
	else if (!find_format(body_text(body, "format")))
		reply_error(reply, HTTP_BAD_REQUEST, "\"format\" is json, text, csv or slab");
	else if (id && strlen(id) > REQUEST_ID_MOST)
		reply_error(reply, HTTP_BAD_REQUEST, "\"id\" has at most %d characters",
			    REQUEST_ID_MOST);
	else
		run(server, request, body, &settings, &commands, reply);
	lists_free(&settings);
	lists_free(&commands);
}
