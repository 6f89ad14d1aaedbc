# SPDX-License-Identifier: Apache-2.0
"""
Ranks of an MPI job that run as several users. A rank is what has a rank's number in its environment, so none of this needs MPI: a job
is what `helio collect -M` has started, a rank of another user's a process with the job's environment, as a launcher would start it.
"""
import contextlib
import os
import shutil
import subprocess

from harness import patience, test
from test_paths import WAITS, a_recording, exchanges, state, wait_until

ROOT_ID, NOBODY, ANOTHER = 0, 65534, 65533


def as_user(user):
    return ['setpriv', '--reuid', str(user), '--regid', str(user), '--clear-groups'] if user else []


def ended(line):
    """Of a rank that waits: its exit status, once it is let go."""
    line.communicate('\n', timeout=60 * patience())
    return line.returncode


def warnings_of(t, experiment):
    """By helio check, but for call stacks that have no beginning: a program may be met where it has none yet."""
    lines = (t.run(t.helio, 'check', experiment).out).splitlines()
    return [line for line in lines if line.startswith('  ') and 'call stacks could not be followed' not in line]


class Job:
    """A launcher of one user's that is being recorded, in a directory of that user's; at the end of the with statement it has ended."""

    def __init__(self, t, founder):
        t.need_root()
        t.need('setpriv')
        t.directory.chmod(0o755)
        self.t, self.founder, self.home = t, founder, t.directory / f'home{founder}'
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        os.chown(self.home, founder, founder)
        self.experiment = self.home / 'job.er'
        self.said = self.status = None

    def __enter__(self):
        script = 'cat /proc/$$/environ > started && mv started environment; read line; exit 5'
        command = [*as_user(self.founder), str(self.t.helio), 'collect', '-M', 'OPENMPI', '-o', 'job.er', 'sh', '-c', script]
        self.process = subprocess.Popen(command, cwd=self.home, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(self.t, lambda: (self.home / 'environment').exists() or self.process.poll() is not None, 'the launcher')
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.said = self.process.communicate('\n', timeout=60 * patience())[1]
        self.status = self.process.returncode

    def rank(self, number, user):
        """A rank that says that it is ready, and waits for a line; with its environment alone, as a launcher starts it on another host."""
        words = (self.home / 'environment').read_text().split('\0')
        environment = dict(word.partition('=')[::2] for word in words if '=' in word)
        environment.update(OMPI_COMM_WORLD_RANK=str(number), OMPI_COMM_WORLD_SIZE='4')

        def become():
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)

        rank = subprocess.Popen(['sh', '-c', WAITS], env=environment, cwd='/', stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=become)
        self.t.equal(rank.stdout.readline(), 'ready\n', f'what rank {number} says')
        return rank

    def names(self):
        return sorted(path.name for path in self.experiment.glob('_r*.er'))


@test
def of_several_users_in_a_job_of_root_s(t):
    """Each is recorded, its processes too; their files are their users', and the last one's end is in order."""
    with Job(t, ROOT_ID) as job:
        ranks = [job.rank(0, ROOT_ID), job.rank(1, NOBODY), job.rank(2, ANOTHER)]
        t.equal([ended(rank) for rank in ranks], [3, 3, 3], 'statuses of the ranks')
    t.equal(job.status, 5, f"the launcher's status ({job.said})")
    owners = {name.split('_')[1].removesuffix('.er'): (job.experiment / name / 'log.xml').stat().st_uid for name in job.names()}
    t.equal(owners, {'r0': ROOT_ID, 'r1': NOBODY, 'r2': ANOTHER}, 'whose they are')
    t.equal({(job.experiment / name).stat().st_mode & 0o022 for name in ['', *job.names()]}, {0}, 'nobody else can write there')
    for rank in '012':
        t.check(sum(name.startswith(f'_r{rank}') for name in job.names()) >= 3, f'rank {rank} and what it started: {job.names()}')
    t.equal(warnings_of(t, job.experiment), [], 'check')


@test
def of_strangers_without_root(t):
    """A rank of a user who can write nothing in the job's directory runs as bare: nothing of it is there, and nothing of the job's is changed."""
    with Job(t, NOBODY) as job:
        own, stranger = job.rank(0, NOBODY), job.rank(1, ANOTHER)
        t.equal((ended(own), ended(stranger)), (3, 3), 'statuses of the ranks')
    t.equal(job.status, 5, f"the launcher's status ({job.said})")
    t.check(job.names() and all(name.startswith('_r0') for name in job.names()), job.names())
    t.equal({path.lstat().st_uid for path in job.experiment.rglob('*')}, {NOBODY}, 'whose all is')
    t.equal(warnings_of(t, job.experiment), [], 'check')


@test
def of_root_in_a_job_of_another_user_s(t):
    """What that user puts in the place of the experiment or of the rank's, before the rank begins or while it runs, is neither written nor followed."""
    treasure = a_recording(t)
    before = state(treasure)
    traps = {'a link before': (f'ln -s {treasure} job.er/_r1.er', ''), 'a pipe before': ('mkfifo job.er/_r1.er', ''),
             'a directory of traps before': (f'mkdir job.er/_r1.er; cd job.er/_r1.er; mkfifo profile overview; ln -s {treasure}/log.xml .; ln -s {treasure}/stacks .', ''),
             'pipes for what begins later': ('', 'for name in _r1_f1 _r1_f1_x1 _r1_f2 _r1_f2_x1; do mkfifo job.er/$name.er; done'),
             'links for what begins later': ('', f'for name in _r1_f1 _r1_f1_x1 _r1_f2 _r1_f2_x1; do ln -s {treasure} job.er/$name.er; done'),
             **{case: ('', script.replace('host.er', 'job.er')) for case, script in exchanges(treasure).items() if 'on the way' not in case}}
    for case, (first, then) in traps.items():
        with Job(t, NOBODY) as job:
            def shell(script):
                t.equal(t.run(*as_user(NOBODY), 'sh', '-ec', script, cwd=job.home).status, 0, f'{case}: status of {script}')

            shell(first)
            rank = job.rank(1, ROOT_ID)
            shell(then)
            t.equal(ended(rank), 3, f"{case}: the rank's status")
        t.equal(job.status, 5, f"{case}: the launcher's status ({job.said})")
        t.equal(state(treasure), before, f'{case}: what root owns')


@test
def pretended(t):
    """Whose is the directory of a rank, that one's are the files that may be shown and copied, in whoever's job it lies, and whoever asks."""
    private = t.directory / 'private'
    private.mkdir(mode=0o700)
    shutil.copy(t.target('empty'), private / 'secret')
    with Job(t, ROOT_ID) as job:
        t.equal((ended(job.rank(0, ROOT_ID)), ended(job.rank(1, NOBODY))), (3, 3), 'statuses of the ranks')
    # nobody can add one; as one that root has moved there
    for user in (NOBODY, ANOTHER):
        t.check(t.run(*as_user(user), 'mkdir', job.experiment / '_r5.er').status, f'{user} makes a directory there')
    pretended = job.experiment / '_r5.er'
    shutil.copytree(job.experiment / '_r1.er', pretended)
    map_file = pretended / 'map.xml'
    shell = os.path.realpath('/bin/sh')
    t.check(shell in map_file.read_text(), 'the map has the shell')
    map_file.write_text(map_file.read_text().replace(shell, str(private / 'secret')))
    for path in (pretended, *pretended.iterdir()):
        os.chown(path, ANOTHER, ANOTHER)
    (pretended / 'profile').unlink()
    (pretended / 'profile').symlink_to('/etc/shadow')
    before = state(private)
    t.run(t.helio, 'archive', '-s', 'all', job.experiment)
    copies = [path.name for path in (job.experiment / 'archives').rglob('*')]
    t.check(not any(name.startswith('secret') for name in copies), f'the secret is there: {copies}')
    t.check(any(name.startswith(os.path.basename(shell)) for name in copies), f'what root loaded: {copies}')
    shown = t.run(t.helio, 'print', '-processes', '-functions', '-header', job.experiment)
    t.check('root:' not in shown.out + shown.err, 'a line of /etc/shadow')
    t.check(t.run(t.helio, 'check', job.experiment).status, 'check sees it')
    t.equal(t.run(t.helio, 'rm', job.experiment).status, 0, 'rm')
    t.equal((state(private), job.experiment.exists()), (before, False), 'what rm has removed')
