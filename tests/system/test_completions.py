# SPDX-License-Identifier: Apache-2.0
"""Shell completions: they offer what the program has, all of it, and work in the shells that are installed."""
import json
import re

from harness import test

OPTIONS = ('collect', 'attach', 'ctl', 'doctor', 'print', 'archive', 'check', 'index', 'rm', 'ls', 'info', 'cp', 'mv', 'diff', 'src', 'view', 'html')
FILES = {'bash': 'helio', 'zsh': '_helio', 'fish': 'helio.fish'}


def path_of(t, shell):
    return t.build / 'completions' / FILES[shell]


def text_of(t, shell):
    return path_of(t, shell).read_text()


@test
def know_all_commands(t):
    rows = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-help').out)['rows']
    t.check(len(rows) > 20, 'the commands')
    for row in rows:
        name = row['name']
        if name == 'quit' or row['group'] == 'Start-up files':  # of use there only
            continue
        for shell in ('bash', 'zsh'):
            t.check(re.search(rf"-{name}[\s\[']", text_of(t, shell)), f'{shell}: -{name}')
        t.check(f' -o {name} ' in text_of(t, 'fish'), f'fish: -{name}')


@test
def know_all_options(t):
    """All that the help shows, and nothing else; what the newer collect calls -a is not shown."""
    for subcommand in OPTIONS:
        rows = {frozenset(row.split(', ')) for row in re.findall(r'^  (?:    )?(-\w, --[a-z-]+|-\w|--[a-z-]+)(?: |=|$)',
                                                                t.run(t.helio, subcommand, '--help').out, re.M)}
        t.check(rows, f'options of {subcommand}')
        words = {word.partition('=')[0] for word in offered(t, subcommand, '-')}
        t.equal({word for row in rows for word in row if word.startswith('--')} - words, set(), f'bash does not offer: {subcommand}')
        if subcommand not in ('print', 'src'):  # their commands have one dash
            t.equal(words - {word for row in rows for word in row}, set(), f'bash offers: {subcommand}')
        fish = re.findall(rf"helio_subcommand {subcommand}'(?: -s (\w))?(?: -l ([a-z-]+))? ", text_of(t, 'fish'))
        t.equal({frozenset(word for word in (letter and f'-{letter}', name and f'--{name}') if word) for letter, name in fish} - {frozenset()},
                rows | ({frozenset({'-a'})} if subcommand == 'collect' else set()), f'fish: {subcommand}')
        for row in rows:
            for word in row:
                t.check(re.search(rf"[{{,' )]{word}[}},'=+\[]", text_of(t, 'zsh')), f'zsh: {subcommand} {word}')


def offered(t, *words):
    """What bash would show behind the last word."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _helio; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    result = t.run('bash', '-c', script, 'bash', path_of(t, 'bash'), 'helio', *words)
    t.equal((result.status, result.err), (0, ''), f'bash for {words}')
    return set(result.out.split())


@test
def bash_offers(t):
    (t.directory / 'run.1.er').mkdir()
    (t.directory / 'notes.txt').write_text('')
    t.equal(offered(t, 'col'), {'collect'}, 'subcommand')
    t.equal(offered(t, 'print', '-call'), {'-callers-callees', '-calltree'}, 'commands')
    t.equal(offered(t, 'print', '-callt'), {'-calltree'}, 'command')
    t.equal(offered(t, 'print', '-printmode', ''), {'text', 'html', 'json', 'run.1.er'}, 'argument, or experiment')
    t.equal(offered(t, 'print', '-functions', ''), {'run.1.er'}, 'experiments only')
    t.equal(offered(t, 'collect', '--engine', 'm'), {'monitor'}, 'engine')
    t.equal(offered(t, 'help', 'p'), {'print'}, 'help')
    t.equal(offered(t, 'rm', ''), {'run.1.er'}, 'rm')
    t.equal(offered(t, 'archive', '-s', ''), {'no', 'used', 'all'}, 'archive -s')


@test
def zsh_and_fish_can_read_them(t):
    for shell in ('zsh', 'fish'):
        program = t.need(shell)
        result = t.run(program, '-n', path_of(t, shell))
        t.equal((result.status, result.err), (0, ''), shell)


@test
def fish_offers(t):
    program = t.need('fish')
    (t.directory / 'run.1.er').mkdir()

    path = path_of(t, 'fish')

    def complete(line):
        result = t.run(program, '-c', f'source {path}; complete -C "{line}"')
        return {entry.split('\t')[0].rstrip('/') for entry in result.out.splitlines()}

    t.check('collect' in complete('helio col'), 'subcommand')
    t.check('-calltree' in complete('helio print -call'), 'command')
    t.check('run.1.er' in complete('helio print -functions '), 'experiment')
    t.check('monitor' in complete('helio collect --engine '), 'engine')
