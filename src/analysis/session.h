/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's state: what views are computed from.  Private to this module.
 *
 *   load objects and functions   one table for all processes
 *   call tree                    one function-level tree for all processes
 *   weights                      per tree node and measure
 *
 * Tables hold u32 ids into each other.  The tree and the tables depend on the
 * experiments only, the weights also on which events are counted.
 */
#ifndef HELIO_ANALYSIS_SESSION_H
#define HELIO_ANALYSIS_SESSION_H

#include "analysis/filter.h"
#include "analysis/index.h"
#include "analysis/measure.h"
#include "analysis/view.h"
#include "base/hash.h"
#include "experiment/experiment.h"
#include "experiment/unrecorded.h"
#include "format/counter.h"
#include "object/lines.h"

#define OBJECT_UNKNOWN 0u /* the load object of what belongs to none */
#define NODE_NONE      UINT32_MAX
#define NODE_ROOT      0u

enum { NAME_STYLES = 3 };

/* Of a function that comes from the cache: its file has not been read yet. */
#define SYMBOL_UNSOUGHT (UINT32_MAX - 1)

struct load_object {
	const char *path;
	const char *name;	/* base name */
	struct object *object;	/* NULL: not opened so far, <Unknown>, DYNAMIC_FUNCTIONS */
	bool is_file;		/* symbols_object() opens it */
	uint64_t mtime;		/* s, of the file that was measured */
	uint64_t file_size;	/* bytes, likewise; 0: not known */
	const char *build_id;	/* likewise; NULL: not known */
	const char *archive;	/* the experiment's copy of it, or NULL */
	bool is_unsought;	/* some of its functions have SYMBOL_UNSOUGHT */
	uint32_t rest_function; /* stands for addresses in no function; NODE_NONE: none so far */
	uint32_t linkage;	/* its function @plt, once asked for; 0: not yet */
	bool used;		/* an address of it has been looked up */
	bool is_program;	/* what an experiment was made of, not a library */
	enum object_showing showing;
	uint32_t stand_in;	 /* the function that all of its are while it is hidden, or 0 */
	struct diag_list doubts; /* matter only if it is used */
};

struct function {
	uint32_t object; /* index of the load object */
	uint32_t symbol; /* in it, or OBJECT_NO_FUNCTION, or SYMBOL_UNSOUGHT: symbols_symbol() */
	uint64_t address, size;
	uint32_t inlined; /* copies of it in others: number for lines_function(), or LINES_NONE */
	const struct map_function *announced; /* made at run time, the first time; or NULL */
	const char *mangled;
	const char *aliases;		/* or NULL */
	const char *source;		/* where known without debug information, or NULL */
	const char *names[NAME_STYLES]; /* by enum name_style; NULL: not asked for yet */
};

struct tree_node {
	uint32_t parent; /* smaller than the node itself */
	uint32_t function;
};

struct call_tree {
	VEC(struct tree_node) nodes; /* 0 is the root, <Total> */
	struct pair_set known;	     /* (parent, function) → node */
	/* computed together when first needed, see tree.c */
	uint32_t *order; /* nodes, each directly followed by its subtree */
	uint32_t *same;	 /* nearest ancestor of the same function, or NODE_NONE */
	uint32_t *via;	 /* child of same[n] on the way to n, or NODE_NONE */
};

/* Sums per function of one metric, in units of its measure. */
struct function_sums {
	const struct metric *metric;
	uint64_t total;
	uint64_t *exclusive, *inclusive;
};

/* What events are grouped by. */
struct index_object {
	const char *name, *title, *expression;
	unsigned label; /* how a value becomes the name of a row, see index.c */
};

/* A process as its events are counted. */
struct session_process {
	const struct process *process;
	uint32_t id;			/* as process_info's */
	uint32_t like;			/* id of the first one of its lineage in any experiment */
	uint32_t experiment;		/* index of its founder's */
	uint32_t group;			/* from 1: what its events count for in comparisons */
	uint64_t interval_us;		/* of its clock, the first one; 0: unknown */
	uint64_t first_thread;		/* its number; UINT64_MAX: there is none */
	uint32_t *nodes;		/* the tree node of every node of its stacks */
	uint8_t counters[COUNTERS_MAX]; /* the session's number of each, or COUNTER_NONE */
	struct heap_course heap_course; /* where a filter has asked for it */
};

/* By what events of I/O are counted, see io_rows.h. */
enum io_row_kind {
	IO_ROWS_FILES,
	IO_ROWS_OPENINGS,
	IO_ROWS_COMPARED, /* openings, as far as they are the same in several experiments */
	IO_ROW_KINDS,
};

/* What was opened by one name: an experiment, or a file that names several. */
struct session_group {
	const char *path, *name;
};

/* Where an experiment is, and its copies of load objects and sources. */
struct session_place {
	const char *path, *archives;
};

/* What chooses events: the expression, then the selections. */
enum { SESSION_FILTERS = 1 + SELECTIONS };
struct session_filter {
	char *text;			/* as it was given; NULL: all are chosen */
	struct filter_program *program; /* or NULL */
};

struct session {
	struct arena arena;
	VEC(struct experiment *) experiments;
	VEC(struct session_group) groups;
	VEC(struct session_place) places; /* of the experiments */
	VEC(struct process_info) processes;
	VEC(struct session_process) scanned; /* the same processes */
	struct string_table lineages;
	VEC(uint32_t) first_of_lineage; /* by its number there: id of a process */
	struct session_filter filters[SESSION_FILTERS];
	uint32_t focus; /* only events of this group count; 0: of all */
	bool squares;	/* events count for the squares of their values, see compare.h */
	bool united;	/* functions of one name are one in all builds of a load object */
	VEC(struct load_object) objects;
	struct object *missing; /* for all that are not there; NULL: none is missing so far */
	struct string_table object_keys; /* path and build-id → object index */
	VEC(struct function) functions;
	struct string_table dynamic_keys; /* name and source of an announced function → number */
	struct hash_map inlined_ids;	  /* object << 32 | its function of lines → function */
	struct hash_map function_ids;	  /* object << 32 | symbol (or that number) → function */
	struct call_tree tree;	/* what views see: some functions may be folded into others */
	struct call_tree whole; /* all functions, where that is another tree */
	uint32_t *shown; /* node of `whole` → node of `tree`; NULL: `tree` is the whole one */
	bool inlines;	 /* inlined functions are calls in the tree */
	struct measure_sums weights;			      /* by tree node */
	VEC(struct index_object) own_objects[INDEX_FAMILIES]; /* the user's */
	VEC(struct function_sums *) sums;
	struct arena sums_arena;
	const char **namesakes; /* of symbols_namesake(), once asked for, in that arena: … */
	size_t namesake_count;	/* … so many, then as many of one load object */
	struct string_table namesake_texts;    /* theirs */
	struct io_rows *io_rows[IO_ROW_KINDS]; /* NULL: not asked for yet */
	struct io_places *io_places;	       /* io_places.c; likewise */
	struct code *code;		       /* code.c; NULL: not asked for yet */
	struct data_map *data;		       /* data_map.c; likewise */
	struct diag_list warnings;
	bool has_clock_data;
	bool has_trace[TRACE_KINDS];   /* some process has the file, be there events in it or not */
	bool only_gprofng;	       /* all experiments are of that tool, which records less */
	bool has_no_events;	       /* its sums come from the cache, see cache.h */
	struct kept_sums kept_weights; /* those of the tree then */
	struct call_tree other_tree;   /* of what is kept: that with inlined calls, or without; */
	struct kept_sums other_weights;
	bool has_other_tree;	     /* not every kept file has it */
	char *kept;		     /* the file that they come from: texts point into it */
	char *kept_code;	     /* likewise, with the code */
	size_t kept_functions;	     /* those that the cache knows are the first */
	uint64_t sums_checksum;	     /* of that file, or of the one that was made */
	char *code_name;	     /* of the file that keeps its code, or NULL: nowhere */
	const char *default_metrics; /* as the user says, or NULL */
	VEC(struct metric) counters; /* their metrics, by the session's numbers */
};

/* Whether the events of a process count at all. */
static inline bool session_looks_at(const struct session *session,
				    const struct session_process *process)
{
	return !session->focus || session->focus == process->group;
}

/* session.c */
void session_default_metrics(const struct session *session, struct metric_list *list);
/* Counts again what the filters choose; what was computed from the weights is forgotten. */
void session_count(struct session *session);

/* filter.c */
void filters_fini(struct session *session);

/* symbols.c: load objects, functions and their names */
void symbols_init(struct session *session);
void symbols_fini(struct session *session);
/* A load object by itself, with all its functions. */
void symbols_add_file(struct session *session, const struct object_request *request);
/* The function of every location of a process's stacks; the caller frees the array. */
uint32_t *symbols_resolve(struct session *session, const struct experiment *experiment,
			  const struct process *process);
/* The function of one location, and where in which load object it is; of OBJECT_UNKNOWN the pc. */
uint32_t symbols_place(struct session *session, const struct experiment *experiment,
		       const struct process *process, uint32_t location, uint32_t *object,
		       uint64_t *address);
/* Passes on what is doubtful about the load objects that functions come from. */
void symbols_report(struct session *session);
/* A function's symbol in its load object, or OBJECT_NO_FUNCTION. */
uint32_t symbols_symbol(struct session *session, uint32_t function);
/* Opens the files of load objects of a session whose sums come from the cache; or of one. */
void symbols_open_objects(struct session *session);
/* The file of a load object, opened now if it was not; NULL: it is of none. */
struct object *symbols_object(struct session *session, uint32_t object);
/* One that is not used is let go: many may be mapped, and each takes memory. */
void symbols_close_unused(struct session *session, uint32_t object);
/* The function of a load object's symbol, and what stands for the inlined copies of one. */
uint32_t symbols_function(struct session *session, uint32_t object, uint32_t symbol);
uint32_t symbols_inlined(struct session *session, uint32_t object, uint32_t function);
/* The function @plt of a load object; see analysis/linkage.h. */
uint32_t symbols_linkage(struct session *session, uint32_t object);
/* A function without code. */
uint32_t symbols_add_made_up(struct session *session, uint32_t object, const char *name);
struct function_match symbols_match(struct session *session, uint32_t function);
/*
 * namesakes.c: what tells a function from others of its name, as far as they are in call stacks:
 * the name of its load object's file, or the path where the files have one name too; its source
 * file, likewise, or address where the others are in the same load object; both.  NULL: there are
 * no others.  in_object: from others in its load object.  Lives as long as the session.
 */
const char *symbols_namesake(struct session *session, uint32_t function, bool in_object);
/* As session_find_functions, without members of namespaces and classes. */
size_t symbols_named(struct session *session, const char *name, struct function_match **out);
/* Whether "relax" is what "double m::relax(double)" is called in its namespace or class. */
bool symbols_is_member(const char *full, const char *name);
/* Lives as long as the session. */
const char *symbols_name(struct session *session, uint32_t function, enum name_style style);
/* Of a part of a function what other tools call it, "f(int) [clone .cold]", to be freed, or NULL.
 */
char *symbols_part_name(struct session *session, uint32_t function, enum name_style style);

/* tree.c: the call tree and what follows from it */
void tree_init(struct session *session);
void tree_fini(struct session *session);
/* Empties it, for the same experiments. */
void tree_reset(struct session *session);
/* Adds a process's stacks: the tree node of every node of them, the caller's to free. */
uint32_t *tree_add_process(struct session *session, const struct experiment *experiment,
			   const struct process *process);
/* No more nodes will be added: what that takes is let go. */
void tree_settle(struct session *session);
/* The weights of all nodes, from the events. */
void tree_count(struct session *session);
uint32_t tree_add_node(struct call_tree *tree, uint32_t parent, uint32_t function);
/* The tree in which every function stands for itself. */
static inline const struct call_tree *tree_whole(const struct session *session)
{
	return session->shown ? &session->whole : &session->tree;
}
/* Makes `tree` again, as load objects are to be shown. */
void tree_refold(struct session *session);
void call_tree_fini(struct call_tree *tree);
/* Fills order, same and via. */
void tree_link(struct session *session);
/*
 * For every node whether no ancestor belongs to the same group; group[function].
 * The caller frees the array.
 */
bool *tree_first_of_group(struct session *session, const uint32_t *group, uint32_t group_count);

/* metric_values.c */
/* Whether any event of a measure has been seen. */
bool values_present(const struct session *session, unsigned measure);
/* The metric's weight of every node itself, in units of its measure; the caller frees the array. */
uint64_t *values_self(const struct session *session, const struct metric *metric);
/* Turns weights of nodes into weights of their subtrees. */
void values_accumulate(const struct session *session, uint64_t *values);
/* Per function, computed once. */
const struct function_sums *values_of_functions(struct session *session,
						const struct metric *metric);
/* Whether a measure is part of a metric, and what a weight of it is in the value. */
bool values_has(const struct metric *metric, size_t measure);
uint64_t values_part(const struct metric *metric, size_t measure, uint64_t weight);
/* The same of other sums, by their nodes. */
uint64_t *values_of_sums(const struct measure_sums *sums, const struct metric *metric);
/* The metric's value in one place of such sums, in units of its measure. */
uint64_t values_at(const struct measure_sums *sums, size_t place, const struct metric *metric);
/* A static metric's value. */
double values_static(const struct session *session, uint32_t function, const struct metric *metric);
/* Of such units, seconds, bytes or counts. */
double values_convert(const struct metric *metric, uint64_t value);
/* All measures, whatever their units: tells what has been seen at all. */
extern const struct metric values_any;

/* table.c: what all views do with their rows */
enum column_rule {
	COLUMNS_AS_ASKED,   /* exclusive and inclusive */
	COLUMNS_ATTRIBUTED, /* one attributed column per metric */
	COLUMNS_EXCLUSIVE,  /* one exclusive column per metric, no static but the name */
	COLUMNS_NO_STATIC,  /* exclusive and inclusive, no static but the name */
};
void table_init(struct table *table, const struct query *query, enum column_rule rule);
void table_set_rows(struct table *table, size_t count);
/* The flavour that the sort metric has in such a view. */
enum metric_flavor table_sort_flavor(const struct query *query, enum column_rule rule);

/* One thing to be ordered; `index` breaks ties. */
struct sort_key {
	union {
		double value;
		const char *text; /* when sorting by name */
	};
	uint32_t index;
};
/* What of the two the query sorts by. */
static inline struct sort_key sort_key_of(const struct query *query, double value, const char *text,
					  uint32_t index)
{
	struct sort_key key = {.index = index};

	if (query->sort.metric->unit == UNIT_TEXT)
		key.text = text;
	else
		key.value = value;
	return key;
}
void table_sort(struct sort_key *keys, size_t count, const struct query *query);
/*
 * The functions that any event touched, without <Total>, in the order of the
 * query; `sort` is its metric with a flavour that functions have.  The caller
 * frees the array.
 */
struct sort_key *functions_ordered(struct session *session, const struct query *query,
				   const struct metric_choice *sort, size_t *count);
/* Names a row after a function: its name, or "name [object]" where the query asks for it. */
void table_name_row(struct session *session, const struct query *query, struct table *table,
		    uint32_t function, struct row *row);

#endif
