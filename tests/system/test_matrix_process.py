# SPDX-License-Identifier: Apache-2.0
"""New processes and programs, made and ended in every way: the program sees no difference, and each is recorded."""
import re
import shutil

from harness import INTERVALS, test

WORK = 0.015  # seconds of CPU that each process of the target uses, by its own clock
WORK_ON = 0.05
CASES = ('fork_threads', 'fork_in_thread', '_Fork', 'vfork', 'clone', 'spawn', 'inherit_signals', 'daemon', 'exec', 'failing')
ENVIRONMENT = ('env', '-i', 'A=b')


def said(result):
    """What is the same in every run: the lines, and which processes named themselves, in any order and by any number."""
    return re.findall(r'^(?!pid ).*', result.out, re.M), sorted(re.findall(r'^pid (.*) \d+$', result.out, re.M))


def by_pid(family):
    images = {}
    for process in family.values():
        images.setdefault(process['process'].get('pid'), []).append(process)
    return images


def awaited(process, kind):
    """What the kernel says of the CPU time of whom it awaited, in seconds."""
    events = [event for event in process['log_events'] if event['kind'] == kind and 'user_us' in event]
    return sum(int(event['user_us']) + int(event['system_us']) for event in events) / 1e6


def check_recorded(t, result, family, engine):
    """Every process that named itself has an experiment with its CPU time in it."""
    images = by_pid(family)
    for name, pid in re.findall(r'^pid (.*) (\d+)$', result.out, re.M):
        t.check(pid in images, f'{name}: not recorded')
        # a machine so busy that it preempts the program thousands of times a second leaves it to the monitor
        t.within({image['collector'].get('engine') for image in images[pid]} == {engine}, f'engine of {name} not {engine}')
        if name not in ('processes', 'exec in thread'):  # those had other work to do as well
            t.near(sum(image['cpu'] for image in images[pid]), WORK, f'CPU of {name}', 0.1, 0.01)  # its own begin and end is some of it


@test(engines=True)
def made(t, engine):
    """fork, vfork, clone, posix_spawn and exec in all their forms."""
    for result, family in t.like_bare(engine, *ENVIRONMENT, t.target('processes'), *CASES, same=said):
        check_recorded(t, result, family, engine)
        rows = t.functions(result.experiment, 'i.totalcpu')
        t.near(rows['work_on']['i.totalcpu'], WORK_ON, 'CPU after exec has failed', 0.05, 0.012)


@test(engines=True)
def storm(t, engine):
    """155 forks, three deep."""
    for _, family in t.like_bare(engine, t.target('processes'), 'storm', same=said):
        t.equal(len(family), 156, 'experiments')
        engines = {process['collector'].get('engine') for process in family.values()}
        t.within(engines == {engine}, f'engines: {engines}')  # as in check_recorded
        t.equal(max(lineage.count('_f') for lineage in family), 3, 'generations')


ENDS = (('abort', 128 + 6), ('segv', 128 + 11), ('_exit', 21), ('_Exit', 22), ('exit_group', 23), ('quick_exit', 24),
        ('exit_in_exit', 25), ('thread', 26), ('last_thread', 0), ('first_alone', 0), ('last_at_exit', 0), ('written_out', 29), ('raw_exit', 27), ('raw_exits', 28))


@test(alone=True, engines=True)
def ended(t, engine):
    """However a process ends, its time is there up to the last tenth of a second."""
    for how, status in ENDS:
        for result, family in t.like_bare(engine, t.target('ends'), how, same=lambda result: sorted(result.truth())):
            t.equal(result.status, status, f'{how}: status')
            truth = result.truth()
            process = family['']
            t.near(process['cpu'], 0.1, f'{how}: CPU', 0.05, 0.012)
            longest = max(thread['sum'] for thread in process['threads'])
            if how.startswith('raw'):  # what we look at each tenth of a second
                continue
            t.near(longest, truth['lived'], f'{how}: time of the thread that lived longest', absolute=0.1)
            if how in ('last_thread', 'last_at_exit'):  # the first thread's life ends with pthread_exit
                t.within(process['threads'][0]['sum'] < 0.5 * longest, f'{how}: {process["threads"][0]["sum"]} of {longest} s are the first thread\'s')
            listing = t.functions(result.experiment, 'e.total')
            t.near(listing['<Total>']['e.total'], process['total'], f'{how}: total by print', 1e-6, 2e-6)


LIBRARY = """
#include <stdio.h>
#include <time.h>
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}
void __attribute__((noinline)) library_end(double until) { while (now() < until); }
static void __attribute__((destructor)) end(void) { library_end(now() + 0.1); printf("worked %.6f\\n", now()); }
"""


@test(alone=True, engines=True)
def ended_in_a_library(t, engine):
    """Its destructor runs behind those of the program and of what was preloaded; what it prints is written behind all."""
    gcc, source, library = t.need('gcc'), t.directory / 'library.c', t.directory / 'liblast.so'
    source.write_text(LIBRARY)
    t.equal(t.run(gcc, '-g', '-O1', '-shared', '-fPIC', '-o', library, source).status, 0, 'gcc')
    program = t.directory / 'program'
    t.equal(t.run(gcc, '-x', 'c', '-o', program, '-', '-x', 'none', '-Wl,--no-as-needed', library, stdin='int main(void) { return 0; }').status, 0, 'gcc')
    result = t.collect(program, engine=engine)
    rows = t.functions(result.experiment, 'i.totalcpu')
    t.near(rows['library_end']['i.totalcpu'], 0.1, 'CPU of the destructor', 0.1, 0.012)
    t.near(rows['<Total>']['i.totalcpu'], result.truth()['worked'], 'CPU', 0.1, 0.02)


@test(alone=True, engines=True)
def killed(t, engine):
    """SIGKILL while waiting or working: nothing of what was before is missing."""
    for how in ('killed_waiting', 'killed_working', 'child_killed'):
        for interval in INTERVALS:
            status = 9 if how == 'child_killed' else 128 + 9
            result = t.collect(t.target('ends'), how, engine=engine, status=status, options=('-p', interval))
            truth = result.truth()
            family = t.read(result.experiment)
            process = family['_f1' if how == 'child_killed' else '']
            t.near(process['threads'][0]['sum'], truth['lived'], f'{how} at {interval}: all of its time', absolute=0.1)
            t.near(process['cpu'], truth.get('worked', 0.1), f'{how} at {interval}: CPU', absolute=0.1)
            rows = t.functions(result.experiment, 'e.total')
            t.near(rows['<Total>']['e.total'], sum(p['total'] for p in family.values()), f'{how}: total by print', 1e-6, 1e-5)


PLACES = ('chroot', 'SYS_chroot', 'moved', 'pivot_root', 'mounts', 'user_namespace', 'setns', 'pids', 'no_directory', 'setuid', 'chroot_setuid')


@test(engines=True)
def elsewhere(t, engine):
    """
    Another root, other mounts, a namespace, no directory, no longer root: the same answers, and all of it recorded, before and after,
    children too. Among the answers is how many descriptors lead out of a jail: none, as bare.
    """
    for how in PLACES:
        for result, family in t.like_bare(engine, t.target('places'), how):
            t.equal(result.status, 5, f'{how}: status')
            t.check('still running' not in result.err, f'{how}: {result.err[-300:]}')
            child_name = '_f2' if how == 'moved' else '_f1'  # there the first child is the one that moves the root
            t.equal(sorted(family), ['', child_name], f'{how}: recorded')
            for held in re.findall('directories held: (.*)', result.out):
                t.equal(held, '0', f'{how}: directories held in a jail')
            inside = t.functions(result.experiment, 'i.totalcpu').get('work', {}).get('i.totalcpu', 0)
            t.near(inside, 0.12, f'{how}: CPU in work()', 0.1, 0.04)  # of each process a part of an interval at both ends is nobody's
            child = awaited(family[''], 'reaped')
            for lineage, worked, used in (('', 0.09, awaited(family[''], 'exit') - child), (child_name, 0.03, child)):
                t.check(family[lineage]['process']['exe'].endswith('/places'), f'{how}: no program named')
                cpu = family[lineage]['cpu']
                t.within(0.9 * worked - 0.012 < cpu < 1.02 * used + 0.002, f'{how}: {cpu} s of {used} in {lineage or "the founder"}')


@test(alone=True, engines=True)
def thread_without_variables(t, engine):
    """A thread by clone alone that runs on its creator's thread-local variables: each has its own time."""
    result = t.collect(t.target('processes'), 'raw_thread', engine=engine, status=5, options=('-p', '1m'))
    truth = result.truth()
    process = t.read(result.experiment)['']
    rows = t.functions(result.experiment, 'i.totalcpu')
    for name, function in (('raw', 'in_raw_thread'), ('beside', 'beside_raw_thread')):
        t.near(rows.get(function, {}).get('i.totalcpu', 0), truth[name], f'CPU in {function}', 0.15, 0.02)
    t.near(process['cpu'], truth['raw'] + truth['beside'], 'CPU', 0.05, 0.01)


@test(engines=True)
def not_recordable(t, engine):
    """Static and set-user-ID programs that a recorded one starts run unharmed; what comes after them is recorded."""
    t.directory.chmod(0o755)
    static, other = t.directory / 'static', t.directory / 'setuid'
    source = t.directory / 'static.c'
    source.write_text('int main(int argc, char **argv) { return argc + 40; }')
    t.equal(t.run(t.need('gcc'), '-static', '-o', static, source).status, 0, 'gcc -static')
    shutil.copy(t.target('exitcode'), other)
    shutil.chown(other, 'nobody')
    other.chmod(0o4755)
    for _, family in t.like_bare(engine, t.target('processes'), 'programs', static, other, '/bin/true', same=said):
        t.equal(sorted(family), ['', '_f1', '_f2', '_f3', '_f3_x1'], 'recorded')


@test(engines=True)
def audited(t, engine):
    """LD_AUDIT: a library that looks on at the dynamic linker's work."""
    source = t.directory / 'audit.c'
    source.write_text('#define _GNU_SOURCE\n#include <link.h>\nunsigned la_version(unsigned v) { return v; }\n'
                      'unsigned la_objopen(struct link_map *m, Lmid_t l, uintptr_t *c) { return LA_FLG_BINDTO | LA_FLG_BINDFROM; }\n')
    t.equal(t.run(t.need('gcc'), '-shared', '-fPIC', '-o', t.directory / 'audit.so', source).status, 0, 'gcc')
    for result, family in t.like_bare(engine, t.target('flat'), 100, same=lambda result: result.out.splitlines()[:2],
                                      env={'LD_AUDIT': str(t.directory / 'audit.so')}):
        # the dynamic linker's work with its auditor, some milliseconds, is done before we come
        t.near(family['']['cpu'], result.truth()['thread_cpu'], 'CPU', 0.05, 0.015)


@test
def read_only_place(t):
    t.need_root('mount')
    place = t.directory / 'place'
    place.mkdir()
    script = f'mount -t tmpfs -o ro none {place} && {t.helio} collect -o {place}/x.er true'
    result = t.run('unshare', '-m', 'sh', '-c', script)
    t.equal(result.status, 125, 'status')
    t.check('Read-only file system' in result.err, f'message: {result.err}')


@test(engines=True)
def looks_at_itself(t, engine):
    """A scandir of its threads whose filter makes another one: each has the filter that it was given."""
    for _ in t.like_bare(engine, t.target('ownproc'), intervals=('10m',)):
        pass


@test(engines=True)
def looked_for_along_path(t, engine):
    """Where a shell looks for a program nothing ends: the one that it finds is the first that it becomes."""
    script = 'PATH=/nonexistent:/etc/passwd:/also/nonexistent:/usr/bin:/bin; exec sort --version'
    for _, family in t.like_bare(engine, t.need('dash'), '-c', script):
        execs = [event['lineage'] for event in family['']['log_events'] if event['kind'] == 'exec']
        t.equal((execs, sorted(family)), (['_x1'], ['', '_x1']), 'what it became')
