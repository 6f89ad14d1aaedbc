/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One read(2) per file into a buffer on the stack.  User and system time come
 * in ticks rounded down, which never exceeds the truth: sample points that the
 * process writes about itself, from getrusage, stay larger than earlier ones
 * of ours.
 */
#include "launch/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The rest of a file of which the beginning is there.  One line may be longer than all that is
 * looked for, the groups in `status`: of such a line there is the beginning only.
 */
static size_t read_rest(int fd, char text[PROC_TEXT], size_t size)
{
	enum { LONGEST = 256 };
	size_t line = 0, out = 0; /* where the line begins, and how much of the text is kept */
	ssize_t got = (ssize_t)size;
	char part[PROC_TEXT];

	memcpy(part, text, size);
	do {
		for (ssize_t i = 0; i < got && out < PROC_TEXT - 1; i++) {
			if (part[i] == '\n' || out - line < LONGEST)
				text[out++] = part[i];
			if (part[i] == '\n')
				line = out;
		}
	} while ((got = read(fd, part, sizeof(part))) > 0);
	return out;
}

bool proc_read_text(pid_t pid, pid_t task, const char *file, char text[PROC_TEXT])
{
	char path[80];

	if (task)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)task, file);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, PROC_TEXT - 1) : -1;

	if (size == PROC_TEXT - 1)
		size = (ssize_t)read_rest(fd, text, (size_t)size);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size > 0;
}

bool proc_read_stat(pid_t pid, struct proc_stat *stat)
{
	char text[PROC_TEXT];
	unsigned long long minor, major, user, system, threads, start;
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);

	if (!proc_read_text(pid, 0, "stat", text))
		return false;
	/* The program's name, in parentheses, may hold anything. */
	const char *after = strrchr(text, ')');

	if (!after ||
	    sscanf(after + 1,
		   " %c %*d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %*d %*d %*d %*d %llu "
		   "%*d %llu",
		   &stat->state, &minor, &major, &user, &system, &threads, &start) != 7)
		return false;
	stat->minor_faults = minor;
	stat->major_faults = major;
	stat->user_ns = user * tick_ns;
	stat->system_ns = system * tick_ns;
	stat->threads = threads;
	stat->start_ns = start * tick_ns;
	return true;
}

const char *proc_field(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

uint64_t proc_number(const char *text, const char *name, int base)
{
	const char *field = proc_field(text, name);

	return field ? strtoull(field, NULL, base) : 0;
}

pid_t proc_parent(pid_t pid)
{
	char text[PROC_TEXT];

	proc_read_text(pid, 0, "status", text);
	return (pid_t)proc_number(text, "PPid", 10);
}

static bool find_field(const char *text, const char *name, uint64_t *value)
{
	if (!proc_field(text, name))
		return false;
	*value = proc_number(text, name, 10);
	return true;
}

static void add_living(const char *text, struct format_io *living)
{
	static const char *const names[FORMAT_IO_COUNTS] = {"rchar", "wchar", "syscr", "syscw"};
	uint64_t value;

	for (int i = 0; i < FORMAT_IO_COUNTS; i++)
		if (find_field(text, names[i], &value))
			living->count[i] += value;
}

static void read_io(pid_t pid, struct format_sample *sample)
{
	char text[PROC_TEXT];

	if (!proc_read_text(pid, 0, "io",
			    text)) /* not ours to see when the process changed its user */
		return;
	find_field(text, "rchar", &sample->read_bytes);
	find_field(text, "wchar", &sample->write_bytes);
	find_field(text, "syscr", &sample->read_calls);
	find_field(text, "syscw", &sample->write_calls);
}

static void read_memory(pid_t pid, struct format_sample *sample)
{
	char text[PROC_TEXT];
	uint64_t value;

	if (!proc_read_text(pid, 0, "status", text))
		return;
	if (find_field(text, "VmRSS", &value))
		sample->rss_bytes = value * 1024;
	if (find_field(text, "VmHWM", &value))
		sample->max_rss_bytes = value * 1024;
}

static void add_thread(pid_t pid, pid_t task, struct format_sample *sum, struct format_io *living)
{
	char text[PROC_TEXT];
	uint64_t value;
	unsigned long long waited;

	proc_read_text(pid, task, "status", text);
	if (find_field(text, "voluntary_ctxt_switches", &value))
		sum->voluntary_switches += value;
	if (find_field(text, "nonvoluntary_ctxt_switches", &value))
		sum->involuntary_switches += value;
	if (proc_read_text(pid, task, "schedstat", text) && sscanf(text, "%*u %llu", &waited) == 1)
		sum->run_delay_ns += waited;
	/* Of a thread, as for getrusage; the process's own file has its children's blocks as well.
	 */
	proc_read_text(pid, task, "io", text);
	add_living(text, living);
	if (find_field(text, "read_bytes", &value))
		sum->input_blocks += value / 512;
	if (find_field(text, "write_bytes", &value))
		sum->output_blocks += value / 512;
}

static void read_threads(pid_t pid, struct format_sample *sample, struct format_io *living)
{
	char path[32];
	struct format_sample sum = {0};

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);

		if (task > 0)
			add_thread(pid, task, &sum, living);
	}
	if (!dir)
		return;
	closedir(dir);
	sample->voluntary_switches = sum.voluntary_switches;
	sample->involuntary_switches = sum.involuntary_switches;
	sample->run_delay_ns = sum.run_delay_ns;
	sample->input_blocks = sum.input_blocks;
	sample->output_blocks = sum.output_blocks;
}

bool proc_read_usage(pid_t pid, struct format_sample *sample, struct format_io *living)
{
	struct proc_stat stat;

	if (!proc_read_stat(pid, &stat) || stat.state == 'Z' || stat.state == 'X')
		return false;
	sample->user_ns = stat.user_ns;
	sample->system_ns = stat.system_ns;
	sample->minor_faults = stat.minor_faults;
	sample->major_faults = stat.major_faults;
	sample->threads = stat.threads;
	read_io(pid, sample);
	read_memory(pid, sample);
	*living = (struct format_io){0};
	if (stat.threads <= PROC_THREADS_MAX)
		read_threads(pid, sample, living);
	return true;
}
