#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
make_corpus.py DIRECTORY ELF...: seeds for the fuzz targets, one folder each.
Made from golden experiments and from programs just built, so that nothing
binary is kept in the source.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
FUZZ = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FUZZ.parent / 'golden'), str(FUZZ.parent / 'reader')]
import make_golden  # noqa: E402
import make_kinds  # noqa: E402
import make_openmp  # noqa: E402

NAMES = ('main', '_ZN3app6Worker3runEi', '_ZNSt6vectorIiSaIiEE9push_backERKi', '_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc',
         '_RNvCs1234_7mycrate3foo', '_ZN4core3fmt9Formatter3pad17h0123456789abcdefE', '_D3std5stdio7writelnFAyaZv', '_Z', 'f.part.0', 'g@@V1')

LINES = ('functions', 'metrics i.user:e.%system:name', '# a comment\nsort e.user\nlimit 20\nfunctions', 'fsingle "operator new(unsigned long)" 2',
         "outfile 'a name'", 'csingle \\"x', 'dmetrics e!heap\ten_desc on', 'func"tions', 'ctr' + ' a' * 30)

FILTERS = ('TSTAMP >= 5000000000 && THRID == 2', '(FNAME("A"), FNAME("B")) ORDERED IN STACK', 'LEAF IN FNAME("mem.*") || CPUID IN 1,2',
           'HAS_PROP(HSIZE) ? HSIZE / 4096 : MSTATE << 0x3f')


def sections(elf):
    """{name: (address, offset, size)} of a little-endian ELF64 file."""
    table, = struct.unpack_from('<Q', elf, 0x28)
    size, count, names = struct.unpack_from('<HHH', elf, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', elf, table + i * size) for i in range(count)]
    strings = headers[names][4]
    return {elf[strings + h[0]:elf.index(b'\0', strings + h[0])].decode(): (h[3], h[4], h[5]) for h in headers}


def frame_information(elf):
    """.eh_frame_hdr with the .eh_frame that follows it: all offsets in them are relative."""
    known = sections(elf)
    _, begin, _ = known['.eh_frame_hdr']
    _, offset, size = known['.eh_frame']
    return elf[begin:offset + size] if begin < offset < begin + (1 << 20) else b''


def folder(directory, name):
    path = pathlib.Path(directory) / name
    path.mkdir(parents=True, exist_ok=True)
    return path


PROGRAM = '''
static inline __attribute__((always_inline)) long twice(long x) { return x * 2; }
struct pair { long a, b; };
long sum(const struct pair *p) { long s = 0; for (long i = 0; i < p->a; i++) s += twice(i) ^ p->b; return s; }
int main(int argc, char **argv) { struct pair p = {argc, 3}; %s return (int)sum(&p); }
''' % ('p.a += sum(&p); p.b ^= twice(p.a);' * 16)

# A file (sums, code, two parts of sums), then edits of five bytes each: where (24 bits), which kind of edit, a value; see fuzz_cache.c.
EDITS = (b'\0' + bytes((0x40, 2, 0, 0, 0xff)), b'\1' + bytes((0x90, 1, 0, 0, 0x80)), b'\0' + bytes((0, 3, 0, 1, 0)),
         b'\1' + bytes((0x20, 4, 0, 2, 0x7f)), b'\0' + bytes((0x90, 5, 0, 3, 0, 0x10, 6, 0, 0, 0)), b'\2', b'\2' + bytes((0x20, 0, 0, 0, 0x7f)),
         b'\3' + bytes((0x60, 1, 0, 0, 3)), b'\3' + bytes((0x90, 2, 0, 2, 0)), b'\2' + bytes((0xff, 3, 0, 0, 2, 0x80, 3, 0, 3, 0)))

# What the log of a rank on another machine says: of CLOCK_REALTIME at its time 0, and which clock its own times are of.
CLOCKS = ('wall_ns="1790000000000000000" clock="b 2"', 'wall_ns="18446744073709551615" clock="b 2"', 'wall_ns="0" clock=""', 'clock="b 2"', f'wall_ns="1" clock="{"x" * 5000}"')

STARTUP = ('object_hide libc.so\nlimit 3\n', 'indxobj_define pages VADDR>>12\ndmetrics e.user:i.%system\ndsort e.user\n',
           'compare delta\nviewmode machine\nname mangled\nen_desc on\n', 'setpath /src:$expts\npathmap /a /b\naddpath .\nscc all\ndthresh 1\n',
           'object_show golden\nobject_api all\nmobj_define line VADDR>>6\nmachinemodel generic\n')


def golden(directory):
    """The experiment that print_golden.c copies, the program of it, and its files of debug information."""
    for name in os.listdir(directory):
        os.remove(directory / name)
    directory.rmdir()
    make_golden.founder(str(directory))
    text = (directory / 'map.xml').read_text().replace('/tmp/golden', 'PROGRAM')
    (directory / 'map.xml').write_text(text)
    (directory / 'split.c').write_text(PROGRAM)
    subprocess.run(['cc', '-O0', '-g', '-gsplit-dwarf', '-no-pie', f'-fdebug-prefix-map={directory.resolve()}=.', '-c', 'split.c'],
                   cwd=directory, check=True)
    subprocess.run(['cc', '-no-pie', '-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233', 'split.o', '-o', 'program'],
                   cwd=directory, check=True)
    subprocess.run(['cc', '-O0', '-g', '-no-pie', 'split.c', '-o', 'whole'], cwd=directory, check=True)
    subprocess.run(['strip', '-o', 'stripped', 'program'], cwd=directory, check=True)
    subprocess.run(['objcopy', '--only-keep-debug', 'whole', 'debug'], cwd=directory, check=True)
    return [(directory / name).read_bytes() for name in ('program', 'split.dwo', 'debug')]


def kinds(directory):
    """The experiments that fuzz_kinds.c copies, and each file of them that it replaces."""
    recordings = folder(directory, 'recordings')
    shutil.rmtree(recordings)
    recordings.mkdir()
    for module in make_kinds, make_openmp:
        module.make(str(recordings))
    names = re.findall(r'"(\w+\.1\.er/[^"]*)"', (FUZZ / 'fuzz_kinds.c').read_text().split('static const char *const others')[0])
    for number, name in enumerate(names):
        (folder(directory, 'kinds') / str(number)).write_bytes(bytes([number]) + (recordings / name).read_bytes())
    # a rank on another machine, which says what its clock is
    log = re.sub(' wall_ns="[^"]*"', '', (recordings / 'ranks.1.er/_r1.er/log.xml').read_text())
    for number, clock in enumerate(CLOCKS):
        (folder(directory, 'kinds') / f'clock{number}').write_bytes(bytes([names.index('ranks.1.er/_r1.er/log.xml')]) + re.sub('(<experiment[^>]*)', rf'\1 {clock}', log, count=1).encode())


def main():
    directory, *programs = sys.argv[1:]
    for number, file in enumerate(golden(folder(directory, 'golden'))):
        (folder(directory, 'views') / str(number)).write_bytes(bytes([number]) + file)
    for number, text in enumerate(STARTUP):
        (folder(directory, 'startup') / str(number)).write_text(text)
    for number, edits in enumerate(EDITS):
        (folder(directory, 'cache') / str(number)).write_bytes(edits)
    kinds(directory)
    make_golden.corpus(str(folder(directory, 'experiment')))
    for target in 'archive', 'bytecode', 'group', 'launch', 'remarks', 'remote', 'serve':  # seeds/ has all there is
        folder(directory, target)
    for number, name in enumerate(NAMES):
        (folder(directory, 'demangle') / str(number)).write_bytes(name.encode())
    for number, line in enumerate(LINES):
        (folder(directory, 'command') / str(number)).write_bytes(line.encode())
    for number, text in enumerate(FILTERS):
        (folder(directory, 'filter') / str(number)).write_bytes(text.encode())
    for program in programs:
        data = pathlib.Path(program).read_bytes()
        name = os.path.basename(program)
        (folder(directory, 'object') / name).write_bytes(data)
        for way in ('zlib', 'zstd'):
            packed = folder(directory, 'object') / f'{name}.{way}'
            subprocess.run(['objcopy', f'--compress-debug-sections={way}', program, packed], check=False)
        (folder(directory, 'cfi') / name).write_bytes(frame_information(data))
        for compiled in pathlib.Path(program + '.p').glob('*.o'):
            (folder(directory, 'object') / compiled.name).write_bytes(compiled.read_bytes())
    pathlib.Path(directory.rstrip('/') + '-made').write_text('')


main()
