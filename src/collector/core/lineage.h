/* SPDX-License-Identifier: Apache-2.0 */
/* The names of descendants, and the environment in which a new program finds its own. */
#ifndef HELIO_COLLECTOR_LINEAGE_H
#define HELIO_COLLECTOR_LINEAGE_H

#include "collector/storage/text.h"
#include "format/params.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINEAGE_ROOM = sizeof(PARAMS_ENV_LINEAGE "=") + PARAMS_LINEAGE_ROOM,
	WORDS_ON_STACK = 128,
};

/* Descendants of this process are to be recorded. */
bool lineage_following(void);
/* Keeps what they will need, whatever the program does to its environment. */
void lineage_install(void);
/* Appends the name of the descendant that the `index`th call of a kind ('f', 'x', 'c') makes. */
void lineage_of(struct text *text, char letter, uint32_t index);
/* Announces the next combination child to whatever the C library spawns by itself. */
void lineage_announce_combo(uint32_t index);
/* The time of a log event; 0 where this process is not recorded and has no log. */
uint64_t lineage_log_time_ns(void);
/* `time_ns` as lineage_log_time_ns says; `name`: of the program, or NULL. */
void lineage_log(uint64_t time_ns, const char *kind, const char *lineage, const char *name);
/* The same of a child. `pid`: its process id; 0: not known. */
void lineage_log_child(uint64_t time_ns, const char *kind, int32_t pid, const char *lineage,
		       const char *name);

/*
 * A process is left alone: nothing of it is recorded, or nothing more.  `pid`: a child of this
 * one, said by this process or by the child as long as it has no experiment of its own; 0: this
 * process.  `name`: of its program, or NULL for this one's.  `reason`: as it would follow
 * "because".  Its CPU time, which its parent's wait or the launcher knows, is shown as that of
 * <not recorded: NAME>.  Not in a handler of ours; nothing is allocated, no lock is taken.
 */
void lineage_left_alone(int32_t pid, const char *name, const char *reason);
/* The same of this program, at its very start: said in the founder's log. */
void lineage_program_left_alone(const char *reason);
/* The same of the child of a fork that may make no experiment: said in its parent's log. */
void lineage_fork_left_alone(const char *parent);

struct rusage;
/* ` PREFIXuser_us="…" PREFIXsystem_us="…"` */
void lineage_put_usage(struct text *line, const char *prefix, const struct rusage *usage);

/* An array of strings, on the stack unless it is too long. */
struct words {
	char *room[WORDS_ON_STACK];
	char **words;
	size_t mapped; /* bytes, when they did not fit */
};

/* Room for `count` words. False: no memory. */
bool words_make(struct words *words, size_t count);
void words_drop(struct words *words);

struct environment {
	struct words words;
	char preload[1024];
	char lineage[LINEAGE_ROOM];
};

/*
 * The program's environment `env` with ours in it; without ours where the new program could
 * not find our library.  NULL: no memory, use the program's as it is.
 */
char **environment_make(struct environment *to, char *const env[], const char *lineage);
/* `env` without anything of ours, in the same room. */
char **environment_strip(struct environment *to, char *const env[]);
void environment_drop(struct environment *environment);
/* Whether a program with this environment would be recorded. */
bool environment_has_ours(char *const env[]);

#endif
