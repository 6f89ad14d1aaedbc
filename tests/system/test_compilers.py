# SPDX-License-Identifier: Apache-2.0
"""
What compilers make of functions: copies, parts, bodies of loops, functions of other languages. The programs are compiled here; the
names of lines (`@name` in a comment) tell where in the golden listings an index line stands.
"""
import os
import pathlib
import re
import shutil
import subprocess
import time

import helio_reader
from harness import Failure, test
from test_code import build, by_line, line_value, marks, named, objdump, rows, value


def golden(text, index):
    """The listing of a source file, without metrics: index is {mark of the line after it: names of functions}."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        for mark in re.findall(r'@(\w+)', line):
            lines += [f'       <Function: {name}>' for name in index.get(mark, ())]
        lines.append(f'{number:5}. {line.expandtabs(8)}')
    return [line.rstrip() for line in lines]


def expect_source(t, program, file, text, index):
    listing = t.run(t.helio, 'src', '-source', file, program)
    t.equal(listing.status, 0, listing.err)
    shown = [line[4:].rstrip() for line in listing.out.split('\n\n', 1)[1].rstrip('\n').split('\n')]
    shown = [line for line in shown if not line.startswith('       Function ')]  # remarks
    for line, expected in zip(shown, golden(text, index)):
        t.equal(line, expected, f'{file} of {program.name}')
    t.equal(len(shown), len(golden(text, index)), 'lines')


def code_of(listing):
    return [row for row in listing if row['kind'] == 'instruction']


CLONES = '''\
#include <stdlib.h>
#include <time.h>

struct pair {
	long first, second;
};

static __attribute__((noinline)) unsigned long work(const struct pair *pair, unsigned long x, long n) /* @constprop */
{ /* @work */
	for (long i = 0; i < 20000 * n; i++) x = x * 3 + (x >> 7); /* @loop */
	return x + (unsigned long)pair->second;
}

__attribute__((noinline, noclone)) unsigned long three(unsigned long x, struct pair *pair)
{ /* @three */
	return work(pair, x, 3) + 1;
}

__attribute__((noinline, noclone)) unsigned long any(unsigned long x, struct pair *pair, long n)
{ /* @any */
	return work(pair, x, n) + work(pair, x + 1, n + 1);
}

int main(int argc, char **argv)
{ /* @main */
	struct pair pair = {argc, 2};
	unsigned long x = 1;

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		x += three(x, &pair) + any(x, &pair, atol(argv[1]));
	return x == 42;
}
'''


@test
def clones_have_one_source_and_each_their_instructions(t):
    program = build(t, 'clones', ('clones.c', CLONES), flags=('-O3', '-g'))
    t.equal(len(re.findall(r' t work', t.run('nm', program).out)), 2, 'functions made of work')
    expect_source(t, program, 'clones.c', CLONES, {name: [name] for name in ('work', 'three', 'any', 'main')} |
                  {'constprop': ['work.constprop.0']})
    result = t.collect(program, 1, options=('-p', 'hi'))
    functions, line = t.functions(result.experiment), marks(CLONES)['loop']
    both = [functions[name]['e.totalcpu'] for name in ('work', 'work.constprop.0')]
    t.within(min(both) > 0.1 * sum(both), f'{both}')
    source = by_line(rows(t, result.experiment, '-source', 'work'))
    t.near(value(source[line]), sum(both), 'line of both', relative=0.05)
    lines = rows(t, result.experiment, '-lines')
    t.near(value(source[line]), line_value_of(lines, ('work', 'work.constprop.0'), line), 'sum of lines', absolute=1e-9)
    for name, total in zip(('work', 'work.constprop.0'), both):
        listing = code_of(rows(t, result.experiment, '-disasm', name))
        t.equal([row['address'] for row in listing], sorted(objdump(t, program, name)), f'instructions of {name}')
        t.near(sum(map(value, listing)), total, f'instructions of {name}', absolute=1e-9)


def line_value_of(lines, functions, line):
    return sum(value(row) for row in lines for name in functions if row['name'].startswith(f'{name}, line {line} in '))


# A structure's member in place of a pointer to it.
REDUCED = CLONES[:CLONES.index('static __attribute__')] + '''\
static __attribute__((noinline)) unsigned long work(const struct pair *pair, unsigned long x, long n)
{
	x += (unsigned long)pair->second; /* @work */
	for (long i = 0; i < 20000 * n; i++) x = x * 3 + (x >> 7); /* @loop */
	return x;
}

__attribute__((noinline)) unsigned long any(unsigned long x, struct pair *pair, long n)
{ /* @any */
	return work(pair, x, n) + work(pair, x + 1, n + 1); /* @calls */
}

int main(int argc, char **argv)
{ /* @main */
	struct pair pair = {argc, 2};
	unsigned long x = 1;

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		x += any(x, &pair, atol(argv[1]));
	return x == 42;
}
'''


@test
def a_function_with_other_parameters_is_that_function(t):
    program = build(t, 'reduced', ('reduced.c', REDUCED), flags=('-O2', '-g'))
    t.equal(re.findall(r' t (work.*)', t.run('nm', program).out), ['work.isra.0'], 'functions made of work')
    expect_source(t, program, 'reduced.c', REDUCED, {'work': ['work.isra.0'], 'any': ['any'], 'main': ['main']})
    result = t.collect(program, 1, options=('-p', 'hi'))
    cost, line = t.functions(result.experiment)['work.isra.0'], marks(REDUCED)
    source = by_line(rows(t, result.experiment, '-source', 'reduced.c'))
    t.near(value(source[line['loop']]), cost['e.totalcpu'], 'its loop', relative=0.05)
    t.near(value(source[line['calls']], 'i.totalcpu'), cost['i.totalcpu'], 'the calls', relative=0.05)
    listing = code_of(rows(t, result.experiment, '-disasm', 'work'))  # by the name in the source, too
    t.equal([row['address'] for row in listing], sorted(objdump(t, program, 'work.isra.0')), 'instructions')


PARTS = '''\
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) unsigned long step(unsigned long x)
{ /* @step */
	return x * 3 + (x >> 7);
}

__attribute__((cold, noinline)) void rare(void)
{ /* @rare */
	sink++;
}

unsigned long mixed(unsigned long x, long n)
{ /* @mixed */
	if (n < 100)
		return x;
	for (long i = 0; i < n; i++) { /* @loop */
		x = step(x) ^ step(x + 1);
		sink += step(x) * step(x >> 1);
	}
	return x * 3;
}

__attribute__((noinline)) unsigned long often(unsigned long x, long n)
{ /* @often */
	if (n > 100) {
		rare();
		for (long i = 0; i < n; i++) x = x * 3 + (x >> 7); /* @cold */
		rare();
	}
	return x;
}

int main(int argc, char **argv)
{ /* @main */
	unsigned long x = 1;
	long n = atol(argv[1]);

	while (clock() < CLOCKS_PER_SEC * 4 / 10)
		x = often(mixed(x, n), 2 * n);
	return x == 42;
}
'''


@test
def parts_belong_to_their_functions(t):
    program = build(t, 'parts', ('parts.c', PARTS), flags=('-O2', '-g'))
    t.equal(sorted(re.findall(r' t (mixed\S+|often\S+)', t.run('nm', program).out)), ['mixed.part.0', 'often.cold'], 'parts')
    at = marks(PARTS)
    result = t.collect(program, 20000, options=('-p', 'hi'))
    functions = t.functions(result.experiment)
    listing = rows(t, result.experiment, '-source', 'often')
    for symbol in ('mixed.part.0', 'often.cold'):
        parent = symbol.split('.')[0]
        part = f'{parent} -- outline code [{symbol}]'
        index = [row['name'] for row in listing if row['kind'] == 'index' and symbol in row['name']]
        t.check(len(index) == 1 and re.fullmatch(rf' *<Function: {parent} -- outline code from line \d+ \[{re.escape(symbol)}\]>', index[0]), f'{index}')
        t.check(at[parent] - 1 <= int(re.search(r'line (\d+)', index[0])[1]) <= at[parent] + 5, index[0])
        # its parent is on the stack, and nobody else calls it
        t.near(functions[parent]['i.totalcpu'], functions[part]['i.totalcpu'] + functions[parent]['e.totalcpu'], parent, relative=0.02)
        for name in (part, symbol):
            callers = [row['name'] for row in rows(t, result.experiment, '-csingle', name) if row['role'] == 'caller']
            t.equal(callers, [parent], f'callers of {name}')
        for command in (['-functions'], ['-calltree'], ['-callers-callees'], ['-pcs']):
            shown = t.run(t.helio, 'print', *command, result.experiment).out
            t.check(part in shown and symbol not in shown.replace(part, ''), f'{command}: {shown}')
            shown = t.run(t.helio, 'print', '-name', 'mangled', *command, result.experiment).out
            t.check(symbol in shown and 'outline' not in shown, f'{command}: {shown}')
        t.check(part in t.run(t.helio, 'print', '-flamegraph', result.experiment).out, 'flamegraph')
        filtered = [o for o in t.print(result.experiment, '-filters', f'LEAF IN FNAME("{symbol}")', '-functions')][-1]['rows']
        t.near(filtered[0]['e.totalcpu'], functions[part]['e.totalcpu'], 'filter', absolute=1e-9)
    cold = functions['often -- outline code [often.cold]']
    t.near(value(by_line(listing)[at['cold']]), cold['e.totalcpu'], 'line', relative=0.05)
    # no instruction of often calls its cold part
    listing = rows(t, result.experiment, '-disasm', 'often')
    outlined = named(listing, '       <inclusive metrics for outlined functions>')
    t.check(outlined and value(outlined) == 0, f'{outlined}')
    t.near(value(outlined, 'i.totalcpu'), cold['i.totalcpu'], 'outlined', absolute=1e-9)
    place = listing.index(outlined)
    t.check(re.search(r'j\w+ .*<often\.cold', listing[place - 1]['name']), f'behind {listing[place - 1]["name"]}')
    t.check(not named(rows(t, result.experiment, '-disasm', 'main'), outlined['name']), 'main has no part')


def calling_lines(t, program, function):
    """The source lines of the calls and jumps to a function, by binutils."""
    code = t.run(t.need('objdump'), '-d', '--no-show-raw-insn', program).out
    calls = re.findall(rf'^ *([0-9a-f]+):\t(?:call|jmp)\S* +[0-9a-f]+ <{re.escape(function)}>$', code, re.M)
    t.check(calls, f'nobody calls {function}')
    return sorted({int(line.split(':')[1].split()[0]) for line in t.run('addr2line', '-e', program, *calls).out.splitlines()})


@test
def clones_are_remarked(t):
    """
    At the lines that call it stands each clone, at a function's line each part that the symbol table has of it, and nothing
    else, from what is kept too.
    """
    cache = {'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(t.directory / 'cache')}
    for name, text, flags, reasons in (
            ('clones', CLONES, ('-O3', '-g'), {'work.constprop.0': 'constant parameters propagated to clone'}),
            ('reduced', REDUCED, ('-O2', '-g'), {'work.isra.0': 'unused parameters removed'}),
            ('parts', PARTS, ('-O2', '-g'), {'mixed.part.0': 'not inlined with the rest', 'often.cold': 'seldom'})):
        program = build(t, name, (f'{name}.c', text), flags=flags)
        made = set(re.findall(r' [tT] (\w+\.(?:constprop|isra|part|cold)\S*)', t.run('nm', program).out))
        t.equal(made, set(reasons), f'{name}: symbols')
        result = t.collect(program, 1000)
        for _ in range(2):
            found = t.run(t.helio, 'print', '-source', f'{name}.c', result.experiment, env=cache).out
            shown = re.findall(r'^ *Function (\w+) from source file (\S+) is (?:cloned|split), creating \w+ function (\S+); (.*)', found, re.M)
            t.equal({clone for _, _, clone, _ in shown}, made, f'{name}: {found}')
            for function, source, clone, reason in shown:
                t.check(function == clone.split('.')[0] and source == f'{name}.c' and reasons[clone] in reason, f'{shown}')
        listing = rows(t, result.experiment, '-source', f'{name}.c')
        for function, clone in {(function, clone) for function, _, clone, _ in shown}:
            at = [row['line'] for row in listing if row['kind'] == 'remark' and f' {clone};' in row['name']]
            if '.part.' in clone or '.cold' in clone:
                line = text.splitlines()[at[0] - 1]
                t.check(len(at) == 1 and (f'{function}(' in line or f'@{function} ' in line), f'{clone}: line {at}')
            else:
                t.equal(at, calling_lines(t, program, clone), f'{clone}: lines')
        t.check('creating' not in t.run(t.helio, 'print', '-scc', 'none', '-source', f'{name}.c', result.experiment).out, '-scc none')


UNIT = '''\
static __attribute__((noinline)) unsigned long same(unsigned long x, long n) /* @same */
{
	for (long i = 0; i < n; i++) x = x * FACTOR + (x >> 7); /* @loop */
	return x;
}
unsigned long NAME(unsigned long x, long n) { return same(x, n) + same(x + 1, n); }
'''
UNITS = '''\
#include <stdlib.h>
#include <time.h>
unsigned long first(unsigned long x, long n), second(unsigned long x, long n);
int main(int argc, char **argv)
{
	unsigned long x = argc;

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		x = first(x, atol(argv[1])) + second(x, atol(argv[1]) / 2);
	return x == 42;
}
'''


@test
def names_that_only_the_linker_made_unique(t):
    (t.directory / 'main.c').write_text(UNITS)
    for name, factor in (('first', 3), ('second', 5)):
        (t.directory / f'{name}.c').write_text(f'#define NAME {name}\n#define FACTOR {factor}\n{UNIT}')
    for compiler, flags, pattern in (('gcc', ('-flto',), r'same\.lto_priv\.\d'), ('clang', ('-flto=thin', '-fuse-ld=lld'), r'same\.llvm\.\d+')):
        made = t.run(t.need(compiler), '-O2', '-g', *flags, '-o', compiler, 'main.c', 'first.c', 'second.c')
        t.equal(made.status, 0, made.err[-300:])
        result = t.collect(t.directory / compiler, 20000, options=('-p', 'hi'))
        functions = {name: row['e.totalcpu'] for name, row in t.functions(result.experiment).items() if name.startswith('same')}
        t.check(len(functions) == 2 and all(re.fullmatch(pattern, name) for name in functions), f'{compiler}: {functions}')
        line = marks(UNIT)['loop'] + 2
        for name, cost in functions.items():
            source = rows(t, result.experiment, '-source', name)
            t.near(value(by_line(source)[line]), cost, f'{compiler}: line of {name}', relative=0.05)
            index = [row['name'].strip() for row in source if row['kind'] == 'index' and name in row['name']]
            t.equal(index, [f'<Function: {name}>'], f'{compiler}: index line')


OPENMP = '''\
#include <time.h>

static volatile unsigned long sink;

static __attribute__((noinline)) unsigned long spin(unsigned long x, long n)
{
	for (long i = 0; i < n; i++) x = x * 3 + (x >> 7);
	return x;
}

static __attribute__((noinline)) unsigned long twirl(unsigned long x, long n)
{
	for (long i = 0; i < n; i++) x = x * 5 + (x >> 9);
	return x;
}

__attribute__((noinline)) void region(long n)
{
#pragma omp parallel num_threads(2) /* @region */
	sink = spin(1, n); /* @in_region */
}

__attribute__((noinline)) void loop(long n)
{
#pragma omp parallel for num_threads(2) /* @loop */
	for (int i = 0; i < 4; i++)
		sink = spin(i, n); /* @in_loop */
}

__attribute__((noinline)) void sections(long n)
{
#pragma omp parallel sections num_threads(2) /* @sections */
	{
#pragma omp section
		sink = spin(2, n); /* @in_sections */
#pragma omp section
		sink = twirl(3, n);
	}
}

__attribute__((noinline)) void tasks(long n)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i) /* @tasks */
		sink = spin(i, n); /* @in_tasks */
	}
}

int main(void)
{
	while (clock() < CLOCKS_PER_SEC * 10 / 10) {
		region(100000);
		loop(50000);
		sections(100000);
		tasks(50000);
	}
	return 0;
}
'''


@test
def openmp_constructs_have_their_names(t):
    at = marks(OPENMP)
    constructs = {'region': 'OMP parallel region', 'loop': 'OMP parallel loop', 'sections': 'OMP sections', 'tasks': 'OMP task'}
    clang = r'\.omp_(?:outlined|task_entry)\.(?:\.\d+)?'
    for compiler, debug, symbol in (('gcc', '-g', r'{}\._omp_fn\.\d'), ('clang', '-g', clang), ('clang', '-gline-tables-only', clang)):
        program = build(t, compiler, (f'{compiler}.c', OPENMP), compiler=compiler, flags=('-O1', debug, '-fopenmp'))
        result = t.collect(program, options=('-p', 'hi'), env={'OMP_WAIT_POLICY': 'passive'})
        functions = t.functions(result.experiment)
        source = rows(t, result.experiment, '-source', f'{compiler}.c')
        for construct, text in constructs.items():
            pattern = re.compile(rf'{construct} -- {text} from line {at[construct]} \[{symbol.format(construct)}\]')
            body = [name for name in functions if pattern.fullmatch(name)]
            t.equal(len(body), 1, f'{compiler}: {pattern.pattern} of {[name for name in functions if " -- " in name]}')
            t.check(any(f'<Function: {body[0]}>' in row['name'] for row in source), f'{compiler}: no index line {body[0]}')
            called = by_line(source)[at[f'in_{construct}']]
            t.within(value(called, 'i.totalcpu') > 0, f'{compiler}: {called}')


FORTRAN = '''\
module geo ! a module
contains
subroutine area(x, n) ! @geo__area
  real :: x
  integer :: n, i
  do i = 1, n
    x = x * 1.000001 + 0.5 ! @in_area
  end do
end subroutine
end module
subroutine first(x, n) ! @first_
  real :: x
  integer :: n, i
  do i = 1, n
    x = x * 0.999999 + 0.25 ! @in_first
  end do
  return
  entry another(x, n) ! @another_
  do i = 1, n
    x = x * 0.999998 + 0.125 ! @in_another
  end do
end subroutine
program mini ! @mini
  use geo
  real :: y, t
  integer :: k
  y = 1
  t = 0
  do while (t < 0.3)
    call first(y, 20000) ! @calls_first
    call another(y, 20000)
    call area(y, 20000)
    call cpu_time(t)
  end do
  if (y == 42) print *, y
end program
'''


@test
def fortran_entries_and_modules(t):
    at = marks(FORTRAN)
    program = build(t, 'mini', ('mini.f90', FORTRAN), compiler='gfortran', flags=('-O0', '-g'))
    result = t.collect(program, options=('-p', 'hi'))
    functions, source = t.functions(result.experiment), by_line(rows(t, result.experiment, '-source', 'mini.f90'))
    body = 'first_ -- all entries [master.0.first_]'
    t.near(functions['geo::area']['e.totalcpu'], value(source[at['in_area']]), 'geo::area', relative=0.2)
    entries = value(source[at['in_first']]) + value(source[at['in_another']])
    t.near(functions[body]['e.totalcpu'], entries, body, relative=0.2)
    callers = {row['name']: row['attributed'] if 'attributed' in row else value(row)
               for row in rows(t, result.experiment, '-csingle', body) if row['role'] == 'caller'}
    t.equal(set(callers), {'first_', 'another_'}, 'callers')
    for entry in ('first_', 'another_'):
        t.within(functions[entry]['i.totalcpu'] > 0.2 * functions[body]['i.totalcpu'], entry)
    # a compiler that optimises gives each entry its own copy
    program = build(t, 'fast', ('fast.f90', FORTRAN), compiler='gfortran', flags=('-O1', '-g'))
    index = [row['name'].strip() for row in rows(t, t.collect(program, options=('-p', 'hi')).experiment, '-source', 'fast.f90')
             if row['kind'] == 'index' and 'instructions' not in row['name']]
    for name in ('geo::area', 'first_', 'another_', 'MAIN__'):
        t.check(f'<Function: {name}>' in index, f'{name} is not in {index}')


CXX = '''\
#include <ctime>

namespace app {
template <typename T> struct Box {
	T value;
	__attribute__((noinline)) T grow(long n) {
		for (long i = 0; i < n; i++) value = value * 3 + 1; // @grow
		return value;
	}
};

unsigned long run(long n)
{ // @run
	auto step = [](unsigned long x, long n) __attribute__((noinline)) { // @step
		for (long i = 0; i < n; i++) x = x * 3 + (x >> 7); // @in_step
		return x;
	};
	auto other = [n](auto x) __attribute__((noinline)) { // @other
		for (long i = 0; i < n; i++) x = x * 5 + (x >> 7); // @in_other
		return x;
	};
	Box<int> small{1};
	Box<unsigned long> large{2};
	return step(1, n) + other(2ul) + small.grow(n) + large.grow(n);
}
}

int main()
{ // @main
	unsigned long x = 0;

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		x += app::run(10000);
	return x == 42;
}
'''
LAMBDA = 'app::run(long)::{lambda(unsigned long, long)#1}::operator()(unsigned long, long) const'
GENERIC = 'auto app::run(long)::{lambda(auto:1)#2}::operator()<unsigned long>(unsigned long) const'


@test
def templates_and_lambdas(t):
    program = build(t, 'lambda', ('lambda.cc', CXX), compiler='g++', flags=('-O1', '-g'))
    boxes = ['app::Box<int>::grow(long)', 'app::Box<unsigned long>::grow(long)']
    expect_source(t, program, 'lambda.cc', CXX, {'grow': boxes, 'run': ['app::run(long)'], 'step': [LAMBDA], 'other': [GENERIC],
                                                 'main': ['main']})
    result = t.collect(program, options=('-p', 'hi'))
    functions, at = t.functions(result.experiment), marks(CXX)
    source = by_line(rows(t, result.experiment, '-source', 'lambda.cc'))
    for line, names in (('grow', boxes), ('in_step', [LAMBDA]), ('in_other', [GENERIC])):
        costs = [functions[name]['e.totalcpu'] for name in names]
        t.within(min(costs) > 0, f'{names}: {costs}')
        t.near(value(source[at[line]]), sum(costs), line, relative=0.05)
    short = t.print(result.experiment, '-name', 'short', '-functions')[-1]['rows']
    t.check({'app::run', 'app::Box<int>::grow'} <= {row['name'] for row in short}, f'{[row["name"] for row in short][:8]}')


RUST = '''\
use std::time::Instant;

mod shapes {
    pub trait Area {
        fn area(&self, n: u64) -> u64;
    }
    pub struct Square(pub u64);
    pub struct Circle(pub u64);
    impl Area for Square {
        #[inline(never)]
        fn area(&self, n: u64) -> u64 {
            (0..n).fold(self.0, |x, i| x.wrapping_mul(3).wrapping_add(i ^ (x >> 7)))
        }
    }
    impl Area for Circle {
        #[inline(never)]
        fn area(&self, n: u64) -> u64 {
            (0..n).fold(self.0, |x, i| x.wrapping_mul(5).wrapping_add(i ^ (x >> 9)))
        }
    }
}

#[inline(never)]
fn generic<T: shapes::Area>(shape: &T, n: u64) -> u64 {
    shape.area(n).wrapping_add(shape.area(n)) // @generic
}

fn main() {
    let start = Instant::now();
    let mut x = 1u64;
    while start.elapsed().as_millis() < 300 {
        x = x.wrapping_add(generic(&shapes::Square(x), 10000)); // @square
        x = x.wrapping_add(generic(&shapes::Circle(x), 10000)); // @circle
    }
    std::process::exit((x == 42) as i32);
}
'''


@test
def functions_of_rust(t):
    for style, flags in (('legacy', ()), ('v0', ('-C', 'symbol-mangling-version=v0'))):
        program = build(t, f'shapes_{style}', ('shapes.rs', RUST), compiler='/usr/bin/rustc', flags=('-g', '-O', *flags))
        result = t.collect(program, options=('-p', 'hi'))
        functions = t.functions(result.experiment)
        for shape in ('Square', 'Circle'):
            name = f'<shapes::shapes::{shape} as shapes::shapes::Area>::area'
            t.check(name in functions, f'{style}: {name} is not in {sorted(functions)[:12]}')
            t.within(functions[name]['i.totalcpu'] > 0.2 * functions['<Total>']['i.totalcpu'], f'{style}: {name}')
        source = by_line(rows(t, result.experiment, '-source', 'shapes.rs'))
        at = marks(RUST)
        for mark in ('square', 'circle', 'generic'):
            t.within(value(source[at[mark]], 'i.totalcpu') > 0.2 * functions['<Total>']['i.totalcpu'], f'{style}: line of {mark}')


INDIRECT = '''\
#include <stdlib.h>
#include <time.h>

__attribute__((noinline, target_clones("avx2", "default"))) void scale(float *x, long n)
{
	for (long i = 0; i < n; i++) x[i] = x[i] * 1.5f + 0.25f; /* @scale */
}

int main(void)
{
	static float x[4096];

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		scale(x, 4096); /* @call */
	return x[1] == 42;
}
'''


@test
def indirect_functions_by_what_was_chosen(t):
    program = build(t, 'indirect', ('indirect.c', INDIRECT), flags=('-O2', '-g'))
    result = t.collect(program, options=('-p', 'hi'))
    functions = t.functions(result.experiment)
    chosen = [name for name in functions if re.fullmatch(r'scale\.(avx2|default)(\.\d)?', name) and functions[name]['e.totalcpu']]
    t.equal(len(chosen), 1, f'{[name for name in functions if "scale" in name]}')
    t.equal('avx2' in chosen[0], any('avx2' in line for line in open('/proc/cpuinfo', encoding='ascii')), chosen[0])
    t.equal([row['name'] for row in rows(t, result.experiment, '-csingle', chosen[0]) if row['role'] == 'caller'], ['main'], 'callers')
    source = by_line(rows(t, result.experiment, '-source', 'main'))
    t.near(value(source[marks(INDIRECT)['scale']]), functions[chosen[0]]['e.totalcpu'], 'line', relative=0.1)
    t.near(value(source[marks(INDIRECT)['call']], 'i.totalcpu'), functions[chosen[0]]['i.totalcpu'], 'call', relative=0.1)


STUBS = '''\
#include <time.h>
unsigned long tiny(unsigned long x);
int main(void)
{
	unsigned long x = 1;

	while (clock() < CLOCKS_PER_SEC * 4 / 10)
		for (long i = 0; i < 1000000; i++)
			x = tiny(x); /* @call */
	return x == 42;
}
'''


def seconds_in_slots(experiment, program):
    """CPU time whose innermost address lies in the program's procedure linkage table, by the second reader and readelf."""
    sections = subprocess.run(['readelf', '-SW', program], capture_output=True, text=True, check=True).stdout
    ranges = [(int(start, 16), int(start, 16) + int(size, 16))
              for start, size in re.findall(r' \.plt[.\w]* +PROGBITS +\w+ (\w+) (\w+)', sections)]
    profile = helio_reader.read_profile((experiment / 'profile').read_bytes())
    nodes, _ = helio_reader.read_stacks((experiment / 'stacks').read_bytes())
    maps = helio_reader.maps_of(experiment)
    seconds = 0
    for stack, by_state in profile.stacks.items():
        epoch, pc = next(helio_reader.frames(nodes, stack), (0, 0))  # no stack was recorded
        entry = helio_reader.find_object(maps, epoch, pc)
        if entry and entry.get('name', '').endswith(f'/{pathlib.Path(program).name}'):
            offset = pc - entry['vaddr'] + entry['foffset']
            seconds += sum(by_state[:3]) / 1e6 * any(low <= offset < high for low, high in ranges)
    return seconds


@test
def linkage_slots_are_their_callers(t):
    (t.directory / 'tiny.c').write_text('unsigned long tiny(unsigned long x) { return x + 1; }\n')
    (t.directory / 'stubs.c').write_text(STUBS)
    for words in (('gcc', '-O2', '-fPIC', '-shared', '-o', 'libtiny.so', 'tiny.c'),
                  ('gcc', '-O1', '-g', '-o', 'stubs', 'stubs.c', '-L.', '-ltiny', '-Wl,-rpath,$ORIGIN')):
        t.equal(t.run(*words).status, 0, words)
    result = t.collect(t.directory / 'stubs', options=('-p', 'hi'))
    functions = t.functions(result.experiment)
    slots = seconds_in_slots(result.experiment, t.directory / 'stubs')
    t.within(slots > 0.005, f'{slots} s in the slots')
    t.equal([name for name in functions if '@plt' in name], [], 'functions of slots')
    call = by_line(rows(t, result.experiment, '-source', 'main'))[marks(STUBS)['call']]
    t.within(value(call) >= slots * 0.999, f'{value(call)} s are the own time of the line that calls, {slots} s were in the slot')
    t.near(value(call, 'i.totalcpu') - value(call), functions['tiny']['i.totalcpu'], 'what the line calls', relative=0.02)


BINDING = 300  # functions, each bound at its first call


@test
def binding_is_called_plt(t):
    """A library is loaded, calls each of many functions once, which binds them, and is unloaded, over and over."""
    numbers = range(BINDING)
    (t.directory / 'many.c').write_text(''.join(f'void some_function_{n}(void) {{}}\n' for n in numbers))
    (t.directory / 'user.c').write_text(''.join(f'void some_function_{n}(void);\n' for n in numbers) + 'void use_all(void)\n{\n'
                                        + ''.join(f'\tsome_function_{n}();\n' for n in numbers) + '}\n')
    (t.directory / 'main.c').write_text('''\
#include <dlfcn.h>
#include <time.h>
void some_function_0(void);
int main(int argc, char **argv)
{
	some_function_0();
	while (clock() < CLOCKS_PER_SEC * 4 / 10) {
		void *user = dlopen(argv[1], RTLD_LAZY);
		((void (*)(void))dlsym(user, "use_all"))();
		dlclose(user);
	}
	return 0;
}
''')
    for words in (('gcc', '-O1', '-fPIC', '-shared', '-o', 'libmany.so', 'many.c'),
                  ('gcc', '-O1', '-fPIC', '-shared', '-o', 'user.so', 'user.c', '-Wl,-z,lazy'),
                  ('gcc', '-O1', '-o', 'main', 'main.c', '-L.', '-lmany', '-Wl,-rpath,$ORIGIN', '-Wl,-z,now')):
        t.equal(t.run(*words).status, 0, words)
    result = t.collect(t.directory / 'main', t.directory / 'user.so', options=('-p', 'hi'), env={'LD_BIND_NOW': ''})
    functions = t.functions(result.experiment)
    binding = functions.get('@plt', {}).get('i.totalcpu', 0)
    t.within(binding > 0.02, f'@plt: {binding} s of {functions["<Total>"]}')
    t.equal([name for name in functions if name.startswith(('_dl_runtime', '_dl_fixup'))], [], 'the dynamic linker\'s functions below it')
    around = rows(t, result.experiment, '-csingle', '@plt')
    t.equal([(row['role'], row['name']) for row in around if row['role'] != 'center'], [('caller', 'use_all')], 'around it')


MADE = '''\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* mov %rdi,%rcx; again: dec %rcx; jne again; ret */
static const unsigned char code[] = {0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3};
enum { ROOM = 64 };

/* As HotSpot has it. */
static void write_long_map(const unsigned char *at)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	fprintf(file, "0x\\n0x0 0x\\n0x%016lx 0x%016x replaced\\n", (long)at, ROOM);
	fprintf(file, "0x%016lx 0x%016x first <&\\"\\001 of two\\n0X%lX 0X%X second\\n", (long)at, ROOM, (long)at + ROOM, ROOM);
	fclose(file);
	puts(path);
}

static void write_map(const unsigned char *at, int is_old, int is_given)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	fprintf(file, "no number\\n%lx\\n%lx 0 empty\\nffffffffffffffff ff far\\n", (long)at, (long)at);
	fprintf(file, "%lx %x replaced\\n%lx %x first <&\\"\\001 of two\\n", (long)at, ROOM, (long)at, ROOM);
	fprintf(file, "%lx fffffffffffffff huge\\n%lx %x second", (long)at, (long)at + ROOM, ROOM);
	fclose(file);
	if (is_old)
		utimes(path, (struct timeval[2]){{1000000000, 0}, {1000000000, 0}});
	if (is_given && chown(path, 65534, 65534))
		perror(path);
	puts(path);
}

static void put_function(FILE *file, const unsigned char *at, const char *name)
{
	uint64_t numbers[] = {(uint64_t)at, (uint64_t)at, sizeof(code), 1};
	uint32_t sizes[] = {0, 16 + 8 + 32 + strlen(name) + 1 + sizeof(code)}, ids[] = {getpid(), getpid()};
	uint64_t time = 5;

	fwrite(sizes, sizeof(sizes), 1, file);
	fwrite(&time, sizeof(time), 1, file);
	fwrite(ids, sizeof(ids), 1, file);
	fwrite(numbers, sizeof(numbers), 1, file);
	fwrite(name, strlen(name) + 1, 1, file);
	fwrite(code, sizeof(code), 1, file);
}

static void put_line(FILE *file, const unsigned char *at, uint32_t line, const char *name)
{
	uint64_t address = (uint64_t)at;
	uint32_t numbers[] = {line, 0};

	fwrite(&address, sizeof(address), 1, file);
	fwrite(numbers, sizeof(numbers), 1, file);
	fwrite(name, strlen(name) + 1, 1, file);
}

/* mov is line 3, the loop 4, ret comes from elsewhere; what V8 says of them: 64 bytes ahead. */
static void put_lines(FILE *file, const unsigned char *at, int ahead)
{
	uint32_t head[] = {2, 16 + 16 + 3 * 16 + 9 + 2 + 10};
	uint64_t numbers[] = {5, (uint64_t)at, 3};

	fwrite(head, sizeof(head), 1, file);
	fwrite(numbers, sizeof(numbers), 1, file);
	put_line(file, at + ahead, 3, "made.src");
	put_line(file, at + ahead + 3, 4, "\\xff");
	put_line(file, at + ahead + 8, 7, "other.src");
}

/* Its name has a zero in it, so that nobody knows where it ends. */
static void put_garbled_lines(FILE *file, const unsigned char *at)
{
	uint32_t head[] = {2, 16 + 16 + 2 * 24};
	uint64_t numbers[] = {5, (uint64_t)at, 2};

	fwrite(head, sizeof(head), 1, file);
	fwrite(numbers, sizeof(numbers), 1, file);
	for (int i = 0; i < 2; i++) {
		put_line(file, at + 64 + i, 3, "\\xe1\\xeb\\x01");
		fwrite("\\0\\0\\0", 4, 1, file);
	}
}

static void put_v8(FILE *file, const unsigned char *at)
{
	for (int i = 2; i < 6; i++) {
		put_lines(file, at + i * ROOM, 64);
		put_function(file, at + i * ROOM, "other");
	}
	put_garbled_lines(file, at);
	put_function(file, at, "first of two");
	put_lines(file, at + ROOM, 64);
	put_function(file, at + ROOM, "second");
}

static void write_dump(const unsigned char *at, const char *directory, int is_v8)
{
	uint32_t head[] = {0x4a695444, 1, 40, 62, 0, getpid(), 0, 0, 0, 0}, end[] = {3, 16, 0, 0}, wrong[] = {0, 5000, 0, 0};
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, getpid());
	file = fopen(path, "w");
	fwrite(head, sizeof(head), 1, file);
	if (is_v8) {
		put_v8(file, at);
	} else {
		put_function(file, at, "first of two");
		fwrite(end, sizeof(end), 1, file);
		put_lines(file, at + ROOM, 0);
		put_function(file, at + ROOM, "second");
	}
	fwrite(wrong, sizeof(wrong), 1, file);
	fclose(file);
}

static double cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double spent[2] = {0, 0}, begin = cpu(), end;
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	memcpy(at + ROOM, code, sizeof(code));
	if (!strcmp(argv[1], "dump") || !strcmp(argv[1], "v8"))
		write_dump(at, argv[2], !strcmp(argv[1], "v8"));
	else if (!strcmp(argv[1], "long"))
		write_long_map(at);
	else
		write_map(at, !strcmp(argv[1], "old"), !strcmp(argv[1], "given"));
	if (!strcmp(argv[1], "linked")) { /* as who may not write such a file could name one of this user's */
		char map[64];

		snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
		if (link(map, "linked"))
			perror(map);
	}
	while (begin < 1.2)
		for (int i = 0; i < 2; i++, begin = end) {
			((void (*)(long))(at + i * ROOM))(200000 / (i + 1));
			end = cpu();
			spent[i] += end - begin;
		}
	if (!strcmp(argv[1], "old"))
		sleep(1);
	printf("first %f\\nsecond %f\\n", spent[0], spent[1]);
	return 0;
}
'''


@test
def functions_that_compilers_at_run_time_tell_perf_of(t):
    program = build(t, 'made', ('made.c', MADE), flags=('-O1', '-g'))
    of_map = 'first <&"\x01 of two'
    for kind, first in (('map', of_map), ('long', of_map), ('dump', 'first of two'), ('v8', 'first of two'), ('old', None), ('linked', None),
                        *[('given', None)] * t.as_root()):
        result = t.collect(program, kind, '.', options=('-p', 'hi'))
        if kind in ('map', 'long', 'old', 'linked', 'given'):
            os.unlink(result.out.split()[0])
        functions = t.functions(result.experiment, whole=True)
        total = functions['<Total>']['e.totalcpu']
        unknown = functions.get('<Unknown>', {'e.totalcpu': 0})['e.totalcpu']
        if not first:
            t.within(unknown > 0.9 * total and 'second' not in functions, f'{kind}: a file from before the recording, with another name, or of another user: {sorted(functions)}')
            share = re.search(r'([0-9.]+) % of the Total CPU Time is at addresses outside', t.run(t.helio, 'print', '-functions', result.experiment).err)
            t.check(share, 'no warning')
            t.near(float(share[1]), 100 * unknown / total, 'share of what is shown', absolute=0.1)
            for metric in ('user', 'sleep'):  # of the metric that is shown, whichever it is
                row = t.functions(result.experiment, f'e.{metric}', whole=True)
                part = row.get('<Unknown>', {f'e.{metric}': 0})[f'e.{metric}'] / (row['<Total>'][f'e.{metric}'] or 1)
                said = t.run(t.helio, 'print', '-metrics', f'e.{metric}:name', '-functions', result.experiment).err
                shares = re.findall(r'([0-9.]+) % of the ([A-Z].*?) is at addresses outside', said)
                t.equal(len(shares), int(part >= 0.01), f'warnings with {metric} shown: {said}')
                t.check(all(abs(float(share) - 100 * part) < 0.1 and 'Total CPU' not in title for share, title in shares), said)
            continue
        t.check(first in functions and 'second' in functions, f'{kind}: {sorted(functions)}')
        t.check(not {'replaced', 'empty', 'far', 'huge'} & set(functions), f'{kind}: {sorted(functions)}')
        for name, true in ((first, 'first'), ('second', 'second')):
            t.near(functions[name]['e.totalcpu'], result.truth()[true], f'{kind}: {true}', relative=0.3)  # one takes twice the other
        t.within(functions[first]['e.totalcpu'] + functions['second']['e.totalcpu'] > 0.9 * total, f'{kind}: {functions}')
        t.equal([row['name'] for row in rows(t, result.experiment, '-csingle', 'second') if row['role'] == 'caller'], ['main'], kind)
        checked = t.run(t.helio, 'check', result.experiment)
        t.equal(checked.status, 0, checked.out + checked.err)
        t.read(result.experiment)
        if kind in ('dump', 'v8'):
            check_dump(t, result.experiment, functions['second']['e.totalcpu'])


@test
def places_of_dumps(t):
    """In /tmp, and where perf's agent for Java and what follows it write."""
    program = build(t, 'made', ('made.c', MADE), flags=('-O1', '-g'))
    agent = t.directory / '.debug/jit/java-jit-1'
    agent.mkdir(parents=True)
    for place in ('/tmp', agent):
        result = t.collect(program, 'dump', place, options=('-p', 'hi'), env={'JITDUMPDIR': t.directory})
        for dump in pathlib.Path(place).glob(f"jit-{t.read(result.experiment)['']['process']['pid']}.dump"):
            dump.unlink()
        functions = t.functions(result.experiment)
        for name in ('first of two', 'second'):
            t.check(name in functions, f'{place}: {name}: {sorted(functions)}')


def check_dump(t, experiment, cost):
    """The code and the lines that the dump has of a function."""
    (t.directory / 'code.bin').write_bytes(bytes.fromhex('4889f948ffc975fbc3'))
    binary = t.run('objdump', '-D', '-b', 'binary', '-m', 'i386:x86-64', '--no-show-raw-insn', 'code.bin').out
    truth = [(int(m[1], 16), m[2].split()[0]) for m in re.finditer(r'^ *([0-9a-f]+):\t(.*)', binary, re.M)]
    (t.directory / 'made.src').write_text(''.join(f'text of line {n}\n' for n in range(1, 10)))
    listing = code_of(rows(t, experiment, '-disasm', 'second'))
    shown = [re.match(r' *\[ *(\d+|\?)\] +([0-9a-f]+):  (\w+)', row['name']).groups() for row in listing]
    t.equal([(int(at, 16) - listing[0]['address'], name) for _, at, name in shown], truth, 'instructions')
    t.equal([line for line, _, _ in shown], ['3', '4', '4', '?'], 'their lines')
    t.near(sum(map(value, listing)), cost, 'instructions', absolute=1e-9)
    source = by_line(rows(t, experiment, '-source', 'second'))
    t.near(value(source[4]), sum(value(row) for row in listing[1:3]), 'the loop', absolute=1e-9)
    t.check('text of line 4' in source[4]['name'], source[4]['name'])
    # without lines the code is there, too
    t.equal(len(code_of(rows(t, experiment, '-disasm', 'first of two'))), len(truth), 'instructions of the first')


FIRST = '''\
#include <time.h>
unsigned long other(unsigned long x);
static __attribute__((noinline)) unsigned long same(unsigned long x)
{
	for (int i = 0; i < 20000; i++) x = x * 3 + (x >> 7); /* @first */
	return x;
}
unsigned long middle(unsigned long x) __attribute__((alias("first_name")));
unsigned long zz_last(unsigned long x) __attribute__((alias("first_name")));
__attribute__((noinline)) unsigned long first_name(unsigned long x)
{
	return same(x) + 1;
}
int main(void)
{
	unsigned long x = 1;

	while (clock() < CLOCKS_PER_SEC * 3 / 10)
		x = first_name(x) + other(x);
	return x == 42;
}
'''
SECOND = '''\
static __attribute__((noinline)) unsigned long same(unsigned long x)
{
	for (int i = 0; i < 10000; i++) x = x * 5 + (x >> 9); /* @second */
	return x;
}
unsigned long other(unsigned long x)
{
	return same(x) + 2;
}
'''


@test
def functions_of_one_name_and_names_of_one_function(t):
    program = build(t, 'two', ('first.c', FIRST), ('second.c', SECOND), flags=('-O1', '-g'))
    result = t.collect(program, options=('-p', 'hi'))
    same = [row for row in rows(t, result.experiment, '-functions') if row['name'] == 'same']
    t.equal(len(same), 2, 'functions of the name')
    asked = t.run(t.helio, 'print', '-source', 'same', result.experiment)
    choices = re.findall(r'^ *(\d)\) same  \S+/two  0x([0-9a-f]+)  \S+/(?:first|second)\.c$', asked.err, re.M)
    t.check(asked.status == 1 and len(choices) == 2, asked.err)
    addresses = {int(word, 16) for word in re.findall(r'^(\w+) t same$', t.run('nm', program).out, re.M)}
    t.equal({int(address, 16) for _, address in choices}, addresses, 'addresses')
    costs = []
    for number, address in choices:
        listing = rows(t, result.experiment, '-source', 'same', number)
        mark = 'first' if by_line(listing)[1]['name'].endswith('<time.h>') else 'second'
        costs.append(value(by_line(listing)[marks(FIRST, SECOND)[mark]]))
        code = code_of(rows(t, result.experiment, '-disasm', 'same', number))
        t.equal(code[0]['address'], int(address, 16), f'address of choice {number}')
        t.near(sum(map(value, code)), costs[-1], f'choice {number}', relative=0.05)
    t.near(sum(costs), sum(map(value, same)), 'both', relative=0.05)
    # three names of one function: the last in the alphabet is shown, all are told
    functions = t.functions(result.experiment)
    t.check('zz_last' in functions and not {'first_name', 'middle'} & set(functions), f'{sorted(functions)}')
    for name in ('first_name', 'middle', 'zz_last'):
        summary = rows(t, result.experiment, '-fsingle', name)[0]
        t.equal((summary['name'], sorted(summary['aliases'].split())), ('zz_last', ['first_name', 'middle', 'zz_last']), name)


@test
def sources_that_are_not_what_was_compiled(t):
    """A preprocessed file has #line; without, it is the source itself. A stripped program has code between its symbols."""
    (t.directory / 'gen').mkdir()
    for name, text in (('first.c', FIRST), ('second.c', SECOND)):
        (t.directory / name).write_text(text)
        for flags, output in (((), f'gen/with_{name}'), (('-P',), f'gen/without_{name}')):
            made = t.run('gcc', '-E', *flags, '-o', f'{output[:-2]}.i', name)
            t.equal(made.status, 0, made.err)
    for kind, file in (('with', 'second.c'), ('without', 'gen/without_second.i')):
        t.equal(t.run('gcc', '-O1', '-g', '-o', kind, f'gen/{kind}_first.i', f'gen/{kind}_second.i').status, 0, kind)
        listed = t.run(t.helio, 'src', '-source', 'other', kind).out
        t.check(listed.startswith(f'Source file: {t.directory}/{file}'), f'{kind}: {listed[:100]}')
        t.check(re.search(r'<Function: other>\n *\d+\. .*(?:{|same\(x\) \+ 2)', listed), f'{kind}: {listed}')
    t.run('strip', '-o', 'bare', 'with')
    result = t.collect(t.directory / 'bare', options=('-p', 'hi'))
    known = {int(address, 16): name for address, name in re.findall(r'^(\w+) [tT] (\w+)$', t.run('nm', 'with').out, re.M)}
    # what calls them is met by a tick or two
    found = {m[1]: row['e.totalcpu'] for name, row in t.functions(result.experiment).items()
             for m in [re.fullmatch(r'<static>@0x(\w+) \(<bare>\)', name)] if m and row['e.totalcpu'] > 0.02}
    t.equal(sorted(known[int(address, 16)] for address in found), ['same', 'same'], 'stripped functions')
    t.within(sum(found.values()) > 0.9 * t.functions(result.experiment)['<Total>']['e.totalcpu'], f'{found}')


MAPS_CODE = '''\
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* HOW FILE OFFSET SIZE AT: the code of a file at OFFSET is mapped, and what lies AT it is called for a second. */
int main(int argc, char **argv)
{
	long offset = atol(argv[3]), size = atol(argv[4]), at = atol(argv[5]);
	int fd = open(argv[2], O_RDONLY), flags = MAP_PRIVATE, protection = PROT_READ | PROT_EXEC;
	char *code = strcmp(argv[1], "raw") ? mmap(NULL, size, protection, flags, fd, offset)
					    : (char *)syscall(SYS_mmap, NULL, size, protection, flags, fd, offset);
	clock_t end = clock() + CLOCKS_PER_SEC;

	close(fd);
	if (argc > 6)
		sleep(3);
	while (clock() < end)
		((void (*)(long))(code + at))(1000000);
	if (!strcmp(argv[1], "killed"))
		raise(SIGKILL);
	if (!strcmp(argv[1], "gone"))
		munmap(code, size);
	return 0;
}
'''
SPIN = 'void spin(long n) { for (; n; n--) __asm__ volatile(""); }\n'


def place_in_file(t, path):
    """(offset, size, of `spin` in it) of the segment with its code, by readelf."""
    address = int(re.search(r'^(\w+) T spin$', t.run('nm', path).out, re.M)[1], 16)
    for offset, start, size in re.findall(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', t.run('readelf', '-lW', path).out):
        if int(start, 16) <= address < int(start, 16) + int(size, 16):
            return int(offset, 16), int(size, 16), address - int(start, 16)
    raise Failure(f'spin is nowhere in {path}')


@test(engines=True)
def code_of_a_file_that_the_program_maps_itself(t, engine):
    """V8 maps a part of its program once more, near the code that it makes; an own loader maps what the dynamic linker never sees."""
    program = build(t, 'maps', ('maps.c', MAPS_CODE + SPIN), flags=('-O1', '-g', '-Wl,-z,separate-code'))
    library = build(t, 'libspin.so', ('spin.c', SPIN), flags=('-O1', '-g', '-shared', '-fPIC', '-Wl,-z,separate-code'))
    for how, file, options in (('gone', program, ()), ('gone', program, ('-H', 'on')), ('raw', program, ()), ('killed', program, ()), ('gone', library, ()),
                               ('raw', library, ())):
        place = place_in_file(t, file)
        result = t.collect(program, how, file, *place, engine=engine, options=options, status=137 if how == 'killed' else 0)
        functions = t.functions(result.experiment)
        t.within(functions.get('spin', {'e.totalcpu': 0})['e.totalcpu'] > 0.8 * functions['<Total>']['e.totalcpu'], f'{how} {file}: {functions}')
        lines = t.run(t.helio, 'print', '-lines', result.experiment).out
        t.check('spin, line ' in lines, f'{how} {file}: {lines}')


@test
def mapped_code_of_a_program_that_ran_already(t):
    program = build(t, 'maps', ('maps.c', MAPS_CODE + SPIN), flags=('-O1', '-g', '-Wl,-z,separate-code'))
    running = subprocess.Popen([str(word) for word in (program, 'gone', program, *place_in_file(t, program), 'late')], cwd=t.directory)
    try:
        while b'maps' not in pathlib.Path(f'/proc/{running.pid}/maps').read_bytes():
            time.sleep(0.01)
        time.sleep(0.5)
        t.equal(t.run(t.helio, 'attach', '-o', 'at.er', running.pid).status, 0, 'attach')
    finally:
        running.wait()
    functions = t.functions(t.directory / 'at.er')
    t.within(functions.get('spin', {'e.totalcpu': 0})['e.totalcpu'] > 0.8 * functions['<Total>']['e.totalcpu'], f'{functions}')


@test
def advice_by_the_runtime(t):
    """A program called node is taken for it; of what luajit compiles only its own profiler knows the names."""
    program = build(t, 'made', ('made.c', MADE), flags=('-O1', '-g'))
    advice = {'node': '--perf-basic-prof', 'luajit': 'luajit -jp'}
    for name in 'made', 'node', 'luajit':
        if name != 'made':
            shutil.copy(program, t.directory / name)
        result = t.collect(t.directory / name, 'old', '.')
        os.unlink(result.out.split()[0])
        said = t.run(t.helio, 'print', '-functions', result.experiment).err
        t.equal([other for other in advice if advice[other] in said], [other for other in advice if other == name], name)


@test
def advice_for_two_runtimes(t):
    """Each is told what helps it, and none that was told already."""
    program = build(t, 'made', ('made.c', MADE), flags=('-O1', '-g'))
    for name in 'node', 'deno':
        shutil.copy(program, t.directory / name)
    flags = {'node': '--perf-basic-prof', 'deno': '--v8-flags=--perf-basic-prof'}
    for told in ((), ('deno',), ('node', 'deno')):
        commands = [f'./{name} old . {flags[name] if name in told else ""}' for name in flags]
        result = t.collect('sh', '-c', '; '.join(commands))
        for path in re.findall(r'/tmp/perf-[0-9]+.map', result.out):
            os.unlink(path)
        said = t.run(t.helio, 'print', '-functions', result.experiment).err
        t.equal([name for name in flags if f'{name} tells the names' in said], [name for name in flags if name not in told], f'{told}: {said}')


ENDLESS = '''\
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	for (long i = 0; i < 18000; i++)
		fprintf(file, "%lx 10 %04000ld\\n", 0x500000000 + i * 16, i);
	fclose(file);
	return puts(path) < 0;
}
'''


@test
def a_map_without_end(t):
    program = build(t, 'endless', ('endless.c', ENDLESS), flags=('-O1',))
    result = t.collect(program)
    os.unlink(result.out.strip())
    t.check('made more functions than are kept' in result.err, result.err)
    t.check((result.experiment / 'map.xml').stat().st_size < 80 << 20, 'map.xml has no limit')
    t.check('Total' in t.run(t.helio, 'print', '-functions', result.experiment).out, 'the experiment cannot be read')


BEGINS_ELSEWHERE = '''\
#include "inl.h"
#include <time.h>

__attribute__((noinline)) unsigned long hot(unsigned long *at, long n)
{
	unsigned long sum = pick(at);

	for (long i = 0; i < n; i++)
		sum = mix(sum);
	return sum;
}

int main(void)
{
	unsigned long sum = 1;

	while (clock() < CLOCKS_PER_SEC / 2)
		sum ^= hot(&sum, 1000000);
	return sum == 1;
}
'''


@test
def functions_that_begin_with_what_was_inlined(t):
    """
    Their source is the one that they are written in, and the time of instructions that addr2line finds in the other one
    has its index line.  How much that is, is the processor's: a tick may come some instructions late.
    """
    (t.directory / 'inl.h').write_text('static inline unsigned long pick(const unsigned long *at)\n{\n\treturn *at;\n}\n'
                                       'static inline unsigned long mix(unsigned long x)\n{\n\treturn (x ^ x >> 7) * 0x9e3779b97f4a7c15;\n}\n')
    for compiler in ('gcc', 'clang'):
        program = build(t, f'own-{compiler}', ('own.c', BEGINS_ELSEWHERE), compiler=compiler, flags=('-O2', '-g'))
        first = re.search(r'^\s*([0-9a-f]+) T hot$', t.run('nm', program).out, re.M)[1]
        begins = t.run('addr2line', '-e', program, f'0x{first}').out
        listing = t.run(t.helio, 'src', '-source', 'hot', program).out
        t.check(listing.startswith(f'Source file: {t.directory}/own.c'), f'{compiler}, whose code begins at {begins}: {listing[:200]}')
        result = t.collect(program, options=('-p', 'hi'))
        offsets = {int(row['name'].split(' + ')[1], 16): row['e.totalcpu']
                   for row in t.print(result.experiment, '-pcs')[0]['rows'] if row['name'].startswith('hot + ')}
        places = t.run('addr2line', '-e', program, *(hex(int(first, 16) + offset) for offset in offsets)).out.split('\n')
        elsewhere = sum(time for place, time in zip(places, offsets.values()) if '/inl.h:' in place)
        listed = t.run(t.helio, 'print', '-source', 'hot', result.experiment).out
        row = re.search(r'^(?:##)? *([0-9.]+) .*<Function: hot, instructions from source file inl.h>', listed, re.M)
        t.check(row, f'{compiler}: {listed}')
        t.near(float(row[1]), elsewhere, f'{compiler}: time in inl.h', absolute=0.0006)


SIGNALLED = '''\
#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile long count;

static void handler(int number)
{
	for (long i = 0; i < 1000000; i++)
		count += number;
}

int main(void)
{
	signal(SIGUSR1, handler);
	while (clock() < CLOCKS_PER_SEC / 2)
		kill(getpid(), SIGUSR1);
	return 0;
}
'''


@test
def what_a_signal_handler_returns_to(t):
    """It has a name, with libc's debug information and with a copy of libc that has none and cannot be found."""
    program = build(t, 'signalled', ('signalled.c', SIGNALLED), flags=('-O1', '-g'))
    libc = re.search(r'libc\.so\.6 => (\S+)', t.run('ldd', program).out)[1]
    (t.directory / 'lib').mkdir()
    copy = t.directory / 'lib/libc.so.6'
    t.equal(t.run('objcopy', '--strip-debug', '--remove-section=.note.gnu.build-id', '--remove-section=.gnu_debuglink', libc, copy).status, 0, 'objcopy')
    for env in ({}, {'LD_LIBRARY_PATH': str(copy.parent)}):
        result = t.collect(program, env=env)
        tree = t.run(t.helio, 'print', '-calltree', result.experiment).out
        t.check(re.search(r'\+-kill\n.*\+-__restore_rt\n.*\+-handler\n', tree), f'{env}: {tree}')
        t.check('__restore_rt + 0x00000000' in t.run(t.helio, 'print', '-pcs', result.experiment).out, f'{env}: {tree}')


WITH_COLD_PART = '''\
#include <stdio.h>
#include <stdlib.h>

__attribute__((cold, noinline)) static void fail(long n) { exit((int)n); }

__attribute__((noinline)) long work(long n, volatile int *at)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += *at;
		if (__builtin_expect(sum < 0, 0))
			fail(sum);
	}
	return sum;
}

int main(void)
{
	int one = 1;

	return work(1000, &one) == 1;
}
'''


@test
def cold_parts_in_line(t):
    """Where gcc leaves the cold part behind its function the symbol's size holds both: the listing has the function's own instructions."""
    for flag in ('-freorder-functions', '-fno-reorder-functions'):
        program = build(t, 'cold' + flag, ('cold.c', WITH_COLD_PART), flags=('-O2', '-g', flag))
        truth = t.run('objdump', '-d', '--no-show-raw-insn', program).out
        t.check('<work.cold>:' in truth, f'{flag}: no cold part')
        for name in ('work', 'work.cold'):
            block = re.search(rf'<{re.escape(name)}>:\n((?:.+\n)+)', truth)[1]
            own = [int(address, 16) for address in re.findall(r'^ +(\w+):\t(?!data16|cs nop|nop|xchg +%ax,%ax)', block, re.M)]
            listed = [int(address, 16) for address in re.findall(r'\] +(\w+):  ', t.run(t.helio, 'src', '-disasm', name, program).out)]
            t.check(own and set(own) <= set(listed), f'{flag} {name}: {listed}, not {own}')
            t.check(not set(listed) & {int(address, 16) for other in {'work', 'work.cold'} - {name}
                                       for address in re.findall(r'^ +(\w+):', re.search(rf'<{re.escape(other)}>:\n((?:.+\n)+)', truth)[1], re.M)},
                    f'{flag} {name}: of the other one')


@test
def members_and_static_functions_by_name(t):
    """What a function is called in its namespace or class means it, where nothing has the whole name; static ones say whose they are."""
    (t.directory / 'm.cc').write_text('''\
namespace m {
struct s { __attribute__((noinline)) static double relax(double x) { for (int i = 0; i < 100; i++) x = x * 0.99 + 1; return x; } };
__attribute__((noinline)) double again(double x) { return s::relax(x) + 1; }
}
namespace n { __attribute__((noinline)) double again(double x) { return x * 3; } }
int main() { double sum = 0; for (int i = 0; i < 1000000; i++) sum += m::again(i) + n::again(i); return sum == 1; }
''')
    t.equal(t.run(t.need('g++'), '-O1', '-g', '-o', 'm', 'm.cc').status, 0, 'g++')
    experiment = t.collect(t.directory / 'm').experiment
    for words in (('print', '-source', 'relax', experiment), ('print', '-fsingle', 'relax', experiment), ('src', '-source', 'relax', 'm')):
        t.check('m::s::relax(double)' in t.run(t.helio, *words).out, f'{words}')
    t.check('2 functions have the name `again\'' in t.run(t.helio, 'src', '-disasm', 'again', 'm').err, 'two')
    t.check('no source file has the name `rela\'' in t.run(t.helio, 'src', '-source', 'rela', 'm').err, 'a part of a word')
    for name in 'ab':
        (t.directory / f'{name}.c').write_text(f'__attribute__((noinline)) static long same(long n) {{ for (volatile long i = 0; i < n; i++); return n; }}\n'
                                               f'long {name}(long n) {{ return same(n) + 1; }}\n')
    (t.directory / 'c.c').write_text('long a(long), b(long);\nint main() { return a(9) + b(9) == 0; }\n')
    t.equal(t.run('gcc', '-O1', '-g', '-o', 'two', 'a.c', 'b.c', 'c.c').status, 0, 'gcc')
    listed = t.run(t.helio, 'src', '-source', 'same', 'two').err
    for number, name in ((1, 'a'), (2, 'b')):
        t.check(re.search(rf'^ *{number}\) same  \S+/two  0x\w+  \S+/{name}\.c$', listed, re.M), f'{name}: {listed}')
        t.check(t.run(t.helio, 'src', '-source', 'same', number, 'two').out.startswith(f'Source file: {t.directory}/{name}.c'), name)


def inlines_of_one_name(letter):
    body = 'for (volatile long i = 0; i < n; i++); return n;'
    return (f'static inline __attribute__((always_inline)) long same(long n) {{ {body} }}\n'
            f'__attribute__((noinline)) long {letter}(long n) {{ return same(n) + 1; }}\n')


def names_in_tree(t, program):
    lines = t.run(t.helio, 'print', '-calltree', t.collect(program).experiment).out.splitlines()
    return {line.split('+-')[1].strip() for line in lines if '+-' in line}


@test
def inlined_functions_of_one_name(t):
    """Of several source files each says its own; one beside the code that was made of the same function has its name alone, and no address."""
    both = 'long a(long), b(long);\nint main(void) { return a(100000000) + b(100000000) == 0; }\n'
    program = build(t, 'inlines', ('a.c', inlines_of_one_name('a')), ('b.c', inlines_of_one_name('b')), ('c.c', both))
    names = names_in_tree(t, program)
    t.check({'same (inlined) [a.c]', 'same (inlined) [b.c]'} <= names, f'{names}')
    # gcc splits what recurses, and keeps the name for its remaining part and for what is inlined of it
    split = build(t, 'split', ('split.c', 'volatile long sink;\nstatic long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n'
                               'int main(void) { sink = fib(38); return 0; }\n'), flags=('-O2', '-g'))
    names = names_in_tree(t, split)
    t.check('fib (inlined)' in names, f'{names}')
    t.check(not any('[0x' in name for name in names), f'{names}')


NAMED_IN_SOURCE = '''\
#include <stdlib.h>
static volatile double sink;
#define NOINLINE __attribute__((noinline))
template<class T> NOINLINE T sorter(T x) { for (long i = 0; i < 10000000; i++) sink = x + 1; return x; }
namespace geo {
namespace {
NOINLINE void helper(long count) { for (long i = 0; i < count; i++) sink = sink * 0.99 + 1; }
}
NOINLINE void run(long count) { helper(count); helper(count); }
}
int main(int argc, char **argv)
{
	geo::run(atol(argv[1]));
	return sorter<int>(argc) + sorter<double>(argc) == 0;
}
'''


@test
def functions_by_what_their_source_calls_them(t):
    """A template is made to several, which begin with what they return; an anonymous namespace has no name."""
    program = build(t, 'named', ('named.cc', NAMED_IN_SOURCE), compiler='g++')
    experiment = t.collect(program, '10000000', options=('-p', '1')).experiment
    for words in (('print', '-source', 'geo::helper', experiment), ('print', '-fsingle', 'geo::helper', experiment), ('src', '-source', 'geo::helper', program)):
        t.check('geo::(anonymous namespace)::helper(long)' in t.run(t.helio, *words).out, f'{words}')
    instances = ['double sorter<double>(double)', 'int sorter<int>(int)']
    for command in '-source', '-disasm', '-fsingle':
        result = t.run(t.helio, 'print', command, 'sorter', experiment)
        listed = re.findall(r'^ *([0-9]+)\) (.*?)  ', result.err, re.M)
        t.equal((sorted(name for _, name in listed), [number for number, _ in listed]), (instances, ['1', '2']), f'{command}: {result.err}')
    t.check('2 functions have the name `sorter\'' in t.run(t.helio, 'src', '-source', 'sorter', program).err, 'where nothing has run')
    number, name = listed[1]
    t.check(name in t.run(t.helio, 'print', '-fsingle', 'sorter', number, experiment).out, f'number {number}')


@test
def copies_of_inline_functions(t):
    """Two units have one, and the linker keeps the first: its lines are those that count, whatever the other's tell of the same code."""
    (t.directory / 'spin.h').write_text('#line LINE "spin.h"\ninline __attribute__((noinline)) unsigned long spin(unsigned long n)\n'
                                        '{ return n * 0x123456789 >> 7; }\n')
    for name, line, text in (('a', 10, 'int main() { return spin(5); }'), ('b', 20, 'unsigned long other() { return spin(7); }')):
        (t.directory / f'{name}.cc').write_text(f'#include "spin.h"\n{text}\n')
        t.equal(t.run(t.need('g++'), '-O1', '-g', f'-DLINE={line}', '-c', '-o', f'{name}.o', f'{name}.cc').status, 0, name)
    for order, lines in (('ab', {'10', '11'}), ('ba', {'20', '21'})):
        t.equal(t.run('g++', '-o', order, *(f'{name}.o' for name in order)).status, 0, order)
        listing = t.run(t.helio, 'src', '-disasm', 'spin', order).out
        shown = set(re.findall(r'^ *\[ *(\d+|\?)\] ', listing, re.M))
        t.check(shown and shown <= lines, f'{order}: {sorted(shown)}')
