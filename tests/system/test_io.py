# SPDX-License-Identifier: Apache-2.0
"""
I/O tracing: counts, bytes, names and times that are known by construction of targets/io.c, or that strace
sees of real programs.
"""
import collections
import os
import pathlib
import re
import shutil

from harness import Skip, helio_reader, test
from test_print import validator

COUNTS = ('ioreadcnt', 'ioreadbytes', 'iowritecnt', 'iowritebytes', 'ioerrorcnt')


def record(t, *words, options=(), **more):
    return t.collect(*words, options=('-i', 'on', '-p', 'off', *options), **more)


def part(t, name, options=(), **more):
    return record(t, t.target('io'), name, options=options, cwd=t.directory, **more)


def listing(t, experiment, command, metrics=COUNTS):
    """{name: {metric: value}} of ioactivity or iodetail."""
    spec = ':'.join('e.' + metric for metric in metrics) + ':name'
    rows = [o for o in t.print(experiment, '-metrics', spec, '-' + command) if o['command'] == command][0]['rows']
    return {row['name']: {metric: row['e.' + metric] for metric in metrics} for row in rows}


def counts(row):
    return tuple(row[metric] for metric in COUNTS)


def events(t, result, lineage=''):
    return t.read(result.experiment)[lineage]['traces']['iotrace']


@test
def files(t):
    result = part(t, 'files')
    here = f'{t.directory.resolve()}/'
    rows = listing(t, result.experiment, 'ioactivity')
    t.equal(counts(rows[here + 'data']), (15, 8100, 20, 14600, 0), 'data')
    t.equal(counts(rows[here + 'copy']), (0, 0, 2, 2000, 0), 'copy')
    t.equal(counts(rows['absent']), (0, 0, 0, 0, 10), 'absent')
    t.equal([rows[here + name]['iowritebytes'] for name in ('one', 'two', 'three')], [36, 21, 31], 'numbers used again')
    t.equal(counts(rows[here + 'five']), (1, 10, 1, 51, 0), 'by number')
    t.equal(rows['<Total>']['ioerrorcnt'], 13, 'errors in all')
    offsets = collections.Counter((e['type'], e['offset'] - 1) for e in events(t, result)
                                  if e['offset'] and e['type'] in ('read', 'write'))
    t.equal(offsets, {('write', 5000): 3, ('read', 456): 3, ('read', 3): 1}, 'places')


@test
def copies(t):
    """What dup and dup2 copied: a number of the file `one`, then the copy back onto that number."""
    result = part(t, 'files')
    opened = [e for e in events(t, result) if e['type'] == 'open' and not e['errno']]
    one = next(i for i, e in enumerate(opened) if (e['name'] or b'').endswith(b'/one') and not e['offset'])
    first = opened[one]['descriptor'] - 1
    copy = opened[one + 1]['descriptor'] - 1
    t.equal([(e['descriptor'] - 1, e['offset'] - 1) for e in opened if e['offset']], [(copy, first), (first, copy)], 'copies')
    for number, count in ((first, 1), (copy, 1), (97, 0)):
        rows = [o for o in t.print(result.experiment, '-metrics', 'e.ioothercnt:name', '-filters', f'IOOFD == {number}', '-functions')
                if o['command'] == 'functions'][0]['rows']
        t.equal(rows[0]['e.ioothercnt'], count, f'copies of {number}')
    reads = [o for o in t.print(result.experiment, '-metrics', 'e.ioreadcnt:name', '-filters', 'IOOFFSET == 456', '-functions')
             if o['command'] == 'functions'][0]['rows']
    t.equal(reads[0]['e.ioreadcnt'], 3, 'reads at 456')


@test
def descriptors(t):
    """Openings are told apart, also where their number and their file are the same."""
    result = part(t, 'files')
    rows = listing(t, result.experiment, 'iodetail', ('iowritecnt', 'iowritebytes'))
    by_file = collections.defaultdict(list)
    for name, row in rows.items():
        match = re.fullmatch(r'(.*) \(IOVFD=\d+, FD=(\d+)\)', name)
        if match and row['iowritecnt']:
            by_file[match[1].rpartition('/')[2]].append((int(match[2]), row['iowritebytes']))
    first = by_file['data'][0][0]
    t.equal({name: sorted(found) for name, found in by_file.items()}, {
        'data': [(first, 14600)], 'one': [(first + 1, 11), (first + 1, 13), (first + 2, 12)], 'two': [(first + 1, 21)],
        'three': [(first + 1, 31)], 'copy': [(first + 1, 2000)], 'five': [(first + 1, 51)]}, 'bytes by descriptor')


@test
def streams(t):
    result = part(t, 'streams')
    rows = listing(t, result.experiment, 'ioactivity')
    t.equal(counts(rows[f'{t.directory.resolve()}/stream']), (105, 20013, 206, 20515, 0), 'stream')
    t.equal(counts(rows['absent']), (0, 0, 0, 0, 1), 'absent')
    functions = t.functions(result.experiment, 'e.iowritecnt', 'e.iowritebytes', 'i.iowritebytes')
    t.equal((functions['fwrite']['e.iowritecnt'], functions['fwrite']['e.iowritebytes']), (201, 20007), 'fwrite')
    t.equal(functions['streams']['i.iowritebytes'], 20515, 'the caller')


@test
def wide_streams(t):
    """Wide characters are counted as the bytes that they are in the file."""
    result = part(t, 'wide')
    size = result.truth()['size']
    rows = listing(t, result.experiment, 'ioactivity')
    t.equal(counts(rows[f'{t.directory.resolve()}/wide']), (6, size - len('42 end\n00001'), 7, size, 0), 'wide')
    functions = t.functions(result.experiment, 'e.iowritebytes', 'e.ioreadbytes')
    t.equal((functions['fputws']['e.iowritebytes'], functions['fgetws']['e.ioreadbytes']), (22, 22), 'lines')
    t.equal(functions['fwprintf']['e.iowritebytes'], 12, 'fwprintf')


@test
def sockets(t):
    result = part(t, 'sockets')
    truth = result.truth()
    rows = listing(t, result.experiment, 'ioactivity')
    peers = ['<unix socket>'] * 2
    for version, address in ((4, '127.0.0.1'), (6, '[::1]')):
        if f'port{version}' in truth:
            peers += [f'tcp {address}:{truth[name + str(version)]:.0f}' for name in ('port', 'own')]
    for to, from_ in zip(peers[::2], peers[1::2]):
        t.equal((rows[to]['iowritecnt'], rows[to]['iowritebytes'], rows[from_]['ioreadbytes']), (200, 64200, 64200), f'{to} and {from_}')
    t.equal(rows['unix absent.socket']['ioerrorcnt'], 1, 'a peer that is not there')


@test
def without_a_function(t):
    """openat2, and seven calls of io_uring_enter, none of which the C library has a function for."""
    result = part(t, 'unnamed')
    rows = listing(t, result.experiment, 'ioactivity', ('iowritebytes', 'iorequestcnt'))
    t.equal(rows[f'{t.directory.resolve()}/by_openat2']['iowritebytes'], 9, 'written')
    if not result.truth()['ring']:
        raise Skip('this kernel has no io_uring')
    t.equal(rows['<Total>']['iorequestcnt'], 35, 'requests')
    t.equal([(e['type'], e['offset']) for e in events(t, result) if e['offset']], [('submit', 5)] * 7, 'calls of io_uring_enter')


@test
def waits(t):
    result = part(t, 'waits')
    truth = result.truth()
    times = ('ioreadtime', 'iowaittime', 'iowaitcnt')
    total = listing(t, result.experiment, 'ioactivity', times)['<Total>']
    t.within(0.5 * truth['reads'] <= total['ioreadtime'] <= truth['reads'], f'reads: {total} of {truth}')
    t.within(0.179 <= total['iowaittime'] <= truth['waits'], f'waits: {total} of {truth}')
    t.equal(total['iowaitcnt'], 4, 'waits')
    row = [row for row in t.print(result.experiment, '-iostat')[0]['rows'] if row['group'] == 'wait'][0]
    times = [(entry['from'], entry['calls']) for entry in row['times'] if entry['from'] >= 0.01]
    t.within(times == [(0.01, 4)], f'classes of time: {times}')  # who is woken late has waited for longer


@test(engines=True)
def interrupts(t, engine):
    """Handlers that jump out of calls and of the recording, that write themselves, threads that are cancelled."""
    result = t.collect(t.target('io'), 'interrupts', engine=engine, options=('-i', 'on'), cwd=t.directory)
    values = [int(line.split()[1]) for line in result.out.splitlines()]
    done, jumps, undisturbed, handled = values
    process = helio_reader.read_family(str(result.experiment))['']  # with what was dropped, and counted
    found = collections.Counter((e['type'], e['bytes']) for e in process['traces']['iotrace'] if not e['errno'])
    t.check(done + undisturbed <= found['write', 2] + jumps, f"writes: {found['write', 2]} of {done + undisturbed}, {jumps} jumps")
    t.check(found['write', 2] <= done + undisturbed + jumps, f"writes: {found['write', 2]} of {done + undisturbed}")
    dropped = sum(int(e['dropped']) for e in process['log_events'] if e['kind'] == 'counters')
    inside = found['write', 1] - 50  # one for each thread that is cancelled
    t.check(inside <= handled <= inside + dropped, f'writes in handlers: {inside} of {handled}, {dropped} dropped')
    t.within(inside > 0.5 * handled, f'writes in handlers: {inside} of {handled}')
    t.equal(found['write', 5], 50, 'writes of cancelled threads')


@test
def ends(t):
    """Processes that end or fork in a handler, also in the middle of a recording."""
    result = part(t, 'ends', timeout=60)
    family = helio_reader.read_family(str(result.experiment))
    forked = [process for lineage, process in family.items() if lineage.count('_f') == 2]
    t.equal(len(forked), 20, 'children of handlers')
    for process in forked:
        after = [e for e in process['traces']['iotrace'] if e['type'] == 'write' and e['bytes'] == 4]
        t.equal(len(after), 10, 'writes of a child after its fork')


def stepped(t, act, stride, call='write', options=()):
    """(collect's result, how often the handler did it): a call, of a write of 3 bytes, interrupted before every stride-th instruction."""
    result = record(t, t.target('stepped'), call, act, stride, options=options, timeout=300)
    acts = int(result.out.split()[1])
    if not acts:
        raise Skip('the trap flag raises no signal here')
    t.check(acts >= 10, f'{acts} instructions')
    return result, acts


def writes_of(process, size):
    return sum(e['type'] == 'write' and e['bytes'] == size for e in process['traces']['iotrace'])


def nothing_is_missing(t, experiment):
    """No process counted more events than there are."""
    out = t.run(t.helio, 'check', experiment).out
    t.check('damage: ' not in out, f'check: {out[:500]}')


@test
def forks_at_any_instruction(t):
    """Both sides of the fork go on in the middle of the recording; what the child does afterwards is whole."""
    result, acts = stepped(t, 'fork', 4)
    nothing_is_missing(t, result.experiment)
    family = t.read(result.experiment)
    t.equal(writes_of(family[''], 3), acts + 2, 'writes of the parent, the first and the last not interrupted')
    children = [process for lineage, process in family.items() if lineage]
    t.equal(len(children), acts, 'children')
    t.equal({writes_of(process, 4) for process in children}, {3}, 'writes of each child')


@test
def forks_at_any_instruction_of_other_calls(t):
    """Of what allocates, opens and locks, where all of that is recorded."""
    for call, stride in (('heap', 17), ('file', 43), ('lock', 17)):
        result, acts = stepped(t, 'fork', stride, call, options=('-H', 'on', '-s', 'all'))
        nothing_is_missing(t, result.experiment)
        children = [process for lineage, process in t.read(result.experiment).items() if lineage]
        t.equal((len(children), {writes_of(process, 4) for process in children}), (acts, {3}), f'children, and their writes: {call}')


@test
def ends_at_any_instruction(t):
    """What was written before is there, and nothing is damaged."""
    result, acts = stepped(t, 'leave', 67)
    children = [process for lineage, process in t.read(result.experiment).items() if lineage]
    t.equal(len(children), acts + 1, 'children, the last not interrupted')
    t.equal({writes_of(process, 4) for process in children}, {3}, 'writes of each child')


@test
def jumps_at_any_instruction(t):
    """The call after the jump is recorded; of those jumped out of, only what was in the middle of being recorded is lost."""
    result, acts = stepped(t, 'jump', 9)
    process = helio_reader.read_family(str(result.experiment))['']
    dropped = sum(int(e['dropped']) for e in process['log_events'] if e['kind'] == 'counters')
    t.equal(writes_of(process, 4), acts, 'writes after a jump')
    t.check(0 < dropped <= acts, f'{dropped} of {acts} dropped')


@test
def nested_at_any_instruction(t):
    """A write in a handler is recorded, or counted as dropped; the interrupted one is always recorded."""
    result, acts = stepped(t, 'nest', 5)
    process = helio_reader.read_family(str(result.experiment))['']
    dropped = sum(int(e['dropped']) for e in process['log_events'] if e['kind'] == 'counters')
    t.equal(writes_of(process, 3), acts + 2, 'writes, the first and the last not interrupted')
    t.equal(writes_of(process, 1) + dropped, acts, 'writes in the handler, and those dropped')


@test
def family(t):
    result = part(t, 'family')
    shared = str(t.directory.resolve() / 'shared').encode()
    process = t.read(result.experiment)
    written = {lineage: [(e['name'], e['bytes']) for e in events(t, result, lineage) if e['type'] == 'write'] for lineage in process}
    t.equal(written[''], [(shared, 102)], 'the founder')
    t.equal(written['_f1'], [(shared, 101)], 'the forked child, of a descriptor that it inherited')
    size = pathlib.Path('/etc/hostname').stat().st_size
    t.equal((written['_f2_x1'][0][0], sum(count for _, count in written['_f2_x1'])), (shared, size),
            'cat, of the standard output that it was given')
    t.equal(listing(t, result.experiment, 'ioactivity')[shared.decode()]['iowritebytes'], 203 + size, 'of all')


@test
def many_threads(t):
    result = part(t, 'threads')
    found = [e for e in events(t, result) if e['type'] == 'write' and e['name'] == b'/dev/null']
    t.equal((len(found), len({e['thread'] for e in found})), (3000, 1000), 'writes and threads')
    t.check('Thread 1001 ' in str(t.print(result.experiment, '-threads')), 'the threads are listed')


# Real programs, with strace as the witness.

CALL = re.compile(r'^(?:\d+ +)?(\w+)\((.*?)\) += (-?\d+)', re.S)
READS = {'read', 'pread64', 'readv', 'preadv', 'preadv2'}
WRITES = {'write', 'pwrite64', 'writev', 'pwritev', 'pwritev2'}


def strace(t, *words, **more):
    """{path: (reads, bytes, writes, bytes)} by strace, and the errors by name."""
    log = t.directory / 'strace.out'
    t.run(t.need('strace'), '-f', '-y', '-s', '0', '-o', log, '-e', 'trace=desc,%file', *words, **more)
    by_path, errors = collections.defaultdict(lambda: [0, 0, 0, 0]), collections.Counter()
    for line in log.read_text(errors='replace').splitlines():
        match = CALL.match(line)
        if not match:
            continue
        name, arguments, value = match[1], match[2], int(match[3])
        path = re.match(r'\d+<([^>]*)>', arguments)
        if value < 0:
            errors[name] += 1
        elif path and name in READS | WRITES:
            sums = by_path[path[1]]
            at = 0 if name in READS else 2
            sums[at] += 1
            sums[at + 1] += value
    return {path: tuple(sums) for path, sums in by_path.items()}, errors


def compare(t, words, paths, before=lambda: None, options=()):
    """The same of both for the paths that match."""
    before()
    truth, _ = strace(t, *words, cwd=t.directory)
    before()
    result = record(t, *words, options=options, cwd=t.directory)
    rows = listing(t, result.experiment, 'ioactivity')
    expected = {path: sums for path, sums in truth.items() if re.search(paths, path)}
    t.check(expected, f'strace saw nothing of {paths}')
    found = {path: counts(rows[path])[:4] if path in rows else None for path in expected}
    t.equal(found, expected, f'{words[0]}: reads and writes by file')
    return result


@test
def dd(t):
    path = t.directory / 'out'
    result = record(t, 'dd', 'if=/dev/zero', f'of={path}', 'bs=4096', 'count=200', cwd=t.directory)
    rows = listing(t, result.experiment, 'ioactivity')
    t.equal(counts(rows['/dev/zero']), (200, 819200, 0, 0, 0), 'if')
    t.equal(counts(rows[str(path)]), (0, 0, 200, 819200, 0), 'of')


@test
def cp(t):
    (t.directory / 'from').write_bytes(bytes(range(256)) * 4000)
    result = record(t, 'cp', t.directory / 'from', t.directory / 'to', cwd=t.directory)
    rows = listing(t, result.experiment, 'ioactivity')
    t.equal(rows[str(t.directory / 'from')]['ioreadbytes'], 1024000, 'from')
    t.equal(rows[str(t.directory / 'to')]['iowritebytes'], 1024000, 'to')


@test
def sqlite(t):
    database = t.directory / 'x.db'
    script = ('create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) '
              'insert into t select i, i * 7 from n; create index u on t(b); select sum(a) from t where b > 77;')
    compare(t, [t.need('sqlite3'), database, script], r'/x\.db', before=lambda: database.unlink(missing_ok=True))


@test
def python(t):
    compare(t, [shutil.which('python3', path='/usr/bin') or t.need('python3'), '-S', '-c', 'import json, decimal, email.parser'],
            r'\.(py|pyc)$')


@test
def gcc(t):
    """The compiler proper, which the driver starts, reads by descriptors; the others read by streams."""
    source = t.directory / 'source.c'
    source.write_text('#include <stdio.h>\n#include <string.h>\nint main(void) { return !puts("x"); }\n')
    compare(t, [t.need('gcc'), '-O1', '-c', source, '-o', t.directory / 'out.o'], r'source\.c$|/stdio\.h$|/string\.h$')


@test
def json(t):
    experiment = part(t, 'family').experiment
    check = validator(t)
    activity, detail, stacks, statistics = t.print(experiment, '-ioactivity', '-iodetail', '-iocallstack', '-iostat')
    for value in (activity, detail, stacks, statistics):
        t.check(check.is_valid(value), f"{value['command']} is not as its schema says")
    t.check(any(row['frames'][:1] and row['frames'][0].startswith('write + ') and any(f.startswith('family + ') for f in row['frames'])
                for row in stacks['rows'][1:]), 'the stack of a write')
    for row in statistics['rows']:
        t.equal(sum(entry['calls'] for entry in row['times']), row['calls'], f"{row['group']}: calls of all times")
    t.equal(sum(error['calls'] for error in statistics['errors']),
            [row['calls'] for row in statistics['rows'] if row['group'] == 'error'][0], 'errors')


@test
def text(t):
    """What a person sees: the seeds' layout."""
    experiment = part(t, 'files').experiment
    out = t.run(t.helio, 'print', '-iocallstack', '-iostat', '-ioactivity', '-header', experiment).out
    for words in ('Read Count=16  Read Bytes=8110', 'Write Count=28  Write Bytes=16739', 'Write Statistics\nI/O Size Range  ', 'I/O Error Statistics', '  ENOENT  ',
                  'I/O Activity sorted by metric: Exclusive Read Time', 'I/O tracing'):
        t.check(words in out, f'{words!r} is not in the output')


@test
def what_is_shown(t):
    """Bytes and counts without being asked for; what was asked for if it was."""
    experiment = t.collect(t.target('io'), 'files', options=('-i', 'on'), cwd=t.directory).experiment
    out = t.run(t.helio, 'print', '-ioactivity', experiment).out
    t.check(re.search(r'\n *15 +8100 +0\.\d* +20 +14600 +0\.\d* .*/data\n', out), out)
    t.check('sorted by metric: Exclusive Read Time' in out, out)
    chosen = t.run(t.helio, 'print', '-metrics', 'i.ioreadtime:name', '-ioactivity', experiment).out
    t.check('Bytes' not in chosen and re.search('Excl. +Name', chosen), chosen)


# What ends a recording, or holds it.

WRITER = 'import os, signal; fd = os.open("out", os.O_CREAT | os.O_WRONLY, 0o644)\n'


def written(t, result):
    out = str(t.directory.resolve() / 'out').encode()
    return [e['bytes'] for e in events(t, result) if e['type'] == 'write' and e['name'] == out]


@test
def killed(t):
    """All that was recorded is there."""
    program = WRITER + 'for i in range(1000): os.write(fd, b"four")\nos.kill(os.getpid(), signal.SIGKILL)'
    result = record(t, '/usr/bin/python3', '-S', '-c', program, status=137, cwd=t.directory)
    t.equal(written(t, result), [4] * 1000, 'writes')


@test
def paused(t):
    """Nothing is recorded in a pause; a descriptor that was opened in one has its name."""
    program = WRITER + '''
for size, count in ((1, 10), (2, 20), (3, 30)):
    for i in range(count):
        os.write(fd, b'x' * size)
    os.kill(os.getpid(), signal.SIGUSR1)'''
    result = record(t, '/usr/bin/python3', '-S', '-c', program, options=('-y', 'USR1'), cwd=t.directory)
    t.equal(written(t, result), [2] * 20, 'writes')


@test
def all_kinds(t):
    """Heap, synchronization and I/O at once: a stream's buffer is an allocation."""
    result = t.collect(t.target('io'), 'streams', options=('-i', 'on', '-H', 'on', '-s', 'all'), cwd=t.directory)
    rows = listing(t, result.experiment, 'ioactivity')
    t.equal(counts(rows[f'{t.directory.resolve()}/stream']), (105, 20013, 206, 20515, 0), 'stream')
    heap = t.functions(result.experiment, 'i.heapalloccnt', 'i.iowritecnt')
    t.check(heap['streams']['i.heapalloccnt'] >= 4 and heap['streams']['i.iowritecnt'] == 206, f"of streams(): {heap['streams']}")


@test
def other_allocators(t):
    for library in ('libjemalloc.so.2', 'libtcmalloc_minimal.so.4'):
        path = f'/usr/lib/x86_64-linux-gnu/{library}'
        result = part(t, 'streams', env={'LD_PRELOAD': path})
        t.equal(listing(t, result.experiment, 'ioactivity')['<Total>']['iowritebytes'], 20515, library)


@test
def filtered(t):
    """The views obey filters."""
    experiment = part(t, 'files').experiment
    listed = t.print(experiment, '-metrics', 'e.iowritecnt:name', '-filters', 'FNAME("syscall") SOME IN STACK', '-ioactivity', '-iostat', '-iocallstack')
    totals = [value['rows'][0] for value in listed if value['command'] in ('ioactivity', 'iostat', 'iocallstack')]
    t.equal([totals[0]['e.iowritecnt'], totals[1]['calls'], totals[2]['e.iowritecnt']], [1, 1, 1], 'writes by number')


@test
def no_longer_root(t):
    """The file grows after the program has given up its rights."""
    t.need_root('stop being root')
    program = WRITER + 'os.setgid(65534); os.setuid(65534)\nfor i in range(20000): os.write(fd, b"x")'
    result = record(t, '/usr/bin/python3', '-S', '-c', program, cwd=t.directory)
    t.equal(len(written(t, result)), 20000, 'writes')


NAMELESS = '''
import ctypes, os, sys
directory, how = sys.argv[1:]
flags = os.O_TMPFILE | os.O_RDWR
if how == 'relative': fd = os.open('.', flags, 0o600)
elif how == 'numbers': fd = ctypes.CDLL(None).syscall(257, -100, directory.encode(), flags, 0o600)  # openat, AT_FDCWD
else: fd = os.open(directory, flags, 0o600)
os.write(fd, b'x' * 7)
os.fsync(os.open(directory, os.O_DIRECTORY))
'''


@test
def files_without_a_name(t):
    """O_TMPFILE: what was given is the directory, which is another file; the kernel calls it after its number there."""
    try:
        os.close(os.open(t.directory, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError as error:
        raise Skip(f'no O_TMPFILE here: {error}') from error
    for how in 'absolute', 'relative', 'numbers':
        result = record(t, '/usr/bin/python3', '-S', '-c', NAMELESS, t.directory, how, cwd=t.directory)
        rows = listing(t, result.experiment, 'ioactivity', ('iowritebytes', 'ioothercnt'))
        [name] = [name for name, row in rows.items() if row['iowritebytes'] == 7 and name != '<Total>']
        t.check(name.startswith(f'{t.directory}/#') and name.endswith(' (deleted)'), f'{how}: {name}')
        t.equal(rows[str(t.directory)]['iowritebytes'], 0, f'{how}: of the directory')


# File systems.

ON_EACH_TYPE = '''
import os, socket, sys
def put(path, size):
    os.write(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), b'x' * size)
    if not path.startswith('/dev/null'):
        os.unlink(path)
put(f'/dev/shm/helio-{os.getpid()}', 1)
put('here', 2)
put(os.path.abspath('a b'), 4)
put('/dev/null', 8)
os.write(os.memfd_create('m'), b'x' * 16)
ends = socket.socketpair()
ends[0].send(b'x' * 32)
os.write(os.pipe()[1], b'x' * 64)
os.write(os.eventfd(0), bytes(8))
os.write(os.open('/proc/self/comm', os.O_WRONLY), b'x' * 5)
'''


def written_on(t, experiment, types):
    """{type: bytes written on file systems of it}."""
    found = {}
    for name in types:
        total = t.print(experiment, '-metrics', 'e.iowritebytes:name', '-filters', f'IOFSTYPE IN FSTYPE("{name}")', '-functions')[-1]['rows'][0]
        found[name] = total['e.iowritebytes']
    return found


def type_here(path):
    """What the kernel says of the file system that a path lies on."""
    best = ('', '')
    for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines():
        place, kind = line.split()[4], line.rpartition(' - ')[2].split()[0]
        if os.path.commonpath([place, os.path.realpath(path)]) == place and len(place) >= len(best[0]):
            best = place, kind
    return best[1]


def sums_here(t):
    """What ON_EACH_TYPE writes, by the type of file system."""
    sums = collections.Counter({'sockfs': 32, 'pipefs': 64, 'anon_inodefs': 8, 'tmpfs': 16})
    for path, size in (('/dev/shm', 1), (t.directory, 6), ('/dev', 8), ('/proc', 5)):
        sums[type_here(path)] += size
    return sums


@test
def file_systems(t):
    experiment = record(t, '/usr/bin/python3', '-S', '-c', ON_EACH_TYPE, cwd=t.directory).experiment
    expected = sums_here(t)
    t.equal(written_on(t, experiment, expected), dict(expected), 'bytes by type')
    t.equal(written_on(t, experiment, ['.*']), {'.*': sum(expected.values())}, 'bytes of known types')
    t.equal(t.print(experiment, '-metrics', 'e.iowritebytes:name', '-filters', 'IOFSTYPE == 15', '-functions')[-1]['rows'][0]['e.iowritebytes'], 32,
            'by the number that the old tools gave to sockets')
    nothing = t.run(t.helio, 'print', '-filters', 'IOFSTYPE IN FSTYPE("nosuchfs")', experiment)
    t.check('no file system' in nothing.err, nothing.err)


@test
def mounts_of_others(t):
    """A process in a mount namespace of its own, which mounts there what nobody else sees."""
    if t.run('unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/mnt').status:
        raise Skip('mount namespaces need privileges')
    script = 'mkdir -p over; mount -t ramfs none over; cd over; exec /usr/bin/python3 -S -c "$0"'
    experiment = record(t, 'unshare', '-m', 'sh', '-c', script, ON_EACH_TYPE, cwd=t.directory).experiment
    expected = sums_here(t)
    expected[type_here(t.directory)] -= 6
    expected = +expected + collections.Counter(ramfs=6)
    t.equal(written_on(t, experiment, expected), dict(expected), 'bytes by type')


@test
def mounts_of_one_that_is_no_longer_root(t):
    """It mounts in a namespace of its own, after its recording has begun, and gives up its rights: its list grows all the same."""
    if t.run('unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/mnt').status:
        raise Skip('mount namespaces need privileges')
    program = """
import os
os.mkdir('over')
assert not os.system('mount -t ramfs none over')
fd = os.open('over/file', os.O_CREAT | os.O_WRONLY)
os.setgid(65534); os.setuid(65534)
os.write(fd, bytes(7))"""
    experiment = record(t, 'unshare', '-m', '/usr/bin/python3', '-S', '-c', program, cwd=t.directory).experiment
    t.equal(written_on(t, experiment, ['ramfs']), {'ramfs': 7}, 'bytes')


@test
def mounted_meanwhile(t):
    """A program mounts a file system for all, and reads there."""
    t.need_root('mount')
    place = t.directory / 'mounted'
    place.mkdir()
    try:
        result = record(t, 'sh', '-c', 'mount -t tmpfs none mounted && exec dd if=/dev/zero of=mounted/file bs=100 count=3', cwd=t.directory, status=None)
        if result.status:
            raise Skip('root may not mount here')
    finally:
        t.run('umount', place)
    t.equal(written_on(t, result.experiment, ['tmpfs'])['tmpfs'], 300 + (18 if type_here(t.directory) == 'tmpfs' else 0), 'bytes')


# One by one: (reads, bytes, writes, bytes, waits, errors) of functions in targets/iocalls.c.
CALLS = {
    'sendmmsg': (0, 0, 1, 60, 0, 0), 'recvmmsg': (1, 60, 0, 0, 0, 1), 'sendmsg': (0, 0, 1, 7, 0, 0), 'recvmsg': (1, 7, 0, 0, 0, 0),
    'sendto': (0, 0, 1, 40, 0, 0), 'recvfrom': (1, 40, 0, 0, 0, 0), 'send': (0, 0, 1, 50, 0, 0), 'recv': (1, 50, 0, 0, 0, 0),
    'read': (3, 12, 0, 0, 0, 0), 'write': (0, 0, 2, 12, 0, 0), 'vmsplice': (0, 0, 1, 100, 0, 0), 'tee': (1, 60, 1, 60, 0, 0),
    'splice': (2, 160, 2, 160, 0, 1), 'sendfile': (1, 50, 1, 50, 0, 0), 'copy_file_range': (1, 9, 1, 9, 0, 0), 'pwritev2': (0, 0, 2, 42, 0, 0),
    'preadv2': (2, 42, 0, 0, 0, 1), 'pwritev': (0, 0, 1, 12, 0, 0), 'preadv': (1, 12, 0, 0, 0, 0), 'pread': (1, 10, 0, 0, 0, 0),
    'poll': (0, 0, 0, 0, 1, 0), 'ppoll': (0, 0, 0, 0, 2, 0), 'epoll_pwait': (0, 0, 0, 0, 1, 0), 'epoll_pwait2': (0, 0, 0, 0, 1, 0),
    'epoll_wait': (0, 0, 0, 0, 1, 1), 'select': (0, 0, 0, 0, 1, 0), 'pselect': (0, 0, 0, 0, 1, 0), 'fread': (2, 48, 0, 0, 0, 0),
    'fgets': (3, 18, 0, 0, 0, 0), 'getc': (1, 1, 0, 0, 0, 0), 'fread_unlocked': (1, 3, 0, 0, 0, 0), 'fprintf': (0, 0, 2, 13, 0, 0),
    'vfprintf': (0, 0, 1, 6, 0, 0), 'fputs': (0, 0, 2, 17, 0, 0), 'fputc': (0, 0, 1, 1, 0, 0), 'fwrite': (0, 0, 2, 37, 0, 0),
    'putc': (0, 0, 1, 1, 0, 0), 'eventfd_write': (0, 0, 1, 8, 0, 0), 'eventfd_read': (1, 8, 0, 0, 0, 0), 'posix_fallocate': (0, 0, 0, 0, 0, 1),
    'putw': (0, 0, 1, 4, 0, 0), 'getw': (1, 4, 0, 0, 0, 0),
    'syscall': (3, 60 + 30 + 25, 4, 60 + 30 + 25 + 25, 0, 0)}
FORTIFIED = {'recvfrom', 'recv', 'read', 'pread', 'poll', 'ppoll', 'fread', 'fgets', 'fread_unlocked', 'fprintf', 'vfprintf'}


def plain_name(function):
    """pread for pread64, preadv2 for preadv64v2, recv for __recv_chk"""
    return re.sub(r'64(v?)', '', re.sub(r'^__(.*)_chk$', r'\1', function))


def by_plain_name(found):
    sums = {}
    for name, row in found.items():
        sums[plain_name(name)] = tuple(map(sum, zip(row, sums.get(plain_name(name), (0,) * len(row)))))
    return sums


def each_function(t, target):
    """{function as it was called: its row of CALLS}"""
    experiment = record(t, t.target(target), cwd=t.directory).experiment
    metrics = [f'e.io{name}' for name in ('readcnt', 'readbytes', 'writecnt', 'writebytes', 'waitcnt', 'errorcnt')]
    rows = {name: tuple(row[metric] for metric in metrics) for name, row in t.functions(experiment, *metrics).items()}
    return {name: row for name, row in rows.items() if any(row) and name != '<Total>'}


@test
def function_by_function(t):
    found = each_function(t, 'iocalls')
    t.equal(by_plain_name(found), CALLS, 'reads, writes, waits, errors')
    t.check(not any(name.endswith('_chk') for name in found), f'not fortified: {found}')
    experiment = next(t.directory.glob('run.*.er'))
    places = [(e['type'], e['offset'] - 1) for e in t.read(experiment)['']['traces']['iotrace']
              if e['offset'] and (e['name'] or b'').endswith(b'/places') and e['type'] in ('read', 'write')]
    t.equal(places, [('write', 5), ('read', 5), ('write', 50), ('read', 50), ('read', 50), ('read', 0)], 'places')
    others = t.functions(experiment, 'e.ioothercnt')
    t.equal([others[name]['e.ioothercnt'] for name in ('linkat', 'symlinkat', 'mkfifo', 'futimens', 'ioctl')], [1] * 5, 'calls of other kinds')
    errors = {row['name']: row['calls'] for row in t.print(experiment, '-iostat')[0]['errors']}
    t.equal(errors, {'EAGAIN': 1, 'EBADF': 1, 'EINVAL': 1, 'EOPNOTSUPP': 1, 'ENODEV': 1}, 'errors')


@test
def fortified_functions(t):
    """_FORTIFY_SOURCE calls functions of other names."""
    found = each_function(t, 'iocalls_fortified')
    t.equal(by_plain_name(found), CALLS, 'reads, writes, waits, errors')
    t.equal({plain_name(name) for name in found if name.endswith('_chk')}, FORTIFIED, 'that have other names')


@test
def in_place(t):
    """Characters that compilers put into buffers and take from them without a call."""
    out = t.directory / 'out'
    experiment = record(t, 'sh', '-c', f'exec {t.target("inplace")} >out', cwd=t.directory).experiment
    rows = listing(t, experiment, 'ioactivity')
    t.equal(counts(rows[f'{t.directory.resolve()}/data'])[1::2], (21008, 13008), 'data')
    t.equal(rows[f'{t.directory.resolve()}/pushed']['ioreadbytes'], 3001, 'pushed back')
    size = sum(len(str(i)) + 1 for i in range(1000))
    t.equal([row['ioreadbytes'] for name, row in rows.items() if re.search('/numbers$|^pipe:', name) and row['ioreadbytes']], [size] * 2, 'scanned')
    child = [e['bytes'] for e in t.read(experiment)['_x1_f1']['traces']['iotrace'] if e['type'] == 'write']
    t.equal(child, [11, 2], 'of the child, which ends before it writes them')
    t.equal(rows[str(out.resolve())]['iowritebytes'], out.stat().st_size + 13, 'standard output')
    functions = t.functions(experiment, 'e.ioreadbytes', 'e.iowritebytes')
    t.equal((functions['getc_unlocked']['e.ioreadbytes'], functions['putc_unlocked']['e.iowritebytes']), (20938 + 1000, 13001 + 4120 + 11), 'in place')


@test
def small_tools(t):
    """What real programs that work character by character read and write."""
    text = ''.join(f'{i}\n' for i in range(1, 5001))
    (t.directory / 'n').write_text(text)
    for tool, reads in (('cut -c1-3', 1), ('paste - n', 1), ('uniq', 1), ('nl', 1), ('fold -w 3', 1), ('expand', 1), ('od', 1), ('base64', 1), ('comm n', 2), ('wc', 1)):
        words = f'exec {tool} n >out' if tool != 'paste - n' else 'exec paste - n </dev/null >out'
        experiment = record(t, 'sh', '-c', words, cwd=t.directory).experiment
        rows = listing(t, experiment, 'ioactivity')
        found = rows[f'{t.directory.resolve()}/n']['ioreadbytes'], rows[f'{t.directory.resolve()}/out']['iowritebytes']
        t.equal(found, (reads * len(text), (t.directory / 'out').stat().st_size), tool)
