/* SPDX-License-Identifier: Apache-2.0 */
/* The table of call stacks: nodes of (parent, pc). */
#ifndef HELIO_COLLECTOR_STACKTABLE_H
#define HELIO_COLLECTOR_STACKTABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

void stacktable_open(void);
/* Before the program gives up rights that are needed to make the file. */
void stacktable_make_file(void);
void stacktable_abandon(bool in_use);
/* The node of (parent, pc), or FORMAT_NO_STACK when there is no room. */
uint32_t stacktable_intern(uint32_t parent, uint64_t pc, void *unused);
/* The same of another epoch than the one in force. */
uint32_t stacktable_intern_in(uint32_t parent, uint64_t pc, uint32_t in_epoch);
/* The node of a pair (FORMAT_PC_PAIR) above a stack, or FORMAT_NO_STACK when there is no room. */
uint32_t stacktable_intern_pair(uint32_t stack, uint64_t pc);
/*
 * The node of `pc` on top of the stack of an event, which may be that of a pair: then the node of a
 * pair again.
 */
uint32_t stacktable_intern_leaf(uint32_t stack, uint64_t pc);
/* Whether there has been a pair: most programs have none, and writing an event need not look. */
extern _Atomic bool stacktable_pairs;
/* The parent of a pair, whose pc *pc becomes; of all others themselves, and *pc 0. */
uint32_t stacktable_of_pair(uint32_t id, uint64_t *pc);
void stacktable_next_epoch(void);
uint32_t stacktable_epoch(void);
/* The one of the latest stack: the one before while no stack is of this epoch yet. */
uint32_t stacktable_last_epoch(void);
/* Visits the nodes of this epoch from that id on, 0 for all; returns where to go on. */
uint32_t stacktable_visit(uint32_t from, void (*visit)(uint64_t pc));
/* … of all epochs. */
uint32_t stacktable_visit_all(uint32_t from, void (*visit)(uint64_t pc));

#endif
