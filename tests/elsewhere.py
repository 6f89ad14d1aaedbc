#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs tests as on another machine, and counts.

    elsewhere.py --build DIR [--times N] KIND... [-- PATTERN...]

    here     as it is
    load     ten busy processes beside it
    one      one processor
    ticks    each event of a perf clock costs 50 us more
    stolen   a fifth of each processor's time is taken, in pieces of 5 ms, as a hypervisor takes it
    deaf     watch points can be set, but never fire
    worst    load, one, ticks and stolen together

Kinds may be joined with +. The last lines: what each run came to, and which tests failed how often.
"""
import argparse
import collections
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ('here', 'load', 'one', 'ticks', 'stolen', 'deaf')
WORST = 'load+one+ticks+stolen'
BUSY = 10
TICK_US = 50
STOLEN_PIECE_S, STOLEN_OF = 0.005, 5
PR_SET_PDEATHSIG = 1


def child(work):
    """A process that does this until it, or its parent, is ended."""
    pid = os.fork()
    if pid:
        return pid
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    try:
        work()
    finally:
        os._exit(1)


def busy():
    while True:
        pass


def thief(processor):
    """Goes before all others on its processor."""
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    while True:
        end = time.thread_time() + STOLEN_PIECE_S
        while time.thread_time() < end:
            pass
        time.sleep(STOLEN_PIECE_S * (STOLEN_OF - 1))


def begin(kind, environment, build):
    """The processes that make this machine so; what else is needed goes into the environment and to this process."""
    if kind == 'load':
        return [child(busy) for _ in range(BUSY)]
    if kind == 'stolen':
        if os.geteuid():
            sys.exit('stolen: needs root, for a real-time priority')
        return [child(lambda processor=processor: thief(processor)) for processor in os.sched_getaffinity(0)]
    if kind == 'one':
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    library = {'ticks': 'libslowticks.so', 'deaf': 'libdeafwatch.so'}.get(kind)
    if library:
        environment['LD_PRELOAD'] = ' '.join([*environment.get('LD_PRELOAD', '').split(), str(build / 'tests' / 'targets' / library)])
        environment['SLOWTICKS_US'] = str(TICK_US)
    return []


def run(kinds, build, patterns):
    """(the last line, [(failed or taken again, name)])"""
    environment = dict(os.environ)
    processors = os.sched_getaffinity(0)
    others = []
    try:
        # the processor is chosen first: what takes its time goes to the same one
        for kind in sorted(kinds, key=lambda kind: kind != 'one'):
            others += begin(kind, environment, build)
        process = subprocess.Popen([sys.executable, str(HERE / 'run.py'), '--build', str(build), *patterns], stdout=subprocess.PIPE,
                                   text=True, errors='replace', env=environment)
        lines = []
        for line in process.stdout:
            print(line, end='', flush=True)
            lines.append(line.rstrip('\n'))
        process.wait()
    finally:
        for pid in others:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.sched_setaffinity(0, processors)
    marks = [match.groups() for line in lines if (match := re.match(r'(FAIL|again) ([^ :]+)', line))]
    return lines[-1] if lines else 'nothing', marks


def kinds_of(word):
    kinds = (WORST if word == 'worst' else word).split('+')
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        sys.exit(f'{unknown[0]}: no such kind; there are {", ".join(KINDS)}, worst')
    return kinds


def main():
    parser = argparse.ArgumentParser(description='runs tests as on another machine')
    parser.add_argument('--build', required=True, type=pathlib.Path)
    parser.add_argument('--times', type=int, default=1)
    parser.add_argument('kinds', nargs='+')
    words = sys.argv[1:]
    patterns = words[words.index('--') + 1:] if '--' in words else []
    options = parser.parse_args(words[:words.index('--')] if '--' in words else words)
    asked = [(word, kinds_of(word)) for word in options.kinds]
    counts = collections.Counter()
    table = []
    for _ in range(options.times):
        for word, kinds in asked:
            start = time.monotonic()
            load = os.getloadavg()[0]
            last, marks = run(kinds, options.build.resolve(), patterns)
            counts.update((mark, word, name) for mark, name in marks)
            table.append(f'{word}: {last} ({time.monotonic() - start:.0f} s, load {load:.1f} to {os.getloadavg()[0]:.1f})')
    print('\n' + '\n'.join(table))
    for (mark, word, name), count in sorted(counts.items()):
        print(f'{mark} {name}: {count} of {options.times}, {word}')
    return 1 if any(mark == 'FAIL' for mark, _, _ in counts) else 0


if __name__ == '__main__':
    sys.exit(main())
