# SPDX-License-Identifier: Apache-2.0
"""
All kinds of data at once, under both engines, over some of the programs that break profilers: as bare, and every event whole.
The whole matrix runs so by hand (docs/internals/tests.md).
"""
from harness import perf_allowed, test

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
