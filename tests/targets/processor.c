/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command on a processor with hardware counters, which this machine need not have:
 *
 *   processor precise=N watch=0xADDRESS share=PERCENT none=HEX COMMAND…
 *
 * The command's calls of perf_event_open come here first (seccomp).  What asks for a hardware event
 * is given an event that every machine has: the task clock for the generic ones, writes of the 8
 * bytes at `watch` for those of caches and raw ones, which a processor with precise=N can name
 * the data of, N deep.  All that follows, overflows, signals, data addresses, is the kernel's.
 * With share, counters have a register for only such a part of the time, as their readings tell.
 * The raw event of code `none` is not there.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { READING = 3 * sizeof(uint64_t) };

static struct {
	uint64_t precise, watch, share, none;
} machine = {.share = 100};

/* ---- in the child ---- */

#define LOAD(field)	     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

static int install_filter(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		JUMP(SYS_perf_event_open, 4, 0),
		JUMP(SYS_read, 0, 2),
		LOAD(args[2]),
		JUMP(READING, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* A message with one descriptor, to be sent or received. */
struct passing {
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec piece;
	struct msghdr message;
};

static void prepare(struct passing *passing)
{
	*passing = (struct passing){.piece = {&passing->byte, 1}};
	passing->message = (struct msghdr){.msg_iov = &passing->piece,
					   .msg_iovlen = 1,
					   .msg_control = passing->control,
					   .msg_controllen = sizeof(passing->control)};
}

static void run(char **command, int socket)
{
	struct passing passing;
	int listener = install_filter();

	prepare(&passing);
	struct cmsghdr *header = CMSG_FIRSTHDR(&passing.message);

	*header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(header), &listener, sizeof(int));
	if (listener < 0 || sendmsg(socket, &passing.message, 0) < 0)
		_exit(125);
	close(listener);
	close(socket);
	execvp(command[0], command);
	_exit(126);
}

/* ---- the processor ---- */

static int open_memory(uint32_t task)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/mem", task);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* The stand-in of a hardware event; an errno where there is none. */
static int choose(struct perf_event_attr *attr)
{
	bool is_generic = attr->type == PERF_TYPE_HARDWARE;

	if (attr->precise_ip > machine.precise || (attr->precise_ip && is_generic))
		return EOPNOTSUPP;
	if (attr->type == PERF_TYPE_RAW && attr->config == machine.none)
		return ENOENT;
	if (is_generic) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
		return 0;
	}
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->config = 0;
	attr->bp_type = HW_BREAKPOINT_W;
	attr->bp_addr = machine.watch;
	attr->bp_len = HW_BREAKPOINT_LEN_8;
	attr->precise_ip = 0;
	return 0;
}

static void open_event(const struct seccomp_notif *call, struct seccomp_notif_resp *answer,
		       int memory)
{
	struct perf_event_attr attr = {0};
	off_t at = (off_t)call->data.args[0];

	if (pread(memory, &attr, sizeof(attr), at) != sizeof(attr) ||
	    (attr.type != PERF_TYPE_HARDWARE && attr.type != PERF_TYPE_HW_CACHE &&
	     attr.type != PERF_TYPE_RAW))
		return;
	int error = choose(&attr);

	if (!error && pwrite(memory, &attr, sizeof(attr), at) == sizeof(attr))
		return;
	answer->flags = 0;
	answer->error = error ? -error : -EFAULT;
}

static int leader_of(uint32_t task)
{
	char path[64], line[256];
	int leader = 0;

	snprintf(path, sizeof(path), "/proc/%u/status", task);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Tgid: %d", &leader) != 1)
		;
	if (file)
		fclose(file);
	return leader;
}

static void read_event(const struct seccomp_notif *call, struct seccomp_notif_resp *answer,
		       int memory)
{
	char path[64], name[64] = "";
	uint64_t reading[3];

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", call->pid, (int)call->data.args[0]);
	if (machine.share == 100 || readlink(path, name, sizeof(name) - 1) < 0 ||
	    strcmp(name, "anon_inode:[perf_event]") != 0)
		return;
	int process = (int)syscall(SYS_pidfd_open, leader_of(call->pid), 0);
	int event = (int)syscall(SYS_pidfd_getfd, process, (int)call->data.args[0], 0);

	if (read(event, reading, sizeof(reading)) == sizeof(reading)) {
		reading[2] = reading[1] * machine.share / 100;
		answer->flags = 0;
		answer->val = sizeof(reading);
		if (pwrite(memory, reading, sizeof(reading), (off_t)call->data.args[1]) < 0)
			answer->error = -EFAULT;
	}
	close(event);
	close(process);
}

static void serve(int listener)
{
	struct seccomp_notif call;

	for (;;) {
		memset(&call, 0, sizeof(call));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			return;
		}
		struct seccomp_notif_resp answer = {.id = call.id,
						    .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		int memory = open_memory(call.pid);

		if (call.data.nr == SYS_perf_event_open)
			open_event(&call, &answer, memory);
		else
			read_event(&call, &answer, memory);
		close(memory);
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

static int receive_listener(int socket)
{
	struct passing passing;
	int listener = -1;

	prepare(&passing);
	if (recvmsg(socket, &passing.message, 0) == 1 && CMSG_FIRSTHDR(&passing.message))
		memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&passing.message)), sizeof(int));
	return listener;
}

static bool read_word(const char *word)
{
	static const struct {
		const char *key;
		uint64_t *value;
	} keys[] = {{"precise=", &machine.precise},
		    {"watch=", &machine.watch},
		    {"share=", &machine.share},
		    {"none=", &machine.none}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strncmp(word, keys[i].key, strlen(keys[i].key)) != 0)
			continue;
		*keys[i].value = strtoull(word + strlen(keys[i].key), NULL, 0);
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	int first = 1, sockets[2], status, helper;

	while (first < argc && read_word(argv[first]))
		first++;
	if (first == argc || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return 125;
	pid_t child = fork();
	if (!child)
		run(&argv[first], sockets[1]);
	close(sockets[1]);
	int listener = receive_listener(sockets[0]);
	if (listener < 0)
		return 125;
	helper = fork();
	if (!helper) {
		serve(listener);
		_exit(0);
	}
	waitpid(child, &status, 0);
	kill(helper, SIGKILL);
	waitpid(helper, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
