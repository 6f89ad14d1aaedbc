# SPDX-License-Identifier: Apache-2.0
"""
All that is hard at once, for HELIO_SOAK_SECONDS (default 16, shared by the two engines): no memory that
grows with the events, nothing lost that is not counted.
"""
import os
import shutil

from harness import test

SECONDS = float(os.environ.get('HELIO_SOAK_SECONDS', 16)) / 2


@test(alone=True, engines=True)
def soak(t, engine):
    plugins = [t.directory / f'plugin{number}.so' for number in range(4)]
    for plugin in plugins:
        shutil.copy(t.target('plugin.so'), plugin)
    bare = t.run(t.target('soak'), 3, *plugins).truth()
    result = t.collect(t.target('soak'), SECONDS, *plugins, engine=engine, options=('-p', '100u'), timeout=SECONDS * 4 + 120)
    truth = result.truth()
    for what in ('thrown', 'loaded', 'started', 'forked'):
        t.within(truth[what] > 10, f'{what}: {truth[what]}')
    family = t.read(result.experiment)
    process = family['']
    counters = [event for event in process['log_events'] if event['kind'] == 'counters'][-1]
    t.equal(process['events'] + process['dropped'], int(counters['events']) + int(counters['dropped']), 'events recorded')
    t.near(process['cpu'], float(counters['cpu_ns']) / 1e9, 'CPU', 0.005)
    # the collector's last look at a thread is behind the thread's own
    t.within(process['ends'] < 0.005 * process['cpu'] + truth['unseen'], f'{process["ends"]} s for ends of threads, {truth["unseen"]} in truth')
    t.within(int(counters['unwind_failed']) < 0.02 * process['events'], f'{counters["unwind_failed"]} stacks failed')
    t.equal(len(process['threads']), 17 + truth['started'], 'threads')
    t.equal(len(family) - 1, truth['forked'], 'children')
    # what the program itself takes while it goes on, one more table of stacks (4 MB: each is eight times
    # the one before), then 96 bytes for each distinct frame, and a quarter of a byte for each event
    grown = truth['memory_late'] - truth['memory_early'] - max(0, bare['memory_late'] - bare['memory_early'])
    t.remark += f'{process["events"]} events, {process["nodes"]} frames, {counters["unwind_failed"]} failed, {grown:.0f} kB '
    t.within(grown < 5120 + process['nodes'] * 96 / 1024 + process['events'] / 4096,
            f'memory grew by {grown} kB in {process["events"]} events with {process["nodes"]} frames')
