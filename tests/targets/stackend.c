/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work at the end of what the first thread's stack can grow to, which the kernel counts from the
 * end of its mapping.
 *
 * - reserved SECONDS ROOM: touches the last page, as ruby does when it begins, then works where
 *   ROOM bytes are left below the frame that the kernel makes for a signal
 * - caught SECONDS: works all the way down the last 48 KiB, until the program's own handler takes
 *   the overflow on an alternate stack, and ends it with status 7
 */
#include "target.h"

#include <alloca.h>
#include <signal.h>
#include <sys/auxv.h>

enum { HANDLED = 7, STEP = 1024, WORKS_BELOW = 48 * 1024 };

static volatile uint64_t sink = 1;
static char *lowest;
static double seconds;

/* What a signal takes of the stack; kernels before 5.14 do not say. */
static long signal_frame(void)
{
	long size = (long)getauxval(AT_MINSIGSTKSZ);

	return size ? size : 4096;
}

static void find_lowest(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct rlimit limit;
	unsigned long end = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]"))
			sscanf(line, "%*x-%lx", &end);
	if (maps)
		fclose(maps);
	getrlimit(RLIMIT_STACK, &limit);
	lowest = (char *)end - limit.rlim_cur;
}

static NOINLINE void work_at_end(double until)
{
	while (cpu_now() < until)
		sink += churn(sink | 1, 20000);
}

/* Calls it where so many bytes are left. */
static NOINLINE int go_down(long left, int (*work)(void))
{
	volatile char *reached =
		alloca((size_t)((char *)__builtin_frame_address(0) - lowest - left));

	reached[0] = 1;
	return work() + reached[0] - 1;
}

static NOINLINE int reserved(void)
{
	*(volatile char *)lowest = 1;
	work_at_end(cpu_now() + seconds);
	return 0;
}

static void on_overflow(int number)
{
	static const char text[] = "caught\n";

	(void)number;
	_exit(write(1, text, sizeof(text) - 1) < 0 ? 1 : HANDLED);
}

static NOINLINE uint64_t falls(uint64_t depth)
{
	volatile char frame[STEP];

	frame[0] = (char)depth;
	work_at_end(cpu_now() + seconds * STEP / WORKS_BELOW);
	if (depth == UINT64_MAX)
		return 0;
	return falls(depth + 1) + (uint64_t)frame[0];
}

static NOINLINE int caught(void)
{
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(64 * 1024), .ss_size = 64 * 1024};

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	return (int)falls(0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	long room = argc > 3 ? strtol(argv[3], NULL, 10) : 1024;

	seconds = strtod(argv[2], NULL);
	find_lowest();
	cpu_now(); /* looked up here, as that takes more of the stack than there is below */
	if (!strcmp(argv[1], "reserved"))
		go_down(signal_frame() + room, reserved);
	else
		go_down(WORKS_BELOW, caught);
	printf("worked_at_end %.6f\n", seconds);
	return 0;
}
