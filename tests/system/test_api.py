# SPDX-License-Identifier: Apache-2.0
"""What a program says to the collector through collectorAPI.h."""
from harness import test


@test(engines=True)
def paused_and_resumed(t, engine):
    result = t.collect(t.target('api'), engine=engine)
    rows = t.functions(result.experiment, 'i.totalcpu')
    t.near(rows['<Total>']['i.totalcpu'], 0.8, 'recorded CPU', 0.0, 0.02)
    hidden = rows['hidden']['i.totalcpu'] if 'hidden' in rows else 0
    t.check(hidden < 0.02, f'{hidden} s of what was not to be recorded')
    overview = (result.experiment / 'overview').read_bytes()
    for label in (b'middle', b'collector_pause(API)', b'collector_resume', b'collector_close_experiment'):
        t.check(label in overview, f'no sample point {label}')
