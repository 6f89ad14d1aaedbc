#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes tests/fuzz/seeds: what a parser meets at its edges, a few bytes each, from
docs/format.md, the ELF specification, DWARF 5 and the LSB's .eh_frame alone.
A file whose name begins with "found-" is the input of a crash that there was.
"""
import os
import pathlib
import struct
import sys
import zlib

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'reader'))
from make_golden import Events, block, file_header, packed, raw, sample, varint, zigzag  # noqa: E402

PROFILE, STACKS, OVERVIEW, LOG, MAP, DYNTEXT = (bytes([number]) for number in range(6))  # as fuzz_experiment.c counts
# The same of gprofng's.
GP_PROFILE, GP_FRAMES, GP_HEAP, GP_SYNC, GP_IO, GP_OVERVIEW, GP_MAP = (bytes([number]) for number in range(6, 13))
MOST = b'\xff' * 9 + b'\x01'  # 2^64 - 1 as a varint
LONG = b'\x80' * 40 + b'\x01'  # a varint of more bits than there are


def profiles():
    head = PROFILE + file_header('profile')
    events = Events().thread(1, 12, 0).event(9, 9, 'user', 1)
    yield 'records', head + (Events().thread(1, 12, 0).cpu(3).event(5, 5, 'user', 1).event(5, 2, 'lock', 1)
                             .control(0x82, 6).control(0x83, 9).event(12, 3, 'wait', 4).end(13)).block()
    yield 'huge_numbers', head + block(b'\x80' + MOST * 3 + b'\x00' + MOST * 3 + b'\x81' + MOST, 1, 1)
    yield 'long_numbers', head + block(b'\x80' + LONG * 3 + b'\x84' + LONG + b'\x0f' + LONG * 3, 1, 1)
    yield 'contexts', head + block(b'\x80\x01\x0c\x00' + b''.join(b'\x87' + varint(runtime) + varint(len(fields)) + b''.join(map(varint, fields)) + b'\x40\x01\x00'
                                                               for runtime, fields in ((1, (1, 2, 3)), (2, (1, 2, 3, 4)), (9, (1,)), (1, ()), (2, (2 ** 64 - 1,) * 4), (1, (1,) * 5))), 1, 1)
    yield 'unknown_records', head + block(b'\x85\xff\x0a\x0b\x7f', 1, 1, base=2 ** 64 - 1)
    yield 'in_a_number', head + block(b'\x80\x01\x0c\x80', 1, 0)
    yield 'block_of_nothing', head + struct.pack('<IIIIQIHHI', 0x4b4c4248, 0, 2 ** 32 - 1, 0, 0, 0, 1, 0, 0) + bytes(4)
    yield 'used_more_than_it_has', head + struct.pack('<IIIIQIHHI', 0x4b4c4248, 48, 9, 0, 0, 0, 1, 0, 0) + bytes(12)
    yield 'wrong_checksum', head + events.block()[:-1] + b'\x01' + events.block(dropped=2 ** 32 - 1)
    yield 'header_beyond_the_end', PROFILE + file_header('profile').replace(struct.pack('<II', 1, 64), struct.pack('<II', 1, 1 << 20))
    yield 'magic_at_odd_places', head + b'HBLK' * 9 + bytes(4) + events.block() + b'HBL'


def stacks():
    head = STACKS + file_header('stacks')
    yield 'nodes', head + raw(1, [(0, 0, 0x400000), None, (1, 0, 0x400010)]) + packed(4, [(1, 1), (4, 0x400020), None, (4, 1)])
    yield 'parents_that_come_later', head + raw(1, [(1, 0, 9), (3, 0, 9), (2 ** 32 - 1, 2 ** 32 - 1, 9)])
    yield 'the_same_ids_again', head + raw(1, [(0, 0, 1), (1, 0, 2)]) + raw(1, [(2, 0, 3), (0, 0, 4)])
    yield 'ids_to_the_end', head + raw(2 ** 32 - 2, [(0, 0, 7)] * 4) + block(varint(1), 3, 2 ** 32 - 1, count=2 ** 32 - 1)
    yield 'references_too_far_back', head + block(varint(1) + varint(0) + zigzag(5) + varint(1) + varint(9) + varint(1) + MOST, 3, 1, count=3)
    yield 'more_than_there_are', head + block(varint(1) + varint(0) + zigzag(-1), 3, 1, count=1 << 20)


def texts():
    xml = b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield 'overview', OVERVIEW + file_header('overview') + sample(5, 0, 'x' * 32) + sample(1, 9, '', user_ns=2 ** 64 - 1) + b'cut'
    yield 'log', LOG + xml + b'''<experiment version="1.0" mono_ns="-1" wall_ns="99999999999999999999999">
<setting name="clock"/><argument text="&lt;&#0;&#xffff;"/>
<process pid="x" lineage="_f1_x_" tstamp="0x7fffffffffffffffff" cwd="&unknown;"/>
<event kind="fork" lineage="../../up"/><event/><event kind="counters" events="1e9"/>
<event kind="warning" text="''' + b'&amp;' * 60 + b'"/>\n<collector engine=""></experiment>\n'
    yield 'log_entities', LOG + xml + b'<!DOCTYPE a [<!ENTITY b "' + b'b' * 99 + b'"><!ENTITY c "&b;&b;&b;&b;">]>\n<experiment producer="&c;">\n'
    yield 'map', MAP + xml + b'''<maps>
<event kind="map" epoch="3" vaddr="0xffffffffffffffff" size="0xffffffffffffffff" foffset="1" bias="0x1" name="/a"/>
<event kind="map" epoch="0" vaddr="0x1000" size="0" name=""/><event kind="unmap" vaddr="0x1000"/>
<event kind="map" epoch="0" vaddr="0x2000" size="0x2000" bias="0" name="/b" buildid="0g"/>
<event kind="map" epoch="0" vaddr="0x3000" size="0x1000" bias="0" name="/c"/>
<event kind="load" epoch="0" vaddr="0x3800" size="0x10" name="f" text="64"/>
<event kind="load" epoch="0" vaddr="0x3800" size="0x10" name="g" text="18446744073709551615"/>
<event kind="unload" vaddr="0x9"/><event kind="inherit" epoch="1" events="4294967295"/>
</maps>
'''
    record = struct.pack('<IIQQQ', 0x54584448, 1, 56, 0x3800, 0x10) + struct.pack('<II', 0, 7) + b'\x90' * 16
    yield 'dyntext', DYNTEXT + file_header('dyntext') + record
    yield 'dyntext_sizes', DYNTEXT + file_header('dyntext') + struct.pack('<IIQQQ', 0x54584448, 2 ** 32 - 1, 16, 0x3800, 2 ** 64 - 1)


def trace(*records, **parts):
    return block(b''.join(bytes([tag]) + b''.join(varint(number) for number in numbers) for tag, numbers in records), 4, 1, **parts)


def traces():
    """Native ones: tag, [time], [stack], fields; 0x40 says that all fields are there, 0x85 a text."""
    some = trace((0x40, (5, 2, 64, 100, 0, 1)), (0x61, (6, 64, 0, 0, 9)), (0x84, (3,)), (0x85, (1, 0)), (0x00, (1, 0, 1, 1)))
    most = trace((0x40, (2 ** 64 - 1,) * 8), (0x5f, (2 ** 63,) * 8), (0x85, (1, 2 ** 64 - 1)), (0x85, (2 ** 64 - 1, 0)))
    for number, name in enumerate(('heaptrace', 'synctrace', 'iotrace', 'hwcounters'), 13):
        head = bytes([number]) + file_header(name)
        yield f'{name}_records', head + some
        yield f'{name}_huge_numbers', head + most
        yield f'{name}_text_beyond_the_end', head + trace((0x85, (1, 9))) + b'abc'
    for number, name in enumerate(('mpitrace', 'omptrace'), 18):
        head = bytes([number]) + file_header(name)
        yield f'{name}_records', head + some
        yield f'{name}_huge_numbers', head + most
    yield 'archive_log', bytes([20]) + (b"# now: helio\nCopying '/a' to 'x/a'\n/b cannot be copied to x/b: No space left on device\n/c cannot be copied to x: \n"
                                        b"Copying '/b' to 'x/b'\nCopying ' to '\n cannot be copied to : \n\0/d cannot be copied to y: z")
    yield 'heap_blocks', bytes([13]) + file_header('heaptrace') + b''.join(
        trace((0x40 | kind, (1, 2, 4096, 2 ** 64 - 4096, 4096, 1)), (0x60 | kind, (1, 4096, 16, 4096, 1))) for kind in range(8))
    yield 'mounts', bytes([17]) + b'22 27 0:21 / /proc rw - proc proc rw\n1 2 3\n- - -\n24 27 0:6 / /a\\040b\\ rw shared:1 - \\777 x rw\n\xff\n22'


def launching():
    events = Events().thread(1, 12, 0).event(9, 9, 'user', 1)
    yield 'profile', b'\0' + file_header('profile') + events.block() + events.block(dropped=3)
    yield 'stacks', b'\1' + file_header('stacks') + raw(1, [(0, 0, 0x400000), None, (1, 0, 0x400010)]) + packed(4, [(1, 1), (4, 0x400020), None, (4, 1)])
    yield 'stacks_of_epochs', b'\1' + file_header('stacks') + raw(2 ** 32 - 3, [(0, 2 ** 32 - 1, 1)] * 4) + raw(1, [(0, 7, 1), (1, 8, 2 ** 64 - 1)])
    yield 'trace', b'\2' + file_header('heaptrace') + trace((0x40, (5, 2, 64, 100, 0, 1))) * 3
    yield 'perf_map', b'\3' + b'7f0000001000 40 LazyCompile:~f a.js:1\n0x7f0000001000 0x40 twice\nffffffffffffffff 2 beyond\n1 2\n\n 3 4 \xff<&\0\n5 6 cut'
    header = struct.pack('<IIIIIIQQ', 0x4a695444, 1, 40, 62, 0, 1, 0, 0)

    def entry(kind, content, size=None):
        return struct.pack('<IIQ', kind, len(content) + 16 if size is None else size, 7) + content

    function = struct.pack('<IIQQQQ', 1, 1, 0x1000, 0x1000, 16, 1)
    code = b'name\0' + b'\x90' * 16
    lines = struct.pack('<QQ', 0x1000, 2) + struct.pack('<QII', 0x1040, 5, 0) + b'a.js\0' + struct.pack('<QII', 0x1044, 2 ** 32 - 1, 0) + b'\xff\0'
    yield 'dump', b'\4' + header + entry(2, lines) + entry(0, function + code) + entry(9, b'') + entry(0, function + code)
    yield 'dump_sizes', b'\4' + header + entry(2, struct.pack('<QQ', 0x1000, 2 ** 64 - 1)) \
        + entry(0, struct.pack('<IIQQQQ', 1, 1, 0x1000, 0x1000, 2 ** 64 - 1, 1) + code) + entry(0, function + code, 2 ** 32 - 1)
    yield 'dump_header', b'\4' + struct.pack('<III', 0x4a695444, 1, 2 ** 32 - 1) + entry(0, function + code)
    yield 'log', b'\5' + b'<?xml?>\n<experiment mono_ns="18446744073709551616">\n<process pid="-1" cwd="/\0" lineage="\n<event kind="counters" events="x'
    process = b'\n<process pid="1" own_pid="2" lineage="_r1" tstamp="0"/>\n'
    yield 'log_elsewhere', b'\5' + b'<experiment version="1.0" wall_ns="1" clock="00000000-0000-0000-0000-000000000000 7">' + process
    yield 'log_of_no_clock', b'\5' + b'<experiment clock="">' + process + b' clock="'


def remarks():
    record = b'{"kind":"success","location":{"file":"unit.c","line":%d,"column":1},"message":["a ",{"expr":"b"},{"x":[[]]}],"children":[%s]}'
    yield 'gcc', b'\0[{"format":"1"},[],[' + record % (7, b'') + b']]'
    yield 'gcc_lines', b'\0[{"format":"1"},[{"name":"x","children":[{}]}],[' + record % (2 ** 40, record % (-1, b'')) + b']]'
    yield 'gcc_nested', b'\0' + b'[' * 3000
    yield 'clang', b'\1' + b"--- !Passed\nPass:   inline\nName: x\nDebugLoc: { File: 'unit.c', Line: 24, Column: 2 }\nArgs:\n  - Callee: 'it''s'\n...\n" * 2
    yield 'clang_odd', b"\1--- !Missed\nDebugLoc: { File: ', Line: \n  - '\n  - :''''\nPass:\n--- \n--- !Missed"


def gp_packet(kind, fields, **parts):
    """A packet of gprofng: (offset, format, value)s after its size and kind; parts replace those."""
    data = bytearray(max(offset + struct.calcsize(form) for offset, form, _ in fields) + 3 & ~3)
    for offset, form, value in ((0, '<H', len(data)), (2, '<H', kind), *fields):
        struct.pack_into(form, data, offset, value)
    struct.pack_into('<HH', data, 0, parts.get('size', len(data)), parts.get('kind', kind))
    return bytes(data)


def gp_frames(number, stack, addresses, link=None, **parts):
    words = [*addresses, *([] if link is None else [link])]
    part = 16 + 8 * len(words)
    return gp_packet(11, [(4, '<I', 16), (8, '<Q', number), (16, '<I', parts.pop('part', part)), (20, '<I', 1 | (link is not None) << 31),
                          (24, '<Q', stack), *((32 + 8 * i, '<Q', word) for i, word in enumerate(words))], **parts)


def gp_event(kind, frame, *fields, time=1000000500):
    return gp_packet(kind, [(8, '<Q', 7), (24, '<I', 1), (32, '<Q', time), (40, '<Q', frame), *fields])


def gprofng():
    most = 2 ** 64 - 1
    yield 'gp_profile', GP_PROFILE + gp_event(8, 1, (48, '<I', 10), (52, '<I', 2)) + gp_event(8, 99, (48, '<I', 12), (52, '<I', 2)) \
        + gp_event(8, 1, (48, '<I', 10), (52, '<I', 2 ** 32 - 1), time=0) + gp_packet(8, [(8, '<Q', 1)]) + b'\x10\0\xff\xff' + bytes(12)
    yield 'gp_sizes', GP_PROFILE + gp_packet(8, [(8, '<Q', 1)], size=2) + bytes(40000) + gp_packet(8, [(8, '<Q', 1)], size=65532) + b'\x08'
    yield 'gp_frames', GP_FRAMES + gp_frames(1, 5, [0x401000, 0x402000, most - 1]) + gp_frames(2, 6, [0x403000], link=5) \
        + gp_frames(3, 6, []) + gp_frames(4, 7, [most, 1, most - 2]) + gp_frames(1, 9, [1])
    yield 'gp_frames_in_circles', GP_FRAMES + gp_frames(1, 5, [0x401000], link=6) + gp_frames(2, 6, [0x402000], link=5) \
        + gp_frames(3, 7, [], link=7)
    yield 'gp_frames_parts', GP_FRAMES + gp_frames(1, 5, [9], part=0) + gp_frames(2, 6, [9], part=2 ** 32 - 1) + gp_frames(3, 7, [9], part=17)
    yield 'gp_heap', GP_HEAP + b''.join(gp_event(5, 1, (48, '<I', kind), (56, '<Q', size), (64, '<Q', address), (72, '<Q', old))
                                        for kind, size, address, old in ((0, 9, 64, 0), (2, most, 64, 64), (2, 7, 128, 64), (1, 0, 5, 0), (9, 1, 1, 1)))
    yield 'gp_sync', GP_SYNC + gp_event(2, 1, (48, '<Q', 5), (56, '<Q', most)) + gp_event(2, 1, (48, '<Q', most), (56, '<Q', 0))
    yield 'gp_io', GP_IO + gp_event(19, 1, (48, '<I', 2), (52, '<i', 3), (80, '8s', b'/etc/xyz')) + gp_event(19, 1, (48, '<I', 0), (52, '<i', 3)) \
        + gp_event(19, 1, (48, '<I', 8), (52, '<i', -1), (80, '4s', b'')) + gp_event(19, 1, (48, '<I', 10), (52, '<I', 0))
    yield 'gp_overview', GP_OVERVIEW + struct.pack('<8x2q', 1, 5) + bytes(480) + struct.pack('<8x2q', 1, 4) + bytes(480) + b'cut'
    yield 'gp_map', GP_MAP + b'''<event kind="map" object="segment" tstamp="1.5" vaddr="0x401000" size="4096" foffset="+0x1000" modes="0x005" name="/bin/true"/>
<event kind="map" object="segment" tstamp="99999999999999999999" vaddr="0xffffffffffffffff" size="99" modes="0x7" name="a"/>
<event kind="map" object="dynfunc" name="[vdso]" vaddr="0x402000" size="683" funcname="f"/>
<event kind="map" object="function" tstamp="0.1" vaddr="0x402000" size="3292" name="[vdso]"/>
<event kind="unmap" tstamp="1.5" vaddr="0x401000"/><event kind="unmap" tstamp="x" vaddr="0x401000"/>
'''
    yield 'gp_log', LOG + b'''<experiment version="12.4">
<collector>1</collector>
</experiment>
<process pid="-1"></process><process>a%0a%b%zz%</process>
<profile name="profile" ptimer="0"><profdata fname="../profile"/><profpckt kind="8"/><profpckt kind="9"/>
<field name="TSTAMP" offset="65535" type="INT64"/><field name="MSTATE" offset="99999999999" type="INT32"/>
<field name="IOFNAME" offset="65535" type="STRING"/><event kind="run" tstamp="1.2.3" time="99999999999999999999"/>
<event kind="exit" tstamp="-5"/><event kind="cwarn" id="1">text</event><event kind="comment"/>
'''


def record(body):
    """A CIE or an FDE, its length before it."""
    body = body.ljust((len(body) + 7) // 8 * 8 - 4, b'\0') if len(body) % 8 != 4 else body
    return struct.pack('<I', len(body)) + body


def frames(program, cie_program=b'\x0c\x07\x08\x90\x01', augmentation=b'zR', data=b'\x1b', columns=b'\x01\x78\x10', pointer=None):
    """.eh_frame_hdr and .eh_frame with a CIE and an FDE for 256 bytes of code, 4096 before the header."""
    cie = record(struct.pack('<IB', 0, 1) + augmentation + b'\0' + columns
                 + (varint(len(data)) + data if augmentation.startswith(b'z') else b'') + cie_program)
    table = 12 + 8
    fde = table + len(cie)
    body = struct.pack('<I', fde + 4 - table if pointer is None else pointer)
    body += struct.pack('<iI', -4096 - (fde + 8), 256) + b'\0' + program
    head = struct.pack('<4BiI', 1, 0x1b, 0x03, 0x3b, table - 4, 1) + struct.pack('<ii', -4096, fde)
    return head + cie + record(body)


def returns(count=64):
    """A search table of addresses that its FDE does not cover, at each of which the code is a return."""
    fde = 12 + 8 * count + 20
    code = fde + 20
    cie = record(struct.pack('<IB', 0, 1) + b'zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08')
    table = b''.join(struct.pack('<ii', code + 2 * i, fde) for i in range(count))
    body = record(struct.pack('<IiI', fde + 4 - (fde - len(cie)), -4096, 1))
    return struct.pack('<4BiI', 1, 0x1b, 0x03, 0x3b, 0, count) + table + cie + body + b'\xc3' * (2 * count + 64)


def expression(*operations):
    code = b''.join(operations)
    return varint(len(code)) + code


def unwinding():
    back = b'\x2f' + struct.pack('<h', -3)
    everything = (b'\x41\x0e\x10\x86\x02\x42\x0d\x06\x0a\x03\x01\x00\xc6\x0b\x04\x01\x00\x00\x00\x05\x03\x03\x06\x03\x07\x0c'
                  b'\x08\x0d\x09\x0e\x03\x11\x0c\x7e\x12\x07\x7e\x13\x7e\x14\x03\x02\x15\x03\x7e\x2e\x08\x2f\x03\x02')
    yield 'all_instructions', frames(everything)
    yield 'expressions', frames(b'\x0f' + expression(b'\x77\x08\x06', b'\x12\x13\x23\x08') + b'\x10\x06' + expression(b'\x77\x00')
                                + b'\x16\x03' + expression(b'\x80\x00\x31\x1a\x3a\x24\x22'))
    yield 'expression_without_end', frames(b'\x0f' + expression(back))
    yield 'expression_divides_by_zero', frames(b'\x0f' + expression(b'\x31\x30\x1b\x31\x30\x1d\x22'))
    yield 'expression_jumps_out', frames(b'\x0f' + expression(b'\x31\x28', struct.pack('<h', -32768)))
    yield 'expression_beyond_the_end', frames(b'\x0f' + MOST)
    yield 'cfa_stands_still', frames(b'\x0e\x00')
    yield 'cfa_goes_back', frames(b'\x12\x06\x7f\x86\x02')
    yield 'cfa_is_far', frames(b'\x0c\x07' + MOST + b'\x86\x02')
    yield 'saved_far_away', frames(b'\x86' + MOST + b'\x05\x06' + varint(1 << 40))
    yield 'remembers_too_much', frames(b'\x0a' * 20 + b'\x0b' * 20)
    yield 'signal_frame', frames(b'\x0e\x80\x01', augmentation=b'zPLRS', data=b'\x9b\0\0\0\0\x1b\x1b')
    yield 'unknown_augmentation', frames(b'', augmentation=b'eh', columns=bytes(8) + b'\x01\x78\x10')
    yield 'cie_is_itself', frames(b'', pointer=2 ** 32 - 4)
    yield 'returns_without_rules', returns()
    yield 'long_alignments', frames(b'\x41\x86\x02', columns=LONG + LONG + b'\x10')


def elf(sections, **fields):
    """An ELF64 file: sections as {name: (type, link, entry size, content)}; fields replace numbers of its header."""
    names = b'\0' + b''.join(name.encode() + b'\0' for name in sections) + b'.shstrtab\0'
    listed = list(sections.items()) + [('.shstrtab', (3, 0, 0, names))]
    body, table, at = b'', bytes(64), 64
    for name, (kind, link, size, content) in listed:
        table += struct.pack('<IIQQQQIIQQ', names.index(b'\0' + name.encode() + b'\0') + 1, kind, 6 if name == '.text' else 0,
                             0x1000 if name == '.text' else 0, at, len(content), link, 0, 8, size)
        body, at = body + content, at + len(content)
    values = {'offset': at, 'entry_size': 64, 'count': len(listed) + 1, 'names': len(listed), 'machine': 62, **fields}
    return (b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, values['machine'], 1, 0x1000, 0, values['offset'],
            0, 64, 56, 0, values['entry_size'], values['count'], values['names'])) + body + table


def symbol(name, value, size, info=0x12, section=1):
    return struct.pack('<IBBHQQ', name, info, 0, section, value, size)


def objects():
    text = (1, 0, 0, b'\x90\xc3' * 32)
    names = b'\0main\0_ZN1a1bEv\0local.part.0\0'
    good = bytes(24) + symbol(1, 0x1000, 16) + symbol(6, 0x1010, 0) + symbol(15, 0x1018, 8, 0x02)

    def with_symbols(symbols, entry=24, link=3, **fields):
        return elf({'.text': text, '.symtab': (2, link, entry, symbols), '.strtab': (3, 0, 0, names)}, **fields)
    yield 'symbols', with_symbols(good)
    yield 'symbols_that_overlap', with_symbols(bytes(24) + symbol(1, 0x1000, 64) + symbol(6, 0x1000, 64) + symbol(6, 0x1004, 2 ** 64 - 1))
    yield 'symbols_at_the_ends', with_symbols(bytes(24) + symbol(1, 2 ** 64 - 1, 2) + symbol(6, 0, 2 ** 63) + symbol(2 ** 32 - 1, 0x1001, 1))
    yield 'symbols_of_no_size', with_symbols(good, entry=0)
    yield 'names_in_no_table', with_symbols(good, link=0xfff0)
    yield 'section_names_elsewhere', with_symbols(good, names=0xffff)
    yield 'sections_beyond_the_end', with_symbols(good, offset=2 ** 64 - 64)
    yield 'section_entries_of_no_size', with_symbols(good, entry_size=0, count=0xff00)
    yield 'other_machine', with_symbols(good, machine=183)
    yield 'notes', elf({'.text': text, '.note.gnu.build-id': (7, 0, 0, struct.pack('<III', 4, 20, 3) + b'GNU\0' + bytes(20)
                                                             + struct.pack('<III', 2 ** 32 - 1, 2 ** 32 - 1, 3))})
    yield 'compressed_symbols', elf({'.text': text, '.gnu_debugdata': (1, 0, 0, b'\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\x02\0\x21\x01')})
    yield 'debug_link', elf({'.text': text, '.gnu_debuglink': (1, 0, 0, b'../' * 9 + b'x')})
    yield 'procedure_linkage', elf({'.text': text, '.plt': (1, 0, 16, b'\xff\x25\0\0\0\0' * 8), '.dynsym': (11, 4, 24, good),
                                    '.dynstr': (3, 0, 0, names), '.rela.plt': (4, 3, 24, struct.pack('<QQq', 8, 99 << 32 | 7, 0) * 3)})
    yield 'class_32', b'\x7fELF\x01' + with_symbols(good)[5:]
    yield 'header_only', with_symbols(good)[:64]


COMMANDS = {
    'settings': 'metrics e.user:i.%system!wait:name\nsort i.user\nlimit 20\nname short:soname\nviewmode expert\n'
                'printmode ,\noutfile out.txt\nfunctions\n',
    'metrics': 'metrics :::\nmetrics e\nmetrics e.\nmetrics .%!.user\nmetrics i.e.%user:bogus:-name\ndmetrics all\n'
               'metrics any:hwc:bit\ncmetrics default\n',
    'quotes': 'fsingle "a \\" b" \'c "d\' \ne"f g\'h i"j\'k \n"\\\ncsingle "open\ncsingle \'open\n',
    'words': 'functions ' + 'x ' * 40 + '\n"" \'\' ""\n\t \t\n\r\n\v\f\n',
    'comments': '# first\n#\n  # second\nlimit 5 # no comment\n',
    'beginnings': 'f\nfu\nfun\nFUNCTIONS\ncalls\nca\nq\nhel\nfunction\nfunctoins\n',
    'numbers': 'limit -1\nlimit 99999999999999999999999\nlimit 0x10\nlimit 1e3\nlimit \n',
    'bytes': b'fsingle \xff\xfe\x80 \xc3\xa9\nfs\xe2\x82\ncs\0hidden\n\x1b[31mlimit\n',
    'old_names': 'er_print\ndmetrics e.user\ndsort i.user\nen_desc on\nen_desc =x\nscc b:v\ndcc -1\ndthresh 5\n'
                 'object_show a,b\nobject_api c\npathmap /a /b\naddpath .:..\ntabs functions:callers\nignore_no_xhwcprof\n',
    'long': 'name ' + 'long:' * 600 + '\n',
}

FILTERS = {
    'numbers': '0x1F == 31 && 017 == 15 && 1 - 2 > 0 && 18446744073709551615 + 1 == 0 || 1 / 0 || 7 % 0',
    'too_large': '18446744073709551616', 'octal': '089', 'hexadecimal': '0x',
    'precedence': '1|2^3&4==5<6<<7+8*9', 'choice': '0?0:1?CPUID?2:3:4', 'unary': '!~-!~-CPUID',
    'lists': '(1,2,(3,4)) IN 1,2 && 1,CPUID SOME IN (THRID,2,3) || (2,3) ORDERED IN (1,2,3,MSTATE)',
    'stacks': 'FNAME("main") IN STACK && (FNAME("A"),FNAME("B|C")) ORDERED IN STACK || STACK IN FNAME(".*") || LEAF != FNAME("mem.*")',
    'sorts': 'STACK + 1', 'sets': 'DNAME("x") IN DOBJ || FNAME("A") IN 5', 'properties': 'HAS_PROP(HSIZE) ? HSIZE : TSTAMP_LO + evt_time * NTICK',
    'unknown': 'CPUID && 0 || !HSIZE || HSIZE IN HSIZE', 'strings': 'FNAME("(") IN STACK', 'open': 'FNAME("x', 'words': 'SOME IN IN ORDERED',
    'chains': '1 < 2 < 3', 'nested': '(' * 1200 + '1', 'long': '1' + '+1' * 3000, 'blanks': ' \t\r\n', 'bytes': b'\xff\x80 == "\xfe"',
}

SYMBOLS = {
    'nested': '_Z' + 'N1a' * 60 + 'E' * 60 + 'v', 'substitutions': '_ZN1aS_S0_S1_SZZ_ES_', 'self': '_Z1fIT_ET_',
    'templates': '_ZN1aI1bIS0_IS1_IS2_EEEE1cEv', 'number': '_Z99999999999999999999a', 'no_number': '_Z0_Z00Zv',
    'operators': '_ZN1acvT_IiEEv', 'lambda': '_ZZ4mainENKUlT_E0_clIiEEDaS_', 'rust': '_RNvMs0_NtCs1_1a1bINtB2_1cpE1d',
    'rust_back': '_RNvB_B_', 'rust_old': '_ZN4core3fmt17h0123456789abcdef$LT$E', 'd': '_D1a1bFZ1c1dMFNaNbZv',
    'plus': 'f.part.0.cold.constprop.7.isra.3', 'version': 'g@@@@', 'bytes': b'_Z1\xff\x80\0f',
}


GROUPS = {
    'members': '#analyzer experiment group\n# a comment\na.er\n/b.er\n\n  \n../c.er  \na.er\na.erg\n',
    'itself': '#analyzer experiment group\n' + 'g.erg\n.\n..\n/\n' * 3,
    'long': '#analyzer experiment group\n' + 'x' * 5000,
    'bytes': b'#analyzer experiment group\r\n\0a.er\n\xff\x1b[1m.er\n\t',
    'cut': '#analyzer experiment gr',
}


def processes():
    """What lies at address 0 of a process that is attached to: header, two segments, the dynamic section at 0x100, symbols behind it."""
    def image(dynamic, phnum=2, at=0x100, size=0x100, rest=b''):
        header = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, 0, 0, 64, 56, phnum, 0, 0, 0)
        segments = struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, 0x400, 0x400, 4096) + struct.pack('<IIQQQQQQ', 2, 6, at, at, at, size, size, 8)
        entries = b''.join(struct.pack('<QQ', *entry) for entry in dynamic) + bytes(16)
        symbols = bytes(24) + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, 0x1000, 16) + struct.pack('<IBBHQQ', 2 ** 32 - 1, 2, 0, 1, 8, 8)
        return (header + segments).ljust(0x100, b'\0') + entries.ljust(0x100, b'\0') + symbols.ljust(0x80, b'\0') + b'\0dlopen\0'.ljust(0x80, b'\0') + rest

    tables = [(6, 0x200), (5, 0x280), (10, 16)]  # symbols, strings, how many bytes
    hashes = struct.pack('<II', 1, 3) + bytes(24)
    chains = struct.pack('<4IQ3I', 1, 1, 1, 6, 0, 1, 2, 3)
    yield 'hash', image([*tables, (4, 0x300)], rest=hashes)
    yield 'gnu_hash', image([*tables, (0x6ffffef5, 0x300)], rest=chains)
    yield 'chain_without_end', image([*tables, (0x6ffffef5, 0x300)], rest=chains[:-4] + bytes(256))
    yield 'buckets_without_number', image([*tables, (0x6ffffef5, 0x300)], rest=struct.pack('<4I', 2 ** 24, 0, 2 ** 32 - 1, 0))
    yield 'symbols_without_number', image([*tables, (4, 0x300)], rest=struct.pack('<II', 1, 2 ** 32 - 1))
    yield 'strings_without_end', image([(6, 0x200), (5, 0x280), (10, 2 ** 64 - 1), (4, 0x300)], rest=hashes)
    yield 'segments_beyond_the_end', image(tables, phnum=2 ** 16 - 1)
    yield 'dynamic_section_elsewhere', image(tables, at=2 ** 64 - 8, size=2 ** 63)


def archives():
    """APPNOTE.TXT: files, the directory, and where that is, for fuzz_archive.c."""
    text = b'class A {\n}\n' * 9
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = deflate.compress(text) + deflate.flush()

    def archive(*files, at=None, size=None, comment=b''):
        body, directory = b'', b''
        for name, way, data, length, *more in files:
            head = struct.pack('<HHHHHIIIHH', 20, 0, way, 0, 0, 0, more[0] if more else len(data), length, len(name), 0)
            directory += b'PK\1\2' + struct.pack('<H', 20) + head[:-2] + struct.pack('<HHHHII', 0, 0, 0, 0, 0, len(body)) + name
            body += b'PK\3\4' + head + name + data
        return body + directory + b'PK\5\6' + struct.pack('<HHHHIIH', 0, 0, len(files), len(files), len(directory) if size is None else size,
                                                          len(body) if at is None else at, len(comment)) + comment
    yield 'both_ways', archive((b'java.base/pkg/A.java', 8, packed, len(text)), (b'B.java', 0, text, len(text)), comment=b'PK\5\6 and more')
    yield 'other_sizes', archive((b'pkg/A.java', 8, packed, 7), (b'B.java', 0, text, 2 ** 32 - 1, 2 ** 32 - 1))
    yield 'packed_beyond_the_end', archive((b'pkg/A.java', 8, packed, len(text), 2 ** 32 - 1), (b'B.java', 12, text, 9))
    yield 'directory_beyond_the_end', archive((b'pkg/A.java', 8, packed, len(text)), at=2 ** 32 - 1)
    yield 'directory_too_long', archive((b'/pkg/A.java', 8, packed, len(text)), size=2 ** 26)
    yield 'nothing_but_an_end', archive()


def bytecodes():
    """Code that refers to constants, and a constant pool (The Java Virtual Machine Specification, 4.4), for fuzz_bytecode.c."""
    def one(code, *constants):
        return struct.pack('>H', len(code)) + code + b''.join(constants)

    def text(value, length=None):
        return struct.pack('>BH', 1, len(value) if length is None else length) + value

    def refer(tag, *numbers):
        return struct.pack(f'>B{len(numbers)}H', tag, *numbers)

    member = (text(b'pkg/Class'), refer(7, 1), text(b'name'), text(b'(I[Ljava/lang/String;J)V'), refer(12, 3, 4))
    everything = bytes.fromhex('b20006' 'b60006' 'b80006' 'b900060200' 'ba00070000' 'bb0002' '120d' '130008' '14000900' '14000b' 'c500020300' 'c4150001' 'c4840001fed4' 'bc0a' 'a7ffd0'
                               'c8ffffff00' 'b1')
    yield 'members', one(everything, *member, refer(9, 2, 5), refer(18, 0, 5), struct.pack('>Bi', 3, -70000), struct.pack('>Bq', 5, -2 ** 63),
                         struct.pack('>Bd', 6, float('nan')), refer(8, 3), struct.pack('>Bf', 4, 1e-45), struct.pack('>BBH', 15, 6, 6), refer(16, 4), refer(10, 2, 5), refer(11, 2, 5))
    yield 'in_circles', one(b'\xb6\0\1\xb6\0\2\x12\3\xb2\0\4', refer(10, 1, 1), refer(12, 2, 2), refer(8, 3), refer(7, 4), refer(17, 5, 5))
    yield 'numbers_beyond_the_end', one(b'\x13\xff\xff\x12\xff\x12\0', refer(8, 2 ** 16 - 1), refer(10, 0, 2 ** 16 - 1), refer(12, 1, 9))
    yield 'text_beyond_the_end', one(b'\x12\2', refer(8, 2), text(b'abc', 2 ** 16 - 1))
    yield 'second_half_of_a_long', one(b'\x14\0\1\x14\0\2\x12\3', struct.pack('>Bq', 5, 1), struct.pack('>Bi', 3, 1))
    yield 'types_that_are_none', one(b'\xb8\0\6\xbb\0\2', text(b'[[[['), refer(7, 1), text(b'\xc0\x80\n\xed\xa0\x80'), text(b'(L(I[;)'), refer(12, 3, 4), refer(10, 2, 5))
    yield 'switches', one(b'\0\xaa\0\0' + struct.pack('>iiiii', 9, -1, 0, -9, 2 ** 31 - 1) + b'\xaa\0\0' + struct.pack('>iii', 0, -2 ** 31, 2 ** 31 - 1) + b'\xab\0\0\0' + struct.pack('>ii', 0, 2 ** 31 - 1))
    yield 'unknown_tag', one(b'\x12\1\x12\2', text(b'x'), b'\x02\0\0\xff')


def kinds():
    """Files of fuzz_kinds.c: numbers that are far away, and lists of ranks that are none."""
    io, mpi, openmp = (bytes([number]) for number in (4, 6, 10))

    def one(name, records):
        return file_header(name) + block(records, 4, 1)

    yield 'text_far_away', io + one('iotrace', b'\x85' + varint(2 ** 20 - 1) + b'\1a\x20\1\1\1\1\1')
    for name, text in (('ranks_many', b'a#0:0-16777215'), ('ranks_backwards', b'#1:3-1,2'), ('ranks_without_step', b'#2:0-9+0|1'), ('ranks_of_nobody', b'#:|')):
        yield name, mpi + one('mpitrace', b'\x85\1\1f\x85\2' + varint(len(text)) + text + b'\x20\1\1\1\2\4\3\1' + b'\x2a\1\1\1\2')
    yield 'construct_far_away', openmp + one('omptrace', b'\x20\1' + varint(2 ** 20 - 1) + b'\0\0\0\1')
    profile, far = bytes([11]) + file_header('profile', 96), varint(0xffff << 32 | 1)
    yield 'constructs_of_64_bits', profile + block(b'\x80\1\x0c\0\x87\1\3\1' + far * 2 + b'\x40\1\0', 1, 1)
    yield 'thread_of_64_bits', profile + block(b'\x80' + far + b'\x0c\0\x40\1\0', 1, 1)
    for number, name in (2, 'heaptrace'), (3, 'synctrace'), (4, 'iotrace'), (6, 'mpitrace'):
        yield f'{name}_thread_of_64_bits', bytes([number]) + one(name, b'\x80' + far + b'\x60\1' + zigzag(16) + b'\1\1\0')
    yield 'constructs_in_a_circle', openmp + one('omptrace', b'\x20\1\1\0\0\2\1\x20\1\2\0\0\1\1')


def write(target, seeds):
    folder = HERE / 'seeds' / target
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in seeds:
        (folder / name).write_bytes(data if isinstance(data, bytes) else os.fsencode(data))


write('experiment', [*profiles(), *stacks(), *texts(), *gprofng(), *traces()])
write('kinds', kinds())
write('archive', archives())
write('bytecode', bytecodes())
write('launch', launching())
write('remarks', remarks())
write('remote', processes())
write('group', GROUPS.items())
write('cfi', unwinding())
write('object', objects())
write('command', COMMANDS.items())
write('filter', FILTERS.items())
write('demangle', SYMBOLS.items())
