# SPDX-License-Identifier: Apache-2.0
"""The sums that are kept between runs: the same output, and never of files that have changed."""
import os
import pathlib
import shutil

import test_code
from harness import helio_reader, test

COMMANDS = ('-functions', '-callers-callees', '-calltree', '-calltree -inverted', '-csingle main', '-flamegraph',
            '-metrics e.total:i.total:size:address:name -sort i.total -name mangled:soname -functions')
CODE_COMMANDS = ('-source phase_spin', '-disasm phase_spin', '-lines', '-pcs', '-source phases.c', '-scc all -sthresh 1 -source main', '-fsingle phase_spin',
                 '-dcc src -disasm -hex main -name mangled -source phase_spin -functions', '-metrics e.total:name -sort name -lines -pcs', '-fsummary')
HEADER = 24


class Kept:
    """A recorded experiment and a cache of its own."""

    def __init__(self, t, *options):
        self.t = t
        self.experiment = t.collect(t.target('phases'), '0.05', options=options).experiment
        self.cache = t.directory / 'cache'

    def print(self, *words, cache='all', status=0):
        result = self.t.run(self.t.helio, 'print', *words, env={'HELIO_CACHE': cache, 'XDG_CACHE_HOME': str(self.cache)})
        self.t.equal(result.status, status, result.err)
        return result.out

    def functions(self):
        return self.print('-functions', self.experiment)

    def same_again(self, command):
        """What is printed twice with the cache is what is printed without, in both forms."""
        for mode in ('text', 'json'):
            words = ('-printmode', mode, *command.split(), self.experiment)
            expected = self.print(*words, cache='off')
            for again in range(2):
                self.t.equal(self.print(*words), expected, f'{command} as {mode}, time {again}')

    def files(self, ending=''):
        return sorted((self.cache / 'heliometer').glob('*' + ending))

    def rename_main(self):
        """What is kept says `niam` from now on: whoever prints that has it from there."""
        rewrite(self.files('.sums')[0], lambda body: body.replace(text('main'), text('niam')))


def text(string):
    """A text as it is kept."""
    return len(string).to_bytes(8, 'little') + string.encode() + b'\0'


def rewrite(file, change):
    """Another body with its right checksum."""
    data = file.read_bytes()
    body = change(data[HEADER:])
    file.write_bytes(data[:8] + len(body).to_bytes(8, 'little') + helio_reader.checksum(body, 0).to_bytes(8, 'little') + body)


@test
def metrics_without_events(t):
    """The columns of kinds that were recorded and had no event are there the second time too."""
    kept = Kept(t, '-i', 'on', '-s', 'on', '-H', 'on')
    kept.same_again('-functions')
    t.check('I/O Wait' in kept.functions(), 'no column of I/O waits')


@test
def what_others_can_write(t):
    """A kept file, or a directory of them, that somebody else owns or can write is not believed."""
    kept = Kept(t)
    expected = kept.functions()
    kept.rename_main()
    sums = kept.files('.sums')[0]
    t.check('niam' in kept.functions(), 'the kept file is not used')
    for place in sums, sums.parent:
        mode = place.stat().st_mode
        place.chmod(mode | 0o020)
        t.equal(kept.functions(), expected, f'{place.name} can be written by a group')
        place.chmod(mode)
        if t.as_root():
            os.chown(place, 65534, 65534)
            t.equal(kept.functions(), expected, f'{place.name} is another user\'s')
            os.chown(place, 0, 0)
        kept.functions()
        if place == sums:
            kept.rename_main()


@test
def links_of_others_on_the_way(t):
    """Nothing is made or removed where a link of another user's leads to, wherever it is in the path; one's own is followed."""
    t.need_root()
    kept = Kept(t)
    expected = kept.print('-functions', kept.experiment, cache='off')
    place = t.directory / 'place'
    for parts, link in (('cache/heliometer', 'cache'), ('cache/heliometer', 'cache/heliometer'), ('a/b/heliometer', 'a'), ('a/b/heliometer', 'a/b')):
        for owner in 65534, 0:
            shutil.rmtree(place, ignore_errors=True)
            (place / 'own').mkdir(parents=True)
            (place / 'own/0123456789abcdef.sums').write_text('kept')
            (place / link).parent.mkdir(parents=True, exist_ok=True)
            (place / link).symlink_to(place / 'own')
            os.chown(place / link, owner, owner, follow_symlinks=False)
            before = sorted(place.rglob('*'))
            kept.cache = place / pathlib.Path(parts).parent
            t.equal(kept.functions(), expected, f'{link} of {owner}')
            t.equal(sorted(place.rglob('*')) == before, owner != 0, f'{link} of {owner}: nothing made')


@test
def same_output(t):
    kept = Kept(t)
    for command in COMMANDS:
        kept.same_again(command)
    t.equal(len(kept.files()), 1, 'one file')


@test
def inlined_calls_are_kept(t):
    """Both trees come from what is kept, whichever was asked for first."""
    kept = Kept(t)
    kept.experiment = test_code.record(t, 0.3)[1].experiment
    t.check(' main\n' in kept.functions(), 'functions')
    for command in ('-calltree', '-calltree -functions -flamegraph -callers-callees', '-inlines off -calltree',
                    '-inlines on -functions -inlines off -functions -calltree', '-source work -calltree'):
        kept.same_again(command)
    t.check('header_work (inlined)' in kept.print('-calltree', kept.experiment), 'inlined calls')
    kept.rename_main()
    tree = kept.print('-calltree', kept.experiment)
    t.check('-niam\n' in tree and 'header_work (inlined)' in tree, f'not from what is kept: {tree}')
    t.check('(inlined)' not in kept.print('-calltree', '-inlines', 'off', '-calltree', '-functions', kept.experiment).split('Functions sorted')[1], 'functions')


NAMESAKES = {
    'one.c': """
static inline __attribute__((always_inline)) void spin(void) { for (volatile long i = 0; i < 60000000; i++) ; }
void (*volatile one)(void) = spin;
void other(void);
int main(void) { spin(); one(); other(); return 0; }
""",
    'two.c': """
static inline __attribute__((always_inline)) void spin(void) { for (volatile int i = 0; i < 60000000; i++) ; }
void __attribute__((noinline)) other(void) { spin(); }
"""}


@test
def inlined_calls_of_one_name(t):
    """A function of its own and inlined copies of it need nothing that tells them apart; copies of another file's do. What is kept says the same."""
    for name, source in NAMESAKES.items():
        (t.directory / name).write_text(source)
    t.equal(t.run(t.need('cc'), '-g', '-O2', '-o', 'namesakes', *NAMESAKES, cwd=t.directory).status, 0, 'status of cc')
    kept = Kept(t)
    kept.experiment = t.collect(t.directory / 'namesakes').experiment
    for time in 'first', 'kept':
        t.check(' main\n' in kept.functions(), f'functions, {time}')
        tree = kept.print('-calltree', kept.experiment)
        names = sorted(line.split('+-')[1] for line in tree.splitlines() if '-spin' in line)
        t.equal(names, ['spin', 'spin (inlined) [one.c]', 'spin (inlined) [two.c]'], f'{time}: {tree}')
    kept.same_again('-calltree')


@test
def is_used(t):
    kept = Kept(t)
    t.equal((kept.print('-functions', kept.experiment, cache='on'), kept.files())[1], [], 'small experiments are not kept')
    t.check(' main\n' in kept.functions() and kept.files(), 'the first time')
    kept.rename_main()
    t.check(' niam\n' in kept.functions(), 'the second time')
    t.check(' main\n' in kept.print('-functions', kept.experiment, cache='off'), 'off')
    # what needs the events takes nothing from it
    for words in (('-filters', 'THRID == 1', '-functions'), ('-functions', '-threads'), ('-functions', '-header')):
        t.check(' main\n' in kept.print(*words, kept.experiment), f'{words}')
    kept.print('--clear-cache')
    t.equal(kept.files(), [], '--clear-cache')


@test
def changes_are_seen(t):
    kept = Kept(t)
    profile = kept.experiment / 'profile'

    def copy_profile():
        data = profile.read_bytes()
        profile.unlink()
        profile.write_bytes(data)

    def touch_back():
        """The same size and time, other bytes: one event's state."""
        status = profile.stat()
        with open(profile, 'r+b') as file:
            file.seek(-1, os.SEEK_END)
            file.write(b'\0')
        os.utime(profile, ns=(status.st_atime_ns, status.st_mtime_ns))

    def archive():
        (kept.experiment / 'archives').mkdir(exist_ok=True)
        (kept.experiment / 'archives' / 'new').write_text('')

    for change in (copy_profile, touch_back, archive):
        kept.functions()
        kept.rename_main()
        t.check(' niam\n' in kept.functions(), 'kept')
        change()
        t.check(' niam\n' not in kept.functions(), change.__name__)
    t.equal(len(kept.files()), 1, 'files')
    # a copy elsewhere is another experiment
    kept.rename_main()
    shutil.copytree(kept.experiment, t.directory / 'copy.1.er')
    t.check(' niam\n' not in kept.print('-functions', 'copy.1.er'), 'a copy')


@test
def load_objects_are_seen(t):
    """A program that is built again has other names."""
    program = t.directory / 'program'
    shutil.copy(t.target('phases'), program)
    kept = Kept(t)
    kept.experiment = t.collect(program, '0.05', options=('-A', 'off')).experiment
    kept.functions()
    kept.rename_main()
    t.check(' niam\n' in kept.functions(), 'kept')
    t.check(' niam\n' not in kept.t.run(kept.t.helio, 'print', '-functions', kept.experiment, env={
        'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(kept.cache), 'HELIO_DEBUG_ROOT': str(t.directory)}).out, 'other debug files')
    kept.functions()
    kept.rename_main()
    os.utime(program)
    t.check(' niam\n' not in kept.functions(), 'the program has changed')


@test
def torn_files_are_not_believed(t):
    kept = Kept(t)
    expected = kept.functions()
    whole = kept.files()[0].read_bytes()
    torn = [whole[:size] for size in (0, 7, HEADER, len(whole) // 2, len(whole) - 1)]
    torn += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:] for at in (0, 8, 16, HEADER, len(whole) // 2, len(whole) - 1)]
    torn += [whole + b'\0']
    for data in torn:
        kept.files()[0].write_bytes(data)
        t.equal(kept.functions(), expected, f'{len(data)} of {len(whole)} bytes')
        t.equal(kept.files()[0].read_bytes() == whole, True, 'it has been replaced')
    # a right checksum over nonsense
    for at in range(0, len(whole) - HEADER, max(1, len(whole) // 50)):
        body = whole[HEADER:HEADER + at] + bytes(b ^ 0xff for b in whole[HEADER + at:HEADER + at + 8]) + whole[HEADER + at + 8:]
        kept.files()[0].write_bytes(whole[:16] + helio_reader.checksum(body, 0).to_bytes(8, 'little') + body)
        kept.functions()


@test
def what_has_the_place_of_a_kept_file(t):
    """A pipe, a device, a directory, a link to itself, another kept file, a hole: nobody waits for it, and what is printed is what is printed without it."""
    kept = Kept(t)
    words = ('-functions', '-calltree', '-disasm', 'main', kept.experiment)
    expected = kept.print(*words, cache='off')
    kept.print(*words)
    whole = {path: path.read_bytes() for path in kept.files()}
    t.check(len(whole) > 1, f'{list(whole)}')
    makers = {'a pipe': os.mkfifo, 'a device': lambda path: path.symlink_to('/dev/zero'), 'a directory': os.mkdir, 'a link to itself': lambda path: path.symlink_to(path.name),
              'another file': lambda path: path.write_bytes(next(data for other, data in whole.items() if other != path)),
              'a hole behind it': lambda path: (path.write_bytes(whole[path]), os.truncate(path, 1 << 40))}
    for path in whole:
        for what, make in makers.items():
            path.unlink()
            make(path)
            t.equal(kept.print(*words) == expected, True, f'{what} in place of {path.name}')
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
            path.write_bytes(whole[path])


@test
def running_programs_are_not_kept(t):
    kept = Kept(t)
    log = kept.experiment / 'log.xml'
    log.write_bytes(log.read_bytes().split(b'<event kind="exit"')[0])
    kept.functions()
    t.equal(kept.files(), [], 'no end, no sums')


@test
def space_is_limited(t):
    kept = Kept(t)
    (kept.cache / 'heliometer').mkdir(parents=True)
    for number in range(100):
        (kept.cache / 'heliometer' / f'{number:016x}.sums').write_text('old')
        os.utime(kept.cache / 'heliometer' / f'{number:016x}.sums', (number, number))
    kept.functions()
    names = [file.name for file in kept.files()]
    t.equal(len(names), 64, 'files')
    t.check(f'{99:016x}.sums' in names and f'{0:016x}.sums' not in names, 'the oldest go')


@test
def places_that_cannot_be_written(t):
    kept = Kept(t)
    expected = kept.print('-functions', kept.experiment, cache='off')
    kept.cache.write_text('a file where the directory should be')
    t.equal(kept.functions(), expected, 'no place')


@test
def same_output_of_code(t):
    """Alone, each the first time, and after each other: what one has not kept another reads from the load objects."""
    kept = Kept(t)
    for command in CODE_COMMANDS:
        kept.same_again(command)
        kept.print('--clear-cache')
        t.equal(kept.files(), [], '--clear-cache')
    for again in range(2):
        for command in CODE_COMMANDS:
            words = (*command.split(), kept.experiment)
            t.equal(kept.print(*words), kept.print(*words, cache='off'), f'{command} after others, time {again}')
    t.equal((len(kept.files('.sums')), len(kept.files('.sums.code'))), (1, 1), 'files')
    # a function that no event touched
    t.check('<Function: deregister_tm_clones>' in kept.print('-disasm', 'deregister_tm_clones', kept.experiment), 'no event')


@test
def code_is_used(t):
    kept = Kept(t)

    def source():
        return kept.print('-source', 'phase_spin', kept.experiment)

    true = source()
    unit = next(line for line in true.splitlines() if line.startswith('Object file: ')).split(': ')[1]
    other = 'y' * len(unit)
    rewrite(kept.files('.sums.code')[0], lambda body: text(other).join(body.rsplit(text(unit), 1)))
    t.check(f'Object file: {other}\n' in source(), 'the unit')
    bare = (kept.t.helio, 'src', '-source', 'phase_spin', t.target('phases'))
    places = {'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(kept.cache)}
    t.run(*bare, env=places)
    t.equal(len(kept.files('.source')), 2, 'the same file in an experiment and alone')
    for file in kept.files('.source'):
        rewrite(file, lambda body: body.replace(text('phase_spin'), text('spin_phase')))
    t.check('<Function: spin_phase>' in source(), 'the functions of the source')
    t.check('<Function: spin_phase>' in t.run(*bare, env=places).out, 'without an experiment')
    t.check(other not in kept.print('-filters', 'THRID > 0', '-source', 'phase_spin', kept.experiment), 'filters need events')
    # it belongs to these sums and no others
    kept.rename_main()
    t.check(f'Object file: {unit}\n' in source() and ' main\n' in kept.functions(), 'other sums')


@test
def changes_of_code_are_seen(t):
    program = t.directory / 'program'
    shutil.copy(t.target('phases'), program)
    kept = Kept(t)
    kept.experiment = t.collect(program, '0.05', options=('-A', 'off')).experiment
    true = kept.print('-source', 'phase_spin', kept.experiment)
    rewrite(kept.files('.source')[0], lambda body: body.replace(text('phase_spin'), text('spin_phase')))
    t.check('<Function: spin_phase>' in kept.print('-source', 'phase_spin', kept.experiment), 'kept')
    os.utime(program)
    t.equal(kept.print('-source', 'phase_spin', kept.experiment), true, 'the program has changed')


@test
def torn_files_of_code_are_not_believed(t):
    kept = Kept(t)
    words = ('-source', 'phase_spin', '-lines', '-pcs', kept.experiment)
    expected = kept.print(*words)
    # taken now: nonsense in the first makes more of the second
    for file in [kept.files(ending)[0] for ending in ('.sums.code', '.source')]:
        whole = file.read_bytes()
        for data in (whole[:0], whole[:HEADER], whole[:-1], whole[:HEADER] + bytes([whole[HEADER] ^ 1]) + whole[HEADER + 1:], whole + b'\0'):
            file.write_bytes(data)
            t.equal(kept.print(*words), expected, f'{file.name}: {len(data)} of {len(whole)} bytes')
            t.equal(file.read_bytes() == data, False, 'it has been replaced')
        # a right checksum over nonsense
        for at in range(0, len(whole) - HEADER, max(1, len(whole) // 60)):
            file.write_bytes(whole)
            rewrite(file, lambda body, at=at: body[:at] + bytes(b ^ 0xff for b in body[at:at + 3]) + body[at + 3:])
            kept.print(*words)
        file.write_bytes(whole)


@test
def start_up_files_may_need_events(t):
    kept = Kept(t)
    kept.functions()
    kept.rename_main()
    home = t.directory / 'home'
    home.mkdir()
    for line, expected in (('dmetrics e.user:name', ' niam\n'), ('object_hide libc.so.6', ' main\n')):
        (home / '.er.rc').write_text(line + '\n')
        shown = t.run(t.helio, 'print', '-functions', kept.experiment, cwd=t.directory,
                      env={'HELIO_CACHE': 'all', 'XDG_CACHE_HOME': str(kept.cache), 'HOME': str(home)}).out
        t.check(expected in shown, f'{line}: {shown}')
        kept.functions()
        kept.rename_main()
