# SPDX-License-Identifier: Apache-2.0
"""New processes and programs, made and ended in every way: the program sees no difference, and each is recorded."""
import re

from harness import test

INTERVALS = ('100u', '1m', '10m')
WORK = 0.015  # seconds of CPU that each process of the target uses, by its own clock
WORK_ON = 0.05
CASES = ('fork_threads', 'fork_in_thread', '_Fork', 'vfork', 'clone', 'spawn', 'inherit_signals', 'daemon', 'exec', 'failing')
ENVIRONMENT = ('env', '-i', 'A=b')


def said(result):
    return [line for line in result.out.splitlines() if not line.startswith('pid ')]


def by_pid(family):
    images = {}
    for process in family.values():
        images.setdefault(process['process'].get('pid'), []).append(process)
    return images


def check_recorded(t, result, engine):
    """Every process that named itself has an experiment with its CPU time in it."""
    images = by_pid(t.read(result.experiment))
    named = re.findall(r'^pid (.*) (\d+)$', result.out, re.M)
    for name, pid in named:
        t.check(pid in images, f'{name}: not recorded')
        t.equal({image['collector'].get('engine') for image in images[pid]}, {engine}, f'engine of {name}')
        if name not in ('processes', 'exec in thread'):  # those had other work to do as well
            t.near(sum(image['cpu'] for image in images[pid]), WORK, f'CPU of {name}', 0.1, 0.004)
    return named


@test(engines=True)
def made(t, engine):
    """fork, vfork, clone, posix_spawn and exec in all their forms."""
    bare = t.run(*ENVIRONMENT, t.target('processes'), *CASES)
    for interval in INTERVALS:
        result = t.collect(*ENVIRONMENT, t.target('processes'), *CASES, engine=engine, status=bare.status,
                           options=('-p', interval))
        for line, expected in zip(said(result) + ['(the end)'], said(bare) + ['(the end)']):
            t.equal(line, expected, f'output at {interval}')
        named = check_recorded(t, result, engine)
        t.equal(len(named), len(re.findall('^pid ', bare.out, re.M)), 'processes')
        rows = t.functions(result.experiment, 'i.totalcpu')
        t.near(rows['work_on']['i.totalcpu'], WORK_ON, 'CPU after exec has failed', 0.05, 0.012)


@test(engines=True)
def storm(t, engine):
    """155 forks, three deep."""
    bare = t.run(t.target('processes'), 'storm')
    result = t.collect(t.target('processes'), 'storm', engine=engine, status=bare.status)
    t.equal(said(result), said(bare), 'output')
    family = t.read(result.experiment)
    t.equal(len(family), 156, 'experiments')
    t.equal({process['collector'].get('engine') for process in family.values()}, {engine}, 'engines')
    t.equal(max(lineage.count('_f') for lineage in family), 3, 'generations')
