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
#ifndef HELIO_ANALYSIS_SESSION_STATE_H
#define HELIO_ANALYSIS_SESSION_STATE_H

#include "analysis/index/index.h"
#include "analysis/metric/measure.h"
#include "analysis/metric/metric.h"
#include "analysis/session/object_files.h"
#include "analysis/session/session.h"
#include "analysis/session/view_mode.h"
#include "analysis/session/watch.h"
#include "analysis/tree/call_tree.h"
#include "base/hash.h"
#include "experiment/experiment.h"
#include "experiment/unrecorded.h"
#include "format/counter.h"
#include "object/lines/lines.h"

#include <pthread.h>

#define OBJECT_UNKNOWN 0u /* the load object of what belongs to none */

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

/* What events are grouped by. */
struct index_object {
	const char *name, *title, *expression;
	unsigned label; /* how a value becomes the name of a row, see view_index.c */
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
	bool *is_compiled;  /* by such node: it is in code that a Java machine has compiled; NULL:
			       that was not seen */
	bool *in_mpi;	    /* by such node: it is in a call of MPI; NULL: there is none */
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
	uint32_t site;	   /* the location that encounters it, or STACK_NO_LOCATION */
	uint32_t node;	   /* … on the stack that encounters it, or STACK_ROOT */
	uint64_t key;	   /* of its function, or else of its place; 0: neither is known */
	uint32_t number;   /* in the session: one of all constructs with that key */
	uint32_t parent;   /* the number of the one that it is in, or 0 */
	enum format_omp_construct kind;
};

/* The construct that a number of the session's was made for; construct 0: none. */
struct omp_numbered {
	uint32_t process; /* index in `scanned` */
	uint32_t construct;
};

/* Numbers of constructs that hold for all processes (omp_numbers.c). */
struct omp_numbers {
	VEC(struct omp_numbered) items; /* by number */
	struct hash_map by_key;
	struct hash_map by_name;   /* name << 32 | rank of the function → number */
	struct string_table names; /* load object and symbol */
	struct hash_map rank_of;   /* name << 32 | object → place in ranks */
	VEC(uint32_t) ranks;	   /* functions of one name that were met in an object */
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
	struct omp_numbers omp_numbers;
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
	bool has_java;		    /* call stacks of Java's methods */
	pthread_mutex_t lock;	    /* recursive; of all that follows from the experiments */
	struct tally_cache *tallies;
	struct watch *watch;	       /* of who has the session, or NULL */
	unsigned tallies_held;	       /* by who has it */
	size_t row_count, rows_before; /* events of all processes; scanned in this pass */
	bool present[MEASURE_COUNT];   /* some event counts for the measure */
	VEC(struct index_object) own_objects[INDEX_FAMILIES]; /* the user's */
	struct string_table namesake_texts;		      /* theirs */
	struct io_rows *io_rows[IO_ROW_KINDS];		      /* NULL: not asked for yet */
	struct mpi_worlds *mpi_worlds;		      /* mpi_world.c; NULL: not asked for yet */
	void (*free_mpi_worlds)(struct mpi_worlds *); /* what made it sets it */
	struct io_places *io_places;		      /* io_places.c; likewise */
	struct lock_rows *lock_rows;		      /* lock_rows.c; likewise */
	struct java_classes *java_classes;	      /* java_classes.c; likewise */
	struct code *code;			      /* code.c; NULL: not asked for yet */
	struct data_map *data;			      /* data_map.c; likewise */
	struct diag_list warnings;
	const struct diag_list *told; /* those that session_warnings() told last, or NULL */
	bool is_settled;	      /* all call stacks are known */
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

/* session_open.c */
/* An empty one. */
struct session *session_new(void);
/*
 * What all that asks a session does first and last.  One thread at a time; it may enter
 * again.
 */
void session_enter(struct session *session);
void session_leave(struct session *session);
/* The node that a mode shows in the place of one of a process's stacks: who walks a stack to show
 * it begins there. */
static inline uint32_t session_shown(const struct session_process *process, enum view_mode mode,
				     uint32_t node)
{
	return process->shown[mode] ? process->shown[mode][node] : node;
}

#endif
