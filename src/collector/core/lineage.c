/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call that makes a descendant gives it a name (its lineage), which the
 * descendant finds in its environment.
 *
 * The program may change its environment as it likes, clear it, or write over it, as those do
 * that set their title: what descendants need is kept aside.
 */
#include "collector/core/lineage.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/modules.h"
#include "collector/core/tasks.h"
#include "collector/core/time.h"
#include "collector/storage/experiment.h"
#include "collector/storage/recording.h"
#include "format/own_use.h"
#include "format/preload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* What goes on to descendants as it is. */
static const char *const kept_names[] = {PARAMS_ENV, PARAMS_ENV_EXPERIMENT, PARAMS_ENV_FOLLOW,
					 PARAMS_ENV_LIBRARY};

enum { KEPT = sizeof(kept_names) / sizeof(kept_names[0]) };

/* "NAME=value"; empty: not set. */
static char kept[KEPT][PATH_MAX_HERE];

void lineage_install(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		struct text word = TEXT_ON(kept[i]);
		const char *value = getenv(kept_names[i]);

		if (!value)
			continue;
		text_puts(&word, kept_names[i]);
		text_putc(&word, '=');
		text_puts(&word, value);
		if (word.full) /* no half words: descendants go unseen */
			collector.follow = false;
	}
}

void lineage_of(struct text *text, char letter, uint32_t index)
{
	text_puts(text, collector.lineage);
	text_putc(text, '_');
	text_putc(text, letter);
	text_decimal(text, index);
}

void lineage_announce_combo(uint32_t index)
{
	struct text name = {.buffer = collector.lineage_slot, .size = collector.lineage_slot_size};

	if (!collector.lineage_slot)
		return;
	lineage_of(&name, 'c', index);
	while (name.length + 1 < name.size)
		text_putc(&name, ' ');
}

uint64_t lineage_log_time_ns(void)
{
	return atomic_load(&collector.recording) ? clock_now_ns() : 0;
}

void lineage_log(uint64_t time_ns, const char *kind, const char *lineage, const char *name)
{
	lineage_log_child(time_ns, kind, 0, lineage, name);
}

void lineage_log_child(uint64_t time_ns, const char *kind, int32_t pid, const char *lineage,
		       const char *name)
{
	char room[LINEAGE_ROOM + 1024];
	struct text line = TEXT_ON(room);

	if (!time_ns)
		return;
	log_event_begin_at(&line, kind, time_ns);
	if (pid)
		text_attribute_decimal(&line, "pid", pid);
	text_attribute(&line, "lineage", lineage);
	if (name)
		text_attribute(&line, "name", name);
	log_event_end(&line);
}

static void put_left_alone(int32_t pid, const char *name, const char *reason)
{
	char room[LINEAGE_ROOM + 1024];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, "left_alone");
	text_attribute_decimal(&line, "pid", pid ? pid : collector.proc_pid);
	text_attribute(&line, "name", name ? name : modules_program());
	text_attribute(&line, "reason", reason);
	log_event_end(&line);
}

void lineage_left_alone(int32_t pid, const char *name, const char *reason)
{
	if (lineage_log_time_ns())
		put_left_alone(pid, name, reason);
}

/* Said in the log of the experiment in that directory. */
static void program_left_alone(const char *directory, const char *reason)
{
	struct text path = TEXT_ON(collector.directory);

	text_puts(&path, directory);
	experiment_name_files();
	collector.proc_pid = tasks_process_number();
	put_left_alone(0, NULL, reason);
}

void lineage_program_left_alone(const char *reason)
{
	if (collector.follow)
		program_left_alone(collector.founder, reason);
}

void lineage_fork_left_alone(const char *parent)
{
	program_left_alone(parent, "its user may make no files in the experiment, and helio, which "
				   "makes them, had ended");
}

static void put_usage(struct text *line, const char *prefix, const char *kind,
		      const struct timeval *time)
{
	char room[32];
	struct text name = TEXT_ON(room);

	text_puts(&name, prefix);
	text_puts(&name, kind);
	text_attribute_decimal(line, room, (int64_t)format_us_of(time));
}

void lineage_put_usage(struct text *line, const char *prefix, const struct rusage *usage)
{
	put_usage(line, prefix, "user_us", &usage->ru_utime);
	put_usage(line, prefix, "system_us", &usage->ru_stime);
}

bool lineage_following(void)
{
	return collector.tracking && collector.follow && kept[0][0];
}

/* ---- the environment of a new program ---- */

bool words_make(struct words *words, size_t count)
{
	words->words = words->room;
	words->mapped = 0;
	if (count <= WORDS_ON_STACK)
		return true;
	words->mapped = count * sizeof(char *);
	words->words =
		sys_mmap(words->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return words->words;
}

void words_drop(struct words *words)
{
	if (words->mapped)
		sys_munmap(words->words, words->mapped);
}

static const char *value_of(char *const env[], const char *name)
{
	size_t length = text_length(name);

	for (; env && *env; env++)
		if (text_starts(*env, name) && (*env)[length] == '=')
			return *env + length + 1;
	return NULL;
}

static bool is_ours(const char *word)
{
	return text_starts(word, "HELIO_COLLECTOR_") || text_starts(word, "LD_PRELOAD=");
}

bool environment_has_ours(char *const env[])
{
	const char *preload = value_of(env, "LD_PRELOAD");

	return preload && preload_find(preload, collector.library) && value_of(env, PARAMS_ENV) &&
	       value_of(env, PARAMS_ENV_LINEAGE);
}

/* LD_PRELOAD as the program has it, with our library in it or not; NULL: none. */
static char *preload_word(struct environment *to, char *const env[], bool with_ours)
{
	struct text text = TEXT_ON(to->preload);
	const char *theirs = value_of(env, "LD_PRELOAD");
	const char *ours = theirs ? preload_find(theirs, collector.library) : NULL;

	text_puts(&text, "LD_PRELOAD=");
	size_t empty = text.length;

	if (with_ours && !ours) {
		text_puts(&text, collector.library);
		if (theirs && *theirs)
			text_putc(&text, ':');
	}
	for (const char *at = theirs; at && *at; at++) {
		if (at == ours && !with_ours) {
			at += text_length(collector.library);
			if (!*at)
				break;
			continue; /* the separator goes too */
		}
		text_putc(&text, *at);
	}
	if (text.full) /* theirs must stay as it is */
		return (char *)(uintptr_t)(theirs - empty);
	return text.length > empty ? to->preload : NULL;
}

static void put_lineage(struct environment *to, const char *lineage)
{
	struct text text = TEXT_ON(to->lineage);

	text_puts(&text, PARAMS_ENV_LINEAGE "=");
	text_puts(&text, lineage);
	while (!text.full && text.length + 1 < sizeof(to->lineage))
		text_putc(&text, ' ');
}

/* Begins with what is the program's own; returns how many words, or -1. */
static long put_theirs(struct environment *to, char *const env[], bool with_ours)
{
	size_t count = 0, used = 0;
	char *preload = preload_word(to, env, with_ours);

	while (env && env[count])
		count++;
	if (!words_make(&to->words, count + KEPT + 3))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!is_ours(env[i]))
			to->words.words[used++] = env[i];
	if (preload)
		to->words.words[used++] = preload;
	to->words.words[used] = NULL;
	return (long)used;
}

char **environment_strip(struct environment *to, char *const env[])
{
	return put_theirs(to, env, false) < 0 ? NULL : to->words.words;
}

static bool is_below(int resource, uint64_t bytes)
{
	struct rlimit limit;

	return !sys_call(SYS_prlimit64, 0, resource, 0, &limit) && limit.rlim_cur < bytes;
}

/* Limits within which a program that runs without us might not load with our library. */
static bool memory_is_scarce(void)
{
	if (!is_below(RLIMIT_DATA, PARAMS_LEAST_DATA) && !is_below(RLIMIT_AS, PARAMS_LEAST_SPACE) &&
	    !is_below(RLIMIT_STACK, PARAMS_LEAST_STACK))
		return false;
	if (lineage_log_time_ns())
		log_warning("programs started from here are not recorded: a limit of memory "
			    "(ulimit -d, -v, -s) leaves no room for the collector",
			    0);
	return true;
}

char **environment_make(struct environment *to, char *const env[], const char *lineage)
{
	if (sys_call(SYS_faccessat, AT_FDCWD, collector.library, R_OK, 0) || memory_is_scarce())
		return environment_strip(to, env);
	long used = put_theirs(to, env, true);
	if (used < 0)
		return NULL;
	put_lineage(to, lineage);
	to->words.words[used++] = to->lineage;
	for (size_t i = 0; i < KEPT; i++)
		if (kept[i][0])
			to->words.words[used++] = kept[i];
	to->words.words[used] = NULL;
	return to->words.words;
}

void environment_drop(struct environment *environment)
{
	words_drop(&environment->words);
}
