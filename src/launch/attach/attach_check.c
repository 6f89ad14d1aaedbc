/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/attach/attach_check.h"

#include "launch/proc.h"
#include "launch/run/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(struct diag_list *diags, pid_t pid, const char *why)
{
	diag_add(diags, DIAG_ERROR, "Process %d %s", (int)pid, why);
	return false;
}

/* Opens a file of /proc/PID. */
static int open_file(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);

		if (pread(fd, &segment, sizeof(segment), at) == sizeof(segment) &&
		    segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static bool check_program(pid_t pid, struct diag_list *diags)
{
	Elf64_Ehdr header = {0};
	int fd = open_file(pid, "exe");

	if (fd < 0) {
		attach_explain(pid, errno, diags);
		return false;
	}
	bool known = pread(fd, &header, sizeof(header), 0) == sizeof(header);
	bool dynamic = known && has_interpreter(fd, &header);
	bool past_libc = dynamic && target_goes_past_libc(fd);

	close(fd);
	if (known && header.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(diags, pid,
			      "is a 32-bit program, and the collector is a 64-bit library: run one "
			      "that is built for 64 bits (without -m32)");
	if (!dynamic)
		return refuse(diags, pid,
			      "is a statically linked program, into which no library can be "
			      "loaded: link it dynamically (without -static; Go: " TARGET_GO_REMEDY
			      "), or watch it with perf record -p");
	if (past_libc)
		return refuse(diags, pid, TARGET_PAST_LIBC ", or watch it with perf record -p");
	return true;
}

/* False: it has none. */
static bool explain_tracer(pid_t pid, const char *status, struct diag_list *diags)
{
	long tracer = (long)proc_number(status, "TracerPid", 10);

	if (tracer)
		diag_add(diags, DIAG_ERROR,
			 "Process %d is being traced already, by process %ld: end that debugger, "
			 "strace or helio attach first",
			 (int)pid, tracer);
	return tracer;
}

static bool check_state(pid_t pid, const char *status, struct diag_list *diags)
{
	const char *field = proc_field(status, "State");
	char state = field ? *field : '?';

	if (state == 'Z' && proc_number(status, "Threads", 10) > 1)
		return refuse(diags, pid,
			      "goes on although its first thread has ended, and the system tells "
			      "nothing of such a process: start it with helio collect");
	if (state == 'Z' || state == 'X')
		return refuse(diags, pid,
			      "has ended already (it is a zombie that its parent has "
			      "not waited for)");
	if (!proc_field(status, "VmSize"))
		return refuse(diags, pid, "is a thread of the kernel, not a program");
	if (state == 'T')
		return refuse(diags, pid, "is stopped: let it go on first, with kill -CONT");
	if (explain_tracer(pid, status, diags))
		return false;
	const char *features = proc_field(status, "x86_Thread_features");

	if (features && memmem(features, strcspn(features, "\n"), "shstk", strlen("shstk")))
		return refuse(diags, pid,
			      "has a shadow stack, which no call from outside gets past: start it "
			      "with helio collect");
	if (proc_number(status, "Seccomp", 10))
		return refuse(diags, pid,
			      "restricts its own system calls (seccomp), and one of the "
			      "collector's could be its death: start it with helio collect, which "
			      "ends recording in time");
	return true;
}

/* Whether a link of /proc leads to one thing for the process and for us, as far as can be seen. */
static bool is_same(pid_t pid, const char *link)
{
	char theirs_at[64], ours_at[64];
	struct stat ours, theirs;

	snprintf(theirs_at, sizeof(theirs_at), "/proc/%d/%s", (int)pid, link);
	snprintf(ours_at, sizeof(ours_at), "/proc/self/%s", link);
	if (stat(ours_at, &ours) || stat(theirs_at, &theirs))
		return true; /* attach_explain comes to it */
	return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/*
 * The program, the library and the experiment must go by the same paths there and here, and
 * processes by the same numbers: the collector ends the recording when it does not see us.
 */
static bool check_place(pid_t pid, struct diag_list *diags)
{
	if (!is_same(pid, "root/") || !is_same(pid, "ns/mnt"))
		return refuse(diags, pid,
			      "lives in another root directory or mount namespace (a container?): "
			      "run helio in there");
	if (!is_same(pid, "ns/pid"))
		return refuse(diags, pid,
			      "lives in another pid namespace (a container?), where processes have "
			      "other numbers: run helio in there, as with nsenter -t PID -p -m");
	return true;
}

enum status attach_check(pid_t pid, struct diag_list *diags)
{
	char status[PROC_TEXT];

	if (!proc_read_text(pid, 0, "status", status)) {
		diag_add(diags, DIAG_ERROR, "There is no process %d", (int)pid);
		return STATUS_NOTFOUND;
	}
	if (proc_number(status, "Tgid", 10) != (uint64_t)pid) {
		diag_add(diags, DIAG_ERROR,
			 "%d is a thread of process %ld: name the process, all its threads are "
			 "recorded",
			 (int)pid, (long)proc_number(status, "Tgid", 10));
		return STATUS_INVALID;
	}
	if (pid == getpid()) {
		refuse(diags, pid, "is helio itself");
		return STATUS_INVALID;
	}
	return check_state(pid, status, diags) && check_program(pid, diags) &&
			       check_place(pid, diags)
		       ? STATUS_OK
		       : STATUS_INVALID;
}

/* kernel.yama.ptrace_scope; 0 where the kernel has no such thing. */
static long ptrace_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	long scope = 0;

	if (file) {
		if (fscanf(file, "%ld", &scope) != 1)
			scope = 0;
		fclose(file);
	}
	return scope;
}

bool attach_has_ended(pid_t pid)
{
	char text[PROC_TEXT];

	return !proc_read_text(pid, 0, "status", text) || !proc_field(text, "VmSize");
}

void attach_explain(pid_t pid, int error, struct diag_list *diags)
{
	bool denied = error == EPERM || error == EACCES;
	char status[PROC_TEXT];
	long scope = ptrace_scope();

	/* a tracer that came after attach_check */
	if (denied && proc_read_text(pid, 0, "status", status) &&
	    explain_tracer(pid, status, diags))
		return;
	/* a process that is ending may be traced by nobody */
	if (error == ESRCH || error == ENOENT || (denied && attach_has_ended(pid)))
		diag_add(diags, DIAG_ERROR, "Process %d has ended", (int)pid);
	else if (!denied)
		diag_add(diags, DIAG_ERROR, "Process %d cannot be opened: %s", (int)pid,
			 strerror(error));
	else if (scope == 3)
		diag_add(diags, DIAG_ERROR,
			 "No permission to attach to process %d: kernel.yama.ptrace_scope is 3, "
			 "which allows it to nobody until the next boot",
			 (int)pid);
	else if (scope)
		diag_add(diags, DIAG_ERROR,
			 "No permission to attach to process %d: kernel.yama.ptrace_scope is %ld; "
			 "set it to 0 (sysctl kernel.yama.ptrace_scope=0), or run helio as root or "
			 "with CAP_SYS_PTRACE",
			 (int)pid, scope);
	else
		diag_add(diags, DIAG_ERROR,
			 "No permission to attach to process %d: it belongs to another user or has "
			 "rights of its own; run helio as its user, as root or with CAP_SYS_PTRACE",
			 (int)pid);
}

char **attach_arguments(struct arena *arena, pid_t pid)
{
	char text[PROC_TEXT];
	int fd = open_file(pid, "cmdline");
	ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	size_t count = 0, used = 0;

	if (fd >= 0)
		close(fd);
	if (size <= 0) {
		size = 1;
		text[0] = '?';
	}
	text[size] = '\0';
	for (ssize_t i = 0; i < size; i++)
		count += !text[i];
	char **words = arena_array(arena, char *, count + 2);

	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		words[used++] = arena_strdup(arena, at);
	return words;
}

void attach_becomes_another(pid_t pid, struct diag_list *diags)
{
	diag_add(diags, DIAG_ERROR,
		 "Process %d is just becoming another program (execve): try again when it has",
		 (int)pid);
}
