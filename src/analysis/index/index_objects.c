/* SPDX-License-Identifier: Apache-2.0 */
/* Which index and memory objects there are: those of the old tools, and the user's. */
#include "analysis/index/index.h"

#include "analysis/filter/filter_program.h"
#include "analysis/index/index_group.h"
#include "analysis/tree/tree.h"
#include "base/array.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Bytes up to powers of 4, ns up to powers of 10 µs; more than the last of them is unknown. */
/* It would put another line on its own at each run. */
/* clang-format off */
#define SIZES(X) \
	X(0) X(2) X(4) X(6) X(8) X(10) X(12) X(14) X(16) X(18) X(20) X(22) X(24) \
	X(26) X(28) X(30) X(32) X(34) X(36) X(38) X(40) X(42) X(44) X(46) X(48) X(50)
#define UP_TO_SIZE(n) "IOHEAPBYTES <= (1 << " #n ") ? (1 << " #n ") : "
#define UP_TO_MPI_SIZE(n) "MPISIZE <= (1 << " #n ") ? (1 << " #n ") : "
#define DURATIONS(X) \
	X(1000) X(10000) X(100000) X(1000000) X(10000000) X(100000000) X(1000000000) \
	X(10000000000) X(100000000000) X(1000000000000) X(10000000000000)
/* clang-format on */
#define UP_TO_DURATION(ns) "EVT_TIME <= " #ns " ? " #ns " : "

static const struct index_object index_objects[] = {
	{"Threads", "Threads", "EXPID_CMP << 32 | THRID", LABEL_THREAD},
	{"JThreads", "Java threads", "JTHREAD ? EXPID_CMP << 32 | THRID : 0", LABEL_JAVA_THREAD},
	{"CPUs", "CPUs", "CPUID", LABEL_CPU},
	{"Samples", "Samples", "SAMPLE_MAP", LABEL_SAMPLE},
	{"GCEvents", "GCEvents", "GCEVENT_MAP", LABEL_COLLECTION},
	{"JClasses", "Java classes", "JHCLASS", LABEL_JAVA_CLASS},
	{"Seconds", "Seconds", "TSTAMP / 1000000000", LABEL_SECOND},
	{"Processes", "Processes", "EXPID_CMP", LABEL_PROCESS},
	{"Experiment_IDs", "Experiment IDs", "EXPGRID << 60 | EXPID << 32", LABEL_EXPERIMENT},
	{"Datasize", "Data sizes", "IOHEAPBYTES == 0 ? 0 : " SIZES(UP_TO_SIZE) "-1", LABEL_SIZE},
	{"OMP_preg", "OpenMP parallel regions", "EXPID_CMP << 32 | CPRID", LABEL_OMP},
	{"OMP_task", "OpenMP tasks", "EXPID_CMP << 32 | TSKID", LABEL_OMP},
	{"Duration", "Durations", "EVT_TIME == 0 ? 0 : " DURATIONS(UP_TO_DURATION) "-1",
	 LABEL_DURATION},
	{"MPI_rank", "Ranks of MPI", "MPIRANK", LABEL_MPI_RANK},
	{"MPI_peer", "Ranks that one communicates with", "MPIPEER", LABEL_MPI_RANK},
	{"MPI_function", "Functions of MPI", "MPIFUNCTION", LABEL_MPI_FUNCTION},
	{"MPI_comm", "Communicators of MPI", "MPICOMM", LABEL_MPI_COMM},
	{"MPI_tag", "Tags of messages", "MPITAG", LABEL_MPI_TAG},
	{"MPI_size", "Sizes of messages", "MPISIZE == 0 ? 0 : " SIZES(UP_TO_MPI_SIZE) "-1",
	 LABEL_SIZE},
};

/* Pages and lines go by the address that they begin at. */
#define PIECE(name, title, shift)                                                                  \
	{                                                                                          \
		name, title, "VADDR > 255 ? VADDR >> " #shift " << " #shift " : -1", LABEL_ADDRESS \
	}

static const struct index_object memory_objects[] = {
	{"Memory_address", "Memory addresses", "VADDR > 255 ? VADDR : -1", LABEL_ADDRESS},
	PIECE("Memory_64B_cacheline", "Cache lines of 64 bytes", 6),
	PIECE("Memory_page_4K", "Pages of 4 KB", 12),
	PIECE("Memory_page_8K", "Pages of 8 KB", 13),
	PIECE("Memory_page_64K", "Pages of 64 KB", 16),
	PIECE("Memory_page_512K", "Pages of 512 KB", 19),
	PIECE("Memory_page_2M", "Pages of 2 MB", 21),
	PIECE("Memory_page_4M", "Pages of 4 MB", 22),
	{"Memory_node", "NUMA nodes", "EA_LGRP", LABEL_NODE},
};

static const struct {
	const struct index_object *objects; /* that are always there */
	size_t count;
	const char *what;
} families[INDEX_FAMILIES] = {
	[INDEX_OBJECTS] = {index_objects, COUNT(index_objects), "an index object"},
	[MEMORY_OBJECTS] = {memory_objects, COUNT(memory_objects), "a memory object"},
};

const struct index_object *index_object_at(const struct session *session, enum index_family family,
					   size_t index)
{
	size_t count = families[family].count;

	if (index < count)
		return &families[family].objects[index];
	return session && index - count < session->own_objects[family].count
		       ? &session->own_objects[family].items[index - count]
		       : NULL;
}

bool index_at(const struct session *session, enum index_family family, size_t index,
	      struct index_info *info)
{
	const struct index_object *object = index_object_at(session, family, index);

	if (!object)
		return false;
	*info = (struct index_info){object->name, object->title, object->expression,
				    index < families[family].count,
				    object->label == LABEL_ADDRESS_BY_MODEL};
	return true;
}

size_t index_find(const struct session *session, enum index_family family, const char *name)
{
	const struct index_object *object;

	for (size_t i = 0; (object = index_object_at(session, family, i)); i++)
		if (!strcasecmp(object->name, name))
			return i;
	return SIZE_MAX;
}

/* A letter, then letters, digits and underscores. */
static bool is_name(const char *name)
{
	bool right = isalpha((unsigned char)*name);

	for (; *name; name++)
		right &= isalnum((unsigned char)*name) || *name == '_';
	return right;
}

/* Warnings are for the view: whether there is data does not matter before. */
static enum status check_expression(struct session *session, const char *expression,
				    struct diag_list *diags)
{
	struct diag_list found = {0};
	struct filter_program *program;
	enum status status = filter_compile(session, session_tree(session, VIEW_USER, false),
					    expression, &program, &found);

	if (status == STATUS_OK)
		filter_program_free(program);
	for (size_t i = 0; status != STATUS_OK && i < found.count; i++)
		if (found.items[i].level == DIAG_ERROR)
			diag_add(diags, DIAG_ERROR, "%s", found.items[i].text);
	diag_fini(&found);
	return status;
}

/* Whether the expression of a memory object names a property. */
static bool names(const char *expression, const char *property)
{
	return strcasestr(expression, property);
}

static const char *guarded(struct session *session, const char *expression)
{
	if (names(expression, "VADDR"))
		return arena_printf(&session->arena, "VADDR > 255 ? (%s) : -1", expression);
	if (names(expression, "PADDR"))
		return arena_printf(&session->arena, "PADDR > 0 ? (%s) : -1", expression);
	return arena_strdup(&session->arena, expression);
}

/* NULL: it cannot be. */
static struct index_object *define(struct session *session, enum index_family family,
				   const char *name, const char *expression,
				   struct diag_list *diags)
{
	size_t index = index_find(session, family, name), predefined = families[family].count;
	struct index_object *object;

	if (!is_name(name)) {
		diag_add(diags, DIAG_ERROR,
			 "Invalid name of %s: %s (it begins with a letter and goes on with "
			 "letters, digits and _)",
			 families[family].what, name);
		return NULL;
	}
	if (index < predefined) {
		diag_add(diags, DIAG_ERROR, "%s, %s, is there already: %s",
			 families[family].objects[index].name, families[family].what,
			 families[family].objects[index].expression);
		return NULL;
	}
	if (check_expression(session, expression, diags) != STATUS_OK)
		return NULL;
	object = index == SIZE_MAX ? vec_push(&session->own_objects[family])
				   : &session->own_objects[family].items[index - predefined];
	*object = (struct index_object){.name = arena_strdup(&session->arena, name)};
	object->title = object->name;
	object->expression = family == MEMORY_OBJECTS ? guarded(session, expression)
						      : arena_strdup(&session->arena, expression);
	return object;
}

enum status index_define(struct session *session, enum index_family family, const char *name,
			 const char *expression, const char *title, struct diag_list *diags)
{
	struct index_object *object = define(session, family, name, expression, diags);

	if (!object)
		return STATUS_INVALID;
	if (title)
		object->title = arena_strdup(&session->arena, title);
	object->label = family == MEMORY_OBJECTS ? LABEL_ADDRESS : LABEL_NUMBER;
	return STATUS_OK;
}

enum status index_define_for_model(struct session *session, const char *name,
				   const char *expression, struct diag_list *diags)
{
	struct index_object *object = define(session, MEMORY_OBJECTS, name, expression, diags);

	if (!object)
		return STATUS_INVALID;
	object->label = LABEL_ADDRESS_BY_MODEL;
	return STATUS_OK;
}

void index_forget_model(struct session *session)
{
	struct index_object *items = session->own_objects[MEMORY_OBJECTS].items;
	size_t kept = 0;

	for (size_t i = 0; i < session->own_objects[MEMORY_OBJECTS].count; i++)
		if (items[i].label != LABEL_ADDRESS_BY_MODEL)
			items[kept++] = items[i];
	session->own_objects[MEMORY_OBJECTS].count = kept;
}
