# SPDX-License-Identifier: Apache-2.0
"""Scripts that live of short processes: what each child costs."""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

import common

SCRIPT = 'i=0; while [ $i -lt {rounds} ]; do /bin/true; (:); i=$((i+1)); done'
VARIANTS = {
    'default': (),
    'monitor': ('--engine', 'monitor'),
    '-p off': ('-p', 'off'),
    '-F off': ('-F', 'off'),
}


def used(words, place):
    """(CPU, wall) of a command and all that it started."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, check=True, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - begin


def measured(bench, rounds, repeats):
    """
    {tool: ([CPU / bare], [wall / bare], [ms of CPU for each child beyond the bare ones])}.  Every run of a tool lies between two
    bare ones; what it takes to start and to end is known from a run without children, and is not the children's.
    """
    memory = pathlib.Path('/dev/shm')
    place = pathlib.Path(tempfile.mkdtemp(prefix='helio-bench-', dir=memory if os.access(memory, os.W_OK) else bench.scratch))
    script, no_children = (['bash', '-c', SCRIPT.format(rounds=count)] for count in (rounds, 0))
    tools = {'empty library': ['env', f'LD_PRELOAD={bench.build}/bench/empty.so']}
    tools |= {variant: [str(bench.helio), 'collect', '-A', 'off', *options, '-o', '{}.er'] for variant, options in VARIANTS.items()}
    if shutil.which('perf'):
        tools['perf record'] = ['perf', 'record', '-q', '-F', '1000', '-g', '-e', 'cpu-clock:u', '-o', '{}.data']
    kept = {tool: ([], [], []) for tool in tools}

    def run(words, program):
        bench.serial += 1
        return used([word.format(bench.serial) for word in words] + program, place)
    try:
        before = run([], script)
        own = common.median([run([], no_children)[0] for _ in range(5)])
        for _ in range(repeats):
            for tool, words in tools.items():
                cost, start = run(words, script), run(words, no_children)
                after = run([], script)
                cpu, wall = (before[0] + after[0]) / 2, (before[1] + after[1]) / 2
                for values, value in zip(kept[tool], (cost[0] / cpu, cost[1] / wall, (cost[0] - start[0] - (cpu - own)) / (2 * rounds) * 1e3)):
                    values.append(value)
                before = after
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return kept


def forks(bench, _names):
    """
    A shell that runs /bin/true and a subshell in turn: CPU and wall of the whole command, over the bare runs before
    and after it, and of perf record likewise.  In memory where that is possible, and nothing is removed meanwhile: ext4 searches past each file
    that was removed in the last seconds, which costs more than all that is measured here.
    """
    children, repeats = (20, 4) if bench.quick else (100, 20)
    kept = measured(bench, children, bench.rounds or repeats)
    common.table('Short processes: the whole command / bare, and what a child costs beyond it',
                 ['options', 'CPU', 'wall', 'ms of CPU for each child'],
                 [[tool, *(common.shown(common.estimate(values), 3) for values in found)] for tool, found in kept.items()])
    print(f'\n{common.LEGEND}')
