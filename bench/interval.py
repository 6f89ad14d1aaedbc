# SPDX-License-Identifier: Apache-2.0
"""What the clock's interval costs and gives: the default, which begins short; threads that live shortly."""
import common

FIXED = 'helio 10.007m'


def events_of(bench, variant, program):
    _, path = bench.run(variant, program, keep=True)
    events = common.family_cpu(path)[1]
    common.remove(path)
    return events


def interval(bench, _names):
    """The default beside a fixed interval of 10 ms, for runs of some lengths, one of many processes among them."""
    repeats = 3 if bench.quick else 15
    lengths = (0.2, 2) if bench.quick else (0.2, 1, 3, 10)
    variants = ['helio on', FIXED]
    programs = [common.Program(f'flat, {seconds} s', [bench.target('flat'), rounds_for(bench, seconds)]) for seconds in lengths]
    programs.append(common.Program('200 forks of 3 ms', [bench.target('lives'), 'forks', 200, 1]))
    rows = []
    for program in programs:
        ratios = common.interleaved(bench, program, variants, repeats if program is not programs[-2] else min(repeats, 5))
        counts = {variant: events_of(bench, variant, program) for variant in variants}
        rows.append([program.name] + [f'{common.median(ratios[v][0]):.4f} ±{common.spread(ratios[v][0]):.3f}' for v in variants]
                    + [common.median(ratios[variants[0]][0]) - common.median(ratios[FIXED][0]), str(counts[variants[0]]), str(counts[FIXED])])
    common.table('The default interval: CPU of the program / bare, and events',
                 ['program', 'default', '10 ms', 'difference', 'events, default', 'events, 10 ms'], rows)


def rounds_for(bench, seconds):
    """So many rounds of the loop take that long here: bare and profiled runs do the same work."""
    tried = 2000
    values, _ = bench.run('bare', common.Program('flat', [bench.target('flat'), tried]))
    return max(1, round(tried * seconds / values['cpu']))


def young(bench, _names):
    """Threads of a millisecond: their timers, and their first ticks, beside what a thread costs without a clock."""
    repeats = 3 if bench.quick else 15
    program = common.Program('threads', [bench.target('shortthreads'), 500 if bench.quick else 2000])
    variants = ['helio off', FIXED, 'helio on', 'helio 1m']
    ratios = common.interleaved(bench, program, variants, repeats)
    common.table('Short threads: CPU and wall of the program / bare', ['clock', 'CPU', '±', 'wall', '±'],
                 [[variant.split()[1], common.median(cpu), common.spread(cpu), common.median(wall), common.spread(wall)]
                  for variant, (cpu, wall) in ((v, ratios[v]) for v in variants)])
