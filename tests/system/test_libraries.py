# SPDX-License-Identifier: Apache-2.0
"""Libraries that only some commands need are loaded by those."""
from harness import test

LATE = ('libmicrohttpd.so.12', 'libedit.so.2', 'libpfm.so.4')


@test
def start_without_what_few_need(t):
    """By the dynamic linker's own list of what it loads at the start, with what that brings along."""
    listed = t.run(t.helio, env={'LD_TRACE_LOADED_OBJECTS': '1'}).out
    t.check('libdw.so.1 =>' in listed, listed)
    for name in (*LATE, 'libgnutls', 'libtinfo'):
        t.check(name not in listed, listed)


def without(t):
    """An environment in which those files are no libraries."""
    directory = t.directory / 'broken'
    directory.mkdir(exist_ok=True)
    for name in LATE:
        (directory / name).write_text('')
    return {'LD_LIBRARY_PATH': str(directory)}


@test
def one_that_is_missing_is_named(t):
    for words, name in (((t.helio, 'view', '--no-open'), LATE[0]), ((t.helio, 'collect', '-h', 'nosuch', 'true'), LATE[2])):
        result = t.run(*words, env=without(t), cwd=t.directory)
        t.equal(result.status, 1, result.err)
        t.check(f'{name}: file too short' in result.err, result.err)
