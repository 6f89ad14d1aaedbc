# SPDX-License-Identifier: Apache-2.0
"""Every layout against its golden text, over experiments that are known by construction (tests/golden/)."""
import os
import pathlib
import re
import shlex
import sys

import harness
from harness import test

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / 'golden'
sys.path.insert(0, str(GOLDEN))
import make_experiment  # noqa: E402
import make_kinds  # noqa: E402
import make_openmp  # noqa: E402

# What prints the version of the tool, or what it used itself; what ends it, or reads what a test writes elsewhere.
NOT_HERE = {'version', 'procstats', 'quit', 'script', 'help', 'printmode', 'outfile', 'appendfile', 'open_exp', 'ignore_no_xhwcprof',
            'preload_libdirs', 'ignore_fs_warn'}


def run(t, command_line, experiment):
    """What one command line prints, as it stands in the file; an experiment that it names goes before the usual one."""
    words = shlex.split(command_line)
    if not words[-1].endswith('.er'):
        words.append(experiment)
    result = t.run(t.helio, 'print', *words, env={'TZ': 'UTC', 'LC_ALL': 'C', 'NO_COLOR': '1'})
    text = f'$ {command_line}\n{result.out}'
    if result.err:
        text += f'[stderr]\n{result.err}'
    if result.status:
        text += f'[exit {result.status}]\n'
    return text.replace(str(t.directory), 'DIR')


def register(path, experiment):
    def compare(t):
        expected = path.read_text()
        make_experiment.make(str(t.directory))
        make_kinds.make(str(t.directory))
        make_openmp.make(str(t.directory))
        text = ''.join(run(t, line, experiment) for line in re.findall(r'^\$ (.*)', expected, re.M))
        if os.environ.get('HELIO_GOLDEN') == 'write':
            path.write_text(text)
        elif text != expected:
            (t.directory / path.name).write_text(text)
            raise harness.Failure(f'diff {path} {t.directory / path.name}')
    compare.__name__ = path.name.replace('.txt', '').replace('.', '_')
    compare.__module__ = __name__
    test(compare)


for golden in sorted((GOLDEN / 'print').glob('*.txt')):
    register(golden, 'golden.1.er')
for golden in sorted((GOLDEN / 'every').iterdir()):
    register(golden, 'kinds.1.er')


@test
def has_every_command(t):
    """Commands that `help` lists and that print something, in all formats."""
    listed = set(re.findall(r'^    ([a-z_-]+)', t.run(t.helio, 'print', '-help').out, re.M))
    t.check(len(listed) > 80, listed)
    for form in ('text', 'json', 'delimited', 'html'):
        shown = set(re.findall(r' -([a-z_-]+)', ' '.join(re.findall(r'^\$ .*', ''.join(
            path.read_text() for path in (GOLDEN / 'every').glob(f'*.{form}')), re.M))))
        missing = listed - shown - NOT_HERE
        if form != 'text':
            missing -= {'tabs', 'rtabs', 'tlmode', 'tldata'}
        t.check(not missing, f'{form}: {sorted(missing)}')
