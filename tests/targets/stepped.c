/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a signal interrupts before each of their instructions, one after another: the
 * processor's trap flag raises SIGTRAP after every instruction, and the handler acts at one of
 * them.
 *
 *     stepped CALL ACT [STRIDE]
 *
 * CALL: write (of 3 bytes), heap (malloc and free), file (open and close), lock (of a mutex).
 * ACT, in the handler:
 *     fork    both sides go on where they were; the child writes 4 bytes 3 times and ends
 *     leave   in a child that has written 4 bytes 3 times: _exit
 *     jump    siglongjmp out of the call, then a write of 4 bytes
 *     nest    a write of 1 byte
 * Prints "acts", how often that was; 0: no trap ever came.  The first call and the last one are not
 * interrupted.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { TRAP_FLAG = 0x100, FORKED_CODE = 8, LEFT_CODE = 7, SMALL_WRITES = 3 };

static int null;
static volatile long traps, aim;
static volatile pid_t forked;
static sigjmp_buf back;
static char block[16];

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s at instruction %ld: %s\n", what, aim, strerror(errno));
	_exit(1);
}

static void put(size_t size)
{
	need(write(null, block, size) == (ssize_t)size, "write");
}

static void put_small(void)
{
	for (int i = 0; i < SMALL_WRITES; i++)
		put(4);
}

static void expect(pid_t child, int code)
{
	int status;

	need(waitpid(child, &status, 0) == child, "waitpid");
	if (status == code << 8)
		return;
	fprintf(stderr, "a child at instruction %ld: status %x, not %x\n", aim, status, code << 8);
	_exit(1);
}

/* ---- what the handler does ---- */

static void fork_here(void)
{
	forked = fork();
}

static void leave_here(void)
{
	_exit(LEFT_CODE);
}

static void jump_out(void)
{
	siglongjmp(back, 1);
}

static void nest(void)
{
	put(1);
}

static void (*act)(void);

static void on_trap(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (++traps == aim) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		act();
	}
	errno = error;
}

/* ---- what is interrupted ---- */

static void call_write(void)
{
	put(3);
}

static void call_heap(void)
{
	char *volatile memory = malloc(10);

	free(memory);
}

static void call_file(void)
{
	int fd = open("/dev/null", O_RDONLY);

	need(fd >= 0 && !close(fd), "open or close");
}

static void call_lock(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void (*call)(void);

/* Begins below the red zone. */
static void set_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
			 "pushfq\n"
			 "orq $0x100, (%%rsp)\n"
			 "popfq\n"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

static void clear_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
			 "pushfq\n"
			 "andq $-0x101, (%%rsp)\n"
			 "popfq\n"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

static void step(void)
{
	traps = 0;
	forked = -1;
	set_trap_flag();
	call();
	clear_trap_flag();
}

static void step_and_jump(void)
{
	if (sigsetjmp(back, 1))
		put(4);
	else
		step();
}

static void step_and_fork(void)
{
	step();
	if (!forked) {
		put_small();
		_exit(FORKED_CODE);
	}
	if (forked > 0)
		expect(forked, FORKED_CODE);
}

/* The child tells by its code whether the handler ended it. */
static void step_and_leave(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		put_small();
		step();
		_exit(FORKED_CODE);
	}
	need(waitpid(child, &status, 0) == child, "waitpid");
	traps = status == LEFT_CODE << 8 ? aim : 0;
	if (!traps && status != FORKED_CODE << 8) {
		fprintf(stderr, "a child at instruction %ld: status %x\n", aim, status);
		_exit(1);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void), (*step)(void);
	} acts[] = {{"fork", fork_here, step_and_fork},
		    {"leave", leave_here, step_and_leave},
		    {"jump", jump_out, step_and_jump},
		    {"nest", nest, step}};
	static const struct {
		const char *name;
		void (*call)(void);
	} calls_of[] = {{"write", call_write},
			{"heap", call_heap},
			{"file", call_file},
			{"lock", call_lock}};
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	long stride = argc > 3 ? atol(argv[3]) : 1, done = -1;
	void (*one)(void) = NULL;

	if (argc < 3)
		return 2;
	for (size_t i = 0; i < sizeof(calls_of) / sizeof(calls_of[0]); i++)
		if (!strcmp(argv[1], calls_of[i].name))
			call = calls_of[i].call;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (!strcmp(argv[2], acts[i].name)) {
			act = acts[i].act;
			one = acts[i].step;
		}
	}
	if (!one || !call)
		return 2;
	null = open("/dev/null", O_WRONLY);
	call(); /* what is done once only */
	sigaction(SIGTRAP, &action, NULL);
	for (aim = 1; traps >= aim - stride; aim += stride) {
		one();
		done++;
	}
	printf("acts %ld\n", done);
	return 0;
}
