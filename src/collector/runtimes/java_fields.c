/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HotSpot exports for debuggers: a table of fields of its own types, with their offsets, or
 * their addresses where they are static.
 */
#include "collector/core/next_functions.h"
#include "collector/runtimes/java.h"
#include "collector/runtimes/java_private.h"

#include <dlfcn.h>

/* To be given back: the program may unload what is called so. */
static void *open_machine(void)
{
	return dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
}

bool java_machine_is_there(void)
{
	void *machine = open_machine();

	return machine && !NEXT(dlclose)(machine);
}

const void *java_machine_symbol(const char *name)
{
	void *machine = open_machine();
	const void *symbol = machine ? dlsym(machine, name) : NULL;

	if (machine)
		NEXT(dlclose)(machine);
	return symbol;
}

static uint64_t word_at(const char *name)
{
	const uint64_t *word = java_machine_symbol(name);

	return word ? *word : 0;
}

/* The machine says how an entry is laid out: as ours, in all there have been. */
static bool is_known(void)
{
	return word_at("gHotSpotVMStructEntryArrayStride") == sizeof(struct java_field) &&
	       word_at("gHotSpotVMStructEntryTypeNameOffset") ==
		       offsetof(struct java_field, type) &&
	       word_at("gHotSpotVMStructEntryFieldNameOffset") ==
		       offsetof(struct java_field, name) &&
	       word_at("gHotSpotVMStructEntryTypeStringOffset") ==
		       offsetof(struct java_field, text) &&
	       word_at("gHotSpotVMStructEntryIsStaticOffset") ==
		       offsetof(struct java_field, is_static) &&
	       word_at("gHotSpotVMStructEntryOffsetOffset") ==
		       offsetof(struct java_field, offset) &&
	       word_at("gHotSpotVMStructEntryAddressOffset") ==
		       offsetof(struct java_field, address);
}

const struct java_field *java_field_find(const char *type, const char *name)
{
	const struct java_field *field =
		is_known() ? (const struct java_field *)(uintptr_t)word_at("gHotSpotVMStructs")
			   : NULL;

	for (; field && field->type && field->name; field++)
		if (text_equal(field->type, type) && text_equal(field->name, name))
			return field;
	return NULL;
}

static const char *field_at(const char *object, const struct java_field *field)
{
	return *(const char *const *)(object + field->offset);
}

/* 0: not known. */
static uint64_t size_of(const char *type)
{
	const uint64_t stride = word_at("gHotSpotVMTypeEntryArrayStride");
	const uint64_t at_name = word_at("gHotSpotVMTypeEntryTypeNameOffset");
	const uint64_t at_size = word_at("gHotSpotVMTypeEntrySizeOffset");
	const char *entry = (const char *)(uintptr_t)word_at("gHotSpotVMTypes");

	for (; entry && stride; entry += stride) {
		const char *name = *(const char *const *)(entry + at_name);

		if (!name)
			break;
		if (text_equal(name, type))
			return *(const uint64_t *)(entry + at_size);
	}
	return 0;
}

bool java_flag_is_on(const char *name)
{
	const struct java_field *flags = java_field_find("JVMFlag", "flags");
	const struct java_field *count = java_field_find("JVMFlag", "numFlags");
	const struct java_field *its_name = java_field_find("JVMFlag", "_name");
	const struct java_field *its_value = java_field_find("JVMFlag", "_addr");
	const uint64_t size = size_of("JVMFlag");

	if (!flags || !count || !its_name || !its_value || !size)
		return false;

	const char *flag = *(const char *const *)flags->address;

	for (uint64_t i = *(const uint64_t *)count->address; i; i--, flag += size) {
		const char *found = field_at(flag, its_name);

		if (found && text_equal(found, name))
			return *field_at(flag, its_value);
	}
	return false;
}
