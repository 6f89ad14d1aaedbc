/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind_support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NODES = 1 << 20, MODULES = 1024 };

struct node {
	uint32_t parent;
	uint64_t pc;
};

static struct node nodes[NODES];
static uint32_t node_slots[NODES * 2];
static uint32_t node_count = 1;

uint32_t support_intern(uint32_t parent, uint64_t pc, void *arg)
{
	uint64_t hash = (pc ^ (uint64_t)parent << 32) * 0x9e3779b97f4a7c15;
	uint32_t slot = (uint32_t)(hash >> 43);

	while (node_slots[slot]) {
		struct node *node = &nodes[node_slots[slot]];

		if (node->parent == parent && node->pc == pc)
			return node_slots[slot];
		slot = (slot + 1) % (NODES * 2);
	}
	if (node_count == NODES)
		return 0;
	nodes[node_count] = (struct node){parent, pc};
	node_slots[slot] = node_count;
	return node_count++;
}

uint32_t support_node_count(void)
{
	return node_count;
}

uint32_t support_path(uint32_t node, uint64_t *pcs, uint32_t capacity)
{
	uint32_t count = 0;

	for (; node && count < capacity; node = nodes[node].parent)
		pcs[count++] = nodes[node].pc;
	return count;
}

/* The symbols of the program itself, static ones too. */
static const char *program_symbol(uint64_t pc)
{
	static const char *image;
	const ElfW(Ehdr) * header;
	const ElfW(Shdr) * sections, *table;
	const ElfW(Sym) * symbol, *end;
	struct link_map *program = _r_debug.r_map;
	struct stat status;
	int fd;

	if (!image) {
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		fstat(fd, &status);
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	header = (const ElfW(Ehdr) *)image;
	sections = (const ElfW(Shdr) *)(image + header->e_shoff);
	for (table = sections; table < sections + header->e_shnum; table++) {
		if (table->sh_type != SHT_SYMTAB)
			continue;
		symbol = (const ElfW(Sym) *)(image + table->sh_offset);
		end = symbol + table->sh_size / sizeof(*symbol);
		for (; symbol < end; symbol++) {
			if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
			    pc - program->l_addr - symbol->st_value < symbol->st_size)
				return image + sections[table->sh_link].sh_offset + symbol->st_name;
		}
	}
	return NULL;
}

const char *support_name(uint64_t pc)
{
	const char *name = program_symbol(pc);
	Dl_info info;

	if (name)
		return name;
	if (!dladdr((void *)pc, &info) || !info.dli_sname)
		return "?";
	return info.dli_sname;
}

bool support_is_in(uint64_t pc, const char *name)
{
	return !strcmp(support_name(pc), name);
}

bool support_begins(uint32_t from, uint32_t skip, ...)
{
	const char *name;
	va_list names;
	bool same = true;

	while (skip--)
		from = nodes[from].parent;
	va_start(names, skip);
	while (same && (name = va_arg(names, const char *))) {
		same = from && support_is_in(nodes[from].pc, name);
		from = nodes[from].parent;
	}
	va_end(names);
	return same;
}

struct list {
	struct unwind_modules *modules;
	const char *without;
};

static const ElfW(Phdr) * find_load(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &info->dlpi_phdr[i];

		if (load->p_type == PT_LOAD && address - load->p_vaddr < load->p_memsz)
			return load;
	}
	return NULL;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct list *list = arg;
	const ElfW(Phdr) *header = NULL, *load = NULL;
	bool without =
		list->without && (*list->without ? strstr(info->dlpi_name, list->without) != NULL
						 : !*info->dlpi_name);
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			header = &info->dlpi_phdr[i];
	}
	if (header && !without)
		load = find_load(info, header->p_vaddr);
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *text = &info->dlpi_phdr[i];
		struct unwind_module *module = &list->modules->items[list->modules->count];

		if (text->p_type != PT_LOAD || !(text->p_flags & PF_X) ||
		    list->modules->count == MODULES)
			continue;
		*module = (struct unwind_module){.start = info->dlpi_addr + text->p_vaddr,
						 .end = info->dlpi_addr + text->p_vaddr +
							text->p_memsz,
						 .bias = info->dlpi_addr};
		if (load) {
			module->eh_frame_hdr = (const uint8_t *)(info->dlpi_addr + header->p_vaddr);
			module->eh_frame_hdr_size = header->p_memsz;
			module->map_start = info->dlpi_addr + load->p_vaddr;
			module->map_end = module->map_start + load->p_memsz;
		}
		list->modules->count++;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct unwind_module *first = a, *second = b;

	return (first->start > second->start) - (first->start < second->start);
}

void support_publish_without_cfi(const char *object)
{
	struct list list = {.without = object};

	list.modules =
		calloc(1, sizeof(struct unwind_modules) + MODULES * sizeof(struct unwind_module));
	dl_iterate_phdr(add_object, &list);
	qsort(list.modules->items, list.modules->count, sizeof(list.modules->items[0]), compare);
	unwind_modules_publish(list.modules);
}

void support_publish(void)
{
	support_publish_without_cfi(NULL);
}

static size_t read_process(uint64_t address, void *to, size_t size, void *arg)
{
	pid_t pid = *(pid_t *)arg;
	struct iovec local = {to, size}, remote = {(void *)address, size};
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

struct unwind_stack support_stack_of(pid_t *pid)
{
	return (struct unwind_stack){.read_slow = read_process, .arg = pid};
}

struct unwind_stack support_stack(void)
{
	static pid_t self;
	pthread_attr_t attributes;
	void *low;
	size_t size;

	self = getpid();
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size);
	pthread_attr_destroy(&attributes);
	return (struct unwind_stack){.low = (uint64_t)low,
				     .high = (uint64_t)low + size,
				     .read_slow = read_process,
				     .arg = &self};
}

struct unwind_memory *support_memory(uint32_t limit)
{
	struct unwind_memory *memory = mmap(NULL, unwind_memory_size(limit), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	unwind_memory_init(memory, limit);
	return memory;
}
