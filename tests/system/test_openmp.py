# SPDX-License-Identifier: Apache-2.0
"""OpenMP: what threads do in each stage of a program, known by construction, under both runtimes."""
import collections
import re

from harness import ROOT, test

COMPILERS = ('gcc', 'clang')
BASE = ('_start', 'main')
SECONDS = 0.8
# By stage: what the thread that computes shows, and the others of its team; frames from the outermost one on, to the first of what computes.
FOO = (*BASE, 'foo', 'foo -- OMP parallel region')
TASKS = (*BASE, 'tasks', 'tasks -- OMP parallel region')
STAGES = {
    'serial': ((*BASE, 'stage', 'burn'), ()),
    'work': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, 'burn'),)),
    'explicit': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-explicit_barrier>'),)),
    'critical': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-critical_section_wait>'),)),
    'lock': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-lock_wait>'),)),
    'ordered': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-ordered_section_wait>'),)),
    'loop': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-implicit_barrier>'),)),
    'sections': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-implicit_barrier>'),)),
    'nested': ((*FOO, 'stage', 'burn'), 2 * ((*FOO, 'bar', 'bar -- OMP parallel region', 'burn'),) + 2 * ((*FOO, 'burn'),)),
    'end': ((*FOO, 'stage', 'burn'), 3 * ((*FOO, '<OMP-implicit_barrier>'),)),
    'idle': ((*BASE, 'foo', 'stage', 'burn'), 3 * (('<OMP-idle>',),)),
    'task': ((*TASKS, 'tasks -- OMP task', 'stage', 'burn'), ((*TASKS, '<OMP-task_wait>'),)),
}


def compile_target(t, compiler, source, *flags):
    output = t.directory / f'{source}_{compiler}'
    result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', *flags, '-o', str(output), str(ROOT / 'tests' / 'targets' / f'{source}.c'))
    t.check(result.status == 0, result.err[-500:])
    return output


def plain(name):
    """Without what compilers and versions call it; None: a frame that is not the program's."""
    if name in ('__libc_start_main_impl', '__libc_start_call_main'):
        return None
    return re.sub(r' from line \d+', '', re.sub(r' \[.*\]$', '', name))


def longest_stack(answer):
    """The call stack that most of the time was spent at, if that is much of a stage, up to where it computes."""
    if not answer['rows']:
        return None
    most = max(answer['rows'], key=lambda row: row.get('e.total', 0))
    if most.get('e.total', 0) < SECONDS / 4:
        return None
    names = [answer['frames'][frame]['name'] for frame in most['stack']]
    path = [name for name in map(plain, reversed(names)) if name]
    return tuple(path[:path.index('burn') + 1] if 'burn' in path else path)


def stacks_in(t, result, begin, end, threads):
    """By thread, its longest stack among the events that began in this time, and were over soon behind it."""
    zero = int(re.search(r'mono_ns="(\d+)"', (result.experiment / 'log.xml').read_text())[1])
    window = f'TSTAMP - EVT_TIME > {begin - zero} && TSTAMP < {end - zero + int(SECONDS * 5e8)}'
    commands = [word for thread in range(1, threads + 1) for word in
                ('-filters', f'({window}) && TSTAMP - EVT_TIME < {end - zero} && THRID == {thread}', '-stacks')]
    answers = t.print(result.experiment, '-metrics', 'e.total:name', '-inlines', 'off', *commands)
    return [longest_stack(answer) for answer in answers if answer['command'] == 'stacks']


def check_stage(t, compiler, name, found, expected):
    """
    Which threads they are is up to the runtime, and threads of nested regions have nothing to do before and behind those. On a busy
    machine some may have had no event meanwhile.
    """
    computes, others = expected
    stacks = collections.Counter(stack for stack in found if stack and (name == 'idle' or stack != ('<OMP-idle>',)))
    wanted = collections.Counter((computes, *others))
    if name == 'idle':
        wanted[('<OMP-idle>',)] = 4
    t.within(not stacks - wanted and computes in stacks and (not others or len(stacks - collections.Counter((computes,)))),
             f'{compiler}, stage {name}: {dict(stacks)}, not {dict(wanted)}')


@test(alone=True, engines=True)
def stages(t, engine):
    for compiler in COMPILERS:
        # who waits sleeps: on a busy machine the time of threads that spin belongs to wherever they get a processor
        result = t.collect(compile_target(t, compiler, 'ompstages'), str(SECONDS), engine=engine, env={'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'})
        times = {name: (int(begin), int(end)) for name, begin, end in (line.split() for line in result.out.splitlines())}
        for name, expected in STAGES.items():
            begin, end = times[name]
            check_stage(t, compiler, name, stacks_in(t, result, begin - int((end - begin) / 0.6 * 0.4), end, 6), expected)
