/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines FILE what <addresses: asks for the lines of the addresses, hexadecimal,
 * one per line.  what is "lines", "calls" (inlined ones too), or "source": of
 * the function at the first address all that its annotated source and
 * disassembly need.  Prints seconds and how many addresses have a line.
 */
#include "object/lines.h"
#include "base/memory.h"
#include "isa/isa.h"
#include "object/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct addresses {
	uint64_t *items;
	size_t count, capacity;
};

static size_t find_lines(struct lines *lines, const struct addresses *addresses, bool with_calls)
{
	struct line_row *rows = xcalloc(addresses->count, sizeof(*rows));
	uint32_t *nodes = xcalloc(addresses->count, sizeof(*nodes));
	size_t found = 0;

	lines_find(lines, addresses->items, addresses->count, rows);
	if (with_calls)
		lines_find_inlined(lines, addresses->items, addresses->count, nodes);
	for (size_t i = 0; i < addresses->count; i++)
		found += rows[i].file != LINES_NONE;
	free(rows);
	free(nodes);
	return found;
}

/* The function's own rows, all rows of its file, its inlined calls, its instructions. */
static size_t find_source(struct object *object, uint64_t address)
{
	uint32_t number = object_function_at(object, address);

	if (number == OBJECT_NO_FUNCTION)
		return 0;
	struct lines *lines = object_lines(object);
	const struct object_function *function = object_function(object, number);
	struct line_rows rows = {0};
	uint8_t *code = xmalloc(function->size);
	size_t size = object_code(object, function->address, code, function->size);
	struct isa *isa = isa_new(object_machine(object));
	struct isa_instruction instruction;
	struct strbuf text = {0};
	uint32_t node;

	lines_in_range(lines, function->address, function->address + function->size, &rows);
	for (size_t at = 0; isa && at < size; at += instruction.length) {
		isa_text(isa, code + at, size - at, function->address + at, ISA_ATT, NULL, NULL,
			 &instruction, &text);
		lines_find_inlined(lines, &instruction.address, 1, &node);
	}
	lines_of_file(lines, lines_source_of(lines, function->address, UINT64_MAX), &rows);

	size_t found = rows.count;

	isa_free(isa);
	strbuf_fini(&text);
	vec_fini(&rows);
	free(code);
	return found;
}

int main(int argc, char **argv)
{
	struct object_request request = {.path = argc == 3 ? argv[1] : ""};
	struct addresses addresses = {0};
	struct diag_list diags = {0};
	struct object *object;
	uint64_t address;

	while (scanf("%lx", &address) == 1)
		*vec_push(&addresses) = address;
	if (argc != 3 || !addresses.count)
		return 2;
	double begin = now();

	object_open(&request, &object, &diags);

	size_t found = !strcmp(argv[2], "source") ? find_source(object, addresses.items[0])
						  : find_lines(object_lines(object), &addresses,
							       !strcmp(argv[2], "calls"));

	printf("%.4f %zu\n", now() - begin, found);
	object_free(object);
	diag_fini(&diags);
	vec_fini(&addresses);
	return 0;
}
