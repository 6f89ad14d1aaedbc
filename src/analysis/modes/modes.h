/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View modes: call stacks as the programmer thinks of them (user), as they were recorded (machine),
 * and between the two (expert).  Private to this module.
 *
 * A mode is a rewriting of stacks, made once, when an experiment is opened and before its call tree
 * is made, for each distinct (call stack, context) that its events have (experiment/contexts.h):
 *
 *   - such a pair gets a node of its own among the process's stacks, beside that of its stack, with
 *     the same parent and location: in machine mode nothing changes.  Events have that node.
 *   - Each runtime whose contexts there are says what other node a mode shows in its place.
 *
 * So an event stays one event with one leaf: totals are equal in all modes.  What walks a stack
 * goes on walking stacks; it only begins at session_shown().
 */
#ifndef HELIO_ANALYSIS_MODES_H
#define HELIO_ANALYSIS_MODES_H

#include "analysis/session/session_state.h"

/* One process, while its stacks are rewritten. */
struct rewriting {
	struct session *session;
	const struct experiment *experiment;
	struct process *process;
	struct session_process *scanned;
	struct pair_set added;	  /* (parent, location) → node that was added */
	struct hash_map pseudo;	  /* address that stands for no code → its location */
	struct pair_set variants; /* (stack, context) → that pair */
	VEC(struct rewritten) pairs;
	/* What may be spent yet, by how much was recorded: damage may ask for the square of it. */
	uint64_t nodes_left, steps_left;
	bool is_over; /* all was spent: the other pairs stay as they were recorded */
};

/* A pair of call stack and context that events have. */
struct rewritten {
	uint32_t stack, context; /* the node of the stack alone */
	uint32_t node;		 /* its own */
	uint32_t shown[VIEW_MODES];
	uint8_t omp_class; /* enum omp_class */
	bool is_compiled;  /* in code that a Java machine has compiled */
};

/* What there is of a runtime. */
struct mode_runtime {
	enum format_runtime runtime;
	bool has_expert; /* its expert mode is another one than its user mode */
	/* Fills pairs' shown, for all modes but VIEW_MACHINE: the node that was there until then
	 * is what it goes by. */
	void (*rewrite)(struct rewriting *rewriting);
};

extern const struct mode_runtime mode_omp, mode_java;

/* Fills all pairs, each by `show`, which leaves stacks alone once the rewriting is over. */
void rewriting_pairs(struct rewriting *rewriting,
		     void (*show)(void *runtime, struct rewritten *pair), void *runtime);
/* A stack of so many frames was walked. */
void rewriting_spend(struct rewriting *rewriting, size_t frames);
/* What stacks of it are made of: the node, made if there is none and the rewriting is not over. */
uint32_t rewriting_node(struct rewriting *rewriting, uint32_t parent, uint32_t location);
/* The location of a pseudo-function, and of an address in an epoch. */
uint32_t rewriting_pseudo_location(struct rewriting *rewriting, enum format_pseudo_pc pc);
uint32_t rewriting_location(struct rewriting *rewriting, uint64_t pc, uint32_t epoch);

/* After attribution_events(), before tree_add_process(). */
void modes_rewrite(struct session *session, const struct experiment *experiment,
		   struct process *process, struct session_process *scanned);
/* After that: user mode ends the stacks of calls of MPI at the function that was called. */
void modes_fold_mpi(struct session *session, const struct experiment *experiment,
		    struct process *process, struct session_process *scanned);
/* What is known by node, for nodes that have been added since, which no event has. */
void modes_grow(struct session_process *scanned, size_t before, size_t count);
/* Whether a file is of the C library, whose functions belong to who calls them. */
bool modes_is_system(const char *path);
/* After that, for metrics of the clock. */
void modes_find_mpi(const struct process *process, struct session_process *scanned);
void modes_free(struct session_process *scanned);

#endif
