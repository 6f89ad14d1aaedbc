# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, each doing a fixed amount of work of about `seconds`."""
import shutil

from common import Program

QUERY = '''CREATE TABLE t(a, b, c);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO t SELECT i, i * 7919 % 10007, 'row ' || i FROM n;
SELECT b % 10, count(*), sum(a) FROM t GROUP BY 1;
SELECT count(DISTINCT c) FROM t WHERE c LIKE '%7%';
'''
SCRIPT = '''
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for i in range({rounds}): fib(23); sum(len(str(k)) for k in range(20000))
'''
C_FUNCTION = '''int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) {{
 switch (a[i] % 7) {{ case 0: s += a[i]; break; case 1: s ^= i * {j}; break; case 2: s -= a[n - i - 1]; break;
 default: s = s * 31 + a[(i * {j}) % n]; }} if (s & {k}) a[i] = s; }} return s; }}
'''


def write(bench, name, text):
    path = bench.scratch / name
    path.write_text(text)
    return path


def targets(bench, seconds):
    """Our own; the numbers of rounds make a second each on a 2.6 GHz machine of 2020."""
    for name, per_second, argument in (('flat', 1200, ()), ('deep', 29000, ('200',)), ('threads8', 730, ()),
                                       ('malloc_heavy', 1450, ()), ('forktree', 1000, ())):
        rounds = max(1, int(per_second * seconds))
        yield Program(name, [bench.target(name), rounds, *argument])


def real(bench, seconds):
    if shutil.which('sqlite3'):
        query = write(bench, 'query.sql', QUERY.format(rows=int(1100000 * seconds)))
        yield Program('sqlite3', ['sqlite3', ':memory:'], query)
    if shutil.which('python3'):
        script = write(bench, 'script.py', SCRIPT.format(rounds=int(215 * seconds)))
        yield Program('python3', ['/usr/bin/python3', '-S', script])
    if shutil.which('gcc'):
        source = write(bench, 'big.c', ''.join(C_FUNCTION.format(i=i, j=i + 3, k=i % 64) for i in range(int(170 * seconds))))
        yield Program('gcc', ['gcc', '-O2', '-c', source, '-o', bench.scratch / 'big.o'])
    if shutil.which('xz'):
        data = write(bench, 'data', ''.join(f'{i * i % 99991} line {i} of some text\n' for i in range(int(60000 * seconds))))
        yield Program('xz', ['xz', '-6', '-T1', '-k', '-c', data])


def all_programs(bench, seconds):
    return [*targets(bench, seconds), *real(bench, seconds)]
