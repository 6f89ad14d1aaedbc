# SPDX-License-Identifier: Apache-2.0
"""
What `helio attach` does to a process besides recording it: nothing, whatever it is, whether it
can be recorded or not, and whatever becomes of helio meanwhile.
"""
import os
import shutil
import signal
import subprocess
import time

from harness import Skip, patience, test
from test_attach import Program
from test_code import build

LATE = (0, 'interrupted 0\ntoo_short 0\n')


def killed_at(t, program, step):
    """helio attach, killed at its `step`th look at or change of a process; False: it had ended before that."""
    name = t.directory / f'killed.{step}.er'
    inject = f'inject=ptrace,pwrite64:signal=KILL:when={step}'
    result = t.run(t.need('strace'), '-f', '-qq', '-o', '/dev/null', '-e', 'trace=ptrace,pwrite64', '-e', inject,
                   t.helio, 'attach', '-q', '--for', '20ms', '-o', name, program.pid)
    t.check(result.status in (0, 128 + signal.SIGKILL), f'step {step}: status {result.status} {result.err}')
    return result.status != 0


@test
def killed_at_each_step(t):
    """Wherever helio is killed, the program goes on, its waits and its signals too."""
    for call, stride in (('nanosleep', 31), ('poll', 83), ('malloc', 83)):
        kills, killed = 0, True
        for step in (*range(1, 40, 4), *range(40, 5000, stride)):
            with Program(t, t.target('late'), call) as program:
                killed = killed_at(t, program, step)
                t.equal(program.end(), LATE, f'{call}, killed at step {step}')
            if not killed:
                break
            kills += 1
        t.within(kills > 12 and not killed, f'{call}: {kills} kills')


# Waits and places to stand that tests/targets/held.c knows
KINDS = ('read', 'write', 'poll', 'ppoll', 'select', 'pselect', 'epoll_wait', 'epoll_pwait', 'nanosleep', 'clock_nanosleep', 'futex',
         'futex_timed', 'wait4', 'waitid', 'accept', 'recv', 'recvmsg', 'pause', 'sigsuspend', 'sigtimedwait', 'signalfd', 'io_uring', 'flock',
         'fcntl', 'msgrcv', 'semop', 'mq_receive', 'inotify', 'eventfd', 'timerfd', 'fifo', 'blocked', 'handler', 'alternate', 'own_stack',
         'full_stack', 'full_main', 'work', 'without_first', 'vfork', 'exiting', 'seccomp', 'no_new_code',
         'undumpable', 'locked')
# … where nothing can be done to the process, and what is said of it
REFUSED = {'exiting': 'safe to load', 'seccomp': 'seccomp', 'full_main': 'full', 'full_stack': 'full', 'vfork': 'vfork', 'without_first': 'first thread has ended'}


SHORT = ('nanosleep', 'clock_nanosleep', 'timerfd')  # these end by themselves


def state(pid):
    """What of a process must be as it was: signals, descriptors, mappings; the loaded library may stay."""
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        signals = [line for line in file if line.startswith(('SigB', 'SigC', 'SigI'))]
    with open(f'/proc/{pid}/maps', encoding='ascii') as file:
        maps = [line.split(None, 2)[:2] for line in file if 'libhelio' not in line and '[heap]' not in line and '[stack]' not in line]
    fds = sorted((fd, os.readlink(f'/proc/{pid}/fd/{fd}')) for fd in os.listdir(f'/proc/{pid}/fd'))
    return signals, fds, maps


def visit(t, program, refused=None, short=False):
    """Attached to with both engines; its state before. A `short` one may end meanwhile."""
    time.sleep(0.1)  # until it waits
    before = state(program.pid)
    for engine in ('perf', 'monitor'):
        result = t.run(t.helio, 'attach', '--engine', engine, '-q', '--for', '60ms', '-O', 'a.er', program.pid)
        if short and 'has ended' in result.err:
            break
        t.equal(result.status, 126 if refused else 0, f'status of helio attach ({result.err.strip()})')
        t.check(not refused or refused in result.err, f'"{result.err.strip()}" does not say {refused}')
    return before


def check_kind(t, kind):
    outputs = []
    for attached in (False, True):
        place = t.directory / f'{kind}.{attached}'
        place.mkdir()
        with Program(t, 'env', '-C', place, t.target('held'), kind) as program:
            if attached:
                before = visit(t, program, REFUSED.get(kind), kind in SHORT)
                if kind in REFUSED:
                    t.equal(state(program.pid), before, f'{kind}: the process')
            else:
                time.sleep(0.1)
            outputs.append(program.end('q\n'))
    t.equal(outputs[1], outputs[0], f'{kind}: status and output')
    t.check('result' in outputs[0][1] or 'thread' in outputs[0][1], f'{kind}: {outputs[0]}')


def check_kinds(t, kinds):
    for kind in kinds:
        check_kind(t, kind)


@test
def waits_go_on(t):
    check_kinds(t, KINDS[:24])


@test
def waits_and_places(t):
    check_kinds(t, KINDS[24:])


# Limits, as prlimit(1) sets them for a process that runs, and what is said where nothing can be recorded
LIMITS = {'--as=8000000': '--as=unlimited', '--as=4000000': '--as=unlimited', '--data=200000': '--data=unlimited', '--nofile=0': '--nofile=1024',
          '--nofile=3': '--nofile=1024', '--fsize=0': '--fsize=unlimited', '--nproc=1': None, '--memlock=0': None, '--stack=8192': None}


@test
def limits(t):
    for limit, remedy in LIMITS.items():
        with Program(t, t.target('held'), 'read') as program:
            t.equal(t.run('prlimit', '--pid', program.pid, limit).status, 0, f'prlimit {limit}')
            visit(t, program, refused=remedy)
            status, out = program.end('q\n')
            t.equal((status, out.split(' errno')[0]), (0, 'result 1'), limit)  # errno is stdio's, where it can open no file


def read_in(t, program, refused=None):
    visit(t, program, refused=refused)
    t.equal(program.end('q\n'), (0, 'result 1 errno 0 handled 0 blocked 0\n'), f'the program ({refused})')


@test
def made_or_placed_otherwise(t):
    """Another root, another mount namespace, another user namespace, a file that is gone, a debugger."""
    if t.as_root():
        moves = 'import os, sys; os.chroot(sys.argv[1]); print("ready", flush=True); print("result", sys.stdin.read(1))'
        with Program(t, '/usr/bin/python3', '-c', moves, t.directory) as program:
            before = visit(t, program, refused='another root')
            t.equal(state(program.pid), before, 'the process in another root')
            t.equal(program.end('q'), (0, 'result q\n'), 'the program in another root')
    if t.run('unshare', '-m', 'true').status == 0:
        with Program(t, 'unshare', '-m', t.target('held')) as program:
            read_in(t, program, 'mount namespace')
    if t.run('unshare', '-U', '-r', 'true').status == 0:
        with Program(t, 'unshare', '-U', '-r', t.target('held')) as program:
            read_in(t, program)
    copy = shutil.copy(t.target('held'), t.directory / 'held')
    with Program(t, copy) as program:
        os.unlink(copy)
        read_in(t, program)
    with Program(t, t.target('held')) as program, \
            Program(t, t.need('gdb'), '-q', '-nx', '-ex', 'echo ready\\n', '-p', program.pid, ready=None) as debugger:
        while 'ready' not in debugger.process.stdout.readline():
            pass
        visit(t, program, refused='traced already')
        debugger.end('detach\nquit\n')
        t.equal(program.end('q\n'), (0, 'result 1 errno 0 handled 0 blocked 0\n'), 'the debugged program')


@test
def musl(t):
    source = t.directory / 'm.c'
    source.write_text('#include <stdio.h>\nint main(void) { puts("ready"); fflush(stdout); return getchar() == 113 ? 5 : 6; }')
    t.equal(t.run(t.need('musl-gcc'), '-o', 'm', source).status, 0, 'musl-gcc')
    with Program(t, t.directory / 'm') as program:
        before = visit(t, program, refused='glibc')
        t.equal(state(program.pid), before, 'the process')
        t.equal(program.end('q'), (5, ''), 'the program')


@test
def ends_at_any_moment(t):
    for i in range(16):
        program = subprocess.Popen(['sh', '-c', f'sleep 0.{10 + i}; echo out; exit 5'], stdout=subprocess.PIPE, text=True)
        for _ in range(4):
            result = t.run(t.helio, 'attach', '-q', '--for', '1ms', '-O', 'a.er', program.pid)
            t.check(result.status in (0, 126, 127), f'{result.status}: {result.err}')
        out, _ = program.communicate(timeout=60 * patience())
        t.equal((program.returncode, out), (5, 'out\n'), f'the program, {i}')


@test
def library_is_far_away(t):
    """Too far from the C library for a jump, as in one of five Java machines: a relay leads there, which stays the only one."""
    with Program(t, t.target('faraway')) as program:
        for engine in ('perf', 'monitor', 'perf'):
            result = t.run(t.helio, 'attach', '--engine', engine, '-q', '--for', '60ms', '-O', 'a.er', program.pid)
            t.equal(result.status, 0, f'status of helio attach ({result.err.strip()})')
        with open(f'/proc/{program.pid}/maps', encoding='ascii') as file:
            maps = [line.split() for line in file]
        code = [line for line in maps if line[1] == 'r-xp']
        library, libc = (int([line for line in code if name in line[-1]][0][0].split('-')[0], 16) for name in ('libhelio', 'libc.so'))
        t.check(abs(library - libc) > 1 << 31, f'the library is not far away: {library:x} {libc:x}')
        t.equal(len([line for line in code if len(line) == 5]), 1, 'relays')
        attached = subprocess.Popen([t.helio, 'attach', '-q', '-p', '100u', '-O', 'a.er', str(program.pid)], cwd=t.directory)
        time.sleep(0.3)
        t.equal(program.end('\n'), (0, 'done\n'), 'the program that it becomes')
        t.equal(attached.wait(timeout=60 * patience()), 0, 'status of helio attach')
    kinds = [event['kind'] for event in t.read(t.directory / 'a.er')['']['log_events']]
    t.check('exec' in kinds, f'no exec among {kinds}')


TWICE = '''
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile unsigned long work;
static void *nap(void *unused) { for (;;) usleep(300); return unused; }
int main(void)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, 0, nap, 0);
	puts("ready");
	fflush(stdout);
	while (!poll(&in, 1, 0))
		for (int i = 0; i < 20000; i++)
			work += i;
	return execl("/bin/echo", "echo", "done", (char *)0);
}
'''


def attach_twice(t, prog, turn):
    """One of two records, and the other says why not; the program becomes another one meanwhile, in which an event would be deadly."""
    said = []
    with Program(t, prog) as program:
        both = [subprocess.Popen([t.helio, 'attach', '-p', '200u', '-o', f'{turn}.{i}.er', str(program.pid)], cwd=t.directory,
                                 stderr=subprocess.PIPE, text=True) for i in range(2)]
        end = time.monotonic() + 10 * patience()
        while all(one.poll() is None for one in both) and time.monotonic() < end:
            time.sleep(0.01)
        begun = [one.stderr.readline() if one.poll() is None else '' for one in both]  # that it records
        t.equal(program.end('q'), (0, 'done\n'), f'the program, turn {turn} ({begun})')
        for one in both:
            said.append((one.communicate(timeout=60 * patience())[1], one.returncode))
    said.sort(key=lambda of: of[1])
    t.equal([code for _, code in said], [0, 126], f'statuses, turn {turn} ({said})')
    t.check('already' in said[1][0], f'turn {turn}: {said[1][0]}')


@test
def two_at_once(t):
    """The kernel keeps tracers apart by threads: each of two would hold another one."""
    prog = build(t, 'twice', ('twice.c', TWICE), flags=('-O1', '-pthread'))
    for turn in range(16):
        attach_twice(t, prog, turn)


@test
def other_pid_namespace(t):
    """There the collector would not see helio, and end the recording at once."""
    result = t.run('unshare', '-p', '--fork', '--kill-child', 'true')
    if result.status:
        raise Skip(f'no pid namespace can be made: {result.err}')
    with Program(t, 'unshare', '-p', '--fork', '--kill-child', t.target('late')) as outer:
        with open(f'/proc/{outer.pid}/task/{outer.pid}/children', encoding='ascii') as file:
            pid = int(file.read())
        before = state(pid)
        result = t.run(t.helio, 'attach', '--for', '100ms', '-o', 'a.er', pid)
        t.equal((result.status, list(t.directory.glob('*.er'))), (126, []), 'status and experiments')
        t.check('pid namespace' in result.err and 'nsenter' in result.err, result.err)
        t.equal(state(pid), before, 'the process')
        t.equal(outer.end(), LATE, 'the program')
