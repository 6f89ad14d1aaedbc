#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Every instruction of every function of a file as `helio src -disasm all` writes it, beside what objdump writes.

    python3 tests/system/disassemblers.py [--build build] [--intel] FILE...

prints how many instructions agree, and those that do not, by their names; ends with 1 if there is one.  The ways in which the two
write the same thing differently are the rules below, each with its reason; what remains is a difference.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

MASK = 2**64 - 1
PREDICATES = ('eq', 'lt', 'le', 'unord', 'neq', 'nlt', 'nle', 'ord')
STRINGS = re.compile(r'((?:repz? |repnz )?(?:movs|stos|cmps|scas|lods)[bwlq]?) .*')
# binutils, against Intel's manual, swaps these in AT&T syntax where the result goes to another register than the first
SWAPPED = {f'f{name}{r}{p}': f'f{name}{"" if r else "r"}{p}' for name in ('sub', 'div') for r in ('', 'r') for p in ('', 'p')}


def output(words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, errors='replace', check=True).stdout


def common(text):
    """Without what is said about an instruction, and the same signs for numbers."""
    text = re.sub(r'\s*(?:[#<]\s|<|//).*', '', re.sub(r'\s+', ' ', text.strip()))
    return re.sub(r',\s+', ',', re.sub(r'\b0x0\(', '(', text)).replace('0x', '')


def comparison(m):
    """vpcmpub $4,... is vpcmpnequb ...; cmpsd $6,... is cmpnlesd ..."""
    return f'{m[1]}{PREDICATES[int(m[3]) & 7]}{m[2]} '


def x86(text):
    text = common(text)
    if re.match(r'(?:data16 |cs )*(?:nop|xchg %ax,%ax)', text):
        return 'nop'  # of each length in several ways
    text = re.sub(r'^(?:(?:data16|rex\.W|bnd) )+', '', text)  # prefixes that only make it longer
    text = re.sub(r'^(vp?cmp|cmp)(u?[bwdq]|[sp][sd]) \$(\d),', comparison, text)
    text = STRINGS.sub(r'\1', text)
    text = re.sub(r'^((?:repz? |repnz )?(?:movs|stos|cmps|scas|lods))[bwlq]?$', r'\1', text)  # the size is that of the operand left out
    text = re.sub(r'^((?:sh|sa|ro|rc)[lr][bwlq]?) \$1,', r'\1 ', text)
    return text.replace('%st(0)', '%st').replace(' {', '{').replace('repz ret', 'ret')


def intel(text):
    text = common(text.lower())
    if re.match(r'(?:data16 |cs )*(?:nop|xchg ax,ax)', text):
        return 'nop'
    text = re.sub(r'^(?:(?:data16|rex\.w|bnd) )+', '', text)
    text = re.sub(r'^(vp?cmp|cmp)(u?[bwdq]|[sp][sd]) (.*),([0-7])$', lambda m: f'{m[1]}{PREDICATES[int(m[4])]}{m[2]} {m[3]}', text)
    text = re.sub(r'^((?:rep\w* )?(?:movs|stos|cmps|scas|lods)) .*?([bwdq])\w* ptr .*', r'\1\2', text)  # the operands are always the same
    text = re.sub(r'^(movabs .*?)\w+ ptr ds:', r'\1ds:', re.sub(r'\bptr \[([\da-f]+)\]', r'ptr ds:\1', text))
    text = re.sub(r'([\w\])]),1$', r'\1', text) if re.match(r'(?:sh|sa|ro|rc)[lr] ', text) else text
    text = re.sub(r'\brip-([\da-f]+)', lambda m: f'rip+{-int(m[1], 16) & MASK:x}', text)
    text = re.sub(r'\bst\(0\)', 'st', text.replace('repz ret', 'ret'))
    return re.sub(r'\b([c-gs]s):\[([\da-f]+)\]', r'\1:\2', text.replace('+0]', ']').replace(' {', '{'))


def constant(m):
    return f'#{float(m[1])}' if '.' in m[1] else f'#{int(m[1], 0) & MASK}'


def aarch64(text):
    text = common(re.sub(r'#(-?(?:0x[0-9a-f]+|\d+\.[\de.+-]+|\d+))', constant, text))
    text = text.replace('sys #3,c7,c4,#4,', 'dc gzva,')  # of memory tags
    text = re.sub(r'^b\.(hs|lo)\b', lambda m: {'hs': 'b.cs', 'lo': 'b.cc'}[m[1]], text)
    text = re.sub(r',(hs|lo)$', lambda m: {'hs': ',cs', 'lo': ',cc'}[m[1]], text)
    text = re.sub(r'^([su])shll(2?) (.*),#0$', r'\1xtl\2 \3', text)
    return re.sub(r'^(?:ins|umov) ', 'mov ', text)


def instructions(lines, pattern):
    return {int(m[1], 16): m[2] for m in map(pattern.match, lines) if m}


def same_at_once(text, said):
    """Most are: this is only for speed."""
    return re.sub(r'\s|0x|[#<].*', '', text) == re.sub(r'\s|0x|[#<].*', '', said)


def equal(mine, other):
    name = mine.split(' ')[0]
    # .inst: pointer authentication and memory tags, which Capstone 4 does not know
    return name == '.inst' or other in (mine, mine.replace(name, SWAPPED.get(name, name), 1))


def differences(helio, program, objdump='objdump', normal=x86):
    """(how many instructions are the same, how many objdump has, [(address, ours, objdump's)])"""
    syntax = ('intel', '-M', 'intel') if normal is intel else ('att',)
    theirs = instructions(output([objdump, *syntax[1:], '-d', '--no-show-raw-insn', program]).split('\n'), re.compile(r' *([0-9a-f]+):\t(.*)'))
    ours = instructions(output([helio, 'src', '-dcc', f'nosrc:{syntax[0]}', '-disasm', 'all', program]).split('\n'),
                        re.compile(r'\s*\[ *(?:\d+|\?)\] +([0-9a-f]+):  (.*)'))
    found = []
    for address, text in ours.items():
        said = theirs.get(address, 'the middle of an instruction')
        if text == 'fwait' and said.strip() != 'fwait':  # binutils makes one instruction of it and the next, the checked form: fstcw of fwait and fnstcw
            theirs[address + 1] = re.sub('^f', 'fn', said)
        elif not same_at_once(text, said) and not equal(normal(text), normal(said)):
            found.append((address, text, said))
    return len(ours) - len(found), len(theirs), found


def main():
    parser = argparse.ArgumentParser(description='compares instructions with objdump')
    parser.add_argument('--build', default='build')
    parser.add_argument('--intel', action='store_true', help="Intel's syntax")
    parser.add_argument('files', nargs='+')
    options = parser.parse_args()
    total = 0
    for program in options.files:
        is_arm = 'AArch64' in output(['readelf', '-h', program])
        same, count, found = differences(pathlib.Path(options.build) / 'helio', program,
                                         *(('aarch64-linux-gnu-objdump', aarch64) if is_arm else ('objdump', intel) if options.intel else ()))
        print(f'{program}: {same} of {count} instructions are the same, {len(found)} differ')
        names = collections.Counter(text.split()[0] for _, text, _ in found)
        for name, times in names.most_common(20):
            address, text, said = next(one for one in found if one[1].split()[0] == name)
            print(f'  {times}: {address:x}: {text}   |   {said}')
        total += len(found)
    return 1 if total else 0


if __name__ == '__main__':
    sys.exit(main())
