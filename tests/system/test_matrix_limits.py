# SPDX-License-Identifier: Apache-2.0
"""Programs that limit themselves, or are limited: recorded as far as that goes, and never harmed."""
import contextlib
import sys

import helio_reader
from harness import INTERVALS, test


def warnings_of(process):
    return [event['text'] for event in process['log_events'] if event['kind'] in ('warning', 'error')]


@test(engines=True)
def seccomp(t, engine):
    """Recorded until the program restricts its system calls, silent from then on."""
    program = t.target('restrict')
    for how in ('strict', 'filter', 'syscall'):
        for result, family in t.like_bare(engine, program, how):
            t.equal((result.status, result.out), (7, 'went on to its end\n'), how)
            process = family['']
            t.ratio(process['cpu'], 0.15, 0.9, 1.05, how)
            t.check(any('seccomp' in text for text in warnings_of(process)), f'{how}: no word of it in the log')
            t.within('before' in t.functions(result.experiment), f'{how}: before() is not among the functions')


@test(engines=True)
def calls_and_clocks_that_raise_signals(t, engine):
    """As Wine does: recorded until then."""
    for how, word in (('dispatch', 'PR_SET_SYSCALL_USER_DISPATCH'), ('tsc', 'PR_SET_TSC')):
        for result, family in t.like_bare(engine, t.target('restrict'), how):
            t.equal((result.status, result.out), (7, 'went on to its end\n'), how)
            t.check(any(word in text for text in warnings_of(family[''])), f'{how}: no word of it in the log')


@test(engines=True)
def small_signal_stacks(t, engine):
    """A handler that works, and ends the program, on an alternate stack of the classic size, or somewhat larger."""
    for size in (8192, 10240, 14336, 24576, 65536):
        for result, _ in t.like_bare(engine, t.target('altstack'), size):
            t.equal((result.status, result.out), (7, 'handled\n'), f'{size} bytes')
    for _ in range(3):
        for result, _ in t.like_bare(engine, t.target('altstack'), 8192, t.target('altstack_library.so')):
            t.equal(result.status, 7, 'with a library that works while it is loaded')
    for size in (10240, 14336, 24576):
        for result, _ in t.like_bare(engine, t.target('altstack'), size, 'fork'):
            t.equal((result.status, result.out), (7, 'handled\n'), f'{size} bytes, a child')


@test(engines=True)
def signal_stacks_that_are_not_free(t, engine):
    """What the kernel would write for us there would destroy another thread's handler, or the program's data."""
    for how in ('shared', 'gone', 'reused'):
        for result, _ in t.like_bare(engine, t.target('altstacks'), how):
            t.equal((result.status, result.out), (3, 'ready\ndone\n'), how)


@test(engines=True)
def signal_stacks_that_are_refused(t, engine):
    """A call that fails is no crash, and changes nothing: the only thread that has the stack works on, where nothing else has room for a signal."""
    for result, _ in t.like_bare(engine, t.target('altstacks'), 'refused'):
        t.equal((result.status, result.out), (3, 'ready\ndone\n'), 'what the kernel answered')


@test(engines=True)
def seccomp_while_busy(t, engine):
    """What the collector does beside the program has ended before the restriction."""
    for _ in range(2):
        for result, family in t.like_bare(engine, t.target('restrict'), 'switching'):
            t.equal((result.status, result.out), (7, 'went on to its end\n'), 'the end')


@test(engines=True)
def seccomp_probe(t, engine):
    """To ask what the kernel knows restricts nothing."""
    for result, family in t.like_bare(engine, t.target('restrict'), 'probe'):
        # within: a machine so busy that it preempts thousands of times a second leaves the program to the monitor, with a warning
        said = [text for text in warnings_of(family['']) if '--max-overhead' not in text]
        t.within(not said, f'a warning: {said}')
        t.within('after' in t.functions(result.experiment), 'after() was not recorded')


@test(engines=True)
def own_limits(t, engine):
    """The program's limits hold for it as they do bare: none of our files or mappings raises a signal in it."""
    for limit in ('fsize', 'as', 'data', 'locked'):
        for result, family in t.like_bare(engine, t.target('limited'), limit):
            # two threads of 0.1 s, the first one's from its exec on; what comes after the last look the kernel knows
            kernel, books = ([e for e in family['']['log_events'] if e['kind'] == kind][-1] for kind in ('exit', 'counters'))
            used = (int(kernel['user_us']) + int(kernel['system_us'])) / 1e6
            cpu = family['']['cpu'] + (int(books['before_user_us']) + int(books['before_system_us'])) / 1e6
            t.within(0.199 < cpu <= used, f'{limit}: {cpu} s of CPU time with what came before, {used} by the kernel')


@test(engines=True)
def too_little_memory(t, engine):
    """Programs that load within a limit, and would not with us: they run as bare, unrecorded, and that is said."""
    for limit in '-d 2000', '-v 8000', '-s 16', '-s 24':
        # how much of its stack is used differs from run to run
        bare = t.run('sh', '-c', f'ulimit {limit}; for i in $(seq 30); do /bin/echo done || exit 1; done')
        if bare.status:
            continue  # this machine's echo is larger, or what all programs load here
        for _, family in t.like_bare(engine, 'sh', '-c', f'ulimit {limit}; /bin/echo done; exit 3'):
            t.check(any('a limit of memory' in text for text in warnings_of(family[''])), f'{limit}: no word of it in the log')
    result = t.run('sh', '-c', f'ulimit -d 5000; exec {t.helio} collect --engine {engine} -o limited.er /bin/echo done')
    t.equal((result.status, result.out), (0, 'done\n'), 'the program itself is limited')
    t.check('ran unrecorded' in result.err, f'what was said: {result.err}')


@test(engines=True)
def limits_from_outside(t, engine):
    """Limits that hold from the start on, for every file of the experiment too."""
    for options in (['--fsize=32768'], ['--fsize=0'], ['--stack=unlimited'], ['--stack=200000'], ['--as=60000000']):
        depth = ['depth', 30 if options == ['--stack=200000'] else 1500]
        for _ in t.like_bare(engine, t.need('prlimit'), *options, t.target('limited'), 'none', *depth):
            pass


@test
def a_stack_too_small_for_helio(t):
    """A limit that the program lives with ends helio itself no more than it."""
    for size in 64, 48:
        bare = t.run('bash', '-c', f'ulimit -s {size}; exec /bin/echo done')
        result = t.run('bash', '-c', f'ulimit -s {size}; exec {t.helio} print -functions none.er')
        t.check(result.status == 1 and 'none.er' in result.err, f'{size}: helio print: status {result.status}: {result.err}')
        result = t.run('bash', '-c', f'ulimit -s {size}; exec {t.helio} collect -p off -o small.{size}.er /bin/echo done')
        t.equal((result.status, result.out), (bare.status, bare.out), f'{size}: helio collect: {result.err}')


@test(engines=True)
def no_room_for_us(t, engine):
    """Limits under which helio itself can write nothing, or is one process too many: the program runs as bare, and that is said."""
    t.directory.chmod(0o777)
    own = '54324' if engine == 'perf' else '54323'  # the kernel counts the processes of a user
    user = [t.need('setpriv'), '--reuid', own, '--regid', own, '--clear-groups']
    for before, limit in ([], '-f 0'), ([], '-n 4'), ([], '-n 5'), ([], '-n 8'), *[(user, '-u 2')] * t.as_root():
        script = 'for i in 1 2 3; do /bin/true; done; echo done; exit 3'
        bare = t.run(*before, 'bash', '-c', f'ulimit {limit}; exec sh -c "{script}"')
        t.equal((bare.status, bare.out), (3, 'done\n'), f'{limit}: bare')
        result = t.run(*before, 'bash', '-c', f'ulimit {limit}; exec {t.helio} collect --engine {engine} -o no.er sh -c "{script}"')
        t.equal((result.status, result.out), (3, 'done\n'), f'{limit}: with helio')
        t.check('runs unrecorded' in result.err, f'{limit}: what was said: {result.err}')


@test
def processes_that_are_few(t):
    """A limit that the program keeps within: threads of ours take none of the processes that it has room for, and what is not recorded then is said."""
    t.need_root()
    t.directory.chmod(0o777)
    user = [t.need('setpriv'), '--reuid', '54325', '--regid', '54325', '--clear-groups', 'bash', '-c']
    script = 'for i in 1 2 3 4 5 6 7 8; do (/bin/sleep 0.4; exit 3) & all="$all $!"; done; for child in $all; do wait $child; echo $?; done; exit 3'
    bare = t.run(*user, f"ulimit -u 18; exec bash -c '{script}'")
    t.equal((bare.status, bare.out, bare.err), (3, '3\n' * 8, ''), 'bare: status, output, messages')
    result = t.run(*user, f"ulimit -u 20; exec {t.helio} collect --engine monitor -o few.er bash -c '{script}'", cwd=t.directory)
    t.equal((result.status, result.out), (3, '3\n' * 8), f'with helio ({result.err})')
    t.check('ulimit -u' in result.err, f'what was said: {result.err}')
    check = t.run(t.helio, 'check', t.directory / 'few.er')
    t.check(check.status == 1 and 'ulimit -u' in check.out, f'check: {check.status}, {check.out}')
    shown = t.run(t.helio, 'print', '-header', t.directory / 'few.er')
    t.check('ulimit -u' in shown.out, f'the header: {shown.out}')


@test(engines=True)
def files_of_a_limited_size(t, engine):
    """What helio writes itself meets the limit: it says so, and ends as the program did."""
    for blocks in 32, 128:
        result = t.run('bash', '-c', f'ulimit -f {blocks}; exec {t.helio} collect --engine {engine} -p 1 -o limited{blocks}.er {t.target("flat")}; exit 9')
        t.equal(result.status, 0, f'{blocks} blocks: status ({result.err})')


@test(engines=True)
def check_of_what_could_not_grow(t, engine):
    """A recording that lost events is not in order: its data could not grow, or not even the log that would tell of it."""
    limited = 'import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))\nfor i in range(200000): bytes(i % 999 + 600)'
    for size in 20000, 1000:
        result = t.collect(sys.executable, '-c', limited.format(size), engine=engine, options=('-H', 'on'))
        check = t.run(t.helio, 'check', result.experiment)
        t.equal(check.status, 1, f'limit {size}: {check.out}')
        t.check('events or their call stacks were lost' in check.out if size > 1000 else 'events may be missing' in check.out, check.out)


@contextlib.contextmanager
def full_disk(t, size):
    """A file system of that size, as the directory that experiments are made in."""
    t.need_root('mount')
    t.equal(t.run('mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', t.directory).status, 0, 'mount')
    try:
        yield
    finally:
        t.run('umount', t.directory, cwd='/')


def counter(process, name):
    return [int(event[name]) for event in process['log_events'] if event['kind'] == 'counters'][-1]


@test(engines=True)
def no_room_at_all(t, engine):
    """A disk with room for the first files only: as bare, and the log says what is missing."""
    for interval in INTERVALS:
        with full_disk(t, '40k'):
            for _, family in t.like_bare(engine, t.target('limited'), intervals=(interval,)):
                t.check(any('could not' in text for text in warnings_of(family[''])), f'{interval}: nothing in the log')


@test
def disk_full_from_the_start(t):
    """No room to begin in: the program runs, and what stood in the way is named."""
    for size in ('4k', '8k', '12k', '16k', '20k', '32k'):
        with full_disk(t, size):
            result = t.collect(t.target('limited'))
            t.equal(result.out, 'signals 0\n', f'{size}: output')
            t.check('No space left on device' in result.err and 'LD_PRELOAD' not in result.err, f'{size}: {result.err}')


@test(engines=True)
def disk_full(t, engine):
    """No room for the stacks, or for the events: the program goes on, and what is lost is said."""
    for size, lost in (('256k', 'stacks'), ('128k', 'all stacks'), ('64k', 'events')):
        if lost == 'stacks' and engine == 'monitor':
            continue  # sees fewer of them
        with full_disk(t, size):
            result = t.collect(t.target('limited'), engine=engine, options=('-p', '100u'))
            t.equal(result.out, 'signals 0\n', f'{size}: output')
            process = t.read(result.experiment)['']
            t.check(any('could not' in text for text in warnings_of(process)), f'{size}: nothing in the log')
            t.check('could not' in result.err and 'No space left on device' in result.err, f'{size}: {result.err}')
            shown = t.functions(result.experiment)
            t.total_is_of(shown, {'': process})
            if lost != 'events':
                t.near(counter(process, 'cpu_recorded_ns') / 1e9, process['cpu'] - process['ends'], f'{size}: CPU by the log', 0, 1e-6)
                t.near(process['cpu'], 0.2, f'{size}: CPU', 0.05)
            else:  # there is no room for the end of the log either
                rows = [row['e.totalcpu'] for name, row in shown.items() if name.startswith('<not recorded')]
                t.near(sum(rows), 0.2, f'{size}: CPU that was not recorded', 0.05, 0.02)


@test
def disk_full_of_traces(t):
    """No room for what is traced: all that is lost is counted, and said with what helps."""
    calls = 20000
    for options, words, kind in (
            (('-s', 'all'), (t.target('locks'), 0, 0, calls), 'synctrace'),
            (('-H', 'on,noscan'), (t.target('malloc_heavy'), 10), 'heaptrace'),
            (('-i', 'on'), ('dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', f'count={calls}', 'status=none'), 'iotrace')):
        events = counter(t.read(t.collect(*words, options=(*options, '-p', 'off')).experiment)[''], kind)
        t.check(events > 2 * calls, f'{kind}: {events} events where there is room')
        with full_disk(t, '300k'):
            result = t.collect(*words, options=(*options, '-p', 'off'))
            process = helio_reader.read_family(str(result.experiment))['']
            kept, dropped = len(process['traces'][kind]), counter(process, 'dropped')
            t.equal((counter(process, kind), kept + dropped), (kept, events), f'{kind}: kept, and with what was dropped')
            t.check(kept and dropped, f'{kind}: {kept} kept, {dropped} dropped')
            t.check(any('could not grow' in text for text in warnings_of(process)), f'{kind}: nothing in the log')
            shown = t.run(t.helio, 'print', '-header', result.experiment)
            t.check(f'{dropped} events were dropped' in shown.err + shown.out and 'room for the experiment' in shown.err + shown.out,
                    f'{kind}: {shown.err}')


@test(engines=True)
def programs_without_room_for_a_log(t, engine):
    """Whose experiment could not be begun has ended, too, and the last line says why nothing is there."""
    for room, missing in ('0', True), ('unlimited', False):
        result = t.run(t.helio, 'collect', '--engine', engine, '-o', f'room{room}.er', 'sh', '-c', f'ulimit -f {room}; /bin/true; exit 3')
        t.equal((result.status, 'still running' in result.err, 'recording of 1 program could not be begun' in result.err), (3, False, missing), result.err)


@test(engines=True)
def messages_to_a_file_that_must_not_grow(t, engine):
    """What helio has to say finds no room: it is lost, and the program runs as bare, with the action that it would find for that signal."""
    program = 'grep SigIgn /proc/self/status; exit 7'
    for limit in 'ulimit -f 0', 'ulimit -f 0; trap "" XFSZ':
        bare = t.run('bash', '-c', f'{limit}; exec sh -c "{program}" 2>bare.err')
        result = t.run('bash', '-c', f'{limit}; exec {t.helio} collect --engine {engine} -o silent.er sh -c "{program}" 2>helio.err')
        t.equal((result.status, result.out), (7, bare.out), limit)
