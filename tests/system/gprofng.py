# SPDX-License-Identifier: Apache-2.0
"""
GNU gprofng as an oracle: records experiments, and reads what `gprofng display text` prints of them. `ours` is the same
from helio, in the same form, so that the two can be compared row by row.

    functions   {name: [values of each function of that name]}
    blocks      {centre: [[(role, name, values)] of each function of that name]}
    tree        {path of names: values}
"""
import collections
import json
import os
import re
import struct
import subprocess

from harness import patience

VALUE = r'-?[0-9]+\.?[0-9]*'
STATIC = re.compile(r'<static>@0x([0-9a-f]+) \(<(.*)>\)(.*)')
# What gprofng knows of one kind of data: the metrics, each exclusive and inclusive.
METRICS = {
    'clock': ('.totalcpu',),
    'heap': ('+heapallocbytes', '+heapalloccnt', '+heapleakbytes', '+heapleakcnt'),
    'sync': ('.sync', '+syncn'),
    'io': ('+ioreadcnt', '+ioreadbytes', '.ioreadtime', '+iowritecnt', '+iowritebytes', '.iowritetime', '+ioothercnt', '.ioothertime',
           '+ioerrorcnt', '.ioerrortime'),
}
OPTIONS = {'clock': ('-p', 'hi'), 'heap': ('-H', 'on'), 'sync': ('-s', 'all'), 'io': ('-i', 'on')}


def record(t, *words, kinds=('clock',), options=(), **more):
    """gprofng collect app; the experiment."""
    number = len(list(t.directory.glob('gp.*.er'))) + 1
    experiment = t.directory / f'gp.{number}.er'
    chosen = [word for kind in kinds for word in OPTIONS[kind]]
    result = t.run('gprofng', 'collect', 'app', *([] if 'clock' in kinds else ['-p', 'off']), *chosen, *options, '-O', experiment, *words,
                   **more)
    t.check(experiment.is_dir(), f'gprofng recorded nothing of {words[0]}: {result.err[-300:]}')
    return experiment


def metrics_of(kinds):
    return [metric for kind in kinds for metric in METRICS[kind]]


def display(experiment, *words):
    return subprocess.run(['gprofng', 'display', 'text', *words, str(experiment)], capture_output=True, text=True, errors='replace',
                          timeout=120 * patience()).stdout


def identity(text):
    """NAME [<OBJECT>], as with `-name long:soname`, is (name, object); of what has no object, (name, None)."""
    found = re.fullmatch(r'(.*) \[<?([^][>]*)>?\]', text)
    if not found or found[2] == 'Total':
        return (found[1] if found else text), None
    return found[1], found[2]


def parse_values(text):
    return tuple(float(word) for word in text.split())


def exclusive_and_inclusive(metrics):
    return [flavour + metric for metric in metrics for flavour in 'ei']


def functions(experiment, metrics):
    """With these metrics, flavours and all."""
    row = re.compile(rf'^ *((?:{VALUE} +){{{len(metrics)}}})(\S.*)$')
    rows = collections.defaultdict(list)
    for line in display(experiment, '-name', 'long:soname', '-metrics', ':'.join(metrics) + ':name', '-functions').splitlines():
        if found := row.match(line):
            rows[identity(found[2])].append(parse_values(found[1]))
    return rows


def inclusive(metrics):
    return ':'.join('i' + metric for metric in metrics) + ':name'


def blocks(experiment, metrics):
    row = re.compile(rf'^ *((?:{VALUE} +){{{len(metrics)}}})([ *])(\S.*)$')
    result = collections.defaultdict(list)
    for text in display(experiment, '-name', 'long:soname', '-metrics', inclusive(metrics), '-callers-callees').split('\n\n'):
        block, role, centre = [], 'caller', None
        for line in text.splitlines():
            if not (found := row.match(line)):
                continue
            role = 'centre' if found[2] == '*' else 'callee' if role != 'caller' else role
            name = identity(found[3])
            centre = name if role == 'centre' else centre
            block.append((role, name, parse_values(found[1])))
        if centre:
            result[centre].append(block)
    return result


def tree(experiment, metrics):
    """A level is two columns further in than its parent's, or three where a line goes down beside it."""
    row = re.compile(rf'^ *((?:{VALUE} +){{{len(metrics)}}})[ |]*\+-(.*)$')
    result, path = collections.defaultdict(lambda: None), []
    for line in display(experiment, '-name', 'long:soname', '-metrics', inclusive(metrics), '-calltree').splitlines():
        if not (found := row.match(line)):
            continue
        column = line.index('+-')
        while path and path[-1][0] >= column:
            path.pop()
        path.append((column, identity(found[2])))
        names = tuple(name for _, name in path)
        result[names] = add(result[names], parse_values(found[1]))
    return dict(result)


def add(a, b):
    return b if a is None else tuple(x + y for x, y in zip(a, b))


# The same from helio


def ours(t, experiment, metrics, *command):
    """A command's rows, without the symbols of separate debug files, which gprofng does not look for."""
    result = t.run(t.helio, 'print', '-printmode', 'json', '-name', 'long', '-metrics', metrics, *command, experiment,
                   env={'HELIO_DEBUG_ROOT': '/nowhere'})
    t.equal(result.status, 0, f'helio print {command}: {result.err}')
    return [json.loads(line) for line in result.out.splitlines()][-1]['rows']


def label(row):
    return row['name'], os.path.basename(row['object']) if row['object'] else None


def our_functions(t, experiment, metrics):
    rows = collections.defaultdict(list)
    for row in ours(t, experiment, ':'.join(metrics) + ':name', '-functions'):
        rows[label(row)].append(tuple(row[f'{metric[0]}.{metric[2:]}'] for metric in metrics))
    return rows


def attributed(row, metrics):
    return tuple(row['a.' + metric[1:]] for metric in metrics)


def our_blocks(t, experiment, metrics):
    found, centres = collections.defaultdict(list), {}
    for row in ours(t, experiment, inclusive(metrics), '-callers-callees'):
        role = {'center': 'centre'}.get(row['role'], row['role'])
        found[row['block']].append((role, label(row), attributed(row, metrics)))
        if role == 'centre':
            centres[row['block']] = label(row)
    result = collections.defaultdict(list)
    for block, centre in centres.items():
        result[centre].append(found[block])
    return result


def our_tree(t, experiment, metrics):
    result, path = collections.defaultdict(lambda: None), []
    for row in ours(t, experiment, inclusive(metrics), '-inlines', 'off', '-calltree'):
        path[row['depth']:] = [label(row)]
        result[tuple(path)] = add(result[tuple(path)], attributed(row, metrics))
    return dict(result)


# What the files themselves say, by the description in log.xml

MALLOC, FREE, REALLOC = range(3)  # types of heap events


def packets(path):
    """(kind, bytes): a size of 0 means that the rest of 16 KiB is empty."""
    data, offset = path.read_bytes(), 0
    while offset + 4 <= len(data):
        size, kind = struct.unpack_from('<HH', data, offset)
        if size:
            yield kind, data[offset:offset + size]
        offset = offset + size if size else (offset // 16384 + 1) * 16384


def heap_events(process):
    """(time, type, size, address, old address) by time."""
    log = (process / 'log.xml').read_text(errors='replace')
    about = log[log.index('<profile name="heaptrace"'):]
    kind = int(re.search(r'<profpckt kind="(\d+)"', about)[1])
    at = {name: int(offset) for name, offset in re.findall(r'<field name="(\w+)".*? offset="(\d+)"', about[:about.index('</profile>')])}
    return sorted((struct.unpack_from('<Q', data, at['TSTAMP'])[0], struct.unpack_from('<I', data, at['HTYPE'])[0],
                   *(struct.unpack_from('<Q', data, at[name])[0] for name in ('HSIZE', 'HVADDR', 'HOVADDR')))
                  for number, data in packets(process / 'heaptrace') if number == kind)


def sizes(experiment):
    """Of all allocations."""
    return [size for _, kind, size, address, _ in heap_events(experiment) if kind in (MALLOC, REALLOC) and address]


def leaks(experiment):
    """
    (blocks, bytes) never released: as they are, and as gprofng counts them. Where an allocation has the address of a block that is
    still there, that block's release was not recorded: gprofng has both leak, and follows the first.
    """
    sums = [[0, 0], [0, 0]]
    for process in (experiment, *experiment.glob('_*.er')):
        events = heap_events(process)
        for which, total in enumerate(sums):
            for size in left_of(events, which == 1):
                total[0] += 1
                total[1] += size
    return tuple(sums[0]), tuple(sums[1])


def left_of(events, theirs):
    live, left = {}, {}
    for number, (_, kind, size, address, old) in enumerate(events):
        released = address if kind == FREE else old if kind == REALLOC else 0
        if released in live:
            left.pop(live.pop(released))
        if kind not in (MALLOC, REALLOC) or not address:
            continue
        if address in live and not theirs:
            left.pop(live.pop(address))
        live.setdefault(address, number)
        left[number] = size
    return left.values()


# Lines and instructions: {what: values}, with metrics as for functions

def places(experiment, metrics, command):
    """`-lines` or `-pcs`: {name: values}"""
    row = re.compile(rf'^ *((?:{VALUE} +){{{len(metrics)}}})(\S.*)$')
    lines = display(experiment, '-metrics', ':'.join(metrics) + ':name', command).splitlines()
    return {found[2]: parse_values(found[1]) for found in map(row.match, lines) if found}


def listing(experiment, metrics, command, function):
    """`-source` or `-disasm`: {line or address: values}"""
    at = r' *([0-9]+)\. ' if command == '-source' else r' *\[ *[0-9?]+\] +([0-9a-f]+): '
    row = re.compile(rf'^(?:##|  ) *((?:{VALUE} +){{{len(metrics)}}}){at}')
    lines = display(experiment, '-metrics', ':'.join(metrics) + ':name', command, function).splitlines()
    return {int(found[2], 10 if command == '-source' else 16): parse_values(found[1]) for found in map(row.match, lines) if found}


def our_places(t, experiment, metrics, command):
    keys = [f'{metric[0]}.{metric[2:]}' for metric in metrics]
    return {row['name']: tuple(row[key] for key in keys) for row in ours(t, experiment, ':'.join(metrics) + ':name', command)}


def our_listing(t, experiment, metrics, command, function):
    keys = [f'{metric[0]}.{metric[2:]}' for metric in metrics]
    kind, place = ('source', 'line') if command == '-source' else ('instruction', 'address')
    return {row[place]: tuple(row[key] for key in keys) for row in ours(t, experiment, ':'.join(metrics) + ':name', command, function)
            if row['kind'] == kind and keys[0] in row}
