/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks, as text and in JSON: a table of frames, and stacks as lists of numbers in it. */
#ifndef HELIO_PRESENT_STACKS_H
#define HELIO_PRESENT_STACKS_H

#include "base/json.h"
#include "present/output.h"

struct frame_list;
struct listed_stack;
struct stack_list;

void stacks_text(const struct output *output, const struct stack_list *list);
/* Adds "frames", "total" and "rest", and the order that the stacks are in. */
void stacks_add_members(json_t *object, const struct stack_list *list);
/* [{"name", "object", …}]: each frame once; the numbers in it of a stack. */
json_t *frames_json(const struct frame_list *list);
json_t *stack_json(const struct listed_stack *stack);
/* {"stack": [3, 1, 0], "e.totalcpu": 0.5}: row is from 1. */
json_t *stacks_row(const struct stack_list *list, size_t row);

#endif
