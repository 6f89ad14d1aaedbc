# SPDX-License-Identifier: Apache-2.0
"""How far long work is, on a terminal; and Ctrl-C, which ends a command and not the session."""
import os
import pty
import re
import sys
import time

from harness import ROOT, patience, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
import make_kinds  # noqa: E402


def on_a_terminal(t, *arguments, typed='', **environment):
    """All that helio print writes to a terminal there; every look at the clock is a second later (targets/hasty.c)."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(t.directory)
        os.execve(t.helio, [str(t.helio), 'print', '--no-pager', *map(str, arguments)],
                  {**os.environ, 'LD_PRELOAD': t.target('libhasty.so'), 'TERM': 'vt100', 'NO_COLOR': '1', **environment})
    os.write(terminal, typed.encode())
    text, end = b'', time.monotonic() + 60 * patience()
    try:
        while time.monotonic() < end:
            piece = os.read(terminal, 4096)
            if not piece:
                break
            text += piece
    except OSError:  # the terminal's other side is closed
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return text.decode(errors='replace'), status


@test
def line_of_long_work(t):
    make_kinds.make(str(t.directory))
    text, status = on_a_terminal(t, '-filters', 'TSTAMP > 1', '-functions', 'kinds.1.er')
    shown = [int(share) for share in re.findall(r'(\d+) %', text.split('Functions sorted')[0])]
    t.check(status == 0 and shown and max(shown) <= 100, f'{status} {text!r}')
    t.check('hot_loop' in text and '\x1b[K' in text, text)


@test
def none_but_on_a_terminal(t):
    make_kinds.make(str(t.directory))
    result = t.run(t.helio, 'print', '-functions', 'kinds.1.er', env={'LD_PRELOAD': t.target('libhasty.so')})
    t.equal((result.status, result.err), (0, ''), 'stderr')


@test
def interrupted_command(t):
    """The command says so and prints nothing; the next one has all events."""
    make_kinds.make(str(t.directory))
    for look in range(2, 60):  # it may come between two commands, too
        text, status = on_a_terminal(t, 'kinds.1.er', typed='filters "TSTAMP > 1"\nfunctions\nquit\n', HASTY_INTERRUPT=str(look))
        if 'interrupted' in text:
            break
    t.check('interrupted' in text and status == 1, f'{status} {text!r}')
    whole = t.run(t.helio, 'print', '-filters', 'TSTAMP > 1', '-functions', 'kinds.1.er').out
    last = re.search(r'(\S+) +100.00 .*<Total>', text[text.rindex('Functions sorted'):])
    t.equal(last[1], re.search(r'(\S+) +100.00 .*<Total>', whole)[1], 'the total after it')
