/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held KIND: a process with one thread that waits, or works, in the way named, for
 * somebody to attach to it.  It says `ready` before.  A child reads a line from stdin, and then
 * ends the wait as it should end.  What the call returned, its errno, what is blocked and which
 * handlers ran is printed: the same whoever came by.
 */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <ucontext.h>

/* What a kind is asked for: before the child is made, in the child, in the parent. */
enum phase { PREPARE, WAKE, ENTER };

static int in, out, other = -1;
static volatile sig_atomic_t handled;
static pid_t parent, child;
static _Atomic uint32_t *shared;
static char byte;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void handle(int signal)
{
	(void)signal;
	handled++;
}

static long on_pipe(enum phase phase)
{
	int fds[2];

	if (phase == PREPARE) {
		if (pipe(fds))
			return -1;
		in = fds[0];
		out = fds[1];
	}
	return phase == WAKE ? write(out, "x", 1) : 0;
}

static long on_socket(enum phase phase)
{
	int fds[2];

	if (phase == PREPARE) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
			return -1;
		in = fds[0];
		out = fds[1];
	}
	return phase == WAKE ? write(out, "x", 1) : 0;
}

static long wait_read(enum phase phase)
{
	return phase == ENTER ? read(in, &byte, 1) : on_pipe(phase);
}

static long wait_write(enum phase phase)
{
	char block[4096] = {0};

	if (phase == PREPARE) {
		on_pipe(phase);
		fcntl(out, F_SETFL, O_NONBLOCK);
		while (write(out, block, sizeof(block)) > 0)
			;
		fcntl(out, F_SETFL, 0);
		return 0;
	}
	return phase == WAKE ? read(in, block, sizeof(block)) : write(out, "y", 1);
}

static long wait_poll(enum phase phase)
{
	struct pollfd fd = {.fd = in, .events = POLLIN};

	return phase == ENTER ? poll(&fd, 1, 20000) : on_pipe(phase);
}

static long wait_ppoll(enum phase phase)
{
	struct pollfd fd = {.fd = in, .events = POLLIN};
	sigset_t none;

	sigemptyset(&none);
	return phase == ENTER ? ppoll(&fd, 1, NULL, &none) : on_pipe(phase);
}

static long wait_select(enum phase phase)
{
	fd_set set;

	FD_ZERO(&set);
	if (phase == ENTER)
		FD_SET(in, &set);
	return phase == ENTER ? select(in + 1, &set, NULL, NULL, NULL) : on_pipe(phase);
}

static long wait_pselect(enum phase phase)
{
	struct timespec time = {.tv_sec = 20};
	sigset_t all;
	fd_set set;

	sigfillset(&all);
	FD_ZERO(&set);
	if (phase == ENTER)
		FD_SET(in, &set);
	return phase == ENTER ? pselect(in + 1, &set, NULL, NULL, &time, &all) : on_pipe(phase);
}

static long wait_epoll(enum phase phase)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (phase != ENTER)
		return on_pipe(phase);
	other = epoll_create1(0);
	epoll_ctl(other, EPOLL_CTL_ADD, in, &event);
	return epoll_wait(other, &event, 1, -1);
}

static long wait_epoll_pwait(enum phase phase)
{
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t all;

	if (phase != ENTER)
		return on_pipe(phase);
	sigfillset(&all);
	other = epoll_create1(0);
	epoll_ctl(other, EPOLL_CTL_ADD, in, &event);
	return epoll_pwait(other, &event, 1, 20000, &all);
}

/* Ends by itself, not before its time. */
static long timed(int result, double before, double seconds)
{
	return result ? result : wall_now() - before < seconds ? -2 : 0;
}

static long wait_nanosleep(enum phase phase)
{
	struct timespec time = {.tv_nsec = 900000000};
	double before = wall_now();

	return phase == ENTER ? timed(nanosleep(&time, NULL), before, 0.9) : 0;
}

static long wait_until(enum phase phase)
{
	struct timespec time;
	double before = wall_now();

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec++;
	return phase != ENTER ? 0
			      : timed(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL),
				      before, 0.999);
}

static long wait_futex(enum phase phase)
{
	if (phase == WAKE) {
		*shared = 1;
		return syscall(SYS_futex, shared, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return phase == ENTER ? syscall(SYS_futex, shared, FUTEX_WAIT, 0, NULL, NULL, 0) : 0;
}

static long wait_futex_timed(enum phase phase)
{
	struct timespec time = {.tv_sec = 20};

	return phase == ENTER ? syscall(SYS_futex, shared, FUTEX_WAIT, 0, &time, NULL, 0)
			      : wait_futex(phase);
}

static long wait_wait4(enum phase phase)
{
	return phase == ENTER && waitpid(child, NULL, 0) == child;
}

static long wait_waitid(enum phase phase)
{
	siginfo_t info = {0};

	return phase == ENTER ? waitid(P_PID, (id_t)child, &info, WEXITED) + info.si_code : 0;
}

static long wait_accept(enum phase phase)
{
	if (phase == PREPARE) {
		snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "held-%d", getpid());
		in = socket(AF_UNIX, SOCK_STREAM, 0);
		bind(in, (struct sockaddr *)&address, sizeof(address));
		return listen(in, 1);
	}
	if (phase == WAKE)
		return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address,
			       sizeof(address));
	return accept(in, NULL, NULL) >= 0;
}

static long wait_recv(enum phase phase)
{
	return phase == ENTER ? recv(in, &byte, 1, 0) : on_socket(phase);
}

static long wait_recvmsg(enum phase phase)
{
	struct iovec to = {&byte, 1};
	struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1};
	struct timeval limit = {.tv_sec = 20};

	if (phase != ENTER)
		return on_socket(phase);
	setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)); /* EINTR for certain */
	return recvmsg(in, &message, 0);
}

static long by_signal(enum phase phase)
{
	return phase == WAKE ? kill(parent, SIGUSR1) : 0;
}

static long wait_pause(enum phase phase)
{
	return phase == ENTER ? pause() : by_signal(phase);
}

static long wait_sigsuspend(enum phase phase)
{
	sigset_t set;

	if (phase != ENTER)
		return by_signal(phase);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	return sigsuspend(&set);
}

static void block_usr1(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	sigprocmask(SIG_BLOCK, set, NULL);
}

static long wait_sigtimedwait(enum phase phase)
{
	struct timespec time = {.tv_sec = 20};
	sigset_t set;

	if (phase != ENTER)
		return by_signal(phase);
	block_usr1(&set);
	return sigtimedwait(&set, NULL, &time);
}

static long wait_signalfd(enum phase phase)
{
	struct signalfd_siginfo info;
	sigset_t set;

	if (phase != ENTER)
		return by_signal(phase);
	block_usr1(&set);
	return read(signalfd(-1, &set, 0), &info, sizeof(info));
}

static long wait_uring(enum phase phase)
{
	struct io_uring_params params = {0};

	if (phase != ENTER)
		return by_signal(phase);
	other = (int)syscall(SYS_io_uring_setup, 4, &params);
	return other < 0
		       ? pause()
		       : syscall(SYS_io_uring_enter, other, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

/* A lock that the child holds until it ends. */
static long wait_flock(enum phase phase)
{
	if (phase == PREPARE)
		return snprintf(address.sun_path, sizeof(address.sun_path), "held.lock");
	if (phase == ENTER) {
		while (!*shared)
			sched_yield();
		return flock(open(address.sun_path, O_RDWR | O_CREAT, 0600), LOCK_EX);
	}
	return 0;
}

static long wait_fcntl(enum phase phase)
{
	struct flock lock = {.l_type = F_WRLCK};

	if (phase != ENTER)
		return wait_flock(phase);
	while (!*shared)
		sched_yield();
	return fcntl(open(address.sun_path, O_RDWR | O_CREAT, 0600), F_SETLKW, &lock);
}

static long wait_msgrcv(enum phase phase)
{
	struct {
		long type;
		char text[1];
	} message = {.type = 1};

	if (phase == PREPARE)
		in = msgget(IPC_PRIVATE, 0600);
	if (phase == WAKE)
		return msgsnd(in, &message, 1, 0);
	long result = phase == ENTER ? msgrcv(in, &message, 1, 0, 0) : 0;

	if (phase == ENTER)
		msgctl(in, IPC_RMID, NULL);
	return result;
}

static long wait_semop(enum phase phase)
{
	struct sembuf operation = {.sem_op = phase == WAKE ? 1 : -1};

	if (phase == PREPARE)
		in = semget(IPC_PRIVATE, 1, 0600);
	long result = phase == PREPARE ? 0 : semop(in, &operation, 1);

	if (phase == ENTER)
		semctl(in, 0, IPC_RMID);
	return result;
}

static long wait_mqueue(enum phase phase)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
	char name[32];

	if (phase == PREPARE) {
		snprintf(name, sizeof(name), "/held-%d", getpid());
		in = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
		mq_unlink(name);
	}
	if (phase == WAKE)
		return mq_send(in, "x", 1, 0);
	return phase == ENTER ? mq_receive(in, &byte, 1, NULL) : 0;
}

static long wait_inotify(enum phase phase)
{
	char event[512];

	if (phase == WAKE)
		return mkdir("held.dir", 0700);
	if (phase != ENTER)
		return 0;
	in = inotify_init1(0);
	inotify_add_watch(in, ".", IN_CREATE);
	return read(in, event, sizeof(event)) > 0;
}

static long wait_eventfd(enum phase phase)
{
	if (phase == PREPARE)
		in = eventfd(0, 0);
	return phase == PREPARE ? 0 : phase == WAKE ? eventfd_write(in, 1) : read(in, shared, 8);
}

static long wait_timerfd(enum phase phase)
{
	const struct itimerspec time = {.it_value = {.tv_nsec = 900000000}};
	double before = wall_now();
	uint64_t ticks;

	if (phase != ENTER)
		return 0;
	in = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(in, 0, &time, NULL);
	return timed((int)read(in, &ticks, sizeof(ticks)) - 8, before, 0.899);
}

static long wait_fifo(enum phase phase)
{
	if (phase == PREPARE)
		return mkfifo("held.fifo", 0600);
	return open("held.fifo", phase == WAKE ? O_WRONLY : O_RDONLY) >= 0;
}

/* ---- where a thread may stand ---- */

static long wait_blocked(enum phase phase)
{
	sigset_t all;

	if (phase != ENTER)
		return on_pipe(phase);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	return read(in, &byte, 1);
}

static void handle_and_wait(int signal)
{
	(void)signal;
	handled += (int)read(in, &byte, 1);
}

static long wait_in_handler(enum phase phase)
{
	if (phase != ENTER)
		return on_pipe(phase);
	signal(SIGUSR2, handle_and_wait);
	return raise(SIGUSR2);
}

static long wait_on_alternate(enum phase phase)
{
	static char room[65536];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	const struct sigaction action = {.sa_handler = handle_and_wait, .sa_flags = SA_ONSTACK};
	stack_t after;

	if (phase != ENTER)
		return on_pipe(phase);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sigaltstack(NULL, &after);
	return after.ss_sp == stack.ss_sp && after.ss_size == stack.ss_size && !after.ss_flags;
}

static ucontext_t here, there;

static void on_other_stack(void)
{
	handled += (int)read(in, &byte, 1);
}

/* Other data of the program lies right below this stack. */
static long wait_on_own_stack(enum phase phase)
{
	static struct {
		char below[16384], stack[16384];
	} room;

	if (phase != ENTER)
		return on_pipe(phase);
	memset(room.below, 77, sizeof(room.below));
	getcontext(&there);
	there.uc_stack.ss_sp = room.stack;
	there.uc_stack.ss_size = sizeof(room.stack);
	there.uc_link = &here;
	makecontext(&there, on_other_stack, 0);
	swapcontext(&here, &there);
	for (size_t i = 0; i < sizeof(room.below); i++)
		if (room.below[i] != 77)
			return (long)i + 1000;
	return 0;
}

static NOINLINE long recurse(char *limit)
{
	char room[512];

	room[0] = 3;
	__asm__ volatile("" : : "r"(room) : "memory");
	return room < limit ? read(in, &byte, 1) : recurse(limit) + room[0] - 3;
}

/* A stack of 256 KiB, all but the last 2 KiB in use. */
static void *fill_stack(void *result)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size);
	read(-1, &byte, 1); /* the dynamic linker looks it up on much of a stack */
	*(long *)result = recurse((char *)low + 2048);
	return NULL;
}

static long wait_on_full_stack(enum phase phase)
{
	pthread_attr_t attributes;
	pthread_t thread;
	long result = -1;

	if (phase != ENTER)
		return on_pipe(phase);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	pthread_create(&thread, &attributes, fill_stack, &result);
	pthread_join(thread, NULL);
	return result;
}

/* The same of the only thread. */
static long wait_on_full_main(enum phase phase)
{
	const struct rlimit limit = {.rlim_cur = 256 * 1024, .rlim_max = 256 * 1024};
	uintptr_t start, end = 0;
	char line[512];

	if (phase != ENTER)
		return on_pipe(phase);
	setrlimit(RLIMIT_STACK, &limit);
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			break;
	if (maps)
		fclose(maps);
	read(-1, &byte, 1);
	return recurse((char *)end - 256 * 1024 + 2048);
}

/* Sums in vector registers, and what the flags and the red zone hold. */
static long work(enum phase phase)
{
	typedef double four __attribute__((vector_size(32)));
	four sum = {0}, one = {1, 2, 3, 4};

	if (phase != ENTER)
		return on_pipe(phase);
	fcntl(in, F_SETFL, O_NONBLOCK);
	while (read(in, &byte, 1) != 1) {
		four part = {0};

		for (int i = 0; i < 1000000; i++) {
			part += one;
			__asm__ volatile("" : "+x"(part[0]));
		}
		for (int i = 0; i < 4; i++)
			if (part[i] != 1000000.0 * (i + 1))
				return -3;
		sum = part;
	}
	return (long)sum[3];
}

static void *wait_elsewhere(void *unused)
{
	long got = read(in, &byte, 1);

	printf("thread %ld\n", got);
	fflush(stdout);
	_exit(unused != NULL);
}

/* The first thread has ended. */
static long wait_without_first(enum phase phase)
{
	pthread_t thread;

	if (phase != ENTER)
		return on_pipe(phase);
	pthread_create(&thread, NULL, wait_elsewhere, NULL);
	pthread_exit(NULL);
}

static long wait_vfork(enum phase phase)
{
	int status;

	if (phase != ENTER)
		return on_pipe(phase);
	pid_t grandchild = vfork();

	if (!grandchild) {
		read(in, &byte, 1);
		_exit(9);
	}
	waitpid(grandchild, &status, 0);
	return WEXITSTATUS(status);
}

static void print(long result, int error)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	printf("result %ld errno %d handled %d blocked %lx\n", result, error, (int)handled,
	       *(unsigned long *)&blocked);
}

static void wait_at_exit(void)
{
	print(read(in, &byte, 1), 0);
}

static long wait_exiting(enum phase phase)
{
	if (phase != ENTER)
		return on_pipe(phase);
	atexit(wait_at_exit);
	exit(3);
}

/* ---- what a process may have asked of the kernel ---- */

static long wait_seccomp(enum phase phase)
{
	struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
	const struct sock_fprog program = {.len = 1, .filter = &allow};

	if (phase != ENTER)
		return on_pipe(phase);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	return read(in, &byte, 1);
}

/* No memory becomes code that was not mapped so: Linux 6.3. */
static long wait_no_new_code(enum phase phase)
{
	enum { SET_MDWE = 65 };

	if (phase != ENTER)
		return on_pipe(phase);
	prctl(SET_MDWE, 1, 0, 0, 0);
	return read(in, &byte, 1);
}

static long wait_undumpable(enum phase phase)
{
	if (phase != ENTER)
		return on_pipe(phase);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return read(in, &byte, 1);
}

static long wait_locked(enum phase phase)
{
	if (phase != ENTER)
		return on_pipe(phase);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	return read(in, &byte, 1);
}

static const struct kind {
	const char *name;
	long (*of)(enum phase phase);
} kinds[] = {
	{"read", wait_read},
	{"write", wait_write},
	{"poll", wait_poll},
	{"ppoll", wait_ppoll},
	{"select", wait_select},
	{"pselect", wait_pselect},
	{"epoll_wait", wait_epoll},
	{"epoll_pwait", wait_epoll_pwait},
	{"nanosleep", wait_nanosleep},
	{"clock_nanosleep", wait_until},
	{"futex", wait_futex},
	{"futex_timed", wait_futex_timed},
	{"wait4", wait_wait4},
	{"waitid", wait_waitid},
	{"accept", wait_accept},
	{"recv", wait_recv},
	{"recvmsg", wait_recvmsg},
	{"pause", wait_pause},
	{"sigsuspend", wait_sigsuspend},
	{"sigtimedwait", wait_sigtimedwait},
	{"signalfd", wait_signalfd},
	{"io_uring", wait_uring},
	{"flock", wait_flock},
	{"fcntl", wait_fcntl},
	{"msgrcv", wait_msgrcv},
	{"semop", wait_semop},
	{"mq_receive", wait_mqueue},
	{"inotify", wait_inotify},
	{"eventfd", wait_eventfd},
	{"timerfd", wait_timerfd},
	{"fifo", wait_fifo},
	{"blocked", wait_blocked},
	{"handler", wait_in_handler},
	{"alternate", wait_on_alternate},
	{"own_stack", wait_on_own_stack},
	{"full_stack", wait_on_full_stack},
	{"full_main", wait_on_full_main},
	{"work", work},
	{"without_first", wait_without_first},
	{"vfork", wait_vfork},
	{"exiting", wait_exiting},
	{"seccomp", wait_seccomp},
	{"no_new_code", wait_no_new_code},
	{"undumpable", wait_undumpable},
	{"locked", wait_locked},
};

static long (*kind_of(const char *name))(enum phase phase)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].of;
	return NULL;
}

static void be_child(const char *name, long (*of)(enum phase phase))
{
	struct flock lock = {.l_type = F_WRLCK};

	if (!strcmp(name, "flock"))
		flock(open(address.sun_path, O_RDWR | O_CREAT, 0600), LOCK_EX);
	if (!strcmp(name, "fcntl"))
		fcntl(open(address.sun_path, O_RDWR | O_CREAT, 0600), F_SETLK, &lock);
	if (of == wait_flock || of == wait_fcntl)
		*shared = 1;
	if (read(0, &byte, 1) == 1)
		of(WAKE);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "read";
	long (*of)(enum phase phase) = kind_of(name);

	if (!of)
		return 1;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	parent = getpid();
	of(PREPARE);
	signal(SIGUSR1, handle);
	child = fork();
	if (!child)
		be_child(name, of);
	puts("ready");
	fflush(stdout);
	errno = 0;
	long result = of(ENTER);

	print(result, errno);
	return 0;
}
