# SPDX-License-Identifier: Apache-2.0
"""
Control of a recording: signals, the size limit, places and groups, regular expressions,
`helio ctl`, `helio doctor`. What a program does in which phase is what its arguments say
(targets/steps.c); the function `hidden` runs while nothing is to be recorded.
"""
import json
import mmap
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import threading
import time

from harness import patience, perf_allowed, test

MANUAL = 3
USR1 = signal.SIGUSR1.value
KILL = f'kill:{USR1}'
NOBODY = 65534


def steps(t, *words, **more):
    return t.collect(t.target('steps'), *words, **more)


def manual_labels(process):
    return [s['label'] for s in process['samples'] if s['kind'] == MANUAL]


def kinds(process, *wanted):
    return [e['kind'] for e in process['log_events'] if e['kind'] in wanted]


def check_shares(t, experiment, seen, total=None, slack=0.025):
    """What `seen` and the whole profile hold, and that `hidden` holds nothing."""
    rows = t.functions(experiment)
    t.near(rows['seen']['i.totalcpu'] if 'seen' in rows else 0, seen, 'seen', absolute=slack)
    t.near(rows['<Total>']['i.totalcpu'], seen if total is None else total, 'recorded', absolute=slack)
    t.within(rows.get('hidden', {}).get('i.totalcpu', 0) < slack, f'hidden: {rows.get("hidden")}')


def check_pauses(t, process, paused_at_first=False):
    """What each thread's events hold is its life, from before the first pause, without those that the log tells of."""
    end = process['samples'][-1]['time_ns'] / 1e9
    pauses = [int(e['tstamp']) / 1e9 for e in process['log_events'] if e['kind'] in ('pause', 'resume')] + [end]
    for thread in process['threads']:
        moments = pauses if paused_at_first else [thread['begin']] + pauses
        recorded = sum(off - on for on, off in zip(moments[::2], moments[1::2]))
        t.near(thread['sum'], recorded, f'what was recorded of thread {thread["number"]}', absolute=0.02)
        t.near(thread['sum'], thread['life'], 'weights and life', absolute=0.01)


# ---- signals ----

@test(engines=True)
def sample_signal(t, engine):
    """The default of the signal is death; three of them are three sample points and nothing else."""
    result = steps(t, KILL, 'seen:0.1', KILL, 'seen:0.1', KILL, 'seen:0.1', engine=engine, options=('-l', 'USR1'))
    t.equal(result.truth()['handled'], 0, 'signals that the program saw')
    process = t.read(result.experiment)['']
    t.equal(manual_labels(process), ['signal'] * 3, 'sample points')
    t.equal(kinds(process, 'pause', 'resume'), [], 'pauses')
    times = [s['time_ns'] for s in process['samples'] if s['kind'] == MANUAL]
    # the signals are 0.1 s apart at least; a sample point may be written some milliseconds late
    t.within(all(b - a >= 0.08e9 for a, b in zip(times, times[1:])), f'about 0.1 s apart at least: {times}')


@test
def sample_signal_of_the_program(t):
    """The program handles the signal itself: both have it. What it blocks it gets from sigwait."""
    result = steps(t, f'handle:{USR1}', KILL, KILL, 'seen:0.02', options=('-l', 'SIGUSR1'))
    t.equal(result.truth()['handled'], 2, 'signals that the program handled')
    t.equal(manual_labels(t.read(result.experiment)['']), ['signal'] * 2, 'sample points')
    result = steps(t, f'block:{USR1}', KILL, f'wait:{USR1}', options=('-l', 'USR1'))
    t.equal(result.truth()['waited'], USR1, 'signal')
    t.equal(manual_labels(t.read(result.experiment)['']), [], 'sample points')


@test
def sample_signal_survives_exec(t):
    """A program executed afterwards takes the signal as well, and so does a child."""
    result = steps(t, f'system:{t.target("steps")} {KILL} seen:0.02', KILL, 'seen:0.02', options=('-l', 'USR1'))
    family = t.read(result.experiment)
    t.equal(result.truth()['status'], 0, 'status of the child')
    t.equal(sorted(len(manual_labels(p)) for p in family.values() if manual_labels(p)), [1, 1], 'who sampled')


@test(engines=True, alone=True)
def pause_signal(t, engine):
    result = steps(t, 'hidden:0.3', KILL, 'seen:0.3', KILL, 'hidden:0.3', 'sleep:0.2', KILL, 'seen:0.2', engine=engine,
                   options=('-y', 'USR1'))
    check_shares(t, result.experiment, 0.5)
    process = t.read(result.experiment)['']
    t.equal(kinds(process, 'pause', 'resume'), ['resume', 'pause', 'resume'], 'events in the log')
    check_pauses(t, process, paused_at_first=True)


@test(alone=True)
def pause_signal_recording_at_first(t):
    result = steps(t, 'seen:0.2', KILL, 'hidden:0.3', KILL, 'seen:0.1', options=('-y', 'USR1,r'))
    check_shares(t, result.experiment, 0.3)
    header = t.run(t.helio, 'print', '-header', result.experiment).out
    t.check('Pause (signal): ' in header and 'Resume (signal): ' in header, f'the header: {header}')


# ---- limits and places ----

@test(alone=True)
def size_limit(t):
    """Stacks that are new with each event fill 1 MB at once; without a limit they take several."""
    result = steps(t, 'deep:0.8', options=('-L', '1', '-p', '200u'))
    founder = t.read(result.experiment)['']
    t.within(founder['cpu'] < 0.9 * result.truth()['cpu'], f'{founder["cpu"]} s recorded')
    t.within(founder['bytes'] <= 1.1 * 2**20, f'{founder["bytes"]} bytes')
    told = [e['text'] for e in founder['log_events'] if e['kind'] == 'warning' and 'max-overhead' not in e['text']]  # 200 us are short under load
    t.equal(told, ['the experiment has reached its size limit: recording stops'], 'warnings')
    t.equal(manual_labels(founder), ['size limit'], 'sample points')
    t.equal(founder['settings']['size_limit'], '1', 'setting')
    whole = t.read(steps(t, 'deep:0.8', options=('-p', '200u')).experiment)['']
    t.within(whole['nodes'] * 16 > 2**20, f'{whole["nodes"]} nodes without a limit')
    t.near(whole['cpu'], 0.8, 'without a limit', 0.03)


@test
def directory(t):
    (t.directory / 'store').mkdir()
    for words, name in (((), 'store/test.1.er'), ((), 'store/test.2.er'), (('-o', 'x.er'), 'store/x.er'),
                        (('-g', 'all.erg'), 'store/all.1.er')):
        result = t.run(t.helio, 'collect', '-d', 'store', *words, 'true')
        t.equal(result.status, 0, f'{words}: {result.err}')
        t.check((t.directory / name / 'log.xml').exists(), f'{name} was not made: {result.err}')
    t.equal((t.directory / 'store' / 'all.erg').read_text(), '#analyzer experiment group\nall.1.er\n', 'group')
    result = t.run(t.helio, 'collect', '-d', 'store', '-o', t.directory / 'y.er', 'true')
    t.check((t.directory / 'y.er').is_dir() and 'Warning: -d store does not count' in result.err, result.err)


@test
def groups(t):
    """Eight that write into one group at once: each is there, once, and the reader adds them up."""
    runs = [threading.Thread(target=t.run, args=(t.helio, 'collect', '-g', 'runs.erg', t.target('steps'), 'seen:0.05'))
            for _ in range(8)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    lines = (t.directory / 'runs.erg').read_text().splitlines()
    t.equal(lines[0], '#analyzer experiment group', 'the first line')
    t.equal(sorted(lines[1:]), [f'runs.{n}.er' for n in range(1, 9)], 'experiments')
    # A run that is in another folder is named by its whole path.
    t.run(t.helio, 'collect', '-g', 'runs.erg', '-o', '/'.join((str(t.directory / 'o'), 'far.er')), 'true')
    (t.directory / 'o').mkdir()
    t.run(t.helio, 'collect', '-g', 'runs.erg', '-o', 'o/far.er', t.target('steps'), 'seen:0.05')
    t.equal((t.directory / 'runs.erg').read_text().splitlines()[-1], f'{t.directory}/o/far.er', 'another folder')
    rows = t.functions(t.directory / 'runs.erg')
    t.near(rows['<Total>']['i.totalcpu'], 9 * 0.05, 'the sum of nine', 0.15)


@test
def group_that_is_none(t):
    (t.directory / 'x.erg').write_text('some text\n')
    result = t.run(t.helio, 'collect', '-g', 'x.erg', 'true')
    t.equal(result.status, 1, 'status')
    t.check('is not an experiment group' in result.err, result.err)
    t.equal(sorted(os.listdir(t.directory)), ['x.erg'], 'nothing is made')
    t.equal((t.directory / 'x.erg').read_text(), 'some text\n', 'what was there')


# ---- which processes, which time ----

def programs(t, pattern):
    """{lineage: program} of what is recorded of a shell's family with -F =pattern."""
    target = t.target('steps')
    script = f'{target} seen:0.02 "system:{target} seen:0.02"; /bin/echo x; true'
    result = t.collect('/bin/sh', '-c', script, options=('-F', pattern))
    return {lineage: os.path.basename(p['process']['exe']) for lineage, p in t.read(result.experiment).items()}


@test
def follow_by_name(t):
    """
    sh forks steps (_f1_x1), whose system() runs sh (_c1), which runs steps in turn; then sh forks
    echo. A process that does not match is not recorded, but its descendants are looked at.
    """
    shell = os.path.basename(os.path.realpath('/bin/sh'))
    everything = programs(t, 'on')
    t.equal(sorted(p for l, p in everything.items() if l.endswith('x1')), sorted(['echo', 'steps']
            + ['steps'] * (len([l for l in everything if 'c1' in l and l.endswith('x1')]))), 'the whole family')
    for pattern, wanted in (('=steps', {'steps'}), ('=ste', set()), ('=ste.*|echo', {'steps', 'echo'}),
                            ('=nothing', set()), ('=(ec)ho', {'echo'})):
        recorded = programs(t, pattern)
        t.equal(recorded.pop(''), shell, 'the founder')
        expected = {l: p for l, p in everything.items() if l and p in wanted}
        t.equal(recorded, expected, pattern)


@test
def follow_by_lineage(t):
    everything = programs(t, 'on')
    t.equal(set(programs(t, '=_f1_x1')), {'', '_f1_x1'}, 'one lineage')
    t.equal(set(programs(t, '=.*_x1')), {'', *(l for l in everything if l.endswith('_x1'))}, 'those that executed')


@test(alone=True)
def window(t):
    """-t: so much of the time of a program that computes before, in and after the window."""
    for option, begin, end in (('0.3-0.7', 0.3, 0.7), ('100ms-0.4s', 0.1, 0.4), ('-0.25', 0, 0.25), ('0.5', 0, 0.5)):
        with t.lateness() as late:
            founder = t.read(steps(t, 'seen:0.8', options=('-t', option)).experiment)['']
        # Before it is recorded the program has been loaded, which some windows begin with.
        wanted = end - max(begin, founder['threads'][0]['begin'])
        t.near(founder['total'], wanted, option, absolute=0.02 + late.worst)
        t.within(founder['cpu'] <= end - begin + late.worst, f'{option}: {founder["cpu"]} s of CPU time')


# ---- helio ctl ----

def meet(t, name):
    """Waits until a program is at this point."""
    for _ in range(2000):
        if (t.directory / f'{name}.here').exists():
            return
        time.sleep(0.01)
    t.check(False, f'the program did not come to {name}')


def eventually(t, is_so):
    for _ in range(2000):
        if is_so():
            return
        time.sleep(0.01)
    t.check(False, 'it did not come to that')


def go(t, name):
    (t.directory / f'{name}.go').touch()


def ctl(t, *words, status=0):
    result = t.run(t.helio, 'ctl', *words)
    t.equal(result.status, status, f'helio ctl {words}: {result.out} {result.err}')
    return result


def start(t, *words, options=()):
    command = [t.helio, 'collect', '-o', t.directory / 'run.er', *options, t.target('steps'), *words]
    return subprocess.Popen([str(w) for w in command], cwd=t.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def finish(t, process):
    out, err = process.communicate(timeout=60 * patience())
    t.equal(process.returncode, 0, f'status: {err}')
    return {words[0]: float(words[1]) for words in map(str.split, out.splitlines()) if len(words) == 2}


def interrupt(pid):
    """Sends the signal, and waits until it is taken: two that wait are one."""
    os.kill(pid, signal.SIGUSR1)
    while os.path.exists(f'/proc/{pid}'):
        pending = re.findall(r'^(?:SigPnd|ShdPnd):\s*(\w+)', pathlib.Path(f'/proc/{pid}/status').read_text(), re.M)
        if not any(int(mask, 16) >> (signal.SIGUSR1 - 1) & 1 for mask in pending):
            return
        time.sleep(0.01)


@test(engines=True)
def signals_that_meet_a_sleep(t, engine):
    """Each of four signals in one sleep is a sample point; what handles them itself is woken by each."""
    for words, woken in (((), 0), ((f'handle:{USR1}',), 4)):
        process = start(t, *words, 'meet:a', 'sleep:2', options=('-l', 'USR1', '--engine', engine))
        meet(t, 'a')
        pid = int(t.read(t.directory / 'run.er')['']['process']['pid'])
        go(t, 'a')
        time.sleep(0.2)
        for _ in range(4):
            interrupt(pid)
            time.sleep(0.1)
        truth = finish(t, process)
        founder = t.read(t.directory / 'run.er')['']
        t.equal(truth['handled'], woken, 'signals handled')
        t.within(truth['interrupted'] >= woken, f'{truth["interrupted"]} sleeps interrupted')
        t.equal(manual_labels(founder), ['signal'] * 4, 'sample points')
        t.within(founder['threads'][0]['life'] >= 1, f'{founder["threads"][0]["life"]} s of life')
        for file in ('a.here', 'a.go'):
            (t.directory / file).unlink()
        shutil.rmtree(t.directory / 'run.er')


@test(engines=True, alone=True)
def ctl_pause_and_resume(t, engine):
    """A program that blocks the signals of both engines, and all of whose sleeps end on time."""
    blocks = [f'block:{number}' for number in (USR1, signal.SIGPROF.value, signal.SIGTRAP.value)]
    process = start(t, *blocks, 'seen:0.3', 'meet:a', 'hidden:0.3', 'sleep:0.1', 'meet:b', 'seen:0.2', 'meet:c', 'hidden:0.3',
                    options=('--engine', engine))
    meet(t, 'a')
    t.check('1 process paused' in ctl(t, 'pause', 'run.er').out, 'paused')
    t.check('not recording' in ctl(t, 'pause', 'run.er').out, 'paused twice')
    t.check(re.search(r'^ +\d+  paused +founder +steps$', ctl(t, 'status', 'run.er').out, re.M), 'status')
    go(t, 'a')
    meet(t, 'b')
    ctl(t, 'sample', 'in the pause', 'run.er')
    t.check(' paused' in t.run(t.helio, 'ls', 'run.er').out, 'the state that ls shows')
    t.check('the recording was paused' in t.run(t.helio, 'print', '-report', 'run.er').out, 'report says so')
    t.check('1 process resumed' in ctl(t, 'resume', 'run.er/').out, 'resumed')
    go(t, 'b')
    meet(t, 'c')
    t.check('stopped for good' in ctl(t, 'stop', 'run.er').out, 'stopped')
    t.check('not paused' in ctl(t, 'resume', 'run.er').out, 'no way back')
    go(t, 'c')
    truth = finish(t, process)
    t.equal((truth['handled'], truth['interrupted'] if engine == 'perf' else 0), (0, 0), 'signals and interrupted sleeps')
    founder = t.read(t.directory / 'run.er')['']
    t.equal(kinds(founder, 'pause', 'resume'), ['pause', 'resume', 'pause'], 'the log')
    t.equal(manual_labels(founder), ['in the pause'], 'sample points')
    check_shares(t, t.directory / 'run.er', 0.5, 0.5, slack=0.04)
    check = t.run(t.helio, 'print', '-header', 'run.er')
    # within: a busy machine may switch so often that the monitor takes over, with a warning
    t.within('No warnings' in check.out and not check.err, f'complaints: {check.out[:300]} {check.err}')


@test(engines=True, alone=True)
def resumed_while_looked_at(t, engine):
    """
    Who resumes reads the time and may be stopped before it sets the clock: the program has looked
    meanwhile, later than the time that is set. format/control.h has the clock's place and form.
    """
    process = start(t, 'seen:0.2', 'meet:a', 'hidden:0.2', 'meet:b', 'seen:0.3', options=('--engine', engine))
    meet(t, 'a')
    since = time.monotonic_ns()
    ctl(t, 'pause', 'run.er')
    go(t, 'a')
    meet(t, 'b')
    with open(t.directory / 'run.er' / 'profile', 'r+b') as file, mmap.mmap(file.fileno(), 4096) as header:
        paused_ns = time.monotonic_ns() - since - 50_000_000
        header[4096 - 8:] = struct.pack('<Q', paused_ns)
    go(t, 'b')
    finish(t, process)
    check_shares(t, t.directory / 'run.er', 0.5, slack=0.03)
    founder = t.read(t.directory / 'run.er')['']['threads'][0]
    t.near(founder['sum'], founder['life'], 'weights and life', absolute=0.01)


@test(engines=True, alone=True)
def ctl_pauses_what_sleeps(t, engine):
    """Threads that sleep through two pauses, from before the first to after the last or for ever, lose just these."""
    process = start(t, 'sleepers:3', 'meet:a', 'sleep:1.5', 'meet:b', options=('--engine', engine))
    meet(t, 'a')
    go(t, 'a')
    for action in ('pause', 'resume') * 2:
        time.sleep(0.25)
        ctl(t, action, 'run.er')
    go(t, 'b')
    finish(t, process)
    founder = t.read(t.directory / 'run.er')['']
    t.equal(kinds(founder, 'pause', 'resume'), ['pause', 'resume'] * 2, 'the log')
    t.equal(len(founder['threads']), 4, 'threads')
    check_pauses(t, founder)
    t.near(founder['states']['sleep'] + founder['states'].get('wait', 0), founder['total'], 'sleep', absolute=0.1)


@test(alone=True)
def ctl_family(t):
    """One of two processes, both, and a third that begins in a pause."""
    target = t.target('steps')
    process = start(t, 'fork', 'meet:a', 'hidden:0.2', 'meet:b', 'seen:0.2', 'meet:c', f'system:{target} hidden:0.1')
    for name in ('a', 'a.child'):
        meet(t, name)
    t.check('2 processes paused' in ctl(t, 'pause', 'run.er').out, 'both paused')
    go(t, 'a')
    for name in ('b', 'b.child'):
        meet(t, name)
    t.check('1 process resumed' in ctl(t, 'resume', 'run.er/_f1.er').out, 'one resumed')
    states = dict(re.findall(r'^ +\d+  (\w+) +(\S+)', ctl(t, 'status', 'run.er').out, re.M))
    t.equal(states, {'paused': 'founder', 'recording': '_f1'}, 'states')
    go(t, 'b')
    for name in ('c', 'c.child'):
        meet(t, name)
    go(t, 'c')
    finish(t, process)
    family = t.read(t.directory / 'run.er')
    t.near(family['']['cpu'], 0, 'the founder', absolute=0.03)
    t.near(family['_f1']['cpu'], 0.2, 'the child', absolute=0.03)
    # The family's state is its founder's, who was paused when the shells began.
    for lineage in set(family) - {'', '_f1'}:
        t.within(family[lineage]['cpu'] < 0.01, f'{lineage}: {family[lineage]["cpu"]} s')


@test
def ctl_errors(t):
    result = ctl(t, 'pause', 'nosuch.er', status=1)
    t.check('nosuch.er is not an experiment: No such file or directory' in result.err, result.err)
    (t.directory / 'empty.er').mkdir()
    t.check('is not an experiment' in ctl(t, 'status', 'empty.er', status=1).err, 'an empty folder')
    for words in ((), ('pause',), ('foo', 'x.er'), ('pause', 'x.er', 'y.er'), ('sample', 'a', 'b', 'x.er')):
        error = ctl(t, *words, status=2).err
        t.check(error.startswith('helio ctl: ') and error.endswith("\nTry `helio ctl --help'.\n"), f'{words}: {error}')
    t.check("there is no action `pauze'; did you mean `pause'?" in ctl(t, 'pauze', 'x.er', status=2).err, 'misspelt')
    t.check('nosuch.er is not an experiment' in ctl(t, 'sample', '--help', 'nosuch.er', status=1).err, 'a label that looks like an option')
    steps(t, 'seen:0.01')
    t.check('is not being recorded any more: its processes have ended or closed it' in ctl(t, 'pause', 'run.1.er', status=1).err, 'ended')


@test
def ctl_says_why_not(t):
    """What is no experiment, no process of it, another machine's, or was cut while it is recorded: each with what helps."""
    error = ctl(t, 'pause', str(os.getpid()), status=1).err
    t.check('not by a process' in error and 'helio ls' in error, f'a process id: {error}')
    process = start(t, 'meet:a')
    meet(t, 'a')
    error = ctl(t, 'pause', 'run.er/_f7.er', status=1).err
    t.check("run.er has no process _f7.er; `helio ctl status run.er' shows" in error, f'no such process: {error}')
    for action in 'pause', 'status':
        (t.directory / 'run.er/profile').rename(t.directory / 'profile')
        (t.directory / 'run.er/profile').write_text('')
        error = ctl(t, action, 'run.er', status=1).err
        t.check('cannot be controlled: its profile was cut or replaced' in error, f'{action} of what was cut: {error}')
        (t.directory / 'profile').rename(t.directory / 'run.er/profile')
    go(t, 'a')
    finish(t, process)
    log = t.directory / 'run.er/log.xml'
    log.write_text(re.sub('hostname="[^"]*"', 'hostname="elsewhere.example"', log.read_text()))
    t.check('was recorded on elsewhere.example: control it there' in ctl(t, 'pause', 'run.er', status=1).err, 'another machine')


@test
def ctl_of_somebody_else(t):
    t.need_root()
    process = start(t, 'meet:a')
    meet(t, 'a')
    os.chmod(t.directory, 0o755)
    result = subprocess.run([t.helio, 'ctl', 'pause', t.directory / 'run.er'], capture_output=True, text=True, user=NOBODY,
                            group=NOBODY)
    t.equal(result.returncode, 1, 'status')
    t.check('cannot be written (Permission denied)' in result.stderr, result.stderr)

    def status():
        return subprocess.run([t.helio, 'ctl', 'status', t.directory / 'run.er'], capture_output=True, text=True, user=NOBODY, group=NOBODY)
    t.check(status().returncode == 0 and 'recording' in status().stdout, f'status, which only reads: {status().stderr}')
    for path in t.directory / 'run.er/log.xml', t.directory / 'run.er':
        mode = path.stat().st_mode
        path.chmod(0o700)
        result = status()
        t.check(result.returncode == 1 and 'run.er cannot be read (Permission denied): only who records it and root' in result.stderr, f'{path.name}: {result.stderr}')
        path.chmod(mode)
    go(t, 'a')
    finish(t, process)
    t.equal(kinds(t.read(t.directory / 'run.er')[''], 'pause'), [], 'pauses')


# ---- what people see ----

@test
def progress(t):
    command = (t.target('steps'), 'seen:0.01')
    bare = t.run(*command)
    result = t.run(t.helio, 'collect', *command)
    t.equal(result.out.split()[:2], bare.out.split()[:2], 'the output')
    lines = result.err.splitlines()
    t.check(re.fullmatch(r'helio collect: test\.1\.er: recording steps \(pid \d+\), engine (perf|monitor), 0\.997 ms at first, then 10\.007 ms', lines[0]), lines[0])
    t.check(re.fullmatch(r'helio collect: test\.1\.er: [\d.]+ s, \d+ events, .*; next: helio print .* test\.1\.er', lines[-1]),
            lines[-1])
    t.equal(len(lines), 2, f'lines: {lines}')
    t.equal(t.run(t.helio, 'collect', '-q', *command).err, '', 'quiet')
    os.symlink(t.helio, t.directory / 'collect')
    lines = t.run(t.directory / 'collect', *command).err.splitlines()
    t.check(re.fullmatch(r'Creating experiment directory test\.3\.er \(Process ID: \d+\) \.\.\.', lines[0]), lines[0])


def doctor(t, **more):
    result = subprocess.run([t.helio, 'doctor', '--json'], capture_output=True, text=True, cwd=t.directory, **more)
    answer = json.loads(result.stdout)
    t.equal(result.returncode, 0 if answer['perf'] else 1, 'status')
    return answer, {c['name']: c for c in answer['checks']}


def kernel(path, otherwise):
    try:
        with open(path) as file:
            return int(file.read())
    except OSError:
        return otherwise


@test
def doctor_says_what_there_is(t):
    answer, checks = doctor(t)
    t.equal(answer['kernel'], os.uname().release, 'kernel')
    t.equal(answer['perf'], perf_allowed(), 'perf')
    t.equal(checks['perf engine']['state'], 'yes' if perf_allowed() else 'limited', 'the engine')
    t.check(str(kernel('/proc/sys/kernel/perf_event_paranoid', '')) in checks['perf rights']['meaning'], 'paranoid level')
    for check in checks.values():
        t.check(check['state'] in ('yes', 'no', 'limited') and check['meaning'], f'{check}')
    text = t.run(t.helio, 'doctor').out
    for name, check in checks.items():
        t.check(re.search(rf'^{check["state"]} +{name} ', text, re.M), f'{name} in the text')


@test
def doctor_waits_for_events_that_open_slowly(t):
    """A machine's first event may take longer to open than a try may take: what counts is the time in which it could fire."""
    answer, _ = doctor(t, env={**os.environ, 'LD_PRELOAD': t.target('libslowopen.so')})
    t.equal(answer['perf'], perf_allowed(), 'perf')


@test
def doctor_names_remedies(t):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    _, checks = doctor(t, preexec_fn=few)
    t.equal((checks['descriptors']['state'], checks['descriptors']['remedy']), ('limited', 'ulimit -n 1024'), 'files')
    if not t.as_root():
        return
    os.chmod(t.directory, 0o755)
    answer, checks = doctor(t, user=NOBODY, group=NOBODY, extra_groups=[])
    t.equal(checks['disk']['state'], 'no', 'a folder that cannot be written')
    level = kernel('/proc/sys/kernel/perf_event_paranoid', 2)
    t.equal(answer['perf'], level <= 1 and perf_allowed(), 'perf for nobody')
    t.equal(checks['perf rights']['remedy'], 'sudo sysctl kernel.perf_event_paranoid=1' if level > 1 else None, 'remedy')
    scope = kernel('/proc/sys/kernel/yama/ptrace_scope', 0)
    t.equal(checks['attach']['state'], ('yes', 'limited', 'limited', 'no')[scope], 'attach')


@test
def a_profile_that_is_cut(t):
    """The recorded user cuts the file between helio's mapping of it and its use: helio goes on, and says that something is wrong."""
    experiment, calls = t.directory / 'run.er', t.directory / 'calls'
    program = subprocess.Popen([t.helio, 'collect', '-p', 'off', '-o', experiment, 'sleep', '100'], stderr=subprocess.DEVNULL)
    try:
        eventually(t, lambda: t.run(t.helio, 'ctl', 'status', experiment).status == 0)
        slow = subprocess.Popen([t.need('strace'), '-f', '-o', calls, '-P', experiment / 'profile', '-e', 'trace=mmap', '-e', 'inject=mmap:delay_exit=2000000',
                                 t.helio, 'ctl', 'status', experiment], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        eventually(t, lambda: calls.exists() and 'mmap' in calls.read_text())
        os.truncate(experiment / 'profile', 0)
        said = slow.communicate(timeout=60 * patience())[0]
    finally:
        program.send_signal(signal.SIGTERM)
        program.wait()
    t.check(slow.returncode >= 0, f'helio ctl was ended by a signal: {slow.returncode}: {said}')
