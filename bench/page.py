# SPDX-License-Identifier: Apache-2.0
"""The page of helio view in a browser: its size, how long until something is seen, memory, frames while the timeline moves."""
import json
import os
import shutil
import subprocess
import tempfile

import common
from analysis import measured

MEASURE = common.ROOT / 'web' / 'test' / 'browser' / 'measure.mjs'
BESIDE = MEASURE.with_name('speedscope.mjs')
SPEEDSCOPE = 'speedscope@1.25.0'


def missing():
    if not shutil.which('node') or not (common.ROOT / 'web' / 'node_modules' / 'playwright-core').exists():
        return 'Node.js or the packages of web/'
    if not os.path.exists(os.environ.get('CHROMIUM', '/usr/bin/chromium')):
        return 'chromium'
    return None


def speedscope(bench):
    """The folder of its release, of the version that is named here; None: its package cannot be had."""
    if not shutil.which('npm'):
        return None
    folder = bench.fresh('.speedscope')
    folder.mkdir()
    packed = subprocess.run(['npm', 'pack', '--silent', SPEEDSCOPE], cwd=folder, capture_output=True, text=True, check=False)
    if packed.returncode:
        return None
    shutil.unpack_archive(folder / packed.stdout.split()[-1], folder)
    return folder / 'package' / 'dist' / 'release'


def profile_of(bench, experiment, events, path):
    """As many samples as there are events, with the call stacks of the experiment as often as they weigh there, in speedscope's own format."""
    said = subprocess.run([bench.helio, 'print', '-printmode', 'json', '-metrics', 'e.totalcpu:name', '-stacks', '-callers-first', experiment],
                          capture_output=True, text=True, check=True)
    answer = json.loads(said.stdout)
    total = sum(row['e.totalcpu'] for row in answer['rows'])
    samples = [row['stack'] for row in answer['rows'] for _ in range(round(events * row['e.totalcpu'] / total))]
    value = total / len(samples)
    shown = {'type': 'sampled', 'name': path.stem, 'unit': 'seconds', 'startValue': 0, 'endValue': total, 'samples': samples, 'weights': [value] * len(samples)}
    with path.open('w') as file:
        json.dump({'$schema': 'https://www.speedscope.app/file-format-schema.json', 'name': path.stem,
                   'shared': {'frames': [{'name': frame['name']} for frame in answer['frames']]}, 'profiles': [shown]}, file)


def beside(bench, release, experiment, events):
    """(ms until speedscope shows the same data, MB of its page)"""
    if not release:
        return ['', '']
    path = release / 'recorded.json'
    profile_of(bench, experiment, events, path)
    done = subprocess.run(['node', BESIDE, release, path.name], capture_output=True, text=True, check=False)
    path.unlink()
    if done.returncode:
        print(f'page: speedscope does not show {events:,} samples: {done.stderr.strip()[-300:]}')
        return ['none', 'none']
    seen = json.loads(done.stdout)
    return [f'{seen["shown_ms"]:.0f}', f'{seen["heap_bytes"] / 1e6:.1f}']


def page(bench, _names):
    generator = bench.build / 'bench' / 'helio-generate'
    lacking = missing() or (None if generator.exists() else 'helio-generate in the build folder')
    if lacking:
        print(f'page: no {lacking}')
        return
    rows, release = [], speedscope(bench)
    for events in (100_000, 1_000_000) if bench.quick else (100_000, 1_000_000, 10_000_000):
        out = bench.fresh('.er')
        subprocess.run([generator, '-e', str(events), str(out)], check=True, stdout=subprocess.DEVNULL)
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, 'HELIO': str(bench.helio), 'HELIO_TEST_EXPERIMENTS': str(out.parent), 'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': cache}
            words = [bench.helio, 'print', '-metrics', 'e.totalcpu:name', '-functions', out]
            measured(words, env=env)
            printed, _ = measured(words, env=env)
            done = subprocess.run(['node', MEASURE, out.name], env=env, capture_output=True, text=True, check=False)
        other = beside(bench, release, out, events)
        common.remove(out)
        if done.returncode:
            raise RuntimeError(done.stderr[-1000:])
        seen = json.loads(done.stdout)
        rows.append([f'{events:,}', f'{seen["file_bytes"] / 1000:.1f}', str(seen['files']), f'{seen["paint_ms"]:.0f}', f'{seen["rows_ms"]:.0f}', f'{1000 * printed:.0f}',
                     f'{seen["heap_bytes"] / 1e6:.1f}', f'{seen["empty_heap_bytes"] / 1e6:.1f}', f'{seen["frame_ms"]:.1f}', f'{seen["longest_frame_ms"]:.0f}', *other])
    common.table('Page: size (100 kB), first paint (150 ms), functions (500 ms), memory (150 MB), frames while the timeline moves (16.7 ms)',
                 ['events', 'kB compressed', 'files', 'first paint, ms', 'functions, ms', 'helio print, ms', 'memory after 8 views, MB', 'empty page, MB', 'frame, ms', 'the longest, ms',
                  f'{SPEEDSCOPE} shows as many samples, ms', 'its memory, MB'], rows)
