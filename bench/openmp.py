# SPDX-License-Identifier: Apache-2.0
"""What OpenMP costs while it is recorded: an empty region of one thread and of more, bare and recorded in turn within one run."""
import os
import statistics
import subprocess

import common

HOW = {
    'helio': lambda bench, out: [bench.helio, 'collect', '-q', '-o', out],
    'helio --openmp off': lambda bench, out: [bench.helio, 'collect', '-q', '--openmp', 'off', '-o', out],
}


def openmp(bench, _names):
    """ns per region, and the bytes of omptrace for each."""
    regions, repeats = (20000, 2) if bench.quick else (200000, 5)
    counts = sorted({1, 2, min(4, os.cpu_count())})
    rows = []
    for compiler in filter(common.available, ('gcc', 'clang')):
        program = bench.scratch / f'regions_{compiler}'
        subprocess.run([compiler, '-O2', '-fopenmp', '-o', program, common.ROOT / 'bench' / 'regions.c'], check=True)
        for threads in counts:
            measured = {name: [] for name in ('bare', *HOW)}
            size = 0
            for _ in range(repeats):
                for name in measured:
                    out = bench.fresh('.er')
                    before = HOW[name](bench, out) if name in HOW else []
                    done = subprocess.run([*before, program, str(threads), str(regions)], capture_output=True, text=True, cwd=bench.scratch, check=True)
                    measured[name].append(float(done.stdout))
                    if name == 'helio':
                        size = os.path.getsize(out / 'omptrace')
                    common.remove(out)
            # what a machine shared with others adds is only ever more
            rows.append([compiler, str(threads), *(f'{min(values):.0f}' for values in measured.values()),
                         f'{statistics.median(measured["helio"]) / statistics.median(measured["bare"]):.2f}', f'{size / regions:.2f}'])
    common.table(f'OpenMP: ns per empty region, the best of {repeats}', ['', 'threads', 'bare', *HOW, 'median ratio', 'bytes per region'], rows)
