# SPDX-License-Identifier: Apache-2.0
"""Languages with a runtime of their own: signals, stacks and compilers that we did not expect. And a few tools."""
import pathlib

from harness import test
from real import counted_cpu, same_run

REAL = pathlib.Path(__file__).resolve().parent / 'real'


def built(t, *words, env=None):
    result = t.run(*words, env=env)
    t.equal(result.status, 0, f'{words[0]}: {result.err.strip()[-500:]}')


@test(engines=True)
def java(t, engine):
    built(t, t.need('javac'), '-d', t.directory, REAL / 'Work.java')
    truth, family, _ = same_run(t, engine, t.need('java'), '-Xmx256m', '-cp', t.directory, 'Work', 'from', 'Java')
    counted_cpu(t, truth, family)


@test(engines=True)
def node(t, engine):
    truth, family, _ = same_run(t, engine, t.need('node'), REAL / 'work.js', status=8)
    counted_cpu(t, truth, family)


JSON_OF_COMPILED_CODE = """
const all = {};
for (let i = 0; i < 20000; i++) all['x' + i] = {a: i, b: 's' + i};
let length = 0;
for (const end = Date.now() + 800; Date.now() < end;) length += JSON.stringify(JSON.parse(JSON.stringify(all))).length;
console.log(length > 0);
"""


@test(engines=True)
def node_builtins(t, engine):
    """C++ that compiled JavaScript calls by a builtin, whose instructions do not tell where its caller's frame is: stacks go on there."""
    result = t.collect(t.need('node'), '-e', JSON_OF_COMPILED_CODE, engine=engine)
    t.equal(result.out, 'true\n', 'output')
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    failed = rows.get('<Stack-unwind-failed>', {}).get('i.totalcpu', 0)
    t.within(failed < 0.05 * rows['<Total>']['e.totalcpu'], f'{failed} s have stacks that end early')


@test(engines=True)
def go(t, engine):
    """With calls into C the linker makes it dynamic, and the collector is loaded into it."""
    program = t.directory / 'work'
    built(t, t.need('go'), 'build', '-o', program, REAL / 'work.go',
          env={'GOCACHE': str(t.build / 'go-cache'), 'GO111MODULE': 'off', 'CGO_ENABLED': '1'})
    truth, family, experiment = same_run(t, engine, program, status=2)
    # it ends by a raw exit_group: no log tells what came after the last look
    counted_cpu(t, truth, family, low=0.9)
    rows = t.functions(experiment, 'e.totalcpu', 'i.totalcpu')
    t.within(rows['main.work']['i.totalcpu'] > 0.4 * rows['<Total>']['e.totalcpu'], f'main.work: {rows["main.work"]}')


@test(engines=True)
def rust(t, engine):
    program = t.directory / 'work'
    built(t, t.need('/usr/bin/rustc'), '-O', '-C', 'debuginfo=1', '-o', program, REAL / 'work.rs')
    truth, family, experiment = same_run(t, engine, program, status=6)
    counted_cpu(t, truth, family)
    rows = t.functions(experiment, 'e.totalcpu', 'i.totalcpu')
    failed = rows.get('<Stack-unwind-failed>', {}).get('i.totalcpu', 0)
    t.within(failed < 0.02 * rows['<Total>']['e.totalcpu'], f'{failed} s have stacks that end early')
    t.within(any('work::main' in name for name in rows), f'no work::main among {sorted(rows)[:40]}')


@test(engines=True)
def openssl(t, engine):
    """Hand-written assembly without frame information for much of it."""
    script = ('openssl speed -seconds 1 -bytes 8192 sha256 >speed 2>&1; sha256sum "$0" >sum; '
              'openssl enc -aes-256-ctr -pbkdf2 -pass pass:x -nosalt -in "$0" | openssl dgst -sha512; '
              'openssl genrsa 2048 | openssl rsa -check -noout')
    truth, family, _ = same_run(t, engine, 'sh', '-c', script, t.need('openssl'))
    counted_cpu(t, truth, family)


@test(engines=True)
def x264(t, engine):
    """Threads, and assembly without frame information; the coded film must be the same to the bit."""
    film = t.directory / 'film.y4m'
    with open(film, 'wb') as file:
        file.write(b'YUV4MPEG2 W320 H240 F25:1 Ip A1:1 C420\n')
        for n in range(120):
            luma = bytes((x * y // 7 + n % 60 * 5 + (x ^ y)) & 255 for y in range(240) for x in range(320))
            file.write(b'FRAME\n' + luma + bytes((128 + n % 60,)) * (320 * 240 // 2))
    coded = t.directory / 'film.264'
    words = [t.need('sh'), '-c', f'x264 --quiet --preset medium --threads 4 -o {coded} {film} && sha256sum <{coded}']
    truth, family, _ = same_run(t, engine, *words)
    counted_cpu(t, truth, family, idle=('x264', '--version'))
