# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the source files, and C text without comments and literals."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAIN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(*folders, suffixes=('.c', '.h', '.cc')):
    for folder in folders:
        yield from sorted(p for p in (ROOT / folder).rglob('*') if p.suffix in suffixes)


def plain(text):
    """The text with comments and literals blanked, lines kept."""
    def blank(match):
        token = match.group(0)
        filler = '""' if token[0] == '"' else '0' if token[0] == "'" else ' '
        return filler + '\n' * token.count('\n')
    return PLAIN.sub(blank, text)


def report(problems, what):
    for problem in problems:
        print(problem)
    print(f'{what}: {len(problems)} problem(s)' if problems else f'{what}: in order')
    return 1 if problems else 0
