# SPDX-License-Identifier: Apache-2.0
"""Real programs: run bare, then under the collector, which must not show but in the experiment."""
import difflib
import socket


def account(path):
    """What `timed` wrote: the kernel's account of the program and its children."""
    return {line.split()[0]: float(line.split()[1]) for line in path.read_text().splitlines()}


def same_run(t, engine, *words, status=0, view=str.splitlines, interval='1m', before=(), **more):
    """
    Runs the words bare and collected: the same status and output, seen through `view`. The words
    `before` stand in front of both commands.
    Returns (the kernel's account of the collected run, its family of processes, the experiment).
    """
    bare = t.run(*before, *words, **more)
    t.equal(bare.status, status, f'bare status ({bare.err.strip()[-300:]})')
    kept = t.directory / 'account'
    result = t.collect(t.target('timed'), kept, *words, engine=engine, options=('-p', interval), status=status, before=before,
                       **more)
    differences = [line for line in difflib.ndiff(view(bare.out), view(result.out)) if line[0] != ' ']
    t.check(not differences, f'output differs: {differences[:6]} {result.err[-1500:]}')
    family = t.read(result.experiment)
    t.check(family[''].get('collector', {}).get('engine') == engine, f'engine {family[""].get("collector")}')
    listing = t.functions(result.experiment, 'e.totalcpu')
    t.near(listing['<Total>']['e.totalcpu'], sum(image['cpu'] for image in family.values()), 'total by print', 1e-6, 1e-6)
    return account(kept), family, result.experiment


def monitor_cpu(image):
    return sum(int(event.get('monitor_cpu_ns', 0)) for event in image['log_events'] if event['kind'] == 'counters') / 1e9


def counted_cpu(t, truth, family, low=0.95, high=1.03):
    """
    The CPU in the profiles against the kernel's account of all processes. The time of an image
    before it records, exec and the dynamic linker, belongs to no profile: 5 ms each are allowed.
    """
    programs = [image for lineage, image in family.items() if lineage]
    used = truth['cpu'] - sum(monitor_cpu(image) for image in programs)
    t.ratio(sum(image['cpu'] for image in programs), used, low - 0.005 * len(family) / used, high, 'cpu')


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
