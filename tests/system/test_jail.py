# SPDX-License-Identifier: Apache-2.0
"""
Programs that lock themselves in, and what they could ask the launcher for, which opens their files from outside
(src/format/broker.h). What is asked here is asked by a stranger, who knows no more than that file says.
"""
import array
import contextlib
import errno
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import threading
import time

from harness import patience, test
from test_code import build

REQUEST, ANSWER = struct.Struct('<IiIiQQ'), struct.Struct('<iIQQQ')
OPEN, MAKE, REMOVE, STAT, OPEN_PROC, READ_LINK, STAT_PROC, LIST = range(8)
PASSED = array.array('i', [0]).itemsize
JAILS = ('chroot', 'SYS_chroot', 'moved', 'pivot_root', 'mounts', 'chroot_setuid')


class Recorded:
    """A program under `helio collect`, with a pipe to its standard input."""

    def __init__(self, t, *words, options=()):
        self.experiment = t.directory / f'run.{len(list(t.directory.glob("run.*.er"))) + 1}.er'
        self.launcher = subprocess.Popen([t.helio, 'collect', *options, '-o', str(self.experiment), *map(str, words)], cwd=t.directory,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.launcher.poll() is None:
            self.launcher.send_signal(signal.SIGCONT)
            self.launcher.kill()
        self.launcher.wait()

    def said_pid(self):
        """The process that waits for a line."""
        for line in self.launcher.stdout:
            if found := re.match(r'pid (\d+)$', line):
                return int(found[1])
        raise AssertionError(f'it has ended: {self.launcher.stderr.read()}')

    def go_on(self):
        self.launcher.stdin.write('\n')
        self.launcher.stdin.flush()

    def end(self):
        out, err = self.launcher.communicate('\n\n\n', timeout=120 * patience())
        return self.launcher.returncode, out, err


def directories_of(pid):
    """What the tables of all threads of a process hold, ours too, by the kernel: {table: what is no file}."""
    found = {}
    for task in os.listdir(f'/proc/{pid}/task'):
        place = f'/proc/{pid}/task/{task}/fd'
        try:
            numbers = os.listdir(place)
        except FileNotFoundError:
            continue  # the thread has ended meanwhile
        for number in numbers:
            try:
                if stat.S_ISDIR(os.stat(f'{place}/{number}').st_mode):
                    found[f'{task}/{number}'] = os.readlink(f'{place}/{number}')
            except FileNotFoundError:
                pass  # it has been closed meanwhile
    return found


@test(engines=True)
def no_table_leads_out(t, engine):
    """Of a program in a jail, and of its child, no thread holds a descriptor of a directory: the collector's own threads neither."""
    for how in JAILS:
        with Recorded(t, t.target('places'), how, 'inside', options=('--engine', engine)) as run:
            for who in ('it', 'its child'):
                pid = run.said_pid()
                t.equal(directories_of(pid), {}, f'{how}: directories that {who} holds')
                run.go_on()
            status, out, err = run.end()
            t.equal(status, 5, f'{how}: status ({err})')
            t.equal(set(re.findall('directories held: (.*)', out)), {'0'}, f'{how}: what it finds itself')
            t.check(not os.path.exists(run.experiment / 'broker'), f'{how}: the socket is left')


@test(engines=True)
def attached_before_it_is_in_a_jail(t, engine):
    """Nor do the collector's threads in a program that is attached to, and then moves its root."""
    program = subprocess.Popen([t.target('places'), 'chroot', 'both'], cwd=t.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    attached = subprocess.Popen([t.helio, 'attach', '--engine', engine, '-o', str(t.directory / 'run.1.er'), str(program.pid)],
                                stderr=subprocess.PIPE, text=True)
    try:
        t.check('recording' in attached.stderr.readline(), 'it is not attached to')
        for where in ('outside', 'inside', 'inside, in its child'):
            for line in program.stdout:
                if found := re.match(r'pid (\d+)$', line):
                    break
            held = directories_of(int(found[1])) if where != 'outside' else {}
            t.within(not held, f'directories held {where}: {held}')  # one may be listed at this moment that was opened before
            program.stdin.write('\n')
            program.stdin.flush()
        out, _ = program.communicate(timeout=120 * patience())
        t.equal(set(re.findall('directories held: (.*)', out)), {'0'}, 'what it finds itself')
        t.equal(program.returncode, 5, 'status')
        attached.communicate(timeout=120 * patience())
        t.within(t.functions(t.directory / 'run.1.er')['<Total>']['e.total'] > 0, 'nothing recorded')
    finally:
        for process in (program, attached):
            process.kill()
            process.wait()


@test(engines=True)
def without_the_launcher(t, engine):
    """It does not answer, or is gone: the program runs as bare, and holds nothing that leads out."""
    bare = t.run(t.target('places'), 'chroot')
    for way in (signal.SIGSTOP, signal.SIGKILL):
        for when in ('before', 'inside'):
            with Recorded(t, t.target('places'), 'chroot', when, options=('--engine', engine)) as run:
                pid = run.said_pid()
                before = directories_of(pid)
                run.launcher.send_signal(way)
                if way == signal.SIGKILL:
                    run.launcher.wait()  # till then its socket is there
                run.launcher.stdin.write('\n\n\n')
                run.launcher.stdin.close()
                lines = []
                while not lines or not lines[-1].startswith('child:'):
                    ready, _, _ = select.select([run.launcher.stdout], [], [], 120 * patience())
                    t.check(ready, f'{way.name} {when}: it hangs after {lines}')
                    lines.append(run.launcher.stdout.readline())
                    t.check(lines[-1], f'{way.name} {when}: it ended after {lines}')
                said = [line for line in bare.out.splitlines(True) if line.startswith(('child', 'directories'))]
                t.equal([line for line in lines if line.startswith(('child', 'directories'))], said[:len(said) - 1], f'{way.name} {when}: what it says')
                t.check(when == 'before' or not before, f'{way.name}: directories held: {before}')
                if way == signal.SIGKILL and when == 'before':
                    t.check('helio cannot be asked for files' in (run.experiment / 'log.xml').read_text(), 'no word of it in the log')


DAEMON = r"""
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int count, char **words)
{
	FILE *said = fopen(words[1], "w");
	if (daemon(1, 0))
		return count;
	while (!access(words[2], F_OK))
		usleep(10000);
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return 1;
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			while (clock() < CLOCKS_PER_SEC / 4)
				;
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	fputs("done\\n", said);
	fclose(said);
	return 0;
}
"""


@test
def workers_of_a_daemon(t):
    """It changed its user after helio had ended: of its workers the CPU time is known, and why nothing else."""
    t.need_root('become another user')
    t.directory.chmod(0o755)
    program = build(t, 'daemon', ('daemon.c', DAEMON))
    waits, said = t.directory / 'waits', t.directory / 'said'
    waits.touch()
    experiment = t.collect(program, said, waits).experiment
    waits.unlink()
    end = time.monotonic() + 60 * patience()
    while 'done' not in said.read_text() and time.monotonic() < end:
        time.sleep(0.02)
    rows = t.functions(experiment, 'e.totalcpu')
    t.near(rows['<not recorded: daemon>']['e.totalcpu'], 0.5, 'their CPU time', 0.1)
    reason = t.run(t.helio, 'print', '-processes', '-header', experiment)
    t.check('may make no files in the experiment' in reason.out + reason.err, f'why: {reason.out} {reason.err}')
    t.check('static' not in reason.out + reason.err, f'a wrong reason: {reason.out} {reason.err}')


# ---- what anybody could ask ----

def key_of(pid):
    """What the launcher knows those by that it records: whoever can read their environment knows it, too."""
    with open(f'/proc/{pid}/environ', encoding='utf-8', errors='replace') as environment:
        return tuple(map(int, re.search(r'HELIO_COLLECTOR_PARAMS=[^\0]*;k:(\d+),(\d+);', environment.read()).groups()))


def image():
    """Where this process has the kernel's own code, by pages."""
    with open('/proc/self/maps', encoding='utf-8') as maps:
        return next((int(line.split('-')[0], 16) >> 12 & 0xffffffff for line in maps if line.endswith('[vdso]\n')), 0)


class Stranger:
    """Asks the launcher of a recording as it likes. Without the key it gets no answer."""

    def __init__(self, t, experiment, key=(1, 2)):
        self.t = t
        self.key = key
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.connect(str(experiment / 'broker'))
        self.socket.settimeout(60 * patience())

    def send(self, data, descriptors, *more):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', descriptors))] if descriptors else []
        self.socket.sendmsg([data], [*rights, *more])

    def ask(self, kind, path, flags=0, number=0, *more, wait_s=60):
        """(result, what came with it, the descriptor or None); None: no answer came."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with here, there:
            self.send(REQUEST.pack(kind, flags, number if kind == LIST else image(), threading.get_native_id(), *self.key) + os.fsencode(path) + b'\0', [there.fileno()], *more)
            there.close()
            here.settimeout(wait_s * patience())
            data, rights, _, _ = here.recvmsg(8192, socket.CMSG_SPACE(8 * PASSED))
        if not data:
            return None
        passed = array.array('i', b''.join(part[2] for part in rights))
        result, size, *_ = ANSWER.unpack_from(data)
        self.t.check(len(passed) <= 1, f'{len(passed)} descriptors for {path}')
        return result, data[ANSWER.size:ANSWER.size + size], passed[0] if passed else None

    def refused(self, kind, path, flags=0, number=0):
        answer = self.ask(kind, path, flags, number)
        self.t.check(answer and answer[0] < 0 and answer[2] is None, f'{kind} {path!r} {flags:#o}: {answer}')


def descriptors_of(pid):
    return len(os.listdir(f'/proc/{pid}/fd'))


def still_answers(t, stranger, experiment):
    result, _, fd = stranger.ask(OPEN, 'log.xml', os.O_RDWR | os.O_APPEND)
    t.equal(result, 0, 'what may be asked for')
    t.equal(os.fstat(fd).st_ino, os.stat(experiment / 'log.xml').st_ino, 'the file')
    os.close(fd)


FILES = ('', '.', '..', '/', '/etc/passwd', '../treasure', '_f1.er', '_f1.er/..', '_f1.er/../log.xml', '_f1.er/../../treasure', './log.xml',
         'archives', 'archives/x', '_f1.er/archives', '_f1.er/log.xml/../..', '_../log.xml', '_f1.er//etc/passwd', 'broker', 'sums', 'notes',
         '_f1.er/treasure', '_link.er/log.xml', '_F.er/log.xml', 'log.xml/', 'x' * 639, '_' + 'x' * 600 + '.er/log.xml')
PROC = ('', '.', 'self', 'self/', 'self/mem', 'self/environ', 'self/exe', 'self/root', 'self/cwd', 'self/fd', 'self/fd/0', 'self/task',
        'self/task/1/stat', 'self/ns/mnt', 'self/root/etc/passwd', 'self/cwd/log.xml', 'self/../1/maps', 'self/task/../maps', '1/maps', '1/schedstat',
        '1/stat', 'thread-self/mem', 'thread-self/stat/..', 'thread-self/../../1/maps', '../etc/passwd', '/etc/passwd', 'sys/kernel/hostname', 'kmsg',
        '-1/stat', '99999999999/stat', 'self/task//stat')


@test
def questions_of_strangers(t):
    """Nothing but the experiment's own files, and what is the asker's own in /proc, is given away; no answer is more than a regular file."""
    treasure = t.directory / 'treasure'
    treasure.write_text('what is outside')
    with Recorded(t, t.target('places'), 'chroot', 'before') as run:
        founder, experiment = run.said_pid(), run.experiment
        stranger = Stranger(t, experiment, key_of(founder))
        still_answers(t, stranger, experiment)
        (experiment / 'dyntext').symlink_to(treasure)
        os.mkfifo(experiment / 'heaptrace')
        (experiment / 'iotrace').mkdir()
        os.link(treasure, experiment / 'synctrace')
        (experiment / '_link.er').symlink_to(t.directory)
        shutil.copy(experiment / 'log.xml', t.directory)
        for path in FILES:
            stranger.refused(OPEN, path, os.O_RDWR)
            stranger.refused(OPEN, path, os.O_RDWR | os.O_CREAT)
            stranger.refused(REMOVE, path)
            stranger.refused(STAT, path)
        for path in ('dyntext', 'heaptrace', 'iotrace', 'synctrace', '_link.er/log.xml'):
            stranger.refused(OPEN, path, os.O_RDWR)
        for flags in (os.O_TRUNC, os.O_DIRECTORY, os.O_PATH, os.O_TMPFILE | os.O_RDWR, os.O_ACCMODE, os.O_ASYNC, os.O_DIRECT, 1 << 30):
            stranger.refused(OPEN, 'log.xml', flags)
        for path in (*FILES[:6], *FILES[7:], 'x.er', '_x', '_x.er/y.er', '_X.er', '_/..er', '_link.er'):
            stranger.refused(MAKE, path)
        for path in PROC:
            stranger.refused(OPEN_PROC, path)
        for path in (f'{founder}/maps', f'{founder}/schedstat', f'{founder}/stat', f'self/task/{founder}/stat'):
            stranger.refused(OPEN_PROC, path)
        for path in ('self/root', 'self/cwd', 'self/exe', '1/exe', 'self/fd/../../1/exe', f'{founder}/exe', 'self/fd/x', 'self/ns/pid'):
            stranger.refused(READ_LINK, path)
        for path in ('self', 'self/root', '..', '1/task', 'self/fd/0', f'{founder}/task'):
            stranger.refused(STAT_PROC, path)
        t.equal(treasure.read_text(), 'what is outside', 'the file outside')
        t.equal(os.stat(treasure).st_nlink, 2, 'its names')
        what_is_its_own(t, stranger)
        for name in ('dyntext', 'heaptrace', 'synctrace', '_link.er'):
            (experiment / name).unlink()
        (experiment / 'iotrace').rmdir()
        status, _, err = run.end()
        t.equal(status, 5, f'status ({err})')
        t.equal(sorted(t.read(experiment)), ['', '_f1'], 'recorded')


def what_is_its_own(t, stranger):
    """The answers to what a collector asks for are those of the kernel."""
    _, _, fd = stranger.ask(OPEN_PROC, 'self/maps')
    with open(fd, encoding='utf-8') as maps:
        t.check(maps.read().split()[0] in open('/proc/self/maps', encoding='utf-8').read(), 'its own maps')
    own = threading.get_native_id()
    for path in ('thread-self/schedstat', f'{own}/schedstat', f'self/task/{own}/stat'):
        result, _, fd = stranger.ask(OPEN_PROC, path)
        t.equal(result, 0, path)
        t.check(stat.S_ISREG(os.fstat(fd).st_mode), f'{path} is a file')
        os.close(fd)
    t.equal(stranger.ask(READ_LINK, 'self')[1], str(os.getpid()).encode(), 'its number')
    t.equal(stranger.ask(READ_LINK, 'thread-self')[1], f'{os.getpid()}/task/{own}'.encode(), "its thread's")
    t.equal(stranger.ask(READ_LINK, 'self/ns/mnt')[1], os.readlink('/proc/self/ns/mnt').encode(), 'its mounts')
    tasks = stranger.ask(LIST, '')[1]
    t.equal(sorted(struct.unpack(f'<{len(tasks) // 4}i', tasks)), sorted(map(int, os.listdir('/proc/self/task'))), 'its threads')


@test
def strangers_who_lie(t):
    """Who asks is who made the socket pair, with the rights of then: another's is not taken, and another user gets what a program has that becomes it."""
    with Recorded(t, t.target('places'), 'chroot', 'before') as run:
        stranger = Stranger(t, run.experiment, key_of(run.said_pid()))
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        question = REQUEST.pack(OPEN_PROC, 0, image(), 0, *stranger.key) + b'self/maps\0'
        child = os.fork()
        if not child:  # the pair is its parent's
            stranger.send(question, [there.fileno()])
            os._exit(0)
        os.waitpid(child, 0)
        there.close()
        here.settimeout(60 * patience())
        t.equal(here.recv(100), b'', "an answer by another's socket pair")
        if t.as_root():
            lie = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack('iII', 1, 0, 0))
            t.equal(stranger.ask(OPEN_PROC, 'self/maps', 0, 0, lie), None, 'an answer to a lie')
            t.equal(told_to_nobody(Stranger(t, run.experiment)), str([None] * 4), 'what nobody is told')
            t.equal(told_to_nobody(stranger), str([-errno.EACCES, 0, -errno.EACCES, 0]), 'what nobody is told who knows the key')
        still_answers(t, stranger, run.experiment)
        t.equal(run.end()[0], 5, 'status')


def told_to_nobody(stranger):
    """Results for another user: of a file of root's, a new directory, a file that is there, and of what is its own."""
    questions = ((OPEN, 'log.xml', os.O_RDWR, 0), (MAKE, '_n1.er', 0, 0), (OPEN, 'stacks', os.O_RDWR | os.O_CREAT, 0),
                 (OPEN_PROC, 'self/statm', 0, 0))
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        os.write(there, repr([(stranger.ask(*question) or [None])[0] for question in questions]).encode())
        os._exit(0)
    os.close(there)
    os.waitpid(child, 0)
    with open(here, encoding='utf-8') as said:
        return said.read()


@test
def a_flood_of_questions(t):
    """What is no question, what comes with many descriptors, whose answers nobody reads: the launcher goes on, and keeps none of them."""
    with Recorded(t, t.target('places'), 'chroot', 'before') as run:
        stranger = Stranger(t, run.experiment, key_of(run.said_pid()))
        still_answers(t, stranger, run.experiment)
        usual = descriptors_of(run.launcher.pid)
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listing = REQUEST.pack(LIST, 0, 0, 0, *stranger.key) + b'\0'
        pipe, server = os.pipe(), socket.create_server(('127.0.0.1', 0))
        with open(t.directory / 'file', 'w+', encoding='utf-8') as file:
            for number in range(1000):
                stranger.send(listing, [there.fileno()])  # its answers fill the pair
                stranger.send(os.urandom(number % 900), [])
                stranger.send(listing, [])
                stranger.send(listing, [pipe[0], pipe[1], server.fileno(), file.fileno()] * 10)
                stranger.send(listing[:-1] + b'x' * 700, [file.fileno()])
                stranger.send(REQUEST.pack(number, -1, 2 ** 32 - 1, -1, *stranger.key) + b'\0', [there.fileno()])
        still_answers(t, stranger, run.experiment)
        t.check(descriptors_of(run.launcher.pid) <= usual + 4, f'{descriptors_of(run.launcher.pid)} descriptors, {usual} before')
        for descriptor in (*pipe, here.detach(), there.detach(), server.detach()):
            os.close(descriptor)
        status, _, err = run.end()
        t.equal(status, 5, f'status ({err})')
        t.equal(sorted(t.read(run.experiment)), ['', '_f1'], 'recorded')


@test
def another_program_meanwhile(t):
    """
    A process that asks for what is its own, and then executes a program that its user may not look into: it is not told of that one. Where it goes on
    as it was, but not dumpable, since it gave up root, it is told.
    """
    t.need_root()
    t.directory.chmod(0o755)
    program = t.directory / 'unreadable'
    shutil.copy(t.need('sleep'), program)
    program.chmod(0o111)
    with Recorded(t, t.target('places'), 'chroot', 'before') as run:
        stranger = Stranger(t, run.experiment, key_of(run.said_pid()))
        still_answers(t, stranger, run.experiment)
        for place, executed, expected in (image, None, 0), (image, program, -errno.EACCES), (lambda: 0, program, -errno.EACCES):
            t.equal(told_to_nobody_after(t, run.launcher, stranger, place, executed), [expected] * 2, f'{executed}: its maps and the name of its input')
        t.equal(run.end()[0], 5, 'status')


def told_to_nobody_after(t, launcher, stranger, place, program):
    """Results of two questions that a process of another user has asked before it executed `program`, if any: the launcher sees them then."""
    control, other = socket.socketpair()
    launcher.send_signal(signal.SIGSTOP)
    while t.run('sh', '-c', f'cut -d" " -f3 /proc/{launcher.pid}/stat').out.strip() != 'T':
        time.sleep(0.01)
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        where = place()  # not dumpable afterwards
        os.setresuid(65534, 65534, 65534)
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for kind, path in (OPEN_PROC, 'self/maps'), (READ_LINK, 'self/fd/0'):
            stranger.send(REQUEST.pack(kind, 0, where, threading.get_native_id(), *stranger.key) + path.encode() + b'\0', [there.fileno()])
        socket.send_fds(other, [b'x'], [here.fileno()])
        if program:
            os.execv(program, [program, '600'])
        signal.pause()
    try:
        _, (fd,), _, _ = socket.recv_fds(control, 1, 1)
        while program and os.readlink(f'/proc/{child}/exe') != str(program):
            time.sleep(0.01)
        launcher.send_signal(signal.SIGCONT)
        with socket.socket(fileno=fd) as here:
            here.settimeout(60 * patience())
            return [ANSWER.unpack_from(here.recv(8192))[0] for _ in range(2)]
    finally:
        launcher.send_signal(signal.SIGCONT)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        control.close()
        other.close()


def linger_in_flight():
    """A socket pair's end in which a connection lies whose last close() waits for an hour; and what keeps the other side of that busy."""
    server = socket.create_server(('127.0.0.1', 0))
    here = socket.create_connection(server.getsockname())
    there, _ = server.accept()
    there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    here.setblocking(False)
    waits = time.monotonic() + 0.2
    while time.monotonic() < waits:  # some of it goes out late
        try:
            here.send(b'x' * 65536)
        except BlockingIOError:
            time.sleep(0.01)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 3600))
    carrier, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    carrier.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [here.fileno()]))])
    os.close(here.detach())
    carrier.close()
    return end, (server, there)


@contextlib.contextmanager
def lingering(stranger, times, goes_on=False):
    """
    A process that sends the launcher what lingers. It waits itself where the launcher does not take it, or has closed it first; with more than
    one it goes on meanwhile, until nobody listens.
    """
    said, says = os.pipe()
    child = os.fork()
    if not child:
        kept = []

        def send():
            end, more = linger_in_flight()
            kept.append(more)
            os.write(says, b'.')
            with contextlib.suppress(OSError):  # nobody listens any more
                stranger.send(REQUEST.pack(OPEN, 0, 0, 0, *stranger.key) + b'log.xml\0', [end.fileno()])
            os.close(end.detach())
        for _ in range(times):
            sender = threading.Thread(target=send, daemon=True)
            sender.start()
            sender.join(0.3 if goes_on else None)
        signal.pause()
    try:
        yield said
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(said)
        os.close(says)


@test
def strangers_wait_for_what_they_send(t):
    """Who does not know the key closes itself what it sends, however long that lasts: the launcher answers on, and what is in the jail is recorded."""
    with Recorded(t, t.target('places'), 'chroot', 'before') as run:
        stranger = Stranger(t, run.experiment, key_of(run.said_pid()))
        still_answers(t, stranger, run.experiment)
        t.equal(Stranger(t, run.experiment).ask(OPEN, 'log.xml', os.O_RDONLY), None, 'the answer to a stranger')
        with lingering(Stranger(t, run.experiment), 20) as said:
            os.read(said, 1)
            t.check(not select.select([said], [], [], 2)[0], 'the stranger does not wait for what it has sent')
            still_answers(t, stranger, run.experiment)
            status, _, err = run.end()
        t.equal(status, 5, f'status ({err})')
        t.equal(sorted(t.read(run.experiment)), ['', '_f1'], 'recorded')


@test
def what_lingers_with_the_key(t):
    """One question that does not end is answered around; where there are too many nobody listens, those who ask know at once, and it is said."""
    for times, recorded in (1, ['', '_f1']), (200, ['']):
        with Recorded(t, t.target('places'), 'chroot', 'before') as run:
            stranger = Stranger(t, run.experiment, key_of(run.said_pid()))
            still_answers(t, stranger, run.experiment)
            with lingering(stranger, times, goes_on=True) as said:
                for _ in range(min(times, 2)):
                    os.read(said, 1)
                until = time.monotonic() + 60 * patience()
                while times > 1 and asks(stranger) and time.monotonic() < until:
                    time.sleep(0.05)
                if times == 1:
                    time.sleep(0.5)
                    still_answers(t, stranger, run.experiment)
                status, _, err = run.end()
            t.equal(status, 5, f'{times}: status ({err})')
            t.equal(sorted(t.read(run.experiment)), recorded, f'{times}: recorded')
            told = 'do not end' in err, 'do not end' in str(t.print(run.experiment, '-header'))
            t.equal(told, (times > 1, times > 1), f'{times}: whether it is said ({err})')


def asks(stranger):
    """Whether there is somebody who answers."""
    try:
        stranger.ask(OPEN, 'log.xml', os.O_RDONLY, wait_s=1)
    except TimeoutError:
        pass
    except BrokenPipeError:
        return False
    return True


@test
def a_socket_that_is_left(t):
    """Where the launcher was killed its socket stays: it is no part of a copy, and in nobody's way."""
    with Recorded(t, t.target('places'), 'chroot', 'before') as run:
        pid = run.said_pid()
        run.launcher.kill()
        run.launcher.stdin.close()
        while run.launcher.stdout.readline():
            pass
        while os.path.exists(f'/proc/{pid}'):
            time.sleep(0.01)
        t.check((run.experiment / 'broker').is_socket(), 'no socket is left')
        result = t.run(t.helio, 'cp', run.experiment, t.directory / 'copy.er')
        t.equal(result.status, 0, f'cp ({result.err})')
        t.equal(sorted(os.listdir(t.directory / 'copy.er')), sorted(set(os.listdir(run.experiment)) - {'broker'}), 'what is in the copy')
        t.print(run.experiment, '-functions')
        t.equal(t.run(t.helio, 'rm', run.experiment).status, 0, 'rm')
