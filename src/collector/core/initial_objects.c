/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects the program was started with: the loader never unmaps these, so that their
 * call-frame information may be read even while another one is being closed.
 *
 * They are not marked as such.  But all that the program needs (DT_NEEDED), and what that
 * needs, is among them; and the loader's list has them in front of all that was opened later
 * (glibc, elf/dl-object.c: a new object goes to the end).  So they are those up to the last one
 * in that closure, the preloaded ones included.
 */
#include "collector/core/initial_objects.h"

#include "collector/arch/sys.h"
#include "collector/storage/text.h"

#include <link.h>
#include <sys/mman.h>

enum { OBJECTS_MAX = 1024, NEEDS_MAX = 16 * OBJECTS_MAX };

struct object {
	uint64_t bias;
	uint64_t name;		   /* hash of its DT_SONAME, or file name */
	uint32_t needs, needs_end; /* in the table of hashes */
	bool needed;
};

struct table {
	uint32_t objects, needs, last_needed;
	struct object object[OBJECTS_MAX];
	uint64_t need[NEEDS_MAX];
};

static uint64_t hash_of(const char *name)
{
	return text_hash(TEXT_HASH_START, name, text_length(name));
}

static const char *file_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

/* The loader adds the bias to addresses in a dynamic section, but not where it cannot write. */
static const char *strings_of(const ElfW(Dyn) * dynamic, uint64_t bias)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_STRTAB)
			return (const char *)(dynamic->d_un.d_ptr < bias
						      ? dynamic->d_un.d_ptr + bias
						      : dynamic->d_un.d_ptr);
	return NULL;
}

static void add_needs(struct table *table, struct object *object, const ElfW(Dyn) * dynamic)
{
	const char *strings = strings_of(dynamic, object->bias);

	for (; strings && dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_SONAME)
			object->name = hash_of(strings + dynamic->d_un.d_val);
		else if (dynamic->d_tag == DT_NEEDED && table->needs < NEEDS_MAX)
			table->need[table->needs++] = hash_of(strings + dynamic->d_un.d_val);
	}
}

static int add_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct table *table = argument;
	struct object *object = &table->object[table->objects];

	(void)size;
	if (table->objects == OBJECTS_MAX)
		return 1;
	table->objects++;
	object->bias = info->dlpi_addr;
	object->name = hash_of(file_name(info->dlpi_name));
	object->needs = table->needs;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			add_needs(table, object,
				  (const ElfW(Dyn) *)(object->bias + info->dlpi_phdr[i].p_vaddr));
	object->needs_end = table->needs;
	return 0;
}

/* Of several with one name the first is meant: later ones were opened under another path. */
static bool mark(struct table *table, uint64_t name)
{
	for (uint32_t i = 0; i < table->objects; i++) {
		struct object *object = &table->object[i];

		if (object->name != name)
			continue;
		bool fresh = !object->needed;

		object->needed = true;
		table->last_needed = i > table->last_needed ? i : table->last_needed;
		return fresh;
	}
	return false;
}

static void close_over(struct table *table)
{
	bool grown = table->objects;

	if (grown)
		table->object[0].needed = true; /* the program */
	while (grown) {
		grown = false;
		for (uint32_t i = 0; i < table->objects; i++) {
			const struct object *object = &table->object[i];

			if (!object->needed)
				continue;
			for (uint32_t j = object->needs; j < object->needs_end; j++)
				grown |= mark(table, table->need[j]);
		}
	}
}

void startup_for_each_object(void (*visit)(uint64_t bias))
{
	struct table *table = sys_mmap(sizeof(*table), PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!table)
		return;
	dl_iterate_phdr(add_object, table);
	close_over(table);
	for (uint32_t i = 0; i < table->objects && i <= table->last_needed; i++)
		visit(table->object[i].bias);
	sys_munmap(table, sizeof(*table));
}
