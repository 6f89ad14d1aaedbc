# SPDX-License-Identifier: Apache-2.0
"""Where time goes, by kind: each phase of `phases` has a function of its own and a known duration."""
import os
import pathlib
import signal
import threading
import time

from harness import Skip, is_root, test
from test_code import build

# phase: the state that its wall time must show up in
WAITS = {'nanosleep': 'sleep', 'poll': 'sleep', 'select': 'sleep', 'epoll': 'sleep', 'pipe': 'sleep', 'cond': 'lock',
         'sem': 'lock'}


@test(alone=True, engines=True)
def of_phases(t, engine):
    with t.lateness() as late:
        result = t.collect(t.target('phases'), '0.3', engine=engine, options=('-p', 'hi'))
    truth = result.truth()
    rows = t.functions(result.experiment, 'i.total', 'i.user', 'i.system', 'i.lock', 'i.sleep', 'i.wait', 'i.datapfault',
                       'i.kernelpfault')

    def value(phase, metric):
        t.within(f'phase_{phase}' in rows, f'no function phase_{phase}')
        return rows[f'phase_{phase}'][f'i.{metric}']

    # an interval at either end may be counted to the neighbour; a busy machine lets the clock, and who is woken, come late
    slack = 0.010 + late.worst
    for phase, state in WAITS.items():
        wall = truth[f'{phase}.wall']
        t.near(value(phase, state) + value(phase, 'wait'), wall, f'{phase} {state}', 0.02, slack)
    # the clock's own events are the kernel's work
    t.near(value('spin', 'user') + value('spin', 'system'), truth['spin.cpu'], 'spin cpu', 0.05, slack)
    t.within(value('spin', 'user') > 0.7 * truth['spin.cpu'], f'spin user: {value("spin", "user")}')
    t.near(value('readzero', 'user') + value('readzero', 'system'), truth['readzero.cpu'], 'readzero cpu', 0.03, slack)
    # it looks at the clock between two reads, and each signal is user code for a moment: how much the kernel says
    least = truth['readzero.cpu'] - truth['readzero.user']
    t.within(value('readzero', 'system') >= 0.97 * least - slack, f'readzero system: {value("readzero", "system")}, at least {least} in truth')
    check_bursts(t, engine, slack, truth, {phase: value(phase, 'user') + value(phase, 'system') for phase in ('fsync', 'pagefault')})
    t.near(value('pagefault', 'total'), truth['pagefault.wall'], 'pagefault total', 0.03, 0.02 + slack)  # fsync's switches are throttled: a wait may come late
    # what the kernel says of 0.3 s is from its own clock's 30 to 300 interrupts: user code is the half of it on some machines
    most = truth['pagefault.user'] + 0.2 * truth['pagefault.cpu'] + slack
    t.within(value('pagefault', 'user') <= most, f'pagefault user: {value("pagefault", "user")}, at most {most}')
    t.near(value('fsync', 'total'), truth['fsync.wall'], 'fsync total', 0.02, 0.02 + slack)
    t.equal(truth['interrupted'], 0, 'calls ended by EINTR')
    t.equal(truth['readzero.partial'], 0, 'short reads')


def check_bursts(t, engine, slack, truth, cpu):
    """
    CPU of many short bursts, and of the phase after it. On one processor the monitor runs when the thread does not: it asks whom it pushed
    off, and such a burst is over before it can, so that the phase after it has what the bursts took.
    """
    moved = truth['fsync.cpu'] if engine == 'monitor' else 0
    both = truth['fsync.cpu'] + truth['pagefault.cpu']
    t.near(cpu['fsync'] + cpu['pagefault'], both, 'fsync and pagefault cpu', 0.03, slack)
    t.within(-slack - moved <= cpu['fsync'] - truth['fsync.cpu'] <= slack, f'fsync cpu: {cpu["fsync"]} of {truth["fsync.cpu"]}')
    t.within(-slack <= cpu['pagefault'] - truth['pagefault.cpu'] <= slack + moved, f'pagefault cpu: {cpu["pagefault"]} of {truth["pagefault.cpu"]}')


# state that each wait of `waitkinds` must show up in
KINDS = {'barrier': 'lock', 'mutex': 'lock', 'rwlock': 'lock', 'condition': 'lock', 'once': 'lock', 'semaphore': 'lock',
         'futex': 'lock', 'join': 'lock', 'pipe': 'sleep', 'poll': 'sleep', 'sleep': 'sleep', 'child': 'sleep',
         'fault': 'datapfault', 'stop': 'stop'}


@test(alone=True, engines=True)
def of_each_wait(t, engine):
    """A wait is of its own state and of no other, but for the time until the thread gets a processor."""
    result = t.collect(t.target('waitkinds'), '0.1', engine=engine, options=('-p', 'hi'))
    truth = result.truth()
    states = ('i.lock', 'i.sleep', 'i.datapfault', 'i.kernelpfault', 'i.stop')
    rows = t.functions(result.experiment, *states)
    for kind, state in KINDS.items():
        if kind == 'fault' and 'fault.least' not in truth:
            t.remark += 'no userfaultfd here '
            continue
        least = truth[f'{kind}.least']  # waited for certain; with luck the waiter came too late
        if least < 0.02:
            continue
        row = rows.get('compute_stopped' if kind == 'stop' else f'wait_{kind}', {})
        waited = sum(row.get(name, 0) for name in states)
        t.ratio(row.get(f'i.{state}', 0), least, 0.7, 10, f'{kind} {state}')
        t.ratio(row[f'i.{state}'], waited, 0.95, 1.0001, f'{kind}, of all waits there')


QUEUED = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static volatile unsigned long sink;
static double read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}
/* How long this thread was queued in its life, as the kernel counts. */
static double queued(void)
{
	static int file;
	char line[96] = "";
	unsigned long long ran, delay = 0;
	if (!file)
		file = open("/proc/thread-self/schedstat", O_RDONLY);
	if (pread(file, line, sizeof(line) - 1, 0) > 0)
		sscanf(line, "%llu %llu", &ran, &delay);
	return delay * 1e-9;
}
static NOINLINE void compute(void)
{
	double end = read_clock(CLOCK_THREAD_CPUTIME_ID) + 0.007;
	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sink = sink * 3 + 1;
}
static NOINLINE void wait_here(void)
{
	nanosleep(&(struct timespec){0, 50000000}, NULL);
	sink++;
}
/* Takes turns with another process on one processor, but for its waits. */
int main(void)
{
	double computing = 0, waiting = 0;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pid_t other = fork();
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			sink++;
	}
	for (int i = 0; i < 40; i++) {
		double begin = queued();
		compute();
		double between = queued();
		wait_here();
		computing += between - begin;
		waiting += queued() - between;
	}
	printf("computing %.6f\nwaiting %.6f\n", computing, waiting);
	kill(other, SIGKILL);
	return 0;
}
"""


@test(alone=True, engines=True)
def queued_before_a_wait(t, engine):
    """A thread that others push off while it computes, and that waits soon after, was queued where it computed, and in its waits as it says."""
    program = build(t, 'queued', ('queued.c', QUEUED), flags=('-O1', '-g'))
    for interval in ('hi', 'on'):
        result = t.collect(program, engine=engine, options=('-F', 'off', '-p', interval))
        truth = result.truth()
        rows = t.functions(result.experiment, 'i.wait')
        whole = truth['computing'] + truth['waiting']
        t.ratio(rows['<Total>']['i.wait'], whole, 0.8, 1.2, f'{interval}: queued')
        t.near(rows['compute']['i.wait'] / whole, truth['computing'] / whole, f'{interval}: queued in compute', absolute=0.15)
        t.near(rows.get('wait_here', {}).get('i.wait', 0) / whole, truth['waiting'] / whole, f'{interval}: queued in wait_here', absolute=0.15)


SHORT_NAPS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
enum { BUSY = 3, NAPPERS = 2, NAPS = 40 };
static double slept[NAPPERS];
static double read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}
static void compute(double seconds)
{
	volatile unsigned long sink = 0;
	double end = read_clock(CLOCK_THREAD_CPUTIME_ID) + seconds;
	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sink = sink * 3 + 1;
}
/* What is neither CPU time nor, as the kernel counts, on the queue. */
static double asleep(void)
{
	char line[96] = "";
	unsigned long long ran = 0, delay = 0;
	int file = open("/proc/thread-self/schedstat", O_RDONLY);
	double now = read_clock(CLOCK_MONOTONIC);
	if (read(file, line, sizeof(line) - 1) > 0)
		sscanf(line, "%llu %llu", &ran, &delay);
	close(file);
	return now - (ran + delay) * 1e-9;
}
static void *nap(void *slot)
{
	double begin = asleep();
	for (int i = 0; i < NAPS; i++) {
		compute(0.002);
		nanosleep(&(struct timespec){0, 3000000}, NULL);
	}
	*(double *)slot = asleep() - begin;
	return NULL;
}
static void *run(void *unused)
{
	for (;;)
		compute(1);
	return unused;
}
int main(void)
{
	pthread_t nappers[NAPPERS], busy;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < BUSY; i++)
		pthread_create(&busy, NULL, run, NULL);
	for (int i = 0; i < NAPPERS; i++)
		pthread_create(&nappers[i], NULL, nap, &slept[i]);
	for (int i = 0; i < NAPPERS; i++)
		pthread_join(nappers[i], NULL);
	printf("slept %.6f\n", slept[0] + slept[1]);
	return 0;
}
"""


@test(alone=True, engines=True)
def short_naps_among_others(t, engine):
    """Who has slept and is queued sleeps no more, however long the monitor does not meet it running."""
    program = build(t, 'naps', ('naps.c', SHORT_NAPS), flags=('-O1', '-g', '-pthread'))
    result = t.collect(program, engine=engine)
    slept = t.functions(result.experiment, 'i.sleep').get('nap', {}).get('i.sleep', 0)
    t.ratio(slept, result.truth()['slept'], 0.9, 1.1, 'sleep')


@test(alone=True, engines=True)
def stopped(t, engine):
    """By its own raise() and by another process while it computes."""
    with t.lateness() as late:
        result = t.collect(t.target('stopper'), '0.5', engine=engine)
    truth = result.truth()
    rows = t.functions(result.experiment, 'i.stop', 'i.total')
    t.near(rows['stop_self']['i.stop'], truth['stopped_self'], 'stopped by itself', 0.05, 0.03 + late.worst)
    t.near(rows['compute_and_be_stopped']['i.stop'], truth['stopped_other'], 'stopped by another', 0.05, 0.05 + late.worst)


STOPS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static volatile unsigned long sink;
static volatile int over;
static pid_t child;
static double read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}
static int is_stopped(pid_t pid)
{
	char path[64], line[256] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "r");
	char *end = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (file)
		fclose(file);
	return end && end[2] == 'T';
}
/* A child that lets its parent go on half a second after it has stopped. */
static void have_helper(void)
{
	pid_t parent = getpid();
	child = fork();
	if (child)
		return;
	while (!is_stopped(parent))
		usleep(1000);
	double begin = read_clock(CLOCK_MONOTONIC);
	usleep(500000);
	printf("stopped %.6f\n", read_clock(CLOCK_MONOTONIC) - begin);
	fflush(stdout);
	kill(parent, SIGCONT);
	_exit(0);
}
static NOINLINE void compute(double seconds)
{
	double end = read_clock(CLOCK_THREAD_CPUTIME_ID) + seconds;
	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 100000; i++)
			sink = sink * 3 + 1;
}
static NOINLINE void before(void)
{
	compute(0.1);
	sink++;
}
static NOINLINE void after(void)
{
	compute(0.1);
	sink++;
}
static NOINLINE void stop_here(void)
{
	raise(SIGSTOP);
	sink++;
}
static NOINLINE void *wait_here(void *unused)
{
	sleep(2);
	return unused;
}
static NOINLINE void *spin_here(void *unused)
{
	unsigned long some = 1;
	while (!over)
		some = some * 3 + 1;
	sink = some;
	return unused;
}
int main(int count, char **words)
{
	const char *mode = words[count - 1];
	pthread_t threads[2];
	have_helper();
	if (!strcmp(mode, "sleep"))
		usleep(200000);
	if (!strcmp(mode, "threads")) {
		pthread_create(&threads[0], NULL, wait_here, NULL);
		pthread_create(&threads[1], NULL, spin_here, NULL);
	}
	if (mode[0] == 'c' || mode[0] == 't')
		before();
	double begin = read_clock(CLOCK_MONOTONIC);
	stop_here();
	printf("returned %.6f\n", read_clock(CLOCK_MONOTONIC) - begin);
	if (!strcmp(mode, "exit"))
		return 0;
	after();
	over = 1;
	for (int i = 0; !strcmp(mode, "threads") && i < 2; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	return 0;
}
"""


@test(engines=True)
def stopped_where(t, engine):
    """By its own raise(): at once before its exit, between two computations, after a sleep, and with other threads."""
    program = build(t, 'stops', ('stops.c', STOPS), flags=('-O1', '-g', '-pthread'))
    for mode in ('exit', 'compute', 'sleep', 'threads'):
        with t.lateness() as late:
            result = t.collect(program, mode, engine=engine, options=('-F', 'off'))
        truth = result.truth()  # from when its child saw it stopped, and as it saw itself, until it had a processor again
        least, most = truth['stopped'] - 0.02, truth['returned'] + 0.02 + late.worst
        rows = t.functions(result.experiment, 'i.stop')
        places = {'stop_here'} | ({'wait_here', 'spin_here'} if mode == 'threads' else set())
        if engine == 'perf':  # there a stop within a call is a part of the call's wait
            places -= {'wait_here'}
        for place in places:
            stopped = rows.get(place, {}).get('i.stop', 0)
            t.within(least <= stopped <= most, f'{mode}, {place}: stopped for {stopped}, not {least} to {most}')
        stopped = rows['<Total>']['i.stop']
        t.within(stopped <= most * len(places), f'{mode}: stopped for {stopped}, not {most} in each of {places}')


STOPS_UNSEEN = STOPS.replace('#include <pthread.h>', '#include <pthread.h>\n#include <sched.h>').replace("if (mode[0] == 'c'", """if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){1}))
		return 3;
	if (mode[0] == 'c'""")


@test(engines=True)
def stopped_unseen(t, engine):
    """By its own raise(), after it has had the only processor to itself for so long that nobody has looked at it."""
    program = build(t, 'unseen', ('unseen.c', STOPS_UNSEEN), flags=('-O1', '-g', '-pthread'))
    if t.run(program, 'compute').status == 3:
        raise Skip('needs a real-time priority')
    for _ in range(3):
        with t.lateness() as late:
            result = t.collect('taskset', '-c', str(min(os.sched_getaffinity(0))), program, 'compute', engine=engine)
        truth = result.truth()
        least, most = truth['stopped'] - 0.02, truth['returned'] + 0.02 + late.worst
        stopped = t.functions(result.experiment, 'i.stop').get('stop_here', {}).get('i.stop', 0)
        t.within(least <= stopped <= most, f'stopped for {stopped}, not {least} to {most}')


STOPS_FIRST = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int sink;
static __attribute__((noinline)) void stop_here(void)
{
	raise(SIGSTOP);
	sink++;
}
int main(int count, char **words)
{
	FILE *file = fopen(words[count - 1], "w");
	fprintf(file, "%d\n", getpid());
	fclose(file);
	stop_here();
	return 0;
}
"""


def go_on_later(path, times):
    """Waits for the process whose number comes into the file to stop, and lets it go on half a second later."""
    while not (path.exists() and path.read_text().endswith('\n')):
        time.sleep(0.001)
    process = pathlib.Path('/proc', path.read_text().strip())
    while process.joinpath('stat').read_text().rpartition(') ')[2][0] != 'T':
        time.sleep(0.001)
    times.append(time.monotonic())
    time.sleep(0.5)
    times.append(time.monotonic())
    os.kill(int(process.name), signal.SIGCONT)


@test(engines=True)
def stopped_at_once(t, engine):
    """By the first that it does, on one processor: threads of the collector that have just been made have not run so far."""
    program = build(t, 'first', ('first.c', STOPS_FIRST), flags=('-O1', '-g'))
    processor = str(min(os.sched_getaffinity(0)))
    for number in range(6):
        path, times = t.directory / f'pid{number}', []
        helper = threading.Thread(target=go_on_later, args=(path, times), daemon=True)
        helper.start()
        result = t.collect('taskset', '-c', processor, program, path, engine=engine)
        helper.join()
        rows = t.functions(result.experiment, 'i.stop')
        least = times[1] - times[0]
        t.within(rows.get('stop_here', {}).get('i.stop', 0) >= 0.9 * least, f'{number}: stopped for {least}, in {rows}')


@test(alone=True, engines=True)
def waiting_for_a_processor(t, engine):
    """Eight threads on two or more processors: what is neither CPU nor sleep is wait for a CPU."""
    result = t.collect(t.target('threads8'), '0.3s', engine=engine)
    process = t.read(result.experiment)['']
    workers = process['threads'][1:]
    waited = sum(thread['states'].get('wait', 0) for thread in workers)
    other = sum(thread['life'] for thread in workers) - sum(
        thread['states'].get(s, 0) for thread in workers for s in ('user', 'system', 'trap'))
    t.near(waited, other, 'wait CPU', 0.05, 0.03)


@test(engines=True)
def waits_that_begin_in_a_burst(t, engine):
    """Threads that switch thousands of times a second beside it do not take a wait's stack away."""
    with t.lateness() as late:
        result = t.collect(t.target('bursts'), engine=engine)
    rows = t.functions(result.experiment, 'i.total')
    # who looks at threads from outside meanwhile is as late as others, at the begin and the end of each of the three
    waited = result.truth()['long_wait']
    t.ratio(rows['long_wait']['i.total'], waited, 0.9 - 6 * late.worst / waited, 1.05, 'long_wait')


POOL = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static sem_t jobs;
static int over, set;
static double waited[3]; /* for work: by a condition or semaphore, by epoll; for a mutex */
static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
static void add(int kind, double begin)
{
	static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
	double seconds = now() - begin;
	pthread_mutex_lock(&adding);
	waited[kind] += seconds;
	pthread_mutex_unlock(&adding);
}
static void *by_condition(void *arg)
{
	pthread_mutex_lock(&queue);
	double begin = now();
	while (!over)
		pthread_cond_wait(&work, &queue);
	pthread_mutex_unlock(&queue);
	add(0, begin);
	return arg;
}
static void *by_semaphore(void *arg)
{
	double begin = now();
	while (sem_wait(&jobs))
		;
	add(0, begin);
	return arg;
}
static void *by_epoll(void *arg)
{
	struct epoll_event event;
	double begin = now();
	epoll_wait(set, &event, 1, -1);
	add(1, begin);
	return arg;
}
static void *contending(void *arg)
{
	for (int i = 0; i < 10; i++) {
		double begin = now();
		pthread_mutex_lock(&hot);
		add(2, begin);
		usleep(20000);
		pthread_mutex_unlock(&hot);
	}
	return arg;
}
static void *(*const kinds[])(void *) = {by_condition, by_semaphore, by_epoll, contending};
int main(int count, char **words)
{
	static const char letters[] = "csem";
	pthread_t threads[16];
	int started = 0, pipes[2];
	struct epoll_event event = {.events = EPOLLIN};
	sem_init(&jobs, 0, 0);
	set = epoll_create1(0);
	if (pipe(pipes) || epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event))
		return 1;
	for (const char *letter = words[1]; *letter; letter++)
		pthread_create(&threads[started++], NULL, kinds[strchr(letters, *letter) - letters], NULL);
	usleep(600000);
	over = 1;
	pthread_cond_broadcast(&work);
	for (int i = 0; i < started; i++)
		sem_post(&jobs);
	if (write(pipes[1], "x", 1) != 1)
		return 1;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	printf("work %f\nevents %f\nmutex %f\n", waited[0], waited[1], waited[2]);
	return 0;
}
"""


@test(engines=True)
def idle_threads_in_the_report(t, engine):
    """What threads of a pool wait for work is told apart from what threads wait for locks, by the program's own clock."""
    program = build(t, 'pool', ('pool.c', POOL), flags=('-O1', '-g', '-pthread'))
    for words, pool, events, options in (('cccss', 5, 0, ()), ('cceemmmm', 2, 2, ()), ('mmmm', 0, 0, ()), ('ccss', 4, 0, ('-s', 'on'))):
        result = t.collect(program, words, engine=engine, options=options)
        truth = result.truth()
        rows = t.print(result.experiment, '-report')[0]['rows']
        times = [row for row in rows if row['section'] == 'time' and 'metric' in row]
        idle = {row['metric']: row for row in times if row['name'].startswith('idle: ')}
        t.within((pool > 0, events > 0) == ('lock' in idle, 'sleep' in idle), f'{words}: idle: {idle}')
        for metric, threads, key in (('lock', pool, 'work'), ('sleep', events, 'events')):
            if threads:
                t.within(f'by {threads} threads' in idle[metric]['name'], idle[metric]['name'])
                t.within(0.6 < idle[metric]['value'] / truth[key] < 1.2, f'{words}: {metric}: {idle[metric]["value"]} of {truth[key]}')
        if pool:
            whole, rest = (next(row['value'] for row in times if row['metric'] == 'lock' and row['name'].startswith(name))
                           for name in ('waiting for other threads', 'all other'))
            t.near(whole, rest + idle['lock']['value'], f'{words}: both parts', relative=1e-6)
            t.within(rest >= 0.4 * truth['mutex'], f'{words}: contention is left: {rest} of {truth["mutex"]}')
        said = [row['name'] for row in rows if row['section'] == 'time' and 'metric' not in row]
        t.within(any('no contention' in text for text in said) == (pool > 0), f'{words}: {said}')
        advised = any('e.%lock' in row['name'] for row in rows if row['section'] == 'next')
        t.within(advised == ('m' in words), f'{words}: what to look at next: {advised}')


UNDUMPABLE = r"""
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int taken[2];
static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
static NOINLINE double rest(int milliseconds)
{
	double begin = now();
	usleep(milliseconds * 1000);
	return now() - begin;
}
static NOINLINE double rest_in_thread(int milliseconds)
{
	double begin = now();
	usleep(milliseconds * 1000);
	return now() - begin;
}
static NOINLINE double wait_for_lock(void)
{
	double begin = now();
	pthread_mutex_lock(&mutex);
	return now() - begin;
}
static double rested, rested_in_thread, locked;
static void *hold(void *arg)
{
	pthread_mutex_lock(&mutex);
	if (write(taken[1], "", 1) == 1)
		rested_in_thread = rest_in_thread(300);
	pthread_mutex_unlock(&mutex);
	return arg;
}
static void work(void)
{
	pthread_t thread;
	char byte;
	rested = rest(250);
	if (pipe(taken) || pthread_create(&thread, NULL, hold, NULL) || read(taken[0], &byte, 1) != 1)
		return;
	locked = wait_for_lock();
	pthread_join(thread, NULL);
	rested += rest(250);
	printf("rest %f\nthread %f\nlock %f\n", rested, rested_in_thread, locked);
	fflush(stdout);
}
static int enter_jail(void)
{
	char name[] = "jail.XXXXXX";
	return unshare(CLONE_NEWUSER) || !mkdtemp(name) || chdir(name) || chroot(".");
}
/* j: in a jail, without /proc; u: another user; n: not dumpable; f: a process made then */
int main(int count, char **words)
{
	if (strchr(words[1], 'j') && enter_jail())
		return 1;
	if (strchr(words[1], 'u') && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 1;
	if (strchr(words[1], 'n') && prctl(PR_SET_DUMPABLE, 0))
		return 1;
	if (!strchr(words[1], 'f') || !fork())
		work();
	return wait(NULL) > 0 ? 0 : count - 2;
}
"""


NO_STACK = '<no call stack recorded>'
HIDDEN = 'such waits have no call stack'


def waits_of(rows, name):
    return {state: rows.get(name, {}).get(f'i.{state}', 0) for state in ('lock', 'sleep')}


def check_waits(t, words, rows, lateness, **truth):
    for name, waits in truth.items():
        for state in ('lock', 'sleep'):
            expected = waits.get(state, 0)
            t.near(waits_of(rows, NO_STACK if name == 'nowhere' else name)[state], expected, f'{words}: {state} of {name}', 0.03,
                   0.03 + 2 * lateness)


def warnings_of(t, result):
    return t.run(t.helio, 'print', '-functions', result.experiment).err


@test(engines=True)
def waits_as_another_user(t, engine):
    """A process that has given root up waits where it waits, in its own state: also one that is made afterwards."""
    t.need_root('become another user')
    program = build(t, 'undumpable', ('undumpable.c', UNDUMPABLE), flags=('-O1', '-g', '-pthread'))
    for words in ('u', 'uf'):
        with t.lateness() as late:
            result = t.collect(program, words, engine=engine)
        truth = result.truth()
        rows = t.functions(result.experiment, 'i.lock', 'i.sleep')
        check_waits(t, words, rows, late.worst, rest={'sleep': truth['rest']}, rest_in_thread={'sleep': truth['thread']},
                    wait_for_lock={'lock': truth['lock']}, nowhere={})
        t.check(HIDDEN not in warnings_of(t, result), f'{words}: a warning without reason')


@test(engines=True)
def first_wait_of_a_thread(t, engine):
    """A thread that has only waited so far has a whole call stack, from libc's start of threads on."""
    program = build(t, 'undumpable', ('undumpable.c', UNDUMPABLE), flags=('-O1', '-g', '-pthread'))
    for _ in range(3):
        result = t.collect(program, 'x', engine=engine)
        rows = t.functions(result.experiment, 'i.sleep')
        failed = rows.get('<Stack-unwind-failed>', {}).get('i.sleep', 0)
        t.check(failed == 0, f'{failed} of {result.truth()["thread"]} s have no whole stack')


@test
def waits_that_are_not_shown(t):
    """
    An ordinary user's process that is not dumpable: threads from before wait where they wait, others nowhere, and helio says so;
    their states are right.
    """
    program = build(t, 'undumpable', ('undumpable.c', UNDUMPABLE), flags=('-O1', '-g', '-pthread'))
    t.directory.chmod(0o777)
    nobody = (t.need('setpriv'), '--reuid', '65534', '--regid', '65534', '--clear-groups') if is_root() else ()
    if nobody and t.run(*nobody, 'test', '-x', t.helio).status:
        raise Skip('nobody cannot run what was built')
    jails = not t.run(*nobody, 'unshare', '--user', 'true').status
    for words in ('n', 'nf', *(('jn', 'jnf') if jails else ())):
        with t.lateness() as late:
            result = t.collect(program, words, engine='monitor', before=nobody)
        truth = result.truth()
        rows = t.functions(result.experiment, 'i.lock', 'i.sleep')
        if 'f' not in words:
            check_waits(t, words, rows, late.worst, rest={'sleep': truth['rest']}, rest_in_thread={},
                        wait_for_lock={'lock': truth['lock']}, nowhere={'sleep': truth['thread']})
        else:
            check_waits(t, words, rows, late.worst, rest={}, wait_for_lock={},
                        nowhere={'sleep': truth['rest'] + truth['thread'], 'lock': truth['lock']})
        t.check(HIDDEN in warnings_of(t, result), f'{words}: no word of it')


GLOBAL_LOCK = """
import threading, time
def compute():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        sum(range(1000))
threads = [threading.Thread(target=compute) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@test
def lock_made_of_a_condition(t):
    """Python's threads that compute contend for its global lock, which is a condition: none of them is idle; those of its pool are."""
    python = t.need('python3')
    pool = 'import concurrent.futures as f, time\nwith f.ThreadPoolExecutor(3) as e: list(e.map(len, "abc" * 9)); list(e.map(time.sleep, [.01] * 9)); time.sleep(1)'
    for script, idle in ((GLOBAL_LOCK, False), (pool, True)):
        rows = t.print(t.collect(python, '-c', script).experiment, '-report')[0]['rows']
        times = [row['name'] for row in rows if row['section'] == 'time']
        t.within(any(name.startswith('idle: ') for name in times) == idle, f'{times}')
