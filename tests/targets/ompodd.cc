// SPDX-License-Identifier: Apache-2.0
/*
 * ompodd HOW: an OpenMP program that does something odd: forks in a region, throws and catches in
 * one, cancels one, leaves the program from one, or creates tasks in tasks.  Prints what it did.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

static long fib(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static void make_tasks()
{
	long result = 0;

#pragma omp parallel
#pragma omp single
	result = fib(15);
	std::printf("fib %ld\n", result);
}

static void fork_in_region()
{
	int status = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp single
		{
			pid_t child = fork();

			if (!child) {
				int sum = 0;

				for (int i = 0; i < 1000; i++)
					sum += i;
				_exit(sum == 499500 ? 7 : 8);
			}
			waitpid(child, &status, 0);
		}
	}
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
	std::printf("child %d\n", WEXITSTATUS(status));
}

__attribute__((noinline)) static void throw_it()
{
	throw 1;
}

static void throw_in_region()
{
	int caught = 0;

	for (int i = 0; i < 100; i++) {
#pragma omp parallel num_threads(2)
		{
			try {
				throw_it();
			} catch (int one) {
#pragma omp critical
				caught += one;
			}
		}
	}
	std::printf("caught %d\n", caught);
}

static void cancel_region()
{
	int done = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp for
		for (int i = 0; i < 100; i++) {
#pragma omp atomic
			done++;
			if (i == 10) {
#pragma omp cancel for
			}
#pragma omp cancellation point for
		}
	}
	std::printf("cancelled %d\n", done > 0);
}

static void take_twice(omp_nest_lock_t *lock)
{
	omp_set_nest_lock(lock);
	omp_set_nest_lock(lock);
	omp_unset_nest_lock(lock);
	omp_unset_nest_lock(lock);
}

static void take_everything()
{
	long sum = 0, ordered = 0, last = 0, copied = 0;
	static omp_nest_lock_t lock;

	omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(4) reduction(+ : sum)
	{
		long own = 0;

#pragma omp for schedule(guided) nowait
		for (int i = 0; i < 1000; i++)
			sum += i;
#pragma omp for ordered schedule(dynamic, 7)
		for (int i = 0; i < 100; i++) {
#pragma omp ordered
			ordered = ordered * 3 % 1000003 + i;
		}
#pragma omp for schedule(runtime) lastprivate(last)
		for (int i = 0; i < 64; i++)
			last = i;
#pragma omp sections
		{
#pragma omp section
			take_twice(&lock);
#pragma omp section
			take_twice(&lock);
		}
#pragma omp single copyprivate(own)
		own = 42;
#pragma omp critical
		copied += own;
#pragma omp master
		{
#pragma omp taskgroup
			{
#pragma omp taskloop grainsize(3)
				for (int i = 0; i < 20; i++) {
#pragma omp atomic
					copied++;
				}
			}
		}
	}
	omp_destroy_nest_lock(&lock);
	std::printf("%ld %ld %ld %ld\n", sum, ordered, last, copied);
}

int main(int, char **arguments)
{
	const char *how = arguments[1] ? arguments[1] : "";

	if (!std::strcmp(how, "tasks"))
		make_tasks();
	else if (!std::strcmp(how, "fork"))
		fork_in_region();
	else if (!std::strcmp(how, "throw"))
		throw_in_region();
	else if (!std::strcmp(how, "cancel"))
		cancel_region();
	else if (!std::strcmp(how, "all"))
		take_everything();
	else if (!std::strcmp(how, "exit")) {
#pragma omp parallel num_threads(3)
		if (omp_get_thread_num() == 1) {
			std::printf("leaving\n");
			std::exit(5);
		}
		for (;;)
			pause();
	}
	return 0;
}
