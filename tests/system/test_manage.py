# SPDX-License-Identifier: Apache-2.0
"""
What is done with experiments as a whole. The programs are built here, so that
their function names are known, and can be moved away or rebuilt.
"""
import calendar
import fcntl
import filecmp
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time

import helio_reader
import make_golden
from harness import ROOT, Skip, patience, test

LIBRARY = '''
static volatile unsigned long sum;
static __attribute__((noinline)) void hidden_in_library(unsigned long n)
{ for (unsigned long i = 0; i < n; i++) sum += i; }
void library_work(unsigned long n) { hidden_in_library(n); __asm__ volatile("" ::: "memory"); }
'''
PROGRAM = '''
void library_work(unsigned long n);
static volatile unsigned long sum;
static __attribute__((noinline)) void NAME(unsigned long n) { for (unsigned long i = 0; i < n; i++) sum += i; }
int main(void) { NAME(60000000); library_work(60000000); return 0; }
'''


LARGE = '''
#include <time.h>
char large[3 << 20] = {1};
__attribute__((noinline)) int spend(void) { struct timespec t; do { for (volatile int i = 0; i < 10000; i++); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); } while (t.tv_nsec < 100000000 && !t.tv_sec); return large[5]; }
int main(void) { return spend(); }
'''


def build_program(t, name='work_before'):
    """prog with a library whose static function is named in a debug file only."""
    place = t.directory / 'place'
    place.mkdir(exist_ok=True)
    (place / 'library.c').write_text(LIBRARY)
    (place / 'program.c').write_text(PROGRAM.replace('NAME', name))

    def run(*words):
        result = t.run(*words, cwd=place)
        t.equal(result.status, 0, f'{words}: {result.err[-300:]}')

    run('gcc', '-g', '-O1', '-fPIC', '-shared', '-Wl,--build-id,-soname,libwork.so', '-o', 'libwork.so', 'library.c')
    run('objcopy', '--only-keep-debug', 'libwork.so', 'libwork.debug')
    run('strip', 'libwork.so')
    run('objcopy', '--add-gnu-debuglink=libwork.debug', 'libwork.so')
    run('gcc', '-g', '-O1', '-Wl,--build-id', '-o', 'prog', 'program.c', './libwork.so', '-Wl,-rpath,' + str(place))
    return place


def helio(t, *words, status=0, **more):
    result = t.run(t.helio, *words, **more)
    t.equal(result.status, status, f'helio {words}: {result.err.strip()[-300:]}: status')
    return result


def listing(t, experiment):
    return t.run(t.helio, 'print', '-metrics', 'e.totalcpu:i.totalcpu:name', '-functions', experiment).out


def copied(experiment):
    """What its archives hold, without what a test environment preloads (tests/elsewhere.py) and all endings."""
    preloaded = {os.path.basename(path).split('.')[0] for path in os.environ.get('LD_PRELOAD', '').split()}
    return [name for name in (path.name.split('.')[0] for path in (experiment / 'archives').iterdir()) if name not in preloaded]


def names(text):
    return {line.split()[-1] for line in text.splitlines() if line}


@test
def archives_stand_in_for_files(t):
    """The experiment alone, with its program, library and debug file gone, prints what it printed before."""
    place = build_program(t)
    experiment = t.collect(place / 'prog', options=('-A', 'off')).experiment
    bare = t.directory / 'bare.er'
    shutil.copytree(experiment, bare)
    before = listing(t, experiment)
    t.check({'main', 'work_before', 'hidden_in_library'} <= names(before), f'before: {before}')
    helio(t, 'archive', experiment)
    kept = {path.name.split('.')[0]: path for path in (experiment / 'archives').iterdir()}
    t.check({'prog', 'libwork', 'libc'} <= set(kept), f'archived: {sorted(kept)}')
    t.check(any(path.name.endswith('.debug') and path.name.startswith('libwork')
                for path in (experiment / 'archives').iterdir()), 'the debug file')
    t.check("/prog' to '" in (experiment / 'archive.log').read_text(), 'archive.log')
    shutil.move(place, t.directory / 'elsewhere')
    moved = t.directory / 'moved' / 'other.er'
    moved.parent.mkdir()
    helio(t, 'mv', experiment, moved)
    t.equal(listing(t, moved), before, 'the function list from archives')
    t.check(not {'work_before', 'hidden_in_library'} & names(listing(t, bare)), 'names without archives')


@test
def archives_stand_before_a_rebuilt_program(t):
    """What `collect` keeps by itself is the program: rebuilt, its new functions are not those that were measured."""
    place = build_program(t)
    experiment = t.collect(place / 'prog').experiment
    before = listing(t, experiment)
    kept = sorted(copied(experiment))
    t.equal(kept, ['[vdso]', 'libwork', 'libwork', 'prog'], 'own files, the debug file, no system library')
    build_program(t, 'work_after')
    t.equal(listing(t, experiment), before, 'after the rebuild')
    t.check('work_before' in names(before) and 'work_after' not in names(before), 'the names')


@test
def archive_refuses_another_file(t):
    place = build_program(t)
    experiment = t.collect(place / 'prog', options=('-A', 'off')).experiment
    build_program(t, 'work_after')
    os.remove(place / 'libwork.so')
    result = helio(t, 'archive', experiment)
    t.check('prog was changed after it was measured' in result.err, result.err)
    t.check('libwork.so is not archived: No such file' in result.err, result.err)
    t.check(not list((experiment / 'archives').glob('prog*')), 'no copy of the other file')
    result = helio(t, 'archive', '-q', experiment)
    t.equal(result.err, '', '-q')
    t.check('was changed after' in (experiment / 'archive.log').read_text(), 'the log has it')


def build_twins(t, *options):
    """Two programs of one name, one date and one size, whose functions have names of one length but are different."""
    programs = []
    for name in 'in_one_place', 'other_place_':
        place = t.directory / name
        place.mkdir()
        result = t.run('gcc', '-g', '-O1', *options, '-x', 'c', '-', '-o', place / 'prog', cwd=t.directory,
                       stdin=PROGRAM.replace('NAME', name).replace('library_work(60000000);', '').replace('60000000', '99999999'))
        t.equal(result.status, 0, f'gcc: {result.err}')
        os.utime(place / 'prog', (1700000000, 1700000000))
        programs.append(place / 'prog')
    t.equal(len({path.stat().st_size for path in programs}), 1, 'sizes')
    return programs


@test
def one_build_id_is_two_files(t):
    """
    Two programs with one name and one build-id, or none: both are kept, in an archive of one's own and in a common one, and each
    one's functions have their names when the programs are gone. Of equal files there is one copy.
    """
    for number, options in enumerate((['-Wl,--build-id=0x123456789abcdef0'], ['-Wl,--build-id=none'])):
        programs = build_twins(t, *options)
        script = ' && '.join(map(str, programs))
        own = t.collect('sh', '-c', script, options=('-p', '1')).experiment
        common = t.collect('sh', '-c', script, options=('-p', '1', '-A', 'off')).experiment
        equal = t.collect('sh', '-c', f'mkdir -p copies && cp -p {programs[0]} copies && {programs[0]} && copies/prog', options=('-A', 'off')).experiment
        for _ in range(2):
            helio(t, 'archive', '-a', 'own', '-d', t.directory / f'common{number}', common)
        helio(t, 'archive', '-a', 'own', equal)
        for program in programs:
            shutil.rmtree(program.parent)
        for experiment in own, common:
            t.equal(len(list((experiment / 'archives').glob('prog.*'))), 2, f'copies {options}')
            t.check({'in_one_place', 'other_place_'} <= set(t.functions(experiment)), f'names {options}')
            result = t.run(t.helio, 'check', experiment)
            t.equal(result.status, 0, f'status of check ({result.out})')
        t.equal(len(list((equal / 'archives').glob('prog.*'))), 1, 'copies of equal files')


@test
def archive_modes(t):
    place = build_program(t)

    def kept(*options, collect=()):
        experiment = t.collect(place / 'prog', options=('-A', 'off', *collect)).experiment
        helio(t, 'archive', *options, experiment)
        copies = set(copied(experiment)) - {'[vdso]'}
        return experiment, copies

    t.equal(kept('-a', 'off')[1], set(), '-a off')
    t.equal(kept('-a', 'own')[1], {'prog', 'libwork'}, '-a own')
    _, every = kept('-A')
    t.check({'prog', 'libwork', 'libc', 'ld-linux-x86-64'} <= every, f'-A: {every}')
    experiment, used = kept('-s', 'used', '-m', 'library')
    t.check('libc' in used, f'used: {used}')  # main was called from it
    sources = experiment / 'archives' / 'sources'
    t.equal([p for p in sources.rglob('*') if p.is_file()], [sources / str(place)[1:] / 'library.c'], '-m library')
    t.check(filecmp.cmp(sources / str(place)[1:] / 'library.c', place / 'library.c', shallow=False), 'its content')
    experiment, used = kept('-d', t.directory / 'common')
    links = [p for p in (experiment / 'archives').iterdir() if p.is_symlink()]
    t.check(links and all(p.resolve().parent == t.directory / 'common' for p in links), f'-d: {links}')
    # a copy is made once, and anew with -F
    copy = next(p for p in links if p.name.startswith('prog')).resolve()
    copy.write_text('spoilt')
    helio(t, 'archive', '-d', t.directory / 'common', experiment)
    t.equal(copy.read_text(), 'spoilt', 'a second run')
    helio(t, 'archive', '-F', '-d', t.directory / 'common', experiment)
    t.check(filecmp.cmp(copy, place / 'prog', shallow=False), '-F')
    helio(t, 'archive', '-a', 'nonsense', experiment, status=2)


@test
def archive_that_moves_along(t):
    """-r: the experiment and the directory that it shares, moved together; a file in the way of none."""
    place = build_program(t)
    home = t.directory / 'home'
    home.mkdir()
    experiment = t.collect(place / 'prog', options=('-A', 'off')).experiment
    helio(t, 'mv', experiment, home)
    helio(t, 'archive', '-r', home / 'common', '-s', 'used', '-m', 'program.c', home / experiment.name)
    home.rename(t.directory / 'away')
    for kept, original in ((f'sources{place}/program.c', 'program.c'), ('prog.*[0-9a-f]', 'prog')):
        found, = (t.directory / 'away' / experiment.name / 'archives').glob(kept)
        t.check(found.is_symlink() and filecmp.cmp(found, place / original, shallow=False), f'{found}')


@test
def archive_at_the_end_of_a_run(t):
    """collect -A and -a; what a build made and removed again is no news."""
    place = build_program(t)

    def kept(*options, words=(place / 'prog',)):
        result = t.collect(*words, options=('-q', *options))
        t.equal(result.err, '', f'{options}: messages')
        return result.experiment / 'archives', set(copied(result.experiment))

    t.equal(kept('-A', 'off')[1], {'[vdso]'}, '-A off')
    t.check({'prog', 'libwork', 'libc'} <= kept('-A', 'copy')[1], '-A copy')
    archives, names_there = kept('-A', 'src')
    t.check({'prog', 'libc', 'sources'} <= names_there, f'-A src: {names_there}')
    t.check((archives / 'sources' / str(place)[1:] / 'program.c').exists(), 'program.c')
    t.check('ld-linux-x86-64' in kept('-a', 'ldobjects')[1], '-a ldobjects')
    archives, names_there = kept(words=('sh', '-c', f'cp {place}/prog conftest; ./conftest; rm conftest'))
    t.check('conftest' not in names_there, 'what was removed')
    t.check('conftest is not archived: No such file' in (archives / '..' / 'archive.log').read_text(), 'archive.log')


@test
def a_killed_archive_leaves_nothing_for_long(t):
    """What killed writers have left goes at the next archive: of an experiment all, of a common archive only what it is about to write; what is being written stays."""
    experiment = t.collect(t.target('flat'), '0.1s', options=('-A', 'off')).experiment
    archives = experiment / 'archives'
    large = t.directory / 'large'
    large.write_bytes(pathlib.Path(t.target('flat')).read_bytes() + b'x' * (100 << 20))
    maps = experiment / 'map.xml'
    maps.write_text(maps.read_text().replace(f'name="{t.target("flat")}"', f'name="{large}"'))

    def halves(where):
        return sorted(path.name for path in where.rglob('*.part'))

    def kill_one():
        for _ in range(200):
            process = subprocess.Popen([t.helio, 'archive', '-F', experiment], stderr=subprocess.DEVNULL)
            while process.poll() is None and not halves(archives):
                pass
            process.kill()
            process.wait()
            if halves(archives):
                return True
        return False

    t.check(kill_one(), 'no archive could be killed while it copied')
    left = halves(archives)
    result = t.run(t.helio, 'check', experiment)
    t.check(f'archives/{left[0]} is part of a copy, left by a helio that was killed' in result.out, f'check: {result.out}')
    helio(t, 'archive', experiment)
    t.equal(halves(experiment), [], 'left')

    common = t.directory / 'common'
    (archives / 'sources' / 'a').mkdir(parents=True, exist_ok=True)
    common.mkdir()
    busy, others = archives / 'libc.so.6.12.99999.part', [archives / 'notes.part', archives / 'a.12x.part', archives / '12.part']
    for path in busy, experiment / 'sums.99999.part', archives / 'sources' / 'a' / 'b.c.99999.part', common / 'film.99999.part', *others:
        path.write_text('half')
    (archives / 'link.7.part').symlink_to(busy)
    with busy.open() as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        result = t.run(t.helio, 'check', experiment)
        t.check(busy.name not in result.out, f'check of what is being written: {result.out}')
        helio(t, 'archive', experiment)
        t.equal(halves(experiment), sorted([busy.name, 'link.7.part', *(path.name for path in others)]), 'what is written, and what is none')
    shutil.rmtree(experiment / 'archives')
    name = next(path.name for path in t.collect(t.target('flat'), '0.1s').experiment.glob('archives/flat.*'))
    (common / f'{name}.99999.part').write_text('half')
    maps.write_text(maps.read_text().replace(f'name="{large}"', f'name="{t.target("flat")}"'))
    helio(t, 'archive', '-d', common, experiment)
    t.check((common / name).exists(), 'common archive')
    t.equal(halves(common), ['film.99999.part'], 'in a common archive')


@test
def archive_by_environment(t):
    """SP_ARCHIVE_ARGS: options for what a run keeps by itself, but for -A off; what is wrong there is said."""
    place = build_program(t)

    def kept(value, *options):
        result = t.collect(place / 'prog', options=('-q', *options), env={'SP_ARCHIVE_ARGS': value})
        return set(copied(result.experiment)) - {'[vdso]'}, result.err

    t.equal(kept('-s used -m program[.]c'), ({'prog', 'libwork', 'sources'}, ''), '-s used')
    t.equal(kept(' -a ldobjects ')[0] >= {'prog', 'libwork', 'libc', 'ld-linux-x86-64'}, True, '-a ldobjects')
    t.equal(kept('-s used', '-A', 'off'), (set(), ''), '-A off')
    for wrong, word in (('-z', 'z'), ('test.1.er', 'test.1.er'), ('-s most', 'most')):
        names_there, said = kept(wrong)
        t.check('SP_ARCHIVE_ARGS' in said and word in said, f'{wrong}: {said}')
        t.equal(names_there, {'prog', 'libwork'}, f'{wrong}: as without')


@test
def archive_of_the_founder_only(t):
    experiment = t.collect('sh', '-c', f'{build_program(t)}/prog; true', options=('-A', 'off')).experiment
    helio(t, 'archive', '-n', experiment)
    t.check(not list((experiment / 'archives').glob('prog*')), 'the descendant\'s program with -n')
    helio(t, 'archive', experiment)
    t.check(list((experiment / 'archives').glob('prog*')), 'the descendant\'s program')


def same_tree(a, b):
    comparison = filecmp.dircmp(a, b)
    return (not comparison.left_only and not comparison.right_only
            and not filecmp.cmpfiles(a, b, comparison.common_files, shallow=False)[1]
            and all(same_tree(pathlib.Path(a) / name, pathlib.Path(b) / name) for name in comparison.common_dirs))


def other_file_system(t):
    device = t.directory.stat().st_dev
    for place in ('/dev/shm', '/var/tmp', '/tmp', '/run'):
        if os.access(place, os.W_OK) and os.stat(place).st_dev != device:
            return pathlib.Path(place)
    raise Skip('there is only one file system to write to')


@test
def copies_and_moves(t):
    experiment = t.collect(t.target('forktree'), '0.02s').experiment
    original = t.directory / 'original'
    shutil.copytree(experiment, original, symlinks=True)
    into = t.directory / 'into'
    into.mkdir()
    copy = t.directory / 'copy.er'
    helio(t, 'cp', experiment, copy)
    t.check(same_tree(original, copy), 'cp: the copy')
    t.check(same_tree(original, experiment), 'cp: the original')
    helio(t, 'cp', f'{experiment}/', copy, into)
    t.equal(sorted(p.name for p in into.iterdir()), ['copy.er', experiment.name], 'cp into a directory')
    for verb in ('cp', 'mv'):
        result = helio(t, verb, experiment, copy, status=1)
        t.check('is there already' in result.err, result.err)
        result = helio(t, verb, experiment, into, status=1)
        t.check('is there already' in result.err, result.err)
        t.check('.er' in helio(t, verb, experiment, t.directory / 'noname', status=1).err, 'a name without .er')
        helio(t, verb, experiment, status=2)
        helio(t, verb, experiment / '_f1.er', t.directory / 'part.er', status=1)
    t.check(same_tree(original, copy) and same_tree(original, experiment), 'after refusals')
    helio(t, 'mv', copy, t.directory / 'moved.er')
    t.check(not copy.exists() and same_tree(original, t.directory / 'moved.er'), 'mv')
    t.check(not list(t.directory.glob('.*.er.*')), 'nothing half is left')


@test
def a_full_disk(t):
    """No file may be longer than a page: nothing half is left, and a move takes nothing away."""
    experiment = t.collect(build_program(t) / 'prog', options=('-A', 'off')).experiment

    def limited(*words):
        return t.run('bash', '-c', 'ulimit -f 4; "$@"', 'bash', t.helio, *words)

    (experiment / 'notes').write_text('long ' * 4000)
    before = sorted(p.name for p in t.directory.iterdir())
    result = limited('cp', experiment, t.directory / 'copy.er')
    t.equal(result.status, 1, 'cp: status')
    t.check('File too large' in result.err, result.err)
    t.equal(sorted(p.name for p in t.directory.iterdir()), before, 'what is there')
    result = limited('archive', experiment)
    t.check('prog cannot be copied to' in result.err and 'File too large' in result.err, result.err)
    t.equal([p.name.split('.')[0] for p in (experiment / 'archives').iterdir()], ['[vdso]'], 'archives')


@test
def what_could_not_be_kept_is_said(t):
    """Where a limit, as a full disk would, keeps the program from being copied: by the last message, and by all that read the experiment, until it is kept."""
    place = build_program(t)
    program = place / 'prog'
    with program.open('ab') as file:
        file.write(b'x' * 600_000)

    def said(where, text):
        t.check(re.search(f'{re.escape(str(program))}.*(cannot be copied to|could not be kept in archives).*File too large', text), f'{where}: {text}')

    for options in [], ['-q']:
        experiment = t.directory / f'kept{len(options)}.er'
        result = t.run('bash', '-c', f'ulimit -f 500; exec "$@"', 'bash', t.helio, 'collect', *options, '-o', experiment, program)
        t.equal(result.status, 0, f'collect {options}: {result.err}')
        said(f'collect {options}', result.err)
    for words in ['print', '-header'], ['print', '-functions'], ['print', '-report'], ['check']:
        result = t.run(t.helio, *words, experiment)
        said(words, result.out + result.err)
        t.equal(result.status, 1 if words == ['check'] else 0, f'{words}: status')
    result = t.run('bash', '-c', 'ulimit -f 500; exec "$@"', 'bash', t.helio, 'archive', '-q', experiment)
    t.equal(result.status, 1, 'archive: status')
    said('archive', result.err)
    common = t.directory / 'common'
    helio(t, 'archive', '-d', common, t.directory / 'kept0.er')
    helio(t, 'archive', '-d', common, experiment)
    for path in experiment, t.directory / 'kept0.er':
        for words in ['print', '-header'], ['check']:
            result = t.run(t.helio, *words, path)
            t.check('kept in archives' not in result.out + result.err, f'{words} when it is there: {result.out}')
    (experiment / 'archive.log').write_text('')
    t.check('archive.log is empty' in t.run(t.helio, 'check', experiment).out, 'a log that could not be written')


@test
def moves_to_another_file_system(t):
    place = other_file_system(t) / f'{t.directory.name}.er'
    experiment = t.collect(t.target('forktree'), '0.02s').experiment
    original = t.directory / 'original'
    shutil.copytree(experiment, original)
    try:
        helio(t, 'mv', experiment, place)
        t.check(same_tree(original, place) and not experiment.exists(), 'there')
        helio(t, 'mv', place, experiment)
        t.check(same_tree(original, experiment) and not place.exists(), 'and back')
    finally:
        shutil.rmtree(place, ignore_errors=True)


@test
def groups(t):
    for name in ('a.er', 'b.er'):
        helio(t, 'collect', '-q', '-o', name, 'true')
    (t.directory / 'both.erg').write_text('#analyzer experiment group\n# a comment\na.er\nb.er\n')
    for name in ('first', 'second'):
        (t.directory / name).mkdir()
    helio(t, 'cp', 'both.erg', 'first')
    t.equal(sorted(p.name for p in (t.directory / 'first').iterdir()), ['a.er', 'b.er', 'both.erg'], 'cp')
    helio(t, 'mv', 'first/both.erg', 'second/')
    t.equal(list((t.directory / 'first').iterdir()), [], 'mv: nothing stays')
    t.equal((t.directory / 'second' / 'both.erg').read_text(), '#analyzer experiment group\na.er\nb.er\n', 'the group')
    t.equal(len(json.loads(helio(t, 'ls', '--json', 'second/both.erg').out)['experiments']), 2, 'ls of the group')
    helio(t, 'cp', 'both.erg', 'second', status=1)
    helio(t, 'cp', 'b.er', 'first')
    helio(t, 'mv', 'both.erg', 'first', status=1)
    t.check((t.directory / 'a.er').exists(), 'one is in the way: none is moved')
    helio(t, 'cp', 'both.erg', 'third.er', status=1)
    helio(t, 'rm', 'second/both.erg')
    t.equal(list((t.directory / 'second').iterdir()), [], 'rm')
    t.check((t.directory / 'a.er').exists(), 'the others stay')


def make_deep(place, depth):
    """Directories in one another, deeper than a path can be long."""
    at = os.open(place, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir('d', dir_fd=at)
        below = os.open('d', os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open('file', os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


@test
def directories_without_end(t):
    """`rm` removes them at any depth, `cp` refuses them and leaves nothing behind."""
    for depth in 62, 63, 64, 65, 66, 130, 3000:
        helio(t, 'collect', '-q', '-A', 'off', '-o', 'deep.er', 'true')
        make_deep(t.directory / 'deep.er', depth)
        (t.directory / 'deep.er' / '.deep.1').mkdir()
        (t.directory / 'deep.er' / '.deep.1' / 'file').write_text('')
        result = t.run(t.helio, 'cp', 'deep.er', 'copy.er', cwd=t.directory)
        if depth > 100:
            t.equal(result.status, 1, f'status of cp of {depth}')
            t.check('directories in one another' in result.err, f'{depth}: {result.err}')
        left = ['copy.er', 'deep.er'] if result.status == 0 else ['deep.er']
        t.equal(sorted(os.listdir(t.directory)), left, f'what is there after cp of {depth}')
        helio(t, 'rm', *left)
        t.equal(os.listdir(t.directory), [], f'what is there after rm of {depth}')


@test
def a_copy_that_is_exchanged(t):
    """Somebody puts another directory in the place of the copy that is being made, which then fails: that one stays as it is."""
    experiment = t.collect('/bin/true').experiment
    make_deep(experiment, 80)
    for which in (1, 2, 40):
        place, trace = t.directory / f'place.{which}', t.directory / f'trace.{which}'
        treasure = place / 'treasure'
        treasure.mkdir(parents=True)
        (treasure / 'ring').write_text('gold')
        words = [t.need('strace'), '-f', '-o', trace, '-e', 'trace=mkdir,mkdirat', '-e', f'inject=mkdir,mkdirat:signal=STOP:when={which}',
                 t.helio, 'cp', experiment, place / 'copy.er']
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as run:
            while run.poll() is None and not (trace.is_file() and 'stopped by SIGSTOP' in trace.read_text()):
                time.sleep(0.01)
            half = next(place.glob('.copy.er.*'))
            half.rename(place / 'aside')
            treasure.rename(half)
            os.kill(int(trace.read_text().split()[0]), signal.SIGCONT)
            said = run.communicate(timeout=60 * patience())[1]
        t.check(run.returncode == 1 and 'Cannot copy to' in said, f'{which}: status {run.returncode}, {said}')
        t.equal([(path.name, path.read_text()) for path in half.glob('*')], [('ring', 'gold')], f'what was put there, at directory {which}')


@test
def removes_experiments_only(t):
    (t.directory / 'papers.er').mkdir()
    (t.directory / 'papers.er' / 'thesis').write_text('three years')
    t.check('not an experiment' in helio(t, 'rm', 'papers.er', status=1).err, 'a directory')
    t.check((t.directory / 'papers.er' / 'thesis').exists(), 'it stays')
    helio(t, 'collect', '-q', '-o', 'x.er', 'true')
    helio(t, 'rm', '-i', 'x.er', stdin='n\n')
    helio(t, 'rm', '-i', 'x.er', stdin='')
    t.check((t.directory / 'x.er').exists(), 'no means no, and so does nothing')
    helio(t, 'rm', '-i', 'x.er/', stdin='y\n')
    t.check(not (t.directory / 'x.er').exists(), 'yes')
    helio(t, 'rm', 'x.er', status=1)
    helio(t, 'rm', '-f', 'x.er')
    t.equal(sorted(p.name for p in t.directory.iterdir()), ['papers.er'], 'nothing is left')


@test
def replaces_experiments_only(t):
    """-O removes what `rm` would, and an empty directory."""
    family = t.collect('sh', '-c', '(/bin/ls > /dev/null); exit 0').experiment
    part = next(family.glob('_f1*.er'))
    before = sorted(path.name for path in family.rglob('*'))
    result = t.run(t.helio, 'collect', '-O', part, 'true')
    t.check(result.status and 'part of another experiment' in result.err, f'a part: status {result.status}, {result.err}')
    t.equal(sorted(path.name for path in family.rglob('*')), before, 'the whole one')
    (t.directory / 'empty.er').mkdir()
    for name in ('empty.er', 'empty.er', family):
        t.equal(t.run(t.helio, 'collect', '-q', '-A', 'off', '-O', name, '/bin/true').status, 0, f'-O {name}')
        helio(t, 'check', name)
    (t.directory / 'link.er').symlink_to(family)
    result = t.run(t.helio, 'collect', '-O', 'link.er', 'true')
    t.check(result.status and 'something else' in result.err, f'a link: {result.err}')
    helio(t, 'check', family)


@test
def replaced_by_one_that_is_killed(t):
    """Its name is gone before anything in it is: nobody takes what is left for an experiment."""
    for which in (1, 3, 5):
        experiment = t.collect('sh', '-c', '(/bin/ls > /dev/null); exit 0').experiment
        t.run(t.need('strace'), '-f', '-qq', '-o', '/dev/null', '-e', 'trace=unlinkat', '-e', f'inject=unlinkat:signal=KILL:when={which}',
              t.helio, 'collect', '-q', '-O', experiment, '/bin/true')
        t.check(not experiment.exists(), f'killed at removal {which}: what is left has the name')


def begin(t, *words):
    """A recording in progress, begun for sure."""
    experiment = t.directory / 'running.er'
    process = subprocess.Popen([t.helio, 'collect', '-q', '-o', experiment, *words], cwd=t.directory,
                               stderr=subprocess.DEVNULL)
    log = experiment / 'log.xml'
    for _ in range(2000):
        if log.exists() and '<collector ' in log.read_text():
            return process, experiment
        time.sleep(0.01)
    process.kill()
    t.check(False, 'recording did not begin')


@test
def a_recording_in_progress_is_left_alone(t):
    process, experiment = begin(t, 'sleep', '100')
    try:
        for words in (('rm', experiment), ('rm', '-f', experiment), ('mv', experiment, 'x.er'), ('cp', experiment, 'x.er')):
            result = helio(t, *words, status=1)
            t.check('still being recorded' in result.err and 'helio ctl stop' in result.err, result.err)
        result = t.run(t.helio, 'collect', '-O', experiment, 'true')
        t.check(result.status and 'still being recorded' in result.err, f'collect -O: status {result.status}, {result.err}')
        t.equal(json.loads(helio(t, 'ls', '--json').out)['experiments'][0]['state'], 'recording', 'ls')
        t.check('still being recorded' in helio(t, 'check', experiment, status=1).out, 'check')
        helio(t, 'ctl', 'stop', experiment)
        t.equal(json.loads(helio(t, 'ls', '--json').out)['experiments'][0]['state'], 'stopped', 'ls of a stopped one')
        helio(t, 'mv', experiment, 'kept.er')
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    helio(t, 'rm', 'kept.er')


@test
def a_program_that_was_killed(t):
    process, experiment = begin(t, 'sleep', '100')
    process.send_signal(signal.SIGTERM)
    process.wait()
    t.equal(json.loads(helio(t, 'ls', '--json').out)['experiments'][0]['state'], 'killed', 'ls')
    helio(t, 'rm', experiment)


@test
def whose_process_it_is(t):
    """A log without an end names a process: it must be this machine's, and older than the recording."""
    experiment = t.collect('true').experiment
    log = experiment / 'log.xml'
    lines = [line for line in log.read_text().splitlines(keepends=True)
             if 'kind="exit"' not in line and '</experiment>' not in line]

    def state(pid, **changes):
        text = ''.join(lines)
        for name, value in (('process pid', pid), *changes.items()):
            text = re.sub(rf'({name})="[^"]*"', rf'\1="{value}"', text, count=1)
        log.write_text(text)
        return json.loads(helio(t, 'ls', '--json').out)['experiments'][0]['state']

    now = time.time_ns()
    t.equal(state(os.getpid(), wall_ns=now), 'recording', 'a process that was there before')
    helio(t, 'rm', experiment, status=1)
    t.equal(state(os.getpid(), wall_ns=now - 10 ** 9 * 86400 * 3650), 'unfinished', 'one that began later')
    t.equal(state(os.getpid(), hostname='elsewhere'), 'unfinished', 'one of another machine')
    t.equal(state(2 ** 22 + 5), 'unfinished', 'none at all')
    helio(t, 'rm', experiment)


@test
def a_launcher_that_was_killed(t):
    """helio collect is killed, and with it everything that could have closed the experiment."""
    process, experiment = begin(t, 'sleep', '100')
    pid = int((experiment / 'log.xml').read_text().split('<process pid="')[1].split('"')[0])
    process.kill()
    process.wait()
    os.kill(pid, signal.SIGKILL)
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.01)
    t.equal(json.loads(helio(t, 'ls', '--json').out)['experiments'][0]['state'], 'unfinished', 'state')
    helio(t, 'check', experiment, status=1)
    for created in (b'', bytes(65536)):  # as if it had been killed while these were made
        for name in ('profile', 'stacks'):
            (experiment / name).write_bytes(created)
        result = helio(t, 'check', experiment, status=1)
        for name in ('profile', 'stacks'):
            t.check(f'{name} holds nothing' in result.out, f'what was said: {result.out}')
    log = experiment / 'log.xml'  # as if it had been killed before these were made
    log.write_text(''.join(line for line in log.read_text().splitlines(True) if '<collector ' not in line))
    for name in ('stacks', 'map.xml', 'profile', 'overview'):
        (experiment / name).unlink()
        helio(t, 'check', experiment, status=1)


def killed_at(t, call, which=1, path=None):
    """Records a program; who makes that system call, for the path of the experiment, is killed, the first or a later time."""
    experiment, trace = t.directory / 'early.er', t.directory / 'trace'
    shutil.rmtree(experiment, ignore_errors=True)
    of = ('-P', experiment / path) if path else ()
    t.run(t.need('strace'), '-f', '-o', trace, *of, '-e', f'trace={call}', '-e', f'inject={call}:signal=KILL:when={which}',
          t.helio, 'collect', '-q', '-A', 'off', '-o', experiment, t.target('flat'), '0.2s')
    t.check('killed by SIGKILL' in trace.read_text(), f'nobody was killed at {call} {which} of {path}')
    return experiment


@test
def killed_before_all_was_made(t):
    """A program that is killed at the making or at the first writing of each file: what was never made is no damage."""
    vdso, = (path.name for path in (t.collect('true', options=['-A', 'off']).experiment / 'archives').iterdir())
    for path in 'overview', 'map.xml', 'profile', 'stacks', f'archives/{vdso}':
        for call in ('openat',) if path in ('profile', 'stacks') else ('openat', 'write'):
            experiment = killed_at(t, call, path=path)
            result = helio(t, 'check', experiment, status=1)
            t.check('damage' not in result.out, f'killed at {call} of {path}: {result.out}')
    # what is lost then is damage all the same
    (experiment / 'overview').unlink()
    result = helio(t, 'check', experiment, status=2)
    t.check('early.er/overview is missing' in result.out, result.out)


@test
def killed_before_all_was_finished(t):
    """A recorder that is killed between its last words in the log and the list of sums: that is said, and is no damage."""
    t.run(t.need('strace'), '-o', t.directory / 'trace', '-e', 'trace=renameat', t.helio, 'collect', '-q', '-A', 'off', t.target('flat'), '0.01s')
    last = (t.directory / 'trace').read_text().count('"sums")')
    for which in 1, last:
        experiment = killed_at(t, 'renameat', which)
        result = helio(t, 'check', experiment, status=1)
        t.check('damage' not in result.out, f'killed at renameat {which}: {result.out}')
        t.check('no checksums' in result.out, f'said of the sums: {result.out}')
    t.check('<event kind="sums"/>' in (experiment / 'log.xml').read_text(), 'the log tells of sums')
    (experiment / 'sums').unlink()
    helio(t, 'check', experiment, status=2)


@test
def lists_and_describes(t):
    """What ls and info say is what the independent reader, stat and the shell say."""
    begun = time.time()
    experiment = t.collect(t.target('forktree'), '0.05s').experiment
    took = time.time() - begun
    helio(t, 'collect', '-q', '-o', 'killed.er', 'sh', '-c', 'kill -9 $$', status=128 + 9)
    family = t.read(experiment)
    row = json.loads(helio(t, 'ls', '--json').out)['experiments'][1]
    t.equal((row['name'], row['program'], row['state']), (experiment.name, 'forktree', 'complete'), 'the row')
    t.equal(row['events'], sum(process['events'] for process in family.values()), 'events')
    t.equal(row['processes'], len(family), 'processes')
    t.equal(row['engine'], family['']['collector']['engine'], 'engine')
    t.equal(row['bytes'], sum(p.stat().st_size for p in experiment.rglob('*') if p.is_file()), 'bytes')
    t.check(0 < row['duration'] < took, f'duration {row["duration"]} of {took}')
    began = calendar.timegm(time.strptime(row['began'][:19], '%Y-%m-%dT%H:%M:%S'))
    t.near(began, begun, 'began', absolute=3)
    text = helio(t, 'ls').out.splitlines()
    t.equal((text[0].split()[0], len(text)), ('Experiment', 3), 'a header and two rows')
    t.check(text[1].startswith('killed.er') and text[1].endswith('killed'), text[1])
    t.check(str(row['events']) in text[2].split(), text[2])
    info = json.loads(helio(t, 'info', '-j', experiment).out)['experiments'][0]
    t.equal({p['lineage']: p['pid'] for p in info['process_list']},
            {lineage: int(process['process']['pid']) for lineage, process in family.items()}, 'processes')
    program = [o for o in info['load_objects'] if o['path'] == t.target('forktree')]
    t.equal([(o['used'], o['archived']) for o in program], [(True, True)], 'the program')
    t.check('founder' in helio(t, 'info', experiment).out, 'info as text')
    helio(t, 'info', t.directory, status=1)
    helio(t, 'ls', 'nowhere', status=1)


@test
def events_of_each_kind(t):
    """ls and info count what is traced as the independent reader does."""
    experiment = t.collect('ls', '-R', '/usr/include', options=('-i', 'on', '-H', 'on', '-s', 'on', '-p', 'off')).experiment
    traces = t.read(experiment)['']['traces']
    truth = {kind: len(traces[f'{kind}trace']) for kind in ('io', 'heap')}
    t.check(min(truth.values()) > 0, f'{truth}')
    for command in ('ls', 'info'):
        row = json.loads(helio(t, command, '--json', experiment).out)['experiments'][0]
        t.equal((row['trace_events'], row['events']), (truth, 0), command)


@test
def json_fits_its_schema(t):
    """… and the schema refuses what is wrong."""
    try:
        import jsonschema
    except ImportError:
        raise Skip('python3-jsonschema is not installed')
    check = jsonschema.Draft202012Validator(json.loads((ROOT / 'docs/json-schema/helio-experiments.schema.json').read_text()))
    experiment = t.collect(t.target('forktree'), '0.02s').experiment
    odd = os.fsencode(t.directory) + b'/odd-\xff.er'
    shutil.copytree(os.fsencode(experiment), odd)
    for words in (('ls',), ('ls', 'run.1.er'), ('info', experiment), ('check', experiment, make_golden.make(str(t.directory)), 'nothing.er')):
        result = json.loads(t.run(t.helio, words[0], '--json', *words[1:]).out)
        problems = [f'{problem.json_path}: {problem.message[:300]}' for problem in check.iter_errors(result)]
        t.check(not problems, f'{words}: {problems[:3]}')
        first = result['experiments'][0]
        for change in ({'more': 1}, {'path': 1}, {key: None for key in first}):
            t.check(not check.is_valid({'experiments': [{**first, **change}]}), f'{words} accepts {change}')
    t.check('odd-\ufffd.er' in [row['name'] for row in json.loads(t.run(t.helio, 'ls', '-j').out)['experiments']], 'a name of bytes')


def blocks(path):
    """(offset, size, used) of the blocks of a packed file."""
    data = path.read_bytes()
    at = struct.unpack_from('<I', data, 12)[0]
    found = []
    while at < len(data):
        magic, size, used = struct.unpack_from('<III', data, at)
        assert magic == 0x4b4c4248
        found.append((at, size, used))
        at += size
    return found


def cut(path, length):
    os.truncate(path, length)


def flip(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x10
    path.write_bytes(data)


def lose_last_block(path):
    cut(path, blocks(path)[-1][0])


def flip_in_payload(path):
    at, _, used = blocks(path)[0]
    flip(path, at + 40 + used // 2)


def cut_log(path):
    """At the end of a line: each line that is left is in order."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(''.join(lines[:-2]))


def garble_line(path):
    lines = path.read_text().splitlines(keepends=True)
    lines[3] = lines[3][:len(lines[3]) // 2] + '\n'
    path.write_text(''.join(lines))


@test
def check_finds_each_damage(t):
    # A sanitizer's search for leaks would be a child of its own.
    experiment = t.collect(t.target('threads8'), '0.1s', options=('-p', 'hi'), env={'ASAN_OPTIONS': 'detect_leaks=0:verify_asan_link_order=0'}).experiment
    events = t.read(experiment)['']['events']
    result = helio(t, 'check', experiment)
    t.check('in order' in result.out, result.out)

    def damage(what, file, change, less=False):
        spoilt = t.directory / 'spoilt.er'
        shutil.rmtree(spoilt, ignore_errors=True)
        shutil.copytree(experiment, spoilt)
        change(spoilt / file)
        result = t.run(t.helio, 'check', '--json', spoilt)
        t.equal(result.status, 2, f'{what}: {result.out[-300:]}: status')
        found = json.loads(result.out)['experiments'][0]
        t.equal(found['verdict'], 'damaged', what)
        t.check(any(file.split('/')[0] in text for text in found['damage']), f'{what}: {found["damage"]}')
        yields = found['yields']['events']
        t.check(yields < events if less else yields == events, f'{what}: {yields} of {events} events')
        t.check('still yields' in t.run(t.helio, 'check', spoilt).out, f'{what}: as text')

    damage('profile cut in a block', 'profile', lambda p: cut(p, p.stat().st_size * 2 // 3), less=True)
    damage('profile cut between blocks', 'profile', lose_last_block, less=True)
    damage('a bit in stacks', 'stacks', flip_in_payload)
    damage('no stacks', 'stacks', os.remove)
    damage('stacks cut between blocks', 'stacks', lose_last_block)
    damage('log cut in a line', 'log.xml', lambda p: cut(p, p.stat().st_size - 80))
    damage('log cut between lines', 'log.xml', cut_log)
    damage('no log', 'log.xml', os.remove)
    damage('a line of the log', 'log.xml', garble_line)
    damage('a line of the map', 'map.xml', garble_line)
    damage('no map', 'map.xml', os.remove)
    damage('overview cut', 'overview', lambda p: cut(p, p.stat().st_size - 20))
    damage('a copy cut', 'archives/' + next(p.name for p in (experiment / 'archives').glob('threads8.*')),
           lambda p: cut(p, 5000))


@test
def check_sees_a_flipped_bit_anywhere(t):
    """Any bit of a packed block's header or payload: its checksum, or its place among the others, is wrong then."""
    experiment = t.collect(t.target('flat'), '0.1s').experiment
    for name in ('profile', 'stacks'):
        original = (experiment / name).read_bytes()
        at, _, used = blocks(experiment / name)[0]
        for offset in (0, 4, 8, 12, 36, 40, 40 + used // 3, 40 + used - 1):
            flip(experiment / name, at + offset)
            helio(t, 'check', '-q', experiment, status=2)
            (experiment / name).write_bytes(original)
    helio(t, 'check', '-q', experiment)


@test
def check_warns(t):
    place = build_program(t)
    # both ends of a pipe are a fork that becomes a program
    experiment = t.collect('sh', '-c', f'{place}/prog | cat', options=('-A', 'off')).experiment
    helio(t, 'check', experiment)
    family = t.directory / 'family.er'
    shutil.copytree(experiment, family)
    shutil.rmtree(family / '_f1_x1.er')
    result = helio(t, 'check', family, status=1)
    t.check('_f1.er became' in result.out and 'left no experiment _f1_x1.er' in result.out, result.out)
    os.remove(place / 'prog')
    result = helio(t, 'check', experiment, status=1)
    t.check('prog is neither in archives/ nor here' in result.out, result.out)
    t.check('readable, with warnings' in result.out, result.out)


@test
def check_of_the_golden_experiment(t):
    """It lost 3 events; its descendant died within a line of its log and has no overview; its programs never were here."""
    path = make_golden.make(str(t.directory))
    found = json.loads(helio(t, 'check', '-j', path, status=2).out)['experiments'][0]
    t.check(any('3 events were dropped' in text for text in found['warnings']), found)
    t.equal(found['damage'], ['golden.1.er/_f1.er/log.xml is damaged', 'golden.1.er/_f1.er/overview is missing'], 'damage')
    t.check(any('/tmp/golden is neither in archives' in text for text in found['warnings']), found)
    t.equal(found['yields']['events'], sum(p['events'] for p in helio_reader.read_family(path).values()), 'events')


@test
def check_wants_an_experiment(t):
    helio(t, 'check', t.directory, status=2)
    t.check('not readable' in helio(t, 'check', 'nothing.er', status=2).out, 'no experiment')
    helio(t, 'check', status=2)
    helio(t, 'check', '--nonsense', status=2)


@test
def old_names(t):
    """er_archive, er_cp, er_mv, er_rm: links to the one program."""
    for name in ('archive', 'cp', 'mv', 'rm'):
        (t.directory / f'er_{name}').symlink_to(t.helio)
    helio(t, 'collect', '-q', '-A', 'off', '-o', 'a.er', 'true')

    def old(name, *words, status=0):
        result = t.run(t.directory / f'er_{name}', *words)
        t.equal(result.status, status, f'er_{name} {words}: {result.err.strip()[-300:]}: status')
        return result

    t.check(old('archive', '-V').out.startswith('er_archive '), '-V')
    old('archive', '-n', '-q', '-F', '-A', 'a.er')
    t.check(list((t.directory / 'a.er' / 'archives').glob('true.*')), 'er_archive')
    old('cp', 'a.er', 'b.er')
    old('mv', 'b.er', 'c.er')
    t.check((t.directory / 'c.er').is_dir() and not (t.directory / 'b.er').exists(), 'er_cp, er_mv')
    old('rm', '-f', 'c.er', 'a.er')
    t.equal(list(t.directory.glob('*.er')), [], 'er_rm')
    t.check(old('rm', 'c.er', status=1).err.startswith('er_rm: '), 'its name in messages')
    t.check("Try `er_rm --help'" in old('rm', '-x', status=2).err, 'and in advice')


@test
def installed_files_are_referred_to(t):
    """A large object that is not of today is found where it lies; one just built is kept, and so is each that is asked for."""
    place = build_program(t)
    t.equal(t.run('gcc', '-g', '-O1', '-Wl,--build-id', '-DPAD', '-x', 'c', '-', '-o', place / 'large', stdin=LARGE).status, 0, 'gcc')

    def kept(*options):
        experiment = t.collect(place / 'large', options=options).experiment
        return experiment, set(copied(experiment))
    t.check('large' in kept()[1], 'just built')
    os.utime(place / 'large', (0, 1000000000))
    experiment, names = kept()
    t.equal(names, {'[vdso]'}, 'long built')
    t.check('spend' in t.functions(experiment, 'e.totalcpu'), 'its functions have their names all the same')
    t.check('large' in kept('-A', 'copy')[1], '-A copy')
    helio(t, 'archive', experiment)
    t.check('large' in set(copied(experiment)), 'helio archive')


@test
def archive_is_offered(t):
    """Where helio collect was killed nothing was kept; reading says so, until it is done."""
    process, experiment = begin(t, t.target('flat'), '60s')
    pid = int(re.search(r'<process pid="(\d+)"', (experiment / 'log.xml').read_text()).group(1))
    process.kill()
    process.wait()
    os.kill(pid, signal.SIGKILL)

    def warned():
        return 'helio archive' in t.run(t.helio, 'print', '-functions', experiment).err
    t.check(warned(), 'no word of it')
    t.equal(sorted(path.name for path in experiment.iterdir() if 'archive' in path.name), ['archives'], 'written by print')
    helio(t, 'archive', '-a', 'own', experiment)
    t.check(not warned(), 'after helio archive')
    t.equal(t.run(t.helio, 'collect', '-q', '-o', 'b.er', 'true').status, 0, 'collect')
    t.check('helio archive' not in t.run(t.helio, 'print', '-functions', 'b.er').err, 'ended in order')


@test
def events_are_counted_alike(t):
    """By the last message, info, ls and report, which say of what kind they are: those of the clock as the second reader counts them."""
    result = t.collect(t.target('leaks'), options=('-H', 'on'))
    clock = t.read(result.experiment)['']['events']
    heap = re.search(r' (\d+) of heap, ', result.err)[1]
    t.check(f' {clock} events, ' in result.err, result.err)
    t.check(re.search(rf'^Events +{clock} of the clock, {heap} of heap, 0 dropped$', t.run(t.helio, 'info', result.experiment).out, re.MULTILINE), 'info')
    header, row = t.run(t.helio, 'ls', result.experiment).out.splitlines()
    t.equal(row[:header.index('Clock events') + len('Clock events')].split()[-1], str(clock), 'ls')
    t.check(f' {clock} clock events' in t.run(t.helio, 'print', '-report', result.experiment).out, 'report')
    t.check(f'{clock} profile events, {heap} of heap' in t.run(t.helio, 'print', '-header', result.experiment).out, 'header')


ENDS_WITHOUT_A_WORD = '''
import os, signal, sys
def allocate(count):
    for _ in range(count):
        bytearray(100000)
def child(*words):
    if not os.fork():
        allocate(3000)
        for path in words:
            try: os.execv(path, [path])
            except OSError: allocate(2000)
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
allocate(10)
child()
child('/nowhere')
if sys.argv[1] == 'all': os.kill(os.getpid(), signal.SIGKILL)
'''


@test
def events_of_killed_processes_are_counted(t):
    """Of processes that a signal ended, also after an exec that failed: what they traced is in the last message, and in info and ls as JSON, as the second reader has it."""
    for who, status in ('children', 0), ('all', 128 + 9):
        result = t.collect('/usr/bin/python3', '-c', ENDS_WITHOUT_A_WORD, who, options=('-H', 'on'), status=status)
        heap = sum(len(process['traces']['heaptrace']) for process in t.read(result.experiment).values())
        t.check(heap >= 2 * (3000 + 3000 + 2000), f'{heap} events')
        t.check(f' {heap} of heap, ' in result.err, f'{who}: not {heap} of heap: {result.err}')
        t.check(f' {heap} of heap, ' in t.run(t.helio, 'info', result.experiment).out, f'{who}: info')
        listed, = json.loads(t.run(t.helio, 'ls', '--json', result.experiment).out)['experiments']
        t.equal(listed['trace_events'], {'heap': heap}, f'{who}: ls')
