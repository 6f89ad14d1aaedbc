# SPDX-License-Identifier: Apache-2.0
"""
The page of `helio view`: its own unit tests, and the page in a browser over experiments of every kind. What the browser shows is compared with
`helio print -printmode json`, by tests/browser of web/; this makes the experiments and runs them.
"""
import ctypes.util
import json
import os
import pathlib
import re
import shutil

from harness import ROOT, Skip, test
from test_mpi import ENVIRONMENT

WEB = ROOT / 'web'
NAME = r"""<img src=x onerror=alert(1)>&amp;'"""
HOSTILE = [NAME, '\u202egnp.exe', 'x' * 4000]


def node(t):
    program = t.need('node')
    if int(re.match(r'v(\d+)', t.run(program, '--version').out)[1]) < 18:
        raise Skip('Node.js is older than 18')
    if not (WEB / 'node_modules' / 'esbuild').exists():
        raise Skip('the packages of web/ are not installed: ./dev build does that')
    return program


def tested(t, result):
    lines = (result.out + result.err).splitlines()
    passed = [line for line in lines if re.match(r'\S+ pass \d+', line)]
    t.check(result.status == 0 and passed and int(passed[-1].split()[-1]) > 0, '\n'.join(lines)[-6000:])
    t.remark = f'{passed[-1].split()[-1]} tests '


@test
def types(t):
    """The page is what its types say."""
    program = node(t)
    result = t.run(program, WEB / 'node_modules/typescript/bin/tsc', '--noEmit', '-p', WEB, timeout=300)
    t.check(result.status == 0, result.out[-4000:])


@test
def units(t):
    tested(t, t.run(node(t), WEB / 'test/run.mjs', 'unit', cwd=WEB, timeout=300))


@test
def lock_file(t):
    """Packages are pinned by version and sum, come from whatever registry npm is set to, and the page takes along two of them."""
    text = (WEB / 'package-lock.json').read_text(encoding='utf-8')
    t.check('"resolved"' not in text, 'package-lock.json names where packages come from')
    package = json.loads((WEB / 'package.json').read_text(encoding='utf-8'))
    for name, version in {**package['dependencies'], **package['devDependencies']}.items():
        t.check(re.fullmatch(r'\d+\.\d+\.\d+', version), f'{name} has no exact version: {version}')
    t.equal(sorted(package['dependencies']), ['@preact/signals', 'preact'], 'what the page takes along')


def hostile_program(t):
    """Functions whose names the page must show as text."""
    lines = []
    for number, name in enumerate(HOSTILE):
        quoted = name.replace('\\', '\\\\').replace('"', '\\"')
        lines.append(f'double f{number}(double) __asm__("\\"{quoted}\\"");\n'
                     f'__attribute__((noinline)) double f{number}(double x) {{ for (int i = 0; i < 30000000; i++) x += x * 1e-9 + i; return x; }}\n')
    source = t.directory / 'hostile.c'
    source.write_text(''.join(lines) + 'int main(void) { return f0(1) + f1(2) + f2(3) < 0; }\n', encoding='utf-8')
    program = t.directory / 'hostile'
    t.equal(t.run('cc', '-g', '-O1', '-o', program, source).status, 0, 'compiling')
    return program


def record(t, name, *words, options=()):
    result = t.run(t.helio, 'collect', '-q', *options, '-o', t.directory / name, *words, timeout=300)
    t.check(result.status == 0, f'{name}: {result.err[-1000:]}')


def record_parallel(t):
    """Regions and tasks, and ranks, where there are a compiler and a runtime for them: else the page's tests of them are skipped."""
    targets = ROOT / 'tests' / 'targets'
    passive = {'OMP_WAIT_POLICY': 'passive'}
    for name, words in (('omp', ('ompwork', '0.02')), ('tasks', ('ompstages', '0.02')), ('omplocks', ('omplocks', '0.1'))):
        program = t.directory / words[0]
        if t.run('cc', '-g', '-O1', '-fopenmp', '-o', program, targets / f'{words[0]}.c').status == 0:
            t.run(t.helio, 'collect', '-q', '-p', 'hi', '-o', t.directory / f'{name}.1.er', program, words[1], env=passive, timeout=300)
    if shutil.which('mpicc.openmpi') and shutil.which('mpirun.openmpi'):
        program = t.directory / 'mpi_waits'
        t.equal(t.run('mpicc.openmpi', '-g', '-O1', '-w', '-o', program, targets / 'mpi_waits.c', timeout=300).status, 0, 'compiling')
        t.run(t.helio, 'collect', '-q', '-m', 'on', '-o', t.directory / 'mpi.1.er', 'mpirun.openmpi', '-np', '4', program, '5', env=ENVIRONMENT, timeout=300)


def record_long(t):
    """A file of more lines than a call has arguments, and a function whose name is longer than a line."""
    source = t.directory / 'long.c'
    source.write_text('static volatile double sink;\n__attribute__((noinline)) void busy(void) { for (int i = 0; i < 50000000; i++) sink += i; }\n'
                      f'__attribute__((noinline)) void {"a_long_name_" * 30}(void) {{ for (int i = 0; i < 20000000; i++) sink += i; }}\n'
                      + '/**/\n' * 140_000 + f'int main(void) {{ busy(); {"a_long_name_" * 30}(); return 0; }}\n', encoding='utf-8')
    t.equal(t.run('cc', '-g', '-O1', '-o', t.directory / 'long', source).status, 0, 'compiling')
    record(t, 'long.1.er', t.directory / 'long')


def record_stripped(t):
    """A program whose debug file only a server has: stripped.debug, which no link of it leads to."""
    if not ctypes.util.find_library('debuginfod') or not shutil.which('objcopy'):
        return
    source, program = t.directory / 'stripped.c', t.directory / 'stripped'
    source.write_text('static __attribute__((noinline)) double hidden_name(double x) { for (int i = 0; i < 60000000; i++) x += x * 1e-9 + i; return x; }\n'
                      'int main(void) { return hidden_name(1) < 0; }\n', encoding='utf-8')
    t.equal(t.run('cc', '-g', '-O1', '-Wl,--build-id=sha1', '-o', program, source).status, 0, 'compiling')
    for words in (('--only-keep-debug', program, t.directory / 'stripped.debug'), ('--strip-all', program)):
        t.equal(t.run('objcopy', *words).status, 0, f'objcopy {words}')
    record(t, 'stripped.1.er', program, options=('-A', 'off'))


def record_java(t):
    """A program that asks for five garbage collections, and a sample of its objects, where there is a JDK."""
    if not shutil.which('java') or not shutil.which('javac') or t.run('javac', '-d', t.directory, ROOT / 'tests/system/java/Collections.java').status:
        return
    t.run(t.helio, 'collect', '-q', '--java-heap', '16384', '-o', t.directory / 'java.1.er', 'java', '-XX:+UseSerialGC', '-Xmx256m', '-cp', t.directory, 'Collections', '5', timeout=300)


@test(alone=True)
def browser(t):
    program = node(t)
    if not os.path.exists(os.environ.get('CHROMIUM', '/usr/bin/chromium')):
        raise Skip('chromium is not installed')
    everything = t.target('everything')
    record(t, 'all.1.er', everything, options=('-p', 'hi', '-H', 'on', '-s', 'on', '-i', 'on', '-h', 'page-faults,1'))
    record(t, 'again.1.er', everything, options=('-H', 'on', '-s', 'on', '-i', 'on'))
    record(t, 'clock.1.er', everything, options=('-p', 'hi'))
    record(t, 'holds.1.er', t.target('holders'), options=('-s', '1ms'))
    record(t, 'family.1.er', 'sh', '-c', f'{t.target("phases")} >/dev/null; {everything}')
    record(t, 'hostile.1.er', hostile_program(t))
    record_parallel(t)
    record_java(t)
    record_long(t)
    record_stripped(t)
    if (t.build / 'bench' / 'helio-generate').exists():
        t.run(t.build / 'bench' / 'helio-generate', '-e', 100_000, '-t', 500, '-d', 3, t.directory / 'many.1.er')
    record(t, 'damaged.1.er', everything, options=('-p', 'hi'))
    for file in sorted(pathlib.Path(t.directory / 'damaged.1.er').rglob('*')):
        if file.is_file() and file.name.startswith('profile') and file.stat().st_size > 4096:
            with open(file, 'r+b') as data:
                data.truncate(file.stat().st_size * 2 // 3)
    result = t.run(program, WEB / 'test/run.mjs', 'browser', cwd=WEB, timeout=900, env={
        'HELIO': str(t.helio), 'HELIO_TEST_EXPERIMENTS': str(t.directory), 'HELIO_TEST_NAMES': '\n'.join(HOSTILE), 'HELIO_TEST_SLOW': t.target('everything'),
        'XDG_CACHE_HOME': str(t.directory / 'cache'), 'HOME': str(t.directory)})
    shutil.rmtree(t.directory / 'cache', ignore_errors=True)
    tested(t, result)
