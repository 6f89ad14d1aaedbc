# SPDX-License-Identifier: Apache-2.0
"""The program's descriptor table is its own: it closes, replaces and counts what it likes, and is recorded all the same."""
from harness import test

INTERVALS = ('100u', '1m', '10m')
WORK = 0.08  # seconds in each of the functions, by the target's own clock


def without_times(text):
    return [line for line in text.splitlines() if not line.startswith('cpu ')]


def compare(t, result, bare):
    t.equal(without_times(result.out), without_times(bare.out), 'output')
    t.equal(result.status, bare.status, 'status')


def limited(most, *words, hard=None):
    return ('prlimit', f'--nofile={most}:{hard or most}', *words)


@test(alone=True, engines=True)
def table(t, engine):
    """Closed in every way, filled, every number replaced: nothing differs, and the events live on."""
    bare = t.run(*limited(1024, t.target('descriptors'), 16, hard=4096))
    for interval in INTERVALS:
        result = t.collect(*limited(1024, t.target('descriptors'), 16, hard=4096), engine=engine, status=5,
                           options=('-p', interval))
        compare(t, result, bare)
        family = t.read(result.experiment)
        t.equal(sorted({p['collector'].get('engine') for p in family.values()}), [engine], 'engines')
        rows = t.functions(result.experiment, 'i.totalcpu')
        for name in ('after', 'in_thread', 'in_child'):
            # dead events leave nothing; few of them leave some to the function before or after
            t.near(rows.get(name, {}).get('i.totalcpu', 0), WORK, f'{name} at {interval}', 0.6)
        t.near(family['_x1']['cpu'], result.truth()['cpu'], f'CPU at {interval}', 0.05, 0.01)


@test(engines=True)
def low_limits(t, engine):
    """Few descriptors, and no right to raise the limit: recorded all the same, if need be by the other engine."""
    for most, first_choice in ((8, engine == 'monitor'), (64, True)):
        words = ('setpriv', '--bounding-set=-sys_resource', *limited(most, t.target('descriptors')))
        bare = t.run(*words)
        result = t.collect(*words, engine=engine, status=5, options=('-p', '1m'))
        if most == 8 or engine == 'monitor':  # 64 leave room for two events, below the limit
            compare(t, result, bare)
        process = t.read(result.experiment)['_x1_x1']
        t.equal(process['collector']['engine'] == engine, first_choice, f'first choice with {most} descriptors')
        t.equal(bool(process['collector']['reason']), not first_choice, 'a reason in the log')
        t.near(process['cpu'], result.truth()['cpu'], f'CPU with {most} descriptors', 0.05, 0.01)


@test(engines=True)
def full_for_a_while(t, engine):
    """While the table is full the experiment cannot grow; when it is not any more, it does."""
    words = limited(32, t.target('descriptors'), 'full', hard=4096)
    bare = t.run(*words)
    result = t.collect(*words, engine=engine, status=5, options=('-p', '1m'))
    compare(t, result, bare)
    rows = t.functions(result.experiment, 'i.totalcpu')
    t.near(rows.get('afterwards', {}).get('i.totalcpu', 0), 12 * 0.025, 'CPU afterwards', 0.2)
