# SPDX-License-Identifier: Apache-2.0
"""
What heap tracing costs: bare and traced in turn within one run, beside heaptrack and gprofng; and what it leaves on disk. heaptrack follows no
children: of gcc it sees the driver only.
"""
import os
import resource
import shutil
import subprocess
import time

import common
import programs

TRACERS = {
    'helio -H on': lambda bench, out: [bench.helio, 'collect', '-q', '-p', 'off', '-H', 'on', '-o', f'{out}.er'],
    'helio -H sample=512k': lambda bench, out: [bench.helio, 'collect', '-q', '-p', 'off', '-H', 'sample=512k', '-o', f'{out}.er'],
    'heaptrack': lambda bench, out: ['heaptrack', '-o', out],
    'gprofng -H on': lambda bench, out: ['gprofng', 'collect', 'app', '-p', 'off', '-H', 'on', '-O', f'{out}.er'],
}


def run(bench, before, program):
    """(CPU, wall) of the whole command: what a tracer does beside the program counts as well."""
    with open(program.stdin or os.devnull, 'rb') as stdin:
        usage, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([*map(str, before), shutil.which(program.words[0]), *program.words[1:]], stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=bench.scratch)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    return after.ru_utime - usage.ru_utime + after.ru_stime - usage.ru_stime, wall


def size_and_remove(bench, out):
    """Bytes of a result, whatever suffix the tool gave it."""
    total = 0
    for path in bench.scratch.glob(out.name + '*'):
        files = [path] if path.is_file() else [file for file in path.rglob('*') if file.is_file()]
        total += sum(file.stat().st_size for file in files)
        common.remove(path)
    return total


def heap(bench, names):
    seconds, repeats = (0.3, 2) if bench.quick else (1, 5)
    tracers = [name for name in TRACERS if shutil.which(name.split()[0]) or name.startswith('helio')]
    rows = []
    for program in [*programs.targets(bench, seconds), *programs.real(bench, seconds)]:
        if program.name not in (names or ('malloc_heavy', 'sqlite3', 'gcc', 'python3')):
            continue
        ratios = {name: ([], []) for name in tracers}
        sizes = {}
        for _ in range(repeats):
            cpu, wall = run(bench, [], program)
            for name in tracers:
                out = bench.fresh('')
                traced_cpu, traced_wall = run(bench, TRACERS[name](bench, out), program)
                ratios[name][0].append(traced_cpu / cpu)
                ratios[name][1].append(traced_wall / wall)
                sizes[name] = size_and_remove(bench, out)
        for name in tracers:
            rows.append([f'{program.name}: {name}'] + [f'{common.median(values):.2f} ±{common.spread(values):.2f}' for values in ratios[name]]
                        + [f'{sizes[name] / 1e6:.2f}'])
    common.table(f'Heap tracing: traced / bare, median of {repeats}', ['', 'CPU', 'wall', 'MB'], rows)
