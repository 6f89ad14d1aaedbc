# SPDX-License-Identifier: Apache-2.0
"""What sandboxes do before they lock a program in: nothing of ours may be met by it."""
from harness import test


@test(engines=True)
def signals_by_number(t, engine):
    """Actions and masks set through syscall(3), as Chromium sets all of a child's back: no event finds the default action."""
    for result, family in t.like_bare(engine, t.target('sandboxed'), 'numbers'):
        t.equal(result.status, 3, 'status')
        t.check('child.signal 0\nchild.status 5\n' in result.out, f'the child: {result.out}')
        t.within(family['']['cpu'] > 0.15 and family['_f1_x1']['cpu'] > 0.05, 'hardly any CPU time recorded')


@test(engines=True)
def alone_in_its_process(t, engine):
    """A program of one thread that asks /proc for the number of its threads, as Chromium and Firefox do, finds one."""
    for options in ((), ('-i', 'on')):
        for result, family in t.like_bare(engine, t.target('sandboxed'), 'alone', options=options):
            t.equal(result.out.split(), [word for n in range(8) for word in (f'threads.{n}', '1')], 'what it saw')
            t.within(family['']['cpu'] > 0.1, 'hardly any CPU time recorded')


@test(engines=True)
def descriptors_listed(t, engine):
    """A listing of its descriptors has those that it has: none that it cannot close."""
    for options in ((), ('-i', 'on')):
        for result, family in t.like_bare(engine, t.target('sandboxed'), 'listing', options=options):
            t.check('failed 0\n' in result.out, f'{result.out}')
            t.within(family['']['cpu'] > 0.05, 'hardly any CPU time recorded')


@test
def mask_after_a_hand_over(t):
    """Where the monitor takes over in a handler, the program's mask is not that of the handler."""
    for _, family in t.like_bare('perf', t.target('sandboxed'), 'switching', intervals=('10',)):
        t.within(any('monitor engine goes on' in event.get('text', '') for event in family['']['log_events']), 'nothing took over')


@test(engines=True)
def root_moved_by_another(t, engine):
    """A process that shares its root moves it, as for Chromium's zygotes: it is recorded on, and so are its children."""
    for result, family in t.like_bare(engine, t.target('sandboxed'), 'moved'):
        t.check('root -1\nlinks 3\n' in result.out, result.out)
        t.within(family['']['cpu'] > 0.2, 'hardly any CPU time recorded')
        t.within(any(name and image['cpu'] > 0.05 for name, image in family.items()), f'the child is missing: {sorted(family)}')


@test(engines=True)
def children_in_namespaces(t, engine):
    """Children that clone and clone3 make by number, the first of a pid namespace among them."""
    for _, family in t.like_bare(engine, t.target('sandboxed'), 'clones'):
        t.within(sum(image['cpu'] > 0.05 for image in family.values()) == 3, f'recorded: {sorted(family)}')


@test(engines=True)
def handlers_cleared(t, engine):
    """CLONE_CLEAR_SIGHAND by number: the child has the program's actions of none, and ours, so that no event ends it."""
    for options in ((), ('-h', 'page-faults', '-l', 'USR2')):
        for result, family in t.like_bare(engine, t.target('sandboxed'), 'cleared', options=options, intervals=('1m',)):
            t.equal(result.status, 14, 'status')
            t.equal(result.out.count('child.kinds 0 0 1 0\nchild.signal 0\nchild.status 25\nparent.kinds 2 2 1 0\n'), 5, 'children')
            t.check('program.signal 0\nprogram.status 5\nbeside.signal 0\nbeside.status 27\n' in result.out, result.out)
            t.within(sum(image['cpu'] > 0.04 for image in family.values()) == 7, f'recorded: {sorted(family)}')


@test(engines=True)
def without_rights(t, engine):
    """No files, processes or locked memory any more, another user, and not dumpable."""
    for _, family in t.like_bare(engine, t.target('sandboxed'), 'locked'):
        t.within(family['']['cpu'] > 0.2, 'hardly any CPU time recorded')


@test(engines=True)
def filter_that_traps(t, engine):
    """From the filter on none of our system calls is made: not for threads, children, nor in programs that they execute."""
    for result, _ in t.like_bare(engine, t.target('sandboxed'), 'filtered'):
        t.check('trapped 0\n' in result.out, result.out)


@test(engines=True)
def fork_handlers_run_by_the_program(t, engine):
    """What pthread_atfork was given runs twice in a child, as in Firefox's: it is one process, recorded once."""
    for _, family in t.like_bare(engine, t.target('sandboxed'), 'handlers'):
        t.within(sorted(family) == ['', '_f1', '_f2', '_f3'] and all(image['cpu'] > 0.05 for image in family.values()),
                 f'recorded: {[(name, image["cpu"]) for name, image in family.items()]}')
