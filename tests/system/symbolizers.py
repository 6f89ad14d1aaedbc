#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What three other tools say of addresses, beside what the analyzer says: function and line of every call in the chain of inlined
ones. addr2line of binutils is what is compared with; where it differs, the difference must have a name here, and that takes
eu-addr2line (elfutils) or llvm-symbolizer on our side, or the symbol table.

    python3 tests/system/symbolizers.py [--build build] [--count 10000] FILE...

prints of each file how many addresses agree, the differences by name with an example of each, and ends with 1 if one has none.
"""
import argparse
import bisect
import collections
import os
import pathlib
import random
import re
import subprocess
import sys

Frame = collections.namedtuple('Frame', 'function file line')  # file: the last component, '' unknown; line: 0 unknown


def output(words, addresses=(), allowed=(0,)):
    process = subprocess.run([str(w) for w in words], input=''.join(f'{a:#x}\n' for a in addresses), capture_output=True, text=True,
                             errors='replace', check=False)
    if process.returncode not in allowed:
        raise RuntimeError(f'{words[0]} ends with {process.returncode}: {process.stderr}')
    return process.stdout


def sample(program, count):
    """Random addresses in .text, sorted."""
    listing = output(['readelf', '-SW', program])
    start, size = (int(word, 16) for word in re.search(r'\] \.text +\w+ +(\w+) +\w+ +(\w+)', listing).groups())
    chosen = random.Random(1)
    return sorted({start + chosen.randrange(size) for _ in range(count)})


def frame(function, place):
    """PATH:LINE, PATH:LINE:COLUMN, with ? or 0 for what is not known."""
    m = re.match(r'(.*?):(\d+|\?)(?::\d+)?(?: \(discriminator \d+\))?$', place)
    file = os.path.basename(m[1])
    return Frame(function.split('@')[0], '' if file == '??' else file, 0 if m[2] == '?' else int(m[2]))


def pairs(lines):
    return [frame(function, place) for function, place in zip(lines[::2], lines[1::2])]


def by_address(text):
    """Blocks that begin with the address, as of addr2line -a."""
    blocks = re.split(r'^(0x[0-9a-f]{16})\n', text, flags=re.M)[1:]
    return [block.rstrip('\n').split('\n') for block in blocks[1::2]]


def binutils(program, addresses):
    return [pairs(block) for block in by_address(output(['addr2line', '-a', '-f', '-i', '-e', program], addresses))]


def elfutils(program, addresses):
    # ends with 1 where it knows nothing of one of them
    blocks = by_address(output(['eu-addr2line', '-a', '-f', '-i', '-e', program], addresses, allowed=(0, 1)))
    return [pairs([re.sub(r' inlined at .* in .*', '', line) for line in block]) for block in blocks]


def llvm(program, addresses):
    text = output(['llvm-symbolizer', f'--obj={program}', '--functions=linkage', '--no-demangle'], addresses)
    return [pairs(block.split('\n')) for block in text.rstrip('\n').split('\n\n')]


def ours(tool, program, addresses):
    """(symbol, frames) of each address, by the program `lines` of the benchmarks."""
    found = []
    for line in output([tool, program, 'chains'], addresses).splitlines():
        first, second = line.split('\t')
        if first.startswith('0x'):
            found.append((second, []))
        else:
            found[-1][1].append(frame(first, second))
    return found


class Symbols:
    """By readelf: the function symbols of the file and of its debug file."""

    def __init__(self, program):
        listing = output(['readelf', '-sW', program])
        m = re.search(r'Build ID: (\w\w)(\w+)', output(['readelf', '-n', program]))
        debug = pathlib.Path(f'/usr/lib/debug/.build-id/{m[1]}/{m[2]}.debug') if m else None
        if debug and debug.exists():
            listing += output(['readelf', '-sW', debug])
        self.names = collections.defaultdict(set)  # {address: names}
        self.ends = {}
        for address, size, name in re.findall(r'^ *\d+: (\w+) +(\w+) (?:FUNC|IFUNC|NOTYPE) +\w+ +\w+ +(?:\[.*?\] +)?\d+ (\S+)', listing, re.M):
            self.names[int(address, 16)].add(name.split('@')[0])
            self.ends[int(address, 16)] = max(self.ends.get(int(address, 16), 0), int(address, 16) + int(size, 0))
        self.starts = sorted(self.names)

    def at(self, address):
        """The names of the function that holds the address, and those that only begin before."""
        index = bisect.bisect(self.starts, address) - 1
        before = self.starts[index] if index >= 0 else 0
        return (self.names[before], set()) if address < self.ends.get(before, 0) else (set(), self.names[before])


def difference(address, symbol, mine, said, elf, clang, symbols):
    """Why addr2line says something else of one address, or None: nobody knows."""
    inside, before = symbols.at(address)
    others = [frames for frames in (elf, clang) if len(frames) == len(mine)]
    agreed = any([(f.file, f.line) for f in frames] == [(f.file, f.line) for f in mine] for frames in others)
    if mine[0].function == '??' and len(said) == 1:
        if mine[0].file == '' and said[0].function in inside and symbol in inside:
            return 'code of which DWARF knows nothing has its symbol, in the listings too'
        if said[0].function in before and (agreed or not said[0].line):
            return 'addr2line gives padding and code of no symbol to the symbol before'
    if len(said) != len(mine) or not agreed:
        return None
    reasons = set()
    for number, (a, b) in enumerate(zip(mine, said)):
        outermost = number == len(mine) - 1
        if (a.file, a.line) != (b.file, b.line):
            if a.line != b.line and b.line:
                return None
            reasons.add('addr2line names the file of the unit where the others name a header')
        if a.function != b.function:
            if outermost and {a.function, b.function} & inside and (b.function in inside or a.function in inside):
                reasons.add('a symbol or the name in DWARF')
            elif any(frames[number].function == a.function for frames in others) and b.function in inside:
                reasons.add('addr2line writes the symbol for an inlined function without a linkage name')
            else:
                return None
    return '; '.join(sorted(reasons))


def compare(tool, program, addresses):
    """(Counter of differences by name, {name: example}); None is the name of those that have none."""
    mine, said = ours(tool, program, addresses), binutils(program, addresses)
    elf, clang, symbols = elfutils(program, addresses), llvm(program, addresses), Symbols(program)
    assert len(mine) == len(said) == len(elf) == len(clang) == len(addresses)
    found, examples = collections.Counter(), {}
    for address, (symbol, frames), other, third, fourth in zip(addresses, mine, said, elf, clang):
        if frames == other or frames == [f._replace(function=f.function or '??') for f in other]:
            found['equal'] += 1
            continue
        name = difference(address, symbol, frames, other, third, fourth, symbols)
        found[name] += 1
        examples.setdefault(name, []).append(f'{address:#x}\n  helio     {frames}\n  binutils  {other}\n  elfutils  {third}\n  llvm      {fourth}')
    return found, examples


def main():
    parser = argparse.ArgumentParser(description='compares lines and inlined calls with addr2line, eu-addr2line and llvm-symbolizer')
    parser.add_argument('--build', default='build')
    parser.add_argument('--count', type=int, default=10000)
    parser.add_argument('files', nargs='+')
    options = parser.parse_args()
    unknown = 0
    for program in options.files:
        addresses = sample(program, options.count)
        found, examples = compare(pathlib.Path(options.build) / 'bench' / 'lines', program, addresses)
        print(f'{program}: {len(addresses)} addresses, {found.pop("equal", 0)} equal')
        for name, count in found.most_common():
            print(f'  {count}: {name or "NOT EXPLAINED"}: {examples[name][0]}')
            for example in examples[name][1:10] if not name else ():
                print(f'    {example}')
        unknown += found[None]
    return 1 if unknown else 0


if __name__ == '__main__':
    sys.exit(main())
