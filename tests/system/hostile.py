# SPDX-License-Identifier: Apache-2.0
"""
Objects that are small, or not, and cost as much as they can: ELF files made byte by byte.
Each kind takes a size, and its file grows with that; hostile.KINDS has them by name.
"""
import itertools
import lzma
import struct
import zlib

CODE = 0x10000  # where the one section of code lies
SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 2, 4, 0x800
PROGBITS, SYMTAB, STRTAB = 1, 2, 3


def elf(sections, code_size=4096):
    """sections: (name, bytes, {more of its header}); .text comes first."""
    all_sections = [('', b'', {'type': 0}), ('.text', b'\x90' * code_size, {'flags': SHF_ALLOC | SHF_EXECINSTR, 'addr': CODE})] + sections
    names = b'\0'.join(name.encode() for name, _, _ in all_sections) + b'\0.shstrtab\0'
    all_sections.append(('.shstrtab', names, {'type': STRTAB}))
    body, headers, at, name_at = [], [], 64 + 56, 0
    for name, data, more in all_sections:
        pad = -at % 16
        at += pad
        body += [b'\0' * pad, data]
        headers.append(struct.pack('<IIQQQQIIQQ', name_at, more.get('type', PROGBITS), more.get('flags', 0), more.get('addr', 0), at if more.get('type') != 0 else 0,
                                   len(data), more.get('link', 0), more.get('info', 0), 16, more.get('entsize', 0)))
        at += len(data)
        name_at += len(name) + 1
    pad = -at % 16
    code_at = (64 + 56 + 15) // 16 * 16
    program = struct.pack('<IIQQQQQQ', 1, 5, code_at, CODE, CODE, code_size, code_size, 16)
    head = struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 3, 62, 1, 0, 64, at + pad, 0, 64, 56, 1, 64, len(headers), len(headers) - 1)
    return b''.join([head, program, *body, b'\0' * pad, *headers])


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 0x7f | (0x80 if value > 0x7f else 0))
        value >>= 7
        if not value:
            return bytes(out)


# Symbols

def symbols(count, address, size, name):
    """count functions; address, size and name are functions of their number."""
    texts, offsets, at = [b'\0'], {}, 1
    out = [bytes(24)]
    for i in range(count):
        text = name(i)
        if text not in offsets:
            offsets[text] = at
            texts.append(text.encode() + b'\0')
            at += len(text) + 1
        out.append(struct.pack('<IBBHQQ', offsets[text], 0x12, 0, 1, CODE + address(i), size(i)))
    return elf([('.symtab', b''.join(out), {'type': SYMTAB, 'link': 3, 'info': 1, 'entsize': 24}), ('.strtab', b''.join(texts), {'type': STRTAB})],
               code_size=max(4096, count))


def many_symbols(n):
    return symbols(n, lambda i: i, lambda i: 1, lambda i: f'f{i:x}')


def symbols_at_one_address(n):
    return symbols(n, lambda i: 0, lambda i: 8, lambda i: f'f{i:x}')


def symbols_in_each_other(n):
    return symbols(n, lambda i: i, lambda i: 2 * n - 2 * i, lambda i: f'f{i:x}')


def symbols_of_one_name(n):
    return symbols(n, lambda i: i, lambda i: 1, lambda i: 'same')


def symbols_with_long_endings(n):
    """Names that end in one another: each is 30 KB long, and they share their bytes."""
    text = b'\0_Z' + b'1a' * 16000 + b'\0'
    out = [bytes(24)] + [struct.pack('<IBBHQQ', 1 + 2 * (i % 15000), 0x12, 0, 1, CODE + i, 1) for i in range(n)]
    return elf([('.symtab', b''.join(out), {'type': SYMTAB, 'link': 3, 'info': 1, 'entsize': 24}), ('.strtab', text, {'type': STRTAB})], code_size=max(4096, n))


# DWARF

TAG_UNIT, TAG_FUNCTION, TAG_INLINED = 0x11, 0x2e, 0x1d
NAME, LINES, LOW, HIGH, RANGES, COMP_DIR, ORIGIN = 0x03, 0x10, 0x11, 0x12, 0x55, 0x1b, 0x31
ADDR, DATA8, STRING, SEC_OFFSET, REF4 = 0x01, 0x07, 0x08, 0x17, 0x13


def abbreviation(code, tag, children, *attributes):
    return uleb(code) + uleb(tag) + bytes([children]) + b''.join(uleb(name) + uleb(form) for name, form in attributes) + b'\0\0'


def unit(content, abbreviations_at=0):
    body = struct.pack('<HIB', 4, abbreviations_at, 8) + content
    return struct.pack('<I', len(body)) + body


def lines(program, files=(b'a.c',), directories=()):
    tables = b''.join(name + b'\0' for name in directories) + b'\0' + b''.join(name + b'\0\0\0\0' for name in files) + b'\0'
    head = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + tables
    body = struct.pack('<HI', 4, len(head)) + head + program
    return struct.pack('<I', len(body)) + body


SET_ADDRESS = b'\0\x09\x02' + struct.pack('<Q', CODE)
END_SEQUENCE = b'\0\1\1'
PLAIN = abbreviation(1, TAG_UNIT, 1, (LOW, ADDR), (HIGH, DATA8), (LINES, SEC_OFFSET), (NAME, STRING))
FUNCTION = abbreviation(2, TAG_FUNCTION, 1, (LOW, ADDR), (HIGH, DATA8), (NAME, STRING))
CALL = abbreviation(3, TAG_INLINED, 1, (LOW, ADDR), (HIGH, DATA8), (ORIGIN, REF4))


def plain(size=4096):
    return uleb(1) + struct.pack('<QQI', CODE, size, 0) + b'a.c\0'


def dwarf(info, abbreviations, line, more=(), code_size=4096):
    size = max(code_size, 4096)
    function = struct.pack('<IBBHQQ', 1, 0x12, 0, 1, CODE, 4096)
    return elf([('.symtab', bytes(24) + function, {'type': SYMTAB, 'link': 3, 'info': 1, 'entsize': 24}), ('.strtab', b'\0main\0', {'type': STRTAB}),
                ('.debug_info', info, {}), ('.debug_abbrev', abbreviations + b'\0', {}), ('.debug_line', line, {}), *more], code_size=size)


def many_rows(n):
    """A byte is a row: the line goes on by one, the address does not, or does."""
    return dwarf(unit(plain() + b'\0'), PLAIN, lines(SET_ADDRESS + b'\x13' * n + b'\x21' * 1000 + END_SEQUENCE))


def many_rows_apart(n):
    """The same, each at an address of its own."""
    return dwarf(unit(plain(n) + b'\0'), PLAIN, lines(SET_ADDRESS + b'\x21' * (n - 8) + END_SEQUENCE), code_size=n)


def tables_in_each_other(n):
    """Line tables of which each goes on to the end of the last."""
    count, rows = n // 100, n // 2
    one = len(lines(SET_ADDRESS))
    out = bytearray()
    for i in range(count):
        head = lines(SET_ADDRESS)
        out += struct.pack('<I', (count - i) * one + rows + 3 - 4) + head[4:]
    table = abbreviation(1, TAG_UNIT, 0, (LOW, ADDR), (HIGH, DATA8), (LINES, SEC_OFFSET))
    units = b''.join(unit(uleb(1) + struct.pack('<QQI', CODE, n, i * one)) for i in range(count))
    return dwarf(units, table, bytes(out) + b'\x21' * rows + END_SEQUENCE, code_size=n)


def many_sequences(n):
    return dwarf(unit(plain() + b'\0'), PLAIN, lines((SET_ADDRESS + b'\x21\x21' + b'\2\1' + END_SEQUENCE) * n))


def many_files(n):
    files = [b'%x' % i for i in range(n)]
    return dwarf(unit(plain() + b'\0'), PLAIN, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE, files))


def a_row_for_each_file(n):
    files = [b'%x' % i for i in range(n)]
    rows = b''.join(b'\4' + uleb(i + 1) + b'\x13' for i in range(n))
    return dwarf(unit(plain() + b'\0'), PLAIN, lines(SET_ADDRESS + rows + b'\x21' * 1000 + END_SEQUENCE, files))


def many_abbreviations(n):
    """A table that is long, and one unit that uses the last."""
    table = b''.join(abbreviation(i, TAG_FUNCTION, 0, (NAME, STRING)) for i in range(2, n)) + PLAIN
    return dwarf(unit(plain() + uleb(n - 1) + b'f\0\0'), table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


def units_that_share_abbreviations(n):
    """Each unit uses the last of a table that all share."""
    count = n // 40
    table = b''.join(abbreviation(i, TAG_FUNCTION, 0, (NAME, STRING)) for i in range(2, n // 7)) + PLAIN
    return dwarf(unit(plain() + b'\0') * count, table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


def units_with_abbreviations_in_each_other(n):
    """A unit's table is the rest of the one before."""
    rows = [abbreviation(i, TAG_FUNCTION, 0, (NAME, STRING)) for i in range(2, n // 7)]
    begins = list(itertools.accumulate(map(len, rows), initial=0))
    table = b''.join(rows) + PLAIN
    units = b''.join(unit(plain() + b'\0', begins[i]) for i in range(n // 40))
    return dwarf(units, table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


def many_attributes(n):
    """One abbreviation with as many attributes as fit, and many units that have it."""
    table = abbreviation(1, TAG_UNIT, 0, *[(0x2001, 0x19)] * (n // 8), (LOW, ADDR), (HIGH, DATA8), (LINES, SEC_OFFSET))
    content = uleb(1) + struct.pack('<QQI', CODE, 4096, 0)
    return dwarf(unit(content) * (n // 80), table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


def many_units(n):
    return dwarf(unit(plain() + b'\0') * (n // 40), PLAIN, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


def calls_in_calls(n):
    """Inlined calls of one function, all side by side."""
    head = plain()
    function = uleb(2) + struct.pack('<QQ', CODE, 4096) + b'main\0'
    origin = 11 + len(head)
    calls = b''.join(uleb(3) + struct.pack('<QQI', CODE + i % 4096, 1, origin) + b'\0' for i in range(n // 22))
    return dwarf(unit(head + function + calls + b'\0\0'), PLAIN + FUNCTION + CALL, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


def ranges_of_one_unit(n):
    table = abbreviation(1, TAG_UNIT, 1, (RANGES, SEC_OFFSET), (LINES, SEC_OFFSET), (LOW, ADDR))
    entries = b''.join(struct.pack('<QQ', CODE + i % 4096, CODE + i % 4096 + 1) for i in range(n // 16)) + bytes(16)
    return dwarf(unit(uleb(1) + struct.pack('<IIQ', 0, 0, 0) + b'\0'), table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE), [('.debug_ranges', entries, {})])


def units_that_share_ranges(n):
    table = abbreviation(1, TAG_UNIT, 1, (RANGES, SEC_OFFSET), (LINES, SEC_OFFSET), (LOW, ADDR))
    entries = b''.join(struct.pack('<QQ', CODE + i % 4096, CODE + i % 4096 + 1) for i in range(n // 32)) + bytes(16)
    units = unit(uleb(1) + struct.pack('<IIQ', 0, 0, 0) + b'\0') * (n // 60)
    return dwarf(units, table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE), [('.debug_ranges', entries, {})])


DWO_NAME, DWO_ID = 0x2130, 0x2131


def skeletons(n):
    """Units that are elsewhere, in files that there are not."""
    table = abbreviation(1, TAG_UNIT, 0, (LOW, ADDR), (HIGH, DATA8), (LINES, SEC_OFFSET), (DWO_NAME, STRING), (DWO_ID, DATA8))
    units = b''.join(unit(uleb(1) + struct.pack('<QQI', CODE, 4096, 0) + b'%x.dwo\0' % (i % 64) + struct.pack('<Q', i)) for i in range(n // 48))
    return dwarf(units, table, lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE))


# Compressed sections

def packed(data, way):
    """A section's content; the kinds give more than 1,000 times of what goes in, or make believe."""
    if way == 'zlib':
        return struct.pack('<IIQQ', 1, 0, len(data), 1) + zlib.compress(data, 9)
    # a frame of blocks that repeat a byte each (RLE): 4 bytes for 128 KB
    blocks = [struct.pack('<I', (131072 << 3 | 2 | (i + 131072 >= len(data))) & 0xffffff)[:3] + data[i:i + 1] for i in range(0, len(data), 131072)]
    frame = struct.pack('<IBQ', 0xfd2fb528, 0xe0, len(data)) + b''.join(blocks)
    return struct.pack('<IIQQ', 2, 0, len(data), 1) + frame


def bomb(section, way):
    def make(n):
        # what unpacks to 1,000 times as much, in a file of which the rest is nothing
        size = max(1, n // 131072) * 131072
        sections = {'.debug_info': unit(plain() + b'\0'), '.debug_abbrev': PLAIN + b'\0', '.debug_line': lines(SET_ADDRESS + b'\x21' * 1000 + END_SEQUENCE)}
        all_sections = [(name, data, {}) for name, data in sections.items() if name != section]
        return elf([*all_sections, (section, packed(bytes(size), way), {'flags': SHF_COMPRESSED})])
    return make


def bomb_in_debugdata(n):
    return elf([('.gnu_debugdata', lzma.compress(bytes(n)), {})])


MB = 1 << 20
# (what makes it, the smaller size, what asks for all of it)
KINDS = {
    'many_symbols': (many_symbols, 250000, '-func'),
    'symbols_at_one_address': (symbols_at_one_address, 250000, '-func'),
    'symbols_in_each_other': (symbols_in_each_other, 250000, '-func'),
    'symbols_of_one_name': (symbols_of_one_name, 250000, '-func'),
    'symbols_with_long_endings': (symbols_with_long_endings, 5000, '-func'),
    'many_rows': (many_rows, 2 * MB, '-source'),
    'many_rows_apart': (many_rows_apart, 2 * MB, '-disasm'),
    'tables_in_each_other': (tables_in_each_other, 200000, '-disasm'),
    'many_sequences': (many_sequences, 100000, '-source'),
    'many_files': (many_files, 100000, '-source'),
    'a_row_for_each_file': (a_row_for_each_file, 50000, '-source'),
    'many_abbreviations': (many_abbreviations, 500000, '-source'),
    'units_that_share_abbreviations': (units_that_share_abbreviations, 100000, '-source'),
    'units_with_abbreviations_in_each_other': (units_with_abbreviations_in_each_other, 100000, '-source'),
    'many_attributes': (many_attributes, 100000, '-source'),
    'many_units': (many_units, MB, '-source'),
    'calls_in_calls': (calls_in_calls, 2 * MB, '-source'),
    'ranges_of_one_unit': (ranges_of_one_unit, 2 * MB, '-source'),
    'units_that_share_ranges': (units_that_share_ranges, 100000, '-source'),
    'skeletons': (skeletons, 500000, '-source'),
    'zlib_bomb': (bomb('.debug_line', 'zlib'), 128 * MB, '-source'),
    'zstd_bomb': (bomb('.debug_line', 'zstd'), 128 * MB, '-source'),
    'zlib_of_infos': (bomb('.debug_info', 'zlib'), 16 * MB, '-source'),
    'zstd_of_infos': (bomb('.debug_info', 'zstd'), 16 * MB, '-source'),
    'xz_bomb': (bomb_in_debugdata, 64 * MB, '-func'),
}
