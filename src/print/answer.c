/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request has a struct print of its own, whose output is memory and whose messages are a list.
 * The session is shared: the engine guards itself.
 *
 * Two sessions stand for the same experiments: one that may come from the kept sums, which is there
 * at once and answers functions, callers and trees; and one with all events, read when the
 * first request needs it.  Where nothing was kept they are the same.  A third one is for requests
 * that compare, where an experiment is named twice: it counts for each name then.
 */
#include "print/answer.h"

#include "analysis/cache/cache.h"
#include "analysis/session/session.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "object/elf/debuginfod.h"
#include "print/commands/command.h"
#include "print/commands/command_index.h"
#include "print/commands/command_source.h"
#include "print/context.h"
#include "print/needs.h"
#include "print/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char program[] = "helio print";

struct answerer {
	struct experiment_paths paths;
	struct experiment_paths named; /* the same as given, where some are named twice; or none */
	struct startup startup;
	struct diag_list opening; /* warnings of opening: in every JSON object */
	struct session *sums;	  /* what cache_open() gave */
	/* with events, and all that requests define; NULL: not needed so far */
	_Atomic(struct session *) all;
	_Atomic(struct session *) apart; /* the same of `named` */
	pthread_mutex_t lock;		 /* of making `all` and `apart` */
	pthread_rwlock_t altering;	 /* of what requests define in the sessions */
};

/* ---- who waits for debug files ---- */

/* Of the request that this thread is at; or NULL. */
static _Thread_local struct watch *asking;

static bool is_unwanted(void)
{
	return asking && !watch_tell(asking, 0);
}

static void watch_debuginfod(void)
{
	debuginfod_watch(is_unwanted);
}

void answer_without_waiting(void)
{
	debuginfod_put_off();
}

void answer_without_waiting_end(void)
{
	debuginfod_put_off_end();
}

struct answer_names answer_names(void)
{
	const struct debuginfod_awaited awaited = debuginfod_awaited();

	return (struct answer_names){
		.waiting = awaited.waiting, .name = awaited.name, .found = awaited.found};
}

/* ---- opening ---- */

/* A print over a session, its messages in a list. */
static void begin(struct print *print, const struct answerer *answerer, struct session *session,
		  struct diag_list *said)
{
	*print = (struct print){.program = program, .session = session, .said = said};
	print->output = (struct output){.color_choice = COLOR_NEVER};
	print->presenter = (struct presenter){
		.program = program, .output = &print->output, .warnings = &answerer->opening};
	code_settings_init(&print->code);
	if (session)
		query_init(&print->query, session);
}

/* What the start-up files define stays in the session. */
static void define_startup(struct answerer *answerer, struct session *session)
{
	struct diag_list said = {0};
	struct print print;

	begin(&print, answerer, session, &said);
	startup_run(&print, &answerer->startup, STARTUP_ALTERING);
	print_fini(&print);
	diag_fini(&said);
}

static void read_startup(struct answerer *answerer, struct diag_list *diags)
{
	struct print print = {.program = program, .said = diags};

	startup_read(&print, &answerer->startup);
}

/* Keeps the names where an experiment has two of them, by itself or in groups. */
static void keep_names(struct answerer *answerer, char *const *paths, size_t count)
{
	struct experiment_paths members = {0};
	struct diag_list twins = {0};

	for (size_t i = 0; i < count; i++)
		experiment_paths_add(&members, paths[i]);
	experiment_paths_drop_twins(&members, &twins);
	for (size_t i = 0; twins.count && i < count; i++)
		*vec_push(&answerer->named) = xstrdup(paths[i]);
	diag_fini(&twins);
	experiment_paths_fini(&members);
}

enum status answerer_open(char *const *paths, size_t count, struct watch *watch,
			  struct answerer **out, struct diag_list *diags)
{
	struct answerer *answerer = xcalloc(1, sizeof(*answerer));
	enum status status;

	static pthread_once_t once = PTHREAD_ONCE_INIT;

	*out = NULL;
	pthread_once(&once, watch_debuginfod);
	asking = watch;
	pthread_mutex_init(&answerer->lock, NULL);
	pthread_rwlock_init(&answerer->altering, NULL);
	read_startup(answerer, diags);
	for (size_t i = 0; i < count; i++)
		*vec_push(&answerer->paths) = xstrdup(paths[i]);
	keep_names(answerer, paths, count);
	experiment_paths_drop_twins(&answerer->paths, &answerer->opening);
	status = cache_open(answerer->paths.items, answerer->paths.count, false, false, watch,
			    &answerer->sums, &answerer->opening);
	asking = NULL;
	for (size_t i = 0; i < answerer->opening.count; i++)
		diag_add(diags, answerer->opening.items[i].level, "%s",
			 answerer->opening.items[i].text);
	if (status != STATUS_OK) {
		answerer->sums = NULL;
		answerer_close(answerer);
		return status;
	}
	if (!cache_is_sums(answerer->sums))
		answerer->all = answerer->sums;
	define_startup(answerer, answerer->sums);
	*out = answerer;
	return STATUS_OK;
}

void answerer_close(struct answerer *answerer)
{
	if (!answerer)
		return;
	if (answerer->all != answerer->sums)
		session_free(answerer->all);
	session_free(answerer->apart);
	session_free(answerer->sums);
	startup_fini(&answerer->startup);
	experiment_paths_fini(&answerer->paths);
	experiment_paths_fini(&answerer->named);
	diag_fini(&answerer->opening);
	pthread_mutex_destroy(&answerer->lock);
	pthread_rwlock_destroy(&answerer->altering);
	free(answerer);
}

/* The session with events; NULL: cancelled, or the experiments are gone by now. */
static struct session *session_of_events(struct answerer *answerer, bool apart, struct watch *watch)
{
	const struct experiment_paths *paths = apart ? &answerer->named : &answerer->paths;
	_Atomic(struct session *) *known = apart ? &answerer->apart : &answerer->all;
	struct diag_list diags = {0};
	struct session *session;

	pthread_mutex_lock(&answerer->lock);
	if (!*known && (apart ? session_open_apart : session_open)(
			       paths->items, paths->count, watch, &session, &diags) == STATUS_OK) {
		define_startup(answerer, session);
		*known = session;
	}
	session = *known;
	pthread_mutex_unlock(&answerer->lock);
	diag_fini(&diags); /* the same as those of the kept sums */
	return session;
}

/* ---- the words ---- */

/* What a list of words means; command NULL: it is none, which has been said. */
struct asked {
	const struct command *command;
	char **arguments; /* NULL-terminated; commands put them into another order */
	size_t count;
};

static struct asked look_up(const struct session *session, const struct answer_words *words,
			    struct diag_list *said)
{
	const char *name = words->count ? words->items[0] : "";
	const char *of_object = *name ? command_of_object(session, name) : NULL;
	const char *word = of_object ? of_object : name;
	size_t first = of_object ? 0 : 1, count = words->count > first ? words->count - first : 0;
	struct asked asked = {.count = of_object ? 1 : count};

	asked.arguments = xcalloc(count + 1, sizeof(*asked.arguments));
	for (size_t i = 0; i < asked.count; i++)
		asked.arguments[i] = words->items[first + i];
	if (command_find(word, word, &asked.command, said) != STATUS_OK)
		asked.command = NULL;
	if (asked.command && asked.command->not_asked) {
		diag_add(said, DIAG_ERROR,
			 "%s is not answered here: it writes files, reads others, sets the format "
			 "or leaves; use helio print",
			 asked.command->name);
		asked.command = NULL;
	}
	return asked;
}

struct plan_of_request {
	struct asked *settings, *commands;
	struct diag_list *said; /* of each command; the last: of the settings */
	struct needs needs;
	bool alters, wrong; /* wrong: a setting is no command */
	bool sets_metrics;
};

static struct asked take(const struct answerer *answerer, struct plan_of_request *plan,
			 const struct answer_words *words, struct diag_list *said)
{
	const struct session *all = answerer->all;
	struct asked asked = look_up(all ? all : answerer->sums, words, said);

	if (!asked.command)
		return asked;
	needs_add(&plan->needs, asked.command, asked.arguments, asked.count);
	plan->alters |= asked.command->alters;
	return asked;
}

static void make_plan(const struct answerer *answerer, const struct answer_request *request,
		      struct plan_of_request *plan)
{
	size_t settings = request->setting_count, commands = request->command_count;

	*plan = (struct plan_of_request){
		.settings = xcalloc(settings + 1, sizeof(*plan->settings)),
		.commands = xcalloc(commands + 1, sizeof(*plan->commands)),
		.said = xcalloc(commands + 1, sizeof(*plan->said)),
		.needs = needs_of_startup(&answerer->startup),
	};
	for (size_t i = 0; i < settings; i++) {
		plan->settings[i] =
			take(answerer, plan, &request->settings[i], &plan->said[commands]);
		plan->wrong |= !plan->settings[i].command;
		plan->sets_metrics |= plan->settings[i].command &&
				      plan->settings[i].command->setting == SETS_METRICS;
	}
	for (size_t i = 0; i < commands; i++)
		plan->commands[i] = take(answerer, plan, &request->commands[i], &plan->said[i]);
}

static void plan_fini(struct plan_of_request *plan, const struct answer_request *request)
{
	for (size_t i = 0; i < request->setting_count; i++)
		free(plan->settings[i].arguments);
	for (size_t i = 0; i < request->command_count; i++)
		free(plan->commands[i].arguments);
	free(plan->settings);
	free(plan->commands);
	free(plan->said);
}

/* ---- the answer ---- */

/* What commands print into: memory.  For all but arrays control characters are shown, as on stdout.
 */
struct capture {
	FILE *memory;
	char *text;
	size_t size;
};

static bool capture_open(struct capture *capture, struct output *output, bool raw)
{
	*capture = (struct capture){0};
	capture->memory = open_memstream(&capture->text, &capture->size);
	output->file =
		raw || !capture->memory ? capture->memory : terminal_open_memory(capture->memory);
	return output->file;
}

static size_t capture_size(struct capture *capture, struct output *output)
{
	fflush(output->file);
	fflush(capture->memory);
	return capture->size;
}

static void capture_close(struct capture *capture, struct output *output)
{
	if (output->file && output->file != capture->memory)
		fclose(output->file);
	if (capture->memory)
		fclose(capture->memory);
}

static void add_messages(struct answer *answer, struct diag_list *said, long command)
{
	for (size_t i = 0; i < said->count; i++) {
		struct answer_message *message = &answer->messages[answer->message_count++];

		*message =
			(struct answer_message){said->items[i].level, command, said->items[i].text};
		said->items[i].text = NULL; /* the message's now */
		answer->failed |= message->level == DIAG_ERROR;
	}
	diag_fini(said);
}

/* Settings first; the parts are in the order of the commands. */
static void gather(struct answer *answer, struct plan_of_request *plan, size_t commands)
{
	size_t count = 0;

	for (size_t i = 0; i <= commands; i++)
		count += plan->said[i].count;
	answer->messages = xcalloc(count + 1, sizeof(*answer->messages));
	add_messages(answer, &plan->said[commands], ANSWER_OF_SETTINGS);
	for (size_t i = 0; i < commands; i++)
		add_messages(answer, &plan->said[i], (long)i);
}

static bool run_settings(struct print *print, const struct plan_of_request *plan, size_t count)
{
	bool ok = true;

	for (size_t i = 0; i < count && ok && !print->watch.cancelled; i++) {
		const struct asked *asked = &plan->settings[i];

		ok = command_run(print, asked->command, asked->arguments, asked->count);
	}
	return ok && !print->watch.cancelled;
}

/* It may be named by an object that the request itself has defined by now. */
static void look_up_again(const struct print *print, struct asked *asked,
			  const struct answer_words *words, struct diag_list *said)
{
	diag_fini(said);
	free(asked->arguments);
	*asked = look_up(print->session, words, said);
}

static void run_commands(struct print *print, struct plan_of_request *plan,
			 const struct answer_request *request, struct capture *capture,
			 struct answer *answer)
{
	for (size_t i = 0; i < answer->part_count; i++) {
		struct asked *asked = &plan->commands[i];
		struct answer_part *part = &answer->parts[i];

		part->begin = capture_size(capture, &print->output);
		part->failed = true;
		if (!asked->command && plan->alters)
			look_up_again(print, asked, &request->commands[i], &plan->said[i]);
		if (!asked->command || answer->cancelled || answer->too_large)
			continue;
		print->said = &plan->said[i];
		part->failed = !command_run(print, asked->command, asked->arguments, asked->count);
		part->size = capture_size(capture, &print->output) - part->begin;
		answer->cancelled = print->watch.cancelled;
		if (request->most && part->begin + part->size > request->most)
			answer->too_large = i + 1;
	}
}

/* The watch of a print is for its queries: this one is told from the first event on. */
static bool is_silent(void *data, double done)
{
	return true;
}

static void set_watch(struct print *print, const struct answer_request *request)
{
	print->watch = (struct watch){.tell = request->tell ? request->tell : is_silent,
				      .data = request->data};
	progress_begin(print);
}

/* False: there is no such format for requests. */
static bool set_format(struct presenter *presenter, const char *format)
{
	if (!strcmp(format, "slab")) {
		presenter->format = PRESENT_SLAB;
		return true;
	}
	return present_set_format(presenter, format) && presenter->format != PRESENT_HTML;
}

static void run(struct answerer *answerer, struct session *session,
		const struct answer_request *request, struct plan_of_request *plan,
		struct answer *answer)
{
	size_t commands = request->command_count;
	struct diag_list startup = {0};
	struct capture capture;
	struct print print;

	begin(&print, answerer, session, &startup);
	set_watch(&print, request);
	asking = &print.watch;
	bool has_format = set_format(&print.presenter, request->format);

	if (!capture_open(&capture, &print.output, print.presenter.format == PRESENT_SLAB)) {
		diag_add(&plan->said[commands], DIAG_ERROR, "Out of memory");
	} else if (!has_format) {
		diag_add(&plan->said[commands], DIAG_ERROR, "There is no format %s",
			 request->format);
	} else {
		startup_run(&print, &answerer->startup, STARTUP_REST);
		print.said = &plan->said[commands];
		print.failed = false;
		if (!plan->sets_metrics)
			say_unknown(&print);
		if (!plan->wrong && run_settings(&print, plan, request->setting_count)) {
			answer->part_count = commands;
			answer->parts = xcalloc(commands + 1, sizeof(*answer->parts));
			run_commands(&print, plan, request, &capture, answer);
		}
		answer->cancelled |= print.watch.cancelled;
	}
	asking = NULL;
	capture_close(&capture, &print.output);
	print_fini(&print);
	diag_fini(&startup); /* told when it was opened */
	answer->text = capture.text;
	answer->size = capture.size;
}

void answer(struct answerer *answerer, const struct answer_request *request, struct answer *out)
{
	struct plan_of_request plan;
	struct watch watch = {.tell = request->tell, .data = request->data};
	struct session *session = answerer->sums;
	bool apart;

	*out = (struct answer){0};
	pthread_rwlock_rdlock(&answerer->altering);
	make_plan(answerer, request, &plan);
	if (plan.alters) {
		pthread_rwlock_unlock(&answerer->altering);
		pthread_rwlock_wrlock(&answerer->altering);
	}
	apart = plan.needs.compares && answerer->named.count;
	if (apart || plan.needs.need != NEED_SUMS ||
	    (plan.needs.inlined_calls && !cache_has_inlines(answerer->sums)))
		session = session_of_events(answerer, apart, request->tell ? &watch : NULL);
	if (session) {
		run(answerer, session, request, &plan, out);
	} else {
		out->cancelled = watch.cancelled;
		diag_add(&plan.said[request->command_count], DIAG_ERROR,
			 "The experiments can no longer be read: were they moved or removed?");
	}
	pthread_rwlock_unlock(&answerer->altering);
	gather(out, &plan, request->command_count);
	plan_fini(&plan, request);
}

void answer_fini(struct answer *answer)
{
	for (size_t i = 0; i < answer->message_count; i++)
		free(answer->messages[i].text);
	free(answer->messages);
	free(answer->parts);
	free(answer->text);
	*answer = (struct answer){0};
}

/* ---- what there is ---- */

static bool runs(int64_t pid)
{
	return pid > 0 && (!kill((pid_t)pid, 0) || errno == EPERM);
}

bool answerer_experiment(const struct answerer *answerer, size_t index,
			 struct answer_experiment *out)
{
	const struct session *session = answerer->sums;

	if (index >= session_group_count(session))
		return false;
	*out = (struct answer_experiment){.path = session_group_path(session, index),
					  .name = session_group_name(session, index)};
	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		out->growing |=
			process->group == index + 1 && !process->ended && runs(process->pid);
	}
	return true;
}

/* Why there is nothing to show of a kind of data; NULL: there is. */
static char *what_is_missing(struct answerer *answerer, const struct command *command)
{
	struct diag_list said = {0};
	struct print print = {.program = program, .session = answerer->sums, .said = &said};
	char *why = NULL;

	if (!command_check_data(&print, command) && said.count)
		why = xstrdup(said.items[0].text);
	diag_fini(&said);
	return why;
}

bool answer_command_at(struct answerer *answerer, size_t index, struct answer_command *out)
{
	const struct command *command = NULL;

	for (size_t i = 0; (command = command_at(i)); i++)
		if (command->run && !index--)
			break;
	if (!command)
		return false;
	*out = (struct answer_command){
		.name = command->name,
		.arguments = command->arguments,
		.help = command->help,
		.group = command_group_title(command->group),
		.options = command->options,
		.refused = command->not_asked,
		.missing = answerer ? what_is_missing(answerer, command) : NULL,
	};
	return true;
}

bool answer_may_save(const char *command)
{
	return startup_may_have(command);
}
