# SPDX-License-Identifier: Apache-2.0
"""
What Java costs: CPU and wall of a machine that starts and ends, of a program that computes, of one that recurses deeply, and of javac, all of
it / bare; JFR with its settings for profiles beside it. In turn within one run, a bare one before each.
"""
import os
import resource
import shutil
import subprocess
import time

import common

SHARES = common.ROOT / 'tests' / 'system' / 'java' / 'Shares.java'
VARIANTS = {
    'helio': lambda bench, out: ([bench.helio, 'collect', '-q', '-o', f'{out}.er'], []),
    'helio -j off': lambda bench, out: ([bench.helio, 'collect', '-q', '-j', 'off', '-o', f'{out}.er'], []),
    'helio 1m': lambda bench, out: ([bench.helio, 'collect', '-q', '-p', '1m', '-o', f'{out}.er'], []),
    'JFR': lambda bench, out: ([], [f'-XX:StartFlightRecording=settings=profile,filename={out}.jfr']),
}


def run(bench, before, tool, options, arguments):
    """(CPU, wall) of the whole command."""
    prefix = '-J' if tool == 'javac' else ''
    usage, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([*map(str, before), shutil.which(tool), *(prefix + option for option in options), *map(str, arguments)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, cwd=bench.scratch, check=False)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    return after.ru_utime - usage.ru_utime + after.ru_stime - usage.ru_stime, wall


def sources(bench, count):
    """Classes for javac: one that many others are like."""
    folder = bench.scratch / 'classes'
    folder.mkdir(exist_ok=True)
    for number in range(count):
        text = SHARES.read_text().replace('Shares', f'Shares{number}')
        (folder / f'Shares{number}.java').write_text(text)
    return sorted(folder.glob('*.java'))


def java(bench, names):
    if not shutil.which('javac'):
        return
    repeats, units, classes = (2, 5, 20) if bench.quick else (7, 100, 400)
    subprocess.run(['javac', '-g', '-d', bench.scratch, SHARES], check=True)
    programs = {'start-up': ('java', ['-version']), 'Shares': ('java', ['-cp', bench.scratch, 'Shares', units]),
                'javac': ('javac', ['-d', bench.scratch / 'out', *sources(bench, classes)])}
    rows = []
    for name, (tool, arguments) in programs.items():
        if names and name not in names:
            continue
        ratios = {variant: ([], [], []) for variant in VARIANTS}
        for _ in range(repeats):
            for variant, words in VARIANTS.items():
                out = bench.fresh('')
                before, options = words(bench, out)
                bare = run(bench, [], tool, [], arguments)
                used = run(bench, before, tool, options, arguments)
                for values, value in zip(ratios[variant], (used[0] / bare[0], used[1] / bare[1], 1000 * (used[1] - bare[1]))):
                    values.append(value)
                for path in bench.scratch.glob(out.name + '.*'):
                    common.remove(path) if path.is_dir() else os.unlink(path)
        rows += [[f'{name}: {variant}', *(f'{common.median(values):.3f} ±{common.spread(values):.3f}' for values in ratios[variant][:2]),
                  f'{common.median(ratios[variant][2]):.0f}'] for variant in VARIANTS]
    common.table(f'Java: all that is used / bare, median of {repeats}', ['', 'CPU', 'wall', 'ms more'], rows)
