/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines FILE what <addresses: asks for the lines of the addresses, hexadecimal,
 * one per line.  what is "lines", "calls" (inlined ones too), or "source": of
 * the function at the first address all that its annotated source and
 * disassembly need.  Prints seconds, how many addresses have a line, and how many MB of FILE
 * were in memory for that.
 *
 * With "chains" it prints what it found, for comparison with other tools: of
 * each address a line with it and the symbol there, and for each call, innermost
 * first, one with function and FILE:LINE; separated by a tab.
 */
#include "object/lines/lines.h"
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

static void print_place(struct lines *lines, const char *function, uint32_t file, uint32_t line)
{
	printf("%s\t%s:%u\n", function, file == LINES_NONE ? "??" : lines_file(lines, file)->path,
	       line);
}

static void print_chain(struct object *object, uint64_t address)
{
	struct lines *lines = object_lines(object);
	uint32_t number = object_function_at(object, address), id;
	struct line_row row;

	lines_find(lines, &address, 1, &row);
	lines_find_inlined(lines, &address, 1, &id);
	printf("0x%lx\t%s\n", address,
	       number == OBJECT_NO_FUNCTION ? "??" : object_function(object, number)->mangled);
	if (id == LINES_NONE)
		print_place(lines, "??", row.file, row.line);
	for (uint32_t file = row.file, line = row.line; id != LINES_NONE;) {
		struct inline_node node = lines_inline_node(lines, id);

		print_place(lines, lines_function(lines, node.function)->mangled, file, line);
		file = node.call_file;
		line = node.call_line;
		id = node.parent;
	}
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
	lines_of_file(lines, lines_first(lines, function->address, UINT64_MAX).file, &rows);

	size_t found = rows.count;

	isa_free(isa);
	strbuf_fini(&text);
	vec_fini(&rows);
	free(code);
	return found;
}

/* What is mapped of a file and has been read, in MB. */
static double mapped_megabytes(const char *path)
{
	char line[4096], *name = realpath(path, NULL);
	FILE *maps = fopen("/proc/self/smaps", "re");
	unsigned long size, sum = 0;
	bool is_file = false;

	while (maps && name && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%*x-%lx ", &size) == 1)
			is_file = strstr(line, name);
		else if (is_file && sscanf(line, "Rss: %lu kB", &size) == 1)
			sum += size;
	}
	if (maps)
		fclose(maps);
	free(name);
	return (double)sum / 1024;
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

	for (size_t i = 0; i < addresses.count && !strcmp(argv[2], "chains"); i++)
		print_chain(object, addresses.items[i]);

	size_t found = !strcmp(argv[2], "source") ? find_source(object, addresses.items[0])
						  : find_lines(object_lines(object), &addresses,
							       !strcmp(argv[2], "calls"));

	if (strcmp(argv[2], "chains") != 0)
		printf("%.4f %zu %.1f\n", now() - begin, found, mapped_megabytes(argv[1]));
	object_free(object);
	diag_fini(&diags);
	vec_fini(&addresses);
	return 0;
}
