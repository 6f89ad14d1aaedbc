/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object's life: opened (its file is mapped and known to be the right one),
 * read (all symbols in our own memory, the files closed again), asked.
 */
#include "object/object.h"

#include "base/hash.h"
#include "object/elf/code_map.h"
#include "object/elf/debug_file.h"
#include "object/elf/debuginfod.h"
#include "object/elf/file.h"
#include "object/lines/lines_private.h"
#include "object/names/name_index.h"
#include "object/types/data.h"
#include "object/types/variables_private.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define VDSO_NAME "[vdso]"

struct object {
	char *path;
	char *archived_debug; /* where a debug file would be kept, or NULL */
	char *build_id;	      /* of the measured file, or NULL */
	struct elf_file file; /* elf NULL: none, or already read */
	struct object_identity identity;
	struct elf_file
		code; /* once more, from the first question about code on; elf NULL: not there */
	bool is_found, has_sought_code;
	char *file_path; /* of the file, or NULL: kept when it is closed */
	char *file_build_id;
	uint16_t machine;
	char *provenance;
	char *debug_path;
	struct lines *lines;	   /* NULL: nobody asked yet */
	struct data_symbols *data; /* likewise */
	struct variables *variables;
	struct name_index *names; /* likewise */
	bool has_been_read;
	struct diag_list diags;

	struct arena arena; /* names, functions */
	struct code_ranges ranges;
	struct symbol_list symbols;
	struct address_list entries, frames;
	struct code_map map;
	struct object_function *functions;
	uint32_t function_count;
	VEC(struct object_function *) made_up;
};

/* Why a file cannot be used; the last reason is what people get to see. */
struct refusal {
	enum status status; /* STATUS_OK: it is another file */
	int error;
	char *build_id; /* its build-id, if it is another file */
};

static bool is_measured_file(const struct elf_file *file, const char *build_id)
{
	return !build_id || (file->build_id && !strcmp(file->build_id, build_id));
}

/* Opens the file if it is the measured one. */
static bool open_measured(const char *path, const char *build_id, struct elf_file *file,
			  struct refusal *refusal)
{
	refusal->status = elf_file_open(path, file);
	if (refusal->status) {
		refusal->error = errno;
		return false;
	}
	if (is_measured_file(file, build_id))
		return true;
	free(refusal->build_id);
	refusal->build_id = xstrdup(file->build_id ? file->build_id : "none");
	elf_file_close(file);
	return false;
}

/*
 * The vDSO of this process: the measured program's, if the kernel is the same.
 * Its last part are the section headers, which gives its size.
 */
static bool open_own_vdso(const char *build_id, struct elf_file *file)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) header;

	if (!vdso)
		return false;
	memcpy(&header, vdso, sizeof(header));

	size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	uint8_t *copy = xmalloc(size);

	memcpy(copy, vdso, size);
	if (elf_file_from_memory(copy, size, file))
		return false;
	if (is_measured_file(file, build_id))
		return true;
	elf_file_close(file);
	return false;
}

static void report_refusal(const struct object *object, const struct refusal *refusal,
			   struct diag_list *diags)
{
	const char *path = object->path;

	if (!strcmp(path, VDSO_NAME))
		diag_add_once(
			diags, DIAG_WARNING,
			"the vDSO's functions have no names: the experiment has no copy of it "
			"and this machine's kernel has another one");
	else if (refusal->status == STATUS_IO)
		diag_add_once(diags, DIAG_WARNING,
			      "%s: %s; its functions have no names, put the measured file back or "
			      "print the experiment where it was collected",
			      path, strerror(refusal->error));
	else if (refusal->status)
		diag_add_once(
			diags, DIAG_WARNING,
			"%s is not an ELF file, or a damaged one; its functions have no names, "
			"put the measured file back",
			path);
	else
		diag_add_once(diags, DIAG_WARNING,
			      "%s is not the file that was measured (its build-id is %s, the "
			      "measured one's %s); its functions have no names, put the measured "
			      "file back, install its debug symbols, or collect again",
			      path, refusal->build_id, object->build_id);
}

/* Without a build-id all that can tell an old file from a new one are its date and size. */
static void check_date(const struct object_request *request, const struct elf_file *file,
		       struct diag_list *diags)
{
	if (request->build_id || !file->path)
		return;
	if ((request->mtime && request->mtime != file->mtime) ||
	    (request->file_size && request->file_size != file->file_size))
		diag_add_once(diags, DIAG_WARNING,
			      "%s was changed after it was measured: function names may be wrong, "
			      "put the measured file back or collect again",
			      file->path);
}

static bool find_file(struct object *object, const struct object_request *request,
		      struct diag_list *diags)
{
	struct refusal refusal = {.status = STATUS_IO, .error = ENOENT};
	struct elf_file *file = &object->file;
	const char *build_id = object->build_id;
	bool is_vdso = !strcmp(object->path, VDSO_NAME);
	bool found = false;

	/* A copy that the experiment keeps has another date: only its build-id counts. */
	if (request->archive_path)
		found = open_measured(request->archive_path, build_id, file, &refusal);
	if (!found && is_vdso) {
		found = open_own_vdso(build_id, file);
	} else if (!found) {
		found = open_measured(object->path, build_id, file, &refusal);
		if (found)
			check_date(request, file, diags);
	}
	/* A debug file knows the addresses of the functions, too. */
	if (!found && build_id)
		found = debug_file_by_build_id(build_id, file);
	if (!found)
		report_refusal(object, &refusal, diags);
	free(refusal.build_id);
	return found;
}

/* What is still to be known of the file when it is closed. */
static void remember_file(struct object *object)
{
	const struct elf_file *file = &object->file;
	GElf_Ehdr header;

	if (gelf_getehdr(file->elf, &header))
		object->machine = header.e_machine;
	if (file->path)
		object->file_path = xstrdup(file->path);
	if (file->build_id)
		object->file_build_id = xstrdup(file->build_id);
}

static void identify(struct object *object)
{
	const struct elf_file *file = &object->file;
	struct object_identity *identity = &object->identity;
	struct stat debug = {0};
	int fd;

	if (object->archived_debug && !file_open_regular(object->archived_debug, &fd, &debug))
		close(fd);
	else
		debug = (struct stat){0};
	*identity = (struct object_identity){
		.device = file->device,
		.inode = file->inode,
		.size = file->file_size,
		.changed_ns = file->changed_ns,
		.debug_device = debug.st_dev,
		.debug_inode = debug.st_ino,
		.debug_size = (uint64_t)debug.st_size,
		.debug_changed_ns = (uint64_t)debug.st_mtim.tv_sec * 1000000000u +
				    (uint64_t)debug.st_mtim.tv_nsec,
		.asked = object->build_id != NULL,
	};
}

bool object_identify(const struct object *object, struct object_identity *out)
{
	*out = object->identity;
	return out->inode;
}

void object_open(const struct object_request *request, struct object **out, struct diag_list *diags)
{
	struct object *object = xcalloc(1, sizeof(*object));

	object->path = xstrdup(request->path ? request->path : "");
	if (request->build_id && request->build_id[0])
		object->build_id = xstrdup(request->build_id);
	if (request->archive_path)
		object->archived_debug =
			xasprintf("%s" OBJECT_ARCHIVED_DEBUG, request->archive_path);

	object->is_found = find_file(object, request, diags);
	if (object->is_found) {
		remember_file(object);
		identify(object);
	}
	if (!object->file.elf)
		object->provenance = xstrdup("not found");
	else if (!object->file.path || !strcmp(object->file.path, object->path))
		object->provenance = xstrdup("found");
	else
		object->provenance = xasprintf("found as %s", object->file.path);
	*out = object;
}

static bool open_archived_debug(const struct object *object, struct elf_file *debug)
{
	struct refusal refusal = {0};
	bool found = object->archived_debug &&
		     open_measured(object->archived_debug, object->build_id, debug, &refusal);

	free(refusal.build_id);
	return found;
}

static bool open_downloaded_debug(const struct elf_file *file, const char *name,
				  struct elf_file *debug)
{
	char *path = file->build_id ? debuginfod_debug_file(file->build_id, name) : NULL;
	struct refusal refusal = {0};
	bool found = path && open_measured(path, file->build_id, debug, &refusal);

	free(refusal.build_id);
	free(path);
	return found;
}

/* Where symbols are that were stripped from the object's file. */
static bool open_debug(struct object *object, const struct elf_file *file, struct elf_file *debug)
{
	return open_archived_debug(object, debug) ||
	       debug_file_find(file, object->path, debug, &object->diags) ||
	       debug_file_embedded(file, object->path, debug, &object->diags) ||
	       open_downloaded_debug(file, object->path, debug);
}

/*
 * Symbols from elsewhere, for an object from which some or all were stripped.  False: there are
 * none.
 */
static bool read_stripped_symbols(struct object *object)
{
	struct elf_file debug;

	if (!open_debug(object, &object->file, &debug))
		return false;
	if (debug.path)
		object->debug_path = xstrdup(debug.path);
	symbols_read(&debug, SHT_SYMTAB, SYMBOLS_OF_CODE, &object->ranges, &object->symbols,
		     &object->arena);
	elf_file_close(&debug);
	return true;
}

static void report_left_out(struct object *object, const struct symbol_list *symbols)
{
	if (symbols->left_out)
		diag_add_once(&object->diags, DIAG_WARNING,
			      "%s: its symbols are damaged: their names lie in one another; %zu of "
			      "them are not read",
			      object->path, symbols->left_out);
}

static bool is_stripped(const struct elf_file *file)
{
	GElf_Shdr header;

	return !elf_file_section(file, SHT_SYMTAB, NULL, &header) ||
	       elf_file_section(file, SHT_PROGBITS, ".gnu_debuglink", &header) ||
	       elf_file_section(file, SHT_PROGBITS, ".gnu_debugdata", &header);
}

static void copy_functions(struct object *object)
{
	const struct symbol_list *symbols = &object->symbols;

	object->function_count = (uint32_t)symbols->count;
	object->functions = arena_array(&object->arena, struct object_function, symbols->count);
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->items[i];

		object->functions[i] = (struct object_function){
			.address = symbol->address,
			.size = symbol->size,
			.mangled = symbol->name,
			.alias_list = symbol->alias_list,
			.is_resolver = symbol->is_resolver,
			.is_slot = symbol->kind == SYMBOL_PLT,
		};
	}
}

/* Reads all symbols, once, and lets go of the file. */
static void read_symbols(struct object *object)
{
	struct elf_file *file = &object->file;
	GElf_Shdr header;

	if (object->has_been_read)
		return;
	object->has_been_read = true;
	if (!file->elf)
		return;
	bool has_all_symbols = elf_file_section(file, SHT_SYMTAB, NULL, &header);

	code_ranges_read(file, &object->ranges);
	symbols_read(file, SHT_SYMTAB, SYMBOLS_OF_CODE, &object->ranges, &object->symbols,
		     &object->arena);
	symbols_read(file, SHT_DYNSYM, SYMBOLS_OF_CODE, &object->ranges, &object->symbols,
		     &object->arena);
	if (is_stripped(file) && read_stripped_symbols(object))
		has_all_symbols = true;
	report_left_out(object, &object->symbols);
	symbols_merge(&object->symbols, &object->arena);
	plt_read(file, &object->symbols, &object->arena);
	entries_read(file, &object->entries, &object->frames);
	symbols_extend(&object->symbols,
		       &(struct code_ends){file, &object->ranges, &object->entries, &object->frames,
					   !has_all_symbols});
	code_map_build(&object->map, &object->ranges, &object->symbols, &object->entries);
	copy_functions(object);

	vec_fini(&object->ranges);
	vec_fini(&object->symbols);
	vec_fini(&object->entries);
	vec_fini(&object->frames);
	elf_file_close(file);
}

void object_free(struct object *object)
{
	if (!object)
		return;
	variables_free(object->variables);
	lines_free(object->lines);
	name_index_free(object->names);
	if (object->data)
		data_symbols_fini(object->data);
	free(object->data);
	elf_file_close(&object->file);
	elf_file_close(&object->code);
	vec_fini(&object->map);
	vec_fini(&object->made_up);
	arena_fini(&object->arena);
	diag_fini(&object->diags);
	free(object->path);
	free(object->archived_debug);
	free(object->build_id);
	free(object->file_path);
	free(object->file_build_id);
	free(object->provenance);
	free(object->debug_path);
	free(object);
}

/*
 * Frame information of what a signal handler returns to begins a byte before its code, since
 * return addresses are looked up one byte before them.
 */
enum { SIGNAL_RETURN_AHEAD = 1 };

static bool is_signal_return(struct object *object, const struct span *span)
{
	/* mov $SYS_rt_sigreturn,%rax; syscall */
	static const uint8_t x86_64[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t bytes[sizeof(x86_64)];

	return span->is_entry && object_machine(object) == EM_X86_64 &&
	       object_code(object, span->start + SIGNAL_RETURN_AHEAD, bytes, sizeof(bytes)) ==
		       sizeof(bytes) &&
	       !memcmp(bytes, x86_64, sizeof(bytes));
}

/* A function for a range of code that has no symbol; its span knows it from now on. */
static uint32_t make_up_function(struct object *object, struct span *span)
{
	struct object_function *function = arena_new(&object->arena, struct object_function);
	const char *slash = strrchr(object->path, '/');
	bool returns = is_signal_return(object, span);

	function->address = span->start + (returns ? SIGNAL_RETURN_AHEAD : 0);
	function->size = span[1].start - function->address;
	function->mangled = returns ? "__restore_rt" /* as C libraries call it */
				    : arena_printf(&object->arena, "<static>@0x%lx (<%s>)",
						   span->start, slash ? slash + 1 : object->path);
	span->function = object->function_count + (uint32_t)object->made_up.count;
	*vec_push(&object->made_up) = function;
	return span->function;
}

void object_make_up_functions(struct object *object)
{
	enum { PADDING_MAX = 64 };
	bool has_entries = false;

	read_symbols(object);
	for (size_t i = 0; i < object->map.count; i++)
		has_entries |= object->map.items[i].is_entry;
	for (size_t i = 0; i + 1 < object->map.count; i++) {
		struct span *span = &object->map.items[i];

		if (span->function == SPAN_STRIPPED &&
		    span[1].start - span->start > SIGNAL_RETURN_AHEAD &&
		    (span->is_entry || (!has_entries && span[1].start - span->start > PADDING_MAX)))
			make_up_function(object, span);
	}
}

uint32_t object_function_at(struct object *object, uint64_t address)
{
	read_symbols(object);

	struct span *span = code_map_find(&object->map, address);

	if (!span || span->function == SPAN_OUTSIDE)
		return OBJECT_NO_FUNCTION;
	if (span->function == SPAN_STRIPPED && span->is_entry &&
	    span[1].start - span->start == SIGNAL_RETURN_AHEAD && span[1].function < SPAN_STRIPPED)
		span++;
	return span->function == SPAN_STRIPPED ? make_up_function(object, span) : span->function;
}

const struct object_function *object_function(const struct object *object, uint32_t index)
{
	if (index < object->function_count)
		return &object->functions[index];
	return object->made_up.items[index - object->function_count];
}

uint32_t object_function_count(struct object *object)
{
	read_symbols(object);
	return object->function_count + (uint32_t)object->made_up.count;
}

const char *object_provenance(const struct object *object)
{
	return object->provenance;
}

bool object_is_missing(const struct object *object)
{
	return !object->is_found;
}

const char *object_debug_file(struct object *object)
{
	read_symbols(object);
	return object->debug_path;
}

struct lines *object_lines(struct object *object)
{
	const struct debug_request request = {
		.file = object->file_path,
		.path = object->path,
		.build_id = object->file_build_id,
		.archived = object->archived_debug,
	};

	if (!object->lines)
		object->lines = lines_new(&request, &object->diags);
	return object->lines;
}

struct name_index *object_name_index(struct object *object)
{
	if (!object->names)
		object->names = name_index_new(object);
	return object->names;
}

uint16_t object_machine(const struct object *object)
{
	return object->machine;
}

/* The code of the section that holds an address, from there on. */
static struct bytes code_at(const struct elf_file *file, uint64_t address)
{
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    address < header.sh_addr || address - header.sh_addr >= header.sh_size)
			continue;
		struct bytes bytes = elf_file_section_bytes(file, &header);
		uint64_t before = address - header.sh_addr;

		return bytes.data ? (struct bytes){bytes.data + before, bytes.size - before}
				  : bytes;
	}
	return (struct bytes){0};
}

/* The file once more: object_open() has found it, reading the symbols has closed it. */
static bool open_again(const struct object *object, struct elf_file *file)
{
	struct refusal refusal = {0};
	bool opened =
		object->file_path
			? open_measured(object->file_path, object->file_build_id, file, &refusal)
			: !strcmp(object->path, VDSO_NAME) && open_own_vdso(object->build_id, file);

	free(refusal.build_id);
	return opened;
}

size_t object_code(struct object *object, uint64_t address, void *buffer, size_t size)
{
	if (!object->has_sought_code && !open_again(object, &object->code))
		object->code = (struct elf_file){0};
	object->has_sought_code = true;
	if (!object->code.elf)
		return 0;
	struct bytes code = code_at(&object->code, address);

	if (size > code.size)
		size = code.size;
	if (buffer && size)
		memcpy(buffer, code.data, size);
	return size;
}

struct variables *object_variables(struct object *object)
{
	struct elf_file file;

	if (!object->variables)
		object->variables = variables_new(object_lines(object),
						  open_again(object, &file) ? &file : NULL,
						  object->path, &object->diags);
	return object->variables;
}

static void read_data(struct object *object)
{
	struct elf_file file, debug;

	object->data = xcalloc(1, sizeof(*object->data));
	if (!open_again(object, &file))
		return;
	data_ranges_read(&file, object->data);
	data_symbols_read(&file, object->data);
	if (is_stripped(&file) && open_debug(object, &file, &debug)) {
		data_symbols_read(&debug, object->data);
		elf_file_close(&debug);
	}
	report_left_out(object, &object->data->symbols);
	data_symbols_finish(object->data);
	elf_file_close(&file);
}

bool object_data_at(struct object *object, uint64_t address, struct object_data *out)
{
	if (!object->data)
		read_data(object);

	const struct symbol *symbol = data_symbols_find(object->data, address);

	*out = (struct object_data){.address = address};
	if (symbol)
		*out = (struct object_data){
			.mangled = symbol->name, .address = symbol->address, .size = symbol->size};
	return symbol || code_ranges_find(&object->data->ranges, address);
}

bool object_data_span(struct object *object, uint64_t *start, uint64_t *end)
{
	if (!object->data)
		read_data(object);

	const struct code_ranges *ranges = &object->data->ranges;

	*start = ranges->count ? ranges->items[0].start : 0;
	*end = ranges->count ? ranges->items[ranges->count - 1].end : 0;
	return *start < *end;
}

void object_take_diags(struct object *object, struct diag_list *diags)
{
	for (size_t i = 0; i < object->diags.count; i++)
		diag_add_once(diags, object->diags.items[i].level, "%s",
			      object->diags.items[i].text);
	diag_fini(&object->diags);
}
