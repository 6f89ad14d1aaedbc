/* SPDX-License-Identifier: Apache-2.0 */
/* The call trees of a session, and what follows from their form.  Private to this module. */
#ifndef HELIO_ANALYSIS_TREE_H
#define HELIO_ANALYSIS_TREE_H

#include "analysis/session/session_state.h"

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
/* Fills same and via. */
void tree_link(struct call_tree *tree, size_t functions);
/*
 * For every node whether no ancestor belongs to the same group; group[function].
 * The caller frees the array.
 */
bool *tree_first_of_group(const struct call_tree *tree, const uint32_t *group,
			  uint32_t group_count);

#endif
