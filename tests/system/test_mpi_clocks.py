# SPDX-License-Identifier: Apache-2.0
"""
Clocks of hosts: ranks whose clocks are shifted and go faster by construction, ranks that begin at different times, and ranks in
namespaces of times, which are what other hosts' clocks are to them.
"""
import collections

import test_mpi
from harness import Skip, test
from test_mpi import IMPLEMENTATIONS, make_kinds, measured_by
from test_print import validator

# behind make_kinds, which says where they are
from make_experiment import PROCESS, Tree, write_map  # noqa: E402
from make_golden import block, file_header, packed, sample, varint, write, zigzag  # noqa: E402

MS = 1000000
WORLD = b'MPI_COMM_WORLD#0:0-2'
TEXTS = [b'MPI_Send', b'MPI_Recv', b'MPI_Barrier', WORLD, b'MPI_Ibarrier']
SEND, RECV, BARRIER, IBARRIER = 1, 2, 3, 5
LATENCY_MS = 0.02
ROUNDS = 40


def send(at, to, tag, took=0.01):
    return at, took, 0, SEND, 3 + to, tag, 8, 0, 0


def receive(at, by, sender, tag):
    return at, by - at, 2, RECV, 3 + sender, tag, 0, 8, 8


def barrier(at, by):
    return at, by - at, 10, BARRIER, 0, 0, 0, 0, 0


def ibarrier(at):
    return at, 0.01, 10, IBARRIER, 0, 0, 0, 0, 0


def what_happens():
    """{rank: calls in true time, ms}: pings of 0 with 1 and of 1 with 2, one late sender of 40 ms, a barrier that 0 comes to 30 ms late."""
    calls = {0: [], 1: [], 2: []}
    for i in range(ROUNDS):
        at = 20 + 20 * i
        for near, far, begin in ((0, 1, at), (1, 2, at + 5)):
            calls[near] += [send(begin, far, 5), receive(begin + 0.02, begin + 0.1 + LATENCY_MS, far, 5)]
            calls[far] += [receive(begin - 0.1, begin + LATENCY_MS, near, 5), send(begin + 0.1, near, 5)]
    at = 20 + 20 * ROUNDS
    calls[0] += [send(at + 40, 1, 9), barrier(at + 130, at + 130.02)]
    calls[1] += [receive(at, at + 40 + LATENCY_MS, 0, 9), barrier(at + 100, at + 130.02)]
    calls[2] += [barrier(at + 100, at + 130.02)]
    return calls


def sorted_calls(calls):
    return sorted(calls, key=lambda call: call[0] + call[1])


def trace(calls, node, own_ns):
    """As make_kinds.rank_trace, whose times are whole ms."""
    records, time, stack = b'', 0, 0
    for number, value in enumerate(TEXTS, 1):
        records += b'\x85' + varint(number) + varint(len(value)) + value
    for at, took, kind, function, peer, tag, sent, received, arrived in sorted_calls(calls):
        begin, end = own_ns(at), own_ns(at + took)
        records += bytes([kind | 0x40]) + varint(end - time) + zigzag(node - stack)
        time, stack = end, node
        records += b''.join(map(varint, (end - begin, function, 4, peer, tag, sent, received))) + zigzag(0) + b''.join(map(varint, (arrived, 0, 0, 0)))
    return file_header('mpitrace') + block(records, 4, 1)


def make_rank(path, program, rank, clock, calls, killed=False):
    """An experiment of its own. clock: name, host, what CLOCK_MONOTONIC shows when true time is 0, ppm that it goes faster, ms when this begins."""
    name, host, mono_ns, ppm, begins = clock
    path.mkdir()

    def own_ns(ms):
        return round((ms - begins) * MS * (1 + ppm / 1e6))

    tree = Tree()
    node = tree.node(('_start', 'main', 'A'))
    shown = f'clock="{name}"' if name else ''
    start = mono_ns + round(begins * MS * (1 + ppm / 1e6))
    log = (f'<?xml version="1.0" encoding="UTF-8"?>\n<experiment version="1.0" producer="golden 1" mono_ns="{start}" wall_ns="{1790000000000000000 + round(begins * MS)}" {shown}>\n'
           f'<system hostname="{host}" os="Linux 6.1.0" arch="x86_64" pagesize="4096" pages="262144" cpus="2" clock_mhz="2500"/>\n'
           '<setting name="clock" value="0"/>\n<setting name="mpi" value="on"/>\n<setting name="follow" value="on"/>\n<argument text="./app"/>\n')
    last = own_ns(1000)
    end = '' if killed else f'<event kind="exit" tstamp="{last}"/>\n<event kind="exit" tstamp="{last}" status="0" signal="0"/>\n</experiment>\n'
    write(str(path), 'log.xml', log + PROCESS.format(pid=20 + rank, program=program, lineage='', tstamp=0)
          + f'<event kind="mpi" tstamp="20000" rank="{rank}" size="3" library="golden"/>\n{end}')
    write_map(str(path), program)
    write(str(path), 'overview', file_header('overview') + sample(0, 0, 'start', threads=1) + (b'' if killed else sample(last, 2, 'end', threads=1)))
    write(str(path), 'mpitrace', trace(calls, node, own_ns))
    write(str(path), 'stacks', file_header('stacks', 128) + packed(1, tree.nodes))


def make_group(t, name, clocks, killed=False):
    if not (t.directory / 'app').exists():
        make_kinds.make(str(t.directory))
    calls = what_happens()
    for rank, clock in enumerate(clocks):
        make_rank(t.directory / f'{name}.{rank}.er', t.directory / 'app', rank, clock, calls[rank], killed)
    group = t.directory / f'{name}.erg'
    group.write_text('#analyzer experiment group\n' + ''.join(f'{name}.{rank}.er\n' for rank in range(len(clocks))))
    return group


def found(t, group):
    statistics, waits, messages = t.print(group, '-mpistat', '-mpiwaits', '-mpimessages', '0')
    clocks = [row for row in statistics['rows'] if 'ahead_s' in row]
    late = {(row['kind'], row['waiter'], row['other']): row['longest_s'] for row in waits['rows']}
    return clocks, late, waits, messages['rows']


# name: of each rank its clock; the rows of clocks that are shown: host, ahead in s, ppm
SHIFTED = {
    'one': ([('a', 'x', 10**12, 0, 0), ('a', 'x', 10**12, 0, 3), ('a', 'x', 10**12, 0, 7)], []),
    'apart': ([('a', 'x', 10**12, 0, 0), ('b', 'y', 10**9 + 7, 0, 0), ('c', 'z', 5 * 10**12, 0, 0)],
              [('x', 0, 0), ('y', -999 + 7e-9, 0), ('z', 4000, 0)]),
    'fast': ([('a', 'x', 10**12, 0, 4), ('b', 'y', 10**9, 80, 0), ('c', 'z', 5 * 10**12, -60, 9)],
             [('x', 0, 0), ('y', -999, 80), ('z', 4000, -60)]),
    # of hosts that have not said which clock they have, the names are told apart
    'unsaid': ([('', 'x', 10**12, 0, 0), ('', 'y', 10**12 + 5000, 0, 2), ('', 'x', 10**12, 0, 5)], [('x', 0, 0), ('y', 5e-6, 0)]),
}


@test
def shifted_clocks(t):
    """Waits and messages are those of true time, as exactly as is said; each host's clock is found as it was made."""
    for name, (made, expected) in SHIFTED.items():
        clocks, late, waits, messages = found(t, make_group(t, name, made))
        t.equal([row['host'] for row in clocks], [host for host, _, _ in expected], f'{name}: hosts')
        error = waits.get('clock_error_s', 0)
        t.equal('clock_error_s' in waits, bool(expected), f'{name}: an error is said')
        # A message there and one back took LATENCY_MS at least, over at most two hops, and drifts add what messages leave open.
        t.check(error <= (8 * LATENCY_MS / 1000 if expected else 0), f'{name}: an error of {error}')
        t.check(not expected or error >= LATENCY_MS / 1000 / 2, f'{name}: an error of {error}')
        for row, (host, ahead, ppm) in zip(clocks, expected):
            t.check(abs(row['ahead_s'] - ahead) <= 2 * row['error_s'] + 1e-8, f'{name} {host}: {row}, not {ahead} ahead')
            t.check(abs(row['drift_ppm'] - ppm) * 1e-6 <= 3 * row['error_s'] + 1e-9, f'{name} {host}: {row}, not {ppm} ppm')
        for key, seconds in {('late_sender', 1, 0): 0.04, ('collective', 1, 0): 0.03, ('collective', 2, 0): 0.03}.items():
            t.check(key in late and abs(late[key] - seconds) <= error + 2e-6, f'{name}: {key}: {late}, not {seconds} by {error}')
        took = [row['end_s'] - row['begin_s'] for row in messages]
        t.equal(len(took), 4 * ROUNDS + 1, f'{name}: messages')
        t.check(all(abs(value - LATENCY_MS / 1000) <= error + 2e-8 for value in took), f'{name}: messages took {min(took)} to {max(took)}, by {error}')


@test
def clocks_without_messages(t):
    """One way only: the wall clocks have to do, and no error is said of that one."""
    make_kinds.make(str(t.directory))
    one_way = {0: [send(100, 1, 5), send(200, 1, 5)], 1: [receive(99, 100.02, 0, 5), receive(150, 200.02, 0, 5)]}
    for rank, clock in enumerate([('a', 'x', 10**12, 0, 0), ('b', 'y', 10**9, 0, 3)]):
        make_rank(t.directory / f'way.{rank}.er', t.directory / 'app', rank, clock, one_way[rank])
    group = t.directory / 'way.erg'
    group.write_text('#analyzer experiment group\nway.0.er\nway.1.er\n')
    clocks, late, waits, _ = found(t, group)
    t.equal(['error_s' in row for row in clocks], [True, False], 'errors')
    t.equal(waits['unknown_clocks'], 1, 'clocks that nothing is known of')
    t.near(late['late_sender', 1, 0], 0.05, 'late sender, by the wall clocks', 0, 1e-6)
    t.check('not known' in t.run(t.helio, 'print', '-mpistat', group).out, 'the text says so')


@test
def timeline_of_ranks(t):
    """Each rank's events are where they were in true time, which begins with the first rank, as exactly as is said; messages begin and end with their calls."""
    truth = what_happens()
    for name, (made, expected) in SHIFTED.items():
        group = make_group(t, name, made)
        page, messages, waits = t.print(group, '-timeline', '-events', '1', '1000', '-mpimessages', '0', '-mpiwaits')
        first = min(begins for *_, begins in made)
        # the line is the first rank's clock; made times are rounded to ns, the first moment of true time is off as well
        slack = 2 * waits.get('clock_error_s', 0) + 2e-8
        t.check(slack < 0.001, f'{name}: an error of {slack}')
        t.equal([host['host'] for host in page.get('hosts', [])], [host for host, _, _ in expected], f'{name}: hosts')
        t.equal(page.get('hosts') and max(host['error_s'] for host in page['hosts']) > 0, bool(expected) or None, f'{name}: errors')
        for number, lane in enumerate(page['lanes']):
            rank = lane['experiment'] - 1
            shown = [(row['begin_s'], row['end_s']) for row in page['rows'] if row['lane'] == number]
            happened = [((at - first) / 1000, (at + took - first) / 1000) for at, took, *_ in sorted_calls(truth[rank])]
            t.equal(len(shown), len(happened), f'{name}: events of rank {rank}')
            off = max(abs(a - b) for one, other in zip(shown, happened) for a, b in zip(one, other))
            t.check(off <= slack, f'{name}: rank {rank} is off by {off}, more than {slack}')
        edges = {round(row[edge] * 1e9) for row in page['rows'] for edge in ('begin_s', 'end_s')}
        for row in messages['rows']:
            for edge in ('begin_s', 'end_s'):
                t.check(any(round(row[edge] * 1e9) + by in edges for by in (-1, 0, 1)), f'{name}: no event begins or ends with {row}')


@test
def parts_of_the_line(t):
    """Cells, ranges and filters by the time of the line choose what lies there, of each rank; text and JSON say which clocks."""
    for name in ('one', 'apart', 'fast'):
        group = make_group(t, name, SHIFTED[name][0])
        page = t.print(group, '-timeline', '-events', '1', '1000')[0]
        ends = sorted((row['end_s'], row['lane']) for row in page['rows'])
        span, cells, begin, end = page['end_s'], 7, 0.2504, 0.6103
        cells_of = t.print(group, '-timeline', str(cells))[0]
        found = {(row['lane'], row['cell']): row['events']['mpi'] for row in cells_of['rows']}
        expected = {}
        for at, lane in ends:
            key = lane, int(at / cells_of['cell_s'])
            expected[key] = expected.get(key, 0) + 1
        t.check(abs(span - cells_of['end_s']) < 1e-9 and found == expected, f'{name}: cells {found}, not {expected}')
        inside = [(at, lane) for at, lane in ends if begin <= at < end]
        t.check(len({lane for _, lane in inside}) == 3 and 10 < len(inside) < len(ends) - 10, f'{name}: {len(inside)} of {len(ends)}')
        part = t.print(group, '-timeline', '-from', str(begin), '-to', str(end), '3')[0]
        t.equal(sum(lane['events']['mpi'] for lane in part['lanes']), len(inside), f'{name}: in the range')
        chosen = t.print(group, '-filters', f'ATSTAMP >= {round(begin * 1e9)} && ATSTAMP < {round(end * 1e9)}', '-mpistat')[-1]
        t.equal(sum(row['calls'] for row in chosen['rows'] if 'function' in row), len(inside), f'{name}: by a filter')
        shifts = [round(lane.get('shift_s', 0) * 1e9) for lane in page['lanes']]
        if name == 'one':
            t.equal(shifts, [0, 3 * MS, 7 * MS], 'how much later each rank began')
        text = t.run(t.helio, 'print', '-timeline', '10', group).out
        t.equal('Clocks on one line: x; y, error 0.0000' in text, name != 'one', f'{name}: {text}')


@test
def apart_in_time(t):
    """Experiments of one clock that did not run at once each begin at 0."""
    group = make_group(t, 'after', [('a', 'x', 10**12 + rank * 3600 * 10**9, 0, 0) for rank in range(3)])
    lanes = t.print(group, '-timeline', '4')[0]['lanes']
    t.equal([lane.get('shift_s', 0) for lane in lanes], [0, 0, 0], 'shifts')


@test
def ranks_that_were_killed(t):
    """Their logs say nothing of how far they came, but their events do: they ran at once, each to its last event, and clocks are as uncertain as they are up to that."""
    group = make_group(t, 'killed', [('a', 'x', 10**12, 0, begin) for begin in (0, 0.5, 8)], killed=True)
    timeline, statistics = t.print(group, '-timeline', '4', '-mpistat')
    t.equal([round(lane.get('shift_s', 0) * 1e9) for lane in timeline['lanes']], [0, MS // 2, 8 * MS], 'shifts')
    for row, calls, begin in zip([row for row in statistics['rows'] if 'rank' in row], what_happens().values(), (0, 0.5, 8)):
        t.near(row['run_s'], max(at + took - begin for at, took, *_ in calls) / 1000, f'rank {row["rank"]}: its run', 0, 1e-3)
    whole, killed = (found(t, make_group(t, name, SHIFTED['fast'][0], name == 'cut'))[2]['clock_error_s'] for name in ('whole', 'cut'))
    # what is recorded of those that end goes on for 50 ms, where drifts add a little
    t.check(0.5 * whole < killed <= whole, f'errors: {killed}, of whole ones {whole}')


def of_three(t, name, calls):
    """Experiments of three ranks in directories of their own, copied to one place by helio cp: the group of them."""
    make_kinds.make(str(t.directory))
    place = t.directory / name
    place.mkdir()
    for rank in range(3):
        (t.directory / f'host{rank}').mkdir()
        make_rank(t.directory / f'host{rank}' / f'{name}.{rank}.er', t.directory / 'app', rank, ('a', 'x', 10**12, 0, 0), calls[rank])
    t.equal(t.run(t.helio, 'cp', *t.directory.glob(f'host?/{name}.?.er'), place).status, 0, 'helio cp')
    group = place / f'{name}.erg'
    group.write_text('#analyzer experiment group\n' + ''.join(f'{name}.{rank}.er\n' for rank in range(3)))
    return group


@test
def imbalance(t):
    """Ranks that work 1, 0.7 and 0.7 s, and wait at a barrier for the first: the mean one works 20 % less than that."""
    group = of_three(t, 'of', {0: [barrier(400, 400)], 1: [barrier(100, 400)], 2: [barrier(100, 400)]})
    statistics, waits = t.print(group, '-mpistat', '-mpiwaits')
    t.near(statistics['imbalance'], 20, 'imbalance', 0, 1e-6)
    late = {(row['kind'], row['waiter'], row['other']): round(row['time_s'], 9) for row in waits['rows']}
    t.equal(late, {('collective', 1, 0): 0.3, ('collective', 2, 0): 0.3}, 'who waited for whom')


@test
def gathered(t):
    """Ranks that were recorded on hosts without a shared directory, and copied to one place, are one program's."""
    group = of_three(t, 'run', what_happens())
    statistics, waits = t.print(group, '-mpistat', '-mpiwaits')
    t.equal([row['rank'] for row in statistics['rows'] if 'run_s' in row], [0, 1, 2], 'ranks')
    t.equal((waits['messages'], waits['collectives'], waits['sends_alone'], waits['receives_alone']), (4 * ROUNDS + 1, 1, 0, 0), 'messages')
    hint = '3 experiments of one rank each'
    t.check(hint in t.run(t.helio, 'print', '-mpiwaits', *group.parent.glob('run.?.er')).out, 'what those lack that are named one by one')
    t.check(hint not in t.run(t.helio, 'print', '-mpiwaits', group).out, 'a group lacks nothing')


@test
def begun_barriers(t):
    """MPI_Ibarrier waits for nobody: clocks are not bounded by it, and nobody waits at it."""
    make_kinds.make(str(t.directory))
    calls = what_happens()
    for rank, begin in enumerate((100, 400, 700)):
        calls[rank].append(ibarrier(begin + 0.3))
    made, expected = SHIFTED['apart']
    for rank, clock in enumerate(made):
        make_rank(t.directory / f'begun.{rank}.er', t.directory / 'app', rank, clock, calls[rank])
    group = t.directory / 'begun.erg'
    group.write_text('#analyzer experiment group\n' + ''.join(f'begun.{rank}.er\n' for rank in range(3)))
    clocks, _, waits, _ = found(t, group)
    t.check(0 < waits['clock_error_s'] <= 8 * LATENCY_MS / 1000, f'an error of {waits["clock_error_s"]}')
    for row, (host, ahead, _) in zip(clocks, expected):
        t.check(abs(row['ahead_s'] - ahead) <= 2 * row['error_s'] + 1e-8, f'{host}: {row}')
    t.equal([row['function'] for row in waits['rows'] if row['function'] == 'MPI_Ibarrier'], [], 'waits')


def check_waits(t, what, group, measured):
    expected = {'sender': ('late_sender', 1, 'MPI_Recv', 0, 'MPI_Send'), 'wait': ('late_sender', 2, 'MPI_Wait', 0, 'MPI_Send'),
                'receiver': ('late_receiver', 3, 'MPI_Ssend', 0, 'MPI_Recv'), 'reduction': ('collective', 1, 'MPI_Allreduce', 0, 'MPI_Allreduce')}
    answer = t.print(group, '-mpiwaits')[0]
    rows = {(row['kind'], row['waiter'], row['function'], row['other'], row['other_function']): row for row in answer['rows']}
    for name, key in expected.items():
        t.check(key in rows, f'{what}: {name}: {sorted(rows)}')
        t.within(0.8 <= rows[key]['time_s'] / measured[name] <= 1.25, f'{what}: {name}: {rows[key]["time_s"]} for {measured[name]}')
    return answer


def each_by_itself(t, implementation, name, before):
    """mpirun helio collect: `before` is run by a shell in each rank."""
    program = test_mpi.build(t, implementation, 'mpi_waits.c')
    group = t.directory / f'{name}.{implementation}.erg'
    script = f'rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {before} "$@"'
    result = t.run(*test_mpi.launcher(t, implementation), 'sh', '-c', script, 'sh', t.helio, 'collect', *test_mpi.TRACED, '-g', group, program, '50',
                   env=test_mpi.ENVIRONMENT, timeout=300)
    t.equal(result.status, 0, f'{implementation}: {result.err[-1000:]}')
    return group, measured_by(result.out)


@test
def ranks_that_begin_later(t):
    """On one machine nothing has to be found out: an experiment that begins 0.2 s later is that much later."""
    for implementation in IMPLEMENTATIONS:
        group, measured = each_by_itself(t, implementation, 'later', 'sleep 0.$((rank * 2)); exec')
        answer = check_waits(t, implementation, group, measured)
        t.check('clocks' not in answer, f'{implementation}: one clock: {answer}')


@test
def namespaces_of_times(t):
    """Odd ranks have a CLOCK_MONOTONIC that shows days more; nobody but the messages tells."""
    if t.run('unshare', '-T', '--monotonic', '1000', 'true').status:
        raise Skip('no namespace of times can be made')
    for implementation in IMPLEMENTATIONS:
        group, measured = each_by_itself(t, implementation, 'spaces', 'if [ $((rank % 2)) = 1 ]; then exec unshare -T --monotonic ${rank}00000 "$@"; fi; exec')
        answer = check_waits(t, implementation, group, measured)
        t.equal((answer['clocks'], 'unknown_clocks' in answer), (3, False), f'{implementation}: clocks')
        ahead = [row['ahead_s'] for row in t.print(group, '-mpistat')[0]['rows'] if 'ahead_s' in row]
        # told from the first experiment's, which is of any rank: each one joins the group when it begins
        for seconds, expected in zip(sorted(ahead), (0, 100000, 300000)):
            t.check(abs(seconds - min(ahead) - expected) <= 2 * answer['clock_error_s'] + 1e-6, f'{implementation}: {ahead}, by {answer["clock_error_s"]}')


# Becomes another machine: another name, another boot, a clock of days more.
MACHINE = """
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
if [ $((rank % 2)) = 1 ]; then
    exec unshare -u -m -T --monotonic ${rank}00000 sh -c 'hostname node$0; mount --bind boot$0 /proc/sys/kernel/random/boot_id; exec "$@"' $rank "$@"
fi
exec "$@"
"""


def need_machines(t):
    """What MACHINE needs."""
    for rank in range(4):
        (t.directory / f'boot{rank}').write_text(f'00000000-1111-2222-3333-44444444444{rank}\n')
    if t.run('unshare', '-u', '-m', '-T', '--monotonic', '1000', 'sh', '-c', 'hostname x && mount --bind boot1 /proc/sys/kernel/random/boot_id', cwd=t.directory).status:
        raise Skip('no namespaces can be made')


@test
def hosts_in_one_experiment(t):
    """Ranks of one launcher on other machines, whose clocks the launcher's has nothing to do with: each log names its own, and all are on one line. (MPICH ends in MPI_Finalize only now and then on such machines, also without us.)"""
    need_machines(t)
    program = test_mpi.build(t, 'openmpi', 'mpi_waits.c')
    run = t.collect(*test_mpi.launcher(t, 'openmpi'), 'sh', '-c', MACHINE, 'sh', program, '50', options=test_mpi.TRACED, env=test_mpi.ENVIRONMENT, timeout=300)
    experiment = run.experiment
    answer = check_waits(t, 'openmpi', experiment, measured_by(run.out))
    t.equal((answer['clocks'], 'unknown_clocks' in answer), (3, False), 'clocks')
    rows = {row['host']: row['ahead_s'] for row in t.print(experiment, '-mpistat')[0]['rows'] if 'ahead_s' in row}
    own = next(host for host in rows if not host.startswith('node'))
    # at the begin, by the clock of the first rank there
    for rank in 1, 3:
        t.check(abs(rows[f'node{rank}'] - rows[own] - rank * 100000) < 1, f'{rows}')
    header, timeline = t.print(experiment, '-header', '-timeline', '-events', '1', '100000')[:2]
    hosts = {row['hostname'] for row in header['rows'] if row['target'] == program.name}
    t.equal(hosts, set(rows), 'hosts of ranks')
    # By the wall clocks, times of all processes are about right before anything is put on a line.
    length = max(row['end_s'] for row in timeline['rows'])
    for text, part in ('TSTAMP >= 0', True), (f'TSTAMP > {round(length * 1e9) + 10 ** 9}', False):
        calls = [row['calls'] for row in t.print(experiment, '-filters', text, '-mpistat')[-1]['rows'] if 'function' in row]
        t.equal(bool(calls), part, text)
    check_hosts_alone(t, experiment)


@test
def clock_of_its_own_on_the_launchers_machine(t):
    """A rank in a namespace of times is of this machine: the launcher looks at its process as at the others', and a sample point each second is there of both."""
    if t.run('unshare', '-T', '--monotonic', '1000', 'true').status:
        raise Skip('no namespace of times can be made')
    program = test_mpi.build(t, 'openmpi', 'mpi_waits.c')
    script = 'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then exec unshare -T --monotonic 100000 "$@"; fi; exec "$@"'
    run = t.collect(*test_mpi.launcher(t, 'openmpi'), 'sh', '-c', script, 'sh', program, '100', options=test_mpi.TRACED, env=test_mpi.ENVIRONMENT, timeout=300)
    periodic = collections.Counter()  # the shell's, too, which each rank begins as
    for name, process in t.read(run.experiment).items():
        periodic[name.split('_')[1] if name else ''] += sum(sample['kind'] == 1 for sample in process['samples'])
    counts = sorted(periodic[f'r{rank}'] for rank in range(test_mpi.RANKS))
    t.check(counts[0] > 0 and counts[-1] - counts[0] <= 1, f'{periodic}')


def check_hosts_alone(t, experiment):
    """A rank of another machine that is opened by itself has its founder's settings, and its own name."""
    alone = next(path for path in sorted(experiment.glob('_r1*.er')) if 'hostname="node1"' in (path / 'log.xml').read_text())
    row = t.print(alone, '-header')[0]['rows'][0]
    t.equal((row['hostname'], 'mpi' in row['settings']), ('node1', True), f'{alone.name} alone')
    checked = t.run(t.helio, 'check', experiment)
    t.equal(checked.status, 0, checked.out)


# How a launcher reaches a host of a name: it begins there with a clean environment.
REACH = """#!/bin/sh
here={here}
host=$1
shift
exec env -i PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 unshare -u -m -T --monotonic ${{host#node}}00000 \\
    sh -c 'hostname '$host'; mount --bind '$here'/boot${{host#node}} /proc/sys/kernel/random/boot_id; cd '$here'; exec sh -c "$0"' "$*"
"""
REACHED = ('--mca', 'plm_rsh_agent', '{reach}', '--mca', 'oob_tcp_if_include', 'lo', '--mca', 'btl', 'tcp,self', '--mca', 'btl_tcp_if_include', 'lo', '-host', 'node1:1,node2:1,node3:1')


@test
def ranks_by_remote_shell(t):
    """The launcher starts ranks on three hosts, where nothing of its environment is but what it hands on: they are in its experiment."""
    need_machines(t)
    reach = t.directory / 'reach'
    reach.write_text(REACH.format(here=t.directory))
    reach.chmod(0o755)
    program = test_mpi.build(t, 'openmpi', 'mpi_ring.c')
    words = [word.format(reach=reach) for word in REACHED]
    run = t.collect(*test_mpi.launcher(t, 'openmpi', 3), *words, program, options=test_mpi.TRACED, env=test_mpi.ENVIRONMENT, timeout=100)
    answer = t.print(run.experiment, '-mpiwaits')[0]
    t.check(answer['messages'] > 0 and not answer['sends_alone'] + answer['receives_alone'], f'messages: {answer}')
    rows = {row['host']: row['ahead_s'] for row in t.print(run.experiment, '-mpistat')[0]['rows'] if 'ahead_s' in row}
    t.equal(sorted(rows), ['node1', 'node2', 'node3'], 'hosts')
    for rank in 2, 3:
        t.check(abs(rows[f'node{rank}'] - rows['node1'] - (rank - 1) * 100000) < 1, f'{rows}')


@test
def json_of_clocks(t):
    """What is said of clocks is as the schema has it."""
    group = make_group(t, 'apart', SHIFTED['apart'][0])
    check = validator(t)
    for answer in t.print(group, '-mpistat', '-mpiwaits', '-mpiwaitstacks', '-timeline', '3', '-timeline', '-events', '1', '3'):
        problems = [f'{problem.json_path}: {problem.message[:200]}' for problem in check.iter_errors(answer)]
        t.check(not problems, f'{answer["command"]}: {problems[:3]}')
