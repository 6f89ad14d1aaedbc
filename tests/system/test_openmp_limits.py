# SPDX-License-Identifier: Apache-2.0
"""OpenMP where it is unusual: locks of two versions."""
from harness import test

COMPILERS = ('gcc', 'clang')


def build(t, compiler, name, source, *flags):
    (t.directory / f'{name}.c').write_text(source)
    result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', *flags, '-o', f'{name}_{compiler}', f'{name}.c')
    t.check(result.status == 0, result.err[-500:])
    return f'./{name}_{compiler}'


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
