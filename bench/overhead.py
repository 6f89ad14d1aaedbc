# SPDX-License-Identifier: Apache-2.0
"""What profiling costs the program: CPU, wall, switches, start-up, memory. Measured inside, bare and profiled in turn."""
import statistics
import subprocess
import time

import common
import programs
from profiles import selected

# sigtrap: ticks with an empty handler, the floor of what helio can cost at that interval
VARIANTS = ('helio on', 'gprofng on', 'helio 1m', 'sigtrap 1000000', 'perf 997', 'helio 100u', 'sigtrap 100000', 'perf 9999')


# What helio costs beyond the floor, and beyond perf, at the same interval.
COMPARED = (('helio 1m', 'sigtrap 1000000'), ('helio 1m', 'perf 997'), ('helio 100u', 'sigtrap 100000'), ('helio 100u', 'perf 9999'))


def overhead(bench, names):
    """CPU and wall of the program, profiled / bare; each profiled run lies between two bare ones."""
    variants = [variant for variant in VARIANTS if bench.works(variant)]
    compared = [pair for pair in COMPARED if set(pair) <= set(variants)]
    seconds, repeats = (0.5, 4) if bench.quick else (1.0, 20)
    repeats = bench.rounds or repeats
    means = {variant: ([], []) for variant in variants}
    tables, differences = ([], []), []
    for program in selected(programs.all_programs(bench, seconds), names):
        ratios = common.interleaved(bench, program, variants, repeats)
        for which in (0, 1):
            found = {variant: common.estimate(ratios[variant][which]) for variant in variants}
            tables[which].append([program.name] + [common.shown(found[variant]) for variant in variants])
            for variant in variants:
                means[variant][which].append(found[variant])
        differences.append([program.name] + [common.difference(ratios[one][0], ratios[other][0]) for one, other in compared])
    for which, what in enumerate(('CPU', 'wall')):
        tables[which].append(['geometric mean'] + [common.shown(common.mean_of_estimates(means[v][which])) for v in variants])
        common.table(f'Overhead: {what} of the program / bare, {repeats} runs of each', ['program', *variants], tables[which])
    common.table('Differences of CPU / bare, from the same rounds', ['program', *(f'{one} - {other}' for one, other in compared)], differences)
    print(f'\n{common.LEGEND}')


def switches(bench, _names):
    """Programs that do nothing but switch: the time for a fixed number of switches, profiled / bare."""
    rows = []
    repeats = 2 if bench.quick else 7
    rounds = 20000 if bench.quick else 100000
    variants = [v for v in ('helio on', 'helio 1m', 'perf 997') if common.available(v)]
    for name, steps in (('100,000 /s', 3400), ('as fast as it goes', 0)):
        program = common.Program(name, [bench.target('pingpong'), rounds, steps])
        bare, _ = bench.run('bare', program)
        ratios = common.interleaved(bench, program, variants, repeats)
        rows.append([name, f'{2 * rounds / bare["wall"]:.0f}']
                    + [f'{common.median(ratios[v][1]):.4f} ±{common.spread(ratios[v][1]):.3f}' for v in variants])
    common.table('Context switches: wall time / bare (at most 1.05 is the promise at the default)',
                 ['pingpong', 'switches/s bare', *variants], rows)


def bounded(bench, _names):
    """What --max-overhead bounds: very deep stacks at short intervals, whose ticks cost more than the interval, and a run of some 15 ms. Start, end and what comes before the bound takes hold are in it."""
    repeats = 2 if bench.quick else 5
    variants = [v for v in ('helio off', 'helio 1m', 'helio 200u', 'helio 100u', 'helio 20u', 'helio 10u') if bench.works(v)]
    rows = []
    for name, *words in (('oddstacks', 'overflow', 15), ('shares', 40)):
        program = common.Program(' '.join(map(str, (name, *words))), [bench.target(name), *words])
        ratios = common.interleaved(bench, program, variants, repeats)
        rows.append([program.name] + [f'{common.median(ratios[v][0]):.3f} ±{common.spread(ratios[v][0]):.3f}' for v in variants])
    common.table('Short runs: CPU of the program / bare (helio off: start and end alone)', ['program', *variants], rows)


def startup(bench, _names):
    """Start and end of an empty program, and memory, beyond the bare program's."""
    repeats = 10 if bench.quick else 40
    variants = [v for v in ('helio on', 'gprofng on', 'perf 997') if common.available(v)]
    empty = common.Program('empty', [bench.target('empty')])
    threads = common.Program('threads8', [bench.target('threads8'), 20])
    rows = []
    bare_inside = median_of(bench, 'bare', empty, repeats, 'wall')
    bare_memory = median_of(bench, 'bare', empty, 5, 'maxrss_kb')
    bare_threads = median_of(bench, 'bare', threads, 5, 'maxrss_kb')
    for variant in variants:
        inside = median_of(bench, variant, empty, repeats, 'wall') - bare_inside
        memory = median_of(bench, variant, empty, 5, 'maxrss_kb') - bare_memory
        more = (median_of(bench, variant, threads, 5, 'maxrss_kb') - bare_threads - memory) / 8
        rows.append([variant, f'{inside * 1e3:.2f}', f'{(around(bench, variant, repeats) - around(bench, "bare", repeats)) * 1e3:.1f}',
                     f'{memory / 1024:.2f}', f'{more:.0f}'])
    common.table('Start-up, end and memory beyond the bare program (at most 10 ms inside, 10 MB, 256 KB per thread)',
                 ['profiler', 'inside, ms', 'whole command, ms', 'memory, MB', 'KB per thread'], rows)


def median_of(bench, variant, program, repeats, key):
    return statistics.median(bench.run(variant, program)[0][key] for _ in range(repeats))


def around(bench, variant, repeats):
    """The whole command as the user waits for it."""
    times = []
    for _ in range(repeats):
        words, out = bench.profiler(variant)
        begin = time.monotonic()
        subprocess.run(words + [bench.target('empty')], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=bench.scratch)
        times.append(time.monotonic() - begin)
        if out is not None:
            common.remove(out)
    return statistics.median(times)
