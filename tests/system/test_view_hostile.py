# SPDX-License-Identifier: Apache-2.0
"""`helio view`, `helio html` and files for output where other users can put links: what is not named stays as it was."""
import os
import pathlib
import signal
import sys

from harness import ROOT, test
from test_paths import state
from view_server import Server, wait_until

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402

OTHER = 65534


def link_of_another(path, target):
    path.symlink_to(target)
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


def treasure_of(t, *names):
    treasure = t.directory / 'treasure'
    treasure.mkdir()
    for name in names:
        (treasure / name).write_text('what root owns\n')
    return treasure


@test
def a_socket_in_a_directory_of_another_user(t):
    """Where others could put one in its place it is refused, also through a link of theirs; one's own directory serves."""
    t.need_root()
    make_kinds.make(str(t.directory))
    for name, mode, owner, group in (('theirs', 0o755, OTHER, OTHER), ('for_all', 0o777, 0, 0), ('for_a_group', 0o775, 0, OTHER), ('for_root_s_own_group', 0o775, 0, 0),
                                     ('own', 0o755, 0, 0), ('sticky', 0o1777, 0, 0), ('sticky_for_a_group', 0o1775, 0, OTHER)):
        (t.directory / name).mkdir()
        os.chown(t.directory / name, owner, group)
        (t.directory / name).chmod(mode)
    link_of_another(t.directory / 'link', t.directory / 'own')
    for place in 'theirs', 'for_all', 'for_a_group', 'link':
        result = t.run(t.helio, 'view', '--no-open', '--unix', f'{place}/s', 'kinds.1.er', timeout=60)
        t.check(result.status == 1 and ('others could put a socket' in result.err or 'a link of another user' in result.err), f'{place}: {result.status} {result.err}')
    for place in 'own/s', 'sticky/s', 'sticky_for_a_group/s', 'for_root_s_own_group/s', f'{t.directory}/own/s', 's':
        with Server(t, '--unix', place, 'kinds.1.er'):
            t.check((t.directory / place).is_socket(), place)
        t.check(not (t.directory / place).exists(), f'{place} at the end')


@test
def a_socket_whose_directory_is_exchanged(t):
    """At the end what was made goes, and nothing else by its name: neither in another directory nor in its place."""
    make_kinds.make(str(t.directory))
    treasure = treasure_of(t, 'view.sock')
    (t.directory / 'place').mkdir()
    before = state(treasure)
    with Server(t, '--unix', 'place/view.sock', 'kinds.1.er'):
        (t.directory / 'place').rename(t.directory / 'moved')
        (t.directory / 'place').symlink_to(treasure)
    t.equal(state(treasure), before, 'what has the path now')
    t.equal(list((t.directory / 'moved').iterdir()), [], 'the socket')
    with Server(t, '--unix', 'moved/view.sock', 'kinds.1.er'):
        (t.directory / 'moved/view.sock').unlink()
        (t.directory / 'moved/view.sock').write_text('another')
    t.equal((t.directory / 'moved/view.sock').read_text(), 'another', 'what has the name now')
    result = t.run(t.helio, 'view', '--no-open', '--unix', 'moved/view.sock', 'kinds.1.er', timeout=60)
    t.check(result.status == 1 and (t.directory / 'moved/view.sock').read_text() == 'another', f'no socket is there: {result.err}')


@test
def notes_of_what_was_exchanged(t):
    """Written with the rights of who owns the experiment; never through a link of another user's, nor where no experiment is any more."""
    t.need_root()
    make_kinds.make(str(t.directory))
    experiment, treasure = t.directory / 'kinds.1.er', treasure_of(t, 'notes', 'log.xml')
    for path in experiment, *experiment.rglob('*'):
        os.chown(path, OTHER, OTHER)

    def write(server):
        return server.post('notes', {'session': 1, 'experiment': 'kinds.1.er', 'text': 'new'})

    with Server(t, 'kinds.1.er') as server:
        t.equal(write(server).status, 204, 'notes')
        t.equal((experiment / 'notes').stat().st_uid, OTHER, 'whose they are')
        experiment.rename(t.directory / 'moved.er')
        before = state(treasure)
        link_of_another(experiment, treasure)
        t.equal(write(server).status, 422, 'a link of another user')
        t.equal(state(treasure), before, 'what the link leads to')
        experiment.unlink()
        experiment.mkdir()
        reply = write(server)
        t.check(reply.status == 422 and 'something else has its name now' in reply.error, f'no experiment: {reply.body}')
        t.equal(list(experiment.iterdir()), [], 'what is in it')


@test
def settings_in_a_directory_of_another_user(t):
    """Nothing is saved where start-up files are not read from, nor over a file of others, of which no line becomes one's own."""
    t.need_root()
    make_kinds.make(str(t.directory))
    file = t.directory / '.er.rc'
    with Server(t, 'kinds.1.er') as server:
        for owner, mode in (OTHER, 0o755), (0, 0o777):
            os.chown(t.directory, owner, owner)
            t.directory.chmod(mode)
            reply = server.post('save', {'settings': [['limit', '4']]})
            t.check(reply.status == 422 and 'that not all can write' in reply.error, f'{owner} {mode:o}: {reply.status} {reply.body}')
            t.check(not file.exists(), 'a file was made')
        os.chown(t.directory, 0, 0)
        t.directory.chmod(0o1777)
        file.write_text('viewmode expert\n')
        os.chown(file, OTHER, OTHER)
        t.equal(server.post('save', {'settings': [['limit', '4']]}).status, 422, 'in a directory as /tmp')
        t.equal((file.read_text(), file.stat().st_uid), ('viewmode expert\n', OTHER), 'the file')
    t.directory.chmod(0o755)


@test
def files_for_output_through_links(t):
    """-outfile, -appendfile, -flamegraph FILE and html -o write through no link of another user's, wherever it is; through one's own, and to devices."""
    t.need_root()
    make_kinds.make(str(t.directory))
    treasure = treasure_of(t, 'file')
    link_of_another(t.directory / 'theirs', treasure)
    link_of_another(t.directory / 'it', treasure / 'file')
    (t.directory / 'own').symlink_to(treasure)
    (t.directory / 'own_to_theirs').symlink_to('theirs')
    writers = {'outfile': ('print', '-outfile', '{}', '-functions', 'kinds.1.er'), 'appendfile': ('print', '-appendfile', '{}', '-functions', 'kinds.1.er'),
               'flamegraph': ('print', '-flamegraph', '{}', 'kinds.1.er'), 'html': ('html', 'kinds.1.er', '-o', '{}')}
    if 'built without its page' in t.run(t.helio, 'html', 'kinds.1.er', '-o', 'page').err:
        del writers['html']
    before = state(treasure)
    for name, words in writers.items():
        def write(place):
            return t.run(t.helio, *(word.replace('{}', place) for word in words), timeout=60)

        for place in 'theirs/file', 'theirs/new', 'it', 'own_to_theirs/file', './/theirs/../treasure/file':
            result = write(place)
            t.check('Operation not permitted' in result.err, f'{name} to {place}: {result.err}')
            t.equal(state(treasure), before, f'what {name} to {place} has changed')
        for place in 'own/new', 'new', f'{t.directory}/newer':
            result = write(place)
            t.check((t.directory / place).stat().st_size > 100, f'{name} to {place}: {result.err}')
            (t.directory / place).unlink()
        t.check('able to' not in write('/dev/null').err and 'cannot' not in write('/dev/null').err, f'{name} to /dev/null')
        t.check(len(write('/dev/stdout').out) > 100, f'{name} to /dev/stdout')
        os.mkfifo(t.directory / 'pipe')
        os.chown(t.directory / 'pipe', OTHER, OTHER)
        t.check('No such device' in write('pipe').err, f'{name} to a pipe of another user that nobody reads')
        (t.directory / 'pipe').unlink()


@test
def a_program_that_prints_for_ever(t):
    """What it prints under `record` takes little memory, and its end can be seen."""
    make_kinds.make(str(t.directory))
    with Server(t, 'kinds.1.er') as server:
        number = server.post('record', {'command': 'collect', 'options': ['-o', 'new.1.er'], 'program': ['sh', '-c', 'yes | head -c 60000000; echo the end; exec sleep 600']}).json['recording']

        def row():
            return server.get('recordings').json[number - 1]

        wait_until(lambda: row()['output'].endswith('the end\n'), 'it has printed')

        def used():
            files = [pathlib.Path(f'/proc/{server.process.pid}/fd/{name}') for name in os.listdir(f'/proc/{server.process.pid}/fd')]
            return sum(file.stat().st_blocks * 512 for file in files if 'memfd:recording' in os.readlink(file))

        wait_until(lambda: used() < 1 << 20, 'memory is given back')
        t.equal((row()['experiment'], len(row()['output'])), ('new.1.er', 65536), 'what is told of it')
        server.post('stop', {'recording': number})
        log = t.directory / 'new.1.er' / 'log.xml'
        os.kill(int(log.read_text().partition('<process pid="')[2].partition('"')[0]), signal.SIGTERM)
        wait_until(lambda: not row()['running'], 'it ends')


# What a request has in place of a path, a number or a word.
HOSTILE = ('/etc', '../outside/kinds.1.er', 'kinds.1.er/../../outside/kinds.1.er', 'pipe.er', 'pipe.erg', 'endless', '/dev/zero', '/proc/self/mem', '.', '', 'a/' * 3000, 'kinds.1.er\0x',
           '\x1b[2J\u202e', '--', '|id', '%s%n', -1, 1e308, 2 ** 63, None, True, {}, [[]])
# A body of each request that does nothing, or what it does is undone.
BODIES = {
    'login': {'token': 'x'}, 'print': {'session': 1, 'settings': [], 'commands': [['header']], 'id': '1', 'format': 'json'}, 'cancel': {'id': '1'},
    'open': {'experiments': ['kinds.1.er'], 'id': '1'}, 'refresh': {'session': 1, 'id': '1'}, 'close': {'session': 99}, 'record': {'command': 'collect', 'options': [], 'program': [], 'pid': 0},
    'stop': {'recording': 99}, 'notes': {'session': 99, 'experiment': 'kinds.1.er', 'text': 'x'}, 'save': {'settings': [['none', 'x']]},
}


@test
def paths_in_every_parameter(t):
    """Whatever has the place of a parameter, a command or a command's argument: an answer comes at once that says what is wrong, the server goes on, and nothing is opened or written elsewhere."""
    outside, start = t.directory / 'outside', t.directory / 'start'
    for place in outside, start:
        place.mkdir()
        make_kinds.make(str(place))
    os.mkfifo(start / 'pipe.er')
    os.mkfifo(start / 'pipe.erg')
    (start / 'endless').symlink_to('endless')
    before = state(t.directory)
    with Server(t, '--', 'kinds.1.er', before=['env', '-C', start]) as server:
        expected = server.print(['functions']).json['results']
        for name, body in BODIES.items():
            for parameter in body:
                for value in [form for hostile in HOSTILE for form in (hostile, [hostile], [['x', hostile]])]:
                    if (name, parameter) == ('record', 'program') and isinstance(value, list) and isinstance(value[0], str):
                        continue  # that would be run
                    reply = server.post(name, {**body, parameter: value})
                    t.check(reply.status in (200, 204, 400, 401, 403, 404, 422, 429), f'{name}, {parameter} {value!r}: {reply.status} {reply.body[:300]}')
                    if name in ('open', 'refresh') and reply.status == 200:  # by an odd id
                        t.check(parameter == 'id', f'{value} was opened')
                        server.post('close', {'session': reply.json['session']})
        for command in server.get('bootstrap').json['commands']:
            for value in [hostile for hostile in HOSTILE if isinstance(hostile, str)]:
                reply = server.print([command['name'], value], [command['name'], value, value])
                t.check(reply.status in (200, 400), f'{command["name"]} {value!r}: {reply.status} {reply.body[:300]}')
        t.equal(server.print(['functions']).json['results'], expected, 'functions afterwards')
    t.equal(state(t.directory), before, 'what is there')
