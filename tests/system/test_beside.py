# SPDX-License-Identifier: Apache-2.0
"""Beside other tools in the same process: allocators, sanitizers, debuggers."""
import os
import re

from harness import INTERVALS, ROOT, Failure, test

LIBRARIES = '/usr/lib/x86_64-linux-gnu/'


def compiled(t, *options):
    """The program of many kinds of threads, compiled with other options."""
    program = t.directory / 'waves'
    built = t.run(t.need('gcc'), '-g', '-O1', '-D_GNU_SOURCE', '-pthread', *options, '-o', program, ROOT / 'tests/targets/waves.c')
    t.equal((built.status, built.err), (0, ''), 'gcc')
    return program


@test(engines=True)
def allocators(t, engine):
    """jemalloc, tcmalloc and libasan preloaded: they come before us or after us, and both work."""
    asan = t.run(t.need('gcc'), '-print-file-name=libasan.so').out.strip()
    for path in (LIBRARIES + 'libjemalloc.so.2', LIBRARIES + 'libtcmalloc_minimal.so.4', os.path.realpath(asan)):
        name = os.path.basename(path)
        if not os.path.exists(path):
            raise Failure(f'{name} is not installed')
        for _, family in t.like_bare(engine, t.target('waves'), 100, env={'LD_PRELOAD': path}):
            process = family['']
            t.check(any(name.partition('.')[0] in entry['name'] for entry in process['maps']), f'{name} was not loaded')
            t.equal(len(process['threads']), 101, f'{name}: threads')


@test(engines=True)
def address_sanitizer(t, engine):
    """A program with libasan runs under us, and libasan still finds what it is there for."""
    program = compiled(t, '-fsanitize=address')
    for _, family in t.like_bare(engine, program, 50):
        t.within(family['']['cpu'] > 0.01, 'nothing recorded')
    source = t.directory / 'wrong.c'
    source.write_text('#include <stdlib.h>\nint main(void) { char *p = malloc(8); free(p); return p[1]; }\n')
    wrong = t.directory / 'wrong'
    t.run('gcc', '-fsanitize=address', '-o', wrong, source)
    for result, _ in t.like_bare(engine, wrong):
        t.check('heap-use-after-free' in result.err, f'libasan found nothing: {result.err[-300:]}')


@test
def leak_sanitizer(t):
    """What the dynamic linker keeps of opened objects is no leak, traced or not; what the program lost is one."""
    source = t.directory / 'opens.c'
    source.write_text('''#include <dlfcn.h>
                         #include <stdlib.h>
                         static __attribute__((noinline)) int lose(int depth)
                         {
                             void *volatile block = malloc(77);
                             int lost = depth ? lose(depth - 1) : 0;
                             block = NULL;
                             return lost + 1;
                         }
                         int main(int count, char **words)
                         {
                             for (int i = 1; i < count; i++)
                                 dlopen(words[i], RTLD_LAZY | RTLD_GLOBAL);
                             return count == 1 && lose(100) != 101;
                         }''')
    objects = [t.directory / f'opened{number}.so' for number in range(4)]
    needs = []
    for number, path in enumerate(objects):
        text = t.directory / f'opened{number}.c'
        text.write_text(f'int opened{number} = {number};')
        t.run('gcc', '-shared', '-fPIC', '-o', path, text, '-Wl,--no-as-needed', *needs)
        needs = [path]
    for sanitizer in ('leak', 'address'):
        program = t.directory / sanitizer
        t.run('gcc', '-O1', f'-fsanitize={sanitizer}', '-o', program, source)
        for words in (objects[::-1], ()):
            status = t.run(program, *words).status
            t.equal(status != 0, not words, 'a leak without us')
            for heap in ('off', 'on', 'sample=64'):
                t.collect(program, *words, options=('-H', heap), status=status)


@test
def under_a_debugger(t):
    """gdb below us: the program runs to its end, recorded by the monitor engine, and breakpoints work."""
    program = compiled(t)
    for interval in INTERVALS:
        result = t.collect(t.need('gdb'), '-q', '-batch', '-ex', 'handle SIG63 nostop noprint', '-ex', 'break summary', '-ex', 'run',
                           '-ex', 'bt', '-ex', 'continue', '--args', program, '25', engine='perf', options=('-p', interval), timeout=60)
        t.check('failures 0' in result.out and 'exited normally' in result.out, f'the program did not end: {result.out[-500:]}')
        t.check(re.search(r'#1 .* main ', result.out), f'no breakpoint was met: {result.out[-500:]}')
        images = [p for p in t.read(result.experiment).values() if p['process'].get('exe', '').endswith('/waves')]
        t.equal([p['collector']['engine'] for p in images], ['monitor'], 'engine of the debugged program')
        t.check('tracer' in images[0]['collector']['reason'], 'no reason given for the engine')
        t.equal(len(images[0]['threads']), 26, 'threads')


@test
def above_a_debugger(t):
    """strace -f above us: no perf events, which would stop at each signal."""
    strace = (t.need('strace'), '-f', '-o', t.directory / 'calls')
    bare = t.run(*strace, t.target('waves'), 25)
    for interval in INTERVALS:
        result = t.collect(t.target('waves'), 25, options=('-p', interval), before=strace)
        t.equal(result.out, bare.out, f'output at {interval}')
        process = t.read(result.experiment)['']
        t.equal(process['collector']['engine'], 'monitor', 'engine')
        t.equal(len(process['threads']), 26, 'threads')
