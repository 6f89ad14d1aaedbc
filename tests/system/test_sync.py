# SPDX-License-Identifier: Apache-2.0
"""
Synchronization tracing. The targets let each wait last for a known time, measure it themselves
and make known numbers of calls that need not wait.
"""
import collections
import re

import helio_reader
from harness import Rows, test

ROUNDS, MS, CALLS = 3, 20, 1000
# kind of wait: what `locks` calls what is waited for
KINDS = {
    'mutex': 'the_mutex (mutex)', 'timedmutex': 'timed_mutex (mutex)', 'heapmutex': None, 'stackmutex': None, 'c11mutex': 'c11_mutex (mutex)',
    'read': 'read_lock (read lock)', 'write': 'write_lock (write lock)', 'spin': 'spin (spin lock)', 'semaphore': 'semaphore (semaphore)',
    'barrier': 'barrier (barrier)', 'condition': 'condition (condition)', 'futex': 'futex_word (futex)', 'join': '<threads> (join)',
    'timeout': 'late_condition (condition)'}


def trace(t, threshold, target='locks', engine=None, clock='on', ms=None, calls=CALLS):
    ms = ms or t.pace(MS)
    with t.lateness() as late:
        result = t.collect(t.target(target), ROUNDS, ms, calls, engine=engine, options=('-s', threshold, '-p', clock))
    result.late = late.worst
    return result


def waits(t, result):
    """{function: (seconds, count)}"""
    rows = t.functions(result.experiment, 'i.sync', 'i.syncn')
    return Rows({name: (row['i.sync'], row['i.syncn']) for name, row in rows.items()})


def locks(t, result):
    return Rows({row['name']: row for row in t.print(result.experiment, '-locks')[0]['rows']})


def near(t, seconds, measured, what, late=0.0, joined=0.0):
    """
    The program measures around the call: never less, and hardly more unless it loses the processor there, each time for `late`.
    Joined: what else its function waited for, in vain on a quiet machine.
    """
    least = 0.7 * measured - ROUNDS * late
    t.within(least <= seconds <= measured + joined, f'{what}: {seconds:.6f} s of {measured:.6f} s, at least {least:.6f}')


def check_waits(t, result, kinds, name, exact=True, may_spin=()):
    found, truth = waits(t, result), result.truth()
    for kind in kinds:
        function = name.format(kind)
        t.within(function in found or kind in may_spin, f'no waits in {function}')
        seconds, count = found.get(function, (0, 0))
        waited, joined = truth[f'{kind}.waited'], truth.get(f'{kind}.joined', 0)
        if kind in may_spin and result.late > MS / 4000:
            t.within(seconds <= waited + joined, f'{function}: {seconds} s of {waited} and {joined}')
            continue
        near(t, seconds, waited, f'{function} waited', result.late, joined)
        # who comes late, when it is over, has not waited
        t.within(count == ROUNDS if exact else count >= 1, f'{function}: {count} waits, not {ROUNDS}')
    return found


@test(alone=True, engines=True)
def of_known_length(t, engine):
    """Each kind of wait, with a clock beside it; calls that need not wait leave no trace."""
    result = trace(t, 'on', engine=engine)
    found = check_waits(t, result, set(KINDS) - {'condition', 'timeout'}, 'wait_{}')
    check_waits(t, result, ('condition', 'timeout'), 'wait_{}', exact=False)  # their mutexes may be waited for, too
    for function in ('call_mutex', 'call_others'):
        # one that is preempted in a call that need not wait seems to have waited
        t.within(not found.get(function, (0, 0))[1], f'waits in {function}: {found.get(function)}')


@test(alone=True)
def every_call(t):
    """-s all: the numbers of calls are those of the program; without a clock the threads are there all the same."""
    result = trace(t, 'all', clock='off')
    found = check_waits(t, result, set(KINDS) - {'condition', 'timeout'}, 'wait_{}')
    t.equal(found['call_mutex'][1], CALLS, 'calls in call_mutex')
    t.equal(found['call_others'][1], 5 * CALLS, 'calls in call_others')
    t.equal(found['call_mutex'][0] + found['call_others'][0], 0, 'waited where all is free')
    t.equal(found['wait_condition'][1], 2 * ROUNDS, 'calls in wait_condition')  # a mutex and a condition
    process = t.read(result.experiment)['']
    t.equal(len(process['threads']), 2 + ROUNDS, 'threads')
    t.equal(len(process['traces']['synctrace']), found['<Total>'][1], 'events by the second reader')
    t.near(sum(event['waited_ns'] for event in process['traces']['synctrace']) / 1e9, found['<Total>'][0], 'waited by the second reader', 1e-6)
    # by a second count: the third argument twice as large
    more = waits(t, trace(t, 'all', clock='off', calls=2 * CALLS))
    t.equal(more['<Total>'][1] - found['<Total>'][1], 6 * CALLS, 'more calls')


@test(alone=True)
def below_the_threshold(t):
    """Waits of 20 ms, a threshold of 10 s: nothing; of 5 ms: those waits and no others."""
    result = trace(t, '10s')
    t.equal(t.read(result.experiment)['']['traces']['synctrace'], [], 'events above 10 s')
    found = check_waits(t, trace(t, '5000'), KINDS, 'wait_{}')
    t.within(found['<Total>'][1] == ROUNDS * len(KINDS), f'{found["<Total>"][1]} waits above 5 ms')


@test(alone=True)
def by_lock(t):
    result = trace(t, '1000')
    found, truth = locks(t, result), result.truth()
    for kind, name in KINDS.items():
        if name:
            t.within(name in found, f'no {name} in {sorted(found)}')
            near(t, found[name]['sync'], truth[f'{kind}.waited'], name, joined=ROUNDS * result.late)  # the other thread's waits for a late one
            t.check(found[name]['object'] == t.target('locks') or kind == 'join', f'{name} is of {found[name]["object"]}')
    heap = f'0x{int(truth["heapmutex.address"]):x} (mutex)'
    t.within(found[heap]['syncn'] == ROUNDS, f'waits for the mutex on the heap: {found[heap]}')
    t.equal(found['late_condition (condition)']['failed'], ROUNDS, 'timeouts')
    # who had it: the first thread waits for the second one
    detail = t.print(result.experiment, '-lock', 'the_mutex')[0]
    t.equal(detail['rows'][0]['name'], 'the_mutex (mutex)', 'the lock')
    pairs = [row for row in detail['rows'] if 'waiter' in row]
    t.within(len(pairs) == 1, f'pairs of threads: {pairs}')
    t.within('Thread 1 ' in pairs[0]['waiter'] and 'Thread 2 ' in pairs[0]['holder'], f'{pairs[0]}')
    stacks = [row['frames'] for row in detail['rows'] if 'frames' in row and 'held' not in row]
    t.within(len(stacks) == 1 and stacks[0][0].startswith('wait_mutex + ') and stacks[0][1].startswith('main + '), f'{stacks}')


@test(alone=True)
def of_cxx(t):
    """
    The classes of C++20, which wait by POSIX threads or by futexes. Before these they yield the processor some times: on a busy
    machine that is the whole wait.
    """
    result = trace(t, '1000', target='locks_cxx')
    check_waits(t, result, ('mutex', 'recursive', 'timed', 'shared', 'condition', 'in_vain', 'semaphore', 'latch', 'barrier', 'atomic',
                            'future', 'join'), 'wait_{}()', exact=False,
                may_spin=('semaphore', 'latch', 'barrier', 'atomic', 'future'))


@test(engines=True)
def edges(t, engine):
    """Errors, errno, robust locks, signals, cancellation, longjmp: not a word differs; afterwards waits are recorded as ever."""
    for threshold in ('on', 'all'):
        for result, family in t.like_bare(engine, t.target('lockedges'), intervals=('100u', 'off'), options=('-s', threshold)):
            after = [event for event in family['']['traces']['synctrace'] if event['type'] == 'condition' and event['errno'] == 110]
            t.check(len(after) >= result.truth()['after'], f'{len(after)} conditions waited for in vain')
            count = waits(t, result)['wait_after'][1]
            t.within(count == result.truth()['after'] + (2 if threshold == 'all' else 0), f'{count} waits in wait_after')


PYTHON = """
import sys, threading, time

def held(lock):
    with lock:
        taken.set()
        time.sleep(int(sys.argv[1]) / 1000)

for i in range(3):
    lock, taken = threading.Lock(), threading.Event()
    holder = threading.Thread(target=held, args=(lock,))
    holder.start()
    taken.wait()
    with lock:
        pass
    holder.join()
print('done')
"""


@test(alone=True, engines=True)
def of_python(t, engine):
    """Its locks are semaphores of POSIX."""
    ms = t.pace(MS)
    for result, family in t.like_bare(engine, t.need('python3'), '-c', PYTHON, ms, intervals=('1',), options=('-s', 'on')):
        # python3 may be started by a script
        waited = [event['waited_ns'] for process in family.values() for event in process['traces'].get('synctrace', ())
                  if event['type'] == 'semaphore']
        # a busy machine lets a thread begin as late
        t.within(len([ns for ns in waited if ns > ms * 0.5e6]) >= 3, f'waits of {ms} ms: {waited}')
        t.within(any('PyThread_acquire_lock' in name for name in waits(t, result)), 'no PyThread_acquire_lock')


@test
def of_descendants(t):
    """Forks that exec, and one that does not: each has its own events."""
    result = t.collect('sh', '-c', '"$0" 1 2 100 & "$0" 1 2 200 & wait', t.target('locks'), options=('-s', 'all', '-p', 'off'))
    counts = {}
    for lineage, process in t.read(result.experiment).items():
        counts[lineage] = len([e for e in process['traces'].get('synctrace', []) if e['type'] == 'spin lock'])
    t.equal(counts, {'': 0, '_f1': 0, '_f1_x1': 102, '_f2': 0, '_f2_x1': 202}, 'spin locks by process')
    # the same variable of the same program is one lock
    t.equal(locks(t, result)['spin (spin lock)']['syncn'], 304, 'spin locks in all')


@test
def until_it_is_killed(t):
    result = t.collect('timeout', '-s', 'KILL', '0.5', t.target('locks'), 10000, 1, 5000, options=('-s', 'all', '-p', 'off'), status=None)
    [process] = [p for lineage, p in t.read(result.experiment).items() if p['traces'].get('synctrace')]
    calls = [e for e in process['traces']['synctrace'] if e['type'] == 'spin lock']
    t.equal(len(calls), 5000, 'spin locks before the first wait')


@test
def of_many_threads(t):
    """As many joins as threads."""
    result = t.collect(t.target('shortthreads'), 1000, 0.0001, options=('-s', 'all', '-p', 'off'))
    process = t.read(result.experiment)['']
    joins = [e for e in process['traces']['synctrace'] if e['type'] == 'join']
    t.equal(len(joins), len(process['threads']) - 1, 'joins')
    t.check(len(joins) >= 100, f'only {len(joins)} threads')


@test
def in_allocated_memory(t):
    """Where allocations were traced too, a lock is known by who made it."""
    result = t.collect(t.target('locks'), ROUNDS, 2, 10, options=('-s', '1000', '-H', 'on', '-p', 'off'))
    names = [name for name in locks(t, result) if name.startswith('block from main + ')]
    t.within(len(names) == 1 and names[0].endswith(', byte 0 (mutex)'), f'{names}')
    name = names[0]
    detail = t.print(result.experiment, '-lock', name)[0]['rows']
    t.within(detail[0]['syncn'] >= ROUNDS and detail[0]['allocated_by'][0].startswith('main + '), f'{detail[0]}')
    t.within(any(row.get('frames', [''])[0].startswith('wait_heapmutex + ') for row in detail), 'no wait_heapmutex')


@test
def chosen_by_a_filter(t):
    """SLOCK IN LOCKNAME chooses the waits for locks by name: variables, blocks, joins; SOBJ those for an address. Their sums are those of the list."""
    result = t.collect(t.target('locks'), ROUNDS, 2, 10, options=('-s', '1000', '-H', 'on', '-p', 'off'))
    rows = t.print(result.experiment, '-locks')[-1]['rows']
    kinds = collections.defaultdict(int)
    for row in rows[1:]:
        name = row['name'].rpartition(' (')[0]
        kinds[name] += row['syncn']
    t.check(len(kinds) > 3 and any(name.startswith('block from ') for name in kinds) and '<threads>' in kinds, f'{list(kinds)}')
    for name, count in kinds.items():
        wanted = 'SLOCK IN LOCKNAME("' + re.escape(name).replace('\\ ', ' ') + '")' if not name.startswith('0x') else f'SOBJ == {name}'
        for expression, waits in ((wanted, count), (f'!(HAS_PROP(STYPE) && {wanted})', rows[0]['syncn'] - count)):
            *_, functions, listed = t.print(result.experiment, '-metrics', 'e.syncn:name', '-filters', expression, '-functions', '-locks')
            t.equal((functions['rows'][0]['e.syncn'], listed['rows'][0]['syncn']), (waits, waits), expression)
    refused = t.run(t.helio, 'print', '-filters', 'SLOCK IN LOCKNAME("[")', result.experiment)
    t.check(refused.status == 1 and 'no regular expression' in refused.err, refused.err)
    unknown = t.run(t.helio, 'print', '-filters', 'SLOCK IN LOCKNAME("nothing")', '-locks', result.experiment)
    t.check('no lock of the experiments has such a name' in unknown.err, unknown.err)


BOTH = '''#include <pthread.h>
union {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
} both;
int main(void)
{
	pthread_mutex_init(&both.mutex, 0);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&both.mutex);
		pthread_mutex_unlock(&both.mutex);
	}
	pthread_mutex_destroy(&both.mutex);
	pthread_rwlock_init(&both.rwlock, 0);
	for (int i = 0; i < 5; i++) {
		pthread_rwlock_rdlock(&both.rwlock);
		pthread_rwlock_unlock(&both.rwlock);
	}
	return 0;
}
'''


@test
def two_kinds_at_one_address(t):
    """A lock has its own waits only, where another kind of lock is at the same address later."""
    (t.directory / 'both.c').write_text(BOTH)
    t.equal(t.run(t.need('gcc'), '-g', '-pthread', '-o', t.directory / 'both', t.directory / 'both.c').status, 0, 'gcc')
    experiment = t.collect(t.directory / 'both', options=('-s', 'all', '-p', 'off')).experiment
    for kind, count in ('mutex', 3), ('read lock', 5):
        rows = t.print(experiment, '-lock', f'both ({kind})')[0]['rows']
        t.equal(rows[0]['syncn'], count, kind)
        t.equal([row['syncn'] for row in rows if 'frames' in row or 'waiter' in row], [count] * 2, f'{kind}: by whom and from where')


@test
def asked_for(t):
    """What -s takes and what it refuses; what the experiment says of it."""
    for word, shown in (('on', 'calibrate'), ('', 'calibrate'), ('all,n', 'all,n'), ('on,j', 'calibrate,j'), ('1ms,nj', '1000000'), ('0', 'all'), ('20', '20000'), ('1.5ms', '1500000')):
        result = t.run(t.helio, 'collect', '-n', '-s', word, 'true')
        t.check(f'synchronization tracing enabled, {shown}\n' in result.out + result.err, f'{word}: {result.out + result.err}')
    t.check('synchronization' not in t.run(t.helio, 'collect', '-n', '-s', 'off', 'true').err, 'off')
    for word in ('x', '-5', 'on,x', '20q', ','):
        result = t.run(t.helio, 'collect', '-s', word, 'true')
        t.check(result.status == 1 and f"Unrecognized synchronization tracing threshold '{word}'" in result.err, f'{word}: {result.err}')
    result = trace(t, '3', clock='off', ms=1)
    header = t.run(t.helio, 'print', '-header', result.experiment)
    t.check('Synchronization tracing threshold: 3.000 microsec.' in header.out, header.out)
    t.equal(header.err, '', 'warnings')  # that a clock was off is no damage
    # the default metrics are those that there is data for
    t.check('Sync Wait' in t.run(t.helio, 'print', '-functions', result.experiment).out, 'no Sync Wait by default')
    result = t.collect(t.target('empty'))
    lacking = t.run(t.helio, 'print', '-locks', result.experiment)
    t.check(lacking.status and 'No synchronization data: record it with helio collect -s on' in lacking.err, lacking.err)


@test
def within_the_window(t):
    """-t: of a wait that began before it only what lies within counts."""
    result = t.collect(t.target('locks'), 1, 60, 10, options=('-s', 'all', '-p', 'off', '-t', '0.1-0.5'))
    events = t.read(result.experiment)['']['traces']['synctrace']
    t.within(len(events) >= 3, f'only {len(events)} events')
    begins = [event['time'] - event['waited_ns'] for event in events]
    t.within(min(begins) >= 100e6 and max(event['time'] for event in events) <= 500e6, f'from {min(begins)}')


@test
def thresholds_in_the_header(t):
    """A threshold is no kind of tracing, and has a unit that can be read."""
    for option, text in (('140ms', '140.000 millisec.'), ('20us', '20.000 microsec.')):
        result = t.collect('true', options=('-s', option, '-p', 'off'))
        header = t.run(t.helio, 'print', '-header', result.experiment).out
        t.check('  Synchronization tracing: on\n' in header, header)
        t.check(f'  Synchronization tracing threshold: {text}\n' in header, header)


HOLDS = '''#include <pthread.h>
#include <stdio.h>
#include <time.h>
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static double asked, released;

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void nap(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* For as long as the other thread has waited, at least, when it is released. */
static void hold(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_barrier_wait(&turn);
	nap(150);
	released = now();
	pthread_mutex_unlock(mutex);
	pthread_barrier_wait(&turn);
}

static void ask(pthread_mutex_t *mutex, const char *name)
{
	pthread_barrier_wait(&turn);
	asked = now();
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	pthread_barrier_wait(&turn);
	printf("%s %.6f\\n", name, released - asked);
}

static void *other(void *arg)
{
	for (int i = 0; i < 3; i++)
		ask(&outer, (const char *[]){"first", "second", "third"}[i]);
	hold(&inner);
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < 3; i++)
		hold(&outer);
	ask(&inner, "fourth");
	pthread_join(thread, NULL);
	return 0;
}
'''


@test(alone=True)
def held_in_time(t):
    """lockholds: a thread has one lock three times, and waits once for the other thread with another one; each as long as the program says."""
    (t.directory / 'holds.c').write_text(HOLDS)
    t.equal(t.run(t.need('gcc'), '-g', '-pthread', '-o', t.directory / 'holds', t.directory / 'holds.c').status, 0, 'gcc')
    result = t.collect(t.directory / 'holds', options=('-s', '1ms'))
    truth = result.truth()
    all_of_it, sums, outer, inner = t.print(result.experiment, '-lockholds', '-lockholds', '2', '-lock', 'outer', '-lock', 'inner')
    rows = all_of_it['rows']
    t.equal([(row['lock'], row['thread'], [name.split(' (')[0] for name in row['waiters']], row['holds'], row['waits']) for row in rows],
            [('outer (mutex)', 1, ['Process 1, Thread 2'], 1, 1)] * 3 + [('inner (mutex)', 2, ['Process 1, Thread 1'], 1, 1)], 'who had what, and for whom')
    for name, row in zip(('first', 'second', 'third', 'fourth'), rows):
        t.ratio(row['end_s'] - row['begin_s'], truth[name], 0.9, 1.05, name)
        t.near(row['waited_s'], row['end_s'] - row['begin_s'], f'{name}: waited by one thread', 1e-6)
    # what the clock explains of it cannot be more
    for title, lock in ('outer (mutex)', outer), ('inner (mutex)', inner):
        known = sum(row['waited_s'] for row in rows if row['lock'] == title)
        t.ratio(sum(row['held'] for row in lock['rows'] if 'held' in row), known, 0.9, 1.002, f'{title}: what its holders did')
        t.check(known <= lock['rows'][0]['sync'] + 1e-3, f'{title}: held for longer than it was waited for')
    t.equal([sum(row['holds'] for row in answer['rows']) + answer['left_out'] for answer in (all_of_it, sums)], [4, 4], 'holds')
    t.equal([(row['lock'], row['holds']) for row in sums['rows']], [('outer (mutex)', 3), ('inner (mutex)', 1)], 'sums')
    second = rows[1]
    part = t.print(result.experiment, '-lockholds', '-from', f'{second["begin_s"] + 0.01:.9f}', '-to', f'{second["begin_s"] + 0.02:.9f}')[0]
    t.equal(part['rows'], [second], 'in a range of time')
    chosen = t.print(result.experiment, '-filters', 'SLOCK IN LOCKNAME("inner")', '-lockholds')[-1]['rows']
    t.equal(chosen, [rows[3]], 'for the waits that a filter chooses')


STORM = """
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *run(void *seed)
{
	for (unsigned i = 0, x = (unsigned)(long)seed; i < 4000; i++) {
		x = x * 1103515245 + 12345;
		pthread_mutex_lock(&locks[x >> 16 & 1]);
		if ((x >> 20 & 3) == 0)
			sched_yield();
		pthread_mutex_unlock(&locks[x >> 16 & 1]);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


@test
def held_in_parts_of_the_time(t):
    """lockholds of a range has those of all the time that overlap it, each as long as it is; sums of them are sums, and keep their order."""
    (t.directory / 'storm.c').write_text(STORM)
    t.equal(t.run(t.need('gcc'), '-g', '-pthread', '-o', t.directory / 'storm', t.directory / 'storm.c').status, 0, 'gcc')
    path = t.collect(t.directory / 'storm', options=('-s', 'all')).experiment
    everything = t.print(path, '-lockholds', '0')[0]
    rows = everything['rows']
    t.check(len(rows) > 50, f'only {len(rows)} holds')
    begin, end = rows[0]['begin_s'], max(row['end_s'] for row in rows)
    ranges = [(begin + (end - begin) * a / 7, begin + (end - begin) * b / 7) for a, b in ((0, 1), (2, 3), (1, 6), (6, 7), (3, 3.01))]
    ranges = [(round(a, 9), round(b, 9)) for a, b in (*ranges, (rows[9]['end_s'] + 1e-9, rows[40]['begin_s']))]
    words = [word for a, b in ranges for word in ('-lockholds', '-from', f'{a:.9f}', '-to', f'{b:.9f}', '0')]
    for (a, b), part in zip(ranges, t.print(path, *words)):
        expected = [row for row in rows if row['end_s'] > a - 5e-10 and row['begin_s'] < b - 5e-10]
        t.equal(part['rows'], expected, f'those of {a} to {b}')
        t.equal(part['holds'], len(expected), f'how many there are from {a} to {b}')
        t.near(part['waited_s'], sum(row['waited_s'] for row in expected), f'waited from {a} to {b}', absolute=1e-6)
        t.check(part['unknown_s'] <= everything['unknown_s'] + 1e-9, f'for whom is not known from {a} to {b}')
    for most in 10, 40:
        sums = t.print(path, '-lockholds', str(most))[0]
        t.check(len(sums['rows']) <= most, f'{len(sums["rows"])} rows')
        for row in sums['rows']:
            own = [r for r in rows if (r['lock'], r['holder']) == (row['lock'], row['holder']) and row['begin_s'] <= r['begin_s'] <= row['end_s']]
            t.check(row['holds'] <= len(own), f'{row}: {len(own)} holds begin there')
        t.equal(sum(row['holds'] for row in sums['rows']) + sums['left_out'], len(rows), f'holds as {most} rows')


@test(alone=True, engines=True)
def holders_meanwhile(t, engine):
    """What holders do counts once for each thread that waits then, and not what they do when nobody does."""
    result = t.collect(t.target('holders'), engine=engine, options=('-s', '1ms'))
    truth = result.truth()
    rows = t.print(result.experiment, '-lock', 'the_mutex')[0]['rows']
    held = {name: sum(row['held'] for row in rows if 'held' in row and any(frame.startswith(name) for frame in row['frames']))
            for name in ('compute_with_it', 'sleep_with_it', 'nap_with_it', 'compute_without')}
    t.ratio(held['compute_with_it'], truth['computing'], 0.4, 1.05, 'computing with the lock')
    t.near(held['sleep_with_it'], truth['sleeping'], 'sleeping with the lock', absolute=0.06)
    t.near(held['compute_without'], 0, 'computing without it', absolute=0.08)  # 0.6 in all
    t.ratio(held['nap_with_it'], truth['napping'], 0.7, 1.01, 'short sleeps with the lock')
    right = held['compute_with_it'] + held['sleep_with_it'] + held['nap_with_it']
    t.ratio(right, sum(row.get('held', 0) for row in rows), 0.9, 1.0001, 'held where it was')
    t.check(sum(row.get('held', 0) for row in rows) <= rows[0]['sync'] * 1.001, 'no more than was waited')
    text = t.run(t.helio, 'print', '-lock', 'the_mutex', result.experiment).out
    t.within('What its holders did while it was waited for' in text, text)
    rows = t.print(result.experiment, '-lock', 'the_rwlock')[0]['rows']
    t.near(sum(row.get('unknown', 0) for row in rows), truth['reading'], 'who held it for reading is not known', relative=0.02)
    t.check('\nNot known: ' in t.run(t.helio, 'print', '-lock', 'the_rwlock', result.experiment).out, 'said in the text')


@test(alone=True, engines=True)
def holders_take_turns(t, engine):
    """Of a wait for several holders each is charged with its time, and none with what it does once it has let go."""
    with t.lateness() as late:
        result = t.collect(t.target('lockturns'), engine=engine, options=('-s', '1ms'))
    truth, slack, after = result.truth(), 3 * late.worst, 0
    for lock in sorted({name.split('.')[0] for name in truth}):
        rows = t.print(result.experiment, '-lock', lock)[0]['rows']
        held = {name: sum(row['held'] for row in rows if 'held' in row and any(frame.startswith(name) for frame in row['frames']))
                for name in ('held_first', 'held_second', 'without_it', 'pthread_cond_wait', 'pthread_join')}
        for name in ('first', 'second'):
            seconds, most = held[f'held_{name}'], truth[f'{lock}.{name}']
            t.within(0.7 * most - slack <= seconds <= 1.01 * most, f'{lock}: behind the {name} {seconds:.3f} of {most:.3f} s, {late.worst:.3f} late')
        for name in ('without_it', 'pthread_cond_wait', 'pthread_join'):
            t.within(held[name] <= 0.05 * rows[0]['sync'] + slack, f'{lock}: {name} {held[name]:.3f} s, after it was released')
        after += held['without_it']
    t.within(after <= 0.004 * sum(truth.values()) + late.worst, f'{after:.3f} s at what the holders did later, {late.worst:.3f} late')
    objects = {event['object'] for event in t.read(result.experiment)['']['releases']}
    t.equal(len(objects), len(truth) // 2, 'locks with releases by the second reader')


@test(engines=True)
def under_way_at_the_end(t, engine):
    """What waits when the program ends, or becomes another, has waited so far; a wait that was left by a jump has not."""
    objects = {'the_mutex (mutex)', 'the_lock (read lock)', 'the_condition (condition)', 'the_semaphore (semaphore)', 'word (futex)', 'the_spin (spin lock)'}
    for how in ('exit', 'exec', 'fail'):
        with t.lateness() as late:
            result = t.collect(t.target('underway'), how, engine=engine, options=('-s', 'on', '-i', 'on'))
        slack = 0.02 + late.worst
        truth = result.truth()
        process = t.read(result.experiment)['']
        functions = t.functions(result.experiment, 'i.sync', 'i.syncn', 'i.ioreadtime', 'i.ioreadcnt')
        for name in ('mutex', 'lock', 'condition', 'semaphore', 'futex', 'spinning'):
            row = functions[f'wait_{name}']
            t.within(row['i.syncn'] == 1, f'{how}: {row["i.syncn"]} waits of {name}')
            t.near(row['i.sync'], truth[name], f'{how}: {name}', absolute=slack)
        for name in ('read', 'stream'):
            t.equal(functions[f'wait_{name}']['i.ioreadcnt'], 1, f'{how}: reads of {name}')
            t.near(functions[f'wait_{name}']['i.ioreadtime'], truth[name], f'{how}: {name}', absolute=slack)
        for name in ('poll', 'accept'):
            waited = [e['waited_ns'] / 1e9 for e in process['traces']['iotrace'] if e['type'] == 'wait']
            t.within(any(abs(seconds - truth[name]) < slack for seconds in waited), f'{how}: {name} {truth[name]}, {waited}')
        t.equal(functions.get('wait_nowhere', {}).get('i.syncn', 0), 0, f'{how}: of a wait that was left')
        found = set(locks(t, result)) - {'<Total>'}
        t.within(found == objects, f'{how}: locks: {found}')


@test
def without_room(t):
    """What a limit on files leaves no room for is counted; the program goes on."""
    calls = 50000
    result = t.collect('sh', '-c', f'ulimit -f 1024; exec "$0" 0 0 {calls}', t.target('locks'), options=('-s', 'all', '-p', 'off'))
    process = helio_reader.read_family(str(result.experiment))['_x1']
    counters = [event for event in process['log_events'] if event['kind'] == 'counters'][-1]
    recorded, dropped = len(process['traces']['synctrace']), int(counters['dropped'])
    t.equal(int(counters['synctrace']), recorded, 'events that were counted')
    t.equal(recorded + dropped, 6 * calls + 1, 'recorded and dropped')  # and a join
    t.check(recorded > 0 and process['warnings'] == [f'synctrace: {dropped} events were dropped'], f'{process["warnings"]}')
