/* SPDX-License-Identifier: Apache-2.0 */
/* Throws through 20 frames and catches, all the time: the C++ unwinder under a profiler. */
#include <cstdint>
#include <stdexcept>
#include <string>

#include "target.h"

struct guard {
	~guard()
	{
		__asm__ volatile("" ::: "memory"); /* a cleanup in every frame */
	}
};

static NOINLINE long throw_deep(int depth)
{
	guard g;

	if (depth == 0)
		throw std::runtime_error("bottom");
	return throw_deep(depth - 1) + 1;
}

static NOINLINE bool catch_one()
{
	try {
		return throw_deep(20) > 0;
	} catch (const std::runtime_error &error) {
		return std::string(error.what()) == "bottom";
	}
}

int main(int argc, char **argv)
{
	double start = wall_now();
	budget limit = budget_parse(argc, argv, "1s");
	long caught = 0;
	long rounds = 0;

	for (; budget_left(&limit, rounds); rounds++)
		for (int i = 0; i < 100; i++)
			caught += catch_one();
	printf("caught_all %d\n", caught == rounds * 100);
	print_usage(start);
	return 0;
}
