/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the collector: writes what docs/format.md says that a process
 * writes about itself, with made-up data in blocks as a running program has
 * them.  A program is given a lineage of its own by setting the variable.
 */
#include "format/format.h"
#include "format/params.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_SIZE = 4096, BLOCK_SIZE = 65536, NODES = 1000 };

static char folder[4096];
static uint64_t start_ns;

static int open_file(const char *name, int flags)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, flags | O_CLOEXEC, 0644);
}

static uint64_t tstamp(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - start_ns;
}

static void put(int fd, off_t at, const void *data, size_t size)
{
	if (pwrite(fd, data, size, at) != (ssize_t)size)
		abort();
}

static int begin_file(const char *kind, uint32_t header_size)
{
	struct format_file_header header = {.version = FORMAT_VERSION, .header_size = header_size};
	static const char text[] = "records of a stand-in\n";
	int fd = open_file(kind, O_RDWR | O_CREAT | O_TRUNC);

	memcpy(header.magic, FORMAT_FILE_MAGIC, sizeof(header.magic));
	memcpy(header.kind, kind, strlen(kind));
	if (fd < 0 || ftruncate(fd, header_size))
		abort();
	put(fd, 0, &header, sizeof(header));
	put(fd, sizeof(header), text, sizeof(text));
	return fd;
}

static void write_profile(void)
{
	/* thread 1, then an event of 500 µs in state user with stack 7 */
	static const unsigned char records[] = {0x80, 1, 77, 0, 0x40, 0xf4, 0x03, 14};
	struct format_block_header block = {.magic = FORMAT_BLOCK_MAGIC,
					    .size = BLOCK_SIZE,
					    .used = sizeof(records),
					    .first = 1,
					    .encoding = FORMAT_EVENTS};
	int fd = begin_file(FORMAT_FILE_PROFILE, HEADER_SIZE);

	put(fd, HEADER_SIZE, &block, sizeof(block));
	put(fd, HEADER_SIZE + sizeof(block), records, sizeof(records));
	if (ftruncate(fd, HEADER_SIZE + 3 * BLOCK_SIZE))
		abort();
	close(fd);
}

static void write_stacks(void)
{
	struct format_block_header block = {.magic = FORMAT_BLOCK_MAGIC,
					    .size = BLOCK_SIZE,
					    .used = NODES * sizeof(struct format_node),
					    .first = 1,
					    .encoding = FORMAT_NODES_RAW};
	int fd = begin_file(FORMAT_FILE_STACKS, HEADER_SIZE);

	put(fd, HEADER_SIZE, &block, sizeof(block));
	for (uint32_t i = 0; i < NODES; i++) {
		struct format_node node = {.parent = i / 2, .pc = 0x400000 + i % 50 * 16};

		put(fd, HEADER_SIZE + sizeof(block) + i * sizeof(node), &node, sizeof(node));
	}
	if (ftruncate(fd, HEADER_SIZE + 2 * BLOCK_SIZE))
		abort();
	close(fd);
}

static void write_overview(void)
{
	struct format_sample sample = {.time_ns = tstamp(), .kind = FORMAT_SAMPLE_START};
	int fd = begin_file(FORMAT_FILE_OVERVIEW, 64);

	put(fd, 64, &sample, sizeof(sample));
	close(fd);
}

static void write_log(const char *lineage)
{
	int fd = open_file(FORMAT_FILE_LOG, O_WRONLY | O_APPEND | (*lineage ? O_CREAT : 0));

	if (fd < 0)
		return;
	if (*lineage)
		dprintf(fd, "<?xml version=\"1.0\"?>\n<experiment version=\"1.0\">\n");
	dprintf(fd, "<process pid=\"%d\" ppid=\"%d\" lineage=\"%s\" tstamp=\"%llu\"/>\n", getpid(),
		getppid(), lineage, (unsigned long long)tstamp());
	dprintf(fd, "<collector engine=\"none\" reason=\"stand-in\"/>\n");
	dprintf(fd, "<event kind=\"counters\" events=\"21\" dropped=\"0\"/>\n");
	if (*lineage)
		dprintf(fd, "</experiment>\n");
	close(fd);
}

static __attribute__((constructor)) void begin(void)
{
	const char *founder = getenv(PARAMS_ENV_EXPERIMENT);
	char *lineage = getenv(PARAMS_ENV_LINEAGE);
	const char *params = getenv(PARAMS_ENV);
	const char *start = params ? strstr(params, ";s:") : NULL;

	if (!founder || !lineage || !start)
		return;
	lineage = strndup(lineage, strcspn(lineage, " ")); /* padded with blanks */
	start_ns = strtoull(start + 3, NULL, 10);
	snprintf(folder, sizeof(folder), "%s%s%s%s", founder, *lineage ? "/" : "", lineage,
		 *lineage ? ".er" : "");
	if (*lineage && mkdir(folder, 0755))
		return;
	int fd = open_file(FORMAT_FILE_PROFILE, O_RDONLY);

	if (fd >= 0) { /* one of the founder's children: not for us */
		close(fd);
		return;
	}
	write_overview();
	write_profile();
	write_stacks();
	write_log(lineage);
}
