# SPDX-License-Identifier: Apache-2.0
"""Call paths: complete to _start, checked frame by frame against nm."""
import bisect
import os
import re

import helio_reader
from harness import test


class Symbols:
    """Functions of an ELF file by nm: nothing of the project's own."""

    def __init__(self, t, path):
        out = t.run(t.need('nm'), '-S', '--defined-only', path).out
        found = re.findall(r'^([0-9a-f]+) ([0-9a-f]+) [tTwWi] (\S+)$', out, re.M)
        self.entries = sorted((int(a, 16), int(s, 16), n) for a, s, n in found)

    def name(self, address):
        at = bisect.bisect_right(self.entries, (address, 1 << 62, '')) - 1
        if at >= 0:
            begin, size, name = self.entries[at]
            if begin <= address < begin + size:
                return name
        return None


def weighted_stacks(t, result):
    """[(CPU seconds, [(file, elf address), ...] innermost first)]"""
    directory = str(result.experiment)
    with open(os.path.join(directory, 'profile'), 'rb') as file:
        profile = helio_reader.read_profile(file.read())
    with open(os.path.join(directory, 'stacks'), 'rb') as file:
        nodes, _ = helio_reader.read_stacks(file.read())
    maps = helio_reader.maps_of(directory)
    stacks = []
    for stack, weights in profile.stacks.items():
        path = []
        for epoch, pc in helio_reader.frames(nodes, stack):
            entry = helio_reader.find_object(maps, epoch, pc)
            path.append((entry['name'], pc - entry['bias']) if entry else ('?', pc))
        stacks.append((sum(weights[:3]) / 1e6, path))
    return stacks


def named(t, result, program):
    symbols = Symbols(t, program)
    for seconds, path in weighted_stacks(t, result):
        yield seconds, [symbols.name(pc) if file == program else os.path.basename(file) for file, pc in path]


@test(engines=True)
def deep_200(t, engine):
    program = t.target('deep')
    result = t.collect(program, '1s', '200', engine=engine)
    good = 0
    total = 0
    for seconds, names in named(t, result, program):
        if 'leaf' not in names:
            continue
        total += seconds
        complete = names[0] == 'leaf' and names[1:201] == ['descend'] * 200 and names[201] == 'main' and names[-1] == '_start'
        good += seconds if complete else 0
    # the monitor's signal arrives some microseconds late, often at main's clock_gettime between two descents
    t.ratio(total, result.truth()['thread_cpu'], 0.9 if engine == 'perf' else 0.3, 1.01, 'in leaf')
    t.ratio(good, total, 0.999, 1.0001, 'complete')


@test(engines=True)
def recursion_10000(t, engine):
    program = t.target('recurse')
    result = t.collect(program, '1s', '10000', engine=engine)
    process = t.read(result.experiment)['']
    t.within(process['unrecorded'].get('<Truncated-stack>', 0) > 0.5 * process['cpu'], 'no truncated stacks')
    t.within(process['unrecorded'].get('<Stack-unwind-failed>', 0) < 0.01 * process['cpu'], 'stacks that end early')
    for seconds, names in named(t, result, program):
        if len(names) > 600:
            t.check(set(names[1:500]) == {'descend'}, 'the leaf part of a truncated stack is not descend only')
    row = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')['descend']
    t.within(row['i.totalcpu'] <= process['cpu'] * 1.000001, 'recursion is counted more than once')
    t.ratio(row['i.totalcpu'], result.truth()['thread_cpu'], 0.93, 1.01, 'inclusive')  # the rest is clock_gettime


@test(engines=True)
def exceptions(t, engine):
    """The C++ unwinder at work is unwound through, to _start."""
    program = t.target('exceptions')
    result = t.collect(program, '1s', engine=engine, options=('-p', 'hi'))
    total = good = 0
    for seconds, names in named(t, result, program):
        total += seconds
        good += seconds if names[-1] == '_start' else 0
    t.ratio(good, total, 0.99, 1.0001, 'to _start')


@test(engines=True)
def threads_have_roots(t, engine):
    program = t.target('threads8')
    result = t.collect(program, '0.2s', engine=engine)
    inside = [names for seconds, names in named(t, result, program) if seconds and 'crunch' in names]
    t.check(inside, 'no time in crunch')
    for names in inside:
        t.equal(names[:2], ['crunch', 'work'], 'innermost frames of a thread')
        t.check(len(names) == 4, f'a thread\'s stack: {names}')  # work, start_thread, clone3


@test(engines=True)
def printed_call_tree(t, engine):
    """The tree by `helio print` is the one that the reader sees."""
    program = t.target('deep')
    result = t.collect(program, '0.5s', '50', engine=engine)
    tree = t.print(result.experiment, '-metrics', 'a.totalcpu:name', '-calltree')[-1]
    rows = {row['id']: row for row in tree['rows']}
    t.equal(len(rows), len(tree['rows']), 'distinct ids')

    def depth(row):
        return 1 + depth(rows[row['parent']]) if row.get('parent') in rows and row['parent'] != row['id'] else 0
    leaves = [row for row in tree['rows'] if row['name'] == 'leaf']
    t.equal(len(leaves), 1, 'leaf in the call tree')
    outer = []
    row = leaves[0]
    while row.get('parent') in rows and row['parent'] != row['id']:
        row = rows[row['parent']]
        outer.append(row['name'])
    t.equal(outer[:51], ['descend'] * 50 + ['main'], 'callers of leaf')
    t.equal(outer[-2:], ['_start', '<Total>'], 'root of the call tree')
