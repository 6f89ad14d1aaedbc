# SPDX-License-Identifier: Apache-2.0
"""`helio print` against the independent reader, on golden experiments and on real ones."""
import json

import helio_reader
import make_golden
from harness import test

METRICS = {'user': 'user', 'system': 'system', 'trap': 'trap', 'textpfault': 'textpfault', 'datapfault': 'datapfault',
           'kernelpfault': 'kernelpfault', 'lock': 'lock', 'sleep': 'sleep', 'wait': 'wait', 'stop': 'stop'}


def compare(t, experiment):
    family = helio_reader.read_family(str(experiment))
    rows = t.functions(experiment, *(f'e.{metric}' for metric in METRICS.values()), 'e.total', 'i.total')
    total = rows['<Total>']
    for state, metric in METRICS.items():
        expected = sum(process['states'][state] for process in family.values())
        t.near(total.get(f'e.{metric}', 0), expected, f'<Total> {metric}', 1e-9, 1e-6)
    for metric in (*METRICS.values(), 'total'):
        parts = sum(row.get(f'e.{metric}', 0) for name, row in rows.items() if name != '<Total>')
        t.near(parts, total.get(f'e.{metric}', 0), f'sum of the functions\' {metric}', 1e-6, 1e-6)
    for name, row in rows.items():
        t.check(row['e.total'] <= row['i.total'] + 1e-9 and row['i.total'] <= total['i.total'] + 1e-9,
                f'{name}: exclusive {row["e.total"]}, inclusive {row["i.total"]}')


@test
def golden(t):
    path = make_golden.make(str(t.directory))
    compare(t, path)
    listing = t.print(path, '-metrics', 'e.total:name', '-functions')[-1]
    t.check(not any('dyntext' in warning for warning in listing['warnings']), f'dyntext: {listing["warnings"]}')
    t.check(any('drop' in warning.lower() for warning in listing['warnings']),
            f'3 events were dropped, but the warnings are {listing["warnings"]}')


@test
def generated(t):
    """Experiments by bench/generate.c, which says what it wrote: the second reader must find exactly that, print too."""
    generator = t.build / 'bench' / 'helio-generate'
    path = t.directory / 'generated.er'
    truth = t.directory / 'truth.json'
    t.run(generator, '-e', '30000', '-t', '3', '-d', '2', '-T', truth, path)
    family = t.read(path)
    for process in json.loads(truth.read_text())['processes']:
        read = family[process['lineage']]
        t.equal(read['events'], process['events'], f'events of {process["lineage"]}')
        threads = {thread['number']: thread for thread in read['threads']}
        for thread in process['threads']:
            for state in METRICS:
                t.equal(round(threads[thread['number']]['states'].get(state, 0) * 1e6), thread[state],
                        f'{process["lineage"]} thread {thread["number"]} {state}')
    compare(t, path)


@test
def damaged(t):
    """Cut off at any place: no crash, and never a number without a warning when something is missing."""
    path = make_golden.make(str(t.directory))
    for name in ('profile', 'stacks', 'overview', 'log.xml', 'map.xml', 'dyntext'):
        file = t.directory / 'golden.1.er' / name
        data = file.read_bytes()
        for length in sorted({0, 7, 31, 40, len(data) // 3, len(data) // 2, len(data) - 9}):
            file.write_bytes(data[:length])
            result = t.run(t.helio, 'print', '-functions', '-calltree', '-header', path)
            t.check(result.status in (0, 1), f'{name} cut to {length}: status {result.status}: {result.err[-300:]}')
            t.check('anitizer' not in result.err, f'{name} cut to {length}: {result.err[-600:]}')
        file.write_bytes(data)


@test(engines=True)
def real(t, engine):
    for words in (('threads8', '0.1s'), ('phases', '0.05'), ('forktree', '0.05s')):
        compare(t, t.collect(t.target(words[0]), *words[1:], engine=engine).experiment)


@test(engines=True)
def samples(t, engine):
    """Usage at the start, every second and at the end; it only grows; the end is what getrusage says."""
    result = t.collect(t.target('flat'), '2.5s', engine=engine)
    points = t.read(result.experiment)['']['samples']
    t.equal([p['kind'] for p in points][:1] + [p['kind'] for p in points][-1:], [0, 2], 'kinds of first and last')
    t.check(len(points) >= 4, f'{len(points)} sample points in 2.5 s')
    for before, after in zip(points, points[1:]):
        for key in ('time_ns', 'user_ns', 'system_ns', 'minor_faults', 'max_rss_bytes'):
            t.check(after[key] >= before[key], f'{key} shrinks: {before[key]} to {after[key]}')
    t.near((points[-1]['user_ns'] + points[-1]['system_ns']) / 1e9, result.truth()['cpu'], 'CPU at the end', 0.02, 0.01)
