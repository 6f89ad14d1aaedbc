# SPDX-License-Identifier: Apache-2.0
"""OpenMP where tables end: more call paths than constructs have numbers, deep nesting, regions that do not end, locks of two versions."""
import re

from harness import test

COMPILERS = ('gcc', 'clang')


def build(t, compiler, name, source, *flags):
    (t.directory / f'{name}.c').write_text(source)
    result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', *flags, '-o', f'{name}_{compiler}', f'{name}.c')
    t.check(result.status == 0, result.err[-500:])
    return f'./{name}_{compiler}'


def rows(t, experiment, command):
    """By the function that has the construct."""
    return {re.match(r'\w+', row['name'])[0]: row for row in t.print(experiment, command)[-1]['rows'][1:]}


def warnings(t, experiment):
    return [text for text in re.findall(r'kind="warning"[^>]* text="([^"]*)"', (experiment / 'log.xml').read_text()) if 'OpenMP' in text]


# The default locks, and those of programs from before OpenMP 3: the words behind such a small lock are not the runtime's.
OLD_LOCKS = '''#include <stdio.h>
#include <string.h>
#if LOCK_SIZE == 8
#define LOCK(what, name) extern int what(void *lock); __asm__(".symver " #what ", " #name "@OMP_1.0")
#else
#define LOCK(what, name) extern int what(void *lock) __asm__(#name)
#endif
LOCK(init, omp_init_nest_lock);
LOCK(set, omp_set_nest_lock);
LOCK(try, omp_test_nest_lock);
LOCK(unset, omp_unset_nest_lock);
int main(void)
{
	struct { char lock[LOCK_SIZE], behind[32]; } all;
	int depth;

	memset(&all, 0x55, sizeof(all));
	init(all.lock);
	set(all.lock);
	set(all.lock);
	depth = try(all.lock);
	for (int i = 0; i < 3; i++)
		unset(all.lock);
	for (unsigned i = 0; i < sizeof(all.behind); i++)
		if (all.behind[i] != 0x55)
			return 1;
	printf("%d\\n", depth);
	return 0;
}
'''


@test
def versions_of_locks(t):
    """A program's nested locks are those of the version that it is bound to."""
    for size in 8, 16:
        target = build(t, 'gcc', f'nest{size}', OLD_LOCKS, f'-DLOCK_SIZE={size}')
        for options in (), ('--openmp', 'off'), ('-s', 'on'):
            result = t.collect(target, options=options)
            t.equal((result.status, result.out), (0, '3\n'), f'locks of {size} bytes, {options}')


NEST_LOCK = '''#include <omp.h>
#include <time.h>
omp_nest_lock_t the_lock;
int main(void)
{
	struct timespec nap = {0, 50000000};

	omp_init_nest_lock(&the_lock);
#pragma omp parallel num_threads(2)
	{
		omp_set_nest_lock(&the_lock);
		nanosleep(&nap, 0);
		omp_unset_nest_lock(&the_lock);
	}
	return 0;
}
'''


@test
def names_of_nested_locks(t):
    """Both runtimes' calls of them are seen, whatever version the program is bound to: the lock has the name of its variable."""
    for compiler in COMPILERS:
        experiment = t.collect(build(t, compiler, 'named', NEST_LOCK)).experiment
        names = [row['name'] for row in t.print(experiment, '-locks')[-1]['rows'][1:]]
        t.check(len(names) == 1 and names[0].startswith('the_lock'), f'{compiler}: {names}')


# Each way down the tree of calls is one call path.
PATHS = '''#include <stdio.h>
#include <stdlib.h>
static unsigned executed, made;
__attribute__((noinline)) static void even(void)
{
#pragma omp parallel num_threads(1)
	executed++;
	__asm__ volatile("");
}
__attribute__((noinline)) static void odd(void)
{
#pragma omp parallel num_threads(1)
	{
#pragma omp task
		made++;
	}
	__asm__ volatile("");
}
static void (*const regions[])(void) = {even, odd};
__attribute__((noinline)) static void left(unsigned depth, unsigned way);
__attribute__((noinline)) static void right(unsigned depth, unsigned way)
{
	if (!depth)
		regions[way & 1]();
	else if (way & 2)
		left(depth - 1, way >> 1);
	else
		right(depth - 1, way >> 1);
	__asm__ volatile("");
}
__attribute__((noinline)) static void left(unsigned depth, unsigned way)
{
	if (!depth)
		regions[way & 1]();
	else if (way & 2)
		left(depth - 1, way >> 1);
	else
		right(depth - 1, way >> 1);
	__asm__ volatile("");
}
int main(int count, char **arguments)
{
	unsigned depth = (unsigned)atoi(arguments[1]);

	(void)count;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned way = 0; way < 2u << depth; way++)
			right(depth, way);
	printf("%u %u\\n", executed, made);
	return 0;
}
'''


@test
def many_call_paths(t):
    """What has no number of its own is summed with others of its function, and said."""
    for compiler in COMPILERS:
        target = build(t, compiler, 'paths', PATHS)
        for depth, said in (8, 0), (15, 1):
            result = t.collect(target, str(depth))
            executed, made = map(int, result.out.split())
            t.equal((executed, made), (2 << depth, 2 << depth), f'{compiler}, {depth}: the program')
            regions, tasks = rows(t, result.experiment, '-regions'), rows(t, result.experiment, '-tasks')
            t.equal({name: row['calls'] for name, row in regions.items()}, {'even': executed, 'odd': made}, f'{compiler}, {depth}: regions')
            t.equal({name: row['calls'] for name, row in tasks.items()}, {'odd': made}, f'{compiler}, {depth}: tasks')
            found = warnings(t, result.experiment)
            t.check(len(found) == said and all('more than 16383 call paths' in text for text in found), f'{compiler}, {depth}: {found}')


DEEP = '''#include <stdio.h>
static unsigned regions, tasks;
__attribute__((noinline)) static void region(int depth)
{
	if (!depth)
		return;
#pragma omp parallel num_threads(1)
	{
		regions++;
		region(depth - 1);
	}
	__asm__ volatile("");
}
__attribute__((noinline)) static void task(int depth)
{
	if (!depth)
		return;
#pragma omp task
	{
		tasks++;
		task(depth - 1);
	}
#pragma omp taskwait
	__asm__ volatile("");
}
int main(void)
{
	region(100);
#pragma omp parallel num_threads(2)
#pragma omp single
	task(2000);
	printf("%u %u\\n", regions, tasks);
	return 0;
}
'''


@test
def deep_nesting(t):
    """Regions and tasks are counted however deep they are in each other."""
    for compiler in COMPILERS:
        result = t.collect(build(t, compiler, 'deep', DEEP))
        regions, tasks = map(int, result.out.split())
        t.equal((regions, tasks), (100, 2000), f'{compiler}: the program')
        t.equal(rows(t, result.experiment, '-regions')['region']['calls'], regions, f'{compiler}: regions')
        t.equal(rows(t, result.experiment, '-tasks')['task']['calls'], tasks, f'{compiler}: tasks')
        t.equal(warnings(t, result.experiment), [], f'{compiler}: warnings')


# A region that ends and one that does not; how long that lasted.
UNENDED = '''#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
static void leave(char how, double since)
{
	while (now() < since + 0.2)
		;
	printf("%.6f\\n", now() - since);
	fflush(stdout);
	if (how == 'e')
		exit(0);
	if (how == 'q')
		quick_exit(0);
	if (how == '_')
		_exit(0);
	if (how == 'k')
		kill(getpid(), SIGKILL);
	if (how == 'a')
		abort();
}
__attribute__((noinline)) static void whole(void)
{
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
	__asm__ volatile("");
}
__attribute__((noinline)) static void inner(char how, double since)
{
#pragma omp parallel num_threads(1)
	leave(how, since);
	__asm__ volatile("");
}
__attribute__((noinline)) static void outer(char how)
{
	double since = now();
#pragma omp parallel num_threads(2)
	{
#pragma omp master
		inner(how, since);
#pragma omp barrier
	}
	__asm__ volatile("");
}
int main(int count, char **arguments)
{
	(void)count;
	whole();
	outer(arguments[1][0]);
	return 0;
}
'''


@test
def unended_regions(t):
    """Those that have not ended when their process does have a row, or it is said that they have none."""
    for compiler in COMPILERS:
        target = build(t, compiler, 'unended', UNENDED)
        for how in ('returns', 'exit', 'quick_exit', '_exit'):
            result = t.collect(target, how)
            found = rows(t, result.experiment, '-regions')
            t.equal({name: row['calls'] for name, row in found.items()}, {'whole': 1, 'outer': 1, 'inner': 1}, f'{compiler}, {how}: calls')
            lasted = float(result.out)
            for name in 'outer', 'inner':
                t.near(found[name]['duration'], lasted, f'{compiler}, {how}: {name}', 0.2, 0.05)
                t.equal(found[name]['threads'] > 0, how == 'returns', f'{compiler}, {how}: {name}: threads that are known')
            said = [text for text in warnings(t, result.experiment) if text.startswith('OpenMP regions had not ended')]
            t.equal(len(said), how != 'returns', f'{compiler}, {how}: {said}')
        for how, status in ('kill', 137), ('abort', 134):
            experiment = t.collect(target, how, status=status).experiment
            result = t.run(t.helio, 'print', '-regions', str(experiment))
            t.check('OpenMP regions and tasks that had not ended then' in result.err, f'{compiler}, {how}: {result.err}')
