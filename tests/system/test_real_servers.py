# SPDX-License-Identifier: Apache-2.0
"""Servers under load, started and stopped, with their clients: processes, threads, signals, sockets, shared memory."""
import glob
import pathlib
import shutil

from harness import is_root, test
from real import counted_cpu, free_port, same_run

REAL = pathlib.Path(__file__).resolve().parent / 'real'


def steady(out):
    """Without the line that is different in every run."""
    return [line for line in out.splitlines() if not line.startswith('throughput')]


def serve(t, engine, name, *words, before=()):
    """Each run in a folder of its own."""
    command = f'd=$(mktemp -d "{t.directory}/run-XXXXXX") && exec bash "$0" "$1" "$d" "${{@:2}}"'
    script = shutil.copy(REAL / 'server.sh', t.directory)  # where any account may read it
    truth, family, experiment = same_run(t, engine, 'bash', '-c', command, script, name, *words, view=steady, before=before)
    counted_cpu(t, truth, family, low=0.93)
    return family, experiment


def programs(family):
    return [image['process'].get('exe', '').rsplit('/', 1)[-1] for image in family.values()]


@test(engines=True)
def redis(t, engine):
    t.need('redis-server')
    family, experiment = serve(t, engine, 'redis', 20000)
    t.check(programs(family).count('redis-server') + programs(family).count('redis-check-rdb') >= 2,
            f'the server and its child: {programs(family)}')
    t.check(any('processCommand' in name or 'aeMain' in name for name in t.functions(experiment)), 'functions of the server')


@test(engines=True)
def nginx(t, engine):
    t.need('nginx')
    t.need('wrk')
    t.directory.chmod(0o755)  # the workers are another user
    family, _ = serve(t, engine, 'nginx', 1, free_port())
    t.check(programs(family).count('nginx') >= 3, f'a master and two workers: {programs(family)}')


def postgres_program(t, name):
    found = sorted(glob.glob(f'/usr/lib/postgresql/*/bin/{name}'))
    return found[-1:] or [t.need(name)]


def as_account(t, name):
    """The words before a command that is to run with another account; what it needs is put where that account may go."""
    build = t.directory / 'build'
    (build / 'tests' / 'targets').mkdir(parents=True)
    for tool in ('helio', 'libhelio-collector.so', 'tests/targets/timed'):
        shutil.copy(t.build / tool, build / tool)
    t.build, t.helio = build, build / 'helio'
    shutil.chown(t.directory, name)
    return ['setpriv', f'--reuid={name}', f'--regid={name}', '--clear-groups', '--inh-caps=+perfmon', '--ambient-caps=+perfmon']


@test(engines=True)
def postgres(t, engine):
    """PostgreSQL does not run as root: the whole run is its account's, and so is the experiment."""
    before = as_account(t, 'postgres') if is_root() else []
    cluster = t.directory / 'cluster'
    made = t.run(*before, *postgres_program(t, 'initdb'), '-D', cluster, '-A', 'trust', '-N', '--no-locale')
    t.equal(made.status, 0, f'initdb: {made.err[-300:]}')
    family, experiment = serve(t, engine, 'postgres', 200, cluster, before=before)
    backends = programs(family).count('postgres')
    t.check(backends > 20, f'{backends} processes of the server')
    t.check('PostgresMain' in t.functions(experiment), 'functions of the server')
