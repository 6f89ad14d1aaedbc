# SPDX-License-Identifier: Apache-2.0
"""
What OpenMP costs while it is recorded: an empty region of one thread and of more, and regions that come a million and ten thousand times a second,
bare and recorded in turn within one run.
"""
import os
import statistics
import subprocess

import common

HOW = {
    'helio': lambda bench, out: [bench.helio, 'collect', '-q', '-o', out],
    'helio --openmp off': lambda bench, out: [bench.helio, 'collect', '-q', '--openmp', 'off', '-o', out],
}


def measure(bench, repeats, words):
    """By how it was recorded, what each run told; and the bytes of omptrace."""
    measured, size = {name: [] for name in ('bare', *HOW)}, 0
    for _ in range(repeats):
        for name in measured:
            out = bench.fresh('.er')
            before = HOW[name](bench, out) if name in HOW else []
            done = subprocess.run([*before, *map(str, words)], capture_output=True, text=True, cwd=bench.scratch, check=True)
            measured[name].append(float(done.stdout))
            if name == 'helio':
                size = os.path.getsize(out / 'omptrace')
            common.remove(out)
    return measured, size


def empty(bench, programs, regions, repeats):
    rows = []
    for compiler, program in programs.items():
        for threads in sorted({1, 2, min(4, os.cpu_count())}):
            measured, size = measure(bench, repeats, (program, threads, regions))
            # what a machine shared with others adds is only ever more
            rows.append([compiler, str(threads), *(f'{min(values):.0f}' for values in measured.values()),
                         f'{statistics.median(measured["helio"]) / statistics.median(measured["bare"]):.2f}', f'{size / regions:.2f}'])
    common.table(f'OpenMP: ns per empty region, the best of {repeats}', ['', 'threads', 'bare', *HOW, 'median ratio', 'bytes per region'], rows)


def turns_for(bench, program, threads, wanted_ns):
    """How often each thread turns its loop in a region that takes so long."""
    def best(turns, regions):
        return min(float(subprocess.run([program, str(threads), str(regions), str(turns)], capture_output=True, text=True, cwd=bench.scratch, check=True).stdout)
                   for _ in range(3))

    tried = 1_000_000
    nothing, much = best(0, 2000), best(tried, 40)
    return max(0, int(tried * (wanted_ns - nothing) / (much - nothing)))


def paced(bench, programs, seconds, repeats):
    rows, threads = [], min(2, os.cpu_count())
    for compiler, program in programs.items():
        for wanted_ns in (1000, 100_000):
            turns = turns_for(bench, program, threads, wanted_ns)
            measured, _ = measure(bench, repeats, (program, threads, int(seconds * 1e9 / wanted_ns), turns))
            bare = min(measured['bare'])
            rows.append([compiler, f'{1e9 / wanted_ns:,.0f}', f'{bare:.0f}', *(f'{min(measured[name]) / bare:.3f}' for name in HOW)])
    common.table(f'OpenMP: regions of {threads} threads that compute, recorded / bare, the best of {repeats}', ['', 'regions a second', 'bare ns', *HOW], rows)


def openmp(bench, _names):
    """ns per region, and the bytes of omptrace for each; what programs with many regions pay."""
    programs = {}
    for compiler in filter(common.available, ('gcc', 'clang')):
        programs[compiler] = bench.scratch / f'regions_{compiler}'
        subprocess.run([compiler, '-O2', '-fopenmp', '-o', programs[compiler], common.ROOT / 'bench' / 'regions.c'], check=True)
    empty(bench, programs, *((20000, 2) if bench.quick else (200000, 5)))
    paced(bench, programs, *((0.005, 2) if bench.quick else (0.5, 7)))
