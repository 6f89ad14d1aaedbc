/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the unwinder costs, beside glibc's backtrace() in the same process.
 *
 * A chain of 50 functions of different frame sizes, compiled without frame
 * pointers, recurses to the wanted depth and raises a signal.  The handler then
 * unwinds the interrupted stack many times over; the time per frame is the
 * difference between two depths, so that what an event costs by itself is out of
 * it.  Each figure is the best of several rounds.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/unwind/unwind.h"
#include "unwind_support.h"

enum { ROUNDS = 9, SHALLOW = 20, DEEP = 200, CHANGED = 3 };

static struct unwind_stack stack;
static struct unwind_memory *memory;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Costs next to nothing: the core's own table is measured elsewhere. */
static uint32_t intern(uint32_t parent, uint64_t pc, void *arg)
{
	return parent + 1;
}

/* What is measured in the handler; ns per event. */
struct figures {
	double cached;	/* nothing remembered: every frame from the rule cache */
	double reused;	/* the whole stack as before */
	double changed; /* CHANGED frames at the leaf are new */
	double backtrace;
	unsigned int frames;
};

static struct figures figures;

static double best(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

static double measure_unwind(const struct unwind_regs *regs, uint32_t forget, int turns)
{
	enum unwind_end end;
	uint64_t begin = now_ns();
	int i;

	for (i = 0; i < turns; i++) {
		memory->depth -= forget < memory->depth ? forget : memory->depth;
		unwind_stack_node(memory, regs, &stack, intern, NULL, &end);
	}
	return (double)(now_ns() - begin) / turns;
}

static double measure_backtrace(int turns)
{
	static void *addresses[1024];
	uint64_t begin = now_ns();
	int i;

	for (i = 0; i < turns; i++)
		backtrace(addresses, 1024);
	return (double)(now_ns() - begin) / turns;
}

static void handler(int number, siginfo_t *info, void *context)
{
	struct unwind_regs regs;
	int i;

	unwind_regs_from_context(&regs, context);
	memset(&figures, 0, sizeof(figures));
	for (i = 0; i < ROUNDS; i++) {
		figures.cached = best(figures.cached, measure_unwind(&regs, UINT32_MAX, 2000));
		figures.reused = best(figures.reused, measure_unwind(&regs, 0, 2000));
		figures.changed = best(figures.changed, measure_unwind(&regs, CHANGED, 2000));
		figures.backtrace = best(figures.backtrace, measure_backtrace(50));
	}
	figures.frames = memory->depth;
}

/* f0 .. f49 call each other in turn; the array makes the frames differ in size. */
static int chain(int depth);

#define FUNCTION(n)                                                                                \
	static __attribute__((noinline)) int f##n(int depth)                                       \
	{                                                                                          \
		volatile char room[8 + 16 * ((n) % 5)];                                            \
                                                                                                   \
		room[0] = (char)depth;                                                             \
		return chain(depth - 1) + room[0] + (n);                                           \
	}
#define TEN(m)                                                                                     \
	FUNCTION(m##0)                                                                             \
	FUNCTION(m##1)                                                                             \
	FUNCTION(m##2)                                                                             \
	FUNCTION(m##3)                                                                             \
	FUNCTION(m##4)                                                                             \
	FUNCTION(m##5)                                                                             \
	FUNCTION(m##6)                                                                             \
	FUNCTION(m##7)                                                                             \
	FUNCTION(m##8)                                                                             \
	FUNCTION(m##9)

TEN()
TEN(1)
TEN(2)
TEN(3)
TEN(4)

#define NAMES(m)                                                                                   \
	f##m##0, f##m##1, f##m##2, f##m##3, f##m##4, f##m##5, f##m##6, f##m##7, f##m##8, f##m##9

static int (*const functions[])(int) = {NAMES(), NAMES(1), NAMES(2), NAMES(3), NAMES(4)};

static inline __attribute__((always_inline)) int chain(int depth)
{
	if (depth > 0)
		return functions[depth % 50](depth);
	raise(SIGPROF);
	return depth;
}

static struct figures measure_depth(int depth)
{
	functions[0](depth);
	return figures;
}

/* Addresses met for the first time: one step each, from functions all over the C library. */
static double measure_first(bool known)
{
	const struct unwind_module *module = unwind_module_find((uint64_t)&qsort);
	const int32_t *table = (const int32_t *)(module->eh_frame_hdr + 12);
	uint32_t count = *(const uint32_t *)(module->eh_frame_hdr + 8), i;
	static uint64_t words[4096];
	struct unwind_stack no_code = {.low = (uint64_t)words,
				       .high = (uint64_t)words + sizeof(words)};
	struct unwind_regs regs = {.known = (1u << UNWIND_REGS) - 1};
	enum unwind_end end;
	uint64_t begin, total = 0, seed = 1;

	if (!known)
		support_publish();
	for (i = 0; i < count; i++) {
		uint32_t at = (uint32_t)(i * UINT64_C(2654435761) % count);
		uint64_t start = (uint64_t)module->eh_frame_hdr + (uint64_t)(int64_t)table[2 * at];
		const uint8_t *fde = module->eh_frame_hdr + table[2 * at + 1];

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		regs.reg[16] = start + (seed >> 32) % *(const uint32_t *)(fde + 12);
		regs.reg[7] = (uint64_t)words + 64;
		regs.reg[6] = (uint64_t)words + 128;
		memory->depth = 0;
		begin = now_ns();
		unwind_stack_node(memory, &regs, &no_code, intern, NULL, &end);
		total += now_ns() - begin;
	}
	return (double)total / count;
}

static void report(const char *what, double ns, double reference)
{
	printf("%-44s %8.1f ns", what, ns);
	if (reference > 0)
		printf("  %6.1f x less than backtrace()", reference / ns);
	putchar('\n');
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	struct figures shallow, deep;
	double first = 0, known = 0, frames, bt;
	int i;

	sigaction(SIGPROF, &action, NULL);
	support_publish();
	stack = support_stack();
	memory = support_memory(0);
	backtrace((void *[1]){NULL}, 1); /* loads libgcc_s */
	support_publish();
	shallow = measure_depth(SHALLOW);
	deep = measure_depth(DEEP);
	for (i = 0; i < ROUNDS; i++) {
		first = best(first, measure_first(false));
		known = best(known, measure_first(true));
	}
	frames = deep.frames - shallow.frames;
	bt = (deep.backtrace - shallow.backtrace) / frames;
	report("per frame, from the rule cache", (deep.cached - shallow.cached) / frames, bt);
	report("per frame, reused", (deep.reused - shallow.reused) / frames, bt);
	report("per frame, backtrace()", bt, 0);
	report("address never seen before", first - known, 0);
	report("event, depth 20, nothing remembered", shallow.cached, shallow.backtrace);
	report("event, depth 20, 3 new frames", shallow.changed, shallow.backtrace);
	report("event, depth 20, as before", shallow.reused, shallow.backtrace);
	report("event, depth 200, nothing remembered", deep.cached, deep.backtrace);
	report("event, depth 200, 3 new frames", deep.changed, deep.backtrace);
	report("event, depth 200, as before", deep.reused, deep.backtrace);
	return 0;
}
