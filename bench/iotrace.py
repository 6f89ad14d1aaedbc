# SPDX-License-Identifier: Apache-2.0
"""What I/O tracing costs a call, bare and traced in turn within one run; an event on disk; real programs."""
import os
import shutil
import statistics
import subprocess
import time

import common

TRACERS = {
    'helio -i on': lambda bench, out: [bench.helio, 'collect', '-q', '-p', 'off', '-i', 'on', '-o', out],
    'gprofng -i on': lambda bench, out: ['gprofng', 'collect', 'app', '-p', 'off', '-i', 'on', '-O', out],
    'strace -c': lambda bench, out: ['strace', '-f', '-c', '-o', '/dev/null'],
    'perf trace': lambda bench, out: ['perf', 'trace', '-s', '-o', out],
}
REAL = {
    'sqlite3': ['sqlite3', 'x.db', 'drop table if exists t; create table t(a); with recursive n(i) as (select 1 union all select i + 1 from n '
                'where i < 200000) insert into t select i * 7 from n; create index u on t(a); select count(*) from t;'],
    'python3': ['python3', '-S', '-c', 'import json, decimal, email.parser, unittest, asyncio, http.server'],
    'tar': ['tar', '-cf', '/dev/null', '-C', '/usr', 'include'],
}


def costs(bench, before, calls):
    """{kind of call: ns}"""
    done = subprocess.run([*map(str, before), bench.build / 'bench' / 'calls', str(calls)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, cwd=bench.scratch)
    words = [line.split() for line in done.stdout.splitlines()]
    return {word[0]: float(word[1]) / 10 for word in words if len(word) == 2 and word[1].isdigit()}


def tracers():
    return [name for name in TRACERS if name.startswith('helio') or shutil.which(name.split()[0])]


def of_calls(bench, calls, repeats):
    measured = {name: [] for name in ['bare', *tracers()]}
    sizes = {}
    for _ in range(repeats):
        for name, runs in measured.items():
            out = bench.fresh('.er')
            runs.append(costs(bench, TRACERS[name](bench, out) if name != 'bare' else [], calls if name in ('bare', 'helio -i on') else calls // 10))
            trace = out / 'iotrace'
            if name == 'helio -i on' and trace.exists():
                sizes[name] = os.path.getsize(trace) / (3.5 * calls)
            common.remove(out)
    kinds = list(measured['bare'][0])
    rows = []
    for name, runs in measured.items():
        medians = [statistics.median(run.get(kind, float('nan')) for run in runs) for kind in kinds]
        rows.append([name] + [f'{value:.0f}' for value in medians] + [f'{sizes[name]:.1f}' if name in sizes else ''])
    common.table(f'Calls of I/O: ns each at depth 10, median of {repeats}', ['', *kinds, 'bytes per event'], rows)


def seconds(bench, before, words):
    begin = time.monotonic()
    subprocess.run([*map(str, before), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=bench.scratch, check=False)
    return time.monotonic() - begin


def of_programs(bench, names, repeats):
    rows = []
    for program, words in REAL.items():
        path = shutil.which(program, path='/usr/bin:/bin')  # not a script in front of it
        if not path or (names and program not in names):
            continue
        words = [path, *words[1:]]
        ratios = {name: [] for name in tracers()}
        for _ in range(repeats):
            bare = seconds(bench, [], words)
            for name, values in ratios.items():
                out = bench.fresh('.er')
                traced = seconds(bench, TRACERS[name](bench, out), words)
                common.remove(out)
                after = seconds(bench, [], words)
                values.append(traced / ((bare + after) / 2))
                bare = after
        rows.append([program] + [f'{statistics.median(values):.2f}' for values in ratios.values()])
    common.table(f'Real programs: wall of the whole command / bare, median of {repeats}', ['program', *tracers()], rows)


def io(bench, names):
    """ns per call; the bytes of an event; wall of real programs, each traced run between two bare ones."""
    of_calls(bench, 30000 if bench.quick else 300000, 2 if bench.quick else 5)
    of_programs(bench, names, 2 if bench.quick else 5)
