/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP's user mode: what a thread does in a construct is shown on top of the stack of the thread
 * that encountered it, recursively, without the frames of the runtime; what it does in the runtime
 * is a pseudo-function, by its state.
 *
 * A stack, outermost frame first:
 *
 *   [ … runtime ] [ code of the program ] [ runtime and what that calls ]
 *        outer            body                     inner
 *
 * The body, from the innermost call of the runtime on, is what the thread does in its construct.
 * Where there is no body (a worker that waits at the end of a region has returned from it), the
 * construct's function stands for it.
 */
#include "analysis/modes/modes.h"
#include "analysis/session/functions.h"
#include "analysis/session/omp_names.h"
#include "analysis/session/symbols.h"
#include "base/array.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* Whose code a frame is. */
enum owner {
	OWNER_UNKNOWN, /* not looked at yet */
	OWNER_PROGRAM,
	OWNER_RUNTIME,
	OWNER_SYSTEM, /* of the C library: the runtime's, where that has called it */
};

struct construct {
	bool is_known;
	uint32_t kind, parent, stack;
	uint64_t function;
	uint32_t base; /* the node that its code is shown on; NODE_NONE: not made yet */
	uint32_t entry;
};

struct omp {
	struct rewriting *rewriting;
	VEC(uint8_t) owners; /* by location, enum owner */
	VEC(struct construct) constructs;
	VEC(uint32_t) path; /* of the stack in hand, outermost frame first */
	unsigned depth;	    /* of constructs in constructs */
};

/* More is damage, or recursion that nobody can read. */
enum { CONSTRUCTS_DEEP = 256, CONSTRUCTS_ALWAYS = 1024, CONSTRUCTS_PER_ROW = 4 };

/* ---- whose frames ---- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum owner owner_of_file(const char *path)
{
	static const char *const of_runtime[] = {"libgomp.so", "libgomp-", "libomp.so", "libomp-",
						 "libiomp5.so"};
	const char *name = path_name(path);

	for (size_t i = 0; i < COUNT(of_runtime); i++)
		if (begins(name, of_runtime[i]))
			return OWNER_RUNTIME;
	return modes_is_system(path) ? OWNER_SYSTEM : OWNER_PROGRAM;
}

static enum owner owner_of(struct omp *omp, uint32_t location)
{
	const struct process *process = omp->rewriting->process;
	const struct stack_location *at = &process->stacks.locations.items[location];
	enum owner owner = OWNER_PROGRAM;
	uint32_t found;

	while (omp->owners.count <= location)
		*vec_push(&omp->owners) = OWNER_UNKNOWN;
	if (omp->owners.items[location] != OWNER_UNKNOWN)
		return omp->owners.items[location];
	found = at->pc < FORMAT_PC_LIMIT ? MAP_NONE
					 : experiment_map_find(&process->map, at->pc, at->epoch);
	if (found != MAP_NONE && process->map.segments.items[found].file != MAP_NONE)
		owner = owner_of_file(
			process->map.files.items[process->map.segments.items[found].file].path);
	omp->owners.items[location] = (uint8_t)owner;
	return owner;
}

/* ---- constructs ---- */

static struct construct *construct_at(struct omp *omp, uint64_t number)
{
	if (!number || number >= omp->constructs.count || !omp->constructs.items[number].is_known)
		return NULL;
	return &omp->constructs.items[number];
}

static void read_constructs(struct omp *omp)
{
	const struct experiment_trace *trace = &omp->rewriting->process->traces[TRACE_OMP];
	size_t most = CONSTRUCTS_ALWAYS + CONSTRUCTS_PER_ROW * trace->rows.count;

	for (size_t row = 0; row < trace->rows.count; row++) {
		uint64_t number = trace_field(trace, OMP_NUMBER, row);

		if (trace_type(trace, row) != OMP_CONSTRUCT || number >= most)
			continue;
		while (omp->constructs.count <= number)
			*vec_push(&omp->constructs) = (struct construct){0};
		omp->constructs.items[number] =
			(struct construct){.is_known = true,
					   .kind = (uint32_t)trace_field(trace, OMP_KIND, row),
					   .parent = (uint32_t)trace_field(trace, OMP_PARENT, row),
					   .stack = trace_stack(trace, row),
					   .function = trace_field(trace, OMP_FUNCTION, row),
					   .base = NODE_NONE,
					   .entry = NODE_NONE};
	}
}

/* ---- stacks ---- */

/* What of a stack is whose: body is path[from, to), inner what follows. */
struct parts {
	size_t from, to;
	bool has_outer;	 /* a call of the runtime lies outside of the body */
	bool in_runtime; /* the thread is in the runtime, or what that calls */
};

static struct parts find_parts(struct omp *omp, uint32_t node)
{
	const struct stack_node *nodes = omp->rewriting->process->stacks.nodes.items;
	struct parts parts = {0};
	size_t end;

	omp->path.count = 0;
	if (omp->rewriting->is_over)
		return parts;
	for (; node != STACK_ROOT; node = nodes[node].parent)
		*vec_push(&omp->path) = node;
	rewriting_spend(omp->rewriting, omp->path.count);
	for (size_t i = 0; i < omp->path.count / 2; i++) {
		uint32_t other = omp->path.items[i];

		omp->path.items[i] = omp->path.items[omp->path.count - 1 - i];
		omp->path.items[omp->path.count - 1 - i] = other;
	}
#define OWNER(i) owner_of(omp, nodes[omp->path.items[i]].location)
	for (end = omp->path.count; end && OWNER(end - 1) != OWNER_PROGRAM; end--)
		parts.in_runtime |= OWNER(end - 1) == OWNER_RUNTIME;
	parts.to = parts.in_runtime ? end : omp->path.count;
	for (parts.from = parts.to; parts.from; parts.from--)
		if (OWNER(parts.from - 1) == OWNER_RUNTIME)
			break;
#undef OWNER
	parts.has_outer = parts.from > 0;
	return parts;
}

/* ---- functions of constructs ---- */

/* Where the program is in a stack: its innermost frame, or STACK_ROOT. */
static uint32_t node_of_site(struct omp *omp, uint32_t node)
{
	struct parts parts = find_parts(omp, node);

	return parts.to ? omp->path.items[parts.to - 1] : STACK_ROOT;
}

/* … its location, or STACK_NO_LOCATION. */
static uint32_t site_of(struct omp *omp, uint32_t node)
{
	uint32_t site = node_of_site(omp, node);

	return site == STACK_ROOT ? STACK_NO_LOCATION
				  : omp->rewriting->process->stacks.nodes.items[site].location;
}

/* Where the function begins that has the code of a location; 0: nobody knows. */
static uint64_t begin_of(const struct omp *omp, uint32_t location)
{
	const struct rewriting *rewriting = omp->rewriting;
	uint64_t address;
	uint32_t object, function = symbols_place(rewriting->session, rewriting->experiment,
						  rewriting->process, location, &object, &address);

	if (function < FUNCTION_FIRST_REAL)
		return 0;
	return rewriting->process->stacks.locations.items[location].pc -
	       (address - rewriting->session->functions.items[function].address);
}

static uint64_t construct_of(const uint64_t *said)
{
	return said[OMP_CONTEXT_TASK] ? said[OMP_CONTEXT_TASK] : said[OMP_CONTEXT_REGION];
}

static struct event_context said_of(const struct omp *omp, const struct rewritten *pair)
{
	return context_table_get(&omp->rewriting->process->contexts, pair->context);
}

/* How many call stacks say that a construct has this function. */
struct vote {
	uint32_t construct, stacks;
	uint64_t function;
};
struct votes {
	VEC(struct vote) items;
	struct hash_map known;
	bool with_orphans; /* of constructs whose parents are not known, too */
};

static void vote(struct votes *votes, uint32_t construct, uint64_t function)
{
	uint64_t key = hash_u64(function) ^ construct;

	for (;; key++) { /* two of one key take neighbours */
		uint32_t fresh = (uint32_t)votes->items.count;
		uint32_t known = hash_map_put(&votes->known, key, fresh);

		if (known == fresh)
			*vec_push(&votes->items) = (struct vote){construct, 0, function};
		if (votes->items.items[known].construct == construct &&
		    votes->items.items[known].function == function) {
			votes->items.items[known].stacks++;
			return;
		}
	}
}

/* Where the function begins of a frame of the path in hand; 0: nobody knows. */
static uint64_t begin_of_frame(const struct omp *omp, size_t i)
{
	return begin_of(omp,
			omp->rewriting->process->stacks.nodes.items[omp->path.items[i]].location);
}

/* The parts of a stack in hand begin with what the construct around this one runs. */
static bool is_in_parent(struct omp *omp, const struct construct *construct,
			 const struct parts *parts)
{
	const struct construct *parent = construct_at(omp, construct->parent);

	return parent && parent->function && parts->has_outer && parts->from < parts->to &&
	       begin_of_frame(omp, parts->from) == parent->function;
}

/*
 * The function of a construct, by the stack of a thread that is in it: what the runtime calls.  A
 * region of one thread (`if (0)`) is called by the function that encounters it, instead; and a task
 * like that may have become a part of it, without a function.  0: not known.
 */
static uint64_t function_in(struct omp *omp, const struct construct *construct, uint32_t stack)
{
	uint32_t site = site_of(omp, construct->stack);
	uint64_t caller = site == STACK_NO_LOCATION ? 0 : begin_of(omp, site);
	struct parts parts = find_parts(omp, stack);
	size_t at = parts.from;

	if (!parts.has_outer || is_in_parent(omp, construct, &parts)) {
		if (construct->kind != OMP_PARALLEL || !caller)
			return 0;
		while (at < parts.to && begin_of_frame(omp, at) != caller)
			at++;
		at++;
	}
	return at < parts.to ? begin_of_frame(omp, at) : 0;
}

static void vote_by_stack(struct omp *omp, struct votes *votes, uint64_t number, uint32_t stack)
{
	const struct construct *construct = construct_at(omp, number), *parent;
	uint64_t function;

	if (!construct || construct->function)
		return;
	parent = construct_at(omp, construct->parent);
	if (parent && !parent->function && !votes->with_orphans)
		return;
	function = function_in(omp, construct, stack);
	if (function)
		vote(votes, (uint32_t)number, function);
}

/* By threads that work in constructs, or that encounter others there. */
static void collect_votes(struct omp *omp, struct votes *votes)
{
	for (size_t i = 0; i < omp->rewriting->pairs.count; i++) {
		const struct rewritten *pair = &omp->rewriting->pairs.items[i];
		const struct event_context context = said_of(omp, pair);
		const uint64_t *said = context.field[RUNTIME_OPENMP];

		if (said[OMP_CONTEXT_STATE] == OMP_STATE_WORK)
			vote_by_stack(omp, votes, construct_of(said), pair->stack);
	}
	for (size_t i = 0; i < omp->constructs.count; i++) {
		const struct construct *construct = construct_at(omp, i);

		if (construct)
			vote_by_stack(omp, votes, construct->parent, construct->stack);
	}
}

static void count_votes(struct omp *omp, const struct votes *votes)
{
	uint32_t *most = xcalloc(omp->constructs.count + 1, sizeof(*most));

	for (size_t i = 0; i < votes->items.count; i++) {
		const struct vote *one = &votes->items.items[i];

		if (one->stacks <= most[one->construct])
			continue;
		most[one->construct] = one->stacks;
		omp->constructs.items[one->construct].function = one->function;
	}
	free(most);
}

/* False: nothing more was found. */
static bool find_by_votes(struct omp *omp, bool with_orphans)
{
	struct votes votes = {.with_orphans = with_orphans};
	bool any;

	collect_votes(omp, &votes);
	count_votes(omp, &votes);
	any = votes.items.count > 0;
	hash_map_fini(&votes.known);
	vec_fini(&votes.items);
	return any;
}

/*
 * A runtime that speaks OMPT says where a construct is, not what its function is: that is what most
 * stacks of threads that work in it say, or of another one that is at the same place.
 */
static void find_functions(struct omp *omp)
{
	struct hash_map functions = {0}; /* place → construct whose function is known */
	bool any = true;

	/* The outer ones first: what lies around a construct tells where it begins. */
	for (int depth = 0; any && depth < CONSTRUCTS_DEEP; depth++)
		any = find_by_votes(omp, false);
	find_by_votes(omp, true);
	for (uint32_t i = 0; i < omp->constructs.count; i++)
		if (omp->constructs.items[i].is_known && omp->constructs.items[i].function)
			hash_map_put(&functions, site_of(omp, omp->constructs.items[i].stack), i);
	for (uint32_t i = 0; i < omp->constructs.count; i++) {
		struct construct *construct = &omp->constructs.items[i];
		uint32_t known = construct->is_known && !construct->function
					 ? hash_map_get(&functions, site_of(omp, construct->stack))
					 : HASH_NONE;

		if (known != HASH_NONE)
			construct->function = omp->constructs.items[known].function;
	}
	hash_map_fini(&functions);
}

/* ---- what is shown ---- */

/* path[from, to) on top of `node`, without what is the runtime's. */
static uint32_t put_path(struct omp *omp, uint32_t node, size_t from, size_t to)
{
	bool same = node == STACK_ROOT && !from; /* so far as it was recorded */

	for (size_t i = from; i < to; i++) {
		uint32_t own = omp->path.items[i];
		uint32_t location = omp->rewriting->process->stacks.nodes.items[own].location;

		if (owner_of(omp, location) == OWNER_RUNTIME)
			same = false;
		else
			node = same ? own : rewriting_node(omp->rewriting, node, location);
	}
	return node;
}

static uint32_t show_in(struct omp *omp, uint32_t node, uint64_t construct, bool at_end,
			bool *in_runtime);

/* What the code of a construct is called by. */
static uint32_t base_of(struct omp *omp, uint64_t number)
{
	struct construct *construct = construct_at(omp, number);
	bool in_runtime;
	uint32_t base;

	if (construct->base != NODE_NONE)
		return construct->base;
	base = show_in(omp, construct->stack, construct->parent, false, &in_runtime);
	construct->base = base;
	return base;
}

/* The address space in which a stack was recorded. */
static uint32_t epoch_of(const struct omp *omp, uint32_t node)
{
	const struct stack_tree *stacks = &omp->rewriting->process->stacks;

	return node == STACK_ROOT
		       ? UINT32_MAX
		       : stacks->locations.items[stacks->nodes.items[node].location].epoch;
}

/* Where the construct's function begins, which is known. */
static uint32_t entry_location(struct omp *omp, struct construct *construct)
{
	if (construct->entry == NODE_NONE)
		construct->entry = rewriting_location(omp->rewriting, construct->function,
						      epoch_of(omp, construct->stack));
	return construct->entry;
}

/* The construct's function itself, as called from there. */
static uint32_t entry_of(struct omp *omp, uint64_t number)
{
	uint32_t base = base_of(omp, number);
	struct construct *construct = construct_at(omp, number);

	if (construct->function < FORMAT_PC_LIMIT)
		return base;
	return rewriting_node(omp->rewriting, base, entry_location(omp, construct));
}

/*
 * A stack of a thread that works in a construct (0: none), without the pseudo-function.  at_end: it
 * has returned from the construct's function.
 */
static uint32_t show_in(struct omp *omp, uint32_t node, uint64_t construct, bool at_end,
			bool *in_runtime)
{
	struct parts parts = find_parts(omp, node);
	uint32_t shown;

	*in_runtime = parts.in_runtime;
	if (omp->depth >= CONSTRUCTS_DEEP || !construct_at(omp, construct))
		return put_path(omp, STACK_ROOT, 0, parts.to);
	omp->depth++;
	/* a task that is a part of what is around it */
	while (construct_at(omp, construct)->kind == OMP_TASK &&
	       !construct_at(omp, construct)->function &&
	       is_in_parent(omp, construct_at(omp, construct), &parts))
		construct = construct_at(omp, construct)->parent;
	if (at_end || (parts.in_runtime && !parts.has_outer) || parts.from == parts.to) {
		shown = entry_of(omp, construct);
	} else if (!parts.has_outer) { /* a jump has left the construct */
		shown = put_path(omp, STACK_ROOT, 0, parts.to);
	} else {
		uint32_t base = base_of(omp, construct);

		parts = find_parts(omp, node); /* the path in hand is another one now */
		shown = put_path(omp, base, parts.from, parts.to);
	}
	omp->depth--;
	return shown;
}

/* ---- states ---- */

static const struct {
	enum omp_class class;
	enum format_pseudo_pc pc; /* 0: none, outside of the runtime */
} states[OMP_STATES] = {
	[OMP_STATE_NONE] = {OMP_CLASS_SERIAL, 0},
	[OMP_STATE_SERIAL] = {OMP_CLASS_SERIAL, 0},
	[OMP_STATE_WORK] = {OMP_CLASS_WORK, 0},
	[OMP_STATE_REDUCTION] = {OMP_CLASS_REDUCTION, FORMAT_PC_OMP_REDUCTION},
	[OMP_STATE_OVERHEAD] = {OMP_CLASS_OVERHEAD, FORMAT_PC_OMP_OVERHEAD},
	[OMP_STATE_IDLE] = {OMP_CLASS_IDLE, FORMAT_PC_OMP_IDLE},
	[OMP_STATE_IMPLICIT_BARRIER] = {OMP_CLASS_IMPLICIT_BARRIER, FORMAT_PC_OMP_IMPLICIT_BARRIER},
	[OMP_STATE_REGION_BARRIER] = {OMP_CLASS_IMPLICIT_BARRIER, FORMAT_PC_OMP_IMPLICIT_BARRIER},
	[OMP_STATE_EXPLICIT_BARRIER] = {OMP_CLASS_EXPLICIT_BARRIER, FORMAT_PC_OMP_EXPLICIT_BARRIER},
	[OMP_STATE_LOCK_WAIT] = {OMP_CLASS_LOCK, FORMAT_PC_OMP_LOCK_WAIT},
	[OMP_STATE_CRITICAL_WAIT] = {OMP_CLASS_CRITICAL, FORMAT_PC_OMP_CRITICAL_WAIT},
	[OMP_STATE_ORDERED_WAIT] = {OMP_CLASS_ORDERED, FORMAT_PC_OMP_ORDERED_WAIT},
	[OMP_STATE_ATOMIC_WAIT] = {OMP_CLASS_ATOMIC, FORMAT_PC_OMP_ATOMIC_WAIT},
	[OMP_STATE_TASK_WAIT] = {OMP_CLASS_TASK, FORMAT_PC_OMP_TASK_WAIT},
};

/* Events that other readers made (no stack was recorded, before the recording) stay as they are. */
static bool is_pseudo_stack(const struct omp *omp, uint32_t node)
{
	const struct stack_tree *stacks = &omp->rewriting->process->stacks;

	return stacks->locations.items[stacks->nodes.items[node].location].pc < FORMAT_PC_LIMIT &&
	       stacks->nodes.items[node].parent == STACK_ROOT;
}

static void show(void *arg, struct rewritten *pair)
{
	struct omp *omp = arg;
	const struct event_context context = said_of(omp, pair);
	const uint64_t *said = context.field[RUNTIME_OPENMP];
	uint64_t state = said[OMP_CONTEXT_STATE], construct = construct_of(said);
	enum format_pseudo_pc pc;
	bool in_runtime;
	uint32_t shown;

	if (state >= OMP_STATES)
		state = OMP_STATE_NONE;
	pc = states[state].pc;
	pair->omp_class = (uint8_t)states[state].class;
	if (omp->rewriting->is_over || is_pseudo_stack(omp, pair->stack))
		return;
	shown = show_in(omp, pair->shown[VIEW_USER], construct, state == OMP_STATE_REGION_BARRIER,
			&in_runtime);
	if (!pc && in_runtime) {
		/* A thread of the runtime's that has not been given anything to do so far. */
		bool is_idle = shown == STACK_ROOT || !find_parts(omp, pair->stack).to;

		pc = is_idle ? FORMAT_PC_OMP_IDLE : FORMAT_PC_OMP_OVERHEAD;
		pair->omp_class = is_idle ? OMP_CLASS_IDLE : OMP_CLASS_OVERHEAD;
	}
	if (pair->omp_class == OMP_CLASS_IDLE)
		shown = STACK_ROOT;
	if (pc)
		shown = rewriting_node(omp->rewriting, shown,
				       rewriting_pseudo_location(omp->rewriting, pc));
	pair->shown[VIEW_USER] = pair->shown[VIEW_EXPERT] = shown;
}

static void keep_classes(const struct rewriting *rewriting)
{
	uint8_t *classes = xcalloc(rewriting->process->stacks.nodes.count, 1);

	for (size_t i = 0; i < rewriting->pairs.count; i++)
		classes[rewriting->pairs.items[i].node] = rewriting->pairs.items[i].omp_class;
	rewriting->scanned->omp_class = classes;
}

/* Of a construct whose function is not known: where it is encountered. */
static uint64_t key_of_place(const struct rewriting *rewriting, uint32_t site)
{
	enum { PLACE = 63, OBJECT_SHIFT = 48 };
	uint32_t object;
	uint64_t address;

	if (site == STACK_NO_LOCATION ||
	    symbols_place(rewriting->session, rewriting->experiment, rewriting->process, site,
			  &object, &address) == FUNCTION_UNKNOWN)
		return 0;
	return (UINT64_C(1) << PLACE | (uint64_t)object << OBJECT_SHIFT) ^ address;
}

static struct omp_construct kept_construct(struct omp *omp, struct construct *construct)
{
	const struct rewriting *rewriting = omp->rewriting;
	struct omp_construct kept = {.function = FUNCTION_UNKNOWN,
				     .site = STACK_NO_LOCATION,
				     .parent = construct->parent,
				     .kind = (enum format_omp_construct)construct->kind};
	uint32_t object;
	uint64_t address;

	if (construct->function >= FORMAT_PC_LIMIT)
		kept.function =
			symbols_place(rewriting->session, rewriting->experiment, rewriting->process,
				      entry_location(omp, construct), &object, &address);
	if (construct->is_known)
		kept.node = node_of_site(omp, construct->stack);
	if (construct->is_known && kept.function == FUNCTION_UNKNOWN)
		kept.site = site_of(omp, construct->stack);
	kept.key = kept.function == FUNCTION_UNKNOWN ? key_of_place(rewriting, kept.site)
						     : kept.function;
	return kept;
}

/* Constructs by their functions: one that was reached in several ways is many. */
static void keep_constructs(struct omp *omp)
{
	struct session *session = omp->rewriting->session;
	size_t process = (size_t)(omp->rewriting->scanned - session->scanned.items);
	size_t count = omp->constructs.count;
	struct omp_construct *kept = xcalloc(count + 1, sizeof(*kept));

	for (uint32_t i = 1; i < count; i++) {
		kept[i] = kept_construct(omp, &omp->constructs.items[i]);
		kept[i].number = omp_number_make(session, process, i, &kept[i]);
	}
	omp->rewriting->scanned->omp_constructs = kept;
	omp->rewriting->scanned->omp_construct_count = count;
}

static void rewrite(struct rewriting *rewriting)
{
	struct omp omp = {.rewriting = rewriting};

	read_constructs(&omp);
	find_functions(&omp);
	rewriting_pairs(rewriting, show, &omp);
	keep_classes(rewriting);
	keep_constructs(&omp);
	vec_fini(&omp.owners);
	vec_fini(&omp.constructs);
	vec_fini(&omp.path);
}

const struct mode_runtime mode_omp = {.runtime = RUNTIME_OPENMP, .rewrite = rewrite};
