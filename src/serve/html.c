/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same page over answers that are in it.  A list of commands is asked as the page would ask,
 * and each result stands by its words: {"bootstrap", "answers": {"[\"functions\"]": RESULT}}, JSON
 * in an element that is no script.  The page's files are put in the place of their links.
 */
#include "serve/html.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/terminal.h"
#include "serve/page_files.h"
#include "serve/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { HOTTEST = 10, EXIT_FAILED = 1, WORDS = 4 };

/*
 * By importance; the tables of the hottest functions, then their listings, come between the lists.
 * The page asks for trees by these words, and for others by their first word.
 */
static const char *const first_commands[][WORDS] = {
	{"overview"},
	{"report"},
	{"metric_list"},
	{"functions"},
	{"header", "all"},
	{"experiment_list"},
	{"calltree", "-percent", "0.2"},
	{"csingle", "<Total>"},
	{"fsingle", "<Total>"},
	{"timeline", "800"},
	{"sample_detail"},
};
static const char *const more_commands[][WORDS] = {
	{"objects"},
	{"indxobj", "Threads"},
	{"statistics"},
	{"locks"},
	{"ioactivity"},
	{"iostat"},
	{"regions"},
	{"mpistat"},
	{"calltree", "-inverted", "-percent", "0.2"},
	{"heapstat"},
	{"indxobj", "JClasses"},
	{"indxobj", "Processes"},
	{"indxobj", "CPUs"},
};
static const char *const last_commands[][WORDS] = {
	{"leaks"},
	{"lines"},
	{"mpimessages"},
	{"lockholds"},
	{"timeline", "-cpus", "400"},
	{"lock", "1"},
	{"lock", "2"},
	{"lock", "3"},
	{"iocallstack"},
	{"iodetail"},
	{"allocs"},
	{"tasks"},
	{"mpimatrix"},
	{"mpiwaits"},
	{"indxobj", "Seconds"},
	{"pcs"},
};

/* Of the hottest functions, and of what stands among them and is none. */
static const char *const tables_of_function[] = {"csingle", "fsingle"};
static const char *const listings_of_function[] = {"source", "disasm"};

struct collection {
	struct server *server;
	json_t *answers;
	size_t bytes, most; /* of the answers */
};

/* ---- asking ---- */

/* The result of a command, or NULL. */
static json_t *ask(struct server *server, const json_t *words)
{
	const struct request request = {.peer = -1};
	struct reply reply = {0};
	json_t *body = json_pack("{s:i, s:[[s,s]], s:[O]}", "session", 1, "settings", "limit",
				 "500", "commands", words);
	json_t *answer, *result = NULL;

	serve_print(server, &request, body, &reply);
	answer = json_loadb(reply.body.text ? reply.body.text : "", reply.body.length, 0, NULL);
	if (reply.status == HTTP_OK)
		result = json_incref(json_array_get(json_object_get(answer, "results"), 0));
	json_decref(answer);
	json_decref(body);
	reply_fini(&reply);
	if (json_is_object(result))
		return result;
	json_decref(result);
	return NULL;
}

/* Adds the answer if there is one and it fits; takes over words. */
static void collect(struct collection *into, json_t *words)
{
	char *key = json_dumps(words, JSON_COMPACT);
	json_t *result = json_object_get(into->answers, key) ? NULL : ask(into->server, words);
	char *text = result ? json_dumps(result, JSON_COMPACT) : NULL;
	size_t size = text ? strlen(text) + strlen(key) + 8 : 0;

	if (text && into->bytes + size <= into->most) {
		into->bytes += size;
		json_object_set(into->answers, key, result);
	}
	free(text);
	free(key);
	json_decref(words);
	json_decref(result);
}

static json_t *words_of(const char *const *words, size_t most)
{
	json_t *list = json_array();

	for (size_t i = 0; i < most && words[i]; i++)
		json_array_append_new(list, json_string(words[i]));
	return list;
}

static void collect_list(struct collection *into, const char *const (*list)[WORDS], size_t count)
{
	for (size_t i = 0; i < count; i++)
		collect(into, words_of(list[i], WORDS));
}

/* "f [a.so]": it says already which of several it is. */
static bool has_object(const char *name, size_t length)
{
	const char *last = strrchr(name, '[');

	return length && name[length - 1] == ']' && last && last > name && last[-1] == ' ';
}

/* "NAME [OBJECT]", as the page names a function: functionRef() of web/src/request.ts. */
static char *name_of(json_t *row)
{
	static const char inlined[] = " (inlined)";
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *object = json_string_value(json_object_get(row, "object"));
	const char *slash = object ? strrchr(object, '/') : NULL;
	size_t length = name ? strlen(name) : 0, end = sizeof(inlined) - 1;

	if (!name)
		return NULL;
	if (length > end && !strcmp(name + length - end, inlined))
		length -= end;
	if (!object || has_object(name, length))
		return xasprintf("%.*s", (int)length, name);
	return xasprintf("%.*s [%s]", (int)length, name, slash ? slash + 1 : object);
}

static void collect_functions(struct collection *into, const char *const of_function[2])
{
	json_t *functions = json_incref(json_object_get(into->answers, "[\"functions\"]"));
	json_t *rows = json_object_get(functions, "rows");
	size_t taken = 0;

	for (size_t i = 0; i < json_array_size(rows) && taken < HOTTEST; i++) {
		char *name = name_of(json_array_get(rows, i));

		for (size_t k = 0; name && k < 2; k++) {
			const char *const words[] = {of_function[k], name};

			collect(into, words_of(words, 2));
		}
		taken += json_is_string(json_object_get(json_array_get(rows, i), "object"));
		free(name);
	}
	json_decref(functions);
}

static json_t *bootstrap(struct server *server)
{
	const struct request request = {.peer = -1};
	struct reply reply = {0};
	json_t *answer;

	serve_bootstrap(server, &request, NULL, &reply);
	answer = json_loadb(reply.body.text, reply.body.length, 0, NULL);
	json_object_set_new(answer, "readonly", json_true());
	reply_fini(&reply);
	return answer;
}

/* ---- the page ---- */

static void unpack(const struct page_file *file, struct strbuf *out)
{
	z_stream stream = {.next_in = (unsigned char *)file->data, .avail_in = (uInt)file->size};
	unsigned char piece[16384];
	int status = inflateInit2(&stream, 16 + MAX_WBITS); /* with a gzip header */

	while (status == Z_OK) {
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		status = inflate(&stream, Z_NO_FLUSH);
		strbuf_add(out, piece, sizeof(piece) - stream.avail_out);
	}
	inflateEnd(&stream);
}

static const struct page_file *find(const char *name)
{
	for (const struct page_file *file = page_files; file->name; file++)
		if (!strcmp(file->name, name))
			return file;
	return NULL;
}

/* What ends an element may not stand in it: in a script it can only be within a text. */
static void put_inside(struct strbuf *out, const char *text, const char *element)
{
	char *end = xasprintf("</%s", element);
	const char *here;

	for (; (here = strcasestr(text, end)); text = here + 1) {
		strbuf_add(out, text, (size_t)(here - text));
		strbuf_puts(out, "<\\");
	}
	strbuf_puts(out, text);
	free(end);
}

/* In JSON a `<` can only be within a text. */
static void put_data(struct strbuf *out, const char *json)
{
	for (const char *here; (here = strchr(json, '<')); json = here + 1) {
		strbuf_add(out, json, (size_t)(here - json));
		strbuf_puts(out, "\\u003c");
	}
	strbuf_puts(out, json);
}

/* Puts a file in the place of its link, BEGINNING/NAMEEND, with `before` in front. */
static void replace(struct strbuf *page, const char *beginning, const char *end,
		    const char *element, const struct page_file *file, const char *before)
{
	char *link = xasprintf("%s/%s%s", beginning, file->name, end);
	char *found = page->text ? strstr(page->text, link) : NULL;
	struct strbuf out = {0}, content = {0};

	if (found) {
		unpack(file, &content);
		strbuf_add(&out, page->text, (size_t)(found - page->text));
		strbuf_puts(&out, before);
		strbuf_printf(&out, "<%s%s>", element,
			      strcmp(element, "script") ? "" : " type=\"module\"");
		put_inside(&out, content.text ? content.text : "", element);
		strbuf_printf(&out, "</%s>", element);
		strbuf_puts(&out, found + strlen(link));
		strbuf_fini(page);
		*page = out;
	}
	strbuf_fini(&content);
	free(link);
}

static const char policy[] =
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
	"'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
	"'none'\">\n";

static void make_page(struct strbuf *page, const char *data)
{
	struct strbuf before = {0};

	unpack(find("index.html"), page);
	strbuf_puts(&before, policy);
	strbuf_puts(&before, "<script type=\"application/json\" id=\"helio-data\">");
	put_data(&before, data);
	strbuf_puts(&before, "</script>\n");
	for (const struct page_file *file = page_files; file->name; file++) {
		replace(page, "<link rel=\"stylesheet\" href=\"", "\">", "style", file, "");
		replace(page, "<script type=\"module\" src=\"", "\"></script>", "script", file,
			before.text);
	}
	strbuf_fini(&before);
}

static size_t size_of_page(void)
{
	struct strbuf page = {0};

	make_page(&page, "");
	size_t size = page.length;

	strbuf_fini(&page);
	return size;
}

/* ---- all of it ---- */

static bool wait_until_open(struct server *server, struct view_session *view)
{
	pthread_mutex_lock(&server->lock);
	while (!view->answerer && !view->failed)
		pthread_cond_wait(&server->opened, &server->lock);
	bool opened = !view->failed;

	pthread_mutex_unlock(&server->lock);
	return opened;
}

/* The page's data as text, the caller's to free. */
static char *collect_all(struct server *server)
{
	json_t *first = bootstrap(server);
	char *text = json_dumps(first, JSON_COMPACT);
	struct collection into = {.server = server, .answers = json_object()};
	/* `<` takes 5 bytes more; names have some */
	size_t taken = size_of_page() + strlen(text) + 1024;

	free(text);
	into.most = SERVE_HTML_MOST > taken ? (SERVE_HTML_MOST - taken) / 100 * 90 : 0;
	collect_list(&into, first_commands, COUNT(first_commands));
	collect_functions(&into, tables_of_function);
	collect_list(&into, more_commands, COUNT(more_commands));
	collect_functions(&into, listings_of_function);
	collect_list(&into, last_commands, COUNT(last_commands));

	json_t *data = json_pack("{s:o, s:o}", "bootstrap", first, "answers", into.answers);

	text = json_dumps(data, JSON_COMPACT);
	json_decref(data);
	return text;
}

/* Half a page is taken for none: nothing of it is left where the disk is full. */
static bool write_file(const char *path, const struct strbuf *page)
{
	FILE *file = folder_write_named(path, false);

	if (!file)
		return false;

	bool ok = fwrite(page->text, 1, page->length, file) == page->length && !fflush(file);
	int error = errno;

	if (!ok) {
		__fpurge(file);
		if (ftruncate(fileno(file), 0))
			error = error ? error : errno;
	}
	fclose(file);
	errno = error;
	return ok;
}

static int write_page(struct server *server, const char *program, const char *path)
{
	char *data = collect_all(server);
	struct strbuf page = {0};
	int status = 0;

	make_page(&page, data);
	if (page.length > SERVE_HTML_MOST || !write_file(path, &page)) {
		terminal_printf(stderr, "%s: %s cannot be written: %s\n", program, path,
				page.length > SERVE_HTML_MOST ? "it would be too large"
							      : strerror(errno));
		status = EXIT_FAILED;
	}
	strbuf_fini(&page);
	free(data);
	return status;
}

int serve_html(const char *program, char *const *experiments, size_t count, const char *file)
{
	const struct serve_config config = {
		.program = program, .experiments = experiments, .experiment_count = count};
	struct server server;
	int status = EXIT_FAILED;

	if (static_missing()) {
		terminal_printf(stderr, "%s: %s\n", program, static_missing());
		return EXIT_FAILED;
	}
	if (!server_init(&server, &config))
		return EXIT_FAILED;
	struct view_session *view = sessions_open_later(&server, experiments, count);

	if (wait_until_open(&server, view))
		status = write_page(&server, program, file);
	for (size_t i = 0; i < view->messages.count && view->failed; i++)
		terminal_printf(stderr, "%s: %s\n", program, view->messages.items[i].text);
	server_fini(&server);
	return status;
}
