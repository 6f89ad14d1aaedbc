# SPDX-License-Identifier: Apache-2.0
"""OpenMP: what threads do in each stage of a program, known by construction, under both runtimes."""
import collections
import json
import pathlib
import re
import sys

from harness import ROOT, perf_allowed, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_openmp  # noqa: E402

COMPILERS = ('gcc', 'clang')
BASE = ('_start', 'main')
SECONDS = 0.8
# By stage: what the thread that computes shows, and the others of its team; frames from the outermost one on, to the first of what computes.
FOO = (*BASE, 'foo', 'foo -- OMP parallel region')
TASKS = (*BASE, 'tasks', 'tasks -- OMP parallel region')
STAGES = {
    'serial': ((*BASE, 'stage', 'burn'), ()),
    'work': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, 'burn'),)),
    'explicit': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-explicit_barrier>'),)),
    'critical': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-critical_section_wait>'),)),
    'lock': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-lock_wait>'),)),
    'ordered': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-ordered_section_wait>'),)),
    'loop': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-implicit_barrier>'),)),
    'sections': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-implicit_barrier>'),)),
    'nested': ((*FOO, 'stage', 'burn'), 2 * ((*FOO, 'bar', 'bar -- OMP parallel region', 'burn'),) + 2 * ((*FOO, 'burn'),)),
    'end': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-implicit_barrier>'),)),
    'idle': ((*BASE, 'foo', 'stage', 'burn'), 3 * (('<OMP-idle>',),)),
    'task': ((*TASKS, 'tasks -- OMP task', 'stage', 'burn'), ((*TASKS, '<OMP-task_wait>'),)),
}


def compile_target(t, compiler, source, *flags, suffix='.c'):
    output = t.directory / f'{source}_{compiler}'
    result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', *flags, '-o', str(output), str(ROOT / 'tests' / 'targets' / f'{source}{suffix}'))
    t.check(result.status == 0, result.err[-500:])
    return output


def plain(name):
    """Without what compilers and versions call it; None: a frame that is not the program's."""
    if name in ('__libc_start_main_impl', '__libc_start_call_main'):
        return None
    return re.sub(r' from line \d+', '', re.sub(r' \[.*\]$', '', name))


def longest_stack(answer):
    """The call stack that most of the time was spent at, if that is much of a stage, up to where it computes."""
    if not answer['rows']:
        return None
    most = max(answer['rows'], key=lambda row: row.get('e.total', 0))
    if most.get('e.total', 0) < SECONDS / 4:
        return None
    names = [answer['frames'][frame]['name'] for frame in most['stack']]
    path = [name for name in map(plain, reversed(names)) if name]
    return tuple(path[:path.index('burn') + 1] if 'burn' in path else path)


def stacks_in(t, result, begin, end, threads):
    """By thread, its longest stack among the events that began in this time, and were over soon behind it."""
    zero = int(re.search(r'mono_ns="(\d+)"', (result.experiment / 'log.xml').read_text())[1])
    window = f'TSTAMP - EVT_TIME > {max(begin - zero, 0)} && TSTAMP < {end - zero + int(SECONDS * 5e8)}'
    commands = [word for thread in range(1, threads + 1) for word in
                ('-filters', f'({window}) && TSTAMP - EVT_TIME < {end - zero} && THRID == {thread}', '-stacks')]
    answers = t.print(result.experiment, '-metrics', 'e.total:name', '-inlines', 'off', *commands)
    return [longest_stack(answer) for answer in answers if answer['command'] == 'stacks']


def is_as_expected(name, found, expected):
    """
    Which threads they are is up to the runtime, and threads of nested regions have nothing to do before and behind those. On a busy
    machine some may have had no event meanwhile.
    """
    computes, others = expected
    stacks = collections.Counter(stack for stack in found if stack and (name == 'idle' or stack != ('<OMP-idle>',)))
    wanted = collections.Counter((computes, *others))
    if name == 'idle':
        wanted[('<OMP-idle>',)] = 4
    return not stacks - wanted and computes in stacks and (not others or len(stacks - collections.Counter((computes,))))


@test(alone=True, engines=True)
def stages(t, engine):
    """Each stage is seen as it was made. A busy machine may keep threads from where they should be for much of it: then it is recorded again."""
    for compiler in COMPILERS:
        program, left = compile_target(t, compiler, 'ompstages'), dict(STAGES)
        for _ in range(4):
            # who waits sleeps: on a busy machine the time of threads that spin belongs to wherever they get a processor
            result = t.collect(program, str(SECONDS), engine=engine, env={'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'})
            times = {name: (int(begin), int(end)) for name, begin, end in (line.split() for line in result.out.splitlines())}
            seen = {}
            for name in left:
                begin, end = times[name]
                # who waits may have come before the one that computes looks at the clock; what others computed so shortly before is not much
                begin -= int((end - begin) / 0.6 * 0.4 + SECONDS * 1e9 / 5)
                seen[name] = stacks_in(t, result, begin, end, 6)
            left = {name: expected for name, expected in left.items() if not is_as_expected(name, seen[name], expected)}
            if not left:
                break
        t.within(not left, f'{compiler}: {[(name, seen[name], expected) for name, expected in left.items()]}')


@test
def odd(t):
    """Programs do what they do bare, whatever they do in regions."""
    for compiler in ('g++', 'clang++'):
        program = compile_target(t, compiler, 'ompodd', suffix='.cc')
        for how in ('tasks', 'fork', 'throw', 'cancel', 'all', 'exit'):
            bare = t.run(program, how, env={'OMP_CANCELLATION': 'true'})
            for options in ((), ('--openmp', 'off')):
                result = t.collect(program, how, status=None, options=options, env={'OMP_CANCELLATION': 'true'})
                t.equal((result.status, result.out), (bare.status, bare.out), f'{compiler}: {how} {options}')
                family = t.read(result.experiment)
                t.equal((result.experiment / 'omptrace').exists(), not options, f'{compiler}: {how} {options}: omptrace')
                if how == 'fork':
                    t.equal(sorted(family), ['', '_f1'], f'{compiler}: processes')


@test
def modes_agree(t):
    """Each event is in each mode once: totals are equal to the last digit, for every metric and kind of data."""
    for compiler in COMPILERS:
        result = t.collect(compile_target(t, compiler, 'ompstages'), '0.02', options=('-H', 'on', '-s', 'all', '-i', 'on'))
        answers = {mode: t.print(result.experiment, '-viewmode', mode, '-metrics', 'e.any:name', '-functions', '-calltree', '-pcs', '-stacks')
                   for mode in ('user', 'expert', 'machine')}
        for mode in ('expert', 'machine'):
            for user, other in zip(answers['user'], answers[mode]):
                t.equal(total(other), total(user), f'{compiler}, {mode}: the total of {user["command"]}')
        names = [{row['name'] for row in answers[mode][0]['rows']} for mode in ('user', 'machine')]
        t.check('<OMP-idle>' in names[0] and '<OMP-idle>' not in names[1], 'pseudo-functions are of user mode')


def total(answer):
    row = answer.get('total') or next(row for row in answer['rows'] if row['name'] == '<Total>')
    return {key: value for key, value in row.items() if isinstance(value, (int, float)) and key[:2] in ('e.', 'i.', 'a.')}


# How threads wait, where they run, and how many there are: of both runtimes.
ENVIRONMENTS = {
    'passive': {'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'},
    'active': {'OMP_WAIT_POLICY': 'active', 'KMP_BLOCKTIME': 'infinite'},
    'spinning little': {'GOMP_SPINCOUNT': '0', 'KMP_BLOCKTIME': '1'},
    'spinning long': {'GOMP_SPINCOUNT': '1000000', 'KMP_BLOCKTIME': '200'},
    'bound': {'OMP_PROC_BIND': 'close', 'OMP_PLACES': 'threads'},
    'all on one processor': {'OMP_PROC_BIND': 'true', 'OMP_PLACES': '{0}'},
    'many threads': {'OMP_NUM_THREADS': '8,3', 'OMP_MAX_ACTIVE_LEVELS': '2', 'OMP_DYNAMIC': 'false'},
}


def check_known_work(t, what, result):
    told = {name: (float(first), float(second)) for name, first, second in (line.split() for line in result.out.splitlines())}
    metrics = ('e.total', 'e.ompwork', 'e.ompwait', 'e.ompovhd', 'i.ompwork', 'i.ompibar')
    rows = t.functions(result.experiment, *metrics)
    whole = rows['<Total>']
    t.near(whole['e.ompwork'] + whole['e.ompwait'] + whole['e.ompovhd'], whole['e.total'], f'{what}: all time', 1e-9, 1e-3)
    regions = {re.match(r'\w+', row['name'])[0]: row for row in t.print(result.experiment, '-regions')[-1]['rows'][1:]}
    for name, used in told.items():
        t.near(rows[name]['i.ompwork'], sum(used), f'{what}: work in {name}', 0.1, 0.02)
        t.equal((regions[name]['calls'], regions[name]['threads']), (5, 2), f'{what}: executions of {name}')
    # the second thread waits while the first one computes twice as much more, or longer where that has to wait for a processor
    expected = told['uneven'][0] - told['uneven'][1]
    t.within(rows['uneven']['i.ompibar'] > expected / 2, f'{what}: barrier of uneven: {rows["uneven"]["i.ompibar"]}, not {expected}')


@test(alone=True)
def known_work(t):
    """What threads compute in regions, and what is lost by unequal work, by the program's own clocks, however they wait and wherever they run."""
    for compiler in COMPILERS:
        program = compile_target(t, compiler, 'ompwork')
        for name, environment in ENVIRONMENTS.items():
            # who waits on a processor has time of both kinds in one interval of the clock: a short one
            check_known_work(t, f'{compiler}, {name}', t.collect(program, '0.02', env=environment, options=('-p', 'hi')))


@test
def environments(t):
    """Programs that use everything, fork and exit in regions do what they do bare, however their threads wait and wherever they run."""
    for compiler in ('g++', 'clang++'):
        program = compile_target(t, compiler, 'ompodd', suffix='.cc')
        for name, environment in ENVIRONMENTS.items():
            for how in ('all', 'fork', 'exit'):
                bare = t.run(program, how, env={'OMP_CANCELLATION': 'true', **environment})
                result = t.collect(program, how, status=None, env={'OMP_CANCELLATION': 'true', **environment})
                t.equal((result.status, result.out), (bare.status, bare.out), f'{compiler}, {name}: {how}')
                t.check((result.experiment / 'omptrace').exists(), f'{compiler}, {name}: {how}: omptrace')


@test
def tasks(t):
    """Tasks in tasks are one construct, however deep; each is counted."""
    for compiler in ('g++', 'clang++'):
        result = t.collect(compile_target(t, compiler, 'ompodd', suffix='.cc'), 'tasks')
        rows = t.print(result.experiment, '-tasks')[-1]['rows']
        # fib(15) calls itself 1972 times more
        t.equal(sum(row['calls'] for row in rows[1:]), 1972, f'{compiler}: tasks')
        constructs = [event for event in t.read(result.experiment)['']['traces']['omptrace'] if event['type'] == 'construct']
        t.check(len(constructs) <= 64, f'{compiler}: {len(constructs)} constructs')


@test
def tasks_behind_shares(t):
    """Programs whose tasks reduce, and whose iterations wait for others of 14 loops, do what they do bare; tasks at a region's end are its work."""
    for compiler in COMPILERS:
        program = compile_target(t, compiler, 'omptasks')
        result = t.collect(program)
        t.equal(result.out.splitlines()[:2], ['reduced 45 45', f'chain {1 + sum(range(40))}'], f'{compiler}: results')
        burnt = float(result.out.splitlines()[2].split()[1])
        region = [row for row in t.print(result.experiment, '-regions')[-1]['rows'] if row['name'].startswith('leave_tasks')][0]
        executed = [row for row in t.print(result.experiment, '-tasks')[-1]['rows'] if row['name'].startswith('leave_tasks')][0]
        t.equal(executed['calls'], 16, f'{compiler}: tasks')
        # as long as the clock says that they took, which is more than their CPU time where others take processors away
        t.ratio(region['work'], executed['duration'], 0.98, 1.1, f'{compiler}: work of the region')
        t.ratio(burnt, region['work'], 0.05, 1.01, f'{compiler}: CPU time')


@test
def teams_of_several_sizes(t):
    """The time of a region's threads is that of each execution's: with and without sums."""
    for compiler in COMPILERS:
        program = compile_target(t, compiler, 'omptasks')
        for how in ('on', 'trace'):
            result = t.collect(program, 'teams', options=('--openmp', how))
            events = [event for event in t.read(result.experiment)['']['traces']['omptrace'] if event['type'] == 'region']
            sizes = collections.Counter()
            for event in events:
                sizes[event['threads']] += event['calls']
            t.equal(sizes, {1: 100, 4: 100}, f'{compiler}, {how}: executions by size of team')


def compile_constructs(t, compiler):
    if compiler != 'gfortran':
        return compile_target(t, compiler, 'ompconstructs')
    work = t.directory / 'work.o'
    source = ROOT / 'tests' / 'targets' / 'ompconstructs'
    for words in (('gcc', '-c', '-DWORK_ONLY', '-o', work, f'{source}.c'), ('gfortran', '-o', 'fortran', f'{source}.f90', work)):
        result = t.run(t.need(words[0]), '-O1', '-g', '-fopenmp', *map(str, words[1:]))
        t.check(result.status == 0, result.err[-500:])
    return t.directory / 'fortran'


def same_everywhere(name):
    """Without which of its kinds gcc takes a region for, by the call that it makes of it."""
    return re.sub('OMP parallel loop|OMP sections', 'OMP parallel region', name)


def paths_to_work(answer):
    """By construct, the ways that lead to what computes in it, without those of less than 2 ms."""
    paths = collections.defaultdict(collections.Counter)
    for row in answer['rows']:
        path = [name for name in (plain(answer['frames'][frame]['name']) for frame in reversed(row['stack'])) if name]
        if 'work' in path[2:]:
            paths[path[2]][tuple(map(same_everywhere, path[2:path.index('work') + 1]))] += row['e.totalcpu']
    return {name: {path for path, seconds in found.items() if seconds > 0.002} for name, found in paths.items()}


@test(alone=True)
def constructs(t):
    """The table of constructs, in C and Fortran: the work of each thread in each, by the program's own clocks; and the same tree from all compilers."""
    trees = {}
    for compiler in (*COMPILERS, 'gfortran'):
        result = t.collect(compile_constructs(t, compiler), options=('-p', 'hi'), env={'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'})
        told = {name: (float(main), float(others), int(regions)) for name, main, others, regions in (line.split() for line in result.out.splitlines())}
        t.check(len(told) >= 35, f'{compiler}: {len(told)} constructs')
        regions = collections.Counter()
        for row in t.print(result.experiment, '-regions')[-1]['rows'][1:]:
            regions[re.match(r'\w+', row['name'])[0]] += row['calls']
        t.equal(regions, collections.Counter({name: count for name, (_, _, count) in told.items()}), f'{compiler}: executions of regions')
        for which, condition in enumerate(('THRID == 1', 'THRID > 1')):
            answer = t.print(result.experiment, '-metrics', 'i.ompwork:name', '-filters', condition, '-functions')[-1]
            seen = {row['name']: row['i.ompwork'] for row in answer['rows']}
            for name, used in told.items():
                # a thread that begins here has ticks of 4 ms at first, and begins with what another one has left of its interval
                begins = condition == 'THRID > 1' and name in ('c_parallel', 'c_nested')
                t.near(seen.get(name, 0), used[which], f'{compiler}: work in {name}, {condition}', 0.15, 0.012 if begins else 0.005)
        trees[compiler] = paths_to_work(t.print(result.experiment, '-metrics', 'e.totalcpu:name', '-inlines', 'off', '-stacks')[-1])
    # what is not deferred becomes a part of the region with clang
    t.equal(trees['clang'].pop('c_task_undeferred'), {('c_task_undeferred', 'c_task_undeferred -- OMP parallel region', 'work')}, 'clang: c_task_undeferred')
    for compiler, tree in trees.items():
        t.equal(tree, {name: trees['gcc'].get(name, tree[name]) for name in tree}, f'{compiler}: ways to what computes')


SHORT = '''#include <omp.h>
int main(void)
{
	int n = 0;
	for (int i = 0; i < 500; i++) {
#pragma omp parallel num_threads(1) /* of more a team's end may take more than a ms, where others use the processors */
		__asm__ volatile("");
	}
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 300; i++) {
#pragma omp task
		__asm__ volatile("");
	}
	return n;
}
'''


@test
def each_execution(t):
    """With --openmp trace each execution is a record; else those that follow each other are one, with the same sums."""
    (t.directory / 'short.c').write_text(SHORT)
    for compiler in COMPILERS:
        result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', '-o', 'short', 'short.c')
        t.check(result.status == 0, result.err[-500:])
        for how in 'on', 'trace':
            events = t.read(t.collect('./short', options=('--openmp', how)).experiment)['']['traces']['omptrace']
            for kind, count in ('region', 501), ('tasks', 300):
                calls = [event['calls'] for event in events if event['type'] == kind]
                t.equal(sum(calls), count, f'{compiler}: {kind}, {how}')
                t.check(len(calls) == count if how == 'trace' else len(calls) < count, f'{compiler}: {len(calls)} records of {count} {kind}, {how}')
    refused = t.collect('./short', options=('--openmp', 'each'), status=1)
    t.check('Unrecognized OpenMP parameter' in refused.err, refused.err)


@test(alone=True)
def locks_and_sections(t):
    """
    Who waits for whom at critical sections, locks, atomic constructs and ordered sections, by their names or places, as the program's own clocks
    have it; what is free is no wait.
    """
    for compiler in COMPILERS:
        result = t.collect(compile_target(t, compiler, 'omplocks'), '0.1', env={'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'})
        told = {name: (float(seconds), int(waits)) for name, seconds, waits in (line.split() for line in result.out.splitlines())}
        rows = t.print(result.experiment, '-locks')[-1]['rows'][1:]
        # an ordered section is called by its place in the code
        locks = {re.sub(r' (\(|-- OMP parallel).*', '', row['name']): row for row in rows}
        t.equal(sorted(row['name'].rsplit(' (')[-1] for row in rows),
                ['OpenMP lock)', 'OpenMP lock)', 'atomic construct)', 'critical section)', 'critical section)', 'ordered section)'], f'{compiler}: kinds')
        for name, (seconds, waits) in told.items():
            t.near(locks[name]['sync'], seconds, f'{compiler}: waits for {name}', 0.02, 0.002)
            t.equal((locks[name]['syncn'], locks[name]['waiters']), (waits, waits), f'{compiler}: how many for {name}')
        # a thread may lose its processor in a call, but hardly where another one has had the lock meanwhile
        t.equal(set(locks) - set(told), set(), f'{compiler}: nobody waits for other locks')
        by_name = t.run(t.helio, 'print', '-printmode', 'json', '-filters', 'SLOCK IN LOCKNAME("the_lock|nested")', '-locks', result.experiment)
        chosen = json.loads(by_name.out.strip().splitlines()[-1])['rows'][1:]
        t.equal({row['name']: row['syncn'] for row in chosen}, {row['name']: row['syncn'] for name, row in locks.items() if name in ('the_lock', 'nested')},
                f'{compiler}: chosen by a filter')
        t.check('no event is chosen' not in by_name.err, by_name.err)
        lock, = t.print(result.experiment, '-lock', 'the_lock')
        waits = [row for row in lock['rows'] if 'waiter' in row]
        t.equal([sum(row['syncn'] for row in waits), {row['holder'] for row in waits} & {row['waiter'] for row in waits}], [2, set()], f'{compiler}: who for whom')
        stacks = [row['frames'] for row in lock['rows'] if 'frames' in row and 'syncn' in row]
        t.check(stacks and all('<OMP-lock_wait>' in frames[0] and any(frame.startswith('main ') for frame in frames) for frames in stacks), f'{compiler}: {stacks}')
        held = sum(row['held'] for row in lock['rows'] if 'held' in row and any(frame.startswith('hold ') for frame in row['frames']))
        t.within(held > told['the_lock'][0] / 2, f'{compiler}: the holder was in hold for {held} of {told["the_lock"][0]}')
        rows = t.functions(result.experiment, 'i.omplkwt', 'i.ompctwt', 'i.ompwork')
        t.equal((rows['hold']['i.omplkwt'], rows['hold']['i.ompctwt']), (0, 0), f'{compiler}: who has a lock does not wait for it')
        rows = [row for row in t.print(result.experiment, '-report')[-1]['rows'] if row['section'] == 'locks']
        t.check(len(rows) == 3 and {row['name'].split(' -- ')[0] for row in rows} < set(told), f'{compiler}: report: {rows}')


@test
def late_releases(t):
    """A runtime may tell of a release when the next thread has the lock already: who waits for that one is not forgotten."""
    program = t.directory / 'omplate'
    result = t.run(t.need('gcc'), '-O1', '-g', '-o', str(program), str(ROOT / 'tests' / 'targets' / 'omplate.c'))
    t.check(result.status == 0, result.err[-500:])
    result = t.collect(program)
    seconds, waits = result.out.split()
    lock = next(row for row in t.print(result.experiment, '-locks')[-1]['rows'] if row['name'].startswith('the_lock '))
    t.equal((lock['syncn'], lock['waiters'], lock['holders']), (int(waits), 2, 2), 'waits, who waited, who had it')
    t.near(lock['sync'], float(seconds), 'waits', 0.02, 0.002)


def all_stacks(t, experiment, mode):
    """By stage and thread, the one call stack that was recorded then: functions from the outermost one on."""
    commands = [word for stage, threads in enumerate(make_openmp.STAGES.values()) for thread in threads for word in
                ('-filters', f'TSTAMP == {(stage + 1) * 100000000} && THRID == {thread}', '-stacks')]
    answers = [answer for answer in t.print(experiment, '-viewmode', mode, '-metrics', 'e.total:name', *commands) if answer['command'] == 'stacks']
    for answer in answers:
        row, = answer['rows']
        t.equal(f'{row["e.total"]:.6f}', '0.100000', 'an event')
        yield tuple(answer['frames'][frame]['name'] for frame in reversed(row['stack']))


@test
def golden_stages(t):
    """The call stacks of the model's stages, in each mode, of an experiment that is known by construction."""
    experiment = make_openmp.make(str(t.directory))
    events = [(stage, thread, *said) for stage, threads in make_openmp.STAGES.items() for thread, said in threads.items()]
    for mode in ('user', 'expert', 'machine'):
        for (stage, thread, recorded, _, _, _, user), found in zip(events, all_stacks(t, experiment, mode), strict=True):
            expected = recorded if mode == 'machine' else user
            t.equal(found, tuple(make_openmp.NAMES.get(name, name) for name in expected), f'{mode}, {stage}, thread {thread}')
    rows = t.functions(experiment, 'i.total', 'e.ompwork', 'e.ompwait', 'e.ompovhd', 'e.ompibar', 'e.ompebar', 'e.omplkwt', 'e.ompctwt', 'e.ompidle', 'e.omprduc')
    states = collections.Counter(state for *_, state, _, _ in events)
    for metric, state in (('e.ompebar', make_openmp.EXPLICIT), ('e.omplkwt', make_openmp.LOCK), ('e.ompctwt', make_openmp.CRITICAL),
                          ('e.ompidle', make_openmp.IDLE), ('e.omprduc', make_openmp.REDUCTION), ('e.ompibar', make_openmp.REGION_END)):
        t.near(rows['<Total>'][metric], states[state] / 10, metric, 0, 1e-9)
    # all that foo's threads do in its regions is foo's, but what they do when there is nothing to do
    t.near(rows['foo']['i.total'], (len(events) - states[make_openmp.IDLE]) / 10, 'foo, inclusive', 0, 1e-9)
    for text, chosen in (('CPRID == 2', [e for e in events if e[5] == make_openmp.BAR]), ('PPRID == 1', [e for e in events if e[5] == make_openmp.BAR]),
                         ('OMPSTATE == 9', [e for e in events if e[4] == make_openmp.LOCK]),
                         ('FNAME("<OMP-.*") SOME IN STACK', [e for e in events if e[6][-1].startswith('<OMP-')])):
        answers = t.print(experiment, '-metrics', 'e.total:name', '-filters', text, '-functions')
        t.near(answers[-1]['rows'][0]['e.total'], len(chosen) / 10, text, 0, 1e-9)
    # executions count for their region, not for the one around it
    foo, bar = (make_openmp.NAMES[f'{name}._omp_fn.0'] for name in ('foo', 'bar'))
    rows = t.print(experiment, '-metrics', 'e.ompregn:name', '-indxobj', 'OMP_preg')[-1]['rows'][1:]
    t.equal({row['name']: row['e.ompregn'] for row in rows if row['e.ompregn']}, {foo: 2, bar: 1}, 'ompregn')
    for text, name in (('CPRID == 1', foo), ('CPRID == 2', bar), ('PPRID == 1', bar)):
        rows = t.print(experiment, '-filters', text, '-regions')[-1]['rows'][1:]
        t.equal([row['name'] for row in rows], [name], f'regions, {text}')
    region = next(row for row in t.print(experiment, '-regions')[-1]['rows'] if row['name'].startswith('foo'))
    t.equal([round(region[key], 6) for key in ('duration', 'calls', 'threads', 'work', 'lost', 'unequal')], [1, 2, 4, 2.5, 1.3, 1], 'region of foo')
    # bar's region lasts 0.2 s of a thread of foo's: that is no time of foo's region any more, and the total has it once
    whole = t.print(experiment, '-regions')[-1]['rows'][0]
    t.equal([round(whole[key], 6) for key in ('duration', 'calls', 'threads', 'work', 'lost')], [1, 3, 4, 2.9, 1.3], 'all regions')


NESTED = '''#include <omp.h>
#include <stdio.h>
#include <time.h>
static double in_outer, in_inner, in_tasks;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static void rest(double *in, int ms)
{
	struct timespec t = {0, ms * 1000000};
	double took = now();
	nanosleep(&t, NULL);
	took = now() - took;
#pragma omp atomic
	*in += took;
}
__attribute__((noinline)) static void inner(void)
{
#pragma omp parallel num_threads(2)
	rest(&in_inner, omp_get_thread_num() ? 150 : 30);
	__asm__ volatile("");
}
__attribute__((noinline)) static void outer(void)
{
#pragma omp parallel num_threads(2)
	{
		rest(&in_outer, 50);
		inner();
	}
	__asm__ volatile("");
}
__attribute__((noinline)) static void deep(int depth)
{
	if (!depth)
		return;
#pragma omp task
	{
		rest(&in_tasks, 5);
		deep(depth - 1);
	}
#pragma omp taskwait
	__asm__ volatile("");
}
int main(void)
{
	double begin = now();
	omp_set_max_active_levels(2);
	outer();
	double took = now() - begin;
#pragma omp parallel num_threads(1)
	deep(40);
	printf("%f %f %f %f\\n", took, in_outer, in_inner, in_tasks);
	return 0;
}
'''


@test(alone=True)
def nested_time(t):
    """What regions and tasks take that lie in others is not the time of these, and in the total once, by the program's own clocks."""
    (t.directory / 'nested.c').write_text(NESTED)
    for compiler in COMPILERS:
        result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', '-o', 'nested', 'nested.c')
        t.check(result.status == 0, result.err[-500:])
        result = t.collect('./nested')
        took, in_outer, in_inner, in_tasks = map(float, result.out.split())
        regions, of_tasks = (answer['rows'] for answer in t.print(result.experiment, '-filters', 'FNAME("outer") SOME IN STACK', '-regions',
                                                                  '-filters', '', '-tasks') if answer['command'] in ('regions', 'tasks'))
        rows = {re.match(r'<?\w+', row['name'])[0]: row for row in regions}
        for name, told in (('outer', in_outer), ('inner', in_inner), ('<Total', in_outer + in_inner)):
            t.near(rows[name]['work'], told, f'{compiler}: work in {name}', 0.15, 0.02)
        for name in 'outer', '<Total':
            t.near(rows[name]['duration'], took, f'{compiler}: duration of {name}', 0.15, 0.02)
        t.near(of_tasks[0]['duration'], in_tasks, f'{compiler}: tasks', 0.15, 0.02)


@test
def compared(t):
    """Processes number regions as they meet them: in all experiments a region is one by its function, in another build by its name."""
    first = pathlib.Path(make_openmp.make(str(t.directory))).rename(t.directory / 'first.er')
    regions = collections.Counter(said[3] for threads in make_openmp.STAGES.values() for said in threads.values())
    names = {0: '(none)', make_openmp.FOO: make_openmp.NAMES['foo._omp_fn.0'], make_openmp.BAR: make_openmp.NAMES['bar._omp_fn.0']}
    for build in 0, 1:
        directory = t.directory / 'other' if build else t.directory
        directory.mkdir(exist_ok=True)
        second = make_openmp.make(str(directory), (0, make_openmp.BAR, make_openmp.FOO), build)
        rows = t.print(second, '-metrics', 'e.total:name', '-compare', 'on', '-indxobj', 'OMP_preg', first)[-1]['rows'][1:]
        t.equal({row['name']: (round(row['e.total.1'], 6), round(row['e.total.2'], 6)) for row in rows},
                {names[region]: (count / 10, count / 10) for region, count in regions.items()}, f'OMP_preg, build {build}')
        t.equal(len(rows), len(regions), f'rows, build {build}')
        for region, name in names.items():
            answers = t.print(second, '-metrics', 'e.total:name', '-filters', f'CPRID == {region}', '-functions', '-indxobj', 'OMP_preg', first)
            t.near(answers[-2]['rows'][0]['e.total'], 2 * regions[region] / 10, f'CPRID == {region}, build {build}', 0, 1e-9)
            t.equal({row['name'] for row in answers[-1]['rows'][1:]}, {name}, f'CPRID == {region}, build {build}')
        rows = t.print(second, '-compare', 'on', '-regions', first)[-1]['rows'][1:]
        t.equal({row['name']: (row['calls.1'], row['calls.2']) for row in rows}, {names[make_openmp.FOO]: (2, 2), names[make_openmp.BAR]: (1, 1)},
                f'regions, build {build}')
        t.equal(len(rows), 2, f'rows of regions, build {build}')


FORTRAN = '''subroutine sweep(total)
  real(8), intent(inout) :: total
  integer :: i
  !$omp parallel do reduction(+:total) num_threads(2) schedule(dynamic, 1)
  do i = 1, 400
    total = total + burn(i)
  end do
contains
  real(8) function burn(n)
    integer, intent(in) :: n
    integer :: k
    burn = 0
    do k = 1, 300000
      burn = burn + 1d0 / (k + n)
    end do
  end function
end subroutine
program main
  real(8) :: total
  total = 0
  call sweep(total)
  print *, total > 0
end program
'''


@test
def fortran(t):
    (t.directory / 'sweep.f90').write_text(FORTRAN)
    result = t.run(t.need('gfortran'), '-O1', '-g', '-fopenmp', '-o', 'sweep', 'sweep.f90')
    t.check(result.status == 0, result.err[-500:])
    result = t.collect(t.directory / 'sweep')
    t.equal(result.out.split(), ['T'], 'output')
    row, = t.print(result.experiment, '-regions')[-1]['rows'][1:]
    t.equal((row['calls'], row['threads']), (1, 2), 'the region')
    t.check('sweep' in row['name'] and 'OMP' in row['name'], row['name'])
    rows = t.functions(result.experiment, 'i.total', 'i.ompwork')
    inclusive = sum(value['i.ompwork'] for name, value in rows.items() if name.startswith('sweep') and 'OMP' not in name)
    t.near(inclusive, rows['<Total>']['i.ompwork'], 'all work is in what calls the region', 0.15, 0.03)


PLUGIN = '''#include <omp.h>
volatile int sum;
int run(void)
{
	int threads = 0;
	for (int i = 0; i < 7; i++) {
#pragma omp parallel num_threads(3)
		{
#pragma omp critical
			sum++;
#pragma omp master
			threads = omp_get_num_threads();
		}
	}
	return sum + threads;
}
'''
HOST = '''#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	int (*run)(void) = (int (*)(void))dlsym(plugin, "run");
	printf("%d\\n", run());
	return 0;
}
'''


@test
def loaded_late(t):
    """A runtime that comes by dlopen, into a scope of its own, into a program that knows nothing of it."""
    (t.directory / 'plugin.c').write_text(PLUGIN)
    (t.directory / 'host.c').write_text(HOST)
    for compiler in COMPILERS:
        for words in ((compiler, '-O1', '-g', '-fopenmp', '-shared', '-fPIC', '-o', 'plugin.so', 'plugin.c'), ('gcc', '-O1', '-o', 'host', 'host.c')):
            result = t.run(t.need(words[0]), *words[1:])
            t.check(result.status == 0, result.err[-500:])
        bare = t.run('./host')
        result = t.collect('./host')
        t.equal((result.out, bare.out), ('24\n', '24\n'), f'{compiler}: output')
        row, = t.print(result.experiment, '-regions')[-1]['rows'][1:]
        t.equal((row['calls'], row['threads']), (7, 3), f'{compiler}: the region')


# Libraries that were opened apart from each other, each with its own runtime. gcc ends a region in a jump to the runtime, not a call.
APART = '''#include <omp.h>
static omp_lock_t lock;
static int teams[4], sum;
__attribute__((noinline)) static void region_NAME(void)
{
#pragma omp parallel num_threads(THREADS)
	{
		teams[omp_get_thread_num()] = omp_get_num_threads();
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp critical(the_section)
		sum++;
	}
}
int run_NAME(void)
{
	int all = 0;
	omp_init_lock(&lock);
	for (int i = 0; i < 5; i++)
		region_NAME();
	omp_destroy_lock(&lock);
	for (int i = 0; i < 4; i++)
		all = all * 10 + teams[i];
	return all * 1000 + sum;
}
'''
APART_HOST = '''#include <dlfcn.h>
#include <stdio.h>
static int run(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*function)(void) = library ? (int (*)(void))dlsym(library, name) : 0;
	return function ? function() : -1;
}
int main(void)
{
	for (int i = 0; i < 2; i++) {
		printf("%d ", run("./one.so", "run_one"));
		printf("%d\\n", run("./other.so", "run_other"));
	}
	return 0;
}
'''


@test
def two_runtimes(t):
    """Libraries of one process that bring libgomp and libomp: each has its own locks and teams, and each region is counted once."""
    (t.directory / 'host.c').write_text(APART_HOST)
    commands = [('gcc', '-O1', '-o', 'host', 'host.c')]
    for name, threads, compiler in (('one', 2, 'gcc'), ('other', 3, 'clang')):
        (t.directory / f'{name}.c').write_text(APART.replace('NAME', name).replace('THREADS', str(threads)))
        commands.append((compiler, '-O2', '-g', '-fopenmp', '-shared', '-fPIC', '-o', f'{name}.so', f'{name}.c'))
    for words in commands:
        result = t.run(t.need(words[0]), *words[1:])
        t.check(result.status == 0, result.err[-500:])
    expected = '2200020 3330030\n2200040 3330060\n'
    t.equal(t.run('./host').out, expected, 'bare')
    for options in (), ('-s', 'all', '-H', 'on'):
        result = t.collect('./host', options=options)
        t.equal(result.out, expected, f'{options}: output')
        # a region of libomp's that no tick has met has no name
        calls = collections.Counter()
        for row in t.print(result.experiment, '-regions')[-1]['rows'][1:]:
            calls[row['threads']] += row['calls']
        t.equal(calls, collections.Counter({2: 10, 3: 10}), f'{options}: regions by their threads')


@test
def another_runtime_for_all(t):
    """A library that has brought its own runtime keeps it when another one comes into the program's scope and is used there."""
    for name, threads in (('one', 3), ('two', 2)):
        (t.directory / f'{name}.c').write_text(f'''#include <omp.h>
int run(void)
{{
	int seen = 0;
#pragma omp parallel num_threads({threads}) reduction(+ : seen)
	seen += 1 + 10 * omp_get_thread_num();
	return seen;
}}
''')
    (t.directory / 'host.c').write_text('''#include <dlfcn.h>
#include <stdio.h>
static int (*load(const char *name))(void)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	return library ? (int (*)(void))dlsym(library, "run") : (puts(dlerror()), NULL);
}
int main(void)
{
	int (*one)(void) = load("./one.so");
	printf("%d\\n", one());
	if (!dlopen("libomp.so.5", RTLD_NOW | RTLD_GLOBAL))
		puts(dlerror());
	int (*two)(void) = load("./two.so");
	printf("%d\\n", two());
	printf("%d\\n", one());
	return 0;
}
''')
    gcc = t.need('gcc')
    for words in (('-O1', '-fopenmp', '-shared', '-fPIC', '-o', 'one.so', 'one.c'), ('-O1', '-fopenmp', '-fPIC', '-c', '-o', 'two.o', 'two.c'),
                  ('-shared', '-o', 'two.so', 'two.o'), ('-O1', '-o', 'host', 'host.c')):
        result = t.run(gcc, *words)
        t.check(result.status == 0, result.err[-500:])
    t.equal(t.run('./host').out, '33\n12\n33\n', 'bare')
    result = t.collect('./host')
    t.equal(result.out, '33\n12\n33\n', 'output')


@test
def other_runtime_late(t):
    """A program of libgomp's that loads a library of libomp's: regions of both are counted, in each other, too."""
    (t.directory / 'plugin.c').write_text('''void call(int (*back)(void), int *sum)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		*sum += back();
	}
}
''')
    (t.directory / 'host.c').write_text('''#include <dlfcn.h>
#include <stdio.h>
static int back(void)
{
	int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum++;
	return sum;
}
int main(void)
{
	void (*call)(int (*)(void), int *) = (void (*)(int (*)(void), int *))dlsym(dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL), "call");
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		sum += back();
		call(back, &sum);
	}
	printf("%d\\n", sum);
	return 0;
}
''')
    for words in (('clang', '-O1', '-g', '-fopenmp', '-shared', '-fPIC', '-o', 'plugin.so', 'plugin.c'), ('gcc', '-O1', '-g', '-fopenmp', '-o', 'host', 'host.c')):
        result = t.run(t.need(words[0]), *words[1:])
        t.check(result.status == 0, result.err[-500:])
    t.equal(t.run('./host').out, '32\n', 'bare')
    result = t.collect('./host')
    t.equal(result.out, '32\n', 'output')
    calls = collections.Counter()
    for row in t.print(result.experiment, '-regions')[-1]['rows'][1:]:
        calls[row['threads']] += row['calls']
    t.equal(calls, collections.Counter({2: 4 + 4 * 3, 3: 4}), 'regions by their threads')


FORKS = '''#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int regions(int count)
{
	int sum = 0;
	for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(1) reduction(+ : sum)
		sum++;
	}
	return sum;
}
int main(void)
{
	int status = 0, sum = regions(10);
	pid_t child = fork();
	if (!child)
		_exit(regions(20));
	waitpid(child, &status, 0);
	printf("%d %d\\n", sum, WEXITSTATUS(status));
	return 0;
}
'''


@test
def names_without_ticks(t):
    """
    Regions that no event of another kind has met, in a short child or where nothing else is recorded, have names, and one row in all processes:
    by their function, or with libomp, which does not tell that, by their place.
    """
    (t.directory / 'forks.c').write_text(FORKS)
    for compiler, every in (('gcc', ((), ('-p', 'off'))), ('clang', (('-p', 'off'),))):
        result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', '-o', 'forks', 'forks.c')
        t.check(result.status == 0, result.err[-500:])
        for options in every:
            result = t.collect('./forks', options=options)
            t.equal(result.out, '10 20\n', 'output')
            rows = t.print(result.experiment, '-regions')[-1]['rows'][1:]
            t.equal([(re.sub(r' (from line|\+ 0x).*?(?= --|$)', '', row['name']), row['calls']) for row in rows],
                    [('regions -- OMP parallel region', 30)], f'{compiler}, {options}: regions')


STRIPPED = '''static __attribute__((noinline)) long within(long n)
{
	long sum = 0;

#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (long i = 0; i < n; i++)
		sum += i & 3;
	return sum;
}

__attribute__((visibility("default"))) long shake(long n)
{
	return within(n) + 1;
}
'''
SHAKES = '''#include <stdio.h>
long shake(long n);
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 20; i++)
		sum += shake(1000);
	return sum != 20 * 1501;
}
'''


@test
def names_without_symbols(t):
    """A region of a library without symbols is called by the function of the library that has a name, with its own address."""
    (t.directory / 'lib.c').write_text(STRIPPED)
    (t.directory / 'shakes.c').write_text(SHAKES)
    for words in (('-fopenmp', '-shared', '-fPIC', '-fvisibility=hidden', '-o', 'libshake.so', 'lib.c'), ('-Wl,-rpath,$ORIGIN', '-o', 'shakes', 'shakes.c', './libshake.so')):
        result = t.run(t.need('gcc'), '-O1', *words)
        t.check(result.status == 0, result.err[-500:])
    address, = re.findall(r'^0*([0-9a-f]+) t within\._omp_fn\.0$', t.run(t.need('nm'), 'libshake.so').out, re.M)
    t.check(t.run(t.need('strip'), 'libshake.so').status == 0, 'strip')
    experiment = t.collect('./shakes', options=('-p', 'hi')).experiment
    name = f'shake -- OMP parallel region [<static>@0x{address} (<libshake.so>)]'
    t.equal([(row['name'], row['calls']) for row in t.print(experiment, '-regions')[-1]['rows'][1:]], [(name, 20)], 'regions')
    rows = [row['name'] for row in t.print(experiment, '-indxobj', 'OMP_preg')[-1]['rows'][1:]]
    t.check(set(rows) <= {name, '(none)'}, f'OMP_preg: {rows}')


@test
def without_openmp(t):
    """Programs that have none: no file, and nothing said."""
    result = t.collect('/bin/true')
    t.check(not (result.experiment / 'omptrace').exists(), 'omptrace')
    t.check(not re.search('name="openmp"|omptrace', (result.experiment / 'log.xml').read_text()), 'log.xml')


@test
def modes_are_not_kept(t):
    """What is kept of a session is of one mode: the others are not taken from it."""
    experiment = make_openmp.make(str(t.directory))
    for _ in range(2):
        result = t.run(t.helio, 'print', '-viewmode', 'machine', '-functions', experiment,
                       env={'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(t.directory / 'cache')})
        t.check('gomp_barrier' in result.out and '<OMP-idle>' not in result.out, result.out)


@test(alone=True)
def loops(t):
    """Loops of tasks, and loops whose iterations wait for each other: what the program computes stays, tasks are work, waits are waits."""
    for compiler in COMPILERS:
        program = compile_target(t, compiler, 'omploops')
        expected = t.run(program).out
        t.equal(expected, '1560 190 20\n', f'{compiler}: bare')
        for engine in 'perf', 'monitor':
            if engine == 'perf' and not perf_allowed():
                continue
            result = t.collect(program, engine=engine, options=('-p', 'hi'), env={'OMP_WAIT_POLICY': 'passive'})
            t.equal(result.out, expected, f'{compiler} {engine}: what it prints')
            rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
            in_tasks = sum(row['i.totalcpu'] for name, row in rows.items() if '-- OMP task' in name)
            t.near(in_tasks, 0.5, f'{compiler} {engine}: CPU time in tasks', 0.15)
            # the iterations that wait for each other may wait computing
            waits = sum(rows.get(name, {}).get('e.totalcpu', 0) for name in ('<OMP-explicit_barrier>', '<OMP-implicit_barrier>', '<OMP-task_wait>'))
            t.within(waits < 0.1, f'{compiler} {engine}: {waits} s of CPU time in waits')
            if compiler == 'gcc':
                counts = sorted(row['calls'] for row in t.print(result.experiment, '-tasks')[0]['rows'][1:])
                t.equal(counts, [4, 8], f'{engine}: tasks by loop')
                stacks = t.functions(result.experiment, 'i.sleep', 'i.lock')
                t.check('<OMP-ordered_section_wait>' in stacks, f'{engine}: waits for iterations: {sorted(stacks)}')


# Entry points of libgomp that are not wrapped, and why.
NOT_WRAPPED = {
    'they divide work, and wait for nobody': r'GOMP_(loop|scope|sections2?|single)_.*(start|next|end_nowait)|GOMP_loop_start|GOMP_loop_ull_start|GOMP_sections_next',
    'they end or announce, and wait for nobody': r'GOMP_(atomic|critical|critical_name|ordered)_end|GOMP_doacross_(ull_)?post|GOMP_cancel(lation_point)?|GOMP_taskgroup_start|GOMP_.*reduction_(register|remap|unregister)',
    'tasks that they execute tell of themselves': r'GOMP_taskyield',
    'of compilers before GCC 4.9': r'GOMP_parallel_(.*_)?start|GOMP_parallel_end',
    'of devices: on the host they call the function': r'GOMP_(target|teams4?|offload|PLUGIN)(_.*)?',
    'of memory and messages': r'GOMP_(alloc|free|error|warning)',
}


@test
def every_entry_point(t):
    """What the newest libgomp here exports is wrapped, or it is known why not."""
    library = t.run('gcc', '-print-file-name=libgomp.so').out.strip()
    exported = set(re.findall(r' (GOMP_[a-zA-Z0-9_]+)@@', t.run(t.need('readelf'), '--dyn-syms', '-W', library).out))
    t.check(len(exported) > 100, f'{library}: {len(exported)} functions')
    ours = t.run(t.need('readelf'), '--dyn-syms', '-W', t.build / 'libhelio-collector.so').out
    wrapped = {name for name in exported if re.search(rf' {name}(@|$)', ours, re.M)}
    t.check({'GOMP_parallel', 'GOMP_taskloop', 'GOMP_barrier'} <= wrapped, f'wrapped: {sorted(wrapped)}')
    left = {name for name in exported - wrapped if not any(re.fullmatch(pattern, name) for pattern in NOT_WRAPPED.values())}
    t.equal(left, set(), 'neither wrapped nor known')
