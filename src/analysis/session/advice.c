/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about code without names and stacks without beginnings, for the runtimes that make
 * such: told by their load objects. */
#include "analysis/session/advice.h"

#include "analysis/session/session_state.h"
#include "base/array.h"

#include <string.h>

static const struct {
	const char *object; /* how its file's name begins */
	const char *name;
	const char *names;    /* what makes it tell the names of what it compiles; NULL: nothing */
	const char *word;     /* the part of that by which a command that has it is known */
	const char *profiler; /* its own, where nothing else knows them */
} runtimes[] = {
	{"libjvm.so", "java", "helio collect -j on, the default", NULL, NULL},
	{"node", "node", "--perf-basic-prof", "--perf-", NULL},
	{"libnode.so", "node", "--perf-basic-prof", "--perf-", NULL},
	{"deno", "deno", "--v8-flags=--perf-basic-prof", "--perf-", NULL},
	{"libcoreclr.so", "dotnet", "DOTNET_PerfMapEnabled=1 in its environment", NULL, NULL},
	{"libmonosgen", "mono", "--jitmap", "--jitmap", NULL},
	{"mono-sgen", "mono", "--jitmap", "--jitmap", NULL},
	{"beam.smp", "erl", "+JPperf true", "+JPperf", NULL},
	{"libruby", "ruby", "--yjit-perf (Ruby 3.3 and later)", "--yjit-perf", NULL},
	{"php", "php", "-d opcache.jit_debug=0x10", "opcache.jit_debug", NULL},
	{"luajit", "luajit", NULL, NULL, "luajit -jp"},
	{"libluajit", "luajit", NULL, NULL, "luajit -jp"},
	{"libpypy", "pypy", NULL, NULL, "the package vmprof"},
	{"libguile", "guile", NULL, NULL, "the module (statprof)"},
	{"sbcl", "sbcl", NULL, NULL, "the module sb-sprof"},
	{"racket", "racket", NULL, NULL, "the library profile"},
};

enum { RUNTIMES = COUNT(runtimes) };

/* Whether a file's name is that of a runtime: "node" and "node18", but not "node-gyp". */
static bool is_runtime(const char *name, const char *begin)
{
	size_t length = strlen(begin);

	return !strncmp(name, begin, length) &&
	       (!name[length] || strchr(".-0123456789", name[length]) ||
		!strncmp(begin, "lib", strlen("lib")));
}

static bool has_word(const struct process_info *process, const char *word)
{
	for (char *const *argument = process->arguments; argument && *argument; argument++)
		if (strstr(*argument, word))
			return true;
	return false;
}

/* Whether the programs that can have been meant were told already: then it does not help. */
static bool was_told(const struct session *session, size_t runtime)
{
	const char *name = runtimes[runtime].name, *word = runtimes[runtime].word;
	bool told = false;

	for (size_t i = 0; word && i < session->processes.count; i++) {
		const struct process_info *process = &session->processes.items[i];

		if (has_word(process, word))
			told = true;
		else if (process->target && is_runtime(process->target, name))
			return false;
	}
	return told;
}

static bool is_loaded(const struct session *session, size_t runtime)
{
	for (size_t i = 0; i < session->objects.count; i++)
		if (is_runtime(session->objects.items[i].name, runtimes[runtime].object))
			return true;
	return false;
}

const char *advice_for_unknown(struct session *session)
{
	const char *advice = "", *last = "";

	for (size_t i = 0; i < RUNTIMES; i++) {
		bool tells = runtimes[i].names;

		if (!strcmp(last, runtimes[i].name) || !is_loaded(session, i) ||
		    was_told(session, i))
			continue;
		last = runtimes[i].name;
		advice =
			arena_printf(&session->arena, "%s. %s %s%s", advice, last,
				     tells ? "tells the names of the functions that it compiles "
					     "with "
					   : "keeps the names of the functions that it compiles to "
					     "itself; its own profiler knows them: ",
				     tells ? runtimes[i].names : runtimes[i].profiler);
	}
	return advice;
}
