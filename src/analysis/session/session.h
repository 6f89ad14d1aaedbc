/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: the experiments that are looked at together, and what they say of themselves.  What is
 * asked of them is in query.h, the answers in views/.
 */
#ifndef HELIO_ANALYSIS_SESSION_H
#define HELIO_ANALYSIS_SESSION_H

#include "base/status.h"
#include "experiment/log.h"
#include "experiment/overview.h"
#include "experiment/profile.h"
#include "format/kinds.h"
#include "object/object.h"

#include <stdbool.h>
#include <stdint.h>

/* With everything computed so far. */
struct session;
struct metric_list;
struct watch;

/*
 * Opens a session over one or more experiments, or files of groups of them.  What is named twice,
 * by itself or in groups, counts once, for the first of them.  A directory that is no
 * experiment is reported in diags and left out; damage in an experiment is
 * reported as a warning and the rest is used.  STATUS_NOTFOUND: not one of
 * them could be opened.  STATUS_CANCELLED: the watch, which may be NULL, has ended it.
 */
enum status session_open(char *const *paths, size_t count, struct watch *watch,
			 struct session **out, struct diag_list *diags);
/* The same for those who compare: what is named in two places counts in each of them. */
enum status session_open_apart(char *const *paths, size_t count, struct watch *watch,
			       struct session **out, struct diag_list *diags);
/* One of several parts of the same experiments, in their order: number of count. */
struct session_share {
	unsigned number, count;
};
/*
 * As session_open, but with the data of one share only: all processes are there, and those of the
 * other shares are empty.  Whole experiments, and whole ranks of an MPI program, are dealt out.
 */
enum status session_open_share(char *const *paths, size_t count, const struct session_share *share,
			       struct session **out, struct diag_list *diags);
/*
 * A session over no experiment, but one load object with all its functions, for listings.
 * STATUS_NOTFOUND: diags says why.
 */
enum status session_open_object(const char *path, struct session **out, struct diag_list *diags);
void session_free(struct session *session);

/*
 * Facts about the experiments for header, overview, statistics,
 * experiment_list, objects; struct attribute, log_event and usage are those of
 * the experiment's files (experiment/log.h, experiment/overview.h).
 */
struct load_object_info {
	uint32_t number;
	const char *name; /* base name */
	const char *path;
};
/* One process: a founder or a descendant. All strings live as long as the session. */
struct process_info {
	uint32_t id;		/* from 1, in the order of experiment_list */
	uint32_t founder;	/* id of the founder's process_info; its own id for a founder */
	uint32_t group;		/* from 1: of session_group_name(), plus 1 */
	const char *path;	/* the experiment directory */
	const char *name;	/* its base name; for descendants FOUNDER/_f1.er */
	const char *lineage;	/* "" for a founder */
	bool is_unrecorded;	/* only its CPU time is known: experiment/unrecorded.h */
	bool is_untold;		/* … not even that */
	int32_t rank;		/* in MPI_COMM_WORLD; -1: none, or not known */
	bool is_next_image;	/* of a process that was another one before, by exec */
	const char *notes;	/* or NULL */
	const char *target;	/* the program's base name */
	char *const *arguments; /* the command, NULL-terminated; or NULL */
	int64_t pid, ppid, pgrp, sid;
	const char *cwd, *executable, *hostname, *os, *arch, *producer, *version;
	const char *engine, *engine_reason;
	uint64_t pages, page_size, cpus, clock_mhz;
	struct attribute *settings; /* as in log.xml, founder's */
	size_t setting_count;
	const struct log_node *nodes; /* NUMA nodes of the machine; none: not recorded */
	size_t node_count;
	const struct log_counter *counters; /* of -h, founder's */
	size_t counter_count;
	int64_t wall_start_ns;	/* CLOCK_REALTIME of time 0 */
	uint64_t start_ns;	/* this process image's begin and end, since time 0 */
	uint64_t end_ns;	/* last known moment when it did not end in order */
	uint64_t family_end_ns; /* the last end among a founder and its descendants */
	uint64_t recorded_ns;	/* of the time between, without pauses and what -t leaves out */
	bool ended;
	bool has_status;
	int exit_status, exit_signal;
	uint32_t thread_count;
	uint64_t event_count, dropped; /* profile events; of all kinds */
	bool has_trace[TRACE_KINDS];   /* the kind was recorded, if only for none */
	uint64_t trace_count[TRACE_KINDS];
	struct log_event *events;
	size_t event_count_log;
	struct usage *samples;
	size_t sample_count;
	double state_seconds[PROFILE_STATES]; /* by a profile event's state */
	double before_seconds;	   /* CPU time at <before recording>, which is not in these */
	uint64_t collection_count; /* Java's, of garbage */
	double collection_seconds; /* that they took */
	uint64_t class_count;	   /* of Java, linked */
	uint64_t compiled_count, compiled_bytes; /* Java's methods, each compilation */
	bool heap_unseen;			 /* the heap was traced, and no allocation seen */
};
/* What is compared: all that was opened by one name, and what its column is called. */
size_t session_group_count(const struct session *session);
const char *session_group_name(const struct session *session, size_t group);
const char *session_group_path(const struct session *session, size_t group);
size_t session_process_count(const struct session *session);
/* How many processors a process (its index) had events on. */
size_t session_cpu_count(struct session *session, size_t process);
const struct process_info *session_process(const struct session *session, size_t index);
size_t session_load_object_count(const struct session *session);
void session_load_object(const struct session *session, size_t index,
			 struct load_object_info *info);
/* Of the same: see object_provenance.  Lives as long as the session. */
const char *session_provenance(struct session *session, size_t index);
/* Whether a process has recorded this kind of data, be it that there was nothing to record. */
bool session_has_trace(const struct session *session, enum trace_kind kind);
/* Whether a counter's events tell the data addresses; what to do about it where none does. */
bool session_has_addresses(const struct session *session);
#define NO_ADDRESSES                                                                               \
	"No data addresses are recorded: helio collect -h page-faults, or a watch point or a "     \
	"precise hardware counter, records some"
/*
 * Warnings that concern the numbers of every view: damage, drops, a process still running.  Views
 * of data objects add some: the list is of this moment, and lives as long as the session.
 */
const struct diag_list *session_warnings(const struct session *session);
/* Adds what is doubtful about the load objects that functions come from. */
void session_note_doubts(struct session *session);
/* Adds one to them where the first metric of the list has much at addresses that nothing names. */
void session_warn_unknown(struct session *session, const struct metric_list *shown);

#endif
