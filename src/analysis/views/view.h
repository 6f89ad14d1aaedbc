/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: (session, query) -> table.  A table holds names and numbers in base
 * units (seconds, bytes, counts) and nothing about how they look; print,
 * serve and export render the same table.
 */
#ifndef HELIO_ANALYSIS_VIEW_H
#define HELIO_ANALYSIS_VIEW_H

#include "analysis/session/query.h"
#include "base/arena.h"
#include "base/status.h"
#include "experiment/log.h"
#include "experiment/overview.h"
#include "experiment/profile.h"
#include "format/kinds.h"
#include "object/object.h"

#include <stdbool.h>
#include <stdint.h>

/* The experiments that are looked at together, with everything computed so far. */
struct session;

/*
 * Opens a session over one or more experiments, or files of groups of them.  A directory that is no
 * experiment is reported in diags and left out; damage in an experiment is
 * reported as a warning and the rest is used.  STATUS_NOTFOUND: not one of
 * them could be opened.  STATUS_CANCELLED: the watch, which may be NULL, has ended it.
 */
enum status session_open(char *const *paths, size_t count, struct watch *watch,
			 struct session **out, struct diag_list *diags);
/*
 * A session over no experiment, but one load object with all its functions, for listings.
 * STATUS_NOTFOUND: diags says why.
 */
enum status session_open_object(const char *path, struct session **out, struct diag_list *diags);
void session_free(struct session *session);

enum column_form { COLUMN_VALUE, COLUMN_DIFFERENCE, COLUMN_RATIO };

struct column {
	struct metric_choice choice; /* the flavour is the one that this view shows */
	uint32_t group;		     /* compared: the experiment, from 1; else 0 */
	enum column_form form;
	const char *label; /* the experiment's name, or NULL */
};

enum row_mark {
	ROW_PLAIN,
	ROW_CENTER, /* the function of a callers-callees block */
	ROW_CALLER,
	ROW_CALLEE,
};

enum row_kind { ROW_LISTED, ROW_SOURCE, ROW_INDEX, ROW_INSTRUCTION, ROW_REMARK };

/* Where the element of a row lies in the object above it that is no element. */
struct row_extent {
	const char
		*name; /* of the element alone, or the object; NULL: a line of the cache begins */
	uint64_t offset, size; /* bytes */
	uint32_t depth;	       /* 0: the object itself; 1: one of its elements; and so on */
};

struct row {
	const char *name;
	const char *object; /* path of the load object, or NULL */
	const char *of;	    /* what tells it from other functions of the name, or NULL */
	/*
	 * The function's id; in a call tree the node's, if inverted the row's; of threads,
	 * load objects and their <Total> a number from 0 in the order of the session
	 */
	uint32_t id;
	uint32_t parent; /* call tree: id of the parent's row; 0 for <Total>, which is 0 itself */
	uint32_t depth;	 /* call tree: 0 for <Total> */
	uint32_t block;	 /* callers-callees: rows with one number belong together */
	enum row_mark mark : 8;
	bool last_child; /* call tree: no sibling follows */
	/* listings */
	enum row_kind kind : 8;
	bool no_values;			 /* the line has no code: its fields stay empty */
	bool hot;			 /* a value is above the threshold */
	uint32_t line;			 /* in the source; 0: none */
	uint64_t address;		 /* of an instruction */
	uint64_t target;		 /* where it jumps to in its function; 0: it does not */
	uint64_t value;			 /* of an index or memory object; UINT64_MAX: none */
	const struct row_extent *extent; /* in a data layout; or NULL */
};

/* Ids of the functions that stand for something else than code. */
enum {
	FUNCTION_TOTAL,
	FUNCTION_UNKNOWN,	/* <Unknown> */
	FUNCTION_TRUNCATED,	/* <Truncated-stack> */
	FUNCTION_UNWIND_FAILED, /* <Stack-unwind-failed> */
	FUNCTION_NO_STACK,	/* <no call stack recorded> */
	FUNCTION_RECORD_COUNTS, /* collector_record_counters and so on: see format.h */
	FUNCTION_FINAL_COUNTS,
	FUNCTION_LOST_COUNTS,
	FUNCTION_FROZEN_COUNTS,
	FUNCTION_BEFORE, /* <before recording> */
	FUNCTION_FIRST_REAL,
};

/*
 * Hidden metrics have no column; the name has one, without values.
 * values[row * column_count + column]; base[column] is what 100 % means, or,
 * for the blocks of callers-callees, block_base[block * column_count + column].
 */
struct table {
	const char *title;
	const char
		*index; /* name of the index or memory object whose values the rows are, or NULL */
	struct column *columns;
	size_t column_count;
	struct row *rows;
	size_t row_count;
	double *values;
	double *errors; /* standard errors of the values, 0: exact; NULL: not asked for */
	double *base;
	double *block_base; /* NULL: base holds everywhere */
	struct metric_choice sort;
	/* a view of data objects: of the sort metric the share of which the object is known, 0 to 1
	 */
	bool has_resolved;
	double resolved, resolved_of_addresses; /* of all; of what has a data address */
	bool has_extents; /* a data layout: all rows but <Total> have theirs */
	double left_out;  /* an inverted tree: percent of the total, see tree_part.most; 0: nothing
			     was */
	bool by_change;	  /* … by the difference of the last experiment from the first */
	const struct listing_header *header; /* of a listing of code, else NULL */
	struct arena arena;		     /* owns all of the above */
};

void table_fini(struct table *table);

/* The function list, <Total> first. */
void view_functions(struct session *session, const struct query *query, struct table *table);
/*
 * One block per function, callers above, callees below; flavour attributed, the
 * centre's values exclusive.  With recursion an event counts for the innermost
 * occurrence of the function on its stack, so that for every function the
 * callers' values and the centre's with the callees' both add up to the
 * inclusive metric.  The block of <Total> has callees only.  A limit is one of blocks.
 */
void view_callers_callees(struct session *session, const struct query *query, struct table *table);
/*
 * The callers and callees of a stack fragment: functions of which each calls the next.  An
 * event counts for the innermost place where the whole fragment is on its stack.  One block;
 * the fragment's functions are its centre, the last of them with what it did itself, so that
 * the callers' values and the centre's with the callees' both add up to the base.  A fragment
 * of one function gives the same as its block above.
 */
void view_callers_callees_of(struct session *session, const struct query *query,
			     const uint32_t *fragment, size_t count, struct table *table);
/* The part of a call tree to show; zeroed: all of it, from <Total> down to the leaves. */
struct tree_part {
	/*
	 * From the leaves up: the children of <Total> are the functions with their exclusive
	 * metrics, the children of a function its callers.  An event counts once at each level.
	 */
	bool inverted;
	bool hottest;	/* only the most expensive branch is followed to its end */
	uint32_t depth; /* levels below <Total>; 0: all */
	double percent; /* of the total of the sort metric: what is less is left out */
	size_t most;	/* inverted: rows; percent grows until there are no more; 0: any number
			 */
};
/* The metric that percent and hottest go by. */
const struct metric *tree_part_metric(const struct query *query);
/*
 * Rows in display order, a child after its parent, siblings by the sort metric; part NULL:
 * all.  Where the sort metric is static, `percent` and `hottest` go by the first that is not.
 */
void view_call_tree(struct session *session, const struct query *query,
		    const struct tree_part *part, struct table *table);
/* A call of a stack. */
struct stack_frame {
	uint32_t function;
	const char *name;   /* "f", "g (inlined)" */
	const char *object; /* path of the load object, or NULL */
	const char *file;   /* or NULL: the line is not known */
	uint32_t line;
	bool inlined;	  /* a call that was inlined: the address is that of what it is part of */
	bool has_address; /* else it stands for several, or for none */
	uint64_t address; /* in the load object; of a caller that of the last byte of the call */
};
struct listed_stack {
	const uint32_t *frames; /* leaf first, or as the query says */
	uint32_t depth;
};
/* Call stacks, and the frames that they are made of. */
struct frame_list {
	struct stack_frame *frames;
	size_t frame_count;
	struct listed_stack *stacks;
	size_t stack_count;
	struct arena arena; /* owns all of the above */
};
void frame_list_fini(struct frame_list *list);

/*
 * The call stacks of the chosen events, each once, of whichever processes: the same functions at
 * the same addresses.  The columns are exclusive: rows and the rest add up to <Total>.
 */
struct stack_list {
	struct table table;	  /* <Total>, then a row for each, by the name of its leaf */
	struct frame_list frames; /* its stacks by row; <Total> has no frames */
	size_t rest_count;	  /* stacks that the query's limit leaves out … */
	double *rest;		  /* … and their values, by column */
	bool callers_first;
};
void view_stacks(struct session *session, const struct query *query, struct stack_list *list);
void stack_list_fini(struct stack_list *list);

/* Instructions, "f + 0x0000001c", and source lines, "f, line 23 in "a.c"", that stacks go through.
 */
void view_pcs(struct session *session, const struct query *query, struct table *table);
void view_lines(struct session *session, const struct query *query, struct table *table);

#define CODE_NONE UINT32_MAX /* no function, no file */

/* What a listing of code is asked for. */
struct listing_request {
	uint32_t function; /* or CODE_NONE: a source file by itself, with its load object */
	uint32_t object;
	uint32_t file;	    /* CODE_NONE: that of the function's first line */
	unsigned threshold; /* percent of a column's largest value from which a line is hot */
	const struct source_search *search; /* but for the archives, which are added */
	unsigned remarks;		    /* enum remark_class: which to show */
	bool intel;			    /* syntax of the disassembly */
	bool hex;			    /* … with the bytes */
	bool no_source;			    /* … without source lines */
	bool source_metrics;		    /* … with the metrics of the source lines */
};
/* What stands above it. Strings live as long as the table; NULL: unknown. */
struct listing_header {
	const char *source, *source_found; /* found: where, if not there */
	bool source_missing, source_newer;
	const char *unit; /* what the object file was made from */
	const char *load_object, *provenance;
};
/* Annotated source, with all that the load object has of it. False: no line is known. */
bool view_source(struct session *session, const struct query *query,
		 const struct listing_request *request, struct listing_header *header,
		 struct table *table, struct diag_list *diags);
/* Annotated disassembly of a function, its source lines between. False: its code is not there. */
bool view_disassembly(struct session *session, const struct query *query,
		      const struct listing_request *request, struct listing_header *header,
		      struct table *table, struct diag_list *diags);

/* Load objects with exclusive and inclusive metrics; <Unknown> holds what belongs to none. */
void view_objects(struct session *session, const struct query *query, struct table *table);
/* One row per thread: name "Process 1, Thread 2 (tid 123)", exclusive metrics. */
void view_threads(struct session *session, const struct query *query, struct table *table);

/*
 * Functions that a name means: all that have it as long, short or mangled name
 * or as an alias, with or without " [object]".  If there are none, those whose long name
 * goes on after it where a word ends: "f" for "f(int)" and "f.part.0"; if there are none of those
 * either, those that are called so in a namespace or class: "f" for "m::f(int)".
 */
struct function_match {
	uint32_t function;
	const char *name;   /* long */
	const char *object; /* load object path */
	uint64_t address, size;
	uint32_t object_id, file; /* of view_find_code(), for a listing_request */
};
/* The caller frees *out. Count 0: none. */
size_t view_find_functions(struct session *session, const struct query *query, const char *name,
			   struct function_match **out);
/*
 * The same, those too that no event touched; or, if there are none, source files whose path ends
 * so, with function CODE_NONE; "FUNCTION'FILE'" is a file that the function has code from.
 */
size_t view_find_code(struct session *session, const struct query *query, const char *name,
		      struct function_match **out);
/* The source files that known functions begin in; the caller frees *out. */
size_t session_files(struct session *session, struct function_match **out);
/* All known functions of load objects; the caller frees *out. */
size_t session_functions(struct session *session, struct function_match **out);
/* The known functions of a source file in the order in which they were met; to be freed. */
size_t session_functions_of_file(struct session *session, uint32_t object, uint32_t file,
				 uint32_t **out);

/* Everything `fsingle` and `fsummary` print of one function. Strings live as long as the session.
 */
struct function_summary {
	const char *name;
	const char *mangled;
	const char *aliases; /* or NULL */
	const char *load_object;
	const char *source_file; /* or NULL */
	const char *object_file; /* or NULL */
	uint64_t size;
	uint64_t address;
	uint32_t segment; /* number of the load object, for SEGMENT:0xADDR */
};
void session_function_summary(struct session *session, uint32_t function,
			      struct function_summary *summary);
/* Exclusive and inclusive value of a metric for a function, and the totals. */
void view_function_values(struct session *session, const struct query *query, uint32_t function,
			  const struct metric *metric, double *exclusive, double *inclusive,
			  double *total);

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
	double before_seconds; /* CPU time at <before recording>, which is not in these */
	bool heap_unseen;      /* the heap was traced, and no allocation seen */
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
/* "heap data", and the option of helio collect that records it: "-H on". */
/* Whether a counter's events tell the data addresses; what to do about it where none does. */
bool session_has_addresses(const struct session *session);
#define NO_ADDRESSES                                                                               \
	"No data addresses are recorded: helio collect -h page-faults, or a watch point or a "     \
	"precise hardware counter, records some"
/*
 * Warnings that concern the numbers of every view: damage, drops, a process still running.  Views
 * of data objects add some: not to be read while other threads ask.
 */
const struct diag_list *session_warnings(const struct session *session);
/* Adds one to them where the first metric of the list has much at addresses that nothing names. */
void session_warn_unknown(struct session *session, const struct metric_list *shown);

#endif
