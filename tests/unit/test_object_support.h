/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the object room share: a directory to work in, commands
 * run there, and questions to an object by address or name.
 */
#ifndef HELIO_TESTS_OBJECT_SUPPORT_H
#define HELIO_TESTS_OBJECT_SUPPORT_H

#include "base/memory.h"
#include "object/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SUPPORT __attribute__((unused)) static

SUPPORT char work_directory[] = "/tmp/helio-object-XXXXXX";

/* Group fixtures: everything happens in a directory of its own. */
SUPPORT int enter_directory(void **state)
{
	(void)state;
	return mkdtemp(work_directory) ? chdir(work_directory) : -1;
}

SUPPORT int leave_directory(void **state)
{
	char *command = xasprintf("rm -rf %s", work_directory);
	int result = chdir("/") || system(command);

	(void)state;
	free(command);
	return result;
}

SUPPORT void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A shell command that must succeed. */
SUPPORT void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
SUPPORT void run(const char *format, ...)
{
	va_list args;
	char *command;

	va_start(args, format);
	assert_true(vasprintf(&command, format, args) > 0);
	va_end(args);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
	free(command);
}

/* The first line that a command prints, without the newline; to be freed. */
SUPPORT char *output_of(const char *command)
{
	FILE *pipe = popen(command, "r");
	char *line = NULL;
	size_t size = 0;

	assert_non_null(pipe);
	if (getline(&line, &size, pipe) < 0)
		fail_msg("no output: %s", command);
	pclose(pipe);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* The address that nm gives for a symbol. */
SUPPORT uint64_t address_of(const char *file, const char *symbol)
{
	char *command = xasprintf("nm %s | awk '$3 == \"%s\" {print $1}'", file, symbol);
	char *line = output_of(command);
	uint64_t address = strtoull(line, NULL, 16);

	free(line);
	free(command);
	return address;
}

SUPPORT char *build_id_of(const char *file)
{
	char *command = xasprintf("readelf -n %s 2>/dev/null | awk '/Build ID/ {print $3}'", file);
	char *id = output_of(command);

	free(command);
	return id;
}

SUPPORT bool exists(const char *path)
{
	return access(path, R_OK) == 0;
}

/* Opens an object that must be found without any message. */
SUPPORT struct object *open_object(const char *path)
{
	struct object_request request = {.path = path};
	struct diag_list diags = {0};
	struct object *object;

	object_open(&request, &object, &diags);
	if (diags.count)
		fail_msg("%s", diags.items[0].text);
	assert_string_equal(object_provenance(object), "found");
	return object;
}

/* The mangled name at an address, "none" outside code. */
SUPPORT const char *name_at(struct object *object, uint64_t address)
{
	uint32_t index = object_function_at(object, address);

	if (index == OBJECT_NO_FUNCTION)
		return "none";
	assert_true(index < object_function_count(object));

	const struct object_function *function = object_function(object, index);

	assert_true(address >= function->address && address - function->address < function->size);
	return function->mangled;
}

SUPPORT const struct object_function *function_at(struct object *object, uint64_t address)
{
	uint32_t index = object_function_at(object, address);

	assert_int_not_equal(index, OBJECT_NO_FUNCTION);
	return object_function(object, index);
}

SUPPORT bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

#endif
