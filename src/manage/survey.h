/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment at a glance: what its logs say, without its data. */
#ifndef HELIO_MANAGE_SURVEY_H
#define HELIO_MANAGE_SURVEY_H

#include "experiment/experiment.h"

#include <jansson.h>

enum survey_state {
	SURVEY_COMPLETE,
	SURVEY_RECORDING,  /* a process of it still runs here */
	SURVEY_STOPPED,	   /* `helio ctl stop` ended the recording, the program goes on */
	SURVEY_KILLED,	   /* the founder was killed by a signal; what it had recorded is there */
	SURVEY_UNFINISHED, /* nothing runs and nobody closed it: helio collect was killed, too */
	SURVEY_PAUSED,	   /* as RECORDING, but nothing is recorded until somebody resumes it */
};

struct survey {
	struct experiment *experiment;
	enum survey_state state;
	int64_t running_pid;	      /* of a process that is still recorded */
	const char *program;	      /* base name, or "(unknown)" */
	uint64_t duration_ns;	      /* of the founder; so far, if it is still recorded */
	uint64_t events, dropped;     /* of the clock; of all kinds */
	uint64_t traced[TRACE_KINDS]; /* after survey_count_traced */
	uint64_t bytes;		      /* all files */
	uint64_t wall_ns;	      /* when it began, 0: not known */
};

/* Opens the logs; the errors say why it cannot be. The experiment is the survey's. */
enum status survey_open(const char *path, struct survey *survey, struct diag_list *errors);
void survey_close(struct survey *survey);
/* Reads the traces of processes that could not count their events, once. */
void survey_count_traced(struct survey *survey);

/* Whether the process still runs on this machine, is the one that was recorded, and still is. */
bool survey_is_running(const struct experiment *experiment, const struct process *process);
/* Who it is, as for survey.program. */
const char *survey_program(const struct process *process);
/* From the founder's start, or from the descendant's, to its end. */
uint64_t survey_duration_ns(const struct process *process);
/* "complete", "recording", … */
const char *survey_state_name(enum survey_state state);

/* What `ls` and `info` show of it, as a JSON object: after survey_count_traced. */
json_t *survey_json(const struct survey *survey);

/*
 * Fails, with the remedy in the errors, if a process of the experiment is still
 * recorded: its files must not go from under it.
 */
bool survey_may_change(const struct survey *survey, struct diag_list *errors);
/*
 * Fails if the path goes through a link of another user's: that one would choose what is written,
 * moved or removed.
 */
bool survey_is_named_by(const struct experiment *experiment, const char *path,
			struct diag_list *errors);

#endif
