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


def missing():
    if not shutil.which('node') or not (common.ROOT / 'web' / 'node_modules' / 'playwright-core').exists():
        return 'Node.js or the packages of web/'
    if not os.path.exists(os.environ.get('CHROMIUM', '/usr/bin/chromium')):
        return 'chromium'
    return None


def page(bench, _names):
    generator = bench.build / 'bench' / 'helio-generate'
    lacking = missing() or (None if generator.exists() else 'helio-generate in the build folder')
    if lacking:
        print(f'page: no {lacking}')
        return
    rows = []
    for events in (100_000, 1_000_000) if bench.quick else (100_000, 1_000_000, 10_000_000):
        out = bench.fresh('.er')
        subprocess.run([generator, '-e', str(events), str(out)], check=True, stdout=subprocess.DEVNULL)
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, 'HELIO': str(bench.helio), 'HELIO_TEST_EXPERIMENTS': str(out.parent), 'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': cache}
            words = [bench.helio, 'print', '-metrics', 'e.totalcpu:name', '-functions', out]
            measured(words, env=env)
            printed, _ = measured(words, env=env)
            done = subprocess.run(['node', MEASURE, out.name], env=env, capture_output=True, text=True, check=False)
        common.remove(out)
        if done.returncode:
            raise RuntimeError(done.stderr[-1000:])
        seen = json.loads(done.stdout)
        rows.append([f'{events:,}', f'{seen["file_bytes"] / 1000:.1f}', str(seen['files']), f'{seen["paint_ms"]:.0f}', f'{seen["rows_ms"]:.0f}', f'{1000 * printed:.0f}',
                     f'{seen["heap_bytes"] / 1e6:.1f}', f'{seen["empty_heap_bytes"] / 1e6:.1f}', f'{seen["frame_ms"]:.1f}', f'{seen["longest_frame_ms"]:.0f}'])
    common.table('Page: size (100 kB), first paint (150 ms), functions (500 ms), memory (150 MB), frames while the timeline moves (16.7 ms)',
                 ['events', 'kB compressed', 'files', 'first paint, ms', 'functions, ms', 'helio print, ms', 'memory after 8 views, MB', 'empty page, MB', 'frame, ms', 'the longest, ms'], rows)
