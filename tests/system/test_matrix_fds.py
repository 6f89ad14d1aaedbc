# SPDX-License-Identifier: Apache-2.0
"""The program's descriptor table is its own: it closes, replaces and counts what it likes, and is recorded all the same."""
from harness import test

WORK = 0.08  # seconds in each of the functions, by the target's own clock


def without_times(result):
    return [line for line in result.out.splitlines() if not line.startswith('cpu ')]


def limited(most, *words, hard=None):
    return ('prlimit', f'--nofile={most}:{hard or most}', *words)


@test(alone=True, engines=True)
def table(t, engine):
    """Closed in every way, filled, every number replaced: nothing differs, and the events live on."""
    for result, family in t.like_bare(engine, *limited(1024, t.target('descriptors'), 16, hard=4096), same=without_times):
        t.equal(sorted({p['collector'].get('engine') for p in family.values()}), [engine], 'engines')
        rows = t.functions(result.experiment, 'i.totalcpu')
        for name in ('after', 'in_thread', 'in_child'):
            # dead events leave nothing; few of them leave some to the function before or after
            t.near(rows.get(name, {}).get('i.totalcpu', 0), WORK, f'{name}', 0.6)
        t.near(family['_x1']['cpu'], result.truth()['cpu'], 'CPU', 0.05, 0.01)


@test(alone=True, engines=True)
def table_while_events_rest(t, engine):
    """The table becomes another one, and numbers change, while events are off because handlers are slow: they come on again."""
    result = t.collect(*limited(1024, t.target('descriptors'), 16, hard=4096), engine=engine, options=('-p', '100u'), status=None,
                       env={'HELIO_TEST_HANDLER_NS': '150000'})
    rows = t.functions(result.experiment, 'i.totalcpu')
    for name in ('after', 'in_thread', 'in_child'):
        t.near(rows.get(name, {}).get('i.totalcpu', 0), WORK, f'{name}', 0.6)
    warnings = [event['text'] for process in t.read(result.experiment).values() for event in process['log_events'] if event['kind'] == 'warning']
    t.check(not any('not found again' in text for text in warnings), f'{warnings}')


@test(engines=True)
def low_limits(t, engine):
    """Few descriptors, and no right to raise the limit: recorded all the same, if need be by the other engine."""
    for most, first_choice in ((8, engine == 'monitor'), (64, True)):
        words = ('setpriv', '--bounding-set=-sys_resource', *limited(most, t.target('descriptors')))
        # 64 leave room for two events, below the limit: it is met a bit earlier
        same = without_times if most == 8 or engine == 'monitor' else lambda result: None
        for result, family in t.like_bare(engine, *words, same=same):
            process = family['_x1_x1']
            t.equal(process['collector']['engine'] == engine, first_choice, f'first choice with {most} descriptors')
            t.equal(bool(process['collector']['reason']), not first_choice, 'a reason in the log')
            t.near(process['cpu'], result.truth()['cpu'], f'CPU with {most} descriptors', 0.05, 0.01)


@test
def no_room_for_counters(t):
    """A counter needs a descriptor: where the program would miss it, it is given up, and the log says why."""
    for most, hard, kept in ((8, None, False), (8, 64, True), (256, None, True)):
        result = t.collect(*limited(most, t.target('faulter'), 'pages=64', hard=hard), options=('-h', 'page-faults,1', '-p', 'off'),
                           before=('setpriv', '--bounding-set=-sys_resource'))
        process = next(p for p in t.read(result.experiment).values() if p['process'].get('exe', '').endswith('faulter'))
        overflows = [event for event in process['traces']['hwcounters'] if event['type'] == 'overflow']
        t.equal(len(overflows) >= 64, kept, f'overflows with {most} descriptors of {hard or most}')
        warnings = [event['text'] for event in process['log_events'] if event['kind'] == 'warning']
        t.equal(any('open files' in text for text in warnings), not kept, f'warnings with {most} descriptors: {warnings}')


@test(engines=True)
def full_for_a_while(t, engine):
    """While the table is full the experiment cannot grow; when it is not any more, it does."""
    wave, each = 12, 0.025
    for result, family in t.like_bare(engine, *limited(32, t.target('descriptors'), 'full', hard=4096), same=without_times):
        for thread in family['_x1']['threads'][-wave:]:
            cpu = sum(thread['states'].get(state, 0) for state in ('user', 'system'))
            t.ratio(cpu, each, 0.95, 1.3, 'a thread')  # its start and end, with our handlers', are its own, too
        # what is left of threads of a few ticks each may be nobody's
        rows = t.functions(result.experiment, 'i.totalcpu')
        t.ratio(rows.get('afterwards', {}).get('i.totalcpu', 0), wave * each, 0.25, 1.1, 'in its place')
