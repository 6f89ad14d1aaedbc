/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: commands of `helio print` asked by a program, over experiments that stay open.  A
 * request says all that its answer depends on; its text is what `helio print` would have printed,
 * and what it would have said on stderr is a list of messages.  Several threads may ask at once.
 *
 * What writes files, reads scripts, opens other experiments or leaves is refused.  Objects that a
 * request defines (indxobj_define, mobj_define, machinemodel) stay defined for those after it; it
 * waits until no other is at work.
 */
#ifndef HELIO_PRINT_ANSWER_H
#define HELIO_PRINT_ANSWER_H

#include "analysis/session/watch.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Experiments, the commands of the start-up files, and what has been computed so far. */
struct answerer;

/*
 * As session_open() for the messages and the status.  The start-up files are those of now; what is
 * wrong with them is told, too.  watch: of the opening, or NULL.
 */
enum status answerer_open(char *const *paths, size_t count, struct watch *watch,
			  struct answerer **out, struct diag_list *diags);
/* Nobody asks any more. */
void answerer_close(struct answerer *answerer);

/* A command and its arguments. */
struct answer_words {
	char **items;
	size_t count;
};

struct answer_request {
	const struct answer_words *settings; /* run first; what they print is not in the answer */
	size_t setting_count;
	const struct answer_words *commands;
	size_t command_count;
	const char *format; /* as of printmode: "json", "text", ","; "slab": present/slab.h */
	/* How far it is, and whether it is still wanted: see watch.h; or NULL. */
	bool (*tell)(void *data, double done);
	void *data;
	size_t most; /* bytes: no command runs after the one that passes this; 0: any number */
};

enum { ANSWER_OF_SETTINGS = -1 };

struct answer_message {
	enum diag_level level;
	long command; /* its number in the request, or ANSWER_OF_SETTINGS */
	char *text;
};

/* What one command has printed. */
struct answer_part {
	size_t begin, size; /* in the answer's text */
	bool failed;
};

struct answer {
	char *text;
	size_t size;
	struct answer_part *parts; /* one for each command; none ran where a setting failed */
	size_t part_count;
	struct answer_message *messages;
	size_t message_count;
	bool cancelled; /* it is of no use */
	/* from 1: the command that made it larger than asked for, and it of no use; 0: none */
	size_t too_large;
	bool failed; /* an error is among the messages */
};

/* The caller ends the answer. */
void answer(struct answerer *answerer, const struct answer_request *request, struct answer *out);
void answer_fini(struct answer *answer);

/* ---- what there is ---- */

/* The names by which an experiment was opened, and what it is. */
struct answer_experiment {
	const char *path, *name;
	bool growing; /* a process of it still runs here */
};
/* Those that are open, in order. False after the last. */
bool answerer_experiment(const struct answerer *answerer, size_t index,
			 struct answer_experiment *out);

struct answer_command {
	const char *name, *arguments, *help, *group, *options;
	bool refused;  /* never answered */
	char *missing; /* why these experiments have nothing to show, the caller's; or NULL */
};
/* Every command that `help` lists. answerer NULL: nothing is missing. False after the last. */
bool answer_command_at(struct answerer *answerer, size_t index, struct answer_command *out);

/* Names of functions and lines that debuginfod servers are still asked for:
 * object/elf/debuginfod.h. */
struct answer_names {
	size_t waiting;	  /* load objects whose debug files are not there yet, … */
	const char *name; /* … and the one that is asked for now */
	size_t found;	  /* debug files that came */
};
/* From now on answers are given without them; before there are other threads. */
void answer_without_waiting(void);
struct answer_names answer_names(void);
void answer_without_waiting_end(void);

/* Whether a command may stand in a start-up file. */
bool answer_may_save(const char *command);

#endif
