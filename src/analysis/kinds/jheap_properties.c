/* SPDX-License-Identifier: Apache-2.0 */
/* The Java heap: the properties of its events. */
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/java_classes.h"
#include "experiment/objects.h"

static void load_number(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, JHEAP_NUMBER);
}

static void load_size(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, JHEAP_SIZE);
}

/* From 0 on, of allocations alone. */
static void load_fate(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint8_t *fate = rows->process->process->objects.fate + rows->run->first;

	EACH_ROW slot->value[i] = fate[i] - (uint64_t)OBJECT_COLLECTED; /* of none: UINT64_MAX */
	filter_forget(slot, rows->run->count, UINT64_MAX);
}

static void prepare_classes(struct session *session)
{
	java_classes_of(session);
}

/* Of allocations alone: others have no class. */
static void load_class(const struct filter_rows *rows, struct filter_slot *slot)
{
	const struct java_classes *classes = rows->session->java_classes;
	const uint64_t *types = event_column(rows->run, ROW_TYPE);

	filter_load_field(rows, slot, JHEAP_CLASS);
	EACH_ROW slot->value[i] =
		types[i] == JHEAP_ALLOCATED
			? java_class_number(classes, rows->process, slot->value[i])
			: 0;
	filter_forget(slot, rows->run->count, 0);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY("JHTYPE", "0 allocation of an object, 1 it was collected", "java heap",
			FILTER_JHEAP, filter_load_type),
	FILTER_PROPERTY("JHNUMBER", "number of the object among those of the sample", "java heap",
			FILTER_JHEAP, load_number),
	FILTER_PROPERTY("JHSIZE", "bytes of the object", "java heap", FILTER_JHEAP, load_size),
	FILTER_PROPERTY("JHCLASS", "number of its class's name, which JCLASS has", "java heap",
			FILTER_JHEAP, load_class, .prepare = prepare_classes),
	FILTER_PROPERTY("JHFATE",
			"what became of it: 0 collected; 1 live, and no garbage collection began "
			"after it; 2 live, though one did",
			"java heap", FILTER_JHEAP, load_fate),
};

const struct filter_properties jheap_properties = FILTER_PROPERTIES(properties);
