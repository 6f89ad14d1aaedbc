/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Methods that Java stacks have met.  Their ids are all that a handler can note; what an id stands
 * for is asked for in the machine's own callbacks, which come often while a program is young
 * (classes, compilations), and at the machine's end.  Each method is written down as a function at
 * the addresses that stand for its bytecodes (format.h), so that readers look it up as any other.
 */
#include "collector/arch/sys.h"
#include "collector/core/api.h"
#include "collector/core/dynamic.h"
#include "collector/runtimes/java_private.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "format/format.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* A set of ids, open addressing; 0: free. */
static struct {
	uint64_t *ids;
	uint64_t mask, count;
} known;

static _Atomic uint32_t busy;
static uint32_t next_node;
static jvmtiEnv *writer;
static bool has_constants; /* the machine tells those of classes */

static uint64_t *find(uint64_t *ids, uint64_t mask, uint64_t id)
{
	uint64_t at = (id ^ id >> 32) * 0x9e3779b97f4a7c15u >> 32;

	while (ids[at & mask] && ids[at & mask] != id)
		at++;
	return &ids[at & mask];
}

static bool make_room(void)
{
	enum { FIRST = 4096 };
	uint64_t mask = known.ids ? 2 * known.mask + 1 : FIRST - 1;
	uint64_t *ids;

	if (known.ids && 2 * known.count <= known.mask)
		return true;
	ids = sys_mmap((mask + 1) * sizeof(*ids), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!ids)
		return false;
	for (uint64_t i = 0; known.ids && i <= known.mask; i++)
		if (known.ids[i])
			*find(ids, mask, known.ids[i]) = known.ids[i];
	if (known.ids)
		sys_munmap(known.ids, (known.mask + 1) * sizeof(*ids));
	known.ids = ids;
	known.mask = mask;
	return true;
}

static void put_class(struct text *name, const char *class)
{
	text_puts(name, class);
	text_putc(name, '.');
}

/* "Lpkg/Class;" and "Class.java": pkg/Class.java */
static void put_source(struct text *source, const char *class, const char *file)
{
	size_t directory = 0;

	for (size_t i = 0; class[i]; i++)
		if (class[i] == '/')
			directory = i;
	for (size_t i = 1; i <= directory && *class == 'L'; i++)
		text_putc(source, class[i]);
	text_puts(source, file);
	if (source->full) {
		source->length = 0;
		source->buffer[0] = '\0';
	}
}

bool java_names_find(jvmtiEnv *jvmti, jmethodID method, struct java_names *names)
{
	struct text name = TEXT_ON(names->name), source = TEXT_ON(names->source);
	char *method_name, *signature, *class_name, *file;
	jclass class;

	names->source[0] = '\0';
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL))
		return false;
	if ((*jvmti)->GetMethodName(jvmti, method, &method_name, &signature, NULL)) {
		(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
		return false;
	}
	put_class(&name, class_name);
	text_puts(&name, method_name);
	text_puts(&name, signature);
	if (name.full) {
		name.length -= 3;
		text_end_cut(&name);
	}
	if (!(*jvmti)->GetSourceFileName(jvmti, class, &file)) {
		put_source(&source, class_name, file);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)method_name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return true;
}

bool java_names_add(jvmtiEnv *jvmti)
{
	const jvmtiCapabilities wanted = {.can_get_constant_pool = 1, .can_tag_objects = 1};

	has_constants = !(*jvmti)->AddCapabilities(jvmti, &wanted);
	return has_constants;
}

static uint64_t keep_constants(jvmtiEnv *jvmti, jclass class)
{
	unsigned char *bytes;
	uint64_t kept = 0;
	jint count, size;

	if ((*jvmti)->GetConstantPool(jvmti, class, &count, &size, &bytes))
		return 0;
	if (api_enter()) {
		kept = dynamic_keep_constants(bytes, (uint64_t)size);
		api_leave();
	}
	(*jvmti)->Deallocate(jvmti, bytes);
	return kept;
}

/* Where those of a method's class are kept: once for each class, whose tag says so. 0: nowhere. */
static uint64_t constants_of(jvmtiEnv *jvmti, jmethodID method)
{
	jclass class;
	jlong tag;

	if (!has_constants || (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) ||
	    (*jvmti)->GetTag(jvmti, class, &tag))
		return 0;
	if (!tag) {
		tag = (jlong)keep_constants(jvmti, class);
		(*jvmti)->SetTag(jvmti, class, tag);
	}
	return (uint64_t)tag;
}

static void announce(struct dynamic_function *method, const struct java_lines *lines)
{
	size_t room = lines->count > 0 ? (size_t)lines->count * sizeof(struct format_line) : 0;
	struct format_line *table =
		room ? sys_mmap(room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
		     : NULL;

	/* Sorted as they are put in: there are few. */
	for (jint i = 0; table && i < lines->count; i++) {
		struct format_line line = {(uint32_t)lines->entries[i].start_location,
					   (uint32_t)lines->entries[i].line_number};
		uint32_t at = method->line_count++;

		for (; at && table[at - 1].offset > line.offset; at--)
			table[at] = table[at - 1];
		table[at] = line;
	}
	method->lines = table;
	if (api_enter()) {
		dynamic_add(method);
		api_leave();
	}
	if (table)
		sys_munmap(table, room);
}

static void write_method(jvmtiEnv *jvmti, uint64_t id)
{
	jmethodID method = (jmethodID)id;
	struct java_names names;
	struct java_lines lines;
	unsigned char *bytecode = NULL;
	jint size = 0;

	if (!java_names_find(jvmti, method, &names))
		return;
	if ((*jvmti)->GetBytecodes(jvmti, method, &size, &bytecode))
		size = 0;
	java_code_lines(jvmti, method, &lines);

	struct dynamic_function function = {
		.name = names.name,
		.alias = "",
		.source = names.source,
		.start = FORMAT_PC_JAVA | id << FORMAT_JAVA_BYTECODE_BITS,
		.size = 1u << FORMAT_JAVA_BYTECODE_BITS,
		.code = bytecode,
		.code_size = (uint64_t)size,
		.constants = size ? constants_of(jvmti, method) : 0,
	};

	announce(&function, &lines);
	if (bytecode)
		(*jvmti)->Deallocate(jvmti, bytecode);
	if (lines.entries)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)lines.entries);
}

static void visit(uint64_t pc)
{
	if (!(pc & FORMAT_PC_JAVA) || !make_room())
		return;
	uint64_t id = (pc & ~FORMAT_PC_JAVA) >> FORMAT_JAVA_BYTECODE_BITS;
	uint64_t *slot = find(known.ids, known.mask, id);

	if (!id || *slot)
		return;
	*slot = id;
	known.count++;
	write_method(writer, id);
}

/* Who ends the recording looks at `busy` after it: so one of the two sees the other. */
void java_names_write(jvmtiEnv *jvmti)
{
	if (atomic_exchange(&busy, 1))
		return;
	writer = jvmti;
	if (atomic_load(&collector.recording))
		next_node = stacktable_visit_all(next_node, visit);
	atomic_store(&busy, 0);
}

bool java_names_are_being_written(void)
{
	return atomic_load(&busy);
}

void java_names_forget(void)
{
	atomic_store(&busy, 0);
}

void java_names_begin(void)
{
	next_node = 0;
	if (known.ids)
		sys_munmap(known.ids, (known.mask + 1) * sizeof(*known.ids));
	known.ids = NULL;
	known.mask = known.count = 0;
}
