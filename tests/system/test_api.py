# SPDX-License-Identifier: Apache-2.0
"""What a program says to the collector through collectorAPI.h, in each language and each way of linking."""
from harness import ROOT, helio_reader, test

LABELS = ('middle', 'collector_pause(API)', 'collector_resume', 'collector_close_experiment')


def labels(t, result):
    return [sample['label'] for sample in t.read(result.experiment)['']['samples'] if sample['kind'] == 3]


def life(t, result):
    """[(kind, text, thread)] of the pauses in the log."""
    return [(event['kind'], event.get('text'), event.get('thread'))
            for event in t.read(result.experiment)['']['log_events']
            if event['kind'] in ('pause', 'resume', 'thread_pause', 'thread_resume', 'close')]


def check_api(t, result):
    rows = t.functions(result.experiment, 'i.totalcpu')
    t.near(rows['<Total>']['i.totalcpu'], 0.4, 'recorded CPU', 0.0, 0.02)
    hidden = rows['hidden']['i.totalcpu'] if 'hidden' in rows else 0
    t.within(hidden < 0.02, f'{hidden} s of what was not to be recorded')
    seen = labels(t, result)
    t.equal([label for label in seen if label in LABELS], list(LABELS), 'sample points')
    t.check('too late' not in seen, 'a sample point after the experiment was closed')
    t.equal(life(t, result), [('pause', 'API', None), ('resume', None, None), ('close', 'API', None)], 'log')


@test(engines=True)
def paused_and_resumed(t, engine):
    result = t.collect(t.target('api'), engine=engine)
    check_api(t, result)
    header = t.run(t.helio, 'print', '-header', result.experiment).out
    pause, resume, close = (float(line.split(': ')[1]) for line in header.splitlines()
                            if line.startswith(('  Pause (API): ', '  Resume: ', '  Experiment closed (API): ')))
    t.within(resume - pause > 0.25 and close - resume > 0.15, f'pause at {pause}, resume at {resume}, end at {close}')


@test
def linked_statically(t):
    check_api(t, t.collect(t.target('api_static')))


@test
def not_linked_at_all(t):
    check_api(t, t.collect(t.target('api_weak')))


@test
def alone(t):
    """Without a collector all calls do nothing."""
    for name in ('api', 'api_static', 'api_weak', 'api_functions', 'api_cxx', 'api_fortran'):
        result = t.run(t.target(name))
        t.equal((result.status, result.err), (0, ''), f'{name} by itself')


@test
def within_a_window(t):
    """A pause and the window of -t: what both leave is recorded."""
    check_api(t, t.collect(t.target('api'), options=('-t', '60')))
    for window in (0.1, 0.2, 0.4, 0.8):  # on a busy machine the program may be loaded when a short one has ended
        with t.lateness() as late:
            result = t.collect(t.target('api'), options=('-t', str(window)))
        recorded = t.functions(result.experiment, 'i.totalcpu').get('<Total>', {}).get('i.totalcpu', 0)
        t.within(recorded < window + 0.01 + late.worst, f'{recorded} s in a window of {window} s')
        if recorded > 0:
            return
    t.within(False, 'nothing is recorded in any window')


@test
def in_cxx(t):
    t.check('from C++' in labels(t, t.collect(t.target('api_cxx'))), 'no sample point of the C++ program')


@test
def in_fortran(t):
    result = t.collect(t.target('api_fortran'))
    t.equal(labels(t, result),
            ['padded label', 'collector_pause(API)', 'collector_resume', 'collector_close_experiment'], 'sample points')
    rows = t.functions(result.experiment, 'i.totalcpu')
    t.near(rows['seen_']['i.totalcpu'], 0.4, 'seen', 0.0, 0.03)
    t.within(rows.get('hidden_', {}).get('i.totalcpu', 0) < 0.02, 'the pause was recorded')


@test
def in_fixed_form_fortran(t):
    source = t.directory / 'fixed.f'
    source.write_text("      program fixed\n      include 'libfcollector.h'\n      call collector_sample('fixed')\n      end\n")
    include = ROOT / 'include' / 'heliometer'
    result = t.run(t.need('gfortran'), '-fsyntax-only', f'-I{include}', source)
    t.equal((result.status, result.err), (0, ''), 'gfortran')


@test(alone=True, engines=True)
def single_threads(t, engine):
    """Phase n is n tenths of a second of CPU time in each thread."""
    result = t.collect(t.target('api_threads'), engine=engine, options=('-p', 'hi'))
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    for phase in range(1, 5):
        recorded = 0 if phase in (2, 4) else phase / 10
        for thread, expected in ('free', phase / 10), ('held', recorded):
            t.near(rows.get(f'{thread}_{phase}', {}).get('i.totalcpu', 0), expected, f'{thread} in phase {phase}', 0.02, 0.01)
    t.within(rows.get('unborn_work', {}).get('i.totalcpu', 0) < 0.01, 'the thread paused at its birth was recorded')
    numbers = [thread for kind, _, thread in life(t, result) if kind.startswith('thread_')]
    t.equal(len(set(numbers)), 2, f'paused threads {numbers}')
    t.equal([kind for kind, _, thread in life(t, result) if thread == numbers[1]],
            ['thread_pause', 'thread_resume', 'thread_pause'], 'the held thread in the log')
    lost = [warning for line in t.print(result.experiment, '-functions') for warning in line['warnings']]
    t.within(not any('CPU' in str(warning) for warning in lost), f'a pause is taken for a loss: {lost}')


@test(engines=True)
def new_processes(t, engine):
    result = t.collect(t.target('api_family'), engine=engine, options=('-p', 'hi'))
    rows = t.functions(result.experiment, 'i.totalcpu')
    for name, expected in ('paused_child', 0), ('resumed_child', 0.1), ('resumed_parent', 0.1), ('child_after_end', 0), ('executed', 0.1):
        t.near(rows.get(name, {}).get('i.totalcpu', 0), expected, name, 0, 0.01)


# Functions made at run time

NAMES = ('one', 'two', 'three', 'four', 'five', 'caller')


@test(alone=True, engines=True)
def made_functions(t, engine):
    """Their times by their own clocks; two's place is four's later, and the child has one of its parent's."""
    interval = '1' if engine == 'perf' else '4'  # where the monitor goes by the threads' CPU clocks
    result = t.collect(t.target('api_functions'), engine=engine, options=('-p', interval, '-F', 'on'))
    truth = result.truth()
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')

    def near(value, expected, what):
        t.near(value, expected, what, 0.15, 0.02)
    for name in ('one', 'two', 'three', 'four', 'five'):
        near(rows[name]['e.totalcpu'], truth.get(name, 0) + truth.get(f'child.{name}', 0), name)
    for name in ('even', 'odd'):  # the ticks hit or miss a hundred turns
        t.near(rows[name]['e.totalcpu'], truth[name], name, 0, 0.06)
    near(rows['<Unknown>']['e.totalcpu'], truth['secret'], 'what was not announced')
    near(rows['caller']['i.totalcpu'], truth['caller'], 'caller')
    near(t.functions(result.experiment / '_f1.er', 'e.totalcpu')['one']['e.totalcpu'], truth['child.one'],
         'one in the child, opened by itself')
    t.near(rows['main']['i.totalcpu'], rows['<Total>']['i.totalcpu'], 'below main', 0.02, 0.01)


def seconds_by_name(t, engine, how, expected):
    """`expected`: of what the program says of itself, what each name is to have."""
    result = t.collect(t.target('api_unload'), how, engine=engine, options=('-p', '1' if engine == 'perf' else '4'))
    rows = t.functions(result.experiment, 'e.totalcpu')
    for name, seconds in expected(result.truth()).items():
        t.near(rows.get(name, {}).get('e.totalcpu', 0), seconds, name, 0.15, 0.02)


@test(alone=True, engines=True)
def withdrawn_in_place(t, engine):
    """Code that goes on running when its function is withdrawn has no name from then on."""
    seconds_by_name(t, engine, 'stays', lambda truth: {
        'stays': truth['stays.before'], 'another': truth['another'], 'interrupted': truth['interrupted.before'],
        '<Unknown>': truth['stays.after'] + truth['interrupted.after']})


@test(alone=True, engines=True)
def named_while_announced(t, engine):
    """Code has its name from an announcement to the withdrawal, and none before, between, or after."""
    seconds_by_name(t, engine, 'again', lambda truth: {
        'late': truth['late.after'], 'old': truth['old'], 'new': truth['new'], 'twice': truth['twice.first'] + truth['twice.second'],
        '<Unknown>': truth['late.before'] + truth['old.after'] + truth['twice.between']})


def epochs(t, experiment):
    """Those that stacks were recorded in, and how many functions were withdrawn."""
    nodes, _ = helio_reader.read_stacks((experiment / 'stacks').read_bytes())
    unloads = sum(entry['kind'] == 'unload' for entry in t.read(experiment)['']['maps'])
    return {epoch for _, epoch, _ in nodes.values()}, unloads


@test
def withdrawn_in_batches(t):
    """An epoch begins where stacks were recorded since the one before, not with every withdrawal."""
    result = t.collect(t.target('api_unload'), 'batches')
    found, unloads = epochs(t, result.experiment)
    t.equal(unloads, result.truth()['unloads'], 'withdrawn functions')
    # the first one has none where the program withdraws functions before its first tick
    t.equal(found, set(range(min(found), min(found) + len(found))), 'epochs without a stack')
    t.within(min(found) <= 1, f'the first stack is in epoch {min(found)}')
    events = t.read(result.experiment)['']['events']
    t.within(2 <= len(found) <= events + 1, f'{len(found)} epochs for {events} events')


@test
def withdrawn_singly(t):
    """A stack is recorded after each: the number of epochs is bounded nevertheless."""
    result = t.collect(t.target('api_unload'), 'singly', options=('-H', 'on', '-p', 'off'))
    found, unloads = epochs(t, result.experiment)
    t.equal(unloads, result.truth()['unloads'], 'withdrawn functions')
    last = t.read(result.experiment)['']['samples'][-1]['time_ns']
    # a function that comes to the place of one whose withdrawal was beyond the bound begins one, too
    t.within(4096 <= len(found) <= 4096 + last / 50e6 + unloads / 200 + 2, f'{len(found)} epochs')


@test
def as_much_as_was_told(t):
    experiment = t.collect(t.target('api_functions'), options=('-p', 'hi', '-F', 'on')).experiment
    summary = {row['name']: row for row in t.print(experiment, '-fsummary')[-1]['rows']}
    for name in NAMES:
        t.equal(summary[name]['object'], 'DYNAMIC_FUNCTIONS', f'load object of {name}')
    t.equal([summary[name]['source_file'] for name in NAMES], [None, 'two.src', 'three.src', None, None, None], 'sources')
    t.equal(summary['caller']['aliases'], 'alias_of_caller', 'alias')
    t.equal(summary['caller']['size'], 8, 'size')


@test
def kept_code(t):
    """The bytes of the code, as the target states them."""
    result = t.collect(t.target('api_functions'), options=('-F', 'on'))
    address = int(next(line for line in result.out.splitlines() if line.startswith('address')).split()[1], 16)
    loop = bytes.fromhex('554889e5486bc00348ffc048ffcf75f45dc3')
    expected = {'one': (0, loop, []), 'two': (1, loop, []), 'three': (2, loop, [(0, 10), (4, 11), (16, 12)]),
                'caller': (4, bytes.fromhex('554889e5ffd65dc3'), []), 'four': (1, loop, [])}
    family = t.read(result.experiment)
    found = {f['name']: (f['address'], f['code'], f['lines'])
             for f in family['']['functions'] if f['name'] in expected}
    t.equal(found, {name: (address + 64 * slot, code, lines) for name, (slot, code, lines) in expected.items()}, 'founder')
    t.equal([f['name'] for f in family['_f1']['functions']], ['five'], 'announced in the child')


@test
def installed(t):
    """A program compiled with what `install` installs, through pkg-config, shared and static."""
    root = t.directory / 'root'
    t.equal(t.run(t.need('meson'), 'install', '-C', t.build, '--destdir', root, '--no-rebuild', '--quiet').status, 0, 'install')
    folder = next(root.rglob('collectorAPI.pc')).parent
    flags = t.run(t.need('pkg-config'), '--cflags', '--libs', 'collectorAPI',
                  env={'PKG_CONFIG_PATH': str(folder), 'PKG_CONFIG_SYSROOT_DIR': str(root)})
    t.equal(flags.status, 0, f'pkg-config: {flags.err}')
    (t.directory / 'p.c').write_text('#include <collectorAPI.h>\nint main(void) { collector_sample("installed"); return 0; }\n')
    library = folder.parent
    for name, extra in ('shared', (f'-Wl,-rpath,{library}',)), ('static', ('-static',)):
        built = t.run(t.need('gcc'), '-o', name, 'p.c', *flags.out.split(), *extra)
        t.equal((built.status, built.err), (0, ''), f'gcc, {name}')
        t.equal(t.run(t.directory / name).status, 0, f'{name} by itself')
    t.check('installed' in labels(t, t.collect(t.directory / 'shared')), 'no sample point of the installed kind')


@test(engines=True)
def storm(t, engine):
    """4 threads x 1000 functions; 16 children that have what their parent had; nonsense is survived."""
    loop = bytes.fromhex('48ffcf75fbc3')
    for result, family in t.like_bare(engine, t.target('api_storm'), intervals=('0.1', '10')):
        made = [f for f in family['']['functions'] if f['name'].startswith('made_')]
        t.equal(len(made), 4000, 'functions announced')
        t.equal({(f['code'], f['source']) for f in made}, {(loop, ''), (loop, 'storm.src')}, 'code and sources')
        odd = [(f['name'], f['alias'], f['code'] is None) for f in family['']['functions'] if f not in made]
        t.equal(odd, [('', '', False), ('nowhere', '<&"', True)], 'nonsense')
        t.equal(sum(event['kind'] == 'inherit' for lineage, process in family.items() if lineage
                    for event in process['maps']), 16, 'children that inherit')
        failed = sum(process['unrecorded'].get('<Stack-unwind-failed>', 0) for process in family.values())
        cpu = sum(process['cpu'] for process in family.values())
        t.within(failed <= 0.02 * cpu, f'{failed:.4f} of {cpu:.4f} s without a whole stack')
        rows = t.functions(result.experiment, 'e.totalcpu')
        t.within(rows.get('<Unknown>', {}).get('e.totalcpu', 0) <= 0.01 * cpu + 0.02, f'time without a name: {rows.get("<Unknown>")}')
