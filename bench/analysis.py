# SPDX-License-Identifier: Apache-2.0
"""Reading and printing: time and memory per event for experiments of all sizes, and `perf report` beside them."""
import os
import pathlib
import resource
import re
import subprocess
import tempfile
import time

import common

NO_CACHE = {**os.environ, 'HELIO_CACHE': 'off'}


def measured(words, **more):
    """(seconds, peak MB) of a command, by wait4."""
    seconds, memory, _ = account(words, **more)
    return seconds, memory


def account(words, **more):
    """(seconds, peak MB, seconds of processors) of a command, by wait4."""
    begin = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f'{words}: status {child.returncode}')
    return time.monotonic() - begin, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def drop_caches():
    """Makes the next read a cold one, where we may."""
    os.sync()
    try:
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as file:
            file.write('1')
        return True
    except OSError:
        return False


def analysis(bench, _names):
    """The sizes double as a test that the cost is linear: seconds per million events stay the same."""
    generator = bench.build / 'bench' / 'helio-generate'
    if not generator.exists():
        print('analysis: no helio-generate in the build folder')
        return
    rows, kept = [], []
    for events in (100_000, 1_000_000) if bench.quick else (100_000, 1_000_000, 10_000_000, 100_000_000):
        out = bench.fresh('.er')
        subprocess.run([generator, '-e', str(events), str(out)], check=True, stdout=subprocess.DEVNULL)
        row = [f'{events:,}']
        for command in ('-functions', '-calltree'):
            cold = drop_caches()
            first, memory = measured([bench.helio, 'print', command, out], env=NO_CACHE)
            again, _ = measured([bench.helio, 'print', command, out], env=NO_CACHE)
            row += [f'{first:.3f}' if cold else '-', f'{again:.3f}', f'{again / events * 1e6:.3f}', f'{memory:.0f}']
        rows.append(row)
        kept.append([f'{events:,}', row[2], *with_kept_sums(bench, out)])
        common.remove(out)
    common.table('Analysis: helio print -functions and -calltree (10 million: at most 1 s cold, 500 MB; call tree 2 s)',
                 ['events', 'functions cold, s', 'warm, s', 's per million', 'MB', 'calltree cold, s', 'warm, s', 's per million', 'MB'], rows)
    common.table('The same with kept sums (10 million: functions at most 0.15 s)',
                 ['events', 'functions from events, s', 'kept: functions, s', 'MB', 'calltree, s', 'MB', 'from the leaves up, 0.1 %, s', 'MB',
                  'flame graph, s', 'MB', 'MB on disk'], kept)


def with_kept_sums(bench, out):
    """Seconds and memory of commands that need no events, after a first one has kept the sums."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, 'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': cache}
        measured([bench.helio, 'print', '-functions', out], env=env)
        row = []
        for words in ('-functions', '-calltree', '-calltree -inverted -percent 0.1', '-flamegraph'):
            seconds, memory = measured([bench.helio, 'print', *words.split(), out], env=env)
            row += [f'{seconds:.3f}', f'{memory:.0f}']
        return [*row, f'{sum(file.stat().st_size for file in pathlib.Path(cache).rglob("*.sums")) / 1e6:.1f}']


GOLDEN = pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'golden'
QUESTIONS = [
    ('all events again', ['-filters', 'TRUE', '-functions']),
    ('a time and a thread', ['-filters', 'TSTAMP > 1000000000 && THRID IN 1,2', '-functions']),
    ('ten conditions', ['-filters', ' || '.join(f'THRID == {n} && MSTATE < 3' for n in range(1, 6)), '-functions']),
    ('a function on the stack', ['-filters', 'FNAME("mem.*") SOME IN STACK', '-functions']),
    ('an instruction on the stack', ['-filters', 'INAME(".* + 0x1.*") SOME IN STACKI', '-functions']),
    ('by thread', ['-threads']),
    ('by second', ['-seconds']),
    ('by microsecond', ['-moments']),
    ('standard errors', ['-metrics', 'i.~totalcpu:name', '-functions', '-metrics', 'i.totalcpu:name']),
]


def filters(bench, _names):
    """Questions to experiments that are open: asked eleven times, less asked once, by ten."""
    generator = bench.build / 'bench' / 'helio-generate'
    out = bench.fresh('.er')
    events = 1_000_000 if bench.quick else 10_000_000
    subprocess.run([generator, '-e', str(events), str(out)], check=True, stdout=subprocess.DEVNULL)
    rows, plain = [], None
    for name, words in QUESTIONS:
        times = 3 if '-moments' in words else 11

        def ask(count, words=words):
            command = [bench.helio, 'print', '-limit', '5', '-indxobj_define', 'moments', 'TSTAMP', *words * count, out]
            return measured(command, env=NO_CACHE)
        once, several = ask(1), ask(times)
        seconds = (several[0] - once[0]) / (times - 1)
        plain = plain or seconds
        rows.append([name, f'{seconds:.3f}', f'{seconds / events * 1e9:.1f}', f'{seconds / plain:.1f}', f'{several[1]:.0f}'])
    common.remove(out)
    common.table(f'Filters and index objects, {events:,} events (10 million: a filter at most 0.25 s)',
                 ['question', 's', 'ns per event', '/ all events again', 'MB'], rows)


def processor_time(command, **more):
    """Seconds of CPU, of which a busy machine takes hardly more."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def small(bench, _names):
    """Index objects of an experiment with hardly any events but of all kinds, which tables for many must not make slow, beside the list of functions."""
    rows, plain = [], None
    times = 100
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(['python3', GOLDEN / 'make_kinds.py', directory], check=True, stdout=subprocess.DEVNULL)
        out = pathlib.Path(directory) / 'kinds.1.er'
        for name, words in (('functions', ['-functions']), ('by thread', ['-threads']), ('by second', ['-seconds']), ('by processor', ['-cpus'])):
            once, several = (processor_time([bench.helio, 'print', *words * count, out], env=NO_CACHE) for count in (1, times + 1))
            seconds = (several - once) / times
            plain = plain or seconds
            rows.append([name, f'{seconds * 1e3:.3f}', f'{seconds / plain:.1f}'])
    common.table('Questions to an experiment of some 30 events, of all kinds', ['question', 'CPU ms', '/ functions'], rows)


SHAPES = [
    ('as usual', ()),
    ('1 million call stacks', ('-s', '1000000')),
    ('1,000 threads', ('-t', '1000')),
    ('500 descendants', ('-d', '500')),
]
VIEWS = [
    ('functions', ['-functions']),
    ('call tree', ['-calltree']),
    ('callers, callees', ['-callers-callees']),
    ('by second', ['-seconds']),
    ('filter: time and thread', ['-filters', 'TSTAMP > 1000000000 && THRID IN 1,2', '-functions']),
    ('filter: function on stack', ['-filters', 'FNAME("mem.*") SOME IN STACK', '-functions']),
]


def shapes(bench, _names):
    """What every view costs on experiments of different shapes: the first time, and when it is asked again."""
    generator = bench.build / 'bench' / 'helio-generate'
    sizes = (100_000, 1_000_000) if bench.quick else (10_000_000, 100_000_000)
    for size in sizes:
        rows = []
        for shape, options in SHAPES[:1] if size == sizes[1] and not bench.quick else SHAPES:
            out = bench.fresh('.er')
            subprocess.run([generator, '-e', str(size), *options, str(out)], check=True, stdout=subprocess.DEVNULL)
            for name, words in VIEWS:
                def ask(count, words=words, **more):
                    return account([bench.helio, 'print', *words * count, out], env={**NO_CACHE, **more})
                cold = drop_caches()
                first, _, _ = ask(1)
                once, memory, _ = ask(1)
                _, _, alone = ask(1, HELIO_THREADS='1')
                _, _, thrice = ask(3, HELIO_THREADS='1')
                rows.append([f'{shape}: {name}', f'{first:.3f}' if cold else '-', f'{once:.3f}', f'{alone / size * 1e6:.4f}',
                             f'{max(0, thrice - alone) / 2:.3f}', f'{memory:.0f}', f'{memory * 1024 ** 2 / size:.1f}'])
            common.remove(out)
        common.table(f'{size:,} events (at most 0.1 s per million on one processor, 24 bytes per event; asked again at 10 million: 0.25 s)',
                     ['experiment: view', 'cold, s', 'warm, s', 'CPU s per million, one thread', 'asked again, CPU s', 'MB', 'bytes per event'], rows)
    gprofng_display(bench)
    perf_report(bench)


def gprofng_display(bench):
    """Each tool's function list of the same program's allocations, as it recorded them."""
    if not common.available('gprofng on'):
        return
    words = [bench.target('malloc_heavy'), f'{20 if bench.quick else 100}']
    rows = []
    ours, theirs = bench.fresh('.er'), bench.fresh('.er')
    subprocess.run([bench.helio, 'collect', '-q', '-p', 'off', '-H', 'on', '-o', ours, *words], check=True, capture_output=True)
    subprocess.run(['gprofng', 'collect', 'app', '-p', 'off', '-H', 'on', '-O', theirs, *words], check=True, capture_output=True, cwd=bench.scratch)
    count = 2 * 10_000 * int(words[1])
    for name, command in (('helio print', [bench.helio, 'print']), ('gprofng display text', ['gprofng', 'display', 'text'])):
        out = ours if command[0] == bench.helio else theirs
        elapsed, memory = measured([*command, '-functions', '-calltree', out], env=NO_CACHE)
        rows.append([name, f'{count:,}', f'{elapsed:.3f}', f'{elapsed / count * 1e6:.3f}', f'{memory:.0f}'])
        common.remove(out)
    common.table('Functions and call tree of traced allocations', ['tool', 'events', 's', 's per million', 'MB'], rows)


def perf_report(bench):
    if not common.available('perf 997'):
        return
    seconds = 2 if bench.quick else 10
    program = common.Program('deep', [bench.target('deep'), f'{seconds}s', '20'])
    rows = []
    _, out = bench.run('perf 9999', program, keep=True)
    listing = subprocess.run(['perf', 'report', '-i', str(out), '--stdio', '-g', 'none', '--sort', 'comm'], capture_output=True, text=True).stdout
    samples = re.search(r'^# Samples: ([0-9.]+)([KM]?)', listing, re.M)
    count = float(samples.group(1)) * {'': 1, 'K': 1e3, 'M': 1e6}[samples.group(2)] if samples else float('nan')
    for name, words in (('flat', ['--no-children', '-g', 'none']), ('call graph', ['-g'])):
        elapsed, memory = measured(['perf', 'report', '-i', str(out), '--stdio', *words])
        rows.append([name, f'{count:.0f}', f'{elapsed:.3f}', f'{elapsed / count * 1e6:.3f}', f'{memory:.0f}'])
    common.remove(out)
    common.table('perf report --stdio, for comparison', ['listing', 'samples', 's', 's per million', 'MB'], rows)


def unwind(bench, _names):
    """The unwinder by itself: a C program that prints its own ratios."""
    run_program(bench, 'unwind', 'Unwinding')


def event(bench, _names):
    """What the collector adds to an event: likewise."""
    run_program(bench, 'event', 'One event, beside the kernel\'s part of it')


def run_program(bench, name, title):
    print(f'\n## {title}\n', flush=True)
    subprocess.run([bench.build / 'bench' / name], check=False)
