/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gnu_debugdata is decompressed with liblzma and not through libdw, which
 * does the same inside but with no limit on what comes out; libdw needs liblzma
 * anyway.  It also has the CRC-32 that .gnu_debuglink uses.
 */
#include "object/elf/debug_file.h"

#include "base/memory.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROOT "/usr/lib/debug"

enum {
	EMBEDDED_LIMIT = 16 << 20, /* bytes after decompression, and */
	EMBEDDED_RATIO = 8,	   /* so many for each before; real ones have some 100 KB */
	DECODER_LIMIT =
		128 << 20, /* memory of the xz decoder, of which it touches what comes out */
	EMBEDDED_STEP = 1 << 20,
};

/* The next of the directories below which debug files are, to be freed; NULL after the last. */
static char *next_root(const char **rest)
{
	if (!*rest) {
		*rest = getenv("HELIO_DEBUG_ROOT");
		if (!*rest)
			*rest = DEFAULT_ROOT;
	}
	*rest += strspn(*rest, ":");
	if (!**rest)
		return NULL;

	size_t length = strcspn(*rest, ":");
	char *root = xstrndup(*rest, length);

	*rest += length;
	return root;
}

bool debug_file_by_build_id(const char *build_id, struct elf_file *out)
{
	const char *rest = NULL;
	bool found = false;

	if (strlen(build_id) < 3 || strchr(build_id, '/'))
		return false;
	for (char *root; !found && (root = next_root(&rest)); free(root)) {
		char *path = xasprintf("%s/.build-id/%.2s/%s.debug", root, build_id, build_id + 2);

		found = elf_file_open(path, out) == STATUS_OK;
		if (found && (!out->build_id || strcmp(out->build_id, build_id) != 0)) {
			elf_file_close(out);
			found = false;
		}
		free(path);
	}
	return found;
}

/* What .gnu_debuglink says. */
struct debug_link {
	const char *name;
	uint32_t crc;
};

static bool read_link(const struct elf_file *object, struct debug_link *debug_link)
{
	GElf_Shdr header;

	if (!elf_file_section(object, SHT_PROGBITS, ".gnu_debuglink", &header))
		return false;
	struct bytes section = elf_file_section_bytes(object, &header);
	size_t length = section.data ? strnlen((const char *)section.data, section.size) : 0;
	size_t crc_at = (length + 4) & ~(size_t)3; /* after the NUL and padding */

	if (!length || crc_at + sizeof(debug_link->crc) > section.size)
		return false;
	debug_link->name = (const char *)section.data;
	memcpy(&debug_link->crc, section.data + crc_at, sizeof(debug_link->crc));
	return !strchr(debug_link->name, '/');
}

static bool belongs_to(const struct elf_file *debug, const struct elf_file *object, uint32_t crc)
{
	if (debug->build_id && object->build_id)
		return !strcmp(debug->build_id, object->build_id);
	return lzma_crc32(debug->image, debug->size, 0) == crc;
}

/* Opens the path, which is freed, if it is the file that the link means. */
static bool open_linked(char *path, const struct elf_file *object, uint32_t crc,
			struct elf_file *out, struct diag_list *diags)
{
	bool found = strcmp(path, object->path) != 0 && elf_file_open(path, out) == STATUS_OK;

	if (found && !belongs_to(out, object, crc)) {
		diag_add_once(diags, DIAG_WARNING,
			      "%s holds the symbols of another version of %s and is not used; "
			      "install the debug symbols that belong to this one",
			      path, object->path);
		elf_file_close(out);
		found = false;
	}
	free(path);
	return found;
}

static bool find_linked(const struct elf_file *object, const char *directory,
			const struct debug_link *debug_link, struct elf_file *out,
			struct diag_list *diags)
{
	const char *rest = NULL;
	const char *name = debug_link->name;
	bool found = open_linked(xasprintf("%s/%s", directory, name), object, debug_link->crc, out,
				 diags) ||
		     open_linked(xasprintf("%s/.debug/%s", directory, name), object,
				 debug_link->crc, out, diags);

	for (char *root; !found && (root = next_root(&rest)); free(root))
		found = open_linked(xasprintf("%s%s/%s", root, directory, name), object,
				    debug_link->crc, out, diags);
	return found;
}

/* The path's directory, without the slash. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
}

bool debug_file_find(const struct elf_file *object, const char *path, struct elf_file *out,
		     struct diag_list *diags)
{
	struct debug_link debug_link;

	if (object->build_id && debug_file_by_build_id(object->build_id, out))
		return true;
	if (!object->path || !read_link(object, &debug_link))
		return false;

	/*
	 * Packages name debug files after the real directory: /usr/lib, not /lib.
	 * The other spelling is tried without a word: it may be the same file.
	 */
	char *real_path = realpath(path, NULL);
	char *directory = directory_of(path);
	char *real_directory = directory_of(real_path ? real_path : path);
	struct diag_list unheard = {0};
	bool found = find_linked(object, real_directory, &debug_link, out, diags);

	if (!found && strcmp(real_directory, directory) != 0)
		found = find_linked(object, directory, &debug_link, out, &unheard);
	diag_fini(&unheard);
	free(real_directory);
	free(directory);
	free(real_path);
	return found;
}

/* Memory from malloc, or NULL, and what is wrong. */
static uint8_t *decompress(struct bytes packed, size_t *size, const char **problem)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, DECODER_LIMIT, 0);
	uint8_t *image = NULL;
	size_t room = 0;

	stream.next_in = packed.data;
	stream.avail_in = packed.size;
	while (result == LZMA_OK && room < EMBEDDED_LIMIT + EMBEDDED_RATIO * packed.size) {
		size_t step = room ? room : EMBEDDED_STEP;

		image = xrealloc(image, room + step);
		stream.next_out = image + room;
		stream.avail_out = step;
		room += step;
		while (result == LZMA_OK && stream.avail_out)
			result = lzma_code(&stream, LZMA_FINISH);
	}
	*size = room - stream.avail_out;
	lzma_end(&stream);
	if (result != LZMA_STREAM_END) {
		*problem = result == LZMA_OK ? "would be too large" : "cannot be unpacked";
		free(image);
		return NULL;
	}
	return image;
}

bool debug_file_embedded(const struct elf_file *object, const char *path, struct elf_file *out,
			 struct diag_list *diags)
{
	const char *problem = "is not in the file";
	GElf_Shdr header;
	size_t size;

	if (!elf_file_section(object, SHT_PROGBITS, ".gnu_debugdata", &header))
		return false;
	struct bytes packed = elf_file_section_bytes(object, &header);
	uint8_t *image = packed.data ? decompress(packed, &size, &problem) : NULL;

	if (image && elf_file_from_memory(image, size, out) == STATUS_OK)
		return true;
	diag_add_once(diags, DIAG_WARNING,
		      "%s: its symbols are damaged: what .gnu_debugdata has of them %s; they are "
		      "not read",
		      path, image ? "is no ELF file" : problem);
	return false;
}
