# SPDX-License-Identifier: Apache-2.0
"""Programs that limit themselves, or are limited: recorded as far as that goes, and never harmed."""
from harness import test

INTERVALS = ('100u', '1', '10')


def warnings_of(process):
    return [event['text'] for event in process['log_events'] if event['kind'] == 'warning']


@test(engines=True)
def seccomp(t, engine):
    """Recorded until the program restricts its system calls, silent from then on."""
    program = t.target('restrict')
    for how in ('strict', 'filter', 'syscall'):
        bare = t.run(program, how)
        t.equal((bare.status, bare.out), (7, 'went on to its end\n'), f'{how}, bare')
        for interval in INTERVALS:
            result = t.collect(program, how, engine=engine, options=('-p', interval), status=7)
            t.equal(result.out, bare.out, f'{how} at {interval}: output')
            process = t.read(result.experiment)['']
            t.ratio(process['cpu'], 0.3, 0.93, 1.05, f'{how} {interval}')
            t.check(any('seccomp' in text for text in warnings_of(process)), f'{how}: no word of it in the log')
            t.check('before' in t.functions(result.experiment), f'{how}: before() is not among the functions')


@test(engines=True)
def seccomp_probe(t, engine):
    """To ask what the kernel knows restricts nothing."""
    result = t.collect(t.target('restrict'), 'probe', engine=engine, status=7)
    process = t.read(result.experiment)['']
    t.check(not warnings_of(process), f'a warning: {warnings_of(process)}')
    t.check('after' in t.functions(result.experiment), 'after() was not recorded')
