# SPDX-License-Identifier: Apache-2.0
"""Two experiments of two builds of a program beside each other, standard errors, `helio diff`: all from known events."""
import importlib.util
import json
import math
import pathlib
import random
import shutil
import sys

import view_server
from harness import test
from test_print import validator

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'reader'))
from make_golden import Events, file_header, packed, write  # noqa: E402

FUNCTIONS = ('main', 'A', 'B', 'C', 'E', 'F')


def writer(seed):
    """The module that writes experiments, as one of its own: with another build-id and, if seed is odd, other addresses."""
    spec = importlib.util.spec_from_file_location(f'build_{seed}', HERE.parent / 'golden' / 'make_experiment.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.BUILD_ID = bytes([seed]) * 20
    if seed % 2:
        module.SYMBOLS = [(name, 0x2300 - address, 0x40, local) for name, address, _, local in module.SYMBOLS]
        module.AT = {name: address for name, address, _, _ in module.SYMBOLS}
        module.AT['helper2'] = 0x1000
    return module


def build(t, name, seed, extra=()):
    """An experiment NAME.er of a build of its own: its path and [(stack, µs, CPU or not)]."""
    rng = random.Random(seed)
    golden = writer(seed)
    directory = t.directory / name
    directory.mkdir()
    golden.make(str(directory))
    path = t.directory / f'{name}.er'
    (directory / 'golden.1.er').rename(path)
    tree, events, time = golden.Tree(), [], 0
    for _ in range(300):
        stack = ('main',) + tuple(rng.choice(FUNCTIONS[1:]) for _ in range(rng.randrange(0, 6)))
        events.append((stack, rng.randrange(1, 3000), rng.random() < 0.8))
    events += extra
    out = Events().thread(1, 12, 0)
    for stack, weight, cpu in events:
        time += weight
        out.event(time, weight, 'user' if cpu else 'lock', tree.node(stack))
    write(path, 'profile', file_header('profile') + out.end(time).block())
    write(path, 'stacks', file_header('stacks') + packed(1, tree.nodes))
    shutil.rmtree(path / '_f1.er')
    return path, events


def inclusive(events, function):
    return sum(weight for stack, weight, cpu in events if cpu and function in stack) / 1e6


def exclusive(events, function):
    return sum(weight for stack, weight, cpu in events if cpu and function == stack[-1]) / 1e6


def error(events, function):
    """Of the inclusive CPU time."""
    whole = sum(weight for _, weight, cpu in events if cpu) / 1e6
    squares = sum((weight / 1e6) ** 2 for stack, weight, cpu in events if cpu and function in stack)
    return math.sqrt(squares * (1 - inclusive(events, function) / whole))


def noise(events, function=None):
    """Of the same, between runs; of the total."""
    return math.sqrt(sum((weight / 1e6) ** 2 for stack, weight, cpu in events if cpu and function in (None, *stack)))


def rows_of(listing):
    return {row['name']: row for row in listing['rows']}


@test
def columns(t):
    """One column for each experiment; differences; ratios: of every function, in every table."""
    first, one = build(t, 'one', 2)
    second, two = build(t, 'two', 3)

    def listing(mode, *commands):
        return t.print(second, '-metrics', 'e.user:i.user:name', '-compare', mode, *commands, first)[-1]
    for mode, expected in (('on', lambda x, y: y), ('delta', lambda x, y: y - x), ('ratio', lambda x, y: y / x)):
        rows = rows_of(listing(mode, '-functions'))
        t.equal(set(rows), {'<Total>', *FUNCTIONS}, 'functions of both builds are the same')
        for name in FUNCTIONS:
            for metric, value in (('e.user', exclusive), ('i.user', inclusive)):
                x, y = value(one, name), value(two, name)
                t.near(rows[name][f'{metric}.1'], x, f'{mode} {name} {metric} base', absolute=1e-9)
                t.near(rows[name][f'{metric}.2'], expected(x, y), f'{mode} {name} {metric}', absolute=1e-9)
    rows = listing('on', '-pcs')['rows']
    for number, events in enumerate((one, two), 1):
        t.near(sum(row[f'e.user.{number}'] for row in rows[1:]), inclusive(events, 'main'), 'instructions', absolute=1e-9)
        t.near(rows[0][f'e.user.{number}'], inclusive(events, 'main'), 'all instructions', absolute=1e-9)
    off = rows_of(t.print(second, '-metrics', 'i.user:name', '-compare', 'on', '-compare', 'off', '-functions', first)[-1])
    t.near(off['<Total>']['i.user'], inclusive(one + two, 'main'), 'together', absolute=1e-9)


@test
def trees_and_callers(t):
    first, one = build(t, 'one', 4)
    second, two = build(t, 'two', 5)

    def listing(*commands):
        return t.print(second, '-metrics', 'i.user:name', '-compare', 'on', *commands, first)[-1]
    paths, names = {}, []
    for row in listing('-calltree')['rows']:
        names[row['depth']:] = [row['name']]
        paths[tuple(names[1:])] = (row['a.user.1'], row['a.user.2'])
    expected = {}
    for number, events in enumerate((one, two)):
        for stack, weight, cpu in events:
            for length in range(len(stack) + 1):
                expected.setdefault(stack[:length], [0, 0])[number] += cpu * weight / 1e6
    t.equal(set(paths), set(expected), 'paths')
    for path, values in expected.items():
        for value, truth in zip(paths[path], values):
            t.near(value, truth, f'{path}', absolute=1e-9)
    inverted = listing('-calltree', '-inverted')['rows']
    for row in inverted:
        if row['depth'] == 1:
            for number, events in enumerate((one, two)):
                t.near(row[f'a.user.{number + 1}'], exclusive(events, row['name']), f'inverted {row["name"]}', absolute=1e-9)
    blocks = {}
    for row in listing('-callers-callees')['rows']:
        blocks.setdefault(row['block'], []).append(row)
    for block in blocks.values():
        centre = next(row for row in block if row['role'] == 'center')
        for number, events in enumerate((one, two)):
            key = f'a.user.{number + 1}'
            inside = sum(row[key] for row in block if row['role'] != 'caller')
            whole = sum(weight for _, weight, cpu in events if cpu) / 1e6
            t.near(inside, whole if centre['name'] == '<Total>' else inclusive(events, centre['name']), centre['name'], absolute=1e-9)


@test
def standard_errors(t):
    first, one = build(t, 'one', 6)
    second, two = build(t, 'two', 7)
    rows = rows_of(t.print(first, '-metrics', 'i.~user:i.~lock:name', '-functions')[-1])
    for name in FUNCTIONS:
        t.near(rows[name]['i.user~'], error(one, name), name, relative=1e-6, absolute=1e-12)
        t.equal(rows[name]['i.lock~'], 0, 'waits are exact')
    delta = rows_of(t.print(second, '-metrics', 'i.~user:name', '-compare', 'delta', '-functions', first)[-1])
    for name in (*FUNCTIONS, '<Total>'):
        of = (None,) if name == '<Total>' else (name,)
        t.near(delta[name]['i.user.2~'], math.hypot(noise(one, *of), noise(two, *of)), f'{name} difference', relative=1e-6, absolute=1e-12)
    text = t.run(t.helio, 'print', '-metrics', 'i.~user:name', '-limit', '3', '-functions', first).out
    t.check('+-' in text and '0.   ' in text.split('<Total>')[0].splitlines()[-1], f'text: {text}')
    kept = [event for event in one if 'A' in event[0]]
    rows = rows_of(t.print(first, '-metrics', 'i.~user:name', '-filters', 'FNAME("A") IN STACK', '-functions')[-1])
    t.near(rows['B']['i.user~'], error(kept, 'B'), 'of what a filter chooses', relative=1e-6)


@test
def experiments_come_and_go(t):
    first, one = build(t, 'one', 8)
    second, two = build(t, 'two', 9)
    script = t.directory / 'script'

    def total(*lines):
        script.write_text('\n'.join(('printmode json', 'metrics i.user:name', "filters 'MSTATE == 0'", *lines, 'functions')))
        return rows_of(t.print(first, '-script', script)[-1])['<Total>']['i.user']
    of_one, of_two = inclusive(one, 'main'), inclusive(two, 'main')
    t.near(total(), of_one, 'one', absolute=1e-9)
    t.near(total(f'add_exp {second}'), of_one + of_two, 'both', absolute=1e-9)
    t.near(total(f'open_exp {second}'), of_two, 'the other', absolute=1e-9)
    t.near(total(f'add_exp {second}', 'drop_exp 1'), of_two, 'without the first', absolute=1e-9)
    t.near(total(f'add_exp {second}', f'drop_exp {second}'), of_one, 'without the second', absolute=1e-9)
    for lines in ('drop_exp 1', 'drop_exp x.er', 'add_exp none.er', 'open_exp none.er'):
        result = t.run(t.helio, 'print', '-script', '-', first, stdin=f'{lines}\nfunctions\n')
        t.check(result.status == 1 and 'Error' in result.err and 'main' in result.out, f'{lines}: {result.err}')


@test
def differences(t):
    """Largest first, chance left out, a limit for the total."""
    first, one = build(t, 'one', 10)
    second, two = build(t, 'two', 10, extra=[(('main', 'F', 'fib'), 2000, True)] * 60)

    def diff(*options):
        return t.run(t.helio, 'diff', *options, first, second)
    rows = json.loads(diff('--json').out)['rows']
    t.equal([row['name'] for row in rows], ['<Total>', 'fib'], 'what is no chance')
    t.near(rows[1]['e.totalcpu'], 0.12, 'fib', absolute=1e-9)
    t.near(rows[1]['e.totalcpu.2'], 0.12, 'fib', absolute=1e-9)
    t.check(rows[1]['e.totalcpu.3'] is None, 'no ratio to nothing')
    rows = rows_of(json.loads(diff('--json', '-a', '-m', 'i.user').out))
    t.near(rows['main']['i.user'], 0.12, 'main', absolute=1e-9)
    t.near(rows['F']['i.user.3'], inclusive(two, 'F') / inclusive(one, 'F'), 'ratio', relative=1e-9)
    t.near(rows['<Total>']['i.user~'], math.hypot(noise(one), noise(two)), 'the error of the total', relative=1e-6)
    before = inclusive(one, 'main')
    for limit in (100 * 0.12 / before - 0.01, 100 * 0.12 / before + 0.01):
        result = diff('--fail-on', f'>{limit:.3f}%')
        t.equal(result.status, 0, f'>{limit}: {result.err}')
        t.equal('may be chance: with so few events' in result.err, limit < 100 * 0.12 / before, f'>{limit}: {result.err}')
    many, more = build(t, 'many', 10, extra=[(('main', 'F', 'fib'), 2000, True)] * 600)
    second = many  # diff() is of these two now
    growth = 1.2 / before
    # sure is a growth by more than the limit and two errors, of which the base's grows with the limit
    sure = max(limit / 1000 for limit in range(0, 5000) if growth - limit / 1000 > 2 * math.hypot(noise(more), noise(one) * (1 + limit / 1000)) / before)
    t.check(0 < sure < growth, f'{sure} of {growth}')
    for limit, status in ((sure - 0.002, 6), (sure + 0.002, 0)):
        result = diff('--fail-on', f'>{100 * limit:.3f}%')
        t.equal(result.status, status, f'>{limit}: {result.err}')
    second = t.directory / 'two.er'
    t.equal(diff('-f', 'FNAME("fib") SOME IN STACK || 1', '-n', '2').out.count('main'), 0, 'limit')
    for wrong in (('--fail-on', '5'), ('-m', 'size'), ('-m', 'nothing'), ('-n', 'x'), ('-x',), ('-f', '1 +'), ('third.er',)):
        t.equal(diff(*wrong).status, 2, str(wrong))
    t.equal(t.run(t.helio, 'diff', first, 'none.er').status, 1, 'no experiment')


@test
def functions_of_one_name(t):
    """Two static functions of one load object are told apart by their addresses; each has its own time in both experiments."""
    paths = [build(t, f'run{seconds}', 10, extra=[(('main', 'helper'), seconds * 1000, True), (('main', 'helper2'), seconds * 3000, True)])[0]
             for seconds in (1000, 1500)]
    for words in (('diff', '-a', '-m', 'i.totalcpu', *paths), ('print', '-compare', 'ratio', '-metrics', 'i.totalcpu', '-functions', *paths)):
        result = t.run(t.helio, *words)
        t.equal(result.status, 0, result.err)
        named = [(float(line.split()[0]), line.rsplit('helper ', 1)[1]) for line in result.out.splitlines() if 'helper ' in line]
        t.equal(sorted(named), [(1.0, '[0x12c0]'), (3.0, '[0x1300]')], result.out)


SHORT = """
volatile long sum;
int main(void) { for (long i = 0; i < 60000000; i++) sum += i; return 0; }
"""


@test
def equal_programs_fail_no_build(t):
    """
    20 pairs of runs of one short program. Chance fails 1 of 40 at most, so 4 of them are rarer than 1 of 1000, unless
    the machine is restless itself: then there are fewer than those that have grown by more than the limit.
    """
    (t.directory / 'short.c').write_text(SHORT)
    t.check(not t.run('gcc', '-O1', '-o', t.directory / 'short', t.directory / 'short.c').status, 'gcc')
    runs = [t.collect(t.directory / 'short').experiment for _ in range(20)]
    failed = grown = 0
    for number, base in enumerate(runs):
        result = t.run(t.helio, 'diff', '--fail-on', '>5%', base, runs[(number + 1) % len(runs)])
        t.check(result.status in (0, 6) and '+-' in result.out, f'{result.status}: {result.err}')
        failed += result.status == 6
        grown += 'The total has grown' in result.err
    t.remark += f'{failed} of {grown} of 20 '
    t.within(failed <= max(3, 2 * grown // 3), f'{failed} of 20 pairs, of which {grown} have grown')


@test
def groups(t):
    """A group of experiments is one column; what grew most comes first where differences are shown."""
    paths, events = zip(*(build(t, f'run{seed}', seed) for seed in (20, 21, 22)))
    for name, members in (('base.erg', paths[:1]), ('new.erg', paths[1:])):
        (t.directory / name).write_text('#analyzer experiment group\n' + ''.join(f'{path.name}\n' for path in members))
    base, new = t.directory / 'base.erg', t.directory / 'new.erg'
    two = events[1] + events[2]

    def listing(mode, *commands, metrics='e.user:name'):
        return t.print(new, '-metrics', metrics, '-compare', mode, *commands, base)[-1]
    shown = listing('on', '-functions')
    t.equal([metric.get('experiment') for metric in shown['metrics'][:2]], ['base.erg', 'new.erg'], 'columns')
    changes = {name: exclusive(two, name) - exclusive(events[0], name) for name in FUNCTIONS}
    for name, row in rows_of(shown).items():
        if name != '<Total>':
            t.near(row['e.user.1'], exclusive(events[0], name), name, absolute=1e-9)
            t.near(row['e.user.2'], exclusive(two, name), name, absolute=1e-9)
    for mode in ('delta', 'ratio'):
        for words, order in (((), -1), (('-sort', '-e.user'), 1)):
            names = [row['name'] for row in listing(mode, *words, '-limit', '4', '-functions')['rows']]
            t.equal(names, ['<Total>', *sorted(changes, key=lambda name: order * changes[name])[:3]], f'{mode} {words}')
    text = t.run(t.helio, 'print', '-compare', 'delta', '-functions', base, new).out
    t.check(text.startswith('Functions sorted by change of metric: Exclusive Total CPU Time'), text[:100])
    threads = listing('on', '-threads')['rows']
    t.equal(len(threads), 2, 'the first thread of each is one row')
    t.near(threads[1]['e.user.2'], inclusive(two, 'main'), 'its time', absolute=1e-9)
    grouped = listing('on', '-filters', 'EXPGRID == 2', '-functions')['rows'][0]
    t.equal((grouped['e.user.1'], round(grouped['e.user.2'] * 1e6)), (0, round(inclusive(two, 'main') * 1e6)), 'EXPGRID')
    answer = t.run(t.helio, 'diff', '--json', base, new)
    t.equal((answer.status, len(json.loads(answer.out)['experiments'])), (0, 3), f'diff of groups: {answer.err}')
    script = t.directory / 'script'
    script.write_text(f'drop_exp {paths[2]}\ndrop_exp base.erg\nfunctions\nadd_exp {base}\ncompare on\nfunctions\n')
    result = t.run(t.helio, 'print', '-printmode', 'json', '-metrics', 'e.user:name', '-script', script, base, new)
    t.check('is one of the group new.erg' in result.err, result.err)
    alone, both = (json.loads(line) for line in result.out.splitlines())
    t.near(alone['rows'][0]['e.user'], inclusive(two, 'main'), 'the group by itself', absolute=1e-9)
    t.equal([metric['experiment'] for metric in both['metrics'][:2]], ['new.erg', 'base.erg'], 'columns of groups that came later')
    empty = t.directory / 'empty.erg'
    empty.write_text('#analyzer experiment group\n')
    t.check('names no experiment' in t.run(t.helio, 'print', '-functions', empty).err, 'an empty group')


@test
def sums_beside_each_other(t):
    """overview, report and statistics have the sums of each experiment, as each has them alone; header says what was recorded otherwise."""
    (first, _), (second, _) = build(t, 'run1', 51), build(t, 'run2', 52)
    log = second / 'log.xml'
    text = log.read_text()
    t.check('hostname="' in text, text[:300])
    log.write_text(text.replace('hostname="', 'hostname="other-', 1))
    both = (first, second)
    commands = ('-overview', '-report', '-statistics')
    totals = [{row['name']: row['total'] for row in t.print(path, '-overview')[-1]['rows']} for path in both]
    used = [t.print(path, '-statistics')[-1]['rows'][0] for path in both]
    for mode, key, of in (('on', None, None), ('delta', 'difference', lambda a, b: b - a), ('ratio', 'ratio', lambda a, b: 1 if a == b else b / a)):
        overview, report, statistics = (result['compared'] for result in t.print(second, '-compare', mode, *commands, first)[-3:])
        t.equal({e['experiment'] for row in overview for e in row['experiments']}, {first.name, second.name}, f'{mode}: names')
        for what, sums in (('overview', overview), ('report', report)):
            for row in sums:
                parts = [part['value'] for part in row['experiments']]
                for part, whole in zip(parts, totals):
                    t.near(part, whole[row['name']], f"{what}, {mode}: {row['name']}", absolute=1e-9)
        for row in (row for row in statistics if row['name'] in ('user_s', 'system_s', 'duration_s')):
            for part, alone in zip(row['experiments'], used):
                t.near(part['value'], alone[row['name']], f"statistics, {mode}: {row['name']}", absolute=0.001)
        for sums in (overview, report, statistics):
            for base, other in (row['experiments'] for row in sums):
                t.equal(set(base) | {key}, {'experiment', 'value', key}, f'{mode}: the base')
                t.equal(set(other), {'experiment', 'value', key} - {None}, f'{mode}: the other')
                if key and (key != 'ratio' or base['value'] or not other['value']):
                    t.near(other[key], of(base['value'], other['value']), f'{mode}: {key}', absolute=1e-6)
    for command in commands:
        text = t.run(t.helio, 'print', '-compare', 'delta', command, *both).out
        t.equal(text.count('Experiments compared'), 1, f'{command}: text')
        t.check('compared' not in t.print(second, command, first)[-1], f'{command}: compare off')
    header = t.print(second, '-compare', 'on', '-header', first)[-1]
    (host,) = (row for row in header['differences'] if row['name'] == 'hostname')
    names = [part['value'] for part in host['experiments']]
    t.equal(names[1], f'other-{names[0]}', 'hosts')
    t.check(not {'arch', 'arguments', 'page_size'} & {row['name'] for row in header['differences']}, 'what is the same')
    alike = t.print(first, '-compare', 'on', '-header', first)[-1]
    t.equal(alike.get('differences', []), [], 'one beside itself')


@test
def trees_by_change(t):
    """Siblings of the call tree, from above and from the leaves, begin with what grew most, whichever the sum says."""
    (first, _), (second, _) = build(t, 'run1', 31), build(t, 'run2', 32)
    for options in ((), ('-inverted',), ('-depth', '3')):
        for sort, sign in (('e.user', 1), ('-e.user', -1)):
            def listing(mode, limit='0', options=options, sort=sort):
                words = ('-metrics', 'e.user:name', '-sort', sort, '-compare', mode, '-limit', limit, '-calltree', *options)
                return t.print(second, *words, first)[-1]['rows']
            rows, plain = listing('delta'), listing('on')
            below, path = {}, []
            for row in rows:
                path[row['depth']:] = [row['name']]
                below.setdefault(tuple(path[:-1]), []).append(row)
            for siblings in below.values():
                changes = [row['a.user.2'] for row in siblings]
                t.equal(changes, sorted(changes, reverse=sign > 0), f'{options} {sort}')
            cells = sorted((row['id'], round((row['a.user.2'] - row['a.user.1']) * 1e6)) for row in plain)
            t.equal(sorted((row['id'], round(row['a.user.2'] * 1e6)) for row in rows), cells, f'{options}: rows')
            t.equal(listing('delta', '4'), rows[:4], f'{options}: the first rows')
    text = t.run(t.helio, 'print', '-compare', 'delta', '-calltree', first, second).out
    t.check('Metric: change of Attributed Total CPU Time' in text, text[:200])


@test
def heap_by_change(t):
    """Stacks of allocations of two runs of one program, the second with more of one and less of the other."""
    source = '#include <stdlib.h>\nvoid *kept[9000];\nvoid a(int n) { while (n--) kept[n] = malloc(100); }\n' \
             'void b(int n) { while (n--) kept[1000 + n] = malloc(300); }\nvoid c(int n) { while (n--) kept[2000 + n] = malloc(50); }\n' \
             'int main(int argc, char **argv) { a(atoi(argv[1])); b(atoi(argv[2])); c(atoi(argv[3])); return 0; }\n'
    (t.directory / 'grow.c').write_text(source)
    t.run('gcc', '-O0', '-o', t.directory / 'grow', t.directory / 'grow.c')
    counts = ((500, 900, 10), (800, 600, 20))
    paths = [t.collect(t.directory / 'grow', *map(str, count), options=('-p', 'off', '-H', 'on')).experiment for count in counts]
    for command in ('-allocs', '-leaks', '-heap'):
        for mode, expected in (('delta', ['a', 'c', 'b']), ('ratio', ['a', 'c', 'b']), ('on', ['b', 'a', 'c'])):
            rows = t.print(paths[1], '-compare', mode, command, paths[0])[-1]['rows']
            order = [name for row in rows for frame in row['stack'][:1] if (name := frame.split(' ')[0]) in 'abc' and row['instances'] > 9]
            t.equal(order, expected, f'{command} {mode}')
        text = t.run(t.helio, 'print', '-compare', 'delta', command, *paths).out
        t.check('\nSorted by change of Bytes ' in text, text[:300])


@test
def what_one_has_not_recorded(t):
    """It has not become less by all of it: no value, no change and no place in the order of changes."""
    both, clock = (t.collect(t.target('leaks'), options=options).experiment for options in (('-p', 'on', '-H', 'on'), ('-p', 'on')))
    check = validator(t)
    words = ('-metrics', 'e.totalcpu:e.heapalloccnt:name', '-sort', 'e.heapalloccnt')
    count = t.print(both, *words, '-functions')[-1]['rows'][0]['e.heapalloccnt']
    t.within(count > 0, 'no allocation')
    for mode in ('on', 'delta', 'ratio'):
        for first, second in ((both, clock), (clock, both)):
            answer = t.print(second, *words, '-compare', mode, '-functions', first)[-1]
            t.check(check.is_valid(answer), f'{mode}: {[error.message for error in check.iter_errors(answer)][:2]}')
            expected = [count if path == both and (mode == 'on' or path == first) else None for path in (first, second)]
            t.equal([answer['rows'][0][f'e.heapalloccnt.{number}'] for number in (1, 2)], expected, f'{mode} {first.name} {second.name}')
            columns = {metric['name']: metric.get('recorded', True) for metric in answer['metrics']}
            t.equal([columns[f'e.{name}.{number}'] for name in ('totalcpu', 'heapalloccnt') for number in (1, 2)],
                    [True, True, *(value is not None for value in expected)], f'{mode}: which columns say that there is something')
            t.check('n/a' in t.run(t.helio, 'print', *words, '-compare', mode, '-functions', first, second).out, f'{mode}: text')
    amounts = t.print(clock, '-compare', 'delta', '-allocs', both)[-1]
    t.check(check.is_valid(amounts), f'{[error.message for error in check.iter_errors(amounts)][:2]}')
    t.equal([part.get('instances') for part in amounts['total']['compared']], [count, None], 'allocations')
    t.check(f'{clock.name}: not recorded' in t.run(t.helio, 'print', '-compare', 'delta', '-allocs', both, clock).out, 'text of allocations')
    refused = t.run(t.helio, 'diff', '-m', 'e.heapalloccnt', both, clock)
    t.check(refused.status == 1 and f'{clock.name} has not recorded' in refused.err, refused.err)


@test
def traces(t):
    """Memory, files and locks of two runs of which it is known by how much they differ, beside each other."""
    programs = [t.collect(t.target(target), options=('-p', 'off', '-H', 'on', '-i', 'on', '-s', 'all')).experiment
                for target in ('heap', 'leaks', 'locks')]
    check = validator(t)

    def listing(mode, command, *paths):
        answer = t.print(paths[1], '-compare', mode, command, paths[0])[-1]
        t.check(check.is_valid(answer), f'{command}: {[error.message for error in check.iter_errors(answer)][:2]}')
        return answer
    for first, second in ((programs[0], programs[1]), (programs[2], programs[2])):
        for command in ('-allocs', '-leaks', '-heap'):
            single = [t.print(path, command)[-1] for path in (first, second)]
            both = listing('on', command, first, second)
            for number, alone in enumerate(single):
                stacks = {(tuple(row['stack']), row.get('fate')): (row['instances'], row['bytes']) for row in alone['rows']}
                found = {(tuple(row['stack']), row.get('fate')): (row['compared'][number]['instances'], row['compared'][number]['bytes'])
                         for row in both['rows'] if row['compared'][number]['instances']}
                t.equal(found, stacks, f'{command} of experiment {number}')
                t.equal(both['total']['compared'][number]['bytes'], alone['total']['bytes'], f'{command}: total')
        for command in ('-heapstat', '-iostat', '-iocallstack'):
            rows = [t.print(path, command)[-1]['rows'] for path in (first, second)]
            both = listing('on', command, first, second)['rows']
            t.equal([row.pop('experiment') for row in both], [path.name for path, alone in zip((first, second), rows) for _ in alone], command)
            for row in both:
                row.pop('errors', None)
            for row in (row for row in (*both, *rows[0], *rows[1]) if row.get('peak')):
                row['peak']['experiment'] = 0
            t.equal(both, [*rows[0], *rows[1]], command)
        for command, metric in (('-locks', 'sync'), ('-ioactivity', 'e.ioreadcnt'), ('-iodetail', 'e.iowritecnt')):
            words = ('-metrics', 'e.ioreadcnt:e.iowritecnt:name') if metric.startswith('e.') else ()
            rows = [t.print(path, *words, command)[-1]['rows'] for path in (first, second)]
            both = t.print(second, *words, '-compare', 'on', command, first)[-1]
            for number, alone in enumerate(rows, 1):
                t.near(sum(row[f'{metric}.{number}'] for row in both['rows']), sum(row[metric] for row in alone), f'{command} {number}', absolute=1e-6)
            delta = t.print(second, *words, '-compare', 'delta', command, first)[-1]['rows']
            t.near(sum(row[f'{metric}.2'] for row in delta), sum(row[metric] for row in rows[1]) - sum(row[metric] for row in rows[0]), command, absolute=1e-6)
            if first == second:
                t.check(all(not row[f'{metric}.2'] for row in delta), f'{command}: an experiment differs from itself')
    text = t.run(t.helio, 'print', '-compare', 'delta', '-limit', '1', '-leaks', '-compare', 'ratio', '-allocs', '-heapstat', programs[0], programs[1]).out
    for line in ('Experiment: run.1.er', 'Experiment: run.2.er', '  run.2.er: Instances = +', '  run.2.er: Instances x '):
        t.check(line in text, f'{line} in {text[:600]}')


@test
def named_again_in_a_group(t):
    """An experiment that is named by itself and in a group, or in two of them, counts once; where experiments are compared it is in each column that has it."""
    paths, events = zip(*(build(t, f'run{seed}', seed) for seed in (30, 31)))
    for name, members in (('all.erg', paths), ('one.erg', paths[:1])):
        (t.directory / name).write_text('#analyzer experiment group\n' + ''.join(f'{path.name}\n' for path in members))
    all_of, one, both = t.directory / 'all.erg', t.directory / 'one.erg', events[0] + events[1]
    total = sum(exclusive(both, name) for name in FUNCTIONS)
    alone = sum(exclusive(events[0], name) for name in FUNCTIONS)
    for named in (all_of,), (paths[0], all_of), (all_of, paths[0]), (one, all_of), (all_of, one, paths[1]), (f'{t.directory}/./run30.er', all_of):
        result = t.run(t.helio, 'print', '-printmode', 'json', '-metrics', 'e.user:name', '-functions', *named)
        t.near(rows_of(json.loads(result.out))['<Total>']['e.user'], total, f'{named}')
        t.equal('is named twice; it counts once' in result.out + result.err, len(named) > 1, f'{named}: {result.err}')
    shown = t.print(all_of, '-metrics', 'e.user:name', '-compare', 'on', '-functions', paths[0])[-1]
    row = rows_of(shown)['<Total>']
    t.near(row['e.user.1'], alone, 'compared: the one')
    t.near(row['e.user.2'], total, 'compared: the group')
    with view_server.Server(t, paths[0], all_of) as server:
        for settings in ([], [['compare', 'on']], [['compare', 'delta']], [['compare', 'off']]):
            words = [word for setting in settings for word in (f'-{setting[0]}', setting[1])] if settings != [['compare', 'off']] else []
            expected = t.print(all_of, '-metrics', 'e.user:name', *words, '-functions', paths[0])[-1]
            got = server.print(['functions'], settings=[['metrics', 'e.user:name'], *settings]).json['results'][0]
            t.equal(got['rows'], expected['rows'], f'helio view: {settings}')


def listed(t, command, experiments, *settings):
    """[(kind, text, values)] of a listing's rows, and the warnings."""
    words = ('print', '-printmode', 'json', '-metrics', 'e.totalcpu:name', *settings, *command, *experiments)
    result = t.run(t.helio, *words)
    t.equal(result.status, 0, f'{words}: {result.err}')
    answer = [json.loads(line) for line in result.out.splitlines() if line.startswith('{')][-1]
    keys = [metric['name'] for metric in answer['metrics'] if metric['unit'] == 's']
    return [(row['kind'], row['name'], [row.get(key) for key in keys]) for row in answer['rows']], result.out + result.err


@test
def listings(t):
    """Source and disassembly of compared experiments have for each line what each has alone; another build is not set beside them."""
    runs = [t.collect(t.target('shares'), steps, options=('-p', 'hi')).experiment for steps in (100, 300)]
    for command in (('-source', 'c'), ('-disasm', 'c')):
        alone = [{row[:2]: row[2][0] for row in listed(t, command, [run])[0] if row[2][0] is not None} for run in runs]
        t.check(all(sum(values.values()) > 0 for values in alone), f'{command}: they have values')
        for setting, value in (('on', lambda a, b: b), ('delta', lambda a, b: b - a), ('ratio', lambda a, b: 1 if a == b else b / a if a else math.inf)):
            rows = [row for row in listed(t, command, runs, '-compare', setting)[0] if row[2][0] is not None]
            t.equal({row[:2] for row in rows}, set(alone[0]) | set(alone[1]), f'{command} {setting}: lines with code')
            for row in rows:
                a, b = (values.get(row[:2], 0) for values in alone)
                t.near(row[2][0], a, f'{command} {setting}: the first at {row[1]}', absolute=1e-9)
                if math.isfinite(value(a, b)):
                    t.near(row[2][1], value(a, b), f'{command} {setting}: the second at {row[1]}', absolute=1e-9)
    other = t.directory / 'shares'
    include = HERE.parent / 'targets'
    t.equal(t.run('gcc', '-O1', '-g', f'-I{include}', '-o', other, include / 'shares.c', '-lpthread').status, 0, 'gcc')
    run = t.collect(other, 100, options=('-p', 'hi')).experiment
    rows, said = listed(t, ('-source', 'c', '1'), [runs[0], run], '-compare', 'on')
    t.check('is of another build of shares' in said, said[-600:])
    t.check(all(row[2][1] is None for row in rows) and any(row[2][0] for row in rows), f'another build: {rows[:8]}')


@test
def lines_of_two_builds(t):
    """Each line of a program is one row, whichever build has it: with what each experiment alone has at it; functions of one name are one."""
    other = t.directory / 'shares'
    include = HERE.parent / 'targets'
    t.equal(t.run('gcc', '-O1', '-g', f'-I{include}', '-o', other, include / 'shares.c', '-lpthread').status, 0, 'gcc')
    runs = [t.collect(program, 300, options=('-p', 'hi')).experiment for program in (t.target('shares'), other)]
    show = ('-metrics', 'e.totalcpu:name', '-lines')

    def of_program(rows):
        return [row for row in rows if (row.get('object') or '').endswith('/shares')]
    alone = [{row['name']: row['e.totalcpu'] for row in of_program(t.print(run, *show)[-1]['rows'])} for run in runs]
    t.check(len(alone[0]) > 3 and alone[0].keys() & alone[1].keys(), f'lines: {alone}')
    rows = of_program(t.print(runs[1], '-compare', 'on', *show, runs[0])[-1]['rows'])
    t.equal(sorted(row['name'] for row in rows), sorted(alone[0].keys() | alone[1].keys()), 'each line once')
    for row in rows:
        for i in (0, 1):
            t.near(row.get(f'e.totalcpu.{i + 1}', 0), alone[i].get(row['name'], 0), f'{row["name"]} of {i + 1}', absolute=1e-9)
    limited = t.print(runs[1], '-compare', 'on', '-limit', '4', *show, runs[0])[-1]['rows']
    t.equal(len(limited), 4, 'rows at a limit of 4')
    t.equal(t.run(t.helio, 'print', '-compare', 'on', '-fsingle', 'c', *runs).status, 0, 'a function of both')
    t.check(t.run(t.helio, 'print', '-fsingle', 'c', *runs).status != 0, 'a function of two programs that are not compared')
