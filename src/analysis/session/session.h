/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's state: what views are computed from.  Private to this module.
 *
 *   load objects and functions   one table for all processes
 *   call trees                   function-level trees for all processes
 *
 * Tables hold u32 ids into each other.  All of it depends on the experiments only, and grows by
 * what queries need; what they select and how they show it is in tally.h.
 */
#ifndef HELIO_ANALYSIS_SESSION_H
#define HELIO_ANALYSIS_SESSION_H

#include "analysis/index/index.h"
#include "analysis/metric/measure.h"
#include "analysis/session/object_files.h"
#include "analysis/session/watch.h"
#include "analysis/views/view.h"
#include "base/hash.h"
#include "experiment/experiment.h"
#include "experiment/unrecorded.h"
#include "format/counter.h"
#include "object/lines/lines.h"

#include <pthread.h>

#define OBJECT_UNKNOWN 0u /* the load object of what belongs to none */
#define NODE_NONE      UINT32_MAX
#define NODE_ROOT      0u

enum { NAME_STYLES = 3 };

/* Of a function that comes from the cache: its file has not been read yet. */
#define SYMBOL_UNSOUGHT (UINT32_MAX - 1)

struct load_object {
	const char *path;
	const char *name;	 /* base name */
	struct object *object;	 /* NULL: not opened so far, <Unknown>, DYNAMIC_FUNCTIONS */
	uint32_t file;		 /* its number among the session's files, or HASH_NONE: of none */
	bool is_file;		 /* symbols_object() opens it */
	uint64_t mtime;		 /* s, of the file that was measured */
	uint64_t file_size;	 /* bytes, likewise; 0: not known */
	const char *build_id;	 /* likewise; NULL: not known */
	const char *archive;	 /* the experiment's copy of it, or NULL */
	bool is_unsought;	 /* some of its functions have SYMBOL_UNSOUGHT */
	uint32_t rest_function;	 /* stands for addresses in no function; NODE_NONE: none so far */
	uint32_t linkage;	 /* its function @plt, once asked for; 0: not yet */
	bool used;		 /* an address of it has been looked up */
	bool is_program;	 /* what an experiment was made of, not a library */
	uint32_t stand_in;	 /* the function that all of its are where it is hidden, or 0 */
	struct diag_list doubts; /* matter only if it is used */
};

/* How the session came to know a function: a query sees no others than it would see alone. */
enum function_origin {
	ORIGIN_STACKS,	 /* it is in call stacks, or stands for what is in none */
	ORIGIN_INLINED,	 /* in those with inlined calls */
	ORIGIN_STAND_IN, /* for the functions of a load object that is hidden */
	ORIGIN_LISTED,	 /* no event touched it: a listing or a name led to it */
};

struct function {
	uint32_t object; /* index of the load object */
	uint32_t symbol; /* in it, or OBJECT_NO_FUNCTION, or SYMBOL_UNSOUGHT: symbols_symbol() */
	uint64_t address, size;
	uint32_t inlined; /* copies of it in others: number for lines_function(), or LINES_NONE */
	enum function_origin origin;
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

/* The call stacks of all processes, in which every function stands for itself. */
struct whole_tree {
	bool is_made;
	enum view_mode mode;
	bool inlines;  /* inlined functions are calls */
	bool is_plain; /* … but there are none: empty, the other tree is the same */
	struct call_tree tree;
	VEC(uint32_t *) nodes; /* by process: the tree node of every node that its events have */
	struct kept_sums kept; /* their sums, of a session that has no events */
};

/* Sums per function of one metric, in units of its measure; of the functions that there were. */
struct function_sums {
	const struct metric *metric;
	uint64_t total;
	size_t count;
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
	size_t row_count;		/* events of all kinds */
	uint8_t counters[COUNTERS_MAX]; /* the session's number of each, or COUNTER_NONE */
	/* By mode and node of its stacks: the node that it is shown as; NULL: as itself. */
	uint32_t *shown[VIEW_MODES];
	uint8_t *omp_class; /* by such node, enum omp_class; NULL: OpenMP was not seen */
	struct omp_construct *omp_constructs; /* by number, …; 0: none */
	size_t omp_construct_count;
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

/* An OpenMP construct of a process, as it was recorded. */
struct omp_construct {
	uint32_t function; /* that its code was made into; FUNCTION_UNKNOWN: not known */
	uint32_t first;	   /* the number of the first one with that function, or its own */
	uint32_t parent;   /* the number of the one that it is in, or 0 */
	enum format_omp_construct kind;
};

/* Where an experiment is, and its copies of load objects and sources. */
struct session_place {
	const char *path, *archives;
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
	VEC(struct load_object) objects;
	struct object *missing;	   /* for all that are not there; NULL: none is missing so far */
	struct object_files files; /* those that are */
	struct string_table object_keys; /* path and build-id → object index */
	VEC(struct function) functions;
	struct string_table dynamic_keys; /* name and source of an announced function → number */
	struct hash_map inlined_ids;	  /* object << 32 | its function of lines → function */
	struct hash_map function_ids;	  /* object << 32 | symbol (or that number) → function */
	/* Without and with inlined calls: session_tree(). */
	struct whole_tree trees[VIEW_MODES][2];
	bool has_modes, has_expert; /* machine mode differs from user mode; expert mode does */
	pthread_mutex_t lock;	    /* recursive; of all that follows from the experiments */
	struct tally_cache *tallies;
	struct watch *watch;	       /* of who has the session, or NULL */
	size_t row_count, rows_before; /* events of all processes; scanned in this pass */
	bool present[MEASURE_COUNT];   /* some event counts for the measure */
	VEC(struct index_object) own_objects[INDEX_FAMILIES]; /* the user's */
	struct string_table namesake_texts;		      /* theirs */
	struct io_rows *io_rows[IO_ROW_KINDS];		      /* NULL: not asked for yet */
	struct io_places *io_places;			      /* io_places.c; likewise */
	struct code *code;				      /* code.c; NULL: not asked for yet */
	struct data_map *data;				      /* data_map.c; likewise */
	struct diag_list warnings;
	bool is_settled; /* all call stacks are known */
	bool has_clock_data;
	bool has_trace[TRACE_KINDS]; /* some process has the file, be there events in it or not */
	bool only_gprofng;	     /* all experiments are of that tool, which records less */
	bool has_no_events;	     /* its sums come from the cache, see cache.h */
	char *kept;		     /* the file that they come from: texts point into it */
	char *kept_code;	     /* likewise, with the code */
	size_t kept_functions;	     /* those that the cache knows are the first */
	uint64_t sums_checksum;	     /* of that file, or of the one that was made */
	char *code_name;	     /* of the file that keeps its code, or NULL: nowhere */
	VEC(struct metric) counters; /* their metrics, by the session's numbers */
};

/* session.c */
/* An empty one. */
struct session *session_new(void);
/*
 * What all that asks a session does first and last.  One thread at a time; it may enter
 * again.
 */
void session_enter(struct session *session);
void session_leave(struct session *session);
/* The metrics to begin with, of what was recorded; or those of the specification. */
void session_default_metrics(const struct session *session, const char *spec,
			     struct metric_list *list);

/* The node that a mode shows in the place of one of a process's stacks: who walks a stack to show
 * it begins there. */
static inline uint32_t session_shown(const struct session_process *process, enum view_mode mode,
				     uint32_t node)
{
	return process->shown[mode] ? process->shown[mode][node] : node;
}

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
/* The function @plt of a load object; see analysis/tree/plt_calls.h. */
uint32_t symbols_linkage(struct session *session, uint32_t object);
/* A function without code. */
uint32_t symbols_add_made_up(struct session *session, uint32_t object, const char *name);
/* Whether a query sees the function at all, but for listings of code. */
bool symbols_is_seen(const struct session *session, uint32_t function, const struct query *query);
struct function_match symbols_match(struct session *session, uint32_t function);
/* As view_find_functions(), but for what is not asked for. */
enum { FIND_MEMBERS = 1, FIND_UNTOUCHED = 2 };
size_t symbols_search(struct session *session, const struct query *query, const char *name,
		      unsigned which, struct function_match **out);
/* Whether "relax" is what "double m::relax(double)" is called in its namespace or class. */
bool symbols_is_member(const char *full, const char *name);
/* Lives as long as the session. */
const char *symbols_name(struct session *session, uint32_t function, enum name_style style);
/* Of a part of a function what other tools call it, "f(int) [clone .cold]", to be freed, or NULL.
 */
char *symbols_part_name(struct session *session, uint32_t function, enum name_style style);

/* tree.c: the call tree and what follows from it */
/* The tree of a mode, with inlined calls or without, made when it is first asked for; one for what
 * does not differ. */
struct whole_tree *session_tree(struct session *session, enum view_mode mode, bool inlines);
void trees_init(struct session *session);
void trees_fini(struct session *session);
/* Adds a process's stacks. */
void tree_add_process(struct session *session, struct whole_tree *tree,
		      const struct experiment *experiment, const struct session_process *process);
/* No more nodes will be added: what that takes is let go. */
void tree_settle(struct call_tree *tree);
void tree_init(struct call_tree *tree);
uint32_t tree_add_node(struct call_tree *tree, uint32_t parent, uint32_t function);
void call_tree_fini(struct call_tree *tree);
/* Fills order, same and via. */
void tree_link(struct call_tree *tree, size_t functions);
/*
 * For every node whether no ancestor belongs to the same group; group[function].
 * The caller frees the array.
 */
bool *tree_first_of_group(const struct call_tree *tree, const uint32_t *group,
			  uint32_t group_count);

/* metric_values.c */
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
#endif
