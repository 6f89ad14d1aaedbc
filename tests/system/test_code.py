# SPDX-License-Identifier: Apache-2.0
"""
Lines and instructions.

The programs are compiled here, from text in which the lines that matter have
names: `/* @two */` is the line `two`. What a line costs, the program measures
itself; addresses and instructions are objdump's, line numbers addr2line's.
"""
import os
import re
import subprocess

from harness import test

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
    t.check(distance < CHI_SQUARE_5_001, f'{measured} against {result.truth()}: chi-square {distance:.2f}')
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
    for threshold in (75, 20, 100):
        listing = rows(t, result.experiment, '-sthresh', str(threshold), '-source', 'work')
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


TEMPLATE = '''\
#include <cstdlib>
#include <ctime>

template <int N> __attribute__((noinline)) unsigned long turn(unsigned long x, long n)
{
	for (long i = 0; i < n; i++) x = x * (2 * N + 1) + (x >> 7); // @shared
	return x;
}

int main()
{
	unsigned long x = 1;

	while (clock() < CLOCKS_PER_SEC * 2 / 5)
		x += turn<1>(x, 10000) + turn<2>(x, 10000); // @calls
	return x == 42;
}
'''


@test
def source_adds_up_instances_of_a_template(t):
    program = build(t, 'template', ('template.cc', TEMPLATE), compiler='g++')
    result = t.collect(program, options=('-p', 'hi'))
    shared = marks(TEMPLATE)['shared']
    lines = rows(t, result.experiment, '-lines')
    instances = [value(row) for row in lines if re.match(rf'.*turn<[12]>.*, line {shared} in "template.cc"', row['name'])]
    t.equal(len(instances), 2, 'instances')
    t.check(min(instances) > 0, f'{instances}')
    source = rows(t, result.experiment, '-source', 'main')
    t.near(value(by_line(source)[shared]), sum(instances), 'both', absolute=1e-9)
    for instance in ('turn<1>', 'turn<2>'):
        t.check(any(row['kind'] == 'index' and instance in row['name'] for row in source), f'no index line of {instance}')


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
    t.check(bare and value(bare) > 0.8 * value(lines[0]), f'{bare}')
    call = named(lines, f'main, line {marks(CALLS_BARE)["call"]} in "main.c"')
    t.check(call and value(call, 'i.totalcpu') > 0.8 * value(lines[0]), f'{call}')
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
    t.check(line_value(whole, 'work', line['three']) > 0, 'work does nothing')
    t.equal(line_value(some, 'work', line['three']), 0, 'work')
    source = by_line(rows(t, result.experiment, '-filters', 'FNAME("leaf") SOME IN STACK', '-source', 'work'))
    t.equal(value(source[line['three']]), 0, 'work in its source')
    t.near(value(source[line['call']], 'i.totalcpu'), value(some[0]), 'the call', absolute=1e-9)
