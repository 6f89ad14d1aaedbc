# SPDX-License-Identifier: Apache-2.0
"""Options of all subcommands: their forms, what is said of a wrong one, and that help and manual pages have the same."""
import re

from harness import ROOT, test

# Subcommand: its manual page, the status for a wrong command line, a misspelt option and what was meant.
SUBCOMMANDS = {
    'collect': ('collect', 1, '--clok', '--clock'),
    'attach': ('attach', 1, '--forr=1', '--for'),
    'ctl': ('ctl', 2, '--hepl', '--help'),
    'doctor': ('doctor', 2, '--jsn', '--json'),
    'diff': ('diff', 2, '--metrci=x', '--metric'),
    'print': ('print', 2, '--no-pagr', '--no-pager'),
    'view': ('view', 2, '--prot=1', '--port'),
    'html': ('html', 2, '--outptu=x', '--output'),
    'src': ('src', 2, '-sourec', '-source'),
    'ls': ('cp', 2, '--jsno', '--json'),
    'info': ('cp', 2, '--jsno', '--json'),
    'check': ('check', 2, '--quite', '--quiet'),
    'archive': ('archive', 2, '--reltive=x', '--relative'),
    'cp': ('cp', 2, '--hlep', '--help'),
    'mv': ('cp', 2, '--vresion', '--version'),
    'rm': ('cp', 2, '--forse', '--force'),
}


def helped(t, subcommand):
    """{options of one row} as the help has them, "-x" or "--name" each."""
    out = t.run(t.helio, subcommand, '--help').out
    rows = re.findall(r'^  (?:    )?(-\w, --[a-z-]+|-\w|--[a-z-]+)(?: |=|$)', out, re.M)
    return {frozenset(row.split(', ')) for row in rows}


def in_manual(page):
    text = (ROOT / 'docs' / 'man' / f'helio-{page}.1.scd').read_text()
    heads = re.findall(r'^\*-.*$', text.partition('# OPTIONS\n')[2].partition('\n# ')[0], re.M)
    options = [option for head in heads for option in head.split(';')]
    return {frozenset(re.findall(r'\*(--[a-z-]+|-\w)(?=[*=])', option)) for option in options} - {frozenset()}


@test
def manuals_have_the_options(t):
    pages = {}
    for subcommand, (page, *_) in SUBCOMMANDS.items():
        options = helped(t, subcommand)
        t.check(options, f'options of {subcommand}')
        pages.setdefault(page, set()).update(options)
        t.equal(options - in_manual(page), set(), f'{subcommand}: not in the manual')
    for page, options in pages.items():
        t.equal(in_manual(page) - options, set(), f'helio-{page}(1): not in the help')


@test
def a_wrong_option_has_a_remedy(t):
    for subcommand, (_, status, wrong, meant) in SUBCOMMANDS.items():
        result = t.run(t.helio, subcommand, wrong, 'x.er')
        t.equal((result.status, result.out), (status, ''), f'{subcommand} {wrong}')
        message = {'print': f'Error: Invalid command: {wrong} (did you mean {meant}?)',  # as the original says it
                   'src': f"Error: unrecognized argument '{wrong}': did you mean {meant}?"}
        t.equal(result.err.splitlines()[0], message.get(subcommand, f"helio {subcommand}: unrecognized argument '{wrong}': did you mean {meant}?"), wrong)
        t.check(f'helio {subcommand} --help' in result.err.splitlines()[1], result.err)


@test
def a_function_before_the_object_is_no_option_of_src(t):
    """As `objdump` and `nm` are called; and an option without its dash."""
    for words, remedy in ((('work',), "unrecognized argument 'work': -source work shows the source of it, -disasm work its instructions"),
                          (('source', 'work'), "unrecognized argument 'source': did you mean -source?")):
        result = t.run(t.helio, 'src', *words, t.helio)
        t.equal((result.status, result.out, result.err.splitlines()[0]), (2, '', f'Error: {remedy}'), words)


@test
def help_ends_the_options(t):
    for subcommand in SUBCOMMANDS:
        first = t.run(t.helio, subcommand, '--help')
        t.equal((first.status, first.err), (0, ''), subcommand)
        for words in ('--nonsense',), ('none.er',):
            result = t.run(t.helio, subcommand, '--help', *words)
            t.equal((result.status, result.out, result.err), (0, first.out, ''), f'{subcommand}: what follows is not read')


@test
def forms_of_getopt(t):
    """Those that getopt_long reads: letters together, an argument with its letter, beginnings of names, options behind operands."""
    for words in (('-jq',), ('--js', '--qu'), ('none.er', '-qj'), ('-q', '--json', '--', 'none.er')):
        result = t.run(t.helio, 'check', *words, *([] if 'none.er' in words else ['none.er']))
        t.equal((result.status, result.err), (2, ''), f'check {words}')
        t.check('"verdict": "unreadable"' in result.out or '"path": "none.er"' in result.out, result.out)
    for words in (('-as', 'none.er'), ('--arch', 'nonsense', 'none.er'), ('-anonsense', 'none.er'), ('-qFanonsense', 'none.er')):
        result = t.run(t.helio, 'archive', *words)
        t.check(result.status == 2 and 'Unrecognized archive-mode parameter' in result.err, f'{words}: {result.err}')
    t.check("'--re' may be" not in t.run(t.helio, 'archive', '--re', 'x').err, 'one name begins so')
    t.check("'--f' may be --founder or --force" in t.run(t.helio, 'archive', '--f').err, 'two begin so')
    t.equal(t.run(t.helio, 'rm', '-f', '--', '-f').status, 0, 'a name with a dash')
    t.equal(t.run(t.helio, 'rm', '-f', '--', '-f').err, '', 'a name with a dash')
