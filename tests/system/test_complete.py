# SPDX-License-Identifier: Apache-2.0
"""
Nothing is lost: CPU and wall time in the profile against what the program's
own getrusage says. 1 % is the promise for runs of 3 s and more.
"""
from harness import few_ticks, monitor_cpu, test

LOW, HIGH = 0.99, 1.01


def complete(t, engine, name, *arguments, low=LOW):
    """The monitor's own thread is the collector's cost, and no part of the profile; getrusage has it as well."""
    result = t.collect(t.target(name), *arguments, engine=engine)
    truth = result.truth()
    process = t.read(result.experiment)['']
    t.equal(process['dropped'], 0, 'dropped')
    t.equal(process['collector']['engine'], engine, 'engine')
    t.ratio(process['cpu'], truth['cpu'] - monitor_cpu(process), low, HIGH, 'cpu')
    t.ratio(process['threads'][0]['sum'], truth['wall'], LOW, HIGH, 'wall')
    t.within(monitor_cpu(process) < 0.015 * truth['wall'], f'monitor: {monitor_cpu(process):.4f} of {truth["wall"]:.4f} s')
    return result, truth, process


@test(alone=True, engines=True)
def computing(t, engine):
    complete(t, engine, 'flat', '3s')


@test(alone=True, engines=True)
def deep_recursion(t, engine):
    complete(t, engine, 'deep', '3s')


@test(alone=True, engines=True)
def allocating(t, engine):
    complete(t, engine, 'malloc_heavy', '3s')


@test(alone=True, engines=True)
def eight_threads(t, engine):
    _, truth, process = complete(t, engine, 'threads8', '0.5s')
    threads = {thread['tid']: thread for thread in process['threads']}
    for key, cpu in truth.items():
        if key.startswith('thread.') and key.endswith('.cpu'):
            thread = threads[int(key.split('.')[1])]
            t.near(sum(thread['states'].get(s, 0) for s in ('user', 'system', 'trap')), cpu, key, 0.01, 0.002)
            t.near(thread['sum'], truth[key.replace('.cpu', '.life')], f'{key} life', 0.01, 0.005)


@test(alone=True, engines=True)
def short_threads(t, engine):
    """
    2000 threads, each much shorter than an interval, use 3 s. What the kernel
    does before a thread's first instruction and after its last, about 20 µs of
    its 1.5 ms, belongs to the process and to no thread's profile.
    """
    _, truth, process = complete(t, engine, 'shortthreads', '2000', low=0.98)
    t.equal(len(process['threads']), 2001, 'threads')
    own = sum(thread['states'].get(s, 0) for thread in process['threads'][1:] for s in ('user', 'system', 'trap'))
    t.ratio(own, truth['threads.cpu'], 0.99, 1.03, 'threads.cpu')  # starting and ending is theirs too


@test(alone=True, engines=True)
def waiting_and_faulting(t, engine):
    """One second of CPU in 3.3 s."""
    complete(t, engine, 'phases', '0.3')


@test(alone=True, engines=True)
def throwing(t, engine):
    result, truth, process = complete(t, engine, 'exceptions', '3s')
    t.equal(truth['caught_all'], 1, 'exceptions caught')
    # as in stacks/exceptions
    t.within(process['unrecorded'].get('<Stack-unwind-failed>', 0) < (0.01 + few_ticks(process, truth)) * process['cpu'],
             f'stacks that end early: {process["unrecorded"]}')


@test(alone=True, engines=True)
def switching(t, engine):
    """Hundreds of thousands of context switches per second: throttled, yet the totals are right."""
    complete(t, engine, 'pingpong', '3s')


@test(alone=True, engines=True)
def intervals(t, engine):
    """
    From 100 µs to 1 s the totals are the same: they do not depend on counting
    ticks. Against the thread's own clock: at 100 µs the monitor's thread uses CPU too.
    """
    for interval in ('100u', '1m', '100m', '1000m'):
        result = t.collect(t.target('flat'), '3s', engine=engine, options=('-p', interval))
        process = t.read(result.experiment)['']
        t.ratio(process['cpu'], result.truth()['thread_cpu'], LOW, HIGH, interval)
