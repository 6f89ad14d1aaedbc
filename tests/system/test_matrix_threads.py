# SPDX-License-Identifier: Apache-2.0
"""Threads and signals: each program's own words are those of its bare run, whatever the engine and the interval."""
from harness import test


@test(engines=True)
def own_signals(t, engine):
    """Handlers, timers, masks, alternate stacks: not one of its signals is lost, added or seen otherwise."""
    for _, family in t.like_bare(engine, t.target('ownsignals')):
        t.equal(family['']['collector']['engine'], engine, 'engine')
        t.within(family['']['cpu'] > 0.2, 'hardly any CPU time recorded')


@test(engines=True)
def waves_of_threads(t, engine):
    """1,000 threads: each has its record, and their CPU time adds up."""
    for result, family in t.like_bare(engine, t.target('waves'), 1000):
        process = family['']
        t.equal(len(process['threads']), 1001, 'threads recorded')
        t.equal(sum(thread['ended'] for thread in process['threads'][1:]), 1000, 'threads that ended')
