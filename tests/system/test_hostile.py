# SPDX-License-Identifier: Apache-2.0
"""
What reading an object costs is bounded by its size: memory at most 8 times that and 64 MB, and time that grows as it does.
The objects are of hostile.py, each in two sizes; both are the kernel's account of a process of its own. So it is with map.xml.
"""
import os
import pathlib
import random
import re
import shutil
import struct
import sys

import hostile
from harness import test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'reader'))
import make_golden as golden  # noqa: E402

TIMES, BESIDE = 8, 64 << 20  # bytes of memory for each of the file, and beside those
KEPT_WAITS_TIMES = 20  # where each wait is kept in order of time: docs/security.md
KNOWN_WAITS_TIMES = 40  # where it is known of some who had the lock: docs/security.md
GROWTH = 4  # of a kind's second size
# In a process that is small itself: what an exec left behind counts as the new program's.
RUN = '''
import os, sys
child = os.fork()
if not child:
    null = os.open('/dev/null', os.O_WRONLY)
    os.dup2(null, 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.WIFSIGNALED(status) or os.WEXITSTATUS(status) > 1, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
'''
WORDS = {'-func': ['-func'], '-disasm': ['-disasm', 'main'], '-source': ['-source', 'all', '-1', '-disasm', 'main']}


def spend(t, *command):
    """CPU time and memory of a command of helio, which reads events; its messages."""
    result = t.run(t.need('python3'), '-S', '-c', RUN, t.helio, *command, env={'HELIO_CACHE': 'off'})
    crashed, seconds, memory = result.out.split()
    t.equal(crashed, 'False', f'crash ({result.err[-300:]})')
    return float(seconds), int(memory), result.err


def ask(t, data, what):
    """The same of a `helio src` that asks for all."""
    path = t.directory / 'object'
    path.write_bytes(data)
    return spend(t, 'src', *WORDS[what], path)


def bounded(t, *kinds):
    least = {what: ask(t, hostile.many_rows(100), what)[0] for what in WORDS}
    for kind in kinds:
        make, size, what = hostile.KINDS[kind]
        spent = []
        for n in size, GROWTH * size:
            data = make(n)
            seconds, memory, messages = ask(t, data, what)
            t.check(memory <= TIMES * len(data) + BESIDE, f'{kind}: {memory >> 20} MB for a file of {len(data) / (1 << 20):.1f} MB ({messages[-200:]})')
            spent.append(seconds)
        # twice what is linear is less than half of what is quadratic
        allowed = 2 * GROWTH * (spent[0] + least[what])
        t.within(spent[1] <= allowed, f'{kind}: {spent[1]:.3f} s, and {spent[0]:.3f} s for a {GROWTH}th of the size')


@test(alone=True)
def symbols(t):
    """A million symbols: apart, at one address, in each other, of one name, and names that share their letters."""
    bounded(t, 'many_symbols', 'symbols_at_one_address', 'symbols_in_each_other', 'symbols_of_one_name', 'symbols_with_long_endings')


@test(alone=True)
def line_programs(t):
    bounded(t, 'many_rows', 'many_rows_apart', 'tables_in_each_other', 'many_sequences', 'many_files', 'a_row_for_each_file')


@test(alone=True)
def units_and_abbreviations(t):
    bounded(t, 'many_abbreviations', 'units_that_share_abbreviations', 'units_with_abbreviations_in_each_other', 'many_attributes', 'many_units', 'skeletons')


@test(alone=True)
def ranges_and_calls(t):
    bounded(t, 'ranges_of_one_unit', 'units_that_share_ranges', 'calls_in_calls')


@test(alone=True)
def compressed_sections(t):
    """What unpacks to a thousand times as much or more, by zlib, zstd and xz."""
    bounded(t, 'zlib_bomb', 'zstd_bomb', 'zlib_of_infos', 'zstd_of_infos', 'xz_bomb')


# What is refused of them, how large it is then (in first sizes), and the words for it.
REFUSED = {
    'symbols_with_long_endings': (GROWTH, 'names lie in one another'),
    'many_rows_apart': (GROWTH, 'again and again, and not all of it is read'),
    'tables_in_each_other': (1, 'again and again, and not all of it is read'),
    'units_that_share_ranges': (1, 'again and again, and not all of it is read'),
    'many_abbreviations': (2, 'again and again; none of it is read'),
    'units_that_share_abbreviations': (1, 'again and again; none of it is read'),
    'units_with_abbreviations_in_each_other': (1, 'again and again; none of it is read'),
    'many_attributes': (1, 'again and again; none of it is read'),
    'many_units': (1, 'again and again; none of it is read'),
    'skeletons': (GROWTH, 'again and again; none of it is read'),
    'zlib_bomb': (1 / 4, 'cannot be unpacked'),
    'zstd_bomb': (1 / 4, 'cannot be unpacked'),
    'zlib_of_infos': (2, 'cannot be unpacked'),
    'zstd_of_infos': (2, 'cannot be unpacked'),
    'xz_bomb': (3 / 4, 'would be too large'),
}


@test
def what_is_not_read_is_said(t):
    """What is refused is not read in silence: a message says why. What is small is read."""
    for kind, (times, message) in REFUSED.items():
        make, size, what = hostile.KINDS[kind]
        _, _, messages = ask(t, make(int(times * size)), what)
        t.check(message in messages, f'{kind}: {messages}')
        _, _, messages = ask(t, make(min(1000, size // 250)), what)
        t.check(message not in messages, f'{kind}, small: {messages}')


# Where the first of many stacks goes through: lower addresses may stand for something else (FORMAT_PSEUDO_PCS).
STACKS_FROM = 4096

# Lines of map.xml: as short as they may be, one file or function each, apart or within the next one; and whether stacks go through all.
MAPS = {
    'files': (lambda i, n: f'<event kind="map" vaddr="{STACKS_FROM + i * 16}" size="1" bias="0" name="{i:x}"/>\n', False),
    'files within each other': (lambda i, n: f'<event kind="map" vaddr="{i}" size="{2 * (n - i)}" bias="0" name="{i:x}"/>\n', False),
    'files in stacks': (lambda i, n: f'<event kind="map" vaddr="{STACKS_FROM + i * 16}" size="1" bias="0" name="{i:x}"/>\n', True),
    'functions in stacks': (lambda i, n: f'<event kind="load" vaddr="{STACKS_FROM + i * 16}" size="1" name="f{i:x}"/>\n', True),
}


def a_stack_at_each(path, count):
    """A stack of one call for each 16 bytes from STACKS_FROM + 16 on, and an event for each."""
    stacks, time = [golden.file_header('stacks', 128)], 0
    profile, events = [golden.file_header('profile', 96)], golden.Events().thread(1, 12, 0)
    for first in range(1, count + 1, 4096):
        number = min(4096, count + 1 - first)
        nodes = (golden.varint(first + i) + b'\0' + golden.zigzag(16 if i else STACKS_FROM + 16 * first) for i in range(number))
        stacks.append(golden.block(b''.join(nodes), 3, first, count=number))
        for node in range(first, first + number):
            time += 1
            events.event(time, 1, 'user', node)
        profile.append(events.block())
        events = golden.Events(1, time)
    golden.write(path, 'stacks', b''.join(stacks))
    golden.write(path, 'profile', b''.join(profile) + events.end(time).block())


def map_of(path, kind, count):
    """An experiment with so many of these lines; its size."""
    make, in_stacks = MAPS[kind]
    shutil.rmtree(path, ignore_errors=True)
    golden.founder(path)
    golden.write(path, 'map.xml', golden.MAP.split('<event')[0] + ''.join(make(i, count) for i in range(1, count + 1)) + '</maps>\n')
    if in_stacks:
        a_stack_at_each(path, count)
    return sum(file.stat().st_size for file in path.iterdir())


@test(alone=True)
def maps(t):
    """A hundred thousand load objects that are not there, or functions made at run time."""
    path = t.directory / 'hostile.er'
    map_of(path, 'files', 10)
    least = spend(t, 'print', '-functions', path)[0]
    for kind in MAPS:
        spent = []
        for count in 30000, GROWTH * 30000:
            size = map_of(path, kind, count)
            seconds, memory, messages = spend(t, 'print', '-functions', path)
            t.check(memory <= TIMES * size + BESIDE, f'{kind}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
            spent.append(seconds)
        allowed = 2 * GROWTH * (spent[0] + least)
        t.within(spent[1] <= allowed, f'{kind}: {spent[1]:.3f} s, and {spent[0]:.3f} s for a {GROWTH}th of them')


# Lines of log.xml.
LOGS = {
    'engines': lambda i: '<event kind="engine" name="m"/>\n',
    'children': lambda i: f'<event kind="reaped" tstamp="{5000 + i}" pid="{1000 + i}" status="0" user_us="1000" system_us="1"/>\n',
    'children with names': lambda i: f'<event kind="child_exec" tstamp="{5000 + i}" pid="{1000 + i}" name="n{i:x}" lineage="_f{i}"/>\n'
                                     f'<event kind="reaped" tstamp="{5000 + i}" pid="{1000 + i}" status="0" user_us="1000" system_us="1"/>\n',
}


@test(alone=True)
def logs(t):
    """Engines that follow one another without end, and children that nothing was recorded of: what all commands read first."""
    path = t.directory / 'hostile.er'
    for kind, make in LOGS.items():
        spent = []
        for count in 10000, GROWTH * 10000:
            shutil.rmtree(path, ignore_errors=True)
            golden.founder(path)
            log = path / 'log.xml'
            lines = ''.join(make(i) for i in range(1, count + 1))
            log.write_text(log.read_text().replace('<argument', '<setting name="follow" value="on"/>\n<argument', 1).replace('</experiment>', lines + '</experiment>'))
            size = sum(file.stat().st_size for file in path.iterdir())
            worst = []
            for words in ('print', '-header', '-func', '-report'), ('check',), ('ls',):
                seconds, memory, messages = spend(t, *words, path)
                t.check(memory <= TIMES * size + BESIDE, f'{kind}, {words}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
                worst.append(seconds)
            spent.append(sum(worst))
        t.within(spent[1] <= 2 * GROWTH * (spent[0] + 0.1), f'{kind}: {spent[1]:.3f} s, and {spent[0]:.3f} s for a {GROWTH}th of them')
    names = re.findall(r'<not recorded: (n[0-9a-f]+)>', t.run(t.helio, 'print', '-limit', '0', '-functions', path).out)
    t.equal(sorted(names), sorted(f'n{i:x}' for i in range(1, count + 1)), 'functions of processes that were not recorded')
    t.check(f'{count - 1000} others' in t.run(t.helio, 'print', '-processes', path).out, 'their number is not said')


@test(alone=True)
def processes_of_one_number(t):
    """Descendants in namespaces that call themselves the same, and ends of such a one before any began: to look for it costs little more than for one that nobody is."""
    path, count = t.directory / 'hostile.er', 2000
    golden.founder(path)
    founder = (path / 'log.xml').read_text()
    for i in range(1, count + 1):
        below = path / f'_f{i}.er'
        below.mkdir()
        process = golden.PROCESS.format(pid=1000 + i, lineage=f'_f{i}', tstamp=5000 + i).replace('<process ', '<process own_pid="7" ', 1)
        golden.write(below, 'log.xml', golden.LOG.split('<system')[0] + process + '</experiment>\n')
    spent = []
    for pid in 8, 7:
        golden.write(path, 'log.xml', founder.replace('</experiment>', f'<event kind="reaped" tstamp="1" pid="{pid}" status="0"/>\n' * 60 * count + '</experiment>'))
        spent.append(spend(t, 'ls', path)[0])
    t.within(spent[1] <= 1.6 * spent[0], f'{spent[1]:.3f} s, and {spent[0]:.3f} s for what nobody is')


@test
def events_for_programs(t):
    """What JSON alone has of each event of a log costs those who read text nothing."""
    path = t.directory / 'hostile.er'
    golden.founder(path)
    log = path / 'log.xml'
    lines = ''.join(f'<event kind="{"resume" if i % 2 else "pause"}" tstamp="{i}"/>\n' for i in range(200000))
    log.write_text(log.read_text().replace('</experiment>', lines + '</experiment>'))
    size = log.stat().st_size
    _, memory, messages = spend(t, 'print', '-header', path)
    t.check(memory <= TIMES * size + BESIDE, f'{memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
    t.check(len(t.print(path, '-header')[0]['rows'][0]['events']) >= 200000, 'events in JSON')
    log.write_text(re.sub('<event kind="(?:resume|pause)" tstamp="([0-9]+)"/>', r'<event kind="warning" text="w\1"/>', log.read_text()))
    size = log.stat().st_size
    _, memory, messages = spend(t, 'print', '-report', path)
    t.check(memory <= TIMES * size + BESIDE, f'report: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
    shown = t.run(t.helio, 'print', '-report', path).out
    told = re.search('([0-9]+) more warnings', shown)
    t.check(told and int(told[1]) >= 200000 - 100, f'report says: {shown[-2000:]}')


@test
def an_engine_without_a_name(t):
    golden.founder(t.directory / 'hostile.er')
    log = t.directory / 'hostile.er' / 'log.xml'
    log.write_text(log.read_text().replace('</experiment>', '<event kind="engine"/>\n<event kind="engine" name="monitor"/>\n</experiment>'))
    shown = t.run(t.helio, 'info', t.directory / 'hostile.er').out
    t.check(re.search(r'^Engine +perf, then monitor$', shown, re.M), shown)


def each_node(count):
    """An event at each node of the stacks."""
    events = golden.Events().thread(1, 12, 0)
    events.data += (b'\x40\1' + golden.zigzag(1)) * count
    return {'profile': golden.file_header('profile', 96) + events.end(count).block()}


def stacks_of(nodes, count):
    return {'stacks': golden.file_header('stacks', 128) + golden.block(nodes, 3, 1, count=count), **each_node(count)}


def threads(count):
    """Threads of one event each, as short as they may be."""
    one = (b'\x80' + golden.varint(i) + golden.varint(i + 12) + b'\0\x50\1\x81\1' for i in range(1, count + 1))
    return {'profile': golden.file_header('profile', 96) + golden.block(b''.join(one), 1, 0)}


def trace(name, records):
    return {name: golden.file_header(name) + golden.block(records, 4, 1)}


def blocks_of_threads(count):
    """Threads of two live allocations each, between which all others have theirs."""
    one = (b'\x80' + golden.varint(i % count + 1) + b'\x20\1' + golden.zigzag(16) + b'\1' for i in range(2 * count))
    return trace('heaptrace', b''.join(one))


def named(count):
    texts = b''.join(b'\x85' + golden.varint(i) + b'\1a' for i in range(1, count + 1))
    return texts + b''.join(b'\x20\1' + golden.varint(i) + b'\1' + golden.varint(i) + b'\1' for i in range(1, count + 1))


def communicators(count):
    """A message in each, of ten million members."""
    texts = b'\x85\1\1a' + b''.join(b'\x85' + golden.varint(i) + golden.varint(len(b'#%d:0-9999999' % i)) + b'#%d:0-9999999' % i for i in range(2, count + 2))
    return texts + b''.join(b'\x20\1\1\1' + golden.varint(i) + b'\4\3\1' for i in range(2, count + 2))


def chain_and_leaves(count, outer):
    """Nodes 1 to count + 1: one within the other, the first at `outer`; and then as many beside them."""
    chain = b'\1\0' + golden.zigzag(outer) + b'\1\0' + golden.zigzag(0x400100 - outer) + b'\1\1' * (count - 1)
    leaves = b''.join(golden.varint(count + 2 + i) + b'\0' + golden.zigzag(2) for i in range(count))
    return golden.file_header('stacks', 128) + golden.block(chain + leaves, 3, 1, count=2 * count + 1)


def at_the_end_of_the_chain(count, context):
    """An event there in each of so many contexts."""
    events = golden.Events().thread(1, 12, 0)
    events.data += b''.join(b'\x87' + context(i) + b'\x40\1' + golden.zigzag(count + 1 if not i else 0) for i in range(count))
    return golden.file_header('profile', 96) + events.end(count).block()


def in_constructs(count):
    """OpenMP constructs that were reached by a call stack each, and an event in each, deep below the runtime."""
    records = b''.join(b'\0\1' + golden.zigzag(1 if i else count + 2) + golden.varint(i + 1) + b'\0\0\0' + golden.varint(0x400100) for i in range(count))
    return {'map.xml': golden.MAP.replace('/lib/first.so', '/lib/libgomp.so.1').replace('/lib/second.so', '/lib/libgomp.so.1'),
            'stacks': chain_and_leaves(count, 0x700100), **trace('omptrace', records),
            'profile': at_the_end_of_the_chain(count, lambda i: b'\1\2\2' + golden.varint(i + 1))}


def in_java_stacks(count):
    """Java stacks of one method each, and an event in each, deep in native code below a method made at run time."""
    return {'stacks': chain_and_leaves(count, 0x600000), 'profile': at_the_end_of_the_chain(count, lambda i: b'\2\1' + golden.varint(count + 2 + i))}


def collections(count):
    """Garbage collections of one thread."""
    events = golden.Events().thread(1, 12, 0).event(100, 100, 'user', 2)
    events.data += b'\x8b\1\1' * count
    return {'profile': golden.file_header('profile', 96) + events.end(200).block()}


# What others than map.xml and log.xml tell, each in as few bytes as there can be: how many at first, the files, a setting, commands.
RECORDINGS = {
    'events': (1 << 20, lambda n: {'profile': golden.file_header('profile', 96) + golden.Events().thread(1, 12, 0).event(100, 100, 'user', 2).block()
                                   + golden.block(b'\x70' * n, 1, 1, 100)}, '', ['-functions', '-threads', '-timeline', '-report']),
    'threads': (50000, threads, '', ['-functions', '-threads', '-timeline', '-report']),
    'stacks side by side': (50000, lambda n: stacks_of(b''.join(golden.varint(i) + b'\0' + golden.zigzag(2 if i > 1 else 0x400000) for i in range(1, n + 1)), n),
                            '', ['-functions', '-calltree', '-callers-callees', '-pcs', '-report', '-stacks']),
    'stacks in one another': (50000, lambda n: stacks_of(b'\1\0' + golden.zigzag(0x400000) + b'\1\0\2' * (n - 1), n),
                              '', ['-functions', '-calltree', '-callers-callees', '-pcs', '-report', '-flamegraph']),
    'samples': (10000, lambda n: {'overview': golden.file_header('overview') + b''.join(golden.sample(i, 0, f'{i}') for i in range(n))}, '',
                ['-overview', '-samples', '-header']),
    'blocks': (200000, lambda n: trace('heaptrace', (b'\x20\1' + golden.zigzag(16) + b'\1') * n), 'heap', ['-leaks', '-allocs', '-heapstat', '-report']),
    'blocks of many threads': (20000, blocks_of_threads, 'heap', ['-leaks', '-functions']),
    'locks': (200000, lambda n: trace('synctrace', (b'\x20\1' + golden.zigzag(16) + b'\1') * n), 'sync', ['-locks', '-lockholds', '-functions', '-report']),
    'collections': (100000, collections, 'java', ['-functions', '-gcevents', '-timeline', '-report']),
    'communicators': (20, lambda n: trace('mpitrace', communicators(n)), 'mpi', ['-mpistat', '-mpimatrix', '-mpiwaits', '-mpimessages', '-mpicomms', '-report']),
    'stacks in constructs': (2000, in_constructs, 'openmp', ['-functions', '-calltree', '-viewmode', 'expert', '-functions', '-report']),
    'stacks in Java stacks': (2000, in_java_stacks, 'java', ['-functions', '-calltree', '-viewmode', 'expert', '-functions', '-report']),
    'files': (100000, lambda n: trace('iotrace', named(n)), 'io', ['-ioactivity', '-iodetail', '-iostat', '-report']),
}


def with_setting(path, name, files):
    """A founder that was asked for a kind of data, with these files of it."""
    shutil.rmtree(path, ignore_errors=True)
    golden.founder(path)
    log = path / 'log.xml'
    log.write_text(log.read_text().replace('<argument', f'<setting name="{name}" value="all"/>\n<argument', 1))
    for file, data in files.items():
        golden.write(path, file, data)


def record(path, kind, number):
    """An experiment with so many of a kind; its size."""
    _, make, setting, _ = RECORDINGS[kind]
    with_setting(path, setting, make(number))
    return sum(file.stat().st_size for file in path.iterdir())


# So many of each kind make files of 3 to 4 MB.
LARGE = {'events': 4 << 20, 'threads': 340000, 'stacks side by side': 500000, 'stacks in one another': 560000, 'samples': 23000, 'blocks': 1000000,
           'blocks of many threads': 250000, 'locks': 1000000, 'collections': 1300000, 'communicators': 130000, 'stacks in constructs': 134000, 'stacks in Java stacks': 250000,
           'files': 250000}


# Records of each kind of data with an event that a view with lists of threads has, behind what says whose it is.
FAR = golden.varint(0xffff << 32 | 1)  # of 64 bits: no thread and no construct has such a number
OF_NO_THREAD = {
    'heap': ('heaptrace', b'', b'\x60\1' + golden.zigzag(16) + golden.varint(64) + b'\0\0', ['-leaks', '-allocs', '-heapstat']),
    'sync': ('synctrace', b'\x86\1' + golden.zigzag(16), b'\x60\1' + golden.zigzag(0) + b'\1\0' + golden.zigzag(0), ['-locks', '-lockholds', '-lock', '1']),
    'io': ('iotrace', b'\x85\1\1a', b'\x60\1\1\1\1\1' + golden.zigzag(0) + b'\0', ['-ioactivity', '-iodetail', '-iocallstack']),
    'counters': ('hwcounters', b'', b'\x60\1\0\1' + golden.zigzag(0), []),
    'mpi': ('mpitrace', b'\x85\1\1a', b'\x60\1\1\1\2\4\3\1\0\0\0\0\0\0', ['-mpistat', '-mpimessages']),
    'openmp': ('omptrace', b'', b'\x60\1\1\0\0\0\1\0\0\0\0\0\0\0', ['-OMP_preg', '-OMP_task', '-locks']),
    'java_heap': ('jheaptrace', b'\x85\1\1a', b'\x60\1\1\x10\1\1', ['-jthreads']),
}
WITH_THREADS = ['-limit', '20', '-threads', '-timeline', '-timeline', '-events', '0', '50', '-stacks', '-statistics', '-functions', '-report']


@test
def threads_of_64_bits(t):
    """Whoever is numbered so is no thread: what follows is damage, which is said, and what came before it is there."""
    path = t.directory / 'hostile.er'
    for kind, (name, before, event, views) in OF_NO_THREAD.items():
        with_setting(path, kind, trace(name, before + b'\x80' + FAR + event))
        _, _, messages = spend(t, 'print', *WITH_THREADS, *views, path)
        lost = 1 + len(FAR) + len(event)
        t.check(f'{name} is damaged: {lost} of its bytes could not be read' in messages, f'{kind}: {messages}')
    events = golden.Events().thread(1, 12, 0).event(100, 100, 'user', 2)
    kept = golden.Events().thread(1, 12, 0).event(100, 100, 'user', 2).block()
    events.data += b'\x80' + FAR + b'\x0c\0\x40\1\0'
    with_setting(path, 'clock', {'profile': golden.file_header('profile', 96) + events.block()})
    _, _, messages = spend(t, 'print', *WITH_THREADS, path)
    t.check(f'profile is damaged: {len(FAR) + 6} of its bytes could not be read' in messages, f'profile: {messages}')
    damaged = t.print(path, '-threads')[0]['rows']
    golden.write(path, 'profile', golden.file_header('profile', 96) + kept)
    t.equal(damaged, t.print(path, '-threads')[0]['rows'], 'threads without what is damaged')


@test
def constructs_of_64_bits(t):
    """An event in a construct of OpenMP whose number no construct can have: it is not known in which it was."""
    path = t.directory / 'hostile.er'
    events = golden.Events().thread(1, 12, 0)
    events.data += b'\x87\1\3\2' + FAR * 2
    profile = golden.file_header('profile', 96) + events.event(100, 100, 'user', 2).end(200).block()
    with_setting(path, 'openmp', {'profile': profile, **trace('omptrace', OF_NO_THREAD['openmp'][2])})
    for view in '-OMP_preg', '-OMP_task':
        _, _, messages = spend(t, 'print', *WITH_THREADS, view, path)
        names = [row['name'] for row in t.print(path, view)[0]['rows']]
        t.check('<Unknown>' in names, f'{view}: {names} ({messages})')


# Kinds of which even the least take no more than 8 times their size, beside what an experiment of nothing takes: how many, and what is asked.
DENSE = {
    'threads': (400000, ['-functions'], ['-header', '-statistics'], ['check']),
    'blocks': (1000000, ['-functions'], ['-leaks'], ['-allocs'], ['-heapstat'], ['check']),
}


@test(alone=True)
def what_is_dense(t):
    """Threads and live allocations, each of as few bytes as it can have."""
    path, empty = t.directory / 'hostile.er', t.directory / 'empty.er'
    golden.founder(empty)
    for kind, (number, *questions) in DENSE.items():
        size = record(path, kind, number)
        for words in questions:
            words = words if words == ['check'] else ['print', '-limit', '20', *words]
            _, memory, messages = spend(t, *words, path)
            more = memory - spend(t, *words, empty)[1]
            t.check(more <= TIMES * size, f'{kind}, {words}: {more / size:.1f} times the size of {size / (1 << 20):.1f} MB ({messages[-200:]})')
    for kind, number, words in ('blocks of many threads', 40000, '-functions'), ('threads', 400000, '-timeline'), ('threads', 400000, '-report'):
        size = record(path, kind, number)
        _, memory, messages = spend(t, 'print', '-limit', '20', words, path)
        t.check(memory <= TIMES * size + BESIDE, f'{kind}, {words}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')


@test
def more_threads_than_lanes(t):
    """Of very many threads the last lane of a timeline is that of all others: nothing is left out."""
    path, count, lanes = t.directory / 'hostile.er', 40000, 1 << 15
    record(path, 'threads', count)
    shown = t.print(path, '-timeline')[0]
    t.equal(len(shown['lanes']), lanes + 1, 'lanes')
    last = shown['lanes'][-1]
    t.equal((last['name'], last['experiment'], last['thread'], last['events']), ('All other threads', 0, 0, {'clock': count - lanes}), 'the last lane')
    t.equal(sum(lane['events']['clock'] for lane in shown['lanes']), count, 'events of all lanes')
    us = [round(1e6 * row['states']['user']) for row in shown['rows'] if row['states']]
    t.equal(sum(us), count, 'us of all cells')
    page = t.print(path, '-timeline', '-events', str(lanes + 1), '10')[0]
    t.equal(({event['lane'] for event in page['rows']}, page['total_events']), ({lanes}, count), 'lanes of the first events of the others')


def questions(kind):
    """One command line for each view that a kind has, and `check`."""
    mode = []
    for word in RECORDINGS[kind][3]:
        if word == '-viewmode' or mode[-1:] == ['-viewmode']:
            mode.append(word)
            continue
        yield ['print', '-limit', '20', *mode, word]
    yield ['check']


@test(alone=True)
def recordings(t):
    """Events, threads, call stacks and traces of as few bytes as there can be: what each view of them takes is bounded by their size, and time grows as that does."""
    few, path, empty = (t.directory / name for name in ('few.er', 'hostile.er', 'empty.er'))
    golden.founder(empty)
    least = spend(t, 'print', '-functions', empty)[0]
    for kind, number in LARGE.items():
        record(few, kind, number // GROWTH)
        size = record(path, kind, number)
        for words in questions(kind):
            for _ in range(3):  # one after the other, as a machine is not always as fast
                before = spend(t, *words, few)[0]
                seconds, memory, messages = spend(t, *words, path)
                if seconds <= 2 * GROWTH * (before + least):
                    break
            print(f'{kind}, {" ".join(words)}: {memory / size:.1f} times {size / (1 << 20):.1f} MB')
            times = KEPT_WAITS_TIMES if '-lockholds' in words else TIMES
            t.check(memory <= times * size + BESIDE, f'{kind}, {words}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
            t.within(seconds <= 2 * GROWTH * (before + least), f'{kind}, {words}: {seconds:.3f} s, and {before:.3f} s for a {GROWTH}th of them')


def sync_of(records):
    """A block of synctrace: (thread, dt, object) of a release, (thread, dt, object, waited, owner) of a wait for a mutex."""
    data, thread, object_, owner = bytearray(), 1, 0, 0
    for who, dt, what, *wait in records:
        data += b'\x80' + golden.varint(who) if who != thread else b''
        data += (b'\x60' if wait else b'\x86') + golden.varint(dt) + golden.zigzag(what - object_)
        if wait:
            data += golden.varint(wait[0]) + b'\0' + golden.zigzag(wait[1] - owner)
            owner = wait[1]
        thread, object_ = who, what
    return trace('synctrace', bytes(data))


def at_random(chance, count, threads=6):
    """Such records; waits are for one of two mutexes, whose owner is the thread of a tid of 10 more, or nobody knows him."""
    now, records = 0, []
    for _ in range(count):
        dt = chance.randrange(1, 50)
        now += dt
        who, what = chance.randrange(1, threads + 1), chance.choice((16, 64))
        if chance.random() < 0.4:
            records.append((who, dt, what))
        else:
            waited = chance.choice((0, min(now, chance.randrange(1, 20)), chance.randrange(1, now + 1), now))
            records.append((who, dt, what, waited, chance.choice((0, 99, 10 + chance.randrange(1, threads + 1)))))
    return records


def pieces_by_the_rules(records):
    """(holder, mutex, begin, end, waiter) of each time in a wait in which one had it who is known: he who had it then, or was granted it since; and the rest."""
    now, changes, waits = 0, [], []
    for who, dt, what, *wait in records:
        now += dt
        changes.append((now, what, who if wait else None))
        if wait:
            owner = wait[1] - 10
            waits.append((now - wait[0], now, what, who, owner if 1 <= owner <= 6 else None))
    unknown = 0
    for begin, end, what, who, holder in waits:
        for at, _, after in [change for change in changes if change[1] == what and begin < change[0] < end] + [(end, what, None)]:
            if holder:
                yield holder, what, begin, at, who
            else:
                unknown += at - begin
            begin, holder = at, after
    yield unknown


def holds_by_the_rules(pieces):
    """What one had at once or without a gap between is one hold: (begin, end, holder, mutex, waits, waited, the first four who waited)."""
    holds = {}
    for holder, what, begin, end, who in sorted(pieces, key=lambda piece: (piece[2], piece[4], piece[3])):
        if begin == end:
            continue
        own = holds.setdefault((holder, what), [])
        if not own or begin > own[-1][1]:
            own.append([begin, end, holder, what, 0, 0, []])
        hold = own[-1]
        hold[1], hold[4], hold[5] = max(hold[1], end), hold[4] + 1, hold[5] + end - begin
        if who not in hold[6]:
            hold[6].append(who)
    return sorted([*hold[:6], hold[6][:4]] for own in holds.values() for hold in own)


def six_threads():
    """Of tids of 10 more, each as long as all."""
    events = golden.Events()
    for i in range(1, 7):
        events.thread(i, 10 + i, 0).end(1000000)
    return {'profile': golden.file_header('profile', 96) + events.block()}


@test
def who_had_what_by_the_rules(t):
    """Waits and releases in no order that makes sense: lockholds is what a loop over each wait and each change says, to the ns."""
    path, chance = t.directory / 'hostile.er', random.Random(7)
    for count in (*range(1, 30), 100, 300):
        records = [(1, 1, 8), *at_random(chance, count)]
        with_setting(path, 'sync', {**six_threads(), **sync_of(records)})
        *pieces, unknown = pieces_by_the_rules(records)
        shown = t.print(path, '-lockholds', '0')[0]
        rows = [[round(1e9 * row['begin_s']), round(1e9 * row['end_s']), row['thread'], int(row['lock'].split()[0], 16), row['waits'], round(1e9 * row['waited_s']),
                 [int(re.search('Thread ([0-9]+)', name)[1]) for name in row['waiters']]] for row in shown['rows']]
        t.equal(sorted(rows), holds_by_the_rules(pieces), f'{count} records')
        t.equal(round(1e9 * shown['unknown_s']), unknown, f'{count} records: ns of waits, for whom is not known')


def all_since_the_begin(count):
    """Grants of one mutex, one after the other, to who has waited for it since the begin."""
    return sync_of([(1, 1, 16), *((1, 1, 16, i, 0) for i in range(1, count + 1))])


def nobodys_owners(count):
    """As many threads as waits for mutexes, each of which somebody had whom nobody knows."""
    return {**threads(count), **sync_of([(1, 1, 16), *((1, 1, 16, 1, 10000000 + i) for i in range(count))])}


@test(alone=True)
def waits_for_a_lock(t):
    """All holders of a lock while all wait for it, and owners whom nobody knows: what that costs grows as the file does."""
    few, path, empty = (t.directory / name for name in ('few.er', 'hostile.er', 'empty.er'))
    golden.founder(empty)
    least = spend(t, 'print', '-functions', empty)[0]
    for make, number in (all_since_the_begin, 100000), (nobodys_owners, 20000):
        with_setting(few, 'sync', make(number))
        with_setting(path, 'sync', make(GROWTH * number))
        size = sum(file.stat().st_size for file in path.iterdir())
        for words in ['-lockholds'], ['-lock', '1']:
            before = spend(t, 'print', '-limit', '20', *words, few)[0]
            seconds, memory, messages = spend(t, 'print', '-limit', '20', *words, path)
            print(f'{make.__name__}, {words}: {memory >> 20} MB for {size / (1 << 20):.1f} MB, {seconds:.3f} s, {before:.3f} s')
            t.check(memory <= KNOWN_WAITS_TIMES * size + BESIDE, f'{make.__name__}, {words}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
            t.within(seconds <= 2 * GROWTH * (before + least), f'{make.__name__}, {words}: {seconds:.3f} s, and {before:.3f} s for a {GROWTH}th of them')


@test
def an_owner_who_comes_to_be(t):
    """A thread id that nobody had at one wait, and a thread has at the next."""
    path = t.directory / 'hostile.er'
    records = [(1, 1, 8), (1, 150000000 - 1, 16, 50000000, 14), (1, 250000000, 16, 100000000, 14)]  # thread 2 of the founder begins at 0.25 s
    with_setting(path, 'sync', sync_of(records))
    held, lock = t.print(path, '-lockholds', '-lock', '1')
    t.equal([(row['thread'], row['waits'], round(row['waited_s'], 9)) for row in held['rows']], [(2, 1, 0.1)], 'holds')
    t.near(held['unknown_s'], 0.05, 's of the wait for nobody', absolute=1e-9)
    holders = sorted(row['holder'].split(' (')[0] for row in lock['rows'] if row.get('holder'))
    t.equal(holders, ['Process 1, Thread 2', 'tid 14'], 'who had it')


@test
def more_locks_than_are_kept(t):
    """Of hundreds of thousands of locks the events are gone through several times: the list, its total and each lock are what they are at once."""
    path, count = t.directory / 'hostile.er', 140000  # more than PLAIN_ALWAYS of lock_scan.c
    waits = [i * 7919 % count + 1 for i in range(count)]  # each once, in no order
    before, records = 0, []
    for i, wait in enumerate(waits):
        records.append(b'\x20' + golden.varint(1) + golden.zigzag(8 * (i + 1) - before) + golden.varint(wait))
        before = 8 * (i + 1)
    record(path, 'locks', 1)
    for name, data in trace('synctrace', b''.join(records)).items():
        golden.write(path, name, data)
    all_rows = t.print(path, '-limit', '0', '-locks')[0]
    t.equal(len(all_rows['rows']), count + 1, 'all locks')
    order = sorted(range(count), key=lambda i: -waits[i])
    t.check(all(f'0x{8 * (i + 1):x} ' in row['name'] for i, row in zip(order, all_rows['rows'][1:])), 'the order of all')
    for limit in 2, 20, 5000:
        shown = t.print(path, '-limit', str(limit), '-locks')[0]
        t.equal(shown['rows'], all_rows['rows'][:limit], f'the first {limit}')
    for which in '1', f'0x{8 * (order[0] + 1):x}':
        t.check(f'0x{8 * (order[0] + 1):x}' in t.run(t.helio, 'print', '-lock', which, path).out, which)
    held = t.print(path, '-lockholds')[0]
    t.equal((held['holds'], held['rows']), (0, []), 'nobody is known to have had one')
    t.near(held['unknown_s'], all_rows['rows'][0]['sync'], 'waited for whom is not known, each wait once', absolute=1e-5)


def locks_of_a_block(path, count):
    """So many waits of 1 ns for a lock each, at each 16th byte from address 16 on: half of them in a block, the others only addresses."""
    record(path, 'locks', 1)
    log = path / 'log.xml'
    log.write_text(log.read_text().replace('<setting name="sync"', '<setting name="heap" value="all"/>\n<setting name="sync"', 1))
    block = b'\x20\1' + golden.zigzag(16) + golden.varint(16 * (count // 2))
    for name, data in {**trace('heaptrace', block), **trace('synctrace', (b'\x20\1' + golden.zigzag(16) + b'\1') * count)}.items():
        golden.write(path, name, data)


@test(alone=True)
def more_named_locks_than_are_kept(t):
    """A filter by names of locks that are hundreds of thousands chooses those that have the name; what it keeps of each is its name."""
    path, counts, spent = t.directory / 'hostile.er', (280000, 840000), []  # halves of these are more than PLAIN_ALWAYS of lock_scan.c
    for count in counts:
        locks_of_a_block(path, count)
        spent.append(spend(t, 'print', '-filters', 'SLOCK IN LOCKNAME("block.*")', '-functions', path)[1])
        for which, waits in ('IN LOCKNAME("block.*")', count // 2), ('IN LOCKNAME("block.* byte (0|16|%d|%d)")' % (8 * count - 16, 8 * count), 3), ('== 1', count // 2):
            rows = t.print(path, '-limit', '2', '-filters', f'SLOCK {which}', '-locks')[-1]['rows']
            t.equal(rows[0]['syncn'], waits, f'{count}: SLOCK {which}')
    each = (spent[1] - spent[0]) / ((counts[1] - counts[0]) // 2)
    t.check(each <= 256, f'{each:.0f} bytes for a lock')


def meet(number, bits):
    """A number whose bits, mixed as by the finaliser of splitmix64, are those of `number` with so many zeros behind: without a secret all have one place."""
    mask = (1 << 64) - 1

    def undo(value, shift):
        result = value
        for _ in range(64 // shift + 1):
            result = value ^ result >> shift
        return result

    mixed = number << bits & mask
    mixed = undo(mixed, 31) * pow(0x94d049bb133111eb, -1, 1 << 64) & mask
    mixed = undo(mixed, 27) * pow(0xbf58476d1ce4e5b9, -1, 1 << 64) & mask
    return undo(mixed, 30)


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def addresses(count):
    """Call stacks of one call each, at addresses that meet."""
    nodes, before = [], 0
    for i in range(1, count + 1):
        address = meet(i, 24)
        nodes.append(golden.varint(i) + b'\0' + golden.zigzag(signed((address - before) % 2**64)))
        before = address
    return stacks_of(b''.join(nodes), count)


def contexts(count):
    """What runtimes say of events: two numbers of one, the second of which undoes what the first does to the hash of both."""
    mask = (1 << 64) - 1

    def mixed(key):
        key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9 & mask
        key = (key ^ key >> 27) * 0x94d049bb133111eb & mask
        return key ^ key >> 31

    data, sums = golden.Events().thread(1, 12, 0), 0
    for place in range(4):  # of the first runtime, which says nothing
        sums = (mixed(sums) + place) & mask
    for i in range(count):
        second = (mixed(sums ^ i) + 4) & mask
        data.data += b'\x87\1\2' + golden.varint(i) + golden.varint(second) + b'\x40\1\0'
    return {'profile': golden.file_header('profile', 96) + data.end(count).block()}


def addresses_of_blocks(count):
    """Allocations whose addresses, times a factor that is known, are small numbers: without a secret all have one place."""
    factor, before, records = pow(0x9e3779b97f4a7c15, -1, 1 << 64), 0, []
    for i in range(1, count + 1):
        address = i * factor % 2**64
        records.append(b'\x20\1' + golden.zigzag(signed((address - before) % 2**64)) + b'\1')
        before = address
    return trace('heaptrace', b''.join(records))


@test(alone=True)
def numbers_that_meet(t):
    """Addresses and contexts that are made to share places in tables, as their hashes are known: each costs as much as any other."""
    path, empty = t.directory / 'hostile.er', t.directory / 'empty.er'
    golden.founder(empty)
    least = spend(t, 'print', '-functions', empty)[0]
    for make in addresses, contexts, addresses_of_blocks:
        spent = []
        for count in 20000, GROWTH * 20000:
            shutil.rmtree(path, ignore_errors=True)
            golden.founder(path)
            for name, data in make(count).items():
                golden.write(path, name, data)
            spent.append(spend(t, 'print', '-limit', '20', '-functions', path)[0])
        t.within(spent[1] <= 2 * GROWTH * (spent[0] + least), f'{make.__name__}: {spent[1]:.3f} s, and {spent[0]:.3f} s for a {GROWTH}th of them')


# Files of a descendant, as small as they may be: what is far away by its number.
DESCENDANTS = {
    'nothing': dict,
    'stacks': lambda: {'stacks': golden.file_header('stacks', 128) + golden.packed((1 << 22) - 2, [(0, 0x401000)])},
    'constructs': lambda: {**trace('omptrace', b'\x20\1' + golden.varint((1 << 20) - 1) + b'\0\0\0\1'),
                           'profile': golden.file_header('profile', 96) + golden.block(b'\x80\1\1\0\x87\1\2\2\1\x50\1', 1, 0)},
    'texts': lambda: trace('iotrace', b'\x85' + golden.varint((1 << 20) - 1) + b'\1a\x20\1\1\1\1\1'),
}


@test(alone=True)
def functions_of_the_parent(t):
    """Descendants of a program that has made many functions: each has those that its call stacks go through."""
    path = t.directory / 'hostile.er'
    for count in 25, GROWTH * 25:
        shutil.rmtree(path, ignore_errors=True)
        golden.founder(path)
        lines = ''.join(f'<event kind="load" vaddr="{4096 + i * 16}" size="16" name="f{i:x}"/>\n' for i in range(1000 * count))
        golden.write(path, 'map.xml', golden.MAP.split('<event')[0] + lines + '</maps>\n')
        for i in range(count):
            below = path / f'_f{i}.er'
            below.mkdir()
            golden.write(below, 'log.xml', golden.LOG.split('<system')[0] + golden.PROCESS.format(pid=1000 + i, lineage=f'_f{i}', tstamp=5000) + '</experiment>\n')
            golden.write(below, 'map.xml', golden.MAP.split('<event')[0] + f'<event kind="inherit" events="{1000 * count}"/>\n</maps>\n')
            golden.write(below, 'stacks', golden.file_header('stacks', 128) + golden.packed(1, [(0, 4096 + 16 * i + 8)]))
            golden.write(below, 'profile', golden.file_header('profile', 96) + golden.Events().thread(1, 1000 + i, 0).event(1000, 1000, 'user', 1).end(1000).block())
        size = sum(file.stat().st_size for file in path.rglob('*') if file.is_file())
        _, memory, messages = spend(t, 'print', '-functions', path)
        t.check(memory <= TIMES * size + BESIDE, f'{memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
    names = {row['name'] for row in t.print(path, '-limit', '0', '-functions')[0]['rows']}
    t.check({f'f{i:x}' for i in range(count)} <= names, 'what the descendants went through has its names')


@test(alone=True)
def descendants(t):
    """Many descendants that are next to nothing."""
    path, least = t.directory / 'hostile.er', {}
    for kind, make in DESCENDANTS.items():
        shutil.rmtree(path, ignore_errors=True)
        golden.founder(path)
        for i in range(100):
            below = path / f'_f{i}.er'
            below.mkdir()
            golden.write(below, 'log.xml', golden.LOG.split('<system')[0] + golden.PROCESS.format(pid=1000 + i, lineage=f'_f{i}', tstamp=5000) + '</experiment>\n')
            for name, data in make().items():
                golden.write(below, name, data)
        size = sum(file.stat().st_size for file in path.rglob('*') if file.is_file())
        for words in ['ls'], ['print', '-limit', '20', '-functions']:
            seconds, memory, messages = spend(t, *words, path)
            t.check(memory <= TIMES * size + BESIDE, f'{kind}, {words}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
            t.within(seconds <= 10 * least.setdefault(words[0], seconds), f'{kind}, {words}: {seconds:.3f} s, and {least[words[0]]:.3f} s for nothing')


def in_one_another(path, count):
    """Each call stack goes through all that were before it, two bytes a node; and an event for each."""
    shutil.rmtree(path, ignore_errors=True)
    golden.founder(path)
    for name, data in stacks_of(b'\1\0' + golden.zigzag(0x401000) + b'\1\1' * (count - 1), count).items():
        golden.write(path, name, data)
    return sum(file.stat().st_size for file in path.iterdir())


@test(alone=True)
def deep_stacks(t):
    """The frames of all stacks are as many as the square of the nodes: not all of them are listed, and each stack that lacks some says so."""
    path = t.directory / 'hostile.er'
    size = in_one_another(path, 30000)
    _, memory, messages = spend(t, 'print', '-limit', '0', '-stacks', path)
    t.check(memory <= TIMES * size + BESIDE, f'{memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
    in_one_another(path, 5000)
    table = t.print(path, '-limit', '0', '-stacks')[0]
    names = [frame['name'] for frame in table['frames']]
    stacks = [row['stack'] for row in table['rows']]
    cut = [stack for stack in stacks if names[stack[-1]] == '<Truncated-stack>']
    whole = [stack for stack in stacks if names[stack[-1]] != '<Truncated-stack>']
    t.equal((len(stacks), len({len(stack) for stack in whole})), (5000, len(whole)), 'stacks, and lengths of whole ones')
    t.check(len(cut) > 1000 and {len(stack) for stack in cut[1:]} == {16}, f'{len(cut)} are cut')


@test
def groups_of_many(t):
    """That a group names none twice is seen in time that grows as their number."""
    count = 1500
    for number in range(GROWTH * count):
        (t.directory / f'{number}.er').mkdir()
    spent = []
    for n in count, GROWTH * count:
        (t.directory / 'many.erg').write_text('#analyzer experiment group\n' + ''.join(f'{number}.er\n' for number in range(n)))
        seconds, _, messages = spend(t, 'print', '-header', t.directory / 'many.erg')
        t.equal(messages.count('no log.xml'), n, messages[-300:])
        spent.append(seconds)
    t.within(spent[1] <= 2 * GROWTH * spent[0], f'{spent[1]:.3f} s, and {spent[0]:.3f} s for a {GROWTH}th of the names')


def spelled(directory, number):
    """One of many paths to an object there."""
    return f'{directory}/' + ''.join('./' if number >> bit & 1 else '/' for bit in range(12)) + 'object'


@test(alone=True)
def one_file_of_many_paths(t):
    """One object under two thousand spellings of its path, and copies kept of two thousand that are links to one: it is read once."""
    path, target = t.directory / 'hostile.er', t.directory / 'object'
    target.write_bytes(hostile.many_symbols(2000))
    for kept in False, True:
        spent = []
        for count in 500, GROWTH * 500:
            shutil.rmtree(path, ignore_errors=True)
            golden.founder(path)
            names = [f'/n/{i:x}' if kept else spelled(t.directory, i) for i in range(1, count + 1)]
            lines = (f'<event kind="map" vaddr="{STACKS_FROM + i * 16}" size="1" bias="{(STACKS_FROM + i * 16 - hostile.CODE) % 2**64}" name="{name}"/>\n' for i, name in enumerate(names, 1))
            golden.write(path, 'map.xml', golden.MAP.split('<event')[0] + ''.join(lines) + '</maps>\n')
            a_stack_at_each(path, count)
            size = target.stat().st_size + sum(file.stat().st_size for file in path.iterdir())
            if kept:
                (path / 'archives').mkdir()
                for name in names:
                    (path / 'archives' / f'{pathlib.Path(name).name}.0-0').symlink_to(target)
            seconds, memory, messages = spend(t, 'print', '-functions', path)
            t.check(memory <= TIMES * size + BESIDE, f'{kept=}: {memory >> 20} MB for {size / (1 << 20):.1f} MB ({messages[-200:]})')
            shown = t.run(t.helio, 'print', '-functions', path).out
            t.equal(len(re.findall(r' f0\b', shown)), count, f'{kept=}: first functions')
            spent.append(seconds)
        t.within(spent[1] <= 2 * GROWTH * (spent[0] + 0.1), f'{kept=}: {spent[1]:.3f} s, and {spent[0]:.3f} s for a {GROWTH}th of the paths')


def named_by(t, name, form, sections=(), attribute=0x76):
    """An object whose unit names another file, for example as the .dwo file (DW_AT_dwo_name) with the rest of it."""
    table = hostile.abbreviation(1, 0x4a, 0, (hostile.LOW, hostile.ADDR), (hostile.HIGH, hostile.DATA8), (hostile.LINES, hostile.SEC_OFFSET),
                                 (attribute, form), (hostile.COMP_DIR, hostile.STRING))
    body = struct.pack('<HBBIQ', 5, 4, 8, 0, 1) + hostile.uleb(1) + struct.pack('<QQI', hostile.CODE, 4096, 0) + name + bytes(t.directory) + b'\0'
    line = hostile.lines(hostile.SET_ADDRESS + b'\x21' * 1000 + hostile.END_SEQUENCE)
    return hostile.dwarf(struct.pack('<I', len(body)) + body, table, line, more=sections)


@test
def debug_files_that_are_pipes(t):
    """Nobody waits for what an object names as its .dwo file, or as the file with its common strings, where that is a pipe."""
    os.mkfifo(t.directory / 'pipe')
    alternate = ('.gnu_debugaltlink', str(t.directory / 'pipe').encode() + b'\0' + bytes(range(20)), {})
    objects = {'.dwo': named_by(t, b'pipe\0', hostile.STRING), 'alternate': named_by(t, bytes(4), 0x1f21, [alternate], hostile.NAME)}
    for what, data in objects.items():
        (t.directory / 'object').write_bytes(data)
        for words in WORDS.values():
            result = t.run(t.helio, 'src', *words, t.directory / 'object', timeout=5)
            t.equal(result.status, 0, f'{what}, {words}: status ({result.err})')
