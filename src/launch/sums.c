/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/sums.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/files.h"
#include "format/sums.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_file(struct strbuf *text, int folder, const char *member, const char *name)
{
	uint64_t size, sum;
	int fd = folder_open_file(folder, name, O_RDONLY, 0);

	if (fd < 0)
		return;
	if (sums_of_file(fd, &size, &sum))
		strbuf_printf(text, "%" PRIu64 " %016" PRIx64 " %s%s%s\n", size, sum, member,
			      *member ? "/" : "", name);
	close(fd);
}

void sums_add(struct strbuf *text, const struct family *family, const struct member *member)
{
	int folder = family_open_member(family, member);

	if (folder < 0)
		return;
	for (int i = 0; i < FORMAT_FILES; i++)
		if (format_files[i].is & FILE_OF_DATA)
			add_file(text, folder, member->name, format_files[i].name);
	close(folder);
}

/* What the collector copied, [vdso]; archive.sums has what is copied later. */
static void add_copies(struct strbuf *text, int folder)
{
	DIR *directory = folder_list(folder, FORMAT_DIR_ARCHIVES);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *name = xasprintf(FORMAT_DIR_ARCHIVES "/%s", entry->d_name);

		if (entry->d_name[0] == '[' && !strchr(name, '\n'))
			add_file(text, folder, "", name);
		free(name);
	}
	if (directory)
		closedir(directory);
}

void sums_write(struct strbuf *text, const struct family *family, struct diag_list *diags)
{
	add_file(text, family->folder, "", FORMAT_FILE_NOTES);
	add_copies(text, family->folder);
	/* there is one if somebody archived meanwhile */
	add_file(text, family->folder, "", FORMAT_FILE_ARCHIVE_SUMS);

	uint64_t sum = checksum_add(SUMS_BEGIN, text->text ? text->text : "", text->length);
	int fd = folder_open_file(family->folder, FORMAT_FILE_SUMS, O_WRONLY | O_CREAT | O_TRUNC,
				  0644);

	strbuf_printf(text, "- %016" PRIx64 " -\n", sum);
	if (fd < 0 || write(fd, text->text, text->length) != (ssize_t)text->length)
		diag_add(diags, DIAG_WARNING,
			 "The checksums of the experiment's files cannot be written: %s",
			 strerror(errno));
	if (fd >= 0)
		close(fd);
	strbuf_fini(text);
}
