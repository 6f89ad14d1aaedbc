/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member's process is known from the <process> line of its log.  A process
 * id alone does not prove that the process is still the same: one that began
 * after the member's recording did has only inherited the number.
 */
#include "launch/run/family.h"

#include "base/folder.h"
#include "launch/proc.h"
#include "launch/run/machine_clock.h"
#include "launch/run/xml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { START_ROUNDING_NS = 20000000 };

int family_open_member(const struct family *family, const struct member *member)
{
	return folder_open_below(family->folder, member->name);
}

int family_open_file(const struct family *family, const struct member *member, const char *file,
		     int flags)
{
	char *path = xasprintf("%s/%s", member->name, file);
	int fd = folder_open_file(family->folder, path, flags, 0644);
	int error = errno;

	free(path);
	errno = error;
	return fd;
}

/* Bytes: of a log, and of its begin, which has the process and its command. */
enum { WHOLE = 1 << 28, BEGIN = 1 << 22 };

/* As much as `most` bytes.  What has another name elsewhere is no recording's: NULL. */
static char *read_log(const struct family *family, const struct member *member, size_t most,
		      uid_t *owner)
{
	struct stat st;
	int fd = family_open_file(family, member, FORMAT_FILE_LOG, O_RDONLY);
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_nlink < 2) {
		size_t length = (size_t)st.st_size < most ? (size_t)st.st_size : most;

		*owner = st.st_uid;
		text = xmalloc(length + 1);
		ssize_t size = pread(fd, text, length, 0);

		text[size > 0 ? size : 0] = '\0';
	}
	close(fd);
	return text;
}

char *family_read_log(const struct family *family, const struct member *member)
{
	uid_t owner;

	return read_log(family, member, WHOLE, &owner);
}

/*
 * On another machine than ours, where its number is another process's: the log names a clock of
 * another start of a machine.  One that has only a namespace of times of its own is here.
 */
static bool is_elsewhere(const struct member *member, const char *text, const char *process)
{
	static const char attribute[] = " clock=\"";
	const char *clock = strstr(text, attribute);
	char own[MACHINE_CLOCK_NAME];

	if (!*member->name || !clock || clock > process)
		return false;
	machine_clock_name(own);
	return strncmp(clock + strlen(attribute), own, strcspn(own, " "));
}

static void read_process(struct family *family, struct member *member)
{
	uint64_t pid;
	char *text = read_log(family, member, BEGIN, &member->owner);
	const char *line = text ? strstr(text, "\n<process ") : NULL;

	/* Without its end the line is not written yet. */
	if (line && strchr(line + 1, '\n') && xml_read_number(line + 1, "pid", &pid)) {
		member->pid = (pid_t)pid;
		xml_read_number(line + 1, "own_pid", &pid);
		member->own_pid = (pid_t)pid;
		xml_read_number(line + 1, "tstamp", &member->tstamp_ns);
		member->ended = is_elsewhere(member, text, line);
	}
	free(text);
}

void family_open(struct family *family, int folder, pid_t pid, uint64_t mono_ns)
{
	*family = (struct family){.folder = folder, .mono_ns = mono_ns, .founder_is_child = pid};
	string_table_add(&family->names, "");
	*vec_push(&family->members) =
		(struct member){.name = xstrdup(""), .pid = pid, .own_pid = pid};
}

/* Opens the directory anew: a descriptor has one position, and each scan begins at the start. */
static void add_new_members(struct family *family)
{
	int fd = folder_open_below(family->folder, "");
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		size_t length = strlen(entry->d_name);

		if (*entry->d_name != '_' || length < 5 ||
		    strcmp(entry->d_name + length - 3, ".er"))
			continue;
		if (string_table_add(&family->names, entry->d_name) == family->members.count)
			vec_push(&family->members)->name = xstrdup(entry->d_name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* What CLOCK_BOOTTIME, which process start times are in, is ahead of CLOCK_MONOTONIC. */
static uint64_t boot_offset_ns(void)
{
	struct timespec boot;
	struct timespec mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (uint64_t)(boot.tv_sec - mono.tv_sec) * 1000000000u + (uint64_t)boot.tv_nsec -
	       (uint64_t)mono.tv_nsec;
}

/* Who writes a log may name a process of somebody else's, with which something is done then. */
static bool is_of_owner(const struct member *member)
{
	char text[PROC_TEXT];
	const char *field = NULL;

	if (!member->owner)
		return true;
	if (proc_read_text(member->pid, 0, "status", text))
		field = proc_field(text, "Uid");
	for (int i = 0; field && i < 4; i++) { /* real, effective, saved, of the file system */
		char *end;

		if (strtoul(field, &end, 10) == member->owner)
			return true;
		field = end;
	}
	return false;
}

static bool is_running(const struct family *family, const struct member *member)
{
	struct proc_stat stat;

	if (!*member->name && family->founder_is_child)
		return !family->founder_reaped;
	if (!proc_read_stat(member->pid, &stat) || stat.state == 'Z' || stat.state == 'X' ||
	    !is_of_owner(member))
		return false;
	uint64_t began = family->mono_ns + member->tstamp_ns;

	/* Older than the recording: another process, for the member lives in a namespace of its
	 * own. */
	if (family->founder_is_child &&
	    stat.start_ns + START_ROUNDING_NS < family->mono_ns + boot_offset_ns())
		return false;
	return stat.start_ns <= began + boot_offset_ns() + START_ROUNDING_NS;
}

/* Of several members in one process only the last to begin still runs there. */
static void end_replaced(struct family *family)
{
	struct hash_map slots = {0}; /* pid → index in latest */
	VEC(struct member *) latest = {0};

	for (size_t i = 0; i < family->members.count; i++) {
		struct member *member = &family->members.items[i];

		if (!member->pid || member->ended)
			continue;
		uint32_t slot = hash_map_put(&slots, (uint64_t)member->pid, (uint32_t)latest.count);

		if (slot == latest.count) {
			*vec_push(&latest) = member;
			continue;
		}
		struct member *other = latest.items[slot];
		bool later = member->tstamp_ns >= other->tstamp_ns;

		(later ? other : member)->ended = true;
		if (later)
			latest.items[slot] = member;
	}
	vec_fini(&latest);
	hash_map_fini(&slots);
}

void family_scan(struct family *family)
{
	add_new_members(family);
	for (size_t i = 0; i < family->members.count; i++)
		if (!family->members.items[i].pid)
			read_process(family, &family->members.items[i]);
	end_replaced(family);
	for (size_t i = 0; i < family->members.count; i++) {
		struct member *member = &family->members.items[i];

		if (member->pid && !member->ended && !is_running(family, member))
			member->ended = true;
	}
}

static bool any_runs_apart(const struct family *family)
{
	for (size_t i = 0; i < family->members.count; i++) {
		const struct member *member = &family->members.items[i];

		if (member->pid && !member->ended && member->own_pid != member->pid)
			return true;
	}
	return false;
}

void family_await_apart(struct family *family)
{
	enum { LOOKS = 40 };
	const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};

	family_scan(family);
	for (int i = 0; i < LOOKS && any_runs_apart(family); i++) {
		nanosleep(&nap, NULL);
		family_scan(family);
	}
}

void family_close(struct family *family)
{
	for (size_t i = 0; i < family->members.count; i++)
		free(family->members.items[i].name);
	vec_fini(&family->members);
	string_table_fini(&family->names);
	close(family->folder);
	*family = (struct family){.folder = -1};
}
