/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory_object.h"

#include "analysis/filter_program.h"
#include "analysis/index_group.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Pages and lines go by the address that they begin at. */
#define PIECE(name, title, shift)                                                                  \
	{                                                                                          \
		name, title, "VADDR > 255 ? VADDR >> " #shift " << " #shift " : -1", LABEL_ADDRESS \
	}

static const struct index_object predefined[] = {
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

enum { PREDEFINED = sizeof(predefined) / sizeof(predefined[0]) };

static const struct index_object *object_at(const struct session *session, size_t index)
{
	if (index < PREDEFINED)
		return &predefined[index];
	index -= PREDEFINED;
	return session && index < session->memories.count ? &session->memories.items[index] : NULL;
}

bool memory_at(const struct session *session, size_t index, struct index_info *info)
{
	const struct index_object *object = object_at(session, index);

	if (!object)
		return false;
	*info = (struct index_info){object->name, object->title, object->expression,
				    index < PREDEFINED};
	return true;
}

size_t memory_find(const struct session *session, const char *name)
{
	const struct index_object *object;

	for (size_t i = 0; (object = object_at(session, i)); i++)
		if (!strcasecmp(object->name, name))
			return i;
	return SIZE_MAX;
}

/* Whether the expression names a property. */
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

static enum status check(struct session *session, const char *name, const char *expression,
			 struct diag_list *diags)
{
	size_t index = memory_find(session, name);
	struct filter_program *program;

	if (!index_is_name(name) || index < PREDEFINED) {
		diag_add(diags, DIAG_ERROR,
			 index < PREDEFINED ? "The memory object %s is there already"
					    : "Invalid name of a memory object: %s (it begins with "
					      "a letter and goes on with letters, digits and _)",
			 name);
		return STATUS_INVALID;
	}
	if (filter_compile(session, expression, &program, diags) != STATUS_OK)
		return STATUS_INVALID;
	filter_program_free(program);
	return STATUS_OK;
}

static enum status define(struct session *session, const char *name, const char *expression,
			  enum index_label label, struct diag_list *diags)
{
	size_t index = memory_find(session, name);

	if (check(session, name, expression, diags) != STATUS_OK)
		return STATUS_INVALID;
	*(index == SIZE_MAX ? vec_push(&session->memories)
			    : &session->memories.items[index - PREDEFINED]) =
		(struct index_object){.name = arena_strdup(&session->arena, name),
				      .title = arena_strdup(&session->arena, name),
				      .expression = guarded(session, expression),
				      .label = label};
	return STATUS_OK;
}

enum status memory_define(struct session *session, const char *name, const char *expression,
			  struct diag_list *diags)
{
	return define(session, name, expression, LABEL_ADDRESS, diags);
}

enum status memory_define_for_model(struct session *session, const char *name,
				    const char *expression, struct diag_list *diags)
{
	return define(session, name, expression, LABEL_ADDRESS_BY_MODEL, diags);
}

void memory_forget_model(struct session *session)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->memories.count; i++)
		if (session->memories.items[i].label != LABEL_ADDRESS_BY_MODEL)
			session->memories.items[kept++] = session->memories.items[i];
	session->memories.count = kept;
}

/* The query's metrics that memory objects can show, or all of them. */
static void choose_metrics(const struct session *session, const struct metric_list *from,
			   struct metric_list *to)
{
	bool any = false;

	for (size_t i = 0; i < from->count; i++)
		any |= from->items[i].metric->has_address;
	for (size_t i = 0; any && i < from->count; i++)
		if (from->items[i].metric->has_address)
			*vec_push(to) = from->items[i];
	for (size_t i = 0; !any && i < session->counters.count; i++)
		if (session->counters.items[i].has_address)
			*vec_push(to) = (struct metric_choice){&session->counters.items[i],
							       FLAVOR_EXCLUSIVE,
							       VISIBLE_VALUE | VISIBLE_PERCENT};
	if (to->count)
		*vec_push(to) = (struct metric_choice){metric_find(session, "name"), FLAVOR_STATIC,
						       VISIBLE_VALUE};
}

enum status view_memory(struct session *session, size_t index, const struct query *query,
			struct table *table, struct diag_list *diags)
{
	struct query mine = *query;

	mine.metrics = (struct metric_list){0};
	choose_metrics(session, &query->metrics, &mine.metrics);
	if (!mine.metrics.count) {
		diag_add(diags, DIAG_ERROR, NO_ADDRESSES);
		return STATUS_NOTFOUND;
	}
	if (!mine.sort.metric->has_address && !mine.sort.metric->is_static)
		mine.sort = mine.metrics.items[0];
	index_table(session, object_at(session, index), &mine, table);
	vec_fini(&mine.metrics);
	return STATUS_OK;
}
