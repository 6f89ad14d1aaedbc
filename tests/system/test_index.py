# SPDX-License-Identifier: Apache-2.0
"""
helio index: the sums that any number of processes make together are those that one makes from all events, which prints them without
an index, to the last digit and in the same order.
"""
import pathlib
import shutil
import sys

import test_cache
import test_mpi
from harness import ROOT, test
from test_mpi import ENVIRONMENT, IMPLEMENTATIONS

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402

VIEWS = (('-functions',), ('-metrics', 'i.any:e.any:name', '-functions'), ('-callers-callees',), ('-calltree',), ('-inlines', 'on', '-calltree'))


class Index:
    def __init__(self, t, *experiments):
        self.t = t
        self.experiments = experiments
        self.cache = t.directory / 'cache'
        self.expected = [self.print(view, 'off') for view in VIEWS]

    def environment(self, **more):
        return {'XDG_CACHE_HOME': str(self.cache), **more}

    def print(self, view, cache='on'):
        result = self.t.run(self.t.helio, 'print', '-printmode', 'json', *view, *self.experiments, env=self.environment(HELIO_CACHE=cache))
        self.t.equal(result.status, 0, result.err)
        return result.out

    def check(self, what):
        """What is printed is the same, and it is the index that it comes from."""
        sums, = (self.cache / 'heliometer').iterdir()
        self.t.equal(sums.suffix, '.sums', f'{what}: only the index is left')
        for view, expected in zip(VIEWS, self.expected):
            self.t.equal(self.print(view) == expected, True, f'{what}: {view}')
        test_cache.rewrite(sums, lambda body: body.replace(test_cache.text('main'), test_cache.text('niam')))
        self.t.check('niam' in self.print(VIEWS[0]), f'{what}: the index is used')
        shutil.rmtree(self.cache)

    def make(self, count):
        """By processes that run one after the other: the first one waits for none then."""
        for share in reversed(range(count)):
            result = self.t.run(self.t.helio, 'index', '--share', f'{share}/{count}', *self.experiments, env=self.environment())
            self.t.equal((result.status, result.err), (0, ''), f'share {share} of {count}')

    def make_by(self, implementation, count):
        launcher = test_mpi.launcher(self.t, implementation, count)
        result = self.t.run(*launcher, self.t.helio, 'index', *self.experiments, env={**ENVIRONMENT, **self.environment()}, timeout=300)
        self.t.equal(result.status, 0, f'{implementation}, {count}: {result.err[-1000:]}')


@test
def ranks(t):
    """Of a program that was recorded: by ranks of both implementations, and by any number of processes, more than ranks too."""
    for implementation in IMPLEMENTATIONS:
        program = test_mpi.build(t, implementation, 'mpi_waits.c')
        run = test_mpi.record(t, implementation, program, '5', options=('-m', 'on', '-p', 'hi'))
        index = Index(t, run.experiment)
        for count in 1, 2, 3:
            index.make_by(implementation, count)
            index.check(f'{implementation}: mpirun -n {count}')
        for count in 4, 7:
            index.make(count)
            index.check(f'{implementation}: {count} processes')


@test
def groups(t):
    """Of an experiment for each rank, named by a group, and of experiments that have nothing to do with each other."""
    program = test_mpi.build(t, 'openmpi', 'mpi_waits.c')
    group = t.directory / 'run.erg'
    result = t.run(*test_mpi.launcher(t, 'openmpi'), t.helio, 'collect', '-p', 'hi', '-g', group, program, '5', env=ENVIRONMENT, timeout=300)
    t.equal(result.status, 0, result.err[-1000:])
    index = Index(t, group)
    for count in 2, 9:
        index.make(count)
        index.check(f'a group by {count}')
    others = [t.collect(t.target('phases'), '0.05').experiment, t.collect(t.target('forktree')).experiment]
    index = Index(t, *others, group)
    for count in 5,:
        index.make(count)
        index.check(f'several by {count}')


@test
def many(t):
    """1,000 ranks, known by construction."""
    make_kinds.make(str(t.directory))
    make_kinds.make_ranks(str(t.directory / 'many.er'), str(t.directory / 'app'), tuple(make_kinds.pairs(1000)))
    index = Index(t, t.directory / 'many.er')
    index.make(5)
    rows = t.run(t.helio, 'print', '-metrics', 'e.totalcpu:e.mpisend:e.mpibytessent:name', '-functions', t.directory / 'many.er', env=index.environment())
    total = next(line.split() for line in rows.out.splitlines() if '<Total>' in line)
    unit = make_kinds.UNIT / 1e6
    t.near(float(total[0]), 1000 * 4 * unit, 'CPU time of 1,000 times four events', 0, 1e-3)
    t.equal([int(value) for value in total[1:3]], [500, 500 * 4096], 'messages')
    index.check('1,000 ranks by 5')


@test(alone=True)
def sixty_four(t):
    """64 ranks at once, many more than processors, and their sums by 8."""
    program = test_mpi.build(t, 'mpich', 'mpi_ring.c')
    experiment = test_mpi.record(t, 'mpich', program, ranks=64).experiment
    t.equal(len(list(pathlib.Path(experiment).glob('_r*.er'))), 64, 'ranks')
    matrix = {(row['from'], row['to']): row['messages'] for row in t.print(experiment, '-mpimatrix')[0]['rows']}
    t.equal(matrix, {(rank, (rank + 1) % 64): 2 for rank in range(64)}, 'messages')
    answer = t.print(experiment, '-mpiwaits')[0]
    t.equal((answer['messages'], answer['sends_alone'], answer['receives_alone']), (128, 0, 0), 'both ends')
    t.check(sum(1 for path in experiment.rglob('*') if path.is_file()) <= 64 * 8 + 16, 'files for a rank')
    index = Index(t, experiment)
    index.make_by('mpich', 8)
    index.check('64 ranks by 8')


@test
def refusals(t):
    """What is wrong is said, with the exit status for it."""
    experiment = t.collect(t.target('phases'), '0.05').experiment
    cache = {'XDG_CACHE_HOME': str(t.directory / 'cache')}
    for words, status, said in ((('--share', '3/3', experiment), 2, 'I/N'), (('--share', 'x', experiment), 2, 'I/N'), ((), 2, 'name an experiment'),
                                (('nosuch.er',), 1, 'nosuch.er')):
        result = t.run(t.helio, 'index', *words, env=cache)
        t.check(result.status == status and said in result.err, f'{words}: {result.status} {result.err}')
    result = t.run(t.helio, 'index', experiment, env={'HELIO_CACHE': 'off'})
    t.check(result.status == 1 and 'HELIO_CACHE' in result.err, f'off: {result.status} {result.err}')
