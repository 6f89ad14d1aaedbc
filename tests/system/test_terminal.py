# SPDX-License-Identifier: Apache-2.0
"""Names that a hostile program gives to its functions, its file, its arguments: none of them controls a terminal."""
import os
import re
import shutil
import subprocess

import helio_reader
from harness import test

SOURCE = '''
#include <time.h>
volatile unsigned long counter;
void PLAIN(void);
void __attribute__((noinline)) PLAIN(void) { for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;) counter++; }
int main(void) { PLAIN(); return 0; }\r
'''
PLAIN = 'a_name_that_is_as_long_as_the_other_one_is'
HOSTILE = 'e\033]0;own\007\nroot# \u202egpj\u202c\u009b31mä日'
STYLES = [b'\033[0m', b'\033[1m', b'\033[36m', b'\033[31m', b'\033[32m', b'\033[1;31m', b'\033[1;33m']
CONTROLS = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]')


def build(t):
    """A program whose function has a name that no compiler lets through, and so has its file."""
    source = t.directory / 'hostile.c'
    source.write_text(SOURCE.replace('PLAIN', PLAIN), newline='')
    plain = t.directory / 'plain'
    t.equal(t.run(t.need('gcc'), '-g', '-O1', '-o', plain, source).status, 0, 'gcc')
    name = HOSTILE.encode()
    content = plain.read_bytes()
    t.check(content.count(PLAIN.encode()) >= 2, 'the symbol and its name in the debug information')
    program = t.directory / 'run\033[2J\u202e'
    program.write_bytes(content.replace(PLAIN.encode(), name + b'x' * (len(PLAIN) - len(name))))
    program.chmod(0o755)
    return program


def controls(text):
    for style in STYLES:
        text = text.replace(style.decode(), '')
    return CONTROLS.search(text)


@test
def names_do_not_reach_a_terminal(t):
    """Not as text, not with colours, not in messages; JSON has them escaped, as JSON does."""
    program = build(t)
    collected = t.run(t.helio, 'collect', '-o', 'x.er', program, 'arg\033[1mument', cwd=t.directory)
    t.equal(collected.status, 0, f'status of collect ({collected.err})')
    shown = 'e\\x1b]0;own\\x07\\x0aroot# \\u202egpj\\u202c\\u009b31mä日'
    renamed = t.directory / 'renamed'
    program.rename(renamed)
    t.equal(t.run(t.helio, 'collect', '-C', 'note\033[1m', '-o', 'y.er', renamed, cwd=t.directory).status, 0, 'status of collect')
    outputs = {'collect': collected.out + collected.err}
    for words in (['functions'], ['calltree'], ['callers-callees'], ['lines'], ['source', 'main'], ['disasm', 'main'], ['header'],
                  ['overview'], ['objects'], ['fsummary'], ['report'], ['experiment_list'], ['no such command\033[1m']):
        for experiment in 'x.er', 'y.er':
            result = t.run(t.helio, 'print', '--color=always', '-' + words[0], *words[1:], experiment, cwd=t.directory)
            outputs[f'{words[0]} {experiment}'] = result.out + result.err
    for words in (['ls'], ['info', 'x.er', 'y.er'], ['check', 'x.er', 'y.er'], ['info', 'no\033[1mne'], ['collect', 'no\033[1mne']):
        result = t.run(t.helio, *words, cwd=t.directory)
        outputs[' '.join(words)] = result.out + result.err
    for what, text in outputs.items():
        found = controls(text)
        t.check(not found, f'{what}: {text[max(0, found.start() - 40):found.end() + 20]!r}' if found else '')
    for what in 'functions y.er', 'calltree y.er', 'disasm y.er', 'source y.er':
        t.check(shown in outputs[what], f'{what} does not show the name: {outputs[what]}')
    t.check('return 0; }\n' in outputs['source y.er'], 'a source line with a carriage return at its end')
    rows = t.functions(t.directory / 'y.er')
    t.check(any(HOSTILE in name for name in rows), f'the name in JSON: {list(rows)}')


FORGED = 'a line that the tool never wrote'


@test
def names_of_several_lines(t):
    """A line of a table or a message is the tool's; one that a name would begin is shown within it."""
    program = build(t)
    odd = t.directory / f'run\n{FORGED}\nit'
    program.rename(odd)
    experiment = f'x\n{FORGED}\n.er'
    collected = t.run(t.helio, 'collect', '-o', experiment, odd, f'arg\n{FORGED}\nument', cwd=t.directory)
    t.equal(collected.status, 0, f'status of collect ({collected.err})')
    outputs = {'collect': collected.err}
    for command in 'header', 'objects', 'report', 'overview', 'experiment_list', 'functions', 'statistics', 'fsummary':
        result = t.run(t.helio, 'print', '-' + command, experiment, cwd=t.directory)
        outputs[command] = result.out + result.err
    shutil.copytree(t.directory / experiment, t.directory / f'2{experiment}')
    for words in ['ls'], ['diff', experiment, f'2{experiment}'], [f'no\n{FORGED}\nsubcommand'], ['info', experiment], ['check', experiment], ['info', f'none\n{FORGED}\n']:
        result = t.run(t.helio, *words, cwd=t.directory)
        outputs[words[0]] = result.out + result.err
    for what, text in outputs.items():
        t.check(FORGED not in text.splitlines(), f'{what}: {text}')
    for what in 'header', 'objects', 'ls', 'info', 'check':
        t.check(f'\\x0a{FORGED}' in outputs[what], f'{what} does not show the name: {outputs[what]}')
    t.check('e\\x1b]0;own' in outputs['functions'], f'a function of the program: {outputs["functions"]}')


RENAMED = '''
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
volatile unsigned long counter;
int main(void)
{
    prctl(PR_SET_NAME, "a\\nFORGED\\nc");
    for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)
        counter++;
    puts("ready");
    fflush(stdout);
    getchar();
    return 0;
}
'''


@test
def names_of_several_lines_that_are_no_functions(t):
    """What a process calls itself, a path on the command line, a source file, a counter's title in an experiment that somebody has changed."""
    source = t.directory / 'a\nFORGED\n.c'
    source.write_text(RENAMED)
    program, experiment = t.directory / 'renamed', 'd\nFORGED\n.er'
    t.equal(t.run(t.need('gcc'), '-g', '-O1', '-o', program, source).status, 0, 'gcc')
    with subprocess.Popen([t.helio, 'collect', '-h', 'page-faults', '-o', experiment, program], cwd=t.directory, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        t.equal(process.stdout.readline(), 'ready\n', 'the program')
        outputs = {word: t.run(t.helio, 'ctl', word, experiment).out for word in ('status', 'pause', 'resume')}
        process.stdin.write('\n')
    t.equal(process.returncode, 0, 'status of collect')
    log = t.directory / experiment / 'log.xml'
    text = log.read_text()
    t.check('title="Page Faults"' in text, f'no title in {text}')
    log.write_text(text.replace('title="Page Faults"', 'title="a&#10;FORGED&#10;c"'))
    for words in ['metric_list'], ['metrics', 'e.page-faults:name', '-sort', 'e.page-faults', '-functions', '-calltree', '-callers-callees'], ['source', 'main']:
        result = t.run(t.helio, 'print', '-' + words[0], *words[1:], experiment)
        outputs[words[0]] = result.out + result.err
    for what, text in outputs.items():
        forged = [line for line in text.splitlines() if line.strip().startswith('FORGED')]
        t.check(not forged, f'{what}: {text}')
        t.check('\\x0aFORGED' in text, f'{what} does not show the name: {text}')


def everything(t):
    """An experiment with all kinds of data: two processes, allocations, locks, I/O, counters, sample points."""
    script = f'{t.target("leaks")}; {t.target("locks")}; {t.target("io")}; true'
    return t.collect('sh', '-c', script, options=('-H', 'on', '-s', 'on', '-i', 'on', '-h', 'page-faults,97', '-S', '1', '-y', 'USR1,r', '-C', 'a note')).experiment


WORDS = {'FUNCTION': 'main', 'FUNCTION|FILE|FUNCTION\'FILE\'': 'main', 'FUNCTION|FILE': 'main', 'LOCK|N': '1', 'DATA': '<Total>', 'NAME': 'Seconds', 'EXPRESSION': '1',
         'METRIC': 'e.totalcpu', 'METRIC|default': 'e.totalcpu', 'NAME,...|all': 'all', 'on|off|=REGEX': 'on',
         'SPEC': 'e.totalcpu:name', 'WORD...': 'on', 'CLASS': 'all', 'PERCENT': '50', 'DIRECTORY': '.'}
ELSEWHERE = {'outfile', 'appendfile', 'open_exp', 'add_exp', 'drop_exp', 'script', 'quit', 'flamegraph'}  # what prints nothing, or ends the others


def every_command(t, experiment):
    """All commands of `print`, as its own list has them, one run each: with what they need, and with `all` where that is more."""
    for row in t.print(experiment, '-help')[0]['rows']:
        words = [word for word in re.sub(r'\[[^]]*\]+', '', row['arguments']).split() if row['name'] not in ELSEWHERE]
        missing = [word for word in words if word not in WORDS]
        t.equal(missing, [], f'{row["name"]} {row["arguments"]}: what to give it')
        if row['name'] not in ELSEWHERE:
            yield [f'-{row["name"]}', *(WORDS[word] for word in words)]
        if '|all]' in row['arguments']:
            yield [f'-{row["name"]}', 'all']


@test
def own_ends_of_lines_are_no_names(t):
    """Whatever is printed of names without any: every help, every command. An end of line is one, and not the text that shows one."""
    experiment = everything(t)
    outputs = {}
    helped = t.run(t.helio, 'help').out
    subcommands = re.findall(r'^  ([a-z]+) +\S', helped, re.MULTILINE)
    t.check({'collect', 'print', 'rm'} <= set(subcommands), f'subcommands in {helped}')
    runs = [('help', name) for name in subcommands] + [(name, '--help') for name in subcommands] + [(name,) for name in subcommands if name not in ('view', 'print', 'ls')]
    runs += [(name, experiment) for name in ('ls', 'info', 'check')] + [('collect', '-h'), ('collect', '-n', 'true'), ('doctor',), ('ls', '--bad'), ('print', '--bad')]
    runs += [('print', *words, experiment) for words in every_command(t, experiment)] + [('print', '-filters', '1 +', experiment), ('diff', experiment, experiment)]
    for words in runs:
        result = t.run(t.helio, *words)
        outputs[' '.join(map(str, words))] = result.out + result.err
    for what, text in outputs.items():
        found = re.search(r'.*\\(x[01][0-9a-f]|u20).*', text)
        t.check(not found, f'{what}: {found and found[0]}')
    for what, heading in ('-heapstat', 'Lifetimes'), ('-leaks', 'Leak #1'), ('-locks', 'Locks'), ('-iostat', 'Read Statistics'):
        t.check(heading in outputs[f'print {what} {experiment}'], f'{what}: {outputs[f"print {what} {experiment}"]}')


@test
def messages_begin_a_line(t):
    """Where a program's last line has no end, in a file that helio writes, too, a message stands on a line of its own; nothing else is added."""
    path = t.directory / 'messages'
    for command, said in ("printf 'prompt> ' >&2", 'prompt> '), ('echo says >&2', 'says\n'), ("echo says; printf 'no end'", 'says\nno end'), ('true', ''):
        for mode, before in ('w', ''), ('a', 'a line\n'), ('a', 'a begin'):
            path.write_text(before)
            with path.open(mode) as file:
                subprocess.run([t.helio, 'collect', '-O', 'm.er', 'sh', '-c', command], cwd=t.directory, stdout=file, stderr=file, check=True)
            text = path.read_text()
            own = [line + '\n' for line in text.split('\n') if line.startswith('helio collect: m.er: ')]
            parts = [before, own[0], said, *own[1:]] if own else [before]
            t.equal(text, ''.join(f'{part}\n' if part and not part.endswith('\n') else part for part in parts), f'{command} behind {before!r}')


@test
def characters_are_shown_whole(t):
    """A message that cuts what it cites does so between characters of several bytes."""
    experiment = t.collect(t.target('empty')).experiment
    for count in range(1, 70):
        result = subprocess.run([t.helio, 'print', '-filters', 'x' * (count % 3) + 'é€' * count, experiment], capture_output=True, check=False)
        t.check('�' not in result.stderr.decode(errors='replace') and '\\x' not in result.stderr.decode(errors='replace'),
                f'{count} characters: {result.stderr}')


@test
def paths_that_xml_cannot_hold(t):
    """A load object is found again whatever bytes its path has, and the second reader knows the path too."""
    program = build(t)
    for number, name in enumerate([b'\x01\x1f\t\r\n', '\u202e\u200f\ufeff'.encode(), '\uee00\uee01\ueeff\uee1b'.encode(), b'\xee\xb8\x1b\xff',
                                   b'\xff\xee\xb8\x81\x02', '\ufffe'.encode()]):
        odd = os.fsencode(t.directory) + b'/p' + name
        os.rename(program, odd)
        program = odd
        experiment = t.directory / f'{number}.er'
        result = t.run(t.helio, 'collect', '-A', 'off', '-o', experiment, os.fsdecode(odd))
        t.equal(result.status, 0, f'status of collect of {name} ({result.err})')
        t.check(any(HOSTILE in function for function in t.functions(experiment)), f'{name}: {list(t.functions(experiment))}')
        maps = [entry.get('name', '').encode('utf-8', 'surrogateescape') for entry in helio_reader.maps_of(str(experiment))]
        t.check(odd in maps or b'\xff' in name or name.startswith(b'\xee\xb8\x1b'), f'the second reader has {maps}')
