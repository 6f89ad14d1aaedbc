# SPDX-License-Identifier: Apache-2.0
"""
Counter overflow profiling. The truth is what the target does by construction, and the kernel's own account of it
(getrusage), which the target prints.
"""
import os
import pathlib

import make_golden as golden
from harness import Skip, need_watch_points, perf_allowed, test

PAGE = 4096
NOBODY = ('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups')


def need_events():
    if not perf_allowed():
        raise Skip('the kernel does not let this process use perf events with sigtrap')


def counted(t, counters, *words, engine=None, options=()):
    """
    The target recorded with such counters: (what it says of itself, functions, the reader's family). Without a bound on overhead: on a machine
    that takes 15 µs for an event three thousand are enough for a rest, and what happens in it is not counted.
    """
    need_events()
    if 'mem:' in counters:
        need_watch_points()
    result = t.collect(t.target('faulter'), *words, engine=engine, options=('-h', counters, '--max-overhead', 'off', *options))
    names = [c['name'] for c in t.read(result.experiment)['']['counters']]
    metrics = [f'{flavour}.{name}' for name in names for flavour in 'ei']
    return result.truth(), t.functions(result.experiment, *metrics), t.read(result.experiment)


def value(functions, name, metric):
    return functions.get(name, {}).get(metric, 0)


def events_of(family, counter, kind='overflow', lineage=''):
    process = family[lineage]
    return [e for e in process['traces']['hwcounters'] if e['counter'] == counter and e['type'] == kind]


@test(engines=True)
def faults_of_a_function(t, engine):
    """Each first touch of a page is one fault, in the function that touches, at the page's address."""
    truth, functions, family = counted(t, 'page-faults,1,minor-faults,1', 'pages=1000', 'threads=2', engine=engine)
    # faults of handlers that touch a page of the collector's first may be taken for the program's
    for name, metric in (('touch_fresh', 'e.page-faults'), ('touch_fresh', 'e.minor-faults'), ('work', 'i.page-faults')):
        t.near(value(functions, name, metric), 3000, f'{metric} of {name}', absolute=8)
    low = int(truth['low'])
    pages = [e['address'] for e in events_of(family, 0) if low <= e['address'] < low + 1000 * PAGE]
    t.equal(len(set(pages)), len(pages), 'different pages')
    t.check(all((address - low) % PAGE == 0 for address in pages), 'addresses are those of the touches')
    # a fault that a clock event met in the kernel, as each preemption is one on a busy machine, is counted, but its address is not known
    met = family['']['events'] if engine == 'perf' else 0
    t.within(len(pages) >= 990 - met, f'{len(pages)} of 1000 addresses, {met} clock events')
    by_thread = {n: sum(e['value'] for e in events_of(family, 0) if e['thread'] == n) for n in (1, 2, 3)}
    t.within(all(faults >= 1000 for faults in by_thread.values()), f'faults by thread: {by_thread}')


@test
def totals_are_the_kernels(t):
    """What all functions have together is what getrusage says, less what the collector itself did."""
    data = t.directory / 'data'
    data.write_bytes(os.urandom(100 * PAGE))
    truth, functions, _ = counted(t, 'minor-faults,1,major-faults,context-switches,1', 'pages=500', f'file={data}', 'sleeps=50')
    for name, key in (('minor-faults', 'minor_faults'), ('major-faults', 'major_faults'), ('context-switches', 'switches')):
        counted_in_main = value(functions, 'main', f'i.{name}')
        own = value(functions, 'collector_record_counters', f'e.{name}')
        # of main are also the faults of what it does before and after it looks at the kernel's account: reads numbers and prints
        t.within(counted_in_main - 10 <= truth[key] <= counted_in_main + own,
                f'{name}: {truth[key]:.0f} by the kernel, {counted_in_main} in main, {own} of the collector')
    t.equal(value(functions, 'touch_fresh', 'e.minor-faults'), 500, 'minor faults of touch_fresh')
    t.near(value(functions, 'touch_file', 'e.major-faults'), truth['major_faults'], 'major faults of touch_file', absolute=2)
    t.within(value(functions, 'sleep_often', 'i.context-switches') >= 50, 'each sleep is a switch')
    t.remark = f'{truth["major_faults"]:.0f} major faults'


@test
def faults_are_the_programs(t):
    """
    What the tracers touch is not the program's: with all of them on it has the pages that it touches, and those of its start. Which
    of these the kernel brings in together differs by a few. Without a bound on overhead: while events rest, nothing tells whose a fault is.
    """
    need_events()
    pages = 300
    words = (t.target('faulter'), f'pages={pages}')
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    bare = os.wait4(pid, 0)[2].ru_minflt
    for period in (1, 7, 101):
        for options in (('-p', 'off'), ('-p', '100u'), ('-p', 'off', '-H', 'on'), ('-p', '100u', '-H', 'on', '-s', 'all', '-i', 'on')):
            process = t.read(t.collect(*words, options=(*options, '--max-overhead', 'off', '-h', f'page-faults,{period}')).experiment)['']
            total = sum(e['value'] for e in process['traces']['hwcounters'] if e['type'] in ('overflow', 'final'))
            own = sum(e['value'] for e in process['traces']['hwcounters'] if e['type'] == 'recording')
            t.remark += f'{total} '
            # what an overflow in the collector holds was the program's in part, and the other way round
            least = pages - (2 * period if period > 1 else 0)
            t.within(least <= total <= bare + 20, f'{options}, interval {period}: {total} faults, of {least} to {bare} and 20')
            t.within(own < 30, f'{options}, interval {period}: {own} faults of the collector')


@test
def writes_to_a_variable(t):
    """A watch point on a symbol counts each function's writes, and gives the address."""
    truth, functions, family = counted(t, 'mem:watched:w', 'writes=500', 'threads=1', options=('-p', 'off'))
    t.equal(value(functions, '<Total>', 'e.mem~watched~w'), 4000, 'all writes')
    lost = value(functions, 'collector_hwcs_out_of_range', 'e.mem~watched~w')
    t.within(lost <= 40, f'{lost} of 4000 signals were lost')
    t.near(value(functions, 'write_often', 'e.mem~watched~w'), 3000, 'write_often', absolute=lost)
    t.near(value(functions, 'write_seldom', 'e.mem~watched~w'), 1000, 'write_seldom', absolute=lost)
    t.equal({e['address'] for e in events_of(family, 0)}, {int(truth['watched'])}, 'addresses')
    t.remark = f'{lost} lost'


@test
def periods_and_what_is_left_over(t):
    """With an interval of 100 a record is worth 100, and the rest is final."""
    _, functions, family = counted(t, 'mem:watched:w,100', 'writes=1010', options=('-p', 'off'))
    metric = 'e.mem~watched~w'
    t.equal({e['value'] for e in events_of(family, 0)}, {100}, 'values')
    t.equal(value(functions, '<Total>', metric), 4040, 'all writes')
    t.equal(value(functions, 'collector_final_counters', metric), 40, 'left over')
    t.equal(value(functions, 'write_often', metric) + value(functions, 'write_seldom', metric)
            + value(functions, 'collector_hwcs_out_of_range', metric), 4000, 'in functions')


@test(engines=True)
def children_count_too(t, engine):
    _, functions, family = counted(t, 'page-faults,1,mem:watched:w', 'pages=300', 'writes=20', 'fork=1', engine=engine)
    t.near(value(functions, 'touch_fresh', 'e.page-faults'), 600, 'faults of touch_fresh', absolute=3)
    for lineage in ('', '_f1'):
        addresses = [e['address'] for e in events_of(family, 0, lineage=lineage)]
        t.within(len(addresses) >= 297, f'{lineage or "founder"}: {len(addresses)} faults')
        writes = sum(e['value'] for kind in ('overflow', 'lost') for e in events_of(family, 1, kind, lineage))
        t.equal(writes, 80, f'{lineage or "founder"}: writes')


@test
def only_where_the_variable_is(t):
    """A watch point on a symbol of the program is none in another program that it starts."""
    need_events()
    need_watch_points()
    result = t.collect(t.target('faulter'), 'writes=10', options=('-h', 'mem:watched:w', '-p', 'off'))
    t.check(events_of(t.read(result.experiment), 0), 'no writes in the program itself')
    result = t.collect('sh', '-c', f'{t.target("faulter")} writes=10; :', options=('-h', 'mem:environ:rw', '-p', 'off'), status=None)
    if result.status == 0:  # sh has such a symbol
        family = t.read(result.experiment)
        child = [p for lineage, p in family.items() if 'x' in lineage or 'c' in lineage][0]
        t.equal(child['traces'].get('hwcounters', []), [], 'events in the other program')


@test
def generated_overflows(t):
    """Signals as a precise hardware counter raises them: value, data address and stack are taken from there."""
    _, functions, family = counted(t, '+alignment-faults,1000003', 'fakes=25', options=('-p', 'off'))
    t.equal(value(functions, 'fake_overflows', 'i.alignment-faults'), 25 * 1000003, 'counts below fake_overflows')
    events = events_of(family, 0)
    t.equal([e['address'] for e in events], [0x1000 + 64 * i for i in range(25)], 'data addresses')
    t.equal(functions['<Total>']['e.alignment-faults'], 25 * 1000003, 'all')


@test
def pauses_leave_counts_out(t):
    """Begun paused, nothing is recorded, and nothing is taken for lost."""
    _, functions, family = counted(t, 'page-faults,1,mem:watched:w', 'pages=200', 'writes=20', options=('-y', 'USR1'))
    t.equal(len(events_of(family, 0)) + len(events_of(family, 1)), 0, 'events')
    t.within(value(functions, '<Total>', 'e.mem~watched~w') <= 2, 'writes in the pause')


@test
def threads_are_listed_without_a_clock(t):
    need_events()
    result = t.collect(t.target('faulter'), 'pages=100', 'threads=3', options=('-h', 'page-faults,1', '-p', 'off'))
    rows = t.print(result.experiment, '-threads')[-1]['rows']
    faults = {row['name']: row['e.page-faults'] for row in rows if 'Thread' in row['name']}
    t.equal(len(faults), 4, 'threads')
    t.check(all(n >= 100 for n in faults.values()), f'faults by thread: {faults}')
    process = t.read(result.experiment)['']
    t.equal((process['collector']['engine'], process['events']), ('none', 0), 'engine and clock events')


@test
def names_of_libpfm(t):
    """What the table of names does not have, libpfm4 may: the kernel's own event by its name there."""
    _, functions, _ = counted(t, 'perf::PERF_COUNT_SW_PAGE_FAULTS,1', 'pages=100')
    t.equal(value(functions, 'touch_fresh', 'e.perf~~PERF_COUNT_SW_PAGE_FAULTS'), 100, 'faults')


@test
def memory_objects(t):
    """Pages, lines and addresses of the faults, which are known: each page of 4 KB once, 16 in 64 KB."""
    def rows(*commands):
        return {row['name']: row['e.page-faults'] for row in t.print(result.experiment, '-metrics', 'e.page-faults:name', *commands)[-1]['rows']}

    need_events()
    result = t.collect(t.target('faulter'), 'pages=512', options=('-h', 'page-faults,1', '-p', 'off'))
    low = int(result.truth()['low'])
    high = low + 512 * PAGE
    faults = [e['address'] for e in events_of(t.read(result.experiment), 0)]
    for name, size in (('Memory_page_4K', 4096), ('Memory_page_64K', 65536), ('Memory_page_4M', 1 << 22), ('Memory_64B_cacheline', 64)):
        expected = {}
        for address in faults:
            piece = address // size * size
            expected[f'0x{piece:08x}'] = expected.get(f'0x{piece:08x}', 0) + 1
        shown = rows('-memobj', name)
        total = shown.pop('<Total>')
        unknown = shown.pop('<Unknown>', 0)
        t.equal(shown, expected, name)
        t.equal(total - unknown, len(faults), f'{name}: total')
    pages = rows('-memobj', 'Memory_page_4K')
    t.equal([pages.get(f'0x{address:08x}') for address in range(low, high, PAGE)], [1] * 512, 'pages of touch_fresh')
    mine = rows('-mobj_define', 'Halves', f'VADDR >= {low} && VADDR < {high} ? (VADDR - {low}) / {256 * PAGE} : 7', '-memobj', 'Halves')
    t.equal((mine['0x00000000'], mine['0x00000001']), (256, 256), 'halves of the memory')
    # its own name is a command, and a filter by address is obeyed
    filtered = rows('-filters', f'VADDR >= {low} && VADDR < {low + 10 * PAGE}', '-Memory_page_4K')
    t.equal((filtered['<Total>'], len(filtered)), (10, 11), 'filtered')
    refused = t.run(t.helio, 'print', '-memobj', 'Memory_page_4K', t.collect(t.target('faulter')).experiment)
    t.check(refused.status and 'No data addresses are recorded' in refused.err, f'no addresses: {refused.err}')


def nodes_of(t, experiment):
    rows = t.print(experiment, '-memobj', 'Memory_node')[-1]['rows']
    return {row['name']: sum(v for k, v in row.items() if k.startswith('e.')) for row in rows}


@test
def memory_nodes(t):
    """The node of the data: that of the kernel's own account (move_pages) at the fault, of a machine that says it has several."""
    need_events()
    words = (t.target('faulter'), 'pages=64')
    options = ('-h', 'page-faults,1', '-p', 'off')
    result = t.collect(*words, options=options)
    several = open('/sys/devices/system/node/online', encoding='ascii').read().strip() != '0'
    shown = nodes_of(t, result.experiment)
    if not several:
        t.equal(shown['Node 0'], shown['<Total>'] - shown.get('<Unknown>', 0), 'all data on the only node')
    (t.directory / 'online').write_text('0-1\n')
    result = t.run('unshare', '-m', 'sh', '-c', 'mount --bind "$0" /sys/devices/system/node/online && exec "$@"', t.directory / 'online',
                   t.helio, 'collect', *options, '-o', t.directory / 'nodes.er', *words)
    t.equal(result.status, 0, f'status {result.err}')
    recorded = [e['address'] for e in events_of(t.read(t.directory / 'nodes.er'), 0)]
    low = int(result.truth()['low'])
    mine = [address for address in recorded if low <= address & (1 << 56) - 1 < low + 64 * PAGE]
    t.within(len(mine) >= 60 and {address >> 56 for address in mine} <= {1, 2}, f'nodes + 1: {[hex(a) for a in mine]}')
    t.within(nodes_of(t, t.directory / 'nodes.er')['Node 0'] >= 60, f"{nodes_of(t, t.directory / 'nodes.er')}")
    rows = t.print(t.directory / 'nodes.er', '-memobj', 'Memory_page_4K')[-1]['rows']
    t.check(f'0x{low:08x}' in {row['name'] for row in rows}, 'the address without its node')


@test
def recorded_nodes(t):
    """A machine with three nodes, made byte by byte: rows by node, <Unknown> without an address or a node."""
    nodes = ''.join(f'<node number="{i}" cpus="{i}"/>\n' for i in range(3))
    experiment = hardware_experiment(t, nodes, lambda i: i % 4 << 56)
    t.equal(nodes_of(t, experiment), {'<Total>': 9000, '<Unknown>': 3000, 'Node 0': 2000, 'Node 1': 2000, 'Node 2': 2000}, 'by node')
    lines = {row['name']: row['e.dcm'] for row in t.print(experiment, '-memobj', 'Memory_64B_cacheline')[-1]['rows']}
    t.equal(lines, {'<Total>': 9000, '<Unknown>': 1000, **{f'0x{0x10000 + 64 * i:08x}': 2000 for i in range(4)}}, 'cache lines')
    filtered = t.print(experiment, '-filters', 'EA_LGRP == 1', '-functions')[-1]['rows']
    t.equal({row['e.dcm'] for row in filtered if row['name'] == '<Total>'}, {2000}, 'filtered by node')


@test
def machine_models(t):
    """A model's memory objects, from a file here or at home; the next one takes their place, and '' none."""
    experiment = hardware_experiment(t)
    home = t.directory / 'home'
    home.mkdir()
    (t.directory / 'one.ermm').write_text('# of mine\nmobj_define Half "VADDR & 64"\nmetrics name\nmobj_define Bank "(VADDR >> 7) & 1"\n')
    (home / 'two.ermm').write_text('mobj_define Quarter "(VADDR >> 6) & 3"\n')

    def run(*commands):
        return t.run(t.helio, 'print', *commands, experiment, cwd=t.directory, env={'HOME': str(home)})

    shown = run('-machinemodel', 'one', '-memobj', 'Half', '-memobj', 'Bank').out
    for row in ('0x00000000', '0x00000040', '0x00000001'):
        t.check(row in shown, f'{row} in {shown}')
    second = run('-machinemodel', 'one', '-machinemodel', 'two.ermm', '-mobj_list').out
    t.check('Quarter' in second and 'Half' not in second, second)
    none = run('-machinemodel', 'two', '-mobj_define', 'Mine', 'VADDR >> 3', '-machinemodel', '', '-mobj_list').out
    t.check('Quarter' not in none and 'Mine' in none, none)
    t.equal(run('-machinemodel').out.split(), ['./one.ermm', f'{home}/two.ermm'], 'models that there are')
    lacking = run('-machinemodel', 'three', '-mobj_list')
    t.check(lacking.status and 'no machine model three.ermm' in lacking.err, lacking.err)
    (home / '.er.rc').write_text('machinemodel two\n')
    t.check('Quarter' in run('-mobj_list').out, 'by the start-up file')


HARDWARE_LOG = golden.LOG + '''<counter number="0" name="cycles" title="CPU Cycles" unit="cycles" interval="2500000" address="no"/>
<counter number="1" name="insts" title="Instructions Executed" unit="events" interval="1000000" address="no"/>
<counter number="2" name="dcm" title="L1 D-cache Read Misses" unit="events" interval="1000" address="yes"/>
'''


def overflow(counter, value, stack, address=0, kind=0):
    """A record with all that it can have: the previous one's stack and address are 0."""
    return bytes([kind | 0x40]) + golden.varint(10) + golden.zigzag(stack) + golden.varint(counter) + golden.varint(value) + golden.zigzag(address)


def hardware_experiment(t, nodes='', node_of=lambda i: 0, name='hardware.1.er', cycles=2500000, without=''):
    """What a machine with hardware counters records: each record in a block of its own. 2,500 cycles are a microsecond."""
    directory = t.directory / name
    directory.mkdir()
    records = [overflow(0, cycles, 1) for _ in range(6)] + [overflow(0, 2500000, 2) for _ in range(2)]
    records += [overflow(1, 1000000, 1) for _ in range(3)] + [overflow(1, 1000000, 2) for _ in range(10)]
    records += [overflow(2, 1000, 1, 0x10000 + 64 * (i % 4) | node_of(i)) for i in range(8)] + [overflow(2, 1000, 1)]
    records += [overflow(0, 500000, 3, kind=2), overflow(1, 1000000, 4, kind=3)]
    blocks = b''.join(golden.block(record, 4, 1, base=5000 + 100 * i) for i, record in enumerate(records))
    clock = golden.Events(1, 0).thread(1, 12, 1).event(20000, 19999, 'user', 1).end(20000)
    for name, text in (('log.xml', (HARDWARE_LOG.replace(without, '') if without else HARDWARE_LOG) + nodes + golden.PROCESS.format(pid=12, lineage='', tstamp=1000) +
                        '<event kind="exit" tstamp="20000000" status="0" signal="0"/>\n</experiment>\n'),
                       ('map.xml', golden.MAP[:golden.MAP.index('<event kind="map" tstamp="5000"')] + '</maps>\n')):
        (directory / name).write_text(text)
    (directory / 'profile').write_bytes(golden.file_header('profile') + clock.block())
    nodes = [(0, 0x400100), (0, 0x700100), (0, 6), (0, 7)]
    (directory / 'stacks').write_bytes(golden.file_header('stacks') + golden.packed(1, nodes))
    (directory / 'hwcounters').write_bytes(golden.file_header('hwcounters') + blocks)
    return directory


@test
def quotients_of_one_alone(t):
    """What only one of two experiments has both counters for is not compared."""
    for name in 'first', 'second':
        (t.directory / name).mkdir()
    first = hardware_experiment(t, name='first/hardware.1.er')
    insts = HARDWARE_LOG[HARDWARE_LOG.index('<counter number="1"'):HARDWARE_LOG.index('<counter number="2"')]
    second = hardware_experiment(t, name='second/hardware.1.er', without=insts)
    for metric, status in ('cycles', 0), ('CPI', 1), ('IPC', 1), ('insts', 1):
        result = t.run(t.helio, 'diff', '--metric', f'e.{metric}', first, second)
        t.equal('has not recorded' in result.err, status == 1, f'{metric}: {result.status} {result.err}')
    t.equal('has not recorded' in t.run(t.helio, 'diff', '--metric', 'e.CPI', first, first).err, False, 'both have')


@test
def hardware_counters(t):
    """An experiment made byte by byte: sums, cycles per instruction, cycles as time, artificial functions, memory objects."""
    experiment = hardware_experiment(t)
    rows = {name.split(' --')[0]: row for name, row in t.functions(experiment, 'e.cycles', 'e.insts', 'e.dcm', 'e.CPI', 'e.IPC').items()}
    values = {name: tuple(row[f'e.{m}'] for m in ('cycles', 'insts', 'dcm')) for name, row in rows.items()}
    t.equal(values, {'<Total>': (20500000, 14000000, 9000), '<golden>': (15000000, 3000000, 9000), '<first.so>': (5000000, 10000000, 0),
                     'collector_final_counters': (500000, 0, 0), 'collector_hwcs_out_of_range': (0, 1000000, 0)}, 'sums')
    for name, cycles, insts in (('<golden>', 15, 3), ('<first.so>', 5, 10), ('<Total>', 20.5, 14)):
        t.near(rows[name]['e.CPI'], cycles / insts, f'CPI of {name}', relative=1e-9)
        t.near(rows[name]['e.IPC'], insts / cycles, f'IPC of {name}', relative=1e-9)
    t.equal(rows['collector_final_counters']['e.CPI'], 0, 'without instructions')

    text = t.run(t.helio, 'print', '-metrics', 'e.+%cycles:e.%hwc:name', '-sort', 'e.cycles', '-functions', experiment).out
    line = [line for line in text.splitlines() if '<golden>' in line][0]
    t.equal(line.split()[:10], ['0.006', '15000000', '73.17', '3000000', '21.43', '9000', '100.00', '5.000', '0.200', '<golden>'], 'time, count and share')
    defaults = t.run(t.helio, 'print', '-metrics', experiment).out.splitlines()[0]
    t.check('e.%cycles:e+%insts:e+%dcm' in defaults and 'e!+CPI' in defaults, f'defaults: {defaults}')

    kept = {'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(t.directory / 'cache')}
    words = ('-metrics', 'e.+%cycles:e.%hwc:name', '-functions', experiment)
    first, again = (t.run(t.helio, 'print', *words, env=kept).out for _ in range(2))
    t.check(list((t.directory / 'cache').rglob('*.sums')), 'nothing was kept')
    t.equal(again, first, 'from kept sums')

    lines = {row['name']: row['e.dcm'] for row in t.print(experiment, '-memobj', 'Memory_64B_cacheline')[-1]['rows']}
    t.equal(lines, {'<Total>': 9000, '<Unknown>': 1000, **{f'0x{0x10000 + 64 * i:08x}': 2000 for i in range(4)}}, 'cache lines')


@test
def killed(t):
    """What was recorded before SIGKILL is there."""
    need_events()
    script = f'{t.target("faulter")} pages=500; kill -KILL $$'
    result = t.collect('sh', '-c', script, options=('-h', 'page-faults,1'), status=137)
    t.equal(t.functions(result.experiment, 'e.page-faults')['touch_fresh']['e.page-faults'], 500, 'faults')
    family = t.read(result.experiment)
    t.check(events_of(family, 0), 'no events of the shell that was killed')


@test
def real_program(t):
    """The same output, and as many faults as the kernel counts in a bare run, give or take the loader."""
    need_events()
    script = 'x = [bytearray(4096) for i in range(20000)]; print(len(x))'
    bare = t.run('/usr/bin/python3', '-c', script)
    result = t.collect('/usr/bin/python3', '-c', script, options=('-h', 'page-faults,1,context-switches,1', '--max-overhead', 'off'))
    t.equal(result.out, bare.out, 'output')
    own = t.run('/usr/bin/python3', '-c', script + '; import resource; r = resource.getrusage(resource.RUSAGE_SELF); '
                'print("faults", r.ru_minflt + r.ru_majflt)').truth()['faults']
    functions = t.functions(result.experiment, 'e.page-faults')
    faults = functions['<Total>']['e.page-faults'] - value(functions, 'collector_record_counters', 'e.page-faults')
    t.ratio(faults, own, 0.9, 1.1, 'faults/getrusage')


@test(alone=True)
def events_that_rest(t):
    """While events rest no signal comes; what the program does then is not the collector's, which here has no more than some tens of faults a run."""
    need_events()
    pages, own, total = 20000, 0, 0
    for options in (('-p', '100u'), ('-p', '1', '-H', 'on')):
        for limit in 1, 5, 20:
            result = t.collect(t.target('faulter'), f'pages={pages}', options=(*options, '--max-overhead', limit, '-h', 'page-faults,1'))
            functions = t.functions(result.experiment, 'e.page-faults')
            own += value(functions, 'collector_record_counters', 'e.page-faults')
            total += functions['<Total>']['e.page-faults']
    t.within(own < 0.01 * 6 * pages, f'{own} of {6 * pages} faults are called the collector\'s')
    t.ratio(total, 6 * pages, 0.99, 1.05, 'all faults')


@test
def what_cannot_be_counted(t):
    """Refused before anything runs, with a remedy; status 1 as for any wrong command line."""
    def refused(counters, *words, options=(), before=(), status=1):
        result = t.collect(t.target('faulter'), options=('-h', counters, *options), status=None, before=before)
        t.equal(result.status, status, f'-h {counters}: status')
        t.check(not result.experiment.exists(), f'-h {counters}: an experiment was made')
        for word in words:
            t.check(word in result.err, f'-h {counters}: {word!r} is not in {result.err.strip()!r}')

    refused('page-fault', "did you mean page-faults")
    refused('no such thing', 'Unrecognized HW counter', 'helio collect -h')
    refused('page-faults,0', 'Invalid interval')
    refused('page-faults,1,page-faults,2', 'named twice')
    refused('off,page-faults', "'off' of -h must stand alone")
    refused('hi,page-faults', "'hi' of -h must stand alone")
    refused('page-faults,1,2', "'2' is no name", 'NAME,INTERVAL')
    refused('page-faults,-5', "'-5' is no name", 'above 0')
    refused('', "name is missing", 'helio collect -h')
    refused('page-faults~user=0~system=0', 'would count nothing', 'both')
    refused('context-switches:u', 'would count nothing', 'in the kernel only')
    refused('off', 'only', options=('-h', 'page-faults'))
    refused('mem:no_such_symbol', 'no symbol', 'mem:0xADDRESS')
    refused('mem:watched:r', 'Invalid watch point', 'rw')
    refused('mem:0x1001/8:w', 'multiple of 8')
    strace = (t.need('strace'), '-f', '-o', '/dev/null')
    refused('context-switches,1', 'a debugger or tracer is attached', before=strace)
    if not hardware_counts():
        refused('cycles', 'HW counter profiling is not supported on this system', 'page-faults')
        refused('on', 'No default HW counter set is defined for CPU')


@test
def watch_points_have_registers(t):
    need_events()
    need_watch_points()
    result = t.collect(t.target('faulter'), options=('-h', 'mem:0x1000,1,mem:0x2000,1,mem:0x3000,1,mem:0x4000,1,mem:0x5000,1'), status=1)
    t.check('no register left' in result.err, result.err)


@test
def watch_points_that_never_fire(t):
    """A machine whose kernel sets watch points of which the processor never tells: said by all three who could promise some."""
    need_events()
    silent = {'LD_PRELOAD': t.target('libdeafwatch.so')}
    words = 'watch points can be set but do not fire'
    for kind in ('w', 'rw', 'x'):
        place = 'main' if kind == 'x' else 'watched'
        result = t.collect(t.target('faulter'), 'writes=10', options=('-h', f'page-faults,mem:{place}:{kind}'), status=1, env=silent)
        t.check(f'mem~{place}~{kind}: {words}' in result.err, result.err)
        t.check(not result.experiment.exists(), 'an experiment was made')
    listed = t.run(t.helio, 'collect', '-h', env=silent)
    t.equal((listed.status, words in listed.out, 'mem:SYMBOL' in listed.out), (0, True, False), listed.out)
    for env, state in ((silent, 'no'), (None, None)):
        report = t.run(t.helio, 'doctor', env=env).out
        [line] = [line for line in report.splitlines() if ' watch points ' in line]
        t.check(state is None or (line.split()[0] == state and words in line), line)
    t.equal(t.collect(t.target('faulter'), 'pages=10', options=('-h', 'page-faults'), env=silent).status, 0, 'what needs none')


@test
def watch_points_that_fire(t):
    """Where the kernel tells this test of each access, they are not refused."""
    need_events()
    need_watch_points()
    listed = t.run(t.helio, 'collect', '-h')
    t.check('mem:SYMBOL' in listed.out, listed.out)
    [line] = [line for line in t.run(t.helio, 'doctor').out.splitlines() if ' watch points ' in line]
    t.equal(line.split()[0], 'yes', line)
    for kind in ('w', 'rw', 'x'):
        t.collect(t.target('faulter'), options=('-h', 'mem:main:x' if kind == 'x' else f'mem:watched:{kind}'))


@test
def without_rights(t):
    """What a user may count who is nobody: by perf_event_paranoid all, all outside the kernel, or nothing."""
    need_events()
    need_watch_points()
    t.directory.chmod(0o777)
    t.need_root('become nobody')
    if t.run(*NOBODY, 'test', '-x', t.helio).status:
        raise Skip('nobody cannot run what was built')
    level = int(pathlib.Path('/proc/sys/kernel/perf_event_paranoid').read_text())
    result = t.collect(t.target('faulter'), 'pages=100', 'writes=5', options=('-h', 'page-faults,1,mem:watched:w'), status=None, before=NOBODY)
    if level > 2:
        t.equal(result.status, 1, 'status')
        t.check('kernel.perf_event_paranoid=1' in result.err, f'no remedy: {result.err}')
        return
    t.equal('counts only what happens outside the kernel' in result.err, level == 2, 'a warning')
    functions = t.functions(result.experiment, 'e.page-faults', 'e.mem~watched~w')
    t.near(value(functions, 'touch_fresh', 'e.page-faults'), 100, 'faults of touch_fresh', absolute=5)
    t.near(value(functions, '<Total>', 'e.mem~watched~w'), 20, 'writes', absolute=1)
    switches = t.collect(t.target('faulter'), 'sleeps=5', options=('-h', 'context-switches,1'), status=None, before=NOBODY)
    t.equal(switches.status, 1 if level == 2 else 0, 'context switches: status')
    t.equal('kernel.perf_event_paranoid=1' in switches.err, level == 2, 'context switches: remedy')


def hardware_counts():
    return any(pathlib.Path('/sys/bus/event_source/devices').glob('cpu*'))


@test
def parts(t):
    """As perf(1) writes it: what the program does itself, and what the kernel does for it."""
    _, functions, family = counted(t, 'page-faults:u,1,page-faults:k,1', 'pages=1000', options=('-p', 'off'))
    t.near(value(functions, 'touch_fresh', 'e.page-faults~u'), 1000, 'of the program', absolute=3)
    t.equal(value(functions, 'touch_fresh', 'e.page-faults~k'), 0, 'of the kernel')
    low = {event['address'] for event in events_of(family, 0)}
    t.within(len(low) >= 990, f'{len(low)} addresses')
    # the collector's handler touches fresh pages: that is known to be its own, not lost
    t.within(value(functions, 'collector_hwcs_out_of_range', 'e.page-faults~u') <= 20, f'lost: {functions.get("collector_hwcs_out_of_range")}')


@test
def watched_by_mistake(t):
    """What can be watched but is hardly meant is said."""
    need_events()
    need_watch_points()
    for watch, words in (('mem:main:w', "'main' is a function"), ('mem:watched+64:w', "'watched' has 8 bytes")):
        result = t.collect(t.target('faulter'), options=('-p', 'off', '-h', watch))
        t.check(words in result.err, f'{watch}: {result.err}')


@test
def dry_run(t):
    need_events()
    need_watch_points()
    result = t.run(t.helio, 'collect', '-n', '-h', 'page-faults,7,mem:watched:w', t.target('faulter'))
    t.check('counter profiling enabled, page-faults, interval 7\n' in result.out and 'mem~watched~w, interval 1\n' in result.out, result.out)


@test
def the_list(t):
    """`helio collect -h` alone: what there is, status 0; all that it names can be recorded."""
    need_events()
    result = t.run(t.helio, 'collect', '-h')
    t.equal(result.status, 0, 'status')
    names = [line.split()[0] for line in result.out.splitlines() if line.startswith('    ') and line.endswith(')')]
    for name in ('page-faults', 'minor-faults', 'major-faults', 'context-switches', 'cpu-migrations', 'task-clock'):
        t.check(name in names, f'{name} is not listed')
    t.equal('cycles' in names, hardware_counts(), 'cycles are listed')
    software = [name for name in names if not name.startswith('mem:')][:8]
    result = t.collect(t.target('faulter'), 'pages=10', options=('-h', ','.join(software)))
    t.equal([c['name'] for c in t.read(result.experiment)['']['counters']], software, 'counters recorded')
    log = t.read(result.experiment)['']
    t.check(not any(e['kind'] == 'warning' for e in log['log_events']), 'warnings in the log')
