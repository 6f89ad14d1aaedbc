# SPDX-License-Identifier: Apache-2.0
"""What synchronization tracing costs a lock, bare and traced in turn within one run; and an event on disk."""
import os
import statistics
import subprocess

import common

TRACERS = {
    'helio -s on': lambda bench, out: [bench.helio, 'collect', '-q', '-p', 'off', '-s', 'on', '-o', out],
    'helio -s all': lambda bench, out: [bench.helio, 'collect', '-q', '-p', 'off', '-s', 'all', '-o', out],
    'gprofng -s on': lambda bench, out: ['gprofng', 'collect', 'app', '-p', 'off', '-s', 'on', '-O', out],
    'gprofng -s all': lambda bench, out: ['gprofng', 'collect', 'app', '-p', 'off', '-s', 'all', '-O', out],
}


def costs(bench, before, pairs):
    """{kind of lock: ns per pair}"""
    done = subprocess.run([*map(str, before), bench.build / 'bench' / 'locks', str(pairs)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, cwd=bench.scratch)
    words = [line.split() for line in done.stdout.splitlines()]
    return {word[0]: float(word[1]) / 10 for word in words if len(word) == 2 and word[1].isdigit()}


def sync(bench, _names):
    """ns per lock and unlock; for those that trace every call the bytes of an event."""
    pairs, repeats = (50000, 2) if bench.quick else (500000, 5)
    tracers = [name for name in TRACERS if common.available(name.split()[0])]
    measured = {name: [] for name in ['bare', *tracers]}
    sizes = {}
    for _ in range(repeats):
        measured['bare'].append(costs(bench, [], pairs))
        for name in tracers:
            out = bench.fresh('.er')
            measured[name].append(costs(bench, TRACERS[name](bench, out), pairs))
            trace = out / 'synctrace'
            if name.endswith('all') and trace.exists():
                sizes[name] = os.path.getsize(trace) / (4 * pairs)
            common.remove(out)
    kinds = list(measured['bare'][0])
    rows = []
    for name, runs in measured.items():
        medians = [statistics.median(run[kind] for run in runs) if all(kind in run for run in runs) else float('nan') for kind in kinds]
        rows.append([name] + [f'{value:.1f}' for value in medians] + [f'{sizes[name]:.1f}' if name in sizes else ''])
    common.table(f'Locks: ns per lock and unlock at depth 10, median of {repeats}', ['', *kinds, 'bytes per event'], rows)
