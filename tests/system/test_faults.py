# SPDX-License-Identifier: Apache-2.0
"""
Each allocation and each access to a file fails once while a known experiment is read: there is an error
message, or the complete answer, or another one with a warning; never a crash, never another number in silence.
"""
import pathlib
import sys

from harness import test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'golden'))
import make_experiment  # noqa: E402

COMMANDS = ('-header', '-functions', '-calltree', '-overview')
MOST = 600  # more would take too long: then they are spread over all


def answer(t, kind, number):
    count = t.directory / 'count'
    result = t.run(t.helio, 'print', *COMMANDS, 'golden.1.er', timeout=20, env={
        'LD_PRELOAD': t.target('libfaults.so'), 'FAULTS': f'{kind}:{number}', 'FAULTS_COUNT': str(count), 'TZ': 'UTC', 'LC_ALL': 'C',
        'DEBUGINFOD_URLS': ''})
    return result, int(count.read_text()) if number == 0 else 0


def warnings(result):
    return {line for line in (result.err + result.out).splitlines() if line.startswith('Warning')}


def inject(t, kind, least):
    make_experiment.make(str(t.directory))
    whole, calls = answer(t, kind, 0)
    t.equal(whole.status, 0, 'status without a fault')
    t.check(calls >= least, f'only {calls} calls')
    refused = other = 0
    for number in range(1, calls + 1, -(-calls // MOST)):
        result, _ = answer(t, kind, number)
        what = f'{kind} {number} of {calls}'
        t.check(result.status in (0, 1, 2), f'{what}: status {result.status} {result.err[-300:]}')
        if result.status:
            refused += 1
            t.check(result.err.strip(), f'{what}: status {result.status} without a message')
        elif result.out != whole.out:
            other += 1
            t.check(warnings(result) - warnings(whole), f'{what}: another answer without a warning')
    t.check(refused + other > least, f'only {refused} errors and {other} other answers')
    t.remark = f'{calls} calls, {refused} errors, {other} warnings'


@test
def memory(t):
    inject(t, 'memory', 100)


@test
def files(t):
    inject(t, 'io', 20)
