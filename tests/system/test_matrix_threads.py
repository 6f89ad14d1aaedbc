# SPDX-License-Identifier: Apache-2.0
"""Threads and signals: each program's own words are those of its bare run, whatever the engine and the interval."""
import signal

from harness import test


@test(engines=True)
def own_signals(t, engine):
    """Handlers, timers, masks, alternate stacks: not one of its signals is lost, added or seen otherwise."""
    for _, family in t.like_bare(engine, t.target('ownsignals')):
        t.equal(family['']['collector']['engine'], engine, 'engine')
        t.within(family['']['cpu'] > 0.2, 'hardly any CPU time recorded')


@test(engines=True)
def old_signals(t, engine):
    """sigset and signal; a handler's own signal is blocked in it. Of a signal of ours all but that."""
    ours = signal.SIGTRAP if engine == 'perf' else 63
    for number, options in ((signal.SIGUSR1, ()), (signal.SIGUSR1, ('-l', 'USR1')), (ours, ())):
        same = (lambda result: result.out.split('signal:')[0]) if number == ours else (lambda result: result.out)
        for _ in t.like_bare(engine, t.target('oldsignals'), int(number), options=options, intervals=('10m',), same=same):
            pass


@test(engines=True)
def signals_to_the_process(t, engine):
    """A signal goes to a thread that has it open, or waits, as bare, and not to one where only we keep it open."""
    for _, family in t.like_bare(engine, t.target('directed')):
        t.equal(family['']['collector']['engine'], engine, 'engine')
        t.within(family['']['cpu'] > 0.1, 'hardly any CPU time recorded')


@test(engines=True)
def waves_of_threads(t, engine):
    """1,000 threads: each has its record, and their CPU time adds up."""
    for result, family in t.like_bare(engine, t.target('waves'), 1000):
        process = family['']
        t.equal(len(process['threads']), 1001, 'threads recorded')
        t.equal(sum(thread['ended'] for thread in process['threads'][1:]), 1000, 'threads that ended')


@test(engines=True)
def masks_that_are_handed_on(t, engine):
    """What is blocked before an exec or in a new process is blocked in the program that comes, and waits there; SIGBUS, too."""
    for way in ('exec', 'pending', 'spawn', 'spawn_mask', 'spawn_open', 'vfork', 'fails'):
        for _ in t.like_bare(engine, t.target('inherits'), way, intervals=('1m',)):
            pass
