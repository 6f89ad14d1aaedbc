/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/finish.h"

#include "base/folder.h"
#include "launch/run/jit.h"
#include "launch/run/mounts.h"
#include "launch/run/pack.h"
#include "launch/run/samples.h"
#include "launch/run/sums.h"
#include "launch/run/xml.h"

#include "format/files.h"
#include "format/kinds.h"
#include "format/lineage.h"
#include "format/own_use.h"
#include "format/sums.h"

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

static void add_warning(struct strbuf *text, const char *warning, uint64_t tstamp_ns)
{
	strbuf_puts(text, "<event kind=\"warning\"");
	xml_add_number(text, "tstamp", tstamp_ns);
	xml_add_attribute(text, "text", warning);
	strbuf_puts(text, "/>\n");
}

static void add_exit(struct strbuf *text, const struct run_result *result, uint64_t tstamp_ns)
{
	int wait_status = result->wait_status;

	strbuf_puts(text, "<event kind=\"exit\"");
	xml_add_number(text, "tstamp", tstamp_ns);
	xml_add_number(text, "status",
		       WIFEXITED(wait_status) ? (uint64_t)WEXITSTATUS(wait_status) : 0);
	xml_add_number(text, "signal",
		       WIFSIGNALED(wait_status) ? (uint64_t)WTERMSIG(wait_status) : 0);
	xml_add_number(text, "user_us", format_us_of(&result->usage.ru_utime));
	xml_add_number(text, "system_us", format_us_of(&result->usage.ru_stime));
	strbuf_puts(text, "/>\n");
}

/* They count from the begin of the recording on, also those before an exec that failed: the last
 * are those that count. */
static const char *last_counters(const char *text)
{
	const char *found = NULL;

	while (text && (text = strstr(text, "\n<event kind=\"counters\"")))
		found = ++text;
	return found;
}

/* What a process that has written no counters has left for others to write. */
static void add_left(struct strbuf *text, const struct family *family, const struct member *member,
		     const char *log)
{
	struct format_left left;

	if (!log || last_counters(log) ||
	    !samples_read_page(family, member, &left, sizeof(left), LEFT_OFFSET) || !left.looked)
		return;
	strbuf_puts(text, "<event kind=\"left\"");
#define X(name) xml_add_number(text, #name, left.name);
	FORMAT_LEFT_FIELDS(X)
#undef X
	strbuf_puts(text, "/>\n");
}

/* The same for a descendant, whose log nobody closes. True: there was something. */
static bool append_left(const struct family *family, const struct member *member, const char *log)
{
	struct strbuf text = {0};
	size_t length = log ? strlen(log) : 0;
	bool done = false;

	if (length && log[length - 1] != '\n') /* the writer was killed inside a line */
		strbuf_putc(&text, '\n');
	add_left(&text, family, member, log);

	int fd = text.length > 1
			 ? family_open_file(family, member, FORMAT_FILE_LOG, O_WRONLY | O_APPEND)
			 : -1;

	/* Without it a part of the CPU time has no row; a full disk has been told of. */
	if (fd >= 0) {
		done = write(fd, text.text, text.length) > 0;
		close(fd);
	}
	strbuf_fini(&text);
	return done;
}

void finish_find_again(const struct family *family, const char *path, const char *name,
		       struct diag_list *diags)
{
	if (!folder_is_at(family->folder, path))
		diag_add(diags, DIAG_WARNING,
			 "Experiment %s was moved while it was recorded: what has its name now is "
			 "left alone, and what began or ended since then may be missing",
			 name);
}

void finish_log(const struct family *family, const struct run_result *result, uint64_t tstamp_ns,
		struct diag_list *diags)
{
	char tail[64];
	struct strbuf text = {0};

	folder_be_owner(family->folder);

	int fd = family_open_file(family, &family->members.items[0], FORMAT_FILE_LOG,
				  O_RDWR | O_APPEND);

	if (fd < 0) { /* the program may remove what it likes */
		diag_add(diags, DIAG_WARNING, "The experiment's log cannot be closed: %s",
			 strerror(errno));
		folder_be_oneself();
		return;
	}
	size_t length = read_tail(fd, tail, sizeof(tail));

	if (!strstr(tail, closing_tag)) {
		if (length && tail[length - 1] != '\n') /* the writer was killed inside a line */
			strbuf_putc(&text, '\n');
		if (result && result->warning)
			add_warning(&text, result->warning, tstamp_ns);
		if (result) {
			char *log = family_read_log(family, &family->members.items[0]);

			add_left(&text, family, &family->members.items[0], log);
			free(log);
			add_exit(&text, result, tstamp_ns);
		}
		sums_begin(family);
		strbuf_printf(&text, "<event kind=\"" FORMAT_EVENT_SUMS "\"/>\n%s\n", closing_tag);
		if (write(fd, text.text, text.length) < 0)
			diag_add(diags, DIAG_WARNING, "The experiment's log cannot be closed: %s",
				 strerror(errno));
	}
	strbuf_fini(&text);
	close(fd);
	mounts_finish(family);
	folder_be_oneself();
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

/* What the program used before its recording, without the collector's part. */
static uint64_t before_ns_of(const char *line)
{
	uint64_t user_us = 0, system_us = 0, own_us = 0;

	xml_read_number(line, "before_user_us", &user_us);
	xml_read_number(line, "before_system_us", &system_us);
	xml_read_number(line, "before_own_us", &own_us);
	return own_us < user_us + system_us ? (user_us + system_us - own_us) * 1000 : 0;
}

static void read_overhead(const char *line, struct finish_summary *summary)
{
	uint64_t limited, overhead_ns, monitor_ns, cpu_ns, ticks, traced_ns, search_ns;

	if (xml_read_number(line, "traced_ns", &traced_ns))
		summary->traced_ns += traced_ns;
	if (xml_read_number(line, "traced_of_ns", &cpu_ns))
		summary->traced_of_ns += cpu_ns;
	if (xml_read_number(line, "leak_search_ns", &search_ns))
		summary->leak_search_ns += search_ns;
	if (xml_read_number(line, "limited", &limited))
		summary->limited += limited;
	if (xml_read_number(line, "monitor_cpu_ns", &monitor_ns))
		summary->overhead_ns += monitor_ns;
	summary->before_ns += before_ns_of(line);
	if (!xml_read_number(line, "overhead_ns", &overhead_ns) ||
	    !xml_read_number(line, "cpu_recorded_ns", &cpu_ns) ||
	    !xml_read_number(line, "ticks", &ticks))
		return;
	summary->overhead_ns += overhead_ns;
	summary->cpu_ns += cpu_ns;
	summary->ticks += ticks;
}

static void read_intervals(const char *line, struct finish_summary *summary)
{
	uint64_t first_us, widened_ns;

	if (!xml_read_number(line, "first_interval_us", &first_us))
		return;
	if (!summary->first_interval_us || first_us < summary->first_interval_us)
		summary->first_interval_us = first_us;
	if (!xml_read_number(line, "widened_ns", &widened_ns))
		return;
	if (!summary->widened || widened_ns < summary->widened_ns)
		summary->widened_ns = widened_ns;
	summary->widened = true;
}

static void read_counters(const char *text, const struct member *member,
			  struct finish_summary *summary)
{
	const char *line = last_counters(text);
	uint64_t value;

	if (text && !*member->name)
		read_beginning(text, summary);
	if (!line)
		return;
	if (xml_read_number(line, "events", &value)) {
		summary->events += value;
		summary->counted = true;
	}
	if (xml_read_number(line, "dropped", &value))
		summary->dropped += value;
	read_overhead(line, summary);
	read_intervals(line, summary);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (xml_read_number(line, format_kinds[kind].file, &value))
			summary->traced[kind] += value;
}

static uint64_t file_size(int folder, const char *file)
{
	struct stat st;

	return folder_stat(folder, file, &st) ? (uint64_t)st.st_size : 0;
}

typedef enum pack_result packer(int folder, const char *file, uint64_t *before, uint64_t *after);

/* The function of pack.h for a file; NULL: it stays as it is. */
static packer *packer_of(const char *file)
{
	if (!strcmp(file, FORMAT_FILE_PROFILE))
		return pack_blocks;
	if (!strcmp(file, FORMAT_FILE_STACKS))
		return pack_stacks;
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (!strcmp(file, format_kinds[kind].file))
			return pack_traces;
	return NULL;
}

static void warn_larger(struct diag_list *diags)
{
	diag_add_once(diags, DIAG_WARNING, "The experiment stays larger than need be: %s",
		      strerror(errno));
}

static void pack_file(int folder, const struct member *member, const char *file,
		      struct diag_list *diags)
{
	uint64_t before = 0, after = 0;
	packer *pack = packer_of(file);

	switch (pack ? pack(folder, file, &before, &after) : PACK_ABSENT) {
	case PACK_DAMAGED:
		diag_add(diags, DIAG_WARNING,
			 "%s%s%s is damaged and was left as it is; helio print reads what it can",
			 member->name, *member->name ? "/" : "", file);
		break;
	case PACK_FAILED:
		warn_larger(diags);
		break;
	default:
		break;
	}
}

/*
 * Notes which of format_files a directory has, before anything else is done with them: a run may
 * have thousands of processes, and most have a third of the files.
 */
static void find_files(int folder, bool *there)
{
	DIR *directory = folder_list(folder, "");
	struct dirent *entry;

	memset(there, !directory, FORMAT_FILES * sizeof(*there));
	while (directory && (errno = 0, entry = readdir(directory)))
		for (int i = 0; i < FORMAT_FILES; i++)
			there[i] |= !strcmp(format_files[i].name, entry->d_name);
	if (directory && errno) /* the list may have an end too early */
		memset(there, true, FORMAT_FILES * sizeof(*there));
	if (directory)
		closedir(directory);
}

/* Packs what a member has recorded, and adds the lines of its files to `sums`. */
static void pack_files(int folder, const struct member *member, struct strbuf *sums,
		       struct finish_summary *summary, struct diag_list *diags)
{
	bool there[FORMAT_FILES];

	find_files(folder, there);
	for (int i = 0; i < FORMAT_FILES; i++) {
		if (!there[i])
			continue;
		pack_file(folder, member, format_files[i].name, diags);
		summary->bytes += file_size(folder, format_files[i].name);
		if (format_files[i].is & FILE_OF_DATA)
			sums_add(sums, folder, member, format_files[i].name);
	}
}

/* What a process became by exec; as experiment_image_before. */
static bool is_next_image(const struct family *family, const struct member *member)
{
	size_t length;

	if (lineage_step(member->name, &length) != 'x')
		return false;
	char *name = xasprintf("%.*s%s", (int)length, member->name, length ? ".er" : "");
	uint32_t before = string_table_find(&family->names, name);

	free(name);
	return before != HASH_NONE && family->members.items[before].own_pid == member->own_pid;
}

static void pack_member(struct family *family, struct member *member, struct strbuf *sums,
			struct finish_summary *summary, struct diag_list *diags)
{
	char *log = family_read_log(family, member);

	jit_add_functions(family, member, log, diags);
	if (*member->name && append_left(family, member, log)) {
		free(log);
		log = family_read_log(family, member);
	}
	int folder = family_open_member(family, member);

	if (folder >= 0)
		pack_files(folder, member, sums, summary, diags);
	else
		warn_larger(diags);
	folder_close(folder);
	summary->processes += !is_next_image(family, member);
	read_counters(log, member, summary);
	free(log);
}

void finish_pack(struct family *family, struct finish_summary *summary, struct diag_list *diags)
{
	struct strbuf sums = {0};

	*summary = (struct finish_summary){0};
	family_scan(family);
	folder_be_owner(family->folder);
	for (size_t i = 0; i < family->members.count; i++) {
		struct member *member = &family->members.items[i];

		if (member->ended)
			pack_member(family, member, &sums, summary, diags);
		else if (member->pid)
			summary->running++;
		else
			summary->unbegun++;
	}
	sums_write(&sums, family, diags);
	folder_be_oneself();
}
