# SPDX-License-Identifier: Apache-2.0
"""
`helio print` from outside: JSON against its schema, values against the
construction of the golden experiment, the command line, scripts, the prompt.
"""
import collections
import json
import os
import pathlib
import pty
import re
import select
import shlex
import sys
import time

from harness import ROOT, Skip, patience, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_experiment  # noqa: E402
from make_golden import file_header, sample, write  # noqa: E402

LISTINGS = ('-functions', '-fsummary', '-callers-callees', '-calltree', '-threads', '-metrics', '-metric_list',
            '-cmetric_list', '-header', '-objects', '-overview', '-statistics', '-sample_detail', '-experiment_list',
            '-thread_list', '-procstats', '-version', '-help')
# The symbol that stands for an address that several share is the last in the alphabet.
SHOWN = {'G': 'also_G', make_experiment.RUN: 'app::Worker::run(int)'}
CPU = ('user', 'system')
SECONDS = make_experiment.UNIT / 1e6


def golden(t):
    return make_experiment.make(str(t.directory))


def printed(t, *words, status=0, **more):
    result = t.run(t.helio, 'print', *words, **more)
    t.equal(result.status, status, f'status of {words}: {result.err}')
    return result


def objects(t, *words, **more):
    return [json.loads(line) for line in printed(t, '-printmode', 'json', *words, **more).out.splitlines()]


def events():
    """(stack of shown names, with the two functions named helper told apart, state, seconds)"""
    for _, _, _, _, thread in make_experiment.THREADS:
        for stack, state, units in thread:
            yield tuple(SHOWN.get(name, name) for name in stack), state, units * SECONDS


def same(t, actual, expected, what):
    t.equal(set(actual), set(expected), what)
    for key, value in expected.items():
        t.near(actual[key], value, f'{what} of {key}', absolute=1e-9)


def keyed(rows, value):
    """helper2 is the one at the higher address: the rows of one name in order of address."""
    counts = collections.Counter()
    result = {}
    for row in sorted(rows, key=lambda row: row.get('address', 0)):
        counts[row['name']] += 1
        result[row['name'] + ('' if counts[row['name']] == 1 else str(counts[row['name']]))] = row[value]
    return result


# JSON

def validator(t):
    try:
        import jsonschema
    except ImportError:
        raise Skip('python3-jsonschema is not installed')
    schema = json.loads((t.build / 'docs/json-schema/helio-print.schema.json').read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validate(t, experiment, *more):
    """more: words of a command each, or a list of them."""
    check = validator(t)
    words = [word for command in more for word in ([command] if isinstance(command, str) else command)]
    listed = objects(t, *LISTINGS, *words, experiment)
    t.equal(len(listed), len(LISTINGS) + len([command for command in more if command[0][0] == '-']), 'number of objects')
    for value in listed:
        problems = [f'{problem.json_path}: {problem.message[:200]}' for problem in check.iter_errors(value)]
        t.check(not problems, f'{value["command"]}: {problems[:3]}')
    return listed


@test
def json_of_every_command(t):
    """All that golden outputs have in JSON, which is of every command over every kind of data."""
    check, count = validator(t), 0
    for path in sorted((ROOT / 'tests/golden/every').glob('*.json')):
        command = ''
        for line in path.read_text().splitlines():
            if line.startswith('$ '):
                command = line
            elif line.startswith('{'):
                count += 1
                problems = [f'{problem.json_path}: {problem.message[:200]}' for problem in check.iter_errors(json.loads(line))]
                t.check(not problems, f'{path.name}: {command}: {problems[:3]}')
    t.check(count > 100, f'{count} objects')


@test
def json_of_golden(t):
    listed = validate(t, golden(t), '-fsingle', 'main', '-csingle', 'C', '-cprepend', 'B', '-cappend', 'E', '-crmfirst', '-crmlast',
                      '-calltree -inverted -depth 3 -percent 0.5 -hottest'.split(), '-report')
    t.check(all(any('_f1.er' in text for text in value['warnings']) for value in listed), 'the child has no end: a warning')


@test
def json_of_program(t):
    run = t.collect(t.target('phases'), '0.05')
    validate(t, run.experiment)


@test
def json_schema_is_strict(t):
    """The schema must refuse what is wrong, or the tests above say nothing."""
    check = validator(t)
    good = objects(t, '-functions', golden(t))[0]
    t.check(check.is_valid(good), 'the output itself')
    for change in ({'command': 'nothing'}, {'rows': [{}]}, {'metrics': [{'name': 'e.user'}]}, {'warnings': [1]}, {'more': 1},
                   {'rows': [dict(good['rows'][0], **{'e.totalcpu': '1.0'})]}, {'rows': [dict(good['rows'][0], depth=1)]}):
        t.check(not check.is_valid({**good, **change}), f'accepts {change}')


@test
def json_names_are_utf8(t):
    """Any bytes may stand in a path."""
    make_experiment.make(str(t.directory))
    odd = os.fsencode(t.directory) + b'/odd-\xff.er'
    os.rename(t.directory / 'golden.1.er', odd)
    result = t.run(t.helio, 'print', '-printmode', 'json', '-experiment_list', os.fsdecode(odd))
    t.check('odd-\ufffd.er' in json.loads(result.out)['rows'][0]['name'], result.out[:300])


# Values

@test
def values_functions(t):
    exclusive, inclusive = collections.Counter(), collections.Counter()
    for stack, state, seconds in events():
        if state in CPU:
            exclusive[stack[-1]] += seconds
            for name in set(stack):
                inclusive[name] += seconds
        for name in stack:
            exclusive[name] += 0
            inclusive[name] += 0
    exclusive['<Total>'] = inclusive['<Total>'] = sum(s for _, state, s in events() if state in CPU)
    rows = objects(t, '-metrics', 'e.totalcpu:i.totalcpu:address:name', '-functions', golden(t))[0]['rows']
    t.equal(rows[0]['name'], '<Total>', 'first row')
    same(t, keyed(rows, 'e.totalcpu'), exclusive, 'exclusive')
    same(t, keyed(rows, 'i.totalcpu'), inclusive, 'inclusive')
    sizes = {SHOWN.get(name, name): size for name, _, size, _ in make_experiment.SYMBOLS}
    rows = objects(t, '-metrics', 'e.user:size:name', '-functions', t.directory / 'golden.1.er')[0]['rows']
    for row in rows[1:]:
        t.equal(row['size'], sizes[row['name']], f'size of {row["name"]}')


def equation(t, experiment, names):
    """callers' attributed = inclusive = exclusive + callees' attributed, for every function."""
    for name in names:
        metrics = f'e.{name}:i.{name}:address:name'
        functions, blocks = objects(t, '-metrics', metrics, '-functions', '-callers-callees', experiment)
        by_place = {(row['name'], row['object'], row['address']): row for row in functions['rows']}
        t.equal(len(by_place), len(functions['rows']), 'functions, each once')
        parts = collections.defaultdict(lambda: collections.defaultdict(float))
        for row in blocks['rows']:
            if row['role'] == 'center':
                parts[row['block']]['function'] = (row['name'], row['object'], row['address'])
            parts[row['block']][row['role']] += row[f'a.{name}']
        t.equal(len(parts), len(by_place), 'blocks')
        for part in parts.values():
            row = by_place[part['function']]
            t.near(part['center'] + part['callee'], row[f'i.{name}'], f'{name}: callees of {row["name"]}', absolute=1e-7)
            if row['name'] != '<Total>':  # which is no function: it has no callers and does nothing itself
                t.near(part['center'], row[f'e.{name}'], f'{name}: {row["name"]} itself', absolute=1e-7)
                t.near(part['caller'], row[f'i.{name}'], f'{name}: callers of {row["name"]}', absolute=1e-7)


@test
def equation_of_golden(t):
    experiment = golden(t)
    names = [metric['name'][2:] for metric in objects(t, '-metric_list', experiment)[0]['rows']
             if metric['name'].startswith('e.')]
    t.check(len(names) > 5, 'the metrics')
    equation(t, experiment, names)


@test
def equation_of_programs(t):
    for target, argument in (('recurse', '0.3s'), ('phases', '0.05')):
        equation(t, t.collect(t.target(target), argument).experiment, ('total', 'totalcpu'))


@test
def equation_of_generated(t):
    generate = t.build / 'bench' / 'helio-generate'
    if not generate.exists():
        raise Skip('helio-generate was not built')
    experiment = t.directory / 'made.1.er'
    result = t.run(generate, '-e', '30000', '-s', '5000', '-d', '2', experiment)
    t.equal(result.status, 0, result.err)
    equation(t, experiment, ('total', 'user', 'sleep'))


def tree(rows, value):
    """{path from <Total>: value} of a call tree's rows, checked on the way."""
    paths, values = {}, collections.Counter()
    for row in rows:
        above = paths[row['parent']] if row['parent'] is not None else None
        paths[row['id']] = above + (row['name'],) if above is not None else ()
        assert row['depth'] == len(paths[row['id']]), row
        values[paths[row['id']]] += row[value]
    return values


VDSO = r"""#include <time.h>
int main(void)
{
	struct timespec t, begin;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		for (int i = 0; i < 1000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
	while ((t.tv_sec - begin.tv_sec) * 1e9 + (t.tv_nsec - begin.tv_nsec) < 3e8);
	return 0;
}
"""


@test
def names_are_taken_as_they_are_printed(t):
    """A function with its load object, as a list has it, is found by that: also one of the vdso, whose name has brackets of its own."""
    (t.directory / 'clock.c').write_text(VDSO)
    t.equal(t.run(t.need('gcc'), '-O1', '-o', t.directory / 'clock', t.directory / 'clock.c').status, 0, 'gcc')
    experiment = t.collect(t.directory / 'clock', options=('-p', 'hi')).experiment
    rows = [row for row in t.print(experiment, '-name', 'long:soname', '-functions')[-1]['rows'] if row['object']]
    names = [row['name'] for row in rows]
    t.check(any(name.endswith(' [clock]') for name in names), names)
    t.within(any(name.endswith(' [[vdso]]') for name in names), f'{names}')
    for row in rows:
        found = t.print(experiment, '-fsingle', row['name'])[-1]['rows']
        t.equal([(f'{one["name"]} [{one["object"].rpartition("/")[2]}]', one['object']) for one in found], [(row['name'], row['object'])], 'fsingle')


@test
def bounded_inverted_tree(t):
    """Of millions of rows those are shown that are not less than what the warning says, unless all are asked for."""
    path = t.directory / 'large.er'
    t.run(t.build / 'bench' / 'helio-generate', '-e', 15000, '-d', 0, path)
    words = (t.helio, 'print', '-printmode', 'json', '-metrics', 'e.total:name', '-calltree', '-inverted')
    bounded, whole = t.run(*words, path), t.run(*words, '-percent', '0', path)
    said = re.search(r'branches of less than ([0-9.e-]+) % of the total', bounded.err)
    t.check(said, f'no warning: {bounded.err}')
    rows, everything = json.loads(bounded.out)['rows'], json.loads(whole.out)['rows']
    t.equal(whole.err, '', 'all rows: no warning')
    t.check(len(everything) > 100001 >= len(rows) > 1, f'{len(rows)} of {len(everything)} rows')
    least = float(said[1]) / 100 * everything[0]['a.total']
    t.equal(len(rows), sum(row['a.total'] >= least - 1e-9 for row in everything), 'rows')
    fewer = t.run(t.helio, 'print', '-limit', '10', '-calltree', '-inverted', path)
    t.check('left out' not in fewer.err and len(fewer.out.splitlines()) == 16, fewer.err + fewer.out)


def expected_tree(state, inverted=False):
    expected = collections.Counter()
    for stack, event_state, seconds in events():
        names = [name.rstrip('2') for name in stack]
        for depth in range(len(stack) + 1):
            expected[tuple((names[::-1] if inverted else names)[:depth])] += seconds if event_state == state else 0
    return expected


@test
def values_call_tree(t):
    experiment = golden(t)
    down, up = objects(t, '-metrics', 'e.user:name', '-calltree', '-calltree', '-inverted', experiment)
    same(t, tree(down['rows'], 'a.user'), expected_tree('user'), 'attributed')
    same(t, tree(up['rows'], 'a.user'), expected_tree('user', inverted=True), 'attributed, from the leaves up')


@test
def parts_of_call_tree(t):
    """Options leave rows out, and change none."""
    experiment = golden(t)
    for inverted in ((), ('-inverted',)):
        whole = expected_tree('user', bool(inverted))
        setting = ('-metrics', 'e.user:name', '-sort', 'e.user')
        for words, shown in ((('-depth', '2'), lambda path, value: len(path) <= 2),
                             (('-percent', '10%'), lambda path, value: value >= 0.1 * whole[()])):
            part = objects(t, *setting, '-calltree', *inverted, *words, experiment)[0]['rows']
            expected = {path: value for path, value in whole.items() if shown(path, value)}
            same(t, tree(part, 'a.user'), expected, f'{inverted} {words}')
        branch = tree(objects(t, *setting, '-calltree', '-hottest', *inverted, experiment)[0]['rows'], 'a.user')
        path = ()
        while children := {child: value for child, value in whole.items() if child[:-1] == path and child}:
            t.check(set(children) <= set(branch), f'siblings of the hottest branch: {children}')
            path = max(children, key=children.get)
        t.check(all(child[:-1] == path[:len(child) - 1] for child in branch if child), f'only the hottest branch {path}: {set(branch)}')


@test
def values_fragments(t):
    """Callers and callees of main, B, C: by the stacks that the experiment was made of."""
    experiment = golden(t)
    for fragment in (('B', 'C'), ('main', 'B', 'C'), ('fib', 'fib'), ('C',)):
        callers, callees, own = collections.Counter(), collections.Counter(), 0
        for stack, state, seconds in events():
            places = [i for i in range(len(stack)) if stack[i:i + len(fragment)] == fragment]
            if not places or state not in CPU:
                continue
            begin, end = places[-1], places[-1] + len(fragment)
            callers[stack[begin - 1] if begin else '<Total>'] += seconds
            if end < len(stack):
                callees[stack[end]] += seconds
            else:
                own += seconds
        words = ['-csingle', fragment[-1]] + [word for name in fragment[-2::-1] for word in ('-cprepend', name)]
        rows = objects(t, '-metrics', 'e.totalcpu:name', *words, experiment)[-1]['rows']
        by_role = {role: [row for row in rows if row['role'] == role] for role in ('caller', 'center', 'callee')}
        same(t, {row['name']: row['a.totalcpu'] for row in by_role['caller']}, callers, f'callers of {fragment}')
        same(t, {row['name']: row['a.totalcpu'] for row in by_role['callee']}, callees, f'callees of {fragment}')
        t.equal([row['name'] for row in by_role['center']], list(fragment), 'the fragment')
        t.near(by_role['center'][-1]['a.totalcpu'], own, f'{fragment} itself', absolute=1e-9)
    same_words = ('-csingle', 'C', '-cappend', 'E', '-cprepend', 'B', '-crmlast', '-crmfirst')
    first, *_, last = objects(t, *same_words, experiment)
    t.equal(last['rows'], first['rows'], 'put on and taken away')
    for words, text in ((('-crmfirst',), 'no function'), (('-csingle', 'C', '-crmlast'), 'one function only'),
                        (('-cappend', 'nobody'), 'No function with given name')):
        t.check(text in printed(t, *words, experiment, status=1).err, f'{words}')


@test
def values_statistics(t):
    states = collections.Counter()
    for lineage, _, _, _, thread in make_experiment.THREADS:
        for _, state, units in thread:
            states[lineage, state] += units * SECONDS
    for row, lineage in zip(objects(t, '-statistics', golden(t))[0]['rows'][1:], ('', '_f1')):
        for state, seconds in row['state_seconds'].items():
            t.near(seconds, states[lineage, state], f'{lineage} {state}', absolute=1e-9)


@test
def values_report(t):
    """One screen, with the numbers of the construction."""
    experiment = golden(t)
    rows = objects(t, '-report', experiment)[0]['rows']
    sections = collections.defaultdict(dict)
    for row in rows:
        sections[row['section']][row.get('metric') if row['section'] == 'time' else row['name']] = row.get('value')
    whole, exclusive = collections.Counter(), collections.Counter()
    for stack, state, seconds in events():
        whole['total'] += seconds
        whole[state] += seconds
        if state in CPU:
            whole['totalcpu'] += seconds
            exclusive[f'{stack[-1]} [app]'] += seconds
    for metric, seconds in sections['time'].items():
        t.near(seconds, whole[metric], metric, absolute=1e-9)
    t.check({'total', 'totalcpu', 'user', 'sleep', 'lock'} <= set(sections['time']), f'states: {sections["time"]}')
    same(t, sections['functions'], dict(exclusive.most_common(5)), 'the hottest functions')
    t.near(sum(sections['threads'].values()), whole['totalcpu'], 'threads', absolute=1e-9)
    t.equal(list(sections['path'])[:3], ['main', 'B', 'C'], 'the hottest path')
    t.check(any('_f1.er' in text for text in sections['missing']), 'the child has no end')
    text = printed(t, '-report', experiment).out
    t.check(len(text.splitlines()) < 50, 'one screen')
    for command in sections['next']:  # what it says can be typed
        words = shlex.split(command)
        t.equal(words[:2], ['helio', 'print'], command)
        if '-source' not in words:  # the golden program has none
            printed(t, *words[2:])


@test
def report_of_what_was_never_resumed(t):
    """It says that nothing was recorded, why, and what there is to see."""
    run = t.collect('true', options=('-y', 'USR1'))
    rows = objects(t, '-report', run.experiment)[0]['rows']
    missing = ' '.join(row['name'] for row in rows if row['section'] == 'missing')
    t.check('never resumed' in missing and 'USR1' in missing and 'nothing that matters' not in missing, missing)
    commands = [shlex.split(row['name']) for row in rows if row['section'] == 'next']
    t.check(commands, 'nothing to type next')
    for words in commands:
        printed(t, *words[2:])


@test(engines=True)
def report_of_pauses(t, engine):
    """How much of its life a program's recording was paused, as its own clock has it."""
    run = t.collect(t.target('api_pauses'), 'process', '4', '20', '240', engine=engine)
    rows = objects(t, '-report', run.experiment)[0]['rows']
    share, = [row['name'] for row in rows if row['section'] == 'missing' and 'paused' in row['name']]
    paused, life = map(float, re.search(r', ([0-9.]+) of ([0-9.]+) s:', share).groups())
    t.within(0.96 <= paused, f'{share}: the program used 0.96 s while it was paused')
    t.within(paused <= life - 0.24, f'{share}: it used 0.24 s while it was not')
    whole = t.collect(t.target('flat'), '0.05')
    rows = objects(t, '-report', whole.experiment)[0]['rows']
    t.check(not [row for row in rows if 'paused' in row['name']], 'one that was not paused')


@test
def named_twice(t):
    """An experiment that is named twice, by whatever names, counts once, and the message says so."""
    run = t.collect(t.target('flat'), '0.05')
    os.symlink(run.experiment, t.directory / 'other.er')
    once = printed(t, '-functions', run.experiment).out
    for again in (run.experiment, t.directory / 'other.er'):
        twice = printed(t, '-functions', run.experiment, again)
        t.equal(twice.out, once, f'{again}')
        t.check('is named twice; it counts once' in twice.err, twice.err)
    for word in ('off', '0'):
        t.equal(printed(t, '-compare', word, '-functions', run.experiment, run.experiment).out, once, f'not compared: {word}')
    (t.directory / 'compared').mkdir()
    (t.directory / 'compared' / '.er.rc').write_text('compare on\n')
    compared = {how: objects(t, *words, run.experiment, run.experiment, cwd=t.directory / 'compared')[-1]['metrics']
                for how, words in (('start-up file', ('-functions',)), ('command', ('-compare', 'on', '-functions')))}
    t.equal(compared['start-up file'], compared['command'], 'compared by a start-up file')
    group = t.directory / 'run.erg'
    group.write_text(f'#analyzer experiment group\n{run.experiment.name}\n{run.experiment}\nother.er\n')
    in_group = printed(t, '-functions', group)
    t.equal(in_group.out, once, 'in a group')
    t.equal(in_group.err.count('is named twice; it counts once'), 2, in_group.err)


@test
def report_without_clock(t):
    """With heap data only the hottest places are those of the heap."""
    run = t.collect(t.need('python3'), '-c', 'print(sum(len(str(i)) for i in range(20000)))', options=('-p', 'off', '-H', 'on'))
    rows = objects(t, '-report', run.experiment)[0]['rows']
    values = {row['metric']: row['value'] for row in rows if row['section'] == 'traced'}
    t.check(values['heapalloccnt'] > 1000, f'allocations: {values}')
    t.check(not [row for row in rows if row['section'] == 'time'], 'no times')
    overview = printed(t, '-overview', run.experiment).out
    t.check(f'  Heap Tracing\n    [X]Allocations - heapalloccnt: [{values["heapalloccnt"]}]\n' in overview, f'overview: {overview}')
    t.check([row for row in rows if row['section'] == 'functions'], 'functions')
    t.check(any('-leaks' in row['name'] for row in rows if row['section'] == 'next'), 'what to type next')


@test
def of_nothing(t):
    """What cannot be shown is said: a range that ends before it begins, a picture of no events."""
    run = t.collect(t.target('flat'), '0.05', options=('-p', 'off'))
    t.check('no event was recorded' in printed(t, '-flamegraph', run.experiment, status=1).err, 'no event')
    t.check('-to 2 is before -from 5' in printed(t, '-timeline', '-from', '5', '-to', '2', run.experiment, status=1).err, 'a range')


@test
def report_without_leaks(t):
    """Heap data of a program that leaks nothing: the hottest places are those of what it allocated."""
    run = t.collect(t.target('malloc_heavy'), '1', options=('-p', 'off', '-H', 'on'))
    rows = objects(t, '-report', run.experiment)[0]['rows']
    leaks = any(row.get('metric') == 'heapleakbytes' for row in rows if row['section'] == 'traced')  # with AddressSanitizer it does
    functions = [row for row in rows if row['section'] == 'functions']
    t.equal([row['metric'] for row in functions[:1]], ['heapleakbytes' if leaks else 'heapallocbytes'], f'functions: {functions}')


@test
def what_the_report_advises(t):
    """Each line can be typed as it is and shows something, whatever was recorded and whether the hottest function has a source."""
    source = t.directory / 'hot.c'
    source.write_text('__attribute__((noinline)) static long same(long n) { for (volatile long i = 0; i < n; i++); return n; }\n'
                      'long NAME(long n) { return same(n) + 1; }\n')
    main = t.directory / 'main.c'
    main.write_text('#include <stdlib.h>\n#include <time.h>\nlong a(long), b(long);\nvoid *kept;\n'
                    'int main() { while (clock() < CLOCKS_PER_SEC / 2) { a(100000); b(200000); kept = malloc(9); } return 0; }\n')
    for name in 'ab':
        t.equal(t.run(t.need('gcc'), '-O1', '-g', f'-DNAME={name}', '-c', '-o', f'{name}.o', source).status, 0, name)
    for name, flags in (('two', ()), ('stripped', ('-s',))):
        t.equal(t.run('gcc', '-O1', '-g', *flags, '-o', name, main, 'a.o', 'b.o').status, 0, name)
    for name, options, word in (('two', (), '-source'), ('stripped', (), '-disasm'), ('two', ('-p', 'off', '-H', 'on'), '-leaks'),
                                ('two', ('-p', 'off', '-s', 'all'), None), ('two', ('-i', 'on', '-H', 'on'), '-leaks')):
        run = t.collect(t.directory / name, options=options)
        advice = [row['name'] for row in objects(t, '-report', run.experiment)[0]['rows'] if row['section'] == 'next']
        t.check(advice and (not word or any(f' {word} ' in line for line in advice)), f'{name} {options}: {advice}')
        t.check(name != 'stripped' or not any(' -source ' in line for line in advice), f'{advice}')
        for line in advice:
            result = t.run('sh', '-c', line.replace('helio ', f'{t.helio} ', 1))
            t.equal((result.status, 'Error' in result.err), (0, False), f'{line}: {result.err}')


# The command line, scripts, output

@test
def exit_statuses(t):
    experiment = golden(t)
    for status, words in ((0, ('-functions', experiment)), (0, ('--version',)), (0, ('--help',)), (0, ('-help',)),
                          (1, ()), (1, ('-functions',)), (1, ('-functions', 'none.er')), (1, ('-fsingle', 'nobody', experiment)),
                          (1, ('-metrics', 'e.bogus', experiment)), (1, ('-leaks', experiment)), (1, ('-races', experiment)),
                          (2, ('-f', experiment)), (2, ('-nonsense', experiment)), (2, ('-fsingle',)), (2, ('--color=blue', experiment)),
                          (3, ('-script', 'none', experiment))):
        printed(t, *words, status=status)
    # One good experiment is enough; the other is named on stderr.
    result = printed(t, '-functions', experiment, 'none.er', status=1)
    t.check('<Total>' in result.out and 'none.er' in result.err, 'goes on with the good one')


@test
def messages(t):
    experiment = golden(t)
    for text, words in (('Ambiguous command: -f', ('-f', experiment)), ('did you mean functions', ('-functoins', experiment)),
                        ('Invalid command: -zzz', ('-zzz', experiment)), ('No heap data: record it with helio collect -H on', ('-leaks', experiment)),
                        ('No I/O data: record it with helio collect -i on', ('-iostat', experiment)),
                        ('Data races are not recorded: compilers find them', ('-races', experiment)),
                        ('No OpenMP data: record it with helio collect --openmp on', ('-regions', experiment)), ('-s on', ('-deadlocks', experiment)), ('-h instructions', ('-ifreq', experiment)),
                        ('did you mean user?', ('-metrics', 'e.usr', experiment)),
                        ('e.heapallocbytes (no heap data: record it with helio collect -H on)', ('-metrics', 'e.heapallocbytes', experiment)),
                        ('e.sync (no synchronization data: record it with helio collect -s on)', ('-sort', 'e.sync', experiment)),
                        ('i.hwc (no counters: record some with helio collect -h)', ('-metrics', 'i.hwc', experiment)),
                        ("source file has the name `mian': did you mean main?", ('-source', 'mian', experiment)),
                        ("name `zzzzzz': `functions' and `lines' list them", ('-disasm', 'zzzzzz', experiment)),
                        ('There is no index object treads: did you mean Threads?', ('-indxobj', 'treads', experiment)),
                        ('There is no memory object zzzzzz: mobj_list lists them', ('-memobj', 'zzzzzz', experiment)),
                        ('There is no index object mine: indxobj_list', ('-indxobj_define', 'mine', '1 +', '-mine', experiment)),
                        ('it begins the names app::', ('-fsingle', 'app::', experiment)), ('did you mean main?', ('-fsingle', 'mian', experiment)),
                        ('it is part of the names app::Worker::run', ('-fsingle', 'worker', experiment)),
                        ("`zzzzzz' found: `functions' lists them", ('-csingle', 'zzzzzz', experiment)),
                        ('golden.1.er was taken as the argument of -scc CLASS', ('-scc', experiment)),
                        ('was taken as the argument of -sthresh PERCENT', ('-sthresh', 'some.erg')),
                        ('as in FNAME("main") IN STACK', ('-filters', 'FNAME("main")', experiment)),
                        ('as in LNAME("a.c:1") IN STACKL', ('-filters', 'LNAME("a.c:1") && 1', experiment)),
                        ('no event is chosen', ('-filters', 'THRID == 977', experiment)), ('no event is chosen', ('-thread_select', '977', experiment)),
                        ('did you mean -depth, an option of calltree?', ('-calltree', '-deph', '3', experiment)),
                        ('did you mean functions?', ('-calltree', '-functoins', experiment)),
                        ('did you mean app?', ('-object_hide', 'ap', experiment)),
                        ('one experiment is open', ('-compare', 'delta', experiment)),
                        ('there is no machine model', ('-machinemodel', '-limit', '2', experiment)),
                        ('Missing experiment directory', ('-functions',)),
                        ('No valid experiments loaded; exiting', ('-functions', 'none.er')),
                        ('No data recorded to support metric specification: e.bogus (no metric is called bogus', ('-metrics', 'e.bogus', experiment))):
        result = t.run(t.helio, 'print', *words)
        t.check(text in result.err, f'{words}: {result.err}')
        t.check(text not in result.out, f'{words}: messages are not data')


@test
def scripts(t):
    experiment = golden(t)
    script = t.directory / 'script'
    script.write_text('# a comment\n\n  limit 2\nfunctions too many\nfsingle "app::Worker::run(int)"\nnonsense\n'
                      f'outfile {t.directory}/out\nfunctions\nappendfile "{t.directory}/out"\ncalltree\noutfile -\n'
                      'name short\nquit\nfunctions\n')
    result = printed(t, '-script', script, experiment, status=1)
    t.equal(result.out.count('Functions sorted'), 1, 'function lists on stdout')
    t.check('app::Worker::run(int)\n' in result.out, 'the quoted name')
    t.check('# a comment' in result.err, 'comments are echoed to stderr')
    t.check(f'{script}, line 6: Invalid command: nonsense' in result.err, result.err)
    t.check('line 4: extra arguments' in result.err, result.err)
    written = (t.directory / 'out').read_text()
    t.check('Functions sorted' in written and 'Functions Call Tree' in written, 'outfile, then appendfile')
    # The same from a pipe, without a prompt.
    result = printed(t, '-', experiment, stdin='limit 2\nfunctions\n')
    t.equal(result.out.splitlines()[0], 'Functions sorted by metric: Exclusive Total CPU Time', 'first line')
    t.equal(printed(t, experiment, stdin='functions\n').out.count('<Total>'), 1, 'without any command')


@test
def first_printmode_holds(t):
    lines = printed(t, '-functions', '-printmode', 'json', '-calltree', golden(t)).out.splitlines()
    t.equal([json.loads(line)['command'] for line in lines], ['functions', 'calltree'], 'both are JSON')


@test
def group_files(t):
    golden(t)
    (t.directory / 'all.erg').write_text('#analyzer experiment group\n# comment\ngolden.1.er\n')
    t.equal(len(objects(t, '-experiment_list', 'all.erg')[0]['rows']), 2, 'processes')


@test
def full_disk(t):
    experiment = golden(t)
    if not os.path.exists('/dev/full'):
        raise Skip('no /dev/full')
    result = t.run('sh', '-c', f'"$0" print -functions {experiment} >/dev/full', t.helio)
    t.equal(result.status, 1, 'status')
    t.check('No space left' in result.err, result.err)
    result = t.run('sh', '-c', f'"$0" diff {experiment} {experiment} >/dev/full', t.helio)
    t.equal(result.status, 1, 'status of diff')
    t.check('Cannot write the output: No space left' in result.err, f'diff: {result.err}')


@test
def closed_pipe(t):
    experiment = golden(t)
    result = t.run('sh', '-c', f'"$0" print -fsummary {experiment} 2>/dev/null | head -n 1', t.helio)
    t.equal(result.out, 'Functions sorted by metric: Exclusive Total CPU Time\n', 'head')


# A terminal

def terminal(t, words, steps=(), env=None):
    """Runs helio on a pseudo-terminal. steps: (text to wait for, what to type then). Returns what it wrote."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(t.directory)
        os.execve(t.helio, ['helio', *map(str, words)],
                  {**os.environ, 'TERM': 'xterm', 'HOME': str(t.directory), 'XDG_STATE_HOME': '', 'PAGER': 'cat', **(env or {})})
    seen, begin, steps = b'', 0, list(steps)
    deadline = time.monotonic() + 20 * patience()
    while time.monotonic() < deadline:
        if steps and steps[0][0].encode() in seen[begin:]:
            begin = len(seen)
            os.write(fd, steps.pop(0)[1].encode())
        if not select.select([fd], [], [], 0.05)[0]:
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    else:
        os.kill(pid, 9)
    os.close(fd)
    os.waitpid(pid, 0)
    t.check(not steps, f'waited for {steps[:1]} in vain: {seen[-300:]!r}')
    return seen.decode(errors='replace')


@test
def prompt(t):
    experiment = golden(t)
    prompt_text = '(helio) '
    text = terminal(t, ['print', experiment],
                    ((prompt_text, 'limit 3\n'), (prompt_text, 'callt\t\n'), (prompt_text, 'fsingle mai\t\n'),
                     (prompt_text, 'fsingle helper\n'), ('Enter selection', '2\n'), (prompt_text, 'quit\n')))
    t.check('Functions Call Tree' in text, 'a completed command')
    t.check('PC Address: 1:0x00001040' in text, 'a completed function name')
    t.check('PC Address: 1:0x00001300' in text, 'the chosen helper')
    history = t.directory / '.local/state/helio/print_history'
    t.check('limit' in history.read_text(), 'history')
    other = t.directory / 'state'
    terminal(t, ['print', experiment], ((prompt_text, 'limit 4\n'), (prompt_text, 'exit\n')), {'XDG_STATE_HOME': str(other)})
    t.check((other / 'helio/print_history').exists(), 'XDG_STATE_HOME')


@test
def colours(t):
    experiment = golden(t)
    words = ['print', '-functions', experiment]
    t.check('\033[' in terminal(t, words), 'on a terminal')
    t.check('\033[' not in terminal(t, words, env={'NO_COLOR': '1'}), 'NO_COLOR')
    t.check('\033[' not in terminal(t, ['print', '--color=never', '-functions', experiment]), '--color=never')
    t.check('\033[' not in printed(t, '-functions', experiment).out, 'in a pipe')
    t.check('\033[' in printed(t, '--color=always', '-functions', experiment).out, '--color=always')


@test
def pager(t):
    experiment = golden(t)
    words = ['print', '-functions', experiment]
    env = {'PAGER': 'sed s/^/paged:/'}
    t.check('paged:' in terminal(t, words, env=env), 'on a terminal')
    t.check('paged:' not in terminal(t, ['print', '--no-pager', '-functions', experiment], env=env), '--no-pager')
    t.check('paged:' not in printed(t, '-functions', experiment, env=env).out, 'in a pipe')


# One binary

@test
def subcommands(t):
    helped = t.run(t.helio)
    t.equal((helped.status, 'collect' in helped.out and 'print' in helped.out), (0, True), 'helio alone')
    t.equal(t.run(t.helio, 'help').out, helped.out, 'helio help')
    t.equal(t.run(t.helio, '--help').out, helped.out, 'helio --help')
    t.check('-functions' in t.run(t.helio, 'help', 'print').out, 'helio help print')
    t.check(t.run(t.helio, 'help', 'collect').out, 'helio help collect')
    for word in ('--version', '-V', 'version'):
        t.check(t.run(t.helio, word).out.startswith('heliometer '), word)
    for words, text in ((('pritn',), 'did you mean `print'), (('nonsense',), 'no subcommand'), (('--odd',), 'options follow the subcommand'), (('--hlep',), 'did you mean --help?'),
                        (('help', 'colect'), 'did you mean `collect'), (('record', 'ls'), 'is: helio collect PROGRAM'),
                        (('help', 'annotate'), 'is: helio print -source FUNCTION')):
        result = t.run(t.helio, *words)
        t.equal((result.status, text in result.err, result.out), (2, True, ''), f'{words}: {result.err}')


@test
def metrics_of_callers(t):
    """cmetric_list shows what can be chosen: each available metric once, attributed."""
    experiment = golden(t)
    lists = {name: printed(t, name, experiment).out.split('Available metrics:\n')[1].split() for name in ('-metric_list', '-cmetric_list')}
    listed = {name: [word for word in words if re.fullmatch(r'[eia]\..*', word)] for name, words in lists.items()}
    t.equal(listed['-cmetric_list'], ['a' + word[1:] for word in listed['-metric_list'] if word.startswith('e.')], 'metrics')
    for words, advised in ((('src', '-source', 'nobody', t.helio), '-func'), (('print', '-source', 'nobody', experiment), '`lines\'')):
        t.check(f'{advised} list' in t.run(t.helio, *words).err, f'{words[0]} advises its own commands')


@test
def old_names(t):
    experiment = golden(t)
    for name in ('er_print', 'collect'):
        os.symlink(t.helio, t.directory / name)
    er_print = t.directory / 'er_print'
    t.equal(t.run(er_print, '-functions', experiment).out, printed(t, '-functions', experiment).out, 'er_print')
    result = t.run(t.directory / 'collect', '-o', 'old.1.er', '/bin/true')
    t.equal(result.status, 0, f'collect: {result.err}')
    t.check((pathlib.Path(t.directory) / 'old.1.er').is_dir(), 'the experiment')


@test
def most_resident_bytes(t):
    """The kernel's maximum may lag behind what it says at the same moment: never less than that is printed."""
    experiment = golden(t)
    points = (sample(0, 0, 'start', threads=1), sample(2000000000, 2, 'end', rss_bytes=40960, max_rss_bytes=36864, threads=1))
    write(experiment, 'overview', file_header('overview') + b''.join(points))
    result = printed(t, '-statistics', '1', experiment)
    for label in ('Resident bytes at the end', 'Most resident bytes'):
        t.check(re.search(rf'{label}: 40960\n', result.out), f'{label}: {result.out}')
    row = json.loads(printed(t, '-printmode', 'json', '-statistics', '1', experiment).out)['rows'][0]
    t.equal((row['rss_bytes'], row['max_rss_bytes']), (40960, 40960), 'as JSON')


def names(text):
    """Of the rows of a list or a call tree."""
    return {line.split('+-')[-1].split()[-1] for line in text.splitlines() if re.match('[0-9]', line)}


@test
def commands_of_the_readme(t):
    """What README.md says can be typed works, and what it shows is what comes out but for the numbers."""
    readme = (ROOT / 'README.md').read_text()
    experiment = t.collect(t.target('shares'), '0.2s').experiment
    (t.directory / 'test.1.er').symlink_to(experiment)
    commands = re.findall(r'`helio (print -[^`]*test\.1\.er)`', readme)
    t.check(len(commands) >= 5, f'{commands}')
    for command in commands:
        if '-data_objects' in command:
            result = t.collect(t.target('faulter'), options=('-h', 'page-faults'))
            words = [str(result.experiment) if word == 'test.1.er' else word for word in shlex.split(command)]
        elif '-regions' in command:
            t.run('gcc', '-O1', '-fopenmp', '-o', t.directory / 'ompwork', ROOT / 'tests' / 'targets' / 'ompwork.c')
            result = t.collect(t.directory / 'ompwork')
            words = [str(result.experiment) if word == 'test.1.er' else word for word in shlex.split(command)]
        else:
            words = shlex.split(command)
        result = t.run(t.helio, *words)
        t.equal(result.status, 0, f'helio {command}: {result.err}')
    example = readme.partition('$ helio print -functions -calltree test.1.er\nFunctions')[2].partition('```')[0]
    shown = t.run(t.helio, 'print', '-functions', '-calltree', 'test.1.er').out
    for name in {'a', 'b', 'c', 'd', 'main', '_start', '<Total>'}:
        t.check(name in names(example) and name in names(shown), f'{name}: {names(example)} {names(shown)}')
    for heading in ('Functions sorted by metric', 'Functions Call Tree. Metric'):
        t.check(heading in readme and heading in shown, heading)


@test
def long_lines_of_scripts(t):
    """What is said of a line of megabytes is the beginning of it."""
    experiment = t.collect('true').experiment
    for line in 'x' * 3000000, '"' + 'y' * 3000000, '#' + '\u00e9' * 1500000:
        (t.directory / 'script').write_text(line + '\n')
        result = t.run(t.helio, 'print', '-script', t.directory / 'script', experiment)
        t.check(result.err and len(result.err) < 10000, f'{len(result.err)} characters about {line[:3]}: {result.err[:100]}')
