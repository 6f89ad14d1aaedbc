# SPDX-License-Identifier: Apache-2.0
"""
Experiments whose owner is hostile: another user puts links, pipes and files of others where
root's `helio` expects an experiment's own.  What is outside the experiment stays as it was, and
no command waits for ever.
"""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time

from harness import Skip, patience, test
from test_attach import Attached, Program

NOBODY = ['--reuid', '65534', '--regid', '65534', '--clear-groups']
MARKS = 'what root owns\n'


def state(folder):
    """All that a write, a truncation, a rename or a change of owner leaves different."""
    found = {}
    for path in sorted(folder.rglob('*')):
        info = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ''
        found[path.name] = info.st_ino, info.st_uid, info.st_mode, info.st_size, info.st_mtime_ns, content
    return found


class Victim:
    """A program of nobody's under `helio attach` of root's; nobody can do as it likes in the experiment."""

    def __init__(self, t):
        t.need_root()
        t.directory.chmod(0o755)
        self.t = t
        self.program = Program(t, t.need('setpriv'), *NOBODY, t.target('late'))
        self.attached = Attached(t, self.program)
        self.experiment = self.attached.experiment

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.attached.__exit__()
        self.program.__exit__()

    def shell(self, script):
        """Run by nobody in the experiment."""
        result = self.t.run('setpriv', *NOBODY, 'sh', '-ec', script, cwd=self.experiment)
        self.t.equal(result.status, 0, f'status of {script} ({result.err})')

    def end(self):
        """Ends recording, which closes and packs the experiment; what was said."""
        self.attached.process.send_signal(signal.SIGINT)
        return self.attached.process.communicate(timeout=60 * patience())[1]


def a_recording(t):
    """What is like an experiment in a directory of root's: its files would be packed."""
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    source = t.directory / 'source.er'
    with Program(t, t.target('late')) as program:
        attached = subprocess.Popen([t.helio, 'attach', '-o', str(source), str(program.pid)], stderr=subprocess.PIPE, text=True)
        attached.stderr.readline()
        time.sleep(0.3)
        attached.kill()  # so that its files are not packed
        attached.wait()
        program.end()
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, treasure)
    return treasure


@test
def a_link_in_place_of_a_descendant(t):
    """The walk over a family does not leave the experiment."""
    t.need_root()
    treasure = a_recording(t)
    before = state(treasure)
    with Victim(t) as victim:
        victim.shell(f'ln -s {treasure} _f1.er')
        victim.end()
    t.equal(state(treasure), before, 'a directory of root\'s')


@test
def a_link_in_place_of_a_file(t):
    """Neither the log nor the data is written through a link, symbolic or hard."""
    t.need_root()
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    for name in ['log.xml', 'profile', 'overview', 'stacks', 'mounts']:
        (treasure / name).write_text(MARKS)
        (treasure / name).chmod(0o644)
    before = state(treasure)
    with Victim(t) as victim:
        time.sleep(0.2)
        victim.shell(f'for file in log.xml profile stacks; do rm -f $file; ln -s {treasure}/$file $file; done')
        victim.end()
    t.equal(state(treasure), before, 'files of root\'s')
    for name in ['overview', 'mounts']:  # protected_hardlinks keeps nobody from making these
        target = victim.experiment / name
        target.unlink(missing_ok=True)
        target.hardlink_to(treasure / name)
    t.run(t.helio, 'archive', victim.experiment)
    t.equal({k: v[2:] for k, v in state(treasure).items()}, {k: v[2:] for k, v in before.items()}, 'files of root\'s')


@test
def a_file_that_has_another_name(t):
    """A hard link to a file that one may write stands where an experiment's would be: it stays as it is, and what could not be written is said."""
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    for name in 'archive.log', 'log.xml', 'profile.tmp':
        (treasure / name).write_text(MARKS)
    before = state(treasure)
    experiment = t.collect('true', options=['-A', 'off']).experiment
    (experiment / 'archive.log').hardlink_to(treasure / 'archive.log')
    result = t.run(t.helio, 'archive', experiment)
    t.equal(state(treasure), before, f'the files after archive ({result.err})')
    t.check('archive.log' in result.err and 'Too many links' in result.err, f'what archive said: {result.err}')
    kill = 'for file in profile.tmp log.xml; do ln -f "$0/$file" "$1"; done; kill -9 $$'
    experiment = t.directory / 'linked.er'
    result = t.run(t.helio, 'collect', '-F', 'off', '-A', 'off', '-o', experiment, 'sh', '-c', kill, treasure, experiment)
    t.equal({path.stat().st_nlink for path in treasure.iterdir()}, {2}, 'names of each file')
    t.equal(state(treasure), before, f'the files after collect ({result.err})')
    t.check('log cannot be closed: Too many links' in result.err, f'what collect said: {result.err}')


@test
def a_pipe_in_place_of_a_file(t):
    """Nothing waits for somebody who never writes."""
    t.need_root()
    with Victim(t) as victim:
        time.sleep(0.2)
        victim.shell('for file in log.xml profile stacks overview; do rm -f $file; mkfifo $file; done; '
                     'mkdir _f1.er; mkfifo _f1.er/log.xml _f1.er/profile')
        t.check('cannot be closed' in victim.end(), 'no message')
    for command in (['print', '-functions'], ['check'], ['archive'], ['info'], ['ctl', 'status']):
        t.run(t.helio, *command, victim.experiment, timeout=60)


@test(engines=True)
def pipes_where_a_program_will_make_its_files(t, engine):
    """A child, and a program that is executed later, find pipes by the names of all their files: neither waits in its constructor, or later."""
    places = ['_f1.er', '_f2.er', '_f3.er', '_x1.er', '_f1_x1.er', '_f2_x1.er', '_f1_f1.er', '_x1_f1.er', '_x1_x1.er']
    files = ['log.xml', 'map.xml', 'profile', 'stacks', 'overview', 'heaptrace', 'synctrace', 'iotrace', 'hwcounters', 'mounts', 'dyntext', 'sums']
    experiment = t.directory / 'pipes.er'
    plant = '; '.join(f'mkdir -p {experiment}/{place}; mkfifo {" ".join(f"{experiment}/{place}/{file}" for file in files)}' for place in places)
    # the shell's own commands take the first names: the planting is done by one of them that is not followed
    (t.directory / 'plant').write_text(f'#!/bin/sh\n{plant}\n')
    (t.directory / 'plant').chmod(0o755)
    script = f'env -i PATH="$PATH" {t.directory}/plant 2>{t.directory}/said; /bin/true; (echo sub); exec /bin/sh -c "/bin/true; echo last; exit 3"'
    result = t.run(t.helio, 'collect', '--engine', engine, '-H', 'on', '-s', 'on', '-i', 'on', '-h', 'page-faults', '-o', experiment, 'sh', '-c', script, timeout=60 * patience())
    t.equal((result.status, result.out), (3, 'sub\nlast\n'), f'status and output ({result.err})')
    t.check(any(path.is_fifo() for path in experiment.rglob('*')), 'no pipe was there')
    for command in (['print', '-functions', '-report'], ['check'], ['archive'], ['info'], ['ls']):
        t.run(t.helio, *command, experiment, timeout=60)


@test
def a_process_of_somebody_else_in_a_log(t):
    """A descendant's log says which process it is; at the end root neither waits for one of root's nor enters it."""
    with Victim(t) as victim, Program(t, t.target('late')) as stranger:
        time.sleep(0.2)
        os.kill(stranger.pid, signal.SIGSTOP)
        victim.shell(f'mkdir _f9.er; sed "s/ pid=\"[0-9]*\"/ pid=\"{stranger.pid}\"/" log.xml > _f9.er/log.xml; cp profile _f9.er')
        t.check(str(stranger.pid) in (victim.experiment / '_f9.er/log.xml').read_text(), 'the log names the process')
        said = victim.end()
        t.check('is stopped' not in said and str(stranger.pid) not in said, f'root looked at it: {said}')
        os.kill(stranger.pid, signal.SIGCONT)
        t.equal(stranger.end()[0], 0, 'status of the stranger')


@test
def files_that_are_nearly_all_holes(t):
    """Made to look large, they are refused, not read for hours."""
    with Victim(t) as victim:
        time.sleep(0.2)
        victim.shell('truncate -s 60G log.xml; truncate -s 60G stacks')
        t.check('File too large' in victim.end(), 'no message')
    experiment = t.collect(t.target('flat'), options=['-A', 'off']).experiment
    program = t.directory / 'program'
    shutil.copy(t.target('flat'), program)
    os.truncate(program, 60 << 30)
    os.chown(program, 65534, 65534)
    path = experiment / 'map.xml'
    path.write_text(path.read_text().replace(str(t.target('flat')), str(program)))
    result = t.run(t.helio, 'print', '-functions', experiment)
    t.equal(result.status, 0, 'status of print')
    t.check(re.search(f'{program}.*(File too large|too large)', result.err), f'no message: {result.err}')


@test
def a_perf_map_that_is_nearly_all_a_hole(t):
    """Its owner makes it look like the map of a compiler at run time: it is not read for hours."""
    program = 'f=/tmp/perf-$$.map; echo "1000 10 f" > $f; truncate -s 4T $f; echo $f'
    collect = subprocess.Popen([t.helio, 'collect', '-q', '-A', 'off', '-o', t.directory / 'hole.er', 'sh', '-c', program], stdout=subprocess.PIPE, text=True)
    path = collect.stdout.readline().strip()
    try:
        collect.communicate(timeout=30 * patience())
    except subprocess.TimeoutExpired:
        collect.kill()
        collect.communicate()
    os.unlink(path)
    t.equal(collect.returncode, 0, 'status')


@test
def what_is_no_experiment_stays(t):
    """`attach -O` neither removes a directory that is something else, nor when it fails afterwards."""
    home = t.directory / 'home.er'
    home.mkdir()
    (home / 'letter').write_text(MARKS)
    with Program(t, t.target('late')) as program:
        result = t.run(t.helio, 'attach', '-O', home, '--for', '100ms', program.pid)
        t.check(result.status, 'attach replaced a directory of something else')
        t.equal((home / 'letter').read_text(), MARKS, 'what was in it')
        program.end()


@test
def a_link_in_a_received_experiment(t):
    """`archive` neither appends to a file through `archive.log` nor copies through `archives`; nor does `rm` leave the experiment."""
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    (treasure / '.bashrc').write_text(MARKS)
    before = state(treasure)
    for name, target in [('archive.log', treasure / '.bashrc'), ('archives', treasure)]:
        experiment = t.collect(t.target('empty'), options=['-A', 'off']).experiment
        place = experiment / name
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(target)
        result = t.run(t.helio, 'archive', experiment)
        t.check(result.status and name in result.err, f'{name} is a link: status {result.status}, {result.err}')
        t.equal(state(treasure), before, f'what the link {name} points to')
        t.equal(t.run(t.helio, 'rm', experiment).status, 0, 'status of rm')
        t.equal(state(treasure), before, f'what the link {name} points to, after rm')


@test
def a_common_archive_by_a_link_of_another_user(t):
    """`archive -d DIR` makes and copies nothing through one, wherever in the path it is; it does through one's own."""
    t.need_root()
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    (t.directory / 'foreign').symlink_to(treasure)
    os.chown(t.directory / 'foreign', 65534, 65534, follow_symlinks=False)
    (t.directory / 'to_foreign').symlink_to('foreign')
    (t.directory / 'own').symlink_to(treasure)
    experiment = t.collect(t.target('flat'), '0.1s', options=['-A', 'off']).experiment
    for place in 'foreign', 'foreign/store', 'to_foreign/store', './/foreign/../treasure/store':
        result = t.run(t.helio, 'archive', '-d', place, experiment, cwd=t.directory)
        t.check(result.status and 'a link of another user' in result.err, f'-d {place}: status {result.status}, {result.err}')
        t.equal(state(treasure), {}, f'what archive -d {place} has made')
    result = t.run(t.helio, 'archive', '-d', 'own/new/store', experiment, cwd=t.directory)
    t.equal(result.status, 0, result.err)
    copies = [path.name for path in (treasure / 'new/store').iterdir()]
    t.check(any(name.startswith('flat') for name in copies), f'copies through a link of its own: {copies}')
    t.check(all(path.resolve().parent == treasure / 'new/store' for path in (experiment / 'archives').iterdir() if path.is_symlink()), 'where the experiment looks for them')


@test
def copies_through_a_link_of_another_user(t):
    """`cp` and `mv` put nothing where one leads to, wherever in the path it is; one's own link is followed."""
    t.need_root()
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    for name in 'foreign', 'own':
        (t.directory / name).symlink_to(treasure)
    (t.directory / 'to_foreign').symlink_to('foreign')
    os.chown(t.directory / 'foreign', 65534, 65534, follow_symlinks=False)
    experiment = t.collect(t.target('empty'), options=['-A', 'off']).experiment
    (t.directory / 'run.erg').write_text(f'#analyzer experiment group\n{experiment.name}\n')
    for command in 'cp', 'mv':
        for what, place in (experiment, 'foreign'), (experiment, 'foreign/y.er'), (experiment, 'to_foreign/y.er'), ('run.erg', './/foreign'):
            result = t.run(t.helio, command, what, place, cwd=t.directory)
            t.check(result.status == 1 and place.strip('./') in result.err, f'{command} to {place}: status {result.status}, {result.err}')
            t.equal(state(treasure), {}, f'what {command} to {place} has made ({result.err})')
            t.check((experiment / 'log.xml').exists(), f'{command} to {place}: the experiment is gone')
        result = t.run(t.helio, command, experiment, f'own/{command}.er', cwd=t.directory)
        t.equal(result.status, 0, f'{command} through a link of its own: {result.err}')
        t.check((treasure / f'{command}.er' / 'log.xml').exists(), f'{command}: it is not there')
        shutil.rmtree(treasure / f'{command}.er')


@test
def recordings_through_a_link_of_another_user(t):
    """`collect` and `attach` make no experiment, and add to no group, where one leads to, wherever in the path it is; one's own link is followed."""
    t.need_root()
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    (treasure / 'all.erg').write_text('#analyzer experiment group\n')
    for name in 'foreign', 'own':
        (t.directory / name).symlink_to(treasure)
    (t.directory / 'to_foreign').symlink_to('foreign')
    os.chown(t.directory / 'foreign', 65534, 65534, follow_symlinks=False)
    before = state(treasure)
    with Program(t, t.target('late')) as program:
        for command, what in ('collect', t.target('empty')), ('attach', str(program.pid)):
            for options in (['-o', 'foreign/x.er'], ['-d', 'foreign'], ['-d', 'to_foreign'], ['-o', './/to_foreign/../treasure/x.er'], ['-o', 'foreign/x.er', '-O'],
                            ['-g', 'foreign/all.erg'], ['-g', 'to_foreign/new.erg']):
                if command == 'attach' and '-g' in options:
                    continue
                if options[-1] == '-O':
                    options = ['-O', options[1]]
                result = t.run(t.helio, command, *options, *(['--for', '0.1'] if command == 'attach' else ['-A', 'off']), what, cwd=t.directory)
                t.check(result.status and 'link of another user' in result.err, f'{command} {options}: status {result.status}, {result.err}')
                t.equal(state(treasure), before, f'what {command} {options} has made ({result.err})')
        program.end()
    result = t.run(t.helio, 'collect', '-A', 'off', '-d', 'own', '-g', 'all.erg', t.target('empty'), cwd=t.directory)
    t.equal(result.status, 0, result.err)
    t.equal((treasure / 'all.erg').read_text().splitlines()[1:], ['all.1.er'], 'the group through a link of its own')
    t.check((treasure / 'all.1.er' / 'log.xml').exists(), f'{os.listdir(treasure)}')


@test
def a_link_of_another_user_to_an_experiment(t):
    """Nothing is written, moved or removed there, wherever in the path the link is; one's own link, or root's, is followed."""
    t.need_root()
    home = t.directory / 'home'
    home.mkdir()
    shutil.move(t.collect(t.target('empty'), options=['-A', 'off']).experiment, home / 'it.er')
    experiment = home / 'it.er'
    places = {'foreign.er': experiment, 'foreign': home, 'to_foreign': t.directory / 'foreign', 'relative': 'foreign/../home', 'own.er': experiment, 'own': '././home'}
    for name, target in places.items():
        (t.directory / name).symlink_to(target)
    for name in 'foreign.er', 'foreign':
        os.chown(t.directory / name, 65534, 65534, follow_symlinks=False)
    before = state(home)
    for name in 'foreign.er', 'foreign.er/', 'foreign/it.er', 'to_foreign/it.er', 'relative/it.er', './foreign//it.er/':
        for words in ['archive', name], ['rm', name], ['rm', '-f', name], ['mv', name, 'moved.er']:
            result = t.run(t.helio, *words, cwd=t.directory)
            t.check(result.status and 'a link of another user' in result.err, f'{words}: status {result.status}, {result.err}')
            t.equal(state(home), before, f'the experiment after {words}')
    for name in 'foreign/it.er', 'to_foreign/it.er', 'relative/it.er':
        result = t.run(t.helio, 'collect', '-O', name, 'true', cwd=t.directory)
        t.check(result.status and 'a link of another user' in result.err, f'collect -O {name}: status {result.status}, {result.err}')
        t.equal(state(home), before, f'the experiment after collect -O {name}')
    t.equal(t.run(t.helio, 'cp', 'foreign/it.er', 'copy.er', cwd=t.directory).status, 0, 'status of cp, which only reads there')
    for name in 'own.er', 'own/it.er', 'own/../home/./it.er', '../' + t.directory.name + '/own/it.er':
        t.equal(t.run(t.helio, 'archive', name, cwd=t.directory).status, 0, f'status with links of its own: {name}')
    t.check((experiment / 'archives').is_dir(), 'nothing copied')
    t.equal(t.run(t.helio, 'rm', 'own/it.er', cwd=t.directory).status, 0, 'status of rm by a link of its own')
    t.check(not experiment.exists(), 'it is still there')
    with Program(t, t.target('late')) as program:
        with Attached(t, program) as attached:
            for link in 'foreign.er', 'own.er':
                (t.directory / link).unlink()
                (t.directory / link).symlink_to(attached.experiment)
            os.chown(t.directory / 'foreign.er', 65534, 65534, follow_symlinks=False)
            for action in 'pause', 'resume', 'sample', 'stop':
                result = t.run(t.helio, 'ctl', action, 'foreign.er', cwd=t.directory)
                t.check(result.status and 'a link of another user' in result.err, f'ctl {action}: status {result.status}, {result.err}')
            for action in 'status', 'pause', 'resume':
                result = t.run(t.helio, 'ctl', action, 'own.er', cwd=t.directory)
                t.equal(result.status, 0, f'ctl {action} by a link of its own: status ({result.err})')
        program.end()


@test
def links_of_root_in_a_user_namespace(t):
    """There root has the number of nobody: its links are followed all the same."""
    t.need_root()
    t.directory.chmod(0o755)
    home = t.directory / 'home'
    home.mkdir()
    shutil.move(t.collect(t.target('empty'), options=['-A', 'off']).experiment, home / 'it.er')
    (t.directory / 'by_root').symlink_to(home)
    for path in [home, *home.rglob('*')]:
        os.chown(path, 54321, 54321)
    inside = [t.need('setpriv'), '--reuid', '54321', '--regid', '54321', '--clear-groups', 'unshare', '-U', '--map-user=1000', '--map-group=1000']
    if t.run(*inside, 'true').status:
        raise Skip('no user namespace can be made')
    result = t.run(*inside, t.helio, 'archive', t.directory / 'by_root/it.er')
    t.equal(result.status, 0, f'a link of root\'s: {result.err}')
    t.check((home / 'it.er/archives').is_dir(), 'nothing copied')


@test
def a_group_of_another_user(t):
    """What it names stays, by whatever command, name and link; so does a group that others can write. One's own is followed."""
    t.need_root()
    own, store = t.directory / 'own', t.directory / 'store'
    own.mkdir(mode=0o700)
    store.mkdir()
    experiment = own / 'secret.er'
    t.equal(t.run(t.helio, 'collect', '-q', '-A', 'off', '-o', experiment, t.target('empty')).status, 0, 'status of collect')
    foreign, open_to_all, mine, link = (store / f'{name}.erg' for name in ('foreign', 'open', 'mine', 'link'))
    as_experiment = store / 'x.er'
    for group, member in (foreign, experiment), (open_to_all, experiment), (as_experiment, experiment), (mine, '../own/secret.er'):
        group.write_text(f'#analyzer experiment group\n{member}\n')
    link.symlink_to(mine)
    open_to_all.chmod(0o666)
    for path in foreign, store, link:  # one's own file is no group by its first line alone either
        os.chown(path, 65534, 65534, follow_symlinks=False)
    place = store / 'place'
    place.mkdir()
    before, shown = state(own), sorted(store.rglob('*'))
    for group, reason in (foreign, 'another user'), (open_to_all, 'another user'), (link, 'link'), (as_experiment, 'x.er'):
        for words in ('rm', group), ('rm', '-f', group), ('mv', group, place), ('cp', group, place), ('archive', '-s', 'all', group):
            result = t.run(t.helio, *words)
            t.equal(result.status, 1, f'status of {words} ({result.err})')
            t.check(reason in result.err, f'{words} says: {result.err}')
            t.equal((state(own), sorted(store.rglob('*'))), (before, shown), f'what is there after {words}')
    for words in ('archive', mine), ('cp', mine, place), ('rm', mine):
        result = t.run(t.helio, *words)
        t.equal(result.status, 0, f'status of {words} ({result.err})')
    t.check(not experiment.exists() and not mine.exists() and (place / 'secret.er').exists(), 'one\'s own group was not followed')


@test
def root_archives_what_the_owner_may_read(t):
    """What an experiment names is copied into it with its owner's rights; a common archive is its maker's."""
    t.need_root()
    t.directory.chmod(0o755)
    private, work = t.directory / 'private', t.directory / 'work'
    private.mkdir(mode=0o700)
    (private / 'secret.c').write_text(MARKS)
    work.mkdir()
    os.chown(work, 65534, 65534)
    source, program = t.directory / 'program.c', t.directory / 'program'
    grouped = t.directory / 'grouped.c'
    grouped.write_text(MARKS)
    os.chown(grouped, 0, 4242)
    grouped.chmod(0o640)
    source.write_text(f'#line 1 "{private}/secret.c"\nint main(void) {{ volatile long x = 0; while (x < 300000000) x++; return 0; }}\n'
                      f'#line 1 "{grouped}"\nint other(void) {{ return 1; }}\n')
    t.equal(t.run(t.need('gcc'), '-g', '-o', program, source).status, 0, 'status of gcc')
    for name, more in ('own.er', []), ('common.er', ['-d', t.directory / 'store']):
        result = t.run('setpriv', *NOBODY, t.helio, 'collect', '-A', 'off', '-o', name, program, cwd=work)
        t.equal(result.status, 0, f'status of collect: {result.err}')
        # root has a group that the owner has not, by which it could read the second source
        result = t.run('setpriv', '--groups', '4242', t.helio, 'archive', '-s', 'all', *more, work / name)
        t.equal(result.status, 0, f'status of archive: {result.err}')
        copies = [path for path in (work / name / 'archives').rglob('*') if path.is_file()]
        t.check(any(path.name.startswith('program') for path in copies), f'{name}: copies are {copies}')
        t.check(not any(MARKS in path.read_text(errors='replace') for path in copies), f'{name}: the secret is there')
        t.equal({path.lstat().st_uid for path in (work / name).rglob('*')}, {65534}, f'{name}: owners')
    t.equal({path.stat().st_uid for path in (t.directory / 'store').rglob('*')}, {0}, 'owners in the common archive')


@test
def each_process_names_what_its_user_may_read(t):
    """A descendant that gave up root says what it had loaded: that is opened with its rights, not with the founder's."""
    t.need_root()
    t.directory.chmod(0o755)
    private = t.directory / 'private'
    private.mkdir(mode=0o700)
    shutil.copy(t.target('empty'), private / 'secret')
    result = t.collect('sh', '-c', f'{t.need("setpriv")} {" ".join(NOBODY)} {t.target("empty")}; true', options=['-A', 'off'])
    maps = [path for path in result.experiment.rglob('map.xml') if str(t.target('empty')) in path.read_text()]
    t.equal([path.stat().st_uid for path in maps], [65534], 'owners of the maps with the program')
    maps[0].write_text(maps[0].read_text().replace(str(t.target('empty')), str(private / 'secret')))
    t.run(t.helio, 'archive', '-s', 'all', result.experiment)
    copies = [path.name for path in (result.experiment / 'archives').iterdir()]
    t.check(any(name.startswith(os.path.basename(os.path.realpath('/bin/sh'))) for name in copies), f'what root loaded: {copies}')
    t.check(not any(name.startswith('secret') for name in copies), f'the secret is there: {copies}')


def wait_until(t, condition, what):
    """As long as a command may take."""
    end = time.monotonic() + 60 * patience()
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    t.check(condition(), what)


@test
def a_source_that_is_exchanged_while_it_is_archived(t):
    """Between the look at a file and its copying the owner puts a link to root's in its place: each opening has the owner's rights."""
    t.need_root()
    t.directory.chmod(0o755)
    private, work, trace = t.directory / 'private', t.directory / 'work', t.directory / 'trace'
    private.mkdir(mode=0o700)
    (private / 'secret.c').write_text(MARKS)
    work.mkdir()
    source = work / 'source.c'
    source.write_text('int main(void) { volatile long x = 0; while (x < 30000000) x++; return 0; }\n')
    t.equal(t.run(t.need('gcc'), '-g', '-o', work / 'program', source).status, 0, 'status of gcc')
    for path in work, source, work / 'program':
        os.chown(path, 65534, 65534)
    t.run('setpriv', *NOBODY, t.helio, 'collect', '-A', 'off', '-o', 'own.er', work / 'program', cwd=work)
    # stops behind its first opening of the source
    archive = [t.need('strace'), '-f', '-o', trace, '-P', source, '-e', 'trace=openat', '-e', 'inject=openat:signal=STOP:when=1',
               t.helio, 'archive', '-s', 'all', work / 'own.er']
    with subprocess.Popen(archive, stderr=subprocess.PIPE, text=True) as run:
        wait_until(t, lambda: trace.is_file() and 'stopped by SIGSTOP' in trace.read_text() or run.poll() is not None, 'it does not stop')
        t.equal(run.poll(), None, 'status before the exchange')
        source.unlink()
        source.symlink_to(private / 'secret.c')
        os.kill(int(trace.read_text().split()[0]), signal.SIGCONT)
        said = run.communicate(timeout=60 * patience())[1]
    t.check(trace.read_text().count(f'"{source}"') > 1, f'one opening only: {trace.read_text()}')
    copies = [path for path in (work / 'own.er/archives').rglob('*') if path.is_file()]
    t.check(any(path.name.startswith('program') for path in copies), f'copies are {copies} ({said})')
    t.check(not any(MARKS in path.read_text(errors='replace') for path in copies), f'the secret is there: {copies}')
    t.check(f'{source} cannot be copied' in said, f'what archive said: {said}')


@test
def files_of_root_in_an_experiment_of_another_user(t):
    """A map of root's, and a recording of root's, that the user has moved into an experiment name nothing that root alone may read."""
    t.need_root()
    t.directory.chmod(0o755)
    private, work = t.directory / 'private', t.directory / 'work'
    private.mkdir(mode=0o700)
    shutil.copy(t.target('flat'), private / 'secret')
    work.mkdir()
    os.chown(work, 65534, 65534)
    own = t.collect(private / 'secret', '0.05s', options=['-A', 'off']).experiment
    t.check(str(private / 'secret') in (own / 'map.xml').read_text(), 'the map of root')
    setpriv = [t.need('setpriv'), *NOBODY]
    for name, moved in [('files.er', ['map.xml', 'profile', 'stacks']), ('directory.er', ['_f1.er'])]:
        t.run(*setpriv, t.helio, 'collect', '-A', 'off', '-o', work / name, t.target('empty'), cwd=work)
        for part in moved:
            (work / name / part).unlink(missing_ok=True)
            if part == '_f1.er':
                shutil.copytree(own, work / name / part)
            else:
                shutil.copy(own / part, work / name / part)
            t.equal((work / name / part).stat().st_uid, 0, f'owner of {part}')
        t.run(t.helio, 'archive', '-s', 'all', work / name)
        t.run(t.helio, 'archive', '-s', 'all', work / name / '_f1.er')
        copies = [path.name for path in (work / name / 'archives').rglob('*')]
        t.check(not any('secret' in copy for copy in copies), f'{name}: the secret is there: {copies}')


SWAPPER = '''
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.chdir(sys.argv[1])
os.symlink(sys.argv[2], 'link')
print('ready', flush=True)
for _ in range(200000):
    libc.renameat2(-100, b'folder', -100, b'link', 2)
'''


@test
def a_directory_that_is_swapped_while_it_is_removed(t):
    """A loop that changes a directory for a link and back; `rm` removes nothing that the link points to."""
    t.need_root()
    t.directory.chmod(0o755)
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    for number in range(300):
        (treasure / f'{number}').write_text(MARKS)
    before = state(treasure)
    recorded = t.collect(t.target('empty'), options=['-A', 'off']).experiment
    for turn in range(12):
        experiment = t.directory / f'victim.{turn}.er'
        shutil.copytree(recorded, experiment)
        (experiment / 'folder').mkdir()
        for number in range(300):
            (experiment / 'folder' / f'{number}').write_text('')
        for path in [experiment, *experiment.rglob('*')]:
            os.chown(path, 65534, 65534)
        with subprocess.Popen(['setpriv', *NOBODY, '/usr/bin/python3', '-c', SWAPPER, str(experiment), str(treasure)],
                              stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as swapper:
            t.equal(swapper.stdout.readline(), 'ready\n', 'the loop')
            t.run(t.helio, 'rm', '-f', experiment)
            swapper.kill()
        t.equal(state(treasure), before, f'what the link points to, round {turn}')


@test
def a_directory_that_is_exchanged_before_it_is_removed_or_moved(t):
    """Somebody changes a directory on the way after the experiment was looked at: what lies at the other end of it stays."""
    recorded = t.collect(t.target('empty'), options=['-A', 'off']).experiment
    for turn, command in enumerate((['rm'], ['mv', t.directory / 'target.er'])):
        way, treasure, aside, trace = (t.directory / f'{name}.{turn}' for name in ('way', 'treasure', 'aside', 'trace'))
        treasure.mkdir()
        (treasure / 'x.er').mkdir()
        (treasure / 'x.er' / 'ring').write_text(MARKS)
        way.mkdir()
        shutil.copytree(recorded, way / 'x.er')
        # stops behind its last look at the experiment: at the first renaming
        words = [t.need('strace'), '-f', '-o', trace, '-e', 'trace=openat', '-P', way / 'x.er', '-e', 'inject=openat:signal=STOP:when=1',
                 t.helio, command[0], way / 'x.er', *command[1:]]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as run:
            wait_until(t, lambda: trace.is_file() and 'stopped by SIGSTOP' in trace.read_text() or run.poll() is not None, 'it does not stop')
            t.equal(run.poll(), None, f'{command[0]}: status before the exchange')
            way.rename(aside)
            way.symlink_to(treasure)
            os.kill(int(trace.read_text().split()[0]), signal.SIGCONT)
            said = run.communicate(timeout=60 * patience())[1]
        t.check((treasure / 'x.er' / 'ring').exists(), f'{command[0]}: the treasure is gone: {said}')
        t.check(run.returncode and 'something else' in said, f'{command[0]}: status {run.returncode}, {said}')
        t.check((aside / 'x.er' / 'log.xml').exists(), f'{command[0]}: the experiment that was looked at has lost its log')


@test
def many_names_of_a_large_file(t):
    """Logs of hundreds of descendants that are one sparse file cost nobody minutes: neither who records nor who reads."""
    def plant(experiment):
        with open(t.directory / 'large', 'wb') as large:
            large.truncate(1 << 30)
        for number in range(300):
            (experiment / f'_f{number + 50}.er').mkdir()
            os.link(t.directory / 'large', experiment / f'_f{number + 50}.er' / 'log.xml')

    with subprocess.Popen([t.helio, 'collect', '-A', 'off', '-p', 'off', '-o', 'under_way.er', 'sleep', '2'], cwd=t.directory, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as run:
        log = t.directory / 'under_way.er' / 'log.xml'
        wait_until(t, lambda: log.exists() and '<process' in log.read_text(), 'it does not begin')
        plant(t.directory / 'under_way.er')
        t.equal(run.wait(timeout=60 * patience()), 0, 'status of collect')
    for command in 'check', 'info', 'ls', 'print -header', 'ctl status':
        t.run(t.helio, *command.split(), t.directory / 'under_way.er', timeout=60)


@test
def links_in_place_of_an_experiment_s_own(t):
    """What is elsewhere is not read as part of an experiment that somebody gave: no file, no descendant, no notes."""
    other = t.collect(t.target('empty'), options=['-A', 'off', '-C', 'what nobody else may read']).experiment
    for name in ('notes', 'profile', 'log.xml', '_f1.er'):
        experiment = t.collect(t.target('empty'), options=['-A', 'off', '-C', 'a note']).experiment
        (experiment / name).unlink(missing_ok=True)
        (experiment / name).symlink_to(other if name == '_f1.er' else other / name)
        result = t.run(t.helio, 'print', '-header', '-experiment_list', '-functions', experiment)
        t.check('nobody else' not in result.out, f'{name} is a link, and was followed: {result.out}')
        t.check(result.status in (0, 1) and experiment.name in result.err, f'nothing was said of {name}: {result.err}')
    t.check('nobody else' in t.run(t.helio, 'print', '-header', other).out, 'the notes themselves are not shown')
    elsewhere = t.directory / 'elsewhere'
    elsewhere.mkdir()
    shutil.copy(t.target('empty'), elsewhere / 'what-nobody-else-may-list_0_1')
    for experiment, told in (other, True), (t.collect(t.target('empty'), options=['-A', 'off']).experiment, False):
        archives = experiment / 'archives'
        shutil.rmtree(archives, ignore_errors=True)
        if told:
            shutil.copytree(elsewhere, archives)
        else:
            archives.symlink_to(elsewhere)
        result = t.run(t.helio, 'check', experiment)
        t.equal('nobody-else' in result.out + result.err, told, f'whether names in archives are told ({result.out} {result.err})')


EXCHANGER = '''
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.chdir(sys.argv[1])
print('ready', flush=True)
while True:
    libc.renameat2(-100, b'a.er', -100, b'b.er', 2)
'''


@test
def an_experiment_that_is_exchanged_while_it_is_read(t):
    """A loop that exchanges two directories: what is shown comes from one of them."""
    for name in 'ab':
        result = t.run(t.helio, 'collect', '-A', 'off', '-C', f'{name} was noted', '-o', t.directory / f'{name}.er', t.target('empty'), name)
        t.equal(result.status, 0, result.err)
    with subprocess.Popen(['/usr/bin/python3', '-c', EXCHANGER, str(t.directory)], stdout=subprocess.PIPE, text=True) as exchanger:
        t.equal(exchanger.stdout.readline(), 'ready\n', 'the loop')
        shown = [t.run(t.helio, 'print', '-header', t.directory / 'a.er') for _ in range(60)]
        exchanger.kill()
    for result in shown:
        found = [name for name in 'ab' if f'{name} was noted' in result.out], [name for name in 'ab' if re.search(rf'empty\S* {name}\b', result.out)]
        t.check(len(found[0]) == 1 and found[0] == found[1], f'notes and command come from {found}: {result.out} {result.err}')


@test
def what_is_no_file_is_not_opened(t):
    """A pipe or device that a path leads to: opening one may already do something, so it is looked at first."""
    pipe = t.directory / 'pipe'
    os.mkfifo(pipe)
    experiment = t.collect(t.target('empty'), options=['-A', 'off']).experiment
    text = (experiment / 'map.xml').read_text()
    (experiment / 'map.xml').write_text(text.replace(str(t.target('empty')), str(pipe)))
    with subprocess.Popen(['/bin/sh', '-c', f'exec 9>{pipe}; echo opened'], stdout=subprocess.PIPE) as writer:
        for command in (['print', '-functions', experiment], ['print', '-functions', pipe], ['info', '-v', experiment], ['check', experiment],
                        ['archive', experiment], ['print', '-machinemodel', pipe, '-functions', experiment]):
            t.run(t.helio, *command)
        t.check(writer.poll() is None, 'the pipe was opened')
        writer.kill()


DAEMON = '''
import os, time
def work(seconds):
    begin = time.process_time()
    while time.process_time() - begin < seconds: pass
if not os.fork():
    os.setgid(65534); os.setuid(65534)
    if not os.fork():
        work(.1); os._exit(0)
    work(.1); os.wait(); os._exit(0)
os.wait()
if not os.fork():
    os.setuid(54321)  # and stays in root's group
    if not os.fork():
        # what was used before its recording begins, a fork and an exec, may be much
        os.execv('/usr/bin/python3', ['python3', '-c', 'import time\\nend = time.process_time() + .1\\nwhile time.process_time() < end: pass'])
    work(.1); os.wait(); os._exit(0)
os.wait()
os.seteuid(65534); work(.05); os.seteuid(0); work(.05)
'''


@test(engines=True)
def a_daemon_that_stops_being_root(t, engine):
    """Its experiment stays complete; the files are its users', and taken back, and the directories stay root's."""
    t.need_root()
    t.directory.chmod(0o755)
    result = t.collect('/usr/bin/python3', '-c', DAEMON, engine=engine)
    family = t.read(result.experiment)
    t.equal(sorted(family), ['', '_f1', '_f1_f1', '_f2', '_f2_f1', '_f2_f1_x1'], 'recorded')
    for lineage, least in ('', 0.1), ('_f1', 0.1), ('_f1_f1', 0.1), ('_f2', 0.1), ('_f2_f1_x1', 0.1):
        t.within(family[lineage]['cpu'] >= 0.8 * least, f'CPU of {lineage}: {family[lineage]["cpu"]}')
    for path in [result.experiment, *result.experiment.rglob('*')]:
        t.check(not path.stat().st_mode & 0o022, f'{path} can be written by others')
        t.check(not path.is_dir() or not path.stat().st_uid, f'{path} is not root\'s')
    for lineage, user in ('.', 0), ('_f1.er', 65534), ('_f1_f1.er', 65534), ('_f2.er', 54321), ('_f2_f1_x1.er', 54321):
        t.equal((result.experiment / lineage / 'log.xml').stat().st_uid, user, f'owner of the log of {lineage}')


COMES_BACK = '''
import os, sys, threading, time
def work(seconds):
    begin = time.process_time()
    while time.process_time() - begin < seconds: pass
work(.1)
os.seteuid(65534); print('user', flush=True); sys.stdin.readline(); os.seteuid(0)
threads = [threading.Thread(target=work, args=(.2,)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
import decimal, sqlite3
print(time.process_time())
'''


@test(engines=True)
def a_daemon_that_is_root_again(t, engine):
    """What root writes then goes to its own files, whatever the user has tried meanwhile, and a third one."""
    t.need_root()
    t.directory.chmod(0o755)
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    for name in ['log.xml', 'map.xml', 'profile', 'stacks', 'overview', 'heaptrace']:
        (treasure / name).write_text(MARKS)
    before = state(treasure)
    experiment = t.directory / 'daemon.er'
    with subprocess.Popen([t.helio, 'collect', '--engine', engine, '-p', '200u', '-H', 'on', '-o', str(experiment), '/usr/bin/python3', '-c', COMES_BACK],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        t.equal(run.stdout.readline(), 'user\n', 'what it says')
        for user in '65534', '54321':
            swap = f'cd {experiment}; for file in log.xml map.xml profile stacks overview heaptrace; do mv $file old; ln -s {treasure}/$file $file; done; mkdir _f9.er'
            t.run('setpriv', '--reuid', user, '--regid', user, '--clear-groups', 'sh', '-c', swap)
        said, _ = run.communicate('\n', timeout=60 * patience())
        t.equal(run.returncode, 0, 'status')
    t.equal(state(treasure), before, 'files of root\'s')
    t.equal(sorted(t.read(experiment)), [''], 'recorded')
    t.ratio(t.read(experiment)['']['cpu'], float(said), 0.6, 1.1, 'CPU time')


DATA = ['profile', 'stacks', 'heaptrace', 'synctrace', 'iotrace']


def cut_all(experiment):
    """As a neighbour, or root, may do at any moment."""
    for name in DATA:
        for path in experiment.rglob(name):
            try:
                os.truncate(path, 0)
            except FileNotFoundError:
                pass


@test(engines=True)
def files_that_are_cut(t, engine):
    """The data files, also the founder's page that its child has mapped, are cut again and again: each program does what it does bare, and the loss is said."""
    runs = []
    for words in ['-', 'b', 'h', 'bd']:  # plain, all signals blocked, a handler of its own, ended by a fault of its own
        command = [t.target('cut'), '1.2', words]
        experiment = t.directory / f'{words}.er'
        bare = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        collect = subprocess.Popen([t.helio, 'collect', '--engine', engine, '-p', '1', '-s', 'all', '-H', 'on', '-i', 'on', '-o', experiment, *command],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        runs.append((words, experiment, bare, collect))
    while any(collect.poll() is None for _, _, _, collect in runs):
        cut_all(t.directory)
        time.sleep(0.05)
    for words, experiment, bare, collect in runs:
        out, err = collect.communicate()
        t.equal(out, bare.communicate()[0], f'{words}: output')
        t.equal(collect.returncode % 128, abs(bare.returncode), f'{words}: status')
        check = t.run(t.helio, 'check', experiment)
        # on a busy machine the program may have ended before anything was cut
        t.within('was cut while it was recorded' in err, f'{words}: {err}')
        t.within(check.status == 2 and 'was cut while it was recorded' in check.out, f'{words}: check says {check.status}, {check.out}')


@test(engines=True)
def files_that_are_cut_under_attach(t, engine):
    """Also where the thread that ends the recording is the first to write; the program goes on."""
    for words in ['-', 'bs']:
        with subprocess.Popen([t.target('cut'), '60', words], stdout=subprocess.PIPE, text=True) as program:
            experiment = t.directory / f'{words}.er'
            attach = subprocess.Popen([t.helio, 'attach', '--engine', engine, '-o', experiment, str(program.pid)],
                                      stderr=subprocess.PIPE, text=True)
            attach.stderr.readline()
            time.sleep(0.3)
            cut_all(experiment)
            time.sleep(0.2 if words == '-' else 0)
            cut_all(experiment)
            attach.send_signal(signal.SIGINT)
            err = attach.communicate(timeout=60 * patience())[1]
            time.sleep(0.1)
            t.equal(program.poll(), None, f'{words}: status of the program ({err})')
            t.within('was cut while it was recorded' in t.run(t.helio, 'check', experiment).out, f'{words}: helio check')
            program.kill()
            program.wait()


@test
def the_tool_is_hardened(t):
    """What attackers of the readers would need first: addresses that are known, tables that can be written, stacks without a guard."""
    header, dynamic, segments, symbols = (t.run(t.need('readelf'), flag, '-W', t.helio).out
                                          for flag in ['--file-header', '--dynamic', '--segments', '--symbols'])
    t.check('DYN (Position-Independent' in header, 'helio is not position-independent')
    t.check('BIND_NOW' in dynamic and 'GNU_RELRO' in segments, 'relocated tables can be written')
    stack = [line for line in segments.splitlines() if 'GNU_STACK' in line]
    t.check(stack and 'RWE' not in stack[0], f'the stack can be executed: {stack}')
    t.check('__stack_chk_fail' in symbols, 'no stack protector')
    t.check('asan' in symbols or '_chk@' in symbols, 'nothing is fortified')


@test
def what_is_loaded_into_programs_is_hardened(t):
    """As far as code may be that runs in handlers, before and after the C library: no tables to be written, no stack to be executed, nothing to be relocated in the code."""
    libraries = sorted(t.build.glob('*.so'))
    t.check(len(libraries) >= 3, f'libraries: {libraries}')
    for library in libraries:
        dynamic, segments = (t.run(t.need('readelf'), flag, '-W', library).out for flag in ['--dynamic', '--segments'])
        stack = [line for line in segments.splitlines() if 'GNU_STACK' in line]
        t.check('BIND_NOW' in dynamic and 'GNU_RELRO' in segments, f'{library.name}: relocated tables can be written')
        t.check('TEXTREL' not in dynamic and stack and 'RWE' not in stack[0], f'{library.name}: {stack} {dynamic}')
        loaded = [line for line in segments.splitlines() if line.split()[:1] == ['LOAD']]
        t.check(loaded and not any('RWE' in line.replace(' ', '') for line in loaded), f'{library.name}: {loaded}')


@test
def the_tool_guards_its_returns(t):
    """
    On x86-64 helio says that a shadow stack suits it, and each object of ours that it is made of that its indirect branches land on endbr64 too.
    The C library's start files decide whether helio says the second: a program of theirs alone is the truth.
    """
    if os.uname().machine != 'x86_64':
        t.skip('not x86-64')
    readelf = t.need('readelf')
    notes = t.run(readelf, '-nW', t.helio).out
    (t.directory / 'empty.c').write_text('int main(void) { return 0; }\n')
    t.equal(t.run(t.need('cc'), '-fcf-protection', '-o', 'empty', 'empty.c', cwd=t.directory).status, 0, 'status of cc')
    empty = t.run(readelf, '-nW', t.directory / 'empty').out
    t.equal('IBT' in notes, 'IBT' in empty, f'IBT ({notes})')
    t.check('SHSTK' in notes, f'no shadow stack: {notes}')
    objects = [path for path in (t.build / 'src').rglob('*.o') if 'collector' not in str(path) and 'heliometer' not in str(path)]
    t.check(len(objects) > 100, f'only {len(objects)} objects')
    marked = t.run(readelf, '-nW', *objects).out.split('\nFile: ')[1:]
    t.equal([text.split('\n')[0] for text in marked if 'IBT, SHSTK' not in text], [], 'objects without the mark')
    t.equal(len(marked), len(objects), 'objects that readelf has read')


WAITS = 'echo ready; read line; /bin/true; (/bin/ls > /dev/null); exit 3'


class Host:
    """A directory of nobody's, in which root records; nobody may exchange what lies there at any moment."""

    def __init__(self, t):
        t.need_root()
        t.directory.chmod(0o755)
        self.t = t
        self.place = t.directory / 'host'
        self.place.mkdir()
        os.chown(self.place, 65534, 65534)

    def shell(self, script):
        result = self.t.run('setpriv', *NOBODY, 'sh', '-ec', script, cwd=self.place)
        self.t.equal(result.status, 0, f'status of {script} ({result.err})')

    def collect(self, meanwhile, *words, name='host.er', options=()):
        """Words: a program that says it is ready, and waits for a line; `meanwhile` is run then."""
        command = [self.t.helio, 'collect', *options, '-o', str(self.place / name), *map(str, words)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.t.equal(run.stdout.readline(), 'ready\n', 'what the program says')
            meanwhile()
            _, said = run.communicate('\n', timeout=60 * patience())
        return run.returncode, said


def exchanges(treasure):
    """What nobody puts in the place of an experiment, by the name of the case; `treasure` looks like one of root's."""
    files = f'for file in log.xml map.xml overview profile stacks mounts; do ln -s {treasure}/$file host.er; done'
    return {'links to files': f'mv host.er old; mkdir host.er; {files}',
            'a link': f'mv host.er old; ln -s {treasure} host.er',
            'a directory on the way': f'mv way old; ln -s {treasure.parent} way'}


@test(engines=True)
def root_records_where_another_user_is_at_home(t, engine):
    """The directory's owner puts something else in the experiment's place: what that leads to stays as it is, and the recording goes on in what was made."""
    host = Host(t)
    treasure = a_recording(t)
    home = t.directory / 'rooms'
    home.mkdir()
    treasure = treasure.rename(home / 'host.er')
    before = state(home)
    for case, script in exchanges(treasure).items():
        on_the_way = 'way' in script
        host.shell('rm -rf *; mkdir way')
        status, said = host.collect(lambda: host.shell(script), 'sh', '-c', WAITS, name='way/host.er' if on_the_way else 'host.er',
                                    options=('--engine', engine, '-A', 'copy', '-i', 'on'))
        t.equal(state(home), before, f'{case}: what root owns')
        t.equal(status, 3, f'{case}: status ({said})')
        t.check('was moved while it was recorded' in said, f'{case}: {said}')
        made = host.place / ('old/host.er' if on_the_way else 'old')
        t.equal(sorted(t.read(made)), [''], f'{case}: recorded')
        t.check((made / 'archive.log').is_file(), f'{case}: the copies are elsewhere')
        shutil.rmtree(made)


@test(engines=True)
def a_recording_whose_name_another_one_has(t, engine):
    """One's own directories, moved or removed meanwhile: a finished experiment that comes to have the name stays as it is."""
    finished = t.collect('sh', '-c', '/bin/true; (/bin/ls > /dev/null); exit 0').experiment
    home = t.directory / 'home'
    home.mkdir()
    for case, script in {'moved': 'mv it.er old', 'removed': 'rm -rf it.er', 'a directory on the way': 'cd ..; mv way old; mkdir way'}.items():
        place = home / 'way'
        place.mkdir()
        command = [t.helio, 'collect', '--engine', engine, '-A', 'off', '-H', 'on', '-o', str(place / 'it.er'), 'sh', '-c', WAITS]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            t.equal(run.stdout.readline(), 'ready\n', 'what the program says')
            t.equal(t.run('sh', '-ec', script, cwd=place).status, 0, script)
            shutil.copytree(finished, place / 'it.er', copy_function=shutil.copy2)
            _, said = run.communicate('\n', timeout=60 * patience())
        t.equal(run.returncode, 3, f'{case}: status ({said})')
        t.check(('is not there any more' if case == 'removed' else 'was moved while it was recorded') in said, f'{case}: {said}')
        same = t.run('diff', '-r', finished, place / 'it.er')
        t.equal((same.status, same.out), (0, ''), f'{case}: the finished experiment')
        shutil.rmtree(home)
        home.mkdir()


@test
def who_could_exchange_a_directory(t):
    """Only where others than root and oneself could, the program goes by a descriptor each time: that has its price."""
    places = {'own': 0o755, 'group': 0o775, 'all': 0o777, 'sticky': 0o1777}

    def looks(place):
        params = t.run(t.helio, 'collect', '-q', '-A', 'off', '-O', place / 'it.er', 'sh', '-c', 'echo "$HELIO_COLLECTOR_PARAMS"').out
        numbers = re.search(r';D:(\d+),(\d+)(,x)?;', params)
        info = (place / 'it.er').stat()
        t.equal([int(number) for number in numbers.groups()[:2]], [info.st_dev, info.st_ino], 'the directory that is named')
        return bool(numbers[3])

    if looks(t.directory):
        raise Skip(f'others could exchange a directory above {t.directory}')
    for name, mode in places.items():
        (t.directory / name / 'inner').mkdir(parents=True)
        (t.directory / name).chmod(mode)
        expected = name in ('group', 'all')
        t.equal(looks(t.directory / name), expected, f'mode {mode:o}')
        t.equal(looks(t.directory / name / 'inner'), expected, f'below mode {mode:o}')
    if t.as_root():
        os.chown(t.directory / 'sticky/inner', 65534, 65534)
        t.equal(looks(t.directory / 'sticky/inner'), True, 'what is another user\'s')
        os.chown(t.directory / 'sticky', 65534, 65534)
        t.equal(looks(t.directory / 'sticky'), True, 'a sticky directory of another user\'s')


IN_A_LOOP = '''
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.symlink(sys.argv[1], 'link')
print('ready', flush=True)
while True:
    libc.renameat2(-100, b'host.er', -100, b'link', 2)
'''


@test
def root_records_where_another_user_exchanges(t):
    """The same in a loop, for a script of many processes: between a look at the path and its use something else is there."""
    host = Host(t)
    treasure = a_recording(t)
    before = state(treasure)
    for turn in range(4):
        host.shell('rm -rf *')
        loops = []

        def loop():
            loops.append(subprocess.Popen(['setpriv', *NOBODY, '/usr/bin/python3', '-c', IN_A_LOOP, str(treasure)], cwd=host.place,
                                          stdout=subprocess.PIPE, text=True))
            t.equal(loops[0].stdout.readline(), 'ready\n', 'the loop')

        script = 'echo ready; read line; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; (:); done; exit 3'
        try:
            status, said = host.collect(loop, 'sh', '-c', script, options=('-A', 'copy'))
        finally:
            loops[0].kill()
            loops[0].communicate()
        t.equal(status, 3, f'status ({said})')
        t.equal(state(treasure), before, f'what root owns, round {turn}')
        made = next(path for path in host.place.iterdir() if not path.is_symlink())
        shutil.rmtree(made)


@test
def root_adds_to_a_group_where_another_user_is_at_home(t):
    """A link in place of the group, which leads to an empty file of root's, to a group of root's, or to none."""
    host = Host(t)
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    (treasure / 'empty').touch()
    (treasure / 'group').write_text('#analyzer experiment group\n')
    before = state(treasure)
    for case in 'empty', 'group', 'none':
        host.shell(f'rm -rf *; ln -s {treasure}/{case} run.erg')
        result = t.run(t.helio, 'collect', '-A', 'off', '-g', host.place / 'run.erg', t.target('empty'))
        t.equal(state(treasure), before, f'{case}: what root owns ({result.err})')
        t.check(result.status and 'may not be a link' in result.err, f'{case}: status {result.status}, {result.err}')


@test
def root_attaches_where_another_user_is_at_home(t):
    """The same of a program of root's that runs already, which opens its files by their paths."""
    host = Host(t)
    treasure = a_recording(t)
    before = state(treasure)
    for case, script in exchanges(treasure).items():
        if 'way' in script:
            continue
        host.shell('rm -rf *')
        with Program(t, t.target('late')) as program:
            command = [t.helio, 'attach', '-o', str(host.place / 'host.er'), str(program.pid)]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as attached:
                attached.stderr.readline()
                host.shell(script)
                attached.send_signal(signal.SIGINT)
                said = attached.communicate(timeout=60 * patience())[1]
            program.end()
        t.equal(state(treasure), before, f'{case}: what root owns ({said})')
        t.check('was moved while it was recorded' in said, f'{case}: {said}')
        shutil.rmtree(host.place / 'old')


NEIGHBOUR = '''
import os, socket, sys
tries, won = 0, []
def attempt(what, function, *words):
    global tries
    tries += 1
    try:
        function(*words)
        won.append(what)
    except OSError:
        pass
experiment, *pids = sys.argv[1:]
for place, directories, files in os.walk(experiment):
    for name in 'new', 'log.xml.1.part', '_f9.er':
        path = f'{place}/{name}'
        attempt(f'mkdir {path}', os.mkdir, path)
        attempt(f'link {path}', os.symlink, '/etc/passwd', path)
        attempt(f'pipe {path}', os.mkfifo, path)
    attempt(f'move {place}', os.rename, place, place + '.away')
    for name in files:
        path = f'{place}/{name}'
        for what, function, words in (('write', os.open, (path, os.O_WRONLY)), ('cut', os.truncate, (path, 0)), ('remove', os.unlink, (path,)),
                                      ('chmod', os.chmod, (path, 0o777)), ('touch', os.utime, (path,)),
                                      ('exchange', os.rename, (path, path + '.away'))):
            attempt(f'{what} {path}', function, *words)
    if 'broker' in files:
        attempt('ask', socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect, f'{place}/broker')
for pid in map(int, pids):
    attempt('memory', os.open, f'/proc/{pid}/mem', os.O_RDWR)
    attempt('environment', os.open, f'/proc/{pid}/environ', os.O_RDONLY)
    for signal in 9, 27, 63:
        attempt('signal', os.kill, pid, signal)
    for descriptor in range(1100):
        attempt(f'descriptor {descriptor}', os.open, f'/proc/{pid}/fd/{descriptor}', os.O_RDWR)
print(tries, won)
'''


@test(engines=True)
def a_neighbour_without_rights(t, engine):
    """One user records in a directory like /tmp; another changes nothing of it, reaches neither the program nor the launcher, and is not believed."""
    t.need_root()
    t.directory.chmod(0o755)
    place = t.directory / 'common'
    place.mkdir()
    place.chmod(0o1777)
    experiment = place / 'own.er'
    caps = ['--inh-caps', '+perfmon', '--ambient-caps', '+perfmon'] if engine == 'perf' else []
    one, another = ([t.need('setpriv'), '--reuid', user, '--regid', user, '--clear-groups'] for user in ('54326', '54327'))
    command = [*one, *caps, t.helio, 'collect', '-q', '--engine', engine, '-H', 'on', '-s', 'on', '-i', 'on', '-o', experiment, 'sh', '-c', 'echo $$; read line; /bin/true; exit 3']
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        pid = int(run.stdout.readline())
        made = {str(path): path.lstat().st_ino for path in experiment.rglob('*')}
        t.check(len(made) > 4, f'what is there: {sorted(made)}')
        tried = t.run(*another, '/usr/bin/python3', '-c', NEIGHBOUR, experiment, pid, run.pid)
        tries, _, won = tried.out.partition(' ')
        t.equal(won, '[]\n', f'what a neighbour did ({tried.err})')
        t.check(int(tries) > 2200, f'{tries} tries')
        t.equal({str(path): path.lstat().st_ino for path in experiment.rglob('*')}, made, 'what is there afterwards')
        said = run.communicate('\n', timeout=60 * patience())[1]
    t.equal(run.returncode, 3, f'status ({said})')
    t.check(t.run(t.helio, 'check', experiment).status in (0, 1), 'helio check')


LISTENER = '''
import os, socket
os.rename('host.er', 'old'); os.mkdir('host.er')
ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ear.bind('host.er/broker'); os.chmod('host.er/broker', 0o777)
print('listening', flush=True)
input()
try: print('heard', len(ear.recv(65536, socket.MSG_DONTWAIT)), flush=True)
except BlockingIOError: print('nothing', flush=True)
'''
GIVES_UP_ROOT = '''
import os
print('ready', flush=True); input()
os.seteuid(65534)
if not os.fork(): os._exit(0)
os.wait()
os.seteuid(0); os.chroot('/proc')
if not os.fork(): os._exit(0)
os.wait()
print('asked', flush=True)
'''


@test
def a_launcher_that_is_none(t):
    """Who puts a socket where the launcher's would be is not asked, and does not get the key by which that knows whom it records."""
    host = Host(t)
    python = '/usr/bin/python3'
    ears = []

    def listen():
        ears.append(subprocess.Popen(['setpriv', *NOBODY, python, '-c', LISTENER], cwd=host.place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        t.equal(ears[0].stdout.readline(), 'listening\n', 'what the listener says')

    status, said = host.collect(listen, python, '-c', GIVES_UP_ROOT)
    t.equal(status, 0, f'status ({said})')
    t.equal(ears[0].communicate('\n')[0], 'nothing\n', 'what it has heard')
