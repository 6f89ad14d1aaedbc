# SPDX-License-Identifier: Apache-2.0
"""
What each kind of data costs: docs/cost.md is made by this.  Its tables say what was measured when it was last made, on the machine that they
name; whoever doubts them makes them again.
"""
import contextlib
import io
import os
import pathlib
import platform
import re
import resource
import subprocess
import time

import common
import forks
import programs

# What is recorded: what it is called, the options.
KINDS = (
    ('clock, the default', '-p on'),
    ('clock, each ms', '-p 1m'),
    ('clock, each 100 µs', '-p 100u'),
    ('clock, each ms, without perf events', '-p 1m --engine monitor'),
    ('nothing', '-p off'),
    ('page faults, the default', '-p off -h page-faults'),
    ('context switches, the default', '-p off -h context-switches'),
    ('memory: each allocation', '-p off -H on'),
    ('memory: a sample each 512 KB', '-p off -H sample=512k'),
    ('waits for locks', '-p off -s on'),
    ('locks, free ones too', '-p off -s all'),
    ('input and output', '-p off -i on'),
    ('clock by default, memory, locks, I/O', '-p on -H on -s on -i on'),
)
OTHERS = (('perf record, each ms', 'perf 997'), ('an empty handler of a signal, each ms', 'sigtrap 1000000'))
PROGRAMS = ('sqlite3', 'python3', 'gcc')
PAGE = common.ROOT / 'docs' / 'cost.md'

INTRODUCTION = '''# What recording costs

Made by `./dev bench cost`, which writes this page: do not edit it. {legend}

Measured with {version} on {machine},
at a load of {load}. A figure holds for such a machine: what costs most, a timer's interrupt
and a page fault, takes several times as long in a virtual machine as outside of one. More, in greater detail: [bench](../bench/README.md).
'''
NOTES = '''
Each run of a program lies between two bare ones and is divided by their mean. The program is measured from the inside, by the kernel's
account of it and its children: what the collector does in it is all in, what `helio collect` does before and after is in the next table.
`-p off`, with nothing recorded, is what the collector costs that is merely there, most of it at the start and the end of each process: {seconds} s
is a short run, and gcc is three programs. By default the clock ticks each ms at first, and each 10 ms later: of a long run its part is a
tenth of what it is here. The last two rows are no recordings of ours, from the same rounds.
'''


def machine():
    text = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8')
    name = re.search(r'^model name\s*: (.*)', text, re.M)
    is_virtual = re.search(r'^flags\s*:.* hypervisor\b', text, re.M)
    return (f'{"a virtual machine with " if is_virtual else ""}{os.cpu_count()} processors ({name.group(1) if name else platform.machine()}), '
            f'Linux {platform.release()}')


def by_kind(bench, seconds, repeats):
    chosen = [program for program in programs.all_programs(bench, seconds) if program.name in PROGRAMS]
    kinds = [(name, f'with {options}', f'`{options}`') for name, options in KINDS] + [(name, variant, '') for name, variant in OTHERS]
    kinds = [kind for kind in kinds if bench.works(kind[1])]
    found = {program.name: common.interleaved(bench, program, [variant for _, variant, _ in kinds], repeats) for program in chosen}
    rows = []
    for name, variant, options in kinds:
        estimates = [common.estimate(found[program.name][variant][0]) for program in chosen]
        rows.append([name, options, *(common.shown(value, 3) for value in estimates), common.shown(common.mean_of_estimates(estimates), 3)])
    common.table(f'CPU time of a program / bare, {repeats} runs of {seconds} s each',
                 ['recorded', 'options', *(program.name for program in chosen), 'geometric mean'], rows)


def command(words, place):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, cwd=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3, (end - begin) * 1e3


def of_start(bench, repeats):
    """`helio collect true`, less a bare one."""
    kept = ([], [])
    for _ in range(repeats):
        out = bench.fresh('.er')
        bare, whole = command(['true'], bench.scratch), command([bench.helio, 'collect', '-o', out, 'true'], bench.scratch)
        for values, one, other in zip(kept, whole, bare):
            values.append(one - other)
        common.remove(out)
    common.table('A run of a program that does nothing, beyond the bare one, ms', ['command', 'CPU', 'wall'],
                 [['`helio collect true`', *(common.shown(common.estimate(values), 2) for values in kept)]])


def of_children(bench, children, repeats):
    kept = forks.measured(bench, children, repeats)
    common.table('A child that does nothing, beyond the bare one, ms of CPU time', ['options', 'for each child'],
                 [[tool, common.shown(common.estimate(values[2]), 2)] for tool, values in kept.items()])


def cost(bench, _names):
    """Prints the page, and writes it unless in a hurry."""
    seconds, repeats, children = (0.2, 2, 10) if bench.quick else (0.5, 20, 50)
    repeats = bench.rounds or repeats
    load = os.getloadavg()[0]
    version = subprocess.run([bench.helio, '--version'], capture_output=True, text=True, check=True).stdout.strip()
    tables = io.StringIO()
    with contextlib.redirect_stdout(tables):
        by_kind(bench, seconds, repeats)
        print(NOTES.format(seconds=seconds), end='')
        of_start(bench, 2 * repeats)
        of_children(bench, children, repeats)
    page = INTRODUCTION.format(legend=common.LEGEND, version=version, machine=machine(),
                               load=f'{load:.1f} at the beginning and {os.getloadavg()[0]:.1f} at the end') + tables.getvalue()
    print(page)
    if not bench.quick:
        PAGE.write_text(page, encoding='utf-8')
