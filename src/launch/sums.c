/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/sums.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/files.h"
#include "format/sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The file is there as a whole or as before; false: errno. */
static bool put(int folder, const char *text, size_t length)
{
	char *half = xasprintf("%s.%d.part", FORMAT_FILE_SUMS, (int)getpid());
	int fd = folder_open_file(folder, half, O_WRONLY | O_CREAT | O_EXCL, 0644);
	bool ok = fd >= 0 && write(fd, text, length) == (ssize_t)length &&
		  !renameat(folder, half, folder, FORMAT_FILE_SUMS);
	int error = errno;

	if (!ok && fd >= 0)
		unlinkat(folder, half, 0);
	if (fd >= 0)
		close(fd);
	free(half);
	errno = error;
	return ok;
}

void sums_begin(const struct family *family)
{
	put(family->folder, SUMS_BEGUN, strlen(SUMS_BEGUN)); /* sums_write says what is wrong */
}

void sums_write(struct strbuf *text, const struct family *family, struct diag_list *diags)
{
	add_file(text, family->folder, "", FORMAT_FILE_NOTES);
	add_copies(text, family->folder);
	/* there is one if somebody archived meanwhile */
	add_file(text, family->folder, "", FORMAT_FILE_ARCHIVE_SUMS);

	uint64_t sum = checksum_add(SUMS_BEGIN, text->text ? text->text : "", text->length);

	strbuf_printf(text, "- %016" PRIx64 " -\n", sum);
	if (!put(family->folder, text->text, text->length))
		diag_add(diags, DIAG_WARNING,
			 "The checksums of the experiment's files cannot be written: %s",
			 strerror(errno));
	strbuf_fini(text);
}
