/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a parked thread of Java waits for.  Each thread has a condition of its own for that, and the
 * object that it waits for (its blocker) is not recorded.  But the call stack tells who uses it:
 * outside of Unsafe.park come the classes that all of java.util.concurrent is made of, and outside
 * of these the lock, queue or future.
 */
#include "analysis/kinds/lock_scan.h"
#include "analysis/session/session_state.h"
#include "base/array.h"
#include "format/format.h"
#include "object/names/java_name.h"

#include <string.h>

#define LOCKS	   "java.util.concurrent.locks."
#define CONCURRENT "java.util.concurrent."

static const char unknown_class[] = "<Unknown>";

static bool starts(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static bool is_park(const char *method)
{
	return starts(method, "jdk.internal.misc.Unsafe.park(") ||
	       starts(method, "sun.misc.Unsafe.park(");
}

/* Of what others wait by: none of these is what is waited for. */
static bool is_means(const char *method)
{
	static const char *const means[] = {
		LOCKS "LockSupport.",
		LOCKS "AbstractQueuedSynchronizer",
		LOCKS "AbstractQueuedLongSynchronizer",
		CONCURRENT "ForkJoinPool.managedBlock(",
		CONCURRENT "ForkJoinPool.unmanagedBlock(",
	};

	for (size_t i = 0; i < COUNT(means); i++)
		if (starts(method, means[i]))
			return true;
	return false;
}

/* "pkg.Class.method(int)" of a frame; to be freed. NULL: it is none of Java. */
static char *method_of(const struct process *process, uint32_t node)
{
	const struct stack_tree *stacks = &process->stacks;
	const struct stack_location *at =
		&stacks->locations.items[stacks->nodes.items[node].location];
	uint32_t found = at->pc & FORMAT_PC_JAVA
				 ? experiment_map_find(&process->map, at->pc, at->epoch)
				 : MAP_NONE;
	const struct map_segment *segment =
		found == MAP_NONE ? NULL : &process->map.segments.items[found];

	return segment && segment->function != MAP_NONE
		       ? java_method_name(process->map.functions.items[segment->function].name,
					  NAME_LONG)
		       : NULL;
}

/* The class of a method, of the library's its outermost one: that of "Semaphore$Sync" is none that
 * programs name. */
static const char *class_of(struct lock_scan *scan, const char *method)
{
	size_t length = strcspn(method, "(");

	while (length && method[length - 1] != '.')
		length--;
	length -= length > 0;
	if (starts(method, CONCURRENT))
		length = strcspn(method, "$") < length ? strcspn(method, "$") : length;
	return length ? arena_printf(&scan->session->arena, "%.*s", (int)length, method)
		      : unknown_class;
}

/* From the innermost frame on: native code, Unsafe.park, what others wait by, and who does. */
static const char *find_class(struct lock_scan *scan, uint32_t node)
{
	const struct process *process = scan->process;
	const char *class = NULL;
	bool is_parked = false;

	for (; node != STACK_ROOT && !class; node = process->stacks.nodes.items[node].parent) {
		char *method = method_of(process, node);

		if (is_parked && !(method && is_means(method)))
			class = method ? class_of(scan, method) : unknown_class;
		else if (method && !is_parked && !is_park(method))
			node = STACK_ROOT;
		is_parked |= method != NULL;
		free(method);
		if (node == STACK_ROOT)
			return NULL;
	}
	return class ? class : is_parked ? unknown_class : NULL;
}

uint32_t lock_parking_class(struct lock_scan *scan, uint32_t stack)
{
	uint32_t node = session_shown(&scan->session->scanned.items[scan->process_number],
				      VIEW_USER, stack);
	uint64_t key = (uint64_t)scan->process_number << 32 | node;
	uint32_t known = hash_map_get(&scan->parkings, key);
	const char *class;

	if (known != HASH_NONE)
		return known;
	class = find_class(scan, node);
	return hash_map_put(&scan->parkings, key,
			    class ? string_table_add(&scan->classes, class) : LOCK_NOT_PARKED);
}
