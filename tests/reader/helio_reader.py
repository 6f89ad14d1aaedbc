#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A second reader of experiments, written from docs/format.md alone and sharing
nothing with the project: the totals that it computes are the ones that
`helio print` has to show.  It is slow and simple on purpose.

    helio_reader.py test.1.er      prints JSON

As a module: read_family(path) -> {lineage: process}, see read_process().
"""
import collections
import json
import os
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree

STATES = ('user', 'system', 'trap', 'textpfault', 'datapfault', 'kernelpfault', 'lock', 'sleep', 'wait', 'stop')
BLOCK_MAGIC = 0x4b4c4248
BLOCK = struct.Struct('<IIIIQIHHII')
TEXT_MAGIC = 0x54584448
TEXT = struct.Struct('<IIQQQ')
SAMPLE = struct.Struct('<QII32s16Q')
SAMPLE_FIELDS = ('user_ns', 'system_ns', 'minor_faults', 'major_faults', 'voluntary_switches', 'involuntary_switches',
                 'input_blocks', 'output_blocks', 'read_bytes', 'write_bytes', 'read_calls', 'write_calls', 'rss_bytes',
                 'max_rss_bytes', 'threads', 'run_delay_ns')
EVENTS, RAW_NODES, PACKED_NODES, TRACES = 1, 2, 3, 4
PSEUDO = {1: '<Truncated-stack>', 2: '<Stack-unwind-failed>', 3: '<Unknown>', 4: '<no call stack recorded>',
          5: 'collector_record_counters', 6: 'collector_final_counters', 7: 'collector_hwcs_out_of_range', 8: 'collector_hwcs_frozen', 9: '<before recording>'}
JAVA_ADDRESS = 1 << 63
# Constants of a Java class by their tag: what javap calls it, and its operands behind the tag; a text has its own way.
CONSTANTS = {3: ('Integer', '>i'), 4: ('Float', '>f'), 5: ('Long', '>q'), 6: ('Double', '>d'), 7: ('Class', '>H'), 8: ('String', '>H'),
             9: ('Fieldref', '>HH'), 10: ('Methodref', '>HH'), 11: ('InterfaceMethodref', '>HH'), 12: ('NameAndType', '>HH'),
             15: ('MethodHandle', '>BH'), 16: ('MethodType', '>H'), 17: ('Dynamic', '>HH'), 18: ('InvokeDynamic', '>HH'), 19: ('Module', '>H'), 20: ('Package', '>H')}
# Trace files: the fields (~ near, $ text), and the types with the number of fields of a brief record.
TRACE_FILES = {
    'heaptrace': (('~address', 'size', '~old', 'weight'),
                  {'malloc': 2, 'calloc': 2, 'realloc': 3, 'aligned': 2, 'free': 1, 'mmap': 2, 'munmap': 2, 'mremap': 3, 'brk': 2,
                   'lost': 2, 'searched': 2}),
    'synctrace': (('~object', 'waited_ns', 'errno', '~owner'), dict.fromkeys(
        ('mutex', 'condition', 'read lock', 'write lock', 'semaphore', 'barrier', 'join', 'spin lock', 'futex', 'monitor',
         'monitor wait'), 2)),
    'iotrace': (('descriptor', 'waited_ns', '$name', 'bytes', '~offset', 'errno'),
                {'read': 4, 'write': 4, 'open': 3, 'close': 3, 'other': 3, 'wait': 3, 'submit': 5}),
    'omptrace': (('construct', 'duration_ns', 'calls', 'threads', 'worked', 'longest_ns'), {'construct': 5, 'region': 6, 'tasks': 6, 'critical section': 5, 'lock': 5, 'atomic': 5, 'ordered section': 5}),
    'jheaptrace': (('~number', 'size', 'weight', '$class'), {'allocation': 4, 'collected': 1}),
    'hwcounters': (('counter', 'value', '~address'), {'overflow': 2, 'recording': 2, 'final': 2, 'lost': 2, 'frozen': 2}),
    'mpitrace': (('duration_ns', '$function', '$communicator', 'peer', 'tag', 'sent', 'received', '~request', 'arrived', 'sends', 'receives',
                  'error'),
                 {'send': 6, 'begin of a send': 8, 'receive': 9, 'begin of a receive': 8, 'received': 9, 'send and receive': 6,
                  'persistent request': 8, 'start': 2, 'wait': 8, 'test': 2, 'barrier': 3, 'collective': 11, 'one-sided': 9, 'file': 9,
                  'administration': 3}),
}


class Damaged(Exception):
    pass


class Cursor:
    """Varints out of a range of bytes."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def more(self):
        return self.at < len(self.data)

    def byte(self):
        if self.at >= len(self.data):
            raise Damaged('record cut off')
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise Damaged('varint too long')

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def read_header(data, kind):
    """Checks the header of a binary file; returns where its content begins."""
    if len(data) < 32 or data[:8] != b'HELIO\r\n\x1a':
        raise Damaged(f'{kind}: not a Heliometer file')
    version, size = struct.unpack_from('<II', data, 8)
    if version != 1:
        raise Damaged(f'{kind}: version {version}')
    if data[16:32].rstrip(b'\0').decode() != kind:
        raise Damaged(f'{kind}: holds another kind of data')
    return size


def checksum(data, seed=0):
    """XXH64, by its specification."""
    mask = (1 << 64) - 1
    p1, p2, p3, p4, p5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def left(value, bits):
        return (value << bits | value >> 64 - bits) & mask

    def step(lane, word):
        return left(lane + word * p2 & mask, 31) * p1 & mask
    stripes, value = len(data) // 32 * 32, seed + p5 & mask
    if stripes:
        a, b, c, d = seed + p1 + p2 & mask, seed + p2 & mask, seed, seed - p1 & mask
        for words in struct.iter_unpack('<4Q', data[:stripes]):
            a, b, c, d = step(a, words[0]), step(b, words[1]), step(c, words[2]), step(d, words[3])
        value = left(a, 1) + left(b, 7) + left(c, 12) + left(d, 18) & mask
        for lane in (a, b, c, d):
            value = (value ^ step(0, lane)) * p1 + p4 & mask
    value, rest = value + len(data) & mask, data[stripes:]
    words = len(rest) // 8 * 8
    for word, in struct.iter_unpack('<Q', rest[:words]):
        value = left(value ^ step(0, word), 27) * p1 + p4 & mask
    rest = rest[words:]
    if len(rest) >= 4:
        value = left(value ^ int.from_bytes(rest[:4], 'little') * p1 & mask, 23) * p2 + p3 & mask
        rest = rest[4:]
    for byte in rest:
        value = left(value ^ byte * p5 & mask, 11) * p1 & mask
    value = (value ^ value >> 33) * p2 & mask
    value = (value ^ value >> 29) * p3 & mask
    return value ^ value >> 32


def file_checksum(content):
    """As `sums` has it: of pieces of 32768 bytes, each sum the seed of the next."""
    value = 0
    for at in range(0, len(content), 32768):
        value = checksum(content[at:at + 32768], value)
    return value


def block_checksum(head, payload):
    """The header with its last field 0, then the used bytes."""
    return checksum(payload, checksum(head[:36] + bytes(4))) & 0xffffffff or 1


def blocks(data, kind, warnings):
    """(encoding, first, base_time, dropped, epoch, count, payload) of every block in the file's order."""
    at = read_header(data, kind)
    while at + BLOCK.size <= len(data):
        magic, size, used, first, base, dropped, encoding, epoch, count, expected = BLOCK.unpack_from(data, at)
        if magic != BLOCK_MAGIC or size < BLOCK.size:
            at = (at // 4096 + 1) * 4096
            continue
        used = min(used, size - BLOCK.size)
        begin = at + BLOCK.size
        payload = data[begin:begin + used]
        if len(payload) < used:
            warnings.append(f'{kind}: a block is cut off')
        elif expected and block_checksum(data[at:begin], payload) != expected:
            warnings.append(f'{kind}: a block has a wrong checksum')
        yield encoding, first, base, dropped, epoch, count, payload
        at += size


class Thread:
    def __init__(self, number):
        self.number = number
        self.tid = None
        self.begin = None
        self.end = None       # None: no end was recorded
        self.last = 0         # the latest time in force
        self.states = [0] * len(STATES)
        self.events = 0
        self.pauses = []      # (time, +1 pause / -1 resume)
        self.name = b""
        self.groups = [b"", b""]  # of a thread of Java, and the one around it

    def paused(self):
        total = 0
        since = None
        for time, kind in sorted(self.pauses):
            if kind > 0 and since is None:
                since = time
            elif kind < 0 and since is not None:
                total += time - since
                since = None
        if since is not None:
            total += (self.end if self.end is not None else self.last) - since
        return total

    def life(self):
        if self.begin is None:
            return None
        return (self.end if self.end is not None else self.last) - self.begin - self.paused()


def read_context(cursor, contexts):
    """What a runtime says of the events that follow: {runtime: its four fields}."""
    runtime, count = cursor.varint(), cursor.varint()
    if count > 4:
        raise Damaged(f'a context of {count} fields')
    contexts[runtime] = tuple(cursor.varint() for _ in range(count)) + (0,) * (4 - count)


class Profile:
    def __init__(self):
        self.threads = {}
        self.stacks = {}      # stack id -> [µs by state]
        self.collections = []  # of garbage: (begin, duration, thread), in s
        self.collections_more = {}  # of one of these: (bytes in use before, after, cause, collector); -1: not known
        self.classes = []  # of Java, linked: (time in s, thread)
        self.contexts = {}    # (thread, stack id, OpenMP's state, region, task) -> [µs by state]
        self.dropped = 0
        self.events = 0
        self.lengths = collections.Counter()  # µs of one event -> how many have that
        self.warnings = []

    def thread(self, number):
        if number not in self.threads:
            self.threads[number] = Thread(number)
        return self.threads[number]

    def block(self, number, time, payload):
        cursor = Cursor(payload)
        thread = self.thread(number) if number else None
        stack, contexts = 0, {}
        while cursor.more():
            tag = cursor.byte()
            if tag == 0x84:
                cursor.varint()
                continue
            if tag == 0x87:
                read_context(cursor, contexts)
                continue
            if tag == 0x80:
                contexts = {}
                thread = self.thread(cursor.varint())
                thread.tid = cursor.varint()
                time = cursor.varint()
                thread.begin = time if thread.begin is None else min(thread.begin, time)
                thread.last = max(thread.last, time)
                continue
            if thread is None:
                raise Damaged('an event of no thread')
            if tag == 0x88:
                thread.name = bytes(cursor.byte() for _ in range(cursor.varint()))
                continue
            if tag in (0x89, 0x8a):
                thread.groups[tag - 0x89] = bytes(cursor.byte() for _ in range(cursor.varint()))
                continue
            if tag == 0x8b:
                self.collections.append((cursor.varint() / 1e9, cursor.varint() / 1e9, thread.number))
                continue
            if tag == 0x8d:
                self.classes.append((cursor.varint() / 1e6, thread.number))
                continue
            if tag == 0x8c:
                heap = [cursor.varint() - 1 for _ in range(2)]
                words = [bytes(cursor.byte() for _ in range(cursor.varint())).decode() for _ in range(2)]
                self.collections_more[self.collections[-1]] = (*heap, *words)
                continue
            if tag >= 0x80:
                time += cursor.varint()
                self.control(thread, tag, time)
                continue
            dt = 0 if tag & 0x20 else cursor.varint()
            weight = dt if tag & 0x40 else cursor.varint()
            if not tag & 0x10:
                stack += cursor.zigzag()
            time += dt
            self.event(thread, tag & 15, time, weight, stack)
            said = (thread.number, stack, *contexts.get(1, (0, 0, 0, 0))[:3])
            self.contexts.setdefault(said, [0] * len(STATES))[tag & 15] += weight

    def control(self, thread, tag, time):
        thread.last = max(thread.last, time)
        if tag == 0x81:
            thread.end = time if thread.end is None else max(thread.end, time)
        elif tag in (0x82, 0x83):
            thread.pauses.append((time, 1 if tag == 0x82 else -1))
        else:
            raise Damaged(f'unknown record {tag:#x}')

    def event(self, thread, state, time, weight, stack):
        if state >= len(STATES):
            raise Damaged(f'unknown state {state}')
        thread.last = max(thread.last, time)
        thread.states[state] += weight
        thread.events += 1
        self.events += 1
        self.lengths[weight] += 1
        self.stacks.setdefault(stack, [0] * len(STATES))[state] += weight


def read_profile(data):
    profile = Profile()
    for encoding, first, base, dropped, _, _, payload in blocks(data, 'profile', profile.warnings):
        profile.dropped += dropped
        if encoding != EVENTS:
            profile.warnings.append(f'profile: encoding {encoding}')
            continue
        try:
            profile.block(first, base, payload)
        except Damaged as damage:
            profile.warnings.append(f'profile: {damage}')
    return profile


def packed_nodes(first, epoch, count, payload):
    cursor = Cursor(payload)
    latest = []
    new = 0
    for number in range(first, first + count):
        distance = cursor.varint()
        if distance == 0:
            continue
        back = cursor.varint()
        if back == 0:
            new += cursor.zigzag()
            pc = new & 0xffffffffffffffff
            latest.append(pc)
        else:
            pc = latest[-back]
        yield number, (number - distance, epoch, pc)


def raw_nodes(first, payload):
    for slot in range(len(payload) // 16):
        parent, epoch, pc = struct.unpack_from('<IIQ', payload, slot * 16)
        if pc:
            yield first + slot, (parent, epoch, pc)


def read_stacks(data):
    """{id: (parent, epoch, pc)}"""
    nodes = {}
    warnings = []
    for encoding, first, _, _, epoch, count, payload in blocks(data, 'stacks', warnings):
        try:
            if encoding == RAW_NODES:
                nodes.update(raw_nodes(first, payload))
            elif encoding == PACKED_NODES:
                for number, node in packed_nodes(first, epoch, count, payload):
                    nodes[number] = node
            else:
                warnings.append(f'stacks: encoding {encoding}')
        except (Damaged, IndexError) as damage:
            warnings.append(f'stacks: {damage}')
    return nodes, warnings


def trace_block(name, thread, time, payload, texts, releases):
    """The events of a block: dictionaries with time, cpu, stack, type and the fields of the file."""
    fields, types = TRACE_FILES[name]
    cursor = Cursor(payload)
    stack, cpu, contexts = 0, None, {}
    before = dict.fromkeys(fields, 0)
    while cursor.more():
        tag = cursor.byte()
        if tag == 0x80:
            thread = cursor.varint()
            contexts = {}
            continue
        if tag == 0x84:
            cpu = cursor.varint()
            continue
        if tag == 0x87:
            read_context(cursor, contexts)
            continue
        if tag == 0x85:
            number = cursor.varint()
            texts[number] = bytes(cursor.byte() for _ in range(cursor.varint()))
            continue
        if tag == 0x86:
            time += cursor.varint()
            before['~object'] = (before['~object'] + cursor.zigzag()) & 0xffffffffffffffff
            releases.append({'thread': thread, 'time': time, 'object': before['~object']})
            continue
        kind = list(types)[tag & 0x1f]
        time += cursor.varint()
        if not tag & 0x20:
            stack += cursor.zigzag()
        event = {'thread': thread, 'time': time, 'cpu': cpu, 'stack': stack, 'type': kind, 'context': dict(contexts)}
        for i, field in enumerate(fields):
            given = tag & 0x40 or i < types[kind]
            value = 0
            if given and field[0] == '~':
                value = before[field] = (before[field] + cursor.zigzag()) & 0xffffffffffffffff
            elif given:
                value = cursor.varint()
            event[field.lstrip('~$')] = value
        yield event


def read_trace(name, data, releases):
    """The events of a trace file, with their threads; and what is wrong with it."""
    events, warnings, texts = [], [], {0: None}
    for encoding, thread, base, dropped, _, _, payload in blocks(data, name, warnings):
        if encoding != TRACES:
            warnings.append(f'{name}: encoding {encoding}')
            continue
        if dropped:
            warnings.append(f'{name}: {dropped} events were dropped')
        try:
            events += trace_block(name, thread, base, payload, texts, releases)
        except (Damaged, IndexError) as damage:
            warnings.append(f'{name}: {damage}')
    for event in events:
        event.update({field[1:]: texts.get(event[field[1:]]) for field in TRACE_FILES[name][0] if field[0] == '$'})
    return events, warnings


def read_traces(directory, warnings, releases):
    """{file: events} of the trace files that are there."""
    traces = {}
    for name in TRACE_FILES:
        data = read_optional(directory, name)
        if data:
            traces[name], doubts = read_trace(name, data, releases)
            warnings += doubts
    return traces


def frames(nodes, stack):
    """The (epoch, pc) of a stack, innermost first."""
    while stack:
        parent, epoch, pc = nodes[stack]
        yield epoch, pc
        if parent >= stack:
            raise Damaged(f'node {stack} has parent {parent}')
        stack = parent


def read_samples(data):
    at = read_header(data, 'overview')
    samples = []
    while at + SAMPLE.size <= len(data):
        time, kind, _, label, *values = SAMPLE.unpack_from(data, at)
        samples.append({'time_ns': time, 'kind': kind, 'label': label.rstrip(b'\0').decode(errors='replace'),
                        **dict(zip(SAMPLE_FIELDS, values))})
        at += SAMPLE.size
    return samples


def text_record(data, at, address, name):
    """(lines, code) of a record of dyntext."""
    magic, count, size, its_address, code_size = TEXT.unpack_from(data, at)
    if magic != TEXT_MAGIC or address != its_address or size % 8 or not 0 <= size - TEXT.size - 8 * count - code_size < 8:
        raise Damaged(f'dyntext: no record of {name} at {at}')
    lines = at + TEXT.size
    code = lines + 8 * count
    return [struct.unpack_from('<II', data, lines + 8 * i) for i in range(count)], data[code:code + code_size]


def read_constants(data):
    """{number: (kind, operands...)} of the constant pool of a class file (The Java Virtual Machine Specification, 4.4)."""
    constants, at, number = {}, 0, 1
    while at < len(data):
        tag = data[at]
        if tag == 1:
            length, = struct.unpack_from('>H', data, at + 1)
            constants[number] = 'Utf8', data[at + 3:at + 3 + length]
            at += 3 + length
        elif tag in CONSTANTS:
            kind, form = CONSTANTS[tag]
            constants[number] = kind, *struct.unpack_from(form, data, at + 1)
            at += 1 + struct.calcsize(form)
        else:
            raise Damaged(f'constant {number}: unknown tag {tag}')
        number += 2 if tag in (5, 6) else 1
    return constants


def read_functions(directory, maps):
    """What was announced: the code, the line table and the constants of each `load` event, out of dyntext."""
    data = read_optional(directory, 'dyntext')
    if data:
        read_header(data, 'dyntext')
    functions, pools = [], {}
    for entry in maps:
        if entry.get('kind') != 'load':
            continue
        function = {'name': entry.get('name', ''), 'alias': entry.get('alias', ''), 'source': entry.get('source', ''),
                    'address': entry['vaddr'], 'size': entry['size'], 'epoch': entry['epoch'], 'code': None, 'lines': [],
                    'constants': {}}
        if 'text' in entry:
            function['lines'], function['code'] = text_record(data, int(entry['text']), entry['vaddr'], function['name'])
        if 'constants' in entry:
            at = int(entry['constants'])
            if at not in pools:
                pools[at] = read_constants(text_record(data, at, JAVA_ADDRESS, 'constants')[1])
            function['constants'] = pools[at]
        functions.append(function)
    return functions


def unescape(text):
    """Private characters stand for bytes, which are no UTF-8 from 0x80 on; the first one makes the next mean itself."""
    def original(match):
        byte = ord(match.group()[0]) & 0xff
        return match.group(1) if not byte else chr(byte) if byte < 0x80 else chr(0xdc00 + byte)
    return re.sub('\uee00([\uee00-\ueeff])|[\uee01-\ueeff]', original, text)


def read_xml(path, closing):
    """The root element; a missing closing tag, a last line cut off or nothing at all is what a kill leaves behind."""
    with open(path, encoding='utf-8', errors='replace') as file:
        text = file.read()
    if '\n' not in text:
        return ElementTree.Element('nothing')
    if closing not in text:
        text = text[:text.rfind('\n') + 1] + closing
    root = ElementTree.fromstring(text.encode())
    for element in root.iter():
        for name, value in element.attrib.items():
            element.set(name, unescape(value))
    return root


def read_optional(directory, name):
    """What is in a file, or None; only zeros were set aside by a process that was killed before it wrote the header."""
    path = os.path.join(directory, name)
    if not os.path.exists(path):
        return None
    with open(path, 'rb') as file:
        data = file.read()
    return data if any(data[:32]) else None


def maps_of(directory):
    path = os.path.join(directory, 'map.xml')
    if not os.path.exists(path):
        return []
    result = []
    for event in read_xml(path, '</maps>').iter('event'):
        entry = dict(event.attrib)
        for key in ('vaddr', 'size', 'foffset', 'bias'):
            if key in entry:
                entry[key] = int(entry[key], 16)
        entry['epoch'] = int(entry.get('epoch', '0'))
        result.append(entry)
    return result


def covers(entry, pc):
    return entry['vaddr'] <= pc < entry['vaddr'] + entry.get('size', 1)


def find_object(maps, epoch, pc):
    """The map or load event in force for a node, or None: the last one up to its epoch that covers the address."""
    found = end = None
    for entry in maps:
        kind = entry.get('kind')
        if kind in ('map', 'load') and entry['epoch'] <= epoch and covers(entry, pc):
            if found is None or entry['epoch'] >= found['epoch']:
                found, end = entry, None
        elif kind == 'unload' and found and found['kind'] == 'load' and found['vaddr'] == entry['vaddr'] and end is None:
            end = entry['epoch']
    return None if end is not None and epoch > end else found


def summarize(profile, nodes):
    depths = {}
    ends = {}
    for stack, by_state in profile.stacks.items():
        try:
            path = list(frames(nodes, stack))
        except (Damaged, KeyError) as damage:
            profile.warnings.append(f'stack {stack}: {damage}')
            continue
        if not stack:
            path = [(0, 4)]
        for _, pc in path:
            if pc in PSEUDO:
                ends[PSEUDO[pc]] = ends.get(PSEUDO[pc], 0) + sum(by_state)
        depths[len(path)] = depths.get(len(path), 0) + sum(by_state)
    return depths, ends


def read_process(directory):
    """Everything about one process image; seconds where the file has µs."""
    log = read_xml(os.path.join(directory, 'log.xml'), '</experiment>')
    recorded = read_optional(directory, 'profile')
    profile = read_profile(recorded) if recorded else Profile()
    recorded = read_optional(directory, 'stacks')
    nodes, warnings = read_stacks(recorded) if recorded else ({}, [])
    profile.warnings += warnings
    depths, ends = summarize(profile, nodes)
    totals = [sum(t.states[s] for t in profile.threads.values()) / 1e6 for s in range(len(STATES))]
    size = sum(os.path.getsize(os.path.join(directory, name)) for name in ('profile', 'stacks')
               if os.path.exists(os.path.join(directory, name)))
    releases = []
    traces = read_traces(directory, profile.warnings, releases)
    samples = read_optional(directory, 'overview')
    maps = maps_of(directory)
    return {
        'directory': directory,
        'process': dict(next(iter(log.iter('process')), ElementTree.Element('x')).attrib),
        'collector': dict(next(iter(log.iter('collector')), ElementTree.Element('x')).attrib),
        'settings': {e.get('name'): e.get('value') for e in log.iter('setting')},
        'arguments': [e.get('text') for e in log.iter('argument')],
        'log_events': [dict(e.attrib) for e in log.iter('event')],
        'states': dict(zip(STATES, totals)),
        'cpu': sum(totals[:3]),
        'total': sum(totals),
        'events': profile.events,
        'dropped': profile.dropped,
        'ends': 0,
        'bytes': size,
        'threads': [{'number': t.number, 'tid': t.tid, 'name': t.name, 'groups': t.groups, 'begin': None if t.begin is None else t.begin / 1e6,
                     'life': None if t.life() is None else t.life() / 1e6, 'ended': t.end is not None,
                     'last': t.last / 1e6, 'paused': sum(kind for _, kind in t.pauses) > 0,
                     'events': t.events, 'sum': sum(t.states) / 1e6,
                     'states': {s: v / 1e6 for s, v in zip(STATES, t.states) if v}}
                    for t in sorted(profile.threads.values(), key=lambda t: t.number)],
        'collections': sorted(profile.collections),
        'classes': profile.classes,
        'collections_more': [profile.collections_more.get(one) for one in sorted(profile.collections)],
        'traces': traces,
        'releases': releases,
        'counters': [dict(e.attrib) for e in log.iter('counter')],
        'nodes': len(nodes),
        'deepest': max(depths, default=0),
        'depths': {depth: time / 1e6 for depth, time in sorted(depths.items())},
        'unrecorded': {name: time / 1e6 for name, time in ends.items()},
        'samples': read_samples(samples) if samples else [],
        'maps': maps,
        'functions': read_functions(directory, maps),
        'warnings': profile.warnings,
    }


def ended_in_order(process):
    ended = False
    for event in process['log_events']:
        if event['kind'] == 'exec' or (event['kind'] == 'exit' and 'status' not in event):
            ended = True
        elif event['kind'] == 'exec_failed':
            ended = False
    return ended


def end_known_to_others(process, family):
    """When the process ended, in seconds, by the log of whoever saw it; None: nobody did."""
    pid = process['process'].get('pid')
    times = [int(event['tstamp']) for other in family.values() for event in other['log_events']
             if event['kind'] == 'reaped' and event.get('pid') == pid]
    if family['']['process'].get('pid') == pid:
        times += [int(event['tstamp']) for event in family['']['log_events'] if event['kind'] == 'exit' and 'status' in event]
    later = [time for time in times if time >= int(process['process'].get('tstamp', 0))]
    return min(later) // 1000 / 1e6 if later else None


def cpu_at_end(process, family):
    """CPU time after the last events of a process that could not write it, of what others know that it used; in seconds."""
    left = [event for event in process['log_events'] if event['kind'] == 'left'][-1:]
    pid = process['process'].get('pid')
    used = [event for other in family.values() for event in other['log_events'] if 'user_us' in event
            and (event['kind'] == 'reaped' and event.get('pid') == pid or event['kind'] == 'exit' and other is process)][-1:]
    if not left or not used or any(event['kind'] == 'counters' for event in process['log_events']):
        return 0
    clock = family['']['settings'].get('clock', '0').split('-')[-1]
    if any(event['kind'] == 'pause' for other in family.values() for event in other['log_events']) or 'window' in family['']['settings']:
        return 0
    all_us = int(used[0]['user_us']) + int(used[0]['system_us'])
    rest = all_us - sum(int(left[0][name]) for name in ('before_user_us', 'before_system_us', 'collector_us', 'children_user_us',
                                                       'children_system_us')) - round(process['cpu'] * 1e6)
    most = 10000 + max(int(clock), 4000) * 5 // 2 * (len(process['threads']) + 1) + all_us // 20
    return rest / 1e6 if 0 < rest <= most and clock != '0' else 0


def settle_end(process, family):
    """The last waits of a process that did not close its books, and what it computed meanwhile."""
    end = None if ended_in_order(process) else end_known_to_others(process, family)
    if end is None:
        return
    cpu = cpu_at_end(process, family)
    process['cpu'] += cpu
    left = any(event['kind'] == 'left' for event in process['log_events'])
    open_threads = [thread for thread in process['threads'] if thread['begin'] is not None and not thread['ended'] and not thread['paused']]
    for thread in open_threads:
        # one that has left something has all of its life, with what was pending at its last event
        rest = max(end - thread['last'], end - thread['begin'] - thread['sum'] if left else 0)
        if rest <= 0:
            continue
        thread['life'] += max(end - thread['last'], 0)
        for total, key in ((thread, 'sum'), (process, 'total'), (thread['states'], 'sleep'), (process['states'], 'sleep'),
                           (process['unrecorded'], PSEUDO[4])):
            total[key] = total.get(key, 0) + rest
    # of whose threads it was is not known
    if open_threads and cpu:
        process['states']['sleep'] -= cpu
        process['states']['user'] = process['states'].get('user', 0) + cpu


END_MAX = 0.001  # s


def settle_thread_ends(process):
    """What the process used beyond its events, in equal parts at the ends of its threads."""
    counters = [event for event in process['log_events'] if event['kind'] == 'counters'][-1:]
    ended = [thread for thread in process['threads']
             if thread['begin'] is not None and thread['ended'] and thread['events'] and not thread['paused']]
    if not counters or not ended or process['warnings']:
        return
    process['ends'] = min(int(counters[0].get('ends_cpu_ns', 0)) // 1000 / 1e6, END_MAX * len(ended))
    for thread in ended:
        part = process['ends'] / len(ended)
        thread['life'] += part
        for total, key in ((thread, 'sum'), (process, 'total'), (process, 'cpu'), (thread['states'], 'system'),
                           (process['states'], 'system')):
            total[key] = total.get(key, 0) + part


def read_family(path):
    """{lineage: process} of a founder and its descendants; the founder's lineage is ''."""
    family = {'': read_process(path)}
    for name in sorted(os.listdir(path)):
        if re.fullmatch(r'(_[fxcr]\d+)+\.er', name) and os.path.exists(os.path.join(path, name, 'log.xml')):
            family[name[:-3]] = read_process(os.path.join(path, name))
    for process in family.values():
        settle_end(process, family)
        settle_thread_ends(process)
    return family


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: helio_reader.py EXPERIMENT.er')
    try:
        json.dump(read_family(sys.argv[1]), sys.stdout, indent=1, default=bytes.hex)
    except (Damaged, OSError, ElementTree.ParseError) as problem:
        sys.exit(f'helio_reader.py: {problem}')


if __name__ == '__main__':
    main()
