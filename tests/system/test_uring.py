# SPDX-License-Identifier: Apache-2.0
"""
io_uring through liburing, which makes its system calls itself: submissions and requests that are known by construction
of targets/uring.c, or that strace sees of a real program.
"""
import collections
import pathlib
import re

from harness import Skip, test
from test_io import events, listing, record

TOTALS = ('iorequestcnt', 'iowaitcnt', 'ioothercnt', 'ioerrorcnt')
RUN = {'iorequestcnt': 118, 'iowaitcnt': 6, 'ioothercnt': 22 + 2, 'ioerrorcnt': 2}  # two more set the ring up and end it
LIBURING = '/usr/lib/x86_64-linux-gnu/liburing.so.2'


def run(t, *words, options=(), **more):
    """What it recorded; without io_uring there is nothing to test."""
    result = record(t, *words, options=options, **more)
    if 'ring 0' in result.out:
        raise Skip('this kernel or its settings refuse io_uring_setup')
    return result


def of_rings(t, experiment):
    return listing(t, experiment, 'ioactivity', TOTALS)['anon_inode:[io_uring]']


def by_function(t, experiment):
    """{function: (type, requests, errno): events} of the rings."""
    return {name: (row['e.iorequestcnt'], row['e.iowaitcnt'] + row['e.ioothercnt'] + row['e.ioerrorcnt'])
            for name, row in t.functions(experiment, *('e.' + metric for metric in TOTALS)).items() if 'io_uring' in name}


@test
def linked(t):
    experiment = run(t, t.target('uring')).experiment
    t.equal(of_rings(t, experiment), RUN, 'requests, waits, others, errors')
    t.equal(by_function(t, experiment), {
        'io_uring_queue_init': (0, 1), 'io_uring_submit': (71, 11), 'io_uring_submit_and_get_events': (30, 10), 'io_uring_submit_and_wait': (6, 3),
        'io_uring_submit_and_wait_timeout': (5, 1), 'io_uring_wait_cqe_timeout': (0, 1), 'io_uring_wait_cqes': (0, 1), '__io_uring_get_cqe': (0, 1),
        'io_uring_enter': (6, 2), 'io_uring_queue_exit': (0, 1)}, 'requests and calls by function')
    statistics = {row['group']: row for row in t.print(experiment, '-iostat')[0]['rows']}
    t.equal({group: statistics[group]['requests'] for group in ('wait', 'other')}, {'wait': 13, 'other': 105}, 'requests by kind of call')
    out = t.run(t.helio, 'print', '-iostat', '-iocallstack', experiment).out
    t.check('Submitted requests                105\n' in out and '\nSubmitted Requests=118\n' in out, 'what a person sees')


@test
def polled(t):
    """A thread of the kernel's takes the requests when it likes."""
    experiment = run(t, t.target('uring'), 'polled').experiment
    t.equal(of_rings(t, experiment)['iorequestcnt'], 70, 'requests')
    t.equal(by_function(t, experiment)['io_uring_submit'], (70, 10), 'requests and calls')


@test
def not_linked(t):
    """A program that asks for liburing by name finds none."""
    host = t.target('uring_host')
    bare, traced = t.run(host, 'ask').out, record(t, host, 'ask')
    t.equal(traced.out, bare, 'what the program finds')
    t.check('weak 0\nby_name 0\n' in bare, 'there is none')


@test
def other_metrics(t):
    """Only who uses io_uring sees columns of it; who asks for them sees nothing there."""
    experiment = record(t, t.target('uring_host'), 'ask').experiment
    t.check('Submitted' not in t.run(t.helio, 'print', '-metrics', 'name', '-ioactivity', '-iocallstack', '-iostat', experiment).out, 'columns')
    t.equal(listing(t, experiment, 'ioactivity', TOTALS)['<Total>']['iorequestcnt'], 0, 'requests')


def copy_under_another_name(path, to):
    """Of a library that is or needs liburing: one that is or needs liburing.so.3."""
    to.write_bytes(pathlib.Path(path).read_bytes().replace(b'liburing.so.2\0', b'liburing.so.3\0'))


@test
def of_a_library(t):
    """liburing is in the scope of a library that comes and goes, of another one a copy of its own."""
    plugin = t.target('uring_plugin.so')
    copy_under_another_name(LIBURING, t.directory / 'liburing.so.3')
    copy_under_another_name(plugin, t.directory / 'second.so')
    result = run(t, t.target('uring_host'), 'load', 3, plugin, './second.so', cwd=t.directory, env={'LD_LIBRARY_PATH': str(t.directory)})
    t.equal(result.out.count('ring 1'), 6, 'runs')
    t.equal(of_rings(t, result.experiment), {metric: 6 * count for metric, count in RUN.items()}, 'requests, waits, others, errors')
    metrics = ('e.iorequestcnt', 'e.iowaitcnt')
    rows = [o for o in t.print(result.experiment, '-metrics', ':'.join(metrics) + ':name', '-object_hide', 'liburing.so.3', '-functions')
            if o['command'] == 'functions'][0]['rows']
    t.equal([[row[metric] for metric in metrics] for row in rows if row['name'] == '<liburing.so.3>'], [[354, 18]], 'of the copy')


@test
def by_a_jump(t):
    """The caller is an object that knows nothing of liburing."""
    result = run(t, t.target('uring_host'), 'jump', t.target('uring_plugin.so'))
    t.check('submitted 3\n' in result.out, result.out)
    t.equal(of_rings(t, result.experiment)['iorequestcnt'], 3, 'requests')


@test(engines=True)
def uninterrupted(t, engine):
    """5,000 waits, none of which our signals end."""
    for options in (('-p', '100u'), ('-p', '1'), ('-p', 'off', '-i', 'on')):
        result = t.collect(t.target('uring'), 'run', 1, engine=engine, options=options)
        if 'ring 0' in result.out:
            raise Skip('this kernel or its settings refuse io_uring_setup')
        t.check('interrupted 0\n' in result.out, f'{options}: {result.out}')


ENTER = re.compile(r'io_uring_enter\(\d+, \d+, (\d+), .*\) += (-?\d+)')


@test
def qemu(t):
    """A real program, with strace as the witness of how many requests there are."""
    words = (t.need('qemu-img'), 'bench', '-i', 'io_uring', '-c', 2000, '-d', 16, '-f', 'raw', 'disk')
    (t.directory / 'disk').write_bytes(bytes(1 << 24))
    t.run(t.need('strace'), '-f', '-o', 'log', '-e', 'trace=io_uring_enter', *words, cwd=t.directory)
    seen = [int(match[2]) for match in ENTER.finditer((t.directory / 'log').read_text())]
    if not seen:
        raise Skip('this qemu-img does not submit to io_uring here')
    result = record(t, *words, cwd=t.directory)
    t.equal(of_rings(t, result.experiment)['iorequestcnt'], sum(value for value in seen if value > 0), 'requests')
    found = collections.Counter(e['type'] for e in events(t, result) if e['name'] == b'anon_inode:[io_uring]')
    t.check(found['submit'], f'submissions: {found}')
