/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes as texts of trace files.  A small cache by the name's hash has those that were given
 * lately: of one name there may be more than one text, readers go by the name.
 */
#include "collector/core/trace.h"
#include "collector/runtimes/java_private.h"

enum { NAME_ROOM = 512, CACHE_SLOTS = 1024, HASH_BITS = 32 };

/* The upper half is of the name's hash; 0: free. */
static _Atomic uint64_t cache[CACHE_SLOTS];

static uint64_t hash_of(enum trace_kind kind, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ trace_generation() ^ (uint64_t)kind << HASH_BITS;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash;
}

static uint64_t number_of(enum trace_kind kind, const char *name)
{
	uint64_t hash = hash_of(kind, name);
	_Atomic uint64_t *slot = &cache[hash % CACHE_SLOTS];
	uint64_t found = atomic_load(slot);

	if (found && found >> HASH_BITS == hash >> HASH_BITS)
		return (uint32_t)found;

	struct thread *thread = trace_enter(kind);

	if (!thread)
		return 0;
	uint32_t number = trace_text(thread, kind, name);

	trace_leave(thread);
	if (number)
		atomic_store(slot, hash >> HASH_BITS << HASH_BITS | number);
	return number;
}

/* Of an element of an array; NULL: it is of a class. */
static const char *primitive_of(char letter)
{
	static const char letters[] = "ZBCSIJFD";
	static const char *const words[] = {"boolean", "byte", "char",	"short",
					    "int",     "long", "float", "double"};

	for (size_t i = 0; letters[i]; i++)
		if (letters[i] == letter)
			return words[i];
	return NULL;
}

/* "[[Ljava/util/Vector;": java.util.Vector[][]; "[B": byte[] */
static void put_class_name(struct text *name, const char *signature)
{
	size_t dimensions = 0;

	for (; *signature == '['; signature++)
		dimensions++;
	if (primitive_of(*signature))
		text_puts(name, primitive_of(*signature));
	else
		for (signature += *signature == 'L'; *signature && *signature != ';'; signature++)
			text_putc(name, *signature == '/' ? '.' : *signature);
	for (; dimensions; dimensions--)
		text_puts(name, "[]");
	if (name->full)
		text_end_cut(name);
}

uint64_t java_class_text(jvmtiEnv *jvmti, jclass class, const char *before, enum trace_kind kind)
{
	char room[NAME_ROOM], *signature;
	struct text name = TEXT_ON(room);

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return 0;
	text_puts(&name, before);
	put_class_name(&name, signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return number_of(kind, room);
}
