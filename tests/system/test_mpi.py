# SPDX-License-Identifier: Apache-2.0
"""
MPI tracing and the ranks of MPI programs, under Open MPI and MPICH: counts, sizes and peers that targets/mpi_*.c are made to
have, and the functions that the implementation's own mpi.h declares.
"""
import pathlib
import re
import sys

from harness import ROOT, Failure, Skip, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402

TARGETS = ROOT / 'tests' / 'targets'
IMPLEMENTATIONS = ('openmpi', 'mpich')
# Open MPI is not run by root, and not with more ranks than processors, unless told.
ENVIRONMENT = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1'}
RANKS = 4
TRACED = ('-m', 'on', '-p', 'off')
METRICS = ('mpisend', 'mpibytessent', 'mpireceive', 'mpibytesrecv', 'mpibytesarrived', 'mpiother')


def build(t, implementation, source, compiler='mpicc', flags=(), name=None):
    """The program, compiled where the case is."""
    mpicc = t.need(f'{compiler}.{implementation}')
    program = t.directory / f'{name or pathlib.Path(source).stem}.{implementation}'
    result = t.run(mpicc, '-g', '-O1', '-w', '-pthread', *flags, '-o', program, TARGETS / source, timeout=300)
    if result.status:
        raise Failure(f'{mpicc}: {result.err}')
    return program


def launcher(t, implementation, ranks=RANKS):
    return t.need(f'mpirun.{implementation}'), '-np', str(ranks)


def record(t, implementation, program, *arguments, ranks=RANKS, options=TRACED, **more):
    return t.collect(*launcher(t, implementation, ranks), program, *arguments, options=options, env=ENVIRONMENT, timeout=300, **more)


def measured_by(out):
    """What a program says that it took: {name: seconds}"""
    return {name: float(value) for name, value in (line.split() for line in out.splitlines() if len(line.split()) == 2)}


def by_function(t, experiment, flavor='e.'):
    """{function: values of METRICS}"""
    rows = t.functions(experiment, *(flavor + metric for metric in METRICS))
    return {name: tuple(row[flavor + metric] for metric in METRICS) for name, row in rows.items()}


def events(t, experiment):
    """{rank: events}, by the second reader."""
    return {int(lineage[2:]): process['traces']['mpitrace'] for lineage, process in t.read(experiment).items() if re.fullmatch(r'_r\d+', lineage)}


# What all ranks of mpi_counts.c do together: sends, bytes, receives, bytes of the buffers, bytes that came, other calls.
COUNTS = {
    'MPI_Send': (10, 10 * 4000, 0, 0, 0, 0),
    'MPI_Recv': (0, 0, 10, 10 * 20000, 10 * 4000, 0),
    'MPI_Isend': (20, 20 * 1500, 0, 0, 0, 0),
    'MPI_Irecv': (0, 0, 20, 20 * 2000, 0, 0),
    'MPI_Waitall': (0, 0, 0, 0, 20 * 1500, 20),
    'MPI_Sendrecv': (4, 4 * 40, 4, 4 * 80, 4 * 40, 0),
    # two groups of two: each sends 8 bytes to both
    'MPI_Allreduce': (8, 4 * 16, 8, 4 * 16, 4 * 8, 0),
    # the root sends 400 bytes to all four, all receive them; to itself nothing comes
    'MPI_Bcast': (4, 4 * 400, 4, 4 * 400, 3 * 400, 0),
    'MPI_Gather': (4, 4 * 12, 4, 4 * 12, 4 * 12, 0),
    'MPI_Barrier': (0, 0, 0, 0, 0, 4),
    'MPI_Comm_split': (0, 0, 0, 0, 0, 4),
}


def check_counts(t, implementation, experiment):
    found = by_function(t, experiment)
    t.equal({name: found.get(name) for name in COUNTS}, COUNTS, f'{implementation}: by function')
    matrix = {(row['from'], row['to']): (row['messages'], row['bytes']) for row in t.print(experiment, '-mpimatrix')[0]['rows']}
    ring = (5 + 1, 5 * 1500 + 40)
    t.equal(matrix, {(0, 1): (10 + ring[0], 40000 + ring[1]), (1, 2): ring, (2, 3): ring, (3, 0): ring}, f'{implementation}: from rank to rank')


@test
def counts(t):
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_counts.c')
        experiment = record(t, implementation, program).experiment
        check_counts(t, implementation, experiment)
        compiled = build(t, implementation, 'mpi_counts.c', 'mpicxx', ('-x', 'c++'), name='counts_of_c++')
        check_counts(t, implementation, record(t, implementation, compiled).experiment)
        t.equal(sorted(path.name for path in experiment.glob('_*.er')), [f'_r{i}.er' for i in range(RANKS)], 'an experiment for each rank')
        t.equal(t.run(t.helio, 'check', experiment).out.count('warning'), 0, 'nothing is missing of the launcher')
        by_caller = by_function(t, experiment, 'i.')
        t.equal(by_caller['pairs'], (10, 40000, 10, 200000, 40000, 0), 'inclusive values of a caller')
        ranks = events(t, experiment)
        names = {event['communicator'] for event in ranks[2] if event['function'] == b'MPI_Allreduce'}
        t.equal(names, {b'half#0:0,2'}, 'the name and the members of a communicator')
        received = [event for event in ranks[1] if event['function'] == b'MPI_Recv']
        t.equal({(event['peer'] - 3, event['tag'] - 2, event['arrived']) for event in received}, {(0, 7, 4000)}, 'who it was from, by the status')


@test
def filters(t):
    program = build(t, 'openmpi', 'mpi_counts.c')
    experiment = record(t, 'openmpi', program).experiment

    def sums(expression):
        rows = t.print(experiment, '-filters', expression, '-mpistat')[-1]['rows']
        return {row['function']: (row['calls'], row['bytes_sent'], row['bytes_arrived']) for row in rows if 'function' in row}

    t.equal(sums('MPIRANK == 0 && MPITAG == 7'), {'MPI_Send': (10, 40000, 0)}, 'by rank and tag')
    t.equal(sums('MPIPEER == 2 && MPITYPE == 1'), {'MPI_Isend': (5, 7500, 0)}, 'by peer and type')
    t.equal(sums('MPISENT == 1500 && MPIRANK > 1'), {'MPI_Isend': (10, 15000, 0)}, 'by size')
    t.equal(sums('MPITYPE == 4'), {'MPI_Waitall': (0, 0, 20 * 1500)}, 'messages that came in a wait')
    rows = t.print(experiment, '-indxobj_define', 'RanksOf', 'MPIRANK', '-metrics', 'e.mpisend:name', '-indxobj', 'RanksOf')[-1]['rows']
    t.equal(sorted(row['e.mpisend'] for row in rows)[-1], 10 + 20 + 4 + 8 + 4 + 4, 'an index object of ranks has all of them')


# Of mpi_counts.c by what is named MPI_…: sends, bytes, bytes that came.
BY_OBJECT = {
    'rank': {'Rank 0': (23, 49168, 7596), 'Rank 1': (9, 7568, 47948), 'Rank 2': (9, 7568, 7948), 'Rank 3': (9, 7568, 7948)},
    # a collective's root is a peer of all
    'peer': {'Rank 0': (14, 9188, 48788), 'Rank 1': (16, 47540, 7540), 'Rank 2': (6, 7540, 7540), 'Rank 3': (6, 7540, 7540), '<Unknown>': (8, 64, 32)},
    'function': {name: (counts[0], counts[1], counts[4]) for name, counts in COUNTS.items()},
    'tag': {'Tag 7': (10, 40000, 40000), 'Tag 3': (20, 30000, 30000), 'Tag 1': (4, 160, 160), '<Unknown>': (16, 1712, 1280)},
    'size': {'Data size up to 4 KB': (34, 71600, 70000), 'Data size up to 1 KB': (0, 0, 1200), 'Data size up to 64 bytes': (5, 172, 208),
             'Data size up to 16 bytes': (11, 100, 32)},
}


@test
def index_objects(t):
    """Ranks, peers, functions, communicators, tags and sizes: what each has; parts of calls have their call's function."""
    for implementation in IMPLEMENTATIONS:
        experiment = record(t, implementation, build(t, implementation, 'mpi_counts.c')).experiment

        def sums(name, only='1'):
            rows = t.print(experiment, '-metrics', ':'.join(f'e.{metric}' for metric in ('mpisend', 'mpibytessent', 'mpibytesarrived')) + ':name', '-filters', only, f'-MPI_{name}')[-1]['rows']
            return {row['name']: found for row in rows if row['name'] != '<Total>' and any(found := tuple(row[f'e.{metric}'] for metric in ('mpisend', 'mpibytessent', 'mpibytesarrived')))}

        for name, expected in BY_OBJECT.items():
            t.equal(sums(name), {key: value for key, value in expected.items() if any(value)}, f'{implementation}: MPI_{name}')
        t.equal(sums('function', 'MPITYPE == 4'), {'MPI_Waitall': (0, 0, 30000)}, f'{implementation}: parts alone')
        found = sums('comm')
        halves = [value for key, value in found.items() if re.fullmatch(r'Communicator \d+, half', key)]
        t.equal(halves, [(4, 32, 16)] * 2, f'{implementation}: communicators: {found}')
        t.equal(found['Communicator 1, MPI_COMM_WORLD'], (42, 71808, 71408), f'{implementation}: {found}')
        few = t.print(experiment, '-metrics', 'e.mpisend:name', '-filters', f'MPICOMM == {int(next(key for key in found if "half" in key).split(",")[0].split()[1])}', '-MPI_rank')[-1]['rows']
        t.equal(len([row for row in few if row['e.mpisend']]), 3, f'{implementation}: the number in a name is that of filters')


def header(implementation):
    """What its mpi.h says."""
    headers = {'openmpi': ['/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h'],
               'mpich': [f'/usr/include/x86_64-linux-gnu/mpich/{name}.h' for name in ('mpi', 'mpi_proto', 'mpio')]}[implementation]
    text = ''.join(pathlib.Path(header).read_text() for header in headers if pathlib.Path(header).exists())
    if not text:
        raise Skip(f'no mpi.h of {implementation}')
    return text


def declared(implementation):
    """The functions that mpi.h declares, but for those that only ask or describe."""
    text = header(implementation)
    names = set(re.findall(r'\bint (MPI_[A-Z][a-z]\w*)\s*\(', text)) | set(re.findall(r'OMPI_DECLSPEC\s+int\s+(MPI_[A-Z][a-z]\w*)\s*\(', text))
    asks = re.compile(r'MPI_(T_|Type_|Info_|Group_|Op_|Error|Errhandler_|Address|Attr_|Keyval_|Get_(?!accumulate)|Add_error|Status_|Grequest_|Cart_(?!create|sub)'
                      r'|Graph_(?!create)|Graphdims_get|Cartdim_get|Dims_create|Dist_graph_neighbors|Topo_test|Test_cancelled|Is_thread_main|Query_thread|Init'
                      r'|Finalized|Pcontrol|Reduce_local|Pack_|Unpack_|Register_datarep|Win_shared_query|Wtime|Wtick|Comm_(rank|size|group|get|remote|test)'
                      r'|File_get_(amode|atomicity|byte_offset|group|info|type_extent|view)|Win_get|\w+_x$'
                      r'|\w+_(c2f|f2c|f082c|c2f08|f2f08|f082f|attr|keyval|errhandler)$|\w+_(get|set)_info$|Session_get|\w+_from_session)')
    kept = ('MPI_Comm_set_name', 'MPI_Win_set_name', 'MPI_File_set_info')
    # sessions and their groups have a program of their own: see below
    own = re.compile(r'MPI_(Session_\w+|Comm_create_from_group|Intercomm_create_from_groups)$')
    return {name for name in names if name in kept or (not asks.match(name) and not own.match(name))}


def large_calls(t, implementation):
    """A header that puts the functions with counts of 64 bits in the place of others; none: this MPI has none."""
    names = {name for name in declared(implementation) if name.endswith('_c')}
    text = ''.join(f'#define {name[:-2]} {name}\n' for name in sorted(names))
    (t.directory / 'large.h').write_text(f'#include <mpi.h>\n#define LARGE\n{text}')
    return names and ('-include', str(t.directory / 'large.h'))


# What cannot be had here: Open MPI needs a server for ports, and a program of its own to join.
NOT_HERE = {'openmpi': {'MPI_Comm_accept', 'MPI_Comm_connect', 'MPI_Comm_join'}, 'mpich': set()}
# MPICH of Debian 12 is built without these.
MAY_FAIL = {'MPI_Comm_spawn', 'MPI_Comm_spawn_multiple', 'MPI_Comm_disconnect', 'MPI_Open_port', 'MPI_Comm_accept', 'MPI_Comm_connect'}
WORDS = {'openmpi': ('spawn', 'names', 'abort'), 'mpich': ('spawn', 'names', 'connect', 'join', 'abort')}


@test
def every_function(t):
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_all.c')
        called = set()
        large = large_calls(t, implementation)
        if large:
            run = record(t, implementation, build(t, implementation, 'mpi_all.c', flags=large, name='mpi_large_all'), 'x', t.directory / 'file')
            called |= {event['function'].decode() for of_rank in events(t, run.experiment).values() for event in of_rank if event['function']}
        for word in WORDS[implementation]:
            result = record(t, implementation, program, word, t.directory / 'file', status=None)
            t.check(word == 'abort' or (result.status == 0 and 'done' in result.out), f'{implementation} {word}: {result.out[-500:]} {result.err[-500:]}')
            for of_rank in events(t, result.experiment).values() if word != 'abort' else ():
                called |= {event['function'].decode() for event in of_rank if event['function']}
                failed = {event['function'].decode() for event in of_rank if event['error']}
                t.check(word in ('names', 'join') or failed <= MAY_FAIL, f'{implementation} {word}: calls that failed: {failed}')
            if word == 'abort':
                rows = t.print(result.experiment, '-mpistat')[-1]['rows']
                called |= {row['function'] for row in rows if 'function' in row}
        t.equal(declared(implementation) - NOT_HERE[implementation] - called, set(), f'{implementation}: functions of mpi.h that were called and not recorded')
        threads = record(t, implementation, program, 'thread', t.directory / 'file').experiment
        t.check('MPI_Init_thread' in by_function(t, threads), f'{implementation}: MPI_Init_thread')


def sums_of(t, experiment):
    """{function without _c: what it sent and received}"""
    keys = ('calls', 'sends', 'bytes_sent', 'receives', 'bytes_received', 'bytes_arrived')
    return {row['function'].removesuffix('_c'): tuple(row[key] for key in keys) for row in t.print(experiment, '-mpistat')[0]['rows']
            if 'function' in row and not re.search('[Tt]est|[Pp]robe|get_status|Parrived', row['function'])}


@test
def large_counts(t):
    """MPI 4: the same program with counts of 64 bits has the same sums; and such counts that no int holds."""
    there = 0
    for implementation in IMPLEMENTATIONS:
        large = large_calls(t, implementation)
        if not large:
            continue
        there += 1
        small_run = record(t, implementation, build(t, implementation, 'mpi_all.c'), 'x', t.directory / 'file')
        large_run = record(t, implementation, build(t, implementation, 'mpi_all.c', flags=large, name='mpi_large_all'), 'x', t.directory / 'file')
        small, found = sums_of(t, small_run.experiment), sums_of(t, large_run.experiment)
        t.equal({name: found.get(name) for name in small}, small, f'{implementation}: sums')
        run = record(t, implementation, build(t, implementation, 'mpi_large.c'), ranks=1)
        sums, size, three = sums_of(t, run.experiment), 2049 << 20, 3 << 30
        # a root of one sends to itself, and receives; both messages are of the same size
        t.equal(sums['MPI_Bcast'][1:5], (1, three, 1, three), f'{implementation}: a collective function')
        rows = {row['function']: row for row in t.print(run.experiment, '-mpistat')[0]['rows'] if 'function' in row}
        t.equal([rows[name]['bytes_sent'] for name in ('MPI_Send_c', 'MPI_Send')], [size, size], f'{implementation}: sends')
        t.equal([rows[name]['bytes_received'] for name in ('MPI_Irecv_c', 'MPI_Irecv')], [size, size], f'{implementation}: receives')
        t.equal(rows['MPI_Wait']['bytes_arrived'], 2 * size, f'{implementation}: what came')
    t.check(there, 'one of them has large counts')


MESSAGE_TYPES = {'begin of a send': 1, 'begin of a receive': 3, 'received': 4}


@test
def of_mpi_four(t):
    """Persistent collective functions count at each start what the plain ones count; partitions are one message; both ends of what is exchanged."""
    there = 0
    for implementation in IMPLEMENTATIONS:
        if 'MPI_Allreduce_init' not in header(implementation):
            continue
        there += 1
        run = record(t, implementation, build(t, implementation, 'mpi_all.c'), 'x', t.directory / 'file')
        plain, started, tags = {}, {}, {}
        for rank, of_rank in events(t, run.experiment).items():
            prepared = None
            for event in of_rank:
                name = (event['function'] or b'').decode()
                values = tuple(event[key] for key in ('sent', 'received', 'arrived', 'sends', 'receives'))
                if name.endswith('_init') and event['type'] == 'persistent request':
                    prepared = name.removesuffix('_init')
                if event['type'] == 'collective' and name and not name.startswith('MPI_I'):
                    plain.setdefault((rank, name), values)
                if event['type'] == 'collective' and not name:
                    started.setdefault((rank, prepared), []).append(values)
                if event['type'] in MESSAGE_TYPES and 40 <= event['tag'] - 2 <= 42:
                    tags.setdefault((event['tag'] - 2, MESSAGE_TYPES[event['type']]), []).append((event['sent'], event['received'], event['arrived']))
        for key, values in started.items():
            if key[1] != 'MPI_Barrier':
                t.equal(values, [plain[key]], f'{implementation}: {key}')
        t.equal(len(started), 22 * RANKS, f'{implementation}: functions that were started: {sorted({name for _, name in started})}')
        # eight ints in four partitions, twice; an int into the room of two; an int in the place of another; MPICH 4.0 does not say how many came of those two
        t.equal(tags, {(40, 1): [(32, 0, 0)] * 8, (40, 3): [(0, 32, 0)] * 8, (40, 4): [(0, 0, 32)] * 8, (41, 1): [(4, 0, 0)] * 4, (41, 3): [(0, 8, 0)] * 4,
                       (41, 4): [(0, 0, 0)] * 4, (42, 1): [(4, 0, 0)] * 4, (42, 3): [(0, 4, 0)] * 4, (42, 4): [(0, 0, 0)] * 4}, f'{implementation}: messages')
    t.check(there, 'one of them is of MPI 4')


@test
def sessions(t):
    """A session in place of MPI_Init: its calls, and messages by communicators that are made of groups."""
    there = 0
    for implementation in IMPLEMENTATIONS:
        if 'MPI_Session_init' not in header(implementation):
            continue
        there += 1
        run = record(t, implementation, build(t, implementation, 'mpi_session.c'))
        t.equal(run.out.split(), [str(RANKS), 'of', str(RANKS)], f'{implementation}: what it computes')
        statistics, matrix = t.print(run.experiment, '-mpistat', '-mpimatrix')
        calls = {row['function']: row['calls'] for row in statistics['rows'] if 'function' in row}
        for name in ('MPI_Session_init', 'MPI_Session_finalize', 'MPI_Comm_create_from_group', 'MPI_Sendrecv', 'MPI_Allreduce'):
            t.equal(calls.get(name), RANKS, f'{implementation}: {name}')
        t.equal({(row['from'], row['to']): row['messages'] for row in matrix['rows']}, {(rank, (rank + 1) % RANKS): 1 for rank in range(RANKS)}, 'messages')
    t.check(there, 'one of them has sessions')


@test
def wrong_arguments(t):
    """Where a pointer is missing the library says so, as it does bare."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_wrong.c')
        bare = t.run(*launcher(t, implementation, 1), program, env=ENVIRONMENT, timeout=300)
        t.equal(bare.status, 0, f'{implementation}: {bare.err[-500:]}')
        traced = record(t, implementation, program, ranks=1)
        t.equal(traced.out, bare.out, f'{implementation}: classes of errors')


@test
def without_tracing(t):
    """Ranks are recorded, nothing of MPI; and a program in which MPI is not there goes on as ever."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_counts.c')
        experiment = record(t, implementation, program, options=()).experiment
        t.equal(sorted(path.name for path in experiment.glob('_*.er')), [f'_r{i}.er' for i in range(RANKS)], f'{implementation}: ranks')
        t.equal(list(experiment.rglob('mpitrace')), [], f'{implementation}: no trace')
    told = t.run(t.helio, 'print', '-mpistat', experiment)
    t.check(told.status and 'helio collect -m on' in told.err, f'what would record it: {told.err}')
    t.equal(t.collect('true', options=TRACED).status, 0, 'a program without MPI')


@test
def by_option(t):
    """-M says that the program is a launcher, whatever its name, and traces; off records it as any program."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_counts.c')
        mine = t.directory / f'start-{implementation}'
        mine.write_text(f'#!/bin/sh\nexec {t.need(f"mpirun.{implementation}")} "$@"\n')
        mine.chmod(0o755)
        name = {'openmpi': 'OPENMPI', 'mpich': 'MPICH2'}[implementation]
        check_counts(t, implementation, t.collect(mine, '-np', str(RANKS), '--', program, options=('-M', name, '-p', 'off'), env=ENVIRONMENT).experiment)
        run = t.collect(*launcher(t, implementation, 2), program, options=('-M', 'off', *TRACED), env=ENVIRONMENT, status=None)
        t.equal(list(run.experiment.glob('_r*.er')), [], f'{implementation}: no ranks by number')
        t.check((run.experiment / 'profile').exists() or (run.experiment / 'map.xml').exists(), f'{implementation}: the launcher is recorded')
    wrong = t.run(t.helio, 'collect', '-M', 'NOSUCH', 'true')
    t.check(wrong.status == 1 and 'OPENMPI' in wrong.err, f'a name that is none: {wrong.err}')


@test
def variables_of_the_programs_own(t):
    """A script that calls Open MPI's launcher, with -x or without: it hands on what it hands on bare, and nothing of ours is in its way."""
    launcher_itself = t.need('mpirun.openmpi')
    for name in 'run', 'mpirun':
        script = t.directory / name
        script.write_text(f'#!/bin/sh\nexec {launcher_itself} -np 2 -x GIVEN env\n')
        script.chmod(0o755)
        for options in ('-M', 'OPENMPI', '-p', 'off'), ('-p', 'off'):
            run = t.collect(script, options=options, env={**ENVIRONMENT, 'GIVEN': 'it'}, timeout=100)
            t.equal(run.out.count('GIVEN=it\n'), 2, f'{name} {options}: {run.err}')


@test
def each_rank_by_itself(t):
    """mpirun helio collect: an experiment for each rank, numbered by it, in one group."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_counts.c')
        group = t.directory / f'{implementation}.erg'
        result = t.run(*launcher(t, implementation), t.helio, 'collect', *TRACED, '-g', group, program, env=ENVIRONMENT, timeout=300)
        t.equal(result.status, 0, f'{implementation}: {result.err[-1000:]}')
        t.equal(sorted(path.name for path in t.directory.glob(f'{implementation}.*.er')), [f'{implementation}.{i}.er' for i in range(RANKS)], 'names')
        check_counts(t, implementation, group)


FORTRAN = {'MPI_Send': 14, 'MPI_Recv': 10, 'MPI_Isend': 20, 'MPI_Irecv': 24, 'MPI_Waitall': 20, 'MPI_Waitany': 4, 'MPI_Comm_split': 4,
           'MPI_Allreduce': 4, 'MPI_Bcast': 4, 'MPI_Allgather': 4, 'MPI_Barrier': 4, 'MPI_Init': 4, 'MPI_Finalize': 4}


@test
def fortran(t):
    """mpif.h, and the modules mpi and mpi_f08, of the same program."""
    for implementation in IMPLEMENTATIONS:
        module = t.directory / 'mpi_fortran_module.f90'
        module.write_text((TARGETS / 'mpi_fortran.f90').read_text().replace('  implicit none\n  include \'mpif.h\'', '  use mpi\n  implicit none'))
        for source in ('mpi_fortran.f90', module, 'mpi_fortran08.f90'):
            program = build(t, implementation, source, 'mpif90')
            run = record(t, implementation, program)
            t.check('done' in run.out, f'{implementation} {source}: {run.out} {run.err[-500:]}')
            rows = {row['function']: row for row in t.print(run.experiment, '-mpistat')[0]['rows'] if 'function' in row}
            t.equal({name: rows[name]['calls'] for name in FORTRAN}, FORTRAN, f'{implementation} {source}: calls')
            bytes_of = {name: (rows[name]['bytes_sent'], rows[name]['bytes_arrived']) for name in ('MPI_Send', 'MPI_Recv', 'MPI_Waitall', 'MPI_Waitany', 'MPI_Allgather')}
            t.equal(bytes_of, {'MPI_Send': (46000, 0), 'MPI_Recv': (0, 40000), 'MPI_Waitall': (0, 30000), 'MPI_Waitany': (0, 6000), 'MPI_Allgather': (320, 320)},
                    f'{implementation} {source}: bytes')


@test
def ends(t):
    """A rank that is killed, that exits without MPI_Finalize, that aborts: what was recorded before is there."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_ends.c')
        for how, calls in (('kill', 5), ('exit', 5), ('abort', 6)):
            run = record(t, implementation, program, how, status=None)
            t.check(run.status != 0, f'{implementation} {how}: the launcher says so')
            rows = t.print(run.experiment, '-filters', 'MPIRANK == 1', '-mpistat')[-1]['rows']
            found = {row['function']: row['calls'] for row in rows if 'function' in row}
            t.equal(found.get('MPI_Barrier'), 4, f'{implementation} {how}: calls before the end')
            t.equal(found.get('MPI_Abort', 0), calls - 5, f'{implementation} {how}: MPI_Abort')


@test
def waits(t):
    """Late senders, late receivers and waits at a reduction, each of 50 ms or more: what the ranks have measured themselves."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_waits.c')
        run = record(t, implementation, program, '50')
        measured = {name: float(value) for name, value in (line.split() for line in run.out.splitlines() if len(line.split()) == 2)}
        answer = t.print(run.experiment, '-mpiwaits')[0]
        rows = {(row['kind'], row['waiter'], row['function'], row['other'], row['other_function']): row for row in answer['rows']}
        expected = {'sender': ('late_sender', 1, 'MPI_Recv', 0, 'MPI_Send'), 'wait': ('late_sender', 2, 'MPI_Wait', 0, 'MPI_Send'),
                    'receiver': ('late_receiver', 3, 'MPI_Ssend', 0, 'MPI_Recv'), 'begin': ('late_receiver', 2, 'MPI_Ssend', 0, 'MPI_Irecv'),
                    'all': ('late_sender', 3, 'MPI_Waitall', 0, 'MPI_Send'),
                    'reduction': ('collective', 1, 'MPI_Allreduce', 0, 'MPI_Allreduce')}
        for name, key in expected.items():
            t.check(key in rows, f'{implementation}: {name}: {sorted(rows)}')
            t.check(0 < rows[key]['count'] <= 5, f'{implementation}: {name}: waits')
            t.within(0.8 <= rows[key]['time_s'] / measured[name] <= 1.25, f'{implementation}: {name}: {rows[key]["time_s"]} for {measured[name]}')
        exchanged = sum(row['time_s'] for key, row in rows.items() if key[1:] == (1, 'MPI_Sendrecv', 0, 'MPI_Sendrecv'))
        t.within(0.8 <= exchanged / measured['exchange'] <= 1.25, f'{implementation}: exchange, for its sender or its receiver: {exchanged} for {measured["exchange"]}')
        t.equal((answer['messages'], answer['sends_alone'], answer['receives_alone']), (40, 0, 0), f'{implementation}: both ends')
        t.equal(answer['collectives'], 7 * 5 + 5 + 1, f'{implementation}: collective calls')
        check_paths(t, implementation, run.experiment, rows)
        check_filtered(t, implementation, run.experiment)
        check_messages(t, implementation, run.experiment, measured)


def check_paths(t, implementation, experiment, rows):
    """Each late call of mpi_waits.c is of a function of its own: both call paths go through it."""
    paths = t.print(experiment, '-mpiwaitstacks')[0]['rows']
    own = {'late_sender': ('late_sender', 'MPI_Recv', 'MPI_Send'), 'late_in_wait': ('late_sender', 'MPI_Wait', 'MPI_Send'), 'late_receiver': ('late_receiver', 'MPI_Ssend', 'MPI_Recv'),
           'late_begin': ('late_receiver', 'MPI_Ssend', 'MPI_Irecv')}
    for function, (kind, waiting, other) in own.items():
        through = [row for row in paths if (row['kind'], row['function'], row['other_function']) == (kind, waiting, other)]
        t.equal(len(through), 1, f'{implementation}: {function}: {paths}')
        for key in 'frames', 'other_frames':
            t.check(any(frame.startswith(function + ' ') for frame in through[0][key]), f'{implementation}: {function}: {through[0]}')
    for column, exact in ('count', True), ('time_s', False):
        sums = [sum(row[column] for row in of) for of in (paths, rows.values())]
        t.check(sums[0] == sums[1] if exact else abs(sums[0] - sums[1]) < 1e-4, f'{implementation}: {column} by call path and by rank: {sums}')


def check_messages(t, implementation, experiment, measured):
    """Each of the 40 messages lies between a send's begin and the end of its receive; those of tag 1 as late as rank 1 has measured; sums hold them all."""
    pairs = {(row['from'], row['to']): (row['messages'], row['bytes']) for row in t.print(experiment, '-mpimatrix')[0]['rows']}
    answer = t.print(experiment, '-mpimessages')[0]
    t.equal((answer['messages'], answer['left_out'], len(answer['rows'])), (40, 0, 40), f'{implementation}: messages')
    for row in answer['rows']:
        t.check(row['messages'] == 1 and row['bytes'] == 4 and row['begin_s'] <= row['end_s'], f'{implementation}: {row}')
    late = t.print(experiment, '-filters', 'MPITAG == 3', '-mpimessages')[-1]['rows']
    t.equal([(row['from'], row['to']) for row in late], [(3, 0)] * 5, f'{implementation}: of tag 3')
    took = sum(row['end_s'] - row['begin_s'] for row in late)
    t.within(0.8 <= took / measured['receiver'] <= 1.25, f'{implementation}: sends that wait for their receiver: {took} for {measured["receiver"]}')
    for most in (1, 8, 20):
        answer = t.print(experiment, '-mpimessages', str(most))[0]
        t.check(len(answer['rows']) <= most, f'{implementation}: {len(answer["rows"])} rows of {most}')
        t.equal(sum(row['messages'] for row in answer['rows']) + answer['left_out'], 40, f'{implementation}: in {most} rows')
        found = {}
        for row in answer['rows']:
            count, size = found.get((row['from'], row['to']), (0, 0))
            found[row['from'], row['to']] = (count + row['messages'], size + row['bytes'])
        t.check(found == pairs if most > 1 else answer['left_out'] > 0, f'{implementation}: by pair, in {most} rows: {found}')
    begin, end = late[2]['begin_s'], late[2]['end_s']
    part = t.print(experiment, '-mpimessages', '-from', f'{(begin + end) / 2:.9f}', '-to', f'{(begin + end) / 2 + 1e-6:.9f}')[0]['rows']
    t.check((3, 0) in {(row['from'], row['to']) for row in part} and len(part) < 5, f'{implementation}: in a part of the time: {part}')


def check_filtered(t, implementation, experiment):
    """A wait is of the call that waited: by its rank, and by the message's tag, which only parts of MPI_Wait have."""
    def waits(expression):
        answer = t.print(experiment, '-filters', expression, '-mpiwaits')[-1]
        return {(row['kind'], row['waiter'], row['function']) for row in answer['rows']}, answer

    found, answer = waits('MPITAG == 2')
    t.equal(found, {('late_sender', 2, 'MPI_Wait')}, f'{implementation}: of tag 2')
    t.equal((answer['messages'], answer['collectives']), (5, 0), f'{implementation}: of tag 2')
    found, answer = waits('MPIRANK == 0')
    t.check(found and {rank for _, rank, _ in found} == {0}, f'{implementation}: {found}')
    t.equal(answer['messages'], 40, f'{implementation}: rank 0 has an end of each')
    t.equal(waits('MPIRANK == 0 && MPITAG == 2')[0], set(), f'{implementation}: who was waited for does not wait')


@test
def messages(t):
    """Each message of every kind of call has both its ends: blocking, begun, persistent, matched, from anyone."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_all.c')
        experiment = record(t, implementation, program, 'x', t.directory / 'file').experiment
        answer = t.print(experiment, '-mpiwaits')[0]
        t.equal((answer['sends_alone'], answer['receives_alone']), (0, 0), f'{implementation}: sends and receives without another')
        rows = t.print(experiment, '-filters', 'MPITYPE == 0 || MPITYPE == 1 || MPITYPE == 5', '-mpistat')[-1]['rows']
        sent = sum(row['sends'] for row in rows if 'function' in row)
        t.equal(answer['messages'], sent, f'{implementation}: as many messages as sends')


@test
def real(t):
    """NetPIPE of Debian, unchanged: it checks what it receives."""
    netpipe = t.need('NPopenmpi')
    run = t.collect(*launcher(t, 'openmpi', 2), netpipe, '-u', '1000', '-i', '-o', t.directory / 'np.out', options=TRACED, env=ENVIRONMENT, timeout=300)
    answer = t.print(run.experiment, '-mpiwaits', '-mpimatrix')
    t.equal((answer[0]['sends_alone'], answer[0]['receives_alone']), (0, 0), 'both ends of all its messages')
    pairs = {(row['from'], row['to']): row['bytes'] for row in answer[1]['rows']}
    t.equal(set(pairs), {(0, 1), (1, 0)}, 'between its two ranks')


@test
def hpcc(t):
    """
    The HPC Challenge of Debian, ranks of two threads of OpenMP's: what it computes is what it computes bare, but for StarDGEMM, whose data are of
    the moment of its begin; each message has both ends, and each rank its parallel regions.
    """
    program, example = t.need('hpcc'), pathlib.Path('/usr/share/doc/hpcc/examples/_hpccinf.txt')
    if not example.exists():
        raise Skip(f'no {example}')
    (t.directory / 'hpccinf.txt').write_text(re.sub(r'^1000( +Ns)', r'240\1', example.read_text(), flags=re.M))

    def results():
        text = (t.directory / 'hpccoutf.txt').read_text()
        (t.directory / 'hpccoutf.txt').unlink()
        return re.findall(r'^(?:HPL_(?:RnormI|XnormI|Anorm1|BnormI|N)|PTRANS_residual|MPIFFT_maxErr|MPIRandomAccess_Errors|Success)=.*', text, re.M)

    environment = {**ENVIRONMENT, 'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
    t.equal(t.run(*launcher(t, 'openmpi'), program, env=environment, timeout=300).status, 0, 'bare')
    bare = results()
    t.check(len(bare) == 9 and 'Success=1' in bare, f'{bare}')
    run = t.collect(*launcher(t, 'openmpi'), program, options=TRACED, env=environment, timeout=300)
    t.equal(results(), bare, 'results')
    answers = t.print(run.experiment, '-mpiwaits', '-regions')
    t.equal((answers[0]['sends_alone'], answers[0]['receives_alone']), (0, 0), 'both ends of all its messages')
    regions = answers[-1]['rows'][1:]
    t.check(regions and not any(row['name'].startswith('Construct') for row in regions), f'regions have names: {regions}')
    ranks = [process for process in t.read(run.experiment).values() if 'omptrace' in process['traces']]
    t.equal([max(event['threads'] for event in rank['traces']['omptrace'] if event['type'] == 'region') for rank in ranks], [2] * RANKS, 'threads of each rank')


@test
def lammps(t):
    """LAMMPS of Debian: what it computes is what it computes bare, and the messages of its steps take what it calls communication."""
    words = (t.need('lmp'), '-in', TARGETS / 'lammps_melt.txt', '-log', 'none')

    def steps(out):
        return re.search(r'^Step.*?(?=^Loop)', out, re.M | re.S)[0]

    bare = t.run(*launcher(t, 'openmpi', 2), *words, env=ENVIRONMENT, timeout=300)
    t.equal(bare.status, 0, f'bare: {bare.err}')
    run = record(t, 'openmpi', *words, ranks=2, options=('-m', 'on'))
    t.equal(steps(run.out), steps(bare.out), 'what it computes')
    waits, statistics = t.print(run.experiment, '-mpiwaits', '-mpistat')
    t.equal((waits['sends_alone'], waits['receives_alone']), (0, 0), 'both ends of all its messages')
    told = float(re.search(r'^Comm +\| [\d.]+ +\| ([\d.]+)', run.out, re.M)[1])
    messages = sum(row['time_s'] for row in statistics['rows'] if row.get('function') in ('MPI_Send', 'MPI_Irecv', 'MPI_Wait', 'MPI_Sendrecv')) / 2
    t.within(0.5 * told < messages < 1.1 * told + 0.05, f'{messages} s in messages, {told} s of communication, which has copies, too')


@test
def hazards(t):
    """What programs do that profilers do not expect, in ranks: they go on as bare, and each call is there, also behind one that was left by a jump."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_hazards.c', flags=('-ldl',))
        bare = t.run(*launcher(t, implementation, 3), program, env=ENVIRONMENT, timeout=300)
        run = record(t, implementation, program, ranks=3, options=('-m', 'on'))
        t.equal(sorted(run.out.splitlines()), sorted(bare.out.splitlines()), f'{implementation}: what it prints')
        t.equal(sorted(run.out.splitlines()), [f'rank {rank}: 6' for rank in range(3)], f'{implementation}: six rounds')
        waits, statistics = t.print(run.experiment, '-mpiwaits', '-mpistat')
        calls = {row['function']: row['calls'] for row in statistics['rows'] if 'function' in row}
        t.equal((calls['MPI_Sendrecv'], calls['MPI_Barrier']), (18, 24), f'{implementation}: calls')
        t.equal((waits['messages'], waits['sends_alone'], waits['receives_alone'], waits['collectives']), (18, 0, 0, 8), f'{implementation}: messages')
        names = {path.name for path in run.experiment.glob('_r?*.er')}
        t.equal(names, {f'_r{rank}{child}.er' for rank in range(3) for child in ('', '_f1', '_f2', '_c1', '_c2')}, f'{implementation}: ranks and their children')


@test(alone=True)
def timed(t):
    """What ranks measure of their calls themselves: the same time of each function, at most 2 % off."""
    for implementation in IMPLEMENTATIONS:
        run = record(t, implementation, build(t, implementation, 'mpi_timed.c'), options=('-m', 'on'))
        told = {}
        for name, value in re.findall(r'^(MPI_\w+) ([\d.]+)$', run.out, re.M):
            told[name] = told.get(name, 0) + float(value)
        t.equal(len(told), 3, f'{implementation}: {run.out}')
        world = next(row['number'] for row in t.print(run.experiment, '-mpicomms')[0]['rows'] if row['name'] == 'MPI_COMM_WORLD')
        statistics = t.print(run.experiment, '-filters', f'MPICOMM == {world}', '-mpistat')[-1]
        for row in (row for row in statistics['rows'] if row.get('function') in told):
            t.within(0.98 <= row['time_s'] / told[row['function']] <= 1.02, f'{implementation} {row["function"]}: {row["time_s"]}, not {told[row["function"]]}')


@test
def loaded(t):
    """A program without MPI that loads a library which is linked with it, in a scope of its own, as interpreters do."""
    host = t.directory / 'host'
    t.equal(t.run('cc', '-o', host, TARGETS / 'mpi_host.c').status, 0, 'cc')
    for implementation in IMPLEMENTATIONS:
        plugin = t.directory / f'plugin.{implementation}.so'
        made = t.run(t.need(f'mpicc.{implementation}'), '-w', '-g', '-shared', '-fPIC', '-Dmain=plugin_main', '-o', plugin, TARGETS / 'mpi_counts.c')
        t.equal(made.status, 0, made.err)
        check_counts(t, implementation, record(t, implementation, host, plugin).experiment)


@test
def threads(t):
    """Several threads of each rank at once: every message has its ends, and its bytes."""
    for implementation in IMPLEMENTATIONS:
        program = build(t, implementation, 'mpi_threads.c')
        run = record(t, implementation, program, ranks=2)
        if 'no threads' in run.out:
            continue
        count = 2 * 4 * 200 * 8
        found = by_function(t, run.experiment)
        t.equal(found['MPI_Irecv'], (0, 0, count, 4 * count, 0, 0), f'{implementation}: receives')
        t.equal(found['MPI_Isend'], (count, 4 * count, 0, 0, 0, 0), f'{implementation}: sends')
        t.equal(found['MPI_Waitall'][4], 4 * count, f'{implementation}: bytes that came')
        answer = t.print(run.experiment, '-mpiwaits')[0]
        t.equal((answer['messages'], answer['sends_alone'], answer['receives_alone']), (count, 0, 0), f'{implementation}: both ends')


@test
def a_rank_without_the_others(t):
    """Two barriers of rank 0, and nothing of rank 1, which was lost: they are not one barrier of two members, at which rank 0 waits for itself."""
    make_kinds.make(str(t.directory))
    barriers = [(10, ms, ('_start', 'main'), (30 * make_kinds.MS, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)) for ms in (100, 200)]
    make_kinds.make_ranks(str(t.directory / 'alone.1.er'), str(t.directory / 'app'), [([b'MPI_Barrier', make_kinds.WORLD], barriers)], size=2)
    waits = t.print('alone.1.er', '-mpiwaits')[0]
    t.equal((waits['rows'], waits['collectives']), ([], 0), waits)


@test
def communicators_that_are_many(t):
    """Those that the collector has no room for have no description; each call with one wrote another, of a communicator that is not there."""
    program = build(t, 'openmpi', 'mpi_many.c')
    experiment = record(t, 'openmpi', program, ranks=1).experiment
    rows = t.print(experiment, '-mpicomms')[0]['rows']
    t.check(4000 < len(rows) <= 4500 + 1, f'{len(rows)} communicators')
    t.equal(t.print(experiment, '-limit', '3', '-mpicomms')[-1]['rows'], rows[:3], 'the first three')
    t.check(f'{len(rows) - 3} more are not shown' in t.run(t.helio, 'print', '-limit', '3', '-mpicomms', experiment).out, 'others are told of')
    barriers = [row for row in t.print(experiment, '-mpistat')[0]['rows'] if row.get('function') == 'MPI_Barrier']
    t.equal(barriers[0]['calls'], 1000, 'all calls are there')


def used_for(t, *words):
    """CPU seconds and the most memory, KB, that a command takes."""
    timed = t.run(t.need('/usr/bin/time'), '-f', '%U %S %M', '-o', t.directory / 'used', *words, env={'HELIO_CACHE': 'off'})
    t.equal(timed.status, 0, f'{words}: {timed.err[-300:]}')
    user, system, memory = (t.directory / 'used').read_text().split()
    return float(user) + float(system), int(memory)


@test(alone=True)
def many_ranks(t):
    """1,000 ranks and a quarter of them, known by construction: what is shown is right, and time and memory grow as the ranks do."""
    make_kinds.make(str(t.directory))
    counts = (250, 1000)
    for count in counts:
        make_kinds.make_ranks(str(t.directory / f'{count}.er'), str(t.directory / 'app'), tuple(make_kinds.pairs(count)))
    experiment = t.directory / '1000.er'
    statistics, waits = t.print(experiment, '-mpistat', '-mpiwaits')
    calls = {row['function']: (row['calls'], row['bytes_sent'], round(row['time_s'], 6)) for row in statistics['rows'] if 'function' in row}
    t.equal(calls, {'MPI_Send': (500, 500 * 4096, 5), 'MPI_Irecv': (500, 0, 0.5), 'MPI_Wait': (500, 0, 30), 'MPI_Barrier': (1000, 0, 20.5)}, 'calls')
    t.equal([row['rank'] for row in statistics['rows'] if 'rank' in row], list(range(1000)), 'ranks')
    t.equal((waits['messages'], waits['collectives'], waits['sends_alone']), (500, 1, 0), 'messages')
    late = {(row['waiter'], row['other']): round(row['time_s'], 6) for row in waits['rows'] if row['kind'] == 'late_sender'}
    t.equal(late, {(rank + 1, rank): 0.04 for rank in range(0, 1000, 2)}, 'late senders')
    t.near(t.functions(experiment, 'e.mpitime')['<Total>']['e.mpitime'], 56, 'time in MPI', 0, 1e-6)
    threads = [row['name'] for row in t.print(experiment, '-threads')[-1]['rows'] if 'Thread' in row['name']]
    t.equal(sorted(int(re.search(r'Thread 1 \(rank (\d+), tid \d+\)', name)[1]) for name in threads), list(range(1000)), 'threads by rank')
    for command in ('-functions', '-mpistat', '-processes', '-mpimatrix', '-mpiwaits', '-report', '-timeline'):
        (few_seconds, few_memory), (many_seconds, many_memory) = (used_for(t, t.helio, 'print', command, t.directory / f'{count}.er') for count in counts)
        # four times as many; sixteen times as much would be quadratic
        t.within(many_seconds < 8 * few_seconds + 0.1, f'{command}: {few_seconds} s, then {many_seconds} s')
        t.check(many_memory < 6 * few_memory, f'{command}: {few_memory} KB, then {many_memory} KB')


@test(alone=True)
def by_the_clock(t):
    """MPI Work and MPI Wait are the time in calls of MPI by the program's own clocks, without tracing; what is computed is neither."""
    for implementation in IMPLEMENTATIONS:
        run = record(t, implementation, build(t, implementation, 'mpi_clock.c'), ranks=2, options=('-p', 'hi'))
        told = [tuple(map(float, line.split())) for line in run.out.splitlines() if line[:1].isdigit()]
        t.equal(len(told), 2, f'{implementation}: {run.out}')
        for pid, in_mpi, receiving, computed in told:
            answer = t.print(run.experiment, '-metrics', 'i.mpiwork:i.mpiwait:i.totalcpu:name', '-filters', f'PID == {pid:.0f} && THRID == 1', '-functions')[-1]
            seen = {row['name']: (row['i.mpiwork'], row['i.mpiwait'], row['i.totalcpu']) for row in answer['rows']}
            t.near(sum(seen['main'][:2]), in_mpi, f'{implementation}: time in MPI of {pid}', 0.05, 0.02)
            if receiving:
                name = next(name for name in seen if re.fullmatch('P?MPI_Recv', name))
                t.near(sum(seen[name][:2]), receiving, f'{implementation}: time in MPI_Recv', 0.05, 0.02)
            else:
                t.equal(seen['compute'][:2], (0, 0), f'{implementation}: what is computed')
                t.near(seen['compute'][2], computed, f'{implementation}: CPU time of what is computed', 0.05, 0.02)
    metrics = t.print(t.collect('/bin/true').experiment, '-metric_list')
    t.check('mpiwork' not in str(metrics), 'without MPI there is no such metric')


@test
def not_of_mpi(t):
    """A library of large numbers has a name like those of MPI; what it computes is no MPI Work."""
    library, program = t.directory / 'libmpir.so.23', t.directory / 'program'
    for path, text in ((library, 'void mpir_compute(void) { for (volatile long i = 0; i < 100000000; i++); }'),
                       (program, 'void mpir_compute(void); int main(void) { mpir_compute(); return 0; }')):
        source = t.directory / f'{path.name}.c'
        source.write_text(text + '\n')
        shape = ('-shared', '-fPIC') if path == library else (library, f'-Wl,-rpath,{t.directory}')
        result = t.run(t.need('gcc'), '-o', path, source, *shape)
        t.equal(result.status, 0, result.err)
    answer = t.print(t.collect(program).experiment, '-functions', '-metric_list')
    t.check(any(row['name'] == 'mpir_compute' for row in answer[0]['rows']), 'it was seen')
    t.check('mpiwork' not in str(answer[1]), 'MPI Work without MPI')


def calls(tree):
    """{(caller, function): seconds} of a call tree of JSON, wherever the one calls the other; {function: load objects}."""
    seconds, objects, path = {}, {}, []
    for row in tree['rows']:
        del path[row['depth']:]
        key = (path[-1] if path else '', row['name'])
        seconds[key] = seconds.get(key, 0) + row['a.totalcpu']
        objects.setdefault(row['name'], set()).add(pathlib.Path(row['object'] or '').name)
        path.append(row['name'])
    return seconds, objects


@test
def folded(t):
    """User mode ends at the MPI function that was called, and goes on where that calls the program; other modes show all; totals are the same."""
    for implementation in IMPLEMENTATIONS:
        run = record(t, implementation, build(t, implementation, 'mpi_back.c'), '200', ranks=2, options=('-p', 'hi'))
        truth = measured_by(run.out)
        trees = {mode: t.print(run.experiment, '-viewmode', mode, '-calltree')[-1] for mode in ('user', 'expert', 'machine')}
        t.equal(trees['expert']['rows'], trees['machine']['rows'], f'{implementation}: expert mode')
        (user, _), (machine, objects) = calls(trees['user']), calls(trees['machine'])
        t.equal(user['', '<Total>'], machine['', '<Total>'], f'{implementation}: totals')
        for function, caller in (('combine', 'Reduce_local'), ('release', 'Comm_delete_attr')):
            inside = sum(seconds for (above, name), seconds in user.items() if name == function and re.fullmatch(f'P?MPI_{caller}', above))
            t.near(inside, 2 * truth[function], f'{implementation}: {function} below MPI_{caller}', 0.05, 0.02)
        for mode, rows, expected in (('user', user, {'combine', 'release'}), ('machine', machine, None)):
            called = {name for above, name in rows if re.match('P?MPI_', above)}
            of_library = {name for name in called if any(object.startswith('libmpi') for object in objects[name])}
            t.check(called <= expected if expected else of_library, f'{implementation}: {mode}: below functions of MPI: {called}')


@test
def folded_fortran(t):
    """The same of programs in Fortran, by the names that they call, which Open MPI has beside names of its own."""
    for implementation in IMPLEMENTATIONS:
        run = record(t, implementation, build(t, implementation, 'mpi_fortran.f90', 'mpifort'), options=('-p', 'hi'))
        user, objects = calls(t.print(run.experiment, '-viewmode', 'user', '-calltree')[-1])
        entries = {name for _, name in user if re.match('p?mpi_', name, re.I)}
        t.check(entries & {name for above, name in user if above.startswith('MAIN__') or above == 'main'}, f'{implementation}: {sorted(user)}')
        t.equal({(above, name) for above, name in user if above in entries}, set(), f'{implementation}: below functions of MPI')
