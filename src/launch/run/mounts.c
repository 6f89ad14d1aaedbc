/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/mounts.h"

#include "base/memory.h"
#include "format/format.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t mounts_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/mnt", &st) ? 0 : (uint64_t)st.st_ino;
}

static void read_all(int fd, struct strbuf *text)
{
	char room[4096];
	ssize_t got;

	while ((got = read(fd, room, sizeof(room))) > 0)
		strbuf_add(text, room, (size_t)got);
}

void mounts_read(struct strbuf *text)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	read_all(fd, text);
	close(fd);
}

void mounts_finish(const struct family *family)
{
	int fd = family_open_file(family, &family->members.items[0], FORMAT_FILE_MOUNTS,
				  O_RDWR | O_APPEND);
	struct strbuf before = {0}, after = {0};

	if (fd < 0)
		return;
	read_all(fd, &before);
	mounts_read(&after);
	/* What cannot be written is not known; the file as it was is right as far as it goes. */
	if (before.length != after.length || memcmp(before.text, after.text, after.length) != 0)
		(void)!write(fd, after.text, after.length);
	strbuf_fini(&before);
	strbuf_fini(&after);
	close(fd);
}
