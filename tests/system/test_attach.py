# SPDX-License-Identifier: Apache-2.0
"""
`helio attach`: programs that run already.

What the program did meanwhile is known from the kernel's clock of its CPU time, read
from outside before and after, from what it counted itself, and from its output, which must
be that of a run without us.
"""
import os
import pathlib
import re
import signal
import struct
import subprocess
import time

from harness import is_root, patience, test
from test_code import build

CHI_SQUARE_3_001 = 16.27

REAL_TIME_SIGNALS = (1 << 64) - (1 << 33)


class Program:
    """A program in the background that says `ready` when it runs, and takes commands."""

    def __init__(self, t, *words, ready='ready', **more):
        self.t = t
        self.process = subprocess.Popen([str(w) for w in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=t.directory, **more)
        self.pid = self.process.pid
        if ready is not None:
            t.equal(self.process.stdout.readline().strip(), ready, 'first line')
        self.threads = set(os.listdir(f'/proc/{self.pid}/task'))
        self.single = len(self.threads) == 1

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()

    def say(self, command):
        self.process.stdin.write(command)
        self.process.stdin.flush()

    def end(self, command='q'):
        """Its exit status and the rest of its output."""
        out, _ = self.process.communicate(command, timeout=60 * patience())
        return self.process.returncode, out

    def cpu(self):
        """CPU time in seconds, by the kernel; of the process, which our threads are part of, unless it had one thread."""
        if self.single:
            with open(f'/proc/{self.pid}/task/{self.pid}/schedstat') as file:
                return int(file.read().split()[0]) / 1e9
        return time.clock_gettime((~self.pid << 3) | 2)

    def cpu_of_collector(self):
        """CPU time in seconds of the collector's threads: begun since, with all signals blocked."""
        total = 0
        for task in pathlib.Path(f'/proc/{self.pid}/task').iterdir():
            try:
                blocked = int(re.search(r'SigBlk:\s*(\w+)', (task / 'status').read_text(errors='replace')).group(1), 16)
                if task.name not in self.threads and not self.single and blocked & REAL_TIME_SIGNALS == REAL_TIME_SIGNALS:
                    total += int((task / 'schedstat').read_text().split()[0]) / 1e9
            except (FileNotFoundError, ProcessLookupError):
                pass  # a thread of the program's that has ended
        return total

    def work(self, seconds):
        """Waits until it has used so much more CPU time."""
        end = self.cpu() + seconds
        while self.cpu() < end:
            time.sleep(0.01)

    def stop(self):
        """Stops it, and waits until it is."""
        os.kill(self.pid, signal.SIGSTOP)
        while not re.search(r'^State:\s*T', pathlib.Path(f'/proc/{self.pid}/status').read_text(), re.M):
            time.sleep(0.01)

    def caught(self):
        """The signals that it handles, as a mask."""
        with open(f'/proc/{self.pid}/status') as status:
            return int(re.search(r'SigCgt:\s*(\w+)', status.read()).group(1), 16)


class Attached:
    """helio attach at work, on programs; ended by Ctrl-C, or with them."""

    def __init__(self, t, *programs, engine=None, options=()):
        self.t, self.program = t, programs[0]
        self.experiment = t.directory / f'attach.{len(list(t.directory.glob("attach.*.er"))) + 1}.er'
        words = [t.helio, 'attach', *(['--engine', engine] if engine else []), *options, '-o', self.experiment]
        self.most = -self.program.cpu()
        self.process = subprocess.Popen([str(w) for w in words] + [str(p.pid) for p in programs], cwd=t.directory,
                                        stderr=subprocess.PIPE, text=True)
        for _ in programs:
            line = self.process.stderr.readline()
            t.check('recording' in line, f'instead of "recording": {line}')
        self.least = -self.program.cpu()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()

    def end(self, interrupt=True):
        """What it said. The program's CPU time while it was recorded lies between `least` and `most`."""
        if interrupt:
            self.least += self.program.cpu() - self.program.cpu_of_collector()
            self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60 * patience())
        if interrupt:
            self.most += self.program.cpu()
        self.t.equal(self.process.returncode, 0, f'status of helio attach ({said})')
        return said

    def check_cpu(self, recorded):
        self.t.within(0.95 * self.least <= recorded <= 1.01 * self.most + 0.005,
                      f'{recorded} s of CPU recorded, not within {self.least} .. {self.most}')


def attach(t, program, *options, seconds='1s', engine=None):
    """helio attach for a while; the experiment."""
    experiment = t.directory / f'attach.{len(list(t.directory.glob("attach.*.er"))) + 1}.er'
    words = ['--engine', engine] if engine else []
    result = t.run(t.helio, 'attach', '--for', seconds, '-o', experiment, *words, *options, program.pid)
    t.equal(result.status, 0, f'status of helio attach ({result.err.strip()})')
    return experiment


def read(t, experiment, engine=None):
    process = t.read(experiment)['']
    if engine:
        t.equal(process['collector']['engine'], engine, 'engine')
    return process


@test(alone=True, engines=True)
def shares(t, engine):
    """A program that never waits: it is interrupted at work, and its shares are right."""
    with Program(t, t.target('shares'), '2s', ready=None) as program:
        program.work(0.2)
        with Attached(t, program, engine=engine, options=['-p', 'hi']) as attached:
            program.work(1.2)
            attached.end()
        status, out = program.end('')
    t.equal(status, 0, 'exit status')
    truth = dict(line.split() for line in out.splitlines())
    rows = t.functions(attached.experiment, 'e.totalcpu')
    values = {name: rows[name]['e.totalcpu'] for name in 'abcd'}
    total = sum(values.values())
    attached.check_cpu(rows['<Total>']['e.totalcpu'])
    t.ratio(total, rows['<Total>']['e.totalcpu'], 0.8, 1, 'a+b+c+d')  # the rest reads the clock
    count = total / 0.000997
    distance = sum(count * (values[n] / total - float(truth[f'{n}.share'])) ** 2 / float(truth[f'{n}.share'])
                   for n in 'abcd')
    # the shares of the part that was recorded differ from those of the whole run
    t.within(distance < 4 * CHI_SQUARE_3_001, f'shares {values} against {truth}: chi-square {distance:.2f}')
    read(t, attached.experiment, engine)


@test(alone=True, engines=True)
def threads(t, engine):
    """Those that run already, and those that begin later; nothing is left behind."""
    with Program(t, t.target('late'), 'poll') as program:
        signals = program.caught()
        with Attached(t, program, engine=engine) as attached:
            program.work(0.1)
            t.check(program.caught() != signals, 'no signal is taken')
            program.say('tt')
            program.work(0.2)
            said = attached.end()
        t.check('next: helio print' in said, f'no summary: {said}')
        t.equal(program.caught(), signals, f'signals with a handler ({said})')
        status, out = program.end()
    t.equal((status, out), (0, 'interrupted 0\ntoo_short 0\n'), 'the program')
    process = read(t, attached.experiment, engine)
    t.within(len(process['threads']) >= 5, f'{len(process["threads"])} threads')
    rows = t.functions(attached.experiment, 'i.totalcpu', 'i.total')
    total = rows['<Total>']['i.totalcpu']
    t.within(rows['early']['i.totalcpu'] > 0.2 * total and rows['later']['i.totalcpu'] > 0.1 * total, f'{rows}')
    attached.check_cpu(rows['<Total>']['i.totalcpu'])
    # the main thread waits in poll all the time, the others in nanosleep for most of theirs
    t.near(rows['poll']['i.total'], process['threads'][0]['life'], 'poll', 0.1)
    naps = rows['nap']['i.total'] / sum(thread['life'] for thread in process['threads'][1:])
    t.within(naps > 0.2, f'{naps} of the lives are naps')


WAITS = ('poll', 'epoll', 'select', 'read', 'nanosleep', 'futex', 'sigtimedwait', 'work')


@test(engines=True)
def no_wait_is_disturbed(t, engine):
    for call in WAITS:
        with Program(t, t.target('late'), call) as program:
            for _ in range(2):
                attach(t, program, '-p', 'hi', engine=engine, seconds='120ms')
            status, out = program.end()
        t.equal((status, out), (0, 'interrupted 0\ntoo_short 0\n'), f'{engine}, {call}')


TIMED = r"""
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
enum { SPAN_S = 300 };
static struct timespec later(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += SPAN_S;
	return time;
}
static NOINLINE void by_condition(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec end = later();
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &end);
	pthread_mutex_unlock(&mutex);
}
static NOINLINE void by_semaphore(void)
{
	sem_t semaphore;
	struct timespec end = later();
	sem_init(&semaphore, 0, 0);
	while (sem_timedwait(&semaphore, &end))
		;
}
static NOINLINE void by_number(void)
{
	static int word;
	struct timespec span = {SPAN_S, 0};
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0);
	word++;
}
static NOINLINE void by_sleep(void)
{
	struct timespec span = {SPAN_S, 0};
	while (nanosleep(&span, NULL))
		;
}
static NOINLINE void by_poll(void)
{
	static struct pollfd none = {.fd = -1};
	while (poll(&none, 1, SPAN_S * 1000))
		;
}
static void (*const waits[])(void) = {by_condition, by_semaphore, by_number, by_sleep, by_poll};
static void *run(void *wait)
{
	(*(void (*const *)(void))wait)();
	return NULL;
}
int main(void)
{
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, run, (void *)&waits[i]);
	}
	puts("ready");
	fflush(stdout);
	return getchar() == EOF;
}
"""


def wait_until_all_wait(pid):
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        while not re.search(r'^State:\s*S', (task / 'status').read_text(), re.M):
            time.sleep(0.01)


@test(engines=True)
def timed_waits_keep_their_kind(t, engine):
    """The kernel goes on with a wait that attaching met by a call of another number: the wait is of the same kind as before."""
    program = build(t, 'timed', ('timed.c', TIMED), flags=('-O1', '-g', '-pthread'))
    with Program(t, program) as running:
        wait_until_all_wait(running.pid)
        experiment = attach(t, running, seconds='400ms', engine=engine)
        running.end()
    rows = t.functions(experiment, 'i.lock', 'i.sleep')
    for name, kind, other in (*((f'by_{name}', 'i.lock', 'i.sleep') for name in ('condition', 'semaphore', 'number')),
                              *((f'by_{name}', 'i.sleep', 'i.lock') for name in ('sleep', 'poll'))):
        t.check(rows[name][kind] > 0 and rows[name][other] == 0, f'{name}: {rows[name]}')


def masks(pid):
    """What the kernel has blocked in each thread."""
    found = {}
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        try:
            found[task.name] = int(re.search(r'SigBlk:\s*(\w+)', (task / 'status').read_text(errors='replace')).group(1), 16)
        except (FileNotFoundError, ProcessLookupError):
            pass  # one of the collector's, which has ended meanwhile
    return found


@test(engines=True)
def signals_are_blocked(t, engine):
    """Threads that block all signals are recorded, with their stacks; they see nothing of ours, and get their masks back."""
    with Program(t, t.target('masked')) as program:
        program.work(0.2)
        worker = sorted(masks(program.pid), key=int)[1]
        before = masks(program.pid)[worker]
        for _ in range(2):
            with Attached(t, program, engine=engine, options=['-p', '1m']) as attached:
                program.work(1)
                attached.end()
            t.equal(masks(program.pid)[worker], before, 'what is blocked afterwards')
        status, out = program.end()
    t.equal((status, out), (0, '5: taken 5, sent by kill 1\n63: taken 63, sent by kill 1\nwrong_masks 0\nforeign 0\ninterrupted 0\n'), 'the program')
    rows = t.functions(attached.experiment, 'i.totalcpu')
    total = rows['<Total>']['i.totalcpu']
    attached.check_cpu(total)
    for name in ('hot_blocked', 'hot_open', 'change'):
        t.within(rows.get(name, {'i.totalcpu': 0})['i.totalcpu'] > 0, f'{name}: {rows}')
    # what waits by hand most of the time may have none
    t.within(rows.get('<no call stack recorded>', {'i.totalcpu': 0})['i.totalcpu'] < 0.1 * total, f'{rows}')


def code_of_libc(pid):
    with open(f'/proc/{pid}/maps', encoding='ascii') as maps, open(f'/proc/{pid}/mem', 'rb') as memory:
        start, end = (int(at, 16) for at in next(line for line in maps if 'r-xp' in line and 'libc.so' in line).split()[0].split('-'))
        memory.seek(start)
        return memory.read(end - start)


def wait_for_log(t, experiment, words):
    for _ in range(round(200 * patience())):
        if words in (experiment / 'log.xml').read_text():
            return
        time.sleep(0.1)
    t.check(False, f'the log does not say "{words}"')


@test(engines=True)
def births(t, engine):
    """Threads begin and end at each moment of an attach, with masks and data of their own; nothing of ours stays."""
    for how in ('open', 'blocked'):
        with Program(t, t.target('births'), how) as program:
            before = code_of_libc(program.pid)
            for interval in ('10', '1', '100u', 'killed', '10'):
                with Attached(t, program, engine=engine, options=['-p', '1' if interval == 'killed' else interval]) as attached:
                    program.work(0.1)
                    if interval != 'killed':
                        attached.end()
                if interval == 'killed':
                    wait_for_log(t, attached.experiment, 'was killed')
            t.check(code_of_libc(program.pid) == before, f'{how}: code of the C library has been changed')
            t.equal(program.end('\n'), (0, 'unborn 0 undestroyed 0 wrong 0 wrong_masks 0\n'), how)
        t.within(len(read(t, attached.experiment, engine)['threads']) > 10, f'{how}: threads')


TAKERS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
static volatile int over;
static volatile unsigned long sink;
static double cpu(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
#define WORK(name) \
	static NOINLINE void name(void) \
	{ \
		for (double end = cpu() + 0.003; cpu() < end;) \
			for (int i = 0; i < 5000; i++) \
				sink = sink * 3 + 1; \
	}
WORK(first) WORK(second) WORK(third) WORK(fourth)
static void *take(void *arg)
{
	sigset_t all;
	sigfillset(&all);
	while (!over) {
		first(), second(), third(), fourth();
		int taken = sigtimedwait(&all, NULL, &(struct timespec){0, 8000000});
		if (taken > 0)
			printf("taken %d\n", taken);
	}
	return arg;
}
int main(void)
{
	pthread_t threads[2];
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take, NULL);
	puts("ready");
	fflush(stdout);
	getchar();
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


@test(engines=True)
def signals_are_taken_by_hand(t, engine):
    """
    Of threads that block all signals, and wait for some by hand now and then, four functions compute for equal times: none has more
    than its share, and where helio cannot tell it says so.
    """
    with Program(t, build(t, 'takers', ('takers.c', TAKERS), flags=('-O1', '-g', '-pthread'))) as program:
        with Attached(t, program, engine=engine) as attached:
            program.work(1)
            attached.end()
        t.equal(program.end(), (0, ''), 'the program')
    rows = t.functions(attached.experiment, 'i.totalcpu')
    total = rows['<Total>']['i.totalcpu']
    attached.check_cpu(total)
    for name in ('first', 'second', 'third', 'fourth'):
        t.within(rows.get(name, {'i.totalcpu': 0})['i.totalcpu'] < 0.32 * total, f'{name}: {rows}')
    nowhere = rows.get('<no call stack recorded>', {'i.totalcpu': 0})['i.totalcpu']
    said = t.run(t.helio, 'print', '-functions', attached.experiment).err
    t.within('got no ticks' in said if nowhere > 0.3 * total else True, f'{nowhere} of {total} s without a call stack: {said}')
    t.within(engine == 'monitor' or nowhere < 0.1 * total, f'{rows}')


@test(engines=True)
def ends_by_number(t, engine):
    """A process whose last thread ends past the C library ends, though a thread of the collector's is left."""
    with Program(t, t.target('ends'), 'raw_exit_later') as program, Attached(t, program, engine=engine) as attached:
        status, out = program.end('\n')
        t.equal((status, 'worked' in out), (27, True), 'the program')
        attached.end(interrupt=False)


@test
def over_and_over(t):
    """In all threads the allocator's locks are held most of the time."""
    with Program(t, t.target('late'), 'malloc') as program:
        program.say('tt')
        seen = [0, 0]
        for i in range(20):
            experiment = attach(t, program, '-p', 'hi', engine=('perf', 'monitor')[i % 2], seconds='30ms')
            seen[i % 2] += t.read(experiment)['']['cpu']
        t.within(min(seen) > 0, f'{seen} s of CPU in all')
        status, out = program.end()
    t.equal((status, out.splitlines()[0]), (0, 'interrupted 0'), 'the program')


@test
def ends_meanwhile(t):
    """By itself, in order; and killed."""
    for how in ('q', 'kill'):
        with Program(t, t.target('late'), 'poll') as program:
            attached = Attached(t, program)
            program.work(0.1)
            if how == 'kill':
                program.process.kill()
            else:
                status, out = program.end()
                t.equal((status, out), (0, 'interrupted 0\ntoo_short 0\n'), 'the program')
            attached.end(interrupt=False)
        rows = t.functions(attached.experiment, 'i.totalcpu')
        t.within(rows['early']['i.totalcpu'] > 0, f'{how}: {rows}')


@test(engines=True)
def stopped_meanwhile(t, engine):
    """A stopped program is left when it goes on."""
    with Program(t, t.target('late'), 'work') as program:
        with Attached(t, program, engine=engine) as attached:
            program.work(0.1)
            program.stop()
            attached.process.send_signal(signal.SIGINT)
            t.check('waiting until it goes on' in attached.process.stderr.readline(), 'no message')
            os.kill(program.pid, signal.SIGCONT)
            attached.end(interrupt=False)
        status, out = program.end()
    t.equal((status, out.splitlines()[0]), (0, 'interrupted 0'), 'the program')
    t.within(t.functions(attached.experiment, 'i.totalcpu').get('early', {}).get('i.totalcpu', 0) > 0, 'no CPU time')


@test(engines=True)
def signal_stacks_are_shared(t, engine):
    """All threads have one alternate signal stack, as those of varnishd."""
    with Program(t, t.target('altstacks'), 'shared', '1.5') as program:
        with Attached(t, program, engine=engine):
            t.equal(program.end(''), (3, 'done\n'), 'the program')


@test
def of_another_user(t):
    """Root records a program of somebody else, who writes into an experiment that root has made."""
    t.need_root()
    t.directory.chmod(0o755)
    with Program(t, t.need('setpriv'), '--reuid', '65534', '--regid', '65534', '--clear-groups', t.target('late')) as program:
        with Attached(t, program) as attached:
            program.work(0.05)
            attached.end()
        t.equal(program.end(), (0, 'interrupted 0\ntoo_short 0\n'), 'the program')
    t.equal(attached.experiment.stat().st_uid, 65534, 'owner of the experiment')
    t.within(t.functions(attached.experiment, 'i.totalcpu').get('early', {}).get('i.totalcpu', 0) > 0, 'no CPU time')


@test
def attacher_is_killed(t):
    """The program goes on, recording ends, and one can attach again."""
    with Program(t, t.target('late'), 'nanosleep') as program:
        with Attached(t, program) as attached:
            program.work(0.02)
        wait_for_log(t, attached.experiment, 'was killed')
        attach(t, program, seconds='200ms')
        status, out = program.end()
    t.equal((status, out), (0, 'interrupted 0\ntoo_short 0\n'), 'the program')


@test
def children_live(t):
    """They are not recorded, so nothing of ours can fire in them, whatever they do to their signals."""
    script = 'echo ready; read x; n=0; for i in $(seq 100); do /bin/true || n=$((n+1)); (exit 0) || n=$((n+1)); done; echo $n $i'
    with Program(t, t.need('bash'), '-c', script) as program:
        attached = Attached(t, program, options=['-p', '100u'])
        status, out = program.end('\n')
        attached.end(interrupt=False)
    t.equal((status, out), (0, '0 100\n'), 'children that failed, and how many')
    t.equal(set(t.read(attached.experiment)), {''}, 'experiments')


@test(engines=True)
def exec_is_survived(t, engine):
    """An event that fires within exec would kill the new program: here every tenth, but for our jump."""
    script = 'echo ready; read x; for i in 1 2 3 4 5; do :; done; exec echo done'
    programs = [Program(t, t.need('bash'), '-c', script) for _ in range(24)]
    attached = Attached(t, *programs, engine=engine, options=['-p', '100u'])
    for program in programs:
        t.equal(program.end('\n'), (0, 'done\n'), 'the new program')
    attached.end(interrupt=False)
    events = t.read(attached.experiment.with_suffix(f'.{programs[0].pid}.er'))['']['log_events']
    t.check('exec' in [event['kind'] for event in events], 'the log does not know the exec')


@test(engines=True)
def exec_that_is_under_way(t, engine):
    """
    A thread that is in execve already comes by no jump of ours, and its events would go with it: here they killed every new
    program under the perf engine. Nothing is recorded then.
    """
    with Program(t, t.target('slowexec'), str(round(4000 * min(patience(), 3))), ready=None) as program:
        if program.process.stdout.readline() != 'ready\n':
            raise Skip('the kernel does not let this user handle page faults of the kernel (userfaultfd)')
        experiment = t.directory / 'attach.er'
        result = t.run(t.helio, 'attach', '--engine', engine, '-p', '10u', '-o', experiment, program.pid)
        t.equal(program.end(''), (0, 'done\n'), f'the new program (helio attach: {result.err.strip()})')
        t.check(result.status != 0 and not experiment.exists(), f'status {result.status} of helio attach: {result.err.strip()}')


@test(engines=True)
def exec_at_any_moment(t, engine):
    """While the recording begins, or is being ended: of 90 attaches some killed the program, by SIGTRAP or SIGSEGV."""
    script = t.directory / 'again'
    script.write_text('i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec sh "$0"\n')
    for words in ('sh', script), (t.target('cutlives'), 'exec', '100000', '2', '5'):
        with Program(t, *words, ready=None) as program:
            for number in range(30):
                experiment = t.directory / f'{pathlib.Path(words[0]).name}.{number}.er'
                t.run(t.helio, 'attach', '--engine', engine, '-p', '100u', '--for', '20ms', '-o', experiment, program.pid)
                t.equal(program.process.poll(), None, f'{words[0]}, status after {number + 1} attaches')


PYTHON = '''
import hashlib, sys, threading
print('ready', flush=True)
def work(seed, out):
    value = str(seed)
    for i in range(250000):
        value = hashlib.md5(value.encode()).hexdigest()
    out[seed] = value
out = {}
threads = [threading.Thread(target=work, args=(n, out)) for n in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(out.items()))
'''

SQL = '''.print ready
create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
insert into t select i, hex(i * 7919 % 65536) from n;
create index x on t(b);
select count(*), sum(length(b)), max(a) from t where b between '3' and '37';
'''


@test
def python(t):
    real_program(t, [t.need('python3'), '-c', PYTHON], '')


@test
def sqlite(t):
    real_program(t, [t.need('sqlite3')], SQL)


def real_program(t, words, stdin):
    bare = t.run(*words, stdin=stdin)
    with Program(t, *words, ready=None) as program:
        if stdin:
            program.say(stdin.splitlines()[0] + '\n')
        t.equal(program.process.stdout.readline(), 'ready\n', 'first line')
        attached = Attached(t, program, options=['-p', 'hi'])
        status, out = program.end('\n'.join(stdin.splitlines()[1:]) + '\n')
        attached.end(interrupt=False)
    t.equal((status, 'ready\n' + out), (bare.status, bare.out), 'the program')
    t.within(t.functions(attached.experiment, 'i.totalcpu')['<Total>']['i.totalcpu'] > 0.1, 'no CPU time')


@test
def a_tree(t):
    """--tree: what the process has started before."""
    script = f'{t.target("late")} work < /dev/zero & echo $!; wait'
    with Program(t, t.need('bash'), '-c', script, ready=None) as program:
        child = int(min(program.process.stdout.readline() for _ in range(2)))  # the other line is "ready"
        experiment = attach(t, program, '--tree', seconds='500ms')
        os.kill(child, signal.SIGKILL)
    family = t.read(experiment)
    t.equal(set(family), {'', '_f1'}, 'experiments')
    t.equal(family['_f1']['process']['pid'], str(child), 'process of the child')
    t.within(t.functions(experiment, 'i.totalcpu').get('early', {}).get('i.totalcpu', 0) > 0, 'no CPU time of the child')


@test(engines=True)
def events_of_a_killed_program(t, engine):
    """The last message has as many as its files: a program that is killed cannot write a count into its log."""
    with Program(t, t.target('shares'), '60s', ready=None) as program:
        helio = subprocess.Popen([t.helio, 'attach', '--engine', engine, '-o', 'a.er', str(program.pid)], cwd=t.directory,
                                 stderr=subprocess.PIPE, text=True)
        t.check('recording' in helio.stderr.readline(), 'no message')
        time.sleep(0.5)
        os.kill(program.pid, signal.SIGKILL)
        said = helio.communicate(timeout=60)[1]
    events = t.read(t.directory / 'a.er')['']['events']
    t.within(events > 0, 'no events')
    t.check(f' {events} events, ' in said, f'not {events} events: {said}')


@test
def several(t):
    with Program(t, t.target('late')) as one, Program(t, t.target('late')) as other:
        result = t.run(t.helio, 'attach', '--for', '300ms', '-o', 'a.er', one.pid, other.pid)
        t.equal(result.status, 0, f'status ({result.err})')
        for program in (one, other):
            t.equal(t.read(t.directory / f'a.{program.pid}.er')['']['process']['pid'], str(program.pid), 'process')
            t.equal(program.end()[1], 'interrupted 0\ntoo_short 0\n', 'the program')


@test
def by_collect(t):
    """-P of the collect commands."""
    with Program(t, t.target('late')) as program:
        helio = subprocess.Popen([t.helio, 'collect', '-P', str(program.pid), '-o', 'a.er'], cwd=t.directory,
                                 stderr=subprocess.PIPE, text=True)
        t.check('recording' in helio.stderr.readline(), 'no message')
        status, _ = program.end()
        t.equal((status, helio.wait(timeout=20 * patience())), (0, 0), 'status')
    t.equal(t.read(t.directory / 'a.er')['']['process']['pid'], str(program.pid), 'process')
    result = t.run(t.helio, 'collect', '-P', '1', 'true')
    t.check(result.status == 1 and "'true'" in result.err, result.err)


@test
def options_for_others(t):
    for words in (['-l', 'USR1'], ['-y', 'USR1'], ['-g', 'a.erg'], ['-A', 'copy'], ['-n'], ['-F', 'on'], ['--for', '0'], ['--for', 'x']):
        result = t.run(t.helio, 'attach', *words, '4194303')
        t.check(result.status == 1 and words[0] in result.err, f'{words}: {result.status} {result.err}')
    with Program(t, t.target('late')) as program:  # tracing and counters need the program's start: it is not touched
        maps = f'/proc/{program.pid}/maps'
        for words in (['-H', 'on'], ['-s', 'on'], ['-i', 'on'], ['-h', 'page-faults']):
            result = t.run(t.helio, 'attach', *words, '--for', '100ms', program.pid)
            t.check(result.status == 1 and f'{words[0]} is for programs that helio collect starts' in result.err, f'{words}: {result.err}')
            t.check('libhelio' not in open(maps, encoding='ascii').read() and not list(t.directory.glob('*.er')), f'{words}: touched')
    for words in (['-p'], ['--for'], ['4194303', '-o']):  # at the end of the line: what the environment holds is no argument
        result = t.run(t.helio, 'attach', *words, env={**os.environ, 'A': 'off'})
        t.check(result.status == 1 and f'{words[-1]} requires an argument' in result.err, f'{words}: {result.status} {result.err}')
    t.check(t.run(t.helio, 'attach', '-h').out.startswith('Usage: helio attach'), '-h')
    result = t.run(t.helio, 'attach', '--for', '1s')
    t.check(result.status == 1 and 'no process given' in result.err, f'{result.status} {result.err}')


@test
def options_anywhere(t):
    """Process ids in front of options, behind them and between them, where options take words that could be ids."""
    with Program(t, t.target('late')) as one, Program(t, t.target('late')) as other:
        first, second = str(one.pid), str(other.pid)
        options = ['--for', '100ms', '-S', '1', '-p', '1m', '--engine=monitor', '-q']
        for number, words in enumerate(([first, *options], [*options, first], [*options[:2], first, *options[2:]], [*options[:4], first, *options[4:]],
                                        [*options[:2], first, *options[2:], second], [first, *options[:4], second, *options[4:]], [*options, '--', first])):
            name = f'anywhere.{number}.er'
            result = t.run(t.helio, 'attach', '-o', name, *words, cwd=t.directory)
            t.equal(result.status, 0, f'{words}: {result.err}')
            names = [name] if second not in words else [f'anywhere.{number}.{pid}.er' for pid in (first, second)]
            t.equal(sorted(path.name for path in t.directory.glob(f'anywhere.{number}.*er')), sorted(names), f'{words}')


@test
def header(t):
    with Program(t, t.target('late')) as program:
        experiment = attach(t, program, seconds='100ms')
    text = t.run(t.helio, 'print', '-header', experiment).out
    t.check(re.search(r'Attached to a process that had run for \d+\.\d+ secs', text), text)
    t.check('late' in text and f'pid {program.pid}' in text, text)


# What cannot be

TINY_32 = struct.pack('<16sHHIIIIIHHHHHH', b'\x7fELF\x01\x01\x01', 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0) + \
    struct.pack('<IIIIIIII', 1, 0, 0x8048000, 0x8048000, 94, 94, 5, 4096) + b'\xb8\x1d\0\0\0\xcd\x80\xeb\xf7\x90'


def refused(t, pid, status, *words, prefix=()):
    result = t.run(*prefix, t.helio, 'attach', '--for', '100ms', pid)
    t.equal(result.status, status, f'status ({result.err.strip()})')
    t.check(all(word in result.err for word in words), f'"{result.err.strip()}" does not say {words}')
    t.equal(list(t.directory.glob('*.er')), [], 'experiments')


def kernel_threads():
    """Processes without an address space."""
    return [int(path.parent.name) for path in pathlib.Path('/proc').glob('[0-9]*/status') if 'VmSize' not in path.read_text() and
            'zombie' not in path.read_text()]


@test
def what_is_no_program(t):
    refused(t, 'x', 1, "'x'", 'pidof')
    refused(t, 4194303, 127, 'There is no process 4194303')
    for kernel_thread in kernel_threads()[:1]:  # a container shows none
        refused(t, kernel_thread, 126, 'kernel')
    with Program(t, t.target('late')) as program:
        task = [int(n) for n in os.listdir(f'/proc/{program.pid}/task') if int(n) != program.pid][0]
        refused(t, task, 126, 'thread', str(program.pid))
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    refused(t, child, 126, 'zombie')
    os.waitpid(child, 0)


@test
def what_no_library_gets_into(t):
    source = t.directory / 'static.c'
    source.write_text('#include <stdio.h>\n#include <unistd.h>\nint main(void){puts("ready");fflush(stdout);for(;;)pause();}')
    t.equal(t.run(t.need('gcc'), '-static', '-o', 'static', source).status, 0, 'gcc -static')
    with Program(t, t.directory / 'static') as program:
        refused(t, program.pid, 126, 'static', 'perf record')
    tiny = t.directory / 'tiny'
    tiny.write_bytes(TINY_32)
    tiny.chmod(0o755)
    try:
        program = Program(t, tiny, ready=None)
    except OSError:  # this kernel runs no 32-bit programs
        return
    with program:
        refused(t, program.pid, 126, '32-bit', '-m32')


@test
def what_is_not_ours(t):
    with Program(t, t.target('late')) as program:
        nobody = (t.need('setpriv'), '--reuid', '65534', '--regid', '65534', '--clear-groups')
        if os.access(t.helio, os.X_OK) and t.run(*nobody, 'test', '-x', t.helio).status == 0:
            refused(t, program.pid, 126, 'No permission', 'CAP_SYS_PTRACE', prefix=nobody)
        with Program(t, t.need('strace'), '-o', '/dev/null', '-p', program.pid, ready=None) as tracer:
            for _ in range(100):
                if f'TracerPid:\t{tracer.pid}' in open(f'/proc/{program.pid}/status').read():
                    break
                time.sleep(0.05)
            refused(t, program.pid, 126, 'traced already', str(tracer.pid))
        program.stop()
        refused(t, program.pid, 126, 'stopped', 'kill -CONT')
        os.kill(program.pid, signal.SIGCONT)


@test
def what_is_recorded_already(t):
    with Program(t, t.helio, 'collect', '-q', '-o', 'first.er', t.target('late')) as collector:
        pid = int(open(f'/proc/{collector.pid}/task/{collector.pid}/children').read())
        result = t.run(t.helio, 'attach', '--for', '100ms', '-o', 'second.er', pid)
        t.equal(result.status, 126, f'status ({result.err})')
        t.check('recorded already' in result.err, result.err)
        t.equal(collector.end(), (0, 'interrupted 0\ntoo_short 0\n'), 'the program')
    t.equal([p.name for p in t.directory.glob('*.er')], ['first.er'], 'experiments')


@test
def cannot_be_left(t):
    """A program that hides from its user meanwhile: it goes on and is recorded, and helio says that it could not be left."""
    user = {'user': 65534, 'group': 65534, 'extra_groups': []} if is_root() else {}
    t.directory.chmod(0o777)
    with Program(t, t.target('late'), **user) as program:
        words = [t.helio, 'attach', '-o', t.directory / 'hidden.er', program.pid]
        with subprocess.Popen([str(w) for w in words], cwd=t.directory, stderr=subprocess.PIPE, text=True, **user) as attached:
            t.check('recording' in attached.stderr.readline(), 'not recorded')
            program.say('d')
            while os.stat(f'/proc/{program.pid}/maps').st_uid:  # root's from then on
                time.sleep(0.01)
            attached.send_signal(signal.SIGINT)
            _, said = attached.communicate(timeout=60 * patience())
        t.equal(attached.returncode, 126, f'status of helio attach ({said})')
        t.check('permission' in said.lower(), f'"{said}" does not say why')
        t.equal(program.end()[0], 0, 'status of the program')


@test(engines=True)
def attached_twice_to_copied_code(t, engine):
    """Code that the program has mapped itself has its names in the second recording, too."""
    with Program(t, t.target('mapped_twice'), 'wait') as program:
        for _ in range(2):
            rows = t.functions(attach(t, program, seconds='300ms', engine=engine), 'e.totalcpu')
            share = rows['copied']['e.totalcpu'] / rows['<Total>']['e.totalcpu']
            t.within(share > 0.9, f'copied: {share:.2f} of the CPU time')
        program.end('q')
