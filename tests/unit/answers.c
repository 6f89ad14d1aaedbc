/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to print/answer.h, many at once by several threads over the same experiments; then each
 * alone over a session of its own.  The answers are the same, or it says which request it was.
 *
 *   answers THREADS COUNT EXPERIMENT...
 *
 * The commands are those of the table, with arguments from `known`, and with any of their options.
 *
 * Before, what is promised of single requests: which are refused, what becomes of messages, that
 * nothing is left behind by one for the next, that one can be cancelled.
 */
#include "print/answer.h"
#include "print/commands/command.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 4, MOST_WORDS = 16, MOST_COMMANDS = 256 };

typedef const char *const line[WORDS];

static line definition = {"indxobj_define", "Tens", "TSTAMP / 10000000"};

/* Commands with arguments. */
static line known[] = {
	{"limit", "7"},
	{"metrics", "i.totalcpu:e.totalcpu:name"},
	{"metrics", "i.any:e.totalcpu:name"},
	{"filters", "TSTAMP < 400000000"},
	{"filters", "FNAME(\"main.*\") SOME IN STACK"},
	{"sort", "name"},
	{"sort", "-i.totalcpu"},
	{"viewmode", "user"},
	{"viewmode", "expert"},
	{"viewmode", "machine"},
	{"name", "short"},
	{"object_hide", "libc.so.6"},
	{"object_hide", "app"},
	{"object_api", "app"},
	{"object_select", "app"},
	{"object_show", "all"},
	{"inlines", "on"},
	{"inlines", "off"},
	{"compare", "on"},
	{"compare", "delta"},
	{"compare", "ratio"},
	{"sample_select", "1"},
	{"thread_select", "1"},
	{"lwp_select", "12"},
	{"cpu_select", "0"},
	{"indxobj_metrics", "e.totalcpu:name"},
	{"indxobj_sort", "name"},
	{"sthresh", "20"},
	{"dthresh", "20"},
	{"setpath", "/nowhere"},
	{"addpath", "."},
	{"pathmap", "/here", "/there"},
	{"scc", "all"},
	{"dcc", "all"},
	{"cc", "basic"},
	{"en_desc", "on"},
	{"dmetrics", "e.totalcpu:name"},
	{"dsort", "e.totalcpu"},
	{"tabs", "functions"},
	{"rtabs", "functions"},
	{"tlmode", "thread"},
	{"tldata", "clock"},
	{"ignore_no_xhwcprof", "on"},
	{"preload_libdirs", "on"},
	{"ignore_fs_warn", "on"},
	{"indxobj", "Seconds"},
	{"indxobj", "Tens"},
	{"memobj", "Memory_page_4K"},
	{"fsingle", "main", "1"},
	{"csingle", "main", "1"},
	{"cprepend", "main", "1"},
	{"cappend", "main", "1"},
	{"source", "main", "1"},
	{"source", "hot_loop", "1"},
	{"disasm", "main", "1"},
	{"disasm", "hot_loop", "1"},
	{"data_single", "<Total>"},
	{"lock", "1"},
	{"lock", "2"},
	{"lockholds", "10"},
	{"mpimessages", "10"},
	{"stacks", "5"},
	{"timeline", "40"},
	{"header", "2"},
	{"statistics", "2"},
	{"sample_detail", "1"},
	{"help", "functions"},
	{"no_such_command"},
};

/* What requests may ask: all of the table but what changes the session or tells of the process. */
static struct {
	const struct command *commands[MOST_COMMANDS];
	size_t command_count;
	line *settings[COUNT(known)];
	size_t setting_count;
} table;

struct words {
	const char *items[MOST_WORDS];
	size_t count;
};

struct question {
	uint64_t chance;
	struct words words[2]; /* of the commands */
	struct answer_words settings[3], commands[2];
	size_t setting_count, command_count;
	const char *format;
};

static unsigned pick(struct question *question, unsigned below)
{
	question->chance = question->chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(question->chance >> 33) % below;
}

static struct answer_words words_of(line *from)
{
	struct answer_words words = {.items = (char **)(void *)*from};

	while (words.count < WORDS && (*from)[words.count])
		words.count++;
	return words;
}

/* The one of that number among the lines of a command; NULL: it has not so many. */
static line *known_of(const char *command, unsigned number)
{
	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(known[i][0], command) && !number--)
			return &known[i];
	return NULL;
}

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "not so: %s\n", what);
	exit(1);
}

static bool is_setting(const struct command *command)
{
	return command->group == GROUP_FILTERS || command->group == GROUP_METRICS ||
	       command->group == GROUP_OUTPUT || command->setting != SETS_OTHER ||
	       !strncmp(command->name, "object_", 7);
}

static void add_command(const struct command *command)
{
	if (command->not_asked || command->alters || !strcmp(command->name, "procstats"))
		return;
	check(!command->min_arguments || known_of(command->name, 0), command->name);
	check(table.command_count < MOST_COMMANDS, "there is room for all commands");
	table.commands[table.command_count++] = command;
	for (unsigned i = 0; is_setting(command) && known_of(command->name, i); i++)
		table.settings[table.setting_count++] = known_of(command->name, i);
}

static void read_table(void)
{
	static const struct command unknown = {.name = "no_such_command"};

	for (size_t i = 0; command_at(i); i++)
		add_command(command_at(i));
	add_command(&unknown);
}

static void add_word(struct words *words, const char *word)
{
	words->items[words->count++] = word;
}

/* Some of its options; where one takes a word, a number. */
static void add_options(struct question *question, const struct command *command,
			struct words *words)
{
	static const struct {
		const char *name, *word, *value;
	} options[] = {
		{"inverted", "-inverted", NULL},
		{"depth=", "-depth", "3"},
		{"percent=", "-percent", "2"},
		{"hottest", "-hottest", NULL},
		{"from=", "-from", "0.1"},
		{"to=", "-to", "0.4"},
		{"events=", "-events", "2"},
		{"cpus", "-cpus", NULL},
		{"intel", "-intel", NULL},
		{"hex", "-hex", NULL},
		{"callers-first", "-callers-first", NULL},
	};
	struct strbuf all = {0};
	char *rest = NULL;

	strbuf_printf(&all, "%s", command->options ? command->options : "");
	for (char *name = strtok_r(all.text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		size_t i = 0;

		while (i < COUNT(options) && strcmp(options[i].name, name) != 0)
			i++;
		check(i < COUNT(options), name);
		if (pick(question, 3))
			continue;
		add_word(words, options[i].word);
		if (options[i].value)
			add_word(words, options[i].value);
	}
	strbuf_fini(&all);
}

static struct answer_words choose_command(struct question *question, struct words *words)
{
	const struct command *command =
		table.commands[pick(question, (unsigned)table.command_count)];
	unsigned lines = 0;
	line *with;

	while (known_of(command->name, lines))
		lines++;
	with = known_of(command->name, pick(question, lines + !command->min_arguments));
	add_word(words, command->name);
	add_options(question, command, words);
	for (size_t i = 1; with && i < WORDS && (*with)[i]; i++)
		add_word(words, (*with)[i]);
	return (struct answer_words){.items = (char **)(void *)words->items, .count = words->count};
}

/* The request follows from its number alone. */
static void think(unsigned number, struct question *question)
{
	static const char *const formats[] = {"json", "json", "json", "text", ","};

	*question = (struct question){.chance = 977 * (number + 1)};
	pick(question, 2);
	question->setting_count = pick(question, COUNT(question->settings) + 1);
	question->command_count = 1 + pick(question, COUNT(question->commands));
	for (size_t i = 0; i < question->setting_count; i++)
		question->settings[i] =
			words_of(table.settings[pick(question, (unsigned)table.setting_count)]);
	for (size_t i = 0; i < question->command_count; i++)
		question->commands[i] = choose_command(question, &question->words[i]);
	question->format = formats[pick(question, COUNT(formats))];
}

static void ask(struct answerer *answerer, const struct question *question, struct answer *out)
{
	const struct answer_request request = {question->settings,
					       question->setting_count,
					       question->commands,
					       question->command_count,
					       question->format,
					       NULL,
					       NULL,
					       0};

	answer(answerer, &request, out);
}

/* An answer as text, without the warnings that others may have brought about. */
static char *text_of(const struct answer *answer)
{
	static const char warnings[] = ",\"warnings\":[";
	struct strbuf text = {0};

	for (size_t i = 0; i < answer->part_count; i++) {
		const struct answer_part *part = &answer->parts[i];
		const char *begin = answer->text + part->begin;
		const char *cut =
			part->size ? memmem(begin, part->size, warnings, sizeof(warnings) - 1)
				   : NULL;

		strbuf_printf(&text, "%zu %d\n", i, (int)part->failed);
		strbuf_add(&text, begin, cut ? (size_t)(cut - begin) : part->size);
	}
	for (size_t i = 0; i < answer->message_count; i++)
		if (answer->messages[i].level == DIAG_ERROR)
			strbuf_printf(&text, "%ld: %s\n", answer->messages[i].command,
				      answer->messages[i].text);
	return strbuf_steal(&text);
}

static struct {
	struct answerer *answerer;
	unsigned count, next;
	char **answers;
	pthread_mutex_t lock;
} work = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *ask_many(void *nothing)
{
	for (;;) {
		struct question question;
		struct answer answer;

		pthread_mutex_lock(&work.lock);
		unsigned number = work.next++;

		pthread_mutex_unlock(&work.lock);
		if (number >= work.count)
			return nothing;
		think(number, &question);
		ask(work.answerer, &question, &answer);
		work.answers[number] = text_of(&answer);
		answer_fini(&answer);
	}
}

static struct answerer *open_or_die(char **experiments, int count)
{
	struct answerer *answerer;
	struct diag_list diags = {0};

	if (answerer_open(experiments, (size_t)count, NULL, &answerer, &diags) != STATUS_OK) {
		fprintf(stderr, "cannot open: %s\n", diags.count ? diags.items[0].text : "");
		exit(1);
	}
	diag_fini(&diags);
	return answerer;
}

/* What a request has defined is there for those after it: first of all, so that order is nothing.
 */
static void define(struct answerer *answerer)
{
	const struct answer_words words = words_of(&definition);
	const struct answer_request request = {&words, 1, NULL, 0, "json", NULL, NULL, 0};
	struct answer out;

	answer(answerer, &request, &out);
	answer_fini(&out);
}

/* ---- single requests ---- */

static line functions = {"functions"}, limit = {"limit", "7"};

static void ask_words(struct answerer *answerer, line *setting, line *command, struct answer *out)
{
	struct answer_words set = {0}, show = words_of(command);

	if (setting)
		set = words_of(setting);
	const struct answer_request request = {&set, setting != NULL, &show, 1, "json", NULL, NULL,
					       0};

	answer(answerer, &request, out);
}

static void refuses(struct answerer *answerer)
{
	static line refused[] = {
		{"outfile", "/tmp/no-such-file"},
		{"appendfile", "/tmp/no-such-file"},
		{"script", "/dev/null"},
		{"quit"},
		{"exit"},
		{"open_exp", "a.er"},
		{"add_exp", "a.er"},
		{"drop_exp", "1"},
		{"flamegraph", "/tmp/none.html"},
		{"printmode", "text"},
		{"outf", "/tmp/no-such-file"},
	};

	for (size_t i = 0; i < COUNT(refused); i++) {
		struct answer out;

		ask_words(answerer, NULL, &refused[i], &out);
		check(out.parts[0].failed && !out.parts[0].size && out.failed, refused[i][0]);
		check(out.message_count == 1 && strstr(out.messages[0].text, "is not answered") &&
			      !out.messages[0].command,
		      "it says that it is refused");
		answer_fini(&out);
		ask_words(answerer, &refused[i], &functions, &out);
		check(!out.part_count && out.failed &&
			      out.messages[0].command == ANSWER_OF_SETTINGS,
		      "nor is it a setting");
		answer_fini(&out);
	}
}

/* The settings of one request are not those of the next. */
static void forgets(struct answerer *answerer)
{
	struct answer before, other, after;

	ask_words(answerer, NULL, &functions, &before);
	ask_words(answerer, &limit, &functions, &other);
	ask_words(answerer, NULL, &functions, &after);

	char *first = text_of(&before), *second = text_of(&other), *third = text_of(&after);

	check(before.size && !strcmp(first, third), "a limit is gone with its request");
	check(strcmp(first, second) != 0, "a limit matters");
	free(first);
	free(second);
	free(third);
	answer_fini(&before);
	answer_fini(&other);
	answer_fini(&after);
}

static void stops_at_wrong_settings(struct answerer *answerer)
{
	static line wrong[] = {{"filters", "TSTAMP <"}, {"metrics", "e.nothing"}, {"nonsense"}};

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct answer out;

		ask_words(answerer, &wrong[i], &functions, &out);
		check(!out.part_count && out.failed && !out.cancelled, "a wrong setting ends it");
		answer_fini(&out);
	}
}

static bool never(void *data, double done)
{
	++*(unsigned *)data;
	return false;
}

static void can_be_cancelled(struct answerer *answerer)
{
	unsigned told = 0;
	const struct answer_words filter = {(char *[]){"filters", "TSTAMP < 123456789"}, 2};
	const struct answer_words show = words_of(&functions);
	const struct answer_request request = {&filter, 1, &show, 1, "json", never, &told, 0};
	struct answer out;

	answer(answerer, &request, &out);
	check(told == 1 && out.cancelled, "it asks once, and ends");
	answer_fini(&out);
}

static void lists(struct answerer *answerer)
{
	struct answer_command command;
	struct answer_experiment experiment;
	size_t count = 0, refused = 0;

	for (; answer_command_at(answerer, count, &command); count++) {
		refused += command.refused;
		free(command.missing);
	}
	check(count > 80 && refused > 8, "it knows its commands");
	check(answerer_experiment(answerer, 0, &experiment) && !experiment.growing,
	      "it knows its experiments");
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	char **experiments = argv + 3;
	int experiment_count = argc - 3, threads = (int)strtol(argv[1], NULL, 10), status = 0;
	pthread_t thread[64];

	read_table();
	work.count = (unsigned)strtoul(argv[2], NULL, 10);
	work.answers = xcalloc(work.count, sizeof(*work.answers));
	work.answerer = open_or_die(experiments, experiment_count);
	define(work.answerer);
	for (int i = 0; i < threads && i < (int)COUNT(thread); i++)
		pthread_create(&thread[i], NULL, ask_many, NULL);
	for (int i = 0; i < threads && i < (int)COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	refuses(work.answerer);
	forgets(work.answerer);
	stops_at_wrong_settings(work.answerer);
	can_be_cancelled(work.answerer);
	lists(work.answerer);
	answerer_close(work.answerer);
	for (unsigned i = 0; i < work.count && !status; i++) {
		struct answerer *answerer = open_or_die(experiments, experiment_count);
		struct question question;
		struct answer answer;

		define(answerer);
		think(i, &question);
		ask(answerer, &question, &answer);
		char *text = text_of(&answer);

		if (strcmp(text, work.answers[i]) != 0) {
			fprintf(stderr, "request %u (%s %s): at once\n%s\nalone\n%s\n", i,
				question.commands[0].items[0], question.format, work.answers[i],
				text);
			status = 1;
		}
		free(text);
		answer_fini(&answer);
		answerer_close(answerer);
	}
	for (unsigned i = 0; i < work.count; i++)
		free(work.answers[i]);
	free(work.answers);
	if (!status)
		printf("%u requests\n", work.count);
	return status;
}
