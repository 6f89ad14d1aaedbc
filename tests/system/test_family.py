# SPDX-License-Identifier: Apache-2.0
"""Descendants: found however they were made, named by their lineage, with their own CPU."""
import json
import os
import re

from harness import ROOT, Skip, test
from test_code import build

# who burns -> the lineage of the image that does, or what it begins with
LINEAGES = {'fork': '_f1', 'vfork': '_f2_x1', 'spawn': '_c1', 'system': '_c2', 'popen': '_c3', 'parent': ''}
EXACT = ('fork', 'vfork', 'spawn', 'parent')


@test(alone=True, engines=True)
def fork_tree(t, engine):
    result = t.collect(t.target('forktree'), '0.5s', engine=engine)
    truth = result.truth()
    family = t.read(result.experiment)
    for name, lineage in LINEAGES.items():
        images = {key: image for key, image in family.items() if image['process'].get('pid') == str(int(truth[f'{name}.pid']))}
        t.check(images, f'{name}: no experiment for its process')
        if name in EXACT:
            t.check(lineage in images, f'{name}: {sorted(images)}, not {lineage}')
        else:
            t.check(all(key.startswith(lineage) for key in images), f'{name}: {sorted(images)}, not {lineage}...')
        t.ratio(sum(image['cpu'] for image in images.values()), truth[f'{name}.cpu'], 0.97, 1.03, name)
        for key, image in images.items():
            t.equal(image['process']['lineage'], key, 'lineage in log.xml')
            t.equal(image['collector']['engine'], engine, f'engine of {key}')
    forks = [e['lineage'] for e in family['']['log_events'] if e['kind'] == 'fork']
    t.equal(forks, ['_f1', '_f2'], 'forks in the log')
    spawns = [e['lineage'] for e in family['']['log_events'] if e['kind'] == 'spawn']
    t.equal(spawns, ['_c1', '_c2', '_c3'], 'combination calls in the log')


@test(engines=True)
def printed_together(t, engine):
    """Print adds up founder and descendants."""
    result = t.collect(t.target('forktree'), '0.1s', engine=engine, options=('-p', 'hi'))
    family = t.read(result.experiment)
    rows = t.functions(result.experiment, 'e.totalcpu', 'i.totalcpu')
    t.near(rows['<Total>']['e.totalcpu'], sum(p['cpu'] for p in family.values()), 'total CPU', 1e-6, 1e-6)
    truth = result.truth()
    burnt = sum(truth[f'{name}.cpu'] for name in LINEAGES)
    t.ratio(rows['burn']['i.totalcpu'], burnt, 0.88, 1.01, 'burn')  # an interval at the end may go to exit
    listed = [row for row in t.print(result.experiment, '-experiment_list')[-1]['rows']]
    t.equal(len(listed), len(family), 'rows of experiment_list')


@test
def not_followed(t):
    result = t.collect(t.target('forktree'), '0.1s', options=('-F', 'off'))
    t.equal(list(t.read(result.experiment)), [''], 'experiments with -F off')


@test
def followed_by_name(t):
    result = t.collect('/bin/sh', '-c', f'{t.target("flat")} 0.2s; {t.target("deep")} 0.2s; true',
                       options=('-F', '=flat'))
    images = [p['process'].get('exe', '').rsplit('/', 1)[-1] for key, p in t.read(result.experiment).items() if key]
    t.check('flat' in images and 'deep' not in images, f'followed: {images}')


@test
def through_a_shell(t):
    """A pipeline of real programs, each in an experiment of its own."""
    result = t.collect('/bin/sh', '-c', 'seq 1 200000 | sort -r | tail -n 1; true')
    t.equal(result.out.splitlines()[-1], '1', 'output of the pipeline')
    programs = {p['process'].get('exe', '').rsplit('/', 1)[-1] for p in t.read(result.experiment).values()}
    t.check({'seq', 'sort', 'tail'} <= programs, f'programs recorded: {programs}')


def burnt(result):
    return sum(float(line.split()[1]) for line in result.out.splitlines() if line.startswith('burnt '))


def not_recorded(t, experiment):
    """{NAME of <not recorded: NAME>: CPU time} of the function list."""
    rows = t.functions(experiment, 'e.totalcpu')
    return {name[len('<not recorded: '):-1]: row['e.totalcpu'] for name, row in rows.items() if name.startswith('<not recorded: ')}


@test(alone=True, engines=True)
def not_recorded_in_each_way(t, engine):
    """A static program's time, as it says itself, is a row of its name however it was started."""
    program, static = t.target('unrecorded'), t.target('unrecorded_static')
    for way in ('exec', 'fork', 'waitid', 'vfork', 'spawn', 'system', 'popen', 'raw'):
        result = t.collect(program, way, static, '80', engine=engine)
        found = not_recorded(t, result.experiment)
        t.equal(len(found), 1, f'{way}: rows of what was not recorded, {found}')
        # A child of a raw clone that is awaited by a raw call has no name.
        t.check('unrecorded_static' in found or way == 'raw', f'{way}: {found}')
        t.ratio(sum(found.values()), burnt(result), 0.97, 1.1, way)
        t.within(f'not recorded: {list(found)[0]} ' in result.err, f'{way}: the last message: {result.err}')
        listed = t.print(result.experiment, '-experiment_list')[-1]['rows']
        t.check(any(row['lineage'] and not row['name'].endswith('.er') for row in listed), f'{way}: no row in experiment_list')
        t.check(all(row['command'] for row in listed), f'{way}: rows without a command in experiment_list: {listed}')
        for command in ('-threads', '-statistics'):
            shown = t.run(t.helio, 'print', command, result.experiment).out
            t.check('<not recorded: ' in shown, f'{way}: {command} has no such name: {shown}')
        report = t.run(t.helio, 'print', '-report', result.experiment).out
        t.within('<not recorded: ' in report and 'nothing that matters' not in report, f'{way}: {report}')
        t.check(t.run(t.helio, 'check', '-q', result.experiment).status != 2, f'{way}: helio check')


@test(engines=True)
def not_recorded_nor_awaited(t, engine):
    """Whoever is not recorded is named, also where its parent did not wait for it, and so nobody knows its CPU time."""
    static = t.target('unrecorded_static')
    for way, script in {'left behind': f'({static} burn 30 &); sleep 0.2', 'still running': f'{static} burn 600 & sleep 0.2',
                        'parent killed': f'sh -c "{static} burn 600 & sleep 0.1; kill -9 \\$\\$"; true'}.items():
        result = t.collect('/bin/sh', '-c', script, engine=engine)
        t.within('not recorded: unrecorded_static, whose CPU time is not known' in result.err, f'{way}: {result.err}')
        header = t.run(t.helio, 'print', '-header', result.experiment).out
        t.within('its CPU time is not known' in header, f'{way}: {header}')
        report = t.run(t.helio, 'print', '-report', result.experiment).out
        t.within('unrecorded_static' in report and 'nothing that matters' not in report, f'{way}: {report}')
    result = t.collect('/bin/sh', '-c', f'({static} burn 30 &); {static} burn 40; sleep 0.2', engine=engine)
    t.within('s of CPU time, and 1 whose CPU time is not known' in result.err, result.err)


@test(alone=True, engines=True)
def recorded_below_not_recorded(t, engine):
    """A static program runs one that is recorded, and it another static one: nothing is counted twice."""
    program, static = t.target('unrecorded'), t.target('unrecorded_static')
    result = t.collect('/bin/sh', '-c', f'{static} nest {program} 80; {program} fork {static} 60; true', engine=engine)
    total = t.functions(result.experiment, 'e.totalcpu')['<Total>']['e.totalcpu']
    t.ratio(total, burnt(result), 0.97, 1.12, 'all')
    t.ratio(not_recorded(t, result.experiment)['unrecorded_static'], 0.14, 0.95, 1.12, 'static')


# Commands of processes that burn: S is static, D is not, each `under COUNT MS` what follows; in the list of one shell.
BELOW = {
    'a static one between': ['S under 1 60 S under 1 80 D burn 100'],
    'two between': ['S under 1 60 S under 1 80 S under 1 60 D burn 100'],
    'several below': ['S under 1 60 S under 2 60 S under 2 60 D burn 60'],
    'siblings': ['S under 1 60 S under 1 60 D burn 60', 'S under 1 60 D burn 60', 'D burn 60', 'S burn 60'],
    'recorded between': ['S under 1 60 S under 1 60 D under 2 60 S under 1 60 S under 1 60 D burn 60'],
    'recorded again': ['D then 60 S then 80 D burn 60', 'S then 60 S then 60 D exec S 60', 'S then 60 D under 1 60 S then 60 D burn 60'],
    'an exec between': ['S under 1 60 D exec S 60', 'D under 1 60 S under 1 60 S under 1 60 D exec S 60'],
}
# In which some end after those that have started them, and who has started these goes on.
LEFT = {
    'left by a static one': ['S under 0 60 D burn 200', 'S burn 60'],
    'left by one between': ['S under 1 60 S under 0 60 D burn 200'],
    'left by one between, who started it goes on': ['S under 1 500 S under 0 20 D burn 100'],
    'left by a recorded one': ['S under 1 60 S under 1 60 D under 0 60 D burn 200'],
}
# How they are started, so that their name is one of a fork, a vfork or a combination.
STARTERS = {
    'shell': lambda commands: ('/bin/sh', '-c', '; '.join(commands) + '; true'),
    'spawn': lambda commands: ('/usr/bin/python3', '-c', 'import os, sys\nfor line in sys.argv[1:]:\n    words = line.split()\n'
                               '    os.waitpid(os.posix_spawn(words[0], words, os.environ), 0)', *commands),
    'vfork': lambda commands: ('/usr/bin/python3', '-c', 'import subprocess, sys\nfor line in sys.argv[1:]:\n'
                               '    subprocess.run(line.split())', *commands),
    'system': lambda commands: ('/usr/bin/perl', '-e', 'system($_) for @ARGV', *commands),
}


def burnt_by(result, name):
    """What programs of this name say themselves."""
    return sum(float(words[1]) for words in map(str.split, result.out.splitlines())
               if words[0] == 'burnt' and words[2] == name)


def check_below(t, start, cases, name, engine):
    paths = {'S': str(t.target('unrecorded_static')), 'D': str(t.target('unrecorded'))}
    commands = [' '.join(paths.get(word, word) for word in line.split()) for line in cases[name]]
    result = t.collect(*start(commands), engine=engine)
    t.equal(result.out.count('burnt'), sum(count_burns(line) for line in cases[name]), f'{name}: all have ended in order')
    static = burnt_by(result, 'unrecorded_static')
    found = not_recorded(t, result.experiment)
    t.within(list(found) == ['unrecorded_static'], f'{name}: {found}')
    # what else they used: to begin and to end, which is more in the first of many than the work of few ms
    t.ratio(found.get('unrecorded_static', 0), static, 0.95, 1.15, f'{name}: static')
    total = t.functions(result.experiment, 'e.totalcpu')['<Total>']['e.totalcpu']
    t.within(total > 0.95 * burnt(result), f'{name}: {total} of {burnt(result)}')
    t.within('not recorded: unrecorded_static' in result.err, f'{name}: {result.err}')
    t.check(t.run(t.helio, 'check', '-q', result.experiment).status != 2, f'{name}: helio check')


def count_burns(line):
    """How many processes of a command burn."""
    count, times = 0, 1
    words = line.split()
    for index, word in enumerate(words):
        if word in ('burn', 'under', 'exec', 'then'):
            count += times
        if word == 'under':
            times *= max(1, int(words[index + 1]))
    return count


@test(alone=True, engines=True)
def not_recorded_below_not_recorded(t, engine):
    """Static programs below static ones, with recorded ones below these: the time of all is there once, as they say it themselves."""
    for name in BELOW:
        check_below(t, STARTERS['shell'], BELOW, name, engine)


@test(alone=True, engines=True)
def not_recorded_below_by_each_way(t, engine):
    t.need('perl')
    for way in ('spawn', 'vfork', 'system'):
        check_below(t, STARTERS[way], BELOW, 'siblings', engine)
        check_below(t, STARTERS[way], BELOW, 'recorded again', engine)


@test(alone=True, engines=True)
def left_below_not_recorded(t, engine):
    """Who is not awaited has no part in what others know of their children."""
    for name in LEFT:
        check_below(t, STARTERS['shell'], LEFT, name, engine)


@test(engines=True)
def not_recorded_in_a_namespace(t, engine):
    """Where processes know each other by other ids, in a namespace as Chromium's sandbox, their time is counted once too."""
    program, static = t.target('unrecorded'), t.target('unrecorded_static')
    between = f'{static} under 1 100 {static} under 1 100 {program} burn 100'
    for work in (f'sh -c "{program} fork {static} 200; true"; true', f'sh -c "{between}; {between}; true"; true'):
        apart = ('unshare', '-p', '-f', 'sh', '-c', work)
        if t.run(*apart).status:
            raise Skip('no namespace of process ids for this user')
        result = t.collect(*apart, engine=engine)
        found = not_recorded(t, result.experiment)
        truth = burnt_by(result, 'unrecorded_static')
        t.ratio(sum(found.values()), truth, 0.9, 1.2, f'{found}')
        t.equal(result.err.count('of CPU time'), 1, f'the last message: {result.err}')


@test(alone=True, engines=True)
def behind_other_mounts(t, engine):
    """bwrap: a namespace of process ids, whose first process ends after who awaits it, the experiment read-only, and covered for a while."""
    bwrap, program, static = t.need('bwrap'), t.target('unrecorded'), t.target('unrecorded_static')
    apart = (bwrap, '--ro-bind', '/', '/', '--unshare-all', '--dev', '/dev', '--proc', '/proc')
    if t.run(*apart, 'true').status:
        raise Skip('no namespaces for this user')
    for work in ([program, 'burn', '150'], [static, 'burn', '150'], ['sh', '-c', f'{program} fork {static} 100; true']):
        result = t.collect(*apart, *work, engine=engine)
        total = t.functions(result.experiment, 'e.totalcpu')['<Total>']['e.totalcpu']
        t.ratio(total, burnt(result), 0.9, 1.5, f'{work}')
        t.within('still running' not in result.err, f'{work}: {result.err}')
        if static in work:
            t.ratio(not_recorded(t, result.experiment).get('unrecorded_static', 0), burnt(result), 0.9, 1.3, f'{work}')


@test
def counted_alike(t):
    """The last message, info, ls and report count each process once, whatever it becomes, also below one that was not recorded."""
    dynamic, static = t.target('unrecorded'), t.target('unrecorded_static')
    # an image passes its name on through a static one to the child of that, which runs another program
    for command, count in ((f'{dynamic} burn 5; exec {dynamic} burn 5', 2), (f'exec {static} under 1 5 {dynamic} burn 5', 2), ('exec true', 1)):
        result = t.collect('sh', '-c', command)
        said = re.findall(r', (\d+) processes, ', result.err) or ['1']
        info = t.run(t.helio, 'info', result.experiment).out
        listed = json.loads(t.run(t.helio, 'ls', '--json', result.experiment).out)['experiments'][0]
        report = t.run(t.helio, 'print', '-report', result.experiment).out
        t.equal((int(said[0]), int(re.search(r'^Processes \((\d+)', info, re.M)[1]), listed['processes'], int(re.search(r', (\d+) process', report)[1])),
                (count, count, count, count), f'{command}: the last message, info, ls, report')


HEAD = '<?xml version="1.0"?>\n<experiment version="1.0" producer="t" mono_ns="5" wall_ns="1790000000000000000">\n'


def killed_children(t, count):
    """An experiment of so many processes that were killed, as their parent tells, and of fifty times as many that were not recorded."""
    def process(pid, ppid, lineage, time):
        return f'<process pid="{pid}" ppid="{ppid}" pgrp="1" sid="1" uid="0" cwd="/" exe="/bin/a" wordsize="64" lineage="{lineage}" tstamp="{time}"/>\n'
    experiment = t.directory / f'{count}.er'
    experiment.mkdir()
    events = ''
    for i in range(count):
        (experiment / f'_f{i + 1}.er').mkdir()
        (experiment / f'_f{i + 1}.er' / 'log.xml').write_text(HEAD + process(100 + i, 99, f'_f{i + 1}', 1000 * i + 100))
        events += f'<event kind="reaped" tstamp="{1000 * i + 900}" pid="{100 + i}" status="0" signal="9"/>\n'
        events += ''.join(f'<event kind="reaped" tstamp="{1000 * i + 901 + k}" pid="{10000 + 50 * i + k}" status="0" signal="0"/>\n' for k in range(50))
    (experiment / 'log.xml').write_text(HEAD + process(99, 1, '', 0) + events + f'<event kind="exit" tstamp="{1000 * count}"/>\n</experiment>\n')
    return experiment


@test(alone=True)
def many_ends(t):
    """Four times as many processes that could not tell their end take four times as long; each has the end that its parent saw."""
    took = {}
    for count in (200, 800):
        experiment = killed_children(t, count)
        before = os.times()
        result = t.run(t.helio, 'info', experiment)
        took[count] = os.times().children_user - before.children_user
        t.equal(result.out.count('signal 9'), count, 'ends')
    t.within(took[800] < 8 * took[200], f'CPU time by number of processes: {took}')


@test(engines=True)
def all_recorded(t, engine):
    """No row where nothing was left out, nor where that was asked for."""
    program, static = t.target('unrecorded'), t.target('unrecorded_static')
    for way in ('fork', 'spawn', 'system', 'vfork'):
        result = t.collect(program, way, program, '30', engine=engine)
        t.equal(not_recorded(t, result.experiment), {}, way)
        t.check('not recorded' not in result.err, f'{way}: {result.err}')
    result = t.collect(program, 'fork', static, '30', engine=engine, options=('-F', 'off'))
    t.equal(not_recorded(t, result.experiment), {}, '-F off')


def make_steps(t):
    """Words of commands: D a program, L a link to it, S a static one, T a link to that; scripts: X becomes its words, N has no first line."""
    words = {'D': t.target('unrecorded'), 'S': t.target('unrecorded_static')}
    for name, of in (('L', 'D'), ('T', 'S')):
        words[name] = str(t.directory / name)
        os.symlink(words[of], words[name])
    for name, first in (('X', '#!/bin/sh\n'), ('N', '')):
        words[name] = str(t.directory / name)
        (t.directory / name).write_text(first + 'exec "$@"\n')
        (t.directory / name).chmod(0o755)
    for word in 'DSLTXN':
        words[f'./{word}'] = f'./{word}'
        words[f'-{word}'] = f'{word}'  # to be looked for in PATH
        if word in 'DS':
            os.symlink(words[word], t.directory / word)
    return words


def run_steps(t, words, line, engine):
    path = {'PATH': f'{t.directory}:{os.environ["PATH"]}'}
    result = t.collect(*(words.get(word, word) for word in line.split()), engine=engine, env=path)
    t.equal(result.out.count('burnt'), count_burns(line), f'{line}: all have ended in order')
    kernel = [e for e in t.read(result.experiment)['']['log_events'] if e['kind'] == 'exit'][-1]
    total = t.functions(result.experiment, 'e.totalcpu', whole=True)['<Total>']['e.totalcpu']
    t.within(0.95 * burnt(result) < total < 1.02 * (int(kernel['user_us']) + int(kernel['system_us'])) / 1e6, f'{line}: {total} of {kernel}')
    return result, not_recorded(t, result.experiment)


# The name of the row of what burns so many ms.
AGAIN = {
    'D then 60 S then 80 D burn 40': {'unrecorded_static': ['unrecorded_static']},
    'D then 60 ./T then 80 ./D burn 40': {'T': ['T']},
    'D then 60 T then 80 S then 60 D burn 40': {'T': ['T', 'unrecorded_static']},  # the first names both
    'D then 40 S then 80 D then 40 T then 60 L burn 40': {'unrecorded_static': ['unrecorded_static'], 'T': ['T']},
    'D then 40 X S then 80 X D burn 40': {'unrecorded_static': ['unrecorded_static']},
    'D then 40 -S then 80 -D burn 40': {'S': ['S']},
    'D then 40 -T then 80 -N D burn 40': {'T': ['T']},
    'D then 40 S then 80 D then 40 T burn 60': {'unrecorded_static': ['unrecorded_static'], 'T': ['T']},
}


@test(alone=True, engines=True)
def recorded_again(t, engine):
    """A recorded program becomes a static one, and that a recorded one: the static one's time is in a row of its name, once."""
    words = make_steps(t)
    for line, rows in AGAIN.items():
        result, found = run_steps(t, words, line, engine)
        t.equal(sorted(found), sorted(rows), line)
        for name, parts in rows.items():
            # and what it and the next one took to begin
            t.ratio(found[name], sum(burnt_by(result, part) for part in parts), 0.95, 1.15, f'{line}: {name}')
            t.within(f'{name} {found[name]:.3f} s of CPU time' in result.err, f'{line}: the last message: {result.err}')
        t.check(t.run(t.helio, 'check', '-q', result.experiment).status != 2, f'{line}: helio check')


# Of a file, and of a name in a directory.
BY_DESCRIPTOR = {
    'F': 'os.execve(os.open(sys.argv[1], os.O_RDONLY), sys.argv[1:], os.environ)\n',
    'A': 'def words(them):\n    return (ctypes.c_char_p * (len(them) + 1))(*map(os.fsencode, them), None)\n'
         'ctypes.CDLL(None).execveat(os.open(".", os.O_RDONLY), sys.argv[1].encode(), words(sys.argv[1:]),\n'
         '                           words([f"{name}={value}" for name, value in os.environ.items()]), 0)\n',
}


@test(engines=True)
def recorded_throughout(t, engine):
    """An image that was executed by a link, a search in PATH, a script, a descriptor or the dynamic linker is the next one: no row."""
    words = make_steps(t)
    words['LD'] = '/lib64/ld-linux-x86-64.so.2' if os.uname().machine == 'x86_64' else '/lib/ld-linux-aarch64.so.1'
    for name, call in BY_DESCRIPTOR.items():
        words[name] = str(t.directory / name)
        (t.directory / name).write_text(f'#!/usr/bin/python3\nimport ctypes, os, sys\n{call}')
        (t.directory / name).chmod(0o755)
    for line in ('D then 20 D burn 20', 'D then 20 L then 20 ./L then 20 -L burn 20', 'D then 20 X ./D burn 20', 'D then 20 -X ./X D burn 20', 'D then 20 -N D burn 20',
                 'D then 20 ./N N D burn 20', 'D then 20 LD D burn 20', 'D then 20 F D burn 20', 'D then 20 A ./D burn 20', 'D then 20 env nice -n 1 -D burn 20'):
        result, found = run_steps(t, words, line, engine)
        t.equal(found, {}, line)
        t.check('not recorded' not in result.err, f'{line}: {result.err}')


def image(pid, lineage, execfn, counters, taken=0, events=''):
    return (f'<process pid="{pid}" ppid="1" exe="/bin/a" execfn="{execfn}" lineage="{lineage}" taken="{taken}" tstamp="{pid * 1000}"/>\n'
            f'<event kind="counters" tstamp="9000000000" {counters}/>\n{events}')


@test
def names_that_others_have(t):
    """The program between may have started others, which found its name; and a recorded one may have become another unseen: that one has its time."""
    settings = ''.join(f'<setting name="{name}" value="{value}"/>\n' for name, value in (('clock', 10007), ('follow', 'on')))
    used = 'before_user_us="{}" before_system_us="0" process_cpu_ns="{}"'
    last = used.format(500000, 600000000)
    for name, (other, execfn, expected) in {
            'a child': (50, './b', {'s': 0.4}), 'the process': (7, './b', {}), 'as it was executed': (50, './s', {}),
            'in a directory': (50, '/dev/fd/3/./s', {}), 'looked for': (50, '/bin/s', {'s': 0.4})}.items():
        experiment = t.directory / f'{name.replace(" ", "_")}.er'
        logs = {'': settings + image(7, '', './a', used.format(0, 100000000), events='<event kind="exec" tstamp="1000000" lineage="_x1" name="./s"/>\n'),
                '_x1.er': image(other, '_x1', './s', used.format(0, 0) if other != 7 else 'events="0"'), '_x2.er': image(7, '_x2', execfn, last, 1)}
        for directory, text in logs.items():
            (experiment / directory).mkdir(parents=True, exist_ok=True)
            (experiment / directory / 'log.xml').write_text(HEAD + text + '<event kind="exit" tstamp="9000000001"/>\n</experiment>\n')
        t.equal(not_recorded(t, experiment), expected, name)


@test(engines=True)
def recorded_before_an_exec(t, engine):
    """What a process used as another program before is known, also where the last one ends out of the collector's sight."""
    burns = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; '
    result = t.collect('sh', '-c', burns + f'exec {t.target("unrecorded")} vanish 30', engine=engine)
    t.equal(result.out.count('burnt'), 1, 'output')
    t.within(not not_recorded(t, result.experiment), f'{not_recorded(t, result.experiment)}')
    kernel = [e for e in t.read(result.experiment)['']['log_events'] if e['kind'] == 'exit'][-1]
    total = t.functions(result.experiment, 'e.totalcpu')['<Total>']['e.totalcpu']
    t.within(total < 1.02 * (int(kernel['user_us']) + int(kernel['system_us'])) / 1e6, f'{total} of {kernel}')


@test
def children_without_stacks(t):
    """Processes that end before a tick have no file of stacks; their time is all there, and nothing is amiss."""
    rounds = 40
    result = t.collect('bash', '-c', f'i=0; while [ $i -lt {rounds} ]; do /bin/true; (:); i=$((i+1)); done', options=('-p', '100ms'))
    family = t.read(result.experiment)
    without = [name for name in family if not (result.experiment / (name + '.er' if name else '') / 'stacks').exists()]
    t.check(len(without) > rounds, f'{len(without)} of {len(family)} images without stacks')
    # By the processes' clocks, but for the work of libc and the kernel after the last event.
    books = [next(e for e in family[name]['log_events'] if e['kind'] == 'counters') for name in without]
    clocks = sum(int(book['cpu_ns']) - int(book.get('ends_cpu_ns', 0)) for book in books) / 1e9
    t.near(sum(family[name]['cpu'] - family[name]['ends'] for name in without), clocks, 'CPU of those', 0, 1e-6 * len(without))
    rows = t.functions(result.experiment)
    t.within(rows['<no call stack recorded>']['e.totalcpu'] >= clocks, f'{rows["<no call stack recorded>"]}, {clocks}')
    t.total_is_of(rows, family)
    t.equal(t.run(t.helio, 'check', '-q', result.experiment).status, 0, 'helio check')


@test
def stacks_under_any_umask(t):
    """The file that is made at the first tick is one that its owner can open again."""
    result = t.collect('sh', '-c', 'umask 777; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done', options=('-p', '20ms'))
    t.equal((result.experiment / 'stacks').stat().st_mode & 0o600, 0o600, 'mode of stacks')


LANDLOCKED = """
import ctypes, time
libc = ctypes.CDLL(None)
rules = ctypes.c_uint64((1 << 13) - 1)  # all that the first version of landlock knows: making files, too
made = libc.syscall(444, ctypes.byref(rules), ctypes.c_size_t(8), 0)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
print('denied' if made >= 0 and libc.syscall(446, made, 0) == 0 else 'unknown')
while time.process_time() < 1:
    pass
"""


@test
def stacks_under_landlock(t):
    """A program that gives up the right to make files before its first tick has its call stacks all the same."""
    result = t.collect('/usr/bin/python3', '-c', LANDLOCKED, options=('-p', '400ms'))
    if result.out != 'denied\n':
        raise Skip('no landlock here')
    t.check((result.experiment / 'stacks').exists(), 'no file stacks')
    functions = t.functions(result.experiment)
    missing = functions.get('<no call stack recorded>', {}).get('e.totalcpu', 0)
    t.check(missing < 0.9 * functions['<Total>']['e.totalcpu'], 'no call stacks')  # what is left of an interval at the end has none


@test
def not_recorded_go(t):
    """The Go command starts its compiler, a static program, by system calls of its own."""
    go = t.need('go')
    (t.directory / 'm.go').write_text('package main\nfunc main() { println(1) }\n')
    environment = {**os.environ, 'GOCACHE': str(t.directory / 'cache'), 'GO111MODULE': 'off'}
    result = t.collect(go, 'build', '-o', t.directory / 'm', t.directory / 'm.go', env=environment)
    found = not_recorded(t, result.experiment)
    total = t.functions(result.experiment, 'e.totalcpu', whole=True)['<Total>']['e.totalcpu']
    events = t.read(result.experiment)['']['log_events']
    kernel, left = ([e for e in events if e['kind'] == kind][-1] for kind in ('exit', 'left'))
    t.ratio(total + int(left['collector_us']) / 1e6, (int(kernel['user_us']) + int(kernel['system_us'])) / 1e6, 0.95, 1.0,
            'of what the kernel counted')
    t.within(sum(found.values()) > 0, f'{found} of {total}')


@test(engines=True)
def commands_of_descendants(t, engine):
    """Each image that was begun has its own words, a fork its parent's; processes of one program are told apart by them, idle ones left out."""
    (t.directory / 'work.sh').write_text('n=0; while [ $n -lt 30000 ]; do n=$((n + 1)); done\n')
    script = 'sh work.sh one "a b"; sh work.sh two; (n=0; while [ $n -lt 30000 ]; do n=$((n + 1)); done); exit 0'
    result = t.collect('sh', '-c', script, engine=engine, cwd=t.directory)
    family = t.read(result.experiment)
    expected = {'': ['sh', '-c', script], '_f1_x1': ['sh', 'work.sh', 'one', 'a b'], '_f2_x1': ['sh', 'work.sh', 'two'], '_f3': []}
    for lineage, words in expected.items():
        t.equal(family[lineage]['arguments'], words, f'recorded: {lineage}')
    listed = {row['lineage']: row['command'] for row in t.print(result.experiment, '-experiment_list')[-1]['rows']}
    whole = "sh -c '" + script.replace("'", "'\\''") + "'"
    for lineage, command in {'_f1_x1': "sh work.sh one 'a b'", '_f2_x1': 'sh work.sh two', '_f3': whole}.items():
        t.equal(listed[lineage], command, f'listed: {lineage}')
    t.check("\nTarget command (64-bit): 'sh work.sh one 'a b''\n" in t.run(t.helio, 'print', '-header', result.experiment).out, 'header')
    rows = t.print(result.experiment, '-metrics', 'e.totalcpu:name', '-indxobj', 'Processes')[-1]['rows'][1:]
    t.within(any(row['name'].endswith(') one a b') for row in rows) and any(row['name'].endswith(') two') for row in rows), f'{rows}')
    rows = t.print(result.experiment, '-metrics', 'e.sleep:name', '-indxobj', 'Processes')[-1]['rows'][1:]
    t.within(rows and all(row['e.sleep'] for row in rows), f'those that have none are left out: {rows}')


@test
def very_long_commands(t):
    """As many words as there is room for, and a program does not notice."""
    words = [f'word{i:05}<&">' for i in range(20000)]
    result = t.collect('sh', '-c', 'exec true "$@"', 'sh', *words, timeout=60)
    for name, image in t.read(result.experiment).items():
        own = image['arguments']
        if name:
            t.check(100 < len(own) < 20000 and own[-1] == '...', f'{name}: {len(own)}')
            t.equal(own[1:-1], words[:len(own) - 2], f'{name}: the first ones')


BURNS = r"""
#include <time.h>
volatile long sum;
__attribute__((noinline)) void PART(void) { for (long i = 0; i < ROUNDS; i++) sum += i; }
__attribute__((noinline)) void work(void) { for (long i = 0; i < 1000000; i++) sum += i; }
int main(void) { while (clock() < CLOCKS_PER_SEC / 5) { work(); PART(); } return 0; }
"""


@test
def functions_of_several_programs(t):
    """Rows of one name say which program they are of, by its file, or its path where the files have one name; nothing else does."""
    # other code, or they have one build-id: the linker leaves the names of functions out of it
    for rounds, place, name in ((1000000, 'one', 'left'), (1000001, 'one', 'right'), (1000002, 'two', 'left')):
        part = f'of_{place}_{name}'
        (t.directory / place).mkdir(exist_ok=True)
        build(t, f'{place}/{name}', (f'{part}.c', BURNS), flags=('-O1', f'-DPART={part}', f'-DROUNDS={rounds}'))
    paths = {key: str(t.directory / key) for key in ('one/left', 'one/right', 'two/left')}
    experiment = t.collect('sh', '-c', '; '.join(paths.values())).experiment
    suffix = {paths['one/left']: paths['one/left'], paths['one/right']: 'right', paths['two/left']: paths['two/left']}
    truth = {f'{name} [{label}]' for name in ('main', 'work', '_start') for label in suffix.values()}
    alone = {f'of_{key.replace("/", "_")}' for key in paths}
    metrics = ('-metrics', 'e.total:i.total:name')
    for command, mode in (('-functions', 'text'), ('-calltree', 'text'), ('-callers-callees', 'text'), ('-functions', ';')):
        out = t.run(t.helio, 'print', *metrics, '-printmode', mode, command, experiment).out
        names = {name for line in out.splitlines()
                 for name in re.findall(r'(?:^|[ ;*"-])((?:main|work|_start|of_\w+)(?: \[[^]]+\])?)"?$', line)}
        t.equal(names & (truth | alone), truth | alone, f'{command} {mode}')
        t.equal(names - truth - alone, set(), f'{command} {mode}: others')
    objects = {(row['name'], row['object']) for row in t.print(experiment, *metrics, '-functions')[-1]['rows']}
    t.check({('main', path) for path in paths.values()} <= objects, 'JSON has the name and the load object')
    for path, label in suffix.items():
        rows = t.print(experiment, *metrics, '-csingle', f'work [{label}]')[-1]['rows']
        t.equal([row['object'] for row in rows if row['role'] == 'center'], [path], f'what is shown is a name: {label}')
    one = t.run(t.helio, 'print', *metrics, '-functions', t.collect(paths['one/left']).experiment).out
    t.check(re.search(' main$', one, re.M) and ' main [' not in one, 'one program needs no names')


STATIC = r"""
static volatile long sum;
static __attribute__((noinline)) void work(void) { for (long i = 0; i < 1000000; i++) sum += i; }
void PART(void) { work(); }
"""
CALLER = r"""
#include <time.h>
void one_a(void), one_b(void), two_a(void);
int main(void) { while (clock() < CLOCKS_PER_SEC / 3) { one_a(); one_b(); two_a(); } return 0; }
"""


@test
def static_functions_of_one_name(t):
    """In one program they have their source file, its path where two files have one name, and without debug information their address, as nm tells it."""
    for place in ('one', 'two'):
        (t.directory / place).mkdir(exist_ok=True)
    parts = ('one/a', 'one/b', 'two/a')
    for part in parts:
        (t.directory / f'{part}.c').write_text(STATIC.replace('PART', part.replace('/', '_')))
    (t.directory / 'main.c').write_text(CALLER)
    paths = [str(t.directory / f'{part}.c') for part in parts]
    for debug, name in (('-g', 'lines'), ('-g0', 'bare')):
        program = t.directory / name
        built = t.run('gcc', '-O1', debug, '-o', program, t.directory / 'main.c', *paths)
        t.check(not built.status, built.err)
        addresses = re.findall(r'^0*(\w+) t work$', t.run('nm', program).out, re.M)
        labels = {paths[0], 'b.c', paths[2]} if debug == '-g' else {f'0x{address}' for address in addresses}
        t.equal(len(labels), 3, f'{name}: labels')
        experiment = t.collect(program).experiment
        for again in ('', ' from the cache'):
            for command in ('-functions', '-calltree', '-callers-callees'):
                out = t.run(t.helio, 'print', '-metrics', 'e.total:i.total:name', command, experiment).out
                t.equal(set(re.findall(r'\bwork \[([^]]+)\]$', out, re.M)), labels, f'{name}{again}: {command}')
                t.check(not re.search(r'\bwork$', out, re.M), f'{name}{again}: {command}: {out}')
            for label in labels:
                rows = t.print(experiment, '-metrics', 'e.total:i.total:name', '-csingle', f'work [{label}]')[-1]['rows']
                t.equal(len([row for row in rows if row['role'] == 'center']), 1, f'{name}{again}: a name for {label}')
        soname = t.run(t.helio, 'print', '-name', 'long:soname', '-functions', experiment).out
        t.equal(set(re.findall(rf'\bwork \[{name}\] \[([^]]+)\]$', soname, re.M)), labels, f'{name}: with load objects')


@test
def header_of_a_descendant(t):
    """A descendant that is opened alone has the parameters of its founder's recording, the machine and the date."""
    result = t.collect('sh', '-c', 'true; env true', options=('-p', '1m', '-s', 'on', '--engine', 'monitor'))
    descendant = next(iter(sorted(result.experiment.glob('_*.er'))))

    def facts(path):
        out = t.run(t.helio, 'print', '-header', path).out
        return {line for line in out.splitlines()
                if re.match(r"(  Clock-profiling|  Synchronization tracing:|  Periodic|  Follow|Host|  [0-9]+ CPUs|  Memory)", line)}
    t.equal(facts(descendant), facts(result.experiment), 'header')
    t.check(any('Clock-profiling, interval' in line for line in facts(descendant)), f'{facts(descendant)}')


@test
def advice_that_works(t):
    """What stands for time of which no code is known is in no advice, and messages of the collector only where there are some."""
    report = t.run(t.helio, 'print', '-report', t.collect('true').experiment).out
    t.check('What to type next' in report and " '<" not in report, report)
    t.check("see the collector's messages" not in report, report)


# What begins after the program was left out on purpose uses CPU time there first.
LEFT_OUT = r"""
#include "libcollector.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static void burn(double seconds)
{
	struct timespec now;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec + now.tv_nsec * 1e-9 < seconds);
}
int main(int count, char **words)
{
	if (count > 2 && !strcmp(words[1], "terminate"))
		collector_terminate_expt();
	burn(0.3);
	if (count > 2)
		execv(words[2], words + 2);
	return 0;
}
"""


@test(alone=True, engines=True)
def left_out_before_an_exec(t, engine):
    """What a process did after its recording was terminated, or as a program that was not selected, counts nowhere when it goes on as another."""
    (t.directory / 'left.c').write_text(LEFT_OUT)
    left = t.directory / 'left'
    built = t.run('gcc', '-O1', '-I', ROOT / 'include' / 'heliometer', '-o', left, t.directory / 'left.c')
    t.check(not built.status, built.err)
    for words, options in (((left, 'terminate', '/bin/sh', '-c', ':'), ()),
                           (('/bin/sh', '-c', f'{left} go /bin/ls /dev/null; true'), ('-F', '=ls'))):
        result = t.collect(*words, engine=engine, options=options)
        rows = t.functions(result.experiment, whole=True)
        before = rows.get('<before recording>', {}).get('e.totalcpu', 0)
        t.equal(len(t.read(result.experiment)), 2, f'{options}: images that were recorded')
        t.within(before < 0.5 * 0.3, f'{options}: {before} s before the recording')


@test
def packing_looks_for_no_file_that_is_not_there(t):
    """With thousands of processes, each look by name for the third of the possible files that they have would be paid for thousands of times."""
    trace, experiment = t.directory / 'calls', t.directory / 'test.er'
    result = t.run(t.need('strace'), '-o', trace, '-e', 'trace=openat,newfstatat', t.helio, 'collect', '-A', 'off', '-o', experiment,
                   'bash', '-c', '(:); (:); (:); (:)')
    t.equal(result.status, 0, 'exit status')
    t.check(all((experiment / f'_f{number}.er').is_dir() for number in range(1, 5)), 'the four subshells are recorded')
    calls = trace.read_text().splitlines()
    t.check(any('"profile.tmp"' in line for line in calls), 'the calls that pack are seen')
    absent = [line for line in calls if 'ENOENT' in line and re.search('"(heaptrace|synctrace|iotrace|dyntext|mounts.own)"', line)]
    t.equal(absent, [], 'looks for files that are not there')
