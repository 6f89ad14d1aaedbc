# SPDX-License-Identifier: Apache-2.0
"""
All kinds of data at once, under both engines, over some of the programs that break profilers: as bare, and every event whole.
The whole matrix runs so by hand (docs/internals/tests.md).
"""
import functools
import os

import helio_reader
from harness import perf_allowed, test
from test_matrix_code import plugin_copies
from test_stacks import Symbols

ALL = ('-H', 'on', '-s', 'all', '-i', 'on')


def recorded(t, engine, *words, **more):
    """The program as bare, with all tracers; the family."""
    counters = ('-h', 'page-faults,101') if perf_allowed() else ()
    for result, family in t.like_bare(engine, *words, intervals=('100u',), options=(*ALL, *counters), **more):
        for lineage, process in family.items():
            logged = [event for event in process['log_events'] if event['kind'] == 'counters'][-1:]
            for kind, events in process['traces'].items():
                t.check(not logged or len(events) == int(logged[0][kind]), f'{lineage}: {kind}: {len(events)}, {logged}')
        yield result, family


@test(engines=True)
def waits(t, engine):
    """No call ends early, no transfer is cut short, no signal of the program is lost."""
    for words in ((t.target('waits'), 0.02), (t.target('transfers'), 0.1), (t.target('interrupted'),), (t.target('interrupted'), 'stop')):
        for _ in recorded(t, engine, *words):
            pass


@test(engines=True)
def threads_and_code(t, engine):
    """Threads by the hundred, exceptions, stacks of the program's own making."""
    for _, family in recorded(t, engine, t.target('waves'), 100):
        t.check(len(family['']['traces']['synctrace']) >= 100, 'a join of each thread')
    for _ in recorded(t, engine, t.target('exceptions'), '0.2s', same=lambda result: result.truth()['caught_all']):
        pass


@test(engines=True)
def processes(t, engine):
    """Forks in threaded programs, each with its own files; ends of all kinds."""
    for _, family in recorded(t, engine, t.target('forktree'), '0.05s', same=lambda result: result.status):
        t.check(len(family) > 1, 'children')
    for how in ('_exit', 'abort', 'quick_exit'):
        for _ in recorded(t, engine, t.target('ends'), how, same=lambda result: sorted(result.truth())):
            pass


@test(engines=True)
def stopped_by_a_task_on_its_memory(t, engine):
    """A task that runs on a thread's variables, and stops it anywhere, waits for nothing of that thread's; its calls are not the thread's."""
    counters = ('-h', 'page-faults,1') if perf_allowed() else ()
    stops = 3000
    for result, family in t.like_bare(engine, t.target('lentstops'), stops, intervals=('100u',), options=('-i', 'on', *counters)):
        t.equal(result.truth()['stops'], stops, 'stops')
        t.check(len(family['']['traces']['iotrace']) < stops, 'calls of the task')


@test
def header(t):
    """How many of each kind there are, as a second reader counts them."""
    result = t.collect(t.target('waves'), 20, options=(*ALL, '-h', 'page-faults,1'))
    files = {'heap': 'heaptrace', 'sync': 'synctrace', 'io': 'iotrace', 'counters': 'hwcounters'}
    read = t.read(result.experiment)['']['traces']
    counts = {kind: len(read[file]) for kind, file in files.items()}
    t.check(all(counts.values()), f'{counts}')
    t.equal(t.print(result.experiment, '-header')[0]['rows'][0]['trace_events'], counts, 'events of each kind')
    told = ', '.join(f'{count} of {kind}' for kind, count in counts.items())
    t.check(f' profile events, {told}, 0 dropped' in t.run(t.helio, 'print', '-header', result.experiment).out, told)


@test
def allocations_while_objects_close(t):
    """Four threads open and close an object each, all the time: each allocation in there has its callers."""
    rounds, calls, threads = 150, 20, 4
    copies = plugin_copies(t, threads)
    result = t.collect(t.target('plugins'), 'churn', rounds, *copies, options=('-p', 'off', *ALL))
    process = t.read(result.experiment)['']
    with open(os.path.join(result.experiment, 'stacks'), 'rb') as file:
        nodes, _ = helio_reader.read_stacks(file.read())
    program, plugin = Symbols(t, t.target('plugins')), Symbols(t, t.target('plugin.so'))

    @functools.cache
    def frame(epoch, pc):
        entry = helio_reader.find_object(process['maps'], epoch, pc)
        inside = entry and entry['name'] in map(str, copies)
        return entry and (plugin if inside else program).name(pc - entry['bias'])

    @functools.cache
    def right(stack):
        names = [frame(*node) for node in helio_reader.frames(nodes, stack)]
        return names[:2] == ['plugin_allocate', 'plugin_run'] and 'churn_in_thread' in names

    found = sum(right(event['stack']) for event in process['traces']['heaptrace'] if event['type'] == 'malloc')
    t.ratio(found, rounds * calls * threads, 0.999, 1, 'with their callers')
