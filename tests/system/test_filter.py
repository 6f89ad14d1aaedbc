# SPDX-License-Identifier: Apache-2.0
"""
Filters, selections and index objects over an experiment whose every event is known: random expressions against a
slow evaluator (tests/reader/filter_reference.py), the grammar case by case, and every view under a filter.
"""
import json
import pathlib
import random
import re
import sys

from harness import test

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'golden'), str(HERE.parent / 'reader')]
import filter_reference as ref  # noqa: E402
import make_experiment as golden  # noqa: E402
from make_golden import STATE, Events, file_header, packed, sample, write  # noqa: E402

FUNCTIONS = ('_start', 'main', 'A', 'B', 'C', 'E', 'F', 'fib', 'helper')
SAMPLES = (0, 40000, 90000, 200000)  # µs
PROCESSES = (('', 1, 12, (1, 2, 3)), ('_f1', 2, 13, (1, 2)))  # lineage, EXPID, PID, threads


def random_stack(rng):
    return ('_start',) + tuple(rng.choice(FUNCTIONS[1:]) for _ in range(rng.randrange(1, 7)))


def random_thread(rng, expid, pid, thread, stacks):
    """Events as properties, in the order of time."""
    time, events, cpu = rng.randrange(1000), [], None
    for _ in range(rng.randrange(40, 90)):
        weight = rng.choice((1, 7, 500, 1000, 10007, rng.randrange(1, 3000)))
        time += weight
        if rng.random() < 0.2:
            cpu = rng.randrange(4)
        later = [number for number, point in enumerate(SAMPLES) if point >= time]
        sampled = later and later[0] and expid == 1
        events.append({
            'TSTAMP': time * 1000, 'TSTAMP_LO': (time - weight) * 1000, 'EVT_TIME': weight * 1000, 'NTICK_USEC': weight,
            'THRID': thread, 'LWPID': 100 * expid + thread, 'CPUID': cpu, 'EXPID': expid, 'EXPGRID': 1, 'PID': pid,
            'MSTATE': rng.choice((0, 0, 0, 1, 6, 7, 8)), 'SAMPLE': later[0] if sampled else None,
            'NTICK': max(1, (weight + 5003) // 10007), 'HSIZE': None, 'STACK': rng.choice(stacks)})
    return events


def make(t, seed):
    """The experiment and its events."""
    rng = random.Random(seed)
    golden.make(str(t.directory))
    path = t.directory / 'golden.1.er'
    stacks = [random_stack(rng) for _ in range(40)]
    names = {number: name for name, number in STATE.items()}
    everything = []
    for lineage, expid, pid, threads in PROCESSES:
        directory = path / f'{lineage}.er' if lineage else path
        tree, blocks = golden.Tree(), b''
        for thread in threads:
            events = random_thread(rng, expid, pid, thread, stacks)
            out, cpu = Events().thread(thread, 100 * expid + thread, 0), None
            for event in events:
                if event['CPUID'] != cpu:
                    cpu = event['CPUID']
                    out.cpu(cpu)
                out.event(event['TSTAMP'] // 1000, event['NTICK_USEC'], names[event['MSTATE']], tree.node(event['STACK']))
            blocks += out.end(events[-1]['TSTAMP'] // 1000).block()
            everything += events
        write(directory, 'profile', file_header('profile') + blocks)
        write(directory, 'stacks', file_header('stacks') + packed(1, tree.nodes))
        points = SAMPLES if expid == 1 else ()
        write(directory, 'overview', file_header('overview') + b''.join(sample(point * 1000, 1, 'p') for point in points))
    return path, everything


def some_number(rng, name, events):
    """A value near those that a property has."""
    values = [event[name] for event in events if event[name] is not None] or [3]
    return ref.Number((rng.choice(values) + rng.choice((0, 0, 1, -1))) & ref.MASK, rng)


NAMES = ('TSTAMP', 'TSTAMP_LO', 'EVT_TIME', 'NTICK_USEC', 'NTICK', 'THRID', 'LWPID', 'CPUID', 'EXPID', 'EXPGRID', 'PID',
         'MSTATE', 'SAMPLE', 'HSIZE')
PATTERNS = ('A', 'B|C', 'main', '[A-F]', '.*', 'nothing', 'h.*', '_start', 'fib|E')


def random_stack_question(rng):
    form = rng.choice(('leaf in', 'leaf ==', 'in', 'in', 'some', 'ordered', 'ordered', 'all of', 'stack some'))
    patterns = [rng.choice(PATTERNS) for _ in range(1 if form == 'leaf ==' else rng.choice((1, 1, 2, 3)))]
    return ref.Stack(form, patterns, [{name for name in FUNCTIONS if re.fullmatch(pattern, name)} for pattern in patterns])


def random_expression(rng, events, depth):
    kind = rng.randrange(12) if depth else rng.randrange(4)
    name = rng.choice(NAMES)

    def inner():
        return random_expression(rng, events, depth - 1)
    if kind < 2:
        return ref.Property(name, rng)
    if kind < 4:
        return ref.Binary(rng.choice(('==', '!=', '<', '>', '<=', '>=')), ref.Property(name, rng), some_number(rng, name, events))
    if kind < 6:
        return ref.Binary(rng.choice(('&&', '||')), inner(), inner())
    if kind == 6:
        return ref.Binary(rng.choice(tuple(ref.BINARY)), inner(), inner())
    if kind == 7:
        return ref.Unary(rng.choice('-!~'), inner())
    if kind == 8:
        return ref.Choice(inner(), inner(), inner())
    if kind == 9:
        left = [ref.Property(name, rng) if rng.random() < 0.7 else inner() for _ in range(rng.choice((1, 1, 2)))]
        right = [some_number(rng, name, events) if rng.random() < 0.8 else inner() for _ in range(rng.randrange(1, 5))]
        return ref.Membership(rng.choice(ref.MEMBERSHIPS), left, right, bare=rng.random() < 0.5)
    return ref.Has(name, rng) if kind == 10 else random_stack_question(rng)


def sums(events, key):
    """{key: µs of all states}, without those of 0."""
    result = {}
    for event in events:
        for name in key(event):
            result[name] = result.get(name, 0) + event['NTICK_USEC']
    return result


def rows_of(listing, metric):
    return {row['name']: round(row[metric] * 1e6) for row in listing['rows'] if row[metric]}


def check_functions(t, listing, events, what):
    rows = rows_of(listing, 'i.total')
    t.equal(rows.pop('<Total>', 0), sum(event['NTICK_USEC'] for event in events), f'{what}: <Total>')
    t.equal(rows, sums(events, lambda event: set(event['STACK'])), f'{what}: functions')


@test
def random_expressions(t):
    """400 of them: what each lets through, function by function."""
    path, events = make(t, 1)
    rng = random.Random(2)
    expressions = [random_expression(rng, events, rng.randrange(1, 5)) for _ in range(400)]
    script = t.directory / 'filters.txt'
    texts = [expression.text() for expression in expressions]
    script.write_text('metrics i.total:name\nprintmode json\n'
                      + ''.join(f"filters '{text}'\nfunctions\n" for text in texts))
    listings = [o for o in t.print(path, '-script', str(script)) if o['command'] == 'functions']
    t.equal(len(listings), len(texts), 'answers')
    chosen = 0
    for expression, text, listing in zip(expressions, texts, listings):
        kept = [event for event in events if expression.value_of(event)]
        check_functions(t, listing, kept, text)
        chosen += 0 < len(kept) < len(events)
    t.check(chosen > 150, f'only {chosen} of the expressions choose some events and not all')


def kept_share(t, path, expression):
    """Events let through, told by the total of NTICK_USEC; None: the expression is refused."""
    result = t.run(t.helio, 'print', '-printmode', 'json', '-metrics', 'e.total:name', '-filters', expression, '-limit', '1',
                   '-functions', path)
    if 'Invalid filter' in result.err:
        return None
    total = re.search(r'"e.total": ?([0-9.e-]+)', result.out)
    return round(float(total.group(1)) * 1e6) if total else result.err


@test
def grammar(t):
    """C precedence, forms of numbers, lists with and without parentheses."""
    path, events = make(t, 3)
    everything = sum(event['NTICK_USEC'] for event in events)
    for expression in ('1+2*3==7', '1==1 || 1==1 && 1==0', '2+3<<1==10', '1|2==2', '!0&&~0', ' -1>0', '0x10==16&&010==8',
                       'true', ' TRUE ', '', '5-2-1==2', '7/2*2==6', '7%4==3', '0?0:0||1?1:0', '1==1?2?3:0:0',
                       '3 IN 1,2,3', '(1,2) IN (3,2,1)', '1,9 SOME IN 4,9', '(2,3) ORDERED IN 1,2,3', '!(3,2 ORDERED IN 1,2,3)',
                       '!((1,5) IN 1,2,3)', '0 || HSIZE || 1', '!(0 && HSIZE)', '1 << 64 == 0', '18446744073709551615+1==0',
                       '3 IN (1,2,3) == 1', '(3 IN 1,2,3) && 1', 'TSTAMP<=tstamp', 'LEAF SOME IN FNAME(".*")', '(' * 400 + '1' + ')' * 400,
                       ' + '.join('1' for _ in range(20000)) + ' == 20000'):
        t.equal(kept_share(t, path, expression), everything, expression[:80])
    for expression in ('0', 'FALSE', '!1', '1/0', '1%0 || 0', 'HSIZE', '!HSIZE', 'HSIZE == HSIZE', 'HSIZE > 0 && 1', 'HAS_PROP(HSIZE)',
                       'FNAME("nothing") IN STACK', 'FNAME("mai") SOME IN STACK', 'FNAME("MAIN") SOME IN STACK', '3 IN 1,2',
                       'DNAME("x") IN DOBJ', 'DOBJ == DNAME(".*")', '1 ORDERED IN DNAME("x")'):
        t.equal(kept_share(t, path, expression), 0, expression)


@test
def wrong_expressions(t):
    """Refused, with the place marked; the filter before stays."""
    path, _ = make(t, 4)
    for expression, column, reason in (
            ('1 +', 4, 'missing at the end'), ('1 2', 3, 'operator'), ('(1', 3, "')'"), ('THRID = 3', 7, '=='), ('TSTMP > 5', 1, 'TSTAMP'),
            ('1 < 2 < 3', 7, 'chain'), ('08', 2, 'octal'), ('0x', 1, '0x'), ('99999999999999999999', 1, '64 bits'), ('12ab', 3, 'decimal'),
            ('FNAME(main)', 7, 'string'), ('FNAME("main)', 7, 'closing'), ('FNAME("(") IN STACK', 1, 'regular expression'),
            ('STACK > 5', 1, 'no number'), ('1 + STACK', 5, 'no number'), ('THRID IN STACK', 7, 'nothing in common'), ('(1,2)', 2, 'list'),
            ('1,2 && 3', 1, 'list'), ('THRID SOME 3', 12, 'IN'), ('LEAF IN STACK', 6, 'depend'), ('HAS_PROP(X)', 10, 'no property'),
            ('$', 1, 'means nothing'), ('FROB("x") IN STACK', 1, 'no property'), ('(' * 2000 + '1', 1001, 'deeply')):
        result = t.run(t.helio, 'print', '-filters', 'THRID==1', '-filters', expression, '-filters', path)
        lines = result.err.splitlines()
        at = next((i for i, line in enumerate(lines) if 'Invalid filter' in line), None)
        t.check(at is not None, f'{expression}: {result.err}')
        t.check(f'(column {column})' in lines[at] and reason in lines[at], f'{expression}: {lines[at]}')
        if len(expression) < 50:
            t.equal(lines[at + 1:at + 3], [f'  {expression}', ' ' * (column + 1) + '^'], 'the place')
        t.check(result.out.endswith('current filter setting: "THRID==1"\n'), f'{expression}: {result.out}')
        t.equal(result.status, 1, 'status')


@test
def all_views(t):
    """Callers and callees, the call tree and the load objects, too, hold only what the filter lets through."""
    path, events = make(t, 5)
    expression = 'THRID == 2 || FNAME("fib") SOME IN STACK'
    kept = [event for event in events if event['THRID'] == 2 or 'fib' in event['STACK']]
    listings = {o['command']: o for o in t.print(path, '-metrics', 'e.total:i.total:name', '-filters', expression, '-functions',
                                                 '-callers-callees', '-calltree')}
    check_functions(t, listings['functions'], kept, 'functions')
    total = sum(event['NTICK_USEC'] for event in kept)
    t.equal(round(listings['calltree']['rows'][0]['a.total'] * 1e6), total, 'calltree')
    first = {event['STACK'][:2] for event in kept}
    t.equal(sum(row['depth'] == 2 for row in listings['calltree']['rows']), len(first), 'children of _start')
    cleared = t.print(path, '-metrics', 'i.total:name', '-filters', expression, '-filters', 'TRUE', '-functions')[-1]
    check_functions(t, cleared, events, 'cleared')


@test
def selections(t):
    """The old lists, which go together with the filter."""
    path, events = make(t, 6)

    def kept(*commands):
        return t.print(path, '-metrics', 'i.total:name', *commands, '-functions')[-1]
    for command, name in (('thread', 'THRID'), ('lwp', 'LWPID'), ('cpu', 'CPUID'), ('sample', 'SAMPLE')):
        for text, chosen in (('1', {1}), ('1-2', {1, 2}), ('1,3-5', {1, 3, 4, 5}), ('101,201', {101, 201})):
            check_functions(t, kept(f'-{command}_select', text), [e for e in events if e[name] in chosen], f'{command} {text}')
    check_functions(t, kept('-thread_select', '1:1-2+2:2', '-filters', 'MSTATE == 0'),
                    [e for e in events if e['MSTATE'] == 0 and (e['EXPID'], e['THRID']) in ((1, 1), (1, 2), (2, 2))], 'by experiment')
    check_functions(t, kept('-thread_select', '1', '-cpu_select', '2', '-thread_select', 'all'),
                    [e for e in events if e['CPUID'] == 2], 'all')
    for text in ('', '1-', 'x', '1,,2', '1:', '3+', '1;2'):
        result = t.run(t.helio, 'print', '-thread_select', text, path)
        t.check(result.status == 1 and 'Invalid list' in result.err, f'{text}: {result.err}')
    listing = t.print(path, '-cpu_list')[-1]['rows']
    t.equal([row['total'] for row in listing],
            [len({e['CPUID'] for e in events if e['EXPID'] == expid} - {None}) for expid in (1, 2)], 'processors')


LABELS = {
    'threads': lambda e: f'Process {e["EXPID"]}, Thread {e["THRID"]} (tid {e["LWPID"]})',
    'cpus': lambda e: '<Unknown>' if e['CPUID'] is None else f'CPU {e["CPUID"]}',
    'samples': lambda e: '<Unknown>' if e['SAMPLE'] is None else f'Process {e["EXPID"]}, Sample {e["SAMPLE"]}',
    'seconds': lambda e: f'Second of execution {e["TSTAMP"] // 10 ** 9}',
    'processes': lambda e: f'Process {e["EXPID"]} (app, pid {e["PID"]})',
    'experiment_ids': lambda e: 'golden.1.er' + ('' if e['EXPID'] == 1 else '/_f1.er'),
    'datasize': lambda e: '<Unknown>',
    'duration': lambda e: next(f'Duration up to {text}' for limit, text in (
        (1000, '1 microseconds'), (10000, '10 microseconds'), (100000, '100 microseconds'), (10 ** 6, '1 milliseconds'), (10 ** 7, '10 milliseconds'),
        (10 ** 8, '100 milliseconds')) if e['EVT_TIME'] <= limit),
    'mine': lambda e: '<Unknown>' if e['CPUID'] is None else f'My groups {e["CPUID"] * 10 + e["THRID"]}',
    'each': lambda e: f'each {e["TSTAMP"]}',
}


@test
def index_objects(t):
    """Each row against the events, with and without a filter."""
    path, events = make(t, 7)
    commands = ('-indxobj_define', 'mine', 'CPUID * 10 + THRID', 'My groups', '-indxobj_define', 'each', 'TSTAMP',
                '-metrics', 'e.total:name', *(f'-{name}' for name in LABELS))
    for expression, kept in (('TRUE', events), ('THRID == 2', [e for e in events if e['THRID'] == 2])):
        listings = t.print(path, '-filters', expression, *commands)[-len(LABELS):]
        for (name, label), listing in zip(LABELS.items(), listings):
            rows = rows_of(listing, 'e.total')
            t.equal(rows.pop('<Total>'), sum(e['NTICK_USEC'] for e in kept), f'{name}: <Total>')
            t.equal(rows, sums(kept, lambda e: (label(e),)), name)
            by_value = name in ('samples', 'seconds', 'datasize', 'duration', 'each')
            values = [row['value'] if by_value else row['e.total'] for row in listing['rows'][1:] if row['value'] is not None or not by_value]
            t.check(values == sorted(values, reverse=not by_value), f'{name}: not sorted')
    listing = t.print(path, '-metrics', 'e.total:name', '-sort', 'name', '-cpus')[-1]
    t.equal([row['name'] for row in listing['rows']], ['<Total>', 'CPU 0', 'CPU 1', 'CPU 2', 'CPU 3', '<Unknown>'], 'order of the index')
    for words, reason in ((('3x', '1'), 'name'), (('CPUs', '1'), 'there already'), (('functions', '1'), 'a command'), (('x', '1 +'), 'missing')):
        result = t.run(t.helio, 'print', '-indxobj_define', *words, path)
        t.check(result.status == 1 and reason in result.err, f'{words}: {result.err}')


def generated(t, events):
    path = t.directory / 'large.er'
    t.run(t.build / 'bench' / 'helio-generate', '-e', events, '-t', 3, '-d', 1, '-T', t.directory / 'truth.json', path)
    return path, json.loads((t.directory / 'truth.json').read_text())['processes']


@test
def large(t):
    """Over many chunks and blocks, against what the generator says that it wrote."""
    path, processes = generated(t, 300000)
    questions = [(f'EXPID == {expid} && THRID == {process["threads"][1]["number"]} && MSTATE == {number}', process['threads'][1][state])
                 for expid, process in enumerate(processes, 1) for number, state in ((0, 'user'), (1, 'system'), (7, 'sleep'))]
    words = [word for expression, _ in questions for word in ('-filters', expression, '-functions')]
    listings = [o for o in t.print(path, '-metrics', 'e.total:name', '-limit', '1', *words) if o['command'] == 'functions']
    for (expression, truth), answer in zip(questions, listings, strict=True):
        t.equal(round(answer['rows'][0]['e.total'] * 1e6), truth, expression)
    listing = t.print(path, '-metrics', 'e.total:name', '-threads')[-1]['rows'][1:]
    t.equal(sorted(round(row['e.total'] * 1e6) for row in listing),
            sorted(sum(thread[state] for state in STATE) for process in processes for thread in process['threads']), 'threads')


@test
def many_values(t):
    """Index objects with more values than the cache holds, each once, or many times, in any order; the first ones of them."""
    golden.make(str(t.directory))
    path, everything, blocks = t.directory / 'golden.1.er', [], b''
    tree = golden.Tree()
    node, rng = tree.node(('_start', 'main')), random.Random(11)
    for thread in (1, 2, 3):
        out, time = Events().thread(thread, 100 + thread, 0), 0
        for _ in range(50000):
            weight = rng.randrange(1, 9)
            time += weight
            out.event(time, weight, 'user', node)
            everything.append((time * 1000, weight))
        blocks += out.end(time).block()
    write(path, 'profile', file_header('profile') + blocks)
    write(path, 'stacks', file_header('stacks') + packed(1, tree.nodes))
    for expression, value_of in (('TSTAMP', lambda time: time), ('TSTAMP * 7919 % 40009', lambda time: time * 7919 % 40009)):
        truth = {}
        for time, weight in everything:
            truth[value_of(time)] = truth.get(value_of(time), 0) + weight
        t.check(len(truth) > 35000, f'{len(truth)} values')
        order = sorted(truth, key=lambda value: (-truth[value], value))
        for limit, metric, expected in ((0, 'e.total', order), (50, 'e.total', order[:49]), (50, '-e.total', sorted(truth, key=lambda v: (truth[v], v))[:49]),
                                        (50, 'name', sorted(truth)[:49]), (1, 'e.total', [])):
            for threads in ('1', '3'):
                result = t.run(t.helio, 'print', '-printmode', 'json', '-filters', 'EXPID == 1', '-indxobj_define', 'each', expression, '-metrics', 'e.total:name', '-sort', metric,
                               '-limit', limit, '-each', path, env={'HELIO_THREADS': threads, 'HELIO_CACHE': 'off'})
                rows = json.loads(result.out.splitlines()[-1])['rows']
                t.equal(round(rows[0]['e.total'] * 1e6), sum(truth.values()), 'total')
                t.equal([(row['value'], round(row['e.total'] * 1e6)) for row in rows[1:]], [(value, truth[value]) for value in expected],
                        f'{expression} by {metric}, limit {limit}')


@test
def any_number_of_threads(t):
    """The same answers, to the last digit, by one thread as by several: of samples, of every kind of trace, compared."""
    path, _ = generated(t, 20000)
    traced = t.collect('sh', '-c', 'ls -l /usr/bin | sort | tail -n 3; cat /etc/passwd', options=('-p', '1', '-i', 'on', '-H', 'on', '-s', 'all')).experiment
    views = ('-functions', '-calltree', '-threads', '-seconds', '-duration', '-datasize', '-indxobj_define', 'moments', 'TSTAMP / 1000000', '-limit', '2000', '-moments', '-limit', '0')
    questions = ((path, '-metrics', 'e.~user:i.total:name', '-filters', 'CPUID != 1 && TSTAMP % 3000 < 2000', *views),
                 (traced, *views, '-locks', '-ioactivity', '-iodetail', '-iocallstack', '-iostat', '-allocs', '-leaks', '-heapstat', '-lines', '-report'),
                 (traced, path, '-compare', 'delta', *views))
    for experiment, *words in questions:
        answers = [t.run(t.helio, 'print', '-printmode', 'json', *words, experiment, env={'HELIO_CACHE': 'off', 'HELIO_THREADS': number})
                   for number in ('1', '2', '3', '7')]
        t.equal((answers[0].status, answers[0].out.count('{"command"') > 5), (0, True), answers[0].err)
        for answer in answers[1:]:
            t.check(answer.out == answers[0].out, f'{words[:2]}: the answers differ')


TRACED = (
    ('IONBYTE > 100', lambda e: e['bytes'] > 100),
    ('IOTYPE == 0 && IOFD == 3', lambda e: e['descriptor'] == 4),
    ('IOTYPE IN 1,2,3,4', lambda e: False),
    ('EVT_TIME > 3000 && EVT_TIME == TSTAMP - IORQST', lambda e: e['waited_ns'] > 3000),
    ('HSIZE == 1 || IONBYTE % 2', lambda e: e['bytes'] % 2),
    ('IOHEAPBYTES IN 832,4096', lambda e: e['bytes'] in (832, 4096)),
    ('RESULT == 0 && !HAS_PROP(MSTATE)', lambda e: True),
    ('STYPE == 0 || SOBJ', lambda e: False),
)


@test
def traced_properties(t):
    """Of I/O and of waits for locks, as the second reader has them."""
    result = t.collect('sh', '-c', 'ls -l /usr/bin | sort | tail -n 3; cat /etc/passwd /etc/os-release', options=('-p', 'off', '-i', 'on'))
    events = [event for process in t.read(result.experiment).values() for event in process['traces'].get('iotrace', ())
              if event['type'] == 'read' and not event['errno']]
    words = [word for expression, _ in TRACED for word in ('-filters', expression, '-functions')]
    listings = [o for o in t.print(result.experiment, '-metrics', 'e.ioreadcnt:e.ioreadbytes:name', '-limit', '1', *words) if o['command'] == 'functions']
    for (expression, holds), listing in zip(TRACED, listings, strict=True):
        kept = [event['bytes'] for event in events if holds(event)]
        row = listing['rows'][0]
        t.equal((row['e.ioreadcnt'], row['e.ioreadbytes']), (len(kept), sum(kept)), expression)
    t.check(len(events) > 10, f'{len(events)} reads')
    result = t.collect(t.target('locks'), options=('-p', 'off', '-s', 'all'))
    events = [event for process in t.read(result.experiment).values() for event in process['traces']['synctrace']]
    address = max({event['object'] for event in events}, key=lambda number: sum(event['object'] == number for event in events))
    listings = [o for o in t.print(result.experiment, '-metrics', 'e.syncn:name', '-limit', '1', '-filters', 'STYPE == 0', '-functions',
                                   '-filters', f'SOBJ == {address:#x}', '-functions') if o['command'] == 'functions']
    t.equal([listing['rows'][0]['e.syncn'] for listing in listings],
            [sum(event['type'] == 'mutex' for event in events), sum(event['object'] == address for event in events)], 'waits')


def totals(t, experiment, metric, expressions):
    """The metric of <Total> under each expression."""
    words = [word for expression in expressions for word in ('-filters', expression, '-functions')]
    listings = t.print(experiment, '-metrics', f'{metric}:name', '-limit', '1', *words)
    return [o['rows'][0][metric] for o in listings if o['command'] == 'functions']


@test
def files(t):
    """By file and by opening of a descriptor, against the events' own names."""
    result = t.collect('sh', '-c', 'cat /etc/passwd /etc/os-release /etc/passwd; cat /etc/passwd', options=('-p', 'off', '-i', 'on'))
    events = [event for process in t.read(result.experiment).values() for event in process['traces'].get('iotrace', ())
              if event['type'] == 'read' and not event['errno']]
    named = {name: sum((event['name'] or b'').decode() == name for event in events) for name in ('/etc/passwd', '/etc/os-release')}
    t.check(named['/etc/passwd'] > named['/etc/os-release'] > 0, f'reads: {named}')
    both = sum(named.values())
    detail = [o for o in t.print(result.experiment, '-metrics', 'e.ioreadcnt:name', '-iodetail') if o['command'] == 'iodetail'][0]
    openings = {int(match[1]): row['e.ioreadcnt'] for row in detail['rows']
                if (match := re.fullmatch(r'/etc/passwd \(IOVFD=(\d+), FD=\d+, Process \d+\)', row['name']))}
    t.equal(len(openings), 3, 'openings of /etc/passwd')
    t.equal(sum(openings.values()), named['/etc/passwd'], 'reads of /etc/passwd')
    questions = {'IOVFD IN FILEIOVFD("/etc/passwd")': named['/etc/passwd'], 'IOVFD IN FILEIOVFD("/etc/(passwd|os-release)")': both,
                 'FILEIOVFD("/etc/os.*") SOME IN IOVFD': named['/etc/os-release'], 'FILEIOVFD("/etc/.*") IN IOVFD': 0,
                 'IOVFD IN (FILEIOVFD("/etc/passwd"), FILEIOVFD("/etc/os-release"))': both, 'IOVFD IN FILEIOVFD("passwd")': 0,
                 **{f'IOVFD == {number}': reads for number, reads in openings.items()}}
    t.equal(totals(t, result.experiment, 'e.ioreadcnt', questions), list(questions.values()), 'reads')
    listing = t.print(result.experiment, '-metrics', 'e.ioreadcnt:name', '-indxobj_define', 'files', 'IOFNAME', '-files', '-ioactivity')[-2:]
    t.equal(*(sorted(row['e.ioreadcnt'] for row in o['rows']) for o in listing), 'reads by IOFNAME')
    refused = t.run(t.helio, 'print', '-filters', 'IOVFD IN FILEIOVFD("[")', result.experiment)
    t.check(refused.status == 1 and 'no regular expression' in refused.err, refused.err)


def replay(events):
    """(type, change of the live bytes, live bytes, bytes left for ever so far) of heap events; None for what allocates nothing."""
    blocks, live, course = {}, 0, []
    for number, event in enumerate(events):
        change, allocates = 0, event['type'] in ('malloc', 'calloc', 'realloc', 'aligned') and event['address'] != 0
        if event['type'] == 'free' or allocates:
            change = -blocks.pop(event['address'], (0, 0))[0]
        if allocates:
            change += event['size']
            blocks[event['address']] = event['size'], number
        live += change
        course.append((allocates, change, live, event['size']))
    left, lost, whole = {number for _, number in blocks.values()}, 0, []
    for number, (allocates, change, live, size) in enumerate(course):
        lost += size if number in left else 0
        whole.append((allocates, change, live, lost))
    return whole


@test
def memory_in_use(t):
    """What the process had allocated at each event, by a replay."""
    for target, left in (('heap', False), ('leaks', True)):
        experiment = t.collect(t.target(target), options=('-p', 'off', '-H', 'on')).experiment
        course = replay(sorted(t.read(experiment)['']['traces']['heaptrace'], key=lambda event: event['time']))
        middle, lost = sorted(live for _, _, live, _ in course)[len(course) // 2], course[-1][3]
        questions = {f'HMEM_USAGE > {middle}': lambda change, live, leaks, middle=middle: live > middle,
                     f'HCUR_ALLOCS <= {middle} && HTYPE != 3': lambda change, live, leaks, middle=middle: live <= middle,
                     'HCUR_NET_ALLOC == 1000': lambda change, live, leaks: change == 1000,
                     'HCUR_NET_ALLOC > 1 << 63': lambda change, live, leaks: change < 0,
                     f'HCUR_LEAKS * 2 > {lost}': lambda change, live, leaks, lost=lost: 2 * leaks > lost}
        expected = [sum(holds(*values) for allocates, *values in course if allocates) for holds in questions.values()]
        t.check(expected[0] > 5 and bool(lost) == left, f'{target}: {expected}, {lost} left')
        t.equal(totals(t, experiment, 'e.heapalloccnt', questions), expected, f'{target}: allocations')


@test
def instructions(t):
    """VIRTPC: every event at one address, and none at the others of its function."""
    result = t.collect(t.target('flat'), '0.3s')
    rows = [row for row in t.print(result.experiment, '-metrics', 'e.totalcpu:address:name', '-pcs')[-1]['rows'][1:] if row['e.totalcpu']]
    values = {row['value']: row['e.totalcpu'] for row in t.print(
        result.experiment, '-metrics', 'e.totalcpu:name', '-indxobj_define', 'at', 'VIRTPC', '-at')[-1]['rows'][1:] if row['e.totalcpu']}
    t.equal(sorted(values.values()), sorted(row['e.totalcpu'] for row in rows), 'times by instruction')


@test
def without_data(t):
    """A word that no event has says which option records it, and chooses nothing."""
    experiment = t.collect(t.target('flat'), '0.1s').experiment
    for expression, said in (('HSIZE > 1', 'HSIZE: no heap data (helio collect -H on)'), ('SOBJ > 1', '-s on'), ('IOFD == 1', '-i on'),
                             ('IOVFD IN FILEIOVFD(".*")', '-i on'), ('IOHEAPBYTES > 0', '-H on), no I/O data (helio collect -i on)'),
                             ('VADDR > 1', 'page-faults'), ('HWCINT > 1', '-h on'), ('PADDR > 1', 'root only'), ('LNAME("x.c:1") IN STACKL', 'FILE:LINE'),
                             ('OMPSTATE == 1', 'no OpenMP data (helio collect --openmp on)'), ('DNAME("x") SOME IN IOFD', 'DNAME')):
        result = t.run(t.helio, 'print', '-printmode', 'json', '-metrics', 'e.totalcpu:name', '-filters', expression, '-functions', experiment)
        t.check(result.status == 0 and said in result.err, f'{expression}: {result.err}')
        t.equal([row['e.totalcpu'] for row in json.loads(result.out.splitlines()[-1])['rows']], [0], expression)
    result = t.run(t.helio, 'print', '-datasize', experiment)
    t.check(result.status == 0 and 'IOHEAPBYTES' in result.err, f'an index object without data: {result.err}')
    t.equal(t.run(t.helio, 'print', '-indxobj_define', 'mine', 'HSIZE', experiment).err, '', 'defining one says nothing')
    quiet = t.run(t.helio, 'print', '-filters', 'HAS_PROP(HSIZE) || EVT_TIME > 0', '-functions', experiment)
    t.equal(quiet.err, '', 'what is asked for by HAS_PROP')


@test
def metrics_of_index_objects(t):
    """Their own metrics and order, which those of functions do not touch, and which new experiments keep."""
    path, events = make(t, 8)
    script = ('metrics e.total:i.total:name', 'indxobj_metrics i.user:e.total:name', 'indxobj_sort -e.total', 'threads', 'functions', 'metrics e.system:name',
              'indxobj_sort name', 'threads', f'open_exp {path}', 'threads', 'indxobj_metrics default', 'indxobj_sort default', 'threads')
    (t.directory / 'script').write_text('indxobj_sort e.total\n' + '\n'.join(script) + '\n')
    listings = [o for o in t.print(path, '-script', t.directory / 'script') if o['command'] in ('threads', 'functions')]
    t.equal([[metric['name'] for metric in o['metrics']] for o in listings],
            [['e.user', 'e.total', 'name'], ['e.total', 'i.total', 'name'], ['e.user', 'e.total', 'name'], ['e.user', 'e.total', 'name'],
             ['e.system', 'name']], 'metrics')
    truth = sums(events, lambda e: (e['EXPID'] << 32 | e['THRID'],))
    by_value = sorted(truth)
    for listing, order in zip((listings[0], *listings[2:4]), (sorted(truth, key=truth.get), by_value, by_value)):
        t.equal([row['value'] for row in listing['rows']], [None, *order], 'order')
        t.equal([round(row['e.total'] * 1e6) for row in listing['rows'][1:]], [truth[value] for value in order], 'time')

CALLS = '''\
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
APART void take(size_t size) { free(malloc(size)); /* @take */ }
APART void pair(void)
{
	take(100); /* @first */
	take(100); /* @second */
}
APART void both(void)
{
	pair(); /* @pair */
	take(100); /* @third */
}
int main(void)
{
	for (int i = 0; i < 3; i++)
		pair(); /* @three */
	for (int i = 0; i < 5; i++)
		both(); /* @five */
	return 0;
}
'''


@test
def lines_and_instructions(t):
    """STACKL and STACKI on a program whose calls are counted by its text; addresses are objdump's."""
    source, program = t.directory / 'calls.c', t.directory / 'calls'
    source.write_text(CALLS)
    line = {mark: number for number, text in enumerate(CALLS.splitlines(), 1) for mark in re.findall(r'@(\w+)', text)}
    t.run('gcc', '-g', '-O0', '-fno-pie', '-no-pie', '-o', program, source)
    result = t.collect(program, options=('-p', 'off', '-H', 'on'))
    body = re.search(r'<pair>:\n(.*?)\n\n', t.run('objdump', '-d', '--no-show-raw-insn', program).out, re.S)[1]
    calls = [int(address, 16) for address in re.findall(r'^\s*([0-9a-f]+):\s+call.*<take>', body, re.M)]
    t.equal(len(calls), 2, f'calls in pair: {body}')
    start = int(re.search(r'([0-9a-f]+) <pair>:', t.run('objdump', '-d', program).out)[1], 16)

    def at(mark):
        return f'LNAME("calls.c:{line[mark]}")'
    instruction = f'INAME("pair + {calls[0] - start:#x}")'
    pattern = re.sub(r'[^\w/]', '.', str(source))  # wherever it lies
    questions = {
        f'{at("take")} IN STACKL': 21, f'{at("first")} IN STACKL': 8, f'{at("third")} IN STACKL': 5, f'{at("five")} IN STACKL': 15,
        f'({at("five")}, {at("first")}) IN STACKL': 5, f'({at("five")}, {at("three")}) IN STACKL': 0,
        f'({at("third")}, {at("three")}) SOME IN STACKL': 11, f'STACKL SOME IN ({at("third")}, {at("three")})': 11,
        f'({at("five")}, {at("pair")}) ORDERED IN STACKL': 10, f'({at("take")}, {at("third")}) ORDERED IN STACKL': 5,
        f'({at("five")}, {at("take")}) ORDERED IN STACKL': 0, f'LNAME("{pattern}:{line["third"]}") IN STACKL': 5,
        'LNAME("other.c:1") IN STACKL': 0, f'STACKL IN {at("take")}': 0, f'LEAF IN {at("first")}': 0,
        f'{at("first")} IN USTACKL && {at("first")} IN MSTACKL && {at("first")} IN XSTACKL': 8,
        f'{calls[0]:#x} IN STACKI': 8, f'({calls[0]:#x}, {calls[1]:#x}) IN STACKI': 0, f'{calls[0]}, {calls[1]} SOME IN STACKI': 16,
        f'STACKI SOME IN {calls[1]:#x}': 8, f'{calls[1] + 1:#x} IN HSTACKI': 0, f'{instruction} IN STACKI': 8,
        f'{instruction} IN STACKI && {at("five")} IN STACKL': 5, 'INAME("pair + 0x[0-9a-f]*") SOME IN STACKI': 16,
        'HAS_PROP(STACKL) && HAS_PROP(XSTACKI) && FNAME("take") IN STACK': 21}
    t.equal(totals(t, result.experiment, 'e.heapalloccnt', questions), list(questions.values()), 'allocations')
    for expression, reason in ((f'{at("five")} IN STACK', 'nothing in common'), ('FNAME("pair") IN STACKI', 'nothing in common'),
                               ('7 IN STACKL', 'LNAME'), ('THRID IN STACKI', 'addresses'), ('STACKL IN STACK', 'depend'),
                               ('LNAME("[") IN STACKL', 'regular expression'), ('STACKI + 1', 'no number')):
        refused = t.run(t.helio, 'print', '-filters', expression, result.experiment)
        t.check(refused.status == 1 and reason in refused.err, f'{expression}: {refused.err}')


@test
def leaf_lines(t):
    """Of a clock profile: what LEAF lets through is what the lines have for themselves."""
    experiment = t.collect(t.target('shares'), '0.5s', options=('-p', 'hi')).experiment
    rows = [o for o in t.print(experiment, '-metrics', 'e.total:name', '-lines') if o['command'] == 'lines'][0]['rows']
    lines = {}
    for row in rows:
        if match := re.search(r', line (\d+) in (?:alternate source context )?"(.*)"$', row['name']):
            key = f'{match[2]}:{match[1]}'
            lines[key] = lines.get(key, 0) + row['e.total']
    hottest = sorted(lines, key=lines.get)[-3:]
    t.check(lines[hottest[-1]] > 0, f'lines: {lines}')
    answers = totals(t, experiment, 'e.total', [f'LEAF IN LNAME("{name}")' for name in hottest])
    t.equal([round(value * 1e6) for value in answers], [round(lines[name] * 1e6) for name in hottest], 'at the lines')


# What no event can have, and the words in which a warning says why or what to ask instead.
REASONS = {'PADDR': 'root only', 'PHYSPC': 'root only', 'EA_PAGESIZE': 'Memory_page', 'MEM_LAT': 'EA_LGRP', 'LWP_LGRP_HOME': 'no thread a home',
           'IOFSTYPE': '-i on', 'JTHREAD': '--java on', 'GCEVENT': '--java on', 'OMPSTATE': 'OpenMP', 'RID': 'sanitize=thread', 'DID': '-s on',
           'HSIZE': '-H on', 'SOBJ': '-s on', 'IOOFD': '-i on', 'VADDR': 'helio collect -h', 'JGROUP("x") == JTHREAD': '--java on'}


@test
def reasons(t):
    """Each word of the old tools is known; one that chooses nothing says why."""
    path, _ = make(t, 8)
    for word, reason in REASONS.items():
        result = t.run(t.helio, 'print', '-filters', word if '=' in word else f'{word} > 0', '-limit', '1', '-functions', path)
        t.check(reason in result.err and result.status == 0, f'{word}: {result.err}')
    words = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-describe', path).out)['rows']
    for row in (row for row in words if not row['data'] and '(' not in row['name']):
        result = t.run(t.helio, 'print', '-filters', f'{row["name"]} > 0', path)
        t.check(re.search(rf'{row["name"]} \(.*\): .*; no event has it', result.err), f'{row["name"]}: {result.err}')


@test
def order_of_index_objects(t):
    """Moments, sizes and durations come in their own order unless one is asked for; all others by cost."""
    path, events = make(t, 9)
    order = lambda *commands: [[row['value'] for row in o['rows'][1:]] for o in t.print(path, '-metrics', 'e.total:name', *commands) if o['command'] in ('indxobj', 'threads')]
    known = lambda values: [value for value in values if value is not None]
    define = ('-indxobj_define', 'moments', 'TSTAMP / 10000000')
    for name in ('seconds', 'samples', 'duration', 'moments'):
        natural, by_cost, chosen = order(*define, f'-{name}', '-sort', 'e.total', f'-{name}', '-indxobj_sort', 'name', f'-{name}')
        t.equal(known(natural), sorted(known(natural)), f'{name}: order')
        t.equal(natural, chosen, f'{name}: the same as asked for')
        t.equal(sorted(known(natural)), sorted(known(by_cost)), f'{name}: the same rows')
    truth = sums(events, lambda e: (e['TSTAMP'] // 10000000,))
    natural, by_cost, backwards = order(*define, '-moments', '-sort', 'e.total', '-moments', '-sort', '-e.total', '-moments')
    t.check(natural != by_cost and natural == sorted(truth), 'by time')
    t.equal([truth[value] for value in by_cost], sorted(truth.values(), reverse=True), 'sort')
    t.equal([truth[value] for value in backwards], sorted(truth.values()), 'sort backwards')
    threads = sums(events, lambda e: (e['EXPID'] << 32 | e['THRID'],))
    t.equal([threads[value] for value in order('-threads')[0]], sorted(threads.values(), reverse=True), 'threads, by cost')
    (t.directory / '.er.rc').write_text('dsort e.total\n')
    t.equal(order(*define, '-moments'), [by_cost], 'dsort')
