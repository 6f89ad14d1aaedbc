# SPDX-License-Identifier: Apache-2.0
"""helio view: how long the page waits for its first answers and for changes, with helio print beside it in the same run."""
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types

import common
from analysis import measured

sys.path.insert(0, str(common.ROOT / 'tests' / 'system'))
from view_server import Server  # noqa: E402

CHANGES = 9


def timed(ask):
    begin = time.monotonic()
    reply = ask()
    if reply.status != 200:
        raise RuntimeError(reply.body[:500])
    return time.monotonic() - begin, len(reply.body)


def start(bench, experiment, env):
    """(server, seconds until the address is printed)"""
    case = types.SimpleNamespace(helio=bench.helio, directory=bench.scratch)
    begin = time.monotonic()
    server = Server(case, experiment.name, env=env)
    return server, time.monotonic() - begin


def first_answers(bench, experiment, env):
    """Seconds from the command line: to the address, to the list of functions; and the server's memory, MB."""
    begin = time.monotonic()
    server, address = start(bench, experiment, env)
    with server:
        timed(lambda: server.print(['functions'], settings=[['limit', '500']]))
        total = time.monotonic() - begin
        with open(f'/proc/{server.process.pid}/status', encoding='ascii') as file:
            memory = [int(line.split()[1]) / 1024 for line in file if line.startswith('VmHWM')][0]
    return address, total, memory


def changes(bench, experiment, env):
    """Medians over different filters, metrics, timeline tiles, each asked for the first time; the first tile; and the largest reply."""
    server, _ = start(bench, experiment, env)
    with server:
        timed(lambda: server.print(['functions']))
        first, _ = timed(lambda: server.print(['timeline', '400']))
        end = server.print(['timeline', '1']).json['results'][0]['end_s']
        rows = {'filter': [], 'metric': [], 'tile': [], 'tile, arrays': []}
        sizes = []
        for number in range(1, CHANGES + 1):
            until = int(end * 1e9 * number / (CHANGES + 1))
            asked = {
                'filter': lambda until=until: server.print(['functions'], settings=[['limit', '500'], ['filters', f'TSTAMP < {until}']]),
                'metric': lambda number=number: server.print(['functions'], settings=[['limit', '500'], ['metrics', ('i.total', 'e.user', 'i.sys')[number % 3] + ':name']]),
                'tile': lambda until=until: server.print(['timeline', '-from', f'{until / 2e9}', '-to', f'{until / 1e9}', '400']),
                'tile, arrays': lambda until=until: server.print(['timeline', '-from', f'{until / 3e9}', '-to', f'{until / 1e9}', '400'], format='slab'),
            }
            for name, ask in asked.items():
                seconds, size = timed(ask)
                rows[name].append(seconds)
                sizes.append(size)
        return {name: statistics.median(values) for name, values in rows.items()}, first, max(sizes)


def holds(bench):
    """Seconds until the locks that were held are there: for all of the time, which reads the events, and for parts of it."""
    out = bench.fresh('.er')
    subprocess.run([bench.helio, 'collect', '-q', '-s', 'all', '-o', out, bench.build / 'bench' / 'locks', '20000' if bench.quick else '400000'], check=True, stdout=subprocess.DEVNULL)
    server, _ = start(bench, out, {'HELIO_CACHE': 'off'})
    with server:
        timed(lambda: server.print(['functions']))
        first, _ = timed(lambda: server.print(['lockholds', '3000']))
        result = server.print(['lockholds', '1']).json['results'][0]
        time_line = server.print(['timeline', '1']).json['results'][0]
        end, count = time_line['end_s'], sum(lane['events'].get('sync', 0) for lane in time_line['lanes'])
        parts = [timed(lambda k=k: server.print(['lockholds', '-from', f'{end * k / 2 / CHANGES}', '-to', f'{end * k / CHANGES}', '3000']))[0] for k in range(1, CHANGES + 1)]
    common.remove(out)
    return [f'{count:,}', f'{result["holds"]:,}', f'{first:.3f}', f'{statistics.median(parts):.3f}', f'{first / statistics.median(parts):.0f}']


def view(bench, _names):
    generator = bench.build / 'bench' / 'helio-generate'
    if not generator.exists():
        print('view: no helio-generate in the build folder')
        return
    first, later = [], []
    for events in (100_000, 1_000_000) if bench.quick else (100_000, 1_000_000, 10_000_000):
        out = bench.fresh('.er')
        subprocess.run([generator, '-e', str(events), str(out)], check=True, stdout=subprocess.DEVNULL)
        with tempfile.TemporaryDirectory() as cache:
            off, kept = {'HELIO_CACHE': 'off'}, {'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': cache}
            words = [bench.helio, 'print', '-printmode', 'json', '-limit', '500', '-functions', out]
            printed, _ = measured(words, env={**os.environ, **off})
            address, without, memory = first_answers(bench, out, off)
            first_answers(bench, out, kept)
            measured(words, env={**os.environ, **kept})  # by that path, too
            again, _ = measured(words, env={**os.environ, **kept})
            _, with_sums, small = first_answers(bench, out, kept)
            first.append([f'{events:,}', f'{printed:.3f}', f'{address:.3f}', f'{without:.3f}', f'{memory:.0f}', f'{again:.3f}', f'{with_sums:.3f}', f'{small:.0f}'])
            medians, tile, size = changes(bench, out, kept)
            filtered, _ = measured([*words[:-2], '-filters', 'TSTAMP < 1000000000', *words[-2:]], env={**os.environ, **off})
            later.append([f'{events:,}', *(f'{medians[name]:.3f}' for name in medians), f'{tile:.3f}', f'{tile / medians["tile"]:.0f}', f'{filtered:.3f}', f'{size / 1e6:.2f}'])
        common.remove(out)
    common.table('View: from the command line to the list of functions (10 million: 3 s, with kept sums 0.5 s)',
                 ['events', 'print, s', 'view: address, s', 'functions, s', 'MB', 'kept: print, s', 'view: functions, s', 'MB'], first)
    common.table('View: changes, each for the first time, medians (10 million: filter, metric 0.25 s; tile 0.1 s)',
                 ['events', 'filter, s', 'metric, s', 'timeline tile, s', 'the same as arrays, s', 'the first tile, s', '/ a later one', 'print with a filter, s', 'largest reply, MB'], later)
    common.table('View: locks held, as rows of the timeline (a tile 0.1 s)', ['events of locks', 'holds', 'all of the time, s', 'a part, s', 'all / part'], [holds(bench)])
