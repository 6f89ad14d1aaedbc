#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes an experiment whose every number is known, with the program that it is
of, from docs/format.md and the ELF specification alone.

    make_experiment.py DIRECTORY       writes app and golden.1.er there

The first thread is the example by which the metrics are explained in
behaviour reference 1.2, a unit being 0.1 s of user CPU time:
    main 2 itself, calls A and B; A nothing itself, calls C for 10;
    B 5 itself, calls C for 15; C a fifth itself, the rest to E and F;
    F gives part of its share to G.
The second thread has recursion, a system call, a lock, two functions of one
name, and a C++ name. A child was forked and did not end in order.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'reader'))
from make_golden import Events, file_header, packed, sample, write  # noqa: E402

BASE = 0x400000
BUILD_ID = bytes(range(0x10, 0x24))

# name, address, size, local; two names for one address are aliases
SYMBOLS = [
    ('_start', 0x1000, 0x40, False),
    ('main', 0x1040, 0x40, False),
    ('A', 0x1080, 0x40, False),
    ('B', 0x10c0, 0x40, False),
    ('C', 0x1100, 0x80, False),
    ('E', 0x1180, 0x40, False),
    ('F', 0x11c0, 0x40, False),
    ('G', 0x1200, 0x40, False),
    ('also_G', 0x1200, 0x40, False),
    ('_ZN3app6Worker3runEi', 0x1240, 0x40, False),
    ('fib', 0x1280, 0x40, False),
    ('helper', 0x12c0, 0x40, True),
    ('helper', 0x1300, 0x40, True),
]
AT = {'helper2': 0x1300}
for _name, _address, _size, _local in SYMBOLS:
    AT.setdefault(_name, _address)
RUN = '_ZN3app6Worker3runEi'

# (stack from the outermost function, state, units of 0.1 s) in the order of time
MAIN_THREAD = [
    (('_start', 'main'), 'user', 2),
    (('_start', 'main', 'A', 'C'), 'user', 2),
    (('_start', 'main', 'A', 'C', 'E'), 'user', 4),
    (('_start', 'main', 'A', 'C', 'F'), 'user', 1),
    (('_start', 'main', 'A', 'C', 'F', 'G'), 'user', 3),
    (('_start', 'main', 'B'), 'user', 5),
    (('_start', 'main', 'B', 'C'), 'user', 3),
    (('_start', 'main', 'B', 'C', 'E'), 'user', 6),
    (('_start', 'main', 'B', 'C', 'F'), 'user', 2),
    (('_start', 'main', 'B', 'C', 'F', 'G'), 'user', 4),
]
SECOND_THREAD = [
    ((RUN, 'fib', 'fib', 'fib'), 'user', 2),
    ((RUN, 'fib'), 'user', 1),
    ((RUN, 'helper'), 'system', 1),
    ((RUN, 'helper2'), 'lock', 2),
    ((RUN, 'helper2'), 'wait', 1),
    ((RUN,), 'sleep', 3),
]
CHILD_THREAD = [
    (('_start', 'main', 'B'), 'user', 3),
    (('_start', 'main'), 'sleep', 2),
]
# process lineage, thread number, tid, start in units, events
THREADS = [('', 1, 12, 0, MAIN_THREAD), ('', 2, 14, 10, SECOND_THREAD), ('_f1', 1, 13, 20, CHILD_THREAD)]


def elf(functions=None, build_id=None):
    """A shared object that nobody runs: one segment of code, a symbol table and a build-id; by default those of the program."""
    functions, build_id = functions or SYMBOLS, build_id or BUILD_ID
    names = b'\0'
    symbols = [struct.pack('<IBBHQQ', 0, 0, 0, 0, 0, 0)]
    for name, address, size, local in sorted(functions, key=lambda symbol: not symbol[3]):
        symbols.append(struct.pack('<IBBHQQ', len(names), (0 if local else 1) << 4 | 2, 0, 1, address, size))
        names += name.encode() + b'\0'
    local_count = 1 + sum(symbol[3] for symbol in functions)
    note = struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id
    section_names = b'\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab\0'
    text = b'\x90' * 0x340

    image = bytearray(0x1000)
    places = {}
    for key, data in (('text', text), ('note', note), ('symtab', b''.join(symbols)), ('strtab', names),
                      ('shstrtab', section_names)):
        image += b'\0' * (-len(image) % 8)
        places[key] = (len(image), len(data))
        image += data
    image += b'\0' * (-len(image) % 8)
    sections = len(image)

    def section(name, kind, flags, address, key, link=0, info=0, align=8, entry=0):
        offset, size = places[key]
        return struct.pack('<IIQQQQIIQQ', section_names.index(name), kind, flags, address, offset, size, link, info,
                           align, entry)

    image += bytes(64)
    image += section(b'.text', 1, 6, 0x1000, 'text')
    image += section(b'.note.gnu.build-id', 7, 2, places['note'][0], 'note', align=4)
    image += section(b'.symtab', 2, 0, 0, 'symtab', link=4, info=local_count, entry=24)
    image += section(b'.strtab', 3, 0, 0, 'strtab', align=1)
    image += section(b'.shstrtab', 3, 0, 0, 'shstrtab', align=1)
    header = b'\x7fELF\x02\x01\x01' + bytes(9)
    header += struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0x1000, 64, sections, 0, 64, 56, 2, 64, 6, 5)
    header += struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, sections, sections, 0x1000)
    header += struct.pack('<IIQQQQQQ', 4, 4, places['note'][0], places['note'][0], places['note'][0], len(note), len(note), 4)
    image[:len(header)] = header
    return bytes(image)


class Tree:
    """Stack nodes; a pc lies 16 bytes into its function, a second occurrence in recursion 20."""

    def __init__(self):
        self.nodes = []
        self.ids = {}

    def node(self, stack):
        if not stack:
            return 0
        if stack not in self.ids:
            parent = self.node(stack[:-1])
            pc = BASE + AT[stack[-1]] + (20 if stack[-1] in stack[:-1] else 16)
            self.nodes.append((parent, pc))
            self.ids[stack] = len(self.nodes)
        return self.ids[stack]


UNIT = 100000  # µs


def write_process(directory, lineage, ended):
    tree = Tree()
    blocks = b''
    for owner, thread, tid, start, events in THREADS:
        if owner != lineage:
            continue
        time = start * UNIT
        out = Events().thread(thread, tid, time)
        for stack, state, units in events:
            for _ in range(units):
                time += UNIT
                out.event(time, UNIT, state, tree.node(stack))
        if ended:
            out.end(time)
        blocks += out.block()
    write(directory, 'profile', file_header('profile', 96) + blocks)
    write(directory, 'stacks', file_header('stacks', 128) + packed(1, tree.nodes))


def write_map(directory, program):
    write(directory, 'map.xml', f'''<?xml version="1.0" encoding="UTF-8"?>
<maps>
<event kind="map" tstamp="0" epoch="0" vaddr="{BASE + 0x1000:#x}" size="0x1000" foffset="0x1000" bias="{BASE:#x}" \
modes="r-x" name="{program}" buildid="{BUILD_ID.hex()}" mtime="1" filesize="{os.path.getsize(program)}"/>
</maps>
''')


LOG = '''<?xml version="1.0" encoding="UTF-8"?>
<experiment version="1.0" producer="golden 1" mono_ns="1000000000" wall_ns="1790000000000000000">
'''
FOUNDER = '''<system hostname="host" os="Linux 6.1.0" arch="x86_64" pagesize="4096" pages="262144" cpus="2" clock_mhz="2500"/>
<setting name="clock" value="10007"/>
<setting name="sample" value="1"/>
<setting name="follow" value="on"/>
<argument text="./app"/>
<argument text="two words"/>
'''
PROCESS = '''<process pid="{pid}" ppid="11" pgrp="12" sid="9" uid="0" cwd="/tmp" exe="{program}" wordsize="64" \
lineage="{lineage}" tstamp="{tstamp}"/>
<collector engine="perf" reason="" library="/usr/lib/libhelio-collector.so"/>
'''


def make(parent):
    program = os.path.join(os.path.abspath(parent), 'app')
    with open(program, 'wb') as file:
        file.write(elf())
    path = os.path.join(parent, 'golden.1.er')
    child = os.path.join(path, '_f1.er')
    os.makedirs(child)
    write(path, 'notes', 'a run for the test\n')
    write(path, 'log.xml', LOG + FOUNDER + PROCESS.format(pid=12, program=program, lineage='', tstamp=0)
          + '<event kind="fork" tstamp="2000000000" pid="13" lineage="_f1"/>\n'
          + '<event kind="warning" tstamp="2100000000" text="made by hand"/>\n'
          + '<event kind="exit" tstamp="3200000000" status="3" signal="0"/>\n</experiment>\n')
    write_map(path, program)
    write(path, 'overview', file_header('overview')
          + sample(0, 0, 'start', minor_faults=100, threads=1)
          + sample(1000000000, 1, 'periodic', user_ns=1000000000, minor_faults=110, threads=2, rss_bytes=4096)
          + sample(3200000000, 2, 'end', user_ns=3500000000, system_ns=100000000, minor_faults=150, major_faults=2,
                   voluntary_switches=7, involuntary_switches=11, read_calls=5, write_calls=6, read_bytes=1000,
                   write_bytes=2000, rss_bytes=8192, max_rss_bytes=16384, threads=1))
    write_process(path, '', True)
    write(child, 'log.xml', LOG + PROCESS.format(pid=13, program=program, lineage='_f1', tstamp=2000000000))
    write_map(child, program)
    write(child, 'overview', file_header('overview') + sample(2000000000, 0, 'start', threads=1))
    write_process(child, '_f1', False)
    return path


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: make_experiment.py DIRECTORY')
    print(make(sys.argv[1]))
