# SPDX-License-Identifier: Apache-2.0
"""
Which waits are for one lock, and which threads are one, where their numbers are larger than most. The experiments are written from docs/format.md, so
that it is known who waited for what.
"""
import os
import sys

from harness import ROOT, test

sys.path.insert(0, str(ROOT / 'tests' / 'golden'))
from make_experiment import LOG, PROCESS  # noqa: E402
from make_golden import Events, block, file_header, packed, varint, write, zigzag  # noqa: E402

LOCK, MS = 0x800040, 1000000
FAR = LOCK + (1 << 48)  # AArch64 has such addresses
SYNC = '<setting name="clock" value="off"/>\n<setting name="follow" value="on"/>\n<setting name="sync" value="all"/>\n<argument text="./app"/>\n'
END = '<event kind="exit" tstamp="2000000000" status="0" signal="0"/>\n</experiment>\n'


def write_log(directory, lineage, pid):
    settings = '' if lineage else SYNC
    write(directory, 'log.xml', LOG + settings + PROCESS.format(pid=pid, program='/none/app', lineage=lineage, tstamp=0) + END)


def write_waits(directory, lineage, pid, waits):
    """waits: {thread: addresses}; of 10 ms each, without a call stack."""
    os.makedirs(directory, exist_ok=True)
    write_log(directory, lineage, pid)
    trace, profile = file_header('synctrace'), file_header('profile', 96)
    for thread, addresses in waits.items():
        records, time, before = b'', 0, 0
        for number, address in enumerate(addresses, 1):
            records += b'\x40' + varint(100 * number * MS - time) + zigzag(0) + zigzag(address - before) + varint(10 * MS) + varint(0) + zigzag(0)
            time, before = 100 * number * MS, address
        trace += block(records, 4, thread)
        profile += Events().thread(thread, pid + thread, 0).end(1000000).block()
    write(directory, 'synctrace', trace)
    write(directory, 'profile', profile)
    write(directory, 'stacks', file_header('stacks', 128) + packed(1, []))


def rows(t, experiment):
    listed = t.print(experiment, '-locks')[0]['rows']
    return sorted((row['name'].split(' ')[0], row['syncn']) for row in listed if row['name'] != '<Total>'), listed


@test
def addresses_of_more_than_48_bits(t):
    write_waits(t.directory / 'a.er', '', 100, {1: [LOCK, FAR, FAR]})
    t.equal(rows(t, t.directory / 'a.er')[0], [(hex(FAR), 2), (hex(LOCK), 1)], 'two locks')


@test
def threads_of_more_than_16_bits(t):
    """Thread 65537 of one process and thread 1 of the next one are two threads, though 0 << 16 ^ 65537 == 1 << 16 ^ 1."""
    write_waits(t.directory / 'a.er', '', 100, {65537: [LOCK]})
    write_waits(t.directory / 'a.er' / '_f1.er', '_f1', 200, {1: [LOCK]})
    listed = rows(t, t.directory / 'a.er')[1]
    t.equal([row['waiters'] for row in listed], [2] * len(listed), 'threads that waited')
