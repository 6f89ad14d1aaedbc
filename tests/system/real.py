# SPDX-License-Identifier: Apache-2.0
"""Real programs: run bare, then under the collector, which must not show but in the experiment."""
import difflib
import os
import shutil
import socket
import time

from harness import monitor_cpu


def account(path):
    """What `timed` wrote: the kernel's account of the program and its children."""
    return {line.split()[0]: float(line.split()[1]) for line in path.read_text().splitlines()}


def same_run(t, engine, *words, status=0, view=str.splitlines, interval='1m', before=(), **more):
    """
    Runs the words bare and collected: the same status and output, seen through `view`. The words
    `before` stand in front of both commands.
    Returns (the kernel's account of the collected run, its family of processes, the experiment).
    """
    bare = t.run(*before, *words, **more)
    t.equal(bare.status, status, f'bare status ({bare.err.strip()[-300:]})')
    kept = t.directory / 'account'
    result = t.collect(t.target('timed'), kept, *words, engine=engine, options=('-p', interval), status=status, before=before,
                       **more)
    differences = [line for line in difflib.ndiff(view(bare.out), view(result.out)) if line[0] != ' ']
    t.check(not differences, f'output differs: {differences[:6]} {result.err[-1500:]}')
    family = t.read(result.experiment)
    t.check(family[''].get('collector', {}).get('engine') == engine, f'engine {family[""].get("collector")}')
    listing = t.functions(result.experiment, 'e.totalcpu')
    t.total_is_of(listing, family)
    return account(kept), family, result.experiment


def start_cost(t, *words):
    """The CPU time in which this machine starts a program that does nothing, /bin/true, and ends it."""
    kept = t.directory / 'small'
    spent = []
    for _ in range(5):
        t.run(t.target('timed'), kept, *(words or ['/bin/true']))
        spent.append(account(kept)['cpu'])
    return sum(spent) / len(spent)


def folder_cost(t, folders=20, files=6, length=64 << 10):
    """
    The CPU time in which this machine makes a folder with as many files as an experiment has. Where ext4
    has no journal and thousands of files were just deleted, a file costs 1 ms in place of 10 us: it reads over all of them.
    """
    begin = time.process_time()
    for number in range(folders):
        made = t.directory / f'folder{number}'
        made.mkdir()
        for name in range(files):
            with open(made / str(name), 'wb') as file:
                os.posix_fallocate(file.fileno(), 0, length)
    spent = time.process_time() - begin
    for number in range(folders):
        shutil.rmtree(t.directory / f'folder{number}')
    return spent / folders


def unlogged_monitor(family):
    """What the monitor used in images that end without a log: for each second of a thread as much as in the first program, which only waits."""
    unlogged = [image for image in family.values() if not any(event['kind'] == 'counters' for event in image['log_events'])]
    return monitor_cpu(family['']) / family['']['total'] * sum(image['total'] for image in unlogged)


def counted_cpu(t, truth, family, low=0.95, high=1.03, idle=None):
    """
    The CPU in the profiles against the kernel's account of all processes. The time of an image
    before it records, exec, the dynamic linker and the making of its experiment, belongs to no profile: six small programs'
    and a folder's each is allowed. So is what the monitor may have used without telling. Idle: a command that starts one with
    many libraries for nothing.
    """
    starts = len(family) * (6 * start_cost(t) + folder_cost(t)) + (2 * start_cost(t, *idle) if idle else 0)
    programs = [image for lineage, image in family.items() if lineage]
    used = truth['cpu'] - sum(monitor_cpu(image) for image in programs)
    t.ratio(sum(image['cpu'] for image in programs), used,
            low - (starts + unlogged_monitor(family)) / used, high, 'cpu')


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
