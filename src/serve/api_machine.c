/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about this machine and its files: experiments of the directory, what can be recorded,
 * recordings, notes, the start-up file.  What other subcommands answer is asked of them.
 */
#include "base/file_map.h"
#include "base/folder.h"
#include "base/json.h"
#include "format/format.h"
#include "serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what other subcommands answer ---- */

/* NULL: it could not be asked. */
static json_t *ask(const char *const *words)
{
	struct strbuf text = {0};
	json_t *value;

	recording_ask(words, &text);
	value = json_loadb(text.text ? text.text : "", text.length, 0, NULL);
	strbuf_fini(&text);
	return value;
}

void serve_experiments(struct server *server, const struct request *request, json_t *body,
		       struct reply *reply)
{
	static const char *const words[] = {"ls", "--json", NULL};
	json_t *answer = ask(words), *list = json_object_get(answer, "experiments");

	reply_json(reply, list ? json_incref(list) : json_array());
	json_decref(answer);
}

void serve_doctor(struct server *server, const struct request *request, json_t *body,
		  struct reply *reply)
{
	static const char *const words[] = {"doctor", "--json", NULL};
	json_t *answer = ask(words);

	if (answer)
		reply_json(reply, answer);
	else
		reply_error(reply, HTTP_FAILED,
			    "helio doctor does not answer: run it in a terminal");
}

/* ---- options ---- */

static json_t *json_option(const struct serve_recorder *recorder, const struct option *option)
{
	char *name =
		option->name ? xasprintf("--%s", option->name) : xasprintf("-%c", option->letter);
	char letter[] = {'-', option->letter, '\0'};
	json_t *row = json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "command", recorder->name,
				"option", option->letter ? letter : name, "long",
				option->name ? json_string(name) : json_null(), "argument",
				json_text(option->argument), "help", option->help, "group", "");

	free(name);
	return row;
}

void serve_options(struct server *server, const struct request *request, json_t *body,
		   struct reply *reply)
{
	json_t *list = json_array();

	for (size_t i = 0; i < server->config->recorder_count; i++) {
		const struct serve_recorder *recorder = &server->config->recorders[i];
		const struct option *option;

		for (size_t k = 0; (option = option_at(recorder->syntax, k)); k++)
			if (!option_is_hidden(recorder->syntax, option))
				json_array_append_new(list, json_option(recorder, option));
	}
	reply_json(reply, list);
}

/* ---- recordings ---- */

static void add_word(struct answer_words *words, const char *word)
{
	words->items = xrealloc(words->items, (words->count + 2) * sizeof(*words->items));
	words->items[words->count++] = xstrdup(word);
	words->items[words->count] = NULL;
}

static void add_words(struct answer_words *words, const struct answer_words *more)
{
	for (size_t i = 0; i < more->count; i++)
		add_word(words, more->items[i]);
}

/* The command line of a recording. False: a reply has been made. */
static bool read_command(json_t *body, struct answer_words *argv, struct reply *reply)
{
	const char *command = body_text(body, "command");
	json_t *options = json_object_get(body, "options");
	struct answer_words given = {0}, program = {0};
	bool collects = command && !strcmp(command, "collect");
	json_int_t pid = json_integer_value(json_object_get(body, "pid"));
	bool ok = command && (collects || !strcmp(command, "attach")) &&
		  (!options || body_words(options, &given));

	*argv = (struct answer_words){0};
	if (ok && collects)
		ok = body_words(json_object_get(body, "program"), &program) && program.count;
	else if (ok)
		ok = pid > 0 && pid <= INT32_MAX;
	if (ok) {
		char number[32];

		snprintf(number, sizeof(number), "%lld", (long long)pid);
		add_word(argv, command);
		add_words(argv, &given);
		add_word(argv, "--");
		add_words(argv, &program);
		if (!collects)
			add_word(argv, number);
	} else {
		reply_error(reply, HTTP_BAD_REQUEST,
			    "record takes \"command\": \"collect\" with \"program\", a list of "
			    "words, or \"attach\" with \"pid\"; and \"options\", a list of words");
	}
	words_free(&given);
	words_free(&program);
	return ok;
}

static json_t *json_argv(char *const *argv)
{
	json_t *list = json_array();

	json_array_append_new(list, json_string("helio"));
	for (size_t i = 0; argv[i]; i++)
		json_array_append_new(list, json_text(argv[i]));
	return list;
}

void serve_record(struct server *server, const struct request *request, json_t *body,
		  struct reply *reply)
{
	struct recording recording;
	struct answer_words argv;
	size_t number = 0;

	if (!read_command(body, &argv, reply))
		return;
	pthread_mutex_lock(&server->lock);
	bool is_full = server->recordings.count >= SERVER_RECORDINGS;
	bool ok = !is_full && recording_start(&recording, argv.items);

	if (ok) {
		*vec_push(&server->recordings) = recording;
		number = server->recordings.count;
	}
	pthread_mutex_unlock(&server->lock);
	if (ok) {
		reply_json(reply, json_pack("{s:i, s:o}", "recording", (int)number, "argv",
					    json_argv(argv.items)));
		return;
	}
	words_free(&argv);
	if (is_full)
		reply_error(reply, HTTP_TOO_MANY,
			    "%d recordings were started from this page, which is all that it "
			    "remembers: start helio view again",
			    SERVER_RECORDINGS);
	else
		reply_error(reply, HTTP_UNAVAILABLE,
			    "The recording could not be started: run helio collect in a terminal, "
			    "which says why");
}

static json_t *json_recording(const struct recording *recording, size_t number)
{
	struct strbuf output = {0};
	char *experiment = recording_experiment(recording);
	json_t *row;

	recording_output(recording, &output);
	row = json_pack("{s:i, s:o, s:b, s:o, s:o, s:o}", "id", (int)number, "argv",
			json_argv(recording->argv), "running", (int)!recording->ended, "status",
			recording->ended ? json_integer(recording->status) : json_null(), "output",
			json_text(output.text ? output.text : ""), "experiment",
			json_text(experiment));
	strbuf_fini(&output);
	free(experiment);
	return row;
}

void serve_recordings(struct server *server, const struct request *request, json_t *body,
		      struct reply *reply)
{
	json_t *list = json_array();

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < server->recordings.count; i++) {
		recording_look(&server->recordings.items[i]);
		json_array_append_new(list, json_recording(&server->recordings.items[i], i + 1));
	}
	pthread_mutex_unlock(&server->lock);
	reply_json(reply, list);
}

/* What a recording needs to be stopped when the lock is given back. */
struct stopping {
	bool is_known;
	bool ok;
	char *experiment; /* to be asked to stop, or NULL */
};

/* With the lock.  helio attach ends at SIGINT; helio collect is asked, which may take long. */
static struct stopping begin_stop(struct recording *recording)
{
	struct stopping stopping = {.is_known = true};

	recording_look(recording);
	if (recording->ended)
		stopping.ok = true;
	else if (!strcmp(recording->argv[0], "attach"))
		stopping.ok = !kill(recording->pid, SIGINT);
	else
		stopping.experiment = recording_experiment(recording);
	return stopping;
}

/* helio collect only stops recording, and ends with its program. */
static bool ask_to_stop(const char *experiment)
{
	const char *const words[] = {"ctl", "stop", experiment, NULL};
	struct strbuf said = {0};
	bool ok = recording_ask(words, &said);

	strbuf_fini(&said);
	return ok;
}

void serve_stop(struct server *server, const struct request *request, json_t *body,
		struct reply *reply)
{
	size_t number = (size_t)json_integer_value(json_object_get(body, "recording"));
	struct stopping stopping = {0};

	pthread_mutex_lock(&server->lock);
	if (number && number <= server->recordings.count)
		stopping = begin_stop(&server->recordings.items[number - 1]);
	pthread_mutex_unlock(&server->lock);
	if (stopping.experiment)
		stopping.ok = ask_to_stop(stopping.experiment);
	free(stopping.experiment);
	if (!stopping.is_known)
		reply_error(reply, HTTP_NOT_FOUND, "There is no such recording");
	else if (stopping.ok)
		reply_nothing(reply);
	else
		reply_error(reply, HTTP_UNPROCESSABLE,
			    "The recording cannot be stopped yet: try again, or end the program");
}

/* ---- notes ---- */

/* Whether an open session was opened by that path: no other experiment is written to. */
static bool is_open(struct server *server, uint32_t session, const char *path)
{
	bool found = false;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < server->sessions.count; i++) {
		const struct view_session *view = server->sessions.items[i];

		if (view->id != session || view->closed)
			continue;
		for (size_t k = 0; k < view->path_count; k++)
			found |= !strcmp(view->paths[k], path);
	}
	pthread_mutex_unlock(&server->lock);
	return found;
}

/*
 * With the rights of who owns it, and through no link of another user's: that one could have put
 * anything in its place since it was opened.
 */
static bool write_notes(const char *path, const char *text)
{
	int folder = folder_open(path, 0);
	struct stat info;
	bool ok = folder >= 0 && folder_is_named_by(folder, path);

	if (ok && (!folder_stat(folder, FORMAT_FILE_LOG, &info) || !S_ISREG(info.st_mode))) {
		errno = ESTALE;
		ok = false;
	}
	if (ok) {
		folder_be_owner(folder);
		ok = folder_write_whole(folder, FORMAT_FILE_NOTES, text, strlen(text));
		int error = errno;

		folder_be_oneself();
		errno = error;
	}
	folder_close(folder);
	return ok;
}

void serve_notes(struct server *server, const struct request *request, json_t *body,
		 struct reply *reply)
{
	const char *path = body_text(body, "experiment"), *text = body_text(body, "text");
	uint32_t session = (uint32_t)json_integer_value(json_object_get(body, "session"));

	if (!path || !text || strlen(text) > FORMAT_NOTES_MOST) {
		reply_error(reply, HTTP_BAD_REQUEST,
			    "notes takes \"experiment\" and \"text\", at most %d bytes",
			    FORMAT_NOTES_MOST);
		return;
	}
	if (!is_open(server, session, path)) {
		reply_error(reply, HTTP_NOT_FOUND, "%s is not open in session %u", path, session);
		return;
	}
	pthread_mutex_lock(&server->writing);
	int error = write_notes(path, text) ? 0 : errno;

	pthread_mutex_unlock(&server->writing);
	if (!error)
		reply_nothing(reply);
	else
		reply_error(reply, HTTP_UNPROCESSABLE, "The notes of %s cannot be written: %s",
			    path,
			    error == ESTALE ? "something else has its name now" : strerror(error));
}

/* ---- settings ---- */

static const char startup_file[] = ".er.rc";

/* In a start-up file the metrics to begin with have another name. */
static const char *name_there(const char *command)
{
	if (!strcmp(command, "metrics"))
		return "dmetrics";
	return strcmp(command, "sort") ? command : "dsort";
}

static bool has_control(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 127)
			return true;
	return false;
}

static void put_word(struct strbuf *out, const char *word)
{
	strbuf_puts(out, " \"");
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *word);
	}
	strbuf_putc(out, '"');
}

/* Appends the lines. False: one may not stand there. */
static bool put_settings(json_t *settings, struct strbuf *out, struct reply *reply)
{
	size_t i;
	json_t *setting;

	json_array_foreach(settings, i, setting)
	{
		struct answer_words words;
		bool ok = body_words(setting, &words) && words.count &&
			  answer_may_save(name_there(words.items[0]));

		for (size_t k = 0; ok && k < words.count; k++)
			ok = !has_control(words.items[k]);
		for (size_t k = 0; ok && k < words.count; k++)
			if (k)
				put_word(out, words.items[k]);
			else
				strbuf_puts(out, name_there(words.items[0]));
		strbuf_putc(out, '\n');
		if (!ok)
			reply_error(reply, HTTP_UNPROCESSABLE, "%s may not stand in %s",
				    words.count ? words.items[0] : "This", startup_file);
		words_free(&words);
		if (!ok)
			return false;
	}
	return true;
}

/* Whether a line of the file sets what is set anew. */
static bool is_replaced(json_t *settings, const char *line, size_t length)
{
	size_t i;
	json_t *setting;

	json_array_foreach(settings, i, setting)
	{
		const char *name = json_string_value(json_array_get(setting, 0));

		name = name ? name_there(name) : "";
		if (*name && strlen(name) <= length && !strncasecmp(name, line, strlen(name)) &&
		    strchr(" \t\n", line[strlen(name)]))
			return true;
	}
	return false;
}

/* The lines of the file that stay. False: there is one, but it is a link, another user's, or cannot
 * be read. */
static bool keep_others(int folder, json_t *settings, struct strbuf *out)
{
	int fd = folder_open_file(folder, startup_file, O_RDONLY, 0);
	FILE *file = fd >= 0 && file_gives_commands(fd) ? fdopen(fd, "r") : NULL;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;

	if (!file) {
		bool is_missing = fd < 0 && errno == ENOENT;

		folder_close(fd);
		return is_missing;
	}
	while ((length = getline(&line, &capacity, file)) > 0)
		if (!is_replaced(settings, line, (size_t)length)) {
			strbuf_add(out, line, (size_t)length);
			if (line[length - 1] != '\n')
				strbuf_putc(out, '\n');
		}
	bool is_whole = !ferror(file);

	free(line);
	fclose(file);
	return is_whole;
}

static void write_settings(int folder, const struct strbuf *text, struct reply *reply)
{
	if (folder >= 0 &&
	    folder_write_whole(folder, startup_file, text->text ? text->text : "", text->length))
		reply_nothing(reply);
	else
		reply_error(reply, HTTP_UNPROCESSABLE, "%s cannot be written: %s", startup_file,
			    strerror(errno));
}

void serve_save(struct server *server, const struct request *request, json_t *body,
		struct reply *reply)
{
	json_t *settings = json_object_get(body, "settings");
	struct strbuf text = {0};
	int folder = server->folder;

	pthread_mutex_lock(&server->writing); /* what another one sets meanwhile would be lost */
	if (folder < 0 || !file_gives_commands(folder))
		reply_error(reply, HTTP_UNPROCESSABLE,
			    "%s is read only from directories of yours or root's that not all can "
			    "write, and %s is none: start helio view in one of your own to save "
			    "settings",
			    startup_file, server->directory);
	else if (!json_is_array(settings))
		reply_error(reply, HTTP_BAD_REQUEST, "save takes \"settings\", as print does");
	else if (!keep_others(folder, settings, &text))
		/* a link, which dot files often are, would be replaced, and its lines lost */
		reply_error(reply, HTTP_UNPROCESSABLE,
			    "%s is not a file of its own that can be read, and stays as it is: add "
			    "the settings yourself",
			    startup_file);
	else if (put_settings(settings, &text, reply))
		write_settings(folder, &text, reply);
	pthread_mutex_unlock(&server->writing);
	strbuf_fini(&text);
}

/* ---- the server itself ---- */

void serve_login(struct server *server, const struct request *request, json_t *body,
		 struct reply *reply)
{
	const char *given = body_text(body, "token");
	bool known = false;

	pthread_mutex_lock(&server->lock);
	if (given && token_equals(server->tokens.login, given)) {
		known = true;
		*server->tokens.login = '\0';
	}
	pthread_mutex_unlock(&server->lock);
	known |= given && token_equals(server->tokens.bearer, given);
	if (!known) {
		reply_error(reply, HTTP_UNAUTHORIZED,
			    "That address was used before, or is of another run: start helio view "
			    "again");
		return;
	}
	char *name = guard_cookie_name(server, request);

	reply->cookie =
		xasprintf("%s=%s; HttpOnly; SameSite=Strict; Path=/", name, server->tokens.cookie);
	free(name);
	reply_nothing(reply);
}

void serve_quit(struct server *server, const struct request *request, json_t *body,
		struct reply *reply)
{
	reply_nothing(reply);
	server_end(server);
}
