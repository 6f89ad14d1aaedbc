# SPDX-License-Identifier: Apache-2.0
"""What servers still achieve under the collector: their load generators run outside of it."""
import os
import re
import shutil
import socket
import subprocess

import common

SCRIPT = common.ROOT / 'tests' / 'system' / 'real' / 'server.sh'


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Server:
    """One of server.sh's: (name, the amount of load for a normal run and for a quick one, its unit)."""

    def __init__(self, bench, name, amount, quick, unit):
        self.bench = bench
        self.name = name
        self.amount = quick if bench.quick else amount
        self.unit = unit

    def before(self):
        """PostgreSQL refuses root: its account, with the right to use perf events, and the tools where it may read them."""
        if self.name != 'postgres' or os.geteuid():
            return []
        return ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--inh-caps=+perfmon', '--ambient-caps=+perfmon']

    def throughput(self, variant):
        folder = self.bench.fresh('.server')
        folder.mkdir()
        folder.chmod(0o755)
        if self.before():
            shutil.chown(folder, 'postgres')
        words, _ = self.bench.profiler(variant)
        if words:  # the tools and the experiment where the server's account may reach them
            words = [str(self.bench.tools / 'helio'), *words[1:-1], str(folder / 'server.er')]
        script = shutil.copy(SCRIPT, folder)
        more = [str(free_port())] if self.name == 'nginx' else []
        done = subprocess.run([*self.before(), 'bash', script, self.name, str(folder), str(self.amount), *more],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                              env={**os.environ, 'UNDER': ' '.join(words)})
        common.remove(folder)
        found = re.search(r'^throughput ([0-9.]+)$', done.stdout, re.M)
        if done.returncode or not found:
            raise RuntimeError(f'{variant}: {self.name}: {done.stdout[-500:]}')
        return float(found.group(1))


def tools_for_all(bench):
    """A copy of the tools that any account may run."""
    bench.scratch.chmod(0o755)
    bench.tools = bench.fresh('.tools')
    bench.tools.mkdir()
    for tool in ('helio', 'libhelio-collector.so'):
        shutil.copy(bench.build / tool, bench.tools)


def servers(bench, names):
    """Throughput profiled / bare; each profiled run lies between two bare ones."""
    tools_for_all(bench)
    rows = []
    repeats = 2 if bench.quick else 9
    variants = [variant for variant in ('helio on', 'helio 1m') if bench.works(variant)]
    for server in (Server(bench, 'postgres', 4000, 300, 'transactions/s'), Server(bench, 'redis', 300000, 20000, 'requests/s'),
                   Server(bench, 'nginx', 5, 1, 'requests/s')):
        if names and server.name not in names:
            continue
        bare = server.throughput('bare')
        first, ratios = bare, {variant: [] for variant in variants}
        for _ in range(repeats):
            for variant in variants:
                profiled = server.throughput(variant)
                after = server.throughput('bare')
                ratios[variant].append(profiled / ((bare + after) / 2))
                bare = after
        rows.append([server.name, f'{first:.0f} {server.unit}']
                    + [f'{common.median(ratios[v]):.4f} ±{common.spread(ratios[v]):.3f}' for v in variants])
    common.table('Servers: throughput / bare (at least 0.97 is the promise at the default)', ['server', 'bare', *variants], rows)
