/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks at random moments: a timer interrupts C++ exceptions being thrown,
 * sorting with callbacks, deep recursion and allocation.
 *
 * Every stack must end in _start, and unwinding with the memory of the stack
 * before must lead to the same node as unwinding with an empty memory.
 */
#include <algorithm>
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern "C" {
#include <cmocka.h>

#include "unwind_support.h"
}

namespace
{

constexpr uint32_t limit = 1024;
constexpr int interval_ns = 50000;

unwind_memory *memory, *empty_memory;
unwind_stack stack;
volatile unsigned samples, different, incomplete;
volatile uint32_t bad_node;

void on_signal(int, siginfo_t *, void *context)
{
	unwind_regs regs;
	unwind_end end, other_end;
	uint32_t node, other;

	unwind_regs_from_context(&regs, context);
	node = unwind_stack_node(memory, &regs, &stack, support_intern, nullptr, &end);
	unwind_memory_reset(empty_memory);
	other = unwind_stack_node(empty_memory, &regs, &stack, support_intern, nullptr, &other_end);
	samples = samples + 1;
	if (node != other || end != other_end)
		different = different + 1;
	if (end != UNWIND_COMPLETE) {
		incomplete = incomplete + 1;
		bad_node = node;
	}
}

timer_t start_timer()
{
	struct sigaction action = {};
	struct sigevent event = {};
	struct itimerspec time = {{0, interval_ns}, {0, interval_ns}};
	timer_t timer;

	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGPROF, &action, nullptr);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGPROF;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &time, nullptr);
	return timer;
}

constexpr unsigned enough = 1500;

/* Runs `work` again and again until enough samples were taken. */
void sample_while(unsigned incomplete_allowed, const std::function<void()> &work)
{
	unsigned last = samples + enough;
	uint64_t pcs[limit];
	timer_t timer = start_timer();

	different = incomplete = 0;
	while (samples < last)
		work();
	timer_delete(timer);
	if (incomplete > incomplete_allowed) {
		uint32_t count = support_path(bad_node, pcs, limit);

		for (uint32_t i = 0; i < count; i++)
			print_message("  %#lx %s\n", pcs[i], support_name(pcs[i]));
	}
	assert_int_equal(different, 0);
	assert_in_range(incomplete, 0, incomplete_allowed);
}

struct guard {
	int *count;
	~guard()
	{
		++*count;
	}
};

__attribute__((noinline)) int throw_deep(int depth, int *count)
{
	guard g{count};

	if (!depth)
		throw std::runtime_error("bottom");
	return throw_deep(depth - 1, count) + 1;
}

void test_exceptions(void **)
{
	int count = 0;

	/* For some instructions libgcc replaces its own return address by another frame's. */
	sample_while(enough / 200, [&] {
		try {
			throw_deep(20, &count);
		} catch (const std::runtime_error &) {
			count++;
		}
	});
	assert_true(count > 0);
}

void test_containers(void **)
{
	std::vector<std::string> words;
	std::map<std::string, size_t> index;

	for (int i = 0; i < 2000; i++)
		words.push_back(std::to_string(i * 7919 % 10007) +
				" a rather long word for a string");
	sample_while(0, [&] {
		std::vector<std::string> sorted = words;

		std::sort(sorted.begin(), sorted.end(),
			  [](const std::string &a, const std::string &b) { return a > b; });
		for (size_t i = 0; i < sorted.size(); i++)
			index[sorted[i]] = i;
		index.clear();
	});
}

__attribute__((noinline)) int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) int deep(int n, int room)
{
	volatile char *frame = (volatile char *)__builtin_alloca((size_t)room);

	frame[0] = 1;
	return n ? deep(n - 1, room % 500 + 16) + frame[0] : fibonacci(12);
}

void test_recursion(void **)
{
	volatile int n = 0;

	sample_while(0, [&] {
		n = (n + 37) % 400;
		deep(n, n + 16);
	});
}

void test_stdio(void **)
{
	char text[200];
	FILE *file = fopen("/dev/null", "w");

	sample_while(0, [&] {
		for (int i = 0; i < 50; i++) {
			snprintf(text, sizeof(text), "%d %g %s", i, i / 3.0, "text");
			fprintf(file, "%s\n", text);
		}
		fflush(file);
	});
	fclose(file);
}

int setup(void **)
{
	support_publish();
	stack = support_stack();
	memory = support_memory(limit);
	empty_memory = support_memory(limit);
	return 0;
}

} // namespace

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_stdio),
	};

	return cmocka_run_group_tests(tests, setup, nullptr);
}
