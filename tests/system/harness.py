# SPDX-License-Identifier: Apache-2.0
"""
What the system tests are written with.

    @test                          runs beside others
    @test(alone=True)              measures: nothing else runs meanwhile
    @test(engines=True)            once per engine; the function gets (t, engine)

A measurement (near, within, ratio, a row of functions()) that misses its bound is taken twice more, alone, and both must hold: a busy machine spoils
one of the three, and what is wrong now and then hardly passes by luck. What the first one said is printed.

A test function gets a Case `t`: its temporary directory, the targets, `helio`
and the checks. Ground truth is what the target says of itself, or what the
independent reader computes; never what the code under test says.
"""
import ctypes
import fcntl
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / 'reader'))
import helio_reader  # noqa: E402

ENGINES = ('perf', 'monitor')
INTERVALS = ('100u', '1', '10')  # of clock profiling: a very short one, and the two that the default begins and goes on with
THREAD_SANITIZER = ('-Db_sanitize=thread', '-Db_lundef=false', '-Dwerror=false')  # options of such a build
TESTS = []


class Skip(Exception):
    """The machine cannot do this; the text says why."""


class Failure(AssertionError):
    """A check that says no."""


class Missed(Failure):
    """A measurement outside its bounds."""


class Test:
    def __init__(self, function, alone, engine):
        module = function.__module__.removeprefix('test_')
        self.name = f'{module}/{function.__name__}' + (f'/{engine}' if engine else '')
        self.function = function
        self.alone = alone
        self.engine = engine

    def run(self, build):
        """('ok' | 'MISSED' | 'FAIL' | 'SKIP', reason)"""
        case = Case(build, self.name)
        try:
            if self.engine == 'perf' and not perf_allowed():
                raise Skip('the kernel does not let this process use perf events with sigtrap')
            self.function(*((case, self.engine) if self.engine else (case,)))
        except Skip as skip:
            case.remove()
            return 'SKIP', str(skip)
        except Failure as failure:
            return 'MISSED' if isinstance(failure, Missed) else 'FAIL', f'{failure} [kept: {case.directory}]'
        except Exception as problem:  # a broken test is a failed test, not the end of the run
            return 'FAIL', f'{type(problem).__name__}: {problem} [kept: {case.directory}]'
        case.remove()
        return 'ok', case.remark


def test(function=None, *, alone=False, engines=False):
    def register(function):
        for engine in ENGINES if engines else (None,):
            TESTS.append(Test(function, alone, engine))
        return function
    return register(function) if function else register


def perf_allowed():
    """Asks the kernel itself for the event that the perf engine is built on."""
    if perf_allowed.answer is None:
        # perf_event_attr: software task clock, 10 ms; sigtrap, remove_on_exec, inherit, inherit_thread
        flags = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 35 | 1 << 36 | 1 << 37
        attr = struct.pack('<IIQQQQQ', 1, 128, 1, 10000000, 0, 0, flags).ljust(128, b'\0')
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.syscall(298, attr, 0, -1, -1, 8)
        perf_allowed.answer = descriptor >= 0
        if descriptor >= 0:
            os.close(descriptor)
    return perf_allowed.answer


perf_allowed.answer = None


def is_root():
    return os.geteuid() == 0


def need_watch_points():
    """Asks the kernel itself, too: many virtual machines let a watch point be set, and never tell of an access."""
    if need_watch_points.answer is None:
        libc = ctypes.CDLL(None, use_errno=True)
        watched = ctypes.c_uint64(0)
        # perf_event_attr: a breakpoint on writes of 8 bytes that only counts, not in the kernel
        attr = struct.pack('<IIQQQQQIIQQ', 5, 128, 0, 0, 0, 0, 1 << 5 | 1 << 6, 0, 2, ctypes.addressof(watched), 8).ljust(128, b'\0')
        descriptor = libc.syscall(298, attr, 0, -1, -1, 8)
        if descriptor >= 0:
            for number in range(8):
                watched.value = number
            need_watch_points.answer = struct.unpack('<Q', os.read(descriptor, 8))[0] >= 8
            os.close(descriptor)
        else:
            need_watch_points.answer = False
    if not need_watch_points.answer:
        raise Skip('watch points do not fire on this machine, or the kernel allows none')


need_watch_points.answer = None


def patience():
    """How much longer than by itself a command may take here, before it is taken to hang; kernels have told of millions of processes."""
    return min(max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0))), 50)


def monitor_cpu(process):
    """What the monitor engine's own thread used, in seconds, by its clock: the kernel's account of the program has it, no profile."""
    return sum(int(event.get('monitor_cpu_ns', 0)) for event in process['log_events'] if event['kind'] == 'counters') / 1e9


def look_s():
    """CPU seconds that this machine takes to wake up and read one small file of /proc: what the monitor's thread does at each tick."""
    looks, file = 100, os.open('/proc/self/schedstat', os.O_RDONLY)
    begin = time.thread_time()
    for _ in range(looks):
        time.sleep(0.001)
        os.pread(file, 4096, 0)
    used = time.thread_time() - begin
    os.close(file)
    return used / looks


def few_ticks(process, truth):
    """
    The share of the time that some ticks in a rare place weigh by chance: there may be few of them. A program that others push off
    begins again where its slice ended, and has its ticks as long after that: they meet the same places.
    """
    ticks = max(1, sum(int(event.get('ticks', 0)) for event in process['log_events'] if event['kind'] == 'counters'))
    return (5 + 10 * min(1, truth['preemptions'] / ticks)) / ticks


class Lateness:
    """
    How late this machine lets a sleeper run, while something is measured: with t.lateness() as late: …, then late.worst in seconds.
    The allowance for what a busy machine adds to a time on the wall.
    """

    NAP = 0.002

    def __init__(self):
        self.worst = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def watch(self):
        due = time.monotonic() + self.NAP
        while not self.ended.wait(max(0.0, due - time.monotonic())):
            now = time.monotonic()
            self.worst = max(self.worst, now - due)
            due = now + self.NAP

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *problem):
        self.ended.set()
        self.thread.join()


class Rows(dict):
    """Rows by name. That a function has none is a measurement: perhaps no tick met it."""

    def __missing__(self, name):
        raise Missed(f'no row {name!r} among {sorted(self)[:40]}')


class Result:
    """A finished command."""

    def __init__(self, process):
        self.status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        self.out = process.stdout
        self.err = process.stderr
        self.experiment = None

    def truth(self):
        """The "key value" lines that a target prints about itself."""
        values = {}
        for line in self.out.splitlines():
            words = line.split()
            if len(words) == 2:
                try:
                    values[words[0]] = float(words[1])
                except ValueError:
                    pass
        return values


class Case:
    def __init__(self, build, name):
        self.build = pathlib.Path(build).resolve()
        self.helio = self.build / 'helio'
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='helio-' + name.replace('/', '-') + '-'))
        self.remark = ''

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    # Running things

    def target(self, name):
        path = self.build / 'tests' / 'targets' / name
        if not path.exists():
            raise Skip(f'{name} was not built')
        return str(path)

    def need(self, program):
        path = shutil.which(program)
        if not path:
            raise Skip(f'{program} is not installed')
        return path

    def build_beside(self, name, options, targets, env=None):
        """The folder of another build of the tree, with those targets made. Several tests may ask for one: they take turns."""
        build = pathlib.Path(f'{self.build}-{name}')
        steps = [('ninja', '-C', build, *targets)]
        with open(f'{build}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (build / 'build.ninja').exists():
                steps.insert(0, ('meson', 'setup', build, ROOT, *options))
            for words in steps:
                result = self.run(*words, timeout=1200, env=env)
                if result.status:
                    raise Failure(f'{words[0]}: status {result.status}: {(result.out + result.err)[-3000:]}')
        return build

    def need_root(self, what='have processes of two users'):
        if not is_root():
            raise Skip(f'only root can {what}')

    def as_root(self):
        """Whether this is root, for a part of a test that needs it: the line of its result says where that was left out."""
        if not is_root() and self.LEFT_OUT not in self.remark:
            self.remark += self.LEFT_OUT
        return is_root()

    LEFT_OUT = 'without what only root can do '

    def run(self, *words, stdin='', timeout=120, env=None, cwd=None):
        process = subprocess.run([str(w) for w in words], input=stdin, capture_output=True, text=True, errors='replace',
                                 timeout=timeout * patience(), cwd=cwd or self.directory, env={**os.environ, **(env or {})})
        return Result(process)

    def lateness(self):
        return Lateness()

    def pace(self, milliseconds):
        """So many, or more where sleepers are late by so much: what lasts so long is met by who waits for it."""
        with Lateness() as late:
            time.sleep(0.2)
        return max(milliseconds, round(4000 * late.worst))

    def collect(self, *words, engine=None, options=(), status=0, before=(), **more):
        """
        helio collect, with the words `before` in front; the experiment is a fresh one in the case's directory.
        HELIO_TEST_OPTIONS in the environment: options for each of them, to run tests with all tracers on (docs/internals/tests.md).
        """
        options = (*os.environ.get('HELIO_TEST_OPTIONS', '').split(), *options)
        number = len(list(self.directory.glob('run.*.er'))) + 1
        experiment = self.directory / f'run.{number}.er'
        engine_options = ['--engine', engine] if engine else []
        result = self.run(*before, self.helio, 'collect', *engine_options, *options, '-o', experiment, *words, **more)
        result.experiment = experiment
        if status is not None and result.status != status:
            raise Failure(f'helio collect {words[0]}: status {result.status}, not {status}: {result.err.strip()[-1500:]}')
        return result

    def like_bare(self, engine, *words, intervals=INTERVALS, options=(), same=lambda result: result.out, **more):
        """
        The program as it is, then recorded at each interval: same status, same output, or what `same` takes of that.
        Yields (result, family).
        """
        begin = time.monotonic()
        bare = self.run(*words, **more)
        # it hangs if it takes ten times as long as bare: run() multiplies with the patience of each moment
        more['timeout'] = max(more.get('timeout', 120), 10 * (time.monotonic() - begin) / patience())
        for interval in intervals:
            result = self.collect(*words, engine=engine, options=('-p', interval, *options), status=None, **more)
            what = f'{pathlib.Path(str(words[0])).name} at {interval}'
            self.check(result.status == bare.status, f'{what}: status {result.status}, not {bare.status}: {result.err[-1500:]}')
            self.equal(same(result), same(bare), f'{what}: output')
            self.print(result.experiment, '-functions')
            yield result, self.read(result.experiment)

    def print(self, experiment, *commands):
        """helio print with JSON: one object per command."""
        result = self.run(self.helio, 'print', '-printmode', 'json', *commands, experiment)
        if result.status:
            raise Failure(f'helio print {commands}: status {result.status}: {result.err.strip()[-1500:]}')
        decoder = json.JSONDecoder()
        objects = []
        text = result.out.strip()
        while text:
            value, end = decoder.raw_decode(text)
            objects.append(value)
            text = text[end:].lstrip()
        return objects

    def functions(self, experiment, *metrics, whole=False):
        """
        {name: row} of the function list; rows of one name are added up. Without what processes used before their recording,
        which is in no record, unless `whole`: as print shows it.
        """
        spec = ':'.join(metrics or ('e.total', 'i.total', 'e.totalcpu', 'i.totalcpu')) + ':name'
        listing = [o for o in self.print(experiment, '-metrics', spec, '-functions') if o['command'] == 'functions'][0]
        rows = Rows()
        for row in listing['rows']:
            known = rows.setdefault(row['name'], {})
            for key, value in row.items():
                known[key] = known.get(key, 0) + value if isinstance(value, (int, float)) else value
        for key, value in rows.pop('<before recording>', {}).items() if not whole else ():
            if isinstance(value, (int, float)) and key in rows['<Total>']:
                rows['<Total>'][key] -= value
        return rows

    def read(self, experiment):
        """The independent reader's view: {lineage: process}."""
        family = helio_reader.read_family(str(experiment))
        for lineage, process in family.items():
            self.check(not process['warnings'], f'reader: {lineage or "founder"}: {process["warnings"][:3]}')
        return family

    # Checks

    def total_is_of(self, rows, family):
        """The total of a list of functions is what a second reader finds of the processes, and the rows of those that were not recorded."""
        unrecorded = [row['e.totalcpu'] for name, row in rows.items() if name.startswith('<not recorded')]
        self.near(rows['<Total>']['e.totalcpu'], sum(image['cpu'] for image in family.values()) + sum(unrecorded), 'total by print',
                  1e-6, 1e-6 * (1 + len(unrecorded)))

    def check(self, condition, message):
        if not condition:
            raise Failure(message)

    def within(self, condition, message):
        if not condition:
            raise Missed(message)

    def equal(self, value, expected, what):
        self.check(value == expected, f'{what}: {value!r}, not {expected!r}')

    def near(self, value, expected, what, relative=0.0, absolute=0.0):
        allowed = max(abs(expected) * relative, absolute)
        self.within(abs(value - expected) <= allowed,
                    f'{what}: {value:.6g}, not {expected:.6g} +- {allowed:.3g}')

    def ratio(self, value, expected, low, high, what):
        self.within(expected > 0, f'{what}: nothing to compare with')
        ratio = value / expected
        self.remark += f'{what} {ratio:.4f} '
        self.within(low <= ratio <= high, f'{what}: {value:.4f} / {expected:.4f} = {ratio:.4f}, not in {low}..{high}')
