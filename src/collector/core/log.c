/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/log.h"

#include "collector/arch/sys.h"
#include "collector/core/modules.h"
#include "collector/core/other_clock.h"
#include "collector/core/time.h"
#include "collector/storage/experiment.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <errno.h>
#include <unistd.h>

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
	experiment_append(FORMAT_FILE_LOG, line);
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

void log_engine(const char *name)
{
	char room[128];
	struct text line = TEXT_ON(room);

	log_event_begin(&line, "engine");
	text_attribute(&line, "name", name);
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
static void put_descendant(struct text *line)
{
	text_puts(line, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<experiment");
	text_attribute(line, "version", FORMAT_VERSION_TEXT);
	text_attribute(line, "producer", "heliometer " HELIO_VERSION);
	text_attribute_decimal(line, "mono_ns", (int64_t)collector.start_ns);
	other_clock_put(line);
	text_puts(line, ">\n");
	other_clock_put_system(line);
}

/* The words of the command that began this image; NULL: the launcher or the parent has told. */
static char *const *arguments;
/* NULL: not known, or told: a fork was not executed, and may have written over it. */
static const char *executed_name;

void log_note_image(char *const *words, const char *executed)
{
	arguments = words;
	executed_name = executed;
}

static void put_process(struct text *line)
{
	static char cwd[PATH_MAX_HERE]; /* too large for a handler that forks */
	long cwd_size = sys_call(SYS_getcwd, cwd, sizeof(cwd), 0, 0);

	if (cwd_size <= 0)
		cwd[0] = '\0';
	text_puts(line, "<process");
	text_attribute_decimal(line, "pid", collector.proc_pid); /* by which others find us */
	if (collector.proc_pid != sys_getpid())
		text_attribute_decimal(line, "own_pid", sys_getpid());
	text_attribute_decimal(line, "ppid", sys_call(SYS_getppid, 0, 0, 0, 0));
	text_attribute_decimal(line, "pgrp", sys_call(SYS_getpgid, 0, 0, 0, 0));
	text_attribute_decimal(line, "sid", sys_call(SYS_getsid, 0, 0, 0, 0));
	text_attribute_decimal(line, "uid", sys_call(SYS_getuid, 0, 0, 0, 0));
	text_attribute(line, "cwd", cwd);
	text_attribute(line, "exe", modules_program());
	if (executed_name && !collector.late)
		text_attribute(line, "execfn", executed_name);
	executed_name = NULL;
	text_attribute_decimal(line, "wordsize", 8 * (int64_t)sizeof(void *));
	text_attribute(line, "lineage", collector.lineage);
	if (collector.names_taken)
		text_attribute_decimal(line, "taken", collector.names_taken);
	text_attribute_decimal(line, "tstamp", (int64_t)(collector.begin_ns - collector.start_ns));
	text_puts(line, "/>\n");
}

/* As many of them as there is room for. */
static void put_arguments(struct text *line)
{
	enum { MOST_OF_A_CHARACTER = 6, AROUND = 32 }; /* XML escapes; the element */

	for (; arguments && *arguments; arguments++) {
		if (MOST_OF_A_CHARACTER * text_length(*arguments) + 2 * AROUND >=
		    line->size - line->length) {
			text_puts(line, "<argument text=\"...\"/>\n");
			break;
		}
		text_puts(line, "<argument");
		text_attribute(line, "text", *arguments);
		text_puts(line, "/>\n");
	}
	arguments = NULL; /* a fork has its parent's */
}

int log_open(void)
{
	static char
		room[5 * PATH_MAX_HERE]; /* too large for the stack of a small thread that forks */
	struct text line = TEXT_ON(room);

	if (collector.lineage[0])
		put_descendant(&line);
	put_process(&line);
	if (!collector.lineage[0])
		arguments = NULL;
	put_arguments(&line);
	/* The founder's is there, or the experiment is not. */
	int fd = experiment_open_file(FORMAT_FILE_LOG, collector.lineage[0] ? O_CREAT : 0);
	if (fd < 0)
		return fd;
	file_append(fd, line.buffer, line.length);
	sys_close(fd);
	return 0;
}
