/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java's user and expert modes.  An event of a thread that runs Java has two stacks: of methods,
 * and of the machine's code.  A stack of the machine, innermost frame first, is
 *
 *   [ native code ] [ compiled methods, interpreter, stubs ] [ native code ] [ … ] … thread's start
 *
 * The user sees the methods, and on top of each native one what of the native code is not the
 * machine's own.  In expert mode the machine's frames are there as well, where they are innermost,
 * and threads that run no Java have their own stacks; in user mode these are <JVM-System>.
 */
#include "analysis/modes/modes.h"
#include "base/array.h"
#include "base/path.h"
#include "object/names/java_name.h"

#include <string.h>

enum owner {
	OWNER_UNKNOWN, /* not looked at yet */
	OWNER_NATIVE,
	OWNER_SYSTEM,	/* the C library: native code calls it, the machine does, and signals are
			   returned from there; no method is in it */
	OWNER_MACHINE,	/* libjvm */
	OWNER_STUB,	/* what the machine has made at run time: its interpreter, and pieces */
	OWNER_COMPILED, /* the same: methods */
};

/* Native frames between code that the machine has made: path[from, to), innermost first. */
struct segment {
	size_t from, to;
};

struct node_list {
	uint32_t *items;
	size_t count, capacity;
};

struct java {
	struct rewriting *rewriting;
	VEC(uint8_t) owners;	      /* by location, enum owner */
	struct node_list path;	      /* of the stack in hand, innermost frame first */
	struct node_list methods;     /* likewise, of the Java stack beside it */
	VEC(struct segment) segments; /* that native methods may have called, innermost first */
};

/* ---- whose frames ---- */

static enum owner owner_of_file(const char *name)
{
	static const char *const of_system[] = {"libc.so", "libc-", "ld-linux", "[vdso]"};

	if (!strcmp(name, "libjvm.so"))
		return OWNER_MACHINE;
	for (size_t i = 0; i < COUNT(of_system); i++)
		if (!strncmp(name, of_system[i], strlen(of_system[i])))
			return OWNER_SYSTEM;
	return OWNER_NATIVE;
}

static enum owner find_owner(const struct process *process, const struct stack_location *at)
{
	uint32_t found = at->pc < FORMAT_PC_LIMIT
				 ? MAP_NONE
				 : experiment_map_find(&process->map, at->pc, at->epoch);
	const struct map_segment *segment;

	/* Nothing else runs that is in no file: code that the machine has not told of yet. */
	if (found == MAP_NONE)
		return at->pc < FORMAT_PC_LIMIT ? OWNER_NATIVE : OWNER_STUB;
	segment = &process->map.segments.items[found];
	if (segment->function != MAP_NONE)
		return java_is_method(process->map.functions.items[segment->function].name)
			       ? OWNER_COMPILED
			       : OWNER_STUB;
	return owner_of_file(path_name(process->map.files.items[segment->file].path));
}

static enum owner owner_of(struct java *java, uint32_t node)
{
	const struct process *process = java->rewriting->process;
	uint32_t location = process->stacks.nodes.items[node].location;

	while (java->owners.count <= location)
		*vec_push(&java->owners) = OWNER_UNKNOWN;
	if (java->owners.items[location] == OWNER_UNKNOWN)
		java->owners.items[location] =
			(uint8_t)find_owner(process, &process->stacks.locations.items[location]);
	return java->owners.items[location];
}

static bool is_made(struct java *java, uint32_t node)
{
	return owner_of(java, node) >= OWNER_STUB;
}

/* ---- stacks ---- */

static void read_path(const struct java *java, uint32_t node, struct node_list *out)
{
	const struct stack_node *nodes = java->rewriting->process->stacks.nodes.items;

	out->count = 0;
	for (; node != STACK_ROOT; node = nodes[node].parent)
		*vec_push(out) = node;
	rewriting_spend(java->rewriting, out->count);
}

static const struct stack_location *location_of(const struct java *java, uint32_t node)
{
	const struct stack_tree *stacks = &java->rewriting->process->stacks;

	return &stacks->locations.items[stacks->nodes.items[node].location];
}

/* One that has no bytecode. */
static bool is_native_method(const struct java *java, uint32_t node)
{
	uint64_t pc = location_of(java, node)->pc;

	return pc & FORMAT_PC_JAVA &&
	       (pc & ((1u << FORMAT_JAVA_BYTECODE_BITS) - 1)) == FORMAT_JAVA_NATIVE;
}

/* Native code that compiled code has called, but for what only the machine's services are. */
static void find_segments(struct java *java)
{
	size_t from = 0;

	java->segments.count = 0;
	for (size_t i = 0; i < java->path.count; i++) {
		if (!is_made(java, java->path.items[i]))
			continue;
		if (i > from && owner_of(java, java->path.items[i - 1]) == OWNER_NATIVE)
			*vec_push(&java->segments) = (struct segment){from, i};
		from = i + 1;
	}
}

static uint32_t put_frame(struct java *java, uint32_t parent, uint32_t node)
{
	uint32_t location = java->rewriting->process->stacks.nodes.items[node].location;

	return rewriting_node(java->rewriting, parent, location);
}

/* A segment on top of a method, from its outermost frame to the first that is the machine's. */
static uint32_t put_segment(struct java *java, uint32_t shown, const struct segment *segment)
{
	for (size_t i = segment->to; i-- > segment->from;) {
		if (owner_of(java, java->path.items[i]) == OWNER_MACHINE)
			break;
		shown = put_frame(java, shown, java->path.items[i]);
	}
	return shown;
}

/* All that is inside of the innermost method. */
static uint32_t put_inner(struct java *java, uint32_t shown)
{
	size_t to = 0;

	while (to < java->path.count && !is_made(java, java->path.items[to]))
		to++;
	/* a stack that could not be followed: whose it is, is unknown */
	if (to == java->path.count)
		return shown;
	while (to--)
		shown = put_frame(java, shown, java->path.items[to]);
	return shown;
}

/*
 * The methods, innermost first, with the segments of those that are native.  They go together from
 * the innermost on; the stack of the machine may end before the other does.
 */
static uint32_t splice(struct java *java, bool expert)
{
	size_t count = java->methods.count, natives = 0, used;
	uint32_t shown = STACK_ROOT;
	bool same = true;

	for (size_t i = 0; i < count; i++)
		natives += is_native_method(java, java->methods.items[i]);
	used = natives;
	for (size_t i = count; i--;) {
		uint32_t method = java->methods.items[i];

		shown = same ? method : put_frame(java, shown, method);
		if (!is_native_method(java, method))
			continue;
		used--;
		if ((expert && !i) || used >= java->segments.count)
			continue;
		uint32_t with = put_segment(java, shown, &java->segments.items[used]);

		same &= with == shown;
		shown = with;
	}
	return expert ? put_inner(java, shown) : shown;
}

static bool is_of_machine(struct java *java)
{
	for (size_t i = 0; i < java->path.count; i++)
		if (owner_of(java, java->path.items[i]) == OWNER_MACHINE)
			return true;
	return false;
}

static uint32_t pseudo_node(struct java *java, enum format_pseudo_pc pc)
{
	return rewriting_node(java->rewriting, STACK_ROOT,
			      rewriting_pseudo_location(java->rewriting, pc));
}

static void show(void *arg, struct rewritten *pair)
{
	struct java *java = arg;

	if (java->rewriting->is_over || location_of(java, pair->stack)->pc < FORMAT_PC_LIMIT)
		return;

	const struct event_context context =
		context_table_get(&java->rewriting->process->contexts, pair->context);
	const uint64_t *said = context.field[RUNTIME_JAVA];
	uint64_t reason = said[JAVA_CONTEXT_REASON];

	read_path(java, pair->stack, &java->path);
	read_path(java, (uint32_t)said[JAVA_CONTEXT_STACK], &java->methods);
	pair->is_compiled = java->path.count && java->methods.count &&
			    owner_of(java, java->path.items[0]) == OWNER_COMPILED;
	if (java->methods.count) {
		find_segments(java);
		pair->shown[VIEW_USER] = splice(java, false);
		pair->shown[VIEW_EXPERT] = splice(java, true);
	} else if (reason && reason != FORMAT_JAVA_NO_FRAME) {
		pair->shown[VIEW_USER] = pair->shown[VIEW_EXPERT] =
			pseudo_node(java, FORMAT_PC_JAVA_NO_STACK);
	} else if (is_of_machine(java)) {
		pair->shown[VIEW_USER] = pseudo_node(java, FORMAT_PC_JAVA_SYSTEM);
	}
}

static void keep_compiled(const struct rewriting *rewriting)
{
	bool *is_compiled = xcalloc(rewriting->process->stacks.nodes.count, sizeof(*is_compiled));

	for (size_t i = 0; i < rewriting->pairs.count; i++)
		is_compiled[rewriting->pairs.items[i].node] = rewriting->pairs.items[i].is_compiled;
	rewriting->scanned->is_compiled = is_compiled;
}

static void rewrite(struct rewriting *rewriting)
{
	struct java java = {.rewriting = rewriting};

	rewriting_pairs(rewriting, show, &java);
	keep_compiled(rewriting);
	vec_fini(&java.owners);
	vec_fini(&java.path);
	vec_fini(&java.methods);
	vec_fini(&java.segments);
}

const struct mode_runtime mode_java = {
	.runtime = RUNTIME_JAVA, .has_expert = true, .rewrite = rewrite};
