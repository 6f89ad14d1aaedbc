# SPDX-License-Identifier: Apache-2.0
"""Real programs: same output as bare, complete CPU, functions that make sense."""
from harness import monitor_cpu, test
from real import start_cost

QUERY = '''CREATE TABLE t(a, b);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000)
INSERT INTO t SELECT i, i * 7919 % 10007 FROM n;
SELECT b % 10, count(*), sum(a) FROM t GROUP BY 1;
SELECT count(DISTINCT b) FROM t WHERE a % 3 = 1;
'''
PYTHON = '''
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(35), sum(len(str(i)) for i in range(5000000)))
'''


def generated_c(functions):
    body = '''int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) {
 switch (a[i] %% 7) { case 0: s += a[i]; break; case 1: s ^= i * %d; break; case 2: s -= a[n - i - 1]; break;
 default: s = s * 31 + a[(i * %d) %% n]; } if (s & %d) a[i] = s; } return s; }
'''
    return ''.join(body % (i, i, i + 3, i + 7, i % 64) for i in range(functions))


def measured(t, engine, *words, expect, **more):
    """The family's CPU against wait4's, through the wrapper `timed`."""
    bare = t.run(*words, **more)
    account = t.directory / 'account'
    result = t.collect(t.target('timed'), account, *words, engine=engine, **more)
    t.check(result.out.endswith(bare.out), f'output differs: {result.out[-200:]!r}')
    truth = dict((line.split()[0], float(line.split()[1])) for line in account.read_text().splitlines())
    t.equal(truth['status'], 0, 'status')
    family = t.read(result.experiment)
    cpu = sum(image['cpu'] for key, image in family.items() if key)
    used = truth['cpu'] - sum(monitor_cpu(image) for key, image in family.items() if key)
    failed = sum(image['unrecorded'].get('<Stack-unwind-failed>', 0) for image in family.values())
    # the program's start, before any code of its own runs, is not in its profile
    t.ratio(cpu, used, 0.985 - 6 * start_cost(t) * len(family) / used, 1.015, 'cpu')
    t.within(failed < 0.02 * cpu, f'{failed:.3f} s of {cpu:.3f} have stacks that end early')
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    t.total_is_of(rows, family)
    for name in expect:
        t.within(name in rows, f'{name} is not among {sorted(rows, key=lambda r: -rows[r]["i.totalcpu"])[:25]}')
    return rows


@test(alone=True, engines=True)
def sqlite3(t, engine):
    rows = measured(t, engine, t.need('sqlite3'), ':memory:', stdin=QUERY, expect=('sqlite3_step', 'main'))
    t.within(rows['sqlite3_step']['i.totalcpu'] > 0.7 * rows['<Total>']['i.totalcpu'], 'sqlite3_step is not most of it')


@test(alone=True, engines=True)
def python3(t, engine):
    rows = measured(t, engine, t.need('/usr/bin/python3'), '-S', '-c', PYTHON, expect=('_PyEval_EvalFrameDefault', 'Py_BytesMain'))
    t.within(rows['_PyEval_EvalFrameDefault']['i.totalcpu'] > 0.7 * rows['<Total>']['i.totalcpu'], 'the interpreter loop')


@test(alone=True, engines=True)
def gcc(t, engine):
    source = t.directory / 'big.c'
    source.write_text(generated_c(250))
    measured(t, engine, t.need('gcc'), '-O2', '-c', source, '-o', '/dev/null', expect=('main',))


@test(alone=True, engines=True)
def xz(t, engine):
    data = t.directory / 'data'
    data.write_text(''.join(f'{i * i % 99991} line {i} of some text\n' for i in range(150000)))
    rows = measured(t, engine, t.need('xz'), '-6', '-T1', '-k', '-f', data, expect=('lzma_code',))
    t.within(rows['lzma_code']['i.totalcpu'] > 0.8 * rows['<Total>']['i.totalcpu'], 'lzma_code is not most of it')


@test
def an_emulated_program(t):
    """qemu is recorded, and with it what it executes, whose own collector finds no clock: nothing is missing."""
    result = t.collect(t.need('qemu-x86_64'), t.target('flat'), '0.3s')
    family = t.read(result.experiment)
    t.check(family['']['events'] > 0, 'clock events of the emulator')
    t.check('no clock profile' not in result.err, result.err)
    t.check('no clock profile' not in t.run(t.helio, 'print', '-functions', result.experiment).err, 'said by print')
