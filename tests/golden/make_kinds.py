#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes experiments with every kind of data, whose numbers are known, from docs/format.md alone.

    make_kinds.py DIRECTORY       writes app, kinds.1.er, kinds.2.er and ranks.1.er there

Beside the clock's events there are allocations, waits for locks, calls of I/O and overflows of two
counters, and a function made at run time that has lines and code.  kinds.2.er is the run of a day
later: B takes twice the time there, F none.  ranks.1.er are two ranks of an MPI program.
"""
import os
import sys

from make_experiment import BASE, LOG, PROCESS, UNIT, Tree, elf, write_map
from make_golden import Events, block, file_header, packed, sample, text, varint, write, zigzag

# A function that the program announced: push, a loop of three instructions, pop, ret.
JIT_AT = 0x600000
JIT_CODE = bytes.fromhex('55' '4889f8' '4829d0' '75fb' '5d' 'c3')
JIT_LINES = [(0, 3), (4, 5), (7, 6), (9, 8)]
JIT_PCS = (JIT_AT + 4, JIT_AT + 7)

CLOCK = [
    (('_start', 'main', 'A', 'C', 'E'), 'user', 6),
    (('_start', 'main', 'B', 'C', 'F'), 'user', 4),
    (('_start', 'main', 'B'), 'system', 2),
    (('_start', 'main', 'jit', 4), 'user', 3),
    (('_start', 'main', 'jit', 7), 'user', 5),
]
LATER = {('_start', 'main', 'B'): 2, ('_start', 'main', 'B', 'C', 'F'): 0}
WORKER = [
    (('_ZN3app6Worker3runEi', 'helper'), 'lock', 3),
    (('_ZN3app6Worker3runEi', 'fib'), 'user', 7),
]
MS = 1000000
BLOCK, OTHER, MUTEX, QUEUE, PAGE = 0x900010, 0x900200, 0x800040, 0x800080, 0x7000

# type, thread, ms, stack, fields as docs/format.md names them
HEAP = [
    (0, 1, 100, ('_start', 'main', 'A'), (BLOCK, 64, 0, 0)),
    (1, 1, 150, ('_start', 'main', 'B'), (OTHER, 4096, 0, 0)),
    (0, 2, 200, ('_ZN3app6Worker3runEi', 'helper'), (0x900400, 100, 0, 0)),
    (4, 1, 300, None, (OTHER, 0, 0, 0)),
    (0, 1, 400, ('_start', 'main', 'A'), (0x900600, 32, 0, 0)),
    (9, 1, 1900, None, (0x900400, 1, 0, 0)),
    (10, 1, 1900, None, (3, 1, 0, 0)),
]
SYNC = [
    (0, 2, 300, ('_ZN3app6Worker3runEi', 'helper'), (MUTEX, 200 * MS, 0, 12)),
    (1, 2, 420, ('_ZN3app6Worker3runEi', 'fib'), (QUEUE, 100 * MS, 110, 0)),
    (6, 1, 1800, ('_start', 'main'), (0x7f00, 50 * MS, 0, 14)),
]
TEXTS = [(1, b'/tmp/in.txt'), (2, b'/tmp/out.txt')]
IO = [
    (2, 1, 110, ('_start', 'main', 'A'), (4, 2 * MS, 1, 0, 0, 0)),
    (0, 1, 160, ('_start', 'main', 'A'), (4, 5 * MS, 1, 4096, 0, 0)),
    (1, 2, 500, ('_ZN3app6Worker3runEi', 'fib'), (5, 9 * MS, 2, 10000, 0, 0)),
    (0, 1, 600, ('_start', 'main', 'B'), (4, MS, 1, 0, 0, 5)),
    (3, 1, 700, ('_start', 'main', 'A'), (4, MS, 1, 0, 0, 0)),
]
COUNTERS = [
    (0, 1, 200, ('_start', 'main', 'A', 'C', 'E'), (0, 1000000, 0)),
    (0, 1, 400, ('_start', 'main', 'B', 'C', 'F'), (0, 3000000, 0)),
    (0, 2, 450, ('_ZN3app6Worker3runEi', 'fib'), (1, 11, PAGE * 4096 + 0x123)),
    (0, 1, 500, ('_start', 'main', 'B'), (1, 22, PAGE * 4096 + 0x1140)),
]
# name: which fields are near, the events
FORMS = {
    'heaptrace': ((0, 2), HEAP),
    'synctrace': ((0, 3), SYNC),
    'iotrace': ((4,), IO),
    'hwcounters': ((2,), COUNTERS),
}

SETTINGS = '''<system hostname="host" os="Linux 6.1.0" arch="x86_64" pagesize="4096" pages="262144" cpus="2" clock_mhz="2500"/>
<setting name="clock" value="10007"/>
<setting name="sample" value="1"/>
<setting name="follow" value="on"/>
<setting name="heap" value="all"/>
<setting name="sync" value="all"/>
<setting name="io" value="on"/>
<setting name="counters" value="-"/>
<counter number="0" name="cycles" title="CPU Cycles" unit="cycles" interval="1000000" address="no"/>
<counter number="1" name="page-faults" title="Page Faults" unit="events" interval="11" address="yes"/>
<argument text="./app"/>
<argument text="--all"/>
'''


class KindTree(Tree):
    """With the announced function, whose frame is the name and the offset in it."""

    def node(self, stack):
        if len(stack) < 2 or stack[-2] != 'jit':
            return super().node(stack)
        if stack not in self.ids:
            parent = self.node(stack[:-2])
            self.nodes.append((parent, JIT_AT + stack[-1]))
            self.ids[stack] = len(self.nodes)
        return self.ids[stack]


def trace(name, tree):
    """A trace with one block for each of the two threads."""
    near, events = FORMS[name]
    out = file_header(name)
    for thread in (1, 2):
        records, time, stack, before = b'', 0, 0, [0] * 8
        if name == 'iotrace' and thread == 1:
            records += b''.join(b'\x85' + varint(number) + varint(len(value)) + value for number, value in TEXTS)
        for kind, owner, ms, where, fields in events:
            if owner != thread:
                continue
            records += bytes([kind | 0x40 | (0 if where else 0x20)]) + varint(ms * MS - time)
            time = ms * MS
            if where:
                records += zigzag(tree.node(where) - stack)
                stack = tree.node(where)
            for i, value in enumerate(fields):
                records += zigzag(value - before[i]) if i in near else varint(value)
                before[i] = value
        if records:
            out += block(records, 4, thread)
    return out


def clock(tree, later):
    out = b''
    for thread, tid, events in ((1, 12, CLOCK), (2, 14, WORKER)):
        time = 0
        blocks = Events().thread(thread, tid, 0).cpu(thread - 1)
        for stack, state, units in events:
            for _ in range(units * (LATER.get(stack, 1) if later else 1)):
                time += UNIT
                blocks.event(time, UNIT, state, tree.node(stack))
        out += blocks.end(time).block()
    return file_header('profile', 96) + out


def announce(path):
    """The announced function in map.xml and dyntext."""
    head = file_header('dyntext')
    write(path, 'dyntext', head + text(JIT_AT, JIT_CODE, JIT_LINES))
    with open(os.path.join(path, 'map.xml')) as file:
        maps = file.read()
    write(path, 'map.xml', maps.replace('</maps>', f'<event kind="load" tstamp="9" epoch="0" vaddr="{JIT_AT:#x}" '
                                        f'size="{len(JIT_CODE):#x}" name="hot_loop" source="loop.src" text="{len(head)}"/>\n</maps>'))


def make_one(path, program, later):
    os.makedirs(path)
    tree = KindTree()
    write(path, 'log.xml', LOG + SETTINGS + PROCESS.format(pid=12, program=program, lineage='', tstamp=0)
          + '<event kind="exit" tstamp="2000000000"/>\n<event kind="exit" tstamp="2000000000" status="0" signal="0"/>\n</experiment>\n')
    write_map(path, program)
    announce(path)
    write(path, 'overview', file_header('overview') + sample(0, 0, 'start', threads=1)
          + sample(1000000000, 1, 'periodic', user_ns=900 * MS, threads=2)
          + sample(2000000000, 2, 'end', user_ns=1800 * MS, system_ns=200 * MS, threads=2))
    write(path, 'profile', clock(tree, later))
    for name in FORMS:
        write(path, name, trace(name, tree))
    write(path, 'stacks', file_header('stacks', 128) + packed(1, tree.nodes))


# Of each rank: texts of its trace, then type, ms, stack, fields: duration, function, communicator, peer, tag, sent, received, request,
# arrived, sends, receives, error. Rank 1 waits 40 ms for a message that rank 0 sends late, and 30 ms at the barrier.
WORLD = b'MPI_COMM_WORLD#0:0-1'
RANKS = [
    ([b'MPI_Send', b'MPI_Barrier', WORLD], [
        (0, 150, ('_start', 'main', 'A'), (10 * MS, 1, 3, 4, 9, 4096, 0, 0, 0, 0, 0, 0)),
        (10, 300, ('_start', 'main'), (5 * MS, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    ]),
    ([b'MPI_Irecv', b'MPI_Wait', b'MPI_Barrier', WORLD], [
        (3, 60, ('_start', 'main', 'B'), (MS, 1, 4, 1, 1, 0, 8192, 77, 0, 0, 0, 0)),
        (8, 160, ('_start', 'main', 'B'), (60 * MS, 2, 0, 0, 0, 0, 0, 77, 0, 0, 0, 0)),
        (4, 160, ('_start', 'main', 'B'), (0, 0, 4, 3, 9, 0, 0, 77, 4096, 0, 0, 0)),
        (10, 301, ('_start', 'main'), (36 * MS, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    ]),
]


def rank_trace(tree, texts, events):
    records, time, stack, request = b'', 0, 0, 0
    for number, value in enumerate(texts, 1):
        records += b'\x85' + varint(number) + varint(len(value)) + value
    for kind, ms, where, fields in events:
        records += bytes([kind | 0x40]) + varint(ms * MS - time) + zigzag(tree.node(where) - stack)
        time, stack = ms * MS, tree.node(where)
        for i, value in enumerate(fields):
            records += zigzag(value - request) if i == 7 else varint(value)
        request = fields[7]
    return file_header('mpitrace') + block(records, 4, 1)


def make_ranks(path, program, ranks=tuple(RANKS), size=None):
    """A launcher, of which there is only a log, and its ranks; size: of MPI_COMM_WORLD, if some of them are lost."""
    os.makedirs(path)
    settings = '<setting name="clock" value="10007"/>\n<setting name="mpi" value="on"/>\n<setting name="follow" value="on"/>\n<setting name="ranks" value="on"/>\n'
    write(path, 'log.xml', LOG + settings + '<argument text="mpirun"/>\n<event kind="exit" tstamp="2000000000" status="0" signal="0"/>\n</experiment>\n')
    for rank, (texts, events) in enumerate(ranks):
        directory = os.path.join(path, f'_r{rank}.er')
        os.makedirs(directory)
        tree = Tree()
        write(directory, 'log.xml', LOG + PROCESS.format(pid=20 + rank, program=program, lineage=f'_r{rank}', tstamp=0)
              + f'<event kind="mpi" tstamp="20000000" rank="{rank}" size="{size or len(ranks)}" library="golden"/>\n<event kind="exit" tstamp="400000000"/>\n</experiment>\n')
        write_map(directory, program)
        write(directory, 'overview', file_header('overview') + sample(0, 0, 'start', threads=1) + sample(400000000, 2, 'end', user_ns=300 * MS, threads=1))
        blocks = Events().thread(1, 20 + rank, 0).cpu(rank)
        for time in range(UNIT, 5 * UNIT, UNIT):
            blocks.event(time, UNIT, 'user', tree.node(('_start', 'main', 'A')))
        write(directory, 'profile', file_header('profile', 96) + blocks.end(4 * UNIT).block())
        write(directory, 'mpitrace', rank_trace(tree, texts, events))
        write(directory, 'stacks', file_header('stacks', 128) + packed(1, tree.nodes))


def pairs(count):
    """Ranks of which each odd one waits for the one before it as rank 1 does for rank 0, and all at one barrier."""
    world = f'MPI_COMM_WORLD#0:0-{count - 1}'.encode()
    for rank in range(count):
        texts, events = RANKS[rank % 2]
        peer = rank ^ 1
        yield [*texts[:-1], world], [(kind, ms, where, (*fields[:3], peer + 3 if fields[3] in (3, 4) else fields[3], *fields[4:]))
                                     for kind, ms, where, fields in events]


def make(parent):
    """Source of the announced function, the program, two experiments, and one of ranks."""
    program = os.path.join(os.path.abspath(parent), 'app')
    with open(program, 'wb') as file:
        file.write(elf())
    write(parent, 'loop.src', ''.join(f'line {number} of the source\n' for number in range(1, 10)))
    for number, later in ((1, False), (2, True)):
        make_one(os.path.join(parent, f'kinds.{number}.er'), program, later)
    make_ranks(os.path.join(parent, 'ranks.1.er'), program)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: make_kinds.py DIRECTORY')
    make(sys.argv[1])
