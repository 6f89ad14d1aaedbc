# SPDX-License-Identifier: Apache-2.0
"""Every layout against its golden text, over an experiment that is known by construction (tests/golden/)."""
import os
import pathlib
import shlex
import sys

import harness
from harness import test

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / 'golden'
sys.path.insert(0, str(GOLDEN))
import make_experiment  # noqa: E402


def actual_text(t, command_line):
    make_experiment.make(str(t.directory))
    result = t.run(t.helio, 'print', *shlex.split(command_line), 'golden.1.er',
                   env={'TZ': 'UTC', 'LC_ALL': 'C', 'NO_COLOR': '1'})
    text = f'$ {command_line}\n{result.out}'
    if result.err:
        text += f'[stderr]\n{result.err}'
    if result.status:
        text += f'[exit {result.status}]\n'
    return text.replace(str(t.directory), 'DIR')


def register(path):
    def compare(t):
        expected = path.read_text()
        text = actual_text(t, expected.splitlines()[0].removeprefix('$ '))
        if os.environ.get('HELIO_GOLDEN') == 'write':
            path.write_text(text)
        elif text != expected:
            (t.directory / path.name).write_text(text)
            raise harness.Failure(f'diff {path} {t.directory / path.name}')
    compare.__name__ = path.stem
    compare.__module__ = __name__
    test(compare)


for golden in sorted((GOLDEN / 'print').glob('*.txt')):
    register(golden)
