# SPDX-License-Identifier: Apache-2.0
"""
The default interval of the clock: short at first, then longer, for the whole family (`-p on`).

When it grows depends on what a tick costs here. HELIO_TEST_HANDLER_NS makes handlers slow, so that it does after some
hundreds of them on any machine.
"""
import math
import re
import statistics
import subprocess
import time

import helio_reader
from harness import test
from test_code import build

SLOW = {'HELIO_TEST_HANDLER_NS': '100000'}
USER, SYSTEM = 0, 1
TIMES = 10.007 / 0.997  # the longer interval by the shorter one
FIRST = 997


class Timed(helio_reader.Profile):
    """The CPU time of each event, by thread: [(end, weight)], in µs."""

    def __init__(self):
        super().__init__()
        self.cpu = {}

    def event(self, thread, state, when, weight, stack):
        super().event(thread, state, when, weight, stack)
        if state in (USER, SYSTEM):
            self.cpu.setdefault(thread.number, []).append((when, weight))


def cpu_events(experiment):
    profile = Timed()
    for encoding, first, base, _, _, _, payload in helio_reader.blocks((experiment / 'profile').read_bytes(), 'profile', []):
        if encoding == helio_reader.EVENTS:
            profile.block(first, base, payload)
    return profile.cpu


def all_cpu_events(experiment):
    """Of all processes."""
    return [event for path in [experiment, *experiment.glob('_*.er')] for events in cpu_events(path).values() for event in events]


def interval_lines(t, experiment):
    """What the header says, by process."""
    text = t.run(t.helio, 'print', '-header', experiment).out
    return dict(re.findall(r'^Experiment: (?:[^\n]*/)?([^\n/]+)\.er$.*?^  Clock-profiling, interval = (.*?)$', text, re.M | re.S))


def interval_line(t, experiment):
    return interval_lines(t, experiment)[experiment.stem]


def widened_us(t, experiment, engine, result):
    """The moment that the header shows, checked against the last message."""
    found = re.fullmatch(rf'{FIRST} microsecs\., from ([\d.]+) secs\. on 10007\.', interval_line(t, experiment))
    t.within(found, f'the header says "{interval_line(t, experiment)}"')
    said = f'a tick every {FIRST / 1000:g} ms and from {found[1]} s on 10.007'
    t.within(said in result.err, f'no "{said}" in {result.err[-300:]}')
    return float(found[1]) * 1e6


def cpu_of(process):
    return sum(thread['states'].get(state, 0) for thread in process['threads'] for state in ('user', 'system', 'trap'))


@test(alone=True, engines=True)
def short_run(t, engine):
    """A run of a fraction of a second has several times the events that it has at 10 ms, where its first 40 ms have more of them."""
    per_second = {}
    for options in ((), ('-p', '10.007')):
        result = t.collect(t.target('shares'), '400', engine=engine, options=options)
        truth = result.truth()
        t.ratio(cpu_of(t.read(result.experiment)['']), truth['thread_cpu'], 0.9, 1.1, 'recorded/cpu')
        per_second[options] = len(all_cpu_events(result.experiment)) / truth['thread_cpu']
        if not options:
            # where a tick costs much, 300 of them are enough: then both say from when on there are fewer
            t.check(re.search(rf', a tick every {FIRST / 1000:g} ms(,| and from) ', result.err), f'the last message: {result.err[-300:]}')
            t.within(interval_line(t, result.experiment) == f'{FIRST} microsecs.', 'in the header')
        else:
            t.check('a tick every' not in result.err, f'the last message: {result.err[-300:]}')
            t.equal(interval_line(t, result.experiment), '10007 microsecs.', 'in the header')
    t.ratio(per_second[()], per_second[('-p', '10.007')], TIMES / 4, TIMES * 1.5, 'events at the default/at 10 ms')


@test(alone=True, engines=True)
def on_is_the_default(t, engine):
    """`-p on` is what comes unasked; an interval that is asked for stays."""
    for options, line in (((), FIRST), (('-p', 'on'), FIRST), (('-p', 'hi'), 997), (('-p', 'lo'), 100003), (('-p', '10007u'), 10007)):
        result = t.collect(t.target('flat'), '50', engine=engine, options=options)
        t.equal(interval_line(t, result.experiment), f'{line} microsecs.', f'the interval of {options}')


CALLS = r"""
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static volatile unsigned long sink;
static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}
static NOINLINE void call(void)
{
	syscall(SYS_getppid);
	sink++;
}
static NOINLINE void compute(void)
{
	for (int i = 0; i < 20000; i++)
		sink = sink * 3 + 1;
}
/* Pieces of each alone, among those of both in turn: how long one takes on this machine, at that time. */
int main(int argc, char **argv)
{
	double alone[2] = {0, 0}, both = 0;
	(void)argv;
	for (int i = 0; i < 20; i++) {
		double begin = now();
		for (int k = 0; k < 200; k++)
			call();
		double between = now();
		for (int k = 0; k < 20; k++)
			compute();
		alone[0] += (between - begin) / 200;
		alone[1] += (now() - between) / 20;
		begin = now();
		for (int k = 0; k < 500; k++) {
			call();
			compute();
			if (argc > 1 && k % 100 == 0)
				usleep(1000);
		}
		both += now() - begin;
	}
	printf("share %.6f\nboth %.6f\n", alone[0] / (alone[0] + alone[1]), both);
	return 0;
}
"""


def share_of_calls(t, engine, options, arguments=()):
    program = build(t, 'calls', ('calls.c', CALLS), flags=('-O1', '-g'))
    found, expected, ticks = 0, 0, 0
    for _ in range(4):
        result = t.collect(program, *arguments, engine=engine, options=options)
        truth = result.truth()
        rows = t.functions(result.experiment, 'i.totalcpu')
        found += rows.get('call', {}).get('i.totalcpu', 0)
        expected += truth['share'] * rows['<Total>']['i.totalcpu']
        ticks += len(all_cpu_events(result.experiment))
        whole = rows['<Total>']['i.totalcpu']
    t.within(ticks > 50, f'{ticks} ticks')
    share, least = found / (4 * whole), expected / (4 * whole)
    t.remark += f'{share:.4f} of {least:.4f}, {ticks} '
    t.near(share, least, 'share of the calls', absolute=5 * math.sqrt(0.03 / ticks) + 0.02)


@test(alone=True, engines=True)
def calls_in_turn(t, engine):
    """A program that makes a system call every few microseconds is found in them for their share of the time."""
    share_of_calls(t, engine, ())


@test(alone=True, engines=True)
def calls_at_a_short_interval(t, engine):
    """Likewise where the interval is shorter than the kernel's tick for good."""
    for interval in ('hi', '500u', '2m'):
        share_of_calls(t, engine, ('-p', interval))


@test(alone=True, engines=True)
def calls_between_waits(t, engine):
    """Likewise of a thread that waits now and then."""
    share_of_calls(t, engine, ('-p', 'hi'), ('waits',))


MET = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
enum { WAIT_MS = 6 };
static volatile unsigned long sink;
static int set, sockets[2];
static double now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}
static struct timespec later(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += WAIT_MS * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}
static const struct timespec span = {0, WAIT_MS * 1000000};
static int by_nanosleep(void) { return nanosleep(&span, NULL); }
static int by_poll(void) { return poll(NULL, 0, WAIT_MS); }
static int by_ppoll(void) { return ppoll(NULL, 0, &span, NULL); }
static int by_select(void) { return select(0, NULL, NULL, NULL, &(struct timeval){0, WAIT_MS * 1000}); }
static int by_epoll(void)
{
	struct epoll_event event;
	return epoll_wait(set, &event, 1, WAIT_MS);
}
static int by_semaphore(void)
{
	sem_t semaphore;
	struct timespec end = later();
	sem_init(&semaphore, 0, 0);
	return sem_timedwait(&semaphore, &end) && errno == ETIMEDOUT ? 0 : -1;
}
static int by_signal(void)
{
	sigset_t none;
	sigemptyset(&none);
	return sigtimedwait(&none, NULL, &span) < 0 && errno == EAGAIN ? 0 : -1;
}
static int by_socket(void)
{
	char byte;
	return recv(sockets[0], &byte, 1, 0) < 0 && errno == EAGAIN ? 0 : -1;
}
static int (*const calls[])(void) = {by_nanosleep, by_poll, by_ppoll, by_select, by_epoll, by_semaphore, by_signal, by_socket};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };
static int wrong;
/* Computes until it is an old thread, and waits at once. */
static void *live(void *arg)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.014;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			sink = sink * 3 + 1;
	long first = (long)arg;
	for (int i = 0; i < 2; i++) {
		double begin = now(CLOCK_MONOTONIC);
		if (calls[(first + i) % CALLS]() || now(CLOCK_MONOTONIC) - begin < WAIT_MS * 0.99e-3) {
			printf("call %ld: errno %d after %f\n", (first + i) % CALLS, errno, now(CLOCK_MONOTONIC) - begin);
			wrong++;
		}
	}
	return NULL;
}
int main(void)
{
	set = epoll_create1(0);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, WAIT_MS * 1000}, sizeof(struct timeval));
	for (long i = 0; i < 2 * CALLS; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, live, (void *)i);
		pthread_join(thread, NULL);
	}
	printf("wrong %d\n", wrong);
	return 0;
}
"""


@test(engines=True)
def waits_behind_short_ticks(t, engine):
    """Calls that a timer of the short interval can meet, as it was set just before, wait for their time and are not ended."""
    program = build(t, 'met', ('met.c', MET), flags=('-O1', '-g', '-pthread'))
    for _ in range(2):
        result = t.collect(program, engine=engine)
        t.equal(result.truth()['wrong'], 0, f'calls ended: {result.out}')


@test(alone=True, engines=True)
def across_the_change(t, engine):
    """Totals and shares hold, and the interval does grow."""
    result = t.collect(t.target('shares'), '6000', engine=engine, env=SLOW)
    truth = result.truth()
    since_us = widened_us(t, result.experiment, engine, result)
    t.ratio(cpu_of(t.read(result.experiment)['']), truth['thread_cpu'], 0.98, 1.02, 'recorded/cpu')
    rows = t.functions(result.experiment, 'i.totalcpu')
    for name in 'abcd':
        t.near(rows[name]['i.totalcpu'] / truth['thread_cpu'], truth[f'{name}.share'], f'share of {name}', absolute=0.08)
    events = cpu_events(result.experiment)[1]
    before = [weight for when, weight in events if when < since_us]
    after = [weight for when, weight in events if when > since_us][1:]
    t.within(len(before) > 40 and len(after) > 20, f'{len(before)} events before, {len(after)} after')
    t.ratio(statistics.median(after), statistics.median(before), TIMES / 2, TIMES * 1.5, 'interval after/before')


@test(alone=True, engines=True)
def of_all_threads(t, engine):
    """Threads that ran before it grew, whichever's tick it was."""
    result = t.collect(t.target('threads8'), '0.7s', engine=engine, env=SLOW)
    truth = result.truth()
    since_us = widened_us(t, result.experiment, engine, result)
    process = t.read(result.experiment)['']
    events = cpu_events(result.experiment)
    busy = 0
    for thread in process['threads']:
        own = truth.get(f'thread.{thread["tid"]}.cpu')
        if own is None:
            continue
        cpu = sum(thread['states'].get(state, 0) for state in ('user', 'system', 'trap'))
        t.near(cpu, own, f'thread {thread["tid"]}', relative=0.03, absolute=0.005)
        after = [weight for when, weight in events[thread['number']] if when > since_us][1:]
        if len(after) < 10:
            continue
        busy += 1
        t.ratio(statistics.median(after) / 10007, 1, 0.7, 1.4, 'interval')
    t.within(busy >= 6, f'{busy} threads with events enough')


@test(alone=True, engines=True)
def of_later_threads(t, engine):
    """Threads that begin after it grew have the longer one, and all of their time."""
    result = t.collect(t.target('lives'), 'threads', '60', '14', '2', engine=engine, env=SLOW)
    truth = result.truth()
    since_us = widened_us(t, result.experiment, engine, result)
    process = t.read(result.experiment)['']
    t.equal(len(process['threads']), 61, 'threads')
    t.ratio(cpu_of(process), truth['cpu'], 0.93, 1.02, 'recorded/cpu')
    events = cpu_events(result.experiment)
    late = [[weight for _, weight in own] for number, own in events.items() if number > 1 and own[0][0] > since_us + 1e5]
    t.within(len(late) > 10, f'{len(late)} threads after the change')
    # four intervals and a half each, of 10 ms; at the short one 45
    t.within(statistics.median(len(own) for own in late) < 15, f'events of each: {[len(own) for own in late]}')


@test(alone=True, engines=True)
def of_the_family(t, engine):
    """What many short processes have of the short interval comes from one account: their events are fewer than at that interval."""
    counts = {}
    for options in ((), ('-p', str(FIRST / 1000))):
        result = t.collect(t.target('lives'), 'forks', '200', '4', engine=engine, options=options, env=SLOW)
        counts[options] = len(all_cpu_events(result.experiment))
    t.ratio(counts[()], counts[tuple(options)], 0, 0.8 if engine == 'perf' else 1, 'events of the default/of the short interval')
    lines = [line for name, line in interval_lines(t, t.directory / 'run.1.er').items() if name.startswith('_')]
    t.equal(len(lines), 200, 'children')
    early, late = (sum(line == f'{us} microsecs.' for line in lines) for us in (FIRST, 10007))
    t.within(early and late and early + late >= 198, f'{early} children before it grew, {late} after: {set(lines)}')


@test(alone=True, engines=True)
def of_programs_that_are_executed(t, engine):
    """A new image goes on with the interval in force: the family has one."""
    script = f'i=0; while [ $i -lt 60 ]; do i=$((i+1)); {t.target("shares")} 60 >/dev/null; done; exec {t.target("shares")} 300'
    result = t.collect('sh', '-c', script, engine=engine, env=SLOW)
    truth = result.truth()
    line = interval_lines(t, result.experiment)['_x1']
    t.within(line == '10007 microsecs.', f'interval of the last image: {line}')
    family = t.read(result.experiment)  # the thread's clock goes on over an exec
    t.ratio(cpu_of(family['']) + cpu_of(family['_x1']), truth['thread_cpu'], 0.8, 1.1, 'recorded/cpu')


@test(alone=True, engines=True)
def attached(t, engine):
    """A program that has run for a while has the longer interval from the start."""
    program = subprocess.Popen([t.target('flat'), '3s'], stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(0.2)
        experiment = t.directory / 'a.er'
        t.run(t.helio, 'attach', '--engine', engine, '-t', '1', '-o', experiment, program.pid)
    finally:
        program.kill()
        program.communicate()
    t.equal(interval_line(t, experiment), '10007 microsecs.', 'in the header')
    weights = [weight for events in cpu_events(experiment).values() for _, weight in events]
    t.ratio(statistics.median(weights), 10007, 0.7, 1.4, 'events')
