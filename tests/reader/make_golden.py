#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes small experiments whose totals are known by construction, from
docs/format.md alone: to test the second reader with, and the first one.

    make_golden.py DIRECTORY           writes golden.1.er there
    make_golden.py --corpus DIRECTORY  its files as seeds for tests/fuzz/fuzz_experiment.c
"""
import os
import struct
import sys
import tempfile

import helio_reader

STATE = {name: number for number, name in enumerate(
    ('user', 'system', 'trap', 'textpfault', 'datapfault', 'kernelpfault', 'lock', 'sleep', 'wait', 'stop'))}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint((value << 1) ^ (value >> 63))


def file_header(kind, size=64):
    text = f'golden {kind}\n'.encode()
    return (b'HELIO\r\n\x1a' + struct.pack('<II', 1, size) + kind.encode().ljust(16, b'\0') + text).ljust(size, b'\0')


def block(payload, encoding, first, base=0, dropped=0, epoch=0, count=0, size=None):
    """size: longer than what is used, as while recording: the rest is zero and there is no checksum."""
    full = size or (40 + len(payload) + 7) // 8 * 8
    head = struct.pack('<IIIIQIHHI', 0x4b4c4248, full, len(payload), first, base, dropped, encoding, epoch, count)
    total = 0 if size else helio_reader.block_checksum(head + bytes(4), payload)
    return (head + struct.pack('<I', total) + payload).ljust(full, b'\0')


class Events:
    """The payload of one profile block."""

    def __init__(self, thread=0, time=0):
        self.first, self.base = thread, time
        self.time, self.stack = time, 0
        self.data = bytearray()

    def thread(self, number, tid, time):
        self.data += b'\x80' + varint(number) + varint(tid) + varint(time)
        self.time = time
        return self

    def control(self, tag, time):
        self.data += bytes([tag]) + varint(time - self.time)
        self.time = time
        return self

    def end(self, time):
        return self.control(0x81, time)

    def cpu(self, number):
        self.data += b'\x84' + varint(number)
        return self

    def event(self, time, weight, state, stack):
        dt = time - self.time
        tag = STATE[state]
        fields = b''
        if dt == 0:
            tag |= 0x20
        else:
            fields += varint(dt)
        if weight == dt:
            tag |= 0x40
        else:
            fields += varint(weight)
        if stack == self.stack:
            tag |= 0x10
        else:
            fields += zigzag(stack - self.stack)
        self.data += bytes([tag]) + fields
        self.time, self.stack = time, stack
        return self

    def block(self, dropped=0, size=None):
        return block(bytes(self.data), 1, self.first, self.base, dropped, size=size)


def packed(first, nodes, epoch=0):
    """nodes: (parent, pc) for consecutive ids, or None for a slot that is not in use."""
    out = bytearray()
    seen = []
    for number, node in enumerate(nodes, first):
        if node is None:
            out += varint(0)
            continue
        parent, pc = node
        out += varint(number - parent)
        if pc in seen:
            out += varint(len(seen) - seen.index(pc))
        else:
            out += varint(0) + zigzag(pc - (seen[-1] if seen else 0))
            seen.append(pc)
    return block(bytes(out), 3, first, epoch=epoch, count=len(nodes))


def raw(first, nodes, size=None):
    """nodes: (parent, epoch, pc), or None."""
    return block(b''.join(struct.pack('<IIQ', *(node or (0, 0, 0))) for node in nodes), 2, first, size=size)


def sample(time_ns, kind, label, **values):
    fields = ('user_ns', 'system_ns', 'minor_faults', 'major_faults', 'voluntary_switches', 'involuntary_switches',
              'input_blocks', 'output_blocks', 'read_bytes', 'write_bytes', 'read_calls', 'write_calls', 'rss_bytes',
              'max_rss_bytes', 'threads', 'run_delay_ns')
    return struct.pack('<QII32s16Q', time_ns, kind, 0, label.encode(), *(values.get(name, 0) for name in fields))


LOG = '''<?xml version="1.0" encoding="UTF-8"?>
<experiment version="1.0" producer="golden 1" mono_ns="1000000000" wall_ns="1790000000000000000">
<system hostname="h" os="Linux 6.1.0" arch="x86_64" pagesize="4096" pages="1000" cpus="2" clock_mhz="2500"/>
<setting name="clock" value="10007"/>
<argument text="./golden"/>
<argument text="a &amp; b"/>
'''
PROCESS = '''<process pid="{pid}" ppid="11" pgrp="12" sid="9" uid="0" cwd="/tmp" exe="/tmp/golden" wordsize="64" \
lineage="{lineage}" tstamp="{tstamp}"/>
<collector engine="perf" reason="" library="/usr/lib/libhelio-collector.so"/>
'''
MAP = '''<?xml version="1.0" encoding="UTF-8"?>
<maps>
<event kind="map" tstamp="0" epoch="0" vaddr="0x400000" size="0x10000" foffset="0x0" bias="0x0" modes="r-x" \
name="/tmp/golden" mtime="1" filesize="4096"/>
<event kind="map" tstamp="0" epoch="0" vaddr="0x700000" size="0x1000" foffset="0x0" bias="0x700000" modes="r-x" \
name="/lib/first.so" mtime="1" filesize="4096"/>
<event kind="map" tstamp="5000" epoch="1" vaddr="0x700000" size="0x1000" foffset="0x0" bias="0x700000" modes="r-x" \
name="/lib/second.so" mtime="1" filesize="4096"/>
</maps>
'''


# Two functions at one place, one after the other; each keeps its code. The second is withdrawn in epoch 2.
FUNCTIONS = (('made', '', '', 0x600000, 0, b'\x90\xc3', []),
             ('remade', 'again', 'made.src', 0x600000, 1, b'\x90\x90\x90\x90\x90\x90\x90\x90\xc3', [(0, 7), (8, 9)]))


def text(address, code, lines):
    """A record of dyntext."""
    body = b''.join(struct.pack('<II', *line) for line in lines) + code
    size = (32 + len(body) + 7) // 8 * 8
    return (struct.pack('<IIQQQ', 0x54584448, len(lines), size, address, len(code)) + body).ljust(size, b'\0')


def dynamic():
    """(events of map.xml, dyntext)"""
    events = []
    data = file_header('dyntext')
    for name, alias, source, address, epoch, code, lines in FUNCTIONS:
        if epoch:
            events.append(f'<event kind="unload" tstamp="4000" epoch="{epoch - 1}" vaddr="{address:#x}"/>\n')
        events.append(f'<event kind="load" tstamp="4000" epoch="{epoch}" vaddr="{address:#x}" size="{len(code):#x}" name="{name}"'
                      + ''.join(f' {key}="{value}"' for key, value in (('alias', alias), ('source', source)) if value)
                      + f' text="{len(data)}"/>\n')
        data += text(address, code, lines)
    events.append('<event kind="unload" tstamp="6000" epoch="2" vaddr="0x600000"/>\n')
    return ''.join(events), data


def write(directory, name, data):
    mode = 'w' if isinstance(data, str) else 'wb'
    with open(os.path.join(directory, name), mode) as file:
        file.write(data)


def founder(directory):
    """Two threads, 1.0 s and 0.5 s long; one pause; 3 events dropped; five stacks, one of them truncated."""
    os.mkdir(directory)
    write(directory, 'log.xml', LOG + PROCESS.format(pid=12, lineage='', tstamp=0)
          + '<event kind="fork" tstamp="5000" pid="13" lineage="_f1"/>\n'
          + '<event kind="exit" tstamp="1000000000" status="0" signal="0"/>\n</experiment>\n')
    events, dyntext = dynamic()
    write(directory, 'map.xml', MAP.replace('</maps>', events + '</maps>'))
    write(directory, 'dyntext', dyntext)
    write(directory, 'overview', file_header('overview')
          + sample(0, 0, '', user_ns=1, threads=1)
          + sample(1000000000, 2, 'end', user_ns=650000000, system_ns=150000000, threads=1))
    # 1 main, 2 main>a, 3 main>b, 4 main>b>a, 5 thread root, 6 truncated>deep, 7 unused, 8 the same as 2
    nodes = [(0, 0x401000), (1, 0x401100), (1, 0x401200), (3, 0x401100), (0, 0x402000), (0, 1)]
    write(directory, 'stacks', file_header('stacks', 128) + packed(1, nodes)
          + packed(7, [None, (1, 0x401100), (6, 0x401300)])
          + packed(10, [(1, 0x700100)], epoch=0) + packed(11, [(1, 0x700100)], epoch=1))
    main = Events().thread(1, 12, 0).cpu(1)
    main.event(100000, 100000, 'user', 2).event(200000, 100000, 'user', 3).event(200000, 50000, 'system', 3)
    main.event(400000, 150000, 'sleep', 4).control(0x82, 400000).control(0x83, 600000)
    second = Events().thread(2, 14, 250000)
    second.event(500000, 250000, 'user', 5).event(750000, 200000, 'lock', 5).event(750000, 50000, 'wait', 9).end(750000)
    rest = Events(1, 600000)
    rest.event(700000, 100000, 'user', 8).event(800000, 100000, 'datapfault', 10).event(900000, 100000, 'system', 11)
    rest.event(1000000, 100000, 'stop', 2).end(1000000)
    write(directory, 'profile', file_header('profile', 96) + main.block() + second.block(dropped=3) + rest.block())


def child(directory):
    """Killed while it ran: no end anywhere, blocks with room, a range of zeros, log and map without closing tags."""
    os.mkdir(directory)
    write(directory, 'log.xml', '<?xml version="1.0" encoding="UTF-8"?>\n<experiment version="1.0" producer="golden 1">\n'
          + PROCESS.format(pid=13, lineage='_f1', tstamp=5000) + '<event kind="warn')
    write(directory, 'map.xml', MAP.replace('</maps>\n', ''))
    stacks = file_header('stacks', 4096) + raw(1, [(0, 0, 0x401000), (1, 0, 0x401400), None, (2, 1, 0x700200)], size=8192)
    write(directory, 'stacks', stacks)
    events = Events().thread(1, 13, 5000).event(105000, 100000, 'user', 2).event(205000, 100000, 'sleep', 4)
    later = Events(1, 205000).event(305000, 100000, 'user', 1)
    write(directory, 'profile', file_header('profile', 4096) + events.block(size=4096) + bytes(8192)
          + later.block(size=4096) + bytes(4096))


# What the two processes add up to, in seconds, known from the numbers above.
EXPECTED = {
    '': {'states': {'user': 0.55, 'system': 0.15, 'sleep': 0.15, 'lock': 0.2, 'wait': 0.05, 'datapfault': 0.1, 'stop': 0.1},
         'lives': [0.8, 0.5], 'dropped': 3, 'events': 11, 'deepest': 3, 'nodes': 10,
         'unrecorded': {'<Truncated-stack>': 0.05}},
    '_f1': {'states': {'user': 0.2, 'sleep': 0.1}, 'lives': [0.3], 'dropped': 0, 'events': 3, 'deepest': 3, 'nodes': 3,
            'unrecorded': {}},
}


def make(parent):
    path = os.path.join(parent, 'golden.1.er')
    founder(path)
    child(os.path.join(path, '_f1.er'))
    return path


def corpus(directory):
    """One file per file of both processes; the first byte says which file the rest is."""
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = make(scratch)
        for process in (path, os.path.join(path, '_f1.er')):
            for number, name in enumerate(('profile', 'stacks', 'overview', 'log.xml', 'map.xml')):
                if os.path.exists(os.path.join(process, name)):
                    with open(os.path.join(process, name), 'rb') as file:
                        write(directory, f'{os.path.basename(process)}-{name}', bytes([number]) + file.read())


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == '--corpus':
        corpus(sys.argv[2])
    elif len(sys.argv) == 2:
        print(make(sys.argv[1]))
    else:
        sys.exit('usage: make_golden.py [--corpus] DIRECTORY')
