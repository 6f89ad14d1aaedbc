# SPDX-License-Identifier: Apache-2.0
"""Ranks that srun starts: they are not helio's descendants, but those of Slurm's daemon, which runs here on the loopback address."""
import contextlib
import os
import socket
import subprocess
import time

import test_mpi
from harness import test
from test_mpi_clocks import check_waits

CONFIGURATION = """\
ClusterName=helio
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/daemon.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/daemon.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
FirstJobId={job}
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:16
"""
# how each implementation is told its ranks
PROTOCOLS = {'openmpi': 'pmix', 'mpich': 'pmi2'}


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextlib.contextmanager
def cluster(t):
    """The environment in which srun reaches a cluster of this machine alone."""
    t.need_root("run Slurm's daemons")
    for name in ('state', 'spool'):
        (t.directory / name).mkdir()
    configuration = t.directory / 'slurm.conf'
    ports = free_ports(2)
    # its name for files of a job in /tmp is the job's number: another one each time
    configuration.write_text(CONFIGURATION.format(host=socket.gethostname().split('.')[0], ports=ports, folder=t.directory, job=ports[0],
                                                  processors=os.cpu_count()))
    environment = {**test_mpi.ENVIRONMENT, 'SLURM_CONF': str(configuration)}
    programs, daemons = [t.need(name) for name in ('slurmctld', 'slurmd', 'srun')], []
    try:
        for program in programs[:2]:
            daemons.append(subprocess.Popen([program, '-D'], env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for _ in range(60):
            if not t.run('srun', '-n', '1', '--immediate=5', 'true', env=environment, timeout=60).status:
                break
            time.sleep(1)
        else:
            t.check(False, f"no job runs: {(t.directory / 'controller.log').read_text()[-1000:]}")
        yield environment
    finally:
        for daemon in daemons:
            daemon.terminate()
            try:
                daemon.wait(timeout=60)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


@test
def ranks(t):
    """One experiment of all ranks, by their numbers, with what each waits for whom; the launcher is no rank."""
    with cluster(t) as environment:
        for implementation, protocol in PROTOCOLS.items():
            program = test_mpi.build(t, implementation, 'mpi_waits.c')
            run = t.collect(t.need('srun'), f'--mpi={protocol}', '-n', '4', '--overcommit', program, '50', options=test_mpi.TRACED, env=environment, timeout=300)
            t.equal(sorted(path.name for path in run.experiment.glob('_*.er')), [f'_r{rank}.er' for rank in range(4)], f'{implementation}: ranks')
            answer = check_waits(t, implementation, run.experiment, test_mpi.measured_by(run.out))
            t.equal((answer['sends_alone'], answer['receives_alone']), (0, 0), f'{implementation}: both ends of all messages')


@test
def each_rank_by_itself(t):
    """srun helio collect: each rank has an experiment of its own, which a group names."""
    with cluster(t) as environment:
        program = test_mpi.build(t, 'openmpi', 'mpi_ring.c')
        group = t.directory / 'own.erg'
        result = t.run('srun', '--mpi=pmix', '-n', '3', '--overcommit', t.helio, 'collect', *test_mpi.TRACED, '-g', group, program, env=environment, timeout=300)
        t.equal(result.status, 0, result.err[-1000:])
        matrix = {(row['from'], row['to']): row['messages'] for row in t.print(group, '-mpimatrix')[0]['rows']}
        t.equal(matrix, {(rank, (rank + 1) % 3): 2 for rank in range(3)}, 'messages')
