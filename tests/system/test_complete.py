# SPDX-License-Identifier: Apache-2.0
"""
Nothing is lost: CPU and wall time in the profile against what the program's
own getrusage says. 1 % is the promise for runs of 3 s and more.
"""
from harness import few_ticks, look_s, monitor_cpu, test

LOW, HIGH = 0.99, 1.01

LOOK_S = 0.004  # from one look of the monitor's to the next: while the interval is shorter, and then the interval


def complete(t, engine, name, *arguments, low=LOW, threads=1):
    """
    The monitor's own thread is the collector's cost, and no part of the profile; getrusage has it as well, and what came before main,
    which is the more the slower the machine and the less the program has of it (own_begin_and_end_are_not_the_program_s has the truth of that).
    `threads`: so many live at a time.
    """
    result = t.collect(t.target(name), *arguments, engine=engine)
    truth = result.truth()
    process = t.read(result.experiment)['']
    t.equal(process['dropped'], 0, 'dropped')
    t.equal(process['collector']['engine'], engine, 'engine')
    counts = [event for event in process['log_events'] if event['kind'] == 'counters'][-1]
    before = (int(counts['before_user_us']) + int(counts['before_system_us'])) / 1e6
    # loading and the collector's begin are nearly all of what comes before the program's own code
    t.ratio(before, truth['begun_cpu'], 0.5, 1, 'before')
    t.ratio(process['cpu'], truth['cpu'] - truth['begun_cpu'] - monitor_cpu(process), low, HIGH, 'cpu')
    t.ratio(process['threads'][0]['sum'], truth['wall'], LOW, HIGH, 'wall')
    looks_are_few_and_cheap(t, process, truth, threads)
    return result, truth, process


def looks_are_few_and_cheap(t, process, truth, threads):
    """
    The monitor's thread waits after each look: that wait is in what the kernel tells the program, and not in a sample point. A look comes at an
    interval, an eighth of it early at most, and opens no file anew; what it costs in full is told by `./dev bench overhead`. Few looks cost
    mostly what comes once, at the begin and the end: some 40 looks' worth.
    """
    looks = truth['waits'] - process['samples'][-1]['voluntary_switches']
    t.within(looks <= truth['wall'] / LOOK_S * 8 / 7 + 10, f'{looks} looks in {truth["wall"]} s')
    most = look_s() * (looks + 40) * 4 * (1 + threads)
    t.within(monitor_cpu(process) < most, f'monitor: {monitor_cpu(process):.4f} s for {looks} looks, not {most:.4f}')


@test(alone=True, engines=True)
def computing(t, engine):
    complete(t, engine, 'flat', '3s')


@test(alone=True, engines=True)
def deep_recursion(t, engine):
    complete(t, engine, 'deep', '3s')


@test(alone=True, engines=True)
def allocating(t, engine):
    complete(t, engine, 'malloc_heavy', '3s')


@test(alone=True, engines=True)
def eight_threads(t, engine):
    _, truth, process = complete(t, engine, 'threads8', '0.5s', threads=9)
    threads = {thread['tid']: thread for thread in process['threads']}
    for key, cpu in truth.items():
        if key.startswith('thread.') and key.endswith('.cpu'):
            thread = threads[int(key.split('.')[1])]
            t.near(sum(thread['states'].get(s, 0) for s in ('user', 'system', 'trap')), cpu, key, 0.01, 0.002)
            t.near(thread['sum'], truth[key.replace('.cpu', '.life')], f'{key} life', 0.01, 0.005)


@test(alone=True, engines=True)
def short_threads(t, engine):
    """
    2000 threads, each much shorter than an interval, use 3 s. What the kernel
    does before a thread's first instruction and after its last, about 20 µs of
    its 1.5 ms, belongs to the process and to no thread's profile.
    """
    _, truth, process = complete(t, engine, 'shortthreads', '2000', low=0.98, threads=3)
    t.equal(len(process['threads']), 2001, 'threads')
    main, *threads = (sum(thread['states'].get(s, 0) for s in ('user', 'system', 'trap')) for thread in process['threads'])
    t.ratio(main, truth['thread_cpu'] - truth['begun_cpu'], 0.95, 1.05, 'first thread')
    t.ratio(sum(threads), truth['threads.cpu'], 0.99, float('inf'), 'threads.cpu')
    # all that is not the first thread's: what starting and ending took is in it, however long that was
    t.ratio(sum(threads), truth['cpu'] - truth['thread_cpu'] - monitor_cpu(process), 0.98, 1.001, 'all threads but the first')


@test(alone=True, engines=True)
def waiting_and_faulting(t, engine):
    """One second of CPU in 3.3 s."""
    complete(t, engine, 'phases', '0.3')


@test(alone=True, engines=True)
def throwing(t, engine):
    result, truth, process = complete(t, engine, 'exceptions', '3s')
    t.equal(truth['caught_all'], 1, 'exceptions caught')
    # as in stacks/exceptions
    t.within(process['unrecorded'].get('<Stack-unwind-failed>', 0) < (0.01 + few_ticks(process, truth)) * process['cpu'],
             f'stacks that end early: {process["unrecorded"]}')


@test(alone=True, engines=True)
def switching(t, engine):
    """Hundreds of thousands of context switches per second: throttled, yet the totals are right."""
    complete(t, engine, 'pingpong', '3s', threads=3)


@test(alone=True, engines=True)
def intervals(t, engine):
    """
    From 100 µs to 1 s the totals are the same: they do not depend on counting
    ticks. Against the thread's own clock: at 100 µs the monitor's thread uses CPU too.
    """
    for interval in ('100u', '1m', '100m', '1000m'):
        result = t.collect(t.target('flat'), '3s', engine=engine, options=('-p', interval))
        process = t.read(result.experiment)['']
        t.ratio(process['cpu'], result.truth()['thread_cpu'], LOW, HIGH, interval)


# Its loading takes as long as its work: half a million relocations by name.
RELOCATED = '.data\n.rept 250000\n.quad puts\n.quad malloc\n.endr\n.section .note.GNU-stack,"",%progbits\n'
LOADED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	volatile long sum = 0;
	double begin = used();

	if (argc > 1 && !strcmp(argv[1], "fork") && fork())
		wait(NULL);
	while (used() < begin + 0.05)
		sum++;
	if (argc > 1 && !strcmp(argv[1], "exec"))
		execl(argv[0], argv[0], NULL);
	printf("%.6f\n", used());
	return 0;
}
"""


@test(engines=True)
def time_before_the_recording(t, engine):
    """
    What a process used before its recording began is a row, so that the total is what the process says that it used:
    also after an exec, before which some of that was recorded, and in a forked child, which has loaded nothing.
    """
    (t.directory / 'table.s').write_text(RELOCATED)
    (t.directory / 'loaded.c').write_text(LOADED)
    program = t.directory / 'loaded'
    built = t.run('gcc', '-O1', '-fPIE', '-pie', '-o', program, t.directory / 'loaded.c', t.directory / 'table.s')
    t.check(not built.status, built.err)
    for words in ((), ('exec',), ('fork',)):
        what = ' '.join(words) or 'alone'
        result = t.collect(program, *words, engine=engine)
        rows = t.functions(result.experiment, whole=True)
        family = t.read(result.experiment)
        truth = sum(float(line) for line in result.out.split()) - sum(monitor_cpu(process) for process in family.values())
        before = rows['<before recording>']['e.totalcpu']
        truth -= sum(int(event['before_own_us']) for process in family.values() for event in process['log_events'] if event['kind'] == 'counters') / 1e6
        counted = [(int(event['before_user_us']) + int(event['before_system_us'])) / 1e6 for process in family.values()
                   for event in process['log_events'] if event['kind'] == 'counters']
        t.equal(len(counted), 1 + bool(words), f'{what}: images')
        t.near(rows['<Total>']['e.totalcpu'], truth, f'{what}: total', 0.01, 0.004)
        t.within(before > 0.04 * rows['<Total>']['e.totalcpu'], f'{what}: {before} s before the recording')
        t.check(before <= sum(counted) + 1e-6, f'{what}: {before} of {counted}')
        t.total_is_of(t.functions(result.experiment), family)
        for command, key in (('-threads', 'Thread'), ('-processes', 'Process')):
            listed = t.print(result.experiment, '-metrics', 'e.totalcpu:name', command)[-1]['rows']
            t.near(sum(row['e.totalcpu'] for row in listed[1:]), rows['<Total>']['e.totalcpu'], f'{what}: {command}', absolute=1e-6)
        told = [row['before_s'] for row in t.print(result.experiment, '-statistics')[-1]['rows']]
        t.near(told[0], before, f'{what}: statistics', absolute=1e-6)
        shown = t.run(t.helio, 'print', '-statistics', '-report', result.experiment).out
        t.check('CPU before recording (sec.): ' in shown and '<before recording>\n' in shown, f'{what}: {shown}')
        t.check("'<before recording>'" not in shown, f'{what}: nothing more can be shown of it')


NOTES = r"""
#include <time.h>

double noted;

double used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

__attribute__((constructor)) static void note(void)
{
	noted = used();
}
"""

NOTED = r"""
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern double noted;
double used(void);

static char *put(char *to, double seconds)
{
	unsigned long ns = seconds * 1e9;

	for (unsigned long part = 1000000000000; part; part /= 10)
		*to++ = '0' + ns / part % 10;
	*to++ = ' ';
	return to;
}

/* The last look is nearly the last that is done. */
static void say(double noted, double begun)
{
	char line[64], *end = put(put(line, noted), begun);

	end = put(end, used());
	end[-1] = '\n';
	write(1, line, end - line);
}

int main(int argc, char **argv)
{
	double begun = used();

	for (int i = argc > 2 ? atoi(argv[2]) : 0; i; i--) {
		pid_t child = 0;
		char *words[] = {argv[0], NULL};

		if (!strcmp(argv[1], "spawned"))
			posix_spawn(&child, argv[0], NULL, NULL, words, environ);
		else if (!(child = fork())) {
			begun = used();
			noted = 0;
			break;
		}
		waitpid(child, NULL, 0);
	}
	say(noted, begun);
	return 0;
}
"""


@test(engines=True)
def own_begin_and_end_are_not_the_program_s(t, engine):
    """
    A library of the program's is initialised right before the collector, so what the process has used there is what is used before the recording,
    and what it has used when main begins, less that, the collector's own: that is nobody's, as is what the collector does at the end.
    """
    (t.directory / 'notes.c').write_text(NOTES)
    (t.directory / 'noted.c').write_text(NOTED)
    for words in (('-shared', '-fPIC', '-o', t.directory / 'libnotes.so', t.directory / 'notes.c'),
                  ('-o', t.directory / 'noted', t.directory / 'noted.c', t.directory / 'libnotes.so', f'-Wl,-rpath,{t.directory}')):
        built = t.run('gcc', '-O1', *words)
        t.check(not built.status, built.err)
    for how in ('spawned', 'forked'):
        result = t.collect(t.directory / 'noted', how, '40', engine=engine)
        rows = t.functions(result.experiment, whole=True)
        lives = [[int(number) / 1e9 for number in line.split()] for line in result.out.splitlines()]
        t.equal(len(lives), 41, f'{how}: processes')
        family = t.read(result.experiment).values()
        monitors = sum(monitor_cpu(process) for process in family)
        # what handlers of ticks take is the program's, also where they come before or after its own looks at the clock
        ticks = sum(int(event.get('overhead_ns', 0)) for process in family for event in process['log_events'] if event['kind'] == 'counters') / 1e9
        before, own = sum(noted for noted, _, _ in lives), sum(begun - noted for noted, begun, _ in lives)
        truth = sum(end for _, _, end in lives) - own - monitors
        shown, total = (rows[name]['e.totalcpu'] for name in ('<before recording>', '<Total>'))
        t.within(abs(shown - before) < 0.4 * own, f'{how}: {shown:.4f} s before the recording, {before:.4f} in truth; {own:.4f} are the collector\'s')
        t.within(-0.5 * own < total - truth < 0.5 * own + ticks,
                 f'{how}: {total:.4f} s in all, {truth:.4f} in truth; {own:.4f} are the collector\'s, {ticks:.4f} its handlers\'')


SLOW_END = r"""
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <time.h>

enum { CALL_MS = 60, WORK_MS = 200 };

static volatile unsigned long sink;
static int over;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static __attribute__((noinline)) void burn(double ms)
{
	for (double end = cpu_ms() + ms; cpu_ms() < end;)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

/* Nobody but the collector asks for the load objects here, and it does so when it ends. */
int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *) = dlsym(RTLD_NEXT, "dl_iterate_phdr");

	if (over)
		burn(CALL_MS);
	return next(callback, data);
}

static __attribute__((noinline)) void work(void)
{
	burn(WORK_MS);
}

int main(void)
{
	work();
	printf("calls take %d\n", CALL_MS);
	over = 1;
	return 0;
}
"""


@test(engines=True)
def a_slow_end_is_not_the_program_s(t, engine):
    """Where the collector's work at the end takes longer than the interval, ticks come in it: they are not the program's, as the time is not."""
    program = t.directory / 'slowend'
    program.with_suffix('.c').write_text(SLOW_END)
    built = t.run('gcc', '-O1', '-D_GNU_SOURCE', '-rdynamic', '-o', program, program.with_suffix('.c'))
    t.check(not built.status, built.err)
    result = t.collect(program, engine=engine, options=('-p', '1'))
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    call = int(result.out.split()[-1]) / 1e3
    t.within(rows['work']['i.totalcpu'] > call, f'the program\'s work: {rows["work"]["i.totalcpu"]} s')
    called = rows['dl_iterate_phdr']['i.totalcpu'] if 'dl_iterate_phdr' in rows else 0
    t.within(called < 0.1 * call, f'{called} s in what the collector calls, {call} s for each call')


SLOW_BOTH = r"""
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OWN_MS = 40, WAIT_MS = 60, WORK_MS = 30 };

static volatile unsigned long sink;
static int program; /* it runs, and not the collector's begin or end */
static int ending;

static double ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void burn(double length)
{
	for (double end = ms(CLOCK_PROCESS_CPUTIME_ID) + length; ms(CLOCK_PROCESS_CPUTIME_ID) < end;)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

static void be_slow(int now)
{
	if (!now)
		return;
	burn(OWN_MS);
	usleep(WAIT_MS * 1000);
}

/* Nobody but the collector calls these here then: one when a recording begins, the other when one ends, some times. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
	int (*next)(pthread_key_t, const void *) = dlsym(RTLD_NEXT, "pthread_setspecific");

	be_slow(!program);
	return next(key, value);
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *) = dlsym(RTLD_NEXT, "dl_iterate_phdr");

	be_slow(ending);
	ending = 0;
	return next(callback, data);
}

static void say(double used, double lived, const char *who)
{
	printf("%s %.6f %.6f\n", who, used / 1e3, lived / 1e3);
	fflush(stdout);
}

static void live(const char *who)
{
	double used = ms(CLOCK_PROCESS_CPUTIME_ID), begun = ms(CLOCK_MONOTONIC);

	program = 1;
	burn(WORK_MS);
	usleep(WAIT_MS * 1000);
	say(ms(CLOCK_PROCESS_CPUTIME_ID) - used, ms(CLOCK_MONOTONIC) - begun, who);
	ending = 1;
}

int main(int argc, char **argv)
{
	double used = ms(CLOCK_PROCESS_CPUTIME_ID), begun = ms(CLOCK_MONOTONIC);
	pid_t child;

	program = 1;
	burn(WORK_MS);
	if (argc > 1) { /* the recording ends, and goes on */
		double before = ms(CLOCK_PROCESS_CPUTIME_ID), then = ms(CLOCK_MONOTONIC);

		ending = 1;
		execl(argv[1], argv[1], (char *)NULL);
		used += ms(CLOCK_PROCESS_CPUTIME_ID) - before;
		begun += ms(CLOCK_MONOTONIC) - then;
		burn(WORK_MS);
	} else {
		program = 0;
		child = fork();
		if (!child) {
			live("child");
			return 0;
		}
		program = 1;
		waitpid(child, NULL, 0);
	}
	say(ms(CLOCK_PROCESS_CPUTIME_ID) - used, ms(CLOCK_MONOTONIC) - begun, "parent");
	ending = 1;
	return 0;
}
"""


@test(engines=True)
def slow_begins_and_ends_are_in_no_life(t, engine):
    """What the collector computes and waits for at the begin and at the end of a recording, also of one that goes on after an exec that failed."""
    program = t.directory / 'slowboth'
    program.with_suffix('.c').write_text(SLOW_BOTH)
    built = t.run('gcc', '-O1', '-D_GNU_SOURCE', '-rdynamic', '-o', program, program.with_suffix('.c'))
    t.check(not built.status, built.err)
    broken = t.directory / 'broken'
    broken.write_text('\x7fELF\n')
    broken.chmod(0o755)
    own, wait = 0.04, 0.06
    for words in ((), (broken,)):
        result = t.collect(program, *words, engine=engine, options=('-p', '1'))
        family = t.read(result.experiment)
        for who, used, lived in map(str.split, result.out.splitlines()):
            process = family['' if who == 'parent' else '_f1']
            cpu, thread = process['cpu'] - float(used), process['threads'][0]
            t.within(abs(cpu) < 0.5 * own, f'{who}: {process["cpu"]} s of CPU time, {used} in truth')
            if not words:
                t.within(abs(thread['sum'] - float(lived)) < 0.5 * wait, f'{who}: {thread["sum"]} s of events, {lived} in truth')
                t.within(abs(thread['life'] - float(lived)) < 0.5 * wait, f'{who}: {thread["life"]} s of life, {lived} in truth')
        if not words:
            t.equal(t.run(t.helio, 'check', '-q', result.experiment).status, 0, 'helio check')


@test
def report_advises_only_source_that_is_there(t):
    """libc's functions may have lines, where its debug information is installed, and no source."""
    result = t.collect('sleep', '0.3')
    advised = [line.split(' -source ')[1] for line in t.run(t.helio, 'print', '-report', result.experiment).out.splitlines() if ' -source ' in line]
    for words in advised:
        shown = t.run('sh', '-c', f'{t.helio} print -source {words}')
        t.check('is not there' not in shown.out + shown.err, f'{words}: {shown.err[-200:]}')
