# SPDX-License-Identifier: Apache-2.0
"""Call paths: complete to _start, checked frame by frame against nm."""
import bisect
import os
import re

import helio_reader
from harness import few_ticks, test
from test_code import build, marks
from test_print import validator


class Symbols:
    """Functions of an ELF file by nm: nothing of the project's own."""

    def __init__(self, t, path):
        out = t.run(t.need('nm'), '-S', '--defined-only', path).out
        found = re.findall(r'^([0-9a-f]+) ([0-9a-f]+) [tTwWi] (\S+)$', out, re.M)
        self.entries = sorted((int(a, 16), int(s, 16), n) for a, s, n in found)

    def name(self, address):
        at = bisect.bisect_right(self.entries, (address, 1 << 62, '')) - 1
        if at >= 0:
            begin, size, name = self.entries[at]
            if begin <= address < begin + size:
                return name
        return None


def weighted_stacks(t, result, states=3):
    """[(CPU seconds, [(file, elf address), ...] innermost first)], of the first states: user, system, trap"""
    directory = str(result.experiment)
    with open(os.path.join(directory, 'profile'), 'rb') as file:
        profile = helio_reader.read_profile(file.read())
    with open(os.path.join(directory, 'stacks'), 'rb') as file:
        nodes, _ = helio_reader.read_stacks(file.read())
    maps = helio_reader.maps_of(directory)
    stacks = []
    for stack, weights in profile.stacks.items():
        path = []
        for epoch, pc in helio_reader.frames(nodes, stack):
            entry = helio_reader.find_object(maps, epoch, pc)
            path.append((entry['name'], pc - entry['bias']) if entry else ('?', pc))
        stacks.append((sum(weights[:states]) / 1e6, path or [('<no call stack recorded>', 0)]))
    return stacks


def named(t, result, program):
    symbols = Symbols(t, program)
    for seconds, path in weighted_stacks(t, result):
        yield seconds, [symbols.name(pc) if file == program else os.path.basename(file) for file, pc in path]


@test(engines=True)
def deep_200(t, engine):
    program = t.target('deep')
    result = t.collect(program, '1s', '200', engine=engine)
    good = 0
    total = 0
    for seconds, names in named(t, result, program):
        if 'leaf' not in names:
            continue
        total += seconds
        complete = names[0] == 'leaf' and names[1:201] == ['descend'] * 200 and names[201] == 'main' and names[-1] == '_start'
        good += seconds if complete else 0
    # the rest is main's clock_gettime between two descents: more where reading the clock is slow, or the signal late
    t.ratio(total, result.truth()['thread_cpu'], 0.3, 1.01, 'in leaf')
    t.ratio(good, total, 0.999, 1.0001, 'complete')


@test(engines=True)
def at_the_end_of_the_first_stack(t, engine):
    """
    The program has there what it needs itself, and what the kernel needs for a signal, but not what our handlers do.
    It ends as it does alone: in one case by its own handler of the overflow.
    """
    program = t.target('stackend')
    for words, said, status, below in (('reserved', '0.3', '1024'), 'worked_at_end', 0, 'reserved'), (('caught', '0.3'), 'caught', 7, 'falls'):
        bare = t.run(program, *words)
        t.check(bare.status == status and said in bare.out, f'{words} alone: status {bare.status}, {bare.out}')
        result = t.collect(program, *words, engine=engine, options=('-p', '1'), status=status)
        t.equal(result.out, bare.out, f'{words}: output')
        complete = total = 0
        for seconds, names in named(t, result, program):
            total += seconds
            outside = names[1 + names.index('work_at_end'):] if 'work_at_end' in names else []
            complete += seconds if below in outside and outside[-1] == '_start' else 0
        t.ratio(complete, total, 0.9, 1, f'{words}: complete stacks of the work')


@test(engines=True)
def recursion_10000(t, engine):
    program = t.target('recurse')
    result = t.collect(program, '1s', '10000', engine=engine)
    process = t.read(result.experiment)['']
    t.within(process['unrecorded'].get('<Truncated-stack>', 0) > 0.5 * process['cpu'], 'no truncated stacks')
    t.within(process['unrecorded'].get('<Stack-unwind-failed>', 0) < 0.01 * process['cpu'], 'stacks that end early')
    for seconds, names in named(t, result, program):
        if len(names) > 600:
            t.check(set(names[1:500]) == {'descend'}, 'the leaf part of a truncated stack is not descend only')
    row = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')['descend']
    t.within(row['i.totalcpu'] <= process['cpu'] * 1.000001, 'recursion is counted more than once')
    t.ratio(row['i.totalcpu'], result.truth()['thread_cpu'], 0.7, 1.01, 'inclusive')  # the rest is clock_gettime


@test(engines=True)
def exceptions(t, engine):
    """The C++ unwinder at work is unwound through, to _start."""
    program = t.target('exceptions')
    result = t.collect(program, '1s', engine=engine, options=('-p', 'hi'))
    total = good = 0
    for seconds, names in named(t, result, program):
        total += seconds
        good += seconds if names[-1] == '_start' else 0
    # while the unwinder goes to another frame there is no stack that can be followed: some ticks in a thousand
    t.ratio(good, total, 0.99 - few_ticks(t.read(result.experiment)[''], result.truth()), 1.0001, 'to _start')


@test(engines=True)
def threads_have_roots(t, engine):
    program = t.target('threads8')
    result = t.collect(program, '0.2s', engine=engine)
    inside = [names for seconds, names in named(t, result, program) if seconds and 'crunch' in names]
    t.within(inside, 'no time in crunch')
    for names in inside:
        t.equal(names[:2], ['crunch', 'work'], 'innermost frames of a thread')
        t.check(len(names) == 4, f'a thread\'s stack: {names}')  # work, start_thread, clone3


@test(engines=True)
def printed_call_tree(t, engine):
    """The tree by `helio print` is the one that the reader sees."""
    program = t.target('deep')
    result = t.collect(program, '0.5s', '50', engine=engine)
    tree = t.print(result.experiment, '-metrics', 'a.totalcpu:name', '-calltree')[-1]
    rows = {row['id']: row for row in tree['rows']}
    t.equal(len(rows), len(tree['rows']), 'distinct ids')

    def depth(row):
        return 1 + depth(rows[row['parent']]) if row.get('parent') in rows and row['parent'] != row['id'] else 0
    leaves = [row for row in tree['rows'] if row['name'] == 'leaf']
    t.within(len(leaves) == 1, f'leaf in the call tree: {leaves}')  # a stack that cannot be followed is another path
    outer = []
    row = leaves[0]
    while row.get('parent') in rows and row['parent'] != row['id']:
        row = rows[row['parent']]
        outer.append(row['name'])
    t.equal(outer[:51], ['descend'] * 50 + ['main'], 'callers of leaf')
    t.equal(outer[-2:], ['_start', '<Total>'], 'root of the call tree')


ROWS = r"""#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int inside;
void *volatile kept[8];
static inline __attribute__((always_inline)) void *make(size_t size)
{
	return malloc(size); /* @make */
}
__attribute__((noinline)) void one_line(void)
{
	kept[0] = malloc(100); kept[1] = malloc(100); /* @one */
}
__attribute__((noinline)) void two_lines(void)
{
	kept[2] = malloc(1000); /* @first */
	kept[3] = malloc(1000); /* @second */
}
__attribute__((noinline)) void inlined(void)
{
	kept[4] = make(30); kept[5] = make(30); /* @near */
	kept[6] = make(30); /* @far */
}
__attribute__((noinline)) void nap(void)
{
	usleep(100000); /* @nap */
	inside++;
}
static void *holder(void *arg)
{
	pthread_mutex_lock(&lock);
	inside = 1;
	nap(); nap(); nap(); /* @held */
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t thread;
	int file = open("/dev/null", O_WRONLY);
	one_line(); two_lines(); inlined();
	if (write(file, "a", 1) + write(file, "b", 1) != 2) /* @writes */
		return 1;
	pthread_create(&thread, NULL, holder, NULL);
	while (!inside)
		usleep(1000);
	pthread_mutex_lock(&lock); /* @waits */
	pthread_mutex_unlock(&lock);
	return pthread_join(thread, NULL);
}
"""


def own_frames(frames):
    """[(function, line)] of what is of rows.c, and offsets of the functions that have code."""
    found = [re.fullmatch(r'(\w+)(?: \+ 0x([0-9a-f]+)| \(inlined\)), rows\.c:(\d+)', frame) for frame in frames]
    return tuple((m[1], int(m[3])) for m in found if m and m[1] != 'main'), [m[2] for m in found if m]


@test
def lines_of_stacks(t):
    """Lists of stacks: each frame with its line, inlined calls apart, and one row for what differs within one line only."""
    line = marks(ROWS)
    program = build(t, 'rows', ('rows.c', ROWS))
    experiment = t.collect(program, options=('-H', 'on', '-s', 'on', '-i', 'on')).experiment
    answers = {o['command']: o['rows'] for o in t.print(experiment, '-leaks', '-allocs', '-iocallstack', '-lock', 'lock')}
    expected = {(('one_line', line['one']),): (2, 200), (('two_lines', line['first']),): (1, 1000), (('two_lines', line['second']),): (1, 1000),
                (('make', line['make']), ('inlined', line['near'])): (2, 60), (('make', line['make']), ('inlined', line['far'])): (1, 30)}
    for command in ('leaks', 'allocs'):
        stacks = [(own_frames(row['stack'])[0], (row['instances'], row['bytes'])) for row in answers[command]]
        t.equal(sorted(s for s in stacks if s[0] and s[0][-1][0] in ('one_line', 'two_lines', 'inlined')), sorted(expected.items()), command)
    dump = t.run(t.need('objdump'), '-d', '--no-show-raw-insn', program).out
    body = re.search(r'^([0-9a-f]+) <one_line>:\n((?:.+\n)+)', dump, re.M)
    first = next(int(m[1], 16) for m in re.finditer(r'^ +([0-9a-f]+):\t(?:call|bl)', body[2], re.M))
    offset = int(next(offsets[0] for offsets in (own_frames(row['stack'])[1] for row in answers['leaks'] if row['bytes'] == 200)), 16)
    inside = [int(m[1], 16) for m in re.finditer(r'^ +([0-9a-f]+):', body[2], re.M)]
    after = min(at for at in inside if at > first)
    t.check(first <= int(body[1], 16) + offset < after, f'the first of its calls: {offset:#x}')
    writes = [row for row in answers['iocallstack'][1:] if any(f.startswith('main + ') and f.endswith(f', rows.c:{line["writes"]}') for f in row['frames'])]
    t.equal([row['e.iowritecnt'] for row in writes], [2], 'writes of one line')
    waits = [row for row in answers['lock'] if 'frames' in row and 'held' not in row]
    t.check(any(frame.endswith(f', rows.c:{line["waits"]}') for frame in waits[0]['frames']), f'{waits}')
    held = [row for row in answers['lock'] if 'held' in row and own_frames(row['frames'])[0] == (('nap', line['nap']), ('holder', line['held']))]
    t.within(len(held) == 1, f'three naps of one line: {held}')
    t.within(held[0]['held'] > 0.9 * sum(row['held'] for row in answers['lock'] if 'held' in row), f'their sum: {answers["lock"]}')
    text = t.run(t.helio, 'print', '-leaks', '-lock', 'lock', '-iocallstack', experiment).out
    for mark in ('one', 'held', 'waits', 'writes'):
        t.within(f', rows.c:{line[mark]}\n' in text, f'{mark} in {text}')


@test
def listed_stacks(t):
    """-stacks: what the reader sees, stack by stack; lines are those of addr2line; all add up to <Total>."""
    program = t.target('deep')
    result = t.collect(program, '0.5s', '5')
    listed, functions = t.print(result.experiment, '-inlines', 'off', '-metrics', 'e.user:name', '-stacks', '-functions')
    seen, expected, symbols = {}, {}, Symbols(t, program)
    for row in listed['rows']:
        frames = [listed['frames'][i] for i in row['stack']]
        key = tuple((f['object'], f['address']) for f in frames if f['object'] == program)
        seen[key] = seen.get(key, 0) + row['e.user']
        t.equal([f['name'] for f in frames if f['object'] == program], [symbols.name(address) for _, address in key], 'names')
    for seconds, path in weighted_stacks(t, result, 1):  # of their last moments others know system time only
        key = tuple((file, pc) for file, pc in path if file == program)
        expected[key] = expected.get(key, 0) + seconds
    seen.pop((), 0), expected.pop((), 0)  # <before recording> is in no file
    own = [(sorted(round(v, 6) for v in of.values() if v), {k for k, v in of.items() if v}) for of in (seen, expected)]
    t.equal(own[0][0], own[1][0], 'values of stacks')
    t.equal(own[0][1] ^ own[1][1], set(), 'stacks that only one has')
    t.equal({k: round(seen[k] - v, 6) for k, v in expected.items() if v and round(seen[k] - v, 6)}, {}, 'stacks')
    t.equal(round(sum(row['e.user'] for row in listed['rows']), 6), round(functions['rows'][0]['e.user'], 6), '<Total>')
    t.equal(listed['total'], {'e.user': functions['rows'][0]['e.user']}, 'total')
    own = {}
    for row in listed['rows']:
        leaf = listed['frames'][row['stack'][0]]
        own[leaf['name']] = own.get(leaf['name'], 0) + row['e.user']
    t.equal({k: round(v, 6) for k, v in own.items() if v},
            {row['name']: round(row['e.user'], 6) for row in functions['rows'][1:] if row['e.user']}, 'by leaf')
    for frame in {f['address']: f for f in listed['frames'] if f['object'] == program and f['line']}.values():
        said = t.run(t.need('addr2line'), '-e', program, hex(frame['address'])).out.split(' ')[0].strip()
        t.equal(f'{os.path.basename(frame["file"])}:{frame["line"]}', os.path.basename(said), hex(frame['address']))
    first = t.print(result.experiment, '-inlines', 'off', '-metrics', 'e.user:name', '-stacks', '-callers-first', '1')[-1]
    t.equal([first['frames'][i] for i in first['rows'][0]['stack']], [listed['frames'][i] for i in reversed(listed['rows'][0]['stack'])], 'callers first')
    t.equal(len(first['rows']), 1, 'at most one')
    t.equal(first['rest']['count'], len(listed['rows']) - 1, 'the rest')
    t.equal(round(first['rest']['e.user'] + first['rows'][0]['e.user'], 6), round(listed['total']['e.user'], 6), 'its sum')


@test
def listed_stacks_with_inlined_calls(t):
    """Inlined calls are frames, with the line of what they call in their caller."""
    line = marks(ROWS)
    program = build(t, 'rows', ('rows.c', ROWS))
    experiment = t.collect(program, options=('-H', 'on')).experiment
    listed = t.print(experiment, '-metrics', 'e.heapallocbytes:name', '-stacks')[-1]
    found = {}
    for row in listed['rows']:
        frames = [listed['frames'][i] for i in row['stack']]
        own = tuple((f['name'], f['line'], f['inlined']) for f in frames if f['file'] and f['file'].endswith('rows.c') and f['name'] != 'main')
        if row['e.heapallocbytes'] and own and own[-1][0] == 'inlined':
            found[own] = found.get(own, 0) + row['e.heapallocbytes']
    t.equal(found, {(('make (inlined)', line['make'], True), ('inlined', line['near'], False)): 60,
                    (('make (inlined)', line['make'], True), ('inlined', line['far'], False)): 30}, 'inlined')
    off = t.print(experiment, '-inlines', 'off', '-metrics', 'e.heapallocbytes:name', '-stacks')[-1]
    t.check(not any(f['inlined'] for f in off['frames']), 'inlines off')
    t.equal(off['total'], listed['total'], 'the same total')
    check = validator(t)
    for value in (off, listed):
        t.equal([f'{problem.json_path}: {problem.message[:200]}' for problem in check.iter_errors(value)][:3], [], 'schema')
    listed['rows'][0]['frames'] = []
    t.check(list(check.iter_errors(listed)), 'the schema takes anything')
