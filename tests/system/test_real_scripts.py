# SPDX-License-Identifier: Apache-2.0
"""Interpreters and what they start: Python's own test suite, shell, Perl, make with gcc."""
import pathlib

from harness import test
from real import counted_cpu, same_run

REAL = pathlib.Path(__file__).resolve().parent / 'real'


def python_suite(t, engine, module, processes, *names):
    _, family, _ = same_run(t, engine, t.need('/usr/bin/python3'), REAL / 'suite.py', module, *names)
    t.check(len(family) >= processes, f'{len(family)} processes')


@test(engines=True)
def python_threading(t, engine):
    python_suite(t, engine, 'test_threading', 30, '-imeout', '-join_nondaemon')


@test(engines=True)
def python_subprocess(t, engine):
    python_suite(t, engine, 'test_subprocess', 100, '-NoPoll', '-_timeout', '-_dead', '-leaking', '-test_pass_fds', '-Win32',
                 '-communicate',
                 '-max_fd_is_lowered')  # looks at every descriptor below a low limit, and so at those of perf events


@test(engines=True)
def python_subprocess_pipes(t, engine):
    python_suite(t, engine, 'test_subprocess', 20, 'communicate', 'ProcessTestCaseNoPoll', '-_timeout', '-Win32',
                 '-stdout_close', '-leaking')


@test(engines=True)
def python_signal(t, engine):
    python_suite(t, engine, 'test_signal', 5, '-siginterrupt_off', '-test_sigwait', '-sigtimedwait', '-itimer_real',
                 '-itimer_virtual', '-interprocess', '-wakeup_fd', '-Windows')


@test(engines=True)
def shell(t, engine):
    same_run(t, engine, t.need('bash'), '-c', 'd=$(mktemp -d) && bash "$0" "$d"; s=$?; rm -rf "$d"; exit $s', REAL / 'pipes.sh',
             status=3)


@test(engines=True)
def perl(t, engine):
    truth, family, _ = same_run(t, engine, t.need('perl'), REAL / 'work.pl')
    counted_cpu(t, truth, family)
    t.check(len(family) > 10, f'{len(family)} processes')


SOURCE = '''int part{i}_{j}(const char *text, int n)
{{
	int sum = {i};
	for (int k = 0; k < n; k++) {{
		switch (text[k % 9] % 5) {{
		case 0: sum += k; break;
		case 1: sum ^= k * {i}; break;
		default: sum = sum * 31 + text[(k * {j}) % 7];
		}}
	}}
	return sum;
}}
'''
MAKEFILE = '''objects := $(patsubst %.c,%.o,$(wildcard *.c))
sum: $(objects)
	$(CC) -o $@ $^
	./sum
	objdump -d $@ | md5sum
%.o: %.c
	@$(CC) -O2 -c -o $@ $< && echo $@ >>built
.PHONY: clean
clean: ; rm -f *.o sum built
'''


@test(engines=True)
def make_and_gcc(t, engine):
    parts = range(1, 9)
    for i in parts:
        (t.directory / f'part{i}.c').write_text(''.join(SOURCE.format(i=i, j=j) for j in range(40)))
    calls = ' + '.join(f'part{i}_7("some text", 1000)' for i in parts)
    (t.directory / 'main.c').write_text(''.join(f'int part{i}_7(const char *, int);\n' for i in parts)
                                        + f'#include <stdio.h>\nint main(void) {{ printf("%d\\n", {calls}); }}\n')
    (t.directory / 'Makefile').write_text(MAKEFILE)
    truth, family, experiment = same_run(t, engine, 'sh', '-c', 'make -s clean; make -s -j2 CC=gcc; sort built')
    counted_cpu(t, truth, family)
    names = [image['process'].get('exe', '').rsplit('/', 1)[-1] for image in family.values()]
    t.equal((names.count('cc1'), sum(name.endswith('-as') for name in names)), (9, 9), 'compilers and assemblers')
    t.check('make' in names and 'sum' in names, f'programs: {sorted(set(names))}')
