# SPDX-License-Identifier: Apache-2.0
"""
What the system tests are written with.

    @test                          runs beside others
    @test(alone=True)              measures: nothing else runs meanwhile
    @test(engines=True)            once per engine; the function gets (t, engine)

A measurement (near, ratio) that misses its bound is taken once more, alone: a busy machine spoils one of the
two, a loss spoils both. What the first one said is printed.

A test function gets a Case `t`: its temporary directory, the targets, `helio`
and the checks. Ground truth is what the target says of itself, or what the
independent reader computes; never what the code under test says.
"""
import ctypes
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / 'reader'))
import helio_reader  # noqa: E402

ENGINES = ('perf', 'monitor')
INTERVALS = ('100u', '1', '10')  # of clock profiling: the shortest, a usual one, the default
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

    def run(self, *words, stdin='', timeout=120, env=None, cwd=None):
        process = subprocess.run([str(w) for w in words], input=stdin, capture_output=True, text=True, errors='replace',
                                 timeout=timeout, cwd=cwd or self.directory, env={**os.environ, **(env or {})})
        return Result(process)

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
            raise Failure(f'helio collect {words[0]}: status {result.status}, not {status}: {result.err.strip()[-400:]}')
        return result

    def like_bare(self, engine, *words, intervals=INTERVALS, options=(), same=lambda result: result.out, **more):
        """
        The program as it is, then recorded at each interval: same status, same output, or what `same` takes of that.
        Yields (result, family).
        """
        bare = self.run(*words, **more)
        for interval in intervals:
            result = self.collect(*words, engine=engine, options=('-p', interval, *options), status=None, **more)
            what = f'{pathlib.Path(str(words[0])).name} at {interval}'
            self.check(result.status == bare.status, f'{what}: status {result.status}, not {bare.status}: {result.err[-400:]}')
            self.equal(same(result), same(bare), f'{what}: output')
            self.print(result.experiment, '-functions')
            yield result, self.read(result.experiment)

    def print(self, experiment, *commands):
        """helio print with JSON: one object per command."""
        result = self.run(self.helio, 'print', '-printmode', 'json', *commands, experiment)
        if result.status:
            raise Failure(f'helio print {commands}: status {result.status}: {result.err.strip()[-400:]}')
        decoder = json.JSONDecoder()
        objects = []
        text = result.out.strip()
        while text:
            value, end = decoder.raw_decode(text)
            objects.append(value)
            text = text[end:].lstrip()
        return objects

    def functions(self, experiment, *metrics):
        """{name: row} of the function list; rows of one name are added up."""
        spec = ':'.join(metrics or ('e.total', 'i.total', 'e.totalcpu', 'i.totalcpu')) + ':name'
        listing = [o for o in self.print(experiment, '-metrics', spec, '-functions') if o['command'] == 'functions'][0]
        rows = {}
        for row in listing['rows']:
            known = rows.setdefault(row['name'], {})
            for key, value in row.items():
                known[key] = known.get(key, 0) + value if isinstance(value, (int, float)) else value
        return rows

    def read(self, experiment):
        """The independent reader's view: {lineage: process}."""
        family = helio_reader.read_family(str(experiment))
        for lineage, process in family.items():
            self.check(not process['warnings'], f'reader: {lineage or "founder"}: {process["warnings"][:3]}')
        return family

    # Checks

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
        self.check(expected > 0, f'{what}: nothing to compare with')
        ratio = value / expected
        self.remark += f'{what} {ratio:.4f} '
        self.within(low <= ratio <= high, f'{what}: {value:.4f} / {expected:.4f} = {ratio:.4f}, not in {low}..{high}')
