#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs every test: those of meson (units, reader, checks), then the system
tests. The last line is `N passed, N failed, N skipped`.

    run.py --build DIR [--list] [PATTERN...]     names that contain a pattern
"""
import argparse
import contextlib
import faulthandler
import importlib
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / 'system'))
import harness  # noqa: E402

ENDLESS_S = 2400 * harness.patience()
MESON_RESULT = {'OK': 'ok', 'EXPECTEDFAIL': 'ok', 'SKIP': 'SKIP'}


class Tally:
    def __init__(self):
        self.counts = {'ok': 0, 'FAIL': 0, 'SKIP': 0}
        self.lock = threading.Lock()
        self.failures = []
        self.again = []

    def add(self, verdict, name, reason='', count=1):
        with self.lock:
            self.counts[verdict] += count
            line = f'{verdict} {name}' + (f': {reason}' if reason else '')
            if verdict == 'FAIL':
                self.failures.append(line)
            print(line, flush=True)

    def finish(self):
        if self.failures:
            print('\nFailed:')
            for line in self.failures:
                print('  ' + line)
        if self.again:
            print(f'\n{len(self.again)} measured again: {" ".join(sorted(self.again))}')
        print('{ok} passed, {FAIL} failed, {SKIP} skipped'.format(**self.counts))
        return 1 if self.counts['FAIL'] or not self.counts['ok'] else 0


def meson_names(build):
    listing = subprocess.run(['meson', 'introspect', '--tests', build], capture_output=True, text=True, check=True)
    return [(entry['suite'][0].split(':')[-1], entry['name']) for entry in json.loads(listing.stdout)]


def last_line(said):
    return (said.strip().splitlines() or ['the test says so'])[-1]


def skipped_cases(output):
    """[(case, what it said last)] of cmocka's output."""
    cases = re.findall(r'^\[ RUN      \] (\S+)\n((?:(?!\[).*\n)*)\[  SKIPPED \] \1$', output, re.M)
    return [(case, last_line(said)) for case, said in cases]


def report_meson(entry, name, tally):
    """cmocka says `[       OK ] case` for each of a program's cases: count those."""
    output = entry.get('stdout', '') + entry.get('stderr', '')
    cases = max(1, len(re.findall(r'^\[       OK \]', output, re.M)))
    skipped = skipped_cases(entry.get('stdout', ''))
    verdict = MESON_RESULT.get(entry['result'], 'FAIL')
    if verdict == 'FAIL':
        tally.add('FAIL', name, f'{entry["result"]}, see below')
        print(output[-6000:])
        return
    tally.add(verdict, name, f'{cases} cases' if cases > 1 else '' if verdict == 'ok' else last_line(output), cases)
    for case, reason in skipped:
        tally.add('SKIP', f'{name}/{case}', reason)


def run_meson(build, patterns, tally):
    known = meson_names(build)
    if not any(suite == 'unit' for suite, _ in known):
        tally.add('SKIP', 'unit', 'cmocka was missing when the build folder was made')
    chosen = [(suite, name) for suite, name in known if wanted(f'{suite}/{name}', patterns)]
    if not chosen:
        return
    subprocess.run(['meson', 'test', '-C', build, '--no-rebuild', '--quiet', '--timeout-multiplier', str(round(harness.patience()))] + [name for _, name in chosen],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    suites = {name: suite for suite, name in chosen}
    seen = set()
    with open(os.path.join(build, 'meson-logs', 'testlog.json'), encoding='utf-8') as log:
        for line in log:
            entry = json.loads(line)
            name = entry['name'].split(' / ')[-1]
            seen.add(name)
            report_meson(entry, f'{suites.get(name, "unit")}/{name}', tally)
    for name in set(suites) - seen:
        tally.add('FAIL', f'{suites[name]}/{name}', 'did not run')


def wanted(name, patterns):
    return not patterns or any(pattern in name for pattern in patterns)


def descendants(pid):
    for path in pathlib.Path(f'/proc/{pid}/task').glob('*/children'):
        for child in path.read_text().split():
            yield int(child)
            yield from descendants(child)


def give_up(tally, name):
    """Nothing can stop a thread that waits for ever: the run ends with it, and what was begun, which may hold the output open."""
    tally.add('FAIL', name, f'has not ended after {ENDLESS_S:.0f} s, where each thread stands is on stderr; the rest was not run')
    faulthandler.dump_traceback()
    tally.finish()
    sys.stdout.flush()
    for pid in list(descendants(os.getpid())):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os._exit(1)


def run_one(test, build, tally, last):
    """Whether there is a result; none yet where a measurement missed its bounds and this was not the `last` try, of two that must hold."""
    begin = time.monotonic()
    watchdog = threading.Timer(ENDLESS_S, give_up, (tally, f'system/{test.name}'))
    watchdog.daemon = True
    watchdog.start()
    verdict, reason = test.run(build)
    if last and verdict == 'ok':
        verdict, reason = test.run(build)
    watchdog.cancel()
    elapsed = time.monotonic() - begin
    name, text = f'system/{test.name}', f'{reason.strip()} ({elapsed:.1f} s)'.strip()
    if verdict == 'MISSED' and not last:
        print(f'again {name}: {text}', flush=True)
        tally.again.append(name)
        return False
    tally.add('FAIL' if verdict == 'MISSED' else verdict, name, text)
    return True


def run_beside(tests, build, tally, workers, last=False):
    """Runs them, `workers` at a time; those that are to be run again."""
    waiting = queue.SimpleQueue()
    again = []
    for test in tests:
        waiting.put(test)

    def work():
        while True:
            try:
                test = waiting.get_nowait()
            except queue.Empty:
                return
            if not run_one(test, build, tally, last):
                again.append(test)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return again


def system_tests(patterns):
    for path in sorted((HERE / 'system').glob('test_*.py')):
        importlib.import_module(path.stem)
    return [test for test in harness.TESTS if wanted(f'system/{test.name}', patterns)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('patterns', nargs='*')
    options = parser.parse_args()
    for number in (signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_DFL)  # what runs behind a shell's & ignores some
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tests = system_tests(options.patterns)
    if options.list:
        print('\n'.join([f'{suite}/{name}' for suite, name in meson_names(options.build)]
                        + [f'system/{test.name}' for test in tests]))
        return 0
    tally = Tally()
    run_meson(options.build, options.patterns, tally)
    if tests and not os.path.exists(os.path.join(options.build, 'helio')):
        tally.add('FAIL', 'system', f'{options.build}/helio was not built', len(tests))
        return tally.finish()
    workers = max(1, min(4, os.cpu_count() or 1))
    again = run_beside([test for test in tests if not test.alone], options.build, tally, workers)
    again += run_beside([test for test in tests if test.alone], options.build, tally, 1)
    run_beside(again, options.build, tally, 1, last=True)
    return tally.finish()


if __name__ == '__main__':
    sys.exit(main())
