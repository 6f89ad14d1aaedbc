/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch points: the processor's debug registers as counters of accesses to an address.  A
 * symbol is looked up in the program's file; the collector adds where the program is loaded,
 * and only in processes that run this file.
 */
#include "launch/counter/counter.h"

#include "base/array.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LENGTH_MAX = 8 };

/* What follows the last colon; without one, accesses of both kinds. */
static bool read_kind(const char *text, struct counter *counter)
{
	static const struct {
		const char *text;
		uint64_t type;
		const char *title;
	} kinds[] = {
		{"", HW_BREAKPOINT_RW, "Accesses to"},
		{"rw", HW_BREAKPOINT_RW, "Accesses to"},
		{"w", HW_BREAKPOINT_W, "Writes to"},
		{"x", HW_BREAKPOINT_X, "Executions of"},
	};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (strcmp(kinds[i].text, text) != 0)
			continue;
		counter->event.bp_type = kinds[i].type;
		snprintf(counter->title, sizeof(counter->title), "%s ", kinds[i].title);
		return true;
	}
	return false;
}

static bool read_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

/* ADDRESS or SYMBOL[+OFFSET] */
static bool read_place(char *text, struct counter *counter)
{
	char *plus = strchr(text, '+');
	uint64_t *address = &counter->event.config1;

	if (isdigit((unsigned char)*text))
		return read_number(text, address);
	*address = 0;
	if (plus && !read_number(plus + 1, address))
		return false;
	if (plus)
		*plus = '\0';
	snprintf(counter->symbol, sizeof(counter->symbol), "%s", text);
	return *text && strlen(text) < sizeof(counter->symbol);
}

static bool read_parts(char *text, struct counter *counter)
{
	char *colon = strrchr(text, ':'), *slash;
	uint64_t length = 0;

	if (!read_kind(colon ? colon + 1 : "", counter))
		return false;
	if (colon)
		*colon = '\0';
	size_t used = strlen(counter->title);

	snprintf(counter->title + used, sizeof(counter->title) - used, "%s", text);
	slash = strchr(text, '/');
	if (slash && (!read_number(slash + 1, &length) || !length || length > LENGTH_MAX ||
		      length & (length - 1)))
		return false;
	if (slash)
		*slash = '\0';
	counter->event.config2 = length;
	return read_place(text, counter);
}

bool counter_watch(struct counter *counter, const char *text, struct diag_list *diags)
{
	char *copy = xstrdup(text);
	bool good;

	counter->event.type = PERF_TYPE_BREAKPOINT;
	counter->event.flags |= COUNTER_HAS_ADDRESS;
	counter->unit = FORMAT_COUNTER_EVENTS;
	counter->paces[COUNTER_HIGH] = counter->paces[COUNTER_ON] = 1;
	counter->paces[COUNTER_LOW] = 101;
	snprintf(counter->name, sizeof(counter->name), "mem:%s", text);
	good = strlen(text) < COUNTER_TEXT / 2 && read_parts(copy, counter);
	free(copy);
	if (!good)
		diag_add(diags, DIAG_ERROR,
			 "Invalid watch point 'mem:%s': write mem:SYMBOL, mem:SYMBOL+OFFSET or "
			 "mem:0xADDRESS, then /1, /2, /4 or /8 bytes, then :w for writes, :rw for "
			 "all accesses, :x for executions",
			 text);
	return good;
}

/* ---- symbols ---- */

struct search {
	const char *name;
	GElf_Sym found;
	bool is_found;
};

static void search_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct search *search)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && !search->is_found && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (!name || symbol.st_shndx == SHN_UNDEF || strcmp(name, search->name) != 0 ||
		    GELF_ST_TYPE(symbol.st_info) == STT_TLS)
			continue;
		search->found = symbol;
		search->is_found = true;
	}
}

static bool find_symbol(int fd, struct search *search)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	while (elf && !search->is_found && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			search_table(elf, section, &header, search);
	elf_end(elf);
	return search->is_found;
}

/* The longest piece that begins here, fits and is aligned as the processor wants it. */
static uint64_t fit_length(uint64_t address, uint64_t size)
{
	uint64_t length = LENGTH_MAX;

	while (length > 1 && (length > size || address & (length - 1)))
		length /= 2;
	return length;
}

/* What can be watched, but is hardly meant. */
static void warn_of_symbol(const struct counter *counter, const GElf_Sym *symbol,
			   struct diag_list *diags)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if ((type == STT_FUNC || type == STT_GNU_IFUNC) &&
	    counter->event.bp_type != HW_BREAKPOINT_X)
		diag_add(diags, DIAG_WARNING,
			 "%s: '%s' is a function, whose code nobody writes: mem:%s:x counts how "
			 "often it is called",
			 counter->name, counter->symbol, counter->symbol);
	if (symbol->st_size && counter->event.config1 >= symbol->st_size)
		diag_add(diags, DIAG_WARNING,
			 "%s: '%s' has %llu bytes: what is watched lies behind it", counter->name,
			 counter->symbol, (unsigned long long)symbol->st_size);
}

static bool look_up(struct counter *counter, const char *program, uint64_t *size,
		    struct diag_list *diags)
{
	struct search search = {.name = counter->symbol};
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool found = fd >= 0 && !fstat(fd, &st) && find_symbol(fd, &search);

	if (fd >= 0)
		close(fd);
	if (!found) {
		diag_add(diags, DIAG_ERROR,
			 "%s: %s has no symbol '%s': it may be a variable of a library or of a "
			 "thread, or the program is stripped; mem:0xADDRESS names any address",
			 counter->name, program, counter->symbol);
		return false;
	}
	warn_of_symbol(counter, &search.found, diags);
	*size = search.found.st_size > counter->event.config1
			? search.found.st_size - counter->event.config1
			: LENGTH_MAX;
	counter->event.config1 += search.found.st_value;
	counter->event.program = st.st_ino;
	return true;
}

bool counter_resolve(struct counter *counter, const char *program, struct diag_list *diags)
{
	struct format_counter *event = &counter->event;
	uint64_t size = LENGTH_MAX;

	if (event->type != PERF_TYPE_BREAKPOINT)
		return true;
	if (counter->symbol[0] && !look_up(counter, program, &size, diags))
		return false;
	if (event->bp_type == HW_BREAKPOINT_X)
		event->config2 = sizeof(long);
	else if (!event->config2)
		event->config2 = fit_length(event->config1, size);
	else if (event->config1 & (event->config2 - 1)) {
		diag_add(diags, DIAG_ERROR,
			 "%s: %llu bytes can be watched only at a multiple of %llu; leave the "
			 "length out to watch what can be watched there",
			 counter->name, (unsigned long long)event->config2,
			 (unsigned long long)event->config2);
		return false;
	}
	return true;
}

/* ---- whether they fire ---- */

static volatile uint64_t tried_word __attribute__((aligned(LENGTH_MAX)));

static __attribute__((noinline)) void tried_function(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Whether each access is counted, on both sides of the switches to other threads. */
static bool counts_accesses(int fd)
{
	enum { ACCESSES = 8 };
	uint64_t counted;

	for (unsigned i = 0; i < ACCESSES; i++) {
		tried_word = i;
		tried_function();
		sched_yield();
	}
	return read(fd, &counted, sizeof(counted)) == sizeof(counted) && counted >= ACCESSES;
}

bool counter_watch_works(uint64_t type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = (uint32_t)type,
		.bp_addr = (uint64_t)(type == HW_BREAKPOINT_X ? (uintptr_t)tried_function
							      : (uintptr_t)&tried_word),
		.bp_len = type == HW_BREAKPOINT_X ? sizeof(long) : LENGTH_MAX,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return true; /* opening the real one tells why not */
	bool works = counts_accesses(fd);

	close(fd);
	return works;
}
