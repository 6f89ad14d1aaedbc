# SPDX-License-Identifier: Apache-2.0
"""
An oracle that nobody here wrote: experiments recorded by GNU gprofng, read by helio, must show what `gprofng display text` shows of
them: totals, function list, callers and callees, call tree, each row with all its metrics.  Where the two differ on purpose, or
because gprofng is wrong, DEFECTS says how, and the comparison allows that and nothing else.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import gprofng
from harness import ROOT, test

# What gprofng 2.40 gets wrong, or decides otherwise. Each name stands below where just this is taken out of the comparison.
DEFECTS = {
    'uncovered': 'code that no symbol covers is one function up to the next symbol, though .eh_frame_hdr tells where functions begin; it '
                 'begins where the symbol before it ends, in the middle of the padding',
    'beyond': 'addresses beyond the size of the code segment (a size is taken for an address) belong to made-up functions named after that '
              'size, "no functions found", which also cover known functions beside them',
    'aliases': 'of several names of one address another one is shown; the rule of the seeds is the last in the alphabet',
    'cold': 'the part of a function that a compiler has put aside, f [clone .cold], is a function of its own, '
            'which nobody has called',
    'nothing': 'functions are listed that have none of the metrics, because a call that counts for nothing (free) passed through them',
    'centre': '<Total> as the centre of its block shows the total, not what it took itself, which is nothing',
    'microseconds': 'the time of each traced call is cut to whole microseconds before they are added up',
    'releases': 'where an allocation has the address of a block that is still there, so that the release of that block was not recorded, '
                'both count as leaks',
    'inlined': 'code of an inlined function has the line of the call in the outer one; the rule of the seeds is its own line. The programs '
               'whose lines are compared have no such code',
    'mappings': 'mmap counts as an allocation; the programs whose allocations are compared have none',
    'prefixes': 'the byte before a call is taken for a part of it where it could be a prefix; helio names the instruction that holds it',
    'dwarf5': 'line numbers of DWARF 5 are not read; the programs whose lines are compared have those of DWARF 4',
}
COLD = ' [clone .cold]'


class Names:
    """What a row's function is called so that both can be asked for it."""

    def __init__(self, rows):
        """`rows` of helio's function list: they tell where the load objects are."""
        self.paths = {gprofng.label(row)[1]: row['object'] for row in rows if row['object']}
        self.known = {}
        self.limits = {}

    def beyond(self, names):
        """From what gprofng lists: where it finds no functions any more."""
        for name, item in names:
            found = gprofng.STATIC.fullmatch(name)
            if found and 'no functions found' in found[3]:
                self.limits[item] = int(found[1], 16)

    def symbols(self, item):
        """{name: (address, end, the first in the alphabet of all names there)}"""
        if item not in self.known:
            found = {}
            for table in ([], ['-D']):
                out = subprocess.run(['nm', *table, '-S', '-C', '--defined-only', self.paths[item]], capture_output=True, text=True).stdout
                for line in out.splitlines():
                    words = re.fullmatch(r'([0-9a-f]+) ([0-9a-f]+) [tTwWiuV] (.*?)(@.*)?', line)
                    if words:
                        found[words[3]] = (int(words[1], 16), int(words[1], 16) + int(words[2], 16))
            at = collections.defaultdict(list)
            for name, (address, _) in found.items():
                at[address].append(name)
            self.known[item] = {name: (*where, min(at[where[0]])) for name, where in found.items()}
        return self.known[item]

    def __call__(self, function):
        name, item = function
        name = of_part(name)
        if item not in self.paths:
            return name, item
        symbols = self.symbols(item)
        if gprofng.STATIC.match(name):
            return '<static>', item  # uncovered
        if name.removesuffix(COLD) + COLD in symbols:
            return name.removesuffix(COLD) + COLD, item  # cold
        if name in symbols and item in self.limits and symbols[name][1] > self.limits[item]:
            return '<static>', item  # beyond
        return (symbols[name][2] if name in symbols else name), item  # aliases


def of_part(name):
    """What gprofng calls a part of a function, f -- outline code [_Z1fi.cold]."""
    found = re.match(r'(.*) -- outline code (?:from line \d+ )?\[(.*?)((?:\.\w+)+)\](.*)', name)
    if not found:
        return name
    function, symbol, suffixes, rest = found.groups()
    clones = ''.join(f' [clone {one}]' for one in re.findall(r'\.[a-z_]+(?:\.\d+)?', suffixes))
    return (function + clones if symbol.startswith('_') else symbol + suffixes) + rest


def is_several(function):
    """What several functions include cannot be added up."""
    return function[0] == '<static>' or function[0].endswith(COLD)


def is_nothing(values):
    return not any(round(value, 3) for value in values)


def same(theirs, ours, columns, rows):
    """gprofng prints times in ms; `rows` of them were added up."""
    calls = sum(value for value, column in zip(ours, columns) if column.startswith('+'))
    for a, b, column in zip(theirs, ours, columns):
        rounded = 0.0006 * rows if column.startswith('.') else 0
        cut = 1e-6 * calls if column.startswith('.io') else 0  # microseconds
        if not a - rounded <= b <= a + rounded + cut:
            return False
    return True


def gathered(rows):
    """{key: (the sums of the values of equal keys, how many)}, without those of nothing."""
    sums, counts = {}, collections.Counter()
    for key, values in rows:
        sums[key] = gprofng.add(sums.get(key), values)
        counts[key] += 1
    return {key: (values, counts[key]) for key, values in sums.items() if not is_nothing(values)}


def compare(t, theirs, ours, columns, what):
    nothing = (0,) * len(columns), 1
    for key in sorted(theirs.keys() | ours.keys(), key=str):
        if key not in theirs and "'@plt'" in str(key):
            continue  # gprofng leaves out what was met in a linkage table, but for the total
        (a, rows), (b, _) = theirs.get(key, nothing), ours.get(key, nothing)
        t.check(same(a, b, columns, rows), f'{what}: {key}: {dict(zip(columns, b))}, gprofng {a}')
    return len(theirs)


def compare_functions(t, names, theirs, ours, columns):
    def rows(functions):
        for function, found in functions.items():
            name = names(function)
            for values in found:
                yield name, tuple(0 if column[0] == 'i' and is_several(name) else value for column, value in zip(columns, values))
    return compare(t, gathered(rows(theirs)), gathered(rows(ours)), [column[1:] for column in columns], 'function')


def compare_blocks(t, names, theirs, ours, columns):
    def rows(blocks):
        for centre, found in blocks.items():
            if is_several(names(centre)):
                continue
            for block in found:
                for role, name, values in block:
                    if (role, name) != ('centre', ('<Total>', None)):  # centre
                        yield (names(centre), role, names(name)), values
    return compare(t, gathered(rows(theirs)), gathered(rows(ours)), columns, 'callers and callees')


def joined(path):
    """The call of a part that was put aside is made up by helio, from the function that it is of."""
    return tuple(name for name, before in zip(path, (None, *path)) if name != before or not name[0].endswith(COLD))  # cold


def compare_trees(t, names, theirs, ours, columns):
    def rows(tree):
        for path, values in tree.items():
            called = joined([names(name) for name in path])
            if called != joined([names(name) for name in path[:-1]]):
                yield called, values
    return compare(t, gathered(rows(theirs)), gathered(rows(ours)), columns, 'call tree')


def compare_all(t, experiment, metrics):
    """All rows of an experiment in three listings; how many there are."""
    names = Names(gprofng.ours(t, experiment, gprofng.inclusive(metrics), '-functions'))
    both = gprofng.exclusive_and_inclusive(metrics)
    functions = gprofng.functions(experiment, both)
    names.beyond(functions)
    rows = compare_functions(t, names, functions, gprofng.our_functions(t, experiment, both), both)
    rows += compare_blocks(t, names, gprofng.blocks(experiment, metrics), gprofng.our_blocks(t, experiment, metrics), metrics)
    return rows + compare_trees(t, names, gprofng.tree(experiment, metrics), gprofng.our_tree(t, experiment, metrics), metrics)


def compare_leaks(t, experiment):
    """The totals of both tools are those of the packets; whether they are the same."""
    truth, theirs = gprofng.leaks(experiment)
    metrics = ['e+heapleakcnt', 'e+heapleakbytes']
    t.equal(gprofng.our_functions(t, experiment, metrics)['<Total>', None], [truth], 'leaks')
    t.equal(gprofng.functions(experiment, metrics)['<Total>', None], [theirs], 'leaks of gprofng')  # releases
    return truth == theirs


def in_both(t, experiment, kinds, at_least):
    metrics = gprofng.metrics_of(kinds)
    if 'heap' in kinds and not compare_leaks(t, experiment):
        metrics = [metric for metric in metrics if 'leak' not in metric]
    rows = compare_all(t, experiment, metrics)
    t.check(rows >= at_least, f'{rows} rows were compared, not {at_least}: gprofng recorded too little')
    t.remark += f'{rows} rows '


PYTHON = """
import json
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(22), len(json.dumps([{'a': i, 'b': [i] * 3} for i in range(5000)])))
"""
SQL = """CREATE TABLE sale (id INTEGER PRIMARY KEY, shop INTEGER, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO sale SELECT i, i * 7919 % 1000, 'sale ' || i FROM n;
SELECT count(DISTINCT note) FROM sale WHERE note LIKE '%7%';"""
C = 'struct pair { int a, b; }; int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }'
PERL = 'my %h; $h{$_ % 1000} .= $_ for 1..20000; print length join ",", map {"$_=$h{$_}"} sort keys %h;'
LIBC = '/usr/lib/x86_64-linux-gnu/libc.so.6'

# Kinds of data, the least number of rows, the command; a word in braces is a target of ours.
PROGRAMS = {
    'sqlite': ('clock heap', 1500, ('sqlite3', ':memory:', SQL)),
    'python': ('clock heap io', 3000, ('/usr/bin/python3', '-c', PYTHON)),
    'xz': ('clock heap', 100, ('xz', '-6kc', LIBC)),
    'gcc': ('clock io', 250, ('gcc', '-O2', '-c', 'program.c')),
    'gzip': ('clock io', 25, ('gzip', '-9c', LIBC)),
    'perl': ('clock heap', 1000, ('perl', '-e', PERL)),
    'openssl': ('clock heap', 500, ('openssl', 'dgst', '-sha512', LIBC)),
    'recursion': ('clock', 30, ('{deep}', '0.4s', 200)),
    'cut_off_recursion': ('clock', 30, ('{recurse}', '0.4s', 5000)),
    'threads': ('clock sync', 40, ('{locks}', 2, 5, 200)),
    'locks_of_cxx': ('sync', 40, ('{locks_cxx}',)),
    'exceptions': ('clock heap', 60, ('{exceptions}', '0.3s')),
    'heap_of_cxx': ('clock heap', 60, ('{heap_cxx}',)),
    'family': ('clock', 10, ('{forktree}', '0.1s')),
    'plugins': ('heap', 30, ('{plugins}', 'replaced', 20, '{plugin.so}', 'other.so')),
    'transfers': ('io', 40, ('{transfers}', 0.1)),
}


def register(name, kinds, at_least, words):
    def program(t):
        (t.directory / 'program.c').write_text(C)
        command = [t.target(word[1:-1]) if str(word).startswith('{') else word for word in words]
        command[0] = t.need(command[0])
        shutil.copy(t.target('plugin.so'), t.directory / 'other.so')
        in_both(t, gprofng.record(t, *command, kinds=kinds.split()), kinds.split(), at_least)
    program.__name__ = name
    program.__module__ = __name__
    test(program)


for program_name, how in PROGRAMS.items():
    register(program_name, *how)


def instructions(program):
    """{function: offsets of its instructions}, from objdump."""
    found, begin, offsets = {}, 0, None
    for line in subprocess.run(['objdump', '-d', '-C', '--no-show-raw-insn', program], capture_output=True, text=True).stdout.splitlines():
        if head := re.fullmatch(r'([0-9a-f]+) <(.*)>:', line):
            begin, offsets = int(head[1], 16), found.setdefault(head[2], [])
        elif offsets is not None and (at := re.match(r' *([0-9a-f]+):', line)):
            offsets.append(int(at[1], 16) - begin)
    return found


def plain_place(name, code):
    """A line or an instruction as both name it; gprofng adds the line to an instruction."""
    name = of_part(name)
    found = gprofng.STATIC.match(name.removeprefix('<Function: '))
    place = re.match(r'(.*) \+ 0x([0-9a-fA-F]+)', name)
    if found and place:  # uncovered: made-up functions begin elsewhere, so by address
        return f'{found[2]} {int(found[1], 16) + int(place[2], 16):#x}'
    if found:
        return f'{found[2]}, instructions without line numbers'
    if not place:
        return name
    offset = int(place[2], 16)
    return place[1], max((begin for begin in code.get(place[1], ()) if begin <= offset), default=offset)  # prefixes


def compare_places(t, code, theirs, ours, columns, what):
    def rows(places):
        for name, values in places.items():
            several = name.startswith('<Function: <static>')
            yield plain_place(name, code), tuple(0 if several and column[0] == 'i' else value for column, value in zip(columns, values))
    return compare(t, gathered(rows(theirs)), gathered(rows(ours)), [column[1:] for column in columns], what)


def compare_listing(t, theirs, ours, columns, what):
    """gprofng lists whole files and functions, so what is not in ours must be nothing, and the other way round."""
    return compare(t, gathered(theirs.items()), gathered(ours.items()), [column[1:] for column in columns], what)


def down_to_the_code(t, source, kinds, at_least, *words):
    program = t.directory / pathlib.Path(source).stem
    compiler = t.need('g++' if source.endswith('.cc') else 'gcc')
    built = t.run(compiler, '-O1', '-fno-inline', '-gdwarf-4', '-D_GNU_SOURCE', '-pthread', '-o', program, ROOT / 'tests/targets' / source, '-lm')
    t.equal(built.status, 0, built.err)
    experiment = gprofng.record(t, program, *words, kinds=kinds)
    columns = gprofng.exclusive_and_inclusive(gprofng.metrics_of(kinds))
    rows = 0
    for command in ('-lines', '-pcs'):
        rows += compare_places(t, instructions(program), gprofng.places(experiment, columns, command),
                               gprofng.our_places(t, experiment, columns, command), columns, command)
    functions = [name for name, item in gprofng.our_functions(t, experiment, columns) if item == program.name]
    for function in functions[:5]:
        for command in ('-source', '-disasm'):
            rows += compare_listing(t, gprofng.listing(experiment, columns, command, function),
                                    gprofng.our_listing(t, experiment, columns, command, function), columns, f'{command} {function}')
    t.check(rows >= at_least, f'{rows} lines and instructions were compared, not {at_least}: gprofng recorded too little')
    t.remark += f'{rows} rows '


@test
def lines_of_a_recursion(t):
    down_to_the_code(t, 'deep.c', ('clock',), 15, '0.5s', 50)


@test
def lines_of_allocations(t):
    down_to_the_code(t, 'heap.c', ('heap',), 30, 'forks')


@test
def lines_of_locks(t):
    down_to_the_code(t, 'locks.c', ('sync',), 60, 2, 5, 100)


@test
def lines_of_cxx(t):
    down_to_the_code(t, 'heap_cxx.cc', ('heap',), 60)


def of_all_processes(row):
    """gprofng numbers sample points over all processes, and does not name threads; which of them is the first is not told."""
    name = re.sub(r' \(tid [0-9]+\)$', '', row)
    return re.sub(r', Thread [0-9]+$', '', re.sub(r'^Process [0-9]+, (Sample)', r'\1', name))


@test
def by_thread_and_time(t):
    """What each thread, processor, second and sample point of a family with threads has."""
    script = f'{t.target("locks")} 2 5 100; {t.target("heap_cxx")} & {t.target("heap_cxx")}; wait'
    for _ in range(5):  # it does not show an experiment that it was writing when the process became another program
        experiment = gprofng.record(t, '/bin/sh', '-c', script, kinds=('clock', 'heap', 'sync'))
        if gprofng.display(experiment, '-header').count('\nExperiment: ') == len(list(experiment.glob('*.er'))):
            break
    columns = ['e' + metric for metric in gprofng.metrics_of(('clock', 'heap', 'sync')) if 'leak' not in metric]
    plain = [column[1:] for column in columns]
    for command in ('-threads', '-cpus', '-seconds', '-samples'):
        theirs, ours = ([(of_all_processes(name), values) for name, values in rows.items()] for rows in
                        (gprofng.places(experiment, columns, command), gprofng.our_places(t, experiment, columns, command)))
        compare(t, gathered(theirs), gathered(ours), plain, command)
        if command == '-threads':  # each by itself: waits tell them apart
            waits = [sorted(round(values[-1]) for _, values in rows if values[-1]) for rows in (theirs, ours)]
            t.equal(waits[1], waits[0], 'waits of each thread')
            t.check(len(waits[0]) >= 3, f'all, and the threads that waited: {waits[0]}')


# Commands for all that there is; what they show is compared above, or is told of other experiments by other tests.
COMMANDS = ('-header', '-overview', '-statistics', '-sample_detail', '-report', '-procstats', '-threads', '-cpus', '-samples', '-seconds',
            '-objects', '-leaks', '-allocs', '-heap', '-heapstat', '-ioactivity', '-iodetail', '-iostat', '-locks', '-experiment_list',
            '-fsummary', '-lsummary')


@test
def every_command(t):
    """The same facts in the same words, the same metrics are offered, all commands have something to say, filters choose."""
    experiment = gprofng.record(t, '/usr/bin/python3', '-c', PYTHON, kinds=('clock', 'heap', 'io', 'sync'))
    theirs = gprofng.display(experiment, '-header').splitlines()
    header = t.run(t.helio, 'print', '-header', experiment).out.splitlines()
    for begin in ('Process pid ', 'Current working directory: ', 'Host ', '  2 CPUs' if os.cpu_count() == 2 else '  ', 'Experiment started '):
        facts = [[line.rstrip() for line in text if line.startswith(begin)][:1] for text in (header, theirs)]
        t.equal(facts[0], facts[1], begin)
    offered = [set(re.findall(r': ([ei]?)[.+%]*([a-z]+)$', text, re.M)) for text in
               (t.run(t.helio, 'print', '-metric_list', experiment).out, gprofng.display(experiment, '-metric_list'))]
    t.equal(offered[0], offered[1], 'metrics')
    result = t.run(t.helio, 'print', '-printmode', 'json', *COMMANDS, experiment)
    t.equal((result.status, result.err), (0, ''), 'all commands')
    for command, line in zip(COMMANDS, result.out.splitlines(), strict=True):
        said = json.loads(line)
        t.check(len(said['rows']) > 0, f'{command} has nothing to say: {line[:200]}')
    chosen = t.run(t.helio, 'print', '-metrics', 'e+heapalloccnt:name', '-filters', 'HSIZE > 1000', '-functions', experiment)
    sizes = gprofng.sizes(experiment)
    t.check(f'{sum(size > 1000 for size in sizes)} ' in chosen.out, f'filters: {chosen.out[:300]}')
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'helio check')
    t.check('gprofng' in t.run(t.helio, 'archive', experiment).err, 'helio archive has to say whose experiment it is')


@test
def usage_at_samples(t):
    """The process's times and counts from the first sample point to the last."""
    experiment = gprofng.record(t, t.target('deep'), '0.3s', 20)
    theirs = gprofng.display(experiment, '-statistics')
    row, = [row for row in gprofng.ours(t, experiment, 'e.totalcpu:name', '-statistics') if row['sample'] is None]
    for label, key in (('User CPU', 'user_s'), ('System CPU', 'system_s'), ('Minor Page Faults', 'minor_faults'),
                       ('Involuntary context switches', 'involuntary_switches'), ('Output blocks', 'output_blocks')):
        found = re.search(rf'{label}: +([0-9.]+)', theirs)
        t.near(row[key], float(found[1]), label, absolute=0.00051)
    t.equal(row['read_calls'], None, 'what was not recorded')


@test
def beside_our_own(t):
    """Functions of one program are the same ones, whoever recorded them."""
    theirs = gprofng.record(t, t.target('heap_cxx'), kinds=('heap',))
    ours = t.collect(t.target('heap_cxx'), options=('-p', 'off', '-H', 'on')).experiment
    result = t.run(t.helio, 'print', '-printmode', 'json', '-compare', 'on', '-metrics', 'e+heapalloccnt:i+heapalloccnt:name', '-functions', theirs,
                   ours)
    rows = [json.loads(line) for line in result.out.splitlines()][-1]['rows']
    found = {row['name']: [value for key, value in row.items() if key.startswith('i.heapalloccnt')] for row in rows}
    for name in ('single', 'array', 'nothrow'):
        t.equal(found[name], [100, 100], f'allocations below {name}')


@test
def without_the_program(t):
    """The copies in archives/ are enough, under whatever names, and where the program has been there is nothing any more."""
    program = t.directory / 'program'
    shutil.copy(t.target('heap_cxx'), program)
    experiment = gprofng.record(t, program, kinds=('heap',))
    metrics = gprofng.exclusive_and_inclusive(gprofng.metrics_of(('heap',)))
    before = gprofng.our_functions(t, experiment, metrics)
    program.unlink()
    t.equal(gprofng.our_functions(t, experiment, metrics), before, 'functions')
    header = t.run(t.helio, 'print', '-objects', experiment).out
    t.check('gp.1.er/archives/program_' in header, f'the copy is not named: {header}')
    t.check(('single', 'program') in before, 'functions of the program')
