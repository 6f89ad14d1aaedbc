#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes an experiment of an OpenMP program, stage by stage, whose stacks are known, from docs/format.md alone.

    make_openmp.py DIRECTORY       writes its load objects and openmp.1.er there

main calls foo, which has a parallel region of four threads; in one stage one of them calls bar, which has a region of two.
STAGES says for each what every thread's stack is as it is recorded, what its runtime says of it, and what user mode shows.
"""
import os
import sys

from make_experiment import LOG, PROCESS, elf
from make_golden import Events, block, file_header, packed, sample, varint, write, zigzag

OBJECTS = {
    'omp_app': (0x400000, ('_start', 'main', 'foo', 'foo._omp_fn.0', 'bar', 'bar._omp_fn.0', 'work')),
    'libgomp.so.1': (0x500000, ('GOMP_parallel', 'gomp_thread_start', 'gomp_barrier', 'gomp_mutex_lock', 'gomp_next')),
    'libc.so.6': (0x600000, ('clone3', 'futex')),
}
AT = {name: base + 0x1000 + 0x40 * i for base, names in OBJECTS.values() for i, name in enumerate(names)}
NAMES = {'foo._omp_fn.0': 'foo -- OMP parallel region [foo._omp_fn.0]', 'bar._omp_fn.0': 'bar -- OMP parallel region [bar._omp_fn.0]'}

(NONE, SERIAL, WORK, REDUCTION, OVERHEAD, IDLE, IMPLICIT, EXPLICIT, REGION_END, LOCK, CRITICAL, ORDERED, ATOMIC, TASK) = range(14)
UNIT = 100000  # µs
MS = 1000000

MASTER, SLAVE = ('_start', 'main', 'foo'), ('clone3', 'gomp_thread_start')
BODY = ('foo._omp_fn.0',)
IN_MASTER, IN_SLAVE = (*MASTER, 'GOMP_parallel', *BODY), (*SLAVE, *BODY)
USER = (*MASTER, *BODY)
NESTED = (*USER, 'bar', 'bar._omp_fn.0')
FOO, BAR = 1, 2  # the constructs


def team(master, *slaves):
    return dict(enumerate((master, *slaves), 1))


# {stage: {thread: (the stack as recorded, state of the clock, OpenMP's state, its region, the stack in user mode)}}
STAGES = {
    'before': team((MASTER, 'user', NONE, 0, MASTER)),
    'entering': team(((*IN_MASTER, 'gomp_next'), 'user', WORK, FOO, (*USER, '<OMP-overhead>')),
                     *3 * (((*IN_SLAVE, 'gomp_next'), 'user', WORK, FOO, (*USER, '<OMP-overhead>')),)),
    'working': team((IN_MASTER, 'user', WORK, FOO, USER), *3 * ((IN_SLAVE, 'user', WORK, FOO, USER),)),
    'calling': team(((*IN_MASTER, 'work'), 'user', WORK, FOO, (*USER, 'work')), *3 * (((*IN_SLAVE, 'work'), 'user', WORK, FOO, (*USER, 'work')),)),
    'critical': team(((*IN_MASTER, 'gomp_mutex_lock', 'futex'), 'lock', CRITICAL, FOO, (*USER, '<OMP-critical_section_wait>')),
                     (IN_SLAVE, 'user', WORK, FOO, USER), (IN_SLAVE, 'user', WORK, FOO, USER),
                     ((*IN_SLAVE, 'gomp_mutex_lock', 'futex'), 'lock', CRITICAL, FOO, (*USER, '<OMP-critical_section_wait>'))),
    'lock': team(((*IN_MASTER, 'gomp_mutex_lock'), 'user', LOCK, FOO, (*USER, '<OMP-lock_wait>')),
                 (IN_SLAVE, 'user', WORK, FOO, USER), (IN_SLAVE, 'user', WORK, FOO, USER),
                 ((*IN_SLAVE, 'gomp_mutex_lock'), 'user', LOCK, FOO, (*USER, '<OMP-lock_wait>'))),
    'explicit': team(((*IN_MASTER, 'gomp_barrier'), 'user', EXPLICIT, FOO, (*USER, '<OMP-explicit_barrier>')),
                     # a call in the place of a return: the program's frame is gone
                     ((*SLAVE, 'gomp_barrier'), 'user', EXPLICIT, FOO, (*USER, '<OMP-explicit_barrier>')),
                     (IN_SLAVE, 'user', WORK, FOO, USER)),
    'end': team(((*MASTER, 'GOMP_parallel', 'gomp_barrier'), 'user', REGION_END, FOO, (*USER, '<OMP-implicit_barrier>')),
                ((*SLAVE, 'gomp_barrier', 'futex'), 'lock', REGION_END, FOO, (*USER, '<OMP-implicit_barrier>')),
                (IN_SLAVE, 'user', WORK, FOO, USER),
                ((*SLAVE, 'gomp_barrier', 'futex'), 'lock', REGION_END, FOO, (*USER, '<OMP-implicit_barrier>'))),
    'reduction': team((IN_MASTER, 'user', REDUCTION, FOO, (*USER, '<OMP-reduction>')),
                      ((*SLAVE, 'gomp_barrier'), 'user', REGION_END, FOO, (*USER, '<OMP-implicit_barrier>'))),
    'after': team((MASTER, 'user', NONE, 0, MASTER), *3 * (((*SLAVE, 'gomp_barrier', 'futex'), 'lock', IDLE, 0, ('<OMP-idle>',)),)),
    'nested': {1: (IN_MASTER, 'user', WORK, FOO, USER),
               2: ((*IN_SLAVE, 'bar', 'GOMP_parallel', 'bar._omp_fn.0'), 'user', WORK, BAR, NESTED),
               3: (IN_SLAVE, 'user', WORK, FOO, USER), 4: (IN_SLAVE, 'user', WORK, FOO, USER),
               5: ((*SLAVE, 'bar._omp_fn.0'), 'user', WORK, BAR, NESTED)},
    'nested end': {2: ((*IN_SLAVE, 'bar', 'GOMP_parallel', 'gomp_barrier'), 'user', REGION_END, BAR, (*NESTED, '<OMP-implicit_barrier>')),
                   5: ((*SLAVE, 'gomp_barrier'), 'user', REGION_END, BAR, (*NESTED, '<OMP-implicit_barrier>'))},
}


class Tree:
    def __init__(self):
        self.nodes, self.ids = [], {}

    def node(self, stack):
        if not stack:
            return 0
        if stack not in self.ids:
            parent = self.node(stack[:-1])
            self.nodes.append((parent, AT[stack[-1]] + 16))
            self.ids[stack] = len(self.nodes)
        return self.ids[stack]


def context(state, region, numbers):
    """As a writer may leave them out, fields at the end that are 0."""
    fields = [state, numbers[region], 0]
    while fields and not fields[-1]:
        fields.pop()
    return b'\x87' + varint(1) + varint(len(fields)) + b''.join(map(varint, fields))


def clock(tree, numbers):
    """A block for each thread, an event for each stage that it is in; stage N is the Nth tenth of a second."""
    out = b''
    for thread in range(1, 6):
        events = Events().thread(thread, 20 + thread, 0)
        before = (0, 0)
        for stage, threads in enumerate(STAGES.values()):
            if thread not in threads:
                continue
            stack, state, omp_state, region, _ = threads[thread]
            if (omp_state, region) != before:
                events.data += context(omp_state, region, numbers)
                before = (omp_state, region)
            events.event((stage + 1) * UNIT, UNIT, state, tree.node(stack))
        out += events.block()
    return file_header('profile', 96) + out


def trace(tree, numbers):
    """Two constructs, and the executions of their regions: foo's last 1 s and lose 1.5 of their 4 s, 1 of them by unequal work."""
    def record(kind, ms, stack, before, *fields):
        return bytes([kind | 0x40]) + varint(ms * MS) + zigzag(tree.node(stack) - before) + b''.join(map(varint, fields)), tree.node(stack)
    first, last = record(0, 155, MASTER, 0, numbers[FOO], 0, 0, 0, AT['foo._omp_fn.0'], 0)
    second, _ = record(1, 850, MASTER, last, numbers[FOO], 1000 * MS, 2, 4, 2500 * MS, 875 * MS)
    other = context(WORK, FOO, numbers)
    inner, last = record(0, 1005, (*IN_SLAVE, 'bar'), 0, numbers[BAR], 0, 0, numbers[FOO], AT['bar._omp_fn.0'], 0)
    ended, _ = record(1, 200, (*IN_SLAVE, 'bar'), last, numbers[BAR], 200 * MS, 1, 2, 400 * MS, 200 * MS)
    return file_header('omptrace') + block(first + second, 4, 1) + block(other + inner + ended, 4, 2)


def make(parent, numbers=(0, FOO, BAR), build=0):
    """numbers: what the process calls no region, FOO's and BAR's; build: the load objects are others, of the same names."""
    path = os.path.join(parent, 'openmp.1.er')
    os.makedirs(path)
    maps = ''
    for name, (base, functions) in OBJECTS.items():
        program = os.path.join(os.path.abspath(parent), name)
        identity = bytes([len(name) + build]) * 20
        with open(program, 'wb') as file:
            file.write(elf([(function, AT[function] - base, 0x40, False) for function in functions], identity))
        maps += (f'<event kind="map" tstamp="0" epoch="0" vaddr="{base + 0x1000:#x}" size="0x1000" foffset="0x1000" bias="{base:#x}" modes="r-x" '
                 f'name="{program}" buildid="{identity.hex()}" mtime="1" filesize="{os.path.getsize(program)}"/>\n')
    tree = Tree()
    end = len(STAGES) * UNIT * 1000
    write(path, 'log.xml', LOG + '<system hostname="host" os="Linux 6.1.0" arch="x86_64" pagesize="4096" pages="262144" cpus="4" clock_mhz="2500"/>\n'
          '<setting name="clock" value="10007"/>\n<argument text="./omp_app"/>\n'
          + PROCESS.format(pid=21, program=os.path.join(os.path.abspath(parent), 'omp_app'), lineage='', tstamp=0)
          + f'<event kind="exit" tstamp="{end}"/>\n<event kind="exit" tstamp="{end}" status="0" signal="0"/>\n</experiment>\n')
    write(path, 'map.xml', f'<?xml version="1.0" encoding="UTF-8"?>\n<maps>\n{maps}</maps>\n')
    write(path, 'overview', file_header('overview') + sample(0, 0, 'start', threads=1) + sample(end, 2, 'end', threads=4))
    write(path, 'profile', clock(tree, numbers))
    write(path, 'omptrace', trace(tree, numbers))
    write(path, 'stacks', file_header('stacks', 128) + packed(1, tree.nodes))
    return path


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: make_openmp.py DIRECTORY')
    make(sys.argv[1])
