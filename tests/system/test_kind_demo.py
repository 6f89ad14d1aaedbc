# SPDX-License-Identifier: Apache-2.0
"""
A kind of data is added by files of its own: tests/kind_demo, in a build that has it beside the others.  What there is
for each kind is there for it too; the truth is what its program prints.
"""
from harness import test

TRACED = ('--demo', 'on')


def calls(rows, name, kind='i.demo'):
    row = next(row for row in rows if row['name'] == name)
    return row[f'{kind}calls'], row[f'{kind}amount']


@test
def all_that_a_kind_has(t):
    text = t.run(t.helio, 'collect', *TRACED, 'true')
    t.check(text.status == 1 and '--demo' in text.err, 'a build without the kind does not know its option')
    derived = ['completions/helio', 'completions/_helio', 'completions/helio.fish', 'docs/helio-collect.1', 'docs/helio-print.1']
    build = t.build_beside('kind-demo', ['-Dkind_demo=true'], ['products', 'tests/kind_demo/kind_demo', *derived])
    for file in derived:
        words = ('democalls', 'demoamount') if file.endswith('print.1') else ('demo', 'on')
        text = (build / file).read_text().replace('\\', '')
        t.check(all(word in text for word in words), f'{file} has it: what the kind brings is not written there by hand')
    t.helio = build / 'helio'
    t.check('--demo on|off' in t.run(t.helio, 'collect', '--help').out, 'its option is in the usage text')
    run = t.collect(build / 'tests' / 'kind_demo' / 'kind_demo', options=TRACED)
    truth = {key: int(value) for key, value in run.truth().items()}
    few, many = ((truth[f'{name}.calls'], truth[f'{name}.amount']) for name in ('few', 'many'))
    both = truth['few.calls'] + truth['many.calls'], truth['few.amount'] + truth['many.amount']
    experiment = run.experiment

    t.check(f'{both[0]} of demo' in run.err, f'the closing line counts its events: {run.err}')
    functions = t.print(experiment, '-metrics', 'i.democalls:i.demoamount:name', '-functions')[0]['rows']
    t.equal([calls(functions, name) for name in ('few', 'many', 'main')], [few, many, both], 'its metrics')
    listed = t.print(experiment, '-demo')[0]['rows']
    t.equal([calls(listed, name) for name in ('few', 'many')], [few, many], 'its command')
    amount = many[1] // many[0]
    chosen = t.print(experiment, '-filters', f'DEMOAMOUNT == {amount}', '-demo')[-1]['rows']
    t.equal(calls(chosen, 'main'), many, 'a filter by its property')
    cells = t.print(experiment, '-timeline', '-events', '0', '1000')[0]
    t.equal(sum(event['kind'] == 'demo' for event in cells['rows']), both[0], 'its events over time')

    def says(*words):
        return t.run(t.helio, 'print', *words, experiment).out

    t.check('Demo tracing: on' in says('-header'), 'the header says that it was on')
    t.check(f'{both[0]} of demo' in says('-header'), 'the header counts it')
    t.check('i+democalls' in says('-metric_list'), 'the list of metrics has its own')
    t.check('DEMOAMOUNT' in says('-describe'), 'the list of properties has its own')
    t.check('-demo' in says('-report'), 'report says to type its command')
    t.check('Demo Calls' in says('-report'), 'report has its sums')
    t.check(' demo ' in t.run(t.helio, 'print', '-help').out, 'help has its command')
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'check')
    (experiment / 'demotrace').write_bytes((experiment / 'demotrace').read_bytes()[:-40])
    t.check(t.run(t.helio, 'check', experiment).status, 'check finds that its file was cut')

    without = t.collect(build / 'tests' / 'kind_demo' / 'kind_demo').experiment
    told = t.run(t.helio, 'print', '-demo', without)
    t.check(told.status and 'helio collect --demo on' in told.err, f'without its data: {told.err}')
