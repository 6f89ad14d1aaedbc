/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions over events as programs, evaluated for FILTER_ROWS rows of a run at a time: a step
 * works on whole columns, so what is decided per row is decided by the processor's vector
 * units.  Programs stand on a stack of slots.  Private to this module.
 *
 * Questions about call stacks are answered once per node of the call tree, when the program is
 * made; for an event they are one look-up.
 */
#ifndef HELIO_ANALYSIS_FILTER_PROGRAM_H
#define HELIO_ANALYSIS_FILTER_PROGRAM_H

#include "analysis/filter/filter.h"
#include "analysis/filter/filter_syntax.h"
#include "analysis/session/session_state.h"

enum { FILTER_ROWS = ROWS_PAGE };

/* A column of a chunk. */
struct filter_slot {
	uint64_t value[FILTER_ROWS];
	uint8_t unknown[FILTER_ROWS]; /* 1: the row has no value, which then is 0 */
	bool any_unknown;	      /* unless set, `unknown` is not filled in */
};

/* What a program is evaluated for. */
struct filter_rows {
	const struct session *session;
	const struct session_process *process;
	const struct event_run *run; /* a piece */
	const uint32_t *shown;	     /* nodes of its stacks as the mode shows them, or NULL */
	const uint32_t *nodes;	     /* in the whole tree, of every node of the process's stacks */
	bool united;		     /* processes of one lineage are one in all experiments */
};

struct shape;
struct filter_rows filter_rows_of(const struct shape *shape, const struct session_process *process,
				  const struct event_run *run);

struct filter_property {
	struct filter_property_info info;
	unsigned kinds; /* bits of enum event_kind that have it */
	/* Fills in values, for such a kind; unknown where a row has none. */
	void (*load)(const struct filter_rows *rows, struct filter_slot *slot);
	const char *reason; /* where no kind has it: why, and what to ask instead */
	/* Called before rows are loaded, for what is computed from whole columns; or NULL. */
	void (*prepare)(struct session *session);
	bool needs_addresses;	/* of data, which not all counters have */
	bool needs_openmp;	/* what its runtime says, which events of all kinds may have */
	bool needs_java;	/* which threads of Java's have */
	bool needs_collections; /* of garbage, in which events of all kinds may lie */
};

/*
 * Why no event of the session has the property, and what records it; NULL: some may have it.
 * The caller frees it.
 */
char *filter_property_lack(const struct session *session, const struct filter_property *property);

/* The property of that name (upper case), or NULL. */
const struct filter_property *filter_property_find(const char *name);

enum filter_step_kind {
	STEP_NUMBER,	 /* pushes `number` */
	STEP_PROPERTY,	 /* pushes a property */
	STEP_HAS,	 /* pushes whether rows have it */
	STEP_MATCH,	 /* pushes match[tree node of the row's stack] */
	STEP_MATCH_CODE, /* pushes code_match[process][node of the row's stack] */
	STEP_COPY,	 /* pushes the slot `number` below the top */
	STEP_DROP_NEXT,	 /* removes the slot below the top */
	STEP_MEMBER,	 /* replaces the top by whether it is in `set` */
	STEP_UNARY,	 /* `verb` on the top */
	STEP_BINARY,	 /* `verb` on the two topmost */
	STEP_CHOOSE,
};

struct filter_step {
	enum filter_step_kind kind;
	enum filter_operator verb;
	uint64_t number; /* also: how many `set` has */
	const struct filter_property *property;
	const uint8_t *match;
	const uint8_t *const *code_match; /* by process: its index */
	const uint64_t *set;		  /* ascending */
};

struct filter_program {
	struct arena arena;
	VEC(struct filter_step) steps;
	size_t depth; /* slots that it needs */
};

/*
 * A program answers for the stacks of one of the session's trees.  Warnings about what can match
 * nothing go to diags too.
 */
enum status filter_compile(struct session *session, const struct whole_tree *tree, const char *text,
			   struct filter_program **program, struct diag_list *diags);
void filter_program_free(struct filter_program *program);
/* Bytes, most of them a program's answers for call stacks; of NULL: 0. */
size_t filter_program_size(const struct filter_program *program);

/* Slots to evaluate it in, for one thread at a time; free() them. */
struct filter_slot *filter_slots(const struct filter_program *program);
/* The results of rows: one of the slots. */
const struct filter_slot *filter_evaluate(const struct filter_program *program,
					  struct filter_slot *slots,
					  const struct filter_rows *rows);
/* chosen[i] &= whether the program holds for the row. */
void filter_choose(const struct filter_program *program, struct filter_slot *slots,
		   const struct filter_rows *rows, uint8_t *chosen);

/* filter_names.c: what patterns mean */

/* The functions that an argument of FNAME means, by function; NULL: the expression is wrong. */
uint8_t *filter_functions(struct session *session, const struct whole_tree *tree,
			  const char *expression, size_t *count, char **error);

/*
 * The openings of files whose whole name fits FILEIOVFD's argument, ascending; NULL: the expression
 * is wrong, *error says why.  The caller frees both.
 */
uint64_t *filter_openings(struct session *session, const char *expression, size_t *count,
			  char **error);
/* The same of TNAME, JGROUP, JPARENT: values of THREAD; the latter two of threads of Java. */
enum thread_name_kind { THREAD_NAME, THREAD_GROUP, THREAD_PARENT };
uint64_t *filter_threads(struct session *session, enum thread_name_kind kind,
			 const char *expression, size_t *count, char **error);
/* The same of FSTYPE: values of IOFSTYPE. */
uint64_t *filter_places(struct session *session, const char *expression, size_t *count,
			char **error);
/* The same of LOCKNAME: values of SLOCK. */
uint64_t *filter_locks(struct session *session, const char *expression, size_t *count,
		       char **error);
/* The same of JCLASS: values of JHCLASS. */
uint64_t *filter_classes(struct session *session, const char *expression, size_t *count,
			 char **error);
/* The same of DNAME: values of DOBJ that lie in a data object whose name fits. */
uint64_t *filter_data(struct session *session, const char *expression, size_t *count, char **error);

/* filter_stack.c: sets of functions, lines or instructions against call stacks */

/* The innermost item of a stack, and the stack of its caller, which has a smaller number. */
struct filter_frame {
	uint32_t parent, item;
};

/* Stacks as a tree; the first one is empty. */
struct filter_stacks {
	struct filter_frame *frames;
	size_t count;
	size_t items; /* their numbers are below this */
};

enum stack_question {
	LEAF_IN,      /* the innermost item is in one of the sets */
	STACK_IN,     /* all items of the stack are */
	STACK_SOME,   /* one of them is */
	STACK_HAS,    /* every item of the sets is on the stack */
	STACK_ORDERED /* items of the sets, one each, follow each other on it, in either direction
		       */
};

/* The answer for every stack; sets: by item. In the arena. */
const uint8_t *filter_stack_match(const struct filter_stacks *stacks, enum stack_question question,
				  uint8_t *const *sets, size_t count, struct arena *arena);
/* Of functions, for every node of the call tree. */
const uint8_t *filter_function_match(const struct session *session, const struct whole_tree *tree,
				     enum stack_question question, uint8_t *const *sets,
				     size_t count, struct arena *arena);

/* filter_code.c: stacks of lines or instructions */

struct filter_code {
	VEC(uint32_t)
	first; /* a pc of each item, see code.h; item 0: none, as where no line is
		  known */
	VEC(struct filter_stacks) stacks; /* by process */
};

struct filter_code *filter_code_make(struct session *session, enum stack_item kind);
void filter_code_free(struct filter_code *code);
/*
 * filter_names.c: the lines that LNAME's argument means, by item: "PATH:LINE" or "FILE:LINE" fits
 * as a whole; or the instructions of INAME's: "FUNCTION + 0x1c", as pcs has them.  As
 * filter_functions.
 */
uint8_t *filter_lines(struct session *session, const struct filter_code *code,
		      const char *expression, size_t *count, char **error);
uint8_t *filter_instructions(struct session *session, const struct filter_code *code,
			     const char *expression, size_t *count, char **error);
/* The instructions at an address of any load object. */
uint8_t *filter_code_at(struct session *session, const struct filter_code *code, uint64_t address,
			size_t *count);
/* By process: the answers for all nodes of its stacks. In the arena. */
const uint8_t *const *filter_code_match(const struct filter_code *code,
					enum stack_question question, uint8_t *const *sets,
					size_t count, struct arena *arena);

#endif
