/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process writes its first and last sample point itself; those in between
 * are appended here, one write each.  Two writers count with different means,
 * and threads that end take their counts out of /proc/PID/task: a counter
 * therefore never goes below that of the record before.
 */
#include "launch/run/samples.h"

#include "format/own_use.h"
#include "launch/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the last record; false if the process has not written its first, or has its last. */
static bool read_last(int fd, struct format_sample *last)
{
	struct format_file_header header;
	struct stat st;

	if (fstat(fd, &st) || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.magic, FORMAT_FILE_MAGIC, sizeof(header.magic)) ||
	    st.st_size < (off_t)header.header_size)
		return false;
	off_t records = (st.st_size - (off_t)header.header_size) / (off_t)sizeof(*last);
	off_t at = (off_t)header.header_size + (records - 1) * (off_t)sizeof(*last);

	return records > 0 && pread(fd, last, sizeof(*last), at) == sizeof(*last) &&
	       last->kind != FORMAT_SAMPLE_END;
}

/* Sizes and the number of threads may fall; everything else only counts up. */
static void keep_rising(struct format_sample *sample, const struct format_sample *last)
{
	uint64_t rss = sample->rss_bytes;
	uint64_t threads = sample->threads;

#define X(field)                                                                                   \
	if (sample->field < last->field)                                                           \
		sample->field = last->field;
	FORMAT_USAGE_FIELDS(X)
#undef X
	sample->rss_bytes = rss;
	sample->threads = threads;
}

/* The part of children that it has awaited. `living`: of its threads; none: not known. */
static void leave_out_children(const struct format_own_use *own, const struct format_io *living,
			       struct format_io *children, struct format_sample *sample)
{
	uint64_t *whole[FORMAT_IO_COUNTS] = {&sample->read_bytes, &sample->write_bytes,
					     &sample->read_calls, &sample->write_calls};

	if (own->io_state != FORMAT_IO_APART || !living->count[0])
		return;
	for (int i = 0; i < FORMAT_IO_COUNTS; i++) {
		uint64_t rest = *whole[i] > living->count[i] ? *whole[i] - living->count[i] : 0;

		format_io_leave_out(whole[i], rest, own->ended.count[i], &children->count[i]);
	}
}

bool samples_read_page(const struct family *family, const struct member *member, void *to,
		       size_t size, off_t offset)
{
	struct format_file_header header;
	int fd = family_open_file(family, member, FORMAT_FILE_PROFILE, O_RDONLY);

	if (fd < 0)
		return false;
	bool there = pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
		     header.header_size == FORMAT_BLOCK_ALIGN &&
		     pread(fd, to, size, offset) == (ssize_t)size;

	close(fd);
	return there;
}

/* What the collector counts of its own, and what is children's. */
static void leave_out_own(const struct family *family, struct member *member,
			  const struct format_io *living, struct format_sample *sample)
{
	struct format_own_use own;

	if (!samples_read_page(family, member, &own, sizeof(own), OWN_USE_OFFSET))
		return;
	leave_out_children(&own, living, &member->children_io, sample);
	own_use_leave_out(sample, &own);
}

/* A disk that fills up in the middle of a record must not leave the later ones out of place. */
static void append(int fd, const struct format_sample *sample)
{
	off_t before = lseek(fd, 0, SEEK_END);
	ssize_t size = write(fd, sample, sizeof(*sample));

	if (size > 0 && size < (ssize_t)sizeof(*sample) &&
	    lseek(fd, 0, SEEK_END) == before + size && ftruncate(fd, before))
		return;
}

bool samples_take_one(struct family *family, struct member *member, uint64_t time_ns,
		      enum format_sample_kind kind, const char *label)
{
	struct format_sample last;
	bool taken = false;
	int fd = family_open_file(family, member, FORMAT_FILE_OVERVIEW, O_RDWR | O_APPEND);

	if (fd < 0)
		return false;
	if (read_last(fd, &last)) {
		struct format_sample sample = last; /* what cannot be read stays */
		struct format_io living;

		sample.time_ns = time_ns;
		sample.kind = kind;
		memset(sample.label, 0, sizeof(sample.label));
		memcpy(sample.label, label, strnlen(label, sizeof(sample.label) - 1));
		taken = proc_read_usage(member->pid, &sample, &living);
		if (taken) {
			leave_out_own(family, member, &living, &sample);
			keep_rising(&sample, &last);
			append(fd, &sample);
		} else {
			member->ended = true;
		}
	}
	close(fd);
	return taken;
}

void samples_take(struct family *family, uint64_t time_ns)
{
	family_scan(family);
	for (size_t i = 0; i < family->members.count; i++) {
		struct member *member = &family->members.items[i];

		if (member->pid && !member->ended)
			samples_take_one(family, member, time_ns, FORMAT_SAMPLE_PERIODIC, "");
	}
}
