/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine compiles, its interpreter and stubs: functions made at run time. */
#include "collector/core/api.h"
#include "collector/core/dynamic.h"
#include "collector/runtimes/java_private.h"

#include "collector/arch/sys.h"
#include "format/format.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

/* All code that was ever told of lies in one reservation. */
static _Atomic uint64_t low = UINT64_MAX, high;

bool java_code_is_at(uint64_t pc)
{
	return pc >= atomic_load_explicit(&low, memory_order_relaxed) &&
	       pc < atomic_load_explicit(&high, memory_order_relaxed);
}

static void note_range(uint64_t start, uint64_t end)
{
	uint64_t known = atomic_load(&low);

	while (start < known && !atomic_compare_exchange_weak(&low, &known, start))
		;
	known = atomic_load(&high);
	while (end > known && !atomic_compare_exchange_weak(&high, &known, end))
		;
}

void java_code_lines(jvmtiEnv *jvmti, jmethodID method, struct java_lines *lines)
{
	*lines = (struct java_lines){0};
	if ((*jvmti)->GetLineNumberTable(jvmti, method, &lines->count, &lines->entries))
		*lines = (struct java_lines){0};
}

/* Entries come in any order: of those that begin before the place the last one. */
uint32_t java_code_line(const struct java_lines *lines, jlocation place)
{
	const jvmtiLineNumberEntry *best = NULL;

	for (jint i = 0; i < lines->count; i++) {
		const jvmtiLineNumberEntry *entry = &lines->entries[i];

		if (entry->start_location <= place &&
		    (!best || entry->start_location >= best->start_location))
			best = entry;
	}
	return best ? (uint32_t)best->line_number : 0;
}

/* The lines of the method itself, also where code of others was inlined; they fit `out`. */
static uint32_t find_lines(jvmtiEnv *jvmti, jmethodID method, uint64_t start, jint map_length,
			   const jvmtiAddrLocationMap *map, struct format_line *out)
{
	struct java_lines lines;
	uint32_t count = 0;

	java_code_lines(jvmti, method, &lines);
	for (jint i = 0; i < map_length && lines.count; i++) {
		uint64_t offset = (uint64_t)map[i].start_address - start;
		struct format_line line = {(uint32_t)offset,
					   java_code_line(&lines, map[i].location)};

		if (count &&
		    (line.offset < out[count - 1].offset || line.line == out[count - 1].line))
			continue;
		out[count++] = line;
	}
	if (lines.entries)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)lines.entries);
	return count;
}

static void announce(const struct dynamic_function *function)
{
	note_range(function->start, function->start + function->size);
	if (!api_enter())
		return;
	dynamic_load(function);
	api_leave();
}

void JNICALL java_code_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
				jint map_length, const jvmtiAddrLocationMap *map,
				const void *inlining)
{
	struct java_names names;
	size_t room = map_length > 0 ? (size_t)map_length * sizeof(struct format_line) : 0;
	struct dynamic_function function = {
		.start = (uint64_t)code,
		.size = (uint64_t)size,
		.alias = "",
		.late = true,
	};

	(void)inlining;
	if (size <= 0 || !java_names_find(jvmti, method, &names))
		return;
	struct format_line *lines =
		room ? sys_mmap(room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
		     : NULL;

	function.name = names.name;
	function.source = names.source;
	function.lines = lines;
	if (lines)
		function.line_count =
			find_lines(jvmti, method, function.start, map_length, map, lines);
	announce(&function);
	if (lines)
		sys_munmap(lines, room);
	java_names_write(jvmti);
}

void JNICALL java_code_gone(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
	(void)jvmti, (void)method;
	if (!api_enter())
		return;
	dynamic_retire((uint64_t)code);
	api_leave();
}

/* Of the interpreter's parts and stubs the machine says nothing when they go: none does. */
void JNICALL java_code_generated(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
	const struct dynamic_function function = {
		.name = name ? name : "",
		.alias = "",
		.source = "",
		.start = (uint64_t)code,
		.size = size > 0 ? (uint64_t)size : 0,
		.late = true,
	};

	(void)jvmti;
	if (function.size)
		announce(&function);
}
