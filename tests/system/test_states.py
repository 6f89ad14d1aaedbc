# SPDX-License-Identifier: Apache-2.0
"""Where time goes, by kind: each phase of `phases` has a function of its own and a known duration."""
from harness import test

# phase: the state that its wall time must show up in
WAITS = {'nanosleep': 'sleep', 'poll': 'sleep', 'select': 'sleep', 'epoll': 'sleep', 'pipe': 'sleep', 'cond': 'lock',
         'sem': 'lock'}


@test(alone=True, engines=True)
def of_phases(t, engine):
    result = t.collect(t.target('phases'), '0.3', engine=engine, options=('-p', 'hi'))
    truth = result.truth()
    rows = t.functions(result.experiment, 'i.total', 'i.user', 'i.system', 'i.lock', 'i.sleep', 'i.wait', 'i.datapfault',
                       'i.kernelpfault')

    def value(phase, metric):
        t.check(f'phase_{phase}' in rows, f'no function phase_{phase}')
        return rows[f'phase_{phase}'][f'i.{metric}']

    # an interval at either end may be counted to the neighbour; the clock may be 3 intervals late under load
    slack = 0.010
    for phase, state in WAITS.items():
        wall = truth[f'{phase}.wall']
        t.near(value(phase, state) + value(phase, 'wait'), wall, f'{phase} {state}', 0.02, slack)
    t.near(value('spin', 'user'), truth['spin.cpu'], 'spin user', 0.05, slack)
    t.near(value('readzero', 'system'), truth['readzero.cpu'], 'readzero system', 0.03, slack)
    faulting = value('pagefault', 'user') + value('pagefault', 'system')
    t.near(faulting, truth['pagefault.cpu'], 'pagefault cpu', 0.03, slack)
    t.near(value('pagefault', 'total'), truth['pagefault.wall'], 'pagefault total', 0.03, 0.03)  # fsync's switches are throttled: a wait may come late
    t.check(value('pagefault', 'user') < 0.5 * faulting, 'page faults are shown as user CPU')
    cpu = value('fsync', 'user') + value('fsync', 'system')
    t.near(cpu, truth['fsync.cpu'], 'fsync cpu', 0.15, 0.02)
    t.near(value('fsync', 'total'), truth['fsync.wall'], 'fsync total', 0.02, 0.03)
    t.equal(truth['interrupted'], 0, 'calls ended by EINTR')
    t.equal(truth['readzero.partial'], 0, 'short reads')


@test(alone=True)
def stopped(t):
    """By its own raise() and by another process while it computes. A stop stops the monitor too: perf only."""
    result = t.collect(t.target('stopper'), '0.5', engine='perf')
    truth = result.truth()
    rows = t.functions(result.experiment, 'i.stop', 'i.total')
    t.near(rows['stop_self']['i.stop'], truth['stopped_self'], 'stopped by itself', 0.05, 0.03)
    t.near(rows['compute_and_be_stopped']['i.stop'], truth['stopped_other'], 'stopped by another', 0.05, 0.05)


@test(alone=True, engines=True)
def waiting_for_a_processor(t, engine):
    """Eight threads on two or more processors: what is neither CPU nor sleep is wait for a CPU."""
    result = t.collect(t.target('threads8'), '0.3s', engine=engine)
    process = t.read(result.experiment)['']
    workers = process['threads'][1:]
    waited = sum(thread['states'].get('wait', 0) for thread in workers)
    other = sum(thread['life'] for thread in workers) - sum(
        thread['states'].get(s, 0) for thread in workers for s in ('user', 'system', 'trap'))
    t.near(waited, other, 'wait CPU', 0.05, 0.03)


@test(engines=True)
def waits_that_begin_in_a_burst(t, engine):
    """Threads that switch thousands of times a second beside it do not take a wait's stack away."""
    result = t.collect(t.target('bursts'), engine=engine)
    rows = t.functions(result.experiment, 'i.total')
    t.ratio(rows['long_wait']['i.total'], result.truth()['long_wait'], 0.9, 1.05, 'long_wait')
