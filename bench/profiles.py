# SPDX-License-Identifier: Apache-2.0
"""What is in the profiles: completeness, accuracy, size."""
import json
import math
import statistics
import subprocess

import common
import programs


def completeness(bench, names):
    """CPU and wall seconds in the profile / the kernel's account of the same run; 0.99 to 1.01 is the promise."""
    seconds = 1.0 if bench.quick else 3.5
    others = [tool for tool in ('gprofng on', 'perf 997') if common.available(tool)]
    rows = []
    for program in selected(programs.all_programs(bench, seconds), names):
        row = [program.name]
        for engine in ('perf', 'monitor'):
            row += helio_complete(bench, program, engine)
        for tool in others:
            used, out = bench.run(tool, program, keep=True)
            reader = common.gprofng_cpu if tool.startswith('gprofng') else common.perf_cpu
            row.append(reader(out) / used['cpu'])
            common.remove(out)
        rows.append(row)
    common.table('Completeness: seconds in the profile / seconds by wait4, same run',
                 ['program', 'perf cpu', 'perf wall', 'monitor cpu', 'monitor wall']
                 + [f'{tool} (cpu)' for tool in others], rows)


def helio_complete(bench, program, engine):
    """The wall time is that of the longest-lived main thread among the images: the program that was asked for."""
    try:
        used, out = bench.run('helio', program, engine=engine, keep=True)
    except RuntimeError as problem:
        print(f'{program.name}: {engine}: {problem}')
        return [math.nan, math.nan]
    cpu, _, _, images = common.family_cpu(out)
    wall = {}
    for image in images:  # one process may have several images, one after the other
        pid = image['process'].get('pid')
        wall[pid] = wall.get(pid, 0) + (image['threads'][0]['sum'] if image['threads'] else 0)
    common.remove(out)
    return [cpu / used['cpu'], max(wall.values(), default=math.nan) / used['wall']]


def accuracy(bench, _names):
    """Shares of 10, 20, 30, 40 %: how many standard errors the profile is off; |z| < 2 in 95 % is what chance allows."""
    rows = []
    for options in (['-p', 'on'], ['-p', '1m'], ['-p', 'on', '--engine', 'monitor'], ['-p', '1m', '--engine', 'monitor']):
        distances = []
        for _ in range(2 if bench.quick else 10):
            distances += share_distances(bench, options)
        inside = sum(abs(z) < 2 for z in distances) / len(distances)
        rows.append([' '.join(options), statistics.mean(distances), statistics.pstdev(distances), max(map(abs, distances)), inside])
    common.table('Accuracy: shares of four functions, in standard errors sqrt(p (1 - p) / n)',
                 ['helio collect', 'mean', 'deviation', 'worst', 'within 2'], rows)


def share_distances(bench, options):
    out = bench.fresh('.er')
    run = subprocess.run([str(bench.helio), 'collect', *options, '-o', str(out), bench.target('shares'), '3s'],
                         capture_output=True, text=True, check=True)
    truth = {line.split()[0]: float(line.split()[1]) for line in run.stdout.splitlines() if '.share' in line}
    listing = subprocess.run([str(bench.helio), 'print', '-printmode', 'json', '-metrics', 'e.totalcpu:name', '-functions', str(out)],
                             capture_output=True, text=True, check=True)
    text = listing.stdout[listing.stdout.index('{"command":"functions"'):] if '{"command":"functions"' in listing.stdout \
        else listing.stdout
    values = {row['name']: row['e.totalcpu'] for row in json.JSONDecoder().raw_decode(text.strip())[0]['rows']}
    interval = int(common.helio_reader.read_process(str(out))['settings']['clock']) / 1e6
    common.remove(out)
    total = sum(values[name] for name in 'abcd')
    count = total / interval
    return [(values[n] / total - truth[f'{n}.share']) / math.sqrt(truth[f'{n}.share'] * (1 - truth[f'{n}.share']) / count)
            for n in 'abcd']


def size(bench, names):
    """Bytes on disk per event, stacks included, for a long run; perf.data beside it."""
    seconds = 2.0 if bench.quick else 10.0
    rows = []
    perf = common.available('perf 997')
    for program in selected(programs.all_programs(bench, seconds), names or ['flat', 'deep', 'threads8', 'sqlite3', 'python3', 'gcc']):
        row = [program.name]
        for variant in ('helio on', 'helio 1m'):
            _, out = bench.run(variant, program, keep=True)
            _, events, used, _ = common.family_cpu(out)
            row += [str(events), used / max(events, 1)]
            common.remove(out)
        if perf:
            used, out = bench.run('perf 997', program, keep=True)
            row.append(out.stat().st_size / max(1.0, common.perf_cpu(out) * 997))
            common.remove(out)
        rows.append(row)
    common.table('Size: bytes of profile and stacks per event (at most 16 is the promise)',
                 ['program', 'events', 'bytes/event 10 ms', 'events', 'bytes/event 1 ms'] + (['perf.data, fp'] if perf else []), rows)


def selected(items, names):
    known = [item for item in items if not names or item.name in names]
    return known or items
