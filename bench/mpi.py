# SPDX-License-Identifier: Apache-2.0
"""What MPI tracing costs a call, bare and traced in turn within one run, and an event on disk; NetPIPE's own latency."""
import os
import re
import shutil
import statistics
import subprocess

import common

IMPLEMENTATIONS = ('openmpi', 'mpich')
ENVIRONMENT = {**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1'}


def lines(bench, words):
    done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=bench.scratch, env=ENVIRONMENT, check=False)
    return done.stdout.splitlines()


def costs(bench, words):
    """{kind of call: ns}"""
    pairs = [line.split() for line in lines(bench, words)]
    return {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2 and re.fullmatch(r'[\d.]+', pair[1])}


def traced(bench, out):
    return [bench.helio, 'collect', '-q', '-p', 'off', '-m', 'on', '-o', out]


def bytes_per_event(bench, experiment):
    events = bench.helio and subprocess.run([bench.helio, 'print', '-header', experiment], capture_output=True, text=True, check=False).stdout
    count = sum(int(number) for number in re.findall(r', (\d+) of mpi', events))
    size = sum(path.stat().st_size for path in experiment.rglob('mpitrace'))
    return size / count if count else float('nan')


def of_calls(bench, implementation, calls, repeats):
    program = bench.scratch / f'mpi_calls.{implementation}'
    subprocess.run([f'mpicc.{implementation}', '-O2', '-w', '-o', program, common.ROOT / 'bench' / 'mpi_calls.c'], check=True)
    measured, size = {}, 0
    for _ in range(repeats):
        for ranks in (1, 2):
            run = [f'mpirun.{implementation}', '-np', str(ranks), program, str(calls)]
            out = bench.fresh('.er')
            for how, words in (('bare', run), ('traced', [*traced(bench, out), *run])):
                for kind, value in costs(bench, words).items():
                    measured.setdefault(kind, {}).setdefault(how, []).append(value)
            size = bytes_per_event(bench, out)
            common.remove(out)
    rows = []
    for kind, runs in measured.items():
        bare, with_us = (statistics.median(runs[how]) for how in ('bare', 'traced'))
        rows.append([f'{implementation} {kind}', f'{bare:.0f}', f'{with_us:.0f}', f'{with_us - bare:.0f}', f'{size:.1f}'])
    return rows


def of_netpipe(bench, repeats):
    """The smallest message's latency, us, as NetPIPE itself measures it."""
    measured = {'bare': [], 'traced': []}
    for _ in range(repeats):
        out = bench.fresh('.er')
        run = ['mpirun.openmpi', '-np', '2', shutil.which('NPopenmpi'), '-u', '64', '-o', bench.fresh('.np')]
        for how, words in (('bare', run), ('traced', [*traced(bench, out), *run])):
            for line in lines(bench, words):
                found = re.search(r'0:\s+1 bytes.*in\s+([\d.]+) usec', line)
                measured[how] += [float(found[1])] if found else []
        common.remove(out)
    return [[how, f'{statistics.median(values):.2f}' if values else ''] for how, values in measured.items()]


def loop_time(bench, before):
    """Seconds that LAMMPS says that its steps took."""
    said = lines(bench, [*before, 'mpirun.openmpi', '-np', '2', shutil.which('lmp'), '-in', common.ROOT / 'tests' / 'targets' / 'lammps_melt.txt', '-log', 'none'])
    found = re.search(r'^Loop time of ([\d.]+)', '\n'.join(said), re.M)
    return float(found[1]) if found else float('nan')


def of_lammps(bench, rounds):
    """Steps recorded / bare: each run lies between two bare ones."""
    ways = {'-m on, no clock': ['-p', 'off', '-m', 'on'], '-m on': ['-m', 'on'], '-m off': ['-m', 'off']}
    ratios = {name: [] for name in ways}
    for _ in range(rounds):
        bare = loop_time(bench, [])
        for name, options in ways.items():
            out = bench.fresh('.er')
            used = loop_time(bench, [bench.helio, 'collect', '-q', *options, '-o', out])
            common.remove(out)
            after = loop_time(bench, [])
            ratios[name].append(2 * used / (bare + after))
            bare = after
    return [[name, common.shown(common.estimate(values))] for name, values in ratios.items()]


def mpi(bench, names):
    """ns per call, bytes per event; NetPIPE; LAMMPS."""
    repeats = 3 if bench.quick else 9
    rows = []
    for implementation in IMPLEMENTATIONS:
        if shutil.which(f'mpicc.{implementation}') and (not names or implementation in names):
            rows += of_calls(bench, implementation, 20000 if bench.quick else 200000, repeats)
    common.table(f'Calls of MPI: ns each, median of {repeats}', ['', 'bare', 'traced', 'more', 'bytes per event'], rows)
    if shutil.which('NPopenmpi') and not names:
        common.table(f'NetPIPE, a message of 1 byte: us, median of {repeats}', ['', 'latency'], of_netpipe(bench, repeats))
    if shutil.which('lmp') and (not names or 'lammps' in names):
        rounds = bench.rounds or (3 if bench.quick else 20)
        common.table(f'LAMMPS, a melt on 2 ranks: its loop time / bare, {rounds} rounds. {common.LEGEND}', ['', 'ratio'], of_lammps(bench, rounds))
