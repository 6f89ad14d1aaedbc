# SPDX-License-Identifier: Apache-2.0
"""OMPT: what another tool counts of the same programs, and programs that have a tool of their own."""
import re
import shutil

from harness import ROOT, Skip, test

TARGETS = ROOT / 'tests' / 'targets'
DISPLACED = 'the program has an OMPT tool of its own'
DISABLED = 'OMP_TOOL is disabled'
PLAIN = '''int main(void)
{
	int threads = 0;

	for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2) reduction(+ : threads)
		threads++;
	}
	return threads != 10;
}
'''


def build(t, *words):
    compiler = 'clang++' if any(word.endswith('.cc') for word in words) else 'clang'
    result = t.run(t.need(compiler), '-O1', '-g', '-fopenmp', *words)
    t.check(result.status == 0, result.err[-500:])


def make_tool(t):
    build(t, '-shared', '-fPIC', '-o', 'tool.so', str(TARGETS / 'omptcount.c'))
    return str(t.directory / 'tool.so')


def counted_by_tool(t, environment, *words):
    """Of a run without us."""
    t.run(*words, env={**environment, 'OMP_TOOL_LIBRARIES': make_tool(t), 'OMPT_COUNTS': 'counts'})
    return {name: int(count) for name, count in (line.split() for line in (t.directory / 'counts').read_text().splitlines())}


def counted_by_us(t, experiment):
    regions, tasks = (t.print(experiment, command)[-1]['rows'][1:] for command in ('-regions', '-tasks'))
    executed = [event for event in t.read(experiment)['']['traces']['omptrace'] if event['type'] == 'region']
    return {'regions': sum(row['calls'] for row in regions), 'shares': sum(event['threads'] for event in executed), 'tasks': sum(row['calls'] for row in tasks)}


def waits_by_us(t, experiment):
    kinds = {'OpenMP lock': 'lock', 'critical section': 'critical', 'atomic construct': 'atomic', 'ordered section': 'ordered'}
    waits = dict.fromkeys(kinds.values(), 0)
    for row in t.print(experiment, '-locks')[-1]['rows'][1:]:
        waits[kinds[re.search(r'\(([^()]*)\)$', row['name'])[1]]] += row['syncn']
    return waits


@test
def counts(t):
    """Regions, the threads' shares of them and tasks are as many as another tool counts."""
    environment = {'OMP_CANCELLATION': 'true'}
    build(t, '-o', 'ompodd', str(TARGETS / 'ompodd.cc'))
    build(t, '-Wno-pass-failed', '-o', 'ompconstructs', str(TARGETS / 'ompconstructs.c'))
    for words in (('./ompodd', 'tasks'), ('./ompodd', 'throw'), ('./ompodd', 'cancel'), ('./ompodd', 'all'), ('./ompconstructs',)):
        expected = counted_by_tool(t, environment, *words)
        t.check(expected['shares'] > expected['regions'] > 0, f'{words}: {expected}')
        ours = counted_by_us(t, t.collect(*words, options=('--openmp', 'trace'), env=environment).experiment)
        t.equal(ours, {name: expected[name] for name in ours}, f'{words}')


@test(alone=True)
def waits(t):
    """So are the waits for locks and sections of each kind that are as long as the program makes them; and the time at barriers is the same."""
    environment = {'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'}
    build(t, '-o', 'omplocks', str(TARGETS / 'omplocks.c'))
    build(t, '-o', 'ompstages', str(TARGETS / 'ompstages.c'))
    for name in 'omplocks', 'ompstages':
        expected = counted_by_tool(t, environment, f'./{name}', '0.2')
        experiment = t.collect(f'./{name}', '0.2', env=environment).experiment
        ours = waits_by_us(t, experiment)
        t.check(sum(ours.values()) >= 9, f'{name}: {ours}')
        t.equal(ours, {kind: expected[kind] for kind in ours}, f'{name}: waits')
        total = t.functions(experiment, 'e.ompebar')['<Total>']['e.ompebar']
        t.near(total, expected['barrier_ns'] / 1e9, f'{name}: at explicit barriers', 0.25, 0.05)


def warnings(t, experiment):
    return re.findall(r'kind="warning"[^>]* text="([^"]*)"', (experiment / 'log.xml').read_text())


def collect_beside(t, what, said, *words, env=None, tool_runs=True, options=()):
    """What a tool counts is as without us; where it is the tool, there is none of it and the log says so."""
    counts = t.directory / 'counts'
    counts.unlink(missing_ok=True)
    experiment = t.collect(*words, options=options, env={'OMPT_COUNTS': str(counts), **(env or {})}).experiment
    t.equal(counts.exists() and counts.read_text().split()[:4], tool_runs and ['regions', '5', 'shares', '10'], f'{what}: what the tool says')
    found = [text for text in warnings(t, experiment) if 'OMP' in text]
    t.check(len(found) == bool(said) and all(text.startswith(said) for text in found), f'{what}: {found}')
    t.equal((experiment / 'omptrace').exists(), not said and not options, f'{what}: omptrace')


@test
def own_tools(t):
    """A tool that the program has is not displaced, wherever it comes from, and what is not recorded then is said."""
    tool = make_tool(t)
    (t.directory / 'plain.c').write_text(PLAIN)
    build(t, '-o', 'plain', 'plain.c')
    build(t, '-o', 'linked', 'plain.c', tool)
    build(t, '-DMAIN', '-o', 'own', str(TARGETS / 'omptcount.c'))
    collect_beside(t, 'none', '', './plain', tool_runs=False)
    collect_beside(t, 'named in the environment', DISPLACED, './plain', env={'OMP_TOOL_LIBRARIES': tool})
    collect_beside(t, 'preloaded', DISPLACED, './plain', env={'LD_PRELOAD': tool})
    collect_beside(t, 'a library of the program', DISPLACED, './linked')
    collect_beside(t, 'in the program', DISPLACED, './own')
    collect_beside(t, 'in the program, not to be recorded', '', './own', options=('--openmp', 'off'))
    collect_beside(t, 'disabled', DISABLED, './plain', env={'OMP_TOOL': 'Disabled'}, tool_runs=False)
    collect_beside(t, 'disabled, one in the program', DISABLED, './own', env={'OMP_TOOL': 'disabled'}, tool_runs=False)


def link_collector(t, name, objects):
    """The `helio` of a directory of its own, beside a collector whose files are linked in that order."""
    directory = t.directory / name
    directory.mkdir()
    shutil.copy(t.build / 'helio', directory / 'helio')
    result = t.run('cc', '-shared', '-fPIC', '-Wl,-z,now', '-Wl,--allow-shlib-undefined', f'-Wl,--version-script={ROOT}/src/collector/collector.map',
                   '-o', str(directory / 'libhelio-collector.so'), *map(str, objects))
    if result.status:
        raise Skip(f'the collector cannot be linked again: {result.err[-300:]}')
    return directory / 'helio'


@test
def any_order(t):
    """What is said of other tools does not depend on the order in which the collector's files are linked."""
    build(t, '-DMAIN', '-o', 'own', str(TARGETS / 'omptcount.c'))
    objects = sorted((t.build / 'libhelio-collector.so.p').glob('*.o'))
    for name, order in (('forwards', objects), ('backwards', objects[::-1])):
        t.helio = link_collector(t, name, order)
        collect_beside(t, f'{name}: in the program', DISPLACED, './own')
        collect_beside(t, f'{name}: disabled', DISABLED, './own', env={'OMP_TOOL': 'disabled'}, tool_runs=False)


@test
def settings_without_openmp(t):
    """Nothing is said of tools where the program has no runtime that would ask for one."""
    (t.directory / 'plain.c').write_text(PLAIN)
    result = t.run(t.need('gcc'), '-O1', '-g', '-fopenmp', '-rdynamic', '-o', 'plain', 'plain.c')
    t.check(result.status == 0, result.err[-500:])
    for words in (('./plain',), ('/bin/true',)):
        experiment = t.collect(*words, env={'OMP_TOOL': 'disabled'}).experiment
        t.equal([text for text in warnings(t, experiment) if 'OMP' in text], [], str(words))
        t.equal((experiment / 'omptrace').exists(), words == ('./plain',), f'{words}: omptrace')
