# SPDX-License-Identifier: Apache-2.0
"""Java: methods whose shares are known by construction, in each mode; and that the machine runs as without us."""
import os
import pathlib
import re
import threading
import zipfile
from collections import Counter

from harness import Skip, patience, test
from test_attach import Attached, Program
from test_hostile import spend

SOURCE = pathlib.Path(__file__).resolve().parent / 'java'
# What each spends in a round, of the time that one(n) spends by itself.
SHARES = {'Shares.two(long)': 2, 'Shares.recurse(int, long)': 1, 'Shares.lambda$lambda$0(long)': 1, 'Shares.reflection(long)': 1,
          'Shares.one(long)': 2}  # once by itself, once by reflection
NATIVE = {'Shares.nativeWork(long)': 1, 'Shares.nativeCalls(long)': 1, 'Shares.back(long)': 1}
JDKS = '/usr/lib/jvm'
ARRAY = 64 * 1024 + 16  # of Garbage.java


def built_natives(t, source):
    headers = next(pathlib.Path(JDKS).glob('*/include/jni.h'), None)
    if not headers:
        raise Skip("no JDK's headers")
    library = t.directory / 'natives.so'
    result = t.run(t.need('gcc'), '-O2', '-g', '-shared', '-fPIC', '-I', headers.parent, '-I', headers.parent / 'linux', '-o', library,
                   SOURCE / source)
    t.equal(result.status, 0, result.err[-500:])
    return library


def built(t, natives=False):
    """The words that run the program for n units a round, but for n."""
    result = t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Shares.java')
    t.equal(result.status, 0, result.err[-500:])
    return (built_natives(t, 'natives.c'),) if natives else ()


def need_agent(t):
    if 'dlsym' not in t.run('nm', '-D', '--defined-only', t.build / 'libhelio-collector.so').out:
        raise Skip('built without Java')


def collected(t, *words, options=(), status=3, **more):
    need_agent(t)
    return t.collect(t.need('java'), '-cp', t.directory, *words, options=('-p', '1m', *options), status=status, **more)


def mode_rows(t, experiment, mode, *metrics):
    spec = ':'.join(metrics or ('e.totalcpu', 'i.totalcpu')) + ':name'
    answers = t.print(experiment, '-viewmode', mode, '-metrics', spec, '-functions')
    return {row['name']: row for row in answers[-1]['rows']}


def check_shares(t, rows, shares, what=''):
    def inclusive(name):
        return rows.get(name, {}).get('i.totalcpu', 0)
    # the work of one unit, found as the mean of all, which each is compared with
    unit = sum(inclusive(name) for name in shares) / sum(shares.values())
    for name, share in shares.items():
        t.within(0.75 * share * unit <= inclusive(name) <= 1.25 * share * unit + 0.03,
                 f'{what}{name}: {inclusive(name)} s, not {share} times {unit}')


@test()
def shares_by_method(t):
    """Interpreted at first, then compiled by either compiler, while they run; recursion, lambdas, reflection, native code both ways."""
    result = collected(t, 'Shares', 20, *built(t, natives=True))
    rows = mode_rows(t, result.experiment, 'user')
    check_shares(t, rows, {**SHARES, **NATIVE})
    total = rows['<Total>']['e.totalcpu']
    lost = rows.get('<no Java callstack recorded>', {}).get('e.totalcpu', 0)
    t.within(lost < 0.03 * total, f'{lost} of {total} s without a Java stack')
    t.check('Java_Shares_nativeWork' in rows and 'native_burn' in rows, f'native code: {sorted(rows)[:50]}')
    t.check(not any('libjvm' in name or name.startswith('JVM_') for name in rows), 'the machine in user mode')
    t.check('Shares.small(long, long)' in rows, 'no row of what was inlined')


@test()
def each_compiler(t):
    words = built(t)
    for option in ('-Xint', '-XX:TieredStopAtLevel=1', '-XX:-TieredCompilation'):
        result = collected(t, option, 'Shares', 1 if option == '-Xint' else 20, *words)
        check_shares(t, mode_rows(t, result.experiment, 'user'), SHARES, f'{option}: ')


@test()
def modes_have_one_total(t):
    """Expert mode shows what the machine does for a method, machine mode compiled code; what was spent is the same."""
    result = collected(t, 'Shares', 20, *built(t))
    user, expert, machine = (mode_rows(t, result.experiment, mode, 'e.total', 'e.totalcpu') for mode in ('user', 'expert', 'machine'))
    for metric in ('e.total', 'e.totalcpu'):
        totals = [rows['<Total>'][metric] for rows in (user, expert, machine)]
        t.check(max(totals) - min(totals) < 1e-6, f'{metric}: {totals}')
    t.check('<JVM-System>' in user, 'no <JVM-System>')
    t.check('<JVM-System>' not in expert and '<JVM-System>' not in machine, '<JVM-System> outside of user mode')
    t.check('Shares.work(long)' in machine, f'no compiled method: {sorted(machine)[:40]}')
    t.check('Interpreter' in machine, 'no interpreter')


@test()
def lines_of_source(t):
    """Each method of the source has its time on its own line."""
    result = collected(t, 'Shares', 10, *built(t))
    listing = t.print(result.experiment, '-metrics', 'e.totalcpu', '-setpath', str(SOURCE), '-source', 'Shares.java')[-1]
    source = (SOURCE / 'Shares.java').read_text().splitlines()
    times = {row['line']: row.get('e.totalcpu', 0) for row in listing['rows'] if row.get('line')}
    loop = [number for number, text in enumerate(source, 1) if 'x = x * 31 + (i ^ (x >>> 7));' in text]
    t.within(sum(times.get(number + extra, 0) for number in loop for extra in (-1, 0)) > 0.5 * sum(times.values()),
             f'lines {loop} have too little of {times}')


@test()
def traced_calls_by_method(t):
    """Calls of the system that Java code makes have its methods as callers, and the experiment is in order, whatever is traced."""
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Files.java').status, 0, 'javac')
    for options in (('-i', 'on'), ('-s', 'on', '-H', 'on', '-i', 'on')):
        result = collected(t, 'Files', t.directory / 'pieces', options=options, status=0)
        t.equal(t.run(t.helio, 'check', '-q', result.experiment).status, 0, f'{options}: check')
        rows = {row['name']: row for row in t.print(result.experiment, '-metrics', 'i.iowritecnt:i.ioreadcnt:name', '-functions')[-1]['rows']}
        t.equal(rows['Files.save(java.lang.String)']['i.iowritecnt'], 200, f'{options}: writes')
        # and the one that finds the end
        t.equal(rows['Files.load(java.lang.String)']['i.ioreadcnt'], 21 * 201, f'{options}: reads')


@test()
def as_bare(t):
    """Output to both streams, the status, and the machine's own view of its options are as without us."""
    words = built(t)
    need_agent(t)
    command = (t.need('java'), '-Xcheck:jni', '-cp', t.directory, 'Shares', 2, *words)
    bare = t.run(*command)
    result = t.collect(*command, options=('-q',), status=bare.status)
    t.equal((result.out, result.err), (bare.out, bare.err), 'output')
    flags = t.run(t.need('java'), '-XX:+PrintCommandLineFlags', '-version')
    flagged = t.collect(t.need('java'), '-XX:+PrintCommandLineFlags', '-version', options=('-q',), status=flags.status)
    t.equal((flagged.out, flagged.err), (flags.out, flags.err), 'options')


@test()
def all_collectors(t):
    words = built(t)
    for name in ('Serial', 'Parallel', 'G1', 'Z', 'Shenandoah'):
        option = f'-XX:+Use{name}GC'
        if t.run(t.need('java'), option, '-version').status:
            continue  # this build of Java lacks it
        result = collected(t, option, '-Xmx128m', 'Shares', 4, *words)
        rows = mode_rows(t, result.experiment, 'user')
        lost = rows.get('<no Java callstack recorded>', {}).get('e.totalcpu', 0)
        t.within(lost < 0.05 * rows['<Total>']['e.totalcpu'], f'{name}: {lost} of {rows["<Total>"]["e.totalcpu"]} s without a Java stack')
        t.check('Shares.work(long)' in rows, f'{name}: {sorted(rows)[:30]}')


def jdks():
    found = sorted({path.parent.parent.resolve() for path in pathlib.Path(JDKS).glob('*/bin/java')})
    if not found:
        raise Skip('no JDK')
    return found


@test()
def each_jdk(t):
    """-j DIR chooses the machine; X.class names the class."""
    built(t)
    need_agent(t)
    for jdk in jdks():
        result = t.collect(t.directory / 'Shares.class', 4, options=('-j', jdk, '-J', '-Xmx64m -Xms16m'), status=3)
        log = (result.experiment / 'log.xml').read_text()
        t.check(f'exe="{jdk}/bin/java"' in log, f'{jdk}: {re.findall("exe=.*?cwd", log)}')
        t.equal(re.findall('<argument text="(.*?)"', log)[:5], ['java', '-Xmx64m', '-Xms16m', '-cp', f'{t.directory}/'], 'words')
        t.check('Shares.work(long)' in mode_rows(t, result.experiment, 'user'), f'{jdk}: no method')


@test()
def switched_off(t):
    result = collected(t, 'Shares', 4, *built(t), options=('-j', 'off'))
    rows = mode_rows(t, result.experiment, 'user')
    t.check(not any(name.startswith('Shares.') for name in rows), 'methods in spite of -j off')
    refused = t.collect('true', options=('-J', '-Xmx1m'), status=1)
    t.check('-J is for Java programs' in refused.err, refused.err)


MONITORS = {'Monitors$Lock (monitor)': ('lock', 3, 0), 'class Monitors (monitor)': ('class', 1, 0), 'Monitors$Signal (monitor wait)': (None, 4, 3)}


def locks_of(t, *options, words=()):
    """{name: row} of the waits of Monitors, and what it has measured itself in seconds."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Monitors.java').status, 0, 'javac')
    result = t.collect(t.need('java'), '-cp', t.directory, 'Monitors', *words, options=options)
    truth = {name: int(ns) / 1e9 for name, ns in re.findall(r'(\w+) (\d+)', result.out)}
    return result, {row['name']: row for row in t.print(result.experiment, '-locks')[-1]['rows']}, truth


@test(alone=True)
def monitors(t):
    """Enters that wait and Object.wait, by the class of the object; an enter that is free is none; what waits within the machine is not counted again."""
    result, rows, truth = locks_of(t, '-s', 'on,j')
    for name, (measured, count, failed) in MONITORS.items():
        seconds = truth[measured] if measured else truth['time'] + truth['other']
        t.check(name in rows, f'{name}: {sorted(rows)}')
        t.equal((rows[name]['syncn'], rows[name]['failed']), (count, failed), name)
        t.within(0.7 * seconds <= rows[name]['sync'] <= seconds, f'{name}: {rows[name]["sync"]} of {seconds} s')
    t.check(not any('(condition' in name or '(mutex' in name for name in rows), f'of native code: {sorted(rows)}')
    functions = {row['name']: row for row in t.print(result.experiment, '-metrics', 'i.sync:i.syncn:name', '-functions')[-1]['rows']}
    t.equal(functions['Monitors.enterLock()']['i.syncn'], 3, 'waits of enterLock')
    t.equal(functions['Monitors.waitForTime()']['i.syncn'], 3, 'waits of waitForTime')
    events = t.read(result.experiment)['']['traces']['synctrace']
    t.equal(sum(event['type'] == 'monitor wait' and event['errno'] != 0 for event in events), 3, 'for the second reader')


@test
def monitors_and_native_code(t):
    """With both each wait is there once, and none of the machine's own threads; with native code alone no monitor. Waits at the end are there with monitors alone, too; a wait that throws is none."""
    for scope in ('on,j', 'on'):
        result, rows, _ = locks_of(t, '-s', scope, words=('and threads that wait at the end',))
        for name, (_, count, _) in MONITORS.items():
            t.equal(rows[name]['syncn'], count + ('Signal' in name), f'{scope}: {name}')
        t.check(not any('Stranger' in name for name in rows), f'{scope}: a wait that throws: {sorted(rows)}')
    functions = {row['name']: row for row in t.print(result.experiment, '-metrics', 'i.sync:i.syncn:name', '-functions')[-1]['rows']}
    t.equal(functions['Monitors.enterClass()']['i.syncn'], 1, 'waits of enterClass')
    t.check(functions.get('jdk.internal.misc.Unsafe.park(boolean, long)', {}).get('i.syncn') == 1, 'parking')
    native = t.print(locks_of(t, '-s', 'on,n')[0].experiment, '-locks')[-1]['rows']
    t.check(not any('(monitor' in row['name'] for row in native), 'monitors in spite of n')


@test(alone=True)
def parking(t):
    """Parked threads by the class of what they wait for, as long as they say themselves; a wait in the library is named by what the program uses."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '--release', '8', '-g', '-d', t.directory, SOURCE / 'Parking.java').status, 0, 'javac')
    for jdk in jdks():
        result = t.collect(jdk / 'bin/java', '-cp', t.directory, 'Parking', options=('-s', 'on'))
        truth = {name: int(ns) / 1e9 for name, ns in re.findall(r'([\w.$]+) (\d+)', result.out)}
        t.equal(len(truth), 8, f'{jdk}: {result.out}')
        rows = {row['name']: row for row in t.print(result.experiment, '-locks')[-1]['rows']}
        t.check({f'{name} (parking)' for name in truth} <= set(rows), f'{jdk}: {truth}, {sorted(rows)}')
        for name, seconds in truth.items():
            row = rows[f'{name} (parking)']
            t.within(0.8 * 0.060 <= row['sync'] <= seconds, f'{jdk} {name}: {row["sync"]} of {seconds} s, 0.06 of them are certain')
            t.equal(row['waiters'], 1, f'{jdk} {name}: threads')
            pattern = name.replace('$', '.')
            only = t.print(result.experiment, '-filters', f'SLOCK IN LOCKNAME("{pattern}")', '-locks')[-1]['rows']
            t.equal([one['sync'] for one in only if one['name'] == f'{name} (parking)'], [row['sync']], f'{jdk} {name}: chosen by name')
            t.near(only[0]['sync'], row['sync'], f'{jdk} {name}: nothing else', absolute=1e-6)
        functions = {row['name']: row for row in t.print(result.experiment, '-metrics', 'i.sync:name', '-functions')[-1]['rows']}
        park = sum(row['i.sync'] for name, row in functions.items() if re.fullmatch(r'(jdk\.internal|sun)\.misc\.Unsafe\.park\(.*\)', name))
        parked = sum(row['sync'] for name, row in rows.items() if name.endswith('(parking)'))
        t.within(0.99 * park <= parked + 0.001 and parked <= park + 0.001, f'{jdk}: {parked} s, {park} s in Unsafe.park')
        one = t.print(result.experiment, '-lock', 'java.util.concurrent.Semaphore')[-1]
        t.check(not any('unknown' in row for row in one['rows']), f'{jdk}: nobody is known to hold what one parks for, and nobody has to')
        t.check('(parking)' in str(one) and 'Semaphore.acquire' in str(one), f'{jdk}: {str(one)[:1000]}')


def collections_of(t, name, *flags):
    """
    The experiment of 8 collections that are asked for, what each took by the machine's log, and all requests by the program.
    The parallel collector looks at young objects first, in the same stop: two lines of the log.
    """
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-d', t.directory, SOURCE / 'Collections.java').status, 0, 'javac')
    log = t.directory / f'{name}.log'
    result = t.collect(t.need('java'), *flags, f'-Xlog:gc:file={log}', '-Xms768m', '-Xmx768m', '-Xmn500m', '-cp', t.directory, 'Collections', 8,
                       options=('-p', '1m'))
    pauses = [(match[1], float(match[2]) / 1e3) for match in re.finditer(r'GC\(\d+\) Pause (\w+).* ([\d.]+)ms', log.read_text())]
    full = [at for at, (what, _) in enumerate(pauses) if what == 'Full']
    t.equal((len(full), full[-1] + 1), (8, len(pauses)), f'{pauses}')
    logged = [sum(length for _, length in pauses[begin:end]) for begin, end in zip([0, *(at + 1 for at in full)], (at + 1 for at in full))]
    return result.experiment, logged, int(re.search(r'requests (\d+)', result.out)[1]) / 1e9


def timeline_has_collections(t, experiment, name, second):
    """What the timeline says, against the second reader: each by itself; where there are more than cells, those that begin in one cell; a part of the time."""
    begins, lengths = [[entry[k] for entry in second] for k in (0, 1)]
    shown = t.print(experiment, '-timeline', '1000')[-1]['collections']
    t.equal([(row['number'], row['count'], row['experiment']) for row in shown], [(i + 1, 1, 1) for i in range(len(second))], f'{name}: on the timeline')
    for row, begin, length in zip(shown, begins, lengths):
        t.near(row['begin_s'], begin, f'{name}: begin', absolute=1e-6)
        for what, value in (('took', row['took_s']), ('longest', row['longest_s']), ('from begin to end', row['end_s'] - row['begin_s'])):
            t.near(value, length, f'{name}: {what}', absolute=1e-6)
    answer = t.print(experiment, '-timeline', '3')[-1]
    cells = [min(2, int((begin - answer['begin_s']) / answer['cell_s'])) for begin in begins]
    t.equal([row['count'] for row in answer['collections']], [cells.count(cell) for cell in sorted(set(cells))], f'{name}: by cell')
    t.near(sum(row['took_s'] for row in answer['collections']), sum(lengths), f'{name}: by cell', absolute=1e-5)
    t.near(max(row['longest_s'] for row in answer['collections']), max(lengths), f'{name}: the longest', absolute=1e-6)
    middle = begins[3] + lengths[3] / 2
    part = t.print(experiment, '-timeline', '-from', f'{middle:.9f}', '-to', f'{middle + 1e-4:.9f}', '10')[-1]['collections']
    t.equal([row['number'] for row in part], [4], f'{name}: in a part of the time')
    text = t.run(t.helio, 'print', '-timeline', '100', experiment).out
    t.check(f'Process 1: garbage collections {len(second)}, ' in text, f'{name}: {text}')


@test(alone=True)
def collections(t):
    """Each garbage collection is there once, as long as the machine's log says, between what the log and what the program measured; and what happened meanwhile."""
    for name in ('Serial', 'Parallel', 'G1'):
        experiment, logged, requests = collections_of(t, name, f'-XX:+Use{name}GC')
        rows = t.print(experiment, '-metrics', 'e.total:e.totalcpu:name', '-gcevents')[-1]['rows'][1:]
        shown = [re.fullmatch(r'Process 1, GCEvent (\d+), began ([\d.]+) s, took ([\d.]+) s, thread (\d+) \(VM Thread\), System.gc\(\), heap .*', row['name']) for row in rows
                 if row['name'] != '(none)']
        t.check(all(shown), f'{name}: {[row["name"] for row in rows]}')
        t.equal([int(row[1]) for row in shown], list(range(1, len(logged) + 1)), f'{name}: numbers')
        begins, took = [[float(row[i]) for row in shown] for i in (2, 3)]
        t.check(all(begin + length <= after for begin, length, after in zip(begins, took, begins[1:])), f'{name}: {begins} {took}')
        t.check(all(ours >= 0.99 * log for ours, log in zip(took, logged)), f'{name}: {took}, by the log {logged}')
        t.check(sum(took) <= requests, f'{name}: {took} in {requests} s of requests')
        second = t.read(experiment)['']['collections']
        timeline_has_collections(t, experiment, name, second)
        t.equal([f'{length:.6f}' for _, length, _ in second], [row[3] for row in shown], f'{name}: for the second reader')
        text = t.run(t.helio, 'print', '-statistics', experiment).out
        t.equal(re.findall(r'Garbage collections: +(\d+)', text), [str(len(logged))], f'{name}: statistics: {text}')
        row = t.print(experiment, '-statistics')[-1]['rows'][0]
        t.near(row['collection_s'], sum(took), f'{name}: statistics', absolute=0.001)
        report = next(row for row in t.print(experiment, '-report')[-1]['rows'] if row.get('section') == 'collections')
        t.equal((report['calls'], report['value']), (len(logged), row['collection_s']), f'{name}: report')
        thread = shown[0][4]

        def time(expression):
            return t.print(experiment, '-filters', expression, '-metrics', 'e.total:name', '-functions')[-1]['rows'][0]['e.total']
        meanwhile = time(f'GCEVENT && THRID == {thread}')
        t.within(0.8 * sum(took) <= meanwhile <= 1.2 * sum(took) + 0.02, f'{name}: {meanwhile} s of the thread in {sum(took)} s of collections')
        t.near(sum(time(f'GCEVENT == {i + 1} && THRID == {thread}') for i in range(len(took))), meanwhile, f'{name}: one by one', absolute=0.01)


def why_collected(t, java, name, *flags):
    """The program's collections, as the timeline has them and as the second reader does."""
    result = t.collect(java, *flags, '-Xmx128m', '-cp', t.directory, 'Garbage', 600, options=('-F', 'off'))
    shown = t.print(result.experiment, '-timeline', '1000')[-1]['collections']
    second = t.read(result.experiment)['']['collections_more']
    t.equal([(row.get('heap_before', -1), row.get('heap_after', -1), row.get('cause', ''), row.get('collector', '')) for row in shown], second, name)
    return result.experiment, shown


def logged_collections(log):
    """(what it is called, with causes, MB before, MB after) of each line."""
    return [(match[1], int(match[2]), int(match[3])) for match in re.finditer(r'Pause (.*) (\d+)M->(\d+)M\(.*ms', log.read_text())]


def check_causes(t, name, shown, logged):
    """
    Stops are those of the log, some of which have two lines there: cause and before of the first, all else of the last.
    When a stop ends there is, beside what the log has, the array that has waited for it. Of a collection of all objects that Parallel
    makes in a stop for an allocation the log says that it was its own choice.
    """
    def ends_so(row, megabytes):
        return row['heap_after'] - ARRAY >> 20 <= megabytes <= row['heap_after'] >> 20
    lines = list(logged)
    for row in shown:
        why, before, after = lines.pop(0)
        why = what = why.replace('Full (Ergonomics)', 'Full (Allocation Failure)')
        t.equal(row['heap_before'] >> 20, before, f'{name}: before, {row} {what}')
        while not ends_so(row, after) and lines:
            what, _, after = lines.pop(0)
        t.check(ends_so(row, after), f'{name}: after, {row} {what}')
        concurrent = what.startswith(('Remark', 'Cleanup'))
        t.check('cause' not in row if concurrent else f'({row.get("cause")})' in why, f'{name}: {row} is {why}')
        kind = 'concurrent' if concurrent else what.split()[0].lower()
        t.check(f' {kind} ' in row.get('collector', ' concurrent '), f'{name}: {row} is {what}')
    t.equal(lines, [], f'{name}: {shown} {logged}')


@test(alone=True)
def causes_of_collections(t):
    """Why each was done and the heap in use before and after, as the machine's log has them, whatever JDK and collector; also in text."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '--release', '8', '-d', t.directory, SOURCE / 'Garbage.java').status, 0, 'javac')
    for jdk in jdks():
        for collector in ('Serial', 'Parallel', 'G1'):
            name, log = f'{jdk} {collector}', t.directory / f'{jdk.name}.{collector}.log'
            experiment, shown = why_collected(t, jdk / 'bin/java', name, f'-XX:+Use{collector}GC', f'-Xlog:gc:file={log}')
            logged = logged_collections(log)
            t.check({'System.gc()'} < {row.get('cause') for row in shown}, f'{name}: {shown}')
            check_causes(t, name, shown, logged)
            rows = [row['name'] for row in t.print(experiment, '-gcevents')[-1]['rows'][1:] if row['name'] != '(none)']
            first = min(rows, key=lambda row: int(re.search(r'GCEvent (\d+)', row)[1]))
            heap = ' to '.join(f'{shown[0][key] / 2**20:.1f} MiB' for key in ('heap_before', 'heap_after'))
            t.check(first.endswith(f', {shown[0]["cause"]}, heap {heap}, {shown[0]["collector"]}'), f'{name}: {rows}')


@test
def collections_without_counters(t):
    """A machine that keeps no counters tells no cause, but its heap; one that has them in no file tells both."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-d', t.directory, SOURCE / 'Garbage.java').status, 0, 'javac')
    for flag, told in (('-XX:-UsePerfData', False), ('-XX:+PerfDisableSharedMem', True)):
        _, shown = why_collected(t, t.need('java'), flag, '-XX:+UseSerialGC', flag)
        t.check(shown and all(('cause' in row, 'collector' in row) == (told, told) for row in shown), f'{flag}: {shown}')
        t.check(all(row['heap_before'] > row['heap_after'] for row in shown if row.get('cause') == 'System.gc()'), f'{flag}: {shown}')
        t.check(max(row['heap_before'] for row in shown) <= 128 << 20, f'{flag}: {shown}')


@test
def without_collections(t):
    """A program that collects nothing has none, and says so."""
    result = collected(t, '-version', status=0)
    said = t.run(t.helio, 'print', '-filters', 'GCEVENT > 0', '-functions', result.experiment).err
    t.check('GCEVENT: no garbage collections of Java' in said, said)


@test
def api(t):
    """What a program tells by the jar's class: labels, what is not to be recorded of all and of one thread, the end; nothing where nobody records."""
    need_agent(t)
    jar = t.build / 'collector.jar'
    if not jar.exists():
        raise Skip('built without javac')
    t.equal(t.run(t.need('javac'), '-cp', jar, '-d', t.directory, SOURCE / 'Api.java').status, 0, 'javac')
    command = (t.need('java'), '-Xcheck:jni', '-cp', f'{t.directory}:{jar}', 'Api')
    bare, off = t.run(*command), t.collect(*command, options=('-j', 'off'))
    t.equal((bare.status, bare.out, bare.err), (0, 'done\n', ''), 'bare')
    t.equal((off.status, off.out), (0, 'done\n'), 'without the agent')
    result = t.collect(*command, options=('-p', '1m'))
    t.equal(result.out, 'done\n', 'recorded')
    rows = mode_rows(t, result.experiment, 'user', 'i.total')
    times = {name: rows.get(f'Api.{name}()', {}).get('i.total', 0) for name in ('before', 'paused', 'resumed', 'other', 'otherAgain', 'beside', 'ended')}
    for name in ('before', 'resumed', 'beside', 'otherAgain'):
        t.within(0.15 <= times[name] <= 0.4, f'{name}: {times}')
    for name in ('paused', 'other', 'ended'):
        t.within(times[name] <= 0.03, f'{name}: {times}')
    labels = [sample['label'] for sample in t.read(result.experiment)['']['samples']]
    t.check('at the begin' in labels and 'collector_pause(API)' in labels and 'collector_resume' in labels, f'{labels}')


def bytecodes_by_javap(t, *javap):
    """{name and parameters: [(place, instruction)]}, calls and jumps with their operands as we write them."""
    text = t.run(t.need('javap'), '-c', '-p', *javap).out
    found, lines = {}, None
    for line in text.splitlines():
        method = re.fullmatch(r'  [\w. \[\]]*?([\w$]+\(.*\)|static \{\})(?: throws .*)?;', line)
        instruction = re.match(r' +(\d+): (\w+) *(.*)', line)
        case = re.match(r' +(default|-?\d+): (\d+)$', line)
        if method:
            lines = found.setdefault(method[1], [])
        elif case and lines and lines[-1][1].endswith('switch'):
            lines[-1][2].append((case[1], int(case[2])))
        elif instruction and lines is not None:
            lines.append((int(instruction[1]), instruction[2], [instruction[3]]))
    return found


def listing_rows(t, experiment, function, *more):
    return t.print(experiment, *more, '-metrics', 'e.totalcpu:i.totalcpu:name', '-disasm', function)[-1]['rows']


def instructions_of(rows):
    return [(int(found[1], 16), found[2], found[3]) for row in rows for found in [re.match(r' +\[ *[\d?]+\] ([0-9a-f]{8}):  (\w+) ?(.*)', row['name'])] if found]


@test()
def bytecode(t):
    """Every instruction is at the place and of the name that javap says, jumps lead where it says, and operands are as the source has them."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Bytecodes.java').status, 0, 'javac')
    result = collected(t, 'Bytecodes', 4, status=0)
    truth = bytecodes_by_javap(t, '-cp', t.directory, 'Bytecodes')
    for name, signature in (('Bytecodes.every(long, java.lang.Object)', 'every(long, java.lang.Object)'), ('Bytecodes.burn(long)', 'burn(long)'),
                            ('Bytecodes.main(java.lang.String[])', 'main(java.lang.String[])')):
        rows = listing_rows(t, result.experiment, name)
        ours = instructions_of(rows)
        expected = truth[signature]
        t.equal([place for place, _, _ in ours], [place for place, _, _ in expected], f'{name}: places')
        t.equal([word for _, word, _ in ours], [word for _, word, _ in expected], f'{name}: instructions')
        for (place, word, operand), (_, _, said) in zip(ours, expected):
            if word.startswith(('if', 'goto')):
                t.equal(int(operand, 16), int(said[0]), f'{name}: {place} {word}')
            elif word.endswith('switch'):
                cases = [(number, int(to, 16)) for number, to in re.findall(r'(default|-?\d+): ([0-9a-f]{8})', operand)]
                t.equal(cases, said[1:], f'{name}: {place} {word}')
    operands = {f'{word} {operand}' for _, word, operand in instructions_of(listing_rows(t, result.experiment, 'Bytecodes.every(long, java.lang.Object)'))}
    for wanted in ('multianewarray int[][][], 3', 'newarray boolean', 'ldc 1.25f', 'ldc 70000', 'ldc2_w 2.5e+300', 'ldc2_w -0', 'iinc_w 7, 1000', 'iinc_w 8, -300',
                   'getfield Bytecodes.words', 'putstatic Bytecodes.real', 'instanceof java.lang.String', 'invokedynamic run(boolean[])',
                   'invokeinterface java.lang.Runnable.run()', 'invokestatic Bytecodes.burn(long)', 'invokevirtual java.lang.String.length()',
                   'new java.lang.IllegalStateException', 'ldc "first"', 'ldc int[]'):
        t.check(wanted in operands, f'{wanted}: {sorted(operands)}')
    t.check(any(operand.startswith('ldc "a text of more than sixty') and operand.endswith('..."') for operand in operands), f'{sorted(operands)}')


def constants_by_javap(t, *javap):
    """{number: (kind, operands...)}; of texts only the kind: javap escapes and cuts them."""
    found = {}
    for number, kind, operands in re.findall(r'^ +#(\d+) = (\w+) +([^/\n]*)', t.run(t.need('javap'), '-v', '-p', *javap).out, re.M):
        if kind in ('Integer', 'Long', 'Float', 'Double'):
            values = [float(operands.strip().rstrip('lfd'))]
        else:
            values = [int(value) for value in re.findall(r'\d+', operands)] if kind != 'Utf8' else []
        found[int(number)] = (kind, *values)
    return found


@test()
def constants(t):
    """The constant pool that is kept of a class is the one of its file, number by number."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Bytecodes.java').status, 0, 'javac')
    result = collected(t, 'Bytecodes', 4, status=0)
    truth = constants_by_javap(t, '-cp', t.directory, 'Bytecodes')
    kept = {f['name']: f['constants'] for f in t.read(result.experiment)['']['functions'] if f['address'] >> 63}
    ours = {number: constant if constant[0] != 'Utf8' else constant[:1] for number, constant in kept['LBytecodes;.burn(J)J'].items()}
    t.equal(ours, truth, 'constants')
    texts = {constant[1] for constant in kept['LBytecodes;.burn(J)J'].values() if constant[0] == 'Utf8'}
    t.check({b'burn', b'(J)J', 'tab\tand ümlaut'.encode()} <= texts, f'{sorted(texts)}')
    t.check(kept['LBytecodes;.main([Ljava/lang/String;)V'] == kept['LBytecodes;.burn(J)J'], 'another pool of the same class')


@test()
def bytecode_metrics(t):
    """Each instruction has its time, what it calls included; a line of its own how much of it was compiled; a native method is one line."""
    words = built(t, natives=True)
    for option, compiled in (('-Xcomp', True), ('-Xint', False)):
        result = collected(t, option, 'Shares', 1 if option == '-Xint' else 20, *words)
        rows = mode_rows(t, result.experiment, 'user')
        for name in ('Shares.work(long)', 'Shares.nativeCalls(long)'):
            listing = listing_rows(t, result.experiment, name)
            hotspot = [row['e.totalcpu'] for row in listing if row['name'] == f'       {name} <HotSpot-compiled leaf instructions>']
            native = [row for row in listing if row['name'] == f'       {name} <Java native method>']
            own = sum(row['e.totalcpu'] for row in listing if re.match(r' +\[', row['name']) and 'e.totalcpu' in row)
            if 'native' in name:
                t.equal([(row['e.totalcpu'], row['i.totalcpu']) for row in native], [(rows[name]['e.totalcpu'], rows[name]['i.totalcpu'])], f'{option}: {name}')
                t.equal(len(listing), 1, f'{option}: {name}')
                continue
            t.near(own, rows[name]['e.totalcpu'], f'{option}: {name}: its instructions', absolute=0.002)
            t.equal(len(hotspot), int(compiled), f'{option}: {name}: {listing}')
            t.within(not compiled or 0.8 * own <= hotspot[0] <= own + 0.002, f'{option}: {hotspot} of {own} s compiled')
        calls = [row['i.totalcpu'] for row in listing_rows(t, result.experiment, 'Shares.two(long)') if 'invokestatic Shares.work(long)' in row['name']]
        t.near(calls[0], rows['Shares.two(long)']['i.totalcpu'], f'{option}: the call in two', absolute=0.05 * rows['Shares.two(long)']['i.totalcpu'] + 0.02)


def compilations(t, result):
    """[(address, size)] of the code that was kept of work, in the order of the compilations."""
    return [(f['address'], f['size']) for f in t.read(result.experiment)['']['functions'] if f['name'].startswith('LRecompiled;.work(') and not f['address'] >> 63]


@test()
def compiled_methods(t):
    """How often methods were compiled, and how much code that made: as the machine prints it, and as the second reader counts it."""
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Recompiled.java').status, 0, 'javac')
    result = collected(t, '-XX:+PrintCompilation', 'Recompiled', 50, status=0)
    printed = len(re.findall(r'^ +\d+ +\d+ .*::.*\((?:\d+ bytes|native)\)(?: +\(static\))? *$', result.out, re.M))
    second = [f['size'] for f in t.read(result.experiment)['']['functions'] if re.match(r'L[^;]*;\.', f['name']) and not f['address'] >> 63]
    row = t.print(result.experiment, '-statistics')[-1]['rows'][0]
    t.equal((row['compiled'], row['compiled_bytes']), (len(second), sum(second)), 'second reader')
    # it prints when it begins to compile: what is under way at the end becomes no code
    t.within(0.8 * printed <= row['compiled'] <= printed, f'{row["compiled"]} compilations, {printed} printed')
    text = t.run(t.helio, 'print', '-statistics', result.experiment).out
    t.equal(re.findall(r'(?:Compiled methods of Java|Bytes of their code): +(\d+)', text), [str(row['compiled']), str(row['compiled_bytes'])], text)


@test()
def linked_classes(t):
    """How many classes were linked: two runs differ by as many as one program uses more, though each of its loaders asks another for Object; as the second reader counts them, all within the run."""
    t.equal(t.run(t.need('javac'), '-d', t.directory, SOURCE / 'Loading.java').status, 0, 'javac')
    rows = []
    for count in (100, 400):
        result = collected(t, '-Xshare:off', 'Loading', count, status=0)
        rows.append(t.print(result.experiment, '-statistics')[-1]['rows'][0])
        second = t.read(result.experiment)['']['classes']
        t.equal(rows[-1]['classes'], len(second), 'second reader')
        t.within(all(0 <= time <= rows[-1]['end_s'] for time, thread in second), 'a time outside of the run')
    t.equal(rows[1]['classes'] - rows[0]['classes'], 300, rows)
    text = t.run(t.helio, 'print', '-statistics', result.experiment).out
    t.equal(re.findall(r'Linked classes of Java: +(\d+)', text), [str(rows[1]['classes'])], text)


@test()
def each_compilation(t):
    """What is compiled anew is a function of its own in machine mode: its time, its code at its addresses, its lines; in user mode they are one."""
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Recompiled.java').status, 0, 'javac')
    for tiers in ('-XX:-TieredCompilation', '-XX:+TieredCompilation'):
        # -Xbatch: the thread does not go on in the interpreter while a slow machine compiles
        result = collected(t, tiers, '-Xbatch', '-XX:-UseOnStackReplacement', '-XX:+PrintCompilation', 'Recompiled', 500, status=0)
        told = re.findall(r'^ +\d+ +(\d+) .*Recompiled::work \(\d+ bytes\)$', result.out, re.M)
        truth = dict(re.findall(r'phase (\w+) (\d+)', result.out))
        made = compilations(t, result)
        t.equal(len(made), len(told), f'{tiers}: {result.out}')
        text = t.run(t.helio, 'print', '-viewmode', 'machine', '-metrics', 'e.totalcpu:name', '-functions', result.experiment).out
        rows = [{'e.totalcpu': float(time), 'name': name, 'of': of}
                for time, name, of in re.findall(r'^([\d.]+) +(Recompiled\.work\(.*\)) \[(0x\w+)\]$', text, re.M)]
        t.within(len(rows) >= 2, f'{tiers}: {rows} of compilations {told}')
        # the first phase runs in the code that was made for one class, most of the second in what came last
        rows.sort(key=lambda row: row['e.totalcpu'])
        for row, name in zip(rows[-2:], ('first', 'second')):
            t.near(row['e.totalcpu'], int(truth[name]) / 1e9, f'{tiers}: {name} {rows}', relative=0.2)
        places = [int(row['of'], 16) for row in rows]
        t.check(len(set(places)) == len(rows) and set(places) <= {address for address, _ in made}, f'{tiers}: {rows}, {made}')
        for number, row in enumerate(rows[-2:]):
            check_machine_code(t, result, row, dict(made)[places[len(rows) - 2 + number]])
        user = mode_rows(t, result.experiment, 'user')
        for mode, wanted in (('user', 1), ('machine', len(rows))):
            source = t.print(result.experiment, '-viewmode', mode, '-setpath', str(SOURCE), '-metrics', 'e.totalcpu:name', '-source', 'Recompiled.java')[-1]['rows']
            heads = [row['name'].strip() for row in source].count('<Function: Recompiled.work(Recompiled$Step, int)>')
            t.check(1 <= heads <= wanted, f'{tiers}: {mode}: {heads} index lines of work')
        t.within(user['Recompiled.work(Recompiled$Step, int)']['i.totalcpu'] >= 0.95 * sum(row['e.totalcpu'] for row in rows), f'{tiers}: {user}')


def check_machine_code(t, result, row, size):
    """Its listing is of its own code: as many bytes, and its own time."""
    begin = int(row['of'], 16)
    listing = t.print(result.experiment, '-viewmode', 'machine', '-metrics', 'e.totalcpu:name', '-disasm', f'{row["name"]} [{row["of"]}]')[-1]['rows']
    places = [int(found[1], 16) for found in (re.match(r' +\[ *[\d?]+\] +([0-9a-f]+):', line['name']) for line in listing) if found]
    t.check(places and places[0] == begin and places[-1] < begin + size, f'{places[:1]} to {places[-1:]}, not {begin} and {size} bytes')
    own = sum(line.get('e.totalcpu', 0) for line in listing if re.match(r' +\[', line['name']))
    t.near(own, row['e.totalcpu'], 'the time of its instructions', absolute=0.002)


def events_by_method(t, experiment, thread):
    """
    How many events of a thread on a processor each method is in the stack of, and None: all of them.  What the thread did before its first event
    is that event's, which can be much on a busy machine: so they are counted.  And the methods of each of its last events.
    """
    answer = t.print(experiment, '-filters', f'THREAD IN TNAME("{thread}")', '-timeline', '-events', '1', '100000')[-1]
    events = [{answer['frames'][frame]['name'] for frame in answer['stacks'][row['stack']]} for row in answer['rows'] if row['type'] == 'user']
    return Counter(name for event in events for name in (None, *event)), events[-5:]


@test(alone=True)
def attached(t):
    """A machine that runs already: its methods by name, those too that were compiled long ago, in one recording after the other; the program goes on, and tells nothing."""
    need_agent(t)
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Running.java').status, 0, 'javac')
    with Program(t, t.need('java'), '-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Running::*', '-cp', t.directory, 'Running') as program:
        for number in (1, 2, 3):
            experiment = t.directory / f'attached.{number}.er'
            result = t.run(t.helio, 'attach', '-p', '1m', '--for', '3s', '-o', experiment, program.pid)
            t.equal(result.status, 0, f'{number}: {result.err}')
            found, last = events_by_method(t, experiment, 'worker')
            t.within(found['Running.run()'] >= 0.9 * found[None], f'{number}: {found}')
            t.check(any('Running.run()' in names for names in last), f'{number}: no Java stacks at the end: {last}')
            t.near(found['Running.two(long)'], 2 * found['Running.one(long)'], f'{number}: {found}', relative=0.25)
            compiled = mode_rows(t, experiment, 'machine', 'i.totalcpu')
            t.check(any(name.startswith('Running.') for name in compiled), f'{number}: no compiled method: {sorted(compiled)[:30]}')
            t.equal(program.process.poll(), None, f'{number}: it runs on')
        off = t.directory / 'off.er'
        t.equal(t.run(t.helio, 'attach', '-j', 'off', '--for', '1s', '-o', off, program.pid).status, 0, 'off')
        t.check(not any(name.startswith('Running.') for name in mode_rows(t, off, 'user')), 'methods in spite of -j off')
        t.equal(program.end(), (0, 'done 0\n'), 'status and output')


def asked(t, program, letters):
    """What Late answers; nothing, if it does not."""
    answers, patient = [], threading.Timer(60 * patience(), program.process.kill)
    patient.start()
    for letter in letters:
        program.say(letter)
        answers.append(program.process.stdout.readline().strip())
    patient.cancel()
    return answers


def late(t, natives=False):
    """Late at work, and what it is called with."""
    need_agent(t)
    jar = t.build / 'collector.jar'
    if not jar.exists():
        raise Skip('built without javac')
    library = [built_natives(t, 'late.c')] if natives else []
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory, SOURCE / 'Late.java').status, 0, 'javac')
    return Program(t, t.need('java'), '-cp', t.directory, 'Late', jar, *library)


@test
def api_of_attached(t):
    """The class of the API that got its methods in one recording, after that, and in the next one."""
    with late(t) as program:
        with Attached(t, program, options=['-p', '1m']) as first:
            t.equal(asked(t, program, 'ap'), ['agent', 'paused'], 'first')
            first.end()
        t.equal(asked(t, program, 'gpgp'), ['collected', 'paused'] * 2, 'between')
        with Attached(t, program, options=['-p', '1m']) as second:
            t.equal(asked(t, program, 'ap'), ['agent', 'paused'], 'second')
            second.end()
        t.equal(program.end(), (0, 'done\n'), 'status and output')
    for attached in (first, second):
        rows = mode_rows(t, attached.experiment, 'user', 'i.total')
        times = [rows.get(f'Late.{name}()', {}).get('i.total', 0) for name in ('paused', 'resumed')]
        t.within(times[0] <= 0.2 * times[1] and times[1] > 0, f'{attached.experiment.name}: {times}')


@test
def handlers_of_attached(t):
    """A handler of the program's that comes between two recordings and passes faults on, to where the first one left the machine's."""
    with late(t, natives=True) as program:
        for after in ('chained', 'null'):
            with Attached(t, program, options=['-p', '1m']) as attached:
                t.equal(asked(t, program, 'an'), ['agent', 'null'], 'a null reference, recorded')
                attached.end()
            t.equal(asked(t, program, after[0] + 'n'), [after, 'null'], 'a null reference')
        t.equal(program.end(), (0, 'done\n'), 'status and output')


@test
def failed_execs_of_attached(t):
    """The recording rests in an exec, until it fails: the machine is followed on."""
    with late(t, natives=True) as program:
        with Attached(t, program, options=['-p', '1m']) as attached:
            t.equal(asked(t, program, 'aea'), ['agent', 'no exec', 'agent'], 'agent')
            attached.end()
        t.equal(program.end(), (0, 'done\n'), 'status and output')


@test
def child_of_attached(t):
    """A child that was forked in a recording, and has the machine's memory without its threads, is recorded later."""
    with late(t, natives=True) as program:
        with Attached(t, program, options=['-p', '1m']) as attached:
            answers = asked(t, program, 'af')
            attached.end()
        t.equal(answers[0], 'agent', 'agent')
        child = answers[1].split()[1]
        for number in (1, 2):
            result = t.run(t.helio, 'attach', '--for', '200ms', '-o', f'child.{number}.er', child)
            t.equal(result.status, 0, f'{number}: {result.err}')
        t.equal(program.end(), (0, 'done\n'), 'status and output')


@test
def what_only_pretends_to_be_a_machine(t):
    """A library with the name of a machine's: whatever it does with a thread of ours, `helio attach` ends, and unless it is the thread that crashes, the program goes on, which can unload the library as without us."""
    need_agent(t)
    library, program = t.directory / 'libjvm.so', t.directory / 'pretends'
    build = [t.need('gcc'), '-O1', SOURCE / 'pretends.c', '-o']
    t.equal(t.run(*build, library, '-shared', '-fPIC', '-Wl,-soname,libjvm.so').status, 0, 'library')
    t.equal(t.run(*build, program, '-DPROGRAM').status, 0, 'program')
    for how in 'refuses', 'empty', 'never', 'leads nowhere':
        experiment = t.directory / f'{how[:2]}.er'
        with Program(t, program, library, env={**os.environ, 'PRETENDS': how}) as process:
            result = t.run(t.helio, 'attach', '--for', '200ms', '-o', experiment, process.pid)
            if how == 'leads nowhere':  # the thread crashes, with the program, before or after its experiment is begun
                t.check(experiment.exists() or 'helio attach: ' in result.err, f'{how}: {result.err}')
                continue
            t.check(experiment.exists(), f'{how}: {result.err}')
            t.equal((result.status, process.process.poll()), (0, None), f'{how}: {result.err}')
            t.equal(t.run(t.helio, 'print', '-functions', experiment).status, 0, how)
            if how == 'never':  # where the thread still is
                t.equal(process.end(), (0, 'done\nunloaded\n'), how)
            else:
                t.equal(process.end('uq'), (0, 'unloaded\ndone\n'), how)


SOURCE_OF_PACKAGE = '''package pkg.deep;
public class Burner {
	public static void main(String[] args) {
		long x = 1;
		for (long i = 0; i < 400_000_000L; i++)
			x = x * 31 + (i ^ (x >>> 7)); // here
		System.out.println(x & 0);
	}
}
'''


def listed(t, experiment, *commands):
    """What of the source is in the listing of the program's main, and where it was found."""
    answer = t.print(experiment, *commands, '-metrics', 'e.totalcpu:name', '-source', 'pkg.deep.Burner.main(java.lang.String[])')[-1]
    return any(row['name'].rstrip().endswith('// here') and 'e.totalcpu' in row for row in answer['rows']), answer['listing']['source']['found_as']


@test
def sources(t):
    """Found by themselves: beside classes, where a build tool has them, in the program's archive and in the one beside it; in archives by setpath."""
    need_agent(t)
    jar, here = t.need('jar'), t.directory
    (here / 'src/main/java/pkg/deep').mkdir(parents=True)
    source = here / 'src/main/java/pkg/deep/Burner.java'
    source.write_text(SOURCE_OF_PACKAGE)
    for classes in ('beside', 'target/classes', 'plain'):
        t.equal(t.run(t.need('javac'), '-g', '-d', here / classes, source).status, 0, 'javac')
    (here / 'beside/pkg/deep/Burner.java').write_text(SOURCE_OF_PACKAGE)
    (here / 'lib').mkdir()
    for name, words in (('lib/app.jar', ('-C', 'plain', '.')), ('lib/app-sources.jar', ('-C', 'src/main/java', '.')), ('whole.jar', ('-C', 'beside', '.'))):
        t.equal(t.run(jar, 'cf', name, *words, cwd=here).status, 0, name)

    def recorded(*words):
        return t.collect(t.need('java'), *words, 'pkg.deep.Burner', cwd=here).experiment
    for words, place in ((('-cp', 'beside'), 'beside/pkg/deep/Burner.java'), (('-cp', f'nowhere:{here}/target/classes/'), 'src/main/java/pkg/deep/Burner.java'),
                         (('-classpath', 'lib/*'), 'lib/app-sources.jar!/pkg/deep/Burner.java'), (('--class-path=whole.jar',), 'whole.jar!/pkg/deep/Burner.java')):
        t.equal(listed(t, recorded(*words)), (True, str(here / place)), f'{words}')
    lost = recorded('-cp', 'plain')
    t.equal(listed(t, lost)[0], False, 'without a source')
    of_program = t.collect(t.need('java'), '--add-modules', 'java.base', '-cp', 'plain', 'pkg.deep.Burner', '-cp', 'beside', cwd=here).experiment
    t.equal(listed(t, of_program)[0], False, "the program's own -cp")
    for path in ('lib/app-sources.jar', 'src/main/java'):
        t.equal(listed(t, lost, '-setpath', str(here / path))[0], True, f'by setpath {path}')
    packed = here / 'lib/app-sources.jar'
    damaged = bytearray(packed.read_bytes())
    for place in range(0, len(damaged), 7):
        damaged[place] ^= 0x55
    packed.write_bytes(damaged)
    t.equal(listed(t, lost, '-setpath', str(packed))[0], False, 'in a damaged archive')


@test
def hostile_archives_of_sources(t):
    """What has the place of an archive in the class path, and unpacks to however much: it takes 64 MB at most and no time; what holds a source of a possible size is read."""
    need_agent(t)
    (t.directory / 'src').mkdir()
    (t.directory / 'src/Burner.java').write_text(SOURCE_OF_PACKAGE)
    t.equal(t.run(t.need('javac'), '-g', '-d', t.directory / 'classes', t.directory / 'src/Burner.java').status, 0, 'javac')
    t.equal(t.run(t.need('jar'), 'cf', 'app.jar', '-C', 'classes', '.', cwd=t.directory).status, 0, 'jar')
    experiment = t.collect(t.need('java'), '-cp', 'app.jar', 'pkg.deep.Burner', cwd=t.directory).experiment
    place, lines = t.directory / 'app-sources.jar', SOURCE_OF_PACKAGE.encode()

    def ask():
        spent = spend(t, 'print', '-metrics', 'e.totalcpu:name', '-source', 'pkg.deep.Burner.main(java.lang.String[])', experiment)
        spents.append(spent[1])
        t.check(spent[1] - spents[0] <= 64 << 20 and spent[0] < 30, f'{spent}, {spents[0]} without an archive')
        return listed(t, experiment)[0]
    spents = []
    t.equal(ask(), False, 'no archive')
    for what, content, is_source in (('as many lines as can be', lines + b'\n' * (65535 - lines.count(b'\n')), True), ('more lines', lines + b'\n' * 65535, False),
                                     ('no text', b'\xff' * (4 << 20), False), ('4 MB and more', lines + b' ' * (4 << 20), False), ('60 MB of lines', b'\n' * (60 << 20), False)):
        with zipfile.ZipFile(place, 'w', zipfile.ZIP_DEFLATED) as archive:
            archive.writestr('pkg/deep/Burner.java', content)
        t.equal(ask(), is_source, what)
    place.unlink()
    os.mkfifo(place)
    t.equal(ask(), False, 'a pipe')
    place.unlink()
    with place.open('wb') as hollow:
        hollow.truncate(1 << 40)
    t.equal(ask(), False, 'a hole')
    place.unlink()
    place.symlink_to('/dev/zero')
    t.equal(ask(), False, 'a device')


@test
def sources_of_the_jdk(t):
    """Methods of the JDK have the lines of its src.zip, those of modules too."""
    need_agent(t)
    found = sorted(pathlib.Path(JDKS).glob('*/lib/src.zip'))
    found = [path.resolve() for path in found if path.exists()]
    if not found:
        raise Skip("no JDK's sources")
    (t.directory / 'Sort.java').write_text('public class Sort { public static void main(String[] a) { long[] x = new long[3_000_000]; java.util.Random r = new java.util.Random(1);\n'
                                           'for (int k = 0; k < 6; k++) { for (int i = 0; i < x.length; i++) x[i] = r.nextLong(); java.util.Arrays.sort(x); } } }\n')
    jdk = found[0].parent.parent
    t.equal(t.run(jdk / 'bin/javac', '-d', t.directory, t.directory / 'Sort.java').status, 0, 'javac')
    result = t.collect(jdk / 'bin/java', '-cp', t.directory, 'Sort')
    answer = t.print(result.experiment, '-metrics', 'e.totalcpu:name', '-source', 'DualPivotQuicksort.java')[-1]
    with zipfile.ZipFile(found[0]) as archive:
        lines = archive.read('java.base/java/util/DualPivotQuicksort.java').decode().split('\n')
    t.equal(answer['listing']['source']['found_as'], f'{found[0]}!/java.base/java/util/DualPivotQuicksort.java', 'where')
    shown = [(row['line'], row['name']) for row in answer['rows'] if row.get('line')]
    t.check(len(shown) >= len(lines) - 1, f'{len(shown)} of {len(lines)} lines')
