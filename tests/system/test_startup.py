# SPDX-License-Identifier: Apache-2.0
"""Start-up files in their three places, and the descendants that count."""
import json
import os

import test_print
from harness import test


class Places:
    """A system, a home and a current directory, each with a file or none."""

    def __init__(self, t, **texts):
        self.t = t
        self.experiment = t.directory / 'golden.1.er'
        if not self.experiment.exists():
            test_print.golden(t)
        for place in ('system', 'home', 'here'):
            directory = t.directory / place
            directory.mkdir(exist_ok=True)
            (directory / ('er.rc' if place == 'system' else '.er.rc')).write_text(texts.get(place, ''))

    def print(self, *words, status=0, mode='json'):
        directory = self.t.directory
        result = self.t.run(self.t.helio, 'print', '-printmode', mode, *words, self.experiment, cwd=directory / 'here',
                            env={'HOME': str(directory / 'home'), 'HELIO_SYSCONFDIR': str(directory / 'system')})
        self.t.equal(result.status, status, result.err)
        self.said = result.out + result.err
        return result

    def metrics(self, *words):
        listed = json.loads(self.print(*words, '-metrics').out)
        return listed['specification'], ('-' if listed['reverse'] else '') + listed['sort']


@test
def defaults_of_metrics(t):
    usual = Places(t).metrics()
    places = Places(t, system='dmetrics e.user:size', home='# mine\n\nDMETRICS i.user:e.bogus', here='dmetrics e.!lock:e.user%name')
    t.equal(usual, places.metrics('--no-startup'), 'none')
    places = Places(t, system='dmetrics e.user:size\ndsort e.user', home='# mine\n\nDMETRICS i.user:e.bogus\n', here='dmetrics e.!lock')
    t.equal(places.metrics(), ('e!.lock:i.user:e.user:size:name', 'e.user'), 'the nearest first, without what has no data')
    t.equal(places.metrics('-metrics', 'e.sleep', '-metrics', 'default')[0], 'e!.lock:i.user:e.user:size:name', 'default')
    t.equal(Places(t, home='dsort e.heapleakcnt:i.user:e.lock').metrics()[1], 'i.user', 'the first that has data')
    t.equal(Places(t, home='dsort -i.user').metrics()[1], '-i.user', 'reversed')
    t.equal(Places(t, system='dsort e.user', here='dsort i.lock').metrics()[1], 'i.lock', 'the nearest wins')


@test
def files_of_others(t):
    """A directory may be somebody else's, such as /tmp: what another user can write gives no commands; a pipe is not waited for."""
    places = Places(t, here='dsort i.user')
    usual = Places(t).metrics()
    file = t.directory / 'here' / '.er.rc'
    file.write_text('dsort i.user')
    t.equal(places.metrics()[1], 'i.user', 'an own one')
    file.chmod(0o666)
    t.equal(places.metrics(), usual, 'one that everybody can write')
    file.chmod(0o644)
    if t.as_root():
        os.chown(file, 0, 65534)
        file.chmod(0o664)
        t.equal(places.metrics(), usual, 'one that a group can write')
        t.check('is not read: others can write it' in places.said, places.said)
        os.chown(file, 0, 0)
        t.equal(places.metrics()[1], 'i.user', "one that the group of the user's own number can write")
        file.chmod(0o644)
        os.chown(file, 65534, 65534)
        t.equal(places.metrics(), usual, 'one of another user')
        os.chown(file, 0, 0)
        os.chown(file.parent, 65534, 65534)
        t.equal(places.metrics(), usual, 'an own one, in a directory whose owner may have moved it there')
        os.chown(file.parent, 0, 0)
        file.parent.chmod(0o1777)
        t.equal(places.metrics()[1], 'i.user', 'an own one in a directory like /tmp')
        os.chown(file.parent, 0, 65534)
        file.parent.chmod(0o2775)
        t.equal(places.metrics()[1], 'i.user', 'an own one in a directory that a group shares')
    file.unlink()
    os.mkfifo(file)
    t.equal(places.metrics(), usual, 'a pipe')


@test
def defaults_of_one_file(t):
    """Its lines come one after the other, and what else is set stays."""
    places = Places(t, here='limit 3\ndmetrics e.lock\nname long\ndmetrics i.user:e.user\ndmetrics size', home='dmetrics address:e.sleep')
    t.equal(places.metrics()[0], 'e.lock:i.user:e.user:size:address:e.sleep:name', 'the nearest file first, each in its order')
    for order in ('limit 3\ndmetrics e.user', 'dmetrics e.user\nlimit 3'):
        places = Places(t, here=order)
        rows = [json.loads(places.print(*words, '-functions').out.splitlines()[-1])['rows'] for words in ((), ('-limit', '0'))]
        t.check(len(rows[0]) == 3 < len(rows[1]), f'{order}: {len(rows[0])} of {len(rows[1])}')


@test
def objects_of_start_up_files(t):
    """They are commands from the first word of the command line on."""
    places = Places(t, here='indxobj_define Tens TSTAMP/10000000')
    t.equal(places.print('-Tens').out, places.print('-indxobj', 'Tens').out, 'by its name')
    t.check('Invalid command: -Tens' in places.print('--no-startup', '-Tens', status=2).err, 'without start-up files')


@test
def defaults_stay(t):
    """Experiments that are opened later have the same defaults."""
    places = Places(t, home='dmetrics i.lock')
    script = t.directory / 'script'
    script.write_text(f'metrics e.user\nopen_exp {places.experiment}\nmetrics default\nmetrics\n')
    result = places.print('-script', script)
    t.equal(json.loads(result.out.splitlines()[-1])['specification'], 'i.lock:name', result.err)


@test
def settings(t):
    """The nearest file prevails, nothing is echoed, and what stands on the command line prevails over all."""
    def names(places, *words):
        result = places.print(*words, '-functions', mode='text')
        t.equal('Name format' in result.err, bool(words), 'echo')
        return result.out

    text = names(Places(t, system='name mangled', home='name short\nlimit 12', here='tabs functions:source\ntldata sample'))
    t.check('app::Worker::run\n' in text and len(text.splitlines()) <= 20, 'short')
    text = names(Places(t, home='name short', here='name mangled:soname'))
    t.check('_ZN3app6Worker3runEi [app]\n' in text, 'mangled')
    text = names(Places(t, here='name mangled'), '-name', 'long')
    t.check('app::Worker::run(int)\n' in text, 'the command line')


@test
def mistakes_are_warnings(t):
    places = Places(t, home='limit 3\nfunctions\nnonsense 1\nlimit x\nname "long\nmetrics e.user\noutfile x\nscript x\n')
    result = places.print('-functions', mode='text')
    t.equal(len(result.out.splitlines()), 9, result.out)
    for line, text in ((2, 'functions may not stand in a start-up file'), (3, 'Unrecognized .er.rc command: nonsense'),
                       (4, 'Invalid number'), (5, 'A quotation mark is not closed'), (6, 'metrics may not stand'),
                       (7, 'outfile may not stand'), (8, 'script may not stand')):
        t.check(f'/home/.er.rc, line {line}: {text}' in result.err, f'{text}: {result.err}')
    result = Places(t).print('-dmetrics', 'e.user', status=1)
    t.check('may only stand in a start-up file' in result.err, result.err)


@test
def descendants(t):
    """The golden experiment has a child, _f1, whose program is the founder's."""
    founder, all_of_them = 0, 0
    for lineage, *_, thread in test_print.make_experiment.THREADS:
        for _, state, units in thread:
            seconds = units * test_print.SECONDS if state == 'user' else 0
            all_of_them += seconds
            founder += seconds if lineage == '' else 0
    t.check(founder < all_of_them, 'the child has user CPU time')
    places = Places(t)
    for words, expected, selected in (((), all_of_them, [True, True]), (('-en_desc', 'off'), founder, [True, False]),
                                      (('-en_desc', 'off', '-en_desc', 'on'), all_of_them, [True, True]),
                                      (('-en_desc', '=_f[0-9]'), all_of_them, [True, True]), (('-en_desc', '=app'), all_of_them, [True, True]),
                                      (('-en_desc', '=_f'), founder, [True, False]), (('-en_desc', '=_f2|sh'), founder, [True, False])):
        functions, listed = map(json.loads, places.print(*words, '-metrics', 'e.user', '-functions', '-experiment_list').out.splitlines())
        t.near(functions['rows'][0]['e.user'], expected, f'{words}', absolute=1e-9)
        t.equal([row['selected'] for row in listed['rows']], selected, f'{words}: selected')
    functions = json.loads(Places(t, here='en_desc off').print('-metrics', 'e.user', '-functions').out)
    t.near(functions['rows'][0]['e.user'], founder, 'in a start-up file', absolute=1e-9)
    for word in ('maybe', '=('):
        t.check('en_desc takes' in places.print('-en_desc', word, status=1).err, word)
