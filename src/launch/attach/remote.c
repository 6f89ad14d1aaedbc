/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols come from the process's memory and not from the file: the file may be
 * in another mount namespace, replaced by an update, or gone.
 */
#include "launch/attach/remote.h"

#include "base/strbuf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than this is no table of symbols of a library. */
enum { TABLE_MAX = 64 << 20, SEGMENTS_MAX = 64, DYNAMIC_MAX = 256 };

bool remote_read(const struct remote *remote, uint64_t address, void *to, size_t size)
{
	return pread(remote->memory, to, size, (off_t)address) == (ssize_t)size;
}

bool remote_write(const struct remote *remote, uint64_t address, const void *from, size_t size)
{
	return pwrite(remote->memory, from, size, (off_t)address) == (ssize_t)size;
}

void remote_read_string(const struct remote *remote, uint64_t address, char *to, size_t size)
{
	size_t length = 0;

	while (length + 1 < size && remote_read(remote, address + length, to + length, 1) &&
	       to[length])
		length++;
	to[length] = '\0';
}

/* A line of /proc/PID/maps: objects are runs of mappings of one file. */
static void take_mapping(struct remote *remote, const char *line)
{
	uint64_t start, end;
	int name_at = 0;
	char rights[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &start, &end, rights,
		   &name_at) < 3 ||
	    !name_at)
		return;
	const char *name = line + name_at;

	*vec_push(&remote->mappings) = (struct remote_mapping){.start = start,
							       .end = end,
							       .readable = rights[0] == 'r',
							       .writable = rights[1] == 'w',
							       .executable = rights[2] == 'x',
							       .is_stack = !strcmp(name, "[stack]"),
							       .anonymous = !*name};
	if (*name != '/')
		return;
	size_t count = remote->objects.count;
	struct remote_object *last = count ? &remote->objects.items[count - 1] : NULL;

	if (last && !strcmp(last->name, name)) {
		last->end = end;
		return;
	}
	*vec_push(&remote->objects) =
		(struct remote_object){.name = xstrdup(name), .start = start, .end = end};
}

static void forget_objects(struct remote *remote)
{
	for (size_t i = 0; i < remote->objects.count; i++)
		free(remote->objects.items[i].name);
	remote->objects.count = 0;
	remote->mappings.count = 0;
}

/* The list of mappings, to be freed; NULL with errno set. */
static char *read_maps(pid_t pid)
{
	char path[64], part[4096];
	struct strbuf text = {0};

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	for (ssize_t got; (got = read(fd, part, sizeof(part))) > 0;)
		strbuf_add(&text, part, (size_t)got);
	close(fd);
	strbuf_add(&text, "", 1);
	return text.text;
}

/* The kernel gives out a page at a time; what changes in between may be there twice, or not. */
static char *read_steady_maps(pid_t pid)
{
	enum { TRIES = 5 };
	char *text = read_maps(pid);

	for (int i = 0; text && i < TRIES; i++) {
		char *again = read_maps(pid);
		bool same = again && !strcmp(again, text);

		free(text);
		text = again;
		if (same)
			break;
	}
	return text;
}

bool remote_look(struct remote *remote)
{
	char *text = read_steady_maps(remote->pid);
	char *rest = text;

	if (!text)
		return false;
	forget_objects(remote);
	for (char *line; (line = strsep(&rest, "\n"));)
		take_mapping(remote, line);
	free(text);
	return true;
}

bool remote_open(struct remote *remote, pid_t pid)
{
	char path[64];

	*remote = (struct remote){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	remote->memory = open(path, O_RDWR | O_CLOEXEC);
	if (remote->memory < 0)
		return false;
	if (remote_look(remote))
		return true;
	int error = errno;

	remote_close(remote);
	errno = error;
	return false;
}

void remote_close(struct remote *remote)
{
	forget_objects(remote);
	vec_fini(&remote->objects);
	vec_fini(&remote->mappings);
	if (remote->memory >= 0)
		close(remote->memory);
	remote->memory = -1;
}

const char *remote_base_name(const struct remote_object *object)
{
	return strrchr(object->name, '/') + 1;
}

const struct remote_object *remote_object(const struct remote *remote, const char *name)
{
	for (size_t i = 0; i < remote->objects.count; i++)
		if (!strncmp(remote_base_name(&remote->objects.items[i]), name, strlen(name)))
			return &remote->objects.items[i];
	return NULL;
}

uint64_t remote_find_code(const struct remote *remote, const struct remote_object *object,
			  const void *bytes, size_t size)
{
	uint64_t found = 0;

	for (size_t i = 0; i < remote->mappings.count && !found; i++) {
		const struct remote_mapping *mapping = &remote->mappings.items[i];
		size_t length = mapping->end - mapping->start;

		if (!mapping->executable || mapping->start < object->start ||
		    mapping->end > object->end || length > TABLE_MAX)
			continue;
		char *code = xcalloc(length, 1);
		const char *at = remote_read(remote, mapping->start, code, length)
					 ? memmem(code, length, bytes, size)
					 : NULL;

		found = at ? mapping->start + (uint64_t)(at - code) : 0;
		free(code);
	}
	return found;
}

/* ---- symbols ---- */

struct dynamic {
	uint64_t symbols, strings, strings_size, gnu_hash, hash;
};

/* The dynamic linker has put addresses in place of offsets; musl and the vDSO keep offsets. */
static uint64_t address_of(uint64_t value, uint64_t bias)
{
	return value < bias ? value + bias : value;
}

static bool read_dynamic(const struct remote *remote, uint64_t base, struct dynamic *dynamic,
			 uint64_t *bias)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	Elf64_Dyn entries[DYNAMIC_MAX];
	const Elf64_Phdr *found = NULL;
	bool based = false;

	if (!remote_read(remote, base, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phnum > SEGMENTS_MAX || header.e_phentsize != sizeof(segments[0]) ||
	    !remote_read(remote, base + header.e_phoff, segments,
			 header.e_phnum * sizeof(segments[0])))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && !based) {
			*bias = base - (segments[i].p_vaddr - segments[i].p_offset);
			based = true;
		}
		if (segments[i].p_type == PT_DYNAMIC)
			found = &segments[i];
	}
	size_t count = found ? found->p_memsz / sizeof(entries[0]) : 0;

	if (count > DYNAMIC_MAX)
		count = DYNAMIC_MAX;
	if (!count ||
	    !remote_read(remote, *bias + found->p_vaddr, entries, count * sizeof(entries[0])))
		return false;
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		uint64_t value = entries[i].d_un.d_val;

		switch (entries[i].d_tag) {
		case DT_SYMTAB:
			dynamic->symbols = address_of(value, *bias);
			break;
		case DT_STRTAB:
			dynamic->strings = address_of(value, *bias);
			break;
		case DT_STRSZ:
			dynamic->strings_size = value;
			break;
		case DT_GNU_HASH:
			dynamic->gnu_hash = address_of(value, *bias);
			break;
		case DT_HASH:
			dynamic->hash = address_of(value, *bias);
			break;
		}
	}
	return dynamic->symbols && dynamic->strings && dynamic->strings_size < TABLE_MAX;
}

/* A GNU hash table tells the number of symbols only by its last chain. */
static size_t count_by_gnu_hash(const struct remote *remote, uint64_t table)
{
	uint32_t head[4]; /* buckets, first symbol, Bloom filter's words, shift */
	uint32_t last = 0, chain;

	if (!remote_read(remote, table, head, sizeof(head)) || head[0] > TABLE_MAX / 4)
		return 0;
	uint64_t buckets_at = table + sizeof(head) + head[2] * sizeof(uint64_t);
	uint32_t *buckets = xcalloc(head[0] + 1, sizeof(*buckets));

	if (remote_read(remote, buckets_at, buckets, head[0] * sizeof(*buckets)))
		for (uint32_t i = 0; i < head[0]; i++)
			last = buckets[i] > last ? buckets[i] : last;
	free(buckets);
	if (last < head[1])
		return 0;
	uint64_t chains_at = buckets_at + head[0] * sizeof(uint32_t);

	do
		if (!remote_read(remote, chains_at + (last - head[1]) * sizeof(chain), &chain,
				 sizeof(chain)))
			return 0;
	while (last++ < TABLE_MAX && !(chain & 1));
	return last;
}

static size_t count_symbols(const struct remote *remote, const struct dynamic *dynamic)
{
	uint32_t head[2]; /* buckets, chains: as many as symbols */

	if (dynamic->hash && remote_read(remote, dynamic->hash, head, sizeof(head)))
		return head[1];
	return dynamic->gnu_hash ? count_by_gnu_hash(remote, dynamic->gnu_hash) : 0;
}

bool remote_symbols_read(const struct remote *remote, const struct remote_object *object,
			 struct remote_symbols *symbols)
{
	struct dynamic dynamic = {0};

	*symbols = (struct remote_symbols){0};
	if (!read_dynamic(remote, object->start, &dynamic, &symbols->bias))
		return false;
	symbols->count = count_symbols(remote, &dynamic);
	if (!symbols->count || symbols->count > TABLE_MAX / sizeof(Elf64_Sym))
		return false;
	symbols->strings_size = dynamic.strings_size;
	symbols->symbols = xcalloc(symbols->count, sizeof(Elf64_Sym));
	symbols->strings = xcalloc(symbols->strings_size + 1, 1);
	if (remote_read(remote, dynamic.symbols, symbols->symbols,
			symbols->count * sizeof(Elf64_Sym)) &&
	    remote_read(remote, dynamic.strings, symbols->strings, symbols->strings_size))
		return true;
	remote_symbols_free(symbols);
	return false;
}

void remote_symbols_free(struct remote_symbols *symbols)
{
	free(symbols->symbols);
	free(symbols->strings);
	*symbols = (struct remote_symbols){0};
}

static const Elf64_Sym *defined(const struct remote_symbols *symbols, size_t index)
{
	const Elf64_Sym *symbol = (const Elf64_Sym *)symbols->symbols + index;

	return symbol->st_value && symbol->st_shndx != SHN_UNDEF &&
			       symbol->st_name < symbols->strings_size
		       ? symbol
		       : NULL;
}

uint64_t remote_symbol(const struct remote_symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const Elf64_Sym *symbol = defined(symbols, i);

		if (symbol && !strcmp(symbols->strings + symbol->st_name, name))
			return symbols->bias + symbol->st_value;
	}
	return 0;
}

void remote_symbols_each(const struct remote_symbols *symbols,
			 void (*visit)(const char *name, uint64_t start, uint64_t size, void *arg),
			 void *arg)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const Elf64_Sym *symbol = defined(symbols, i);

		if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
			visit(symbols->strings + symbol->st_name, symbols->bias + symbol->st_value,
			      symbol->st_size, arg);
	}
}
