# SPDX-License-Identifier: Apache-2.0
"""
Accuracy: functions with 10, 20, 30, 40 % of the work.

Samples of work in random order are binomial: the share p of n samples has
the standard error sqrt(p (1 - p) / n). Asking each of four shares for 2
errors would fail one right run in seven; one chi-square test over all four
at 0.1 % (3 degrees of freedom: 16.27) asks the same of the whole and fails
one right run in a thousand.
"""
from harness import test

CHI_SQUARE_3_001 = 16.27


def compare(t, engine, options):
    result = t.collect(t.target('shares'), '3s', engine=engine, options=options)
    truth = result.truth()
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    values = {name: rows[name]['e.totalcpu'] for name in 'abcd'}
    total = sum(values.values())
    t.ratio(total, truth['thread_cpu'], 0.8, 1.01, 'a+b+c+d')  # the rest reads the clock
    process = t.read(result.experiment)['']
    # on a busy machine the monitor comes late: fewer samples than intervals
    count = min(total / (int(process['settings']['clock']) / 1e6), process['events'])
    distance = sum(count * (values[n] / total - truth[f'{n}.share']) ** 2 / truth[f'{n}.share'] for n in 'abcd')
    t.remark += f'chi-square {distance:.2f} '
    t.within(distance < CHI_SQUARE_3_001, f'shares {values} against {truth}: chi-square {distance:.2f}')


@test(alone=True, engines=True)
def at_the_default(t, engine):
    compare(t, engine, ())


@test(alone=True, engines=True)
def at_1_ms(t, engine):
    compare(t, engine, ('-p', 'hi'))
