# SPDX-License-Identifier: Apache-2.0
"""What `statistics` says of programs of which only a part was recorded."""
import os
import re
import sys

from harness import Skip, test


def whole(t, experiment):
    """The rows of whole runs, a process each; the sum of several comes before them."""
    return [row for row in t.print(experiment, '-statistics')[0]['rows'] if row['sample'] is None and row['experiment']]


def consistent(t, row, what):
    """Shares of the thread time: none is more than all of it."""
    states = row['state_seconds']
    total = sum(states.values())
    t.within(row['user_s'] + row['system_s'] <= total * 1.02 + 0.005, f'{what}: CPU {row["user_s"] + row["system_s"]} of {total} s')
    t.within(0 < row['recorded_s'] <= row['end_s'] - row['start_s'] + 0.001, f'{what}: recorded {row["recorded_s"]} s')


@test(engines=True)
def of_pauses_and_an_end(t, engine):
    """The program pauses the recording and ends it: 0.4 s of its 0.8 s of CPU time are recorded."""
    result = t.collect(t.target('api'), engine=engine)
    row, = whole(t, result.experiment)
    consistent(t, row, 'api')
    t.ratio(row['user_s'] + row['system_s'], result.truth()['cpu'], 0.4, 0.6, 'CPU')
    text = t.run(t.helio, 'print', '-statistics', result.experiment).out
    t.check('Recorded (sec.)' in text, text)


@test(engines=True)
def of_a_window(t, engine):
    """-t: 0.2 s of a program that goes on for longer, which its one thread computes or is queued."""
    result = t.collect(t.target('flat'), '0.6s', engine=engine, options=('-t', '0.1-0.3'))
    row, = whole(t, result.experiment)
    consistent(t, row, 'window')
    t.ratio(row['recorded_s'], 0.2, 0.99, 1.01, 'recorded')
    t.ratio(sum(row['state_seconds'].values()), row['recorded_s'], 0.9, 1.1, 'thread time')


@test(engines=True)
def of_processes_outside_a_window(t, engine):
    """-t: what processes use that begin behind it is in no sum of what was recorded: these run one at a time, so no more than the window."""
    script = 'for i in 1 2 3; do "$0" 0.2s; done'
    result = t.collect('sh', '-c', script, t.target('flat'), engine=engine, options=('-t', '0.2'))
    total, *rows = t.print(result.experiment, '-statistics')[0]['rows']
    outside = [row for row in rows if row['start_s'] > 0.2]
    t.check(len(outside) >= 2, f'processes behind the window: {rows}')
    for row in outside:
        t.equal((row['user_s'], row['system_s']), (0, 0), f'CPU time of {row["name"]}')
    t.within(total['user_s'] + total['system_s'] <= total['recorded_s'] * 1.05, f'{total}')
    consistent(t, total | {'start_s': 0, 'end_s': total['duration_s']}, 'sum')
    inside = [row for row in rows if row not in outside]
    for key in 'minor_faults', 'write_calls', 'write_bytes':
        t.equal(total[key], sum(row[key] for row in inside), key)


@test(engines=True)
def of_a_run_paused_throughout(t, engine):
    """Nobody resumes the recording: no CPU time of it, nor of its children's, was recorded."""
    result = t.collect('sh', '-c', '"$0" 0.1s; "$0" 0.1s', t.target('flat'), engine=engine, options=('-y', 'USR1'))
    for row in t.print(result.experiment, '-statistics')[0]['rows']:
        t.equal((row['recorded_s'], row['user_s'], row['system_s']), (0, 0, 0), f'recorded of {row["name"]}')


@test(engines=True)
def of_an_exec(t, engine):
    """What the next image of a process uses is not the one's before it."""
    result = t.collect('sh', '-c', 'x=0; while [ $x -lt 50000 ]; do x=$((x+1)); done; exec "$0" -c "sum(range(20000000))"', sys.executable, engine=engine)
    before, after = whole(t, result.experiment)
    consistent(t, before, 'before')
    consistent(t, after, 'after')
    t.check(before['end_s'] <= after['start_s'], f'ends at {before["end_s"]}, the next begins at {after["start_s"]}')


KILLED = """
import os, sys, time
while time.process_time() < float(sys.argv[1]):
    pass
os.kill(os.getpid(), 9)
"""


@test(engines=True)
def of_a_process_that_is_killed(t, engine):
    """It writes no last sample point: what it used since the one before, up to a second ago, is not left out."""
    result = t.collect(sys.executable, '-c', KILLED, 1.6, engine=engine, status=128 + 9)
    row, = whole(t, result.experiment)
    consistent(t, row, 'killed')
    t.ratio(row['user_s'] + row['system_s'], 1.6, 0.95, 1.03, 'CPU')


@test(engines=True)
def blocks_of_disks(t, engine):
    """What the collector writes is not the program's: of a program that writes nothing, not a block for each of our pages."""
    result = t.collect(t.target('empty'), engine=engine)
    row, = whole(t, result.experiment)
    size = sum(os.path.getsize(result.experiment / name) for name in ('log.xml', 'map.xml', 'overview'))
    t.check(row['output_blocks'] * 512 < size, f'{row["output_blocks"]} blocks of {size} bytes of ours')


def duration_in(text, label):
    """A time in a report that is no table."""
    return float(re.search(rf'{label}[^0-9]*([0-9.]+)', text)[1])


@test(engines=True)
def of_a_shell_that_becomes_the_program(t, engine):
    """`sh -c 'exec program'`: what is printed of the whole is the program's, as it says itself, not the shell's few ms."""
    result = t.collect('sh', '-c', 'exec "$0" 0.5s', t.target('flat'), engine=engine)
    truth, rows = result.truth(), t.print(result.experiment, '-statistics')[0]['rows']
    t.equal([row['experiment'] for row in rows], [None, 1, 2], 'the sum, and two images')
    for row in rows:
        consistent_states(t, row)
    for key in 'user_s', 'system_s', 'minor_faults', 'write_bytes':
        t.near(rows[0][key], rows[1][key] + rows[2][key], key, absolute=1e-6)
    t.check(rows[0]['duration_s'] >= truth['wall'], f'{rows[0]["duration_s"]} s, and the program says {truth["wall"]}')
    t.within(rows[1]['duration_s'] < truth['wall'] / 2, f'{rows[1]["duration_s"]} s of the shell')
    t.check('processes' not in result.err, f'it is one process: {result.err}')
    t.check(' s, 1 process, ' in t.run(t.helio, 'print', '-report', result.experiment).out, 'it is one process')
    for command, label in (('-overview', 'Duration  '), ('-overview', 'Experiment Duration'), ('-report', '\n')):
        text = t.run(t.helio, 'print', command, result.experiment).out
        t.check(duration_in(text, label) >= truth['wall'] - 0.001, f'{command}: {text}')


def consistent_states(t, row):
    """User and system time with the other states are the time of all threads."""
    states = row['state_seconds']
    total = sum(states.values())
    with_states = row['user_s'] + row['system_s'] + total - states['user'] - states['system']
    t.within(with_states <= total * 1.021, f'{row["name"]}: {with_states} of {total} s')


def header_duration(t, experiment):
    """What is printed, and as JSON."""
    text = t.run(t.helio, 'print', '-header', '1', experiment).out
    row = t.print(experiment, '-header')[0]['rows'][0]
    t.near(row['recorded_s'], duration_in(text, 'Data Collection Duration'), 'as JSON', absolute=1e-6)
    return row


@test(engines=True)
def data_collection_duration(t, engine):
    """The header's duration leaves out pauses, what -t does, and what comes after the end; without a clock, too."""
    for options in ((), ('-p', 'off', '-H', 'on')):
        row = header_duration(t, t.collect(t.target('flat'), '0.6s', engine=engine, options=('-t', '0.1-0.3', *options)).experiment)
        t.ratio(row['recorded_s'], 0.2, 0.99, 1.01, f'window {options}')
        row = header_duration(t, t.collect(t.target('api'), engine=engine, options=options).experiment)
        times = {event['kind']: event['time_s'] for event in row['events']}
        expected = times['close'] - row['start_s'] - (times['resume'] - times['pause'])
        t.near(row['recorded_s'], expected, f'pause and end {options}', absolute=0.1 * expected)
        row = header_duration(t, t.collect(t.target('flat'), '0.1s', engine=engine, options=('-y', 'USR1', *options)).experiment)
        t.equal(row['recorded_s'], 0, f'paused from the begin on {options}')


PAUSES = """
import os, signal, time
begin = time.monotonic()
for until in 0.15, 0.25, 0.6, 0.9, 1.0:
    while time.monotonic() < begin + until:
        pass
    os.kill(os.getpid(), signal.SIGUSR1)
"""


@test(engines=True)
def data_collection_duration_of_a_window(t, engine):
    """Of -t the pauses count that are in the window, as far as they are: one is in it, one behind it."""
    for begin, end in ((0, 0.4), (0.2, 0.5)):
        result = t.collect(sys.executable, '-c', PAUSES, engine=engine, options=('-y', 'USR1,r', '-t', f'{begin}-{end}' if begin else f'{end}'))
        row = header_duration(t, result.experiment)
        expected = end - max(begin, row['start_s'])
        times = [event['time_s'] for event in row['events'] if event['kind'] in ('pause', 'resume')]
        for pause, resume in zip(times[::2], times[1::2]):
            expected -= max(0, min(resume, end) - max(pause, begin))
        t.check(len(times) >= 4 and times[2] > end, f'no pause behind the window: {times}')
        t.ratio(row['recorded_s'], expected, 0.7, 1.03, f'from {begin} to {end}: {times}')  # a thread's life begins after the process's


@test
def events_in_the_last_message(t):
    """As many as are there, also of a shell that tries a command in each folder of its path."""
    folders = ':'.join(str(t.directory / f'none{number}') for number in range(10))
    result = t.collect('sh', '-c', f'PATH={folders}:$PATH; ls >/dev/null; ls >/dev/null; exec true')
    events = sum(process['events'] for process in t.read(result.experiment).values())
    t.check(re.search(rf' {events} events, (a tick [^,]*, )?3 processes, ', result.err), f'{events} events: {result.err}')


@test
def engine_that_goes_on(t):
    """Too many context switches: the engine that took over is named by all that name one."""
    result = t.collect(t.target('pingpong'), '4s', engine='perf')
    if 'the monitor engine goes on' not in (result.experiment / 'log.xml').read_text():
        raise Skip('this machine switches too seldom')
    for command in (t.helio, 'print', '-header'), (t.helio, 'info'), (t.helio, 'ls'), (t.helio, 'print', '-report'):
        text = t.run(*command, result.experiment).out
        t.check('perf, then monitor' in text, f'{command[1:]}: {text}')


USAGE = {'read_calls': 1, 'read_bytes': 50, 'write_calls': 1, 'write_bytes': 100}


def gained(samples):
    return {key: samples[-1][key] - samples[0][key] for key in samples[0] if key not in ('label', 'kind')}


def only_the_programs(t, result, bare, turns, threads=0):
    """Its own reads and writes exactly, as the reader has them; page faults but for a few."""
    samples = t.read(result.experiment)['']['samples']
    found = gained(samples)
    line = len(f'faults {result.truth()["faults"]:.0f}\n')
    expected = {key: factor * turns for key, factor in USAGE.items()}
    expected['write_calls'] += 1
    expected['write_bytes'] += line
    # a read of the monitor's that is under way at the sample point is not known then
    t.within({key: found[key] for key in USAGE} == expected, f'input and output: {found}, not {expected}')
    faults = found['minor_faults'] + found['major_faults']
    # what threads but the first one touch in handlers is not known
    t.within(bare - 10 <= faults <= bare + 30 + 12 * threads, f'{faults} page faults, {bare} by itself')
    t.within(found['output_blocks'] <= 16, f'{found["output_blocks"]} blocks written, and the program writes to no disk')
    return samples


@test(engines=True)
def without_the_collectors(t, engine):
    """Calls, bytes and pages that the program makes, in one thread and in several."""
    for threads in 0, 4:
        command = (t.target('usage'), '2000', str(threads))
        bare = t.run(*command).truth()['faults']
        only_the_programs(t, t.collect(*command, engine=engine), bare, 2000 * (threads + 1), threads)


@test(engines=True)
def without_the_collectors_meanwhile(t, engine):
    """Sample points that the launcher takes leave the same out, and none has more than the last."""
    command = (t.target('usage'), '2000', '0', '2.5')
    bare = t.run(*command).truth()['faults']
    samples = only_the_programs(t, t.collect(*command, engine=engine, options=('-S', '1')), bare, 2000)
    t.check(len(samples) >= 4, f'{len(samples)} sample points')
    for sample in samples[2:-1]:  # the monitor goes on reading between the launcher's two looks
        reads = sample['read_calls'] - samples[0]['read_calls']
        t.within(1900 <= reads <= 2000, f'{reads} reads before the end')


@test(engines=True)
def without_its_files(t, engine):
    """The pages of the collector's own files, a thousand and more, are neither faults nor written blocks of the program."""
    result = t.collect(t.target('malloc_heavy'), '50', engine=engine, options=('-H', 'on,noscan'))
    found, = whole(t, result.experiment)
    pages = (result.experiment / 'heaptrace').stat().st_size // 4096
    t.check(pages > 1000, f'{pages} pages recorded')
    t.within(found['output_blocks'] < pages, f'{found["output_blocks"]} blocks written, with 8 to a page of {pages}')


NAPS = """
import resource, time
for _ in range(300):
    time.sleep(0.001)
print(resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw)
"""


@test(engines=True)
def switches_of_the_program(t, engine):
    """300 naps are 300 switches and what a run by itself has beside them; those of the thread that looks at it each ms are not the program's."""
    bare = int(t.run(sys.executable, '-c', NAPS).out)
    row, = whole(t, t.collect(sys.executable, '-c', NAPS, engine=engine, options=('-p', 'hi')).experiment)
    t.within(300 <= row['voluntary_switches'] <= bare + 30, f'{row["voluntary_switches"]} switches, {bare} by itself')


PARENT = """
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *put(void *calls)
{
	static char bytes[1000];
	int null = open("/dev/null", O_WRONLY);

	for (long i = 0; i < (long)calls; i++)
		if (write(null, bytes, sizeof(bytes)) != sizeof(bytes))
			abort();
	close(null);
	return NULL;
}

static void in_thread(long calls)
{
	pthread_t thread;

	pthread_create(&thread, NULL, put, (void *)calls);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	in_thread(1);
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			put((void *)1000);
			_exit(0);
		}
		wait(NULL);
		in_thread(20);
	}
	if (system("head -c 3000000 /dev/zero > /dev/null"))
		abort();
	put((void *)300);
	usleep(argc > 1 ? 2500000 : 0);
	in_thread(4000);
	return 0;
}
"""


@test(engines=True)
def without_children(t, engine):
    """What a process reads and writes, in threads that have ended, too, and not what its children do, be they recorded or not."""
    (t.directory / 'parent.c').write_text(PARENT)
    t.check(not t.run('gcc', '-O1', '-pthread', '-o', t.directory / 'parent', t.directory / 'parent.c').status, 'gcc')
    calls = 1 + 3 * 20 + 300 + 4000
    for options, words in ((), ()), (('-F', 'off'), ()), (('-S', '1'), ('wait',)):
        result = t.collect(t.directory / 'parent', *words, engine=engine, options=options)
        samples = t.read(result.experiment)['']['samples']
        found = gained(samples)
        t.equal((found['write_calls'], found['write_bytes']), (calls, 1000 * calls), f'{options}')
        most = 0 if engine == 'perf' else 32  # of the monitor's reads those of the look under way are not known yet
        t.within(found['read_calls'] <= most, f"{options}: {found['read_calls']} reads")
        for sample in samples[1:-1]:
            written = sample['write_calls'] - samples[0]['write_calls']
            t.within(written == calls - 4000, f'{written} writes before the end')


def report_lines(t, *options, engine=None):
    """The report of a short run: what it was, and what is missing."""
    result = t.collect(t.target('flat'), '0.3s', options=options, engine=engine)
    rows = t.print(result.experiment, '-report')[0]['rows']
    return [' '.join(row['name'] for row in rows if row['section'] == section) for section in ('experiment', 'missing')]


@test
def report_of_what_was_not_asked_for(t):
    """A window in which the recording was paused; no clock. What is missing is everything, or that, and there is no engine called none."""
    script = 'import os, signal, time; end = time.time() + 0.3\nwhile time.time() < end: pass\nos.kill(os.getpid(), signal.SIGUSR1)'
    result = t.collect(sys.executable, '-c', script, options=('-y', 'USR1', '-t', '0.2'))
    missing = [row['name'] for row in t.print(result.experiment, '-report')[0]['rows'] if row['section'] == 'missing']
    t.check(any('everything of run.1.er' in line and 'paused' in line for line in missing), f'{missing}')
    experiment, missing = report_lines(t, '-p', 'off')
    t.check('without a clock' in experiment and 'none engine' not in experiment, experiment)
    t.check('the clock was not asked for' in missing, missing)
    experiment, missing = report_lines(t)
    t.check('clock events by the' in experiment and 'asked' not in missing, experiment + missing)
