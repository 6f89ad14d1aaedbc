/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks may be hostile: any process that holds a socket to this one, and whatever it wants to
 * harm.  So:
 * - What it is told of is the experiment's files and its own in /proc, by names that a collector
 *   makes, opened with the rights of who asks; only regular files are given away.
 * - A process that knows the key was begun by one that is recorded.  Where it is not root any more,
 *   new files and directories are made for it, and its own are opened, in directories of root's.
 * - Who asks is what the kernel says of the socket pair that came along: who made it, and with
 *   which rights.  The message's own word on that must be the same.
 * - Who does not know the key sends in vain: the kernel throws the message away in the sender's own
 *   call (a filter of the socket), with the descriptors in it, whose closing may last for hours: a
 *   TCP socket that lingers, a file of a file system of the sender's own.
 * - Who knows it can make a thread of ours hang that way.  So a thread of its own answers, from the
 *   first request on; where one question lasts, another takes its place.  After a few of those
 *   nobody answers any more, and who asks is told so at once.
 */
#include "launch/run/broker.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/broker.h"
#include "format/files.h"
#include "launch/run/broker_proc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

enum {
	GROUPS_MAX_HERE = 1024,
	CONTROL_ROOM = 256,
	PATIENCE_S = 2,	 /* with a question at the end */
	HANG_MS = 250,	 /* … before another thread answers the next ones */
	THREADS_MOST = 5 /* that answer, or hang */
};

struct server;

struct broker {
	int folder, socket;
	bool serving;
	pthread_t watch;
	gid_t groups[GROUPS_MAX_HERE]; /* of this process */
	int group_count;
	uint64_t key[2]; /* see format/broker.h */
	/* What follows is the lock's. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct server *server; /* whose turn it is; NULL: nobody answers any more */
	uint64_t questions;    /* that were begun */
	struct timespec hangs; /* … when the last of them is one that lasts */
	int threads;	       /* that answer, or hang */
	bool asked, ending, gave_up;
};

struct asker {
	struct ucred made; /* who made the socket pair */
	struct ucred said; /* who sent the message */
	int reply;	   /* -1: none came */
	int process;	   /* a pidfd of who made it, -1: the kernel has none */
	gid_t groups[GROUPS_MAX_HERE];
	int group_count;
};

/* A question, as it came. */
struct question {
	struct broker_request request;
	char path[BROKER_PATH_MAX];
};

struct reply {
	struct broker_answer answer;
	char data[BROKER_DATA_MAX];
	int fd; /* -1: none goes along */
};

/* A thread that answers, and all that it needs for that. */
struct server {
	struct broker *broker;
	bool own_umask;
	struct question question;
	struct reply reply;
	struct asker asker;
};

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- who asks ---- */

static void take_descriptors(struct cmsghdr *part, struct asker *asker)
{
	size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
		if (asker->reply < 0)
			asker->reply = fd;
		else
			close(fd);
	}
}

static void take_control(struct msghdr *message, struct asker *asker)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET)
			continue;
		if (part->cmsg_type == SCM_RIGHTS)
			take_descriptors(part, asker);
		else if (part->cmsg_type == SCM_CREDENTIALS)
			memcpy(&asker->said, CMSG_DATA(part), sizeof(asker->said));
	}
}

static int number_of(int socket, int option)
{
	int value = -1;
	socklen_t size = sizeof(value);

	return getsockopt(socket, SOL_SOCKET, option, &value, &size) ? -1 : value;
}

/* False: it is not what a collector sends. */
static bool know_asker(struct asker *asker)
{
	socklen_t size = sizeof(asker->made), groups = sizeof(asker->groups);

	if (asker->reply < 0 || number_of(asker->reply, SO_DOMAIN) != AF_UNIX ||
	    number_of(asker->reply, SO_TYPE) != SOCK_SEQPACKET ||
	    getsockopt(asker->reply, SOL_SOCKET, SO_PEERCRED, &asker->made, &size) ||
	    getsockopt(asker->reply, SOL_SOCKET, SO_PEERGROUPS, asker->groups, &groups))
		return false;
	asker->group_count = (int)(groups / sizeof(gid_t));
	asker->process = number_of(asker->reply, SO_PEERPIDFD);
	if (asker->process < 0 && errno != ENOPROTOOPT)
		return false; /* it has ended */
	return asker->made.pid > 0 && asker->made.pid == asker->said.pid;
}

/* That it has not ended: another process may have its number by then. */
static bool is_still_there(const struct asker *asker)
{
	struct pollfd end = {.fd = asker->process, .events = POLLIN};

	return asker->process < 0 || !poll(&end, 1, 0);
}

static void set_groups(const gid_t *groups, int count)
{
	syscall(SYS_setgroups, count, groups); /* of this thread, which libc's is not */
}

static void take_umask(const struct server *server)
{
	int mask = server->own_umask ? broker_proc_umask(server->asker.made.pid) : -1;

	if (mask >= 0)
		umask((mode_t)mask);
}

/* The rights of this thread, for files. False: it cannot have those. */
static bool be_asker(const struct asker *asker)
{
	if (geteuid())
		return asker->made.uid == geteuid();
	set_groups(asker->groups, asker->group_count);
	setfsgid(asker->made.gid);
	setfsuid(asker->made.uid);
	return (uid_t)setfsuid((uid_t)-1) == asker->made.uid;
}

static void be_oneself(const struct broker *broker)
{
	if (geteuid())
		return;
	folder_be_oneself();
	set_groups(broker->groups, broker->group_count);
}

/* ---- the experiment ---- */

static bool is_member(const char *name, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	return length > 4 && length <= NAME_MAX && *name == '_' &&
	       strspn(name, letters) == length - 3 && !strncmp(name + length - 3, ".er", 3);
}

static bool is_file(const char *name)
{
	for (int i = 0; i < FORMAT_FILES; i++)
		if (format_files[i].is & FILE_BY_PROCESS && !strcmp(name, format_files[i].name))
			return true;
	return false;
}

/* A file of the founder's or of a member's. */
static bool names_file(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? is_member(path, (size_t)(slash - path)) && is_file(slash + 1)
		     : is_file(path);
}

static int open_file(const struct broker *broker, const char *path, int flags)
{
	const int allowed = O_ACCMODE | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	if (!names_file(path))
		return -EPERM;
	if (flags & ~allowed || (flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	int fd = folder_open_file(broker->folder, path, flags, 0644);

	return fd < 0 ? -errno : fd;
}

static int make_directory(const struct broker *broker, const char *path)
{
	if (!is_member(path, strlen(path)))
		return -EPERM;
	return mkdirat(broker->folder, path, 0755) ? -errno : 0;
}

static int remove_file(const struct broker *broker, const char *path)
{
	const char *name;
	int parent = names_file(path) ? folder_open_parent(broker->folder, path, &name) : -1;
	int result = -EPERM;

	if (parent >= 0) {
		result = unlinkat(parent, name, 0) ? -errno : 0;
		close(parent);
	}
	return result;
}

static int look_at_file(const struct broker *broker, const char *path, struct broker_answer *answer)
{
	struct stat info;

	if (!names_file(path))
		return -EPERM;
	if (!folder_stat(broker->folder, path, &info))
		return -errno;
	answer->file_size = (uint64_t)info.st_size;
	return S_ISREG(info.st_mode) ? 0 : -EINVAL;
}

/* ---- the same for a process that is no longer root, in directories of root's ---- */

/* Nobody but root makes, removes or exchanges anything in the directory that a path lies in. */
static bool is_of_root(const struct broker *broker, const char *path)
{
	const char *name;
	struct stat info;
	int parent = folder_open_parent(broker->folder, path, &name);
	bool is = parent >= 0 && !fstat(parent, &info) && !info.st_uid &&
		  !(info.st_mode & (S_IWGRP | S_IWOTH));

	close_if(parent);
	return is;
}

static bool is_own(const struct asker *asker, const struct stat *info)
{
	return !asker->made.uid || info->st_uid == asker->made.uid;
}

static int make_for(const struct broker *broker, const struct asker *asker, const char *path,
		    int flags)
{
	int fd = open_file(broker, path, flags | O_CREAT | O_EXCL);

	if (fd < 0 || !fchown(fd, asker->made.uid, asker->made.gid))
		return fd;
	close(fd);
	return -EACCES;
}

/* What it makes becomes its own; of what is there it gets its own, or what all may read. */
static int open_for(const struct broker *broker, const struct asker *asker, const char *path,
		    int flags)
{
	struct stat info;
	int fd = flags & O_CREAT ? make_for(broker, asker, path, flags) : -EEXIST;

	if (fd != -EEXIST || flags & O_EXCL)
		return fd;
	fd = open_file(broker, path, flags & ~O_CREAT);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &info) &&
	    (is_own(asker, &info) || ((flags & O_ACCMODE) == O_RDONLY && info.st_mode & S_IROTH)))
		return fd;
	close(fd);
	return -EACCES;
}

static int remove_for(const struct broker *broker, const struct asker *asker, const char *path)
{
	struct stat info;

	if (!names_file(path) || !folder_stat(broker->folder, path, &info))
		return -EPERM;
	return is_own(asker, &info) ? remove_file(broker, path) : -EACCES;
}

/* ---- a question and its answer ---- */

/* A length that what was asked for has, or a negative errno. */
static int take_size(struct reply *reply, ssize_t size, size_t each)
{
	reply->answer.size = size < 0 ? 0 : (uint32_t)((size_t)size * each);
	return size < 0 ? (int)size : 0;
}

static int answer_of_proc(const struct asker *asker, const struct question *question,
			  struct reply *reply)
{
	const struct broker_request *request = &question->request;
	pid_t pid = asker->made.pid;
	struct stat info = {0};
	int32_t tasks[BROKER_DATA_MAX / sizeof(int32_t)];
	int result;

	switch (request->kind) {
	case BROKER_OPEN_PROC:
		return reply->fd = broker_proc_open(pid, request->thread, question->path);
	case BROKER_READ_LINK:
		return take_size(reply,
				 broker_proc_link(pid, request->thread, question->path, reply->data,
						  sizeof(reply->data)),
				 1);
	case BROKER_STAT_PROC:
		result = broker_proc_stat(pid, question->path, &info);
		reply->answer.device = info.st_dev;
		reply->answer.inode = info.st_ino;
		return result;
	case BROKER_LIST_TASKS:
		result = take_size(reply,
				   broker_proc_tasks(pid, request->number, tasks,
						     sizeof(tasks) / sizeof(tasks[0])),
				   sizeof(tasks[0]));
		memcpy(reply->data, tasks, reply->answer.size);
		return result;
	default:
		return -EINVAL;
	}
}

static int answer_of_files(const struct broker *broker, const struct question *question,
			   struct reply *reply)
{
	const struct broker_request *request = &question->request;

	switch (request->kind) {
	case BROKER_OPEN:
		return reply->fd = open_file(broker, question->path, request->flags);
	case BROKER_MAKE_DIRECTORY:
		return make_directory(broker, question->path);
	case BROKER_REMOVE:
		return remove_file(broker, question->path);
	case BROKER_STAT:
		return look_at_file(broker, question->path, &reply->answer);
	default:
		return -EINVAL;
	}
}

static int answer_of_root(const struct broker *broker, const struct asker *asker,
			  const struct question *question, struct reply *reply)
{
	const struct broker_request *request = &question->request;

	if (request->kind == BROKER_OPEN)
		return reply->fd = open_for(broker, asker, question->path, request->flags);
	if (request->kind == BROKER_REMOVE)
		return remove_for(broker, asker, question->path);
	return answer_of_files(broker, question, reply);
}

static bool is_of_proc(uint32_t kind)
{
	return kind >= BROKER_OPEN_PROC;
}

/* For these the kernel looks at the rights of who opens them, which are ours: not at who reads. */
static bool tells_of_image(const struct question *question)
{
	return question->request.kind == BROKER_READ_LINK ||
	       (question->request.kind == BROKER_OPEN_PROC && !strcmp(question->path, "self/maps"));
}

/* Asked for afterwards: it may have executed a program that has more rights than its user. */
static bool is_asker_still(const struct asker *asker, const struct question *question)
{
	pid_t pid = asker->made.pid;
	uid_t user = asker->made.uid;

	return broker_proc_is_of(pid, user) &&
	       (!tells_of_image(question) ||
		broker_proc_is_image(pid, user, question->request.number));
}

static void find_answer(struct server *server)
{
	const struct broker *broker = server->broker;
	const struct asker *asker = &server->asker;
	const struct question *question = &server->question;
	struct reply *reply = &server->reply;
	int result = -EACCES;

	/* What it may do with files does not matter for its own /proc. */
	if (is_of_proc(question->request.kind)) {
		result = answer_of_proc(asker, question, reply);
		if (!is_asker_still(asker, question))
			result = -EACCES;
	} else {
		take_umask(server);
		if (!geteuid() && is_of_root(broker, question->path))
			result = answer_of_root(broker, asker, question, reply);
		else if (be_asker(asker))
			result = answer_of_files(broker, question, reply);
		be_oneself(broker);
	}
	if (!is_still_there(asker))
		result = -ESRCH;
	reply->answer.result = result < 0 ? result : 0;
}

static void send_answer(int to, const struct reply *reply)
{
	bool gives = reply->fd >= 0 && !reply->answer.result;
	struct iovec parts[] = {
		{.iov_base = (void *)(uintptr_t)&reply->answer, .iov_len = sizeof(reply->answer)},
		{.iov_base = (void *)(uintptr_t)reply->data, .iov_len = reply->answer.size}};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = gives ? &control : NULL,
				 .msg_controllen = gives ? sizeof(control) : 0};

	memcpy(CMSG_DATA(&control.head), &reply->fd, sizeof(int));
	sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Whether it is one that this version knows, of who knows the key, with a path that ends. */
static bool is_whole(const struct broker *broker, const struct question *question, ssize_t size,
		     int flags)
{
	size_t head = sizeof(question->request);

	return size > (ssize_t)head && !(flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	       !memcmp(question->request.key, broker->key, sizeof(broker->key)) &&
	       question->request.kind < BROKER_KINDS &&
	       memchr(question->path, '\0', (size_t)size - head);
}

/* One question, if there is one. */
static void serve_one(struct server *server)
{
	struct question *question = &server->question;
	struct asker *asker = &server->asker;
	struct reply *reply = &server->reply;
	union {
		struct cmsghdr head;
		char room[CONTROL_ROOM];
	} control;
	struct iovec part = {.iov_base = question, .iov_len = sizeof(*question)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t size = recvmsg(server->broker->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (size < 0)
		return;
	asker->said = asker->made = (struct ucred){0};
	asker->reply = asker->process = reply->fd = -1;
	reply->answer = (struct broker_answer){0};
	take_control(&message, asker);
	if (is_whole(server->broker, question, size, message.msg_flags) && know_asker(asker)) {
		find_answer(server);
		send_answer(asker->reply, reply);
	}
	close_if(reply->fd);
	close_if(asker->process);
	close_if(asker->reply);
}

/* ---- the threads ---- */

static struct timespec later(int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ms % 1000 * 1000000L;
	time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* A question begins, or has ended.  False: it is not this thread's turn any more. */
static bool have_turn(struct server *server, bool begins)
{
	struct broker *broker = server->broker;

	pthread_mutex_lock(&broker->lock);
	bool ours = broker->server == server && !broker->ending;

	broker->asked = ours ? begins : broker->asked;
	broker->questions += ours && begins;
	broker->hangs = ours && begins ? later(HANG_MS) : broker->hangs;
	broker->threads -= !ours;
	if (!ours || begins)
		pthread_cond_signal(&broker->changed);
	pthread_mutex_unlock(&broker->lock);
	return ours;
}

static void *serve(void *context)
{
	struct server *server = context;
	struct pollfd request = {.fd = server->broker->socket, .events = POLLIN};

	server->own_umask = !unshare(CLONE_FS);
	for (;;) {
		poll(&request, 1, -1);
		if (!have_turn(server, true))
			break;
		serve_one(server);
		if (!have_turn(server, false))
			break;
	}
	free(server);
	return NULL;
}

/* The lock is held.  Another thread gets the turn, or nobody: who asks is told so at once. */
static void pass_turn(struct broker *broker)
{
	struct server *server = NULL;
	pthread_t thread;

	if (broker->threads < THREADS_MOST) {
		server = xcalloc(1, sizeof(*server));
		server->broker = broker;
	}
	if (server && pthread_create(&thread, NULL, serve, server)) {
		free(server);
		server = NULL;
	}
	if (server)
		pthread_detach(thread);
	broker->threads += server != NULL;
	broker->asked = false;
	broker->server = server;
	if (!server)
		shutdown(broker->socket, SHUT_RDWR);
}

/* Sees to it that a question that lasts keeps nobody else waiting; sleeps while nobody asks. */
static void *watch(void *context)
{
	struct broker *broker = context;

	pthread_mutex_lock(&broker->lock);
	while (!broker->ending && broker->server) {
		uint64_t question = broker->questions;
		struct timespec hangs = broker->hangs; /* it changes during the wait */

		if (!broker->asked) {
			pthread_cond_wait(&broker->changed, &broker->lock);
			continue;
		}
		if (pthread_cond_timedwait(&broker->changed, &broker->lock, &hangs) != ETIMEDOUT ||
		    broker->ending || !broker->asked || broker->questions != question)
			continue;
		pass_turn(broker);
		broker->gave_up = !broker->server;
	}
	pthread_mutex_unlock(&broker->lock);
	return NULL;
}

/* ---- begin and end ---- */

static bool bind_below(int socket, int folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder,
		 BROKER_SOCKET);
	/* who may ask: programs of root's may go on as anybody */
	mode_t mask = umask(geteuid() ? 0177 : 0111);
	bool ok = !bind(socket, (const struct sockaddr *)&address, sizeof(address));

	umask(mask);
	return ok;
}

/* A word of the key as a filter loads it: as one that came over a network. */
static uint32_t filter_word(const struct broker *broker, int number)
{
	uint32_t word;

	memcpy(&word, (const char *)broker->key + (size_t)number * sizeof(word), sizeof(word));
	return htonl(word);
}

/*
 * Messages without the key: the kernel drops them in the sender's call.  Not when they are read:
 * what they carry would be closed here, and they would fill the queue.
 */
static bool refuse_strangers(const struct broker *broker)
{
	enum { WORD = sizeof(uint32_t), WORDS = sizeof(broker->key) / WORD, END = 2 * WORDS };
	const uint32_t key = offsetof(struct broker_request, key);
	struct sock_filter code[END + 2];
	const struct sock_fprog program = {.len = END + 2, .filter = code};

	for (int i = 0; i < WORDS; i++) {
		code[2 * i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							   key + (uint32_t)i * sizeof(uint32_t));
		code[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							       filter_word(broker, i), 0,
							       (uint8_t)(END - 2 * i - 1));
	}
	code[END] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	code[END + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	return !setsockopt(broker->socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void init_lock(struct broker *broker)
{
	pthread_condattr_t clock;

	pthread_mutex_init(&broker->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&broker->changed, &clock);
	pthread_condattr_destroy(&clock);
}

struct broker *broker_open(int folder)
{
	struct broker *broker = xcalloc(1, sizeof(*broker));
	int on = 1;

	broker->folder = folder_open_below(folder, "");
	broker->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	broker->group_count = getgroups(GROUPS_MAX_HERE, broker->groups);
	bool has_key = getrandom(broker->key, sizeof(broker->key), 0) == sizeof(broker->key) &&
		       broker->key[0];

	if (has_key && broker->folder >= 0 && broker->socket >= 0 && broker->group_count >= 0 &&
	    !setsockopt(broker->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    refuse_strangers(broker) && bind_below(broker->socket, broker->folder)) {
		init_lock(broker);
		return broker;
	}
	close_if(broker->folder);
	close_if(broker->socket);
	free(broker);
	return NULL;
}

const uint64_t *broker_key(const struct broker *broker)
{
	static const uint64_t none[2];

	return broker ? broker->key : none;
}

int broker_descriptor(const struct broker *broker)
{
	return broker && !broker->serving ? broker->socket : -1;
}

void broker_serve(struct broker *broker)
{
	pthread_mutex_lock(&broker->lock);
	broker->serving = !pthread_create(&broker->watch, NULL, watch, broker);
	if (broker->serving)
		pass_turn(broker);
	else
		shutdown(broker->socket, SHUT_RDWR);
	pthread_mutex_unlock(&broker->lock);
}

bool broker_gave_up(struct broker *broker)
{
	if (!broker)
		return false;
	pthread_mutex_lock(&broker->lock);
	bool gave_up = broker->gave_up;

	pthread_mutex_unlock(&broker->lock);
	return gave_up;
}

/*
 * Nobody reads what is sent there: who sends something is told at once.  The socket is not closed,
 * since what lies in it would be, too; the kernel does that without waiting when we end.
 */
static void stop_listening(struct broker *broker)
{
	shutdown(broker->socket, SHUT_RDWR);
}

void broker_hide(struct broker *broker)
{
	if (!broker)
		return;
	unlinkat(broker->folder, BROKER_SOCKET, 0);
	if (!broker->serving)
		stop_listening(broker);
}

/*
 * For the thread that is at a question, unless it is one of those that hang; but not for long,
 * since it may hang, too.  Returns how many are left.
 */
static int wait_for_threads(struct broker *broker)
{
	struct timespec until = later(PATIENCE_S * 1000);

	pthread_mutex_lock(&broker->lock);
	int hang = broker->threads - (broker->server != NULL), left;

	broker->ending = true;
	pthread_cond_broadcast(&broker->changed);
	while (broker->threads > hang &&
	       pthread_cond_timedwait(&broker->changed, &broker->lock, &until) != ETIMEDOUT)
		;
	left = broker->threads;
	pthread_mutex_unlock(&broker->lock);
	return left;
}

void broker_close(struct broker *broker)
{
	if (!broker)
		return;
	stop_listening(broker);
	if (broker->serving) {
		int left = wait_for_threads(broker);

		pthread_join(broker->watch, NULL);
		if (left)
			return; /* they hang, and have all that is the broker's */
	}
	close_if(broker->folder);
	free(broker);
}
