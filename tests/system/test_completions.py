# SPDX-License-Identifier: Apache-2.0
"""Shell completions: they offer what the program has, all of it, and work in the shells that are installed."""
import json
import re

from harness import ROOT, test

FILES = {'bash': 'helio.bash', 'zsh': '_helio', 'fish': 'helio.fish'}


def text_of(shell):
    return (ROOT / 'completions' / FILES[shell]).read_text()


@test
def know_all_commands(t):
    rows = json.loads(t.run(t.helio, 'print', '-printmode', 'json', '-help').out)['rows']
    t.check(len(rows) > 20, 'the commands')
    for row in rows:
        name = row['name']
        if name == 'quit' or row['group'] == 'Start-up files':  # of use there only
            continue
        for shell in ('bash', 'zsh'):
            t.check(re.search(rf"-{name}[\s\[']", text_of(shell)), f'{shell}: -{name}')
        t.check(f' -o {name} ' in text_of('fish'), f'fish: -{name}')


@test
def know_all_options(t):
    for subcommand, least in (('collect', 4), ('print', 4), ('archive', 9), ('check', 4), ('rm', 4), ('ls', 3), ('info', 3),
                              ('cp', 2), ('mv', 2), ('diff', 5), ('src', 2), ('attach', 2)):
        options = set(re.findall(r'^ +(?:-\w, )?--([a-z-]+)', t.run(t.helio, subcommand, '--help').out, re.M))
        t.check(len(options) >= least, f'options of {subcommand}: {options}')
        for option in options:
            t.check(f'--{option}' in text_of('bash'), f'bash: {subcommand} --{option}')
            t.check(f'--{option}' in text_of('zsh'), f'zsh: {subcommand} --{option}')
            t.check(re.search(rf'helio_subcommand {subcommand}.* -l {option} ', text_of('fish')),
                    f'fish: {subcommand} --{option}')


def offered(t, *words):
    """What bash would show behind the last word."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _helio; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    result = t.run('bash', '-c', script, 'bash', ROOT / 'completions' / 'helio.bash', 'helio', *words)
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
        result = t.run(program, '-n', ROOT / 'completions' / FILES[shell])
        t.equal((result.status, result.err), (0, ''), shell)


@test
def fish_offers(t):
    program = t.need('fish')
    (t.directory / 'run.1.er').mkdir()

    def complete(line):
        result = t.run(program, '-c', f'source {ROOT}/completions/helio.fish; complete -C "{line}"')
        return {entry.split('\t')[0].rstrip('/') for entry in result.out.splitlines()}

    t.check('collect' in complete('helio col'), 'subcommand')
    t.check('-calltree' in complete('helio print -call'), 'command')
    t.check('run.1.er' in complete('helio print -functions '), 'experiment')
    t.check('monitor' in complete('helio collect --engine '), 'engine')
