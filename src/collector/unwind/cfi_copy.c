/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FDE for one address and its CIE are copied, behind a search table that names nothing else:
 * a small module, which cfi_find reads as any other.  All addresses in it are relative to their
 * place, so what they say has moved by as much as the FDE has; only its way to the CIE is written
 * anew.
 *
 * If the module has gone, and something else is at its place by now, what is read makes no sense
 * or covers other addresses, and there is no answer.
 */
#include "collector/unwind/cfi_copy.h"

enum { CIE_ROOM = 256, AT_ONCE = 128 /* entries of the table */ };

struct entry {
	int32_t start; /* both relative to .eh_frame_hdr */
	int32_t fde;
};

/* .eh_frame_hdr as linkers write it, but for the number of entries. */
static const uint8_t linkers_form[] = {1, 0x1b, 0x03, 0x3b};

struct header {
	uint8_t form[sizeof(linkers_form)];
	int32_t eh_frame;
	uint32_t count;
};

/* What memory->copy holds. */
struct copy {
	struct header header;
	struct entry entry;
	uint8_t cie[CIE_ROOM];
	uint8_t fde[UNWIND_COPY - sizeof(struct header) - sizeof(struct entry) - CIE_ROOM];
};

struct source {
	const struct unwind_stack *stack;
	const struct unwind_module *module;
};

/* Copies up to `size` bytes of the module; returns how many. */
static size_t fetch(const struct source *source, uint64_t address, void *to, size_t size)
{
	const struct unwind_module *module = source->module;
	const struct unwind_stack *stack = source->stack;

	if (address < module->map_start || address >= module->map_end)
		return 0;
	if (size > module->map_end - address)
		size = module->map_end - address;
	size_t got = stack->read_slow(address, to, size, stack->arg);

	return got > size ? 0 : got;
}

/* A whole record, its length first. */
static bool fetch_record(const struct source *source, uint64_t address, void *to, size_t room)
{
	size_t got = fetch(source, address, to, room);

	return got >= 8 && *(const word32 *)to <= got - 4;
}

/* The last of `count` entries that does not begin beyond the key, if the first does not. */
static const struct entry *last_before(const struct entry *entry, uint64_t count, int64_t key)
{
	for (; count > 1; count -= count / 2)
		entry = entry[count / 2].start <= key ? entry + count / 2 : entry;
	return entry;
}

/* The FDE that the search table names for `pc`: 0 when there is none. `entries` is room. */
static uint64_t search(const struct source *source, uint64_t pc, struct entry *entries)
{
	uint64_t base = (uint64_t)source->module->eh_frame_hdr;
	uint64_t at = base + sizeof(struct header), count;
	int64_t key = (int64_t)(pc - base);
	struct header header;

	if (fetch(source, base, &header, sizeof(header)) != sizeof(header) ||
	    __builtin_memcmp(header.form, linkers_form, sizeof(linkers_form)))
		return 0;
	for (count = header.count; count > AT_ONCE; count -= count / 2) {
		uint64_t middle = at + count / 2 * sizeof(struct entry);

		if (fetch(source, middle, entries, sizeof(*entries)) != sizeof(*entries))
			return 0;
		at = entries->start <= key ? middle : at;
	}
	if (!count ||
	    fetch(source, at, entries, count * sizeof(*entries)) != count * sizeof(*entries))
		return 0;
	return base + (uint64_t)(int64_t)last_before(entries, count, key)->fde;
}

/* Makes a module of the two records that are there. */
static void make_module(struct unwind_module *module, struct copy *copy)
{
	copy->header = (struct header){.count = 1};
	__builtin_memcpy(copy->header.form, linkers_form, sizeof(linkers_form));
	copy->entry = (struct entry){INT32_MIN, (int32_t) __builtin_offsetof(struct copy, fde)};
	*(word32 *)(copy->fde + 4) = (uint32_t)(copy->fde + 4 - copy->cie);
	*module = (struct unwind_module){
		.eh_frame_hdr = (const uint8_t *)copy,
		.eh_frame_hdr_size = sizeof(copy->header) + sizeof(copy->entry),
		.map_start = (uint64_t)copy,
		.map_end = (uint64_t)(copy + 1),
	};
}

enum cfi_answer cfi_copy_find(struct unwind_memory *memory, const struct unwind_stack *stack,
			      const struct unwind_module *module, uint64_t pc,
			      struct cfi_row *states, struct cfi_result *result)
{
	const struct source source = {stack, module};
	struct copy *copy = (struct copy *)memory->copy;

	_Static_assert(sizeof(*copy) == sizeof(memory->copy), "the copy fills its room");
	_Static_assert(sizeof(copy->fde) >= AT_ONCE * sizeof(struct entry), "room for them");
	if (!stack->read_slow || !module->eh_frame_hdr)
		return CFI_NONE;
	uint64_t fde = search(&source, pc, (struct entry *)copy->fde);
	uint64_t moved = (uint64_t)copy->fde - fde;

	if (!fetch_record(&source, fde, copy->fde, sizeof(copy->fde)) ||
	    !fetch_record(&source, fde + 4 - *(const word32 *)(copy->fde + 4), copy->cie,
			  sizeof(copy->cie)))
		return CFI_NONE;
	make_module(&memory->copied, copy);
	enum cfi_answer answer = cfi_find(&memory->copied, pc + moved, states, result);

	result->function -= moved;
	return answer == CFI_FOUND ? CFI_FOUND : CFI_NONE;
}
