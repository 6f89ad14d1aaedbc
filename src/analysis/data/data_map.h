/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which data object each event with a data address belongs to: made once for all events, whatever
 * filters choose later.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_DATA_MAP_H
#define HELIO_ANALYSIS_DATA_MAP_H

#include "analysis/data/data_object.h"
#include "analysis/data/data_track.h"
#include "analysis/session/session_state.h"

#define DATA_NONE UINT32_MAX

/* The first data objects; the reasons follow them. */
enum { DATA_TOTAL, DATA_SCALARS, DATA_UNKNOWN, DATA_FIRST_REASON };

struct data_object {
	const char *name;  /* unique, once the map is made */
	const char *plain; /* the descriptor alone */
	enum data_object_kind kind;
	uint32_t parent; /* the aggregate that an element is of, or DATA_NONE */
	const char *scope;
	uint32_t object; /* load object, or OBJECT_UNKNOWN */
	uint64_t address;
	/* of an aggregate or element */
	struct variables *variables;
	uint32_t type;
	uint64_t offset; /* from the beginning of the outermost aggregate */
	uint64_t size;
	/* of a block */
	const struct session_process *maker;
	uint32_t node;
};

/* What an event counts for, besides <Total>: an object with all its parents, and these. */
struct data_place {
	uint32_t leaf;
	uint32_t variable; /* that it lies in, or DATA_NONE */
	uint32_t block;	   /* likewise */
};

struct data_map {
	struct session *session;
	VEC(struct data_object) objects;
	struct string_table keys; /* numbers of objects, from DATA_TOTAL on */
	VEC(struct data_place) places;
	struct hash_map place_ids;
	VEC(struct data_tracker *) trackers; /* by load object; NULL: none so far */
	VEC(uint32_t *) processes; /* of session->scanned, by row of the trace: a place, */
				   /* or DATA_NONE */
};

/* Made at the first call. */
struct data_map *data_map_of(struct session *session);
void data_map_fini(struct session *session);
/* Calls visit for every object that a place counts for, each once. */
void data_place_each(const struct data_map *map, uint32_t place,
		     void (*visit)(uint32_t object, void *arg), void *arg);

/* data_describe.c: objects by their descriptors */

/* The aggregate that a type is; DATA_NONE: it is none. */
uint32_t data_of_type(struct data_map *map, struct variables *variables, uint32_t type);
/* An element of an aggregate or of one of its elements. */
uint32_t data_of_member(struct data_map *map, uint32_t parent, const struct data_member *member);
/* What lies at an offset of something of a type; size: of the access, 0: not known. */
uint32_t data_at(struct data_map *map, struct variables *variables, uint32_t type, int64_t offset,
		 uint32_t size);
/* A variable of a load object: itself, and in *leaf what lies at the offset. */
uint32_t data_of_variable(struct data_map *map, uint32_t object, struct variables *variables,
			  const struct variable *variable, int64_t offset, uint32_t size,
			  uint32_t *leaf);
/* A symbol of which no type is known. */
uint32_t data_of_symbol(struct data_map *map, uint32_t object, const struct object_data *data);
/* Memory that was allocated or, is_mapping, mapped with the call stack of a node. */
uint32_t data_of_block(struct data_map *map, const struct session_process *process, uint32_t node,
		       bool is_mapping);
uint32_t data_of_reason(enum data_reason reason);
/* The first objects; and, after all, names that are unique. */
void data_describe_first(struct data_map *map);
void data_describe_last(struct data_map *map);

#endif
