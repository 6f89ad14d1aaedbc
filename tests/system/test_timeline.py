# SPDX-License-Identifier: Apache-2.0
"""-timeline of a program whose phases are known: what threads did, when, at any resolution, and event by event."""
import os
import re

from harness import Skip, test
from test_code import build
from test_print import validator

PHASES = r"""#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static long long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static volatile unsigned long sink;
static double left(long long begin) { return 3e8 - (double)(now() - begin); }
#define PHASE(name) __attribute__((noinline)) void name(void) { for (unsigned i = 0; i < 2000000; i++) sink += i * sink; }
PHASE(first) PHASE(second) PHASE(third)
static void *other(void *arg)
{
	for (long long begin = now(); left(begin) > 0;)
		third();
	return arg;
}
static void repeat(const char *name, void (*phase)(void))
{
	long long begin = now();
	while (left(begin) > 0)
		phase();
	printf("%s %lld %lld\n", name, begin, now());
}
int main(void)
{
	struct timespec nap = {0, 300000000};
	pthread_t thread;
	repeat("first", first);
	long long begin = now();
	nanosleep(&nap, 0);
	printf("sleep %lld %lld\n", begin, now());
	repeat("second", second);
	pthread_create(&thread, 0, other, 0);
	pthread_join(thread, 0);
	return 0;
}
"""


def record(t):
    result = t.collect(build(t, 'phased', ('phased.c', PHASES)))
    zero = int(re.search(r'mono_ns="(\d+)"', (result.experiment / 'log.xml').read_text())[1])
    found = {name: ((int(a) - zero) / 1e9, (int(b) - zero) / 1e9) for name, a, b in re.findall(r'^(\w+) (\d+) (\d+)$', result.out, re.M)}
    return result.experiment, found


def cells_of(answer, lane):
    """{cell: (its states, its function)} of a thread"""
    names = [function['name'] for function in answer['functions']]
    return {row['cell']: (row['states'], names[row['function']] if row['function'] is not None else None) for row in answer['rows'] if row['lane'] == lane}


def states_of(answer, lane):
    sums = {}
    for states, _ in cells_of(answer, lane).values():
        for state, seconds in states.items():
            sums[state] = sums.get(state, 0) + seconds
    return {state: round(seconds, 6) for state, seconds in sums.items()}


@test
def phases_by_cell(t):
    """Cells within a phase: its function, and its state."""
    experiment, phases = record(t)
    answer = t.print(experiment, '-inlines', 'off', '-timeline', '100')[-1]
    cells = cells_of(answer, 0)
    for name in ('first', 'second', 'sleep'):
        begin, end = phases[name]
        inside = [i for i in range(answer['cells']) if answer['begin_s'] + i * answer['cell_s'] > begin + 0.03
                  and answer['begin_s'] + (i + 1) * answer['cell_s'] < end - 0.03]
        t.within(len(inside) >= 3, f'{name}: cells {inside}')
        if name == 'sleep':
            seconds = sum(cells[i][0].get('sleep', 0) for i in inside if i in cells)
            t.within(seconds > 0.95 * len(inside) * answer['cell_s'], f'asleep for {seconds} in {len(inside)} cells')
        else:
            t.within(all(i in cells and cells[i][1] == name for i in inside), f'{name}: {[cells.get(i) for i in inside]}')
    t.equal([lane['thread'] for lane in answer['lanes']], [1, 2], 'threads')
    own = [function for _, function in cells_of(answer, 1).values()]
    t.within(own.count('third') >= 0.8 * len(own), f'the other thread: {own}')
    text = t.run(t.helio, 'print', '-timeline', '40', experiment).out
    line = re.search(r'Thread 1 .*\n  \|(.{38,40})\|', text)
    t.within(re.search(r'[Uw]{5,}.?\.{5,}.?[Uw]{5,}', line[1]), f'{text}')


@test
def sums_are_those_of_threads(t):
    """Of all and of a part that a filter chooses, at each resolution; event by event too."""
    experiment, _ = record(t)
    names = {'user': 'user', 'system': 'system', 'sleep': 'sleep', 'lock': 'lock', 'wait': 'wait', 'datapfault': 'datapfault', 'stop': 'stop'}
    metrics = ':'.join(f'e.{name}' for name in names) + ':name'
    check = validator(t)
    for chosen in ((), ('-filters', 'TSTAMP >= 200000000 && TSTAMP < 700000000')):
        listed = t.print(experiment, *chosen, '-metrics', metrics, '-threads', '-timeline', '1', '-timeline', '7', '-timeline', '3000',
                         '-timeline', '-events', '1', '0', '-timeline', '-from', '0.2', '-to', '0.6', '3')
        threads, *timelines, events, part = listed[-6:]
        expected = {row['name']: {names[k[2:]]: round(v, 6) for k, v in row.items() if k.startswith('e.') and v} for row in threads['rows'][1:]}
        for answer in timelines:
            t.equal({lane['name']: states_of(answer, i) for i, lane in enumerate(answer['lanes'])}, expected, f'{len(answer["rows"])} cells')
        t.equal(len(events['rows']), events['total_events'], 'events')
        seen = {}
        for row in events['rows']:
            of = seen.setdefault(events['lanes'][row['lane']]['name'], {})
            for key in names:
                of[key] = of.get(key, 0) + row[f'e.{key}']
            t.check(row['begin_s'] <= row['end_s'] and row['stack'] < len(events['stacks']), row)
        t.equal({name: {k: round(v, 6) for k, v in of.items() if v} for name, of in seen.items()}, expected, 'events')
        t.equal(sum(sum(lane['events'].values()) for lane in events['lanes']), events['total_events'], 'of each thread')
        t.equal((part['begin_s'], part['end_s']), (0.2, 0.6), 'the range')
        for answer in listed[-5:]:
            t.equal([f'{problem.json_path}: {problem.message[:200]}' for problem in check.iter_errors(answer)][:3], [], 'schema')


PLACES = r"""#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
#define PHASE(name) __attribute__((noinline)) void name(void) { for (unsigned i = 0; i < 500000; i++) sink += i * sink; }
PHASE(here) PHASE(there)
static void on(int cpu, void (*phase)(void))
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(2);
	for (double begin = now(); now() - begin < 0.3;)
		phase();
}
int main(int argc, char **argv)
{
	struct timespec nap = {0, 200000000};
	if (argc < 3)
		return 1;
	on(atoi(argv[1]), here);
	nanosleep(&nap, 0);
	on(atoi(argv[2]), there);
	return 0;
}
"""


@test
def processors(t):
    """A program that binds itself to one processor, sleeps, and binds itself to another: what it did on each, and their sums."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip('there is one processor')
    experiment = t.collect(build(t, 'placed', ('placed.c', PLACES)), str(cpus[0]), str(cpus[1]), options=('-p', 'hi')).experiment
    listed = t.print(experiment, '-inlines', 'off', '-metrics', 'e.user:e.system:name', '-indxobj', 'CPUs', '-timeline', '-cpus', '1', '-timeline', '-cpus', '100')
    sums, *timelines = listed[-3:]
    expected = {row['name']: {k[2:]: round(v, 6) for k, v in row.items() if k.startswith('e.') and v} for row in sums['rows'][1:]}
    for answer in timelines:
        lanes = answer['lanes']
        t.equal({lane['name']: states_of(answer, i) for i, lane in enumerate(lanes)}, {name: of for name, of in expected.items() if of}, 'by processor')
        t.check(all(lane['name'] == (f'CPU {lane["cpu"]}' if 'cpu' in lane else '<Unknown>') for lane in lanes), lanes)
        t.equal([f'{problem.json_path}: {problem.message[:200]}' for problem in validator(t).iter_errors(answer)][:3], [], 'schema')
    for cpu, name in zip(cpus, ('here', 'there')):
        lane = next((i for i, lane in enumerate(lanes) if lane.get('cpu') == cpu), None)
        t.check(lane is not None, f'no processor {cpu}: {lanes}')
        own = [function for _, function in cells_of(answer, lane).values() if function in ('here', 'there')]
        t.check(own.count(name) > 5 and own.count(name) == len(own), f'processor {cpu}: {own}')
    t.check(t.run(t.helio, 'print', '-timeline', '-cpus', '-events', '1', experiment).err.count('-events lists those of threads') == 1, 'no events by processor')


@test
def pages_of_events(t):
    """All pages are the whole; stacks have their frames."""
    experiment, phases = record(t)
    whole = t.print(experiment, '-timeline', '-events', '1', '0')[-1]

    def plain(answer):
        return [(answer['lanes'][row['lane']]['thread'], row['kind'], row['type'], row['begin_s'], row['end_s'],
                 [answer['frames'][i]['name'] for i in answer['stacks'][row['stack']]]) for row in answer['rows']]
    step = len(whole['rows']) // 3 + 1
    pages = t.print(experiment, *[word for i in range(3) for word in ('-timeline', '-events', str(1 + i * step), str(step))])[-3:]
    t.equal(sum((plain(page) for page in pages), []), plain(whole), 'pages')
    naps = [row for row in plain(whole) if row[0] == 1 and row[2] == 'sleep' and 'main' in row[5] and row[4] - row[3] > 0.2]
    t.within(len(naps) == 1, f'one nap: {naps}')
    t.within(abs(naps[0][3] - phases['sleep'][0]) < 0.03 and abs(naps[0][4] - phases['sleep'][1]) < 0.03, f'{naps} {phases}')
    wrong = t.run(t.helio, 'print', '-timeline', '-from', 'x', experiment)
    t.check(wrong.status and 'takes seconds' in wrong.err, wrong.err)
