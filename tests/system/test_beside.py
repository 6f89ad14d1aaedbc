# SPDX-License-Identifier: Apache-2.0
"""Beside other tools in the same process: allocators, sanitizers, debuggers."""
import os
import re

from harness import INTERVALS, ROOT, Failure, Skip, test

LIBRARIES = '/usr/lib/x86_64-linux-gnu/'


def compiled(t, *options):
    """The program of many kinds of threads, compiled with other options."""
    program = t.directory / 'waves'
    built = t.run(t.need('gcc'), '-g', '-O1', '-D_GNU_SOURCE', '-pthread', *options, '-o', program, ROOT / 'tests/targets/waves.c')
    t.equal((built.status, built.err), (0, ''), 'gcc')
    return program


def need_no_preload():
    if os.environ.get('LD_PRELOAD'):
        raise Skip('LD_PRELOAD is set: sanitizers end a program in which they are not the first')


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
    need_no_preload()
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
    need_no_preload()
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
        # one block is lost, by the last call that allocates
        t.run('gcc', '-O1', '-pthread', f'-fsanitize={sanitizer}', '-o', program, ROOT / 'tests' / 'targets' / 'lastleak.c')
        status = t.run(program).status
        t.check(status != 0, 'a leak without us')
        for heap in ('off', 'on', 'sample=64'):
            t.collect(program, options=('-H', heap), status=status)


@test(engines=True)
def under_a_debugger(t, engine):
    """gdb below us: it stops at no signal of ours, steps and breakpoints work, the program runs to its end, recorded by the monitor engine."""
    program = compiled(t)
    for interval in INTERVALS:
        result = t.collect(t.need('gdb'), '-q', '-nx', '-batch', '-ex', 'break main', '-ex', 'break summary', '-ex', 'run', '-ex', 'next', '-ex', 'next',
                           '-ex', 'continue', '-ex', 'bt', '-ex', 'continue', '--args', program, '25', engine=engine, options=('-p', interval),
                           timeout=60)
        t.check('received signal' not in result.out, f'it stops at a signal: {result.out[-500:]}')
        t.check('failures 0' in result.out and 'exited normally' in result.out, f'the program did not end: {result.out[-500:]}')
        t.check(re.search(r'#1 .* main ', result.out), f'no breakpoint was met: {result.out[-500:]}')
        images = [p for p in t.read(result.experiment).values() if p['process'].get('exe', '').endswith('/waves')]
        t.equal([p['collector']['engine'] for p in images], ['monitor'], 'engine of the debugged program')
        t.check(engine == 'monitor' or 'tracer' in images[0]['collector']['reason'], 'no reason given for the engine')
        t.equal(len(images[0]['threads']), 26, 'threads')
        # gdb awaits each thread of the program, which is none of its children
        rows = [name for name in t.functions(result.experiment, 'i.totalcpu') if name.startswith('<not recorded')]
        t.equal(rows, [], 'what is said not to be recorded')


@test(engines=True)
def under_a_tracer(t, engine):
    """strace below us: a signal of ours would stop a process that it has just taken hold of for ever."""
    calls = t.directory / 'calls'
    bare = t.run(t.target('waves'), 25)
    for interval in INTERVALS:
        result = t.collect(t.need('strace'), '-f', '-o', calls, t.target('waves'), 25, engine=engine, options=('-p', interval), timeout=60)
        t.equal(result.out, bare.out, f'output at {interval}')
        images = [p for p in t.read(result.experiment).values() if p['process'].get('exe', '').endswith('/waves')]
        t.equal([len(p['threads']) for p in images], [26], 'threads')
        # each signal of the engines stops the program: as many as a storm of them would hold it up for good
        t.within(calls.read_text().count('--- SIG') < 2000, f'{calls.read_text().count("--- SIG")} signals')


@test(engines=True)
def asks_to_be_traced(t, engine):
    """PTRACE_TRACEME, by which programs look for debuggers: from then on a signal would stop it, and its parent knows of nothing."""
    source = t.directory / 'asks.c'
    source.write_text('''#include <stdio.h>
                         #include <sys/ptrace.h>
                         #include <sys/syscall.h>
                         #include <time.h>
                         #include <unistd.h>
                         int main(int count, char **words)
                         {
                             long result = count > 1 ? syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0) : ptrace(PTRACE_TRACEME, 0, 0, 0);
                             long second = ptrace(PTRACE_TRACEME, 0, 0, 0);
                             while (clock() < CLOCKS_PER_SEC / 10)
                                 ;
                             printf("asked %ld %ld\\n", result, second);
                             return 3;
                         }''')
    program = t.directory / 'asks'
    t.run(t.need('gcc'), '-O1', '-o', program, source)
    for words in ((program,), (program, 'by number')):
        for result, family in t.like_bare(engine, *words, timeout=60):
            t.equal(result.out, 'asked 0 -1\n', 'output')
            t.within(family['']['cpu'] > 0.05, 'its time is not there')


@test(engines=True)
def under_valgrind(t, engine):
    """The program that valgrind interprets is left alone, and that is said: our events would be faults of valgrind's."""
    words = (t.need('valgrind'), '-q', '--error-exitcode=9', t.target('exitcode'), '7')
    bare = t.run(*words)
    result = t.collect(*words, engine=engine, status=bare.status)
    t.equal((result.out, result.err.count('INTERNAL ERROR')), (bare.out, 0), 'output')
    t.check('valgrind runs it' in (result.experiment / 'log.xml').read_text(), 'no reason in the log')


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
