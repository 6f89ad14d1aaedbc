# SPDX-License-Identifier: Apache-2.0
"""Code that comes and goes, stacks that no ABI knows: the program goes on as if bare, and no stack is made up."""
import shutil

from harness import test
from test_stacks import named, weighted_stacks

ROUNDS = {'jumps': 5000, 'contexts': 10000, 'handmade': 10000, 'ifunc': 10000, 'overflow': 15, 'deep': 30, 'jit': 5000,
          'leaf': 5000, 'framed': 5000, 'map': 5000}
# Functions that every stack of a leaf must hold, from the leaf outwards; those of coroutines end where they were made.
CALLERS = {'jumps': ['fall', 'jumps', 'main', '_start'], 'contexts': None, 'handmade': ['on_own_stack'],
           'ifunc': ['chosen', 'ifunc', 'main', '_start']}


def counter(process, name):
    return [int(event[name]) for event in process['log_events'] if event['kind'] == 'counters'][-1]


def check_counted(t, process):
    """What is not a stack is counted as such."""
    for name, marker in (('unwind_failed', '<Stack-unwind-failed>'), ('truncated', '<Truncated-stack>')):
        t.check(counter(process, name) > 0 or not process['unrecorded'].get(marker), f'{marker} without being counted')
    t.equal(process['dropped'], counter(process, 'dropped'), 'drops in the blocks and in the log')


@test(engines=True)
def odd_stacks(t, engine):
    for kind, rounds in ROUNDS.items():
        for result, family in t.like_bare(engine, t.target('oddstacks'), kind, rounds):
            process = family['']
            check_counted(t, process)
            failed = process['unrecorded'].get('<Stack-unwind-failed>', 0)
            t.within(failed <= 0.02 * process['total'], f'{kind}: {failed:.4f} of {process["total"]:.4f} s failed')


@test(engines=True)
def callers_of_leaves(t, engine):
    """Through longjmp, indirect functions and a stack of the program's own, each leaf has the callers that it has."""
    for kind, callers in CALLERS.items():
        if not callers:
            continue
        result = t.collect(t.target('oddstacks'), kind, 4 * ROUNDS[kind], engine=engine, options=('-p', '100u'))
        right = total = 0
        for seconds, names in named(t, result, t.target('oddstacks')):
            if names[0] != 'leaf':
                continue
            rest = [name for name in names[1:] if name in callers]
            kept = [name for i, name in enumerate(rest) if not i or name != rest[i - 1]]
            total += seconds
            right += seconds if kept == callers else 0
        t.within(total > 0, f'{kind}: no time in leaf')
        t.within(right > 0.98 * total, f'{kind}: {right:.4f} of {total:.4f} s in leaf have the right callers')


@test(engines=True)
def truncated_but_counted(t, engine):
    """Recursion 100,000 deep: the leaf part is there, the marker is the root, and each is counted."""
    result = t.collect(t.target('oddstacks'), 'deep', 120, engine=engine, options=('-p', '1'))
    process = t.read(result.experiment)['']
    t.within(counter(process, 'truncated') > 20, f'{counter(process, "truncated")} truncated stacks')
    t.check(process['deepest'] <= 1025, f'a stack of {process["deepest"]} frames')
    cut = [names[:-1] for _, names in named(t, result, t.target('oddstacks')) if names[-1] == '?']
    t.within(cut, 'no stack ends in the marker')
    for names in cut:
        t.check(set(names[2:]) == {'descend'}, f'not descend only: {set(names)}')


def plugin_copies(t, count):
    """The plugin under several names: as many load objects."""
    copies = [t.directory / f'plugin{number}.so' for number in range(count)]
    for copy in copies:
        shutil.copy(t.target('plugin.so'), copy)
    return copies


@test(engines=True)
def plugins_come_and_go(t, engine):
    """dlopen and dlclose from four threads at 10 kHz, new namespaces, two objects at one address."""
    copies = plugin_copies(t, 4)
    for how, rounds in (('churn', 40), ('shared', 60), ('space', 60), ('replaced', 100)):
        for _, family in t.like_bare(engine, t.target('plugins'), how, rounds, *copies):
            check_counted(t, family[''])


@test(engines=True)
def plugins_keep_their_names(t, engine):
    """Two objects in turn at one address: the time in each is its own."""
    copies = plugin_copies(t, 2)
    result = t.collect(t.target('plugins'), 'replaced', 600, *copies, engine=engine, options=('-p', '100u'))
    process = t.read(result.experiment)['']
    spent = {}
    for seconds, path in weighted_stacks(t, result):
        spent[path[0][0]] = spent.get(path[0][0], 0) + seconds
    shares = [spent.get(str(copy), 0) / process['cpu'] for copy in copies]
    t.remark += f'shares {shares[0]:.2f} {shares[1]:.2f} '
    t.within(min(shares) > 0.15 and max(shares) < 1.6 * min(shares), f'shares of the two: {shares}')


@test(engines=True)
def stacks_while_objects_close(t, engine):
    """Three threads open and close objects all the time: what a fourth computes in its own has its callers."""
    copies = plugin_copies(t, 4)
    result = t.collect(t.target('plugins'), 'churn', 80, *copies, engine=engine, options=('-p', '100u'))
    process = t.read(result.experiment)['']
    failed = process['unrecorded'].get('<Stack-unwind-failed>', 0)
    t.within(failed <= 0.02 * process['total'], f'{failed:.4f} of {process["total"]:.4f} s failed')
    inside = right = 0
    for seconds, names in named(t, result, t.target('plugins')):
        if not (names[0] or '').startswith('plugin'):
            continue
        inside += seconds
        right += seconds if 'churn_in_thread' in names else 0
    t.within(inside > 0.15 * process['cpu'], f'{inside:.4f} of {process["cpu"]:.4f} s in the objects')
    t.ratio(right, inside, 0.97, 1.0001, 'with callers')


@test(engines=True)
def bound_now_or_lazily(t, engine):
    """The dynamic linker's own work, in the program's start or within its calls."""
    copies = plugin_copies(t, 2)
    for environment in ({'LD_BIND_NOW': '1'}, {'LD_BIND_NOT': '1'}):
        for _ in t.like_bare(engine, t.target('plugins'), 'replaced', 60, *copies, env=environment):
            pass


@test(engines=True)
def exceptions(t, engine):
    """Throwing and catching all the time: whole stacks."""
    for result, _ in t.like_bare(engine, t.target('exceptions'), '0.3s', same=lambda result: result.truth()['caught_all']):
        total = good = 0
        for seconds, names in named(t, result, t.target('exceptions')):
            total += seconds
            good += seconds if names[-1] == '_start' else 0
        t.ratio(good, total, 0.985, 1.0001, 'to _start')


@test(engines=True)
def code_mapped_twice(t, engine):
    """A copy of the program's own code has the function's name, also in the child of a fork."""
    rows = t.functions(t.collect(t.target('mapped_twice'), engine=engine).experiment, 'e.totalcpu')
    share = rows['copied']['e.totalcpu'] / rows['<Total>']['e.totalcpu']
    t.within(share > 0.9, f'copied: {share:.2f} of the CPU time')
