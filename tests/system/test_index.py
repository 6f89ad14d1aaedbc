# SPDX-License-Identifier: Apache-2.0
"""
helio index: the sums that any number of processes make together are those that one makes from all events, which prints them without
an index, to the last digit and in the same order.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import test_cache
import test_counter
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
        return {'XDG_CACHE_HOME': str(self.cache), 'HELIO_CACHE': 'on', **more}

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
        expected = {mode: index.print(('-viewmode', mode, '-calltree'), 'off') for mode in ('user', 'expert', 'machine')}
        t.check(expected['user'] != expected['machine'], f'{implementation}: modes differ')
        for count in 1, 2, 3:
            index.make_by(implementation, count)
            for mode, text in expected.items():
                t.equal(index.print(('-viewmode', mode, '-calltree')) == text, True, f'{implementation}: {mode}, mpirun -n {count}')
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
def named_twice(t):
    """An experiment in two groups counts once, and what is kept of such a list is used."""
    members = [t.collect(t.target('phases'), '0.05').experiment for _ in range(2)]
    groups = [t.directory / name for name in ('both.erg', 'one.erg')]
    for group, count in zip(groups, (2, 1)):
        group.write_text('#analyzer experiment group\n' + ''.join(f'{member}\n' for member in members[:count]))
    said = 'is named twice; it counts once'
    index = Index(t, *groups)
    first, second = (t.run(t.helio, 'index', '--share', f'{share}/2', *groups, env=index.environment()) for share in (1, 0))
    t.equal((first.status, first.err), (0, ''), 'share 1')
    t.check(second.status == 0 and second.err.count(said) == 1, f'share 0: {second.err}')
    for keep in 'all', 'all':
        shown = t.run(t.helio, 'print', '-functions', *groups, env=index.environment(HELIO_CACHE=keep))
        t.equal((shown.status, shown.err.count(said)), (0, 1), shown.err)
    index.check('groups that share one')


@test
def quotients(t):
    """Cycles per instruction, where only the sum of both shares is too large to be kept as it is."""
    counts, experiments = (10 ** 6, 2 ** 31 - 10), []
    for number, count in enumerate(counts):
        (t.directory / str(number)).mkdir()
        experiments.append(test_counter.hardware_experiment(t, name=f'{number}/hardware.1.er', cycles=count))
    metrics = ('-metrics', 'e.CPI:e.IPC:e.cycles:e.insts:name')
    index = Index(t, *experiments)
    expected = index.print((*metrics, '-functions'), 'off')
    index.make(2)
    t.equal(index.print((*metrics, '-functions')), expected, 'by 2')
    row = next(row for row in json.loads(expected)['rows'] if row['name'] == '<Total>')
    t.near(row['e.CPI'], row['e.cycles'] / row['e.insts'], 'CPI', relative=1e-6)


def shares(t, count, environment, *experiments):
    """Status and messages of processes at the same time."""
    words = [[str(word) for word in (t.helio, 'index', '--share', f'{share}/{count}', *experiments)] for share in range(count)]
    running = [subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True) for command in words]
    return [(process.communicate(timeout=300)[1], process.returncode) for process in running]


@test
def one_fails(t):
    """The reason is said by all that wait for it, also by way of others; a later try with experiments that can be kept succeeds."""
    plain = [t.collect(t.target('phases'), '0.05').experiment for _ in range(3)]
    (t.directory / 'Nothing.java').write_text('class Nothing {\n    public static void main(String[] words) { }\n}\n')
    java = t.collect(t.need('java'), t.directory / 'Nothing.java').experiment
    environment = {'XDG_CACHE_HOME': str(t.directory / 'cache')}
    for experiments, failing, handed in (([*plain, java], 3, (1,)), ([plain[0], java, *plain[1:]], 1, (2, 3)), ([java, *plain], 0, (1, 2, 3))):
        for number, (said, status) in enumerate(shares(t, 4, environment, *experiments)):
            t.equal(status, int(number not in handed), f'{failing} fails: {number}: {said}')
            t.equal('Java' in said, number not in handed, f'{failing} fails: {number}: {said}')
            t.equal(f'process {failing}: ' in said, number not in (*handed, failing), f'{failing} fails: {number}: {said}')
    t.equal([status for _, status in shares(t, 3, environment, *plain)], [0, 0, 0], 'without')


@test
def openmp(t):
    """Sums are those of user mode; other modes, which no index has, are asked of the events."""
    source = t.directory / 'modes.c'
    source.write_text('int main(void)\n{\n#pragma omp parallel\n\tfor (volatile int i = 0; i < 100000000; i++)\n\t\t;\n\treturn 0;\n}\n')
    t.equal(t.run(t.need('gcc'), '-g', '-fopenmp', '-o', t.directory / 'modes', source).status, 0, 'gcc')
    experiments = [t.collect(t.target('phases'), '0.05').experiment, *(t.collect(t.directory / 'modes').experiment for _ in range(2))]
    index = Index(t, *experiments)
    expected = {mode: index.print(('-viewmode', mode, '-calltree'), 'off') for mode in ('user', 'expert', 'machine')}
    t.check('GOMP_parallel' not in expected['user'] and 'GOMP_parallel' in expected['machine'], 'modes differ')
    for count in 1, 2, 3:
        index.make(count)
        for mode, text in expected.items():
            t.equal(index.print(('-viewmode', mode, '-calltree')) == text, True, f'{mode}, by {count}')
        index.check(f'{count} processes')


@test
def own_sums_are_lost(t):
    """Who empties the cache meanwhile ends a process whose sums were there already: nobody would make them again."""
    experiment = t.collect(t.target('phases'), '0.05').experiment
    index = Index(t, experiment)
    t.equal(t.run(t.helio, 'index', '--share', '1/2', experiment, env=index.environment()).status, 0, 'share 1')
    # a call that does nothing stands for what is removed at once
    lost = (t.need('strace'), '-f', '-qq', '-o', '/dev/null', '-e', 'trace=renameat', '-e', 'inject=renameat:retval=0')
    result = t.run(*lost, t.helio, 'index', '--share', '0/2', experiment, env=index.environment(), timeout=60)
    t.check(result.status == 1 and 'are gone' in result.err, f'{result.status} {result.err}')
    shutil.rmtree(index.cache)
    index.make(2)
    index.check('undisturbed')


@test
def other_machines(t):
    """A part that does not hold where it is read is an error after a while, and one of an earlier job is none."""
    experiment = t.collect(t.target('phases'), '0.05').experiment
    index = Index(t, experiment)
    t.equal(t.run(t.helio, 'index', '--share', '1/2', experiment, env=index.environment()).status, 0, 'share 1')
    part, = (index.cache / 'heliometer').iterdir()
    t.equal(part.suffix, '.share', 'its name')
    test_cache.rewrite(part, lambda body: body.replace(b'helio', b'HELIO', 1))
    result = t.run(t.helio, 'index', '--share', '0/2', experiment, env=index.environment(), timeout=300)
    t.check(result.status == 1 and 'do not hold' in result.err, f'{result.status} {result.err}')
    # inode and time of change are the machine's: a file that has others is the same
    t.equal(t.run(t.helio, 'index', '--share', '1/2', experiment, env=index.environment()).status, 0, 'share 1')
    for path in experiment / 'log.xml', experiment / 'profile':
        shutil.copy2(path, path.with_suffix('.new'))
        os.replace(path.with_suffix('.new'), path)
    t.equal(t.run(t.helio, 'index', '--share', '0/2', experiment, env=index.environment(), timeout=300).err, '', 'share 0')
    index.check('after that')
    t.equal(t.run(t.helio, 'index', '--share', '1/2', experiment, env=index.environment()).status, 0, 'share 1')
    t.run(t.helio, 'print', '--clear-cache', env=index.environment())
    t.equal(list((index.cache / 'heliometer').iterdir()), [], '--clear-cache')


@test
def in_a_batch_script(t):
    """Slurm tells a batch script of the job's tasks; it is none of them."""
    experiment = t.collect(t.target('phases'), '0.05').experiment
    index = Index(t, experiment)
    job = {'SLURM_PROCID': '0', 'SLURM_NTASKS': '4'}
    result = t.run(t.helio, 'index', experiment, env=index.environment(**job), timeout=120)
    t.equal((result.status, result.err), (0, ''), 'the script itself')
    index.check('by the script')
    for rank in 1, 0:
        result = t.run(t.helio, 'index', experiment, env=index.environment(**{**job, 'SLURM_PROCID': str(rank), 'SLURM_STEP_NUM_TASKS': '2'}))
        t.equal((result.status, result.err), (0, ''), f'{rank} of a step')
    index.check('by a step')


@test
def unreadable(t):
    """What is said of a descendant that cannot be read is said of an index too."""
    experiment = t.collect(t.target('forktree')).experiment
    log = sorted(experiment.glob('_*.er/log.xml'))[-1]
    log.write_text(log.read_text().replace('<experiment version="1.0"', '<experiment version="9.0"'))
    said = 'was recorded by a newer version'
    index = Index(t, experiment)
    without = t.run(t.helio, 'print', '-functions', experiment, env=index.environment(HELIO_CACHE='off'))
    t.check(said in without.err, without.err)
    index.make(3)
    with_index = t.run(t.helio, 'print', '-functions', experiment, env=index.environment())
    t.equal((with_index.out, sorted(with_index.err.splitlines())), (without.out, sorted(without.err.splitlines())), 'messages')


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
    shared = t.directory / 'shared'
    (shared / 'heliometer').mkdir(parents=True)
    (shared / 'heliometer').chmod(0o777)
    (t.directory / 'file').touch()
    for env, said in (({'HELIO_CACHE': 'off'}, 'HELIO_CACHE'), ({'XDG_CACHE_HOME': str(shared)}, 'nobody else may write'),
                      ({'XDG_CACHE_HOME': str(t.directory / 'file')}, 'Not a directory'), ({'XDG_CACHE_HOME': '', 'HOME': ''}, 'absolute path')):
        result = t.run(t.helio, 'index', experiment, env=env)
        t.check(result.status == 1 and said in result.err, f'{env}: {result.status} {result.err}')
