/* SPDX-License-Identifier: Apache-2.0 */
/* Load objects, functions and their names.  Private to this module. */
#ifndef HELIO_ANALYSIS_SYMBOLS_H
#define HELIO_ANALYSIS_SYMBOLS_H

#include "analysis/session/functions.h"
#include "analysis/session/session_state.h"

void symbols_init(struct session *session);
void symbols_fini(struct session *session);
/* A load object by itself, with all its functions. */
void symbols_add_file(struct session *session, const struct object_request *request);
/* The session's number of a load object. */
uint32_t symbols_place_object(struct session *session, const struct experiment *experiment,
			      const struct map_file *file);
/* The function of every location of a process's stacks; the caller frees the array. */
uint32_t *symbols_resolve(struct session *session, const struct experiment *experiment,
			  const struct process *process);
/* The function of one location, and where in which load object it is; of OBJECT_UNKNOWN the pc. */
uint32_t symbols_place(struct session *session, const struct experiment *experiment,
		       const struct process *process, uint32_t location, uint32_t *object,
		       uint64_t *address);
/* A location of a process's stacks: "f + 0x0000001c". Lives as long as the session. */
const char *place_of_code(struct session *session, const struct experiment *experiment,
			  const struct process *process, uint32_t location, enum name_style style);
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
/* The path of the source file of what has no code of its own (inlined) or whose compiler named one;
 * or NULL. */
const char *symbols_source(struct session *session, uint32_t function);
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
/* Whether "relax" is what "double m::relax(double)" or "long relax<long>()" is called in its
 * namespace or class, or "m::relax" what "m::(anonymous namespace)::relax()" is in its source. */
bool symbols_is_member(const char *full, const char *name);
/* Lives as long as the session. */
const char *symbols_name(struct session *session, uint32_t function, enum name_style style);
/* Of a part of a function what other tools call it, "f(int) [clone .cold]", to be freed, or NULL.
 */
char *symbols_part_name(struct session *session, uint32_t function, enum name_style style);

#endif
