# SPDX-License-Identifier: Apache-2.0
"""
Lines and inlined calls of a program with 100 MB of debug information, made here of copies of a templated C++ unit; addr2line of
binutils and of elfutils beside it.
"""
import os
import random
import re
import shutil
import subprocess
import tempfile

import analysis
import common

SIZE = 100 << 20

# A unit with many instantiations, each with functions of its own and others inlined into them.
UNIT = '''#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace unit {{
template <int N> struct Node {{
	std::vector<std::string> names; std::map<int, std::string> index; int values[N + 1];
	inline int mix(int x) const {{ return x * N + values[x % (N + 1)]; }}
	inline int walk(int x) const {{ int sum = 0; for (int v : values) sum += mix(v + x); return sum; }}
	__attribute__((noinline)) int run(int x) {{ names.push_back(std::to_string(x)); index[x] = names.back();
		std::sort(names.begin(), names.end()); return walk(x) + (int)index.size(); }}
}};
template <int N> int all(int x) {{ Node<N> node{{}}; int sum = node.run(x); if constexpr (N > 0) sum += all<N - 1>(x); return sum; }}
int start(int x) {{ return all<{depth}>(x); }}
}}
'''


def build(bench):
    """
    A library of many units: one is compiled, its copies differ in the names of the symbols, so that the linker keeps all of
    their code and debug information.  What they call is not there, nobody runs it.
    """
    folder = bench.fresh('.src')
    folder.mkdir()
    (folder / 'unit.cc').write_text(UNIT.format(depth=50 if bench.quick else 300))
    subprocess.run(['g++', '-std=c++17', '-g', '-O1', '-fPIC', '-c', 'unit.cc'], cwd=folder, check=True)
    copies = 2 if bench.quick else SIZE // sum(debug_sections(folder / 'unit.o').values()) + 1
    for copy in range(copies):
        subprocess.run(['objcopy', f'--prefix-symbols=copy{copy}_', 'unit.o', f'copy{copy}.o'], cwd=folder, check=True)
    subprocess.run(['gcc', '-shared', '-nostdlib', '-Wl,--unresolved-symbols=ignore-all', '-o', 'program',
                    *(f'copy{copy}.o' for copy in range(copies))], cwd=folder, check=True)
    return folder / 'program', debug_sections(folder / 'program')


def debug_sections(program):
    listing = subprocess.run(['readelf', '-SW', program], capture_output=True, text=True, check=True).stdout
    return {name: int(size, 16) for name, size in re.findall(r'\] \.(debug_\w+) +\w+ +\w+ +\w+ +(\w+)', listing)}


def text_range(program):
    listing = subprocess.run(['readelf', '-SW', program], capture_output=True, text=True, check=True).stdout
    start, size = re.search(r'\] \.text +\w+ +(\w+) +\w+ +(\w+)', listing).groups()
    return int(start, 16), int(size, 16)


def addresses_of(program, count):
    start, size = text_range(program)
    chosen = random.Random(1)
    return '\n'.join(f'0x{start + chosen.randrange(size):x}' for _ in range(count)) + '\n'


def ask(bench, words, text):
    """(seconds, MB) of a command with these addresses."""
    path = bench.fresh('.addresses')
    path.write_text(text)
    with open(path, encoding='ascii') as stdin:
        return analysis.measured(words, stdin=stdin)


def mapped(words, text):
    """How many MB of the file were in memory in the end."""
    return float(subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout.split()[2])


def hottest(program):
    """The address of the largest function."""
    listing = subprocess.run(['nm', '-S', '--size-sort', program], capture_output=True, text=True, check=True).stdout
    return '0x' + [line.split() for line in listing.split('\n') if ' t ' in line.lower() or ' w ' in line.lower()][-1][0] + '\n'


def lines(bench, _names):
    tool = bench.build / 'bench' / 'lines'
    program, sections = build(bench)
    count = 10_000 if bench.quick else 100_000
    megabytes = sum(sections.values()) / 2**20
    many = addresses_of(program, count)
    rows = []
    for what, text, number in (('source', hottest(program), 1), ('lines', many, count), ('calls', many, count)):
        analysis.drop_caches()
        cold, _ = ask(bench, [tool, program, what], text)
        warm, memory = ask(bench, [tool, program, what], text)
        touched = mapped([tool, program, what], text)
        rows.append([what, f'{number:,}', f'{cold:.3f}', f'{warm:.3f}', f'{warm / number * 1e6:.2f}', f'{memory:.0f}', f'{touched:.0f}', f'{memory / touched:.1f}'])
    for words, share in ((['addr2line', '-f', '-i', '-e', program], 20), (['eu-addr2line', '-f', '-i', '-e', program], 1000),
                         (['llvm-symbolizer', f'--obj={program}'], 20)):
        if not shutil.which(words[0]):
            continue
        number = count // share
        warm, memory = ask(bench, words, addresses_of(program, number))
        rows.append([words[0], f'{number:,}', '-', f'{warm:.3f}', f'{warm / number * 1e6:.2f}', f'{memory:.0f}', '-', '-'])
    common.table(f'Lines: a program with {megabytes:.0f} MB of debug information (source: at most 1 s cold; 100,000 lines: 2 s; '
                 'memory: twice what of the file had to be read)',
                 ['question', 'addresses', 'cold, s', 'warm, s', 'us per address', 'MB', 'MB of the file', 'ratio'], rows)


def listings(bench, _names):
    """What helio prints of the same program: one source file of it, one function, and the lines of many addresses."""
    program, sections = build(bench)
    megabytes = sum(sections.values()) / 2**20
    count = 10_000 if bench.quick else 100_000
    experiment = bench.fresh('.er')
    subprocess.run([bench.build / 'bench' / 'helio-generate', '-e', '1000000', '-s', str(4 * count), '-a', str(count), '-O', program, experiment],
                   check=True, stdout=subprocess.DEVNULL)
    function = largest(program)
    rows = []
    for what, words in (('src -source', ['src', '-source', function, program]), ('src -disasm', ['src', '-disasm', function, program]),
                        ('-functions', ['print', '-functions', experiment]), ('-lines', ['print', '-lines', experiment]),
                        ('-pcs', ['print', '-pcs', experiment]), ('-source', ['print', '-source', function, experiment]),
                        ('-inlines on -functions', ['print', '-inlines', 'on', '-functions', experiment])):
        analysis.drop_caches()
        cold, _ = analysis.measured([bench.helio, *words], env=analysis.NO_CACHE)
        warm, memory, cpu = analysis.account([bench.helio, *words], env=analysis.NO_CACHE)
        rows.append([what, f'{cold:.3f}', f'{warm:.3f}', f'{cpu:.3f}', f'{memory:.0f}', *kept([bench.helio, *words])])
    common.table(f'Listings: {megabytes:.0f} MB of debug information, {count:,} addresses in 1,000,000 events '
                 '(source: at most 1 s cold, 0.1 s of CPU time from what is kept; lines: 2 s)',
                 ['command', 'cold, s', 'warm, s', 'CPU, s', 'MB', 'kept: s', 'CPU, s', 'MB'], rows)


def inlined_calls(bench, _names):
    """What inlined calls cost in call trees: of a program with large debug information, both ways in the same run."""
    program, _ = build(bench)
    rows = []
    for events in (10_000, 1_000_000) if bench.quick else (10_000, 1_000_000, 10_000_000):
        out = bench.fresh('.er')
        subprocess.run([bench.build / 'bench' / 'helio-generate', '-e', str(events), '-s', '40000', '-a', '10000', '-O', program, out], check=True,
                       stdout=subprocess.DEVNULL)
        for what, env in (('from events', analysis.NO_CACHE), ('kept', {**os.environ, 'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': tempfile.mkdtemp(dir=out.parent)})):
            for command in ('-calltree', '-flamegraph'):
                took, sizes = [], []
                for inlines in ('off', 'trees'):
                    words = [bench.helio, 'print', '-inlines', inlines, command, out]
                    analysis.measured(words, env=env)
                    took.append(min(analysis.measured(words, env=env)[0] for _ in range(3)))
                    sizes.append(len(subprocess.run(words, capture_output=True, env=env, check=True).stdout))
                rows.append([f'{events:,}', command, what, *(f'{seconds:.3f}' for seconds in took), f'{took[1] / took[0]:.2f}', f'{sizes[1] / sizes[0]:.2f}'])
    common.table('Inlined calls in call trees (10,000 addresses; each is looked up once, and never where sums are kept)',
                 ['events', 'command', 'sums', 'inlines off, s', 'on, s', 'on/off', 'bytes printed, on/off'], rows)


def kept(words):
    """Seconds, those of processors and memory of a command the second time, with a cache."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, 'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': cache}
        analysis.measured(words, env=env)
        seconds, memory, cpu = analysis.account(words, env=env)
        return f'{seconds:.3f}', f'{cpu:.3f}', f'{memory:.0f}'


def largest(program):
    """The name of the largest function of the first copy, mangled."""
    listing = subprocess.run(['nm', '-S', '--size-sort', program], capture_output=True, text=True, check=True).stdout
    return [line.split()[3] for line in listing.split('\n') if ' copy0_' in line and line.split()[2] in 'tTwW'][-1]
