# SPDX-License-Identifier: Apache-2.0
"""Scripts that live of short processes: what each child costs."""
import os
import pathlib
import resource
import shutil
import statistics
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


def forks(bench, _names):
    """
    A shell that runs /bin/true and a subshell in turn: CPU and wall of the whole command, over the bare runs before
    and after it, and of perf record likewise.  In memory where that is possible, and nothing is removed meanwhile: ext4 searches past each file
    that was removed in the last seconds, which costs more than all that is measured here.
    """
    rounds, repeats = (20, 3) if bench.quick else (100, 15)
    memory = pathlib.Path('/dev/shm')
    place = pathlib.Path(tempfile.mkdtemp(prefix='helio-bench-', dir=memory if os.access(memory, os.W_OK) else bench.scratch))
    bare_words = ['bash', '-c', SCRIPT.format(rounds=rounds)]
    tools = {variant: [str(bench.helio), 'collect', '-A', 'off', *options, '-o', '{}.er'] for variant, options in VARIANTS.items()}
    if shutil.which('perf'):
        tools['perf record'] = ['perf', 'record', '-q', '-F', '1000', '-g', '-e', 'cpu-clock:u', '-o', '{}.data']
    ratios = {variant: ([], [], []) for variant in tools}
    try:
        before = used(bare_words, place)
        for _ in range(repeats):
            for variant, words in tools.items():
                bench.serial += 1
                cost = used([word.format(bench.serial) for word in words] + bare_words, place)
                after = used(bare_words, place)
                cpu, wall = (before[0] + after[0]) / 2, (before[1] + after[1]) / 2
                for kept, value in zip(ratios[variant], (cost[0] / cpu, cost[1] / wall, (cost[0] - cpu) / (2 * rounds) * 1e3)):
                    kept.append(value)
                before = after
    finally:
        shutil.rmtree(place, ignore_errors=True)
    common.table('Short processes: the whole command / bare, and what a child costs beyond it',
                 ['options', 'CPU', '±', 'wall', '±', 'ms of CPU for each child'],
                 [[variant, statistics.median(cpu), common.spread(cpu), statistics.median(wall), common.spread(wall), f'{statistics.median(child):.2f}']
                  for variant, (cpu, wall, child) in ratios.items()])
