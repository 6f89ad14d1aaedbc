# SPDX-License-Identifier: Apache-2.0
"""Each byte of what a recording has left counts: `helio check` calls nothing in order that was changed since."""
import random
import re
import shutil

from harness import helio_reader, test

OF_ARCHIVE = 'archives', 'archive.log', 'archive.sums'
DAMAGED = 2


def recorded(t, engine=None, options=()):
    """A process with all kinds of data, and a child of its."""
    source = t.directory / 'all.c'
    source.write_text('''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long counter;
static void *work(void *unused)
{
	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(&lock);
		for (int k = 0; k < 200000; k++)
			counter++;
		usleep(100);
		pthread_mutex_unlock(&lock);
		free(malloc(100));
		fclose(fopen("/dev/null", "w"));
	}
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (!fork()) {
		work(NULL);
		_exit(0);
	}
	return wait(NULL) < 0;
}
''')
    program = t.directory / 'all'
    t.equal(t.run(t.need('gcc'), '-g', '-O1', '-pthread', '-o', program, source).status, 0, 'gcc')
    return t.collect(program, options=['-p', 'on', '-H', 'on', '-s', 'all', '-i', 'on', '-h', 'page-faults', *options], engine=engine).experiment


def data_files(experiment):
    return [path for path in sorted(experiment.rglob('*')) if path.is_file() and not path.relative_to(experiment).parts[0].startswith(OF_ARCHIVE)]


@test
def every_byte_counts(t):
    """A changed bit, a cut, an emptied and a missing file, of each file of both processes: damaged."""
    experiment = recorded(t)
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'status of check as it was left')
    chance = random.Random(1)
    copy = t.directory / 'copy.er'
    files = data_files(experiment)
    names = {path.name for path in files}
    t.check({'log.xml', 'map.xml', 'overview', 'profile', 'stacks', 'heaptrace', 'synctrace', 'iotrace', 'hwcounters', 'mounts'} <= names,
            f'files: {names}')
    for path in files:
        content = path.read_bytes()
        damages = {'gone': None, 'emptied': b'', 'longer': content + b'\0', 'shorter': content[:-1], 'cut': content[:chance.randrange(len(content))]}
        for _ in range(4):
            at = chance.randrange(len(content))
            damages[f'byte {at} changed'] = content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1:]
        for what, damaged in damages.items():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(experiment, copy, symlinks=True)
            target = copy / path.relative_to(experiment)
            target.unlink() if damaged is None else target.write_bytes(damaged)
            result = t.run(t.helio, 'check', copy)
            t.equal(result.status, DAMAGED, f'status of check, {target.relative_to(copy)} {what} ({result.out[-300:]})')
            t.check(str(target.relative_to(copy)) in result.out, f'check does not name {target.relative_to(copy)} ({what}): {result.out}')


def damages_of(path):
    """What may happen to a file, or to a link to one in a common archive: by name, what does it."""
    content = path.read_bytes()
    middle = len(content) // 2

    def write(data):
        if path.is_symlink():
            path.unlink()
        path.write_bytes(data)
    yield 'removed', path.unlink
    yield 'emptied', lambda: write(b'')
    yield 'cut', lambda: write(content[:middle])
    yield 'edited', lambda: write(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:])


def each_file_is_missed(t, experiment):
    """The list is the directory's: what a recording has left and what was put beside it, whatever it is."""
    t.equal(t.run(t.helio, 'check', experiment).out.split(';')[0], f'{experiment}: in order', 'check of all as it was left')
    whole = t.directory / 'whole'
    shutil.copytree(experiment, whole, symlinks=True)
    files = [path for path in sorted(experiment.rglob('*')) if path.is_symlink() or not path.is_dir()]
    for path in files:
        name = str(path.relative_to(experiment))
        for what, damage in damages_of(path):
            damage()
            result = t.run(t.helio, 'check', experiment)
            t.check(result.status in (1, DAMAGED) and name in result.out, f'{name} {what}: status {result.status}: {result.out[-300:]}')
            path.unlink(missing_ok=True)
            shutil.copy2(whole / name, path, follow_symlinks=False)
    for path in sorted(experiment.rglob('*'), reverse=True):
        name = path.relative_to(experiment)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
            result = t.run(t.helio, 'check', experiment)
            t.check(result.status in (1, DAMAGED) and str(name) in result.out, f'{name} removed: status {result.status}: {result.out[-300:]}')
            shutil.copytree(whole / name, path, symlinks=True)
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'status of check, all as it was')
    return {str(path.relative_to(experiment)) for path in files}


@test
def no_file_is_lost_without_a_word(t):
    """Every file of an experiment with all kinds of data, notes and copies: removed, emptied, cut, edited. Likewise its directories."""
    experiment = recorded(t, options=['-C', 'a note'])
    t.equal(t.run(t.helio, 'archive', '-a', 'own', '-s', 'all', '-m', 'all.c', experiment).status, 0, 'status of archive')
    names = each_file_is_missed(t, experiment)
    t.check({'notes', 'archive.log', 'archive.sums', 'sums', '_f1.er/heaptrace', '_f1.er/synctrace', '_f1.er/iotrace', 'hwcounters'} <= names, f'{names}')


@test
def no_file_of_a_family_is_lost_without_a_word(t):
    """Forks and programs that they become, with copies in a common archive; in the experiment are links."""
    script = f'{t.target("flat")} 0.05s & {t.target("flat")} 0.05s | cat; wait'
    experiment = t.collect('sh', '-c', script, options=('-A', 'off')).experiment
    t.equal(t.run(t.helio, 'archive', '-a', 'own', '-d', t.directory / 'common', experiment).status, 0, 'status of archive')
    names = each_file_is_missed(t, experiment)
    t.check({'_f1_x1.er/log.xml', '_f2_x1.er/profile'} <= names, f'{names}')
    copy, = (t.directory / 'common').glob('flat.*')
    copy.write_bytes(copy.read_bytes()[:-1])
    result = t.run(t.helio, 'check', experiment)
    t.check(result.status and copy.name in result.out, f'cut in the common archive: status {result.status}: {result.out[-300:]}')


@test(engines=True)
def the_umask_holds(t, engine):
    """No file or directory of an experiment has a right that the umask takes away: of a family with all kinds of data, notes and copies."""
    programs = t.directory / 'programs'
    programs.mkdir()
    shutil.copy(t.target('flat'), programs / 'flat')
    (programs / 'flat').chmod(0o777)
    for mask in 0o022, 0o077, 0o007:
        experiment = t.directory / f'mask.{mask:o}.er'
        options = f'--engine {engine} -C note -H on -s all -i on -A src -o {experiment}'
        result = t.run('sh', '-c', f'umask {mask:o}; {t.helio} collect {options} sh -c "{programs}/flat 0.05s & {programs}/flat 0.05s; wait" && '
                       f'{t.helio} cp {experiment} {experiment}.copy.er')
        t.equal(result.status, 0, f'status of collect and cp ({result.err[-300:]})')
        for whole in experiment, f'{experiment}.copy.er':
            whole = t.directory / whole
            paths = [whole, *whole.rglob('*')]
            t.check({'archives', 'notes', 'sums', 'archive.log', '_f1_x1.er'} <= {path.name for path in paths}, f'{paths}')
            wrong = [f'{path.relative_to(t.directory)} {path.stat().st_mode & 0o777:o}' for path in paths if path.stat().st_mode & mask]
            t.check(not wrong, f'umask {mask:o}: {wrong}')


@test
def notes_are_the_user_s(t):
    """Notes that are written after a recording without any are no damage, nor is anything said of them."""
    experiment = t.collect('true').experiment
    (experiment / 'notes').write_text('what I saw\n')
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'status of check')


def sum_of(content):
    """As `sums` has it."""
    return f'{helio_reader.file_checksum(content):016x}'


@test
def changes_that_could_cancel(t):
    """The highest bits of any two words of 64 bits, changed in files of every kind."""
    experiment = t.collect(t.target('heap'), options=('-H', 'on')).experiment
    choice = random.Random(1)
    for name in ('profile', 'stacks', 'heaptrace', 'map.xml', 'log.xml', 'sums'):
        whole = (experiment / name).read_bytes()
        words = range(len(whole) // 8)
        for _ in range(8):
            damaged = bytearray(whole)
            for word in choice.sample(words, 2):
                damaged[word * 8 + 7] ^= 0x80
            (experiment / name).write_bytes(damaged)
            t.check(t.run(t.helio, 'check', experiment).status != 0, f'{name} with two changes is in order')
        (experiment / name).write_bytes(whole)


@test(engines=True)
def sums_as_specified(t, engine):
    """The list is complete, and each sum that of a second computation."""
    experiment = recorded(t, engine)
    text = (experiment / 'sums').read_bytes()
    lines = text.decode().splitlines()
    end = text.rindex(b'- ', 0, len(text) - 3)
    t.equal(lines[-1], f'- {helio_reader.checksum(text[:end]):016x} -', 'the last line')
    listed = {line.split(' ', 2)[2]: line.split(' ', 2)[:2] for line in lines[:-1]}
    vdso = [path for path in (experiment / 'archives').iterdir() if path.name.startswith('[')]
    found = {str(path.relative_to(experiment)): [str(path.stat().st_size), sum_of(path.read_bytes())]
             for path in [*data_files(experiment), *vdso, experiment / 'archive.sums'] if path.name != 'sums'}
    t.equal(listed, found, 'the list')


@test
def size_as_said(t):
    """The last message of the recording says how much it has left, of all files but the copies and the list of sums."""
    result = t.collect('true', options=('-i', 'on', '-H', 'on', '-C', 'a note', '-A', 'off'))
    size = sum(path.stat().st_size for path in data_files(result.experiment) if path.name != 'sums')
    said = f'{size} bytes' if size < 10000 else f'{size / 1e3:.1f} KB'
    t.check(f', {said}' in result.err, f'{said}: {result.err}')


@test
def what_is_done_later_is_no_damage(t):
    """Copies of load objects, another place, a descendant that is left out."""
    experiment = recorded(t)
    t.equal(t.run(t.helio, 'archive', experiment).status, 0, 'status of archive')
    moved = t.directory / 'moved.er'
    t.equal(t.run(t.helio, 'mv', experiment, moved).status, 0, 'status of mv')
    copied = t.directory / 'copied.er'
    t.equal(t.run(t.helio, 'cp', moved, copied).status, 0, 'status of cp')
    for path in moved, copied:
        result = t.run(t.helio, 'check', path)
        t.equal(result.status, 0, f'status of check of {path.name} ({result.out})')
    shutil.rmtree(copied / '_f1.er')
    result = t.run(t.helio, 'check', copied)
    t.equal(result.status, 1, f'status of check without a descendant ({result.out})')
    t.check('_f1.er was recorded and is missing' in result.out, result.out)


@test
def a_process_that_was_added(t):
    """A copy of a descendant counts for another one, and that is said."""
    experiment = recorded(t)
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'status of check')
    shutil.copytree(experiment / '_f1.er', experiment / '_f2.er')
    result = t.run(t.helio, 'check', experiment)
    t.equal(result.status, 1, f'status of check ({result.out})')
    t.check('_f2.er was added' in result.out, result.out)


@test
def each_copy_counts(t):
    """A changed bit in a copy of a load object, of a source, of [vdso], or in the list of their sums: damaged."""
    experiment = recorded(t)
    t.equal(t.run(t.helio, 'archive', '-s', 'all', experiment).status, 0, 'status of archive')
    copies = [path for path in sorted((experiment / 'archives').rglob('*')) if path.is_file()]
    t.check({'[vdso]', 'all', 'sources'} <= {path.relative_to(experiment / 'archives').parts[0].partition('.')[0] for path in copies}, f'{copies}')
    listed = [line.split(' ', 2)[2] for line in (experiment / 'archive.sums').read_text().splitlines()]
    kept = [str(path.relative_to(experiment)) for path in copies if not path.name.startswith('[')]
    t.equal(sorted(listed), sorted(['-', 'archive.log', *kept]), 'the list')
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'status of check')
    for path in [*copies[:3], copies[-1], experiment / 'archives' / next(path.name for path in copies if path.name.startswith('all.')), experiment / 'archive.sums']:
        before = path.read_bytes()
        place = random.randrange(len(before))
        path.write_bytes(before[:place] + bytes([before[place] ^ 1 << random.randrange(8)]) + before[place + 1:])
        t.equal(t.run(t.helio, 'check', experiment).status, DAMAGED, f'status of check with a bit changed at {place} of {path.name}')
        path.write_bytes(before)
    t.equal(t.run(t.helio, 'check', experiment).status, 0, 'status of check, all as it was')


@test
def archiving_does_not_mend_damage(t):
    """A copy whose sum was lost, changed or forged is not given a new one by `archive`; copies that are made anew are."""
    made = recorded(t)
    t.equal(t.run(t.helio, 'archive', '-A', made).status, 0, 'status of archive')
    lines = (made / 'archive.sums').read_bytes().rpartition(b'- ')[0]
    for how in ('lost', 'changed', 'forged'):
        experiment = t.directory / f'{how}.er'
        shutil.copytree(made, experiment, symlinks=True)
        copy = next(path for path in sorted((experiment / 'archives').iterdir()) if path.is_file() and not path.name.startswith('['))
        copy.write_bytes(copy.read_bytes()[:-1] + b'!')
        sums = experiment / 'archive.sums'
        if how == 'lost':
            sums.unlink()
        elif how == 'changed':
            sums.write_bytes(b'junk\n')
        else:
            kept = b''.join(line + b'\n' for line in lines.splitlines() if not line.endswith(copy.name.encode()))
            data = copy.read_bytes()
            write_sums(sums, kept + f'{len(data)} {sum_of(data)} archives/{copy.name}\n'.encode())
        t.check(t.run(t.helio, 'check', experiment).status, f'{how}: status of check')
        archived = t.run(t.helio, 'archive', '-A', experiment)
        t.check('archive.sums' in archived.err and 'archive -F' in archived.err, f'{how}: what archive said: {archived.err}')
        t.check(t.run(t.helio, 'check', experiment).status, f'{how}: status of check after archive')
        t.run(t.helio, 'archive', '-A', '-F', experiment)
        result = t.run(t.helio, 'check', experiment)
        t.equal(result.status, 0, f'{how}: status of check, all made anew ({result.out})')


def write_sums(path, lines):
    path.write_bytes(lines + f'- {helio_reader.checksum(lines):016x} -\n'.encode())


@test
def a_list_with_a_nul(t):
    """Whoever made a list of sums may have put a NUL where a name should be: the list is damaged, and no tool falls over it."""
    made = t.collect('true', options=['-A', 'off']).experiment
    for name in 'sums', 'archive.sums':
        for lines in b'12 12 a\0b\n', b'\0\n', b'1 1 a\n\0':
            experiment = t.directory / 'nul.er'
            shutil.rmtree(experiment, ignore_errors=True)
            shutil.copytree(made, experiment, symlinks=True)
            write_sums(experiment / name, lines)
            result = t.run(t.helio, 'check', experiment)
            t.equal(result.status, DAMAGED, f'status of check, {lines} in {name} ({result.out} {result.err})')
            t.check(f'{name} is damaged' in result.out, f'what was said of {name}: {result.out}')
            result = t.run(t.helio, 'archive', experiment)
            t.check(result.status in (0, 1), f'status of archive, {lines} in {name}: {result.status} {result.err}')


@test
def a_list_that_leads_away(t):
    """What a list names is read as far as it is long and once only, be it a link to a file without an end or one of many names."""
    experiment = t.collect('true', options=['-A', 'off']).experiment
    archives = experiment / 'archives'
    archives.mkdir(exist_ok=True)
    (archives / 'x').symlink_to('/proc/self/pagemap')
    for size in 0, 5:
        write_sums(experiment / 'archive.sums', f'{size} 1 archives/x\n'.encode())
        result = t.run(t.helio, 'check', experiment, timeout=60)
        t.check('archives/x' in result.out, f'what was said: {result.out}')
    large, copies = 1 << 20, 50
    (archives / 'large').write_bytes(b'x' * large)
    for number in range(copies):
        (archives / f'link{number}').symlink_to('large')
    lines = ''.join(f'{large} {sum_of(b"x" * large)} archives/link{number}\n{large} {number:016x} archives/large\n' for number in range(copies))
    write_sums(experiment / 'archive.sums', lines.encode())
    trace = t.directory / 'trace'
    result = t.run(t.need('strace'), '-f', '-e', 'trace=pread64', '-o', trace, t.helio, 'check', experiment)
    t.check('archives/large is not what was written' in result.out, f'what was said: {result.out}')
    got = sum(int(line.rpartition(' = ')[2]) for line in trace.read_text().splitlines() if 'pread64(' in line and line.rpartition(' = ')[2].isdigit())
    t.check(large <= got < 8 * large, f'{got} bytes read of a file of {large}')
    write_sums(experiment / 'archive.sums', f'{large + 1} {0:016x} archives/large\n'.encode())
    result = t.run(t.need('strace'), '-f', '-e', 'trace=pread64', '-o', trace, t.helio, 'check', experiment)
    t.check('archives/large has not the size' in result.out, f'what was said: {result.out}')
    got = sum(int(line.rpartition(' = ')[2]) for line in trace.read_text().splitlines() if 'pread64(' in line and line.rpartition(' = ')[2].isdigit())
    t.check(got < large, f'{got} bytes read of what has another size')


def harms_of_a_trace(path):
    """What a trace may have come to that is not there as a whole: by name, what does it."""
    content = path.read_bytes()
    yield 'removed', path.unlink
    yield 'emptied', lambda: path.write_bytes(b'')
    yield 'zeroed', lambda: path.write_bytes(bytes(len(content)))
    yield 'halved', lambda: path.write_bytes(content[:len(content) // 2])


@test
def traces_without_a_list(t):
    """Where the recorder was killed before it wrote the list, a process's own counts tell that events of a trace are gone, and how many: check, print and report do."""
    made = recorded(t)
    (made / 'sums').write_text('- - -\n')
    experiment = t.directory / 'copy.er'
    for directory in made, made / '_f1.er':
        counters = re.findall('<event kind="counters".*', (directory / 'log.xml').read_text())[-1]
        for name in 'heaptrace', 'synctrace', 'iotrace', 'hwcounters':
            trace = experiment / (directory / name).relative_to(made)
            count = re.search(f' {name}="([0-9]+)"', counters)[1]
            t.check(int(count) > 0, f'{trace.relative_to(t.directory)} has no events')
            for harm in range(4):
                shutil.rmtree(experiment, ignore_errors=True)
                shutil.copytree(made, experiment, symlinks=True)
                t.equal(t.run(t.helio, 'check', experiment).status, 1, 'status of check as it was left')
                what, do = list(harms_of_a_trace(trace))[harm]
                do()
                result = t.run(t.helio, 'check', experiment)
                of = {'removed': f'is missing, with {count} events', 'halved': f'of the {count} events'}.get(what, f'lacks {count} of the {count} events')
                t.check(result.status == DAMAGED and re.search(f'damage: {trace.relative_to(t.directory)} .*{of}', result.out),
                        f'{trace} {what}: {result.status} {result.out}')
                for words in ['-functions'], ['-report']:
                    shown = t.run(t.helio, 'print', *words, experiment)
                    t.check(re.search(f'{trace.relative_to(t.directory)} .*{of}', shown.out + shown.err), f'{trace} {what}: {words} does not say it: {shown.err}')


@test
def other_files_without_a_list(t):
    """So a map or sample points that are all gone, and a trace with a byte changed, while what a killed writer of the list has left harms nobody."""
    made = recorded(t)
    (made / 'sums').write_text('- - -\n')
    (made / 'sums.12345.part').write_text('half')
    experiment = t.directory / 'copy.er'
    for name in 'map.xml', '_f1.er/map.xml', 'overview', '_f1.er/overview':
        for what in 'emptied', 'zeroed':
            shutil.rmtree(experiment, ignore_errors=True)
            t.equal(t.run(t.helio, 'cp', made, experiment).status, 0, 'cp')
            t.equal(t.run(t.helio, 'check', experiment).status, 1, 'status of check as it was left')
            dict(harms_of_a_trace(experiment / name))[what]()
            result = t.run(t.helio, 'check', experiment)
            t.check(result.status == DAMAGED and re.search(f'damage: copy.er/{name} is (damaged|missing)', result.out), f'{name} {what}: {result.status} {result.out}')
    shutil.rmtree(experiment)
    shutil.copytree(made, experiment, symlinks=True)
    content = bytearray((experiment / 'iotrace').read_bytes())
    used = len(bytes(content).rstrip(b'\0'))
    content[used - 1] ^= 0x40
    (experiment / 'iotrace').write_bytes(content)
    result = t.run(t.helio, 'check', experiment)
    t.check(result.status == DAMAGED and 'damage: copy.er/iotrace' in result.out, f'iotrace: {result.status} {result.out}')
    t.equal(t.run(t.helio, 'mv', made, t.directory / 'moved.er').status, 0, 'mv')
    t.equal(t.run(t.helio, 'rm', t.directory / 'moved.er', experiment).status, 0, 'rm')
    t.check(not (t.directory / 'moved.er').exists(), 'rm has left something')


@test
def headers_tell_of_their_own(t):
    """The header of each process has the warnings about it, whatever words they begin with: also of two experiments with one name, and where its log has an empty text."""
    made = recorded(t)
    copies = []
    for directory, trace in ('one', 'heaptrace'), ('two', '_f1.er/iotrace'):
        copies.append(t.directory / directory / 'copy.er')
        shutil.copytree(made, copies[-1], symlinks=True)
        (copies[-1] / trace).unlink()
    log = copies[0] / 'log.xml'
    log.write_text(log.read_text().replace('<event kind="exit"', '<event kind="note" text=""/>\n<event kind="exit"'))
    for order in copies, copies[::-1]:
        headers = t.run(t.helio, 'print', '-header', *order).out.split('Experiment: ')[1:]
        names = [header.splitlines()[0] for header in headers]
        t.equal(names, ['copy.er', 'copy.er/_f1.er'] * 2, 'headers')
        expected = [['heaptrace'], [], [], ['_f1.er/iotrace']] if order is copies else [[], ['_f1.er/iotrace'], ['heaptrace'], []]
        t.equal([re.findall(r'[*]{3} Warning: copy.er/(.*) is missing', header) for header in headers], expected, 'told of each')
    again = t.run(t.helio, 'print', '-header', copies[0]).out
    t.equal(again, t.run(t.helio, 'print', '-header', copies[0]).out, 'header from the cache')


FORKS_AND_FAILS = '''
import os, threading
def allocate(count):
    for _ in range(count):
        bytearray(100000)
def fork(count, *more):
    if not os.fork():
        allocate(count)
        for words in more:
            try: os.execv(*words)
            except OSError: allocate(count)
        os._exit(0)
    os.wait()
allocate(1000)
for _ in range(3): fork(10)
fork(10, ('/nowhere', ['nowhere']))
fork(10, ('/nowhere', ['nowhere']), ('/bin/true', ['true']))
threads = [threading.Thread(target=allocate, args=(100,)) for _ in range(5)]
for thread in threads: thread.start()
fork(10)
for thread in threads: thread.join()
try: os.execv('/nowhere', ['nowhere'])
except OSError: allocate(1000)
'''


@test(engines=True)
def counts_of_traces_are_not_too_large(t, engine):
    """Of processes that forked, were forked among threads, and went on after an exec that failed: nothing is missing from what they traced."""
    experiment = t.collect('/usr/bin/python3', '-c', FORKS_AND_FAILS, engine=engine, options=('-H', 'on', '-s', 'all', '-i', 'on', '-h', 'page-faults')).experiment
    result = t.run(t.helio, 'check', experiment)
    t.check(result.status != DAMAGED, f'check: {result.out}')  # a loaded machine may give it warnings
    t.check(len(list(experiment.glob('_*.er'))) >= 7, f'{list(experiment.iterdir())}')


@test
def what_a_program_makes_of_its_last_word(t):
    """A process that is killed leaves some times in memory, which it may have overwritten: times that cannot be are told of, and count nowhere."""
    source = t.directory / 'last.c'
    source.write_text('''
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char path[4096], most[56];
	while (argc == 2 && clock() < CLOCKS_PER_SEC / 3)
		;
	if (!fork())
		_exit(0);
	wait(NULL);
	snprintf(path, sizeof(path), "%s/profile", argv[1]);
	memset(most, 255, sizeof(most));
	if (pwrite(open(path, O_RDWR), most, sizeof(most), 3912) < 0) /* docs/format.md */
		return 1;
	return raise(SIGKILL);
}
''')
    program = t.directory / 'last'
    t.equal(t.run(t.need('gcc'), '-O1', '-o', program, source).status, 0, 'gcc')
    experiment = t.directory / 'run.1.er'
    result = t.collect(program, experiment, engine='monitor', status=None)
    t.check('not recorded' not in result.err and ' 184467' not in result.err, result.err)
    found = t.run(t.helio, 'check', experiment)
    t.equal(found.status, 1, f'check: {found.out}')
    t.check('is said to have left' in found.out, found.out)
    t.check('is said to have left' in t.run(t.helio, 'print', '-functions', experiment).err, 'not told by print')
    header = t.run(t.helio, 'print', '-header', experiment).out
    t.check('is said to have left' in header and 'own thread used 18446744073' not in header, header)
    total = t.functions(experiment, 'e.totalcpu', whole=True)
    t.check(sum(row['e.totalcpu'] for name, row in total.items() if name != '<Total>') <= 1.01 * total['<Total>']['e.totalcpu'], f'{total}')
