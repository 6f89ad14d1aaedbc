# SPDX-License-Identifier: Apache-2.0
"""What counter profiling costs: programs that do what is counted, bare and recorded in turn."""
import common
import programs
from profiles import selected


def fault_program(bench, seconds):
    """Nothing but page faults, which is the worst there is."""
    return common.Program('page faults', [bench.target('faulter'), f'pages={int(400000 * seconds)}'])


def switch_program(bench, seconds):
    return common.Program('switches', [bench.target('pingpong'), int(60000 * seconds), 0])


def counter(bench, names):
    """CPU and wall of the program / bare, for page faults and switches at the default interval, at each, and perf's at each."""
    seconds, repeats = (0.3, 2) if bench.quick else (1.0, 5)
    for event, worst in (('page-faults', fault_program), ('context-switches', switch_program)):
        wanted = [f'counter {event}', f'counter {event},1', f'perfcount {event}']
        variants = [variant for variant in wanted if bench.works(variant)]
        real = [p for p in programs.real(bench, seconds) if p.name in ('sqlite3', 'python3', 'gcc')]
        rows = []
        for program in selected([worst(bench, seconds), *real], names):
            ratios = common.interleaved(bench, program, variants, repeats)
            rows.append([program.name] + [f'{common.median(ratios[v][which]):.3f}' for v in variants for which in (0, 1)])
        common.table(f'{event}: CPU and wall of the program / bare, median of {repeats}',
                     ['program'] + [f'{v} {what}' for v in variants for what in ('CPU', 'wall')], rows)
