# SPDX-License-Identifier: Apache-2.0
"""Waits that no event of their own told of, and threads that no event can tell of: where their time goes."""
import os

from harness import Skip, perf_allowed, test
from test_code import build

NO_STACK = '<no call stack recorded>'

STOPS_YOUNG = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int sink;
static double now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
static __attribute__((noinline)) void stop_here(void)
{
	raise(SIGSTOP);
	sink++;
}
static __attribute__((noinline)) void await(pid_t child, int options)
{
	waitpid(child, NULL, options);
	sink++;
}
static __attribute__((noinline)) pid_t begin_child(void)
{
	pid_t child = fork();
	sink++;
	return child;
}
static __attribute__((noinline)) void nap(void)
{
	usleep(4000);
	sink++;
}
/* Each child works for a little longer than the one before, and stops then. */
int main(int count, char **words)
{
	int children = atoi(words[1]);
	double stopped = 0, shortest = 1e9;
	for (int i = 0; i < children; i++) {
		pid_t child = begin_child();
		if (!child) {
			double end = now(CLOCK_THREAD_CPUTIME_ID) + i * 0.0008 / children;
			while (now(CLOCK_THREAD_CPUTIME_ID) < end)
				sink++;
			stop_here();
			exit(0);
		}
		await(child, WUNTRACED);
		double begin = now(CLOCK_MONOTONIC);
		nap();
		double lasted = now(CLOCK_MONOTONIC) - begin;
		stopped += lasted;
		shortest = lasted < shortest ? lasted : shortest;
		kill(child, SIGCONT);
		await(child, 0);
	}
	printf("stopped %.6f\nshortest %.6f\n", stopped, shortest);
	return count - 2;
}
"""


@test
def stops_of_young_processes(t):
    """A tick that is taken for nothing, since it came too early, may stand for the end of a stop, too: of two that meet one is signalled."""
    if not perf_allowed():
        raise Skip('perf events are not allowed')
    children = 600
    program = build(t, 'young', ('young.c', STOPS_YOUNG), flags=('-O1', '-g'))
    result = t.collect(program, str(children), engine='perf')
    rows = t.functions(result.experiment, 'i.stop', 'i.sleep')
    truth = result.truth()
    t.within(rows['stop_here']['i.stop'] >= 0.99 * truth['stopped'], f'stopped for {truth}: {rows["stop_here"]}')
    # the children do nothing else that waits: what sleeps and is not their parent was a stop
    elsewhere = rows['<Total>']['i.sleep'] - sum(rows.get(name, {}).get('i.sleep', 0) for name in ('begin_child', 'await', 'nap'))
    t.within(elsewhere < 0.9 * truth['shortest'], f'Sleep of {elsewhere} s in {rows}: {truth}')


RESTS = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sink;
static __attribute__((noinline)) void rest(void)
{
	usleep(2000);
	sink++;
}
static __attribute__((noinline)) void await(pid_t child)
{
	waitpid(child, NULL, 0);
	sink++;
}
int main(void)
{
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();
		if (!child) {
			rest();
			exit(0);
		}
		await(child);
	}
	return 0;
}
"""


@test(engines=True)
def waits_between_two_looks(t, engine):
    """What waits for less than the time between two looks, and ends then: its exit has waited for nothing."""
    program = build(t, 'rests', ('rests.c', RESTS), flags=('-O1', '-g'))
    result = t.collect(program, engine=engine)
    rows = t.functions(result.experiment, 'i.sleep', 'e.sleep', whole=True)
    known = sum(rows.get(name, {}).get('i.sleep', 0) for name in ('rest', 'await', NO_STACK))
    t.ratio(known, rows['<Total>']['e.sleep'], 0.99, 1.001, 'where it can have waited')


YIELDS = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
/* Two of them on one processor: each gives it to the other. */
int main(int count, char **words)
{
	double seconds = atof(words[1]);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(atoi(words[2]), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	pid_t child = fork();
	while (!child || used() < seconds)
		sched_yield();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("used %.6f\n", used());
	return count - 3;
}
"""


@test(alone=True)
def ends_of_own_threads(t):
    """
    Where there are too many switches, or events rest, a thread of the collector's switches events on again and ends. What the kernel takes to end it, after its
    own last look at its clock, is as much the collector's as what it used before that.
    """
    if not perf_allowed():
        raise Skip('perf events are not allowed')
    program = build(t, 'yields', ('yields.c', YIELDS), flags=('-O1', '-g'))
    result = t.collect(program, '1.5', str(min(os.sched_getaffinity(0))), engine='perf', options=('-p', 'hi', '-F', 'off'))
    process = t.read(result.experiment)['']
    counts = [event for event in process['log_events'] if event['kind'] == 'counters'][-1]
    before = (int(counts['before_user_us']) + int(counts['before_system_us'])) / 1e6
    told = int(counts['cpu_ns']) / 1e9
    own = int(counts['process_cpu_ns']) / 1e9 - told - before
    # it has one thread: what its clock says is all that it has used
    t.within(own > 10 * abs(told + before - result.truth()['used']),
             f'{told} and {before} s, not {result.truth()["used"]}, where threads of the collector took {own}')
