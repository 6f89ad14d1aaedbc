# SPDX-License-Identifier: Apache-2.0
"""Descendants: found however they were made, named by their lineage, with their own CPU."""
from harness import test

# who burns -> the lineage of the image that does, or what it begins with
LINEAGES = {'fork': '_f1', 'vfork': '_f2_x1', 'spawn': '_c1', 'system': '_c2', 'popen': '_c3', 'parent': ''}
EXACT = ('fork', 'vfork', 'spawn', 'parent')


@test(alone=True, engines=True)
def fork_tree(t, engine):
    result = t.collect(t.target('forktree'), '0.5s', engine=engine)
    truth = result.truth()
    family = t.read(result.experiment)
    for name, lineage in LINEAGES.items():
        images = {key: image for key, image in family.items() if image['process'].get('pid') == str(int(truth[f'{name}.pid']))}
        t.check(images, f'{name}: no experiment for its process')
        if name in EXACT:
            t.check(lineage in images, f'{name}: {sorted(images)}, not {lineage}')
        else:
            t.check(all(key.startswith(lineage) for key in images), f'{name}: {sorted(images)}, not {lineage}...')
        t.ratio(sum(image['cpu'] for image in images.values()), truth[f'{name}.cpu'], 0.97, 1.03, name)
        for key, image in images.items():
            t.equal(image['process']['lineage'], key, 'lineage in log.xml')
            t.equal(image['collector']['engine'], engine, f'engine of {key}')
    forks = [e['lineage'] for e in family['']['log_events'] if e['kind'] == 'fork']
    t.equal(forks, ['_f1', '_f2'], 'forks in the log')
    spawns = [e['lineage'] for e in family['']['log_events'] if e['kind'] == 'spawn']
    t.equal(spawns, ['_c1', '_c2', '_c3'], 'combination calls in the log')


@test(engines=True)
def printed_together(t, engine):
    """Print adds up founder and descendants."""
    result = t.collect(t.target('forktree'), '0.1s', engine=engine)
    family = t.read(result.experiment)
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    t.near(rows['<Total>']['e.totalcpu'], sum(p['cpu'] for p in family.values()), 'total CPU', 1e-6, 1e-6)
    truth = result.truth()
    burnt = sum(truth[f'{name}.cpu'] for name in LINEAGES)
    t.ratio(rows['burn']['i.totalcpu'], burnt, 0.88, 1.01, 'burn')  # an interval at the end may go to exit
    listed = [row for row in t.print(result.experiment, '-experiment_list')[-1]['rows']]
    t.equal(len(listed), len(family), 'rows of experiment_list')


@test
def not_followed(t):
    result = t.collect(t.target('forktree'), '0.1s', options=('-F', 'off'))
    t.equal(list(t.read(result.experiment)), [''], 'experiments with -F off')


@test
def followed_by_name(t):
    result = t.collect('/bin/sh', '-c', f'{t.target("flat")} 0.2s; {t.target("deep")} 0.2s; true',
                       options=('-F', '=flat'))
    images = [p['process'].get('exe', '').rsplit('/', 1)[-1] for key, p in t.read(result.experiment).items() if key]
    t.check('flat' in images and 'deep' not in images, f'followed: {images}')


@test
def through_a_shell(t):
    """A pipeline of real programs, each in an experiment of its own."""
    result = t.collect('/bin/sh', '-c', 'seq 1 200000 | sort -r | tail -n 1; true')
    t.equal(result.out.splitlines()[-1], '1', 'output of the pipeline')
    programs = {p['process'].get('exe', '').rsplit('/', 1)[-1] for p in t.read(result.experiment).values()}
    t.check({'seq', 'sort', 'tail'} <= programs, f'programs recorded: {programs}')
