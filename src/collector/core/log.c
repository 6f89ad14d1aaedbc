/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.xml and map.xml: whole lines, each appended with one write to a file that
 * is opened for it, so that no descriptor stays open in the program.
 */
#include "collector/core/core.h"
#include "collector/core/file.h"
#include "collector/core/sys.h"
#include "collector/core/text.h"

#include <unistd.h>

int log_open_file(const char *file, int flags)
{
	char path_room[PATH_MAX_HERE];
	struct text path = TEXT_ON(path_room);

	text_puts(&path, collector.directory);
	text_putc(&path, '/');
	text_puts(&path, file);
	return file_open(path_room, O_RDWR | O_APPEND | flags, 0644);
}

int log_create(const char *file, const char *description)
{
	union {
		struct format_file_header header;
		char bytes[LOG_HEADER];
	} page = {.header = {.magic = FORMAT_FILE_MAGIC,
			     .version = FORMAT_VERSION,
			     .header_size = LOG_HEADER}};
	struct text kind = TEXT_ON(page.header.kind);
	struct text body = {.buffer = page.bytes + sizeof(page.header),
			    .size = sizeof(page.bytes) - sizeof(page.header)};

	text_puts(&kind, file);
	text_puts(&body, description);
	int fd = log_open_file(file, O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	int result = file_append(fd, page.bytes, sizeof(page.bytes));
	sys_close(fd);
	return result;
}

void log_append(const char *file, struct text *line)
{
	int fd = log_open_file(file, O_CREAT);

	if (fd < 0)
		return;
	file_append(fd, line->buffer, line->length);
	sys_close(fd);
}

void log_event_begin_at(struct text *line, const char *kind, uint64_t time_ns)
{
	text_puts(line, "<event");
	text_attribute(line, "kind", kind);
	text_attribute_decimal(line, "tstamp", (int64_t)(time_ns - collector.start_ns));
}

void log_event_begin(struct text *line, const char *kind)
{
	log_event_begin_at(line, kind, clock_now_ns());
}

void log_event_end(struct text *line)
{
	text_puts(line, "/>\n");
	log_append(FORMAT_FILE_LOG, line);
}

static void log_message(const char *kind, const char *message, int error)
{
	char room[512];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, kind);
	text_attribute(&line, "text", message);
	if (error)
		text_attribute_decimal(&line, "errno", error);
	log_event_end(&line);
}

void log_warning(const char *message, int error)
{
	log_message("warning", message, error);
}

void log_error(const char *message, int error)
{
	log_message("error", message, error);
}

/* A descendant's log begins with what the launcher wrote into the founder's. */
static void begin_descendant(void)
{
	char room[512];
	struct text line = TEXT_ON(room);

	text_puts(&line, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<experiment");
	text_attribute(&line, "version", FORMAT_VERSION_TEXT);
	text_attribute(&line, "producer", "heliometer " HELIO_VERSION);
	text_attribute_decimal(&line, "mono_ns", (int64_t)collector.start_ns);
	text_puts(&line, ">\n");
	log_append(FORMAT_FILE_LOG, &line);
}

static void put_process(struct text *line)
{
	char cwd[PATH_MAX_HERE];
	long cwd_size = sys_call(SYS_getcwd, cwd, sizeof(cwd), 0, 0);

	if (cwd_size <= 0)
		cwd[0] = '\0';
	text_puts(line, "<process");
	text_attribute_decimal(line, "pid", collector.proc_pid); /* by which others find us */
	text_attribute_decimal(line, "ppid", sys_call(SYS_getppid, 0, 0, 0, 0));
	text_attribute_decimal(line, "pgrp", sys_call(SYS_getpgid, 0, 0, 0, 0));
	text_attribute_decimal(line, "sid", sys_call(SYS_getsid, 0, 0, 0, 0));
	text_attribute_decimal(line, "uid", sys_call(SYS_getuid, 0, 0, 0, 0));
	text_attribute(line, "cwd", cwd);
	text_attribute(line, "exe", modules_program());
	text_attribute_decimal(line, "wordsize", 8 * (int64_t)sizeof(void *));
	text_attribute(line, "lineage", collector.lineage);
	text_attribute_decimal(line, "tstamp", (int64_t)(collector.begin_ns - collector.start_ns));
	text_puts(line, "/>\n");
}

int log_open(void)
{
	static char
		room[4 * PATH_MAX_HERE]; /* too large for the stack of a small thread that forks */
	struct text line = TEXT_ON(room);

	if (collector.lineage[0])
		begin_descendant();
	int fd = log_open_file(FORMAT_FILE_LOG, 0);
	if (fd < 0)
		return fd;
	sys_close(fd);
	put_process(&line);
	log_append(FORMAT_FILE_LOG, &line);
	return 0;
}
