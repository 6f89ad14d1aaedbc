/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process numbers its constructs as it encounters them, so the same construct has another number
 * in another run.  In a session a construct has one number in all processes: it is known by its
 * function, in other builds by the name of that.  The numbers of the first process stay.
 */
#include "analysis/session/omp_names.h"

#include "analysis/session/functions.h"
#include "base/memory.h"

#include <stdlib.h>

static uint32_t new_number(struct omp_numbers *numbers, struct omp_numbered of)
{
	uint32_t number = of.construct;

	while (numbers->items.count <= number)
		*vec_push(&numbers->items) = (struct omp_numbered){0};
	if (numbers->items.items[number].construct) {
		number = (uint32_t)numbers->items.count;
		vec_push(&numbers->items);
	}
	numbers->items.items[number] = of;
	return number;
}

/* Of the functions of one name in a load object the first is the first in all builds, and so on. */
static uint64_t key_of_name(struct session *session, uint32_t number)
{
	struct omp_numbers *numbers = &session->omp_numbers;
	const struct function *function = &session->functions.items[number];
	const struct load_object *object = &session->objects.items[function->object];
	char *text = xasprintf("%s:%s", object->is_program ? "" : object->name, function->mangled);
	uint64_t name = string_table_add(&numbers->names, text);
	uint32_t fresh = (uint32_t)numbers->ranks.count;
	uint32_t rank = hash_map_put(&numbers->rank_of, name << 32 | function->object, fresh);

	free(text);
	if (rank == fresh)
		*vec_push(&numbers->ranks) = 0;
	return name << 32 | numbers->ranks.items[rank]++;
}

uint32_t omp_number_make(struct session *session, size_t process, uint32_t construct,
			 const struct omp_construct *as)
{
	struct omp_numbers *numbers = &session->omp_numbers;
	const struct omp_numbered of = {(uint32_t)process, construct};
	uint32_t number = as->key ? hash_map_get(&numbers->by_key, as->key) : HASH_NONE;
	uint64_t name;

	if (number != HASH_NONE)
		return number;
	if (as->function < FUNCTION_FIRST_REAL) {
		number = new_number(numbers, of);
	} else {
		name = key_of_name(session, as->function);
		number = hash_map_get(&numbers->by_name, name);
		if (number == HASH_NONE)
			number = hash_map_put(&numbers->by_name, name, new_number(numbers, of));
	}
	return as->key ? hash_map_put(&numbers->by_key, as->key, number) : number;
}

uint64_t omp_number(const struct session *session, const struct session_process *process,
		    uint64_t construct)
{
	if (construct < process->omp_construct_count)
		return process->omp_constructs[construct].number;
	return construct ? session->omp_numbers.items.count + construct : 0;
}

struct omp_numbered omp_numbered(const struct session *session, uint64_t number)
{
	return number < session->omp_numbers.items.count ? session->omp_numbers.items.items[number]
							 : (struct omp_numbered){0};
}

void omp_numbers_fini(struct omp_numbers *numbers)
{
	vec_fini(&numbers->items);
	vec_fini(&numbers->ranks);
	hash_map_fini(&numbers->by_key);
	hash_map_fini(&numbers->by_name);
	hash_map_fini(&numbers->rank_of);
	string_table_fini(&numbers->names);
}
