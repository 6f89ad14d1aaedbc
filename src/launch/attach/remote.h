/* SPDX-License-Identifier: Apache-2.0 */
/* A process looked at from outside: its memory, its load objects and their exported symbols. */
#ifndef HELIO_LAUNCH_REMOTE_H
#define HELIO_LAUNCH_REMOTE_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct remote_object {
	char *name; /* as /proc/PID/maps has it */
	uint64_t start, end;
};

struct remote_mapping {
	uint64_t start, end;
	bool readable, writable, executable;
	bool is_stack;	/* the first thread's */
	bool anonymous; /* of no file and without a name */
};

struct remote {
	pid_t pid;
	int memory;			     /* /proc/PID/mem */
	VEC(struct remote_object) objects;   /* ELF files, in the order of addresses */
	VEC(struct remote_mapping) mappings; /* all, in the order of addresses */
};

/* False with errno set if the process or its memory cannot be opened. */
bool remote_open(struct remote *remote, pid_t pid);
void remote_close(struct remote *remote);
/* Reads the lists of objects and mappings again. */
bool remote_look(struct remote *remote);

bool remote_read(const struct remote *remote, uint64_t address, void *to, size_t size);
bool remote_write(const struct remote *remote, uint64_t address, const void *from, size_t size);
/* A string of the process, cut to what fits. */
void remote_read_string(const struct remote *remote, uint64_t address, char *to, size_t size);

/* The object whose file's base name begins with `name`, or NULL. */
const struct remote_object *remote_object(const struct remote *remote, const char *name);
/* Where bytes are in the executable parts of an object; 0: nowhere. */
uint64_t remote_find_code(const struct remote *remote, const struct remote_object *object,
			  const void *bytes, size_t size);
/* The base name of an object's file. */
const char *remote_base_name(const struct remote_object *object);

/* The exported symbols of an object, read from the process itself. */
struct remote_symbols {
	void *symbols; /* ElfW(Sym) */
	size_t count;
	char *strings;
	size_t strings_size;
	uint64_t bias;
};

bool remote_symbols_read(const struct remote *remote, const struct remote_object *object,
			 struct remote_symbols *symbols);
void remote_symbols_free(struct remote_symbols *symbols);
/* Address of a symbol; 0: not exported. */
uint64_t remote_symbol(const struct remote_symbols *symbols, const char *name);
/* Calls visit for each function, with its name, address and size. */
void remote_symbols_each(const struct remote_symbols *symbols,
			 void (*visit)(const char *name, uint64_t start, uint64_t size, void *arg),
			 void *arg);

#endif
