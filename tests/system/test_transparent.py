# SPDX-License-Identifier: Apache-2.0
"""The program does not notice: output, status, signals, descriptors."""
import os
import re
import signal
import subprocess
import time

from harness import test


@test(engines=True)
def status_and_streams(t, engine):
    text = 'some input\nwith lines\n'
    for status in (0, 3, 255):
        for result, _ in t.like_bare(engine, t.target('exitcode'), status, stdin=text):
            t.equal(result.status, status, 'status')
            t.check(result.out.endswith(text), f'stdout: {result.out!r}')
            t.check('this goes to stderr\n' in result.err, f'stderr: {result.err!r}')
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
        for _, family in t.like_bare(engine, t.target('exitcode'), -number, stdin=text):
            exits = [e for e in family['']['log_events'] if e['kind'] == 'exit' and 'signal' in e]
            t.equal(exits[-1]['signal'], str(int(number)), 'signal in the log')


@test(engines=True)
def signals(t, engine):
    """Handlers for everything, all signals blocked: the program's view is its own, and its time is recorded."""
    def seen(result):
        truth = result.truth()
        return [(key, truth[key]) for key in ('handler_wrong', 'mask_missing', 'sigprof', 'sigtrap', 'sigusr1', 'foreign')]
    for result, family in t.like_bare(engine, t.target('sigblock'), same=seen):
        truth = result.truth()
        t.ratio(family['']['cpu'], truth['thread_cpu'] + truth['blocked.cpu'], 0.98, 1.02, 'cpu')


@test(engines=True)
def descriptors(t, engine):
    """The lowest descriptors are free, and closing them all changes nothing."""
    script = ('import os\nprint(os.open("/dev/null", 0))\nos.closerange(3, 4096)\n'
              's = 0\nfor i in range(3000000): s += i\nprint(s)')
    result = t.collect(t.need('/usr/bin/python3'), '-S', '-c', script, engine=engine)
    t.equal(result.out.split()[-2:], ['3', '4499998500000'], 'output')
    t.within(t.read(result.experiment)['']['cpu'] > 0.05, 'no CPU recorded after the descriptors were closed')


@test(alone=True, engines=True)
def killed_while_running(t, engine):
    """What was recorded before a kill -9 of everything is there."""
    experiment = t.directory / 'killed.er'
    command = subprocess.Popen([str(t.helio), 'collect', '--engine', engine, '-o', str(experiment), t.target('flat'), '20s'],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while command.poll() is None and not ((experiment / 'log.xml').exists() and '<process' in (experiment / 'log.xml').read_text()):
        time.sleep(0.01)
    with t.lateness() as late:
        time.sleep(3)
        os.killpg(command.pid, signal.SIGKILL)
        killed_ns = time.monotonic_ns()
    command.wait()
    process = t.read(experiment)['']
    begun_ns = int(re.search(r'mono_ns="(\d+)"', (experiment / 'log.xml').read_text())[1])
    lived = (killed_ns - begun_ns) / 1e9 - process['threads'][0]['begin']
    # what a clock that was late had not yet written
    t.near(process['threads'][0]['sum'], lived, 'what is left', absolute=0.05 * lived + late.worst)
    listing = t.print(experiment, '-metrics', 'e.totalcpu:name', '-functions')[-1]
    total = [row for row in listing['rows'] if row['name'] == '<Total>'][0]
    t.near(total['e.totalcpu'], process['cpu'], 'CPU by print', 1e-6, 1e-6)
    t.check(listing['warnings'], 'no warning about an experiment that was not closed')


@test
def cannot_start(t):
    script = t.directory / 'notexec'
    script.write_text('hello')
    for words, status in ((['/nonexistent/program'], 127), ([str(script)], 126), (['no-such-program-anywhere'], 127),
                          ([str(t.directory)], 126)):
        result = t.collect(*words, status=status)
        t.check(result.err.strip(), f'no message for {words}')
        t.check(not result.experiment.exists(), f'an experiment is left of {words}')
    result = t.run(t.helio, 'collect', '-p', 'bogus', t.target('empty'))
    t.equal(result.status, 1, 'status of a wrong option')


@test
def script_with_interpreter(t):
    script = t.directory / 'script'
    script.write_text('#!/bin/sh\necho from the script $1\n')
    script.chmod(0o755)
    result = t.collect(script, 'word')
    t.check('from the script word' in result.out, f'output: {result.out!r}')
