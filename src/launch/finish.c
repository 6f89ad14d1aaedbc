/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/finish.h"

#include "launch/jit.h"
#include "launch/mounts.h"
#include "launch/pack.h"
#include "launch/xml.h"

#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char closing_tag[] = "</experiment>";

/* Reads the last bytes of a file into text; returns how many. */
static size_t read_tail(int fd, char *text, size_t room)
{
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)room - 1 ? size - (off_t)room + 1 : 0;
	ssize_t got = size > 0 ? pread(fd, text, room - 1, from) : 0;

	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

static void add_exit(struct strbuf *text, int wait_status, uint64_t tstamp_ns)
{
	strbuf_puts(text, "<event kind=\"exit\"");
	xml_add_number(text, "tstamp", tstamp_ns);
	xml_add_number(text, "status",
		       WIFEXITED(wait_status) ? (uint64_t)WEXITSTATUS(wait_status) : 0);
	xml_add_number(text, "signal",
		       WIFSIGNALED(wait_status) ? (uint64_t)WTERMSIG(wait_status) : 0);
	strbuf_puts(text, "/>\n");
}

void finish_log(const struct family *family, int wait_status, uint64_t tstamp_ns,
		struct diag_list *diags)
{
	char tail[64];
	struct strbuf text = {0};
	int fd = family_open_file(family, &family->members.items[0], FORMAT_FILE_LOG,
				  O_RDWR | O_APPEND);

	if (fd < 0) { /* the program may remove what it likes */
		diag_add(diags, DIAG_WARNING, "The experiment's log cannot be closed: %s",
			 strerror(errno));
		return;
	}
	size_t length = read_tail(fd, tail, sizeof(tail));

	if (!strstr(tail, closing_tag)) {
		if (length && tail[length - 1] != '\n') /* the writer was killed inside a line */
			strbuf_putc(&text, '\n');
		if (wait_status != FINISH_STATUS_UNKNOWN)
			add_exit(&text, wait_status, tstamp_ns);
		strbuf_printf(&text, "%s\n", closing_tag);
		if (write(fd, text.text, text.length) < 0)
			diag_add(diags, DIAG_WARNING, "The experiment's log cannot be closed: %s",
				 strerror(errno));
	}
	strbuf_fini(&text);
	close(fd);
	mounts_finish(family);
}

/* Whether the collector began in the founder, and why not. */
static void read_beginning(const char *text, struct finish_summary *summary)
{
	const char *line = strstr(text, "\n<event kind=\"error\"");
	uint64_t error;

	summary->recorded = strstr(text, "\n<collector ");
	if (!summary->recorded && line && xml_read_number(line + 1, "errno", &error))
		summary->error = (int)error;
}

static void read_counters(const struct family *family, const struct member *member,
			  struct finish_summary *summary)
{
	char *text = family_read_log(family, member);
	const char *line = text;

	if (text && !*member->name)
		read_beginning(text, summary);
	while (line && (line = strstr(line, "\n<event kind=\"counters\""))) {
		uint64_t value;

		line++;
		if (xml_read_number(line, "events", &value)) {
			summary->events += value;
			summary->counted = true;
		}
		if (xml_read_number(line, "dropped", &value))
			summary->dropped += value;
		for (int kind = 0; kind < TRACE_KINDS; kind++)
			if (xml_read_number(line, format_traces[kind].file, &value))
				summary->traced[kind] += value;
	}
	free(text);
}

static uint64_t file_size(const struct family *family, const struct member *member,
			  const char *file)
{
	char path[512];
	struct stat st;

	family_file_path(member, file, path, sizeof(path));
	return fstatat(family->folder, path, &st, 0) ? 0 : (uint64_t)st.st_size;
}

/* Packs one file by a function of pack.h and adds what it holds then. */
static void pack_file(const struct family *family, const struct member *member, const char *file,
		      enum pack_result (*pack)(int, const char *, uint64_t *, uint64_t *),
		      uint64_t *bytes, struct diag_list *diags)
{
	uint64_t before = 0;
	char path[512];

	family_file_path(member, file, path, sizeof(path));
	switch (pack(family->folder, path, &before, bytes)) {
	case PACK_DAMAGED:
		diag_add(diags, DIAG_WARNING,
			 "%s is damaged and was left as it is; helio print reads what it can",
			 path);
		break;
	case PACK_FAILED:
		diag_add_once(diags, DIAG_WARNING, "The experiment stays larger than need be: %s",
			      strerror(errno));
		break;
	default:
		break;
	}
}

static void pack_member(struct family *family, struct member *member,
			struct finish_summary *summary, struct diag_list *diags)
{
	jit_add_functions(family, member, diags);
	pack_file(family, member, FORMAT_FILE_PROFILE, pack_blocks, &summary->bytes, diags);
	pack_file(family, member, FORMAT_FILE_STACKS, pack_stacks, &summary->bytes, diags);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		pack_file(family, member, format_traces[kind].file, pack_traces, &summary->bytes,
			  diags);
	summary->bytes += file_size(family, member, FORMAT_FILE_LOG) +
			  file_size(family, member, FORMAT_FILE_MAP) +
			  file_size(family, member, FORMAT_FILE_OVERVIEW);
	summary->experiments++;
	read_counters(family, member, summary);
}

void finish_pack(struct family *family, struct finish_summary *summary, struct diag_list *diags)
{
	*summary = (struct finish_summary){0};
	family_scan(family);
	for (size_t i = 0; i < family->members.count; i++) {
		struct member *member = &family->members.items[i];

		if (member->ended)
			pack_member(family, member, summary, diags);
		else
			summary->running++;
	}
}
