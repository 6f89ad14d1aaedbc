# SPDX-License-Identifier: Apache-2.0
"""
Lines and instructions.

The programs are compiled here, from text in which the lines that matter have
names: `/* @two */` is the line `two`. What a line costs, the program measures
itself; addresses and instructions are objdump's, line numbers addr2line's.
"""
import gzip
import os
import re
import shutil
import subprocess

from harness import test
from test_print import validator

CHI_SQUARE_5_001 = 20.52  # 5 degrees of freedom, 0.1 %

HEADER = '''\
static inline __attribute__((always_inline)) unsigned long header_work(unsigned long x, long n)
{
	for (long i = 0; i < n; i++) x = x * 3 + (x >> 7); /* @header */
	return x;
}
'''

# Loops of 1, 2 and 3 parts on lines of their own, one inlined from a header, one called, one in a recursion.
WORK = '''\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "work.h"

static double spent[6];
static volatile unsigned long sink;

static __attribute__((noinline)) double cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static __attribute__((noinline, noclone)) unsigned long leaf(unsigned long x, long n)
{
	for (long i = 0; i < n; i++) x = x * 3 + (x >> 7); /* @leaf */
	return x;
}

static __attribute__((noinline, noclone)) unsigned long recurse(int depth, long n)
{
	unsigned long x = 1;

	if (depth)
		x = recurse(depth - 1, n) + 1; /* @recurse */
	for (long i = 0; i < n; i++) x = x * 3 + (x >> 7); /* @inrecurse */
	return x;
}

__attribute__((noinline, noclone)) void work(long n)
{
	unsigned long x = 1;
	double t = cpu(), next;

	for (long i = 0; i < 1 * n; i++) x = x * 3 + (x >> 7); /* @one */
	spent[0] += (next = cpu()) - t, t = next;
	for (long i = 0; i < 2 * n; i++) x = x * 3 + (x >> 7); /* @two */
	spent[1] += (next = cpu()) - t, t = next;
	for (long i = 0; i < 3 * n; i++) x = x * 3 + (x >> 7); /* @three */
	spent[2] += (next = cpu()) - t, t = next;
	x = header_work(x, 2 * n); /* @inlined */
	spent[3] += (next = cpu()) - t, t = next;
	x += leaf(x, 2 * n); /* @call */
	spent[4] += (next = cpu()) - t, t = next;
	x += recurse(3, n / 4); /* @recursion */
	spent[5] += (next = cpu()) - t, t = next;
	sink = x;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"one", "two", "three", "header", "leaf", "inrecurse"};

	srand(1);
	while (cpu() < atof(argv[1])) /* pieces of random length, so that they do not keep step with the clock */
		work(200000 + rand() % 400000);
	for (int i = 0; i < 6; i++)
		printf("%s %.6f\\n", names[i], spent[i]);
	return 0;
}
'''


def marks(*texts):
    """{name: line} of the lines with a name."""
    return {name: number for text in texts for number, line in enumerate(text.splitlines(), 1)
            for name in re.findall(r'@(\w+)', line)}


def build(t, output, *sources, compiler='gcc', flags=('-O1', '-g')):
    """Writes the (name, text) sources and compiles those that are no headers; the program's path."""
    for name, text in sources:
        (t.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (t.directory / name).write_text(text)
    result = t.run(t.need(compiler), *flags, '-o', output, *(name for name, _ in sources if not name.endswith('.h')))
    t.check(result.status == 0, result.err[-500:])
    return t.directory / output


def record(t, seconds, *options):
    program = build(t, 'work', ('work.c', WORK), ('work.h', HEADER))
    return program, t.collect(program, seconds, options=('-p', 'hi', *options))


def rows(t, experiment, *commands):
    return t.print(experiment, *commands)[-1]['rows']


def value(row, metric='e.totalcpu'):
    return row.get(metric, 0)


def by_line(listing):
    return {row['line']: row for row in listing if row['kind'] == 'source'}


def named(listing, name):
    found = [row for row in listing if row['name'] == name]
    return found[0] if found else None


def chi_square(t, truth, measured, interval):
    """How far counts of samples are from what the program measured of itself."""
    whole, total = sum(truth.values()), sum(measured.values())
    count = total / interval
    return sum(count * (measured[n] / total - truth[n] / whole) ** 2 / (truth[n] / whole) for n in truth)


def line_value(listing, function, line, metric='e.totalcpu'):
    return sum(value(row, metric) for row in listing if re.match(rf'{function}, line {line} in .*"work\.[ch]"', row['name']))


@test(alone=True)
def lines_cost_what_they_cost(t):
    program, result = record(t, 2)
    line = marks(WORK, HEADER)
    listing = rows(t, result.experiment, '-lines')
    functions = {'leaf': 'leaf', 'inrecurse': 'recurse'}
    measured = {name: line_value(listing, functions.get(name, 'work'), line[name]) for name in result.truth()}
    interval = int(t.read(result.experiment)['']['settings']['clock']) / 1e6
    distance = chi_square(t, result.truth(), measured, interval)
    t.remark += f'chi-square {distance:.2f} '
    t.within(distance < CHI_SQUARE_5_001, f'{measured} against {result.truth()}: chi-square {distance:.2f}')
    # what a line calls is its inclusive cost, and recursion counts once
    t.near(line_value(listing, 'work', line['call'], 'i.totalcpu'), measured['leaf'], 'call of leaf', absolute=3 * interval)
    t.near(line_value(listing, 'work', line['recursion'], 'i.totalcpu'), measured['inrecurse'], 'recursion',
           absolute=3 * interval)
    inner = line_value(listing, 'recurse', line['recurse'], 'i.totalcpu')  # of 4 equal levels, all but the outermost
    t.near(inner / measured['inrecurse'], 0.75, 'inner levels', absolute=4 * (0.1875 * interval / measured['inrecurse']) ** 0.5)
    # nothing is lost or counted twice
    total = rows(t, result.experiment, '-functions')[0]
    for command in ('-lines', '-pcs'):
        listing = rows(t, result.experiment, command)
        t.equal(listing[0]['name'], '<Total>', command)
        t.near(sum(value(row) for row in listing[1:]), value(total), f'sum of {command}', absolute=1e-9)
        t.near(value(listing[0]), value(total), f'total of {command}', absolute=1e-9)
        t.check(max(value(row, 'i.totalcpu') for row in listing) <= value(total) + 1e-9, f'{command}: more than all')


@test
def source_has_the_lines_and_their_values(t):
    program, result = record(t, 0.4)
    line = marks(WORK)
    listing = rows(t, result.experiment, '-source', 'work')
    source = by_line(listing)
    lines = rows(t, result.experiment, '-lines')
    t.equal(sorted(source), list(range(1, len(WORK.splitlines()) + 1)), 'lines')
    for number, text in enumerate(WORK.splitlines(), 1):
        t.check(text.strip() in source[number]['name'], f'line {number}: {source[number]["name"]!r}')
    for name in ('one', 'two', 'three', 'leaf', 'inrecurse', 'call'):
        for metric in ('e.totalcpu', 'i.totalcpu'):
            t.near(value(source[line[name]], metric), line_value(lines, r'\w+', line[name], metric), name, absolute=1e-9)
    t.check('e.totalcpu' not in source[2], 'a line without code has a value')
    t.equal(value(source[line['inlined']]), 0, 'the call of the inlined function')
    # code of the header stands above, and in the list as what it is
    header = named(listing, '       <Function: work, instructions from source file work.h>')
    t.check(header and header['kind'] == 'index', 'no line for the code of the header')
    alternate = named(lines, f'work, line {marks(HEADER)["header"]} in alternate source context "work.h"')
    t.near(value(header), value(alternate), 'code of the header', absolute=1e-9)
    for function in ('leaf', 'recurse', 'work', 'main'):
        place = [row['name'] for row in listing].index(f'       <Function: {function}>')
        t.check(re.match(r'\s*\d+\. \{$', listing[place + 1]['name']), f'{function} begins at {listing[place + 1]["name"]!r}')
    # hot is what is at least so much of the largest value
    for threshold, command, view in [(n, *of) for n in (75, 20, 100) for of in (('-sthresh', '-source'), ('-dthresh', '-disasm'))]:
        listing = rows(t, result.experiment, command, str(threshold), view, 'work')
        for metric in ('e.totalcpu', 'i.totalcpu'):
            largest = max(value(row, metric) for row in listing)
            for row in listing:
                t.check(row['hot'] or not value(row, metric) or value(row, metric) * 100 < largest * threshold,
                        f'{row["name"]} is not hot at {threshold}')
        t.check(any(row['hot'] for row in listing), f'nothing is hot at {threshold}')


OBJDUMP_LINE = re.compile(r'^ *([0-9a-f]+):\t(?:(?:[0-9a-f]{2} )+\s*\t)?(.*)')


def objdump(t, program, function):
    """{address: text}"""
    text = t.run(t.need('objdump'), '-d', '--no-show-raw-insn', f'--disassemble={function}', program).out
    return {int(m[1], 16): m[2] for m in map(OBJDUMP_LINE.match, text.splitlines()) if m}


def normal(text):
    """An instruction without the spellings in which the two differ."""
    text = re.sub(r'\b0x(?=[0-9a-f]+ <)', '', re.sub(r'\s+', ' ', text.replace('#', ' # '))).strip()
    text = re.sub(r',\s+', ',', text)
    return re.sub(r'@plt\+0x0', '@plt', text.replace('0x0(', '(').replace('# 0x', '# '))


@test
def disassembly_is_that_of_objdump(t):
    program, result = record(t, 0.3)
    places, named_data = {}, 0
    for function in ('work', 'leaf', 'recurse', 'main', 'cpu'):
        listing = [row for row in rows(t, result.experiment, '-disasm', function) if row['kind'] == 'instruction']
        truth = objdump(t, program, function)
        t.equal([row['address'] for row in listing], sorted(truth), f'addresses of {function}')
        for row in listing:
            shown = row['name'].split(':  ', 1)[1]
            said = truth[row['address']]
            if '<' not in shown:  # objdump names what is between two symbols after the one before
                said = re.sub(r'(#.*) <.*>', r'\1', said)
            t.equal(normal(shown), normal(said), f'{function} at {row["address"]:#x}')
            named_data += '<spent' in shown
            places[row['address']] = row['line'] or 0
            t.check(f'[{row["line"] or "?":>2}]' in row['name'], row['name'])
    t.check(named_data >= 6, f'the data of {named_data} instructions has a name')
    answer = t.run(t.need('addr2line'), '-e', program, stdin=''.join(f'{a:#x}\n' for a in places)).out.split('\n')
    for address, said in zip(places, answer):
        number = re.search(r':(\d+|\?)', said)[1]
        t.equal(places[address], 0 if number == '?' else int(number), f'line of {address:#x}')


ASKS_FOR_TIME = """\
#include <stdio.h>
#include <time.h>
static __attribute__((noinline)) void ask(void)
{
	struct timespec now, begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 700);
}
int main(void)
{
	struct timespec used[2];

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used[0]);
	ask();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used[1]);
	printf("%.9f\\n", used[1].tv_sec - used[0].tv_sec + (used[1].tv_nsec - used[0].tv_nsec) / 1e9);
	return 0;
}
"""


@test
def code_that_the_kernel_lends(t):
    """The vDSO: a load object in no file, with its names, its callers and the instructions that lie in this process's own memory."""
    result = t.collect(build(t, 'time', ('time.c', ASKS_FOR_TIME)), options=('-p', 'hi'))
    experiment = result.experiment
    with open('/proc/self/maps', encoding='utf-8') as maps:
        start, end = (int(n, 16) for n in re.search(r'^(\w+)-(\w+) .*\[vdso\]$', maps.read(), re.M).groups())
    with open('/proc/self/mem', 'rb') as memory:
        memory.seek(start)
        (t.directory / 'vdso.so').write_bytes(memory.read(end - start))
    functions = {row['name']: row for row in rows(t, experiment, '-name', 'long:soname', '-metrics', 'e.totalcpu:i.totalcpu:name', '-functions')}
    lent = functions['clock_gettime [[vdso]]']
    # what reads the clock there may be a function without a name: with kvm-clock it is
    inside = sum(row['e.totalcpu'] for name, row in functions.items() if name.endswith('[[vdso]]'))
    t.ratio(inside, functions['ask [time]']['i.totalcpu'], 0.3, 1, 'in the vDSO')
    t.ratio(lent['i.totalcpu'], inside, 0.999, 1.001, 'called by clock_gettime')
    t.ratio(functions['ask [time]']['i.totalcpu'], float(result.out), 0.95, 1.03, 'below ask')
    number = re.search(r'^ *(\d+)\) clock_gettime +\[vdso\]', t.run(t.helio, 'print', '-disasm', 'clock_gettime', experiment).err, re.M)[1]
    listing = [row for row in rows(t, experiment, '-disasm', 'clock_gettime', number) if row['kind'] == 'instruction']
    truth = objdump(t, t.directory / 'vdso.so', '__vdso_clock_gettime')
    t.equal([row['address'] for row in listing], sorted(truth), 'addresses')
    said = [re.sub(r'^xchg +%ax,%ax', 'nop', truth[at]).split()[0] for at in sorted(truth)]
    t.equal([row['name'].split(':  ', 1)[1].split()[0] for row in listing], said, 'instructions')
    t.near(sum(map(value, listing)), lent['e.totalcpu'], 'sum of the instructions', absolute=1e-9)


@test
def callers_are_calls(t):
    program, result = record(t, 0.3)
    code = {function: objdump(t, program, function) for function in ('work', 'recurse', 'main')}
    seen = 0
    for row in rows(t, result.experiment, '-pcs'):
        m = re.fullmatch(r'(work|recurse|main) \+ 0x([0-9a-f]+)', row['name'])
        if not m:
            continue
        text = code[m[1]].get(min(code[m[1]]) + int(m[2], 16))
        t.check(text, f'{row["name"]} is no instruction')
        if not value(row) and value(row, 'i.totalcpu'):
            t.check('call' in text, f'{row["name"]} is called from, but is {text}')
            seen += 1
    t.check(seen >= 4, f'{seen} calls')


BARE = '''\
unsigned long bare(unsigned long x, long n)
{
	for (long i = 0; i < n; i++) x = x * 3 + (x >> 7);
	return x;
}
'''
CALLS_BARE = '''\
#include <time.h>
unsigned long bare(unsigned long x, long n);
int main(void)
{
	unsigned long x = 1;

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		x = bare(x, 20000); /* @call */
	return x == 42;
}
'''


@test
def code_without_debug_information(t):
    build(t, 'bare.o', ('bare.c', BARE), flags=('-O1', '-c'))
    build(t, 'main.o', ('main.c', CALLS_BARE), flags=('-O1', '-g', '-c'))
    t.run('gcc', '-o', 'mixed', 'main.o', 'bare.o')
    result = t.collect(t.directory / 'mixed', options=('-p', 'hi'))
    lines = rows(t, result.experiment, '-lines')
    bare = named(lines, '<Function: bare, instructions without line numbers>')
    t.within(bare and value(bare) > 0.8 * value(lines[0]), f'{bare}')
    call = named(lines, f'main, line {marks(CALLS_BARE)["call"]} in "main.c"')
    t.within(call and value(call, 'i.totalcpu') > 0.8 * value(lines[0]), f'{call}')
    listing = rows(t, result.experiment, '-disasm', 'bare')
    t.check(all('[ ?]' in row['name'] for row in listing if row['kind'] == 'instruction'), 'a line number')
    t.near(sum(value(row) for row in listing), value(bare), 'instructions', absolute=1e-9)
    refused = t.run(t.helio, 'print', '-source', 'bare', result.experiment)
    t.equal(refused.status, 1, 'status')
    t.check('No source lines are known of bare' in refused.err and '-g' in refused.err, refused.err)


def source_of_work(t, experiment, *settings, cwd=None):
    result = t.run(t.helio, 'print', *settings, '-source', 'work', experiment, cwd=cwd)
    t.equal(result.status, 0, result.err)
    return result


@test
def sources_that_are_missing_moved_or_newer(t):
    text = 'static volatile unsigned long sink; /* @one */'
    for folder in ('made', 'far/deep', 'empty'):
        (t.directory / folder).mkdir(parents=True)
    build(t, 'made/work', ('made/work.c', WORK), ('made/work.h', HEADER))
    result = t.collect(t.directory / 'made' / 'work', 0.2, options=('-p', 'hi', '-a', 'ldobjects'))
    made, far, empty = (t.directory / name for name in ('made', 'far', 'empty'))
    t.check('for (long i = 0; i < 1 * n' in source_of_work(t, result.experiment, cwd=empty).out, 'not where it was made')
    (made / 'work.c').rename(far / 'deep' / 'work.c')
    missing = source_of_work(t, result.experiment, cwd=empty)
    t.check('(not found)' in missing.out and 'work.c is not there' in missing.err, missing.err)
    t.check('i < 1 * n' not in missing.out and re.search(r'^.*\d\.\d{3}.* 38\.', missing.out, re.M), 'values without text')
    for settings in (('-addpath', f'{empty}:{far}/deep'), ('-setpath', f'{far}/deep'), ('-pathmap', f'{made}/', f'{far}/deep/')):
        found = source_of_work(t, result.experiment, *settings, cwd=empty)
        t.check(f'(found as {far}/deep/work.c)' in found.out and 'i < 1 * n' in found.out, f'{settings}: {found.out[:300]}')
        t.check('work.c is newer' not in found.err, found.err)
    (result.experiment / 'work.c').write_text((far / 'deep' / 'work.c').read_text())
    t.check(f'(found as {result.experiment}/work.c)' in source_of_work(t, result.experiment, cwd=empty).out, '$expts')
    t.check('(not found)' in source_of_work(t, result.experiment, '-setpath', str(empty), cwd=empty).out, 'setpath keeps $expts')
    (result.experiment / 'work.c').unlink()
    (far / 'deep' / 'work.c').rename(made / 'work.c')
    later = os.stat(made / 'work').st_mtime + 100
    os.utime(made / 'work.c', (later, later))
    newer = source_of_work(t, result.experiment, cwd=empty)
    t.check(f'{made}/work.c is newer than' in newer.err and 'i < 1 * n' in newer.out, newer.err)


@test
def forms_of_a_listing(t):
    program, result = record(t, 0.2)
    for command in ('source', 'disasm'):
        answer = t.print(result.experiment, f'-{command}', 'work')[-1]
        t.equal(answer['command'], command, 'command')
        text = t.run(t.helio, 'print', f'-{command}', 'work', result.experiment).out.splitlines()
        t.check(text[0].startswith(f'Source file: {t.directory}/work.c'), text[0])
        body = text[-len(answer['rows']) - 1:-1]
        for line, row in zip(body, answer['rows']):
            t.check(line.endswith(row['name'].rstrip()), f'{line!r} is not {row["name"]!r}')
            t.equal(line.startswith('## '), row['hot'], f'mark of {line!r}')
        fields = t.run(t.helio, 'print', '-printmode', ';', f'-{command}', 'work', result.experiment).out
        t.check(sum(line.count('";"') >= 3 for line in fields.splitlines()) >= len(answer['rows']), f'{command}: fields')


@test
def filters_choose_what_lines_count(t):
    program, result = record(t, 0.4)
    line = marks(WORK)
    whole = rows(t, result.experiment, '-lines')
    some = rows(t, result.experiment, '-filters', 'FNAME("leaf") SOME IN STACK', '-lines')
    t.near(line_value(some, 'leaf', line['leaf']), line_value(whole, 'leaf', line['leaf']), 'leaf', absolute=1e-9)
    t.within(line_value(whole, 'work', line['three']) > 0, 'work does nothing')
    t.equal(line_value(some, 'work', line['three']), 0, 'work')
    source = by_line(rows(t, result.experiment, '-filters', 'FNAME("leaf") SOME IN STACK', '-source', 'work'))
    t.equal(value(source[line['three']]), 0, 'work in its source')
    t.near(value(source[line['call']], 'i.totalcpu'), value(some[0]), 'the call', absolute=1e-9)


@test
def summaries_have_all_metrics_of_each(t):
    program, result = record(t, 0.2)
    for command in ('lines', 'pcs'):
        spec = ('-metrics', 'e.total:i.total:e.totalcpu:i.totalcpu:e.user:name')
        listing = {row['name']: row for row in rows(t, result.experiment, *spec, f'-{command}')}
        summary = rows(t, result.experiment, f'-{command[0]}summary')
        t.equal([row['name'] for row in summary], list(listing), command)
        for row in summary:
            for metric in ('e.total', 'i.total', 'e.totalcpu', 'i.totalcpu', 'e.user'):
                t.equal(row[metric], listing[row['name']][metric], f'{metric} of {row["name"]}')
        text = t.run(t.helio, 'print', f'-{command[0]}summary', result.experiment).out
        blocks = text.split('\n\n')[1:]
        t.equal([block.split('\n')[0] for block in blocks if block.strip()], list(listing), f'{command}: blocks')
        shown = re.search(r'Exclusive Total CPU Time: *(\S+)', blocks[1])[1]
        t.equal(shown, f'{value(summary[1]):.3f}', f'{command}: the first value')


@test
def files_and_functions_by_name(t):
    program, result = record(t, 0.3)
    header = marks(HEADER)['header']
    lines = rows(t, result.experiment, '-lines')
    expected = line_value(lines, 'work', header)
    for name in ('work.h', f'{t.directory}/work.h', "work'work.h'"):
        source = by_line(rows(t, result.experiment, '-source', name))
        t.equal(sorted(source), list(range(1, len(HEADER.splitlines()) + 1)), f'lines of {name}')
        t.near(value(source[header]), expected, name, absolute=1e-9)
    t.equal(by_line(rows(t, result.experiment, '-source', 'work.c')), by_line(rows(t, result.experiment, '-source', 'leaf')), 'work.c')
    disassembled = t.run(t.helio, 'print', '-disasm', 'work.c', result.experiment).out
    for function in ('work', 'leaf', 'recurse', 'main'):
        t.check(f'<Function: {function}>' in disassembled, f'no {function}')
    for untouched in ('_init', 'frame_dummy'):  # no event was there, nor is it in the list
        t.check(untouched not in t.functions(result.experiment), f'{untouched} has events')
        listing = [row for row in rows(t, result.experiment, '-disasm', untouched, '-functions', '-disasm', untouched) if row['kind'] == 'instruction']
        t.equal([row['address'] for row in listing], sorted(objdump(t, program, untouched)), untouched)
    for name in ('ork.h', 'nothing.c', "leaf'work.h'"):
        refused = t.run(t.helio, 'print', '-source', name, result.experiment)
        t.equal(refused.status, 1, name)
        t.check(f'has the name `{name}\'' in refused.err, refused.err)


@test
def forms_of_instructions(t):
    program, result = record(t, 0.2)
    text = t.run('objdump', '-d', '-Mintel', '--disassemble=leaf', program).out.splitlines()
    found = [m.groups() for m in (re.match(r'^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)', line) for line in text) if m]
    listing = [row['name'] for row in rows(t, result.experiment, '-disasm', '-intel', '-hex', 'leaf') if row['kind'] == 'instruction']
    t.equal(len(listing), len(found), 'instructions')
    for shown, (address, code, instruction) in zip(listing, found):
        t.check(f' {address}:  {code}' in shown, f'{shown!r}: not {address} {code}')
        t.check(shown.split()[-1].split(',')[-1] in instruction.replace('QWORD PTR ', ''), f'{shown!r}: not {instruction}')
    settings = [row['name'] for row in rows(t, result.experiment, '-dcc', 'hex:intel:nosrc', '-disasm', 'leaf')]
    t.equal([name for name in settings if '<Function' not in name], listing, 'by settings')
    for classes, message in (('sausage', 'no class `sausage'), ('p', '`p\' may be parallel or pipe'), ('threshold=101', 'is not a percentage')):
        refused = t.run(t.helio, 'print', '-cc', classes, result.experiment)
        t.check(refused.status == 1 and message in refused.err, f'{classes}: {refused.status} {refused.err}')


@test
def inlined_functions_as_calls(t):
    program, result = record(t, 0.4)
    without = t.functions(result.experiment, whole=True)
    on = [o for o in t.print(result.experiment, '-inlines', 'on', '-functions', '-calltree', '-inlines', 'off', '-functions')]
    inlined = {}
    for row in on[0]['rows']:
        known = inlined.setdefault(row['name'], {'e.totalcpu': 0, 'i.totalcpu': 0})
        for metric in known:
            known[metric] += row[metric]
    part = line_value(rows(t, result.experiment, '-lines'), 'work', marks(HEADER)['header'])
    own = inlined.pop('header_work (inlined)')
    t.check(part > 0 and 'header_work (inlined)' not in without, 'an inlined function without inlines')
    for metric in ('e.totalcpu', 'i.totalcpu'):
        t.near(own[metric], part, metric, absolute=1e-9)
    t.near(inlined['work']['e.totalcpu'], without['work']['e.totalcpu'] - part, 'the rest of work', absolute=1e-9)
    for name, row in inlined.items():
        if name != 'work' and not name.endswith('(inlined)'):
            t.check(row['e.totalcpu'] <= without[name]['e.totalcpu'] + 1e-9, name)
        t.near(row['i.totalcpu'], without.get(name, row)['i.totalcpu'], f'inclusive of {name}', absolute=1e-9)
    total = sum(row['e.totalcpu'] for row in list(inlined.values())[1:]) + own['e.totalcpu']
    t.near(total, inlined['<Total>']['e.totalcpu'], 'sum', absolute=1e-9)
    tree = {row['id']: row for row in on[1]['rows']}
    parents = {tree[row['parent']]['name'] for row in tree.values() if row['name'] == 'header_work (inlined)'}
    t.equal(parents, {'work'}, 'callers')
    t.equal({row['name'] for row in on[2]['rows']}, set(without), 'off again')


NESTED = '''\
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static inline __attribute__((always_inline)) unsigned long innermost(unsigned long x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 3 + (x >> 7);
	return x;
}

static inline __attribute__((always_inline)) unsigned long middle(unsigned long x, long n)
{
	for (long i = 0; i < n; i++)
		x ^= x << 3 | x >> 5;
	return innermost(x, n);
}

static __attribute__((noinline, noclone)) unsigned long twice(unsigned long x, long n)
{
	for (long i = 0; i < n; i++)
		x += x / 3;
	return middle(x, n) + innermost(x, n);
}

int main(int argc, char **argv)
{
	while (clock() < CLOCKS_PER_SEC * atof(argv[1]))
		sink = twice(sink, 100000);
	return 0;
}
'''


def addr2line_chain(t, tool, program, addresses):
    """{address: its functions, outermost first} by addr2line or llvm-symbolizer."""
    chains = {}
    words = (tool, '-i', '-f', '-e', program) if tool.endswith('addr2line') else (tool, '--inlines', '--functions=linkage', f'--obj={program}')
    for address in addresses:
        lines = t.run(*words, f'{address:#x}').out.split('\n')
        chains[address] = tuple(reversed([line for line in lines[::2] if line]))
    return chains


def leaves_of(tree):
    """{a physical function and the functions inlined there: what is exclusive to it} of a call tree."""
    by_id, own, sums = {row['id']: row for row in tree}, {row['id']: row['a.totalcpu'] for row in tree}, {}
    for row in tree:
        if row['id']:
            own[row['parent']] -= row['a.totalcpu']
    for row in tree:
        chain, at = [row['name']], row
        while at['name'].endswith(' (inlined)'):
            at = by_id[at['parent']]
            chain.insert(0, at['name'])
        key = tuple(name.removesuffix(' (inlined)') for name in chain)
        sums[key] = sums.get(key, 0) + own[row['id']]
    return {key: cost for key, cost in sums.items() if cost > 1e-6}


@test
def trees_have_inlined_calls(t):
    """Call trees and flame graphs have what other tools say is inlined at the instructions; lists of functions do not, unless they are told to."""
    program = build(t, 'nested', ('nested.c', NESTED), flags=('-O2', '-g'))
    result = t.collect(program, 0.4, options=('-p', 'hi'))
    begins = {words[2]: int(words[0], 16) for words in (line.split() for line in t.run('nm', '--defined-only', program).out.splitlines())}
    places = {}
    for row in rows(t, result.experiment, '-pcs'):
        place = re.fullmatch(r'(twice|main) \+ 0x(\w+)', row['name'])
        if place and value(row):
            places[begins[place[1]] + int(place[2], 16)] = value(row)
    tree, functions, old, again = t.print(result.experiment, '-calltree', '-functions', '-inlines', 'off', '-calltree', '-inlines', 'trees', '-calltree')
    found = {key: cost for key, cost in leaves_of(tree['rows']).items() if key[0] in ('twice', 'main')}
    for tool in (t.need('addr2line'), t.need('llvm-symbolizer')):
        truth = {}
        for address, chain in addr2line_chain(t, tool, program, places).items():
            truth[chain] = truth.get(chain, 0) + places[address]
        t.check(('twice', 'middle', 'innermost') in truth and ('twice', 'innermost') in truth, f'{tool}: {truth}')
        t.equal(set(found), set(truth), f'{tool}: chains')
        for chain, cost in truth.items():
            t.near(found[chain], cost, f'{tool}: {chain}', absolute=1e-6)
    t.check(not any('(inlined)' in row['name'] for row in functions['rows'] + old['rows']), 'inlined calls where none are wanted')
    t.near(leaves_of(old['rows'])[('twice',)], sum(cost for key, cost in found.items() if key[0] == 'twice'), 'twice', absolute=1e-6)
    t.equal(again['rows'], tree['rows'], 'trees again')
    graph = t.run(t.helio, 'print', '-flamegraph', result.experiment).out
    t.check('innermost (inlined)' in graph, 'flame graph')
    t.check('(inlined)' not in t.run(t.helio, 'print', '-inlines', 'off', '-flamegraph', result.experiment).out, 'flame graph without')
    # what a filter says of functions is the same in both
    both = t.print(result.experiment, '-filters', 'LEAF IN FNAME("twice")', '-functions', '-calltree')
    t.near(both[-1]['rows'][0]['a.totalcpu'], both[-2]['rows'][0]['e.totalcpu'], 'filter', absolute=1e-9)


VECTOR = '''\
#include <stdio.h>

static float x[4096], y[4096];

static inline float twice(float v)
{
	return 2 * v;
}

int main(int argc, char **argv)
{
	for (int round = 0; round < 50000; round++)
		for (int i = 0; i < 4096; i++) /* @loop */
			y[i] += twice(x[i]); /* @call */
	printf("%f\\n", y[argc]);
	return 0;
}
'''


@test
def remarks_of_another_build(t):
    """What gcc has said of a source is not shown for what clang has made of it beside that, nor the other way round."""
    for first, second in (('gcc', 'clang'), ('clang', 'gcc')):
        for compiler in (first, second):
            folder = f'{compiler}-{first}'
            build(t, f'{folder}/vector', (f'{folder}/vector.c', VECTOR), compiler=compiler, flags=('-O3', '-g', '-fsave-optimization-record'))
            for record in t.directory.glob('*.opt*'):
                record.rename(t.directory / folder / record.name)
        own, other = (sorted((t.directory / f'{compiler}-{first}').glob('*.opt*')) for compiler in (first, second))
        t.check(own and other, f'{own} {other}')
        program = t.directory / f'{first}-{first}' / 'vector'

        def remarks():
            return [line for line in t.run(t.helio, 'src', '-scc', 'all', '-source', 'main', program).out.splitlines() if 'Inlining ' in line or 'inlined into' in line]
        alone = remarks()
        for record in other:
            shutil.copy(record, program.parent)
        t.check(alone, f'{first}: none of its own')
        t.equal(remarks(), alone, f'{first}, with those of {second} beside it')
        for record in own:
            (program.parent / record.name).unlink()
        for record in other:
            shutil.copy(record, program.parent)
        t.equal(remarks(), [], f'{first}, with those of {second} only')


CALLED_ONCE = '''\
#include <stdio.h>

static double relax(double *v, int n)
{
	for (int i = 1; i < n - 1; i++)
		v[i] = (v[i - 1] + v[i + 1]) / 2;
	return v[n / 2];
}

int main(int argc, char **argv)
{
	static double v[4096];
	double sum = 0;

	v[argc] = 1;
	for (int round = 0; round < 4096; round++)
		sum += relax(v, 4096);
	printf("%g\\n", sum);
	return 0;
}
'''


@test
def remarks_without_what_the_compiler_counts(t):
    """gcc says of a call that it inlines late what it estimates, and of the whole program what that came to."""
    program = build(t, 'once', ('once.c', CALLED_ONCE), flags=('-O2', '-g', '-fsave-optimization-record'))
    t.check('which now has time' in gzip.decompress((t.directory / 'once.c.opt-record.json.gz').read_bytes()).decode(), 'gcc says it')
    lines = t.run(t.helio, 'src', '-scc', 'all', '-source', 'main', program).out.splitlines()
    t.equal([line.strip() for line in lines if 'Inlined ' in line], ['Inlined relax.constprop into main'], 'remark')


@test
def remarks_of_compilers(t):
    line = marks(VECTOR)
    for compiler, loop, call in (('gcc', 'loop vectorized using', 'Inlining twice into main'),
                                 ('clang', 'vectorized loop (vectorization width', "'twice' inlined into 'main'")):
        folder = f'by-{compiler}'
        program = build(t, f'{folder}/vector', (f'{folder}/vector.c', VECTOR), compiler=compiler,
                        flags=('-O3', '-g', '-fsave-optimization-record'))
        for record in t.directory.glob('*.opt*'):  # written where the compiler runs
            record.rename(t.directory / folder / record.name)
        result = t.collect(program, options=('-p', 'hi', '-A', 'off'))
        listing = rows(t, result.experiment, '-source', 'main')
        for name, text in (('loop', loop), ('call', call)):
            remarks = [row for row in listing if row['kind'] == 'remark' and text in row['name']]
            t.check(remarks and all(row['line'] == line[name] for row in remarks), f'{compiler}: {name}: {remarks}')
            place = listing.index(remarks[0])
            following = next(row for row in listing[place:] if row['kind'] == 'source')
            t.equal(following['line'], line[name], f'{compiler}: the line after the remark')
        kinds = {classes: [row['name'] for row in rows(t, result.experiment, '-scc', classes, '-source', 'main') if row['kind'] == 'remark']
                 for classes in ('none', 'inline', 'loop', 'inl:lo', 'all')}
        t.equal(kinds['none'], [], f'{compiler}: none')
        t.check(all('nlin' in name for name in kinds['inline']) and kinds['inline'], f'{compiler}: {kinds["inline"]}')
        t.equal(sorted(kinds['inline'] + kinds['loop']), sorted(kinds['inl:lo']), f'{compiler}: both')
        t.check(set(kinds['inl:lo']) <= set(kinds['all']), f'{compiler}: all')
        t.equal([row for row in rows(t, result.experiment, '-dcc', 'none', '-disasm', 'main') if row['kind'] == 'remark'], [], 'dcc')
        # kept in the experiment, they outlive the folder
        listing = [row['name'] for row in rows(t, result.experiment, '-scc', 'all', '-source', 'main')]
        archived = t.run(t.helio, 'archive', '-a', 'src', result.experiment)
        t.equal(archived.status, 0, archived.err)
        (t.directory / folder).rename(t.directory / f'gone-{compiler}')
        t.equal([row['name'] for row in rows(t, result.experiment, '-scc', 'all', '-source', 'main')], listing, f'{compiler}: archived')
    (t.directory / '.er.rc').write_text('scc none\n')
    started = t.run(t.helio, 'print', '-source', 'main', result.experiment)
    t.check(not started.status and loop not in started.out and 'y[i] += twice' in started.out, f'a start-up file: {started.err}')


@test
def announced_functions(t):
    (t.directory / 'three.src').write_text(''.join(f'text of line {n}\n' for n in range(1, 21)))
    (t.directory / 'two.src').write_text('all of it\n')
    result = t.collect(t.target('api_functions'), options=('-p', 'hi'))
    functions = t.functions(result.experiment)
    lines = rows(t, result.experiment, '-lines')
    body = named(lines, 'three, line 11 in "three.src"')
    t.within(body and value(body) > 0.95 * functions['three']['e.totalcpu'], f'{body}')
    source = by_line(rows(t, result.experiment, '-source', 'three'))
    t.check('text of line 11' in source[11]['name'], source[11]['name'])
    t.near(value(source[11]), value(body), 'line 11', absolute=1e-9)
    t.within([number for number in source if 'e.totalcpu' in source[number]] == [10, 11, 12], 'lines with code')
    listing = rows(t, result.experiment, '-source', 'two')
    t.near(value(named(listing, '       <Function: two, instructions without line numbers>')), functions['two']['e.totalcpu'], 'two',
           absolute=1e-9)
    refused = t.run(t.helio, 'print', '-source', 'one', result.experiment)
    t.check(refused.status == 1 and 'announced it without any' in refused.err, refused.err)
    # the code is that of the program's text: the same bytes, at a run-time address
    code = bytes.fromhex('554889e5486bc00348ffc048ffcf75f45dc3')
    (t.directory / 'code.bin').write_bytes(code)
    truth = [re.sub(r'\s+', ' ', m[1].split('0x')[0]).strip() for m in
             re.finditer(r'^ *[0-9a-f]+:\t(.*)', t.run('objdump', '-D', '-b', 'binary', '-m', 'i386:x86-64', '--no-show-raw-insn', 'code.bin').out, re.M)]
    base = int(re.search(r'address (\w+)', result.out)[1], 16)
    for function, slot, numbers in (('one', 0, ['?'] * 8), ('three', 2, ['10', '10', '11', '11', '11', '11', '12', '12'])):
        listing = [row for row in rows(t, result.experiment, '-disasm', function) if row['kind'] == 'instruction']
        t.equal(len(listing), len(truth), f'instructions of {function}')
        t.equal(listing[0]['address'], base + 64 * slot, f'address of {function}')
        for row, said, number in zip(listing, truth, numbers):
            t.check(re.match(rf'\s*\[ ?{re.escape(number)}\] +{row["address"]:x}:  ', row['name']), row['name'])
            t.check(normal(row['name'].split(':  ')[1]).startswith(normal(said).split(',')[0]), f'{row["name"]}: not {said}')
        t.check(any(f'<{function}+0x4>' in row['name'] for row in listing), 'the jump has no name')
        t.near(sum(value(row) for row in listing), functions[function]['e.totalcpu'], function, absolute=1e-9)


@test
def on_a_terminal(t):
    program, result = record(t, 0.3)
    colored = t.run(t.helio, 'print', '--color=always', '-disasm', 'leaf', result.experiment).out
    lines = re.sub(r'\x1b\[[0-9;]*m', '', colored).splitlines()
    at = {int(m[1], 16): line for line in lines for m in [re.search(r'\] +([0-9a-f]+):  ', line)] if m}
    jumps = [(address, int(m[1], 16)) for address, text in objdump(t, program, 'leaf').items() for m in [re.match(r'j\w+ +([0-9a-f]+) <leaf', text)] if m]
    t.check(len(jumps) == 2, f'{jumps}')
    for source, target in jumps:
        upper, lower = at[min(source, target)], at[max(source, target)]
        t.check(any(a == ',' and b == '`' for a, b in zip(upper, lower)), f'no line from {source:x} to {target:x}')
        t.check('> ' in at[target].split('[')[0], f'no arrow to {target:x}')
        t.check(all(any(line[i] == '|' for i in range(len(upper)) if upper[i] == ',' and lower[i] == '`')
                    for address, line in at.items() if min(source, target) < address < max(source, target)), 'the line is not whole')
    listing = [row for row in rows(t, result.experiment, '-disasm', 'leaf') if value(row)]
    hottest, second, *_ = sorted(listing, key=value, reverse=True)
    t.check(lines[-2].count(' % at ') > 1 and f', {100 * value(second) / value(rows(t, result.experiment, "-functions")[0]):.1f} % at ' in lines[-2],
            f'what is next hot: {lines[-2]}')
    t.check(f'Hottest: {100 * value(hottest) / value(rows(t, result.experiment, "-functions")[0]):.1f} % at {hottest["address"]:x}' in lines[-2],
            lines[-2])
    t.check('Hottest' not in t.run(t.helio, 'print', '-disasm', 'leaf', result.experiment).out, 'in a file')


@test
def lines_far_beyond_the_source(t):
    """Generated sources may say any number: what is listed are the lines that have code."""
    far = 2_000_000_000
    text = f'int near(int x)\n{{\n\treturn x + 1;\n}}\n#line {far}\nint beyond(int x)\n{{\n\treturn x * 3;\n}}\nint main(void)\n{{\n\treturn near(beyond(1));\n}}\n'
    program = build(t, 'far', ('far.c', text))
    listed = t.run(t.helio, 'src', '-source', 'near', program)
    t.equal(listed.status, 0, listed.err)
    numbers = [int(number) for number in re.findall(r'^ +(\d+)\. ?', listed.out, re.M)]
    lines = len(text.splitlines())
    t.equal(numbers[:lines], list(range(1, lines + 1)), 'the source')
    t.check(numbers[lines:] and set(numbers[lines:]) <= set(range(far, far + 8)), f'{numbers[lines:]}')
    t.check('<Function: beyond>' in listed.out, listed.out)
    t.equal(t.run(t.helio, 'src', '-dcc', 'src:hex', '-disasm', 'beyond', program).status, 0, 'disasm')


@test
def listings_without_an_experiment(t):
    program = build(t, 'work', ('work.c', WORK), ('work.h', HEADER))
    def src(*words, status=0, **more):
        result = t.run(t.helio, 'src', *words, **more)
        t.equal(result.status, status, f'{words}: {result.err}')
        return result
    symbols = {line.split()[3]: (int(line.split()[0], 16), int(line.split()[1], 16))
               for line in t.run('nm', '-S', program).out.splitlines() if re.fullmatch(r'\w+ \w+ [tT] \w+', line)}
    listed = {m[3]: (int(m[1], 16), int(m[2])) for m in re.finditer(r'^0x(\w+) +(\d+)  (.*)$', src('-func', program).out, re.M)}
    for name, place in symbols.items():
        t.equal(listed[name], place, name)
    t.equal(list(listed), sorted(listed), 'order')
    # without names, functions are where .eh_frame_hdr has entries
    t.run('strip', '-o', 'bare', program)
    frames = {int(start, 16) for start in re.findall(r' FDE .* pc=(\w+)\.\.', t.run('readelf', '-wf', 'bare').out)}
    stripped = {int(m[1], 16): m[2] for m in re.finditer(r'^0x(\w+) +\d+  <static>@0x(\w+) \(<bare>\)$', src('-func', 'bare').out, re.M)}
    for name, (address, _) in symbols.items():
        t.check(address not in frames or stripped.get(address) == f'{address:x}', f'{name} at {address:x} in {stripped}')
    t.check(len(frames & {address for address, _ in symbols.values()}) > 4, f'{frames}')
    whole = src(program).out
    t.equal(whole, src('-source', 'all', '-1', program).out, 'the default')
    t.run('gcc', '-O1', '-g', '-c', '-ffunction-sections', '-o', 'work.o', 'work.c')
    listed = src('-source', 'work', 'work.o').out
    t.check(listed.startswith(f'Source file: {t.directory}/work.c'), listed[:200])
    for function in ('work', 'leaf', 'recurse', 'main', 'cpu'):
        t.check(f'<Function: {function}>' in listed, f'{function} of the object file')
    plain = [src(*words, 'work', 'work.o') for words in (('-source',), ('-disasm',))]
    for way in ('zlib', 'zlib-gnu', 'zstd'):  # what is compressed reads the same
        t.run('objcopy', f'--compress-debug-sections={way}', 'work.o')
        t.check(re.search(r'\.zdebug_info|\.debug_info .* C ', t.run('readelf', '-SW', 'work.o').out), f'{way}: sections')
        for words, expected in zip((('-source',), ('-disasm',)), plain):
            packed = src(*words, 'work', 'work.o')
            t.equal((packed.out, packed.err), (expected.out, expected.err), f'{way}: {words}')
    lines = [line.strip() for line in whole.splitlines()]
    for number, line in enumerate(WORK.splitlines(), 1):
        t.check(f'{number}. {line.expandtabs(8)}'.strip() in lines, f'line {number}')
    shown = re.findall(r'\[ *(\d+|\?)\] +([0-9a-f]+):  (.*)', src('-disasm', 'leaf', program).out)
    truth = objdump(t, program, 'leaf')
    t.equal([int(address, 16) for _, address, _ in shown], sorted(truth), 'addresses')
    t.equal([normal(text) for _, _, text in shown], [normal(truth[address]) for address in sorted(truth)], 'instructions')
    for function in ('work', 'cpu', 'main'):
        t.check(f'<Function: {function}>' in src('-dis', 'work.c', program).out, function)
    src('-outfile', 'listing.txt', '-src', "work'work.h'", '-outfile', '-', '-func', program)
    t.check('1. static inline' in (t.directory / 'listing.txt').read_text(), 'outfile')
    (t.directory / 'er_src').symlink_to(t.helio)
    t.equal(t.run(t.directory / 'er_src', '-func', program).out, src('-func', program).out, 'er_src')
    t.check('No function and no source file' in src('-source', 'nothing', program, status=1).err, 'a name that is not there')
    t.check('did you mean -source?' in src('-sourse', 'main', program, status=2).err, 'a wrong option')
    t.check('requires an argument' in src('-source', program, status=2).err, 'a missing word')
    t.check('No such file' in src('missing', status=1).err, 'no file')
    t.check('no functions found' in src('work.c', status=1).err, 'no object')
    t.check('last word' in src(status=2).err, 'nothing')


def code_lines(listing):
    return {row['line'] for row in listing if row['kind'] == 'instruction' and row['line']}


@test
def source_lines_with_their_metrics_between_instructions(t):
    program, result = record(t, 0.3)
    source = by_line(rows(t, result.experiment, '-source', 'work'))
    between = by_line(rows(t, result.experiment, '-dcc', 'asrc', '-disasm', 'leaf'))
    line = marks(WORK)['leaf']
    t.within(value(source[line]) > 0, 'no sample')
    for number, row in between.items():
        if 'e.totalcpu' in row:  # the function's lines
            for metric in ('e.totalcpu', 'i.totalcpu'):
                t.equal(row[metric], source[number][metric], f'{metric} of line {number}')
    listing = code_lines(rows(t, result.experiment, '-disasm', 'leaf'))
    t.equal({number for number, row in between.items() if 'e.totalcpu' in row}, listing, 'lines with code')
    for words in (('src',), ('asrc', '-dcc', 'src')):
        plain = by_line(rows(t, result.experiment, '-dcc', *words, '-disasm', 'leaf'))
        t.check(plain and all('e.totalcpu' not in row for row in plain.values()), f'{words}: metrics')


@test
def listings_say_what_they_are_of(t):
    program, result = record(t, 0.2)
    for command, item in (('-source', 'leaf'), ('-source', 'work.c'), ('-disasm', 'leaf')):
        said = t.print(result.experiment, command, item)[-1]['listing']
        t.equal(said['source'], {'path': f'{t.directory}/work.c', 'found_as': './work.c', 'missing': False, 'newer': False}, command)
        t.equal((said['object_file'], said['load_object']['path']), ('work.c', str(program)), command)
    (t.directory / 'work.c').rename(t.directory / 'other.c')
    t.check(t.print(result.experiment, '-source', 'leaf')[-1]['listing']['source']['missing'], 'the source is not missing')
    shown = t.run(t.helio, 'print', '-disasm', 'work.c', result.experiment, cwd='/')
    t.check(shown.out.count('(not found)') >= 4 and shown.err.count('work.c is not there') == 1, shown.err)


@test
def json_fits_the_schema(t):
    program, result = record(t, 0.2)
    commands = ('-lines', '-pcs', '-lsummary', '-psummary', '-source', 'work', '-source', 'work.h', '-disasm', '-hex', 'leaf')
    listed = t.print(result.experiment, *commands)
    t.equal([value['command'] for value in listed], ['lines', 'pcs', 'lsummary', 'psummary', 'source', 'source', 'disasm'], 'commands')
    check = validator(t)
    for value in listed:
        problems = [f'{problem.json_path}: {problem.message[:200]}' for problem in check.iter_errors(value)]
        t.check(not problems, f'{value["command"]}: {problems[:3]}')
        t.check(value['rows'], f'{value["command"]} is empty')
    listed[-1]['rows'][0]['sort'] = 'of another kind'
    t.check(list(check.iter_errors(listed[-1])), 'the schema takes anything')


OPENMP = '''\
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) void team(long n)
{
#pragma omp parallel num_threads(2) /* @region */
	{
		unsigned long x = 1;
		for (long i = 0; i < n; i++) x = x * 3 + (x >> 7); /* @body */
		sink = x;
	}
}

int main(void)
{
	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		team(100000);
	return 0;
}
'''


@test
def bodies_of_parallel_regions_and_summaries(t):
    program = build(t, 'openmp', ('openmp.c', OPENMP), flags=('-O1', '-g', '-fopenmp'))
    # waiting threads take no processor from those that work
    result = t.collect(program, options=('-p', 'hi'), env={'OMP_WAIT_POLICY': 'passive'})
    line = marks(OPENMP)
    name = f'team -- OMP parallel region from line {line["region"]} [team._omp_fn.0]'
    functions = t.functions(result.experiment)
    t.check(name in functions, f'{sorted(functions)[:20]}')
    source = by_line(rows(t, result.experiment, '-source', 'team'))
    t.near(value(source[line['body']]), functions[name]['e.totalcpu'], 'the body', relative=0.05)
    for words in (('-fsingle', 'team'), ('-fsingle', 'team._omp_fn.0')):
        summary = rows(t, result.experiment, *words)[0]
        t.equal(summary['source_file'], f'{t.directory}/openmp.c', 'source file')
        t.equal(summary['object_file'], 'openmp.c', 'object file')
