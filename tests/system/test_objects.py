# SPDX-License-Identifier: Apache-2.0
"""Load objects shown, hidden, and by their entries only: names change, what counts does not."""
import pathlib
import random
import sys

from harness import test

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'golden'), str(HERE.parent / 'reader')]
import make_experiment as golden  # noqa: E402
from make_golden import Events, file_header, packed, write  # noqa: E402

FUNCTIONS = ('main', 'A', 'B', 'C', 'E', 'F')
LIB = {'A', 'B', 'C'}  # those that a second map event gives to lib.so


def make(t, seed):
    """Stacks of functions of two load objects: [(stack, µs)], outermost first."""
    rng = random.Random(seed)
    golden.make(str(t.directory))
    path = t.directory / 'golden.1.er'
    (t.directory / 'lib.so').write_bytes(
        (t.directory / 'app').read_bytes().replace(golden.BUILD_ID, b'\x99' + golden.BUILD_ID[1:]))
    text = (path / 'map.xml').read_text().splitlines()
    event = text[2].replace(f'{golden.BASE + 0x1000:#x}', f'{0x900000 + 0x1000:#x}').replace(
        f'bias="{golden.BASE:#x}"', 'bias="0x900000"').replace('/app"', '/lib.so"').replace('buildid="10', 'buildid="99')
    write(path, 'map.xml', '\n'.join([*text[:3], event, text[3]]) + '\n')
    nodes, ids, events = [], {(): 0}, []

    def node(stack):
        if stack not in ids:
            base = 0x900000 if stack[-1] in LIB else golden.BASE
            nodes.append((node(stack[:-1]), base + golden.AT[stack[-1]] + 16))
            ids[stack] = len(nodes)
        return ids[stack]
    out, time = Events().thread(1, 12, 0), 0
    for _ in range(200):
        stack = tuple(rng.choice(FUNCTIONS) for _ in range(rng.randrange(1, 8)))
        weight = rng.randrange(1, 1000)
        time += weight
        events.append((stack, weight))
        out.event(time, weight, 'user', node(stack))
    write(path, 'profile', file_header('profile') + out.end(time).block())
    write(path, 'stacks', file_header('stacks') + packed(1, nodes))
    for file in (path / '_f1.er').iterdir():
        file.unlink()
    (path / '_f1.er').rmdir()
    return path, events


def shown_as(stack, rule):
    """The frames that are shown of a stack."""
    result = []
    for at, function in enumerate(stack):
        inner = at and function in LIB and stack[at - 1] in LIB
        if rule == 'show' or function not in LIB:
            result.append(function)
        elif not inner:
            result.append('<lib.so>' if rule == 'hide' else function)
    return tuple(result)


def expected(events, rule):
    inclusive, exclusive = {}, {}
    for stack, weight in events:
        frames = shown_as(stack, rule)
        exclusive[frames[-1]] = exclusive.get(frames[-1], 0) + weight
        for function in set(frames):
            inclusive[function] = inclusive.get(function, 0) + weight
    return inclusive, exclusive


def compare(t, path, events, rule, *commands):
    listing = t.print(path, '-metrics', 'e.user:i.user:name', *commands, '-functions', '-calltree')
    rows = {row['name']: row for row in listing[-2]['rows']}
    t.equal(round(rows.pop('<Total>')['i.user'] * 1e6), sum(weight for _, weight in events), f'{rule}: <Total>')
    for metric, values in zip(('i.user', 'e.user'), expected(events, rule)):
        t.equal({name: round(row[metric] * 1e6) for name, row in rows.items() if row[metric]}, values, f'{rule} {metric}')
    paths = {shown_as(stack, rule)[:length + 1] for stack, _ in events for length in range(len(shown_as(stack, rule)))}
    t.equal(len(listing[-1]['rows']) - 1, len(paths), f'{rule}: nodes of the call tree')


@test
def show_hide_api(t):
    path, events = make(t, 1)
    compare(t, path, events, 'show')
    compare(t, path, events, 'hide', '-object_hide', 'lib.so')
    compare(t, path, events, 'api', '-object_api', str(t.directory / 'lib.so'))
    compare(t, path, events, 'show', '-object_hide', 'all', '-objects_default')
    compare(t, path, events, 'hide', '-object_select', 'app')
    compare(t, path, events, 'api', '-object_hide', 'lib.so', '-object_api', 'lib.so')


@test
def hidden_functions_in_filters(t):
    """A filter means the functions that were on the stacks, whatever is shown of them."""
    path, events = make(t, 2)
    kept = [(stack, weight) for stack, weight in events if 'B' in stack]
    compare(t, path, kept, 'hide', '-filters', 'FNAME("B") IN STACK', '-object_hide', 'lib.so')
    compare(t, path, kept, 'hide', '-object_hide', 'lib.so', '-filters', 'FNAME("B") IN STACK')


@test
def lists(t):
    path, _ = make(t, 3)
    rows = t.print(path, '-object_hide', 'lib.so', '-object_list')[-1]['rows']
    t.equal([(row['name'], row['shown']) for row in rows], [('app', 'show'), ('lib.so', 'hide')], 'list')
    result = t.run(t.helio, 'print', '-object_hide', 'libx.so', path)
    t.check(result.status == 1 and 'No load object is called libx.so' in result.err, result.err)
