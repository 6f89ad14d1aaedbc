# SPDX-License-Identifier: Apache-2.0
"""The Java heap: classes, methods and threads whose shares a program knows, and what a collection leaves."""
import math
import re
from collections import Counter

from harness import test
from test_attach import Program
from test_java import SOURCE, jdks, need_agent

APART = 16384  # of the sample, as Objects.java has it
METRICS = ('jalloccnt', 'jallocbytes', 'jlivebytes', 'jkeptbytes')


def compiled(t, name):
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / f'{name}.java').status, 0, 'javac')


def collected(t, java, *flags, options=('-p', 'off', '--java-heap', str(APART)), rounds=10, threads=3):
    result = t.collect(java, *flags, '-cp', t.directory, 'Objects', rounds, threads, options=('-q', *options), status=3)
    t.equal(result.err, '', 'what is said')
    return result.experiment, counted(result.out)


def counted(output):
    """What the program says: {method: (class, objects, bytes)}, {thread: bytes}."""
    methods, threads = {}, {}
    for line in output.splitlines():
        words = line.split()
        if words[0] == 'thread':
            threads[words[1]] = int(words[2])
        else:
            methods[f'Objects.{words[1]}(int)'] = (words[0], int(words[2]), int(words[3]))
    return methods, threads


def rows_of(t, experiment, *commands):
    spec = ':'.join(f'e.{name}' for name in METRICS) + ':name'
    return {row['name']: row for row in t.print(experiment, '-metrics', spec, *commands)[-1]['rows']}


def doubt(objects, size):
    """Five standard errors of the sample, as a part of all."""
    chance = -math.expm1(-size / APART)
    return 5 * math.sqrt((1 - chance) / chance / objects) + 0.005


def check_amounts(t, rows, methods, what):
    for name, (of_class, objects, size) in methods.items():
        row = rows.get(name, {})
        error = doubt(objects, size / objects)
        for metric, expected in (('e.jallocbytes', size), ('e.jalloccnt', objects)):
            value = row.get(metric, 0) / expected
            t.check(abs(value - 1) <= error, f'{what}: {metric} of {name}: {value} of {expected}')
        left = row.get('e.jlivebytes', 0)
        if name == 'Objects.keep(int)':
            t.equal((left, row.get('e.jkeptbytes')), (row.get('e.jallocbytes'),) * 2, f'{what}: what is kept')
        else:
            t.check(left <= 0.01 * size, f'{what}: {left} of {size} bytes of {name} live')


@test()
def by_method(t):
    """What each method has allocated, and what of that is left: interpreted, compiled by either compiler, with all collectors."""
    compiled(t, 'Objects')
    java = t.need('java')
    for flags in (['-Xint'], ['-XX:TieredStopAtLevel=1'], ['-XX:-TieredCompilation', '-Xcheck:jni'], *([f'-XX:+Use{name}GC'] for name in (
            'Serial', 'Parallel', 'G1', 'Z', 'Shenandoah'))):
        if t.run(java, *flags, '-version').status:
            continue  # this build of Java lacks it
        experiment, (methods, _) = collected(t, java, *flags)
        check_amounts(t, rows_of(t, experiment, '-functions'), methods, ' '.join(flags))


@test()
def errors_of_the_sample(t):
    """What chance makes an estimate vary by: as much as the size of the sample says."""
    compiled(t, 'Objects')
    experiment, (methods, _) = collected(t, t.need('java'))
    rows = {row['name']: row for row in t.print(experiment, '-metrics', 'e.~jallocbytes:e.~jalloccnt:name', '-functions')[-1]['rows']}
    all_objects, all_bytes = (sum(of[i] for of in methods.values()) for i in (1, 2))
    for name, (_, objects, size) in methods.items():
        chance = -math.expm1(-size / objects / APART)
        if chance > 0.99:
            continue  # each one is in the sample
        for metric, value, whole in (('e.jallocbytes', size, all_bytes), ('e.jalloccnt', objects, all_objects)):
            expected = math.sqrt((1 - chance) / chance / objects * (1 - value / whole))
            t.ratio(rows[name][f'{metric}~'] / value, expected, 0.6, 1.6, f'{name}: {metric}')


@test()
def by_class_and_thread(t):
    """With each JDK, by class alone and by class of one method; by thread as the machine itself counts."""
    compiled(t, 'Objects')
    for jdk in jdks():
        experiment, (methods, threads) = collected(t, jdk / 'bin/java')
        # not what the machine itself makes below the program's, for lambdas
        expression = '|'.join(re.escape(name) for name in methods)
        own = rows_of(t, experiment, '-filters', f'FNAME("{expression}") SOME IN STACK', '-jclasses')
        for name, (of_class, objects, size) in methods.items():
            t.check(abs(own[of_class]['e.jallocbytes'] / size - 1) <= doubt(objects, size / objects), f'{jdk}: {of_class}: {own[of_class]}, not {size}')
        chosen = rows_of(t, experiment, '-filters', 'JHCLASS IN JCLASS("Objects\\$Item")', '-functions')
        t.equal(chosen['<Total>']['e.jallocbytes'], own['Objects$Item']['e.jallocbytes'], f'{jdk}: filter by class')
        t.equal(chosen['Objects.items(int)']['e.jallocbytes'], own['Objects$Item']['e.jallocbytes'], f'{jdk}: its method')
        by_thread = rows_of(t, experiment, '-jthreads')
        for name, size in threads.items():
            row = next(row for label, row in by_thread.items() if f'({name},' in label)
            t.near(row['e.jallocbytes'], size, f'{jdk}: {name}', relative=0.15)


@test()
def by_another_reader(t):
    """Sums by class, and what became of the objects, by the file alone."""
    compiled(t, 'Objects')
    experiment, _ = collected(t, t.need('java'), '-Xmx64m')
    events = t.read(experiment)['']['traces']['jheaptrace']
    dead = {event['number'] for event in events if event['type'] == 'collected'}
    born = [event for event in events if event['type'] == 'allocation']
    t.check(dead and dead <= {event['number'] for event in born}, 'who dies was born')
    t.equal(len({event['number'] for event in born}), len(born), 'each has a number')
    sums, live = Counter(), Counter()
    for event in born:
        name, size = event['class'].decode(), event['size'] * event['weight']
        for of in (name, '<Total>'):
            sums[of] += size
            live[of] += size * (event['number'] not in dead)
    rows = rows_of(t, experiment, '-jclasses')
    shown = {name: (row['e.jallocbytes'], row['e.jlivebytes']) for name, row in rows.items() if row['e.jallocbytes']}
    t.equal(shown, {name: (sums[name], live[name]) for name in sums}, 'classes')
    shown = t.print(experiment, '-limit', '3', '-jclasses')[-1]
    t.check(all(metric['name'].startswith('e.j') for metric in shown['metrics'] if metric['unit'] != 'text'), f'columns of other kinds of data: {shown["metrics"]}')
    t.equal([row['e.jallocbytes'] for row in shown['rows']], [size for _, size in sums.most_common(3)], 'the classes that most was allocated of, with the sum')
    by_live = t.print(experiment, '-sort', 'e.jlivebytes', '-limit', '3', '-jclasses')[-1]
    t.equal([row['e.jlivebytes'] for row in by_live['rows']], [size for _, size in live.most_common(3)], 'by what is live')
    chosen = t.print(experiment, '-metrics', 'e.jkeptcnt:e.jlivebytes:name', '-jclasses')[-1]
    t.equal([metric['name'] for metric in chosen['metrics']], ['e.jkeptcnt', 'e.jlivebytes', 'name'], 'what was chosen')
    by_fate = [rows_of(t, experiment, '-filters', f'JHFATE == {fate}', '-functions')['<Total>'] for fate in (0, 1, 2)]
    t.equal([row['e.jlivebytes'] for row in by_fate[:1]] + [row['e.jkeptbytes'] for row in by_fate[1:2]], [0, 0], 'dead, and young ones')
    t.equal(sum(row['e.jallocbytes'] for row in by_fate), sums['<Total>'], 'each has one fate')
    t.equal(by_fate[2]['e.jkeptbytes'], rows['<Total>']['e.jkeptbytes'], 'kept')


@test(alone=True)
def attached(t):
    """A machine that runs already, in one recording after the other."""
    compiled(t, 'Allocating')
    with Program(t, t.need('java'), '-cp', t.directory, 'Allocating') as program:
        for number in (1, 2):
            experiment = t.directory / f'attached.{number}.er'
            result = t.run(t.helio, 'attach', '-p', 'off', '--java-heap', '64k', '--for', '3s', '-o', experiment, program.pid)
            t.equal(result.status, 0, f'{number}: {result.err}')
            events = t.read(experiment)['']['traces']['jheaptrace']
            rows = rows_of(t, experiment, '-functions')
            samples = Counter(event['class'] for event in events if event['type'] == 'allocation')
            ratio = rows['Allocating.ints()']['e.jallocbytes'] / rows['Allocating.bytes()']['e.jallocbytes']
            error = 5 * math.sqrt(1 / samples[b'byte[]'] + 1 / samples[b'int[]'])
            t.check(abs(ratio * 1016 / 3016 - 1) <= error, f'{number}: {ratio}, of {samples}')
            t.check(rows['Allocating.ints()']['e.jallocbytes'] + rows['Allocating.bytes()']['e.jallocbytes'] > 0.99 * rows['<Total>']['e.jallocbytes'], f'{number}: {rows}')
        t.equal(program.end(), (0, 'done\n'), 'status and output')


@test()
def native_heap_is_apart(t):
    """-H on has both; a sample of the one is a sample of the other; --java-heap off is without."""
    compiled(t, 'Objects')
    java = t.need('java')
    for options, param, native in ((['-H', 'on'], '524288', True), (['-H', 'sample=64k'], '65536', True), (['--java-heap', '64k'], '65536', False),
                                   (['--java-heap', 'off', '-H', 'on'], None, True), (['-j', 'off', '-H', 'on'], None, True)):
        experiment, (methods, _) = collected(t, java, options=('-p', 'off', *options), rounds=4)
        words = f'{" ".join(options)}: '
        t.equal((experiment / 'jheaptrace').exists(), bool(param), f'{words}file')
        t.equal((experiment / 'heaptrace').exists(), native, f'{words}native file')
        header = t.run(t.helio, 'print', '-header', experiment).out
        t.equal(re.findall(r'Java heap: a sample, one in (\d+) bytes', header), [param] if param else [], f'{words}header')
        if param:
            total = rows_of(t, experiment, '-functions')['Objects.large(int)']['e.jallocbytes']
            t.near(total, methods['Objects.large(int)'][2], f'{words}bytes', relative=0.3)


@test()
def of_a_program_without_java(t):
    result = t.collect(t.target('heap'), options=('-p', 'off', '-H', 'on'))
    t.check(not (result.experiment / 'jheaptrace').exists(), 'a file')
    lacks = t.run(t.helio, 'print', '-metrics', 'e.jallocbytes:name', '-functions', result.experiment)
    t.check('helio collect --java-heap on' in lacks.err, f'what records it: {lacks.err}')
