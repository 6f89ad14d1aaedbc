# SPDX-License-Identifier: Apache-2.0
"""
What heap tracing costs, beside heaptrack and gprofng: bare and traced in turn, a bare run before each traced one; and what it leaves on disk.
heaptrack follows no children: of gcc it sees the driver only.
"""
import os
import re
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
            for name in tracers:
                out = bench.fresh('')
                cpu, wall = run(bench, [], program)
                traced_cpu, traced_wall = run(bench, TRACERS[name](bench, out), program)
                ratios[name][0].append(traced_cpu / cpu)
                ratios[name][1].append(traced_wall / wall)
                sizes[name] = size_and_remove(bench, out)
        for name in tracers:
            rows.append([f'{program.name}: {name}'] + [f'{common.median(values):.2f} ±{common.spread(values):.2f}' for values in ratios[name]]
                        + [f'{sizes[name] / 1e6:.2f}'])
    common.table(f'Heap tracing: traced / bare, median of {repeats}', ['', 'CPU', 'wall', 'MB'], rows)


def call_ns(bench, before, how, threads, calls):
    return float(subprocess.run([*map(str, before), bench.build / 'bench' / 'blocks', how, str(threads), str(calls)],
                                capture_output=True, text=True, check=True).stdout.split()[-1])


def calls(bench, _):
    """What one call of malloc or free costs with its record, and leaves on disk; and that none is lost."""
    count, repeats = (200000, 2) if bench.quick else (2000000, 5)
    rows = []
    for how in ('same', 'random'):
        for threads in (1, 8):
            bare, traced, size = [], [], 0
            for _ in range(repeats):
                out = bench.fresh('.er')
                bare.append(call_ns(bench, [], how, threads, count))
                traced.append(call_ns(bench, [bench.helio, 'collect', '-q', '-p', 'off', '-H', 'on,noscan', '-o', out], how, threads, count))
                size = (out / 'heaptrace').stat().st_size / (count * threads)
                log = (out / 'log.xml').read_text()
                dropped = sum(int(number) for number in re.findall(r'kind="counters"[^>]* dropped="(\d+)"', log))
                common.remove(out)
            rows.append([f'{how}, {threads} thread{"s" if threads > 1 else ""}', f'{common.median(bare):.1f}', f'{common.median(traced):.1f}',
                         f'{common.median(traced) - common.median(bare):.1f}', f'{size:.1f}', dropped])
    common.table(f'A call of malloc or free at depth 10, CPU; median of {repeats}', ['', 'bare ns', 'traced ns', 'event ns', 'bytes', 'dropped'], rows)


def read_leaks(words):
    """(seconds, seconds of CPU, MB) of a command."""
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    start = time.monotonic()
    _, _, usage = os.wait4(process.pid, 0)
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def leaks(bench, _):
    """How long the view of what was never released takes over many events, and its memory; gprofng over as many as it can be asked to."""
    blocks = bench.build / 'bench' / 'blocks'
    cases = [('helio', 1000000 if bench.quick else 100000000, [bench.helio, 'collect', '-q', '-p', 'off', '-H', 'on,noscan', '-o'], [bench.helio, 'print', '-leaks']),
             ('gprofng', 200000 if bench.quick else 2000000, ['gprofng', 'collect', 'app', '-p', 'off', '-H', 'on', '-O'], ['gprofng', 'display', 'text', '-leaks'])]
    rows = []
    for name, count, record, show in cases:
        if not shutil.which(name) and name != 'helio':
            continue
        out = bench.fresh('.er')
        call_ns(bench, [*record, out], 'random', 2, count // 2)
        seconds, cpu, megabytes = read_leaks([*show, out])
        common.remove(out)
        rows.append([f'{name}, {count / 1e6:g} million', f'{seconds:.2f}', f'{cpu:.2f}', f'{megabytes:.0f}', f'{cpu / count * 1e9:.0f}', f'{megabytes * 1e6 / count:.0f}'])
    common.table('leaks', ['', 's', 'CPU s', 'MB', 'CPU ns per event', 'bytes per event'], rows)
