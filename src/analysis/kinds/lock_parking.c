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
#include "base/strbuf.h"
#include "format/format.h"
#include "object/names/java_name.h"

#include <string.h>

#define LOCKS	   "java.util.concurrent.locks."
#define CONCURRENT "java.util.concurrent."

static const char unknown_class[] = "<Unknown>";

enum { NATIVES_MOST = 64 }; /* frames of native code in Unsafe.park and around it */

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
		CONCURRENT "ForkJoinPool.compensatedBlock(",
		"java.lang.VirtualThread.",
		"java.lang.System$",
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

/* The number of the class of a method, of the library's its outermost one: that of "Semaphore$Sync"
 * is none that programs name. */
static uint32_t class_of(struct lock_scan *scan, const char *method)
{
	struct strbuf class = {0};
	size_t length = strcspn(method, "(");

	while (length && method[length - 1] != '.')
		length--;
	length -= length > 0;
	if (starts(method, CONCURRENT))
		length = strcspn(method, "$") < length ? strcspn(method, "$") : length;
	if (!length)
		return string_table_add(&scan->classes, unknown_class);
	strbuf_printf(&class, "%.*s", (int)length, method);

	uint32_t number = string_table_add(&scan->classes, class.text);

	strbuf_fini(&class);
	return number;
}

/* From the innermost frame on: native code, Unsafe.park, what others wait by, and who does. */
static uint32_t find_class(struct lock_scan *scan, uint32_t node)
{
	const struct process *process = scan->process;
	bool is_parked = false;

	for (unsigned natives = 0; node != STACK_ROOT && natives < NATIVES_MOST;
	     node = process->stacks.nodes.items[node].parent) {
		char *method = method_of(process, node);
		bool is_found = is_parked && !(method && is_means(method));
		bool is_none = !is_parked && method && !is_park(method);
		uint32_t class = is_found && method ? class_of(scan, method) : LOCK_NOT_PARKED;

		natives += !method;
		is_parked |= method != NULL;
		free(method);
		if (is_none)
			return LOCK_NOT_PARKED;
		if (is_found && class != LOCK_NOT_PARKED)
			return class;
		if (is_found)
			break;
	}
	return is_parked ? string_table_add(&scan->classes, unknown_class) : LOCK_NOT_PARKED;
}

uint32_t lock_parking_class(struct lock_scan *scan, uint32_t stack)
{
	uint32_t node = session_shown(&scan->session->scanned.items[scan->process_number],
				      VIEW_USER, stack);
	uint64_t key = (uint64_t)scan->process_number << 32 | node;
	uint32_t known;

	if (!scan->process->contexts.said[RUNTIME_JAVA])
		return LOCK_NOT_PARKED;
	known = hash_map_get(&scan->parkings, key);
	return known != HASH_NONE ? known
				  : hash_map_put(&scan->parkings, key, find_class(scan, node));
}
